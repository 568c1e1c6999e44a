"""Ranking: many small signs, one sum that can be told.

For each passage the score adds: its share of the question's rare words; how much of the question the passage and the two
turns on either side cover together; its likeness in meaning and, less, that of its neighbours; whether it answers a
question that was just asked in the question's words; whether the person asked about is the one who speaks; whether it
says when, for a question that asks when; whether it was said at the time the question names. A turn that itself asks
counts a little less. Pure arithmetic over arrays: no SQL, no texts, no clock. The weights are those that `bench/fit.py`
fits on five dialogs, rounded; `bench/locomo.py` measures them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from otolith.model.shape import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

REACH = 2  # turns on either side that have a say


class Weights(Value):
    """What each sign is worth. Only the weight of likeness depends on the embedder."""

    words: float = 1.2
    cover: float = 4.1
    likeness: float = 3.6
    likeness_around: float = 1.3
    answer: float = 1.2
    speaker: float = 2.7
    timely: float = 0.45
    when: float = 1.8
    time: float = 3.1
    asking: float = -0.55


WEIGHTS = {"static": Weights(), "minilm": Weights(likeness=4.6)}


class Candidates(Value):
    """Passages as columns; yes and no are 1.0 and 0.0.

    `around[i]` are the rows of the turns at -2, -1, +1, +2 of row i, or -1 where there is none. Only those in `ranked` are
    to be delivered; the others are there because their neighbours look at them.
    """

    numbers: Ints
    ranked: NDArray[np.bool_]
    matches: Floats  # words of the question × passages
    rarity: Floats  # of each word, 0..1
    likeness: Floats  # cosine with the question; zeros without vectors
    around: Ints
    by_named: Floats  # said by somebody whom the question names
    asking: Floats
    nearness: Floats  # to the time the question names


def rarity(found: Sequence[int], total: int) -> Floats:
    """How telling a word is, by the number of passages that have it: 1 for a single one, near 0 for every one.

    The idf of BM25 divided by its largest value, so that the words' part of the score does not grow with the memory.
    """
    import numpy as np

    counts = np.asarray(found, np.float64)
    largest = np.log1p((total - 0.5) / 1.5) if total else 1.0
    return np.log1p(np.maximum(total - counts + 0.5, 0.0) / (counts + 0.5)) / largest


def rank(candidates: Candidates, weights: Weights) -> dict[str, Floats]:
    """The parts of each candidate's score, by the name that `why` shows; their sum is the score.

    That a passage says when is worth `timely` more; it takes its text, so it is looked at only in the best.
    """
    import numpy as np

    seen = candidates
    word_score = seen.rarity @ seen.matches
    mass = seen.rarity.sum() or 1.0
    covered, near = seen.matches, np.zeros(len(seen.numbers))
    for step, share in enumerate((0.5, 1.0, 1.0, 0.5)):
        covered = np.maximum(covered, _from(seen.matches, seen.around[:, step]))
        near = near + share * _from(seen.likeness, seen.around[:, step])
    before = seen.around[:, REACH - 1]
    return {
        "words": weights.words * word_score,
        "cover": weights.cover / mass * (seen.rarity @ covered),
        "meaning": weights.likeness * seen.likeness + weights.likeness_around * near,
        "answer": weights.answer * _from(word_score, before) * _from(seen.asking, before),
        "speaker": weights.speaker * seen.by_named,
        "time": weights.time * seen.nearness,
        "asking": weights.asking * seen.asking,
    }


def timely(weights: Weights, *, asks_when: bool) -> float:
    """What it is worth to say when something was."""
    return weights.timely + weights.when * asks_when


def _from(values: Floats, rows: Ints) -> Floats:
    """The values of other rows, nothing where there is no such row; the last axis is that of the passages."""
    if not values.size:
        return values
    return values[..., rows] * (rows >= 0)
