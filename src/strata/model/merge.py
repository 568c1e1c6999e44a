"""How an edit meets a record: objects are merged, lists and everything else are replaced, null takes a key away.

These are the rules of JSON Merge Patch (RFC 7396), so that what holds for one door holds for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merge(old: Any, changes: Any) -> Any:
    """The old value with the changes laid over it; neither is touched."""
    if not isinstance(changes, Mapping):
        return changes
    result: dict[str, Any] = dict(old) if isinstance(old, Mapping) else {}
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result
