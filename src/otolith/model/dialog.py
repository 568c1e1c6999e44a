"""The dialog ladder's values: Turn, Entry, Fact, Topic, GlobalMemory (seed 002); and how facts come together.

Entries and their facts are append-only; topics and the global memory are built. A person's scores come from
the curation file and are laid over the facts, never written into them. An entry's summary mentions facts;
mentions with one subject, relation and object are one fact. Where a relation has a single value, the newest
mention wins and the older fact gets an end. The index brings the rows; this module decides what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from otolith.errors import Invalid
from otolith.model.ids import check_id, check_topic, fact_id
from otolith.model.kinds import FACT_TYPES
from otolith.model.record import TRUST, Card, Finding, Link, Origin, Record, Stretch, shared_project
from otolith.model.shape import (
    NOTHING,
    Shape,
    anything,
    choice,
    integer,
    mapping,
    number,
    part,
    parts,
    strings,
    text,
)
from otolith.model.text import fold, sentences
from otolith.model.times import day, parse_time, time_or_none, zulu

TIME_SPANS = ("short_term", "medium_term", "current", "long_term", "future")
ROLES = ("user", "assistant", "system", "tool", "other")
META_SCHEMA = "entry_meta.v1"
SUMMARY_SCHEMA = "entry_summary.v1"
TOPIC_SCHEMA = "topic_memory.v1"
GLOBAL_SCHEMA = "global_memory.v1"
CORRECTABLE = ("subject", "relation", "object", "type", "time_span", "date", "confidence")
PERSONAL = ("preference", "identity")  # types of facts
EVIDENCE_SHOWN = 5  # of a fact said a thousand times: the first entry and the latest ones
_BEFORE_TIME = 1e11  # keeps marks of the years before 1970 in order


class Turn(NamedTuple):
    """One thing one speaker said. `start` and `stop` say where it stands in raw.md."""

    number: int
    speaker: str
    role: str
    text: str
    ts: str | None = None
    start: int = 0
    stop: int = 0


class Fact(Record):
    """An atomic, reviewable statement with its source."""

    kind: ClassVar[str] = "fact"

    subject: str = text(filled=True)
    relation: str = text(filled=True)
    object: str = text(default="")
    type: str = choice(FACT_TYPES)
    time_span: str = choice(TIME_SPANS, default="current")
    confidence: float = number(0, 1, default=0.5)
    user_fact_score: float | None = number(0, 10, default=None)
    entry_id: str = text(default="")
    entry_ts: str = text(default="")
    turn: int | None = integer(0, default=None, sparse=True)
    date: str | None = text(default=None, sparse=True)
    sentence: str | None = text(default=None, sparse=True)
    speaker: str | None = text(default=None, sparse=True)
    trust: str | None = choice(TRUST, default=None, sparse=True)
    replaces: tuple[str, ...] | None = strings(default=None, sparse=True)  # claims, as a model proposed
    made_by: str | None = text(default=None, sparse=True)  # the model and prompt; None: the rules
    # Known only once a topic's facts are brought together:
    id: str | None = text(default=None, sparse=True)
    topic: str | None = text(default=None, sparse=True)
    evidence: tuple[str, ...] | None = strings(default=None, sparse=True)
    evidence_count: int | None = integer(0, default=None, sparse=True)
    valid_from: str | None = text(default=None, sparse=True)
    valid_until: str | None = text(default=None, sparse=True)
    superseded_by: str | None = text(default=None, sparse=True)
    why: str | None = text(default=None, sparse=True)  # it no longer holds: when and in which words

    def id_in(self, topic: str) -> str:
        """The fact's id within its topic."""
        return fact_id(topic, self.subject, self.relation, self.object)

    def stated_by(self, entry: EntryMeta, trust: str | None) -> Fact:
        """The fact with its source filled in; where all of it is there, the fact itself."""
        if (self.entry_id, self.entry_ts, self.trust) == (entry.entry_id, entry.entry_ts, trust):
            return self
        return self.replace(entry_id=entry.entry_id, entry_ts=entry.entry_ts, trust=trust)

    @property
    def title(self) -> str:
        return " ".join(part for part in (self.subject, self.relation, self.object) if part)

    @property
    def created(self) -> float:
        return parse_time(self.entry_ts) if self.entry_ts else 0.0

    @property
    def quoted(self) -> str:
        """The fact with the sentence it was drawn from."""
        return f"{self.title}\n“{self.sentence}”" if self.sentence else self.title

    def card(self, topic: str, project: str | None = None, at: float = 0.0) -> Card:
        record, title, newer = self.id or self.id_in(topic), self.title, self.superseded_by
        score = self.user_fact_score
        return Card(
            id=record, kind=self.kind, type=self.type, title=title, created=self.created, at=at, topic=topic,
            text=f"{title}\n{self.sentence}" if self.sentence else title, confidence=self.confidence,
            importance=score / 10 if score is not None else 0.5, project=project, pinned=score == 10,
            trust=self.trust or "user", sunk=score == 0 or newer is not None,
            valid_from=time_or_none(self.valid_from), valid_until=time_or_none(self.valid_until),
            links=(Link(source=newer, type="supersedes", target=record),) if newer else ())


