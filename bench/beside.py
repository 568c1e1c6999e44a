"""The same call in two checkouts, interleaved, so that a busy machine is unfair to neither: processor time, medians, ratio.

    python bench/beside.py OLD NEW [--records 10000] [--rounds 30]

OLD and NEW are work trees. Each gets a home of that many chunks, made by itself, and answers the same questions in a process
of its own, one after the other in turn; a round is ten questions. What is printed are milliseconds of processor time a question.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

WORDS = ("river stone garden letter window engine market bridge winter summer doctor village island forest mountain ticket "
         "kitchen battery server invoice contract budget report meeting deploy cluster cache query index worker ladder coffee "
         "violin painting museum holiday birthday camping pottery marathon puppy sister brother teacher student lecture").split()
CHILD = """
import json, random, sys, time
from otolith.memory import Memory
import otolith
folder, records, words = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
chance = random.Random(7)
mem = otolith.open(folder)
with mem.bulk():
    for at in range(records):
        text = " ".join(chance.choices(words, k=14)) + f" number {at}."
        mem.remember(text, conversation_id=f"c{at // 30}", created=1_700_000_000 + at)
mem.recall("warm up the garden engine")
mem.embed()
mem.recall("warm up the garden engine")
print("ready", flush=True)
for line in sys.stdin:
    began = time.process_time()
    for question in json.loads(line):
        mem.recall(question, limit=10)
    print(time.process_time() - began, flush=True)
"""


def start(tree: Path, records: int, folder: str) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": str(tree / "src"), "XDG_CACHE_HOME": f"{folder}/cache", "OMP_NUM_THREADS": "1",
           "OPENBLAS_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, "-c", CHILD, f"{folder}/home", str(records), json.dumps(WORDS)], env=env,
                            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ask(child: subprocess.Popen[str], questions: Sequence[str]) -> float:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(json.dumps(questions) + "\n")
    child.stdin.flush()
    return 1000 * float(child.stdout.readline()) / len(questions)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=30)
    args = parser.parse_args()
    chance = random.Random(3)
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        children = [start(tree, args.records, folder) for tree, folder in ((args.old, one), (args.new, other))]
        for child in children:
            assert child.stdout is not None
            if child.stdout.readline() != "ready\n":
                raise SystemExit("a checkout could not make its home")
        times: list[list[float]] = [[], []]
        for turn in range(args.rounds):
            questions = [" ".join(["Where was the", *chance.choices(WORDS, k=4)]) + "?" for _ in range(10)]
            for at in (0, 1) if turn % 2 else (1, 0):
                times[at].append(ask(children[at], questions))
        for child in children:
            assert child.stdin is not None
            child.stdin.close()
            child.wait()
    old, new = map(statistics.median, times)
    print(f"{args.records} records: old {old:.2f} ms, new {new:.2f} ms of processor time a question; ratio {new / old:.3f}")


if __name__ == "__main__":
    main()
