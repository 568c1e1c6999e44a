"""The work ladder beside the least that could do the same, in the same run on the same disk.

    python bench/work.py [--works 100000] [--place FOLDER]

record: against a bare durable write (temporary file, fsync, link, fsync of the folder) plus one commit of as many rows.
check_file: against a bare indexed SELECT of the same rows plus one stat a row. Climbing: time against works that changed.
Works are made up: projects, folders, agents and days as a busy team would leave them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORDS = """cache index token login page build test schema user query retry queue parse render route hook model timer
session cookie signal batch stream buffer socket thread lock graph tree node edge path file""".split()
TASKS = ("bug_fix", "feature_add", "refactor")
START = 1_735_689_600  # 2025-01-01


def make(number: int, chance: random.Random, works_a_day: int = 140) -> dict[str, Any]:
    project = chance.randrange(20)
    folder = f"project-{project}/part{chance.randrange(30)}"
    success = chance.random() < 0.8
    return {
        "intent": {"goal": " ".join(chance.sample(WORDS, 5)), "task_type": chance.choice(TASKS),
                   "context": " ".join(chance.sample(WORDS, 8)), "constraints": []},
        "reasoning": {"approach_chosen": " ".join(chance.sample(WORDS, 6)), "why_chosen": " ".join(chance.sample(WORDS, 6))},
        "actions": [{"type": "file_edit", "details": {"file_path": f"{folder}/file{chance.randrange(12)}.py"},
                     "result": {"success": success}} for _ in range(2)],
        "outcome": {"success": success, "summary": " ".join(chance.sample(WORDS, 8)),
                    "learnings": [" ".join(chance.sample(WORDS, 7))],
                    "failure_reason": None if success else " ".join(chance.sample(WORDS, 5))},
        "tags": [chance.choice(WORDS)], "agent": f"agent-{chance.randrange(8)}", "project": f"project-{project}",
        "session": f"session-{number // 12}", "created": START + number * 86_400 // works_a_day,
    }


def timed(act: Callable[[int], object], rounds: int) -> list[float]:
    """Milliseconds of each round."""
    found = []
    for at in range(rounds):
        began = time.perf_counter()
        act(at)
        found.append((time.perf_counter() - began) * 1000)
    return found


def tell(label: str, found: list[float], against: list[float] | None = None) -> None:
    ordered = sorted(found)
    line = f"{label:<52} p50 {statistics.median(ordered):8.3f} ms   p95 {ordered[int(len(ordered) * 0.95)]:8.3f} ms"
    if against:
        line += f"   ratio of p50 {statistics.median(ordered) / statistics.median(against):.2f}"
    print(line)


def fill(mem: Any, count: int) -> None:
    chance = random.Random(1)
    began = time.perf_counter()
    for first in range(0, count, 5000):
        with mem.bulk():
            for number in range(first, min(first + 5000, count)):
                mem.record(**make(number, chance))
    print(f"{count} works recorded in bulk in {time.perf_counter() - began:.1f} s")


def bare_write(folder: Path, data: bytes, at: int) -> None:
    """What durability costs anybody: a synced temporary file, linked into place, and a synced folder."""
    name, temporary = folder / f"bare-{at}.json", folder / f".bare-{at}.tmp"
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(file, data)
    os.fsync(file)
    os.close(file)
    os.link(temporary, name)
    os.unlink(temporary)
    directory = os.open(folder, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)


def measure_record(mem: Any, rounds: int) -> None:
    """Alternating, so that all see the same disk. The index commit writes the rows of another work of the same size."""
    from otolith import sync
    from otolith.index.write import Units
    from otolith.model.work import Work
    from otolith.units import make_unit

    chance = random.Random(2)
    folder = Path(mem.path) / "bare"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    token = mem.home.tree.look(mem.home.index.db.execute("SELECT unit FROM records WHERE kind = 'work'").fetchone()[0])
    plain, ours = [], []
    for at in range(rounds):
        told = make(at, chance)
        value = Work.from_dict({"id": f"mem_bare-{at}", "created_at": told["created"], "agent_id": told["agent"],
                                **{key: told[key] for key in ("intent", "reasoning", "actions", "outcome", "tags")}})
        data = json.dumps(value.to_dict(), indent=2).encode()
        path = f"work/2025-01/mem_bare-{at}.json"
        unit = make_unit(path, [value], {path: (token, data)})
        plain += timed(lambda _, at=at, data=data, unit=unit: (  # type: ignore[misc]
            bare_write(folder, data, at), sync.put(mem.home.index, [unit])), 1)
        ours += timed(lambda _, told=told: mem.record(**told), 1)
    tell("a bare durable write and one index commit", plain)
    tell("record", ours, plain)
    with mem.home.index.writing():
        for at in range(rounds):
            Units(mem.home.index).drop(name := f"work/2025-01/mem_bare-{at}.json", [name])


def measure_check(mem: Any, rounds: int) -> None:
    db = mem.home.index.db
    files = [row[0] for row in db.execute("SELECT file_path FROM memory_files GROUP BY file_path "
                                          "HAVING count(*) BETWEEN 4 AND 40 ORDER BY random() LIMIT 500")]
    many = dict(db.execute("SELECT file_path, count(*) FROM memory_files GROUP BY file_path"))
    root = str(mem.path)
    query = ("SELECT m.id, m.intent_goal, m.intent_type, m.agent_id, m.created_at, m.outcome_success, m.outcome_summary, "
             "f.operation, m.outcome, m.reasoning, r.unit FROM memory_files f JOIN memories m ON m.id = f.memory_id "
             "JOIN records r ON r.id = m.id WHERE f.file_path = ? ORDER BY m.created_at DESC LIMIT 5")

    def bare(at: int) -> None:
        for row in db.execute(query, (files[at % len(files)],)).fetchall():
            os.lstat(f"{root}/{row[10]}")

    if not files:
        files.extend(many)
    print(f"{statistics.median(many[file] for file in files):g} works a file")
    plain, ours = [], []
    for at in range(rounds):
        plain += timed(lambda _, at=at: bare(at), 1)
        other = files[(at + len(files) // 2) % len(files)]  # not the file that was just read
        ours += timed(lambda _, other=other: mem.check_file(other, again=True), 1)
    tell("a bare indexed SELECT and one stat a record", plain)
    tell("check_file", ours, plain)


def measure_climb(mem: Any) -> None:
    from otolith.verbs.chapters import climb, climb_wisdom

    began = time.perf_counter()
    found = len(climb(mem.home))
    chapters = time.perf_counter() - began
    began = time.perf_counter()
    pieces = len(climb_wisdom(mem.home))
    print(f"the first climb: {found} chapters in {chapters:.1f} s, {pieces} pieces of wisdom in "
          f"{time.perf_counter() - began:.1f} s")
    total = mem.home.index.db.execute("SELECT count(*) FROM memories").fetchone()[0]
    chance = random.Random(3)
    for changed in (1, 10, 100, 1000):
        with mem.bulk():
            for at in range(changed):
                mem.record(**make(total + at, chance))
        total += changed
        began = time.perf_counter()
        lines = climb(mem.home)
        middle = time.perf_counter()
        more = climb_wisdom(mem.home)
        spent = time.perf_counter()
        print(f"{changed:>6} works changed: chapters {(middle - began) * 1000:8.1f} ms ({len(lines)} written), wisdom "
              f"{(spent - middle) * 1000:8.1f} ms ({len(more)} written), {(spent - began) * 1000 / changed:.2f} ms a work")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--works", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--place", help="where the home is made and kept; one that is there is used again")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as passing:
        place = args.place or passing
        for name in ("CACHE", "CONFIG"):
            os.environ[f"XDG_{name}_HOME"] = f"{place}/{name.lower()}"
        os.environ["OTOLITH_PROJECT"] = "bench"
        from otolith.memory import Memory

        with Memory(f"{place}/home") as mem:
            if not mem.list(kind="work", limit=1)[1]:
                fill(mem, args.works)
            mem.home.sweep()
            measure_record(mem, args.rounds)
            measure_check(mem, args.rounds * 5)
            measure_climb(mem)


if __name__ == "__main__":
    main()
