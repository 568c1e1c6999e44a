"""Installing writes the entry and the hooks and nothing else; uninstalling gives the first bytes back."""

from __future__ import annotations

import json
import os
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otolith.doors.agents import jsonc
from otolith.doors.agents.install import AGENTS, HOOKS, advice, apply, diff, plan, plan_removal
from otolith.errors import Conflict, Invalid, WrongUsage

COMMAND = ("otolith",)
STDIO = {"command": "otolith", "args": ["mcp", "--tools", "core"]}

CLAUDE_JSON = """{
  "numStartups": 42,
  "mcpServers": {},
  "projects": {
    "/home/me/app": { "mcpServers": {}, "history": ["a { b", "c // d"] }
  }
}"""
SETTINGS = """{
\t// what the formatter may do
\t"permissions": {"allow": ["Bash(ls:*)"]},
\t"hooks": {
\t\t"PreToolUse": [
\t\t\t{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "guard.sh" }] } // keep
\t\t],
\t\t"Stop": []
\t},
}
"""
CODEX_TOML = """# Codex, by hand
model = "gpt-5.2-codex"   # the good one
notes = \"\"\"
[mcp_servers.otolith]
not a table
\"\"\"

[mcp_servers.docs]
command = "npx"
args = [
  "-y", # always
  "docs-mcp",
]

# about the screen
[tui]
theme = 'dark'
"""
VSCODE_MCP = """{
    // servers of this workspace
    "servers": {
        "github": {
            "type": "http",
            "url": "https://api.example.com/mcp", // remote
        },
    },
    "inputs": []
}
"""
GEMINI = '{"theme": "Dracula", "mcpServers": {"fs": {"command": "npx", "args": ["-y", "fs"]}}}'
OPENCODE = """{
  "$schema": "https://opencode.ai/config.json",
  /* my
     servers */
  "mcp": {
    // none yet
  }
}
"""
FILES = [
    ("claude-code", ".claude.json", CLAUDE_JSON),
    ("claude-code", ".claude/settings.json", SETTINGS),
    ("codex", ".codex/config.toml", CODEX_TOML),
    ("codex", ".codex/hooks.json", '{ "hooks": {} }\n'),
    ("cursor", ".cursor/mcp.json", '{\r\n  "mcpServers": {\r\n    "a": {\r\n      "command": "a"\r\n    }\r\n  }\r\n}\r\n'),
    ("gemini", ".gemini/settings.json", GEMINI),
    ("opencode", ".config/opencode/opencode.jsonc", OPENCODE),
]


def put(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def install(agent: str, home: Path, project: Path | None = None, command: tuple[str, ...] = COMMAND) -> None:
    apply(plan(agent, project, home, command))


def uninstall(agent: str, home: Path, project: Path | None = None) -> None:
    apply(plan_removal(agent, project, home))


def tree(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("agent", "file", "keys", "entry"),
    [
        ("claude-code", ".claude.json", ("mcpServers", "otolith"), {"type": "stdio", **STDIO, "alwaysLoad": True}),
        ("codex", ".codex/config.toml", ("mcp_servers", "otolith"), STDIO),
        ("cursor", ".cursor/mcp.json", ("mcpServers", "otolith"), STDIO),
        ("vscode", ".config/Code/User/mcp.json", ("servers", "otolith"), {"type": "stdio", **STDIO}),
        ("gemini", ".gemini/settings.json", ("mcpServers", "otolith"), STDIO),
        ("opencode", ".config/opencode/opencode.json", ("mcp", "otolith"),
         {"type": "local", "command": ["otolith", "mcp", "--tools", "core"], "enabled": True}),
    ],
)  # fmt: skip
def test_each_agent_gets_its_entry_in_its_own_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str, file: str, keys: tuple[str, ...], entry: dict[str, Any]
) -> None:
    if agent == "vscode":
        monkeypatch.setitem(AGENTS, agent, AGENTS[agent]._replace(user=AGENTS[agent].user._replace(file=file)))

    install(agent, tmp_path)

    text = (tmp_path / file).read_text()
    value = tomllib.loads(text) if file.endswith(".toml") else json.loads(text)
    value.pop("hooks", None)  # which Gemini CLI has in the same file
    assert value == {keys[0]: {keys[1]: entry}}


