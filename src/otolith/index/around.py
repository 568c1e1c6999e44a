"""Passages: their text and place, what stands beside them, which of them a filter lets pass. Reads only.

Many are only looked at, as rows of `places`; few are read whole, as passages that may be delivered.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from otolith.index.cards import where
from otolith.index.database import Database, Facet, columns_of, replaces
from otolith.index.words import numbers_in
from otolith.model.kinds import COUNTED, DATED, KINDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from otolith.index.places import Places
    from otolith.model.recall import Filter

# passages up to which all places are read at once, and as many at a time
FEW_PLACES = AT_ONCE = 2000
MOST_READ = 4000  # passages that are kept at hand


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
    title: str
    topic: str | None
    start: int
    stop: int
    turn: str | None
    text: str

    @property
    def asks(self) -> bool:
        """Is it a turn that asks?"""
        return self.is_turn and self.text.rstrip().endswith(ASKS)

    @property
    def strand(self) -> str | int | None:
        return _strand(self)

    @property
    def is_turn(self) -> bool:
        """Does it stand in a dialog, with something said before and after it?"""
        return self.strand is not None


def _strand(spot: Passage) -> str | int | None:
    around = KINDS[spot.kind].around
    return spot.record if around == "turns" else spot.conversation if around == "conversation" else None


ASKS = ("?", "？")
# What is never delivered. An edge that says nothing of its own is only a reason; what a person rejected is
# not shown again, unless it is named by its id.
_ECHOES = ", ".join(f"'{row.name}'" for row in KINDS.values() if row.echo)
_SCORED = ", ".join(f"'{row.name}'" for row in KINDS.values() if row.forget == "score")
_MUTE = f"""SELECT group_concat(p.n) FROM passages p JOIN records r ON r.n = p.record
WHERE p.text = '' AND r.kind IN ({_ECHOES})"""
_PASSAGES = "JOIN passages p ON p.n BETWEEN r.n AND r.last AND p.record = r.n"  # between may lie others'
_REJECTED = f"""SELECT group_concat(p.n) FROM records r {_PASSAGES}
WHERE r.sunk AND r.kind IN ({_SCORED}) AND NOT EXISTS (SELECT 1 FROM links l JOIN records x ON x.id = l.a
WHERE l.b = r.id AND {replaces('r', 'x')})"""
# all else is the record's
_OWN = {name: f"p.{name}" for name in ("n", "record", "speaker", "start", "stop", "turn", "text")}
_OWN |= {"ord": "p.n - p.record", "said": "coalesce(p.said, r.created)"}
_COLUMNS = columns_of(Passage, "r", **_OWN)
_PLACE = (f"p.n, p.record, r.last, {_OWN['said']}, substr(p.text, -1) IN ('?', '？'), r.created, r.place, "
          "r.kind, r.conversation, p.speaker")  # as `places` takes it
_JOINED = "FROM passages p JOIN records r ON r.n = p.record"
_GIVEN = "(SELECT value FROM json_each(?))"
_OPENING = f"SELECT {_COLUMNS} FROM records r JOIN passages p ON p.n = r.n"
# Kinds whose time is their own; named one by one, so that the index by kind and time is used.
_WRITTEN = ", ".join(f"'{kind}'" for kind in DATED)
_WITHIN = f"""{_OPENING} WHERE r.kind IN ({_WRITTEN})
AND r.created >= coalesce(:since, -9e999) AND r.created < coalesce(:before, 9e999)
AND (:month IS NULL OR strftime('%m', r.created, 'unixepoch') + 0 = :month)
AND (:day IS NULL OR strftime('%d', r.created, 'unixepoch') + 0 = :day)
ORDER BY r.created DESC, r.at DESC, r.n DESC LIMIT :limit"""
_SAME_RECORDS = f"""SELECT DISTINCT {_PLACE} FROM json_each(?) w JOIN passages p ON +p.record = w.value ->> 0
AND p.n BETWEEN w.value ->> 1 AND w.value ->> 2 JOIN records r ON r.n = p.record"""
# What stands beside many chunks at once: for each of them the nearest records of its conversation on one
# side.
_BESIDE = f"""SELECT DISTINCT {_PLACE} FROM json_each(?) w JOIN records r ON r.n IN (
SELECT x.n FROM records x WHERE x.conversation = w.value ->> 0 AND x.kind = 'chunk'
AND (x.created, x.place, x.n) %s (w.value ->> 1, w.value ->> 2, w.value ->> 3)
ORDER BY x.created %s, x.place %s, x.n %s LIMIT ?) {_PASSAGES}"""
_BEFORE, _AFTER = _BESIDE % ("<", "DESC", "DESC", "DESC"), _BESIDE % (">=", "ASC", "ASC", "ASC")
_TALK = (f"SELECT {_COLUMNS} FROM records r {_PASSAGES} "
         "WHERE r.conversation = ? AND r.kind = 'chunk' AND (r.created, r.place, r.n)")
_EARLIER = f"{_TALK} < (?, ?, ?) ORDER BY r.created DESC, r.place DESC, r.n DESC, p.n DESC LIMIT ?"
_LATER = f"{_TALK} > (?, ?, ?) ORDER BY r.created, r.place, r.n, p.n LIMIT ?"


class Around(Facet):
    """Passages and their neighbourhood."""

    def __init__(self, index: Database) -> None:
        super().__init__(index)
        self._asked = 0
        self._table: tuple[int, Places] | None = None  # of an index file, by how often one was opened

    def passages(self, numbers: Iterable[int]) -> list[Passage]:
        """These passages, ascending; one that was read lately is not read again."""
        read: dict[int, Passage] = self.index.kept("read", dict)
        order = sorted(set(map(int, numbers)))
        at_hand = {n: passage for n in order if (passage := read.get(n)) is not None}
        if lacking := [n for n in order if n not in at_hand]:
            query = f"SELECT {_COLUMNS} {_JOINED} WHERE p.n IN {_GIVEN}"
            fresh = {passage.n: passage for passage in self.db.select(Passage, query, (json.dumps(lacking),))}
            if len(read) > MOST_READ:
                read.clear()
            read.update(fresh)
            at_hand |= fresh
        return [at_hand[n] for n in order if n in at_hand]

    def texts(self, numbers: Sequence[int]) -> list[str]:
        """The texts of passages, in their order."""
        query = f"SELECT n, text FROM passages WHERE n IN {_GIVEN}"
        texts = dict(self.db.execute(query, (json.dumps(list(numbers)),)))
        return [texts.get(n, "") for n in numbers]

    def places(self, seeds: Sequence[int], reach: int) -> Places:
        """Where passages stand: these and those beside them; for who asks again, all there are."""
        self._asked += 1
        once = self._asked == 1 and (self.db.value("SELECT max(n) FROM passages") or 0) > FEW_PLACES
        if self.db.in_transaction or once:
            from otolith.index.places import Places

            return Places().with_rows(sorted(set(self._rows_beside(seeds, reach)))).ordered()
        return self.index.kept("places", self._every_place)

    def _every_place(self) -> Places:
        """The table as it was, with what came and without what went; anew if that cannot be all."""
        from otolith.index.places import Places

        opened, table = self._table or (0, Places())
        if opened != self.index.times_opened:
            table = Places()
        for _ in range(2):
            while rows := self.db.execute(f"SELECT {_PLACE} {_JOINED} WHERE p.n > ? ORDER BY p.n LIMIT ?",
                                          (table.last, AT_ONCE)):
                table = table.with_rows(rows)
            total = self.db.value("SELECT count(*) FROM passages")
            if len(table) != total:
                table = table.without(self.db.column("SELECT n FROM gone WHERE n <= ?", (table.last,)))
            if len(table) == total:
                break
            table = Places()
        self._table = self.index.times_opened, table
        return table.ordered()

    def openings(self, ids: Collection[str]) -> list[Passage]:
        """The first passage of each record."""
        if not ids:
            return []
        return self.db.select(Passage, f"{_OPENING} WHERE r.id IN {_GIVEN}", (json.dumps(list(ids)),))

    def at(self, unit: str, turn: str | None) -> Passage | None:
        """The turn of an entry, or the opening of another record, in this unit."""
        where = "p.turn = ?" if turn is not None else "p.n = r.n AND ? IS NULL"
        query = (f"SELECT {_COLUMNS} FROM records r {_PASSAGES} "
                 f"WHERE r.unit = ? AND {where} LIMIT 1")
        return self.db.first(Passage, query, (unit, turn))

    def within(self, since: float | None, before: float | None, month: int | None, day: int | None,
               limit: int) -> list[Passage]:
        """The openings of the newest written records of a time; a month is one of any year."""
        return self.db.select(Passage, _WITHIN, {"since": since, "before": before, "month": month, "day": day,
                                                 "limit": limit})

    def chosen(self, chosen: Filter, projects: tuple[str, ...], limit: int) -> list[Passage]:
        """The openings of the newest records that pass a filter and of the weightiest, so many of each.

        Where it names no kind, what only accompanies other records is left out.
        """
        some = chosen if chosen.kind else chosen.replace(kind=COUNTED)
        condition, values = where(self.index, some, projects)
        orders = ("r.created DESC, r.n DESC",
                  "r.pinned DESC, coalesce(r.importance, 0.5) DESC, r.created DESC, r.n DESC")
        return list(dict.fromkeys(
            passage for order in orders for passage in self.db.select(
                Passage, f"{_OPENING} WHERE {condition} ORDER BY {order} LIMIT ?", [*values, limit])))

    def beside(self, passage: Passage, reach: int) -> list[Passage]:
        """The turns up to so many before and after a passage of a dialog, itself included, in order."""
        here = self.db.select(Passage, f"SELECT {_COLUMNS} {_JOINED} WHERE p.record = ? AND p.n BETWEEN ? "
                                       "AND ? ORDER BY p.n",
                              (passage.record, passage.n - reach, passage.n + reach))
        if KINDS[passage.kind].around != "conversation":
            return here
        place = (passage.conversation, passage.created, passage.place, passage.record, reach)
        return self.db.select(Passage, _EARLIER, place)[::-1] + here + self.db.select(Passage, _LATER, place)

    def _rows_beside(self, seeds: Sequence[int], reach: int) -> Iterator[tuple[Any, ...]]:
        """The places of passages and of the turns around them; what is no dialog has no neighbours."""
        rows = self.db.execute(f"SELECT {_PLACE} {_JOINED} WHERE p.n IN {_GIVEN}", (json.dumps(list(seeds)),))
        yield from rows
        spans = [(record, n - reach, n + reach) for n, record, *_, kind, _, _ in rows
                 if KINDS[kind].around == "turns"]
        chunks = [(conversation, created, place, record)
                  for _, record, _, _, _, created, place, kind, conversation, _ in rows
                  if KINDS[kind].around == "conversation" and conversation is not None]
        if spans:
            yield from self.db.execute(_SAME_RECORDS, (json.dumps(spans),))
        if chunks:
            yield from self.db.execute(_BEFORE, (json.dumps(chunks), reach))
            yield from self.db.execute(_AFTER, (json.dumps(chunks), reach + 1))

    def allowed(self, chosen: Filter, projects: tuple[str, ...]) -> NDArray[np.bool_] | None:
        """By passage number, whether the filters let it pass; None if they ask for nothing."""
        condition, values = where(self.index, chosen, projects)
        if condition == "1":
            return None
        query = (f"SELECT group_concat(p.n) FROM records r {_PASSAGES} "
                 f"WHERE {condition}")
        return self._mask(self.db.value(query, values))

    def withheld(self, *, rejected: bool) -> NDArray[np.int64]:
        """The passages that are never delivered; `rejected` with those of what a person rejected."""
        import numpy as np

        def read() -> NDArray[np.int64]:
            mute = numbers_in(self.db.value(_MUTE))
            return np.concatenate([mute, numbers_in(self.db.value(_REJECTED))]) if rejected else mute

        return self.index.kept(f"withheld {rejected}", read)

    def weighty(self) -> NDArray[np.bool_] | None:
        """By passage number, whether it opens a pinned or very important record; None if none does."""
        def read() -> NDArray[np.bool_] | None:
            listed = self.db.value("SELECT group_concat(n) FROM records WHERE pinned OR importance >= 0.9")
            return self._mask(listed) if listed else None

        return self.index.kept("weighty", read)

    def _mask(self, listed: str | None) -> NDArray[np.bool_]:
        import numpy as np

        numbers = numbers_in(listed)
        mask = np.zeros(int(numbers.max()) + 1 if len(numbers) else 1, np.bool_)
        mask[numbers] = True
        return mask
