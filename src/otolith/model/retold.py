"""Whether what was said later tells anew what was said earlier, so that the newer word stands first.

A weak sign, for the order of hits alone: nothing is closed by it. The later words must share something that
tells what they are about, say it for certain and of the same place, and sound like news. What asks,
supposes, quotes, plans, looks back, holds for a while or adds to a list is no news. The cues are English,
with the few words of other languages by which a list grows; in other languages any later word on the same
matter stands first.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from otolith.model.attributes import DATE
from otolith.model.attributes import ENGLISH as TABLE
from otolith.model.relations import is_exact, value_of
from otolith.model.text import sentences
from otolith.model.words import HEDGES, RELAYED, STOP, WORD, is_question, stem, word_set

_HEDGED = re.compile(
    rf"\b(?:{HEDGES}|wonder(?:ing|ed)?|plan(?:s|ned|ning)? (?:to|on|for)"
    r"|once (?:the|it|he|she|they|I|we))\b", re.I)
_ELSEWHERE = re.compile(RELAYED + r"|\bconvinced\b|[\"“«]", re.I)
_PAST = re.compile(
    r"\b(?:back (?:when|then)|years ago|when I was|used to|in (?:19|20)\d\d|formerly|once upon)\b", re.I)
_OTHERS = re.compile(
    r"^\W*(?:my|our|a|their|his|her|[A-Z][a-z]+['’]s) (?:colleague|neighbou?r|friend|competitor|team|cousin"
    r"|boss|company)\b", re.I)
_PASSING = re.compile(
    TABLE.passing.pattern.replace("today|", "(?:only|just) (?:for )?today|today only|"), re.I)
_REASON = re.compile(r"\b(?:because|since (?:I|we|he|she|they)|as (?:I|we)|so that)\b", re.I)
_NEWS = re.compile(
    r"\b(?:now|nowadays|these days|any ?more|no longer|since|as of|from (?:now|here) on|going forward|new"
    r"|instead|switch\w*|mov(?:ed|ing)|migrat\w*|replac\w*|renam\w*|chang\w*|bec(?:ame|ome)|hand(?:ed|ing)"
    r"|took|taken|takes|picked|port(?:ed|ing)|bump\w*|rais\w*|lower\w*|cut|went|gone|drop\w*|quit|stop\w*"
    r"|gave|given|left|sold|dead|die[ds]|cancel\w*|off|over|out|laps\w*|expir\w*|end(?:ed|s)|finish\w*|done"
    r"|last|actually|turns? out|correction|typo|wrong|mis\w+|mixed|meant|sorry|nonsense|forget|scratch|ignore"
    r"|disregard|strike|overrid\w*|overturn\w*|shot|got|not|never|without|transfer\w*|settled|landed"
    r"|false|lifted|allowed|fine|from today|finally|update|decided|ended up|it is|no|nope|wait|oops|old"
    r"|former\w*|previous\w*|until now|retired|remov\w*|delet\w*|shut|closed|merged|split|upgrad\w*"
    r"|extend\w*|postpon\w*|slipp\w*|pushed|joined|start(?:ed|s)|begins?|signed|booked|chose\w*|pick\w*"
    r"|adopt\w*|prefer\w*|use|up to|down to|rewr\w*|convert\w*|swap\w*)\b|n['’]t\b|->|→", re.I)
_GROWS = re.compile(
    r"\b(?:auch|außerdem|zusätzlich|aussi|également|también|además|anche|inoltre|também|ook)\b", re.I)
_COMMON = word_set("""
    day days week weeks month months year years time times today tomorrow yesterday morning evening night way
    thing things lot bit one two first last new old good great nice people work works working make get got go
    going goes went come take took put want need like know think say said tell look thanks""")
_ENGLISH = STOP - word_set("a an i me so as in on am do has was no he us or is des")
_SHORTENED = re.compile(r"(?:n't|'(?:s|m|re|ve|ll|d))$")


def root(word: str) -> str:
    """A form that all forms of a word share, synonyms included."""
    form = stem(stem(word)).removesuffix("e")
    return TABLE.synonyms.get(form, form)


@lru_cache(maxsize=2048)
def _matter(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """(stems of what a text is about, those of them that are names or code)."""
    stems, names = set(), set()
    for sentence in sentences(text):
        for at, match in enumerate(WORD.finditer(sentence)):
            word = match[0].casefold().replace("’", "'").removesuffix("'s")
            if _is_common(word):
                continue
            name = root(word)
            stems.add(name)
            if (at and match[0][:1].isupper()) or any(map(str.isdigit, word)) or word in TABLE.things.kinds:
                names.add(name)
    return frozenset(stems), frozenset(names)


def telling_words(text: str) -> list[str]:
    """The words that tell what a text is about, in small letters, each once."""
    words = (match[0].casefold().replace("’", "'").removesuffix("'s") for match in WORD.finditer(text))
    return list(dict.fromkeys(word for word in words if not _is_common(word)))


def _is_common(word: str) -> bool:
    return word in STOP or word in _COMMON or word in TABLE.generic or len(word) < 2 or bool(
        DATE.fullmatch(word))


@lru_cache(maxsize=2048)
def _told(text: str) -> tuple[str, bool]:
    """(the sentences that tell something for certain, whether they sound like news)."""
    spoken = re.sub(r"^\w[\w .-]{0,40}: ", "", text)
    if _foreign(spoken):
        kept = [sentence for sentence in sentences(spoken) if not is_question(sentence)]
        return " ".join(kept), bool(kept) and not _GROWS.search(spoken)
    kept = [sentence for sentence in sentences(spoken) if not is_question(sentence)
            and not _HEDGED.search(sentence) and not _ELSEWHERE.search(sentence)
            and not _PAST.search(sentence)
            and not _PASSING.search(_REASON.split(sentence)[0]) and not _OTHERS.search(sentence)]
    tidings = " ".join(kept)
    return tidings, bool(_NEWS.search(tidings)) and not TABLE.grows.search(tidings)


TELLS = "tells"  # the relation of news that no rule takes apart
_TURN = re.compile(
    r"\b(?:now|nowadays|these days|any ?more|no longer|as of|from (?:now|here|today)(?: on)?|instead|switched"
    r"|moved|since (?:the|last|we|I)|migrat(?:ed|ion)|replaced|renamed?|changed|became|handed"
    r"|t(?:ook|aken) over|picked up|ported|bumped|raised|lowered|cancell?ed|lapsed|expired|sold|gone|dropped"
    r"|removed|deleted|shut|turns out|correction|typo|wrong|mixed|meant|overrid(?:es|den)|going to be"
    r"|ended up|went with|settled on|switch(?:ed)? off|done with|finished with|transferred|upgraded"
    r"|landed on|called off|(?:run|work|goe?)s? (?:without|to))\b", re.I)
_GIVING = word_set("to on at in into onto be is are it's by = -> → was")  # before a value that something has
_MARKS = ".,;:!?()'\""
_MOST = 24  # words of a sentence that is kept as news


class News(NamedTuple):
    """What a sentence that sounds like news names, and the exact values among it: names, numbers, code."""

    words: str
    values: str


@lru_cache(maxsize=2048)
def news_of(sentence: str) -> News | None:
    """What a sentence tells as news, if it does."""
    words = sentence.split()
    tidings, news = _told(sentence)
    whole = tidings == " ".join(sentences(sentence))
    if not news or not whole or not _TURN.search(tidings) or len(words) > _MOST:
        return None
    values = [value_of(bare) for before, word in pairwise(("", *words))
              if _gives(before, bare := word.strip(_MARKS))]
    return News(value_of(sentence), " ".join(dict.fromkeys(filter(None, values)))) if any(values) else None


def _gives(before: str, word: str) -> bool:
    """Whether a word behind another is a value that something is said to have now."""
    known = is_exact(word) or word.casefold() in TABLE.things.kinds
    return known and word.casefold() not in STOP and (before.casefold() in _GIVING or has_digit(word))


def has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _foreign(text: str) -> bool:
    words = [match[0].casefold().replace("’", "'") for match in WORD.finditer(text)]
    return not any(word in _ENGLISH or _SHORTENED.search(word) for word in words)


def retells(later: str, earlier: str, asked: Collection[str] = ()) -> bool:
    """Whether later words tell anew what earlier ones told; `asked`: roots of the words of a question."""
    tidings, news = _told(later)
    if not news:
        return False
    (ours, our_names), (theirs, their_names) = _matter(tidings), _matter(earlier)
    shared = ours & theirs
    if not shared and _foreign(tidings):
        return any(_akin(left, right) for left in ours for right in theirs)
    if not shared or not (shared & set(asked) or shared & (our_names | their_names) or len(shared) > 1):
        return False
    named = shared & our_names & their_names
    rivals = not named and _rivals(tidings, earlier, shared, frozenset(asked))
    return not rivals and _environment(tidings) in ("", _environment(earlier))


def _akin(left: str, right: str) -> bool:
    """Whether two words of a language without rules are forms of one: fumo, fumar."""
    alike = next((at for at, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]),
                 min(len(left), len(right)))
    return alike >= 3 and alike >= 0.6 * max(len(left), len(right))


def _environment(text: str) -> str:
    return next((TABLE.environments[word] for word in re.findall(r"[a-z]+", text.casefold())
                 if word in TABLE.environments), "")


def _rivals(later: str, earlier: str, shared: frozenset[str], asked: frozenset[str]) -> bool:
    """Whether what both name is of another kind in each: the geocoder client, the payments client.

    All of it must be, or what is asked for.
    """
    def before(text: str) -> dict[str, set[str]]:
        near: dict[str, set[str]] = {}
        last = ""
        for match in WORD.finditer(text):
            word = match[0].casefold().removesuffix("'s")
            name = root(word)
            near.setdefault(name, set()).add("" if last in STOP or last in _COMMON or last in TABLE.generic
                                             else stem(last))
            last = word
        return near

    ours, theirs = before(later), before(earlier)
    rivals = [word for word in shared if "" not in ours.get(word, {""}) | theirs.get(word, {""})
              and not ours[word] & theirs[word] and not any(mark in theirs for mark in ours[word])]
    return len(rivals) == len(shared) or any(asked & set(map(root, theirs[word])) for word in rivals)
