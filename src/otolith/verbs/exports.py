"""`reindex` and `embed`: index and vectors brought up to the records; and exports in their seeds' shapes.

index/metadata_index.json, tag_index.json and link_graph.json are seed 000's, _index.json and
_embeddings.json seed 004's. They are read by other tools only; Otolith itself never asks them. A file of
which only the stamp would change is not written. The built-in vector set is always kept. The configured
embedder's own set is made here and in upkeep only, because its texts may leave this machine; what is sent
where is said first. A set of a model no longer configured goes once the new one is whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from otolith.errors import Damaged, Provider
from otolith.files import paths
from otolith.files.codec import read_object, write_object
from otolith.files.markdown import front_fields
from otolith.home import Home
from otolith.meaning import Progress, embedders_of, fill, given_embedder, mend_pieces, set_up
from otolith.model.kinds import CHUNK_LINKS
from otolith.model.times import offset, zulu
from otolith.verbs.claims import draw
from otolith.verbs.steps import bytes_of, each
from otolith.verbs.tending import change_settings

if TYPE_CHECKING:
    from otolith.index.vectors import VectorSet
    from otolith.providers.embedders import Embedder

EMBEDDINGS = "_embeddings.json"
DIGITS = 6
Tell = Callable[[str], None]
_EDGE = ("type", "from_id", "to_id", "strength")
_NOTE = ("title", "type", "tags", "importance", "confidence", "created", "updated")
_STAMP = re.compile(r'^  "updated": "[^"]*"', re.MULTILINE)


def reindex(home: Home, progress: Progress | None = None) -> dict[str, Any]:
    """Fill a new index from the files, what holds now included, and write the exports."""
    home.rebuild(progress)
    while draw(home):  # else the next questions would answer by a part of what was known
        continue
    written = write_exports(home)
    return {"records": home.index.cards.total(), "written": written}


def write_exports(home: Home, _providers: Any = None) -> list[str]:
    """The four files, each only if its content changed; also upkeep's part."""
    shapes = {**_chunk_exports(home), "_index.json": _note_export(home)}
    return [path for path in paths.EXPORTS if _export(home, path, _as_json(shapes[path]))]


def _export(home: Home, path: str, text: str) -> bool:
    """Write an export; one of the three that another program keeps up is first copied aside."""
    before = bytes_of(home, path) or b""
    foreign = path.startswith("index/") and _found(home, path) and not home.index.marks.get("built", path)
    if foreign and _bare(before.decode(errors="replace")) != _bare(text):
        home.keep_edited(path, before, foreign=True)
    return build_stamped(home, path, text)


def _as_json(shape: dict[str, Any]) -> str:
    """A file of somebody else may hold 1e999, for which JSON has no word."""
    try:
        return write_object(shape).decode()
    except ValueError:
        return write_object(_finite(shape)).decode()


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _bare(text: str) -> str:
    return _STAMP.sub("", text, count=1)


def build_stamped(home: Home, path: str, text: str, bare: Callable[[str], str] = _bare) -> bool:
    """Write a derived file, unless only its stamp would change; `bare` is its text without that."""
    before = bytes_of(home, path)
    if before is not None and bare(before.decode(errors="replace")) == bare(text):
        return False
    return home.build(path, text.encode(errors="surrogatepass"))


def _each(home: Home, kind: str) -> Iterator[tuple[str, Any]]:
    """(path, record) by id."""
    units = home.index.cards.units_of(home.index.notes.ids_of([kind]))
    return each(home, [units[record] for record in sorted(units)])


def _chunk_exports(home: Home) -> dict[str, dict[str, Any]]:
    """Seed 000's three, each in the shape in which it was found, else in that of the program it comes from:
    what is known by key under `entries`, lists under `lists`.
    """
    metadata, by_tag, graph = {}, dict[str, list[str]](), {}
    present = set(home.index.notes.ids_of(["chunk"]))
    for _, chunk in _each(home, "chunk"):
        metadata[chunk.id] = {"type": chunk.type, "tokens": chunk.tokens, "tags": list(chunk.tags),
                              **chunk.metadata.to_dict()}
        for tag in chunk.tags:
            by_tag.setdefault(tag, []).append(chunk.id)
        graph[chunk.id] = {word: [target for target in getattr(chunk.links, word)
                                  if target in present or word == "context_of"] for word in CHUNK_LINKS}
    exported = {path: _found(home, path) for path in paths.EXPORTS[:3]}
    before = exported["index/metadata_index.json"] or {}
    # those of an earlier Otolith were flat, and alone named paths
    ours = any("path" in about for about in before.values() if isinstance(about, dict))
    shapes: dict[str, tuple[str, dict[str, Any]]] = {
        "index/metadata_index.json": ("entries", metadata), "index/link_graph.json": ("entries", graph),
        "index/tag_index.json": ("lists", dict(sorted(by_tag.items())))}
    return {path: held if _flat(exported[path]) and not ours
            else {"entries": {}, "lists": {}, key: held, "updated": zulu(home.clock())}
            for path, (key, held) in shapes.items()}


def _flat(shape: dict[str, Any] | None) -> bool:
    """Somebody keeps the keys at the top; an empty object says nothing."""
    return bool(shape) and not {"entries", "lists"} & (shape or {}).keys()


def _found(home: Home, path: str) -> dict[str, Any] | None:
    """The object that stands in an exported file now."""
    try:
        return read_object(bytes_of(home, path) or b"")
    except Damaged:
        return None


