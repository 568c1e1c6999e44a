"""A purge that is interrupted at any moment is invisible at once, finished by the next write, and leaves nothing."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from conftest import START, Clock
from faults import Snapshot, calls_of, failing_at, killed_at, sampled
from otolith.errors import Invalid, NotFound, OtolithError
from otolith.files import rename
from otolith.home import Home
from otolith.memory import Memory

KNOWN = {"line", "leftover", "missing-edge", "unmirrored-edge"}  # what upkeep ends
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


def files(home: Path) -> dict[str, bytes]:
    return {path.relative_to(home).as_posix(): path.read_bytes() for path in sorted(home.rglob("*"))
            if path.is_file() and path.name != ".lock"}


def traces(home: Path, *words: str) -> list[str]:
    """Where words stand, in names and in bytes: in the home, the index and the user's settings; the audit log has ids."""
    places = [home, *(Path(os.environ[f"XDG_{name}_HOME"]) for name in ("CACHE", "CONFIG"))]
    return [f"{path}: {word}" for place in places for path in place.rglob("*")
            for word in (words[:1] if path.name == "audit.log" else words) if word in path.name.lower()
            or (path.is_file() and word.encode() in path.read_bytes().lower())]


def lasting(home: Path) -> dict[str, bytes]:
    """What is the same however often somebody looked or tried: all but ledgers and the audit log."""
    return {path: data for path, data in files(home).items() if not path.startswith(("log/", "index/audit.log"))}


def purgeable(home: Path, kind: str) -> str:
    """A home in which much names one record of a kind; returns that record's id."""
    with Memory(home, clock=Clock()) as mem:
        kettle, zebra = mem.note("Kettle", "Hot.", type="problem", importance=0.9), mem.note("Zebra", "Striped.", type="solution")
        mem.log("Ann: I like green tea.", topic="zoo")
        works = [mem.record({"goal": f"Tame a {word}", "task_type": "other", "success": True, "summary": "Tamed", "files": ["zoo.py"]})
                 for word in ("zebra", "horse", "mule")]
        record = MAKE[kind](mem, kettle.id, zebra.id, [work.id for work in works])
        if kind not in ("note", "merged", "edge", "forgotten note"):
            mem.link(kettle.id, "cites", record)
            mem.pin(record)
        mem.get(record), mem.get(kettle.id)
        mem.upkeep()
        mem.core(), mem.reflection(), mem.brief("zebra"), mem.reindex()
        if kind.startswith("forgotten"):
            mem.forget(record)
    return record


def _note(mem: Memory, kettle: str, *_: Any) -> str:
    note = mem.note("Quaggaherd", "The quaggaherd is wild.", type="solution", tags=["zoo"], importance=0.9)
    mem.link(note.id, "SOLVES", kettle, context="ctx quaggaherd")
    return note.id


def _merged(mem: Memory, kettle: str, *_: Any) -> str:
    """One that stands in the undo journal, with the bytes it had before."""
    note, twin = _note(mem, kettle), mem.note("Foal", "A young one.", type="solution").id
    mem.merge(note, twin)
    return note


def _edge(mem: Memory, kettle: str, zebra: str, _: Any) -> str:
    mem.link(zebra, "SOLVES", kettle, context="ctx quaggaherd", text="A quaggaherd helped.")
    return str(mem.edges()[0][0]["id"])


def _memo(mem: Memory, *_: Any) -> str:
    memo = mem.memo("user_keeps_a_quaggaherd", "The quaggaherd.")
    mem.link(mem.memo("user_keeps_a_zebra", "Yes.").id, "supersedes", memo.id)
    return memo.id


def _entry(mem: Memory, *_: Any) -> str:
    entry = mem.log("Ann: I live with a quaggaherd in Hobbletown.\nBob: I am a vegan.", topic="zoo")
    mem.review(str(entry.summary.facts[0].id_in("zoo")), score=9)  # type: ignore[union-attr]
    return entry.id


def _chunk(mem: Memory, *_: Any) -> str:
    chunk = mem.remember("A quaggaherd is a herd of quaggas.", conversation_id="c")[0].id
    mem.remember("Zebras are striped.", conversation_id="c")
    return chunk


