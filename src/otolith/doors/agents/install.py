"""`otolith install` and `uninstall`: the MCP entry and the hooks, written into the settings of coding agents.

`plan` and `plan_removal` only decide: they read the settings and return the edits, which `diff` shows and
`apply` writes. Everything else in a file stays byte for byte; installing twice changes nothing; uninstalling
gives the first bytes back unless somebody else changed them since. A file that cannot be read as what it
should be is refused, and nothing is touched, and neither is one that changed since the plan was made. Modes
are kept; a link stays a link, and one that leads out of the place it was asked for is refused.
"""

from __future__ import annotations

import difflib
import os
import shlex
import stat
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from otolith.doors.agents import jsonc, tomltext
from otolith.errors import CannotWrite, Conflict, Invalid, WrongUsage

NAME = "otolith"
MCP_ARGUMENTS = ("mcp", "--tools", "core")
# Events with their matcher, where they take one, and the time after which the agent goes on without us: in
# seconds, for Gemini CLI in milliseconds. Codex gives a session's end no more than three seconds.
Hooks = dict[str, tuple[str, int]]
HOOKS: Hooks = {
    "SessionStart": ("", 10),
    "UserPromptSubmit": ("", 5),
    "PreToolUse": ("Edit|Write|MultiEdit|NotebookEdit|Bash", 5),
    "PreCompact": ("", 30),
    "Stop": ("", 30),
    "SessionEnd": ("", 30),
}
CODEX_HOOKS: Hooks = {**HOOKS, "PreToolUse": ("apply_patch|Edit|Write|Bash", 5), "SessionEnd": ("", 3)}
GEMINI_HOOKS: Hooks = {
    "SessionStart": ("", 10_000), "BeforeAgent": ("", 5_000),
    "AfterTool": ("replace|write_file|run_shell_command", 5_000), "AfterAgent": ("", 30_000),
    "SessionEnd": ("", 30_000),  # no PreCompress: it waits for that before every request to its model
}
GUARD = " || true"  # Gemini CLI does nothing more where a hook's program is missing
OLD_MATCHERS = ("Edit|Write|MultiEdit", "apply_patch|Edit|Write")  # as earlier versions wrote them


class _Entry(NamedTuple):
    """Where an agent keeps its MCP servers, and the form in which it writes them."""

    file: str
    keys: tuple[str, ...]
    form: str  # plain, typed, claude, opencode or toml


class _Agent(NamedTuple):
    user: _Entry
    project: _Entry
    hooks_file: str = ""
    hooks: Hooks = HOOKS
    advice: str = ""
    guard: str = ""  # behind each hook's command


_SERVERS = ("mcpServers", NAME)
_VSCODE_USER = ("Library/Application Support/Code/User/mcp.json" if sys.platform == "darwin"
                else ".config/Code/User/mcp.json")
AGENTS: dict[str, _Agent] = {
    "claude-code": _Agent(_Entry(".claude.json", _SERVERS, "claude"),
                          _Entry(".mcp.json", _SERVERS, "claude"), ".claude/settings.json", HOOKS,
                          "start a new session; /mcp and /hooks show what was added"),
    "codex": _Agent(_Entry(".codex/config.toml", ("mcp_servers", NAME), "toml"),
                    _Entry(".codex/config.toml", ("mcp_servers", NAME), "toml"), ".codex/hooks.json",
                    CODEX_HOOKS,
                    "Codex runs new hooks only after you trusted them: start it and open /hooks"),
    "cursor": _Agent(_Entry(".cursor/mcp.json", _SERVERS, "plain"),
                     _Entry(".cursor/mcp.json", _SERVERS, "plain")),
    "vscode": _Agent(_Entry(_VSCODE_USER, ("servers", NAME), "typed"),
                     _Entry(".vscode/mcp.json", ("servers", NAME), "typed")),
    "gemini": _Agent(_Entry(".gemini/settings.json", _SERVERS, "plain"),
                     _Entry(".gemini/settings.json", _SERVERS, "plain"), ".gemini/settings.json",
                     GEMINI_HOOKS, "start a new session; /mcp and /hooks show what was added", GUARD),
    "opencode": _Agent(_Entry(".config/opencode/opencode.json", ("mcp", NAME), "opencode"),
                       _Entry("opencode.json", ("mcp", NAME), "opencode")),
}


