"""JSON records: pretty-printed, UTF-8, two spaces; unknown keys and the order of all keys survive a rewrite."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from otolith.errors import Damaged
from otolith.files.markdown import text_of

# Our own schema names; one of these with a higher version than the reader knows is refused, a missing or foreign one is read.
SCHEMAS = {"entry_meta": 1, "entry_summary": 1, "topic_memory": 1, "global_memory": 1}
# The one place of compatibility: a schema id that is no longer written → what turns its object into the next version's.
UPGRADES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {}


def read_object(data: bytes) -> dict[str, Any]:
    """The one object a file holds."""
    text = text_of(data).removeprefix("\ufeff")
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        what = "is empty" if not text.strip() else f"is not JSON: {error.msg}"
        raise Damaged(what, "restore it from a backup or mend it", flaw="json", line=error.lineno) from None
    except RecursionError:
        raise Damaged("is nested too deeply", flaw="json", line=1) from None
    if not isinstance(found, dict):
        raise Damaged("is not a JSON object", flaw="json", line=1)
    if re.search(r"\\u[dD][89a-fA-F]", text) and (half := re.search("[\ud800-\udfff]", json.dumps(found, ensure_ascii=False))):
        raise Damaged(f"holds half a sign (\\u{ord(half[0]):04x})", "complete or remove it", flaw="encoding", line=1)
    check_schema(found)
    return _current(found)


def _current(found: dict[str, Any]) -> dict[str, Any]:
    """The object in today's shape, whatever version its file has."""
    seen: set[str] = set()
    while (schema := str(found.get("schema"))) in UPGRADES and schema not in seen:
        seen.add(schema)
        found = UPGRADES[schema](found)
    return found


def check_schema(found: Mapping[str, Any]) -> None:
    """Refuse what a newer Otolith wrote; everything else is read by shape."""
    schema = found.get("schema")
    if not isinstance(schema, str):
        return
    name, _, version = schema.rpartition(".v")
    if name in SCHEMAS and version.isdigit() and int(version) > SCHEMAS[name]:
        raise Damaged(f"has schema {schema}, newer than this Otolith reads ({name}.v{SCHEMAS[name]})",
                      "update Otolith; the file was left alone", flaw="newer-schema", line=1)


def foreign_schema(found: Mapping[str, Any], expected: str) -> str | None:
    """What is odd about a file's schema id, if anything; such a file is read all the same."""
    schema = found.get("schema")
    if schema is None:
        return f"has no schema id; read as {expected}"
    name = str(schema).rpartition(".v")[0]
    return None if name == expected.rpartition(".v")[0] else f"has the foreign schema id {schema!r}; read as {expected}"


def write_object(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def amend_object(data: bytes, value: Mapping[str, Any]) -> bytes:
    """The file with the new values laid over the old object, key by key, in the old order."""
    before = read_object(data)
    return write_object(_lay(before, value))


def _lay(before: Any, after: Any) -> Any:
    if not isinstance(before, dict) or not isinstance(after, Mapping):
        return after
    kept = {key: _lay(value, after[key]) for key, value in before.items() if key in after}
    return kept | {key: value for key, value in after.items() if key not in kept}
