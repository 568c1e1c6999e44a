"""What is forgotten is hidden and comes back; what is purged is gone; what a killed writer left is named and tidied."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Ran
from otolith.errors import Conflict, Invalid, NotFound
from otolith.memory import Memory

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

    assert everything(home, memo.id) == []


@pytest.mark.parametrize("forgotten", [False, True])
def test_a_purge_by_a_title_that_two_records_share_names_both_and_removes_neither(mem: Memory, home: Path, forgotten: bool) -> None:
    twins = [mem.note("Quagga", text).id for text in ("Striped.", "Gone.")]
    for twin in twins if forgotten else ():
        mem.forget(twin)
    before = {path: path.read_bytes() for path in home.rglob("*.md")}

    with pytest.raises(Invalid) as refused:
        mem.forget("Quagga", purge=True)

    assert all(twin in str(refused.value) for twin in twins)
    assert {path: path.read_bytes() for path in home.rglob("*.md")} == before
    assert list((home / "log").glob("intent-*")) == []


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
    assert everything(home, names[0]) == []


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
    if log == "lost":  # an act is kept for thirty days
        shutil.rmtree(home / "archive/undo")

    told = mem.forget(names[2], purge=True)

    for needle in ("quaggathree", "rule three", "Rule three", *(["only-three"] if log == "kept" else [])):
        assert everything(home, needle) == []
        assert everything(Path(os.environ["XDG_CACHE_HOME"]), needle) == []
    assert everything(home, names[2]) == []
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


def anywhere(home: Path, needle: str) -> list[str]:
    """Where the words still stand: in the home, but for the audit log, or in the index's folder."""
    return [path for path in everything(home, needle) + everything(Path(os.environ["XDG_CACHE_HOME"]), needle)
            if path != "index/audit.log"]


@pytest.mark.parametrize("way", ["unlinked", "edge forgotten", "forgotten twice"])
def test_an_edge_in_the_archive_goes_with_the_note_it_names(mem: Memory, home: Path, way: str) -> None:
    gone, stays, other = mem.note("Quaggaherd", "Wild."), mem.note("Kettle", "Hot."), mem.note("Cup", "Full.")
    edge = mem.link(gone.id, "SOLVES", stays.id, context="ctx quaggaherd").edge_id
    mem.link(other.id, "SOLVES", stays.id)
    mem.get(str(edge))
    if way == "unlinked":
        mem.unlink(gone.id, "SOLVES", stays.id)
    else:
        mem.forget(str(edge))
    if way == "forgotten twice":
        mem.restore(str(edge))
        mem.forget(str(edge))
    mem.unlink(other.id, "SOLVES", stays.id)

    told = mem.forget(gone.id, purge=True)

    for needle in ("uaggaherd", gone.id, str(edge)):
        assert anywhere(home, needle) == []
    assert any(path.startswith("archive/graph/edges/quaggaherd--") for path in told["removed"])
    assert len(list((home / "archive/graph/edges").iterdir())) == 1
    assert mem.check() == []


def test_a_forgotten_note_loses_its_relations_to_a_purged_one_and_nothing_else(mem: Memory, home: Path) -> None:
    gone, stays = mem.note("Quaggaherd", "Wild."), mem.note("Kettle", "Hot.")
    mem.link(gone.id, "SOLVES", stays.id, context="ctx quaggaherd")
    mem.forget(stays.id)

    told = mem.forget(gone.id, purge=True)

    for needle in ("uaggaherd", gone.id):
        assert anywhere(home, needle) == []
    path, = (home / "archive").rglob("kettle*.md")
    assert path.relative_to(home).as_posix() in told["rewritten"]
    assert [item["title"] for item in mem.list(kind="note")[0]] == []
    assert mem.restore(stays.id).text == "Hot."


