"""The five depths of a work, as text."""

from __future__ import annotations

from itertools import pairwise

import pytest

from strata.errors import Invalid
from strata.model.record import DEPTHS
from strata.model.work import Work
from strata.model.work_depth import render


def words(value):
    """Every text within a layer."""
    if isinstance(value, dict):
        return [word for item in value.values() for word in words(item)]
    if isinstance(value, list):
        return [word for item in value for word in words(item)]
    return [value] if isinstance(value, str) else []


def test_summary_is_the_goal_and_the_outcomes_summary_and_nothing_else(seed_work):
    assert render(seed_work, "summary") == (
        "Fix JWT token expiry causing logout → JWT refresh now works, no more random logouts")


def test_outcome_adds_the_whole_outcome_with_the_reason_of_a_failure(make):
    work = make(1, success=False, reason="the queue was never drained", category="logic_error", learnings=["Drain it"],
                approach="Drain on a timer")

    shown = render(work, "outcome")

    assert "Failed (logic_error): the queue was never drained" in shown
    assert "Learned: Drain it" in shown
    assert "Drain on a timer" not in shown


def test_reasoning_adds_the_whole_reasoning(seed_work, seed):
    shown = render(seed_work, "reasoning")

    assert [word for word in words(seed["reasoning"]) if word not in shown] == []
    assert [word for word in words(seed["perception"]["observations"]) if word in shown] == []


def test_full_leaves_out_raw_diffs_and_only_them(seed):
    seed["actions"][0]["details"] |= {"diff": "- old\n+ new", "diff_hash": "abc", "reviewer": "kim"}
    work = Work.from_dict({"id": "mem_1", "created_at": 0, **seed})

    shown = render(work, "full")

    assert "+ new" not in shown
    assert "abc" not in shown
    assert "kim" in shown
    assert "Added refreshToken() call on 401, with request queue" in shown


def test_complete_adds_the_raw_diffs(seed):
    seed["actions"][0]["details"] |= {"diff": "- old\n+ new", "diff_hash": "abc"}
    work = Work.from_dict({"id": "mem_1", "created_at": 0, **seed})

    assert "+ new" in render(work, "complete")
    assert "abc" in render(work, "complete")


def test_each_depth_holds_the_one_before(seed_work):
    for shallow, deep in pairwise(DEPTHS):
        assert render(seed_work, deep).startswith(render(seed_work, shallow))


def test_the_text_grows_with_every_depth(seed_work):
    sizes = [len(render(seed_work, depth)) for depth in DEPTHS]

    assert sizes == sorted(set(sizes))


def test_at_full_every_word_of_every_layer_is_in_the_text(seed_work, seed):
    shown = render(seed_work, "full")

    assert [word for word in words(seed) if word not in shown] == []


def test_a_short_work_renders_without_empty_headings(make):
    assert render(make(1, goal="Tidy", summary="Tidied"), "reasoning") == "Tidy → Tidied\nSucceeded."


def test_an_unknown_depth_is_refused_with_the_five_words(seed_work):
    with pytest.raises(Invalid, match="summary, outcome, reasoning, full, complete"):
        render(seed_work, "deep")
