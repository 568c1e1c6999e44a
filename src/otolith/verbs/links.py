"""`link` and `unlink`: one truth for each relation (see DECISIONS, Links), and the copies of it kept true.

Note to note is an edge file, with copies in both notes. Chunk to chunk and work to work stand in the source.
A memo that supersedes another says so in its header, and the old one is marked. Everything else is a line in
links.jsonl. A copy of an edge that a crash or a hand left out comes back in the next write of that note or in
upkeep; a copy of an edge that is gone leaves in upkeep; titles in edges follow their notes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from otolith.errors import Conflict, Damaged, Invalid, NotFound
from otolith.files import ledger, paths
from otolith.home import Home
from otolith.index.database import Row
from otolith.model.kinds import KINDS, LINK_TYPES
from otolith.model.note import Edge, Note, Relation
from otolith.model.record import Link, check_type
from otolith.model.times import offset, zulu
from otolith.verbs.steps import derived_id, each, insist, kept_before, locate

if TYPE_CHECKING:
    from otolith.index.notes import StandingEdge, Written

OWN_WAYS = {"pinned": "otolith pin", "mentions": "a [[wikilink]] in the note's text",
            "merged_into": "otolith merge"}
_JOIN = " — "


def link(home: Home, source: str, type: str, target: str, *, strength: float | None = None,
         context: str | None = None,
         text: str | None = None, key: str | None = None, created: Any = None) -> Link:
    """Relate two records; saying the same again changes nothing, a strength or context given anew is
    taken.
    """
    a, b = locate(home, source), locate(home, target)
    word = _checked(home, a, b, type)
    made = Link(source=a.id, type=word, target=b.id, strength=strength, context=context,
                created=home.moment(created))
    truth = KINDS[a.kind].links if a.kind == b.kind and word in KINDS[a.kind].link_words else ""
    if truth == "edges":
        return _link_notes(home, a, b, made, text, key)
    if truth == "header":
        supersede(home, a.id, b.id)
        return made
    again, more = standing(home, a.id, word, b.id), strength is not None or context is not None
    if truth == "lists":
        loaded = home.load(a.id)
        if again is None or (more and hasattr(loaded.record, "otolith")):  # a work's links hold neither
            home.change(loaded, loaded.record.with_link(made), verb="link")
    elif again is None or more:
        write_line(home, "add", made)
    return made


def _word(a: Row, b: Row, type: str) -> str:
    """The type as the two kinds' own seed writes it."""
    if type.lower() in OWN_WAYS:
        raise Invalid(f"{type!r} is not a link that is set by hand", f"use: {OWN_WAYS[type.lower()]}")
    own = tuple(word for word in KINDS[a.kind].link_words if word != "context_of") if a.kind == b.kind else ()
    return next((word for word in (type, type.upper(), type.lower()) if word in own), "") or check_type(type)


def check_ends(home: Home, made: Link) -> Link:
    """A link that another home wrote, as `link` would make it between records of these very ids."""
    a, b = home.index.cards.find(made.source), home.index.cards.find(made.target)
    if a is None or b is None:
        raise NotFound(f"no record {(made.target if a else made.source)[:80]!r}")
    return made.replace(type=_checked(home, a, b, made.type))


def _checked(home: Home, a: Row, b: Row, type: str) -> str:
    """The word for a new link between two records, if there may be one."""
    if a.id == b.id:
        raise Invalid("a record cannot be linked to itself")
    word = _word(a, b, type)
    if word == "supersedes":
        refuse_cycle(home, a.id, b.id)
    return word


def refuse_cycle(home: Home, newer: str, older: str) -> None:
    """A record that already replaces another, directly or through others, cannot be replaced by it."""
    todo, seen = [older], set[str]()
    while todo:
        here = todo.pop()
        if here == newer:
            raise Invalid(f"{older} already supersedes {newer}",
                          "a record cannot be newer than what replaced it")
        if here not in seen:
            seen.add(here)
            todo.extend(home.index.notes.replaced_by(here))


