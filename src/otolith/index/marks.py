"""Marks: what each rung of upkeep saw when it last did its work, one stamp for each (rung, key).

A rung whose inputs and outputs still give the stamp in the table has nothing to do. A rung that works item
by item (a topic, a chapter, a file that was built) has the item as key. A record's number in the index
serves as its stamp: a record that is read again gets a higher one, and none is used twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from otolith.index.database import Facet

BUILT = "built"  # path → the fingerprint of the bytes last built there


class Marks(Facet):
    """What rungs have seen."""

    def get(self, rung: str, key: str = "") -> Any:
        row = self.db.execute("SELECT stamp FROM seen WHERE rung = ? AND key = ?", (rung, key)).fetchone()
        return row[0] if row else None

    def set(self, rung: str, key: str, stamp: str | int) -> None:
        self.set_all(rung, {key: stamp})

    def set_all(self, rung: str, stamps: dict[str, Any]) -> None:
        with self.index.writing() as db:
            db.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?, ?)",
                           [(rung, key, stamp) for key, stamp in stamps.items()])

    def replace(self, rung: str, keys: Iterable[str]) -> None:
        """Have a rung know these keys and no others."""
        with self.index.writing() as db:
            db.execute("DELETE FROM seen WHERE rung = ?", (rung,))
            db.executemany("INSERT INTO seen VALUES (?, ?, 1)", [(rung, key) for key in keys])

    def forget(self, rung: str, keys: Iterable[str]) -> None:
        with self.index.writing() as db:
            db.executemany("DELETE FROM seen WHERE rung = ? AND key = ?", [(rung, key) for key in keys])

    def forget_naming(self, words: Iterable[str], keys: Iterable[str]) -> None:
        """Forget, of every rung, what is kept under these keys or under one that holds one of the words."""
        with self.index.writing() as db:
            db.executemany("DELETE FROM seen WHERE key = ?", [(key,) for key in keys])
            db.executemany("DELETE FROM seen WHERE instr(key, ?)", [(word,) for word in words])

    def all(self, rung: str) -> dict[str, Any]:
        """Every key of a rung with its stamp."""
        return dict(self.db.execute("SELECT key, stamp FROM seen WHERE rung = ? ORDER BY key", (rung,)))

    def changed(self, rung: str, kind: str) -> list[str]:
        """The records of a kind that are not as the rung saw them, and those it saw that are gone.

        The rung's keys are then the ids of such records, their stamps the records' numbers; see `settle`.
        """
        rows = self.db.execute(
            "SELECT r.id FROM records r LEFT JOIN seen s ON s.rung = :rung AND s.key = r.id "
            "WHERE r.kind = :kind AND s.stamp IS NOT r.n UNION ALL "
            "SELECT s.key FROM seen s WHERE s.rung = :rung "
            "AND NOT EXISTS (SELECT 1 FROM records r WHERE r.id = s.key)", {"rung": rung, "kind": kind})
        return [record for record, in rows]

    def settle(self, rung: str, ids: Iterable[str]) -> None:
        """The rung has seen these records as they are now; those that are gone it need not see again."""
        known = [(rung, record) for record in dict.fromkeys(ids)]
        with self.index.writing() as db:
            db.executemany("DELETE FROM seen WHERE rung = ? AND key = ?", known)
            db.executemany("INSERT INTO seen SELECT ?, id, n FROM records WHERE id = ?", known)

    def inputs(self) -> dict[str, tuple[Any, ...]]:
        """A stamp for the records of each kind, for findings (unreadable files count), pins, use."""
        rows = self.db.execute("SELECT kind, count(*), max(n), sum(n) FROM records GROUP BY kind")
        stamps = {kind: tuple(numbers) for kind, *numbers in rows}
        stamps[":problems"] = self.db.execute("SELECT count(*), max(path) FROM problems").fetchone()
        stamps[":pins"] = self.db.execute("SELECT count(*), max(created) FROM links WHERE word = "
                                          "'pinned'").fetchone()
        stamps[":usage"] = self.db.execute("SELECT sum(count), max(last) FROM usage").fetchone()
        return stamps
