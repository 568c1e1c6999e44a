"""What a statement claims about what holds, and which newer claim closes an older one.

A claim is holder, subject, attribute, value, whether it is said to hold or to have ended, and the environment it speaks of.
`read_claims` takes a statement (subject, relation, object, sentence) apart by the tables of a language; `verdict` compares two
claims, the newer first; `settle` finds for each claim of a cell the first later one that closes it. Only claims that share a cell
are compared, so a claim costs what is said of its subject and no more. Order is strict: nothing can close itself or run in a
circle. What is unsure closes nothing and is contested. Pure: knows no record, no file and no index.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from otolith.model.attributes import ENGLISH, NUMBERS, Attributes, is_participle, lemma
from otolith.model.words import STOP, stem

ANY = "*"  # the attribute of an ending: whatever its object names
RETRACT = "!"  # the attribute of a word taken back
RULE = "rule"
GONE = "+"  # the attribute of a thing or somebody that is no more
LEFT = "~leave"  # leaving ends a job or a place on a team, not a home
ASKED = "?"  # the attribute of a value said alone: whatever was spoken of last
PLAN = "plan"
MOST_CELLS = 6  # by words of the value
_SPEAKER = "user"
_WORD = re.compile(r"#?\w[\w.+#/@:'’-]*[\w+#]|#?\w")
_CUT = re.compile(r",|\s+(?:for|in|at|on|as|since|because|with|near|from|until|after|before|last|this|next|over|by|to|so|and|but|now|"
                  r"through|via|during|around|within|under|when|while|where|which|who|that|instead|again|every|each|per|of)\b", re.I)
_QUALIFIED = re.compile(r"\s+(?:for|in|on|at|as|by|from|inside|within)\s+(?P<np>[^,;]+)", re.I)
_ARTICLES = frozenset("a an the".split())
_DETERMINERS = _ARTICLES | frozenset("our my this that their its new current old whose your".split())
_DATE = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\b|\b\d{4}-\d\d"
                   r"|\btomorrow\b|\bq[1-4]\b|\b\d{1,2}[:.]\d\d\b|\b\d{1,2} ?(?:am|pm)\b|\b\d{1,2}(?:st|nd|rd|th)\b|\b(?:next|this) (?:week|month|year|quarter|spring"
                   r"|summer|autumn|fall|winter)\b|\bnoon\b|\bmidnight\b", re.I)
_VERSION = re.compile(r"^(?:the )?(?P<name>[A-Za-z][\w.+#-]*?)\s*(?:version )?v?(?P<number>\d+(?:\.\d+)*)$")
_OF = re.compile(r"^(?P<head>.+?) (?:of|for|on|in) (?P<np>.+)$")
_TO = re.compile(r"^(?P<np>.+?) (?:to|until|for|into|over to) (?P<value>.+)$")
_FROM_TO = re.compile(r"^(?P<old>.+?) (?:over )?to (?P<new>.+)$")
_WITH = re.compile(r"^(?P<old>.+?) (?:with|by|for) (?P<new>.+)$")
_FAVOUR = re.compile(r"^(?P<old>(?!support\b|the idea|plans?\b).+?) (?:in favou?r of|for|and (?:went|go|gone) with) (?P<new>.+)$")
_DEFINITE = re.compile(r"(?:the|our|all|my) ", re.I)
_PLACED = re.compile(r"^(?P<np>.+?) (?P<prep>on|in|to|with|at|through|via|from|by) (?P<value>.+)$")


class Claim(NamedTuple):
    """One thing that a statement claims."""

    holder: str  # whose it is: a person, a thing, or the speaker
    subject: str  # what has the attribute; "" where only the attribute is named
    attribute: str
    value: str  # its content words as they are compared, in their order
    holds: bool
    single: bool  # one value at a time
    environment: str = ""
    personal: bool = False  # of the user's own person, the same in every project
    weak: bool = False  # a list grows, or it holds for a while only: it closes nothing
    corrects: bool = False  # said as a correction or a change
    thing: bool = False  # the holder is a thing, so that what the speaker ends may be its

    @property
    def words(self) -> frozenset[str]:
        return frozenset(self.value.split())

    @property
    def is_deed(self) -> bool:
        """Whether it only says that something was done."""
        return self.attribute.startswith("did ")

    def id_in(self, scope: str) -> str:
        """The claim's name in curation.jsonl."""
        parts = "\0".join((scope, self.subject or self.holder, self.attribute, self.value))
        return "claim_" + sha256(parts.encode()).hexdigest()[:16]

    def cells(self, scope: str) -> Iterator[str]:
        """Where it meets the claims that it may close or be closed by."""
        if self.is_deed:
            yield f"{scope}|{self.holder}|plan {self.attribute.removeprefix('did ')}"
            return
        if self.attribute == PLAN:
            yield f"{scope}|{self.holder}|plan {self.subject}"
        elif self.single and self.attribute not in (ANY, ASKED):
            yield f"{scope}|{self.subject}|{self.attribute}"
            if self.attribute in ENGLISH.heads:
                yield f"{scope}||{self.attribute}"
            if self.thing and " " in self.subject:
                yield from (f"{scope}|{word}|{self.attribute}" for word in self.subject.split()[:3])
        if not self.single and self.attribute not in (ANY, RETRACT, LEFT, GONE):
            yield f"{scope}|{self.holder}|{self.attribute}"
        for word in list(dict.fromkeys(self.value.split()))[:MOST_CELLS]:
            yield f"{scope}|={word}"
        if self.holder != _SPEAKER:
            for word in self.holder.split()[:2]:
                yield f"{scope}|={word}"


class _Verb(NamedTuple):
    key: str  # base and preposition: live in
    denied: bool
    time: str  # now, past, perfect, future, once
    passive: bool = False


# Reading

