"""`record`: five layers in, one file out, found at once; short input is enough and wrong input is refused with a reason."""

from __future__ import annotations

import json
import re

import pytest

from otolith.errors import Conflict, Invalid, NotFound

SHORT = {"goal": "Fix the login loop", "task_type": "bug_fix", "success": True, "summary": "The cookie path was wrong"}
TASKS = ("one of bug_fix, feature_add, refactor, investigation, test_write, documentation, optimization, security_fix, "
         "dependency_update, configuration, other")
FAILURES = ("one of incorrect_assumption, unexpected_side_effect, missing_dependency, race_condition, type_error, "
            "test_failure, build_failure, runtime_error, logic_error, other")


def file_of(mem, work):
    return json.loads((mem.path / mem.get(work.id).path).read_text())


@pytest.mark.clause("work-01", "work-80")
def test_all_five_layers_are_kept_as_given(mem, seed):
    work = mem.record(**seed)

    kept = file_of(mem, work)
    assert {layer: kept[layer] for layer in seed} == seed


@pytest.mark.clause("work-01", "work-33", "work-34", "work-36", "work-40", "work-41", "work-54")
def test_goal_kind_success_and_summary_are_enough_and_the_rest_is_empty(mem):
    work = mem.record(intent={"goal": "Tidy", "task_type": "refactor"}, outcome={"success": True, "summary": "Tidied"})

    kept = file_of(mem, work)
    assert kept["intent"] == {"goal": "Tidy", "task_type": "refactor", "context": "", "constraints": []}
    assert kept["perception"] == {"observations": [], "relevant_files": [], "patterns_noticed": [], "anomalies": []}
    assert kept["reasoning"] == {"approach_chosen": "", "why_chosen": "", "alternatives_considered": [], "assumptions": [],
                                 "risks_identified": []}
    assert kept["actions"] == []
    assert kept["outcome"] == {"success": True, "summary": "Tidied", "learnings": []}


def test_fields_may_stand_flat_beside_each_other(mem):
    work = mem.record(SHORT, approach_chosen="Looked at the cookies", files=["src/auth.ts"], tags=["auth"], importance=0.9)

    assert work.intent.goal == "Fix the login loop"
    assert work.reasoning.approach_chosen == "Looked at the cookies"
    assert work.files() == [("src/auth.ts", "edit")]
    assert (work.tags, work.importance) == (("auth",), 0.9)


@pytest.mark.clause("work-02", "work-82")
def test_every_work_gets_a_fresh_id_and_its_own_file_by_month(mem):
    one, other = mem.record(SHORT), mem.record(SHORT)

    assert re.fullmatch(r"mem_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", one.id)
    assert one.id != other.id
    assert (mem.path / f"work/2026-02/{one.id}.json").is_file()


@pytest.mark.clause("work-03", "work-04", "work-05", "work-06")
def test_a_work_says_who_did_it_where_and_when(mem, clock):
    work = mem.record(SHORT, agent="kim", project="shop", session="s-1")

    kept = file_of(mem, work)
    assert (kept["agent_id"], kept["project_id"], kept["session_id"]) == ("kim", "shop", "s-1")
    assert kept["created_at"] == int(clock())
    assert kept["origin"] == {"agent": "kim", "door": "python", "session": "s-1", "project": "shop", "trust": "user",
                              "at": "2026-02-10T21:37:00.000000Z"}


@pytest.mark.clause("work-03", "work-04")
def test_any_agent_of_a_project_reads_what_another_wrote(home, mem):
    from otolith.memory import Memory

    work = mem.record(SHORT, agent="kim", project="shop")

    with Memory(home) as other:
        other.agent("lee")
        other.resume("lee")
        assert other.recall("cookie path", project="shop").hits[0].id == work.id
        assert other.get(work.id).record.agent_id == "kim"


def test_a_work_may_be_recorded_later_with_its_own_time(mem):
    assert mem.record(SHORT, created="2025-06-01").created_at == 1_748_736_000
    assert mem.record(SHORT, created=1_748_736_000_000).created_at == 1_748_736_000


@pytest.mark.clause("work-08", "work-09", "work-71")
def test_tags_are_kept_and_importance_is_a_half_unless_said(mem):
    work = mem.record(SHORT, tags=["auth", "login"])

    assert file_of(mem, work)["tags"] == ["auth", "login"]
    assert file_of(mem, work)["importance"] == 0.5


