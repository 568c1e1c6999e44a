"""The ground's speed and memory, each figure beside its floor measured in the same run.

A floor is the least work that could do: reading the files and filling one full-text table, four system calls and one commit,
a walk that only stats, a Python that only imports. Ratios travel between machines; seconds do not.

    python bench/ground.py            # 1k and 10k notes
    python bench/ground.py --huge     # 100k as well
    python bench/ground.py --profile  # where a rebuild spends its time
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import random
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from otolith import sync
from otolith.files.codec import encode
from otolith.files.paths import place
from otolith.index.write import Unit
from otolith.memory import Memory
from otolith.model.kinds import NOTE_TYPES
from otolith.model.note import Note
from otolith.model.record import Version
from otolith.units import make_unit

WORDS = [f"{a}{b}{c}" for a in ("ka", "lo", "mi", "ne", "su", "ta") for b in ("ber", "dal", "fin", "gor", "hul", "pen")
         for c in ("a", "e", "ing", "o", "s", "tion", "u", "y")]
SAID = "A sentence that says little. " * 20
LIMITS = {"rebuild": 3.0, "vectors": 2.0, "write": 1.5, "its rows": 1.5, "sweep": 2.0, "get": 3.0}


def make_home(root: Path, count: int) -> list[str]:
    """A home of so many notes of about a hundred words; returns their ids."""
    chance, ids = random.Random(7), []
    weights = [1 / (at + 1) for at in range(len(WORDS))]
    for at in range(count):
        words = chance.choices(WORDS, weights, k=chance.randint(60, 140))
        day = f"{2025 + at % 2}-{at % 12 + 1:02}-{at % 28 + 1:02}T10:00:00+00:00"
        note = Note(id=str(uuid.UUID(int=chance.getrandbits(128), version=4)), type=tuple(NOTE_TYPES)[at % len(NOTE_TYPES)],
                    title=" ".join(words[:5]), text=". ".join(" ".join(words[i : i + 12]) for i in range(0, len(words), 12)),
                    tags=tuple(sorted(set(words[:3]))), importance=0.5, created_at=day, updated_at=day)
        path = root / place(note)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode(note))
        ids.append(note.id)
    old = time.time() - 3600
    for path in root.rglob("*.md"):
        os.utime(path, (old, old))
    return ids


class Took(NamedTuple):
    """What an act took: seconds by the clock, and of the processor, its children's included."""

    wall: float
    cpu: float


Pair = tuple[Took, Took]  # ours, floor


def timed(act: Callable[[], object]) -> Took:
    before, began = processor(), time.perf_counter()
    act()
    wall = time.perf_counter() - began
    return Took(wall, processor() - before)


def processor() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def best(ours: Callable[[], object], floor: Callable[[], object], *, repeats: int, loops: int = 1) -> Pair:
    """The best of several, taken in turns so that a noisy moment hits both."""
    found = [[timed(lambda act=act: [act() for _ in range(loops)]) for act in (ours, floor)] for _ in range(repeats)]
    first, second = (Took(min(took.wall for took in column) / loops, min(took.cpu for took in column) / loops)
                     for column in zip(*found, strict=True))
    return first, second


@contextmanager
def world(folder: Path) -> Iterator[None]:
    """Cache and configuration of our own."""
    for name in ("CACHE", "CONFIG", "DATA"):
        os.environ[f"XDG_{name}_HOME"] = str(folder / name.lower())
    os.environ["OTOLITH_PROJECT"] = "bench"
    yield


def forget_index() -> None:
    shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)


def rebuild(home: Path) -> None:
    forget_index()
    Memory(home).close()


