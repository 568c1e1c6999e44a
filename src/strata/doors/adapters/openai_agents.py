"""The OpenAI Agents SDK's `Session` over a home: a conversation is a few pages below memories/sessions/.

Items are JSON lines, in pages that are closed when they are full. `keep()` logs what was said, without tool calls, as a
dialog, so that its facts are drawn out and recall finds it.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from agents.memory import SessionABC

from strata.errors import Invalid
from strata.verbs import notes as pages

if TYPE_CHECKING:
    from strata.memory import Memory

T = TypeVar("T")
FOLDER = "sessions"
FULL = 80_000  # bytes after which the next page begins


class StrataSession(SessionABC):
    """`StrataSession("conversation-1", mem)`: give it to `Runner.run(…, session=…)`."""

    session_settings = None

    def __init__(self, session_id: str, mem: Memory) -> None:
        self.session_id = session_id
        self.mem = mem
        self._folder = f"{FOLDER}/{quote(session_id, safe='').replace('.', '%2E')}"
        self._lock = threading.Lock()
        pages.check_page(self._folder)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The newest items in the order they were said; all of them without a limit."""
        items = await self._alone(lambda: [item for name in self._names() for item in self._read(name)])
        return items if limit is None else items[-limit:] if limit > 0 else []

    async def add_items(self, items: list[Any]) -> None:
        if items:
            await self._alone(lambda: self._add(items))

    async def pop_item(self) -> Any | None:
        return await self._alone(self._pop)

    async def clear_session(self) -> None:
        await self._alone(self._clear)

    async def keep(self, topic: str | None = None) -> Any:
        """Log what was said so far as a dialog; the same words again are the same entry."""
        said = [turn for item in await self.get_items() if (turn := _turn(item))]
        if not said:
            raise Invalid(f"nothing was said in session {self.session_id!r} yet")
        key = f"openai-agents:{self.session_id}:{len(said)}"
        return await self._alone(lambda: self.mem.log(said, topic=topic, session=self.session_id, key=key))

    async def _alone(self, act: Callable[[], T]) -> T:
        def locked() -> T:
            with self._lock:
                return act()

        return await asyncio.to_thread(locked)

    def _names(self) -> list[str]:
        return [name for name, _ in pages.pages_below(self.mem.home, self._folder)]

    def _read(self, name: str) -> list[Any]:
        page = pages.find_page(self.mem.home, name)
        return [json.loads(line) for line in page.record.text.splitlines() if line] if page else []

    def _add(self, items: list[Any]) -> None:
        names = self._names()
        number = int(names[-1].rsplit("/", 1)[-1].removesuffix(".jsonl")) if names else 1
        page = pages.find_page(self.mem.home, names[-1]) if names else None
        text = page.record.text if page else ""
        for item in items:
            line = json.dumps(item, ensure_ascii=True) + "\n"  # no sign in an item may end its line
            if text and len(text) + len(line) > FULL:
                self._write(number, text, page)
                number, page, text = number + 1, None, ""
            text += line
        self._write(number, text, page)

    def _write(self, number: int, text: str, before: Any) -> None:
        pages.write_page(self.mem.home, f"{self._folder}/{number:06}.jsonl", text, before)

    def _clear(self) -> None:
        for name in self._names():
            pages.forget_page(self.mem.home, name)

    def _pop(self) -> Any | None:
        for name in reversed(self._names()):
            page = pages.find_page(self.mem.home, name)
            lines = page.record.text.splitlines(keepends=True) if page else []
            if not lines:
                continue
            if len(lines) == 1:
                pages.forget_page(self.mem.home, name)
            else:
                pages.write_page(self.mem.home, name, "".join(lines[:-1]), page)
            return json.loads(lines[-1])
        return None


def _turn(item: Any) -> dict[str, str] | None:
    """What a person or the assistant said in words; tool calls and thoughts are no dialog."""
    if not isinstance(item, dict) or item.get("role") not in ("user", "assistant", "system"):
        return None
    content = item.get("content")
    if isinstance(content, list):
        content = "\n\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict) and part.get("text"))
    return {"role": item["role"], "content": content} if isinstance(content, str) and content.strip() else None
