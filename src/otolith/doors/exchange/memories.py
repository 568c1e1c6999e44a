"""What other memories export: mem0, the MCP reference server's `memory.jsonl`, and `[MEMORY_CANDIDATES]`
blocks.

A mem0 export is JSON with one object a memory, bare in a list or under `results` or `memories`; each becomes
a chunk of type fact, and relations of its graph store, which name no memories, are reported and left out. The
MCP server's entities become notes with one line an observation, its relations links whose own words are their
context. A candidates block, as an agent without write access prints it (seed 001), may stand anywhere in a
text and becomes memos.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from otolith.doors.exchange.bundle import Bundle, FormatReader
from otolith.doors.exchange.items import (
    ChunkItem,
    Found,
    LinkItem,
    MemoItem,
    NoteItem,
    SourceFinding,
    stamp,
    tags,
    words,
)
from otolith.doors.exchange.jsontext import each_element, each_line, first_objects
from otolith.errors import Invalid
from otolith.model.kinds import NOTE_LINKS

_SIGN = "[MEMORY_CANDIDATES]"
_MAX_TEXT = 16 << 20


def _is_mem0(bundle: Bundle) -> bool:
    """Whether its first object is a memory with an id, or a page of such."""
    return any(_memories(first) is not None for name in _mem0_files(bundle)
               for first in first_objects(bundle, name, 1))


def _read_mem0(bundle: Bundle) -> Iterator[Found]:
    if not _is_mem0(bundle):
        raise Invalid(f"{bundle.path.name} is not a mem0 export", hint="save what get_all() returns as JSON")
    for name in _mem0_files(bundle):
        lines = name.endswith(".jsonl")
        values = ((value for _, _, value in each_line(bundle, name)) if lines
                  else each_element(bundle.text(name), name))
        for value in values:
            if isinstance(value, SourceFinding):
                yield value
                continue
            if isinstance(value, dict) and isinstance(value.get("relations"), list) and value["relations"]:
                yield SourceFinding(where=name,
                                    message=f"{len(value['relations'])} graph relations were left out")
            for memory in _memories(value) or ():
                yield _mem0_chunk(memory, name)


def _mem0_files(bundle: Bundle) -> list[str]:
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


def _mem0_chunk(memory: Any, name: str) -> Found:
    if not _is_memory(memory) or not memory["memory"].strip():
        return SourceFinding(where=name, message="one memory has no text")
    details: Mapping[str, Any] = memory["metadata"] if isinstance(memory.get("metadata"), dict) else {}
    owner = next((words(memory.get(who)) for who in ("run_id", "user_id", "agent_id", "app_id")
                  if memory.get(who)), "")
    return ChunkItem(key=f"mem0:{memory['id']}",
        source="mem0", text=words(memory["memory"]).strip(), type="fact",
        tags=tags([*tags(memory.get("categories")), *tags(details.get("tags")), words(details.get("type"))]),
        conversation_id=f"mem0-{owner}" if owner else "mem0", created=stamp(memory.get("created_at")),)


def _is_mcp_memory(bundle: Bundle) -> bool:
    """Whether it is a file of entities and relations."""
    return len(bundle.names) == 1 and any("entityType" in first or "relationType" in first
        for first in first_objects(bundle, bundle.names[0], 1))


def _read_mcp_memory(bundle: Bundle) -> Iterator[Found]:
    if not _is_mcp_memory(bundle):
        raise Invalid(f"{bundle.path.name} is not a memory.jsonl of the MCP memory server")
    name = bundle.names[0]
    names: set[str] = set()
    relations: list[tuple[int, dict[str, object]]] = []
    for number, _, line in each_line(bundle, name):
        if isinstance(line, SourceFinding):
            yield line
        elif isinstance(line, dict) and line.get("type") == "relation":
            relations.append((number, line))
        elif isinstance(line, dict) and words(line.get("name")).strip():
            names.add(words(line["name"]).strip())
            yield _entity(line)
        else:
            yield SourceFinding(where=name, line=number, message="neither an entity nor a relation")
    for number, line in relations:
        start, end = words(line.get("from")).strip(), words(line.get("to")).strip()
        if start not in names or end not in names:
            yield SourceFinding(where=name, line=number,
                                message="the relation names an entity that is not there")
            continue
        said = words(line.get("relationType")).strip()
        word = said.upper().replace(" ", "_").replace("-", "_")
        yield LinkItem(key=f"mcp-memory:{start}|{said}|{end}", source="mcp-memory",
                       start=f"mcp-memory:{start}",
                       end=f"mcp-memory:{end}", type=word if word in NOTE_LINKS else "RELATED_TO",
                       context="" if word in NOTE_LINKS else said)


def _entity(line: dict[str, object]) -> NoteItem:
    title = words(line["name"]).strip()
    observations = line.get("observations")
    said = [words(one).strip() for one in observations] if isinstance(observations, list) else []
    return NoteItem(key=f"mcp-memory:{title}", source="mcp-memory", title=title,
                    text="\n".join(f"- {one}" for one in said if one) or title,
                    tags=tags([words(line.get("entityType"))]))


def _has_candidates(bundle: Bundle) -> bool:
    """Whether it is a text with the block's sign at the beginning of a line."""
    head = bundle.head(bundle.names[0], 1 << 20) if len(bundle.names) == 1 else b""
    return any(line.strip().startswith(_SIGN.encode()) for line in head.splitlines())


def _read_candidates(bundle: Bundle) -> Iterator[Found]:
    if not _has_candidates(bundle):
        raise Invalid(f"{bundle.path.name} has no {_SIGN} block")
    from otolith.derive.protocol import parse_candidates

    for memo in parse_candidates(words(bundle.text(bundle.names[0], _MAX_TEXT))):
        yield MemoItem(key=f"candidates:{memo.name}", source="candidates", name=memo.name, text=memo.content,
                       category=memo.category, tags=tuple(memo.tags))


READERS = {"mem0": FormatReader(_is_mem0, _read_mem0),
           "mcp-memory": FormatReader(_is_mcp_memory, _read_mcp_memory),
           "candidates": FormatReader(_has_candidates, _read_candidates)}
