"""Transcripts of coding agents, logged once however often they are seen.

A hook remembers in log/hooks/ how far it has read each transcript; an import compares with what the session's
entries already say. Either way only turns that are not in the home yet are logged, without what was recalled
into them, without secrets, and without turns that name an ignored path.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from otolith.errors import Conflict, Invalid, NotFound
from otolith.model.secrets import redact

if TYPE_CHECKING:
    from otolith.doors.agents.ignore import Ignore
    from otolith.doors.exchange.items import SourceTurn
    from otolith.memory import Memory
    from otolith.model.events import Session

MOST_CONTEXT = 4 << 20  # bytes of a request that goes on, read once more with what is new of it
UNKEPT = "[not kept: it names an ignored path]"


class Read(NamedTuple):
    """What is new in a transcript, and how far it was read."""

    session: Session
    state: dict[str, Any]


def read_new(mem: Memory, path: Path, session: str, ignore: Ignore | None = None) -> Read:
    """What came after the last look, with the request that goes on; a file that became shorter is read from
    its start.
    """
    from otolith.doors.exchange.bundle import OneFile, end_of_lines
    from otolith.doors.exchange.coding_sessions import FORMS
    from otolith.doors.exchange.jsontext import each_line

    status = path.stat()  # before it is read: what comes meanwhile is seen next time
    bundle = OneFile(path)
    name = bundle.names[0]
    form = next((form for form in FORMS if form.fits(bundle)), None)
    if form is None:
        raise Invalid(f"{path.name} is not a transcript that Otolith can read")
    state = _load(mem, session)
    end = end_of_lines(path)
    if state.get("path") != str(path) or not 0 <= state.get("from", -1) <= state.get("at", -1) <= end:
        state = {"at": 0, "from": 0}
    reader = form.reader(_cleaner(ignore))
    reader.facts.update(state.get("facts", {}))
    for _, at, line in each_line(bundle, name, state["from"]):
        if at >= end:
            break
        reader.take(line, at)
    start = max(reader.resume_at(end), end - MOST_CONTEXT)
    facts = {"path": str(path), "at": end, "from": start, "facts": reader.facts,
             "seen": [status.st_size, status.st_mtime_ns]}
    return Read(reader.session(session, state["at"]), facts)


def is_read(mem: Memory, path: Path, session: str) -> bool:
    """Whether a transcript is as it was when it was last read to its end."""
    state, status = _load(mem, session), path.stat()
    return state.get("path") == str(path) and state.get("seen") == [status.st_size, status.st_mtime_ns]


def _cleaner(ignore: Ignore | None) -> Callable[[str], str]:
    """Takes secrets out of a text, and the whole text if it names an ignored path."""

    def clean(text: str) -> str:
        return UNKEPT if text and ignore and ignore.named_in(text) else redact(text)[0]

    return clean


def mark_read(mem: Memory, read: Read) -> None:
    """Remember how far a transcript was read."""
    from otolith.files.tree import fingerprint

    path, tree = _state_path(read.session.session), mem.home.tree
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
