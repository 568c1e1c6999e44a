"""From what was said to the clauses that may hold facts.

`prose` drops what is not the speaker's own plain speech: code, tables, headings, quoted lines. `sentences`
cuts it, `clauses` cuts a sentence into pieces with one subject each. Everything is one walk over the text:
time grows with its length and with nothing else. No word of a language stands here; see `language.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from otolith.derive.english import Language
from otolith.model.text import sentences as cut

LONGEST_SENTENCE = 600  # characters; longer runs are logs, data or lists, not something somebody states
LONGEST_QUOTED_LINE = 20_000  # an apostrophe may open a quotation; in longer lines looking for its end costs too much
QUOTED = "¶"  # stands for words that are somebody else's

_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)")
_NOT_SPEECH = re.compile(r"^\s*(?:>|\||#{1,6}\s|\$ |\+\+\+|---|@@|<[a-z!/])")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_PICTURES = re.compile(r"[\U0001F300-\U0001FAFF☀-➿]+")
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]{0,3}\Z")
_DOUBLE = re.compile(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|«[^»\n]{1,300}»")
_SINGLE = re.compile(r"(?<!\w)['‘](?:[^'’\n]|['’](?=\w)){12,200}['’](?!\w)")
_MARKUP = re.compile(r"\*\*|__|!\[|\]\([^)\s]{1,200}\)")
_TOKEN = re.compile(r"[$€£#@~]?/?\w+(?:['’./@+:&_-]\w+|,\d{3}\b)*(?:\+\+|#|%|/)?|\.\w+(?:[./-]\w+)*|`[^`\n]{1,120}`"
                    r"|…|\.{3}|[^\w\s]")
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


def prose(text: str, language: Language) -> Iterator[str]:
    """The lines of a turn that are the speaker's own speech, quotations replaced by one mark."""
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.strip() and not _NOT_SPEECH.match(line):
            spoken = _BULLET.sub("", _MARKUP.sub("", line)).replace(QUOTED, "")
            spoken = _DOUBLE.sub(lambda match: _quotation(match, language), spoken)
            if len(spoken) <= LONGEST_QUOTED_LINE:
                spoken = _SINGLE.sub(lambda match: _quotation(match, language), spoken)
            yield spoken


def _quotation(match: re.Match[str], language: Language) -> str:
    """A short name in quotation marks is a title and stays; anything that speaks is somebody's words."""
    inside = match.group()[1:-1]
    words = inside.casefold().replace("’", "'").split()
    speaks = inside.rstrip()[-1:] in tuple(".!?,") or any(
        word.split("'")[0] in language.first | language.second for word in words)
    return f" {QUOTED} " if speaks or len(words) > _TITLE_WORDS or not words else inside


def sentences(line: str) -> Iterator[Sentence]:
    """Cut a line where a sentence ends, a picture sign among the ends, and leave off the signs that end it."""
    for part in _PICTURES.split(line):
        for sentence in cut(part):
            end = _END.search(sentence)
            piece = sentence[:end.start()].rstrip() if end else sentence
            if end and end[0][0] == "." and _INITIALS.search(piece[-16:]):
                piece += "."
            if piece and len(piece) <= LONGEST_SENTENCE:
                yield Sentence(piece, end is not None and "?" in end[0])


def tokens(text: str, language: Language) -> list[str]:
    """The words and signs of a sentence, contractions written out."""
    found: list[str] = []
    words = _TOKEN.findall(text)
    for index, raw in enumerate(words):
        word = raw.replace("’", "'")
        low = word.casefold()
        if raw in _QUOTES:
            continue
        if raw == "." and found and _is_cut_short(found[-1], language):
            found[-1] += raw
            continue
        if low in language.contractions:
            found += language.contractions[low]
            continue
        cut = low.rfind("'")
        ending = language.endings.get(low[cut:]) if cut > 0 else None
        if low.endswith("n't") and "n't" in language.endings:
            found += (word[:-3], language.endings["n't"])
        elif ending is not None:
            found += (word[:cut], ending)
        elif cut > 0 and low[cut:] in language.copula_endings and _opens_complement(words, index + 1, language):
            been = any(language.auxiliaries.get(after.casefold()) == "been" for after in words[index + 1:index + 3])
            found += (word[:cut], language.with_name[language.have] if been else language.copula_endings[low[cut:]])
        else:
            found.append(word)
    return found


