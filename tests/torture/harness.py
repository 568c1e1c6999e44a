"""What all parts share: a world to break, the sizes of a run, trials over several processes, and one table."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import stat
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from otolith.memory import Memory

os.environ.setdefault("OMP_NUM_THREADS", "1")  # children are forked, and threads do not come along

PARTS = ("kills", "cuts", "iofaults", "crowd", "mutants", "damage", "tokens", "hostile", "residue")
NOW = 1_770_759_420.0  # 2026-02-10T21:37:00Z
PRIVATE = ("OTOLITH_", "OPENAI_", "OLLAMA_", "XDG_")
MOST_TOLD = 20  # failures of a row that are printed


class Size(NamedTuple):
    """How much of everything: `of(sample, full)` picks, `seed` makes other trials of those that are drawn;
    no trial begins after so many `seconds`.
    """

    full: bool
    seed: int = 1
    seconds: float = float("inf")

    def of(self, sample: int, full: int) -> int:
        return full if self.full else sample


class Outcome(NamedTuple):
    """What trials gave: how many things were tried, what went wrong in a line each, and in how many of them."""

    tried: int
    failures: Sequence[str]
    failed: int = -1

    @property
    def bad(self) -> int:
        """One thing that fails in several ways has failed once."""
        return self.failed if self.failed >= 0 else min(self.tried, len(self.failures))


class World:
    """A folder with a home, a cache, settings and a machine of its own; the environment points into it."""

    def __init__(self, root: Path) -> None:
        self.root, self.home = root, root / "home"
        self.cache, self.config = root / "xdg-cache", root / "xdg-config"
        self.environment = {
            "HOME": str(root), "OTOLITH_HOME": str(self.home), "OTOLITH_PROJECT": "default",
            "OTOLITH_SESSION": "session-a", **{f"XDG_{name.upper()}_HOME": str(root / f"xdg-{name}")
                                               for name in ("cache", "config", "data", "runtime")}}
        self.stash: dict[str, Any] = {}  # what a part worked out once for all its trials
        self.after = ExitStack()  # what is to be ended with it

    def open(self, *, at: float = NOW + 3600, salt: str = "") -> Memory:
        """The home on a day that stands still, with ids that are the same every time."""
        numbers = count(1)
        return Memory(self.home, clock=lambda: at, new_id=lambda: sha256(f"{salt}{next(numbers)}".encode()).hexdigest()[:32])

    def clear(self) -> None:
        """Nothing is there; the home's folder itself stays, so that an index that was kept stays its own."""
        for folder in (self.home, self.cache, self.config):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            for path in folder.iterdir():
                remove(path)


@contextmanager
def new_world(where: str | None = None) -> Iterator[World]:
    """A world in memory where there is a file system for that, for most trials do not look at the disk."""
    place = where or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    world = World(Path(tempfile.mkdtemp(prefix="otolith-torture-", dir=place)))
    try:
        with inside(world):
            yield world
    finally:
        shutil.rmtree(world.root, ignore_errors=True)


