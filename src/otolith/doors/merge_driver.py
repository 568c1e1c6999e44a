"""What git calls to merge a file of a home: `python -m otolith.doors.merge_driver %O %A %B %P`.

`otolith init --git` names it in .git/config. The result goes into %A; the exit code 1 tells git that somebody
has to decide. A version that git does not have is an empty file.
"""

from __future__ import annotations

import sys
from pathlib import Path

from otolith.files.threeway import merge

FIRST = ("chunks", "allmemories", "topics", "work", "graph", "vault", "episodes", "memories", "archive")


def within_home(path: str) -> str:
    """The path below the home, which may lie in a folder of the repository."""
    parts = path.split("/")
    start = next((at for at, part in enumerate(parts) if part in FIRST), len(parts) - 1)
    return "/".join(parts[start:])


def main(words: list[str]) -> int:
    try:
        base, ours, theirs, path = words
        before = Path(base).read_bytes()
        merged = merge(within_home(path), before or None, Path(ours).read_bytes(), Path(theirs).read_bytes())
        Path(ours).write_bytes(merged.data)
    except (OSError, ValueError) as error:
        print(f"otolith: {words[-1] if words else ''} could not be merged: {error}", file=sys.stderr)
        return 2
    return 1 if merged.disputed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
