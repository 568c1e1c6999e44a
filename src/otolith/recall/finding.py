"""Finding and ranking: the candidates of a question with every part of their scores, best first.

A passage's score comes from `rank`; what its record adds stands here: that the question names it outright, that a link
leads to it from a good hit, what people and use say of it (importance, pin, decay, age). A record that was replaced,
deprecated or rejected sinks, and never stands above what replaced it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from otolith.home import Home
from otolith.index import search
from otolith.index.search import Passage
from otolith.meaning import Sense, sense
from otolith.model.dates import mentions_time
from otolith.model.decay import DAY, LAMBDA, usage_factor, weight
from otolith.model.kinds import KINDS
from otolith.model.recall import Filter
from otolith.recall.candidates import SEEDS, SEEDS_A_HIT, among, best_by_words, gather, look_up, merged, with_neighbours
from otolith.recall.question import Question, read_question
from otolith.recall.rank import WEIGHTS, rank, rarity, timely

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HANDLE = {"id": 20.0, "title": 20.0, "name": 20.0, "path": 20.0, "file": 12.0, "tag": 5.0}
IMPORTANCE = 0.8  # times what importance is above or below the middle
STANDING = 0.3  # times the decay score, at most 1
RECENT, HALF_LIFE = 0.3, 30.0  # for what is new, halved every so many days
PINNED = 1.0
ECHO = -1.5  # an edge's title repeats those of its two notes, so it matches twice what they match once
SUNK = -8.0
LINKED, HEADS = 0.35, 5  # share of its neighbour's score that a link brings, for neighbours among so many best
FLOOR = 0.30  # the cosine below which a passage without any of the question's words, its own or nearby, is no answer
SLACK = 30  # candidates weighed beyond three times what is wanted


class Candidate:
    """A passage that may be delivered, and why."""

    def __init__(self, passage: Passage, parts: dict[str, float] | None = None, why: list[str] | None = None) -> None:
        self.passage, self.parts, self.why = passage, parts or {}, why or []
        self.covered = self.likeness = 0.0
        self.how: str | None = None
        self.superseded_by: str | None = None

    @property
    def score(self) -> float:
        return sum(self.parts.values())

    @property
    def key(self) -> int:
        """What may be delivered once: a turn of an entry, any other record as a whole."""
        return -self.passage.n if KINDS[self.passage.kind].around == "turns" else self.passage.record


class Found:
    """The candidates, best first, and how they were found."""

    def __init__(self, question: Question, mask: NDArray[np.bool_] | None) -> None:
        self.question, self.mask = question, mask
        self.best: list[Candidate] = []
        self.notices: list[str] = []
        self.embedder: str | None = None

    def passes(self, n: int) -> bool:
        """Do the filters let a passage pass?"""
        return self.mask is None or (n < len(self.mask) and bool(self.mask[n]))


def find(home: Home, query: str, chosen: Filter, limit: int, providers: Any) -> Found:
    """Look every way there is and weigh what was found."""
    db, now = home.db, home.clock() if chosen.as_of is None else chosen.as_of
    question = read_question(query, lambda word: search.is_speaker(db, word), now)
    found = Found(question, search.allowed(db, chosen, home.config.projects))
    felt = sense(home.index, home.config, question.meaning, providers, found.notices)
    found.embedder = felt.embedder.name if felt else None
    named = {handle.id: handle.how for handle in search.handles(db, query)}
    best = _by_passage(home, found, felt, named, limit)
    if question.only_time and question.span:
        for one in best:
            one.how = "time" if question.span.nearness(one.passage.said) == 1.0 else None
    for one in best:
        _weigh_record(one, now)
        if (how := named.get(one.passage.id)) is not None:
            one.how = how
            one.parts["handle"] = HANDLE[how.split(" ")[0]]
            one.why.insert(0, how)
    _weigh_usage(home, best, now, counted=chosen.as_of is None)
    best = _follow_links(home, found, _once(best), chosen.as_of)
    best = _fold_copies(best, chosen)
    _sink(home, found, best, chosen.as_of)
    found.best = sorted((one for one in best if one.score > 0 or one.superseded_by or one.passage.sunk),
                        key=lambda one: (-one.score, one.passage.n))
    return found


def _by_passage(home: Home, found: Found, felt: Sense | None, named: dict[str, str], limit: int) -> list[Candidate]:
    """The best passages by words and meaning, and the opening of every record that is named."""
    import numpy as np

    db, question = home.db, found.question
    rows, meant = look_up(db, question.words)
    total = search.count_passages(db)
    wanted = max(SEEDS, SEEDS_A_HIT * limit)
    seeds = best_by_words(rows, rare := rarity([len(part) for part in rows], total), found.mask, wanted)
    heavy = search.weighty(db)  # of many that match alike, what people marked is not left to chance
    marked = best_by_words(rows, rare, heavy, wanted) if heavy is not None else seeds[:0]
    seeds = merged(seeds, marked)
    if felt is not None:
        seeds = merged(seeds, felt.nearest(wanted, found.mask))
    told = search.first_passages(db, named)
    span = question.span
    # A month of any year means looking at every record, so that is done only where nothing else is asked.
    dated = search.first_within(db, span.since, span.before, span.month, span.day, wanted) \
        if span and (span.month is None or question.only_time) else []
    openings = [one.n for one in (*told, *(dated if question.only_time else ())) if found.passes(one.n)]
    seeds = merged(seeds, np.array(sorted({*openings, *(one.n for one in dated if found.passes(one.n))}), np.int64))
    spots = with_neighbours(db, seeds.tolist())
    if not spots:
        return []

    def likeness(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        return felt.likeness(numbers, lambda lacking: search.texts(db, lacking)) if felt else np.zeros(len(numbers))

    columns = gather(spots, seeds, question, rows, total, likeness)
    weights = WEIGHTS.get(found.embedder or "static", WEIGHTS["minilm"])
    parts = rank(columns, weights)
    scores = np.sum(list(parts.values()), axis=0)
    near = columns.ranked & ((parts["cover"] > 0) | (columns.likeness >= FLOOR) | among(np.array(sorted(openings), np.int64), columns.numbers))
    order = [row for row in np.lexsort((columns.numbers, -scores)).tolist() if near[row] and found.passes(spots[row].n)]
    must = {*openings, *marked.tolist()}
    kept = {spots[row].n: row for at, row in enumerate(order) if at < 3 * limit + SLACK or spots[row].n in must}
    best = []
    for passage in search.read_passages(db, kept):
        row = kept[passage.n]
        one = Candidate(passage, {name: float(part[row]) for name, part in parts.items() if part[row]})
        if mentions_time(passage.text):
            one.parts["when"] = timely(weights, asks_when=question.asks_when)
        one.covered, one.likeness = float(parts["cover"][row]) / weights.cover, float(columns.likeness[row])
        one.why = _reasons(one, question, [word for word, hit in zip(question.words, columns.matches[:, row], strict=True)
                                           if hit], meant)
        best.append(one)
    return best


def _reasons(one: Candidate, question: Question, words: Sequence[str], meant: dict[str, str]) -> list[str]:
    parts, why = one.parts, []
    if words:
        why.append("words: " + ", ".join(f"{word} (read as {meant[word]})" if word in meant else word for word in words))
    elif parts.get("cover"):
        why.append("words nearby")
    if one.likeness > 0:
        why.append(f"meaning {one.likeness:.2f}")
    if parts.get("answer"):
        why.append("answers what was asked just before")
    if parts.get("speaker"):
        why.append(f"said by {one.passage.speaker}")
    if parts.get("time"):
        why.append("from the time asked about" if question.span and question.span.nearness(one.passage.said) == 1.0
                   else "from soon after the time asked about")
    if parts.get("when") and question.asks_when:
        why.append("says when")
    return why


def _weigh_record(one: Candidate, now: float) -> None:
    """What people said of the record, and its age."""
    passage = one.passage
    if passage.importance is not None and passage.importance != 0.5:
        one.parts["importance"] = IMPORTANCE * (passage.importance - 0.5)
    one.parts["recent"] = RECENT * 0.5 ** (max(0.0, now - passage.created) / DAY / HALF_LIFE)
    if KINDS[passage.kind].echo:
        one.parts["echo"] = ECHO
    if passage.pinned:
        one.parts["pinned"] = PINNED
        one.why.append("pinned")


def _weigh_usage(home: Home, best: Sequence[Candidate], now: float, *, counted: bool) -> None:
    """How well the record stands: seed 004's decay."""
    query = ("SELECT r.id, r.uses + coalesce(u.count, 0), max(coalesce(r.used, 0), coalesce(u.last, 0)) FROM records r "
             "LEFT JOIN usage u ON u.id = r.id WHERE r.id IN (SELECT value FROM json_each(?))")
    ids = json.dumps(list({one.passage.id for one in best}))
    since = home.usage_since() if counted else {}
    uses = {id: (count, last) for id, count, last in home.db.execute(query, (ids,))} if counted else {}
    for one in best:
        about = one.passage
        count, last = uses.get(about.id, (0, 0))
        if (more := since.get(about.id)) is not None:
            count, last = count + more.count, max(last, more.last or 0)
        fading = math.exp(-LAMBDA * max(0.0, now - (last or about.created)) / DAY)
        importance = 0.5 if about.importance is None else about.importance
        one.parts["standing"] = STANDING * min(1.0, importance * fading * usage_factor(count) * weight(about.type, about.kind))


