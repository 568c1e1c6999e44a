"""From what was said to the clauses that may hold facts.

`prose` drops what is not the speaker's own plain speech: code, tables, headings, quoted lines. `sentences`
cuts it, `clauses` cuts a sentence into pieces with one subject each. Everything is one walk over the text:
time grows with its length and with nothing else. No word of a language stands here; see `english.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from otolith.derive.english import Language, within, word_at
from otolith.model.text import sentences as cut
from otolith.model.text import without_code
from otolith.model.words import is_question

LONGEST_SENTENCE = 600  # characters; longer runs are logs, data or lists, not something somebody states
LONGEST_QUOTED_LINE = 20_000  # in longer lines it costs too much to look for the end of every apostrophe
QUOTED = "¶"  # stands for words that are somebody else's

_NOT_SPEECH = re.compile(r"^\s*(?:>|\||#{1,6}\s|\$ |\+\+\+|---|@@|<[a-z!/])")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_PICTURES = re.compile(r"[\U0001F300-\U0001FAFF☀-➿]+")
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]{0,3}\Z")
_DOUBLE = re.compile(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|«[^»\n]{1,300}»")
_SINGLE = re.compile(r"(?<!\w)['‘](?:[^'’\n]|['’](?=\w)){12,200}['’](?!\w)")
_MARKUP = re.compile(r"\*\*|__|!\[|\]\([^)\s]{1,200}\)")
_TOKEN = re.compile(r"[$€£#@~]?/?\w+(?:['’./@+:&_-]\w+|,\d{3}\b)*(?:\+\+|#|%|/)?|\.\w+(?:[./-]\w+)*"
                    r"|`[^`\n]{1,120}`|…|\.{3}|[^\w\s]")
_DASHES = frozenset({"—", "–", "-", ";", ":", "(", ")", "…", "...", "~", QUOTED})
_INITIALS = re.compile(r"(?<!\w)(?:[^\W\d_]\.)+[^\W\d_]\Z")  # D.C, without its last dot
_QUOTES = frozenset("'\"“”‘’«»")
_TITLE_WORDS = 6


class Sentence(NamedTuple):
    """One sentence as it was written; `asked` when it ends as a question."""

    text: str
    asked: bool


class Clause(NamedTuple):
    """A piece of a sentence with the word that opened it; `low` is its words in lower case."""

    opener: str
    words: list[str]
    low: list[str]


def prose(text: str, lang: Language) -> Iterator[str]:
    """The lines of a turn that are the speaker's own speech, quotations replaced by one mark."""
    for line in without_code(text).splitlines():
        if line.strip() and not _NOT_SPEECH.match(line):
            own = _BULLET.sub("", _MARKUP.sub("", line)).replace(QUOTED, "")
            own = _DOUBLE.sub(lambda match: _quotation(match, lang), own)
            if len(own) <= LONGEST_QUOTED_LINE:
                own = _SINGLE.sub(lambda match: _quotation(match, lang), own)
            yield own


def _quotation(match: re.Match[str], lang: Language) -> str:
    """A short name in quotation marks is a title and stays; anything that speaks is somebody's words."""
    inside = match.group()[1:-1]
    words = inside.casefold().replace("’", "'").split()
    speaks = inside.rstrip()[-1:] in tuple(".!?,") or any(
        within(word.split("'")[0], lang.first, lang.second) for word in words)
    return f" {QUOTED} " if speaks or len(words) > _TITLE_WORDS or not words else inside


def sentences(line: str) -> Iterator[Sentence]:
    """Cut a line where a sentence ends, a picture among the ends, and leave off what marks the end."""
    for part in _PICTURES.split(line):
        for sentence in cut(part):
            end = _END.search(sentence)
            piece = sentence[:end.start()].rstrip() if end else sentence
            if end and end[0][0] == "." and _INITIALS.search(piece[-16:]):
                piece += "."
            if piece and len(piece) <= LONGEST_SENTENCE:
                yield Sentence(piece, is_question(sentence))


def tokens(text: str, lang: Language) -> list[str]:
    """The words and marks of a sentence, contractions written out."""
    written: list[str] = []
    words = _TOKEN.findall(lang.any_more.sub(lang.ended, text))
    for index, raw in enumerate(words):
        if raw == "." and written and _is_cut_short(written[-1], lang):
            written[-1] += raw
        elif raw not in _QUOTES:
            written += _written_out(raw.replace("’", "'"), words[index + 1:index + 20], lang)
    return written


def _written_out(word: str, after: list[str], lang: Language) -> tuple[str, ...]:
    """A word without its contraction: "don't" → do not, "she's" before "been" → she has."""
    low = word.casefold()
    if low in lang.contractions:
        return lang.contractions[low]
    at = len(low) - 3 if low.endswith("n't") else low.rfind("'")
    ending = low[at:] if at > 0 else ""
    if ending in lang.endings:
        return word[:at], lang.endings[ending]
    if ending in lang.copula_endings and _opens_complement(after, lang):
        been = any(lang.auxiliaries.get(near.casefold()) == "been" for near in after[:2])
        return word[:at], lang.with_name[lang.have] if been else lang.copula_endings[ending]
    return (word,)


