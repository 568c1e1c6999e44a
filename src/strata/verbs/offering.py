"""What memory offers unasked: `check_file`, an intent that was met before, unfinished work at the start of a session.

Read from the index and one look at each delivered record's file, so that it may run before every edit. What was shown in
a session is remembered for a while: in this process, and in log/shown.jsonl where the session has a name of its own and
so outlives the process.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from strata.derive import notices
from strata.derive.notices import COOLDOWN, MOST, FileNotices, Notice, Touch, match_intent, start_session
from strata.errors import Busy, CannotWrite, Invalid, NotFound
from strata.files import ledger
from strata.home import Home
from strata.model.text import searchable

SHOWN = "log/shown.jsonl"
SHOWN_BYTES = 1 << 20
TAIL_BYTES = 1 << 16  # half an hour of notices fits many times over
LOOKED_AT = 40  # works on one file that are weighed against each other
RECENT = 200
_WORD = re.compile(r"\w+")
_TOUCH = """m.id, m.intent_goal, m.intent_type, m.agent_id, m.created_at, m.outcome_success, m.outcome_summary"""
_WHY = """CASE WHEN m.outcome_success THEN '' ELSE coalesce(json_extract(m.outcome, '$.failure_reason'), '') END,
CASE WHEN m.outcome_success THEN '' ELSE coalesce(json_extract(m.reasoning, '$.approach_chosen'), '') END"""
_REPLACED = "EXISTS (SELECT 1 FROM links l JOIN records n ON n.id = l.a WHERE l.b = m.id AND l.word = 'supersedes')"
_FILE = f"""SELECT {_TOUCH}, f.operation, {_WHY}, {_REPLACED}, d.path, d.size, d.mtime, d.ctime, d.inode
FROM memory_files f JOIN memories m ON m.id = f.memory_id JOIN records r ON r.id = m.id JOIN documents d ON d.unit = r.unit
WHERE f.file_path IN (%s) ORDER BY m.created_at DESC, m.id LIMIT {LOOKED_AT}"""


def check_file(home: Home, path: str, *, plan: str = "", again: bool = False, limit: int = MOST) -> FileNotices:
    """Who touched a file and what failed there; `plan` says what is about to be done, `again` ignores the cooldown."""
    if not isinstance(path, str) or not path.strip():
        raise Invalid("the path is empty", "name a file as the works name it, such as src/auth.ts")
    now = home.clock()
    names = stored_names(home, path)
    if not names:
        return FileNotices(path, 0, ())
    rows = _read_touches(home, names)
    known = len(rows) if len(rows) < LOOKED_AT else _count(home, names)
    touches = [Touch(*row[:11]) for row in rows]
    found = notices.check_file(path, touches, now, known=known, shown=None if again else shown_lately(home, now), plan=plan,
                               limit=limit)
    if found.notices:
        note_shown(home, now, [notice.id for notice in found.notices])
    return found


def stored_names(home: Home, path: str) -> list[str]:
    """The paths under which works name a file: the same by whole segments, from the end; else all below that folder."""
    bare = path.replace("\\", "/").rstrip("/").removeprefix("./")
    name = bare.rsplit("/", 1)[-1]
    found = [stored for stored, in home.db.execute("SELECT file_path FROM file_names WHERE name = ?", (name,))
             if same_file(stored, bare)]
    if found:
        return found
    below = "SELECT DISTINCT file_path FROM memory_files WHERE file_path >= ? AND file_path < ? LIMIT 500"
    return [stored for stored, in home.db.execute(below, (f"{bare}/", f"{bare}0"))]


def same_file(stored: str, asked: str) -> bool:
    """Whether two spellings name one file: equal, or one the end of the other by whole segments.

    A bare name in a work does not stand for every file of that name that an absolute path may lead to.
    """
    one, other = stored.replace("\\", "/").removeprefix("./"), asked
    if one == other or one.endswith(f"/{other.lstrip('/')}"):
        return True
    return "/" in one and other.endswith(f"/{one.lstrip('/')}")


def _read_touches(home: Home, names: Sequence[str]) -> list[Any]:
    """The works on a file, newest first, each with one look at its own file; one that moved on is read again."""
    query = _FILE % ",".join("?" * len(names))
    rows = home.db.execute(query, names).fetchall()
    look = home.tree.look
    stale = [row[11] for row in rows if look(row[11]) != row[12:]]
    if stale:
        home.touch(stale)
        rows = home.db.execute(query, names).fetchall()
    return rows


def _count(home: Home, names: Sequence[str]) -> int:
    marks = ",".join("?" * len(names))
    count: int = home.db.execute(f"SELECT count(DISTINCT memory_id) FROM memory_files WHERE file_path IN ({marks})",
                                 names).fetchone()[0]
    return count


# What was shown lately


def shown_lately(home: Home, now: float) -> dict[str, float]:
    """When each work was last shown in this session."""
    shown: dict[str, float] = home.shown.setdefault(home.session, {})
    if home.config.session and not shown:
        try:
            token = home.tree.look(SHOWN)
            data = home.tree.read(SHOWN, max(0, token.size - TAIL_BYTES))[0] if token else b""
        except NotFound:
            return shown
        for _, line in ledger.read_lines(data):
            if line and line.get("session") == home.session and now - float(line.get("t", 0)) < COOLDOWN:
                shown.update((str(record), float(line["t"])) for record in line.get("ids", ()))
    return shown


def note_shown(home: Home, now: float, ids: Sequence[str]) -> None:
    """Remember what was shown; a log that cannot be written never fails a look."""
    home.shown.setdefault(home.session, {}).update(dict.fromkeys(ids, now))
    if home.config.session:
        try:
            ledger.append_line(home.tree, SHOWN, {"t": now, "session": home.session, "ids": list(ids)})
        except (CannotWrite, Busy):
            return


def trim_shown(home: Home) -> None:
    """Upkeep: a log that grew large starts over; nothing in it matters for longer than the cooldown."""
    token = home.tree.look(SHOWN)
    if token and token.size > SHOWN_BYTES:
        home.tree.remove(SHOWN)


# Intent and session start


def check_intent(home: Home, goal: str, task_type: str | None = None, *, limit: int = MOST) -> list[Notice]:
    """Earlier works with much the same aim."""
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
        f"WHERE (?1 IS NULL OR m.project_id = ?1) ORDER BY m.created_at DESC, m.id LIMIT {RECENT}", (project,))
    return start_session(list(_with_steps(rows)), home.clock(), limit)


def _with_steps(rows: Iterable[Any]) -> Iterable[Touch]:
    for row in rows:
        yield Touch(*row[:11])._replace(follow_ups=tuple(json.loads(row[11])))
