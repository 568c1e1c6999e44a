"""The parts of a statement as they are compared: the verb of a relation, whose it is, content words of a
value.

Near enough to see that two statements speak of the same thing, no more: English by the tables of
`attributes.py`. Knows no claim and no record.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from otolith.model.attributes import DATE, NUMBERS, SPEAKER, is_participle, lemma
from otolith.model.attributes import ENGLISH as TABLE
from otolith.model.claims import ASKED, OFF, RETRACT, RULE
from otolith.model.words import STOP, stem

_WORD = re.compile(r"#?\w[\w.+#/@:'’-]*[\w+#]|#?\w")
_CUT = re.compile(
        r",|\s+(?:for|in|at|on|as|since|because|with|near|from|until|after|before|last|this|next|over|by"
        r"|to|so|and|but|now|"
                  r"through|via|during|around|within|under|when|while|where|which|who|that"
                          r"|instead|again|every|each|per|of)\b", re.I)
_QUALIFIED = re.compile(r"\s+(?:for|in|on|at|as|by|from|inside|within)\s+(?P<np>[^,;]+)", re.I)
ARTICLES = frozenset("a an the".split())
_DETERMINERS = ARTICLES | frozenset("our my this that their its new current old whose your".split())
_OF = re.compile(r"^(?P<head>.+?) (?:of|for|on|in) (?P<np>.+)$")
class ReadVerb(NamedTuple):
    """A relation's verb."""

    key: str  # base and preposition: live in
    denied: bool
    time: str  # now, past, perfect, future, once
    passive: bool = False


@lru_cache(maxsize=4096)
def read_verb(relation: str) -> ReadVerb:
    """A relation's verb with its preposition, whether it is denied, and of which time it is."""
    low = relation.casefold().replace("_", " ").split()
    if (special := _SPECIAL.get(" ".join(low))) is not None:
        return ReadVerb(special, False, "now")
    denied = "not" in low or "never" in low or ("no" in low and "longer" in low)
    if (asked := _asked_for(low, denied)) is not None:
        return asked
    time, low = _time(low)
    helpers, rest = not _BEING.isdisjoint(low), [word for word in low if word not in _SKIPPED]
    if not rest:
        return ReadVerb(_helping(low), denied, time)
    head = rest[0]
    if head in _STOPPING and len(rest) > 1 and rest[1].endswith("ing"):
        return ReadVerb(" ".join((lemma(rest[1]), *rest[2:])), not denied, time if time != "now"
                        else "perfect")
    if helpers and not is_participle(head):
        return ReadVerb(" ".join(("be", *rest)), denied, time)
    if time == "now" and not helpers and _is_past(head):
        time = "past"
    return ReadVerb(" ".join((lemma(head), *rest[1:])), denied, time, helpers and not head.endswith("ing"))


def _helping(low: list[str]) -> str:
    """The verb where only helpers stand: "has", "does"."""
    last = lemma(low[-1]) if low else ""
    return last if last in ("have", "do") else "be"


def _asked_for(low: list[str], denied: bool) -> ReadVerb | None:
    """Relations that are no verb of their own: an order, a role, a name one wants."""
    if low[-2:] == ["be", "called"] and low[0] in ("prefers", "wants", "likes", "asks"):
        return ReadVerb("call", denied, "now")
    if low[:2] == ["has", "as"] and len(low) > 2:
        return ReadVerb(f"{ROLE}{' '.join(low[2:])}", denied, "now")
    return _order(low, denied) if low[:1] == ["asks"] else None


ROLE = "role "  # before the role of somebody: "has as boss"
_SPECIAL = {"corrects to": ASKED, "says to forget": RETRACT, "takes back": RETRACT, "is off": RETRACT,
            "is called off": OFF}


def _time(low: list[str]) -> tuple[str, list[str]]:
    """(of which time a relation is, the words that are left)."""
    if low[:2] == ["used", "to"]:
        return "once", low[2:]
    if low[:2] in (["agreed", "to"], ["decided", "to"]) and len(low) > 2:
        return "now", low[2:]
    if plan := TABLE.plans.match(" ".join(word for word in low if word != "not")):
        return "future", [plan["verb"], *" ".join(low).partition(plan["verb"])[2].split()]
    if low[:2] == ["had", "to"]:
        return "past", low[2:]
    if low[:1] and low[0] in ("has", "have", "had") and len(low) > 1:
        return "past" if low[0] == "had" else "perfect", low
    return "past" if {"was", "were", "did"} & set(low[:3]) else "now", low


