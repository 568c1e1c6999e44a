"""The package's public names are one list, and it is this one."""

from __future__ import annotations

import otolith

NAMES = ["Chunk", "ChunkStore", "ChunkingEngine", "GlobalMemoryBuilder", "Memory", "OtolithError", "TopicMemoryBuilder",
         "WritePipeline", "open"]


def test_the_public_names_are_these() -> None:
    assert sorted(otolith.__all__) == NAMES


def test_every_public_name_can_be_had() -> None:
    assert all(getattr(otolith, name) is not None for name in otolith.__all__)


def test_what_is_not_public_is_not_there() -> None:
    assert not hasattr(otolith, "Home")
