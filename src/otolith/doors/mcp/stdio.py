"""MCP's stdio transport: one JSON message a line, with a cap on lines, and an orderly end.

When the client hangs up, or SIGTERM says so, every request already read is still answered before the streams
close; SIGINT waits only a moment for what is being done. A line that is not a message, or too long, gets an
error under the id it was sent with, as far as that can be seen, for a client waits for its id alone. While
serving, stray prints go to stderr. The SDK is not loaded: a client asks for the tools once, as soon as it has
started us, and begins without them if they are late.
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from queue import Empty, SimpleQueue
from typing import IO, TYPE_CHECKING, Any

from otolith.doors import calls
from otolith.doors.keeper import Keeper
from otolith.doors.mcp import protocol

if TYPE_CHECKING:
    from concurrent.futures import Future

MAX_LINE = 4 << 20
PATIENCE = 30.0  # seconds that a hung-up client's requests are given to end
HASTE = 0.05  # and an interrupted one's
QUIET = 0.1  # seconds without a message after which the home's hooks are answered, too
_TOO_LONG = b"\0too long"
_END = 1 << 12  # bytes at either end of a message that is too long, in which its id is looked for
_SCALAR = r'(?:"(?:[^"\\]|\\.)*"|-?\d+|true|false|null)'
# Behind the id stand only plain values and one closing brace, so it is the message's own and no argument of
# that name.
_LAST_ID = rf'"id"\s*:\s*({_SCALAR})\s*(?:,\s*"[^"\\]*"\s*:\s*{_SCALAR}\s*)*\}}\s*\Z'
Send = Callable[[protocol.Message | None], None]  # an answer, or nothing where none is due


def serve(home: str | None, which: str) -> None:
    """Serve one client over stdin and stdout until it hangs up; what it asked for is finished first."""
    wire_in, wire_out = _claim()
    lines: SimpleQueue[bytes | None] = SimpleQueue()
    interrupted = threading.Event()

    def end(number: int, _frame: object) -> None:
        if number == signal.SIGINT:
            interrupted.set()
        lines.put(None)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    threading.Thread(target=_pump, args=(wire_in, lines), daemon=True, name="otolith-stdin").start()
    with ExitStack() as stack, closing(Keeper(home, door="mcp", trust="agent")) as keeper:
        client = _Client(keeper, protocol.Conversation(home, calls.offered("mcp", which)), wire_out)
        pause: float | None = QUIET  # what a client asks at its start comes first
        while True:
            try:
                line = lines.get(timeout=pause)
            except Empty:
                pause = None
                stack.enter_context(_answering(home))
                continue
            if line is None:
                break
            client.take(line)
        whole = client.finish(HASTE if interrupted.is_set() else PATIENCE)
        if interrupted.is_set() and not whole:
            os._exit(130)  # files are written whole or not at all: nothing that was acknowledged is lost
    if interrupted.is_set():
        os._exit(0)  # without taking the interpreter apart, which takes longer than all of this


def _answering(home: str | None) -> AbstractContextManager[None]:
    from otolith.doors.agents.answering import answering

    return answering(home)


class _Client:
    """The other end of the wire: what it sent is answered in the home's thread or at once."""

    def __init__(self, keeper: Keeper, conversation: protocol.Conversation, wire: int) -> None:
        self._keeper, self._conversation, self._wire = keeper, conversation, wire
        self._open = dict["str | int", "Future[Any]"]()
        self._lock = threading.Lock()

    def take(self, line: bytes) -> None:
        message = _parse(line)
        if not isinstance(message, list):
            self._take(message, self._send)
        elif message and self._conversation.version in protocol.BATCHED:
            batch = _Batch(len(message), self._send)
            for inner in message:
                self._take(inner, batch.put)
        else:
            self._send(protocol.failure(None, protocol.INVALID_REQUEST, "a message is an object"))

    def _take(self, message: Any, send: Send) -> None:
        if isinstance(message, dict) and message.get("method") == "notifications/cancelled":
            self._cancel(message.get("params"))
        reply = message.answer if isinstance(message, Unreadable) else self._conversation.take(message)
        if isinstance(reply, protocol.Pending):
            self._do(reply, send)
        else:
            send(reply)

    def _do(self, pending: protocol.Pending, send: Send) -> None:
        """Have a request answered in the home."""
        future = self._keeper.submit(pending.answer)
        self._open[pending.id] = future

        def done(future: Future[Any]) -> None:
            if self._open.get(pending.id) is future:
                del self._open[pending.id]
            if future.cancelled():
                send(None)
            else:
                error = future.exception()
                send(pending.refuse(error) if isinstance(error, Exception) else future.result())

        future.add_done_callback(done)

    def _cancel(self, params: Any) -> None:
        """What has not begun is left undone and unanswered; what has begun is finished."""
        id = protocol.as_id(params.get("requestId")) if isinstance(params, dict) else None
        future = self._open.get(id) if id is not None else None
        if future is not None:
            future.cancel()

    def finish(self, seconds: float) -> bool:
        """Whether everything that was asked for ended in time."""
        if not self._open:
            return True
        from concurrent.futures import wait

        return not wait(list(self._open.values()), seconds).not_done

    def _send(self, message: protocol.Message | list[protocol.Message] | None) -> None:
        if message is None:
            return
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n"
        data = text.encode("utf-8", "replace")
        with self._lock, suppress(BrokenPipeError):  # the client has gone; what it asked for is still done
            while data:
                data = data[os.write(self._wire, data) :]


