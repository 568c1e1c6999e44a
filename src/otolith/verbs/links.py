"""`link` and `unlink`: one truth for each relation (see DECISIONS, Links).

Note to note is an edge file, with copies in both notes. Chunk to chunk and work to work stand in the source. A memo that
supersedes another says so in its header, and the old one is marked. Everything else is a line in links.jsonl.
"""

from __future__ import annotations

from typing import Any

from otolith.errors import Conflict, Invalid, NotFound
from otolith.files import ledger, paths
from otolith.home import Home
from otolith.index import read
from otolith.index.read import Row
from otolith.model.note import Edge
from otolith.model.record import CHUNK_TYPES, NOTE_TYPES, WORK_TYPES, Link, check_type
from otolith.model.times import offset, parse_time, zulu
from otolith.verbs.edges import mend, unreadable_edges
from otolith.verbs.steps import derived_id, locate

_REPLACED_BY = f"""SELECT l.b FROM links l JOIN records o ON o.id = l.b JOIN records n ON n.id = l.a
WHERE l.a = ? AND {read.replaces('o', 'n')}"""
OWN_WAYS = {"pinned": "otolith pin", "mentions": "a [[wikilink]] in the note's text", "merged_into": "otolith merge"}


def link(home: Home, source: str, type: str, target: str, *, strength: float | None = None, context: str | None = None,
         text: str | None = None, key: str | None = None, created: Any = None) -> Link:
    """Relate two records; saying the same again changes nothing, a strength or context given anew is taken."""
    a, b = locate(home, source), locate(home, target)
    if a.id == b.id:
        raise Invalid("a record cannot be linked to itself")
    word = _word(a.kind, b.kind, type)
    made = Link(source=a.id, type=word, target=b.id, strength=strength, context=context,
                created=home.clock() if created is None else parse_time(created, "created"))
    if word == "supersedes":
        refuse_cycle(home, a.id, b.id)
    if (a.kind, b.kind) == ("note", "note") and word in NOTE_TYPES:
        return _link_notes(home, a, b, made, text, key)
    if (a.kind, b.kind) == ("chunk", "chunk") and word in CHUNK_TYPES:
        return _link_chunks(home, made)
    if (a.kind, b.kind) == ("work", "work") and word in WORK_TYPES:
        return _link_works(home, made)
    if (a.kind, b.kind) == ("memo", "memo") and word == "supersedes":
        from otolith.verbs.memos import supersede

        supersede(home, a.id, b.id)
        return made
    if strength is not None or context is not None or not standing(home, a.id, word, b.id):
        write_line(home, "add", made)
    return made


def _word(a: str, b: str, type: str) -> str:
    """The type as the two kinds' own seed writes it."""
    if type.lower() in OWN_WAYS:
        raise Invalid(f"{type!r} is not a link that is set by hand", f"use: {OWN_WAYS[type.lower()]}")
    own = {"note": NOTE_TYPES, "chunk": CHUNK_TYPES[1:], "work": WORK_TYPES}.get(a, ()) if a == b else ()
    for allowed in (own, None):
        try:
            return check_type(type, allowed or None)
        except Invalid:
            if allowed is None:
                raise
    raise AssertionError


def check_ends(home: Home, made: Link) -> Link:
    """A link that another home wrote, as `link` would make it between records of these very ids."""
    a, b = read.find(home.db, made.source), read.find(home.db, made.target)
    if a is None or b is None:
        raise NotFound(f"no record {(made.target if a else made.source)[:80]!r}")
    if a.id == b.id:
        raise Invalid("a record cannot be linked to itself")
    word = _word(a.kind, b.kind, made.type)
    if word == "supersedes":
        refuse_cycle(home, made.source, made.target)
    return made.replace(type=word)


