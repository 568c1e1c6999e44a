"""Fit the weights of `recall/rank.py` over all sets together, and tell honestly how they do on what was left out.

    python bench/fit.py DATA_FOLDER --models FOLDER --write

gathers the signs of every question (bench/signs.py), fits every column and writes src/otolith/recall/weights.json, byte for byte the
one that is committed; without `--models` the columns of MiniLM stay as they are. `--keep FILE` keeps the signs, `--signs FILE …` takes kept ones instead of gathering.

Each source has its own weights. Talk (LoCoMo): from START, one after the other is moved as long as the mean of R@5, R@10 and R@25
rises. Texts (documentation, Japanese, code) and chats with an assistant (RealMem): a softmax over the candidates' scores
should give the mass to what is wanted; for texts, foreign questions should give it to nothing. Then a base is added to texts and chats
so that the same score separates own from foreign questions in every source. Everything is measured with
weights fitted without it: a dialog left out, a fifth of the questions left out.
"""

from __future__ import annotations

import argparse
import json
import pickle
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from signs import gather_all

from otolith.recall import rank

WEIGHTS = Path(rank.__file__).with_name("weights.json")
TALK = ("words", "cover", "meaning", "meaning nearby", "pieces", "pieces nearby", "block", "whole", "answer", "speaker", "timely", "when",
        "time", "asking")
AGENT = ("words", "meaning", "pieces", "block", "whole", "later")
TEXT = ("words", "share", "meaning", "title", "repeated", "pairs")
# What the sets of a source say nothing about is weighed as in talk.
AS_TALK = {"agent": ("timely", "when", "time", "asking", "answer", "speaker"), "text": ("time",)}
NAMES = tuple(dict.fromkeys((*TALK, *AGENT, *TEXT)))
SETS = {"talk": ("locomo",), "agent": ("realmem",), "text": ("docs", "japanese", "code")}
OF = {"talk": TALK, "agent": AGENT, "text": TEXT}
UNTRIED = {"minilm": ("pairs",)}  # signs that were not fitted with an embedder yet: nothing is claimed of them
CUTS = {"locomo": (5, 10, 25, 50), "realmem": (1, 3, 5, 10)}
# What talk's weights start from: chosen by hand, by looking at the dialogs.
START = {
    "words": {"words": 1.2, "cover": 4.1, "meaning": 3.6, "meaning nearby": 1.3, "whole": 1.0, "answer": 0.9, "speaker": 2.7,
               "timely": 0.45, "when": 1.8, "time": 2.33, "asking": -0.55},
    "static": {"words": 0.9, "cover": 4.1, "meaning": 4.2, "meaning nearby": 1.3, "whole": 1.0, "answer": 1.2, "speaker": 2.7,
               "timely": 0.45, "when": 1.8, "time": 2.79, "asking": -0.55},
    "minilm": {"words": 0.8, "cover": 2.7, "meaning": 2.1, "meaning nearby": 1.0, "pieces": 5.0, "pieces nearby": 3.0, "block": 3.0,
               "whole": 0.5, "answer": 1.1, "speaker": 2.9, "timely": 0.4, "when": 1.7, "time": 3.0, "asking": -0.5},
}
MARGIN, UNKNOWN = 1.0, -1.5  # chosen by hand: half of the foreign questions that passed do no longer
STEPS = (0.75, 0.9, 1.1, 1.33)  # times a weight that the search tries
FOLDS, ROUNDS, NOTHING = 5, 150, 5.0  # the score of "nothing answers"
RIDGE = {"agent": 1e-3, "text": 1e-4}
KEPT, PASSED = 6.0, 92.0  # percentiles: own questions that may fall below, foreign ones that must


class Case(NamedTuple):
    """A question: its candidates' signs, what each is of what is wanted (-1 nothing), and where it belongs."""

    signs: np.ndarray
    gold: np.ndarray
    records: np.ndarray
    wanted: int
    label: str
    set: str
    home: str
    unknown: bool = False  # it names what no passage has


