"""A session: it begins informed (`brief`), knows what it is about (`hud`), and ends with what it taught being kept (`end`).

Retrieval is silent and no use of a record. What a session is about lies in a small file under log/: the words its agent
gave, and the name of the memo it began with, never a copy of what a memo says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from otolith import verbs
from otolith.errors import Busy, CannotWrite, Conflict, Invalid
from otolith.files.tree import fingerprint
from otolith.home import Home
from otolith.index import read
from otolith.model.finding import log
from otolith.model.ids import slug
from otolith.model.memo import Memo
from otolith.model.recall import Filter
from otolith.model.shape import Value
from otolith.model.text import first_sentence
from otolith.model.times import day
from otolith.verbs.steps import bytes_of, each

if TYPE_CHECKING:
    from otolith.derive.triggers import MemoDraft
    from otolith.model.dialog import Turn

FEWEST, MOST = 5, 35
TRUSTED = ("user", "agent")
CORE_SHARE, TOPICS_SHARE, WORK_SHARE = 0.4, 0.2, 0.15  # of the budget, so that memos always have a part of it
_MEMOS = f"""SELECT id, unit FROM records r WHERE kind = 'memo' AND trust IN ('user', 'agent') AND NOT sunk
AND (project IS NULL OR project IN ('default', :project) OR EXISTS (SELECT 1 FROM tags t WHERE t.tag = :project AND t.record = r.n))
AND NOT EXISTS (SELECT 1 FROM links l JOIN records x ON x.id = l.a WHERE l.b = r.id AND {read.replaces('r', 'x')})
ORDER BY pinned DESC, created DESC, id"""
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
        return {"text": self.text, "hud": self.hud, "memos": list(self.memos), "tokens": self.tokens, "budget": self.budget}


def brief(home: Home, context: str = "", *, budget: int = 2000, project: str | None = None, session: str | None = None,
          providers: Any = None, count: Count | None = None) -> Brief:
    """The HUD, CORE.md, what must not be forgotten, unfinished work, then memos, until the budget is used up.

    `count` counts tokens another way, for who has no time to load the tokenizer.
    """
    from otolith.providers.tokens import count_many

    count = count or count_many
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise Invalid(f"the budget must be a positive number of tokens; got {budget!r}")
    _look_round(home)
    here = project or home.config.project
    chosen = choose_memos(home, context, here, providers)
    state = _read_state(home, session)
    state |= {"retrieved": chosen[0].id if chosen else None, "read": len(chosen)}
    if context.strip():
        state["present"] = first_sentence(context)
    if home.db.execute("SELECT 1 FROM records LIMIT 1").fetchone():
        _write_state(home, session, state)
    shown = _render(home, state)
    head = _fill(shown.splitlines(), budget, count)  # of a small budget the HUD takes what there is
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
    return Brief(text=text, hud=shown, memos=names, tokens=count([text])[0], budget=budget)


def _look_round(home: Home) -> None:
    """A session begins with a look at all file names; only a hook, which must be quick, takes them as last seen."""
    try:
        home.ensure_fresh() if home.door == "hook" else home.sweep()
    except (Busy, CannotWrite) as error:  # what was known a moment ago is better than nothing
        log.warning("sync: %s", error)


def choose_memos(home: Home, context: str, project: str, providers: Any = None) -> list[Memo]:
    """All names are looked at; the memos nearest to the context are read, and the newest where fewer than five are near."""
    units = dict(home.db.execute(_MEMOS, {"project": project}).fetchall())
    near: list[str] = []
    if context.strip() and units:
        from otolith.recall.answer import recall  # a brief without a context has no use for it

        with home.uncounted():
            found = recall(home, context, Filter(kind=("memo",), trust=TRUSTED), limit=MOST * 2, depth="summary",
                           providers=providers)
        near = [hit.id for hit in found.hits if hit.id in units][:MOST]
    wanted = MOST if not context.strip() else max(FEWEST, len(near))
    order = list(dict.fromkeys([*near, *units]))[:wanted]
    home.touch([units[name] for name in order])
    return [memo for _, memo in each(home, [units[name] for name in order])]


def _not_to_forget(home: Home, project: str) -> list[str]:
    """The global memory's do_not_forget, of topics that the project's entries belong to or that belong to none."""
    query = "SELECT DISTINCT topic FROM records WHERE kind = 'entry' AND (project IS NULL OR project IN ('default', ?))"
    topics = {topic for topic, in home.db.execute(query, (project,))}
    lines = [f"- {_fact(item)}" for _, built in each(home, ["GLOBAL_MEMORY.json"]) for item in built.do_not_forget
             if isinstance(item, Mapping) and item.get("trust") != "outside" and ("topic" not in item or item["topic"] in topics)]
    return ["## Do not forget", *lines] if lines else []


def _fact(item: Mapping[str, Any]) -> str:
    said = [str(item[key]) for key in ("subject", "relation", "object") if item.get(key)]
    return " ".join(said) or str(item.get("text") or item.get("fact") or json.dumps(dict(item), ensure_ascii=False))


def _unfinished(home: Home, project: str) -> list[str]:
    notices = verbs.offering.unfinished(home, project)
    trusted = {row.id for row in read.rows_of(home.db, [notice.id for notice in notices]).values() if row.trust in TRUSTED}
    lines = [f"- {notice.text}" for notice in notices if notice.id in trusted]
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
    """The memos' names and their block: whole texts if five of them fit, else their first sentences, else their titles."""
    fewest, names, block = min(FEWEST, len(memos)), list[str](), ""
    for size in (1200, 160, 0):
        lines = ["## Memories", *(_memo_line(memo, size) for memo in memos)]
        block = _fill(lines, room, count)
        names = [memo.name for memo, line in zip(memos, lines[1:], strict=True) if line in block]
        if len(names) >= fewest:
            break
    return names, block