def _is_cut_short(word: str, lang: Language) -> bool:
    """Whether a dot behind a word inside a sentence is a part of it: St., Inc., D.C."""
    if word[:1].isupper() and word.isalpha() and len(word) <= 5:
        return word.casefold() not in lang.first and word.casefold() not in lang.calendar.months
    return word[:1].isupper() and _INITIALS.match(word) is not None


def _opens_complement(words: list[str], lang: Language) -> bool:
    near = [word.casefold() for word in words]
    after = next((word for word in near if not lang.is_adverb(word)), near[-1] if near else "")
    return lang.auxiliaries.get(after) == "been" or within(after, lang.articles, lang.bare_states) \
        or lang.is_form(after, "progressive")


def clauses(words: list[str], lang: Language) -> list[Clause]:
    """Cut a sentence's words where a new subject begins, or where a word says that something else begins."""
    low = [word.casefold() for word in words]
    pieces: list[Clause] = []
    opener, start, index, verbal = "", 0, 0, False
    while index < len(words):
        here = low[index]
        skip = _boundary(low, words, index, start, verbal, lang)
        aside = opener in lang.asides or low[start] in lang.asides
        scene = aside and (verbal or low[start] in lang.prepositions) and index > start + 1
        # "since we last spoke I moved", "after the fuss my desk is": now comes what happened
        if scene and (here in lang.first or (
                here in lang.possessive_first and verbless(low[start:index], lang)
                and _opens_clause(low, words, index, lang))):
            skip = -1
        if skip:
            if index > start:
                pieces.append(Clause(opener, words[start:index], low[start:index]))
            opener = _opener(low[index:index + skip], lang) if skip > 0 else ""
            index += max(skip, 0)
            start, verbal = index, False
            continue
        verbal = verbal or here in lang.auxiliaries or here in lang.forms
        index += 1
    if start < len(words):
        pieces.append(Clause(opener, words[start:], low[start:]))
    return pieces


def verbless(low: list[str], lang: Language) -> bool:
    """Whether an aside has no verb: what follows cannot be its object."""
    return not any(word in lang.auxiliaries or word in lang.forms for word in low)


def _opener(skipped: list[str], lang: Language) -> str:
    """What says how the clause hangs: its last joint, else the mark before it."""
    joints = [word for word in skipped if within(word, lang.asides, lang.joints, lang.breaks)]
    return joints[-1] if joints else skipped[0]


def _boundary(low: list[str], words: list[str], index: int, start: int, verbal: bool, lang: Language) -> int:
    """How many words to step over if a clause ends here; 0 if it goes on."""
    here, comma = low[index], low[index] == ","
    if here in _DASHES or (here in lang.breaks and index > start and low[index - 1] not in lang.indefinite):
        return 1
    after = index
    while after < len(low) and (low[after] == "," or low[after] in lang.joints) and after - index < 3:
        after += 1
    if after == index or after >= len(low):
        return 0
    if comma and within(low[after], lang.hedges, lang.breaks, lang.asks, lang.tags):
        return after - index
    if not verbal and not comma:
        return 0  # "my sister and I": no verb yet, so the subject is still being named
    return after - index if _opens_clause(low, words, after, lang) else 0


def _opens_clause(low: list[str], words: list[str], index: int, lang: Language) -> bool:
    """Whether a subject and its verb begin at this word."""
    while index < len(low) - 1 and lang.is_adverb(low[index]):
        index += 1
    here, _, ending = low[index].partition("'")
    if within(here, lang.first, lang.second, lang.third):
        if here in lang.pointing and not ending:  # "those dreams" is no subject and verb
            return word_at(low, index + 1) in lang.auxiliaries
        return bool(ending) or here not in lang.objects or _verb_follows(low[index + 1:], lang)
    if words[index][:1].isupper() or within(low[index], lang.possessive_first, lang.articles, lang.nobody):
        return _noun_acts(low[index], low[index + 1:index + 5], lang)
    return False


def _verb_follows(low: list[str], lang: Language) -> bool:
    return within(next((word for word in low if not lang.is_adverb(word)), ""), lang.auxiliaries, lang.forms)


def _noun_acts(first: str, near: list[str], lang: Language) -> bool:
    """Whether a verb follows a noun, or "and I" does; after "a cat", "named" rather says which cat."""
    if any(left in lang.list_words and right in lang.first for left, right in pairwise(near)):
        return True
    finite = {"third"} if first in lang.indefinite else {"third", "past"}
    return any(word in lang.auxiliaries or any(tense in finite for _, tense in lang.forms.get(word, ()))
               for word in near[:3] if word not in lang.prepositions)
