"""The MCP reference server's `memory.jsonl`: entities with observations, and relations between them.

An entity becomes a note with one line an observation, its type a tag; a relation becomes a link whose own
words are kept as its context.
"""

from __future__ import annotations

from collections.abc import Iterator

from otolith.doors.exchange.bundle import Bundle
from otolith.doors.exchange.items import Finding, Found, LinkItem, NoteItem, tags, words
from otolith.doors.exchange.jsontext import each_line, first_objects
from otolith.errors import Invalid

SOURCE = "mcp-memory"
_TYPES = ("SOLVES", "CAUSES", "BUILDS_ON", "ALTERNATIVE_TO", "REQUIRES", "FOLLOWS", "RELATED_TO")


def fits(bundle: Bundle) -> bool:
    """Whether it is a file of entities and relations."""
    return len(bundle.names) == 1 and any(
        "entityType" in first or "relationType" in first
        for first in first_objects(bundle, bundle.names[0], 1)
    )


def read(bundle: Bundle) -> Iterator[Found]:
    if not fits(bundle):
        raise Invalid(f"{bundle.path.name} is not a memory.jsonl of the MCP memory server")
    name = bundle.names[0]
    names: set[str] = set()
    relations: list[tuple[int, dict[str, object]]] = []
    for number, _, line in each_line(bundle, name):
        if isinstance(line, Finding):
            yield line
        elif isinstance(line, dict) and line.get("type") == "relation":
            relations.append((number, line))
        elif isinstance(line, dict) and words(line.get("name")).strip():
            names.add(words(line["name"]).strip())
            yield _note(line)
        else:
            yield Finding(where=name, line=number, message="neither an entity nor a relation")
    for number, line in relations:
        start, end = words(line.get("from")).strip(), words(line.get("to")).strip()
        if start not in names or end not in names:
            yield Finding(where=name, line=number, message="the relation names an entity that is not there")
            continue
        said = words(line.get("relationType")).strip()
        kind = said.upper().replace(" ", "_").replace("-", "_")
        yield LinkItem(key=f"{SOURCE}:{start}|{said}|{end}", source=SOURCE, start=f"{SOURCE}:{start}",
                       end=f"{SOURCE}:{end}", type=kind if kind in _TYPES else "RELATED_TO",
                       context="" if kind in _TYPES else said)


def _note(line: dict[str, object]) -> NoteItem:
    title = words(line["name"]).strip()
    observations = line.get("observations")
    said = [words(one).strip() for one in observations] if isinstance(observations, list) else []
    return NoteItem(key=f"{SOURCE}:{title}", source=SOURCE, title=title,
                    text="\n".join(f"- {one}" for one in said if one) or title,
                    tags=tags([words(line.get("entityType"))]))
