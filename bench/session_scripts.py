"""Sessions for the benches: made-up ones written as scripts, real ones as an agent wrote them, fed through hooks.

A script opens with `id:`, `project:`, `day:`; then `U>` is what the person says, `A>` what the agent answers, `T>`
a tool and what it is given, `R>` its result, `X>` a failing one; lines without a mark go on. `K> regex :: what`
is something that should be known afterwards, `J>` something that must not be kept, {SECRET:kind} a secret that is
made up when the script is read, so that no scanner of repositories takes fright.
"""

from __future__ import annotations

import json
import os
import random
import re
import string
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from otolith.doors.agents import hooks

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "sessions"
_MARK = re.compile(r"^([UATRXKJ])> ?(.*)$")
_SECRET = re.compile(r"\{SECRET:(\w+)\}")
_LENGTHS = {"ghp_": 36, "aws": 40, "word": 12}


class Script(NamedTuple):
    """A session: the lines of its transcript in pieces that end where the agent stops, and what to expect of it."""

    name: str
    session: str
    project: str
    day: str
    pieces: list[list[dict[str, Any]]]
    wanted: tuple[tuple[str, ...], ...] = ()  # pattern, what it stands for
    junk: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


def read_script(path: Path) -> Script:
    """A script as a transcript of Claude Code."""
    secrets: list[str] = []
    text = _SECRET.sub(lambda mark: secrets.append(_secret(mark[1], path.stem)) or secrets[-1], path.read_text("utf-8"))
    head = dict(re.findall(r"^(id|project|day): (.+)$", text, re.MULTILINE))
    events: list[list[str]] = []
    for line in text.splitlines():
        if mark := _MARK.match(line):
            events.append([mark[1], mark[2]])
        elif events:
            events[-1][1] += f"\n{line}"
    pieces: list[list[dict[str, Any]]] = []
    for sign, given in events:
        if sign in "UATRX":
            if sign == "U":
                pieces.append([])
            pieces[-1].append(_line(head, sign, given, sum(map(len, pieces))))
    wanted = tuple(tuple(given.split(" :: ", 1)) for sign, given in events if sign == "K")
    return Script(path.stem, head["id"], head["project"], head["day"], pieces, wanted,
                  tuple(given for sign, given in events if sign == "J"), tuple(secrets))


def _secret(kind: str, seed: str) -> str:
    value = "".join(random.Random(seed + kind).choices(string.ascii_letters + string.digits, k=_LENGTHS[kind]))
    return {"word": f"{value[:-2]}!7", "ghp_": f"ghp_{value}"}.get(kind, value)


def _line(head: dict[str, str], sign: str, given: str, number: int) -> dict[str, Any]:
    """One line of a transcript; a result belongs to the call on the line before."""
    call = f"call-{head['id']}-{number - (sign in 'RX')}"
    if sign == "T":
        tool, _, inputs = given.partition(" ")
        content: Any = [{"type": "tool_use", "id": call, "name": tool, "input": json.loads(inputs)}]
    elif sign in "RX":
        content = [{"type": "tool_result", "tool_use_id": call, "content": given, "is_error": sign == "X"}]
    else:
        content = given if sign == "U" else [{"type": "text", "text": given}]
    role = "assistant" if sign in "AT" else "user"
    return {"type": role, "sessionId": head["id"], "cwd": "FOLDER", "uuid": f"{head['id']}-{number}", "parentUuid": None,
            "isSidechain": False, "version": "2.1.0", "timestamp": f"{head['day']}T{10 + number // 60}:{number % 60:02}:00.000Z",
            "message": {"role": role, "content": content}}


def read_scripts(folder: Path = FOLDER, prefix: str = "") -> list[Script]:
    return [read_script(path) for path in sorted(folder.glob(f"{prefix}*.txt"))]


def read_shared(folder: Path) -> list[Script]:
    """The real sessions of a set that lies outside the project, in the order of their days."""
    planted = [json.loads(line) for line in (folder / "secrets.jsonl").read_text("utf-8").splitlines() if line.strip()]
    scripts = []
    for path in sorted((folder / "sessions").glob("*.jsonl")):
        text = path.read_text("utf-8")
        for row in planted:
            if "mark" in row and row["session"] == path.stem:
                text = text.replace(row["mark"], row["value"] if "value" in row else row["reversed"][::-1])
        lines = [json.loads(line) for line in text.split("\n") if line.strip()]
        root = lines[0]["cwd"]
        lines = json.loads(json.dumps(lines).replace(root, "FOLDER"))
        scripts.append(Script(path.stem, lines[0]["sessionId"], Path(root).name, lines[0]["timestamp"], _pieces(lines)))
    return sorted(scripts, key=lambda script: script.day)


def _pieces(lines: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    pieces: list[list[dict[str, Any]]] = []
    for line in lines:
        if not pieces or (line["type"] == "user" and isinstance(line["message"]["content"], str)):
            pieces.append([])
        pieces[-1].append(line)
    return pieces


def settle(base: Path) -> Path:
    """A scratch folder in which everything of Otolith lies; returns the home in it."""
    for name in [name for name in os.environ if name.startswith("OTOLITH_") and name != "OTOLITH_BENCH"]:
        del os.environ[name]
    places = {f"XDG_{kind}_HOME": str(base / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA", "STATE")}
    os.environ.update({"HOME": str(base), "OTOLITH_HOME": str(base / "memory"), "OTOLITH_DEBUG": "1", **places})
    return base / "memory"


def feed(base: Path, script: Script) -> None:
    """One session through the hooks: SessionStart, Stop after every answer, SessionEnd."""
    folder, path = base / "work" / script.project, base / f"{script.session}.jsonl"
    subprocess.run(["git", "init", "-q", str(folder)], check=True, capture_output=True)
    for event, piece in _events(script):
        with path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(line, ensure_ascii=False).replace("FOLDER", str(folder)) + "\n" for line in piece)
        given = {"session_id": script.session, "transcript_path": str(path), "cwd": str(folder), "hook_event_name": event}
        hooks.run(event, json.dumps(given).encode())


def _events(script: Script) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    yield "SessionStart", []
    yield from (("Stop", piece) for piece in script.pieces)
    yield "SessionEnd", []


def edited(script: Script) -> set[str]:
    """The files of the project that a session changed."""
    blocks = [block for piece in script.pieces for line in piece for block in line["message"]["content"]
              if isinstance(block, dict) and block.get("name") in ("Edit", "Write", "MultiEdit")]
    paths = (str(block["input"].get("file_path", "")) for block in blocks)
    return {path.removeprefix("FOLDER/") for path in paths if path.startswith("FOLDER/")}
