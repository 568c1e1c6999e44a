"""Home: an open home, and the few ways to write to it.

Every write is the file first, then the index, then the log, in one place. What the index cannot take is a
notice, for the file is safe. Finding what others wrote is sync's business; Home only asks it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from otolith import config as configuration
from otolith import sync, usage
from otolith.errors import (
    BrokenIndex,
    Busy,
    CannotWrite,
    Conflict,
    Damaged,
    Invalid,
    NeedsConfirmation,
    NotFound,
)
from otolith.files import codec, ledger, paths
from otolith.files.tree import Tree, fingerprint
from otolith.index.database import Row
from otolith.index.store import Index
from otolith.index.write import Unit
from otolith.model.kinds import KINDS
from otolith.model.record import Change, Origin, Usage, Version, log
from otolith.model.shape import Value, plain
from otolith.model.times import micro
from otolith.units import make_unit, stamps

if TYPE_CHECKING:
    from otolith.files.intents import PendingAct

QUICK_SWEEP, FEW_FILES = 0.010, 500  # seconds and files up to which a sweep costs nothing to speak of
SWEEP_SHARE = 20  # a sweep at most every twenty times its own duration: 5 % of the time


class Named(NamedTuple):
    """What an audit line says of a thing that is not at hand as a record: it is gone, or built."""

    kind: str
    id: str


class Loaded(Value):
    """A record as read a moment ago, with what an update must compare against."""

    record: Any
    path: str
    data: bytes
    hash: str


class Home:
    """An open home: its tree, its index, and who is asking."""
    run: str | None = None  # the import that writes now

    def __init__(self, *, tree: Tree, index: Index, config: configuration.Config, clock: Callable[[], float],
                 new_id: Callable[[], str], machine: str, door: str = "python", trust: str = "user",
                 session: str = "") -> None:
        self.tree, self.index, self.config = tree, index, config
        self.clock, self.new_id, self.machine = clock, new_id, machine
        self.door, self.trust, self.session = door, trust, session
        self.notices, self.made = list[str](), 0  # what went wrong without harm; records created since
        self.shown: dict[str, dict[str, float]] = {}  # session → work → when it was last offered unasked
        self._many, self._counting, self._swept = False, True, 0.0
        self._uncounted: list[str] = []  # delivered while somebody else wrote: the next line counts them
        self._lines: list[bytes] | None = None  # audit lines of a change of several files
        index.fill, index.tell = self._fill, self._tell
        self._whole, self._heeded = tree, list[str]()  # the tree with all in it; the intents it is veiled for
        self._acting, self._stamp = False, 0  # the last moment, in microseconds
        self.basis: tuple[int, int] | None = None  # the last purge that what is being built knows of
        self.beside: Callable[[], Sequence[Home]] = tuple  # the other homes that are asked as well
        self.complete: Callable[[Home, PendingAct], None] | None = None  # ends what only verbs can: a purge

    def origin(self, *, agent: str | None = None, project: str | None = None, session: str | None = None,
               trust: str | None = None) -> Origin:
        """Who writes now, through which door."""
        return Origin(agent=agent or self.config.agent, project=project or self.config.project,
                      door=self.door, session=session or self.session, trust=trust or self.trust,
                      at=self.stamp_now(), run=self.run)

    def stamp_now(self) -> str:
        """The time to the microsecond, later than every one told before, whatever the clock does."""
        self._stamp = max(self._stamp + 1, int(self.clock() * 1_000_000))
        return micro(self._stamp)

    def moment(self, given: Any, where: str = "created") -> float:
        """A time that a verb was given, in any form; now if none was."""
        if given is None:
            return self.clock()
        from otolith.model.dates import read_moment

        return read_moment(given, self.clock(), where)

    def folder(self) -> str:
        """The folder in which the home's files lie, for what can only be done there."""
        if self.tree.folder is None:
            raise Invalid(f"{self.tree.name} is not a folder on this machine", "use a home that is one")
        return self.tree.folder

    # The index is a cache

    def rebuild(self, progress: sync.Progress | None = None) -> None:
        """Fill a new index from the files, whatever the old one is like."""
        try:
            self.sweep(accept_removals=True)  # what changed by now is read last, so that vectors fit
            self.index.rebuild(damaged=False, progress=progress)
        except BrokenIndex as error:
            self.index.heal(error.message)

    def _fill(self, index: Index, order: Mapping[str, int], progress: sync.Progress | None) -> None:
        sync.sweep(self.tree, index, accept_removals=True, progress=progress, order=order)

    def _tell(self, notice: str) -> None:
        self.notices += [] if notice in self.notices else [notice]

    def _take_in(self, put: Callable[[], object], what: str = "") -> None:
        """Bring what is safe in a file into the index; what that cannot take is a notice."""
        try:
            self.index.take_in(put)
        except (Busy, CannotWrite) as error:
            log.warning("index: %s", error)
            if what:
                self._tell(f"the {what} safe, but the index could not take it ({error}); try: otolith sync")

    # Acts of several files: what was interrupted is hidden from readers and finished by the next writer

    def heed(self) -> list[str]:
        """Hide what interrupted purges are about to remove while their intents stand; returns these."""
        names = [path for path in self._whole.within("log") if path.startswith(paths.INTENT)]
        if self._acting or names == self._heeded:
            return names
        from otolith.files import intents

        hidden = {path for intent in intents.standing(self._whole, names) for path in intent.hidden}
        self.tree, self._heeded = intents.veil(self._whole, hidden), names
        try:
            sync.refresh(self.tree, self.index, sorted({paths.unit_of(path) for path in hidden}))
        except (Busy, CannotWrite) as error:
            log.debug("index: %s", error)
        return names

    @contextmanager
    def writing(self) -> Iterator[None]:
        """The home's lock, to write; what an interrupted act left undone is finished first."""
        with self._whole.lock():
            if not self._many and self._lines is None:
                self.finish()
                if not self._acting and self.basis not in (None, self.index.last_purge()):
                    raise Conflict("something was purged meanwhile", "it is built anew without that")
            yield

    def finish(self) -> None:
        """Finish what was interrupted; what cannot be finished now stays hidden and is a notice."""
        if not self._acting and (twins := sync.second_names(self.tree, self.index)):
            with self._whole.lock():
                for path in twins:
                    self.tree.remove(path)
            self.refresh(twins)
        if self._acting or not self.heed():
            return
        from otolith.files import intents

        with self._whole.lock():
            for intent in list(intents.standing(self._whole, self.heed())):
                try:
                    with self.act():
                        if intent.verb == "move":
                            self._move_all(intent, resumed=True)
                        elif self.complete is not None:
                            self.complete(self, intent)
                except (Busy, CannotWrite, Conflict, Damaged) as error:
                    self._tell(f"a {intent.verb} that was interrupted could not be finished: {error}")
            self.heed()

    @contextmanager
    def act(self) -> Iterator[None]:
        """An act that has an intent: it sees all files, and nobody else finishes it."""
        before, self._acting, self.tree, self._heeded = self._acting, True, self._whole, []
        try:
            yield
        finally:
            self._acting = before

    def move_all(self, moves: Mapping[str, str], verb: str, record: Any,
                 edited: Loaded | None = None) -> None:
        """Give a record's files other places, after writing what was edited; the next writer ends it."""
        from otolith.files import intents

        plan = {"moves": dict(moves), "audit": verb, "kind": record.kind, "at": self.clock(),
                **({"type": record.type} if edited else {})}
        with self.writing(), self.act():
            intent = intents.declare(self.tree, "move", record.id, plan)
            if edited:
                self.change(edited, record, verb="edited")
            self._move_all(intent)

    def _move_all(self, intent: PendingAct, *, resumed: bool = False) -> None:
        moves, plan = intent.plan["moves"], intent.plan
        if resumed and "type" in plan and any(record.type != plan["type"] for path in moves
                                              if self.tree.look(path) for record in self.read(path)[0]):
            self.tree.remove(intent.path)  # it was not edited, and is where it belongs
            return
        for path, to in moves.items():
            if self.tree.look(to) is None:
                self.tree.move(path, to)
            elif self.tree.look(path):  # interrupted between its new name and its old one
                if self.tree.read(path)[0] != self.tree.read(to)[0]:
                    raise Conflict(f"{to} is already there", "remove one of the two, then try again")
                self.tree.remove(path)
        self.refresh(dict.fromkeys(paths.unit_of(path) for path in (*moves, *moves.values())))
        name = self.audit_name(plan["kind"], intent.id)
        if not resumed or not ledger.audited(self.tree, plan["audit"], name, plan["at"]):
            digest = fingerprint(self.tree.read(to)[0]) if len(moves) == 1 else ""
            self.audit(plan["audit"], Named(plan["kind"], intent.id), digest)
        self.tree.remove(intent.path)

    # Writing: the file, then the index, then the log

    def settle(self) -> None:
        """The first write gives the home its id, from which the ids of keys follow, and its own files."""
        if not self.config.home_id:
            self.config = self.config.replace(home_id=configuration.settle(self.tree, self.new_id)[0])

    def create(self, record: Any, *, verb: str, origin: Origin | None = None) -> str:
        """Keep a new record; returns its path. Acknowledged means synced."""
        path, data = paths.place(record), codec.encode(record)
        with self.writing():
            self.take_in(path, [record], {path: (self.tree.write(path, data), data)})
            self.audit(verb, record, fingerprint(data), origin)
        self.made += 1
        self.warn_of_secrets(record.kind, plain(record))
        return path

    def load(self, record: str) -> Loaded:
        """The record of an id, straight from its file."""
        row = self.index.cards.find(record)
        if row is None:
            raise NotFound(f"no record {record!r}", f"try: otolith recall {record!r}")
        records, files = self.read(row.unit)
        for candidate in records:
            if candidate.id == record:
                path, (_, data) = next(iter(files.items()))
                return Loaded(record=candidate, path=path, data=data, hash=fingerprint(data))
        raise NotFound(f"{row.unit} no longer holds {record!r}", "try: otolith sync")

    def read(self, unit: str) -> tuple[list[Any], dict[str, tuple[Version, bytes]]]:
        """A unit's records and files; damage is reported with the file's name."""
        try:
            return codec.read_unit(self.tree, unit)
        except Damaged as error:
            message = error.message.removeprefix(f"{unit}: ")
            raise Damaged(f"{unit}: {message}", error.hint, flaw=error.flaw, line=error.line) from None

    def change(self, loaded: Loaded, new: Any, *, verb: str, origin: Origin | None = None) -> Any:
        """Write a record's new value over the one that was read; equal bytes write nothing."""
        data = codec.amend(loaded.data, loaded.record, new, loaded.path)
        if data == loaded.data:
            return new
        with self.writing():
            files = {loaded.path: (self.tree.write(loaded.path, data, loaded.hash), data)}
            if not self._restamped(loaded, new, files):
                self.take_in(loaded.path, [new], files)
            self.audit(verb, new, fingerprint(data), origin)
        if verb == "edited":
            self.warn_of_secrets(new.kind, plain(new))
        return new

    def _restamped(self, loaded: Loaded, new: Any, files: dict[str, tuple[Version, bytes]]) -> bool:
        """A note that only says more of its edges: the index learns only that the file is another one."""
        if KINDS[new.kind].links != "edges" or not new.says_as_much_as(loaded.record):
            return False
        try:
            return self.index.documents.restamp(loaded.path, loaded.hash, stamps(files)[loaded.path])
        except (BrokenIndex, Busy, CannotWrite) as error:
            log.debug("index: %s", error)
            return False

    def build(self, path: str, data: bytes) -> bool:
        """Write a derived file if its bytes differ, after copying a hand-edited one aside; whether it did."""
        if self._bytes_of(path) == data:
            return False
        with self.writing():
            if (before := self._bytes_of(path)) == data:  # another process built it while this one waited
                return False
            if before is not None:
                self.keep_edited(path, before)
            version = self.tree.write(path, data, None if before is None else fingerprint(before))
            self._take_in(lambda: self.index.marks.set("built", path, fingerprint(data)))
            if paths.kind_of(path):
                self.take_in(path, self._decode(path, data), {path: (version, data)})
        return True

    def _bytes_of(self, path: str) -> bytes | None:
        try:
            return self.tree.read(path)[0]
        except NotFound:
            return None

    def _decode(self, path: str, data: bytes) -> list[Any]:
        return codec.decode(path, data, codec.written(self.tree, path))

    def keep_edited(self, path: str, data: bytes, *, foreign: bool = False) -> None:
        """Copy a derived file aside if somebody changed it since it was built, or somebody else built it."""
        if foreign or self.edited_by_hand(path, data):
            ledger.lay_aside(self.tree, path, data, self.clock())

    def edited_by_hand(self, path: str, data: bytes) -> bool:
        """Whether a derived file is not as it was last built."""
        return self.index.marks.get("built", path) not in (None, fingerprint(data))

    def stamp(self, path: str) -> str | None:
        """What becomes another when the file does; None while there is none."""
        version = self.tree.look(path)
        return version.stamp.hex() if version else None

    def put_away(self, record: Any, files: Sequence[str]) -> list[str]:
        """Move a record's files into the archive, and with them every other file that has its id."""
        moves: dict[str, str] = {}
        with self.writing():
            files = list(dict.fromkeys([*files, *sync.doubles(self.tree, self.index, record.id)]))
            for path in files:
                taken, target = 0, paths.archived(path)
                while self.tree.look(target) is not None or target in moves.values():
                    taken += 1
                    target = paths.numbered(paths.archived(path), taken)
                moves[path] = target
            self.move_all(moves, "forgot", record)
        return list(moves.values())

    def audit(self, verb: str, record: Any, sha256: str, origin: Origin | None = None) -> None:
        """One line in the audit log; its failure never undoes what is safe on disk."""
        try:
            self.settle()
        except (CannotWrite, Invalid) as error:
            self.notices.append(str(error))
        line = ledger.audit_line(self.clock(), verb, record.kind, self.audit_name(record.kind, record.id),
                                 sha256, origin or self.origin())
        log.info("%s %s %s", verb, record.kind, record.id)
        if self._lines is None:
            self._append_audit([line])
        else:
            self._lines.append(line)

    def audit_name(self, kind: str, record: str) -> str:
        """How audit lines name a record: by its id, or by a hash of one that says what it is about."""
        if kind not in KINDS or not KINDS[kind].id_tells:
            return record
        return f"{kind}#{fingerprint(chr(0).join((self.config.home_id, record)).encode())[:12]}"

    def _append_audit(self, lines: Sequence[bytes]) -> None:
        try:
            self.tree.append(paths.AUDIT, b"".join(lines))
        except CannotWrite as error:
            self.notices.append(str(error))

    def warn_of_secrets(self, what: str, value: Any) -> None:
        """A notice if what somebody writes holds what looks like a secret; nothing is changed."""
        from otolith.model.secrets import kinds_in

        if kinds := ", ".join(kinds_in(value)):
            self._tell(f"the {what} holds what looks like a secret ({kinds}); see: otolith check --secrets")

    def take_in(self, unit: str, records: Sequence[Any], files: dict[str, tuple[Version, bytes]]) -> None:
        """What was just written goes into the index."""
        hands = [hand for path in files for hand in self.tree.hands(path)]
        self._put(make_unit(unit, codec.credited(list(records), hands), files, hands))

    def _put(self, unit: Unit, gone: Sequence[str] = ()) -> None:
        def put() -> None:
            with self.index.writing():
                sync.put(self.index, [unit], gone)
                if not self._many and any(KINDS[record.kind].embedded_at_once for record in unit.records):
                    self._keep_up()  # all else by the next recall, which is cheaper together

        self._take_in(put, "record is")

    def _keep_up(self) -> None:
        if "numpy" in sys.modules:  # else nothing was embedded yet, and a write does not wait for it
            from otolith.meaning import keep_up

            keep_up(self.index, self.config)

    @contextmanager
    def bulk(self) -> Iterator[None]:
        """Many writes: files synced together at the end, then one commit of the index; then acknowledged.

        Others read meanwhile and write afterwards. Interrupted, what was written is found by the next sweep.
        """
        if self._many:
            yield
            return
        self._many, synced = True, False
        try:
            with self.writing(), self.index.documents.batch():
                with self.tree.bulk():
                    yield
                synced = True
                self._keep_up()
        except (BrokenIndex, Busy, CannotWrite):
            if not synced:
                raise
            self._take_in(self.sweep, "batch is")
        finally:
            self._many = False
            if not synced:
                with suppress(BrokenIndex, Busy, CannotWrite, NeedsConfirmation):
                    self.sweep()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Several files of one change: one lock, one commit of the index; or the next sweep reads them."""
        if self._lines is not None:
            with self.index.writing():
                yield
            return
        with self.writing():
            self._lines = []
            try:
                with self.index.writing(), self.tree.together():
                    yield
            finally:
                lines, self._lines = self._lines, None
                if lines:
                    self._append_audit(lines)

    # Usage

    def used(self, ids: Sequence[str]) -> None:
        """Count what was delivered, but not by a hook; a failing ledger never fails a read."""
        if not ids or not self._counting or self.door == "hook":
            return
        waiting, self._uncounted = [*self._uncounted, *ids], []
        try:
            ledger.count_usage(self.tree, self.machine, self.clock(), self.door, waiting)
        except Busy:
            self._uncounted = waiting
        except (CannotWrite, Damaged) as error:
            log.debug("usage: %s", error)

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """What is read inside is no use: a brief, a hook, a search on somebody's way to an answer."""
        before, self._counting = self._counting, False
        try:
            yield
        finally:
            self._counting = before

    def usage_since(self) -> dict[str, Usage]:
        return usage.since(self.tree, self.index, self.machine)

    def usage_of(self, row: Row) -> Usage:
        """How often a record was delivered until now."""
        return ledger.add(self.index.cards.usage_of(row), self.usage_since().get(row.id, Usage()))

    def fold_usage(self) -> None:
        usage.fold(self.tree, self.index, self.machine)

    # Freshness

    def touch(self, units: Iterable[str]) -> bool:
        """Look at the files of these units once more; what moved is read again. True if anything did."""
        self.heed()
        return sync.touch(self.tree, self.index, units)

    def refresh(self, units: Iterable[str]) -> None:
        names = list(units)
        self._take_in(lambda: sync.refresh(self.tree, self.index, names), "files are")

    def sweep(self, *, accept_removals: bool = False, progress: sync.Progress | None = None) -> list[Change]:
        """Compare the whole tree with the index and bring the index up to it."""
        self.heed()
        changes = sync.sweep(self.tree, self.index, accept_removals=accept_removals, progress=progress)
        self._swept = time.time()  # the index is told once a second only
        return changes

    def ensure_fresh(self) -> None:
        """Sweep if that is cheap, or if the last one is long enough ago."""
        self.heed()
        last = self.index.documents.last_sweep()
        due = not last or time.time() - max(last.when, self._swept) > last.cost * SWEEP_SHARE
        if due or (last and last.cost < QUICK_SWEEP and self.index.documents.count() <= FEW_FILES):
            try:
                self.sweep()
            except (Busy, CannotWrite) as error:  # an answer from a moment ago is better than none
                log.warning("sync: %s", error)

    def lag(self) -> float:
        """Seconds since the last sweep."""
        last = self.index.documents.last_sweep()
        return max(0.0, time.time() - last.when) if last else 0.0
