"""What may be told without being asked: found by words alone, in a moment, and only if it is a good answer.

Neither vectors nor the tokenizer are loaded; the rest of recall needs both. A passage counts if it holds at least half of
what is rare in the question. A word that the memory has never met says little about what it knows, so it weighs less than
one that it has. Only what people and agents of this project wrote is ever told.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from otolith.home import Home
from otolith.index.words import Told
from otolith.model.words import STOP, word_set
from otolith.recall.question import LONGEST, MOST_WORDS, look_up

COVERED_ENOUGH = 0.5
UNKNOWN = 0.4  # the weight of a word met nowhere, to that of one met once: one rare word in three is what a prompt is about
FEW = 1_000  # passages below which rarity is not told from chance
_ASKING = word_set("know tell remember remind show explain want need help give make use think say find get")
COMMON = 3_000  # passages from which a word says too little to be followed up
LOOKED_AT = 40


def find_by_words(home: Home, question: str, *, limit: int = 5) -> list[Told]:
    """The records that hold half of what is asked, best first; usually none."""
    found = _find(home, question, limit)
    if found and home.touch([told.unit for told in found]):
        found = _find(home, question, limit)
    return found


def _find(home: Home, question: str, limit: int) -> list[Told]:
    every = dict.fromkeys(word.removesuffix("'s") for word in look_up(question[:LONGEST]))
    content = [word for word in every if word not in STOP]
    words = ([word for word in content if word not in _ASKING] or content)[:MOST_WORDS]
    if not words:
        return []
    scores = _cover(home, words)
    best = sorted(scores, key=lambda n: (-scores[n], -n))[:LOOKED_AT]
    if not best:
        return []
    rows = home.index.words.tellable(best, home.config.project)
    told: dict[str, Told] = {}
    for row in sorted(rows, key=lambda row: (-scores[row.n], -row.n)):
        told.setdefault(row.id, row)
    return list(told.values())[:limit]


def _cover(home: Home, words: Sequence[str]) -> dict[int, float]:
    """Passage → the share of the question's rarity that it holds, where that is enough."""
    held_in_all = home.index.words.last_passage() or 1
    total = max(FEW, held_in_all)
    weights: list[float] = []
    held: dict[int, float] = defaultdict(float)
    for word in words:
        rows = home.index.words.holding(word, COMMON)
        often = max(0, len(rows) - 1) / held_in_all  # in a small memory a word of every second record is no rare one
        weight = math.log(1 + total / (len(rows) + 0.5)) * (1 - min(often, 0.9)) if rows else UNKNOWN * math.log(1 + total / 1.5)
        weights.append(weight)
        for n in rows if len(rows) < COMMON else ():
            held[n] += weight
    whole = sum(weights)
    return {n: share / whole for n, share in held.items() if share / whole >= COVERED_ENOUGH}