@pytest.mark.clause("work-10", "work-11")
def test_a_new_work_was_never_used(mem):
    kept = file_of(mem, mem.record(SHORT))

    assert kept["access_count"] == 0
    assert kept["last_accessed"] is None


@pytest.mark.clause("work-31", "work-32", "work-35", "work-37", "work-38", "work-39", "work-42", "work-43", "work-51",
                    "work-53", "work-59")
@pytest.mark.parametrize("layer", ["intent", "perception", "reasoning", "actions", "outcome"])
def test_the_seeds_own_examples_come_back_unchanged(mem, seed, layer):
    work = mem.record(**seed)

    assert file_of(mem, work)[layer] == seed[layer]
    assert mem.get(work.id).record.to_dict()[layer] == seed[layer]


@pytest.mark.clause("work-44", "work-45", "work-46", "work-47", "work-48", "work-49", "work-50")
def test_every_kind_of_action_with_its_details_comes_back(mem):
    actions = [
        {"type": "file_read", "details": {"file_path": "a.py", "lines_affected": "45"}, "result": {"success": True}},
        {"type": "file_edit", "timestamp": 5, "details": {"file_path": "a.py", "lines_affected": "45-67", "diff_hash": "ab12",
                                                          "diff_summary": "Renamed"}, "result": {"success": True}},
        {"type": "file_create", "details": {"file_path": "b.py"}, "result": {"success": True, "output_summary": "written"}},
        {"type": "file_delete", "details": {"file_path": "c.py"}, "result": {"success": False, "error": "denied"}},
        {"type": "command_run", "details": {"command": "make", "working_directory": "/srv"},
         "result": {"success": True, "duration_ms": 1500}},
        {"type": "search", "details": {"query": "def main", "scope": "src"}, "result": {"success": True}},
        {"type": "external_query", "details": {"query": "how", "engine": "kept though unknown"}, "result": {"success": True}},
    ]

    work = mem.record(SHORT, actions=actions)

    assert file_of(mem, work)["actions"] == actions


@pytest.mark.clause("work-52", "work-55", "work-56", "work-57", "work-58")
def test_failed_work_is_kept_with_its_reason_category_check_and_next_steps(mem):
    outcome = {"success": False, "summary": "Tests broke", "learnings": [], "failure_reason": "stale fixtures",
               "failure_category": "test_failure", "verified_by": {"type": "lint", "result": "2 warnings"},
               "follow_up_needed": ["Regenerate fixtures"]}

    work = mem.record(intent={"goal": "Migrate", "task_type": "refactor"}, outcome=outcome)

    assert file_of(mem, work)["outcome"] == outcome


@pytest.mark.clause("work-81", "work-31", "work-32", "work-44", "work-52", "work-53", "work-56", "work-57", "work-09")
@pytest.mark.parametrize(("change", "complaint"), [
    ({"goal": None}, "intent.goal"), ({"goal": "  "}, "intent.goal must not be empty"), ({"goal": 3}, "intent.goal"),
    ({"task_type": "bugfix"}, TASKS),
    ({"success": "true"}, "outcome.success must be true or false"), ({"success": 1}, "outcome.success"),
    ({"summary": None}, "outcome.summary"), ({"learnings": "one"}, "outcome.learnings must be a list"),
    ({"failure_category": "bad luck"}, FAILURES),
    ({"verified_by": {"type": "hope", "result": "x"}}, "one of test, build, manual, lint, typecheck"),
    ({"verified_by": {"type": "test"}}, "outcome.verified_by.result is missing"),
    ({"actions": [{"type": "file_move"}]}, r"actions\[0\].type must be one of file_read"),
    ({"actions": "none"}, "actions must be a list"),
    ({"actions": [{"type": "search", "result": {"success": "no"}}]}, "success must be true or false"),
    ({"importance": 1.1}, "importance must be from 0 to 1"), ({"importance": -0.1}, "importance"), ({"tags": "auth"}, "tags"),
    ({"intent": "fix it"}, "intent must be an object"), ({"observations": [{"where": "x"}]}, "what is missing"),
    ({"alternatives_considered": ["none"]}, "must be an object"), ({"id": "mem_mine"}, "no field 'id'"),
    ({"intents": {}}, "no field 'intents'"), ({"agent_id": "../etc"}, "agent id"), ({"files": "a.py"}, "files must be a list"),
    ({"files": [3]}, "files"), ({"links": "mem_1"}, "links must be an object"), ({"session_id": 5}, "session"),
    ({"importance": float("nan")}, "finite"), ({"created_at": -5}, "created"), ({"goal": "half a \ud800 sign"}, "Unicode"),
    ({"intent": {"deep": json.loads("[" * 900 + "]" * 900)}}, "nested too deeply"),
])
def test_an_invalid_work_is_refused_and_nothing_is_written(mem, change, complaint):
    with pytest.raises(Invalid, match=complaint):
        mem.record({**SHORT, **change})

    assert not (mem.path / "work").exists()


