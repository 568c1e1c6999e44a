"""What was measured, kept: a piece of a benchmark is measured again only if something that it used has changed.

    python bench/measured.py USED.json SCRIPT WORD…      run a script, then write down which of our files it used

A piece is a script with its words. What it printed is kept in bench/.measured with the hash of everything that it used: each
module of ours that it imported, what lies beside those, and the data that it was given. One that fails or takes too long is
ended, with all that it started, and not kept; a run that is broken off goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT, FOLDER = HERE.parent, HERE / ".measured"
SECONDS = 3600  # that a piece may take
FAILED = "(cut short: "
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}


class Piece(NamedTuple):
    """A part's piece: what is run, and the data that it is given."""

    part: str
    name: str
    script: str
    words: Sequence[str]
    data: Sequence[Path] = ()
    seconds: float = SECONDS

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.part}-{self.name}.json"


class Result(NamedTuple):
    """What a piece printed, when, and how busy the machine was; with the hashes of what it used."""

    lines: Sequence[str]
    day: str = ""
    load: float = 0.0
    words: Sequence[str] = ()
    used: Mapping[str, str] = {}


def read(piece: Piece) -> Result | None:
    """What is kept of a piece, be it up to date or not."""
    try:
        return Result(**json.loads(piece.file.read_text()))
    except (OSError, ValueError, TypeError):
        return None


def is_fresh(piece: Piece) -> bool:
    """Was it measured with everything as it is now?"""
    kept = read(piece)
    return kept is not None and [*kept.words] == [*piece.words] and all(
        _hash(ROOT / name) == mark for name, mark in kept.used.items() if not name.startswith("data: ")) and (
        {name: mark for name, mark in kept.used.items() if name.startswith("data: ")} == dict(_data(piece)))


def measure(piece: Piece) -> Result:
    """Run a piece and keep what it printed, unless it failed."""
    FOLDER.mkdir(exist_ok=True)
    used = piece.file.with_suffix(".used")
    used.unlink(missing_ok=True)
    hushed = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")}
    child = subprocess.Popen([sys.executable, __file__, str(used), str(HERE / piece.script), *piece.words], cwd=HERE, text=True,
                             env={**hushed, **ONE_THREAD}, stdout=subprocess.PIPE,
                             start_new_session=True)  # else they share one session's processor time; and to end them all
    why = ""
    try:
        said = child.communicate(timeout=piece.seconds)[0]
    except subprocess.TimeoutExpired:
        why = f"not done after {piece.seconds:.0f} s"
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            said = child.communicate()[0]
    lines = [line for line in said.splitlines() if line.startswith("|")]
    if why or child.returncode or not used.exists():
        why = why or f"ended with {child.returncode}"
        return Result([*lines, f"{FAILED}{piece.part}, {piece.name}: {why})"], *_now())
    ours = {name: _hash(ROOT / name) for name in json.loads(used.read_text())}
    used.unlink()
    result = Result(lines, *_now(), piece.words, {**ours, **dict(_data(piece))})
    aside = piece.file.with_suffix(".new")
    aside.write_text(json.dumps(result._asdict(), indent=1))
    aside.replace(piece.file)
    return result


def told(results: Sequence[Result]) -> str:
    """When these were measured, and how busy the machine was."""
    days, loads = sorted({result.day for result in results if result.day}), sorted(result.load for result in results)
    if not days:
        return "(Not measured.)"
    dates = " and ".join(f"{datetime.fromisoformat(day):%d %B %Y}" for day in dict.fromkeys((days[0], days[-1])))
    low, high = f"{loads[0]:.1f}", f"{loads[-1]:.1f}"
    return f"({dates}, load {low if low == high else f'{low} to {high}'} on {os.cpu_count()} cores.)"


def _now() -> tuple[str, float]:
    return f"{datetime.now(UTC):%Y-%m-%d}", round(os.getloadavg()[1], 1)


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else ""


def _name(path: Path) -> str:
    """From the root of the repository, if it lies there."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def _data(piece: Piece) -> Iterator[tuple[str, str]]:
    for path in piece.data:
        yield f"data: {path.name}", _hash(path)


def _used() -> list[str]:
    """Our modules that are loaded and what lies beside them, from the root of the repository."""
    files = {Path(module.__file__).resolve() for module in [*sys.modules.values()] if getattr(module, "__file__", None)}
    ours = {path for path in files if path.is_relative_to(HERE) or path.is_relative_to(ROOT / "src")}
    beside = {path for folder in {path.parent for path in ours} - {HERE} for path in folder.iterdir()
              if path.is_file() and path.suffix != ".py"}
    return sorted(map(_name, ours | beside))


def main(out: str, script: str, *words: str) -> None:
    """Run a script as if it had been called itself."""
    sys.argv = [script, *words]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise
    Path(out).write_text(json.dumps([_name(Path(script)), *_used()]))


if __name__ == "__main__":
    main(*sys.argv[1:])
