"""From a question to an answer: look for candidates every way there is, rank them, see that they are fresh,
deliver.

What a part of the search could not do is a notice, never an error. Only what is delivered is counted as used,
once a call. Each hit comes at the depth asked for or as deep as the budget allows. The same text is not
delivered twice; what does not fit at its depth is shown more briefly, and the very first hit is cut rather
than left out. What room remains goes to the turns around the hits, nearest first. Tokens are counted, never
guessed; but a text that is too long by its length alone is not counted, so an answer costs what it delivers
and not what it was cut from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from otolith.errors import Busy, CannotWrite, Damaged, Invalid, NotFound
from otolith.files import codec
from otolith.home import Home
from otolith.index.around import Passage
from otolith.index.database import Row
from otolith.model.kinds import KINDS, origin_of
from otolith.model.recall import Filter, Hit, Recall
from otolith.model.record import DEPTHS, Version
from otolith.model.shape import plain
from otolith.model.text import first_sentence, fold
from otolith.providers.tokens import count_many, count_tokens, cut, exceeds
from otolith.recall.depth import render
from otolith.recall.fold import Weighed, about_somebody_else, repeats_question
from otolith.recall.search import Candidates, find
from otolith.units import shown

LONGEST_LIMIT = 1000
BESIDE = 1  # turn on either side that come along when there is no budget
REACH = 25  # turns on either side of a hit that may fill a budget
FURTHER = 4  # times as far is looked when too few are left to deliver
FEW_WORDS, ALL_WORDS = 2, 0.999  # a question so short is answered by what has all of its words
ANSWERED = 3  # first hits within a budget whose answers come before further hits
MOST_OF_ONE = 2  # hits of one other person, so that nobody floods an answer
MOST_READ = 1000  # records that are kept at hand
_Read = dict[str, tuple[Version, Any]]
SPARE = 12  # tokens below which nothing more is tried


def recall(home: Home, query: str, chosen: Filter, *, limit: int = 10, depth: str = "full",
           budget: int | None = None, providers: Any = None) -> Recall:
    """The records that answer a question, best first, at a depth, within a budget of tokens."""
    _check(query, chosen, limit, depth, budget)
    home.ensure_fresh()
    candidates = find(home, query, chosen, limit, providers)
    if home.touch([candidate.passage.unit for candidate in candidates.best[: 2 * limit]]):
        candidates = find(home, query, chosen, limit, providers)
    if not candidates.best and _look_again(home):  # before "nothing is known" is said
        candidates = find(home, query, chosen, limit, providers)
    hits, left = _deliver(home, candidates, limit, depth, budget, chosen.as_of)
    reach = limit
    while len(hits) < limit and not candidates.complete and (left is None or left >= SPARE):
        reach *= FURTHER  # what was folded makes room for what comes next
        candidates = find(home, query, chosen, reach, providers)
        hits, left = _deliver(home, candidates, limit, depth, budget, chosen.as_of)
    if depth in ("full", "complete"):
        hits = list(_with_context(home, candidates, hits, left))
    delivered = [hit for _, hit in hits]
    home.used(list(dict.fromkeys(hit.id for hit in delivered)))
    return Recall(query=query, depth=depth, budget=budget, hits=delivered,
                  tokens=sum(hit.tokens or 0 for hit in delivered), enough=_enough(candidates, hits),
                  about_somebody_else=about_somebody_else(candidates.best, candidates.question.names,
                                                          candidates.weights.margin),
                  weights=candidates.weights.id, index_lag=home.lag(),
                  notices=list(dict.fromkeys(candidates.notices)))


def _look_again(home: Home) -> bool:
    """Whether something changed since the last sweep: of a large home that may be a moment ago."""
    try:
        return bool(home.sweep())
    except (Busy, CannotWrite):
        return False


def _check(query: Any, chosen: Filter, limit: Any, depth: Any, budget: Any) -> None:
    if not isinstance(query, str):
        raise Invalid(f"the question must be text, not {type(query).__name__}")
    if not query.strip() and not chosen:
        raise Invalid("the question is empty", "say what to look for, or give a filter")
    if depth not in DEPTHS:
        raise Invalid(f"unknown depth {depth!r}", f"use one of {', '.join(DEPTHS)}")
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= LONGEST_LIMIT:
        raise Invalid(f"the limit must be from 1 to {LONGEST_LIMIT}; got {limit!r}")
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int) or budget < 1):
        raise Invalid(f"the budget must be a positive number of tokens; got {budget!r}",
                      "leave it out for no limit")


def _enough(candidates: Candidates, hits: Sequence[tuple[Weighed, Hit]]) -> bool:
    """Is there an answer: is one named outright, or does one score as an answer, its age left aside?

    What is newer comes first among what says the same; so an answer may stand a little below the first. Who
    asks by one word or two wants what has them: so little cannot score as a question does.
    """
    short = len(candidates.question.words) <= FEW_WORDS
    return any(candidate.how is not None or candidate.evidence >= candidates.weights.enough
               or (short and candidate.covered > ALL_WORDS) for candidate, _ in hits)


def _deliver(home: Home, candidates: Candidates, limit: int, depth: str, budget: int | None,
             as_of: float | None) -> tuple[list[tuple[Weighed, Hit]], int | None]:
    """(the hits, best first; what is left of the budget)."""
    hits: list[tuple[Weighed, Hit]] = []
    texts: dict[str, str] = {}
    questions: list[frozenset[str]] = []
    others: Counter[str] = Counter()  # hits of each other person
    left = budget
    rows = home.index.cards.rows_of({candidate.passage.id for candidate in candidates.best[: 2 * limit]})
    read: _Read = home.index.kept("records", dict)
    for candidate in candidates.best:
        if len(hits) == limit or (left is not None and left < min(SPARE, budget or SPARE) and hits):
            break
        if repeats_question(candidate, questions):
            continue
        row = rows.get(candidate.passage.id) or home.index.cards.find(candidate.passage.id)
        if others[who := _another(row)] >= MOST_OF_ONE:
            continue
        record = _record(home, row, depth, as_of, read)
        hit = _hit(home, candidate, row, record, depth, (budget, left), texts, as_of, shorten=not hits)
        if hit is not None:
            hits.append((candidate, hit))
            others[who] += bool(who)
            left = None if left is None else left - (hit.tokens or 0)
            if depth in ("full", "complete") and (left is None or len(hits) <= ANSWERED):
                left = _bring_answer(home, candidates, [candidate for candidate, _ in hits], left)
    return _tagged(home, hits), left


def _tagged(home: Home, hits: Sequence[tuple[Weighed, Hit]]) -> list[tuple[Weighed, Hit]]:
    tags = home.index.cards.tags_of({candidate.passage.record for candidate, _ in hits})
    return [(candidate, hit.replace(tags=tags[candidate.passage.record]) if candidate.passage.record in tags
             else hit) for candidate, hit in hits]


def _another(row: Row | None) -> str:
    """Whose word a record is, if another person's."""
    return row.principal or ("a peer" if row.trust == "peer" else "") if row else ""