def standing(home: Home, a: str, word: str, b: str) -> Written | None:
    """A relation as it is written, in either spelling, as an edge first; None if there is none."""
    return home.index.notes.relation(*Link(source=a, type=word, target=b).canonical())


def write_line(home: Home, op: str, made: Link) -> None:
    """One line in links.jsonl, and the index learns of it."""
    home.settle()
    line = {"schema": "link.v1", "op": op, "from": made.source, "type": made.type, "to": made.target,
            "strength": made.strength, "context": made.context, "created": zulu(made.created or home.clock()),
            "at": home.stamp_now(), "origin": home.origin(trust=(made.origin or {}).get("trust")).to_dict()}
    ledger.append_line(home.tree, paths.LINKS,
                       {key: value for key, value in line.items() if value is not None}, synced=True)
    home.refresh([paths.LINKS])


def unlink(home: Home, source: str, type: str, target: str) -> None:
    """Take a relation back where it is written."""
    a, b = locate(home, source), locate(home, target)
    word = _word(a, b, type)
    relation = standing(home, a.id, word, b.id)
    if relation is None:
        raise NotFound(f"{a.id} has no link {word} to {b.id}", f"see: otolith related {a.id}")
    while relation:  # it may be written at both ends, or in two ways
        if relation.edge:
            remove_edge(home, relation.edge)
        elif relation.unit == paths.LINKS:
            write_line(home, "remove", Link(source=a.id, type=word, target=b.id))
        else:
            _strike(home, relation)
        before, relation = relation, standing(home, a.id, word, b.id)
        if relation == before:
            raise Conflict(f"the link in {before.unit} could not be taken back", "edit the file by hand")


def _strike(home: Home, relation: Written) -> None:
    """Take a link out of the record that holds it."""
    holder = home.index.cards.in_unit(relation.unit)[0]
    ends = {relation.a, relation.b} - {holder.id}
    if KINDS[holder.kind].links == "header":
        for old in ends:
            reinstate(home, holder.id, old)
        return
    loaded = home.load(holder.id)
    home.change(loaded, loaded.record.without_links(ends, relation.said), verb="unlinked")


# Memos

def supersede(home: Home, new: str, old: str) -> None:
    """The new memo says what it replaces, and the old one is marked; recall lets it sink."""
    from otolith.derive.protocol import deprecation_note

    newer = home.load(new)
    if old not in newer.record.supersedes:
        home.change(newer, newer.record.replace(supersedes=(*newer.record.supersedes, old)),
                    verb="superseded")
    stale = home.load(old)
    if stale.record.deprecated_by is None:
        text = f"{deprecation_note(new)}\n\n{stale.record.text}"
        home.change(stale, stale.record.replace(text=text, deprecated_by=new), verb="deprecated")


def reinstate(home: Home, new: str, old: str) -> None:
    """The opposite of supersede: what the two memos say of each other is taken back."""
    newer = home.load(new)
    home.change(newer, newer.record.without_links((old,)), verb="reinstated")
    row = home.index.cards.find(old)
    if row and KINDS[row.kind].links == "header":
        stale = home.load(old)
        home.change(stale, stale.record.without_links((new,)), verb="reinstated")


# Edges, and their copies in both notes

def _link_notes(home: Home, a: Row, b: Row, made: Link, text: str | None, key: str | None) -> Link:
    """Edge, source, target, in this order: a crash after the edge already has the link."""
    if key is not None:
        home.settle()
    with home.together():
        relation = standing(home, made.source, made.type, made.target)
        if relation and relation.edge:
            return _restate(home, relation.edge, made, text or made.context).link()
        _refuse_second(home, made)
        now = offset(made.created or home.clock())
        edge = Edge(id=derived_id(home, "link", key), type=made.type, from_id=a.id, from_title=a.title,
                    to_id=b.id, to_title=b.title, strength=0.8 if made.strength is None else made.strength,
                    created_at=now, updated_at=now, origin=home.origin(), text=text or made.context or "")
        if kept_before(home, edge):  # by somebody who was killed then; now it stands
            return _link_notes(home, a, b, made, text, key)
        home.create(edge, verb="link")
        mend(home, (edge.from_id, edge.to_id), given=[edge])
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
    mend(home, (new.from_id, new.to_id), given=[new])
    return new


