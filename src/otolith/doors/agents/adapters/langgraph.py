"""LangGraph's `BaseStore` over a home: items are pages below memories/langgraph/, one JSON file each.

A namespace is a folder, a key a file; both are percent-encoded where a file name needs it. Searching by words
is Otolith's recall, restricted to the namespace. Deleting forgets. Values are JSON objects of at most 100 kB.
Files among them that are no items are nobody's business here: they are neither searched nor listed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from langgraph.store.base import (
    BaseStore,
    GetOp,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from otolith.doors.agents.adapters import lock_of
from otolith.errors import Damaged
from otolith.verbs import notes as pages

if TYPE_CHECKING:
    from otolith.home import Loaded
    from otolith.memory import Memory

FOLDER = "langgraph"
_MANY = 1_000


class OtolithStore(BaseStore):
    """`OtolithStore(mem)`: give it to a graph's `compile(store=…)`. One home, one thread at a time."""

    supports_ttl = False

    def __init__(self, mem: Memory) -> None:
        self.mem = mem
        self._lock = lock_of(mem)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        with self._lock:
            return [self._do(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _do(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            page = pages.find_page(self.mem.home, _name(op.namespace, op.key))
            return self._item(page) if page else None
        if isinstance(op, PutOp):
            self._put(op)
            return None
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise NotImplementedError(f"OtolithStore cannot do {type(op).__name__}")

    def _put(self, op: PutOp) -> None:
        name = _name(op.namespace, op.key)
        before = pages.find_page(self.mem.home, name)
        if op.value is None:
            if before:
                pages.forget_page(self.mem.home, name)
            return
        now = _stamp(self.mem.home.clock())
        since = _load(before).get("created_at", now) if before else now
        kept = {"value": op.value, "created_at": since, "updated_at": now}
        text = json.dumps(kept, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        pages.write_page(self.mem.home, name, text, before)

    def _item(self, page: Loaded, score: float | None = None) -> SearchItem:
        namespace, key = _parts(page.record.id)
        kept = _load(page)
        try:
            times = [_aware(kept[name]) for name in ("created_at", "updated_at")]
        except (KeyError, TypeError, ValueError):
            raise Damaged(f"{page.path} does not say when it was kept", "fix it or move it away") from None
        return SearchItem(namespace=namespace, key=key, value=kept["value"], created_at=times[0],
                          updated_at=times[1], score=score)

    def _listed(self, name: str, score: float | None = None) -> SearchItem | None:
        """The item of that name; None if the file is gone or is none."""
        try:
            page = pages.find_page(self.mem.home, name) if name.endswith(".json") else None
            return self._item(page, score) if page else None
        except Damaged:
            return None

    def _search(self, op: SearchOp) -> list[SearchItem]:
        folder = _folder(op.namespace_prefix)
        if op.query:
            found = self.mem.recall(op.query, kind="page", depth="summary", limit=_MANY)
            scored: Iterator[tuple[str, float | None]] = ((hit.id, hit.score) for hit in found.hits)
        else:
            scored = ((name, None) for name, _ in pages.pages_below(self.mem.home, folder))
        items = []
        for name, score in scored:
            item = self._listed(name, score) if name.startswith(f"{folder}/") else None
            if item is not None and _fits(item.value, op.filter or {}):
                items.append(item)
        if not op.query:
            items.sort(key=lambda item: item.updated_at, reverse=True)
        return items[op.offset : op.offset + op.limit]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        known: set[tuple[str, ...]] = set()
        for name, _ in pages.pages_below(self.mem.home, FOLDER):
            if (namespace := _parts(name)[0]) not in known and self._listed(name):
                known.add(namespace)
        chosen = {one for one in known if all(_matches(one, condition) for condition in op.match_conditions
                                              or ())}
        if op.max_depth is not None:
            chosen = {one[: op.max_depth] for one in chosen}
        return sorted(chosen)[op.offset : op.offset + op.limit]


def _folder(namespace: tuple[str, ...]) -> str:
    return "/".join([FOLDER, *(_encode(label) for label in namespace)])


def _name(namespace: tuple[str, ...], key: str) -> str:
    return f"{_folder(namespace)}/{_encode(key)}.json"


def _encode(label: str) -> str:
    """A label as a file name; letters of any script stay readable."""
    return "".join(sign if sign.isalnum() or sign in "-_@+=" else quote(sign, safe="").replace(".", "%2E")
                   for sign in label)


def _parts(name: str) -> tuple[tuple[str, ...], str]:
    labels = [unquote(part) for part in name.removesuffix(".json").split("/")[1:]]
    return tuple(labels[:-1]), labels[-1]


def _load(page: Loaded) -> dict[str, Any]:
    try:
        kept = json.loads(page.record.text)
    except (ValueError, RecursionError):
        kept = None
    if not isinstance(kept, dict) or not isinstance(kept.get("value"), dict):
        raise Damaged(f"{page.path} is not an item of a store", "fix it or move it away")
    return kept


def _aware(stamp: str) -> datetime:
    """A time with its zone; without one it could not be compared with others, and UTC is what is written
    here.
    """
    when = datetime.fromisoformat(stamp)
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


_COMPARE = {
    "$eq": lambda left, right: left == right, "$ne": lambda left, right: left != right,
    "$gt": lambda left, right: left > right, "$gte": lambda left, right: left >= right,
    "$lt": lambda left, right: left < right, "$lte": lambda left, right: left <= right,
}


def _fits(value: dict[str, Any], wanted: dict[str, Any]) -> bool:
    for name, test in wanted.items():
        tests = (test if isinstance(test, dict) and any(str(sign).startswith("$") for sign in test)
                 else {"$eq": test})
        for sign, right in tests.items():
            if sign not in _COMPARE:
                raise ValueError(f"Unsupported operator: {sign}")
            try:
                if not _COMPARE[sign](value.get(name), right):
                    return False
            except TypeError:
                return False
    return True


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    wanted = condition.path
    if len(namespace) < len(wanted):
        return False
    part = (namespace[: len(wanted)] if condition.match_type == "prefix"
            else namespace[len(namespace) - len(wanted) :])
    return all(want in ("*", have) for want, have in zip(wanted, part, strict=True))
