"""Former versions: what an edit replaced can be seen and brought back, and goes with a purge."""

from __future__ import annotations

from pathlib import Path

import pytest

from otolith.errors import Invalid, NotFound
from otolith.memory import Memory


def aside(mem: Memory) -> list[Path]:
    return sorted(path for path in (mem.path / "archive/edited").rglob("*") if path.is_file())


def test_an_edit_keeps_what_it_replaced(mem):
    note = mem.note("Tea", "Steep three minutes.", tags=["kitchen"])
    mem.edit(note.id, text="Steep five minutes.")

    version, = mem.versions("Tea")

    assert version["record"]["text"] == "Steep three minutes."
    assert version["record"]["tags"] == ["kitchen"]
    assert mem.get(note.id).text == "Steep five minutes."


def test_a_former_version_comes_back_and_what_was_there_becomes_one(mem):
    note = mem.note("Tea", "First.")
    mem.edit(note.id, text="Second.", title="Green tea")
    first = mem.versions(note.id)[-1]["version"]

    mem.restore(note.id, version=first)

    assert (mem.get(note.id).title, mem.get(note.id).record.text) == ("Tea", "First.")
    assert [one["record"]["text"] for one in mem.versions(note.id)] == ["Second.", "First."]


@pytest.mark.parametrize("change", [{"type": "decision"}, {"title": "Another name"}])
def test_versions_follow_a_note_to_another_folder_or_title(mem, change):
    note = mem.note("Tea", "First.")
    mem.edit(note.id, text="Second.")
    mem.edit(note.id, change)
    mem.pin(note.id)

    assert [one["record"]["text"] for one in mem.versions(note.id)] == ["Second.", "First."]


def test_memos_and_chunks_have_versions_too(mem):
    memo = mem.memo("answers_are_short", "Answers are short.")
    chunk, = mem.remember("The export takes forty minutes.")
    mem.edit(memo.id, text="Answers are very short.")
    mem.edit(chunk.id, {"content": "The export takes fifty minutes."})

    assert mem.versions(memo.id)[0]["record"]["text"] == "Answers are short."
    mem.restore(chunk.id, version=mem.versions(chunk.id)[0]["version"])
    assert mem.get(chunk.id).record.content == "The export takes forty minutes."


def test_an_edit_that_changes_nothing_keeps_no_version(mem):
    note = mem.note("Tea", "First.")
    mem.edit(note.id, text="First.")

    assert mem.versions(note.id) == []


def test_the_newest_thirty_are_kept(mem, clock):
    note = mem.note("Tea", "0")
    for number in range(1, 34):
        clock.pass_time(seconds=1)
        mem.edit(note.id, text=str(number))

    assert [one["record"]["text"] for one in mem.versions(note.id)] == [str(number) for number in range(32, 2, -1)]
    assert len(aside(mem)) == 30


@pytest.mark.parametrize("kind", ["note", "memo"])
def test_a_purge_takes_the_versions_with_it(mem, kind):
    record = mem.note("Tea", "Secret one.") if kind == "note" else mem.memo("when_tea_is_served", "Secret one.")
    mem.edit(record.id, text="Something else.")
    assert len(aside(mem)) == 1

    mem.forget(record.id, purge=True)

    assert aside(mem) == []


def test_a_version_that_is_not_there_is_named(mem):
    note = mem.note("Tea", "First.")
    entry = mem.log("Ann: I live in Lyon.", topic="flat")

    with pytest.raises(NotFound, match="has no version"):
        mem.restore(note.id, version="20200101T000000Z")
    with pytest.raises(Invalid, match="not edited"):
        mem.versions(entry.id)