def rebuild_floor(home: Path, folder: Path) -> None:
    """Read every file, put its text into the same full-text table."""
    target = folder / "floor.sqlite"
    target.unlink(missing_ok=True)
    db = sqlite3.connect(target, isolation_level=None)
    db.execute("CREATE VIRTUAL TABLE words USING fts5(text, title, tags, content='', "
               "tokenize='porter unicode61 remove_diacritics 2')")
    db.execute("BEGIN")
    rows = ((at, path.read_bytes().decode(), "", "") for at, path in enumerate(home.rglob("*.md"), 1))
    db.executemany("INSERT INTO words(rowid, text, title, tags) VALUES (?,?,?,?)", rows)
    db.execute("COMMIT")
    db.close()


def rebuild_with_vectors(home: Path) -> None:
    from otolith.meaning import fill
    from otolith.providers.embedders import Static

    forget_index()
    with Memory(home) as mem:
        fill(mem.home.index, mem.home.config, Static(), notices=[])


def vectors_floor(home: Path, folder: Path) -> None:
    """The same files and the same table, and every note's text embedded by the same embedder, two thousand at a time."""
    from otolith.providers.embedders import Static

    rebuild_floor(home, folder)
    texts, embedder = [path.read_bytes().decode().split("---\n", 2)[2] for path in (home / "graph").rglob("*.md")], Static()
    for at in range(0, len(texts), 2000):
        embedder.embed(texts[at : at + 2000])


def walk_floor(home: Path) -> int:
    count, todo = 0, [str(home)]
    while todo:
        with os.scandir(todo.pop()) as listing:
            for item in listing:
                if item.is_dir(follow_symlinks=False):
                    todo.append(item.path)
                else:
                    item.stat(follow_symlinks=False)
                    count += 1
    return count