def read_claims(subject: str, relation: str, wording: str, sentence: str = "", *, table: Attributes = ENGLISH) -> tuple[Claim, ...]:
    """What a statement claims; nothing, if it is an event beside others."""
    if relation == "no longer" and wording:  # without an object: "we do not squash any more"
        first = wording.split()[0].casefold()
        return (Claim(_holder(subject, table), _holder(subject, table), ANY, " ".join({stem(first), stem(lemma(first))}), False, False),)
    verb = read_verb(relation)
    wording, rejected = _rejected(verb, wording, table)
    claims = [claim for claim in _read(subject, verb, wording, sentence, table) if claim.value or not claim.holds or claim.attribute != ANY]
    corrects = bool(_CORRECTS.search(sentence)) or verb.key in table.changes or verb.key in table.turns or bool(_NOW.search(sentence[:200]))
    holder, thing = _holder(subject, table), not _is_person(subject, table)
    if verb.key.startswith("rename") and holder != _SPEAKER:
        claims.append(Claim(_SPEAKER, "", "name", holder, False, False))
    if place := re.search(rf"\b(?:in|for|on|at) ((?:the|our|my) [\w -]{{2,30}}?),? {re.escape(subject.casefold())}\b", sentence.casefold()):
        claims = [claim._replace(environment=claim.environment or _value(place[1], table)) for claim in claims]
    for former in (rejected, replaced(relation, wording, table)):
        if former:
            claims.append(Claim(holder, holder, ANY, former, False, False))
    return tuple(claim._replace(corrects=corrects, thing=thing and claim.holder != _SPEAKER) if corrects or thing else claim
                 for claim in claims)


_INSTEAD = re.compile(r"\b(?:instead|from now on|no longer|now|moved|changed|rather than|not on)\b", re.I)
_NOW = re.compile(r"\b(?:now|from now on|as of|these days|since|nowadays|meanwhile|went up|went down)\b", re.I)
_CORRECTS = re.compile(r"^\W*(?:no|nope|wrong|sorry|oops|correction|actually|not \w+|i (?:was wrong|misspoke|meant)|my (?:mistake|bad)|scratch that|wait|hm+|argh|update"
                       r"|it turns out|turns out)\b|\b(?:i meant|make (?:that|it)|should (?:be|have been)|correction|i was wrong|i misspoke|my mistake|typo)\b", re.I)


def _rejected(verb: _Verb, wording: str, table: Attributes) -> tuple[str, str]:
    """(what is chosen, what is turned down) of "B instead of A", "A in favour of B"."""
    match = table.rejects.search(wording)
    if match is None or not wording[: match.start()].strip():
        return wording, ""
    mark = match.group().strip(" ,").casefold()
    if mark == "over" and verb.key not in table.uses:
        return wording, ""
    if "favo" in mark:
        return wording, ""
    return wording[: match.start()].strip(" ,"), _value(wording[match.end():], table)


@lru_cache(maxsize=4096)
def read_verb(relation: str) -> _Verb:
    """A relation's verb with its preposition, whether it is denied, and of which time it is."""
    low = relation.casefold().replace("_", " ").split()
    denied = "not" in low or "never" in low or ("no" in low and "longer" in low)
    time = "now"
    if low[:2] == ["used", "to"]:
        low, time = low[2:], "once"
    elif low[:2] in (["agreed", "to"], ["decided", "to"]) and len(low) > 2:
        low = low[2:]
    elif plan := ENGLISH.plans.match(" ".join(word for word in low if word != "not")):
        low, time = [plan["verb"], *" ".join(low).partition(plan["verb"])[2].split()], "future"
    elif low[:1] and low[0] in ("has", "have", "had") and len(low) > 1:
        time = "past" if low[0] == "had" else "perfect"
    elif {"was", "were", "did"} & set(low[:3]):
        time = "past"
    if low[:1] == ["asks"]:
        return _order(low, denied)
    if low == ["corrects", "to"]:
        return _Verb(ASKED, False, "now")
    if low in (["says", "to", "forget"], ["takes", "back"], ["is", "off"]):
        return _Verb(RETRACT, False, "now")
    helpers = [word for word in low if word in _BEING]
    rest = [word for word in low if word not in _SKIPPED]
    if not rest:
        return _Verb("have" if low and lemma(low[-1]) == "have" else "be", denied, time)
    head = rest[0]
    if head in _STOPPING and len(rest) > 1 and rest[1].endswith("ing"):
        return _Verb(" ".join((lemma(rest[1]), *rest[2:])), not denied, time if time != "now" else "perfect")
    if helpers and not is_participle(head):
        return _Verb(" ".join(("be", *rest)), denied, time)
    if time == "now" and not helpers and _is_past(head):
        time = "past"
    return _Verb(" ".join((lemma(head), *rest[1:])), denied, time, bool(helpers) and not head.endswith("ing"))


def _order(low: list[str], denied: bool) -> _Verb:
    """ "Asks to use", "asks not to add", "asks for", "asks to always", "asks to never"."""
    rest = [word for word in low[1:] if word not in ("to", "not", "always", "never")]
    if rest in (["for"], ["for", "it"]):
        return _Verb("prefer", denied, "now")
    return _Verb(" ".join((lemma(rest[0]), *rest[1:])) if rest else RULE, denied, "now")


_BEING = frozenset("is are am was were been being be".split())
_SKIPPED = _BEING | frozenset("""has have had does do did will would shall can could may might must should not never no longer also just now already
    still only really always currently finally recently since usually fully officially then actually both all ever even since""".split())
_STOPPING = frozenset("stopped stop quit stops quits stopping gave".split())
_PAST = frozenset("""left quit sold took got gave went became ran wrote chose built bought made kept held led broke lost ate drank drove spoke
    brought wore rode sang swam taught began sent sat paid met rewrote rebuilt grew rose fell thought said told spent fed woke slept saw came had
    knew stuck withdrew threw found""".split())


