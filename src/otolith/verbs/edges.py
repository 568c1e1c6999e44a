"""The graph of notes: edges listed, searched, proposed and kept true in both notes; the links as a picture; tags.

The edge file is the truth about a relation (see DECISIONS, Links). A copy that a crash or a hand left out comes back in the
next write of that note or in upkeep; a copy of an edge that is gone leaves in upkeep; titles in edges follow their notes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from otolith.derive.pictures import Arrow, Graph, Node, draw_dot, draw_mermaid, draw_svg, gather_graph
from otolith.derive.similar import EdgeProposal, Near, TagScore, propose_edges, related_tags, suggest_tags
from otolith.errors import Damaged, Invalid, NotFound, Provider
from otolith.home import Home
from otolith.index import read
from otolith.index.read import Row
from otolith.index.search import texts
from otolith.model.note import Edge, Note, Relation
from otolith.model.record import NOTE_TYPES, TYPES, check_type
from otolith.model.text import searchable
from otolith.model.times import zulu
from otolith.verbs.records import related
from otolith.verbs.steps import fetch, locate

CANDIDATES = 40  # notes that share words with a new one and are compared by meaning
_JOIN = " — "
FORMATS = {"mermaid": draw_mermaid, "dot": draw_dot, "svg": draw_svg}
ASKED = 10  # notes whose tags are worth asking


def edges(home: Home, query: str | None = None, *, type: str | None = None, note: str | None = None, limit: int | None = 50,
          offset: int = 0) -> tuple[list[dict[str, Any]], int]:
    """(a page of edges, how many there are): all, or those of a type, of a note, with these words in titles or text."""
    home.ensure_fresh()
    conditions, values = ["r.kind = 'edge'"], list[Any]()
    if type is not None:
        conditions.append("r.type = ?")
        values.append(check_type(type, NOTE_TYPES))
    if note is not None:
        conditions.append("r.id IN (SELECT edge FROM links WHERE a = ? OR b = ?)")
        values += [locate(home, note).id] * 2
    words = _words(query) if query else []
    if query and not words:
        return [], 0
    if words:
        conditions.append("r.n IN (SELECT p.record FROM words JOIN passages p ON p.n = words.rowid WHERE words MATCH ?)")
        values.append(" AND ".join(f'"{word}"' for word in words))
    condition = " AND ".join(conditions)
    total = home.db.execute(f"SELECT count(*) FROM records r WHERE {condition}", values).fetchone()[0]
    rows = home.db.execute(f"SELECT r.* FROM records r WHERE {condition} ORDER BY r.created DESC, r.id LIMIT ? OFFSET ?",
                           [*values, -1 if limit is None else limit, offset]).fetchall()
    return [_described(home, Row(*row)) for row in rows], total


def _words(text: str) -> list[str]:
    import re

    return list(dict.fromkeys(re.findall(r"\w+", searchable(text[:20_000]))))[:64]


def _described(home: Home, row: Row) -> dict[str, Any]:
    edge: Edge = fetch(home, row)
    return {"id": edge.id, "type": edge.type, "from_id": edge.from_id, "from_title": edge.from_title, "to_id": edge.to_id,
            "to_title": edge.to_title, "strength": edge.strength, "created": zulu(edge.created), "path": row.unit,
            "text": edge.text}


# Copies kept true

class Standing(NamedTuple):
    """An edge as the index knows it: of a symmetric one it does not tell which end is which."""

    id: str
    a: str
    b: str
    type: str
    strength: float | None
    context: str | None
    unit: str


_STANDING = "SELECT edge, a, b, said, strength, context, unit FROM links WHERE edge IS NOT NULL"


def copy_of(edge: Edge, note: str) -> Relation:
    """The edge as one of its notes states it."""
    outgoing = edge.from_id == note
    return Relation(target=edge.to_id if outgoing else edge.from_id, type=edge.type, strength=edge.strength,
                    direction="outgoing" if outgoing else "incoming", context=edge.link().context, edge_id=edge.id)


def true_relations(home: Home, note: Note, *, given: Iterable[Edge] = (), dropping: bool = False) -> tuple[Relation, ...]:
    """The note's relations as the edges have it: missing copies added, wrong ones set right.

    `given` are edges just written. Copies of edges that are gone leave only when `dropping`, that is after a sweep:
    an edge file may have arrived that the index does not know yet. While one cannot be read, nobody knows which are gone.
    """
    unsure = dropping and bool(unreadable_edges(home))
    fresh = {edge.id: edge for edge in given if note.id in (edge.from_id, edge.to_id)}
    standing = standing_edges(home, note.id)
    kept: list[Relation] = []
    for relation in note.relations:
        if relation.edge_id in fresh:
            kept.append(_corrected(relation, copy_of(fresh[relation.edge_id], note.id)))
        elif relation.edge_id in standing:
            edge = None if agrees(relation, note.id, standing[relation.edge_id]) else _edge(home, relation.edge_id)
            copy = copy_of(edge, note.id) if edge else relation
            kept.append(_corrected(relation, copy.replace(context=copy.context or relation.context)))
        elif relation.edge_id is None or not dropping or (unsure and read.find(home.db, relation.edge_id) is None):
            kept.append(relation)
    named = {relation.edge_id for relation in kept}
    for edge_id in sorted((standing.keys() | fresh.keys()) - named):
        edge = fresh.get(edge_id) or _edge(home, edge_id)
        if edge is not None:
            copy = copy_of(edge, note.id)
            same = (copy.target, copy.type, copy.direction, None)  # a relation of the note alone that got its edge now
            own = [one for one in kept if (one.target, one.type, one.direction, one.edge_id) == same]
            if own:  # what a person wrote about it stays theirs
                theirs = own[0].context is not None and own[0].context != copy.context
                copy = own[0].replace(strength=copy.strength, context=own[0].context or copy.context, edge_id=copy.edge_id,
                                      own=True if theirs else None)
            kept = [one for one in kept if one not in own] + [copy]
    return tuple(dict.fromkeys(kept))


def unreadable_edges(home: Home) -> list[str]:
    """Edge files, or their whole folder, that the last sweep could not read."""
    return [path for path, in home.db.execute(
        "SELECT DISTINCT path FROM problems WHERE (path IN ('graph', 'graph/edges') OR path LIKE 'graph/edges/%') "
        "AND code NOT IN ('copy', 'duplicate-id') ORDER BY path")]


def standing_edges(home: Home, note: str) -> dict[str, Standing]:
    """What the index knows of a note's edges; most copies are compared with that alone."""
    return {row[0]: Standing(*row) for row in home.db.execute(f"{_STANDING} AND (a = ? OR b = ?)", (note, note))}


