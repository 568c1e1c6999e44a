"""Searching and weighing: the candidates of a question with every part of their scores, best first.

Filters hold for every candidate, whichever way it came; what is never delivered is no candidate. A passage's
score comes from `rank`; what its record adds stands here: that the question names it outright, that a link
leads to it from a good hit, what people and use say of it (importance, pin, decay, age). What stands before
what, and what is told once, are the rules of `fold`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from otolith.home import Home
from otolith.index.around import Passage
from otolith.index.store import Index
from otolith.meaning import Sense, near_to, sense
from otolith.model.decay import DAY, LAMBDA, usage_factor, weight
from otolith.model.kinds import KINDS
from otolith.model.recall import Filter
from otolith.model.retold import retells, telling_words
from otolith.recall import rank
from otolith.recall.fold import (
    Replaced,
    Weighed,
    by_id,
    fold_copies,
    fold_echoes,
    once,
    put_answers_first,
    put_news_first,
    sink,
)
from otolith.recall.question import Question, read_question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HANDLE = {"id": 20.0, "title": 20.0, "name": 20.0, "path": 20.0, "file": 12.0, "tag": 5.0}
IMPORTANCE = 0.8  # times what importance is above or below the middle
STANDING = 0.3  # times the decay score, at most 1
RECENT, HALF_LIFE = 0.3, 30.0  # for what is new, halved every so many days
PINNED = 1.0
CHOSEN = 1.0  # for passing the filter, where nothing is asked; keeps the score of what weighs little above 0
ECHO = -1.5  # what repeats others has their words together, so it matches twice what they match once
# share of its neighbour's score that a link brings, for neighbours among so many best
LINKED, HEADS = 0.35, 5
FORGOTTEN = 0.01  # the score of a turn that says what was forgotten
# the cosine below which a passage without any of the question's words, its own or nearby, is no answer
FLOOR = 0.30
TELLING, RARE = 16, 12  # words of the best turn by which later ones are looked for; passages with a rare one
WEIGHED, SLACK = 3, 30  # candidates weighed: so many times what is asked for, and so many more


class Candidates:
    """The candidates, best first, and how they were found."""

    def __init__(self, question: Question, weights: rank.Weights, allowed: NDArray[np.bool_] | None,
                 withheld: NDArray[np.int64], passages: int) -> None:
        self.question, self.weights, self.allowed = question, weights, allowed
        self.mask = rank.without(allowed, withheld, passages)
        self.best: list[Weighed] = []
        self.notices: list[str] = []
        self.unknown: list[str] = []  # names in the question that no passage has
        self.complete = True  # nothing else could be found by looking further

    def passes(self, n: int) -> bool:
        """May a passage be delivered?"""
        return self.mask is None or (n < len(self.mask) and bool(self.mask[n]))

    def passes_filters(self, n: int) -> bool:
        """Do the filters let a passage pass, be it ever delivered or not?"""
        return self.allowed is None or (n < len(self.allowed) and bool(self.allowed[n]))


def find(home: Home, query: str, chosen: Filter, limit: int, providers: Any) -> Candidates:
    """Look every way there is and weigh what comes."""
    index, now = home.index, home.clock() if chosen.as_of is None else chosen.as_of
    question, notices = read_question(query, index.words.speakers(), now), list[str]()
    asked = bool(query.strip())
    felt = sense(index, home.config, question.meaning, providers, notices) if asked else None
    candidates = Candidates(question, _weights(felt),
                            index.around.allowed(chosen, home.config.projects),
                            index.around.withheld(rejected=chosen.as_of is None), index.words.last_passage())
    candidates.notices = notices
    if not asked:
        return _by_filter(home, candidates, chosen, limit, now)
    named = {handle.id: handle.how for handle in index.words.handles(query)}
    best = _by_passage(home, candidates, felt, named, limit)
    if question.only_time and question.span:
        for candidate in best:
            candidate.how = "time" if question.span.nearness(candidate.passage.said) == 1.0 else None
    for candidate in best:
        _weigh_record(candidate, now)
        if (how := named.get(candidate.passage.id)) is not None:
            candidate.how = how
            candidate.parts["handle"] = HANDLE[how.split(" ")[0]]
            candidate.why.insert(0, how)
    _weigh_usage(home, best, now, counted=chosen.as_of is None)
    best = _follow_links(home, candidates, once(best), chosen.as_of)
    best = fold_copies(best, chosen.kind)
    put_answers_first(best)
    best = _sink(home, candidates, best, chosen.as_of)
    _outdate(home, candidates, best, chosen.as_of)
    _retell(home, candidates, best)
    _sink_forgotten(home, best, chosen.as_of)
    best = _fold_echoes(home, candidates, best, chosen)
    best = [candidate for candidate in best if candidate.score > 0 or candidate.superseded_by
            or candidate.passage.sunk]
    candidates.best = sorted(best, key=lambda candidate: (-candidate.score, candidate.passage.n))
    _doubt(candidates)
    return candidates


def _doubt(candidates: Candidates) -> None:
    """A question about somebody or something of which nothing is known: all that is found answers it less."""
    for candidate in candidates.best if candidates.unknown else ():
        candidate.parts["unknown"] = candidates.weights.unknown
        candidate.why.append(f"nothing is known of {', '.join(candidates.unknown)}")


def _weights(felt: Sense | None) -> rank.Weights:
    """Those for what answers: by words alone, by a model, by a model and its word pieces."""
    if felt is None:
        return rank.weights_of("words")
    return rank.weights_of(felt.embedder.name if felt.asked is not None else "static")


def _by_filter(home: Home, candidates: Candidates, chosen: Filter, limit: int, now: float) -> Candidates:
    """Without a question: the newest and the weightiest that pass the filter, by what their records add."""
    most = WEIGHED * limit + SLACK
    openings = home.index.around.chosen(chosen, home.config.projects, most)
    candidates.complete = len(openings) < most
    best = [Weighed(passage, {"chosen": CHOSEN}) for passage in openings if candidates.passes(passage.n)]
    for candidate in best:
        candidate.how = "chosen"
        candidate.why.append("chosen by the filter")
        _weigh_record(candidate, now)
    _weigh_usage(home, best, now, counted=chosen.as_of is None)
    best = _sink(home, candidates, fold_copies(best, chosen.kind), chosen.as_of)
    candidates.best = sorted(best, key=lambda candidate: (-candidate.score, candidate.passage.n))
    return candidates


def _by_passage(home: Home, candidates: Candidates, felt: Sense | None, named: dict[str, str],
                limit: int) -> list[Weighed]:
    """The best passages by words and meaning, and the opening of every record that is named."""
    import numpy as np

    index, question = home.index, candidates.question
    rows, meant = rank.look_up(index, question.words)
    candidates.unknown = rank.unknown(question, rows)
    total, seeding = index.words.count_passages(), max(rank.SEEDS, rank.SEEDS_A_HIT * limit)
    rare = rank.rarity([len(part) for part in rows], total)
    by_words = rank.best_by_words(rows, rare, candidates.mask, seeding)
    heavy = index.around.weighty()  # of many that match alike, what people marked is not left to chance
    marked = rank.best_by_words(rows, rare, heavy, seeding) if heavy is not None else by_words[:0]
    by_meaning = felt.nearest(seeding, candidates.mask) if felt is not None else by_words[:0]
    openings, dated = _openings(home, candidates, named, seeding)
    seeds = rank.merged(rank.merged(by_words, marked), by_meaning)
    seeds = rank.merged(seeds, np.array(sorted({*openings, *dated}), np.int64))
    spots = rank.with_neighbours(index, seeds)
    if not len(spots.numbers):
        return []

    columns = rank.gather(spots, seeds, question, rows, total, lambda numbers: near_to(
        felt, index, numbers, candidates.notices))
    numbers = columns.numbers.tolist()
    parts = rank.rank(columns, candidates.weights)
    scores = np.sum(list(parts.values()), axis=0)
    opens = rank.among(np.array(sorted(openings), np.int64), columns.numbers)
    near = columns.ranked & ((columns.covered > 0) | (columns.likeness >= FLOOR) | opens)
    listed = set(openings)
    order = [row for row in np.lexsort((columns.numbers, -scores)).tolist()
             if near[row] and (candidates.passes(numbers[row]) or numbers[row] in listed)]
    worded = np.lexsort((-columns.numbers, -columns.covered))[:limit]  # the signs of a text are yet to come
    must = {*openings, *marked.tolist(), *columns.numbers[worded].tolist()}
    most = WEIGHED * limit + SLACK
    kept = {numbers[row]: row for at, row in enumerate(order) if at < most or numbers[row] in must}
    least = columns.likeness[rank.among(by_meaning, columns.numbers)].min(initial=1.0)
    candidates.complete = (len(by_words) < seeding and len(kept) == len(order)
                           and (len(by_meaning) < seeding or least < FLOOR))
    return _weighed(index, candidates, columns, parts, kept, meant)


def _weighed(index: Index, candidates: Candidates, columns: rank.Columns, parts: dict[str, Any],
             kept: dict[int, int], meant: dict[str, str]) -> list[Weighed]:
    """The passages in these rows, each with the parts of its score and the reasons for it."""
    import numpy as np

    question, weights = candidates.question, candidates.weights
    passages, numbers = index.around.passages(kept), columns.numbers.tolist()
    rows = np.array([kept[passage.n] for passage in passages], np.int64)
    # as lists, row by row: plain numbers are much quicker to handle than those of an array
    table = zip(passages, np.array([part[rows] for part in parts.values()]).T.tolist(),
                columns.matches[:, rows].T.tolist(), columns.sources[rows].tolist(),
                columns.covered[rows].tolist(), columns.likeness[rows].tolist(),
                columns.around[rows, rank.REACH - 1 : rank.REACH + 1].tolist(), strict=True)
    best, rare, names = [], columns.rarity.tolist(), list(parts)
    worth = [{name: weights.of(name, source) for name in rank.TEXT_SIGNS if weights.of(name, source)}
             for source in range(len(rank.SOURCES))]
    for passage, values, matched, source, covered, likeness, (before, after) in table:
        own = {name: value for name, value in zip(names, values, strict=True) if value}
        candidate = Weighed(passage, own)
        if of_text := worth[source]:
            signs = rank.text_signs(passage, question, matched, rare, of_text)
            own |= {name: sign * of_text[name] for name, sign in signs.items() if sign}
        candidate.covered, candidate.likeness = covered, likeness
        candidate.beside = (numbers[before] if before >= 0 else 0, numbers[after] if after >= 0 else 0)
        candidate.reasons = partial(_reasons, candidate, question, matched, meant)
        best.append(candidate)
    return best


def _openings(home: Home, candidates: Candidates, named: dict[str, str], limit: int) -> tuple[list[int],
                                                                                              list[int]]:
    """(passages that are delivered even without a word of the question, those of the time it names)."""
    around, question = home.index.around, candidates.question
    openings, dated, span = around.openings(named), list[Passage](), question.span
    # A month of any year means looking at every record, so that is done only where nothing else is asked.
    if span and (span.month is None or question.only_time):
        dated = around.within(span.since, span.before, span.month, span.day, limit)
        openings += dated if question.only_time else ()
    return ([passage.n for passage in openings if candidates.passes(passage.n)
             or (passage.sunk and named.get(passage.id) == "id" and candidates.passes_filters(passage.n))],
            [passage.n for passage in dated if candidates.passes(passage.n)])


def _reasons(candidate: Weighed, question: Question, matched: Sequence[float],
             meant: dict[str, str]) -> list[str]:
    parts, why = candidate.parts, []
    words = [word for word, hit in zip(question.words, matched, strict=True) if hit]
    if words:
        read = (f"{word} (read as {meant[word]})" if word in meant else word for word in words)
        why.append("words: " + ", ".join(read))
    elif candidate.covered:
        why.append("words nearby")
    if candidate.likeness > 0:
        why.append(f"meaning {candidate.likeness:.2f}")
    if parts.get("answer"):
        why.append("answers what was asked just before")
    if parts.get("speaker"):
        why.append(f"said by {candidate.passage.speaker}")
    if parts.get("time"):
        within = question.span and question.span.nearness(candidate.passage.said) == 1.0
        why.append(f"from {'' if within else 'soon after '}the time asked about")
    if parts.get("when"):
        why.append("says when")
    return why


def _weigh_record(candidate: Weighed, now: float) -> None:
    """What people said of the record, and its age."""
    passage, parts = candidate.passage, candidate.parts
    if passage.importance is not None and passage.importance != 0.5:
        parts["importance"] = IMPORTANCE * (passage.importance - 0.5)
    parts["recent"] = RECENT * 0.5 ** (max(0.0, now - passage.created) / DAY / HALF_LIFE)
    if KINDS[passage.kind].echo:
        parts["echo"] = ECHO
    if passage.pinned:
        parts["pinned"] = PINNED
        candidate.why.append("pinned")


def _weigh_usage(home: Home, best: Sequence[Weighed], now: float, *, counted: bool) -> None:
    """How well the record stands: seed 004's decay."""
    since = home.usage_since() if counted else {}
    uses = home.index.cards.uses_of({candidate.passage.id for candidate in best}) if counted else {}
    for candidate in best:
        about = candidate.passage
        _, count, last = uses.get(about.id, (about.id, 0, 0.0))
        if (more := since.get(about.id)) is not None:
            count, last = count + more.count, max(last, more.last or 0)
        fading = math.exp(-LAMBDA * max(0.0, now - (last or about.created)) / DAY)
        importance = 0.5 if about.importance is None else about.importance
        decay = importance * fading * usage_factor(count) * weight(about.type, about.kind)
        candidate.parts["standing"] = STANDING * min(1.0, decay)


