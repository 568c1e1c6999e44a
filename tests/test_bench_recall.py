"""The page that `make bench-recall` writes: what fell is told, README says what was measured, nothing is measured twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench import measured
from bench.measured import Piece, Result
from bench.recall import PARTS, README, RESULTS, TOLD, fallen, figures, held_to, page, told

LINES = ["| locomo @5/10/25/50 | BM25, stop words out | 51.2 / 60.0 / 67.9 / 74.3 |  |  |  |",
         "| locomo @5/10/25/50 | Otolith, static | 72.2 / 79.1 / 86.5 / 91.1 | 91.8 | 5.0 | 46.4 |",
         "| Otolith, static, log | 72.2 | 79.0 | 86.5 | 91.1 | 84.6 | 79.6 | 80.9 85.5 | 76.3–82.1 |"]


def page_of(value: float, before: str = "", *, accept: bool = False) -> str:
    row = f"| Otolith, static, log | {value} | 79.0 | 86.5 | 91.1 | 84.6 | 79.6 | 80.9 85.5 | 76.3–82.1 |"
    return page({part: [Result([row] if part == "locomo" else [])] for part in PARTS}, before, accept=accept)


def test_a_figure_that_fell_by_more_than_half_a_point_is_told() -> None:
    assert fallen({"a": [80.0, 90.0]}, {"a": [79.4, 89.6]}) == ["a: 80.0 → 79.4"]


def test_a_row_that_is_new_or_was_not_measured_did_not_fall() -> None:
    assert fallen({"a": [80.0]}, {"b": [10.0]}) == []
    assert fallen({}, {"a": [80.0]}) == []


def test_a_figure_that_fell_is_held_against_every_further_run_until_it_is_accepted() -> None:
    before, (name,) = page_of(80.0), held_to(page_of(80.0))
    after = page_of(70.0, before)

    assert held_to(after)[name][0] == held_to(page_of(70.0, after))[name][0] == 80.0
    assert "| 70.0 |" in after
    assert held_to(page_of(70.0, after, accept=True))[name][0] == 70.0
    assert held_to(page_of(85.0, after))[name][0] == 85.0


def test_the_page_that_is_committed_can_be_held_against_the_next() -> None:
    assert len(held_to(RESULTS.read_text())) > 10


@pytest.fixture
def piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Piece:
    """A script that prints a line and leaves a mark each time it runs."""
    monkeypatch.setattr(measured, "FOLDER", tmp_path / "measured")
    monkeypatch.setattr(measured, "HERE", tmp_path)
    (tmp_path / "data.json").write_text("1")
    (tmp_path / "script.py").write_text("import sys\nprint('| a | 1 |')\nprint('talk')\nsys.exit(len(sys.argv) - 1)\n")
    return Piece("part", "piece", "script.py", [], [tmp_path / "data.json"])


def test_a_piece_is_measured_again_only_when_its_words_data_or_code_changed(piece: Piece, tmp_path: Path) -> None:
    assert not measured.is_fresh(piece)
    assert measured.measure(piece).lines == ["| a | 1 |"]
    assert measured.is_fresh(piece)
    assert measured.read(piece) == measured.measure(piece)
    assert not measured.is_fresh(piece._replace(words=["other"]))

    (tmp_path / "data.json").write_text("2")
    assert not measured.is_fresh(piece)
    measured.measure(piece)
    assert measured.is_fresh(piece)

    (tmp_path / "script.py").write_text("print('| a | 2 |')\n")
    assert not measured.is_fresh(piece)


def test_a_piece_that_fails_or_hangs_says_so_and_is_not_kept(piece: Piece, tmp_path: Path) -> None:
    assert measured.measure(piece._replace(words=["fail"])).lines == ["| a | 1 |", "(cut short: part, piece: ended with 1)"]
    assert measured.read(piece) is None

    (tmp_path / "script.py").write_text("import time\nprint('| a | 1 |', flush=True)\ntime.sleep(60)\n")
    assert measured.measure(piece._replace(seconds=1)).lines[-1] == "(cut short: part, piece: not done after 1 s)"
    assert measured.read(piece) is None


def test_the_figures_are_those_of_our_own_rows() -> None:
    assert figures(LINES) == {"locomo @5/10/25/50, Otolith, static": [72.2, 79.1, 86.5, 91.1],
                              "Otolith, static, log": [72.2, 79.0, 86.5, 91.1, 84.6]}


def test_the_readme_says_what_was_measured_and_keeps_every_other_line() -> None:
    row = next(iter(TOLD))
    readme = f"# Otolith\n\n| {row} | 1 | 2 | 3 | 4 |\n| something else | 5 |\n"

    assert told(readme, LINES[:2]) == f"# Otolith\n\n| {row} | 60.0 |  | 79.1 |  |\n| something else | 5 |\n"


def test_the_readme_has_every_row_that_is_told() -> None:
    text = README.read_text()

    assert [row for row in TOLD if f"| {row} |" not in text] == []