def _order(low: list[str], denied: bool) -> ReadVerb:
    """ "Asks to use", "asks not to add", "asks for", "asks to always", "asks to never"."""
    rest = [word for word in low[1:] if word not in ("to", "not", "always", "never")]
    if rest in (["for"], ["for", "it"]):
        return ReadVerb("prefer", denied, "now")
    return ReadVerb(" ".join((lemma(rest[0]), *rest[1:])) if rest else RULE, denied, "now")


_BEING = frozenset("is are am was were been being be".split())
_SKIPPED = _BEING | frozenset("""
    has have had does do did will would shall can could may might must should not never no longer also just
    now already still only really always currently finally recently since usually fully officially then
    actually both all ever even since""".split())
_STOPPING = frozenset("stopped stop quit stops quits stopping gave".split())
_PAST = frozenset("""
    left quit sold took got gave went became ran wrote chose built bought made kept held led broke lost ate
    drank drove spoke brought wore rode sang swam taught began sent sat paid met rewrote rebuilt grew rose
    fell thought said told spent fed woke slept saw came had knew stuck withdrew threw found""".split())
def _is_past(word: str) -> bool:
    return word in _PAST or (word.endswith("ed") and word not in ("need", "feed", "speed", "embed", "breed"))


def content_words(text: str) -> list[str]:
    """The content words of a text, as they are compared."""
    tokens = (token.casefold().replace("’", "'").removesuffix("'s").strip(".:'-/")
              for token in _WORD.findall(text))
    given = [token for token in tokens if token]
    kept = [token for token in given if (token not in STOP or token == "may") and token not in TABLE.generic]
    return [NUMBERS.get(token) or (TABLE.events.get(token) if token in text else None) or stem(token)
            for token in kept if token != "may" or "May" in text]


def value_of(text: str) -> str:
    return " ".join(dict.fromkeys(content_words(text) or [
        token.casefold() for token in _WORD.findall(text) if token.casefold() not in STOP
        and token.casefold() not in _HOLLOW]))


_HOLLOW = frozenset("anything something nothing everything bit thing stuff one support job trip rule".split())
def main_part(text: str) -> str:
    """An object without what only places it: Bruges in April → Bruges."""
    bare = re.sub(r"^(?:the|a|an|our|my|their|its)\s+", "", text.strip(), flags=re.I)
    cut = _CUT.search(bare)
    return bare[: cut.start()] if cut and cut.start() else bare


def qualifier(text: str) -> str:
    """What an object is for: MySQL for the shop → shop."""
    match = _QUALIFIED.search(text)
    if match is None or DATE.search(match["np"]):
        return ""
    kept = [word for word in content_words(match["np"]) if word not in TABLE.own_things
            and word not in _EMPTY]
    return " ".join(sorted(set(kept)))


_EMPTY = frozenset(map(stem, """everything here now work works anything all project repo good time years
    months weeks days moment""".split()))


def environment_of(*texts: str) -> str:
    return next((TABLE.environments[word] for text in texts
                 for word in re.findall(r"[a-z]+", text.casefold()) if word in TABLE.environments), "")


@lru_cache(maxsize=4096)
def holder_of(subject: str) -> str:
    """Whose claim it is; the speaker's own undertaking is the speaker."""
    named = re.match(r"\S+['’]s (?:[a-z]+ )+(?P<name>[A-Z][\w-]+)$", subject)
    low = " ".join((named["name"] if named else subject).casefold().replace("’", "'").split())
    low = re.sub(r"^user's ", "", low) if low.split("'s ")[-1] not in TABLE.kin else low
    bare = [word for word in re.findall(r"[\w'.#@+/-]+", low) if word not in ARTICLES]
    if not bare or all(word in TABLE.own_things or word in TABLE.generic or word == SPEAKER for word in bare):
        return SPEAKER
    return " ".join(sorted({stem(word) for word in bare if word not in TABLE.generic
                            and word not in TABLE.environments})) or SPEAKER


