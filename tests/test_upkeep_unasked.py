"""Upkeep by itself: once a day or after fifty writes, in the background, one at a time, with what is on this machine only."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from conftest import Clock
from otolith import config
from otolith.doors.agents.answering import answering
from otolith.memory import Memory
from otolith.verbs.rounds import is_due, lock_path

DAY = 86_400.0


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Upkeep by itself is on, at once, with further settings of the user."""

    def write(*settings: str) -> None:
        monkeypatch.delenv("OTOLITH_UPKEEP")
        path = config.config_folder() / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(["[upkeep]", "after = 0", *settings]) + "\n")

    return write


@pytest.fixture
def untended(home: Path) -> Path:
    """A home that is two days old and was never tended."""
    with Memory(home) as mem:
        mem.note("Redis drops idle connections", "After five minutes the pool hands out dead sockets.", type="solution", importance=0.9)
    os.utime(home / "otolith.toml", (time.time() - 2 * DAY,) * 2)
    return home


def start(home: Path, source: str = "startup") -> str:
    """A session starts: the hook as a process."""
    given = {"session_id": "s-1", "cwd": str(home.parent), "hook_event_name": "SessionStart", "source": source}
    done = subprocess.run([sys.executable, "-m", "otolith", "--home", str(home), "hook", "SessionStart"], check=True,
                          input=json.dumps(given).encode(), capture_output=True, timeout=60)
    assert done.stderr == b""
    return done.stdout.decode()


def rounds(home: Path) -> list[dict[str, Any]]:
    path = home / "log/upkeep.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def wait_for(true: Callable[[], Any], seconds: float = 60) -> Any:
    until = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < until, "it did not come about in time"
        time.sleep(0.05)
    return value


def test_a_session_that_starts_begins_a_round_that_is_due(untended: Path, allowed: Any) -> None:
    allowed()

    start(untended)

    line = wait_for(lambda: rounds(untended))[0]
    assert (line["unasked"], line["failed"]) == (True, {})
    assert (untended / "CORE.md").exists()


def test_nobody_waits_for_it(untended: Path, allowed: Any) -> None:
    allowed()
    (config.config_folder() / "config.toml").write_text("[upkeep]\nafter = 600\n")

    start(untended)  # ends while the round has not even begun

    assert lock_path(str(untended)).exists()
    assert rounds(untended) == []
    end_waiting(untended)


def end_waiting(home: Path) -> None:
    """End the round that waits for this home."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"--if-due" in words and str(home).encode() in words:
            os.kill(int(path.parent.name), signal.SIGKILL)


@pytest.mark.parametrize("how", ["environment", "setting"])
def test_it_can_be_had_off(untended: Path, allowed: Any, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    if how == "setting":
        allowed("auto = false")

    start(untended)

    assert not lock_path(str(untended)).exists()


@pytest.mark.parametrize("line", ["auto = 3", "remote = \"yes\"", "after = \"soon\""])
def test_a_setting_that_means_nothing_is_named(untended: Path, allowed: Any, run: Any, line: str) -> None:
    allowed()
    (config.config_folder() / "config.toml").write_text(f"[upkeep]\n{line}\n")

    ran = run("stats")

    assert (ran.code, ran.err.count("\n")) == (4, 1)
    assert "[upkeep]" in ran.err


def test_when_a_round_is_due(mem: Memory, clock: Clock) -> None:
    clock.now = time.time()
    mem.note("One", "thing")
    tree = mem.home.tree
    assert not is_due(tree, clock())
    assert is_due(tree, clock() + DAY + 1)

    mem.upkeep()
    for at in range(60):
        mem.note(f"Number {at}", "of many")

    assert not is_due(tree, clock() + 60)  # never twice in an hour
    assert is_due(tree, clock() + 3601)
    mem.upkeep()
    assert not is_due(tree, clock() + 3601)
    assert is_due(tree, clock() + DAY)


def test_if_due_does_nothing_before(mem: Memory) -> None:
    mem.note("One", "thing")
    mem.upkeep()

    report = mem.upkeep(if_due=True)

    assert (report.changed, report.failed) == ({}, {})
    assert len(rounds(mem.path)) == 1


def test_none_is_begun_twice_in_an_hour(untended: Path, allowed: Any) -> None:
    allowed()
    lock = lock_path(str(untended))
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()
    before = lock.stat().st_mtime_ns

    start(untended)

    assert lock.stat().st_mtime_ns == before


def test_one_runs_at_a_time(untended: Path) -> None:
    with Memory(untended) as mem:
        lock = os.open(lock_path(str(untended)), os.O_RDWR | os.O_CREAT)
        fcntl.flock(lock, fcntl.LOCK_EX)

        assert mem.upkeep(if_due=True).changed == {}
        assert rounds(untended) == []
        assert "sync" not in mem.upkeep().skipped  # who asks is not refused
        os.close(lock)


def test_a_round_that_was_killed_keeps_nobody_out(untended: Path, run: Any) -> None:
    with Memory(untended):
        pass
    killed = subprocess.Popen([sys.executable, "-c", "import fcntl, os, sys, time\n"
                               "lock = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)\nfcntl.flock(lock, fcntl.LOCK_EX)\n"
                               "print(flush=True)\ntime.sleep(60)", str(lock_path(str(untended)))], stdout=subprocess.PIPE)
    assert killed.stdout is not None
    killed.stdout.readline()
    killed.kill()
    killed.communicate()

    assert run("upkeep", "--if-due").code == 0
    assert len(rounds(untended)) == 1


def test_a_home_that_is_gone_meanwhile_is_not_made_again(tmp_path: Path, run: Any) -> None:
    gone = tmp_path / "gone"

    assert run("--home", str(gone), "upkeep", "--if-due", "--after", "0").code == 3
    assert not gone.exists()


def test_no_model_and_no_remote_embedder_is_asked_unless_the_user_allows_it(
        home: Path, allowed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()

    class Remote(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.send_error(500)

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Remote)
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with Memory(home) as mem:
        mem.log([{"role": "user", "content": "I live in Lisbon."}], topic="me")
        mem.note("Tea", "Steep for three minutes.")
    os.utime(home / "otolith.toml", (time.time() - 2 * DAY,) * 2)
    for name, value in (("OTOLITH_CHAT_URL", url), ("OTOLITH_CHAT_MODEL", "m"), ("OTOLITH_PROVIDER", "ollama"),
                        ("OTOLITH_OLLAMA_URL", url)):
        monkeypatch.setenv(name, value)
    with Memory(home) as mem:
        report = mem.upkeep(if_due=True)
    assert asked == []
    assert {"entries", "topics", "embeddings"} <= set(report.skipped)

    (home / "log/upkeep.jsonl").unlink()
    allowed("remote = true")
    with Memory(home) as mem:
        mem.upkeep(if_due=True)
    server.shutdown()
    server.server_close()
    assert asked != []


def test_stats_tells_of_the_last_round(untended: Path, run: Any) -> None:
    assert "upkeep never, due" in run("stats").out
    run("upkeep", "--if-due")

    assert run("stats", "--json").json["upkeep"]["last"]["unasked"] is True
    assert " by itself: " in run("stats").out
    assert run("stats").out.rstrip().endswith("; not due")


def test_a_server_with_nothing_to_do_begins_it(untended: Path, allowed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed()
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/tmp")

    with answering(str(untended)):
        assert wait_for(lambda: rounds(untended))[0]["unasked"]


def test_install_says_so(run: Any, tmp_path: Path) -> None:
    assert "upkeep runs by itself" in run("install", "claude-code").out