def _once(best: Iterable[Candidate]) -> list[Candidate]:
    """Several turns of an entry, but any other record once, by its best passage."""
    kept: dict[int, Candidate] = {}
    for one in best:
        before = kept.get(one.key)
        if before is None or one.score > before.score:
            kept[one.key] = one
    return list(kept.values())


def _follow_links(home: Home, found: Found, best: list[Candidate], as_of: float | None) -> list[Candidate]:
    """Add what a link leads to from the best hits; it never comes to stand above where it was reached from."""
    known = {one.passage.id: one for one in sorted(best, key=lambda one: one.score)}  # of an entry's turns the best
    heads = dict(list(known.items())[-HEADS:])
    hops = [hop for hop in search.hops(home.db, list(heads)) if as_of is None or (hop.created or 0.0) <= as_of]
    fresh = [Candidate(one) for one in search.first_passages(home.db, {hop.id for hop in hops} - known.keys())
             if found.passes(one.n)]
    known |= {one.passage.id: one for one in fresh}
    for hop in hops:
        source, target = heads[hop.source], known.get(hop.id)
        if target is None:
            continue
        before = target.parts.get("link", 0.0)
        part = min(LINKED * hop.strength * source.score, source.score - (target.score - before) - 0.01)
        if part > before:
            target.parts["link"] = part
            target.why = [*(reason for reason in target.why if not reason.startswith("linked")),
                          f"linked: {hop.word} {source.passage.id}"]
    return best + fresh


