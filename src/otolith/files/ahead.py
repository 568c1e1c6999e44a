"""Reading ahead: a tree that is far away while many of its documents are read.

Each question brings the documents that are most likely read next, too. What is not among those named before
is asked of the tree itself, and so is everything but reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from otolith.errors import NotFound
from otolith.model.record import Version

AT_ONCE = 200  # documents


class Far(Protocol):
    """A tree that reads many documents at once."""

    def read_many(self, paths: Sequence[str]) -> dict[str, tuple[bytes, Version]]:
        """Those of these documents that are there."""

    def look(self, path: str) -> Version | None:
        """The document's version, or None if it is not there."""

    def read(self, path: str, start: int = 0) -> tuple[bytes, Version]:
        """The document's bytes from `start` on."""


class Ahead:
    """A tree and the documents that will be read of it, in their order."""

    def __init__(self, tree: Far, paths: Sequence[str]) -> None:
        self._tree, self._paths = tree, list(dict.fromkeys(paths))
        self._places = {path: at for at, path in enumerate(self._paths)}
        self._read: dict[str, tuple[bytes, Version]] = {}
        self._asked = range(0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tree, name)

    def _fetch(self, path: str) -> tuple[bytes, Version] | None:
        at = self._places[path]
        if at not in self._asked:
            self._asked = range(at, min(at + AT_ONCE, len(self._paths)))
            self._read = self._tree.read_many([self._paths[place] for place in self._asked])
        return self._read.get(path)

    def look(self, path: str) -> Version | None:
        if path not in self._places:  # a folder of which documents are read is none itself
            return None if f"{path}/meta.json" in self._places else self._tree.look(path)
        document = self._fetch(path)
        return document[1] if document else None

    def read(self, path: str, start: int = 0) -> tuple[bytes, Version]:
        if path not in self._places:
            return self._tree.read(path, start)
        if (document := self._fetch(path)) is None:
            raise NotFound(f"no file {path}")
        return document[0][start:], document[1]
