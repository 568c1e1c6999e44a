"""Asking the index: by id, by name, by filter, along links; what it knows of files, tags and usage. Reads only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from otolith.index.filters import where
from otolith.model.recall import Filter
from otolith.model.record import Finding, Usage, reads_as
from otolith.model.text import fold


class Row(NamedTuple):
    """A record as the index lists it."""

    n: int
    id: str
    kind: str
    type: str
    title: str
    unit: str
    created: float
    updated: float | None
    importance: float | None
    confidence: float | None
    project: str | None
    agent: str | None
    session: str | None
    conversation: str | None
    topic: str | None
    success: int | None
    trust: str
    valid_from: float | None
    valid_until: float | None
    sunk: int
    pinned: int
    uses: int
    used: float | None
    place: int
    last: int  # its passages are numbered from n to this


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


def find(db: sqlite3.Connection, record: str) -> Row | None:
    """The record of that very id."""
    row = db.execute("SELECT * FROM records WHERE id = ?", (record,)).fetchone()
    return Row(*row) if row else None


def resolve(db: sqlite3.Connection, handle: str) -> list[Row]:
    """Exact handles: an id, else a unique prefix of one (six signs or more), else a title, alias or memo name."""
    exact = find(db, handle)
    if exact:
        return [exact]
    if len(handle) >= 6:
        rows = db.execute("SELECT * FROM records WHERE id >= ? AND id < ? LIMIT 20", (handle, handle + "\U0010ffff")).fetchall()
        if rows:
            return [Row(*row) for row in rows]
    return by_name(db, handle)


def by_name(db: sqlite3.Connection, name: str) -> list[Row]:
    """Records of that title; else those that bear it as a further name, with or without the ending of their file."""
    query = "SELECT n.further, r.* FROM names n JOIN records r ON r.n = n.record WHERE n.name = ? ORDER BY n.further LIMIT 20"
    folded = fold(name)
    rows = db.execute(query, (folded,)).fetchall()
    if not rows and folded.endswith(".md"):
        rows = db.execute(query, (folded[:-3],)).fetchall()
    return [Row(*row[1:]) for row in rows if row[0] == rows[0][0]]


def rows_of(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, Row]:
    """Many records at once."""
    found: dict[str, Row] = {}
    for at in range(0, len(ids), 500):
        part = ids[at : at + 500]
        marks = ",".join("?" * len(part))
        for row in db.execute(f"SELECT * FROM records WHERE id IN ({marks})", part):
            found[row[1]] = Row(*row)
    return found


def units_of(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, str]:
    """Which unit each of the records stands in, as far as they are known."""
    found: dict[str, str] = {}
    for at in range(0, len(ids), 500):
        part = ids[at : at + 500]
        found.update(db.execute(f"SELECT id, unit FROM records WHERE id IN ({','.join('?' * len(part))})", part).fetchall())
    return found


def listing(db: sqlite3.Connection, chosen: Filter, limit: int | None, offset: int = 0, *, projects: tuple[str, ...] = (),
            oldest_first: bool = False) -> tuple[list[Row], int]:
    """(page of records, how many there are in all), newest first."""
    condition, values = where(db, chosen, projects)
    total = db.execute(f"SELECT count(*) FROM records r WHERE {condition}", values).fetchone()[0]
    order = "ASC" if oldest_first else "DESC"
    rows = db.execute(f"SELECT r.* FROM records r WHERE {condition} ORDER BY r.created {order}, r.id LIMIT ? OFFSET ?",
                      [*values, -1 if limit is None else limit, offset])
    return [Row(*row) for row in rows], total


def tags_of(db: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, list[str]]:
    """Tags by record number."""
    found: dict[int, list[str]] = {}
    wanted = list(numbers)
    for at in range(0, len(wanted), 500):
        part = wanted[at : at + 500]
        marks = ",".join("?" * len(part))
        for n, tag in db.execute(f"SELECT record, tag FROM tags WHERE record IN ({marks}) ORDER BY record, place", part):
            found.setdefault(n, []).append(tag)
    return found


def tag_counts(db: sqlite3.Connection) -> list[tuple[str, int]]:
    """Every tag with the number of its records."""
    return [(tag, count) for tag, count in db.execute(
        "SELECT tag, count(*) AS c FROM tags GROUP BY tag ORDER BY c DESC, tag")]


def neighbours(db: sqlite3.Connection, record: str, as_of: float | None = None) -> list[Neighbour]:
    """The record's links from both sides, to records that are there; each relation once."""
    row = find(db, record)
    handles = [record]
    if row is not None:
        further = db.execute("SELECT name FROM names WHERE record = ? AND further", (row.n,))
        handles += [f"name:{name}" for name in (fold(row.title), *(name for name, in further)) if name]
    marks = ",".join("?" * len(handles))
    query = (f"SELECT a, word, b, said, inverted, strength, context, created, edge FROM links "
             f"WHERE (a IN ({marks}) OR b IN ({marks})) AND said <> 'pinned'")
    found: dict[tuple[str, str], Neighbour] = {}
    for a, _, b, said, inverted, strength, context, created, edge in db.execute(query, handles + handles):
        if as_of is not None and created is not None and created > as_of:
            continue
        here_is_a = a in handles
        other = b if here_is_a else a
        for far in _ends(db, other):
            if far.id == record:
                continue
            outgoing = here_is_a != bool(inverted)
            word = reads_as(said, outgoing=outgoing)
            found.setdefault((far.id, word), Neighbour(far.id, word, said, outgoing, strength, context, created, edge,
                                                       far.title, far.kind))
    return sorted(found.values(), key=lambda n: (n.said == "mentions", n.word, -(n.strength or 0), n.id))


