"""Old, rarely used work is gzipped, stays recallable, and comes back when it is used."""

from __future__ import annotations

import gzip

import pytest

from otolith.memory import Memory


@pytest.fixture
def old(mem, clock):
    """A work that nobody has asked for in a year."""
    work = mem.record(goal="Tune the boiler", task_type="configuration", success=True, summary="Set to sixty degrees",
                      files=["conf/boiler.toml"])
    clock.pass_time(days=365)
    return work


def cold_file(mem, work):
    return mem.path / f"work/cold/2026-02/{work.id}.json.gz"


@pytest.mark.clause("work-91")
def test_a_dry_run_names_what_would_go_and_moves_nothing(mem, old, snapshot):
    before = snapshot()

    move, = mem.cold()

    assert (move.id, move.target) == (old.id, f"work/cold/2026-02/{old.id}.json.gz")
    assert snapshot() == before


@pytest.mark.clause("work-91")
def test_old_work_is_gzipped_with_its_bytes_and_out_of_its_old_place(mem, old):
    warm = mem.path / f"work/2026-02/{old.id}.json"
    data = warm.read_bytes()

    mem.cold(apply=True)

    assert gzip.decompress(cold_file(mem, old).read_bytes()) == data
    assert not warm.exists()


@pytest.mark.clause("work-92")
def test_cold_work_is_recalled_like_any_other(mem, old):
    mem.cold(apply=True)

    hit = mem.recall("boiler degrees").hits[0]

    assert hit.id == old.id
    assert hit.record == old
    assert mem.get(old.id).path == f"work/cold/2026-02/{old.id}.json.gz"
    assert mem.check_file("conf/boiler.toml").known == 1


@pytest.mark.clause("work-92")
def test_cold_work_is_found_by_a_fresh_index_too(mem, old):
    mem.cold(apply=True)
    mem.reindex()

    assert mem.recall("boiler").hits[0].id == old.id


@pytest.mark.clause("work-91")
def test_work_that_is_used_comes_back_byte_for_byte(mem, old):
    warm = mem.path / f"work/2026-02/{old.id}.json"
    data = warm.read_bytes()
    mem.upkeep()
    assert cold_file(mem, old).is_file()

    mem.get(old.id)
    mem.upkeep()

    assert warm.read_bytes() == data
    assert not cold_file(mem, old).exists()


def test_young_used_and_pinned_work_stays(mem, clock, old):
    young = mem.record(goal="Young", task_type="other", success=True, summary="s")
    mem.pin(old.id)

    assert mem.cold() == []
    clock.pass_time(days=400)
    assert [move.id for move in mem.cold()] == [young.id]
    mem.get(young.id)
    assert mem.cold() == []


def test_a_pin_brings_cold_work_back(mem, old):
    mem.cold(apply=True)
    mem.pin(old.id)

    mem.cold(apply=True)

    assert not cold_file(mem, old).exists()


def test_cold_work_can_be_edited_in_place(mem, old):
    mem.cold(apply=True)

    mem.edit(old.id, importance=0.9)

    assert b'"importance": 0.9' in gzip.decompress(cold_file(mem, old).read_bytes())


def test_a_second_round_moves_nothing(mem, old, snapshot):
    mem.upkeep()
    before = snapshot()

    mem.upkeep()

    assert cold_file(mem, old).is_file()
    assert snapshot() == before


def test_a_crash_between_the_two_files_is_mended(mem, old):
    warm = mem.path / f"work/2026-02/{old.id}.json"
    cold_file(mem, old).parent.mkdir(parents=True)
    cold_file(mem, old).write_bytes(gzip.compress(warm.read_bytes(), mtime=0))
    mem.sync()

    mem.cold(apply=True)

    assert not warm.exists()
    assert mem.get(old.id).record == old
    assert mem.check() == []


def test_a_broken_cold_file_is_a_finding_and_never_a_crash(mem, old):
    mem.cold(apply=True)
    cold_file(mem, old).write_bytes(b"not gzip")
    mem.sync()

    assert [finding.path for finding in mem.check()] == [f"work/cold/2026-02/{old.id}.json.gz"]


@pytest.mark.usefixtures("mem")
def test_a_home_may_turn_it_off_or_set_its_own_limit(home, clock, old):
    (home / "otolith.toml").write_text("[work]\ncold_after_days = 0\n")
    with Memory(home, clock=clock) as again:
        again.upkeep()
        assert not cold_file(again, old).exists()

    (home / "otolith.toml").write_text("[work]\ncold_after_days = 300\n")
    with Memory(home, clock=clock) as again:
        again.upkeep()
        assert cold_file(again, old).exists()


@pytest.mark.clause("work-101")
def test_the_nightly_round_puts_away_what_is_a_year_old_and_hardly_used_and_still_finds_it(mem, clock):
    kept = mem.record(goal="Rewrite the zeppelin importer", task_type="refactor", success=True, summary="Rewritten.")
    clock.pass_time(days=364)
    assert "cold" not in mem.upkeep().changed

    clock.pass_time(days=2)

    assert kept.id in "".join(mem.upkeep().changed["cold"])
    assert mem.recall("zeppelin importer").hits[0].id == kept.id


@pytest.mark.clause("work-101")
def test_unfinished_work_and_work_linked_with_recent_work_is_never_put_away(mem, clock):
    failed = mem.record(goal="Speed up the loader", task_type="optimization", success=False, summary="Slower.")
    linked = mem.record(goal="Write the loader", task_type="feature_add", success=True, summary="It loads.")
    clock.pass_time(days=400)
    recent = mem.record(goal="Extend the loader", task_type="feature_add", success=True, summary="It loads more.",
                        links={"caused_by": [linked.id]})

    assert mem.cold() == []

    mem.link(recent.id, "SOLVES", failed.id)
    assert mem.cold() == []  # solved, and linked with recent work for that very reason
