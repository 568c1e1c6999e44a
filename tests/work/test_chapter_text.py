"""What a chapter tells of its works."""

from __future__ import annotations

import pytest

from otolith.derive.chapters import MOST_LEARNINGS, describe, find_groups, read_digest, write_chapter
from otolith.errors import Invalid
from otolith.model.narrative import Chapter
from work.conftest import member_of


@pytest.fixture
def story(make):
    """Three works on one folder: a failure, what replaced it, and a clean-up."""
    return [
        make(1, goal="Refresh tokens early", files=["src/auth/a.ts"], success=False, reason="timers race",
             category="race_condition", approach="Refresh on a timer", tags=["auth"], agent_id="kim"),
        make(2, goal="Refresh tokens on 401", files=["src/auth/a.ts"], summary="Refresh works", tags=["auth", "jwt"],
             learnings=["Queue requests during a refresh"], approach="Refresh in the interceptor", importance=0.9,
             links={"caused_by": ["mem_1"]}),
        make(3, goal="Remove the timer", files=["src/auth/b.ts"], summary="Timer gone", tags=["auth"], task="refactor",
             learnings=["queue requests during a refresh."], follow_ups=["Add monitoring"]),
    ]


def told(works):
    group, = find_groups(map(member_of, works))
    return write_chapter(group, works)


@pytest.mark.clause("work-12", "work-16", "work-17")
def test_a_chapter_tells_what_was_done_what_failed_and_what_was_learned(story):
    chapter = told(story)

    assert chapter.title == "src/auth: Refresh tokens on 401"
    assert "3 works in src/auth" in chapter.summary
    assert "2 succeeded, 1 failed" in chapter.summary
    assert "Refresh tokens early (timers race)" in chapter.summary
    assert "Refresh works" in chapter.summary
    assert "Still to do: Add monitoring" in chapter.summary
    assert chapter.learnings == ("Queue requests during a refresh", "Did not work: Refresh on a timer — timers race")


@pytest.mark.clause("work-14", "work-18", "work-19", "work-20", "work-21")
def test_a_found_chapter_has_the_times_tags_topics_and_members_of_its_works(story):
    chapter = told(story)

    assert (chapter.start_ts, chapter.end_ts) == (story[0].created_at, story[2].created_at)
    assert (chapter.created_at, chapter.updated_at) == (chapter.start_ts, chapter.end_ts)
    assert chapter.tags == ("auth", "jwt")
    assert chapter.topics == ("auth", "refresh", "tokens")
    assert chapter.memories == ("mem_1", "mem_2", "mem_3")
    assert chapter.origin == "auto"
    assert chapter.project_id == "default"


def test_a_chapter_is_told_the_same_in_any_order_and_survives_its_file(story):
    chapter = told(story)

    assert told(story[::-1]) == chapter
    assert Chapter.from_dict(chapter.to_dict()) == chapter


def test_a_replaced_work_is_counted_but_teaches_nothing(make):
    works = [make(1, files=["a/x"], learnings=["Use the old API"]),
             make(2, files=["a/x"], learnings=["Use the new API instead, always"], links={"supersedes": "mem_1"})]

    chapter = told(works)

    assert chapter.learnings == ("Use the new API instead, always",)
    assert "2 works" in chapter.summary


@pytest.mark.parametrize(("newer", "older", "replaced"), [
    ("outside", "user", False), ("outside", "agent", False), ("outside", "outside", True), ("agent", "user", True)])
def test_a_work_from_outside_replaces_only_what_is_from_outside(make, newer, older, replaced):
    works = [make(1, files=["a/x"], learnings=["Use the old API"], origin={"trust": older}),
             make(2, files=["a/x"], learnings=["Use the new API instead, always"], links={"supersedes": "mem_1"},
                  origin={"trust": newer})]

    assert ("Use the old API" not in told(works).learnings) == replaced


def test_learnings_are_bounded_and_what_several_works_say_comes_first(make):
    works = [make(n, files=["a/x"], learnings=[f"Lesson {chr(97 + n) * 5} stands alone", "Pin the version of the compiler"])
             for n in range(20)]

    chapter = told(works)

    assert chapter.learnings[0] == "Pin the version of the compiler"
    assert len(chapter.learnings) == MOST_LEARNINGS


def test_a_chapter_is_trusted_as_little_as_its_least_trusted_work(make):
    works = [make(1, files=["a/x"], origin={"trust": "agent"}), make(2, files=["a/x"], origin={"trust": "outside"})]

    assert told(works).trust == "outside"
    assert told([make(1, files=["a/x"]), make(2, files=["a/x"])]).trust == "user"


def test_the_fingerprint_follows_what_works_say_and_not_how_often_they_were_used(story):
    chapter = told(story)
    used = [work.replace(access_count=9, last_accessed=5) for work in story]
    edited = [*story[:2], story[2].replace(importance=0.7)]

    assert told(used).fingerprint == chapter.fingerprint
    assert told(edited).fingerprint != chapter.fingerprint


def test_what_a_person_gave_stands_as_given(story):
    chapter = describe(story[:1], chapter_id="chapter_x", project="p", origin="manual", title="My title", summary="My words",
                   tags=["mine"], made=99)

    assert (chapter.title, chapter.summary, chapter.tags) == ("My title", "My words", ("mine",))
    assert (chapter.created_at, chapter.start_ts, chapter.origin) == (99, story[0].created_at, "manual")


def test_a_chapter_of_nothing_is_refused():
    with pytest.raises(Invalid, match="at least one work"):
        describe([], chapter_id="chapter_x", project="p", origin="manual")


def test_the_digest_counts_and_cites(story):
    digest = read_digest(told(story))

    assert (digest.succeeded, digest.failed) == (2, 1)
    assert digest.failures == {"race_condition": ["mem_1"]}
    assert digest.files == {"src/auth/a.ts": [2, 1], "src/auth/b.ts": [1, 0]}
    assert [way.work for way in digest.approaches] == ["mem_2"]


@pytest.mark.parametrize("broken", ["text", {"files": {"a": 3}}, {"failed": "two"}, {"files": {"a": [1]}}, 7])
def test_a_broken_digest_counts_for_nothing(story, broken):
    chapter = told(story).replace(extra={"digest": broken})

    assert read_digest(chapter).files == {}
    assert read_digest(chapter).failed == 0
