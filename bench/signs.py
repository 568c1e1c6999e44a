"""The signs of every question's candidates, gathered once and kept, so that weights can be fitted without asking again.

    python bench/signs.py DATA_FOLDER OUT.pickle [--models FOLDER] [--only SET …]

For each question of each set, by each embedder: the columns that `recall/rank.py` works on, what takes a passage's text, and
which candidates are what the question wants.
"""

from __future__ import annotations

import argparse
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cached import CachedMiniLM
from locomo import NOW, open_memory
from sets import Query, key_of, read_sets

from otolith import meaning
from otolith.memory import Memory
from otolith.model.dates import mentions_time
from otolith.model.words import stem
from otolith.providers.embedders import Embedder, Static
from otolith.recall import rank
from otolith.recall.question import read_question

SEEDS = 100
TEXT = rank.SOURCES.index("text")


def signs_of(mem: Memory, query: Query, names: dict[Any, Any], embedder: Embedder | None) -> dict[str, Any]:
    index = mem.home.index
    question = read_question(query.text, index.words.speakers(), NOW)
    rows, _ = rank.look_up(index, question.words)
    total = index.words.count_passages()
    seeds = rank.best_by_words(rows, rank.rarity([len(part) for part in rows], total), None, SEEDS)
    felt = meaning.sense(index, mem.home.config, question.meaning, {"embedder": embedder}, []) if embedder else None
    if embedder and (felt is None or felt.embedder.name != embedder.name):
        raise SystemExit(f"{embedder.name} does not answer")
    if felt:
        seeds = rank.merged(seeds, felt.nearest(SEEDS, None))
    near = rank.with_neighbours(index, seeds)
    columns = rank.gather(near, seeds, question, rows, total, lambda numbers: meaning.near_to(felt, index, numbers, []))
    found = {passage.n: passage for passage in index.around.passages(near.numbers.tolist())}
    passages = [found[n] for n in near.numbers.tolist()]
    starts = [start_of(word) for word in question.words]
    lowered = [passage.text.lower() for passage in passages]
    tags = index.cards.tags_of({passage.record for passage in passages})
    keys = {key: at for at, key in enumerate(sorted(query.gold, key=str))}
    turns = [int(passage.turn) if passage.turn and passage.turn.isdecimal() else None for passage in passages]
    return {
        "label": query.label, "text": query.text, "wanted": len(query.gold), "names": len(question.names),
        "unknown": bool(rank.unknown(question, rows)), "asks_when": question.asks_when, "total": total, "words": len(question.words),
        **{name: np.asarray(getattr(columns, name)) for name in (
            "ranked", "matches", "rarity", "likeness", "pieces", "block", "around", "by_named", "asking", "nearness", "sources", "held", "sizes")},
        "record": np.array([passage.record for passage in passages]), "created": np.array([passage.said for passage in passages]),
        "number": np.array([passage.n for passage in passages]),
        "length": np.array([len(text) for text in lowered]), "timely": np.array([mentions_time(p.text) for p in passages], float),
        "often": np.array([[text.count(start) for text in lowered] for start in starts], np.float32).reshape(len(starts), -1),
        "title": np.array([[start in passage.title.lower() for passage in passages] for start in starts],
                          np.float32).reshape(len(starts), -1),
        "pairs": np.array([rank.side_by_side(question.words, columns.rarity.tolist(), f"{passage.title}\n{passage.text}") if text else 0.0
                           for passage, text in zip(passages, columns.sources == TEXT, strict=True)]),
        "tag": np.array([[any(start in tag.lower() for tag in tags.get(p.record, ())) for p in passages] for start in starts],
                        np.float32).reshape(len(starts), -1),
        "gold": np.array([keys.get(key_of(names, passage.id, turn), -1) for passage, turn in zip(passages, turns, strict=True)]),
        "kind": [passage.kind for passage in passages],
    }


def start_of(word: str) -> str:
    """How the forms of a word begin."""
    return stem(word).removesuffix("i")


def gather_all(folder: Path, models: Path | None, only: Sequence[str], by: Sequence[str]) -> list[dict[str, Any]]:
    embedders: list[Embedder | None] = [None, Static(), *([CachedMiniLM(models)] if models else [])]
    embedders = [embedder for embedder in embedders if not by or (embedder.name if embedder else "words") in by]
    cases: list[dict[str, Any]] = []
    for stored in read_sets(folder):
        if only and stored.set not in only:
            continue
        with open_memory() as mem:
            names: dict[Any, Any] = {}
            done = 0
            for step in sorted({query.step for query in stored.asked}):
                for store in stored.steps[done : step or len(stored.steps)]:
                    names |= store(mem)
                done = step or len(stored.steps)
                for embedder in embedders:
                    mem.home.config = mem.home.config.replace(provider=embedder.name if embedder else "none")
                    if embedder:
                        mem.providers = {"embedder": embedder}
                        meaning.fill(mem.home.index, mem.home.config, embedder, notices=[])
                    cases += [{"set": stored.set, "home": stored.name, "embedder": embedder.name if embedder else "words",
                               **signs_of(mem, query, names, embedder)} for query in stored.asked if query.step == step]
        print(stored.set, stored.name, len(cases), file=sys.stderr, flush=True)
    return cases


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--models", type=Path)
    parser.add_argument("--only", action="append", default=[], help="only this set; may be repeated")
    parser.add_argument("--embedder", action="append", default=[], choices=("words", "static", "minilm"))
    given = parser.parse_args()
    given.out.write_bytes(pickle.dumps(gather_all(given.folder, given.models, given.only, given.embedder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
