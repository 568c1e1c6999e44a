"""MCP's stdio transport: one JSON message a line, with a cap on lines, and an orderly end.

When the client hangs up, or a signal says so, every request already read is still answered before the streams
close. A line that is not a message, or too long, gets an error under the id it was sent with, as far as that
can be seen, for a client waits for its id alone. While serving, stray prints go to stderr.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import IO, Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

MAX_LINE = 4 << 20
PATIENCE = 30.0  # seconds that a hung-up client's requests are given to end
_TOO_LONG = b"\0too long"
_END = 1 << 12  # bytes at either end of a message that is too long, in which its id is looked for
_SCALAR = r'(?:"(?:[^"\\]|\\.)*"|-?\d+|true|false|null)'
# Behind the id stand only plain values and one closing brace, so it is the message's own and no argument of
# that name.
_LAST_ID = re.compile(rf'"id"\s*:\s*({_SCALAR})\s*(?:,\s*"[^"\\]*"\s*:\s*{_SCALAR}\s*)*\}}\s*\Z')


@asynccontextmanager
async def stdio_streams() -> AsyncIterator[tuple[Any, Any]]:
    """(what the client sends, what it is sent) for the SDK's server to run on."""
    wire_in, wire_out = _claim()
    incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sending, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    open_requests: set[object] = set()
    settled = asyncio.Event()
    lines: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=64)
    _start_reading(wire_in, lines)

    async def read() -> None:
        async with incoming:
            while (line := await lines.get()) is not None:
                message = _parse(line)
                if isinstance(message, types.JSONRPCError):
                    await sending.send(SessionMessage(message))
                    continue
                _note(message, open_requests, settled)
                await incoming.send(SessionMessage(message))
            with anyio.move_on_after(PATIENCE):
                while open_requests:
                    settled.clear()
                    await settled.wait()

    async def write() -> None:
        async with outgoing:
            async for item in outgoing:
                data = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
                await anyio.to_thread.run_sync(_write, wire_out, data)
                if not hasattr(item.message, "method"):
                    open_requests.discard(getattr(item.message, "id", None))
                settled.set()

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(write)
        yield received, sending


def _claim() -> tuple[IO[bytes], int]:
    """The wire under descriptors of our own; 0 and 1 lead elsewhere from now on."""
    wire_in, wire_out = os.fdopen(os.dup(0), "rb"), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return wire_in, wire_out


def _start_reading(wire: IO[bytes], lines: asyncio.Queue[bytes | None]) -> None:
    """A thread that may block for ever, because nothing ever waits for it."""
    loop = asyncio.get_running_loop()

    def put(line: bytes | None) -> None:
        with suppress(RuntimeError):  # the loop has gone
            asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()

    def pump() -> None:
        while line := wire.readline(MAX_LINE):
            if len(line) == MAX_LINE and not line.endswith(b"\n"):
                head, tail = line[:_END], line[-_END:]
                while (rest := wire.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                    tail = (tail + rest)[-_END:]
                line = _TOO_LONG + head + b"\n" + (tail + rest)[-_END:]
            if line.strip():
                put(line)
        put(None)

    threading.Thread(target=pump, daemon=True, name="otolith-stdin").start()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(ValueError, NotImplementedError):
            loop.add_signal_handler(number, lambda: loop.create_task(lines.put(None)))


def _parse(line: bytes) -> Any:
    """The message of a line, or the error to answer it with."""
    if line.startswith(_TOO_LONG):
        head, tail = line.removeprefix(_TOO_LONG).split(b"\n", 1)
        return _complaint(f"a message may have {MAX_LINE >> 20} MB; this one was longer and was not read",
                          _find_id(head.decode(errors="replace"), tail.decode(errors="replace")))
    try:
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError as error:
        return _mended(line) or _complaint("this line is not a JSON-RPC message: "
                                           + " ".join(str(error).splitlines()[1:3])[:200], _known_id(line))


def _mended(line: bytes) -> Any:
    """The message if only halves of surrogate pairs stood in its way: they become replacement characters."""
    if rb"\u" not in line:
        return None
    try:
        text = json.dumps(json.loads(line), ensure_ascii=False)
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return types.jsonrpc_message_adapter.validate_json(whole, by_name=False)
    except (ValueError, RecursionError):
        return None


def _known_id(line: bytes) -> str | int | None:
    text = line.decode(errors="replace")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return _find_id(text[:_END], text[-_END:])
    return _as_id(message.get("id")) if isinstance(message, dict) else None


def _find_id(head: str, tail: str) -> str | int | None:
    """The id of a message of which only the ends are at hand: among its first fields, else among its last."""
    decoder, at = json.JSONDecoder(), head.find("{") + 1
    try:
        while at and (key := re.compile(r'\s*"([^"\\]*)"\s*:\s*').match(head, at)):
            value, at = decoder.raw_decode(head, key.end())
            if key[1] == "id":
                return _as_id(value)
            comma = re.compile(r"\s*,").match(head, at)
            at = comma.end() if comma else 0
    except (ValueError, RecursionError):
        pass  # the field that goes on beyond the head
    last = _LAST_ID.search(tail)
    return _as_id(json.loads(last[1])) if last else None


def _as_id(value: object) -> str | int | None:
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def _complaint(message: str, id: str | int | None) -> types.JSONRPCError:
    error = types.ErrorData(code=types.PARSE_ERROR, message=message)
    return types.JSONRPCError(jsonrpc="2.0", id=id, error=error)


def _note(message: Any, open_requests: set[object], settled: asyncio.Event) -> None:
    if isinstance(message, types.JSONRPCRequest):
        open_requests.add(message.id)
    elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
        open_requests.discard((message.params or {}).get("requestId"))  # it will not be answered
        settled.set()


def _write(wire: int, data: bytes) -> None:
    with suppress(BrokenPipeError):  # the client has gone; what it asked for is still done
        while data:
            data = data[os.write(wire, data) :]
