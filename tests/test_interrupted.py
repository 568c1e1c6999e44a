"""A purge that is interrupted at any moment is invisible at once, finished by the next write, and leaves nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from conftest import START, Clock
from otolith.errors import NotFound
from otolith.memory import Memory

CHANGING = ("write", "append", "move", "remove", "tidy")
SECRET = "quaggaherd"


class Died(BaseException):
    """The process is gone: nothing it still tries to do has any effect."""


def opened(home: Path) -> Memory:
    """The home on a day that stands still, with ids that are the same every time."""
    numbers = count(1)
    return Memory(home, clock=Clock(START + 3600), new_id=lambda: f"{next(numbers):032x}")


def break_at(mem: Memory, number: int) -> None:
    """The tree as a process has it that dies before its n-th change of a file."""
    tree, done = mem.home.tree, [0]

    def mortal(change: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **more: Any) -> Any:
            done[0] += 1
            if done[0] >= number:
                raise Died
            return change(*given, **more)

        return call

    for name in CHANGING:
        setattr(tree, name, mortal(getattr(tree, name)))


def filled(home: Path, kind: str) -> str:
    """A home in which much names one record; returns that record's id."""
    with Memory(home, clock=Clock()) as mem:
        note = mem.note("Quaggaherd", "The quaggaherd is wild.", type="solution", tags=["zoo"], importance=0.9)
        other = mem.note("Kettle", "Hot.", type="problem", importance=0.9)
        mem.link(note.id, "SOLVES", other.id, context="ctx quaggaherd")
        entry = mem.log("Ann: I live with a quaggaherd in Hobbletown.\nBob: I am a vegan.", topic="zoo")
        mem.log("Ann: I like green tea.", topic="zoo")
        mem.review(str(mem.facts("zoo")[0].id), score=9)
        memo, newer = mem.memo("user_keeps_a_quaggaherd", "The quaggaherd."), mem.memo("user_keeps_a_zebra", "Yes.")
        mem.link(newer.id, "supersedes", memo.id)
        works = [mem.record({"goal": f"Tame {word}", "task_type": "other", "success": True, "summary": "Tamed", "files": ["zoo.py"]})
                 for word in ("the quaggaherd", "a zebra", "a horse", "a mule")]
        mem.link(works[1].id, "caused_by", works[0].id)
        ids = {"note": note.id, "entry": entry.id, "memo": memo.id, "work": works[0].id}
        mem.link(other.id, "cites", ids[kind]) if kind != "note" else None
        mem.pin(ids[kind]) if kind != "note" else None
        for record in (*ids.values(), other.id):
            mem.get(record)
        for record in ids.values():
            if record != ids[kind]:
                mem.forget(record, purge=True)
        mem.upkeep()
        mem.core(), mem.reflection(), mem.brief("zebra")
    return ids[kind]


def files(home: Path) -> dict[str, bytes]:
    return {path.relative_to(home).as_posix(): path.read_bytes() for path in sorted(home.rglob("*"))
            if path.is_file() and path.name != ".lock"}


def traces(home: Path, *words: str) -> list[str]:
    """Where one of the words stands, in the home but for its audit log, and in the index."""
    cache = Path(os.environ["XDG_CACHE_HOME"])
    places = [*home.rglob("*"), *cache.rglob("*")]
    return [str(path) for path in places if path.is_file() and path.name != "audit.log"
            and any(word.encode() in path.read_bytes().lower() for word in words)]


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[[Path], Path]:
    """A copy of a home in one and the same place, with no index."""
    def copy(base: Path) -> Path:
        shutil.rmtree(tmp_path / "home", ignore_errors=True)
        shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)
        return Path(shutil.copytree(base, tmp_path / "home"))

    return copy


def unlike(one: dict[str, bytes], other: dict[str, bytes]) -> set[str]:
    """The files in which two homes differ, but for what is used up by writing: ledgers and the audit log."""
    return {path for path in one.keys() | other.keys() if one.get(path) != other.get(path)
            and not path.startswith(("log/", "index/audit.log"))}


