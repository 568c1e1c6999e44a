"""The facts table in the index: mentions and reviews in, fact records out. Called by sync; read by verbs and recall.

Only the slots that a change touches are settled again, whatever else the topic holds; what a slot means is decided in
model/facts_table. A rebuild goes the same way and gives the same rows.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from strata.index import write
from strata.index.write import Unit
from strata.model.dialog import Fact
from strata.model.facts_table import EVIDENCE_SHOWN, Group, Mention, Review, mark, replay, settle, slot_of
from strata.model.record import TRUST

_LATEST = ("SELECT topic, mark, fact, score, target, changes FROM reviewed WHERE fact = ? AND mark > ? "
           "AND target IS NOT NULL ORDER BY mark DESC LIMIT 1")
_SCORE = ("SELECT score FROM (SELECT score, mark FROM reviewed WHERE fact = :id AND target IS NULL UNION ALL "
          "SELECT score, mark FROM reviewed WHERE target = :id AND score IS NOT NULL) WHERE mark <= :until "
          "ORDER BY mark DESC LIMIT 1")
_FOREVER = "~"  # after every mark


class Touched:
    """Slots to settle, and facts whose records may no longer stand."""

    def __init__(self) -> None:
        self.slots: dict[str, str] = {}  # slot → topic
        self.ids: set[str] = set()

    def add(self, rows: Iterable[tuple[str, str, str]]) -> None:
        for topic, slot, record in rows:
            self.slots[slot] = topic
            self.ids.add(record)


def replace(db: sqlite3.Connection, units: Sequence[Unit], gone: Iterable[str], touched: Touched) -> None:
    """Take in what these units say about facts, in place of what they said before."""
    about: set[str] = set()
    corrected: set[str] = set()
    for name in [unit.name for unit in units if not unit.broken] + list(gone):
        touched.add(db.execute("SELECT topic, slot, id FROM said WHERE unit = ?", (name,)))
        db.execute("DELETE FROM said WHERE unit = ?", (name,))
    for name, reviews in [(unit.name, unit.reviews) for unit in units if not unit.broken] + [(name, ()) for name in gone]:
        if name.endswith("/curation.jsonl"):
            _replace_reviews(db, name, reviews, about, corrected)
    if about:
        _review_again(db, about, corrected, touched)
    rows = [_row(db, unit.name, mention) for unit in units for mention in unit.mentions]
    db.executemany("INSERT INTO said VALUES (?,?,?,?,?,?,?,?,?,?)", rows)
    touched.add((row[2], row[6], row[5]) for row in rows)


def _replace_reviews(db: sqlite3.Connection, name: str, reviews: Sequence[Review], about: set[str],
                     corrected: set[str]) -> None:
    """Note which facts the new and the vanished lines of a curation file are about; the other lines changed nothing."""
    before = set(db.execute("SELECT * FROM reviewed WHERE unit = ?", (name,)).fetchall())
    now = {(name, review.topic, review.mark, review.fact_id, review.score, review.target,
            None if review.to is None else json.dumps(dict(review.to), ensure_ascii=False)) for review in reviews}
    db.executemany("DELETE FROM reviewed WHERE unit = ? AND mark = ?", [(row[0], row[2]) for row in before - now])
    db.executemany("INSERT INTO reviewed VALUES (?,?,?,?,?,?,?)", now - before)
    for _, topic, _, fact, _, target, _ in before ^ now:
        about.update(filter(None, (fact, target)))
        corrected.update({topic} if target else ())


def _review_again(db: sqlite3.Connection, about: set[str], corrected: set[str], touched: Touched) -> None:
    """Find the mentions that a changed review concerns; where corrections changed, mentions may become other facts."""
    for topic in corrected:  # a chain of corrections may have changed in its middle
        for fact, target in db.execute("SELECT fact, target FROM reviewed WHERE topic = ? AND target IS NOT NULL", (topic,)):
            about.update((fact, target))
    for record in about:
        rows = db.execute("SELECT rowid, * FROM said WHERE id = ?1 UNION SELECT rowid, * FROM said WHERE raw = ?1",
                          (record,)).fetchall()
        touched.add((row[3], row[7], row[6]) for row in rows)
        if not corrected:
            continue
        for rowid, *row in rows:
            new = _row(db, row[0], Mention(row[2], row[1], row[3], Fact.from_dict(json.loads(row[9]))))
            db.execute("UPDATE said SET id = ?, slot = ?, confidence = ?, trust = ? WHERE rowid = ?", (*new[5:9], rowid))
            touched.add([(new[2], new[6], new[5])])


def _row(db: sqlite3.Connection, unit: str, mention: Mention) -> tuple[Any, ...]:
    topic, fact = mention.topic, mention.fact
    now = replay(topic, fact, lambda record, after: _latest(db, record, after))
    return (unit, mention.mark, topic, mention.project, fact.id_in(topic), now.id_in(topic), slot_of(topic, now),
            now.confidence, TRUST.index(now.trust or "user"), json.dumps(fact.to_dict(), ensure_ascii=False))


def _latest(db: sqlite3.Connection, record: str, after: str) -> Review | None:
    row = db.execute(_LATEST, (record, after)).fetchone()
    if row is None:
        return None
    topic, when, fact, score, target, changes = row
    return Review(topic, when, fact, score, target, json.loads(changes))


def settle_touched(db: sqlite3.Connection, touched: Touched) -> None:
    """Bring the fact records up to their mentions and reviews."""
    cards = []
    for slot, topic in touched.slots.items():
        for fact, path, project in _settled(db, slot, topic):
            touched.ids.discard(str(fact.id))
            cards.append((path, fact.card(topic, project)))
    for record in touched.ids:
        write.drop_record(db, record)
    write.put_cards(db, cards)


def _settled(db: sqlite3.Connection, slot: str, topic: str, *, evidence: bool = False, until: str = _FOREVER
             ) -> Iterator[tuple[Fact, str, str | None]]:
    """(fact, path, project) of each fact in a slot; the path is that of the earliest summary."""
    groups, places = [], {}
    for record, count, confidence, trust, began, ended in db.execute(
            "SELECT id, count(*), max(confidence), min(trust), min(mark), max(mark) FROM said "
            "WHERE slot = ? AND mark <= ? GROUP BY id", (slot, until)).fetchall():
        first, unit, project = _mention(db, record, began)
        last, _, project = _mention(db, record, ended) if count > 1 else (first, unit, project)
        said = last.user_fact_score if last.user_fact_score is not None else first.user_fact_score
        row = db.execute(_SCORE, {"id": record, "until": until}).fetchone()
        groups.append(Group(record, count, confidence, TRUST[trust], began, ended, row[0] if row else said, first, last,
                            _evidence(db, record, began, until) if evidence else None))
        places[record] = (f"{unit}/summary.json", project)

    def before(record: str, found: str) -> str | None:
        row = db.execute("SELECT max(mark) FROM said WHERE id = ? AND mark < ?", (record, found)).fetchone()
        return str(row[0]) if row[0] else None

    def after(record: str, found: str) -> str | None:
        row = db.execute("SELECT min(mark) FROM said WHERE id = ? AND mark > ? AND mark <= ?",
                         (record, found, until)).fetchone()
        return str(row[0]) if row[0] else None

    for fact in settle(topic, groups, before, after):
        yield (fact, *places[str(fact.id)])


def _mention(db: sqlite3.Connection, record: str, found: str) -> tuple[Fact, str, str | None]:
    """(the fact as said then, corrected since; unit; project) of one mention."""
    topic, unit, project, fact = db.execute("SELECT topic, unit, project, fact FROM said WHERE id = ? AND mark = ?",
                                            (record, found)).fetchone()
    return replay(topic, Fact.from_dict(json.loads(fact)), lambda one, after: _latest(db, one, after)), unit, project


def _evidence(db: sqlite3.Connection, record: str, began: str, until: str) -> tuple[str, ...]:
    """The entries that say it: the first, and the latest ones."""
    rows = db.execute("SELECT mark FROM said WHERE id = ? AND mark > ? AND mark <= ? ORDER BY mark DESC LIMIT ?",
                      (record, began, until, EVIDENCE_SHOWN - 1)).fetchall()
    return tuple(dict.fromkeys(found.split(" ")[1] for found in [began, *(row[0] for row in reversed(rows))]))


# Reading

def fact_of(db: sqlite3.Connection, record: str, as_of: float | None = None) -> Fact | None:
    """One fact with its evidence; as of a day, what was said and reviewed later does not count."""
    row = db.execute("SELECT slot, topic FROM said WHERE id = ? LIMIT 1", (record,)).fetchone()
    found = _settled(db, *row, evidence=True, until=_until(as_of)) if row else ()
    return next((fact for fact, _, _ in found if fact.id == record), None)


def facts_of(db: sqlite3.Connection, topic: str, as_of: float | None = None) -> list[Fact]:
    """A topic's facts table, oldest first."""
    slots = db.execute("SELECT DISTINCT slot FROM said WHERE topic = ?", (topic,)).fetchall()
    found = [fact for slot, in slots for fact, _, _ in _settled(db, slot, topic, evidence=True, until=_until(as_of))]
    return sorted(found, key=lambda fact: (fact.entry_ts, fact.entry_id, fact.turn or 0, str(fact.id)))


def last_review(db: sqlite3.Connection, topic: str) -> str:
    """The mark of a topic's latest review; empty if there is none."""
    return str(db.execute("SELECT coalesce(max(mark), '') FROM reviewed WHERE topic = ?", (topic,)).fetchone()[0])


def only_in(db: sqlite3.Connection, unit: str) -> set[str]:
    """The ids of facts that only this entry states, as said and as corrected."""
    found: set[str] = set()
    for raw, record in db.execute("SELECT raw, id FROM said WHERE unit = ?", (unit,)).fetchall():
        for one in (raw, record):
            if not db.execute("SELECT 1 FROM said WHERE (raw = ?1 OR id = ?1) AND unit <> ?2", (one, unit)).fetchone():
                found.add(one)
    return found


def _until(as_of: float | None) -> str:
    return _FOREVER if as_of is None else mark(as_of, "~", 0)
