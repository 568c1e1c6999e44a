"""`merge A B`: B goes into A. What B says is kept, its edges lead to A, its id still finds A, and it can be undone.

The edges are turned first, then A is written, then B goes to the archive: at every moment everything that was said can be
found. What the merge changed is kept in archive/merges/<B>.json, value before and after, so that undoing it puts back
exactly what nobody has changed since.
"""

from __future__ import annotations

import json
from typing import Any

from otolith.errors import Damaged, Invalid, NotFound
from otolith.files import ledger, paths
from otolith.files.codec import read_object, write_object
from otolith.files.tree import fingerprint
from otolith.home import Home
from otolith.index import read
from otolith.model.ids import slug
from otolith.model.kinds import NOTE_TYPES, PROCEDURE_LISTS
from otolith.model.note import Edge, Note, Relation
from otolith.model.record import Link
from otolith.model.shape import plain
from otolith.model.text import fold
from otolith.model.times import offset, zulu
from otolith.verbs.editing import restore
from otolith.verbs.links import mend, remove_edge, write_line
from otolith.verbs.steps import diary, locate

FIELDS = ("text", "tags", "aliases", "importance", "confidence", *PROCEDURE_LISTS)
ENDS = ("from_id", "from_title", "to_id", "to_title")


def merge(home: Home, keep: str, absorb: str) -> Note:
    """Take one note into another; returns the one that stays."""
    kept, gone = (_note_row(home, handle) for handle in (keep, absorb))
    if kept.id == gone.id:
        raise Invalid("a note cannot be merged with itself")
    with home.together():
        a, b = home.load(kept.id), home.load(gone.id)
        when, uses = offset(home.clock()), _uses_of(home, gone)
        new = merge_notes(a.record, b.record, when=when)
        loaded = {edge: home.load(edge) for edge in _edges_of(home, kept.id, gone.id)}
        turned, dropped = sort_edges([one.record for one in loaded.values()], keep=a.record, absorb=b.record, when=when)
        _remember(home, a.record, new, b.record, turned, dropped, uses)
        for before, after in turned:
            home.change(loaded[before.id], after, verb="merged")
        home.change(a, new, verb="merged")
        for edge in dropped:
            remove_edge(home, edge.id)
        edges = [after for _, after in turned]
        mend(home, [kept.id, *(end for edge in edges for end in (edge.from_id, edge.to_id))], given=edges, dropping=True)
        write_line(home, "add", Link(source=gone.id, type="merged_into", target=kept.id))
        home.put_away(b.record, [b.path])
        _carry_uses(home, kept.id, uses)
        diary(home, f"Merged {gone.title} into {new.title}", kind="merge", tags=new.tags,
              memory=f"[{slug(new.title)}](../{a.path})", summary=f"{gone.title} is now part of {new.title}")
    merged: Note = home.load(kept.id).record
    return merged


def _note_row(home: Home, handle: str) -> Any:
    row = locate(home, handle)
    if row.kind != "note":
        raise Invalid(f"only notes are merged; {row.id} is a {row.kind}")
    return row


def _edges_of(home: Home, *notes: str) -> list[str]:
    marks = ",".join("?" * len(notes))
    query = f"SELECT DISTINCT edge FROM links WHERE edge IS NOT NULL AND (a IN ({marks}) OR b IN ({marks})) ORDER BY edge"
    return [edge for edge, in home.db.execute(query, notes + notes)]


def _uses_of(home: Home, row: Any) -> list[Any]:
    """[how often, when last] a note was used."""
    home.fold_usage()
    usage = read.usage_of(home.db, row)
    return [usage.count, None if usage.last is None else zulu(usage.last)]


def _carry_uses(home: Home, note: str, uses: list[Any]) -> None:
    """The uses of what was absorbed count for the note that stays; a line in the usage ledger says so."""
    if uses[0]:
        ledger.append_line(home.tree, paths.usage_log(home.machine), {"base": {note: uses}})


def _record_path(note: str) -> str:
    return f"archive/merges/{note}.json"


def _remember(home: Home, before: Note, after: Note, gone: Note, turned: list[tuple[Edge, Edge]], dropped: list[Edge],
              uses: list[Any]) -> None:
    """What is about to change, value before and after; a merge broken off keeps its first record."""
    path = _record_path(gone.id)
    told = {
        "version": 1, "merged": offset(home.clock()), "keep": after.id, "absorb": gone.id,
        "note": {name: [plain(getattr(before, name)), plain(getattr(after, name))] for name in FIELDS
                 if getattr(before, name) != getattr(after, name)},
        "relations": [relation.to_dict() for relation in after.relations if relation not in before.relations],
        "edges": {old.id: {name: [getattr(old, name), getattr(new, name)] for name in ENDS
                           if getattr(old, name) != getattr(new, name)} for old, new in turned},
        "dropped": [edge.id for edge in dropped], "uses": uses,
    }
    try:
        data, _ = home.tree.read(path)
    except NotFound:
        home.tree.write(path, write_object(told))
        return
    if _told(data).get("keep") != after.id:
        home.tree.write(path, write_object(told), fingerprint(data))


def _told(data: bytes) -> dict[str, Any]:
    try:
        return read_object(data)
    except Damaged:
        return {}