def test_forgotten_chunks_works_and_memos_lose_their_links_to_what_is_purged(mem: Memory, home: Path) -> None:
    chunk, = mem.remember("The quagga lived in the south.", conversation_id="a")
    about, = mem.remember("The zebra lives in the east.", conversation_id="b")
    mem.link(about.id, "supports", chunk.id, context="ctx quaggaherd")
    work, after = mem.record(**WORK), mem.record(**WORK)
    mem.link(after.id, "caused_by", work.id)
    memo, newer = mem.memo("user_keeps_a_quagga", "Yes."), mem.memo("user_keeps_a_zebra", "Yes.")
    mem.link(newer.id, "supersedes", memo.id)
    for kept in (about.id, after.id, newer.id):
        mem.forget(kept)

    for gone in (chunk.id, work.id, memo.id):
        mem.forget(gone, purge=True)
        assert anywhere(home, gone) == []

    assert everything(home, memo.id) == []
    assert anywhere(home, "ctx quaggaherd") == []
    assert mem.restore(about.id).content == "The zebra lives in the east."
    assert mem.restore(after.id).intent.goal == "Brew"
    assert mem.restore(newer.id).text == "Yes."
    assert mem.check() == []


def test_a_forgotten_chapter_that_tells_of_a_purged_work_goes_with_it(mem: Memory, home: Path) -> None:
    works = [mem.record(goal=f"Tame the quaggaherd {at}", task_type="other", success=True, summary="Tamed", files=["zoo.py"])
             for at in range(4)]
    mem.upkeep()
    chapters = [item["id"] for item in mem.list(kind="chapter")[0]]
    assert chapters
    for chapter in chapters:
        mem.forget(chapter)

    mem.forget(works[0].id, purge=True)

    assert everything(home, works[0].id) == ["index/audit.log"]
    assert anywhere(home, "quaggaherd 0") == []


def test_a_link_that_was_taken_back_leaves_nothing_in_its_source(mem: Memory, home: Path) -> None:
    gone, = mem.remember("The quagga lived in the south.", conversation_id="a")
    about, = mem.remember("The zebra lives in the east.", conversation_id="b")
    first, second = mem.record(**WORK), mem.record(**WORK)
    mem.link(about.id, "supports", gone.id, context="ctx quaggaherd")
    mem.link(second.id, "caused_by", first.id)
    mem.unlink(about.id, "supports", gone.id)
    mem.unlink(second.id, "caused_by", first.id)

    for one in (gone.id, first.id):
        mem.forget(one, purge=True)
        assert everything(home, one) == ["index/audit.log"]

    assert anywhere(home, "ctx quaggaherd") == []


# An id that two files hold

def copied(mem: Memory, home: Path, kind: str) -> tuple[str, Path, Path]:
    """A record and a copy of its file under another name: (id, its path, the copy's)."""
    if kind == "note":
        id = mem.note("Quaggaherd", "Wild.").id
    elif kind == "chunk":
        id = mem.remember("The quagga lived in the south.")[0].id
    else:
        id = mem.log("Ann: The quagga is gone.", topic="zoo").id
    path = home / mem.get(id).path
    if kind == "entry":
        return id, path, Path(shutil.copytree(path, home / "topics/farm" / id))
    copy = path.with_name(f"copy{path.suffix}") if kind == "note" else home / "chunks/2020-01" / path.name
    copy.parent.mkdir(exist_ok=True)
    return id, path, Path(shutil.copy(path, copy))


@pytest.mark.parametrize("kind", ["note", "chunk", "entry"])
@pytest.mark.parametrize("known", [True, False])
def test_a_purge_removes_every_file_with_the_id(mem: Memory, home: Path, kind: str, known: bool) -> None:
    id, path, copy = copied(mem, home, kind)
    if known:
        assert "duplicate-id" in [finding.code for finding in mem.check()]

    told = mem.forget(id, purge=True)

    for one in (path, copy):
        assert any(name.startswith(one.relative_to(home).as_posix()) for name in told["removed"])
    mem.sync()
    assert anywhere(home, "uagga") == anywhere(home, id) == []
    assert mem.check() == []


@pytest.mark.parametrize("kind", ["note", "chunk", "entry"])
@pytest.mark.parametrize("known", [True, False])
def test_what_is_forgotten_does_not_come_back_from_a_copy_of_its_file(mem: Memory, home: Path, kind: str, known: bool) -> None:
    id, path, copy = copied(mem, home, kind)
    if copy.is_file():
        copy.write_text(copy.read_text().replace("Wild", "Tame"))
    held = {one.read_bytes() for where in (path, copy) for one in ([where] if where.is_file() else where.iterdir())}
    if known:
        mem.sync()

    mem.forget(id)
    mem.sync()

    with pytest.raises(NotFound):
        mem.get(id)
    assert held <= {one.read_bytes() for one in (home / "archive").rglob("*") if one.is_file()}
    mem.restore(id)
    assert mem.get(id).id == id
    assert any("stay in the archive" in notice for notice in mem.notices)


