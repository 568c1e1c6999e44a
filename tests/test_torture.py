"""A sample of each part of the torture suite; `make torture` runs all of it (docs/RELIABILITY.md)."""

from __future__ import annotations

import pytest
from tests.torture import scenes
from tests.torture.harness import PARTS, Size, run_part

from otolith.verbs.table import table


# The crowd is different each time: it runs by hand (`make torture`) until it has run for hours without a finding.
@pytest.mark.parametrize("part", [part for part in PARTS if part != "crowd"])
def test_a_sample_of_what_is_done_to_homes_on_purpose_does_no_harm(part: str) -> None:
    rows = run_part(part, Size(full=False))

    assert [failure for outcome in rows.values() for failure in outcome.failures] == []


def test_every_verb_that_writes_is_among_what_is_killed_and_failed() -> None:
    writing = {row.name for row in table().values() if any(not row.only_reads(door) for door in row.doors)}
    tried = {name.replace("_", "-") for name in scenes.ACTS} | {name.partition("-")[0] for name in scenes.ACTS}

    assert writing - tried - scenes.ELSEWHERE.keys() == set()
