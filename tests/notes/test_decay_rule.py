"""The decay rule by itself: numbers in, numbers out."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otolith.model.decay import (
    DAY,
    PINNED,
    Decay,
    count_statuses,
    explain,
    next_fall,
    score_all,
    status,
    take_apart,
    weight,
)
from otolith.model.kinds import NOTE_TYPES
from otolith.model.record import Usage

NOW = 1_770_000_000.0


def standing(**changes: object) -> Decay:
    given: dict[str, object] = {"importance": 0.8, "created": NOW - 100 * DAY, "usage": Usage(5, NOW - 10 * DAY),
                                "type_": "solution", "now": NOW}
    return take_apart(**{**given, **changes})  # type: ignore[arg-type]


@pytest.mark.clause("notes-58")
def test_the_score_is_importance_times_fading_times_use_times_weight():
    assert standing().score == pytest.approx(0.8 * math.exp(-0.03 * 10) * math.log2(6) * 1.2, rel=1e-12)


@pytest.mark.clause("notes-59")
def test_a_score_halves_in_about_twenty_three_days():
    fresh, later = standing(usage=Usage(5, NOW)).score, standing(usage=Usage(5, NOW - 23.1 * DAY)).score

    assert later / fresh == pytest.approx(0.5, abs=0.001)


@pytest.mark.clause("notes-60")
def test_days_are_counted_in_fractions_from_the_last_access():
    assert standing(usage=Usage(1, NOW - 36 * 3600)).days == pytest.approx(1.5)


@pytest.mark.clause("notes-60")
def test_without_an_access_days_are_counted_from_creation():
    assert standing(usage=Usage()).days == pytest.approx(100)


@pytest.mark.clause("notes-60")
def test_an_access_in_the_future_counts_as_today():
    assert standing(usage=Usage(1, NOW + 5 * DAY)).days == 0


@pytest.mark.clause("notes-61")
def test_a_new_memory_starts_at_half_strength():
    assert standing(usage=Usage(), created=NOW, importance=1.0, type_="fix").score == 0.5


@pytest.mark.clause("notes-62")
def test_every_type_has_its_weight():
    expected = {"procedure": 1.4, "decision": 1.3, "insight": 1.25, "solution": 1.2, "code_pattern": 1.1, "configuration": 1.1,
                "fix": 1.0, "workflow": 1.0, "problem": 0.9, "error": 0.8, "general": 0.8}

    assert expected == {name: weight(name) for name in NOTE_TYPES}


def test_other_kinds_of_records_weigh_the_same():
    assert weight("decision", "chunk") == weight("learning", "work") == 1.0


@pytest.mark.clause("notes-87")
def test_of_equal_notes_a_procedure_stays_longest():
    scores = {type_: standing(type_=type_).score for type_ in NOTE_TYPES}

    assert max(scores, key=lambda type_: scores[type_]) == "procedure"


@pytest.mark.clause("notes-63", "notes-64", "notes-65", "notes-66")
@pytest.mark.parametrize(("score", "expected"), [
    (PINNED, "Active"), (0.5, "Active"), (0.499999, "Fading"), (0.2, "Fading"), (0.199999, "Dormant"), (0.05, "Dormant"),
    (0.049999, "Archived"), (0.0, "Archived"),
])
def test_a_threshold_belongs_to_the_status_above_it(score, expected):
    assert status(score) == expected


@pytest.mark.clause("notes-68")
def test_a_pinned_memory_scores_999_whatever_its_age():
    assert standing(pinned=True, importance=0.0, created=0.0, usage=Usage()).score == 999.0


def test_every_status_is_counted_even_when_empty():
    assert count_statuses([0.6, 0.7, 0.01]) == {"Active": 2, "Fading": 0, "Dormant": 0, "Archived": 1}


def test_the_day_of_the_next_fall_is_the_day_the_status_changes():
    decay = standing()
    fall = next_fall(decay.score)

    assert fall is not None
    name, days = fall
    assert name == "Fading"
    assert status(standing(now=NOW + (days - 0.01) * DAY).score) == "Active"
    assert status(standing(now=NOW + (days + 0.01) * DAY).score) == "Fading"


def test_nothing_falls_from_the_vault_nor_below_archived():
    assert next_fall(PINNED) is None
    assert next_fall(0.01) is None


def test_an_explanation_names_every_factor_and_what_comes():
    words = " ".join(explain(standing(), NOW))

    for part in ("importance 0.8", "10.00 days", "usage 2.58", "type weight 1.2", "Active", "Fading"):
        assert part in words


def test_a_pinned_note_is_explained_by_its_pin():
    assert "vault" in explain(standing(pinned=True), NOW)[0]


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 4000), st.integers(0, 10**6), st.sampled_from(list(NOTE_TYPES)), st.booleans(),
                          st.booleans()), max_size=30))
def test_many_at_once_and_one_by_one_give_the_same_scores(rows):
    usages = [Usage(count, NOW - days * DAY if used else None) for _, days, count, _, _, used in rows]
    single = [take_apart(importance=importance, created=NOW - days * DAY, usage=usage, type_=type_, now=NOW, pinned=pinned).score
              for (importance, days, _, type_, pinned, _), usage in zip(rows, usages, strict=True)]

    together = score_all([row[0] for row in rows], [NOW - row[1] * DAY for row in rows], [row[2] for row in rows],
                         [weight(row[3]) for row in rows], [row[4] for row in rows], NOW)

    assert together.tolist() == pytest.approx(single, rel=1e-9, abs=1e-300)
