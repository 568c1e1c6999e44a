"""What several chapters teach together, every line with what it stands on."""

from __future__ import annotations

import pytest

from otolith.derive.chapters import find_groups, write_chapter
from otolith.derive.wisdom import MOST_CHAPTERS, build_wisdom, cite, cited_in, split_eras
from otolith.model.narrative import Chapter, Wisdom
from work.conftest import member_of

DAY = 86_400


@pytest.fixture
def chapters(make):
    """Three chapters of two works each, a month apart, with a failure that comes back."""
    told = []
    for n in range(3):
        at = n * 30 * DAY
        works = [
            make(10 * n, at=at, goal=f"Migrate schema {n}", files=["db/schema.sql"], success=False, category="test_failure",
                 reason="fixtures were stale", tags=["db"]),
            make(10 * n + 1, at=at + 60, goal=f"Migrate schema {n} again", files=["db/schema.sql", f"db/{n}.sql"], tags=["db"],
                 learnings=["Regenerate fixtures before a migration"], approach="Regenerate fixtures, then migrate",
                 importance=0.5),
        ]
        group, = find_groups(map(member_of, works))
        told.append(write_chapter(group, works))
    return told


@pytest.mark.clause("work-22", "work-23", "work-25")
def test_wisdom_says_in_short_what_its_chapters_come_to(chapters):
    wisdom = build_wisdom(chapters)

    assert wisdom.summary.startswith("3 chapters of default, 1970-01-01 to 1970-03-02: 3 works succeeded, 3 failed.")
    assert "Regenerate fixtures before a migration" in wisdom.summary
    assert wisdom.id.startswith("wisdom_")
    assert wisdom.tags == ("db",)


@pytest.mark.clause("work-26")
def test_an_insight_of_several_chapters_comes_first_and_cites_them(chapters):
    first = build_wisdom(chapters).insights[0]

    assert first.startswith("Regenerate fixtures before a migration [")
    assert set(cited_in(first)) == {chapter.id for chapter in chapters}


@pytest.mark.clause("work-27")
def test_patterns_are_what_came_back_in_several_chapters(chapters):
    patterns = build_wisdom(chapters).patterns

    assert any(line.startswith("test_failure came back in 3 of 3 chapters (3 works) [") for line in patterns)
    assert any("The same reason for failing: fixtures were stale" in line for line in patterns)
    assert any("db/schema.sql was changed by 6 works in 3 chapters, 3 of them failed" in line for line in patterns)
    assert not any("db/0.sql" in line for line in patterns)


@pytest.mark.clause("work-28")
def test_best_practices_are_what_worked(chapters):
    practices = build_wisdom(chapters).best_practices

    assert practices[0].startswith("For bug_fix: Regenerate fixtures, then migrate [")


def test_every_line_cites_chapters_it_was_built_from(chapters):
    wisdom = build_wisdom(chapters)

    for line in (*wisdom.insights, *wisdom.patterns, *wisdom.best_practices):
        assert cited_in(line), line
        assert set(cited_in(line)) <= set(wisdom.chapters)


@pytest.mark.clause("work-24", "work-29", "work-30")
def test_wisdom_reaches_from_the_earliest_start_to_the_latest_end_of_its_chapters(chapters):
    wisdom = build_wisdom(chapters[::-1])

    assert wisdom.start_ts == min(chapter.start_ts for chapter in chapters)
    assert wisdom.end_ts == max(chapter.end_ts for chapter in chapters)
    assert (wisdom.created_at, wisdom.updated_at) == (wisdom.start_ts, wisdom.end_ts)
    assert wisdom.chapters == tuple(chapter.id for chapter in chapters)
    assert wisdom.project_id == "default"


def test_wisdom_is_the_same_every_time_and_survives_its_file(chapters):
    wisdom = build_wisdom(chapters)

    assert build_wisdom(chapters) == wisdom
    assert Wisdom.from_dict(wisdom.to_dict()) == wisdom


def test_wisdom_keeps_its_id_when_a_chapter_is_added(chapters):
    assert build_wisdom(chapters[:2]).id == build_wisdom(chapters).id
    assert build_wisdom(chapters[:2]).fingerprint != build_wisdom(chapters).fingerprint


def test_chapters_without_a_digest_still_teach_what_they_learned(chapters):
    bare = [chapter.replace(extra={}) for chapter in chapters]

    assert build_wisdom(bare).insights == build_wisdom(chapters).insights


def test_a_project_with_one_chapter_has_no_wisdom_yet(chapters):
    assert split_eras(chapters[:1]) == []


def test_many_chapters_make_several_pieces_and_a_new_one_touches_only_the_last():
    many = [Chapter(id=f"chapter_{n:04}", summary="s", created_at=n, updated_at=n, start_ts=n, end_ts=n)
            for n in range(2 * MOST_CHAPTERS + 1)]

    before, after = split_eras(many[:-2]), split_eras(many)

    assert [len(era) for era in after] == [MOST_CHAPTERS, MOST_CHAPTERS + 1]
    assert before[0] == after[0]


def test_at_most_three_ids_are_cited_and_the_rest_is_counted():
    line = cite("So it is", [f"chapter_{n}" for n in range(5)])

    assert line == "So it is [chapter_0, chapter_1, chapter_2, +2]"
    assert cited_in(line) == ("chapter_0", "chapter_1", "chapter_2")
    assert cited_in("a line without any") == ()
