"""Cold storage: old work that hardly anyone asked for is gzipped into work/cold/, stays in the index, and comes back.

One rule decides both ways, so a plan made twice is the same plan, and after it is carried out there is none. What a
person pinned stays warm. A file is never in neither place: the new one is safe before the old one goes, and a crash in
between is mended by the next round. A cold file keeps its month, its name and, unpacked, its bytes.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from typing import Any, NamedTuple

from strata.errors import Conflict, Invalid
from strata.files import codec
from strata.home import Home

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


def plan_moves(works: Iterable[Shelved], now: float, *, days: float = DAYS, uses: int = FEW_USES) -> list[Move]:
    """The moves that would be made, oldest work first."""
    if days < 0 or uses < 0:
        raise Invalid("days and uses must be 0 or more")
    found = []
    for work in works:
        asleep = now - max(work.created, work.last_used or 0.0)
        cold = asleep >= days * _DAY and work.uses <= uses and not work.pinned
        if cold != is_cold(work.path):
            target = cold_path(work.path) if cold else warm_path(work.path)
            why = "pinned" if work.pinned else f"asleep for {max(0, int(asleep // _DAY))} days, used {work.uses} times"
            found.append((work.created, Move(work.id, work.path, target, why)))
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


def plan(home: Home, *, days: float = DAYS, uses: int = FEW_USES) -> list[Move]:
    """What a round would move, from the index and the usage ledger; only old and cold works are looked at."""
    home.fold_usage()
    before = home.clock() - max(days, 0) * _DAY
    rows = home.db.execute(
        "SELECT r.id, r.unit, r.created, r.uses + coalesce(u.count, 0), max(coalesce(r.used, 0), coalesce(u.last, 0)), "
        "r.pinned OR EXISTS (SELECT 1 FROM links l WHERE l.a = r.id AND l.word = 'pinned') "
        "FROM records r LEFT JOIN usage u ON u.id = r.id "
        "WHERE r.kind = 'work' AND (r.created <= ? OR (r.unit >= 'work/cold/' AND r.unit < 'work/cold0'))", (before,))
    return plan_moves((Shelved(*row) for row in rows), home.clock(), days=days, uses=uses)


def store_cold(home: Home, *, days: float = DAYS, uses: int = FEW_USES, apply: bool = False) -> list[Move]:
    """The moves that are due; only `apply` carries them out."""
    moves = plan(home, days=days, uses=uses)
    if apply:
        for move in moves:
            _carry_out(home, move)
    return moves


def _carry_out(home: Home, move: Move) -> None:
    with home.tree.lock():
        data, _ = home.tree.read(move.source)
        work = codec.read_unit(home.tree, move.source)[0][0]
        new = gzip.compress(data, mtime=0) if is_cold(move.target) else gzip.decompress(data)
        try:
            home.tree.write(move.target, new)
        except Conflict:
            if home.tree.read(move.target)[0] != new:
                raise
        home.tree.remove(move.source)
        home.refresh([move.source, move.target])
        home.audit("cooled" if is_cold(move.target) else "warmed", work, "")


def rung(home: Home, _providers: Any = None) -> list[str]:
    """Upkeep's step; `cold_after_days = 0` in the home's strata.toml under [work] turns it off."""
    from strata.verbs.offering import trim_shown

    trim_shown(home)
    settings = home.config.settings.get("work", {})
    days = settings.get("cold_after_days", DAYS) if isinstance(settings, dict) else DAYS
    if not isinstance(days, int | float) or isinstance(days, bool) or days <= 0:
        return []
    return [f"{move.source} → {move.target}: {move.why}" for move in store_cold(home, days=days, apply=True)]
