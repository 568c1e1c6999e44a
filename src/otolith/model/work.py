"""The work ladder's values: Work with its five layers, Agent, Chapter, Wisdom (seed 003)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from otolith.errors import Invalid
from otolith.model.ids import check_agent_id, check_prefixed
from otolith.model.kinds import TASK_TYPES
from otolith.model.record import TRUST, WORK_TYPES, Card, Link, Origin, Usage, drop_targets, origin_fields
from otolith.model.shape import (
    NOTHING,
    Shape,
    choice,
    flag,
    integer,
    mapping,
    number,
    one_or_many,
    part,
    parts,
    strings,
    text,
)

ACTION_TYPES = ("file_read", "file_edit", "file_create", "file_delete", "command_run", "search", "external_query")
FAILURES = ("incorrect_assumption", "unexpected_side_effect", "missing_dependency", "race_condition", "type_error",
            "test_failure", "build_failure", "runtime_error", "logic_error", "other")
VERIFICATIONS = ("test", "build", "manual", "lint", "typecheck")
OPERATIONS = ("read", "edit", "create", "delete")  # weakest first


class Intent(Shape):
    """What was to be accomplished, and why."""

    goal: str = text(filled=True)
    task_type: str = choice(TASK_TYPES)
    context: str = text(default="")
    constraints: tuple[str, ...] = strings(default=())


class Observation(Shape):
    """Something seen."""

    what: str = text()
    where: str = text(default="")
    significance: str = text(default="")


class FileContext(Shape):
    """A file that mattered."""

    path: str = text()
    relevance: str = text(default="")
    state_summary: str = text(default="")


class Perception(Shape):
    """What was observed about the code or the situation."""

    observations: tuple[Observation, ...] = parts(Observation, default=())
    relevant_files: tuple[FileContext, ...] = parts(FileContext, default=())
    patterns_noticed: tuple[str, ...] = strings(default=())
    anomalies: tuple[str, ...] = strings(default=())


class Alternative(Shape):
    """A way not taken."""

    approach: str = text()
    why_rejected: str = text(default="")


class Reasoning(Shape):
    """How the approach was decided on."""

    approach_chosen: str = text(default="")
    why_chosen: str = text(default="")
    alternatives_considered: tuple[Alternative, ...] = parts(Alternative, default=())
    assumptions: tuple[str, ...] = strings(default=())
    risks_identified: tuple[str, ...] = strings(default=())


class ActionDetails(Shape):
    """What an action was about; unknown keys are kept."""

    file_path: str | None = text(default=None, sparse=True)
    lines_affected: str | None = text(default=None, sparse=True)
    diff_hash: str | None = text(default=None, sparse=True)
    diff_summary: str | None = text(default=None, sparse=True)
    command: str | None = text(default=None, sparse=True)
    working_directory: str | None = text(default=None, sparse=True)
    query: str | None = text(default=None, sparse=True)
    scope: str | None = text(default=None, sparse=True)


class ActionResult(Shape):
    """How an action went."""

    success: bool = flag(default=True)
    output_summary: str | None = text(default=None, sparse=True)
    error: str | None = text(default=None, sparse=True)
    duration_ms: float | None = number(0, default=None, sparse=True)


class Action(Shape):
    """One step that was taken."""

    type: str = choice(ACTION_TYPES)
    timestamp: float | None = number(default=None, sparse=True)
    details: ActionDetails = part(ActionDetails, default=NOTHING)
    result: ActionResult = part(ActionResult, default=NOTHING)


class Verification(Shape):
    """How the outcome was checked."""

    type: str = choice(VERIFICATIONS)
    command: str | None = text(default=None, sparse=True)
    result: str = text()


class Outcome(Shape):
    """What came of it; failed work is kept as well as successful work."""

    success: bool = flag()
    summary: str = text()
    learnings: tuple[str, ...] = strings(default=())
    failure_reason: str | None = text(default=None, sparse=True)
    failure_category: str | None = choice(FAILURES, default=None, sparse=True)
    verified_by: Verification | None = part(Verification, default=None, sparse=True)
    follow_up_needed: tuple[str, ...] | None = strings(default=None, sparse=True)


class WorkLinks(Shape):
    """Relations to other works, as given; the inverse is derived. `supersedes` and `blocked_by` hold one id or several."""

    caused_by: tuple[str, ...] | None = strings(default=None, sparse=True)
    led_to: tuple[str, ...] | None = strings(default=None, sparse=True)
    related_to: tuple[str, ...] | None = strings(default=None, sparse=True)
    supersedes: str | tuple[str, ...] | None = one_or_many(default=None)
    blocked_by: str | tuple[str, ...] | None = one_or_many(default=None)

    def targets(self, word: str) -> tuple[str, ...]:
        """The ids under one word, always as a tuple."""
        value = getattr(self, word)
        return () if value is None else (value,) if isinstance(value, str) else tuple(value)


class Work(Shape):
    """An atomic unit of meaningful work in five layers."""

    kind: ClassVar[str] = "work"

    id: str = text()
    agent_id: str = text(default="main")
    project_id: str = text(default="default")
    created_at: float = number(0)
    session_id: str = text(default="")
    intent: Intent = part(Intent)
    perception: Perception = part(Perception, default=NOTHING)
    reasoning: Reasoning = part(Reasoning, default=NOTHING)
    actions: tuple[Action, ...] = parts(Action, default=())
    outcome: Outcome = part(Outcome)
    links: WorkLinks = part(WorkLinks, default=NOTHING)
    tags: tuple[str, ...] = strings(default=())
    importance: float = number(0, 1, default=0.5)
    access_count: int = integer(0, default=0)
    last_accessed: float | None = number(default=None)
    links_at: dict[str, dict[str, float]] | None = mapping(default=None, sparse=True)
    origin: Origin | None = part(Origin, default=None, sparse=True)

    def check(self) -> None:
        check_prefixed(self.id, "mem")
        for word, times in (self.links_at or {}).items():
            if not isinstance(times, Mapping) or not all(isinstance(when, int | float) for when in times.values()):
                raise Invalid(f"links_at.{word} must name ids with a time each")

    @property
    def title(self) -> str:
        return self.intent.goal

    @property
    def type(self) -> str:
        return self.intent.task_type

    @property
    def created(self) -> float:
        return float(self.created_at)

    def files(self) -> list[tuple[str, str]]:
        """(path, strongest operation) of every file the work touched or looked at."""
        strongest: dict[str, str] = {seen.path: "read" for seen in self.perception.relevant_files}
        for action in self.actions:
            path = action.details.file_path
            if path and action.type.startswith("file_"):
                operation = action.type.removeprefix("file_")
                before = strongest.get(path, "read")
                strongest[path] = max(before, operation, key=OPERATIONS.index)
        return sorted(strongest.items())

    def with_link(self, link: Link) -> Work:
        """The work with this link as given, and when it was made."""
        times = {word: dict(ends) for word, ends in (self.links_at or {}).items()}
        times.setdefault(link.type, {})[link.target] = int(link.created or 0)
        links = self.links.replace(**{link.type: (*self.links.targets(link.type), link.target)})
        return self.replace(links=links, links_at=times)

    def without_links(self, gone: Collection[str], word: str | None = None) -> Work:
        """The work without its own links to these records, of one word or of all."""
        words = [name for name in ([word] if word else WORK_TYPES) if getattr(self.links, name) is not None]
        lists = {name: tuple(end for end in self.links.targets(name) if end not in gone) for name in words}
        return self.replace(links=self.links.replace(**lists), links_at=drop_targets(self.links_at, gone, word))

    def all_links(self) -> list[Link]:
        """Its links with the time each was made, where that is known."""
        times = self.links_at or {}
        return [
            Link(source=self.id, type=word, target=target, created=times.get(word, {}).get(target, self.created_at))
            for word in WORK_TYPES for target in self.links.targets(word)
        ]

    def prose(self) -> str:
        """Every layer as text, for the index."""
        seen = [f"{o.what} {o.where} {o.significance}" for o in self.perception.observations]
        files = [f"{f.path} {f.relevance} {f.state_summary}" for f in self.perception.relevant_files]
        ways = [f"{a.approach} {a.why_rejected}" for a in self.reasoning.alternatives_considered]
        steps = [" ".join(str(value) for value in (a.details.diff_summary, a.details.command, a.details.query,
                                                   a.details.file_path, a.result.output_summary, a.result.error) if value)
                 for a in self.actions]
        outcome = self.outcome
        lines = [outcome.summary, *outcome.learnings, outcome.failure_reason or "", *(outcome.follow_up_needed or ()),
                 self.intent.context, *self.intent.constraints, self.reasoning.approach_chosen, self.reasoning.why_chosen,
                 *self.reasoning.assumptions, *self.reasoning.risks_identified, *ways, *seen,
                 *self.perception.patterns_noticed, *self.perception.anomalies, *files, *steps]
        return "\n".join(line for line in lines if line)

    def card(self) -> Card:
        fields = {**origin_fields(self.origin), "project": self.project_id, "agent": self.agent_id,
                  "session": self.session_id or None}
        return Card(
            id=self.id, kind="work", type=self.intent.task_type, title=self.intent.goal, text=self.prose(),
            created=self.created, tags=self.tags, importance=self.importance, success=self.outcome.success,
            conversation=self.session_id or None, links=self.all_links(), files=self.files(),
            usage=Usage(self.access_count, self.last_accessed), **fields,
        )


class Agent(Shape):
    """Who works: a main agent, or a subagent with its parent."""

    kind: ClassVar[str] = "agent"

    id: str = text()
    type: str = choice(("main", "subagent"), default="main")
    parent_id: str | None = text(default=None)
    project_id: str = text(default="default")
    created_at: float = number(0)
    metadata: dict[str, Any] = mapping(default=NOTHING)

    def check(self) -> None:
        check_agent_id(self.id)
        if self.type == "subagent" and not self.parent_id:
            raise Invalid("a subagent needs a parent_id", "name the agent that started it")
        if self.parent_id == self.id:
            raise Invalid("an agent cannot be its own parent")

    @property
    def created(self) -> float:
        return float(self.created_at)

    @property
    def title(self) -> str:
        return self.id

    def card(self) -> Card:
        return Card(id=self.id, kind="agent", type=self.type, title=self.id, created=self.created, agent=self.id,
                    project=self.project_id)


class Told(Shape):
    """A stretch of a project's history, told from what lies below it: how chapters and wisdom begin."""

    kind: ClassVar[str]

    id: str = text()
    project_id: str = text(default="default")
    created_at: float = number(0)
    updated_at: float = number(0)
    title: str | None = text(default=None, sparse=True)
    summary: str = text()

    def check(self) -> None:
        check_prefixed(self.id, self.kind)

    @property
    def created(self) -> float:
        return float(self.created_at)


