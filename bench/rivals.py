"""Processes that recall is timed beside: each reads the number of a question and answers with what it took.

As a script it is chromadb, in an environment of its own that knows nothing of Otolith: python bench/rivals.py FOLDER, where
`vectors.npy` and `asked.npy` lie.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

CHROMA = "chromadb, given the question's vector"
SECONDS = 900
Spent = tuple[float, float]  # wall and processor seconds


def spend(work: Callable[..., object], *given: Any) -> Spent:
    wall, processor = time.perf_counter(), time.process_time()
    work(*given)
    return time.perf_counter() - wall, time.process_time() - processor


def chroma(folder: Path) -> None:
    """Nearest turns by chromadb; runs in its environment."""
    import chromadb

    client = chromadb.PersistentClient(path=str(folder / "chroma"), settings=chromadb.Settings(anonymized_telemetry=False))
    shelf = client.create_collection("turns", metadata={"hnsw:space": "cosine"}, embedding_function=None)
    vectors, asked = np.load(folder / "vectors.npy"), np.load(folder / "asked.npy")
    for at in range(0, len(vectors), 5000):
        part = vectors[at : at + 5000]
        shelf.add(ids=[str(at + n) for n in range(len(part))], embeddings=part)
    answer({CHROMA: lambda at: shelf.query(query_embeddings=asked[at : at + 1], n_results=10, include=[])})


def answer(ways: dict[str, Callable[[int], object]]) -> None:
    """Say that all is ready, then answer the number of a question with what it took each way."""
    print("{}", flush=True)
    for line in sys.stdin:
        print(json.dumps({name: spend(work, int(line)) for name, work in ways.items()}), flush=True)


class Rival:
    """Such a process."""

    def __init__(self, python: str | Path, *words: str) -> None:
        self._process = subprocess.Popen([python, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                         stderr=subprocess.DEVNULL)
        self._stop = threading.Timer(SECONDS, self._process.kill)
        self._stop.start()
        self.ready = self._process.stdout is not None and self._process.stdout.readline() == "{}\n"

    def ask(self, at: int) -> dict[str, Spent]:
        if not self.ready or self._process.stdin is None or self._process.stdout is None:
            return {}
        self._process.stdin.write(f"{at}\n")
        self._process.stdin.flush()
        told: dict[str, Spent] = json.loads(self._process.stdout.readline() or "{}")
        return told

    def close(self) -> None:
        self._process.communicate()
        self._stop.cancel()


if __name__ == "__main__":
    chroma(Path(sys.argv[1]))
