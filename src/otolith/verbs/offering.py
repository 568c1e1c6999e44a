"""What memory offers unasked: `check_file`, an intent that was met before, unfinished work at the start of a session.

Read from the index and one look at each delivered record's file, so that it may run before every edit. What was shown in
a session is remembered for a while: in this process, and in log/shown.jsonl where the session has a name of its own and
so outlives the process.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from otolith.derive import notices
from otolith.derive.notices import COOLDOWN, MOST, FileNotices, Notice, Touch, match_intent, start_session
from otolith.errors import Busy, CannotWrite, Invalid, NotFound
from otolith.files import ledger, paths
from otolith.home import Home
from otolith.index.read import replaces
from otolith.model.record import tail_of
from otolith.model.text import check_whole, searchable

SHOWN_BYTES = 1 << 20
TAIL_BYTES = 1 << 16  # half an hour of notices fits many times over
LOOKED_AT = 40  # works on one file that are weighed against each other
RECENT = 200
MOST_SHOWN = 2000
_WORD = re.compile(r"\w+")
_TOUCH = """m.id, m.intent_goal, m.intent_type, m.agent_id, m.created_at, m.outcome_success, m.outcome_summary"""
_WHY = """CASE WHEN m.outcome_success THEN '' ELSE coalesce(json_extract(m.outcome, '$.failure_reason'), '') END,
CASE WHEN m.outcome_success THEN '' ELSE coalesce(json_extract(m.reasoning, '$.approach_chosen'), '') END"""
_REPLACED = ("EXISTS (SELECT 1 FROM links l JOIN records n ON n.id = l.a JOIN records o ON o.id = l.b "
             f"WHERE l.b = m.id AND {replaces('o', 'n')})")
# Works by the end of a path: those whose path ends in it, and those whose path it ends in.
_ENDING = """SELECT memory_id, operation, unit FROM file_works WHERE tail >= ? AND tail < ?
UNION ALL SELECT memory_id, operation, unit FROM file_works WHERE tail IN (%s)"""
_BELOW = """SELECT f.memory_id, f.operation, r.unit FROM memory_files f JOIN records r ON r.id = f.memory_id
WHERE f.file_path >= ? AND f.file_path < ?"""
_LOOK = f"""SELECT {_TOUCH}, x.operation, {_WHY}, CASE WHEN m.outcome_success THEN 0 ELSE {_REPLACED} END, m.project_id,
x.unit FROM (%s) x JOIN memories m ON m.id = x.memory_id %s LIMIT {LOOKED_AT}"""
_LATEST = "ORDER BY m.project_id <> ?, m.created_at DESC"


def check_file(home: Home, path: str, *, plan: str = "", again: bool = False, project: str | None = None,
               limit: int = MOST) -> FileNotices:
    """Who touched a file and what failed there; `plan` says what is about to be done, `again` ignores the cooldown.

    A path means the file of that name in the current project, if works of it know one, else in any; `project` insists.
    """
    if not isinstance(path, str) or not tail_of(path.strip()):
        raise Invalid("the path is empty", "name a file as the works name it, such as src/auth.ts")
    check_whole([path, plan, project])
    now = home.clock()
    shown = None if again else shown_lately(home)
    for _ in range(2):  # once more if a delivered work's file moved on
        rows, known = _works_on(home, path, project)
        found = notices.check_file(path, [Touch(*row[:11]) for row in rows], now, known=known, shown=shown, plan=plan,
                                   limit=limit)
        told = {notice.id for notice in found.notices}
        if not told or not _moved(home, [row[12] for row in rows if row[0] in told]):
            break
    if found.notices:
        note_shown(home, now, [notice.id for notice in found.notices])
    return found


def _works_on(home: Home, path: str, project: str | None) -> tuple[list[Any], int]:
    """The latest works on a file with what their own files looked like when they were read, and how many there are.

    Paths match by whole segments, from the end; if nothing does, the path may be a folder.
    """
    tail = tail_of(path)
    parts = tail.split("/")[:-1]
    ends = ["/".join(parts[:count]) + "/" for count in range(2, len(parts))]  # a bare name does not stand for every such file
    own = project or home.config.project
    rows, known = _read(home, _ENDING % ",".join("?" * len(ends)), [tail, tail[:-1] + "0", *ends], own, project)
    if known:
        return rows, known
    folder = path.rstrip("/").removeprefix("./")
    return _read(home, _BELOW, [f"{folder}/", f"{folder}0"], own, project)


def _read(home: Home, which: str, values: list[str], own: str, project: str | None) -> tuple[list[Any], int]:
    """(works, how many there are) of the asker's project, else of any unless one is insisted on."""
    rows = home.db.execute(_LOOK % (which, ""), values).fetchall()
    full = len(rows) == LOOKED_AT
    if full:  # only now is it worth putting all of them in order
        rows = home.db.execute(_LOOK % (which, _LATEST), [*values, own]).fetchall()
    mine = [row for row in rows if row[11] == own]
    kept = {row[0]: row for row in (mine if mine or project else rows)}
    if len(kept) < LOOKED_AT:
        return list(kept.values()), len(kept)
    count = home.db.execute(f"SELECT count(DISTINCT m.id) FROM ({which}) x JOIN memories m ON m.id = x.memory_id "
                            "WHERE ? OR m.project_id = ?", [*values, not mine, own]).fetchone()
    return list(kept.values()), count[0]