class Noun(NamedTuple):
    subject: str
    attribute: str


@lru_cache(maxsize=4096)
def split_noun(noun: str) -> Noun:
    """A noun phrase as what has an attribute, and the attribute: "the API port", "deadline of the thesis"."""
    low = re.sub(r"^user's ", "", " ".join(noun.casefold().replace("’", "'").split()))
    of = _OF.match(low)
    if of and (head := re.findall(r"[\w-]+", of["head"])) and (head[-1] in TABLE.heads
                                                               or head[-1] in TABLE.roles):
        before = [word for word in head[:-1] if word not in ARTICLES and word not in TABLE.generic]
        return Noun(" ".join(sorted({*before, *noun_key(of["np"])})), head[-1])
    words = [word for word in re.findall(r"[\w'.#@+/-]+", low) if word not in ARTICLES]
    for last in (words[-1], words[-1].rstrip("s")) if words else ():
        if last in TABLE.heads or last in TABLE.roles:
            before = [word.removesuffix("'s") for word in words[:-1] if word not in _DETERMINERS]
            bare = {stem(word) for word in before if word not in TABLE.environments}
            return Noun(" ".join(sorted(noun_key(" ".join(before)) or bare)), last)
    return Noun(" ".join(sorted(noun_key(low))) or SPEAKER, "")


def noun_key(noun: str) -> set[str]:
    words = re.findall(r"[\w.#@+/-]+", noun.casefold())
    return {TABLE.synonyms.get(stem(word), stem(word)) for word in words if word not in STOP
            and word not in TABLE.generic
            and word not in TABLE.environments}


def is_person(subject: str) -> bool:
    """Whether a statement is about somebody; the speaker is somebody."""
    low = subject.casefold()
    if low == SPEAKER or low.split("'s ")[-1] in TABLE.kin:
        return True
    words = subject.split()
    if len(words) == 1 and (low in TABLE.heads or re.search(r"(?:ing|ion|ment|ness)s?$", low)):
        return False  # "Logging", "Authentication"
    return len(words) <= 2 and all(word[:1].isupper() and word.isalpha() and not word.isupper()
                                   for word in words) \
        and words[0].casefold() not in ARTICLES and not TABLE.things.kind_of([low])


def is_exact(text: str) -> bool:
    """Whether a value is exact: a name, a number, code."""
    first = text.strip().removeprefix("the ").removeprefix("a ").removeprefix("an ")
    return bool(first) and (first[0].isupper() or first[0] in "`#@/$€£'\""
                            or any(map(str.isdigit, first.split()[0]))
                            or bool(re.search(r"\w[-_.]\w", first.split()[0])))


def part_with(sentence: str, wording: str) -> str:
    """The part of a sentence in which the words stand, with what belongs to them."""
    if len(sentence) <= 90:
        return sentence
    first = " ".join(wording.split()[:2])
    at = sentence.find(first) if first else -1
    if at < 0:
        return wording
    start = max(sentence.rfind(mark, 0, at) for mark in (",", ";", ":", "(", " but ", " so "))
    ends = [end for mark in (",", ";", " but ", " because ")
            if (end := sentence.find(mark, at + len(first))) > 0]
    return sentence[max(0, start): min(ends, default=len(sentence))]


TRAILING = frozenset("""in on at since for last this when after before because and but so yesterday today
    until from""".split())


def without_reason(text: str) -> str:
    """An ended thing without the time and reason of its end."""
    return re.split(
            r",|\s(?:last|this|yesterday|because|since|after|and|but|so|when|in (?:january|february|march"
            r"|april|may|june|july|august|september"
                    r"|october|november|december|\d{4})|on (?:mon|tues|wednes|thurs|fri|satur"
                            r"|sun)day|for good|from|with|until)\b", text, flags=re.I)[0]


def plain_words(text: str) -> list[str]:
    return [word.strip(".,;:!?'\"`()") for word in text.split()]


def has_capital(text: str) -> bool:
    bare = re.sub(r"^(?:the|a|an|our|my)\s+", "", text.strip())
    return bare[:1].isupper() or not bare[:1].isascii()
