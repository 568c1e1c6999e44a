"""Receipts: of what was told unasked, what the agent then used, and by what it was told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from otolith.derive.receipts import Told, used
from otolith.doors.agents import hooks
from otolith.memory import Memory
from otolith.model.events import ANSWERED, CALLED, SAID, Call, Event

POOL = Told("5f0c2f0e-5b1e-4a53-9a55-0d9a3c1f7f10", 1000.0, "Redis pool\nThe pool hands out dead sockets after five idle minutes; "
            "set socket_keepalive to 300.")
LABEL = Told("mem_77aa", 1000.0, "Parcel labels\nA label has the depot's letter, the week and a running number.")
ASKED = Event(SAID, "u-1", "1970-01-01T00:16:41Z", "why does the redis pool hand out dead sockets?")


def answered(text: str, ts: str = "1970-01-01T00:17:00Z") -> Event:
    return Event(ANSWERED, "a-1", ts, text)


def called(**call: Any) -> Event:
    return Event(CALLED, "c-1", "1970-01-01T00:17:00Z", call=Call("Edit", "edit", **call))


@pytest.mark.parametrize("event", [
    answered("As noted in 5f0c2f0e, it is the idle timeout."),
    answered("Earlier you found that idle connections are dropped after minutes, so socket_keepalive must be set."),
    called(edits=(("pool.py", "Pool()", "Pool(socket_keepalive=True, idle=300)"),)),
    called(command="redis-cli config set socket_keepalive 300"),
], ids=["by its id", "by its words", "in an edit", "in a command"])
def test_what_only_the_record_can_have_brought_was_used(event: Event) -> None:
    assert used([POOL, LABEL], [ASKED, event]) == [POOL.id]


@pytest.mark.parametrize("events", [
    [answered("I will look at the code first.")],
    [answered("The redis pool hands out dead sockets, you say. Let me see why the pool does it.")],
    [answered("It may be the idle setting.")],
    [answered("The idle minutes and socket_keepalive 300 matter here.", "1970-01-01T00:01:00Z")],
    [Event(CALLED, "c-0", "1970-01-01T00:16:50Z", call=Call("Read", "read", result="socket_keepalive = 300  # idle minutes, five")),
     answered("The file sets socket_keepalive to 300 for idle minutes.")],
    [Event(SAID, "u-2", "1970-01-01T00:16:55Z", "set socket_keepalive to 300, five idle minutes"),
     answered("I set socket_keepalive to 300 for five idle minutes.")],
], ids=["says nothing of it", "only the prompt's words", "one word", "said before it was told", "read in a file", "said by the person"])
def test_what_came_from_elsewhere_was_not(events: list[Event]) -> None:
    assert used([POOL, LABEL], [ASKED, *events]) == []


def test_words_that_two_records_brought_tell_for_neither() -> None:
    twin = POOL._replace(id="mem_88bb")

    assert used([POOL, twin], [ASKED, answered("Idle minutes: socket_keepalive 300.")]) == []


@pytest.fixture
def session(home: Path, tmp_path: Path) -> Callable[..., None]:
    """A prompt, and what the agent answered, as Claude Code tells it."""
    folder = tmp_path / "shop"
    folder.mkdir()

    def talk(name: str, prompt: str, answer: str) -> None:
        path = tmp_path / f"{name}.jsonl"
        given = {"session_id": name, "cwd": str(folder), "transcript_path": str(path)}
        said = hooks.run("UserPromptSubmit", json.dumps({**given, "prompt": prompt}).encode(), str(home))
        assert "socket_keepalive" in said
        path.write_text("".join(json.dumps({
            "type": role, "sessionId": name, "uuid": f"{name}-{role}", "cwd": str(folder), "timestamp": "2100-02-10T10:00:00.000Z",
            "message": {"role": role, "content": text, **({"id": f"m-{name}"} if role == "assistant" else {})}}) + "\n"
            for role, text in (("user", prompt), ("assistant", answer))))
        for event in ("Stop", "SessionEnd"):
            hooks.run(event, json.dumps({**given, "hook_event_name": event}).encode(), str(home))

    return talk


@pytest.fixture
def told(home: Path, session: Callable[..., None]) -> Path:
    with Memory(home) as mem:
        for title, text in (
                ("Redis pool", "The Redis pool hands out dead sockets after five idle minutes; set socket_keepalive to 300."),
                ("Map tiles", "Map tiles are rendered at night into the bucket tiles-eu."), ("Colours", "Charts use palette.json."),
                ("Parcels", "A parcel's label has the depot's letter and the week."), ("Icons", "Icons are inline SVG.")):
            mem.note(title, text, project="default")
    prompt = "why does the redis pool hand out dead sockets after a while?"
    session("s-1", prompt, "I do not know yet; let me read the code.")
    session("s-2", prompt, "Idle connections are dropped after five minutes: I set socket_keepalive to 300.")
    return home


def test_stats_counts_what_was_told_used_and_ignored(told: Path, run: Any) -> None:
    counts = run("stats", "--delivery", "--json").json

    assert counts["prompt"] == {"delivered": 2, "used": 1, "ignored": 1, "unseen": 0}
    assert counts["brief"]["delivered"] == 0
    assert counts["all"] == counts["prompt"]
    assert "2 delivered     1 used     1 ignored     0 unseen" in run("stats", "--delivery").out


def test_what_nobody_could_watch_is_neither_used_nor_ignored(home: Path, told: Path) -> None:
    with Memory(home) as mem:
        mem.memo("deploy_on_mondays_only", "We deploy on Mondays only.")
        mem.brief(session="s-9")

        counts = mem.stats(delivery=True)["brief"]
    assert counts["delivered"] == counts["unseen"] > 0


def test_no_content_stands_in_the_log(told: Path) -> None:
    log, = told.glob("log/receipts-*.jsonl")
    lines = [json.loads(line) for line in log.read_text().splitlines()]

    assert [set(line) for line in lines] == [{"t", "session", "ids"}] * 2
    assert [len(line["ids"]) for line in lines] == [0, 1]
    assert "keepalive" not in log.read_text()


def test_a_purged_record_is_gone_from_the_receipts(told: Path) -> None:
    log, = told.glob("log/receipts-*.jsonl")
    id, = json.loads(log.read_text().splitlines()[1])["ids"]
    with Memory(told) as mem:
        mem.forget(id, purge=True)

    assert id not in log.read_text()
