"""The tree as a space of a PostgreSQL database: `postgres://host/database#space`, for a team.

The database has a function for each call (postgres.sql), and decides there who may see what; this module
only calls them, with the pass that a key was exchanged for. Writers hold no lock of the space: each write
compares, and what is written under `lock` becomes visible at once, record and audit line together, at its
end. After it, never in it, whoever listens is rung. What belongs to one machine, `log/`, lies in a folder of
that machine.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import cached_property
from importlib import import_module
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from otolith.errors import Busy, CannotWrite, Conflict, NotFound, Provider, WrongUsage
from otolith.files.ahead import Ahead
from otolith.files.disk import DiskTree
from otolith.files.paths import SCANNED, SCANNED_FILES, check_path
from otolith.files.tree import Hand, Measure, Tree, Versions, compare
from otolith.model.record import Change, Version

VERSION = 1  # of postgres.sql
PASS_SECONDS = 1800  # a pass lasts an hour; it is renewed in good time
SPACE = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
FORM = "write postgres://host/database#space"
LOCAL = ("log/", "_config.json")  # this machine's, and what may hold a key
SKEW = 3600  # seconds that this machine's clock may be off, before its times would win every merge
RING = 0.005  # seconds in which several writes ring once
PROOF, AGAIN = 2.0, 15.0  # seconds that a listener waits to hear itself, and until it tries again
CREDITED = 1000  # documents whose writers are remembered
CREDIT = ("user", "peer", "outside")  # oneself, another person, a service
_REFUSED = {"28000": "the key is not valid, or was revoked", "28P01": "the database does not know this login",
            "3D000": ""}  # "": as the database says it


class _Server:
    """A connection that is opened when it is first needed, and its errors in plain words."""

    name: str
    patience = 10  # seconds for a connection to come about

    def __init__(self, server: str) -> None:
        self._server = server
        self._connection: Any = None

    @cached_property
    def _driver(self) -> Any:
        try:
            return import_module("psycopg")
        except ImportError:
            raise WrongUsage("a home in PostgreSQL needs psycopg", "pip install 'otolith[team]'") from None

    def _open(self) -> Any:
        if self._connection is None or self._connection.closed:
            self._connection = self._driver.connect(
                self._server, autocommit=True, connect_timeout=self.patience, prepare_threshold=None,
                application_name="otolith")
        return self._connection

    def _rows(self, name: str, *given: Any) -> list[Any]:
        """What a function of the database answers."""
        marks = ", ".join(["%s"] * len(given))
        call = self._open().execute(f"select * from otolith.{name}({marks})", given, binary=True)
        return list(call.fetchall())

    @contextmanager
    def _in_plain_words(self) -> Iterator[None]:
        try:
            yield
        except self._driver.errors.InsufficientPrivilege:
            raise CannotWrite(f"{self.name} is not yours to change", "ask an owner") from None
        except (self._driver.errors.DeadlockDetected, self._driver.errors.LockNotAvailable,
                self._driver.errors.SerializationFailure):
            raise Busy(f"{self.name} is in use", "try again") from None
        except (self._driver.errors.UniqueViolation, self._driver.errors.DuplicateSchema) as error:
            raise Conflict(f"{self.name} has that already: {_first_line(error)}") from None
        except self._driver.Error as error:
            if error.sqlstate in _REFUSED:
                raise NotFound(f"{self.name}: {_REFUSED[error.sqlstate] or _first_line(error)}",
                               "see: otolith admin audit") from None
            if isinstance(error, self._driver.OperationalError):
                raise Provider(f"{self.name} cannot be reached: {_first_line(error) or 'it went away'}",
                               "what was not acknowledged is not kept") from None
            raise Provider(f"{self.name} refused: {_first_line(error)}") from None

    def close(self) -> None:
        if self._connection is not None:
            with suppress(self._driver.Error):
                self._connection.close()
        self._connection = None


class Administration(_Server):
    """A database as those see it who set it up; PostgreSQL's own roles decide whether they may."""

    def __init__(self, url: str) -> None:
        self.name, server, _ = read_url(f"{url}#any")
        super().__init__(server)

    def __enter__(self) -> Administration:
        return self

    def __exit__(self, *given: object) -> None:
        self.close()

    def set_up(self) -> bool:
        """Make the tables and functions; False if they are there."""
        from importlib.resources import files

        with self._in_plain_words(), self._open().transaction():
            if self._open().execute("show server_version_num").fetchone()[0] < "160000":
                raise Provider(f"{self.name} is older than PostgreSQL 16", "use a newer server")
            if self._open().execute("values (to_regnamespace('otolith'))").fetchone()[0]:
                return False
            self._open().execute(files("otolith.files").joinpath("postgres.sql").read_text())
        return True

    def make_login(self, name: str) -> str | None:
        """A login that may do what members may; its password if it was made."""
        import os

        password = os.urandom(16).hex()
        with self._in_plain_words(), self._open().transaction():
            return password if self._rows("make_login", name, password)[0][0] else None

    def ask(self, name: str, *given: Any) -> Any:
        return self.rows(name, *given)[0][0]

    def rows(self, name: str, *given: Any) -> list[Any]:
        with self._in_plain_words():
            return self._rows(name, *given)


