"""From a question to the passages worth ranking: rows of full text, nearest vectors, and the turns around both.

Full text is asked word by word for bare row numbers, which SQLite hands over in one string; numpy does the scoring. That
is ten times faster than `bm25()`, which looks up the length of every row, and as good: in passages of at most 200 tokens
neither length nor repetition says much. Knows the index's tables `passages`, `records` and `words`; writes nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from strata.recall.dates import mentions_time
from strata.recall.question import Question
from strata.recall.rank import REACH, Candidates, rarity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

SEEDS = 100  # from words, and as many from meaning
_COLUMNS = "p.n, p.record, p.ord, p.speaker, coalesce(p.said, r.created), r.kind, r.conversation, r.created, p.text"
_FROM = f"SELECT {_COLUMNS} FROM passages p JOIN records r ON r.n = p.record"
_SEEDS = f"{_FROM} WHERE p.n IN (SELECT value FROM json_each(?))"
_SAME_RECORD = f"{_FROM} WHERE p.record = ? AND p.ord BETWEEN ? AND ?"
_TALK = f"{_FROM} WHERE r.conversation = ? AND (r.created, r.n)"
_EARLIER = f"{_TALK} < (?, ?) ORDER BY r.created DESC, r.n DESC, p.ord DESC LIMIT ?"
_LATER = f"{_TALK} > (?, ?) ORDER BY r.created, r.n, p.ord LIMIT ?"


class Passage(NamedTuple):
    """A row of the index that may be ranked."""

    n: int
    record: int
    ord: int
    speaker: str | None
    said: float
    kind: str
    conversation: str | None
    created: float
    text: str

    @property
    def strand(self) -> str | int | None:
        """The dialog it is a turn of: an entry, or a conversation of chunks; None for all else."""
        if self.kind == "entry":
            return self.record
        return self.conversation if self.kind == "chunk" else None


def look_up(db: sqlite3.Connection, word: str) -> Ints:
    """The passages that have a word, in any of its forms, ascending."""
    import numpy as np

    phrase = '"' + word.replace('"', "").replace("\0", "") + '"'
    listed, = db.execute("SELECT group_concat(rowid) FROM words WHERE words MATCH ?", (phrase,)).fetchone()
    return np.fromstring(listed, np.int64, sep=",") if listed else np.zeros(0, np.int64)


def best_by_words(rows: Sequence[Ints], weights: Floats, allowed: NDArray[np.bool_] | None, limit: int = SEEDS) -> Ints:
    """The passages with the largest share of the question's rare words; later ones first among equals."""
    import numpy as np

    if not any(len(part) for part in rows):
        return np.zeros(0, np.int64)
    scores: Floats = np.bincount(np.concatenate(rows), np.repeat(weights, [len(part) for part in rows])).astype(np.float64)
    if allowed is not None:
        scores = np.where(allowed[: len(scores)], scores, 0.0)
    return best(scores, limit)


def best(scores: NDArray[np.floating], limit: int = SEEDS) -> Ints:
    """The places of the largest positive scores, in no order."""
    import numpy as np

    if len(scores) > limit:
        chosen = np.argpartition(scores, len(scores) - limit)[-limit:]
        return chosen[scores[chosen] > 0].astype(np.int64)
    return np.flatnonzero(scores > 0)


def with_neighbours(db: sqlite3.Connection, seeds: Sequence[int]) -> dict[int, Passage]:
    """The seeds and, for turns of a dialog, what was said around them: twice the reach, so that the neighbours of
    neighbours are there when these are ranked."""
    wide = 2 * REACH
    found = {row[0]: Passage(*row) for row in db.execute(_SEEDS, (json.dumps(list(map(int, seeds))),))}
    for seed in list(found.values()):
        if seed.strand is None:
            continue
        rows = db.execute(_SAME_RECORD, (seed.record, seed.ord - wide, seed.ord + wide)).fetchall()
        if seed.kind == "chunk":
            place = (seed.conversation, seed.created, seed.record, wide)
            rows += db.execute(_EARLIER, place).fetchall() + db.execute(_LATER, place).fetchall()
        for row in rows:
            found.setdefault(row[0], Passage(*row))
    return found


def neighbours(passages: Sequence[Passage]) -> Ints:
    """For each passage the rows of those at -2, -1, +1, +2 in its dialog, -1 where there is none."""
    import numpy as np

    around = np.full((len(passages), 2 * REACH), -1, np.int64)
    strands: dict[str | int, list[int]] = {}
    for row, passage in enumerate(passages):
        if passage.strand is not None:
            strands.setdefault(passage.strand, []).append(row)
    for rows in strands.values():
        rows.sort(key=lambda row: (passages[row].created, passages[row].record, passages[row].ord))
        for column, step in enumerate((-2, -1, 1, 2)):
            mine, theirs = (rows[: -step or None], rows[step:]) if step > 0 else (rows[-step:], rows[:step])
            around[mine, column] = theirs
    return around


def gather(passages: Sequence[Passage], question: Question, rows: Sequence[Ints], total: int,
           likeness: Callable[[Ints], Floats]) -> Candidates:
    """The columns that ranking works on. `likeness` gives the cosines of passages with the question."""
    import numpy as np

    numbers = np.array([passage.n for passage in passages], np.int64)
    matches = np.array([np.isin(numbers, part) for part in rows], np.float64).reshape(len(rows), len(numbers))
    span = question.span
    return Candidates(
        numbers=numbers, matches=matches, rarity=rarity([len(part) for part in rows], total),
        likeness=likeness(numbers), around=neighbours(passages),
        by_named=np.array([_named(passage.speaker, question.names) for passage in passages], np.float64),
        asking=np.array([passage.text.rstrip().endswith(("?", "？")) for passage in passages], np.float64),
        timely=np.array([mentions_time(passage.text) for passage in passages], np.float64),
        nearness=np.array([span.nearness(passage.said) if span else 0.0 for passage in passages], np.float64),
    )


def _named(speaker: str | None, names: frozenset[str]) -> bool:
    return bool(names and speaker) and not names.isdisjoint((speaker or "").casefold().split())
