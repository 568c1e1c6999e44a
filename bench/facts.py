"""Measure the facts that rules find in real dialog: how much they cover, and how many are right.

    python bench/facts.py                       coverage of the data's own observations
    python bench/facts.py --sample 200 --seed 2 facts drawn at random, each beside its turn, to be judged by a reader
    python bench/facts.py --misses 40 --seed 1  observations that no fact covers, with their turns
    python bench/facts.py --ids 200 --seed 2    the drawn facts' ids only, as FACTS.md records them

The data is LoCoMo (CC BY-NC 4.0), found by OTOLITH_BENCH or beside the project; none of it is kept here. An observation
is covered when a fact that cites its turn has its subject and shares a content word with it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from otolith.derive.english import ENGLISH
from otolith.derive.facts import extract
from otolith.model.dialog import Fact, Turn


class Found(NamedTuple):
    """A fact, the turn it cites, and an id that says where it stands: sample/dia_id/number in its turn."""

    id: str
    fact: Fact
    said: str


def data() -> list[dict[str, Any]]:
    folder = Path(os.environ.get("OTOLITH_BENCH", Path(__file__).resolve().parents[2] / "shared" / "bench"))
    loaded: list[dict[str, Any]] = json.loads((folder / "locomo-dev.json").read_text(encoding="utf-8"))
    return loaded


def stamp(text: str) -> str:
    """`1:56 pm on 8 May, 2023` as the rules take it."""
    return datetime.strptime(text.upper(), "%I:%M %p ON %d %B, %Y").strftime("%Y-%m-%dT%H:%M:%SZ")


def sessions(sample: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]], str]]:
    talk = sample["conversation"]
    for key, turns in talk.items():
        if isinstance(turns, list):
            yield key, turns, stamp(talk[f"{key}_date_time"])


def find(samples: list[dict[str, Any]]) -> dict[str, list[Found]]:
    """Every fact of every session, by the sample and turn it cites."""
    found: dict[str, list[Found]] = {}
    for sample in samples:
        for _, said, ts in sessions(sample):
            turns = [Turn(number, turn["speaker"], "other", turn["text"]) for number, turn in enumerate(said)]
            for fact in extract(turns, entry_ts=ts):
                turn = said[fact.turn or 0]
                place = f"{sample['sample_id']}/{turn['dia_id']}"
                kept = found.setdefault(place, [])
                kept.append(Found(f"{place}/{len(kept) + 1}", fact, f"[{ts[:10]}] {turn['speaker']}: {turn['text']}"))
    return found


def stem(word: str) -> str:
    """A light stem, the same on both sides: enough that `painting` meets `painted`."""
    bare = re.sub(r"'s?$", "", word.casefold())
    for ending in ("ing", "ied", "ies", "ed", "es", "s", "e", "y", "ly"):
        if bare.endswith(ending) and len(bare) - len(ending) >= 3:
            bare = bare[:-len(ending)]
            break
    return bare[:-1] if len(bare) > 3 and bare[-1] == bare[-2] else bare


def contents(text: str, name: str) -> set[str]:
    named = {part.casefold() for part in name.split()} | {f"{part.casefold()}'s" for part in name.split()}
    return {stem(word) for word in ENGLISH.content_words(text) if word not in named}


def observations(sample: dict[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    for by_speaker in sample["observation"].values():
        for subject, noted in by_speaker.items():
            for text, where in noted:
                ids = [where] if isinstance(where, str) else list(where)
                yield subject, text, [one for joined in ids for one in re.findall(r"D\d+:\d+", joined)]


def covers(found: Found, subject: str, text: str, strict: bool = True) -> bool:
    """The fact is about the person the observation is filed under; not strict: or about whom its text names first."""
    fact = found.fact
    about = fact.subject.casefold() == subject.casefold() or (
        not strict and text.casefold().startswith(fact.subject.casefold()))
    return about and bool(contents(f"{fact.relation} {fact.object}", subject) & contents(text, subject))


def coverage(samples: list[dict[str, Any]], found: dict[str, list[Found]]) -> tuple[Counter[str], list[tuple[str, str, str]]]:
    counts: Counter[str] = Counter()
    misses = []
    for sample in samples:
        said = {turn["dia_id"]: f"{turn['speaker']}: {turn['text']}" for _, turns, _ in sessions(sample) for turn in turns}
        for subject, text, ids in observations(sample):
            name = sample["sample_id"]
            cited = [one for dia_id in ids for one in found.get(f"{name}/{dia_id}", ())]
            covered = any(covers(one, subject, text) for one in cited)
            counts[f"{name} all"] += 1
            counts[f"{name} covered"] += covered
            counts["loosely"] += any(covers(one, subject, text, strict=False) for one in cited)
            if not covered:
                misses.append((subject, text, " // ".join(said.get(dia_id, "?") for dia_id in ids)))
    return counts, misses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--misses", type=int, default=0)
    parser.add_argument("--ids", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    samples = data()
    start = time.perf_counter()
    found = find(samples)
    took = time.perf_counter() - start
    every = [one for place in sorted(found) for one in found[place]]
    drawn = random.Random(options.seed)
    if options.sample or options.ids:
        for one in drawn.sample(every, min(options.sample or options.ids, len(every))):
            fact = one.fact
            if options.ids:
                print(one.id)
                continue
            print(f"{one.id}\n  FACT  {fact.subject} | {fact.relation} | {fact.object}   "
                  f"({fact.type}, {fact.time_span}, {fact.date or '-'}, {fact.confidence})\n  TURN  {one.said}\n")
        return
    counts, misses = coverage(samples, found)
    if options.misses:
        for subject, text, said in drawn.sample(misses, min(options.misses, len(misses))):
            print(f"{subject} | {text}\n    {said}\n")
        return
    for sample in samples:
        name = sample["sample_id"]
        print(f"{name}  {counts[f'{name} covered']:4d} of {counts[f'{name} all']:4d}  "
              f"{counts[f'{name} covered'] / counts[f'{name} all']:.1%}")
    covered, noted = (sum(count for key, count in counts.items() if key.endswith(end)) for end in (" covered", " all"))
    turns = sum(len(said) for sample in samples for _, said, _ in sessions(sample))
    print(f"all      {covered:4d} of {noted:4d}  {covered / noted:.1%}   {len(every)} facts from {turns} turns in {took:.2f} s")
    print(f"also counting facts about the one an observation's text names first: {counts['loosely'] / noted:.1%}")
    print("types   ", dict(Counter(one.fact.type for one in every).most_common()))
    print("spans   ", dict(Counter(one.fact.time_span for one in every).most_common()))


if __name__ == "__main__":
    main()
