"""Which things have one value at a time, which verbs change or end them, and which values compete: English,
as data.

A language is one `Attributes` value; where there is none, nothing is closed and the newer stands first.
Verbs are written as their base with the preposition that follows (`live in`); their forms are made by rule.
`KINDS_OF_THINGS` says what kind of thing a name is, so that an editor gives way to an editor and not to a
database. This module knows no rule and no record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from otolith.model.things import KINDS_OF_THINGS, Things, table_of
from otolith.model.words import stem, word_set


def _phrases(text: str) -> frozenset[str]:
    """A table of phrases, written as one text with commas."""
    return frozenset(" ".join(phrase.split()) for phrase in text.split(","))


# base, past, participle; regular verbs stand in the tables below and are conjugated by rule
_IRREGULAR = """
    leave left; quit quit; sell sold; take took taken; get got gotten; give gave given; go went gone; become
    became become; run ran run; write wrote written; choose chose chosen; build built; buy bought; make made;
    keep kept; hold held; lead led; break broke broken; lose lost; eat ate eaten; drink drank drunk; drive
    drove driven; speak spoke spoken; set set; cut cut; shut shut; put put; bring brought; wear wore worn;
    ride rode ridden; sing sang sung; swim swam swum; teach taught; begin began begun; send sent; sit sat;
    pay paid; meet met; rewrite rewrote rewritten; rebuild rebuilt; grow grew grown; rise rose risen; fall
    fell fallen; think thought; mean meant; say said; tell told; spend spent; feed fed; wake woke woken;
    sleep slept; read read; see saw seen; split split; have had; do did done; come came come; bear bore born;
    let let; know knew known; stick stuck; lay laid; rip ripped; withdraw withdrew withdrawn; swear swore
    sworn; wind wound; fire fired; oversee oversaw overseen; steal stole stolen; throw threw thrown; tear
    tore torn; shrink shrank shrunk; find found"""
_DOUBLING = word_set("""
    plan stop drop swap ship cancel scrap travel prefer log commit shop program jog ban chat knit skip submit
    transfer rip quit run set cut shut put get begin swim sit split pin opt chop jog refer occur deter rob
    hug mop nap tip trim""")
_BE = word_set("is are am was were been being be")
_HELPERS = word_set("""
    is are am was were has have had been being does do did will would shall can could may might must should
    not never no longer also just now already still only really always currently finally recently since
    usually fully since officially then meanwhile successfully eventually definitely actually since both all
    ever""")


def _forms(base: str) -> Iterable[str]:
    """Every form of a regular verb."""
    stem = base[:-1] if base.endswith("e") else base
    if re.search("[^aeiou]y$", base):
        return base, f"{base[:-1]}ies", f"{base[:-1]}ied", f"{base}ing"
    double = base + base[-1] if base in _DOUBLING else stem
    third = f"{base}es" if re.search("(?:s|x|z|ch|sh|o)$", base) else f"{base}s"
    ing = f"{base[:-2]}ying" if base.endswith("ie") else f"{double}ing"
    return base, third, f"{double}ed", ing


def _lemmas(verbs: Iterable[str]) -> dict[str, str]:
    """Every form → its base, for these verbs."""
    forms = {form: base for base in verbs for form in _forms(base)}
    for base, *others in (row.split() for row in _IRREGULAR.split(";")):
        forms |= dict.fromkeys((*_forms(base), *others), base)
    return forms | dict.fromkeys(_BE, "be") | {"has": "have", "dying": "die", "died": "die",
                                               "canceled": "cancel", "canceling": "cancel"}


class Attributes(NamedTuple):
    """One language's tables."""

    states: Mapping[str, str]  # verb → attribute of which one has one value, said in the present
    changes: frozenset[str]  # verbs that give something a new value
    adopts: frozenset[str]  # those of them by which a tool is chosen
    postpones: frozenset[str]  # those that give another time
    ends: frozenset[str]  # verbs that end what their object names
    completes: frozenset[str]  # verbs after which a plan about their object is no plan any more
    completed: frozenset[str]  # what a thing then is
    gone: frozenset[str]  # verbs, of a thing, by which the thing itself is no more
    lives: Mapping[str, tuple[str, ...]]  # verbs that end attributes or values by themselves
    uses: frozenset[str]  # verbs by which one has chosen a tool
    owns: frozenset[str]  # verbs whose subject is the owner of their object
    owned: frozenset[str]  # the same from the other side
    places: frozenset[str]  # verbs that put a thing somewhere: host X on Y
    # verbs that bring a thing to a value: raise X to Y → attribute, or "" by the thing
    swaps: frozenset[str]  # verbs that put one thing in another's place
    shifts: frozenset[str]  # verbs that go from one value to another
    careers: Mapping[str, str]  # verbs that give a person another home, employer, role
    turns: Mapping[str, str]
    likes: Mapping[str, int]  # verbs of liking → 1, of disliking → -1
    plans: re.Pattern[str]
    heads: frozenset[str]  # nouns that name an attribute: port, limit, deadline
    roles: frozenset[str]  # persons of whom one has one: manager, dentist
    generic: frozenset[str]  # nouns that say nothing of which thing is meant
    own_things: frozenset[str]  # things that stand for the speaker's own undertaking
    environments: Mapping[str, str]
    grows: re.Pattern[str]  # what says that a list grows
    passing: re.Pattern[str]  # what says that something holds for a while only
    rejects: re.Pattern[str]  # "B instead of A": what stands behind is no longer so
    personal: frozenset[str]  # attributes of the user's own person, the same in every project
    kin: frozenset[str]
    events: Mapping[str, str]  # nouns of events → the verb of the same event
    charges: frozenset[str]  # nouns that say only that somebody has charge of what stands before them
    vanished: frozenset[str]  # what a thing is that is no more
    synonyms: Mapping[str, str]  # words that name the same thing, as stems
    things: Things

    def __hash__(self) -> int:
        return id(self)  # one value a language; asked for with each statement


