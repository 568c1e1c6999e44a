"""Delivery: the best candidates as hits, each at the depth asked for or as deep as the budget allows.

The same text is not delivered twice. What does not fit at its depth is told more briefly; the very first hit is cut rather
than left out. What room remains goes to the turns around the hits, nearest first. Tokens are counted, never guessed; but a
text that is too long by its length alone is not counted, so an answer costs what it delivers and not what it was cut from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from otolith.errors import Damaged, NotFound
from otolith.files import codec
from otolith.home import Home
from otolith.index import read, search
from otolith.index.read import Row
from otolith.index.search import Passage
from otolith.model.kinds import KINDS
from otolith.model.recall import Hit
from otolith.model.record import DEPTHS
from otolith.model.shape import plain
from otolith.model.text import first_sentence, fold
from otolith.providers.tokens import count_many, count_tokens, cut, exceeds
from otolith.recall.depth import render
from otolith.recall.finding import Candidate, Found
from otolith.units import shown

BESIDE = 1  # turn on either side that come along when there is no budget
REACH = 25  # turns on either side of a hit that may fill a budget
SPARE = 12  # tokens below which nothing more is tried


def deliver(home: Home, found: Found, *, limit: int, depth: str, budget: int | None, as_of: float | None) -> list[Hit]:
    """The hits, best first; their tokens together are within the budget."""
    hits: list[tuple[Candidate, Hit]] = []
    said: dict[str, str] = {}
    left = budget
    for one in found.best:
        if len(hits) == limit or (left is not None and left < min(SPARE, budget or SPARE) and hits):
            break
        hit = _hit(home, one, depth, (budget, left), said, as_of, shorten=not hits)
        if hit is not None:
            hits.append((one, hit))
            left = None if left is None else left - (hit.tokens or 0)
    if depth in ("full", "complete"):
        return list(_with_context(home, found, hits, left))
    return [hit for _, hit in hits]


def _hit(home: Home, one: Candidate, depth: str, room: tuple[int | None, int | None], said: dict[str, str],
         as_of: float | None, *, shorten: bool) -> Hit | None:
    """The candidate at the deepest depth that fits; None if it is gone, repeats another, or does not fit at all.

    `room` is the whole budget and what is left of it. `said` are the texts delivered so far, each with its record: what has
    a title of its own is named, its text not repeated.
    """
    row = read.find(home.db, one.passage.id)
    record = _record(home, row, depth, as_of) if row else None
    if row is None or (record is None and KINDS[row.kind].around != "turns"):
        return None
    (whole, left), titled = room, KINDS[row.kind].titled
    own = row.id if titled else str(one.passage.n)
    text = _text(home, one.passage, row, record, depth, as_of) if titled else one.passage.text
    first = own if whole is not None and exceeds(text, whole) else said.setdefault(fold(text), own)
    if first != own and not titled:
        return None
    for level in reversed(DEPTHS[: DEPTHS.index(depth) + 1]):
        text = (_text(home, one.passage, row, record, level, as_of) if first == own
                else f"{row.title} (the same text as {first})")
        if (tokens := _count(text, left)) is not None:
            break
    else:
        if not shorten or left is None:
            return None
        text = cut(text, left) or "…"
        tokens = min(left, count_tokens(text))
    about = one.passage
    why = [*one.why, "edited-since"] if as_of is not None and (row.updated or 0.0) > as_of else one.why
    return Hit(
        id=row.id, kind=row.kind, type=row.type, title=row.title, text=text, created=row.created, path=row.unit,
        score=one.score, why=why, tags=read.tags_of(home.db, [row.n]).get(row.n, []), origin=_origin(record, row),
        superseded_by=one.superseded_by or (getattr(record, "deprecated_by", None) if as_of is None else None),
        tokens=tokens, parts=one.parts, record=record, passage={"start": about.start, "end": about.stop, "turn": _number(about.turn)})


def _count(text: str, left: int | None) -> int | None:
    """How many tokens a text has; None if there are not so many left."""
    if left is not None and exceeds(text, left):
        return None
    tokens = count_tokens(text)
    return tokens if left is None or tokens <= left else None


def _record(home: Home, row: Row, depth: str, as_of: float | None) -> Any:
    """The record itself, straight from its file; of an entry only what its turn does not tell."""
    if KINDS[row.kind].drawn:
        from otolith.index.facts import fact_of

        return fact_of(home.db, row.id, as_of)
    if KINDS[row.kind].around == "turns" and depth != "complete":
        return None
    try:
        return shown(home.index, next((record for record in codec.read_unit(home.tree, row.unit)[0] if record.id == row.id), None))
    except (NotFound, Damaged):
        return None


def _text(home: Home, passage: Passage, row: Row, record: Any, depth: str, as_of: float | None) -> str:
    beside = ""
    around = KINDS[row.kind].around
    if depth == "reasoning" and (passage.is_turn or around == "passages"):
        beside = "\n".join(one.text for one in search.around(home.db, passage, 1) if one.n != passage.n)
    if around == "turns" and (depth != "complete" or record is None):
        opening = f"{row.title}. {first_sentence(passage.text, 200)}"
        parts = {"summary": [opening], "outcome": [opening, passage.text], "reasoning": [opening, passage.text, beside]}
        return "\n".join(part for part in parts.get(depth, [passage.text]) if part)
    complete = depth == "complete"
    return render(record, depth, passage=passage.text, beside=beside,
                  links=read.neighbours(home.db, row.id, as_of) if complete else (),
                  usage=home.usage_of(row) if complete and as_of is None else None)


def _origin(record: Any, row: Row) -> Mapping[str, Any]:
    own = (getattr(record, "origin", None) or getattr(getattr(record, "metadata", None), "origin", None)
           or getattr(getattr(record, "meta", None), "origin", None))
    if hasattr(own, "to_dict"):
        shown: Mapping[str, Any] = plain(own)
        return shown
    known = {"agent": row.agent, "session": row.session, "project": row.project, "trust": row.trust}
    return {key: value for key, value in known.items() if value is not None}


def _number(turn: str | None) -> int | str | None:
    return int(turn) if turn is not None and turn.isdecimal() else turn


# The neighbourhood

def _with_context(home: Home, found: Found, hits: list[tuple[Candidate, Hit]], left: int | None) -> Iterator[Hit]:
    """The hits, each with the turns around it that fit: first the nearest of every hit, then those further off."""
    taken = {one.passage.n for one, _ in hits}
    told = {fold(hit.text) for _, hit in hits}
    shown: list[list[tuple[Passage, int]]] = [[] for _ in hits]
    lines = [list(_line(home, found, one, BESIDE if left is None else REACH)) for one, _ in hits]
    for step in range(BESIDE if left is None else REACH):
        near = [(at, passage) for at, line in enumerate(lines) if step < len(line) for passage in line[step]
                if passage.n not in taken and fold(passage.text) not in told]
        for (at, passage), tokens in zip(near, count_many([passage.text for _, passage in near]), strict=True):
            if passage.n not in taken and (left is None or tokens <= left):
                taken.add(passage.n)
                left = None if left is None else left - tokens
                shown[at].append((passage, tokens))
        if left is not None and left < SPARE:
            break
    for (_, hit), around in zip(hits, shown, strict=True):
        around.sort(key=lambda item: (item[0].created, item[0].place, item[0].record, item[0].ord))
        context = [_neighbour(passage, tokens) for passage, tokens in around]
        yield hit.replace(context=context, tokens=(hit.tokens or 0) + sum(tokens for _, tokens in around)) if around else hit


def _line(home: Home, found: Found, one: Candidate, reach: int) -> Iterator[list[Passage]]:
    """The turns at distance 1, 2, … of a hit, as far as the filters let them pass."""
    if not one.passage.is_turn:
        return
    turns = search.around(home.db, one.passage, reach)
    here = next((at for at, turn in enumerate(turns) if turn.n == one.passage.n), 0)
    for step in range(1, reach + 1):
        yield [turns[at] for at in (here - step, here + step) if 0 <= at < len(turns) and found.passes(turns[at].n)]


def _neighbour(passage: Passage, tokens: int) -> dict[str, Any]:
    shown = {"id": passage.id, "turn": _number(passage.turn), "speaker": passage.speaker, "text": passage.text,
             "tokens": tokens}
    return {key: value for key, value in shown.items() if value is not None}
