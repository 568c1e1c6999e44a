"""A question to the index in the user's own SQL: on a connection that can only read, within bounds of time
and rows. What is wrong with it is told in SQLite's words.
"""

from __future__ import annotations

import sqlite3
from time import monotonic
from typing import Any

from otolith.errors import Invalid
from otolith.index.database import BUSY_SECONDS, Database, as_ours, file_of

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY)
_READING = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)


def ask(index: Database, query: str, *, rows: int, seconds: float) -> tuple[list[str], list[list[Any]]]:
    """(columns, rows) of a SELECT in the user's own words, on a connection that can do nothing else."""
    try:
        deadline, db = monotonic() + seconds, _reader(index)
    except sqlite3.Error as error:
        raise as_ours(error) from error
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
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _DAMAGE:
            raise as_ours(error) from error
        if "not authorized" in why or "readonly" in why or "prohibited" in why:
            raise Invalid("only SELECT is allowed",
                          "the index is a copy; change records with otolith edit") from None
        if "interrupted" in why:
            raise Invalid(f"the query took more than {seconds:g} seconds", "narrow it down") from None
        tables = "the tables: otolith sql \"SELECT name FROM sqlite_master\""
        raise Invalid(f"SQL: {why}", tables) from None
    finally:
        db.close()


def _reader(index: Database) -> sqlite3.Connection:
    """Another connection that only reads; of an index in memory, a copy."""
    if index.path is None:
        copy = sqlite3.connect(":memory:")
        index.db.backup(copy)
        copy.execute("PRAGMA query_only = ON")
        return copy
    db = sqlite3.connect(f"{file_of(index.path).as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)
    db.execute("PRAGMA trusted_schema = OFF")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 64 << 20)
    return db
