"""From a question to ranked passages: rows of full text and nearest vectors become columns, and columns a
score.

For each passage the score adds: its share of the question's rare words; how much of the question the passage
and the two turns on either side cover together; its likeness in meaning and, less, that of its neighbours;
how well its best word pieces match the question's, and what it means among what was said before it;
whether it answers a question that was just asked in the question's words; whether the person asked about is
the one who speaks; whether words that follow one another in the question do so in it; whether it says when,
for a question that asks when; whether it was said at the time the question names. A turn that itself asks
counts a little less. Arithmetic over arrays but for a few looks into the index. What a sign is worth
depends on where the passage comes from; `bench/fit.py` fits the weights and writes them to weights.json.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from otolith.index.around import Passage
from otolith.index.store import Index
from otolith.model.dates import mentions_time
from otolith.model.shape import Value
from otolith.model.words import stem
from otolith.recall.question import AGENT_ROLES, Question, closest, mistyped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from otolith.index.places import Neighbourhood

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

# from words, and as many from meaning: so many, or more where more hits are wanted
SEEDS, SEEDS_A_HIT = 60, 2
RANKED = 1  # turns beside a seed that are ranked with it; two find no more
REACH = 2  # turns on either side that have a say


BM25, LENGTH = (1.2, 0.75), 700.0  # k and b; the length, in characters, that is neither long nor short
FEW_PASSAGES = 100  # below which a memory is taken to have so many
FEW_TIMES = 10  # sessions below which their order in time says little
TEXT_SIGNS = ("timely", "when", "title", "repeated", "pairs")
SOURCES = ("talk", "agent", "text")  # dialogs of people; of a user with an assistant; all else


class Weights(Value):
    """What each sign is worth by source, from which score on an answer is one; by embedder, one file of all.

    The scores of one file are comparable: a sum of signs on a fixed scale. A sign that the file does not name
    counts nothing.
    """

    id: str  # of the file: its hash
    enough: float  # the score from which on the first hit answers
    margin: float  # by how much others have to say it better than the person named
    unknown: float  # what it takes from every score that the question names what no passage has
    signs: Mapping[str, Sequence[float]]  # name → its weight in each source

    def weigh(self, name: str, sources: Ints) -> Floats:
        """The weight of a sign for each of some passages."""
        import numpy as np

        return np.asarray(self.signs.get(name, (0.0,) * len(SOURCES)), np.float64)[sources]

    def of(self, name: str, source: int) -> float:
        return float(self.signs[name][source]) if name in self.signs else 0.0


@cache
def weights_of(embedder: str) -> Weights:
    """The weights for an embedder's vectors, `words` for none; others are weighed like the built-in one."""
    data = Path(__file__).with_name("weights.json").read_bytes()
    of_all = json.loads(data)
    return Weights(id=hashlib.sha256(data).hexdigest()[:8], **of_all.get(embedder, of_all["static"]))


class Columns(Value):
    """Passages as columns; yes and no are 1.0 and 0.0.

    `around[i]` are the rows of the turns at -2, -1, +1, +2 of row i, or -1 where there is none. Only those in
    `ranked` are to be delivered; the others are there because their neighbours look at them.
    """

    numbers: Ints
    ranked: Bools
    matches: Floats  # words of the question × passages
    rarity: Floats  # of each word, 0..1
    likeness: Floats  # cosine with the question; zeros without vectors
    pieces: Floats  # how well its best word piece matches each of the question's, which are the rows, if any
    block: Floats  # cosine of what it means among the passages before it; zeros without such vectors
    around: Ints
    by_named: Floats  # said by somebody whom the question names
    asking: Floats
    nearness: Floats  # to the time the question names
    said: Floats  # when
    sources: Ints
    held: Floats  # words × passages: how many passages of the same record have the word
    sizes: Floats  # of the record, in passages

    @cached_property
    def covered(self) -> Floats:
        """The share of the question that a passage and the turns around it hold together."""

        share: Floats = self.rarity @ self.best_around(self.matches) / (self.rarity.sum() or 1.0)
        return share

    def best_around(self, rows: Floats) -> Floats:
        """The best of a passage and the turns around it, row by row."""
        import numpy as np

        best = rows
        for step in range(2 * REACH):
            best = np.maximum(best, _from(rows, self.around[:, step]))
        return best


def rarity(found: Sequence[int], total: int) -> Floats:
    """How telling a word is, by the number of passages that have it: 1 for a single one, near 0 for every
    one.

    The idf of BM25 divided by its largest value, so that the words' part of the score does not grow with the
    memory. In a memory of a few passages nothing is known of how rare a word is: a word of its only record
    must not count for less than one that it does not have.
    """
    import numpy as np

    counts, total = np.asarray(found, np.float64), max(total, FEW_PASSAGES) if total else 0
    largest = np.log1p((total - 0.5) / 1.5) if total else 1.0
    return np.log1p(np.maximum(total - counts + 0.5, 0.0) / (counts + 0.5)) / largest