def _refuse_second(home: Home, made: Link) -> None:
    """A note that names an edge of this relation, while an edge file cannot be read, has its edge already."""
    unread = home.index.notes.unreadable_edges()
    for relation in home.load(made.source).record.relations if unread else ():
        if (relation.type, relation.target) == (made.type, made.target) and relation.edge_id \
                and not home.index.cards.find(relation.edge_id):
            raise Conflict(
                f"the notes name an edge of this relation already, and an edge file cannot be read: "
                f"{unread[0]}",
                           "fix that file; nothing was linked")


def remove_edge(home: Home, edge_id: str) -> None:
    """The copies first, then the edge: while the edge stands, so does the link."""
    loaded = home.load(edge_id)
    edge = loaded.record

    def strike(note: str) -> None:
        held = home.load(note)
        kept = tuple(relation for relation in held.record.relations if relation.edge_id != edge.id)
        home.change(held, held.record.replace(relations=kept), verb="unlinked")

    for note in home.index.cards.rows_of((edge.from_id, edge.to_id)):
        insist(partial(strike, note))
    home.put_away(edge, [loaded.path])


def copy_of(edge: Edge, note: str) -> Relation:
    """The edge as one of its notes states it."""
    outgoing = edge.from_id == note
    return Relation(target=edge.to_id if outgoing else edge.from_id, type=edge.type, strength=edge.strength,
                    direction="outgoing" if outgoing else "incoming", context=edge.link().context,
                    edge_id=edge.id)


def true_relations(home: Home, note: Note, *, given: Iterable[Edge] = (),
                   dropping: bool = False) -> tuple[Relation, ...]:
    """The note's relations as the edges have it: missing copies added, wrong ones set right.

    `given` are edges just written. Copies of edges that are gone leave only when `dropping`, that is after a
    sweep:
    an edge file may have arrived that the index does not know yet. While one cannot be read, nobody knows
    which are gone.
    """
    unsure = dropping and bool(home.index.notes.unreadable_edges())
    fresh = {edge.id: edge for edge in given if note.id in (edge.from_id, edge.to_id)}
    known = home.index.notes.edges_at(note.id)
    kept: list[Relation] = []
    for relation in note.relations:
        if relation.edge_id in fresh:
            kept.append(_corrected(relation, copy_of(fresh[relation.edge_id], note.id)))
        elif relation.edge_id in known:
            held = known[relation.edge_id]
            edge = (None if agrees(relation, note.id, held)
                    else next((edge for _, edge in each(home, [held.unit])), None))
            copy = copy_of(edge, note.id) if edge else relation
            kept.append(_corrected(relation, copy.replace(context=copy.context or relation.context)))
        elif (relation.edge_id is None or not dropping
              or (unsure and not home.index.cards.find(relation.edge_id))):
            kept.append(relation)
    named = {relation.edge_id for relation in kept}
    for edge_id in sorted((known.keys() | fresh.keys()) - named):
        for edge in [fresh[edge_id]] if edge_id in fresh else [edge for _,
                                                               edge in each(home, [known[edge_id].unit])]:
            kept = _with_copy(kept, copy_of(edge, note.id))
    return tuple(dict.fromkeys(kept))


def _with_copy(relations: Sequence[Relation], copy: Relation) -> list[Relation]:
    """A note's relations with the copy of an edge; a relation of the note alone that got its edge now becomes
    the copy.
    """
    same = (copy.target, copy.type, copy.direction, None)
    own = [other for other in relations if (other.target, other.type, other.direction, other.edge_id) == same]
    if own:  # what a person wrote about it stays theirs
        context = own[0].context
        copy = own[0].replace(strength=copy.strength, context=context or copy.context, edge_id=copy.edge_id,
                              own=True if context not in (None, copy.context) else None)
    return [*(other for other in relations if other not in own), copy]


