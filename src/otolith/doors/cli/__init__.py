"""The command line: `otolith VERB …`. Finds the verb's module by name and loads only that one.

Answers go to stdout, everything else to stderr. A failed command prints one line that says what to do and exits with the
error's own code; a traceback is a bug.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Sequence
from errno import EBADF, EDQUOT, EFBIG, EIO, ENOSPC
from typing import TextIO

from otolith.errors import CannotWrite, Invalid, OtolithError, Usage

UNWRITABLE = (ENOSPC, EDQUOT, EFBIG, EIO, EBADF)  # a home that cannot take a write says so itself; these are stdout's

# verb → (module, what it does); the module's COMMANDS has the rest.
VERBS: dict[str, tuple[str, str]] = {
    "init": ("tending", "make a home"),
    "remember": ("protocol", "keep a text as chunks"),
    "note": ("writing", "keep a note"),
    "memo": ("writing", "keep a named memory file"),
    "log": ("dialog", "keep a dialog and draw its facts"),
    "review": ("dialog", "score, correct or reject facts"),
    "record": ("work", "keep work that was done: intent, perception, reasoning, actions, outcome"),
    "agent": ("work", "register an agent or a subagent"),
    "chapter": ("work", "make a chapter of several works"),
    "edit": ("writing", "change a record"),
    "link": ("writing", "relate two records"),
    "unlink": ("writing", "take a relation back"),
    "pin": ("writing", "keep a record from fading"),
    "unpin": ("writing", "take a pin back"),
    "forget": ("writing", "put a record into the archive, or remove every trace of it"),
    "restore": ("writing", "bring a forgotten record back"),
    "merge": ("notes", "make two notes one, or undo that"),
    "episode": ("writing", "write a line in the diary"),
    "recall": ("finding", "find what is known about something"),
    "get": ("finding", "show one record"),
    "list": ("finding", "list records"),
    "related": ("finding", "show what is linked to a record"),
    "trace": ("work", "show what caused a record and what it led to"),
    "check-file": ("work", "tell who touched a file and what failed there"),
    "check-intent": ("work", "tell which earlier work had the same aim"),
    "agents": ("work", "list who works here"),
    "resume": ("work", "take up an agent's latest session"),
    "facts": ("dialog", "list the facts of a topic, or of all"),
    "topics": ("dialog", "list topics, or show one"),
    "global": ("dialog", "show what must not be forgotten, across all topics"),
    "chapters": ("work", "list chapters"),
    "wisdom": ("work", "show what the chapters teach together"),
    "sql": ("work", "ask the index with a SELECT"),
    "tags": ("notes", "list tags, see which go together, or have some suggested"),
    "edges": ("notes", "list, search, change, delete or propose edges between notes"),
    "graph": ("notes", "draw the links as Mermaid, Graphviz dot or SVG"),
    "reason": ("protocol", "think over chunks: synthesis, comparison, pattern, gap"),
    "explore": ("protocol", "have a model find an answer by looking; without one, the best evidence"),
    "brief": ("protocol", "tell what to know at the start of a session"),
    "hud": ("protocol", "show or set what the session is about"),
    "end": ("protocol", "keep what the session taught"),
    "stats": ("finding", "show how much of what there is"),
    "upkeep": ("notes", "the nightly round: sync, build, decay, reports"),
    "decay": ("notes", "score how strongly notes still stand, or explain one"),
    "embed": ("notes", "bring the vectors up to the records, write _embeddings.json"),
    "core": ("notes", "build and show CORE.md"),
    "reflect": ("notes", "find themes, and propose merges and insights"),
    "reflection": ("notes", "build and show REFLECTION.md"),
    "show": ("notes", "show a built page as it stands: core, reflection, global"),
    "cold": ("work", "gzip old, rarely used work, or show what would be"),
    "sync": ("tending", "take in what was changed by hand"),
    "reindex": ("tending", "rebuild the index and write its exports"),
    "garden": ("protocol", "propose which memos to supersede or combine, and do it"),
    "check": ("tending", "name everything that wants a person's eye"),
    "import": ("agents", "take over what other systems remember"),
    "export": ("agents", "write the home, or a part of it, into one file"),
    "mcp": ("agents", "serve agents over MCP"),
    "serve": ("serve", "open the page, REST and MCP on this machine"),
    "hook": ("agents", "answer a coding agent's event"),
    "install": ("agents", "make a coding agent use this memory"),
    "uninstall": ("agents", "take that back"),
    "config": ("tending", "show or change settings"),
    "completion": ("tending", "print a tab completion script"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code. A hook's is always 0: to an agent another one means "stop"."""
    given = list(sys.argv[1:] if argv is None else argv)
    code = attempt(given, "--json" in given)
    at = verb_at(given)
    return 0 if at is not None and given[at] == "hook" else code


