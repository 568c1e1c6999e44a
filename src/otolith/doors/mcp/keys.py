"""Idempotency keys for verbs that have none of their own: the same key again is answered as the first time.

What was answered is kept in one append-only file under log/, by verb and key, with a fingerprint of the arguments; the
same key with other arguments is a Conflict. A key is honoured on the machine that saw it, where a retry comes from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from otolith.errors import Conflict

if TYPE_CHECKING:
    from otolith.memory import Memory


def once(mem: Memory, verb: str, key: str, given: Mapping[str, Any], act: Callable[[], Any]) -> Any:
    """The answer kept under a key, or the act's own, which is kept."""
    from otolith.files import ledger

    home = mem.home
    path = f"log/keys-{home.machine}.jsonl"
    print_of = sha256(json.dumps(given, sort_keys=True, default=str).encode()).hexdigest()[:16]
    with home.tree.lock():
        for _, line in ledger.read_log(home.tree, path):
            if line and line.get("verb") == verb and line.get("key") == key:
                if line.get("given") != print_of:
                    raise Conflict(f"the key {key[:60]!r} was used for another {verb}", "use a fresh key")
                return line.get("answer")
        answer = act()
        ledger.append_line(home.tree, path, {"verb": verb, "key": key, "given": print_of, "answer": _short(answer)})
    return answer


def _short(answer: Any) -> Any:
    """What a repeated call needs to know; the record itself is in the home."""
    if isinstance(answer, dict):
        return {name: value for name, value in answer.items() if name != "record"}
    if isinstance(answer, list):
        return [_short(item) for item in answer]
    return answer if isinstance(answer, str | int | float | bool) or answer is None else None