@pytest.mark.parametrize(
    ("agent", "file"),
    [("claude-code", ".mcp.json"), ("codex", ".codex/config.toml"), ("cursor", ".cursor/mcp.json"),
     ("vscode", ".vscode/mcp.json"), ("gemini", ".gemini/settings.json"), ("opencode", "opencode.json")],
)  # fmt: skip
def test_with_a_project_only_the_project_is_written(tmp_path: Path, agent: str, file: str) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()

    install(agent, home, project)

    assert file in tree(project)
    assert tree(home) == {}


@pytest.mark.parametrize(("agent", "count", "at", "matcher", "ending"), [
    ("claude-code", 6, "PreToolUse", "Edit|Write|MultiEdit|NotebookEdit|Bash", 30),
    ("codex", 6, "PreToolUse", "apply_patch|Edit|Write|Bash", 3),  # it warns of more at every start
    ("gemini", 5, "AfterTool", "replace|write_file|run_shell_command", 30_000),  # its limits are milliseconds
])
def test_the_hooks_are_written_and_only_what_may_edit_is_matched(
    tmp_path: Path, agent: str, count: int, at: str, matcher: str, ending: int
) -> None:
    from otolith.doors.agents.hooks import EVENTS

    install(agent, tmp_path)

    hooks = json.loads((tmp_path / AGENTS[agent].hooks_file).read_text())["hooks"]
    assert len(hooks) == count
    assert list(hooks) == list(AGENTS[agent].hooks)
    for event, groups in hooks.items():
        assert event in EVENTS
        guard = " || true" if agent == "gemini" else ""  # which does nothing more if the program is missing
        assert [group["hooks"][0]["command"] for group in groups] == [f"otolith hook {event}{guard}"]
        assert groups[0].get("matcher") == (matcher if event == at else None)
    assert hooks["SessionEnd"][0]["hooks"][0]["timeout"] == ending


