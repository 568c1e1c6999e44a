"""The graph of notes as people ask for it: edges listed, searched, changed and proposed; the links as a
picture; tags.

How edges and their copies are written and kept true is in links.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from otolith.derive.pictures import Arrow, Drawing, DrawnNode, draw_dot, draw_mermaid, draw_svg, gather_graph
from otolith.derive.similar import EdgeProposal, Near, TagScore, propose_edges, related_tags, suggest_tags
from otolith.errors import Invalid, NotFound, Provider
from otolith.home import Home
from otolith.index.database import Row
from otolith.model.kinds import KINDS, NOTE_LINKS
from otolith.model.kinds import kind as row_of
from otolith.model.note import Edge, Note
from otolith.model.record import check_type
from otolith.model.text import searchable
from otolith.model.times import zulu
from otolith.verbs.editing import edit
from otolith.verbs.links import remove_edge
from otolith.verbs.records import related
from otolith.verbs.steps import fetch, locate

CANDIDATES = 40  # notes that share words with a new one and are compared by meaning
FORMATS = {"mermaid": draw_mermaid, "dot": draw_dot, "svg": draw_svg}
ASKED = 10  # notes whose tags are worth asking


def edges(home: Home, query: str | None = None, *, type: str | None = None, note: str | None = None,
          limit: int | None = 50, offset: int = 0) -> tuple[list[dict[str, Any]], int]:
    """(a page of edges, how many there are): all, or those of a type, of a note, with these words in titles
    or text.
    """
    home.ensure_fresh()
    word = None if type is None else check_type(type, NOTE_LINKS)
    end = None if note is None else locate(home, note).id
    words = _words(query) if query else []
    if query and not words:
        return [], 0
    rows, total = home.index.notes.find_edges(words, word, end, limit, offset)
    return [_described(home, row) for row in rows], total


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"\w+", searchable(text[:20_000]))))[:64]


def _described(home: Home, row: Row) -> dict[str, Any]:
    edge: Edge = fetch(home, row)
    fields = ("id", "type", "from_id", "from_title", "to_id", "to_title", "strength")
    return {**{name: getattr(edge, name) for name in fields}, "created": zulu(edge.created), "path": row.unit,
            "text": edge.text}


def update_edge(home: Home, edge_id: str, changes: dict[str, Any]) -> Edge:
    """Change an edge's type, strength or text; both notes say so afterwards."""
    edge: Edge = edit(home, _edge_row(home, edge_id).id, changes)
    return edge


def delete_edge(home: Home, edge_id: str) -> str:
    """Take the relation back: its copies first, then the edge, which lies in the archive afterwards."""
    row = _edge_row(home, edge_id)
    remove_edge(home, row.id)
    return row.id


def _edge_row(home: Home, handle: str) -> Row:
    row = locate(home, handle)
    if KINDS[row.kind].shape is not Edge:
        raise Invalid(f"{row.id} is a {row.kind}, not an edge", "see: otolith edges")
    return row


# Proposals

def near_notes(home: Home, title: str, text: str, *, but: str = "",
               limit: int = CANDIDATES) -> list[tuple[Row, float]]:
    """Notes near a text, nearest first: chosen by shared words, measured by the built-in embedder."""
    from otolith.providers.embedders import Static

    words = _words(f"{title} {text[:2000]}")
    if not words:
        return []
    rows = home.index.words.best(words, kind="note", but=but, limit=3 * limit)[:limit]
    openings = home.index.around.texts([row.n for row in rows])  # a record has its first passage's number
    try:
        vectors = Static().embed([f"{title}. {text[:800]}",
                                  *(f"{row.title}. {opening}" for row,
                                    opening in zip(rows, openings, strict=True))])
    except Provider as error:  # a proposal is a kindness: without the embedder there is none
        home.notices.append(str(error))
        return []
    near = [(row, round(float(value), 4)) for row, value in zip(rows, vectors[1:] @ vectors[0], strict=True)]
    return sorted(near, key=lambda item: (-item[1], item[0].id))


def suggest_edges(home: Home, handle: str) -> list[EdgeProposal]:
    """At most three edges that a note probably has; nothing is written."""
    row = locate(home, handle)
    if KINDS[row.kind].links != "edges":
        raise Invalid(f"edges are proposed for notes; {row.id} is a {row.kind}")
    note: Note = fetch(home, row)
    near = [Near(id=other.id, type=other.type, title=other.title, similarity=value)
            for other, value in near_notes(home, note.title, note.text, but=note.id)]
    return propose_edges(note.id, note.type, near,
                         [other.id for other in home.index.graph.neighbours(note.id)])


# Pictures and tags

def graph(home: Home, handle: str | None = None, *, depth: int = 1, format: str = "mermaid",
          kind: Sequence[str] = ("note",)) -> str:
    """The links around a record to a depth, or all links among records of some kinds."""
    if format not in FORMATS:
        raise Invalid(f"unknown format {format!r}", f"use one of {', '.join(FORMATS)}")
    kinds = [row_of(name).name for name in ([kind] if isinstance(kind, str) else kind or ())]
    home.ensure_fresh()
    if handle is None:
        return FORMATS[format](_among(home, home.index.notes.ids_of(kinds)))
    start = locate(home, handle).id
    return FORMATS[format](_among(home, [start, *(other["id"] for other in related(home, start, depth))]))


def _among(home: Home, ids: Sequence[str]) -> Drawing:
    """These records and every link between two of them, as it was written."""
    rows = home.index.cards.rows_of(ids)
    names = {f"name:{name}": record for name, record in home.index.notes.all_names() if record in rows}
    arrows = []
    for link in home.index.notes.relations():
        ends = [names.get(end, end) for end in ((link.b, link.a) if link.inverted else (link.a, link.b))]
        if ends[0] != ends[1] and ends[0] in rows and ends[1] in rows:
            arrows.append(Arrow(source=ends[0], type=link.said, target=ends[1],
                                strength=0.5 if link.strength is None else link.strength))
    return gather_graph((DrawnNode(id=row.id, title=row.title, type=row.type) for row in rows.values()),
                        arrows)


def tags_near(home: Home, tag: str, limit: int = 10) -> list[TagScore]:
    """Tags that stand beside this one."""
    home.ensure_fresh()
    records = home.index.notes.tags_beside(tag)
    if not records:
        raise NotFound(f"no record has the tag {tag!r}", "see: otolith tags")
    totals = dict(home.index.cards.tag_counts())
    alone = [[name] for name in {name for names in records for name in names}
             for _ in range(totals[name] - sum(name in names for names in records))]
    return related_tags(tag, [*records, *alone], limit)


def tags_for(home: Home, text_or_id: str, limit: int = 8) -> list[TagScore]:
    """Known tags that would suit a text, or a record that is already there."""
    home.ensure_fresh()
    cards = home.index.cards
    rows = cards.resolve(text_or_id) if len(text_or_id) <= 200 else []
    title, text, own, but = "", text_or_id, list[str](), ""
    if len(rows) == 1:
        row = rows[0]
        title, own, but = row.title, cards.tags_of([row.n]).get(row.n, []), row.id
        text = " ".join(home.index.around.texts(range(row.n, row.last + 1)))
    near = near_notes(home, title, text, but=but)[:ASKED]
    tags = cards.tags_of([row.n for row, _ in near])
    return suggest_tags(f"{title}\n{text}", [(tags.get(row.n, []), value) for row, value in near],
                        dict(cards.tag_counts()), own, limit)
