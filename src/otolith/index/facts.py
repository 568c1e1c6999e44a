"""The facts table in the index: mentions and reviews in, fact records out. Called by sync; read by verbs and recall.

Only what a change touches is settled again, whatever else the topic holds: a fact said once more changes nothing but its
evidence, a newer rival changes itself and the one it replaces. What a slot means is decided in model/facts_table. A
rebuild goes the same way and gives the same rows.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from typing import Any

from otolith.index import write
from otolith.index.write import Unit
from otolith.model.dialog import EVIDENCE_SHOWN, Fact, FactGroup, Look, Mention, Review, compose, mark, replay, settle, slot_of
from otolith.model.record import TRUST

_LATEST = ("SELECT topic, mark, fact, score, target, changes, trust FROM reviewed WHERE fact = ? AND mark > ? "
           "AND target IS NOT NULL ORDER BY mark DESC LIMIT 1")
_SCORE = ("SELECT score FROM (SELECT score, mark FROM reviewed WHERE fact = :id AND target IS NULL UNION ALL "
          "SELECT score, mark FROM reviewed WHERE target = :id AND score IS NOT NULL) WHERE mark <= :until "
          "ORDER BY mark DESC LIMIT 1")
_GROUPS = ("SELECT slot, id, count(*), max(confidence), min(trust), min(mark), max(mark), max(score) FROM said "
           "WHERE slot IN ({marks}) AND mark <= ? GROUP BY slot, id")
_STANDING = ("SELECT id, type, confidence, trust, project, (SELECT min(mark) FROM said s WHERE s.slot = r.id AND s.id = r.id), "
             "(SELECT max(mark) FROM said s WHERE s.slot = r.id AND s.id = r.id) FROM records r WHERE id IN ({marks})")
_OF_FACT = "(slot = :fact OR (id = :fact AND id <> slot))"  # its mentions as corrected; in this way the look-up trees are used
_AS_SAID = "(raw = :fact AND raw <> id)"  # what became another fact
_FOREVER = "~"  # after every mark
_written = json.JSONEncoder(ensure_ascii=False).encode  # made once, not for each fact
_AT_ONCE = 500  # slots or facts asked for in one statement
Said = tuple[Fact, str, str | None]  # the fact as said and corrected since, its unit, its project
Standing = dict[str, tuple[Any, ...]]  # fact → type, confidence, trust, project of its record, its first and its last mark


class Touched:
    """What is to be settled: slots as a whole, or only what new mentions at their end change."""

    def __init__(self) -> None:
        self.slots: dict[str, str] = {}  # slot → topic
        self.whole: set[str] = set()
        self.news: dict[str, dict[str, str]] = {}  # slot → fact → its first new mark
        self.ids: set[str] = set()  # facts whose records may no longer stand
        self.said: dict[tuple[str, str], Said] = {}  # (fact, mark) just read

    def add(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """(topic, slot, fact) of mentions that went, or became something else."""
        for topic, slot, record in rows:
            self.slots[slot] = topic
            self.whole.add(slot)
            self.ids.add(record)

    def new(self, row: tuple[Any, ...], fact: Fact) -> None:
        """A mention that came."""
        unit, when, topic, project, _, record, slot = row[:7]
        self.slots[slot] = topic
        first = self.news.setdefault(slot, {}).setdefault(record, when)
        self.news[slot][record] = min(first, when)
        self.said[record, when] = (fact, unit, project)

    def chosen(self, slot: str, groups: Sequence[FactGroup]) -> Sequence[FactGroup]:
        """The groups of a slot that may have changed: the new ones, and the one that held it, if nothing came in between."""
        news = self.news.get(slot, {})
        others = [group for group in groups if group.id not in news]
        holder = max(others, key=lambda group: group.ended, default=None)
        if slot in self.whole or (holder and holder.ended > min(news.values())):
            return groups
        return [group for group in groups if group.id in news or group is holder]


def replace(db: sqlite3.Connection, units: Sequence[Unit], gone: Iterable[str], touched: Touched) -> None:
    """Take in what these units say about facts, in place of what they said before."""
    about: set[str] = set()
    corrected: set[str] = set()
    for name in [unit.name for unit in units if not unit.broken] + list(gone):
        before = db.execute("SELECT topic, slot, id FROM said WHERE unit = ?", (name,)).fetchall()
        if before:
            touched.add(before)
            db.execute("DELETE FROM said WHERE unit = ?", (name,))
    for name, reviews in [(unit.name, unit.reviews) for unit in units if not unit.broken] + [(name, ()) for name in gone]:
        if name.endswith("/curation.jsonl"):
            _replace_reviews(db, name, reviews, about, corrected)
    if about:
        _review_again(db, about, corrected, touched)
    rows = []
    for unit in units:
        free = {topic for topic in {mention.topic for mention in unit.mentions} if not _reviewed(db, topic)}
        rows += [_row(db, unit.name, mention, as_said=mention.topic in free) for mention in unit.mentions]
    standing = _standing(db, [row[5] for row, _ in rows if row[5] == row[6]])
    for row, fact in rows:
        if not _said_again(standing, row, fact):
            touched.new(row, fact)
    db.executemany("INSERT INTO said VALUES (?,?,?,?,?,?,?,?,?,?,?)", [row for row, _ in rows])


def _reviewed(db: sqlite3.Connection, topic: str) -> bool:
    return db.execute("SELECT 1 FROM reviewed WHERE topic = ? LIMIT 1", (topic,)).fetchone() is not None


def _standing(db: sqlite3.Connection, ids: Sequence[str]) -> Standing:
    """What is known of those of these facts that have a record."""
    return {row[0]: row[1:] for part in _parts(ids)
            for row in db.execute(_STANDING.format(marks=",".join("?" * len(part))), part)}


def _parts(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for at in range(0, len(names), _AT_ONCE):
        yield names[at : at + _AT_ONCE]


def _said_again(standing: Standing, row: tuple[Any, ...], fact: Fact) -> bool:
    """A fact that stands, was settled, and is said once more in no other way: its record stays as it is.

    It tells how the fact was said first, of what type and in which project it was said last, and how surely at most.
    """
    _, when, _, project, _, record, _, confidence, trust, score, _ = row
    if record not in standing or score is not None:
        return False  # also a slot with rivals: who spoke last matters
    kind, surest, level, place, first, last = standing[record]
    if first is None or when <= first or when == last or confidence > surest or trust < TRUST.index(level):
        return False
    return bool(when < last) or (fact.type == kind and project == place)


def _replace_reviews(db: sqlite3.Connection, name: str, reviews: Sequence[Review], about: set[str],
                     corrected: set[str]) -> None:
    """Note which facts the new and the vanished lines of a curation file are about; the other lines changed nothing."""
    before = set(db.execute("SELECT * FROM reviewed WHERE unit = ?", (name,)).fetchall())
    now = {(name, review.topic, review.mark, review.fact_id, review.score, review.target,
            None if review.to is None else _written(dict(review.to)), review.trust) for review in reviews}
    db.executemany("DELETE FROM reviewed WHERE unit = ? AND mark = ?", [(row[0], row[2]) for row in before - now])
    db.executemany("INSERT INTO reviewed VALUES (?,?,?,?,?,?,?,?)", now - before)
    for _, topic, _, fact, _, target, *_ in before ^ now:
        about.update(filter(None, (fact, target)))
        corrected.update({topic} if target else ())


def _review_again(db: sqlite3.Connection, about: set[str], corrected: set[str], touched: Touched) -> None:
    """Find the mentions that a changed review concerns; where corrections changed, mentions may become other facts."""
    for topic in corrected:  # a chain of corrections may have changed in its middle
        for fact, target in db.execute("SELECT fact, target FROM reviewed WHERE topic = ? AND target IS NOT NULL", (topic,)):
            about.update((fact, target))
    for record in about:
        rows = db.execute(f"SELECT rowid, * FROM said WHERE {_OF_FACT} OR {_AS_SAID}", {"fact": record}).fetchall()
        touched.add((row[3], row[7], row[6]) for row in rows)
        if not corrected:
            continue
        for rowid, *row in rows:
            new, _ = _row(db, row[0], Mention(row[2], row[1], row[3], Fact.from_dict(json.loads(row[10]))), as_said=False)
            db.execute("UPDATE said SET id = ?, slot = ?, confidence = ?, trust = ? WHERE rowid = ?", (*new[5:9], rowid))
            touched.add([(new[2], new[6], new[5])])


def _row(db: sqlite3.Connection, unit: str, mention: Mention, *, as_said: bool) -> tuple[tuple[Any, ...], Fact]:
    """(row of `said`, the fact after its corrections)."""
    topic, fact = mention.topic, mention.fact
    raw = fact.id_in(topic)
    now = fact if as_said else replay(topic, fact, lambda record, after: _latest(db, record, after))
    record = raw if now is fact else now.id_in(topic)
    return (unit, mention.mark, topic, mention.project, raw, record, slot_of(topic, now, record), now.confidence,
            TRUST.index(now.trust or "user"), fact.user_fact_score, _written(fact.to_dict())), now


def _latest(db: sqlite3.Connection, record: str, after: str) -> Review | None:
    row = db.execute(_LATEST, (record, after)).fetchone()
    if row is None:
        return None
    topic, when, fact, score, target, changes, trust = row
    return Review(topic, when, fact, score, target, json.loads(changes), trust)


def settle_touched(db: sqlite3.Connection, touched: Touched) -> None:
    """Bring the fact records up to their mentions and reviews."""
    cards = []
    for fact, path, project in _settled(db, touched.slots, touched=touched):
        touched.ids.discard(str(fact.id))
        cards.append((path, fact.card(str(fact.topic), project)))
    for record in touched.ids:
        write.drop_record(db, record)
    write.put_cards(db, cards)


def _settled(db: sqlite3.Connection, slots: Mapping[str, str], *, touched: Touched | None = None, until: str = _FOREVER
             ) -> Iterator[tuple[Fact, str, str | None]]:
    """(fact, path, project) of the facts in these slots (slot → topic); the path is that of the earliest summary.

    With `touched` only those that may have changed, and without their evidence, which no record's row holds.
    """
    reviewed = {topic for topic in set(slots.values()) if _reviewed(db, topic)}
    for slot, groups in _grouped(db, list(slots), until):
        topic, as_said = slots[slot], slots[slot] not in reviewed
        if not as_said:
            groups = [_scored(db, group, until) for group in groups]
        before, after = _looks(db, slot, until)
        for group in touched.chosen(slot, groups) if touched else groups:
            first, unit, project = said = _said(db, slot, group.id, group.began, touched, as_said)
            last, _, project = _said(db, slot, group.id, group.ended, touched, as_said) if group.times > 1 else said
            evidence = None if touched else _evidence(db, slot, group.id, group.began, until)
            yield (compose(topic, group, settle(group, groups, before, after), first, last, evidence),
                   f"{unit}/summary.json", project)


def _looks(db: sqlite3.Connection, slot: str, until: str) -> tuple[Look, Look]:
    """How to find the last mark of a fact of a slot before one, and its first after one."""

    def before(record: str, found: str) -> str | None:
        row = db.execute("SELECT max(mark) FROM said WHERE slot = ? AND id = ? AND mark < ?", (slot, record, found)).fetchone()
        return str(row[0]) if row[0] else None

    def after(record: str, found: str) -> str | None:
        row = db.execute("SELECT min(mark) FROM said WHERE slot = ? AND id = ? AND mark > ? AND mark <= ?",
                         (slot, record, found, until)).fetchone()
        return str(row[0]) if row[0] else None

    return before, after


def _grouped(db: sqlite3.Connection, slots: Sequence[str], until: str) -> Iterator[tuple[str, Sequence[FactGroup]]]:
    """The slots in their order, each with its mentions counted by fact."""
    for part in _parts(slots):
        groups: dict[str, list[FactGroup]] = {slot: [] for slot in part}
        for slot, record, times, confidence, trust, began, ended, score in db.execute(
                _GROUPS.format(marks=",".join("?" * len(part))), (*part, until)).fetchall():
            groups[slot].append(FactGroup(record, times, confidence, TRUST[trust], began, ended, score))
        yield from groups.items()


def _scored(db: sqlite3.Connection, group: FactGroup, until: str) -> FactGroup:
    row = db.execute(_SCORE, {"id": group.id, "until": until}).fetchone()
    return group._replace(score=row[0]) if row else group


def _said(db: sqlite3.Connection, slot: str, record: str, found: str, touched: Touched | None, as_said: bool) -> Said:
    """One mention, from what was just read or from its row."""
    if touched and (record, found) in touched.said:
        return touched.said[record, found]
    topic, unit, project, fact = db.execute("SELECT topic, unit, project, fact FROM said WHERE slot = ? AND id = ? AND mark = ?",
                                            (slot, record, found)).fetchone()
    said = Fact.from_dict(json.loads(fact))
    return said if as_said else replay(topic, said, lambda one, after: _latest(db, one, after)), unit, project


def _evidence(db: sqlite3.Connection, slot: str, record: str, began: str, until: str) -> tuple[str, ...]:
    """The entries that say it: the first, and the latest ones."""
    rows = db.execute("SELECT mark FROM said WHERE slot = ? AND id = ? AND mark > ? AND mark <= ? ORDER BY mark DESC LIMIT ?",
                      (slot, record, began, until, EVIDENCE_SHOWN - 1)).fetchall()
    return tuple(dict.fromkeys(found.split(" ")[1] for found in [began, *(row[0] for row in reversed(rows))]))


# Reading

def fact_of(db: sqlite3.Connection, record: str, as_of: float | None = None) -> Fact | None:
    """One fact with its evidence; as of a day, what was said and reviewed later does not count."""
    row = db.execute("SELECT topic FROM records WHERE id = ?", (record,)).fetchone()
    until = _until(as_of)
    with _as_it_stood(db, row[0], until) if row else nullcontext(db) as then:
        slot = then.execute(f"SELECT slot, topic FROM said WHERE {_OF_FACT} LIMIT 1", {"fact": record}).fetchone()
        found = _settled(then, dict([slot]), until=until) if slot else ()
        return next((fact for fact, _, _ in found if fact.id == record), None)


def facts_of(db: sqlite3.Connection, topic: str, as_of: float | None = None) -> list[Fact]:
    """A topic's facts table, in the order it was first said."""
    until = _until(as_of)
    with _as_it_stood(db, topic, until) as then:
        slots = then.execute("SELECT slot, min(mark) AS first FROM said WHERE topic = ? GROUP BY slot ORDER BY first, slot",
                             (topic,)).fetchall()
        found = [fact for fact, _, _ in _settled(then, {slot: topic for slot, _ in slots}, until=until)]
    return sorted(found, key=lambda fact: (fact.entry_ts, fact.entry_id, fact.turn or 0))


