"""From a question to the passages worth ranking: rows of full text, nearest vectors, and the turns around both.

What the index hands over as row numbers becomes columns here, by numpy; ranking is arithmetic over them. Pure but for the
few looks into the index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from otolith.index.around import Spot
from otolith.index.store import Index
from otolith.recall.question import Question, closest, mistyped
from otolith.recall.rank import REACH, Candidates, rarity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

SEEDS, SEEDS_A_HIT = 60, 2  # from words, and as many from meaning: so many, or more where more hits are wanted
RANKED = 1  # turns beside a seed that are ranked with it; two find no more


def look_up(index: Index, words: Iterable[str]) -> tuple[list[Ints], dict[str, str]]:
    """For each word the passages that have it; and for words the memory does not know, what was probably meant.

    Slips in the first letter are rare and would mean reading the whole vocabulary, so words of the same initial are tried.
    """
    found, meant = [], {}
    for word in words:
        rows = index.words.look_up(word)
        if not len(rows) and mistyped(word) and (better := closest(word, index.words.words_like(word[0]))):
            meant[word] = better
            rows = index.words.look_up(better)
        found.append(rows)
    return found, meant


def best_by_words(rows: Sequence[Ints], weights: Floats, allowed: NDArray[np.bool_] | None, limit: int) -> Ints:
    """The passages with the largest share of the question's rare words, ascending."""
    import numpy as np

    if not any(len(part) for part in rows):
        return np.zeros(0, np.int64)
    scores: Floats = np.bincount(np.concatenate(rows), np.repeat(weights, [len(part) for part in rows])).astype(np.float64)
    if allowed is not None:
        scores = scores[: len(allowed)] * allowed[: len(scores)]
    return best(scores, limit)


def best(scores: NDArray[np.floating], limit: int) -> Ints:
    """The places of the largest positive scores, ascending; of equal ones the later, which are the newer."""
    import numpy as np

    places: Ints = np.flatnonzero(scores > 0)  # first, because selection is slow where most are equal
    if len(places) > limit:
        places = np.sort(places[np.argpartition(scores[places] + places * 1e-12, len(places) - limit)[-limit:]])
    return places


def with_neighbours(index: Index, seeds: Iterable[int]) -> list[Spot]:
    """The seeds and, for turns of a dialog, what was said around them, as far as what is ranked looks."""
    found = {spot.n: spot for spot in index.around.spots(seeds)}
    for spot in index.around.spots_beside(list(found.values()), RANKED + REACH):
        found.setdefault(spot.n, spot)
    return list(found.values())


def neighbours(spots: Sequence[Spot]) -> Ints:
    """For each passage the rows of those at -2, -1, +1, +2 in its dialog, -1 where there is none."""
    import numpy as np

    around = np.full((len(spots), 2 * REACH), -1, np.int64)
    names: dict[str | int, int] = {}
    strands = np.array([-1 if (strand := spot.strand) is None else names.setdefault(strand, len(names)) for spot in spots],
                       np.int64)
    keys = np.array([(spot.ord, spot.record, spot.place, spot.created) for spot in spots]).reshape(-1, 4)
    order = np.lexsort((*keys.T, strands))
    for column, step in ((1, 1), (0, 2)):
        earlier, later = order[:-step], order[step:]
        same = (strands[earlier] == strands[later]) & (strands[later] >= 0)
        around[later[same], column] = earlier[same]
        around[earlier[same], 2 * REACH - 1 - column] = later[same]
    return around


def gather(spots: Sequence[Spot], seeds: Ints, question: Question, rows: Sequence[Ints], total: int,
           likeness: Callable[[Ints], Floats]) -> Candidates:
    """The columns that ranking works on; `seeds` ascending. `likeness` gives the cosines of passages with the question."""
    import numpy as np

    numbers = np.array([spot.n for spot in spots], np.int64)
    around = neighbours(spots)
    seeded = among(seeds, numbers)
    ranked = seeded.copy()
    for column in range(REACH - RANKED, REACH + RANKED):
        ranked |= seeded[around[:, column]] & (around[:, column] >= 0)
    names, span = question.names, question.span
    named = {speaker: _named(speaker, names) for speaker in {spot.speaker for spot in spots}} if names else {}
    matches = np.array([among(part, numbers) for part in rows], np.float64).reshape(len(rows), len(numbers))
    return Candidates(
        numbers=numbers, ranked=ranked, matches=matches, rarity=rarity([len(part) for part in rows], total),
        likeness=likeness(numbers), around=around,
        by_named=np.array([named.get(spot.speaker, False) for spot in spots], np.float64),
        asking=np.array([spot.asks for spot in spots], np.float64),
        nearness=np.array([span.nearness(spot.said) if span else 0.0 for spot in spots], np.float64),
    )


def merged(one: Ints, other: Ints) -> Ints:
    """Two ascending lists as one, each number once. (numpy's own union loads its masked arrays, a tenth of a cold start.)"""
    import numpy as np

    both = np.sort(np.concatenate([one, other]))
    return both[np.concatenate([[True], both[1:] != both[:-1]])] if len(both) else both


def among(ascending: Ints, numbers: Ints) -> NDArray[np.bool_]:
    """Which numbers are in an ascending list."""
    import numpy as np

    if not len(ascending):
        return np.zeros(len(numbers), np.bool_)
    places = np.minimum(np.searchsorted(ascending, numbers), len(ascending) - 1)
    found: NDArray[np.bool_] = ascending[places] == numbers
    return found


def _named(speaker: str | None, names: frozenset[str]) -> bool:
    return speaker is not None and not names.isdisjoint(speaker.casefold().split())
