"""Gemini CLI's hooks: the brief with the first prompt, its own form of transcript, the words of hooks left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otolith.doors.agents import hooks
from otolith.memory import Memory

SESSION = "df71d16b-f610-41dd-be7b-05b28e5f452e"


class Chat:
    """A session as Gemini CLI writes it, and the hooks that it runs."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home, self.folder = home, folder
        self.path = folder / ".gemini/tmp/tide/chats/session-2026-03-01T10-00-df71d16b.jsonl"
        self.path.parent.mkdir(parents=True)
        self.write({"sessionId": SESSION, "projectHash": "e0", "startTime": "2026-03-01T10:00:00.000Z", "kind": "main"})

    def write(self, *lines: dict[str, Any]) -> None:
        with self.path.open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)

    def turn(self, number: int, prompt: str, answer: str, told: str = "") -> list[dict[str, Any]]:
        context = f"<hook_context>{told.replace('<', '&lt;').replace('>', '&gt;')}</hook_context>"
        parts = [{"text": prompt}, *([{"text": context}] if told else [])]
        lines = [{"id": f"u{number}", "timestamp": f"2026-03-01T10:0{number}:00.000Z", "type": "user", "content": parts},
                 {"id": f"g{number}", "timestamp": f"2026-03-01T10:0{number}:01.000Z", "type": "gemini", "content": ""},
                 {"id": f"g{number}", "timestamp": f"2026-03-01T10:0{number}:01.000Z", "type": "gemini", "content": answer}]
        self.write(*lines, {"$set": {"lastUpdated": "2026-03-01T10:00:59.871Z"}})
        return lines

    def fire(self, event: str, **more: Any) -> str:
        given = {"session_id": SESSION, "transcript_path": str(self.path), "cwd": str(self.folder / "tide"),
                 "hook_event_name": event, "timestamp": "2026-03-01T10:00:00.000Z", **more}
        printed = hooks.run(event, json.dumps(given).encode(), str(self.home))
        return str(json.loads(printed)["hookSpecificOutput"]["additionalContext"]) if printed else ""


@pytest.fixture
def chat(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Chat:
    monkeypatch.setenv("OTOLITH_DEBUG", "1")
    monkeypatch.delenv("OTOLITH_PROJECT")
    (tmp_path / "tide/.git").mkdir(parents=True)
    with Memory(home) as mem:
        mem.note("Release day", "Releases go out on Tuesdays.", type="decision", project="tide")
    return Chat(home, tmp_path)


def test_the_brief_comes_with_the_first_prompt_and_never_again(chat: Chat) -> None:
    began = chat.fire("SessionStart", source="startup")
    first, second = (chat.fire("BeforeAgent", prompt=prompt) for prompt in ("Set x to 2.", "Go on."))
    chat.fire("SessionStart", source="resume")
    resumed = chat.fire("BeforeAgent", prompt="And now the other file.")

    assert began == "", "what it is told there it forgets at a resume, and the person's prompt with it"
    assert "otolith brief: what is remembered" in first
    assert "Releases go out on Tuesdays." in first
    assert "otolith brief" not in second + resumed


def test_a_session_is_captured_once_without_what_hooks_said_though_a_resume_tells_it_again(chat: Chat) -> None:
    told = chat.fire("BeforeAgent", prompt="We keep the tide tables in Postgres from now on.")
    lines = chat.turn(1, "We keep the tide tables in Postgres from now on.", "Very well.", told)
    chat.fire("AfterAgent")
    chat.write({"$set": {"messages": lines[-2:]}})
    chat.turn(2, "Never touch the archive table.", "I shall not.")
    chat.fire("AfterAgent")
    chat.fire("SessionEnd", reason="exit")

    pages = [page.read_text() for page in chat.home.glob("topics/*/*/raw.md")]
    assert [sum(page.count(words) for page in pages) for words in (
        "tide tables in Postgres", "Very well.", "archive table", "otolith-memory", "hook_context")] == [1, 1, 1, 0, 0]
