"""The home's lock: one writer at a time, for as long as a rename or an append takes."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from _thread import RLock
from collections.abc import Iterator
from contextlib import contextmanager

from otolith.errors import Busy, CannotWrite

LOCK_SECONDS = 10.0
# What a file system says that knows no hard links, such as exFAT or SMB.
NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS}
_REASONS = {
    errno.ENOSPC: "the disk is full", errno.EDQUOT: "the quota is used up", errno.EROFS: "it is read-only",
    errno.EACCES: "permission denied", errno.EPERM: "permission denied", errno.ENAMETOOLONG: "name too long",
    errno.ELOOP: "a symlink is in the way", errno.ENOTDIR: "a file is where a folder should be"}


class HomeLock:
    """flock on `<home>/.lock`: one writer among threads and processes; nested holds are one hold."""

    def __init__(self, folder: str) -> None:
        self._folder, self._mutex = folder, RLock()
        self._file, self._depth = -1, 0

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    @contextmanager
    def held(self, patience: float | None = None) -> Iterator[None]:
        with self._mutex:
            if self._depth == 0:
                self._seize(patience)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    fcntl.flock(self._file, fcntl.LOCK_UN)

    def _seize(self, patience: float | None) -> None:
        if self._file < 0:
            self._open()
        deadline, pause = time.monotonic() + (LOCK_SECONDS if patience is None else patience), 0.0005
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self._in_place():
                    return
                self.close()  # removed or replaced: who holds the old one keeps nobody out
                self._open()
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Busy(f"{self._folder} is in use by another process", "try again") from None
                time.sleep(pause)
                pause = min(pause * 1.5, 0.02)
            except OSError as error:
                raise cannot_write(self._folder, error) from None

    def _in_place(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._file), os.lstat(f"{self._folder}/.lock"))
        except FileNotFoundError:
            return False

    def _open(self) -> None:
        try:
            if not os.path.isdir(self._folder):
                os.makedirs(self._folder, mode=0o700, exist_ok=True)
                parent = os.open(os.path.dirname(self._folder), os.O_RDONLY | os.O_CLOEXEC)
                os.fsync(parent)
                os.close(parent)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.open(f"{self._folder}/.lock", flags, 0o600)
        except OSError as error:
            raise cannot_write(self._folder, error) from None


def cannot_write(path: str, error: OSError) -> CannotWrite:
    """What the system reported, in plain words."""
    reason = _REASONS.get(error.errno or 0, error.strerror or str(error))
    return CannotWrite(f"cannot write {path}: {reason}", "make room or check its permissions, then try again")