def _work(mem: Memory, _: str, __: str, works: list[str]) -> str:
    work = mem.record({"goal": "Tame the quaggaherd", "task_type": "other", "success": True, "summary": "Tamed", "files": ["zoo.py"]}).id
    mem.link(works[0], "caused_by", work)
    mem.chapter([work, *works[:2]], title="Made by hand")
    return work


def _page(mem: Memory, *_: Any) -> str:
    from otolith.verbs.notes import write_page

    write_page(mem.home, "quaggaherd.md", "The quaggaherd.")
    return str(mem.list(kind="page")[0][0]["id"])


def _episode(mem: Memory, *_: Any) -> str:
    mem.episode("The quaggaherd came", summary="A quaggaherd.")
    return next(str(block["id"]) for block in mem.diary() if SECRET in block["title"].lower())


MAKE: dict[str, Callable[..., str]] = {
    "note": _note, "forgotten note": _note, "merged": _merged, "edge": _edge, "memo": _memo, "entry": _entry,
    "forgotten entry": _entry, "chunk": _chunk, "work": _work, "page": _page, "episode": _episode,
    "agent": lambda mem, *_: mem.agent(type="main", metadata={"keeps": "a quaggaherd"}).id,
    "chapter": lambda mem, _, __, works: mem.chapter(works, title="The quaggaherd", summary="A quaggaherd.").id}


def shown(mem: Memory) -> str:
    """All that readers are told."""
    hits = mem.recall("quaggaherd", limit=50).hits
    return json.dumps([[hit.title, hit.text, str(hit.context)] for hit in hits] + [list(mem.list(limit=None)[0]), list(mem.diary("2026-02-10")),
                      mem.brief("zebra").text, [str(chapter) for chapter in mem.chapters()]]).lower()


