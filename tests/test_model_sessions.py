"""A session that a model reads when it has ended, and the agent that is asked to keep what it learned."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Clock, Ran
from otolith import config
from otolith.doors.agents import hooks
from otolith.doors.agents.answering import answering
from otolith.errors import Provider
from otolith.memory import Memory
from otolith.providers.tokens import estimate_many
from test_running_sessions import SESSION, Talk, entry_folders, folder, talk  # noqa: F401 (fixtures)

FACT = {"subject": "tide tables", "relation": "move from", "object": "CSV to Parquet", "type": "event", "turns": [1]}
INVENTED = {**FACT, "object": "a lake in Norway"}
TURNS = (("user", "We are moving the tide tables from CSV to Parquet."), ("assistant", "Moved them."))


def answer(*proposals: Any) -> str:
    return json.dumps({"summary": "The tide tables move.", "proposals": proposals})


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Turns a program on that prints this; what it was asked, and how often, stands in a file."""

    def turn_on(printed: str) -> Path:
        path, asked = tmp_path / "model", tmp_path / "asked"
        path.write_text(f"#!/bin/sh\ncat >> {asked}\necho CALL-ENDS >> {asked}\ncat <<'E'\n{printed}\nE\n")
        path.chmod(0o700)
        monkeypatch.setenv("OTOLITH_MODEL", str(path))
        return asked

    return turn_on


def calls(asked: Path) -> int:
    return asked.read_text().count("CALL-ENDS") if asked.exists() else 0


def summary_of(home: Path) -> dict[str, Any] | None:
    path = entry_folders(home)[0] / "summary.json"
    return json.loads(path.read_text()) if path.exists() else None


def wait_for_summary(home: Path) -> dict[str, Any]:
    for _ in range(200):
        if (kept := summary_of(home)) is not None:
            return kept
        time.sleep(0.05)
    raise AssertionError("nobody ended the session")


def test_a_session_that_ended_is_read_behind_the_agents_back_and_only_once(talk: Talk, home: Path, model: Any) -> None:  # noqa: F811
    asked = model(answer(FACT, INVENTED))
    talk.say(*TURNS).fire()
    talk.fire("SessionEnd")

    kept = wait_for_summary(home)
    fact = kept["facts"][-1]
    assert (fact["object"], fact["trust"]) == ("CSV to Parquet", "agent")
    assert fact["made_by"].startswith("model#")
    assert not any("Norway" in fact["object"] for fact in kept["facts"])
    assert "[1] user: We are moving the tide tables" in asked.read_text()
    with Memory(home) as mem:
        mem.upkeep()
        before = calls(asked)
        mem.upkeep()
    assert calls(asked) == before, "a second round asks nothing"
    assert asked.read_text().count("You keep the memory") == 1, "one question a session"


