"""What has not moved to `index.words`, `index.around` and `index.graph` yet still calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from otolith.index.around import Around
from otolith.index.database import Bare
from otolith.index.graph import Graph


def texts(db: Any, numbers: Sequence[int]) -> list[str]:
    return Around(Bare(db)).texts(numbers)


def replacements(db: Any, ids: Iterable[str], as_of: float | None = None) -> dict[str, str]:
    return Graph(Bare(db)).replacements(ids, as_of)
