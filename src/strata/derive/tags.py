"""Tags: how often they are used, which go together, and which would suit a text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import sqrt

SUGGESTED = 8
_SIGNS = re.compile(r"[\W_]+")


@dataclass(frozen=True, kw_only=True)
class TagScore:
    """A tag, in how many records it counts, and how well it fits (0 to 1)."""

    tag: str
    count: int
    score: float


def related_tags(tag: str, records: Iterable[Collection[str]], limit: int = 10) -> list[TagScore]:
    """Tags that stand beside this one, by the share of both tags' records in which they meet."""
    totals: Counter[str] = Counter()
    together: Counter[str] = Counter()
    for tags in records:
        own = set(tags)
        totals.update(own)
        if tag in own:
            together.update(own - {tag})
    found = [TagScore(tag=other, count=count, score=round(count / sqrt(totals[tag] * totals[other]), 4))
             for other, count in together.items()]
    return sorted(found, key=lambda item: (-item.score, -item.count, item.tag))[:limit]


def suggest_tags(text: str, neighbours: Iterable[tuple[Collection[str], float]], known: Mapping[str, int],
                 own: Collection[str] = (), limit: int = SUGGESTED) -> list[TagScore]:
    """Known tags that suit a text: those its words name, and those that its neighbours (tags, similarity) carry."""
    near = [(set(tags), max(0.0, similarity)) for tags, similarity in neighbours]
    mass = sum(similarity for _, similarity in near) or 1.0
    scores: Counter[str] = Counter()
    for tags, similarity in near:
        for tag in tags:
            scores[tag] += similarity / mass  # type: ignore[assignment]
    padded = f" {_SIGNS.sub(' ', text.casefold())} "
    for tag in known:
        name = _SIGNS.sub(" ", tag.casefold()).strip()
        if name and f" {name} " in padded:
            scores[tag] += 1
    found = [TagScore(tag=tag, count=known.get(tag, 0), score=round(min(1.0, score / 2), 4))
             for tag, score in scores.items() if tag not in own]
    return sorted(found, key=lambda item: (-item.score, -item.count, item.tag))[:limit]
