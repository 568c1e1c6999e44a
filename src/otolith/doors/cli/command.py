"""One command being carried out: its words parsed as its row of the table of verbs says, its answer printed.

Answers go to stdout as JSON, as plain text, or as a table on a terminal; everything else goes to stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from otolith.errors import NotFound, WrongUsage
from otolith.verbs.table import FILTERS, REQUIRED, Param, Verb, choices_of, in_model

if TYPE_CHECKING:
    from otolith.config import Config
    from otolith.memory import Memory
    from otolith.sync import Progress

SCOPE = ("project", "agent", "session")  # options of every command
SEVERAL = ("words", "tags", "some")
NUMBERS: dict[str, Callable[[str], Any]] = {"number": float, "count": int}


class Command:
    """A verb with what it was given, and the home it acts on."""

    def __init__(self, row: Verb, words: Sequence[str]) -> None:
        self.row, self.words = row, words
        self.args = make_parser(row).parse_args(words)
        self.tty = sys.stdout.isatty()
        self.settings: Config | None = None  # instead of the home's own, where those cannot be read
        self._mem: Memory | None = None

    def __enter__(self) -> Command:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._mem is not None:
            for notice in self._mem.notices:
                self.warn(notice)
            self._mem.close()

    @property
    def mem(self) -> Memory:
        """The home, opened when first needed."""
        if self._mem is None:
            from otolith.memory import Memory

            if self.args.home and self._only_reads():
                self._check_home(self.args.home)
            self._mem = Memory(self.args.home, door="cli", config=self.settings)
        return self._mem

    def _only_reads(self) -> bool:
        """Whether the command, with what it was given, has nothing to do in a home that is not there."""
        writes = any(getattr(self.args, param.name, None) for param in self.row.at("cli") if param.writes)
        return (self.row.reads and not writes) or self.row.name in ("sync", "reindex", "upkeep")

    def _check_home(self, home: str) -> None:
        """Who reads from a home names one that is there; the user's own may yet have to be made."""
        from otolith.opening import open_home

        tree = open_home(home)
        if tree.identity() == "none":
            raise NotFound(f"there is no home {tree.name}",
                           f"look at its name, or make one: otolith init {tree.name}")

    def was_given(self, option: str) -> bool:
        """Whether an option was typed, or stands for its default."""
        return any(word.partition("=")[0] == f"--{option}" for word in self.words)

    def find_records(self) -> None:
        """Put the id of the record that is meant in place of each handle that says it only in part."""
        for param in self.row.at("cli"):
            handle = getattr(self.args, param.name) if param.type == "id" else None
            if not isinstance(handle, str) or not handle.strip():
                continue
            if len(self._rows_of(handle)) != 1:
                from otolith.doors.cli.handles import meant

                setattr(self.args, param.name, meant(self, handle))

    def _rows_of(self, handle: str) -> Sequence[Any]:
        index = self.mem.home.index
        return index.attempt(lambda: index.cards.resolve(handle))

    def keywords(self, *leave_out: str, **instead: Any) -> dict[str, Any]:
        """What was given, as the keywords of the verb's method; what was not given is left to its default."""
        given = {param.name: self._value(param) for param in self.row.at("python")
                 if "cli" in param.doors and param.name not in (*leave_out, *instead)}
        return {name: value for name, value in given.items() if value is not None} | instead

    def _value(self, param: Param) -> Any:
        value = getattr(self.args, param.name)
        if param.stdin == "pipe":
            return self.text(value)
        if value == "-" and (param.stdin or param.type == "dialog"):
            return read_stdin()
        if param.type == "dialog" and value is not None:
            return Path(value)
        if param.name in SCOPE:
            return value or None
        return " ".join(value) if param.type == "text" and isinstance(value, list) else value

    # Answers

    def answer(self, value: Any, text: str | Callable[[], str]) -> None:
        """The command's result: the value as JSON, or the text for a person."""
        if self.args.json:
            print(as_json(value, indent=2 if self.tty else None))
        else:
            self.print(text if isinstance(text, str) else text())

    def print(self, text: str) -> None:
        """Text for a person; on a terminal, characters that could act on it are shown escaped."""
        if self.tty and text:
            from otolith.doors.cli.terminal import show
            from otolith.model.text import visible

            show(visible(text))
        elif text:
            print(text)

    def lay_out(self, value: Any, lines: Callable[[int | None], Sequence[str]]) -> None:
        """An answer whose lines know the terminal's width, or None where there is none, and its styles."""
        if self.args.json:
            return self.answer(value, "")
        from otolith.doors.cli import terminal

        text = "\n".join(lines(terminal.width() if self.tty else None))
        return terminal.show(text) if self.tty else print(text)

    def warn(self, text: str) -> None:
        """A line on stderr, after what was printed so far."""
        from otolith.model.text import visible

        sys.stdout.flush()
        print(f"otolith: {visible(text)}", file=sys.stderr)

    def shape(self, record: Any) -> dict[str, Any]:
        """A record as every door answers it, with the place of its file."""
        index = self.mem.home.index
        row = index.attempt(lambda: index.cards.find(record.id))
        return record_shape(record, row.unit if row else "")

    def kept(self, record: Any, what: str = "kept", **more: Any) -> None:
        """A writer's answer; `more` is what else the JSON should say."""
        shape = self.shape(record)
        place = f"  {shape['path']}" if shape["path"] else ""
        self.answer(shape | more, f"{what} {record.kind} {record.id}{place}")

    def page(self, text: str) -> None:
        """A built page."""
        self.answer({"page": text}, text.rstrip("\n"))

    def result(self, value: Any) -> None:
        """Whatever has a text of its own."""
        self.answer(value.to_dict(), value.text.rstrip("\n"))

    def items(self, rows: Sequence[Mapping[str, Any]], text: str | Callable[[], str]) -> None:
        """A list whose text is not a table."""
        self.answer({"items": list(rows), "total": len(rows)}, text)

    def table(self, rows: Sequence[Mapping[str, Any]], columns: Sequence[str],
              total: int | None = None) -> None:
        """A list: JSON items, a line a row on a terminal, tab-separated lines in a pipe."""
        count = len(rows) if total is None else total
        if self.args.json:
            print(as_json({"items": list(rows), "total": count}))
        elif not rows:
            self.warn("nothing")
        elif not self.tty:
            for row in rows:
                print("\t".join(_cell(row.get(name)) for name in columns))
        else:
            from otolith.doors.cli import terminal

            more = [f"{len(rows)} of {count}"] if count > len(rows) else []
            terminal.show("\n".join([*terminal.table(rows, columns, terminal.width()), *more]))

    @contextmanager
    def progress(self, label: str) -> Iterator[Progress | None]:
        """A progress bar on a terminal's stderr; nothing elsewhere."""
        if not sys.stderr.isatty() or self.args.json:
            yield None
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(label, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)

    def text(self, given: str | None) -> str:
        """Text from an option, from stdin (`-` or a pipe), or from an editor on a terminal."""
        if given is not None and given != "-":
            return given
        return read_stdin() if given == "-" or not sys.stdin.isatty() else from_editor()


