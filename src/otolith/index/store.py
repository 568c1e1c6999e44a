"""The index: the cache you may delete, asked by the thing asked for: `index.cards.find(id)`,
`index.graph.neighbours(id)`, …

Every call takes values and returns values; nobody above this room sees SQL. Each facet is loaded when it is
first asked. A verb asks by way of `attempt`, so that a damaged index heals and the verb answers all the same.
"""

from __future__ import annotations

import os
from _thread import _local
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from otolith.errors import BrokenIndex, Busy, CannotWrite
from otolith.index.database import (
    BUSY_SECONDS,
    FINDING_SECONDS,
    NO_INDEX,
    SCHEMA,
    Database,
    file_at,
    own_files,
    remove,
)
from otolith.index.database import index_path as index_path
from otolith.model.record import log
from otolith.model.text import check_whole

if TYPE_CHECKING:
    from otolith.index.around import Around
    from otolith.index.cards import Cards
    from otolith.index.claims import Claims
    from otolith.index.dialogs import Dialogs
    from otolith.index.documents import Documents
    from otolith.index.facts import Facts
    from otolith.index.graph import Graph
    from otolith.index.marks import Marks
    from otolith.index.notes import Notes
    from otolith.index.vectors import Meaning
    from otolith.index.words import Words
    from otolith.index.works import Works

_FACETS = {"cards": "cards:Cards", "graph": "graph:Graph", "words": "words:Words", "around": "around:Around",
           "meaning": "vectors:Meaning", "facts": "facts:Facts", "documents": "documents:Documents",
           "work": "works:Works", "dialogs": "dialogs:Dialogs", "notes": "notes:Notes",
           "marks": "marks:Marks", "claims": "claims:Claims"}


STUMBLED = "stumbled"  # was made anew because of a stumble, and is not again
# what code stumbles over that is given rows which nobody wrote
STUMBLES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
PURGES = "purges"  # how often it was shrunk: a rebuild sees that one came between
T = TypeVar("T")
Progress = Callable[[int, int], None]
Fill = Callable[["Index", Mapping[str, int], Progress | None], object]  # the order of units, as last read


class _Asking(_local):
    """How many acts that ask the index a thread is in, one inside the other; whether they only find."""

    depth = 0
    finding = False


