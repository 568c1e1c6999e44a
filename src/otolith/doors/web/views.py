"""What the page shows, as plain values: one function a view, and a record as a resource with its fingerprint.

Nothing here is only for the page: each view is a GET that answers JSON. Looking is not a use, but for a
record that is opened. Views ask the index and call verbs; they write nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from otolith.doors.calls import once, plain
from otolith.errors import Damaged, Invalid, NotFound
from otolith.files import codec, ledger, paths
from otolith.files.tree import fingerprint
from otolith.model.decay import STATUSES, next_fall, status
from otolith.model.kinds import COUNTED, KINDS, LISTED
from otolith.model.recall import make_filter
from otolith.model.record import DEPTHS
from otolith.model.times import day, zulu
from otolith.verbs import records, steps

if TYPE_CHECKING:
    from otolith.index.cards import Growth
    from otolith.index.database import Row
    from otolith.memory import Memory

BRIEF = 1_200  # tokens
HISTORY = 200  # acts of a record
BINS = 20  # of the decay histogram
MANY = 20_000  # records that a graph is chosen from
LEDGER_TAIL = 1 << 20  # bytes
FACT_FIELDS = ("subject", "relation", "object", "type", "time_span", "confidence", "user_fact_score",
               "sentence", "speaker", "entry_id", "entry_ts", "topic", "trust", "date", "superseded_by",
               "evidence_count", "valid_from", "valid_until")
# (home, view) → (state, view), shared by the keepers of a home
_kept: dict[tuple[str, str], tuple[Any, Any]] = {}


def as_json(value: Any) -> Any:
    """A report as JSON values."""
    return json.loads(json.dumps(value.to_dict() if hasattr(value, "to_dict") else value, default=str))


def remembered(mem: Memory, name: str, build: Callable[[], Any], arguments: Any = None) -> Any:
    """A view as it was last built, if the home, the hour and the arguments are the same."""
    state = (mem.home.index.cards.progress(), int(mem.home.clock() // 3600), arguments)
    place = (mem.home.tree.name, name)
    kept = _kept.get(place)
    if kept is None or kept[0] != state:
        kept = _kept[place] = (state, build())
    return kept[1]


def _bounded(value: int, low: int, high: int, name: str = "limit") -> int:
    if not low <= value <= high:
        raise Invalid(f"{name} must be from {low} to {high}; got {value}")
    return value


# A record as a resource

def fingerprint_of(mem: Memory, row: Row, record: Any) -> str:
    """What an ETag says: the hash of the record's file, or of the record where several share one."""
    if KINDS[row.kind].alone:
        return mem.home.load(row.id).hash
    return fingerprint(json.dumps(codec.public(record), sort_keys=True, default=str).encode())


def read_record(mem: Memory, handle: str, depth: str = "full", *,
                counted: bool = True) -> tuple[dict[str, Any], str]:
    """(record, fingerprint); opening one counts as a use, unless it is only looked at again."""
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
                  key: str | None = None) -> tuple[dict[str, Any], str]:
    """Edit if the record is still the one that was read."""
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
    cards = mem.home.index.cards
    try:
        shown, _ = read_record(mem, id, counted=not again)
    except NotFound:
        archived = cards.archived(id)
        if not archived:
            raise
        return _forgotten(mem, *archived[-1])
    row = cards.find(shown["id"])
    if row is None:
        raise NotFound(f"no record {id[:80]!r}")
    usage = cards.usage_of(row)
    links = [{"id": near.id, "kind": near.kind, "title": near.title, "link": near.word, "said": near.said,
              "outgoing": near.outgoing, "strength": near.strength, "context": near.context,
              "edge_id": near.edge} for near in mem.home.index.graph.neighbours(row.id)]
    pinned = row.pinned or mem.home.index.notes.relation(row.id, "pinned", row.id) is not None
    return {**shown, "forgotten": False, "links": links, "history": history(mem, row.kind, row.id),
            "pinned": bool(pinned), "importance": row.importance, "topic": row.topic, "project": row.project,
            "updated": zulu(row.updated) if row.updated else None, "uses": usage.count,
            "used": zulu(usage.last) if usage.last else None, "decay": standing(mem, row),
            "editable": list(KINDS[row.kind].editable)}


