"""What a statement says of a state: the value that something has now, or the one that a change gave it.

Each reader of `_CHANGES` and `_STATES` knows one kind of statement and answers None for all others; the first
that answers is believed. `NOTHING` is an answer, too: the statement is of this kind and claims nothing.
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
    is_exact,
    main_part,
    noun_key,
    plain_words,
    qualifier,
    split_noun,
    value_of,
    without_reason,
)
from otolith.model.words import stem

NOTHING = Claim("", "", "", "", True, False)
_TO = re.compile(r"^(?P<np>.+?) (?:to|until|for|into|over to) (?P<value>.+)$")
_FROM_TO = re.compile(r"^(?P<old>.+?) (?:over )?to (?P<new>.+)$")
_WITH = re.compile(r"^(?P<old>.+?) (?:with|by|for) (?P<new>.+)$")
_DEFINITE = re.compile(r"(?:the|our|all|my) ", re.I)
_PLACED = re.compile(r"^(?P<np>.+?) (?P<prep>on|in|to|with|at|through|via|from|by) (?P<value>.+)$")
_PREPOSITIONS = frozenset("in on at by to under with from as into through via".split())
_OWN_DATE = ("deadline", "date", "day")  # attributes that are a time themselves
_REPLIES = re.compile(r"\b(?:answers?|repl(?:y|ies)|explanations?|responses?|messages?"
                      r"|summar(?:y|ies)|output)\b", re.I)
_MANNERS = frozenset(("length", "theme", "indentation", "quotes", "case", "units", "clock", "branching",
                      "work mode"))
_TOOLS = frozenset(TABLE.things.kinds.values())
_COUNTED = re.compile(r"(?:about |around |only )?(?P<number>\d[\d.,]*k?|[a-z]+) (?P<unit>\w+)")


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


def whole_noun(about: Noun) -> str:
    subject = "" if about.subject == SPEAKER and about.attribute else about.subject
    return " ".join(filter(None, (subject, about.attribute)))


Reader = Callable[[Wording], Claim | None]


def read_change(stated: Wording) -> Claim | None:
    """The new value that a change gives to something."""
    return _first(stated, _CHANGES)


def read_state(stated: Wording) -> Claim | None:
    """What a statement in the present says of its subject."""
    return _first(stated, _STATES)


def _first(stated: Wording, readers: tuple[Reader, ...]) -> Claim | None:
    for read in readers:
        if (claim := read(stated)) is not None:
            return None if claim is NOTHING else claim
    return None


# Tools, places, times, numbers

def choose(holder: str, wording: str) -> Claim:
    """A tool that was chosen: one at a time of its kind, for its purpose; of versions one at a time."""
    main, purpose = main_part(wording), qualifier(wording)
    purpose = "" if purpose in _TOOLS else purpose  # "Vim as my editor"
    subject = f"{holder}/{purpose}" if purpose else holder
    if version := VERSION.match(main.strip()):
        return Claim(holder, subject, f"version {stem(version['name'].casefold())}", version["number"], True,
                     True)
    kind = TABLE.things.kind_of(plain_words(main)) or _manner(wording)
    if kind:
        return Claim(holder, holder if kind == "length" else subject, f"use:{kind}", value_of(main), True,
                     kind in TABLE.things.exclusive or bool(purpose))
    return Claim(holder, subject, f"use for {purpose}" if purpose else "use", value_of(main), True,
                 bool(purpose))


def _manner(wording: str) -> str:
    """The kind of choice between manners: how long, dark or light, tabs or spaces; "" if it is none."""
    words = [word.casefold() for word in plain_words(wording) if word not in ARTICLES]
    kind = TABLE.things.kind_of(words)
    if not kind and _REPLIES.search(wording):
        kind = next((TABLE.things.kinds[word] for word in words if TABLE.things.kinds.get(word) == "length"),
                    "")
    return kind if _MANNERS & {kind} else ""


def _put(holder: str, subject: str, wording: str, *, versioned: bool = False) -> Claim:
    """Where a thing is, or what it runs on: a tool of a known kind, a version, or any place."""
    main = main_part(wording)
    if versioned and (version := VERSION.match(main.strip())):
        return Claim(holder, holder, f"version {stem(version['name'].casefold())}", version["number"], True,
                     True)
    kind = TABLE.things.kind_of(plain_words(main))
    return Claim(holder, subject or SPEAKER, f"use:{kind}" if kind else "where", value_of(main), True, True)


def _timed(about: Noun, wording: str, attribute: str = "when") -> Claim | None:
    """A thing with its time: "the demo is on Tuesday", "the deadline is 5 May"."""
    if not DATE.search(wording):
        return None
    noun = whole_noun(about)
    if about.attribute in _OWN_DATE:
        attribute, noun = about.attribute, about.subject
    return Claim(noun or SPEAKER, noun, attribute, value_of(wording), True, True)


def _amount(about: Noun, value: str) -> Claim:
    """A thing with its number: a count of something, a version, or the value of its attribute."""
    first = value.strip().split(" ")[0]
    if not about.attribute:
        counted = _COUNTED.fullmatch(value.strip())
        if counted and _is_number(counted["number"]):
            return Claim(about.subject, about.subject, f"have:{stem(counted['unit'])}",
                         _digits(counted["number"]),
                         True, True)
        if re.match(r"v?\d+(?:\.\d+)*$", first) and " " not in about.subject:
            return Claim(SPEAKER, SPEAKER, f"version {about.subject}", first.lstrip("v"), True, True)
    return Claim(about.subject or SPEAKER, about.subject, about.attribute or "be", value_of(value), True,
                 True)


def _is_number(word: str) -> bool:
    return word[:1].isdigit() or word in NUMBERS


def _digits(word: str) -> str:
    return NUMBERS.get(word, word)


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


# Changes

def _from_to(stated: Wording) -> Claim | None:
    if not (stated.key.endswith(" from") and stated.base in TABLE.shifts):
        return None
    split = _FROM_TO.match(stated.wording)
    verb = stated.verb._replace(key=f"{stated.base} to")
    return _first(stated._replace(verb=verb, wording=split["new"]), _CHANGES[2:]) if split else NOTHING


def _swapped(stated: Wording) -> Claim | None:
    if stated.key not in TABLE.swaps:
        return None
    split = _WITH.match(stated.wording)
    return choose(stated.holder, split["new"]) if split else NOTHING


def _turned(stated: Wording) -> Claim | None:
    """ "Raised the limit to 8", "renamed the repo to storefront", "migrated the CI to Actions"."""
    split = _TO.match(stated.wording) if stated.key in TABLE.turns else None
    if split is None:
        return None
    about, value, kind = split_noun(re.sub(r"\bfrom .+$", "",
                                           split["np"])), split["value"], TABLE.turns[stated.key]
    if DATE.search(value) and kind != "name":
        return _amount(about,
                       value) if about.attribute and about.attribute not in _OWN_DATE else _timed(about,
                                                                                                  value)
    if kind == "name":
        return Claim(about.subject, whole_noun(about), "name", value_of(value), True, True)
    if _has_digit(value) or kind == "number":
        return _amount(about, value)
    if kind == "use" or stated.key == "move":
        return _put(stated.holder, whole_noun(about) or stated.holder, value)
    return _amount(about, value) if about.attribute else NOTHING


def _teamed(stated: Wording) -> Claim | None:
    joins = stated.key == "be on" or stated.base in ("join", "move", "switch", "change", "start")
    if not (joins and stated.person and re.search(r"\bteam\b", stated.wording)):
        return None
    return stated.has("team", value_of(re.sub(r"\bteam\b.*", "", stated.wording)))


def _moved_thing(stated: Wording) -> Claim | None:
    """Another time, number or place of a thing."""
    if stated.person or stated.key not in TABLE.changes:
        return None
    if DATE.search(stated.wording) and stated.key in TABLE.postpones:
        return _timed(stated.about, stated.wording)
    if _has_digit(stated.main) and not stated.kind:
        return _amount(stated.about, stated.main)
    if stated.base == "rename":
        return Claim(stated.holder, stated.noun, "name", value_of(stated.main), True, True)
    if stated.base in ("move", "migrate", "port", "switch", "transfer", "relocate"):
        return _put(stated.holder, stated.noun, stated.wording)
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
        return stated.has("language", value_of(stated.main))
    chosen = (stated.key in TABLE.adopts or stated.key in TABLE.uses) and value_of(stated.main)
    return choose(stated.holder, stated.wording) if chosen else NOTHING


_CHANGES: tuple[Reader, ...] = (_from_to, _swapped, _turned, _teamed, _moved_thing, _moved_person, _adopted)


# States

def _being(stated: Wording) -> Claim | None:
    """What something is: the value of an attribute, one of a kind, a name, or a plain trait."""
    if stated.key != "be":
        return None
    return _role_of(stated) or _attribute(stated) or _of_kind(stated) or _exact(stated) or (
        stated.has("be", value, single=False) if (value := value_of(stated.main)) else NOTHING)


def _role_of(stated: Wording) -> Claim | None:
    """ "Nina is the owner of the importer"."""
    if not re.match(r"(?:the |an? )?(?:\w+ )?(?:owner|lead|maintainer|head|manager) of ", stated.wording):
        return None
    thing = " ".join(sorted(noun_key(stated.wording.partition(" of ")[2])))
    return Claim(thing, thing, "owner", value_of(stated.subject), True, True)


def _attribute(stated: Wording) -> Claim | None:
    """ "The API port is 8080", "my editor is Vim", "our dentist is Dr. Weber"."""
    about, dated = stated.about, DATE.search(stated.wording)
    value = value_of(stated.wording if dated else stated.main)
    if not about.attribute or not value:
        return None
    if about.attribute in _TOOLS:
        return Claim(stated.holder if about.subject else SPEAKER, about.subject or SPEAKER,
                     f"use:{about.attribute}", value,
                     True, True)
    if not (is_exact(stated.wording) or dated or about.attribute in TABLE.heads):
        return NOTHING
    owner = about.attribute in ("owner", "maintainer", "lead") and about.subject
    purpose = "" if dated else qualifier(stated.wording)
    subject = " ".join(sorted({*about.subject.split(), *purpose.split()}))
    return Claim(subject or stated.holder, subject, "owner" if owner else about.attribute, value, True, True)


def _of_kind(stated: Wording) -> Claim | None:
    """ "CI is GitHub Actions", "I'm vegetarian", "the build is red"."""
    kind = stated.kind
    if not kind:
        return None
    definite = re.match(r"(?:the|our|my|this|[A-Z]+\b)|user's", stated.subject, re.I)
    if kind in TABLE.things.exclusive and definite and not stated.person and is_exact(stated.wording):
        return Claim(stated.holder, stated.noun, f"use:{kind}", value_of(stated.main), True, True)
    if stated.person or not is_exact(stated.wording) or kind in ("license", "api style"):
        return Claim(stated.holder, stated.noun, f"use:{kind}" if kind == "api style" else f"be:{kind}",
                     value_of(stated.main), True, kind in TABLE.things.exclusive)
    return None


def _exact(stated: Wording) -> Claim | None:
    """ "The channel is #ops", "max_connections is 20"."""
    if stated.person:
        return None
    dated = DATE.search(stated.wording)
    if (is_exact(stated.wording) or dated) and re.match(r"(?:the|our|my|this)\b|user's|[\w.-]*[_.-]",
                                                      stated.subject, re.I):
        named = "name" if re.match(r"[`#@/]|\w+[_-]", stated.wording) else "be"
        return Claim(stated.holder, stated.noun, "when" if dated else named,
                     value_of(stated.wording if dated else stated.main), True, True)
    if re.match(r"[a-z_]+(?:[_.][a-z_]+)+$|[A-Z_]{3,}$", stated.subject):
        return Claim(stated.holder, stated.subject.casefold(), "be", value_of(stated.main), True, True)
    return None


def _owning(stated: Wording) -> Claim | None:
    """Who has charge of a thing, said from either side."""
    if stated.key in TABLE.owned and not stated.person:
        if has_capital(stated.wording) or (stated.key == "belong to" and is_exact(stated.wording)):
            return Claim(stated.holder, stated.noun, "owner", value_of(stated.main), True, True)
        return None
    definite = stated.key != "own" or re.match(r"(?:the|our|my|all|these|those)\b|`|[A-Z]", stated.wording)
    if stated.key not in TABLE.owns or not definite or stated.subject == SPEAKER or not stated.person:
        return None
    thing = whole_noun(split_noun(without_reason(stated.wording)))
    return Claim(thing or SPEAKER, thing, "owner", value_of(stated.subject), True, True)


def _liking(stated: Wording) -> Claim | None:
    if stated.base.startswith(("favorit", "favourit")):
        return stated.has(f"favorite {stated.key.partition(' ')[2]}", value_of(stated.wording))
    sign = TABLE.likes.get(stated.key)
    if sign is None:
        return None
    manner = _manner(stated.wording) if sign > 0 else ""
    if manner:
        return stated.has(f"use:{manner}", value_of(stated.wording))
    return stated.has("like", value_of(stated.wording), single=False)._replace(holds=sign > 0)


def _using(stated: Wording) -> Claim | None:
    if stated.key not in TABLE.uses or (stated.base in ("run", "work") and not stated.kind):
        return None
    if version := re.match(r"version (\S+)(?: of (.+))?$", stated.wording):
        return stated.has(f"version {value_of(version[2] or '')}", version[1])
    if stated.key == "be on" and not (stated.kind or VERSION.match(stated.main)):
        return _timed(stated.about, stated.wording) or NOTHING
    return choose(stated.holder, stated.wording)


def _tabled(stated: Wording) -> Claim | None:
    """A verb of the table of states."""
    attribute = TABLE.states.get(stated.key)
    if attribute is None:
        return None
    if attribute in ("when", "start", "end"):
        return _timed(stated.about, stated.wording, attribute) or NOTHING
    if attribute == "where" or (attribute == "home" and not stated.person) or attribute == "port":
        return _located(stated)
    value = value_of(stated.main)
    if attribute == "employer":
        value = value_of(re.split(r"\s(?:as|in|on|since|and)\s", stated.wording)[0])
    if not value or (attribute == "car" and not stated.person):
        return NOTHING
    if attribute == "relationship":
        value = f"{stated.base} {value}"
    return Claim(stated.holder, stated.noun if attribute == "name" else stated.holder, attribute, value,
                 True, True)


def _located(stated: Wording) -> Claim | None:
    """Where a thing is, at which port it listens; what somebody does on a day is a routine."""
    being = stated.base == "be"
    if DATE.search(stated.wording):
        return (_timed(stated.about, stated.wording) or NOTHING) if being and not stated.person else \
            stated.has(f"{stated.base} when", value_of(stated.wording))
    if being and stated.person:
        return NOTHING
    if stated.key == "listen on" or re.match(r"(?:port )?\d+\b", stated.wording):
        number = re.search(r"\d+", stated.wording)
        subject = "" if stated.holder == SPEAKER else stated.holder
        return Claim(stated.holder, subject, "port", number[0], True, True) if number else NOTHING
    return _put(stated.holder, stated.noun, stated.wording, versioned=stated.key.endswith(" on"))


def _counting(stated: Wording) -> Claim | None:
    counted = _COUNTED.match(stated.wording) if stated.base == "have" else None
    if counted is None or not _is_number(counted["number"]) or (stated.person and counted["number"] == "one"):
        return None
    return stated.has(f"have:{stem(counted['unit'])}", _digits(counted["number"]))


def _placing(stated: Wording) -> Claim | None:
    """ "We host the site on Heroku", "we test the app with pytest"."""
    here = stated.key == stated.base and stated.person and (stated.base in TABLE.places
                                                      or _DEFINITE.match(stated.wording))
    placed = _PLACED.match(stated.wording) if here else None
    if placed is None or DATE.search(placed["value"]):
        return None
    if not (is_exact(placed["value"]) or TABLE.things.kind_of(plain_words(main_part(placed["value"])))):
        return None
    put = _put(stated.holder, whole_noun(split_noun(placed["np"])), placed["value"])
    by = put.attribute == "where" and placed["prep"] in ("with", "by", "through", "via")
    return put._replace(attribute="with") if by else put


def _passive(stated: Wording) -> Claim | None:
    """ "The timeout is given in seconds": a thing has it one way at a time."""
    last = stated.key.split()[-1]
    if stated.person or " " not in stated.key or not (
            (stated.verb.passive and last in _PREPOSITIONS) or DATE.search(stated.wording)
        or _has_digit(stated.main)):
        return None
    value = stated.main if stated.verb.passive else stated.wording
    return Claim(stated.holder, stated.noun, stated.key, value_of(value), True, True)


def _doing(stated: Wording) -> Claim | None:
    """Any other verb: many values beside each other; on a day of the week it is a routine."""
    if DATE.search(stated.wording) and (stated.key.endswith((" on", " at", " every"))
                                      or re.search(r"\b(?:on|every) \w+days?\b", stated.wording)):
        return stated.has(f"{stated.base} when", value_of(stated.wording))
    attribute = stated.key if stated.base == "be" else stated.base
    return stated.has(attribute, value_of(without_reason(stated.wording)), single=False)


_STATES: tuple[Reader, ...] = (_being, _owning, _liking, _teamed, _using, _tabled, _counting, _placing,
                               _passive, _doing)
