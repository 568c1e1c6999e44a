"""The five depths of a work: which of its keys each of them shows, and how it reads."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from otolith.errors import Invalid
from otolith.model.record import DEPTHS
from otolith.model.times import zulu
from otolith.model.work import Work

# Every key that the clauses name, and beside them keys that nobody knows; no two values are alike.
WHOLE = {
    "id": "mem_00000000-0000-4000-8000-000000000001", "agent_id": "agent-kim", "project_id": "shop-project",
    "created_at": 1_770_724_800, "session_id": "session-seven",
    "intent": {"goal": "goal-said", "task_type": "bug_fix", "context": "context-said", "constraints": ["constraint-said"],
               "odd_intent": "odd-intent"},
    "perception": {
        "observations": [{"what": "what-said", "where": "where-said", "significance": "significance-said",
                          "odd_observation": "odd-observation"}],
        "relevant_files": [{"path": "seen/path.py", "relevance": "relevance-said", "state_summary": "state-said",
                            "odd_file": "odd-file"}],
        "patterns_noticed": ["pattern-said"], "anomalies": ["anomaly-said"], "odd_perception": "odd-perception"},
    "reasoning": {
        "approach_chosen": "approach-said", "why_chosen": "why-said",
        "alternatives_considered": [{"approach": "alternative-said", "why_rejected": "rejection-said",
                                     "odd_alternative": "odd-alternative"}],
        "assumptions": ["assumption-said"], "risks_identified": ["risk-said"], "odd_reasoning": "odd-reasoning"},
    "actions": [{
        "type": "file_edit", "timestamp": 1_705_432_800,
        "details": {"file_path": "done/path.py", "lines_affected": "45-89", "diff_hash": "hash-said", "diff_summary": "diff-told",
                    "command": "command-said", "working_directory": "/work/said", "query": "query-said", "scope": "scope-said",
                    "diff": "raw-said", "odd_detail": "odd-detail"},
        "result": {"success": True, "output_summary": "output-said", "error": "error-said", "duration_ms": 1501,
                   "odd_result": "odd-result"},
        "odd_action": "odd-action"}],
    "outcome": {"success": False, "summary": "summary-said", "learnings": ["learning-said"], "failure_reason": "reason-said",
                "failure_category": "logic_error",
                "verified_by": {"type": "typecheck", "command": "checked-by", "result": "check-said", "odd_check": "odd-check"},
                "follow_up_needed": ["follow-up-said"], "odd_outcome": "odd-outcome"},
    "links": {"caused_by": ["mem_cause"], "led_to": ["mem_effect"], "related_to": ["mem_kin"], "supersedes": "mem_old",
              "blocked_by": "mem_block"},
    "tags": ["tag-said"], "importance": 0.37, "access_count": 4, "last_accessed": 1_770_700_000,
    "links_at": {"caused_by": {"mem_cause": 1_770_600_000}},
    "origin": {"agent": "origin-agent", "door": "mcp", "session": "origin-session", "project": "origin-project",
               "trust": "user"},
    "odd_work": "odd-work",
}
RAW = {"actions.details.diff", "actions.details.diff_hash"}
KEPT = {"access_count", "last_accessed", "links_at.caused_by.mem_cause", "origin.agent", "origin.door", "origin.session",
        "origin.project", "origin.trust"}  # what the home notes down itself, beside the five layers


def leaves(value, path=""):
    """(path, value) of everything a work holds; the items of a list stand at the list's own path."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item, path)
    else:
        yield path, value


def said(path, value):
    """How a text tells a value."""
    if path in ("access_count", "last_accessed"):
        return f"Used {WHOLE['access_count']} times, last {zulu(WHOLE['last_accessed'])}"
    if path in ("created_at", "actions.timestamp") or path.startswith("links_at"):
        return zulu(value)
    if isinstance(value, bool):
        return {"outcome.success": "Failed (", "actions.result.success": "(ok,"}[path]
    return value if isinstance(value, str) else f"{value:g}"


def keys_at(depth):
    """The paths that the clauses give to a depth."""
    paths = {path for path, _ in leaves(WHOLE)}
    layers = {"summary": (), "outcome": ("outcome.",), "reasoning": ("outcome.", "reasoning.")}
    if depth in layers:
        return {"intent.goal", "outcome.summary"} | {path for path in paths if path.startswith(layers[depth] or ("-",))}
    return paths - RAW - KEPT if depth == "full" else paths


@pytest.fixture
def whole(mem):
    """The whole work, as a file that somebody put into the home."""
    file = mem.path / f"work/2026-02/{WHOLE['id']}.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(WHOLE))
    return WHOLE["id"]


@pytest.mark.clause("work-01", "work-05", "work-06", "work-07", "work-08", "work-09", "work-10", "work-11", "work-33", "work-34",
                    "work-36", "work-37", "work-38", "work-40", "work-41", "work-43", "work-45", "work-48", "work-49", "work-50",
                    "work-54", "work-55", "work-57", "work-58", "work-98")
def test_a_whole_work_is_delivered_key_for_key_as_its_file_has_it(mem, run, whole):
    assert mem.get(whole, depth="complete").record.to_dict() == WHOLE
    assert list(mem.get(whole).record.to_dict()) == list(WHOLE)
    assert run("get", whole, "--json").json["record"] == WHOLE
    assert Work.from_dict(WHOLE).to_dict() == WHOLE


@pytest.mark.clause("work-01", "work-07", "work-08", "work-09", "work-10", "work-11", "work-33", "work-34", "work-36", "work-40",
                    "work-41", "work-54")
