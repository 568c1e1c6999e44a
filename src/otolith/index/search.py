"""Searching the index: passages by word and around a passage, records by exact handle, along links and by filter.

Full text is asked word by word for bare row numbers, which SQLite hands over in one string; whoever asks does the scoring.
That is ten times faster than `bm25()`, which looks up the length of every row, and as good: in passages of at most 200
tokens neither length nor repetition says much. A word is always a phrase in quotes, never search syntax. Reads only.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from otolith.index.filters import where
from otolith.index.read import replaces, resolve
from otolith.model.kinds import DATED
from otolith.model.recall import Filter
from otolith.model.record import tail_of
from otolith.model.text import fold

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

HANDLES = 20  # records that one handle may lead to
TOKENS = 32  # words of a question that are tried as handles
HANDLE_SIGNS = 300
_TOKEN = re.compile(r"[^\s\"'`,;!?()\[\]{}<>“”«»]{2,200}")
_COLUMNS = ("p.n, p.record, p.n - p.record, p.speaker, coalesce(p.said, r.created), r.kind, r.conversation, r.created, r.place, r.id, "
            "r.type, r.importance, r.pinned, r.sunk, r.unit, p.start, p.stop, p.turn, p.text")
_FROM = f"SELECT {_COLUMNS} FROM passages p JOIN records r ON r.n = p.record"
_SPOT = ("p.n, p.record, p.n - p.record, p.speaker, coalesce(p.said, r.created), r.kind, r.conversation, r.created, r.place, "
         "substr(p.text, -1) IN ('?', '？')")
_SPOTS = f"SELECT {_SPOT} FROM passages p JOIN records r ON r.n = p.record WHERE p.n IN (SELECT value FROM json_each(?))"
_SEEDS = f"{_FROM} WHERE p.n IN (SELECT value FROM json_each(?))"
_OPENING = f"SELECT {_COLUMNS} FROM records r JOIN passages p ON p.n = r.n"
# Kinds whose time is their own; named one by one, so that the look-up tree by kind and time is used.
_WRITTEN = ", ".join(f"'{kind}'" for kind in DATED)
_FIRST = f"{_OPENING} WHERE r.id IN (SELECT value FROM json_each(?))"
_SAME_RECORD = f"{_FROM} WHERE p.record = ? AND p.n BETWEEN ? AND ? ORDER BY p.n"
_SAME_RECORDS = f"""SELECT DISTINCT {_SPOT} FROM json_each(?) w JOIN passages p ON +p.record = w.value ->> 0
AND p.n BETWEEN w.value ->> 1 AND w.value ->> 2 JOIN records r ON r.n = p.record"""
# What stands beside many chunks at once: for each of them the nearest records of its conversation on one side.
_BESIDE = f"""SELECT DISTINCT {_SPOT} FROM json_each(?) w JOIN records r ON r.n IN (
SELECT x.n FROM records x WHERE x.conversation = w.value ->> 0 AND x.kind = 'chunk'
AND (x.created, x.place, x.n) %s (w.value ->> 1, w.value ->> 2, w.value ->> 3)
ORDER BY x.created %s, x.place %s, x.n %s LIMIT ?) JOIN passages p ON p.n BETWEEN r.n AND r.last"""
_BEFORE, _AFTER = _BESIDE % ("<", "DESC", "DESC", "DESC"), _BESIDE % (">=", "ASC", "ASC", "ASC")
_TALK = (f"SELECT {_COLUMNS} FROM records r JOIN passages p ON p.n BETWEEN r.n AND r.last "
         "WHERE r.conversation = ? AND r.kind = 'chunk' AND (r.created, r.place, r.n)")
_EARLIER = f"{_TALK} < (?, ?, ?) ORDER BY r.created DESC, r.place DESC, r.n DESC, p.n DESC LIMIT ?"
_LATER = f"{_TALK} > (?, ?, ?) ORDER BY r.created, r.place, r.n, p.n LIMIT ?"
# Links that say one record bears on another. That chunks follow each other is what a conversation is, and a chapter's works
# are found by themselves.
_TELLING = ("'solves', 'led_to', 'builds_on', 'alternative_to', 'requires', 'supports', 'contradicts', 'supersedes', "
            "'mentions', 'cites', 'blocked_by', 'related_to'")
_HOPS = f"""
SELECT l.a, r.id, l.said, coalesce(l.strength, 0.8), l.created FROM links l JOIN records r ON r.id = l.b
WHERE l.a IN (SELECT value FROM json_each(:ids)) AND l.word IN ({_TELLING})
UNION SELECT l.b, r.id, l.said, coalesce(l.strength, 0.8), l.created FROM links l JOIN records r ON r.id = l.a
WHERE l.b IN (SELECT value FROM json_each(:ids)) AND l.word IN ({_TELLING})
UNION SELECT l.a, r.id, l.said, 0.5, l.created FROM links l JOIN names x ON x.name = substr(l.b, 6)
JOIN records r ON r.n = x.record WHERE l.a IN (SELECT value FROM json_each(:ids)) AND l.word = 'mentions'"""
_REPLACED = f"""SELECT l.b, l.a, l.created, r.created FROM links l JOIN records r ON r.id = l.a JOIN records old ON old.id = l.b
WHERE {replaces("old", "r")} AND l.b IN (SELECT value FROM json_each(?)) ORDER BY r.created, r.id"""


class Spot(NamedTuple):
    """Where a passage stands: all that is read of the many that are only looked at."""

    n: int
    record: int
    ord: int
    speaker: str | None
    said: float
    kind: str
    conversation: str | None
    created: float
    place: int
    asks: int

    @property
    def strand(self) -> str | int | None:
        """The dialog it is a turn of: an entry, or a conversation of chunks; None for all else."""
        if self.kind == "entry":
            return self.record
        return self.conversation if self.kind == "chunk" else None


class Passage(NamedTuple):
    """A passage that may be delivered, with what ranking asks of its record."""

    n: int
    record: int
    ord: int
    speaker: str | None
    said: float
    kind: str
    conversation: str | None
    created: float
    place: int
    id: str
    type: str
    importance: float | None
    pinned: int
    sunk: int
    unit: str
    start: int
    stop: int
    turn: str | None
    text: str

    @property
    def is_turn(self) -> bool:
        """Does it stand in a dialog, with something said before and after it?"""
        return self.kind == "entry" or (self.kind == "chunk" and self.conversation is not None)


class Handle(NamedTuple):
    """A record that a question names outright, and how."""

    id: str
    how: str


class Hop(NamedTuple):
    """A record one link away from another."""

    source: str
    id: str
    word: str
    strength: float
    created: float | None


def look_up(db: sqlite3.Connection, word: str) -> Ints:
    """The passages that have a word, in any of its forms, ascending."""
    phrase = '"' + word.replace('"', "").replace("\0", "") + '"'
    return _numbers(db.execute("SELECT group_concat(rowid) FROM words WHERE words MATCH ?", (phrase,)).fetchone()[0])


def _numbers(listed: str | None) -> Ints:
    import numpy as np

    return np.fromstring(listed, np.int64, sep=",") if listed else np.zeros(0, np.int64)


def words_like(db: sqlite3.Connection, initial: str) -> Iterator[tuple[str, int]]:
    """Every word of the memory with that initial, and in how many passages it is."""
    db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, words, row)")
    query = "SELECT term, doc FROM temp.vocabulary WHERE term >= ? AND term < ?"
    yield from db.execute(query, (initial, initial + "\U0010ffff"))


def is_speaker(db: sqlite3.Connection, word: str) -> bool:
    """Does somebody of that name speak in the memory?"""
    return db.execute("SELECT 1 FROM speakers WHERE word = ? AND passages > 0", (word,)).fetchone() is not None


def count_passages(db: sqlite3.Connection) -> int:
    count: int = db.execute("SELECT count(*) FROM passages").fetchone()[0]
    return count


def allowed(db: sqlite3.Connection, chosen: Filter, projects: tuple[str, ...]) -> NDArray[np.bool_] | None:
    """By passage number, whether the filters let it pass; None if they ask for nothing."""
    import numpy as np

    condition, values = where(db, chosen, projects)
    if condition == "1":
        return None
    query = f"SELECT group_concat(p.n) FROM records r JOIN passages p ON p.n BETWEEN r.n AND r.last WHERE {condition}"
    passing = _numbers(db.execute(query, values).fetchone()[0])
    mask = np.zeros(int(passing.max()) + 1 if len(passing) else 1, np.bool_)
    mask[passing] = True
    return mask


def weighty(db: sqlite3.Connection) -> NDArray[np.bool_] | None:
    """By passage number, whether it opens a record that a person pinned or that is of great importance; None if none does."""
    import numpy as np

    found = _numbers(db.execute("SELECT group_concat(n) FROM records WHERE pinned OR importance >= 0.9").fetchone()[0])
    if not len(found):
        return None
    mask = np.zeros(int(found.max()) + 1, np.bool_)
    mask[found] = True
    return mask


def read_passages(db: sqlite3.Connection, numbers: Iterable[int]) -> list[Passage]:
    return [Passage(*row) for row in db.execute(_SEEDS, (json.dumps(list(map(int, numbers))),))]


def texts(db: sqlite3.Connection, numbers: Sequence[int]) -> list[str]:
    """The texts of passages, in their order."""
    found = dict(db.execute("SELECT n, text FROM passages WHERE n IN (SELECT value FROM json_each(?))", (json.dumps(list(numbers)),)))
    return [found.get(n, "") for n in numbers]


def read_spots(db: sqlite3.Connection, numbers: Iterable[int]) -> list[Spot]:
    return [Spot(*row) for row in db.execute(_SPOTS, (json.dumps(list(map(int, numbers))),))]


def first_passages(db: sqlite3.Connection, ids: Iterable[str]) -> list[Passage]:
    """The opening of each record."""
    return [Passage(*row) for row in db.execute(_FIRST, (json.dumps(list(ids)),))]


def first_within(db: sqlite3.Connection, since: float | None, before: float | None, month: int | None, day: int | None,
                 limit: int) -> list[Passage]:
    """The openings of the newest records of a time, built and mirroring ones left out; a month is one of any year."""
    query = f"""{_OPENING} WHERE r.kind IN ({_WRITTEN}) AND r.created >= coalesce(?, -9e999) AND r.created < coalesce(?, 9e999)
