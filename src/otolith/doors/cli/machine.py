"""Commands around a home: import, export, mcp, serve, hook, install, uninstall, config, model, completion."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otolith.doors.cli.command import Command, read_stdin
from otolith.errors import Damaged, NotFound, Provider, WrongUsage
from otolith.verbs.table import FILTERS

if TYPE_CHECKING:
    from otolith.doors.exchange.importing import Import

BY_ITSELF = ("Once a day, or after fifty writes, upkeep runs by itself in the background, with what is on "
             "this machine only; to have it off: auto = false under [upkeep] in config.toml, or "
             "OTOLITH_UPKEEP=off")
EXTRA = "in Otolith's folder run: pip install '.[{}]'"


# Servers


def _mcp(command: Command) -> None:
    _refuse_nested()
    args = command.args
    if not args.http:
        from otolith.doors.mcp import stdio

        return stdio.serve(args.home, args.tools)
    try:
        from otolith.doors.mcp import server
    except ModuleNotFoundError as error:
        raise WrongUsage(f"MCP over HTTP needs the package {error.name}", EXTRA.format("mcp")) from None
    return server.serve_http(args.home, args.tools, port=_port(args.port), tell=command.warn)


def _refuse_nested() -> None:
    """A program that Otolith asks as a model gets no memory of its own."""
    from otolith import config

    if config.is_off():
        raise WrongUsage(f"Otolith is off here: {config.OFF} is set", "unset it")


def _port(number: int) -> int:
    if not 0 <= number <= 65_535:
        raise WrongUsage(f"{number} is not a valid port", "give a number from 0 to 65535")
    return number


def _serve(command: Command) -> None:
    args = command.args
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise WrongUsage(f"the server needs the package {error.name}", EXTRA.format("serve")) from None
    _port(args.port)
    from otolith import config
    from otolith.doors.web import gate, serving

    if args.link:
        if not serving.answers(args.host, args.port):
            raise NotFound(f"no server of Otolith answers at {serving.address(args.host, args.port)}",
                           "start one with: otolith serve")
        link = serving.link(args.host, args.port)
        return command.answer({"link": link}, link)
    if args.host not in gate.LOOPBACK:
        command.warn(f"{args.host} can be reached from other machines, and what travels is not encrypted")

    def announce(port: int) -> None:
        url, link, token = serving.address(args.host, port), serving.link(args.host,
                                                                          port), str(gate.token_file())
        command.answer({"url": url, "link": link, "token": token},
                       f"Otolith is at {url}\nSign in once, within ten minutes:  {link}\n"
                       f"Programs: REST at {url}/api/openapi.json, MCP at {url}/mcp, token in {token}\n"
                       "Stop with Ctrl-C.")
        sys.stdout.flush()
        if command.tty and not (args.json or args.no_open) and config.has_screen():
            import webbrowser

            webbrowser.open(link)

    return serving.serve(args.home, port=args.port, tell=announce, host=args.host,
                         names=args.allow_host or [],
                         agents=not args.no_mcp)


# Coding agents


def _hook(command: Command) -> int:
    """A failing memory is no reason to stop the agent, so `main` makes every exit code 0."""
    from otolith.doors.agents import hooks

    return hooks.fire(command.args.event or "", command.args.home)


def _start_of(command: Command) -> list[str]:
    from otolith.doors.cli.guide import start_of

    return start_of(command)


def _setup(command: Command) -> None:
    from otolith.doors.cli.guide import set_up

    _refuse_nested()
    set_up(command)


def _install(command: Command) -> None:
    from otolith.doors.agents import install

    _refuse_nested()
    edits = install.plan(command.args.agent_name, _project_folder(command), Path.home(), _start_of(command))
    offer = "" if command.args.dry_run else _offer_model(command)
    advice = "\n".join(filter(None, (install.advice(command.args.agent_name), BY_ITSELF, offer)))
    _carry_out(command, edits, "installed", advice)


def _offer_model(command: Command) -> str:
    """Said once on a machine: the agent's own program could distil its sessions."""
    from otolith import config
    from otolith.providers.program import KNOWN

    name = command.args.agent_name.partition("-")[0]
    if name not in KNOWN or config.was_offered("model"):
        return ""
    return (f"sessions can be distilled by the model you have: otolith config model {name} "
            "(it sends them there; docs/MODELS.md)")


def _uninstall(command: Command) -> None:
    from otolith.doors.agents import install

    edits = install.plan_removal(command.args.agent_name, _project_folder(command), Path.home())
    _carry_out(command, edits, "uninstalled", "")


