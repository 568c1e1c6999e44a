"""Following links from a record: what caused it, what it led to, as a tree.

A record met again on another path is named again but not opened again, so a circle ends and the tree stays as large as
the graph. Where links come from is the caller's business: they arrive through a function.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from strata.errors import Invalid
from strata.model.link import TYPES

CAUSAL = ("led_to", "blocked_by")  # canonical words
DIRECTIONS = ("causes", "effects", "both")


class Hop(NamedTuple):
    """One link seen from a record: the word as it reads from here, and what is at the other end."""

    word: str
    id: str


@dataclass
class Step:
    """A record in the tree, how it hangs on the one above, and what hangs on it."""

    id: str
    word: str = ""
    depth: int = 0
    again: bool = False  # it stands elsewhere in the tree with what hangs on it
    steps: list[Step] = field(default_factory=list)

    def all(self) -> Iterator[Step]:
        """This step and everything below it, in reading order."""
        yield self
        for step in self.steps:
            yield from step.all()

    def to_dict(self, label: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
        """As data; `label` says what to tell of each record."""
        more = {"again": True} if self.again else {}
        return {"id": self.id, "link": self.word or None, "depth": self.depth, **label(self.id), **more,
                "steps": [step.to_dict(label) for step in self.steps]}


def check_direction(direction: str) -> str:
    if direction not in DIRECTIONS:
        raise Invalid(f"direction must be one of {', '.join(DIRECTIONS)}; got {direction!r}")
    return direction


def causal_hop(word: str, *, outgoing: bool) -> str | None:
    """Whether a link read from one of its ends leads to a cause or to an effect; None if it is not causal."""
    meaning = TYPES.get(word)
    if meaning is None or meaning.canonical not in CAUSAL:
        return None
    forward = outgoing != meaning.inverted
    if meaning.canonical == "blocked_by":  # it points from what was blocked to what blocked it
        forward = not forward
    return "effects" if forward else "causes"


def walk(start: str, hops: Callable[[str], Iterable[Hop]], max_depth: int) -> Step:
    """The tree of what can be reached, nearest first, so that a record stands where it is closest to the start."""
    if max_depth < 0:
        raise Invalid("max_depth must be 0 or more")
    root = Step(start)
    opened = {start}
    waiting = deque([root])
    while waiting:
        step = waiting.popleft()
        if step.depth == max_depth:
            continue
        for hop in hops(step.id):
            below = Step(hop.id, hop.word, step.depth + 1, again=hop.id in opened)
            step.steps.append(below)
            if not below.again:
                opened.add(hop.id)
                waiting.append(below)
    return root


def draw(step: Step, label: Callable[[Step], str], indent: str = "") -> Iterator[str]:
    """The tree as lines for a terminal."""
    if not indent and not step.word:
        yield label(step)
    for at, below in enumerate(step.steps):
        last = at == len(step.steps) - 1
        yield f"{indent}{'└─' if last else '├─'} {label(below)}"
        yield from draw(below, label, indent + ("   " if last else "│  "))


def finds_itself(start: str, over: Callable[[str], Iterable[str]]) -> list[str] | None:
    """The way from a record back to itself along some relation, or None: [a, b, a] for a circle of two."""
    came_from: dict[str, str] = {}
    waiting = [start]
    while waiting:
        here = waiting.pop()
        for there in over(here):
            if there == start:
                way = [here]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return [*reversed(way), start]
            if there not in came_from:
                came_from[there] = here
                waiting.append(there)
    return None
