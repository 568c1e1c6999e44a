"""The dialog ladder's values: Turn, Entry, Fact, Topic, GlobalMemory (seed 002); and a dialog's text as turns.

Entries and their facts are append-only; topics and the global memory are built. A person's scores come from the
curation file and are laid over the facts; they are never written into them. Three ways of writing a dialog are
understood, told apart by the document's first header: `### Ann · time` (as Otolith writes it), `**Ann:** …`, and `Ann: …`.
A text without headers is one turn. Nothing is lost either way: a turn's start and stop say where it stands in the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from otolith.errors import Invalid
from otolith.model.finding import Finding
from otolith.model.ids import check_id, check_topic, fact_id
from otolith.model.kinds import FACT_TYPES
from otolith.model.record import TRUST, Card, Link, Origin, Passage, origin_fields
from otolith.model.shape import NOTHING, Shape, anything, choice, integer, mapping, number, part, parts, strings, text
from otolith.model.times import day, parse_time, time_or_none

TIME_SPANS = ("short_term", "medium_term", "current", "long_term", "future")
ROLES = ("user", "assistant", "system", "tool", "other")
META_SCHEMA = "entry_meta.v1"
SUMMARY_SCHEMA = "entry_summary.v1"
TOPIC_SCHEMA = "topic_memory.v1"
GLOBAL_SCHEMA = "global_memory.v1"


class Turn(NamedTuple):
    """One thing one speaker said. `start` and `stop` say where it stands in raw.md."""

    number: int
    speaker: str
    role: str
    text: str
    ts: str | None = None
    start: int = 0
    stop: int = 0


class Fact(Shape):
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
    # Known only once a topic's facts are brought together:
    id: str | None = text(default=None, sparse=True)
    topic: str | None = text(default=None, sparse=True)
    evidence: tuple[str, ...] | None = strings(default=None, sparse=True)
    evidence_count: int | None = integer(0, default=None, sparse=True)
    valid_from: str | None = text(default=None, sparse=True)
    valid_until: str | None = text(default=None, sparse=True)
    superseded_by: str | None = text(default=None, sparse=True)

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

    def card(self, topic: str, project: str | None = None) -> Card:
        record, title = self.id or self.id_in(topic), self.title
        said = parse_time(self.entry_ts) if self.entry_ts else 0.0
        score = self.user_fact_score
        return Card(
            id=record, kind="fact", type=self.type, title=title,
            text=f"{title}\n{self.sentence}" if self.sentence else title, created=said,
            importance=score / 10 if score is not None else 0.5, confidence=self.confidence, topic=topic, project=project,
            trust=self.trust or "user", sunk=score == 0 or self.superseded_by is not None, pinned=score == 10,
            valid_from=parse_time(self.valid_from) if self.valid_from else None,
            valid_until=parse_time(self.valid_until) if self.valid_until else None,
            links=(Link(source=self.superseded_by, type="supersedes", target=record),) if self.superseded_by else (),
        )


class EntryMeta(Shape):
    """What is known of a dialog besides its words."""

    schema: str = text(default=META_SCHEMA)
    entry_id: str = text()
    entry_ts: str = text()
    topic: str = text()
    source: str = text(default="interaction")
    title: str | None = text(default=None, sparse=True)
    conversation_id: str | None = text(default=None, sparse=True)
    key: str | None = text(default=None, sparse=True)  # what the writer's key came to; the same key finds the entry again
    roles: dict[str, str] | None = mapping(default=None, sparse=True)  # speaker → role, where the names do not say it
    tags: tuple[str, ...] = strings(default=None, sparse=True)
    origin: Origin | None = part(Origin, default=None, sparse=True)

    def check(self) -> None:
        check_id(self.entry_id, "entry_id")
        parse_time(self.entry_ts, "entry_ts")

    def trust_of(self, speaker: str | None) -> str:
        """How far to trust what a speaker of that trust states here: no more than whoever logged it.

        A hook is no writer: it reads what was said from the transcript, so the user's turns in it are the user's.
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


class Entry(Shape):
    """A logged dialog: its turns, what is known of it, and what was drawn from it."""

    kind: ClassVar[str] = "entry"
    type: ClassVar[str] = "dialog"

    meta: EntryMeta = part(EntryMeta)
    raw: str = text(default="")
    summary: EntrySummary | None = part(EntrySummary, default=None, sparse=True)
    turns: Sequence[Turn] = anything(default=())
    flaws: Sequence[Finding] | None = anything(default=None, sparse=True)  # what in its files could not be taken

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
        said = self.summary.facts if self.summary else ()
        return tuple(fact.replace(id=fact.id_in(self.topic), topic=self.topic) for fact in said)

    def card(self) -> Card:
        passages = [Passage(turn.start, turn.stop, f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text,
                            str(turn.number), turn.speaker or None, time_or_none(turn.ts))
                    for turn in self.turns]
        return Card(
            id=self.id, kind="entry", type="dialog", title=self.title, text=self.raw, passages=passages or None,
            created=self.created, tags=self.tags, topic=self.meta.topic, importance=0.5,
            names=(f"key:{self.meta.key}",) if self.meta.key else (),
            conversation=self.meta.conversation_id or self.id, **origin_fields(self.meta.origin),
        )


class TopicState(Shape):
    """The human-facing compression of a topic."""

    summary: str = text(default="")
    bounds: tuple[str, ...] = strings(default=())
    open_questions: tuple[str, ...] = strings(default=())
    next_actions: tuple[str, ...] = strings(default=())
    made_by: str = text(default="rules-1", sparse=True)


class Topic(Shape):
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
    trust: str | None = choice(TRUST, default=None, sparse=True)  # that of the least trusted entry it is built from

    def check(self) -> None:
        check_topic(self.topic)

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
        return Card(id=self.id, kind="topic", type="topic", title=self.topic, text="\n".join(line for line in lines if line),
                    created=self.created, topic=self.topic, importance=0.5, trust=trust)


class GlobalMemory(Shape):
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
            found = getattr(self, name)
            if not isinstance(found, list | tuple) or not all(isinstance(item, Mapping) for item in found):
                raise Invalid(f"{name} must be a list of objects")
        if not all(isinstance(topic.get("state") or {}, Mapping) for topic in self.active_topics):
            raise Invalid("active_topics must have an object as state")

    @property
    def created(self) -> float:
        return parse_time(self.updated) if self.updated else 0.0

    def card(self) -> Card:
        lines = [f"{topic.get('topic', '')}: {(topic.get('state') or {}).get('summary', '')}" for topic in self.active_topics]
        levels = [part.get("trust") for part in (*self.do_not_forget, *self.active_topics)]
        return Card(id="global", kind="global", type="global", title=self.title, created=self.created, importance=0.5,
                    text="\n".join(line for line in lines if line), trust="outside" if "outside" in levels else "agent")