AND (? IS NULL OR strftime('%m', r.created, 'unixepoch') + 0 = ?) AND (? IS NULL OR strftime('%d', r.created, 'unixepoch') + 0 = ?)
ORDER BY r.created DESC, r.n DESC LIMIT ?"""
    return [Passage(*row) for row in db.execute(query, (since, before, month, month, day, day, limit))]


def around(db: sqlite3.Connection, passage: Passage, reach: int) -> list[Passage]:
    """What was said up to so many turns before and after a passage of a dialog, itself included, in order."""
    rows = db.execute(_SAME_RECORD, (passage.record, passage.n - reach, passage.n + reach)).fetchall()
    if passage.kind == "chunk":
        place = (passage.conversation, passage.created, passage.place, passage.record, reach)
        rows = db.execute(_EARLIER, place).fetchall()[::-1] + rows + db.execute(_LATER, place).fetchall()
    return [Passage(*row) for row in rows]


def spots_around(db: sqlite3.Connection, spots: Iterable[Spot], reach: int) -> Iterator[Spot]:
    """The turns around many passages at once, in no order; what is no dialog has no neighbours."""
    talks = [spot for spot in spots if spot.strand is not None]
    spans = [(spot.record, spot.n - reach, spot.n + reach) for spot in talks if spot.kind == "entry"]
    chunks = [(spot.conversation, spot.created, spot.place, spot.record) for spot in talks if spot.kind == "chunk"]
    queries: list[tuple[str, tuple[object, ...]]] = [(_SAME_RECORDS, (json.dumps(spans),))] if spans else []
    if chunks:
        queries += [(_BEFORE, (json.dumps(chunks), reach)), (_AFTER, (json.dumps(chunks), reach + 1))]
    for query, given in queries:
        yield from map(Spot._make, db.execute(query, given))


def hops(db: sqlite3.Connection, ids: Sequence[str]) -> list[Hop]:
    """The records one telling link away from these."""
    return [Hop(*row) for row in db.execute(_HOPS, {"ids": json.dumps(list(ids))}) if row[0] != row[1]]


def replacements(db: sqlite3.Connection, ids: Iterable[str], as_of: float | None = None) -> dict[str, str]:
    """Which record replaces which of these; what came after `as_of` does not count."""
    found: dict[str, str] = {}
    for old, new, created, written in db.execute(_REPLACED, (json.dumps(list(ids)),)):
        if as_of is None or max(created or 0.0, written) <= as_of:
            found[old] = new
    return found


def handles(db: sqlite3.Connection, question: str) -> list[Handle]:
    """The records a question names: by id or a unique beginning of one, title, alias, tag, file or memo name."""
    whole, found = question.strip(), dict[str, str]()
    if len(whole) <= HANDLE_SIGNS:
        for row in _named(db, whole):
            found.setdefault(*row)
        for id in _tagged(db, whole.removeprefix("#")):
            found.setdefault(id, f"tag {whole.removeprefix('#')}")
    for token in list(dict.fromkeys(_TOKEN.findall(question[:4000])))[:TOKENS]:
        for id, how in _token(db, token.rstrip(".:"), whole):
            found.setdefault(id, how)
    return [Handle(id, how) for id, how in found.items()]


def _named(db: sqlite3.Connection, handle: str) -> Iterator[tuple[str, str]]:
    rows = resolve(db, handle)
    exact = rows and (rows[0].id == handle or fold(rows[0].title) == fold(handle) or not rows[0].id.startswith(handle))
    for row in rows if exact or (len(rows) == 1 and re.search(r"[_:-]|\d", handle)) else ():  # a plain word begins no id
        yield row.id, "id" if row.id.startswith(handle) else "title" if fold(row.title) == fold(handle) else "name"


def _tagged(db: sqlite3.Connection, tag: str) -> list[str]:
    query = ("SELECT r.id FROM tags t JOIN records r ON r.n = t.record WHERE t.tag IN (?, ?) "
             "ORDER BY r.created DESC LIMIT ?")
    return [id for id, in db.execute(query, (tag, tag.casefold(), HANDLES))]


def _token(db: sqlite3.Connection, token: str, whole: str) -> Iterator[tuple[str, str]]:
    """One word of a question: a #tag, a file, or what can only be an id or a memo's name."""
    if token.startswith("#") and len(token) > 1:
        yield from ((id, f"tag {token[1:]}") for id in _tagged(db, token[1:]))
    elif "/" in token or re.search(r"\w\.\w{1,8}$", token):
        yield from ((id, f"file {token}") for id in _touching(db, token))
        yield from ((id, "path") for id, in db.execute("SELECT id FROM records WHERE unit = ? LIMIT 2", (token,)))
        if token.endswith(".md"):
            yield from _named(db, token.rsplit("/", 1)[-1].removesuffix(".md"))
    elif token != whole and len(token) >= 6 and re.search(r"[_:-]|\d", token):
        yield from _named(db, token)


def _touching(db: sqlite3.Connection, path: str) -> list[str]:
    """Works that touched a file, newest first; the path is compared by whole segments from its end."""
    tail = tail_of(path)
    query = ("SELECT DISTINCT m.id FROM file_works x JOIN memories m ON m.id = x.memory_id "
             "WHERE x.tail >= ? AND x.tail < ? ORDER BY m.created_at DESC LIMIT ?")
    return [id for id, in db.execute(query, (tail, tail[:-1] + "0", HANDLES))] if tail else []
