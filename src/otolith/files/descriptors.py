"""Open folders and files by descriptor: never through a symlink, each name within a folder that is held open."""

from __future__ import annotations

import os
import stat

from otolith.errors import Conflict

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def open_folder(name: str, parent: int, *, missing_ok: bool) -> int | None:
    try:
        return os.open(name, FOLDER, dir_fd=parent)
    except FileNotFoundError:
        if missing_ok:
            return None
        raise


def make_folder(name: str, parent: int) -> None:
    try:
        os.mkdir(name, 0o700, dir_fd=parent)
    except FileExistsError:
        return
    os.fsync(parent)


def mode_of(folder: int, name: str, path: str) -> int:
    try:
        return stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        raise moved_on(path) from None


def slurp(folder: int, name: str, path: str) -> bytes:
    try:
        file = os.open(name, READ, dir_fd=folder)
    except FileNotFoundError:
        raise moved_on(path) from None
    try:
        return read_rest(file, os.fstat(file).st_size)
    finally:
        os.close(file)


def read_rest(file: int, size: int) -> bytes:
    """All that is left to read; one read more than the size says, for a file may grow."""
    data = os.read(file, size + 1)
    if len(data) == size:
        return data
    parts = [data]
    while parts[-1]:
        parts.append(os.read(file, 1 << 20))
    return b"".join(parts)


def unlink(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        return  # a left-over temporary file is hidden from every reader


def moved_on(path: str) -> Conflict:
    return Conflict(f"{path} was changed by somebody else meanwhile", "read it again; nothing was overwritten")
