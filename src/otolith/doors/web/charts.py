"""Questions to the index that only pictures and queues ask:
how the home grew, what is linked, what fades, what waits.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from otolith.errors import Damaged, Invalid, NotFound
from otolith.files import paths
from otolith.index.database import Row
from otolith.model.decay import STATUSES, next_fall, status
from otolith.model.kinds import COUNTED, LISTED
from otolith.model.recall import make_filter
from otolith.model.times import zulu
from otolith.verbs import records, steps

if TYPE_CHECKING:
    from otolith.memory import Memory

BINS = 20
MANY = 20_000  # records above which a graph is drawn from the linked ones alone
LEDGER_TAIL = 1 << 20
_FACT_FIELDS = ("subject", "relation", "object", "type", "time_span", "confidence", "user_fact_score",
                "sentence", "speaker",
                "entry_id", "entry_ts", "topic", "trust", "date", "superseded_by", "evidence_count",
                "valid_from", "valid_until")
_GROWING = f"kind IN {COUNTED} AND created > 0"
_LAST = "(SELECT v.score FROM reviewed v WHERE v.fact = r.id OR v.target = r.id ORDER BY v.mark DESC LIMIT 1)"


# What waits for a person

def waiting_count(mem: Memory, topic: str | None = None) -> int:
    """Facts that nobody has scored."""
    return int(mem.home.db.execute(
        f"SELECT count(*) FROM records r WHERE kind = 'fact' AND sunk = 0 AND {_LAST} IS NULL "
                                   "AND (:topic IS NULL OR topic = :topic)", {"topic": topic}).fetchone()[0])


def waiting_facts(mem: Memory, topic: str | None, limit: int) -> list[dict[str, Any]]:
    """The least sure ones first, each with the sentence it came from."""
    rows = mem.home.db.execute(
        f"SELECT id FROM records r WHERE kind = 'fact' AND sunk = 0 AND {_LAST} IS NULL "
                               "AND (:topic IS NULL OR topic = :topic) ORDER BY confidence, created DESC, "
                               "id LIMIT :most",
                               {"topic": topic, "most": limit})
    return [shown for id_, in rows.fetchall() if (shown := _fact(mem, id_))]


def _fact(mem: Memory, record: str) -> dict[str, Any] | None:
    fact = mem.home.index.facts.of(record)
    if fact is None:
        return None
    return {"id": record, "title": fact.title, **{name: getattr(fact, name) for name in _FACT_FIELDS}}


def contradictions(mem: Memory, limit: int) -> list[dict[str, Any]]:
    """Pairs of facts of which the newer replaced the older, as long as neither was scored."""
    rows = mem.home.db.execute(
        "SELECT n.id, o.id FROM links l JOIN records n ON n.id = l.a JOIN records o ON o.id = l.b "
        "WHERE l.word = 'supersedes' AND n.kind = 'fact' AND o.kind = 'fact' "
        f"AND {_LAST.replace('r.id', 'n.id')} IS NULL AND {_LAST.replace('r.id', 'o.id')} IS NULL "
        "ORDER BY n.created DESC LIMIT ?", (limit,)).fetchall()
    found = []
    for newer, older in rows:
        pair = _fact(mem, newer), _fact(mem, older)
        if pair[0] and pair[1]:
            found.append({"newer": pair[0], "older": pair[1]})
    return found


def topics_waiting(mem: Memory) -> list[dict[str, Any]]:
    rows = mem.home.db.execute(
        f"SELECT topic, count(*) FROM records r WHERE kind = 'fact' AND sunk = 0 AND {_LAST} IS NULL "
                               "GROUP BY topic ORDER BY 2 DESC, 1")
    return [{"topic": topic, "waiting": count} for topic, count in rows]


# Time

def days(mem: Memory) -> list[dict[str, Any]]:
    """How many records of each kind each day brought, oldest first."""
    found: dict[str, dict[str, int]] = {}
    rows = mem.home.db.execute("SELECT date(created, 'unixepoch'), kind, count(*) FROM records "
                               f"WHERE {_GROWING} GROUP BY 1, 2 ORDER BY 1")
    for date, kind, count in rows:
        if date:
            found.setdefault(date, {})[kind] = count
    return [{"day": date, "kinds": kinds} for date, kinds in found.items()]


# The graph

def graph(mem: Memory, limit: int, around: str | None, filters: Mapping[str, Any]) -> dict[str, Any]:
    """Records and the links among them; if there are too many, the linked and the newest."""
    chosen = make_filter(**{"kind": list(LISTED), **{name: value for name, value in filters.items() if value}})
    rows, total = mem.home.index.cards.listing(chosen, MANY, projects=mem.home.config.projects)
    if around:
        near = {found["id"] for found in records.related(mem.home, around,
                                                         2)} | {steps.locate(mem.home, around).id}
        rows = [row for row in rows if row.id in near]
        total = len(rows)
    known = {row.id: at for at, row in enumerate(rows)}
    links = _links(mem, known, chosen.as_of)
    links += [(row.id, "part_of", f"topic:{row.topic}", None) for row in rows
              if row.topic and row.id != f"topic:{row.topic}" and f"topic:{row.topic}" in known]
    degree = Counter(end for link in links for end in (link[0], link[2]))
    drawn = sorted(rows, key=lambda row: (-degree[row.id] if len(rows) > limit else 0, -row.created))[:limit]
    shown = {row.id for row in drawn}
    tags = mem.home.index.cards.tags_of([row.n for row in drawn])
    return {
        "nodes": [{"id": row.id, "kind": row.kind, "type": row.type, "title": row.title[:120],
                   "created": zulu(row.created),
                   "tags": tags.get(row.n, []), "project": row.project, "degree": degree[row.id],
                   "sunk": bool(row.sunk)}
                  for row in drawn],
        "links": [{"source": a, "type": word, "target": b, "strength": strength} for a, word, b,
                  strength in links
                  if a in shown and b in shown],
        "total": total, "types": sorted({row.type for row in drawn if row.type}),
    }


def _links(mem: Memory, known: Mapping[str, int],
           as_of: float | None) -> list[tuple[str, str, str, float | None]]:
    names: dict[str, str] = {}
    for record, name in mem.home.db.execute(
        "SELECT r.id, n.name FROM names n JOIN records r ON r.n = n.record"):
        if record in known:
            names[f"name:{name}"] = record
    found: dict[tuple[str, str, str], float | None] = {}
    query = "SELECT a, b, word, strength, created FROM links WHERE said <> 'pinned'"
    for a, b, word, strength, created in mem.home.db.execute(query):
        if as_of is not None and created is not None and created > as_of:
            continue
        a, b = names.get(a, a), names.get(b, b)
        if a != b and a in known and b in known:
            found.setdefault((a, word, b), strength)
    return [(a, word, b, strength) for (a, word, b), strength in found.items()]


# Health

def health(mem: Memory) -> dict[str, Any]:
    """The decay histogram and growth by month."""
    from otolith.verbs.reports import standings

    notes = standings(mem.home)
    bins, statuses, pinned = [0] * BINS, dict.fromkeys(STATUSES, 0), 0
    for note in notes:
        if note.pinned:
            pinned += 1
            continue
        bins[min(BINS - 1, int(note.score * BINS / 2))] += 1
        statuses[status(note.score)] += 1
    fading = sorted((note for note in notes if not note.pinned),
                    key=lambda note: (abs(note.score - 0.2), note.id))[:8]
    growth: dict[str, dict[str, int]] = {}
    for month, kind, count in mem.home.db.execute(
            f"SELECT strftime('%Y-%m', created, 'unixepoch'), kind, count(*) FROM records WHERE {_GROWING} "
            "GROUP BY 1, 2 ORDER BY 1"):
        growth.setdefault(month, {})[kind] = count
    return {"decay": {"bins": bins, "width": 2 / BINS, "statuses": statuses, "pinned": pinned,
                      "fading": [{"id": note.id, "title": note.title, "score": round(note.score, 3)}
                                 for note in fading]},
            "growth": [{"month": month, "kinds": kinds} for month, kinds in growth.items()]}


def usage(mem: Memory) -> dict[str, Any]:
    """What is used most, and how much was used each day lately, by door."""
    rows = mem.home.db.execute(
        "SELECT r.id, r.kind, r.title, u.count FROM usage u JOIN records r ON r.id = u.id "
                               "ORDER BY u.count DESC, r.id LIMIT 10")
    top = [{"id": id_, "kind": kind, "title": title, "uses": count} for id_, kind, title, count in rows]
    path = paths.usage_log(mem.home.machine)
    measure = mem.home.tree.measure(path)
    by_day: dict[str, Counter[str]] = {}
    if measure is not None:
        try:
            data, _ = mem.home.tree.read(path, max(0, measure.size - LEDGER_TAIL))
        except (NotFound, Damaged):
            data = b""
        for line in data.split(b"\n"):
            try:
                told = json.loads(line)
                by_day.setdefault(str(told["t"])[:10], Counter())[str(told.get("door"))] += len(told["ids"])
            except (ValueError, KeyError, TypeError):
                continue  # the first line of a tail may be torn, and a base line has no day
    return {"top": top, "days": [{"day": date, "doors": dict(doors)} for date,
                                 doors in sorted(by_day.items())[-60:]]}


def standing(mem: Memory, row: Row) -> dict[str, Any] | None:
    """How strongly a record still stands."""
    from otolith.verbs.reports import explain_decay

    try:
        _, found = explain_decay(mem.home, row.id)
    except Invalid:
        return None  # of a kind that does not fade
    fall = next_fall(found.score)
    return {"score": round(found.score, 3), "status": found.status, "days": round(found.days, 1),
            "since": found.since, "next": {"status": fall[0], "days": round(fall[1], 1)} if fall else None}