def test_a_work_of_four_words_is_delivered_with_every_key_that_is_not_optional(mem):
    work = mem.record(goal="Tidy", task_type="refactor", success=True, summary="Tidied", created=1_770_724_800)

    assert mem.get(work.id).record.to_dict() == {
        "id": work.id, "agent_id": "main", "project_id": "default", "created_at": 1_770_724_800, "session_id": mem.home.session,
        "intent": {"goal": "Tidy", "task_type": "refactor", "context": "", "constraints": []},
        "perception": {"observations": [], "relevant_files": [], "patterns_noticed": [], "anomalies": []},
        "reasoning": {"approach_chosen": "", "why_chosen": "", "alternatives_considered": [], "assumptions": [],
                      "risks_identified": []},
        "actions": [], "outcome": {"success": True, "summary": "Tidied", "learnings": []}, "links": {}, "tags": [],
        "importance": 0.5, "access_count": 0, "last_accessed": None, "origin": work.origin.to_dict()}


@pytest.mark.clause("work-93", "work-94", "work-95", "work-96", "work-97", "work-98", "work-99")
@pytest.mark.parametrize("depth", DEPTHS)
def test_a_depth_shows_the_keys_that_the_clauses_give_to_it_and_no_other(mem, run, whole, depth):
    with mem.home.uncounted():
        text = mem.get(whole, depth=depth).text
        recalled, = (hit for hit in mem.recall("goal-said", kind="work", depth=depth).hits if hit.id == whole)

    assert {path for path, value in leaves(mem.get(whole).record.to_dict()) if said(path, value) in text} == keys_at(depth)
    assert recalled.text == text
    told = run("get", whole, "--depth", depth, "--json").json
    if depth == "full":
        assert told.keys() == {"id", "kind", "path", "record", "hash"}
    else:
        assert told.keys() == {"id", "kind", "title", "path", "depth", "text", "hash"}
        assert told["depth"] == depth
        assert {path for path, value in leaves(WHOLE) if said(path, value) in told["text"]} >= keys_at(depth) - KEPT


def test_a_depth_has_every_key_of_the_one_before():
    for shallow, deep in pairwise(DEPTHS):
        assert keys_at(shallow) < keys_at(deep)


def words(value):
    """Every text within a layer."""
    if isinstance(value, dict):
        return [word for item in value.values() for word in words(item)]
    if isinstance(value, list):
        return [word for item in value for word in words(item)]
    return [value] if isinstance(value, str) else []


def test_summary_is_the_goal_and_the_outcomes_summary_and_nothing_else(seed_work):
    assert seed_work.at_depth("summary") == (
        "Fix JWT token expiry causing logout → JWT refresh now works, no more random logouts")


def test_outcome_adds_the_whole_outcome_with_the_reason_of_a_failure(make):
    work = make(1, success=False, reason="the queue was never drained", category="logic_error", learnings=["Drain it"],
                approach="Drain on a timer")

    shown = work.at_depth("outcome")

    assert "Failed (logic_error): the queue was never drained" in shown
    assert "Learned: Drain it" in shown
    assert "Drain on a timer" not in shown


def test_reasoning_adds_the_whole_reasoning(seed_work, seed):
    shown = seed_work.at_depth("reasoning")

    assert [word for word in words(seed["reasoning"]) if word not in shown] == []
    assert [word for word in words(seed["perception"]["observations"]) if word in shown] == []


def test_full_leaves_out_raw_diffs_and_only_them(seed):
    seed["actions"][0]["details"] |= {"diff": "- old\n+ new", "diff_hash": "abc", "reviewer": "kim"}
    work = Work.from_dict({"id": "mem_1", "created_at": 0, **seed})

    shown = work.at_depth("full")

    assert "+ new" not in shown
    assert "abc" not in shown
    assert "kim" in shown
    assert "Added refreshToken() call on 401, with request queue" in shown


def test_complete_adds_the_raw_diffs(seed):
    seed["actions"][0]["details"] |= {"diff": "- old\n+ new", "diff_hash": "abc"}
    work = Work.from_dict({"id": "mem_1", "created_at": 0, **seed})

    assert "+ new" in work.at_depth("complete")
    assert "abc" in work.at_depth("complete")


def test_a_time_that_no_calendar_has_is_shown_as_it_stands(seed):
    work = Work.from_dict({"id": "mem_1", "created_at": 0, "links_at": {"led_to": {"mem_2": 1e300}}, **seed})

    assert "led_to mem_2 since 1e+300" in work.at_depth("complete")


def test_each_depth_holds_the_one_before(seed_work):
    for shallow, deep in pairwise(DEPTHS):
        assert seed_work.at_depth(deep).startswith(seed_work.at_depth(shallow))


def test_the_text_grows_with_every_depth(seed_work):
    sizes = [len(seed_work.at_depth(depth)) for depth in DEPTHS]

    assert sizes == sorted(set(sizes))


def test_at_full_every_word_of_every_layer_is_in_the_text(seed_work, seed):
    shown = seed_work.at_depth("full")

    assert [word for word in words(seed) if word not in shown] == []


def test_a_short_work_renders_without_empty_headings(make):
    assert make(1, goal="Tidy", summary="Tidied").at_depth("reasoning") == "Tidy → Tidied\nSucceeded."


def test_an_unknown_depth_is_refused_with_the_five_words(seed_work):
    with pytest.raises(Invalid, match="summary, outcome, reasoning, full, complete"):
        seed_work.at_depth("deep")
