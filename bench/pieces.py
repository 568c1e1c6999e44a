"""Fit the main directions of MiniLM's word pieces: the small matrix that `providers/minilm.py` reduces them by.

    python bench/pieces.py MODELS TEXT.json … OUT

PCA over the states of the word pieces of every string in the given JSON files that is longer than a few words, as many as are
enough, drawn by chance. Run once; the result is a file of the package. What is given must be free to use: the
file in the package is from RealMemBench's dialogs (Apache-2.0) and documentation under the MIT licence.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from otolith.providers.minilm import PIECE, MiniLM

TEXTS = 1000


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings(part)


def main() -> int:
    models, *sources, out = map(Path, sys.argv[1:])
    chance, embedder, states = random.Random(0), MiniLM(models), []
    for source in sources:
        texts = sorted({text[:600] for text in strings(json.loads(source.read_text("utf-8"))) if len(text.split()) > 5})
        for _, _, part in embedder._run([embedder._cut(text) for text in chance.sample(texts, min(TEXTS, len(texts)))]):
            states.append(part[1:-1])
    matrix = np.concatenate(states).astype(np.float64)
    mean = matrix.mean(axis=0)
    spread, directions = np.linalg.eigh(np.cov(matrix - mean, rowvar=False))
    print(f"{len(matrix)} word pieces, {spread[-PIECE:].sum() / spread.sum():.0%} of their spread kept")
    out.write_bytes(np.concatenate([mean[None], directions.T[::-1][:PIECE]]).astype("<f2").tobytes())
    return 0


if __name__ == "__main__":
    sys.exit(main())
