"""A session: it begins informed (`brief`), knows what it is about (`hud`), and ends with what it taught being
kept (`end`).

Retrieval is silent and no use of a record. What a session is about lies in a small file under log/: the words
its agent gave, and the name of the memo it began with, never a copy of a memo's text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from otolith.errors import Busy, CannotWrite, Conflict, Invalid
from otolith.files.tree import fingerprint
from otolith.home import Home
from otolith.model.ids import slug
from otolith.model.memo import Memo
from otolith.model.recall import Filter
from otolith.model.record import log
from otolith.model.shape import Value
from otolith.model.text import first_sentence
from otolith.model.times import day
from otolith.verbs.claims import draw
from otolith.verbs.delivered import note_delivered
from otolith.verbs.steps import bytes_of, each

if TYPE_CHECKING:
    from otolith.derive.triggers import MemoDraft
    from otolith.model.dialog import Turn

FEWEST, MOST = 5, 35
TRUSTED = ("user", "agent")
CORE_SHARE, TOPICS_SHARE, WORK_SHARE = 0.4, 0.2, 0.15  # of the budget, so that memos always have a part of it
Count = Callable[[Sequence[str]], list[int]]


class Brief(Value):
    """What to know at the start, as text within a budget; `memos` are the names of those that are in it."""

    text: str
    hud: str
    memos: Sequence[str] = ()
    tokens: int = 0
    budget: int = 0

    def __str__(self) -> str:
        return self.text

    def __contains__(self, words: str) -> bool:
        return words in self.text

    def to_dict(self) -> dict[str, Any]:
        return {"text": self.text, "hud": self.hud, "memos": list(self.memos), "tokens": self.tokens,
                "budget": self.budget}


def brief(home: Home, context: str = "", *, budget: int = 2000, project: str | None = None,
          session: str | None = None, providers: Any = None, count: Count | None = None) -> Brief:
    """The HUD, CORE.md, what must not be forgotten, unfinished work, then memos, until the budget is used up.

    `count` counts tokens another way, for who has no time to load the tokenizer.
    """
    from otolith.providers.tokens import count_many

    count = count or count_many
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise Invalid(f"the budget must be a positive number of tokens; got {budget!r}")
    try:  # a session begins with a look at all file names; only a hook, which must be quick, does without
        home.ensure_fresh() if home.door == "hook" else home.sweep()
    except (Busy, CannotWrite) as error:  # what was known a moment ago is better than nothing
        log.warning("sync: %s", error)
    draw(home)
    here = project or home.config.project
    chosen = choose_memos(home, context, here, providers)
    state = _read_state(home, session) | {"retrieved": chosen[0].id if chosen else None, "read": len(chosen)}
    if context.strip():
        state["present"] = first_sentence(context)
    if home.index.dialogs.gauges().records:
        _write_state(home, session, state)
    gauges = _render(home, state)
    head = _fill(gauges.splitlines(), budget, count)  # of a small budget the HUD takes what there is
    parts, room = [head] if head else [], budget - count([head])[0]
    core = (bytes_of(home, "CORE.md") or b"").decode(errors="replace").strip().splitlines()
    for lines, share in ((core, CORE_SHARE), (_not_to_forget(home, here), TOPICS_SHARE),
                         (_unfinished(home, here), WORK_SHARE)):
        block = _fill(lines, min(room, int(budget * share)), count)
        if block:
            parts.append(block)
            room -= count([block])[0]
    names, block = _fill_memos(chosen, room, count)
    text = "\n".join([*parts, block] if block else parts)
    if names or room < budget - count([head])[0]:  # more than the gauges
        note_delivered(home, names, text, session)
    return Brief(text=text, hud=gauges, memos=names, tokens=count([text])[0], budget=budget)


def choose_memos(home: Home, context: str, project: str, providers: Any = None) -> list[Memo]:
    """The memos nearest to the context, and the newest where fewer than five are near."""
    units = home.index.dialogs.memos(project)
    near: list[str] = []
    if context.strip() and units:
        from otolith.recall.answer import recall  # a brief without a context has no use for it

        with home.uncounted():
            hits = recall(home, context, Filter(kind=(Memo.kind,), trust=TRUSTED), limit=MOST * 2,
                          depth="summary", providers=providers).hits
        near = [hit.id for hit in hits if hit.id in units][:MOST]
    most = max(FEWEST, len(near)) if context.strip() else MOST
    chosen = [units[name] for name in list(dict.fromkeys([*near, *units]))[:most]]
    home.touch(chosen)
    return [memo for _, memo in each(home, chosen)]


def _not_to_forget(home: Home, project: str) -> list[str]:
    """The global memory's do_not_forget, of the project's topics and of those of no project."""
    topics = set(home.index.dialogs.names(project))
    items = [item for _, page in each(home, ["GLOBAL_MEMORY.json"]) for item in page.do_not_forget
             if isinstance(item, Mapping) and item.get("trust") != "outside"
             and str(item.get("topic")) in {*topics, "None"}]
    # since the page was built
    closed = home.index.claims.closings(str(item.get("fact_id")) for item in items)
    lines = [f"- {_fact(item)}" for item in items if str(item.get("fact_id")) not in closed]
    return ["## Do not forget", *lines] if lines else []


def _fact(item: Mapping[str, Any]) -> str:
    words = [str(item[key]) for key in ("subject", "relation", "object") if item.get(key)]
    return " ".join(words) or str(item.get("text") or item.get("fact")
                                  or json.dumps(dict(item), ensure_ascii=False))


def _unfinished(home: Home, project: str) -> list[str]:
    from otolith.verbs.offering import unfinished

    notices = unfinished(home, project)
    rows = home.index.cards.rows_of([notice.id for notice in notices])
    lines = [f"- {notice.text}" for notice in notices if notice.id in rows
             and rows[notice.id].trust in TRUSTED]
    return ["## Unfinished", *lines] if lines else []


def _fill(lines: Sequence[str], room: int, count: Count) -> str:
    """As many of the lines as there is room for; a heading alone is not worth its place."""
    kept: list[str] = []
    for line, tokens in zip(lines, count([f"{line}\n" for line in lines]) if lines else (), strict=True):
        room -= tokens + 1
        if room < 0:
            break
        kept.append(line)
    while kept and (not kept[-1].strip() or kept[-1].startswith("#")):
        kept.pop()
    return "\n".join(kept) + "\n" if kept else ""


def _fill_memos(memos: Sequence[Memo], room: int, count: Count) -> tuple[list[str], str]:
    """The memos' names and their block: whole texts if five fit, else first sentences, else titles."""
    names, block = list[str](), ""
    for size in (1200, 160, 0):
        lines = ["## Memories", *(_memo_line(memo, size) for memo in memos)]
        block = _fill(lines, room, count)
        names = [memo.name for memo, line in zip(memos, lines[1:], strict=True) if line in block]
        if len(names) >= min(FEWEST, len(memos)):
            break
    return names, block


