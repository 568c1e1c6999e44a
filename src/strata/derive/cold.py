"""Which works may go to cold storage: the old ones that hardly anyone asked for.

Only a plan is made here, the same for a dry run and for the real one; files are moved elsewhere. What a person pinned
stays warm. A cold file keeps its month and its name, so that the way back is plain.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from strata.errors import Invalid

DAYS = 180
FEW_USES = 1
_DAY = 86_400.0


class Shelved(NamedTuple):
    """A work as far as the plan must know it."""

    id: str
    path: str
    created: float
    uses: int = 0
    last_used: float | None = None
    pinned: bool = False


class Move(NamedTuple):
    """One file that goes, where to, and why."""

    id: str
    source: str
    target: str
    why: str


def plan_cold(works: Iterable[Shelved], now: float, *, days: float = DAYS, uses: int = FEW_USES) -> list[Move]:
    """The moves that would be made, oldest first; asking again after making them gives none."""
    if days < 0 or uses < 0:
        raise Invalid("days and uses must be 0 or more")
    before = now - days * _DAY
    found = []
    for work in works:
        asleep_since = max(work.created, work.last_used or 0.0)
        if is_cold(work.path) or work.pinned or asleep_since > before or work.uses > uses:
            continue
        why = f"asleep for {int((now - asleep_since) // _DAY)} days, used {work.uses} times"
        found.append((work.created, Move(work.id, work.path, cold_path(work.path), why)))
    return [move for _, move in sorted(found)]


def is_cold(path: str) -> bool:
    """Whether the file lies in cold storage."""
    return path.startswith("work/cold/")


def cold_path(path: str) -> str:
    """work/2025-06/mem_x.json → work/cold/2025-06/mem_x.json.gz"""
    parts = path.split("/")
    if len(parts) != 3 or parts[0] != "work" or parts[1] == "cold":
        raise Invalid(f"{path!r} is not the path of a work")
    return f"work/cold/{parts[1]}/{parts[2]}.gz"


def warm_path(path: str) -> str:
    """work/cold/2025-06/mem_x.json.gz → work/2025-06/mem_x.json"""
    parts = path.split("/")
    if len(parts) != 4 or not is_cold(path) or not parts[3].endswith(".gz"):
        raise Invalid(f"{path!r} is not the path of a cold work")
    return f"work/{parts[2]}/{parts[3].removesuffix('.gz')}"
