"""Filling the index: units in, units out. Called by sync only.

A unit's rows are replaced as a whole. Many units are written in one go, table by table, which is what makes a rebuild
fast; a single write takes the same path with one unit.
"""

from __future__ import annotations

import gc
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from otolith.index.read import rows_of
from otolith.model.kinds import LINK_TYPES
from otolith.model.record import Card, Finding, Link, Stretch, tail_of, threads_of
from otolith.model.text import fold, searchable

if TYPE_CHECKING:
    from otolith.model.dialog import Mention, Review

SELDOM = 100_000  # objects made between two searches for circles
_NONE, _NONE_HERE = float("-inf"), "nullif(?, -9e999)"
_marks: dict[str, str] = {}  # table → a mark for each of its columns
Stamp = tuple[bytes, bytes, bool, str, int]  # a version, the hash, when it was seen (ns)


class Unit(NamedTuple):
    """What sync read: the files of a unit, and what they hold or what is wrong with them."""

    name: str
    files: Mapping[str, Stamp]
    cards: Sequence[Card] = ()
    records: Sequence[Any] = ()
    links: Sequence[tuple[Link, str]] = ()  # links that stand in no record, with their trust
    mentions: Sequence[Mention] = ()  # facts, as an entry states them
    reviews: Sequence[Review] = ()  # what a person said about facts
    archived: Sequence[tuple[str, str, str]] = ()  # id, kind, title
    findings: Sequence[Finding] = ()
    broken: bool = False  # keep the last good rows


class _Rows:
    def __init__(self) -> None:
        self.records: list[tuple[Any, ...]] = []
        self.tags: list[tuple[str, int, int]] = []
        self.names: list[tuple[str, int, int]] = []
        self.passages: list[tuple[Any, ...]] = []
        self.words: list[tuple[Any, ...]] = []
        self.links: list[tuple[Any, ...]] = []
        self.speakers: Counter[str] = Counter()


def words_of(speaker: str | None) -> list[str]:
    """The words of a speaker's name, as questions are compared with them."""
    return speaker.casefold().split() if speaker else []


@contextmanager
def filling(db: sqlite3.Connection, empty: bool) -> Iterator[None]:
    """Many writes. An empty index is filled without its look-up trees, which are then made in one go.

    What is read for it holds no circles, so Python is told to look for some less often meanwhile.
    """
    seldom, *others = gc.get_threshold()
    made = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN "
                      "('documents', 'records', 'tags', 'names', 'passages', 'links')").fetchall() if empty else []
    for name, _ in made:
        db.execute(f"DROP INDEX {name}")
    gc.set_threshold(max(seldom, SELDOM) if seldom else 0, *others)
    try:
        yield
    finally:
        gc.set_threshold(seldom, *others)
    for _, statement in made:
        db.execute(statement)


def put(db: sqlite3.Connection, units: Sequence[Unit]) -> None:
    """Write units of which the index holds nothing, or nothing any more."""
    _put_documents(db, units)
    rows = _Rows()
    next_row = _next_row(db)
    for unit in units:
        for card in unit.cards:
            next_row = _card_rows(rows, unit.name, card, next_row)
        rows.links.extend(_link_row(link, unit.name, trust) for link, trust in unit.links)
    _insert(db, rows)
    for unit in units:
        for record in unit.records:
            put_seed_rows(db, record)


def put_cards(db: sqlite3.Connection, cards: Sequence[tuple[str, Card]]) -> None:
    """Write records that stand in no unit of their own, each with the path it is found at; an equal one stays as it is."""
    rows, known = _Rows(), rows_of(db, [card.id for _, card in cards])
    start = next_row = _next_row(db)
    for path, card in cards:
        before = known.get(card.id)
        if before is not None:
            found = _Rows()
            _card_rows(found, path, card, next_row)
            texts = [text for text, in db.execute("SELECT text FROM passages WHERE n BETWEEN ? AND ?", (before.n, before.last))]
            links = db.execute("SELECT * FROM links WHERE unit = ? AND (a = ? OR b = ?)", (path, card.id, card.id)).fetchall()
            if before[1:-1] == found.records[0][1:-1] and texts == [passage[-1] for passage in found.passages] \
                    and links == found.links:
                continue
            drop_record(db, card.id)
        next_row = _card_rows(rows, path, card, next_row)
    if next_row != start:
        _insert(db, rows)


def _next_row(db: sqlite3.Connection) -> int:
    """A number that no passage ever had."""
    used: int = db.execute("SELECT max(coalesce((SELECT max(n) FROM passages), 0), coalesce((SELECT max(n) FROM gone), 0))").fetchone()[0]
    return used + 1


