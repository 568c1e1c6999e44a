"""What works come together in: chapters, and the wisdom that stands on them (seed 003). Both are built from
below; a chapter may also be put together by hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from otolith.model.ids import check_prefixed
from otolith.model.record import TRUST, Card, Link, Record
from otolith.model.shape import choice, number, strings, text


class Narrative(Record):
    """A stretch of a project's history, retold from what lies below it: what chapters and wisdom share."""

    kind: ClassVar[str]

    id: str = text()
    project_id: str = text(default="default")
    created_at: float = number(0)
    updated_at: float = number(0)
    title: str | None = text(default=None, sparse=True)
    summary: str = text()

    def check(self) -> None:
        check_prefixed(self.id, self.kind)

    def retell(self, *lists: Iterable[str] | None, members: Iterable[str]) -> Card:
        """The card: the summary, then the lists' lines, and links from what it is built from."""
        own: Any = self
        lines = [self.summary, *(line for items in lists for line in items or ())]
        links = [Link(source=member, type="part_of", target=self.id, created=self.created_at)
                 for member in members]
        return self.make_card("\n".join(lines), title=self.title or self.summary[:80], links=links,
                              importance=0.5, updated=float(self.updated_at), tags=own.tags or (),
                              project=self.project_id, trust=own.trust or "user")


class Chapter(Narrative):
    """Related works as one narrative."""

    kind: ClassVar[str] = "chapter"

    learnings: tuple[str, ...] | None = strings(default=None, sparse=True)
    start_ts: float = number(0)
    end_ts: float = number(0)
    tags: tuple[str, ...] | None = strings(default=None, sparse=True)
    topics: tuple[str, ...] | None = strings(default=None, sparse=True)
    origin: str = choice(("manual", "auto"), default="manual")
    memories: tuple[str, ...] = strings(default=())  # the join records: their order is the position
    rule: str | None = text(default=None, sparse=True)
    fingerprint: str | None = text(default=None, sparse=True)
    trust: str | None = choice(TRUST, default=None, sparse=True)

    @property
    def type(self) -> str:
        return self.origin

    def card(self) -> Card:
        return self.retell(self.learnings, members=self.memories)


class Wisdom(Narrative):
    """What several chapters of a project teach together."""

    kind: ClassVar[str] = "wisdom"
    type: ClassVar[str] = "wisdom"

    insights: tuple[str, ...] | None = strings(default=None, sparse=True)
    patterns: tuple[str, ...] | None = strings(default=None, sparse=True)
    best_practices: tuple[str, ...] | None = strings(default=None, sparse=True)
    tags: tuple[str, ...] | None = strings(default=None, sparse=True)
    start_ts: float = number(0)
    end_ts: float = number(0)
    chapters: tuple[str, ...] = strings(default=())
    fingerprint: str | None = text(default=None, sparse=True)
    made_by: str | None = text(default=None, sparse=True)
    trust: str | None = choice(TRUST, default=None, sparse=True)

    def card(self) -> Card:
        return self.retell(self.insights, self.patterns, self.best_practices, members=self.chapters)
