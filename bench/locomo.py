"""Turn-level recall on LoCoMo's development dialogs through the public verbs, without a language model.

    python bench/locomo.py DATA.json [--models FOLDER] [--way log|remember]

Every turn is stored, every question asked; recall@k is the share of a question's evidence turns among the first k, averaged
over questions, without category 5 unless said. Stored both ways a person would: a session is one `log` (a hit names its
turn), or a turn is one `remember` with the session as its conversation. Plain BM25 and vectors alone are measured on the
same turns in the same run. The data stays where it is; the table holds figures only.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cached import CachedMiniLM

from otolith.memory import Memory
from otolith.model.recall import Recall
from otolith.model.text import searchable
from otolith.model.words import STOP
from otolith.providers.embedders import Embedder, Static
from otolith.providers.tokens import count_many

DEPTHS = (5, 10, 25, 50)
BUDGET = 1000
NOW = datetime(2024, 6, 1, tzinfo=UTC).timestamp()


class Turn(NamedTuple):
    """One turn; its place in the dialog's list is its name here."""

    id: str
    session: int
    speaker: str
    text: str
    said: float

    @property
    def spoken(self) -> str:
        return f"{self.speaker}: {self.text}"


class Asked(NamedTuple):
    """A question and the places of the turns that answer it."""

    text: str
    evidence: frozenset[int]
    category: int


class Dialog(NamedTuple):
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
            asked.append(Asked(qa["question"], evidence, qa["category"]))
    return Dialog(sample["sample_id"], turns, asked)


def _turn(turn: dict[str, Any], session: int, when: str) -> Turn:
    seen = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
    said = datetime.strptime(when, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC).timestamp()
    return Turn(turn["dia_id"], session, turn["speaker"], turn["text"] + seen, said)


# Otolith, both ways

Names = dict[tuple[str, int | None], int]  # (record, turn) → place
Ranker = Callable[[Asked], Sequence[int]]


@contextmanager
def open_memory(provider: str = "static") -> Iterator[Memory]:
    """A home and a cache of its own, gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"XDG_CACHE_HOME": f"{folder}/cache", "XDG_CONFIG_HOME": f"{folder}/config", "OTOLITH_PROVIDER": provider}
        with Memory(f"{folder}/home", clock=lambda: NOW) as mem:
            yield mem


def log_sessions(mem: Memory, dialog: Dialog) -> Names:
    names: Names = {}
    for session in dict.fromkeys(turn.session for turn in dialog.turns):
        places = [place for place, turn in enumerate(dialog.turns) if turn.session == session]
        said = [dialog.turns[place] for place in places]
        messages = [{"role": turn.speaker, "content": turn.text} for turn in said]
        entry = mem.log(messages, topic=dialog.name, created=said[0].said)
        names |= {(entry.id, number): place for number, place in enumerate(places, 1)}
    return names


def remember_turns(mem: Memory, dialog: Dialog) -> Names:
    names: Names = {}
    for place, turn in enumerate(dialog.turns):
        made = mem.remember(turn.spoken, conversation_id=f"{dialog.name}-{turn.session}", created=turn.said)
        names |= {(chunk.id, None): place for chunk in made}
    return names


WAYS = {"log": log_sessions, "remember": remember_turns}


def places(found: Recall, names: Names, *, context: bool = False) -> list[int]:
    """The turns that an answer's hits are, in order; with `context` also the turns around them."""
    listed = []
    for hit in found.hits:
        turn = hit.passage["turn"] if hit.passage and hit.kind == "entry" else None
        listed.append(names.get((hit.id, turn)))
        listed += [names.get((item["id"], item.get("turn"))) for item in hit.context] if context else []
    return [place for place in dict.fromkeys(listed) if place is not None]


def otolith(mem: Memory, names: Names) -> Ranker:
    def answer(asked: Asked) -> list[int]:
        with mem.home.uncounted():
            return places(mem.recall(asked.text, limit=DEPTHS[-1]), names)

    return answer


def within_budget(mem: Memory, names: Names) -> Ranker:
    def answer(asked: Asked) -> list[int]:
        with mem.home.uncounted():
            found = mem.recall(asked.text, limit=DEPTHS[-1], budget=BUDGET)
        if found.tokens > BUDGET:
            raise AssertionError(f"{found.tokens} tokens delivered")
        return places(found, names, context=True)

    return answer


# What it is measured beside

def full_text(turns: Sequence[Turn]) -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='porter unicode61 remove_diacritics 2')")
    rows = [(n, searchable(turn.spoken)) for n, turn in enumerate(turns)]
    db.executemany("INSERT INTO words(rowid, text) VALUES (?,?)", rows)
    return db


