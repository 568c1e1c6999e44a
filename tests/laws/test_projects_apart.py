"""A law: nothing of one project is ever put before an agent that works in another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otolith.doors.agents import hooks
from otolith.memory import Memory

MARK = "heliotrope"


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.delenv("OTOLITH_PROJECT")
    monkeypatch.setenv("OTOLITH_DEBUG", "1")
    folders = tmp_path / "src" / "alpha", tmp_path / "src" / "beta"
    for folder in folders:
        (folder / ".git").mkdir(parents=True)
    return folders


def fire(home: Path, folder: Path, event: str, session: str, **more: Any) -> str:
    given = {"session_id": session, "cwd": str(folder), "hook_event_name": event, **more}
    return hooks.run(event, json.dumps(given).encode(), str(home))


def work_in(home: Path, folder: Path, session: str) -> None:
    """A session that leaves something in every ladder."""
    lines = [("user", f"Always put the {MARK} banner on the release page. My colleague Ada lives in {MARK}."),
             ("assistant", [{"type": "text", "text": f"I will put the {MARK} banner there."}]),
             ("user", f"Let's go with {MARK} for the palette of src/page.ts, we decided that."),
             ("assistant", [{"type": "text", "text": "Fine."}])]
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps({
        "type": role, "uuid": f"{session}-{n}", "parentUuid": None, "sessionId": session, "cwd": str(folder),
        "timestamp": f"2026-03-01T10:0{n}:00Z", "message": {"role": role, "content": content}}) + "\n"
        for n, (role, content) in enumerate(lines)))
    for event in ("Stop", "SessionEnd"):
        fire(home, folder, event, session, transcript_path=str(path))
    with Memory(home) as mem:
        project = folder.name
        mem.note(f"The {MARK} decision", f"We use {MARK} for all buttons.", type="decision", importance=0.95, project=project)
        mem.memo(f"plan_the_{MARK}_release_next_week", f"Plan the {MARK} release.", category="future", project=project)
        mem.remember(f"The {MARK} palette has five tones and is kept in the page.", project=project)
        mem.log(f"user: I decided to use {MARK} for the release page.\nassistant: Noted.", topic="palette", project=project)
        for number in range(4):
            mem.record(intent={"goal": f"Fix the {MARK} banner {number}", "task_type": "bug_fix"}, files=["src/page.ts"],
                       outcome={"success": False, "summary": f"{MARK} is too bright", "failure_reason": f"{MARK} clash"},
                       project=project)


def told_in(home: Path, folder: Path) -> str:
    """All that the hooks of a new session tell."""
    return "".join([
        fire(home, folder, "SessionStart", "s-new", source="startup"),
        *(fire(home, folder, "UserPromptSubmit", "s-new", prompt=prompt) for prompt in (
            f"what do we know about {MARK}?", f"which palette did we decide on, {MARK} or another",
            f"put the {MARK} banner on the release page of Ada")),
        fire(home, folder, "PreToolUse", "s-new", tool_name="Edit", tool_input={"file_path": "src/page.ts"})])


@pytest.mark.parametrize("upkeep", [False, True])
def test_nothing_of_one_project_is_told_in_another(home: Path, projects: tuple[Path, Path], upkeep: bool) -> None:
    alpha, beta = projects
    work_in(home, alpha, "s-alpha")
    with Memory(home) as mem:
        mem.note("Tea", "Steep tea for three minutes.", type="decision", importance=0.95, project="beta")
        mem.log("user: I decided to buy tea for the office.\nassistant: Noted.", topic="palette", project="beta")
        if upkeep:
            mem.upkeep()

    assert MARK in told_in(home, alpha)
    assert MARK not in told_in(home, beta)


def test_what_is_personal_is_told_everywhere(home: Path, projects: tuple[Path, Path]) -> None:
    with Memory(home) as mem:
        mem.memo("user_prefers_short_answers_in_plain_words", "The user prefers short answers.", project="default")

    for folder in projects:
        assert "short answers" in fire(home, folder, "SessionStart", "s", source="startup")


def test_a_topic_of_one_project_bears_it_and_one_of_several_belongs_to_none(home: Path) -> None:
    with Memory(home) as mem:
        mem.log("user: I live in Porto.", topic="one", project="alpha")
        for project in ("alpha", "beta"):
            mem.log("user: I live in Faro.", topic="two", project=project)
        mem.log("user: I live in Braga.", topic="none", project="default")
        mem.upkeep()
        rows = {row["title"]: row["project"] for row in mem.list(kind="topic", limit=None)[0]}

    assert rows == {"one": "alpha", "two": "*", "none": None}
