"""A question, read: which words to look up, what to embed, whom and which time it speaks of.

A question is never taken for search syntax: words come out of it one by one. Who is a speaker is asked of the
memory itself, so names need no list; they stay among the words but leave what is embedded, where they drown
the rest. A word that the memory does not know at all is taken for a slip where one (two in long words) leads
to one it does know: `pytesst` finds pytest. Words with digits are names of things and are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from otolith.model.dates import Span, mentions_time, only_time, read_span
from otolith.model.shape import Value
from otolith.model.text import searchable
from otolith.model.words import STOP, WORD, stem, word_set

MOST_WORDS = 32
LONGEST = 4000  # characters that are read of a question
SHORTEST, LONG = 4, 8  # letters of a word that may be a slip, and of one that may be two
AGENT_ROLES = word_set("user assistant system tool human ai agent bot model function developer")
ROLES = AGENT_ROLES | word_set("me you other")  # in a messenger's export these are people
_ASKS_WHEN = re.compile(
    r"\s*(?:since )?(?:when|how (?:long|often|recently)|(?:what|which) (?:date|day|week|month|year|time))\b",
                        re.I)
_ASKS_PAST = re.compile(
    r"\b(?:did|was|were|had|used to|happened|ago|last (?:year|month|week)|before)\b", re.I)
_PIECE = re.compile(r"[^\s]+")
_CALLED = re.compile(r"(?<=[a-z0-9,;'’\")] )[A-Z][a-z]+\b")  # a capital inside a sentence


class Question(Value):
    """What recall knows of a question before it looks anything up."""

    text: str
    words: tuple[str, ...]  # to look up, without stop words unless there is nothing else
    names: frozenset[str]  # speakers that it names
    called: frozenset[str]  # words that it writes as names, in small letters
    meaning: str  # to embed
    asks_when: bool
    asks_past: bool  # what was or happened, not how things are
    span: Span | None
    only_time: bool = False  # it names a time and nothing else


def read_question(text: str, speakers: Container[str], now: float) -> Question:
    """Read a question; `speakers` are the names, casefolded, of those who speak in the memory."""
    read = text[:LONGEST]
    every = dict.fromkeys(word.removesuffix("'s") for word in look_up(read))
    content = [word for word in every if word not in STOP] or list(every)
    names = frozenset(name for word in content if word not in ROLES and (name := word.casefold()) in speakers)
    meaning = _without(read, names)
    called = frozenset(name for match in _CALLED.finditer(read)
                       if not mentions_time(name := match[0].lower()))
    span = read_span(read, now)
    return Question(text=text, words=tuple(content[:MOST_WORDS]), names=names, called=called,
                    meaning=meaning or read, asks_when=_ASKS_WHEN.match(read) is not None, span=span,
                    asks_past=_ASKS_PAST.search(read) is not None,
                    only_time=span is not None and only_time(word for word in every if word not in STOP))


def look_up(text: str) -> list[str]:
    """The words of a text as full text knows them, unstemmed: in small letters, but ß is not ss there."""
    return [found[0].lower().replace("’", "'") for found in WORD.finditer(searchable(text))]


def _without(text: str, names: frozenset[str]) -> str:
    def is_name(piece: str) -> bool:
        word = WORD.search(piece)
        bare = word[0].casefold().replace("’", "'").removesuffix("'s").removesuffix("'") if word else ""
        return bare in names

    return " ".join(piece for piece in _PIECE.findall(text) if not is_name(piece)) if names else text


# Slips

def mistyped(word: str) -> bool:
    """Is it a word that could be a slip at all?"""
    return SHORTEST <= len(word) <= 40 and word.isalpha()


def closest(word: str, known: Iterable[tuple[str, int]]) -> str | None:
    """The word that was probably meant, of (stem, in how many passages); the commoner wins a tie."""
    if not mistyped(word):
        return None
    allowed = 2 if len(word) >= LONG else 1
    forms = {word, stem(word)}
    letters = [frozenset(form) for form in forms]
    found: tuple[int, int, str] | None = None
    for term, count in known:
        if len(term) < SHORTEST - 1 or all(abs(len(form) - len(term)) > allowed for form in forms):
            continue
        if all(len(own.symmetric_difference(term)) > 2 * allowed for own in letters):
            continue  # a slip changes at most two letters
        slips = min(distance(form, term, allowed) for form in forms)
        if slips <= allowed and (found is None or (slips, -count, term) < found):
            found = (slips, -count, term)
    return found[2] if found else None


def distance(a: str, b: str, most: int) -> int:
    """Letters to add, drop, change or swap to make b of a; more than `most` counts as `most` + 1."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    older: list[int] = []
    old = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            cost = min(old[j] + 1, row[j - 1] + 1, old[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        older, old = old, row
    return min(old[-1], most + 1)