def _fold_copies(best: list[Candidate], chosen: Filter) -> list[Candidate]:
    """Leave out facts that only repeat their turn. A person's word stays."""
    turns: dict[str, list[Candidate]] = {}
    for one in best:
        if KINDS[one.passage.kind].around == "turns":
            turns.setdefault(one.passage.unit, []).append(one)

    def repeats(one: Candidate) -> bool:
        about = one.passage
        drawn = KINDS[about.kind].drawn and about.kind not in chosen.kind
        if not drawn or about.pinned or about.importance != 0.5:
            return False
        sentence = about.text.partition("\n")[2].strip()
        said = turns.get(about.unit.removesuffix("/summary.json"), ())
        return bool(sentence) and any(sentence in turn.passage.text for turn in said)

    return [one for one in best if not repeats(one)]


def _sink(home: Home, found: Found, best: list[Candidate], as_of: float | None) -> None:
    """Replaced, deprecated and rejected records go down, below what replaced them."""
    db = home.db
    replaced = search.replacements(db, {one.passage.id for one in best}, as_of)
    by_id = {one.passage.id: one for one in sorted(best, key=lambda one: one.score)}
    missing = search.first_passages(db, {new for new in replaced.values() if new not in by_id})
    for passage in missing:
        if found.passes(passage.n):
            best.append(by_id.setdefault(passage.id, Candidate(passage)))
    for one in [one for one in best if one.passage.id in replaced]:
        one.superseded_by = replaced[one.passage.id]
        newer = by_id.get(one.superseded_by)
        if newer is not None and newer.score < 0.9 * one.score:
            newer.parts["replaces"] = 0.9 * one.score - newer.score
            newer.why.append(f"replaces {one.passage.id}")
    for one in [one for one in best if one.passage.sunk or one.superseded_by]:
        if one.superseded_by or _sank_by(home, one.passage, as_of):
            scored = KINDS[one.passage.kind].forget == "score"  # a person said: never show it
            if scored and not one.superseded_by and one.how != "id":
                best.remove(one)
                continue
            one.parts["sunk"] = SUNK
            one.why.append(f"superseded by {one.superseded_by}" if one.superseded_by else "deprecated or rejected")
    for one in sorted(best, key=lambda one: -one.passage.created):  # the newest first, so that a chain sinks in order
        newer = by_id.get(one.superseded_by or "")
        if newer is not None and one.score >= newer.score:
            one.parts["sunk"] -= one.score - newer.score + 0.01


def _sank_by(home: Home, passage: Passage, as_of: float | None) -> bool:
    """Had it sunk by then? What replaced or rejected it later does not count."""
    if as_of is None:
        return True
    if KINDS[passage.kind].drawn:
        from otolith.index.facts import fact_of

        fact = fact_of(home.db, passage.id, as_of)
        return fact is not None and (fact.user_fact_score == 0 or fact.superseded_by is not None)
    return passage.id not in search.replacements(home.db, [passage.id])
