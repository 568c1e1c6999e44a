"""The package's public names are one list, and it is this one."""

from __future__ import annotations

import strata

NAMES = ["Chunk", "ChunkStore", "ChunkingEngine", "GlobalMemoryBuilder", "Memory", "StrataError", "TopicMemoryBuilder",
         "WritePipeline", "open"]


def test_the_public_names_are_these() -> None:
    assert sorted(strata.__all__) == NAMES


def test_every_public_name_can_be_had() -> None:
    assert all(getattr(strata, name) is not None for name in strata.__all__)


def test_what_is_not_public_is_not_there() -> None:
    assert not hasattr(strata, "Home")
