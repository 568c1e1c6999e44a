"""Agents: registered or known by their works, main or with a parent; sessions that are taken up again."""

from __future__ import annotations

import json

import pytest

from otolith.errors import Conflict, Invalid, NotFound

SHORT = {"task_type": "bug_fix", "success": True, "summary": "done"}


@pytest.mark.clause("work-65", "work-66")
def test_an_agent_is_a_file_under_work_agents(mem, clock):
    mem.agent("kim", metadata={"model": "small"})

    assert json.loads((mem.path / "work/agents/kim.json").read_text()) == {
        "schema": "agent.v1", "id": "kim", "type": "main", "parent_id": None, "project_id": "default", "created_at": int(clock()),
        "metadata": {"model": "small"}}


@pytest.mark.clause("work-66", "work-67", "work-03")
def test_a_subagent_has_a_parent_that_is_known(mem):
    mem.agent("kim")

    tests = mem.agent("kim-tests", parent="kim")

    assert (tests.type, tests.parent_id) == ("subagent", "kim")
    with pytest.raises(Invalid, match="parent"):
        mem.agent("orphan", type="subagent")
    with pytest.raises(NotFound, match="parent"):
        mem.agent("orphan", parent="nobody")
    with pytest.raises(Invalid, match="no parent"):
        mem.agent("two-faced", type="main", parent="kim")


@pytest.mark.clause("work-66")
@pytest.mark.parametrize("wrong", [{"type": "boss"}, {"id": "../kim"}, {"id": "a" * 65}, {"id": ".."}])
def test_any_other_type_and_an_unsafe_name_are_refused(mem, wrong):
    with pytest.raises(Invalid):
        mem.agent(**{"id": "kim", **wrong})


def test_registering_again_returns_the_same_agent_and_adds_to_what_is_known(mem, clock):
    first = mem.agent("kim", metadata={"model": "small", "team": "a"})
    clock.pass_time(days=1)

    again = mem.agent("kim", metadata={"model": "large"})

    assert again.created_at == first.created_at
    assert again.metadata == {"model": "large", "team": "a"}
    with pytest.raises(Conflict):
        mem.agent("kim", type="subagent", parent="kim")


def test_an_agent_without_a_name_gets_one(mem):
    assert mem.agent().id.startswith("agent_")


def test_agents_are_listed_with_their_works_whether_registered_or_not(mem):
    mem.agent("kim")
    mem.record(goal="a", agent="lee", session="s1", **SHORT)
    mem.record(goal="b", agent="lee", session="s2", project="shop", **SHORT)

    listed = {row["id"]: row for row in mem.agents()}

    assert (listed["kim"]["works"], listed["kim"]["registered"]) == (0, True)
    assert (listed["lee"]["works"], listed["lee"]["sessions"], listed["lee"]["registered"]) == (2, 2, False)
    assert [row["id"] for row in mem.agents(project="shop")] == ["lee"]


def test_an_agent_taken_up_again_writes_on_in_its_last_session(mem, clock):
    mem.record(goal="first", agent="kim", session="s1", **SHORT)
    clock.pass_time(hours=1)
    mem.record(goal="second", agent="kim", session="s2", follow_up_needed=["Add a test"], **SHORT)
    mem.record(goal="other", agent="lee", session="s3", **SHORT)

    taken = mem.resume("kim")

    assert (taken["agent"], taken["session"]) == ("kim", "s2")
    assert [work["title"] for work in taken["works"]] == ["second"]
    assert [(notice["trigger"], notice["title"]) for notice in taken["notices"]] == [("follow-up", "Add a test")]
    work = mem.record(goal="third", **SHORT)
    assert (work.agent_id, work.session_id) == ("kim", "s2")


def test_a_named_session_is_taken_up_and_an_unknown_one_is_refused(mem):
    mem.record(goal="first", agent="kim", session="s1", **SHORT)
    mem.record(goal="second", agent="kim", session="s2", **SHORT)

    assert mem.resume("kim", "s1")["works"][0]["title"] == "first"
    with pytest.raises(NotFound, match="s9"):
        mem.resume("kim", "s9")
    with pytest.raises(NotFound, match="register"):
        mem.resume("nobody")


def test_what_is_left_undone_is_told_until_it_is_made_good(mem, clock):
    mem.record(goal="Cache the index page", task_type="optimization", success=False, summary="stale reads")
    assert [notice.trigger for notice in mem.unfinished()] == ["unfinished"]

    clock.pass_time(hours=1)
    mem.record(goal="Cache the index page", task_type="optimization", success=True, summary="keyed by version")
    assert mem.unfinished() == []


def test_a_forgotten_agent_file_leaves_its_works_credited(mem):
    mem.agent("kim")
    mem.record(goal="a", agent="kim", **SHORT)

    mem.forget("kim")

    assert [(row["id"], row["registered"]) for row in mem.agents()] == [("kim", False)]
