"""What memory offers unasked: `check_file`, an intent that was met before, unfinished work at the start of a
session.

Read from the index and one look at each delivered record's file, so that it may run before every edit. What
was shown in a session is remembered for a while: in this process, and in the log of what was delivered where
the session has a name of its own and so outlives the process.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from otolith.derive import notices
from otolith.derive.notices import COOLDOWN, MOST, FileNotices, Notice, match_intent, start_session
from otolith.errors import Invalid
from otolith.home import Home
from otolith.model.record import tail_of
from otolith.model.text import check_whole, searchable
from otolith.verbs.delivered import delivered, note_delivered

RECENT = 200
MOST_SHOWN = 2000
_WORD = re.compile(r"\w+")


def check_file(home: Home, path: str, *, plan: str = "", again: bool = False, project: str | None = None,
               limit: int = MOST) -> FileNotices:
    """Who touched a file and what failed there; `plan` says what is about to be done, `again` ignores the
    cooldown.

    A path means the file of that name in the current project, if works of it know one, else in any; `project`
    insists.
    """
    if not isinstance(path, str) or not tail_of(path.strip()):
        raise Invalid("the path is empty", "name a file as the works name it, such as src/auth.ts")
    check_whole([path, plan, project])
    now = home.clock()
    shown = None if again else shown_lately(home)
    for _ in range(2):  # once more if a delivered work's file moved on
        touches, total = home.index.work.on_file(path, project or home.config.project, project)
        answer = notices.check_file(path, touches, now, known=total, shown=shown, plan=plan, limit=limit)
        ids = [notice.id for notice in answer.notices]
        if not ids or not home.touch([touch.unit for touch in touches if touch.id in ids]):
            break
    if ids:
        _note_shown(home, now, answer.notices)
    return answer


def shown_lately(home: Home) -> dict[str, float]:
    """When each work was last shown in this session."""
    shown: dict[str, float] = home.shown.setdefault(home.session, {})
    if home.config.session and not shown:
        shown.update(delivered(home, home.session).ids)
    return shown


def _note_shown(home: Home, now: float, notices: Sequence[Notice]) -> None:
    """Remember what was shown: in this process, and in the log where the session outlives it."""
    shown = home.shown.setdefault(home.session, {})
    if len(shown) > MOST_SHOWN:
        for record in [record for record, when in shown.items() if now - when >= COOLDOWN]:
            del shown[record]
    ids = [notice.id for notice in notices]
    shown.update(dict.fromkeys(ids, now))
    if home.config.session:
        note_delivered(home, ids, "\n".join(notice.text for notice in notices), by="edit")


def check_intent(home: Home, goal: str, task_type: str | None = None, *, limit: int = MOST) -> list[Notice]:
    if not isinstance(goal, str):
        raise Invalid(f"the goal must be text, not {goal!r:.40}")
    words = list(dict.fromkeys(_WORD.findall(searchable(goal[:2000]))))[:32]
    if not words:
        raise Invalid("the goal is empty", "say what is to be done")
    return match_intent(goal, task_type, home.index.work.about(words), home.clock(), limit)


def unfinished(home: Home, project: str | None = None, *, limit: int = MOST) -> list[Notice]:
    """What was left undone: failures that nothing made good, and steps still to take."""
    return start_session(home.index.work.latest(project, RECENT), home.clock(), limit)
