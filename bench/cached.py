"""MiniLM with a memory on disk: what it made of a text once is not made again, by this or a later run of the benches.

What it makes does not depend on anything measured here, and making it is most of what a run takes. The memory lies in
bench/.cache and is kept apart by the hash of the model; delete it to have everything made anew.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from otolith.providers.minilm import GRAPH, Asked, MiniLM

FILE = Path(__file__).parent / ".cache" / "minilm.sqlite"
PART = 256


class CachedMiniLM(MiniLM):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        FILE.parent.mkdir(parents=True, exist_ok=True)
        self._made = sqlite3.connect(FILE, timeout=120, isolation_level=None, check_same_thread=False)
        self._made.execute("PRAGMA journal_mode = WAL")
        self._made.execute("PRAGMA synchronous = OFF")
        self._made.execute("CREATE TABLE IF NOT EXISTS made (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
        self._mark = hashlib.sha256((folder / GRAPH).read_bytes()).digest()

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = [self._get("text", text) for text in texts]
        lacking = [at for at, row in enumerate(rows) if row is None]
        for start in range(0, len(lacking), PART):
            some = lacking[start : start + PART]
            for at, vector in zip(some, super().embed([texts[at] for at in some]), strict=True):
                rows[at] = vector
                self._put(vector, "text", texts[at])
        return np.array(rows, np.float32).reshape(len(texts), self.dimension)

    def ask(self, text: str) -> Asked:
        asked = self._get("question", text)
        if asked is None:
            asked = tuple(super().ask(text))
            self._put(asked, "question", text)
        return Asked(*asked)

    def embed_pieces(self, texts: Sequence[str], goes_on: Sequence[bool], lead_in: str = "") -> list[bytes]:
        given = (list(texts), list(map(bool, goes_on)), lead_in)
        packed: list[bytes] | None = self._get("pieces", *given)
        if packed is None:
            packed = super().embed_pieces(texts, goes_on, lead_in)
            self._put(packed, "pieces", *given)
        return packed

    def _key(self, *given: Any) -> bytes:
        return hashlib.sha256(self._mark + json.dumps(given, ensure_ascii=True).encode()).digest()

    def _get(self, *given: Any) -> Any:
        row = self._made.execute("SELECT value FROM made WHERE key = ?", (self._key(*given),)).fetchone()
        return pickle.loads(row[0]) if row else None

    def _put(self, value: Any, *given: Any) -> None:
        self._made.execute("INSERT OR REPLACE INTO made VALUES (?,?)", (self._key(*given), pickle.dumps(value)))
