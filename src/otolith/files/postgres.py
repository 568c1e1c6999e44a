"""The tree as a space of a PostgreSQL database: `postgres://host/database#space`, for a team.

The database has a function for each call (postgres.sql), and decides there who may see what; this module
only calls them, with the pass that a key was exchanged for. Writers hold no lock of the space: each write
compares, and what is written under `lock` becomes visible at once, record and audit line together, at its
end. What belongs to one machine, `log/`, lies in a folder of that machine.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property
from importlib import import_module
from typing import Any
from urllib.parse import unquote, urlsplit

from otolith.errors import Busy, CannotWrite, Conflict, NotFound, Provider, WrongUsage
from otolith.files.disk import DiskTree
from otolith.files.paths import SCANNED, SCANNED_FILES, check_path
from otolith.files.tree import Measure, Tree, Versions, compare
from otolith.model.record import Change, Version

VERSION = 1  # of postgres.sql
PASS_SECONDS = 1800  # a pass lasts an hour; it is renewed in good time
SPACE = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
FORM = "write postgres://host/database#space"
LOCAL = "log/"
_REFUSED = {"28000": "the key is not valid, or was revoked", "28P01": "the database does not know this login",
            "3D000": ""}  # "": as the database says it


class _Server:
    """A connection that is opened when it is first needed, and its errors in plain words."""

    name: str

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
            self._connection = self._driver.connect(self._server, autocommit=True, connect_timeout=10,
                                                    prepare_threshold=None, application_name="otolith")
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
        except (self._driver.errors.DeadlockDetected, self._driver.errors.LockNotAvailable):
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
        self._key, self._local = key, DiskTree(local)
        self._mutex, self._depth = threading.RLock(), 0  # how many locks are nested
        self._pass, self._entered = "", 0.0

    def _call(self, name: str, *given: Any, again: bool = True) -> list[Any]:
        """The rows that a function of the database answers for this space."""
        with self._mutex, self._in_plain_words():
            try:
                return self._ask(name, given)
            except self._driver.OperationalError:  # it went away: only what changes nothing is repeated
                if self._depth or not again or not self._connection or not self._connection.closed:
                    raise
                return self._ask(name, given)

    def _ask(self, name: str, given: tuple[Any, ...]) -> list[Any]:
        self._open()
        if not self._pass or time.monotonic() - self._entered > PASS_SECONDS:
            self._check()
            self._pass, self._entered = self._rows("enter", self._key())[0][0], time.monotonic()
        return self._rows(name, self._pass, self._space, *given)

    def _check(self) -> None:
        try:
            version = self._rows("schema_version")[0][0]
        except (self._driver.errors.InvalidSchemaName, self._driver.errors.UndefinedFunction):
            raise NotFound(f"{self.name} holds no homes yet", "try: otolith admin init") from None
        if version > VERSION:
            raise Provider(f"{self.name} was set up by a newer Otolith (version {version}, here {VERSION})",
                           "update Otolith")

    # The port

    def identity(self) -> str:
        return str(self._call("identity")[0][0])

    def scan(self, below: str = "") -> Iterator[tuple[str, Version | None]]:
        for path, stamp, same in self._call("scan", below):
            if below or path in SCANNED_FILES or (path.partition("/")[0] in SCANNED and "/." not in path):
                yield path, Version(stamp, same, True)

    def changes(self, since: Versions) -> list[Change]:
        return compare(dict(self.scan()), since)

    def look(self, path: str) -> Version | None:
        if check_path(path).startswith(LOCAL):
            return self._local.look(path)
        rows = self._call("look", path)
        return Version(rows[0][1], rows[0][2], True) if rows else None

    def measure(self, path: str) -> Measure | None:
        if check_path(path).startswith(LOCAL):
            return self._local.measure(path)
        rows = self._call("look", path)
        return Measure(rows[0][3], rows[0][4], False) if rows else None

    def read(self, path: str, start: int = 0) -> tuple[bytes, Version]:
        if check_path(path).startswith(LOCAL):
            return self._local.read(path, start)
        rows = self._call("read", path)
        if not rows:
            raise NotFound(f"no file {path}")
        body, stamp, same = rows[0]
        return bytes(body)[start:], Version(stamp, same, True)

    @contextmanager
    def reading(self) -> Iterator[Tree]:
        yield self

    def write(self, path: str, data: bytes, replacing: str | None = None) -> Version:
        if check_path(path).startswith(LOCAL):
            return self._local.write(path, data, replacing)
        before = None if replacing is None else bytes.fromhex(replacing)
        rows = self._call("write", path, data, before, again=False)
        if not rows and replacing is None:
            raise Conflict(f"{path} is already there", "nothing was overwritten")
        if not rows:
            raise Conflict(f"{path} was changed by somebody else meanwhile",
                           "read it again; nothing was overwritten")
        return Version(rows[0][0], rows[0][1], True)

    def append(self, path: str, data: bytes, *, synced: bool = False, opening: bytes = b"",
               patience: float | None = None) -> None:
        if check_path(path).startswith(LOCAL):
            return self._local.append(path, data, synced=synced, opening=opening, patience=patience)
        self._call("append", path, data, opening, again=False)
        return None

    def move(self, path: str, to: str) -> None:
        check_path(path), check_path(to)
        answer = self._call("move", path, to, again=False)[0][0]
        if answer == "taken":
            raise Conflict(f"{to} is already there", "nothing was moved")
        if answer == "missing":
            raise NotFound(f"no file {path}")

    def remove(self, path: str) -> None:
        if check_path(path).startswith(LOCAL):
            return self._local.remove(path)
        if not self._call("remove", path, again=False)[0][0]:
            raise NotFound(f"no file {path}")
        return None

    def within(self, folder: str) -> list[str]:
        check_path(f"{folder}/x")
        if f"{folder}/".startswith(LOCAL):
            return self._local.within(folder)
        return sorted(path for path, _, _ in self._call("scan", folder) if path.rpartition("/")[0] == folder)

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
            with self._in_plain_words():
                self._call("identity")  # opens the connection and gets the pass before the transaction begins
                with self._open().transaction():
                    self._depth += 1
                    try:
                        yield
                    finally:
                        self._depth -= 1

    def bulk(self) -> AbstractContextManager[None]:
        return self.lock()

    def together(self) -> AbstractContextManager[None]:
        return self.lock()

    def close(self) -> None:
        with self._mutex:
            super().close()
            self._pass = ""
            self._local.close()


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
