"""What every record has, whatever its kind: an origin, usage, links to others, and a card for the index; and
what is reported besides answers: a Finding (something in the home that wants a person's eye, and what to do),
a Change (what sync found), and lines of the logger `otolith`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

from otolith.errors import Invalid
from otolith.model.kinds import LINK_TYPES, origin_of
from otolith.model.shape import Shape, choice, mapping, number, text
from otolith.model.text import cut_passages
from otolith.model.times import parse_time, time_or_none

TRUST = ("user", "peer", "agent", "outside")  # a peer is another person of a space that several share
TRUSTED = ("user", "agent")  # one's own words and one's agents': these may be put before an agent unasked
MIXED = "*"  # the project of what was built from several: recalled, but never put before an agent unasked
SURE = 0.6  # a memo that is less sure is recalled, but never put before an agent unasked
DEPTHS = ("summary", "outcome", "reasoning", "full", "complete")


class Origin(Shape):
    """Who wrote a record, through which door, in which session. Written by the door, never by an argument."""

    agent: str = text(default="main")
    door: str = text(default="python")
    session: str = text(default="")
    project: str = text(default="default")
    trust: str = choice(TRUST, default="user")
    at: str | None = text(default=None, sparse=True)  # the moment of writing, which puts equal times in order
    run: str | None = text(default=None, sparse=True)  # the import that brought it
    principal: str | None = text(default=None, sparse=True)  # these two are told by a team's server, and
    space: str | None = text(default=None, sparse=True)  # never by a file


def shared_project(projects: Iterable[str | None]) -> str | None:
    """The project of what is built from records of these: the one they share; none and `default` are personal
    and go anywhere.
    """
    named = {project for project in projects if project and project != "default"}
    return MIXED if len(named) > 1 else next(iter(named), None)


class Usage(NamedTuple):
    """How often a record was delivered, and when last."""

    count: int = 0  # type: ignore[assignment]  # a tuple's own `count` is not needed
    last: float | None = None


UNUSED = Usage()


def check_type(word: str, allowed: tuple[str, ...] | None = None) -> str:
    """The link type as its seed writes it; a known word in the wrong case is forgiven."""
    options = allowed or tuple(LINK_TYPES)
    for candidate in (word, word.upper(), word.lower()):
        if candidate in options:
            return candidate
    raise Invalid(f"unknown link type {word!r}", f"use one of {', '.join(options)}")


def reads_as(word: str, *, outgoing: bool) -> str:
    """The link's word seen from one of its ends."""
    meaning = LINK_TYPES.get(word)
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
        meaning = LINK_TYPES.get(self.type)
        if meaning is None:
            return self.source, self.type, self.target
        ends = (self.target, self.source) if meaning.inverted else (self.source, self.target)
        if meaning.symmetric:
            ends = (min(ends), max(ends))
        return ends[0], meaning.canonical, ends[1]


class Stretch(NamedTuple):
    """A passage of a record, as the index ranks it."""

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
    passages: Sequence[Stretch] | None = None
    created: float = 0.0
    at: float = 0.0  # the moment of writing: what comes first of what has the same time
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
    principal: str | None = None  # whose word it is, if another person's of a space that several share

    def cut(self) -> Sequence[Stretch]:
        """The passages: given (the turns of an entry), or cut from the text."""
        if self.passages is not None:
            return self.passages
        return [Stretch(start, stop, self.text[start:stop], None, None if start else self.speaker)
                for start, stop in cut_passages(self.text)]


class Record(Shape):
    """What one file, or one part of it, holds. The table of kinds says in what the kinds differ."""

    kind: ClassVar[str]

    @property
    def created(self) -> float:
        """Seconds since 1970; most kinds write it as `created_at`, in words or as a number."""
        written: Any = self.created_at  # type: ignore[attr-defined]
        return parse_time(written) if isinstance(written, str) else float(written)

    def make_card(self, text: str, **more: Any) -> Card:
        """The card with what every record has; `more` is what this kind has, or has in another way."""
        record: Any = self
        origin = origin_of(self)
        fields = {"type": record.type, "title": record.title, "created": record.created,
                  **origin_fields(origin), **more}
        if run := getattr(origin, "run", None):
            fields["names"] = (*fields.get("names", ()), run)  # so that an import is found as a whole
        return Card(id=record.id, kind=self.kind, text=text, **fields)

    def says_as_much_as(self, other: Any) -> bool:
        """Whether the two differ in nothing that the index is to know."""
        return bool(self == other)


def drop_targets(about: Any, gone: Collection[str], word: str | None = None) -> Any:
    """What a record says of its links, as word → id → anything, without these ids (of one word or all)."""
    return about and {name: {end: value for end, value in ends.items()
                             if end not in gone or word not in (None, name)} for name, ends in about.items()}


def place_of(files: Iterable[tuple[str, str]], tags: Iterable[str] = (), session: str = "") -> str:
    """Where a work took place: the folder most of its changed files lie in, else of those it read, else its
    first tag, else its session; empty if nothing says.
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
    """A path's segments from the end, each with a slash, to find it by its end: src/a.ts → a.ts/src/."""
    parts = path.replace("\\", "/").split("/")
    return "".join(f"{part}/" for part in reversed(parts) if part not in ("", "."))


def threads_of(project: str, files: Iterable[tuple[str, str]], tags: Sequence[str],
               session: str) -> list[str]:
    """What a work may have in common with others of its project: its place, each tag within its session."""
    place = place_of(files, tags, session)
    threads = [f"{project}\0{place}"] if place else []
    return threads + [f"{project}\0{session}\0{tag}" for tag in dict.fromkeys(tags)] if session else threads


def origin_fields(origin: Origin | None) -> dict[str, Any]:
    """The card's fields that an origin gives; a record without one was written by hand."""
    if origin is None:
        return {}
    return {"project": origin.project, "agent": origin.agent, "session": origin.session or None,
            "trust": origin.trust, "at": time_or_none(origin.at) or 0.0}


def credit(claimed: str, hand: str) -> str:
    """How far to trust what says of itself that it is the user's, an agent's or from outside, in the hand of
    somebody who is trusted so far: another person's own word is a peer's, all else of theirs is from outside.
    """
    if hand == "user":
        return claimed
    return "peer" if hand == "peer" and claimed in ("user", "peer") else "outside"


class Finding(NamedTuple):
    """One problem, named so that it can be mended."""

    path: str
    line: int | None
    code: str
    message: str
    remedy: str


class Change(NamedTuple):
    """What happened to a file since the index last saw it."""

    what: str  # added, edited, moved, removed, not-read
    path: str
    reason: str = ""  # why it was not read, as `check` says it


class Version(NamedTuple):
    """What a look at a document tells without reading it. Another stamp means: read it again."""

    stamp: bytes  # compared for equality only
    same: int | str  # the document's identity, which it keeps through a rename
    settled: bool  # False: so young at the look that it may change again under the same stamp


class _Log:
    """One line a verb. Where nobody has loaded Python's logging, nobody listens, and nothing is loaded."""

    def debug(self, message: str, *values: Any) -> None:
        self._write("debug", message, *values)

    def info(self, message: str, *values: Any) -> None:
        self._write("info", message, *values)

    def warning(self, message: str, *values: Any) -> None:
        self._write("warning", message, *values)

    def _write(self, level: str, message: str, *values: Any) -> None:
        logging = sys.modules.get("logging")
        if logging is not None:
            getattr(logging.getLogger("otolith"), level)(message, *values)


log = _Log()