def _bring_answer(home: Home, candidates: Candidates, delivered: Sequence[Weighed],
                  left: int | None) -> int | None:
    """Put what followed a turn that asks into its context, if there is room; what is left of the budget."""
    asking = delivered[-1]
    if asking.passage.asks:
        turns = home.index.around.beside(asking.passage, 1)
        taken = {candidate.passage.n for candidate in delivered}
        taken |= {passage.n for candidate in delivered for passage, _ in candidate.context}
        answer = next((after for before, after in pairwise(turns) if before.n == asking.passage.n), None)
        if answer and answer.n not in taken and candidates.passes(answer.n):
            tokens = _count(answer.text, left)
            if tokens is not None:
                asking.context = [(answer, tokens)]
                return None if left is None else left - tokens
    return left


def _hit(home: Home, candidate: Weighed, row: Row | None, record: Any, depth: str,
         room: tuple[int | None, int | None], texts: dict[str, str], as_of: float | None, *,
         shorten: bool) -> Hit | None:
    """The candidate at the deepest depth that fits; None if it is gone, repeats another, or does not fit at
    all.

    `room` is the whole budget and what is left of it. `texts` are those delivered so far, each with its
    record: what has a title of its own is named, its text not repeated.
    """
    about = candidate.passage
    if row is None or (record is None and KINDS[row.kind].around != "turns"):
        return None
    (whole, left), titled = room, KINDS[row.kind].titled
    own = row.id if titled else str(about.n)
    text = _text(home, about, row, record, depth, as_of) if titled else about.text
    first = own if whole is not None and exceeds(text, whole) else texts.setdefault(fold(text), own)
    if first != own and not titled:
        return None
    for level in reversed(DEPTHS[: DEPTHS.index(depth) + 1]):
        text = (_text(home, about, row, record, level, as_of) if first == own
                else f"{row.title} (the same text as {first})")
        if (tokens := _count(text, left)) is not None:
            break
    else:
        if not shorten or left is None:
            return None
        text = cut(text, left) or "…"
        tokens = min(left, count_tokens(text))
    why = [*candidate.why, "edited-since"] if as_of is not None and (row.updated
                                                                     or 0.0) > as_of else candidate.why
    deprecated = getattr(record, "deprecated_by", None) if as_of is None else None
    return Hit(
        id=row.id, kind=row.kind, type=row.type, title=row.title, text=text, created=row.created,
               path=row.unit,
        score=candidate.score, why=why, also=candidate.also,
        origin=_origin(record, row), tokens=tokens,
        superseded_by=candidate.superseded_by or candidate.outdated_by or deprecated,
        parts=candidate.parts, record=record,
        dialog=None if about.strand is None else str(about.strand),
        passage={"start": about.start, "end": about.stop, "turn": _number(about.turn)})


