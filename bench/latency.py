"""Latency and memory of recall through the public verb, warm and cold, beside a bare full-text query and a bare vector scan.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python bench/latency.py DATA.json [--records 100000] [--way remember|log]

Records are turns of the data with a quarter of their words exchanged at random, in sessions of thirty, written as files
(not through the verbs, which would take an hour) and taken in by one sync. 200 questions, one thread. What recall is held
against runs in processes of their own and is asked every question in turn with it, so that a busy machine is as busy for
all. Wall and processor time are told: on a machine that others use, the second is the steadier.
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
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import rivals
from locomo import NOW, Asked, Turn, full_text, plain_bm25, read_dialogs
from rivals import Rival, Spent, answer, spend

from otolith import verbs
from otolith.memory import Memory
from otolith.model.chunk import Chunk, ChunkLinks, ChunkMetadata
from otolith.model.times import zulu
from otolith.providers.embedders import Static, load_table
from otolith.providers.tokens import load_tokenizer

QUESTIONS = 200
COLD = 15
EMBEDDED, ROUNDS = 5000, 5
FTS, SCAN = "bare FTS5, stop words out", "bare numpy scan"


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


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() >> 20


def cold(home: Path, question: str) -> tuple[float, float, float]:
    """`otolith recall` as a process and a Python that only imports numpy and sqlite3, in turn: median seconds, median ratio."""
    commands = ([str(Path(sys.executable).with_name("otolith")), "recall", question, "--home", str(home)],
                [sys.executable, "-c", "import numpy, sqlite3"])
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")}

    def run(command: list[str]) -> None:
        subprocess.run(command, env=env, check=True, capture_output=True)

    pairs = np.array([[spend(run, command)[0]
                       for command in commands] for _ in range(COLD)])
    ours, base = np.median(pairs, axis=0)
    return float(ours), float(base), float(np.median(pairs[:, 0] / pairs[:, 1]))


def embedding_rate(turns: Sequence[Turn]) -> list[str]:
    """The static embedder beside the least that could be done: tokens, rows of the table, their mean."""
    texts, table, encode = [turn.spoken for turn in turns[:EMBEDDED]], load_table(), load_tokenizer().encode

    def bare() -> None:
        for text in texts:
            table[encode(text)].mean(axis=0)

    spent = np.array([[spend(work)[0] for work in (bare, lambda: Static().embed(texts))] for _ in range(ROUNDS + 1)][1:])
    base, ours = len(texts) / np.median(spent, axis=0)
    ratio = float(np.median(spent[:, 0] / spent[:, 1]))
    return [f"| static embedder, texts a second | {ours:,.0f} | bare table look-up {base:,.0f} | {ratio:.2f}× |"]


def bare(turns: Sequence[Turn], questions: Sequence[Asked], folder: Path) -> None:
    """What recall is held against, in a process of its own so that its memory is not counted with recall's."""
    db = full_text(turns)
    db.execute("INSERT INTO words(words) VALUES ('optimize')")
    db.commit()
    kept = sqlite3.connect(folder / "bare.sqlite")
    db.backup(kept)
    db.close()
    ask = plain_bm25(kept, stop=True, limit=10)
    vectors, asked = np.load(folder / "vectors.npy"), np.load(folder / "asked.npy")
    answer({FTS: lambda at: ask(questions[at]), SCAN: lambda at: vectors @ asked[at]})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--way", choices=WAYS, default="remember")
    parser.add_argument("--chroma", type=Path, help="the Python of an environment with chromadb")
    parser.add_argument("--once", action="store_true", help="also what does not depend on the way: a cold start, embedding")
    parser.add_argument("--keep", type=Path, help="a folder in which the homes are kept, to be asked again by the next run")
    parser.add_argument("--bare", type=Path, help="be what recall is held against; used by the bench itself")
    given = parser.parse_args()
    dialogs = read_dialogs(given.data)
    questions = random.Random(2).sample([asked for dialog in dialogs for asked in dialog.asked], QUESTIONS)
    turns = make_turns([turn for dialog in dialogs for turn in dialog.turns], given.records)
    if given.bare:
        bare(turns, questions, given.bare)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for line in measure(given, given.keep / f"{given.way}-{given.records}" if given.keep else Path(folder), turns, questions):
            print(line, flush=True)
    return 0


