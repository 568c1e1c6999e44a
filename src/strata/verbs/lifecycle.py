"""Forgetting and its opposites: forget, restore, pin, unpin. Forgetting moves a file aside and rewrites no other."""

from __future__ import annotations

from typing import Any

from strata.errors import Invalid, NotFound
from strata.files import codec, paths
from strata.home import Home
from strata.index import read
from strata.index.read import Row
from strata.model.record import Link
from strata.verbs.finding import fetch, locate
from strata.verbs.links import mirror, standing, write_line

BUILT = ("topic", "global")


def forget(home: Home, handle: str) -> str:
    """Put a record into the archive; its links are hidden until it comes back."""
    row = locate(home, handle, follow=False)
    if row.kind in BUILT:
        raise Invalid(f"a {row.kind} is built and would come back", "forget the entries it is built from")
    if row.kind == "fact":
        from strata.verbs.dialogs import review

        review(home, row.id, score=0)
        return row.id
    if row.kind == "episode":
        raise Invalid("the diary is append-only", "remove the block for good with: strata forget --purge ID")
    home.put_away(fetch(home, row), files_of(home, row))
    return row.id


def files_of(home: Home, row: Row) -> list[str]:
    """The record's own files."""
    if row.kind == "entry":
        return [path for part in paths.ENTRY_FILES if home.tree.look(path := f"{row.unit}/{part}")]
    return [row.unit]


def restore(home: Home, record: str) -> Any:
    """Bring a forgotten record back to where it was."""
    found = read.archived(home.db, record)
    if not found:
        home.sweep()
        found = read.archived(home.db, record)
    if not found:
        if read.find(home.db, record):
            raise Invalid(f"{record} is not forgotten")
        raise NotFound(f"nothing forgotten has the id {record!r}", "see: strata list --forgotten")
    path = max((row[3] for row in found), key=lambda path: (path != paths.first_name(path), len(path), path))  # the latest
    units = [path] if home.tree.look(path) else [f"{path}/{part}" for part in paths.ENTRY_FILES]
    with home.tree.lock():
        moved = []
        was = codec.read_unit(home.tree, path)[0][0]
        for one in units:
            if not home.tree.look(one):
                continue
            target = paths.restored(one, was)
            home.tree.move(one, target)
            moved += [one, target]
        home.refresh(dict.fromkeys(paths.unit_of(one) for one in moved))
        back = fetch(home, locate(home, record, follow=False))
        home.audit("restored", back, "")
    if back.kind == "edge":
        mirror(home, back)
    return back


def pin(home: Home, handle: str) -> str:
    """The human says: keep this. A note moves to the vault, a fact gets the full score, others get a mark."""
    row = locate(home, handle)
    if row.kind == "fact":
        from strata.verbs.dialogs import review

        review(home, row.id, score=10)
    elif row.kind == "note":
        if not row.unit.startswith("vault/"):
            loaded = home.load(row.id)
            home.change(loaded, loaded.record, verb="adopted")  # an id that came from the file's place is written down first
            home.move(row.unit, f"vault/{row.unit.rsplit('/', 1)[-1]}", fetch(home, row))
    elif row.kind in BUILT or row.kind == "edge":
        raise Invalid(f"a {row.kind} cannot be pinned", "pin the records it stands on")
    elif not standing(home, row.id, "pinned", row.id):
        write_line(home, "add", Link(source=row.id, type="pinned", target=row.id))
    return row.id


def unpin(home: Home, handle: str) -> str:
    """Take the pin back."""
    row = locate(home, handle)
    if row.kind == "fact":
        from strata.verbs.dialogs import review

        review(home, row.id, score=None)
    elif row.kind == "note":
        if row.unit.startswith("vault/"):
            loaded = home.load(row.id)
            note = home.change(loaded, loaded.record, verb="adopted")
            folder = paths.place(note.replace(pinned=False)).rsplit("/", 1)[0]
            home.move(row.unit, f"{folder}/{row.unit.rsplit('/', 1)[-1]}", note)
    elif standing(home, row.id, "pinned", row.id):
        write_line(home, "remove", Link(source=row.id, type="pinned", target=row.id))
    return row.id
