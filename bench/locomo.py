"""Turn-level recall on LoCoMo's development dialogs, without a language model.

    python bench/locomo.py DATA.json [--models FOLDER] [--chunks]

Every turn is stored, every question asked; recall@k is the share of a question's evidence turns among the first k, averaged
over questions, without category 5 unless said. Stored as entries (a session is one entry) or as chunks (a turn is one
chunk, the session its conversation). Plain BM25 and vectors alone are measured in the same run. The data stays where it is.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from strata.model.text import searchable
from strata.model.words import STOP
from strata.providers.embedders import Embedder
from strata.providers.minilm import MiniLM
from strata.providers.static import Static
from strata.providers.tokens import count_many
from strata.recall.candidates import best, best_by_words, gather, look_up, look_up_mistyped, with_neighbours
from strata.recall.question import Question, read_question
from strata.recall.rank import WEIGHTS, Weights, rank, rarity

DEPTHS = (5, 10, 25, 50)
BUDGET = 1000
NOW = datetime(2024, 6, 1, tzinfo=UTC).timestamp()
TABLES = """
CREATE TABLE records (n INTEGER PRIMARY KEY, kind TEXT, conversation TEXT, created REAL);
CREATE INDEX records_conversation ON records(conversation, created);
CREATE TABLE passages (n INTEGER PRIMARY KEY, record INTEGER, ord INTEGER, speaker TEXT, said REAL, text TEXT);
CREATE INDEX passages_record ON passages(record, ord);
CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='porter unicode61 remove_diacritics 2');
"""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One turn; its place in the list + 1 is its passage number."""

    id: str
    session: int
    speaker: str
    text: str
    said: float


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question and the places of the turns that answer it."""

    text: str
    evidence: frozenset[int]
    category: int


@dataclass(frozen=True, kw_only=True)
class Dialog:
    name: str
    turns: list[Turn]
    asked: list[Asked]


def read_dialogs(path: Path) -> list[Dialog]:
    return [_dialog(sample) for sample in json.loads(path.read_text())]


def _dialog(sample: dict[str, Any]) -> Dialog:
    talk = sample["conversation"]
    sessions = sorted(int(key.split("_")[1]) for key in talk if re.fullmatch(r"session_\d+", key))
    turns = [_turn(turn, session, talk[f"session_{session}_date_time"])
             for session in sessions for turn in talk[f"session_{session}"]]
    places = {turn.id: place for place, turn in enumerate(turns)}
    asked = []
    for qa in sample["qa"]:
        named = re.findall(r"D\d+:\d+", " ".join(qa["evidence"]))
        evidence = frozenset(places[name] for name in named if name in places)
        if evidence:
            asked.append(Asked(text=qa["question"], evidence=evidence, category=qa["category"]))
    return Dialog(name=sample["sample_id"], turns=turns, asked=asked)


def _turn(turn: dict[str, Any], session: int, when: str) -> Turn:
    seen = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
    said = datetime.strptime(when, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC).timestamp()
    return Turn(id=turn["dia_id"], session=session, speaker=turn["speaker"], said=said,
                text=f"{turn['speaker']}: {turn['text']}{seen}")


def store(turns: Sequence[Turn], *, chunks: bool) -> sqlite3.Connection:
    """The part of the index that recall reads."""
    db = sqlite3.connect(":memory:")
    db.executescript(TABLES)
    places: dict[int, int] = {}
    for n, turn in enumerate(turns, 1):
        record = n if chunks else turn.session
        place = 0 if chunks else places.setdefault(turn.session, 0)
        places[turn.session] = place + 1
        if place == 0:
            kind, talk = ("chunk", str(turn.session)) if chunks else ("entry", None)
            db.execute("INSERT INTO records VALUES (?,?,?,?)", (record, kind, talk, turn.said))
        db.execute("INSERT INTO passages VALUES (?,?,?,?,?,?)", (n, record, place, turn.speaker, turn.said, turn.text))
        db.execute("INSERT INTO words(rowid, text) VALUES (?,?)", (n, searchable(turn.text)))
    return db


Ranker = Callable[[Asked], Sequence[int]]


def plain_bm25(db: sqlite3.Connection, *, stop: bool, limit: int = -1) -> Ranker:
    def answer(asked: Asked) -> list[int]:
        words = [word for word in re.findall(r"\w+", asked.text.lower()) if not (stop and word in STOP)]
        match = " OR ".join(f'"{word}"' for word in words)
        found = db.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", (match, limit))
        return [n - 1 for n, in found]

    return answer


def vectors_alone(vectors: np.ndarray, embedder: Embedder) -> Ranker:
    return lambda asked: np.argsort(-(vectors @ embedder.embed([asked.text])[0]), kind="stable").tolist()


def strata(db: sqlite3.Connection, vectors: np.ndarray | None, embedder: Embedder | None, weights: Weights) -> Ranker:
    speakers = {word for name, in db.execute("SELECT DISTINCT speaker FROM passages") for word in name.casefold().split()}
    total = db.execute("SELECT count(*) FROM passages").fetchone()[0]

    def answer(asked: Asked) -> list[int]:
        question = read_question(asked.text, speakers.__contains__, NOW)
        return [n - 1 for n in recall(db, question, total, vectors, embedder, weights)]

    return answer


def recall(db: sqlite3.Connection, question: Question, total: int, vectors: np.ndarray | None, embedder: Embedder | None,
           weights: Weights) -> list[int]:
    """Passage numbers, best first."""
    rows = [look_up(db, word) for word in question.words]
    for at, (word, found_rows) in enumerate(zip(question.words, rows, strict=True)):
        if not len(found_rows) and (meant := look_up_mistyped(db, word)):
            rows[at] = meant[1]
    seeds = best_by_words(rows, rarity([len(part) for part in rows], total), None)
    cosines = np.zeros(total)
    if vectors is not None and embedder is not None:
        cosines = vectors @ embedder.embed([question.meaning])[0]
        seeds = np.union1d(seeds, best(cosines) + 1)
    found = with_neighbours(db, seeds.tolist())
    columns = gather(found, seeds, question, rows, total, lambda numbers: cosines[numbers - 1].astype(np.float64))
    scores = sum(rank(columns, weights, asks_when=question.asks_when).values())
    order = np.lexsort((columns.numbers, -np.asarray(scores)))
    return [int(n) for n in columns.numbers[order[columns.ranked[order]]]]


def measure(dialog: Dialog, ranker: Ranker, tokens: Sequence[int]) -> Iterator[tuple[int, list[float]]]:
    """Per question its category, recall at each depth, and recall within the token budget."""
    for asked in dialog.asked:
        order = list(ranker(asked))
        shares = [len(asked.evidence.intersection(order[:depth])) / len(asked.evidence) for depth in DEPTHS]
        spent = np.cumsum([tokens[place] for place in order])
        delivered = order[: int(np.searchsorted(spent, BUDGET, "right"))]
        yield asked.category, [*shares, len(asked.evidence.intersection(delivered)) / len(asked.evidence)]


def bootstrap(by_dialog: Sequence[Sequence[float]], rounds: int = 1000) -> tuple[float, float]:
    """A 95 % interval of the mean when dialogs are drawn with replacement."""
    chance = random.Random(0)
    means = [np.mean([value for part in chance.choices(by_dialog, k=len(by_dialog)) for value in part]) for _ in range(rounds)]
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high)


def rankers(dialog: Dialog, db: sqlite3.Connection, embedders: Sequence[Embedder]) -> Iterator[tuple[str, Ranker]]:
    yield "BM25, all words", plain_bm25(db, stop=False)
    yield "BM25, stop words out", plain_bm25(db, stop=True)
    yield "Strata, words alone", strata(db, None, None, WEIGHTS["static"])
    for embedder in embedders:
        vectors = embedder.embed([turn.text for turn in dialog.turns])
        yield f"{embedder.name} alone", vectors_alone(vectors, embedder)
        yield f"Strata, {embedder.name}", strata(db, vectors, embedder, WEIGHTS[embedder.name])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--models", type=Path, help="folder with the MiniLM weights")
    parser.add_argument("--chunks", action="store_true", help="one chunk a turn instead of one entry a session")
    asked = parser.parse_args()
    embedders: list[Embedder] = [Static(), *([MiniLM(asked.models)] if asked.models else [])]
    found: dict[str, list[list[tuple[int, list[float]]]]] = {}
    for dialog in read_dialogs(asked.data):
        db = store(dialog.turns, chunks=asked.chunks)
        tokens = count_many([turn.text for turn in dialog.turns])
        for name, ranker in rankers(dialog, db, embedders):
            found.setdefault(name, []).append(list(measure(dialog, ranker, tokens)))
    print("| system | R@5 | R@10 | R@25 | R@50 | in 1,000 tokens | R@10 with category 5 | R@10 by dialog | 95 % of R@10 |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, dialogs in found.items():
        plain = [[shares for category, shares in part if category != 5] for part in dialogs]
        means = 100 * np.mean([shares for part in plain for shares in part], axis=0)
        every = 100 * np.mean([shares[1] for part in dialogs for _, shares in part])
        each = " ".join(f"{100 * np.mean([shares[1] for shares in part]):.1f}" for part in plain)
        low, high = bootstrap([[shares[1] for shares in part] for part in plain])
        cells = " | ".join(f"{mean:.1f}" for mean in means)
        print(f"| {name} | {cells} | {every:.1f} | {each} | {100 * low:.1f}–{100 * high:.1f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