def plan(agent: str, project_dir: Path | None, home_dir: Path,
         command: Sequence[str] = (NAME,)) -> list[Edit]:
    """The edits that install; for the user, or for one project if its folder is given."""
    chosen = _agent(agent)

    def add_hooks(text: str | None) -> str | None:
        return _add_hooks(text, command, chosen)

    return _plan(chosen, project_dir, home_dir, lambda text, entry: _add_entry(text, entry, command),
                 add_hooks)


def plan_removal(agent: str, project_dir: Path | None, home_dir: Path) -> list[Edit]:
    """The edits that uninstall."""
    chosen = _agent(agent)
    return _plan(chosen, project_dir, home_dir, _remove_entry, _remove_hooks, backwards=True)


def advice(agent: str) -> str:
    """What the person has to do next, or nothing."""
    return _agent(agent).advice


def _agent(name: str) -> _Agent:
    if name not in AGENTS:
        raise WrongUsage(f"unknown agent {name!r}", hint=f"use one of {', '.join(AGENTS)}")
    return AGENTS[name]


def _plan(agent: _Agent, project_dir: Path | None, home_dir: Path,
          change_entry: Callable[[str | None, _Entry], str | None],
          change_hooks: Callable[[str | None], str | None], backwards: bool = False) -> list[Edit]:
    root = home_dir if project_dir is None else project_dir
    entry = agent.user if project_dir is None else agent.project
    file = entry.file
    if entry.form == "opencode" and (root / f"{file}c").exists():
        file += "c"
    steps: list[tuple[str, Callable[[str | None], str | None]]] = [
        (file, lambda text: change_entry(text, entry))]
    if agent.hooks_file:
        steps.append((agent.hooks_file, change_hooks))

    def change(name: str, text: str | None) -> str | None:
        for _, act in [step for step in (reversed(steps) if backwards else steps) if step[0] == name]:
            text = act(text)
        return text

    edits = [_edit(root, name, partial(change, name), 0o600 if project_dir is None else 0o644)
             for name in dict(steps)]
    return [edit for edit in edits if edit.before != edit.after]


def _edit(root: Path, name: str, change: Callable[[str | None], str | None], mode: int) -> Edit:
    path = _follow(root, root / name)
    before = _read_file(path)
    try:
        text = None if before is None else before.decode("utf-8")
        after = change(text)
    except UnicodeDecodeError:
        raise Invalid(f"{path} is not UTF-8 text; nothing was changed") from None
    except Invalid as error:
        raise Invalid(f"{path} cannot be changed: {error.message}; nothing was changed",
                      hint=error.hint) from None
    return Edit(path=path, before=before, after=None if after is None else after.encode(), mode=mode)


def _add_entry(text: str | None, entry: _Entry, command: Sequence[str]) -> str | None:
    argv = [*command, *MCP_ARGUMENTS]
    if entry.form == "toml":
        return _add_table(text, entry, argv)
    keys = entry.keys
    root = jsonc.parse(text or "")
    shape: dict[str, Any] = {"command": argv[0], "args": argv[1:]}
    if entry.form == "claude":  # its tools are in the first request, and not behind a search
        shape = {"type": "stdio", **shape, "alwaysLoad": True}
    elif entry.form == "typed":
        shape = {"type": "stdio", **shape}
    elif entry.form == "opencode":
        shape = {"type": "local", "command": argv, "enabled": True}
        if _is_second_opencode(root):
            keys, shape = ("mcp", "servers", NAME), {"type": "local", "command": argv}
    present = jsonc.find(root, keys)
    if text is None or present is None:
        return jsonc.insert(text or "", keys, shape)
    if _starts(present.value, [*command, "mcp"]):
        return text
    if not is_ours(present.value):
        raise Invalid(f"it already has a server called {NAME} that is another program",
                      hint="rename that entry")
    for key in ("command", "args", "alwaysLoad"):
        if key in shape and present.child(key) is None:
            text = jsonc.insert(text, (*keys, key), shape[key])
        elif key in shape:
            text = jsonc.replace(text, (*keys, key), shape[key])
    return text


