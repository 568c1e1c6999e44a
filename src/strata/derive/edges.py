"""Which edges a new note probably has: at most three, from the pair of types and how near the notes are.

The table says what one type of note is to another; a pair it does not know is RELATED_TO, and must be nearer for it.
Proposals only: whether an edge is written is for the caller.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

MOST = 3
NEAR = 0.45  # cosine from which a pair of fitting types is proposed
NEARER = 0.6  # the same for a pair of types that says nothing by itself

# (from, to) → the word. Read: a solution SOLVES a problem.
BY_TYPES = {
    ("solution", "problem"): "SOLVES",
    ("solution", "error"): "SOLVES",
    ("fix", "problem"): "SOLVES",
    ("fix", "error"): "SOLVES",
    ("problem", "error"): "CAUSES",
    ("decision", "decision"): "ALTERNATIVE_TO",
    ("solution", "solution"): "ALTERNATIVE_TO",
    ("procedure", "configuration"): "REQUIRES",
    ("workflow", "configuration"): "REQUIRES",
    ("procedure", "solution"): "BUILDS_ON",
    ("procedure", "workflow"): "BUILDS_ON",
    ("code_pattern", "solution"): "BUILDS_ON",
    ("code_pattern", "fix"): "BUILDS_ON",
    ("fix", "decision"): "FOLLOWS",
    ("configuration", "decision"): "FOLLOWS",
}


@dataclass(frozen=True, kw_only=True)
class EdgeProposal:
    """An edge that may be worth writing."""

    source: str
    type: str
    target: str
    strength: float
    title: str  # of the note at the other end


@dataclass(frozen=True, kw_only=True)
class Near:
    """A note near the one in hand."""

    id: str
    type: str
    title: str
    similarity: float


def propose_edges(note_id: str, type_: str, near: Iterable[Near], linked: Collection[str] = ()) -> list[EdgeProposal]:
    """At most three edges between the note and its neighbours, the nearest first; `linked` are already joined to it."""
    found = []
    for other in near:
        if other.id == note_id or other.id in linked:
            continue
        word, outgoing = _word(type_, other.type)
        if other.similarity < (NEARER if word == "RELATED_TO" else NEAR):
            continue
        source, target = (note_id, other.id) if outgoing else (other.id, note_id)
        found.append((word == "RELATED_TO", EdgeProposal(
            source=source, type=word, target=target, strength=round(min(1.0, other.similarity), 2), title=other.title)))
    found.sort(key=lambda item: (-item[1].strength, item[0], item[1].source, item[1].target))
    return [proposal for _, proposal in found[:MOST]]


def _word(own: str, other: str) -> tuple[str, bool]:
    """The edge's type, and whether it goes out from the note in hand."""
    if own == "insight" or other == "insight":
        return ("RELATED_TO", True) if own == other else ("BUILDS_ON", own == "insight")
    if (own, other) in BY_TYPES:
        return BY_TYPES[own, other], True
    if (other, own) in BY_TYPES:
        return BY_TYPES[other, own], False
    return "RELATED_TO", True
