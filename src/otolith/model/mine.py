"""What an import brought counts as coming from outside until a person says that it is theirs. Then it counts
as if it had been written here: what a person said as the user's, what an agent did as an agent's. Only the
value that the index sees is another; the file goes on saying where the record came from.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from otolith.model.kinds import KINDS, origin_of

OUTSIDE = "outside"
SPEAKERS = {"user": "user", "other": "user", "assistant": "agent"}  # role → how far its words are trusted


def is_mine(record: Any, mine: Collection[str]) -> bool:
    """Whether the record, or the import it came with, is among what a person called theirs."""
    return record.id in mine or getattr(origin_of(record), "run", None) in mine


def as_mine(record: Any) -> Any:
    """The record as its owner's own."""
    row = KINDS[record.kind]
    trust = "agent" if row.name in AGENTS_OWN else "user"
    if row.origin == "trust":
        return record.replace(trust=trust)
    if row.origin == "":
        return record
    holder = record if row.origin == "origin" else getattr(record, row.origin)
    if holder.origin is None:
        return record
    holder = holder.replace(origin=holder.origin.replace(trust=trust))
    if row.origin == "origin":
        return holder
    return _own_words(record.replace(**{row.origin: holder}))


AGENTS_OWN = ("work", "chapter", "wisdom", "agent")


def _own_words(record: Any) -> Any:
    """An entry whose facts have the trust of who stated them."""
    summary = getattr(record, "summary", None)
    if summary is None:
        return record
    roles = {turn.number: turn.role for turn in record.turns}
    facts = tuple(fact.replace(trust=SPEAKERS.get(roles.get(fact.turn, ""), OUTSIDE))
                  if fact.trust == OUTSIDE else fact for fact in summary.facts)
    return record.replace(summary=summary.replace(facts=facts))
