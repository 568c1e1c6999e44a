"""A session: it knows what it is about (`hud`), and ends with what it taught being kept (`end`); how it
begins, `brief` tells.

Retrieval is silent and no use of a record. What a session is about lies in a small file under log/: the words
its agent gave, and the name of the memo it began with, never a copy of a memo's text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from otolith.errors import Busy, CannotWrite, Conflict
from otolith.files.tree import fingerprint
from otolith.home import Home
from otolith.model.dates import read_span
from otolith.model.decay import DAY
from otolith.model.ids import slug
from otolith.model.memo import Memo
from otolith.model.record import TRUSTED
from otolith.model.shape import Value
from otolith.model.text import first_sentence
from otolith.verbs.steps import bytes_of, each

if TYPE_CHECKING:
    from otolith.derive.triggers import MemoDraft
    from otolith.model.dialog import Turn



# The HUD


def hud(home: Home, *, past: str | None = None, present: str | None = None, future: str | None = None,
        session: str | None = None) -> str:
    """The four gauges; what is given is kept for the session, the rest is as it was last given."""
    given = {name: value for name, value in (("past", past), ("present", present), ("future", future))
             if value is not None}
    state = {**_read_state(home, session), **given}
    if given:
        _write_state(home, session, state)
    return _render(home, state)


def begin(home: Home, session: str | None, context: str, *, retrieved: str | None, read: int,
          left: str = "") -> str:
    """The gauges at the start of a session, which is about the context if there is one; `left` is what the
    last ones left undone.
    """
    state = _read_state(home, session) | {"retrieved": retrieved, "read": read, "left": left}
    if context.strip():
        state["present"] = first_sentence(context)
    if home.index.dialogs.gauges().records:
        _write_state(home, session, state)
    return _render(home, state)


def is_past(text: str, now: float) -> bool:
    """Does a plan name a day that is over? Only a whole date tells: "on Friday" is a Friday to come."""
    span = read_span(text, now)
    return (span is not None and span.before is not None and span.before <= now
            and span == read_span(text, now + 400 * DAY))


def _coming(home: Home) -> str:
    """The newest thing to come in this project, of those whose day is not over."""
    plans, now = home.index.dialogs.coming(home.config.project), home.clock()
    return next((plan.title for plan in plans if not is_past(plan.text, now)), "")


def _render(home: Home, state: Mapping[str, Any]) -> str:
    from otolith.derive.protocol import render_hud

    gauges = home.index.dialogs.gauges()
    began = home.index.cards.find(str(state.get("retrieved") or ""))
    access = f"{state.get('read') or 0} of {gauges.memos} memos read, {gauges.records} records"
    return render_hud(past=str(state.get("past") or (began.title if began else "")),
                      present=str(state.get("present") or ""),
                      future=str(state.get("future") or _coming(home) or state.get("left") or ""),
                      memory=access if gauges.records else "Empty so far")


def _state_file(home: Home, session: str | None) -> str:
    """A session without a name is the agent's in its project, so that a new process finds it again."""
    name = session or home.config.session or f"{home.config.agent} {home.config.project}"
    return f"log/session-{slug(name)}.json"


def _read_state(home: Home, session: str | None) -> dict[str, Any]:
    try:
        state = json.loads(bytes_of(home, _state_file(home, session)) or b"{}")
        json.dumps(state, ensure_ascii=False).encode()  # half a character can be asked of nobody
    except (ValueError, RecursionError):
        return {}
    return state if isinstance(state, dict) else {}


def last_prompt(home: Home) -> str:
    """What the user asked last in this session."""
    return str(_read_state(home, None).get("asked") or "")


def note_prompt(home: Home, prompt: str) -> None:
    """Remember what the user asked, for a next prompt that is too short to be read alone."""
    from otolith.model.secrets import redact

    _write_state(home, None, {**_read_state(home, None), "asked": redact(prompt)[0][:500]})


def _write_state(home: Home, session: str | None, state: Mapping[str, Any]) -> None:
    """A home that cannot be written, or a quicker process, costs the gauges their memory, nothing else."""
    path, data = _state_file(home, session), json.dumps(state, ensure_ascii=False, indent=2).encode() + b"\n"
    try:
        before = bytes_of(home, path)
        if before != data:
            home.tree.write(path, data, None if before is None else fingerprint(before))
    except (CannotWrite, Conflict, Busy) as error:
        home.notices.append(f"the session's gauges were not kept: {error}")


# The end


class Ended(Value):
    """What the session left: memos kept, and as text those that could not be."""

    hud: str
    kept: Sequence[Memo] = ()
    notes: str = ""  # the System Notes, when the home cannot be written

    @property
    def text(self) -> str:
        lines = "".join(f"kept memo {memo.name}\n" for memo in self.kept)
        return f"{self.hud}{lines}" + (f"\n{self.notes}" if self.notes else "" if lines
                                       else "nothing new to keep\n")

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        return {"kept": [memo.name for memo in self.kept], "notes": self.notes, "hud": self.hud}


def end(home: Home, text: str | Sequence[Mapping[str, Any]] = "", *, session: str | None = None,
        project: str | None = None, agent: str | None = None) -> Ended:
    """Keep what the session taught: what the given dialog, and the dialogs logged in the session, ask to
    keep.

    Repeating it keeps nothing twice. What cannot be written, or comes from outside and wants a look first, is
    given back as text that can be imported later.
    """
    from otolith.derive.protocol import MemoCandidate, render_notes
    from otolith.verbs import git, running

    home.ensure_fresh()
    kept, left = keep_asked(home, [*_turns(text), *_logged(home, session)], session, project, agent)
    running.close_session(home, session or home.session)
    git.commit_session(home)
    notes = render_notes([MemoCandidate(name=draft.name, category=draft.category, tags=draft.tags,
                                    content=draft.body)
                          for draft in left]) if left else ""
    return Ended(hud=hud(home, session=session), kept=kept, notes=notes)


def keep_asked(home: Home, turns: Sequence[Turn], session: str | None = None, project: str | None = None,
               agent: str | None = None) -> tuple[list[Memo], list[MemoDraft]]:
    """Keep what turns ask to be kept; what could not be kept is left."""
    from otolith.verbs import memos

    kept: list[Memo] = []
    left: list[MemoDraft] = []
    for draft in memos.draft_memos(home, turns):
        if home.trust not in TRUSTED or left:
            left.append(draft)
            continue
        try:
            kept.append(memos.memo(home, draft.name, draft.body, title=draft.title, category=draft.category,
                                   tags=draft.tags, session=session, project=project, agent=agent))
        except Conflict:
            continue  # another process has just kept it
        except (CannotWrite, Busy) as error:
            home.notices.append(str(error))
            left.append(draft)
    return kept, left


def _turns(text: str | Sequence[Mapping[str, Any]]) -> list[Turn]:
    from otolith.model.turns import read_turns, write_turns

    raw, roles = (text, None) if isinstance(text, str) else write_turns(text)
    return read_turns(raw, roles)


def _logged(home: Home, session: str | None) -> list[Turn]:
    """The turns of the entries logged in this session, as far as people or agents wrote them."""
    units = home.index.dialogs.logged_in(session or home.session)
    return [turn for _, entry in each(home, units) for turn in entry.turns]
