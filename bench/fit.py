"""Fit the weights of `recall/rank.py` on the development dialogs, and tell honestly how they do on a dialog left out.

    python bench/fit.py DATA.json [--models FOLDER]

Per question the candidates of the shipped search; a softmax over their scores should give the evidence turns all the mass.
Each dialog is measured with weights fitted on the other four. Prints figures and weights; changes nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from locomo import DEPTHS, NOW, Dialog, Names, log_sessions, open_memory, read_dialogs

from otolith import meaning
from otolith.memory import Memory
from otolith.model.dates import mentions_time
from otolith.providers.embedders import Embedder, Static
from otolith.providers.minilm import MiniLM
from otolith.recall.question import read_question
from otolith.recall.rank import (
    WEIGHTS,
    Weights,
    best_by_words,
    gather,
    look_up,
    merged,
    rank,
    rarity,
    with_neighbours,
)

NAMES = ("words", "cover", "likeness", "likeness_around", "answer", "speaker", "timely", "when", "time", "asking")
NONE = dict.fromkeys(NAMES, 0.0)
SEEDS, ROUNDS, STEP, RIDGE = 100, 400, 0.15, 1e-3


class Case(NamedTuple):
    """A question: its candidates' features, which of them are evidence, how much evidence there is, its category."""

    features: np.ndarray
    evidence: np.ndarray
    wanted: int
    category: int


def cases(mem: Memory, dialog: Dialog, names: Names, embedder: Embedder) -> list[Case]:
    db = mem.home.index.db
    places = {n: names[(entry, int(turn))] for n, entry, turn in db.execute(
        "SELECT p.n, r.id, p.turn FROM passages p JOIN records r ON r.n = p.record WHERE r.kind = 'entry'")}
    said = dict(db.execute("SELECT n, text FROM passages"))
    return [_case(mem, asked, places, said, embedder) for asked in dialog.asked]


def _case(mem: Memory, asked: Any, places: dict[int, int], said: dict[int, str], embedder: Embedder) -> Case:
    index = mem.home.index
    question = read_question(asked.text, index.words.is_speaker, NOW)
    rows, _ = look_up(index, question.words)
    total = index.words.count_passages()
    felt = meaning.sense(mem.home.index, mem.home.config, question.meaning, {"embedder": embedder}, [])
    if felt is None or felt.embedder.name != embedder.name:
        raise SystemExit(f"{embedder.name} does not answer")
    seeds = merged(best_by_words(rows, rarity([len(part) for part in rows], total), None, SEEDS), felt.nearest(SEEDS, None))
    spots = with_neighbours(index, seeds.tolist())
    columns = gather(spots, seeds, question, rows, total, lambda numbers: felt.likeness(numbers, index.around.texts))
    timely = np.array([mentions_time(said[spot.n]) for spot in spots], float)
    parts = {name: sum(rank(columns, Weights(**{**NONE, name: 1.0})).values()) for name in NAMES}
    parts |= {"timely": timely, "when": timely * question.asks_when}
    kept = [row for row, spot in enumerate(spots) if columns.ranked[row] and spot.n in places]
    features = np.stack([np.asarray(parts[name], float)[kept] for name in NAMES], axis=1)
    hit = np.array([places[spots[row].n] in asked.evidence for row in kept], bool)
    return Case(features, hit, len(asked.evidence), asked.category)


def fit(given: Sequence[Case], fixed: Sequence[str] = ()) -> np.ndarray:
    """Adam on the softmax's loss; the names in `fixed` stay zero."""
    useful = [case for case in given if case.evidence.any() and case.category != 5]
    free = np.array([name not in fixed for name in NAMES], float)
    weights, first, second = np.zeros(len(NAMES)), np.zeros(len(NAMES)), np.zeros(len(NAMES))
    for turn in range(1, ROUNDS + 1):
        slope = 2 * RIDGE * weights
        for case in useful:
            scores = case.features @ weights
            share = np.exp(scores - scores.max())
            share /= share.sum()
            slope = slope + (share @ case.features - case.features[case.evidence].mean(axis=0)) / len(useful)
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        weights = weights - free * STEP * (first / (1 - 0.9**turn)) / (np.sqrt(second / (1 - 0.99**turn)) + 1e-9)
    return weights


def recall_at(given: Sequence[Case], weights: np.ndarray, *, every: bool = False) -> np.ndarray:
    """R@5, 10, 25, 50; with every category or without the fifth."""
    rows = []
    for case in given:
        if every or case.category != 5:
            order = np.argsort(-(case.features @ weights), kind="stable")
            rows.append([case.evidence[order[:depth]].sum() / case.wanted for depth in DEPTHS])
    return 100 * np.mean(rows, axis=0)


def report(name: str, by_dialog: list[list[Case]]) -> None:
    every = [case for part in by_dialog for case in part]
    shipped = np.array([getattr(WEIGHTS[name], part) for part in NAMES])
    row(f"{name}, shipped weights, in sample", [(part, shipped) for part in by_dialog])
    for fixed in ((), ("speaker",)):
        folds = [fit([case for at, part in enumerate(by_dialog) if at != out for case in part], fixed)
                 for out in range(len(by_dialog))]
        sign = f", without the {fixed[0]} sign" if fixed else ""
        row(f"{name}, fitted on the other four{sign}", list(zip(by_dialog, folds, strict=True)))
        print("weights of all five", {part: round(float(value), 2) for part, value in zip(NAMES, fit(every, fixed), strict=True)})
        print("spread over the folds", {part: round(float(value), 2) for part, value in
                                        zip(NAMES, np.std(folds, axis=0), strict=True)}, flush=True)


def row(label: str, measured: Sequence[tuple[list[Case], np.ndarray]]) -> None:
    """A line of the table: the mean over all questions, each dialog with its own weights."""
    parts = [(len([case for case in part if case.category != 5]), recall_at(part, weights)) for part, weights in measured]
    mean = np.average([found for _, found in parts], axis=0, weights=[count for count, _ in parts])
    both = np.average([recall_at(part, weights, every=True)[1] for part, weights in measured],
                      weights=[len(part) for part, _ in measured])
    cells = [*(f"{value:.1f}" for value in mean), f"{both:.1f}", " ".join(f"{found[1]:.1f}" for _, found in parts)]
    print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--models", type=Path, help="folder with the MiniLM weights")
    given = parser.parse_args()
    embedders: list[Embedder] = [Static(), *([MiniLM(given.models)] if given.models else [])]
    found: dict[str, list[list[Case]]] = {}
    for dialog in read_dialogs(given.data):
        with open_memory() as mem:
            with mem.bulk():
                names = log_sessions(mem, dialog)
            for embedder in embedders:
                mem.providers = {"embedder": embedder}
                mem.home.config = mem.home.config.replace(provider=embedder.name)
                mem.embed()
                found.setdefault(embedder.name, []).append(cases(mem, dialog, names, embedder))
        print(dialog.name, file=sys.stderr)
    for name, by_dialog in found.items():
        report(name, by_dialog)
    return 0


if __name__ == "__main__":
    sys.exit(main())
