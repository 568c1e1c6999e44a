"""A sample of what `make torture-team` does to a team's database at length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from torture import team as torture


@pytest.mark.parametrize(("row", "times"), [("probes", 400), ("keys", 1), ("feed", 3)])
def test_a_sample_of_the_teams_torture_holds(row: str, times: int, team: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Speed is measured there and never asserted here, so of the feed only that nothing is missed."""
    if row == "feed":
        written, missed, _, hears = torture.heard_of(team, tmp_path, times, pause=0.05)
        assert (written >= 8 * times, missed, hears) == (True, 0, True)
        return
    act, _ = torture.ROWS[row]
    for what, result, good in act(team, tmp_path, times):
        assert good or (row == "probes" and result.startswith("0 leaks")), (what, result)