def _forgotten(mem: Memory, id: str, kind: str, title: str, path: str) -> dict[str, Any]:
    from otolith.recall.depth import body

    try:
        text = body(codec.read_unit(mem.home.tree, path)[0][0])
    except (NotFound, Damaged):
        text = ""
    return {"id": id, "kind": kind, "type": "", "title": title, "path": path, "text": text, "forgotten": True,
            "links": [], "history": history(mem, kind, id), "tags": [], "editable": []}


def history(mem: Memory, kind: str, record: str) -> list[dict[str, Any]]:
    """What the audit log says of a record, newest first; it may name it by a hash."""
    names = {record, mem.home.audit_name(kind, record)}
    needles = [b'"id":' + json.dumps(name, ensure_ascii=False).encode() for name in names]
    acts = [{key: act.get(key) for key in ("ts", "verb", "origin", "sha256")}
            for act in _lines(mem, paths.AUDIT, needles) if act.get("id") in names]
    return acts[::-1][:HISTORY]


def _lines(mem: Memory, path: str, needles: Sequence[bytes] = (b"",), start: int = 0) -> list[dict[str, Any]]:
    """The lines of a log that hold a needle, from a byte on; what is not a JSON object is passed over."""
    try:
        data, _ = mem.home.tree.read(path, start)
    except (NotFound, Damaged):
        return []
    lines = [line for line in data.split(b"\n") if any(needle in line for needle in needles)]
    return [value for _, value in ledger.read_lines(b"\n".join(lines)) if value]


def standing(mem: Memory, row: Row) -> dict[str, Any] | None:
    """How strongly a record still stands; None if it is of a kind that does not fade."""
    from otolith.verbs.reports import explain_decay

    if not KINDS[row.kind].decays:
        return None
    _, decay = explain_decay(mem.home, row.id)
    fall = next_fall(decay.score)
    return {"score": round(decay.score, 3), "status": decay.status, "days": round(decay.days, 1),
            "since": decay.since, "next": {"status": fall[0], "days": round(fall[1], 1)} if fall else None}


def forgotten(mem: Memory) -> dict[str, Any]:
    """What lies in the archive."""
    mem.home.ensure_fresh()
    items = [dict(zip(("id", "kind", "title", "path"), card, strict=True))
             for card in mem.home.index.cards.archived()]
    return {"items": items, "total": len(items)}


# Today

def today(mem: Memory) -> dict[str, Any]:
    """The brief, what changed, what waits for a person."""
    mem.home.ensure_fresh()
    return dict(remembered(mem, "today", lambda: _today(mem)))


def _today(mem: Memory) -> dict[str, Any]:
    index, now = mem.home.index, mem.home.clock()
    counts, diary = index.cards.counts(), index.cards.latest(["episode"], 8)
    _, week = index.cards.listing(make_filter(kind=COUNTED, since=now - 7 * 86_400), 0)
    brief = plain(mem, mem.brief(budget=BRIEF))
    return {
        "date": day(now), "home": mem.home.tree.name.rpartition("/")[2], "records": counts["records"],
        "kinds": counts["kinds"], "links": counts["links"], "new_this_week": week,
        "brief": str(brief.get("text", "") if isinstance(brief, dict) else brief or ""),
        "changed": [_listed(mem, row) for row in index.cards.latest(LISTED, 24)],
        "diary": [{"title": block.title, "at": zulu(block.created)} for block in diary],
        "waiting": {"facts": sum(index.dialogs.unscored_counts().values()),
                    "contradictions": len(mem.contradictions()), "findings": len(index.cards.problems())},
    }


