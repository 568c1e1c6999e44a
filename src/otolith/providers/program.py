"""A language model behind a program of this machine: a prompt on stdin, an answer on stdout.

Any program will do; those in `KNOWN` are called by name and are started so that they offer no tools, run no
hooks and keep no session of their own. A program works in an empty folder, in a group of processes that is
ended as a whole when it takes too long or prints too much, and with an environment in which Otolith's own
hooks and server are off. Whatever goes wrong is a `Provider` error that says in one line what to do.
"""

from __future__ import annotations

import json
import os
import selectors
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import PurePath
from typing import IO, Any, NamedTuple

from otolith.errors import Invalid, Provider
from otolith.model.text import shorten, visible

MOST_PRINTED = 400_000  # bytes of an answer
WAIT = 5.0  # seconds for a program to end after its last word


class Preset(NamedTuple):
    """A program that is called by its name: how it starts, and with what it always runs.

    An option of `always` that the person gave stays as they gave it.
    """

    start: tuple[str, ...]
    always: tuple[tuple[str, ...], ...] = ()
    answer: str = ""  # the key of its JSON under which the answer stands; empty: it prints the answer itself
    needs: str = ""  # what a person must add to its name


KNOWN: Mapping[str, Preset] = {
    "claude": Preset(("claude", "-p", "--model", "haiku"), (
        ("-p",), ("--output-format", "json"), ("--tools", ""), ("--strict-mcp-config",),
        ("--no-session-persistence",), ("--safe-mode",)), "result"),
    "codex": Preset(("codex", "exec"), (
        ("--ephemeral",), ("--skip-git-repo-check",), ("--sandbox", "read-only"), ("--color", "never"),
        ("--disable=hooks",), ("--disable=shell_tool",), ("-",))),
    "gemini": Preset(("gemini",), (
        ("--output-format", "json"), ("--approval-mode", "plan"), ("--extensions", "none"),
        ("--allowed-mcp-server-names", "none"), ("--skip-trust",)), "response"),
    "opencode": Preset(("opencode", "run"), (("--pure",), ("--agent", "plan"))),
    "llm": Preset(("llm",), (("--no-stream",), ("--no-log",))),
    "ollama": Preset(("ollama", "run"), needs="the model's name: ollama run llama3.2"),
}
_MODEL = ("--model", "-m")


class Cost(NamedTuple):
    """What one answer cost: tokens as the program counts them, or else characters."""

    asked: int
    answered: int
    unit: str = "characters"  # or tokens
    dollars: float | None = None


