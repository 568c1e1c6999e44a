"""The graph as it is drawn: records, the links among them, and which of many are worth drawing.

Around one record its neighbourhood is drawn, nearest first. Of all records at most so many: a program gets
the most linked ones, a picture that wants all or none gets records to begin from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from otolith.doors.web.viewing import bounded, remembered
from otolith.model.kinds import LISTED
from otolith.model.recall import make_filter
from otolith.model.times import zulu
from otolith.verbs import steps

if TYPE_CHECKING:
    from otolith.index.database import Row
    from otolith.memory import Memory

MANY = 60_000  # records that a graph is chosen from
MOST = 5_000  # that one picture holds
STARTS = 30
Links = dict[tuple[str, str, str], float | None]  # (from, word, to) → strength


def graph(mem: Memory, limit: int = 2_000, around: str | None = None, depth: int = 2, whole: bool = False,
          **filters: Any) -> dict[str, Any]:
    """Records and the links among them; with `whole`, all of them or only where to begin."""
    mem.home.ensure_fresh()
    arguments = bounded(limit, 1, MOST), around, bounded(depth, 1, 3, "depth"), whole, repr(filters)
    build = lambda: _graph(mem, limit, around, depth, whole, filters)  # noqa: E731
    return dict(remembered(mem, "graph", build, arguments))


def _graph(mem: Memory, limit: int, around: str | None, depth: int, whole: bool,
           filters: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in filters.items() if value}
    chosen = make_filter(clock=mem.home.clock, **{"kind": LISTED, **given})
    rows, total = mem.home.index.cards.listing(chosen, MANY, projects=mem.home.config.projects)
    links = _links(mem, rows, chosen.as_of)
    if around:
        rows = _around(mem, rows, links, around, depth, limit)
        total = len(rows)
    degree = Counter(end for a, _, b in links for end in (a, b))
    linked = sorted(rows, key=lambda row: (-degree[row.id], -row.created))
    if whole and len(rows) > limit:
        drawn, starts = [], linked[:STARTS]
    else:
        drawn, starts = linked[:limit] if len(rows) > limit else rows, []
    shown = {row.id for row in drawn}
    return {"nodes": _nodes(mem, drawn, degree), "starts": _nodes(mem, starts, degree), "total": total,
            "links": [{"source": a, "type": word, "target": b, "strength": strength}
                      for (a, word, b), strength in links.items() if a in shown and b in shown],
            "types": sorted({row.type for row in drawn if row.type})}


def _around(mem: Memory, rows: Sequence[Row], links: Links, handle: str, depth: int,
            limit: int) -> list[Row]:
    """Of these the records near one, and that one itself, also where it is of a kind that is not drawn."""
    middle = steps.locate(mem.home, handle)
    near = _near(links, middle.id, depth, limit)
    return [middle, *(row for row in rows if row.id in near and row.id != middle.id)]


def _nodes(mem: Memory, rows: Sequence[Row], degree: Mapping[str, int]) -> list[dict[str, Any]]:
    tags = mem.home.index.cards.tags_of([row.n for row in rows])
    return [{"id": row.id, "kind": row.kind, "type": row.type, "title": row.title[:120],
             "created": zulu(row.created), "tags": tags.get(row.n, []), "project": row.project,
             "degree": degree[row.id], "sunk": bool(row.sunk)} for row in rows]


def _near(links: Collection[tuple[str, str, str]], middle: str, depth: int, limit: int) -> set[str]:
    """The records up to so many links away, the nearest first, at most so many."""
    beside: dict[str, list[str]] = {}
    for a, _, b in links:
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    near, outermost = {middle: None}, [middle]
    for _ in range(depth):
        outermost = [far for here in outermost for far in beside.get(here, ()) if far not in near]
        near.update(dict.fromkeys(outermost))
    return set(list(near)[:limit])


def _links(mem: Memory, rows: Sequence[Row], as_of: float | None) -> Links:
    """The links among these records, and of each to its topic."""
    ids = {row.id for row in rows}
    names = {f"name:{name}": record for name, record in mem.home.index.notes.all_names() if record in ids}
    links: Links = {}
    for link in mem.home.index.graph.links(as_of):
        a, b = names.get(link.a, link.a), names.get(link.b, link.b)
        if a != b and a in ids and b in ids:
            links.setdefault((a, link.word, b), link.strength)
    for row in rows:
        topic = f"topic:{row.topic}"
        if topic in ids and topic != row.id:
            links.setdefault((row.id, "part_of", topic), None)
    return links
