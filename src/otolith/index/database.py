"""The index's file, connection and transactions: in the user's cache folder, one per home and machine,
deletable at any time.

It knows which folder it was made for (device and inode) and starts afresh for another one. With no writable
cache it lives in memory. WAL is used only where SQLite is new enough to be safe with several writers; writers
queue by SQLite's own lock, and the schema of a foreign file is never trusted. What SQLite raises leaves here
as an error of ours.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from _thread import RLock
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from otolith.errors import BrokenIndex, Busy, CannotWrite, Invalid, OtolithError

SCHEMA = 10  # the number of the shape that schema.py describes
WAL_SINCE = (3, 51, 3)
BUSY_SECONDS = 10.0
TROUBLE = (BrokenIndex, Busy, CannotWrite)  # why an index may fail to take what is safe in the files
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_UNWRITABLE = {sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL,
               sqlite3.SQLITE_CANTOPEN}
_READING = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
Shape = TypeVar("Shape")


def index_path(cache: Path, home: str) -> Path:
    """Where a home's index lies."""
    place = os.path.realpath(home) if os.path.isabs(home) else home
    name = hashlib.sha256(place.encode()).hexdigest()[:16]
    return cache / name / f"index-{SCHEMA}.sqlite"


class Row(NamedTuple):
    """A record as the index lists it: a row of `records`."""

    n: int
    id: str
    kind: str
    type: str
    title: str
    unit: str
    created: float
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

    What is outside replaces only what is outside, unless a person said so. The link is there all the same.
    """
    return (f"l.word = 'supersedes' AND ({old}.trust = 'outside' OR l.trust = 'user' "
            f"OR (l.trust = 'agent' AND {new}.trust <> 'outside'))")


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
        with self._one_at_a_time:
            try:
                cursor = super().execute(sql, values)
                rows = Rows(cursor.fetchall())
            except sqlite3.DatabaseError as error:
                raise _as_ours(error) from error
            rows.rowcount = cursor.rowcount
            return rows

    def executemany(self, sql: str, values: Any, /) -> sqlite3.Cursor:
        with self._one_at_a_time:
            try:
                return super().executemany(sql, values)
            except sqlite3.DatabaseError as error:
                raise _as_ours(error) from error

    def select(self, shape: type[Shape], sql: str, values: Any = ()) -> list[Shape]:
        """Rows as named tuples; the columns must bear the names of the tuple's fields."""
        with self._one_at_a_time:
            try:
                cursor = super().execute(sql, values)
                rows = cursor.fetchall()
            except sqlite3.DatabaseError as error:
                raise _as_ours(error) from error
            named: Any = shape
            if (columns := tuple(column[0] for column in cursor.description)) != named._fields:
                raise sqlite3.ProgrammingError(f"{columns} were selected, {named._fields} are the fields of "
                                               f"{named.__name__}")
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


