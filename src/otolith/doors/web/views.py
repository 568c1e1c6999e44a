"""What the page shows, as plain values: one function a view, and a record as a resource with its fingerprint.

Nothing here is only for the page: each view is a GET that answers JSON. Looking is not a use, but for a
record that is opened. Views read the index and call verbs; they write nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from otolith.doors.calls import plain
from otolith.doors.web import charts
from otolith.doors.web.feed import read_mark
from otolith.errors import Damaged, Invalid, NotFound
from otolith.files import codec, ledger, paths
from otolith.files.tree import fingerprint
from otolith.index.schema import Row
from otolith.model.kinds import KINDS, LISTED
from otolith.model.times import day, zulu
from otolith.verbs import records, steps

if TYPE_CHECKING:
    from otolith.memory import Memory

BRIEF = 1_200  # tokens
HISTORY = 200
# (home, view) → (state, view), shared by the keepers of a home
_kept: dict[tuple[str, str], tuple[Any, Any]] = {}


def as_json(value: Any) -> Any:
    """A report as JSON values."""
    return json.loads(json.dumps(value.to_dict() if hasattr(value, "to_dict") else value, default=str))


def remembered(mem: Memory, name: str, build: Callable[[], Any], asked: Any = None) -> Any:
    """A view as it was last built, if the home, the hour and what was asked for are the same."""
    state, place = (read_mark(mem), int(mem.home.clock() // 3600), asked), (mem.home.tree.name, name)
    kept = _kept.get(place)
    if kept is None or kept[0] != state:
        kept = _kept[place] = (state, build())
    return kept[1]


# A record as a resource

def fingerprint_of(mem: Memory, row: Row, record: Any) -> str:
    """What an ETag says: the hash of the record's file, or of the record where several share one."""
    if KINDS[row.kind].alone:
        return mem.home.load(row.id).hash
    return fingerprint(json.dumps(codec.public(record), sort_keys=True, default=str).encode())


def read_record(mem: Memory, handle: str, depth: str = "full", *,
                counted: bool = True) -> tuple[dict[str, Any], str]:
    """(record, fingerprint); opening one counts as a use, unless it is only looked at again."""
    from otolith.model.record import DEPTHS

    if depth not in DEPTHS:
        raise Invalid(f"unknown depth {depth[:60]!r}", f"use one of {', '.join(DEPTHS)}")
    row = steps.locate(mem.home, handle)
    record = steps.fetch(mem.home, row)
    if counted:
        mem.home.used([row.id])
    tag = fingerprint_of(mem, row, record)
    hit = records.make_hit(mem.home, row, record, depth).to_dict()
    for name in ("score", "why", "tokens"):
        hit.pop(name, None)
    return {**hit, "record": codec.public(record), "etag": tag}, tag


def change_record(mem: Memory, handle: str, changes: dict[str, Any], expect: str | None,
                  key: str | None = None
                  ) -> tuple[dict[str, Any], str]:
    """Edit if the record is still the one that was read."""
    from otolith.doors.calls import once
    from otolith.verbs.editing import edit

    def act() -> dict[str, Any]:
        edit(mem.home, handle, changes, expect)
        return {"id": steps.locate(mem.home, handle).id}

    if key is not None:
        once(mem, "edit", key, {"id": handle, "changes": changes, "expect": expect}, act)
    else:
        act()
    return read_record(mem, handle, counted=False)


def record(mem: Memory, id: str, again: bool = False) -> dict[str, Any]:
    """A record's page: text, links, history, standing."""
    try:
        shown, _ = read_record(mem, id, counted=not again)
    except NotFound:
        gone = mem.home.index.cards.archived(id)
        if not gone:
            raise
        return _forgotten(mem, gone[-1])
    row = mem.home.index.cards.find(shown["id"])
    if row is None:
        raise NotFound(f"no record {id[:80]!r}")
    usage = mem.home.index.cards.usage_of(row)
    links = [{"id": one.id, "kind": one.kind, "title": one.title, "link": one.word, "outgoing": one.outgoing,
              "strength": one.strength, "context": one.context, "edge_id": one.edge, "said": one.said}
             for one in mem.home.index.graph.neighbours(row.id)]
    return {**shown, "forgotten": False, "links": links, "history": history(mem, row.kind, row.id),
            "pinned": is_pinned(mem, row),
            "importance": row.importance, "updated": zulu(row.updated) if row.updated else None,
            "uses": usage.count, "used": zulu(usage.last) if usage.last else None,
            "decay": charts.standing(mem, row),
            "editable": list(KINDS[row.kind].editable), "topic": row.topic, "project": row.project}


def _forgotten(mem: Memory, gone: tuple[str, str, str, str]) -> dict[str, Any]:
    from otolith.recall.depth import body

    id_, kind, title, path = gone
    try:
        text = body(codec.read_unit(mem.home.tree, path)[0][0])
    except (NotFound, Damaged):
        text = ""
    return {"id": id_, "kind": kind, "type": "", "title": title, "path": path, "text": text,
            "forgotten": True, "links": [], "history": history(mem, kind, id_), "tags": [], "editable": []}


def is_pinned(mem: Memory, row: Row) -> bool:
    marked = mem.home.db.execute("SELECT 1 FROM links WHERE a = ? AND said = 'pinned'", (row.id,)).fetchone()
    return bool(row.pinned) or marked is not None


