"""What each verb does, one module a family; a family is loaded when it is first named, so that a command
starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from otolith.verbs import (  # isort: skip
        about, brief, capture, carrying, chapters, chunks, claims, deeds, dialogs, edges, editing, exports,
        git, history, homes, links, memos, merging, models, notes, offering, purge, reasoning, receipts,
        records, reports, running, scribe, session, steps, takeback, taking, tending, topics, trust, undo,
        versions, work)

__all__ = ["about", "brief", "capture", "carrying", "chapters", "chunks", "claims", "deeds", "dialogs",
           "edges", "editing", "exports", "git", "history", "homes", "links", "memos", "merging", "models",
           "notes", "offering", "purge", "reasoning", "receipts", "records", "reports", "running", "scribe",
           "session", "steps", "takeback", "taking", "tending", "topics", "trust", "undo", "versions", "work"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"otolith.verbs.{name}")
    raise AttributeError(f"otolith.verbs has no {name!r}")
