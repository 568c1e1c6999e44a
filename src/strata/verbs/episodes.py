"""`episode`: a line in the diary, by hand."""

from __future__ import annotations

from collections.abc import Sequence

from strata.errors import Invalid
from strata.files import ledger
from strata.home import Home
from strata.model.shape import read_strings


def episode(home: Home, heading: str, *, type: str = "diary", tags: Sequence[str] = (), summary: str = "",
            memory: str | None = None) -> str:
    """Append a block to today's file and let the index know."""
    if not heading.strip():
        raise Invalid("an episode needs a title")
    path = ledger.append_episode(home.tree, home.clock(), heading, kind=type, tags=read_strings(tags, "tags"),
                                 summary=summary or heading, memory=memory)
    home.refresh([path])
    return path