def test_installing_again_renews_what_an_earlier_version_wrote_and_leaves_what_a_person_changed(tmp_path: Path) -> None:
    install("codex", tmp_path)
    file = tmp_path / ".codex/hooks.json"
    now = json.loads(file.read_text())
    old = json.loads(file.read_text())
    old["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] = 30
    old["hooks"]["PreToolUse"][0]["matcher"] = "apply_patch|Edit|Write"
    old["hooks"]["Stop"][0]["hooks"][0]["timeout"] = now["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 9
    file.write_text(json.dumps(old))

    install("codex", tmp_path)

    assert json.loads(file.read_text()) == now


def test_a_hook_that_an_earlier_version_wrote_and_this_one_does_not_is_taken_out(tmp_path: Path) -> None:
    install("gemini", tmp_path)
    file = tmp_path / ".gemini/settings.json"
    now = json.loads(file.read_text())
    old = json.loads(file.read_text())
    old["hooks"]["PreCompress"] = [{"hooks": [{"type": "command", "command": "otolith hook PreCompress", "timeout": 30_000}]},
                                   {"hooks": [{"type": "command", "command": "say it"}]}]
    file.write_text(json.dumps(old))

    install("gemini", tmp_path)

    theirs = {"PreCompress": [{"hooks": [{"type": "command", "command": "say it"}]}]}
    assert json.loads(file.read_text()) == {**now, "hooks": {**now["hooks"], **theirs}}


@pytest.mark.parametrize(("agent", "file", "text"), FILES, ids=[file for _, file, _ in FILES])
def test_installing_only_adds_and_moves_no_comment(tmp_path: Path, agent: str, file: str, text: str) -> None:
    path = put(tmp_path, file, text)

    install(agent, tmp_path)

    new = path.read_bytes().decode()
    assert "otolith" in new
    signs = iter(new)
    assert all(sign in signs for sign in text)  # only ever added to
    for comment in ("// keep", "// what the formatter may do", "# always", "# about the screen", "servers */", "// none yet"):
        assert (comment in text) == (comment in new)


@pytest.mark.parametrize(("agent", "file", "text"), FILES, ids=[file for _, file, _ in FILES])
def test_uninstalling_gives_the_first_bytes_back(tmp_path: Path, agent: str, file: str, text: str) -> None:
    put(tmp_path, file, text)
    before = tree(tmp_path)

    install(agent, tmp_path)
    assert tree(tmp_path) != before
    uninstall(agent, tmp_path)

    assert tree(tmp_path) == before


@pytest.mark.parametrize("agent", AGENTS)
def test_installing_twice_changes_nothing_and_a_made_file_goes_again(tmp_path: Path, agent: str) -> None:
    install(agent, tmp_path)
    assert plan(agent, None, tmp_path, COMMAND) == []

    uninstall(agent, tmp_path)

    assert tree(tmp_path) == {}
    assert plan_removal(agent, None, tmp_path) == []


def test_trailing_commas_and_comments_of_a_workspace_file_survive(tmp_path: Path) -> None:
    path = put(tmp_path, ".vscode/mcp.json", VSCODE_MCP)

    install("vscode", tmp_path, tmp_path)

    assert path.read_text() == VSCODE_MCP.replace(
        "        },\n    },\n",
        '        },\n        "otolith": {\n            "type": "stdio",\n            "command": "otolith",\n'
        '            "args": ["mcp", "--tools", "core"]\n        },\n    },\n',
    )
    uninstall("vscode", tmp_path, tmp_path)
    assert path.read_text() == VSCODE_MCP


def test_what_others_wrote_after_us_survives_uninstalling(tmp_path: Path) -> None:
    path = put(tmp_path, ".cursor/mcp.json", '{\n  "mcpServers": {\n    "a": {"command": "a"}\n  }\n}\n')
    install("cursor", tmp_path)
    path.write_text(path.read_text().replace('"core"]\n    }', '"core"]\n    },\n    "b": {"command": "b"} // later'))

    uninstall("cursor", tmp_path)

    assert path.read_text() == (
        '{\n  "mcpServers": {\n    "a": {"command": "a"},\n    "b": {"command": "b"} // later\n  }\n}\n'
    )


def test_a_hook_that_shares_our_group_stays(tmp_path: Path) -> None:
    install("claude-code", tmp_path)
    path = tmp_path / ".claude/settings.json"
    settings_now = json.loads(path.read_text())
    settings_now["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "say done"})
    path.write_text(json.dumps(settings_now, indent=2))

    uninstall("claude-code", tmp_path)

    assert json.loads(path.read_text()) == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}


def test_another_place_of_the_program_replaces_the_command_and_keeps_the_rest(tmp_path: Path) -> None:
    install("claude-code", tmp_path)
    install("codex", tmp_path)
    servers = tmp_path / ".claude.json"
    servers.write_text(servers.read_text().replace('"stdio",', '"stdio",\n      "env": {"OTOLITH_HOME": "/m"},'))
    table = tmp_path / ".codex/config.toml"
    table.write_text(table.read_text() + "startup_timeout_sec = 20\n")
    moved = ("/opt/otolith tools/otolith",)

    install("claude-code", tmp_path, command=moved)
    install("codex", tmp_path, command=moved)

    entry = json.loads(servers.read_text())["mcpServers"]["otolith"]
    assert (entry["command"], entry["env"]) == (moved[0], {"OTOLITH_HOME": "/m"})
    hooks = json.loads((tmp_path / ".claude/settings.json").read_text())["hooks"]
    assert [group["hooks"][0]["command"] for group in hooks["Stop"]] == ["'/opt/otolith tools/otolith' hook Stop"]
    codex = tomllib.loads(table.read_text())["mcp_servers"]["otolith"]
    assert (codex["command"], codex["startup_timeout_sec"]) == (moved[0], 20)
    uninstall("claude-code", tmp_path)
    uninstall("codex", tmp_path)
    assert tree(tmp_path) == {}


def test_arguments_changed_by_hand_are_left_alone(tmp_path: Path) -> None:
    install("gemini", tmp_path)
    path = tmp_path / ".gemini/settings.json"
    path.write_text(path.read_text().replace('"core"', '"all"'))

    assert plan("gemini", None, tmp_path, COMMAND) == []


def test_the_second_shape_of_opencode_is_respected(tmp_path: Path) -> None:
    text = '{\n  "mcp": {\n    "servers": {\n      "a": {"type": "local", "command": ["a"]}\n    }\n  }\n}\n'
    path = put(tmp_path, "opencode.json", text)

    install("opencode", tmp_path, tmp_path)

    assert json.loads(path.read_text())["mcp"]["servers"]["otolith"] == {
        "type": "local",
        "command": ["otolith", "mcp", "--tools", "core"],
    }
    uninstall("opencode", tmp_path, tmp_path)
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("agent", "file", "text"),
    [
        ("cursor", ".cursor/mcp.json", '{"mcpServers": {'),
        ("cursor", ".cursor/mcp.json", '{"mcpServers": []}'),
        ("cursor", ".cursor/mcp.json", '{"mcpServers": {}, "mcpServers": {}}'),
        ("cursor", ".cursor/mcp.json", "[1]"),
        ("cursor", ".cursor/mcp.json", '{"mcpServers": {"otolith": {"url": "https://other.example"}}}'),
        ("cursor", ".cursor/mcp.json", "{" * 5000),
        ("claude-code", ".claude/settings.json", '{"hooks": {"Stop": "later"}}'),
        ("claude-code", ".claude/settings.json", '{"a": "\\x"}'),
        ("codex", ".codex/config.toml", "model = \n"),
        ("codex", ".codex/config.toml", 'mcp_servers = { docs = { command = "x" } }\n'),
        ("codex", ".codex/config.toml", '[mcp_servers.otolith]\nurl = "https://other.example"\n'),
    ],
)
def test_settings_that_cannot_be_understood_are_refused_and_untouched(tmp_path: Path, agent: str, file: str, text: str) -> None:
    put(tmp_path, file, text)
    before = tree(tmp_path)

    with pytest.raises(Invalid, match="nothing was changed") as refused:
        install(agent, tmp_path)

    assert "\n" not in str(refused.value)
    assert file in str(refused.value)
    assert tree(tmp_path) == before


def test_settings_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor/mcp.json").write_bytes(b'{"a": "\xff"}')

    with pytest.raises(Invalid, match="UTF-8"):
        plan("cursor", None, tmp_path, COMMAND)


def test_the_mode_of_a_file_stays_and_a_new_one_is_private(tmp_path: Path) -> None:
    path = put(tmp_path, ".claude/settings.json", "{}\n")
    path.chmod(0o640)

    install("claude-code", tmp_path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / ".claude.json").stat().st_mode) == 0o600
    assert sorted(os.listdir(tmp_path / ".claude")) == ["settings.json"]


