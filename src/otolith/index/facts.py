"""The facts table in the index: mentions and reviews in, fact records out. Filled by sync; read by verbs and
recall.

Only what a change touches is settled again, whatever else the topic holds: a fact said once more changes
nothing but its evidence, a newer rival changes itself and the one it replaces. What a slot means is decided
in model/dialog. A rebuild goes the same way and gives the same rows.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from typing import Any, NamedTuple

from otolith.errors import BrokenIndex, Invalid
from otolith.index.claims import Claims, Drawn, Validity
from otolith.index.database import REMEDY, Bare, Connection, Facet, columns_of
from otolith.index.write import Unit, Units
from otolith.model.dialog import (
    EVIDENCE_SHOWN,
    Fact,
    FactGroup,
    Mention,
    Review,
    after_all,
    compose,
    entry_of,
    marked_time,
    moment_of,
    replay,
)
from otolith.model.record import TRUST


class SaidRow(NamedTuple):
    """A mention of a fact: a row of `said`."""

    unit: str
    mark: str
    topic: str
    project: str | None
    raw: str
    id: str
    slot: str
    confidence: float
    trust: int
    score: float | None
    fact: str

    @property
    def mention(self) -> Mention:
        try:
            return Mention(self.topic, self.mark, self.project, Fact.from_dict(json.loads(self.fact)))
        except (Invalid, ValueError) as error:
            raise BrokenIndex(f"the index is damaged (a fact in it: {error})", REMEDY) from None


class ReviewRow(NamedTuple):
    """What somebody said about a fact: a row of `reviewed`."""

    unit: str
    topic: str
    mark: str
    fact: str
    score: float | None
    target: str | None
    changes: str | None
    trust: str


class FactRow(NamedTuple):
    """The record of a fact, with the marks of its first and last mention."""

    id: str
    type: str
    confidence: float
    trust: str
    project: str | None
    first: str | None  # mark of its first mention; None where its slot has rivals
    last: str | None


_SAID, _REVIEW = columns_of(SaidRow, "s"), columns_of(ReviewRow, "v")
_GIVEN = "IN (SELECT value FROM json_each(?))"
_SCORE = ("SELECT score FROM (SELECT score, mark FROM reviewed WHERE fact = :id AND target IS NULL UNION ALL "
          "SELECT score, mark FROM reviewed WHERE target = :id AND score IS NOT NULL) WHERE mark <= :until "
          "ORDER BY mark DESC LIMIT 1")
_GROUPS = ("SELECT slot, id, count(*), max(confidence), min(trust), min(mark), max(mark), max(score) "
           f"FROM said WHERE slot {_GIVEN} AND mark <= ? GROUP BY slot, id")
_STANDING = ("SELECT id, type, confidence, trust, project, "
             "(SELECT min(mark) FROM said s WHERE s.slot = r.id AND s.id = r.id) AS first, "
             "(SELECT max(mark) FROM said s WHERE s.slot = r.id AND s.id = r.id) AS last FROM records r "
             f"WHERE id {_GIVEN}")
_OF_FACT = "(slot = :fact OR (id = :fact AND id <> slot))"  # as corrected; written so that indexes are used
_AS_SAID = "(raw = :fact AND raw <> id)"  # what became another fact
_FORGOTTEN = (
    "SELECT s.unit, json_extract(s.fact, '$.sentence'), s.id FROM reviewed v JOIN said s ON (s.slot = "
    "v.fact AND s.id = v.fact) OR (s.id = v.fact AND s.id <> s.slot) WHERE v.score = 0 AND v.mark <= "
    ":until AND s.unit IN (SELECT value FROM json_each(:units)) AND NOT EXISTS (SELECT 1 FROM reviewed "
    "w WHERE w.fact = v.fact AND w.mark > v.mark AND w.mark <= :until)")
_FOREVER = "~"  # after every mark
_written = json.JSONEncoder(ensure_ascii=False).encode  # made once, not for each fact
Said = tuple[Fact, str, str | None]  # the fact as said and corrected since, its unit, its project


class Touched:
    """What is to be settled: slots as a whole, or only what new mentions at their end change."""

    def __init__(self) -> None:
        self.slots: dict[str, str] = {}  # slot → topic
        self.whole: set[str] = set()
        self.news: dict[str, dict[str, str]] = {}  # slot → fact → its first new mark
        self.ids: set[str] = set()  # facts whose records may no longer stand
        self.said: dict[tuple[str, str], Said] = {}  # (fact, mark) just read
        self.claims: set[int] = set()  # new ones, to be settled
        self.freed: set[int] = set()  # those whose closer went, to be settled again
        self.reviewed: set[str] = set()  # facts that a person may have rejected or taken back

    def add(self, mentions: Iterable[SaidRow]) -> None:
        """Mentions that went, or became something else."""
        for row in mentions:
            self.slots[row.slot] = row.topic
            self.whole.add(row.slot)
            self.ids.add(row.id)

    def again(self, mentions: Iterable[SaidRow]) -> None:
        """Mentions of facts that were closed, or are open again."""
        for row in mentions:
            self.slots[row.slot] = row.topic
            self.whole.add(row.slot)

    def new(self, row: SaidRow, fact: Fact) -> None:
        """A mention that came."""
        self.slots[row.slot] = row.topic
        first = self.news.setdefault(row.slot, {}).setdefault(row.id, row.mark)
        self.news[row.slot][row.id] = min(first, row.mark)
        self.said[row.id, row.mark] = (fact, row.unit, row.project)

    def chosen(self, slot: str, groups: Sequence[FactGroup]) -> Sequence[FactGroup]:
        """Those that may have changed: new ones, and the one that held the slot, if nothing came between."""
        news = self.news.get(slot, {})
        others = [group for group in groups if group.id not in news]
        holder = max(others, key=lambda group: group.ended, default=None)
        if slot in self.whole or (holder and holder.ended > min(news.values())):
            return groups
        return [group for group in groups if group.id in news or group is holder]


class Facts(Facet):
    """Facts as they were said, reviewed and settled: what holds, and what held on a day."""

    # Filling

    def replace(self, units: Sequence[Unit], gone: Iterable[str], touched: Touched) -> None:
        """Take in what these units say about facts, in place of what they said before."""
        about: set[str] = set()
        corrected: set[str] = set()
        whole: list[tuple[str, Sequence[Review]]] = [(unit.name, unit.reviews) for unit in units
                                                     if not unit.broken]
        whole += [(name, ()) for name in gone]
        for name, _ in whole:
            if before := self._mentions("unit = ?", (name,)):
                touched.add(before)
                self.db.execute("DELETE FROM said WHERE unit = ?", (name,))
                touched.freed.update(self.claims.drop(name))
        for name, reviews in whole:
            if name.endswith("/curation.jsonl"):
                self._replace_reviews(name, reviews, about, corrected)
        if about:
            self._review_again(about, corrected, touched)
        self.add(units, touched)

    def redraw(self, drawn: Mapping[str, Sequence[Drawn]]) -> None:
        """Take the claims of other records, unit → all it has now, and settle what they close or free."""
        touched = Touched()
        with self.index.writing():
            for unit in drawn:
                touched.freed.update(self.claims.drop(unit))
            touched.claims.update(self.claims.put(draft for drafts in drawn.values() for draft in drafts))
            self.settle(touched)

    def add(self, units: Sequence[Unit], touched: Touched) -> None:
        """Take the facts that units state, besides those they stated before, and what these claim."""
        rows: list[tuple[SaidRow, Fact]] = []
        for unit in units:
            topics = {mention.topic for mention in unit.mentions}
            free = {topic for topic in topics if not self._reviewed(topic)}
            rows += [self._row(unit.name, mention, as_said=mention.topic in free)
                     for mention in unit.mentions]
            touched.reviewed.update(row.id for row, _ in rows if row.topic not in free)
        alone = json.dumps([row.id for row, _ in rows if row.id == row.slot])
        standing = {row.id: row for row in self.db.select(FactRow, _STANDING, (alone,))} if rows else {}
        for row, fact in rows:
            if row.id not in standing or not _said_again(standing[row.id], row, fact):
                touched.new(row, fact)
        self._insert(rows)
        touched.claims.update(self.claims.take(
            (row.unit, row.id, row.trust, row.mention._replace(fact=fact)) for row, fact in rows))

    @cached_property
    def claims(self) -> Claims:
        return Claims(self.index)

    def _insert(self, rows: Iterable[tuple[SaidRow, Fact]]) -> None:
        self.db.executemany("INSERT INTO said VALUES (?,?,?,?,?,?,?,?,?,?,?)", [row for row, _ in rows])

    def _mentions(self, condition: str, values: Any) -> list[SaidRow]:
        return self.db.select(SaidRow, f"SELECT {_SAID} FROM said s WHERE {condition}", values)

    def _reviews(self, condition: str, values: Any) -> list[ReviewRow]:
        return self.db.select(ReviewRow, f"SELECT {_REVIEW} FROM reviewed v WHERE {condition}", values)

    def _reviewed(self, topic: str) -> bool:
        return bool(self.db.execute("SELECT 1 FROM reviewed WHERE topic = ? LIMIT 1", (topic,)))

    def _replace_reviews(self, name: str, reviews: Sequence[Review], about: set[str],
                         corrected: set[str]) -> None:
        """Note which facts the new and the vanished lines of a file are about; the others changed nothing."""
        before = set(self._reviews("unit = ?", (name,)))
        now = {ReviewRow(name, review.topic, review.mark, review.fact_id, review.score, review.target,
                         None if review.to is None else _written(dict(review.to)), review.trust)
               for review in reviews}
        self.db.executemany("DELETE FROM reviewed WHERE unit = ? AND mark = ?",
                            [(row.unit, row.mark) for row in before - now])
        self.db.executemany("INSERT INTO reviewed VALUES (?,?,?,?,?,?,?,?)", now - before)
        for row in before ^ now:
            about.update(filter(None, (row.fact, row.target)))
            corrected.update({row.topic} if row.target else ())

    def _review_again(self, about: set[str], corrected: set[str], touched: Touched) -> None:
        """Find the mentions that changed reviews concern; corrections may have made them other facts."""
        for topic in corrected:  # a chain of corrections may have changed in its middle
            corrections = self._reviews("topic = ? AND target IS NOT NULL", (topic,))
            about.update(fact for row in corrections for fact in (row.fact, str(row.target)))
        for record in about:
            rows = self._mentions(f"{_OF_FACT} OR {_AS_SAID}", {"fact": record})
            touched.add(rows)
            touched.reviewed.update(row.id for row in rows)
            for row in rows if corrected else ():
                new, fact = self._row(row.unit, row.mention, as_said=False)
                query = ("UPDATE said SET id = ?, slot = ?, confidence = ?, trust = ? "
                         "WHERE unit = ? AND mark = ?")
                self.db.execute(query, (new.id, new.slot, new.confidence, new.trust, row.unit, row.mark))
                touched.add([new])
                touched.freed.update(self.claims.drop(row.unit, row.mark))
                touched.claims.update(self.claims.take([(new.unit, new.id, new.trust,
                                                         row.mention._replace(fact=fact))]))

    def _row(self, unit: str, mention: Mention, *, as_said: bool) -> tuple[SaidRow, Fact]:
        """(a mention's row, the fact after its corrections)."""
        topic, fact = mention.topic, mention.fact
        raw = fact.id_in(topic)
        now = fact if as_said else replay(topic, fact, self._latest)
        record = raw if now is fact else now.id_in(topic)
        row = SaidRow(unit, mention.mark, topic, mention.project, raw, record, record,
                      now.confidence, TRUST.index(now.trust or "user"), fact.user_fact_score,
                      _written(fact.to_dict()))
        return row, now

    def _latest(self, record: str, after: str) -> Review | None:
        query = "fact = ? AND mark > ? AND target IS NOT NULL ORDER BY mark DESC LIMIT 1"
        for row in self._reviews(query, (record, after)):
            return Review(row.topic, row.mark, row.fact, row.score, row.target,
                          json.loads(row.changes or "{}"), row.trust)
        return None

    def settle(self, touched: Touched) -> None:
        """Bring the fact records up to their mentions and reviews, and to what closed them."""
        for record in touched.reviewed:
            rows = self.db.execute(_SCORE, {"id": record, "until": _FOREVER})
            touched.freed.update(self.claims.reject(record, bool(rows) and rows[0][0] == 0))
        changed = self.claims.settle(touched.claims, touched.freed)
        touched.again(self._mentions(f"slot {_GIVEN}", (json.dumps(list(changed)),)) if changed else ())
        cards, units = [], Units(self.index)
        settled = list(self._settled(touched.slots, touched=touched))
        standings = self.claims.standings(str(fact.id) for fact, *_ in settled)
        for fact, path, project, began in settled:
            touched.ids.discard(str(fact.id))
            cards.append((path, _closed(fact, standings).card(str(fact.topic), project, moment_of(began))))
        for record in touched.ids:
            units.drop_record(record)
        units.put_cards(cards)

    def _settled(self, slots: Mapping[str, str], *, touched: Touched | None = None,
                 until: str = _FOREVER) -> Iterator[tuple[Fact, str, str | None, str]]:
        """(fact, path, project, mark of its first mention) of the facts in these slots (slot → topic); its
        path is the first summary.

        With `touched` only those that may have changed, without their evidence, which no row holds.
        """
        reviewed = {topic for topic in set(slots.values()) if self._reviewed(topic)}
        for slot, groups in self._grouped(list(slots), until).items():
            topic, as_said = slots[slot], slots[slot] not in reviewed
            if not as_said:
                groups = [self._scored(group, until) for group in groups]
            for group in touched.chosen(slot, groups) if touched else groups:
                first, unit, _ = mention = self._said(slot, group.id, group.began, touched, as_said)
                if group.times > 1:
                    mention = self._said(slot, group.id, group.ended, touched, as_said)
                last, _, project = mention
                evidence = None if touched else self._evidence(slot, group.id, group.began, until)
                yield (compose(topic, group, first, last, evidence),
                       f"{unit}/summary.json", project, group.began)

    def _grouped(self, slots: Sequence[str], until: str) -> dict[str, list[FactGroup]]:
        """The slots in their order, each with its mentions counted by fact."""
        groups: dict[str, list[FactGroup]] = {slot: [] for slot in slots}
        rows = self.db.execute(_GROUPS, (json.dumps(slots), until)) if slots else ()
        for slot, record, times, confidence, trust, *rest in rows:
            groups[slot].append(FactGroup(record, times, confidence, TRUST[trust], *rest))
        return groups

    def _scored(self, group: FactGroup, until: str) -> FactGroup:
        rows = self.db.execute(_SCORE, {"id": group.id, "until": until})
        return group._replace(score=rows[0][0]) if rows else group

    def _said(self, slot: str, record: str, when: str, touched: Touched | None, as_said: bool) -> Said:
        """One mention, from what was just read or from its row."""
        if touched and (record, when) in touched.said:
            return touched.said[record, when]
        row = self._mentions("slot = ? AND id = ? AND mark = ? LIMIT 1", (slot, record, when))[0]
        fact = row.mention.fact
        return fact if as_said else replay(row.topic, fact, self._latest), row.unit, row.project

    def _evidence(self, slot: str, record: str, began: str, until: str) -> tuple[str, ...]:
        """The entries that say it: the first, and the latest ones."""
        query = ("SELECT mark FROM said WHERE slot = ? AND id = ? AND mark > ? AND mark <= ? "
                 "ORDER BY mark DESC LIMIT ?")
        marks = self.db.column(query, (slot, record, began, until, EVIDENCE_SHOWN - 1))
        return tuple(dict.fromkeys(map(entry_of, [began, *reversed(marks)])))

    # Reading

    def of(self, record: str, as_of: float | None = None) -> Fact | None:
        """One fact with its evidence; as of a day, what was said and reviewed later does not count."""
        until, topic = _until(as_of), self.db.value("SELECT topic FROM records WHERE id = ?", (record,))
        with self._as_it_stood(topic, until) as then:
            query = f"SELECT slot, topic FROM said WHERE {_OF_FACT} LIMIT 1"
            slots = dict(then.db.execute(query, {"fact": record}))
            facts = [fact for fact, *_ in then._settled(slots, until=until) if fact.id == record]
        standings = self.claims.standings([record], until)
        return next((_closed(fact, standings) for fact in facts), None)

    def of_topic(self, topic: str, as_of: float | None = None, *, alone: bool = False) -> list[Fact]:
        """A topic's facts table, in the order it was first said; `alone`: as if there were no other topic."""
        until = _until(as_of)
        with self._as_it_stood(topic, until) as then:
            query = "SELECT DISTINCT slot FROM said WHERE topic = ?"
            slots = dict.fromkeys(then.db.column(query, (topic,)), topic)
            facts = [(began, fact) for fact, _, _, began in then._settled(slots, until=until)]
        standings = self.claims.standings((str(fact.id) for _, fact in facts), until, topic if alone else "")
        return [_closed(fact, standings) for _,
                fact in sorted(facts, key=lambda pair: (pair[0], str(pair[1].id)))]

    def held_on(self, as_of: float) -> list[str]:
        """The ids of the facts that held on a day: said by then, and replaced by nothing that was."""
        until = _until(as_of)
        later = set(self.db.column("SELECT DISTINCT topic FROM reviewed WHERE mark > ?", (until,)))
        query = "SELECT slot, topic FROM said WHERE mark <= ? GROUP BY slot"
        facts = [slot for slot, topic in self.db.execute(query, (until,)) if topic not in later]
        closings = self.claims.closings(facts, until)
        then = [fact for topic in later for fact in self.of_topic(topic, as_of)]
        return [fact for fact in facts if fact not in closings] + [str(fact.id) for fact in then
                                                                   if not fact.superseded_by]

    @contextmanager
    def _as_it_stood(self, topic: str | None, until: str) -> Iterator[Facts]:
        """The table as of a day: itself, unless corrections came later; then a copy made without them."""
        later = "SELECT 1 FROM reviewed WHERE topic = ? AND mark > ? AND target IS NOT NULL LIMIT 1"
        if topic is None or not self.db.execute(later, (topic, until)):
            yield self
            return
        with closing(sqlite3.connect(":memory:", factory=Connection)) as db:
            past = Facts(Bare(db))
            shapes = "SELECT sql FROM sqlite_master WHERE tbl_name IN ('reviewed', 'said') ORDER BY type DESC"
            for shape in self.db.column(shapes):  # tables first
                db.execute(shape)
            db.executemany("INSERT INTO reviewed VALUES (?,?,?,?,?,?,?,?)",
                           self._reviews("topic = ? AND mark <= ?", (topic, until)))
            mentions = self._mentions("topic = ? AND mark <= ?", (topic, until))
            past._insert([past._row(row.unit, row.mention, as_said=False) for row in mentions])
            yield past

    def last_review(self, topic: str) -> str:
        """The mark of a topic's latest review; empty if there is none."""
        return str(self.db.value("SELECT coalesce(max(mark), '') FROM reviewed WHERE topic = ?", (topic,)))

    def reviews(self, topic: str) -> list[ReviewRow]:
        """What people said about a topic's facts, oldest first."""
        return self._reviews("topic = ? ORDER BY mark", (topic,))

    def only_in(self, unit: str) -> set[str]:
        """The ids of facts that only this entry states, as said and as corrected."""
        query = f"SELECT 1 FROM said WHERE ({_OF_FACT} OR {_AS_SAID}) AND unit <> :unit"
        pairs = self.db.execute("SELECT raw, id FROM said WHERE unit = ?", (unit,))
        ids = {fact for pair in pairs for fact in pair}
        return {fact for fact in ids if not self.db.execute(query, {"fact": fact, "unit": unit})}

    def forgotten(self, units: Iterable[str], as_of: float | None = None) -> list[tuple[str, str, str]]:
        """(entry, sentence, fact) of the facts of these entries that were scored 0 and not higher since."""
        until = _FOREVER if as_of is None else after_all(as_of)
        return self.db.execute(_FORGOTTEN, {"units": json.dumps(list(units)), "until": until}).fetchall()

    def stated(self, record: str) -> bool:
        """Whether any entry states a fact in these very words, corrected or not."""
        return bool(self.db.execute(f"SELECT 1 FROM said WHERE ({_OF_FACT} AND raw = :fact) OR {_AS_SAID}",
                                    {"fact": record}))


def _closed(fact: Fact, standings: Mapping[str, Validity]) -> Fact:
    """The fact with its end, if something closed it; a rejected one needs none."""
    standing = standings.get(str(fact.id))
    if standing is None or fact.user_fact_score == 0:
        return fact
    since = marked_time(standing.since) if standing.since else fact.valid_from
    closing = standing.closing
    if closing is None:
        return fact.replace(valid_from=since)
    return fact.replace(valid_from=since, valid_until=closing.when, superseded_by=closing.record,
                        why=closing.why)


def _said_again(standing: FactRow, row: SaidRow, fact: Fact) -> bool:
    """A fact that stands, was settled, and is said once more in no other way: its record stays as it is.

    It says how it was said first, of what type and in which project it was said last, and how surely at most.
    """
    first, last = standing.first, standing.last
    if row.score is not None or first is None or last is None:
        return False  # also a slot with rivals: who spoke last matters
    if row.mark in (first, last) or row.mark < first:
        return False
    if row.confidence > standing.confidence or row.trust < TRUST.index(standing.trust):
        return False
    return row.mark < last or (fact.type == standing.type and row.project == standing.project)


def _until(as_of: float | None) -> str:
    return _FOREVER if as_of is None else after_all(as_of)