class PgTree(_Server):
    """One space."""

    folder = None

    def __init__(self, url: str, *, key: Callable[[], str], local: str) -> None:
        self.name, server, self._space = read_url(url)
        super().__init__(server)
        self.cursor = ""
        self._key, self._local = key, DiskTree(local)
        self._mutex, self._depth = threading.RLock(), 0  # how many locks are nested
        self._pass, self._entered = "", 0.0
        self._skew, self._wrote = 0.0, False  # how far our clock is ahead; whether the lock holds a write
        self._bell: threading.Timer | None = None
        self._listener: Listener | None = None
        self._credits: dict[str, list[Hand]] = {}

    def _call(self, name: str, *given: Any, again: bool = True) -> list[Any]:
        """The rows that a function of the database answers for this space."""
        with self._mutex, self._in_plain_words():
            try:
                return self._ask(name, given)
            except self._driver.OperationalError:  # it went away: only what changes nothing is repeated
                if self._depth or not again or not self._connection or not self._connection.closed:
                    raise
                return self._ask(name, given)

    def _change(self, name: str, *given: Any) -> list[Any]:
        """What a function answers that writes."""
        with self._mutex:
            self._ready()
            if abs(self._skew) > SKEW:
                side = "ahead of" if self._skew > 0 else "behind"
                raise CannotWrite(f"this machine's clock is {abs(self._skew) / 3600:.0f} hours {side} the "
                                  f"server's", "set it right; nothing was written")
            rows = self._call(name, *given, again=False)
            self._wrote = True
            if not self._depth:
                self._ring_soon()
            return rows

    def _ask(self, name: str, given: tuple[Any, ...]) -> list[Any]:
        self._ready()
        return self._rows(name, self._pass, self._space, *given)

    def _ready(self) -> None:
        """An open connection, and a pass that lasts for a while."""
        with self._in_plain_words():
            self._open()
            if not self._pass or time.monotonic() - self._entered > PASS_SECONDS:
                self._check()
                self._pass, self._entered = self._rows("enter", self._key())[0][0], time.monotonic()

    def _check(self) -> None:
        try:
            version, clock = self._rows("schema_version")[0]
        except (self._driver.errors.InvalidSchemaName, self._driver.errors.UndefinedFunction):
            raise NotFound(f"{self.name} holds no homes yet", "try: otolith admin init") from None
        if version > VERSION:
            raise Provider(f"{self.name} was set up by a newer Otolith (version {version}, here {VERSION})",
                           "update Otolith")
        self._skew = time.time() - clock

    # Others are told, and tell

    def _ring_soon(self) -> None:
        if self._bell is None:
            self._bell = threading.Timer(RING, self._ring)
            self._bell.daemon = True
            self._bell.start()

    def _ring(self) -> None:
        with self._mutex:
            self._bell = None
            if self._pass and self._connection is not None:
                with suppress(self._driver.Error):  # who is not told finds it by asking
                    self._rows("ring", self._pass, self._space)

    def listen(self) -> None:
        if self._listener is None:
            self._listener = Listener(self._server, self._key, self._space)
            self._listener.start()

    # The port

    def _version(self, stamp: bytes, same: int) -> Version:
        """What is seen inside a transaction may yet not come to be, so it is looked at once more."""
        return Version(stamp, same, not self._depth)

    def identity(self) -> str:
        return str(self._call("identity")[0][0])

    def scan(self, below: str = "") -> Iterator[tuple[str, Version | None]]:
        for path, stamp, same in self._call("scan", below):
            if below or _is_scanned(path):
                yield path, self._version(stamp, same)

    def changes(self, since: Versions, cursor: str = "") -> list[Change]:
        if self._listener is not None and cursor and cursor == self.cursor and self._listener.is_quiet():
            return []
        self.cursor = ""  # if it cannot be asked now, it is asked next time, however quiet it is
        (_, _, start, _, self.cursor), *rows = self._call("feed", cursor)
        if start is None:  # the cursor is none, or older than what is still listed
            return compare(dict(self.scan()), since)
        now = {path: self._version(stamp, same) for path, stamp, same, _, _ in rows
               if path and _is_scanned(path)}
        before = {path: since[path] for path in now if path in since}
        gone = _named_by(since, {bytes(name) for _, _, _, name, _ in rows if name}) - now.keys()
        now |= {path: version for path in gone if (version := self.look(path))}  # it came back since
        return compare(now, before | {path: since[path] for path in gone})

    def look(self, path: str) -> Version | None:
        if check_path(path).startswith(LOCAL):
            return self._local.look(path)
        rows = self._call("look", path)
        return self._version(rows[0][1], rows[0][2]) if rows else None

    def measure(self, path: str) -> Measure | None:
        if check_path(path).startswith(LOCAL):
            return self._local.measure(path)
        rows = self._call("look", path)
        return Measure(rows[0][3], rows[0][4], False) if rows else None

    def read(self, path: str, start: int = 0) -> tuple[bytes, Version]:
        if check_path(path).startswith(LOCAL):
            return self._local.read(path, start)
        rows = self.read_many([path])
        if path not in rows:
            raise NotFound(f"no file {path}")
        body, version = rows[path]
        return body[start:], version

    def read_many(self, paths: Sequence[str]) -> dict[str, tuple[bytes, Version]]:
        """Those of these documents that are there, in one go."""
        documents = {}
        if len(self._credits) > CREDITED:
            self._credits.clear()
        for path, body, stamp, same, *pieces in self._call("read", list(paths)):
            stretches = zip(*(piece or () for piece in pieces), strict=True)
            self._credits[path] = [Hand(size, name or "", self._space, CREDIT[rank or 0])
                                   for size, name, rank in stretches]
            documents[path] = bytes(body), self._version(stamp, same)
        return documents

    def hands(self, path: str) -> Sequence[Hand]:
        return self._credits.get(path) or [Hand(0, "", self._space, "user")]

    @contextmanager
    def reading(self, ahead: Sequence[str] = ()) -> Iterator[Tree]:
        paths = [path for path in ahead if not path.startswith(LOCAL)]
        yield cast(Tree, Ahead(self, paths)) if len(paths) > 1 else self

    def write(self, path: str, data: bytes, replacing: str | None = None) -> Version:
        if check_path(path).startswith(LOCAL):
            return self._local.write(path, data, replacing)
        before = None if replacing is None else bytes.fromhex(replacing)
        rows = self._change("write", path, data, before)
        if not rows and replacing is None:
            raise Conflict(f"{path} is already there", "nothing was overwritten")
        if not rows:
            raise Conflict(f"{path} was changed by somebody else meanwhile",
                           "read it again; nothing was overwritten")
        return self._version(rows[0][0], rows[0][1])

    def append(self, path: str, data: bytes, *, synced: bool = False, opening: bytes = b"",
               patience: float | None = None) -> None:
        if check_path(path).startswith(LOCAL):
            return self._local.append(path, data, synced=synced, opening=opening, patience=patience)
        self._change("append", path, data, opening)
        return None

    def move(self, path: str, to: str) -> None:
        check_path(path), check_path(to)
        answer = self._change("move", path, to)[0][0]
        if answer == "taken":
            raise Conflict(f"{to} is already there", "nothing was moved")
        if answer == "missing":
            raise NotFound(f"no file {path}")

    def remove(self, path: str) -> None:
        if check_path(path).startswith(LOCAL):
            return self._local.remove(path)
        if not self._change("remove", path)[0][0]:
            raise NotFound(f"no file {path}")
        return None

    def within(self, folder: str) -> list[str]:
        check_path(f"{folder}/x")
        if f"{folder}/".startswith(LOCAL):
            return self._local.within(folder)
        return sorted(path for path, _, _ in self._call("scan", folder) if path.rpartition("/")[0] == folder)

    def expunge(self, paths: Sequence[str], words: Sequence[str]) -> None:
        self._change("expunge", list(paths), list(words))

    def prune(self, path: str) -> None:
        check_path(path)  # a path needs no folders here

    def leftovers(self, age: float) -> list[str]:  # noqa: ARG002 (what was not finished was never there)
        return []

    def tidy(self) -> list[str]:
        return []

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Everything written inside is one transaction; others write meanwhile, and comparing decides."""
        with self._mutex:
            if self._depth:
                yield
                return
            with self._in_plain_words(), self._transaction():
                self._depth, self._wrote = 1, False
                try:
                    yield
                finally:
                    self._depth = 0
            if self._wrote:
                self._ring_soon()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """A transaction on the connection, or on a new one if it turns out that it has gone."""
        self._ready()
        with ExitStack() as stack:
            try:
                stack.enter_context(self._connection.transaction())
            except self._driver.OperationalError:
                if not self._connection.closed:
                    raise
                self._ready()
                stack.enter_context(self._connection.transaction())
            yield

    @contextmanager
    def turn(self) -> Iterator[bool]:
        """A transaction of a connection of its own, which poolers keep together until its end."""
        other = PgTree(self.name, key=self._key, local=self._local.folder)
        try:
            with other.lock():
                yield bool(other._call("turn")[0][0])
        finally:
            other.close()

    def bulk(self) -> AbstractContextManager[None]:
        return self.lock()

    def together(self) -> AbstractContextManager[None]:
        return self.lock()

    def close(self) -> None:
        if self._listener is not None:
            self._listener.stop()
            self._listener = None
        with self._mutex:
            if self._bell is not None:
                self._bell.cancel()
                self._ring()
            super().close()
            self._pass = ""
            self._local.close()


class Listener(threading.Thread):
    """Hears, on a connection of its own, that a space changed; where it cannot, as through a pooler that
    lends its connections, it is never quiet, so that who would have listened asks.
    """

    def __init__(self, server: str, key: Callable[[], str], space: str) -> None:
        super().__init__(daemon=True, name="otolith-listener")
        self._server, self._key, self._space = server, key, space
        self._heard, self._ended, self.hears = threading.Event(), threading.Event(), False

    def is_quiet(self) -> bool:
        """Whether nothing was heard since this was last asked."""
        if not self.hears or self._heard.is_set():
            self._heard.clear()
            return False
        return True

    def run(self) -> None:
        while not self._ended.is_set():
            try:
                self._listen()
            except (import_module("psycopg").Error, OSError):
                pass  # the server went away: asking tells, until it is back
            self.hears = False
            self._ended.wait(AGAIN)

    def _listen(self) -> None:
        connection = _Server(self._server)
        try:
            given = connection._rows("enter", self._key())[0][0], self._space
            connection._rows("listen", *given)
            connection._rows("ring", *given)
            if not any(True for _ in connection._open().notifies(timeout=PROOF, stop_after=1)):
                self._ended.wait()
            self.hears = not self._ended.is_set()
            self._heard.set()
            while not self._ended.is_set():
                for _ in connection._open().notifies(timeout=0.5, stop_after=1):
                    self._heard.set()
        finally:
            connection.close()

    def stop(self) -> None:
        self._ended.set()


def _named_by(paths: Iterable[str], digests: Set[bytes]) -> set[str]:
    """The paths that these are the hashes of."""
    return {path for path in paths if hashlib.sha256(path.encode()).digest() in digests} if digests else set()


def _is_scanned(path: str) -> bool:
    return path in SCANNED_FILES or (path.partition("/")[0] in SCANNED and "/." not in path)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]


def read_url(url: str) -> tuple[str, str, str]:
    """(the home's name, the server's address, the space) of postgres://host:port/database#space."""
    parts = urlsplit(url)
    if parts.password:
        raise WrongUsage("a password has no place in a home's name", "put it into a PGPASSFILE")
    database, space = unquote(parts.path.lstrip("/")), parts.fragment
    if not database or "/" in database:
        raise WrongUsage(f"{url!r} names no database", FORM)
    if not SPACE.fullmatch(space):
        raise WrongUsage(f"{url!r} names no space", FORM)
    user = f"{parts.username}@" if parts.username else ""
    server = f"postgresql://{user}{parts.netloc.rpartition('@')[2]}/{parts.path.lstrip('/')}"
    query = f"?{parts.query}" if parts.query else ""
    return f"{server.replace('postgresql', 'postgres', 1)}{query}#{space}", server + query, space