def history(mem: Memory, kind: str, record: str) -> list[dict[str, Any]]:
    """What the audit log says of a record, newest first; it may name it by a hash."""
    names = {record, mem.home.audit_name(kind, record)}
    needles = [b'"id":' + json.dumps(name, ensure_ascii=False).encode() for name in names]
    lines = [line for line in (steps.bytes_of(mem.home, paths.AUDIT) or b"").split(b"\n") if any(needle in line for needle in needles)]
    told = [line for _, line in ledger.read_lines(b"\n".join(lines)) if line and line.get("id") in names]
    return [{key: line.get(key) for key in ("ts", "verb", "origin", "sha256")} for line in told[::-1][:HISTORY]]


def forgotten(mem: Memory) -> dict[str, Any]:
    mem.home.ensure_fresh()
    items = [{"id": id_, "kind": kind, "title": title, "path": path} for id_, kind, title,
             path in mem.home.index.cards.archived()]
    return {"items": items, "total": len(items)}


# Views

def today(mem: Memory) -> dict[str, Any]:
    """The brief, what changed, what waits for a person."""
    mem.home.ensure_fresh()
    return dict(remembered(mem, "today", lambda: _today(mem)))


def _today(mem: Memory) -> dict[str, Any]:
    db, now = mem.home.db, mem.home.clock()
    marks = ",".join("?" * len(LISTED))
    rows = db.execute(
        f"SELECT * FROM records WHERE kind IN ({marks}) ORDER BY max(coalesce(updated, 0), created) DESC, n "
        f"DESC "
                      "LIMIT 24", LISTED).fetchall()
    diary = db.execute("SELECT title, created FROM records WHERE kind = 'episode' "
                       "ORDER BY created DESC, n DESC LIMIT 8").fetchall()
    counts = mem.home.index.cards.counts()
    week = db.execute("SELECT count(*) FROM records WHERE created > ? AND kind NOT IN ('edge', 'episode')",
                      (now - 7 * 86_400,)).fetchone()[0]
    return {
        "date": day(now), "home": mem.home.tree.name.rpartition("/")[2], "brief": _brief(mem),
        "records": counts["records"], "kinds": counts["kinds"],
        "links": counts["links"], "new_this_week": week,
        "changed": [listed(mem, Row(*row)) for row in rows],
        "diary": [{"title": title, "at": zulu(when)} for title, when in diary],
        "waiting": {"facts": charts.waiting_count(mem), "contradictions": len(charts.contradictions(mem, 50)),
                    "findings": len(mem.home.index.cards.problems())},
    }


def _brief(mem: Memory) -> str:
    if not hasattr(mem, "brief"):
        return ""
    value = plain(mem, mem.brief(budget=BRIEF))
    return str(value.get("text", "")) if isinstance(value, dict) else str(value or "")


def listed(mem: Memory, row: Row) -> dict[str, Any]:
    """A row of a list, with when it last changed and the opening of its text."""
    passage = mem.home.db.execute("SELECT text FROM passages WHERE n = ?", (row.n,)).fetchone()
    tags = mem.home.index.cards.tags_of([row.n]).get(row.n, [])
    opening = " ".join(str(passage[0]).split())[:220] if passage else ""
    return {**records.describe(row, tags), "changed": zulu(max(row.updated or 0, row.created)),
            "opening": opening,
            "edited": bool(row.updated and row.updated > row.created + 1), "trust": row.trust}


def review(mem: Memory, topic: str | None = None, limit: int = 50) -> dict[str, Any]:
    """Facts nobody has scored, least sure first; facts that contradict each other, side by side."""
    mem.home.ensure_fresh()
    limit = _bounded(limit, 1, 500)
    return {"facts": charts.waiting_facts(mem, topic, limit), "total": charts.waiting_count(mem, topic),
            "contradictions": charts.contradictions(mem, limit), "topics": charts.topics_waiting(mem)}


def _bounded(value: int, low: int, high: int, name: str = "limit") -> int:
    if not low <= value <= high:
        raise Invalid(f"{name} must be from {low} to {high}; got {value}")
    return value


def timeline(mem: Memory, at: str | None = None, kind: Sequence[str] = (), limit: int = 60,
             offset: int = 0) -> dict[str, Any]:
    """How the home grew day by day, and what it held as of one day."""
    limit, offset = _bounded(limit, 1, 500), _bounded(offset, 0, 1 << 31, "offset")
    mem.home.ensure_fresh()
    days = remembered(mem, "days", lambda: charts.days(mem))
    chosen = at or (days[-1]["day"] if days else day(mem.home.clock()))
    if len(chosen) != 10:
        raise Invalid(f"{chosen[:60]!r} is not a day", "give a date such as 2026-02-10")
    items, total = mem.list(as_of=f"{chosen}T23:59:59Z", kind=list(kind or LISTED), limit=limit,
                            offset=offset)
    return {"at": chosen, "days": days, "items": items, "total": total, "offset": offset}


def graph(mem: Memory, limit: int = 2_000, around: str | None = None, **filters: Any) -> dict[str, Any]:
    """Records and the links among them."""
    mem.home.ensure_fresh()
    chosen = _bounded(limit, 1, 5_000)
    return dict(remembered(mem, "graph", lambda: charts.graph(mem, chosen, around, filters),
                           (chosen, around, repr(filters))))


def health(mem: Memory) -> dict[str, Any]:
    """Decay, findings, lag, usage, growth."""
    stats = mem.stats()
    return {**stats, **dict(remembered(mem, "health", lambda: charts.health(mem))),
            "findings": [found._asdict() for found in mem.home.index.cards.problems()][:200],
            "usage": charts.usage(mem), "index_lag": round(mem.home.lag(), 3)}


VIEWS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "today": today, "review": review, "graph": graph, "timeline": timeline, "health": health,
    "record": record, "forgotten": forgotten,
}