@pytest.mark.parametrize("kind", ["note", "entry", "memo", "work"])
def test_a_purge_broken_off_at_any_file_is_invisible_and_finished_by_the_next_write(
        tmp_path: Path, fresh: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setenv("OTOLITH_SESSION", "session-a")
    base = tmp_path / "base"
    record = filled(base, kind)
    home = fresh(base)
    with opened(home) as mem:
        mem.forget(record, purge=True)
        mem.memo("user_likes_green_tea", "Yes.")
    whole = files(home)
    assert traces(home, SECRET, record) == []

    for number in count(1):
        home = fresh(base)
        with opened(home) as mem:
            break_at(mem, number)
            try:
                mem.forget(record, purge=True)
            except Died:
                died = True
            else:
                died = False
        if not died:
            break
        begun = bool(list((home / "log").glob("intent-*.json")))
        before = files(home)
        with opened(home) as mem:
            if begun:
                with pytest.raises(NotFound):
                    mem.get(record)
                assert record not in [item["id"] for item in mem.list(limit=None)[0]]
                assert [hit for hit in mem.recall("quaggaherd").hits if SECRET in hit.text.lower()] == []
                assert any(finding.code == "unfinished" for finding in mem.check())
                assert unlike(files(home), before) == set()
        with opened(home) as mem:
            mem.memo("user_likes_green_tea", "Yes.")
        if begun:
            assert traces(home, SECRET, record) == [], number
            assert unlike(files(home), whole) == set(), number
            assert list((home / "log").glob("intent-*")) == []
            lines = [json.loads(line) for line in (home / "index/audit.log").read_text().splitlines()]
            assert sum(line["verb"] == "purged" for line in lines) == 4, number
        with opened(home) as mem:
            assert mem.check() == []
    assert number > 10


KILLED = """
import os, signal, sys
from otolith.files.disk import DiskTree
number = [int(sys.argv[2])]
for name in ("write", "append", "move", "remove"):
    def mortal(change):
        def call(*given, **more):
            number[0] -= 1
            if number[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return change(*given, **more)
        return call
    setattr(DiskTree, name, mortal(getattr(DiskTree, name)))
import otolith
with otolith.open() as mem:
    mem.forget(sys.argv[1], purge=True)
"""


@pytest.mark.parametrize("number", [1, 2, 4, 7, 11, 16, 20])
def test_a_purge_that_is_killed_is_finished_by_upkeep(home: Path, number: int) -> None:
    record = filled(home, "note")
    environment = {**os.environ, "OTOLITH_HOME": str(home)}

    done = subprocess.run([sys.executable, "-c", KILLED, record, str(number)], env=environment, check=False, timeout=60)

    assert done.returncode in (0, -signal.SIGKILL)
    assert done.returncode == 0 or list((home / "log").glob("intent-*"))
    with Memory(home) as mem:
        with suppress(NotFound):
            assert SECRET not in mem.get(record).text.lower()
        mem.upkeep()
    assert traces(home, SECRET, record) == []


def test_an_intent_is_private_and_names_what_is_to_go(mem: Memory, home: Path) -> None:
    note = mem.note("Quaggaherd", "Wild.")
    break_at(mem, 2)
    with suppress(Died):
        mem.forget(note.id, purge=True)

    intent, = (home / "log").glob("intent-*.json")
    held = json.loads(intent.read_text())
    assert intent.stat().st_mode & 0o777 == 0o600
    assert (held["verb"], held["id"]) == ("purge", note.id)
    assert any(path.startswith("graph/general/quaggaherd") for path in held["paths"])
    assert len(intent.name) == len("intent-01234567.json")


@pytest.mark.parametrize("verb", ["forget", "restore"])
def test_an_entry_that_was_half_moved_is_moved_whole_by_the_next_write(home: Path, clock: Clock, verb: str) -> None:
    with Memory(home, clock=clock) as mem:
        entry = mem.log("Ann: The quagga is gone.", topic="zoo").id
        if verb == "restore":
            mem.forget(entry)
    before = {path.removeprefix("archive/") for path in files(home) if entry in path}
    for number in count(2):
        with Memory(home, clock=clock) as mem:
            break_at(mem, number)
            try:
                getattr(mem, verb)(entry)
                break
            except Died:
                pass
        with Memory(home, clock=clock) as mem:
            mem.memo(f"user_likes_green_{number}_teas", "Yes.")
            moved = [path for path in files(home) if entry in path]
            assert {path.startswith("archive/") for path in moved} == {verb == "forget"}, number
            assert {path.removeprefix("archive/") for path in moved} == before
            assert mem.check() == []
            (mem.restore if verb == "forget" else mem.forget)(entry)
    assert number > 4


# Names in the audit log

@pytest.mark.parametrize(("kind", "name"), [("memo", "user_has_a_quaggaherd"), ("page", "quaggaherd.md")])
def test_the_audit_log_holds_no_name_that_says_what_a_record_is_about(mem: Memory, home: Path, kind: str, name: str) -> None:
    from otolith.verbs.notes import write_page

    mem.memo(name, "Yes.") if kind == "memo" else write_page(mem.home, name, "Yes.")
    mem.forget(name)
    mem.restore(name)

    lines = [json.loads(line) for line in (home / "index/audit.log").read_text().splitlines()]
    assert [line["verb"] for line in lines] == [kind, "forgot", "restored"]
    names = {line["id"] for line in lines}
    assert len(names) == 1
    assert names.pop().startswith(f"{kind}#")
    assert SECRET not in (home / "index/audit.log").read_text()


def test_a_purge_takes_the_name_out_of_audit_lines_that_earlier_versions_wrote(mem: Memory, home: Path) -> None:
    mem.memo("user_has_a_quaggaherd", "Yes.")
    mem.memo("user_has_a_zebra", "Yes.")
    log = home / "index/audit.log"
    old = '{"ts":"2026-01-01T00:00:00Z","verb":"memo","kind":"memo","id":"%s","sha256":"","origin":{}}\n'
    log.write_text(old % "user_has_a_quaggaherd" + old % "user_has_a_zebra" + log.read_text())

    mem.forget("user_has_a_quaggaherd", purge=True)

    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert SECRET not in log.read_text()
    assert lines[0]["id"] == lines[-1]["id"]
    assert lines[0] == json.loads(old % lines[-1]["id"])
    assert lines[1]["id"] == "user_has_a_zebra"
