"""MCP's stdio transport: one JSON message a line, with a cap on lines, and an orderly end.

When the client hangs up, or a signal says so, every request already read is still answered before the streams close.
A line that is no message gets a parse error and nothing else happens. While serving, stray prints go to stderr and not
onto the wire.
"""

from __future__ import annotations

import asyncio
import os
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
                open_requests.discard(getattr(item.message, "id", None) if not hasattr(item.message, "method") else None)
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
                while (rest := wire.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                    pass
                line = _TOO_LONG
            if line.strip():
                put(line)
        put(None)

    threading.Thread(target=pump, daemon=True, name="strata-stdin").start()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(ValueError, NotImplementedError):
            loop.add_signal_handler(number, lambda: loop.create_task(lines.put(None)))


def _parse(line: bytes) -> Any:
    """The message of a line, or the error to answer it with."""
    if line == _TOO_LONG:
        return _complaint(f"a message may have {MAX_LINE >> 20} MB; this one was longer and was not read")
    try:
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError as error:
        first = str(error).splitlines()
        return _complaint("this line is not a JSON-RPC message: " + " ".join(first[1:3])[:200])


def _complaint(message: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=None, error=types.ErrorData(code=types.PARSE_ERROR, message=message))


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