# Words in


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal; saying so here spares argparse an expensive import on every start."""

    def __init__(self, prog: str) -> None:
        width = os.get_terminal_size().columns if sys.stdout.isatty() else 100
        super().__init__(prog, width=min(width, 120) - 2)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise WrongUsage(message, f"see: {self.prog} --help")


def make_parser(row: Verb) -> argparse.ArgumentParser:
    """The parser of a verb, from its row."""
    epilog = "\n".join(["examples:", *(f"  {example}" for example in row.examples)]) if row.examples else None
    parser = _Parser(prog=f"otolith {row.name}", description=f"{row.help[:1].upper()}{row.help[1:]}.",
                     allow_abbrev=False, formatter_class=_Help, epilog=epilog)
    own = own_params(row)
    has_filters = any(param.name == "min_confidence" for param in own)
    filters = [param.name for param in FILTERS] if has_filters else []
    which = parser.add_argument_group("which records") if filters else parser
    for param in own:
        _add(which if param.name in filters else parser, param)
    shared = parser.add_argument_group("everywhere")
    shared.add_argument("--home", metavar="FOLDER",
                        help="the home (default: OTOLITH_HOME, else the user's own)")
    shared.add_argument("--json", action="store_true", help="answer as JSON")
    for name in SCOPE:  # unless the verb gives the word a meaning of its own
        if not any(option_of(param) == f"--{name}" for param in own):
            shared.add_argument(f"--{name}",
                                dest=name if all(param.name != name for param in own) else f"_{name}",
                                metavar="NAME", help=f"the {name} to write as, or to look for")
    return parser


def own_params(row: Verb) -> list[Param]:
    """The parameters of a command besides those that all have."""
    return [param for param in row.at("cli") if param.name not in SCOPE or param.cli or param.type == "flag"]


def option_of(param: Param) -> str:
    """How the command line spells a parameter."""
    return param.cli or f"--{param.name.replace('_', '-')}"


def _add(target: Any, param: Param) -> None:
    spelling = option_of(param)
    more: dict[str, Any] = {"help": explain(param).replace("%", "%%")}
    more |= {"choices": choices_of(param)} if param.strict else {}
    more |= {"type": in_model("kinds.singular")} if param.choices == "kinds.KINDS" else {}
    if not spelling.startswith("--"):
        name = spelling.strip("[]")
        more["nargs"] = {(True, True): "*", (True, False): "?", (False, True): "+"}.get(
            (spelling.startswith("["), name.endswith("…")))
        target.add_argument(param.name, metavar=name.removesuffix("…"), **more)
    elif "|" in spelling:
        flags = target.add_mutually_exclusive_group()
        for flag, const in zip(spelling.split("|"),
                               (True, False) if param.type == "flag" else choices_of(param),
                               strict=True):
            flags.add_argument(flag, dest=param.name, action="store_const", const=const, help=more["help"])
    elif param.type == "flag":
        target.add_argument(spelling, dest=param.name, action="store_true", **more)
    else:
        default = None if param.default in (REQUIRED, ...) or param.stdin else param.default
        more |= {"action": "append"} if repeats(param) else {"default": default}
        more |= {"type": NUMBERS[param.type]} if param.type in NUMBERS else {}
        target.add_argument(spelling, dest=param.name, metavar=metavar_of(param), **more)


def metavar_of(param: Param) -> str:
    """What help shows in place of an option's value."""
    return param.metavar or ("N" if param.type in NUMBERS else option_of(param)[2:].upper())


