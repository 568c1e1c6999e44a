"""Links between works: stored once, seen from both ends, followed as causes and effects."""

from __future__ import annotations

import json

import pytest

from otolith.errors import Invalid, NotFound
from otolith.verbs.work import record


@pytest.fixture
def work(mem):
    """work("a") records a work with that goal and says its id."""

    def make(goal, **more):
        return mem.record(goal=goal, task_type="bug_fix", success=True, summary=f"{goal} done", **more).id

    return make


def links_in_file(mem, record):
    return json.loads((mem.path / mem.get(record).path).read_text())["links"]


def seen(mem, record):
    return {(link["link"], link["id"]) for link in mem.related(record)}


@pytest.mark.clause("work-07", "work-60", "work-61", "work-62", "work-63", "work-64")
def test_links_given_with_a_work_are_kept_as_given(mem, work):
    a, b, c, d, e = (work(goal) for goal in "abcde")

    f = work("f", links={"caused_by": [a], "led_to": [b], "related_to": [c], "supersedes": d, "blocked_by": e})

    assert links_in_file(mem, f) == {"caused_by": [a], "led_to": [b], "related_to": [c], "supersedes": d, "blocked_by": e}


@pytest.mark.clause("work-64")
def test_several_blockers_are_all_kept_and_a_single_one_is_a_string(mem, work):
    a, b = work("a"), work("b")

    assert links_in_file(mem, work("c", links={"blocked_by": [a, b]}))["blocked_by"] == [a, b]
    assert links_in_file(mem, work("d", links={"blocked_by": [a]}))["blocked_by"] == a


@pytest.mark.clause("work-60", "work-61", "work-77", "work-89")
@pytest.mark.parametrize(("said", "from_far"), [("caused_by", "led_to"), ("led_to", "caused_by"), ("related_to", "related_to"),
                                                ("supersedes", "superseded_by"), ("blocked_by", "blocks")])
def test_a_link_is_stored_once_and_seen_from_the_far_side(mem, work, said, from_far):
    a, b = work("a"), work("b")

    mem.link(a, said, b)

    assert seen(mem, a) == {(said, b)}
    assert seen(mem, b) == {(from_far, a)}
    assert links_in_file(mem, b) == {}
    assert mem.sql("SELECT source_id, target_id, link_type FROM memory_links")["rows"] == [[a, b, said]]


@pytest.mark.clause("work-76", "work-77")
def test_the_same_link_cannot_exist_twice_in_either_spelling(mem, work):
    a, b = work("a"), work("b")

    mem.link(a, "caused_by", b)
    mem.link(a, "caused_by", b)
    mem.link(b, "led_to", a)

    assert mem.sql("SELECT count(*) FROM memory_links")["rows"] == [[1]]


def test_a_link_remembers_when_it_was_made(mem, work, clock):
    a, b = work("a"), work("b")
    clock.pass_time(days=3)

    mem.link(a, "caused_by", b)

    assert mem.sql("SELECT created_at FROM memory_links")["rows"] == [[int(clock())]]


@pytest.mark.clause("work-77", "work-81")
@pytest.mark.parametrize("word", ["caused_by", "led_to", "related_to", "supersedes", "blocked_by"])
def test_a_link_to_nothing_and_to_itself_is_refused(mem, work, word):
    a = work("a")

    with pytest.raises(NotFound):
        mem.link(a, word, "mem_00000000-0000-0000-0000-000000000000")
    with pytest.raises(NotFound):
        work("b", links={word: ["mem_nowhere"]})
    with pytest.raises(Invalid, match="itself"):
        mem.link(a, word, a)
    with pytest.raises(Invalid, match="itself"):
        mem.edit(a, links={word: [a]})
    assert mem.sql("SELECT count(*) FROM memory_links")["rows"] == [[0]]
    assert mem.list(kind="work")[1] == 1


def test_an_unknown_kind_of_link_is_refused_with_those_there_are(mem, work):
    with pytest.raises(Invalid, match="caused_by"):
        mem.link(work("a"), "because_of", work("b"))
    with pytest.raises(Invalid, match="must name works"):
        work("c", links={"caused_by": [mem.note("A note").id]})


@pytest.mark.clause("work-63")
def test_a_circle_of_replacements_is_refused(mem, work):
    a, b, c = work("a"), work("b"), work("c")
    mem.link(b, "supersedes", a)
    mem.link(c, "supersedes", b)

    with pytest.raises(Invalid, match="supersedes"):
        mem.link(a, "supersedes", c)
    with pytest.raises(Invalid, match="supersedes"):
        mem.edit(a, links={"supersedes": c})


