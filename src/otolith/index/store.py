"""The index's file: in the user's cache folder, one per home and machine, deletable at any time.

It knows which folder it was made for (device and inode) and starts afresh for another one. With no writable cache it
lives in memory. WAL is used only where SQLite is new enough to be safe with several writers; writers queue by SQLite's
own lock, and the schema of a foreign file is never trusted.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from _thread import RLock
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otolith.errors import Busy, CannotWrite, Damaged
from otolith.index import facets
from otolith.index.schema import DDL, SCHEMA

if TYPE_CHECKING:
    from otolith.index.dialogs import Dialogs
    from otolith.index.documents import Documents
    from otolith.index.marks import Marks
    from otolith.index.notes import Notes
    from otolith.index.works import Works

WAL_SINCE = (3, 51, 3)
BUSY_SECONDS = 10.0
TROUBLE = (sqlite3.Error, Busy, CannotWrite)  # why an index may fail to take what is safe in the files


def index_path(cache: Path, home: str) -> Path:
    """Where a home's index lies."""
    place = os.path.realpath(home) if os.path.isabs(home) else home
    name = hashlib.sha256(place.encode()).hexdigest()[:16]
    return cache / name / f"index-{SCHEMA}.sqlite"


class Rows(list[Any]):
    """The rows of a statement, all read: no statement is left half done for another thread to meet."""

    lastrowid: int | None = None
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
            cursor = super().execute(sql, values)
            rows = Rows(cursor.fetchall())
            rows.lastrowid, rows.rowcount = cursor.lastrowid, cursor.rowcount
            return rows

    def executemany(self, sql: str, values: Any, /) -> sqlite3.Cursor:
        with self._one_at_a_time:
            return super().executemany(sql, values)


