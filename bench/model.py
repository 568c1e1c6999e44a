"""What the checks on a model's proposals let through, and what a model that answers perfectly would add.

    python -m bench.model                                   the proposals of tests/fixtures/proposals.json
    python -m bench.model --proposals FILE                  others, in the same form: sessions and proposals by kind
    python -m bench.model --perfect SET --scorer SCRIPT     sessions.py on a set, with a scripted program as the model

A perfect model is a program that finds its session by its words and proposes every item of it, in the item's own
words, from the turns that share most with it. So its figure is an upper bound: what the checks let through.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PROPOSALS = Path(__file__).parents[1] / "tests/fixtures/proposals.json"
TURN = re.compile(r"^\[(\d+)\] (\w+): ?(.*?)(?=^\[\d+\] \w+:|\Z)", re.MULTILINE | re.DOTALL)
VERBS = re.compile(r"\b(?:is|are|was|were|has|have|had|must|should|needs?|uses?|does|do|counts?|runs?|gets?|goes|stays?|"
                   r"means?|takes?|keeps?|wants?|prefers?|fails?|failed|works?|can|cannot|will|shows?|writes?|lies?)\b")


def judged(given: Mapping[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """(proposal, why it was refused or "") of each."""
    from otolith.derive.proposals import Cited, Evidence, Refused, judge
    from otolith.model.secrets import redact

    sessions = {name: Evidence([Cited(str(number), role, role, redact(text)[0]) for number, (role, text) in enumerate(turns, 1)],
                               "2026-02-10T09:00:00Z") for name, turns in given["sessions"].items()}
    verdicts = ((row, judge(row, sessions[row["session"]])) for row in given["proposals"])
    return [(row, str(verdict) if isinstance(verdict, Refused) else "") for row, verdict in verdicts]


def report(verdicts: Sequence[tuple[dict[str, Any], str]]) -> str:
    kinds = Counter(row["kind"] for row, _ in verdicts)
    right = Counter(row["kind"] for row, refused in verdicts if bool(refused) != (row["kind"] == "good"))
    wrong = [f"  {row['kind']}: {row['subject']} {row['relation']} {row['object']} ({refused or 'kept'})"
             for row, refused in verdicts if bool(refused) == (row["kind"] == "good")]
    lines = [f"{kind}: {right[kind]} of {count} {'kept' if kind == 'good' else 'refused'}" for kind, count in kinds.items()]
    return "\n".join([*lines, *wrong])


# The model that answers perfectly


def answer(question: str, items: Sequence[Mapping[str, Any]]) -> str:
    """What it prints: every item of the session that the question is about, as a proposal."""
    turns = {int(number): text for number, _, text in TURN.findall(question)}
    best = {item["item"]: _nearest(item["item"], turns) for item in items}
    shares = {name: len(_words(name) & _words(turns.get(turn, ""))) / max(1, len(_words(name))) for name, turn in best.items()}
    sessions = Counter[str]()
    for item in items:
        sessions[item["session"]] += shares[item["item"]]  # type: ignore[assignment]
    sizes = Counter(item["session"] for item in items)
    if not turns or not sessions:
        return json.dumps({"summary": "", "proposals": []})
    own = max(sessions, key=lambda name: sessions[name] / sizes[name])
    return json.dumps({"summary": "", "proposals": [
        {**_sentence(item["item"]), "type": "constraint", "turns": [best[item["item"]]]} for item in items if item["session"] == own]})


def _nearest(item: str, turns: Mapping[int, str]) -> int:
    """The turn that shares most words with an item."""
    words = _words(item)
    return max(turns, key=lambda number: len(words & _words(turns[number])), default=0)


def _words(text: str) -> set[str]:
    return {word[:6] for word in re.findall(r"[^\W_]\w{2,}", text.lower())}


def _sentence(item: str) -> dict[str, str]:
    verb = VERBS.search(item, 1)
    if verb is None:
        return {"subject": "project", "relation": "notes", "object": item.rstrip(".")}
    return {"subject": item[: verb.start()].strip(), "relation": verb[0], "object": item[verb.end() :].strip(" .")}


def perfect(folder: Path, scorer: Path) -> int:
    with tempfile.TemporaryDirectory() as place:
        program = Path(place, "model")
        program.write_text(f"#!/bin/sh\nexec {sys.executable} -m bench.model --answer {folder / 'items.jsonl'}\n")
        program.chmod(0o755)
        config = Path(place, "config/otolith/config.toml")
        config.parent.mkdir(parents=True)
        config.write_text(f'[model]\ncommand = "{program}"\ndaily = 1000\n')
        env = {**os.environ, "XDG_CONFIG_HOME": str(config.parents[1]), "PYTHONPATH": str(Path(__file__).parents[1])}
        return subprocess.run([sys.executable, str(scorer), str(folder), "--missed"], env=env, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--proposals", type=Path, default=PROPOSALS)
    parser.add_argument("--perfect", type=Path, metavar="SET")
    parser.add_argument("--scorer", type=Path)
    parser.add_argument("--answer", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.answer:
        items = [json.loads(line) for line in args.answer.read_text("utf-8").splitlines() if line.strip()]
        print(answer(sys.stdin.read(), items))
    elif args.perfect:
        return perfect(args.perfect.absolute(), (args.scorer or args.perfect.parent / "sessions.py").absolute())
    else:
        print(report(judged(json.loads(args.proposals.read_text("utf-8")))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