class EntryMeta(Shape):
    """What is known of a dialog besides its words."""

    schema: str = text(default=META_SCHEMA)
    entry_id: str = text()
    entry_ts: str = text()
    topic: str = text()
    source: str = text(default="interaction")
    title: str | None = text(default=None, sparse=True)
    conversation_id: str | None = text(default=None, sparse=True)
    key: str | None = text(default=None, sparse=True)  # by which its writer finds the entry again
    continues: str | None = text(default=None, sparse=True)  # the session's entry before this one
    roles: dict[str, str] | None = mapping(default=None, sparse=True)  # of speakers whose names do not tell
    tags: tuple[str, ...] = strings(default=None, sparse=True)
    origin: Origin | None = part(Origin, default=None, sparse=True)

    def check(self) -> None:
        check_id(self.entry_id, "entry_id")
        parse_time(self.entry_ts, "entry_ts")

    def trust_of(self, speaker: str | None) -> str:
        """How far to trust what a speaker of that trust states here: no more than whoever logged it.

        A hook does not write itself: it reads the transcript, so the user's turns in it are the user's.
        """
        logged = self.origin.trust if self.origin else "user"
        if self.origin and (self.origin.door, logged) == ("hook", "agent"):
            return speaker or logged
        return max(speaker or logged, logged, key=TRUST.index)


class EntrySummary(Shape):
    """What was drawn from a dialog, and by what."""

    schema: str = text(default=SUMMARY_SCHEMA)
    entry_id: str = text()
    entry_ts: str = text(default="")
    summary: str = text(default="")
    facts: tuple[Fact, ...] = parts(Fact, default=())
    made_by: str = text(default="rules-1")
    turn_keys: tuple[str, ...] = strings(default=None, sparse=True)  # by which turns are known again


