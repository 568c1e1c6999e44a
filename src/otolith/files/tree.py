"""The tree as a port: documents by relative path, and the few calls that everything above relies on.

The disk tree (disk.py) is a folder. Another medium implements the same calls; nothing above may assume a disk. A token
tells cheaply whether a document may have changed; a fingerprint tells for certain.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

MAX_BYTES = 64 * 1024 * 1024


class Token(NamedTuple):
    """What a look at a document tells without reading it; any difference means: read it again."""

    size: int
    mtime: int
    ctime: int
    inode: int


def fingerprint(data: bytes) -> str:
    """The identity of a document's bytes."""
    return hashlib.sha256(data).hexdigest()


class Tree(Protocol):
    """Where documents live."""

    def scan(self) -> Iterator[tuple[str, Token | None]]:
        """Every document of the home; a token of None marks something that is no plain document."""

    def look(self, path: str) -> Token | None:
        """The document's token, or None if it is not there."""

    def read(self, path: str, start: int = 0) -> tuple[bytes, Token]:
        """The document's bytes from `start` on; NotFound or Damaged otherwise."""

    def reading(self) -> AbstractContextManager[Tree]:
        """The tree for many reads in one go; its folders are taken to stay where they are meanwhile."""

    def write(self, path: str, data: bytes, replacing: str | None = None) -> Token:
        """Durably create the document, or replace the one whose fingerprint is `replacing`; Conflict otherwise."""

    def append(self, path: str, data: bytes, *, synced: bool = False) -> None:
        """Add whole lines at the end, in one piece; durably only if `synced`."""

    def move(self, path: str, to: str) -> None:
        """Give the document another place; Conflict if that is taken."""

    def remove(self, path: str) -> None:
        """Durably remove the document."""

    def tidy(self) -> list[str]:
        """Remove what killed writers left behind; says what."""

    def names(self, folder: str) -> list[str]:
        """What lies directly in a folder that is not scanned, such as log."""

    def lock(self) -> AbstractContextManager[None]:
        """Keep other writers out; may be nested."""

    def bulk(self) -> AbstractContextManager[None]:
        """Many writes, synced together at the end; nothing is acknowledged before."""

    def together(self) -> AbstractContextManager[None]:
        """A few writes: each document is safe by itself at once, its name at the end; nothing is acknowledged before."""