def _is_cut_short(word: str, language: Language) -> bool:
    """Whether a dot behind a word inside a sentence is a part of it: St., Inc., D.C."""
    if word[:1].isupper() and word.isalpha() and len(word) <= 5:
        return word.casefold() not in language.first and word.casefold() not in language.calendar.months
    return word[:1].isupper() and _INITIALS.match(word) is not None


def _opens_complement(words: list[str], index: int, language: Language) -> bool:
    while index < len(words) - 1 and language.is_adverb(words[index].casefold()):
        index += 1
    after = words[index].casefold() if index < len(words) else ""
    return language.auxiliaries.get(after) == "been" or after in language.articles or after in language.bare_states or any(
        tense == "progressive" for _, tense in language.forms.get(after, ()))


def clauses(words: list[str], language: Language) -> list[Clause]:
    """Cut a sentence's words where a new subject begins, or where a word says that something else begins."""
    low = [word.casefold() for word in words]
    found: list[Clause] = []
    opener, start, index, verbal = "", 0, 0, False
    while index < len(words):
        here = low[index]
        skip = _boundary(low, words, index, start, verbal, language)
        scene = verbal and index > start + 1 and (opener in language.asides or low[start] in language.asides)
        if scene and here in language.first:  # "since we last spoke I moved": the scene is set, now comes what happened
            skip = -1
        if skip:
            if index > start:
                found.append(Clause(opener, words[start:index], low[start:index]))
            opener = _opener(low[index:index + skip], language) if skip > 0 else ""
            index += max(skip, 0)
            start, verbal = index, False
            continue
        verbal = verbal or here in language.auxiliaries or here in language.forms
        index += 1
    if start < len(words):
        found.append(Clause(opener, words[start:], low[start:]))
    return found


def _opener(skipped: list[str], language: Language) -> str:
    """What says how the clause hangs: its last joint, else the sign before it."""
    named = [word for word in skipped if word in language.asides or word in language.joints or word in language.breaks]
    return named[-1] if named else skipped[0]


def _boundary(low: list[str], words: list[str], index: int, start: int, verbal: bool, language: Language) -> int:
    """How many words to step over if a clause ends here; 0 if it goes on."""
    here = low[index]
    if here in _DASHES:
        return 1
    if here in language.breaks and index > start and low[index - 1] not in language.indefinite:
        return 1
    after = index
    while after < len(low) and (low[after] == "," or low[after] in language.joints) and after - index < 3:
        after += 1
    if after == index or after >= len(low):
        return 0
    comma = here == ","
    if comma and low[after] in language.hedges:
        return after - index
    if comma and (low[after] in language.breaks or low[after] in language.asks or low[after] in language.tags):
        return after - index
    if not verbal and not comma:
        return 0  # "my sister and I": no verb yet, so the subject is still being named
    return after - index if opens_clause(low, words, after, language) else 0


def opens_clause(low: list[str], words: list[str], index: int, language: Language) -> bool:
    """Whether a subject and its verb begin at this word."""
    while index < len(low) - 1 and language.is_adverb(low[index]):
        index += 1
    here, _, ending = low[index].partition("'")
    if here in language.first or here in language.second or here in language.third:
        if here in language.pointing and not ending:  # "those dreams" is no subject and verb
            return index + 1 < len(low) and low[index + 1] in language.auxiliaries
        return bool(ending) or here not in language.objects or _verb_at(low, index + 1, language)
    if low[index] in language.possessive_first or low[index] in language.articles or words[index][:1].isupper() \
            or low[index] in language.nobody:
        shared = any(low[at] in language.list_words and low[at + 1] in language.first
                     for at in range(index + 1, min(index + 4, len(low) - 1)))
        near = [low[at] for at in range(index + 1, min(index + 4, len(low))) if low[at] not in language.prepositions]
        return shared or any(_finite(word, low[index] in language.indefinite, language) for word in near)
    return False


def _verb_at(low: list[str], index: int, language: Language) -> bool:
    while index < len(low) and language.is_adverb(low[index]):
        index += 1
    return index < len(low) and (low[index] in language.auxiliaries or low[index] in language.forms)


def _finite(word: str, indefinite: bool, language: Language) -> bool:
    """A verb that can follow a noun; after "a cat", "named" rather says which cat."""
    return word in language.auxiliaries or any(
        tense == "third" or (tense == "past" and not indefinite) for _, tense in language.forms.get(word, ()))