def agrees(relation: Relation, note: str, edge: StandingEdge) -> bool:
    """Whether a note's copy says what its edge says; a symmetric one has no direction, an edge without text
    no context.
    """
    out = edge.a == note
    if (relation.target, relation.type, relation.strength) != (edge.b if out else edge.a, edge.type,
                                                               edge.strength):
        return False
    if not LINK_TYPES[edge.type].symmetric and relation.direction != ("outgoing" if out else "incoming"):
        return False
    return relation.own is True or edge.context in (None, relation.context)


def _corrected(relation: Relation, copy: Relation) -> Relation:
    """A copy as its edge has it; a context of the person's own stays, and so do keys that nobody knows."""
    return relation.replace(target=copy.target, type=copy.type, direction=copy.direction,
                            strength=copy.strength,
                            context=relation.context if relation.own else copy.context)


def mend(home: Home, notes: Iterable[str], *, given: Sequence[Edge] = (),
         dropping: bool = False) -> list[str]:
    """Bring the copies in these notes up to the edges; returns the paths that were written.

    The link stands by its edge: of a note that is never at rest, the copy waits for its next write or upkeep.
    """
    written: list[str] = []

    def copy(note: str) -> None:
        loaded = home.load(note)
        relations = true_relations(home, loaded.record, given=given, dropping=dropping)
        if relations != loaded.record.relations:
            home.change(loaded, loaded.record.replace(relations=relations), verb="linked")
            written.append(loaded.path)

    for note in dict.fromkeys(notes):
        with suppress(NotFound, Damaged, Conflict):
            insist(partial(copy, note))
    return written


def heal(home: Home, _providers: Any = None) -> list[str]:
    """Upkeep's part: every note whose edges changed since the last time, and every edge whose notes were
    renamed.

    If edges it knew changed or vanished, or others can or cannot be read any more, any note may name one.
    """
    index, marks = home.index, home.index.marks
    notes, edges, unread = (marks.changed("relations", "note"), marks.changed("edges", "edge"),
                            "\n".join(index.notes.unreadable_edges()))
    if marks.all("edges").keys().isdisjoint(edges) and marks.get("edges unread") in (None, unread):
        changed = {*notes, *index.notes.unseen_edge_ends()}
    else:
        changed = {*index.notes.ids_of(("note",))}
    lines = [f"{path}: relations" for path in mend(home, sorted(changed), dropping=True)]
    lines += [f"{path}: titles" for path in _follow_titles(home, changed)]
    marks.settle("relations", marks.changed("relations", "note"))
    marks.settle("edges", marks.changed("edges", "edge"))
    marks.set("edges unread", "", unread)
    return lines


def _follow_titles(home: Home, notes: Collection[str]) -> list[str]:
    """Edges whose notes bear other titles than the edge says;
    found by the index, read only where they differ.
    """
    written = []
    for row in home.index.notes.edge_titles():
        either = [_JOIN.join(titles) for titles in ((row.a_title, row.type, row.b_title),
                                                    (row.b_title, row.type, row.a_title))]
        if row.title not in either and not {row.a, row.b}.isdisjoint(notes):
            written += _retitle(home, row.edge, {row.a: row.a_title, row.b: row.b_title})
    return written


def retitle(home: Home, note: Note) -> None:
    """A note's new title in the edges that name it; their file names stay."""
    for edge in home.index.notes.edges_at(note.id):
        _retitle(home, edge, {note.id: note.title})


def _retitle(home: Home, edge_id: str, titles: dict[str, str]) -> list[str]:
    """The edge's path if it had to be written."""
    loaded = home.load(edge_id)
    edge: Edge = loaded.record
    new = edge.replace(from_title=titles.get(edge.from_id, edge.from_title),
                       to_title=titles.get(edge.to_id, edge.to_title))
    if new == edge:
        return []
    home.change(loaded, new, verb="retitled")
    return [loaded.path]
