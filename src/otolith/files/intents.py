"""Intents: acts of several steps that must be finished once they have begun, a purge or a move.

An intent is `log/intent-<8 hex>.json`: written and synced before the first file changes, removed after the
last one did. Whoever finds one finds an act that was interrupted. While a purge's intent stands, the files
that are to go are hidden from every reader of this machine: `Veiled` is the tree without them.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

from otolith.errors import Damaged, NotFound
from otolith.files import paths
from otolith.files.codec import read_object, write_object
from otolith.files.tree import Tree, Versions, compare, fingerprint
from otolith.model.record import Change, Version


class PendingAct(NamedTuple):
    """An act that has begun: what kind of act, what it is about, and all that finishing it needs to know."""

    path: str
    verb: str  # purge, or move
    id: str
    plan: Mapping[str, Any]

    @property
    def data(self) -> bytes:
        return write_object({"verb": self.verb, "id": self.id, **self.plan})

    @property
    def hidden(self) -> Collection[str]:
        """The files that readers no longer see: what goes, and what is told anew without it."""
        return [*self.plan.get("paths", ()), *self.plan.get("retold", ())] if self.verb == "purge" else ()


def declare(tree: Tree, verb: str, record: str, plan: Mapping[str, Any]) -> PendingAct:
    """Say, durably, what is about to be done."""
    intent = PendingAct(f"{paths.INTENT}{os.urandom(4).hex()}.json", verb, record, plan)
    tree.write(intent.path, intent.data)
    return intent


def amend(tree: Tree, intent: PendingAct, **changes: Any) -> PendingAct:
    """Say, durably, how far the act has come."""
    new = intent._replace(plan={**intent.plan, **changes})
    tree.write(intent.path, new.data, fingerprint(intent.data))
    return new


def standing(tree: Tree, places: Collection[str]) -> Iterator[PendingAct]:
    """The intents at these places; one that cannot be read is left to a person, `check` names it."""
    for path in places:
        try:
            plan = read_object(tree.read(path)[0])
            yield PendingAct(path, str(plan.pop("verb")), str(plan.pop("id")), plan)
        except (Damaged, NotFound, KeyError):
            continue


class Veiled:
    """A tree of which some documents are not seen; all else is the tree's own."""

    cursor = ""  # what is hidden comes back without a change

    def __init__(self, tree: Tree, hidden: Collection[str]) -> None:
        self._tree, self._hidden = tree, frozenset(hidden)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tree, name)

    def scan(self, below: str = "") -> Iterator[tuple[str, Version | None]]:
        return (item for item in self._tree.scan(below) if item[0] not in self._hidden)

    def changes(self, since: Versions, cursor: str = "") -> list[Change]:  # noqa: ARG002
        return compare(dict(self.scan()), since)

    def look(self, path: str) -> Version | None:
        return None if path in self._hidden else self._tree.look(path)

    def read(self, path: str, start: int = 0) -> tuple[bytes, Version]:
        if path in self._hidden:
            raise NotFound(f"no file {path}")
        return self._tree.read(path, start)

    @contextmanager
    def reading(self, ahead: Sequence[str] = ()) -> Iterator[Tree]:
        with self._tree.reading(ahead) as steady:
            yield veil(steady, self._hidden)


def veil(tree: Tree, hidden: Collection[str]) -> Tree:
    """The tree without these documents."""
    return cast(Tree, Veiled(tree, hidden)) if hidden else tree
