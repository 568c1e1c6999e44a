"""Writing notes: the verb `note`, and the diary entry that goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from strata.errors import CannotWrite, Conflict
from strata.files import ledger
from strata.home import Home
from strata.index import read
from strata.model.ids import derived_uuid, slug
from strata.model.note import Note
from strata.model.shape import read_strings
from strata.model.text import first_sentence
from strata.model.times import offset, parse_time


def note(
    home: Home, title: str, text: str = "", *, type: str = "general", tags: Sequence[str] = (), importance: float = 0.5,
    confidence: float = 0.8, steps: Sequence[str] | None = None, preconditions: Sequence[str] | None = None,
    postconditions: Sequence[str] | None = None, aliases: Sequence[str] | None = None, agent: str | None = None,
    project: str | None = None, session: str | None = None, created: Any = None, key: str | None = None,
) -> Note:
    """Keep a note; the same key again returns the same note."""
    when = offset(home.clock() if created is None else parse_time(created, "created"))
    made = Note(
        id=derived_id(home, "note", key), type=type, title=title, text=text.strip("\n"), tags=read_strings(tags, "tags"),
        importance=importance, confidence=confidence, created_at=when, updated_at=when,
        origin=home.origin(agent=agent, project=project, session=session),
        steps=_lines(steps, "steps"), preconditions=_lines(preconditions, "preconditions"),
        postconditions=_lines(postconditions, "postconditions"), aliases=_lines(aliases, "aliases"))
    if key is not None and (row := read.find(home.db, made.id)):
        same: Note = home.load(row.id).record
        if (same.title, same.text, same.type, same.tags) != (made.title, made.text, made.type, made.tags):
            raise Conflict(f"another note was kept under the key {key!r}: {row.id}", "use another key, or edit that note")
        return same
    with home.tree.lock():
        path = home.create(made, verb="note", origin=made.origin)
        diary(home, made.title, kind=made.type, tags=made.tags, memory=f"[{slug(made.title)}](../{path})",
              summary=first_sentence(made.text, 200) or made.title)
    return made


def _lines(value: Sequence[str] | None, name: str) -> tuple[str, ...] | None:
    return None if value is None else read_strings(value, name)


def diary(home: Home, heading: str, *, kind: str, tags: Sequence[str], memory: str | None, summary: str) -> None:
    """A line in the diary; its failure never undoes what is safe on disk."""
    try:
        ledger.append_episode(home.tree, home.clock(), heading, kind=kind, tags=tags, memory=memory, summary=summary)
    except CannotWrite as error:
        home.notices.append(str(error))


def derived_id(home: Home, verb: str, key: str | None) -> str:
    """A fresh UUID, or the one that a key always gives in this home."""
    if key is None:
        import uuid

        return str(uuid.UUID(home.new_id()))
    return derived_uuid(home.config.home_id, verb, key)