def rank(candidates: Columns, weights: Weights) -> dict[str, Floats]:
    """The parts of each candidate's score, by the name of their sign; their sum is the score.

    What takes a passage's text (`text_signs`) is added for the best only.
    """
    return {name: weights.weigh(name, candidates.sources) * sign for name, sign in signs(candidates).items()
            if name in weights.signs}


def signs(candidates: Columns) -> dict[str, Floats]:
    """Each sign before it is weighed. A new one is a line here and a line in the file of weights."""
    import numpy as np

    seen = candidates
    word_score, mass = seen.rarity @ seen.matches, seen.rarity.sum() or 1.0
    near = np.zeros(len(seen.numbers))
    for step, share in enumerate((0.5, 1.0, 1.0, 0.5)):
        near = near + share * _from(seen.likeness, seen.around[:, step])
    before = seen.around[:, REACH - 1]
    return {
        "words": word_score,
        "share": word_score / mass,
        "cover": seen.covered,
        "whole": seen.rarity @ (seen.held > 0) / mass,
        "meaning": seen.likeness,
        "meaning nearby": near,
        "pieces": seen.pieces.sum(axis=0),
        "pieces nearby": seen.best_around(seen.pieces).sum(axis=0),
        "block": seen.block,
        "answer": _from(word_score, before) * _from(seen.asking, before),
        "speaker": seen.by_named,
        "time": seen.nearness,
        "asking": seen.asking,
        "later": _recency(seen),
        "base": np.ones(len(seen.numbers)),
    }


def _recency(seen: Columns) -> Floats:
    """The place of each in the order of time: -0.5 for the oldest, 0.5 for the newest, less if there are few.

    Of sessions that say the same the latest is usually meant. A few are hardly told apart by it.
    """
    import numpy as np

    times = np.array(sorted(set(seen.said[seen.ranked].tolist())), np.float64)
    spread = max(len(times) - 1, FEW_TIMES)
    places: Floats = (np.searchsorted(times, seen.said) - (len(times) - 1) / 2) / spread
    return places


def text_signs(passage: Passage, question: Question, matched: Sequence[float], rarity: Sequence[float],
               names: Collection[str]) -> dict[str, float]:
    """Those of the signs that take a passage's text or title which are named, for the best only.

    That it says when, and that the question asks just that. Which of the question's words its title has;
    how often it has those that it has, in proportion to its length, as BM25 does; and which of those that
    follow one another in the question do so here.
    """
    signs: dict[str, float] = {}
    if "timely" in names:
        timely = float(mentions_time(passage.text))
        signs = {"timely": timely, "when": timely * question.asks_when}
    if "title" in names:
        text, title = passage.text.lower(), passage.title.lower()
        mass, damped = sum(rarity) or 1.0, BM25[0] * (1 - BM25[1] + BM25[1] * len(text) / LENGTH)
        for word, has, rare in zip(question.words, matched, rarity, strict=True):
            start = stem(word).removesuffix("i")
            times = max(1, text.count(start)) if has else 0
            signs["repeated"] = signs.get("repeated", 0.0) + rare / mass * times / (times + damped)
            signs["title"] = signs.get("title", 0.0) + rare / mass * (start in title)
    if "pairs" in names:
        signs["pairs"] = side_by_side(question.words, rarity, f"{passage.title}\n{passage.text}")
    return signs


def side_by_side(words: Sequence[str], rarity: Sequence[float], text: str) -> float:
    """The share of a question's neighbouring words that stand in that order in a text, one between them at
    most.
    """
    starts, lowered, shared, mass = [stem(word).removesuffix("i") for word in words], text.lower(), 0.0, 0.0
    for (word, after), (rare, also) in zip(pairwise(starts), pairwise(rarity), strict=True):
        mass += rare + also
        if word in lowered and after in lowered and _in_a_row(word, after).search(lowered):
            shared += rare + also
    return shared / (mass or 1.0)


@lru_cache(maxsize=256)
def _in_a_row(word: str, after: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(word)}\w*\W+(?:\w+\W+)?{re.escape(after)}")


def _from(values: Floats, rows: Ints) -> Floats:
    """The values of other rows, nothing where there is no such row; the last axis is that of the passages."""
    if not values.size:
        return values
    return values[..., rows] * (rows >= 0)


# Columns

def look_up(index: Index, words: Iterable[str]) -> tuple[list[Ints], dict[str, str]]:
    """For each word the passages that have it; and for words the memory does not know, what was probably
    meant.

    Slips in the first letter are rare and would mean reading the whole vocabulary, so words of the same
    initial are tried.
    """
    asked, meant = list(words), {}
    holding = index.words.look_up_all(asked)
    for at, word in enumerate(asked):
        if not len(holding[at]) and mistyped(word):
            slips: dict[str, str | None] = index.kept("slips", dict)
            if word not in slips:
                slips[word] = closest(word, index.words.words_like(word[0]))
            if better := slips[word]:
                meant[word] = better
                holding[at] = index.words.look_up(better)
    return holding, meant


def unknown(question: Question, rows: Sequence[Ints]) -> list[str]:
    """What a question calls by a name and no passage has: it is hardly about anything that is known."""
    return [word for word, holding in zip(question.words, rows, strict=True)
            if not len(holding) and word in question.called]