class Entry(Record):
    """A logged dialog: its turns, what is known of it, and what was drawn from it."""

    kind: ClassVar[str] = "entry"
    type: ClassVar[str] = "dialog"

    meta: EntryMeta = part(EntryMeta)
    raw: str = text(default="")
    summary: EntrySummary | None = part(EntrySummary, default=None, sparse=True)
    turns: Sequence[Turn] = anything(default=())
    flaws: Sequence[Finding] | None = anything(default=None, sparse=True)  # what its files say wrongly

    @property
    def id(self) -> str:
        return self.meta.entry_id

    @property
    def topic(self) -> str:
        return self.meta.topic

    @property
    def created(self) -> float:
        return parse_time(self.meta.entry_ts)

    @property
    def title(self) -> str:
        return self.meta.title or f"{self.meta.topic}, {day(self.created)}"

    @property
    def tags(self) -> tuple[str, ...]:
        return self.meta.tags or ()

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What was drawn from it, each with the id by which it is reviewed."""
        drawn = self.summary.facts if self.summary else ()
        return tuple(fact.replace(id=fact.id_in(self.topic), topic=self.topic) for fact in drawn)

    @property
    def transcript(self) -> str:
        return self.raw.strip()

    @property
    def names(self) -> tuple[str, ...]:
        """By which its writer, or whoever meets one of its turns again, finds it."""
        keys = self.summary.turn_keys or () if self.summary else ()
        return (*((f"key:{self.meta.key}",) if self.meta.key else ()), *(f"turn:{key}" for key in keys))

    @property
    def stretches(self) -> list[Stretch]:
        return [Stretch(turn.start, turn.stop, f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text,
                        str(turn.number), turn.speaker or None, time_or_none(turn.ts)) for turn in self.turns]

    def card(self) -> Card:
        return self.make_card(self.raw, passages=self.stretches or None, tags=self.tags, topic=self.topic,
                              importance=0.5,
                              names=self.names,
                              conversation=self.meta.conversation_id or self.id)


class TopicState(Shape):
    """The human-facing compression of a topic."""

    summary: str = text(default="")
    bounds: tuple[str, ...] = strings(default=())
    open_questions: tuple[str, ...] = strings(default=())
    next_actions: tuple[str, ...] = strings(default=())
    made_by: str = text(default="rules-1", sparse=True)


class Topic(Record):
    """A topic memory as topic_memory.json holds it."""

    kind: ClassVar[str] = "topic"
    type: ClassVar[str] = "topic"

    schema: str = text(default=TOPIC_SCHEMA)
    topic: str = text()
    updated: str = text(default="")
    fingerprint: str = text(default="", sparse=True)
    entry_count: int = integer(0, default=0)
    last_entry_ts: str = text(default="")
    state: TopicState = part(TopicState, default=NOTHING)
    facts: tuple[Fact, ...] = parts(Fact, default=())
    trust: str | None = choice(TRUST, default=None, sparse=True)  # of its least trusted entry
    project: str | None = text(default=None, sparse=True)  # that its entries share

    def check(self) -> None:
        check_topic(self.topic)

    def without_facts(self, closed: Container[str]) -> Topic:
        """The topic without facts that hold no longer, nor what its state says in their words."""
        over = [fact for fact in self.facts if fact.id in closed]
        if not over:
            return self
        stale = {fold(words) for fact in over for words in (fact.title, fact.sentence or fact.title)}

        def holds(line: str) -> bool:
            return not any(words in fold(line) for words in stale)

        lists = {name: tuple(filter(holds, getattr(self.state, name)))
                 for name in ("bounds", "open_questions", "next_actions")}
        state = self.state.replace(summary=" ".join(filter(holds, sentences(self.state.summary))), **lists)
        return self.replace(state=state, facts=tuple(fact for fact in self.facts if fact not in over))

    def stated(self) -> list[str]:
        """The facts that it tells, by id."""
        return [str(fact.id) for fact in self.facts if not fact.superseded_by]

    @property
    def id(self) -> str:
        return f"topic:{self.topic}"

    @property
    def title(self) -> str:
        return self.topic

    @property
    def created(self) -> float:
        return parse_time(self.last_entry_ts) if self.last_entry_ts else 0.0

    def card(self) -> Card:
        lines = [self.state.summary, *self.state.bounds, *self.state.open_questions, *self.state.next_actions]
        trust = max((self.trust or "user", *(fact.trust or "user" for fact in self.facts)), key=TRUST.index)
        return self.make_card("\n".join(filter(None, lines)), topic=self.topic, importance=0.5, trust=trust,
                              project=self.project)


class GlobalMemory(Record):
    """The front page as GLOBAL_MEMORY.json holds it."""

    kind: ClassVar[str] = "global"
    type: ClassVar[str] = "global"
    id: ClassVar[str] = "global"
    title: ClassVar[str] = "Global memory"

    schema: str = text(default=GLOBAL_SCHEMA)
    updated: str = text(default="")
    active_topics: Sequence[Mapping[str, Any]] = anything(default=())
    do_not_forget: Sequence[Mapping[str, Any]] = anything(default=())

    def check(self) -> None:
        for name in ("active_topics", "do_not_forget"):
            items = getattr(self, name)
            if not isinstance(items, list | tuple) or not all(isinstance(item, Mapping) for item in items):
                raise Invalid(f"{name} must be a list of objects")
        if not all(isinstance(topic.get("state") or {}, Mapping) for topic in self.active_topics):
            raise Invalid("active_topics must have an object as state")

    def without_facts(self, closed: Container[str]) -> GlobalMemory:
        """The page without facts that hold no longer."""
        return self.replace(do_not_forget=[item for item in self.do_not_forget
                                           if item.get("fact_id") not in closed])

    def stated(self) -> list[str]:
        """The facts that it tells, by id."""
        return [str(item["fact_id"]) for item in self.do_not_forget if item.get("fact_id")]

    @property
    def created(self) -> float:
        return parse_time(self.updated) if self.updated else 0.0

    def card(self) -> Card:
        lines = [f"{topic.get('topic', '')}: {(topic.get('state') or {}).get('summary', '')}"
                 for topic in self.active_topics]
        levels = [part.get("trust") for part in (*self.do_not_forget, *self.active_topics)]
        trust = "outside" if {"outside", "peer"} & {*levels} else "agent"
        project = shared_project(topic.get("project") for topic in (*self.active_topics, *self.do_not_forget))
        return self.make_card("\n".join(lines), importance=0.5, trust=trust, project=project)


# How the facts of a topic come together


class Mention(NamedTuple):
    """A fact as one entry states it."""

    topic: str
    mark: str
    project: str | None
    fact: Fact


class Curation(Shape):
    """One line of a topic's curation.jsonl: what a person said about a fact."""

    schema: str | None = text(default=None, sparse=True)
    ts: str = text()
    at: str | None = text(default=None, sparse=True)  # the moment of writing
    op: str = choice(("score", "correct"))
    fact_id: str = text()
    fact: tuple[str, ...] = strings(default=())
    score: float | None = number(0, 10, default=None)
    to: dict[str, Any] | None = mapping(default=None, sparse=True)
    by: str = text(default="user")
    trust: str | None = choice(TRUST, default=None, sparse=True)  # of who wrote the line; else `by` tells


