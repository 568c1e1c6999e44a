"""The tree's promises, held by the folder on disk and by a dict alike; then what only a disk can do to them."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, cast

import pytest

import otolith
from conftest import Ran
from dicttree import DictTree
from faults import calls_of, failing_at
from otolith.errors import Busy, CannotWrite, Conflict, Damaged, Invalid, NotFound, WrongUsage
from otolith.files import lock as locking
from otolith.files import rename
from otolith.files.disk import DiskTree
from otolith.files.postgres import PgTree
from otolith.files.tree import Tree, fingerprint
from otolith.memory import Memory

NOTE, OTHER = "graph/general/tea-a1b2c3.md", "graph/fixes/coffee-d4e5f6.md"


SYSTEMS = ("exchange", "links", "neither")  # what a file system can do: Linux's own, others, exFAT or SMB


def refuse(code: int) -> Callable[..., None]:
    def fail(*given: object, **more: object) -> None:
        raise OSError(code, os.strerror(code))

    return fail


def set_system(patch: pytest.MonkeyPatch, system: str) -> None:
    if system != "exchange":
        patch.setattr(rename, "_rename", lambda *given: False)
    if system == "neither":
        patch.setattr(os, "link", refuse(errno.EPERM))


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    set_system(monkeypatch, request.param)
    return str(request.param)


@pytest.fixture(params=[*SYSTEMS, "dict", "postgres"])
def tree(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    if request.param == "postgres":
        return cast(Tree, request.getfixturevalue("space"))
    if request.param == "dict":
        return DictTree()
    set_system(monkeypatch, request.param)
    return DiskTree(str(tmp_path / "home"))


@pytest.fixture
def disk(home: Path) -> DiskTree:
    return DiskTree(str(home))


def test_what_was_written_is_read_back_with_the_token_of_the_write(tree: Tree) -> None:
    token = tree.write(NOTE, b"steep")

    assert tree.read(NOTE) == (b"steep", token)
    assert tree.look(NOTE) == token


def test_reading_from_an_offset_gives_the_rest(tree: Tree) -> None:
    tree.write(NOTE, b"steep three minutes")

    assert tree.read(NOTE, 6)[0] == b"three minutes"


def test_what_is_not_there_is_not_found(tree: Tree) -> None:
    assert tree.look(NOTE) is None
    for act in (lambda: tree.read(NOTE), lambda: tree.remove(NOTE), lambda: tree.move(NOTE, OTHER)):
        with pytest.raises(NotFound):
            act()


def test_creating_a_document_twice_is_a_conflict_and_keeps_the_first(tree: Tree) -> None:
    tree.write(NOTE, b"first")

    with pytest.raises(Conflict):
        tree.write(NOTE, b"second")
    assert tree.read(NOTE)[0] == b"first"


def test_replacing_needs_the_fingerprint_of_what_was_read(tree: Tree) -> None:
    tree.write(NOTE, b"first")

    tree.write(NOTE, b"second", fingerprint(b"first"))
    with pytest.raises(Conflict):
        tree.write(NOTE, b"third", fingerprint(b"first"))
    assert tree.read(NOTE)[0] == b"second"


def test_replacing_what_is_gone_is_a_conflict(tree: Tree) -> None:
    with pytest.raises(Conflict):
        tree.write(NOTE, b"second", fingerprint(b"first"))
    assert tree.look(NOTE) is None


def test_a_write_gives_the_document_another_token(tree: Tree) -> None:
    before = tree.write(NOTE, b"first")

    assert tree.write(NOTE, b"other", fingerprint(b"first")) != before


def test_appended_lines_follow_each_other(tree: Tree) -> None:
    tree.append("index/audit.log", b"one\n")
    tree.append("index/audit.log", b"two\n")

    assert tree.read("index/audit.log")[0] == b"one\ntwo\n"


def test_a_torn_last_line_is_closed_by_the_next_append(tree: Tree) -> None:
    tree.append("index/audit.log", b'{"torn')
    tree.append("index/audit.log", b"two\n")

    assert tree.read("index/audit.log")[0] == b'{"torn\ntwo\n'


def test_a_moved_document_is_found_at_its_new_place_only(tree: Tree) -> None:
    tree.write(NOTE, b"tea")

    tree.move(NOTE, "vault/tea-a1b2c3.md")

    assert tree.look(NOTE) is None
    assert tree.read("vault/tea-a1b2c3.md")[0] == b"tea"


def test_moving_onto_something_is_a_conflict_and_both_stay(tree: Tree) -> None:
    tree.write(NOTE, b"tea")
    tree.write(OTHER, b"coffee")

    with pytest.raises(Conflict):
        tree.move(NOTE, OTHER)
    assert (tree.read(NOTE)[0], tree.read(OTHER)[0]) == (b"tea", b"coffee")


def test_a_removed_document_is_gone(tree: Tree) -> None:
    tree.write(NOTE, b"tea")

    tree.remove(NOTE)

    assert tree.look(NOTE) is None


def test_the_scan_names_every_document_of_the_home_and_no_log(tree: Tree) -> None:
    for path in (NOTE, OTHER, "links.jsonl", "topics/tea/entry_1/raw.md", "archive/graph/general/old-1.md"):
        tree.append(path, b"x\n")
    tree.append("index/audit.log", b"x\n")
    tree.append("log/usage-00000000.jsonl", b"x\n")

    assert sorted(path for path, _ in tree.scan()) == sorted(
        [NOTE, OTHER, "links.jsonl", "topics/tea/entry_1/raw.md", "archive/graph/general/old-1.md"])
    assert all(token == tree.look(path) for path, token in tree.scan())


def test_locks_and_batches_may_be_nested(tree: Tree) -> None:
    with tree.bulk(), tree.bulk(), tree.lock(), tree.lock():
        tree.write(NOTE, b"tea")

    assert tree.read(NOTE)[0] == b"tea"


@pytest.mark.clause("chunk-40")
@pytest.mark.parametrize("path", [
    "../outside.md", "graph/../../outside.md", "/etc/passwd", "graph//x.md", "graph/./x.md", "", "graph/a\0b.md",
    "graph\\x.md", "elsewhere/x.md", ".git/config", "graph", "notes.md"])
def test_a_path_that_does_not_belong_to_a_home_is_refused_before_anything_is_touched(tree: Tree, path: str) -> None:
    tree.write(NOTE, b"tea")
    for act in (lambda: tree.write(path, b"x"), lambda: tree.append(path, b"x"), lambda: tree.read(path),
                lambda: tree.remove(path), lambda: tree.move(NOTE, path), lambda: tree.move(path, OTHER)):
        with pytest.raises(Invalid):
            act()
    assert [name for name, _ in tree.scan()] == [NOTE]


def test_a_moved_and_a_rewritten_document_are_the_same_document(tree: Tree) -> None:
    before = tree.write(NOTE, b"tea")

    tree.move(NOTE, OTHER)

    after = tree.look(OTHER)
    assert after is not None
    assert after.same == before.same


def test_changes_are_what_differs_from_the_versions_known_before(tree: Tree) -> None:
    for path in (NOTE, OTHER, "graph/general/gone-000001.md", "graph/general/kept-000002.md"):
        tree.write(path, path.encode())
    known = {path: version._replace(settled=True) for path, version in tree.scan() if version}
    assert tree.changes(known) == []

    tree.write(NOTE, b"rewritten", fingerprint(NOTE.encode()))
    tree.move(OTHER, "vault/coffee-d4e5f6.md")
    tree.write("graph/general/new-000003.md", b"x")
    tree.remove("graph/general/gone-000001.md")

    assert [(change.what, change.path) for change in tree.changes(known)] == [
        ("added", "graph/general/new-000003.md"), ("edited", NOTE), ("moved", "vault/coffee-d4e5f6.md"),
        ("moved-from", OTHER), ("removed", "graph/general/gone-000001.md")]
    assert {change.what for change in tree.changes({})} == {"added"}


def test_what_was_too_young_to_be_known_for_certain_is_looked_at_once_more(tree: Tree) -> None:
    version = tree.write(NOTE, b"tea")

    changes = tree.changes({NOTE: version._replace(settled=False)})

    assert [(change.what, change.path) for change in changes] == [("looked", NOTE)]


def test_a_measure_gives_size_time_and_who_could_have_written_it(tree: Tree) -> None:
    tree.write(NOTE, b"steep")

    measure = tree.measure(NOTE)

    assert measure is not None
    assert measure.size == 5
    assert measure.private is not isinstance(tree, PgTree)  # a space has other writers
    assert abs(measure.written - time.time()) < 60
    assert tree.measure(OTHER) is None


def test_a_folder_lists_its_own_documents_also_where_no_scan_goes(tree: Tree) -> None:
    assert tree.within("log") == []
    for path in ("log/b.json", "log/a.json", "log/deep/c.json", NOTE):
        tree.append(path, b"{}\n")

    assert tree.within("log") == ["log/a.json", "log/b.json"]


def test_pruning_leaves_every_document(tree: Tree) -> None:
    for path in ("topics/tea/entry_1/raw.md", "topics/tea/entry_2/raw.md"):
        tree.write(path, b"x")
    tree.remove("topics/tea/entry_1/raw.md")

    tree.prune("topics/tea/entry_1/raw.md")

    assert [path for path, _ in tree.scan()] == ["topics/tea/entry_2/raw.md"]


def test_several_writes_and_many_reads_go_together(tree: Tree) -> None:
    with tree.together(), tree.together():
        tree.write(NOTE, b"tea")
        tree.write(OTHER, b"coffee")

    with tree.reading() as steady:
        assert [steady.read(path)[0] for path in (NOTE, OTHER, NOTE)] == [b"tea", b"coffee", b"tea"]


def test_a_tree_has_a_name_and_an_identity_and_works_after_it_was_closed(tree: Tree) -> None:
    tree.write(NOTE, b"tea")
    identity = tree.identity()
    tree.close()

    tree.write(OTHER, b"coffee")

    assert tree.name
    assert tree.folder in (None, tree.name)
    assert (tree.identity(), identity == "none") == (identity, False)
    assert (tree.leftovers(0), tree.tidy()) == ([], [])


# A home in a dictionary


def test_every_family_of_verbs_works_on_a_tree_that_is_no_folder() -> None:
    with Memory(DictTree()) as mem:
        one, two = mem.note("Tea", "Steep for three minutes."), mem.note("Kettle", "It whistles.")
        mem.link(one.id, "REQUIRES", two.id)
        mem.log("user: I prefer green tea.", topic="tea")
        mem.memo("user_prefers_green_tea", "Green, not black.")
        mem.remember("The kettle was bought in 2020.")
        mem.record(intent={"goal": "Descale", "task_type": "other"}, outcome={"success": True, "summary": "Done"})
        assert mem.recall("steep").hits[0].id == one.id
        assert [item["id"] for item in mem.related(one.id)] == [two.id]
        assert mem.upkeep().failed == {}
        assert mem.check() == []
        mem.forget(two.id)
        mem.restore(two.id)
        mem.forget(one.id, purge=True)
        with mem.bulk():
            mem.note("Cup", "It breaks.")
        assert mem.recall("breaks").hits
        assert mem.stats()["home"] == "dict:test"
        with pytest.raises(Invalid, match="not a folder"):
            _ = mem.path


def test_settings_are_read_through_the_tree() -> None:
    tree = DictTree()
    tree.write("otolith.toml", b'projects = ["tea"]\n')
    tree.write("_config.json", b'{"embedding_provider": "none"}')

    with Memory(tree) as mem:
        assert (mem.home.config.projects, mem.home.config.provider) == (("tea",), "none")
    tree.remove("otolith.toml")
    tree.write("strata.toml", b"")
    with pytest.raises(Invalid, match=r"strata\.toml"):
        Memory(tree)


# A home by its name


def test_a_home_is_named_by_a_path_or_by_a_file_url(home: Path, run: Callable[..., Ran]) -> None:
    with otolith.open(home) as mem:
        note = mem.note("Tea", "Steep.")
    home.rename(home.with_name("a home"))
    url = home.with_name("a home").as_uri()

    with otolith.open(url) as mem:
        assert mem.path == home.with_name("a home")
        assert mem.get(note.id).title == "Tea"
    assert run("get", note.id, "--home", url).code == 0
    assert run("get", note.id, env={"OTOLITH_HOME": url}).code == 0


@pytest.mark.parametrize("url", ["s3://bucket/home", "mysql://host/database", "file://elsewhere/home", "file://"])
def test_a_url_that_cannot_be_opened_is_one_clear_error(url: str, run: Callable[..., Ran], home: Path) -> None:
    with pytest.raises(WrongUsage, match="file:///"):
        otolith.open(url)
    done = run("stats", "--home", url)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert not home.exists()


# What only a disk can do


def leftovers(home: Path) -> list[str]:
    return [path.name for path in home.rglob(".otolith-*")]


def test_an_update_that_fails_half_way_leaves_the_old_file_and_no_litter(disk: DiskTree, home: Path, system: str) -> None:
    disk.write(NOTE, b"first")
    calls = calls_of(lambda: disk.write(NOTE, b"first", fingerprint(b"first")))

    assert calls[-1][1] == "fsync"  # of the folder, when the new file is in its place
    for number, name in calls[:-1]:
        with failing_at(number, errno.ENOSPC), pytest.raises(CannotWrite, match="disk is full") if name != "unlink" else nullcontext():
            disk.write(NOTE, b"second", fingerprint(b"first"))
        if name == "unlink":  # what is left over is hidden, and tidied away another day
            disk.tidy()
            disk.write(NOTE, b"first", fingerprint(b"second"))
        assert (home / NOTE).read_bytes() == b"first", name
        assert leftovers(home) == []


def test_a_creation_that_fails_half_way_leaves_nothing(disk: DiskTree, home: Path, system: str) -> None:
    disk.write(NOTE, b"first")
    new = "graph/general/new-a1b2c4.md"
    calls = calls_of(lambda: disk.write(new, b"new"))
    disk.remove(new)

    assert calls[-1][1] == "fsync"
    for number, name in calls[:-1]:
        if name != "unlink":
            with failing_at(number, errno.ENOSPC), pytest.raises(CannotWrite, match="disk is full"):
                disk.write(new, b"new")
            assert [path.name for path in (home / "graph/general").iterdir()] == [Path(NOTE).name], name


def test_a_move_that_fails_half_way_can_be_tried_again(disk: DiskTree, home: Path, system: str) -> None:
    disk.write(NOTE, b"first")
    disk.write("vault/other.md", b"x")
    calls = calls_of(lambda: disk.move(NOTE, "vault/tea.md"))
    for number, name in calls:
        (home / NOTE).unlink(missing_ok=True)
        (home / "vault/tea.md").unlink(missing_ok=True)
        disk.write(NOTE, b"first")
        with failing_at(number, errno.ENOSPC), pytest.raises(CannotWrite):
            disk.move(NOTE, "vault/tea.md")
        held = [path for path in (home / NOTE, home / "vault/tea.md") if path.exists()]
        assert {path.read_bytes() for path in held} == {b"first"}, name
        assert system == "links" or len(held) == 1, name
        if len(held) == 2:
            assert os.path.samestat(*(path.stat() for path in held))


@pytest.mark.parametrize("code", sorted(locking.NO_LINKS))
def test_a_home_on_a_file_system_without_links_works(home: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    monkeypatch.setattr(os, "link", refuse(code))
    monkeypatch.setattr(rename, "_rename", lambda *given: False)
    with Memory(home) as mem:
        note = mem.note("Tea", "Green.")
        mem.edit(note.id, text="Black.")
        mem.pin(note.id)
        mem.forget(note.id)
        mem.restore(note.id)
        mem.log("Ann: I like tea.", topic="tea")
        with pytest.raises(Conflict):
            mem.home.tree.write("otolith.toml", b"x")
        assert mem.get(note.id).record.text == "Black."
        assert mem.check() == []
        mem.forget(note.id, purge=True)
        assert not list(home.rglob("tea-*"))
        assert leftovers(home) == []


def test_where_not_even_a_rename_works_the_error_names_the_cause(disk: DiskTree, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", refuse(errno.EPERM))
    monkeypatch.setattr(rename, "_rename", lambda *given: False)
    monkeypatch.setattr(os, "rename", refuse(errno.EACCES))

    with pytest.raises(CannotWrite, match="permission denied"):
        disk.write(NOTE, b"first")

    assert not (home / NOTE).exists()


def test_a_reader_never_sees_half_a_file(disk: DiskTree, home: Path) -> None:
    versions = [bytes([65 + at]) * 200_000 for at in range(2)]
    disk.write(NOTE, versions[0])
    seen: set[bytes] = set()
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            seen.add((home / NOTE).read_bytes())

    reader = threading.Thread(target=look)
    reader.start()
    for at in range(60):
        disk.write(NOTE, versions[(at + 1) % 2], fingerprint(versions[at % 2]))
    done.set()
    reader.join()

    assert seen <= set(versions)
    assert seen


def slip_in(monkeypatch: pytest.MonkeyPatch, module: Any, moment: str, *acts: Callable[[], object]) -> None:
    """Another program acts right before the tree's next calls of this name."""
    original, waiting = getattr(module, moment), list(acts)

    def hooked(*given: object, **more: object) -> object:
        if waiting:
            waiting.pop(0)()
        return original(*given, **more)

    monkeypatch.setattr(module, moment, hooked)


