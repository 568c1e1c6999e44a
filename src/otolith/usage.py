"""How often records were delivered: the ledger is the truth, the index holds its sum up to some byte.

What lies beyond that byte is read when it is asked for, so that a read need not wait for a commit; a long tail is folded into
the index first.
"""

from __future__ import annotations

import sqlite3

from otolith.errors import Busy
from otolith.files import ledger, paths
from otolith.files.tree import Tree
from otolith.index import write
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
        with index.writing() as db:
            if start == 0:
                db.execute("DELETE FROM usage")
            db.executemany("INSERT INTO usage VALUES (?,?,?) ON CONFLICT(id) DO UPDATE SET count = count + excluded.count, "
                           "last = max(coalesce(last, 0), coalesce(excluded.last, 0))",
                           [(key, usage.count, usage.last) for key, usage in totals.items()])
            write.count_works(db, [key for key in totals if key.startswith("mem_")])
            index.set("usage_bytes", start + length)
    except (sqlite3.Error, Busy) as error:
        log.debug("usage: %s", error)


def _tail(tree: Tree, index: Index, machine: str) -> tuple[int, int]:
    """Up to where the index knows the ledger, and how long it is; one that is shorter than known is read anew."""
    token, known = tree.look(paths.usage_log(machine)), index.get("usage_bytes", 0)
    size = token.size if token else 0
    return (known if size >= known else 0), size