def _listed(mem: Memory, row: Row) -> dict[str, Any]:
    """A row of a list, with when it last changed and the opening of its text."""
    tags = mem.home.index.cards.tags_of([row.n]).get(row.n, [])
    opening = " ".join(mem.home.index.around.texts([row.n])[0].split())[:220]
    return {**records.describe(row, tags), "changed": zulu(max(row.updated or 0, row.created)),
            "opening": opening, "edited": bool(row.updated and row.updated > row.created + 1),
            "trust": row.trust}


# Review

def review(mem: Memory, topic: str | None = None, limit: int = 50) -> dict[str, Any]:
    """Facts nobody has scored, least sure first; statements that contradict each other."""
    mem.home.ensure_fresh()
    limit, dialogs = _bounded(limit, 1, 500), mem.home.index.dialogs
    counts = dialogs.unscored_counts()
    facts = [_fact(mem, fact) for fact in dialogs.unscored(topic, limit)]
    return {"facts": [fact for fact in facts if fact], "contradictions": mem.contradictions(limit=limit),
            "total": sum(counts.values()) if topic is None else counts.get(topic, 0),
            "topics": [{"topic": name, "waiting": count} for name, count in counts.items()]}


def _fact(mem: Memory, record: str) -> dict[str, Any] | None:
    fact = mem.home.index.facts.of(record)
    if fact is None:
        return None
    return {"id": record, "title": fact.title, **{name: getattr(fact, name) for name in FACT_FIELDS}}


# Timeline

def timeline(mem: Memory, at: str | None = None, kind: Sequence[str] = (), limit: int = 60,
             offset: int = 0) -> dict[str, Any]:
    """How the home grew day by day, and what it held as of one day."""
    limit, offset = _bounded(limit, 1, 500), _bounded(offset, 0, 1 << 31, "offset")
    mem.home.ensure_fresh()
    days = remembered(mem, "days", lambda: [
        {"day": date, "kinds": kinds} for date, kinds in _by_time(mem.home.index.cards.growth(COUNTED), 10)])
    chosen = at or (days[-1]["day"] if days else day(mem.home.clock()))
    if len(chosen) != 10:
        raise Invalid(f"{chosen[:60]!r} is not a day", "give a date such as 2026-02-10")
    items, total = mem.list(as_of=f"{chosen}T23:59:59Z", kind=list(kind or LISTED), limit=limit,
                            offset=offset)
    return {"at": chosen, "days": days, "items": items, "total": total, "offset": offset}


def _by_time(growth: Iterable[Growth], letters: int) -> Iterable[tuple[str, dict[str, int]]]:
    """Each day (10 letters) or month (7) with how much of each kind it brought."""
    times: dict[str, Counter[str]] = {}
    for part in growth:
        times.setdefault(part.day[:letters], Counter())[part.kind] += part.records
    return ((time, dict(kinds)) for time, kinds in times.items())


# Graph

def graph(mem: Memory, limit: int = 2_000, around: str | None = None, **filters: Any) -> dict[str, Any]:
    """Records and the links among them."""
    mem.home.ensure_fresh()
    arguments = _bounded(limit, 1, 5_000), around, repr(filters)
    return dict(remembered(mem, "graph", lambda: _graph(mem, limit, around, filters), arguments))


