"""What every record has, whatever its kind: an origin, usage, and a card by which the index knows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from strata.model.link import Link
from strata.model.shape import Shape, choice, text
from strata.model.text import cut_passages

TRUST = ("user", "agent", "outside")
DEPTHS = ("summary", "outcome", "reasoning", "full", "complete")
KINDS = ("chunk", "memo", "entry", "fact", "topic", "global", "work", "agent", "chapter", "wisdom", "note", "edge",
         "episode", "page")


class Origin(Shape):
    """Who wrote a record, through which door, in which session. Written by the door, never by an argument."""

    agent: str = text(default="main")
    door: str = text(default="python")
    session: str = text(default="")
    project: str = text(default="default")
    trust: str = choice(TRUST, default="user")


@dataclass(frozen=True)
class Usage:
    """How often a record was delivered, and when last."""

    count: int = 0
    last: float | None = None


class Passage(NamedTuple):
    """The piece of a record that the index ranks."""

    start: int
    stop: int
    text: str
    turn: str | None = None
    speaker: str | None = None
    said: float | None = None


@dataclass(frozen=True, kw_only=True)
class Card:
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
    usage: Usage = field(default_factory=Usage)  # the number in the record's own file

    def cut(self) -> Sequence[Passage]:
        """The passages: given (the turns of an entry), or cut from the text."""
        if self.passages is not None:
            return self.passages
        return [Passage(start, stop, self.text[start:stop]) for start, stop in cut_passages(self.text)]


def origin_fields(origin: Origin | None) -> dict[str, Any]:
    """The card's fields that an origin gives; a record without one was written by hand."""
    if origin is None:
        return {}
    return {"project": origin.project, "agent": origin.agent, "session": origin.session or None, "trust": origin.trust}
