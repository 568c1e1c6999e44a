"""Stop without waiting: the hook writes down that a session has something new, and a process nobody waits for
reads it.

What is written down names the transcript, which holds the turns; it goes when they are kept. If that process
dies, the next Stop, or the start of any session, begins another one, and the session's own end reads what is
left itself. One process at a time keeps for a home; a hook that must be done when it returns waits for it.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from otolith.config import home_cache

PATIENCE = 20.0  # seconds that a session's end waits for whoever keeps its turns
STALE = 60.0  # seconds after which nobody works on what is waiting
FOLDER = "waiting"


def hand_over(home: str, event: str, given: Mapping[str, Any]) -> bool:
    """Whether the event is written down and a process reads its session from now on."""
    folder = home_cache(home) / FOLDER
    place = folder / f"{sha256(str(given.get('session_id')).encode()).hexdigest()[:24]}.json"
    new = place.with_suffix(f".{os.getpid()}")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump({"event": event, "given": given}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, place)
        _begin(home)
    except (OSError, ValueError):  # no cache, no process: then the hook does it itself
        return False
    return True


def take_up(home: str) -> None:
    """Begin again where somebody died over what was waiting."""
    try:
        if any(time.time() - place.stat().st_mtime > STALE for place in waiting(home)):
            _begin(home)
    except OSError:
        return


def _begin(home: str) -> None:
    from otolith.doors.agents.background import start

    start([sys.executable, "-m", "otolith.doors.agents.waiting", home])


def waiting(home: str) -> list[Path]:
    return sorted((home_cache(home) / FOLDER).glob("*.json"))


@contextmanager
def keeping(home: str, patience: float = PATIENCE) -> Iterator[bool]:
    """Whether nobody else keeps turns for the home, for as long as this is held; waits for it a while."""
    path = home_cache(home) / "keeping.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:  # no cache to lie in: what is kept twice has the same keys
        yield True
        return
    try:
        yield _seize(lock, time.monotonic() + patience)
    finally:
        os.close(lock)


def _seize(lock: int, deadline: float) -> bool:
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        else:
            return True
