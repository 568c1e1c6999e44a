"""What a week of sessions leaves for the next one: what is to do is told as such, and nothing twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Clock
from otolith.memory import Memory
from otolith.recall.unasked import Offer, newest


@pytest.fixture
def mem(home: Path, clock: Clock) -> Memory:
    return Memory(home, clock=clock)


def part(text: str, heading: str) -> str:
    return text.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def test_what_the_user_left_to_do_and_what_failed_are_told_as_unfinished_and_nowhere_else(mem: Memory, home: Path) -> None:
    with mem:
        mem.memo("export_berth_list_as_csv", "TODO: export the berth list as CSV.", project="shop")
        file = home / "allmemories/export_berth_list_as_csv.md"
        file.write_text(file.read_text().replace("**Tags:**", "**Says:** todo\n**Tags:**"))
        mem.record(goal="Round VAT", task_type="feature_add", success=False, summary="Two tests fail", project="shop",
                   failure_reason="half up is not understood")
        brief = mem.brief(project="shop")

    assert "berth list as CSV" in part(brief.text, "Unfinished")
    assert "half up" in part(brief.text, "Unfinished")
    assert (brief.text.count("berth list as CSV"), brief.text.count("— half up")) == (1, 1)
    assert brief.memos == ["export_berth_list_as_csv"]


def test_the_future_gauge_names_what_was_left_undone(mem: Memory) -> None:
    with mem:
        mem.record(goal="Round VAT", task_type="feature_add", success=False, summary="Two tests fail", project="shop")
        hud = mem.brief(project="shop").hud

    assert "🔮 Future: Next up: Round VAT" in hud


def test_a_work_is_told_in_one_breath(mem: Memory) -> None:
    with mem:
        mem.record(goal="The settings point to 6544", task_type="configuration", success=True, project="shop",
                   summary="The settings point to 6544.")
        text = mem.brief(project="shop").text

    assert "- The settings point to 6544 — done (" in text


def offer(id: str, kind: str, text: str, sure: float) -> Offer:
    return Offer(id=id, kind=kind, title="", created=1.0, text=text, unit=id, sure=sure)


def test_of_an_order_and_the_work_that_came_of_it_the_work_is_told() -> None:
    order = offer("e1", "entry", "user: Add VAT rounding for Portugal.", 0.9)
    work = offer("w1", "work", "Add VAT rounding for Portugal: two rounding tests still fail, the half-up case is open.", -0.2)
    other = offer("w2", "work", "Move the staging database to another port.", 0.1)

    assert [(kept.id, kept.sure) for kept in newest([order, work, other])] == [("w1", 0.9), ("w2", 0.1)]
