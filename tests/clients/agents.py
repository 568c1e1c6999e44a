"""Four coding agents as they are installed from npm, each told to talk to the scripted endpoint and to nobody else.

Each runs in a HOME of its own with a clean environment, a key that opens nothing, telemetry and updates off.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.clients.endpoint import Call, Endpoint

OTOLITH = str(Path(sys.executable).with_name("otolith"))
PACKAGES = {"claude-code": "@anthropic-ai/claude-code", "codex": "@openai/codex", "gemini": "@google/gemini-cli",
            "opencode": "opencode-ai"}
QUIET = {
    "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1", "DO_NOT_TRACK": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "GEMINI_TELEMETRY_ENABLED": "false",
    "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_SHARE": "1"}


class Client(NamedTuple):
    """How one of them is called, and what its tools are called."""

    name: str
    program: str
    command: Callable[[str, str], list[str]]  # (prompt, session to resume or "")
    configure: Callable[[Place], None]
    tool: str  # of ours, with a place for its name
    shell: Callable[[str], Call]
    edit: Callable[[Path], list[Call]]  # what changes `x = 1` into `x = 2`
    hooks: bool = True
    transcripts: str = ""
    fork: Callable[[str, str], list[str]] | None = None  # (prompt, session to fork)
    notebook: Callable[[Path], list[Call]] | None = None  # changes the cell of a notebook
    compact: str = ""  # the prompt that compacts; else as many tokens as it takes are said to be used


class Place:
    """A HOME, a project in it, and the environment of a client there."""

    def __init__(self, root: Path, programs: Path, endpoint: Endpoint) -> None:
        self.root, self.project, self.endpoint = root, root / "project", endpoint
        self.project.mkdir(parents=True)
        node = str(Path(shutil.which("node") or "/usr/bin/node").parent)
        self.env = {"PATH": f"{programs}:{node}:/usr/local/bin:/usr/bin:/bin", "HOME": str(root), "LANG": "C.UTF-8",
                    "TERM": "dumb", "ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_BASE_URL": endpoint.url,
                    "GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": endpoint.url, "DUMMY_KEY": "dummy",
                    "HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9",
                    "NO_PROXY": "127.0.0.1,localhost", **QUIET}
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True, env=self.env)
        (self.project / "a.py").write_text("x = 1\n")

    def run(self, command: Sequence[str], seconds: float = 240, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=self.project, env={**self.env, **more}, text=True, capture_output=True,
                              timeout=seconds, stdin=subprocess.DEVNULL, check=False)

    def otolith(self, *words: str) -> Any:
        answer = self.run([OTOLITH, *words, "--json"])
        assert answer.returncode == 0, answer.stderr
        return json.loads(answer.stdout) if answer.stdout.strip() else None

    def files(self) -> dict[str, bytes]:
        """What stands in the settings, by name."""
        names = (".claude.json", ".claude/settings.json", ".codex/config.toml", ".codex/hooks.json",
                 ".gemini/settings.json", ".config/opencode/opencode.json")
        return {name: (self.root / name).read_bytes() for name in names if (self.root / name).is_file()}

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _no_settings(place: Place) -> None:
    del place


def _codex_settings(place: Place, model: str = "gpt-5.5") -> None:
    place.write(".codex/config.toml", f'''model = "{model}"
model_provider = "scripted"
model_auto_compact_token_limit = 200000
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "{place.endpoint.url}/v1"
wire_api = "responses"
env_key = "DUMMY_KEY"
''')


def _gemini_settings(place: Place) -> None:
    place.write(".gemini/settings.json", json.dumps({
        "security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False}}, indent=2))


def _opencode_settings(place: Place) -> None:
    place.write(".config/opencode/opencode.json", json.dumps({
        "autoupdate": False, "share": "disabled", "model": "scripted/m", "small_model": "scripted/m",
        "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "models": {"m": {"name": "m"}},
                                  "options": {"baseURL": f"{place.endpoint.url}/v1", "apiKey": "dummy"}}}}, indent=2))


def _claude(prompt: str, session: str) -> list[str]:
    ours = ",".join(f"mcp__otolith__{name}" for name in ("recall", "get", "brief", "note", "record"))
    return ["claude", "-p", "--output-format", "json", "--permission-mode", "acceptEdits", "--allowedTools",
            f"Bash,Edit,Write,Read,NotebookEdit,{ours}", *(["--resume", session] if session else []), "--", prompt]


def _claude_fork(prompt: str, session: str) -> list[str]:
    return [*_claude(prompt, session)[:-2], "--fork-session", "--", prompt]


def _codex(prompt: str, session: str, act: str = "resume") -> list[str]:
    return ["codex", "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
            "--dangerously-bypass-hook-trust", *([act, session] if session else []), prompt]


def _codex_fork(prompt: str, session: str) -> list[str]:
    return _codex(prompt, session, "fork")


def _gemini(prompt: str, session: str) -> list[str]:
    return ["gemini", "--yolo", "--skip-trust", "-m", "gemini-2.5-pro", "-o", "json",
            *(["--resume", session] if session else []), "-p", prompt]


def _opencode(prompt: str, session: str) -> list[str]:
    return ["opencode", "run", "--format", "json", *(["--session", session] if session else []), prompt]


def _opencode_fork(prompt: str, session: str) -> list[str]:
    return [*_opencode(prompt, session)[:-1], "--fork", prompt]


def _patch(path: Path) -> list[Call]:
    return [Call("apply_patch", f"*** Begin Patch\n*** Update File: {path.name}\n@@\n-x = 1\n+x = 2\n*** End Patch\n")]


def _notebook(path: Path) -> list[Call]:
    return [Call("Read", {"file_path": str(path)}),
            Call("NotebookEdit", {"notebook_path": str(path), "cell_id": "c1", "new_source": "x = 2"})]


CLIENTS = (
    Client("claude-code", "claude", _claude, _no_settings, "mcp__otolith__{}",
           lambda command: Call("Bash", {"command": command}),
           lambda path: [Call("Read", {"file_path": str(path)}),
                         Call("Edit", {"file_path": str(path), "old_string": "x = 1", "new_string": "x = 2"})],
           transcripts=".claude/projects", fork=_claude_fork, notebook=_notebook, compact="/compact"),
    Client("codex", "codex", _codex, _codex_settings, "mcp__otolith/{}",
           lambda command: Call("exec_command", {"cmd": command}), _patch, transcripts=".codex/sessions",
           fork=_codex_fork),
    Client("gemini", "gemini", _gemini, _gemini_settings, "mcp_otolith_{}",
           lambda command: Call("run_shell_command", {"command": command, "description": "run it"}),
           lambda path: [Call("replace", {"file_path": str(path), "old_string": "x = 1", "new_string": "x = 2",
                                          "instruction": "set x to 2"})],
           transcripts=".gemini/tmp"),
    Client("opencode", "opencode", _opencode, _opencode_settings, "otolith_{}",
           lambda command: Call("bash", {"command": command, "description": "run it"}),
           lambda path: [Call("read", {"filePath": str(path)}),
                         Call("edit", {"filePath": str(path), "oldString": "x = 1", "newString": "x = 2"})],
           hooks=False, transcripts=".local/share/opencode", fork=_opencode_fork),
)


def install_clients(folder: Path, names: Sequence[str]) -> Mapping[str, str]:
    """The versions of those that npm could install below the folder; the others are said aloud."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "package.json").exists():
        (folder / "package.json").write_text('{"private": true}\n')
    versions = {}
    for name in names:
        found = folder / "node_modules" / PACKAGES[name] / "package.json"
        if not found.exists():
            done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", PACKAGES[name]], cwd=folder,
                                  capture_output=True, text=True, check=False, env={**os.environ})
            if done.returncode or not found.exists():
                print(f"SKIPPED {name}: npm could not install {PACKAGES[name]}: {done.stderr.strip()[-300:]}")
                continue
        versions[name] = json.loads(found.read_text())["version"]
    return versions
