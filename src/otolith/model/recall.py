"""What recall is asked and what it answers: the Filter a question comes with, the Hits and the Recall.

Filters use the same words at every door.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from otolith.errors import Invalid
from otolith.model.kinds import kind as row_of
from otolith.model.shape import NOTHING, Value
from otolith.model.times import zulu

MOST = (1 << 31) - 1
FILTERS = ("kind", "type", "tag", "tags", "topic", "project", "agent", "conversation", "session", "file",
           "since", "before", "as_of", "failures", "successes", "min_confidence")


class Filter(Value):
    """All given conditions hold. An equality on a field a kind lacks excludes it; a minimum lets it pass."""

    kind: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    topic: str | None = None
    project: str | None = None
    agent: str | None = None
    conversation: str | None = None
    session: str | None = None
    file: str | None = None
    since: float | None = None
    before: float | None = None
    as_of: float | None = None
    success: bool | None = None
    min_confidence: float | None = None
    trust: tuple[str, ...] = ()
    unasked: tuple[str, str] | None = None  # project, session: only what may be told there

    def __bool__(self) -> bool:
        return self != Filter()


def make_filter(
    *, clock: Callable[[], float] = time.time, kind: Any = None, type: Any = None, tag: Any = None,
    tags: Any = None, topic: str | None = None,
    project: str | None = None, agent: str | None = None, conversation: str | None = None,
    session: str | None = None, file: str | None = None, since: Any = None, before: Any = None,
    as_of: Any = None, failures: bool = False, successes: bool = False,
    min_confidence: float | None = None, **other: Any,
) -> Filter:
    """A filter from a verb's keywords; one value or several, times in any form; `7d` is counted from now."""
    if other:
        raise Invalid(f"unknown filter {next(iter(other))!r}", f"use {', '.join(FILTERS)}")
    texts: dict[str, Any] = {"topic": topic, "project": project, "agent": agent, "conversation": conversation,
             "session": session, "file": file}
    for name, value in texts.items():
        if value is not None:
            check_text(value, name)
    kinds = tuple(row_of(name).name for name in _several(kind, "kind"))
    if failures and successes:
        raise Invalid("failures and successes together leave nothing",
                      "give one of them, or neither for both")
    if min_confidence is not None and not (is_number(min_confidence) and 0 <= min_confidence <= 1):
        raise Invalid(f"min_confidence must be from 0 to 1; got {min_confidence!r}")
    given = {"since": since, "before": before, "as_of": as_of}
    times: dict[str, Any] = {name: _moment(value, clock(), name) for name, value in given.items()
                             if value is not None}
    return Filter(kind=kinds, type=_several(type, "type"), tags=_several(tag, "tag") + _several(tags, "tags"),
                  success=False if failures else True if successes else None,
                  min_confidence=min_confidence, **texts, **times)


def filter_among(parameters: Mapping[str, Any], clock: Callable[[], float]) -> Filter:
    """The filter among all that a verb was given."""
    return make_filter(clock=clock, **{name: parameters[name] for name in FILTERS if name in parameters})


def _moment(value: Any, now: float, where: str) -> float:
    from otolith.model.dates import read_moment  # most questions have no date

    return read_moment(value, now, where)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_text(value: Any, where: str) -> None:
    """Text that can be written down: half of a surrogate pair cannot."""
    if not isinstance(value, str):
        raise Invalid(f"{where} must be text, not {type(value).__name__}")
    if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
        raise Invalid(f"{where} is not valid Unicode: {value[:60]!a}", "leave out halves of surrogate pairs")


def check_counts(**counts: Any) -> None:
    """How many, how far, from which on: whole numbers that a page can have; None where there is no bound."""
    for name, value in counts.items():
        whole = isinstance(value, int) and not isinstance(value, bool)
        if value is not None and not (whole and 0 <= value <= MOST):
            raise Invalid(f"{name} must be a whole number from 0 to {MOST}; got {str(value)[:40]}")


