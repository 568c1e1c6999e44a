"""The undo journal: an act of several files is taken back, what changed since is left and named, old acts are forgotten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Clock
from otolith.errors import NotFound
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