def _ends(db: sqlite3.Connection, handle: str) -> list[Row]:
    if handle.startswith("name:"):
        return by_name(db, handle[5:])
    row = find(db, handle)
    return [row] if row else []


def merged_into(db: sqlite3.Connection, record: str) -> Row | None:
    """Where a merged record's content lives now, however often it was merged on."""
    seen: set[str] = set()
    while record not in seen:
        seen.add(record)
        row = db.execute("SELECT b FROM links WHERE a = ? AND word = 'merged_into' ORDER BY created DESC", (record,)).fetchone()
        if row is None:
            return None
        record = row[0]
        if found := find(db, record):
            return found
    return None


def replaces(old: str, new: str) -> str:
    """The condition, in SQL, under which a link `l` says that one record replaces another.

    What is outside replaces only what is outside, unless a person said so. The link is there all the same.
    """
    return (f"l.word = 'supersedes' AND ({old}.trust = 'outside' OR l.trust = 'user' "
            f"OR (l.trust = 'agent' AND {new}.trust <> 'outside'))")


def usage_of(db: sqlite3.Connection, row: Row) -> Usage:
    """The number in the record's own file plus the ledger's."""
    counted = db.execute("SELECT count, last FROM usage WHERE id = ?", (row.id,)).fetchone() or (0, None)
    last = max((when for when in (row.used, counted[1]) if when is not None), default=None)
    return Usage(row.uses + counted[0], last)


def problems(db: sqlite3.Connection) -> list[Finding]:
    return [Finding(*row) for row in db.execute("SELECT path, line, code, message, remedy FROM problems ORDER BY path, line")]


def dangling(db: sqlite3.Connection) -> list[tuple[str, str, str, str]]:
    """(unit, from, word, to) of links whose end is nowhere in the home, not even in the archive."""
    query = """SELECT unit, a, word, b FROM links l WHERE said NOT IN ('mentions', 'pinned')
               AND (NOT EXISTS (SELECT 1 FROM records r WHERE r.id = l.b)
                    OR NOT EXISTS (SELECT 1 FROM records r WHERE r.id = l.a))
               AND NOT EXISTS (SELECT 1 FROM archived x WHERE x.id = l.b OR x.id = l.a) ORDER BY unit, b"""
    return list(db.execute(query))


def archived(db: sqlite3.Connection, record: str | None = None) -> list[tuple[str, str, str, str]]:
    """(id, kind, title, path) of forgotten records."""
    if record is None:
        return list(db.execute("SELECT id, kind, title, path FROM archived ORDER BY path"))
    return list(db.execute("SELECT id, kind, title, path FROM archived WHERE id = ? ORDER BY path", (record,)))


def counts(db: sqlite3.Connection) -> dict[str, Any]:
    """How much of what there is."""
    kinds = dict(db.execute("SELECT kind, count(*) FROM records GROUP BY kind ORDER BY kind").fetchall())
    one = {name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
           for name in ("documents", "passages", "links", "archived")}
    tags = db.execute("SELECT count(DISTINCT tag) FROM tags").fetchone()[0]
    return {"records": sum(kinds.values()), "kinds": kinds, "tags": tags, **one}
