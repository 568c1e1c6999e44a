"""Which works may go to cold storage."""

from __future__ import annotations

import pytest

from otolith.errors import Invalid
from otolith.index.works import Shelved
from otolith.verbs.work import cold_path, plan_moves, warm_path

DAY = 86_400.0
NOW = 1000 * DAY


def shelved(name="a", days=400.0, **more):
    return Shelved(f"mem_{name}", f"work/2025-06/mem_{name}.json", NOW - days * DAY, **more)


@pytest.mark.clause("work-91")
def test_old_and_rarely_used_work_goes_and_keeps_its_month_and_name():
    move, = plan_moves([shelved()], NOW)

    assert (move.source, move.target) == ("work/2025-06/mem_a.json", "work/cold/2025-06/mem_a.json.gz")
    assert move.why == "asleep for 400 days, used 0 times"


@pytest.mark.parametrize("work", [
    shelved(days=364), shelved(needed=True), shelved(uses=2), shelved(pinned=True), shelved(last_used=NOW - 10 * DAY),
    Shelved("mem_a", "work/cold/2025-06/mem_a.json.gz", 0.0),
])
def test_young_used_pinned_and_already_cold_work_stays(work):
    assert plan_moves([work], NOW) == []


def test_days_and_uses_can_be_set_and_the_oldest_goes_first():
    works = [shelved("new", days=20, uses=5), shelved("old", days=30)]

    assert [move.id for move in plan_moves(works, NOW, days=10, uses=5)] == ["mem_old", "mem_new"]


def test_negative_limits_are_refused():
    with pytest.raises(Invalid):
        plan_moves([], NOW, days=-1)


def test_the_way_back_is_the_way_there():
    path = "work/2025-06/mem_a.json"

    assert warm_path(cold_path(path)) == path


@pytest.mark.parametrize(("way", "path"), [(cold_path, "notes/a.md"), (cold_path, "work/cold/2025-06/a.json.gz"),
                                           (warm_path, "work/2025-06/a.json"), (warm_path, "work/cold/a.json.gz")])
def test_a_path_that_is_not_a_works_is_refused(way, path):
    with pytest.raises(Invalid):
        way(path)
