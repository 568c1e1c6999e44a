"""What is done to a record that is there: edit, pin and unpin, forget and restore. What is built is not edited.

Forgetting moves a file aside and rewrites no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otolith import verbs
from otolith.errors import Conflict, Invalid, NotFound
from otolith.files import codec, paths
from otolith.home import Home
from otolith.index import read
from otolith.index.schema import Row
from otolith.model.kinds import NOTE_FOLDERS
from otolith.model.record import Link
from otolith.model.shape import read_tags
from otolith.model.times import offset
from otolith.verbs.steps import NOT_EDITED, fetch, locate

FIXED = {"id": "", "kind": "", "created": "", "created_at": "", "updated": "", "updated_at": "", "extra": "",
         "origin": "who wrote a record is set by the door it came through", "pinned": "use: otolith pin, otolith unpin",
         "relations": "use: otolith link, otolith unlink", "metadata": "give its fields by name"}
_CHUNK_METADATA = ("confidence", "conversation_id", "source")
BUILT = ("topic", "global")


def edit(home: Home, handle: str, changes: Mapping[str, Any], expect: str | None = None) -> Any:
    """Change fields of a record; `expect` is the fingerprint of what the caller read."""
    row = locate(home, handle)
    if row.kind in NOT_EDITED:
        raise Invalid(f"a {row.kind} is not edited", NOT_EDITED[row.kind])
    loaded = home.load(row.id)
    if expect is not None and expect != loaded.hash:
        raise Conflict(f"{loaded.path} was changed by somebody else meanwhile", "read it again; nothing was overwritten")
    new = revise(home, loaded.record, dict(changes))
    if new == loaded.record:
        return new
    kept = home.change(loaded, new, verb="edited")
    if row.kind == "note" and loaded.path.startswith("graph/") and kept.type != loaded.record.type:
        _move(home, loaded.path, own_place(kept, loaded.record, loaded.path), kept)
    if row.kind == "note" and kept.title != loaded.record.title:
        verbs.links.retitle(home, kept)
    if row.kind == "edge":
        verbs.links.mirror(home, kept)
    return kept


def revise(home: Home, record: Any, changes: dict[str, Any]) -> Any:
    """The record with its changes, as its kind takes them."""
    for key in FIXED:
        if key in changes:
            raise Invalid(f"{key} cannot be changed", FIXED[key])
    if isinstance(changes.get("text"), str):
        changes["text"] = changes["text"].replace("\r\n", "\n").strip("\n")
    if record.kind == "memo" and isinstance(changes.get("title"), str):
        changes["title"] = " ".join(changes["title"].split())
    if "tags" in changes:
        changes["tags"] = read_tags(changes["tags"])
    if record.kind in ("note", "edge"):
        return _revise_linked(home, record, changes)
    if record.kind == "chunk":
        return _revise_chunk(record, changes)
    if record.kind == "work":
        return verbs.work.revise_work(home, record, changes)
    if record.kind == "chapter":  # what a person changed is that person's from now on
        changes = {"origin": "manual", "rule": None, **changes}
    return record.replace(**changes)


def _revise_linked(home: Home, record: Any, changes: dict[str, Any]) -> Any:
    """A note or an edge; a note's copies of its edges are set right on the way."""
    for key in ("from_id", "to_id", "from_title", "to_title"):
        if key in changes:
            raise Invalid(f"{key} of an edge cannot be changed", "unlink, then link anew")
    new = record.replace(**changes)
    if new == record:
        return record
    if record.kind == "note":
        new = new.replace(relations=verbs.links.true_relations(home, new))
    return new.replace(updated_at=offset(home.clock()))


def _revise_chunk(chunk: Any, changes: dict[str, Any]) -> Any:
    inner = {key: changes.pop(key) for key in _CHUNK_METADATA if key in changes}
    if "chunk_type" in changes:
        changes["type"] = changes.pop("chunk_type")
    from otolith.model.chunk import check_size

    if "content" in changes and "tokens" not in changes:
        from otolith.providers.tokens import count_tokens

        changes["tokens"] = count_tokens(changes["content"])
    if "tokens" in changes:
        check_size(chunk.replace(tokens=changes["tokens"]).tokens)
    if inner:
        changes["metadata"] = chunk.metadata.replace(**inner)
        if "conversation_id" in inner and inner["conversation_id"] != chunk.conversation_id:
            given = changes.get("links", chunk.links)
            changes["links"] = given.replace(context_of=(inner["conversation_id"],) if inner["conversation_id"] else ())
    return chunk.replace(**changes)


# Forgetting and keeping

