"""What the page shows, as plain values: one function a view, and a record as a resource with its fingerprint.

Nothing here is only for the page: each view is a GET that answers JSON. Looking is not a use, but for a
record that is opened. Views ask the index and call verbs; they write nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from otolith.doors.calls import once
from otolith.doors.web import browsing, past
from otolith.doors.web.drawing import graph
from otolith.doors.web.viewing import bounded, listed, log_lines, remembered, titles
from otolith.errors import Damaged, Invalid, NotFound
from otolith.files import codec, paths
from otolith.files.tree import fingerprint
from otolith.model.decay import STATUSES, next_fall, status
from otolith.model.kinds import COUNTED, KINDS, LISTED, WRITTEN
from otolith.model.recall import make_filter
from otolith.model.record import DEPTHS
from otolith.model.times import day, zulu
from otolith.verbs import records, steps

if TYPE_CHECKING:
    from otolith.index.cards import Growth
    from otolith.index.database import Row
    from otolith.memory import Memory

BRIEF = 1_200  # tokens
BINS = 20  # of the decay histogram
LATELY = 40  # records that today tells of
LEDGER_TAIL = 1 << 20  # bytes
FACT_FIELDS = ("subject", "relation", "object", "type", "time_span", "confidence", "user_fact_score",
               "sentence", "speaker", "entry_id", "entry_ts", "topic", "trust", "date", "superseded_by",
               "evidence_count", "valid_from", "valid_until")

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
    newer = shown.get("superseded_by")
    return {**shown, "forgotten": False, "links": links, "history": past.acts_on(mem, row.kind, row.id),
            "versions": mem.versions(row.id) if KINDS[row.kind].editable else [],
            "claims": past.claims_of(mem, row), "parts": _parts(mem, row, shown["record"]),
            "newer": {"id": newer, **titles(mem, [newer]).get(newer, {"title": newer})} if newer else None,
            "pinned": bool(pinned), "importance": row.importance, "topic": row.topic, "project": row.project,
            "updated": zulu(row.updated) if row.updated else None, "uses": usage.count,
            "used": zulu(usage.last) if usage.last else None, "decay": standing(mem, row),
            "editable": list(KINDS[row.kind].editable)}


def _parts(mem: Memory, row: Row, record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The records that it retells, in its order: a chapter's works, a wisdom's chapters."""
    ids = record.get(KINDS[row.kind].members or "") or ()
    rows = mem.home.index.cards.rows_of(ids)
    return listed(mem, [rows[id] for id in ids if id in rows])


def _forgotten(mem: Memory, id: str, kind: str, title: str, path: str) -> dict[str, Any]:
    from otolith.recall.depth import body

    try:
        text = body(codec.read_unit(mem.home.tree, path)[0][0])
    except (NotFound, Damaged):
        text = ""
    return {"id": id, "kind": kind, "type": "", "title": title, "path": path, "text": text, "forgotten": True,
            "links": [], "history": past.acts_on(mem, kind, id), "tags": [], "editable": [],
            "versions": [], "claims": [], "parts": []}


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

def today(mem: Memory, project: str | None = None) -> dict[str, Any]:
    """What was done lately, what waits for a person, and what an agent is told first."""
    mem.home.ensure_fresh()
    name = "today of a project" if project else "today"
    return dict(remembered(mem, name, lambda: _today(mem, project or None), project))


def _today(mem: Memory, project: str | None) -> dict[str, Any]:
    from otolith.verbs.brief import brief as compose

    index, now = mem.home.index, mem.home.clock()
    counts, diary = index.cards.counts(), index.cards.latest(["episode"], 8)
    _, week = index.cards.listing(make_filter(kind=COUNTED, project=project, since=now - 7 * 86_400), 0)
    brief = compose(mem.home, budget=BRIEF, project=project, providers=mem.providers, told_agent=False)
    return {
        "date": day(now), "home": browsing.frame(mem)["home"], "project": project,
        "records": counts["records"], "kinds": counts["kinds"], "links": counts["links"],
        "new_this_week": week,
        "brief": brief.text,
        "changed": listed(mem, index.cards.latest(WRITTEN, LATELY, project)),
        "days": [{"day": date, "kinds": kinds} for date, kinds
                 in _by_time(index.cards.growth(WRITTEN, project), 10)][-60:],
        "diary": [{"title": block.title, "at": zulu(block.created)} for block in diary],
        "waiting": {"facts": sum(index.dialogs.unscored_counts(project).values()),
                    "contradictions": len(mem.contradictions(project=project)),
                    "findings": len(index.cards.problems()),
                    "unfinished": _unfinished(mem, project)[:8]},
    }


