"""`reindex` and `embed`: the index and its vectors brought up to the records, and the exports in their seeds' shapes.

index/metadata_index.json, tag_index.json and link_graph.json are seed 000's, _index.json and _embeddings.json seed 004's.
They are read by other tools only; Otolith itself never asks them. A file of which only the stamp would change is not written.
The built-in vector set is always kept. The configured embedder's own set is made here and in upkeep only, because its texts
may leave this machine; what is sent where is said first. A set of a model no longer configured goes once the new one is whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from otolith.errors import Provider
from otolith.files import paths
from otolith.files.codec import write_object
from otolith.files.markdown import front_fields
from otolith.home import Home
from otolith.index import vectors
from otolith.index.vectors import VectorSet
from otolith.meaning import Progress, embedders_of, fill
from otolith.model.kinds import CHUNK_LINKS
from otolith.model.times import offset
from otolith.verbs.steps import bytes_of, each

if TYPE_CHECKING:
    from otolith.providers.embedders import Embedder

EMBEDDINGS = "_embeddings.json"
DIGITS = 6
_STAMP = re.compile(r'^  "updated": "[^"]*"', re.MULTILINE)


def reindex(home: Home, progress: Progress | None = None) -> dict[str, Any]:
    """Empty the index, fill it from the files, write the exports."""
    home.index.renew(lambda: home.sweep(accept_removals=True, progress=progress))
    written = write_exports(home)
    return {"records": home.db.execute("SELECT count(*) FROM records").fetchone()[0], "written": written}


def write_exports(home: Home, _providers: Any = None) -> list[str]:
    """The four files, each only if its content changed; also upkeep's part."""
    metadata, by_tag, graph = _chunk_exports(home)
    shapes = {"index/metadata_index.json": metadata, "index/tag_index.json": by_tag, "index/link_graph.json": graph,
              "_index.json": _note_export(home)}
    return [path for path in paths.EXPORTS if build_stamped(home, path, write_object(shapes[path]).decode())]


def _bare(text: str) -> str:
    return _STAMP.sub("", text, count=1)


def build_stamped(home: Home, path: str, text: str, bare: Callable[[str], str] = _bare) -> bool:
    """Write a derived file, unless only its stamp would change; `bare` is its text without that."""
    before = bytes_of(home, path)
    if before is not None and bare(before.decode(errors="replace")) == bare(text):
        return False
    return home.build(path, text.encode(errors="surrogatepass"))


def _chunk_exports(home: Home) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    metadata, by_tag, graph = {}, dict[str, list[str]](), {}
    present = {record for record, in home.db.execute("SELECT id FROM records WHERE kind = 'chunk'")}
    for unit, chunk in _each(home, "chunk"):
        metadata[chunk.id] = {"type": chunk.type, "tokens": chunk.tokens, "tags": list(chunk.tags), "path": unit,
                              **{key: value for key, value in chunk.metadata.to_dict().items() if key != "origin"}}
        for tag in chunk.tags:
            by_tag.setdefault(tag, []).append(chunk.id)
        links = {key: value for key, value in chunk.links.to_dict().items() if key in CHUNK_LINKS}
        graph[chunk.id] = {word: ids if word == "context_of" else [one for one in ids if one in present]
                           for word, ids in links.items()}
    return metadata, dict(sorted(by_tag.items())), graph


def _each(home: Home, *kinds: str) -> Iterator[tuple[str, Any]]:
    """(path, record) by id."""
    query = f"SELECT unit FROM records WHERE kind IN ({','.join('?' * len(kinds))}) ORDER BY id"
    return each(home, [unit for unit, in home.db.execute(query, kinds)])


def _note_export(home: Home) -> dict[str, Any]:
    entries, edges = {}, {}
    for unit, record in _each(home, "note", "edge"):
        if record.kind == "edge":
            fields = front_fields(record)
            edges[record.id] = {key: fields[key] for key in ("type", "from_id", "to_id", "strength")} | {"path": unit}
        else:
            fields = front_fields(record)
            mirrored = ("title", "type", "tags", "importance", "confidence", "created", "updated")
            entries[record.id] = {key: fields[key] for key in mirrored} | {"path": unit,
                                                                           "relations": fields.get("relations", [])}
    return {"version": 2, "updated": offset(home.clock()), "count": len(entries), "edges": edges, "entries": entries}


# Vectors