def _memo_line(memo: Memo, size: int) -> str:
    told = memo.title + (" (agent)" if memo.says and memo.origin and memo.origin.trust == "agent" else "")
    if not size:
        return f"- {told}"
    text = first_sentence(memo.text, size) if size == 160 else " ".join(memo.text.split())
    text = memo.sentence if memo.says else text  # what it is about and answers is for who reads the memo
    text = text if len(text) <= size else text[: size - 1].rstrip() + "…"
    return f"- {told} ({memo.name}, {day(memo.created)})" + (f": {text}" if text else "")


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


def _render(home: Home, state: Mapping[str, Any]) -> str:
    from otolith.derive.protocol import render_hud

    gauges = home.index.dialogs.gauges()
    began = home.index.cards.find(str(state.get("retrieved") or ""))
    access = f"{state.get('read') or 0} of {gauges.memos} memos read, {gauges.records} records"
    return render_hud(past=str(state.get("past") or (began.title if began else "")),
                      present=str(state.get("present") or ""),
                      future=str(state.get("future") or gauges.coming),
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
    from otolith.verbs import running, tending

    home.ensure_fresh()
    kept, left = keep_asked(home, [*_turns(text), *_logged(home, session)], session, project, agent)
    running.close_session(home, session or home.session)
    tending.commit_session(home)
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
