"""Notices: what memory offers, unasked, when a file is about to be touched, a plan is made or a session
starts.

A notice offers and never forces: a title, an age, what went wrong, and how to ask for more. What was shown
lately is not shown again at once, but it is always said that it is known: "already shown" never looks like
"nothing known". Everything comes in as an argument (works, clock, what was shown when); nothing is read or
remembered here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from otolith.model.shape import Value
from otolith.model.text import counted, first_sentence
from otolith.model.times import age
from otolith.model.words import likeness, stems

if TYPE_CHECKING:
    from otolith.index.works import Touch

COOLDOWN = 1800.0  # seconds in which the same thing is not shown twice
MOST = 5
REPEATS = 0.5  # share of a plan's words that a failed work must share to be called the same plan
SAME_GOAL = 0.6
LINE = 200  # characters of a title or a reason within a notice's line
_DID = {"create": "created", "delete": "deleted", "edit": "edited", "read": "read"}
_HEADS = {"conflict": "FAILED BEFORE", "unfinished": "Unfinished", "follow-up": "Still to do"}


class Notice:
    """One thing worth knowing now. It holds its work and puts it into words only when somebody reads it.

    `trigger` is file, conflict, intent, unfinished or follow-up; `others` are later works that may have
    solved it.
    """

    __slots__ = ("_others", "_touch", "_why", "agent", "id", "operation", "seconds", "success", "title",
                 "trigger")

    def __init__(self, trigger: str, touch: Touch, now: float, others: Sequence[Touch] = (), *,
                 title: str = "", why: str = "") -> None:
        self.trigger, self._touch, self._others, self._why = trigger, touch, others, why
        self.seconds = max(now - touch.created, 0.0)  # how old
        self.id, self.title, self.agent = touch.id, title or touch.goal, touch.agent
        self.success, self.operation = bool(touch.success), touch.operation

    @property
    def why(self) -> str:
        touch = self._touch
        return self._why or (touch.summary if touch.success else touch.reason or touch.summary)

    @property
    def solved_by(self) -> str | None:
        """The later success on the same file with much the same aim, if a failure has one."""
        touch = self._touch
        later = (other for other in self._others if other.success and other.created > touch.created)
        return None if touch.success else _made_good(touch.goal, later)

    @property
    def age(self) -> str:
        """As a person says it: 3 days ago."""
        return f"{age(self.seconds)} ago"

    @property
    def more(self) -> str:
        return f"otolith get {self.id} --depth reasoning"

    @property
    def head(self) -> str:
        return _HEADS.get(self.trigger, "Worked" if self.success else "FAILED")

    @property
    def text(self) -> str:
        did = f" {_DID.get(self.operation, 'worked')}" if self.operation else ""
        why = f" — {first_sentence(self.why, LINE).rstrip('.')}" if self.why else ""
        later = f"; later solved by {solved}" if (solved := self.solved_by) else ""
        return (f"{self.head}: {first_sentence(self.title, LINE)} ({self.agent}{did}, {self.age})"
                f"{why}{later}. More: {self.more}")

    def to_dict(self) -> dict[str, Any]:
        return {"trigger": self.trigger, "id": self.id, "title": self.title, "age": self.age,
                "seconds": self.seconds, "agent": self.agent, "success": self.success,
                "operation": self.operation or None, "why": self.why or None, "solved_by": self.solved_by,
                "more": self.more}


class FileNotices(Value):
    """The answer to check_file: how many works there are, what is new to the asker, what was just shown."""

    path: str
    known: int
    notices: Sequence[Notice] = ()
    already: Sequence[str] = ()  # ids shown within the cooldown
    already_seconds: float = 0.0  # how long ago the latest of them was

    @property
    def state(self) -> str:
        """`nothing` is known, there are `notices`, or all that is known was already `shown`."""
        return "notices" if self.notices else "shown" if self.known else "nothing"

    @property
    def text(self) -> str:
        if not self.known:
            return f"nothing known of {self.path}"
        lines = [notice.text for notice in self.notices]
        rest = self.known - len(self.notices) - len(self.already)
        if self.already:
            lines.append(f"{counted(len(self.already), 'work')} on {self.path} already shown "
                         f"{age(self.already_seconds)} ago; again: otolith check-file {self.path} --again")
        if rest > 0:
            lines.append(f"{counted(rest, 'work')} more on {self.path}: otolith recall --file "
                         f"{self.path} --kind work")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        return {"path": self.path, "state": self.state, "known": self.known,
                "already_shown": list(self.already),
                "notices": [notice.to_dict() for notice in self.notices], "text": self.text}


def check_file(path: str, touches: Sequence[Touch], now: float, *, known: int | None = None,
               shown: Mapping[str, float] | None = None, cooldown: float = COOLDOWN, plan: str = "",
               limit: int = MOST) -> FileNotices:
    """What is worth knowing before touching a file: what a plan would repeat, then what failed, then the
    latest.

    `touches` are works on the file; `known` says how many there are if not all were handed in; `shown` says
    when each work was last shown to the asker. A conflict is never held back.
    """
    notices = find_conflicts(plan, touches, now)[:limit] if plan else []
    ids = {notice.id for notice in notices}
    rest = [touch for touch in touches if touch.id not in ids]
    times = shown or {}
    lately = {touch.id: times[touch.id] for touch in rest
              if touch.id in times and now - times[touch.id] < cooldown}
    fresh = sorted((touch for touch in rest if touch.id not in lately), key=lambda touch: (
        bool(touch.success or touch.replaced), -touch.created))  # failures that still stand, then the latest
    notices += [Notice("file", touch, now, touches) for touch in fresh[: limit - len(notices)]]
    return FileNotices(path=path, known=len(touches) if known is None else known, notices=tuple(notices),
                       already=tuple(lately), already_seconds=now - max(lately.values(), default=now))


def find_conflicts(plan: str, touches: Sequence[Touch], now: float) -> list[Notice]:
    """The failed works on a file that a plan is about to repeat, the closest first."""
    planned = stems(plan)
    conflicts = []
    for touch in touches:
        shared = 0 if touch.success or touch.replaced else len(planned & stems(f"{touch.goal} "
                                                                               f"{touch.approach}"))
        if shared >= 2 and shared / len(planned) >= REPEATS:
            conflicts.append((-shared, -touch.created, touch))
    return [Notice("conflict", touch, now, touches) for *_,
            touch in sorted(conflicts, key=lambda item: item[:2])]


def match_intent(goal: str, task_type: str | None, touches: Iterable[Touch], now: float, limit: int = MOST
                 ) -> list[Notice]:
    """Earlier works with much the same aim, the closest first; the same kind of task counts for a little."""
    aim = stems(goal)
    matches = []
    for touch in touches:
        shared = len(aim & stems(touch.goal))
        near = shared / len(aim) if aim else 0.0
        near += 0.1 if task_type and touch.task_type == task_type else 0.0
        if near >= REPEATS and shared >= min(2, len(aim)) and not touch.replaced:
            matches.append((-near, -touch.created, touch))
    return [Notice("intent", touch, now) for *_, touch in sorted(matches, key=lambda item: item[:2])[:limit]]


def start_session(touches: Sequence[Touch], now: float, limit: int = MOST) -> list[Notice]:
    """What was left undone, newest first: failures not made good later, steps not taken later."""
    ordered = sorted(touches, key=lambda touch: (-touch.created, -touch.at, touch.id))
    notices: list[Notice] = []
    for at, touch in enumerate(ordered):
        if touch.replaced:
            continue
        done = [later for later in ordered[:at] if later.success]
        if not touch.success and _made_good(touch.goal, done) is None:
            notices.append(Notice("unfinished", touch, now))
        notices += [Notice("follow-up", touch, now, title=first_sentence(step),
                           why=f"from: {first_sentence(touch.goal)}")
                    for step in touch.follow_ups if _made_good(step, done) is None]
        if len(notices) >= limit:
            break
    return notices[:limit]


def _made_good(goal: str, done: Iterable[Touch]) -> str | None:
    """The later success with much the same aim, if there is one."""
    aim = stems(goal)
    return next((later.id for later in done if likeness(aim, stems(later.goal)) >= SAME_GOAL), None)