def all_standing(home: Home) -> dict[str, Standing]:
    """What the index knows of all edges."""
    return {row[0]: Standing(*row) for row in home.db.execute(_STANDING)}


def agrees(relation: Relation, note: str, edge: Standing) -> bool:
    """Whether a note's copy says what its edge says; a symmetric one has no direction, an edge without text no context."""
    out = edge.a == note
    if (relation.target, relation.type, relation.strength) != (edge.b if out else edge.a, edge.type, edge.strength):
        return False
    if not TYPES[edge.type].symmetric and relation.direction != ("outgoing" if out else "incoming"):
        return False
    return relation.own is True or edge.context in (None, relation.context)


def _corrected(relation: Relation, copy: Relation) -> Relation:
    """A copy as its edge has it; a context of the person's own stays, and so do keys that nobody knows."""
    return relation.replace(target=copy.target, type=copy.type, direction=copy.direction, strength=copy.strength,
                            context=relation.context if relation.own else copy.context)


def _edge(home: Home, edge_id: str) -> Edge | None:
    try:
        found: Edge = home.load(edge_id).record
    except (NotFound, Damaged):
        return None
    return found


def mend(home: Home, notes: Iterable[str], *, given: Sequence[Edge] = (), dropping: bool = False) -> list[str]:
    """Bring the copies in these notes up to the edges; returns the paths that were written."""
    written = []
    for note_id in dict.fromkeys(notes):
        try:
            loaded = home.load(note_id)
        except (NotFound, Damaged):
            continue
        relations = true_relations(home, loaded.record, given=given, dropping=dropping)
        if relations != loaded.record.relations:
            home.change(loaded, loaded.record.replace(relations=relations), verb="linked")
            written.append(loaded.path)
    return written


