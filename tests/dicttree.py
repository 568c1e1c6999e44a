"""A tree that lives in a dictionary: the whole port, and nothing of a disk."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import NamedTuple

from otolith.errors import Conflict, NotFound
from otolith.files.paths import SCANNED, SCANNED_FILES, check_path
from otolith.files.tree import Measure, OwnTree, Tree, Versions, compare, fingerprint
from otolith.model.record import Change, Version


class Document(NamedTuple):
    """Bytes, which writing of the tree they are, which document they belong to, and when they were written."""

    data: bytes
    tick: int
    own: int
    written: float


class DictTree(OwnTree):
    """Documents by path; each write is the next tick."""

    folder = None

    def __init__(self, name: str = "dict:test") -> None:
        self.name = name
        self.held: dict[str, Document] = {}
        self.ticks = 0
        self._lock = RLock()

    def identity(self) -> str:
        return "dict"

    def _keep(self, path: str, data: bytes, own: int | None = None) -> Version:
        self.ticks += 1
        self.held[path] = Document(data, self.ticks, own or self.ticks, time.time())
        return self._version(path)

    def _version(self, path: str) -> Version:
        document = self.held[path]
        return Version(document.tick.to_bytes(8), document.own, True)

    def scan(self, below: str = "") -> Iterator[tuple[str, Version | None]]:
        for path in [path for path in self.held if path.startswith(f"{below}/" if below else "")]:
            parts = path.split("/")
            if path in SCANNED_FILES or (parts[0] in SCANNED and not any(part[0] == "." for part in parts)):
                yield path, self._version(path)

    def changes(self, since: Versions, cursor: str = "") -> list[Change]:
        return compare(dict(self.scan()), since)

    def look(self, path: str) -> Version | None:
        return self._version(path) if check_path(path) in self.held else None

    def measure(self, path: str) -> Measure | None:
        document = self.held.get(check_path(path))
        return Measure(len(document.data), document.written, True) if document else None

    def read(self, path: str, start: int = 0) -> tuple[bytes, Version]:
        if check_path(path) not in self.held:
            raise NotFound(f"no file {path}")
        return self.held[path].data[start:], self._version(path)

    @contextmanager
    def reading(self, ahead: Sequence[str] = ()) -> Iterator[Tree]:
        yield self

    def write(self, path: str, data: bytes, replacing: str | None = None) -> Version:
        before = self.held.get(check_path(path))
        if (replacing is None) != (before is None) or (before and fingerprint(before.data) != replacing):
            raise Conflict(f"{path} is not what was read")
        return self._keep(path, data, before.own if before else None)

    def append(self, path: str, data: bytes, *, synced: bool = False, opening: bytes = b"",
               patience: float | None = None) -> None:
        before = self.held.get(check_path(path))
        torn = before is not None and before.data and not before.data.endswith(b"\n")
        old = before.data + (b"\n" if torn else b"") if before and before.data else opening
        self._keep(path, old + data, before.own if before else None)

    def move(self, path: str, to: str) -> None:
        data, _ = self.read(path)
        if check_path(to) in self.held:
            raise Conflict(f"{to} is already there")
        self._keep(to, data, self.held.pop(path).own)

    def remove(self, path: str) -> None:
        self.read(path)
        del self.held[path]

    def within(self, folder: str) -> list[str]:
        check_path(f"{folder}/x")
        return sorted(path for path in self.held if path.rpartition("/")[0] == folder)

    def prune(self, path: str) -> None:
        check_path(path)

    def leftovers(self, age: float) -> list[str]:
        return []

    def tidy(self) -> list[str]:
        return []

    @contextmanager
    def lock(self) -> Iterator[None]:
        with self._lock:
            yield

    bulk = together = lock

    def close(self) -> None:
        pass
