"""`python -m tests.torture [PART[:ROW] …] [--sample] [--seed N] [--jobs N] [--minutes N] [--only TRIAL]`: the table, and what failed."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

from tests.torture.harness import MOST_TOLD, PARTS, Outcome, Size, run_part, table


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART[:ROW]", help=f"{', '.join(PARTS)}; a row is what its trials begin with: cuts:xfs")
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--sample", action="store_true", help="a few of each, as in make test")
    sizes.add_argument("--full", action="store_true", help="all of it (the default)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no trial of a part begins later; the table counts what was tried")
    parser.add_argument("--only", default="", metavar="TRIAL", help="one trial, as a failure names it")
    given = parser.parse_args()
    if unknown := {part.partition(":")[0] for part in given.parts} - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    size, rows = Size(not given.sample, given.seed, given.minutes * 60), dict[str, Outcome]()
    begun = time.monotonic()
    for part in given.parts or PARTS:
        part, _, row = part.partition(":")
        rows |= run_part(part, size, given.jobs, given.only, row)
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False).stdout.strip()
    print(f"commit {commit or 'unknown'}, seed {given.seed}, {'sample' if given.sample else 'full'}, "
          f"{time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC, {time.monotonic() - begun:.0f} s\n")
    print(table(rows))
    for outcome in rows.values():
        for failure in outcome.failures[:MOST_TOLD]:
            print(f"\n  FAILED {failure}")
        if len(outcome.failures) > MOST_TOLD:
            print(f"\n  … and {len(outcome.failures) - MOST_TOLD} more")
    return 1 if any(outcome.failures for outcome in rows.values()) else 0


sys.exit(main())
