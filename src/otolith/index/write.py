"""Filling the index: units in, units out; what the ledger counts of their use. Called by sync, home and usage
only.

A unit's rows are replaced as a whole. Many units are written in one go, table by table, which is what makes a
rebuild fast; a single write takes the same path with one unit.
"""

from __future__ import annotations

import gc
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from otolith.index.database import LINK, ROW, Connection, Facet, LinkRow, Row
from otolith.model.kinds import LINK_TYPES
from otolith.model.record import Card, Finding, Link, Stretch, Usage, tail_of, threads_of
from otolith.model.text import fold, searchable

if TYPE_CHECKING:
    from otolith.model.dialog import Mention, Review

HOLDS = ("new", "old", "both", "open")  # which of two claims holds; `open` takes an answer back
SELDOM = 100_000  # objects made between two searches for circles
FILLED = "filled"  # the tables that had rows at the last sweep
_NONE, _NONE_HERE = float("-inf"), "nullif(?, -9e999)"
_marks: dict[str, str] = {}  # table → a mark for each of its columns
Stamp = tuple[bytes, int | str, bool, str, int]  # a version, the hash, when it was seen (ns)


class Answer(NamedTuple):
    """A person's answer on two claims: a row of `settled`."""

    at: str
    mark: str
    old: str
    new: str
    holds: str


class Unit(NamedTuple):
    """What sync read: the files of a unit, and what they hold or what is wrong with them."""

    name: str
    files: Mapping[str, Stamp]
    cards: Sequence[Card] = ()
    records: Sequence[Any] = ()
    links: Sequence[tuple[Link, str]] = ()  # links that stand in no record, with their trust
    mentions: Sequence[Mention] = ()  # facts, as an entry states them
    reviews: Sequence[Review] = ()  # what a person said about facts
    answers: Sequence[Answer] | None = None  # what a person said about claims that do not go together
    mine: Sequence[str] | None = None  # imports and records that a person called theirs
    archived: Sequence[tuple[str, str, str]] = ()  # id, kind, title
    findings: Sequence[Finding] = ()
    broken: bool = False  # keep the last good rows


class _Rows:
    """The rows of some records, table by table."""

    def __init__(self) -> None:
        self.records: list[Row] = []
        self.tags: list[tuple[str, int, int]] = []
        self.names: list[tuple[str, int, int]] = []
        self.passages: list[tuple[Any, ...]] = []
        self.words: list[tuple[Any, ...]] = []
        self.links: list[LinkRow] = []
        self.speakers: Counter[str] = Counter()

    def add(self, unit: str, card: Card, n: int) -> int:
        """The rows of one record, which bears the number of its first passage; returns the next number."""
        cut = card.cut() or (Stretch(0, 0, ""),)  # a title alone can be found too
        self.records.append(Row(
            n, card.id, card.kind, card.type, card.title, unit, card.created, card.at, card.updated,
            card.importance, card.confidence, card.project, card.agent, card.session, card.conversation,
            card.topic,
            None if card.success is None else int(card.success), card.trust, card.valid_from,
            card.valid_until, int(card.sunk), int(card.pinned), card.usage.count, card.usage.last,
            card.principal, card.place, n + len(cut) - 1))
        self.tags += [(tag, n, place) for place, tag in enumerate(dict.fromkeys(card.tags))]
        if name := fold(card.title):
            self.names.append((name, n, 0))
        self.names += [(fold(further), n, 1) for further in card.names if further]
        if card.passages is None:  # a turn is found by its own words only, not by title and tags
            self.add_passages(cut, n, n, searchable(card.title), " ".join(sorted(set(card.tags))))
        else:
            self.add_passages(cut, n, n)
        self.links.extend(_link_row(link, unit, card.trust) for link in card.links)
        return n + len(cut)

    def add_passages(self, cut: Sequence[Stretch], n: int, record: int, title: str | None = None,
                     tags: str = "") -> None:
        """The passages of a record, numbered from n on; what stands at its head is indexed with them."""
        for number, passage in enumerate(cut, n):
            for word in _words_of(passage.speaker):
                self.speakers[word] += 1
            self.passages.append((number, record, passage.start, passage.stop, passage.turn, passage.speaker,
                                  passage.said, int(title is not None), passage.text))
            self.words.append((number, searchable(passage.text), title or "", tags))

    def insert(self, db: Connection) -> None:
        _insert_sparse(db, "records", self.records)
        if self.tags:
            db.executemany("INSERT OR IGNORE INTO tags VALUES (?,?,?)", self.tags)
        if self.names:
            db.executemany("INSERT OR IGNORE INTO names VALUES (?,?,?)", self.names)
        _insert_sparse(db, "passages", self.passages)
        if self.words:
            db.executemany("INSERT INTO words(rowid, text, title, tags) VALUES (?,?,?,?)", self.words)
        _insert_sparse(db, "links", self.links)
        if self.speakers:
            db.executemany("INSERT INTO speakers VALUES (?,?) ON CONFLICT DO UPDATE SET "
                           "passages = passages + excluded.passages", list(self.speakers.items()))