@pytest.mark.parametrize("kind", MAKE)
def test_a_purge_killed_at_any_file_call_is_hidden_at_once_and_finished_without_a_trace(
        home: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setenv("OTOLITH_SESSION", "session-a")
    record = purgeable(home, kind)
    base = Snapshot(home)

    def act() -> None:
        with opened(home) as mem:
            mem.forget(record, purge=True)

    calls = calls_of(act, base)
    words = (SECRET,) if kind == "episode" else (SECRET, record)  # a block's number goes to the next of its minute
    assert traces(home, *words) == []
    finishers: list[Callable[[Memory], Any]] = [
        lambda mem: mem.memo("user_likes_green_tea", "Yes."), lambda mem: mem.edit("Kettle", text="Cold."),
        lambda mem: mem.upkeep(), lambda mem: mem.forget("Zebra"), lambda mem: mem.link("Zebra", "RELATED_TO", "Kettle")]
    for at, (number, name) in enumerate(sampled(calls, 5)):
        finish = finishers[at % len(finishers)]
        base.restore()
        act()
        with opened(home) as mem:
            shown(mem)
        with opened(home) as mem:
            finish(mem)
        whole = lasting(home)
        base.restore()
        assert killed_at(number, act)
        begun = bool(list((home / "log").glob("intent-*.json")))
        with opened(home) as mem:
            assert not begun or SECRET not in shown(mem), (number, name)
            assert begun == any(finding.code == "unfinished" for finding in mem.check()), (number, name)
        with opened(home) as mem:
            finish(mem)
            assert not any("interrupted" in notice for notice in mem.notices)
        assert not begun or traces(home, *words) == [], (number, name)
        assert not begun or lasting(home) == whole, (number, name)
        assert list((home / "log").glob("intent-*")) == []
        if not begun:  # not yet, or it is done
            with suppress(NotFound):
                act()
            assert traces(home, SECRET) == [], (number, name)
        with opened(home) as mem:
            mem.upkeep()
            assert [finding for finding in mem.check() if finding.code != "line"] == [], (number, name)
        lines = [json.loads(line) for line in (home / "index/audit.log").read_text().splitlines()]
        assert sum(line["verb"] == "purged" for line in lines) == 1, (number, name)


def test_an_edit_after_an_interrupted_purge_sees_what_finishing_it_left_and_is_no_conflict(home: Path) -> None:
    record = purgeable(home, "note")
    base = Snapshot(home)

    def act() -> None:
        with opened(home) as mem:
            mem.forget(record, purge=True)

    for number, name in sampled(calls_of(act, base), 10):
        base.restore()
        assert killed_at(number, act)
        begun = bool(list((home / "log").glob("intent-*.json")))
        with opened(home) as mem:
            assert mem.edit("Kettle", text="Cold.").text == "Cold.", (number, name)
        assert not begun or traces(home, SECRET) == [], (number, name)


@pytest.mark.parametrize("rung", ["exports", "topics"])
def test_what_upkeep_read_before_a_purge_it_does_not_write_after_it(
        home: Path, monkeypatch: pytest.MonkeyPatch, rung: str) -> None:
    record = purgeable(home, {"exports": "note", "topics": "entry"}[rung])
    with opened(home) as mem:
        mem.note("Oats", "Oats are stored in the loft.")
        mem.log("Ann: I sold the barn.", topic="zoo")
    build, purged = Home.build, list[str]()

    def build_late(self: Home, path: str, data: bytes) -> bool:
        if SECRET.encode() in data.lower() and not purged:
            with opened(home) as other:
                other.forget(record, purge=True)
            purged.append(path)
        return build(self, path, data)

    monkeypatch.setattr(Home, "build", build_late)
    with opened(home) as mem:
        report = mem.upkeep()
    assert purged
    assert report.failed == {}
    assert traces(home, SECRET, record) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("kind", ["note", "memo", "entry", "work"])
def test_a_purge_that_fails_half_way_is_finished_by_the_next_write_and_denies_nothing(home: Path, kind: str, code: int) -> None:
    record = purgeable(home, kind)
    base = Snapshot(home)
    before = files(home)

    def act() -> None:
        with opened(home) as mem:
            mem.forget(record, purge=True)

    for number, name in sampled(calls_of(act, base), 4):
        base.restore()
        failure = ""
        with failing_at(number, code, forever=code == errno.ENOSPC):
            try:
                act()
            except OtolithError as error:
                failure = f"{error} {error.hint}"
        assert "nothing was" not in failure or files(home) == before, (number, name)
        begun = failure and list((home / "log").glob("intent-*.json"))
        with opened(home) as mem:
            assert not begun or SECRET not in shown(mem), (number, name)
            mem.memo("user_likes_green_tea", "Yes.")
        if not begun:
            with suppress(NotFound):
                act()
        with opened(home) as mem:  # what could not be done to the index, the next purge or sweep does
            mem.reindex() if not failure else None
        assert traces(home, SECRET) == [], (number, name)


WRITES: dict[str, Callable[[Memory], Any]] = {
    "note": lambda mem: mem.note("Mate", "Bitter."), "edit": lambda mem: mem.edit("Tea", text="Black.", type="solution"),
    "link": lambda mem: mem.link("Tea", "SOLVES", "Kettle"), "forget": lambda mem: mem.forget("Tea"),
    "log": lambda mem: mem.log("Ann: I like green tea.", topic="tea"), "episode": lambda mem: mem.episode("It rained")}


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("verb", WRITES)
def test_that_nothing_was_changed_is_said_only_where_nothing_was(home: Path, verb: str, code: int) -> None:
    with Memory(home, clock=Clock()) as mem:
        mem.note("Tea", "Green."), mem.note("Kettle", "Hot.", type="problem")
    base = Snapshot(home)
    before = lasting(home)

    def act() -> None:
        with opened(home) as mem:
            WRITES[verb](mem)

    failures = 0
    for number, name in sampled(calls_of(act, base), 10):
        base.restore()
        failure = ""
        with failing_at(number, code, forever=code == errno.ENOSPC):
            try:
                act()
            except OtolithError as error:
                failure = f"{error} {error.hint}"
        failures += bool(failure)
        assert not re.search(r"nothing was \w+", failure) or lasting(home) == before, (number, name, failure)
        with opened(home) as mem:
            mem.memo("user_likes_green_tea", "Yes.")
            assert [finding for finding in mem.check() if finding.code not in KNOWN] == [], (number, name)
    assert failures


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


@pytest.mark.parametrize("number", [2, 3, 4])
def test_a_work_killed_on_its_way_into_the_cold_gets_there_with_the_next_write(home: Path, clock: Clock, number: int) -> None:
    with Memory(home, clock=clock) as mem:
        work = mem.record({"goal": "Tame a mule", "task_type": "other", "success": True, "summary": "Tamed"}).id
    with Memory(home, clock=clock) as mem:
        break_at(mem, number)
        with suppress(Died):
            mem.cold(days=0, apply=True)

    with Memory(home, clock=clock) as mem:
        mem.memo("user_likes_green_tea", "Yes.")
        assert [path.split("/")[1] for path in files(home) if work in path] == ["cold"]
        assert mem.get(work).record.intent.goal == "Tame a mule"
        assert mem.check() == []


MOVES: dict[str, tuple[Callable[[Memory], Any], Callable[[Memory], Any]]] = {  # what comes before, and the move
    "pin": (lambda mem: None, lambda mem: mem.pin("Tea")),
    "unpin": (lambda mem: mem.pin("Tea"), lambda mem: mem.unpin("Tea")),
    "edit": (lambda mem: None, lambda mem: mem.edit("Tea", type="solution")),
    "forget": (lambda mem: None, lambda mem: mem.forget("Tea")),
    "restore": (lambda mem: mem.forget("Tea"), lambda mem: mem.restore(NOTE_ID))}
KEPT = ("archive/undo/", "archive/edited/")  # copies for taking an act back, made before it
NOTE_ID = f"{1:08x}-0000-0000-0000-000000000000"


@pytest.mark.parametrize("exchange", [True, False])
@pytest.mark.parametrize("verb", MOVES)
def test_a_move_killed_at_any_file_call_leaves_one_file_and_can_be_tried_again(
        home: Path, monkeypatch: pytest.MonkeyPatch, verb: str, exchange: bool) -> None:
    if not exchange:
        monkeypatch.setattr(rename, "_rename", lambda *given: False)
    before, move = MOVES[verb]
    with Memory(home, clock=Clock(), new_id=lambda: NOTE_ID.replace("-", "")) as mem:
        mem.note("Tea", "Green.")
        before(mem)
    base = Snapshot(home)
    start = {path for path in files(home) if "tea-" in path and not path.startswith(KEPT)}

    def act() -> None:
        with opened(home) as mem:
            move(mem)

    calls = calls_of(act, base)
    whole = {path for path in files(home) if "tea-" in path and not path.startswith(KEPT)}
    for number, name in sampled(calls, 12):
        for again in (False, True):
            base.restore()
            assert killed_at(number, act)
            if again:
                with suppress(NotFound, Invalid):  # it was done
                    act()
            with opened(home) as mem:
                mem.upkeep() if number % 2 else mem.memo("user_likes_green_tea", "Yes.")
                assert [finding for finding in mem.check() if finding.code != "line"] == [], (number, name)
            held = {path for path in files(home) if "tea-" in path and not path.startswith(KEPT)}
            assert held in ((whole,) if again else (whole, start)), (number, name, held)
            assert list((home / "log").glob("intent-*")) == [], (number, name)


def saved_meanwhile(monkeypatch: pytest.MonkeyPatch, home: Path, name: str) -> None:
    """An editor that saves a file by rename right before we would exchange ours for it, three times."""
    original, path = rename.exchange, next(home.rglob(name))
    marks = ["once", "", "twice", "", "thrice"]  # each second exchange puts the editor's version back

    def hooked(folder: int, fresh: str, there: str) -> bool:
        if there == path.name and marks and (mark := marks.pop(0)):
            path.with_name("swp").write_text(f"{path.read_text()}Saved {mark}.\n")
            path.with_name("swp").replace(path)
        return original(folder, fresh, there)

    monkeypatch.setattr(rename, "exchange", hooked)


@pytest.mark.parametrize("verb", ["link", "unlink", "purge"])
def test_a_note_that_somebody_saves_meanwhile_keeps_neither_a_link_nor_a_purge_from_its_end(
        mem: Memory, home: Path, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    tea, pot = mem.note("Tea", "Green."), mem.note("Pot", "Of iron.")
    if verb != "link":
        mem.link(tea.id, "RELATED_TO", pot.id)
    saved_meanwhile(monkeypatch, home, "pot-*.md")
    {"link": lambda: mem.link(tea.id, "RELATED_TO", pot.id), "unlink": lambda: mem.unlink(tea.id, "RELATED_TO", pot.id),
     "purge": lambda: mem.forget(tea.id, purge=True)}[verb]()

    assert mem.get(pot.id).text.splitlines()[-3:] == ["Saved once.", "Saved twice.", "Saved thrice."]
    assert bool(mem.get(pot.id).record.relations) == (verb == "link")
    assert [finding for finding in mem.check() if finding.code != "line"] == []
    assert list((home / "log").glob("intent-*")) == []


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
