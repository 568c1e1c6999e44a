"""A caller: an HTTP connection with the patience of a server that has other guests.

uvicorn bounds only the pause between two requests, and forgets even that with the next byte. Here a request's
headers and its body have a time each, counted from their beginning and not from their last byte; whoever does
not take his answer is let go; and of the connections on which we wait for the other side, only so many are
kept, for each peer and in all: one that asks nothing, else the one that has waited longest makes room for the
newest. An honest request is whole within milliseconds, so it is answered however many others never finish;
one that lies unread because many came in one breath is not let go for that.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Sequence
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# A peer that says it speaks for another is not believed: the caps are its own.
SETTINGS: dict[str, Any] = {"ws": "none", "log_level": "error", "server_header": False, "date_header": False,
                            "proxy_headers": False}
TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Caller(H11Protocol):
    """One connection. Its stage is what it waits for: `headers`, `body`, `idle`, or nothing: it is served."""

    seconds: ClassVar[dict[str, float]] = {"headers": 10.0, "body": 60.0}
    stalled: ClassVar[float] = 60.0  # seconds for a client to take what is held back for it
    of_a_peer: ClassVar[int] = 128
    in_all: ClassVar[int] = 256
    waiting: ClassVar[dict[Caller, str]] = {}  # with its peer's address, the longest waiting first

    _stage = ""
    _deadline: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._attend()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._attend()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._attend()

    def connection_lost(self, exc: Exception | None) -> None:
        self._enter("")
        self._stop_stall()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stop_stall()
        self._stall = self.loop.call_later(self.stalled, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_stall()

    def _attend(self) -> None:
        """See what the client owes now."""
        theirs: Any = self.conn.their_state
        if self.transport.is_closing() or theirs not in (h11.IDLE, h11.SEND_BODY):
            self._enter("")
        elif theirs is h11.SEND_BODY:
            self._enter("body")
        else:
            self._enter("headers" if self.cycle is None or self.conn.trailing_data[0] else "idle")
        self._make_room()  # also if it only said a little more: many may have been unread when it came

    def _enter(self, stage: str) -> None:
        if stage == self._stage:
            return
        self._stage = stage
        self.waiting.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if stage in self.seconds:
            self._deadline = self.loop.call_later(self.seconds[stage], self._give_up)
        if stage:
            self.waiting[self] = self.client[0] if self.client else ""

    def _make_room(self) -> None:
        """Keep to the numbers, of this peer and in all."""
        if self not in self.waiting:
            return
        same = [other for other, whose in self.waiting.items() if whose == self.waiting[self]]
        for crowd, most in ((same, self.of_a_peer), (list(self.waiting), self.in_all)):
            if len(crowd) > most:
                self._let_go(crowd, len(crowd) - most)

    @staticmethod
    def _let_go(crowd: Sequence[Caller], number: int) -> None:
        """End so many of which nothing lies here unread: idle ones first, then those that wait longest."""
        unread, descriptors = select.poll(), {caller._descriptor(): caller for caller in crowd}
        for descriptor in descriptors:
            unread.register(descriptor, select.POLLIN)
        speaking = {descriptors[descriptor] for descriptor, _ in unread.poll(0)}
        silent = sorted((caller for caller in crowd if caller not in speaking),
                        key=lambda caller: caller._stage != "idle")
        for caller in silent[:number]:
            caller._enter("")  # at once, not when its end is told: many may come in one breath
            caller.transport.abort()

    def _descriptor(self) -> int:
        descriptor: int = self.transport.get_extra_info("socket").fileno()
        return descriptor

    def _give_up(self) -> None:
        begun = self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete
        if begun or not (self._stage == "body" or self.conn.trailing_data[0]):
            self.transport.abort()
        else:
            self.transport.write(TIMED_OUT)
            self.transport.close()

    def _stop_stall(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None