def held_on(db: sqlite3.Connection, as_of: float) -> list[str]:
    """The ids of the facts that held on a day: said by then, and replaced by nothing that was."""
    until = _until(as_of)
    later = {topic for topic, in db.execute("SELECT DISTINCT topic FROM reviewed WHERE mark > ?", (until,))}
    rows = db.execute("SELECT slot, topic, min(id), min(id) = max(id) FROM said WHERE mark <= ? GROUP BY slot", (until,)).fetchall()
    held = [record for _, topic, record, alone in rows if alone and topic not in later]
    rivals = {slot: topic for slot, topic, _, alone in rows if not alone and topic not in later}
    found = [fact for fact, _, _ in _settled(db, rivals, until=until)]
    found += [fact for topic in later for fact in facts_of(db, topic, as_of)]
    return held + [str(fact.id) for fact in found if not fact.superseded_by]


@contextmanager
def _as_it_stood(db: sqlite3.Connection, topic: str, until: str) -> Iterator[sqlite3.Connection]:
    """Where a topic is read as of a day: in the index, unless corrections came later; then in a copy made without them."""
    if not db.execute("SELECT 1 FROM reviewed WHERE topic = ? AND mark > ? AND target IS NOT NULL LIMIT 1", (topic, until)).fetchone():
        yield db
        return
    with closing(sqlite3.connect(":memory:")) as past:
        reviews, mentions = (db.execute(f"SELECT * FROM {table} WHERE topic = ? AND mark <= ?", (topic, until)).fetchall()
                             for table in ("reviewed", "said"))
        shapes = "SELECT sql FROM sqlite_master WHERE tbl_name IN ('reviewed', 'said') ORDER BY type DESC"  # tables first
        past.executescript(";".join(shape for shape, in db.execute(shapes)))
        past.executemany("INSERT INTO reviewed VALUES (?,?,?,?,?,?,?,?)", reviews)
        past.executemany("INSERT INTO said VALUES (?,?,?,?,?,?,?,?,?,?,?)", [_row(past, unit, Mention(
            place, when, project, Fact.from_dict(json.loads(fact))), as_said=False)[0]
            for unit, when, place, project, *_, fact in mentions])
        yield past


def last_review(db: sqlite3.Connection, topic: str) -> str:
    """The mark of a topic's latest review; empty if there is none."""
    return str(db.execute("SELECT coalesce(max(mark), '') FROM reviewed WHERE topic = ?", (topic,)).fetchone()[0])


def only_in(db: sqlite3.Connection, unit: str) -> set[str]:
    """The ids of facts that only this entry states, as said and as corrected."""
    found: set[str] = set()
    for raw, record in db.execute("SELECT raw, id FROM said WHERE unit = ?", (unit,)).fetchall():
        for one in (raw, record):
            if not db.execute(f"SELECT 1 FROM said WHERE ({_OF_FACT} OR {_AS_SAID}) AND unit <> :unit",
                              {"fact": one, "unit": unit}).fetchone():
                found.add(one)
    return found


def stated(db: sqlite3.Connection, record: str) -> bool:
    """Whether any entry states a fact in these very words, corrected or not."""
    return db.execute(f"SELECT 1 FROM said WHERE ({_OF_FACT} AND raw = :fact) OR {_AS_SAID}",
                      {"fact": record}).fetchone() is not None


def _until(as_of: float | None) -> str:
    return _FOREVER if as_of is None else mark(as_of, "~", 0)