class Chapter(Told):
    """Related works as one narrative."""

    kind: ClassVar[str] = "chapter"

    learnings: tuple[str, ...] | None = strings(default=None, sparse=True)
    start_ts: float = number(0)
    end_ts: float = number(0)
    tags: tuple[str, ...] | None = strings(default=None, sparse=True)
    topics: tuple[str, ...] | None = strings(default=None, sparse=True)
    origin: str = choice(("manual", "auto"), default="manual")
    memories: tuple[str, ...] = strings(default=())  # the join records: their order is the position
    rule: str | None = text(default=None, sparse=True)
    fingerprint: str | None = text(default=None, sparse=True)
    trust: str | None = choice(TRUST, default=None, sparse=True)

    @property
    def type(self) -> str:
        return self.origin

    def card(self) -> Card:
        links = [Link(source=member, type="part_of", target=self.id, created=self.created_at) for member in self.memories]
        return Card(id=self.id, kind="chapter", type=self.origin, title=self.title or self.summary[:80],
                    text="\n".join([self.summary, *(self.learnings or ())]), created=self.created,
                    updated=float(self.updated_at), tags=self.tags or (), project=self.project_id, importance=0.5,
                    trust=self.trust or "user", links=links)


class Wisdom(Told):
    """What several chapters of a project teach together."""

    kind: ClassVar[str] = "wisdom"
    type: ClassVar[str] = "wisdom"

    insights: tuple[str, ...] | None = strings(default=None, sparse=True)
    patterns: tuple[str, ...] | None = strings(default=None, sparse=True)
    best_practices: tuple[str, ...] | None = strings(default=None, sparse=True)
    tags: tuple[str, ...] | None = strings(default=None, sparse=True)
    start_ts: float = number(0)
    end_ts: float = number(0)
    chapters: tuple[str, ...] = strings(default=())
    fingerprint: str | None = text(default=None, sparse=True)
    made_by: str | None = text(default=None, sparse=True)
    trust: str | None = choice(TRUST, default=None, sparse=True)

    def card(self) -> Card:
        lines = [self.summary, *(self.insights or ()), *(self.patterns or ()), *(self.best_practices or ())]
        links = [Link(source=chapter, type="part_of", target=self.id, created=self.created_at) for chapter in self.chapters]
        return Card(id=self.id, kind="wisdom", type="wisdom", title=self.title or self.summary[:80], text="\n".join(lines),
                    created=self.created, updated=float(self.updated_at), tags=self.tags or (), project=self.project_id,
                    importance=0.5, trust=self.trust or "user", links=links)
