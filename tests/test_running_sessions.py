"""A session is one entry that grows while it runs: appended, synced, told once, ended once."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from otolith.doors.agents import hooks
from otolith.files.disk import DiskTree
from otolith.memory import Memory

SESSION = "5a0c9d1e-0000-4a53-9a55-0d9a3c1f7f10"


class Talk:
    """A transcript of Claude Code that grows, and the hooks that its program runs."""

    def __init__(self, home: Path, folder: Path, session: str = SESSION) -> None:
        self.home, self.folder, self.session = home, folder, session
        self.path, self.lines = folder / f"{session}.jsonl", 0

    def say(self, *turns: tuple[str, Any], key: str = "") -> Talk:
        """Turns as (role, content), each with a uuid of its own."""
        with self.path.open("a") as file:
            for role, content in turns:
                self.lines += 1
                message = {"role": role, "content": content}
                line = {"type": role, "uuid": f"{key or self.session}-{self.lines}", "parentUuid": None,
                        "sessionId": self.session, "cwd": str(self.folder), "isSidechain": False,
                        "timestamp": f"2026-03-01T{self.lines // 60 % 24:02}:{self.lines % 60:02}:00.000Z",
                        "message": message if role == "user" else {"id": f"m{self.lines}", **message}}
                file.write(json.dumps(line) + "\n")
        return self

    def fire(self, event: str = "Stop", **more: Any) -> None:
        given = {"session_id": self.session, "transcript_path": str(self.path), "cwd": str(self.folder),
                 "hook_event_name": event, **more}
        hooks.run(event, json.dumps(given).encode(), str(self.home))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "tide"
    (place / ".git").mkdir(parents=True)
    return place


@pytest.fixture
def talk(home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Talk:
    monkeypatch.setenv("OTOLITH_DEBUG", "1")
    monkeypatch.delenv("OTOLITH_PROJECT")
    return Talk(home, folder)


def entry_folders(home: Path) -> list[Path]:
    return sorted(path.parent for path in home.glob("topics/*/*/raw.md"))


def turns(home: Path) -> list[str]:
    with Memory(home) as mem:
        return [turn.text for row in reversed(mem.list(kind="entry", limit=None)[0])
                for turn in mem.get(row["id"]).record.turns]


def ask(text: str) -> tuple[str, str]:
    return "user", text


def reply(text: str) -> tuple[str, list[dict[str, str]]]:
    return "assistant", [{"type": "text", "text": text}]


def test_a_session_is_one_entry_that_only_grows(talk: Talk, home: Path) -> None:
    talk.say(ask("Please look at the tide table."), reply("It is in tide.py.")).fire()
    (entry,) = entry_folders(home)
    before = (entry / "raw.md").read_bytes()
    meta = (entry / "meta.json").read_bytes()
    talk.say(ask("Now rename it."), reply("Renamed.")).fire()
    talk.say(ask("And commit."), reply("Committed.")).fire("PreCompact")

    assert entry_folders(home) == [entry]
    after = (entry / "raw.md").read_bytes()
    assert after.startswith(before)
    assert after.count(b"### ") == 6
    assert (entry / "meta.json").read_bytes() == meta
    assert not (entry / "summary.json").exists()
    assert len((entry / "summary.part.jsonl").read_text().splitlines()) == 3


def test_the_summary_is_written_once_when_the_session_ends(talk: Talk, home: Path) -> None:
    talk.say(ask("My sister lives in Lisbon."), reply("Noted.")).fire()
    talk.say(ask("I prefer tabs over spaces."), reply("Tabs it is.")).fire()
    with Memory(home) as mem:
        running = {fact.object for fact in mem.facts()}

    talk.fire("SessionEnd")

    (entry,) = entry_folders(home)
    assert not (entry / "summary.part.jsonl").exists()
    summary = json.loads((entry / "summary.json").read_text())
    assert {fact["object"] for fact in summary["facts"]} == running
    assert "Lisbon" in running
    with Memory(home) as mem:
        assert {fact.object for fact in mem.facts()} == running


def test_turns_after_the_end_open_an_entry_that_continues_the_first(talk: Talk, home: Path) -> None:
    talk.say(ask("First."), reply("Yes.")).fire("SessionEnd")
    talk.say(ask("Back again."), reply("Welcome.")).fire()

    first, second = entry_folders(home)
    assert json.loads((second / "meta.json").read_text())["continues"] == first.name
    assert turns(home) == ["First.", "Yes.", "Back again.", "Welcome."]


def test_repeated_turns_are_all_stored(talk: Talk, home: Path) -> None:
    for _ in range(3):
        talk.say(ask("continue"), reply("Done.")).fire()
    talk.fire("SessionEnd")

    assert turns(home) == ["continue", "Done."] * 3


def test_all_hooks_and_two_installs_together_store_once(talk: Talk, home: Path) -> None:
    for number in range(3):
        talk.say(ask(f"Step {number}."), reply("Done."))
        for event in ("Stop", "Stop", "PreCompact"):
            talk.fire(event)
    for event in ("SessionEnd", "SessionEnd", "Stop"):
        talk.fire(event)

    assert turns(home) == [text for number in range(3) for text in (f"Step {number}.", "Done.")]


def test_a_forked_session_stores_only_what_is_new(talk: Talk, home: Path, folder: Path) -> None:
    talk.say(ask("Always run make lint."), reply("I will."), ask("Fine."), reply("Good.")).fire("SessionEnd")
    fork = Talk(home, folder, "77777777-1111-4a53-9a55-0d9a3c1f7f10")
    fork.say(ask("Always run make lint."), reply("I will."), ask("Fine."), reply("Good."), key=SESSION)
    fork.say(ask("Try the other way."), reply("Trying.")).fire()

    assert turns(home) == ["Always run make lint.", "I will.", "Fine.", "Good.", "Try the other way.", "Trying."]
    assert len(list(home.glob("allmemories/*.md"))) <= 1


def test_a_lost_state_stores_nothing_twice(talk: Talk, home: Path) -> None:
    talk.say(ask("One."), reply("Two.")).fire()
    for state in home.glob("log/hooks/*"):
        state.unlink()
    talk.say(ask("Three."), reply("Four.")).fire()

    assert turns(home) == ["One.", "Two.", "Three.", "Four."]


@pytest.mark.parametrize("cut", [0, 1, 7, 60])
def test_a_writer_killed_in_the_middle_of_an_append_leaves_no_half_turn(talk: Talk, home: Path, cut: int,
                                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    talk.say(ask("One."), reply("Two.")).fire()
    talk.say(ask("Three is a longer turn, so that it can be torn."), reply("Four."))
    whole = DiskTree.append

    def torn(tree: DiskTree, path: str, data: bytes, *, synced: bool = False) -> None:
        if path.endswith("raw.md"):
            whole(tree, path, data[: len(data) - cut], synced=synced)
            raise KeyboardInterrupt
        whole(tree, path, data, synced=synced)

    with monkeypatch.context() as dying:
        dying.setattr(DiskTree, "append", torn)
        with pytest.raises(KeyboardInterrupt):
            talk.fire()
    talk.say(ask("Five.")).fire()

    assert turns(home) == ["One.", "Two.", "Three is a longer turn, so that it can be torn.", "Four.", "Five."]


@pytest.mark.parametrize("step", ["append part", "index", "state"])
def test_a_hook_killed_between_its_steps_makes_nothing_twice(talk: Talk, home: Path, step: str,
                                                             monkeypatch: pytest.MonkeyPatch) -> None:
    talk.say(ask("My sister lives in Lisbon."), reply("Two.")).fire()
    talk.say(ask("I work as a baker."), reply("Four."))
    whole = DiskTree.append

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    def without_part(tree: DiskTree, path: str, data: bytes, *, synced: bool = False) -> None:
        if path.endswith("part.jsonl"):
            killed()
        whole(tree, path, data, synced=synced)

    with monkeypatch.context() as dying:
        if step == "append part":
            dying.setattr(DiskTree, "append", without_part)
        else:
            dying.setattr({"index": "otolith.verbs.running._tell_index",
                           "state": "otolith.doors.agents.transcripts.mark_read"}[step], killed)
        with pytest.raises(KeyboardInterrupt):
            talk.fire()
    talk.fire()

    assert turns(home) == ["My sister lives in Lisbon.", "Two.", "I work as a baker.", "Four."]
    with Memory(home) as mem:
        assert sorted(fact.object for fact in mem.facts()) == sorted({fact.object for fact in mem.facts()})


def test_turns_are_synced_before_they_are_acknowledged(talk: Talk, home: Path,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    talk.say(ask("One."), reply("Two.")).fire()
    talk.say(ask("Three."), reply("Four."))
    synced: dict[str, bytes] = {}
    sync = os.fsync

    def watched(file: int) -> None:
        sync(file)
        path = os.readlink(f"/proc/self/fd/{file}")
        if os.path.isfile(path):
            synced[os.path.basename(path)] = Path(path).read_bytes()

    monkeypatch.setattr(os, "fsync", watched)
    talk.fire()

    (entry,) = entry_folders(home)
    assert synced["raw.md"] == (entry / "raw.md").read_bytes()
    assert synced["summary.part.jsonl"] == (entry / "summary.part.jsonl").read_bytes()


def test_what_was_just_said_is_found_at_once_and_after_a_rebuild(talk: Talk, home: Path) -> None:
    talk.say(ask("The heron nests in the mill."), reply("A fine place.")).fire()
    talk.say(ask("The otter lives below the weir."), reply("Quite so.")).fire()
    talk.say(ask("The kestrel hunts over the quarry."), reply("Indeed.")).fire()

    with Memory(home) as mem:
        for words in ("heron nests mill", "otter lives weir", "kestrel hunts quarry"):
            hit = mem.recall(words, kind="entry").hits[0]
            assert set(words.split()) <= set(hit.text.lower().replace(".", "").split()) | {"in"}
        before = [[hit.text for hit in mem.recall(words).hits] for words in ("heron", "otter", "kestrel")]
        mem.reindex()
        assert before == [[hit.text for hit in mem.recall(words).hits] for words in ("heron", "otter", "kestrel")]
        assert [finding for finding in mem.check() if "topics/" in str(finding)] == []


def test_the_index_grows_as_a_rebuild_fills_it(talk: Talk, home: Path) -> None:
    for place in ("Lisbon", "Porto", "Faro"):
        talk.say(ask(f"My sister lives in {place}. I work as a baker."), reply("I see.")).fire()

    def facts(mem: Memory) -> list[Any]:
        return sorted((fact.title, fact.valid_from, fact.valid_until, fact.evidence_count) for fact in mem.facts())

    with Memory(home) as mem:
        before = facts(mem)
        rows = mem.sql("SELECT turn, start, stop, text FROM passages WHERE turn IS NOT NULL ORDER BY turn + 0")
        mem.reindex()
        assert facts(mem) == before
        assert mem.sql("SELECT turn, start, stop, text FROM passages WHERE turn IS NOT NULL ORDER BY turn + 0") == rows


def test_upkeep_ends_a_session_after_six_quiet_hours(talk: Talk, home: Path, clock: Any) -> None:
    talk.say(ask("My sister lives in Lisbon."), reply("Noted.")).fire()
    (entry,) = entry_folders(home)
    with Memory(home) as mem:
        mem.upkeep()
    assert not (entry / "summary.json").exists()

    import time

    with Memory(home, clock=lambda: time.time() + 6 * 3600 + 60) as mem:
        mem.upkeep()
    assert (entry / "summary.json").exists()
    assert not (entry / "summary.part.jsonl").exists()


def test_end_ends_the_running_entry(talk: Talk, home: Path) -> None:
    talk.say(ask("My sister lives in Lisbon."), reply("Noted.")).fire()
    with Memory(home) as mem:
        mem.end(session=SESSION)

    (entry,) = entry_folders(home)
    assert (entry / "summary.json").exists()


def test_a_running_entry_can_be_purged_and_leaves_nothing(talk: Talk, home: Path) -> None:
    talk.say(ask("My sister lives in Lisbon."), reply("Noted.")).fire()
    (entry,) = entry_folders(home)
    with Memory(home) as mem:
        mem.forget(entry.name, purge=True)

    assert not entry.exists()
    assert not any(b"Lisbon" in path.read_bytes() for path in home.glob("topics/**/*") if path.is_file())


def test_a_running_entry_comes_along_in_an_export_and_an_import(talk: Talk, home: Path, tmp_path: Path) -> None:
    from otolith.doors.exchange.importing import Import

    talk.say(ask("My sister lives in Lisbon."), reply("Noted.")).fire()
    with Memory(tmp_path / "other") as mem:
        report = Import(mem).run(home)
        assert report.findings == []
        assert [fact.object for fact in mem.facts()] == ["Lisbon"]


def test_what_a_stop_reads_and_writes_does_not_grow_with_the_session(talk: Talk, home: Path,
                                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    def cost() -> tuple[int, int]:
        counted = {"bytes": 0, "statements": 0}
        read, execute = DiskTree.read, __import__("otolith.index.database", fromlist=["Connection"]).Connection.execute

        def reading(tree: DiskTree, path: str, start: int = 0) -> Any:
            data = read(tree, path, start)
            counted["bytes"] += len(data[0]) if path.startswith("topics/") else 0
            return data

        def executing(self: Any, *given: Any, **more: Any) -> Any:
            counted["statements"] += 1
            return execute(self, *given, **more)

        with monkeypatch.context() as watched:
            watched.setattr(DiskTree, "read", reading)
            watched.setattr("otolith.index.database.Connection.execute", executing)
            talk.say(ask("Go on with the next step, please."), reply("Done with it.")).fire()
        return counted["bytes"], counted["statements"]

    talk.say(ask("Begin."), reply("Begun.")).fire()
    early = cost()
    for _ in range(10):
        talk.say(*[turn for number in range(50) for turn in (ask(f"Step {number}: go on."), reply("Done."))]).fire()
    late = cost()

    assert late[0] <= early[0] + 500
    assert late[1] <= early[1] + 10


# Bad input: nothing is lost, nothing twice, the agent is not disturbed


def test_a_shrunk_transcript_is_read_anew_and_stores_nothing_twice(talk: Talk, home: Path) -> None:
    talk.say(ask("One."), reply("Two."), ask("Three.")).fire()
    lines = talk.path.read_text().splitlines(keepends=True)
    talk.path.write_text("".join(lines[:1]))
    talk.say(reply("Four.")).fire()

    assert turns(home) == ["One.", "Two.", "Three.", "Four."]


def test_a_torn_last_line_waits_for_its_end(talk: Talk, home: Path) -> None:
    talk.say(ask("One."), reply("Two."))
    whole = talk.path.read_text()
    talk.path.write_text(whole[:-20])
    talk.fire()
    assert turns(home) == ["One."]
    talk.path.write_text(whole)
    talk.fire()
    assert turns(home) == ["One.", "Two."]


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe nothing", b"just a note\n", b"[1, 2, 3]\n", b'{"a": 1}\n'])
def test_what_is_no_transcript_is_one_line_in_the_log(talk: Talk, home: Path, content: bytes,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(home) as mem:
        mem.note("Tea", "Steep it.")
    monkeypatch.delenv("OTOLITH_DEBUG")
    talk.path.write_bytes(content)

    talk.fire()

    (line,) = (home / "log/hooks.jsonl").read_text().splitlines()
    assert "not a transcript" in json.loads(line)["error"]
    assert entry_folders(home) == []


def test_a_missing_transcript_is_nothing(talk: Talk, home: Path) -> None:
    talk.fire()
    assert entry_folders(home) == []


def test_ten_megabytes_in_one_turn_are_kept(talk: Talk, home: Path) -> None:
    talk.say(ask("word " * (2 << 20)), reply("Long.")).fire()

    assert [len(text) >= 10_000_000 for text in turns(home)] == [True, False]


def test_a_clock_that_jumps_loses_nothing(talk: Talk, home: Path) -> None:
    talk.say(ask("One."))
    talk.path.write_text(talk.path.read_text().replace("2026-03-01T", "2031-03-01T"))
    talk.fire()
    talk.say(reply("Two.")).fire()
    talk.say(ask("Three."))
    talk.path.write_text(talk.path.read_text().replace("2026-03-01T00:03:00.000Z", "yesterday"))
    talk.fire("SessionEnd")

    assert turns(home) == ["One.", "Two.", "Three."]


def test_each_program_is_an_agent_of_its_own(talk: Talk, home: Path, folder: Path) -> None:
    talk.say(ask("One."), reply("Two.")).fire()
    rollout = folder / "rollout-2026-03-01.jsonl"
    rollout.write_text("".join(json.dumps(line) + "\n" for line in (
        {"timestamp": "2026-03-01T10:00:00Z", "type": "session_meta", "payload": {"id": "r-1", "cwd": str(folder)}},
        {"timestamp": "2026-03-01T10:00:01Z", "type": "event_msg", "payload": {"type": "user_message", "message": "Three."}})))
    talk.fire(session_id="r-1", transcript_path=str(rollout))

    with Memory(home) as mem:
        assert {mem.get(row["id"]).record.meta.origin.agent for row in mem.list(kind="entry")[0]} == {"claude-code", "codex"}
