"""Commands that tend: init, sync, reindex, check, config, completion."""

from __future__ import annotations

import argparse
import re
from typing import Any

from otolith.doors.cli.desk import Command, Desk, read_stdin
from otolith.errors import Damaged, Invalid
from otolith.model.record import Finding
from otolith.model.text import visible_line


def _no_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing but what every command takes."""


def _init_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", help="where (default: the home)")


def _init(desk: Desk) -> None:
    if desk.args.folder:
        desk.args.home = desk.args.folder
    made = desk.mem.init()
    said = f"made {', '.join(made)}" if made else "nothing to do; it is a home already"
    desk.answer({"home": str(desk.mem.path), "made": made}, f"{desk.mem.path}: {said}")


def _sync_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--accept-removals", action="store_true", help="believe that half of the files are gone")


def _sync(desk: Desk) -> None:
    with desk.progress("reading") as progress:
        changes = desk.mem.sync(accept_removals=desk.args.accept_removals, progress=progress)
    rows = [{"change": change.what, "path": change.path} | ({"reason": change.reason} if change.reason else {})
            for change in changes]
    desk.answer({"items": rows, "total": len(rows)},
                "\n".join("\t".join(map(visible_line, row.values())) for row in rows) or "everything is up to date")


def _reindex(desk: Desk) -> None:
    with desk.progress("indexing") as progress:
        done = desk.mem.reindex(progress)
    desk.answer(done, f"{done['records']} records indexed" + "".join(f"\nwrote {path}" for path in done["written"]))


def _check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--secrets", action="store_true", help="also look for keys and passwords")


def _settings(desk: Desk) -> list[Finding]:
    """Settings that cannot be read are a finding like any other; the rest is checked as if there were none."""
    from otolith import config

    home = config.home_path(desk.args.home)
    try:
        config.load(home)
    except Invalid as error:
        name = next((name for name in ("otolith.toml", "_config.json") if name in error.message), None)
        if name is None:
            raise
        line = re.search(r"line (\d+)", error.message)
        desk.settings = config.Config()
        return [Finding(name, int(line[1]) if line else None, "settings", error.message, error.hint)]
    return []


def _check(desk: Desk) -> int:
    findings = [*_settings(desk), *desk.mem.check(secrets=desk.args.secrets)]
    rows: list[dict[str, Any]] = [finding._asdict() for finding in findings]
    lines = [f"{visible_line(f.path)}{f':{f.line}' if f.line else ''}: {f.code}: {visible_line(f.message)}\n  {visible_line(f.remedy)}"
             for f in findings]
    desk.answer({"findings": rows}, "\n".join(lines) or "everything is in order")
    return Damaged.exit_code if findings else 0


def _config_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--provider", help="embedding provider: static, minilm, ollama, openai, none")
    parser.add_argument("--openai-key", metavar="KEY|-", help="- reads it from stdin; null removes it")
    parser.add_argument("--ollama-model")
    parser.add_argument("--openai-model")


def _config(desk: Desk) -> None:
    from otolith.verbs.tending import change_settings, show_settings

    args = desk.args
    key = read_stdin().strip() if args.openai_key == "-" else args.openai_key
    changes = {"embedding_provider": args.provider, "openai_api_key": key, "ollama_model": args.ollama_model,
               "openai_model": args.openai_model}
    given = {name: value for name, value in changes.items() if value is not None}
    if given:
        change_settings(desk.mem.home, given)
    shown = show_settings(desk.mem.home)
    desk.answer(shown, "\n".join(f"{name} = {value}" for name, value in shown.items()))


def _completion_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def _completion(desk: Desk) -> None:
    from otolith.doors.cli import VERBS

    words = " ".join(VERBS)
    scripts = {
        "bash": f'complete -W "{words}" -o default otolith',
        "zsh": "#compdef otolith\n_otolith() { if (( CURRENT == 2 )); then _values verb "
               + " ".join(f"'{verb}[{what.replace(chr(39), '’')}]'" for verb, (_, what) in VERBS.items())
               + "; else _files; fi }\ncompdef _otolith otolith",
        "fish": "\n".join(f"complete -c otolith -n __fish_use_subcommand -a {verb} -d {what!r}"
                          for verb, (_, what) in VERBS.items()),
    }
    desk.answer({"shell": desk.args.shell, "script": scripts[desk.args.shell]}, scripts[desk.args.shell])


COMMANDS = {
    "init": Command(_init_arguments, _init, "  otolith init ~/memory"),
    "sync": Command(_sync_arguments, _sync, "  otolith sync"),
    "reindex": Command(_no_arguments, _reindex, "  otolith reindex"),
    "check": Command(_check_arguments, _check, "  otolith check --secrets"),
    "config": Command(_config_arguments, _config,
                      "  otolith config --provider ollama\n  otolith config --openai-key - < key.txt"),
    "completion": Command(_completion_arguments, _completion, "  otolith completion bash >> ~/.bash_completion"),
}