def drop_record(db: sqlite3.Connection, record: str) -> None:
    """Forget one record that stands in no unit of its own."""
    row = db.execute("SELECT n, kind, unit FROM records WHERE id = ?", (record,)).fetchone()
    if row is not None:
        _drop_record(db, row[0], record, row[1])
        db.execute("DELETE FROM links WHERE unit = ? AND (a = ? OR b = ?)", (row[2], record, record))


def _put_documents(db: sqlite3.Connection, units: Iterable[Unit]) -> None:
    documents: list[tuple[Any, ...]] = []
    problems: list[Finding] = []
    archived: list[tuple[Any, ...]] = []
    for unit in units:
        documents.extend((path, *stamp) for path, stamp in unit.files.items())
        problems.extend(unit.findings)
        archived.extend((*item, unit.name) for item in unit.archived)
    db.executemany("INSERT OR REPLACE INTO documents VALUES (?,?,?,?,?,?)", documents)
    if problems:
        db.executemany("INSERT INTO problems VALUES (?,?,?,?,?)", problems)
    if archived:
        db.executemany("INSERT OR REPLACE INTO archived VALUES (?,?,?,?)", archived)


def _card_rows(rows: _Rows, unit: str, card: Card, next_row: int) -> int:
    """The rows of one record. It has the number of its first passage; no number is used twice."""
    n, cut = next_row, card.cut() or (Stretch(0, 0, ""),)  # a title alone can be found too
    rows.records.append((
        n, card.id, card.kind, card.type, card.title, unit, card.created, card.updated, card.importance, card.confidence,
        card.project, card.agent, card.session, card.conversation, card.topic,
        None if card.success is None else int(card.success), card.trust, card.valid_from, card.valid_until,
        int(card.sunk), int(card.pinned), card.usage.count, card.usage.last, card.place,
        n + len(cut) - 1))
    rows.tags += [(tag, n, place) for place, tag in enumerate(dict.fromkeys(card.tags))]
    if name := fold(card.title):
        rows.names.append((name, n, 0))
    rows.names += [(fold(further), n, 1) for further in card.names if further]
    title, joined = searchable(card.title), " ".join(sorted(set(card.tags)))
    head = card.passages is None  # a turn is found by its own words, any other passage also by its record's title and tags
    for number, passage in enumerate(cut, n):
        for word in words_of(passage.speaker):
            rows.speakers[word] += 1
        rows.passages.append((number, n, passage.start, passage.stop, passage.turn, passage.speaker, passage.said,
                              int(head), passage.text))
        rows.words.append((number, searchable(passage.text), title if head else "", joined if head else ""))
    rows.links.extend(_link_row(link, unit, card.trust) for link in card.links)
    return n + len(cut)


def _link_row(link: Link, unit: str, trust: str) -> tuple[Any, ...]:
    a, word, b = link.canonical()
    meaning = LINK_TYPES.get(link.type)
    target = f"name:{fold(b)}" if link.type == "mentions" else b
    return (a, word, target, link.type, int(bool(meaning and meaning.inverted)), link.strength, link.context, link.created,
            link.edge_id, unit, trust)


def _insert(db: sqlite3.Connection, rows: _Rows) -> None:
    _insert_sparse(db, "records", rows.records)
    if rows.tags:
        db.executemany("INSERT OR IGNORE INTO tags VALUES (?,?,?)", rows.tags)
    if rows.names:
        db.executemany("INSERT OR IGNORE INTO names VALUES (?,?,?)", rows.names)
    _insert_sparse(db, "passages", rows.passages)
    if rows.words:
        db.executemany("INSERT INTO words(rowid, text, title, tags) VALUES (?,?,?,?)", rows.words)
    _insert_sparse(db, "links", rows.links)
    if rows.speakers:
        db.executemany("INSERT INTO speakers VALUES (?,?) ON CONFLICT DO UPDATE SET passages = passages + excluded.passages",
                       list(rows.speakers.items()))


