"""Works from deeds: what an agent did in a session, kept as works while the session runs.

A work has its id from the session and the request that began it, so it may be told again: it grows, or stays
as it is. What another work of the project already did, diff for diff, is not kept a second time. A later
success on the same command or the same file solves the work that had failed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from otolith.derive import threads
from otolith.derive.deeds import afterword, draft, meanwhile
from otolith.derive.requests import requests
from otolith.errors import NotFound
from otolith.home import Home
from otolith.model.events import Session
from otolith.model.secrets import redact_value
from otolith.model.shape import plain
from otolith.model.work import Work
from otolith.verbs import links
from otolith.verbs.steps import derived_id, diary_of
from otolith.verbs.work import find_twin

LAYERS = ("intent", "perception", "reasoning", "actions", "outcome", "requests", "importance")
LOOKED_AT = 8  # works of a session that a success may solve


def keep_deeds(home: Home, session: Session) -> list[Work]:
    """The works that are new or grew by what is new of a session."""
    folder = _root(session.folder)
    earlier = _works(home, session.session)
    current = earlier[0] if earlier else None
    kept: list[Work] = []
    for request in requests(session):
        layers = draft(request, folder, current.intent.goal if current else "") if request.new else None
        if layers and not (threads.edited(layers) or threads.tells(layers)) \
                and not (current and threads.belongs(_layers(current), layers)):
            continue  # somebody looked around and stumbled
        if layers is None:
            if current and request.new:
                current = _add(home, current, afterword(request), meanwhile(request))
            continue
        layers = threads.fit(redact_value(layers)[0])
        work = _keep(home, session, layers, request.asked.ts, current)
        if work is None:
            continue
        kept = [*(other for other in kept if other.id != work.id), work]
        earlier = [work, *(other for other in earlier if other.id != work.id)]
        current = work
        _solve(home, work, earlier[1 : LOOKED_AT + 1])
    return kept


def _keep(home: Home, session: Session, layers: Mapping[str, Any], ts: str | None,
          current: Work | None) -> Work | None:
    """A new work, the one before with more in it, or nothing if all of it was done and kept before."""
    home.settle()
    key = f"{session.session}:{layers['requests'][0]}"
    id = f"mem_{derived_id(home, 'deeds', key)}"
    if home.index.cards.find(id):
        current = home.load(id).record
    if current and current.requests and (current.id == id or threads.belongs(_layers(current), layers)):
        loaded = home.load(current.id)
        grown = threads.fit(threads.join(_layers(loaded.record), layers))
        new: Work = home.change(loaded, Work.from_dict({**loaded.record.to_dict(), **grown}), verb="record")
        return new
    origin = home.origin(session=session.session, trust="agent" if home.trust == "user" else None)
    work = Work.from_dict({
        **layers, "id": id, "agent_id": origin.agent, "project_id": origin.project,
        "session_id": session.session, "created_at": int(home.moment(ts)), "origin": origin,
        "access_count": 0, "last_accessed": None})
    with home.writing():
        if home.index.cards.archived(id) or find_twin(home, work):
            return None
        diary_of(home, work, home.create(work, verb="record", origin=origin), work.outcome.summary)
    return work


def _add(home: Home, work: Work, learned: list[str], wished: list[str]) -> Work:
    """The work before with what the agent states of it once the person said that it works, and what the
    person wants of it.
    """
    if not learned and set(wished) <= set(work.intent.constraints):
        return work
    loaded = home.load(work.id)
    grown = threads.add_learnings(_layers(loaded.record), redact_value(learned)[0])
    grown = threads.add_wishes(grown, redact_value(wished)[0])
    new: Work = home.change(loaded, Work.from_dict({**loaded.record.to_dict(), **grown}), verb="record")
    return new


def _layers(work: Work) -> dict[str, Any]:
    """A kept work as its draft was."""
    given = plain(work.to_dict())
    return {**{name: given.get(name) or {} for name in LAYERS}, "requests": list(work.requests or ())}


def _works(home: Home, session: str) -> list[Work]:
    """The latest works that were kept of a session, the last first."""
    works = []
    for done in home.index.work.of_session(home.config.agent, session, LOOKED_AT):
        try:
            work = home.load(done.id).record
        except NotFound:
            continue
        if work.requests:
            works.append(work)
    return works


def _solve(home: Home, work: Work, before: list[Work]) -> None:
    """Link a success to the failed works of the session that it made good: the same command or file."""
    if not work.outcome.success:
        return
    for failed in before:
        if not failed.outcome.success and threads.solves(_layers(work), _layers(failed)):
            links.link(home, work.id, "SOLVES", failed.id)


def _root(folder: str) -> str:
    """The work tree that a folder lies in, as far as this machine knows it."""
    here = folder.rstrip("/")
    while here and here != "/":
        if os.path.exists(os.path.join(here, ".git")):
            return here
        here = os.path.dirname(here)
    return folder.rstrip("/")