def _is_past(word: str) -> bool:
    return word in _PAST or (word.endswith("ed") and word not in ("need", "feed", "speed", "embed", "breed"))


def _words(text: str, table: Attributes) -> list[str]:
    """The content words of a text, as they are compared."""
    tokens = (token.casefold().replace("’", "'").removesuffix("'s").strip(".:'-/") for token in _WORD.findall(text))
    given = [token for token in tokens if token]
    kept = [token for token in given if (token not in STOP or token == "may") and token not in table.generic]
    return [NUMBERS.get(token) or stem(token) for token in kept if token != "may" or "May" in text]


def _value(text: str, table: Attributes) -> str:
    return " ".join(dict.fromkeys(_words(text, table) or [
        token.casefold() for token in _WORD.findall(text) if token.casefold() not in STOP and token.casefold() not in _HOLLOW]))


_HOLLOW = frozenset("anything something nothing everything bit thing stuff one support job trip rule".split())


def _main(text: str) -> str:
    """An object without what only places it: Bruges in April → Bruges."""
    bare = re.sub(r"^(?:the|a|an|our|my|their|its)\s+", "", text.strip(), flags=re.I)
    cut = _CUT.search(bare)
    return bare[: cut.start()] if cut and cut.start() else bare


def _qualifier(text: str, table: Attributes) -> str:
    """What an object is for: MySQL for the shop → shop."""
    match = _QUALIFIED.search(text)
    if match is None or _DATE.search(match["np"]):
        return ""
    kept = [word for word in _words(match["np"], table) if word not in table.own_things and word not in _EMPTY]
    return " ".join(sorted(set(kept)))


_EMPTY = frozenset(stem(word) for word in "everything here now work works anything all project repo good time years months weeks days moment".split())


def _environment(*texts: str, table: Attributes) -> str:
    return next((table.environments[word] for text in texts for word in re.findall(r"[a-z]+", text.casefold()) if word in table.environments), "")


@lru_cache(maxsize=4096)
def _holder(subject: str, table: Attributes) -> str:
    """Whose claim it is; the speaker's own undertaking is the speaker."""
    named = re.match(r"\S+['’]s (?:[a-z]+ )+(?P<name>[A-Z][\w-]+)$", subject)
    low = " ".join((named["name"] if named else subject).casefold().replace("’", "'").split())
    low = re.sub(r"^user's ", "", low) if not low.split("'s ")[-1] in table.kin else low
    bare = [word for word in re.findall(r"[\w'.#@+/-]+", low) if word not in _ARTICLES]
    if not bare or all(word in table.own_things or word in table.generic or word == _SPEAKER for word in bare):
        return _SPEAKER
    return " ".join(sorted({stem(word) for word in bare if word not in table.generic and word not in table.environments})) or _SPEAKER


class _Noun(NamedTuple):
    subject: str
    attribute: str


@lru_cache(maxsize=4096)
def _split(noun: str, table: Attributes) -> _Noun:
    """A noun phrase as what has an attribute, and the attribute: "the API port", "deadline of the thesis"."""
    low = re.sub(r"^user's ", "", " ".join(noun.casefold().replace("’", "'").split()))
    of = _OF.match(low)
    if of and (head := re.findall(r"[\w-]+", of["head"])) and (head[-1] in table.heads or head[-1] in table.roles):
        before = [word for word in head[:-1] if word not in _ARTICLES and word not in table.generic]
        return _Noun(" ".join(sorted({*before, *_key(of["np"], table)})), head[-1])
    words = [word for word in re.findall(r"[\w'.#@+/-]+", low) if word not in _ARTICLES]
    for last in (words[-1], words[-1].rstrip("s")) if words else ():
        if last in table.heads or last in table.roles:
            before = [word.removesuffix("'s") for word in words[:-1] if word not in _DETERMINERS]
            return _Noun(" ".join(sorted(_key(" ".join(before), table) or {stem(word) for word in before
                                                                            if word not in table.environments})), last)
    return _Noun(" ".join(sorted(_key(low, table))) or _SPEAKER, "")


def _key(noun: str, table: Attributes) -> set[str]:
    words = re.findall(r"[\w.#@+/-]+", noun.casefold())
    return {stem(word) for word in words if word not in STOP and word not in table.generic and word not in table.environments}


def _is_person(subject: str, table: Attributes) -> bool:
    """Whether a statement is about somebody; the speaker is somebody."""
    low = subject.casefold()
    if low == _SPEAKER or low.split("'s ")[-1] in table.kin:
        return True
    words = subject.split()
    return len(words) <= 2 and all(word[:1].isupper() and word.isalpha() and not word.isupper() for word in words) \
        and words[0].casefold() not in _ARTICLES and not table.things.kind_of([low])


def _named(text: str) -> bool:
    """Whether a value is exact: a name, a number, code."""
    first = text.strip().removeprefix("the ").removeprefix("a ").removeprefix("an ")
    return bool(first) and (first[0].isupper() or first[0] in "`#@/$€£'\"" or any(map(str.isdigit, first.split()[0]))
                            or bool(re.search(r"\w[-_.]\w", first.split()[0])))


