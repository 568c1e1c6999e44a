"""One home, held by one thread: calls come in order, and a call that has begun is finished whoever still listens.

The home is opened by the first call, so a server answers its first question before anything of the home is loaded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from otolith.memory import Memory

T = TypeVar("T")


class Keeper:
    """The thread and the home in it."""

    def __init__(self, path: str | None, **more: Any) -> None:
        self._path, self._more = path, more
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="otolith")
        self._mem: Memory | None = None

    async def ask(self, act: Callable[[Memory], T]) -> T:
        """What the act gives; if the caller goes away meanwhile, the act still ends."""
        future = self._thread.submit(self._run, act)
        return await asyncio.shield(asyncio.wrap_future(future))

    def close(self) -> None:
        """Finish what was begun, then let go of the home."""
        self._thread.submit(self._let_go)
        self._thread.shutdown(wait=True)

    def _run(self, act: Callable[[Memory], T]) -> T:
        if self._mem is None:
            from otolith.memory import Memory

            self._mem = Memory(self._path, **self._more)
        return act(self._mem)

    def _let_go(self) -> None:
        if self._mem is not None:
            self._mem.close()
            self._mem = None
