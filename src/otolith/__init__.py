"""Otolith: one local-first memory for AI agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from otolith.derive.chunking import ChunkingEngine
    from otolith.doors.originals import ChunkStore, GlobalMemoryBuilder, TopicMemoryBuilder, WritePipeline
    from otolith.errors import OtolithError
    from otolith.memory import Memory, open
    from otolith.model.chunk import Chunk

__version__ = "0.2.0"

# Public names and where they live; loaded when first asked for, so that a plain command starts fast.
_HOMES = {
    "Memory": "otolith.memory", "open": "otolith.memory", "OtolithError": "otolith.errors",
    "Chunk": "otolith.model.chunk",
    "ChunkStore": "otolith.doors.originals", "ChunkingEngine": "otolith.derive.chunking",
    "WritePipeline": "otolith.doors.originals", "TopicMemoryBuilder": "otolith.doors.originals",
    "GlobalMemoryBuilder": "otolith.doors.originals",
}
__all__ = ["Chunk", "ChunkStore", "ChunkingEngine", "GlobalMemoryBuilder", "Memory", "OtolithError",
           "TopicMemoryBuilder", "WritePipeline", "open"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"otolith has no {name!r}")
