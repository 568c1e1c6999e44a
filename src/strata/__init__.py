"""Strata: one local-first memory for AI agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strata.derive.chunking import ChunkingEngine
    from strata.doors.originals import ChunkStore, GlobalMemoryBuilder, TopicMemoryBuilder, WritePipeline
    from strata.errors import StrataError
    from strata.memory import Memory, open
    from strata.model.chunk import Chunk

__version__ = "0.1.0"

# Public names and where they live; loaded when first asked for, so that a plain command starts fast.
_HOMES = {
    "Memory": "strata.memory", "open": "strata.memory", "StrataError": "strata.errors", "Chunk": "strata.model.chunk",
    "ChunkStore": "strata.doors.originals", "ChunkingEngine": "strata.derive.chunking",
    "WritePipeline": "strata.doors.originals", "TopicMemoryBuilder": "strata.doors.originals",
    "GlobalMemoryBuilder": "strata.doors.originals",
}
__all__ = ["Chunk", "ChunkStore", "ChunkingEngine", "GlobalMemoryBuilder", "Memory", "StrataError", "TopicMemoryBuilder",
           "WritePipeline", "open"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"strata has no {name!r}")
