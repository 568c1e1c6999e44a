"""How a new index file gets into the place of the old one: filled beside it by one process at a time, then
the index's name is made a link to it, so that others answer from the old one meanwhile.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

from otolith.errors import BrokenIndex, Busy, CannotWrite
from otolith.index.database import Database, file_of, own_files, remove

DAMAGED = ".damaged"
NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS)  # what a file system without links answers
SECONDS = 120.0  # how long one waits for another's rebuild, or a rebuild for somebody's batch


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """The index's own lock; what a killed rebuild left behind is removed."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = os.open(path.parent / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        deadline = monotonic() + SECONDS
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if monotonic() > deadline:
                    raise Busy("the index is being rebuilt by another process", "try again") from None
                sleep(0.01)
        _tidy(path)
        yield
    finally:
        os.close(file)


def is_being_rebuilt(path: Path) -> bool:
    """Whether some process holds the index's lock."""
    try:
        file = os.open(path.parent / "lock", os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(file)


@contextmanager
def still(index: Database, path: Path) -> Iterator[None]:
    """Nobody writes to the old file, as far as there is one that can be written to."""
    try:
        db = index.connect(path) if index.opened else None
    except (BrokenIndex, CannotWrite):
        db = None
    try:
        if db is not None:
            db.execute(f"PRAGMA busy_timeout = {SECONDS * 1000:.0f}")
            with suppress(BrokenIndex, CannotWrite):
                db.execute("BEGIN IMMEDIATE")
        yield
    finally:
        if db is not None:
            db.close()


def swap(fresh: Path, path: Path, *, damaged: bool) -> None:
    """Let the index's name stand for a filled file; the old one goes, a damaged one is kept aside."""
    os.chmod(fresh, 0o600)
    file = os.open(fresh, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
    own = fresh.with_suffix(".db")
    os.rename(fresh, own)
    try:
        os.symlink(own.name, fresh)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        os.rename(own, fresh)  # then readers of the old one may meet a foreign journal, and heal
    if damaged or path.is_dir():
        aside = path.with_name(f"{path.name}{DAMAGED}")
        remove(aside)
        with suppress(FileNotFoundError):
            os.rename(file_of(path), aside)
    os.rename(fresh, path)
    _tidy(path)


def _tidy(path: Path) -> None:
    """Remove the files that were in the index's place before, and what killed rebuilds left."""
    own = {*own_files(path), f"{path.name}{DAMAGED}"}
    for left in path.parent.glob(f"{path.stem}.*"):
        if left.name not in own:
            remove(left)