def test_a_merged_note_does_not_come_back_from_a_copy_of_its_file(mem: Memory, home: Path) -> None:
    id, _, _ = copied(mem, home, "note")
    keep = mem.note("Keep", "It stays.")
    mem.sync()

    mem.merge(keep.id, id)
    mem.sync()

    assert [item["title"] for item in mem.list(kind="note")[0]] == ["Keep"]


# Lines that nobody can read, and lines that people wrote

def test_a_purge_leaves_every_other_line_of_the_links_as_it_is(mem: Memory, home: Path) -> None:
    gone, note, memo = mem.note("Quaggaherd", "Wild."), mem.note("Kettle", "Hot."), mem.memo("user_likes_green_tea", "Yes.")
    mem.link(memo.id, "cites", note.id)
    log = home / "links.jsonl"
    ours = [b'{"op": "add",  "from": "%b", "type": "cites", "to": "%b", "context": "caf\\u00e9"}' % (note.id.encode(), memo.id.encode()),
            b'{"op": "add", "from": "half a line', b"", b"\xff no text\r", b"[1, 2]"]
    log.write_bytes(log.read_bytes() + b"\n".join(ours) + b"\n")
    before = log.read_bytes()
    mem.link(memo.id, "cites", gone.id)
    with log.open("ab") as file:
        file.write(b'{"from": "%b", broken\n{"context": "the Quaggaherd", broken\n' % gone.id.encode())
    mem.sync()

    told = mem.forget(gone.id, purge=True)

    assert log.read_bytes() == before
    assert "links.jsonl" in told["rewritten"]
    assert any("links.jsonl" in notice and "line 8, 9" in notice for notice in mem.notices)


def test_a_purge_without_a_word_in_the_links_does_not_touch_them(mem: Memory, home: Path) -> None:
    gone, log = mem.note("Quaggaherd", "Wild."), home / "links.jsonl"
    log.write_bytes(b'{"op": "half\n{ "hand": "written" }')

    told = mem.forget(gone.id, purge=True)

    assert log.read_bytes() == b'{"op": "half\n{ "hand": "written" }'
    assert "links.jsonl" not in told["rewritten"]


def test_a_purged_entry_leaves_every_other_review_as_it_is(mem: Memory, home: Path) -> None:
    entry = mem.log("Ann: I live in Quaggaville.", topic="life", created="2026-01-01")
    mem.log("Ann: I am a vegan.", topic="life", created="2026-01-02")
    facts = {item["title"]: item["id"] for item in mem.list(kind="fact")[0]}
    secret, = (id for title, id in facts.items() if "Quaggaville" in title)
    other, = (id for id in facts.values() if id != secret)
    mem.review(other, score=7)
    log = home / "topics/life/curation.jsonl"
    log.write_bytes(log.read_bytes().replace(b'":', b'" : ') + b'{"ts": "2026-01-03T00:00:00Z", "op": "sco\n')
    before = log.read_bytes()
    mem.review(secret, score=9)
    with log.open("ab") as file:
        file.write(b'{"fact_id": "%b", broken\n' % secret.encode())
    mem.sync()

    mem.forget(entry.id, purge=True)

    assert log.read_bytes() == before
    assert any("curation.jsonl" in notice for notice in mem.notices)
    assert anywhere(home, "uaggaville") == []


# The index's own folder

def test_a_purge_removes_the_indexes_that_other_versions_left(mem: Memory, home: Path) -> None:
    note = mem.note("Quaggaherd", "Wild.")
    own = mem.home.index.path
    assert own is not None
    for name in ("index-6.sqlite", "index-6.sqlite-wal", "index-70.sqlite"):
        (own.parent / name).write_text("Quaggaherd")
    elsewhere = own.parent.parent / "0123456789abcdef/index-6.sqlite"
    elsewhere.parent.mkdir()
    elsewhere.write_text("another home's")

    mem.forget(note.id, purge=True)

    assert anywhere(home, "uaggaherd") == []
    assert own.exists()
    assert elsewhere.exists()


