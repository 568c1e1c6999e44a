"""The index's file, connection and transactions: in the user's cache folder, one per home and machine,
deletable at any time.

It knows which folder it was made for (device and inode); one of another home is rebuilt. Each file that is
filled has a name of its own, and the index's name is a link to the one that counts: SQLite's journal belongs
to a name, and who still reads a replaced file must not meet the journal of the next. Who has an old one open
notices by device and inode. Writers queue by SQLite's own lock, and the schema of a foreign file is never
trusted. What SQLite raises leaves here as an error of ours.
"""

from __future__ import annotations

import os
import sqlite3
from _thread import RLock
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from otolith.errors import BrokenIndex, Busy, CannotWrite, WrongUsage

SCHEMA = 15  # the number of the shape that schema.py describes
BUSY_SECONDS = 10.0
FINDING_SECONDS = 0.1  # who only finds something waits no longer for somebody who writes
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DATATYPE = sqlite3.SQLITE_CONSTRAINT | 12 << 8  # SQLITE_CONSTRAINT_DATATYPE: a column of another type
_UNWRITABLE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL}
NO_INDEX = "there is no index"
REMEDY = "it is only a cache; rebuild it: otolith reindex"
Shape = TypeVar("Shape")
T = TypeVar("T")
Place = tuple[int, int]  # device and inode


def index_path(folder: Path) -> Path:
    """Where a home's index lies, in what the user's cache keeps of the home."""
    return folder / f"index-{SCHEMA}.sqlite"


class Row(NamedTuple):
    """A record as the index lists it: a row of `records`."""

    n: int
    id: str
    kind: str
    type: str
    title: str
    unit: str
    created: float
    at: float  # the moment of writing; 0 where the record does not say
    updated: float | None
    importance: float | None
    confidence: float | None
    project: str | None
    agent: str | None
    session: str | None
    conversation: str | None
    topic: str | None
    success: int | None
    trust: str
    valid_from: float | None
    valid_until: float | None
    sunk: int
    pinned: int
    uses: int
    used: float | None
    principal: str | None
    place: int
    last: int  # its passages are numbered from n to this


class LinkRow(NamedTuple):
    """A link from its smaller end: a row of `links`."""

    a: str
    word: str
    b: str
    said: str
    inverted: int
    strength: float | None
    context: str | None
    created: float | None
    edge: str | None
    unit: str
    trust: str | None


def columns_of(shape: Any, table: str, **made: str) -> str:
    """A named tuple's fields as columns of a table; `made` says which are computed, and how."""
    return ", ".join(f"{made[name]} AS {name}" if name in made else f"{table}.{name}"
                     for name in shape._fields)


ROW, LINK = columns_of(Row, "r"), columns_of(LinkRow, "l")


def replaces(old: str, new: str) -> str:
    """The condition, in SQL, under which a link `l` says that one record replaces another.

    What is outside replaces only what is outside, unless a person said so, and another person's word never
    one's own. The link is there all the same.
    """
    return (f"l.word = 'supersedes' AND ({old}.trust = 'outside' OR l.trust = 'user' "
            f"OR (l.trust = 'peer' AND {old}.trust = 'peer') "
            f"OR (l.trust = 'agent' AND {new}.trust IN ('user', 'agent')))")


def match(words: Iterable[str], *, every: bool = False) -> str:
    """The one way to say in full-text syntax: any of these words, or every one of them."""
    quoted = (word.replace('"', "").replace("\0", "") for word in words)
    return (" AND " if every else " OR ").join(f'"{word}"' for word in quoted)


class Rows(list[Any]):
    """The rows of a statement, all read: no statement is left half done for another thread to meet."""

    rowcount: int = -1

    def fetchone(self) -> Any:
        return self[0] if self else None

    def fetchall(self) -> Rows:
        return self


class Connection(sqlite3.Connection):
    """A connection for several threads: Python would hand one prepared statement to two of them at once."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._one_at_a_time = RLock()

    def execute(self, sql: str, values: Any = (), /) -> Rows:  # type: ignore[override]
        with self._one_at_a_time, _OURS:
            cursor = super().execute(sql, values)
            rows = Rows(cursor.fetchall())
            rows.rowcount = cursor.rowcount
            return rows

    def executemany(self, sql: str, values: Any, /) -> sqlite3.Cursor:
        with self._one_at_a_time, _OURS:
            return super().executemany(sql, values)

    def begin(self, patience: float) -> None:
        """A transaction that writes, as soon as nobody else's does; `Busy` if that takes too many seconds."""
        if patience == BUSY_SECONDS:
            self.execute("BEGIN IMMEDIATE")
            return
        with self._one_at_a_time:
            self.execute(f"PRAGMA busy_timeout = {patience * 1000:.0f}")
            try:
                self.execute("BEGIN IMMEDIATE")
            finally:
                self.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000:.0f}")

    def select(self, shape: type[Shape], sql: str, values: Any = ()) -> list[Shape]:
        """Rows as named tuples; the columns must bear the names of the tuple's fields."""
        named: Any = shape
        with self._one_at_a_time, _OURS:
            cursor = super().execute(sql, values)
            rows = cursor.fetchall()
            columns = tuple(column[0] for column in cursor.description)
        if columns != named._fields:
            raise TypeError(f"{columns} were selected, {named._fields} are the fields of {named.__name__}")
        return list(map(named._make, rows))

    def first(self, shape: type[Shape], sql: str, values: Any = ()) -> Shape | None:
        """The first of these rows, if there is one."""
        return next(iter(self.select(shape, sql, values)), None)

    def value(self, sql: str, values: Any = ()) -> Any:
        """The first column of the first row; None if there is no row."""
        rows = self.execute(sql, values)
        return rows[0][0] if rows else None

    def column(self, sql: str, values: Any = ()) -> list[Any]:
        """The first column of every row."""
        return [row[0] for row in self.execute(sql, values)]


