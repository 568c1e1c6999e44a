"""What the index knows of the home's files: their versions and findings, and how far each log was read.

Units come in and go out here. Nothing of this is the truth: it is what sync compares the tree with.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from otolith.errors import BrokenIndex
from otolith.index.database import REMEDY, Facet
from otolith.index.write import FILLED, Answer, Stamp, Unit, Units
from otolith.model.record import Stretch, Usage, Version

if TYPE_CHECKING:
    from otolith.index.facts import Touched

AT_ONCE = 500  # files asked for in one statement
Known = Mapping[str, Version | None]  # None: something that is not a plain document
Parts = Mapping[str, Sequence[str]]  # unit → the files it may consist of


# what only units fill: one of these that has rows can be emptied by dropping a unit, and by nothing else
_HELD = ("records", "passages", "words_docsize", "tags", "names", "links", "archived", "said", "reviewed",
         "agents", "memories", "memory_files", "memory_links", "chapters", "chapter_memories", "wisdom",
         "wisdom_chapters", "file_works", "threads")
_FILLED = " UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {table})" for table in _HELD)


class Sweep(NamedTuple):
    """When the whole tree was last compared, how many seconds the look at it took, and up to where a tree
    that tells its changes had told them.
    """

    when: float
    cost: float
    cursor: str = ""


class _Versions(Mapping[str, Version | None]):
    """The versions of all files, of which mostly a few are asked for."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._all: Known | None = None

    def __getitem__(self, path: str) -> Version | None:
        return (self._documents.versions([path]) if self._all is None else self._all)[path]

    def __iter__(self) -> Iterator[str]:
        if self._all is None:
            self._all = self._documents.versions()
        return iter(self._all)

    def __len__(self) -> int:
        return self._documents.count()


