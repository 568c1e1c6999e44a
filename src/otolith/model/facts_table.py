"""How the facts of a topic come together: mentions in, the facts table out.

An entry's summary mentions facts; a person's reviews score and correct them. Mentions with one subject,
relation and object are one fact. Where a relation has a single value, the newest mention wins and the older
fact gets an end. Pure: the index brings the rows, in whatever way it keeps them, and this module decides what
they mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

from otolith.errors import Invalid
from otolith.model.dialog import Entry, Fact
from otolith.model.ids import fact_id, normal
from otolith.model.record import TRUST
from otolith.model.shape import Shape, choice, mapping, number, strings, text
from otolith.model.times import parse_time, zulu

# A subject has one of these at a time, so a newer object replaces the older one. The one table of its kind.
SINGLE_VALUED = frozenset({
    "lives in", "lives at", "works at", "works for", "works as", "is named", "is called", "is married to",
    "is engaged to", "is from", "was born in", "was born on", "is based in", "studies at", "reports to", "runs on",
    "listens on", "is hosted on", "is deployed on", "is deployed to", "defaults to", "is written in"})
SINGLE_VALUED_LIKE = r"favou?rite .{1,60}|preferred .{1,60}"
CORRECTABLE = ("subject", "relation", "object", "type", "time_span", "date", "confidence")
EVIDENCE_SHOWN = 5  # of a fact said a thousand times: the first entry and the latest ones
_BEFORE_TIME = 1e11  # keeps marks of the years before 1970 in order


class Mention(NamedTuple):
    """A fact as one entry states it."""

    topic: str
    mark: str
    project: str | None
    fact: Fact


class Curation(Shape):
    """One line of a topic's curation.jsonl: what a person said about a fact."""

    ts: str = text()
    op: str = choice(("score", "correct"))
    fact_id: str = text()
    fact: tuple[str, ...] = strings(default=())
    score: float | None = number(0, 10, default=None)
    to: dict[str, Any] | None = mapping(default=None, sparse=True)
    by: str = text(default="user")
    trust: str | None = choice(TRUST, default=None, sparse=True)  # of who said it; a line without it goes by its `by`


class Review(NamedTuple):
    """A line of curation.jsonl, read: what somebody said about a fact. `target` is the id of the corrected one."""

    topic: str
    mark: str
    fact_id: str
    score: float | None
    target: str | None = None
    to: Mapping[str, Any] | None = None
    trust: str = "user"


class Group(NamedTuple):
    """All mentions of one fact, counted."""

    id: str
    times: int
    confidence: float
    trust: str
    began: str
    ended: str
    score: float | None


class Held(NamedTuple):
    """Since when a fact holds, until when, and what took its place; times as marks."""

    since: str
    until: str | None = None
    successor: str | None = None


Look = Callable[[str, str], str | None]  # (fact id, mark) → a mark of that fact, if there is one


def mark(ts: float, entry: str, order: int) -> str:
    """A key that sorts as time does: entry_ts, then entry_id, then the place within the entry."""
    return f"{ts + _BEFORE_TIME:016.3f} {entry} {order:05d}"


def marked_time(found: str) -> str:
    """The time a mark stands for, as files write it."""
    return zulu(float(found.split(" ", 1)[0]) - _BEFORE_TIME)


def slot_of(topic: str, fact: Fact, record: str) -> str:
    """What a fact competes for: its own id, or for a single-valued relation the subject's one place for it."""
    relation = _single_valued(fact.relation)
    return record if not relation else (
        "slot_" + sha256(f"{topic}\0{normal(fact.subject)}\0{relation}".encode()).hexdigest()[:16])


@lru_cache(maxsize=1024)
def _single_valued(relation: str) -> str:
    """The relation as it is compared, if it has a single value; else nothing. A dialog has few relations, each many times."""
    plain = normal(relation).replace("_", " ")
    return plain if plain in SINGLE_VALUED or re.fullmatch(SINGLE_VALUED_LIKE, plain) else ""


