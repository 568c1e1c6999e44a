"""A budget is for all that a reader is handed: titles, headings and fences too, counted as they are printed.

Recall itself counts what records say. A door adds what stands over and round them, so the door sees to it that the whole
keeps to the budget: it leaves out what stands beside the hits first, then cuts the last hit that has room, then leaves
hits out. A budget that has room for nothing is refused in a line that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from otolith.errors import Invalid

WORTH = 8  # tokens below which a piece of a text says nothing
WORTH_A_HEAD = 24  # and those that a further hit must bring, for its head to be worth its place

Hit = Mapping[str, Any]
Block = Callable[[Hit], str]
Dress = Callable[[Sequence[Hit]], str]


def measure(text: str) -> int:
    """What a text costs its reader; the count by paragraphs leaves out the empty lines between them."""
    from otolith.providers.tokens import count_tokens

    return count_tokens(text) + 2 * text.count("\n\n")


def fit_hits(hits: Sequence[Hit], budget: int, block: Block, dress: Dress) -> list[Hit]:
    """The hits, best first, as far as their whole text keeps to the budget; `block` shows one, `dress` all of them."""
    from otolith.providers.tokens import cut

    left = budget - measure(dress([])) - 4  # a fence's mark is drawn anew and does not always cost the same
    kept: list[Hit] = []
    for hit in hits:
        bare = {**hit, "context": []}
        cost = measure(block(bare)) + 2
        if cost > left:
            room = left - measure(block({**bare, "text": ""})) - 3
            bare["text"] = cut(str(hit.get("text") or ""), room, measure) if room >= (WORTH_A_HEAD if kept else WORTH) else ""
            if bare["text"]:
                kept.append(bare)
                left = 0
            break
        kept.append(bare)
        left -= cost
    kept = _with_context(kept, hits, left, block)
    while kept and measure(dress(kept)) > budget:
        kept.pop()
    if hits and not kept:
        raise refusal(budget)
    return kept


def _with_context(kept: Sequence[Hit], hits: Sequence[Hit], left: int, block: Block) -> list[Hit]:
    """The hits with what stands beside them, nearest first, where there is still room."""
    shown = [dict(hit) for hit in kept]
    for hit, full in zip(shown, hits, strict=False):
        near = list(full.get("context") or ())
        taken: list[Any] = []
        for beside in sorted(near, key=lambda one: _distance(full, one)):
            cost = measure(block({**hit, "context": [beside]})) - measure(block({**hit, "context": []})) + 1
            if cost > left:
                break
            left -= cost
            taken.append(beside)
        hit["context"] = [one for one in near if one in taken]
    return shown  # type: ignore[return-value]


def _distance(hit: Hit, beside: Mapping[str, Any]) -> int:
    here, there = (hit.get("passage") or {}).get("turn"), beside.get("turn")
    return abs(here - there) if isinstance(here, int) and isinstance(there, int) else 0


def fit_lines(text: str, budget: int, dress: Callable[[str], str]) -> str:
    """The text dressed, with as many of its lines as keep to the budget."""
    whole = dress(text)
    if text.strip() and measure(whole) <= budget:
        return whole
    lines = text.splitlines()
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        fits = measure(dress("\n".join(lines[:middle]))) <= budget - 4
        low, high = (middle, high) if fits else (low, middle - 1)
    if not "".join(lines[:low]).strip():
        raise refusal(budget)
    return dress("\n".join(lines[:low]))


def refusal(budget: int) -> Invalid:
    return Invalid(f"{budget} tokens have no room for an answer", "give a larger budget")