@contextmanager
def inside(world: World) -> Iterator[None]:
    """The environment points into the world and nowhere else."""
    before = dict(os.environ)
    for name in [name for name in os.environ if name.startswith(PRIVATE)]:
        del os.environ[name]
    os.environ.update(world.environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class Rewind:
    """Folders as they are now, to be put back: only what is no longer as it was is written again."""

    def __init__(self, *folders: Path) -> None:
        self.folders = folders
        self.files = {folder: dict(_looks(folder)) for folder in folders}
        self.bytes = {folder: {name: (folder / name).read_bytes() for name, look in files.items()
                               if stat.S_ISREG(look[0])} for folder, files in self.files.items()}
        self.links = {folder: {name: os.readlink(folder / name) for name, look in files.items()
                               if stat.S_ISLNK(look[0])} for folder, files in self.files.items()}

    def back(self) -> None:
        for folder in self.folders:
            if not folder.is_dir():
                remove(folder)
                folder.mkdir(parents=True)
            self._back(folder)

    def _back(self, folder: Path) -> None:
        then, now = self.files[folder], dict(_looks(folder))
        for name in sorted(now.keys() - then.keys(), reverse=True):
            remove(folder / name)
        for name, look in then.items():
            if now.get(name) == look:
                continue
            path = folder / name
            if stat.S_ISDIR(look[0]):
                path.mkdir(mode=stat.S_IMODE(look[0]), exist_ok=True)
                path.chmod(stat.S_IMODE(look[0]))
                continue
            remove(path)
            if stat.S_ISLNK(look[0]):
                os.symlink(self.links[folder][name], path)
            else:
                path.write_bytes(self.bytes[folder][name])
                path.chmod(stat.S_IMODE(look[0]))
            then[name] = _look(path)


def _look(path: Path) -> tuple[int, ...]:
    status = path.lstat()
    if stat.S_ISDIR(status.st_mode):
        return (status.st_mode,)
    return status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _looks(folder: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Each file and folder below, folders before what is in them."""
    for path in sorted(folder.rglob("*")):
        yield path.relative_to(folder).as_posix(), _look(path)


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def files(folder: Path) -> dict[str, bytes]:
    """Every visible file of a folder; what writers have not given its name yet is not visible."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.is_symlink() and not path.name.startswith(".otolith-") and path.name != ".lock"}


def told(error: BaseException) -> str:
    """An error in one line, with where it came from if it is none of ours."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {str(error)[:300]} ({Path(place.filename).name}:{place.lineno})"


# Runs: every worker lists all trials and takes each n-th

def run_part(part: str, size: Size, jobs: int = 1, only: str = "", row: str = "") -> dict[str, Outcome]:
    """Row → outcome of a part's trials, or of those of one row."""
    module = import_module(f"tests.torture.{part}")
    jobs = 1 if only else min(jobs, getattr(module, "JOBS", jobs))
    if jobs == 1:
        return _add(_work(module, size, 0, 1, only, row))
    with tempfile.TemporaryDirectory(prefix="otolith-results-") as folder:
        children = {}
        for worker in range(jobs):
            child = os.fork()
            if child == 0:
                _worker(module, size, worker, jobs, row, Path(folder) / str(worker))
            children[child] = Path(folder) / str(worker)
        return _add(_collected(part, children))


def _worker(module: Any, size: Size, worker: int, jobs: int, only_row: str, results: Path) -> None:
    code = 1
    try:
        with results.open("w", buffering=1) as file:
            for row, outcome in _work(module, size, worker, jobs, "", only_row):
                file.write(json.dumps([row, *outcome]) + "\n")
        code = 0
    except BaseException:  # noqa: BLE001 (a worker is a process of its own; its parent counts that it died)
        traceback.print_exc()
    finally:
        os._exit(code)


def _collected(part: str, children: dict[int, Path]) -> Iterator[tuple[str, Outcome]]:
    for child, results in children.items():
        _, status = os.waitpid(child, 0)
        for line in results.read_text().splitlines():
            row, *outcome = json.loads(line)
            yield row, Outcome(*outcome)
        if status:
            yield part, Outcome(1, [f"{part}: a worker ended with status {status}"])


def _work(module: Any, size: Size, worker: int, jobs: int, only: str, only_row: str) -> Iterator[tuple[str, Outcome]]:
    part = module.__name__.rpartition(".")[2]
    with new_world(getattr(module, "PLACE", None)) as world, ExitStack() as world.after:
        names = [only] if only else [name for name in module.trials(size, world) if name.startswith(only_row)][worker::jobs]
        if size.seconds < float("inf"):
            random.Random(size.seed).shuffle(names)  # a run that is cut short has tried something of everything
        begun = time.monotonic()
        for at, name in enumerate(names):
            if time.monotonic() - begun > size.seconds:
                break
            row = module.TITLES.get(name.partition(":")[0], part)
            try:
                outcome = module.run(name, world)
            except Exception as error:  # noqa: BLE001 (whatever it is, it is this trial's failure)
                outcome = Outcome(1, [told(error)])
            if not isinstance(outcome, Outcome):
                outcome = Outcome(1, [*outcome])
            command = f"python -m tests.torture {part} --only '{name}' --seed {size.seed}"
            lines = [f"{name}: {failure}\n      repeat: {command}" for failure in outcome.failures[: 3 if outcome.tried == 1 else MOST_TOLD]]
            if size.full and lines:
                print(f"  FAILED {lines[0]}", file=sys.stderr, flush=True)  # hours before the table
            yield row, Outcome(outcome.tried, lines, outcome.bad)
            if sys.stderr.isatty() or (size.full and worker == 0 and at % 500 == 499):
                print(f"  {part} {at + 1}/{len(names)} {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)


def _add(outcomes: Iterable[tuple[str, Outcome]]) -> dict[str, Outcome]:
    rows: dict[str, Outcome] = {}
    for row, outcome in outcomes:
        tried, failures, failed = rows.get(row, Outcome(0, [], 0))
        rows[row] = Outcome(tried + outcome.tried, [*failures, *outcome.failures], failed + outcome.bad)
    return rows


def table(rows: dict[str, Outcome]) -> str:
    """The table as Markdown."""
    lines = [f"| {name} | {outcome.tried:,} | {outcome.bad:,} |" for name, outcome in rows.items()]
    return "\n".join(["| test | tried | failed |", "|---|---:|---:|", *lines])


# Children

def dies(act: Callable[[], Any], after: float) -> bool:
    """Run an act in a child that is killed after so many seconds of its own work, wherever it is; whether it was.

    By the clock on the wall, most children on a busy machine would die before they have begun.
    """
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)  # whose default is the end, at once, as by kill -9
            signal.setitimer(signal.ITIMER_PROF, max(after, 1e-6))
            act()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])
