"""Links: typed edges between records, and the one table of what their types mean.

Three seeds have links. Each keeps its own word in its own files; the table says which words mean the same, which are
each other's inverse and which read the same both ways. The index keeps both: the word as written and the canonical one.
"""

from __future__ import annotations

from typing import NamedTuple

from strata.errors import Invalid
from strata.model.shape import Shape, mapping, number, text


class LinkType(NamedTuple):
    """What a link's word means: its canonical word, whether it points the other way, whether it has a direction at all."""

    canonical: str
    inverted: bool = False
    symmetric: bool = False


NOTE_TYPES = ("SOLVES", "CAUSES", "BUILDS_ON", "ALTERNATIVE_TO", "REQUIRES", "FOLLOWS", "RELATED_TO")
CHUNK_TYPES = ("context_of", "follows", "related_to", "supports", "contradicts")
WORK_TYPES = ("caused_by", "led_to", "related_to", "supersedes", "blocked_by")

TYPES: dict[str, LinkType] = {
    "SOLVES": LinkType("solves"),
    "CAUSES": LinkType("led_to"),
    "BUILDS_ON": LinkType("builds_on"),
    "ALTERNATIVE_TO": LinkType("alternative_to", symmetric=True),
    "REQUIRES": LinkType("requires"),
    "FOLLOWS": LinkType("follows"),
    "RELATED_TO": LinkType("related_to", symmetric=True),
    "context_of": LinkType("context_of"),
    "follows": LinkType("follows"),
    "related_to": LinkType("related_to", symmetric=True),
    "supports": LinkType("supports"),
    "contradicts": LinkType("contradicts", symmetric=True),
    "caused_by": LinkType("led_to", inverted=True),
    "led_to": LinkType("led_to"),
    "supersedes": LinkType("supersedes"),
    "blocked_by": LinkType("blocked_by"),
    "mentions": LinkType("mentions"),  # a [[wikilink]] in a note's text
    "merged_into": LinkType("merged_into"),
    "pinned": LinkType("pinned"),  # the person's own mark on a chunk, memo or work, in links.jsonl
    "cites": LinkType("cites"),
    "part_of": LinkType("part_of"),
}

# How a link reads from its far end; a symmetric one reads the same.
INVERSE = {
    "solves": "solved_by",
    "led_to": "caused_by",
    "builds_on": "basis_of",
    "requires": "required_by",
    "follows": "followed_by",
    "context_of": "has_context",
    "supports": "supported_by",
    "supersedes": "superseded_by",
    "blocked_by": "blocks",
    "mentions": "mentioned_by",
    "merged_into": "merged_from",
    "pinned": "pinned",
    "cites": "cited_by",
    "part_of": "has_part",
}


def check_type(word: str, allowed: tuple[str, ...] | None = None) -> str:
    """The link type as its seed writes it; a known word in the wrong case is forgiven."""
    options = allowed or tuple(TYPES)
    for candidate in (word, word.upper(), word.lower()):
        if candidate in options:
            return candidate
    raise Invalid(f"unknown link type {word!r}", f"use one of {', '.join(options)}")


def reads_as(word: str, *, outgoing: bool) -> str:
    """The link's word seen from one of its ends."""
    meaning = TYPES.get(word)
    if meaning is None:
        return word if outgoing else f"{word} (from)"
    if meaning.symmetric or outgoing != meaning.inverted:
        return meaning.canonical
    return INVERSE[meaning.canonical]


class Link(Shape):
    """One edge as its truth states it."""

    source: str = text()
    type: str = text()
    target: str = text()
    strength: float | None = number(0, 1, default=None)
    context: str | None = text(default=None)
    created: float | None = number(default=None)
    edge_id: str | None = text(default=None)
    origin: dict[str, str] | None = mapping(default=None, sparse=True)

    def canonical(self) -> tuple[str, str, str]:
        """(from, word, to) in the canonical direction, equal for two ways of saying the same."""
        meaning = TYPES.get(self.type)
        if meaning is None:
            return self.source, self.type, self.target
        ends = (self.target, self.source) if meaning.inverted else (self.source, self.target)
        if meaning.symmetric:
            ends = (min(ends), max(ends))
        return ends[0], meaning.canonical, ends[1]
