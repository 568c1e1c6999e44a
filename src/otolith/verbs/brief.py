"""The brief that a colleague would give: who the user is, which rules hold here, what was done last, what is
left to do, what is contested, and what is near to the matter at hand.

It is told straight from records, one line each, with the day and enough of an id to ask for more; nothing of
another project, nothing that was replaced, no plan whose day is past. Each part has its share of the budget,
and what one leaves the next may take. A brief is no use of a record.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from otolith.errors import Busy, CannotWrite, Invalid
from otolith.home import Home
from otolith.index.database import Row
from otolith.index.works import Touch
from otolith.model.dialog import marked_time
from otolith.model.ids import short_id
from otolith.model.kinds import KINDS
from otolith.model.memo import Memo
from otolith.model.recall import Filter
from otolith.model.record import TRUSTED, log
from otolith.model.shape import Value
from otolith.model.text import first_sentence, fold
from otolith.model.times import day, parse_time
from otolith.model.words import likeness, stems
from otolith.recall.beside import asked
from otolith.verbs.claims import draw
from otolith.verbs.delivered import note_delivered
from otolith.verbs.session import begin, is_past
from otolith.verbs.steps import each

FEWEST, MOST = 5, 35  # memos
PERSONAL = (None, "", "default")  # as a record's project
SHARES = {"personal": 0.15, "project": 0.25, "sessions": 0.20, "unfinished": 0.10, "contested": 0.05,
          "near": 0.20}
HEADINGS = {"personal": "About the user", "project": "Rules and decisions here", "sessions": "Last sessions",
            "unfinished": "Unfinished", "contested": "Contradictions to settle", "near": "Near to this"}
RULES = ("decision", "code_pattern", "workflow")  # types of notes that say how things are done
STATED = ("identity", "preference", "constraint")  # types of facts that say who the user is
IMPORTANT = 0.7  # from which on a note of another type is told, too
SESSIONS, WORKS, CONTESTS, FACTS, NEAR = 3, 3, 3, 8, 8
PAUSE = 6 * 3600.0  # seconds after which a session of the same name is another one
LOOKED_AT = 60
SIZES = (320, 120, 0)  # characters of a line, fewer if otherwise too few memos have room; 0: titles alone
Count = Callable[[Sequence[str]], list[int]]


class Brief(Value):
    """What to know at the start, as text within a budget; `memos` are the names of those that are in it."""

    text: str
    hud: str
    memos: Sequence[str] = ()
    ids: Sequence[str] = ()
    tokens: int = 0
    budget: int = 0

    def __str__(self) -> str:
        return self.text

    def __contains__(self, words: str) -> bool:
        return words in self.text

    def to_dict(self) -> dict[str, Any]:
        return {"text": self.text, "hud": self.hud, "memos": list(self.memos), "tokens": self.tokens,
                "budget": self.budget}


class Item(NamedTuple):
    """One record as the brief tells it, in a line."""

    id: str
    title: str
    text: str
    created: float
    memo: bool = False
    agent: bool = False
    todo: bool = False

    def at(self, size: int) -> str:
        """The line in at most so many characters of content."""
        text = " ".join(self.text.split())
        if not size or not text:
            whole = self.title
        else:  # a memo is named by its words, so mostly they say nothing more
            said = self.title in text or (self.memo and likeness(stems(self.title), stems(text)) > 0)
            whole = text if said else f"{self.title}: {text}"
        if size and len(whole) > size:
            whole = whole[: size - 1].rsplit(" ", 1)[0] + "…"
        mark = "agent, " if self.agent else ""
        return f"- {whole} ({mark}{day(self.created)}, {short_id(self.id)})" if size else f"- {whole}"


def brief(home: Home, context: str = "", *, budget: int = 2000, project: str | None = None,
          session: str | None = None, providers: Any = None, count: Count | None = None,
          told_agent: bool = True) -> Brief:
    """What to know at the start of a session, within a budget of tokens.

    `count` counts tokens another way, for who has no time to load the tokenizer. What a person looks at,
    no agent was told.
    """
    from otolith.providers.tokens import count_many

    count = count or count_many
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise Invalid(f"the budget must be a positive number of tokens; got {budget!r}")
    _look(home)
    parts = _gather_all(home, context, project, providers)
    memos = [line.id for name in ("near", "personal", "project", "unfinished") for line in parts[name]
             if line.memo]
    gauges = begin(home, session, context, retrieved=_insight(parts, context), read=len(set(memos)),
                   left=next((item.title for item in parts["unfinished"]), ""))
    wanted = min(FEWEST, len(set(memos)))
    for size in SIZES:
        text, told = _compose(gauges, parts, size, budget, count)
        if sum(line.memo for line in told) >= wanted:
            break
    order = dict.fromkeys(line.id for line in told if line.memo)
    if told and told_agent:
        note_delivered(home, [item.id for item in told], text, session, by="brief")
    return Brief(text=text, hud=gauges, tokens=count([text])[0], budget=budget,
                 ids=[line.id for line in told],
                 memos=[name for name in dict.fromkeys(memos) if name in order])


def _gather_all(home: Home, context: str, project: str | None, providers: Any) -> dict[str, list[Item]]:
    """The lines of each part, from the home and after them from those beside it."""
    def gather(other: Home) -> dict[str, list[Item]]:
        if other is not home:
            other.ensure_fresh()
        return _gather(other, context, project or other.config.project, providers)

    parts = gather(home)
    for name, more in asked(home, gather):
        for part, items in more.items():
            parts[part] += [item._replace(id=f"{name}:{item.id}") for item in items]
    return parts


def _insight(parts: dict[str, list[Item]], context: str) -> str | None:
    """The record to name as what the session begins with: near to the context, else done last."""
    last = parts["near"] if context.strip() else [*parts["sessions"], *parts["unfinished"]]
    return next((item.id for item in (*last, *parts["personal"], *parts["project"])
                 if item.title != item.text), None)  # what has no title of its own says little in one


def _look(home: Home) -> None:
    """A session begins with a look at all file names; only a hook, which must be quick, does without."""
    try:
        home.ensure_fresh() if home.door == "hook" else home.sweep()
    except (Busy, CannotWrite) as error:  # what was known a moment ago is better than nothing
        log.warning("sync: %s", error)
    draw(home)


def _gather(home: Home, context: str, project: str, providers: Any) -> dict[str, list[Item]]:
    """The lines of each part, weightiest first, each record once."""
    chosen = Filter(unasked=(project, ""))  # also what this session said: after compaction it is news
    near = _near(home, context, chosen, providers)
    memos, taken, unfinished = _memos(home, project), set[str](), _unfinished(home, project)
    own, here, agents, todo = (_of(memos, part) for part in ("own", "here", "agent", "todo"))
    parts: dict[str, list[Item]] = {
        "personal": [*own, *_facts(home, chosen)], "project": [*here, *_notes(home, chosen)],
        # what an agent noted is told as its work, never as a rule
        "sessions": [*_sessions(home, project, chosen, {line.id for line in unfinished}), *agents],
        "unfinished": [*todo, *unfinished],
        "contested": _contested(home, project), "near": near}
    if context.strip():  # what the matter needs may not be crowded out by other rules of the project
        close = [line.id for line in near]
        for name in ("personal", "project"):
            parts[name].sort(key=lambda line: close.index(line.id) if line.id in close else len(close))
    left = MOST
    for name, lines in parts.items():
        kept = []
        for line in lines:
            if line.id in taken or (line.memo and not left):
                continue
            taken.add(line.id)
            left -= line.memo
            kept.append(line)
        parts[name] = kept
    return parts


# The parts


def _memos(home: Home, project: str) -> list[tuple[bool, Item]]:
    """(is it the user's own, its line) of the memos that hold here, pinned and newest first."""
    units = home.index.dialogs.memos(project)
    home.touch(list(units.values())[: 2 * MOST])
    rows = home.index.cards.rows_of(list(units)[: 4 * MOST])
    closed = home.index.claims.closings(rows)
    lines: list[tuple[bool, Item]] = []
    for _, memo in each(home, [row.unit for row in rows.values()]):
        row = rows.get(memo.id)
        if row and memo.id not in closed and not _is_past(home, memo):
            text = memo.sentence if memo.says else memo.text
            lines.append((row.project in PERSONAL, Item(
                memo.id, memo.title, text, memo.created, memo=True, agent=row.trust != "user",
                todo=memo.says == "todo")))
    order = {id: place for place, id in enumerate(units)}
    return sorted(lines, key=lambda pair: order[pair[1].id])


def _of(memos: list[tuple[bool, Item]], part: str) -> list[Item]:
    """The lines of memos that belong to a part: an agent's, what is to do, the user's own, the project's."""
    return [line for own, line in memos if part == (
        "agent" if line.agent else "todo" if line.todo else "own" if own else "here")]


def _is_past(home: Home, memo: Memo) -> bool:
    """Is it a plan for a day that is over?"""
    return memo.category == "future" and is_past(memo.text, home.clock())


def _facts(home: Home, chosen: Filter) -> list[Item]:
    """Who the user is and what they like, as dialogs said it and it holds; what a person scored is first."""
    stated = chosen.replace(kind=("fact",), type=STATED, trust=("user",))
    rows, _ = home.index.cards.listing(stated, LOOKED_AT)
    closed = home.index.claims.closings(row.id for row in rows)
    held = sorted((row for row in rows if row.id not in closed),
                  key=lambda row: (-(row.importance or 0.5), -row.created))
    return [Item(row.id, row.title, row.title, row.created) for row in held[:FACTS]]


def _notes(home: Home, chosen: Filter) -> list[Item]:
    """Decisions and ways of working that hold here, the weightiest first."""
    rows, _ = home.index.cards.listing(chosen.replace(kind=("note",)), 4 * LOOKED_AT)
    closed = home.index.claims.closings(row.id for row in rows)
    rules = [row for row in rows if row.id not in closed
             and (row.type in RULES or (row.importance or 0) >= IMPORTANT or row.pinned)]
    rules.sort(key=lambda row: (-row.pinned, -(row.importance or 0.5), -row.created))
    return list(_read(home, rules[: LOOKED_AT // 3]))


def _sessions(home: Home, project: str, chosen: Filter, undone: Collection[str]) -> list[Item]:
    """What was done in the last sessions and how it ended; of a session without works, what was said. What
    failed and is still to do is told there.
    """
    latest = home.index.work.latest(project, SESSIONS * 2 * WORKS)
    works = {work.id: work for work in latest if not work.replaced}
    rows = home.index.cards.rows_of(works)
    # what was said in a dialog of no project is told by its facts, as far as it holds
    entries = [] if project in PERSONAL else home.index.cards.listing(
        chosen.replace(kind=("entry",)), SESSIONS * 4)[0]
    own = [row for row in (*rows.values(), *entries) if row.trust in TRUSTED and row.project == project]
    items: list[Item] = []
    for group in _apart(own)[:SESSIONS]:
        done = [row for row in group if row.id in works][:WORKS]
        items += [_work(works[row.id], row) for row in done
                  if works[row.id].success or row.id not in undone] if done else _spoken(home, group[-1])
    return items


def _apart(rows: Iterable[Row]) -> list[list[Row]]:
    """Records by session, the latest first; after a pause it is another session."""
    sessions: list[list[Row]] = []
    for row in sorted(rows, key=lambda row: -row.created):
        last = sessions[-1][-1] if sessions else None
        if last and last.session == row.session and last.created - row.created < PAUSE:
            sessions[-1].append(row)
        else:
            sessions.append([row])
    return sessions


def _work(work: Touch, row: Row) -> Item:
    ended = "done" if work.success else f"failed: {work.reason or work.approach or 'not finished'}"
    parts = [f"{work.goal} — {ended}"]
    for head, text in (("", work.summary), ("still to do: ", "; ".join(work.follow_ups))):
        if text and fold(text).rstrip(". ") not in fold(" ".join(parts)):  # what says something more
            parts.append(f"{head}{text}")
    return Item(work.id, work.goal, "; ".join(parts), work.created, agent=row.trust != "user")


def _spoken(home: Home, row: Row) -> list[Item]:
    """What the user said in a dialog, as far as it holds: how it began and how it ended."""
    closed = [sentence for said in home.index.claims.outdated([row.unit]).values() for sentence, _ in said]
    turns = [" ".join(turn.text.split()) for _, entry in each(home, [row.unit]) for turn in entry.turns
             if turn.role == "user"]
    for sentence in closed:
        turns = [turn.replace(sentence, "").strip(" .!?") for turn in turns]
    turns = [turn for turn in turns if turn]
    said = list(dict.fromkeys(turn[:160] for turn in (*turns[:1], *turns[-1:])))
    return [Item(row.id, " … ".join(said), " … ".join(said), row.created)] if said else []


def _unfinished(home: Home, project: str) -> list[Item]:
    from otolith.verbs.offering import unfinished

    notices = unfinished(home, project)
    rows = home.index.cards.rows_of([notice.id for notice in notices])
    return [Item(notice.id, notice.title, f"{notice.head}: {notice.title}"
                 + (f" — {first_sentence(notice.why, 160)}" if notice.why else ""), rows[notice.id].created)
            for notice in notices if notice.id in rows and rows[notice.id].trust in TRUSTED]


def _contested(home: Home, project: str) -> list[Item]:
    pairs = [pair for pair in home.index.claims.contested() if pair.newer.scope in ("", project)]
    return [Item(pair.newer.record, pair.newer.sentence,
                 f"“{pair.older.sentence}” or “{pair.newer.sentence}”?",
                 parse_time(marked_time(pair.newer.mark))) for pair in pairs[:CONTESTS]]


def _near(home: Home, context: str, chosen: Filter, providers: Any) -> list[Item]:
    """What is near to the context, of every kind but what only retells others, the newer of two alike."""
    if not context.strip():
        return []
    from otolith.recall.search import find
    from otolith.recall.unasked import choose

    candidates = find(home, context, chosen, LOOKED_AT, providers)
    offers = choose(home, candidates, NEAR, gated=False)
    return [Item(offer.id, offer.title, offer.text, offer.created, memo=offer.kind == Memo.kind)
            for offer in offers]


def _read(home: Home, rows: Iterable[Row]) -> Iterator[Item]:
    from otolith.recall.depth import body

    for row in rows:
        for _, record in each(home, [row.unit]):  # what cannot be read now is check's business
            if record.id == row.id:
                text = body(record) if KINDS[row.kind].titled else row.title
                yield Item(row.id, row.title, text, row.updated or row.created, agent=row.trust != "user")


# The text


class _Page:
    """The brief while it is filled: what is on it, and what room is left."""

    def __init__(self, parts: dict[str, list[Item]], size: int, room: int, count: Count) -> None:
        self.parts, self.size, self.room = parts, size, room
        items = list(dict.fromkeys(item for some in parts.values() for item in some))
        lines = count([f"{item.at(size)}\n" for item in items]) if items else []
        self.costs = dict(zip(items, lines, strict=True))
        self.heads = dict(zip(HEADINGS, count([f"\n## {text}\n" for text in HEADINGS.values()]), strict=True))
        self.kept: dict[str, list[Item]] = {name: [] for name in parts}

    def take(self, name: str, most: int) -> int:
        """Take what fits into so many tokens of a part; how many it took."""
        spent = 0
        for item in self.parts[name]:
            cost = self.costs[item] + 1 + (0 if self.kept[name] else self.heads[name] + 1)
            if spent + cost <= most and item not in self.kept[name] and not self._repeats(item):
                self.kept[name].append(item)
                spent += cost
        self.room -= spent
        return spent

    def _repeats(self, item: Item) -> bool:
        """Does another line say it?"""
        text = fold(item.text)
        return any(text in fold(other.text) for some in self.kept.values() for other in some)

    def items(self) -> list[Item]:
        return [item for name, some in self.parts.items() for item in some if item in self.kept[name]]

    def blocks(self) -> Iterator[str]:
        for name, some in self.parts.items():
            if lines := [item.at(self.size) for item in some if item in self.kept[name]]:
                yield "\n".join([f"## {HEADINGS[name]}", *lines, ""])


def _compose(gauges: str, parts: dict[str, list[Item]], size: int, budget: int, count: Count
             ) -> tuple[str, list[Item]]:
    """The brief with lines of a size, and what is in it: each part within its share and what those before it
    left, then whatever there is still room for.
    """
    hud = _fit(gauges.splitlines(), budget, count)
    page, carried = _Page(parts, size, budget - (count([hud])[0] + 1 if hud else 0), count), 0
    for name in parts:
        share = min(page.room, int(budget * SHARES[name]) + carried)
        carried = share - page.take(name, share)
    for name in parts:
        page.take(name, page.room)
    return "\n".join([*([hud] if hud else ()), *page.blocks()]), page.items()


def _fit(lines: Sequence[str], room: int, count: Count) -> str:
    """As many of the lines as there is room for."""
    kept: list[str] = []
    for line, tokens in zip(lines, count([f"{line}\n" for line in lines]) if lines else (), strict=True):
        room -= tokens + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept) + "\n" if kept else ""
