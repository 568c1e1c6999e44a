"""Commands for agents and for moving house: mcp, hook, install, uninstall, import, export."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otolith.doors.cli.desk import Command, Desk
from otolith.errors import Usage

if TYPE_CHECKING:
    from otolith.doors.exchange.importing import Import

PORT = 7517
EXTRA = "in Otolith's folder run: pip install '.[mcp]'"


def _mcp_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tools", default="all", metavar="all|core", help="which tools to offer (default: all)")
    parser.add_argument("--http", action="store_true", help="streamable HTTP on 127.0.0.1 instead of stdin and stdout")
    parser.add_argument("--port", type=int, default=PORT, help=f"with --http (default: {PORT}; 0 takes a free one)")


def _mcp(desk: Desk) -> None:
    args = desk.args
    try:
        from otolith.doors.mcp import server as mcp
    except ModuleNotFoundError as error:
        raise Usage(f"the MCP server needs the package {error.name}", EXTRA) from None
    if args.http:
        if not 0 <= args.port <= 65_535:
            raise Usage(f"there is no port {args.port}")
        mcp.serve_http(args.home, args.tools, port=args.port, tell=desk.tell)
    else:
        mcp.serve_stdio(args.home, args.tools)


def _hook_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("event", nargs="?", default="",
                        help="SessionStart, UserPromptSubmit, PreToolUse, PreCompact, Stop or SessionEnd")


def _hook(desk: Desk) -> int:
    """A failing memory is no reason to stop the agent, so `main` makes every exit code 0."""
    from otolith.doors.agents import hooks

    try:
        event = sys.stdin.buffer.read(hooks.MAX_INPUT)
    except (AttributeError, OSError):  # closed, or open for writing only
        raise Usage("there is no event to answer: stdin cannot be read", "give the agent's JSON on stdin") from None
    said = hooks.run(desk.args.event, event, desk.args.home)
    if said:
        print(said)
    return 0


def _install_arguments(parser: argparse.ArgumentParser) -> None:
    from otolith.doors.agents.install import AGENTS

    parser.add_argument("agent_name", metavar="AGENT", help=" | ".join(AGENTS))
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")
    parser.add_argument("--project", action="store_true", help="for the project in this folder, not for the user")


def _install(desk: Desk) -> None:
    from importlib.util import find_spec

    from otolith import config
    from otolith.doors.agents import install
    from otolith.files.disk import open_tree

    if missing := next((name for name in ("mcp", "uvicorn") if find_spec(name) is None), ""):
        raise Usage(f"the MCP server needs the package {missing}; nothing was written", EXTRA)
    home = open_tree(config.home_name(desk.args.home)).name  # an agent does not share this shell's OTOLITH_HOME
    command = _own_command() + (["--home", home] if desk.args.home or home != str(config.data_folder()) else [])
    edits = install.plan(desk.args.agent_name, _project_folder(desk), Path.home(), command)
    _carry_out(desk, edits, "installed", install.advice(desk.args.agent_name))


def _uninstall(desk: Desk) -> None:
    from otolith.doors.agents import install

    _carry_out(desk, install.plan_removal(desk.args.agent_name, _project_folder(desk), Path.home()), "uninstalled", "")


def _project_folder(desk: Desk) -> Path | None:
    return Path.cwd() if desk.args.project else None


def _own_command() -> list[str]:
    """How an agent starts this very Otolith: by its name if the shell finds it, else by its path."""
    from shutil import which

    found = which("otolith")
    own = Path(sys.executable).with_name("otolith")
    if found and (not own.exists() or Path(found).resolve() == own.resolve()):
        return ["otolith"]
    return [str(own)] if own.exists() else ["otolith"]


def _carry_out(desk: Desk, edits: Any, done: str, advice: str) -> None:
    from otolith.doors.agents import install

    shown = install.diff(edits)
    if not desk.args.dry_run:
        install.apply(edits)
    files = [str(edit.path) for edit in edits]
    told = shown or "nothing to change\n"
    if edits and desk.args.dry_run:
        told += "nothing was written (--dry-run)\n"
    elif edits:
        told += f"{done}: {', '.join(files)}\n" + (f"{advice}\n" if advice else "")
    value = {"agent": desk.args.agent_name, "files": files, "diff": shown, "written": bool(edits) and not desk.args.dry_run}
    desk.answer(value, told.rstrip("\n"))


def _import_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", help="a file, a folder or a zip; - reads text with [MEMORY_CANDIDATES] from stdin")
    parser.add_argument("--from", dest="format", metavar="FORMAT", help="what it is (default: seen from what is in it)")
    parser.add_argument("--dry-run", action="store_true", help="only count; nothing is written")


def _import(desk: Desk) -> None:
    from otolith.doors.exchange.importing import Import

    args = desk.args
    with _source(args.source) as path, desk.progress("importing") as progress:
        if args.dry_run:
            done = Import(None).run(path, args.format)
        else:
            from otolith import config
            from otolith.files.disk import open_tree
            from otolith.memory import Memory

            # A thousand dialogs are not sent to a model unasked; the rules read them, and upkeep may ask later.
            tree = open_tree(config.home_name(args.home))
            settings = config.load(tree).replace(chat_url=None, chat_model=None)
            with Memory(tree, door="import", trust="outside", config=settings) as mem:
                done = Import(mem).run(path, args.format, progress)
                for notice in mem.notices:
                    desk.tell(notice)
    desk.answer({**done.to_dict(), "dry_run": args.dry_run}, lambda: _told(done, args.dry_run))


class _source:
    """The path to read: as given, or a file with what came on stdin."""

    def __init__(self, given: str) -> None:
        self.given = given
        self.folder: Any = None

    def __enter__(self) -> Path:
        if self.given != "-":
            return Path(self.given).expanduser()
        import tempfile

        self.folder = tempfile.TemporaryDirectory(prefix="otolith-")
        path = Path(self.folder.name, "stdin.txt")
        path.write_bytes(sys.stdin.buffer.read())
        return path

    def __exit__(self, *_: object) -> None:
        if self.folder is not None:
            self.folder.cleanup()


def _told(done: Import, dry_run: bool) -> str:
    from otolith.model.text import visible_line

    def counts(found: Any) -> str:
        return ", ".join(f"{count} {kind}" for kind, count in sorted(found.items())) or "nothing"

    lines = [f"found {counts(done.found)}"]
    if dry_run:
        lines.append("nothing was written (--dry-run)")
    else:
        lines.append(f"kept {counts(done.kept)}" + (f"; already here: {counts(done.known)}" if done.known else ""))
    if done.secrets:
        lines.append(f"secrets replaced: {counts(done.secrets)}")
    lines += [visible_line(f"{one.where}{f':{one.line}' if one.line else ''}: {one.message}") for one in done.findings[:20]]
    if len(done.findings) > 20:
        lines.append(f"… and {len(done.findings) - 20} more; --json has them all")
    return "\n".join(lines)


def _export_arguments(parser: argparse.ArgumentParser) -> None:
    from otolith.doors.cli.finding import filter_arguments

    parser.add_argument("target", help="the file to write (.zip, .jsonl or .md); - is stdout")
    parser.add_argument("--format", metavar="zip|jsonl|markdown")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    filter_arguments(parser)


def _export(desk: Desk) -> None:
    from otolith.doors.cli.finding import filters
    from otolith.doors.exchange import exporting

    args = desk.args
    form = exporting.format_of(args.target, args.format)
    with desk.progress("exporting") as progress:
        count = exporting.export(desk.mem, args.target, form, filters(args), force=args.force, progress=progress)
    if args.target == "-":
        return
    desk.answer({"target": args.target, "format": form, "count": count},
                f"{args.target}: {count} {'files' if form == 'zip' else 'records'}")


COMMANDS = {
    "mcp": Command(_mcp_arguments, _mcp, "  otolith mcp\n  otolith mcp --tools core\n  otolith mcp --http --port 7517"),
    "hook": Command(_hook_arguments, _hook, "  otolith hook SessionStart < event.json"),
    "install": Command(_install_arguments, _install, "  otolith install claude-code\n  otolith install codex --dry-run\n"
                       "  otolith install cursor --project"),
    "uninstall": Command(_install_arguments, _uninstall, "  otolith uninstall claude-code"),
    "import": Command(_import_arguments, _import, "  otolith import ~/Downloads/chatgpt.zip --dry-run\n"
                      "  otolith import ~/.claude/projects\n  otolith import vault/ --from obsidian"),
    "export": Command(_export_arguments, _export,
                      "  otolith export memory.zip\n  otolith export notes.md --kind note --tag redis"),
}
