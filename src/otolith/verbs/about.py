"""What is known about something, across kinds, by words and by meaning: what `forget --about` puts away, and
what people asked in dialogs to have forgotten. Reads only.

A dialog is known by its turns: it goes as a whole only where at least half of them are about the thing;
otherwise it is named as one that mentions it, and the facts drawn from it go.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from otolith.errors import Invalid
from otolith.home import Home
from otolith.model.kinds import KINDS
from otolith.model.recall import make_filter
from otolith.model.text import first_sentence, sentences
from otolith.model.words import key_words, stems
from otolith.recall.search import find
from otolith.verbs.steps import each

COVERED = 0.95  # of the words' weight: all of them, in any form
ALIKE = 0.55  # cosine from which a passage is about the same without the words
MOST = 200  # records of a kind
AGENTS = ("assistant", "agent", "ai", "system", "tool")
ASKED = re.compile(
    r"""^(?:(?:please|ok|okay|and|now|hey)[,\s]+)*(?:(?:can|could)\ you\ |you\ (?:can|should)\ )?forget\s+
    (?:everything|all|anything|whatever|what)(?:\s+(?:that\s+)?(?:you|i)\s+\w+(?:\s+\w+)?)?\s+
    (?:about|on|of)\s+(?P<thing>[^.?!\n]{2,80})""", re.IGNORECASE | re.VERBOSE)


class Known(NamedTuple):
    """A record that is about something, or one that only mentions it."""

    id: str
    kind: str
    title: str
    project: str | None
    by: str  # words or meaning
    whole: bool = True  # False: it mentions it among other things, and stays


def known_about(home: Home, words: str, providers: Any = None) -> list[Known]:
    """The records that are about something, kind by kind, the nearest first."""
    if not isinstance(words, str) or not key_words(words):
        raise Invalid("there is nothing to look for", "say what to forget: otolith forget --about WORDS")
    home.ensure_fresh()
    records: list[Known] = []
    for name, kind in KINDS.items():
        if kind.forget and not kind.built:
            records += _of_kind(home, name, words, providers)
    return records


def _of_kind(home: Home, kind: str, words: str, providers: Any) -> list[Known]:
    candidates = find(home, words, make_filter(kind=kind), MOST, providers)
    stemmed = stems(words)
    places: dict[str, list[str]] = {}
    units: dict[str, str] = {}
    for candidate in candidates.best:
        near = candidate.likeness >= ALIKE and candidate.evidence >= candidates.weights.enough
        # a turn covers what its neighbours say, too: here only its own words count
        named = stemmed <= stems(candidate.passage.text) if KINDS[kind].around == "turns" else \
            candidate.covered >= COVERED
        if (named or near) and not asks_to_forget(candidate.passage.text):
            by = "words" if named else "meaning"
            places.setdefault(candidate.passage.id, []).append(by)
            units[candidate.passage.id] = candidate.passage.unit
    rows = home.index.cards.rows_of(places)
    turns = {record.id: len(record.turns) for _, record in each(home, sorted(set(units.values())))
             } if KINDS[kind].around == "turns" else {}
    return [Known(id, kind, first_sentence(rows[id].title), rows[id].project,
                  "words" if "words" in hits else "meaning", 2 * len(hits) >= turns.get(id, 0))
            for id, hits in places.items() if id in rows]


def asks_to_forget(text: str) -> str:
    """The thing that somebody asks to have forgotten altogether, if they do."""
    for sentence in sentences(re.sub(r"^\w{1,40}: ", "", text.strip())):
        if match := ASKED.match(sentence):
            return match["thing"].strip(" .,;\"'")
    return ""


def to_be_forgotten(home: Home) -> list[tuple[str, int]]:
    """(thing, how many records are about it) of what people asked in dialogs to have forgotten."""
    things: dict[str, str] = {}
    for passage in home.index.around.passages(home.index.words.look_up("forget")):
        person = (passage.speaker or "").casefold() not in AGENTS
        if passage.is_turn and person and (thing := asks_to_forget(passage.text)):
            things.setdefault(thing.casefold(), thing)
    counts = {thing: sum(record.whole for record in known_about(home, thing))
              for thing in things.values() if key_words(thing)}
    return [(thing, count) for thing, count in counts.items() if count]