def _case(case: dict[str, Any]) -> Case:
    rarity, matches, around, kept = case["rarity"], case["matches"], case["around"], case["ranked"].astype(bool)
    columns = rank.Columns(**{name: case[name] for name in (
        "ranked", "matches", "rarity", "likeness", "pieces", "block", "around", "by_named", "asking", "nearness", "held", "sizes",
        "sources")}, numbers=case["number"], said=case["created"]).replace(ranked=kept)
    signs = rank.signs(columns)
    mass = rarity.sum() or 1.0
    times = np.where(matches > 0, np.maximum(case["often"], 1), 0.0)
    damped = rank.BM25[0] * (1 - rank.BM25[1] + rank.BM25[1] * case["length"] / rank.LENGTH)
    signs |= {"timely": case["timely"], "when": case["timely"] * case["asks_when"], "title": rarity @ case["title"] / mass, "pairs": case["pairs"],
              "repeated": rarity @ (times / (times + damped)) / mass}
    return Case(np.stack([signs[name][kept] for name in NAMES], axis=1) if len(around) else np.zeros((0, len(NAMES))),
                case["gold"][kept], case["record"][kept], case["wanted"], case["label"], case["set"], case["home"], case["unknown"])


# Measuring

def recall_at(case: Case, weights: np.ndarray) -> list[float]:
    """The share of what is wanted among the first; other sets than LoCoMo count records, which are hits once."""
    order = np.argsort(-(case.signs @ weights), kind="stable")
    if case.set != "locomo":
        _, first = np.unique(case.records[order], return_index=True)
        order = order[np.sort(first)]
    return [len(set(case.gold[order[:cut]].tolist()) - {-1}) / case.wanted for cut in CUTS.get(case.set, (1, 5, 10))]


def mean_recall(cases: Sequence[Case], weights: Callable[[Case], np.ndarray]) -> np.ndarray:
    return 100 * np.mean([recall_at(case, weights(case)) for case in cases if case.label == "own"], axis=0)


def best_score(case: Case, weights: np.ndarray) -> float:
    """What `enough` is judged by: age counts for the order only."""
    answering = weights * (np.array(NAMES) != "later")
    return float((case.signs @ answering).max(initial=0.0)) + UNKNOWN * case.unknown


# Fitting

