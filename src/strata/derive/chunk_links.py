"""The links a new chunk gets by itself: context_of, follows, related_to.

Pure rules over small values; who stores the chunk decides which neighbours to look at. supports and contradicts are
never made here: a person or an agent says those. Costs one pass over the candidates.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nlargest
from typing import NamedTuple

FOLLOWS_WITHIN = 300.0  # seconds, inclusive
RELATED_AT_MOST = 10


class Neighbour(NamedTuple):
    """What the rules need of a chunk; `created` in seconds."""

    id: str
    conversation_id: str
    created: float
    tags: tuple[str, ...] = ()


class AutoLinks(NamedTuple):
    """The three lists as the chunk's `links` hold them."""

    context_of: tuple[str, ...]
    follows: tuple[str, ...]
    related_to: tuple[str, ...]


def auto_links(new: Neighbour, candidates: Iterable[Neighbour]) -> AutoLinks:
    """The new chunk's links. Among candidates of one moment the later in the sequence is the nearer predecessor."""
    others = [other for other in candidates if other.id != new.id]
    return AutoLinks(
        context_of=(new.conversation_id,) if new.conversation_id else (),
        follows=find_predecessor(new, others),
        related_to=find_related(new, others),
    )


def find_predecessor(new: Neighbour, others: Iterable[Neighbour]) -> tuple[str, ...]:
    """The nearest earlier chunk of the same conversation, if it is at most five minutes old."""
    best: Neighbour | None = None
    for other in others:
        near = 0 <= new.created - other.created <= FOLLOWS_WITHIN
        if near and new.conversation_id and other.conversation_id == new.conversation_id:
            best = other if best is None or other.created >= best.created else best
    return (best.id,) if best else ()


def find_related(new: Neighbour, others: Iterable[Neighbour]) -> tuple[str, ...]:
    """The ten with most tags in common, the newer first among equals."""
    mine = {tag.casefold() for tag in new.tags}
    if not mine:
        return ()
    shared = ((len(mine.intersection(tag.casefold() for tag in other.tags)), other.created, other.id) for other in others)
    return tuple(found[2] for found in nlargest(RELATED_AT_MOST, (found for found in shared if found[0])))
