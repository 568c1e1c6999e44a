"""The index is damaged: it is a cache, so every verb answers all the same, as if it had been made anew.

Bytes of the file are flipped, cut, zeroed, swapped or replaced by another file's; its tables are emptied,
dropped, changed and mixed up with sqlite's own tools; its journal is a foreign one. The damage is done while no
one has the home open, or under a process that has.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.torture.harness import Rewind, Size, World, told
from tests.torture.kills import asked, digest
from tests.torture.scenes import fill

from otolith.errors import OtolithError

TITLES = {"closed": "damage to the index", "open": "damage to the index while the home is open"}
PAGE = 4096


def trials(size: Size, world: World) -> Iterator[str]:
    draw = random.Random(size.seed)
    yield from (f"closed:{draw.randrange(1 << 30)}" for _ in range(size.of(8, 1_000)))
    yield from (f"open:{draw.randrange(1 << 30)}" for _ in range(size.of(2, 200)))


def prepare(world: World) -> tuple[Rewind, dict[str, Any], dict[str, str], dict[str, Any]]:
    if "damage" not in world.stash:
        ids = fill(world)
        with world.open() as mem:
            mem.reindex()
            kept = digest(mem), asked(mem)
        world.stash["damage"] = Rewind(world.home, world.cache, world.config), ids, *kept
    made: tuple[Rewind, dict[str, Any], dict[str, str], dict[str, Any]] = world.stash["damage"]
    made[0].back()
    return made


def run(trial: str, world: World) -> list[str]:
    row, _, seed = trial.partition(":")
    draw = random.Random(int(seed))
    _, ids, records, answers = prepare(world)
    index = next(path for path in world.cache.rglob("index-*.sqlite"))
    if row == "open":
        with world.open(salt="open") as mem:
            mem.list()
            how = harm(index, draw)
            return [f"{how}: {failure}" for failure in _verbs(mem, ids, records, None)]
    how = harm(index, draw)
    try:
        with world.open(salt="look") as mem:
            failures = _verbs(mem, ids, records, answers)
    except OtolithError as error:
        failures = [f"open: {told(error)}"]
    return [f"{how}: {failure}" for failure in failures]


def _verbs(mem: Any, ids: dict[str, Any], records: dict[str, str], answers: dict[str, Any] | None) -> list[str]:
    """Every verb answers; in the end all records are there and the answers are those of before."""
    failures: list[str] = []
    verbs = {
        "get": lambda: mem.get(ids["problem"]), "recall": lambda: mem.recall("mill"), "list": lambda: mem.list(limit=None),
        "brief": lambda: mem.brief("the mill"), "check_file": lambda: mem.check_file("zoo.py"), "facts": lambda: mem.facts(),
        "related": lambda: mem.related(ids["problem"]), "stats": lambda: mem.stats(), "check": lambda: mem.check(),
        "note": lambda: mem.note("After", "The index was damaged.", key="after"), "edit": lambda: mem.edit(ids["problem"], importance=0.7),
        "sync": lambda: mem.sync(), "upkeep": lambda: mem.upkeep(), "again": lambda: mem.note("After", "The index was damaged.", key="after")}
    for name, verb in verbs.items():
        try:
            answer = verb()
        except Exception as error:  # noqa: BLE001 (what is looked for)
            failures.append(f"{name}: {told(error)}")
            continue
        if name == "recall" and not answer.hits:
            failures.append("recall finds nothing")
        if name == "upkeep" and answer.failed:
            failures.append(f"upkeep: {answer.failed}")
    if failures:
        return failures
    now = digest(mem)
    failures += [f"{record} is missing" for record in records if record not in now]
    notes = [item for item in mem.list(limit=None, kind="note")[0] if item["title"] == "After"]
    if len(notes) != 1:
        failures.append(f"a note kept under one key is there {len(notes)} times")
    if answers and not failures:
        ours = asked(mem)
        missing = [item for item in answers["kettle leaks"] if item not in ours["kettle leaks"]]
        failures += [f"recall no longer finds {missing}"] if missing else []
    return failures


def harm(index: Path, draw: random.Random) -> str:
    """Damage the file in one way; says which."""
    ways = (_flip, _flip, _cut, _zero, _swap, _noise, _empty, _text, _sql, _sql, _sql, _journal, _folder)
    way = draw.choice(ways)
    return f"{way.__name__.strip('_')} {way(index, draw)}"


def _flip(index: Path, draw: random.Random) -> str:
    data, number = bytearray(index.read_bytes()), draw.choice((1, 8, 100, 2_000))
    for _ in range(number):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    index.write_bytes(data)
    return f"{number} bits"


def _cut(index: Path, draw: random.Random) -> str:
    data = index.read_bytes()
    index.write_bytes(data[: draw.randrange(len(data))])
    return "the end"


def _zero(index: Path, draw: random.Random) -> str:
    data, page = bytearray(index.read_bytes()), draw.randrange(index.stat().st_size // PAGE)
    data[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    index.write_bytes(data)
    return f"page {page}"


def _swap(index: Path, draw: random.Random) -> str:
    data = bytearray(index.read_bytes())
    a, b = (draw.randrange(1, len(data) // PAGE) * PAGE for _ in range(2))
    data[a : a + PAGE], data[b : b + PAGE] = data[b : b + PAGE], data[a : a + PAGE]
    index.write_bytes(data)
    return f"pages {a // PAGE} and {b // PAGE}"


def _noise(index: Path, draw: random.Random) -> str:
    data, at = bytearray(index.read_bytes()), draw.randrange(100, index.stat().st_size - 600)
    data[at : at + 600] = draw.randbytes(600)
    index.write_bytes(data)
    return f"at {at}"


def _empty(index: Path, draw: random.Random) -> str:
    index.write_bytes(b"")
    return "file"


def _text(index: Path, draw: random.Random) -> str:
    index.write_bytes(draw.choice((b"hello\n", b"SQLite format 3\0" + b"x" * 5_000, draw.randbytes(20_000))))
    return "in its place"


def _sql(index: Path, draw: random.Random) -> str:
    """Somebody opened it with SQLite's own shell."""
    db = sqlite3.connect(index, isolation_level=None)
    tables = [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
    table = draw.choice(tables)
    columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')] or ["x"]
    column = draw.choice(columns)
    statement = draw.choice((
        f'DROP TABLE "{table}"', f'DELETE FROM "{table}"', f'UPDATE "{table}" SET "{column}" = NULL',
        f'UPDATE "{table}" SET "{column}" = x\'00ff\'', f'UPDATE "{table}" SET "{column}" = \'x\'', f'ALTER TABLE "{table}" RENAME TO gone',
        f'ALTER TABLE "{table}" DROP COLUMN "{column}"', "PRAGMA user_version = 9999"))
    try:
        db.execute(statement)
    except sqlite3.Error:
        db.execute("PRAGMA user_version = 1")
    db.close()
    return statement


def _journal(index: Path, draw: random.Random) -> str:
    ending = draw.choice(("-journal", "-wal", "-shm"))
    Path(f"{index.resolve()}{ending}").write_bytes(draw.randbytes(8_192))
    return ending


def _folder(index: Path, draw: random.Random) -> str:
    index.unlink()
    index.mkdir()
    return "in its place"
