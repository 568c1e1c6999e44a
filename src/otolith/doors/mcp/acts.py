"""Tools whose arguments do not fit a verb's keywords one to one: what each of them does with the home.

They make repeating safe where a verb would complain that the thing is done already, and they keep an agent from vouching
for what came from outside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from otolith.errors import Invalid, NotFound
from otolith.model.recall import check_counts

if TYPE_CHECKING:
    from otolith.memory import Memory


PAGE = 50  # rows of an answer, as those of `list`
FIXED = ("id", "kind", "origin", "trust", "pinned", "metadata")  # told by the door, or changed by verbs of their own


def edit(mem: Memory, given: dict[str, Any]) -> Any:
    """The changes go as one mapping: as keywords, a field of a foreign name could be an argument of the verb."""
    from otolith.verbs.editing import edit as change

    for name in FIXED:
        if name in given["changes"]:
            raise Invalid(f"{name} cannot be changed", "change the record's own fields")
    return change(mem.home, given["id"], given["changes"])


def link(mem: Memory, given: dict[str, Any]) -> Any:
    link = mem.link(given.pop("source"), given.pop("type"), given.pop("target"), **given)
    return {"id": link.edge_id or link.source, "kind": "link", "link": link.type, "from": link.source, "to": link.target}


def unlink(mem: Memory, given: dict[str, Any]) -> Any:
    mem.unlink(given["source"], given["type"], given["target"])
    return {"id": given["source"], "kind": "link"}


def pin(mem: Memory, given: dict[str, Any]) -> Any:
    if not given.get("pinned", True):
        return told(mem, mem.unpin(given["id"]))
    _vouch(mem, given["id"], "pin")
    return told(mem, mem.pin(given["id"]))


def told(mem: Memory, id: str) -> dict[str, Any]:
    """What a writer answers: which record, of which kind, and where it lies now, be it in the archive."""
    from otolith.index import read

    row = read.find(mem.home.db, id)
    if row is not None:
        return {"id": row.id, "kind": row.kind, "path": row.unit}
    away = read.archived(mem.home.db, id)
    return {"id": id, "kind": away[-1][1] if away else "", "path": away[-1][3] if away else ""}


def review(mem: Memory, given: dict[str, Any]) -> Any:
    _vouch(mem, given["fact_id"], "review")
    return mem.review(given.pop("fact_id"), **given)


def _vouch(mem: Memory, id: str, verb: str) -> None:
    """What came from outside is vouched for by a person, never by an agent that may have read it."""
    from otolith.verbs.steps import locate

    row = locate(mem.home, id)
    if mem.home.trust != "user" and row.trust == "outside":
        raise Invalid(f"{row.id} came from outside; only a person can vouch for it", f"ask them to run: otolith {verb} {row.id}")


def forget(mem: Memory, given: dict[str, Any]) -> Any:
    """Forgetting what is forgotten is done already."""
    try:
        return told(mem, mem.forget(given["id"]))
    except NotFound as error:
        if "is forgotten" not in error.message:
            raise
        return told(mem, given["id"])


def restore(mem: Memory, given: dict[str, Any]) -> Any:
    """What is not forgotten needs no bringing back."""
    try:
        return mem.restore(given["id"])
    except Invalid as error:
        if "is not forgotten" not in error.message:
            raise
        return told(mem, given["id"])


def episode(mem: Memory, given: dict[str, Any]) -> Any:
    from otolith.verbs.notes import episode as write_line

    path = write_line(mem.home, given.pop("title"), **given)
    latest = mem.home.db.execute("SELECT id FROM records WHERE unit = ? AND kind = 'episode' ORDER BY created DESC, n DESC "
                                 "LIMIT 1", (path,)).fetchone()
    return {"id": latest[0] if latest else path, "kind": "episode", "path": path}


def paged(verb: str) -> Callable[[Memory, dict[str, Any]], Any]:
    """A verb that gives everything, as a page of it and how many there are."""

    def act(mem: Memory, given: dict[str, Any]) -> Any:
        limit, offset = given.pop("limit", PAGE), given.pop("offset", 0)
        check_counts(limit=limit, offset=offset)
        found = list(getattr(mem, verb)(**given))
        return found[offset : offset + limit], len(found)

    return act


def named(*names: str) -> Callable[[Memory, dict[str, Any]], Any]:
    """A verb whose first parameters go by place, because each home of it names them its own way."""

    def act(mem: Memory, given: dict[str, Any], verb: str = names[0]) -> Any:
        first = [given.pop(name) for name in names[1:] if name in given]
        return getattr(mem, verb)(*first, **given)

    return act