def test_the_index_forgets_the_pages_of_a_purged_topic(mem: Memory, home: Path) -> None:
    entry = mem.log("Ann: I live in Rome.", topic="quaggaherd")
    mem.log("Ann: I am a vegan.", topic="life")
    mem.upkeep()

    mem.forget(entry.id, purge=True)

    assert anywhere(home, "quaggaherd") == []
    assert {"topics/life/topic_memory.json", "CORE.md"} <= mem.home.index.marks.all("built").keys()


# What tells of it elsewhere

@pytest.mark.parametrize("undone", [False, True])
def test_the_diary_does_not_tell_of_merging_a_purged_note(mem: Memory, home: Path, undone: bool) -> None:
    keep, gone = mem.note("Keep", "It stays."), mem.note("Quaggaherd", "It stays.")
    mem.merge(keep.id, gone.id)
    if undone:
        mem.unmerge(gone.id)

    told = mem.forget(gone.id, purge=True)

    diary, = (home / "episodes").iterdir()
    assert "uaggaherd" not in diary.read_text()
    assert diary.relative_to(home).as_posix() in told["rewritten"]
    assert diary.read_text().count("(purged)") == (3 if undone else 2)
    assert "- Keep\n" in diary.read_text()
    if undone:
        assert anywhere(home, "uaggaherd") == []


def test_who_still_tells_of_a_purged_note_is_named(mem: Memory, home: Path) -> None:
    gone = mem.note("Quaggaherd", "Wild.")
    path = mem.get(gone.id).path
    told = mem.note("Recurring theme", f"Three notes:\n\n- general: [Quaggaherd](../../{path})", type="insight")
    mem.link(told.id, "BUILDS_ON", gone.id)
    other = mem.note("Kettle", f"See {gone.id}.")
    mem.forget(other.id)
    copy = (home / path).with_name("Quaggaherd (conflicted copy).md")
    shutil.copy(home / path, copy)

    done = mem.forget(gone.id, purge=True)

    named = [line for line in done["beyond_reach"] if line.startswith("what ")]
    for where in (mem.get(told.id).path, copy.relative_to(home).as_posix(), "archive/graph/general/kettle", "episodes/"):
        assert any(where in line for line in named)
    assert len(named) == 4
    assert copy.exists()


def test_what_is_gone_is_told_as_removed_and_not_as_rewritten(mem: Memory, home: Path) -> None:
    gone, stays = mem.note("Quaggaherd", "Wild."), mem.note("Kettle", "Hot.")
    mem.link(gone.id, "SOLVES", stays.id)
    old = mem.link(gone.id, "REQUIRES", stays.id).edge_id
    mem.forget(str(old))

    told = mem.forget(gone.id, purge=True)

    assert len([path for path in told["removed"] if "graph/edges/" in path]) == 2
    assert all((home / path).exists() for path in told["rewritten"])
    assert not any((home / path).exists() for path in told["removed"])
    assert mem.get(stays.id).path in told["rewritten"]


def test_an_entry_that_is_forgotten_and_then_purged_leaves_no_folder(mem: Memory, home: Path) -> None:
    entry = mem.log("Ann: The quagga is gone.", topic="quaggaherd")
    other = mem.log("Ann: The zebra is here.", topic="zoo")
    for one in (entry, other):
        mem.forget(one.id)

    mem.forget(entry.id, purge=True)

    assert anywhere(home, "quaggaherd") == everything(home, "quagga") == []
    assert everything(home, entry.id) == ["index/audit.log"]
    assert mem.restore(other.id).id == other.id
    mem.forget(other.id)
    mem.forget(other.id, purge=True)
    assert not (home / "archive/topics").exists()
    assert mem.log("Ann: The zebra is back.", topic="zoo").topic == "zoo"


# What a killed writer left

def test_what_a_killed_writer_left_is_named_by_check_and_tidied_by_upkeep(mem: Memory, home: Path) -> None:
    mem.note("Tea", "Green.")
    left, fresh = home / "graph/general/.otolith-0123456789ab.tmp", home / "graph/.otolith-ba9876543210.tmp"
    left.write_text("half a note")
    os.utime(left, (time.time() - 7200, time.time() - 7200))

    assert [(one.path, one.code) for one in mem.check()] == [("graph/general/.otolith-0123456789ab.tmp", "leftover")]
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
        mem.edit(chunk.id, {"tokens": 5000})


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
