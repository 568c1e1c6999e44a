"""What is forgotten is hidden and comes back; what is purged is gone; what a killed writer left is named and tidied."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Ran
from strata.errors import Conflict, Invalid
from strata.memory import Memory

WORK = {"goal": "Brew", "task_type": "other", "success": True, "summary": "Brewed"}


# Links to what is forgotten

def test_a_link_to_a_forgotten_chunk_is_hidden_everywhere_and_comes_back(mem: Memory, home: Path, run: Callable[..., Ran]) -> None:
    old, = mem.remember("The quagga lived in the south.", conversation_id="a")
    new, = mem.remember("The zebra lives in the east.", conversation_id="b")
    mem.link(new.id, "supports", old.id, context="much alike")
    file = home / mem.get(new.id).path
    before = file.read_bytes()

    mem.forget(old.id)

    assert mem.get(new.id).record.links.supports == ()
    for hit in (mem.get(new.id, depth="complete"), mem.recall("zebra", depth="complete").hits[0]):
        assert old.id not in hit.text
    assert old.id not in run("get", new.id, "--json").out
    assert file.read_bytes() == before

    mem.restore(old.id)
    assert mem.get(new.id).record.links.supports == (old.id,)
    assert old.id in mem.get(new.id, depth="complete").text


def test_links_of_works_and_notes_to_what_is_forgotten_are_hidden_too(mem: Memory, snapshot: Callable[[], dict[str, bytes]]) -> None:
    first, second = mem.record(**WORK), mem.record(**WORK)
    tea, kettle = mem.note("Tea", "Green."), mem.note("Kettle", "Hot.")
    mem.link(second.id, "caused_by", first.id)
    mem.link(tea.id, "REQUIRES", kettle.id)
    for gone in (first.id, kettle.id):
        mem.forget(gone)

    work = mem.get(second.id).record
    assert (work.links.caused_by or (), mem.get(tea.id).record.relations) == ((), ())
    assert first.id not in mem.get(second.id, depth="complete").text

    mem.edit(second.id, importance=0.9)
    mem.restore(first.id)
    assert mem.get(second.id).record.links.caused_by == (first.id,)


# Purging

def everything(home: Path, needle: str) -> list[str]:
    return [str(path.relative_to(home)) for path in home.rglob("*") if needle in str(path.relative_to(home))
            or (path.is_file() and needle.encode() in path.read_bytes())]


def test_a_purged_memo_leaves_nothing_in_the_gauges_of_a_session(mem: Memory, home: Path) -> None:
    memo = mem.memo("user_likes_green_quagga", "The user likes the quagga.")
    mem.brief("quagga")
    assert everything(home, memo.id)

    mem.forget(memo.id, purge=True)

    assert everything(home, memo.id) == ["index/audit.log"]


def test_a_purged_entry_leaves_no_folder(mem: Memory, home: Path) -> None:
    entry = mem.log("Ann: The quagga is gone.", topic="zoo")

    mem.forget(entry.id, purge=True)

    assert everything(home, entry.id) == ["index/audit.log"]


@pytest.mark.parametrize("page", ["topics/places/topic_memory.md", "GLOBAL_MEMORY.md", "GLOBAL_MEMORY.json"])
@pytest.mark.parametrize("laid_aside", [True, False])
def test_a_purged_entry_is_gone_from_the_pages_that_somebody_edited(mem: Memory, home: Path, page: str, laid_aside: bool) -> None:
    entry = mem.log("Ada: I live in Hobbletown.", topic="places", created="2026-01-01")
    mem.log("Ada: I am a vegan.", topic="places", created="2026-01-02")
    mem.review(str(mem.facts("places")[0].id), score=9)
    mem.upkeep()
    assert "Hobbletown" in (home / page).read_text()
    (home / page).write_text((home / page).read_text() + "\n")
    if laid_aside:
        mem.upkeep()
    edited = [path for path in everything(home, "Hobbletown") if page in path]

    told = mem.forget(entry.id, purge=True)

    assert everything(home, "Hobbletown") == []
    assert {path for path in edited if path.startswith("archive/edited/")} <= set(told["removed"])
    assert "vegan" in (home / page).read_text()


@pytest.mark.parametrize("page", ["CORE.md", "REFLECTION.md"])
def test_a_purged_note_is_gone_from_an_edited_page_that_told_of_it_under_another_title(mem: Memory, home: Path, page: str) -> None:
    note, other = (mem.note(title, "Never.", type="insight", importance=1.0) for title in ("Quagga", "Zebra"))
    mem.upkeep()
    mem.core(), mem.reflection()
    (home / page).write_text("The quagga is mine.\n")
    mem.core(), mem.reflection()
    (home / page).write_text("The quagga is mine again.\n")
    aside, = everything(home, "quagga is mine.")

    told = mem.forget(note.id, purge=True)

    assert everything(home, "quagga is mine") == []
    assert aside in told["removed"]
    assert mem.get(other.id).title == "Zebra"


def test_a_purged_work_is_gone_from_a_chapter_that_somebody_edited(mem: Memory, home: Path) -> None:
    works = [mem.record(**WORK | {"goal": f"Brew tea {number}"}).id for number in range(5)]
    mem.upkeep()
    chapter = next((home / "work/chapters").iterdir())
    chapter.write_text(json.dumps({**json.loads(chapter.read_text()), "summary": "The quagga", "memories": works[1:]}))
    mem.upkeep()
    aside, = everything(home, "quagga")

    told = mem.forget(works[0], purge=True)

    assert everything(home, "quagga") == []
    assert aside in told["removed"]


def test_the_edges_of_a_purged_note_leave_the_usage_ledger(mem: Memory, home: Path) -> None:
    tea, kettle = mem.note("Tea", "Green."), mem.note("Kettle", "Hot.")
    edge = mem.link(tea.id, "REQUIRES", kettle.id).edge_id
    mem.get(str(edge))

    mem.forget(tea.id, purge=True)

    assert everything(home, str(edge)) == ["index/audit.log"]


def test_a_purged_memo_is_gone_from_what_the_garden_gathered_and_gave_back(mem: Memory, home: Path) -> None:
    names = [mem.memo(f"python_typing_rule_{word}", f"Rule {word}: the quagga{word} types everything.", tags=["python", "typing"]).id
             for word in ("one", "two", "three", "four", "five", "six")]
    applied = mem.garden(apply=True).applied
    assert applied
    mem.garden(undo=True)

    mem.forget(names[0], purge=True)

    assert everything(home, "quaggaone") == []
    assert everything(home, names[0]) == ["index/audit.log"]


def gathered(mem: Memory, **how: bool) -> tuple[list[str], Path]:
    """Six memos in their master, and where that is."""
    words = ("one", "two", "three", "four", "five", "six")
    names = [mem.memo(f"python_typing_rule_{word}", f"# Rule {word}\n\nThe quagga{word} types everything.\n\nAlways so.",
                      tags=["python", f"only-{word}"]).id for word in words]
    target, = (proposal.target for proposal in mem.garden(apply=True, **how).applied)
    return names, mem.path / mem.get(target).path


@pytest.mark.parametrize("archive", [False, True])
@pytest.mark.parametrize("log", ["kept", "lost"])
def test_a_purged_memo_is_gone_from_the_master_it_was_gathered_into(mem: Memory, home: Path, archive: bool, log: str) -> None:
    names, master = gathered(mem, archive=archive)
    whole = master.read_text()
    if log == "lost":  # or was never there: log/ does not travel to another machine
        (home / "log/garden.jsonl").unlink()

    told = mem.forget(names[2], purge=True)

    for needle in ("quaggathree", "rule three", "Rule three", *(["only-three"] if log == "kept" else [])):
        assert everything(home, needle) == []
        assert everything(Path(os.environ["XDG_CACHE_HOME"]), needle) == []
    assert everything(home, names[2]) == ["index/audit.log"]
    assert master.relative_to(home).as_posix() in told["rewritten"]
    part = "## Python typing rule three\n\n### Rule three\n\nThe quaggathree types everything.\n\nAlways so.\n\n"
    body = master.read_text().partition("---\n")[2]
    assert body == whole.partition("---\n")[2].replace(part, "")
    assert mem.recall("quaggafour types").hits
    assert mem.check() == []


def test_a_memo_that_was_edited_after_it_was_gathered_is_purged_as_it_was_then(mem: Memory, home: Path) -> None:
    names, master = gathered(mem)
    mem.edit(names[0], title="Harmless", text="Nothing to see.")

    mem.forget(names[0], purge=True)

    assert everything(home, "quaggaone") == []
    assert "quaggatwo" in master.read_text()


def test_what_people_wrote_into_a_master_outlives_the_memo_it_stands_beside(mem: Memory, home: Path) -> None:
    names, master = gathered(mem)
    mine = "The quaggaone types, but slowly."
    master.write_text(master.read_text().replace("The quaggatwo", "I agree.\n\nThe quaggatwo").replace(
        "The quaggaone types everything.", f"{mine}\n\nThe quaggaone types everything.").replace("rule five\n", "rule V\n"))

    first = mem.forget(names[0], purge=True)
    fifth = mem.forget(names[4], purge=True)

    text = master.read_text()
    assert f"\n## (purged)\n\n{mine}\n\n## Python typing rule six\n" in text
    assert "types everything" not in text.partition("(purged)")[2].partition("##")[0]
    assert "I agree.\n\nThe quaggatwo" in text
    assert "quaggafive" not in text
    assert f"what somebody wrote in its part of {master.relative_to(home).as_posix()}" in first["beyond_reach"]
    assert not any("somebody" in line for line in fifth["beyond_reach"])


def test_a_master_goes_with_the_last_memo_it_was_gathered_from(mem: Memory, home: Path) -> None:
    names, master = gathered(mem, archive=True)

    told = [mem.forget(name, purge=True) for name in names]

    assert not master.exists()
    assert master.relative_to(home).as_posix() in told[-1]["removed"]
    assert everything(home, "quagga") == []


# What a killed writer left

def test_what_a_killed_writer_left_is_named_by_check_and_tidied_by_upkeep(mem: Memory, home: Path) -> None:
    mem.note("Tea", "Green.")
    left, fresh = home / "graph/general/.strata-0123456789ab.tmp", home / "graph/.strata-ba9876543210.tmp"
    left.write_text("half a note")
    os.utime(left, (time.time() - 7200, time.time() - 7200))

    assert [(one.path, one.code) for one in mem.check()] == [("graph/general/.strata-0123456789ab.tmp", "leftover")]
    mem.upkeep()
    assert not left.exists()
    assert mem.check() == []

    fresh.write_text("being written")
    mem.upkeep()
    assert fresh.exists()


# What is edited must be what was read

def test_get_tells_the_fingerprint_that_an_edit_may_expect(mem: Memory, home: Path, run: Callable[..., Ran]) -> None:
    note = mem.note("Tea", "Green.")
    hit = mem.get(note.id)
    assert run("get", note.id, "--json").json["hash"] == hit.hash

    mem.edit(note.id, expect=hit.hash, importance=0.9)

    with pytest.raises(Conflict):
        mem.edit(note.id, expect=hit.hash, importance=0.1)


# What is refused

@pytest.mark.parametrize("wrong", [
    {"links": {"foo": ["mem_1"]}}, {"tags": [""]}, {"tags": ["a", " "]},
    {"actions": [{"type": "file_edit", "details": {"file_path": "a.py", "lines_affected": "abc"}}]}])
def test_a_work_that_says_what_nobody_could_read_is_refused(mem: Memory, home: Path, wrong: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        mem.record(**{**WORK, **wrong})
    assert not (home / "work").exists()


def test_an_empty_tag_is_refused(mem: Memory) -> None:
    for call in (lambda: mem.note("Tea", "Green.", tags=[""]), lambda: mem.memo("tea_is_best_green", "Yes.", tags=[""]),
                 lambda: mem.log("Ann: Hello there.", topic="tea", tags=[""]), lambda: mem.episode("Tea", tags=[""])):
        with pytest.raises(Invalid, match="tag"):
            call()
    note = mem.note("Tea", "Green.", tags=["tea"])
    with pytest.raises(Invalid, match="tag"):
        mem.edit(note.id, tags=["tea", ""])


def test_a_chunk_is_never_made_larger_than_it_could_be_created(mem: Memory) -> None:
    chunk, = mem.remember("The zebra lives in the east.")

    with pytest.raises(Invalid, match="800"):
        mem.edit(chunk.id, tokens=5000)


# Every link, as it was written

def test_related_shows_every_link_with_its_word_as_written(mem: Memory) -> None:
    rain, flood = mem.note("Rain", "Much."), mem.note("Flood", "High.")
    mem.link(rain.id, "CAUSES", flood.id)
    mem.link(flood.id, "REQUIRES", rain.id)

    assert {(one["type"], one["outgoing"], one["link"]) for one in mem.related(rain.id)} == {
        ("CAUSES", True, "led_to"), ("REQUIRES", False, "required_by")}
    assert {one["id"] for one in mem.related(rain.id)} == {flood.id}


def test_related_tells_its_words_as_json(mem: Memory, run: Callable[..., Ran]) -> None:
    rain, flood = mem.note("Rain", "Much."), mem.note("Flood", "High.")
    mem.link(rain.id, "CAUSES", flood.id)

    told = json.loads(run("related", rain.id, "--json").out)
    assert [one["type"] for one in told["items"]] == ["CAUSES"]
