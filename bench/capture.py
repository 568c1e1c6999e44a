"""What is left of coding sessions: is it covered, short, clean, and does it know the files?

    python -m bench.capture                the project's own sessions; with OTOLITH_BENCH also the shared ones
    python -m bench.capture --write        the same, and bench/CAPTURE.md

Sessions go through `otolith hook` as an agent would call it: SessionStart, Stop after every answer, SessionEnd; then
upkeep runs once. Own sessions are made up (tests/fixtures/captured.json): requests, answers and tool calls of two
projects, with what should be kept, what must not be, and a secret. The shared ones are real and are measured by their
own scorer in a process of its own. What people judge by reading stands below its heading in CAPTURE.md and is kept.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import string
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import otolith

HERE = Path(__file__).resolve().parent
SESSIONS = HERE.parent / "tests" / "fixtures" / "captured.json"
PAGE = HERE / "CAPTURE.md"
KINDS = ("fact", "memo", "note", "work", "chapter", "episode", "chunk", "wisdom")
LONGEST = {"work": 250, "chapter": 250}  # words; of anything else 90
ASSISTANT = re.compile(r"^(?:the )?(?:assistant|agent|ai|model)\b", re.I)
READ = "## Read line by line"
EMPTY = f"""{READ}

200 kept things drawn at random, each with a label (right or wrong; worth keeping or not) and a reason, go here.
"""
GOALS = {"covered": "≥ 60 %", "things a session": "≤ 15", "too long": "0", "junk kept": "≤ 1", "secrets kept": "0",
         "edited files known to check-file": "all", "assistant is the subject": "0"}


def own_sessions() -> dict[str, Any]:
    """The fixture; its secret is drawn now, so that no scanner of repositories takes fright."""
    letters = random.Random(18).choices(string.ascii_letters + string.digits, k=36)
    data: dict[str, Any] = json.loads(SESSIONS.read_text("utf-8").replace("KEY_VALUE", "ghp_" + "".join(letters)))
    return data


def lines_of(session: dict[str, Any], folder: Path) -> Iterator[list[str]]:
    """A session as Claude Code writes it, in pieces that end where the agent stops."""
    piece: list[str] = []
    number = 0

    def line(role: str, content: Any) -> str:
        nonlocal number
        number += 1
        return json.dumps({"type": role, "sessionId": session["id"], "cwd": str(folder), "uuid": f"{session['id']}-{number}",
                           "parentUuid": None, "isSidechain": False, "version": "2.1.0",
                           "timestamp": f"{session['day']}T10:{number % 60:02}:00.000Z",
                           "message": {"role": role, "content": content}})

    for event in session["events"]:
        if "user" in event:
            if piece:
                yield piece
            piece = [line("user", event["user"])]
        elif "agent" in event:
            piece.append(line("assistant", [{"type": "text", "text": event["agent"]}]))
        else:
            call = f"call-{session['id']}-{number}"
            given = {key: value.replace("FOLDER", str(folder)) for key, value in event["input"].items()}
            piece.append(line("assistant", [{"type": "tool_use", "id": call, "name": event["tool"], "input": given}]))
            piece.append(line("user", [{"type": "tool_result", "tool_use_id": call, "content": event["result"],
                                        "is_error": event.get("failed", False)}]))
    yield piece


def feed(base: Path, session: dict[str, Any]) -> None:
    """One session through the hooks."""
    folder, path = base / "work" / session["project"], base / f"{session['id']}.jsonl"
    subprocess.run(["git", "init", "-q", str(folder)], check=True, capture_output=True)
    given = {"session_id": session["id"], "transcript_path": str(path), "cwd": str(folder)}
    run(base, "hook", "SessionStart", given=json.dumps({**given, "hook_event_name": "SessionStart"}))
    for piece in lines_of(session, folder):
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{text}\n" for text in piece)
        run(base, "hook", "Stop", given=json.dumps({**given, "hook_event_name": "Stop"}))
    run(base, "hook", "SessionEnd", given=json.dumps({**given, "hook_event_name": "SessionEnd"}))


def run(base: Path, *words: str, given: str = "") -> str:
    places = {f"XDG_{kind}_HOME": str(base / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA", "STATE")}
    own = {name: value for name, value in os.environ.items() if not name.startswith("OTOLITH_")}
    env = {**own, "HOME": str(base), "OTOLITH_HOME": str(base / "memory"), "OTOLITH_DEBUG": "1", **places}
    done = subprocess.run([sys.executable, "-m", "otolith", *words], input=given, capture_output=True, text=True, env=env,
                          cwd=base, check=False)
    if done.returncode:
        raise SystemExit(f"otolith {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def measure(data: dict[str, Any]) -> dict[str, str]:
    """The rows for the project's own sessions."""
    with tempfile.TemporaryDirectory(prefix="capture-") as scratch:
        base = Path(scratch).resolve()
        for session in data["sessions"]:
            feed(base, session)
        run(base, "upkeep")
        with otolith.open(base / "memory") as mem:  # with an index of its own: the shared one is only searched
            things = [(item, f"{item['title']}\n{mem.get(item['id']).text}") for kind in KINDS
                      for item in mem.list(limit=None, kind=kind)[0]]
            files = sorted({(session["project"], event["input"]["file_path"].removeprefix("FOLDER/"))
                            for session in data["sessions"] for event in session["events"]
                            if event.get("tool") in ("Edit", "Write")})
            knows = sum(mem.check_file(path, again=True, project=project).known > 0 for project, path in files)
        left = b"\n".join(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
                          for root in ("memory", "cache") for path in (base / root).rglob("*") if path.is_file())
    texts = [(item["project"], text) for item, text in things
             if len(text.split()) <= LONGEST.get(item["kind"], 90)]
    covered = sum(any(project == wanted["project"] and re.search(wanted["match"], text, re.I | re.S)
                      for project, text in texts) for wanted in data["items"])
    junk = [text for text in data["junk"] if any(text.casefold() in kept.casefold() for _, kept in texts)]
    said = [item for item, _ in things if item["kind"] in ("fact", "memo")]
    return {"covered": f"{covered} of {len(data['items'])}",
            "things a session": f"{len(things) / len(data['sessions']):.1f}",
            "too long": str(len(things) - len(texts)), "junk kept": f"{len(junk)} of {len(data['junk'])}",
            "secrets kept": f"{sum(secret.encode() in left for secret in data['secrets'])} of {len(data['secrets'])}",
            "edited files known to check-file": f"{knows} of {len(files)}",
            "assistant is the subject": f"{sum(bool(ASSISTANT.match(item['title'])) for item in said)} of {len(said)}"}