class Review(NamedTuple):
    """A line of curation.jsonl, read: what somebody said about a fact; `target` is the corrected one's id."""

    topic: str
    mark: str
    fact_id: str
    score: float | None
    target: str | None = None
    to: Mapping[str, Any] | None = None
    trust: str = "user"


class FactGroup(NamedTuple):
    """All mentions of one fact, counted."""

    id: str
    times: int
    confidence: float
    trust: str
    began: str
    ended: str
    score: float | None


def mark(ts: float, at: float, entry: str, order: int) -> str:
    """A key that sorts as things were said: the time of the turn, the moment of writing, the entry's id, the
    place within the entry.
    """
    return f"{ts + _BEFORE_TIME:016.3f} {at:017.6f} {entry} {order:05d}"


def after_all(ts: float) -> str:
    """A mark after every one of that time."""
    return f"{ts + _BEFORE_TIME:016.3f} ~"


def entry_of(marked: str) -> str:
    """The entry a mark stands for."""
    return marked.split(" ")[2]


def moment_of(marked: str) -> float:
    """When what a mark stands for was written; 0 where nothing says."""
    return float(marked.split(" ")[1])


def marked_time(marked: str) -> str:
    """The time a mark stands for, as files write it."""
    return zulu(float(marked.split(" ", 1)[0]) - _BEFORE_TIME)


def mentions_of(entry: Entry, first: int = 0) -> list[Mention]:
    """The facts an entry's summary states, each with its source filled in; of more of it, the place of the
    first.
    """
    meta, origin = entry.meta, entry.meta.origin
    ts, at = parse_time(meta.entry_ts), (time_or_none(origin.at) if origin else None) or 0.0
    times = {turn.number: time_or_none(turn.ts) for turn in entry.turns if turn.ts}
    return [Mention(meta.topic, mark(times.get(fact.turn or -1) or ts, at, meta.entry_id, order),
                    _project_of(fact, origin),
                    fact.stated_by(meta, meta.trust_of(fact.trust)))
            for order, fact in enumerate(entry.summary.facts if entry.summary else (), first)]


def _project_of(fact: Fact, origin: Origin | None) -> str | None:
    """What people say of themselves to an agent holds in every project; all else where it was said."""
    own = origin and origin.door == "hook" and fact.type in PERSONAL and fact.subject.casefold() == "user"
    return None if own or not origin else origin.project


def read_review(topic: str, digest: str, line: Mapping[str, Any]) -> Review:
    """A curation line as the table takes it; the fact's words outweigh its id, for topics can be renamed."""
    given = Curation.from_dict(line)
    whole = len(given.fact) == 3
    about = fact_id(topic, *given.fact) if whole else given.fact_id
    when = mark(parse_time(given.ts, "ts"), time_or_none(given.at) or 0.0, digest, 0)
    if given.op == "score":
        return Review(topic, when, about, given.score)
    if not whole or not given.to:
        raise Invalid("a correction needs the fact's three parts and what it should say")
    unknown = [key for key in given.to if key not in CORRECTABLE]
    if unknown:
        raise Invalid(f"{unknown[0]!r} cannot be corrected", f"only {', '.join(CORRECTABLE)}")
    subject, relation, obj = given.fact
    trust = given.trust or ("user" if given.by == "user" else "agent")
    new = correct(Fact(subject=subject, relation=relation, object=obj, type="event"), given.to, trust)
    return Review(topic, when, about, given.score, new.id_in(topic), given.to, trust)


def correct(fact: Fact, to: Mapping[str, Any], trust: str) -> Fact:
    """The fact as somebody says it should read. A person's word is certain; others never raise its trust."""
    sure = {"confidence": 1.0, "trust": "user"} if trust == "user" else {
        "trust": max(fact.trust or "user", trust, key=TRUST.index)}
    return Fact.from_dict({**fact.to_dict(), **sure, **to})


def replay(topic: str, fact: Fact, latest: Callable[[str, str], Review | None]) -> Fact:
    """The fact after all corrections of it and of what it became; `latest` finds the last after a mark."""
    after = ""
    while review := latest(fact.id_in(topic), after):
        fact, after = correct(fact, review.to or {}, review.trust), review.mark
    return fact


def compose(topic: str, group: FactGroup, first: Fact, last: Fact,
            evidence: tuple[str, ...] | None = None) -> Fact:
    """The fact as a record: said first so, typed as it was said last, as sure as its surest mention."""
    return first.replace(
        type=last.type, time_span=last.time_span, confidence=group.confidence, trust=group.trust, id=group.id,
        user_fact_score=group.score, topic=topic, evidence=evidence, evidence_count=group.times,
        valid_from=marked_time(group.began))
