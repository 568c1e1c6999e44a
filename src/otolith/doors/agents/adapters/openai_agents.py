"""The OpenAI Agents SDK's `Session` over a home: a conversation is a few pages below memories/sessions/.

Items are JSON lines, in pages that are closed when they are full. An item larger than a page is cut into
parts, `["otolith-part", 1, 3, "…"]`, which may lie in several; where some of them are missing, the item is
left out. `keep()` logs what was said, without tool calls, as a dialog, so that its facts are drawn out and
recall finds it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from agents.memory import SessionABC

from otolith.doors.agents.adapters import lock_of
from otolith.errors import Invalid
from otolith.model.recall import make_filter
from otolith.verbs import capture
from otolith.verbs import notes as pages

if TYPE_CHECKING:
    from otolith.memory import Memory

T = TypeVar("T")
FOLDER = "sessions"
FULL = 80_000  # bytes after which the next page begins
PART = FULL // 4  # signs of which no coding makes more than a page
_MARK = "otolith-part"


class OtolithSession(SessionABC):
    """`OtolithSession("conversation-1", mem)`: give it to `Runner.run(…, session=…)`."""

    session_settings = None

    def __init__(self, session_id: str, mem: Memory) -> None:
        self.session_id = session_id
        self.mem = mem
        self._folder = f"{FOLDER}/{quote(session_id, safe='').replace('.', '%2E')}"
        self._lock = lock_of(mem)
        pages.check_page(self._folder)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The newest items in the order they were said; all of them without a limit."""
        items = await self._alone(self._items)
        return items if limit is None else items[-limit:] if limit > 0 else []

    async def add_items(self, items: list[Any]) -> None:
        # what cannot be written stops here, before anything is
        lines = [line for item in items for line in _lines(item)]
        if lines:
            await self._alone(lambda: self._add(lines))

    async def pop_item(self) -> Any | None:
        return await self._alone(self._pop)

    async def clear_session(self) -> None:
        await self._alone(self._clear)

    async def keep(self, topic: str | None = None) -> Any:
        """Log what was said since the last time as a dialog;
        where that is nothing, the answer is the entry of last time.
        """
        return await self._alone(lambda: self._keep(topic))

    async def _alone(self, act: Callable[[], T]) -> T:
        def locked() -> T:
            with self._lock:
                return act()

        return await asyncio.to_thread(locked)

    def _keep(self, topic: str | None) -> Any:
        said = [turn for item in self._items() if (turn := _turn(item))]
        if not said:
            raise Invalid(f"nothing was said in session {self.session_id!r} yet")
        fresh = capture.not_yet_said(self.mem.home, self.session_id, said)
        if not fresh:
            chosen, index = make_filter(kind="entry", session=self.session_id), self.mem.home.index
            entries, _ = index.attempt(lambda: index.cards.listing(chosen, 1))
            return self.mem.get(entries[0].id).record
        key = capture.key_of(f"openai-agents:{len(said) - len(fresh)}", self.session_id, fresh)
        return self.mem.log(fresh, topic=topic, session=self.session_id, key=key)

    def _names(self) -> list[str]:
        found = (name for name, _ in pages.pages_below(self.mem.home, self._folder))
        return [name for name in found if re.fullmatch(r"\d+\.jsonl", name.rsplit("/", 1)[-1])]

    def _items(self) -> list[Any]:
        return list(_whole(line for name in self._names()
                           for line in _split(pages.find_page(self.mem.home, name))))

    def _add(self, lines: list[str]) -> None:
        names = self._names()
        number = int(names[-1].rsplit("/", 1)[-1].removesuffix(".jsonl")) if names else 1
        page = pages.find_page(self.mem.home, names[-1]) if names else None
        text = page.record.text if page else ""
        size = len(text.encode())
        for line in lines:
            more = len(line.encode()) + 1
            if text and size + more > FULL:
                self._write(number, text, page)
                number, page, text, size = number + 1, None, "", 0
            text, size = f"{text}{line}\n", size + more
        self._write(number, text, page)

    def _write(self, number: int, text: str, before: Any) -> None:
        pages.write_page(self.mem.home, f"{self._folder}/{number:06}.jsonl", text, before)

    def _clear(self) -> None:
        for name in self._names():
            pages.forget_page(self.mem.home, name)

    def _pop(self) -> Any | None:
        taken: list[str] = []
        for name in reversed(self._names()):
            page = pages.find_page(self.mem.home, name)
            lines = _split(page)
            found: list[Any] = []
            while lines and not found:
                taken.insert(0, lines.pop())
                # with a later part, the item has not begun yet
                if not re.match(rf'\["{_MARK}", (?!1,)', taken[0]):
                    found = list(_whole(taken))
            if lines:
                pages.write_page(self.mem.home, name, "\n".join(lines) + "\n", page)
            elif page is not None:
                pages.forget_page(self.mem.home, name)
            if found:
                return found[0]
        return None


def _lines(item: Any) -> list[str]:
    """An item as a line of JSON, or as several where a page could not hold it.

    No sign in it ends a line or is half a sign.
    """
    text = _line(item)
    if len(text.encode()) < FULL and not _is_part(item):
        return [text]
    parts = [text[at : at + PART] for at in range(0, len(text), PART)]
    return [_line([_MARK, number, len(parts), part]) for number, part in enumerate(parts, 1)]


def _line(value: Any) -> str:
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}",
                  json.dumps(value, ensure_ascii=False))


def _is_part(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 4 and value[0] == _MARK


def _split(page: Any) -> list[str]:
    return [line for line in page.record.text.split("\n") if line] if page else []


def _whole(lines: Iterable[str]) -> Iterator[Any]:
    """The items in these lines; parts are put together, and those of which some are missing left out."""
    parts: list[str] = []
    for line in lines:
        value = json.loads(line)
        if not _is_part(value):
            parts = []
            yield value
            continue
        _, number, count, part = value
        parts = [*(parts if number == len(parts) + 1 else ()), part] if number in (1, len(parts) + 1) else []
        if number == len(parts) == count:
            yield json.loads("".join(parts))
            parts = []


def _turn(item: Any) -> dict[str, str] | None:
    """What a person or the assistant said in words; tool calls and thoughts are no dialog."""
    if not isinstance(item, dict) or item.get("role") not in ("user", "assistant", "system"):
        return None
    content = item.get("content")
    if isinstance(content, list):
        content = "\n\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict)
                              and part.get("text"))
    return ({"role": item["role"], "content": content} if isinstance(content, str) and content.strip()
            else None)
