"""What the 10,000th chunk costs beside the 100th: `remember` and `ChunkStore.create_chunk`, each acknowledged on disk.

Run: python bench/chunks.py [chunks]. The texts are made here from a seed; all share a conversation and draw three of ten
tags, the worst case for automatic links. A small and a large home are measured in turn, so that the machine's other work
falls on both; medians, since one fsync varies more than all our work.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import tempfile
import time

WORDS = ("index", "folder", "server", "config", "because", "paragraph", "answer", "question", "builder", "ladder", "port")
TAGS = [f"tag{n}" for n in range(10)]
ROUNDS = 120


def make_text(rng: random.Random, number: int) -> str:
    return f"Fact {number}: " + " ".join(rng.choices(WORDS, k=40)).capitalize() + "."


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    rng = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("CACHE", "CONFIG"):
            os.environ[f"XDG_{name}_HOME"] = f"{folder}/{name}"
        from otolith import ChunkStore

        stores = {size: ChunkStore(f"{folder}/{size}") for size in (100, count)}
        for size, store in stores.items():
            with store.mem.bulk():
                for number in range(size - ROUNDS // 2):
                    store.mem.remember(make_text(rng, number), conversation_id="c", tags=rng.sample(TAGS, 3))
        print(f"{'':16}{'100th ms':>12}{f'{count}th ms':>14}{'ratio':>8}")
        for label in ("remember", "create_chunk"):
            spent: dict[int, list[float]] = {size: [] for size in stores}
            for number in range(ROUNDS // 2):
                for size, store in stores.items():
                    text, tags = make_text(rng, 1_000_000 + number), rng.sample(TAGS, 3)
                    began = time.perf_counter()
                    if label == "remember":
                        store.mem.remember(text, conversation_id="c", tags=tags)
                    else:
                        store.create_chunk(content=text, chunk_type="fact", conversation_id="c", tokens=60, tags=tags)
                    spent[size].append((time.perf_counter() - began) * 1000)
            early, late = (statistics.median(spent[size]) for size in stores)
            print(f"{label:16}{early:12.2f}{late:14.2f}{late / early:8.2f}")


if __name__ == "__main__":
    main()