def _read(subject: str, verb: _Verb, wording: str, sentence: str, table: Attributes) -> Iterator[Claim]:
    person, holder = _is_person(subject, table), _holder(subject, table)
    key, time = verb.key, verb.time
    near = _near(sentence, wording)
    if key in (ASKED, RETRACT):
        text = wording if wording else subject
        value = _value(_main_all(text) if key == RETRACT else wording, table)
        if value:
            yield Claim(_SPEAKER if key == RETRACT else holder, "", key, value, key == ASKED, key == ASKED, corrects=key == ASKED)
        return
    if key == RULE:
        first = wording.split()[0].casefold() if wording else ""
        yield Claim(holder, holder, lemma(first), _value(wording.partition(" ")[2], table), not verb.denied, False)
        return
    if time == "future" and key.split()[0] == "be" and not person:
        time = "now"
    if time == "future":
        if not verb.denied:
            yield Claim(holder, lemma(key.split()[0]), PLAN, _value(f"{key.partition(' ')[2]} {wording}", table), True, False)
        return
    over = verb.denied or time == "once"
    if time == "past" and not verb.denied and not over:
        yield from _done(holder, key, wording, table)
    if verb.denied and time == "past":
        return
    yield from _ended(subject, holder, person, verb, wording, near, table)
    if key in table.ends or (key in table.gone and not wording):
        return
    reading = _changed(subject, holder, person, verb, wording, table) or (
        _stated(subject, holder, person, key, wording, verb.passive, table) if time in ("now", "perfect", "once") or key in _BE_KEYS and over else None)
    if reading is None:
        return
    environment = reading.environment or _environment(subject, wording, table=table)
    passing = time == "now" and bool(table.passing.search(near)) and not over
    weak = passing or bool(table.grows.search(near)) and not over or (
        reading.attribute.endswith(" when") and not over and not _INSTEAD.search(near))  # a second day may come beside the first
    personal = person and (reading.attribute in table.personal or reading.attribute.split(":")[0] in table.personal)
    if over:
        reading = reading._replace(holds=not reading.holds, single=reading.single and not reading.value)
    yield reading._replace(environment=environment, weak=weak, personal=personal)


_BE_KEYS = frozenset(("be",))


def _near(sentence: str, wording: str) -> str:
    """The part of a sentence in which the words stand, with what belongs to them."""
    if len(sentence) <= 90:
        return sentence
    first = " ".join(wording.split()[:2])
    at = sentence.find(first) if first else -1
    if at < 0:
        return wording
    start = max(sentence.rfind(mark, 0, at) for mark in (",", ";", ":", "(", " but ", " so "))
    ends = [end for mark in (",", ";", " but ", " because ") if (end := sentence.find(mark, at + len(first))) > 0]
    return sentence[max(0, start): min(ends, default=len(sentence))]


def _done(holder: str, key: str, wording: str, table: Attributes) -> Iterator[Claim]:
    """What was done ends the plan to do it."""
    value = _value(wording, table)
    if value:
        yield Claim(holder, holder, f"did {key.split()[0]}", value, False, False)


def _ended(subject: str, holder: str, person: bool, verb: _Verb, wording: str, near: str, table: Attributes) -> Iterator[Claim]:
    """What a statement says is over."""
    key, time = verb.key, verb.time
    if verb.denied:
        return
    if re.search(r"\b(?:today|tomorrow|tonight|yesterday|this (?:week|morning|evening|afternoon|time|sprint))['’]s?\b|\bthis (?:week|time|sprint|once)\b", wording + " " + near) and key in ("cancel", "close", "drop", "leave"):
        return
    if key in table.lives or f"{key} {wording}".strip() in table.lives:
        for ended in table.lives.get(key) or table.lives[f"{key} {wording}".strip()]:
            if ended.startswith("="):
                yield Claim(holder, holder, ANY, ended[1:], False, False)
            elif not wording or key not in table.ends:
                yield Claim(holder, holder, ended, "", False, True, personal=ended in table.personal)
    if time == "now" and key not in ("be do with", "do with", "take back", "forget", "disregard", "ignore", "decide against"):
        if key not in table.gone or wording:
            return
    if key in table.ends and wording:
        favour = _FAVOUR.match(wording) if key in ("drop", "ditch", "abandon", "leave", "scrap", "kill") else None
        old = favour["old"] if favour else re.sub(r"\b(?:support for|our plan to|the plan to|the idea of)\b", "", wording)
        gerund = re.match(r"(\w+ing)\b(?: (.+))?$", wording)
        if gerund and key in ("quit", "stop", "give up"):
            rest = gerund[2] or ""
            told = "" if rest.split(" ")[0] in _TRAILING else rest
            yield Claim(holder, holder, lemma(gerund[1]), _value(_main_all(told), table), False, False)
            return
        attribute = LEFT if key == "leave" else ANY
        yield Claim(holder, holder, attribute, _value(_main_all(old), table), False, False)
        if favour and _named(favour["new"]):
            yield _used(holder, favour["new"], table)
    elif key in table.gone and not person or key in ("die", "pass away"):
        if holder != _SPEAKER:
            yield Claim(_SPEAKER if not person else holder, "", GONE, holder, False, False)
            if person:
                yield Claim(_SPEAKER, "", ANY, holder, False, False)


_TRAILING = frozenset("in on at since for last this when after before because and but so yesterday today until from".split())


def _main_all(text: str) -> str:
    """An ended thing without the time and reason of its end."""
    return re.split(r",|\s(?:last|this|yesterday|because|since|after|and|but|so|when|in (?:january|february|march|april|may|june|july|august|september"
                    r"|october|november|december|\d{4})|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|for good|from|with|until)\b", text, flags=re.I)[0]


def _changed(subject: str, holder: str, person: bool, verb: _Verb, wording: str, table: Attributes) -> Claim | None:
    """The new value that a change gives to something."""
    key = verb.key
    base = key.split()[0]
    if key in ("switch from", "move from", "migrate from", "change from", "go from", "upgrade from", "convert from", "jump from", "increase from",
               "rise from", "grow from", "fall from", "drop from"):
        split = _FROM_TO.match(wording)
        return _moved(subject, holder, person, f"{base} to", split["new"], table) if split else None
    if key in ("replace", "swap", "exchange", "trade", "trade in", "substitute", "swap out"):
        split = _WITH.match(wording)
        return _used(holder, split["new"], table) if split else None
    if key in table.turns and (split := _TO.match(wording)):
        return _turned(holder, key, split["np"], split["value"], table)
    if key in table.changes:
        return _moved(subject, holder, person, key, wording, table)
    return None


