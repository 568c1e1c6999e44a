"""How much of a record is shown: five depths for every kind, each containing the one before.

Some kinds have layers of their own, as the table of kinds says. For the others: summary is title and first
sentence, outcome adds the best passage, reasoning what stands beside it, full is the whole text, complete
adds links, metadata and origin.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from otolith.index.graph import Neighbour
from otolith.model.kinds import KINDS
from otolith.model.record import Usage
from otolith.model.shape import plain
from otolith.model.text import first_sentence
from otolith.model.times import zulu

_TEXTS = ("text", "content", "raw", "turns", "summary")  # what the text above it says already
_HIDDEN = ("id", "schema", "fingerprint", "memories", "chapters", "extra", "title")


def render(record: Any, depth: str, *, passage: str = "", beside: str = "", links: Sequence[Neighbour] = (),
           usage: Usage | None = None) -> str:
    """The record as text at a depth; `passage` is what matched, `beside` what stands around it."""
    layers = KINDS[record.kind].layers
    if layers:
        around = _around(links, usage) if depth == "complete" else ""
        return "\n\n".join(filter(None, (getattr(record, layers)(depth), around)))
    whole = body(record)
    if depth == "full":
        return whole or record.title
    if depth == "complete":
        return f"{whole or record.title}\n\n{_about(record, links, usage)}"
    opening = _opening(record.title or first_sentence(whole), first_sentence(whole, 200))
    if depth == "summary":
        return opening
    best = passage or first_sentence(whole, 600)
    repeated = " ".join(best.split()).startswith(first_sentence(whole, 200).rstrip("…"))
    parts = [record.title if repeated and record.title else opening, best]
    if depth == "reasoning":
        parts.append(beside)
    return "\n".join(dict.fromkeys(filter(None, parts)))


def _opening(title: str, sentence: str) -> str:
    if not sentence or sentence.rstrip("…") in title:
        return title
    return sentence if title.rstrip("…") in sentence else f"{title}. {sentence}"


def body(record: Any) -> str:
    """A record's whole text, as its kind has it."""
    name = KINDS[record.kind].body
    if not name:
        return _lists(record)
    value = getattr(record, name)
    return str(value() if callable(value) else value)


def _lists(record: Any) -> str:
    """A built record: its summary, then its lists under their names."""
    shown = plain(record)
    shown = {**shown.pop("state", {}), **shown}
    lines: list[str] = []
    for key, value in shown.items():
        if key == "summary":
            lines.insert(0, str(value))
        elif isinstance(value, list) and value and key not in _HIDDEN:
            items = "\n".join(f"- {_line(item)}" for item in value)
            lines.append(f"{key.replace('_', ' ').capitalize()}:\n{items}")
    return "\n\n".join(line for line in lines if line)


def _line(item: Any) -> str:
    if not isinstance(item, dict):
        return str(item)
    if "subject" in item:
        return " ".join(str(item.get(key, "")) for key in ("subject", "relation", "object")).strip()
    return str(item.get("topic") or item.get("title") or json.dumps(item, ensure_ascii=False))


def _about(record: Any, links: Sequence[Neighbour], usage: Usage | None) -> str:
    """Links, metadata, origin."""
    fields = {key: value for key, value in plain(record).items() if key not in _TEXTS}
    about = json.dumps(fields, ensure_ascii=False, default=str)
    return "\n".join(filter(None, (_around(links, usage), about)))


def _around(links: Sequence[Neighbour], usage: Usage | None) -> str:
    """Links from both sides, and how often it was used."""
    lines = [f"- {link.word} {link.id} ({link.title})" + (f": {link.context}" if link.context else "")
             for link in links]
    used = f"Used {usage.count} times" + (f", last {zulu(usage.last)}" if usage.last else "") if usage else ""
    return "\n".join(filter(None, ("Links:\n" + "\n".join(lines) if lines else "", used)))
