"""A statement taken apart, the values that things get, and what a change says: "moved to", "raised to",
"joined".

Each reader of `_CHANGES` knows one kind of change and answers None for all others; the first that answers is
believed. `NOTHING` is an answer, too: the statement is of this kind and claims nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from otolith.model.attributes import DATE, NUMBERS, SPEAKER, VERSION
from otolith.model.attributes import ENGLISH as TABLE
from otolith.model.claims import Claim
from otolith.model.relations import (
    ARTICLES,
    Noun,
    ReadVerb,
    has_capital,
    main_part,
    plain_words,
    qualifier,
    split_noun,
    value_of,
)
from otolith.model.words import stem

NOTHING = Claim("", "", "", "", True, False)
_TO = re.compile(r"^(?P<np>.+?) (?:to|until|for|into|over to) (?P<value>.+)$")
_FROM_TO = re.compile(r"^(?P<old>.+?) (?:over )?to (?P<new>.+)$")
_WITH = re.compile(r"^(?P<old>.+?) (?:with|by|for) (?P<new>.+)$")
OWN_DATE = ("deadline", "date", "day")  # attributes that are a time themselves
_REPLIES = re.compile(r"\b(?:answers?|repl(?:y|ies)|explanations?|responses?|messages?"
                      r"|summar(?:y|ies)|output)\b", re.I)
_MANNERS = frozenset(("length", "theme", "indentation", "quotes", "case", "units", "clock", "branching",
                      "work mode"))
TOOLS = frozenset(TABLE.things.kinds.values())
COUNTED = re.compile(r"(?:about |around |only )?(?P<number>\d[\d.,]*k?|[a-z]+) (?P<unit>\w+)")


class Wording(NamedTuple):
    """A statement taken apart."""

    subject: str
    holder: str
    person: bool
    verb: ReadVerb
    wording: str
    near: str  # the part of its sentence in which it stands

    @property
    def key(self) -> str:
        return self.verb.key

    @property
    def base(self) -> str:
        return self.verb.key.split()[0]

    @property
    def time(self) -> str:
        """When it is said to be; what a thing will be is decided, what somebody will do is a plan."""
        decided = self.verb.time == "future" and self.base == "be" and not self.person
        return "now" if decided else self.verb.time

    @property
    def main(self) -> str:
        return main_part(self.wording)

    @property
    def about(self) -> Noun:
        return split_noun(self.subject)

    @property
    def noun(self) -> str:
        """What has the attribute; a thing by its whole noun, a person by name."""
        return self.holder if self.person else whole_noun(self.about)

    @property
    def kind(self) -> str:
        return TABLE.things.kind_of(plain_words(self.main))

    def has(self, attribute: str, value: str, *, single: bool = True) -> Claim:
        return Claim(self.holder, self.holder, attribute, value, True, single)


def charge(noun: str) -> str:
    """What somebody has charge of: release management, the treasurer's job → release, treasurer."""
    words = noun.split()
    kept = [word for word in words if word not in TABLE.charges and word not in _CHARGES]
    return " ".join(kept or words)


_CHARGES = frozenset(map(stem, TABLE.charges))


def whole_noun(about: Noun) -> str:
    subject = "" if about.subject == SPEAKER and about.attribute else about.subject
    return " ".join(filter(None, (subject, about.attribute)))


Reader = Callable[[Wording], Claim | None]


def read_change(stated: Wording) -> Claim | None:
    """The new value that a change gives to something."""
    return first_of(stated, _CHANGES)


def first_of(stated: Wording, readers: tuple[Reader, ...]) -> Claim | None:
    for read in readers:
        if (claim := read(stated)) is not None:
            return None if claim is NOTHING else claim
    return None


# Tools, places, times, numbers

def choose(holder: str, wording: str) -> Claim:
    """A tool that was chosen: one at a time of its kind, for its purpose; of versions one at a time."""
    main, purpose = main_part(wording), qualifier(wording)
    purpose = "" if purpose in TOOLS else purpose  # "Vim as my editor"
    subject = f"{holder}/{purpose}" if purpose else holder
    if version := VERSION.match(main.strip()):
        return Claim(holder, subject, f"version {stem(version['name'].casefold())}", version["number"], True,
                     True)
    if purpose and purpose != "length":  # what a thing is done with: "MySQL for the shop"
        return Claim(holder, purpose, "where", value_of(main), True, True)
    kind = TABLE.things.kind_of(plain_words(main)) or manner_of(wording)
    if kind:
        return Claim(holder, holder, f"use:{kind}", value_of(main), True, kind in TABLE.things.exclusive)
    return Claim(holder, holder, "use", value_of(main), True, False)


def manner_of(wording: str) -> str:
    """The kind of choice between manners: how long, dark or light, tabs or spaces; "" if it is none."""
    words = [word.casefold() for word in plain_words(wording) if word not in ARTICLES]
    kind = TABLE.things.kind_of(words)
    if not kind and _REPLIES.search(wording):
        kind = next((TABLE.things.kinds[word] for word in words if TABLE.things.kinds.get(word) == "length"),
                    "")
    return kind if _MANNERS & {kind} else ""


def put_at(holder: str, subject: str, wording: str, *, versioned: bool = False) -> Claim:
    """Where a thing is, or what it runs on: a tool of a known kind, a version, or any place."""
    main = main_part(wording)
    if versioned and (version := VERSION.match(main.strip())):
        return Claim(holder, holder, f"version {stem(version['name'].casefold())}", version["number"], True,
                     True)
    kind = "" if subject not in ("", SPEAKER) else TABLE.things.kind_of(plain_words(main))
    return Claim(holder, subject or SPEAKER, f"use:{kind}" if kind else "where", value_of(main), True, True)


