"""Several keepers of one home: two for quick calls, one for long ones, so that a round of upkeep keeps nobody waiting.

Each holds its own Memory in its own thread; they meet in the index and the files, as separate processes would. Who asks
(a person's page, or a program) is set for each call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from otolith.doors.mcp.keeper import Keeper
from otolith.errors import Busy

if TYPE_CHECKING:
    from otolith.memory import Memory

T = TypeVar("T")
TRUST = {"page": "user", "rest": "agent"}
QUEUE = 256  # calls that may wait; more is a client gone wild


class Keepers:
    """The home's keepers, and how many calls each has."""

    def __init__(self, path: str | None, *, quick: int = 2, **more: Any) -> None:
        self._quick = [Keeper(path, **more) for _ in range(quick)]
        self._long = Keeper(path, **more)
        self._waiting = dict.fromkeys([*self._quick, self._long], 0)

    async def ask(self, act: Callable[[Memory], T], *, door: str = "rest", long: bool = False) -> T:
        """What the act gives, from whoever is least busy."""
        keeper = self._long if long else min(self._quick, key=lambda one: self._waiting[one])
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