def replaced(relation: str, wording: str, table: Attributes = ENGLISH) -> str:
    """The value that a statement names as the former one: "switched from A to B", "replaced A with B"; "" if none."""
    key = read_verb(relation).key
    split = _FROM_TO.match(wording) if key.endswith(" from") else _WITH.match(wording) if key in (
        "replace", "swap", "exchange", "trade", "trade in", "swap out") else None
    return _value(split["old"], table) if split else ""


def _turned(holder: str, key: str, noun: str, value: str, table: Attributes) -> Claim | None:
    """ "Raised the limit to 8", "renamed the repo to storefront", "migrated the CI to Actions"."""
    about = _split(re.sub(r"\bfrom .+$", "", noun), table)
    kind = table.turns[key]
    if _DATE.search(value) and kind in ("when", "number", "use"):
        return Claim(about.subject, about.subject, about.attribute if about.attribute in ("deadline", "date", "day") else "when", _value(value, table), True, True) \
            if not about.attribute or about.attribute in ("deadline", "date", "day") else _about(about, value, table)
    if key == "rename":
        return Claim(about.subject, " ".join(filter(None, (about.subject, about.attribute))), "name", _value(value, table), True, True)
    if any(map(str.isdigit, value)) and kind in ("number", "use"):
        return _about(about, value, table)
    if kind == "use" or (kind == "when" and key == "move"):
        subject = " ".join(filter(None, (about.subject if about.subject != _SPEAKER or not about.attribute else "", about.attribute)))
        return _put(holder, subject or holder, value, table)
    return _about(about, value, table) if about.attribute or kind == "number" else None


def _about(about: _Noun, value: str, table: Attributes) -> Claim:
    if not about.attribute:
        counted = re.match(r"(\d[\d.,]*k?|\w+) ([a-z]+)$", value.strip())
        if counted and (counted[1] in NUMBERS or counted[1][0].isdigit()):
            return Claim(about.subject, about.subject, f"have:{stem(counted[2])}", NUMBERS.get(counted[1], counted[1]), True, True)
        if re.match(r"v?\d+(?:\.\d+)*$", value.strip().split(" ")[0]) and " " not in about.subject:
            return Claim(_SPEAKER, _SPEAKER, f"version {about.subject}", value.strip().split(" ")[0].lstrip("v"), True, True)
    return Claim(about.subject or _SPEAKER, about.subject, about.attribute or "be", _value(value, table), True, True)


def _plain(text: str) -> list[str]:
    return [word.strip(".,;:!?'\"`()") for word in text.split()]


def _moved(subject: str, holder: str, person: bool, key: str, wording: str, table: Attributes) -> Claim | None:
    """What "moved to", "switched to", "joined", "went up to" say, by what it is moved to."""
    about, main = _split(subject, table), _main(wording)
    value = _value(main, table)
    things = table.things.kind_of(_plain(main))
    base = key.split()[0]
    if not value:
        return None
    if re.search(r"\bteam\b", wording) and person and base in ("join", "move", "switch", "change", "start"):
        return Claim(holder, holder, "team", _value(re.sub(r"\bteam\b.*", "", wording), table), True, True)
    if not person and _DATE.search(wording) and key in table.postpones:
        attribute = about.attribute if about.attribute in ("deadline", "date", "day") else "when"
        noun = about.subject if attribute != "when" else " ".join(filter(None, (about.subject, about.attribute)))
        return Claim(noun or _SPEAKER, noun, attribute, _value(wording, table), True, True)
    if not person and any(map(str.isdigit, main)) and not things:
        return _about(about, main, table)
    if base in ("join", "start", "hire") and person:
        return Claim(holder, holder, "employer", value, True, True) if _capital(wording) and not things else None
    if base in ("relocate", "settle", "resettle") or (base == "move" and person and not things):
        return Claim(holder, holder, "home", value, True, True) if _capital(wording) and (person or base == "relocate") else None
    if base == "promote" or base == "become":
        return Claim(holder, holder, "role", value, True, True) if person and base == "promote" else None
    if base == "marry":
        return Claim(holder, holder, "relationship", f"marry {value}", True, True) if person and _capital(wording) else None
    if base == "rename":
        return Claim(holder, " ".join(filter(None, (about.subject, about.attribute))), "name", value, True, True)
    if base == "rewrite":
        return Claim(holder, holder, "language", value, True, True)
    if not person and key in ("migrate to", "move to", "port to", "move over to", "switch to", "move into", "transfer to", "move onto"):
        return _put(holder, " ".join(filter(None, about)) if about.subject != _SPEAKER else about.attribute, wording, table)
    return _used(holder, wording, table) if key in table.adopts or key in table.uses else None


def _capital(text: str) -> bool:
    bare = re.sub(r"^(?:the|a|an|our|my)\s+", "", text.strip())
    return bare[:1].isupper() or not bare[:1].isascii()


def _used(holder: str, wording: str, table: Attributes) -> Claim:
    """A tool that was chosen: one at a time of its kind, for its purpose; a version of a thing, one at a time."""
    main, purpose = _main(wording), _qualifier(wording, table)
    purpose = "" if purpose in _TOOLS else purpose  # "Vim as my editor"
    version = _VERSION.match(main.strip())
    subject = f"{holder}/{purpose}" if purpose else holder
    if version:
        return Claim(holder, subject, f"version {stem(version['name'].casefold())}", version["number"], True, True)
    things = table.things.kind_of(_plain(main)) or _preference(wording, table)
    if things:
        return Claim(holder, subject if things != "length" else holder, f"use:{things}", _value(main, table), True, things in table.things.exclusive or bool(purpose))
    return Claim(holder, subject, f"use for {purpose}" if purpose else "use", _value(main, table), True, bool(purpose))