def _remove_entry(text: str | None, entry: _Entry) -> str | None:
    if text is None or not text.strip():
        return text
    if entry.form == "toml":
        table = tomltext.parse(text).get(entry.keys[0], {})
        ours = isinstance(table, dict) and is_ours(table.get(NAME))
        return tomltext.remove_table(text, ".".join(entry.keys)) if ours else text
    root = jsonc.parse(text)
    for keys in (entry.keys, ("mcp", "servers", NAME)):
        present = jsonc.find(root, keys)
        if present is not None and is_ours(present.value):
            return jsonc.remove(text, keys)
    return text


def _add_table(text: str | None, entry: _Entry, argv: list[str]) -> str:
    text = text or ""
    servers = tomltext.parse(text).get(entry.keys[0], {})
    present = servers.get(NAME) if isinstance(servers, dict) else None
    values = {"command": argv[0], "args": argv[1:]}
    name = ".".join(entry.keys)
    if present is None:
        return tomltext.append_table(text, name, values)
    if _starts(present, argv[: len(argv) - len(MCP_ARGUMENTS) + 1]):
        return text
    if not is_ours(present):
        raise Invalid(f"it already has a server called {NAME} that is another program",
                      hint="rename that table")
    return tomltext.set_values(text, name, values)


def _add_hooks(text: str | None, command: Sequence[str], agent: _Agent) -> str:
    text = _remove_hooks(text or "", but=agent.hooks) or ""
    for event, (matcher, limit) in agent.hooks.items():
        wanted = shlex.join([*command, "hook", event]) + agent.guard
        places = our_hooks(text, event)
        if not places:
            group: dict[str, Any] = {"matcher": matcher} if matcher else {}
            group["hooks"] = [{"type": "command", "command": wanted, "timeout": limit}]
            listed = jsonc.find(jsonc.parse(text), ("hooks", event)) is not None
            text = jsonc.insert(text, ("hooks", event), group if listed else [group])
        for place in places:
            text = _renewed(text, place, wanted, limit, matcher)
    return text


def _renewed(text: str, place: tuple[str | int, ...], command: str, limit: int, matcher: str) -> str:
    """The text with a hook of ours as it is written now; a shorter limit and a matcher by hand stay."""
    root = jsonc.parse(text)
    known, seconds, old = (jsonc.find(root, path) for path in (
        (*place, "command"), (*place, "timeout"), (*place[:-2], "matcher")))
    if known is not None and known.value != command:
        text = jsonc.replace(text, (*place, "command"), command)
    if seconds is not None and isinstance(seconds.value, int) and seconds.value > limit:
        text = jsonc.replace(text, (*place, "timeout"), limit)
    if old is not None and matcher and old.value in OLD_MATCHERS:
        text = jsonc.replace(text, (*place[:-2], "matcher"), matcher)
    return text


def _remove_hooks(text: str | None, but: Collection[str] = ()) -> str | None:
    """The text without our hooks, those of earlier versions too, save those of some events."""
    if text is None or not text.strip():
        return text
    listed = jsonc.find(jsonc.parse(text), ("hooks",))
    events = list(listed.value) if listed is not None and isinstance(listed.value, dict) else []
    # In the opposite order of putting in, so that what was first empty is last emptied.
    for event in [event for event in reversed(events) if event not in but]:
        while text is not None and text.strip() and (places := our_hooks(text, event)):
            place = places[-1]
            group = jsonc.find(jsonc.parse(text), place[:-2])
            alone = group is not None and len(group.value["hooks"]) == 1
            text = jsonc.remove(text, place[:-2] if alone else place)
    return text


def our_hooks(text: str, event: str) -> list[tuple[str | int, ...]]:
    """The paths of our handlers of an event."""
    groups = jsonc.find(jsonc.parse(text), ("hooks", event))
    if groups is None or not isinstance(groups.value, list):
        return []
    found: list[tuple[str | int, ...]] = []
    for at, group in enumerate(groups.value):
        handlers = group.get("hooks") if isinstance(group, dict) else None
        for number, handler in enumerate(handlers if isinstance(handlers, list) else ()):
            if isinstance(handler, dict) and _is_our_hook(handler.get("command"), event):
                found.append(("hooks", event, at, "hooks", number))
    return found


