"""Neutral values between a foreign format and the home.

A reader yields these and nothing else; whoever imports turns them into verbs. Each has a `key` that is the
same on every reading of the same source, so that an import may be repeated, and none is trusted: what comes
from outside is `outside`. Times are `2026-02-10T21:37:00Z` or None, when the source does not say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeAlias

from otolith.errors import Invalid
from otolith.model.times import parse_time, zulu

_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, kw_only=True)
class SourceTurn:
    """One thing one speaker said; `key` is its own name in the source, so that a growing transcript is logged
    once.
    """

    role: str
    text: str
    ts: str | None = None
    key: str = ""


@dataclass(frozen=True, kw_only=True)
class Sourced:
    """What every item has."""

    key: str
    source: str
    created: str | None = None


@dataclass(frozen=True, kw_only=True)
class Dialog(Sourced):
    """A conversation: becomes an entry."""

    title: str
    turns: tuple[SourceTurn, ...]
    project: str | None = None
    session: str | None = None
    topic: str | None = None


@dataclass(frozen=True, kw_only=True)
class NoteItem(Sourced):
    """A titled piece of knowledge: becomes a note."""

    title: str
    text: str
    type: str = "general"
    tags: tuple[str, ...] = ()
    project: str | None = None
    aliases: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)  # further keys of its own


@dataclass(frozen=True, kw_only=True)
class MemoItem(Sourced):
    """One named concept of the memory protocol: becomes a memo."""

    name: str
    text: str
    category: str = "past"
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ChunkItem(Sourced):
    """A remembered sentence or two: becomes a chunk."""

    text: str
    type: str | None = None
    tags: tuple[str, ...] = ()
    conversation_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class WorkItem(Sourced):
    """Work in five layers, in the shape of seed 003; `files` are (path, operation)."""

    id: str
    intent: Mapping[str, Any]
    outcome: Mapping[str, Any]
    perception: Mapping[str, Any]
    reasoning: Mapping[str, Any]
    actions: tuple[Mapping[str, Any], ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    agent: str | None = None
    project: str | None = None
    session: str | None = None
    uses: int = 0
    used: str | None = None  # when last


@dataclass(frozen=True, kw_only=True)
class LadderItem(Sourced):
    """An agent, a chapter or a wisdom of the work ladder; `fields` are named as in seed 003, times
    included.
    """

    kind: str
    id: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class LinkItem(Sourced):
    """A link between two items of the same source, named by their keys."""

    start: str
    type: str
    end: str
    context: str = ""


@dataclass(frozen=True, kw_only=True)
class FileItem(Sourced):
    """A file that another home already holds in our layout: taken over under the same relative path."""

    path: str
    data: bytes


@dataclass(frozen=True, kw_only=True)
class SourceFinding:
    """Something in the source that could not be read; the rest goes on."""

    where: str
    message: str
    line: int = 0


Item: TypeAlias = Dialog | NoteItem | MemoItem | ChunkItem | WorkItem | LadderItem | LinkItem | FileItem
Found: TypeAlias = Item | SourceFinding


def stamp(value: object) -> str | None:
    """The time as items write it; None for what is no time, because a wrong date is worse than none."""
    if value is None or value == "":
        return None
    try:
        return zulu(parse_time(value.isoformat() if isinstance(value, date) else value))
    except (Invalid, ValueError, OverflowError):
        return None


def words(value: object) -> str:
    """Text that can be written as UTF-8: halves of surrogate pairs, which JSON may hold, become a replacement
    sign.
    """
    return _LONE.sub("\ufffd", value) if isinstance(value, str) else ""


def tags(value: object) -> tuple[str, ...]:
    """Tags from a list or a comma-separated text, each once, without `#`."""
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list | tuple) else ()
    given = (words(part).strip().lstrip("#").strip() for part in parts)
    return tuple(dict.fromkeys(tag for tag in given if tag))
