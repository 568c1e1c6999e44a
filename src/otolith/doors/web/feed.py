"""What goes on in the home, as server-sent events: records that changed, whoever changed them, and progress
of long work.

While somebody listens, the home is swept as often as that is cheap, so that an edit made in any editor shows
on an open page. A changed record has a higher number in the index than any before it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from otolith.errors import Busy, OtolithError

if TYPE_CHECKING:
    from otolith.doors.keeper import Keepers
    from otolith.index.cards import Progress
    from otolith.memory import Memory

LISTENERS = 64
PAUSE = 1.0
HEARTBEAT = 15.0
NAMED = 100  # records named in one event


def error_parts(error: OtolithError) -> dict[str, str]:
    return {"code": error.code, "message": error.message, "hint": error.hint}


def look(mem: Memory, before: Progress | None) -> tuple[Progress, dict[str, Any] | None]:
    """Sweep if it is due; (how far the index has come, what is new since then)."""
    mem.home.ensure_fresh()
    now = mem.home.index.cards.progress()
    if before is None or now == before:
        return now, None
    rows = mem.home.index.cards.changed_since(before.top if now.top >= before.top else 0, NAMED)
    return now, {"records": [{"id": row.id, "kind": row.kind, "title": row.title} for row in rows],
                 "removed": max(0, before.records - now.records), "total": now.records}


class Feed:
    """Events for everyone who listens."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[bytes | None]] = set()
        self._nudged = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def publish(self, event: str, value: Any) -> None:
        """Send to everyone; whoever is too slow to listen learns that something was lost."""
        text = json.dumps(value, ensure_ascii=False, default=str)
        data = f"event: {event}\ndata: {text}\n\n".encode("utf-8", "replace")
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
        """The events from now on, and a heartbeat while there are none."""
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
        """Look at the home while somebody listens, and prepare what is asked for next; until cancelled."""
        self._loop = asyncio.get_running_loop()
        progress: Progress | None = None  # taken at once, so that the first page learns of all that follows
        trouble = ""
        self._nudged.set()
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._nudged.wait(), PAUSE)
            self._nudged.clear()
            if progress is not None and not self._listeners:
                continue
            try:
                before = progress
                progress, changed = await keepers.ask(
                    lambda mem, before=before: look(mem, before), long=True)  # type: ignore[misc]
                if changed:
                    self.publish("change", changed)
                if progress != before:
                    await keepers.ask(prepare, long=True)
                trouble = ""
            except Exception as error:  # a door: whatever happens to one look, there is a next one
                notice = (error if isinstance(error, OtolithError)
                          else OtolithError(f"this is a bug in Otolith: {error!r}"))
                if str(notice) != trouble:
                    trouble = str(notice)
                    self.publish("notice", error_parts(notice))
                await asyncio.sleep(PAUSE)

    def close(self) -> None:
        for queue in self._listeners:
            if not queue.full():
                queue.put_nowait(None)
