"""Fit the gate of `recall/unasked.py`: python -m bench.unasked FOLDER

FOLDER has records.jsonl and prompts.jsonl as OTOLITH_BENCH/delivery has them. Prints the weights fitted on all
prompts, and for a row of thresholds what each project's prompts get by weights fitted on the other projects:
the share of wanted records that are told, of told records that are wanted, and of prompts without a wanted
record at which nothing is told.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from otolith import Memory
from otolith.model.recall import Filter
from otolith.recall.search import find
from otolith.recall.unasked import LOOKED_AT, WEIGHTS, _answer, signs, worth_asking

FIRST = {"note": "title", "memo": "name", "remember": "text", "log": "dialog"}
MOST, DAMPING, ROUNDS = 3, 2.0, 4000


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def gather(mem: Memory, prompts: list[dict[str, Any]], marks: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Every candidate of every prompt: its signs and whether it is wanted; what is neither is left out."""
    found = []
    for prompt in prompts:
        asked = worth_asking(prompt["prompt"], (prompt.get("before") or [""])[-1])
        if not asked:
            continue
        candidates = find(mem.home, asked, Filter(unasked=(prompt["project"], "")), LOOKED_AT, mem.providers)
        fit = [one for one in candidates.best[:LOOKED_AT] if not (one.superseded_by or one.passage.sunk or one.echo)]
        likes = sorted((one.likeness for one in fit), reverse=True)
        for one in fit:
            told = _answer(mem.home, one.passage, candidates) if one.passage.asks else one.passage
            text = " ".join(f"{told.title} {told.text}".split()).casefold() if told else ""
            held = {handle for handle, signs_of in marks.items() if any(mark in text for mark in signs_of)}
            if told and (held & set(prompt["want"]) or not held & set(prompt.get("ok", ()))):
                found.append({"prompt": prompt["id"], "project": prompt["project"], "held": held & set(prompt["want"]),
                              "signs": signs(one, candidates, likes)})
    return found


def fit(table: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Weights of a damped logistic regression, the constant last."""
    middle, width = table.mean(0), table.std(0) + 1e-9
    columns = np.c_[(table - middle) / width, np.ones(len(table))]
    weights = np.zeros(columns.shape[1])
    for _ in range(ROUNDS):
        slope = columns.T @ (1 / (1 + np.exp(-np.clip(columns @ weights, -30, 30))) - wanted) / len(wanted)
        slope[:-1] += DAMPING * weights[:-1] / len(wanted)
        weights -= slope
    return np.r_[weights[:-1] / width, weights[-1] - (weights[:-1] * middle / width).sum()]


def judge(found: list[dict[str, Any]], sure: np.ndarray, prompts: list[dict[str, Any]], least: float) -> str:
    told: dict[str, list[tuple[float, set[str]]]] = {}
    for one, score in zip(found, sure, strict=True):
        if score >= least:
            told.setdefault(one["prompt"], []).append((score, one["held"]))
    best = {name: sorted(some, key=lambda pair: -pair[0])[:MOST] for name, some in told.items()}
    got = sum(len(set().union(*(held for _, held in best.get(prompt["id"], ())))) for prompt in prompts)
    pieces = [bool(held) for some in best.values() for _, held in some]
    idle = [prompt for prompt in prompts if not prompt["want"]]
    return (f"{least:6.2f}  {got / sum(len(prompt['want']) for prompt in prompts):.2f}  "
            f"{sum(pieces) / max(1, len(pieces)):.2f}  {sum(prompt['id'] not in best for prompt in idle) / len(idle):.2f}")


def main(folder: Path) -> None:
    records, prompts = rows(folder / "records.jsonl"), rows(folder / "prompts.jsonl")
    marks = {record["h"]: [" ".join(mark.split()).casefold() for mark in (record["mark"], *record.get("also", ()))]
             for record in records}
    with tempfile.TemporaryDirectory() as name:
        os.environ |= {"XDG_CACHE_HOME": f"{name}/cache", "XDG_CONFIG_HOME": f"{name}/config"}
        with Memory(Path(name) / "home") as mem:
            for record in sorted(records, key=lambda record: record["at"]):
                given = dict(record["args"])
                alone = [given.pop(FIRST[record["verb"]])] if record["verb"] in FIRST else []
                getattr(mem, record["verb"])(*alone, **given, project=record["project"] or "default",
                                             created=record["at"], session="earlier")
            mem.recall("anything")
            found = gather(mem, prompts, marks)
    table = np.array([[one["signs"][name] for name in WEIGHTS] for one in found])
    wanted = np.array([bool(one["held"]) for one in found], float)
    projects = np.array([one["project"] for one in found])
    weights, sure = fit(table, wanted), np.zeros(len(found))
    print({name: round(float(weight), 2) for name, weight in zip((*WEIGHTS, "constant"), weights, strict=True)})
    for project in sorted(set(projects)):
        others = fit(table[projects != project], wanted[projects != project])
        sure[projects == project] = table[projects == project] @ others[:-1] + others[-1]
    print("least    told  wanted  silent, each project by the others")
    for least in np.arange(-1.5, 0.8, 0.25):
        print(judge(found, sure, prompts, float(least)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