def _doctor(command: Command) -> int:
    from otolith.doors.agents import doctor

    places = Path.home(), Path.cwd()
    chosen = [command.args.agent_name] if command.args.agent_name else doctor.installed(*places)
    if not chosen:
        raise NotFound("no coding agent has an entry of Otolith", "run: otolith install AGENT")
    looks = {name: doctor.examine(name, *places) for name in chosen}
    lines = [f"{name}: {'ok' if look.good else 'WRONG'}: {look.what}: {look.says}"
             + (f"; {look.remedy}" if look.remedy else "") for name, some in looks.items() for look in some]
    good = all(look.good for some in looks.values() for look in some)
    command.answer({"good": good, "agents": {name: [look._asdict() for look in some]
                                             for name, some in looks.items()}}, "\n".join(lines))
    return 0 if good else Damaged.exit_code


def _project_folder(command: Command) -> Path | None:
    return Path.cwd() if command.args.project else None


def _carry_out(command: Command, edits: Any, done: str, advice: str) -> None:
    from otolith.doors.agents import install

    diff, dry_run = install.diff(edits), command.args.dry_run
    if not dry_run:
        install.apply(edits)
    files = [str(edit.path) for edit in edits]
    text = diff or "nothing to change\n"
    if edits and dry_run:
        text += "nothing was written (--dry-run)\n"
    elif edits:
        text += f"{done}: {', '.join(files)}\n" + (f"{advice}\n" if advice else "")
    command.answer({"agent": command.args.agent_name, "files": files, "diff": diff,
                    "written": bool(edits) and not dry_run}, text.rstrip("\n"))


# Exchange


def _import(command: Command) -> None:
    from otolith.doors.cli.guide import take_in
    from otolith.doors.exchange.importing import Import

    args = command.args
    if args.restore:
        return _restore(command)
    with _source(args.source) as path, command.progress("importing") as progress:
        done = Import(None).run(path, args.format) if args.dry_run else take_in(command, path, args.format,
                                                                              progress)
        run = done.to_dict()["import"]
    if args.mine and run:
        command.mem.trust(imported=run)
    command.answer({**done.to_dict(), "dry_run": args.dry_run, "mine": bool(args.mine and run)},
                   lambda: "\n".join(filter(None, [_summarise(done, args.dry_run), _told(run, args.mine)])))
    if _is_own_export(args.source) and not args.json:
        command.warn("what is imported counts as coming from outside; to have your own home back as it was: "
                     "otolith import FILE --restore --home FOLDER")
    return None


def _told(run: str | None, mine: bool) -> str:
    """Whether brief and hooks will tell what was imported."""
    if run is None:
        return "with --mine, what is kept would count as yours: brief and hooks may tell it" if mine else ""
    return (f"it counts as yours; take that back with: otolith trust --import {run} --undo" if mine else
            f"it is recalled, but not told unasked; if it is yours: otolith trust --import {run}")


def _is_own_export(source: str) -> bool:
    """Whether it is a whole home's export, which could be restored instead."""
    import zipfile

    from otolith.doors.exchange.restoring import MANIFEST

    if not zipfile.is_zipfile(Path(source).expanduser()):
        return False
    with zipfile.ZipFile(Path(source).expanduser()) as packed:
        return MANIFEST in packed.namelist()


def _restore(command: Command) -> None:
    """Give a whole home back, checked by hash."""
    from otolith import config
    from otolith.doors.exchange.restoring import restore
    from otolith.files.disk import open_tree

    args = command.args
    home = Path(open_tree(config.home_name(args.home)).name)
    with command.progress("restoring") as progress:
        files = restore(Path(args.source).expanduser(), home, dry_run=args.dry_run, progress=progress)
    what = "would be restored, every hash is right" if args.dry_run else "restored, byte for byte"
    command.answer({"home": str(home), "files": len(files), "dry_run": args.dry_run},
                   f"{home}: {len(files)} files {what}")


@contextmanager
def _source(given: str) -> Iterator[Path]:
    """The path to read: as given, or a file with what came on stdin."""
    if given != "-":
        yield Path(given).expanduser()
        return
    import tempfile

    with tempfile.TemporaryDirectory(prefix="otolith-") as folder:
        path = Path(folder, "stdin.txt")
        path.write_bytes(sys.stdin.buffer.read())
        yield path