def _several(value: Any, where: str) -> tuple[str, ...]:
    if value is None:
        return ()
    words = (value,) if isinstance(value, str) else value
    if isinstance(words, list | tuple | set | frozenset) and all(isinstance(item, str) for item in words):
        for word in words:
            check_text(word, where)
        return tuple(words)
    raise Invalid(f"{where} must be a word or a list of words; got {value!r}")


class Hit(Value):
    """A record delivered at some depth, with the reasons for it."""

    id: str
    kind: str
    type: str
    title: str
    text: str
    created: float
    path: str
    score: float = 0.0
    why: Sequence[str] = ()
    also: Sequence[str] = ()  # what else tells it: topic startup
    tags: Sequence[str] = ()
    origin: Mapping[str, Any] | None = None
    superseded_by: str | None = None
    tokens: int | None = None
    passage: Mapping[str, Any] | None = None
    context: Sequence[Mapping[str, Any]] = ()  # the neighbourhood, where the budget allowed it
    parts: Mapping[str, float] = NOTHING  # the score taken apart, for --explain
    record: Any = None
    dialog: str | None = None  # of which it is a turn: an entry or a conversation
    home: str | None = None  # the name of another home that it comes from
    hash: str | None = None  # of a file that was read to be edited: what edit(expect=…) compares

    def to_dict(self) -> dict[str, Any]:
        """As `recall --json` answers it."""
        shown: dict[str, Any] = {
            "id": self.id, "kind": self.kind, "type": self.type, "title": self.title, "text": self.text,
            "score": round(self.score, 6), "why": list(self.why), "created": zulu(self.created),
            "tags": list(self.tags), "path": self.path, "origin": self.origin,
            "superseded_by": self.superseded_by, "tokens": self.tokens,
        }
        if self.home:
            shown["home"] = self.home
        if self.also:
            shown["also"] = list(self.also)
        if self.passage:
            shown["passage"] = dict(self.passage)
        if self.context:
            shown["context"] = [dict(item) for item in self.context]
        return shown


def spread(hits: Sequence[Hit], most: int = 2) -> list[tuple[Hit, int]]:
    """At most so many turns of one dialog, each hit with the number of those left out after it."""
    of_dialog: dict[str, list[Hit]] = {}
    for hit in hits:
        of_dialog.setdefault(hit.dialog or f"{hit.kind} {hit.id} {id(hit)}", []).append(hit)
    last = {id(same[:most][-1]): len(same) - most for same in of_dialog.values()}
    shown = {id(hit) for same in of_dialog.values() for hit in same[:most]}
    return [(hit, max(0, last.get(id(hit), 0))) for hit in hits if id(hit) in shown]


class Recall(Value):
    """The answer to a question: the hits, what they cost, and whether they are good enough."""

    query: str
    depth: str
    hits: Sequence[Hit] = ()
    budget: int | None = None
    tokens: int = 0
    enough: bool = False  # a label: the first hit answers, by its score or because it was named
    about_somebody_else: bool = False  # others say it better than the person whom the question names
    weights: str = ""  # the id of the weights: scores of the same id and embedder are comparable
    index_lag: float = 0.0
    notices: Sequence[str] = ()

    @property
    def doubt(self) -> str:
        """What a reader is to know before the hits; empty if they answer."""
        if self.hits and not self.enough:
            return "nothing that is known answers this; the nearest"
        other = self.hits and self.about_somebody_else
        return "said by somebody else than the question names" if other else ""

    def to_dict(self) -> dict[str, Any]:
        shown = {"query": self.query, "depth": self.depth, "budget": self.budget, "tokens": self.tokens,
                 "enough": self.enough, "about_somebody_else": self.about_somebody_else,
                 "weights": self.weights, "index_lag": round(self.index_lag, 3),
                 "hits": [hit.to_dict() for hit in self.hits]}
        return {**shown, "notices": list(self.notices)} if self.notices else shown