def forget(home: Home, handle: str) -> str:
    """Put a record into the archive; its links are hidden until it comes back."""
    home.sweep()  # a copy that nobody has seen yet would take its place
    row = locate(home, handle, follow=False)
    if row.kind in BUILT:
        raise Invalid(f"a {row.kind} is built and would come back", "forget the entries it is built from")
    if row.kind == "episode":
        raise Invalid("the diary is append-only", "remove the block for good with: otolith forget --purge ID")
    if row.kind == "fact":
        verbs.dialogs.review(home, row.id, score=0)
    else:
        home.put_away(fetch(home, row), files_of(home, row.unit))
    return row.id


def files_of(home: Home, unit: str) -> list[str]:
    """A unit's own files, as far as they are there: itself, or the parts of an entry's folder."""
    return [path for path in (unit, *(f"{unit}/{part}" for part in paths.ENTRY_FILES)) if home.tree.look(path)]


def restore(home: Home, record: str) -> Any:
    """Bring a forgotten record back to where it was."""
    row = read.find(home.db, record)
    if row and row.kind == "fact":
        return verbs.dialogs.reinstate(home, row)
    found = read.archived(home.db, record)
    if not found:
        home.sweep()
        found = read.archived(home.db, record)
    if not found:
        if read.find(home.db, record):
            raise Invalid(f"{record} is not forgotten")
        raise NotFound(f"nothing forgotten has the id {record!r}", "see: otolith list --forgotten")
    path = max((row[3] for row in found), key=lambda path: (path != paths.first_name(path), len(path), path))  # the latest
    if len(found) > 1:
        home.notices.append(f"other files with this id stay in the archive: {', '.join(one[3] for one in found if one[3] != path)}")
    with home.tree.lock():
        moved = []
        was = codec.read_unit(home.tree, path)[0][0]
        if was.kind == "edge":
            _refuse_twin(home, was)
        for one in files_of(home, path):
            target = paths.restored(one, was)
            home.tree.move(one, target)
            moved += [one, target]
        home.refresh(dict.fromkeys(paths.unit_of(one) for one in moved))
        back = fetch(home, locate(home, record, follow=False))
        home.audit("restored", back, "")
    if back.kind == "edge":
        verbs.links.mirror(home, back)
    return back


def _refuse_twin(home: Home, edge: Any) -> None:
    """A relation that was linked anew since has its edge."""
    known = verbs.links.standing(home, edge.from_id, edge.type, edge.to_id)
    if known and known.edge:
        raise Conflict(f"the relation stands again, as edge {known.edge}", f"to have this one back, first: otolith edges delete {known.edge}")


def pin(home: Home, handle: str) -> str:
    """The human says: keep this. A note moves to the vault, a fact gets the full score, others get a mark."""
    row = locate(home, handle)
    if row.kind in BUILT or row.kind == "edge":
        raise Invalid(f"a {row.kind} cannot be pinned", "pin the records it stands on")
    return _set_pin(home, row, True)


def unpin(home: Home, handle: str) -> str:
    """Take the pin back."""
    return _set_pin(home, locate(home, handle), False)


def _set_pin(home: Home, row: Row, on: bool) -> str:
    if row.kind == "fact":
        verbs.dialogs.review(home, row.id, score=10 if on else None)
    elif row.kind == "note":
        if row.unit.startswith("vault/") != on:
            loaded = home.load(row.id)
            note = home.change(loaded, loaded.record, verb="adopted")  # an id that came from the file's place is written down first
            _move(home, row.unit, own_place(note.replace(pinned=on), note, row.unit), note)
            return row.id
    elif bool(verbs.links.standing(home, row.id, "pinned", row.id)) != on:
        verbs.links.write_line(home, "add" if on else "remove", Link(source=row.id, type="pinned", target=row.id))
        return row.id
    if not on and row.kind != "fact":
        home.notices.append(f"{row.title} was not pinned; nothing to take back")
    return row.id


def own_place(note: Any, before: Any, path: str) -> str:
    """Where a changed note's file belongs, under the name and in the sub-folders it was born with.

    The vault holds the path below the type's folder, or the whole one where that would tell another folder or none.
    """
    rest = path.removeprefix(f"{paths.note_folder(before)}/")
    top, below, _ = rest.partition("/")
    if before.pinned and top == "graph" and paths.kind_of(rest) == "note":
        return rest
    if note.pinned and (rest == path or (below and top in ("graph", *NOTE_FOLDERS))):
        return f"vault/{path}"
    return f"{paths.note_folder(note)}/{rest.rsplit('/', 1)[-1] if rest == path else rest}"


def _move(home: Home, path: str, to: str, note: Any) -> None:
    """Give a note's file its place, or the next free name beside it."""
    number, free = 1, to
    while home.tree.look(free) is not None:
        number += 1
        free = f"{to.removesuffix('.md')}-{number}.md"
    home.move(path, free, note)
