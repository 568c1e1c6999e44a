"""What the views share: rows as lists show them, lines of a log, answers kept while nothing changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from otolith.errors import Damaged, Invalid, NotFound
from otolith.files import ledger
from otolith.model.times import zulu
from otolith.verbs import records

if TYPE_CHECKING:
    from otolith.index.database import Row
    from otolith.memory import Memory

# (home, view) → (state, view), shared by the keepers of a home
_kept: dict[tuple[str, str], tuple[Any, Any]] = {}


def as_json(value: Any) -> Any:
    """A report as JSON values."""
    return json.loads(json.dumps(value.to_dict() if hasattr(value, "to_dict") else value, default=str))


def remembered(mem: Memory, name: str, build: Callable[[], Any], arguments: Any = None) -> Any:
    """A view as it was last built, if the home, the hour and the arguments are the same."""
    state = (mem.home.index.cards.progress(), int(mem.home.clock() // 3600), arguments)
    place = (mem.home.tree.name, name)
    kept = _kept.get(place)
    if kept is None or kept[0] != state:
        kept = _kept[place] = (state, build())
    return kept[1]


def bounded(value: int, low: int, high: int, name: str = "limit") -> int:
    if not low <= value <= high:
        raise Invalid(f"{name} must be from {low} to {high}; got {value}")
    return value


def listed(mem: Memory, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows of a list, each with when it last changed, the opening of its text and how it went."""
    tags = mem.home.index.cards.tags_of([row.n for row in rows])
    texts = mem.home.index.around.texts([row.n for row in rows])
    return [{**records.describe(row, tags.get(row.n, [])), "topic": row.topic, "trust": row.trust,
             "changed": zulu(max(row.updated or 0, row.created)), "opening": " ".join(text.split())[:220],
             "edited": bool(row.updated and row.updated > row.created + 1),
             "success": None if row.success is None else bool(row.success)}
            for row, text in zip(rows, texts, strict=True)]


def titles(mem: Memory, ids: Iterable[str]) -> dict[str, dict[str, str]]:
    """id → title and kind, of those that are there."""
    return {id: {"title": row.title or id, "kind": row.kind}
            for id, row in mem.home.index.cards.rows_of(dict.fromkeys(ids)).items()}


def log_lines(mem: Memory, path: str, needles: Sequence[bytes] = (b"",),
              tail: int | None = None) -> list[dict[str, Any]]:
    """The lines of a log, or of its last bytes, that hold a needle; what is no JSON object is passed over."""
    measure = mem.home.tree.measure(path) if tail else None
    try:
        data, _ = mem.home.tree.read(path, max(0, measure.size - (tail or 0)) if measure else 0)
    except (NotFound, Damaged):
        return []
    lines = [line for line in data.split(b"\n") if any(needle in line for needle in needles)]
    return [value for _, value in ledger.read_lines(b"\n".join(lines)) if value]