def attempt(given: list[str], as_json: bool) -> int:
    """Run one command, and tell what goes wrong."""
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
    """What nobody foresaw: told in one line, or as it is to who asks for it."""
    if os.environ.get("OTOLITH_DEBUG"):
        raise error
    return complain(OtolithError(f"this is a bug in Otolith: {type(error).__name__}: {error}",
                                "run again with OTOLITH_DEBUG=1 for the details"), as_json)


def open_streams() -> None:
    """No sign that a terminal lacks makes a command fail; a closed stdout does, before a file of ours takes its number.

    A closed stdin is an empty one.
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
    """A command's words are text; bytes that are none are kept by the system as halves of pairs."""
    for word in given:
        if not word.isascii() and any("\ud800" <= sign <= "\udfff" for sign in word):
            raise Invalid(f"an argument is not UTF-8 text: {os.fsencode(word)!r}", "write it in UTF-8")


def run(given: list[str]) -> int:
    """Find the verb among the words, load its module, do it."""
    at = verb_at(given)
    if at is None:
        return overview(given)
    verb = given[at]
    if verb == "help":
        return run([*given[at + 1 :], "--help"]) if given[at + 1 :] else overview(["--help"])
    if verb not in VERBS:
        raise Usage(f"no command {verb!r}", suggest(verb))
    from importlib import import_module

    module = import_module(f"otolith.doors.cli.{VERBS[verb][0]}")
    from otolith.doors.cli.desk import Desk

    desk = Desk(verb, VERBS[verb][1], module.COMMANDS[verb], given[:at] + given[at + 1 :])
    with desk:
        return module.COMMANDS[verb].run(desk) or 0


def verb_at(given: list[str]) -> int | None:
    """Which of the words is the verb."""
    return next((at for at, word in enumerate(given) if not word.startswith("-") and not _takes_value(given, at)), None)


def _takes_value(given: list[str], at: int) -> bool:
    return at > 0 and given[at - 1] in ("--home", "--project", "--agent", "--session")


def overview(given: list[str]) -> int:
    """`otolith`, `otolith --help`, `otolith --version`."""
    if "--version" in given:
        from otolith import __version__

        print(f"otolith {__version__}")
        return 0
    wrong = [word for word in given if word not in ("--help", "-h", "--json")]
    if wrong:
        raise Usage(f"no option {wrong[0]!r} without a command", "see: otolith --help")
    width = max(map(len, VERBS)) + 2
    print("Otolith: one local-first memory for AI agents.\n\nusage: otolith VERB … [--home FOLDER] [--json]\n")
    for verb, (_, what) in VERBS.items():
        print(f"  {verb:<{width}}{what}")
    print("\nExamples:\n  otolith note 'Redis drops idle connections' --text 'Set socket_keepalive.' --tag redis\n"
          "  otolith recall 'why does redis disconnect'\n\n`otolith VERB --help` tells more. The home is --home, else "
          "OTOLITH_HOME, else\nthe otolith folder among the user's data.")
    return 0


def suggest(verb: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(verb, VERBS, 1)
    return f"did you mean {near[0]!r}?" if near else "see: otolith --help"


def complain(error: OtolithError, as_json: bool) -> int:
    """One line on stderr, after what was said so far, and the error's own exit code."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        drop_output(sys.stdout)
    if as_json:
        import json

        told = json.dumps({"error": {"code": error.code, "message": error.message, "hint": error.hint}})
    else:
        from otolith.model.text import visible

        told = f"otolith: {visible(' '.join(str(error).split()))}"
    try:
        print(told, file=sys.stderr, flush=True)
    except OSError:
        drop_output(sys.stderr)
    return error.exit_code


def console() -> None:
    """The installed `otolith` script."""
    gc.set_threshold(50_000)  # a command lives shortly: it makes much and drops little
    sys.exit(main())
