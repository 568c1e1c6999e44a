"""Where a command meets its caller: arguments in, answers out, as JSON, as plain text, or dressed for a terminal."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from otolith.errors import Usage

if TYPE_CHECKING:
    from otolith.config import Config
    from otolith.memory import Memory
    from otolith.sync import Progress


class Command(NamedTuple):
    """A verb at the command line: its arguments, what it does, and examples of use."""

    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Desk], int | None]
    examples: str = ""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal; saying so here spares argparse an expensive import on every start."""

    def __init__(self, prog: str) -> None:
        width = os.get_terminal_size().columns if sys.stdout.isatty() else 100
        super().__init__(prog, width=min(width, 120) - 2)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Usage(message, f"see: {self.prog} --help")


class Desk:
    """One command being carried out."""

    def __init__(self, verb: str, what: str, command: Command, given: list[str]) -> None:
        parser = _Parser(prog=f"otolith {verb}", description=what[:1].upper() + what[1:] + ".", allow_abbrev=False,
                         formatter_class=_Help,
                         epilog=f"examples:\n{command.examples}" if command.examples else None)
        command.arguments(parser)
        shared = parser.add_argument_group("everywhere")
        shared.add_argument("--home", metavar="FOLDER", help="the home (default: OTOLITH_HOME, else the user's own)")
        shared.add_argument("--json", action="store_true", help="answer as JSON")
        for name, whose in (("project", "the project"), ("agent", "the agent"), ("session", "the session")):
            if f"--{name}" in parser._option_string_actions:
                continue  # the verb gives the word a meaning of its own
            shared.add_argument(f"--{name}", metavar="NAME", help=f"{whose} to write as, or to look for")
        self.args = parser.parse_args(given)
        self.tty = sys.stdout.isatty()
        self._mem: Memory | None = None
        self.settings: Config | None = None  # instead of the home's own, where those cannot be read

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._mem is not None:
            for notice in self._mem.notices:
                self.tell(notice)
            self._mem.close()

    @property
    def mem(self) -> Memory:
        """The home, opened when first needed."""
        if self._mem is None:
            from otolith.memory import Memory

            self._mem = Memory(self.args.home, door="cli", config=self.settings)
        return self._mem

    def scope(self) -> dict[str, Any]:
        """The writer's --project, --agent and --session, where given."""
        return {name: value for name in ("project", "agent", "session") if (value := getattr(self.args, name))}

    def answer(self, value: Any, text: str | Callable[[], str]) -> None:
        """The command's result: the value as JSON, or the text for a person."""
        if self.args.json:
            print(as_json(value, indent=2 if self.tty else None))
        else:
            self.say(text if isinstance(text, str) else text())

    def say(self, text: str) -> None:
        """Text for a person; on a terminal, what could act on it is shown escaped."""
        if self.tty:
            from otolith.model.text import visible

            text = visible(text)
        if text:
            print(text)

    def tell(self, text: str) -> None:
        """A word on the side, after what was said so far."""
        from otolith.model.text import visible

        sys.stdout.flush()
        print(f"otolith: {visible(text)}", file=sys.stderr)

    def kept(self, record: Any, what: str = "kept", **more: Any) -> None:
        """A writer's answer; `more` is what else the JSON should say."""
        row = self.mem.home.db.execute("SELECT unit FROM records WHERE id = ?", (record.id,)).fetchone()
        path = row[0] if row else ""
        self.answer(record_shape(record, path) | more, f"{what} {record.kind} {record.id}" + (f"  {path}" if path else ""))

    def table(self, rows: Sequence[Mapping[str, Any]], columns: Sequence[str], total: int | None = None) -> None:
        """A list: JSON items, a dressed table on a terminal, tab-separated lines in a pipe."""
        count = len(rows) if total is None else total
        if self.args.json:
            print(as_json({"items": list(rows), "total": count}))
        elif not rows:
            self.tell("nothing")
        elif not self.tty:
            for row in rows:
                print("\t".join(_cell(row.get(name)) for name in columns))
        else:
            self._dressed(rows, columns, count)

    def _dressed(self, rows: Sequence[Mapping[str, Any]], columns: Sequence[str], count: int) -> None:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        from otolith.model.text import visible

        plain = bool(os.environ.get("NO_COLOR"))
        console = Console(color_system=None) if plain else Console()
        table = Table(box=None, header_style="bold", pad_edge=False)
        for name in columns:
            table.add_column(name, overflow="fold" if name in ("title", "message", "text") else "ellipsis",
                             no_wrap=name in ("id", "kind", "type"), max_width=max(16, console.width // 4) if name == "id" else None)
        short = shorten_ids([str(row.get("id") or "") for row in rows])
        for row, id in zip(rows, short, strict=True):
            cells = {**row, "id": id} if "id" in row else row
            table.add_row(*(Text(visible(_cell(cells.get(name)))) for name in columns))
        console.print(table)
        if count > len(rows):
            console.print(f"[dim]{len(rows)} of {count}[/dim]")

    @contextmanager
    def progress(self, label: str) -> Iterator[Progress | None]:
        """A progress bar on a terminal's stderr; nothing elsewhere."""
        if not sys.stderr.isatty() or self.args.json:
            yield None
            return
        from rich.console import Console
        from rich.progress import Progress as Bar

        with Bar(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(label, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)

    def text(self, given: str | None, *, edit: bool = True) -> str:
        """Text from an option, from stdin (`-` or a pipe), or from an editor on a terminal."""
        if given is not None and given != "-":
            return given
        if given == "-" or not sys.stdin.isatty():
            return read_stdin()
        return from_editor() if edit else ""


def as_json(value: Any, indent: int | None = None) -> str:
    """JSON as stdout can take it: in another coding than UTF-8, signs are written as JSON's own escapes."""
    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    return json.dumps(value, ensure_ascii=plain, indent=indent, default=str)


def shorten_ids(ids: Sequence[str]) -> list[str]:
    """Long random ids by a beginning that still means one record among these; names stay whole."""
    import re

    def short(id: str, signs: int) -> str:
        found = re.match(rf"(?:[a-z]+[_-])?[0-9a-f-]{{{signs}}}", id) if re.search(r"[0-9a-f-]{16,}$", id) else None
        return found[0] if found else id

    for signs in (8, 12, 16, 24):
        shown = [short(id, signs) for id in ids]
        if len(set(shown)) == len(set(ids)):
            return shown
    return list(ids)


def read_stdin() -> str:
    """All of stdin as text."""
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise Usage(f"stdin is not UTF-8 text: {error.reason} at byte {error.start}") from None


def from_editor(opening: str = "") -> str:
    """What the person writes in $EDITOR."""
    import shlex
    import subprocess
    import tempfile

    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.NamedTemporaryFile("w+", suffix=".md", encoding="utf-8") as file:
        file.write(opening)
        file.flush()
        try:
            subprocess.run([*shlex.split(editor), file.name], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise Usage(f"the editor did not finish: {error}", "give the text with --text or on stdin") from None
        with open(file.name, encoding="utf-8") as done:
            return done.read()


def record_shape(record: Any, path: str, id: str | None = None) -> dict[str, Any]:
    """A record as every door answers it."""
    from otolith.files.codec import public

    return {"id": id or record.id, "kind": record.kind, "path": path, "record": public(record)}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    if isinstance(value, float):
        return f"{value:g}"
    return " ".join(str(value).split())