def _stated(subject: str, holder: str, person: bool, key: str, wording: str, is_passive: bool, table: Attributes) -> Claim | None:
    """What a statement in the present says of a subject."""
    base = key.split()[0]
    if key == "be":
        return _is(subject, holder, person, wording, table)
    if key in table.owns and (key != "own" or re.match(r"(?:the|our|my|all|these|those)\b|`|[A-Z]", wording)) and subject != _SPEAKER and person:
        about = _split(_main_all(wording), table)
        thing = " ".join(filter(None, (about.subject if about.subject != _SPEAKER or not about.attribute else "", about.attribute)))
        return Claim(thing or _SPEAKER, thing, "owner", _value(subject, table), True, True)
    if key in table.owned and not person and (_capital(wording) or key == "belong to" and _named(wording)):
        about = _split(subject, table)
        thing = " ".join(filter(None, (about.subject, about.attribute)))
        return Claim(holder, thing, "owner", _value(_main(wording), table), True, True)
    if key in table.likes and table.likes[key] > 0 and (kind := _preference(wording, table)):
        return Claim(holder, holder, f"use:{kind}", _value(wording, table), True, True)
    if key in table.likes:
        return Claim(holder, holder, "like", _value(wording, table), table.likes[key] > 0, False)
    if base.startswith(("favorit", "favourit")):
        return Claim(holder, holder, f"favorite {key.partition(' ')[2]}", _value(wording, table), True, True)
    if key == "be on" and person and re.search(r"\bteam\b", wording):
        return Claim(holder, holder, "team", _value(re.sub(r"\bteam\b.*", "", wording), table), True, True)
    if base == "always" or key in ("asks to always", "always"):
        return Claim(holder, holder, "rule", _value(wording, table), True, False)
    if key in table.uses and not (base in ("run", "work") and not table.things.kind_of(_plain(wording))):
        version = re.match(r"version (\S+)(?: of (.+))?$", wording)
        if version:
            return Claim(holder, holder, f"version {_value(version[2] or '', table)}", version[1], True, True)
        if key == "be on" and not (table.things.kind_of(_plain(wording)) or _VERSION.match(_main(wording))):
            return _timed(subject, key, wording, table)
        used = _used(holder, wording, table)
        return used._replace(single=used.single or key == "prefer" and False)
    if key in table.states:
        return _state(subject, holder, person, key, wording, table)
    if base == "have" and (counted := re.match(r"(?:about |around |only )?(\d[\d.,]*k?|[a-z]+) (\w+)", wording)) and (
            counted[1][0].isdigit() or counted[1] in NUMBERS) and (not person or counted[1] != "one"):
        return Claim(holder, holder, f"have:{stem(counted[2])}", NUMBERS.get(counted[1], counted[1]), True, True)
    if key == base and (base in table.places or _DEFINITE.match(wording)) and person and (placed := _PLACED.match(wording)):
        about = _split(placed["np"], table)
        thing = " ".join(filter(None, (about.subject if about.subject != _SPEAKER or not about.attribute else "", about.attribute)))
        value = placed["value"]
        if not _DATE.search(value) and (_named(value) or table.things.kind_of(_plain(_main(value)))):
            put = _put(holder, thing, value, table)
            tool = put.attribute == "where" and placed["prep"] in ("with", "by", "through", "via")
            return put._replace(attribute="with") if tool else put
        return Claim(holder, holder, base, _value(wording, table), True, False)
    if not person and is_passive and " " in key and key.split()[-1] in _PREPOSITIONS:
        return Claim(holder, " ".join(filter(None, _split(subject, table))), key, _value(_main(wording), table), True, True)
    if not person and " " in key and (_DATE.search(wording) or any(map(str.isdigit, _main(wording)))):
        return Claim(holder, " ".join(filter(None, _split(subject, table))), key, _value(wording, table), True, True)
    if _DATE.search(wording) and (key.endswith((" on", " at", " every")) or re.search(r"\b(?:on|every) \w+days?\b", wording)):
        return Claim(holder, holder, f"{base} when", _value(wording, table), True, True)  # a routine; see `weak`
    return Claim(holder, holder, base if base != "be" else key, _value(_main_all(wording), table), True, False)


_PREPOSITIONS = frozenset("in on at by to under with from as into through via".split())


_REPLIES = re.compile(r"\b(?:answers?|repl(?:y|ies)|explanations?|responses?|messages?|summar(?:y|ies)|output)\b", re.I)


def _preference(wording: str, table: Attributes) -> str:
    """The kind of choice between manners: how long, dark or light, tabs or spaces; "" if it is none."""
    words = [word.casefold() for word in _plain(wording) if word not in _ARTICLES]
    kind = table.things.kind_of(words)
    if not kind and _REPLIES.search(wording):
        kind = next((table.things.kinds[word] for word in words if table.things.kinds.get(word) == "length"), "")
    return kind if kind in ("length", "theme", "indentation", "quotes", "case", "units", "clock", "branching", "work mode") else ""


def _timed(subject: str, key: str, wording: str, table: Attributes) -> Claim | None:
    about = _split(subject, table)
    if not _DATE.search(wording):
        return None
    attribute = about.attribute if about.attribute in ("deadline", "date", "day") else "when"
    noun = about.subject if attribute != "when" else " ".join(filter(None, (about.subject if about.subject != _SPEAKER else "", about.attribute)))
    return Claim(noun or _SPEAKER, noun, attribute, _value(wording, table), True, True)