class _Ours:
    """What SQLite raises inside leaves as an error of ours; so does text in a row that is none."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, sqlite3.Error | UnicodeDecodeError):
            raise as_ours(error) from error


_OURS = _Ours()


def as_ours(error: Exception) -> Exception:
    """What an error of SQLite means to who asked."""
    code = getattr(error, "sqlite_errorcode", None)
    if code == _DATATYPE or (code is None and "binding parameter" in str(error)):
        return TypeError(str(error))  # no fault of the index: it was given what no column takes
    if code is None and isinstance(error, sqlite3.ProgrammingError):
        return WrongUsage(f"the home is closed, or asked wrongly ({error})", "open it again")
    if code is None:  # text that is none, a value of another type: no row of ours
        return BrokenIndex(f"the index is damaged ({error})", REMEDY)
    if code & 0xFF in _BUSY:
        return Busy("the index is in use by another process", "try again")
    if code & 0xFF in _UNWRITABLE and code != sqlite3.SQLITE_READONLY_DBMOVED:
        return CannotWrite(f"the index cannot be written: {error}",
                           "the files are safe; delete the cache to rebuild it")
    return BrokenIndex(f"the index is damaged ({error})", REMEDY)


class Facet:
    """One side of an index. The connection is asked for anew each time: the file may have been replaced."""

    def __init__(self, index: Database) -> None:
        self.index = index

    @property
    def db(self) -> Connection:
        return self.index.db


class Database:
    """An open index file."""

    def __init__(self, path: Path | None, identity: Callable[[], str]) -> None:
        self.path = path  # None: it is kept in memory
        self.identity = identity  # differs between homes in the same place; "none" before there is one
        self.depth, self.alone = 0, RLock()  # a transaction is one thread's
        self._db: Connection | None = None
        self._former: Connection | None = None  # left to a thread that still reads from it
        self.opened: Place | None = None  # device and inode of the file that is open
        self.times_opened = 0
        self._kept: dict[str, Any] = {}  # what was worked out from the rows, of one state of them
        self._state: tuple[int, ...] | None = None
        self._aside = 0  # rows changed that no answer depends on
        self.flaw = ""  # what is wrong with the file that lies there, if it is damaged

    @property
    def db(self) -> Connection:
        if self._db is None:
            raise BrokenIndex(self.flaw or NO_INDEX, REMEDY)
        return self._db

    def connect(self, path: Path | None, *, new: bool = False) -> Connection:
        """The file that a name stands for, or a new one; without a path, one in memory."""
        where = f"{file_of(path).as_uri()}?mode={'rwc' if new else 'rw'}" if path else ":memory:"
        try:
            db = sqlite3.connect(where, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False,
                                 cached_statements=256, factory=Connection, uri=True)
        except sqlite3.Error as error:
            raise as_ours(error) from error
        try:
            db.execute("PRAGMA trusted_schema = OFF")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA temp_store = MEMORY")
            db.execute("PRAGMA journal_mode = TRUNCATE")  # no file is made and removed at each commit
            # 32 MB: filling a large index would else write its pages again and again
            db.execute("PRAGMA cache_size = -32768")
        except (BrokenIndex, CannotWrite, Busy):
            db.close()
            raise
        return db

    def take(self, db: Connection, opened: Place | None) -> None:
        """Ask this connection from now on; the one before is closed when the next comes."""
        if self._former is not None:
            self._former.close()
        self._former, self._db = self._db, db
        self.opened, self.flaw = opened, ""
        self.times_opened += 1

    def keep_place(self) -> bool:
        """Open the file that lies in the index's place now, if that is another one than is open.

        False if there is none, or none of ours: it is to be rebuilt. `flaw` says what is wrong with it.
        """
        if self.path is None or self.depth:
            return True
        there = file_at(self.path)
        if there is not None and there == self.opened:
            return True
        with self.alone:
            return self._open(self.path)

    def _open(self, path: Path) -> bool:
        while (there := file_at(path)) is not None:
            if self._open_file(path, there):
                return True
            if file_at(path) == there:
                return False
        self.opened, self.flaw = None, ""
        return False

    def _open_file(self, path: Path, there: Place) -> bool:
        self.opened, self.flaw = None, ""
        try:
            db = self.connect(path)
        except (BrokenIndex, CannotWrite) as error:
            self.flaw = error.message
            return False
        try:
            if _fits(db, self.identity()):
                self.take(db, there)
                return True
        except BrokenIndex as error:
            self.flaw = error.message
        finally:
            if self._db is not db:
                db.close()
        return False

    def make(self) -> None:
        """The tables of an index in which nothing is."""
        from otolith.index.schema import DDL

        with self.writing() as db:
            for statement in DDL.split(";\n"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {SCHEMA}")
            self.set("home", self.identity())

    def is_sound(self) -> bool:
        """Whether every page and every index of the file is as SQLite wants it; reads all of it."""
        try:
            with suppress(Busy, CannotWrite):
                self.db.execute("INSERT INTO words(words) VALUES ('integrity-check')")
            return bool(self.db.value("PRAGMA integrity_check(1)") == "ok")
        except BrokenIndex:
            return False

    def adopt(self) -> None:
        """The home's folder has just been made: this index is its own."""
        if self.get("home") == "none":
            self.set("home", self.identity())

    def close(self) -> None:
        for db in (self._db, self._former):
            if db is not None:
                db.close()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction; nested ones are part of the outer, other threads wait."""
        with self.alone:
            if self.depth:
                yield self.db
                return
            self.begin()
            with self._transaction() as db:
                yield db

    @contextmanager
    def aside(self) -> Iterator[Connection]:
        """A transaction of what no answer depends on: what is kept stays."""
        with self.writing() as db:
            before = db.total_changes
            try:
                yield db
            finally:
                self._aside += db.total_changes - before

    def kept(self, name: str, make: Callable[[], T]) -> T:
        """What is worked out from the rows, made again only after somebody changed one."""
        db = self.db
        if db.in_transaction:  # of this or another thread: what it changed may yet be rolled back
            return make()
        state = (self.times_opened, db.value("PRAGMA data_version"), db.total_changes - self._aside)
        if state != self._state:
            self._state, self._kept = state, {}
        kept: dict[str, T] = self._kept
        if name not in kept:
            kept[name] = make()
        return kept[name]

    def patience(self) -> float:
        """Seconds to wait for others who write."""
        return BUSY_SECONDS

    def begin(self) -> None:
        """Others may have put another file in its place until we had the lock: then that one is meant."""
        while True:
            if not self.keep_place():
                raise BrokenIndex(self.flaw or NO_INDEX, REMEDY)
            self.db.begin(self.patience())
            if self.path is None or file_at(self.path) == self.opened:
                return
            self.db.execute("ROLLBACK")

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        self.depth, done = 1, False
        try:
            yield self.db
            self.db.execute("COMMIT")
            done = True
        finally:
            self.depth = 0
            if not done and self._db is not None and self._db.in_transaction:
                with suppress(BrokenIndex, Busy, CannotWrite):  # what went wrong first is told
                    self._db.execute("ROLLBACK")

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Inside a transaction: what fails here leaves what was written before it."""
        db, done = self.db, False
        db.execute("SAVEPOINT part")
        try:
            yield
            done = True
        finally:
            if not done and db.in_transaction:
                db.execute("ROLLBACK TO part")
            if db.in_transaction:
                db.execute("RELEASE part")

    @contextmanager
    def unspilled(self) -> Iterator[None]:
        """Many writes: no page leaves the cache before the commit, so that others can read meanwhile."""
        self.db.execute("PRAGMA cache_spill = OFF")
        try:
            yield
        finally:
            self.db.execute("PRAGMA cache_spill = ON")

    def get(self, key: str, default: Any = None) -> Any:
        rows = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,))
        return rows[0][0] if rows else default

    def set(self, key: str, value: Any) -> None:
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


class Bare(Database):
    """A connection to a copy of some tables, asked as an index is."""

    def __init__(self, db: Connection) -> None:
        super().__init__(None, str)
        self._db, self.depth = db, 1


def _fits(db: Connection, home: str) -> bool:
    """It has our tables and was made for this folder, or before the folder was."""
    if db.value("PRAGMA user_version") != SCHEMA:
        return False
    return db.value("SELECT value FROM meta WHERE key = 'home'") in (home, "none")


def remove(path: Path) -> None:
    """Remove what lies there, if anything does."""
    if path.is_dir() and not path.is_symlink():
        import shutil

        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def file_of(path: Path) -> Path:
    """The file that a name stands for: the one it links to, or itself."""
    return Path(os.path.realpath(path))


def own_files(path: Path) -> set[str]:
    """The names in the index's folder that belong to the index that counts."""
    file = file_of(path).name
    return {path.name, file, f"{file}-journal"}


def file_at(path: Path) -> Place | None:
    """Device and inode of the file that lies there now."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