def shared() -> dict[str, str] | None:
    """The same rows for the shared sessions, where OTOLITH_BENCH names their folder."""
    folder = Path(os.environ.get("OTOLITH_BENCH", ""))
    if not (folder / "sessions.py").is_file():
        return None
    done = subprocess.run([sys.executable, str(folder / "sessions.py"), str(folder / "sessions"), "--json"],
                          capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    cover, sessions = report["coverage"], len(report["sessions"]) - 1
    return {"covered": f"{cover['covered']} of {cover['items']}",
            "things a session": f"{sum(report['things'].values()) / max(1, sessions):.1f}",
            "too long": str(report["too_long"]), "junk kept": f"{report['junk']['kept']} of {report['junk']['of']}",
            "secrets kept": f"{max(report['secrets']['home_values'], report['secrets']['index_values'])} of "
                            f"{report['secrets']['planted']}",
            "edited files known to check-file": f"{report['work']['known_to_check_file']} of "
                                                f"{report['work']['edited_files']}",
            "assistant is the subject": f"{report['assistant_is_subject']['count']} of "
                                        f"{report['assistant_is_subject']['of']}"}


def table(columns: dict[str, dict[str, str] | None]) -> str:
    names = [name for name, rows in columns.items() if rows]
    head = [f"| | {' | '.join(names)} | goal |", f"|---|{'---|' * len(names)}---|"]
    return "\n".join([*head, *(f"| {row} | {' | '.join((columns[name] or {})[row] for name in names)} | {goal} |"
                               for row, goal in GOALS.items())])


def page(text: str) -> str:
    """CAPTURE.md with new figures; what people wrote below the heading stays."""
    before = PAGE.read_text("utf-8") if PAGE.is_file() else ""
    read = before[before.index(READ):] if READ in before else EMPTY
    return (f"# What sessions leave behind\n\n`make bench-capture` measures again. Own sessions are made up; the shared ones "
            f"are real and lie outside the project.\nA thing is too long above 90 words, a work or chapter above 250.\n\n"
            f"{text}\n\n{read}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write bench/CAPTURE.md")
    asked = parser.parse_args()
    result = table({"own sessions": measure(own_sessions()), "shared sessions": shared()})
    print(result)
    if asked.write:
        PAGE.write_text(page(result), "utf-8")
