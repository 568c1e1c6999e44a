"""What every record has, whatever its kind: an origin, usage, links to others, and a card by which the index knows it.

Three seeds have links. Each keeps its own word in its own files; one table says which words mean the same, which are each
other's inverse and which read the same both ways. The index keeps both: the word as written and the canonical one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from otolith.errors import Invalid
from otolith.model.kinds import CHUNK_LINKS as CHUNK_TYPES
from otolith.model.kinds import KINDS as _ROWS
from otolith.model.kinds import LINK_TYPES as TYPES
from otolith.model.kinds import NOTE_LINKS as NOTE_TYPES
from otolith.model.kinds import WORK_LINKS as WORK_TYPES
from otolith.model.shape import Shape, Value, choice, mapping, number, text
from otolith.model.text import cut_passages

TRUST = ("user", "agent", "outside")
KINDS = tuple(_ROWS)
__all__ = ["CHUNK_TYPES", "KINDS", "NOTE_TYPES", "TYPES", "WORK_TYPES"]  # until all ask model/kinds
DEPTHS = ("summary", "outcome", "reasoning", "full", "complete")


class Origin(Shape):
    """Who wrote a record, through which door, in which session. Written by the door, never by an argument."""

    agent: str = text(default="main")
    door: str = text(default="python")
    session: str = text(default="")
    project: str = text(default="default")
    trust: str = choice(TRUST, default="user")


class Usage(Value):
    """How often a record was delivered, and when last."""

    count: int = 0
    last: float | None = None

    def __init__(self, count: int = 0, last: float | None = None) -> None:
        super().__init__(count=count, last=last)


UNUSED = Usage()


def check_type(word: str, allowed: tuple[str, ...] | None = None) -> str:
    """The link type as its seed writes it; a known word in the wrong case is forgiven."""
    options = allowed or tuple(TYPES)
    for candidate in (word, word.upper(), word.lower()):
        if candidate in options:
            return candidate
    raise Invalid(f"unknown link type {word!r}", f"use one of {', '.join(options)}")


def reads_as(word: str, *, outgoing: bool) -> str:
    """The link's word seen from one of its ends."""
    meaning = TYPES.get(word)
    if meaning is None:
        return word if outgoing else f"{word} (from)"
    return meaning.canonical if outgoing != meaning.inverted else meaning.inverse


class Link(Shape):
    """One edge as its truth states it."""

    source: str = text()
    type: str = text()
    target: str = text()
    strength: float | None = number(0, 1, default=None)
    context: str | None = text(default=None)
    created: float | None = number(default=None)
    edge_id: str | None = text(default=None)
    origin: dict[str, str] | None = mapping(default=None, sparse=True)

    def canonical(self) -> tuple[str, str, str]:
        """(from, word, to) in the canonical direction, equal for two ways of saying the same."""
        meaning = TYPES.get(self.type)
        if meaning is None:
            return self.source, self.type, self.target
        ends = (self.target, self.source) if meaning.inverted else (self.source, self.target)
        if meaning.symmetric:
            ends = (min(ends), max(ends))
        return ends[0], meaning.canonical, ends[1]


def drop_targets(about: Any, gone: Collection[str], word: str | None = None) -> Any:
    """What a record says of its links, as word → id → anything, without these ids (of one word, or of all)."""
    return about and {name: {end: value for end, value in ends.items() if end not in gone or word not in (None, name)}
                      for name, ends in about.items()}


class Passage(NamedTuple):
    """The piece of a record that the index ranks."""

    start: int
    stop: int
    text: str
    turn: str | None = None
    speaker: str | None = None
    said: float | None = None


class Card(NamedTuple):
    """A record as the index sees it; every kind fills in what it has."""

    id: str
    kind: str
    type: str
    title: str
    text: str = ""
    passages: Sequence[Passage] | None = None
    created: float = 0.0
    updated: float | None = None
    tags: Sequence[str] = ()
    names: Sequence[str] = ()  # further exact handles: aliases, a memo's heading
    importance: float | None = None
    confidence: float | None = None
    project: str | None = None
    agent: str | None = None
    session: str | None = None
    conversation: str | None = None
    topic: str | None = None
    success: bool | None = None
    trust: str = "user"
    valid_from: float | None = None
    valid_until: float | None = None
    sunk: bool = False  # deprecated, rejected, superseded by its own word
    pinned: bool = False
    links: Sequence[Link] = ()
    files: Sequence[tuple[str, str]] = ()
    usage: Usage = UNUSED  # the number in the record's own file
    speaker: str | None = None  # who says the text, where it opens with a name
    place: int = 0  # among the chunks of one conversation that were made in the same second

    def cut(self) -> Sequence[Passage]:
        """The passages: given (the turns of an entry), or cut from the text."""
        if self.passages is not None:
            return self.passages
        return [Passage(start, stop, self.text[start:stop], None, None if start else self.speaker)
                for start, stop in cut_passages(self.text)]


def place_of(files: Iterable[tuple[str, str]], tags: Iterable[str] = (), session: str = "") -> str:
    """Where a work took place: the folder most of its changed files lie in, else of those it read, else its first tag,
    else its session; empty if nothing tells.
    """
    listed = list(files)
    paths = [path for path, operation in listed if operation != "read"] or [path for path, _ in listed]
    if paths:
        folders = Counter(folder_of(path) for path in paths)
        return min(folders, key=lambda folder: (-folders[folder], folder))
    for tag in tags:
        return f"#{tag}"
    return f"@{session}" if session else ""


def folder_of(path: str) -> str:
    """The folder of a file as it is written; a file without one stands for itself."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    root = "/" if path.startswith("/") else ""
    return root + "/".join(parts[:-1] if len(parts) > 1 else parts)


def tail_of(path: str) -> str:
    """A path's segments from the end, each with a slash: src/auth.ts → auth.ts/src/, so that what it ends in begins it."""
    return "".join(f"{part}/" for part in reversed(path.replace("\\", "/").split("/")) if part not in ("", "."))


def threads_of(project: str, files: Iterable[tuple[str, str]], tags: Sequence[str], session: str) -> list[str]:
    """What a work may have in common with others of its project: its place, and each tag within its session."""
    place = place_of(files, tags, session)
    found = [f"{project}\0{place}"] if place else []
    return found + [f"{project}\0{session}\0{tag}" for tag in dict.fromkeys(tags)] if session else found


def origin_fields(origin: Origin | None) -> dict[str, Any]:
    """The card's fields that an origin gives; a record without one was written by hand."""
    if origin is None:
        return {}
    return {"project": origin.project, "agent": origin.agent, "session": origin.session or None, "trust": origin.trust}
