"""Otolith behind other libraries' own interfaces, each an optional extra: LangGraph's store, the OpenAI
Agents SDK's session.

Both libraries call from several threads, and an item is looked for before it is written: whatever is handed
the same Memory waits for the same lock.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from otolith.memory import Memory

_making = threading.Lock()
_locks: WeakKeyDictionary[Memory, threading.RLock] = WeakKeyDictionary()


def lock_of(mem: Memory) -> threading.RLock:
    """The one lock of a Memory."""
    with _making:
        return _locks.setdefault(mem, threading.RLock())