def _graph(mem: Memory, limit: int, around: str | None, filters: Mapping[str, Any]) -> dict[str, Any]:
    """If there are too many records, the most linked ones."""
    cards = mem.home.index.cards
    given = {name: value for name, value in filters.items() if value}
    chosen = make_filter(clock=mem.home.clock, **{"kind": LISTED, **given})
    rows, total = cards.listing(chosen, MANY, projects=mem.home.config.projects)
    if around:
        near = {item["id"] for item in records.related(mem.home, around, 2)}
        near.add(steps.locate(mem.home, around).id)
        rows = [row for row in rows if row.id in near]
        total = len(rows)
    links = _links(mem, rows, chosen.as_of)
    degree = Counter(end for a, _, b in links for end in (a, b))
    drawn = sorted(rows, key=lambda row: (-degree[row.id] if len(rows) > limit else 0, -row.created))[:limit]
    shown, tags = {row.id for row in drawn}, cards.tags_of([row.n for row in drawn])
    return {
        "nodes": [{"id": row.id, "kind": row.kind, "type": row.type, "title": row.title[:120],
                   "created": zulu(row.created), "tags": tags.get(row.n, []), "project": row.project,
                   "degree": degree[row.id], "sunk": bool(row.sunk)} for row in drawn],
        "links": [{"source": a, "type": word, "target": b, "strength": strength}
                  for (a, word, b), strength in links.items() if a in shown and b in shown],
        "total": total, "types": sorted({row.type for row in drawn if row.type}),
    }


def _links(mem: Memory, rows: Sequence[Row], as_of: float | None) -> dict[tuple[str, str, str], float | None]:
    """(from, word, to) → strength of the links among these records, and of each to its topic."""
    ids = {row.id for row in rows}
    names = {f"name:{name}": record for name, record in mem.home.index.notes.all_names() if record in ids}
    links: dict[tuple[str, str, str], float | None] = {}
    for link in mem.home.index.graph.links(as_of):
        a, b = names.get(link.a, link.a), names.get(link.b, link.b)
        if a != b and a in ids and b in ids:
            links.setdefault((a, link.word, b), link.strength)
    for row in rows:
        topic = f"topic:{row.topic}"
        if topic in ids and topic != row.id:
            links.setdefault((row.id, "part_of", topic), None)
    return links


# Health

def health(mem: Memory) -> dict[str, Any]:
    """Decay, findings, lag, usage, growth."""
    return {**mem.stats(), **dict(remembered(mem, "health", lambda: _health(mem))),
            "findings": [finding._asdict() for finding in mem.home.index.cards.problems()][:200],
            "usage": _usage(mem), "delivery": mem.stats(delivery=True), "index_lag": round(mem.home.lag(), 3)}


def _health(mem: Memory) -> dict[str, Any]:
    """The decay histogram and growth by month."""
    from otolith.verbs.reports import standings

    notes = standings(mem.home)
    fading = [note for note in notes if not note.pinned]
    bins = Counter(min(BINS - 1, int(note.score * BINS / 2)) for note in fading)
    statuses = Counter(status(note.score) for note in fading)
    nearest = sorted(fading, key=lambda note: (abs(note.score - 0.2), note.id))[:8]
    return {"decay": {"bins": [bins[at] for at in range(BINS)], "width": 2 / BINS,
                      "statuses": {name: statuses[name] for name in STATUSES},
                      "pinned": len(notes) - len(fading),
                      "fading": [{"id": note.id, "title": note.title, "score": round(note.score, 3)}
                                 for note in nearest]},
            "growth": [{"month": month, "kinds": kinds}
                       for month, kinds in _by_time(mem.home.index.cards.growth(COUNTED), 7)]}


def _usage(mem: Memory) -> dict[str, Any]:
    """What is used most, and how much was used each day lately, by door."""
    path = paths.usage_log(mem.home.machine)
    measure = mem.home.tree.measure(path)
    days: dict[str, Counter[str]] = {}
    for use in _lines(mem, path, start=max(0, measure.size - LEDGER_TAIL) if measure else 0):
        if isinstance(use.get("ids"), list) and "t" in use:  # a base line has no day
            days.setdefault(str(use["t"])[:10], Counter())[str(use.get("door"))] += len(use["ids"])
    return {"top": [row._asdict() for row in mem.home.index.cards.most_used(10)],
            "days": [{"day": date, "doors": dict(doors)} for date, doors in sorted(days.items())[-60:]]}


VIEWS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "today": today, "review": review, "graph": graph, "timeline": timeline, "health": health,
    "record": record, "forgotten": forgotten,
}