_STATES = table_of("""
home: live in, live near, live on, reside in, base in, base at, base out of
employer: work at, work for, teach at, employ at, employ by
role: work as
school: study at
boss: report to
name: name, call, know as, go by
relationship: marry to, engage to
partner: date, see
origin: be from, come from, bear in, bear on
address: live at, reside at
where: run on, host on, host at, host by, host with, deploy on, deploy to, deploy with, run at, live under,
  store in, store on, store at, keep in, keep on, keep at, serve under, serve from, serve at, go in, go
  into, be in, be at, be under, be on, sit in, sit under, sit on, locate in, locate at,
  take place in, run in, track in, save in, save to, write to, back up to, publish to, publish on, land in,
  send to, ship to
with: go through, go via, go out through, go out via, go out with, do with, handle with
port: listen on
made of: write in, build in, build with, build on, develop in, implement in, code in
car: drive
cost: cost
start: start at, start on, begin at, begin on, open at
end: end at, end on, close at, finish at
when: be due, be due on, be schedule for, plan for, take place on, schedule for,
  happen on, happen at, be plan for
commute: commute by
""")
_ADOPTS = _phrases("""
    switch to, switch over to, change to, migrate to, move to, move over to, go back to, convert to, upgrade
    to, downgrade to, adopt, start use, go over to, go with, settle on, choose, pick, opt for, go for,
    standardise on, standardize on, change over to, decide on, decide for, come back to, fall back to, return
    to""")
_POSTPONES = _phrases("""
    move to, push to, postpone to, delay to, reschedule to, reschedule for, shift to, bring forward to, push
    back to, postpone until, move back to, put off to, put off until, slip to, change to, move up to, pull
    forward to""")
_CHANGES = _ADOPTS | _POSTPONES | _phrases("""
    relocate to, settle in, move in to, move into, move back to, move house to, resettle in, join, start at,
    start work at, hire by, start with, promote to, become, rename to, rename, rename as, port to, move onto,
    rewrite in, raise to, lower to, bump to, increase to, reduce to, cut to, set to, go up to, go down to,
    rise to, drop to, grow to, shrink to, climb to, fall to, adjust to, extend to, come down to, double to,
    scale to, scale down to, scale up to, marry, get marry to, go down to, come to""")
