"""A note that comes from a source which may be imported again: what changed there is taken over, what changed
here stays, and where both did, nobody is overruled.

The note itself remembers, in its key `imported`, by what it is known there and two short hashes: of what was
there, and of what was then written here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from otolith.errors import Conflict
from otolith.files.tree import fingerprint
from otolith.home import Home
from otolith.model.note import Note
from otolith.model.shape import plain
from otolith.model.times import offset
from otolith.verbs.notes import note
from otolith.verbs.steps import derived_id

KEY = "imported"
Came = Literal["kept", "known", "updated"]


def take_note(home: Home, key: str, fields: Mapping[str, Any], more: Mapping[str, Any], *,
              project: str | None, created: Any) -> tuple[str, Came]:
    """Keep what the source says under this key, or bring up to it what was kept before; the note's id."""
    there = _hash({**fields, "more": more})
    home.settle()
    row = home.index.cards.find(derived_id(home, "note", key))
    if row is None:
        made = home.made
        kept = note(home, **fields, project=project, created=created, key=key,
                    more=_marked(key, there, fields, more))
        return kept.id, "kept" if home.made > made else "known"
    loaded = home.load(row.id)
    before: Note = loaded.record
    mark = str(before.extra.get(KEY, "")).split(" ")
    if len(mark) < 3:  # of an earlier version, which kept no hashes
        note(home, **fields, project=project, created=created, key=key)
        return row.id, "known"
    if mark[0] == there:
        return row.id, "known"
    own = {name: value for name, value in before.extra.items() if name != KEY}
    if _here(before, own) == _hash({**fields, "more": more}):
        return row.id, "known"  # the same was changed on both sides
    if _here(before, own) != mark[1]:
        raise Conflict(f"{before.title!r} was changed here and there; it stays as it is here",
                       f"compare the two and edit one: otolith edit {row.id[:8]}")
    new = before.replace(**fields, updated_at=offset(home.clock()), extra=_marked(key, there, fields, more))
    home.change(loaded, new, verb="edited")
    return row.id, "updated"


def _marked(key: str, there: str, fields: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    return {**more, KEY: f"{there} {_hash({**fields, 'more': more})} {key}"}


def _here(written: Note, own: Mapping[str, Any]) -> str:
    """The hash of what the note says now, of the fields that a source tells."""
    parts = {"title": written.title, "text": written.text, "type": written.type, "tags": written.tags,
             "aliases": written.aliases}
    return _hash({**parts, "more": own})


def _hash(value: Mapping[str, Any]) -> str:
    parts = {name: part for name, part in plain(value).items() if part not in (None, [], {})}
    return fingerprint(json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str).encode())[:16]