class Index(Database):
    """An open index. `fill` brings an index up to the files; `tell` takes a notice for who asked."""

    cards: Cards
    graph: Graph
    words: Words
    around: Around
    meaning: Meaning
    facts: Facts
    documents: Documents
    work: Works
    dialogs: Dialogs
    notes: Notes
    marks: Marks
    claims: Claims

    def __init__(self, path: Path | None, identity: Callable[[], str]) -> None:
        super().__init__(path, identity)
        self.fill: Fill = lambda *_: None
        self.tell: Callable[[str], object] = log.warning
        self._asking, self._taken = _Asking(), 0

    def __getattr__(self, name: str) -> Any:
        """A facet, when it is first asked."""
        if name not in _FACETS:
            raise AttributeError(f"an index has no {name!r}")
        module, _, facet = _FACETS[name].partition(":")
        self.__dict__[name] = getattr(import_module(f"otolith.index.{module}"), facet)(self)
        return self.__dict__[name]

    def patience(self) -> float:
        return FINDING_SECONDS if self._asking.finding else BUSY_SECONDS

    def attempt(self, act: Callable[[], T], *, finding: bool = False) -> T:
        """Do what asks the index: of the file that lies in its place now; if that proves damaged, once more
        of one rebuilt from the files, then of one in memory.

        What has brought something it wrote into the index is not done twice. Who only finds does not wait
        for somebody who writes: what it would note in passing, the next one notes.
        """
        if not self._asking.depth:
            self._asking.finding = finding
            if not self.keep_place():
                self.heal(self.flaw)
        self._asking.depth, taken = self._asking.depth + 1, self._taken
        try:
            for attempts in range(3):
                try:
                    return act()
                except BrokenIndex as error:
                    if attempts == 2 or self._taken != taken:
                        raise
                    self.heal(error.message, in_memory=attempts == 1)
                except STUMBLES:
                    if attempts or self._taken != taken or not self._is_doubtful():
                        raise
                    self.heal("the index is damaged (it holds what was never written there)")
                    self.set(STUMBLED, 1)
            raise BrokenIndex("the index cannot be rebuilt")
        finally:
            self._asking.depth -= 1
            self._asking.finding &= self._asking.depth > 0

    def take_in(self, put: Callable[[], object]) -> None:
        """Bring into the index what is safe in files; a damaged index is rebuilt from them instead."""
        self._taken += 1
        try:
            put()
        except BrokenIndex as error:
            self.heal(error.message)

    def is_sound(self) -> bool:
        try:
            return super().is_sound() and not self.documents.is_hollow()
        except BrokenIndex:
            return False

    def _is_doubtful(self) -> bool:
        """Whether a stumble may be the index's fault. One that is as SQLite wants it may still hold what was
        changed by hand; if one made anew for that stumbles again, it is our own fault, and is not made again.
        """
        return not self.is_sound() or not self.get(STUMBLED)

    def inspect(self) -> None:
        """Heal an index of which any part is damaged, also one that nobody would ask for today."""
        if not self.is_sound():
            self.heal("the index is damaged (a page is not as it was written)")

    def heal(self, flaw: str, *, in_memory: bool = False) -> None:
        """Rebuild the index from the files; no flaw means that there was none, or one of another home."""
        flaw = "" if flaw == NO_INDEX else flaw
        if in_memory:
            self.path = None
        self.rebuild(damaged=bool(flaw))
        notices = [f"{flaw}; it was rebuilt from the files and nothing is lost"] if flaw else []
        if self.path is None:
            notices.append("no cache folder can be written; the index is kept in memory only")
        if notices:
            self.tell("; ".join(notices))

    def rebuild(self, *, damaged: bool, progress: Progress | None = None) -> None:
        """Fill a new file and put it in the index's place; what cannot be kept in a file is kept in memory.

        A transaction that is open here goes on in the new one, which has all that is in the files.
        """
        with self.alone:
            depth, self.depth = self.depth, 0
            if depth and self.db.in_transaction:
                with suppress(BrokenIndex, Busy, CannotWrite):
                    self.db.execute("ROLLBACK")
            before = self.opened
            try:
                if self.path is not None:
                    self._rebuild_file(self.path, progress, damaged=damaged)
            except (OSError, BrokenIndex, CannotWrite) as error:
                if before and not damaged:
                    if not isinstance(error, OSError):
                        raise
                    raise CannotWrite(f"cannot write {self.path}: {error.strerror}",
                                      "the index is as it was; make room or check its permissions") from None
                self.path = None
            if self.path is None:
                self.take(self.connect(None), None)
                self.make()
                self.fill(self, {}, progress)
            if depth:
                self.begin()
                self.depth = depth

    def _rebuild_file(self, path: Path, progress: Progress | None, *, damaged: bool) -> None:
        """A file filled beside the old one; one that somebody else has replaced by now is only opened.

        At the end, while nobody can write to the old file, the new one is brought up to the files once more:
        what was written meanwhile is in it. From a sound index are taken over what was last built, the order
        of its records and, with that, their vectors; from a damaged one nothing, for its bytes may be
        anybody's.
        """
        from otolith.index.rebuild import alone, still, swap

        before = self.opened
        with alone(path):
            if (damaged or not before) and file_at(path) not in (None, before) and self.keep_place():
                return
            sound = not damaged and before is not None
            purges = self.get(PURGES, 0) if sound else 0
            beside = path.with_name(f"index-{SCHEMA}.{os.urandom(4).hex()}.new")
            fresh = Index(beside, self.identity)
            try:
                fresh.take(fresh.connect(beside, new=True), file_at(beside))
                fresh.db.execute("PRAGMA synchronous = OFF")
                fresh.db.execute("PRAGMA journal_mode = MEMORY")
                fresh.make()
                self.fill(fresh, self.cards.order() if sound else {}, progress)
                if sound:
                    fresh.meaning.take_over(self.meaning)
                with still(self, path):
                    self.fill(fresh, {}, None)
                    if sound:
                        fresh.marks.set_all("built", self.marks.all("built"))
                        if self.get(PURGES, 0) != purges:  # it was filled before what is gone by now went
                            fresh.shrink(())
                    fresh.close()
                    swap(beside, path, damaged=damaged)
            finally:
                fresh.close()
                with suppress(OSError):  # what stays is tidied by the next rebuild
                    beside.unlink()
        if not self.keep_place():
            raise BrokenIndex(self.flaw or NO_INDEX)

    def last_purge(self) -> tuple[int, int]:
        """What is another after each purge: who read before one must not write what it read."""
        return self.times_opened, self.get(PURGES, 0)

    def ask(self, query: str, *, rows: int, seconds: float) -> tuple[list[str], list[list[Any]]]:
        """(columns, rows) of a SELECT in the user's own words."""
        from otolith.index.asking import ask

        return ask(self, query, rows=rows, seconds=seconds)

    def remove_others(self) -> list[Path]:
        """Remove this home's indexes of other shapes and what is left of damaged ones; returns those that
        would not go. One that is being filled stays: who fills it sees that it was purged meanwhile.
        """
        if self.path is None:
            return []
        from otolith.index.rebuild import is_being_rebuilt

        left, own, filled = [], own_files(self.path), ".new" if is_being_rebuilt(self.path) else "."
        for old in sorted(self.path.parent.glob("index-*.*")):
            try:
                if old.name not in own and old.suffix != filled:
                    remove(old)
            except OSError:
                left.append(old)
        return left

    def shrink(self, gone: Iterable[str]) -> None:
        """Leave nothing of these ids nor of what was dropped: in words, vectors, or free pages."""
        with self.writing():
            self.db.executemany("DELETE FROM usage WHERE id = ?", [(record,) for record in gone])
            self.documents.recount()
            self.db.execute("INSERT INTO words(words) VALUES ('optimize')")
            self.meaning.compact(force=True)
            self.set(PURGES, self.get(PURGES, 0) + 1)
        try:
            self.db.execute("VACUUM")
        except BrokenIndex:
            if self.path is None or file_at(self.path) == self.opened:
                raise  # else another took its place, and who filled that one saw the number


def asks(*changing: str, finding: Collection[str] | None = None) -> Callable[[type[T]], type[T]]:
    """A class whose public methods are verbs on `self.home`: what they are given must be whole text, and each
    asks the index by `Index.attempt`. Before those that change a record, what was interrupted is finished, or
    they might read what finishing changes. Those that only find are named, or all of them do.
    """
    def decorate(verbs: type[T]) -> type[T]:
        for name, verb in list(vars(verbs).items()):
            if callable(verb) and not name.startswith("_") and name not in ("close", "bulk"):
                setattr(verbs, name, _asking(verb, name in changing, finding is None or name in finding))
        return verbs

    return decorate


def _asking(verb: Callable[..., Any], changes: bool, finds: bool) -> Callable[..., Any]:
    @wraps(verb)
    def attempt(self: Any, *given: Any, **named: Any) -> Any:
        check_whole([given, named], nul=True)  # a question may hold one; what is kept is checked again
        if changes:
            self.home.index.attempt(self.home.finish)
        return self.home.index.attempt(lambda: verb(self, *given, **named), finding=finds)

    return attempt