def _unfinished(mem: Memory, project: str | None) -> list[dict[str, Any]]:
    return [{"id": notice.id, "title": notice.title, "why": notice.why, "trigger": notice.trigger}
            for notice in mem.unfinished(project)]


# Work

def work(mem: Memory, project: str | None = None, limit: int = 40, offset: int = 0) -> dict[str, Any]:
    """What was worked on, newest first; what is unfinished; the chapters and the wisdom drawn from it."""
    limit, offset = bounded(limit, 1, 500), bounded(offset, 0, 1 << 31, "offset")
    mem.home.ensure_fresh()
    project = project or None
    rows, total = mem.home.index.cards.listing(make_filter(kind="work", project=project), limit, offset)
    return {"items": listed(mem, rows), "total": total, "offset": offset,
            "unfinished": _unfinished(mem, project),
            "chapters": [_listed_tale(tale) for tale in mem.chapters(project)],
            "wisdom": [_listed_tale(tale) for tale in mem.wisdom(project)]}


def _listed_tale(tale: Any) -> dict[str, Any]:
    """A chapter or a wisdom as a list shows it."""
    members = getattr(tale, KINDS[tale.kind].members)
    return {"id": tale.id, "title": tale.title or tale.summary[:80], "summary": tale.summary,
            "from": zulu(tale.start_ts), "to": zulu(tale.end_ts), "parts": len(members),
            "tags": list(tale.tags or ()), "project": tale.project_id, "type": tale.type}


# Review

def review(mem: Memory, topic: str | None = None, project: str | None = None,
           limit: int = 50) -> dict[str, Any]:
    """Facts nobody has scored, least sure first; statements that contradict each other."""
    mem.home.ensure_fresh()
    limit, dialogs = bounded(limit, 1, 500), mem.home.index.dialogs
    project = project or None
    counts = dialogs.unscored_counts(project)
    facts = [_fact(mem, fact) for fact in dialogs.unscored(topic, limit, project)]
    return {"facts": [fact for fact in facts if fact],
            "contradictions": mem.contradictions(project=project, limit=limit),
            "total": sum(counts.values()) if topic is None else counts.get(topic, 0),
            "topics": [{"topic": name, "waiting": count} for name, count in counts.items()]}


def _fact(mem: Memory, record: str) -> dict[str, Any] | None:
    fact = mem.home.index.facts.of(record)
    if fact is None:
        return None
    return {"id": record, "title": fact.title, **{name: getattr(fact, name) for name in FACT_FIELDS}}


# Timeline

def timeline(mem: Memory, at: str | None = None, kind: Sequence[str] = (), project: str | None = None,
             limit: int = 60, offset: int = 0) -> dict[str, Any]:
    """How the home grew day by day, and what it held as of one day."""
    limit, offset = bounded(limit, 1, 500), bounded(offset, 0, 1 << 31, "offset")
    mem.home.ensure_fresh()
    project = project or None
    days = remembered(mem, "days", lambda: [
        {"day": date, "kinds": kinds}
        for date, kinds in _by_time(mem.home.index.cards.growth(COUNTED, project), 10)], project)
    chosen = at or (days[-1]["day"] if days else day(mem.home.clock()))
    if len(chosen) != 10:
        raise Invalid(f"{chosen[:60]!r} is not a day", "give a date such as 2026-02-10")
    items, total = mem.list(as_of=f"{chosen}T23:59:59Z", kind=list(kind or LISTED), project=project,
                            limit=limit, offset=offset)
    return {"at": chosen, "days": days, "items": items, "total": total, "offset": offset}


def _by_time(growth: Iterable[Growth], letters: int) -> Iterable[tuple[str, dict[str, int]]]:
    """Each day (10 letters) or month (7) with how much of each kind it brought."""
    times: dict[str, Counter[str]] = {}
    for part in growth:
        times.setdefault(part.day[:letters], Counter())[part.kind] += part.records
    return ((time, dict(kinds)) for time, kinds in times.items())


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
    days: dict[str, Counter[str]] = {}
    for use in log_lines(mem, paths.usage_log(mem.home.machine), tail=LEDGER_TAIL):
        if isinstance(use.get("ids"), list) and "t" in use:  # a base line has no day
            days.setdefault(str(use["t"])[:10], Counter())[str(use.get("door"))] += len(use["ids"])
    return {"top": [row._asdict() for row in mem.home.index.cards.most_used(10)],
            "days": [{"day": date, "doors": dict(doors)} for date, doors in sorted(days.items())[-60:]]}


VIEWS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "today": today, "review": review, "graph": graph, "timeline": timeline, "health": health, "work": work,
    "record": record, "forgotten": forgotten, "frame": browsing.frame, "browse": browsing.browse,
    "search": browsing.search, "titles": browsing.names, "audit": past.audit, "told": past.told,
}
