"""What is done to a record that is there: edit, pin and unpin, forget and restore. What is built is not
edited.

Forgetting moves a file aside and rewrites no other. In what kinds of records differ here stands in the table
of kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from otolith.errors import Conflict, Invalid, NotFound
from otolith.files import codec, paths
from otolith.home import Home, Loaded
from otolith.index.database import Row
from otolith.model.kinds import KINDS, NOTE_FOLDERS
from otolith.model.record import Link
from otolith.model.shape import read_tags
from otolith.model.times import offset
from otolith.verbs import links
from otolith.verbs.steps import fetch, locate
from otolith.verbs.versions import fields_of, keep_version

FIXED = {"id": "", "kind": "", "created": "", "created_at": "", "updated": "", "updated_at": "", "extra": "",
         "origin": "who wrote a record is set by the door it came through",
         "pinned": "use: otolith pin, otolith unpin",
         "relations": "use: otolith link, otolith unlink", "metadata": "give its fields by name"}
ENDS = ("from_id", "to_id", "from_title", "to_title")
_CHUNK_METADATA = ("confidence", "conversation_id", "source")


def edit(home: Home, handle: str, changes: Mapping[str, Any], expect: str | None = None) -> Any:
    """Change fields of a record; `expect` is the fingerprint of what the caller read."""
    row = locate(home, handle)
    if why := KINDS[row.kind].not_edited:
        raise Invalid(f"{KINDS[row.kind].named} is not edited", why)
    loaded = home.load(row.id)
    if expect is not None and expect != loaded.hash:
        raise Conflict(f"{loaded.path} was changed by somebody else meanwhile",
                       "read it again; nothing was overwritten")
    before, new = loaded.record, revise(home, loaded.record, dict(changes))
    if new == before and "type" not in changes:  # a type given again ends a move that was cut off
        return new
    is_note = KINDS[row.kind].links == "edges"
    codec.amend(loaded.data, before, new, loaded.path)  # what no file can hold is refused first
    keep_version(home, loaded)
    place = own_place(new, before, loaded.path) if is_note and "type" in changes else loaded.path
    if place != loaded.path and loaded.path.startswith("graph/"):
        _move(home, loaded.path, place, new, edited=loaded)
    else:
        home.change(loaded, new, verb="edited")
    if hasattr(new, "from_id"):
        links.mend(home, (new.from_id, new.to_id), given=[new])
    elif is_note and new.title != before.title:
        links.retitle(home, new)
    return new


def revise(home: Home, record: Any, changes: dict[str, Any]) -> Any:
    """The record with its changes, as its kind takes them."""
    for key in FIXED:
        if key in changes:
            raise Invalid(f"{key} cannot be changed", FIXED[key])
    if isinstance(changes.get("text"), str):
        changes["text"] = changes["text"].replace("\r\n", "\n").strip("\n")
    # its title is a line of the file
    if isinstance(changes.get("title"), str) and KINDS[record.kind].codec == "header":
        changes["title"] = " ".join(changes["title"].split())
    if "tags" in changes:
        changes["tags"] = read_tags(changes["tags"])
    return _REVISE.get(KINDS[record.kind].source, _revise_plain)(home, record, changes)


def _revise_plain(_home: Home, record: Any, changes: dict[str, Any]) -> Any:
    return record.replace(**changes)


def _revise_chapter(_home: Home, record: Any, changes: dict[str, Any]) -> Any:
    """What a person changed is that person's from now on."""
    return record.replace(**{"origin": "manual", "rule": None, **changes})


def _revise_linked(home: Home, record: Any, changes: dict[str, Any]) -> Any:
    """A note or an edge; a note's copies of its edges are set right on the way."""
    for key in ENDS:
        if key in changes:
            raise Invalid(f"{key} of an edge cannot be changed", "unlink, then link again")
    new = record.replace(**changes)
    if new == record:
        return record
    if KINDS[record.kind].links == "edges":
        new = new.replace(relations=links.true_relations(home, new))
    return new.replace(updated_at=offset(home.clock()))


def _revise_chunk(_home: Home, chunk: Any, changes: dict[str, Any]) -> Any:
    from otolith.model.chunk import check_size

    inner = {key: changes.pop(key) for key in _CHUNK_METADATA if key in changes}
    if "chunk_type" in changes:
        changes["type"] = changes.pop("chunk_type")
    if "content" in changes or "tokens" in changes:
        from otolith.providers.tokens import count_tokens

        content = chunk.replace(content=changes.get("content", chunk.content)).content
        tokens = changes["tokens"] if "tokens" in changes else count_tokens(content)
        changes["tokens"] = chunk.replace(tokens=tokens).tokens
        check_size(content, changes["tokens"], count_tokens)
    if inner:
        changes["metadata"] = chunk.metadata.replace(**inner)
        if "conversation_id" in inner and inner["conversation_id"] != chunk.conversation_id:
            given = changes.get("links", chunk.links)
            changes["links"] = given.replace(context_of=(inner["conversation_id"],)
                                             if inner["conversation_id"] else ())
    return chunk.replace(**changes)


def _revise_work(home: Home, work: Any, changes: dict[str, Any]) -> Any:
    from otolith.verbs.work import revise_work

    return revise_work(home, work, changes)


