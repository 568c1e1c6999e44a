"""What happened to a record, to what it says, to all; what agents were told, and whether it was used."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from otolith.doors.web.viewing import bounded, log_lines, titles
from otolith.files import paths
from otolith.model.kinds import KINDS

if TYPE_CHECKING:
    from otolith.index.database import Row
    from otolith.memory import Memory

ACTS = 200  # of a record
TAIL = 4 << 20  # bytes of a log that are looked at
ACT = ("ts", "verb", "kind", "id", "origin", "sha256")


def acts_on(mem: Memory, kind: str, record: str) -> list[dict[str, Any]]:
    """What the audit log says of a record, newest first; it may name it by a hash."""
    names = {record, mem.home.audit_name(kind, record)}
    needles = [b'"id":' + json.dumps(name, ensure_ascii=False).encode() for name in names]
    lines = [{key: act.get(key) for key in ("ts", "verb", "origin", "sha256")}
             for act in log_lines(mem, paths.AUDIT, needles) if act.get("id") in names]
    return lines[::-1][:ACTS]


def claims_of(mem: Memory, row: Row) -> list[dict[str, Any]]:
    """What a record says to hold, since when, and what closed it."""
    from otolith.model.dialog import marked_time
    from otolith.verbs.claims import draw

    if not KINDS[row.kind].claims:
        return []
    draw(mem.home, few=True)
    claims = []
    for claim in mem.home.index.claims.of(row.id):
        if claim.main:
            closer = mem.home.index.claims.closer(claim)
            claims.append({"text": claim.sentence, "since": marked_time(claim.mark),
                           "until": marked_time(closer.mark) if closer else None,
                           "closed_by": {"id": closer.record, "text": closer.sentence} if closer else None})
    return claims


def audit(mem: Memory, verb: str = "", door: str = "", project: str = "", limit: int = 60,
          offset: int = 0) -> dict[str, Any]:
    """Who did what, when, newest first: the audit log with the titles of what is still there."""
    limit, offset = bounded(limit, 1, 500), bounded(offset, 0, 1 << 31, "offset")
    lines = [{key: act.get(key) for key in ACT} for act in reversed(log_lines(mem, paths.AUDIT, tail=TAIL))]
    lines = [act for act in lines if project in ("", _origin(act, "project"))]
    doors = sorted({_origin(act, "door") for act in lines} - {""})
    verbs = sorted({str(act["verb"]) for act in lines})
    chosen = [act for act in lines if verb in ("", act["verb"]) and door in ("", _origin(act, "door"))]
    page = chosen[offset : offset + limit]
    named = titles(mem, (str(act["id"]) for act in page))
    return {"items": [{**act, "title": named.get(str(act["id"]), {}).get("title", "")} for act in page],
            "total": len(chosen), "offset": offset, "verbs": verbs, "doors": doors}


def _origin(act: dict[str, Any], field: str) -> str:
    origin = act.get("origin")
    return str(origin.get(field) or "") if isinstance(origin, dict) else ""


def told(mem: Memory, project: str = "", limit: int = 40, offset: int = 0) -> dict[str, Any]:
    """What was told to agents unasked, newest first: what brought it, and whether it was used. Of a project,
    the lines that told something of it.
    """
    limit, offset = bounded(limit, 1, 500), bounded(offset, 0, 1 << 31, "offset")
    used: dict[str, set[str]] = {}
    for line in log_lines(mem, paths.receipts_log(mem.home.machine)):
        used.setdefault(str(line.get("session")), set()).update(map(str, line.get("ids") or ()))
    log = log_lines(mem, paths.delivered_log(mem.home.machine), tail=TAIL)
    lines = [line for line in reversed(log) if line.get("ids")]
    if project:
        rows = mem.home.index.cards.rows_of({str(id) for line in lines for id in line["ids"]})
        own = {id for id, row in rows.items() if row.project == project}
        lines = [line for line in lines if not own.isdisjoint(map(str, line["ids"]))]
    page = lines[offset : offset + limit]
    named = titles(mem, (str(id) for line in page for id in line["ids"]))

    def receipt(id: str, session: str) -> dict[str, Any]:
        return {"id": id, **named.get(id, {"title": "", "kind": ""}),
                "used": id in used[session] if session in used else None}

    return {"items": [{"at": line.get("t"), "session": line.get("session"),
                       "by": line.get("by") or line.get("door"),
                       "records": [receipt(str(id), str(line.get("session"))) for id in line["ids"]]}
                      for line in page],
            "total": len(lines), "offset": offset, "counts": mem.stats(delivery=True)}