def _state(subject: str, holder: str, person: bool, key: str, wording: str, table: Attributes) -> Claim | None:
    """A verb of the table of states."""
    attribute, main = table.states[key], _main(wording)
    about = _split(subject, table)
    if attribute == "home" and not person:
        attribute = "where"
    if attribute == "where" and _DATE.search(wording) and not key.startswith("be "):
        return Claim(holder, holder, f"{key.split()[0]} when", _value(wording, table), True, True)
    if attribute in ("when", "start", "end"):
        timed = _timed(subject, key, wording, table)
        return timed._replace(attribute=attribute) if timed and attribute != "when" else timed
    if attribute == "where" and key.startswith("be ") and _DATE.search(main) and not person:
        return _timed(subject, key, wording, table)
    if attribute == "where" and key.startswith("be ") and person:
        return None
    if attribute == "port" or (attribute == "where" and re.match(r"(?:port )?\d+", wording)):
        number = re.search(r"\d+", wording)
        return Claim(holder, holder if holder != _SPEAKER else "", "port", number[0], True, True) if number else None
    if attribute in ("home", "employer") and not _value(main, table):
        return None
    if attribute == "where":
        return _put(holder, " ".join(filter(None, (about.subject if about.subject != _SPEAKER or not about.attribute else "", about.attribute)))
                    if not person else holder, wording, table, versioned=key.endswith(" on"))
    if attribute == "name":
        noun = " ".join(filter(None, (about.subject, about.attribute))) if not person else holder
        return Claim(holder, noun, "name", _value(main, table), True, True)
    if attribute == "relationship":
        return Claim(holder, holder, attribute, f"{key.split()[0]} {_value(main, table)}", True, True)
    if attribute == "car" and not person:
        return None
    return Claim(holder, holder, attribute, _value(main if attribute != "employer" else re.split(r"\s(?:as|in|on|since|and)\s", wording)[0], table), True, True)


def _put(holder: str, subject: str, wording: str, table: Attributes, *, versioned: bool = False) -> Claim:
    """Where a thing is, or what it runs on: a tool of a known kind, a version, or any place."""
    main = _main(wording)
    version = _VERSION.match(main.strip()) if versioned else None
    if version:
        return Claim(holder, holder, f"version {stem(version['name'].casefold())}", version["number"], True, True)
    things = table.things.kind_of(_plain(main))
    return Claim(holder, subject or _SPEAKER, f"use:{things}" if things else "where", _value(main, table), True, True)


_TOOLS = frozenset(ENGLISH.things.kinds.values())


def _is(subject: str, holder: str, person: bool, wording: str, table: Attributes) -> Claim | None:
    """What something is: the value of an attribute, one of a kind, or a plain trait."""
    about, main = _split(subject, table), _main(wording)
    value = _value(main, table)
    if re.match(r"(?:the |an? )?(?:\w+ )?(?:owner|lead|maintainer|head|manager) of ", wording):
        thing = " ".join(sorted(_key(wording.partition(" of ")[2], table)))
        return Claim(thing, thing, "owner", _value(subject, table), True, True)
    if about.attribute in _TOOLS and value:
        return Claim(holder if about.subject else _SPEAKER, about.subject or _SPEAKER, f"use:{about.attribute}", value, True, True)
    if about.attribute and (value or any(map(str.isdigit, wording))):
        exact = _named(wording) or _DATE.search(wording) or about.attribute in table.heads
        attribute = "owner" if about.attribute in ("owner", "maintainer", "lead") and about.subject else about.attribute
        purpose = "" if _DATE.search(wording) else _qualifier(wording, table)
        about = about._replace(subject=" ".join(sorted({*about.subject.split(), *purpose.split()})))
        return Claim(about.subject or holder, about.subject, attribute, _value(wording if _DATE.search(wording) else main, table), True, True) if exact else None
    things = table.things.kind_of(_plain(main))
    if things and not person and _named(wording) and things in table.things.exclusive and re.match(r"(?:the|our|my|this|[A-Z]+\b)|user's", subject, re.I):
        return Claim(holder, " ".join(filter(None, about)), f"use:{things}", value, True, True)
    if things and (person or not _named(wording) or things in ("license", "api style")):
        noun = holder if person else " ".join(filter(None, about))
        return Claim(holder, noun, f"be:{things}" if things not in ("api style",) else f"use:{things}", value, True, things in table.things.exclusive)
    if not person and (_named(wording) or _DATE.search(wording)) and re.match(r"(?:the|our|my|this)\b|user's|[\w.-]*[_.-]", subject, re.I):
        return Claim(holder, " ".join(filter(None, about)), "when" if _DATE.search(wording) else "name" if re.match(r"[`#@/]|\w+[_-]", wording) else "be", _value(wording if _DATE.search(wording) else main, table), True, True)
    if not person and re.match(r"[a-z_]+(?:[_.][a-z_]+)+$|[A-Z_]{3,}$", subject):
        return Claim(holder, subject.casefold(), "be", value, True, True)
    return Claim(holder, holder, "be", value, True, False) if value else None


# Settling


class Stated(NamedTuple):
    """A claim with its place in the order of things said; `n` names its row."""

    n: int
    mark: str
    trust: int  # a place in model.record.TRUST: the smaller the more trusted
    claim: Claim
    record: str = ""


CLOSES, CONTESTS = "closes", "contests"


def verdict(newer: Stated, older: Stated) -> str:
    """Whether the newer of two claims of a cell closes the older, contests it, or lets it be."""
    if (newer.mark, newer.n) <= (older.mark, older.n) or newer.record == older.record:
        return ""
    if not _opposes(newer.claim, older.claim):
        return ""
    return CLOSES if newer.trust <= older.trust else CONTESTS


