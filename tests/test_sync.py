"""Files against index: what people and other programs do to a home between two looks."""


from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Clock, Ran
from otolith import config
from otolith.errors import NeedsConfirmation, NotFound
from otolith.index.store import index_path
from otolith.memory import Memory
from otolith.model.note import Note

TEXT = "Steep for three minutes."


@pytest.fixture
def tea(mem: Memory) -> Note:
    return mem.note("Tea", TEXT, tags=["drinks"])


def file_of(mem: Memory, record: str) -> Path:
    return mem.path / mem.home.index.db.execute("SELECT unit FROM records WHERE id = ?", (record,)).fetchone()[0]


def ids(mem: Memory, words: str) -> list[str]:
    return [hit.id for hit in mem.recall(words, kind="note").hits]


def codes(mem: Memory, path: str = "") -> list[str]:
    return [finding.code for finding in mem.check() if finding.path.startswith(path)]


def write_note(path: Path, title: str, text: str, **fields: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{key}: {value}\n" for key, value in fields.items())
    path.write_text(f"---\n{lines}title: {title}\n---\n\n{text}\n")


# By hand


def test_a_note_added_by_hand_is_found(mem: Memory, tea: Note) -> None:
    write_note(mem.path / "graph/general/mate.md", "Mate", "Never boil the water.")

    assert mem.recall("boil").hits[0].title == "Mate"


def test_a_bare_markdown_file_of_another_tool_is_a_note(mem: Memory, tea: Note) -> None:
    (mem.path / "graph/general/mate.md").write_text("# Yerba mate\n\nNever boil the water. [[Tea]]\n")

    hit = mem.recall("boil").hits[0]

    assert (hit.title, hit.type) == ("Yerba mate", "general")
    assert [found["id"] for found in mem.related(hit.id)] == [tea.id]


def test_a_file_edited_by_hand_is_found_by_its_new_words_only(mem: Memory, tea: Note) -> None:
    file = file_of(mem, tea.id)
    file.write_text(file.read_text().replace("three minutes", "an eternity"))

    assert ids(mem, "eternity") == [tea.id]
    assert ids(mem, "three minutes") == []


def test_an_edit_of_the_same_size_in_the_same_moment_is_noticed(mem: Memory, tea: Note) -> None:
    file = file_of(mem, tea.id)
    mem.sync()
    before = file.stat()

    file.write_text(file.read_text().replace("three", "seven"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert ids(mem, "seven") == [tea.id]


def test_a_file_read_right_after_it_was_written_is_looked_at_once_more(
        mem: Memory, tea: Note, monkeypatch: pytest.MonkeyPatch) -> None:
    mem.sync()
    row = "SELECT seen FROM documents WHERE path LIKE 'graph/%'"
    first = mem.home.index.db.execute(row).fetchone()[0]
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now + 5_000_000_000)

    changes = mem.sync()

    assert changes == []
    assert mem.home.index.db.execute(row).fetchone()[0] > first
    seen = mem.home.index.db.execute(row).fetchone()[0]
    mem.sync()
    assert mem.home.index.db.execute(row).fetchone()[0] == seen


@pytest.mark.parametrize("keep_inode", [True, False])
def test_a_renamed_file_keeps_its_id(mem: Memory, tea: Note, keep_inode: bool) -> None:
    old, new = file_of(mem, tea.id), mem.path / "graph/general/green-tea.md"
    if keep_inode:
        old.rename(new)
    else:
        new.write_bytes(old.read_bytes())
        old.unlink()

    assert ids(mem, "steep") == [tea.id]
    assert mem.get(tea.id).path == "graph/general/green-tea.md"


def test_a_file_moved_and_edited_at_once_keeps_its_id(mem: Memory, tea: Note) -> None:
    old = file_of(mem, tea.id)
    (mem.path / "vault").mkdir()
    (mem.path / "vault/tea.md").write_text(old.read_text().replace("three", "seven"))
    old.unlink()

    assert ids(mem, "seven") == [tea.id]
    assert mem.get(tea.id).record.pinned


def test_a_file_removed_by_hand_is_gone_from_the_answers(mem: Memory, tea: Note) -> None:
    file_of(mem, tea.id).unlink()

    assert ids(mem, "steep") == []
    with pytest.raises(NotFound):
        mem.get(tea.id)


def test_sync_says_what_it_found(mem: Memory, tea: Note) -> None:
    other = mem.note("Coffee", "Grind it.")
    mem.sync()
    write_note(mem.path / "graph/general/mate.md", "Mate", "x")
    file_of(mem, tea.id).rename(mem.path / "graph/fixes-tea.md")
    file_of(mem, other.id).unlink()

    found = {change.path: change.what for change in mem.sync()}

    assert found["graph/general/mate.md"] == "added"
    assert found["graph/fixes-tea.md"] == "moved"
    assert "removed" in found.values()
    assert mem.sync() == []


def test_an_open_home_recovers_when_its_index_is_removed(mem: Memory, home: Path) -> None:
    old = mem.note("Kettle", "It whistles.")
    index = mem.home.index.path
    assert index is not None
    shutil.rmtree(index.parent)
    new = mem.note("Teapot", "It pours.")

    assert {item["id"] for item in mem.list(kind="note")[0]} == {old.id, new.id}
    assert mem.recall("whistles").hits[0].id == old.id
    shutil.rmtree(index.parent)
    with Memory(home) as other:
        third = other.note("Cup", "It breaks.")
    assert mem.recall("breaks").hits[0].id == third.id
    assert mem.upkeep().failed == {}
    assert mem.notices == []


def test_a_torn_index_heals_and_says_so_once(mem: Memory, run: Any) -> None:
    for at in range(40):
        mem.note(f"Kettle {at}", "It whistles. " * 30)
    index = mem.home.index.path
    assert index is not None
    page, = mem.home.index.db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'passages'").fetchone()
    mem.close()
    with index.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)

    told, again = run("recall", "whistles", "--json"), run("recall", "whistles", "--json")

    assert (told.code, again.code, again.err) == (0, 0, "")
    assert [hit["title"] for hit in told.json["hits"]] == [hit["title"] for hit in again.json["hits"]]
    assert told.err.count("the index is damaged") == told.err.count("\n") == 1
    assert index.with_name(f"{index.name}.damaged").exists()


def test_sync_tells_what_it_did_not_read_with_the_reason_that_check_gives(
        mem: Memory, tea: Note, run: Callable[..., Ran], tmp_path: Path) -> None:
    mem.sync()
    text = file_of(mem, tea.id).read_text()
    folder = mem.path / "graph/general"
    (folder / "link.md").symlink_to(tmp_path)
    for name in ("tea (conflicted copy).md", "tea.md~", "twin.md"):
        (folder / name).write_text(text)
    (folder / "open.md").write_text("---\ntitle: x\n")
    write_note(folder / "mate.md", "Mate", "x")
    (mem.path / "links.jsonl").write_text("{torn\n")  # a bad line, not a bad file
    mine = sorted({*folder.iterdir()} - {file_of(mem, tea.id)})

    told = run("sync", "--json").json
    reasons = {finding.path: finding.message for finding in mem.check()}
    for file in mine:
        file.rename(tmp_path / file.name)
    run("sync")
    for file in mine:
        (tmp_path / file.name).rename(file)
    plain = run("sync").out

    change = {item["path"]: item["change"] for item in told["items"]}
    unread = {path for path, what in change.items() if what == "not-read"}
    assert [path for path, what in change.items() if what == "added"] == ["graph/general/mate.md", "links.jsonl"]
    assert unread == {f"graph/general/{name}" for name in (
        "link.md", "tea (conflicted copy).md", "tea.md~", "twin.md", "open.md")}
    assert {item["path"]: item["reason"] for item in told["items"] if "reason" in item} == {
        path: reasons[path] for path in unread}
    assert plain.splitlines() == ["\t".join(item.values()) for item in told["items"] if item["path"] != "links.jsonl"]


def test_a_file_that_can_no_longer_be_read_is_not_told_as_edited(mem: Memory, tea: Note) -> None:
    mem.sync()
    file = file_of(mem, tea.id)
    file.write_text("---\ntitle: x\n")

    change, = mem.sync()

    assert (change.what, change.path) == ("not-read", file.relative_to(mem.path).as_posix())
    assert change.reason == mem.check()[0].message


# Damage


@pytest.mark.parametrize(("spoil", "code"), [
    (lambda text: text.replace("---\n\n", "", 1), "front-matter"),
    (lambda text: text.replace("type: general", "type: nonsense"), "invalid"),
    (lambda text: text.replace("importance: 0.5", "importance: 7"), "invalid"),
    (lambda text: text.replace("importance: 0.5", "importance: 0.5\nimportance: 0.6"), "duplicate-key"),
    (lambda text: text.replace("created: ", "created: yesterday # "), "invalid"),
    (lambda text: text.replace("tags: [drinks]", "tags: [" + "[" * 20_000), "front-matter"),
    (lambda text: text.replace("tags: [drinks]", "tags: " + "x" * 3_000_000), "too-large"),
    (lambda text: text + "\0", "nul"),
    (lambda text: text.encode() + b"\xff\xfe", "encoding"),
    (lambda text: text + "<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> theirs\n", "merge-markers"),
    (lambda text: (text + "<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> theirs\n").replace("\n", "\r\n"), "merge-markers"),
])
def test_a_broken_file_keeps_its_last_good_row_and_is_named(
        mem: Memory, tea: Note, spoil: Callable[[str], str | bytes], code: str) -> None:
    mem.note("Coffee", "Grind it fresh.")
    file = file_of(mem, tea.id)
    spoiled = spoil(file.read_text())
    broken = spoiled if isinstance(spoiled, bytes) else spoiled.encode()
    file.write_bytes(broken)

    findings = [finding for finding in mem.check() if finding.path.startswith("graph")]

    assert [finding.code for finding in findings] == [code]
    assert findings[0].path == file.relative_to(mem.path).as_posix()
    assert findings[0].remedy
    assert mem.home.index.db.execute("SELECT count(*) FROM records WHERE id = ?", (tea.id,)).fetchone() == (1,)
    assert file.read_bytes() == broken
    assert ids(mem, "grind")


def test_a_mended_file_is_read_again_and_no_longer_named(mem: Memory, tea: Note) -> None:
    file = file_of(mem, tea.id)
    good = file.read_text()
    file.write_text(good.replace("type: general", "type: nonsense"))
    assert codes(mem) == ["invalid"]

    file.write_text(good.replace("three", "seven"))

    assert codes(mem) == []
    assert ids(mem, "seven") == [tea.id]


def test_one_bad_file_of_each_kind_never_keeps_the_rest_from_being_read(mem: Memory, tea: Note) -> None:
    chunk = '{"id": "chunk-2026-02-10-00000003", "content": "\\ud83d", "tokens": 1, "type": "fact", "links":{}, "metadata":{}}'
    bad = {
        "chunks/2026-02/chunk-2026-02-10-00000001.json": '{"id": "chunk-2026-02-10-00000001", "content": "tru',
        "chunks/2026-02/chunk-2026-02-10-00000002.json": "[" * 200_000,
        "chunks/2026-02/chunk-2026-02-10-00000003.json": chunk.replace("{}}", '{"created": "2026-02-10"}}'),
        "allmemories/a_memo_of_yesterday.md": "# A memo\n**Created:** yesterday\n---\ntext\n",
        "episodes/2026-02-10.md": "# 2026-02-10\n\n## 99:99 - never\n- **Type:** fix\n",
        "graph/edges/x--SOLVES--y-000000.md": "---\nid: 00000000-0000-4000-8000-000000000000\ntype: SOLVES\nfrom_id: a\n"
                                              "to_id: b\ncreated: never\n---\n",
        "work/2026-02/mem_1.json": '{"id": "mem_1", "created_at": 1e300, "intent": {"goal": "x", "task_type": "other"}, '
                                   '"outcome": {"success": true, "summary": "y"}}',
        "work/agents/a.json": "null",
        "topics/tea/entry_1/meta.json": '{"entry_ts": "never"}',
        "topics/tea/topic_memory.json": '{"schema": "topic_memory.v9", "topic": "tea"}',
        "GLOBAL_MEMORY.json": '{"schema": "global_memory.v1", "updated": "never"}',
        "links.jsonl": '{"from": "a", "type": "cites", "to": "b", "origin": "me"}\nnot json\n{"from": 1, "type": "x"}\n',
    }
    for path, text in bad.items():
        (mem.path / path).parent.mkdir(parents=True, exist_ok=True)
        (mem.path / path).write_text(text)

    named = {finding.path for finding in mem.check()}

    assert set(bad) - named == set()
    assert ids(mem, "steep") == [tea.id]


def test_what_is_no_plain_file_is_named_and_not_followed(mem: Memory, tea: Note, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("---\ntitle: Secret\n---\nhunter2\n")
    (mem.path / "graph/general/link.md").symlink_to(tmp_path / "secret.md")
    os.mkfifo(mem.path / "graph/general/pipe.md")
    (mem.path / "topics/tea").mkdir(parents=True)
    (mem.path / "topics/tea/entry_1").symlink_to(tmp_path)
    (mem.path / "work").symlink_to(tmp_path)
    (mem.path / "graph/general/back\\slash.md").write_text("x")
    with open(os.fsencode(mem.path / "graph/general") + b"/caf\xe9.md", "wb") as file:
        file.write(b"x")

    named = {finding.path: finding.code for finding in mem.check()}

    assert named == {"graph/general/link.md": "symlink", "graph/general/pipe.md": "not-a-file", "work": "not-a-folder",
                     "topics/tea/entry_1": "not-a-file", "graph/general/back\ufffdslash.md": "not-a-file",
                     "graph/general/caf\ufffd.md": "not-a-file"}
    assert ids(mem, "hunter2") == []
    assert mem.sync() == []


@pytest.mark.parametrize("name", [
    "tea (conflicted copy 2026-02-10).md", "tea (Ann's conflicted copy 2026-02-10).md",
    "tea.sync-conflict-20260210-120000-ABCDEFG.md", "tea.md~", "tea.md.orig", "tea.md.swp",
    "tea_conflict-20260210-120000.md", "tea (Conflict).md"])
def test_a_copy_of_a_sync_tool_or_editor_is_listed_and_never_a_second_record(mem: Memory, tea: Note, name: str) -> None:
    file = file_of(mem, tea.id)
    (file.parent / name).write_bytes(file.read_bytes())

    assert codes(mem) == ["copy"]
    assert ids(mem, "steep") == [tea.id]


@pytest.mark.parametrize("text", [
    "Title A\n=======\n\nTitle B\n=======\n\nTitle C\n=======\n", "```\n<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> theirs\n```\n",
    "the sign <<<<<<< is called a marker\n=======\n>>>>>>> so is this"])
def test_text_that_only_looks_like_a_merge_is_text(mem: Memory, text: str) -> None:
    note = mem.note("About git", text)

    assert codes(mem) == []
    assert mem.get(note.id).record.text == text.strip("\n")


@pytest.mark.parametrize("name", ["aaa.md", "zzz.md"])
def test_of_two_files_with_one_id_the_known_one_keeps_it(mem: Memory, tea: Note, name: str) -> None:
    file = file_of(mem, tea.id)
    (file.parent / name).write_text(file.read_text().replace("three", "seven"))

    assert codes(mem) == ["duplicate-id"]
    assert mem.get(tea.id).path == file.relative_to(mem.path).as_posix()
    assert ids(mem, "seven") == []


@pytest.mark.parametrize("how", ["removed", "renumbered"])
def test_the_other_of_two_files_has_the_id_once_it_is_free(mem: Memory, tea: Note, how: str) -> None:
    file = file_of(mem, tea.id)
    (file.parent / "aaa.md").write_text(file.read_text().replace("three", "seven"))
    mem.sync()
    if how == "removed":
        file.unlink()
    else:
        file.write_text(file.read_text().replace(tea.id, "00000000-0000-4000-8000-000000000000"))

    assert ids(mem, "seven") == [tea.id]
    assert codes(mem) == []


# Half a home


def vanish(mem: Memory, share: float) -> int:
    files = sorted((mem.path / "graph").rglob("*.md"))
    for file in files[: int(len(files) * share)]:
        file.unlink()
    return int(len(files) * share)


def test_a_home_of_which_half_is_gone_is_not_believed(mem: Memory, run: Callable[..., Ran]) -> None:
    with mem.bulk():
        for at in range(60):
            mem.note(f"Note {at}", "Steep.")
    gone = vanish(mem, 0.6)

    with pytest.raises(NeedsConfirmation):
        mem.sync()
    assert mem.home.index.db.execute("SELECT count(*) FROM records WHERE kind = 'note'").fetchone() == (60,)
    told = run("sync")
    assert told.code == 10
    assert "--accept-removals" in told.err
    assert told.err.count("\n") == 1
    assert run("sync", "--accept-removals").code == 0
    assert mem.list(kind="note")[1] == 60 - gone


def test_fewer_than_twenty_files_may_go_without_asking(mem: Memory) -> None:
    for at in range(12):
        mem.note(f"Note {at}", "Steep.")
    vanish(mem, 1.0)

    mem.sync()

    assert mem.list(kind="note")[1] == 0


# The index may go


def index_file(home: Path) -> Path:
    return index_path(config.home_cache(str(home)))


@pytest.mark.clause("dialog-66")
def test_two_homes_share_nothing(mem: Memory, tea: Note, tmp_path: Path, clock: Clock) -> None:
    with Memory(tmp_path / "other", clock=clock) as other:
        assert other.recall("steep").hits == []
        with pytest.raises(NotFound):
            other.get(tea.id)
        other.note("Coffee", "Grind it.")
        assert other.home.index.path != mem.home.index.path

    assert mem.recall("grind").hits == []


@pytest.mark.clause("protocol-04")
def test_a_moved_home_works_unchanged(mem: Memory, tea: Note, tmp_path: Path, clock: Clock) -> None:
    memo = mem.memo("user_likes_green_tea", "Green, not black.")
    mem.close()
    shutil.move(mem.path, tmp_path / "elsewhere")

    with Memory(tmp_path / "elsewhere", clock=clock) as moved:
        assert ids(moved, "steep") == [tea.id]
        assert moved.get(memo.id).text == "Green, not black."


def test_another_home_put_in_the_same_place_gets_an_index_of_its_own(mem: Memory, tea: Note, clock: Clock) -> None:
    home = mem.path
    mem.close()
    home.rename(home.with_name("aside"))
    write_note(home / "graph/general/mate.md", "Mate", "Never boil.")

    with Memory(home, clock=clock) as other:
        assert other.recall("steep").hits == []
        assert other.recall("boil").hits[0].title == "Mate"


@pytest.mark.parametrize("junk", [b"", b"not a database", b"SQLite format 3\0" + b"\xff" * 5000, "foreign", "truncated"])
def test_a_foreign_or_damaged_index_is_replaced(mem: Memory, tea: Note, clock: Clock, junk: bytes | str) -> None:
    mem.close()
    file = index_file(mem.path)
    assert file.exists()
    if junk == "foreign":
        file.unlink()
        with sqlite3.connect(file) as db:
            db.execute("CREATE TABLE records (x)")
            db.execute("CREATE TRIGGER evil AFTER INSERT ON records BEGIN DELETE FROM records; END")
        db.close()
    elif junk == "truncated":
        file.write_bytes(file.read_bytes()[:4096])
    else:
        file.write_bytes(junk)  # type: ignore[arg-type]

    with Memory(mem.path, clock=clock) as again:
        assert ids(again, "steep") == [tea.id]


def test_an_index_damaged_in_its_middle_is_made_anew_by_reindex(
        mem: Memory, tea: Note, run: Callable[..., Ran]) -> None:
    mem.close()
    file = index_file(mem.path)
    data = bytearray(file.read_bytes())
    data[4096 * 3 :] = b"\xa5" * (len(data) - 4096 * 3)
    file.write_bytes(data)

    told = run("recall", "steep")
    assert "Traceback" not in told.err
    assert run("reindex").code == 0
    assert run("recall", "steep", "--json").json["hits"][0]["id"] == tea.id


def test_without_a_writable_cache_the_index_lives_in_memory_and_says_so(
        mem: Memory, tea: Note, run: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "no-folder").write_text("")

    told = run("recall", "steep", "--json", env={"XDG_CACHE_HOME": str(tmp_path / "no-folder")})

    assert told.json["hits"][0]["id"] == tea.id
    assert "memory" in told.err
    assert told.err.count("\n") == 1


def test_reindex_leaves_a_running_process_with_a_working_index(mem: Memory, tea: Note, run: Callable[..., Ran]) -> None:
    assert run("reindex").code == 0

    other = mem.note("Coffee", "Grind it fresh.")

    assert ids(mem, "steep") == [tea.id]
    assert run("recall", "grind", "--json").json["hits"][0]["id"] == other.id


def test_the_index_lies_in_the_cache_and_is_for_its_owner_only(mem: Memory, tea: Note, home: Path) -> None:
    file = index_file(home)

    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert not list(home.rglob("*.sqlite"))


def test_a_record_another_process_writes_during_a_sweep_is_not_dropped(
        mem: Memory, tea: Note, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    scan = type(mem.home.tree).scan
    other = Memory(mem.path, clock=clock)
    made: list[str] = []

    def scan_then_write(tree: Any) -> Any:
        seen = list(scan(tree))
        if tree is mem.home.tree and not made:
            made.append(other.note("Coffee", "Grind it.").id)
        return iter(seen)

    monkeypatch.setattr(type(mem.home.tree), "scan", scan_then_write)
    mem.sync()
    other.close()

    assert mem.home.index.db.execute("SELECT count(*) FROM records WHERE id = ?", (made[0],)).fetchone() == (1,)


def test_entries_lose_and_gain_files_one_by_one(mem: Memory, tea: Note) -> None:
    entry = mem.path / "topics/tea/entry_1"
    entry.mkdir(parents=True)
    (entry / "raw.md").write_text("Ann: The kettle sings.\n")
    assert mem.recall("kettle").hits[0].id == "entry_1"

    (entry / "meta.json").write_text(json.dumps({"schema": "entry_meta.v1", "entry_id": "entry_1", "topic": "tea",
                                                 "entry_ts": "2026-02-10T12:00:00Z", "title": "On kettles"}))
    assert mem.get("entry_1").title == "On kettles"

    (entry / "raw.md").unlink()
    assert mem.recall("sings").hits == []
    assert mem.get("entry_1").title == "On kettles"

    (entry / "meta.json").unlink()
    mem.sync()
    with pytest.raises(NotFound):
        mem.get("entry_1")


def test_looking_at_a_home_changes_nothing_in_it(mem: Memory, tea: Note, snapshot: Callable[[], dict[str, bytes]]) -> None:
    before = snapshot()

    mem.sync()
    mem.check()
    mem.recall("steep")
    mem.get(tea.id)
    mem.list()
    mem.related(tea.id)
    mem.tags()
    mem.stats()

    assert snapshot() == before


def test_a_readers_answer_does_not_wait_for_a_busy_index(mem: Memory, tea: Note) -> None:
    mem.home.index.db.execute("PRAGMA busy_timeout = 20")
    blocker = sqlite3.connect(str(mem.home.index.path), isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    try:
        assert ids(mem, "steep") == [tea.id]
    finally:
        blocker.execute("ROLLBACK")
        blocker.close()