def repeats(param: Param) -> bool:
    """Whether an option may be given several times."""
    return param.type in SEVERAL or (param.type == "object" and "=" in param.metavar)


def explain(param: Param) -> str:
    """A parameter's help at the command line: what it is, its words, how to give it, its default."""
    words = choices_of(param)
    option = option_of(param)
    if "|" in option and option.startswith("--"):
        words = ()
    default = param.default if isinstance(param.default, tuple) else (param.default,)
    plain = [f"{value:g}" if isinstance(value, float) else str(value) for value in default
             if isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""]
    parts = [param.help, *([f"{'such as' if param.open else 'one of'} {', '.join(words)}"] if words else [])]
    if param.stdin or option.strip("[]") == "FILE|-":
        left_out = "; left out, stdin is read, or an editor opens"
        parts.append(f"- reads stdin{left_out if param.stdin == 'pipe' else ''}")
    if option.startswith("--") and repeats(param):
        parts.append("may be repeated")
    default_part = f" (default: {', '.join(plain)})" if plain and "default:" not in param.help else ""
    return "; ".join(parts) + default_part


def read_stdin() -> str:
    """All of stdin as text."""
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise WrongUsage(f"stdin is not UTF-8 text: {error.reason} at byte {error.start}") from None


def read_text(path: str | None) -> str:
    """The text of a file; of stdin if it is - or none."""
    if path in (None, "-"):
        return read_stdin()
    try:
        return Path(str(path)).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotFound(f"no file {path!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUsage(f"{path} cannot be read: {error}") from None


def from_editor() -> str:
    """What the person writes in the editor."""
    import tempfile

    with tempfile.NamedTemporaryFile("w+", suffix=".md", encoding="utf-8") as file:
        run_editor(file.name)
        with open(file.name, encoding="utf-8") as written:
            return written.read()


def run_editor(path: str) -> None:
    """Have a person edit a file: in VISUAL, else EDITOR, else vi."""
    import shlex
    import subprocess

    from otolith.config import variable

    editor = variable("VISUAL", "EDITOR") or "vi"
    try:
        subprocess.run([*shlex.split(editor), path], check=True)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        raise WrongUsage(f"the editor did not finish: {error}",
                         "give the text with --text or on stdin, or set EDITOR") from None


# Answers out


def as_json(value: Any, indent: int | None = None) -> str:
    """JSON as stdout can take it: in another encoding than UTF-8, with JSON's own escapes."""
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    return json.dumps(value, ensure_ascii=ascii_only, indent=indent, default=str)


def record_shape(record: Any, path: str, id: str | None = None) -> dict[str, Any]:
    """A record as every door answers it."""
    from otolith.files.codec import public

    return {"id": id or record.id, "kind": record.kind, "path": path, "record": public(record)}


def deliver(command: Command, value: dict[str, Any], text: str, out: str | None) -> None:
    """A picture to a file of the caller's choice, or to stdout."""
    if out is None:
        return command.answer(value, text.rstrip("\n"))
    from otolith.errors import CannotWrite, Conflict

    if os.path.isfile(out) and not command.args.force:
        raise Conflict(f"{out} is there already", "give another name, or --force")
    try:
        with open(out, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise CannotWrite(f"{out} cannot be written: {error.strerror}") from None
    return command.answer({"out": out}, f"wrote {out}")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else " ".join(str(value).split())