def _moved(home: Home, units: Sequence[str]) -> bool:
    """One look at each delivered record's file; what moved on is read again."""
    return home.touch(units)


# What was shown lately


def shown_lately(home: Home) -> dict[str, float]:
    """When each work was last shown in this session."""
    shown: dict[str, float] = home.shown.setdefault(home.session, {})
    if home.config.session and not shown:
        try:
            measure = home.tree.measure(paths.SHOWN)
            data = home.tree.read(paths.SHOWN, max(0, measure.size - TAIL_BYTES))[0] if measure else b""
        except NotFound:
            return shown
        for _, line in ledger.read_lines(data):
            when, ids = (line.get("t"), line.get("ids")) if line and line.get("session") == home.session else (None, None)
            if isinstance(when, int | float) and isinstance(ids, list):
                shown.update(dict.fromkeys(map(str, ids), float(when)))
    return shown


def note_shown(home: Home, now: float, ids: Sequence[str]) -> None:
    """Remember what was shown; a log that cannot be written never fails a look."""
    shown = home.shown.setdefault(home.session, {})
    if len(shown) > MOST_SHOWN:
        for record in [record for record, when in shown.items() if now - when >= COOLDOWN]:
            del shown[record]
    shown.update(dict.fromkeys(ids, now))
    if home.config.session:
        try:
            ledger.append_line(home.tree, paths.SHOWN, {"t": now, "session": home.session, "ids": list(ids)})
        except (CannotWrite, Busy):
            return


def trim_shown(home: Home) -> None:
    """Upkeep: a log that grew large starts over; nothing in it matters for longer than the cooldown."""
    measure = home.tree.measure(paths.SHOWN)
    if measure and measure.size > SHOWN_BYTES:
        home.tree.remove(paths.SHOWN)


# Intent and session start


def check_intent(home: Home, goal: str, task_type: str | None = None, *, limit: int = MOST) -> list[Notice]:
    """Earlier works with much the same aim."""
    if not isinstance(goal, str):
        raise Invalid(f"the goal must be text, not {goal!r:.40}")
    words = list(dict.fromkeys(_WORD.findall(searchable(goal[:2000]))))[:32]
    if not words:
        raise Invalid("the goal is empty", "say what is to be done")
    rows = home.db.execute(
        f"SELECT {_TOUCH}, '', {_WHY}, {_REPLACED} FROM words w JOIN passages p ON p.n = w.rowid "
        "JOIN records r ON r.n = p.record JOIN memories m ON m.id = r.id "
        "WHERE words MATCH ? ORDER BY bm25(words, 1.0, 4.0, 1.0) LIMIT 60",
        (" OR ".join(f'"{word}"' for word in words),))
    touches = {row[0]: Touch(*row) for row in rows}
    return match_intent(goal, task_type, touches.values(), home.clock(), limit)


def unfinished(home: Home, project: str | None = None, *, limit: int = MOST) -> list[Notice]:
    """What was left undone: failures that nothing made good, and steps still to take."""
    steps = "coalesce(json_extract(m.outcome, '$.follow_up_needed'), '[]')"
    rows = home.db.execute(
        f"SELECT {_TOUCH}, '', {_WHY}, {_REPLACED}, {steps} FROM memories m "
        f"WHERE (:project IS NULL OR m.project_id = :project) ORDER BY m.created_at DESC, m.id LIMIT {RECENT}",
        {"project": project})
    touches = [Touch(*row[:11])._replace(follow_ups=tuple(json.loads(row[11]))) for row in rows]
    return start_session(touches, home.clock(), limit)