def _summarise(done: Import, dry_run: bool) -> str:
    from otolith.model.text import visible_line

    def counts(kinds: Any) -> str:
        return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "nothing"

    lines = [f"found {counts(done.found)}"]
    if dry_run:
        lines.append("nothing was written (--dry-run)")
    else:
        already = f"; already here: {counts(done.known)}" if done.known else ""
        lines.append(f"kept {counts(done.kept)}{already}")
        if done.updated:
            lines.append(f"brought up to date: {counts(done.updated)}")
    if done.secrets:
        lines.append(f"secrets replaced: {counts(done.secrets)}")
    lines += [visible_line(f"{at.where}{f':{at.line}' if at.line else ''}: {at.message}")
              for at in done.findings[:20]]
    if len(done.findings) > 20:
        lines.append(f"… and {len(done.findings) - 20} more; --json has them all")
    return "\n".join(lines)


def _export(command: Command) -> None:
    from otolith.doors.exchange import exporting

    args = command.args
    form = exporting.format_of(args.target, args.format)
    chosen = {param.name: getattr(args, param.name) for param in FILTERS if hasattr(args, param.name)}
    with command.progress("exporting") as progress:
        count = exporting.export(command.mem, args.target, form, chosen, force=args.force, progress=progress)
    if args.target != "-":
        command.answer({"target": args.target, "format": form, "count": count},
                       f"{args.target}: {count} {'files' if form == 'zip' else 'records'}")


# Settings and the shell


def _config(command: Command) -> None:
    from otolith.verbs.tending import change_settings, show_settings

    args = command.args
    if args.setting and args.value is not None:
        _set(command, args.setting, args.value)
    key = read_stdin().strip() if args.openai_key == "-" else args.openai_key
    changes = {"embedding_provider": args.provider, "openai_api_key": key, "ollama_model": args.ollama_model,
               "openai_model": args.openai_model}
    if given := {name: value for name, value in changes.items() if value is not None}:
        change_settings(command.mem.home, given)
    if args.provider == "minilm":
        command.warn("set it up and embed what is there with: otolith embed")
    shown = show_settings(command.mem.home)
    if args.setting:
        from otolith.model.settings import setting, shown_as

        name = shown_as(setting(args.setting.partition(".")[0] if args.setting.startswith("caps.")
                                else args.setting))
        shown = {name: shown.get(name)}
    return command.answer(shown, "\n".join(f"{name} = {_shown(value)}" for name, value in shown.items()))


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(part)}" for key, part in value.items())
    return "" if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _set(command: Command, name: str, value: str) -> None:
    """Change one setting in the file it belongs to: the user's own, or the home's."""
    from otolith import config
    from otolith.model.settings import read_value, setting

    row = setting(name)
    if row.name == "model" and value != "off":
        from otolith.providers.program import read_command

        read_command(value)
    given = None if (row.name, value) == ("model", "off") else read_value(
        row, read_stdin().strip() if value == "-" else value)
    home = command.mem.home
    if row.whose == "home":
        home.settle()
        config.change_home_settings(home.tree, {row.key: given})
    else:
        config.change_user_settings({row.key: given})
    home.config = config.load(home.tree)
    if row.variable and config.variable(row.variable):
        command.warn(f"{row.variable} is set in the environment and outweighs it")
    if row.name == "model" and value != "off":
        command.warn("sessions that end are sent to it from now on; try it with: otolith model test")


def _model(command: Command) -> int:
    """Show, try or use the model that a person turned on."""
    from otolith.verbs import models

    home, args = command.mem.home, command.args
    if args.action == "test":
        tried = models.try_model(home)
        command.answer(tried, "\n".join(f"{name} = {value}" for name, value in tried.items()))
        return 0 if tried["answers_in_form"] else Provider.exit_code
    if args.action == "distil":
        from otolith.verbs.running import distil_session

        line = distil_session(home, args.session)
        command.answer({"session": args.session, "result": line}, line)
        return 0
    cost = models.cost(home)
    command.answer(cost, "\n".join(f"{name} = {value}" for name, value in cost.items()))
    return 0


def _completion(command: Command) -> None:
    from otolith.doors.cli.completion import SCRIPTS

    shell = command.args.shell
    command.answer({"shell": shell, "script": SCRIPTS[shell]}, SCRIPTS[shell])


COMMANDS = {
    "import": _import, "export": _export, "mcp": _mcp, "serve": _serve, "hook": _hook, "setup": _setup,
    "install": _install,
    "uninstall": _uninstall, "doctor": _doctor, "config": _config, "model": _model,
    "completion": _completion,
}
