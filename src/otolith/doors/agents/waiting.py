"""The process that keeps what hooks handed over: `python -m otolith.doors.agents.waiting HOME`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from otolith.doors.agents import hooks
from otolith.doors.agents.handing import keeping, waiting


def work(home: str) -> None:
    """Keep what is waiting, until nothing is; another process that does so already is left to it."""
    while waiting(home):
        with keeping(home, 0.0) as alone:
            if not alone:
                return
            for place in waiting(home):
                _keep(home, place)


def _keep(home: str, place: Path) -> None:
    before = place.read_bytes()
    try:
        written = json.loads(before)
        event, given = str(written["event"]), json.dumps(written["given"])
    except (ValueError, KeyError, TypeError):
        place.unlink()  # nothing that a hook wrote
        return
    hooks.run(event, given.encode(), home, waits=False)
    if place.read_bytes() == before:  # else there is more to keep, and the next round does
        place.unlink()


if __name__ == "__main__":
    work(sys.argv[1])