def save_by_rename(home: Path, text: bytes) -> None:
    fresh = home / "graph/general/.tea.swp"
    fresh.write_bytes(text)
    os.replace(fresh, home / NOTE)


def test_an_editor_that_saves_over_the_file_before_the_swap_wins(
        disk: DiskTree, home: Path, monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    if system == "neither":
        pytest.skip("nothing tells")
    disk.write(NOTE, b"first")
    slip_in(monkeypatch, *((rename, "exchange") if system == "exchange" else (os, "rename")),
            lambda: (home / NOTE).write_bytes(b"by hand"))

    with pytest.raises(Conflict):
        disk.write(NOTE, b"second", fingerprint(b"first"))

    assert (home / NOTE).read_bytes() == b"by hand"
    assert leftovers(home) == []


def test_an_editor_that_renames_its_own_version_in_wins(
        disk: DiskTree, home: Path, monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    if system == "neither":
        pytest.skip("nothing tells")
    disk.write(NOTE, b"first")
    slip_in(monkeypatch, *((rename, "exchange") if system == "exchange" else (os, "link")), lambda: save_by_rename(home, b"by hand"))

    with pytest.raises(Conflict):
        disk.write(NOTE, b"second", fingerprint(b"first"))

    assert (home / NOTE).read_bytes() == b"by hand"
    assert leftovers(home) == []


def test_of_an_editor_that_saves_again_while_its_version_is_put_back_the_last_one_stays(
        disk: DiskTree, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk.write(NOTE, b"first")
    slip_in(monkeypatch, rename, "exchange", lambda: save_by_rename(home, b"one"), lambda: save_by_rename(home, b"two"),
            lambda: save_by_rename(home, b"three"))

    with pytest.raises(Conflict):
        disk.write(NOTE, b"second", fingerprint(b"first"))

    assert (home / NOTE).read_bytes() == b"three"
    assert leftovers(home) == []


@pytest.mark.skipif(not hasattr(fcntl, "F_SETLEASE"), reason="only Linux tells who has a file open")
def test_what_an_editor_writes_into_a_file_that_it_has_open_is_not_lost(disk: DiskTree, home: Path) -> None:
    disk.write(NOTE, b"first")

    with (home / NOTE).open("r+b") as editor:
        with pytest.raises(Conflict):
            disk.write(NOTE, b"second", fingerprint(b"first"))
        editor.write(b"by hand")

    assert (home / NOTE).read_bytes() == b"by hand"
    disk.write(NOTE, b"third", fingerprint(b"by hand"))
    assert leftovers(home) == []


def test_a_file_that_is_removed_at_the_moment_of_the_swap_stays_removed(
        disk: DiskTree, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk.write(NOTE, b"first")
    slip_in(monkeypatch, rename, "exchange", (home / NOTE).unlink)

    with pytest.raises(Conflict):
        disk.write(NOTE, b"second", fingerprint(b"first"))

    assert not (home / NOTE).exists()
    assert leftovers(home) == []


def test_a_file_that_appears_while_another_is_created_is_not_overwritten(
        disk: DiskTree, home: Path, monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    disk.write(OTHER, b"x")
    (home / "graph/general").mkdir()
    slip_in(monkeypatch, os, "link", lambda: (home / NOTE).write_bytes(b"by hand"))

    with pytest.raises(Conflict):
        disk.write(NOTE, b"ours")

    assert (home / NOTE).read_bytes() == b"by hand"


def test_new_files_and_folders_are_for_their_owner_only(disk: DiskTree, home: Path) -> None:
    disk.write(NOTE, b"tea")
    disk.append("index/audit.log", b"x\n")

    modes = {path.relative_to(home): stat.S_IMODE(path.stat().st_mode) for path in [home, *home.rglob("*")]}
    assert {mode for path, mode in modes.items() if (home / path).is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if (home / path).is_file()} == {0o600}


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o400])
def test_a_rewritten_file_keeps_the_mode_it_had(disk: DiskTree, home: Path, mode: int) -> None:
    disk.write(NOTE, b"first")
    (home / NOTE).chmod(mode)

    disk.write(NOTE, b"second", fingerprint(b"first"))

    assert stat.S_IMODE((home / NOTE).stat().st_mode) == mode


def test_a_symlink_out_of_the_home_is_neither_read_nor_written(disk: DiskTree, home: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_bytes(b"secret")
    disk.write(OTHER, b"x")
    (home / "graph/general").mkdir()
    (home / NOTE).symlink_to(secret)

    with pytest.raises(Damaged, match="symlink"):
        disk.read(NOTE)
    with pytest.raises(Conflict):
        disk.write(NOTE, b"over", None)
    with pytest.raises((Conflict, CannotWrite)):
        disk.write(NOTE, b"over", fingerprint(b"secret"))
    with pytest.raises(CannotWrite):
        disk.append(NOTE, b"more\n")
    assert secret.read_bytes() == b"secret"
    assert (NOTE, None) in list(disk.scan())


@pytest.mark.parametrize("folder", ["graph", "graph/general"])
def test_a_symlinked_folder_is_not_entered(disk: DiskTree, home: Path, tmp_path: Path, folder: str) -> None:
    outside = tmp_path / "outside" / "general"
    outside.mkdir(parents=True)
    (outside / "tea-a1b2c3.md").write_bytes(b"secret")
    (home / folder).parent.mkdir(parents=True)
    (home / folder).symlink_to(outside.parent if folder == "graph" else outside)

    assert [path for path, _ in disk.scan()] == [folder]
    with pytest.raises((Damaged, NotFound)):
        disk.read(NOTE)
    with pytest.raises(CannotWrite):
        disk.write("graph/general/new-1.md", b"x")
    assert [path.name for path in outside.iterdir()] == ["tea-a1b2c3.md"]


def test_a_fifo_is_told_apart_and_nobody_waits_for_it(disk: DiskTree, home: Path) -> None:
    disk.write(OTHER, b"x")
    (home / "graph/general").mkdir()
    os.mkfifo(home / NOTE)

    with pytest.raises(Damaged, match="not a plain file"):
        disk.read(NOTE)
    with pytest.raises(CannotWrite, match="not a plain file"):
        disk.append(NOTE, b"x\n")
    assert (NOTE, None) in list(disk.scan())


def test_names_that_are_not_plain_text_are_named_without_being_read(disk: DiskTree, home: Path) -> None:
    disk.write(NOTE, b"tea")
    (home / "graph/general" / "back\\slash.md").write_bytes(b"x")
    with open(os.fsencode(home / "graph/general") + b"/caf\xe9.md", "wb") as file:
        file.write(b"x")

    odd = [path for path, token in disk.scan() if token is None]

    assert sorted(odd) == ["graph/general/back\ufffdslash.md", "graph/general/caf\ufffd.md"]


def test_hidden_files_and_foreign_folders_are_not_scanned(disk: DiskTree, home: Path) -> None:
    disk.write(NOTE, b"tea")
    for path in (".git/config", "graph/.obsidian/x.md", "graph/general/.hidden.md", "node_modules/x.md", "README.md"):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(b"x")

    assert [path for path, _ in disk.scan()] == [NOTE]


def test_a_batch_syncs_every_file_and_folder_once_at_its_end(disk: DiskTree, monkeypatch: pytest.MonkeyPatch) -> None:
    disk.write(NOTE, b"x")
    synced: list[int] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(os.fstat(fd).st_ino), real(fd))[1])

    with disk.bulk():
        for at in range(20):
            disk.write(f"graph/general/n-{at:06}.md", b"x")
        inside = len(synced)

    assert inside == 0
    assert len(synced) == len(set(synced)) == 21


def test_in_a_batch_the_bytes_of_a_new_file_are_handed_to_the_disk_before_it_gets_its_name(disk: DiskTree) -> None:
    disk.write(NOTE, b"x")

    def batch() -> None:
        with disk.bulk():
            disk.write(OTHER, b"y")

    calls = [name for _, name in calls_of(batch)]

    assert calls.index("write") < calls.index("write_out") < calls.index("link")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no such call")
def test_a_disk_that_fails_while_bytes_are_handed_to_it_fails_the_write(monkeypatch: pytest.MonkeyPatch, disk: DiskTree, home: Path) -> None:
    disk.write(NOTE, b"x")

    def fail(*given: Any) -> int:
        ctypes.set_errno(errno.EIO)
        return -1

    monkeypatch.setattr(rename, "_system_call", lambda name: fail)
    with disk.bulk(), pytest.raises(CannotWrite):
        disk.write(OTHER, b"y")
    assert not (home / OTHER).exists()


def test_a_batch_that_cannot_be_synced_is_an_error(disk: DiskTree, monkeypatch: pytest.MonkeyPatch) -> None:
    disk.write(NOTE, b"x")

    def fail(fd: int) -> None:
        raise OSError(5, "Input/output error")

    batch = disk.bulk()
    batch.__enter__()
    disk.write(OTHER, b"x")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(CannotWrite):
        batch.__exit__(None, None, None)


def test_an_append_that_is_cut_short_is_an_error_and_closed_by_the_next(disk: DiskTree, home: Path) -> None:
    import resource

    disk.append("index/audit.log", b"one\n")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    import signal

    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
        with pytest.raises(CannotWrite):
            disk.append("index/audit.log", b"a line that does not fit\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    disk.append("index/audit.log", b"three\n")

    lines = (home / "index/audit.log").read_bytes().split(b"\n")
    assert lines[0] == b"one"
    assert lines[-2] == b"three"


def test_a_second_holder_waits_and_then_is_told_that_the_home_is_busy(
        home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "LOCK_SECONDS", 0.05)
    one, two = DiskTree(str(home)), DiskTree(str(home))

    with one.lock(), pytest.raises(Busy):
        two.write(NOTE, b"x")
    two.write(NOTE, b"x")


def test_a_lock_file_removed_from_outside_still_keeps_others_out(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "LOCK_SECONDS", 0.05)
    one, two = DiskTree(str(home)), DiskTree(str(home))
    one.write(NOTE, b"x")
    two.write(OTHER, b"x")

    (home / ".lock").unlink()  # git clean does

    with one.lock(), pytest.raises(Busy):
        two.remove(OTHER)


def test_what_a_killed_writer_left_behind_is_hidden_and_can_be_tidied_away(disk: DiskTree, home: Path) -> None:
    disk.write(NOTE, b"tea")
    (home / "graph/general/.otolith-0123456789ab.tmp").write_bytes(b"half a no")

    assert [path for path, _ in disk.scan()] == [NOTE]
    assert disk.tidy() == ["graph/general/.otolith-0123456789ab.tmp"]
    assert leftovers(home) == []


def test_opening_a_tree_makes_nothing(disk: DiskTree, home: Path) -> None:
    assert list(disk.scan()) == []
    assert disk.look(NOTE) is None
    assert not home.exists()


@pytest.mark.parametrize("lost", [NOTE, "links.jsonl"])
def test_a_file_whose_stat_fails_for_a_moment_is_not_taken_for_gone(home: Path, monkeypatch: pytest.MonkeyPatch, lost: str) -> None:
    with Memory(home) as mem:
        tea, mate = mem.memo("user_likes_green_tea", "Quagga."), mem.memo("user_likes_mate", "Yes.")
        mem.link(tea.id, "cites", mate.id)
        path = mem.get(tea.id).path if lost == NOTE else lost
        links = mem.related(tea.id)

        with failing_stat(monkeypatch, path):
            changes = mem.sync()
            assert [change for change in changes if change.what == "removed"] == []
            assert [hit.id for hit in mem.recall("quagga").hits][:1] == [tea.id]
            assert mem.related(tea.id) == links
        mem.sync()

        assert mem.get(tea.id).record.text == "Quagga."
        assert mem.related(tea.id) == links
        assert mem.check() == []


@contextmanager
def failing_stat(monkeypatch: pytest.MonkeyPatch, lost: str) -> Iterator[None]:
    """The system cannot say what a file is like, whichever way it is asked."""
    scandir, lstat = os.scandir, os.lstat

    class Item:
        def __init__(self, item: os.DirEntry[str]) -> None:
            self._item, self.name = item, item.name

        def __getattr__(self, name: str) -> Any:
            return getattr(self._item, name)

        def stat(self, **how: bool) -> os.stat_result:
            return fail(self._item.path) or self._item.stat(**how)

    class Listing:
        def __init__(self, path: str) -> None:
            self._items = scandir(path)

        def __enter__(self) -> Listing:
            return self

        def __iter__(self) -> Iterator[Item]:
            return map(Item, self._items)

        def __exit__(self, *_: object) -> None:
            self._items.close()

    def fail(path: str) -> None:
        if str(path).endswith(lost):
            raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", Listing)
        patch.setattr(os, "lstat", lambda path, **more: fail(path) or lstat(path, **more))
        yield


# What is synced when

@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Syncs of files and folders and swaps, in the order in which they happen."""
    seen: list[str] = []
    fsync, exchange = os.fsync, rename.exchange

    def spy_sync(file: int) -> None:
        seen.append("folder" if stat.S_ISDIR(os.fstat(file).st_mode) else "file")
        fsync(file)

    def spy_exchange(folder: int, name: str, other: str) -> bool:
        seen.append("swap")
        return exchange(folder, name, other)

    monkeypatch.setattr(os, "fsync", spy_sync)
    monkeypatch.setattr(rename, "exchange", spy_exchange)
    return seen


def test_several_files_of_one_change_are_safe_each_and_named_together(tmp_path: Path, steps: list[str]) -> None:
    tree = DiskTree(str(tmp_path))
    tree.write(NOTE, b"old")
    del steps[:]

    with tree.together():
        tree.write(NOTE, b"new", fingerprint(b"old"))
        tree.write("graph/general/more-a1b2c4.md", b"more")
        assert steps == ["file", "swap", "file"]

    assert steps == ["file", "swap", "file", "folder"]


def test_in_a_batch_what_takes_an_old_place_is_whole_before_it_does(tmp_path: Path, steps: list[str]) -> None:
    tree = DiskTree(str(tmp_path))
    tree.write(NOTE, b"old")
    del steps[:]

    with tree.bulk():
        tree.write(NOTE, b"new", fingerprint(b"old"))
        tree.write("graph/general/more-a1b2c4.md", b"more")
        assert steps == ["file", "swap"]

    assert steps == ["file", "swap", "file", "folder"]


def test_an_episode_is_synced_before_it_is_acknowledged(home: Path, steps: list[str]) -> None:
    with Memory(home) as mem:
        mem.note("Tea", "Green.")
        del steps[:]
        mem.episode("It rained")
        assert steps == ["file"]
        mem.note("Mate", "Bitter.")
        assert steps == ["file", "file", "folder"]  # the note; the block that points to it is not synced


@pytest.mark.parametrize("how", SYSTEMS)
def test_a_move_syncs_the_new_folder_and_then_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    set_system(monkeypatch, how)
    tree, fsync = DiskTree(str(tmp_path)), os.fsync
    tree.write(NOTE, b"tea")
    tree.write("vault/other.md", b"x")
    synced: list[tuple[str, bool, bool]] = []

    def spy(file: int) -> None:
        folder = next(path.name for path in (tmp_path / "vault", (tmp_path / NOTE).parent) if path.stat().st_ino == os.fstat(file).st_ino)
        synced.append((folder, (tmp_path / NOTE).exists(), (tmp_path / "vault/tea.md").exists()))
        fsync(file)

    monkeypatch.setattr(os, "fsync", spy)
    tree.move(NOTE, "vault/tea.md")

    assert synced == [("vault", how == "links", True), ("general", False, True)]


def test_every_folder_that_a_write_makes_is_synced_in_the_one_above_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[os.stat_result] = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (synced.append(os.fstat(file)), fsync(file))[1])

    DiskTree(str(tmp_path / "home")).write(NOTE, b"tea")

    folders = [tmp_path, tmp_path / "home", tmp_path / "home/graph", tmp_path / "home/graph/general"]
    assert [status.st_ino for status in synced if stat.S_ISDIR(status.st_mode)] == [path.stat().st_ino for path in folders]


def test_a_removal_is_synced_before_it_is_acknowledged(tmp_path: Path, steps: list[str]) -> None:
    tree = DiskTree(str(tmp_path))
    tree.write(NOTE, b"tea")
    del steps[:]

    tree.remove(NOTE)

    assert steps == ["folder"]


def test_the_name_of_a_file_made_by_a_synced_line_is_synced_too(tmp_path: Path, steps: list[str]) -> None:
    tree = DiskTree(str(tmp_path))

    tree.append("links.jsonl", b"{}\n", synced=True)
    tree.append("links.jsonl", b"{}\n", synced=True)

    assert steps == ["file", "folder", "file"]


def test_many_reads_open_a_folder_once_and_still_follow_no_symlink(tmp_path: Path) -> None:
    tree = DiskTree(str(tmp_path / "home"))
    for path in (NOTE, OTHER):
        tree.write(path, path.encode())
    (tmp_path / "home/graph/general/out.md").symlink_to("/etc/hostname")

    with tree.reading() as steady:
        assert [steady.read(path)[0].decode() for path in (NOTE, OTHER, NOTE)] == [NOTE, OTHER, NOTE]
        with pytest.raises(Damaged, match="symlink"):
            steady.read("graph/general/out.md")
        with pytest.raises(NotFound):
            steady.read("graph/general/nothing.md")