def _count(text: str, left: int | None) -> int | None:
    """How many tokens a text has; None if there are not so many left."""
    if left is not None and exceeds(text, left):
        return None
    tokens = count_tokens(text)
    return tokens if left is None or tokens <= left else None


def _record(home: Home, row: Row | None, depth: str, as_of: float | None, read: _Read) -> Any:
    """The record itself, straight from its file, or as `read` from it a while ago if that is as it was; of an
    entry only what its turn does not say.
    """
    if row is None:
        return None
    kind = KINDS[row.kind]
    if kind.drawn:
        return home.index.facts.of(row.id, as_of)
    if kind.around == "turns" and depth != "complete":
        return None
    now, (version, record) = home.tree.look(row.unit), read.get(row.id, (None, None))
    if now is None or now != version or not now.settled:
        try:
            records, files = codec.read_unit(home.tree, row.unit)
        except (NotFound, Damaged):
            return None
        record = next((record for record in records if record.id == row.id), None)
        if len(read) > MOST_READ:
            read.clear()
        if row.unit in files:
            read[row.id] = files[row.unit][0], record
    return shown(home.index, record)


def _text(home: Home, passage: Passage, row: Row, record: Any, depth: str, as_of: float | None) -> str:
    around, beside = KINDS[row.kind].around, ""
    if depth == "reasoning" and (passage.is_turn or around == "passages"):
        beside = "\n".join(near.text for near in home.index.around.beside(passage, 1) if near.n != passage.n)
    if around == "turns" and (depth != "complete" or record is None):
        opening = f"{row.title}. {first_sentence(passage.text, 200)}"
        parts = {"summary": [opening], "outcome": [opening, passage.text],
                 "reasoning": [opening, passage.text, beside]}
        return "\n".join(part for part in parts.get(depth, [passage.text]) if part)
    complete = depth == "complete"
    return render(record, depth, passage=passage.text, beside=beside,
                  links=home.index.graph.neighbours(row.id, as_of) if complete else (),
                  usage=home.usage_of(row) if complete and as_of is None else None)