def timed(about: Noun, wording: str, attribute: str = "when") -> Claim | None:
    """A thing with its time: "the demo is on Tuesday", "the deadline is 5 May"."""
    if not DATE.search(wording):
        return None
    noun = whole_noun(about)
    if about.attribute in OWN_DATE:
        attribute, noun = about.attribute, about.subject
    return Claim(noun or SPEAKER, noun, attribute, value_of(wording), True, True)


def _amount(about: Noun, value: str) -> Claim:
    """A thing with its number: a count of something, a version, or the value of its attribute."""
    first = value.strip().split(" ")[0]
    if not about.attribute:
        counted = COUNTED.fullmatch(value.strip())
        if counted and is_number(counted["number"]):
            return Claim(about.subject, about.subject, f"have:{stem(counted['unit'])}",
                         digits_of(counted["number"]),
                         True, True)
        if re.match(r"v?\d+(?:\.\d+)*$", first) and " " not in about.subject:
            return Claim(SPEAKER, SPEAKER, f"version {about.subject}", first.lstrip("v"), True, True)
    return Claim(about.subject or SPEAKER, about.subject, about.attribute or "be", value_of(value), True,
                 True)


def is_number(word: str) -> bool:
    return word[:1].isdigit() or word in NUMBERS


def digits_of(word: str) -> str:
    return NUMBERS.get(word, word)


def has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


# Changes

def _from_to(stated: Wording) -> Claim | None:
    if not (stated.key.endswith(" from") and stated.base in TABLE.shifts):
        return None
    split = _FROM_TO.match(stated.wording)
    verb = stated.verb._replace(key=f"{stated.base} to")
    return first_of(stated._replace(verb=verb, wording=split["new"]), _CHANGES[2:]) if split else NOTHING


def _swapped(stated: Wording) -> Claim | None:
    if stated.key not in TABLE.swaps:
        return None
    split = _WITH.match(stated.wording)
    return choose(stated.holder, split["new"]) if split else NOTHING


_REMADE = re.compile(r"^(?P<np>.+?) (?:in|with|on|using) (?P<value>.+)$")


def _remade(stated: Wording) -> Claim | None:
    """ "We rewrote the app in Kotlin"."""
    split = _REMADE.match(stated.wording) if TABLE.turns.get(stated.key) == "made of" else None
    if split is None:
        return None
    noun = whole_noun(split_noun(split["np"]))
    return Claim(stated.holder, noun, "made of", value_of(main_part(split["value"])), True, True)


def _turned(stated: Wording) -> Claim | None:
    """ "Raised the limit to 8", "renamed the repo to storefront", "migrated the CI to Actions"."""
    split = _TO.match(stated.wording) if stated.key in TABLE.turns else None
    if split is None:
        return None
    about, value, kind = split_noun(re.sub(r"\bfrom .+$", "",
                                           split["np"])), split["value"], TABLE.turns[stated.key]
    if DATE.search(value) and kind != "name":
        return _amount(about,
                       value) if about.attribute and about.attribute not in OWN_DATE else timed(about,
                                                                                                  value)
    if kind == "made of":
        return NOTHING
    if kind == "name":
        return Claim(about.subject, whole_noun(about), "name", value_of(value), True, True)
    if has_digit(value) or kind == "number":
        return _amount(about, value)
    if kind == "use" or stated.key == "move":
        return put_at(stated.holder, whole_noun(about) or stated.holder, value)
    return _amount(about, value) if about.attribute else NOTHING


def teamed(stated: Wording) -> Claim | None:
    joins = stated.key == "be on" or stated.base in ("join", "move", "switch", "change", "start")
    if not (joins and stated.person and re.search(r"\bteam\b", stated.wording)):
        return None
    return stated.has("team", value_of(re.sub(r"\bteam\b.*", "", stated.wording)))


def _moved_thing(stated: Wording) -> Claim | None:
    """Another time, number or place of a thing."""
    if stated.person or stated.key not in TABLE.changes:
        return None
    if DATE.search(stated.wording) and stated.key in TABLE.postpones:
        return timed(stated.about, stated.wording)
    if has_digit(stated.main) and not stated.kind:
        return _amount(stated.about, stated.main)
    if stated.base == "rename":
        return Claim(stated.holder, stated.noun, "name", value_of(stated.main), True, True)
    if stated.base in ("move", "migrate", "port", "switch", "transfer", "relocate"):
        return put_at(stated.holder, stated.noun, stated.wording)
    return None


def _moved_person(stated: Wording) -> Claim | None:
    """Another home, employer, role or spouse."""
    attribute = TABLE.careers.get(stated.base) if stated.key in TABLE.changes else None
    if attribute is None or (stated.base == "move" and stated.kind):
        return None
    value = value_of(stated.main)
    if not stated.person or not value or (attribute != "role" and not has_capital(stated.wording)) or (
            attribute == "employer" and stated.kind):
        return NOTHING
    return stated.has(attribute, f"marry {value}" if stated.base == "marry" else value)


def _adopted(stated: Wording) -> Claim | None:
    if stated.key not in TABLE.changes:
        return None
    if stated.base == "rewrite":
        return stated.has("made of", value_of(stated.main))
    chosen = (stated.key in TABLE.adopts or stated.key in TABLE.uses) and value_of(stated.main)
    return choose(stated.holder, stated.wording) if chosen else NOTHING


_CHANGES: tuple[Reader, ...] = (_from_to, _swapped, _remade, _turned, teamed, _moved_thing, _moved_person,
                                _adopted)
