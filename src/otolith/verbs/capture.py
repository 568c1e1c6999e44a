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
from otolith.model.echoes import without_echoes
from otolith.model.events import ROLES, Event, Session, spoken
from otolith.model.recall import make_filter
from otolith.verbs import running
from otolith.verbs.deeds import keep_deeds
from otolith.verbs.delivered import echoes_of
from otolith.verbs.git import commit_session
from otolith.verbs.sayings import keep_sayings


def capture(home: Home, session: Session) -> str | None:
    """Keep what is new of a session; returns the entry's id if there was anything new to put into one."""
    entry, past = None, echoes_of(home, session)
    if events := spoken(session):
        with home.writing():
            unit = running.open_entry(home, session.session)
            # once a session, all is looked at: an entry that is not known may only not have been read yet
            changed = home.touch([unit]) if unit else bool(home.sweep())
            kept = home.index.dialogs.turns_kept([running.key_of_turn(session, event) for event in events])
            session = _without_forked(session, kept)
            entry = running.grow(home, session, _unlogged(home, session, kept), past, mend=changed)
    # also when a hook was killed between its log and here: what is kept is not kept twice
    session = without_echoes(session, past)
    keep_sayings(home, session)
    keep_deeds(home, session)
    if events:
        commit_session(home)
    return entry


def _without_forked(session: Session, kept: Mapping[str, str]) -> Session:
    """The session without what it took over from another one: that was told there."""
    taken = [at for at, event in enumerate(session.events)
             if kept.get(running.key_of_turn(session, event), session.session) != session.session]
    return session._replace(fresh=max(session.fresh, taken[-1] + 1)) if taken else session


def _unlogged(home: Home, session: Session, kept: Mapping[str, str]) -> list[Event]:
    """The turns that no entry holds: by their keys, and by their words where entries have no keys."""
    fresh = [event for event in spoken(session) if running.key_of_turn(session, event) not in kept]
    if not fresh or running.open_entry(home, session.session):
        return fresh
    messages = [{"role": ROLES[event.kind], "content": event.text, "at": at}
                for at, event in enumerate(fresh)]
    return [fresh[message["at"]] for message in not_yet_said(home, session.session, messages)]


def not_yet_said(home: Home, session: str | None, messages: Sequence[Mapping[str, Any]], *,
                 keyed: bool = True) -> list[dict[str, Any]]:
    """The messages that no entry of the session holds yet, as often as they were said.

    `keyed` leaves out entries whose turns have keys, which were compared before.
    """
    turns: Counter[tuple[str, str]] = Counter()
    if session:
        chosen, index = make_filter(kind="entry", session=session), home.index
        entries, _ = index.attempt(lambda: index.cards.listing(chosen, None))
        for row in entries:
            for record in read_unit(home.tree, row.unit)[0]:
                if not (keyed and record.summary and record.summary.turn_keys):
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
