"""How often records were delivered: the ledger is the truth, the index holds its sum up to some byte.

What lies beyond that byte is read when it is asked for, so that a read need not wait for a commit; a long tail is folded into
the index first.
"""

from __future__ import annotations

from otolith.errors import BrokenIndex, Busy, CannotWrite
from otolith.files import ledger, paths
from otolith.files.tree import Tree
from otolith.index.store import Index
from otolith.model.record import Usage, log

TAIL_BYTES = 16 * 1024


def since(tree: Tree, index: Index, machine: str) -> dict[str, Usage]:
    """What the ledger counts beyond the index."""
    start, size = _tail(tree, index, machine)
    if start == 0 < size or size - start > TAIL_BYTES:
        fold(tree, index, machine)
        start, size = _tail(tree, index, machine)
    return ledger.read_usage(tree, machine, start)[0] if size != start else {}


def fold(tree: Tree, index: Index, machine: str) -> None:
    """Bring the index's counts up to the ledger's end."""
    start, size = _tail(tree, index, machine)
    if size == index.get("usage_bytes", 0):
        return
    totals, length = ledger.read_usage(tree, machine, start)
    try:
        with index.writing():
            index.units.count_uses(totals, anew=start == 0)
            index.set("usage_bytes", start + length)
    except (BrokenIndex, Busy, CannotWrite) as error:
        log.debug("usage: %s", error)


def _tail(tree: Tree, index: Index, machine: str) -> tuple[int, int]:
    """Up to where the index knows the ledger, and how long it is; one that is shorter than known is read anew."""
    token, known = tree.look(paths.usage_log(machine)), index.get("usage_bytes", 0)
    size = token.size if token else 0
    return (known if size >= known else 0), size
