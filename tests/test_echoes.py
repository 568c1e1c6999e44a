"""What was told in a session is no evidence when it comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.test_running_sessions import Talk, ask, folder, reply, talk

from otolith.doors.agents import hooks
from otolith.memory import Memory
from otolith.model.echoes import comes_back, digests, echoes, retells, without_echoes
from otolith.model.events import ANSWERED, SAID, Event, Part, Session, own_words

__all__ = ["folder", "talk"]
RULE = "Always run the tide tests with pnpm before a commit."
KNOWN = echoes(digests(f"- {RULE} (2026-03-01, memo tide_tests)"), ["The lighthouse keeper feeds the gulls at six every morning."])


def prompted(talk: Talk, prompt: str) -> str:
    given = {"session_id": talk.session, "transcript_path": str(talk.path), "cwd": str(talk.folder), "prompt": prompt,
             "hook_event_name": "UserPromptSubmit"}
    said = hooks.run("UserPromptSubmit", json.dumps(given).encode(), str(talk.home))
    return str(json.loads(said)["hookSpecificOutput"]["additionalContext"]) if said else ""


@pytest.mark.parametrize("line", [RULE, f"- {RULE}", f"> {RULE}", f"- {RULE} (2026-03-01, memo tide_tests)", RULE.upper(),
                                  "the lighthouse keeper feeds the gulls at six"])
def test_a_line_that_was_delivered_is_known_again(line: str) -> None:
    assert comes_back(line, KNOWN)


@pytest.mark.parametrize("line", ["Use npm in this project.", "Always ask first.", "tide", "The keeper of the zoo feeds the lions."])
def test_other_lines_are_not(line: str) -> None:
    assert not comes_back(line, KNOWN)
    assert not retells(line, KNOWN)


def test_an_agent_that_tells_it_in_other_words_is_no_source() -> None:
    assert retells("Every morning at six, gulls are fed by the lighthouse keeper.", KNOWN)


def test_what_came_back_is_marked_and_own_words_stay() -> None:
    said = Event(SAID, "1", text=f"{RULE}\nBut use npm here.", parts=(Part(f"{RULE}\nBut use npm here."),))
    answer = Event(ANSWERED, "2", text="The keeper feeds gulls at six every morning. The cause was a stale lock.")

    heard, retold = without_echoes(Session("claude-code", "s", (said, answer)), KNOWN).events

    assert own_words(heard) == "But use npm here."
    assert retold.text == "The cause was a stale lock."


def test_fifty_rounds_of_pasting_what_was_recalled_leave_one_memo(talk: Talk, home: Path) -> None:
    with Memory(home) as mem:
        mem.memo("always_run_tide_tests_with_pnpm", RULE, category="past", project="tide")
    for number in range(50):
        told = prompted(talk, "how do I run the tide tests with pnpm before a commit?")
        lines = [line for line in told.splitlines() if line.startswith("- ")]
        pasted = "\n".join(lines) if number % 2 else RULE
        talk.say(ask(f"how do I run the tide tests?\n\n{pasted}"),
                 reply("You always run the tide tests with pnpm before a commit.")).fire()
    talk.fire("SessionEnd")

    with Memory(home) as mem:
        memos = mem.list(kind="memo", limit=None)[0]
        assert len(memos) == 1, [memo["title"] for memo in memos]
        assert mem.facts() == []
    assert home.joinpath(*next(home.glob("topics/*/*/raw.md")).relative_to(home).parts).read_text().count(RULE) >= 25


def test_what_is_told_is_noted_without_its_words(talk: Talk, home: Path) -> None:
    with Memory(home) as mem:
        mem.memo("always_run_tide_tests_with_pnpm", RULE, category="past", project="tide")
        mem.brief(session="s-1", project="tide")
    assert prompted(talk, "how do I run the tide tests with pnpm before a commit?")

    (path,) = home.glob("log/delivered-*.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["session"] for line in lines] == ["s-1", talk.session]
    assert all(line["ids"] == ["always_run_tide_tests_with_pnpm"] for line in lines)
    assert "pnpm before" not in path.read_text()


def test_a_purge_takes_its_ids_along_and_upkeep_what_is_old(mem: Memory, home: Path, clock: Any) -> None:
    mem.memo("always_run_tide_tests_with_pnpm", RULE, category="past")
    mem.memo("another_memo_that_stays", "The gulls are fed at six.", category="past")
    mem.brief(session="s-1")
    (path,) = home.glob("log/delivered-*.jsonl")

    mem.forget("always_run_tide_tests_with_pnpm", purge=True)
    assert json.loads(path.read_text())["ids"] == ["another_memo_that_stays"]

    clock.pass_time(days=31)
    mem.upkeep()
    assert path.read_text() == ""
