"""CORE.md from given notes."""

from __future__ import annotations

import re

import pytest

from otolith.derive.front_pages import build_core, without_stamp
from otolith.model.decay import PINNED, Standing

SECTIONS = ["Critical Solutions", "Active Decisions", "Key Fixes", "Configurations", "Patterns & Workflows"]


def note(number: int = 1, **changes: object) -> Standing:
    given: dict[str, object] = {
        "id": f"{number:08x}-0000-4000-8000-000000000000", "type": "solution", "title": f"Note {number}",
        "path": f"graph/solutions/note-{number}-{number:06x}.md", "created": 1000.0 + number, "score": 0.6,
        "tags": ("redis", "timeout"),
    }
    return Standing(**{**given, **changes})  # type: ignore[arg-type]


def lines_of(page: str, section: str) -> list[str]:
    return [line for line in page.split(f"## {section}\n")[1].split("\n## ")[0].split("\n") if line.startswith("- ")]


@pytest.mark.clause("notes-48", "notes-50", "notes-51", "notes-52")
def test_the_page_has_the_documents_form():
    page = build_core([note(), note(2, type="problem", score=0.3)], date="2025-12-13")

    assert page == (
        "# Memory Core (auto-generated)\n"
        "> Last updated: 2025-12-13 | Active memories: 1/2 | Next refresh: daily (systemd timer)\n"
        "\n## Critical Solutions\n- [Note 1](graph/solutions/note-1-000001.md) (redis, timeout)\n"
        "\n## Active Decisions\n\n## Key Fixes\n\n## Configurations\n\n## Patterns & Workflows\n"
    )


@pytest.mark.clause("notes-50")
def test_pinned_notes_are_active_and_notes_without_a_section_are_counted():
    page = build_core([note(1, score=PINNED, pinned=True), note(2, type="general"), note(3, score=0.49)], date="2026-01-01")

    assert "| Active memories: 2/3 |" in page
    assert "Note 2" not in page


@pytest.mark.clause("notes-51")
def test_patterns_and_workflows_hold_procedures_and_insights_too():
    types = ("code_pattern", "workflow", "procedure", "insight")
    page = build_core([note(at, type=type_, title=type_) for at, type_ in enumerate(types)], date="2026-01-01")

    assert len(lines_of(page, "Patterns & Workflows")) == 4
    assert re.findall(r"^## (.+)$", page, re.MULTILINE) == SECTIONS


@pytest.mark.clause("notes-55")
def test_what_scores_below_a_fifth_stays_out():
    page = build_core([note(1, score=0.2), note(2, score=0.1999)], date="2026-01-01")

    assert "Note 1" in page
    assert "Note 2" not in page


@pytest.mark.clause("notes-56")
def test_the_strongest_come_first():
    page = build_core([note(at, score=score) for at, score in enumerate((0.3, 0.9, PINNED, 0.5))], date="2026-01-01")

    assert re.findall(r"\[Note (\d)\]", page) == ["2", "1", "3", "0"]


@pytest.mark.clause("notes-57")
def test_a_section_holds_at_most_fifteen():
    page = build_core([note(at, score=1 + at / 100) for at in range(40)], date="2026-01-01")

    found = lines_of(page, "Critical Solutions")
    assert len(found) == 15
    assert "[Note 39]" in found[0]


@pytest.mark.clause("notes-53")
@pytest.mark.parametrize("letter", ["x", "東"])
def test_the_page_stays_within_its_budget_and_the_weakest_give_way(letter):
    types = ("solution", "decision", "fix", "configuration", "workflow")
    notes = [note(at, title=f"{letter * 180} {at}", type=types[at % 5], score=1 + at / 1000) for at in range(75)]
    page = build_core(notes, date="2026-01-01")

    kept = sorted(int(number) for number in re.findall(r" (\d+)\]", page))
    assert len(page.encode()) <= 12_000
    assert kept == list(range(75 - len(kept), 75))
    assert len(kept) > 10


def test_nothing_from_outside_enters_unless_a_person_pinned_it():
    page = build_core([note(1, trust="outside"), note(2, trust="outside", pinned=True, score=PINNED)], date="2026-01-01")

    assert "Note 1" not in page
    assert "Note 2" in page


def test_no_title_or_path_can_break_its_line():
    page = build_core([note(1, title="a]\n## Owned (x)", path="graph/solutions/my note (1).md", tags=())], date="2026-01-01")

    assert lines_of(page, "Critical Solutions") == ["- [a\\] ## Owned (x)](graph/solutions/my%20note%20%281%29.md)"]


def test_a_long_list_of_tags_is_cut():
    line = lines_of(build_core([note(1, tags=tuple(f"tag{at}" for at in range(500)))], date="2026-01-01"), SECTIONS[0])[0]

    assert "(tag0, tag1, " in line
    assert len(line) < 220


def test_the_order_in_which_notes_are_given_does_not_matter():
    notes = [note(at, score=0.6) for at in range(9)]

    assert build_core(notes, date="2026-01-01") == build_core(reversed(notes), date="2026-01-01")


def test_pages_of_two_days_with_the_same_content_are_equal_without_their_stamp():
    one, other = (build_core([note()], date=date) for date in ("2026-01-01", "2026-01-02"))

    assert one != other
    assert without_stamp(one) == without_stamp(other)
    assert without_stamp(one) != without_stamp(build_core([note(), note(2, score=0.1)], date="2026-01-01"))
