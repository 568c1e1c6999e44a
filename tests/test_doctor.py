"""`otolith doctor` looks from the agent's side, says what to do, and ends with a code of its own where something is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini", "opencode"])
def test_what_was_installed_is_found_to_work(run: Any, agent: str) -> None:
    run("install", agent)

    told = run("doctor", agent, "--json")

    looks = {look["what"]: look for look in json.loads(told.out)["agents"][agent]}
    assert told.code == 0, told.out
    assert json.loads(told.out)["good"]
    assert looks["tools"]["says"].startswith("8 tools: remember")
    assert {"settings", "version", "hooks", "home"} <= looks.keys()


def test_without_a_name_every_agent_with_an_entry_is_looked_at(run: Any) -> None:
    none = run("doctor")
    run("install", "cursor")
    run("install", "codex")

    told = run("doctor", "--json")

    assert (none.code, none.err.count("otolith install")) == (3, 1)
    assert list(json.loads(told.out)["agents"]) == ["codex", "cursor"]


def test_what_is_wrong_says_what_to_do(run: Any, tmp_path: Path) -> None:
    run("install", "claude-code")
    (tmp_path / ".claude/settings.json").write_text("{}")
    hooks = run("doctor", "claude-code")
    entry = tmp_path / ".claude.json"
    entry.write_text(entry.read_text().replace('/otolith"', '/no-otolith/otolith"'))
    program = run("doctor", "claude-code")
    entry.write_text("{}")
    nothing = run("doctor", "claude-code")

    for told, what in ((hooks, "hooks"), (program, "program"), (nothing, "settings")):
        assert told.code == 6
        wrong = [line for line in told.out.splitlines() if "WRONG" in line]
        assert [line.split(": ")[2] for line in wrong] == [what]
        assert "otolith install claude-code" in wrong[0]


def test_a_server_that_does_not_answer_is_named_with_its_last_words(run: Any, tmp_path: Path) -> None:
    run("install", "cursor")
    entry = tmp_path / ".cursor/mcp.json"
    entry.write_text(entry.read_text().replace('"core"', '"no such set"'))

    told = run("doctor", "cursor")

    assert told.code == 6
    assert "WRONG: server: it does not answer: otolith: " in told.out
