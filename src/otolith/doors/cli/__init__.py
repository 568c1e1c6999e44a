"""The command line: `otolith VERB …`. Only the verb's own family of commands is loaded.

Answers go to stdout, everything else to stderr. A failed command prints one line that says what to do and
exits with the error's own code; a traceback is a bug.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Sequence
from errno import EBADF, EDQUOT, EFBIG, EIO, ENOSPC
from typing import TextIO

from otolith.errors import CannotWrite, Invalid, OtolithError, WrongUsage
from otolith.verbs.table import FAMILIES, SYNONYMS, grouped, verb

UNWRITABLE = (ENOSPC, EDQUOT, EFBIG, EIO,
              EBADF)  # a home that cannot take a write says so itself; these are stdout's

def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code. A hook's is always 0: to an agent another one means "stop"."""
    given = list(sys.argv[1:] if argv is None else argv)
    code = attempt(given, "--json" in given)
    at = verb_at(given)
    return 0 if at is not None and given[at] == "hook" else code


def attempt(given: list[str], as_json: bool) -> int:
    """Run one command, and report what goes wrong."""
    try:
        open_streams()
        check_words(given)
        code = run(given)
        sys.stdout.flush()  # here, where a reader who has gone away is no failure
        return code
    except OtolithError as error:
        return complain(error, as_json)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        drop_output(sys.stdout)
        return 0
    except OSError as error:
        if error.errno not in UNWRITABLE:
            return bug(error, as_json)
        drop_output(sys.stdout)
        return complain(CannotWrite(f"the answer cannot be written: {error.strerror}"), as_json)
    except Exception as error:
        return bug(error, as_json)


def bug(error: Exception, as_json: bool) -> int:
    """What nobody foresaw: one line, or the traceback for who asks for it."""
    from otolith.config import variable

    if variable("OTOLITH_DEBUG"):
        raise error
    return complain(OtolithError(f"this is a bug in Otolith: {type(error).__name__}: {error}",
                                "run again with OTOLITH_DEBUG=1 for the details"), as_json)


def open_streams() -> None:
    """A character that a terminal lacks makes no command fail; a closed stdin is an empty one.

    A closed stdout does, before a file takes its number.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115 (open as long as the process)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (open as long as the process)
    if sys.stdout is None:
        raise CannotWrite("the answer cannot be written: stdout is closed")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def drop_output(stream: TextIO) -> None:
    """What cannot be written is not tried again when the process ends."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def check_words(given: Sequence[str]) -> None:
    """A command's words are text; bytes that are not are handed over as halves of surrogate pairs."""
    for word in given:
        if not word.isascii() and any("\ud800" <= char <= "\udfff" for char in word):
            raise Invalid(f"an argument is not UTF-8 text: {os.fsencode(word)!r}", "write it in UTF-8")


def run(given: list[str]) -> int:
    """Find the verb among the words, load its family, do it."""
    at = verb_at(given)
    if at is None:
        return overview(given)
    name, rest = given[at], given[:at] + given[at + 1 :]
    if name == "help":
        return explain(given[at + 1 :]) if given[at + 1 :] else overview(["--help"])
    if name == "version":
        return overview(["--version"])
    if name == "complete":  # asked by the scripts of `completion`; see there
        from otolith.doors.cli.completion import complete

        print(complete(rest[rest.index("--") + 1 :] if "--" in rest else rest, verb_at))
        return 0
    if name in SYNONYMS:
        print(f"otolith: {name} is called {SYNONYMS[name]} here", file=sys.stderr)
        name = SYNONYMS[name]
    if name == "hook" and (done := run_hook(rest)) is not None:
        return done
    row = verb(name)
    if row is None or "cli" in row.gaps:
        raise WrongUsage(f"unknown command {name!r}", suggest(name))
    from importlib import import_module

    from otolith.doors.cli.command import Command

    family = next(family for family, names in FAMILIES.items() if name in names)
    with Command(row, rest) as command:
        command.find_records()
        code: int | None = import_module(f"otolith.doors.cli.{family}").COMMANDS[name](command)
        return code or 0


