"""How strongly a record still stands: seed 004's decay, its weights, thresholds and words.

    score = importance × e^(-λ × days since access) × log2(accesses + 1) × weight of the type

Never accessed: the logarithm is 0.5 and the days count from creation. Pinned: 999. Kinds other than notes
weigh 1.0. One record is scored with `math`, a hundred thousand at once with numpy; both give the same
numbers. Knows neither the clock nor where usage is counted and scores are kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from otolith.model.kinds import KINDS, NOTE_TYPES
from otolith.model.record import UNUSED as UNUSED_YET
from otolith.model.record import Usage
from otolith.model.shape import Value
from otolith.model.times import age, day

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LAMBDA = 0.03
PINNED = 999.0
UNUSED = 0.5  # the usage factor of what was never accessed
DAY = 86_400.0
THRESHOLDS = (("Active", 0.5), ("Fading", 0.2), ("Dormant", 0.05), ("Archived", 0.0))
STATUSES = tuple(name for name, _ in THRESHOLDS)
SHOWN = 0.2  # what scores lower stays out of CORE.md
DIGITS = 9  # of a score in a file: enough to compute with, and equal on every machine


class Standing(Value):
    """A record as the front pages' builders see it: the gist of its front matter, its use and its score."""

    id: str
    type: str
    title: str
    path: str
    created: float
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    usage: Usage = UNUSED_YET
    score: float = 0.0
    pinned: bool = False
    trust: str = "user"
    principal: str | None = None
    project: str | None = None
    preview: str = ""  # the opening of the text, on insights
    kind: str = "note"
    section: str = ""  # of CORE.md; a note's is that of its type


class Decay(Value):
    """One score, taken apart."""

    importance: float
    days: float
    fading: float
    usage: float
    weight: float
    pinned: bool
    score: float
    status: str
    since: str  # what the days are counted from


def weight(type_: str, kind: str = "note") -> float:
    """How much longer this type holds than others; records outside the notes ladder weigh the same."""
    row = NOTE_TYPES.get(type_) if KINDS[kind].weighted else None
    return row.weight if row else 1.0


def usage_factor(count: int) -> float:
    """log2(accesses + 1); new memories start at half strength."""
    return math.log2(count + 1) if count > 0 else UNUSED


def take_apart(*, importance: float, created: float, usage: Usage, type_: str, now: float,
               pinned: bool = False, kind: str = "note") -> Decay:
    """The score with every factor that made it; days are never below 0."""
    days = max(0.0, (now - (created if usage.last is None else usage.last)) / DAY)
    fading, used, weighs = math.exp(-LAMBDA * days), usage_factor(usage.count), weight(type_, kind)
    score = PINNED if pinned else importance * fading * used * weighs
    return Decay(importance=importance, days=days, fading=fading, usage=used, weight=weighs, pinned=pinned,
                 score=score, status=status(score), since="creation" if usage.last is None else "last access")


def score_all(importances: Sequence[float], anchors: Sequence[float], counts: Sequence[int],
              weights: Sequence[float], pinned: Sequence[bool], now: float) -> NDArray[np.float64]:
    """Many scores at once; `anchors` are the last accesses, or the creations of what was never accessed."""
    import numpy

    count = numpy.asarray(counts, dtype=numpy.float64)
    days = numpy.maximum(0.0, (now - numpy.asarray(anchors, dtype=numpy.float64)) / DAY)
    used = numpy.where(count > 0, numpy.log2(numpy.maximum(count, 0) + 1), UNUSED)
    scores = numpy.asarray(importances, dtype=numpy.float64) * numpy.exp(-LAMBDA * days) * used
    return numpy.where(numpy.asarray(pinned, dtype=bool), PINNED, scores * numpy.asarray(weights))


def status(score: float) -> str:
    """Active, Fading, Dormant or Archived. Archived is a view: such a record ranks low and is still found."""
    return next((name for name, low in THRESHOLDS if score >= low), STATUSES[-1])


def count_statuses(scores: Iterable[float]) -> dict[str, int]:
    """How many records stand in each status, every status named."""
    counts = dict.fromkeys(STATUSES, 0)
    for score in scores:
        counts[status(score)] += 1
    return counts


def days_until(score: float, low: float) -> float | None:
    """Days until an untouched record falls below `low`; None when it already has, or never will."""
    return None if score >= PINNED or score < low or low <= 0 else math.log(score / low) / LAMBDA


def next_fall(score: float) -> tuple[str, float] | None:
    """The status an untouched record falls to next, and in how many days."""
    at = STATUSES.index(status(score))
    days = days_until(score, THRESHOLDS[at][1])
    return None if days is None else (STATUSES[at + 1], days)


def explain(decay: Decay, now: float) -> list[str]:
    """The score in words: the formula with its numbers, the status, and what comes if nobody asks for it."""
    if decay.pinned:
        return [f"pinned in vault/: score {PINNED:g}, {decay.status}, does not decay"]
    factors = (f"importance {decay.importance:g} × fading {decay.fading:.4f} "
               f"(e^(-{LAMBDA:g} × {decay.days:.2f} days)) × usage {decay.usage:.4f} "
               f"× type weight {decay.weight:g}")
    lines = [f"score {decay.score:.4f} = {factors}",
             f"status {decay.status}; {decay.days:.1f} days since {decay.since}"]
    fall = next_fall(decay.score)
    if fall:
        name, days = fall
        lines.append(f"untouched it is {name} in {age(max(days, 0) * DAY)}, on {day(now + days * DAY)}")
    return lines