def _follow_links(home: Home, candidates: Candidates, best: list[Weighed],
                  as_of: float | None) -> list[Weighed]:
    """Add what a link leads to from the best hits; it never comes to stand above where it was reached from.
    """
    by_record = by_id(best)
    heads = dict(list(by_record.items())[-HEADS:])
    hops = [hop for hop in home.index.graph.hops(heads) if as_of is None or (hop.created or 0.0) <= as_of]
    openings = home.index.around.openings({hop.id for hop in hops} - by_record.keys())
    fresh = [Weighed(passage) for passage in openings if candidates.passes(passage.n)]
    by_record |= {candidate.passage.id: candidate for candidate in fresh}
    for hop in hops:
        source, target = heads[hop.source], by_record.get(hop.id)
        if target is None:
            continue
        before = target.parts.get("link", 0.0)
        part = min(LINKED * hop.strength * source.score, source.score - (target.score - before) - 0.01)
        if part > before:
            target.parts["link"] = part
            target.why = [*(reason for reason in target.why if not reason.startswith("linked")),
                          f"linked: {hop.word} {source.passage.id}"]
    return best + fresh


def _sink(home: Home, candidates: Candidates, best: list[Weighed], as_of: float | None) -> list[Weighed]:
    """Let what was replaced, deprecated or rejected sink; what replaces it is brought along."""
    index = home.index
    links = index.graph.replacements({candidate.passage.id for candidate in best}, as_of)
    if not links and not any(candidate.passage.sunk for candidate in best):
        return best
    newer = by_id(best)
    for passage in index.around.openings({new for new in links.values() if new not in newer}):
        if candidates.passes(passage.n):
            best.append(newer.setdefault(passage.id, Weighed(passage)))
    replaced = {candidate.passage.n: Replaced(links[candidate.passage.id]) for candidate in best
                if candidate.passage.id in links}
    sank = {candidate.passage.n for candidate in best
            if candidate.passage.sunk and _sank_by(home, candidate.passage, as_of)}
    return sink(best, replaced, newer, sank)


