"""What a statement in the present says of its subject: a reader for each kind of statement, tried in order.

A reader answers None for what is not its kind; the first that answers is believed, NOTHING included.
"""

from __future__ import annotations

import re

from otolith.model.attributes import DATE, SPEAKER, VERSION
from otolith.model.attributes import ENGLISH as TABLE
from otolith.model.changes import (
    COUNTED,
    NOTHING,
    OWN_DATE,
    TOOLS,
    Reader,
    Wording,
    charge,
    choose,
    digits_of,
    first_of,
    has_digit,
    is_number,
    manner_of,
    put_at,
    teamed,
    timed,
    whole_noun,
)
from otolith.model.claims import Claim
from otolith.model.relations import (
    TRAILING,
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
from otolith.model.words import STOP, stem

_LASTING = re.compile(r"^(?P<np>[a-z].{1,40}?) for (?P<long>\d+ \w+)")  # keep logs for 30 days
_DEFINITE = re.compile(r"(?:the|our|all|my) ", re.I)
_PLACED = re.compile(r"^(?P<np>.+?) (?P<prep>on|in|to|with|at|through|via|from|by) (?P<value>.+)$")
_PREPOSITIONS = frozenset("in on at by to under with from as into through via".split())


def read_state(stated: Wording) -> Claim | None:
    """What a statement in the present says of its subject."""
    return first_of(stated, _STATES)


def _being(stated: Wording) -> Claim | None:
    """What something is: the value of an attribute, one of a kind, a name, or a plain trait."""
    if stated.key != "be":
        return None
    value = value_of(stated.main)
    return (_employed(stated) or _role_of(stated) or _aged(stated) or _attribute(stated)
            or _of_kind(stated) or _exact(stated)
            or (stated.has("be", value, single=stated.verb.time == "future") if value else NOTHING))


def _aged(stated: Wording) -> Claim | None:
    """ "My son is 4"."""
    age = re.match(r"(\d{1,3})(?: years?(?: old)?)?$", stated.wording) if stated.person else None
    return stated.has("age", age[1]) if age else None


def _role_of(stated: Wording) -> Claim | None:
    """ "Nina is the owner of the importer"."""
    post = _POST.match(stated.wording) if stated.person else None
    if post is None:
        return None
    of, before, role = post["np"] or "", post["before"] or "", post["role"]
    whole = f"{before} {of}" if role in _CHARGES else f"{before} {role} {of}"
    thing = " ".join(sorted(noun_key(without_reason(whole))))
    if not thing:
        return None
    return Claim(thing, thing, "owner", value_of(stated.subject), True, True)


_CHARGES = ("owner", "lead", "maintainer", "head", "manager")
_POST = re.compile(r"(?:the |an? )?(?:new |current )?(?:(?P<before>[a-z-]+(?: [a-z-]+)?) )?"
r"(?P<role>owner|lead"
                   r"|maintainer|head|manager|treasurer|secretary|captain|chair|chairman|chairwoman|organiser"
                   r"|organizer|moderator|coordinator|host|contact|reviewer|admin|president|director)"
                   r"(?: (?:of|for) (?P<np>.+)| (?:this|since|until|now|at|from)\b.*)?$")


def _employed(stated: Wording) -> Claim | None:
    """ "I'm the backend lead at Nimbus"."""
    post = re.match(r"(?:the|an?) [\w -]{3,40}? (?:at|for) (?P<employer>[A-Z][^,;]*)", stated.wording)
    return stated.has("employer", value_of(main_part(post["employer"]))) if post and stated.person else None


def _attribute(stated: Wording) -> Claim | None:
    """ "The API port is 8080", "my editor is Vim", "our dentist is Dr. Weber"."""
    about, dated = stated.about, DATE.search(stated.wording)
    value = value_of(stated.wording if dated else stated.main)
    if not about.attribute or not value:
        return None
    if about.attribute in TOOLS:
        return Claim(stated.holder if about.subject else SPEAKER, about.subject or SPEAKER,
                     f"use:{about.attribute}", value,
                     True, True)
    if not (is_exact(stated.wording) or dated or about.attribute in TABLE.heads):
        return NOTHING
    if about.attribute == "name" and not about.subject:
        return Claim(SPEAKER, SPEAKER, "name", value, True, True, personal=True)
    if dated and about.attribute not in OWN_DATE:
        return timed(about, stated.wording)
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
        return Claim(stated.holder, stated.noun, "where", value_of(stated.main), True, True)
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
    if stated.key in TABLE.owned and (stated.verb.passive or not stated.person):
        if has_capital(stated.wording) or (stated.key == "belong to" and is_exact(stated.wording)):
            return Claim(stated.holder, charge(stated.noun), "owner", value_of(stated.main), True, True)
        return None
    definite = stated.key != "own" or re.match(r"(?:the|our|my|all|these|those)\b|`|[A-Z]", stated.wording)
    if stated.key == "do" and not re.match(r"(?:the|our|all) ", stated.wording):
        return None
    if stated.key not in TABLE.owns or not definite or stated.subject == SPEAKER or not stated.person:
        return None
    thing = charge(whole_noun(split_noun(without_reason(stated.wording))))
    return Claim(thing or SPEAKER, thing, "owner", value_of(stated.subject), True, True)


def _liking(stated: Wording) -> Claim | None:
    if stated.base.startswith(("favorit", "favourit")):
        return stated.has(f"favorite {stated.key.partition(' ')[2]}", value_of(stated.wording))
    sign = TABLE.likes.get(stated.key)
    if sign is None:
        return None
    manner = manner_of(stated.wording) if sign > 0 else ""
    if manner:
        return stated.has(f"use:{manner}", value_of(stated.wording))
    return stated.has("like", value_of(stated.wording), single=False)._replace(holds=sign > 0)


def _using(stated: Wording) -> Claim | None:
    if stated.key not in TABLE.uses or (stated.base in ("run", "work") and not stated.kind):
        return None
    words = stated.main.split()
    if stated.key == "prefer" and len(words) > 1 and not stated.kind and not manner_of(stated.wording):
        return stated.has(f"prefer {stem(words[-1].casefold())}", value_of(stated.main))
    if version := re.match(r"version (\S+)(?: of (.+))?$", stated.wording):
        return stated.has(f"version {value_of(version[2] or '')}", version[1])
    if stated.key == "be on" and not (stated.kind or VERSION.match(stated.main)):
        return timed(stated.about, stated.wording) or NOTHING
    return choose(stated.holder, stated.wording)


def _tabled(stated: Wording) -> Claim | None:
    """A verb of the table of states."""
    attribute = TABLE.states.get(stated.key)
    if attribute is None:
        return None
    if attribute in ("when", "start", "end"):
        return timed(stated.about, stated.wording, attribute) or NOTHING
    if attribute == "where" or (attribute == "home" and not stated.person) or attribute == "port":
        return _located(stated)
    value = value_of(stated.main)
    if attribute == "employer":
        value = value_of(re.split(r"\s(?:as|in|on|since|and)\s", stated.wording)[0])
    if not value or (attribute == "car" and not stated.person):
        return NOTHING
    if attribute in ("with", "made of") and not stated.person:
        return Claim(stated.holder, stated.noun, attribute, value, True, True)
    if attribute == "address":
        return Claim(stated.holder, "" if stated.holder == SPEAKER else stated.holder, attribute, value,
                     True, True)
    if attribute == "relationship":
        value = f"{stated.base} {value}"
    return Claim(stated.holder, stated.noun if attribute == "name" else stated.holder, attribute, value,
                 True, True)


def _located(stated: Wording) -> Claim | None:
    """Where a thing is, at which port it listens; what somebody does on a day is a routine."""
    being = stated.base == "be"
    if DATE.search(stated.wording):
        return (timed(stated.about, stated.wording) or NOTHING) if being and not stated.person else \
            stated.has(f"{stated.base} when", value_of(stated.wording))
    if being and stated.person:
        return _member(stated)
    if stated.key == "listen on" or re.match(r"(?:port )?\d+\b", stated.wording):
        number = re.search(r"\d+", stated.wording)
        subject = "" if stated.holder == SPEAKER else stated.holder
        return Claim(stated.holder, subject, "port", number[0], True, True) if number else NOTHING
    return put_at(stated.holder, stated.noun, stated.wording, versioned=stated.key.endswith(" on"))


def _member(stated: Wording) -> Claim | None:
    """ "Ida is in first grade", "I'm in the chess club"."""
    grade = re.match(r"(?:the )?(?:(?P<which>\w+) (?:grade|class|year|form)|(?:grade|class|year|form) "
        r"(?P<no>\w+))\b",
                     stated.wording)
    if grade:
        return stated.has("grade", value_of(grade["which"] or grade["no"]))
    value = value_of(stated.main)
    return stated.has("be", value, single=False) if value and stated.key == "be in" else NOTHING


def _counting(stated: Wording) -> Claim | None:
    lasting = _LASTING.match(stated.wording)
    if lasting and stated.key == stated.base:
        noun = whole_noun(split_noun(lasting["np"]))
        return Claim(stated.holder, noun, f"{stated.base} for", value_of(lasting["long"]), True, True)
    counted = COUNTED.match(stated.wording) if stated.base == "have" or stated.time == "now" else None
    if counted is None or not is_number(counted["number"]) or (stated.person and counted["number"] == "one"):
        return None
    amount = f"{digits_of(counted['number'])} {stem(counted['unit'])}"
    rest = stated.wording[counted.end():] if stated.base != "have" else ""
    of = re.match(r" (?:of )?(?P<np>[a-z][\w-]*)", rest)
    what = f" {value_of(of['np'])}" if of and of["np"] not in STOP | TRAILING else ""
    return stated.has(f"{stated.base}:{stem(counted['unit'])}{what}".rstrip(), f"{amount}{what}".rstrip())


def _placing(stated: Wording) -> Claim | None:
    """ "We host the site on Heroku", "we test the app with pytest"."""
    here = stated.key == stated.base and stated.person and (stated.base in TABLE.places
                                                      or _DEFINITE.match(stated.wording))
    placed = _PLACED.match(stated.wording) if here else None
    if placed is None or DATE.search(placed["value"]):
        return None
    if not (is_exact(placed["value"]) or TABLE.things.kind_of(plain_words(main_part(placed["value"])))):
        return None
    put = put_at(stated.holder, whole_noun(split_noun(placed["np"])), placed["value"])
    return put._replace(attribute="with") if placed["prep"] in ("with", "by", "through", "via") else put


def _passive(stated: Wording) -> Claim | None:
    """ "The timeout is given in seconds": a thing has it one way at a time."""
    last = stated.key.split()[-1]
    if stated.person or " " not in stated.key or not (
            (stated.verb.passive and last in _PREPOSITIONS) or DATE.search(stated.wording)
        or has_digit(stated.main)):
        return None
    value = stated.main if stated.verb.passive else stated.wording
    return Claim(stated.holder, stated.noun, stated.key, value_of(value), True, True)


def _doing(stated: Wording) -> Claim | None:
    """Any other verb: many values beside each other; on a day of the week it is a routine."""
    if DATE.search(stated.wording) and (stated.key.endswith((" on", " at", " every"))
                                      or re.search(r"\b(?:on|every) \w+days?\b", stated.wording)):
        return stated.has(f"{stated.base} when", value_of(stated.wording))
    alone = " and " not in stated.wording and stated.key.endswith((" on", " with", " via"))
    if alone and stated.person and stated.kind in TABLE.things.exclusive:
        return stated.has(f"use:{stated.kind}", value_of(stated.main))  # "we chat on Signal"
    attribute = stated.key if stated.base == "be" else stated.base
    return stated.has(attribute, value_of(without_reason(stated.wording)), single=False)


_STATES: tuple[Reader, ...] = (_being, _owning, _liking, teamed, _using, _tabled, _counting, _placing,
                               _passive, _doing)
