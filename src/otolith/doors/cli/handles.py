"""Which record a person means: a part of an id or of a title, and a question where several could be meant.

What an id or a title says exactly never comes here. Agents do not come here at all: at their doors a handle
that is not exact is refused, since nobody could be asked.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from otolith.errors import Invalid

if TYPE_CHECKING:
    from otolith.doors.cli.command import Command

SHOWN = 9


def meant(command: Command, handle: str) -> str:
    """The id of the record that a person means; the handle itself where nothing is like it."""
    home = command.mem.home
    cards = home.index.cards
    if getattr(command.args, "purge", False):  # what cannot be brought back is named exactly
        return handle
    if command.row.name == "restore":
        if not cards.archived_like(handle):
            home.sweep()
        rows = [(row.id, row.kind, row.title) for row in cards.archived_like(handle)]
    else:
        home.ensure_fresh()
        rows = [(row.id, row.kind, row.title) for row in cards.resolve(handle) or cards.containing(handle)]
    if not rows:
        return handle
    if len(rows) == 1:
        id, kind, title = rows[0]
        if id != handle and not command.args.json:
            command.warn(f"{handle!r} is the {kind} {title!r} ({id})")
        return id
    return _choose(command, handle, rows)


def _choose(command: Command, handle: str, rows: list[tuple[str, str, str]]) -> str:
    from otolith.doors.cli.terminal import ask_which, cut, short_ids

    names = [f"{short}  {kind}  {cut(title, 56)}" for short, (_, kind, title)
             in zip(short_ids([id for id, *_ in rows]), rows, strict=True)]
    if sys.stdin.isatty() and sys.stderr.isatty() and not command.args.json:
        place = ask_which(repr(handle), names[:SHOWN])
        if place is not None:
            return rows[place][0]
        raise Invalid("no record was chosen; nothing was done")
    some = ", ".join(f"{id} ({' '.join(title[:40].split())})" for id, _, title in rows[:5])
    raise Invalid(f"{handle!r} could be {len(rows)} records: {some}", "give more of the id or of the title")