def measure(given: argparse.Namespace, folder: Path, turns: Sequence[Turn], questions: Sequence[Asked]) -> Iterator[str]:
    os.environ |= {"XDG_CACHE_HOME": f"{folder}/cache", "XDG_CONFIG_HOME": f"{folder}/config"}
    home, label = folder / "home", f"{given.records:,} by {given.way}"
    made = folder / "made.json"
    if not made.exists():
        WAYS[given.way](home, turns)
    spent = [spend(lambda: Memory(home, clock=lambda: NOW).close())[1]]
    with Memory(home, clock=lambda: NOW) as mem:
        spent.append(spend(mem.embed)[1])
        spent.append(spend(verbs.claims.draw_rung, mem.home)[1])  # else the questions would do what upkeep does
    if not made.exists():
        made.write_text(json.dumps(spent))
    taken, embedded, drawn = json.loads(made.read_text())
    np.save(folder / "vectors.npy", Static().embed([turn.spoken for turn in turns]))
    np.save(folder / "asked.npy", Static().embed([asked.text for asked in questions]))
    others = [Rival(sys.executable, __file__, str(given.data), "--records", str(given.records), "--bare", str(folder))]
    if given.chroma:
        others.append(Rival(given.chroma, rivals.__file__, str(folder)))
    took, memory = race(home, questions, others)
    for rival in others:
        rival.close()
    for name, times in took.items():
        yield f"| {label} | {name} | " + " | ".join(f"{1000 * value:.1f}" for value in percentiles(times)) + " |"
    sums = [np.array(took[FTS]) + np.array(took[SCAN])]
    for name in [name for name in took if name.startswith("Otolith")]:
        ratios = np.array(percentiles(took[name])) / np.array(percentiles(sums[0]))
        yield f"| {label} | {name} / (FTS5 + scan) | " + " | ".join(f"{value:.2f}×" for value in ratios) + " |"
    yield (f"| {label} | resident memory {memory} MB; processor time: taken in in {taken:.0f} s, embedded in "
           f"{embedded:.0f} s, claims read in {drawn:.0f} s | | | | |")
    if given.once:
        ours, base, ratio = cold(home, questions[0].text)
        yield (f"| `otolith recall` from the shell, {given.records:,} records, ms | {1000 * ours:.0f} "
               f"| `import numpy, sqlite3` {1000 * base:.0f} | {ratio:.2f}× |")
        yield from embedding_rate(turns)


def race(home: Path, questions: Sequence[Asked], others: Sequence[Rival]) -> tuple[dict[str, list[Spent]], int]:
    """Every question to everybody in turn; and recall's resident memory in the end."""
    spent: dict[str, list[Spent]] = {}
    with Memory(home, clock=lambda: NOW) as mem:
        mem.recall(questions[0].text, budget=1000)
        for at, asked in enumerate(questions):
            told = {"Otolith, recall": spend(mem.recall, asked.text),
                    "Otolith, recall within 1,000 tokens": spend(partial(mem.recall, budget=1000), asked.text)}
            for rival in others:
                told |= rival.ask(at)
            for name, times in told.items():
                spent.setdefault(name, []).append(times)
        return spent, resident()


def percentiles(times: Sequence[Spent] | np.ndarray) -> list[float]:
    """p50 and p95 of wall time, then of processor time."""
    return [float(value) for value in np.percentile(np.array(times), (50, 95), axis=0).T.ravel()]


if __name__ == "__main__":
    sys.exit(main())