def test_a_missing_goal_is_named(mem):
    with pytest.raises(Invalid, match=r"intent\.goal is missing"):
        mem.record(task_type="bug_fix", success=True, summary="x")


def test_five_megabytes_of_actions_are_refused_with_advice(mem):
    actions = [{"type": "command_run", "details": {"command": "x" * 1000}} for _ in range(5000)]

    with pytest.raises(Invalid, match="condense"):
        mem.record(SHORT, actions=actions)


@pytest.mark.clause("work-84")
def test_a_work_is_found_at_once_by_words_file_kind_agent_and_id(mem):
    work = mem.record(SHORT, files=["src/auth.ts"], agent="kim")

    assert mem.recall("cookie").hits[0].id == work.id
    assert mem.recall("login loop", file="src/auth.ts").hits[0].id == work.id
    assert mem.recall("login loop", type="bug_fix", agent="kim", successes=True).hits[0].id == work.id
    assert mem.get(work.id[:12]).id == work.id
    assert mem.sql(f"SELECT count(*) FROM memories WHERE id = '{work.id}'")["rows"] == [[1]]


def test_the_same_key_returns_the_same_work_and_another_content_is_a_conflict(mem):
    work = mem.record(SHORT, key="run-7")

    assert mem.record(SHORT, key="run-7") == work
    with pytest.raises(Conflict):
        mem.record({**SHORT, "summary": "Something else"}, key="run-7")
    assert mem.list(kind="work")[1] == 1


def test_an_edit_merges_objects_and_replaces_lists(mem, seed):
    work = mem.record(**seed)

    mem.edit(work.id, outcome={"summary": "Better", "learnings": ["Only this"]}, tags=["new"])

    kept = file_of(mem, work)
    assert kept["outcome"]["summary"] == "Better"
    assert kept["outcome"]["learnings"] == ["Only this"]
    assert kept["outcome"]["verified_by"] == seed["outcome"]["verified_by"]
    assert kept["tags"] == ["new"]
    assert kept["intent"] == seed["intent"]


def test_an_edit_takes_an_optional_value_away_with_null(mem, seed):
    work = mem.record(**seed)

    mem.edit(work.id, outcome={"follow_up_needed": None})

    assert "follow_up_needed" not in file_of(mem, work)["outcome"]


@pytest.mark.parametrize("change", [{"outcome": {"success": "yes"}}, {"importance": 2}, {"agent_id": "lee"}, {"nonsense": 1},
                                    {"access_count": 5}, {"origin": {"trust": "user"}}, {"created_at": 5}])
def test_an_edit_that_breaks_a_rule_or_takes_credit_is_refused(mem, snapshot, change):
    work = mem.record(SHORT, agent="kim")
    before = snapshot()

    with pytest.raises(Invalid):
        mem.edit(work.id, change)

    assert snapshot() == before


def test_unknown_keys_survive_an_edit(mem):
    work = mem.record(SHORT, intent={"ticket": "AB-1"})
    path = mem.path / mem.get(work.id).path
    path.write_text(path.read_text().replace('"tags"', '"mood": "calm",\n  "tags"'))

    mem.edit(work.id, importance=0.8)

    assert file_of(mem, work)["mood"] == "calm"
    assert file_of(mem, work)["intent"]["ticket"] == "AB-1"


def test_a_forgotten_work_is_gone_until_it_is_restored(mem):
    work = mem.record(SHORT, files=["src/auth.ts"])

    mem.forget(work.id)
    assert mem.check_file("src/auth.ts").state == "nothing"
    with pytest.raises(NotFound):
        mem.get(work.id)

    mem.restore(work.id)
    assert mem.check_file("src/auth.ts").state == "notices"