def heal(home: Home, _providers: Any = None) -> list[str]:
    """Upkeep's part: every note whose edges changed since the last time, and every edge whose notes were renamed.

    If edges it knew changed or vanished, or others can or cannot be read any more, any note may name one.
    """
    marks, unread = home.index.marks, "\n".join(unreadable_edges(home))
    notes, edges = marks.changed("relations", "note"), marks.changed("edges", "edge")
    if marks.all("edges").keys().isdisjoint(edges) and marks.get("edges unread") in (None, unread):
        ends = home.db.execute("SELECT l.a, l.b FROM links l JOIN records r ON r.id = l.edge LEFT JOIN seen s "
                               "ON s.rung = 'edges' AND s.key = r.id WHERE s.key IS NULL")
        changed = {*notes, *(note for pair in ends for note in pair)}
    else:
        changed = {note for note, in home.db.execute("SELECT id FROM records WHERE kind = 'note'")}
    lines = [f"{path}: relations" for path in mend(home, sorted(changed), dropping=True)]
    lines += [f"{path}: titles" for path in _rename(home, changed)]
    marks.settle("relations", marks.changed("relations", "note"))
    marks.settle("edges", marks.changed("edges", "edge"))
    marks.set("edges unread", "", unread)
    return lines


def _rename(home: Home, notes: Collection[str]) -> list[str]:
    """Edges whose notes bear other titles than the edge says; found by the index, read only where they differ."""
    query = ("SELECT DISTINCT e.id, e.title, e.type, x.title, y.title, x.id, y.id FROM links l JOIN records e ON e.id = l.edge "
             "JOIN records x ON x.id = l.a JOIN records y ON y.id = l.b")
    written = []
    for edge_id, title, word, one, other, a, b in home.db.execute(query).fetchall():
        if title in (_JOIN.join((one, word, other)), _JOIN.join((other, word, one))) or not {a, b} & set(notes):
            continue
        loaded = home.load(edge_id)
        edge: Edge = loaded.record
        titles = {a: one, b: other}
        new = edge.replace(from_title=titles[edge.from_id], to_title=titles[edge.to_id])
        if new != edge:
            home.change(loaded, new, verb="retitled")
            written.append(loaded.path)
    return written


def update_edge(home: Home, edge_id: str, changes: dict[str, Any]) -> Edge:
    """Change an edge's type, strength or text; both notes say so afterwards."""
    from otolith.verbs.editing import edit

    row = locate(home, edge_id)
    if row.kind != "edge":
        raise Invalid(f"{row.id} is a {row.kind}, not an edge", "see: otolith edges")
    edge: Edge = edit(home, row.id, changes)
    return edge


def delete_edge(home: Home, edge_id: str) -> str:
    """Take the relation back: its copies first, then the edge, which lies in the archive afterwards."""
    from otolith.verbs.links import remove_edge

    row = locate(home, edge_id)
    if row.kind != "edge":
        raise Invalid(f"{row.id} is a {row.kind}, not an edge", "see: otolith edges")
    remove_edge(home, row.id)
    return row.id


# Proposals

def near_notes(home: Home, title: str, text: str, *, but: str = "", limit: int = CANDIDATES) -> list[tuple[Row, float]]:
    """Notes near a text, nearest first: chosen by shared words, measured by the built-in embedder."""
    from otolith.providers.embedders import Static

    words = _words(f"{title} {text[:2000]}")
    if not words:
        return []
    rows = home.db.execute(
        "SELECT r.*, bm25(words, 1.0, 2.0, 1.0) AS score FROM words JOIN passages p ON p.n = words.rowid "
        "JOIN records r ON r.n = p.record WHERE words MATCH ? AND r.kind = 'note' AND r.id <> ? ORDER BY score, r.id LIMIT ?",
        [" OR ".join(f'"{word}"' for word in words), but, 3 * limit])
    found = list({row[1]: Row(*row[:-1]) for row in rows}.values())[:limit]
    openings = texts(home.db, [row.n for row in found])  # a record has its first passage's number
    try:
        vectors = Static().embed([f"{title}. {text[:800]}", *(f"{row.title}. {opening}" for row, opening in zip(found, openings, strict=True))])
    except Provider as error:  # a proposal is a kindness: without the embedder there is none
        home.notices.append(str(error))
        return []
    near = [(row, round(float(value), 4)) for row, value in zip(found, vectors[1:] @ vectors[0], strict=True)]
    return sorted(near, key=lambda item: (-item[1], item[0].id))