def best_by_words(rows: Sequence[Ints], weights: Floats, allowed: Bools | None, limit: int) -> Ints:
    """The passages with the largest share of the question's rare words, ascending."""
    import numpy as np

    if not any(len(part) for part in rows):
        return np.zeros(0, np.int64)
    scores: Floats = np.bincount(np.concatenate(rows), np.repeat(weights,
                                                                 [len(part)
                                                                  for part in rows])).astype(np.float64)
    if allowed is not None:
        scores = scores[: len(allowed)] * allowed[: len(scores)]
    return best(scores, limit)


def without(allowed: Bools | None, withheld: Ints, last: int) -> Bools | None:
    """What is allowed but for some passages; None where everything is."""
    import numpy as np

    if not len(withheld):
        return allowed
    mask = np.ones(last + 1, np.bool_) if allowed is None else allowed.copy()
    mask[withheld[withheld < len(mask)]] = False
    return mask


def best(scores: NDArray[np.floating], limit: int) -> Ints:
    """The places of the largest positive scores, ascending; of equal ones the later, which are the newer."""
    import numpy as np

    places: Ints = np.flatnonzero(scores > 0)  # first, because selection is slow where most are equal
    if len(places) > limit:
        places = np.sort(places[np.argpartition(scores[places] + places * 1e-12,
                                                len(places) - limit)[-limit:]])
    return places


def with_neighbours(index: Index, seeds: Ints) -> Neighbourhood:
    """The seeds and, for turns of a dialog, what was said around them, as far as what is ranked looks."""
    return index.around.places(seeds.tolist(), RANKED + REACH).near(seeds, RANKED + REACH, REACH)


def gather(near: Neighbourhood, seeds: Ints, question: Question, rows: Sequence[Ints], total: int,
           compare: Callable[[Ints], tuple[Floats, Floats, Floats]]) -> Columns:
    """The columns that ranking works on; `seeds` ascending, `compare` tells how near passages are to the
    question: as a whole, by word pieces, as a part of their block.
    """
    import numpy as np

    numbers, around = near.numbers, near.around
    likeness, pieces, block = compare(numbers)
    seeded = among(seeds, numbers)
    ranked = seeded.copy()
    for column in range(REACH - RANKED, REACH + RANKED):
        ranked |= seeded[around[:, column]] & (around[:, column] >= 0)
    span = question.span
    named = np.array([_named(speaker, question.names) for speaker in near.names], np.float64)
    matches = np.array([among(part, numbers) for part in rows], np.float64).reshape(len(rows), len(numbers))
    nearness = [span.nearness(when) for when in near.said.tolist()] if span else np.zeros(len(numbers))
    return Columns(
        numbers=numbers, ranked=ranked, matches=matches, rarity=rarity([len(part) for part in rows], total),
        likeness=likeness, pieces=pieces, block=block, around=around, by_named=named[near.speakers],
        asking=near.asks, nearness=np.array(nearness, np.float64), said=near.said, sources=_sources(near),
        held=_held(near, rows), sizes=(near.lasts - near.records + 1).astype(np.float64),
    )


def _held(near: Neighbourhood, rows: Sequence[Ints]) -> Floats:
    """In how many passages of each one's record each word is."""
    import numpy as np

    held = [np.searchsorted(part, near.lasts, "right") - np.searchsorted(part, near.records, "left")
            for part in rows]
    return np.array(held, np.float64).reshape(len(rows), len(near.numbers))


def _sources(near: Neighbourhood) -> Ints:
    """Which of the sources each passage comes from.

    A conversation of one chunk is no talk, nor is one text that was cut into several: nobody speaks in them,
    and they are of one moment.
    """
    import numpy as np

    roles = np.array([speaker is not None and speaker.casefold() in AGENT_ROLES for speaker in near.names],
                     np.int64)
    spoken = np.array([speaker is not None for speaker in near.names], np.bool_)[near.speakers]
    own = near.records[near.around] == near.records[:, None]
    same = near.said[near.around] == near.said[:, None]
    alone = np.all((near.around < 0) | own | (same & ~spoken[:, None]), axis=1)
    text = (near.strands == 0) | (alone & (near.strands < 0))
    return np.where(text, 2, roles[near.speakers])


def merged(one: Ints, other: Ints) -> Ints:
    """Two ascending lists as one, each number once; numpy's own union loads much more."""
    import numpy as np

    both = np.sort(np.concatenate([one, other]))
    return both[np.concatenate([[True], both[1:] != both[:-1]])] if len(both) else both


def among(ascending: Ints, numbers: Ints) -> Bools:
    """Which numbers are in an ascending list."""
    import numpy as np

    if not len(ascending):
        return np.zeros(len(numbers), np.bool_)
    places = np.minimum(np.searchsorted(ascending, numbers), len(ascending) - 1)
    present: Bools = ascending[places] == numbers
    return present


def _named(speaker: str | None, names: frozenset[str]) -> bool:
    return speaker is not None and not names.isdisjoint(speaker.casefold().split())
