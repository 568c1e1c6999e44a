"""`promote`: one record copied into another home, by a person."""

from __future__ import annotations

from typing import Any

from otolith.errors import Conflict, Invalid, NeedsConfirmation
from otolith.files.tree import fingerprint
from otolith.home import Home
from otolith.model.shape import plain
from otolith.recall.beside import label
from otolith.verbs.editing import files_of
from otolith.verbs.steps import bytes_of, fetch, locate


def promote(home: Home, handle: str, to: Home) -> dict[str, Any]:
    """Copy a record, byte by byte, into another home; it stays here, too."""
    if home.trust != "user":
        raise NeedsConfirmation("a person decides what others may read",
                                f"have the user run: otolith promote {handle}")
    row = locate(home, handle)
    record, files = fetch(home, row), {path: bytes_of(home, path) or b"" for path in files_of(home, row.unit)}
    if not files:
        raise Invalid(f"{row.kind} {row.id} has no file of its own", "promote what it was drawn from")
    with to.together():
        for path, data in files.items():
            there = bytes_of(to, path)
            if there is not None and there != data:
                raise Conflict(f"{label(to)} has another {path}", "nothing was copied")
            if there is None:
                to.tree.write(path, data)
        to.audit("promoted", record, fingerprint(next(iter(files.values()))))
    to.refresh([row.unit])
    to.warn_of_secrets(row.kind, plain(record))
    home.notices += [notice for notice in to.notices if notice not in home.notices]
    return {"id": f"{label(to)}:{row.id}", "home": to.tree.name, "files": list(files)}