class _Batch:
    """Answers that are sent together, when the last one is there."""

    def __init__(self, count: int, send: Callable[[list[protocol.Message] | None], None]) -> None:
        self._left, self._send = count, send
        self._answers: list[protocol.Message] = []
        self._lock = threading.Lock()

    def put(self, answer: protocol.Message | None) -> None:
        with self._lock:
            self._left -= 1
            self._answers += [answer] if answer is not None else []
            if self._left:
                return
        self._send(self._answers or None)


def _claim() -> tuple[IO[bytes], int]:
    """The wire under descriptors of our own; 0 and 1 lead elsewhere from now on."""
    wire_in, wire_out = os.fdopen(os.dup(0), "rb"), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return wire_in, wire_out


def _pump(wire: IO[bytes], lines: SimpleQueue[bytes | None]) -> None:
    """Reads in a thread that may block for ever, because nothing ever waits for it."""
    while line := wire.readline(MAX_LINE):
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            head, tail = line[:_END], line[-_END:]
            while (rest := wire.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                tail = (tail + rest)[-_END:]
            line = _TOO_LONG + head + b"\n" + (tail + rest)[-_END:]
        if line.strip():
            lines.put(line)
    lines.put(None)


class Unreadable:
    """A line that is no message, and what to answer it with."""

    def __init__(self, reason: str, id: str | int | None) -> None:
        self.answer = protocol.failure(id, protocol.PARSE_ERROR, reason)


def _parse(line: bytes) -> Any:
    """The message of a line, or why there is none."""
    if line.startswith(_TOO_LONG):
        head, tail = line.removeprefix(_TOO_LONG).split(b"\n", 1)
        return Unreadable(f"a message may have {MAX_LINE >> 20} MB; this one was longer and was not read",
                          _find_id(head.decode(errors="replace"), tail.decode(errors="replace")))
    try:
        return json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        text = line.decode(errors="replace")
        return Unreadable(f"this line is not JSON: {error}"[:200], _find_id(text[:_END], text[-_END:]))


def _find_id(head: str, tail: str) -> str | int | None:
    """The id of a message of which only the ends are at hand: among its first fields, else among its last."""
    decoder, at = json.JSONDecoder(), head.find("{") + 1
    try:
        while at and (key := re.compile(r'\s*"([^"\\]*)"\s*:\s*').match(head, at)):
            value, at = decoder.raw_decode(head, key.end())
            if key[1] == "id":
                return protocol.as_id(value)
            comma = re.compile(r"\s*,").match(head, at)
            at = comma.end() if comma else 0
    except (ValueError, RecursionError):
        pass  # the field that goes on beyond the head
    last = re.search(_LAST_ID, tail)
    return protocol.as_id(json.loads(last[1])) if last else None
