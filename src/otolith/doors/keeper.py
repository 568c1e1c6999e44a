"""One home, held by one thread or by several: calls come in order, and one that has begun is finished.

The home is opened by the first call, so a server answers its first question before anything of the home is
loaded. A server with pages keeps two threads for quick calls and one for long ones, so that a round of upkeep
keeps nobody waiting; each has a Memory of its own, and they meet in the index and the files.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from otolith.errors import Busy

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from otolith.memory import Memory

T = TypeVar("T")
TRUST = {"page": "user", "rest": "agent"}
QUEUE = 256  # calls that may wait; more is a client gone wild


class Keeper:
    """The thread and the home in it."""

    def __init__(self, path: str | None, **more: Any) -> None:
        self.path, self._more = path, more
        self._thread: ThreadPoolExecutor | None = None
        self._mem: Memory | None = None

    def submit(self, act: Callable[[Memory], T]) -> Future[T]:
        """What the act will give; acts are done in the order in which they come."""
        if self._thread is None:
            from concurrent.futures import ThreadPoolExecutor

            self._thread = ThreadPoolExecutor(1, thread_name_prefix="otolith")
        return self._thread.submit(self._run, act)

    async def ask(self, act: Callable[[Memory], T]) -> T:
        """What the act gives; if the caller goes away meanwhile, the act still ends."""
        import asyncio

        return await asyncio.shield(asyncio.wrap_future(self.submit(act)))

    def close(self) -> None:
        """Finish what was begun, then let go of the home."""
        if self._thread is not None:
            self._thread.submit(self._let_go)
            self._thread.shutdown(wait=True)

    def _run(self, act: Callable[[Memory], T]) -> T:
        if self._mem is None:
            from otolith.memory import Memory

            self._mem = Memory(self.path, **self._more)
            self._mem.home.tree.listen()
        mem = self._mem
        return mem.home.index.attempt(lambda: act(mem))

    def _let_go(self) -> None:
        if self._mem is not None:
            self._mem.close()
            self._mem = None


class Keepers:
    """The home's keepers, and how many calls each has."""

    def __init__(self, path: str | None, *, quick: int = 2, **more: Any) -> None:
        self._quick = [Keeper(path, **more) for _ in range(quick)]
        self._long = Keeper(path, **more)
        self._waiting = dict.fromkeys([*self._quick, self._long], 0)

    async def ask(self, act: Callable[[Memory], T], *, door: str = "rest", long: bool = False) -> T:
        """What the act gives, from whoever is least busy."""
        keeper = self._long if long else min(self._quick, key=self._waiting.__getitem__)
        if self._waiting[keeper] >= QUEUE:
            raise Busy("too many calls are waiting", "try again in a moment")
        self._waiting[keeper] += 1
        try:
            return await keeper.ask(lambda mem: _as(mem, door, act))
        finally:
            self._waiting[keeper] -= 1

    def close(self) -> None:
        for keeper in self._waiting:
            keeper.close()


def _as(mem: Memory, door: str, act: Callable[[Memory], T]) -> T:
    mem.home.door, mem.home.trust = door, TRUST[door]
    return act(mem)
