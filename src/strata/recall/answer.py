"""From a question to an answer: full text search for now; meaning, handles and links join it."""

from __future__ import annotations

import re
from typing import Any

from strata.errors import Invalid
from strata.files import codec
from strata.home import Home
from strata.index.filters import where
from strata.index.read import Row, tags_of
from strata.model.filter import Filter
from strata.model.hit import Hit, Recall
from strata.model.record import DEPTHS
from strata.model.text import searchable
from strata.recall.depth import render

_WORD = re.compile(r"\w+")


def recall(home: Home, query: str, chosen: Filter, *, limit: int = 10, depth: str = "full", budget: int | None = None,
           providers: Any = None) -> Recall:
    """The records that answer a question, best first."""
    if depth not in DEPTHS:
        raise Invalid(f"no depth {depth!r}", f"use one of {', '.join(DEPTHS)}")
    if not query.strip():
        raise Invalid("the question is empty", "say what to look for")
    home.ensure_fresh()
    words = list(dict.fromkeys(_WORD.findall(searchable(query[:20_000]))))[:64]
    if not words:
        return Recall(query=query, depth=depth, budget=budget, index_lag=home.lag())
    condition, values = where(chosen, home.config.projects)
    match = " OR ".join(f'"{word}"' for word in words)
    rows = home.db.execute(
        f"WITH found AS MATERIALIZED (SELECT rowid AS n, bm25(words, 1.0, 2.0, 1.0) AS score FROM words WHERE words MATCH ?) "
        f"SELECT r.*, p.text, min(found.score) AS score FROM found JOIN passages p ON p.n = found.n "
        f"JOIN records r ON r.n = p.record WHERE {condition} GROUP BY r.n ORDER BY score LIMIT ?",
        [match, *values, limit]).fetchall()
    hits = []
    for row in rows:
        found = Row(*row[:23])
        record = next(one for one in codec.read_unit(home.tree, found.unit)[0] if one.id == found.id)
        hits.append(Hit(id=found.id, kind=found.kind, type=found.type, title=found.title, created=found.created,
                        path=found.unit, score=-row[24], why=["words"], tags=tags_of(home.db, [found.n]).get(found.n, []),
                        text=render(record, depth, passage=row[23]), record=record, origin={"trust": found.trust}))
    home.used([hit.id for hit in hits])
    return Recall(query=query, depth=depth, budget=budget, hits=hits, enough=bool(hits), index_lag=home.lag())