ENGLISH = Attributes(
    states=_STATES, changes=_CHANGES, adopts=_ADOPTS, postpones=_POSTPONES,
    ends=_phrases("""
        leave, quit, sell, drop, ditch, cancel, resign from, retire from, give up, stop, get rid of, throw
        away, throw out, end, remove, delete, uninstall, unsubscribe from, abandon, scrap, kill, close, lose,
        finish, shut down, disable, turn off, switch off, deprecate, retire, discontinue, decommission,
        decide against, reverse, overturn, revoke, withdraw, withdraw from, step down from, step down as,
        move out of, move away from, break up with, divorce, split up with, separate from, part with, get
        laid off from, lay off from, let go from, fire from, fire by, expel from, drop out of, graduate from,
        phase out, part ways with, sunset, do away with, pull out of, back out of, call off, give away,
        donate, return, swear off, move off, move off of, be do with, do with, hand over, hand off, rip out,
        take out, tear out, close down, wind down, terminate, end up leaving, take back, disregard, forget,
        ignore, walk back, hand back, say goodbye to, migrate off, migrate away from, switch away from, move
        on from, switch off of, kick out, outgrow, stop use, cut, dump, bin, axe,
        stop take, stop go to, give up on, give notice for, deregister from, tear down,
        give back, drop support for, be out of, be off"""),
    completes=word_set("""
        buy install book finish complete do build order adopt submit sign pay renew fix paint plant launch
        release ship deliver publish pass sell send get move hire call visit see read run plan write merge
        deploy migrate apply register hand turn talk speak pick clean"""),
    completed=word_set("""
        in installed booked done finished live ready delivered here built bought ordered sorted shipped
        released signed submitted paid planted painted fixed install book finish deliver build buy order sort
        ship release sign submit pay plant paint fix do"""),
    gone=_phrases("""
        die, pass away, remove, delete, deprecate, retire, discontinue, cancel, shut down, sell, drop, end,
        decommission, kill, scrap, close, replace, abandon, go away, disband, sunset, revoke, overturn, be
        go, expire, break down, fall through, close down, be over, call off, archive, disable, withdraw,
        lift, phase out, steal, rip out, turn off, switch off, retract, dissolve, wind down, go bankrupt,
        demolish, be dead, be history, put down, cease"""),
    lives={"graduate": ("=student", "school", "study"), "retire": ("employer", "role", "=work"),
           "divorce": ("relationship",), "get divorce": ("relationship",),
           "move out": ("home", "live", "address"),
           "break up": ("partner", "relationship"), "separate": ("relationship", "partner"),
           "split up": ("relationship", "partner"),
           "resign": ("employer", "role"), "get fire": ("employer", "role"),
           "get lay off": ("employer", "role"),
           "lay off": ("employer", "role"), "fire": ("employer", "role"),
           "be make redundant": ("employer", "role")},
    uses=word_set("use adopt prefer choose pick favor favour run") | frozenset((
        "go with", "work with", "work in", "rely on", "be on", "stick with", "stick to", "settle on",
        "opt for", "decide on", "decide for",
        "test with", "start use", "stay on",
        "stay with")),
    owns=frozenset(("own", "maintain", "lead", "manage", "run", "handle", "take over", "look after",
                    "be in charge of", "be responsible for",
                    "be on call for", "do", "head", "chair", "coordinate", "supervise", "take on", "inherit",
                    "be the owner of", "be the lead of",
                    "be the maintainer of", "be lead of", "be owner of", "drive", "take care of", "oversee",
                    "moderate", "host")),
    owned=frozenset(("own by", "maintain by", "lead by", "manage by", "run by", "handle by", "look after by",
                     "belong to", "be in the hands of",
                     "take over by", "head by", "chair by", "assign to", "hand over to", "hand to",
                     "hand off to", "pass to", "go to", "be with",
                     "transfer to", "oversee by", "do by")),
    places=word_set(
            "read check watch listen book "
            "host deploy run store keep write build take track manage ship do test send put publish"
            " document plan log bank buy order back cache track serve mirror handle"),
    swaps=frozenset(("replace", "swap", "exchange", "trade", "trade in", "substitute", "swap out")),
    shifts=word_set("switch move migrate change go upgrade convert jump increase rise grow fall drop"),
    careers=table_of("""
home: move, relocate, settle, resettle
employer: join, start, hire
role: promote, become
relationship: marry
"""),
    turns=table_of("""
number: raise, lower, bump, increase, reduce, cut, set, change, extend, shorten, adjust, double, scale, update
when: move, push, postpone, delay, reschedule, shift, bring forward, push back, put off
name: rename
made of: rewrite, rebuild, reimplement
use: switch, migrate, move, port, convert, upgrade, downgrade, transfer, change
"""),
    likes={"like": 1, "love": 1, "enjoy": 1, "adore": 1, "want": 1, "be into": 1, "be fond of": 1,
           "be keen on": 1, "favor": 1, "favour": 1,
           "cannot stand": -1,
           "hate": -1, "dislike": -1, "detest": -1, "avoid": -1, "loathe": -1, "despise": -1,
           "can't stand": -1},
    plans=re.compile(
            r"(?:will|shall|(?:is|are|am) going to|(?:is|are|am) (?:planning|hoping|about|due|supposed)"
            r" to|plans? to|needs? to"
                     r"|wants? to|hopes? to|intends? to|aims? to|ha(?:s|ve) to|must|should"
                             r"|promised to|agreed to|decided to|planned to) (?P<verb>\w+)"),
    heads=word_set("""
        port limit timeout version deadline owner size budget ttl interval quota threshold price rent salary
        rate fee cost password host hostname url uri endpoint branch license licence address email phone
        number name title status date time day language framework database region zone capacity height weight
        age birthday color colour theme format encoding charset level priority severity count max min maximum
        minimum retention frequency schedule delay window length width depth duration period retries replicas
        workers threads connections instances cap ceiling target goal coverage score grade mileage mode plan
        tier provider registrar vendor supplier editor shell os platform stack engine runtime default path
        folder directory bucket channel room seat desk office location venue city timezone locale currency
        unit pin code token key id slug prefix suffix domain subdomain subnet ip gateway mtu baud resolution
        speed volume temperature dose dosage batch page start end launch release kickoff demo exam wedding
        meeting standup retro review appointment flight delivery"""),
    roles=word_set("""
        manager boss lead owner maintainer supervisor director head captain chair president ceo cto cfo
        dentist doctor gp therapist landlord landlady accountant lawyer coach trainer teacher tutor mentor
        advisor adviser wife husband spouse partner girlfriend boyfriend fiance fiancee roommate flatmate
        successor assistant secretary contact on-call admin reviewer employer name surname nickname favorite
        favourite car phone laptop bike bank insurer gym job"""),
    generic=word_set("""
        service system app application server module component project repo repository codebase code team
        thing company our the a an this that my your new current old main whole entire machine box instance
        rule rules policy idea decision position subscription membership account trip contract one their his
        her its user's existing tool setup stuff support anything something nothing everything everywhere bit
        all every both each instead"""),
    own_things=word_set(
            "repo repository project codebase company code we us startup org organisation organization"
            " monorepo workspace"),
    environments={word: name for name, words in (row.split(":") for row in (
        "staging:staging stage", "production:production prod", "development:dev development",
        "test:test testing qa uat",
        "local:local localhost locally", "preview:preview canary sandbox")) for word in words.split()},
    grows=re.compile(
            r"\b(?:also|too(?=\W*$|[,.;!]| since| now)|as well|another|additionally|besides|in addition"
            r"|(?:a|the) second(?! (?:ago|time))|plus"
            r"|alongside|next to|on top of|"
                     r"as a backup|on the side|one more|still)\b", re.I),
    passing=re.compile(
            r"(?<!from )(?<!since )(?<!as of )(?<!starting )\b(?:today|tonight|this (?:week|weekend"
            r"|morning|afternoon|evening|sprint|month|time|once)|for the (?:demo|day|week|weekend|time"
            r" being|moment|duration|"
                       r"night|trip|test|talk|show|workshop|summer|holidays?|sake)|temporar\w+"
                               r"|until (?!now)|till|while|just (?:for|this once)|for (?:a|one|two|three"
                               r"|the next|this|\d+) "
                       r"(?:few |couple of )?(?:days?|weeks?|months?|hours?|nights?|sprint"
                               r"|release)|meanwhile|interim|on (?:holiday|vacation|leave)|for now"
                               r"|one-off|as an exception|exceptionally|"
                       r"this once|at the conference|visiting|in the meantime)\b", re.I),
    rejects=re.compile(
            r"\s*(?:,\s*(?:and\s+)?not|,?\s*\b(?:instead of|rather than|in place of|and not|over(?! to\b)|in"
            r" favou?r of|as opposed to))\s+(?:with |in |on |to )?", re.I),
    personal=word_set(
            "home employer role school field boss name relationship partner origin car like be marital"
            " diet team commute eat drink"),
    kin=word_set("""
        sister brother mother father mum mom dad wife husband son daughter cousin uncle aunt friend partner
        girlfriend boyfriend boss colleague neighbour neighbor roommate flatmate parents kids children
        grandma grandpa grandmother grandfather niece nephew team fiance fiancee ex manager teacher doctor
        landlord coworker family"""),
    events={"wedding": "marry", "marriage": "marry"},
    charges=word_set("""
        management ownership maintenance leadership job role duty duties work position responsibility
        responsibilities task post"""),
    vanished=word_set("gone dead history over sold cancelled canceled removed deleted scrapped dropped"
        " finished"),
    synonyms={stem(word): stem(name) for name, words in (row.split(":") for row in (
        "issue:ticket tickets bug bugs task tasks", "documentation:docs doc", "database:db",
        "repository:repo",
        "authentication:auth login", "email:mail mails emails e-mail",
        "photo:picture pictures image images photos",
        "configuration:config settings", "application:app", "production:prod", "call:meeting meetings calls",
        "invoice:bill bills invoices", "apartment:flat", "holiday:vacation")) for word in words.split()},
    things=KINDS_OF_THINGS)
