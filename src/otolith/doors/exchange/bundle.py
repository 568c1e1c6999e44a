"""A folder, a zip or a single file, seen as named bytes.

Readers ask a bundle for names and contents and need no path. Symbolic links in a folder are not followed,
hidden folders are not entered, and a file larger than the cap is refused.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from otolith.errors import Invalid
from otolith.model.text import has_controls

if TYPE_CHECKING:
    from otolith.doors.exchange.items import Found

MAX_ENTRIES = 100_000
MAX_FILE_BYTES = 1 << 30
_SKIPPED_FOLDERS = {"node_modules", "__pycache__"}


class Bundle:
    """Named bytes; `label` is what a person calls the whole, `names` are relative and sorted.

    `refused` are the names that no file of a home should have; what they name is not among the others.
    """

    refused: tuple[str, ...] = ()

    def __init__(self, path: Path, label: str, sizes: dict[str, int],
                 folders: frozenset[str] = frozenset()) -> None:
        self.path = path
        self.label = label
        self.sizes = sizes
        self.names = tuple(sorted(sizes))
        self.folders = folders

    def stream(self, name: str) -> IO[bytes]:
        raise NotImplementedError

    def real_path(self, name: str) -> Path | None:  # noqa: ARG002 (a zip has no paths)
        """Where the file lies on disk, for what must be opened by path; None inside a zip."""
        return None

    def read(self, name: str, cap: int = MAX_FILE_BYTES) -> bytes:
        """The whole file; Invalid when it is larger than `cap` or cannot be read."""
        if self.sizes[name] > cap:
            raise Invalid(f"{name} is larger than {cap >> 20} MB")
        try:
            with self.stream(name) as source:
                data = source.read(cap + 1)
        except OSError as error:
            raise Invalid(f"{name} cannot be read: {error}") from error
        if len(data) > cap:
            raise Invalid(f"{name} is larger than {cap >> 20} MB")
        return data

    def text(self, name: str, cap: int = MAX_FILE_BYTES) -> str:
        """The whole file as UTF-8 text without a byte order mark."""
        try:
            return self.read(name, cap).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise Invalid(f"{name} is not UTF-8 text (byte {error.start})") from None

    def head(self, name: str, size: int = 65_536) -> bytes:
        """The first bytes, for telling formats apart; empty when the file cannot be read."""
        try:
            with self.stream(name) as source:
                return source.read(size)
        except OSError:
            return b""


class OneFile(Bundle):
    def __init__(self, path: Path) -> None:
        super().__init__(path, path.stem, {path.name: path.stat().st_size})

    def stream(self, name: str) -> IO[bytes]:
        return self.path.with_name(name).open("rb")

    def real_path(self, name: str) -> Path:
        return self.path.with_name(name)


class Folder(Bundle):
    def __init__(self, path: Path) -> None:
        sizes: dict[str, int] = {}
        for name, size in _walk(path):
            if has_controls(name):
                self.refused += (name,)
            else:
                sizes[name] = size
            if len(sizes) + len(self.refused) > MAX_ENTRIES:
                raise Invalid(f"{path} holds more than {MAX_ENTRIES} files", hint="name a smaller folder")
        folders = frozenset(entry.name for entry in os.scandir(path) if entry.is_dir(follow_symlinks=False))
        super().__init__(path, path.resolve().name, sizes, folders)

    def stream(self, name: str) -> IO[bytes]:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(self.path / name, flags)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError(f"{name} is not a file")
        return os.fdopen(descriptor, "rb")

    def real_path(self, name: str) -> Path:
        return self.path / name


class FormatReader(NamedTuple):
    """A format: whether a bundle is of it, and its items and findings."""

    fits: Callable[[Bundle], bool]
    read: Callable[[Bundle], Iterator[Found]]


class Line(NamedTuple):
    """A line of a file: its number, its first byte's position, its bytes (None if it is too long), whether it
    is whole.
    """

    number: int
    at: int
    data: bytes | None
    ended: bool


def split_lines(stream: IO[bytes], start: int = 0, cap: int = 64 << 20) -> Iterator[Line]:
    """The lines from a position on."""
    number, at = 0, start
    if start:
        stream.seek(start)
    while data := stream.readline(cap):
        number += 1
        length = len(data)
        if data.endswith(b"\n") or length < cap:
            yield Line(number, at, data, data.endswith(b"\n"))
        else:
            while rest := stream.readline(cap):
                length += len(rest)
                if rest.endswith(b"\n"):
                    break
            yield Line(number, at, None, True)
        at += length


def end_of_lines(path: Path) -> int:
    """The position after the last whole line of a file that may still be growing."""
    with path.open("rb") as source:
        at = source.seek(0, os.SEEK_END)
        while at > 0:
            start = max(0, at - 65_536)
            source.seek(start)
            found = source.read(at - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            at = start
    return 0


def _walk(root: Path) -> Iterator[tuple[str, int]]:
    def unreadable(error: OSError) -> None:
        raise Invalid(f"{error.filename} cannot be listed: {error.strerror}")

    for folder, below, files in os.walk(root, onerror=unreadable):
        below[:] = sorted(name for name in below if not name.startswith(".") and name not in _SKIPPED_FOLDERS)
        for name in files:
            path = Path(folder, name)
            found = path.lstat()
            if stat.S_ISREG(found.st_mode):
                yield path.relative_to(root).as_posix(), found.st_size
