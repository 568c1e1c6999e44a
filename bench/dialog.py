"""Measure the dialog ladder: what logging costs over its own writes, and what the front page's cost depends on.

    python -m bench.dialog            both tables
    python -m bench.dialog --entries 10000

Logging is compared with its own durable writes (the same three files, the same way, and one bare index commit) plus the
rules timed alone. The global rebuild is timed with the same topics and the same distinct facts at N and at 10 N entries.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path

from otolith.derive.facts import extract
from otolith.derive.topics import summarise
from otolith.files.codec import write_object
from otolith.files.disk import DiskTree
from otolith.memory import Memory
from otolith.model.dialog import Entry
from otolith.model.turns import read_turns

PEOPLE = ("Ann", "Ben", "Cleo", "Dan")
PLACES = ("Lyon", "Bergen", "Porto", "Graz", "Ghent", "Turku")
THINGS = ("the release notes", "a bread oven", "the garden plan", "the sailing course", "the tax form", "a violin")


def dialog(seed: int, turns: int = 16, *, novel: bool = False) -> str:
    """A made-up dialog; the same seed gives the same words. Novel ones say things that were never said before."""
    draw = random.Random(seed)
    lines = []
    for at in range(turns):
        who = PEOPLE[at % 2]
        lines.append(f"{who}: " + draw.choice((
            f"I like {draw.choice(THINGS)} more than I can say.",
            f"I bought {draw.choice(THINGS)}{f' number {seed}' if novel else ''} yesterday.",
            f"I need to finish {draw.choice(THINGS)} before the week is over.",
            f"I visited {draw.choice(PLACES)}{f' in room {seed}' if novel else ''}.",
            "How did the meeting go, and who was there in the end?",
            "That sounds good to me. We can talk about it again when everybody is back from the holidays.",
            f"I am allergic to {draw.choice(('nuts', 'pollen', 'cats'))}, so that was no option.")))
    return "\n".join(lines)


def time_logging(folder: Path, rounds: int) -> None:
    """One entry at a time into one topic: the verb, against its three files, one bare index commit and its rules alone."""
    mem = Memory(folder / "home")
    tree = DiskTree(str(folder / "bare"))
    texts = [dialog(seed, novel=True) for seed in range(rounds)]
    for text in texts[:20]:
        mem.log(text, topic="warm")
    bare = sqlite3.connect(folder / "bare.sqlite", isolation_level=None)
    bare.execute("PRAGMA synchronous = NORMAL")
    bare.execute("CREATE TABLE text (body TEXT)")
    verb, alone = [], []
    for at, text in enumerate(texts):
        start = time.perf_counter()
        entry = mem.log(text, topic="bench")
        verb.append(time.perf_counter() - start)
        alone.append(_alone(tree, bare, entry, text, at))
    ratio = statistics.median(verb) / statistics.median(alone)
    print(f"log           {statistics.median(verb) * 1e3:7.2f} ms   its writes and rules alone "
          f"{statistics.median(alone) * 1e3:7.2f} ms   ratio {ratio:.2f} (to reach: 1.30)")
    facts = len(mem.facts("bench")) / rounds
    print(f"              {facts:.1f} new facts an entry")
    bare.close()
    mem.close()


def _alone(tree: DiskTree, bare: sqlite3.Connection, entry: Entry, text: str, at: int) -> float:
    start = time.perf_counter()
    bare.execute("INSERT INTO text VALUES (?)", (text,))
    tree.write(f"topics/bench/e{at}/raw.md", text.encode())
    tree.write(f"topics/bench/e{at}/meta.json", write_object(entry.meta.to_dict()))
    facts = extract(read_turns(text), entry_ts=entry.meta.entry_ts)
    summarise(entry.turns, facts)
    assert entry.summary is not None
    tree.write(f"topics/bench/e{at}/summary.json", write_object(entry.summary.to_dict()))
    return time.perf_counter() - start


def fill(folder: Path, topics: int, entries: int) -> Memory:
    mem = Memory(folder)
    with mem.bulk():
        for at in range(entries):
            mem.log(dialog(at % 400, turns=6), topic=f"topic-{at % topics}", created=1_700_000_000 + at * 60)
    for row in mem.topics():
        mem.build_topic(row["topic"])
    return mem


def time_global(folder: Path, topics: int, entries: int) -> None:
    """The front page at N and at 10 N entries, in turns so that the machine's mood is shared."""
    small, large = fill(folder / "small", topics, entries), fill(folder / "large", topics, entries * 10)
    took: dict[str, list[float]] = {"small": [], "large": []}
    for _ in range(15):
        for name, mem in (("small", small), ("large", large)):
            start = time.perf_counter()
            mem.build_global()
            took[name].append(time.perf_counter() - start)
    sizes = [os.path.getsize(mem.path / "GLOBAL_MEMORY.json") for mem in (small, large)]
    facts = [len(mem.facts()) for mem in (small, large)]
    fast, slow = (statistics.median(took[name]) * 1e3 for name in ("small", "large"))
    print(f"global build  {fast:7.2f} ms at {entries} entries, {slow:7.2f} ms at {entries * 10}; {topics} topics, "
          f"{facts[0]} and {facts[1]} facts   ratio {slow / fast:.2f} (to reach: 1.20)")
    print(f"GLOBAL_MEMORY {sizes[0]} and {sizes[1]} bytes")
    for name, mem, count in (("small", small, entries // topics), ("large", large, entries * 10 // topics)):
        took[name] = []
        for at in range(40):
            start = time.perf_counter()
            mem.log(dialog(at), topic="topic-1", created=1_800_000_000 + at)
            took[name].append(time.perf_counter() - start)
        print(f"log           {statistics.median(took[name]) * 1e3:7.2f} ms into a topic of {count} entries")
    for mem in (small, large):
        mem.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--topics", type=int, default=10)
    parser.add_argument("--entries", type=int, default=1000)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="otolith-bench-"))
    for name in ("CACHE", "CONFIG"):
        os.environ[f"XDG_{name}_HOME"] = str(folder / name.lower())
    try:
        time_logging(folder, options.rounds)
        time_global(folder, options.topics, options.entries)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
