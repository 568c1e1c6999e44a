"""mem0 exports: JSON with one object a memory, bare in a list or under `results` or `memories`.

Each memory is a sentence about somebody; it becomes a chunk of type fact. Relations of mem0's graph store
name no memories, so they are reported and left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from otolith.doors.exchange.bundle import Bundle
from otolith.doors.exchange.items import ChunkItem, Finding, Found, stamp, tags, words
from otolith.doors.exchange.jsontext import each_element, each_line, first_objects
from otolith.errors import Invalid

SOURCE = "mem0"


def fits(bundle: Bundle) -> bool:
    """Whether its first object is a memory with an id, or a page of such."""
    return any(_memories(first) is not None for name in _files(bundle)
               for first in first_objects(bundle, name, 1))


def read(bundle: Bundle) -> Iterator[Found]:
    if not fits(bundle):
        raise Invalid(f"{bundle.path.name} is not a mem0 export", hint="save what get_all() returns as JSON")
    for name in _files(bundle):
        lines = name.endswith(".jsonl")
        values = ((value for _, _, value in each_line(bundle, name)) if lines
                  else each_element(bundle.text(name), name))
        for value in values:
            if isinstance(value, Finding):
                yield value
                continue
            if isinstance(value, dict) and isinstance(value.get("relations"), list) and value["relations"]:
                yield Finding(where=name, message=f"{len(value['relations'])} graph relations were left out")
            for memory in _memories(value) or ():
                yield _chunk(memory, name)


def _files(bundle: Bundle) -> list[str]:
    return (list(bundle.names) if len(bundle.names) == 1
            else [name for name in bundle.names if name == "memories.json"])


def _memories(value: object) -> list[Any] | None:
    """The memories in a value, or None if it is of another shape."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("id"), str | int) and isinstance(value.get("memory"), str):
        return [value]
    for name in ("results", "memories"):
        page = value.get(name)
        if isinstance(page, list) and (not page or _is_memory(page[0])):
            return page
    return None


def _is_memory(value: object) -> bool:
    return isinstance(value, dict) and "id" in value and isinstance(value.get("memory"), str)


def _chunk(memory: Any, name: str) -> Found:
    if not _is_memory(memory) or not memory["memory"].strip():
        return Finding(where=name, message="one memory has no text")
    details: Mapping[str, Any] = memory["metadata"] if isinstance(memory.get("metadata"), dict) else {}
    owner = next((words(memory.get(who)) for who in ("run_id", "user_id", "agent_id", "app_id")
                  if memory.get(who)), "")
    return ChunkItem(
        key=f"{SOURCE}:{memory['id']}",
        source=SOURCE,
        text=words(memory["memory"]).strip(),
        type="fact",
        tags=tags([*tags(memory.get("categories")), *tags(details.get("tags")), words(details.get("type"))]),
        conversation_id=f"{SOURCE}-{owner}" if owner else SOURCE,
        created=stamp(memory.get("created_at")),
    )