def _opposes(new: Claim, old: Claim) -> bool:
    if new.weak or (new.environment != old.environment and not (new.corrects and not new.environment) and old.holds and new.holds):
        return False
    if new.attribute == RETRACT:
        return not old.is_deed and old.attribute != RETRACT and (new.holder == old.holder or new.holder == _SPEAKER) and _covers(new, old)
    if old.attribute.startswith("did ") or (not new.holds and not old.holds) or ASKED in (new.attribute, old.attribute):
        return False
    if not new.holds:
        return _ends(new, old)
    if not old.holds:
        return new.attribute == old.attribute and new.holder == old.holder and _alike(new, old)
    if new.attribute != old.attribute or not (new.single and old.single) or old.attribute == PLAN:
        return False
    if new.subject != old.subject and new.subject and not (new.corrects and set(new.subject.split()) < set(old.subject.split())):
        return False
    return bool(new.value) and not (new.words <= old.words or old.words <= new.words)


def _ends(new: Claim, old: Claim) -> bool:
    """Whether what is said to be over is what an older claim says holds."""
    if new.attribute.startswith("did "):
        return old.attribute == PLAN and old.holder == new.holder and old.subject == new.attribute.removeprefix("did ") and _alike(new, old)
    ours = new.holder == old.holder or (new.holder == _SPEAKER and (old.thing or old.attribute == "owner")) or (
        new.thing and old.thing and set(new.holder.split()) <= set(old.holder.split()))
    if not ours:
        return False
    if new.attribute == GONE:
        return new.words <= set(old.holder.split()) or _alike(new, old)
    if new.attribute == LEFT:
        return old.attribute in ("employer", "team", "role", "school", "have", "use", "go", "be") and _alike(new, old)
    if old.attribute.endswith(" when") and new.attribute == old.attribute.removesuffix(" when") and new.value:
        return _alike(new, old)
    if new.attribute != ANY and new.attribute != old.attribute and not (
            new.attribute.split(":")[0] == old.attribute.split(":")[0] == "use"):
        return False
    if not new.value:
        return new.attribute == old.attribute
    return _alike(new, old)


def _covers(new: Claim, old: Claim) -> bool:
    """Whether most of what is taken back is what was said."""
    shared = new.words & old.words
    return bool(shared) and len(shared) * 2 >= min(len(new.words), len(old.words)) and len(shared) * 3 >= len(new.words)


def _alike(new: Claim, old: Claim) -> bool:
    """Whether two values name the same thing, one of them perhaps with more words."""
    shared = new.words & old.words
    return bool(shared) and (len(shared) * 2 >= min(len(new.words), len(old.words)) if new.attribute == ANY or new.attribute.startswith("did ")
                             else new.words <= old.words or old.words <= new.words)


class Settled(NamedTuple):
    """The first later claim that closes or contests one."""

    verdict: str
    older: Stated
    newer: Stated

    def before(self, other: Settled) -> bool:
        """Whether it counts before another of the same claim: closing before contest, then the earlier."""
        return (self.verdict != CLOSES, self.newer.mark, self.newer.n) < (other.verdict != CLOSES, other.newer.mark, other.newer.n)


def settle(cell: Iterable[Stated], fresh: Container[int]) -> Iterator[Settled]:
    """For each claim of a cell the first later one that closes or contests it, among pairs with a fresh one."""
    ordered = sorted(cell, key=lambda stated: (stated.mark, stated.n))
    new = [stated.n in fresh for stated in ordered]
    endings = [at for at, stated in enumerate(ordered) if not stated.claim.holds]
    singles = [at for at, stated in enumerate(ordered) if stated.claim.holds]
    news = [at for at, is_new in enumerate(new) if is_new]
    for at, older in enumerate(ordered):
        if older.claim.is_deed:
            continue
        rivals = endings if older.claim.holds and not older.claim.single else singles if not older.claim.holds else range(at + 1, len(ordered))
        yield from _first(older, [ordered[later] for later in (rivals if new[at] else news) if later > at], ordered[:at])


def _first(older: Stated, later: Sequence[Stated], earlier: Sequence[Stated]) -> Iterator[Settled]:
    contested, before = False, None
    for newer in later:
        if before is not None and newer.claim == before.claim and newer.trust >= before.trust:
            continue  # said again in the same words
        before = newer
        outcome = verdict(newer, older)
        if outcome == CLOSES and newer.claim.holds and newer.claim.subject != older.claim.subject:
            about = set(newer.claim.subject.split())
            others = {stated.claim.subject for stated in earlier if stated.claim.holds and about <= set(stated.claim.subject.split())}
            outcome = CONTESTS if others - {older.claim.subject} and not newer.claim.corrects else outcome
        if outcome == CLOSES or (outcome and not contested):
            yield Settled(outcome, older, newer)
            contested = True
        if outcome == CLOSES:
            return


def answered(value: Stated, recent: Sequence[Stated], all_earlier: Sequence[Stated], sentence: str) -> Stated | None:
    """Which earlier claim a value said alone is about, the latest first: one that it fits best, or nobody knows."""
    kind, words = value_kind(value.claim.value), {word.casefold() for word in _plain(sentence)}
    fitting = [earlier for earlier in all_earlier if earlier.claim.attribute not in (ASKED, PLAN) and value_kind(earlier.claim.value) == kind
               and not earlier.claim.words <= value.claim.words and earlier.record != value.record]
    near = {earlier.n for earlier in recent}
    for earlier in fitting:
        if earlier.claim.single and (earlier.claim.words & value.claim.words or earlier.claim.attribute in words):
            return earlier
    return next((earlier for single in (True, False) for earlier in fitting
                 if earlier.n in near and earlier.claim.single is single), None)


def value_kind(value: str) -> str:
    """What kind of value: a time, a number or a name."""
    return "time" if _DATE.search(value) else "number" if any(map(str.isdigit, value)) else "name"


def claims_of(statements: Iterable[tuple[str, str, str, str]]) -> list[Claim]:
    """All claims of several statements."""
    return [claim for statement in statements for claim in read_claims(*statement)]