def _insert_sparse(db: sqlite3.Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Rows with many a None. To bind None costs as much as ten texts, so a number that is none stands for it."""
    if not rows:
        return
    if table not in _marks:
        columns = db.execute("SELECT \"notnull\" OR pk FROM pragma_table_info(?) ORDER BY cid", (table,))
        _marks[table] = ",".join("?" if filled else _NONE_HERE for filled, in columns)
    told = [[_NONE if value is None else value for value in row] for row in rows]
    db.executemany(f"INSERT INTO {table} VALUES ({_marks[table]})", told)


def drop(db: sqlite3.Connection, unit: str, files: Sequence[str], *, keep_records: bool = False) -> None:
    """Forget a unit and the files it may consist of; a broken one keeps its last good records."""
    marks = ",".join("?" * len(files))
    if not db.execute(f"DELETE FROM documents WHERE path IN ({marks})", files).rowcount:
        return  # nothing was known of it
    db.execute(f"DELETE FROM problems WHERE path IN ({marks})", files)
    if keep_records:
        return
    db.execute("DELETE FROM archived WHERE path = ?", (unit,))
    db.execute("DELETE FROM links WHERE unit = ?", (unit,))
    for n, record, kind in db.execute("SELECT n, id, kind FROM records WHERE unit = ?", (unit,)).fetchall():
        _drop_record(db, n, record, kind)


def _drop_record(db: sqlite3.Connection, n: int, record: str, kind: str) -> None:
    """Full text keeps no copy of what it indexed, so what it was given is told to it again."""
    title, last = db.execute("SELECT title, last FROM records WHERE n = ?", (n,)).fetchone()
    tags = " ".join(tag for tag, in db.execute("SELECT tag FROM tags WHERE record = ? ORDER BY tag", (n,)))
    for passage, head, text, speaker in db.execute("SELECT n, head, text, speaker FROM passages WHERE n BETWEEN ? AND ?",
                                                   (n, last)).fetchall():
        db.execute("INSERT INTO words(words, rowid, text, title, tags) VALUES ('delete', ?, ?, ?, ?)",
                   (passage, searchable(text), searchable(title) if head else "", tags if head else ""))
        db.executemany("UPDATE speakers SET passages = passages - 1 WHERE word = ?", [(word,) for word in words_of(speaker)])
    db.executemany("INSERT OR IGNORE INTO gone VALUES (?)", [(passage,) for passage in range(n, last + 1)])
    db.execute("DELETE FROM passages WHERE n BETWEEN ? AND ?", (n, last))
    db.execute("DELETE FROM names WHERE name = ? AND record = ?", (fold(title), n))
    for statement in ("DELETE FROM tags WHERE record = ?", "DELETE FROM names WHERE record = ? AND further",
                      "DELETE FROM records WHERE n = ?"):
        db.execute(statement, (n,))
    for statement in _SEED_DROPS.get(kind, ()):
        db.execute(statement, (record,))


# The tables of seed 003 hold works, agents, chapters and wisdom.

# A chapter or wisdom that comes or goes takes the marks of what it stands on with it: the next climb looks at that again.
# A work or chapter that goes leaves a mark without a stamp, also if it was never seen.
_UNMARK = {"chapter": "DELETE FROM seen WHERE rung = 'chapters' AND key IN "
                      "(SELECT memory_id FROM chapter_memories WHERE chapter_id = ?)",
           "wisdom": "DELETE FROM seen WHERE rung = 'wisdom' AND key IN "
                     "(SELECT chapter_id FROM wisdom_chapters WHERE wisdom_id = ?)"}
_SEED_DROPS = {
    "work": ("INSERT OR IGNORE INTO seen VALUES ('chapters', ?, NULL)", "DELETE FROM memories WHERE id = ?",
             "DELETE FROM memory_files WHERE memory_id = ?", "DELETE FROM memory_links WHERE source_id = ?",
             "DELETE FROM file_works WHERE memory_id = ?",
             "DELETE FROM threads WHERE id = ?"),
    "agent": ("DELETE FROM agents WHERE id = ?",
              """INSERT INTO agents SELECT agent_id, 'main', NULL, project_id, min(created_at), NULL FROM memories
              WHERE agent_id = ? GROUP BY agent_id"""),
    "chapter": (_UNMARK["chapter"], "INSERT OR IGNORE INTO seen VALUES ('wisdom', ?, NULL)", "DELETE FROM chapters WHERE id = ?",
                "DELETE FROM chapter_memories WHERE chapter_id = ?"),
    "wisdom": (_UNMARK["wisdom"], "DELETE FROM wisdom WHERE id = ?",
               "DELETE FROM wisdom_chapters WHERE wisdom_id = ?"),
}


def put_seed_rows(db: sqlite3.Connection, record: Any) -> None:
    """The record's rows in the seed's own tables, if its kind has any."""
    writer = _SEED_WRITERS.get(record.kind)
    if writer:
        writer(db, record)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _seconds(value: float | None) -> int | None:
    return None if value is None else int(value)


def _put_work(db: sqlite3.Connection, work: Any) -> None:
    db.execute("INSERT OR IGNORE INTO agents VALUES (?, 'main', NULL, ?, ?, NULL)",
               (work.agent_id, work.project_id, _seconds(work.created_at)))
    parts = {key: _json(value) for key, value in work.to_dict().items()
             if key in ("intent", "perception", "reasoning", "actions", "outcome", "tags")}
    db.execute(
        f"INSERT OR REPLACE INTO memories SELECT {'?,' * 16} ? + coalesce(u.count, 0), "
        "nullif(max(coalesce(?, 0), coalesce(CAST(u.last AS INTEGER), 0)), 0), NULL "
        "FROM (SELECT ? AS id) w LEFT JOIN usage u ON u.id = w.id",
        (work.id, work.agent_id, work.project_id, work.session_id, _seconds(work.created_at), work.intent.goal,
         work.intent.task_type, int(work.outcome.success), work.outcome.summary, parts["intent"], parts["perception"],
         parts["reasoning"], parts["actions"], parts["outcome"], parts["tags"], work.importance, work.access_count,
         _seconds(work.last_accessed), work.id))
    files = work.files()
    db.executemany("INSERT OR REPLACE INTO memory_files VALUES (?,?,?)", [(work.id, *touched) for touched in files])
    db.executemany("INSERT OR REPLACE INTO file_works SELECT ?, id, ?, unit FROM records WHERE id = ?",
                   [(tail_of(path), operation, work.id) for path, operation in files])
    db.executemany("INSERT OR IGNORE INTO threads VALUES (?,?,?)",
                   [(thread, work.created, work.id)
                    for thread in threads_of(work.project_id, files, work.tags, work.session_id)])
    db.executemany("INSERT OR REPLACE INTO memory_links VALUES (?,?,?,?)",
                   [(link.source, link.target, link.type, _seconds(link.created)) for link in work.all_links()])


def count_works(db: sqlite3.Connection, ids: Sequence[str]) -> None:
    """Bring the seed's access_count and last_accessed up to the ledger."""
    db.executemany(
        "UPDATE memories SET (access_count, last_accessed) = (SELECT r.uses + u.count, "
        "CAST(max(coalesce(r.used, 0), coalesce(u.last, 0)) AS INTEGER) FROM records r JOIN usage u ON u.id = r.id "
        "WHERE r.id = memories.id) WHERE id = ?", [(record,) for record in ids])


def _put_agent(db: sqlite3.Connection, agent: Any) -> None:
    if agent.parent_id:
        db.execute("INSERT OR IGNORE INTO agents VALUES (?, 'main', NULL, ?, ?, NULL)",
                   (agent.parent_id, agent.project_id, _seconds(agent.created_at)))
    db.execute("INSERT OR REPLACE INTO agents VALUES (?,?,?,?,?,?)",
               (agent.id, agent.type, agent.parent_id, agent.project_id, _seconds(agent.created_at),
                _json(dict(agent.metadata))))


def _put_chapter(db: sqlite3.Connection, chapter: Any) -> None:
    lists = [None if value is None else _json(list(value)) for value in (chapter.learnings, chapter.tags, chapter.topics)]
    db.execute("INSERT OR REPLACE INTO chapters VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
               (chapter.id, chapter.project_id, _seconds(chapter.created_at), _seconds(chapter.updated_at), chapter.title,
                chapter.summary, lists[0], _seconds(chapter.start_ts), _seconds(chapter.end_ts), lists[1], lists[2],
                chapter.origin))
    db.executemany("INSERT OR REPLACE INTO chapter_memories VALUES (?,?,?)",
                   [(chapter.id, member, position) for position, member in enumerate(chapter.memories)])
    db.execute(_UNMARK["chapter"], (chapter.id,))


def _put_wisdom(db: sqlite3.Connection, wisdom: Any) -> None:
    lists = [None if value is None else _json(list(value))
             for value in (wisdom.insights, wisdom.patterns, wisdom.best_practices, wisdom.tags)]
    db.execute("INSERT OR REPLACE INTO wisdom VALUES (?,?,?,?,?,?,?,?,?,?,?)",
               (wisdom.id, wisdom.project_id, _seconds(wisdom.created_at), _seconds(wisdom.updated_at), wisdom.summary,
                *lists, _seconds(wisdom.start_ts), _seconds(wisdom.end_ts)))
    db.executemany("INSERT OR REPLACE INTO wisdom_chapters VALUES (?,?)", [(wisdom.id, name) for name in wisdom.chapters])
    db.execute(_UNMARK["wisdom"], (wisdom.id,))


_SEED_WRITERS = {"work": _put_work, "agent": _put_agent, "chapter": _put_chapter, "wisdom": _put_wisdom}