def embed(home: Home, *, providers: Any = None, progress: Progress | None = None, tell: Callable[[str], None] | None = None
          ) -> dict[str, Any]:
    """Embed every passage that lacks a vector; what each set holds now, and what went wrong."""
    home.ensure_fresh()
    notices: list[str] = []
    sets, whole = [], list[VectorSet]()
    chain = embedders_of(home.config, providers, notices)
    wanted = [one for one in chain if one is chain[0] or one.name == "static"]  # others only stand in when they have a set
    for embedder in wanted:
        held, made = _fill(home, embedder, notices, progress, tell)
        left = vectors.count_missing(home.db, held)
        sets.append({"provider": embedder.name, "model": embedder.model, "dimension": held.dimension if held else None,
                     "embedded": made, "missing": left})
        if held and not left:
            whole.append(held)
    if whole and whole[0].provider == wanted[0].name:
        _drop_others(home, whole[0], wanted[0])
    with home.index.writing() as db:
        vectors.compact(db)
    chosen = vectors.find_set(home.db, *whole[0][1:4]) if whole else None
    written = chosen is not None and _write_export(home, chosen)
    return {"sets": sets, "written": [EMBEDDINGS] if written else [], "notices": notices}


def embed_rung(home: Home, providers: Any = None) -> list[str]:
    """Upkeep's step: one line for each set that grew, and one if the export changed."""
    report = embed(home, providers=providers, tell=home.notices.append)
    home.notices.extend(report["notices"])
    lines = [f"{one['provider']} {one['model']}: {one['embedded']} passages embedded"
             for one in report["sets"] if one["embedded"]]
    return lines + list(report["written"])


def _fill(home: Home, embedder: Embedder, notices: list[str], progress: Progress | None, tell: Callable[[str], None] | None
          ) -> tuple[VectorSet | None, int]:
    """The set after filling, and how many passages were embedded."""
    held = vectors.find_set(home.db, embedder.name, embedder.model)
    missing = vectors.count_missing(home.db, held)
    address, dimension = getattr(embedder, "address", None), None
    try:
        if held and not missing and address:  # is it still the model that it was?
            dimension = len(embedder.embed(["otolith"])[0])
            held = vectors.find_set(home.db, embedder.name, embedder.model, dimension)
            missing = vectors.count_missing(home.db, held)
        if missing and address and tell:
            tell(f"sending the text of {missing} passages to {embedder.name} at {address}")
        held = fill(home.index, home.config, embedder, notices=notices, progress=progress, dimension=dimension)
    except Provider as error:
        notices.append(str(error))
    return held, max(0, missing - vectors.count_missing(home.db, held))


def _drop_others(home: Home, chosen: VectorSet, embedder: Embedder) -> None:
    """Sets that nobody asks any more. One wrong answer does not cost a model its set: it is asked once more first."""
    others = [held for held in vectors.all_sets(home.db) if held.provider != "static" and held.n != chosen.n]
    try:
        if any(held[1:3] == chosen[1:3] for held in others) and len(embedder.embed(["otolith"])[0]) != chosen.dimension:
            return
    except Provider:
        return
    with home.index.writing() as db:
        for held in others:
            vectors.drop_set(db, held)
        if chosen.provider == home.config.provider:
            known = vectors.first_vectors(db, chosen, "work")
            db.executemany("UPDATE memories SET embedding = ? WHERE id = ? AND (embedding IS NULL OR length(embedding) <> ?)",
                           [(row.astype("<f4").tobytes(), id, 4 * chosen.dimension) for id, row in known.items()])


def _write_export(home: Home, held: VectorSet) -> bool:
    """_embeddings.json, one line a note; not written if nothing but its stamp would change."""
    rows = vectors.first_vectors(home.db, held, "note")
    entries = ",\n".join(f"    {json.dumps(id)}: {json.dumps(row.astype('f8').round(DIGITS).tolist())}"
                         for id, row in rows.items())
    if not rows and home.tree.look(EMBEDDINGS) is None:
        return False
    inner = f"\n{entries}\n  " if rows else ""
    return build_stamped(home, EMBEDDINGS, (
        f'{{\n  "model": {json.dumps(held.model)},\n  "provider": {json.dumps(held.provider)},\n'
        f'  "dimension": {held.dimension},\n  "updated": "{offset(home.clock())}",\n  "entries": {{{inner}}}\n}}\n'))
