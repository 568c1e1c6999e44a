"""`otolith doctor`: whether a coding agent reaches this memory, looked at from the agent's side.

The server is started as the agent would start it, in an environment without the shell's own settings, and
asked for its tools; the hooks are looked up in the agent's settings. Nothing is written. What is wrong says
what to do; what merely has not happened yet is told and is not wrong.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from otolith import __version__, config
from otolith.doors.agents import install, jsonc, tomltext
from otolith.errors import OtolithError
from otolith.files.disk import open_tree
from otolith.model.times import zulu

SECONDS = 10.0  # that a server is given to name its tools
_HELLO = {"protocolVersion": "2025-11-25", "capabilities": {},
          "clientInfo": {"name": "doctor", "version": "1"}}
_LINES = b"".join(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n" for line in (
    {"id": 0, "method": "initialize", "params": _HELLO}, {"method": "notifications/initialized"},
    {"id": 1, "method": "tools/list"}))
_KEPT = ("HOME", "PATH", "LANG", "USER", "LOGNAME", "TMPDIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME",
         "XDG_CACHE_HOME", "XDG_RUNTIME_DIR")


class Look(NamedTuple):
    """One thing looked at."""

    what: str
    good: bool
    says: str
    remedy: str = ""


def installed(home_dir: Path, project_dir: Path) -> list[str]:
    """The agents that have an entry of ours, for the user or in this project."""
    return [name for name in install.AGENTS if _entry(name, home_dir, project_dir)]


def examine(name: str, home_dir: Path, project_dir: Path) -> list[Look]:
    """Everything that has to be right for an agent, in the order in which it matters."""
    found = _entry(name, home_dir, project_dir)
    again = f"run: otolith install {name}"
    if found is None:
        return [Look("settings", False, f"{name} has no entry of Otolith", again)]
    file, argv = found
    looks = [Look("settings", True, f"{file} starts {shlex.join(argv)}")]
    program = Path(argv[0])
    if not program.is_absolute() or not os.access(program, os.X_OK):
        return [*looks, Look("program", False, f"{program} cannot be started from everywhere", again)]
    looks += _server(argv, again)
    looks += _hooks(name, home_dir, project_dir, argv, again)
    looks += _home(argv)
    return looks


def _entry(name: str, home_dir: Path, project_dir: Path) -> tuple[Path, list[str]] | None:
    """(the file with the entry, the words that start the server)."""
    agent = install.AGENTS[name]
    for root, entry in ((project_dir, agent.project), (home_dir, agent.user)):
        for file in (root / entry.file, root / f"{entry.file}c"):
            value: Any = _read(file)
            for key in entry.keys:
                value = value.get(key) if isinstance(value, Mapping) else None
            if install.is_ours(value):
                return file, install.argv_of(value)
    return None


def _read(file: Path) -> Any:
    try:
        text = file.read_text(encoding="utf-8")
        return tomltext.parse(text) if file.suffix == ".toml" else jsonc.parse(text).value
    except (OSError, UnicodeDecodeError, OtolithError):
        return None


def _server(argv: Sequence[str], again: str) -> Iterator[Look]:
    env = {name: value for name in _KEPT if (value := config.variable(name))}
    try:
        done = subprocess.run(argv, input=_LINES, capture_output=True, timeout=SECONDS, env=env, check=False)
        answers = {answer.get("id"): answer.get("result", {})
                   for answer in map(json.loads, done.stdout.splitlines())}
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        yield Look("server", False, f"it does not answer: {type(error).__name__}", again)
        return
    version = answers.get(0, {}).get("serverInfo", {}).get("version")
    if version is None:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        yield Look("server", False, f"it does not answer: {''.join(last)[:200]}", again)
        return
    yield Look("version", version == __version__, f"the server is {version}, this is {__version__}",
               "" if version == __version__ else again)
    tools = [tool["name"] for tool in answers.get(1, {}).get("tools", ())]
    yield Look("tools", bool(tools), f"{len(tools)} tools: {', '.join(tools)}", "" if tools else again)


def _hooks(name: str, home_dir: Path, project_dir: Path, argv: Sequence[str], again: str) -> Iterator[Look]:
    agent = install.AGENTS[name]
    if not agent.hooks_file:
        yield Look("hooks", True, f"{name} has none for us; its agent has to call brief and recall itself")
        return
    texts = [file.read_text(encoding="utf-8") for root in (project_dir, home_dir)
             if (file := root / agent.hooks_file).is_file() and _read(file) is not None]
    missing = [event for event in agent.hooks if not any(install.our_hooks(text, event) for text in texts)]
    if missing:
        yield Look("hooks", False, f"no hook for {', '.join(missing)}", again)
    elif not any(shlex.quote(argv[0]) in text or argv[0] in text for text in texts):
        yield Look("hooks", False, "they start another program than the server", again)
    else:
        yield Look("hooks", True, f"{len(agent.hooks)} hooks: {', '.join(agent.hooks)}")


def _home(argv: Sequence[str]) -> Iterator[Look]:
    from otolith.verbs.rounds import last_round

    named = argv[argv.index("--home") + 1] if "--home" in argv[:-1] else str(config.data_folder())
    tree = open_tree(named)
    if tree.identity() == "none":
        yield Look("home", True, f"{tree.name} is not there yet; the first thing kept makes it")
        return
    writable = os.access(named, os.W_OK)
    yield Look("home", writable, tree.name if writable else f"{tree.name} cannot be written to",
               "" if writable else f"look at its owner and mode: ls -ld {shlex.quote(named)}")
    times = [file.stat().st_mtime for file in Path(named, "log/hooks").glob("*.json")]
    yield Look("last capture", True, zulu(max(times)) if times else "no session was kept yet")
    last = last_round(tree)
    yield Look("last upkeep", True,
               str(last["t"]) if last else "not yet; it runs by itself, or: otolith upkeep")
    try:
        failures = Path(named, "log/hooks.jsonl").read_bytes().splitlines()[-1:]
    except OSError:
        failures = []
    for line in failures:
        yield Look("last failure of a hook", True, line.decode(errors="replace")[:300])
