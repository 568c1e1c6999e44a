"""Transcripts of coding agents, logged once however often they are seen.

A hook remembers in log/hooks/ how far it has read each transcript; an import compares with what the session's
entries already say. Either way only turns that are not in the home yet are logged, without what was recalled
into them, without secrets, and without turns that name an ignored path.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from otolith.errors import Conflict, Invalid, NotFound
from otolith.model.secrets import redact

if TYPE_CHECKING:
    from otolith.doors.agents.ignore import Ignore
    from otolith.doors.exchange.items import SourceTurn
    from otolith.memory import Memory

REMEMBERED = 200  # keys of turns that a hook keeps, for lines that were written while it read
UNKEPT = "[not kept: it names an ignored path]"


class Read(NamedTuple):
    """What is new in a transcript, and how far it was read."""

    source: str
    session: str
    turns: tuple[SourceTurn, ...]
    state: dict[str, Any]


def read_new(mem: Memory, path: Path, session: str) -> Read:
    """The turns after the last one logged; a file that became shorter is read from its start."""
    from otolith.doors.exchange.bundle import OneFile, end_of_lines
    from otolith.doors.exchange.coding_sessions import CLAUDE_CODE, CODEX
    from otolith.doors.exchange.items import Dialog

    bundle = OneFile(path)
    name = bundle.names[0]
    form = next((form for form in (CODEX, CLAUDE_CODE) if form.fits(bundle)), None)
    if form is None:
        raise Invalid(f"{path.name} is not a transcript that Otolith can read")
    state = _load(mem, session)
    end = end_of_lines(path)
    start = state.get("at", 0) if state.get("path") == str(path) and state.get("at", 0) <= end else 0
    seen = state.get("keys", [])
    known = set(seen)
    turns: list[SourceTurn] = []
    for found in form.read_file(bundle, name, start):
        if isinstance(found, Dialog):
            turns = [turn for turn in found.turns if turn.key not in known]
    keys = [*seen, *(turn.key for turn in turns)][-REMEMBERED:]
    return Read(form.source, session, tuple(turns), {"path": str(path), "at": end, "keys": keys})


def mark_read(mem: Memory, read: Read) -> None:
    """Remember how far a transcript was read."""
    from otolith.files.tree import fingerprint

    path, tree = _state_path(read.session), mem.home.tree
    data = (json.dumps(read.state) + "\n").encode()
    try:
        before: str | None = fingerprint(tree.read(path)[0])
    except NotFound:
        before = None
    try:
        tree.write(path, data, before)
    except Conflict:
        return  # another hook was faster; the keys of the turns keep them from being logged twice


def _load(mem: Memory, session: str) -> dict[str, Any]:
    try:
        state = json.loads(mem.home.tree.read(_state_path(session))[0])
    except (NotFound, ValueError, RecursionError):
        return {}
    return state if isinstance(state, dict) else {}


def _state_path(session: str) -> str:
    return f"log/hooks/{sha256(session.encode()).hexdigest()[:24]}.json"


def clean(turns: Iterable[SourceTurn], ignore: Ignore | None = None) -> tuple[list[dict[str, Any]],
                                                                              Counter[str]]:
    """Turns as the verb `log` takes them, and how many secrets of each kind were replaced."""
    from otolith.model.text import unfence

    messages: list[dict[str, Any]] = []
    secrets: Counter[str] = Counter()
    for turn in turns:
        text, found = redact(unfence(turn.text).strip())
        secrets.update(found)
        if ignore and ignore.named_in(text):
            text = UNKEPT
        if text:
            messages.append({"role": turn.role, "content": text, **({"ts": turn.ts} if turn.ts else {})})
    return messages, secrets


def not_yet_said(mem: Memory, session: str | None,
                 messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The messages that no entry of the session holds yet, as often as they were said."""
    said: Counter[tuple[str, str]] = Counter()
    if session:
        from otolith.files.codec import read_unit
        from otolith.model.recall import make_filter

        chosen, index = make_filter(kind="entry", session=session), mem.home.index
        entries, _ = index.attempt(lambda: index.cards.listing(chosen, None))
        for row in entries:
            for record in read_unit(mem.home.tree, row.unit)[0]:
                said.update((turn.role, turn.text) for turn in record.turns)
    fresh = []
    for message in messages:
        mark = (message["role"], message["content"].strip())
        if said[mark] > 0:
            said[mark] -= 1
        else:
            fresh.append(dict(message))
    return fresh


def key_of(source: str, session: str, messages: Sequence[Mapping[str, Any]]) -> str:
    """The name under which these turns are logged: the same turns again are the same entry."""
    said = json.dumps([[message["role"], message["content"], message.get("ts")] for message in messages],
                      ensure_ascii=False)
    return f"{source}:{session}:{sha256(said.encode('utf-8', 'replace')).hexdigest()[:16]}"
