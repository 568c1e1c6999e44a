"""Does the memory know what holds now? Stories in which something changes, or only seems to.

    python -m bench.change                 the project's own cases; with OTOLITH_BENCH also the shared ones
    python -m bench.change --write         the same, and bench/CHANGE.md
    python -m bench.change --show          what is wrong, with the facts

A case is some turns said on different days, and patterns of what must be current (`now`), must not be (`old`) and must
not be closed (`keep`). With `old` it must change, without it must stay: read the two side by side, never their sum, for
a memory that closes nothing gets the second for free. `right`: all of that; `facts`: what must be current is a current
fact; `stale`: an old value is still stated as current; `closed`: something was closed that holds.
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
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from otolith.memory import Memory

HERE = Path(__file__).resolve().parent
CASES = HERE.parent / "tests" / "fixtures" / "changes.txt"
DENIED = re.compile(r"\b(?:no longer|not|never|stopped|quit|until|replaced|dropped)\b", re.I)  # before an old value
COLUMNS = ("cases", "right", "facts", "stale", "closed")


class Case(NamedTuple):
    """One story."""

    kind: str
    days: tuple[tuple[tuple[str, str], ...], ...]  # (speaker, words) of each turn, day by day
    now: tuple[str, ...] = ()
    old: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()


def read_cases(text: str) -> Iterator[Case]:
    """The cases of a file: `kind | said | said … | now: … | old: … | keep: …; … | ask: …` on each line.

    Each is said on a day of its own; `+` joins turns of one day: `@assistant Which city? +@user Lille`.
    """
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        kind, *parts = line.split(" | ")
        days: list[tuple[tuple[str, str], ...]] = []
        patterns: dict[str, tuple[str, ...]] = {}
        for part in parts:
            name, _, rest = part.partition(": ")
            if name in ("now", "old", "keep"):
                patterns[name] = tuple(rest.split("; "))
            elif name != "ask":
                turns = (turn[1:].partition(" ") if turn.startswith("@") else ("user", "", turn)
                         for turn in part.split(" +"))
                days.append(tuple((speaker, words) for speaker, _, words in turns))
        yield Case(kind.strip(), tuple(days), **patterns)


def live(mem: Memory, case: Case) -> tuple[list[str], list[str]]:
    """(current facts, closed facts) after these turns."""
    for month, turns in enumerate(case.days, 1):
        when = f"2026-{month:02}-05T10:00:00Z"
        mem.log([{"role": speaker, "content": words, "timestamp": when} for speaker, words in turns], created=when)
    facts = mem.facts()
    return ([fact.title for fact in facts if not fact.superseded_by], [fact.title for fact in facts if fact.superseded_by])


def judge(case: Case, current: Iterable[str], closed: Iterable[str]) -> dict[str, bool]:
    """What became of a case."""
    current, closed = list(current), list(closed)
    stated = "\n".join(current)
    stale = any((old := re.search(pattern, title, re.I)) and not DENIED.search(title[: old.start()])
                and not any(re.search(now, title, re.I) for now in case.now)
                for title in current for pattern in case.old)
    facts = all(re.search(pattern, stated, re.I) for pattern in case.now)
    over = any(re.search(pattern, title, re.I) for pattern in case.keep if not re.search(pattern, stated, re.I)
               for title in closed)
    return {"cases": True, "right": facts and not stale and not over, "facts": facts, "stale": stale, "closed": over}


def run(cases: Iterable[Case], show: bool) -> dict[str, Counter[str]]:
    rows: dict[str, Counter[str]] = {}
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["XDG_CACHE_HOME"] = os.environ["XDG_CONFIG_HOME"] = folder
            with Memory(Path(folder) / "home") as mem:
                current, closed = live(mem, case)
        result = judge(case, current, closed)
        must = "all that must change" if case.old else "all that must stay"
        for row in (case.kind, must):
            rows.setdefault(row, Counter()).update(name for name, value in result.items() if value)
        if show and not result["right"]:
            print(case.kind, [words for turns in case.days for _, words in turns], current, closed, sep="\n    ")
    return dict(sorted(rows.items(), key=lambda row: row[0].startswith("all")))


def table(rows: dict[str, Any]) -> str:
    lines = ["| kind | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    return "\n".join([*lines, *(f"| {kind} | " + " | ".join(str(row[name]) for name in COLUMNS) + " |"
                                  for kind, row in rows.items())])


def shared() -> str:
    """What the shared scorer prints, where OTOLITH_BENCH names its folder."""
    folder = Path(os.environ.get("OTOLITH_BENCH", ""))
    if not (folder / "change.py").is_file():
        return ""
    scored = subprocess.run([sys.executable, str(folder / "change.py"), str(folder / "change.jsonl"), "--json"],
                            capture_output=True, text=True, check=False)
    rows = json.loads(scored.stdout)["rows"] if scored.returncode == 0 else {}
    columns = ("cases", "right", "facts", "stale", "closed", "undrawn", "order", "brief")
    lines = ["| kind | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    return "\n".join([*lines, *(f"| {kind} | " + " | ".join(str(row[name]) for name in columns) + " |"
                                  for kind, row in rows.items())])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    own = table(run(read_cases(CASES.read_text(encoding="utf-8")), args.show))
    page = f"# What holds now\n\n`make bench-change` runs this. The project's own cases (tests/fixtures/changes.txt):\n\n{own}\n"
    if others := shared():
        page += f"\nThe shared stories (half of them; the other half is kept back):\n\n{others}\n"
    print(page)
    if args.write:
        (HERE / "CHANGE.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
