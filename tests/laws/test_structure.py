"""One place for each rule, counted on the syntax tree: each count has a ceiling in structure.toml that only sinks."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from bench import structure

CEILINGS: dict[str, int] = tomllib.loads((Path(__file__).parent / "structure.toml").read_text())
TREES = structure.modules()
PLACES = structure.count(TREES)


@pytest.mark.parametrize("name", PLACES)
def test_no_count_rises_above_its_ceiling(name: str) -> None:
    assert len(PLACES[name]) <= CEILINGS[name], "\n".join(PLACES[name])


def test_modules_and_functions_stay_short_on_the_mean() -> None:
    sizes = structure.sizes(TREES)

    assert sizes["lines_a_module"] <= 215
    assert sizes["lines_a_function"] <= 9
