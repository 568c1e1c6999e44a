"""A zip as a bundle: read in memory, never unpacked to disk.

It is refused as a whole, before anything is read, if a name leads out of it, if it holds links or the same
name twice, if it is encrypted, or if it promises more than the caps allow. What it promises is also all that
is ever unpacked. A name with control characters in it is left out by itself.
"""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO

from otolith.doors.exchange.bundle import MAX_ENTRIES, MAX_FILE_BYTES, Bundle, Folder, OneFile
from otolith.errors import Invalid, NotFound
from otolith.model.text import has_controls

MAX_TOTAL_BYTES = 4 << 30
MAX_RATIO = 200  # text compresses 3 to 20 times, a bomb a thousand times
_SMALL = 10 << 20  # below this a ratio means nothing
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)


class Zip(Bundle):
    """The files of a zip; pictures and sound in it are listed and never touched."""

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except (*_BROKEN, ValueError) as error:
            raise Invalid(f"{path.name} is not a readable zip: {error}", hint="download it again") from None
        entries = [entry for entry in self._zip.infolist() if not entry.is_dir()]
        self.refused = _check(path.name, entries)
        sizes = {entry.filename: entry.file_size for entry in entries if entry.filename not in self.refused}
        super().__init__(path, path.stem, sizes)

    def stream(self, name: str) -> IO[bytes]:
        return io.BytesIO(self.read(name))

    def read(self, name: str, cap: int = MAX_FILE_BYTES) -> bytes:
        if self.sizes[name] > cap:
            raise Invalid(f"{name} is larger than {cap >> 20} MB")
        try:
            return self._zip.read(name)
        except _BROKEN as error:
            raise Invalid(f"{name} in {self.path.name} cannot be read: {error}") from None

    def head(self, name: str, size: int = 65_536) -> bytes:
        try:
            with self._zip.open(name) as source:
                return source.read(size)
        except _BROKEN:
            return b""


def _check(archive: str, entries: list[zipfile.ZipInfo]) -> tuple[str, ...]:
    """The names that are left out; Invalid for what no zip of any use holds."""
    if len(entries) > MAX_ENTRIES:
        raise Invalid(f"{archive} holds more than {MAX_ENTRIES} files")
    seen: set[str] = set()
    for entry in entries:
        name = entry.filename
        if name.startswith("/") or "\\" in name or ":" in name[:3] or ".." in PurePosixPath(name).parts:
            raise Invalid(f"{archive} holds the name {name!r}, which leads out of it; nothing was read")
        if name in seen:
            raise Invalid(f"{archive} holds {name!r} twice; nothing was read")
        seen.add(name)
        if entry.flag_bits & 1:
            raise Invalid(f"{archive} is encrypted", hint="unpack it and import the folder")
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise Invalid(f"{archive} holds the link {name!r}; nothing was read")
        if entry.file_size > _SMALL and entry.file_size > MAX_RATIO * max(entry.compress_size, 1):
            raise Invalid(
                f"{archive}: {name!r} would unpack to {entry.file_size >> 20} MB out of almost nothing")
    texts = [entry for entry in entries if entry.filename.endswith((".json", ".jsonl", ".md"))]
    if sum(entry.file_size for entry in texts) > MAX_TOTAL_BYTES:
        raise Invalid(f"{archive} unpacks to more than {MAX_TOTAL_BYTES >> 30} GB")
    return tuple(name for name in seen if has_controls(name))


def open_bundle(path: Path) -> Bundle:
    """The bundle at a path: a folder, a zip (by its content, whatever its name) or one file."""
    try:
        if path.is_dir():
            return Folder(path)
        if not stat.S_ISREG(path.stat().st_mode):
            raise Invalid(f"{path} is neither a file nor a folder")
        with path.open("rb") as source:
            start = source.read(4)
    except FileNotFoundError:
        raise NotFound(f"no file or folder {path}") from None
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}") from None
    if start not in (b"PK\x03\x04", b"PK\x05\x06"):
        return OneFile(path)
    return Zip(path)
