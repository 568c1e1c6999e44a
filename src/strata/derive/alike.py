"""Lines that say the same, told once with everyone who said it.

Two lines are alike when four fifths of their word stems are shared. Only lines that share one of their first stems
(in a fixed order) can be that close, so each line is compared with a few others and not with all: this is the prefix
filter known from set-similarity joins. Knows nothing of works, chapters or where lines come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from strata.model.text import fold
from strata.model.words import stems

LIKENESS = 0.8


class Saying(NamedTuple):
    """A line as it was said first, and by whom in all, in the order they came."""

    text: str
    sources: tuple[str, ...]


def merge_alike(lines: Iterable[tuple[str, str]]) -> list[Saying]:
    """(line, source) pairs as distinct sayings, those with most sources first, equals in the order they came."""
    firsts: list[tuple[str, frozenset[str], dict[str, None]]] = []
    by_stem: dict[str, list[int]] = {}
    by_text: dict[str, int] = {}
    for line, source in lines:
        said = " ".join(line.split())
        if not said:
            continue
        at = by_text.get(fold(said))
        if at is None:
            about = stems(said)
            at = next((known for known in _near(about, by_stem) if likeness(about, firsts[known][1]) >= LIKENESS), None)
            if at is None:
                at = len(firsts)
                firsts.append((said, about, {}))
                for stem in _prefix(about):
                    by_stem.setdefault(stem, []).append(at)
            by_text[fold(said)] = at
        firsts[at][2][source] = None
    told = [Saying(said, tuple(sources)) for said, _, sources in firsts]
    return sorted(told, key=lambda saying: -len(saying.sources))


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared stems over all stems; two lines without any stem are not alike."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def _prefix(about: frozenset[str]) -> list[str]:
    """The stems of which an alike line must share at least one; long stems first, since they are the rarer ones."""
    ordered = sorted(about, key=lambda stem: (-len(stem), stem))
    return ordered[: max(1, len(ordered) - int(LIKENESS * len(ordered) + 0.999) + 1)] if ordered else []


def _near(about: frozenset[str], by_stem: dict[str, list[int]]) -> Iterator[int]:
    seen: set[int] = set()
    for stem in _prefix(about):
        for at in by_stem.get(stem, ()):
            if at not in seen:
                seen.add(at)
                yield at