def read_command(text: str) -> tuple[str, ...]:
    """The words of a command, or of a known program's name; Invalid if it cannot be one."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise Invalid(f"{text!r} is not a command: {error}", 'such as: "claude -p --model haiku"') from None
    preset = KNOWN.get(words[0]) if len(words) == 1 else None
    if preset and preset.needs:
        raise Invalid(f"{words[0]} needs {preset.needs}")
    if not words:
        raise Invalid("the command is empty", f"name one of {', '.join(KNOWN)}, or a program of your own")
    return preset.start if preset else words


class Program:
    """One command that answers."""

    def __init__(self, command: str, *, seconds: float, environment: Mapping[str, str]) -> None:
        self.words, self.seconds = read_command(command), seconds
        self.preset = KNOWN.get(PurePath(self.words[0]).name)
        self.cost: Cost | None = None
        self._environment = dict(environment)

    @property
    def name(self) -> str:
        """program:model, as `made_by` records it."""
        program, rest = PurePath(self.words[0]).name, self.words[1:]
        named = [after for word, after in pairwise(rest) if word in _MODEL]
        named += [word.partition("=")[2] for word in rest if word.startswith("--model=")]
        if program == "ollama":
            named = [word for word in rest[1:] if not word.startswith("-")]
        return f"{program}:{named[0]}" if named else program

    @property
    def argv(self) -> list[str]:
        """The command with what a known program always runs with."""
        words = list(self.words)
        for option in self.preset.always if self.preset else ():
            given = option[0] in words or any(word.startswith(f"{option[0]}=") for word in words)
            words += () if given or (option[0] == "-p" and "--print" in words) else option
        return words

    def __call__(self, question: str) -> str:
        printed = self._run(question.encode("utf-8", "replace")).decode("utf-8", "replace")
        text, self.cost = self._read(printed)
        if not text.strip():
            raise Provider(f"{self.name} answered nothing", "try it: otolith model test")
        self.cost = self.cost or Cost(len(question), len(text))
        return text

    def _read(self, printed: str) -> tuple[str, Cost | None]:
        """The answer in what was printed, and what it cost where that is told."""
        if not self.preset or not self.preset.answer:
            return printed, None
        try:
            given = json.loads(printed)
        except (ValueError, RecursionError):
            return printed, None  # the person chose another form
        if not isinstance(given, dict) or not isinstance(given.get(self.preset.answer), str):
            reason = given.get("error") if isinstance(given, dict) else None
            raise Provider(f"{self.name} gave no answer{_said(json.dumps(reason) if reason else '')}",
                           "try it: otolith model test")
        if given.get("is_error"):
            raise Provider(f"{self.name} failed{_said(given[self.preset.answer])}",
                           "try it: otolith model test")
        return given[self.preset.answer], _cost(given)

    def _run(self, question: bytes) -> bytes:
        with (tempfile.TemporaryDirectory(prefix="otolith-model-") as folder,
              tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as errors):
            given.write(question)
            given.seek(0)
            try:
                process = subprocess.Popen(self.argv, stdin=given, stdout=subprocess.PIPE, stderr=errors,
                                           cwd=folder, env=self._environment, start_new_session=True)
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                raise Provider(f"{self.words[0]} cannot be started: {reason}",
                               "is it installed? change it with: otolith config model") from None
            try:
                printed = self._collect(process)
                code = process.wait(WAIT)
            except subprocess.TimeoutExpired:
                raise Provider(f"{self.name} printed an answer and did not end") from None
            finally:
                _end(process)
            if code:
                errors.seek(0)
                last = (errors.read(4_000) or printed[:400]).decode("utf-8", "replace")
                raise Provider(f"{self.name} ended with {code}{_said(last)}", "try it: otolith model test")
            return printed

    def _collect(self, process: subprocess.Popen[bytes]) -> bytes:
        """What it prints, until it closes its side."""
        until, parts, size = time.monotonic() + self.seconds, list[bytes](), 0
        pipe: IO[bytes] | None = process.stdout
        if pipe is None:
            return b""
        with selectors.DefaultSelector() as waiting:
            waiting.register(pipe, selectors.EVENT_READ)
            while (left := until - time.monotonic()) > 0:
                if not waiting.select(left):
                    break
                part = os.read(pipe.fileno(), 65_536)
                if not part:
                    return b"".join(parts)
                parts.append(part)
                size += len(part)
                if size > MOST_PRINTED:
                    raise Provider(f"{self.name} printed more than {MOST_PRINTED:,} bytes",
                                   "it must print its answer and nothing else")
        raise Provider(f"{self.name} did not answer within {self.seconds:g} s", "upkeep tries again")


def _end(process: subprocess.Popen[bytes]) -> None:
    """The program and all that it started, whether it still runs or not."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _said(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f": {shorten(visible(lines[-1]), 160)}" if lines else ""


def _cost(given: Mapping[str, Any]) -> Cost | None:
    """What Claude Code and Gemini CLI tell of an answer."""
    usage, dollars = given.get("usage"), given.get("total_cost_usd")
    if isinstance(usage, dict):
        asked = [usage.get(name) for name in ("input_tokens", "cache_creation_input_tokens",
                                              "cache_read_input_tokens")]
        return Cost(_sum(asked), _sum([usage.get("output_tokens")]), "tokens",
                    dollars if isinstance(dollars, int | float) else None)
    stats = given.get("stats")
    models = stats.get("models") if isinstance(stats, dict) else None
    if not isinstance(models, dict):
        return None
    counts = [model.get("tokens", {}) for model in models.values() if isinstance(model, dict)]
    return Cost(_sum([count.get("prompt") for count in counts]),
                _sum([count.get("candidates") for count in counts]), "tokens")


def _sum(values: Sequence[Any]) -> int:
    return sum(value for value in values if isinstance(value, int))
