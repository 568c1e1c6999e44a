"""`embed`: bring the vector sets up to the records, and write _embeddings.json in seed 004's shape.

The built-in set is always kept. The configured embedder's own set is made here and in upkeep only, because its texts may
leave this machine; what is sent where is said first. A set of a model no longer configured goes once the new one is whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from strata.errors import NotFound, Provider
from strata.home import Home
from strata.index import vectors
from strata.index.vectors import VectorSet
from strata.meaning import Progress, embedders_of, fill
from strata.model.times import offset

if TYPE_CHECKING:
    from strata.providers.embedders import Embedder

EXPORT = "_embeddings.json"
DIGITS = 6


def embed(home: Home, *, providers: Any = None, progress: Progress | None = None, tell: Callable[[str], None] | None = None
          ) -> dict[str, Any]:
    """Embed every passage that lacks a vector; what each set holds now, and what went wrong."""
    home.ensure_fresh()
    notices: list[str] = []
    sets, whole = [], list[VectorSet]()
    wanted = _wanted(embedders_of(home.config, providers, notices))
    for embedder in wanted:
        held, made = _fill(home, embedder, notices, progress, tell)
        left = vectors.count_missing(home.db, held)
        sets.append({"provider": embedder.name, "model": embedder.model, "dimension": held.dimension if held else None,
                     "embedded": made, "missing": left})
        if held and not left:
            whole.append(held)
    if whole and whole[0].provider == wanted[0].name:
        _drop_others(home, whole[0])
    with home.index.writing() as db:
        vectors.compact(db)
    chosen = vectors.find_set(home.db, whole[0].provider, whole[0].model) if whole else None
    written = chosen is not None and _write_export(home, chosen)
    return {"sets": sets, "written": [EXPORT] if written else [], "notices": notices}


def rung(home: Home, providers: Any = None) -> list[str]:
    """Upkeep's step: one line for each set that grew, and one if the export changed."""
    report = embed(home, providers=providers, tell=home.notices.append)
    home.notices.extend(report["notices"])
    lines = [f"{one['provider']} {one['model']}: {one['embedded']} passages embedded"
             for one in report["sets"] if one["embedded"]]
    return lines + list(report["written"])


def _wanted(chain: list[Embedder]) -> list[Embedder]:
    """The configured embedder and the built-in one; those in between only stand in when they have a set of their own."""
    return [embedder for at, embedder in enumerate(chain) if at == 0 or embedder.name == "static"]


def _fill(home: Home, embedder: Embedder, notices: list[str], progress: Progress | None, tell: Callable[[str], None] | None
          ) -> tuple[VectorSet | None, int]:
    """The set after filling, and how many passages were embedded."""
    before = vectors.find_set(home.db, embedder.name, embedder.model)
    missing = vectors.count_missing(home.db, before)
    address = getattr(embedder, "address", None)
    if missing and address and tell:
        tell(f"sending the text of {missing} passages to {embedder.name} at {address}")
    try:
        held = fill(home.index, home.config, embedder, notices=notices, progress=progress)
    except Provider as error:
        notices.append(str(error))
        held = before
    return held, missing - vectors.count_missing(home.db, held)


def _drop_others(home: Home, chosen: VectorSet) -> None:
    with home.index.writing() as db:
        for held in vectors.all_sets(db):
            if held.provider != "static" and (held.provider, held.model, held.dimension) != chosen[1:4]:
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
    head = (f'{{\n  "model": {json.dumps(held.model)},\n  "provider": {json.dumps(held.provider)},\n'
            f'  "dimension": {held.dimension},\n')
    tail = ',\n  "entries": {' + (f"\n{entries}\n  " if rows else "") + "}\n}\n"
    try:
        before = home.tree.read(EXPORT)[0].decode(errors="replace")
    except NotFound:
        before = ""
    if (not rows and not before) or (before.startswith(head) and before.endswith(tail)):
        return False
    return home.build(EXPORT, f'{head}  "updated": "{offset(home.clock())}"{tail}'.encode())
