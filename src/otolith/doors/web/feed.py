"""What goes on in the home, as server-sent events: records that changed, whoever changed them, and progress
of long work.

While somebody listens, the home is swept as often as that is cheap, so that an edit made in any editor shows
on an open page. Changes are told by what the index knows: a changed record has a higher number than any
before it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from otolith.errors import Busy, OtolithError

if TYPE_CHECKING:
    from otolith.doors.keeper import Keepers
    from otolith.memory import Memory

LISTENERS = 64
PAUSE = 1.0
HEARTBEAT = 15.0
TOLD = 100  # records named in one event; more is «much changed»


class Mark(NamedTuple):
    """How far the index had come."""

    top: int = 0
    records: int = 0
    top_link: int = 0
    links: int = 0
    forgotten: int = 0


def read_mark(mem: Memory) -> Mark:
    """Where the index stands now."""
    one = mem.home.db.execute(
        "SELECT (SELECT coalesce(max(n), 0) FROM records), (SELECT count(*) FROM records), "
        "(SELECT coalesce(max(rowid), 0) FROM links), (SELECT count(*) FROM links), (SELECT count(*) FROM "
        "archived)").fetchone()
    return Mark(*one)


def look(mem: Memory, before: Mark | None) -> tuple[Mark, dict[str, Any] | None]:
    """Sweep if it is due, then tell what is new since a mark."""
    mem.home.ensure_fresh()
    now = read_mark(mem)
    if before is None or now == before:
        return now, None
    rows = mem.home.db.execute("SELECT id, kind, title FROM records WHERE n > ? ORDER BY n DESC LIMIT ?",
                               (before.top if now.top >= before.top else 0, TOLD)).fetchall()
    return now, {"records": [{"id": id_, "kind": kind, "title": title} for id_, kind, title in rows],
                 "removed": max(0, before.records - now.records), "total": now.records}


class Feed:
    """Events for everyone who listens."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[bytes | None]] = set()
        self._nudged = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def publish(self, event: str, value: Any) -> None:
        """Tell everyone; whoever is too slow to listen is told so instead."""
        data = f"event: {event}\ndata: {json.dumps(value, ensure_ascii=False, default=str)}\n\n".encode(
            "utf-8", "replace")
        for queue in self._listeners:
            if queue.full():
                while not queue.empty():
                    queue.get_nowait()
                queue.put_nowait(b"event: change\ndata: {\"records\": [], \"lost\": true}\n\n")
            else:
                queue.put_nowait(data)

    def publish_from_thread(self, event: str, value: Any) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.publish, event, value)

    def nudge(self) -> None:
        """Something was just written: look now."""
        self._nudged.set()

    async def listen(self, stopping: Callable[[], bool]) -> AsyncIterator[bytes]:
        """The events from now on, with a sign of life in between."""
        if len(self._listeners) >= LISTENERS:
            raise Busy("too many pages are open", "close some")
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(64)
        self._listeners.add(queue)
        self.nudge()
        quiet = 0.0
        try:
            yield b"retry: 2000\nevent: hello\ndata: {}\n\n"
            while not stopping():
                try:
                    item = await asyncio.wait_for(queue.get(), 0.5)
                except TimeoutError:
                    quiet += 0.5
                    if quiet >= HEARTBEAT:
                        quiet = 0.0
                        yield b": still here\n\n"
                    continue
                if item is None:
                    return
                yield item
        finally:
            self._listeners.discard(queue)

    async def watch(self, keepers: Keepers, prepare: Callable[[Memory], Any]) -> None:
        """Look at the home as long as somebody listens, and prepare what will be asked for next;
        ends when cancelled.
        """
        self._loop = asyncio.get_running_loop()
        # taken at once, so that what happens before the first page opens is told to it
        mark: Mark | None = None
        trouble = ""
        self._nudged.set()
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._nudged.wait(), PAUSE)
            self._nudged.clear()
            if mark is not None and not self._listeners:
                continue
            try:
                before = mark
                mark, changed = await keepers.ask(lambda mem, before=mark: look(mem, before), long=True)  # type: ignore[misc]
                if changed:
                    self.publish("change", changed)
                if mark != before:
                    await keepers.ask(prepare, long=True)
                trouble = ""
            except Exception as error:  # a door: whatever happens to one look, there is a next one
                told = (error if isinstance(error, OtolithError)
                        else OtolithError(f"this is a bug in Otolith: {error!r}"))
                if str(told) != trouble:
                    trouble = str(told)
                    self.publish("notice", {"code": told.code, "message": told.message, "hint": told.hint})
                await asyncio.sleep(PAUSE)

    def close(self) -> None:
        for queue in self._listeners:
            if not queue.full():
                queue.put_nowait(None)
