"""How often records were delivered: the ledger is the truth, the index holds its sum up to some byte.

What lies beyond that byte is read when it is asked for, so that a read need not wait for a commit; a long
tail is folded into the index first.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

from otolith.errors import Busy, CannotWrite
from otolith.files import ledger, paths
from otolith.files.tree import Tree
from otolith.index.store import Index
from otolith.model.record import Usage, log

TAIL_BYTES = 16 * 1024  # about forty recalls
_READ: WeakKeyDictionary[Index, Tail] = WeakKeyDictionary()


class Tail(NamedTuple):
    """What was read of a ledger: from which byte to which, and what that counts."""

    machine: str
    start: int
    stop: int
    totals: dict[str, Usage]


def since(tree: Tree, index: Index, machine: str) -> dict[str, Usage]:
    """What the ledger counts beyond the index; of a tail that only grew, what is new is read."""
    start, size = _tail(tree, index, machine)
    if start == 0 < size or size - start > TAIL_BYTES:
        fold(tree, index, machine)
        start, size = _tail(tree, index, machine)
    tail = _READ.get(index)
    if tail is None or (tail.machine, tail.start) != (machine, start) or tail.stop > size:
        tail = Tail(machine, start, start, {})
    if tail.stop < size:
        more, length = ledger.read_usage(tree, machine, tail.stop)
        totals = {**tail.totals, **{key: ledger.add(tail.totals.get(key, Usage()), used)
                                    for key, used in more.items()}}
        _READ[index] = tail = Tail(machine, start, tail.stop + length, totals)
    return tail.totals


def fold(tree: Tree, index: Index, machine: str) -> None:
    """Bring the index's counts up to the ledger's end."""
    start, size = _tail(tree, index, machine)
    if size != index.documents.ledger_bytes():
        totals, length = ledger.read_usage(tree, machine, start)
        try:
            index.documents.add_usage(totals, start + length, anew=start == 0)
        except (Busy, CannotWrite) as error:
            log.debug("usage: %s", error)


def _tail(tree: Tree, index: Index, machine: str) -> tuple[int, int]:
    """Up to where the index knows the ledger, and how long it is; a shorter one than known is read anew."""
    measure, known = tree.measure(paths.usage_log(machine)), index.documents.ledger_bytes()
    size = measure.size if measure else 0
    return (known if size >= known else 0), size
