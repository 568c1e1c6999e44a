"""`merge A B`: B goes into A. What B says is kept, its edges lead to A, its id still finds A, and it can be
undone.

The edges are turned first, then A is written, then B goes to the archive: at every moment everything that was
said can be found. The merge is an act in the undo journal (undo.py), so that undoing it puts back what nobody
has changed since.
"""

from __future__ import annotations

from typing import Any

from otolith.errors import Invalid, NotFound
from otolith.files import ledger, paths
from otolith.home import Home
from otolith.index.database import Row
from otolith.model.ids import slug
from otolith.model.kinds import KINDS, NOTE_TYPES
from otolith.model.note import Edge, Note
from otolith.model.record import Link
from otolith.model.text import fold
from otolith.model.times import offset, zulu
from otolith.verbs import undo
from otolith.verbs.links import mend, remove_edge, write_line
from otolith.verbs.steps import diary, locate


def merge(home: Home, keep: str, absorb: str) -> Note:
    """Take one note into another; returns the one that stays."""
    kept, gone = (_note_row(home, handle) for handle in (keep, absorb))
    if kept.id == gone.id:
        raise Invalid("a note cannot be merged with itself")
    with home.writing():
        a, b = home.load(kept.id), home.load(gone.id)
        when, uses = offset(home.clock()), _uses_of(home, gone)
        new = merge_notes(a.record, b.record, when=when)
        loaded = {edge: home.load(edge) for edge in home.index.notes.edges_at(kept.id, gone.id)}
        turned, dropped = sort_edges([held.record for held in loaded.values()], keep=a.record,
                                     absorb=b.record, when=when)
        ends = home.index.cards.rows_of([end for held in loaded.values()
                                         for end in (held.record.from_id, held.record.to_id)])
        files = [a.path, b.path, *(held.path for held in loaded.values()),
                 *(row.unit for row in ends.values())]
        with undo.recording(home, "merge", gone.id, files) as details, home.together():
            details |= {"links": [[gone.id, "merged_into", kept.id]], "uses": {kept.id: uses} if uses[0]
                        else {}}
            for before, after in turned:
                home.change(loaded[before.id], after, verb="merged")
            home.change(a, new, verb="merged")
            for edge in dropped:
                remove_edge(home, edge.id)
            edges = [after for _, after in turned]
            mend(home, [kept.id, *(end for edge in edges for end in (edge.from_id, edge.to_id))], given=edges,
                 dropping=True)
            write_line(home, "add", Link(source=gone.id, type="merged_into", target=kept.id))
            home.put_away(b.record, [b.path])
            if uses[0]:  # they count for the note that stays
                ledger.append_line(home.tree, paths.usage_log(home.machine), {"base": {kept.id: uses}})
            diary(home, f"Merged {gone.title} into {new.title}", kind="merge", tags=new.tags,
                  memory=f"[{slug(new.title)}](../{a.path})",
                  summary=f"{gone.title} is now part of {new.title}")
    merged: Note = home.load(kept.id).record
    return merged


def _note_row(home: Home, handle: str) -> Row:
    row = locate(home, handle)
    if KINDS[row.kind].links != "edges":
        raise Invalid(f"only notes are merged; {row.id} is a {row.kind}")
    return row


def _uses_of(home: Home, row: Row) -> list[Any]:
    """[how often, when last] a note was used."""
    home.fold_usage()
    usage = home.index.cards.usage_of(row)
    return [usage.count, None if usage.last is None else zulu(usage.last)]


def unmerge(home: Home, absorbed: str) -> Note:
    """Undo a merge: the note comes back with its edges; of the other, whatever nobody has changed since is
    put back.
    """
    merges = {act.id: act for act in undo.acts(home) if act.verb == "merge"}
    titles = {record: title for record, _, title, _ in home.index.cards.archived() if record in merges}
    found = [absorbed] if absorbed in merges else [record for record, title in titles.items()
                                                   if fold(title) == fold(absorbed)
                                                   or (len(absorbed) >= 6 and record.startswith(absorbed))]
    if len(found) > 1:
        raise Invalid(f"{absorbed!r} could be {len(found)} merged notes: {', '.join(sorted(found)[:5])}",
                      "give the id")
    if not found:
        raise NotFound(f"{absorbed} was not merged into another note, or too long ago",
                       "see: otolith list --forgotten")
    with home.together():
        undo.undo(home, merges[found[0]])
        back: Note = home.load(found[0]).record
        diary(home, f"Undid the merge of {back.title}", kind="unmerge", tags=back.tags, memory=None,
              summary=back.title)
    return back


def headings(title: str) -> list[str]:
    """How the diary's blocks begin that tell of merging a note of this title, or of undoing it;
    for purging.
    """
    name = " ".join(title.split())
    return [f"Merged {name} into ", f"Undid the merge of {name}\n- **Type:** unmerge\n"]


# What a merge makes of two notes; pure.

def merge_notes(keep: Note, absorb: Note, *, when: str) -> Note:
    """The kept note with all that the other says: text, tags, names, steps, links without an edge file."""
    changes: dict[str, Any] = {
        "text": _joined(keep, absorb), "tags": _union(keep.tags, absorb.tags), "updated_at": when,
        "importance": max(keep.importance, absorb.importance),
        "confidence": max(keep.confidence, absorb.confidence),
    }
    names = _union(keep.aliases or (), (absorb.title, *(absorb.aliases or ())))
    fresh_names = tuple(name for name in names if fold(name) != fold(keep.title))
    if fresh_names:
        changes["aliases"] = fresh_names
    if keep.type == absorb.type:
        for name in NOTE_TYPES[keep.type].lists:
            changes[name] = (_union(getattr(keep, name) or (), getattr(absorb, name) or ())
                             or getattr(keep, name))
    known = {(relation.target, relation.type, relation.direction) for relation in keep.relations}
    fresh = [relation for relation in absorb.relations if relation.edge_id is None
             and relation.target != keep.id
             and (relation.target, relation.type, relation.direction) not in known]
    changes["relations"] = (*(relation for relation in keep.relations if relation.target != absorb.id),
                            *fresh)
    return keep.replace(**changes)


def _joined(keep: Note, absorb: Note) -> str:
    """The other's text under its own title, unless the kept note already says it word for word."""
    # a procedure's lists become text elsewhere
    added = absorb.text if keep.type == absorb.type else absorb.prose()
    if not added.strip() or fold(added) in fold(keep.text):
        return keep.text
    return "\n\n".join(part for part in (keep.text, f"## {' '.join(absorb.title.split())}", added) if part)


def _union(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def sort_edges(edges: list[Edge], *, keep: Note, absorb: Note,
               when: str) -> tuple[list[tuple[Edge, Edge]], list[Edge]]:
    """(edges to turn, as before and after; edges to drop): an edge between the two, or one the kept note
    already has.
    """
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
