"""Finding one's way: the frame of the page, lists by kind, tag, topic and project, and search as one types.

Nothing here counts as a use: who looks through a list, or has typed half a question, was not told anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from otolith.doors.web.viewing import bounded, listed, remembered, titles
from otolith.model.kinds import LISTED
from otolith.model.recall import make_filter
from otolith.model.times import zulu

if TYPE_CHECKING:
    from otolith.memory import Memory

FACETS = 40  # values of a field that are offered
FIELDS = {"kind": "kinds", "type": "types", "tag": "tags", "topic": "topics", "project": "projects"}


def frame(mem: Memory) -> dict[str, Any]:
    """What stands around every view: the home's name, its projects, and how much there is."""
    mem.home.ensure_fresh()
    return dict(remembered(mem, "frame", lambda: _frame(mem)))


def _frame(mem: Memory) -> dict[str, Any]:
    name = mem.home.tree.name
    projects = [{"name": project, "records": count} for project, count in mem.home.index.cards.projects()]
    return {"home": name.rstrip("/").rpartition("/")[2] or name, "path": name, "projects": projects,
            "records": mem.home.index.cards.total()}


def browse(mem: Memory, archive: bool = False, title: str = "", limit: int = 50, offset: int = 0,
           kind: Sequence[str] = (), **filters: Any) -> dict[str, Any]:
    """Records that pass the filters, newest first, and what they are; or what lies in the archive."""
    limit, offset = bounded(limit, 1, 500), bounded(offset, 0, 1 << 31, "offset")
    mem.home.ensure_fresh()
    if archive:
        return _archive(mem, title, limit, offset)
    cards, projects = mem.home.index.cards, mem.home.config.projects
    given = {name: value for name, value in filters.items() if value}
    chosen = make_filter(clock=mem.home.clock, kind=list(kind or LISTED), **given)
    rows, total = cards.listing(chosen, limit, offset, projects=projects, title=title)
    shares = remembered(mem, "shares", lambda: cards.shares(chosen, FACETS, projects=projects), chosen)
    facets: dict[str, list[dict[str, Any]]] = {plural: [] for plural in FIELDS.values()}
    for share in shares:
        facets[FIELDS[share.field]].append({"name": share.value, "records": share.records})
    return {"items": listed(mem, rows), "total": total, "offset": offset, **facets,
            "archived": len(cards.archived())}


def _archive(mem: Memory, title: str, limit: int, offset: int) -> dict[str, Any]:
    words = title.lower().split()
    cards = [card for card in mem.home.index.cards.archived()
             if all(word in card.title.lower() for word in words)]
    return {"items": [card._asdict() for card in cards[offset : offset + limit]], "total": len(cards),
            "offset": offset, "archived": len(cards)}


def search(mem: Memory, q: str = "", project: str | None = None, limit: int = 8) -> dict[str, Any]:
    """What half a question finds: titles that begin so, then what recall finds."""
    limit = bounded(limit, 1, 30)
    with mem.home.uncounted():
        answer = mem.recall(q, limit=limit, depth="summary", project=project or None)
    cards = mem.home.index.cards
    begun = cards.starting(q.strip(), limit) if q.strip() else []
    named = [row for row in begun if not project or row.project == project]
    rows = {row.id: row for row in named} | cards.rows_of(hit.id for hit in answer.hits)
    sure = {row.id: None for row in named}
    texts = {hit.id: " ".join(hit.text.split()).removeprefix(f"{hit.title}. ")[:160] for hit in answer.hits}
    order = list(dict.fromkeys([*sure, *texts]))[:limit]
    return {"enough": answer.enough or bool(sure), "hits": [
        {"id": row.id, "kind": row.kind, "type": row.type, "title": row.title, "created": zulu(row.created),
         "project": row.project, "opening": texts.get(row.id, "")}
        for row in (rows[id] for id in order if id in rows)]}


def names(mem: Memory, id: Sequence[str] = ()) -> dict[str, Any]:
    """The titles of records, by id."""
    return {"titles": titles(mem, id[:500])}
