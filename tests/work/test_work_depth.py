"""The five depths of a work, as data and as text."""

from __future__ import annotations

from itertools import pairwise

import pytest

from strata.errors import Invalid
from strata.model.record import DEPTHS
from strata.model.work import Work
from strata.model.work_depth import at_depth, render


def within(small, large):
    """Whether everything in the small value stands in the large one at the same place."""
    if isinstance(small, dict):
        return isinstance(large, dict) and all(key in large and within(small[key], large[key]) for key in small)
    if isinstance(small, list):
        return len(small) == len(large) and all(map(within, small, large))
    return small == large


def test_summary_is_the_goal_and_the_outcomes_summary_and_nothing_else(seed_work):
    assert at_depth(seed_work, "summary") == {
        "intent": {"goal": "Fix JWT token expiry causing logout"},
        "outcome": {"summary": "JWT refresh now works, no more random logouts"}}


def test_outcome_adds_the_whole_outcome_with_the_reason_of_a_failure(make):
    work = make(1, success=False, reason="the queue was never drained", category="logic_error", learnings=["Drain it"])

    shown = at_depth(work, "outcome")

    assert shown["outcome"]["failure_reason"] == "the queue was never drained"
    assert shown["outcome"]["failure_category"] == "logic_error"
    assert shown["outcome"]["learnings"] == ["Drain it"]
    assert "reasoning" not in shown
    assert "the queue was never drained" in render(work, "outcome")


def test_reasoning_adds_the_whole_reasoning(seed_work, seed):
    assert at_depth(seed_work, "reasoning")["reasoning"] == seed["reasoning"]
    assert "perception" not in at_depth(seed_work, "reasoning")


def test_full_leaves_out_raw_diffs_and_only_them(seed):
    seed["actions"][0]["details"] |= {"diff": "- old\n+ new", "diff_hash": "abc", "reviewer": "kim"}
    work = Work.from_dict({"id": "mem_1", "created_at": 0, **seed})

    details = at_depth(work, "full")["actions"][0]["details"]

    assert "diff" not in details
    assert "diff_hash" not in details
    assert details["reviewer"] == "kim"
    assert details["diff_summary"] == "Added refreshToken() call on 401, with request queue"
    assert "+ new" not in render(work, "full")
    assert "kim" in render(work, "full")


def test_complete_is_the_work_itself(seed):
    seed["actions"][0]["details"] |= {"diff": "- old\n+ new", "diff_hash": "abc"}
    work = Work.from_dict({"id": "mem_1", "created_at": 0, **seed})

    assert at_depth(work, "complete") == work.to_dict()
    assert "+ new" in render(work, "complete")
    assert "abc" in render(work, "complete")


def test_each_depth_holds_the_one_before(seed_work):
    for shallow, deep in pairwise(DEPTHS):
        assert within(at_depth(seed_work, shallow), at_depth(seed_work, deep))
        assert render(seed_work, deep).startswith(render(seed_work, shallow))


def test_the_text_grows_with_every_depth(seed_work):
    sizes = [len(render(seed_work, depth)) for depth in DEPTHS]

    assert sizes == sorted(set(sizes))


def test_at_full_every_word_of_every_layer_is_in_the_text(seed_work, seed):
    def words(value):
        if isinstance(value, dict):
            return [word for item in value.values() for word in words(item)]
        if isinstance(value, list):
            return [word for item in value for word in words(item)]
        return [value] if isinstance(value, str) else []

    shown = render(seed_work, "full")

    assert [word for word in words(seed) if word not in shown] == []


def test_a_short_work_renders_without_empty_headings(make):
    assert render(make(1, goal="Tidy", summary="Tidied"), "reasoning") == "Tidy → Tidied\nSucceeded."


def test_an_unknown_depth_is_refused_with_the_five_words(seed_work):
    with pytest.raises(Invalid, match="summary, outcome, reasoning, full, complete"):
        at_depth(seed_work, "deep")
    with pytest.raises(Invalid, match="summary, outcome, reasoning, full, complete"):
        render(seed_work, "deep")
