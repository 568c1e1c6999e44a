"""Claims in the index: what records say about what holds, and which newer claim closed which older one.

Rows are drawn from facts when their entry is filled in, and from other records by `verbs/claims`. What
closes what is decided in `model/claims`; here it is only kept: for each claim the first later one that
closes it, so that any day's state can be told. A new claim is compared with those of its cells and with no
others. A person's answers come from `curation.jsonl` and outweigh the rule.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from otolith.errors import Busy, CannotWrite
from otolith.index.database import Facet, columns_of
from otolith.index.write import Answer
from otolith.model.claims import ASKED, FINAL, PERSONAL, RETRACT, Claim
from otolith.model.dialog import Mention, after_all, marked_time
from otolith.model.verdicts import CLOSES, Settled, Stated, answered, settle

_GIVEN = "IN (SELECT value FROM json_each(?))"
MANY = 1000  # records that are not worth being looked through once more
AT_ONCE = 400  # cells asked for in one statement
ANSWERABLE = 60  # earlier claims among which a value said alone finds what it answers
ANSWERED_WITHIN = 100 * 86400.0  # seconds in which "no, I meant …" still answers


class ClaimRow(NamedTuple):
    """A claim where it stands: a row of `claims`."""

    n: int
    unit: str
    record: str
    turn: str | None
    mark: str
    scope: str
    holder: str
    subject: str
    attribute: str
    value: str
    holds: int
    single: int
    environment: str
    personal: int
    weak: int
    corrects: int
    thing: int
    trust: int
    main: int  # what the record says first and foremost
    void: int  # a person rejected it
    sentence: str
    replaces: str  # claims that it is proposed to close, with spaces between
    closed_by: int | None
    contested_by: int | None

    @property
    def stated(self) -> Stated:
        return Stated(self.n, self.mark, self.trust, Claim(
            self.holder, self.subject, self.attribute, self.value, bool(self.holds), bool(self.single),
            self.environment,
            bool(self.personal), bool(self.weak), bool(self.corrects), bool(self.thing)),
            self.record, self.scope, tuple(self.replaces.split()))

    @property
    def id(self) -> str:
        return self.stated.id

    def cells(self) -> Iterator[tuple[str, int, int]]:
        """(cell, whether it ends something there, claim): where it meets other claims."""
        for cell in self.stated.claim.cells(self.scope):
            yield cell, not self.holds, self.n
        for claim in self.replaces.split():
            yield _proposals(claim), True, self.n


def _proposals(claim: str) -> str:
    """The cell of those that are proposed to close a claim."""
    return f">{claim}"


class Closing(NamedTuple):
    """What closed a record's claim: the record that did, when, in which words, and where those stand."""

    record: str
    mark: str
    sentence: str
    unit: str
    turn: str | None

    @property
    def when(self) -> str:
        return marked_time(self.mark)

    @property
    def why(self) -> str:
        return f"replaced on {self.when[:10]}" + (f": {self.sentence}" if self.sentence else "")


class Validity(NamedTuple):
    """Whether a record holds: what closed it, or since when it holds again."""

    closing: Closing | None
    since: str | None = None  # a mark


class Contest(NamedTuple):
    """Two claims of which it is not sure that the newer ended the older."""

    older: ClaimRow
    newer: ClaimRow


class NearClaim(NamedTuple):
    """A claim that stands, in the words of the statement that makes it."""

    row: ClaimRow
    subject: str
    relation: str
    object: str


class Drawn(NamedTuple):
    """Claims of one statement, as a reader gives them."""

    unit: str
    record: str
    turn: str | None
    mark: str
    project: str | None
    trust: int
    sentence: str
    claims: Sequence[Claim]
    replaces: Sequence[str] = ()


