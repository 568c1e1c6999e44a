"""A process that serves the home answers its hooks: real processes, real sockets, whatever may be at the other end."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from otolith import __version__, config
from otolith.doors.agents import hooks, wire
from otolith.doors.agents.answering import answering
from otolith.files.disk import open_tree
from otolith.memory import Memory

NOTES = {
    "Redis pool": "The Redis pool hands out dead sockets after five idle minutes; set socket_keepalive to 300.",
    "How parcels are labelled": "A parcel's label has the depot's letter, the week and a running number.",
    "Map tiles": "Map tiles are rendered at night into the bucket tiles-eu and served by the edge cache.",
    "Colours": "Charts use the eight colours of palette.json, in that order.",
    "Time zones": "All times are kept in UTC and shown in the zone of the driver.",
}
PROMPT = "why does the redis pool hand out dead sockets after some idle minutes?"
MARK = re.compile(r"[0-9a-f]{16}")  # a fence's mark is fresh each time
pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="there are no such sockets here")


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A short path: a socket's may have some hundred bytes only."""
    folder = Path(tempfile.mkdtemp(prefix="oto-", dir="/tmp"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def place(home: Path) -> Path:
    return config.socket_path(str(home))


@pytest.fixture
def known(home: Path) -> Iterator[Memory]:
    with Memory(home) as mem:
        for title, text in NOTES.items():
            mem.note(title, text, project="default")
        mem.memo("deploy_on_mondays_only", "We deploy on Mondays only.", category="past")
        mem.record(goal="Fix random logouts", task_type="bug_fix", success=False, files=["src/auth.py"],
                   summary="Longer tokens only hid it", failure_reason="the refresh path was not looked at")
        yield mem


@pytest.fixture
def serve(home: Path, place: Path) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Start an MCP server of the home; waits until it answers hooks, if it is the first."""
    running: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        waits = not running
        server = subprocess.Popen([sys.executable, "-m", "otolith", "--home", str(home), "mcp"], stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        running.append(server)
        if waits:
            wait_for(lambda: listens(place))
        return server

    yield start
    for server in running:
        server.kill()
        server.communicate()


@pytest.fixture
def served(known: Memory, home: Path, place: Path) -> Iterator[Memory]:
    """The home, its hooks answered by a thread of this process."""
    with answering(str(home)):
        wait_for(lambda: listens(place))
        yield known


def wait_for(true: Callable[[], Any], seconds: float = 30) -> Any:
    until = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < until, "it did not come about in time"
        time.sleep(0.02)
    return value


def listens(place: Path) -> bool:
    with closing(socket.socket(socket.AF_UNIX)) as wire:
        try:
            wire.connect(str(place))
        except OSError:
            return False
        return True


def given(event: str, home: Path, **more: Any) -> dict[str, Any]:
    return {"session_id": "s-1", "cwd": str(home.parent), "hook_event_name": event, **more}


def message(event: str, home: Path, mem: Memory, **more: Any) -> dict[str, Any]:
    """What a hook sends."""
    return {"v": 1, "home_id": mem.home.config.home_id, "event": event, "project": "default", "session": "s-1",
            "agent": "claude-code", "input": given(event, home, prompt=PROMPT, source="startup"), **more}


def ask(place: Path, line: bytes | dict[str, Any]) -> bytes:
    """What a server answers to a line, patiently."""
    with closing(socket.socket(socket.AF_UNIX)) as wire:
        wire.settimeout(20)
        wire.connect(str(place))
        wire.sendall(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n") and (piece := wire.recv(65536)):
            answer += piece
        return answer


def fired(event: str, home: Path, **more: Any) -> str:
    """What a hook prints, as a process."""
    done = subprocess.run([sys.executable, "-m", "otolith", "--home", str(home), "hook", event], check=False,
                          input=json.dumps(given(event, home, **more)).encode(), capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


@pytest.mark.parametrize(("event", "more"), [
    ("SessionStart", {"source": "startup"}), ("SessionStart", {"source": "resume"}), ("UserPromptSubmit", {"prompt": PROMPT}),
    ("UserPromptSubmit", {"prompt": "ok go on"}), ("PreToolUse", {"tool_name": "Edit", "tool_input": {"file_path": "src/auth.py"}}),
    ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}})])
def test_a_server_answers_byte_for_byte_what_the_hook_prints_by_itself(
        served: Memory, home: Path, place: Path, event: str, more: dict[str, Any]) -> None:
    sent = message(event, home, served, session="s-2", input=given(event, home, **more, session_id="s-2"))

    answered = wait_for(lambda: ask(place, sent)).decode()  # what comes too late is not answered, and leaves nothing

    with opened(home, "s-3") as mem:
        alone = hooks.respond(mem, event, given(event, home, **more), hooks.Ignore(home.parent))
    assert MARK.sub("*", answered) == MARK.sub("*", alone) + "\n"


def opened(home: Path, session: str) -> Memory:
    """The home as a hook opens it."""
    tree = open_tree(str(home))
    settings = config.load(tree, cwd=str(home.parent)).replace(session=session, agent="claude-code")
    return Memory(tree, door="hook", trust="agent", config=settings)


def test_the_hook_prints_what_the_server_says(home: Path, place: Path, known: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    with Other(place, b'{"hookSpecificOutput": {"told": "by the server"}}\n') as other:
        assert fired("UserPromptSubmit", home, prompt=PROMPT) == '{"hookSpecificOutput": {"told": "by the server"}}\n'

    sent = json.loads(other.heard)
    assert sent == {"v": 1, "release": __version__, "home_id": known.home.config.home_id, "event": "UserPromptSubmit",
                    "project": "default", "session": "s-1", "agent": "claude-code",
                    "input": given("UserPromptSubmit", home, prompt=PROMPT)}


def test_the_folder_and_the_socket_are_the_users_alone(served: Memory, place: Path) -> None:

    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


@pytest.mark.parametrize("change", [{"v": 2}, {"v": None}, {"release": "0.0.1"}, {"home_id": "another"}])
def test_another_version_or_home_is_hung_up_on(served: Memory, home: Path, place: Path, change: dict[str, Any]) -> None:
    sent = message("SessionStart", home, served)

    assert ask(place, {**sent, **change}) == b""
    assert wait_for(lambda: ask(place, sent)).startswith(b"{")  # and the next one is answered


@pytest.mark.parametrize("line", [b"\n", b"no json\n", b"[]\n", b"{}\n", b'{"v": 1}\n', b"\xff\xfe\n", b"x" * 3_000_000 + b"\n"])
def test_whatever_is_said_to_a_server_it_goes_on(served: Memory, home: Path, place: Path, line: bytes) -> None:
    with suppress(OSError):  # it may hang up before all is said
        assert ask(place, line) == b""

    assert wait_for(lambda: ask(place, message("SessionStart", home, served))).startswith(b"{")


def test_who_connects_and_says_nothing_keeps_nobody_waiting(served: Memory, home: Path, place: Path) -> None:
    wait_for(lambda: ask(place, message("SessionStart", home, served)))
    with closing(socket.socket(socket.AF_UNIX)) as silent:
        silent.connect(str(place))

        assert wait_for(lambda: ask(place, message("SessionStart", home, served))).startswith(b"{")


class Other:
    """Something at the socket that is no server of ours: it takes a line and says what it is told to, or nothing."""

    def __init__(self, place: Path, says: bytes | None) -> None:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.wire = socket.socket(socket.AF_UNIX)
        self.wire.bind(str(place))
        self.says, self.heard, self.done = says, b"", threading.Event()
        self.thread = threading.Thread(target=self.listen)

    def __enter__(self) -> Other:
        self.wire.listen(4)
        self.thread.start()
        return self

    def listen(self) -> None:
        talk, _ = self.wire.accept()
        with talk, suppress(OSError):
            while not self.heard.endswith(b"\n") and (piece := talk.recv(65536)):
                self.heard += piece
            if self.says is not None:
                talk.sendall(self.says)
            else:
                self.done.wait(30)

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.thread.join()
        self.wire.close()


@pytest.mark.parametrize("says", [None, b"", b"HTTP/1.1 400 Bad Request\r\n", b"half a line", b"\xff\n", b"{}\n"],
                         ids=["hung", "hangs up", "foreign", "torn", "not text", "no answer of ours"])
def test_of_a_hung_or_foreign_socket_the_hook_lets_go(known: Memory, home: Path, place: Path, says: bytes | None) -> None:
    with Other(place, says):
        assert "socket_keepalive" in fired("UserPromptSubmit", home, prompt=PROMPT)


def test_a_socket_that_nobody_accepts_from_is_left_at_once(known: Memory, home: Path, place: Path) -> None:
    place.parent.mkdir(parents=True)
    with closing(socket.socket(socket.AF_UNIX)) as full, closing(socket.socket(socket.AF_UNIX)) as waiting:
        full.bind(str(place))
        full.listen(0)
        waiting.connect(str(place))

        assert "socket_keepalive" in fired("UserPromptSubmit", home, prompt=PROMPT)


def test_another_users_socket_is_not_asked(known: Memory, home: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Other(place, b"\n") as other:
        monkeypatch.setattr(os, "getuid", lambda: 12345)

        assert wire.ask(place, message("SessionStart", home, known)) is None

    assert other.heard == b""


def test_a_dead_socket_is_passed_over_and_replaced(known: Memory, home: Path, place: Path, serve: Any) -> None:
    server = serve()
    server.send_signal(signal.SIGKILL)
    server.wait()

    assert place.exists()
    assert "socket_keepalive" in fired("UserPromptSubmit", home, prompt=PROMPT)
    serve()
    wait_for(lambda: ask(place, message("SessionStart", home, known)) if listens(place) else b"")


def test_of_two_servers_the_first_answers_and_the_second_takes_over(known: Memory, home: Path, place: Path, serve: Any) -> None:
    first = serve()
    before = place.stat().st_ino
    second = serve()
    time.sleep(0.5)
    assert place.stat().st_ino == before
    first.stdin.close()
    first.wait(20)

    wait_for(lambda: listens(place))
    wait_for(lambda: ask(place, message("SessionStart", home, known)))
    second.stdin.close()
    second.wait(20)
    assert not place.exists()


def test_what_was_answered_is_noted_and_not_told_again(served: Memory, home: Path, place: Path) -> None:
    sent = message("UserPromptSubmit", home, served)

    first = wait_for(lambda: ask(place, sent))

    assert b"socket_keepalive" in first
    wait_for(lambda: (home / "log").glob("delivered-*.jsonl"))
    assert wait_for(lambda: ask(place, sent)) == b"\n"


def test_an_answer_that_nobody_waited_for_leaves_nothing(served: Memory, home: Path, place: Path) -> None:
    sent = message("UserPromptSubmit", home, served)
    with closing(socket.socket(socket.AF_UNIX)) as gone:  # it stays for no answer
        gone.connect(str(place))
        gone.sendall(json.dumps(sent).encode() + b"\n")

    assert b"socket_keepalive" in wait_for(lambda: ask(place, sent))


def test_a_server_keeps_what_a_session_said(served: Memory, home: Path, place: Path, tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(json.dumps({
        "type": "user", "sessionId": "s-1", "uuid": "u-1", "cwd": "/src/app", "timestamp": "2026-02-10T10:00:00.000Z",
        "message": {"role": "user", "content": "Always run the linter before you commit."}}) + "\n")
    sent = message("Stop", home, served, input=given("Stop", home, transcript_path=str(transcript)))

    assert wait_for(lambda: ask(place, sent)) == b"\n"
    assert [memo["title"] for memo in served.list(kind="memo", project="default")[0] if "linter" in memo["title"]]
    assert len(list(home.glob("topics/*/*/raw.md"))) == 1


def test_a_page_server_answers_hooks_too(known: Memory, home: Path, place: Path) -> None:
    server = subprocess.Popen([sys.executable, "-m", "otolith", "--home", str(home), "serve", "--port", "0"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: listens(place))
        assert wait_for(lambda: ask(place, message("SessionStart", home, known))).startswith(b"{")
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(20)
    assert not place.exists()


def test_a_path_too_long_for_a_socket_does_no_harm(known: Memory, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / ("x" * 120)))

    with answering(str(home)):
        assert "socket_keepalive" in fired("UserPromptSubmit", home, prompt=PROMPT)


def test_without_a_runtime_folder_the_socket_lies_with_the_index(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    folder = config.home_cache(str(home))

    assert config.socket_path(str(home)) == folder / f"{folder.name}.sock"