def plain_bm25(db: sqlite3.Connection, *, stop: bool, limit: int = -1) -> Ranker:
    def answer(asked: Asked) -> list[int]:
        words = [word for word in re.findall(r"\w+", asked.text.lower()) if not (stop and word in STOP)]
        match = " OR ".join(f'"{word}"' for word in words)
        return [n for n, in db.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", (match, limit))]

    return answer


def vectors_alone(vectors: np.ndarray, embedder: Embedder) -> Ranker:
    return lambda asked: np.argsort(-(vectors @ embedder.embed([asked.text])[0]), kind="stable").tolist()


# Measuring

def measure(dialog: Dialog, ranker: Ranker, tokens: Sequence[int], budgeted: Ranker | None = None
            ) -> Iterator[tuple[int, list[float]]]:
    """Per question its category, recall at each depth, and recall within the token budget."""
    for asked in dialog.asked:
        order = list(ranker(asked))
        shares = [len(asked.evidence.intersection(order[:depth])) / len(asked.evidence) for depth in DEPTHS]
        spent = np.cumsum([tokens[place] for place in order])
        delivered = budgeted(asked) if budgeted else order[: int(np.searchsorted(spent, BUDGET, "right"))]
        yield asked.category, [*shares, len(asked.evidence.intersection(delivered)) / len(asked.evidence)]


def bootstrap(by_dialog: Sequence[Sequence[float]], rounds: int = 1000) -> tuple[float, float]:
    """A 95 % interval of the mean when dialogs are drawn with replacement."""
    chance = random.Random(0)
    means = [np.mean([value for part in chance.choices(by_dialog, k=len(by_dialog)) for value in part]) for _ in range(rounds)]
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high)


Rows = dict[str, list[list[tuple[int, list[float]]]]]


def run(dialogs: Sequence[Dialog], models: Path | None, ways: Sequence[str], by: Sequence[str] = ()) -> Rows:
    """Every system on every dialog, or only those with an embedder named."""
    embedders: list[Embedder] = [Static(), *([CachedMiniLM(models)] if models else [])]
    embedders = [embedder for embedder in embedders if not by or embedder.name in by]
    rows: Rows = {}
    for dialog in dialogs:
        tokens = count_many([turn.spoken for turn in dialog.turns])

        def add(name: str, ranker: Ranker, budgeted: Ranker | None = None, dialog: Dialog = dialog,
                tokens: Sequence[int] = tokens) -> None:
            rows.setdefault(name, []).append(list(measure(dialog, ranker, tokens, budgeted)))
            print(f"{dialog.name} {name}", file=sys.stderr)

        db = full_text(dialog.turns)
        add("BM25, all words", plain_bm25(db, stop=False))
        add("BM25, stop words out", plain_bm25(db, stop=True))
        for embedder in embedders:
            add(f"{embedder.name} alone", vectors_alone(embedder.embed([turn.spoken for turn in dialog.turns]), embedder))
        for way in ways:
            with open_memory() as mem:
                with mem.bulk():
                    names = WAYS[way](mem, dialog)
                for embedder in (*([] if by and "words" not in by else [None]), *embedders):
                    mem.home.config = mem.home.config.replace(provider=embedder.name if embedder else "none")
                    mem.providers = {"embedder": embedder} if embedder and embedder.name != "static" else None
                    if embedder:
                        mem.embed()
                    label = f"Otolith, {embedder.name if embedder else 'words alone'}, {way}"
                    add(label, otolith(mem, names), within_budget(mem, names))
    return rows


def table(rows: Rows) -> list[str]:
    lines = ["| system | R@5 | R@10 | R@25 | R@50 | in 1,000 tokens | R@10 with category 5 | R@10 by dialog | 95 % of R@10 |",
             "|---|---|---|---|---|---|---|---|---|"]
    for name, dialogs in rows.items():
        plain = [[shares for category, shares in part if category != 5] for part in dialogs]
        means = 100 * np.mean([shares for part in plain for shares in part], axis=0)
        every = 100 * np.mean([shares[1] for part in dialogs for _, shares in part])
        each = " ".join(f"{100 * np.mean([shares[1] for shares in part]):.1f}" for part in plain)
        low, high = bootstrap([[shares[1] for shares in part] for part in plain])
        cells = " | ".join(f"{mean:.1f}" for mean in means)
        lines.append(f"| {name} | {cells} | {every:.1f} | {each} | {100 * low:.1f}–{100 * high:.1f} |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--models", type=Path, help="folder with the MiniLM weights")
    parser.add_argument("--way", action="append", choices=WAYS)
    parser.add_argument("--dialogs", type=int, help="only so many")
    parser.add_argument("--embedder", action="append", default=[], choices=("words", "static", "minilm"))
    given = parser.parse_args()
    ways = given.way or list(WAYS)
    for line in table(run(read_dialogs(given.data)[: given.dialogs], given.models, ways, given.embedder)):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
