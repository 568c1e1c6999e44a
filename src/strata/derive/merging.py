"""Two notes made one: what the kept note says afterwards, and where the other's edges lead. Pure; nothing is lost."""

from __future__ import annotations

from typing import Any

from strata.model.note import PROCEDURE_ONLY, Edge, Note
from strata.model.text import fold


def merge_notes(keep: Note, absorb: Note, *, when: str) -> Note:
    """The kept note with all that the other says: text, tags, names, steps, links without an edge file."""
    changes: dict[str, Any] = {
        "text": _joined(keep, absorb), "tags": _union(keep.tags, absorb.tags), "updated_at": when,
        "importance": max(keep.importance, absorb.importance), "confidence": max(keep.confidence, absorb.confidence),
    }
    names = [name for name in _union(keep.aliases or (), (absorb.title, *(absorb.aliases or ()))) if fold(name) != fold(keep.title)]
    if names:
        changes["aliases"] = tuple(names)
    if keep.type == absorb.type == "procedure":
        for name in PROCEDURE_ONLY:
            lines = _union(getattr(keep, name) or (), getattr(absorb, name) or ())
            changes[name] = lines or getattr(keep, name)
    own = [relation for relation in absorb.relations if relation.edge_id is None and relation.target != keep.id]
    known = {(relation.target, relation.type, relation.direction) for relation in keep.relations}
    fresh = [relation for relation in own if (relation.target, relation.type, relation.direction) not in known]
    changes["relations"] = (*(relation for relation in keep.relations if relation.target != absorb.id), *fresh)
    return keep.replace(**changes)


def _joined(keep: Note, absorb: Note) -> str:
    """The other's text under its own title, unless the kept note already says it word for word."""
    added = absorb.text if keep.type == absorb.type else absorb.prose()  # a procedure's lists become text elsewhere
    if not added.strip() or fold(added) in fold(keep.text):
        return keep.text
    return "\n\n".join(part for part in (keep.text, f"## {' '.join(absorb.title.split())}", added) if part)


def _union(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def turn_edge(edge: Edge, *, away_from: str, to: Note, when: str) -> Edge:
    """The edge with one end moved from a note to another."""
    if edge.from_id == away_from:
        return edge.replace(from_id=to.id, from_title=to.title, updated_at=when)
    return edge.replace(to_id=to.id, to_title=to.title, updated_at=when)


def sort_edges(edges: list[Edge], *, keep: Note, absorb: Note, when: str) -> tuple[list[tuple[Edge, Edge]], list[Edge]]:
    """(edges to turn, as before and after; edges to drop): an edge between the two, or one the kept note already has."""
    known = {_said(edge) for edge in edges if absorb.id not in (edge.from_id, edge.to_id)}
    turned, dropped = [], []
    for edge in edges:
        if absorb.id not in (edge.from_id, edge.to_id):
            continue
        after = turn_edge(edge, away_from=absorb.id, to=keep, when=when)
        if after.from_id == after.to_id or _said(after) in known:
            dropped.append(edge)
        else:
            known.add(_said(after))
            turned.append((edge, after))
    return turned, dropped


def _said(edge: Edge) -> tuple[str, str, str]:
    return edge.link().canonical()