def test_a_failing_model_leaves_the_session_open_and_the_rules_end_it_after_three_days(
        talk: Talk, home: Path, model: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setenv("OTOLITH_UPKEEP", "off")
    talk.say(*TURNS, ("user", "I am a vegan, by the way.")).fire()
    asked = model("no idea")
    open_after = []
    clock.now = time.time()
    for _ in range(4):
        clock.pass_time(days=1)
        with Memory(home, clock=clock) as mem:
            mem.upkeep()
            mem.upkeep()
        open_after.append(summary_of(home) is None)

    assert open_after == [True, True, False, False]
    assert asked.read_text().count("You keep the memory") == 3, "once a day"
    assert summary_of(home)["made_by"] == "rules-1"  # type: ignore[index]


def test_upkeep_that_started_by_itself_asks_no_model_unless_the_person_allows_it(
        talk: Talk, home: Path, model: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    talk.say(*TURNS).fire()
    asked = model(answer(FACT))
    clock.now = time.time() + 86_400
    with Memory(home, clock=clock) as mem:
        mem.upkeep(if_due=True)
        assert calls(asked) == 0
        mem.home.config = mem.home.config.replace(upkeep_remote=True)
        mem.upkeep(if_due=True)
        clock.pass_time(days=2)
        mem.upkeep(if_due=True)

    assert asked.read_text().count("You keep the memory") == 1


def test_what_the_model_says_to_replace_is_closed_where_it_may(home: Path) -> None:
    asked: list[str] = []

    def ask(question: str) -> str:
        asked.append(question)
        known = next((line for line in question.splitlines() if line.startswith("K1: ")), "")
        return answer({"subject": "Ann", "relation": "lives in", "object": "Porto", "type": "identity", "turns": [1],
                       "replaces": known[:2] or None})

    with Memory(home) as mem:
        mem.log([{"role": "assistant", "content": "Ann lives in Lyon."}], topic="t", ask=lambda _: answer(
            {"subject": "Ann", "relation": "lives in", "object": "Lyon", "type": "identity", "turns": [1]}), created="2026-01-01")
        new = mem.log([{"role": "assistant", "content": "As for Ann: it is Porto where she lives, since spring."}], topic="t", ask=ask, created="2026-02-01")

    assert "K1: Ann lives in Lyon" in asked[0]
    fact = next(fact for fact in new.facts if fact.object == "Porto" and fact.made_by)
    assert [name.startswith("claim_") for name in fact.replaces or ()] == [True]


# The agent as its own scribe

CORRECTED = (("user", "Fix the tests of the reader."), ("assistant", "I dropped the rows that fail."),
             ("user", "No, never drop rows silently, write them to rejected.csv."), ("assistant", "Done."))


def ask_agent(talk: Talk, **more: Any) -> dict[str, Any]:  # noqa: F811
    given = {"session_id": talk.session, "transcript_path": str(talk.path), "cwd": str(talk.folder), "hook_event_name": "Stop",
             "stop_hook_active": False, **more}
    printed = hooks.run("Stop", json.dumps(given).encode(), str(talk.home))
    return json.loads(printed) if printed else {}


@pytest.fixture
def scribe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTOLITH_ASK_AGENT", "auto")


def test_the_agent_is_asked_once_to_keep_what_was_seen(talk: Talk, scribe: None) -> None:  # noqa: F811
    first = ask_agent(talk.say(*CORRECTED))
    again = ask_agent(talk.say(("user", "No, use polars instead."), ("assistant", "Ok.")))

    assert first["decision"] == "block"
    assert "never drop rows silently" in first["reason"]
    assert "`record`" in first["reason"]
    assert estimate_many([first["reason"]])[0] <= 120
    assert again == {}


def test_the_agent_is_asked_as_well_where_a_server_answers_the_hook(
        talk: Talk, scribe: None, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    with tempfile.TemporaryDirectory(prefix="oto-", dir="/tmp") as short:  # a socket's path must be short
        monkeypatch.setenv("XDG_RUNTIME_DIR", short)
        place = config.socket_path(str(home))
        ask_agent(talk.say(("user", "Fix the tests of the reader."), ("assistant", "I dropped the rows that fail.")))
        with answering(str(home)):
            until = time.monotonic() + 5
            while not place.exists() and time.monotonic() < until:
                time.sleep(0.01)
            asked = ask_agent(talk.say(*CORRECTED[2:]))

    assert "never drop rows silently" in asked["reason"]


def test_an_agent_that_goes_on_because_of_a_hook_is_not_asked(talk: Talk, scribe: None) -> None:  # noqa: F811
    assert ask_agent(talk.say(*CORRECTED), stop_hook_active=True) == {}


def test_nobody_is_asked_where_nothing_was_seen_or_the_person_did_not_want_it(
        talk: Talk, scribe: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    assert ask_agent(talk.say(("user", "Run the tests."), ("assistant", "They pass."))) == {}
    monkeypatch.setenv("OTOLITH_ASK_AGENT", "off")
    assert ask_agent(talk.say(*CORRECTED)) == {}


def test_an_agent_that_kept_something_itself_is_not_asked(talk: Talk, scribe: None) -> None:  # noqa: F811
    talk.say(*CORRECTED[:3], ("assistant", [{"type": "tool_use", "id": "t1", "name": "mcp__otolith__record", "input": {"goal": "x"}}]),
             ("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "kept"}]), ("assistant", "Kept."))

    assert ask_agent(talk) == {}


def test_an_unknown_word_for_ask_agent_is_one_line(run: Callable[..., Ran]) -> None:
    done = run("config", "ask-agent", "always")

    assert (done.code, "off, auto" in done.err) == (4, True)


def test_a_model_is_never_asked_inside_a_hook(talk: Talk, home: Path, model: Any) -> None:  # noqa: F811
    asked = model(answer(FACT))
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact"):
        talk.say(*TURNS).fire(event, prompt="What about the tide tables?")

    assert calls(asked) == 0
    assert Provider.exit_code == 8
