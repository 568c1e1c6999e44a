"""Latency of recall beside a bare full-text query and a bare vector scan, warm, one thread, in the same run.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python bench/latency.py DATA.json [--passages 100000] [--chunks]

Passages are turns of the data with a quarter of their words exchanged at random, in sessions of thirty.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from locomo import NOW, Asked, Turn, plain_bm25, read_dialogs, recall, store

from strata.providers.static import Static
from strata.recall.question import read_question
from strata.recall.rank import WEIGHTS


def make_turns(turns: Sequence[Turn], count: int) -> list[Turn]:
    chance = random.Random(1)
    vocabulary = [word for turn in turns for word in turn.text.split()[1:]]
    made = []
    for at in range(count):
        turn = turns[at % len(turns)]
        words = turn.text.split()
        for _ in range(len(words) // 4):
            words[chance.randrange(1, len(words))] = chance.choice(vocabulary)
        made.append(Turn(id=str(at), session=at // 30, speaker=turn.speaker, text=" ".join(words), said=turn.said))
    return made


def timed(work: Callable[[Asked], object], questions: Sequence[Asked]) -> tuple[float, float]:
    """p50 and p95 in milliseconds."""
    spent = []
    for question in questions:
        start = time.perf_counter()
        work(question)
        spent.append(1000 * (time.perf_counter() - start))
    p50, p95 = np.percentile(spent, (50, 95))
    return float(p50), float(p95)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--chunks", action="store_true")
    given = parser.parse_args()
    dialogs = read_dialogs(given.data)
    turns = make_turns([turn for dialog in dialogs for turn in dialog.turns], given.passages)
    questions = random.Random(2).sample([asked for dialog in dialogs for asked in dialog.asked], 200)
    db, embedder = store(turns, chunks=given.chunks), Static()
    db.execute("INSERT INTO words(words) VALUES ('optimize')")
    vectors = embedder.embed([turn.text for turn in turns])
    speakers = {turn.speaker.casefold() for turn in turns}
    one = vectors[0]

    def ask(asked: Asked) -> list[int]:
        question = read_question(asked.text, speakers.__contains__, NOW)
        return recall(db, question, len(turns), vectors, embedder, WEIGHTS["static"])

    full_text = plain_bm25(db, stop=True, limit=10)
    rows = {"bare FTS5": timed(full_text, questions), "bare scan": timed(lambda _: vectors @ one, questions),
            "Strata": timed(ask, questions)}
    for name, (p50, p95) in rows.items():
        print(f"| {name} | {p50:.1f} | {p95:.1f} |")
    print(f"resident at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
