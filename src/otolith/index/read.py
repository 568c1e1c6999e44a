"""What verbs that have not moved to `index.cards` and `index.graph` yet still call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from otolith.index.cards import Archived, Cards
from otolith.index.database import Bare
from otolith.index.graph import Dangling, Graph
from otolith.index.graph import Neighbour as Neighbour
from otolith.index.graph import replaces as replaces
from otolith.index.schema import Row as Row
from otolith.model.recall import Filter
from otolith.model.record import Finding, Usage


def find(db: Any, record: str) -> Row | None:
    return Cards(Bare(db)).find(record)


def resolve(db: Any, handle: str) -> list[Row]:
    return Cards(Bare(db)).resolve(handle)


def by_name(db: Any, name: str) -> list[Row]:
    return Cards(Bare(db)).by_name(name)


def rows_of(db: Any, ids: Iterable[str]) -> dict[str, Row]:
    return Cards(Bare(db)).rows_of(ids)


def units_of(db: Any, ids: Iterable[str]) -> dict[str, str]:
    return Cards(Bare(db)).units_of(ids)


def listing(db: Any, chosen: Filter, limit: int | None, offset: int = 0, *, projects: tuple[str, ...] = (),
            oldest_first: bool = False) -> tuple[list[Row], int]:
    return Cards(Bare(db)).listing(chosen, limit, offset, projects=projects, oldest_first=oldest_first)


def tags_of(db: Any, numbers: Iterable[int]) -> dict[int, list[str]]:
    return Cards(Bare(db)).tags_of(numbers)


def tag_counts(db: Any) -> list[tuple[str, int]]:
    return Cards(Bare(db)).tag_counts()


def usage_of(db: Any, row: Row) -> Usage:
    return Cards(Bare(db)).usage_of(row)


def problems(db: Any) -> list[Finding]:
    return Cards(Bare(db)).problems()


def archived(db: Any, record: str | None = None) -> list[Archived]:
    return Cards(Bare(db)).archived(record)


def counts(db: Any) -> dict[str, Any]:
    return Cards(Bare(db)).counts()


def neighbours(db: Any, record: str, as_of: float | None = None) -> list[Neighbour]:
    return Graph(Bare(db)).neighbours(record, as_of)


def merged_into(db: Any, record: str) -> Row | None:
    return Graph(Bare(db)).merged_into(record)


def dangling(db: Any) -> list[Dangling]:
    return Graph(Bare(db)).dangling()
