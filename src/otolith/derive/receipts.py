"""Whether an agent used what it was told unasked: by what it said and did afterwards.

A record was used if its id is named, or if one answer or one call has enough words that only the record can
have brought: words that the person had not said, that no tool had answered, and that no other record told in
the session has. Three of them will do, or two of which one is no plain word (a number, a name, a path); but
never less than a fifth of what the record brought. Pure; would rather miss a use than claim one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from otolith.model.events import ANSWERED, CALLED, SAID, Event
from otolith.model.ids import short_id
from otolith.model.times import time_or_none
from otolith.model.words import STOP

ENOUGH, ENOUGH_NAMED = 3, 2  # words; if one of them is no plain word
LEAST_SHARE = 0.2
SLACK = 2.0  # seconds by which clocks may differ
_WORD = re.compile(r"[^\W_][\w./:@+-]*[\w+]|\d")
_PLAIN = re.compile(r"[a-z]+")


class Told(NamedTuple):
    """A record as it was told: when, and what it says."""

    id: str
    when: float
    text: str


def used(records: Sequence[Told], events: Sequence[Event]) -> list[str]:
    """The ids of those that were used, by what happened after they were record."""
    brought = _brought(records)
    elsewhere = set[str]()  # what the agent had from elsewhere
    hits: dict[str, None] = {}
    for event in events:
        text = _acted(event)
        when = time_or_none(event.ts) if event.ts else None
        words = _words(text)
        for record in records:
            if text and record.id not in hits and (when is None or when >= record.when - SLACK) and (
                    _names(text, record.id) or _enough(brought[record.id] - elsewhere, words)):
                hits[record.id] = None
        elsewhere |= _words(_heard(event))
    return list(hits)


def _brought(records: Sequence[Told]) -> Mapping[str, set[str]]:
    """The words of each record that no other one has."""
    words = {record.id: _words(record.text) for record in records}
    often = Counter(word for some in words.values() for word in some)
    return {id: {word for word in some if often[word] == 1} for id, some in words.items()}


def _enough(brought: set[str], words: set[str]) -> bool:
    common = brought & words
    named = any(not _PLAIN.fullmatch(word) for word in common)
    return len(common) >= (ENOUGH_NAMED if named else ENOUGH) and len(common) >= LEAST_SHARE * len(brought)


def _names(text: str, id: str) -> bool:
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) for name in {id, short_id(id)})


def _acted(event: Event) -> str:
    """What the agent said or did in an event."""
    if event.kind == ANSWERED:
        return event.text
    if event.kind != CALLED or event.call is None:
        return ""
    call = event.call
    return "\n".join([call.command, *call.files, *(new for _, _, new in call.edits)])


def _heard(event: Event) -> str:
    """What came to the agent in an event, from the person or a tool; what it replaced was there before."""
    if event.kind == SAID:
        return event.text
    if event.call is None:
        return ""
    return "\n".join([event.call.result, *(old for _, old, _ in event.call.edits)])


def _words(text: str) -> set[str]:
    return {word for word in _forms(_WORD.findall(text.casefold())) if word not in STOP and (
        len(word) > 3 or not _PLAIN.fullmatch(word))}


def _forms(words: Iterable[str]) -> Iterable[str]:
    """Words without the signs and the plural that a sentence puts behind them."""
    for word in words:
        bare = word.rstrip(".:-/")
        yield bare[:-1] if _PLAIN.fullmatch(bare) and bare.endswith("s") and len(bare) > 4 else bare