def _words_of(speaker: str | None) -> list[str]:
    """The words of a speaker's name, as questions are compared with them."""
    return speaker.casefold().split() if speaker else []


def _link_row(link: Link, unit: str, trust: str) -> LinkRow:
    a, word, b = link.canonical()
    meaning = LINK_TYPES.get(link.type)
    target = f"name:{fold(b)}" if link.type == "mentions" else b
    return LinkRow(a, word, target, link.type, int(bool(meaning and meaning.inverted)), link.strength,
                   link.context, link.created, link.edge_id, unit, trust)


def _insert_sparse(db: Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Rows with many a None, as dear to bind as ten texts: a number that is none stands for it."""
    if not rows:
        return
    if table not in _marks:
        columns = db.column("SELECT \"notnull\" OR pk FROM pragma_table_info(?) ORDER BY cid", (table,))
        _marks[table] = ",".join("?" if filled else _NONE_HERE for filled in columns)
    db.executemany(f"INSERT INTO {table} VALUES ({_marks[table]})",
                   [[_NONE if value is None else value for value in row] for row in rows])


class Units(Facet):
    """What the files of a home hold, as the index keeps it."""

    @contextmanager
    def filling(self, empty: bool) -> Iterator[None]:
        """Many writes. An empty index is filled without its indexes by column, which are then made in one go.

        What is read for it holds no circles, so Python is told to look for some less often meanwhile.
        """
        seldom, *others = gc.get_threshold()
        query = ("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL "
                 "AND tbl_name IN ('documents', 'records', 'tags', 'names', 'passages', 'links')")
        made = self.db.execute(query) if empty else []
        for name, _ in made:
            self.db.execute(f"DROP INDEX {name}")
        gc.set_threshold(max(seldom, SELDOM) if seldom else 0, *others)
        try:
            yield
        finally:
            gc.set_threshold(seldom, *others)
        for _, statement in made:
            self.db.execute(statement)

    def put(self, units: Sequence[Unit]) -> None:
        """Write units of which the index holds nothing, or nothing any more."""
        self._put_documents(units)
        rows, n = _Rows(), self._next_number()
        for unit in units:
            for card in unit.cards:
                n = rows.add(unit.name, card, n)
            rows.links.extend(_link_row(link, unit.name, trust) for link, trust in unit.links)
        rows.insert(self.db)
        for unit in units:
            for record in unit.records:
                if record.kind in _SEEDS:
                    _SEEDS[record.kind].put(self.db, record)

    def extend(self, unit: Unit, passages: Sequence[Stretch], names: Sequence[str]) -> None:
        """Add to the record of a unit that grew. Its passages are then numbered with gaps between n and last,
        in which others' may lie, until the unit is read again as a whole.
        """
        self._put_documents([unit])
        row = self.db.first(Row, f"SELECT {ROW} FROM records r WHERE unit = ?", (unit.name,))
        if row is not None and passages:
            rows, n = _Rows(), self._next_number()
            rows.add_passages(passages, n, row.n)
            rows.names = [(fold(name), row.n, 1) for name in names]
            rows.insert(self.db)
            self.db.execute("UPDATE records SET last = ? WHERE n = ?", (n + len(passages) - 1, row.n))

    def put_cards(self, cards: Sequence[tuple[str, Card]]) -> None:
        """Write records that have no unit of their own, each with its path; an equal one stays as it is."""
        query = f"SELECT {ROW} FROM records r WHERE id IN (SELECT value FROM json_each(?))"
        ids = json.dumps([card.id for _, card in cards])
        standing = {row.id: row for row in self.db.select(Row, query, (ids,))}
        rows, n = _Rows(), self._next_number()
        for path, card in cards:
            if card.id in standing:
                if self._is_equal(standing[card.id], path, card):
                    continue
                self.drop_record(card.id)
            n = rows.add(path, card, n)
        if rows.records:
            rows.insert(self.db)

    def _is_equal(self, row: Row, path: str, card: Card) -> bool:
        """Whether a record's rows say what its card says, whatever their numbers."""
        fresh = _Rows()
        fresh.add(path, card, row.n)
        texts = self.db.column("SELECT text FROM passages WHERE n BETWEEN ? AND ?", (row.n, row.last))
        query = f"SELECT {LINK} FROM links l WHERE unit = ? AND (a = ? OR b = ?)"
        return (row._replace(last=0) == fresh.records[0]._replace(last=0)
                and texts == [passage[-1] for passage in fresh.passages]
                and self.db.select(LinkRow, query, (path, card.id, card.id)) == fresh.links)

    def _next_number(self) -> int:
        """A number that no passage ever had."""
        return 1 + int(self.db.value("SELECT max(coalesce((SELECT max(n) FROM passages), 0), "
                                     "coalesce((SELECT max(n) FROM gone), 0))"))

    def _put_documents(self, units: Iterable[Unit]) -> None:
        documents: list[tuple[Any, ...]] = []
        problems: list[Finding] = []
        archived: list[tuple[Any, ...]] = []
        for unit in units:
            documents.extend((path, *stamp) for path, stamp in unit.files.items())
            problems.extend(unit.findings)
            archived.extend((*item, unit.name) for item in unit.archived)
        self.db.executemany("INSERT OR REPLACE INTO documents VALUES (?,?,?,?,?,?)", documents)
        if problems:
            self.db.executemany("INSERT INTO problems VALUES (?,?,?,?,?)", problems)
        if archived:
            self.db.executemany("INSERT OR REPLACE INTO archived VALUES (?,?,?,?)", archived)

    def drop(self, unit: str, files: Sequence[str], *, keep_records: bool = False) -> None:
        """Forget a unit and the files it may consist of; a broken one keeps its last good records."""
        marks = ",".join("?" * len(files))
        if not self.db.execute(f"DELETE FROM documents WHERE path IN ({marks})", files).rowcount:
            return  # nothing was known of it
        self._may_empty()
        self.db.execute(f"DELETE FROM problems WHERE path IN ({marks})", files)
        if keep_records:
            return
        self.db.execute("DELETE FROM archived WHERE path = ?", (unit,))
        self.db.execute("DELETE FROM links WHERE unit = ?", (unit,))
        for row in self.db.select(Row, f"SELECT {ROW} FROM records r WHERE unit = ?", (unit,)):
            self._drop_rows(row)

    def drop_record(self, record: str) -> None:
        """Forget one record that stands in no unit of its own."""
        row = self.db.first(Row, f"SELECT {ROW} FROM records r WHERE id = ?", (record,))
        if row is not None:
            self._may_empty()
            self._drop_rows(row)
            self.db.execute("DELETE FROM links WHERE unit = ? AND (a = ? OR b = ?)",
                            (row.unit, record, record))

    def _may_empty(self) -> None:
        """Which tables have rows is not known until the next sweep."""
        self.db.execute("UPDATE meta SET value = '' WHERE key = ? AND value <> ''", (FILLED,))

    def _drop_rows(self, row: Row) -> None:
        """Full text keeps no copy of what it indexed, so what it was given is told to it again."""
        db, span = self.db, (row.n, row.last)
        tags = " ".join(db.column("SELECT tag FROM tags WHERE record = ? ORDER BY tag", (row.n,)))
        query = "SELECT n, head, text, speaker FROM passages WHERE n BETWEEN ? AND ? AND record = ?"
        passages = list(db.execute(query, (*span, row.n)))
        for n, head, text, speaker in passages:
            db.execute("INSERT INTO words(words, rowid, text, title, tags) VALUES ('delete', ?, ?, ?, ?)",
                       (n, searchable(text), searchable(row.title) if head else "", tags if head else ""))
            db.executemany("UPDATE speakers SET passages = passages - 1 WHERE word = ?",
                           [(word,) for word in _words_of(speaker)])
        numbers = [(passage[0],) for passage in passages]
        for statement in ("INSERT OR IGNORE INTO gone VALUES (?)", "DELETE FROM passages WHERE n = ?",
                          "DELETE FROM pieces WHERE n = ?"):
            db.executemany(statement, numbers)
        db.execute("DELETE FROM names WHERE name = ? AND record = ?", (fold(row.title), row.n))
        for table in ("tags WHERE record = ?", "names WHERE record = ? AND further", "records WHERE n = ?"):
            db.execute(f"DELETE FROM {table}", (row.n,))
        for statement in _SEEDS[row.kind].drops if row.kind in _SEEDS else ():
            db.execute(statement, (row.id,))

    # Use

    def count_uses(self, totals: Mapping[str, Usage], *, anew: bool) -> None:
        """Add what a part of the ledger counts, or begin anew with it; seed 003's table follows."""
        if anew:
            self.db.execute("DELETE FROM usage")
        self.db.executemany("INSERT INTO usage VALUES (?,?,?) ON CONFLICT(id) DO UPDATE SET "
                            "count = count + excluded.count, "
                            "last = max(coalesce(last, 0), coalesce(excluded.last, 0))",
                            [(record, usage.count, usage.last) for record, usage in totals.items()])
        self.db.executemany(
            "UPDATE memories SET (access_count, last_accessed) = (SELECT r.uses + u.count, CAST(max(coalesce("
            "r.used, 0), coalesce(u.last, 0)) AS INTEGER) FROM records r JOIN usage u ON u.id = r.id WHERE "
            "r.id = memories.id) WHERE id = ?", [(record,) for record in totals if record.startswith("mem_")])

# The tables of seed 003 hold works, agents, chapters and wisdom.

_UNMARK_WORKS = ("DELETE FROM seen WHERE rung = 'chapters' AND key IN "
                 "(SELECT memory_id FROM chapter_memories WHERE chapter_id = ?)")
_UNMARK_CHAPTERS = ("DELETE FROM seen WHERE rung = 'wisdom' AND key IN "
                    "(SELECT chapter_id FROM wisdom_chapters WHERE wisdom_id = ?)")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _list(value: Any) -> str | None:
    return None if value is None else _json(list(value))


def _seconds(value: float | None) -> int | None:
    return None if value is None else int(value)


def _put_work(db: Connection, work: Any) -> None:
    db.execute("INSERT OR IGNORE INTO agents VALUES (?, 'main', NULL, ?, ?, NULL)",
               (work.agent_id, work.project_id, _seconds(work.created_at)))
    parts = {key: _json(value) for key, value in work.to_dict().items()
             if key in ("intent", "perception", "reasoning", "actions", "outcome", "tags")}
    db.execute(
        f"INSERT OR REPLACE INTO memories SELECT {'?,' * 16} ? + coalesce(u.count, 0), "
        "nullif(max(coalesce(?, 0), coalesce(CAST(u.last AS INTEGER), 0)), 0), NULL "
        "FROM (SELECT ? AS id) w LEFT JOIN usage u ON u.id = w.id",
        (work.id, work.agent_id, work.project_id, work.session_id, _seconds(work.created_at),
         work.intent.goal, work.intent.task_type, int(work.outcome.success), work.outcome.summary,
         parts["intent"], parts["perception"], parts["reasoning"], parts["actions"], parts["outcome"],
         parts["tags"], work.importance, work.access_count, _seconds(work.last_accessed), work.id))
    files = work.files()
    db.executemany("INSERT OR REPLACE INTO memory_files VALUES (?,?,?)",
                   [(work.id, *touched) for touched in files])
    db.executemany("INSERT OR REPLACE INTO file_works SELECT ?, id, ?, unit FROM records WHERE id = ?",
                   [(tail_of(path), operation, work.id) for path, operation in files])
    db.executemany("INSERT OR IGNORE INTO threads VALUES (?,?,?)",
                   [(thread, work.created, work.id)
                    for thread in threads_of(work.project_id, files, work.tags, work.session_id)])
    db.executemany("INSERT OR REPLACE INTO memory_links VALUES (?,?,?,?)",
                   [(link.source, link.target, link.type, _seconds(link.created))
                    for link in work.all_links()])


def _put_agent(db: Connection, agent: Any) -> None:
    if agent.parent_id:
        db.execute("INSERT OR IGNORE INTO agents VALUES (?, 'main', NULL, ?, ?, NULL)",
                   (agent.parent_id, agent.project_id, _seconds(agent.created_at)))
    db.execute("INSERT OR REPLACE INTO agents VALUES (?,?,?,?,?,?)",
               (agent.id, agent.type, agent.parent_id, agent.project_id, _seconds(agent.created_at),
                _json(dict(agent.metadata))))


def _put_chapter(db: Connection, chapter: Any) -> None:
    db.execute("INSERT OR REPLACE INTO chapters VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
               (chapter.id, chapter.project_id, _seconds(chapter.created_at), _seconds(chapter.updated_at),
                chapter.title, chapter.summary, _list(chapter.learnings), _seconds(chapter.start_ts),
                _seconds(chapter.end_ts), _list(chapter.tags), _list(chapter.topics), chapter.origin))
    db.executemany("INSERT OR REPLACE INTO chapter_memories VALUES (?,?,?)",
                   [(chapter.id, member, position) for position, member in enumerate(chapter.memories)])
    db.execute(_UNMARK_WORKS, (chapter.id,))


def _put_wisdom(db: Connection, wisdom: Any) -> None:
    lists = map(_list, (wisdom.insights, wisdom.patterns, wisdom.best_practices, wisdom.tags))
    db.execute("INSERT OR REPLACE INTO wisdom VALUES (?,?,?,?,?,?,?,?,?,?,?)",
               (wisdom.id, wisdom.project_id, _seconds(wisdom.created_at), _seconds(wisdom.updated_at),
                wisdom.summary, *lists, _seconds(wisdom.start_ts), _seconds(wisdom.end_ts)))
    db.executemany("INSERT OR REPLACE INTO wisdom_chapters VALUES (?,?)",
                   [(wisdom.id, name) for name in wisdom.chapters])
    db.execute(_UNMARK_CHAPTERS, (wisdom.id,))


class _Seed(NamedTuple):
    """How a kind of seed 003 comes into the seed's tables, and what is run with its id when it goes.

    A chapter or wisdom that comes or goes takes the marks of what it stands on with it: the next climb looks
    at that again. A work or chapter that goes leaves a mark without a stamp, also if it was never seen.
    """

    put: Callable[[Connection, Any], None]
    drops: tuple[str, ...]


_SEEDS = {
    "work": _Seed(_put_work, (
        "INSERT OR IGNORE INTO seen VALUES ('chapters', ?, NULL)", "DELETE FROM memories WHERE id = ?",
        "DELETE FROM memory_files WHERE memory_id = ?", "DELETE FROM memory_links WHERE source_id = ?",
        "DELETE FROM file_works WHERE memory_id = ?", "DELETE FROM threads WHERE id = ?")),
    "agent": _Seed(_put_agent, (
        "DELETE FROM agents WHERE id = ?",
        "INSERT INTO agents SELECT agent_id, 'main', NULL, project_id, min(created_at), NULL FROM memories "
        "WHERE agent_id = ? GROUP BY agent_id")),
    "chapter": _Seed(_put_chapter, (
        _UNMARK_WORKS, "INSERT OR IGNORE INTO seen VALUES ('wisdom', ?, NULL)",
                                    "DELETE FROM chapters WHERE id = ?",
        "DELETE FROM chapter_memories WHERE chapter_id = ?")),
    "wisdom": _Seed(_put_wisdom, (
        _UNMARK_CHAPTERS, "DELETE FROM wisdom WHERE id = ?",
                                  "DELETE FROM wisdom_chapters WHERE wisdom_id = ?")),
}