def write_by_hand(folder: Path, data: bytes, name: str) -> None:
    """Temp, fsync, rename, fsync of the folder."""
    file = os.open(folder / f".{name}", os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(file, data)
    os.fsync(file)
    os.close(file)
    os.rename(folder / f".{name}", folder / name)
    parent = os.open(folder, os.O_RDONLY)
    os.fsync(parent)
    os.close(parent)


def commit_bare(db: sqlite3.Connection, name: str) -> None:
    db.execute("BEGIN IMMEDIATE")
    db.execute("INSERT INTO bare VALUES (?)", (name,))
    db.execute("COMMIT")


def unit_like(mem: Memory, at: int, data: bytes) -> Unit:
    """What the index would be given of a note like those that are written."""
    when = "2026-01-01T10:00:00+00:00"
    note = Note(id=str(uuid.UUID(int=at, version=4)), title=f"Note {at} by hand", text=SAID, importance=0.5, created_at=when,
                updated_at=when, origin=mem.home.origin())
    return make_unit(place(note), [note], {place(note): (Version(at.to_bytes(8), at, True), data)})


def measure_writes(home: Path, folder: Path, count: int = 60) -> tuple[Pair, Pair]:
    """One durable write, the median of several taken in turns: against a commit of one row into a table of its own, and
    against a commit of the rows that such a note has in the index.
    """
    db = sqlite3.connect(folder / "bare.sqlite", isolation_level=None)
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA journal_mode = TRUNCATE")
    db.execute("CREATE TABLE bare (x)")
    (folder / "bare").mkdir()
    ours, floor, rows, data = [], [], [], b"x" * 900
    with Memory(home) as mem:
        mem.note("Warm", "up")
        units = [unit_like(mem, at, data) for at in range(count)]
        for at, unit in enumerate(units):
            ours.append(timed(lambda at=at: mem.note(f"Note {at} of the bench", SAID)))
            floor.append(timed(lambda at=at: (write_by_hand(folder / "bare", data, f"{at}.md"), commit_bare(db, f"{at}.md"))))
            rows.append(timed(lambda at=at, unit=unit: (
                write_by_hand(folder / "bare", data, f"rows-{at}.md"), sync.put(mem.home.index, [unit]))))
        sync.refresh(mem.home.tree, mem.home.index, [unit.name for unit in units])  # they have no files
    db.close()
    first, second, third = (Took(statistics.median(took.wall for took in all_), sum(took.cpu for took in all_) / count)
                            for all_ in (ours, floor, rows))
    return (first, second), (first, third)


def measure_get(home: Path, record: str, repeats: int = 20) -> Pair:
    ours = [sys.executable, "-c", "from otolith.doors.cli import console; console()", "get", record]
    floor = [sys.executable, "-c", "import sqlite3, json"]
    env = {**os.environ, "OTOLITH_HOME": str(home)}
    run = [lambda command=command: subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
           for command in (ours, floor)]
    return best(run[0], run[1], repeats=repeats)


def peak_memory(home: Path) -> float:
    """Megabytes at the height of a rebuild, in a process of its own."""
    forget_index()
    code = ("import sys, resource; from otolith.memory import Memory; Memory(sys.argv[1]).close(); "
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)")
    done = subprocess.run([sys.executable, "-c", code, str(home)], check=True, capture_output=True, text=True, env=os.environ)
    return int(done.stdout) / 1024


def measure(folder: Path, count: int, repeats: int) -> tuple[dict[str, Pair], float]:
    """Everything at one size, and the megabytes of a rebuild."""
    home = folder / f"home-{count}"
    ids = make_home(home, count)
    figures = {"rebuild": best(lambda: rebuild(home), lambda: rebuild_floor(home, folder), repeats=repeats)}
    memory = peak_memory(home)
    with Memory(home) as mem:
        figures["sweep"] = best(mem.sync, lambda: walk_floor(home), repeats=repeats * 3, loops=10)
    figures["get"] = measure_get(home, ids[count // 2])
    work = folder / f"work-{count}"
    work.mkdir()
    figures["write"], figures["its rows"] = measure_writes(home, work)
    return figures, memory


def show(count: int, figures: dict[str, Pair], memory: float) -> None:
    print(f"\n{count:,} notes, a rebuild takes {memory:.0f} MB (limit 300)\n"
          f"{'':<10}{'ours':>12}{'floor':>12}{'ratio':>8}{'of processor time':>20}{'limit':>8}")
    for name, (ours, floor) in figures.items():
        print(f"{name:<10}{ours.wall * 1000:>9.1f} ms{floor.wall * 1000:>9.1f} ms{ours.wall / floor.wall:>8.2f}"
              f"{ours.cpu / max(floor.cpu, 1e-9):>20.2f}{LIMITS[name]:>8.1f}")


def profile(folder: Path, count: int) -> None:
    make_home(folder / "home", count)
    taken = cProfile.Profile()
    taken.runcall(rebuild, folder / "home")
    pstats.Stats(taken).sort_stats("tottime").print_stats(25)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--huge", action="store_true", help="also 100,000 notes")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="otolith-bench-"))
    try:
        with world(folder):
            if args.profile:
                profile(folder, 10_000)
                return
            found = {}
            for count in (1_000, 10_000, *((100_000,) if args.huge else ())):
                found[count], memory = measure(folder, count, args.repeats)
                show(count, found[count], memory)
            print("\nwith vectors (last, since a process that embeds also embeds what it writes)")
            for count, figures in found.items():
                home = folder / f"home-{count}"
                figures["vectors"] = ours, floor = best(
                    lambda home=home: rebuild_with_vectors(home), lambda home=home: vectors_floor(home, folder), repeats=2)
                print(f"{count:>10,}: {ours.wall * 1000:.0f} ms, floor {floor.wall * 1000:.0f} ms, ratio {ours.wall / floor.wall:.2f}"
                      f", of processor time {ours.cpu / floor.cpu:.2f}, limit {LIMITS['vectors']}")
            print("\ngrowth, milliseconds of processor time")
            for name in LIMITS:
                print(f"{name:<10}" + "".join(f"{count:>12,}: {figures[name][0].cpu * 1000:.4g}"
                                              for count, figures in found.items()))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
