"""`decay`: how strongly every note still stands, kept in _state.json in seed 004's shape.

Counts come from the usage ledger, folded into the index; the file is output only. A hundred thousand notes are scored in
one go. `standings` is what the pages are built from.
"""

from __future__ import annotations

import json
import re
from typing import Any

from strata.errors import Invalid, NotFound
from strata.home import Home
from strata.index import read
from strata.model.decay import DIGITS, Decay, Standing, score_all, take_apart, weight
from strata.model.record import Usage
from strata.model.times import day, offset, parse_time
from strata.verbs.finding import locate

STATE = "_state.json"
_STAMP = re.compile(r'"updated": "([^"]+)"')
_COLUMNS = ("SELECT r.id, r.type, coalesce(r.importance, 0.5), r.created, r.pinned, r.uses + coalesce(u.count, 0), "
            "max(coalesce(r.used, u.last), coalesce(u.last, r.used)){more} "
            "FROM records r LEFT JOIN usage u ON u.id = r.id WHERE r.kind = 'note' ORDER BY r.id")


def decay(home: Home) -> list[tuple[Any, ...]]:
    """Score every note now and write _state.json; gives (id, count, last access, score) of each."""
    home.ensure_fresh()
    home.fold_usage()
    now = _moment(home)
    rows = _score(home, now)
    home.build(STATE, _render(rows, now).encode())
    return rows


def rung(home: Home, _providers: Any = None) -> list[str]:
    """Upkeep's part. A file of today that still holds for the moment it names stays: nothing it depends on has changed."""
    before = _state(home)
    then = _made(before)
    if day(then) == day(home.clock()) and _render(_score(home, then), then) == before:
        return []
    now = _moment(home)
    return [STATE] if home.build(STATE, _render(_score(home, now), now).encode()) else []


def _made(state: str) -> float:
    """When a state file was made; 0 if it does not say."""
    stamp = _STAMP.search(state[:200])
    try:
        return parse_time(stamp[1]) if stamp else 0.0
    except Invalid:
        return 0.0


def state_moment(home: Home) -> float:
    """The moment that _state.json holds for if it is of today, else now: what is built from scores agrees with it."""
    made = _made(_state(home))
    return made if day(made) == day(home.clock()) else _moment(home)


def _moment(home: Home) -> float:
    """Now, to the second: the file names the moment its scores hold for."""
    return float(int(home.clock()))


def _score(home: Home, now: float) -> list[tuple[Any, ...]]:
    """(id, count, last access, score) of every note."""
    rows = home.db.execute(_COLUMNS.format(more="")).fetchall()
    if not rows:
        return []
    ids, types, importances, created, pinned, counts, lasts = zip(*rows, strict=True)
    anchors = [made if last is None else last for made, last in zip(created, lasts, strict=True)]
    scores = score_all(importances, anchors, counts, [weight(type_) for type_ in types], pinned, now)
    return list(zip(ids, counts, lasts, scores.round(DIGITS).tolist(), strict=True))


def _state(home: Home) -> str:
    try:
        return home.tree.read(STATE)[0].decode(errors="replace")
    except NotFound:
        return ""


def _render(rows: list[tuple[Any, ...]], now: float) -> str:
    """_state.json in the seed's shape, one line a note."""
    entries = ",\n".join(
        f'    {json.dumps(note)}: {{"access_count": {count}, "last_accessed": {"null" if last is None else _quoted(last)}, '
        f'"decay_score": {score!r}}}' for note, count, last, score in rows)
    inner = f"\n{entries}\n  " if rows else ""
    return f'{{\n  "version": 1,\n  "updated": {_quoted(now)},\n  "entries": {{{inner}}}\n}}\n'


def _quoted(seconds: float) -> str:
    return f'"{offset(seconds)}"'


def standings(home: Home, when: float | None = None) -> list[Standing]:
    """Every note with its use and its score as of now or then; insights bring the opening of their text."""
    scores = {row[0]: row[3] for row in _score(home, _moment(home) if when is None else when)}
    more = ", r.n, r.title, r.unit, r.project, r.trust"
    tags: dict[int, list[str]] = {}
    for record, tag in home.db.execute("SELECT t.record, t.tag FROM tags t JOIN records r ON r.n = t.record "
                                       "WHERE r.kind = 'note' ORDER BY t.record, t.tag"):
        tags.setdefault(record, []).append(tag)
    opening = dict(home.db.execute("SELECT p.record, p.text FROM passages p JOIN records r ON r.n = p.record "
                                   "WHERE p.ord = 0 AND r.kind = 'note' AND r.type = 'insight'").fetchall())
    return [Standing(id=id_, type=type_, title=title, path=unit, created=created, tags=tuple(tags.get(n, ())),
                     importance=importance, usage=Usage(count, last), score=scores[id_], pinned=bool(pinned), trust=trust,
                     project=project, preview=opening.get(n, ""))
            for id_, type_, importance, created, pinned, count, last, n, title, unit, project, trust
            in home.db.execute(_COLUMNS.format(more=more))]


def explain_decay(home: Home, handle: str) -> tuple[str, Decay]:
    """(title, score taken apart) of one record; looking is not a use."""
    home.fold_usage()
    row = locate(home, handle)
    if row.kind in ("topic", "global", "episode", "edge"):
        raise Invalid(f"a {row.kind} does not decay", "ask for a record that is used: a note, a chunk, a memo, a work")
    return row.title, take_apart(importance=0.5 if row.importance is None else row.importance, created=row.created,
                                 usage=read.usage_of(home.db, row), type_=row.type, now=home.clock(),
                                 pinned=bool(row.pinned) or _marked(home, row.id), kind=row.kind)


def _marked(home: Home, record: str) -> bool:
    return home.db.execute("SELECT 1 FROM links WHERE a = ? AND word = 'pinned'", (record,)).fetchone() is not None
