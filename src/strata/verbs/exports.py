"""`reindex`: the index once more, and the exports in their seeds' shapes.

index/metadata_index.json, tag_index.json and link_graph.json are seed 000's, _index.json is seed 004's. They are read by
other tools only; Strata itself never asks them. A byte that would not change is not written.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from strata.errors import Damaged, NotFound
from strata.files import codec, paths
from strata.files.jsonform import write_object
from strata.files.markdown import edge_fields, note_fields
from strata.home import Home
from strata.model.record import CHUNK_TYPES
from strata.model.times import offset
from strata.sync import Progress


def reindex(home: Home, progress: Progress | None = None) -> dict[str, Any]:
    """Empty the index, fill it from the files, write the exports."""
    try:
        built = home.db.execute("SELECT key, value FROM meta WHERE key LIKE 'built:%'").fetchall()
    except sqlite3.DatabaseError:  # the index is damaged, which is a good reason to be here
        built = []
    home.index.reset()
    with home.index.writing():
        for key, value in built:  # what was last built tells a file that a person changed since
            home.index.set(key, value)
    home.sweep(accept_removals=True, progress=progress)
    written = write_exports(home)
    return {"records": home.db.execute("SELECT count(*) FROM records").fetchone()[0], "written": written}


def rung(home: Home, _providers: Any = None) -> list[str]:
    """Upkeep's part."""
    return write_exports(home)


def write_exports(home: Home) -> list[str]:
    """The four files, each only if its content changed."""
    metadata, by_tag, graph = _chunk_exports(home)
    shapes = {"index/metadata_index.json": metadata, "index/tag_index.json": by_tag, "index/link_graph.json": graph,
              "_index.json": _note_export(home)}
    return [path for path in paths.EXPORTS if write_stamped(home, path, shapes[path])]


def write_stamped(home: Home, path: str, value: dict[str, Any]) -> bool:
    """Write a derived object unless only its `updated` stamp would change."""
    try:
        before = json.loads(home.tree.read(path)[0])
    except (NotFound, Damaged, ValueError):
        before = None
    if isinstance(before, dict) and {**before, "updated": None} == {**value, "updated": None}:
        return False
    return home.build(path, write_object(value))


def _chunk_exports(home: Home) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    metadata, by_tag, graph = {}, dict[str, list[str]](), {}
    present = {record for record, in home.db.execute("SELECT id FROM records WHERE kind = 'chunk'")}
    for unit, chunk in _each(home, "chunk"):
        metadata[chunk.id] = {"type": chunk.type, "tokens": chunk.tokens, "tags": list(chunk.tags), "path": unit,
                              **{key: value for key, value in chunk.metadata.to_dict().items() if key != "origin"}}
        for tag in chunk.tags:
            by_tag.setdefault(tag, []).append(chunk.id)
        links = {key: value for key, value in chunk.links.to_dict().items() if key in CHUNK_TYPES}
        graph[chunk.id] = {word: ids if word == "context_of" else [one for one in ids if one in present]
                           for word, ids in links.items()}
    return metadata, dict(sorted(by_tag.items())), graph


def _each(home: Home, *kinds: str) -> Iterator[tuple[str, Any]]:
    """(path, record) by id; a file that cannot be read now is check's business."""
    marks = ",".join("?" * len(kinds))
    for unit, in home.db.execute(f"SELECT unit FROM records WHERE kind IN ({marks}) ORDER BY id", kinds).fetchall():
        try:
            yield unit, codec.read_unit(home.tree, unit)[0][0]
        except (Damaged, NotFound):
            continue


def _note_export(home: Home) -> dict[str, Any]:
    entries, edges = {}, {}
    for unit, record in _each(home, "note", "edge"):
        if record.kind == "edge":
            fields = edge_fields(record)
            edges[record.id] = {key: fields[key] for key in ("type", "from_id", "to_id", "strength")} | {"path": unit}
        else:
            fields = note_fields(record)
            mirrored = ("title", "type", "tags", "importance", "confidence", "created", "updated")
            entries[record.id] = {key: fields[key] for key in mirrored} | {"path": unit,
                                                                           "relations": fields.get("relations", [])}
    return {"version": 2, "updated": offset(home.clock()), "count": len(entries), "edges": edges, "entries": entries}
