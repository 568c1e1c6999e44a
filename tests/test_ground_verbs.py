"""The verbs that need no ladder, through Python: what they keep, what they refuse, and what they leave behind."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Clock
from otolith.errors import Conflict, Damaged, Invalid, NotFound
from otolith.memory import Memory
from otolith.model.note import Note
from otolith.verbs.editing import edit

SECRET = "xylophone-quagmire"


def audit(mem: Memory) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (mem.path / "index/audit.log").read_text().splitlines()]


def traces(words: str, *folders: Path) -> list[str]:
    """Every file below the folders that holds the words, in its name or its bytes."""
    return [str(path) for folder in folders for path in folder.rglob("*")
            if words in path.name or (path.is_file() and words.encode() in path.read_bytes())]


@pytest.fixture
def tea(mem: Memory) -> Note:
    return mem.note("Tea", "Steep for three minutes.", tags=["drinks"])


# Bad input: refused by name, nothing written

REFUSED: list[tuple[str, Callable[[Memory], Any]]] = [
    ("an unknown type", lambda mem: mem.note("T", "x", type="nonsense")),
    ("importance 7", lambda mem: mem.note("T", "x", importance=7)),
    ("importance that is no number", lambda mem: mem.note("T", "x", importance="high")),
    ("importance NaN", lambda mem: mem.note("T", "x", importance=float("nan"))),
    ("confidence below 0", lambda mem: mem.note("T", "x", confidence=-0.1)),
    ("an empty title", lambda mem: mem.note("  ", "x")),
    ("a title that is no text", lambda mem: mem.note(7, "x")),
    ("a text that is no text", lambda mem: mem.note("T", None)),
    ("tags as one string", lambda mem: mem.note("T", "x", tags="redis")),
    ("tags that are no words", lambda mem: mem.note("T", "x", tags=[1, 2])),
    ("steps of a solution", lambda mem: mem.note("T", "x", type="solution", steps=["one"])),
    ("a NUL byte", lambda mem: mem.note("T", "x\0y")),
    ("half a sign", lambda mem: mem.note("T", "x\ud83d")),
    ("half a sign in the title", lambda mem: mem.note("T\udcff", "x")),
    ("a text full of merge markers", lambda mem: mem.note("T", "<<<<<<< a\nx\n=======\ny\n>>>>>>> b")),
    ("a time that is none", lambda mem: mem.note("T", "x", created="yesterdayish")),
    ("a memo's bad name", lambda mem: mem.memo("../../etc/passwd", "x")),
    ("a memo's vague name", lambda mem: mem.memo("stuff", "x")),
    ("a memo name that is no text", lambda mem: mem.memo(None, "x")),
    ("a memo's unknown category", lambda mem: mem.memo("user_likes_green_tea", "x", category="never")),
    ("a memo's tag with a comma", lambda mem: mem.memo("user_likes_green_tea", "x", tags=["a, b"])),
    ("a memo's tags as one string", lambda mem: mem.memo("user_likes_green_tea", "x", tags="tea")),
    ("a memo that supersedes a string", lambda mem: mem.memo("user_likes_green_tea", "x", supersedes="user_likes_tea_black")),
    ("a memo with a NUL", lambda mem: mem.memo("user_likes_green_tea", "x\0")),
    ("an id that is a path out", lambda mem: mem.get("../../etc/passwd")),
    ("an absolute path", lambda mem: mem.get("/etc/passwd")),
    ("an empty id", lambda mem: mem.get(" ")),
    ("an unknown depth", lambda mem: mem.get("x", depth="abyss")),
    ("an empty question", lambda mem: mem.recall("  ")),
    ("an unknown kind", lambda mem: mem.list(kind="dream")),
    ("an episode without a title", lambda mem: mem.episode(" ")),
    ("an episode's tags as one string", lambda mem: mem.episode("x", tags="one")),
]


@pytest.mark.parametrize("act", [act for _, act in REFUSED], ids=[name for name, _ in REFUSED])
def test_bad_input_is_refused_in_one_line_and_nothing_is_written(mem: Memory, act: Callable[[Memory], Any]) -> None:
    with pytest.raises(Invalid) as told:
        act(mem)

    assert "\n" not in told.value.message
    assert not mem.path.exists() or not [path for path in mem.path.rglob("*") if path.is_file() and path.name != ".lock"]


@pytest.mark.parametrize("handle", ["no-such-record", "chunk-2026-02-10-00000000", "episode:2026-02-10#0000-1", "a" * 5000,
                                    "%", "' OR 1=1 --", "東京"])
def test_what_is_not_there_is_not_found(mem: Memory, tea: Note, handle: str) -> None:
    for act in (mem.get, mem.forget, mem.restore, mem.pin, mem.related):
        with pytest.raises(NotFound):
            act(handle)


# note


@pytest.mark.parametrize("title", ["A\nB", "# heading", 'say "no"', "---", "null", "x" * 300, "日本語のノート",
                                   "../../etc", "\u202eevil", "a: b # c"])
def test_any_title_is_kept_and_its_file_stays_in_its_folder(mem: Memory, title: str) -> None:
    note = mem.note(title, "text")

    kept = mem.get(note.id)
    assert kept.record.title == title
    assert re.fullmatch(r"graph/general/[^/]+-[0-9a-f]{6}\.md", kept.path)
    assert len(kept.path.encode()) < 100
    assert mem.check() == []


@pytest.mark.parametrize("text", ["---\nnot: front matter\n---", "# One\n\n## Two", "a\r\nb", "  indented", "", "trailing  ",
                                  "\t- x"])
def test_any_text_is_kept(mem: Memory, text: str) -> None:
    note = mem.note("T", text)

    assert mem.get(note.id).record.text == text.replace("\r\n", "\n")


def test_the_same_key_returns_the_same_note_and_other_content_under_it_is_a_conflict(mem: Memory) -> None:
    one = mem.note("Tea", "Steep.", key="k1")

    assert mem.note("Tea", "Steep.", key="k1").id == one.id
    with pytest.raises(Conflict):
        mem.note("Tea", "Boil.", key="k1")
    assert mem.note("Tea", "Steep.", key="k2").id != one.id
    assert mem.list(kind="note")[1] == 2


def test_a_key_means_the_same_in_the_process_that_makes_the_home_and_in_the_next(home: Path, clock: Clock) -> None:
    with Memory(home, clock=clock) as first:
        first.init()
        one = first.note("Tea", "Steep.", key="k")
    with Memory(home, clock=clock) as second:
        assert second.note("Tea", "Steep.", key="k").id == one.id


def test_who_wrote_a_note_is_set_by_the_door(mem: Memory, clock: Clock) -> None:
    with Memory(mem.path, clock=clock, door="mcp", trust="agent") as agent:
        note = agent.note("Tea", "Steep.", agent="helper")

    assert mem.get(note.id).origin == {"agent": "helper", "door": "mcp", "session": note.origin.session, "project": "default",
                                       "trust": "agent", "at": "2026-02-10T21:37:00.000000Z"}


@pytest.mark.parametrize("field", ["origin", "id", "created", "pinned", "relations"])
def test_an_edit_cannot_rewrite_who_wrote_a_note_and_when(mem: Memory, tea: Note, field: str) -> None:
    before = (mem.path / mem.get(tea.id).path).read_bytes()

    with pytest.raises(Invalid, match=field):
        edit(mem.home, tea.id, {field: {"trust": "user"}})

    assert (mem.path / mem.get(tea.id).path).read_bytes() == before


# edit


def test_an_edit_moves_the_time_of_the_last_change_and_nothing_else(mem: Memory, tea: Note, clock: Clock) -> None:
    clock.pass_time(hours=1)

    mem.edit(tea.id, importance=0.9)

    kept = mem.get(tea.id).record
    assert kept == tea.replace(importance=0.9, updated_at="2026-02-10T22:37:00+00:00")


def test_an_edit_that_changes_nothing_writes_nothing(mem: Memory, tea: Note, snapshot: Callable[[], dict[str, bytes]]) -> None:
    before = snapshot()

    mem.edit(tea.id, importance=tea.importance, text=tea.text + "\n")

    assert snapshot() == before


def test_an_edit_of_what_moved_on_is_a_conflict(mem: Memory, tea: Note) -> None:
    path = mem.path / mem.get(tea.id).path
    loaded = mem.home.load(tea.id)
    path.write_text(path.read_text().replace("three", "seven"))

    with pytest.raises(Conflict):
        mem.edit(tea.id, expect=loaded.hash, importance=0.9)
    with pytest.raises(Conflict):
        mem.home.change(loaded, tea.replace(importance=0.9), verb="edited")
    assert "seven" in path.read_text()


def test_a_note_that_changes_its_type_moves_to_the_types_folder(mem: Memory, tea: Note) -> None:
    mem.edit(tea.id, type="decision")

    assert mem.get(tea.id).path == f"graph/decisions/tea-{tea.id[:6]}.md"
    assert mem.check() == []


def test_a_foreign_note_keeps_its_id_when_it_is_edited_or_pinned(mem: Memory, tea: Note) -> None:
    for name, text in (("bare.md", "# Bare\n\nNo front matter.\n"), ("some.md", "---\ntitle: Some\n# mine\n---\nNo id.\n")):
        (mem.path / "graph/general" / name).write_text(text)
    mem.sync()
    found = {item["title"]: item["id"] for item in mem.list(kind="note")[0]}

    mem.edit(found["Some"], importance=0.9)
    for title in ("Bare", "Some"):
        mem.pin(found[title])
        assert mem.get(found[title]).path.startswith("vault/")
        mem.unpin(found[title])
        assert mem.get(found[title]).path.startswith("graph/general/")
    assert "# mine\n" in (mem.path / mem.get(found["Some"]).path).read_text()


@pytest.mark.parametrize("text", [
    "# Tea\n**Created:** 2026-02-10 21:37\n**Category:** past\n**Tags:** [a, b]\n**Mood:** sunny\n---\nGreen.\n",
    "# Tea\r\n**Created:** 2026-02-10 21:37\r\n**Category:** past\r\n**Tags:** [a]\r\n---\r\nGreen.\r\n",
    "**Created:** 2026-02-10 21:37\n---\nGreen.\n", "Just a thought.\n\n---\n\nAnd another.\n", "No rule at all.\n"])
def test_a_memo_written_by_hand_can_be_edited_and_keeps_the_rest(mem: Memory, text: str) -> None:
    path = mem.path / "allmemories/user_likes_green_tea.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode())

    mem.edit("user_likes_green_tea", title="Green tea", tags=["x"], text="Black.\nNo, green.", category="future")

    kept = mem.get("user_likes_green_tea").record
    assert (kept.title, kept.tags, kept.text, kept.category) == ("Green tea", ("x",), "Black.\nNo, green.", "future")
    written = path.read_bytes()
    assert ("Mood" in text) == (b"**Mood:** sunny" in written)
    assert b"\r\n" not in written or written.count(b"\r\n") == written.count(b"\n")


def test_a_memos_header_cannot_pretend_to_be_another_memo(mem: Memory) -> None:
    path = mem.path / "allmemories/user_likes_green_tea.md"
    path.parent.mkdir(parents=True)
    path.write_text("# Tea\n**Id:** other_memo_of_mine\n**Text:** nothing\n**Created:** 2026-02-10 21:37\n---\nGreen.\n")

    kept = mem.get("user_likes_green_tea").record

    assert (kept.id, kept.text) == ("user_likes_green_tea", "Green.")


# memo

@pytest.mark.clause("protocol-01", "protocol-03", "protocol-28", "protocol-29", "protocol-30", "protocol-31", "protocol-32")
def test_a_memo_is_a_file_in_the_seeds_template(mem: Memory) -> None:
    mem.memo("user_prefers_structured_output", "Answers as tables.", category="present", tags=["style", "output"])

    lines = (mem.path / "allmemories/user_prefers_structured_output.md").read_text().splitlines()
    assert lines[:4] == ["# User prefers structured output", "**Created:** 2026-02-10 21:37", "**Category:** present",
                         "**Tags:** [style, output]"]
    assert lines[-2:] == ["---", "Answers as tables."]


def test_the_same_memo_again_is_the_same_and_another_text_under_its_name_is_a_conflict(mem: Memory) -> None:
    mem.memo("user_likes_green_tea", "Green.")

    assert mem.memo("user_likes_green_tea", "Green.").text == "Green."
    with pytest.raises(Conflict):
        mem.memo("user_likes_green_tea", "Black.")


@pytest.mark.clause("protocol-33", "protocol-34")
def test_a_memo_that_supersedes_another_marks_it_and_taking_that_back_unmarks_it(mem: Memory) -> None:
    mem.memo("project_rlm_mem_architecture_complete", "It is written in Python.")
    mem.memo("project_rlm_mem_architecture_rust", "It is written in Rust.")

    mem.link("project_rlm_mem_architecture_rust", "supersedes", "project_rlm_mem_architecture_complete")

    old = mem.path / "allmemories/project_rlm_mem_architecture_complete.md"
    assert re.search(r"DEPRECATED: See valid architecture in \[?project_rlm_mem_architecture_rust", old.read_text())
    assert mem.recall("written in").hits[0].id == "project_rlm_mem_architecture_rust"
    mem.unlink("project_rlm_mem_architecture_rust", "supersedes", "project_rlm_mem_architecture_complete")
    assert "DEPRECATED" not in old.read_text()
    assert mem.get("project_rlm_mem_architecture_complete").text == "It is written in Python."


# link, unlink, related


def test_linked_notes_know_each_other_and_saying_it_again_changes_nothing(
        mem: Memory, tea: Note, snapshot: Callable[[], dict[str, bytes]]) -> None:
    thirst = mem.note("Thirst", "Often.", type="problem")

    mem.link(tea.id, "SOLVES", thirst.id, strength=0.8, context="It is wet.")

    assert [(found["id"], found["link"], found["context"]) for found in mem.related(tea.id)] == [
        (thirst.id, "solves", "It is wet.")]
    assert [found["link"] for found in mem.related(thirst.id)] == ["solved_by"]
    before = snapshot()
    mem.link(tea.id, "SOLVES", thirst.id)
    assert snapshot() == before
    mem.unlink(tea.id, "SOLVES", thirst.id)
    assert mem.related(tea.id) == mem.related(thirst.id) == []
    assert mem.check() == []


def test_records_of_two_kinds_are_linked_in_one_line_and_unlinked_by_another(mem: Memory, tea: Note) -> None:
    memo = mem.memo("user_likes_green_tea", "Green.")

    mem.link(memo.id, "cites", tea.id)
    mem.link(memo.id, "cites", tea.id)

    assert len((mem.path / "links.jsonl").read_text().splitlines()) == 1
    assert [found["id"] for found in mem.related(tea.id)] == [memo.id]
    mem.unlink(memo.id, "cites", tea.id)
    assert mem.related(tea.id) == []
    assert len((mem.path / "links.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize(("word", "error"), [("LIKES", Invalid), ("pinned", Invalid), ("mentions", Invalid)])
def test_a_link_of_an_unknown_or_reserved_type_is_refused(mem: Memory, tea: Note, word: str, error: type[Exception]) -> None:
    other = mem.note("Coffee", "Grind.")

    with pytest.raises(error):
        mem.link(tea.id, word, other.id)


def test_a_link_to_itself_or_to_nothing_is_refused(mem: Memory, tea: Note) -> None:
    with pytest.raises(Invalid):
        mem.link(tea.id, "SOLVES", tea.id)
    with pytest.raises(NotFound):
        mem.link(tea.id, "SOLVES", "nothing-there")
    with pytest.raises(NotFound):
        mem.unlink(tea.id, "SOLVES", mem.note("Coffee", "x").id)


def test_related_reaches_as_far_as_asked(mem: Memory, tea: Note) -> None:
    second, third = mem.note("Water", "Hot."), mem.note("Kettle", "Sings.")
    mem.link(tea.id, "REQUIRES", second.id)
    mem.link(second.id, "REQUIRES", third.id)

    assert [found["id"] for found in mem.related(tea.id)] == [second.id]
    assert [(found["id"], found["distance"]) for found in mem.related(tea.id, 2)] == [(second.id, 1), (third.id, 2)]
    with pytest.raises(Invalid):
        mem.related(tea.id, 0)


def test_a_forgotten_records_links_are_hidden_and_come_back_with_it(mem: Memory, tea: Note) -> None:
    other = mem.note("Water", "Hot.")
    mem.link(tea.id, "REQUIRES", other.id)

    mem.forget(other.id)
    assert mem.related(tea.id) == []
    mem.restore(other.id)

    assert [found["id"] for found in mem.related(tea.id)] == [other.id]
    assert mem.check() == []


# forget, restore


@pytest.mark.clause("dialog-26")
def test_what_was_done_stands_in_the_audit_log_without_the_content(mem: Memory, tea: Note) -> None:
    mem.edit(tea.id, importance=0.9)
    mem.forget(tea.id)
    mem.restore(tea.id)

    lines = audit(mem)
    assert [(line["verb"], line["kind"], line["id"]) for line in lines] == [
        (verb, "note", tea.id) for verb in ("note", "edited", "forgot", "restored")]
    assert set(lines[0]) == {"ts", "verb", "kind", "id", "sha256", "origin"}
    assert "Steep" not in (mem.path / "index/audit.log").read_text()


def test_a_forgotten_note_is_not_recalled_and_comes_back_as_it_was(mem: Memory, tea: Note) -> None:
    path = mem.get(tea.id).path
    before = (mem.path / path).read_bytes()

    mem.forget(tea.id)

    assert (mem.path / "archive" / path).read_bytes() == before
    assert mem.recall("steep", kind="note").hits == []
    with pytest.raises(NotFound, match="forgotten"):
        mem.get(tea.id)
    assert mem.restore(tea.id) == tea
    assert (mem.path / path).read_bytes() == before
    with pytest.raises(Invalid, match="not forgotten"):
        mem.restore(tea.id)


def test_a_memo_forgotten_twice_comes_back_as_it_was_last(mem: Memory) -> None:
    for text in ("Green.", "Black."):
        mem.memo("user_likes_green_tea", text)
        mem.forget("user_likes_green_tea")

    assert mem.check() == []
    assert mem.restore("user_likes_green_tea").text == "Black."
    mem.forget("user_likes_green_tea")
    assert mem.restore("user_likes_green_tea").text == "Black."


def test_an_entry_is_forgotten_and_restored_with_all_its_files(mem: Memory) -> None:
    entry = mem.path / "topics/tea/entry_20260210T213700Z_a1b2c3d4"
    entry.mkdir(parents=True)
    (entry / "raw.md").write_text("Ann: The kettle sings.\n")
    (entry / "meta.json").write_text(json.dumps({"schema": "entry_meta.v1", "entry_id": entry.name, "topic": "tea",
                                                 "entry_ts": "2026-02-10T12:00:00Z"}))
    before = {path.name: path.read_bytes() for path in entry.iterdir()}
    mem.sync()

    mem.forget(entry.name)
    assert mem.recall("kettle").hits == []
    assert mem.check() == []
    mem.restore(entry.name)

    assert {path.name: path.read_bytes() for path in entry.iterdir()} == before
    assert mem.get(entry.name).record.turns[0].text == "The kettle sings."


def test_a_foreign_note_without_an_id_is_forgotten_and_restored_under_the_same_one(mem: Memory) -> None:
    (mem.path / "graph/general").mkdir(parents=True)
    (mem.path / "graph/general/bare.md").write_text("# Bare\n\nNo front matter.\n")
    mem.sync()
    note = mem.list(kind="note")[0][0]["id"]

    mem.forget(note)

    assert mem.restore(note).title == "Bare"


# pin


@pytest.mark.clause("notes-67")
def test_a_pinned_note_lies_in_the_vault_and_an_unpinned_one_where_it_was(mem: Memory, tea: Note) -> None:
    path = mem.get(tea.id).path

    mem.pin(tea.id)
    mem.pin(tea.id)
    assert mem.get(tea.id).path == f"vault/{path.rsplit('/', 1)[1]}"
    mem.unpin(tea.id)
    mem.unpin(tea.id)

    assert mem.get(tea.id).path == path


def test_a_pin_keeps_the_type_that_only_the_folder_told(mem: Memory) -> None:
    (mem.path / "graph/fixes").mkdir(parents=True)
    (mem.path / "graph/fixes/w.md").write_text("---\ntitle: Wobble\n---\n\nTighten it.\n")
    mem.sync()

    mem.pin("Wobble")
    assert (mem.get("Wobble").type, mem.get("Wobble").path) == ("fix", "vault/w.md")
    mem.unpin("Wobble")
    assert (mem.get("Wobble").type, mem.get("Wobble").path) == ("fix", "graph/fixes/w.md")


@pytest.mark.parametrize("path", [
    "graph/solutions/proj/a/index.md", "graph/fixes/index.md", "graph/index.md", "graph/elsewhere/index.md",
    "graph/solutions/fixes/index.md", "graph/solutions/graph/index.md"])
def test_an_unpinned_note_goes_back_to_the_folder_it_came_from(mem: Memory, path: str) -> None:
    file = mem.path / path
    file.parent.mkdir(parents=True)
    file.write_text("---\ntitle: Wobble\ntype: solution\n---\n\nTighten it.\n")
    mem.sync()

    mem.pin("Wobble")
    assert mem.get("Wobble").path.startswith("vault/")
    mem.unpin("Wobble")
    assert mem.get("Wobble").path == path


def test_a_pinned_note_of_a_taken_name_gets_a_free_one(mem: Memory) -> None:
    for folder, title in (("solutions", "One"), ("fixes", "Two")):
        (mem.path / "graph" / folder).mkdir(parents=True)
        (mem.path / "graph" / folder / "index.md").write_text(f"---\ntitle: {title}\n---\n\nText.\n")
    mem.sync()
    mem.pin("One")
    mem.pin("Two")

    assert {mem.get("One").path, mem.get("Two").path} == {"vault/index.md", "vault/index-2.md"}
    mem.unpin("One")
    mem.unpin("Two")
    assert (mem.get("One").path, mem.get("Two").path) == ("graph/solutions/index.md", "graph/fixes/index-2.md")


def test_taking_back_a_pin_that_never_was_says_so(mem: Memory, tea: Note) -> None:
    memo = mem.memo("user_likes_green_tea", "Green.")
    for record in (tea, memo):
        mem.unpin(record.id)

        assert "was not pinned" in mem.notices[-1]


def test_a_changed_type_keeps_the_sub_folders(mem: Memory) -> None:
    (mem.path / "graph/solutions/proj").mkdir(parents=True)
    (mem.path / "graph/solutions/proj/w.md").write_text("---\ntitle: Wobble\n---\n\nTighten it.\n")
    mem.sync()
    mem.edit("Wobble", type="fix")

    assert mem.get("Wobble").path == "graph/fixes/proj/w.md"


def test_a_pinned_memo_stays_where_it_is_with_a_line_of_its_own(mem: Memory) -> None:
    memo = mem.memo("user_likes_green_tea", "Green.")

    mem.pin(memo.id)
    mem.pin(memo.id)

    assert [json.loads(line)["type"] for line in (mem.path / "links.jsonl").read_text().splitlines()] == ["pinned"]
    assert mem.related(memo.id) == []


# check


@pytest.mark.parametrize("how", ["symlink", "pipe", "folder"])
def test_what_stands_where_the_links_should_is_a_finding(mem: Memory, tmp_path: Path, tea: Note, how: str) -> None:
    file = mem.path / "links.jsonl"
    (tmp_path / "elsewhere").write_text("")
    {"symlink": lambda: file.symlink_to(tmp_path / "elsewhere"), "pipe": lambda: os.mkfifo(file), "folder": file.mkdir}[how]()

    assert [finding.path for finding in mem.check()] == ["links.jsonl"]
    assert mem.get(tea.id)


def test_a_note_in_a_sub_folder_of_its_type_is_in_its_place(mem: Memory) -> None:
    (mem.path / "graph/solutions/proj/a").mkdir(parents=True)
    (mem.path / "graph/solutions/proj/a/x.md").write_text("---\ntitle: X\ntype: solution\n---\n\nText.\n")
    assert mem.check() == []
    (mem.path / "graph/solutions/proj/a/x.md").write_text("---\ntitle: X\ntype: fix\n---\n\nText.\n")

    assert [finding.code for finding in mem.check()] == ["misplaced"]


# bulk


def test_a_batch_is_one_commit_and_others_read_meanwhile(mem: Memory) -> None:
    mem.note("Tea", "Steep.")
    said: list[str] = []
    mem.home.index.db.set_trace_callback(said.append)

    with mem.bulk():
        for at in range(20):
            mem.remember(f"The {at} kettles sing.", conversation_id="c", tags=["tea"])
        with Memory(mem.path, clock=mem.home.clock) as other:
            assert other.recall("Steep").hits[0].title == "Tea"

    mem.home.index.db.set_trace_callback(None)
    assert [line for line in said if line.startswith("COMMIT")] == ["COMMIT"]
    assert mem.list(kind="chunk")[1] == 20
    assert [chunk.id for chunk in mem.remember("The 3 kettles sing.", conversation_id="c", tags=["tea"])] == \
        [mem.recall("The 3 kettles sing.").hits[0].id]


def test_a_batch_that_breaks_off_loses_nothing_that_is_on_disk(mem: Memory) -> None:
    def batch() -> None:
        with mem.bulk():
            mem.remember("The kettle sings.", conversation_id="c")
            mem.remember("")

    with pytest.raises(Invalid):
        batch()

    mem.sync()
    assert mem.list(kind="chunk")[1] == len(list((mem.path / "chunks").rglob("*.json"))) == 1


# purge


def seeded(mem: Memory) -> dict[str, str]:
    """One record of several kinds that all hold the secret words, linked with each other and with an innocent one."""
    innocent = mem.note("Innocent", "Nothing to see.")
    note = mem.note(f"About {SECRET}", f"The {SECRET} text.", tags=[f"{SECRET}-tag"])
    memo = mem.memo("user_keeps_a_secret", f"A {SECRET} memo.")
    newer = mem.memo("user_keeps_no_secret", "An innocent memo.")
    mem.link(newer.id, "supersedes", memo.id)
    mem.link(innocent.id, "SOLVES", note.id, context=f"because of {SECRET}")
    mem.link(memo.id, "cites", note.id, context=f"see {SECRET}")
    mem.pin(memo.id)
    chunk = {"id": "chunk-2026-02-10-a1b2c3d4", "content": f"The {SECRET} chunk.", "tokens": 5, "type": "fact",
             "metadata": {"created": "2026-02-10T21:37:00Z"}, "links": {}, "tags": []}
    other = {**chunk, "id": "chunk-2026-02-10-0000ffff", "content": "An innocent chunk.",
             "links": {"related_to": [chunk["id"]], "details": {"related_to": {chunk["id"]: {"context": SECRET}}}}}
    for one in (chunk, other):
        path = mem.path / f"chunks/2026-02/{one['id']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(one))
    entry = mem.path / "topics/tea/entry_20260210T213700Z_a1b2c3d4"
    entry.mkdir(parents=True)
    (entry / "raw.md").write_text(f"Ann: The {SECRET} sings.\n")
    (mem.path / "topics/tea/topic_memory.json").write_text(json.dumps({"topic": "tea", "state": {"summary": SECRET}}))
    (mem.path / "GLOBAL_MEMORY.json").write_text(json.dumps({"active_topics": [{"topic": "tea", "summary": SECRET}]}))
    (mem.path / "CORE.md").write_text(f"# Memory Core (auto-generated)\n- [About {SECRET}](graph/general/x.md)\n")
    mem.reindex()
    return {"note": note.id, "memo": memo.id, "chunk": str(chunk["id"]), "entry": entry.name}


def test_a_purge_leaves_no_trace_in_the_home_or_the_cache(mem: Memory) -> None:
    records = seeded(mem)
    for record in records.values():
        mem.get(record)
    (mem.path / "graph/general/.otolith-0123456789ab.tmp").write_text(SECRET)
    mem.forget(records["memo"])  # a forgotten one can be purged too
    mem.home.fold_usage()

    for record in records.values():
        told = mem.forget(record, purge=True)
        assert told["removed"]
        assert told["beyond_reach"]

    cache = Path(os.environ["XDG_CACHE_HOME"])
    assert traces(SECRET, mem.path, cache) == []
    assert traces("sings", mem.path) == []
    for kind, record in records.items():
        found = [path for path in traces(record, mem.path) if not path.endswith("audit.log")]
        assert kind == "entry" or found == []
        with pytest.raises(NotFound):
            mem.get(record)
    assert mem.check() == []
    assert [item["title"] for item in mem.list(kind="note")[0]] == ["Innocent"]
    assert mem.recall("innocent chunk", kind="chunk").hits[0].id == "chunk-2026-02-10-0000ffff"


def test_pages_that_named_a_purged_record_come_back_without_it(mem: Memory) -> None:
    note = mem.note(f"About {SECRET}", "A text.", type="solution", importance=0.9)
    mem.note("Innocent", "Nothing to see.", type="solution", importance=0.9)
    entry = mem.log(f"Ann: I live in {SECRET.title()}.", topic="life", created="2026-01-01")
    mem.log("Ann: I am a vegan.", topic="life", created="2026-01-02")
    mem.upkeep()
    assert SECRET in (mem.path / "CORE.md").read_text()

    told = mem.forget(note.id, purge=True)
    mem.forget(entry.id, purge=True)

    assert {"CORE.md", "_state.json"} <= set(told["rewritten"])
    assert "CORE.md" not in told["removed"]
    assert any("_embeddings.json" in notice for notice in mem.notices)
    assert "Innocent" in (mem.path / "CORE.md").read_text()
    assert "vegan" in (mem.path / "topics/life/topic_memory.md").read_text()
    assert "vegan" in (mem.path / "GLOBAL_MEMORY.md").read_text()
    assert traces(SECRET, mem.path) == traces(SECRET.title(), mem.path) == []
    core = (mem.path / "CORE.md").read_bytes()
    mem.upkeep()
    assert (mem.path / "CORE.md").read_bytes() == core
    assert traces(SECRET, mem.path) == traces(SECRET.title(), mem.path) == []


def test_a_purged_diary_block_leaves_its_neighbours_alone(mem: Memory, clock: Clock) -> None:
    mem.episode("One", summary="First.")
    mem.episode(f"Two {SECRET}", summary=SECRET)
    clock.pass_time(minutes=1)
    mem.episode("Three", summary="Third.")

    mem.forget(mem.get("episode:2026-02-10#2137-2").id, purge=True)  # its number within its minute, as before 0.2

    assert traces(SECRET, mem.path) == []
    assert [mem.get(f"episode:2026-02-10#{at}").title for at in ("2137-1", "2138-1")] == ["21:37 - One", "21:38 - Three"]


# episodes


def test_a_tag_or_type_cannot_smuggle_a_block_into_the_diary(mem: Memory) -> None:
    mem.episode("One\n## 10:00 - Two", tags=["a\n## 11:00 - Three"], type="fix\n## 12:00 - Four", summary="x\n## 13:00 - Five")

    assert mem.list(kind="episode")[1] == 1


# exports


@pytest.mark.clause("chunk-23", "chunk-24", "chunk-25")
def test_reindex_writes_the_chunk_indexes_in_the_seeds_places(mem: Memory) -> None:
    seeded(mem)

    metadata, by_tag, graph = (json.loads((mem.path / f"index/{name}.json").read_text())
                               for name in ("metadata_index", "tag_index", "link_graph"))

    assert metadata["entries"]["chunk-2026-02-10-a1b2c3d4"]["type"] == "fact"
    assert by_tag["lists"] == {}
    assert graph["entries"]["chunk-2026-02-10-0000ffff"]["related_to"] == ["chunk-2026-02-10-a1b2c3d4"]
    mem.forget("chunk-2026-02-10-a1b2c3d4")
    mem.reindex()
    graph = json.loads((mem.path / "index/link_graph.json").read_text())["entries"]
    assert graph["chunk-2026-02-10-0000ffff"]["related_to"] == []


def test_reindexing_again_writes_nothing(mem: Memory, clock: Clock, snapshot: Callable[[], dict[str, bytes]]) -> None:
    seeded(mem)
    before = snapshot()
    clock.pass_time(days=1)

    assert mem.reindex()["written"] == []
    assert snapshot() == before


def test_an_export_that_a_person_changed_is_kept_aside(mem: Memory, tea: Note) -> None:
    mem.reindex()
    (mem.path / "_index.json").write_text('{"mine": true}')

    mem.reindex()

    assert json.loads((mem.path / "_index.json").read_text())["count"] == 1
    assert [path.read_text() for path in (mem.path / "archive/edited").iterdir()] == ['{"mine": true}']


def test_a_broken_file_does_not_keep_the_exports_from_being_written(mem: Memory, tea: Note) -> None:
    other = mem.note("Coffee", "Grind.")
    (mem.path / mem.get(tea.id).path).write_text("---\nbroken")
    mem.sync()

    mem.reindex()

    assert list(json.loads((mem.path / "_index.json").read_text())["entries"]) == [other.id]


def test_a_record_whose_file_was_just_broken_is_named_with_its_file(mem: Memory, tea: Note) -> None:
    path = mem.get(tea.id).path
    (mem.path / path).write_text("---\nbroken")

    with pytest.raises(Damaged, match=re.escape(path)):
        mem.get(tea.id)


# usage


def test_get_and_recall_count_and_nothing_else_does(mem: Memory, tea: Note) -> None:
    mem.get(tea.id)
    mem.recall("steep")
    mem.list()
    mem.related(tea.id)
    mem.check()
    mem.sync()

    ledger = next((mem.path / "log").glob("usage-*.jsonl"))
    assert [line["ids"].count(tea.id) for line in map(json.loads, ledger.read_text().splitlines())] == [1, 1]


def test_a_damaged_ledger_still_counts_what_can_be_read(mem: Memory, tea: Note) -> None:
    mem.get(tea.id)
    ledger = next((mem.path / "log").glob("usage-*.jsonl"))
    with ledger.open("ab") as file:
        file.write(b'{"base": {"x": 1}}\n{"base": 3}\n{"t": "never", "ids": ["' + tea.id.encode() + b'"]}\n[]\n{"torn')
    mem.get(tea.id)

    assert mem.stats()["uses"] == 3
    assert [finding.code for finding in mem.check()] == ["line", "line"]


def test_stats_tell_the_formats(mem: Memory, tea: Note) -> None:
    found = mem.stats()

    assert found["kinds"]["note"] == 1
    assert found["formats"] == {"chunk": "1.0", "notes": "3.0.0", "entry_meta": "entry_meta.v1",
                                "entry_summary": "entry_summary.v1", "topic_memory": "topic_memory.v1",
                                "global_memory": "global_memory.v1", "work": "work_memory.v1", "agent": "agent.v1",
                                "chapter": "chapter.v1", "wisdom": "wisdom.v1", "link": "link.v1", "curation": "curation.v1"}
