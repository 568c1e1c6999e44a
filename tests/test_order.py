"""Order to the moment: what was written first comes first, also within one second, in every clone and after a rebuild."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import otolith
from otolith.memory import Memory

NOW = 1_770_759_420.0


@pytest.fixture
def still(home: Path) -> Callable[[], Memory]:
    """Opens the home with a clock that stands still."""
    return lambda: Memory(home, clock=lambda: NOW)


@pytest.mark.clause("dialog-68")
@pytest.mark.parametrize("attempt", range(6))
def test_of_two_dialogs_of_one_second_the_later_one_holds(still: Callable[[], Memory], attempt: int) -> None:
    with still() as mem:
        mem.log("Ann: I live in Lisbon.", topic="life")
        mem.log("Ann: I live in Porto.", topic="life")

        def current() -> list[str]:
            return [fact.object for fact in mem.facts(topic="life") if not fact.superseded_by]

        assert current() == ["Porto"]
        mem.reindex()
        assert current() == ["Porto"]


def test_works_of_one_second_are_listed_newest_first(still: Callable[[], Memory]) -> None:
    with still() as mem:
        goals = [f"Mend part {number}" for number in range(5)]
        for goal in goals:
            mem.record(intent={"goal": goal, "task_type": "bug_fix"}, outcome={"success": True, "summary": "done"})

        for _ in range(2):
            assert [row["title"] for row in mem.list(kind="work")[0]] == goals[::-1]
            mem.reindex()


def test_memos_of_one_minute_are_listed_newest_first(still: Callable[[], Memory]) -> None:
    with still() as mem:
        names = [f"user_likes_{word}" for word in ("tea", "rain", "maps", "owls")]
        for name in names:
            mem.memo(name, f"The user likes {name[11:]}.")

        assert [row["id"] for row in mem.list(kind="memo")[0]] == names[::-1]


def test_a_clock_that_goes_back_does_not_change_the_order(home: Path) -> None:
    times = iter([NOW, NOW - 3600, NOW - 7200] * 20)
    with Memory(home, clock=lambda: next(times)) as mem:
        moments = [mem.home.stamp_now() for _ in range(5)]

    assert moments == sorted(set(moments))


def test_a_turn_counts_by_its_own_time_not_by_its_dialogs(mem: Memory) -> None:
    late = {"role": "user", "content": "I live in Oslo.", "ts": "2026-01-03T10:00:00Z"}
    early = {"role": "user", "content": "I live in Rome.", "ts": "2026-01-02T10:00:00Z"}
    mem.log([late], topic="life", created="2026-01-01")
    mem.log([early], topic="life", created="2026-01-02T09:00:00Z")

    assert [fact.object for fact in mem.facts(topic="life") if not fact.superseded_by] == ["Oslo"]


def test_links_read_the_same_whatever_the_order_of_their_lines(mem: Memory, home: Path) -> None:
    work = mem.record(intent={"goal": "Mend it", "task_type": "bug_fix"}, outcome={"success": True, "summary": "ok"})
    notes = [mem.note(f"Note {number}", "x") for number in range(4)]
    for note in notes:
        mem.link(work.id, "related_to", note.id)
    mem.unlink(work.id, "related_to", notes[0].id)
    mem.link(work.id, "related_to", notes[0].id)
    mem.unlink(work.id, "related_to", notes[1].id)
    before = sorted(near["id"] for near in mem.related(work.id))
    path = home / "links.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    assert all(json.loads(line)["at"] for line in lines)

    for seed in range(5):
        random.Random(seed).shuffle(lines)
        path.write_text("".join(lines))
        mem.sync()
        assert sorted(near["id"] for near in mem.related(work.id)) == before


def test_scores_read_the_same_whatever_the_order_of_their_lines(still: Callable[[], Memory], home: Path) -> None:
    with still() as mem:
        mem.log("Ann: I am a vegan.", topic="life")
        fact = mem.facts(topic="life")[0]
        for score in (3, 9, 1, 7):
            mem.review(str(fact.id), score=score)
        path = home / "topics/life/curation.jsonl"
        lines = path.read_text().splitlines(keepends=True)

        for seed in range(4):
            random.Random(seed).shuffle(lines)
            path.write_text("".join(lines))
            mem.sync()
            assert mem.facts(topic="life")[0].user_fact_score == 7


def test_lines_without_a_moment_are_read_by_their_time(home: Path) -> None:
    with otolith.open(home) as mem:
        a, b = mem.note("A", "x"), mem.memo("user_likes_tea", "Tea.")
        line = {"from": a.id, "type": "related_to", "to": b.id}
        (home / "links.jsonl").write_text("\n".join(json.dumps({**line, **more}) for more in (
            {"op": "remove", "created": "2026-01-02T00:00:00Z"}, {"op": "add", "created": "2026-01-01T00:00:00Z"})) + "\n")
        mem.sync()

        assert mem.related(a.id) == []
