"""Whoever opens connections and does not finish what he began silences nobody: real sockets against a real server."""

from __future__ import annotations

import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, ClassVar

import pytest

pytest.importorskip("uvicorn")

MANY = 700
HALF = b"POST /api/signin HTTP/1.1\r\nHost: %s\r\n"
SLOW_BODY = HALF + b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"


def dial(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def is_open(wire: socket.socket) -> bool:
    wire.setblocking(False)
    try:
        return bool(wire.recv(1000))
    except BlockingIOError:
        return True
    except OSError:
        return False


@contextmanager
def held(port: int, count: int, opening: bytes) -> Iterator[list[socket.socket]]:
    """So many connections, each of which says this much and no more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    with ExitStack() as stack:
        wires = [stack.enter_context(dial(port)) for _ in range(count)]
        for wire in wires:
            with suppress(OSError):  # of one that was let go already
                wire.sendall(opening)
        yield wires
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("opening", [b"", HALF % b"127.0.0.1", SLOW_BODY % b"127.0.0.1"], ids=["silent", "half a header", "no body"])
def test_seven_hundred_half_open_connections_do_not_silence_the_server(server, opening):
    opening = opening.replace(b"127.0.0.1", f"127.0.0.1:{server.port}".encode())

    with held(server.port, MANY, opening) as wires:
        answers = [server.get("/api/stats").status for _ in range(5)]
        left = sum(map(is_open, wires[-200:]))

    assert answers == [200] * 5
    assert left <= 128  # no peer keeps more waiting


def test_connections_kept_alive_without_a_request_do_not_silence_the_server(server):
    ask = f"GET /in HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()

    with held(server.port, 350, ask) as wires:
        for wire in wires[-100:]:  # they are kept alive once they were answered, or were let go
            with suppress(OSError):
                wire.recv(10)
        assert [server.get("/api/stats").status for _ in range(5)] == [200] * 5


def test_seventy_open_pages_do_not_silence_the_server(server):
    ask = f"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode()

    with held(server.port, 70, ask) as wires:
        assert b" 503 " in wires[-1].recv(100)  # so many pages are too many, and that is said
        assert [server.get("/api/stats").status for _ in range(5)] == [200] * 5


# Deadlines, in a server of this process whose patience is short


class Short:
    """A server with an application that answers what it was sent, as long as it was asked to."""

    def __init__(self) -> None:
        import uvicorn

        from otolith.doors.web.caller import SETTINGS, Caller

        class Hasty(Caller):
            seconds: ClassVar[dict[str, float]] = {"headers": 0.4, "body": 0.4}
            stalled = 0.4
            of_a_peer = 3

        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.server = uvicorn.Server(uvicorn.Config(self.app, http=Hasty, lifespan="off", interface="asgi3", **SETTINGS))
        self.done: list[str] = []
        self.peers: set[tuple[str, str]] = set()
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listening]}, daemon=True)
        self.thread.start()

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        import asyncio

        while (message := await receive()).get("more_body"):
            pass
        if message["type"] == "http.disconnect":
            self.done.append("gone")
            return
        wait, _, size = scope["path"][1:].partition("/")
        if wait == "busy":  # with something that keeps it from its other callers
            time.sleep(0.6)
            wait = "0"
        self.peers.add((*scope["client"][:1], scope["scheme"]))
        await asyncio.sleep(float(wait or 0))
        body = b"x" * int(size or 2)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(len(body)).encode())]})
        for start in range(0, len(body), 100_000):
            await send({"type": "http.response.body", "body": body[start:start + 100_000], "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        self.done.append("answered")

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(20)
        self.listening.close()


@pytest.fixture
def short() -> Iterator[Short]:
    server = Short()
    yield server
    server.stop()


def answer_to(wire: socket.socket) -> bytes:
    """All that is sent until the other side ends the connection."""
    data = b""
    with suppress(OSError):
        while more := wire.recv(1 << 16):
            data += more
    return data


def trickle(wire: socket.socket, text: bytes) -> bytes:
    """A byte every tenth of a second, as long as it is taken; what comes back."""
    with suppress(OSError):
        for at in range(len(text)):
            wire.sendall(text[at:at + 1])
            time.sleep(0.1)
    return answer_to(wire)


@pytest.mark.parametrize("opening", [b"", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n"], ids=["header", "body"])
def test_a_request_that_trickles_in_is_ended(short, opening):
    with dial(short.port) as wire:
        wire.sendall(opening)

        assert trickle(wire, b"POST / HTTP/1.1\r\nX-Long: 1234567890\r\n").startswith(b"HTTP/1.1 408 ")


def test_a_connection_that_says_nothing_is_ended(short):
    with dial(short.port) as wire:
        assert answer_to(wire) == b""


def test_a_next_request_that_trickles_in_on_a_kept_connection_is_ended(short):
    with dial(short.port) as wire:
        wire.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while not answer.endswith(b"xx"):
            answer += wire.recv(1000)

        assert trickle(wire, b"GET / HTTP/1.1\r\nX-Long: 1234567890\r\n").startswith(b"HTTP/1.1 408 ")


def test_an_answer_may_take_longer_than_a_request(short):
    with dial(short.port) as wire:
        wire.sendall(b"GET /1.2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

        assert answer_to(wire).endswith(b"xx")


def test_two_requests_in_one_breath_are_both_answered(short):
    with dial(short.port) as wire:
        wire.sendall(b"GET /0.5 HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

        assert answer_to(wire).count(b"HTTP/1.1 200") == 2


def test_a_client_that_takes_nothing_of_its_answer_is_let_go(short):
    with dial(short.port) as wire:
        wire.sendall(b"GET /0/50000000 HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(1.5)

        assert len(answer_to(wire)) < 50_000_000


def test_of_a_peer_s_waiting_connections_the_oldest_makes_room(short):
    with ExitStack() as stack:
        wires = [stack.enter_context(dial(short.port)) for _ in range(4)]
        time.sleep(0.1)

        assert [is_open(wire) for wire in wires] == [False, True, True, True]


def test_of_many_requests_that_come_in_one_breath_each_is_answered(short):
    ask = b"GET /%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with ExitStack() as stack:
        stack.enter_context(dial(short.port)).sendall(ask % b"busy")
        time.sleep(0.2)
        wires = [stack.enter_context(dial(short.port)) for _ in range(12)]
        for wire in wires:
            wire.sendall(ask % b"0")

        assert [b" 200 " in answer_to(wire) for wire in wires] == [True] * 12


def test_a_connection_that_asks_nothing_makes_room_before_one_that_asks(short):
    with ExitStack() as stack:
        begun = stack.enter_context(dial(short.port))
        begun.sendall(b"GET /0 HTTP/1.1\r\n")
        idle = stack.enter_context(dial(short.port))
        idle.sendall(b"GET /0 HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 200 " in idle.recv(1000)
        time.sleep(0.1)
        idle.setblocking(False)
        with suppress(BlockingIOError):
            idle.recv(1000)  # the rest of the answer
        for _ in range(2):
            stack.enter_context(dial(short.port))
        time.sleep(0.1)

        assert (is_open(begun), is_open(idle)) == (True, False)


def test_a_peer_that_says_it_speaks_for_another_is_not_believed(short):
    with dial(short.port) as wire:
        wire.sendall(b"GET /0 HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n\r\n")
        assert b" 200 " in wire.recv(1000)

    assert short.peers == {("127.0.0.1", "http")}
