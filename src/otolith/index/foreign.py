"""Reading a foreign RUM database: a child process opens it and prints its rows, one JSON line each.

The child runs this file as a script with the standard library only, because a database is input like any
other: one made to crash or to starve SQLite takes down the child and not the one that holds the home. The
file is opened read-only and immutable; views, triggers and virtual tables in it are never touched. A row that
cannot be read is a finding.
"""

from __future__ import annotations

import json
import resource
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TABLES = ("agents", "memories", "memory_files", "memory_links", "chapters", "chapter_memories", "wisdom",
          "wisdom_chapters")
MAX_VALUE = 8 << 20
MAX_ROWS = 2_000_000
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION}


def read_database(path: Path) -> Iterator[dict[str, Any]]:
    """{"table", "row"} of each row, {"finding"} of what cannot be read, or {"refused"} if it is none of
    RUM's.
    """
    import subprocess

    with subprocess.Popen([sys.executable, "-I", __file__, str(path)], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as child:
        ended = False
        try:
            for line in child.stdout or ():
                yield _parse(line)
            ended = True
        finally:
            if not ended:  # the reader of these rows went away, or failed: nobody waits for the child
                child.kill()
    if child.returncode != 0:
        yield {"finding": "the database stopped being readable; the rest is missing"}


def _parse(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        return {"finding": "a row was cut off"}
    return row if isinstance(row, dict) else {}


# The child

def main(path: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (300, 300))
    try:
        database = sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
        database.execute("PRAGMA trusted_schema=OFF")
        database.execute("PRAGMA cell_size_check=ON")
        database.text_factory = bytes
        present = plain_tables(database)
    except sqlite3.Error as error:
        say({"refused": f"the database cannot be opened: {error}"})
        return
    if not {"memories"} <= present.keys() or not {"id", "intent", "outcome"} <= set(present["memories"]):
        say({"refused": "it has no table `memories` with intent and outcome"})
        return
    database.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READING
                            else sqlite3.SQLITE_DENY)
    for table in TABLES:
        if table in present:
            print_rows(database, table, [column for column in present[table] if column != "embedding"])


def plain_tables(database: sqlite3.Connection) -> dict[str, list[str]]:
    """Names and columns of the ordinary tables."""
    found = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    names = [name.decode() for name, sql in found if sql and not sql.upper().startswith(b"CREATE VIRTUAL")]
    columns = {name: database.execute(f'PRAGMA table_info("{name}")').fetchall() for name in names
               if name in TABLES}
    return {name: [row[1].decode() for row in rows] for name, rows in columns.items()}


def print_rows(database: sqlite3.Connection, table: str, columns: list[str]) -> None:
    """Every row that can be read: forwards until a broken page, then backwards from the other end."""
    seen: set[int] = set()
    listed = ", ".join(f'"{column}"' for column in columns)
    for order in ("ASC", "DESC"):
        try:
            for (rowid,) in database.execute(f'SELECT rowid FROM "{table}" ORDER BY rowid {order}'):
                if rowid in seen or len(seen) >= MAX_ROWS:
                    return
                seen.add(rowid)
                print_row(database, f'SELECT {listed} FROM "{table}" WHERE rowid = ?', rowid, table, columns)
            return
        except sqlite3.Error as error:
            say({"finding": f"{table}: rows are missing: {error}"})


def print_row(database: sqlite3.Connection, query: str, rowid: int, table: str, columns: list[str]) -> None:
    try:
        row = database.execute(query, (rowid,)).fetchone()
        if row is None:
            raise ValueError("it vanished")
        say({"table": table, "row": {column: plain(value) for column,
                                     value in zip(columns, row, strict=True)}})
    except (sqlite3.Error, ValueError, MemoryError) as error:
        say({"finding": f"{table}, row {rowid}: {error}"})


def plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8")
    return value


def say(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line, ensure_ascii=True) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
