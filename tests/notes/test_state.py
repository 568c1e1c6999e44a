"""_state.json and the verb decay: use kept out of the notes, scores by the formula."""

from __future__ import annotations

import json
import math

import pytest

from otolith.errors import NotFound
from otolith.memory import Memory


def state(home):
    return json.loads((home / "_state.json").read_text())


@pytest.mark.clause("notes-40", "notes-43", "notes-58", "notes-60")
def test_decay_writes_counts_last_access_and_score_of_every_note(mem, home, clock):
    note = mem.note("Redis fix", type="solution", importance=0.8)
    for _ in range(5):
        mem.get(note.id)
    clock.pass_time(days=10)
    mem.decay()
    entry = state(home)["entries"][note.id]

    assert (state(home)["version"], state(home)["updated"]) == (1, "2026-02-20T21:37:00+00:00")
    assert list(entry) == ["access_count", "last_accessed", "decay_score"]
    assert (entry["access_count"], entry["last_accessed"]) == (5, "2026-02-10T21:37:00+00:00")
    assert entry["decay_score"] == pytest.approx(0.8 * math.exp(-0.3) * math.log2(6) * 1.2, rel=1e-6)


@pytest.mark.clause("notes-61")
def test_a_note_nobody_asked_for_stands_at_half_strength(mem, home):
    note = mem.note("New", type="fix", importance=0.6)
    mem.decay()

    assert state(home)["entries"][note.id] == {"access_count": 0, "last_accessed": None, "decay_score": 0.3}


@pytest.mark.clause("notes-41", "notes-42")
def test_getting_a_note_counts_once_and_leaves_its_file_alone(mem, home):
    note = mem.note("Tea", "Steep.")
    file = home / f"graph/general/tea-{note.id[:6]}.md"
    before, stamp = file.read_bytes(), file.stat().st_mtime_ns
    for _ in range(3):
        mem.get(note.id)
    mem.decay()

    assert state(home)["entries"][note.id]["access_count"] == 3
    assert (file.read_bytes(), file.stat().st_mtime_ns) == (before, stamp)


@pytest.mark.clause("notes-42")
def test_delivered_hits_count_and_listings_do_not(mem, home):
    note = mem.note("Green tea", "Steep for three minutes.")
    mem.recall("steep")
    mem.list()
    mem.related(note.id)
    mem.edges()
    mem.core()
    mem.decay()

    assert state(home)["entries"][note.id]["access_count"] == 1


@pytest.mark.clause("notes-40")
def test_a_state_that_came_with_the_home_is_the_base_once(home, clock):
    note = "a1b2c3d4-e5f6-7890-abcd-ef1234567890"
    (home / "graph/fixes").mkdir(parents=True)
    (home / "graph/fixes/tea-a1b2c3.md").write_text(
        f"---\nid: {note}\ntype: fix\ntitle: Tea\nimportance: 1\ncreated: 2025-12-01T00:00:00+00:00\n---\n")
    (home / "_state.json").write_text(json.dumps({"version": 1, "updated": "2025-12-13T10:30:00+00:00", "entries": {
        note: {"access_count": 5, "last_accessed": "2025-12-13T10:15:00+00:00", "decay_score": 0.75}}}))
    with Memory(home, clock=clock) as mem:
        mem.get(note)
        mem.decay()
        first = state(home)["entries"][note]["access_count"]
        mem.decay()
        mem.get(note)
        mem.decay()

    assert (first, state(home)["entries"][note]["access_count"]) == (6, 7)


@pytest.mark.clause("notes-67", "notes-68")
def test_a_pinned_note_lies_in_the_vault_and_scores_999(mem, home, clock):
    note = mem.note("Keep this", type="error", importance=0.1)
    path = mem.get(note.id).path
    mem.pin(note.id)
    clock.pass_time(days=2000)
    mem.decay()

    assert (home / "vault" / path.rsplit("/", 1)[1]).exists()
    assert not (home / path).exists()
    assert state(home)["entries"][note.id]["decay_score"] == 999.0
    mem.unpin(note.id)
    assert (home / path).exists()
    mem.decay()
    assert state(home)["entries"][note.id]["decay_score"] < 0.05


@pytest.mark.clause("notes-66")
def test_an_archived_note_is_still_found(mem, clock):
    note = mem.note("Old kettle", "The kettle whistles.", importance=0.1)
    clock.pass_time(days=500)
    rows = {row[0]: row[3] for row in mem.decay()}

    assert rows[note.id] < 0.05
    assert [hit.id for hit in mem.recall("kettle").hits if hit.kind == "note"] == [note.id]


def test_one_records_score_is_explained(mem, run, home):
    note = mem.note("Redis fix", type="solution", importance=0.8)
    shown = run("decay", note.id, "--json").json

    assert (shown["importance"], shown["weight"], shown["usage"], shown["since"]) == (0.8, 1.2, 0.5, "creation")
    assert shown["score"] == pytest.approx(0.8 * shown["fading"] * 0.5 * 1.2)
    assert "type weight 1.2" in run("decay", note.id).out
    assert run("decay", note.id, "--svg", str(home / "curve.svg")).code == 0
    assert (home / "curve.svg").read_text().startswith("<svg")
    assert run("decay", "nothing-here").code == NotFound.exit_code


def test_all_scores_are_shown_as_a_histogram_and_as_a_list(mem, run, tmp_path):
    notes = [mem.note(f"Note {at}", importance=at / 10) for at in range(1, 10)]
    listed = run("decay", "--json").json

    assert listed["total"] == 9
    assert sum(listed["statuses"].values()) == 9
    assert "decay scores of 9 records" in run("decay").out
    assert run("decay", "--svg", str(tmp_path / "all.svg")).code == 0
    assert run("decay", "--status", "nonsense").code == 2
    assert {item["status"] for item in run("decay", "--status", "archived", "--json").json["items"]} <= {"Archived"}
    assert {item["id"] for item in listed["items"]} == {note.id for note in notes}


def test_an_unused_home_has_an_empty_state(mem, home):
    mem.init()
    mem.decay()

    assert state(home)["entries"] == {}
