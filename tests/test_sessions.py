"""What the manual shows, the suite runs: transcripts under tests/sessions/ and the README's own blocks.

A line that begins with `$ ` is a command, `> ` continues it; the lines up to the next command are what it prints (stdout and
stderr together). Within a line … stands for anything; a line that is only … stands for any number of lines. All commands of
one transcript run in one folder, on one new home.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

TESTS = Path(__file__).parent
README = TESTS.parent / "README.md"
PAGES = sorted(path for path in (TESTS.parent / "docs").glob("*.md") if "```console" in path.read_text(encoding="utf-8"))
SESSIONS = sorted((TESTS / "sessions").glob("*.txt"))


class Step(NamedTuple):
    """A command and what it is to print."""

    command: str
    expected: list[str]


def read_steps(text: str) -> list[Step]:
    steps: list[Step] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            steps.append(Step(line[2:], []))
        elif line.startswith("> ") and steps and not steps[-1].expected:
            steps[-1] = Step(f"{steps[-1].command}\n{line[2:]}", [])
        elif steps:
            steps[-1].expected.append(line)
    return [Step(command, _trimmed(expected)) for command, expected in steps]


def _trimmed(lines: list[str]) -> list[str]:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def matches(printed: str, expected: list[str]) -> bool:
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line.rstrip()).replace("…", ".*") + r"[ \t]*\n"
                      for line in expected)
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in _trimmed(printed.splitlines()))) is not None


def replay(steps: list[Step], folder: Path) -> None:
    env = {**os.environ, "HOME": str(folder), "OTOLITH_HOME": str(folder / "memory"), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
           "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
    for step in steps:
        done = subprocess.run(["sh", "-c", step.command], cwd=folder, env=env, stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=120)
        printed = done.stdout.decode()
        assert matches(printed, step.expected), f"$ {step.command}\n{printed}\nexpected:\n" + "\n".join(step.expected)


@pytest.mark.parametrize("transcript", SESSIONS, ids=lambda path: path.stem)
def test_a_transcript_runs_as_it_is_written(transcript: Path, tmp_path: Path) -> None:
    steps = read_steps(transcript.read_text(encoding="utf-8"))
    assert steps
    replay(steps, tmp_path)


def _blocks(language: str, page: Path = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_s_commands_run_as_they_are_written(page: Path, tmp_path: Path) -> None:
    replay([step for block in _blocks("console", page) for step in read_steps(block)], tmp_path)


def test_every_page_is_linked_from_the_readme_or_from_a_page_that_is() -> None:
    linked, todo = set[Path](), [README]
    while todo:
        page = todo.pop()
        for name in re.findall(r"\]\(([\w./-]+\.md)\)", page.read_text(encoding="utf-8")):
            target = (page.parent / name).resolve()
            assert target.exists(), f"{page.name} links to {name}"
            if target not in linked:
                linked.add(target)
                todo.append(target)
    assert {page.resolve() for page in (TESTS.parent / "docs").glob("*.md")} <= linked


def test_the_readme_s_terminal_session_runs_as_it_is_written(tmp_path: Path) -> None:
    steps = [step for block in _blocks("console") for step in read_steps(block)]
    assert steps
    replay([step for step in steps if step.command.startswith("otolith")], tmp_path)


def test_the_readme_s_python_runs(tmp_path: Path) -> None:
    blocks = _blocks("python")
    assert blocks
    script = "\n".join(blocks).replace("~/memory", str(tmp_path / "memory"))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_a_transcript_that_prints_something_else_is_noticed() -> None:
    assert matches("kept note 1\n", ["kept … 1"])
    assert matches("a\nb\nc\n", ["a", "…", "c"])
    assert not matches("kept note 2\n", ["kept … 1"])
    assert not matches("kept note 1\nand more\n", ["kept … 1"])
