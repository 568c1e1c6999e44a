"""Receipts: which of the records that were told unasked the agent then used.

When a session's turns are kept, what was told in it is compared with what the agent said and did next; a line
in log/receipts-<machine>.jsonl has the ids that were used, nothing of what was said. A session with a line
was looked at; what was told in others, nobody can tell about.
"""

from __future__ import annotations

from typing import Any

from otolith.derive.receipts import Told, used
from otolith.errors import Busy, CannotWrite
from otolith.files import ledger, paths
from otolith.home import Home
from otolith.model.events import Session
from otolith.model.times import zulu
from otolith.verbs.delivered import delivered

DOORS = ("brief", "prompt", "edit")
MOST = 100  # records of a session that are looked for, the last that were told


def note_receipts(home: Home, session: Session) -> None:
    """Compare what was told in a session with what is new of it."""
    given = delivered(home, session.session).ids
    if not given:
        return
    lines = [line for _, line in ledger.read_log(home.tree, paths.receipts_log(home.machine))
             if line and line.get("session") == session.session]
    before = {id for line in lines for id in line.get("ids", ())}
    waiting = [id for id in given if id not in before][-MOST:]
    openings = home.index.around.openings(waiting)
    texts = {passage.id: f"{passage.title}\n{passage.text}" for passage in openings}
    hits = used([Told(id, given[id], texts[id]) for id in waiting if id in texts], session.events)
    if hits or not lines:
        line = {"t": zulu(home.clock()), "session": session.session, "ids": hits}
        try:
            ledger.append_line(home.tree, paths.receipts_log(home.machine), line)
        except (CannotWrite, Busy):
            return


def delivery(home: Home) -> dict[str, Any]:
    """What was told in the last thirty days, by what brought it: how much of it was used, ignored, or told
    where nobody could see.
    """
    seen: dict[str, set[str]] = {}
    for _, line in ledger.read_log(home.tree, paths.receipts_log(home.machine)):
        if line:
            seen.setdefault(str(line.get("session")), set()).update(map(str, line.get("ids") or ()))
    doors: dict[str, dict[tuple[str, str], None]] = {door: {} for door in DOORS}
    for _, line in ledger.read_log(home.tree, paths.delivered_log(home.machine)):
        if line:
            once = doors.setdefault(str(line.get("by") or line.get("door") or "other"), {})
            once.update(dict.fromkeys((str(line.get("session")), str(id)) for id in line.get("ids") or ()))
    rows = {door: _counts(pairs, seen) for door, pairs in doors.items()}
    return {**rows, "all": {name: sum(row[name] for row in rows.values())
                            for name in ("delivered", "used", "ignored", "unseen")}}


def _counts(pairs: dict[tuple[str, str], None], seen: dict[str, set[str]]) -> dict[str, int]:
    taken = sum(id in seen.get(session, ()) for session, id in pairs)
    looked = sum(session in seen for session, _ in pairs)
    return {"delivered": len(pairs), "used": taken, "ignored": looked - taken, "unseen": len(pairs) - looked}
