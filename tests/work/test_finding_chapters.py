"""Which works belong together, and that looking at what changed is enough."""

from __future__ import annotations

import random

import pytest

from otolith.derive.chapters import MOST_WORKS, PAUSE, close, find_groups
from otolith.index.works import Member
from otolith.model.record import folder_of, place_of, threads_of
from work.conftest import member_of

HOUR, DAY = 3600, 86_400


def groups(works, held=()):
    return [group.members for group in find_groups(map(member_of, works), held)]


def test_works_that_changed_files_of_one_folder_are_one_chapter(make):
    works = [make(1, files=["src/auth/a.ts"]), make(2, files=["src/auth/b.ts"]), make(3, files=["src/db/c.ts"])]

    assert groups(works) == [("mem_1", "mem_2")]


def test_a_pause_of_more_than_three_days_ends_a_chapter(make):
    near = [make(1, files=["src/a.ts"], at=0), make(2, files=["src/a.ts"], at=PAUSE)]
    far = [make(3, files=["src/a.ts"], at=2 * PAUSE + 1), make(4, files=["src/a.ts"], at=2 * PAUSE + 2)]

    assert groups(near + far) == [("mem_1", "mem_2"), ("mem_3", "mem_4")]


def test_works_of_different_projects_are_never_one_chapter(make):
    assert groups([make(1, files=["a/x"], project_id="p"), make(2, files=["a/x"], project_id="q")]) == []


def test_works_of_one_session_that_share_a_tag_are_one_chapter(make):
    works = [make(1, files=["src/api/a"], tags=["jwt"], session_id="s"),
             make(2, files=["src/db/b"], tags=["jwt"], session_id="s"),
             make(3, files=["docs/c"], tags=["jwt"], session_id="other")]

    assert groups(works) == [("mem_1", "mem_2")]


def test_works_without_files_come_together_by_their_first_tag(make):
    assert groups([make(1, tags=["release"]), make(2, tags=["release", "x"]), make(3, tags=["x"])]) == [("mem_1", "mem_2")]


@pytest.mark.parametrize("word", ["caused_by", "led_to", "related_to", "supersedes", "blocked_by"])
def test_a_link_joins_two_works_wherever_they_took_place(make, word):
    works = [make(1, files=["a/x"]), make(2, files=["b/y"], links={word: "mem_1" if word[0] in "sb" else ["mem_1"]})]

    assert groups(works) == [("mem_1", "mem_2")]


def test_a_link_over_more_than_a_month_joins_nothing(make):
    works = [make(1, files=["a/x"], at=0), make(2, files=["b/y"], at=31 * DAY, links={"caused_by": ["mem_1"]})]

    assert groups(works) == []


def test_a_single_work_is_no_chapter(make):
    assert groups([make(1, files=["a/x"])]) == []


def test_works_of_a_manual_chapter_are_left_to_it(make):
    works = [make(n, files=["a/x"]) for n in range(4)]

    assert groups(works, held={"mem_1", "mem_2"}) == [("mem_0", "mem_3")]


def test_a_chapter_is_closed_after_forty_works(make):
    found = groups([make(n, files=["a/x"], at=n) for n in range(MOST_WORKS + 5)])

    assert [len(members) for members in found] == [MOST_WORKS, 5]


@pytest.mark.clause("work-13")
def test_a_chapter_that_grows_keeps_its_id(make):
    works = [make(n, files=["a/x"]) for n in range(3)]

    small, = find_groups(map(member_of, works[:2]))
    large, = find_groups(map(member_of, works))

    assert small.id == large.id
    assert small.id.startswith("chapter_")
    assert len(small.id) == len("chapter_") + 36


def test_the_order_in_which_works_arrive_does_not_matter(make):
    works = [make(n, files=[f"src/{'ab'[n % 2]}/x"]) for n in range(12)]
    shuffled = works.copy()
    random.Random(3).shuffle(shuffled)

    assert groups(shuffled) == groups(works)


def test_looking_at_the_neighbourhood_finds_what_looking_at_everything_finds():
    chance = random.Random(7)
    members = [Member(f"mem_{n}", "p", chance.uniform(0, 60 * DAY),
                      tuple(threads_of("p", [(f"src/{chance.randrange(12)}/x", "edit")], [f"t{chance.randrange(6)}"],
                                       f"s{chance.randrange(30)}")),
                      (f"mem_{chance.randrange(400)}",) if chance.random() < 0.05 else ())
               for n in range(400)]
    everything = set(find_groups(members))

    def near(member):
        for other in members:
            shared = set(other.threads) & set(member.threads)
            in_reach = shared and abs(other.created - member.created) <= PAUSE
            if in_reach or other.id in member.linked or member.id in other.linked:
                yield other

    for seed in chance.sample(members, 40):
        part = find_groups(close([seed], near).values())
        assert set(part) <= everything
        assert {group for group in everything if seed.id in group.members} <= set(part)


@pytest.mark.parametrize(("files", "place"), [
    ([("src/auth/a.ts", "edit"), ("src/db/b.ts", "edit"), ("src/auth/c.ts", "create")], "src/auth"),
    ([("README.md", "read"), ("src/db/b.ts", "edit")], "src/db"),
    ([("docs/a.md", "read")], "docs"),
    ([("./src/a.py", "edit")], "src"),
    ([("/srv/app/a.py", "edit")], "/srv/app"),
    ([("src\\win\\a.py", "edit")], "src/win"),
    ([("Makefile", "edit")], "Makefile"),
])
def test_a_work_took_place_where_most_of_its_changes_lie(files, place):
    assert place_of(files) == place


def test_without_files_the_first_tag_then_the_session_tell_the_place():
    assert place_of([], ["b", "a"], "s") == "#b"
    assert place_of([], [], "s") == "@s"
    assert place_of([]) == ""
    assert folder_of("a//b/./c") == "a/b"
