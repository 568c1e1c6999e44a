"""The tree as a port: documents by relative path, and the few calls that everything above relies on.

The disk tree (disk.py) is a folder; another medium implements the same calls; nothing above assumes a disk. A
version shows cheaply whether a document may have changed; a fingerprint shows it for certain.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import accumulate
from typing import NamedTuple, Protocol

from otolith.model.record import Change, Version

HANDS = "log/hands.json"  # in a folder: who wrote what was pulled into it
MAX_BYTES = 64 * 1024 * 1024
NO_DOCUMENT = "is not a plain file, or its name is not plain text"
Versions = Mapping[str, Version | None]  # None: something that is not a plain document


class Measure(NamedTuple):
    """What is to be known of a document besides its bytes."""

    size: int
    written: float  # seconds since 1970
    private: bool  # nobody but the user can have written it


class Hand(NamedTuple):
    """Whose word a stretch of a document is, as the medium itself knows it, and how far they are trusted."""

    size: int  # bytes, from where the last stretch ended
    principal: str
    space: str
    trust: str


def fingerprint(data: bytes) -> str:
    """The identity of a document's bytes."""
    return hashlib.sha256(data).hexdigest()


def read_hands(data: bytes) -> dict[str, list[Hand]]:
    """What a pull noted of the writers of what it brought; what cannot be read is nobody's."""
    try:
        noted = json.loads(data)
        return {path: [Hand(*hand) for hand in hands] for path, hands in noted.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def by_line(data: bytes, hands: Sequence[Hand]) -> list[Hand]:
    """Whose each line of a document is."""
    ends = list(accumulate(hand.size for hand in hands))
    starts = accumulate((len(line) + 1 for line in data.split(b"\n")), initial=0)
    return [hands[min(bisect_right(ends, start), len(hands) - 1)] for start in starts]


def former_end(data: bytes, before: str, places: Iterable[int]) -> int | None:
    """At which of these places, in their order, the bytes ended when they had another fingerprint."""
    digest, done = hashlib.sha256(), 0
    for place in places:
        digest.update(data[done:place])
        done = place
        if digest.hexdigest() == before:
            return place
    return None


def compare(now: Versions, since: Versions) -> list[Change]:
    """What differs between two looks at a tree; additions come first. `looked` may have changed unseen."""
    if now == since and all(version is None or version[2] for version in since.values()):
        return []
    gone = {path: version for path, version in since.items() if path not in now}
    former = {version[1]: path for path, version in gone.items() if version is not None}
    changes, left = [], []
    for path, version in now.items():
        if path in since:
            what = _difference(version, since[path])
        else:
            origin = former.get(version[1]) if version else None
            what = "moved" if origin else "added"
            if origin and gone.pop(origin, None):
                left.append(Change("moved-from", origin))
        if what:
            changes.append(Change(what, path, "" if version else NO_DOCUMENT))
    by_path = sorted(changes, key=lambda change: change.path) + sorted(left, key=lambda change: change.path)
    return by_path + [Change("removed", path) for path in sorted(gone)]


def _difference(now: Version | None, before: Version | None) -> str:
    if now is None or before is None:
        return "" if now == before else "edited"
    return "edited" if now[0] != before[0] else "" if before[2] else "looked"


class Tree(Protocol):
    """Where documents live."""

    @property
    def name(self) -> str:
        """What a person calls the home: a folder's path, or a URL."""

    @property
    def folder(self) -> str | None:
        """The folder on this machine in which the documents lie as files; None if they live elsewhere."""

    def identity(self) -> str:
        """What distinguishes this home from another one of the same name; `none` before it is made."""

    def scan(self, below: str = "") -> Iterator[tuple[str, Version | None]]:
        """Every document of the home, or of one folder with all in it; a version of None marks something that
        is not a plain document.
        """

    @property
    def cursor(self) -> str:
        """Up to where the last `changes` heard; empty where each of them is a look at everything."""

    def changes(self, since: Versions, cursor: str = "") -> list[Change]:
        """What differs from the versions known before, which knew all up to the cursor."""

    def listen(self) -> None:
        """Hear of others' changes as they happen from now on, where the medium can tell."""

    def look(self, path: str) -> Version | None:
        """The document's version, or None if it is not there."""

    def measure(self, path: str) -> Measure | None:
        """The document's size and time, or None if it is not there."""

    def read(self, path: str, start: int = 0) -> tuple[bytes, Version]:
        """The document's bytes from `start` on; NotFound or Damaged otherwise."""

    def hands(self, path: str) -> Sequence[Hand]:
        """Who wrote the document that was just read; nobody where the medium knows but one person."""

    def reading(self, ahead: Sequence[str] = ()) -> AbstractContextManager[Tree]:
        """The tree for many reads in one go, most likely of these documents in this order; its folders are
        taken to stay where they are meanwhile.
        """

    def write(self, path: str, data: bytes, replacing: str | None = None) -> Version:
        """Durably create the document, or replace the one with the fingerprint `replacing`; else Conflict."""

    def append(self, path: str, data: bytes, *, synced: bool = False, opening: bytes = b"",
               patience: float | None = None) -> None:
        """Add whole lines at the end, in one piece, of a new one after its opening; durably if `synced`.

        Busy if others write for longer than one is patient, in seconds.
        """

    def move(self, path: str, to: str) -> None:
        """Give the document another place; Conflict if that is taken."""

    def remove(self, path: str) -> None:
        """Durably remove the document."""

    def within(self, folder: str) -> list[str]:
        """The paths of the documents in one folder, also in one that is not scanned, such as log."""

    def expunge(self, paths: Sequence[str], words: Sequence[str]) -> None:
        """Let go of former versions of these documents, and of any that hold these words."""

    def prune(self, path: str) -> None:
        """Remove the folders on the way to this path that hold nothing, where there are folders."""

    def leftovers(self, age: float) -> list[str]:
        """What killed writers left behind at least so many seconds ago."""

    def tidy(self) -> list[str]:
        """Remove what killed writers left behind; returns what it was."""

    def lock(self) -> AbstractContextManager[None]:
        """Keep other writers out; may be nested."""

    def turn(self) -> AbstractContextManager[bool]:
        """Whether nobody else has the turn to tend the home, on another machine either; kept meanwhile."""

    def bulk(self) -> AbstractContextManager[None]:
        """Many writes, synced together at the end; nothing is acknowledged before."""

    def together(self) -> AbstractContextManager[None]:
        """A few writes: each document is safe at once, its name at the end, when all is acknowledged."""

    def close(self) -> None:
        """Let go of what is held open; a later call opens it again."""


class OwnTree:
    """What a tree answers whose medium is one person's own and keeps no former versions."""

    cursor = ""

    def listen(self) -> None:
        """Others' changes are found by looking."""

    def hands(self, path: str) -> Sequence[Hand]:  # noqa: ARG002
        return ()

    def expunge(self, paths: Sequence[str], words: Sequence[str]) -> None:
        """There are no former versions."""

    def turn(self) -> AbstractContextManager[bool]:
        return nullcontext(True)