def suggest_edges(home: Home, handle: str) -> list[EdgeProposal]:
    """At most three edges that a note probably has; nothing is written."""
    row = locate(home, handle)
    if row.kind != "note":
        raise Invalid(f"edges are proposed for notes; {row.id} is a {row.kind}")
    note: Note = fetch(home, row)
    near = [Near(id=other.id, type=other.type, title=other.title, similarity=value)
            for other, value in near_notes(home, note.title, note.text, but=note.id)]
    linked = [other.id for other in read.neighbours(home.db, note.id)]
    return propose_edges(note.id, note.type, near, linked)


# Pictures and tags

def graph(home: Home, handle: str | None = None, *, depth: int = 1, format: str = "mermaid",
          kind: Sequence[str] = ("note",)) -> str:
    """The links around a record to a depth, or all links among records of some kinds."""
    if format not in FORMATS:
        raise Invalid(f"no format {format!r}", f"use one of {', '.join(FORMATS)}")
    home.ensure_fresh()
    if handle is None:
        return FORMATS[format](_everything(home, kind))
    start = locate(home, handle)
    ids = [start.id, *(found["id"] for found in related(home, start.id, depth))]
    return FORMATS[format](_among(home, ids))


def _everything(home: Home, kinds: Sequence[str]) -> Graph:
    marks = ",".join("?" * len(kinds))
    return _among(home, [one for one, in home.db.execute(f"SELECT id FROM records WHERE kind IN ({marks})", list(kinds))])


def _among(home: Home, ids: Sequence[str]) -> Graph:
    """These records and every link between two of them, as it was written."""
    rows = read.rows_of(home.db, ids)
    names: dict[str, str] = {}
    for record, name in home.db.execute("SELECT r.id, n.name FROM names n JOIN records r ON r.n = n.record"):
        if record in rows:
            names[f"name:{name}"] = record
    arrows = []
    query = "SELECT a, b, said, inverted, strength FROM links WHERE said <> 'pinned'"
    for a, b, said, inverted, strength in home.db.execute(query):
        ends = [names.get(end, end) for end in ((b, a) if inverted else (a, b))]
        if ends[0] != ends[1] and ends[0] in rows and ends[1] in rows:
            arrows.append(Arrow(source=ends[0], type=said, target=ends[1], strength=0.5 if strength is None else strength))
    return gather_graph((Node(id=row.id, title=row.title, type=row.type) for row in rows.values()), arrows)


def tags_near(home: Home, tag: str, limit: int = 10) -> list[TagScore]:
    """Tags that stand beside this one."""
    home.ensure_fresh()
    found: dict[int, list[str]] = {}
    query = ("SELECT t.record, t.tag FROM tags t JOIN records r ON r.n = t.record WHERE r.kind <> 'episode' "
             "AND t.record IN (SELECT record FROM tags WHERE tag = ?)")
    for record, name in home.db.execute(query, (tag,)):
        found.setdefault(record, []).append(name)
    if not found:
        raise NotFound(f"no record has the tag {tag!r}", "see: otolith tags")
    totals = dict(read.tag_counts(home.db))
    alone = [[name] for name in {name for names in found.values() for name in names}
             for _ in range(totals[name] - sum(name in names for names in found.values()))]
    return related_tags(tag, [*found.values(), *alone], limit)


def tags_for(home: Home, text_or_id: str, limit: int = 8) -> list[TagScore]:
    """Known tags that would suit a text, or a record that is already there."""
    home.ensure_fresh()
    known = dict(read.tag_counts(home.db))
    rows = read.resolve(home.db, text_or_id) if len(text_or_id) <= 200 else []
    if len(rows) == 1:
        row = rows[0]
        title, own, but = row.title, read.tags_of(home.db, [row.n]).get(row.n, []), row.id
        text = " ".join(texts(home.db, range(row.n, row.last + 1)))
    else:
        title, text, own, but = "", text_or_id, [], ""
    near = near_notes(home, title, text, but=but)[:ASKED]
    tags = read.tags_of(home.db, [row.n for row, _ in near])
    return suggest_tags(f"{title}\n{text}", [(tags.get(row.n, []), value) for row, value in near], known, own, limit)