def refuse_cycle(home: Home, newer: str, older: str) -> None:
    """A record that already replaces another, directly or through others, cannot be replaced by it."""
    todo, seen = [older], set()
    while todo:
        here = todo.pop()
        if here == newer:
            raise Invalid(f"{older} already supersedes {newer}", "a record cannot be newer than what replaced it")
        if here not in seen:
            seen.add(here)
            todo.extend(old for old, in home.db.execute(_REPLACED_BY, (here,)))


def standing(home: Home, a: str, word: str, b: str) -> Any:
    """The index's row of a relation, in either spelling, that of an edge first; None if there is none."""
    first, canonical, second = Link(source=a, type=word, target=b).canonical()
    return home.db.execute("SELECT a, word, b, said, edge, unit FROM links WHERE a = ? AND word = ? AND b = ? "
                           "ORDER BY edge IS NULL", (first, canonical, second)).fetchone()


def _link_notes(home: Home, a: Row, b: Row, made: Link, text: str | None, key: str | None) -> Link:
    """Edge, source, target, in this order: a crash after the edge already has the link."""
    if key is not None:
        home.settle()
    with home.together():
        known = standing(home, made.source, made.type, made.target)
        if known and known[4]:
            return _restate(home, known[4], made, text or made.context).link()
        _refuse_second(home, made)
        now = offset(made.created or home.clock())
        edge = Edge(id=derived_id(home, "link", key), type=made.type, from_id=a.id, from_title=a.title, to_id=b.id,
                    to_title=b.title, strength=0.8 if made.strength is None else made.strength, created_at=now,
                    updated_at=now, origin=home.origin(), text=text or made.context or "")
        home.create(edge, verb="link")
        mirror(home, edge)
    return edge.link()


def _restate(home: Home, edge_id: str, made: Link, text: str | None) -> Edge:
    """An edge that stands, with the strength and the text that were given now; what was not given stays."""
    loaded = home.load(edge_id)
    edge: Edge = loaded.record
    new = edge if made.strength is None else edge.replace(strength=made.strength)
    if text is not None and text not in (edge.text, edge.link().context):
        new = new.replace(text=text.replace("\r\n", "\n").strip("\n"))
    if new == edge:
        mend(home, (edge.from_id, edge.to_id))
        return edge
    home.change(loaded, new.replace(updated_at=offset(home.clock())), verb="link")
    mirror(home, new)
    return new


def _refuse_second(home: Home, made: Link) -> None:
    """A note that names an edge of this relation, while an edge file cannot be read, has its edge already."""
    unread = unreadable_edges(home)
    if not unread:
        return
    for relation in home.load(made.source).record.relations:
        if relation.edge_id and (relation.type, relation.target) == (made.type, made.target) and not read.find(home.db, relation.edge_id):
            raise Conflict(f"the notes name an edge of this relation already, and an edge file cannot be read: {unread[0]}",
                           "mend that file; nothing was linked")


def mirror(home: Home, edge: Edge) -> None:
    """The edge's copies in the front matter of both notes."""
    mend(home, (edge.from_id, edge.to_id), given=[edge])


def retitle(home: Home, note: Any) -> None:
    """A note's new title in the edges that name it; their file names stay."""
    for edge_id, in home.db.execute("SELECT DISTINCT edge FROM links WHERE edge IS NOT NULL AND (a = ? OR b = ?)",
                                    (note.id, note.id)).fetchall():
        loaded = home.load(edge_id)
        edge = loaded.record
        new = edge.replace(from_title=note.title if edge.from_id == note.id else edge.from_title,
                           to_title=note.title if edge.to_id == note.id else edge.to_title)
        home.change(loaded, new, verb="retitled")


def _link_chunks(home: Home, made: Link) -> Link:
    loaded = home.load(made.source)
    links = loaded.record.links
    listed = getattr(links, made.type)
    if made.strength is None and made.context is None and standing(home, made.source, made.type, made.target):
        return made
    details = {word: dict(found) for word, found in (links.details or {}).items()}
    about = {"created": made.created, "strength": made.strength, "context": made.context}
    details.setdefault(made.type, {})[made.target] = {key: value for key, value in about.items() if value is not None}
    new = links.replace(**{made.type: (*listed, made.target) if made.target not in listed else listed}, details=details)
    home.change(loaded, loaded.record.replace(links=new), verb="link")
    return made


