"""The dialog ladder's values: Turn, Entry, Fact, Topic, GlobalMemory (seed 002); and a dialog's text as turns.

Entries and their facts are append-only; topics and the global memory are built. A person's scores come from the
curation file and are laid over the facts; they are never written into them. Three ways of writing a dialog are
understood, told apart by the document's first header: `### Ann · time` (as Strata writes it), `**Ann:** …`, and `Ann: …`.
A text without headers is one turn. Nothing is lost either way: a turn's start and stop say where it stands in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from strata.errors import Invalid
from strata.model.finding import Finding
from strata.model.ids import check_id, check_topic, fact_id
from strata.model.record import TRUST, Card, Link, Origin, Passage, origin_fields
from strata.model.shape import NOTHING, Shape, anything, choice, integer, mapping, number, part, parts, strings, text
from strata.model.times import day, parse_time, time_or_none, zulu

FACT_TYPES = ("identity", "commitment", "constraint", "preference", "trait", "event")  # the order of do_not_forget
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

    @property
    def title(self) -> str:
        return " ".join(part for part in (self.subject, self.relation, self.object) if part)

    def card(self, topic: str, project: str | None = None) -> Card:
        said = parse_time(self.entry_ts) if self.entry_ts else 0.0
        score = self.user_fact_score
        return Card(
            id=self.id_in(topic), kind="fact", type=self.type, title=self.title,
            text=f"{self.title}\n{self.sentence}" if self.sentence else self.title, created=said,
            importance=score / 10 if score is not None else 0.5, confidence=self.confidence, topic=topic, project=project,
            trust=self.trust or "user", sunk=score == 0 or self.superseded_by is not None, pinned=score == 10,
            valid_from=parse_time(self.valid_from) if self.valid_from else None,
            valid_until=parse_time(self.valid_until) if self.valid_until else None,
            links=(Link(source=self.superseded_by, type="supersedes", target=self.id_in(topic)),) if self.superseded_by else (),
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


# Turns as text

_OURS = re.compile(r"^### (?P<speaker>[^\n·]{1,80}?)(?: · (?P<ts>[0-9][0-9T:.Z+-]{3,40}))?[ \t]*$", re.MULTILINE)
_BOLD = re.compile(r"^\*\*(?P<speaker>[^*\n:]{1,60})(?::\*\*|\*\*:)(?P<ts>)[ \t]*", re.MULTILINE)
_PLAIN = re.compile(
    r"^(?P<speaker>(?:[A-Z][\w.'’-]{0,30}(?: [A-Z][\w.'’-]{0,30}){0,2}|user|assistant|system|tool|human))"
    r"(?: \[(?P<ts>[0-9][0-9T:.Z+-]{3,40})\])?:[ \t]+", re.MULTILINE)
_ROLE_NAMES = {
    "user": "user", "human": "user", "me": "user", "you": "user", "assistant": "assistant", "ai": "assistant",
    "agent": "assistant", "claude": "assistant", "chatgpt": "assistant", "gpt": "assistant", "codex": "assistant",
    "gemini": "assistant", "bot": "assistant", "model": "assistant", "system": "system", "developer": "system",
    "tool": "tool", "function": "tool",
}


def role_of(speaker: str) -> str:
    """The role a speaker's name stands for; any other name is a person."""
    return _ROLE_NAMES.get(speaker.strip().casefold(), "user")


def read_turns(raw: str, roles: Mapping[str, str] | None = None) -> list[Turn]:
    """The turns of a dialog's text, in order, numbered from 1."""
    known = roles or {}
    first = {style: found.start() for style in (_OURS, _BOLD, _PLAIN) if (found := style.search(raw))}
    if not first:
        body = raw.strip()
        return [Turn(1, "", "user", body, None, 0, len(raw))] if body else []
    style = min(first, key=lambda style: first[style])
    heads = list(style.finditer(raw))
    turns = []
    if raw[: heads[0].start()].strip():
        turns.append(Turn(1, "", "other", raw[: heads[0].start()].strip(), None, 0, heads[0].start()))
    for at, head in enumerate(heads):
        stop = heads[at + 1].start() if at + 1 < len(heads) else len(raw)
        said = raw[head.end() : stop].strip()
        if style is _OURS:
            said = re.sub(r"^\\(?=\\*### )", "", said, flags=re.MULTILINE)
        speaker = head["speaker"].strip()
        turns.append(Turn(len(turns) + 1, speaker, known.get(speaker, role_of(speaker)), said,
                          head["ts"] or None, head.start(), stop))
    return turns


def read_messages(text: str) -> list[dict[str, Any]] | None:
    """The messages in a JSON text: a list, an object that holds one, or an object a line, as transcripts are written.

    None if the text is anything else: then it is the dialog itself.
    """
    opening = text.lstrip("\ufeff \t\r\n")[:1]
    if opening not in ("[", "{"):
        return None
    import json

    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        try:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            return None
    if isinstance(found, Mapping):
        found = next((found[key] for key in ("messages", "turns", "dialog", "conversation") if key in found), [found])
    if not isinstance(found, list):
        return None
    messages = [message for one in found if isinstance(one, Mapping) and (message := as_message(one))["content"]]
    return messages or None


def as_message(given: Mapping[str, Any]) -> dict[str, Any]:
    """A message of any common writing as role, name, content and ts; of a list of parts only the text is kept."""
    inner = given["message"] if isinstance(given.get("message"), Mapping) else given
    said = next((inner[key] for key in ("content", "text", "value", "message") if inner.get(key)), "")
    if isinstance(said, list | tuple):
        parts = [part if isinstance(part, str) else part.get("text", "") if isinstance(part, Mapping) else "" for part in said]
        said = "\n\n".join(part for part in parts if isinstance(part, str) and part)
    speaker = inner.get("name") or inner.get("speaker") or inner.get("author")
    role = inner.get("role") or inner.get("from") or given.get("type") or "user"
    return {"role": str(role), "name": speaker if isinstance(speaker, str) else None,
            "content": said if isinstance(said, str) else "",
            "ts": next((given[key] for key in ("ts", "timestamp", "time", "created_at") if given.get(key)), None)}


def write_turns(messages: Iterable[Mapping[str, Any]]) -> tuple[str, dict[str, str]]:
    """A list of messages as raw.md, and the roles that the speakers' names do not tell."""
    blocks, roles = [], {}
    for at, message in enumerate(messages):
        if not isinstance(message, Mapping) or not isinstance(message.get("content"), str):
            raise Invalid(f"message {at + 1} must be an object with role and content")
        role = str(message.get("role", "user"))
        speaker = " ".join(str(message.get("name") or role).replace("·", "-").split())[:80] or role
        kind = role if role in ROLES else _ROLE_NAMES.get(role.casefold(), "other")
        if role_of(speaker) != kind:
            roles[speaker] = kind
        when = message.get("ts") or message.get("timestamp")
        stamp = f" · {zulu(parse_time(when, 'ts'))}" if when else ""
        said = re.sub(r"^(?=\\*### )", r"\\", message["content"], flags=re.MULTILINE)
        blocks.append(f"### {speaker}{stamp}\n\n{said}\n")
    return "\n".join(blocks), roles
