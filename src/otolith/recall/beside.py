"""Several homes read together, as the user's config lists them: the first is written to, all are asked.

Each home answers by itself; answers are merged by score, and what is not of the first home says whose it is:
its id is `home:id`. A home that cannot be reached is a notice, never an error.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from otolith.errors import Busy, CannotWrite, Invalid, NotFound, Provider
from otolith.home import Home
from otolith.model.recall import Hit, Recall


def label(home: Home) -> str:
    """What a home is called beside others: its space, or its folder's name."""
    name = home.tree.name
    return name.rpartition("#")[2] if "://" in name else os.path.basename(name.rstrip("/"))


def asked(home: Home, act: Callable[[Home], Any]) -> Iterator[tuple[str, Any]]:
    """(its name, what it answers) of each other home; one that cannot answer now is a notice."""
    for other in home.beside():
        try:
            yield label(other), other.index.attempt(partial(act, other))
        except (Busy, CannotWrite, Invalid, NotFound, Provider) as error:
            home.notices.append(f"{label(other)} was not asked: {error}")


def joined(home: Home, answer: Recall, act: Callable[[Home], Recall], limit: int) -> Recall:
    """An answer with those of the other homes, best first, within the same limit and budget."""
    others = list(asked(home, act))
    if not others:
        return answer
    hits = [*answer.hits, *(_named(hit, name) for name, other in others for hit in other.hits)]
    hits.sort(key=lambda hit: -hit.score)
    kept, tokens = list[Hit](), 0
    for hit in hits[:limit]:
        if answer.budget is None or tokens + (hit.tokens or 0) <= answer.budget:
            kept.append(hit)
            tokens += hit.tokens or 0
    notices = [*answer.notices, *(notice for _, other in others for notice in other.notices)]
    return answer.replace(hits=kept, tokens=tokens, notices=list(dict.fromkeys(notices)),
                          enough=answer.enough or any(other.enough for _, other in others))


def _named(hit: Hit, name: str) -> Hit:
    newer = hit.superseded_by and f"{name}:{hit.superseded_by}"
    return hit.replace(id=f"{name}:{hit.id}", home=name, superseded_by=newer)


def meant(home: Home, handle: str) -> tuple[Home, str]:
    """The home that a handle names, and the handle there; the first home if it names none."""
    name, colon, rest = handle.partition(":")
    for other in home.beside() if colon and rest else ():
        if label(other) == name:
            return other, rest
    return home, handle


def find(home: Home, name: str) -> Home | None:
    """The listed home of this name."""
    return next((other for other in home.beside() if name in (label(other), other.tree.name)), None)
