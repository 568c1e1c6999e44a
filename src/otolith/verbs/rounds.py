"""Rounds of upkeep: when one is due, that one runs at a time, and what each of them did.

A round leaves a line in log/upkeep.jsonl: when, whether anybody asked for it, how long it took, what it
changed, proposed and failed at, and how long the audit log was, by which the writes since then are counted.
The lock lies in the cache folder and ends with its process; its time is when a round was last begun unasked.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from otolith import config
from otolith.errors import Busy, CannotWrite, NotFound
from otolith.files import ledger, paths
from otolith.files.tree import Tree
from otolith.home import Home
from otolith.model.times import time_or_none, zulu

LOG = "log/upkeep.jsonl"
DAY, HOUR = 86_400.0, 3_600.0
WRITES = 50  # after so many a round is due before its day
TAIL_BYTES = 1 << 16


def is_due(tree: Tree, now: float) -> bool:
    """Whether a day has passed since the last round, or many writes; never within an hour of it."""
    last = last_round(tree)
    if last is None:  # a home that nobody ever tended counts from its birth
        born = tree.measure(config.TRACKED)
        return born is not None and (now - born.written >= DAY or writes_since(tree, 0) >= WRITES)
    since = now - (time_or_none(last.get("t")) or 0.0)
    audit = last.get("audit")
    return since >= DAY or (since >= HOUR and isinstance(audit, int) and writes_since(tree, audit) >= WRITES)


def last_round(tree: Tree) -> Mapping[str, Any] | None:
    """What the last round left in the log."""
    measure = tree.measure(LOG)
    if measure is None:
        return None
    lines = [line for _, line in ledger.read_lines(tree.read(LOG, max(0, measure.size - TAIL_BYTES))[0])
             if line and line.get("t")]
    return lines[-1] if lines else None


def writes_since(tree: Tree, start: int) -> int:
    """The lines of the audit log from a byte on; none if a purge made it shorter."""
    try:
        return tree.read(paths.AUDIT, start)[0].count(b"\n")
    except NotFound:
        return 0


def note_round(home: Home, began: float, *, unasked: bool, changed: Mapping[str, Sequence[str]],
               proposed: int, failed: Mapping[str, str]) -> None:
    """One line of what a round did; a log that cannot be written fails nothing."""
    audit = home.tree.measure(paths.AUDIT)
    line = {"t": zulu(home.clock()), "unasked": unasked, "seconds": round(home.clock() - began, 1),
            "changed": {rung: len(lines) for rung, lines in changed.items()}, "proposed": proposed,
            "failed": dict(failed), "audit": audit.size if audit else 0}
    try:
        ledger.append_line(home.tree, LOG, line)
    except (CannotWrite, Busy) as error:
        home.notices.append(str(error))


def lock_path(home: str) -> Path:
    return config.home_cache(home) / "upkeep.lock"


@contextmanager
def alone(home: Home) -> Iterator[bool]:
    """Whether no other round runs, on another machine either, for as long as this one does."""
    with _alone_here(home) as free, home.tree.turn() if free else nullcontext(False) as ours:
        yield ours


@contextmanager
def _alone_here(home: Home) -> Iterator[bool]:
    path = lock_path(home.tree.name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:  # no cache to lie in: rounds are safe side by side, only slower
        yield True
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        free = True
    except OSError:
        free = False
    try:
        yield free
    finally:
        os.close(lock)
