"""Hooks beside `python -c "import sqlite3, json"`, in the same run: processor time of the hook's process, and wall time.

    python -m bench.hooks [--notes 300] [--turns 40] [--rounds 9]

Alone, and with a process that serves the home. A home of made-up notes and works; a transcript of so many requests of which Stop
has seen all but the last. Every command is run in turn with the floor, so that a busy machine is as busy for all; told are
medians of the ratios. Limits: PreToolUse and SessionEnd 4; prompt and brief 4 with a server, a cold recall without; Stop 5.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

FLOOR = [sys.executable, "-c", "import sqlite3, json"]
WORDS = """cache index token login page build schema user query retry queue parse render route model timer session cookie
signal batch stream buffer socket thread lock graph tree node edge path depot parcel invoice label driver""".split()


class Spent(NamedTuple):
    """What a process cost."""

    cpu: float
    wall: float


def spend(command: Sequence[str], given: bytes = b"") -> Spent:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, input=given, capture_output=True, check=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Spent(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall)


def fill(home: Path, notes: int) -> None:
    from otolith.memory import Memory

    chance = random.Random(1)
    with Memory(home) as mem, mem.bulk():
        for at in range(notes):
            mem.note(" ".join(chance.sample(WORDS, 3)), f"The {' '.join(chance.sample(WORDS, 12))} is {at}.",
                     type=chance.choice(["decision", "fix", "general"]), project="app")
        for at in range(notes // 5):
            mem.record(goal=" ".join(chance.sample(WORDS, 5)), task_type="bug_fix", success=at % 3 > 0, project="app",
                       summary=" ".join(chance.sample(WORDS, 8)), files=[f"src/{chance.choice(WORDS)}.py"])


def transcript(path: Path, turns: int) -> None:
    """Requests with an edit and an answer each, as Claude Code writes them."""
    chance, lines = random.Random(2), []

    def line(role: str, content: Any) -> None:
        at = len(lines)
        lines.append(json.dumps({
            "type": role, "sessionId": "bench", "uuid": f"u-{at}", "cwd": "/src/app", "version": "2.1.30",
            "timestamp": f"2026-02-10T{10 + at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}.000Z",
            "message": {"role": role, "content": content, **({"id": f"m-{at}"} if role == "assistant" else {})}}))

    for at in range(turns):
        line("user", f"Please make the {' '.join(chance.sample(WORDS, 4))} faster, and keep the {chance.choice(WORDS)} as it is.")
        line("assistant", [{"type": "text", "text": "I will look."}, {"type": "tool_use", "id": f"t-{at}", "name": "Edit", "input": {
            "file_path": f"/src/app/src/{chance.choice(WORDS)}.py", "old_string": "a = 1", "new_string": f"a = {at}"}}])
        line("user", [{"type": "tool_result", "tool_use_id": f"t-{at}", "content": "The file has been updated."}])
        line("assistant", [{"type": "text", "text": f"The {' '.join(chance.sample(WORDS, 6))} is faster now."}])
    path.write_text("\n".join(lines) + "\n")


@contextmanager
def serving(otolith: Sequence[str], home: Path) -> Any:
    from otolith import config

    server = subprocess.Popen([*otolith, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        while not config.socket_path(str(home)).exists():
            time.sleep(0.05)
        time.sleep(8)  # it has loaded what answers need
        yield
    finally:
        server.kill()
        server.communicate()


def compare(commands: dict[str, tuple[Sequence[str], bytes]], rounds: int) -> dict[str, Spent]:
    ratios: dict[str, list[Spent]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, (command, given) in commands.items():
            floor, spent = spend(FLOOR), spend(command, given)
            ratios[name].append(Spent(spent.cpu / floor.cpu, spent.wall / floor.wall))
    return {name: median(some) for name, some in ratios.items()}


def stop(otolith: Sequence[str], path: Path, turns: int, rounds: int) -> dict[str, Spent]:
    """A Stop after one more request, the ones before it known, and the end of a session of which all is."""
    given = {"session_id": path.stem, "transcript_path": str(path), "cwd": str(path.parent)}
    events = {event: ([*otolith, "hook", event], json.dumps({**given, "hook_event_name": event}).encode())
              for event in ("Stop", "SessionEnd")}
    made = path.with_name("made.jsonl")
    transcript(made, turns + rounds)
    lines, ratios = made.read_text().splitlines(keepends=True), dict[str, list[Spent]]()
    for at in range(turns, turns + rounds + 1):
        path.write_text("".join(lines[: 4 * at]))
        for event, (command, data) in events.items():
            floor, spent = spend(FLOOR), spend(command, data)
            if at > turns:
                ratios.setdefault(event, []).append(Spent(spent.cpu / floor.cpu, spent.wall / floor.wall))
    return {name: median(some) for name, some in ratios.items()}


def median(some: Sequence[Spent]) -> Spent:
    return Spent(statistics.median(one.cpu for one in some), statistics.median(one.wall for one in some))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name, default in (("notes", 300), ("turns", 40), ("rounds", 9)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hooks-") as name:
        root = Path(name).resolve()
        os.environ.update(HOME=name, XDG_CACHE_HOME=f"{name}/c", XDG_CONFIG_HOME=f"{name}/f", XDG_DATA_HOME=f"{name}/d",
                          XDG_RUNTIME_DIR=f"{name}/r", OTOLITH_UPKEEP="off", OTOLITH_PROJECT="app")
        home, app = root / "home", root / "app"
        app.mkdir()
        fill(home, options.notes)
        otolith = [sys.executable, "-m", "otolith", "--home", str(home)]

        def hook(event: str, **more: Any) -> tuple[Sequence[str], bytes]:
            return [*otolith, "hook", event], json.dumps({"session_id": f"s-{random.random()}", "cwd": str(app),
                                                          "hook_event_name": event, **more}).encode()

        prompt = "what did we decide about the retry queue of the parcel label, and does the depot cache know?"
        told = {"brief": hook("SessionStart", source="startup"), "prompt": hook("UserPromptSubmit", prompt=prompt),
                "PreToolUse": hook("PreToolUse", tool_name="Edit", tool_input={"file_path": "src/cache.py"})}
        alone = {"recall": ([*otolith, "recall", prompt], b""), **told,
                 "SessionEnd": hook("SessionEnd", transcript_path=str(root / "none.jsonl"))}
        spend(*alone["recall"])  # what is to be drawn and embedded first
        show("alone", compare(alone, options.rounds))
        for turns in (options.turns, 10 * options.turns):
            show(f"alone, after {turns} requests", stop(otolith, root / f"t{turns}.jsonl", turns, options.rounds))
        with serving(otolith, home):
            show("with a server", compare(told, options.rounds))
            show(f"with a server, after {options.turns} requests", stop(otolith, root / "t.jsonl", options.turns, options.rounds))


def show(title: str, rows: dict[str, Spent]) -> None:
    print(f"{title}: processor time, wall time; times the floor")
    for name, spent in rows.items():
        print(f"  {name:12}{spent.cpu:6.2f}{spent.wall:8.2f}", flush=True)


if __name__ == "__main__":
    main()