def climb(cases: Sequence[Case], start: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Move one weight after the other while that helps."""
    own = [case for case in cases if case.label == "own"]

    def goodness(weights: np.ndarray) -> float:
        return float(np.mean([recall_at(case, weights)[:3] for case in own]))

    weights, reached = start.copy(), goodness(start)
    for name in names:
        for step in STEPS:
            trial = weights.copy()
            trial[NAMES.index(name)] *= step
            if (worth := goodness(trial)) > reached + 5e-4:
                weights, reached = trial, worth
    return weights


def soften(cases: Sequence[Case], names: Sequence[str], ridge: float) -> np.ndarray:
    """Gradient descent (Adam) on the softmax's loss; every set counts alike."""
    free = np.array([name in names for name in NAMES], float)
    share = {(case.set, case.label): 0 for case in cases}
    for case in cases:
        share[case.set, case.label] += 1
    weights, first, second = np.zeros(len(NAMES)), np.zeros(len(NAMES)), np.zeros(len(NAMES))
    for turn in range(1, ROUNDS + 1):
        slope = 2 * ridge * weights * len(share)
        for case in cases:
            slope = slope + _slope(case, weights) * (1.0 if case.label == "own" else 0.5) / share[case.set, case.label]
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        weights = weights - free * 0.4 * (first / (1 - 0.9**turn)) / (np.sqrt(second / (1 - 0.99**turn)) + 1e-9)
    return weights


def _slope(case: Case, weights: np.ndarray) -> np.ndarray:
    scores = np.append(case.signs @ weights, NOTHING if case.set in SETS["text"] else -np.inf)
    mass = np.exp(scores - scores.max())
    slope = mass[:-1] / mass.sum() @ case.signs
    keys = set(case.gold.tolist()) - {-1}
    for key in keys if case.label == "own" else ():
        part = mass[:-1] * (case.gold == key)
        slope = slope - part / part.sum() @ case.signs / len(keys)
    return slope if keys or case.label == "foreign" else np.zeros(len(NAMES))


def fit_source(embedder: str, source: str, cases: Sequence[Case], start: np.ndarray) -> np.ndarray:
    if source == "talk":
        return climb(cases, start, [name for name in TALK if start[NAMES.index(name)]])
    labels = ("own", "foreign") if source == "text" else ("own",)
    names = [name for name in OF[source] if name not in UNTRIED.get(embedder, ())]
    return soften([case for case in cases if case.label in labels], names, RIDGE[source])


def report(embedder: str, source: str, cases: Sequence[Case], start: np.ndarray, *, quick: bool) -> np.ndarray:
    """Fit a source on all of it; print what weights that never saw a question do with it, unless that takes too long."""
    if quick:
        return fit_source(embedder, source, cases, start)
    groups = [case.home if source == "talk" else str(at % FOLDS) for at, case in enumerate(cases)]
    left_out = {group: fit_source(embedder, source, [case for case, of in zip(cases, groups, strict=True) if of != group], start)
                for group in dict.fromkeys(groups)}
    weights, of = fit_source(embedder, source, cases, start), {id(case): left_out[group] for case, group in zip(cases, groups, strict=True)}
    for name in SETS[source]:
        some = [case for case in cases if case.set == name]
        for label, chosen in (("fitted on all", lambda _: weights), ("left out", lambda case: of[id(case)])):
            print(f"| {embedder}, {name}, {label} | " + " | ".join(f"{value:.1f}" for value in mean_recall(some, chosen)) + " |", flush=True)
    return weights


def calibrate(cases: dict[str, list[Case]], weights: dict[str, np.ndarray]) -> tuple[float, dict[str, float]]:
    """(the score from which on an answer is one, what each source's scores need to be added for that)."""
    middles = {}
    for source, some in cases.items():
        gaps = []
        for name in SETS[source]:
            own, foreign = ([best_score(case, weights[source]) for case in some if (case.set, case.label) == (name, label)]
                            for label in ("own", "foreign"))
            gaps.append(min(np.percentile(own, KEPT), (np.percentile(own, KEPT) + np.percentile(foreign, PASSED)) / 2))
        middles[source] = float(np.mean(gaps))
    return middles["talk"], {source: middles["talk"] - middle for source, middle in middles.items()}


def labels(embedder: str, cases: dict[str, list[Case]], weights: dict[str, np.ndarray], enough: float, bases: dict[str, float]) -> None:
    for source, some in cases.items():
        for name in SETS[source]:
            kept, passed = (100 * np.mean([best_score(case, weights[source]) + bases[source] >= enough for case in some
                                           if (case.set, case.label) == (name, label)]) for label in ("own", "foreign"))
            print(f"| {embedder}, {name}, called enough | own {kept:.1f} | foreign {passed:.1f} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", type=Path, help="folder with the MiniLM weights; without them its columns stay as they are")
    parser.add_argument("--signs", type=Path, nargs="+", default=[])
    parser.add_argument("--embedder", action="append", default=[], choices=tuple(START), help="fit only these columns")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quick", action="store_true", help="leave out what is fitted only to be reported")
    given = parser.parse_args()
    raw = [case for path in given.signs for case in pickle.loads(path.read_bytes())] or gather_all(given.folder, given.models, (), given.embedder)
    if given.keep:
        given.keep.write_bytes(pickle.dumps(raw))
    file = json.loads(WEIGHTS.read_text())
    for embedder in [name for name in START if any(case["embedder"] == name for case in raw)]:
        every = [_case(case) for case in raw if case["embedder"] == embedder]
        by_source = {source: [case for case in every if case.set in sets] for source, sets in SETS.items()}
        start = np.array([START[embedder].get(name, 0.0) for name in NAMES])
        weights = {source: report(embedder, source, cases, start, quick=given.quick) for source, cases in by_source.items()}
        for source, names in AS_TALK.items():
            for at in [NAMES.index(name) for name in names]:
                weights[source][at] = weights["talk"][at]
        enough, bases = calibrate(by_source, weights)
        labels(embedder, by_source, weights, enough, bases)
        signs = {name: [round(float(weights[source][at]), 2) for source in rank.SOURCES] for at, name in enumerate(NAMES)}
        signs["base"] = [round(bases[source], 2) for source in rank.SOURCES]
        file[embedder] = {"enough": round(enough, 2), "margin": MARGIN, "unknown": UNKNOWN,
                          "signs": {name: row for name, row in signs.items() if any(row)}}
        print(json.dumps(file[embedder]), flush=True)
        if given.write:
            WEIGHTS.write_text(lay_out(file))
    return 0


def lay_out(file: dict[str, Any]) -> str:
    """A line a sign."""
    parts = []
    for name, of in file.items():
        rows = {sign: of["signs"][sign] for sign in (*NAMES, "base") if sign in of["signs"]}
        signs = ",\n".join(f"   {json.dumps(sign)}: {json.dumps(row)}" for sign, row in rows.items())
        parts.append(f' {json.dumps(name)}: {{"enough": {of["enough"]}, "margin": {of["margin"]}, "unknown": {of["unknown"]}, "signs": {{\n{signs}}}}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    sys.exit(main())
