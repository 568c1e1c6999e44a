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
from strata.recall.spelling import closest, mistyped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

SEEDS = 80  # from words, and as many from meaning; 100 find hardly more
RANKED = 1  # turns beside a seed that are ranked with it; two find no more

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


def look_up_mistyped(db: sqlite3.Connection, word: str) -> tuple[str, Ints] | None:
    """The word of the memory that an unknown word was probably meant to be, and the passages that have it.

    Slips in the first letter are rare and would mean reading the whole vocabulary, so words of the same initial are tried.
    """
    if not mistyped(word):
        return None
    db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, words, row)")
    known = db.execute("SELECT term, doc FROM temp.vocabulary WHERE term >= ? AND term < ?", (word[0], word[0] + "\U0010ffff"))
    meant = closest(word, known)
    return (meant, look_up(db, meant)) if meant else None


def best_by_words(rows: Sequence[Ints], weights: Floats, allowed: NDArray[np.bool_] | None, limit: int = SEEDS) -> Ints:
    """The passages with the largest share of the question's rare words, ascending."""
    import numpy as np

    if not any(len(part) for part in rows):
        return np.zeros(0, np.int64)
    scores: Floats = np.bincount(np.concatenate(rows), np.repeat(weights, [len(part) for part in rows])).astype(np.float64)
    if allowed is not None:
        scores = np.where(allowed[: len(scores)], scores, 0.0)
    return best(scores, limit)


def best(scores: NDArray[np.floating], limit: int = SEEDS) -> Ints:
    """The places of the largest positive scores, ascending."""
    import numpy as np

    places = np.flatnonzero(scores > 0)  # first, because selection is slow where most are equal
    if len(places) > limit:
        places = np.sort(places[np.argpartition(scores[places], len(places) - limit)[-limit:]])
    return places


def with_neighbours(db: sqlite3.Connection, seeds: Sequence[int]) -> list[Passage]:
    """The seeds and, for turns of a dialog, what was said around them, as far as what is ranked looks."""
    wide = RANKED + REACH
    found = {row[0]: Passage(*row) for row in db.execute(_SEEDS, (json.dumps(list(map(int, seeds))),))}
    for seed in list(found.values()):
        if seed.strand is None:
            continue
        rows = db.execute(_SAME_RECORD, (seed.record, seed.ord - wide, seed.ord + wide)).fetchall()
        if seed.kind == "chunk":
            place = (seed.conversation, seed.created, seed.record, wide)
            rows += db.execute(_EARLIER, place).fetchall() + db.execute(_LATER, place).fetchall()
        for row in rows:
            if row[0] not in found:
                found[row[0]] = Passage(*row)
    return list(found.values())


def neighbours(passages: Sequence[Passage]) -> Ints:
    """For each passage the rows of those at -2, -1, +1, +2 in its dialog, -1 where there is none."""
    import numpy as np

    around = np.full((len(passages), 2 * REACH), -1, np.int64)
    names: dict[str | int, int] = {}
    strands = np.array([-1 if (strand := passage.strand) is None else names.setdefault(strand, len(names))
                        for passage in passages], np.int64)
    keys = np.array([(passage.ord, passage.record, passage.created) for passage in passages]).reshape(-1, 3)
    order = np.lexsort((*keys.T, strands))
    for column, step in ((1, 1), (0, 2)):
        earlier, later = order[:-step], order[step:]
        same = (strands[earlier] == strands[later]) & (strands[later] >= 0)
        around[later[same], column] = earlier[same]
        around[earlier[same], 2 * REACH - 1 - column] = later[same]
    return around


def gather(passages: Sequence[Passage], seeds: Ints, question: Question, rows: Sequence[Ints], total: int,
           likeness: Callable[[Ints], Floats]) -> Candidates:
    """The columns that ranking works on; `seeds` ascending. `likeness` gives the cosines of passages with the question."""
    import numpy as np

    numbers = np.array([passage.n for passage in passages], np.int64)
    around = neighbours(passages)
    seeded = _among(seeds, numbers)
    ranked = seeded.copy()
    for column in range(REACH - RANKED, REACH + RANKED):
        ranked |= seeded[around[:, column]] & (around[:, column] >= 0)
    names, span = question.names, question.span
    chosen = list(zip(ranked.tolist(), passages, strict=True))  # what costs is asked only of what is ranked
    matches = np.array([_among(part, numbers) for part in rows], np.float64).reshape(len(rows), len(numbers))
    return Candidates(
        numbers=numbers, ranked=ranked, matches=matches, rarity=rarity([len(part) for part in rows], total),
        likeness=likeness(numbers), around=around,
        by_named=np.array([bool(names) and _named(passage.speaker, names) for passage in passages], np.float64),
        asking=np.array([passage.text.endswith(("?", "？")) for passage in passages], np.float64),
        timely=np.array([yes and mentions_time(passage.text) for yes, passage in chosen], np.float64),
        nearness=np.array([span.nearness(passage.said) if span and yes else 0.0 for yes, passage in chosen], np.float64),
    )


def _among(ascending: Ints, numbers: Ints) -> NDArray[np.bool_]:
    """Which numbers are in an ascending list."""
    import numpy as np

    if not len(ascending):
        return np.zeros(len(numbers), np.bool_)
    places = np.minimum(np.searchsorted(ascending, numbers), len(ascending) - 1)
    found: NDArray[np.bool_] = ascending[places] == numbers
    return found


def _named(speaker: str | None, names: frozenset[str]) -> bool:
    return speaker is not None and not names.isdisjoint(speaker.casefold().split())
