"""Latency and memory of recall through the public verb, warm and cold, beside a bare full-text query and a bare vector scan.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python bench/latency.py DATA.json [--records 100000] [--way remember|log]

Records are turns of the data with a quarter of their words exchanged at random, in sessions of thirty, written as files
(not through the verbs, which would take an hour) and taken in by one sync. 200 questions, one thread, the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from locomo import NOW, Asked, Turn, full_text, plain_bm25, read_dialogs

from strata.memory import Memory
from strata.model.chunk import Chunk, ChunkLinks, ChunkMetadata
from strata.model.times import zulu
from strata.providers.static import Static

QUESTIONS = 200
COLD = 7


def make_turns(turns: Sequence[Turn], count: int) -> list[Turn]:
    chance = random.Random(1)
    vocabulary = [word for turn in turns for word in turn.text.split()]
    made = []
    for at in range(count):
        turn = turns[at % len(turns)]
        words = turn.text.split()
        for _ in range(len(words) // 4):
            words[chance.randrange(len(words))] = chance.choice(vocabulary)
        made.append(Turn(str(at), at // 30, turn.speaker, " ".join(words), turn.said))
    return made


def write_chunks(home: Path, turns: Sequence[Turn]) -> None:
    for at, turn in enumerate(turns):
        made = zulu(turn.said + at % 30)
        chunk = Chunk(id=f"chunk-{made[:10]}-{at:08x}", content=turn.spoken, tokens=len(turn.text) // 4, type="note", tags=(),
                      metadata=ChunkMetadata(created=made, conversation_id=f"s{turn.session}"), links=ChunkLinks())
        folder = home / "chunks" / made[:7]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{chunk.id}.json").write_text(json.dumps(chunk.to_dict()))


def write_entries(home: Path, turns: Sequence[Turn]) -> None:
    for start in range(0, len(turns), 30):
        said = turns[start : start + 30]
        folder = home / "topics" / f"talk-{start % 40}" / f"entry_{start:08d}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "raw.md").write_text("\n".join(f"### {turn.speaker}\n\n{turn.text}\n" for turn in said))
        meta = {"schema": "entry_meta.v1", "entry_id": folder.name, "entry_ts": zulu(said[0].said), "topic": folder.parent.name}
        (folder / "meta.json").write_text(json.dumps(meta))


WAYS: dict[str, Callable[[Path, Sequence[Turn]], None]] = {"remember": write_chunks, "log": write_entries}


def timed(work: Callable[[Asked], object], questions: Sequence[Asked]) -> tuple[float, float]:
    """p50 and p95 in milliseconds."""
    spent = []
    for question in questions:
        start = time.perf_counter()
        work(question)
        spent.append(1000 * (time.perf_counter() - start))
    p50, p95 = np.percentile(spent, (50, 95))
    return float(p50), float(p95)


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() >> 20


def cold(home: Path, question: str) -> tuple[float, float]:
    """Median seconds of `strata recall` as a process, and of a Python that only imports numpy and sqlite3."""
    commands = ([sys.executable, "-m", "strata", "recall", question, "--home", str(home)],
                [sys.executable, "-c", "import numpy, sqlite3"])
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(COLD):
        for command, times in zip(commands, spent, strict=True):
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            times.append(time.perf_counter() - start)
    return float(np.median(spent[0])), float(np.median(spent[1]))


def bare(turns: Sequence[Turn], questions: Sequence[Asked], folder: Path) -> dict[str, tuple[float, float]]:
    """What recall is held against, in a process of its own so that its memory is not counted with recall's."""
    db = full_text(turns)
    db.execute("INSERT INTO words(words) VALUES ('optimize')")
    db.commit()
    kept = sqlite3.connect(folder / "bare.sqlite")
    db.backup(kept)
    vectors = Static().embed([turn.spoken for turn in turns])
    one = vectors[0]
    return {"bare FTS5, stop words out": timed(plain_bm25(kept, stop=True, limit=10), questions),
            "bare numpy scan": timed(lambda _: vectors @ one, questions)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--way", choices=WAYS, default="remember")
    parser.add_argument("--bare", type=Path, help="measure only what recall is held against; used by the bench itself")
    given = parser.parse_args()
    dialogs = read_dialogs(given.data)
    questions = random.Random(2).sample([asked for dialog in dialogs for asked in dialog.asked], QUESTIONS)
    said = [turn for dialog in dialogs for turn in dialog.turns]
    if given.bare:
        print(json.dumps(bare(make_turns(said, given.records), questions, given.bare)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for line in measure(given, Path(folder), said, questions):
            print(line)
    return 0


def measure(given: argparse.Namespace, folder: Path, said: Sequence[Turn], questions: Sequence[Asked]) -> list[str]:
    os.environ |= {"XDG_CACHE_HOME": f"{folder}/cache", "XDG_CONFIG_HOME": f"{folder}/config"}
    home = folder / "home"
    WAYS[given.way](home, make_turns(said, given.records))
    start = time.perf_counter()
    with Memory(home, clock=lambda: NOW) as mem:
        swept = time.perf_counter() - start
        start = time.perf_counter()
        mem.embed()
        embedded = time.perf_counter() - start
    with Memory(home, clock=lambda: NOW) as mem:
        mem.recall(questions[0].text)
        rows = {"Strata, recall": timed(lambda asked: mem.recall(asked.text), questions),
                "Strata, recall within 1,000 tokens": timed(lambda asked: mem.recall(asked.text, budget=1000), questions)}
        memory = resident()
    again = [sys.executable, __file__, str(given.data), "--records", str(given.records), "--bare", str(folder)]
    rows |= json.loads(subprocess.run(again, check=True, capture_output=True, text=True).stdout)
    ours, base = cold(home, questions[0].text)
    lines = [f"| {given.records} by {given.way} | {name} | {p50:.1f} | {p95:.1f} |" for name, (p50, p95) in rows.items()]
    sums = [sum(rows[name][at] for name in rows if name.startswith("bare")) for at in (0, 1)]
    ratios = [rows["Strata, recall"][at] / sums[at] for at in (0, 1)]
    return [*lines, f"| {given.records} by {given.way} | recall / (FTS5 + scan) | {ratios[0]:.2f}× | {ratios[1]:.2f}× |",
            f"| {given.records} by {given.way} | `strata recall`, cold process | {1000 * ours:.0f} "
            f"| {ours / base:.2f}× of `import numpy, sqlite3` ({1000 * base:.0f}) |",
            f"| {given.records} by {given.way} | resident MB after 400 recalls | {memory} | sync {swept:.0f} s, "
            f"embedding {embedded:.0f} s |"]


if __name__ == "__main__":
    sys.exit(main())
