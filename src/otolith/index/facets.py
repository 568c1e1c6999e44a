"""What may be asked of an index, by the thing asked for: `index.cards.find(id)`, `index.graph.neighbours(id)`, …

Every call takes values and returns values; nobody above this room sees SQL. These stand in front of the functions that do it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:

    from otolith.index.read import Neighbour, Row
    from otolith.index.store import Index
    from otolith.index.vectors import Floats, VectorSet
    from otolith.model.dialog import Fact
    from otolith.model.recall import Filter
    from otolith.model.record import Finding, Usage


class Facet:
    """One side of an index. The connection is asked for anew each time: the file may have been replaced."""

    def __init__(self, index: Index) -> None:
        self.index = index

    @property
    def db(self) -> sqlite3.Connection:
        return self.index.db


class Cards(Facet):
    """Records as the index lists them: by id, by name, by filter; their tags, use and findings."""

    def find(self, record: str) -> Row | None:
        from otolith.index import read

        return read.find(self.db, record)

    def resolve(self, handle: str) -> list[Row]:
        from otolith.index import read

        return read.resolve(self.db, handle)

    def by_name(self, name: str) -> list[Row]:
        from otolith.index import read

        return read.by_name(self.db, name)

    def starting(self, start: str, limit: int) -> list[Row]:
        """Records whose id or title begins so; the latest ones, where nothing is given. Only kinds that are listed."""
        from otolith.index.read import Row
        from otolith.model.kinds import LISTED
        from otolith.model.text import fold

        end, marks = "\U0010ffff", ",".join("?" * len(LISTED))
        if not start:
            rows = self.db.execute(f"SELECT * FROM records WHERE kind IN ({marks}) ORDER BY created DESC, id LIMIT ?",
                                   (*LISTED, limit)).fetchall()
        else:
            rows = self.db.execute(
                f"SELECT r.* FROM records r WHERE (r.id >= ? AND r.id < ? OR r.n IN (SELECT record FROM names "
                f"WHERE name >= ? AND name < ? AND NOT further)) AND kind IN ({marks}) LIMIT ?",
                (start, start + end, fold(start), fold(start) + end, *LISTED, limit)).fetchall()
        return [Row(*row) for row in rows]

    def rows_of(self, ids: Sequence[str]) -> dict[str, Row]:
        from otolith.index import read

        return read.rows_of(self.db, ids)

    def units_of(self, ids: Sequence[str]) -> dict[str, str]:
        from otolith.index import read

        return read.units_of(self.db, ids)

    def listing(self, chosen: Filter, limit: int | None, offset: int = 0, *, projects: tuple[str,
                ...] = (), oldest_first: bool = False) -> tuple[list[Row], int]:
        from otolith.index import read

        return read.listing(self.db, chosen, limit, offset, projects=projects, oldest_first=oldest_first)

    def tags_of(self, numbers: Iterable[int]) -> dict[int, list[str]]:
        from otolith.index import read

        return read.tags_of(self.db, numbers)

    def tag_counts(self) -> list[tuple[str, int]]:
        from otolith.index import read

        return read.tag_counts(self.db)

    def usage_of(self, row: Row) -> Usage:
        from otolith.index import read

        return read.usage_of(self.db, row)

    def problems(self) -> list[Finding]:
        from otolith.index import read

        return read.problems(self.db)

    def archived(self, record: str | None = None) -> list[tuple[str, str, str, str]]:
        from otolith.index import read

        return read.archived(self.db, record)

    def total(self) -> int:
        """How many records there are."""
        count: int = self.db.execute("SELECT count(*) FROM records").fetchone()[0]
        return count

    def counts(self) -> dict[str, Any]:
        from otolith.index import read

        return read.counts(self.db)

    def uses(self) -> int:
        """How often anything was delivered."""
        return int(self.db.execute("SELECT coalesce(sum(count), 0) FROM usage").fetchone()[0])

    def in_unit(self, unit: str) -> list[Row]:
        """The records that a file, or an entry's folder, holds."""
        from otolith.index.read import Row

        return [Row(*row) for row in self.db.execute("SELECT * FROM records WHERE unit = ? ORDER BY n", (unit,))]


class Graph(Facet):
    """Links between records: what stands beside one, what replaces it, what it was merged into."""

    def neighbours(self, record: str, as_of: float | None = None) -> list[Neighbour]:
        from otolith.index import read

        return read.neighbours(self.db, record, as_of)

    def merged_into(self, record: str) -> Row | None:
        from otolith.index import read

        return read.merged_into(self.db, record)

    def dangling(self) -> list[tuple[str, str, str, str]]:
        from otolith.index import read

        return read.dangling(self.db)

    def replacements(self, ids: Iterable[str], as_of: float | None = None) -> dict[str, str]:
        from otolith.index import search

        return search.replacements(self.db, ids, as_of)


class Words(Facet):
    """Full text: which passages hold a word, and how rare it is; exact handles of a question."""


class Around(Facet):
    """Passages: their text and place, what stands beside them, which of them a filter lets pass."""

    def texts(self, numbers: Sequence[int]) -> list[str]:
        from otolith.index import search

        return search.texts(self.db, numbers)


class Meaning(Facet):
    """Vectors of passages, one set for each embedder: what is nearest, what is still missing."""

    def find_set(self, provider: str, model: str, dimension: int | None = None) -> VectorSet | None:
        from otolith.index import vectors

        return vectors.find_set(self.db, provider, model, dimension)

    def drop_set(self, held: VectorSet) -> None:
        from otolith.index import vectors

        return vectors.drop_set(self.db, held)

    def all_sets(self) -> list[VectorSet]:
        from otolith.index import vectors

        return vectors.all_sets(self.db)

    def count_missing(self, held: VectorSet | None) -> int:
        from otolith.index import vectors

        return vectors.count_missing(self.db, held)

    def keep_works(self, vectors: Iterable[tuple[str, Floats]], *, anew: bool) -> None:
        """The first vector of each of these works into seed 003's own table; `anew` over what is there."""
        rows = [(vector.astype("<f4").tobytes(), id, anew, 4 * len(vector)) for id, vector in vectors]
        self.db.executemany("UPDATE memories SET embedding = ? WHERE id = ? AND (? OR embedding IS NULL "
                            "OR length(embedding) <> ?)", rows)

    def compact(self, *, force: bool = False) -> bool:
        from otolith.index import vectors

        return vectors.compact(self.db, force=force)

    def first_vectors(self, held: VectorSet, kind: str) -> dict[str, Floats]:
        from otolith.index import vectors

        return vectors.first_vectors(self.db, held, kind)


class Facts(Facet):
    """Facts as they were said, reviewed and settled: what holds, and what held on a day."""

    def of(self, record: str, as_of: float | None = None) -> Fact | None:
        from otolith.index import facts

        return facts.fact_of(self.db, record, as_of)

    def of_topic(self, topic: str, as_of: float | None = None) -> list[Fact]:
        from otolith.index import facts

        return facts.facts_of(self.db, topic, as_of)

    def last_review(self, topic: str) -> str:
        from otolith.index import facts

        return facts.last_review(self.db, topic)

    def only_in(self, unit: str) -> set[str]:
        from otolith.index import facts

        return facts.only_in(self.db, unit)

    def stated(self, record: str) -> bool:
        from otolith.index import facts

        return facts.stated(self.db, record)