_ROW = columns_of(ClaimRow, "c")
_SAME = ("record", "scope", "holder", "subject", "attribute", "value", "holds", "environment", "trust")
# what was said before the new claims counts once, however often it was said; what came later, each time
_CELLS = ("SELECT x.cell, max(c.n) FROM json_each(:cells) w JOIN claim_cells x ON x.cell = w.value ->> 0 "
          "AND x.ends = w.value ->> 1 JOIN claims c ON c.n = x.claim WHERE NOT c.void AND (c.closed_by IS "
          "NULL OR c.mark >= :since OR (SELECT o.mark FROM claims o WHERE o.n = c.closed_by) >= :since) "
          "AND (c.holds OR c.mark >= :since OR :every OR NOT (c.attribute GLOB 'did *' OR c.attribute IN "
          f"{FINAL})) "
          f"GROUP BY x.cell, {', '.join(f'c.{name}' for name in _SAME)}, "
          "CASE WHEN c.mark >= :since OR c.closed_by IS NOT NULL THEN c.n END")
_AGAIN = " AND ".join(f"{name} = ?" for name in _SAME) + " AND mark < ? AND closed_by IS NULL AND NOT void"
_CLOSER = "o.record, o.mark, o.sentence, o.unit, o.turn"
_STANDING = (f"SELECT c.record, c.mark, {_CLOSER} FROM claims c LEFT JOIN claims o ON o.n = c.closed_by "
             f"AND o.mark <= ? WHERE c.main AND c.record {_GIVEN} AND c.mark <= ?")
_OUTDATED = (f"SELECT c.unit, c.turn, c.sentence, {_CLOSER} FROM claims c JOIN claims o ON o.n = "
             f"coalesce(c.closed_by, c.contested_by) WHERE c.main AND c.unit {_GIVEN} AND o.mark <= ? "
             "ORDER BY o.mark")
_FOREVER = "~"