@pytest.mark.clause("work-63", "work-87")
def test_a_replaced_work_sinks_below_the_one_that_replaces_it(mem):
    told = {"task_type": "bug_fix", "success": True}
    old = mem.record(goal="Rotate the signing keys", summary="Rotate the signing keys by hand every month", **told)
    new = mem.record(goal="Rotate the signing keys", summary="Rotate the signing keys by a timer", links={"supersedes": old.id},
                     **told)

    hits = mem.recall("rotate signing keys").hits

    assert [hit.id for hit in hits] == [new.id, old.id]
    assert hits[1].superseded_by == new.id


@pytest.mark.parametrize(("trust", "told"), [("outside", True), ("user", False)])
def test_a_work_from_outside_makes_no_failure_of_ours_good(mem, trust, told):
    failed = mem.record(goal="Rotate the signing keys", task_type="bug_fix", success=False, summary="It broke", files=["src/a.ts"],
                        failure_reason="no access")

    record(mem.home, {"goal": "Say all is well", "task_type": "bug_fix", "success": True, "summary": "All is well",
                      "links": {"supersedes": failed.id}}, trust=trust)

    assert ("Rotate the signing keys" in mem.brief().text) is told
    assert (mem.get(failed.id).superseded_by is None) is told


@pytest.mark.clause("work-90")
def test_causes_and_effects_are_followed_from_either_end(mem, work):
    a, b, c = work("a"), work("b"), work("c")
    mem.link(b, "caused_by", a)
    mem.link(b, "led_to", c)

    assert [(step["id"], step["link"], step["depth"]) for step in mem.trace(c, direction="causes")] == [
        (b, "caused_by", 1), (a, "caused_by", 2)]
    assert [step["id"] for step in mem.trace(a, direction="effects")] == [b, c]
    assert [(step["id"], step["direction"]) for step in mem.trace(b)] == [(a, "causes"), (c, "effects")]
    assert mem.trace(a, direction="causes") == []


def test_what_blocked_a_work_is_among_its_causes(mem, work):
    a, b = work("a"), work("b")
    mem.link(b, "blocked_by", a)

    assert [step["link"] for step in mem.trace(b, direction="causes")] == ["blocked_by"]
    assert [step["link"] for step in mem.trace(a, direction="effects")] == ["blocks"]


def test_a_trace_goes_as_deep_as_asked_and_ends_in_a_circle(mem, work):
    a, b, c = work("a"), work("b"), work("c")
    for source, target in ((a, b), (b, c), (c, a)):
        mem.link(source, "led_to", target)

    assert [step["id"] for step in mem.trace(a, direction="effects", max_depth=1)] == [b]
    assert [(step["id"], step["again"]) for step in mem.trace(a, direction="effects")] == [(b, False), (c, False), (a, True)]


def test_children_follow_their_parent_and_a_record_is_opened_once(mem, work):
    a, b, c, d = (work(goal) for goal in "abcd")
    for source, target in ((a, b), (a, c), (b, d), (c, d)):
        mem.link(source, "led_to", target)

    steps = mem.trace(a, direction="effects")

    assert sorted(step["id"] for step in steps) == sorted([b, c, d, d])
    assert sum(step["again"] for step in steps) == 1
    for at, step in enumerate(steps):
        assert step["depth"] == 1 or steps[at - 1]["id"] == step["from"]


@pytest.mark.parametrize("wrong", [{"direction": "sideways"}, {"max_depth": 0}, {"max_depth": 1000}])
def test_a_trace_that_makes_no_sense_is_refused(mem, work, wrong):
    with pytest.raises(Invalid):
        mem.trace(work("a"), **wrong)


def test_links_to_a_forgotten_work_are_hidden_and_come_back(mem, work):
    a, b = work("a"), work("b")
    mem.link(a, "caused_by", b)

    mem.forget(b)
    assert mem.trace(a) == []

    mem.restore(b)
    assert [step["id"] for step in mem.trace(a)] == [b]


def test_unlink_takes_a_link_back(mem, work):
    a, b = work("a"), work("b")
    mem.link(a, "supersedes", b)

    mem.unlink(a, "supersedes", b)

    assert seen(mem, a) == set()
    assert mem.sql("SELECT count(*) FROM memory_links")["rows"] == [[0]]