def unmerge(home: Home, absorbed: str) -> Note:
    """Undo a merge: the note comes back with its edges; of the other, whatever nobody has changed since is put back."""
    absorbed = _absorbed_id(home, absorbed)
    path = _record_path(absorbed)
    try:
        data, _ = home.tree.read(path)
    except NotFound:
        raise NotFound(f"{absorbed} was not merged into another note", "see: otolith list --forgotten") from None
    told = _told(data)
    if not told:
        raise Invalid(f"{path} cannot be read", "mend it, or bring the note back with: otolith restore")
    with home.together():
        back: Note = restore(home, absorbed) if not read.find(home.db, absorbed) else home.load(absorbed).record
        ends = [absorbed, told["keep"]]
        for edge_id, values in told["edges"].items():
            if read.find(home.db, edge_id):
                held = home.load(edge_id)
                home.change(held, _put_back(held.record, values), verb="unmerged")
                ends += [held.record.from_id, held.record.to_id]
        for edge_id in told["dropped"]:
            if not read.find(home.db, edge_id) and read.archived(home.db, edge_id):
                restore(home, edge_id)
        _put_note_back(home, told)
        write_line(home, "remove", Link(source=absorbed, type="merged_into", target=told["keep"]))
        mend(home, ends, given=[home.load(edge).record for edge in _edges_of(home, *ends[:2])], dropping=True)
        _carry_uses(home, told["keep"], [-told.get("uses", [0])[0], None])
        home.tree.remove(path)
        diary(home, f"Undid the merge of {back.title}", kind="unmerge", tags=back.tags, memory=None, summary=back.title)
    return back


def _absorbed_id(home: Home, handle: str) -> str:
    """The archived note's id, from its id, a beginning of it, or its title."""
    notes = {one: title for one, kind, title, _ in read.archived(home.db) if kind == "note"}
    if handle in notes:
        return handle
    found = [one for one, title in notes.items() if home.tree.look(_record_path(one))
             and ((len(handle) >= 6 and one.startswith(handle)) or fold(title) == fold(handle))]
    if len(found) > 1:
        raise Invalid(f"{handle!r} could be {len(found)} merged notes: {', '.join(sorted(found)[:5])}", "give the id")
    return found[0] if found else handle


def _put_back(record: Any, values: dict[str, list[Any]]) -> Any:
    """The record with each value that is still what the merge made it set to what it was before."""
    changes = {}
    for name, (before, after) in values.items():
        if plain(getattr(record, name)) == after:
            changes[name] = tuple(before) if isinstance(before, list) else before
    return record.replace(**changes)


def _put_note_back(home: Home, told: dict[str, Any]) -> None:
    if not read.find(home.db, told["keep"]):
        home.notices.append(f"{told['keep']} is not there any more; only the other note came back")
        return
    held = home.load(told["keep"])
    new = _put_back(held.record, told["note"])
    taken = [Relation.from_dict(relation) for relation in told["relations"]]
    new = new.replace(relations=tuple(relation for relation in new.relations if relation not in taken))
    later = [name for name, (_, after) in told["note"].items() if plain(getattr(held.record, name)) != after]
    if later:
        home.notices.append(f"{held.path} was changed since the merge; its {', '.join(later)} stayed as they are")
    if new != held.record:
        home.change(held, new.replace(updated_at=offset(home.clock())), verb="unmerged")


def headings(title: str) -> list[str]:
    """How the diary's blocks begin that tell of merging a note of this title, or of undoing it; for purging."""
    name = " ".join(title.split())
    return [f"Merged {name} into ", f"Undid the merge of {name}\n- **Type:** unmerge\n"]


def records_about(home: Home, record: str) -> list[str]:
    """Merge records that hold something of a note or edge, for purging."""
    found = []
    for path, in home.db.execute("SELECT path FROM documents WHERE path LIKE 'archive/merges/%'").fetchall():
        try:
            if record in json.dumps(_told(home.tree.read(path)[0])):
                found.append(path)
        except (NotFound, Damaged):
            continue
    return found


# What a merge makes of two notes; pure.

def merge_notes(keep: Note, absorb: Note, *, when: str) -> Note:
    """The kept note with all that the other says: text, tags, names, steps, links without an edge file."""
    changes: dict[str, Any] = {
        "text": _joined(keep, absorb), "tags": _union(keep.tags, absorb.tags), "updated_at": when,
        "importance": max(keep.importance, absorb.importance), "confidence": max(keep.confidence, absorb.confidence),
    }
    names = _union(keep.aliases or (), (absorb.title, *(absorb.aliases or ())))
    fresh_names = tuple(name for name in names if fold(name) != fold(keep.title))
    if fresh_names:
        changes["aliases"] = fresh_names
    if keep.type == absorb.type:
        for name in NOTE_TYPES[keep.type].lists:
            changes[name] = _union(getattr(keep, name) or (), getattr(absorb, name) or ()) or getattr(keep, name)
    known = {(relation.target, relation.type, relation.direction) for relation in keep.relations}
    fresh = [relation for relation in absorb.relations if relation.edge_id is None and relation.target != keep.id
             and (relation.target, relation.type, relation.direction) not in known]
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


def sort_edges(edges: list[Edge], *, keep: Note, absorb: Note, when: str) -> tuple[list[tuple[Edge, Edge]], list[Edge]]:
    """(edges to turn, as before and after; edges to drop): an edge between the two, or one the kept note already has."""
    known = {edge.link().canonical() for edge in edges if absorb.id not in (edge.from_id, edge.to_id)}
    turned, dropped = [], []
    for edge in edges:
        if absorb.id not in (edge.from_id, edge.to_id):
            continue
        end = "from" if edge.from_id == absorb.id else "to"
        after = edge.replace(**{f"{end}_id": keep.id, f"{end}_title": keep.title, "updated_at": when})
        if after.from_id == after.to_id or after.link().canonical() in known:
            dropped.append(edge)
        else:
            known.add(after.link().canonical())
            turned.append((edge, after))
    return turned, dropped