class Index:
    """An open index. `fresh` tells that it was just made and holds nothing yet."""

    def __init__(self, cache: Path, home: str, identity: Callable[[], str]) -> None:
        self.path: Path | None = index_path(cache, home)
        self._identity = identity  # differs between homes in the same place; "none" before there is one
        self._depth, self.alone = 0, RLock()  # a transaction is one thread's
        self._connections: list[sqlite3.Connection] = []  # also those left to a thread that still reads from them
        self._opened: tuple[int, int] | None = None  # device and inode of the file that is open
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.db = self._connect(str(self.path))
            self._ready()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise Busy("the index is in use by another process", "try again") from None
            self._start_over()
        except CannotWrite:
            self._start_over()
        except OSError:
            self._in_memory()

    def _connect(self, path: str) -> sqlite3.Connection:
        db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256,
                             factory=Connection)
        self._connections.append(db)
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA temp_store = MEMORY")
        if sqlite3.sqlite_version_info < WAL_SINCE:
            db.execute("PRAGMA journal_mode = TRUNCATE")  # no file is made and removed at each commit
        db.execute("PRAGMA cache_size = -32768")  # 32 MB: filling a large index would else write its pages again and again
        return db

    def _ready(self) -> None:
        if not self._fits():
            self._make()
        self._opened = _file(self.path)

    def keep_place(self) -> None:
        """Somebody may have removed the file since it was opened: then there is an empty one again, to be filled."""
        if self._opened is None or self._depth or _file(self.path) == self._opened:
            return
        self._opened = None  # until it is ready
        try:
            Path(str(self.path)).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.db = self._connect(str(self.path))  # the old one is left to who still reads from it
            self._ready()
        except (OSError, sqlite3.Error, CannotWrite):
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
                for statement in DDL.split(";\n"):
                    self.db.execute(statement)
                self.db.execute(f"PRAGMA user_version = {SCHEMA}")
                self.set("home", self._identity())
        if self.path is not None:
            os.chmod(self.path, 0o600)

    def _fits(self) -> bool:
        """It has our tables and was made for this folder, or before the folder was."""
        if self.db.execute("PRAGMA user_version").fetchone()[0] != SCHEMA:
            return False
        return self.get("home") in (self._identity(), "none")

    def _start_over(self) -> None:
        """The file is no database of ours, or a broken one: it is a cache, so it goes."""
        if hasattr(self, "db"):
            self.db.close()
        try:
            for ending in ("", "-journal", "-wal", "-shm"):
                Path(f"{self.path}{ending}").unlink(missing_ok=True)
            self.db = self._connect(str(self.path))
            self._ready()
        except (OSError, sqlite3.Error, CannotWrite):
            self._in_memory()

    def _in_memory(self) -> None:
        self.path = self._opened = None
        self.db = self._connect(":memory:")
        self._ready()

    def _drop_tables(self) -> None:
        """The file itself stays: removing it under another process could mix two databases' journals."""
        names = [name for name, in self.db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
            "ORDER BY sql NOT LIKE 'CREATE VIRTUAL%'")]
        for name in names:
            self.db.execute(f'DROP TABLE IF EXISTS "{name}"')

    def adopt(self) -> None:
        """The home's folder has just been made: this index is its own."""
        if self.get("home") == "none":
            self.set("home", self._identity())

    def renew(self, fill: Callable[[], object]) -> None:
        """Empty the index and fill it again, in one step: others see the old one or the new one.

        What was last built is carried over: it tells a file that a person changed since.
        """
        built: dict[str, Any] = {}
        with suppress(sqlite3.DatabaseError):  # damage is a good reason to be here
            built = self.marks.all("built")
        try:
            with self.writing():
                self._make(anew=True)
                self.marks.set_all("built", built)
                fill()
            return
        except (sqlite3.DatabaseError, CannotWrite):  # it is damaged, or cannot be written where it is
            if self.path is None:
                self._in_memory()
            else:
                self._start_over()
        with self.writing():
            self.marks.set_all("built", built)
            fill()

    def remove_others(self) -> list[Path]:
        """Remove this home's indexes of other shapes, which hold what they were last told; returns those that would not go."""
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

    @cached_property
    def documents(self) -> Documents:
        from otolith.index.documents import Documents

        return Documents(self)

    @cached_property
    def cards(self) -> facets.Cards:
        return facets.Cards(self)

    @cached_property
    def graph(self) -> facets.Graph:
        return facets.Graph(self)

    @cached_property
    def words(self) -> facets.Words:
        return facets.Words(self)

    @cached_property
    def around(self) -> facets.Around:
        return facets.Around(self)

    @cached_property
    def meaning(self) -> facets.Meaning:
        return facets.Meaning(self)

    @cached_property
    def facts(self) -> facets.Facts:
        return facets.Facts(self)

    @cached_property
    def work(self) -> Works:
        from otolith.index.works import Works

        return Works(self)

    @cached_property
    def dialogs(self) -> Dialogs:
        from otolith.index.dialogs import Dialogs

        return Dialogs(self)

    @cached_property
    def marks(self) -> Marks:
        from otolith.index.marks import Marks

        return Marks(self)

    @cached_property
    def notes(self) -> Notes:
        from otolith.index.notes import Notes

        return Notes(self)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction; nested ones are part of the outer, other threads wait."""
        with self.alone:
            if self._depth:
                yield self.db
                return
            self.keep_place()
            with self._transaction() as db:
                yield db

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            self.db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise _trouble(error) from None
        self._depth, done = 1, False
        try:
            yield self.db
            self.db.execute("COMMIT")
            done = True
        except sqlite3.OperationalError as error:
            raise _trouble(error) from None
        finally:
            self._depth = 0
            if not done and self.db.in_transaction:
                self.db.execute("ROLLBACK")

    def reader(self) -> sqlite3.Connection:
        """Another connection that only reads, for questions of the user's own; of an index in memory, a copy."""
        if self.path is None:
            copy = sqlite3.connect(":memory:")
            self.db.backup(copy)
            copy.execute("PRAGMA query_only = ON")
            return copy
        db = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)
        db.execute("PRAGMA trusted_schema = OFF")
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 64 << 20)
        return db

    def shrink(self, gone: Iterable[str]) -> None:
        """Keep nothing of these ids, nor of any text that is not there any more: in free pages, in the log, in vectors."""
        try:
            with self.writing() as db:
                db.executemany("DELETE FROM usage WHERE id = ?", [(record,) for record in gone])
                self.set("usage_bytes", 0)  # the ledger is read again from its beginning
                db.execute("INSERT INTO words(words) VALUES ('optimize')")
                self.meaning.compact(force=True)
            self.db.execute("VACUUM")
            self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.OperationalError as error:
            raise _trouble(error) from None

    def get(self, key: str, default: Any = None) -> Any:
        row = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else default

    def set(self, key: str, value: Any) -> None:
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def _file(path: Path | None) -> tuple[int, int] | None:
    try:
        found = os.stat(path) if path is not None else None
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found else None


def damage_of(error: Exception) -> Damaged | None:
    """What SQLite says of a file that is torn or was written over, in a person's words; None if it says something else."""
    if type(error) is not sqlite3.DatabaseError:
        return None
    return Damaged(f"the index is damaged ({error})", "it is only a cache; make it anew: otolith reindex", flaw="index")


def _trouble(error: sqlite3.OperationalError) -> Exception:
    if "locked" in str(error) or "busy" in str(error):
        return Busy("the index is in use by another process", "try again")
    return CannotWrite(f"the index cannot be written: {error}", "the files are safe; delete the cache to rebuild it")
