"""The undo journal: an act of several files is taken back, what changed since is left and named, old acts are forgotten."""

from __future__ import annotations

import errno
import json
from contextlib import suppress
from pathlib import Path

import pytest
from tests.faults import READING, Snapshot, calls_of, failing_at, sampled

from conftest import Clock
from otolith.errors import Conflict, Invalid, NotFound, OtolithError
from otolith.memory import Memory
from otolith.verbs.undo import acts, undo


def merged(mem: Memory, number: int = 0) -> tuple[str, str]:
    keep, gone = mem.note(f"Keep {number}", "It stays."), mem.note(f"Quagga {number}", "It goes.")
    mem.merge(keep.id, gone.id)
    return keep.id, gone.id


def test_the_last_act_is_undone_and_leaves_the_journal(mem: Memory, home: Path) -> None:
    keep, gone = merged(mem)
    path, = (home / "archive/undo").iterdir()
    held = json.loads(path.read_text())
    assert (held["verb"], held["id"], held["done"]) == ("merge", gone, True)
    assert path.name.endswith("-merge.json")

    done = undo(mem.home)

    assert (done.act.id, done.left) == (gone, [])
    assert mem.get(gone).title == "Quagga 0"
    assert mem.get(keep).record.text == "It stays."
    assert acts(mem.home) == []
    with pytest.raises(NotFound, match="nothing to undo"):
        undo(mem.home)


def test_a_file_that_was_changed_since_is_left_and_named(mem: Memory, home: Path) -> None:
    keep, gone = merged(mem)
    file = next((home / "archive/graph").rglob("quagga*.md"))
    mem.edit(keep, text="Mine.")

    undo(mem.home, gone)

    assert not file.exists()
    assert mem.get(keep).record.text == "Mine."
    assert any("changed since the merge" in notice for notice in mem.notices)


def test_acts_are_kept_for_thirty_days(mem: Memory, clock: Clock) -> None:
    merged(mem, 1)
    clock.pass_time(days=31)
    merged(mem, 2)

    assert len(acts(mem.home)) == 1


def test_a_merge_of_an_earlier_version_can_be_undone(mem: Memory, home: Path) -> None:
    keep, gone = merged(mem)
    act, = (home / "archive/undo").iterdir()
    act.unlink()
    (home / "archive/merges").mkdir()
    (home / f"archive/merges/{gone}.json").write_text(json.dumps({
        "version": 1, "merged": "2026-02-10T21:37:00+00:00", "keep": keep, "absorb": gone, "relations": [], "edges": {},
        "dropped": [], "uses": [0, None], "note": {
            "text": ["It stays.", "It stays.\n\n## Quagga 0\n\nIt goes."], "aliases": [None, ["Quagga 0"]]}}))
    mem.sync()

    assert mem.unmerge(gone).id == gone

    assert mem.get(keep).record.text == "It stays."
    assert mem.get(keep).record.aliases is None
    assert not (home / f"archive/merges/{gone}.json").exists()


@pytest.mark.parametrize("verb", ["merge", "unmerge"])
def test_a_merge_during_which_a_file_could_not_be_read_can_be_repeated_and_undone(home: Path, clock: Clock, verb: str) -> None:
    """What cannot be read just now is not gone: a journal that took it so put nothing back."""
    with Memory(home, clock=clock) as mem:
        keep, gone = mem.note("Kettle", "It leaks."), mem.note("Kettle too", "It leaks, again.")
        mem.episode("A walk", summary="It rained.")
        if verb == "unmerge":
            mem.merge(keep.id, gone.id)
    texts = {keep.id: "It leaks.", gone.id: "It leaks, again."}

    def act() -> None:
        with Memory(home, clock=clock) as mem:
            mem.merge(keep.id, gone.id) if verb == "merge" else mem.unmerge(gone.id)

    base = Snapshot(home)
    for number, name in sampled(calls_of(act, base, names=READING), about=80):
        base.restore()
        with suppress(OtolithError), failing_at(number, errno.EIO, names=READING):
            act()
        with Memory(home, clock=clock) as mem:
            mem.memo("user_counts_the_sheep", "All of the sheep.")  # a write finishes what was begun
            with suppress(Invalid, NotFound, Conflict):  # it is merged, or taken apart again
                mem.merge(keep.id, gone.id)
            mem.unmerge(gone.id)
            assert {record: mem.get(record).text.strip() for record in texts} == texts, (number, name)
        diary, = (home / "episodes").rglob("*.md")
        assert diary.read_text().count("# 2026-02-10\n") == 1, (number, name)
