"""Links between records: what stands beside one, what replaces it, what it was merged into. Reads only."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from otolith.index.cards import Cards
from otolith.index.database import LINK, Facet, LinkRow, Row, replaces
from otolith.model.record import reads_as
from otolith.model.text import fold

# Links that say one record bears on another. That chunks follow each other is what a conversation is, and a
# chapter's works are found by themselves.
_BEARING = ("('solves', 'led_to', 'builds_on', 'alternative_to', 'requires', 'supports', 'contradicts', "
            "'supersedes', "
            "'mentions', 'cites', 'blocked_by', 'related_to')")
_GIVEN = "IN (SELECT value FROM json_each(:ids))"
_HOPS = f"""
SELECT l.a AS source, r.id, l.said AS word, coalesce(l.strength, 0.8) AS strength, l.created
FROM links l JOIN records r ON r.id = l.b WHERE l.a {_GIVEN} AND l.word IN {_BEARING} AND r.id <> l.a
UNION SELECT l.b, r.id, l.said, coalesce(l.strength, 0.8), l.created
FROM links l JOIN records r ON r.id = l.a WHERE l.b {_GIVEN} AND l.word IN {_BEARING} AND r.id <> l.b
UNION SELECT l.a, r.id, l.said, 0.5, l.created FROM links l JOIN names x ON x.name = substr(l.b, 6)
JOIN records r ON r.n = x.record WHERE l.a {_GIVEN} AND l.word = 'mentions' AND r.id <> l.a"""
_REPLACED = f"""SELECT l.b, l.a, l.created, r.created
FROM links l JOIN records r ON r.id = l.a JOIN records old ON old.id = l.b
WHERE {replaces("old", "r")} AND l.b {_GIVEN} ORDER BY r.created, r.at, r.id"""


_WHOLES = f"""SELECT l.a, l.b FROM links l WHERE l.word = 'part_of' AND l.a {_GIVEN}
UNION SELECT l.a, m.b FROM links l JOIN links m ON m.a = l.b AND m.word = 'part_of'
WHERE l.word = 'part_of' AND l.a {_GIVEN}"""


class Neighbour(NamedTuple):
    """A link seen from one of its ends."""

    id: str
    word: str  # how it reads from here
    said: str  # the word as written
    outgoing: bool
    strength: float | None
    context: str | None
    created: float | None
    edge: str | None
    title: str
    kind: str


class Hop(NamedTuple):
    """A record one link away from another."""

    source: str
    id: str
    word: str
    strength: float
    created: float | None


class Dangling(NamedTuple):
    """A link of which an end is nowhere in the home."""

    unit: str
    a: str
    word: str
    b: str


class GraphLink(NamedTuple):
    """A link in its canonical direction; an end is a record's id, or `name:` and a name."""

    a: str
    word: str
    b: str
    strength: float | None


class Graph(Facet):
    """What the links of a record say."""

    @cached_property
    def _cards(self) -> Cards:
        return Cards(self.index)

    def neighbours(self, record: str, as_of: float | None = None) -> list[Neighbour]:
        """The record's links from both sides, to records that are there; each relation once."""
        handles = [record, *(f"name:{name}" for name in self._names(record))]
        seen: dict[tuple[str, str], Neighbour] = {}
        for link in self._links_at(handles):
            if as_of is not None and link.created is not None and link.created > as_of:
                continue
            here_is_a = link.a in handles
            outgoing = here_is_a != bool(link.inverted)
            word = reads_as(link.said, outgoing=outgoing)
            for far in self._ends(link.b if here_is_a else link.a):
                if far.id != record:
                    seen.setdefault((far.id, word), Neighbour(far.id, word, link.said, outgoing,
                                                              link.strength, link.context,
                                                              link.created, link.edge, far.title, far.kind))
        return sorted(seen.values(), key=lambda n: (n.said == "mentions", n.word, -(n.strength or 0), n.id))

    def _names(self, record: str) -> list[str]:
        row = self._cards.find(record)
        if row is None:
            return []
        further = self.db.column("SELECT name FROM names WHERE record = ? AND further", (row.n,))
        return [name for name in (fold(row.title), *further) if name]

    def _links_at(self, handles: list[str]) -> list[LinkRow]:
        marks = ",".join("?" * len(handles))
        return self.db.select(LinkRow, f"SELECT {LINK} FROM links l WHERE (a IN ({marks}) OR b IN ({marks})) "
                              "AND said <> 'pinned'", handles + handles)

    def _ends(self, handle: str) -> list[Row]:
        if handle.startswith("name:"):
            return self._cards.by_name(handle[5:])
        row = self._cards.find(handle)
        return [row] if row else []

    def merged_into(self, record: str) -> Row | None:
        """Where a merged record's content lives now, however often it was merged on."""
        seen: set[str] = set()
        while record and record not in seen:
            seen.add(record)
            record = self.db.value("SELECT b FROM links WHERE a = ? AND word = 'merged_into' ORDER BY "
                                   "created DESC", (record,))
            if record and (row := self._cards.find(record)):
                return row
        return None

    def dangling(self) -> list[Dangling]:
        """The links whose end is nowhere in the home, not even in the archive."""
        return self.db.select(Dangling, """SELECT unit, a, word, b FROM links l
            WHERE said NOT IN ('mentions', 'pinned')
            AND (NOT EXISTS (SELECT 1 FROM records r WHERE r.id = l.b)
                 OR NOT EXISTS (SELECT 1 FROM records r WHERE r.id = l.a))
            AND NOT EXISTS (SELECT 1 FROM archived x WHERE x.id = l.b OR x.id = l.a) ORDER BY unit, b""")

    def hops(self, ids: Iterable[str]) -> list[Hop]:
        """The records one bearing link away from these."""
        return self.db.select(Hop, _HOPS, {"ids": json.dumps(list(ids))})

    def replacements(self, ids: Iterable[str], as_of: float | None = None) -> dict[str, str]:
        """Which record replaces which of these; what came after `as_of` does not count."""
        rows = self.db.execute(_REPLACED, {"ids": json.dumps(list(ids))})
        return {old: new for old, new, linked, written in rows if as_of is None
                or max(linked or 0.0, written) <= as_of}

    def wholes(self, ids: Iterable[str]) -> dict[str, set[str]]:
        """Record → what is made from it: the chapters it belongs to, and the wisdom of those."""
        made: dict[str, set[str]] = {}
        for part, whole in self.db.execute(_WHOLES, {"ids": json.dumps(list(ids))}):
            made.setdefault(part, set()).add(whole)
        return made

    def links(self, as_of: float | None = None) -> list[GraphLink]:
        """All links but pins; with `as_of` those that stood then."""
        return self.db.select(GraphLink, "SELECT a, word, b, strength FROM links WHERE said <> 'pinned' AND "
                              "(:as_of IS NULL OR created IS NULL OR created <= :as_of)", {"as_of": as_of})
