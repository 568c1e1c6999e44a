"""`graph` and `tags`: the links among records as a picture, and which tags go together or would suit a text."""

from __future__ import annotations

from collections.abc import Sequence

from strata.derive.pictures import Arrow, Graph, Node, draw_dot, draw_mermaid, draw_svg, gather_graph
from strata.derive.similar import TagScore, related_tags, suggest_tags
from strata.errors import Invalid, NotFound
from strata.home import Home
from strata.index import read
from strata.verbs.edges import near_notes
from strata.verbs.finding import locate, related

FORMATS = {"mermaid": draw_mermaid, "dot": draw_dot, "svg": draw_svg}
NEIGHBOURS = 10  # notes whose tags are worth asking


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
        raise NotFound(f"no record has the tag {tag!r}", "see: strata tags")
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
        text = " ".join(text for text, in home.db.execute("SELECT text FROM passages WHERE record = ? ORDER BY ord", (row.n,)))
    else:
        title, text, own, but = "", text_or_id, [], ""
    near = near_notes(home, title, text, but=but)[:NEIGHBOURS]
    tags = read.tags_of(home.db, [row.n for row, _ in near])
    return suggest_tags(f"{title}\n{text}", [(tags.get(row.n, []), value) for row, value in near], known, own, limit)