def _link_works(home: Home, made: Link) -> Link:
    if standing(home, made.source, made.type, made.target):
        return made
    loaded = home.load(made.source)
    work = loaded.record
    listed = work.links.targets(made.type)
    times = {word: dict(found) for word, found in (work.links_at or {}).items()}
    times.setdefault(made.type, {})[made.target] = int(made.created or 0)
    links = work.links.replace(**{made.type: (*listed, made.target)})
    home.change(loaded, work.replace(links=links, links_at=times), verb="link")
    return made


def write_line(home: Home, op: str, made: Link) -> None:
    """One line in links.jsonl, and the index told."""
    home.settle()
    line = {"op": op, "from": made.source, "type": made.type, "to": made.target, "strength": made.strength,
            "context": made.context, "created": zulu(made.created or home.clock()),
            "origin": home.origin(trust=(made.origin or {}).get("trust")).to_dict()}
    ledger.append_line(home.tree, paths.LINKS, {key: value for key, value in line.items() if value is not None}, synced=True)
    home.refresh([paths.LINKS])


def unlink(home: Home, source: str, type: str, target: str) -> None:
    """Take a relation back where it is written."""
    a, b = locate(home, source), locate(home, target)
    word = _word(a.kind, b.kind, type)
    known = standing(home, a.id, word, b.id)
    if known is None:
        raise NotFound(f"{a.id} has no link {word} to {b.id}", f"see: otolith related {a.id}")
    while known:  # it may be written at both ends, or in two ways
        first, _, second, said, edge, unit = known
        if edge:
            remove_edge(home, edge)
        elif unit == paths.LINKS:
            write_line(home, "remove", Link(source=a.id, type=word, target=b.id))
        else:
            _strike(home, unit, said, first, second)
        before, known = known, standing(home, a.id, word, b.id)
        if known == before:
            raise Conflict(f"the link in {unit} could not be taken back", "edit the file by hand")


def remove_edge(home: Home, edge_id: str) -> None:
    """The copies first, then the edge: while the edge stands, so does the link."""
    loaded = home.load(edge_id)
    edge = loaded.record
    for note in (edge.from_id, edge.to_id):
        if read.find(home.db, note):
            held = home.load(note)
            kept = tuple(r for r in held.record.relations if r.edge_id != edge.id)
            home.change(held, held.record.replace(relations=kept), verb="unlinked")
    home.put_away(edge, [loaded.path])


def _strike(home: Home, unit: str, said: str, a: str, b: str) -> None:
    """Take a link out of the record that holds it."""
    row = home.db.execute("SELECT id FROM records WHERE unit = ?", (unit,)).fetchone()
    loaded = home.load(row[0])
    record = loaded.record
    ends = {a, b} - {record.id}
    if record.kind == "note":
        new = record.replace(relations=tuple(r for r in record.relations if not (r.type == said and r.target in ends)))
    elif record.kind == "memo":
        from otolith.verbs.memos import reinstate

        for old in ends:
            reinstate(home, record.id, old)
        return
    else:
        listed = record.links.targets(said) if record.kind == "work" else getattr(record.links, said)
        new = record.replace(links=record.links.replace(**{said: tuple(one for one in listed if one not in ends)}))
        if record.kind == "chunk":
            new = new.replace(links=new.links.replace(details=_without_word(record.links.details, said, ends)))
        else:
            new = new.replace(links_at=_without_word(record.links_at, said, ends))
    home.change(loaded, new, verb="unlinked")


def _without_word(about: Any, word: str, ends: set[str]) -> Any:
    """What is said of a record's links, without what is said of these."""
    return about and {one: {end: said for end, said in found.items() if one != word or end not in ends}
                      for one, found in about.items()}