def test_a_link_into_the_dotfiles_stays_a_link_and_one_out_of_the_project_is_refused(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    real = put(home, "dotfiles/cursor.json", "{}\n")
    (home / ".cursor").mkdir()
    (home / ".cursor/mcp.json").symlink_to(real)
    project.mkdir()
    (project / ".mcp.json").symlink_to(real)

    install("cursor", home)

    assert (home / ".cursor/mcp.json").is_symlink()
    assert "otolith" in real.read_text()
    with pytest.raises(Invalid, match="outside"):
        plan("claude-code", project, home, COMMAND)


def test_a_file_that_changed_after_the_plan_is_not_overwritten(tmp_path: Path) -> None:
    path = put(tmp_path, ".cursor/mcp.json", "{}\n")
    edits = plan("cursor", None, tmp_path, COMMAND)
    path.write_text('{"new": 1}\n')

    with pytest.raises(Conflict):
        apply(edits)

    assert path.read_text() == '{"new": 1}\n'


def test_the_diff_shows_only_what_is_added(tmp_path: Path) -> None:
    put(tmp_path, ".codex/config.toml", CODEX_TOML)
    put(tmp_path, ".codex/hooks.json", "{}")

    shown = diff(plan("codex", None, tmp_path, COMMAND)[:1])

    changed = [line for line in shown.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert changed == ["+", "+[mcp_servers.otolith]", '+command = "otolith"', '+args = ["mcp", "--tools", "core"]']


def test_an_unknown_agent_is_named_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="claude-code, codex"):
        plan("emacs", None, tmp_path, COMMAND)
    assert "trust" in advice("codex")


def test_a_toml_file_without_a_last_line_ending_gets_its_bytes_back(tmp_path: Path) -> None:
    for text in ("x = 1", "x = 1\n", "x = 1\n\n", "\n", "# only a comment", "x = 1\r\n", "[a]\nb = [\n1,\n]"):
        path = put(tmp_path, ".codex/config.toml", text)

        install("codex", tmp_path)
        uninstall("codex", tmp_path)

        assert path.read_bytes() == text.encode()


# Any text whatever

NAMES = st.sampled_from(["mcpServers", "hooks", "a", "ü", "otolith2", 'q"uote'])
GAPS = st.sampled_from(["", " ", "\n", "\n  ", "\n\t", " // note\n", "/* b } */", "\r\n  ", "\n\n"])
VALUES = st.recursive(
    st.sampled_from([1, -2.5e3, True, None, "", "x { ] // y", '\\ " \n']),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(NAMES, below, max_size=3),
    max_leaves=8,
)


@st.composite
def jsonc_texts(draw: st.DrawFn) -> str:
    """A settings object in any layout: odd white space, comments, trailing commas."""

    def write(value: Any) -> str:
        if not isinstance(value, dict | list):
            return json.dumps(value)
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        parts = []
        items = value.items() if isinstance(value, dict) else ((None, one) for one in value)
        for key, below in items:
            name = f"{json.dumps(key)}{draw(GAPS)}:{draw(GAPS)}" if key is not None else ""
            parts.append(f"{draw(GAPS)}{name}{write(below)}{draw(GAPS)}")
        tail = draw(st.sampled_from(["", ","])) + draw(GAPS) if parts else draw(GAPS)
        return opening + ",".join(parts) + tail + closing

    whole = draw(st.dictionaries(NAMES, VALUES, max_size=4))
    for name in ("mcpServers", "hooks"):
        if name in whole and not isinstance(whole[name], dict):
            whole[name] = draw(st.sampled_from([{}, {"other": {"command": "x"}}]))
    if isinstance(whole.get("hooks"), dict):
        whole["hooks"] = draw(st.sampled_from([{}, {"Stop": []}, {"Stop": [{"hooks": [{"command": "x"}]}], "Other": 1}]))
    return draw(GAPS) + write(whole) + draw(GAPS)


@settings(max_examples=50, deadline=None)
@given(text=jsonc_texts())
def test_any_settings_text_survives_installing_and_uninstalling(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    home = tmp_path_factory.mktemp("home")
    before = jsonc.parse(text).value
    for name in (".claude.json", ".claude/settings.json"):
        put(home, name, text)

    install("claude-code", home)

    entry, hooks = (
        jsonc.parse((home / name).read_bytes().decode()).value for name in (".claude.json", ".claude/settings.json")
    )
    assert entry["mcpServers"].pop("otolith") == {"type": "stdio", **STDIO, "alwaysLoad": True}
    assert entry == {"mcpServers": {}, **before} if "mcpServers" in entry else before
    for event in HOOKS:
        assert hooks["hooks"][event].pop()["hooks"][0]["command"] == f"otolith hook {event}"
        if event not in before.get("hooks", {}):
            assert hooks["hooks"].pop(event) == []
    assert hooks == {"hooks": {}, **before}
    uninstall("claude-code", home)
    assert {(home / name).read_bytes() for name in (".claude.json", ".claude/settings.json")} == {text.encode()}


def test_the_home_of_the_shell_is_handed_on(run: Any, tmp_path: Path) -> None:
    run("install", "cursor", env={"OTOLITH_HOME": str(tmp_path / "mine")})

    entry = json.loads((tmp_path / ".cursor" / "mcp.json").read_text())["mcpServers"]["otolith"]
    assert entry["args"][:2] == ["--home", str(tmp_path / "mine")]


def test_an_agent_starts_this_very_program_by_its_path_whatever_is_activated(run: Any, tmp_path: Path) -> None:
    run("install", "cursor", env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"})

    entry = json.loads((tmp_path / ".cursor" / "mcp.json").read_text())["mcpServers"]["otolith"]
    assert Path(entry["command"]).is_absolute()
    assert Path(entry["command"]).parent == Path(sys.executable).parent
