"""The page that `make bench-recall` writes: what fell is told, and README says what was measured."""

from __future__ import annotations

import json

from bench.recall import FIGURES, README, TOLD, fallen, figures, told

LINES = ["| locomo @5/10/25/50 | BM25, stop words out | 51.2 / 60.0 / 67.9 / 74.3 |  |  |  |",
         "| locomo @5/10/25/50 | Otolith, static | 72.2 / 79.1 / 86.5 / 91.1 | 91.8 | 5.0 | 46.4 |",
         "| Otolith, static, log | 72.2 | 79.0 | 86.5 | 91.1 | 84.6 | 79.6 | 80.9 85.5 | 76.3–82.1 |"]


def page(**rows: list[float]) -> str:
    return f"# Recall\n\n{FIGURES}{json.dumps(rows)} -->\n"


def test_a_figure_that_fell_by_more_than_half_a_point_is_told() -> None:
    assert fallen(page(a=[80.0, 90.0]), page(a=[79.4, 89.6])) == ["a: 80.0 → 79.4"]


def test_a_row_that_is_new_or_was_not_measured_did_not_fall() -> None:
    assert fallen(page(a=[80.0]), page(b=[10.0])) == []
    assert fallen("", page(a=[80.0])) == []


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
