"""REFLECTION.md from given notes."""

from __future__ import annotations

import re

import pytest

from otolith.derive.front_pages import build_reflection, fingerprint, look_over, without_stamp
from otolith.model.decay import Standing
from otolith.model.record import Usage

SECTIONS = ["Themes", "Cross-Project Patterns", "Most Accessed", "Recent Insights", "Consolidation History"]


def note(number: int = 1, *tags: str, **changes: object) -> Standing:
    given: dict[str, object] = {
        "id": f"{number:08x}-0000-4000-8000-000000000000", "type": "fix", "title": f"Note {number}", "tags": tags,
        "path": f"graph/fixes/note-{number}-{number:06x}.md", "created": 1000.0 + number,
    }
    return Standing(**{**given, **changes})  # type: ignore[arg-type]


def page(*notes: Standing, projects: tuple[str, ...] = (), merges: int = 0) -> str:
    return build_reflection(look_over(notes, projects=projects, merges=merges), date="2026-02-13", last="2026-02-13", total=2)


def lines_of(text: str, section: str) -> list[str]:
    return [line for line in text.split(f"## {section}\n")[1].split("\n## ")[0].split("\n") if re.match(r"- |\d+\. ", line)]


@pytest.mark.clause("notes-69", "notes-71", "notes-72")
def test_the_page_has_the_documents_form():
    text = page(
        note(1, "fix", "python", "major-domo", usage=Usage(3, 5.0)), note(2, "fix", "python", "homelab"),
        note(3, type="insight", path="graph/insights/retry-000003.md", title="Retry", preview="Retry with a pause."),
        projects=("major-domo", "homelab"), merges=4,
    )

    assert text == (
        "# Reflection Summary (auto-generated)\n"
        "> Last updated: 2026-02-13 | Last reflection: 2026-02-13 | Total reflections: 2\n"
        "\n## Themes\nTop tag co-occurrences revealing recurring themes:\n"
        '\n- **fix + python**: 2 memories ("Note 2", "Note 1")\n'
        "\n## Cross-Project Patterns\nTags that span multiple projects:\n"
        "\n- **fix**: appears in homelab (1), major-domo (1)\n- **python**: appears in homelab (1), major-domo (1)\n"
        "\n## Most Accessed\nTop 10 memories by access count:\n"
        "\n1. [Note 1](graph/fixes/note-1-000001.md) - 3 accesses\n"
        "\n## Recent Insights\nInsight-type memories:\n"
        "\n- [Retry](graph/insights/retry-000003.md) - Retry with a pause.\n"
        "\n## Consolidation History\n\n- Total merges performed: 4\n"
    )


@pytest.mark.clause("notes-72")
def test_an_empty_home_still_has_all_sections_in_order():
    assert re.findall(r"^## (.+)$", page(), re.MULTILINE) == SECTIONS


@pytest.mark.clause("notes-73")
def test_themes_are_the_eight_most_frequent_pairs_with_three_titles():
    notes = [note(10 * at + copy, f"a{at}", f"b{at}") for at in range(10) for copy in range(at + 1)]
    found = lines_of(page(*notes), "Themes")

    assert [line.split("**: ")[0] for line in found] == [f"- **a{at} + b{at}" for at in range(9, 1, -1)]
    assert "10 memories (" in found[0]
    assert found[0].count('"') == 6


@pytest.mark.clause("notes-73")
def test_long_titles_of_a_theme_are_cut():
    found = lines_of(page(note(1, "a", "b", title="x" * 90), note(2, "a", "b")), "Themes")

    assert f'"{"x" * 40}..."' in found[0]


def test_a_pair_that_met_once_is_no_theme():
    assert lines_of(page(note(1, "a", "b")), "Themes") == []


def test_a_note_with_thousands_of_tags_costs_no_more_than_one_with_fifty():
    many = tuple(f"t{at:04d}" for at in range(5000))

    assert len(look_over([note(1, *many), note(2, *many)]).themes) == 8


@pytest.mark.clause("notes-74", "notes-78")
def test_a_tag_of_two_projects_is_a_pattern_with_a_count_for_each():
    projects = ("major-domo", "paper-dynasty", "homelab", "vagabond-rpg", "foundryvtt", "strat-gameplay-webapp")
    notes = [note(at, "fix", "major-domo") for at in range(3)] + [note(at, "fix", "vagabond-rpg") for at in (3, 4)]
    text = page(*notes, note(5, "alone", "homelab"), projects=projects)

    assert lines_of(text, "Cross-Project Patterns") == ["- **fix**: appears in major-domo (3), vagabond-rpg (2)"]


@pytest.mark.clause("notes-74")
def test_only_configured_projects_count_once_there_are_any():
    notes = [note(1, "fix", project="one"), note(2, "fix", project="two")]

    assert lines_of(page(*notes), "Cross-Project Patterns") == ["- **fix**: appears in one (1), two (1)"]
    assert lines_of(page(*notes, projects=("one",)), "Cross-Project Patterns") == []


@pytest.mark.clause("notes-75")
def test_the_ten_most_accessed_are_numbered():
    found = lines_of(page(*(note(at, usage=Usage(at, 5.0)) for at in range(15))), "Most Accessed")

    assert found[0] == "1. [Note 14](graph/fixes/note-14-00000e.md) - 14 accesses"
    assert [int(line.split(".")[0]) for line in found] == list(range(1, 11))


@pytest.mark.clause("notes-76")
def test_the_latest_insights_come_with_eighty_signs_of_their_text():
    notes = [note(at, type="insight", preview="y" * 200) for at in range(12)]
    found = lines_of(page(*notes), "Recent Insights")

    assert [int(number) for number in re.findall(r"\[Note (\d+)\]", "\n".join(found))] == list(range(11, 1, -1))
    assert found[0].endswith(" - " + "y" * 80 + "...")


def test_inputs_have_one_fingerprint_whatever_their_order_and_scores():
    notes = [note(1, "a"), note(2, "b")]
    older = [note(2, "b", score=0.1), note(1, "a", score=0.2)]

    assert fingerprint(notes) == fingerprint(older)
    assert fingerprint(notes) != fingerprint([note(1, "a"), note(2, "c")])
    assert fingerprint(notes) != fingerprint([note(1, "a"), note(2, "b", usage=Usage(1, 1.0))])
    assert fingerprint(notes) != fingerprint(notes, merges=1)


def test_two_reflections_of_the_same_notes_differ_in_their_stamp_only():
    found = look_over([note(1, "a", "b")])
    one = build_reflection(found, date="2026-02-13", last="2026-02-13", total=1)
    other = build_reflection(found, date="2026-02-14", last="2026-02-14", total=2)

    assert one != other
    assert without_stamp(one) == without_stamp(other)