def _note_export(home: Home) -> dict[str, Any]:
    edges = {edge.id: _fields(front_fields(edge), _EDGE) | {"path": unit}
             for unit, edge in _each(home, "edge")}
    entries = {}
    for unit, note in _each(home, "note"):
        fields = front_fields(note)
        entries[note.id] = _fields(fields, _NOTE) | {"path": unit, "relations": fields.get("relations", [])}
    return {"version": 2, "updated": offset(home.clock()), "count": len(entries), "edges": edges,
            "entries": entries}


def _fields(fields: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: fields[name] for name in names}


# Vectors

def embed(home: Home, model: str | None = None, *, providers: Any = None, progress: Progress | None = None,
          tell: Tell | None = None) -> dict[str, Any]:
    """Embed every passage that lacks a vector; what each set holds now, and what went wrong. A `model` is the
    home's embedder from now on; what it needs on this machine is made first.
    """
    chosen = model or home.config.provider
    if chosen == "minilm" and given_embedder(providers) is None:
        set_up(fetch=True, progress=progress, tell=tell)
    if model is not None and model != home.config.provider:
        change_settings(home, {"embedding_provider": model})
        if home.config.provider != model and tell:
            tell(f"this home's embedder is now {model}, but {home.config.provider} is set on the user's side "
                 "(OTOLITH_PROVIDER or config.toml) and wins")
    home.ensure_fresh()
    return _embed(home, providers, progress, tell)


def embed_rung(home: Home, providers: Any = None) -> list[str]:
    """Upkeep's step: one line for each set that grew, and one if the export changed."""
    if home.config.provider == "minilm" and given_embedder(providers) is None:
        try:
            set_up(fetch=False)
        except Provider as error:
            home.notices.append(str(error))
    report = _embed(home, providers, None, home.notices.append)
    home.notices.extend(report["notices"])
    lines = [f"{grown['provider']} {grown['model']}: {grown['embedded']} passages embedded"
             for grown in report["sets"] if grown["embedded"]]
    return lines + list(report["written"])


def _embed(home: Home, providers: Any, progress: Progress | None, tell: Tell | None) -> dict[str, Any]:
    meaning, notices = home.index.meaning, list[str]()
    sets, whole = [], []
    chain = embedders_of(home.config, providers, notices)
    used = [*chain[:1], *(embedder for embedder in chain[1:] if embedder.name == "static")]  # others stand in
    for embedder in used:
        held, made = _fill(home, embedder, notices, progress, tell)
        left = meaning.count_missing(held)
        sets.append({"provider": embedder.name, "model": embedder.model,
                     "dimension": held.dimension if held else None, "embedded": made, "missing": left})
        if held and not left:
            whole.append(held)
    if whole and whole[0].provider == used[0].name:
        _drop_others(home, whole[0], used[0])
    with home.index.writing():
        meaning.compact()
    chosen = meaning.find_set(whole[0].provider, whole[0].model, whole[0].dimension) if whole else None
    written = chosen is not None and _write_embeddings(home, chosen)
    return {"sets": sets, "written": [EMBEDDINGS] if written else [], "notices": notices}


def _fill(home: Home, embedder: Embedder, notices: list[str], progress: Progress | None, tell: Tell | None
          ) -> tuple[VectorSet | None, int]:
    """The set after filling, and how many passages were embedded."""
    meaning = home.index.meaning
    held = meaning.find_set(embedder.name, embedder.model)
    missing = meaning.count_missing(held)
    address, dimension = getattr(embedder, "address", None), None
    try:
        if held and not missing and address:  # is it still the model that it was?
            dimension = len(embedder.embed(["otolith"])[0])
            held = meaning.find_set(embedder.name, embedder.model, dimension)
            missing = meaning.count_missing(held)
        if missing and address and tell:
            tell(f"sending the text of {missing} passages to {embedder.name} at {address}")
        held = fill(home.index, home.config, embedder, notices=notices, progress=progress,
                    dimension=dimension)
        if held and (mended := mend_pieces(home.index, embedder, held)):
            notices.append(f"the vectors of the word pieces of {mended} passages were missing or torn and "
                           "were made again")
    except Provider as error:
        notices.append(str(error))
    return held, max(0, missing - meaning.count_missing(held))


def _drop_others(home: Home, chosen: VectorSet, embedder: Embedder) -> None:
    """Drop sets that nobody asks any more. One wrong answer costs no model its set: it is asked once more."""
    meaning = home.index.meaning
    others = [held for held in meaning.all_sets() if held.provider != "static" and held.n != chosen.n]
    same = any((held.provider, held.model) == (chosen.provider, chosen.model) for held in others)
    try:
        if same and len(embedder.embed(["otolith"])[0]) != chosen.dimension:
            return
    except Provider:
        return
    with home.index.writing():
        for held in others:
            meaning.drop_set(held)
        if chosen.provider == home.config.provider:
            meaning.keep_works(meaning.first_vectors(chosen, "work").items(), anew=False)


def _write_embeddings(home: Home, held: VectorSet) -> bool:
    """_embeddings.json, one line a note; not written if nothing but its stamp would change."""
    rows = home.index.meaning.first_vectors(held, "note")
    entries = ",\n".join(f"    {json.dumps(note)}: {json.dumps(row.astype('f8').round(DIGITS).tolist())}"
                         for note, row in rows.items())
    if not rows and home.tree.look(EMBEDDINGS) is None:
        return False
    inner = f"\n{entries}\n  " if rows else ""
    return build_stamped(home, EMBEDDINGS, (
        f'{{\n  "model": {json.dumps(held.model)},\n  "provider": {json.dumps(held.provider)},\n'
        f'  "dimension": {held.dimension},\n  "updated": "{offset(home.clock())}",\n'
        f'  "entries": {{{inner}}}\n}}\n'))