_VERBS = {words.split()[0] for table in (
    ENGLISH.states, ENGLISH.changes, ENGLISH.ends, ENGLISH.gone, ENGLISH.lives, ENGLISH.uses, ENGLISH.owns,
    ENGLISH.owned, ENGLISH.places,
    ENGLISH.turns, ENGLISH.likes) for words in table if words.strip()}
_LEMMAS = _lemmas(_VERBS | word_set(
        "play smoke visit rent support require call renew finish send live study eat work join marry name"
        " employ"))


def lemma(word: str) -> str:
    """The base form of a verb that the tables know, else a stem, equal for all forms."""
    return _LEMMAS.get(word) or stem(word)


def is_participle(word: str) -> bool:
    """Whether a word behind a form of be is a verb of its own: based, written, moving."""
    return word in _LEMMAS or word.endswith(("ed", "ing"))


NUMBERS = {word: str(number) for number, word in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve".split())}
DATE = re.compile(
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?"
        r"|apr(?:il)?|may"
        r"|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b|\b\d{4}-\d\d"
                   r"|\btomorrow\b|\bq[1-4]\b|(?<![\d.:])\d{1,2}:\d\d(?![\d.:])|\bat \d{1,2}\.\d\d\b"
                   r"|\b\d{1,2} ?(?:am|pm)\b"
                           r"|\b\d{1,2}(?:st|nd|rd|th)\b|\b(?:next|this) (?:week|month|year|quarter|spring"
                   r"|summer|autumn|fall|winter)\b|\bnoon\b|\bmidnight\b", re.I)
VERSION = re.compile(r"^(?:the )?(?P<name>[A-Za-z][\w.+#-]*?)\s*(?:version )?v?(?P<number>\d+(?:\.\d+)*)$")
SPEAKER = "user"  # the one who is spoken to by an agent; whose things need no owner
