"""What memory offers unasked: notices that never force, never repeat at once and never pretend to know nothing."""

from __future__ import annotations

import pytest

from otolith.derive.notices import COOLDOWN, check_file, find_conflicts, match_intent, start_session
from work.conftest import touch_of

NOW = 1_770_811_200.0  # a day after noon
PATH = "src/auth.ts"


@pytest.fixture
def touches(make):
    works = [
        make(1, goal="Refresh tokens on a timer", success=False, reason="timers race", approach="Refresh on a timer",
             agent_id="kim"),
        make(2, goal="Log every refresh", summary="Logged", agent_id="lee"),
        make(3, goal="Rename helpers", summary="Renamed", agent_id="lee"),
    ]
    return [touch_of(work, "edit") for work in reversed(works)]


def test_what_failed_on_a_file_comes_first_with_who_when_and_how_to_ask_for_more(touches):
    found = check_file(PATH, touches, NOW)

    first = found.notices[0]
    assert found.state == "notices"
    assert (first.title, first.agent, first.success, first.why) == ("Refresh tokens on a timer", "kim", False, "timers race")
    assert first.age == "23 hours ago"
    assert first.more == "otolith get mem_1 --depth reasoning"
    assert [notice.id for notice in found.notices] == ["mem_1", "mem_3", "mem_2"]
    assert "FAILED: Refresh tokens on a timer (kim edited, 23 hours ago) — timers race." in found.text


def test_a_file_nobody_touched_is_said_to_be_unknown():
    found = check_file(PATH, [], NOW)

    assert found.state == "nothing"
    assert found.text == f"nothing known of {PATH}"


def test_what_was_just_shown_is_held_back_but_said_to_be_known(touches):
    shown = dict.fromkeys(("mem_1", "mem_2", "mem_3"), NOW - 60)

    found = check_file(PATH, touches, NOW, shown=shown)

    assert found.state == "shown"
    assert found.notices == ()
    assert found.known == 3
    assert set(found.already) == {"mem_1", "mem_2", "mem_3"}
    assert "nothing known" not in found.text
    assert "3 works on src/auth.ts already shown 1 minute ago; again: otolith check-file src/auth.ts --again" in found.text
    assert found.to_dict()["state"] == "shown"


def test_what_is_new_comes_even_while_the_rest_cools_down(touches):
    found = check_file(PATH, touches, NOW, shown={"mem_1": NOW - 60, "mem_2": NOW - 60})

    assert [notice.id for notice in found.notices] == ["mem_3"]
    assert found.state == "notices"


def test_after_the_cooldown_it_is_shown_again(touches):
    found = check_file(PATH, touches, NOW, shown=dict.fromkeys(("mem_1", "mem_2", "mem_3"), NOW - COOLDOWN))

    assert len(found.notices) == 3


def test_a_plan_that_failed_on_this_file_is_a_conflict(touches):
    found = check_file(PATH, touches, NOW, plan="refreshing the token on a timer")

    assert found.notices[0].trigger == "conflict"
    assert found.notices[0].id == "mem_1"
    assert "FAILED BEFORE" in found.text


def test_a_conflict_is_never_held_back(touches):
    shown = dict.fromkeys(("mem_1", "mem_2", "mem_3"), NOW - 1)

    found = check_file(PATH, touches, NOW, shown=shown, plan="refresh tokens with a timer")

    assert [(notice.trigger, notice.id) for notice in found.notices] == [("conflict", "mem_1")]


def test_a_different_plan_a_success_and_a_replaced_failure_are_no_conflict(touches):
    assert find_conflicts("drop the session table", touches, NOW) == []
    assert find_conflicts("log every refresh", touches, NOW) == []
    assert find_conflicts("refresh tokens on a timer", [touches[-1]._replace(replaced=True)], NOW) == []
    assert find_conflicts("", touches, NOW) == []


def test_a_failure_that_was_made_good_later_says_by_what(make):
    works = [make(1, goal="Refresh the tokens", success=False), make(2, goal="Refresh tokens")]

    found = check_file(PATH, [touch_of(work, "edit") for work in works], NOW)

    assert found.notices[0].solved_by == "mem_2"
    assert "later solved by mem_2" in found.text


def test_more_than_a_handful_is_counted_and_pointed_to(make):
    many = [touch_of(make(n), "edit") for n in range(9)]

    found = check_file(PATH, many[:6], NOW, known=9)

    assert len(found.notices) == 5
    assert "4 works more on src/auth.ts: otolith recall --file src/auth.ts --kind work" in found.text


def test_works_with_the_same_aim_are_offered_closest_first(make):
    past = [touch_of(make(1, goal="Fix flaky login test", task="test_write")),
            touch_of(make(2, goal="Fix the flaky login test in the browser", task="bug_fix")),
            touch_of(make(3, goal="Update the changelog"))]

    found = match_intent("fix flaky login tests", "test_write", past, NOW)

    assert [notice.id for notice in found] == ["mem_1", "mem_2"]
    assert all(notice.trigger == "intent" for notice in found)


def test_a_session_starts_with_what_was_left_undone(make):
    past = [touch_of(work) for work in (
        make(1, goal="Cache the index page", success=False, reason="stale reads"),
        make(2, goal="Speed up the build", follow_ups=["Measure the cold build", "Drop the old cache"]),
        make(3, goal="Drop the old cache"),
    )]

    found = start_session(past, NOW)

    assert [(notice.trigger, notice.title) for notice in found] == [
        ("follow-up", "Measure the cold build"), ("unfinished", "Cache the index page")]


def test_a_failure_that_a_later_work_made_good_or_replaced_is_finished(make):
    past = [touch_of(make(1, goal="Cache the index page", success=False)), touch_of(make(2, goal="Caching the index page"))]

    assert start_session(past, NOW) == []
    assert start_session([touch_of(make(1, success=False), replaced=True)], NOW) == []


def test_a_work_from_the_future_is_not_of_negative_age(make):
    notice, = check_file(PATH, [touch_of(make(1, at=NOW + 500), "edit")], NOW).notices

    assert notice.age == "moments ago"


def test_a_notice_is_one_line_however_long_and_torn_its_work_is(make):
    work = make(1, goal="Fix\nit\tall " + "x" * 5000, success=False, reason="It\nbroke. Then it burned.")

    notice, = check_file(PATH, [touch_of(work, "edit")], NOW).notices

    assert len(notice.text.splitlines()) == 1
    assert len(notice.text) < 600
    assert "— It broke. More:" in notice.text
