"""Answers as an agent sees them: what was recalled in a fence, with its origin; the rest is ids and numbers.

Titles, tags and texts of records are other people's sentences, so none of them leaves this module outside a
fence. The mark is fresh for every answer. Used by the MCP door and by the hooks.

A budget is for all that a reader is handed: titles, headings and fences too, counted as they are printed.
What stands beside the hits is left out first, then the last hit that has room is cut, then hits are left out.
A budget that has room for nothing is refused in a line that says so.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from otolith.errors import Invalid
from otolith.model.ids import short_id
from otolith.model.text import fence

_SAFE = ("id", "kind", "type", "score", "created", "superseded_by", "distance", "link", "from", "to", "count",
         "count_uses", "edge_id", "strength")
WORTH = 8  # tokens below which a piece of a text says nothing
WORTH_A_HEAD = 24  # and those that a further hit must bring, for its head to be worth its place

HitParts = Mapping[str, Any]
Block = Callable[[HitParts], str]
Frame = Callable[[Sequence[HitParts]], str]


def fenced(text: str, origin: str) -> str:
    """The text in a fence with a mark that cannot be in it."""
    for _ in range(8):
        try:
            return fence(text, os.urandom(8).hex(), origin)
        except Invalid:
            continue  # the mark happened to be in the text
    return fence(text, os.urandom(16).hex(), origin)


def answer(gives: str, value: Any, source: str, budget: int | None = None) -> tuple[dict[str, Any], str]:
    """(structured content, text) for a tool's plain answer; with a budget, hits and texts keep to it."""
    if budget is not None and gives in ("hits", "text"):
        shown = _hits(value, source, budget) if gives == "hits" else _text(value, source, budget)
    else:
        shown = _SHAPES[gives](value, source)
    text = shown.get("text")
    return shown, text if isinstance(text, str) else json.dumps(shown, ensure_ascii=False)


def hit_lines(hit: Mapping[str, Any]) -> str:
    """One hit as text: what it is and where it comes from, then what it says."""
    origin = hit.get("origin") or {}
    who = " ".join(str(origin[name]) for name in ("trust", "door") if origin.get(name))
    marks = [f"{hit.get('kind')} {short_id(str(hit.get('id')))}", str(hit.get("created") or "")[:10], who]
    if hit.get("tags"):
        marks.append("tags " + ", ".join(map(str, hit["tags"])))
    if hit.get("superseded_by"):
        marks.append(f"superseded by {hit['superseded_by']}")
    if hit.get("also"):
        marks.append("also in " + ", ".join(map(str, hit["also"])))
    parts = [f"## {hit.get('title')}", "[" + "; ".join(mark for mark in marks if mark) + "]",
             str(hit.get("text") or "")]
    for near in hit.get("context") or ():
        parts.append(f"({near.get('title') or near.get('id') or 'beside it'}) {near.get('text', '')}")
    return "\n".join(part for part in parts if part)


def _trusts(hits: Sequence[Mapping[str, Any]]) -> str:
    return "/".join(sorted({str((hit.get("origin") or {}).get("trust", "user")) for hit in hits}))


def _hits(value: Mapping[str, Any], source: str, budget: int | None = None) -> dict[str, Any]:
    hits, tokens = value.get("hits", []), value.get("tokens", 0)
    doubt = "" if value.get("enough") else "; NOT A GOOD ANSWER"
    doubt += "; said by somebody else than was asked about" if value.get("about_somebody_else") else ""

    def frame(some: Sequence[Mapping[str, Any]]) -> str:
        return fenced("\n\n".join(map(hit_lines, some)),
                      f"{source}; {len(some)} records; trust {_trusts(some or hits)}{doubt}")

    if hits and budget is not None:
        from otolith.providers.tokens import count_tokens

        hits = fit_hits(hits, budget, hit_lines, frame)
        text = frame(hits)
        tokens = count_tokens(text)
    else:
        text = frame(hits) if hits else "; ".join(["nothing is known about this", *value.get("notices", ())])
    shown = {"enough": bool(value.get("enough")), "tokens": tokens,
             "hits": [{**_safe(hit), "trust": (hit.get("origin") or {}).get("trust", "user")}
                      for hit in hits], "text": text}
    if value.get("about_somebody_else"):
        shown["about_somebody_else"] = True
    return {**shown, "index_lag": value["index_lag"]} if value.get("index_lag") else shown


def _hit(value: Mapping[str, Any], source: str) -> dict[str, Any]:
    text = fenced(hit_lines(value), f"{source}; trust {_trusts([value])}")
    return {**_safe(value), "path": value.get("path", ""), "text": text}


def _record(value: Any, source: str) -> dict[str, Any]:
    """A writer's answer: what was kept, under which id; never its text, which the caller just sent."""
    if isinstance(value, list):
        first = value[0] if value else {}
        ids = [item.get("id") if isinstance(item, Mapping) else item for item in value]
        return {**_record(first, source), "ids": ids} if value else {"id": "", "kind": "", "ids": []}
    if isinstance(value, Mapping):
        inner = value.get("record") if isinstance(value.get("record"), Mapping) else {}
        names = ("id", "kind", "path", "link", "from", "to", "score")
        kept = {name: value[name] for name in names if value.get(name) is not None}
        facts = inner.get("facts") if isinstance(inner, Mapping) else None
        return {"id": "", "kind": "", **kept, **({"facts": len(facts)} if isinstance(facts, list) else {})}
    return {"id": str(value or ""), "kind": ""}