def _origin(record: Any, row: Row) -> Mapping[str, Any]:
    own = origin_of(record) if record is not None else None
    if hasattr(own, "to_dict"):
        fields: Mapping[str, Any] = {**plain(own), "trust": row.trust}  # as it counts now
        return fields
    fields = {"agent": row.agent, "session": row.session, "project": row.project, "trust": row.trust,
              "principal": row.principal}
    return {key: value for key, value in fields.items() if value is not None}


def _number(turn: str | None) -> int | str | None:
    return int(turn) if turn is not None and turn.isdecimal() else turn


# The neighbourhood

def _with_context(home: Home, candidates: Candidates, hits: list[tuple[Weighed, Hit]],
                  left: int | None) -> Iterator[tuple[Weighed, Hit]]:
    """The hits, each with the turns around it that fit, the nearest of every hit first."""
    taken = {candidate.passage.n for candidate, _ in hits}
    beside = [[item for item in candidate.context if item[0].n not in taken] for candidate, _ in hits]
    taken.update(passage.n for around in beside for passage, _ in around)
    texts = {fold(hit.text) for _, hit in hits}
    reach = BESIDE if left is None else REACH
    lines = _lines(home, candidates, [candidate for candidate, _ in hits], reach)
    for step in range(reach):
        near = [(at, passage) for at, line in enumerate(lines) if step < len(line) for passage in line[step]
                if passage.n not in taken and fold(passage.text) not in texts]
        for (at, passage), tokens in zip(near, count_many([passage.text for _, passage in near]),
                                         strict=True):
            if passage.n not in taken and (left is None or tokens <= left):
                taken.add(passage.n)
                left = None if left is None else left - tokens
                beside[at].append((passage, tokens))
        if left is not None and left < SPARE:
            break
    for (candidate, hit), around in zip(hits, beside, strict=True):
        around.sort(key=lambda item: (item[0].created, item[0].place, item[0].record, item[0].ord))
        context = [_neighbour(passage, tokens) for passage, tokens in around]
        more = sum(tokens for _, tokens in around)
        yield candidate, (hit.replace(context=context, tokens=(hit.tokens or 0) + more) if around else hit)


def _lines(home: Home, candidates: Candidates, delivered: Sequence[Weighed],
           reach: int) -> list[list[list[Passage]]]:
    """For each hit the turns at distance 1, 2, …; those right beside it are known from ranking."""
    near = [candidate for candidate in delivered if candidate.beside is not None] if reach == 1 else []
    numbers = {n for candidate in near for n in candidate.beside or () if candidates.passes(n)}
    read = {passage.n: passage for passage in home.index.around.passages(numbers)} if numbers else {}
    return [[[read[n] for n in candidate.beside or () if n in read]] if candidate in near
            else list(_line(home, candidates, candidate, reach)) for candidate in delivered]


def _line(home: Home, candidates: Candidates, candidate: Weighed, reach: int) -> Iterator[list[Passage]]:
    """The turns at distance 1, 2, … of a hit, as far as the filters let them pass."""
    if not candidate.passage.is_turn:
        return
    turns = home.index.around.beside(candidate.passage, reach)
    here = next((at for at, turn in enumerate(turns) if turn.n == candidate.passage.n), 0)
    for step in range(1, reach + 1):
        yield [turns[at] for at in (here - step, here + step)
               if 0 <= at < len(turns) and candidates.passes(turns[at].n)]


def _neighbour(passage: Passage, tokens: int) -> dict[str, Any]:
    fields = {"id": passage.id, "turn": _number(passage.turn), "speaker": passage.speaker,
              "text": passage.text,
              "tokens": tokens}
    return {key: value for key, value in fields.items() if value is not None}
