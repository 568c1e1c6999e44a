"""What a statement claims: subject, relation, object and sentence in, claims out.

A state in the present, a change that gives something a new value (both in `states.py`), an ending, a denial,
a plan, a deed that ends a plan, a word taken back, a value said alone in answer. An event beside others
claims nothing. The tables are those of `attributes.py`; for a language without tables nothing is claimed,
and so nothing is closed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from otolith.model.attributes import ENGLISH as TABLE
from otolith.model.attributes import SPEAKER, lemma
from otolith.model.changes import Wording, choose, read_change
from otolith.model.claims import ANY, ASKED, DONE, GONE, LEFT, NEWS, OFF, PLAN, RETRACT, RULE, Claim
from otolith.model.relations import (
    ROLE,
    TRAILING,
    environment_of,
    holder_of,
    is_exact,
    is_person,
    main_part,
    part_with,
    read_verb,
    value_of,
    without_reason,
)
from otolith.model.retold import TELLS, news_of
from otolith.model.states import read_state
from otolith.model.words import stem

_FAVOUR = re.compile(r"^(?P<old>(?!support\b|the idea|plans?\b).+?) (?:in favou?r of|for"
                     r"|and (?:went|go|gone) with) (?P<new>.+)$")
_FROM_TO = re.compile(r"^(?P<old>.+?) (?:over )?to (?P<new>.+)$")
_FROM = re.compile(r"\bfrom (?P<old>.+?) (?:over )?to (?P<new>.+)$")
_WITH = re.compile(r"^(?P<old>.+?) (?:with|by|for) (?P<new>.+)$")
_ONCE_ONLY = re.compile(r"\b(?:today|tomorrow|tonight|yesterday|this (?:week|morning|evening|afternoon|time"
                        r"|sprint))['’]s?\b|\bthis (?:week|time|sprint|once)\b")
_INSTEAD = re.compile(r"\b(?:instead|from now on|no longer|now|moved|changed|rather than|not on)\b", re.I)
_NOW = re.compile(r"\b(?:now|from now on|as of|these days|since|nowadays|meanwhile|went up|went down)\b",
                  re.I)
_CORRECTS = re.compile(
    r"^\W*(?:no|nope|wrong|sorry|oops|correction|actually|not \w+|i (?:was wrong|misspoke|meant)"
    r"|my (?:mistake|bad)|scratch that|wait|hm+|argh|update|it turns out|turns out)\b|\b(?:i meant"
    r"|make (?:that|it)|should (?:be|have been)|correction|i was wrong|i misspoke|my mistake|typo"
    r"|chang\w+ (?:my|our) minds?|second thoughts?|instead|after all|decided against|mixed|misread"
        r"|handed|took over|taken over|cancell?ed|postponed)\b", re.I)
_PLURAL = frozenset("live go are run land sit need use have come work".split())
_PARTING = ("say goodbye to", "put down", "bury")
_EVEN_NOW = ("be do with", "do with", "decide against")  # endings that are said in the present


@lru_cache(maxsize=4096)  # asked when a fact is drawn and again when it is indexed
def read_claims(subject: str, relation: str, wording: str, sentence: str = "") -> tuple[Claim, ...]:
    """What a statement claims; nothing, if it is an event beside others."""
    if relation == TELLS:
        return tuple(claim._replace(corrects=True) for claim in _news(sentence))
    verb, holder = read_verb(relation), holder_of(subject)
    if relation == "no longer" and wording:  # without an object: "we do not squash any more"
        first = wording.split()[0].casefold()
        return (Claim(holder, holder, ANY, " ".join(sorted({stem(first), stem(lemma(first))})), False,
                      False), Claim(holder, holder, lemma(first), "", False, False))
    if verb.key.startswith(ROLE):
        subject, verb = f"{subject}'s {verb.key.removeprefix(ROLE)}", verb._replace(key="be")
        holder = holder_of(subject)
    if wording.startswith("be called ") and verb.key in ("prefer", "want", "like", "prefer to", "want to"):
        verb, wording = verb._replace(key="call"), wording.removeprefix("be called ")
    if verb.denied and wording.startswith("to ") and verb.key in ("want", "plan", "need", "have", "hope"):
        # "no longer wants" – "to become a pilot"
        planned, _, wording = wording.removeprefix("to ").partition(" ")
        verb = verb._replace(key=planned, time="future")
    chosen, rejected = _rejected(verb.key, wording)
    # "Backups live in"
    several = relation.split(" ")[0] in _PLURAL and subject != SPEAKER and " and " not in subject
    stated = Wording(subject, holder, is_person(subject) and not several, verb, chosen,
                     part_with(sentence, chosen))
    claims = list(_read(stated))
    claims += _renamed(verb.key, chosen, holder)
    claims += _news(sentence)
    claims += [Claim(holder, holder, ANY, former, False, False)
               for former in (rejected, _replaced(verb.key, chosen)) if former]
    return tuple(_placed(claim, stated, sentence) for claim in claims)


def _renamed(key: str, wording: str, holder: str) -> list[Claim]:
    """The name that something has no longer."""
    renamed = _FROM_TO.match(wording) if key == "rename" else None
    if not key.startswith("rename") or (holder == SPEAKER and not renamed):
        return []
    return [Claim(SPEAKER, "", "name", value_of(renamed["old"]) if renamed else holder, False, False)]


def _news(sentence: str) -> list[Claim]:
    """What a sentence that sounds like news may give another value."""
    news = news_of(sentence)
    return [Claim(SPEAKER, news.values, NEWS, news.words, False, False)] if news else []


def _placed(claim: Claim, stated: Wording, sentence: str) -> Claim:
    """A claim with what its sentence says besides: where it holds, and that it changes something."""
    subject = re.escape(stated.subject.casefold())
    place = re.search(rf"\b(?:in|for|on|at) ((?:the|our|my) (?!record|moment|end\b|way|first|meantime|time)"
                      rf"[\w -]{{2,30}}?),? {subject}\b",
                      sentence.casefold())
    changes = stated.key in TABLE.changes or stated.key in TABLE.turns
    return claim._replace(
        corrects=claim.corrects or changes or bool(_CORRECTS.search(sentence) or _NOW.search(sentence[:200])),
        environment=claim.environment or (value_of(place[1]) if place else "") or _stage(claim, stated),
        thing=not stated.person and claim.holder != SPEAKER)


def _stage(claim: Claim, stated: Wording) -> str:
    """Staging or production, where an ending names it."""
    named = "" if claim.holds else environment_of(stated.subject, stated.wording)
    return named if named in ("staging", "production") else ""


def _rejected(key: str, wording: str) -> tuple[str, str]:
    """(what is chosen, what is turned down) of "B instead of A"."""
    match = TABLE.rejects.search(wording)
    if match is None or not wording[: match.start()].strip():
        return wording, ""
    mark = match.group().strip(" ,").casefold()
    if "favo" in mark or (mark == "over" and key not in TABLE.uses):
        return wording, ""
    return wording[: match.start()].strip(" ,"), value_of(wording[match.end():])


def _replaced(key: str, wording: str) -> str:
    """The former value that a statement names: "switched from A to B", "replaced A with B"; "" if none."""
    split = _FROM_TO.match(wording) if key.endswith(" from") else None
    if key in TABLE.turns:
        split = _FROM.search(wording)
    if key in TABLE.swaps:
        split = _WITH.match(wording)
    return value_of(split["old"]) if split else ""


def _read(stated: Wording) -> Iterator[Claim]:
    if stated.key in (ASKED, RETRACT, RULE, OFF):
        yield from _spoken(stated)
        return
    if stated.base == "plan" and stated.person and stated.time == "now" and stated.wording:
        yield Claim(stated.holder, "plan", PLAN, value_of(stated.wording), not stated.verb.denied, False)
        return
    if stated.time == "future":
        rest = f"{stated.key.partition(' ')[2]} {stated.wording}"
        yield Claim(stated.holder, lemma(stated.base), PLAN, value_of(rest), not stated.verb.denied, False)
        return
    if stated.verb.denied and stated.time == "past":
        return
    if stated.time == "past" and (value := value_of(stated.wording)):
        yield Claim(stated.holder, stated.holder, f"did {stated.base}", value, False, False)
    if not stated.verb.denied:
        yield from _finished(stated)
        yield from _ended(stated)
    stays = stated.key.endswith("do with") and not stated.person
    if (stated.key not in TABLE.ends or stays) and (stated.wording or stated.key not in TABLE.gone):
        yield from _held(stated)


def _spoken(stated: Wording) -> Iterator[Claim]:
    """A value said alone, a word taken back, a standing order."""
    if stated.key == RULE:
        first = stated.wording.split()[0].casefold() if stated.wording else ""
        yield Claim(stated.holder, stated.holder, lemma(first), value_of(stated.wording.partition(" ")[2]),
                    not stated.verb.denied, False)
    elif stated.key == OFF and (value := value_of(stated.subject)):
        yield Claim(SPEAKER, "", OFF, value, False, False)
    elif stated.key == ASKED and (value := value_of(stated.wording)):
        yield Claim(stated.holder, "", ASKED, value, True, True, corrects=True)
    elif stated.key == RETRACT and (value := value_of(without_reason(stated.wording or stated.subject))):
        yield Claim(SPEAKER, "", RETRACT, value, False, False)


def _finished(stated: Wording) -> Iterator[Claim]:
    """ "We bought the pump", "the pump is in": what was planned about it is no plan any more."""
    if stated.time in ("past", "perfect") and stated.base in TABLE.completes and stated.wording:
        about = value_of(without_reason(stated.wording))
        yield Claim(stated.holder, stated.holder, DONE, about, False, False)
    elif not stated.person and not stated.wording and stated.key.split(" ")[-1] in TABLE.completed:
        yield Claim(SPEAKER, "", DONE, stated.holder, False, False)


def _held(stated: Wording) -> Iterator[Claim]:
    """What is said to hold, or not to hold any more."""
    over = stated.verb.denied or stated.time == "once"
    reading = read_change(stated)
    if reading is None and (stated.time in ("now", "perfect", "once") or (stated.key == "be" and over)):
        reading = read_state(stated)
    if reading is None:
        return
    if over:
        reading = reading._replace(holds=not reading.holds, single=reading.single and not reading.value)
    else:
        # a second day of a routine
        beside = reading.attribute.endswith(" when") and not _INSTEAD.search(stated.near)
        passing = stated.time == "now" and not reading.attribute.endswith(" for") and TABLE.passing.search(
            stated.near)
        reading = reading._replace(weak=bool(beside or passing or TABLE.grows.search(stated.near)))
    kind = reading.attribute.split(":")[0]
    yield reading._replace(environment=reading.environment or environment_of(stated.subject, stated.wording),
                           personal=stated.person and kind in TABLE.personal)


# Endings

def _ended(stated: Wording) -> Iterator[Claim]:
    """What a statement says is over."""
    key, holder = stated.key, stated.holder
    if key in ("cancel", "close", "drop", "leave") and _ONCE_ONLY.search(f"{stated.wording} {stated.near}"):
        return
    yield from _life(stated)
    if not stated.person and (key not in TABLE.gone or TABLE.passing.search(stated.near)) and (
            key in TABLE.gone or key == "be" or key.endswith("do with")):
        yield from _vanished(stated)
        return
    if stated.time == "now" and key not in _EVEN_NOW and (key not in TABLE.gone or stated.wording):
        return
    if key in TABLE.ends and stated.wording:
        yield from _given_up(stated)
    elif holder != SPEAKER and (key in ("die", "pass away") or (key in TABLE.gone and not stated.person)):
        yield Claim(holder if stated.person else SPEAKER, "", GONE, holder, False, False)
        if stated.person:
            yield Claim(SPEAKER, "", ANY, holder, False, False)


def _vanished(stated: Wording) -> Iterator[Claim]:
    """ "Borg is gone"; not "is gone for the weekend", not "formatting is done with black"."""
    over = stated.key == "be" and _is_gone(stated.wording.casefold())
    if over and not TABLE.passing.search(stated.near):
        yield Claim(SPEAKER, "", GONE, stated.holder, False, False)


def _is_gone(wording: str) -> bool:
    first, _, rest = wording.partition(" ")
    return wording in TABLE.vanished or f"{lemma(first)} {rest}".strip() in TABLE.gone


def _life(stated: Wording) -> Iterator[Claim]:
    """What a turn in somebody's life ends by itself: who graduated is no student."""
    whole = f"{stated.key} {stated.wording}".strip()
    two = " ".join(whole.split()[:2])
    for ended in TABLE.lives.get(stated.key) or TABLE.lives.get(whole) or TABLE.lives.get(two) or ():
        if ended.startswith("="):
            yield Claim(stated.holder, stated.holder, ANY, ended[1:], False, False)
        elif not stated.wording or stated.key not in TABLE.ends or two in TABLE.lives:
            yield Claim(stated.holder, stated.holder, ended, "", False, True,
                        personal=ended in TABLE.personal)


def _given_up(stated: Wording) -> Iterator[Claim]:
    """ "Quit smoking", "left Acme", "dropped Redis in favour of NATS"."""
    holder, wording = stated.holder, stated.wording
    gerund = re.match(r"(\w+ing)\b(?: (.+))?$", wording)
    if gerund and stated.key in ("quit", "stop", "give up"):
        rest = gerund[2] or ""
        what = "" if rest.split(" ")[0] in TRAILING else rest
        yield Claim(holder, holder, lemma(gerund[1]), value_of(without_reason(what)), False, False)
        return
    favour = _FAVOUR.match(wording) if stated.key in ("drop", "ditch", "abandon", "leave", "scrap",
                                                    "kill") else None
    if stated.key in _PARTING and is_exact(wording):
        yield Claim(value_of(main_part(wording)), "", GONE, value_of(main_part(wording)), False, False)
    old = favour["old"] if favour else re.sub(r"\b(?:support for|our plan to|the plan to|the idea of)\b", "",
                                              wording)
    yield Claim(holder, holder, LEFT if stated.key == "leave" else ANY, value_of(without_reason(old)), False,
                False)
    if favour and is_exact(favour["new"]):
        yield choose(holder, favour["new"])