def _items(value: Any, source: str) -> dict[str, Any]:
    items = value.get("items", value) if isinstance(value, Mapping) else value
    if isinstance(items, Mapping):
        items = list(items.values()) if all(isinstance(item, Mapping) for item in items.values()) else [items]
    items = items if isinstance(items, list) else [items] if items else []
    total = value.get("total", len(items)) if isinstance(value, Mapping) else len(items)
    text = fenced("\n".join(map(_line, items)), f"{source}; {len(items)} of {total}") if items else "nothing"
    rows = [_safe(item) for item in items if isinstance(item, Mapping)]
    return {"total": total, "items": rows, "text": text}


def _line(item: Any) -> str:
    """A row of a list as one line, or a record as its fields."""
    if not isinstance(item, Mapping):
        return str(item)
    row = item["record"] if isinstance(item.get("record"), Mapping) else item
    head = f"- {item['id']} " if item.get("id") else "- "
    return head + "; ".join(f"{name}: {_cell(value)}" for name, value in row.items()
                            if value and name not in ("id", "path", "origin"))


def _cell(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return ", ".join(map(str, value))
    return (json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict)
            else " ".join(str(value).split()))


def _text(value: Any, source: str, budget: int | None = None) -> dict[str, Any]:
    if isinstance(value, Mapping):
        inner = next((value[name] for name in ("text", "page") if isinstance(value.get(name), str)), None)
        text = inner if inner is not None else json.dumps(value, ensure_ascii=False, indent=1)
    else:
        text = "\n".join(map(_line, value)) if isinstance(value, list) else str(value or "")
    if not text.strip():
        return {"text": "nothing"}
    if budget is None:
        return {"text": fenced(text, source)}
    return {"text": fit_lines(text, budget, lambda some: fenced(some, source))}


def _facts(value: Any, source: str) -> dict[str, Any]:  # noqa: ARG001
    return dict(value) if isinstance(value, Mapping) else {"result": value}


def _safe(item: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a row that no one wrote as a sentence."""
    return {name: item[name] for name in _SAFE if item.get(name) is not None
            and isinstance(item[name], str | int | float)}


_SHAPES = {"hits": _hits, "hit": _hit, "record": _record, "items": _items, "text": _text, "facts": _facts}


# Keeping to a budget


def measure(text: str) -> int:
    """What a text costs its reader; the count by paragraphs leaves out the empty lines between them."""
    from otolith.providers.tokens import count_tokens

    return count_tokens(text) + 2 * text.count("\n\n")


def fit_hits(hits: Sequence[HitParts], budget: int, block: Block, frame: Frame) -> list[HitParts]:
    """The hits, best first, as far as their text keeps to the budget; `block` shows one, `frame` all."""
    from otolith.providers.tokens import cut

    left = budget - measure(frame([])) - 4  # a fence's mark is drawn anew and does not always cost the same
    kept: list[HitParts] = []
    for hit in hits:
        bare = {**hit, "context": []}
        cost = measure(block(bare)) + 2
        if cost > left:
            room = left - measure(block({**bare, "text": ""})) - 3
            bare["text"] = (cut(str(hit.get("text") or ""), room, measure)
                            if room >= (WORTH_A_HEAD if kept else WORTH) else "")
            if bare["text"]:
                kept.append(bare)
                left = 0
            break
        kept.append(bare)
        left -= cost
    kept = _with_context(kept, hits, left, block)
    while kept and measure(frame(kept)) > budget:
        kept.pop()
    if hits and not kept:
        raise refusal(budget)
    return kept


def _with_context(kept: Sequence[HitParts], hits: Sequence[HitParts], left: int,
                  block: Block) -> list[HitParts]:
    """The hits with what stands beside them, nearest first, where there is still room."""
    shown = [dict(hit) for hit in kept]
    for hit, full in zip(shown, hits, strict=False):
        near = list(full.get("context") or ())
        taken: list[Any] = []
        for beside in sorted(near, key=partial(_distance, full)):
            cost = measure(block({**hit, "context": [beside]})) - measure(block({**hit, "context": []})) + 1
            if cost > left:
                break
            left -= cost
            taken.append(beside)
        hit["context"] = [beside for beside in near if beside in taken]
    return shown  # type: ignore[return-value]


def _distance(hit: HitParts, beside: Mapping[str, Any]) -> int:
    here, there = (hit.get("passage") or {}).get("turn"), beside.get("turn")
    return abs(here - there) if isinstance(here, int) and isinstance(there, int) else 0


def fit_lines(text: str, budget: int, frame: Callable[[str], str]) -> str:
    """The text framed, with as many of its lines as keep to the budget."""
    whole = frame(text)
    if text.strip() and measure(whole) <= budget:
        return whole
    lines = text.splitlines()
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        fits = measure(frame("\n".join(lines[:middle]))) <= budget - 4
        low, high = (middle, high) if fits else (low, middle - 1)
    if not "".join(lines[:low]).strip():
        raise refusal(budget)
    return frame("\n".join(lines[:low]))


def refusal(budget: int) -> Invalid:
    return Invalid(f"{budget} tokens have no room for an answer", "give a larger budget")
