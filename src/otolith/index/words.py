"""Full text: which passages hold a word, which records hold most of some words; and records that a question
names outright.

Recall asks word by word for bare row numbers, which SQLite hands over in one string, and does the scoring
itself. That is ten times faster than `bm25()`, which looks up the length of every row, and as good: in
passages of at most 200 tokens neither length nor repetition says much. A word is always a phrase in quotes,
never search syntax. Reads only.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from otolith.index.cards import Cards
from otolith.index.database import ROW, Facet, Row, match
from otolith.model.record import tail_of
from otolith.model.text import fold, searchable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

MOST_WORDS = 200  # that were asked for lately and are kept at hand
HANDLES = 20  # records that one handle may lead to
TOKENS = 32  # words of a question that are tried as handles
HANDLE_LENGTH = 300  # characters of a question that may as a whole be a handle
_TOKEN = re.compile(r"[^\s\"'`,;!?()\[\]{}<>“”«»]{2,200}")


class Handle(NamedTuple):
    """A record that a question names outright, and how."""

    id: str
    how: str


def numbers_in(listed: str | None) -> Ints:
    """The numbers of a `group_concat`."""
    import numpy as np

    return np.fromstring(listed, np.int64, sep=",") if listed else np.zeros(0, np.int64)


class Words(Facet):
    """Passages and records by their words."""

    def look_up(self, word: str) -> Ints:
        """The passages that have a word, in any of its forms, ascending."""
        return self.look_up_all([word])[0]

    def look_up_all(self, words: Iterable[str]) -> list[Ints]:
        """For each word the passages that have it."""
        holding: dict[str, Ints] = self.index.kept("holding", dict)
        if len(holding) > MOST_WORDS:
            holding.clear()
        rows = []
        for word in words:
            if (held := holding.get(word)) is None:
                held = holding[word] = numbers_in(self.db.value(
                    "SELECT group_concat(rowid) FROM words WHERE words MATCH ?", (match([word]),)))
            rows.append(held)
        return rows

    def best(self, words: Sequence[str], *, kind: str, limit: int, but: str = "",
             title: float = 2.0) -> list[Row]:
        """Records of a kind that hold most of some words, best first; a title weighs more."""
        query = (f"SELECT {ROW} FROM words JOIN passages p ON p.n = words.rowid JOIN records r ON r.n = "
                 "p.record "
                 "WHERE words MATCH ? AND r.kind = ? AND r.id <> ? ORDER BY bm25(words, 1.0, ?, 1.0), r.id "
                 "LIMIT ?")
        rows = self.db.select(Row, query, (match(words), kind, but, title, limit)) if words else []
        return list({row.id: row for row in rows}.values())

    def topics(self, word: str, passages: int) -> set[str]:
        """The topics of which one of the newest so many passages that hold a word is a part."""
        query = ("SELECT DISTINCT r.topic FROM (SELECT rowid AS n FROM words WHERE words MATCH ? ORDER BY "
                 "rowid DESC LIMIT ?) f "
                 "JOIN passages p ON p.n = f.n JOIN records r ON r.n = p.record WHERE r.topic IS NOT NULL")
        return set(self.db.column(query, (match([searchable(word).strip()]), passages)))

    def words_like(self, initial: str) -> Iterator[tuple[str, int]]:
        """Every word of the memory with that initial, and in how many passages it is."""
        self.db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary "
                        "USING fts5vocab(main, words, row)")
        query = "SELECT term, doc FROM temp.vocabulary WHERE term >= ? AND term < ?"
        yield from self.db.execute(query, (initial, initial + "\U0010ffff"))

    def speakers(self) -> Container[str]:
        """The names of those who speak in the memory, casefolded."""
        return self.index.kept("speakers", lambda: set(
            self.db.column("SELECT word FROM speakers WHERE passages > 0")))

    def count_passages(self) -> int:
        return self.index.kept("passages", lambda: int(self.db.value("SELECT count(*) FROM passages")))

    def last_passage(self) -> int:
        """The highest number of a passage: about how many there are, known at once."""
        return self.index.kept("last passage", lambda: int(
            self.db.value("SELECT coalesce(max(n), 0) FROM passages")))

    # Handles

    @cached_property
    def _cards(self) -> Cards:
        return Cards(self.index)

    def handles(self, question: str) -> list[Handle]:
        """The records a question names: by id or its beginning, title, alias, tag, file or memo name."""
        whole, named = question.strip(), dict[str, str]()
        if len(whole) <= HANDLE_LENGTH:
            tag = whole.removeprefix("#")
            for id, how in (*self._named(whole), *((id, f"tag {tag}") for id in self._tagged(tag))):
                named.setdefault(id, how)
        for token in list(dict.fromkeys(_TOKEN.findall(question[:4000])))[:TOKENS]:
            for id, how in self._token(token.rstrip(".:"), whole):
                named.setdefault(id, how)
        return [Handle(id, how) for id, how in named.items()]

    def _named(self, handle: str) -> Iterator[tuple[str, str]]:
        rows = self._cards.resolve(handle)
        exact = rows and (rows[0].id == handle or fold(rows[0].title) == fold(handle)
                          or not rows[0].id.startswith(handle))
        # a plain word begins no id
        for row in rows if exact or (len(rows) == 1 and re.search(r"[_:-]|\d", handle)) else ():
            title = "title" if fold(row.title) == fold(handle) else "name"
            yield row.id, "id" if row.id.startswith(handle) else title

    def _tagged(self, tag: str) -> list[str]:
        query = ("SELECT r.id FROM tags t JOIN records r ON r.n = t.record WHERE t.tag IN (?, ?) "
                 "ORDER BY r.created DESC, r.at DESC LIMIT ?")
        return self.db.column(query, (tag, tag.casefold(), HANDLES))

    def _token(self, token: str, whole: str) -> Iterator[tuple[str, str]]:
        """One word of a question: a #tag, a file, or what can only be an id or a memo's name."""
        if token.startswith("#") and len(token) > 1:
            yield from ((id, f"tag {token[1:]}") for id in self._tagged(token[1:]))
        elif "/" in token or re.search(r"\w\.\w{1,8}$", token):
            yield from ((id, f"file {token}") for id in self._touching(token))
            yield from ((id, "path") for id in self.db.column("SELECT id FROM records WHERE unit = ? LIMIT 2",
                                                              (token,)))
            if token.endswith(".md"):
                yield from self._named(token.rsplit("/", 1)[-1].removesuffix(".md"))
        elif token != whole and len(token) >= 6 and re.search(r"[_:-]|\d", token):
            yield from self._named(token)

    def _touching(self, path: str) -> list[str]:
        """Works that touched a file, newest first; the path is compared by whole segments from its end."""
        tail = tail_of(path)
        query = ("SELECT DISTINCT m.id FROM file_works x JOIN memories m ON m.id = x.memory_id "
                 "WHERE x.tail >= ? AND x.tail < ? ORDER BY m.created_at DESC, (SELECT at FROM records "
                 "WHERE id = m.id) DESC LIMIT ?")
        return self.db.column(query, (tail, tail[:-1] + "0", HANDLES)) if tail else []