def _dialogs() -> Any:
    # a fact's forgetting and pinning are scores; nothing else here needs dialogs
    from otolith.verbs import dialogs

    return dialogs


_REVISE: dict[str, Callable[[Home, Any, dict[str, Any]], Any]] = {  # by the record's class
    "note:Note": _revise_linked, "note:Edge": _revise_linked, "chunk:Chunk": _revise_chunk,
    "work:Work": _revise_work, "narrative:Chapter": _revise_chapter}


# Forgetting and keeping

def forget(home: Home, handle: str) -> str:
    """Put a record into the archive; its links are hidden until it comes back."""
    home.sweep()  # a copy that nobody has seen yet would take its place
    row = locate(home, handle, follow=False)
    kind = KINDS[row.kind]
    if not kind.forget:
        why, hint = kind.not_forgotten
        raise Invalid(f"{kind.named} {why}" if kind.built else why, hint)
    if kind.forget == "score":
        _dialogs().review(home, row.id, score=0)
    else:
        home.put_away(fetch(home, row), files_of(home, row.unit))
    return row.id


def files_of(home: Home, unit: str) -> list[str]:
    """A unit's own files, as far as they are there: itself, or the parts of an entry's folder."""
    return [path for path in (unit, *(f"{unit}/{part}" for part in paths.ENTRY_FILES))
            if home.tree.look(path)]


def restore(home: Home, record: str) -> Any:
    """Bring a forgotten record back to where it was."""
    cards = home.index.cards
    row = cards.find(record)
    if row and KINDS[row.kind].forget == "score":
        return _dialogs().reinstate(home, row)
    if not cards.archived(record):
        home.sweep()
    places = [path for *_, path in cards.archived(record)]
    if not places:
        if cards.find(record):
            raise Invalid(f"{record} is not forgotten")
        raise NotFound(f"nothing forgotten has the id {record!r}", "see: otolith list --forgotten")
    latest = max(places, key=lambda path: (path != paths.first_name(path), len(path), path))
    if len(places) > 1:
        others = ", ".join(path for path in places if path != latest)
        home.notices.append(f"other files with this id stay in the archive: {others}")
    with home.writing():
        held = codec.read_unit(home.tree, latest)[0][0]
        is_edge = hasattr(held, "from_id")
        twin = links.standing(home, held.from_id, held.type, held.to_id) if is_edge else None
        if twin and twin.edge:
            raise Conflict(f"the relation stands again, as edge {twin.edge}",
                           f"to have this one back, first: otolith edges delete {twin.edge}")
        home.move_all({path: paths.restored(path, held) for path in files_of(home, latest)}, "restored", held)
        back = fetch(home, locate(home, record, follow=False))
    if is_edge:
        links.mend(home, (back.from_id, back.to_id), given=[back])
    return back


def restore_version(home: Home, handle: str, version: str) -> Any:
    """Make a record what it was before an edit; what it is now becomes a former version."""
    row = locate(home, handle)
    return edit(home, row.id, fields_of(home, row, version))


def pin(home: Home, handle: str) -> str:
    """The human says: keep this. A note moves to the vault, a fact gets the full score, others get a mark."""
    row = locate(home, handle)
    if not KINDS[row.kind].pin:
        raise Invalid(f"{KINDS[row.kind].named} cannot be pinned", "pin the records it stands on")
    return _set_pin(home, row, True)


def unpin(home: Home, handle: str) -> str:
    """Take the pin back."""
    return _set_pin(home, locate(home, handle), False)


def _set_pin(home: Home, row: Row, on: bool) -> str:
    how = KINDS[row.kind].pin
    if how == "score":
        _dialogs().review(home, row.id, score=10 if on else None)
        return row.id
    pinned = (row.unit.startswith("vault/") if how == "vault"
              else bool(links.standing(home, row.id, "pinned", row.id)))
    if pinned == on:
        home.notices += [] if on else [f"{row.title} was not pinned; nothing to take back"]
    elif how == "vault":
        loaded = home.load(row.id)
        # an id that came from the file's place is written down first
        note = home.change(loaded, loaded.record, verb="adopted")
        _move(home, row.unit, own_place(note.replace(pinned=on), note, row.unit), note)
    else:
        links.write_line(home, "add" if on else "remove", Link(source=row.id, type="pinned", target=row.id))
    return row.id


def own_place(note: Any, before: Any, path: str) -> str:
    """Where a changed note's file belongs, under the name and in the sub-folders it was born with.

    The vault holds the path below the type's folder, or the whole one where that would tell another folder or
    none.
    """
    rest = path.removeprefix(f"{paths.note_folder(before)}/")
    top, below, _ = rest.partition("/")
    if before.pinned and top == "graph" and paths.kind_of(rest) == before.kind:
        return rest
    if note.pinned and (rest == path or (below and top in ("graph", *NOTE_FOLDERS))):
        return f"vault/{path}"
    return f"{paths.note_folder(note)}/{rest.rsplit('/', 1)[-1] if rest == path else rest}"


def _move(home: Home, path: str, to: str, note: Any, edited: Loaded | None = None) -> None:
    """Give a note's file its place, or the next free name beside it."""
    number, free = 1, to
    while home.tree.look(free) is not None:
        number += 1
        free = f"{to.removesuffix('.md')}-{number}.md"
    home.move_all({path: free}, "moved", note, edited)