class Claims(Facet):
    """What is claimed, what was closed and what is contested."""

    # Filling

    def put(self, drawn: Iterable[Drawn]) -> list[int]:
        """Take claims in; returns their numbers, to be settled once all are in."""
        rows: list[ClaimRow] = []
        n = 1 + int(self.db.value("SELECT coalesce(max(n), 0) FROM claims"))
        for draft in drawn:
            first = next((claim for claim in draft.claims if claim.holds and not claim.is_deed),
                         next((claim for claim in draft.claims if not claim.is_deed), None))
            for claim in draft.claims:
                rows.append(ClaimRow(n + len(rows), draft.unit, draft.record, draft.turn, draft.mark,
                                     claim.scope_in(draft.project), claim.holder, claim.subject,
                                     claim.attribute, claim.value, claim.holds, claim.single,
                                     claim.environment, claim.personal,
                                     claim.weak, claim.corrects, claim.thing, draft.trust, claim is first, 0,
                                     draft.sentence, " ".join(draft.replaces), None, None))
        if rows:
            self.db.executemany(f"INSERT INTO claims VALUES ({','.join('?' * len(ClaimRow._fields))})", rows)
            self.db.executemany("INSERT OR IGNORE INTO claim_cells VALUES (?,?,?)",
                                [cell for row in rows for cell in row.cells()])
        return [row.n for row in rows]

    def take(self, mentions: Iterable[tuple[str, str, int, Mention]]) -> list[int]:
        """The claims of facts: (unit, fact id, trust, mention)."""
        from otolith.model.statements import read_claims

        return self.put(
            Drawn(unit, record, None if mention.fact.turn is None else str(mention.fact.turn), mention.mark,
                  mention.project, trust,
                  mention.fact.sentence or mention.fact.title, claims, mention.fact.replaces or ())
            for unit, record, trust, mention in mentions
            if (claims := read_claims(mention.fact.subject, mention.fact.relation, mention.fact.object,
                                      mention.fact.sentence or "")))

    def drop(self, unit: str, mark: str | None = None) -> list[int]:
        """Forget a unit's claims, or those of one mention; returns the claims that they had closed."""
        which, values = ("unit = ?", [unit]) if mark is None else ("unit = ? AND mark = ?", [unit, mark])
        rows = self.db.select(ClaimRow, f"SELECT {_ROW} FROM claims c WHERE {which}", values)
        if not rows:
            return []
        self.db.executemany("DELETE FROM claim_cells WHERE cell = ? AND ends = ? AND claim = ?",
                            [cell for row in rows for cell in row.cells()])
        self.db.execute(f"DELETE FROM claims WHERE {which}", values)
        return self._reopen([row.n for row in rows])

    def _reopen(self, closers: Sequence[int]) -> list[int]:
        """Let go of what these claims had closed or contested, to be settled again."""
        given = json.dumps(closers)
        freed = self.db.column(f"SELECT n FROM claims WHERE closed_by {_GIVEN} OR contested_by {_GIVEN}",
                               (given, given))
        self.db.execute(f"UPDATE claims SET closed_by = NULL WHERE closed_by {_GIVEN}", (given,))
        self.db.execute(f"UPDATE claims SET contested_by = NULL WHERE contested_by {_GIVEN}", (given,))
        return freed

    def reject(self, record: str, rejected: bool) -> list[int]:
        """A person's score 0 takes a statement's force, another score gives it back; returns what is to be
        settled.
        """
        rows = self.db.column("SELECT n FROM claims WHERE record = ? AND void <> ?", (record, int(rejected)))
        if not rows:
            return []
        self.db.execute("UPDATE claims SET void = ? WHERE record = ?", (int(rejected), record))
        return [*rows, *self._reopen(rows)]

    def settle(self, new: Iterable[int], freed: Iterable[int] = ()) -> set[str]:
        """Compare new and freed claims with all others of their cells; returns the records whose standing
        changed.
        """
        fresh = {*new, *freed}
        if not fresh:
            return set()
        self._answer(fresh)
        given = json.dumps(sorted(fresh))
        rows = {row.n: row for row in self._rows(fresh)}
        cells = self._asked(rows.values())
        since = min((row.mark for row in rows.values()), default="")
        outcomes: dict[int, Settled] = {}
        for members in self._members(cells, rows, since):
            for settled in settle([row.stated for row in members], fresh):
                rows |= {row.n: row for row in members if row.n in (settled.older.n, settled.newer.n)}
                before = outcomes.get(settled.older.n)
                if before is None or settled.before(before):
                    outcomes[settled.older.n] = settled
        changed = self._write(outcomes, rows, self.answers(), since)
        again = (f"SELECT DISTINCT record FROM claims WHERE closed_by IS NOT NULL AND record IN "
                 f"(SELECT record FROM claims WHERE n {_GIVEN})")
        changed.update(self.db.column(again, (given,)))  # what was closed and is said again
        return changed.union(self.db.column(f"SELECT DISTINCT record FROM claims WHERE n {_GIVEN}",
                                            (json.dumps(list(freed)),)))

    @staticmethod
    def _asked(rows: Iterable[ClaimRow]) -> dict[tuple[str, int], None]:
        """The parts of cells in which new claims may meet others: (cell, whether those others end something).

        What holds is ended by endings, and replaced by what holds only in the cell of its own attribute.
        """
        asked: dict[tuple[str, int], None] = {}
        for row in rows:
            asked[_proposals(row.id), 1] = None
            for cell in row.stated.claim.cells(row.scope):
                asked[cell, 1 if row.holds else 0] = None
                if row.holds and (row.single or row.corrects or row.replaces) and "|=" not in cell:
                    asked[cell, 0] = None
                if row.attribute == RETRACT:
                    asked[cell, 1] = None
        return asked

    def _members(self, asked: Mapping[tuple[str, int], None], fresh: Mapping[int, ClaimRow], since: str
                 ) -> Iterator[list[ClaimRow]]:
        """The claims of each cell with a fresh one: those that are open, or were closed after the first of
        these.
        """
        parts, every = list(asked), any(row.attribute == RETRACT for row in fresh.values())
        grouped: dict[str, list[int]] = {}
        for at in range(0, len(parts), AT_ONCE):
            listed = json.dumps(parts[at : at + AT_ONCE])
            for cell, claim in self.db.execute(_CELLS, {"cells": listed, "since": since, "every": every}):
                grouped.setdefault(cell, []).append(claim)
        own: dict[str, set[int]] = {}
        for row in list(fresh.values()):
            for cell in (*row.stated.claim.cells(row.scope), _proposals(row.id)):
                own.setdefault(cell, set()).add(row.n)
        cells = {cell: own.get(cell, set()).union(members) for cell, members in grouped.items()}
        many = {n for members in cells.values() if len(members) > 1 for n in members}
        rows = {**fresh, **{row.n: row for row in self._rows(many - fresh.keys())}}
        for members in cells.values():
            if len(members) > 1:
                yield [rows[n] for n in sorted(members) if n in rows]

    def _rows(self, numbers: Iterable[int]) -> list[ClaimRow]:
        query = f"SELECT {_ROW} FROM claims c WHERE n {_GIVEN} AND NOT void"
        return self.db.select(ClaimRow, query, (json.dumps(sorted(numbers)),))

    def _write(self, outcomes: Mapping[int, Settled], rows: Mapping[int, ClaimRow],
               answers: Mapping[tuple[str, str], str], since: str) -> set[str]:
        """Keep what was settled, for each time that it was said; returns the records that were closed."""
        changed: set[str] = set()
        for n, settled in outcomes.items():
            older, newer = rows[n], rows[settled.newer.n]
            closes = settled.verdict == CLOSES
            answer = answers.get((older.id, newer.id)) if answers else None
            if answer == "old":
                self.db.execute("UPDATE claims SET closed_by = ? WHERE n = ?", (older.n, newer.n))
                changed.add(newer.record)
            if answer in ("old", "both"):
                continue
            closes = closes or answer == "new"
            column, before = (("closed_by", older.closed_by) if closes
                              else ("contested_by", older.contested_by))
            if before == newer.n:
                continue
            if before is not None and (held := self._mark(before)) and (held, before) < (newer.mark, newer.n):
                continue
            self.db.execute(f"UPDATE claims SET {column} = ? WHERE n = ?", (newer.n, n))
            if older.mark < since and older.closed_by is None:
                self.db.execute(f"UPDATE claims SET {column} = ? WHERE {_AGAIN} AND {column} IS NULL",
                                (newer.n, *(getattr(older, name) for name in _SAME), older.mark))
            if closes:
                changed.add(older.record)
        return changed

    def _mark(self, n: int) -> str | None:
        return self.db.value("SELECT mark FROM claims WHERE n = ?", (n,)) or None

    def _answer(self, fresh: set[int]) -> None:
        """A value said alone answers an earlier claim with a value of its kind: it is about the same thing.

        The latest one that shares a word with it or whose attribute is named beside it, else the latest of
        these weeks.
        """
        given = json.dumps(sorted(fresh))
        query = f"SELECT {_ROW} FROM claims c WHERE n {_GIVEN} AND attribute = ? ORDER BY mark, n"
        for row in self.db.select(ClaimRow, query, (given, ASKED)):
            recent = self.db.select(ClaimRow,
                    f"SELECT {_ROW} FROM claims c WHERE scope = ? AND holds AND mark < ? AND main "
                                              "AND trust >= ? ORDER BY mark DESC, n DESC LIMIT ?",
                                    (row.scope, row.mark, row.trust, ANSWERABLE))
            since = float(row.mark.split(" ")[0]) - ANSWERED_WITHIN
            about = answered(row.stated,
                             [earlier.stated for earlier in recent
                              if float(earlier.mark.split(" ")[0]) >= since],
                             [earlier.stated for earlier in recent], row.sentence)
            if about is None:
                continue
            claim = row.stated.claim._replace(holder=about.claim.holder, subject=about.claim.subject,
                                              attribute=about.claim.attribute,
                                              environment=about.claim.environment, thing=about.claim.thing)
            self.db.execute(
                    "UPDATE claims SET holder = ?, subject = ?, attribute = ?, environment = ?, thing = ?"
                    " WHERE n = ?",
                            (claim.holder, claim.subject, claim.attribute, claim.environment, claim.thing,
                             row.n))
            self.db.execute("UPDATE claims SET single = 1 WHERE n = ?", (about.n,))
            self.db.executemany("INSERT OR IGNORE INTO claim_cells VALUES (?,?,?)",
                                [(cell, False, n) for n in (row.n, about.n)
                                 for cell in claim.cells(row.scope)])

    # A person's answers

    def answers(self) -> dict[tuple[str, str], str]:
        """(older claim, newer claim) → which holds, as a person settled it last."""
        return {(old, new): holds for old, new, holds in self.db.execute(
                "SELECT old, new, holds FROM settled ORDER BY at, mark")}

    def replace_answers(self, answers: Sequence[Answer]) -> list[int]:
        """Take in all answers of the home; returns the claims to be settled again."""
        before = {(old, new) for old, new, in self.db.execute("SELECT old, new FROM settled")}
        self.db.execute("DELETE FROM settled")
        self.db.executemany("INSERT INTO settled VALUES (?,?,?,?,?)", answers)
        about = {claim for pair in before for claim in pair}
        about |= {claim for answer in answers for claim in (answer.old, answer.new)}
        if not about:
            return []
        rows = [row.n for row in self.db.select(ClaimRow,
                f"SELECT {_ROW} FROM claims c WHERE single OR closed_by IS NOT NULL "
                                                          "OR contested_by IS NOT NULL") if row.id in about]
        given = json.dumps(rows)
        self.db.execute(f"UPDATE claims SET closed_by = NULL, contested_by = NULL WHERE n {_GIVEN}", (given,))
        return rows

    # Reading

    def standings(self, records: Iterable[str], until: str = _FOREVER,
                  topic: str = "") -> dict[str, Validity]:
        """Record → since when it holds and what closed it, as far as that was said by then; in a topic, by
        that topic alone.

        A fact is closed by what came after it was last said; a record that says several things, when none of
        them holds any more.
        """
        mentions: dict[str, dict[str, list[Closing | None]]] = {}
        query = f"SELECT DISTINCT record FROM claims WHERE record {_GIVEN} AND closed_by IS NOT NULL"
        over = self.db.column(query, (json.dumps(list(records)),))
        for record, mark, *closing in self.db.execute(_STANDING, (until, json.dumps(over), until)):
            closer = Closing(*closing) if closing[0] else None
            ours = closer if closer and closer.unit.startswith(f"topics/{topic}/" if topic else "") else None
            mentions.setdefault(record, {}).setdefault(mark, []).append(ours)
        standings: dict[str, Validity] = {}
        for record, marks in mentions.items():
            closings = [closing for closing in marks[max(marks)] if closing]
            ended = max((closing.mark for listed in marks.values() for closing in listed if closing),
                        default="")
            whole = len(closings) == len(marks[max(marks)])
            since = min((mark for mark in marks if mark > ended),
                        default=None) if ended and not whole else None
            if whole or since:
                standings[record] = Validity(max(closings, key=lambda closing: closing.mark) if whole
                                             else None, since)
        return standings

    def closings(self, records: Iterable[str], until: str = _FOREVER) -> dict[str, Closing]:
        """Record → what closed it."""
        return {record: standing.closing for record, standing in self.standings(records, until).items()
                if standing.closing}

    def outdated(self, units: Iterable[str],
                 as_of: float | None = None) -> dict[tuple[str, str | None], list[tuple[str, Closing]]]:
        """(unit, turn) → the sentences there that a newer claim closes or contests, each with that claim."""
        until = _FOREVER if as_of is None else after_all(as_of)
        places: dict[tuple[str, str | None], list[tuple[str, Closing]]] = {}
        for unit, turn, sentence, *closing in self.db.execute(_OUTDATED, (json.dumps(list(units)), until)):
            places.setdefault((unit, turn), []).append((sentence, Closing(*closing)))
        return places

    def undrawn(self, kinds: Sequence[str], limit: int) -> list[tuple[str, str]]:
        """(id, unit) of records of these kinds whose claims were not yet read as they are now, newest first.

        All before the mark `drawn` were; so what was looked through in vain is not looked through again.
        """
        since, top = self.index.get("drawn", 0), self.db.value("SELECT coalesce(max(n), 0) FROM records")
        waiting = self.db.execute(
            "SELECT r.id, r.unit FROM records r LEFT JOIN seen s ON s.rung = 'claims' AND s.key = r.id "
            f"WHERE r.n > ? AND r.kind {_GIVEN} AND s.stamp IS NOT r.n "
            "ORDER BY r.n DESC LIMIT ?", (since, json.dumps(kinds), limit))
        if not waiting and top > since + MANY:
            with suppress(Busy, CannotWrite), self.index.aside():
                self.index.set("drawn", top)
        return waiting

    def gone(self) -> list[str]:
        """The units that claims are known of and that are there no longer."""
        return self.db.column("SELECT DISTINCT unit FROM claims c WHERE NOT EXISTS (SELECT 1 FROM "
                              "documents d WHERE d.path = c.unit) AND unit NOT LIKE 'topics/%'")

    def contested(self, limit: int = 50) -> list[Contest]:
        """Open contradictions, newest first: pairs that no rule and no person has settled."""
        query = (f"SELECT {_ROW} FROM claims c WHERE contested_by IS NOT NULL AND closed_by IS NULL "
                 "AND NOT void ORDER BY (SELECT mark FROM claims o WHERE o.n = c.contested_by) DESC LIMIT ?")
        pairs = [(row, self._row(row.contested_by)) for row in self.db.select(ClaimRow, query, (limit,))]
        return [Contest(older, newer) for older, newer in pairs if newer is not None
                and newer.closed_by is None]

    def near(self, words: Iterable[str], project: str | None, limit: int) -> list[NearClaim]:
        """What dialogs claim to hold in a project or of the user's person: most shared words first, then
        newest.
        """
        scopes = {"", PERSONAL, *([project] if project not in (None, "", "default") else ())}
        cells = json.dumps([f"{scope}|={word}" for word in words for scope in sorted(scopes)])
        query = (f"SELECT {_ROW}, s.fact FROM claims c JOIN said s ON s.unit = c.unit AND s.mark = c.mark "
                 f"LEFT JOIN (SELECT claim, count(*) AS shared FROM claim_cells WHERE cell {_GIVEN} "
                 f"GROUP BY claim) w ON w.claim = c.n WHERE c.scope {_GIVEN} AND c.holds AND c.main "
                 "AND NOT c.void AND c.closed_by IS NULL ORDER BY w.shared DESC, c.mark DESC, c.n LIMIT ?")
        rows = self.db.execute(query, (cells, json.dumps(sorted(scopes)), limit))
        facts = [(ClaimRow(*row[:-1]), json.loads(row[-1])) for row in rows]
        return [NearClaim(row, fact["subject"], fact["relation"], fact["object"]) for row, fact in facts]

    def _row(self, n: int | None) -> ClaimRow | None:
        return self.db.first(ClaimRow, f"SELECT {_ROW} FROM claims c WHERE n = ?", (n,))

    def of(self, record: str) -> list[ClaimRow]:
        """The claims of a record, in the order they were said."""
        return self.db.select(ClaimRow, f"SELECT {_ROW} FROM claims c WHERE record = ? ORDER BY mark, n",
                              (record,))

    def named(self, claim: str) -> list[ClaimRow]:
        """The rows of a claim by its name in curation.jsonl, or by a record's id."""
        every = f"SELECT {_ROW} FROM claims c ORDER BY mark, n"
        return self.of(claim) or [row for row in self.db.select(ClaimRow, every) if row.id == claim]

    def closer(self, row: ClaimRow) -> ClaimRow | None:
        """The claim that closed this one."""
        return self._row(row.closed_by)

    def outside_dialogs(self, about: str | None, limit: int = 500) -> list[ClaimRow]:
        """What notes, memos, chunks and works claim first and foremost, of a subject, a record or all, oldest
        first.
        """
        query = (f"SELECT {_ROW} FROM claims c WHERE main AND unit NOT LIKE 'topics/%' AND "
                 "(:about IS NULL OR record = :about OR "
                 "instr(' ' || holder || ' ' || subject || ' ', ' ' || :about || ' ')) "
                 "ORDER BY mark DESC, n DESC LIMIT :limit")
        return self.db.select(ClaimRow, query, {"about": about, "limit": limit})[::-1]