def _outdate(home: Home, candidates: Candidates, best: list[Weighed], as_of: float | None) -> None:
    """What states an old value stands below what states the new one, where the question is about it."""
    outdated = home.index.claims.outdated({candidate.passage.unit for candidate in best}, as_of)
    if not outdated:
        return
    places = {(candidate.passage.unit, candidate.passage.turn): candidate for candidate in best}
    words = [word.casefold() for word in candidates.question.words]
    # so that a chain goes down in order
    for candidate in sorted(best, key=lambda candidate: -candidate.passage.said):
        for sentence, closing in outdated.get((candidate.passage.unit, candidate.passage.turn), ()):
            if sentence not in candidate.passage.text or not any(word in sentence.casefold()
                                                                 for word in words):
                continue
            newer = places.get((closing.unit, closing.turn))
            if newer is None:
                passage = home.index.around.at(closing.unit, closing.turn)
                if passage is None or not candidates.passes(passage.n):
                    continue
                newer = places[closing.unit, closing.turn] = Weighed(passage)
                best.append(newer)
            if newer is candidate:
                continue
            if newer.score < 0.9 * candidate.score:
                newer.parts["replaces"] = newer.parts.get("replaces",
                                                          0.0) + 0.9 * candidate.score - newer.score
                newer.why.append(f"replaces what {candidate.passage.id} says")
            if candidate.score >= newer.score:
                candidate.parts["outdated"] = candidate.parts.get("outdated",
                                                                  0.0) + newer.score - candidate.score - 0.01
            candidate.why.append(closing.why)
            candidate.outdated_by = closing.record if closing.record != candidate.passage.id else None


