"""What a session with an agent leaves behind: the dialog itself, what its user asked for, what was done.

A hook tells what is new of a session, again and again while it runs. Each part is kept once, however often it
is told: by the events' own keys, and by what the session's entries already say.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from otolith.files.codec import read_unit
from otolith.home import Home
from otolith.model.dialog import Entry
from otolith.model.events import ROLES, Session, spoken
from otolith.model.recall import make_filter
from otolith.verbs import dialogs
from otolith.verbs.deeds import keep_deeds
from otolith.verbs.sayings import keep_sayings
from otolith.verbs.tending import commit_session


def capture(home: Home, session: Session) -> Entry | None:
    """Keep what is new of a session; returns the entry if there was anything new to put into one."""
    entry, messages = None, turns_of(session)
    if fresh := not_yet_said(home, session.session, messages) if messages else []:
        entry = dialogs.log(home, fresh, topic=home.config.project, session=session.session,
                            source=session.source, key=key_of(session.source, session.session, fresh))
    # also when a hook was killed between its log and here: what is kept is not kept twice
    keep_sayings(home, session)
    keep_deeds(home, session)
    if messages:
        commit_session(home)
    return entry


def turns_of(session: Session) -> list[dict[str, Any]]:
    """The new turns as the verb `log` takes them."""
    return [{"role": ROLES[event.kind], "content": event.text, **({"ts": event.ts} if event.ts else {})}
            for event in spoken(session)]


def not_yet_said(home: Home, session: str | None,
                 messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The messages that no entry of the session holds yet, as often as they were said."""
    turns: Counter[tuple[str, str]] = Counter()
    if session:
        chosen, index = make_filter(kind="entry", session=session), home.index
        entries, _ = index.attempt(lambda: index.cards.listing(chosen, None))
        for row in entries:
            for record in read_unit(home.tree, row.unit)[0]:
                turns.update((turn.role, turn.text) for turn in record.turns)
    fresh = []
    for message in messages:
        mark = (message["role"], message["content"].strip())
        if turns[mark] > 0:
            turns[mark] -= 1
        else:
            fresh.append(dict(message))
    return fresh


def key_of(source: str, session: str, messages: Sequence[Mapping[str, Any]]) -> str:
    """The name under which these turns are logged: the same turns again are the same entry."""
    content = json.dumps([[message["role"], message["content"], message.get("ts")] for message in messages],
                      ensure_ascii=False)
    return f"{source}:{session}:{sha256(content.encode('utf-8', 'replace')).hexdigest()[:16]}"
