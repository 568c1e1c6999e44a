"""Stop does not wait: what is new of a session is kept by a process of its own, and never lost or kept twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from otolith.config import home_cache
from otolith.doors.agents import handing, waiting

SESSION = "5f0c0000-0000-4000-8000-000000000001"


def line(number: int, text: str, role: str = "user") -> str:
    content = text if role == "user" else [{"type": "text", "text": text}]
    return json.dumps({"type": role, "sessionId": SESSION, "uuid": f"u{number}", "parentUuid": None, "cwd": "/w",
                       "timestamp": f"2026-02-10T21:{number:02}:00.000Z", "message": {"role": role, "content": content}}) + "\n"


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "transcript.jsonl"
    path.write_text(line(1, "Never log the names of guests.") + line(2, "Understood.", "assistant"))
    return path


def hook(home: Path, event: str, transcript: Path) -> None:
    given = {"session_id": SESSION, "transcript_path": str(transcript), "cwd": str(transcript.parent), "hook_event_name": event}
    done = subprocess.run([sys.executable, "-m", "otolith", "hook", event], input=json.dumps(given), text=True, timeout=60,
                          capture_output=True, env={**os.environ, "OTOLITH_HOME": str(home)}, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def texts(home: Path) -> list[str]:
    return [raw.read_text() for raw in home.glob("topics/*/*/raw.md")]


def settled(home: Path) -> None:
    """Once nothing is waiting and nobody keeps."""
    for _ in range(600):
        with handing.keeping(str(home)):
            if not list((home_cache(str(home)) / handing.FOLDER).glob("*")):
                return
        time.sleep(0.05)
    raise AssertionError("nobody kept what was waiting")


def test_what_stop_hands_over_is_kept_soon(home: Path, transcript: Path) -> None:
    hook(home, "Stop", transcript)
    settled(home)

    assert [text.count("Never log the names of guests.") for text in texts(home)] == [1]
    assert len(list((home / "allmemories").glob("*.md"))) == 1


def test_a_session_that_ends_right_after_a_stop_is_whole_and_once(home: Path, transcript: Path) -> None:
    hook(home, "Stop", transcript)
    with transcript.open("a") as file:
        file.write(line(3, "Guests are numbered from 100 on, always."))
    hook(home, "Stop", transcript)
    hook(home, "SessionEnd", transcript)

    assert [(text.count("Never log the names"), text.count("numbered from 100")) for text in texts(home)] == [(1, 1)]
    settled(home)
    assert len(texts(home)) == 1


def test_what_is_left_by_a_process_that_died_is_taken_up_by_the_next_session(home: Path, transcript: Path) -> None:
    folder = home_cache(str(home)) / handing.FOLDER
    folder.mkdir(parents=True)
    left = folder / "left.json"
    given = {"session_id": SESSION, "transcript_path": str(transcript), "cwd": str(transcript.parent)}
    left.write_text(json.dumps({"event": "Stop", "given": given}))
    os.utime(left, (time.time() - 2 * handing.STALE,) * 2)

    handing.take_up(str(home))
    settled(home)

    assert [text.count("Never log the names of guests.") for text in texts(home)] == [1]


def test_a_torn_note_of_what_is_waiting_stops_nobody(home: Path) -> None:
    folder = home_cache(str(home)) / handing.FOLDER
    folder.mkdir(parents=True)
    (folder / "torn.json").write_text('{"event": "St')

    waiting.work(str(home))

    assert not list(folder.glob("*"))
