"""Reading verbs: get, list, related, trace, tags, stats, sql.

They write nothing but a line in the usage ledger.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from otolith.errors import Invalid
from otolith.home import Home
from otolith.index.database import Row
from otolith.model.kinds import KINDS, origin_of
from otolith.model.recall import Filter, Hit
from otolith.model.record import DEPTHS
from otolith.model.shape import plain
from otolith.model.times import zulu
from otolith.verbs.steps import fetch, locate

MAX_DEPTH = 50
DIRECTIONS = {"causes": ("causes",), "effects": ("effects",), "both": ("causes", "effects")}
LEADS = {"caused_by": "causes", "blocked_by": "causes", "led_to": "effects", "blocks": "effects"}
SQL_SECONDS = 5.0
SQL_ROWS = 100_000


def get(home: Home, handle: str, depth: str = "full") -> Hit:
    """One record at a depth; counted as used."""
    if depth not in DEPTHS:
        raise Invalid(f"unknown depth {depth!r}", f"use one of {', '.join(DEPTHS)}")
    row = locate(home, handle)
    record = fetch(home, row)
    fingerprint = None if KINDS[row.kind].not_edited else home.load(row.id).hash
    home.used([row.id])
    return make_hit(home, row, record, depth).replace(hash=fingerprint)


def make_hit(home: Home, row: Row, record: Any, depth: str) -> Hit:
    """A record as it is delivered."""
    from otolith.recall.depth import render

    complete, index, origin = depth == "complete", home.index, origin_of(record)
    text = render(record, depth, links=index.graph.neighbours(row.id) if complete else (),
                  usage=home.usage_of(row) if complete else None)
    newer = index.graph.replacements([row.id]).get(row.id) or getattr(record, "deprecated_by", None)
    return Hit(id=row.id, kind=row.kind, type=row.type, title=row.title, created=row.created, path=row.unit,
               record=record, text=text, tags=index.cards.tags_of([row.n]).get(row.n, []),
               origin={**(plain(origin) if hasattr(origin, "to_dict") else {}), "trust": row.trust},
               superseded_by=newer or getattr(record, "superseded_by", None))


def listing(home: Home, chosen: Filter, *, limit: int | None = 50,
            offset: int = 0) -> tuple[list[dict[str, Any]], int]:
    """(a page of records, how many there are), newest first; a listing is not a use."""
    home.ensure_fresh()
    rows, total = home.index.cards.listing(chosen, limit, offset, projects=home.config.projects)
    tags = home.index.cards.tags_of([row.n for row in rows])
    return [describe(row, tags.get(row.n, [])) for row in rows], total


def describe(row: Row, tags: list[str]) -> dict[str, Any]:
    """A row as lists show it."""
    return {"id": row.id, "kind": row.kind, "type": row.type, "title": row.title,
            "created": zulu(row.created), "tags": tags, "path": row.unit, "importance": row.importance,
            "project": row.project, "agent": row.agent}


def related(home: Home, handle: str, depth: int = 1) -> list[dict[str, Any]]:
    """What is linked to a record, breadth first, each at its shortest distance with all links leading there.

    `link` is how a link reads from where one comes, `type` the word as it was written, `outgoing` which way
    it was written.
    """
    if depth < 1:
        raise Invalid(f"depth must be at least 1; got {depth}")
    home.ensure_fresh()
    start = locate(home, handle)
    seen, links, outermost = {start.id}, [], [start.id]
    for distance in range(1, depth + 1):
        following: dict[str, None] = {}
        for here in outermost:
            for link in home.index.graph.neighbours(here):
                if link.id not in seen:
                    following[link.id] = None
                    links.append({"id": link.id, "kind": link.kind, "title": link.title, "link": link.word,
                                  "type": link.said, "outgoing": link.outgoing, "from": here,
                                  "distance": distance, "strength": link.strength, "context": link.context,
                                  "edge_id": link.edge})
        seen.update(following)
        outermost = list(following)
    return links


def trace(home: Home, handle: str, direction: str = "both", max_depth: int = 10) -> list[dict[str, Any]]:
    """The causes and effects of a record, a tree in reading order; a step says where and how deep it hangs.

    A record met again is named again but not opened again, so a circle ends; it stands open where it is
    nearest.
    """
    if direction not in DIRECTIONS:
        raise Invalid(f"direction must be one of {', '.join(DIRECTIONS)}; got {direction!r}")
    if not 1 <= max_depth <= MAX_DEPTH:
        raise Invalid(f"max_depth must be from 1 to {MAX_DEPTH}; got {max_depth}")
    start = locate(home, handle).id
    return [step for way in DIRECTIONS[direction] for step in _walk(home, start, way, max_depth)]


def _walk(home: Home, start: str, way: str, max_depth: int) -> list[dict[str, Any]]:
    """Nearest first, so that a record is opened where it is nearest; then parents before children."""
    opened, below = {start}, dict[int, list[tuple[int, dict[str, Any]]]]()
    waiting = [(start, 0, 0)]  # id, depth, number of the step
    count = 0
    for here, depth, parent in waiting:
        for link in home.index.graph.neighbours(here):
            if LEADS.get(link.word) != way:
                continue
            count += 1
            again = link.id in opened
            below.setdefault(parent, []).append((count, {
                "id": link.id, "kind": link.kind, "title": link.title, "link": link.word, "from": here,
                "depth": depth + 1, "direction": way, "again": again}))
            opened.add(link.id)
            if not again and depth + 1 < max_depth:
                waiting.append((link.id, depth + 1, count))

    def in_order(parent: int) -> Iterator[dict[str, Any]]:
        for number, step in below.get(parent, ()):
            yield step
            yield from in_order(number)

    return list(in_order(0))


def tags(home: Home) -> list[dict[str, Any]]:
    home.ensure_fresh()
    return [{"tag": tag, "count": count} for tag, count in home.index.cards.tag_counts()]


def stats(home: Home) -> dict[str, Any]:
    """How much of what there is, where, and in which formats."""
    from otolith.model import chunk, dialog, note
    from otolith.verbs.models import cost
    from otolith.verbs.rounds import is_due, last_round

    home.ensure_fresh()
    home.fold_usage()
    cards = home.index.cards
    return {
        "home": home.tree.name, **cards.counts(), "uses": cards.uses(),
        "problems": len(cards.problems()), "index": str(home.index.path or "in memory"),
        "index_lag": round(home.lag(), 3), "model": cost(home),
        "upkeep": {"last": last_round(home.tree), "due": is_due(home.tree, home.clock()),
                   "by_itself": home.config.upkeep},
        "formats": {"chunk": chunk.SCHEMA, "notes": note.SCHEMA, "entry_meta": dialog.META_SCHEMA,
                    "entry_summary": dialog.SUMMARY_SCHEMA, "topic_memory": dialog.TOPIC_SCHEMA,
                    "global_memory": dialog.GLOBAL_SCHEMA, "link": "link.v1", "curation": "curation.v1",
                    **{row.name: row.schema for row in KINDS.values() if row.schema}},
    }


def sql(home: Home, query: str) -> dict[str, Any]:
    """One SELECT against the index, on a connection that can do nothing else; {"columns", "rows"}."""
    home.ensure_fresh()
    home.fold_usage()
    columns, rows = home.index.ask(query, rows=SQL_ROWS, seconds=SQL_SECONDS)
    return {"columns": columns, "rows": rows}