def run_hook(words: list[str]) -> int | None:
    """A hook as agents write it, `--home HOME` and an event, done without loading a parser; None if there is
    any other word.
    """
    home, words = (words[1], words[2:]) if words[:1] == ["--home"] and len(words) > 1 else (None, words)
    if len(words) > 1 or any(word.startswith("-") for word in (home or "", *words)):
        return None
    from otolith.doors.agents.hooks import fire

    return fire(words[0] if words else "", home)


def verb_at(given: list[str]) -> int | None:
    """Which of the words is the verb."""
    valued = ("--home", "--project", "--agent", "--session")
    return next((at for at, word in enumerate(given)
                 if not word.startswith("-") and (at == 0 or given[at - 1] not in valued)), None)


def overview(given: list[str]) -> int:
    """`otolith`, `otolith --help`, `otolith --version`."""
    if "--version" in given:
        from otolith import __version__

        print(f"otolith {__version__}")
        return 0
    wrong = [word for word in given if word not in ("--help", "-h", "--json")]
    if wrong:
        raise WrongUsage(f"option {wrong[0]!r} needs a command", "see: otolith --help")
    from otolith.verbs.table import table

    rows = table()
    print("Otolith: one local-first memory for AI agents.\n")
    print("usage: otolith VERB … [--home FOLDER] [--json]\n")
    groups = grouped()
    start, *others = groups
    print(f"{start}:")
    for name in groups[start]:
        print(f"  {name:<9}{rows[name].help}")
    for group in others:
        print("\n".join(wrapped(group, groups[group])))
    print("""
`otolith help VERB` explains a verb, `otolith help keep` a group of them.
A record is named by the beginning of its id, by its title or by a part of it.
The home is --home, else OTOLITH_HOME, else otolith among the user's data.""")
    return 0


def wrapped(group: str, names: Sequence[str]) -> list[str]:
    """The names of a group in lines of at most 80 columns."""
    lines = [f"{group + ':':<8}"]
    for at, name in enumerate(names, 1):
        piece = f" {name}" + ("," if at < len(names) else "")
        if len(lines[-1] + piece) > 80:
            lines.append(" " * 8)
        lines[-1] += piece
    return lines


def explain(words: Sequence[str]) -> int:
    """`otolith help`, with a verb, with a group, or with `all`."""
    groups = {group.casefold(): names for group, names in grouped().items()}
    topic = " ".join(words).casefold()
    if topic == "start":
        topic = "start here"
    if topic != "all" and topic not in groups:
        return run([*words, "--help"])
    for group, names in grouped().items():
        if topic in ("all", group.casefold()):
            print(f"{group}:")
            for name in names:
                row = verb(name)
                print(f"  {name:<15}{row.help if row else ''}")
    return 0


def suggest(name: str) -> str:
    from difflib import get_close_matches

    names = [name for names in FAMILIES.values() for name in names]
    near = [name for name in get_close_matches(name, names,
                                               3) if (row := verb(name)) and "cli" not in row.gaps]
    return f"did you mean {near[0]!r}?" if near else "see: otolith --help"


def complain(error: OtolithError, as_json: bool) -> int:
    """One line on stderr, after what was printed so far, and the error's own exit code."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        drop_output(sys.stdout)
    if as_json:
        import json

        line = json.dumps({"error": {"code": error.code, "message": error.message, "hint": error.hint}})
    else:
        from otolith.model.text import visible

        line = f"otolith: {visible(' '.join(str(error).split()))}"
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        drop_output(sys.stderr)
    return error.exit_code


def console() -> None:
    """The installed `otolith` script."""
    gc.set_threshold(50_000)  # a command lives shortly: it makes much and drops little
    sys.exit(main())