def _retell(home: Home, candidates: Candidates, best: list[Weighed]) -> None:
    """What was told anew stands first; so may what only shares a rare word with the best turn."""
    question = candidates.question
    if question.asks_past or question.span is not None:
        return
    first = max((candidate for candidate in best if candidate.spoken), key=lambda candidate: candidate.score,
                default=None)
    if first is not None:
        rows = home.index.words.look_up_all(telling_words(first.passage.text)[:TELLING])
        near = {n for row in rows if len(row) <= RARE for n in row.tolist() if n > first.passage.n}
        for passage in home.index.around.passages(sorted(near - {candidate.passage.n for candidate in best})):
            later = Weighed(passage, {"retold": 0.5 * first.score})
            if later.spoken and passage.said > first.passage.said and candidates.passes(passage.n) \
                    and retells(passage.text, first.passage.text):
                best.append(later)
    put_news_first(best, question.words)


def _sink_forgotten(home: Home, best: list[Weighed], as_of: float | None) -> None:
    """A turn whose sentence states a fact that somebody forgot comes after everything else."""
    turns = [candidate for candidate in best if KINDS[candidate.passage.kind].around == "turns"]
    if not turns:  # nothing is loaded where no dialog is
        return
    for unit, sentence, fact in home.index.facts.forgotten({turn.passage.unit for turn in turns}, as_of):
        for turn in turns:
            if turn.passage.unit == unit and sentence and sentence in turn.passage.text:
                turn.parts["forgotten"] = turn.parts.get("forgotten", 0.0) + FORGOTTEN - turn.score
                turn.why.append(f"says what was forgotten ({fact})")


def _fold_echoes(home: Home, candidates: Candidates, best: list[Weighed], chosen: Filter) -> list[Weighed]:
    """Let aggregates come after the records that they are made from."""
    if not any(candidate.echo for candidate in best):
        return best
    ids = [candidate.passage.id for candidate in best if not candidate.echo]
    made = any(KINDS[candidate.passage.kind].members for candidate in best if candidate.echo)
    wholes = home.index.graph.wholes(ids) if made else {}
    return fold_echoes(best, wholes, chosen.kind, candidates.weights.enough)


def _sank_by(home: Home, passage: Passage, as_of: float | None) -> bool:
    """Had it sunk by then? What replaced or rejected it later does not count."""
    if as_of is None:
        return True
    if KINDS[passage.kind].drawn:
        fact = home.index.facts.of(passage.id, as_of)
        return fact is not None and (fact.user_fact_score == 0 or fact.superseded_by is not None)
    return passage.id not in home.index.graph.replacements([passage.id])