class Documents(Facet):
    """Files and what was read from them."""

    def versions(self, paths: Sequence[str] | None = None) -> Known:
        """The version of each file, or of those among these that are known."""
        question = "SELECT path, stamp, same, settled FROM documents"
        if paths is None:
            return {row[0]: row[1:] if row[1] else None for row in self.db.execute(question)}
        versions: dict[str, Version | None] = {}
        for start in range(0, len(paths), AT_ONCE):
            some = paths[start : start + AT_ONCE]
            rows = self.db.execute(f"{question} WHERE path IN ({','.join('?' * len(some))})", some)
            versions.update((path, Version(*version) if version[0] else None) for path, *version in rows)
        return versions

    def known(self) -> Known:
        """The versions of all files, read when somebody asks for them."""
        return _Versions(self)

    def unread(self, mark: bytes) -> list[str]:
        """The files that could not be read when the index last tried."""
        return [path for path, in self.db.execute("SELECT path FROM documents WHERE stamp = ?", (mark,))]

    def unsettled(self) -> list[str]:
        """The files that were not settled when the index last saw them."""
        return [path for path, in self.db.execute("SELECT path FROM documents WHERE NOT settled")]

    def fingerprint(self, path: str) -> str | None:
        """The fingerprint of the bytes that were last read; None if they could not be read."""
        rows = self.db.execute("SELECT hash FROM documents WHERE path = ? AND hash <> ''", (path,)).fetchall()
        return rows[0][0] if rows else None

    def count(self) -> int:
        return int(self.db.value("SELECT count(*) FROM documents"))

    def is_empty(self) -> bool:
        return self.db.execute("SELECT 1 FROM documents LIMIT 1").fetchone() is None

    def seen_again(self, settled: Mapping[str, bool]) -> None:
        """These files were read again and have the bytes they had."""
        now = time.time_ns()
        self.db.executemany("UPDATE documents SET settled = ?, seen = ? WHERE path = ?",
                            [(whole, now, path) for path, whole in settled.items()])

    def restamp(self, path: str, before: str, stamp: Stamp) -> bool:
        """The file is another one with nothing else to learn from it; False if it was not the one known."""
        with self.index.writing() as db:
            return db.execute("UPDATE documents SET stamp = ?, same = ?, settled = ?, hash = ?, seen = ? "
                              "WHERE path = ? AND hash = ?", (*stamp, path, before)).rowcount == 1

    def contested(self) -> list[str]:
        """The units that were refused for having the id of another."""
        rows = self.db.execute("SELECT DISTINCT path FROM problems WHERE code = 'duplicate-id'")
        return [path for path, in rows]

    # Units

    @contextmanager
    def filling(self, *, fresh: bool = False) -> Iterator[Filling]:
        """Units in and out, in one transaction; the facts they state are settled at the end."""
        if not self.index.depth:
            self.refuse_hollow()  # what goes out may leave a table empty, and then nothing would tell
        with self.index.writing():
            self.index.adopt()
            filling = Filling(Units(self.index), fresh)
            with filling.units.filling(fresh):
                yield filling
            filling.settle()

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Many writes in one commit; others read meanwhile, for no page leaves the cache before it."""
        with self.index.unspilled(), self.index.writing():
            yield

    # What was done when

    def last_sweep(self) -> Sweep | None:
        noted = dict(self.db.execute(
            "SELECT key, value FROM meta WHERE key IN ('swept', 'sweep_cost', 'cursor')"))
        return Sweep(float(noted["swept"]), noted["sweep_cost"], str(noted.get("cursor", ""))) if (
            "swept" in noted and "sweep_cost" in noted) else None

    def note_sweep(self, sweep: Sweep) -> None:
        with self.index.aside():
            self.index.set("swept", sweep.when)
            self.index.set("sweep_cost", sweep.cost)
            self.index.set("cursor", sweep.cursor)
            self.index.set(FILLED, ",".join(self.db.column(_FILLED)))

    def is_hollow(self) -> bool:
        """Whether a table is empty that had rows at the last sweep, with no unit dropped since."""
        return self.index.kept("hollow", self._is_hollow)

    def refuse_hollow(self) -> None:
        if self.is_hollow():
            raise BrokenIndex("the index is damaged (a table was emptied)", REMEDY)

    def _is_hollow(self) -> bool:
        filled = self.index.get(FILLED)
        return bool(filled) and not {*str(filled).split(",")} <= {*self.db.column(_FILLED)}

    def ledger_bytes(self) -> int:
        """Up to which byte the usage ledger was counted."""
        count: int = self.index.get("usage_bytes", 0)
        return count

    def recount(self) -> None:
        """The ledger was rewritten: it is counted again from its beginning."""
        self.index.set("usage_bytes", 0)

    def add_usage(self, totals: Mapping[str, Usage], upto: int, *, anew: bool) -> None:
        """What the ledger counts up to this byte beyond what is known, or in all."""
        with self.index.aside():
            Units(self.index).count_uses(totals, anew=anew)
            self.index.set("usage_bytes", upto)


class Filling:
    """Units on their way into the index."""

    def __init__(self, units: Units, fresh: bool) -> None:
        self.units, self._fresh = units, fresh
        self._touched: Touched | None = None

    def put(self, units: Sequence[Unit], parts: Parts) -> None:
        """Write units in place of what was known of them; a broken one keeps its last good records."""
        for unit in units:
            self.drop(unit.name, parts[unit.name], keep_records=unit.broken)
        self.units.put(units)
        self._take_facts([unit for unit in units if unit.name.startswith("topics/")], ())
        for unit in units:
            if unit.answers is not None:
                self._take_answers(unit.answers)

    def extend(self, unit: Unit, passages: Sequence[Stretch], names: Sequence[str]) -> None:
        """A unit grew: more passages, names and facts of the record that it holds."""
        self.units.extend(unit, passages, names)
        if unit.mentions:
            self._take_facts([unit], (), more=True)

    def remove(self, parts: Parts) -> None:
        """Forget units, and the facts that they stated."""
        for name, files in parts.items():
            self.drop(name, files)
        self._take_facts((), [name for name in parts if name.startswith("topics/")])
        if "curation.jsonl" in parts:
            self._take_answers(())

    def drop(self, unit: str, files: Sequence[str], *, keep_records: bool = False) -> None:
        """Forget a unit; what it says of facts stays until it is put again or removed."""
        if not self._fresh:
            self.units.drop(unit, files, keep_records=keep_records)

    def _take_facts(self, units: Sequence[Unit], gone: Sequence[str], *, more: bool = False) -> None:
        if units or gone:
            from otolith.index.facts import Facts, Touched

            self._touched = self._touched or Touched()
            facts = Facts(self.units.index)
            if more:
                facts.add(units, self._touched)
            else:
                facts.replace(units, gone, self._touched)

    def _take_answers(self, answers: Sequence[Answer]) -> None:
        from otolith.index.facts import Facts, Touched

        self._touched = self._touched or Touched()
        self._touched.claims.update(Facts(self.units.index).claims.replace_answers(answers))

    def settle(self) -> None:
        """Bring the fact records up to what was stated, once all is in."""
        if self._touched is not None and (self._touched.slots or self._touched.claims or self._touched.freed):
            from otolith.index.facts import Facts

            Facts(self.units.index).settle(self._touched)