def mentions_of(entry: Entry) -> list[Mention]:
    """The facts an entry's summary states, each with its source filled in."""
    meta, origin = entry.meta, entry.meta.origin
    ts = parse_time(meta.entry_ts)
    return [Mention(meta.topic, mark(ts, meta.entry_id, order), origin.project if origin else None,
                    fact.stated_by(meta, meta.trust_of(fact.trust)))
            for order, fact in enumerate(entry.summary.facts if entry.summary else ())]


def read_review(topic: str, number: int, line: Mapping[str, Any]) -> Review:
    """A curation line as the table takes it; the fact's words count more than its id, for topics can be renamed."""
    said = Curation.from_dict(line)
    whole = len(said.fact) == 3
    about = fact_id(topic, *said.fact) if whole else said.fact_id
    when = mark(parse_time(said.ts, "ts"), "", number)
    if said.op == "score":
        return Review(topic, when, about, said.score)
    if not whole or not said.to:
        raise Invalid("a correction needs the fact's three parts and what it should say")
    unknown = [key for key in said.to if key not in CORRECTABLE]
    if unknown:
        raise Invalid(f"{unknown[0]!r} cannot be corrected", f"only {', '.join(CORRECTABLE)}")
    subject, relation, obj = said.fact
    trust = said.trust or ("user" if said.by == "user" else "agent")
    new = correct(Fact(subject=subject, relation=relation, object=obj, type="event"), said.to, trust)
    return Review(topic, when, about, said.score, new.id_in(topic), said.to, trust)


def correct(fact: Fact, to: Mapping[str, Any], trust: str) -> Fact:
    """The fact as somebody says it should read. What a person says is certain; others never raise what they correct."""
    sure = {"confidence": 1.0, "trust": "user"} if trust == "user" else {
        "trust": max(fact.trust or "user", trust, key=TRUST.index)}
    return Fact.from_dict({**fact.to_dict(), **sure, **to})


def replay(topic: str, fact: Fact, latest: Callable[[str, str], Review | None]) -> Fact:
    """The fact after all corrections of it, and of what it was corrected to. `latest` finds the last one after a mark."""
    after = ""
    while found := latest(fact.id_in(topic), after):
        fact, after = correct(fact, found.to or {}, found.trust), found.mark
    return fact


def settle(group: Group, groups: Sequence[Group], before: Look, after: Look) -> Held:
    """When a fact of a slot holds, among all facts of that slot.

    What a person rejected replaces nothing; nor does what came from outside replace what a user or agent
    said.
    """
    if group.score == 0:
        return Held(group.began)
    rivals = [rival for rival in groups if rival.id != group.id and rival.score != 0
              and (rival.trust != "outside" or group.trust == "outside")]
    # Only a rival that was said both before and after needs looking up: of thousands in a slot nearly none
    # was.
    earlier = [rival.ended if rival.ended < group.ended else before(rival.id, group.ended)
               for rival in rivals if rival.began < group.ended]
    interrupted = max(filter(None, earlier), default="")
    since = (after(group.id, interrupted) or group.began) if interrupted else group.began
    later = [(found, rival.id) for rival in rivals if rival.ended > group.ended
             and (found := rival.began if rival.began > group.ended else after(rival.id, group.ended))]
    return Held(since, *min(later, default=()))


def compose(topic: str, group: Group, held: Held, first: Fact, last: Fact, evidence: tuple[str, ...] | None = None) -> Fact:
    """The fact as a record: said first so, typed as it was said last, as sure as its surest mention."""
    return first.replace(
        type=last.type, time_span=last.time_span, confidence=group.confidence, trust=group.trust, user_fact_score=group.score,
        id=group.id, topic=topic, evidence=evidence, evidence_count=group.times, valid_from=marked_time(held.since),
        valid_until=marked_time(held.until) if held.until else None, superseded_by=held.successor)