def _as_ours(error: sqlite3.DatabaseError) -> Exception:
    """What an error of SQLite means to who asked; one of our own making stays as it is."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return error
    if code & 0xFF in _BUSY:
        return Busy("the index is in use by another process", "try again")
    if code & 0xFF in _UNWRITABLE:
        return CannotWrite(f"the index cannot be written: {error}",
                           "the files are safe; delete the cache to rebuild it")
    return BrokenIndex(f"the index is damaged ({error})", "it is only a cache; rebuild it: otolith reindex")


class Facet:
    """One side of an index. The connection is asked for anew each time: the file may have been replaced."""

    def __init__(self, index: Database) -> None:
        self.index = index

    @property
    def db(self) -> Connection:
        return self.index.db


class Database:
    """An open index file."""

    def __init__(self, cache: Path, home: str, identity: Callable[[], str]) -> None:
        self.path: Path | None = index_path(cache, home)
        self._identity = identity  # differs between homes in the same place; "none" before there is one
        self._depth, self.alone = 0, RLock()  # a transaction is one thread's
        self._connections: list[Connection] = []  # also those left to a thread that still reads from them
        self._opened: tuple[int, int] | None = None  # device and inode of the file that is open
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.db = self._connect(str(self.path))
            self._ready()
        except (BrokenIndex, CannotWrite, sqlite3.DatabaseError):
            self._start_over()
        except OSError:
            self._in_memory()

    def _connect(self, path: str) -> Connection:
        db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False,
                             cached_statements=256, factory=Connection)
        self._connections.append(db)
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA temp_store = MEMORY")
        if sqlite3.sqlite_version_info < WAL_SINCE:
            db.execute("PRAGMA journal_mode = TRUNCATE")  # no file is made and removed at each commit
        # 32 MB: filling a large index would else write its pages again and again
        db.execute("PRAGMA cache_size = -32768")
        return db

    def _ready(self) -> None:
        if not self._fits():
            self._make()
        self._opened = _file(self.path)

    def keep_place(self) -> None:
        """If somebody removed the file since it was opened, there is an empty one again, to be filled."""
        if self._opened is None or self._depth or _file(self.path) == self._opened:
            return
        self._opened = None  # until it is ready
        try:
            Path(str(self.path)).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.db = self._connect(str(self.path))  # the old one is left to who still reads from it
            self._ready()
        except (OSError, sqlite3.Error, OtolithError):
            self._in_memory()

    @property
    def times_opened(self) -> int:
        """Grows when the file was removed by somebody and an empty one was opened in its place."""
        return len(self._connections)

    def _make(self, *, anew: bool = False) -> None:
        if sqlite3.sqlite_version_info >= WAL_SINCE and not self.db.in_transaction:
            self.db.execute("PRAGMA journal_mode = WAL")
        with self.writing():  # dropped and made in one step: no other process ever sees it without tables
            if anew or not self._fits():  # another process may have been first
                self._drop_tables()
                from otolith.index.schema import DDL

                for statement in DDL.split(";\n"):
                    self.db.execute(statement)
                self.db.execute(f"PRAGMA user_version = {SCHEMA}")
                self.set("home", self._identity())
        if self.path is not None:
            os.chmod(self.path, 0o600)

    def _fits(self) -> bool:
        """It has our tables and was made for this folder, or before the folder was."""
        return self.db.value("PRAGMA user_version") == SCHEMA and self.get("home") in (self._identity(),
                                                                                       "none")

    def _start_over(self) -> None:
        """The file is no database of ours, or a broken one: it is a cache, so it goes."""
        if hasattr(self, "db"):
            self.db.close()
        try:
            for ending in ("", "-journal", "-wal", "-shm"):
                Path(f"{self.path}{ending}").unlink(missing_ok=True)
            self.db = self._connect(str(self.path))
            self._ready()
        except (OSError, sqlite3.Error, OtolithError):
            self._in_memory()

    def _in_memory(self) -> None:
        self.path = self._opened = None
        self.db = self._connect(":memory:")
        self._ready()

    def _drop_tables(self) -> None:
        """The file itself stays: removing it under another process could mix two databases' journals."""
        for name in self.db.column("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE "
                                   "'sqlite_%' "
                                   "ORDER BY sql NOT LIKE 'CREATE VIRTUAL%'"):
            self.db.execute(f'DROP TABLE IF EXISTS "{name}"')

    def adopt(self) -> None:
        """The home's folder has just been made: this index is its own."""
        if self.get("home") == "none":
            self.set("home", self._identity())

    def make_anew(self, fill: Callable[[], object]) -> None:
        """Empty the index and fill it again, in one step: others see the old one or the new one."""
        try:
            with self.writing():
                self._make(anew=True)
                fill()
            return
        except (BrokenIndex, CannotWrite):  # it is damaged, or cannot be written where it is
            if self.path is None:
                self._in_memory()
            else:
                self._start_over()
        with self.writing():
            fill()

    def remove_others(self) -> list[Path]:
        """Remove this home's indexes of other shapes; returns those that would not go."""
        left = []
        own = self.path or Path()
        for old in sorted(own.parent.glob("index-*.sqlite*")) if self.path else ():
            try:
                if not old.name.startswith(own.name):
                    old.unlink(missing_ok=True)
            except OSError:
                left.append(old)
        return left

    def close(self) -> None:
        for db in self._connections:
            db.close()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction; nested ones are part of the outer, other threads wait."""
        with self.alone:
            if self._depth:
                yield self.db
                return
            self.keep_place()
            with self._transaction() as db:
                yield db

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        self.db.execute("BEGIN IMMEDIATE")
        self._depth, done = 1, False
        try:
            yield self.db
            self.db.execute("COMMIT")
            done = True
        finally:
            self._depth = 0
            if not done and self.db.in_transaction:
                self.db.execute("ROLLBACK")

    @contextmanager
    def unspilled(self) -> Iterator[None]:
        """Many writes: no page leaves the cache before the commit, so that others can read meanwhile."""
        self.db.execute("PRAGMA cache_spill = OFF")
        try:
            yield
        finally:
            self.db.execute("PRAGMA cache_spill = ON")

    def ask(self, query: str, *, rows: int, seconds: float) -> tuple[list[str], list[list[Any]]]:
        """(columns, rows) of a SELECT in the user's own words, on a connection that can do nothing else."""
        from time import monotonic

        deadline, db = monotonic() + seconds, self._reader()
        db.set_authorizer(lambda action, _, name, *__: sqlite3.SQLITE_OK
                          if action in _READING and name != "load_extension" else sqlite3.SQLITE_DENY)
        db.set_progress_handler(lambda: monotonic() > deadline, 10_000)
        try:
            cursor = db.execute(query)
            if cursor.description is None:
                raise ValueError("there is no SELECT in it")
            return [column[0] for column in cursor.description], [list(row) for row in cursor.fetchmany(rows)]
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            why = str(error)
            if "not authorized" in why or "readonly" in why or "prohibited" in why:
                raise Invalid("only SELECT is allowed",
                              "the index is a copy; change records with otolith edit") from None
            if "interrupted" in why:
                raise Invalid(f"the query took more than {seconds:g} seconds", "narrow it down") from None
            tables = "the tables: otolith sql \"SELECT name FROM sqlite_master\""
            raise Invalid(f"SQL: {why}", tables) from None
        finally:
            db.close()

    def _reader(self) -> sqlite3.Connection:
        """Another connection that only reads; of an index in memory, a copy."""
        if self.path is None:
            copy = sqlite3.connect(":memory:")
            self.db.backup(copy)
            copy.execute("PRAGMA query_only = ON")
            return copy
        db = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)
        db.execute("PRAGMA trusted_schema = OFF")
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 64 << 20)
        return db

    def get(self, key: str, default: Any = None) -> Any:
        rows = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,))
        return rows[0][0] if rows else default

    def set(self, key: str, value: Any) -> None:
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

class Bare(Database):
    """A connection to a copy of some tables, asked as an index is."""

    def __init__(self, db: Connection) -> None:
        self.db, self._depth, self.alone = db, 1, RLock()


def _file(path: Path | None) -> tuple[int, int] | None:
    try:
        stat = os.stat(path) if path is not None else None
    except OSError:
        return None
    return (stat.st_dev, stat.st_ino) if stat else None
