"""The notes ladder beside what cannot be avoided. Run: python bench/notes.py [--notes 10000] [--many 100000]

upkeep with nothing changed  against  a bare stat walk of the same folder        (to reach: 3×)
decay of many notes          against  a numpy evaluation and one JSON dump       (to reach: 5×)
link, three durable files    against  three bare durable writes                  (to reach: 2×)
Homes are made here from a seed, in a temporary folder; each figure is the least (walk, decay) or median (link) of a few runs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORDS = ["redis", "socket", "timeout", "pool", "volume", "retry", "queue", "token", "schema", "index", "proxy", "cache"]
TAGS = [f"tag{number}" for number in range(40)]


def least(run: Callable[[], object], times: int) -> float:
    """Milliseconds of the shortest run: what the machine's other work adds is not ours."""
    spent = []
    for _ in range(times):
        began = time.perf_counter()
        run()
        spent.append((time.perf_counter() - began) * 1000)
    return min(spent)


def make_home(folder: str, count: int) -> Any:
    """A home of so many notes, a tenth of them linked."""
    from otolith.memory import Memory
    from otolith.model.note import TYPES

    rng, mem = random.Random(7), Memory(folder)
    ids = []
    with mem.bulk():
        for number in range(count):
            text = " ".join(rng.choices(WORDS, k=60)).capitalize() + "."
            ids.append(mem.note(f"Note {number}", text, type=rng.choice(TYPES), tags=rng.sample(TAGS, 3),
                                importance=round(rng.random(), 2)).id)
        for _ in range(count // 10):
            one, other = rng.sample(ids, 2)
            mem.link(one, "RELATED_TO", other)
    return mem


def walk(folder: str) -> int:
    """Every file below a folder, looked at once."""
    count, todo = 0, [folder]
    while todo:
        with os.scandir(todo.pop()) as listing:
            for item in listing:
                if item.is_dir(follow_symlinks=False):
                    todo.append(item.path)
                else:
                    item.stat(follow_symlinks=False)
                    count += 1
    return count


def bench_upkeep(mem: Any, count: int) -> None:
    first = least(mem.upkeep, 1)
    mem.upkeep()
    ours, bare = least(mem.upkeep, 7), least(lambda: walk(str(mem.path)), 7)
    show(f"upkeep, {count} notes, nothing changed", ours, bare, 3)
    print(f"{'  (the first round, everything to build)':<48}{first:>10.1f}")


def bench_link(mem: Any, folder: Path) -> None:
    notes = [row["id"] for row in mem.list(kind="note", limit=120)[0]]
    data = b"x" * 700

    def bare() -> None:
        for number in range(3):
            file = os.open(folder / f"{number}.tmp", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(file, data)
            os.fsync(file)
            os.close(file)
            os.rename(folder / f"{number}.tmp", folder / f"{number}.md")
            handle = os.open(folder, os.O_RDONLY)
            os.fsync(handle)
            os.close(handle)

    ours, base = [], []
    for at in range(50):
        began = time.perf_counter()
        bare()
        base.append((time.perf_counter() - began) * 1000)
        began = time.perf_counter()
        mem.link(notes[2 * at], "REQUIRES", notes[2 * at + 1])
        ours.append((time.perf_counter() - began) * 1000)
    show("link, three files durable", statistics.median(ours), statistics.median(base), 2)


def bench_decay(folder: str, count: int) -> None:
    """The state of many notes; the index is filled directly, since making the files is not what is measured."""
    from otolith.memory import Memory
    from otolith.model.note import TYPES

    rng, mem = random.Random(7), Memory(folder)
    mem.note("One, so that there is a home")
    now = time.time()
    db = mem.home.index.db
    columns = [row[1] for row in db.execute("PRAGMA table_info(records)")]
    filled = {"kind": "note", "title": "t", "trust": "user", "sunk": 0, "pinned": 0, "uses": 0, "place": 0, "last": 0}
    rows = []
    for number in range(count):
        value = {**filled, "n": 10_000_000 + number, "id": f"{number:08x}-0000-4000-8000-000000000000",
                 "unit": f"graph/general/{number}.md", "created": now - rng.random() * 1e7, "importance": rng.random(),
                 "type": rng.choice(TYPES)}
        rows.append(tuple(value.get(name) for name in columns))
    with mem.home.index.writing():
        db.executemany(f"INSERT INTO records VALUES ({','.join('?' * len(columns))})", rows)
        db.executemany("INSERT OR REPLACE INTO usage VALUES (?, ?, ?)",
                       [(row[columns.index("id")], rng.randint(1, 50), now - rng.random() * 1e6) for row in rows[::2]])
    base = least(lambda: bare_decay(count, Path(folder) / "bare.json"), 5)
    mem.home.ensure_fresh = lambda: None  # the rows have no files; a sweep would take them out
    ours = least(mem.decay, 5)
    show(f"decay, {count} notes", ours, base, 5)
    mem.close()


def bare_decay(count: int, out: Path) -> None:
    """The formula over arrays, and one dump of the state."""
    import numpy

    rng = numpy.random.default_rng(7)
    importance, days, uses = rng.random(count), rng.random(count) * 100, rng.integers(0, 50, count)
    weights = rng.choice([0.8, 1.0, 1.2, 1.4], count)
    used = numpy.where(uses > 0, numpy.log2(uses + 1), 0.5)
    scores = importance * numpy.exp(-0.03 * days) * used * weights
    entries = {f"{number:08x}-0000-4000-8000-000000000000": {"access_count": int(uses[number]),
               "last_accessed": "2026-02-10T21:37:00+00:00", "decay_score": float(scores[number])} for number in range(count)}
    with out.open("w") as file:
        file.write(json.dumps({"version": 1, "updated": "2026-02-10T21:37:00+00:00", "entries": entries}))


def show(name: str, ours: float, bare: float, reach: float) -> None:
    print(f"{name:<48}{ours:>10.1f}{bare:>10.1f}{ours / bare:>8.2f}×   to reach {reach}×")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--many", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("CACHE", "CONFIG"):
            os.environ[f"XDG_{name}_HOME"] = f"{folder}/{name.lower()}"
        print(f"{'':<48}{'otolith ms':>10}{'bare ms':>10}{'ratio':>9}")
        bench_decay(f"{folder}/many", given.many)
        mem = make_home(f"{folder}/home", given.notes)
        bench_upkeep(mem, given.notes)
        (Path(folder) / "bare").mkdir()
        bench_link(mem, Path(folder) / "bare")
        mem.close()


if __name__ == "__main__":
    main()