def _is_our_hook(command: object, event: str) -> bool:
    try:
        argv = shlex.split(command.removesuffix(GUARD)) if isinstance(command, str) else []
    except ValueError:
        return False
    return argv[-2:] == ["hook", event] and any(PurePath(part).name == NAME for part in argv[:-2])


def argv_of(entry: object) -> list[str]:
    """The words that an entry starts."""
    if not isinstance(entry, dict):
        return []
    command, arguments = entry.get("command"), entry.get("args", [])
    parts = [*(command if isinstance(command, list) else [command]),
             *(arguments if isinstance(arguments, list) else [])]
    return [part for part in parts if isinstance(part, str)]


def _starts(entry: object, argv: Sequence[str]) -> bool:
    return argv_of(entry)[: len(argv)] == list(argv)


def is_ours(entry: object) -> bool:
    """Whether an entry starts this program's server."""
    argv = argv_of(entry)
    return "mcp" in argv and any(PurePath(part).name == NAME for part in argv[: argv.index("mcp")])


def _is_second_opencode(root: jsonc.Node) -> bool:
    """Whether the servers stand under `mcp.servers`, as version 2 writes them, and not under `mcp` itself."""
    servers = jsonc.find(root, ("mcp", "servers"))
    return (servers is not None and isinstance(servers.value, dict)
            and not {"type", "command", "enabled"} & servers.value.keys())


# Files of other programs, changed safely: planned as values, shown as a diff, written whole or not at all


@dataclass(frozen=True, kw_only=True)
class Edit:
    """What one file holds and what it shall hold; None stands for no file.

    `mode` is for a file that is new.
    """

    path: Path
    before: bytes | None
    after: bytes | None
    mode: int = 0o600


def diff(edits: Iterable[Edit]) -> str:
    """What would change, as a unified diff."""
    parts: list[str] = []
    for edit in edits:
        old, new = ((side or b"").decode("utf-8", "replace").splitlines(keepends=True)
                    for side in (edit.before, edit.after))
        names = ("/dev/null" if edit.before is None else str(edit.path), "/dev/null" if edit.after is None
                 else str(edit.path))
        for line in difflib.unified_diff(old, new, *names):
            parts.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(parts)


def apply(edits: Sequence[Edit]) -> None:
    """Write the edits, each whole or not at all, and none if a file is no longer what the plan saw."""
    for edit in edits:
        if _read_file(edit.path) != edit.before:
            raise Conflict(f"{edit.path} changed in the meantime; nothing was written",
                           hint="run the command again")
    staged: list[tuple[str, Edit]] = []
    try:
        for edit in edits:
            if edit.after is not None:
                staged.append((_stage(edit), edit))
        while staged:
            temporary, edit = staged[0]
            os.replace(temporary, edit.path)
            staged.pop(0)
        for edit in edits:
            if edit.after is None:
                edit.path.unlink(missing_ok=True)
    except OSError as error:
        raise CannotWrite(
            f"{error.filename or 'the settings'} cannot be written: {error.strerror}") from error
    finally:
        for temporary, _ in staged:
            Path(temporary).unlink(missing_ok=True)


def _follow(root: Path, path: Path) -> Path:
    """The file itself, so that a link to it stays a link; one that leads out of the root is refused."""
    try:
        real, top = path.resolve(), root.resolve()
    except (OSError, RuntimeError) as error:
        raise Invalid(f"{path} cannot be followed: {error}") from None
    if not real.is_relative_to(top):
        raise Invalid(f"{path} is a link to {real}, outside {root}; nothing was changed",
                      hint="edit that file by hand")
    return real


def _read_file(path: Path) -> bytes | None:
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise Invalid(f"{path} is not a file; nothing was changed")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}; nothing was changed") from None


def _stage(edit: Edit) -> str:
    """A synced file beside the one to replace, with the same mode."""
    edit.path.parent.mkdir(parents=True, exist_ok=True)
    mode = edit.mode if edit.before is None else stat.S_IMODE(edit.path.stat().st_mode)
    descriptor, temporary = tempfile.mkstemp(prefix=".otolith-", dir=edit.path.parent)
    with os.fdopen(descriptor, "wb") as out:
        out.write(edit.after or b"")
        out.flush()
        os.fchmod(out.fileno(), mode)
        os.fsync(out.fileno())
    return temporary