def _memo_line(memo: Memo, size: int) -> str:
    if not size:
        return f"- {memo.title}"
    said = first_sentence(memo.text, size) if size == 160 else " ".join(memo.text.split())
    said = said if len(said) <= size else said[: size - 1].rstrip() + "…"
    return f"- {memo.title} ({memo.name}, {day(memo.created)})" + (f": {said}" if said else "")


# The HUD

def hud(home: Home, *, past: str | None = None, present: str | None = None, future: str | None = None,
        session: str | None = None) -> str:
    """The four gauges; what is given is kept for the session, the rest is what was known."""
    given = {name: value for name, value in (("past", past), ("present", present), ("future", future)) if value is not None}
    state = {**_read_state(home, session), **given}
    if given:
        _write_state(home, session, state)
    return _render(home, state)


def _render(home: Home, state: Mapping[str, Any]) -> str:
    from otolith.derive.protocol import render_hud

    records = home.db.execute("SELECT count(*) FROM records").fetchone()[0]
    memos = home.db.execute("SELECT count(*) FROM records WHERE kind = 'memo'").fetchone()[0]
    began = read.find(home.db, str(state.get("retrieved") or ""))
    coming = home.db.execute("SELECT title FROM records WHERE kind = 'memo' AND type = 'future' AND NOT sunk "
                             "AND trust <> 'outside' ORDER BY created DESC, id LIMIT 1").fetchone()
    access = f"{state.get('read') or 0} of {memos} memos read, {records} records" if records else "Empty so far"
    return render_hud(past=str(state.get("past") or (began.title if began else "")), present=str(state.get("present") or ""),
                      future=str(state.get("future") or (coming[0] if coming else "")), memory=access)


def _state_file(home: Home, session: str | None) -> str:
    """A session without a name of its own is the agent's in its project, so that a new process finds it again."""
    name = session or home.config.session or f"{home.config.agent} {home.config.project}"
    return f"log/session-{slug(name)}.json"


def _read_state(home: Home, session: str | None) -> dict[str, Any]:
    try:
        found = json.loads(bytes_of(home, _state_file(home, session)) or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _write_state(home: Home, session: str | None, state: Mapping[str, Any]) -> None:
    """A home that cannot be written, or another process that was quicker, costs the gauges their memory and nothing else."""
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
        return f"{self.hud}{lines}" + (f"\n{self.notes}" if self.notes else "" if lines else "nothing new to keep\n")

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        return {"kept": [memo.name for memo in self.kept], "notes": self.notes, "hud": self.hud}


def end(home: Home, text: str | Sequence[Mapping[str, Any]] = "", *, session: str | None = None, project: str | None = None,
        agent: str | None = None) -> Ended:
    """Keep what the session taught: what the given dialog, and the dialogs logged in the session, ask to keep.

    Saying it again keeps nothing twice. What cannot be written, or comes from outside and wants a look first, is given
    back as text that can be imported later.
    """
    from otolith.derive.protocol import Candidate, render_notes

    home.ensure_fresh()
    kept: list[Memo] = []
    left: list[MemoDraft] = []
    for draft in verbs.memos.draft_memos(home, [*_turns(text), *_logged(home, session)]):
        if home.trust not in TRUSTED or left:
            left.append(draft)
            continue
        try:
            kept.append(verbs.memos.memo(home, draft.name, draft.body, title=draft.title, category=draft.category, tags=draft.tags,
                                         session=session, project=project, agent=agent))
        except Conflict:
            continue  # another process has just kept it
        except (CannotWrite, Busy) as error:
            home.notices.append(str(error))
            left.append(draft)
    verbs.tending.commit_session(home)
    candidates = [Candidate(name=draft.name, category=draft.category, tags=draft.tags, content=draft.body) for draft in left]
    return Ended(hud=hud(home, session=session), kept=kept, notes=render_notes(candidates) if candidates else "")


def _turns(text: str | Sequence[Mapping[str, Any]]) -> list[Turn]:
    from otolith.model.turns import read_turns, write_turns

    raw, roles = (text, None) if isinstance(text, str) else write_turns(text)
    return read_turns(raw, roles)


def _logged(home: Home, session: str | None) -> list[Turn]:
    """The turns of the entries logged in this session, as far as people or agents wrote them."""
    query = "SELECT unit FROM records WHERE kind = 'entry' AND session = ? AND trust <> 'outside' ORDER BY created, id"
    units = [unit for unit, in home.db.execute(query, (session or home.session,))]
    return [turn for _, entry in each(home, units) for turn in entry.turns]
