"""Fixtures: a home in a temporary folder, a clock that stands still until told, the command line as a person runs it.

Cache and configuration lie in the temporary folder too, so no test sees another one or the machine it runs on.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dicttree import DictTree
from otolith.errors import Invalid
from otolith.memory import Memory

START = 1_770_759_420.0  # 2026-02-10T21:37:00Z, the seeds' own day
TESTS = str(Path(__file__).parent)
DISK = {"home", "run", "snapshot"}  # fixtures that need a folder
VERB_SUITE = {
    "test_ground_verbs", "test_chunk_verbs", "test_dialog_log", "test_dialog_build", "test_dialog_facts", "test_protocol",
    "test_gardening", "test_recall", "test_reasoning", "test_explore", "test_keys", "test_recording", "test_work_links",
    "test_work_recall", "test_work_tables", "test_work_depth", "test_agents", "test_climbing", "test_cold_storage",
    "test_retelling", "test_notices", "test_episodes", "test_merging_notes", "test_edge_files", "test_proposals",
    "test_reports", "test_state", "test_core_page", "test_reflection_page", "test_pictures", "test_hud"}
PRIVATE = ("OTOLITH_", "OPENAI_", "OLLAMA_")
os.environ.pop("PYTHONUNBUFFERED", None)  # commands are run as in a person's shell, where streams are buffered


class Clock:
    """The one fake that verbs see: seconds that pass only when a test says so."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def pass_time(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0) -> None:
        self.now += seconds + 60 * minutes + 3600 * hours + 86400 * days


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err)["error"]


@pytest.fixture(autouse=True)
def _own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(PRIVATE):
            monkeypatch.delenv(name)
    for name in ("CACHE", "CONFIG", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / f"xdg-{name.lower()}"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OTOLITH_PROJECT", "default")
    monkeypatch.setenv("OTOLITH_UPKEEP", "off")  # no test is surprised by a process of another


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def mem(request: pytest.FixtureRequest, clock: Clock) -> Iterator[Memory]:
    where = DictTree() if getattr(request, "param", "disk") == "dict" else request.getfixturevalue("home")
    with Memory(where, clock=clock) as memory:
        yield memory


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The verb suite runs twice: on a folder and on a dictionary. Not what takes the folder or a process to test."""
    own = metafunc.function.__code__.co_varnames[: metafunc.function.__code__.co_argcount]
    if "mem" in metafunc.fixturenames and metafunc.module.__name__.rpartition(".")[2] in VERB_SUITE \
            and DISK.isdisjoint(metafunc.fixturenames) and "tmp_path" not in own:
        metafunc.parametrize("mem", ["disk", "dict"], indirect=True)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Any:
    """A test that looks at the home's files by itself, through `mem.path`, has nothing to look at in a dictionary."""
    try:
        return (yield)
    except Invalid as error:
        calls = traceback.extract_tb(error.__traceback__)[-3:]
        if [call.name for call in calls[1:]] == ["path", "folder"] and calls[0].filename.startswith(TESTS):
            pytest.skip("looks at files by itself")
        raise


@pytest.fixture
def run(home: Path) -> Callable[..., Ran]:
    """`otolith …` as a real process on the test's home."""

    def call(*words: str, stdin: str | bytes = "", env: dict[str, str] | None = None, cwd: Path | None = None) -> Ran:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run([sys.executable, "-m", "otolith", *words], input=given, capture_output=True, check=False,
                              env={**os.environ, "OTOLITH_HOME": str(home), **(env or {})}, cwd=cwd, timeout=120)
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


@pytest.fixture
def snapshot(home: Path) -> Callable[[], dict[str, bytes]]:
    """Every file of the home, byte for byte, but for logs of use and the lock."""

    def take() -> dict[str, bytes]:
        return {str(path.relative_to(home)): path.read_bytes() for path in sorted(home.rglob("*"))
                if path.is_file() and not str(path.relative_to(home)).startswith(("log/", ".lock"))}

    return take
