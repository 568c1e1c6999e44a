"""The work ladder's values: Work with its five layers, and Agent (seed 003); a work as text.

A work has depths of its own, so that an agent can peek cheaply before it loads everything: summary ⊂ outcome
⊂ reasoning ⊂ full ⊂ complete, each beginning with the text of the one before. Nothing is cut to a size; who
delivers the text counts its tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, ClassVar

from otolith.errors import Invalid
from otolith.model.ids import check_agent_id, check_prefixed
from otolith.model.kinds import TASK_TYPES, WORK_LINKS
from otolith.model.record import DEPTHS, Card, Link, Origin, Record, Usage, drop_targets
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
    plain,
    strings,
    text,
)
from otolith.model.times import MILLISECONDS_ABOVE, zulu

ACTION_TYPES = ("file_read", "file_edit", "file_create", "file_delete", "command_run", "search",
                "external_query")
FAILURES = ("incorrect_assumption", "unexpected_side_effect", "missing_dependency", "race_condition",
            "type_error", "test_failure", "build_failure", "runtime_error", "logic_error", "other")
VERIFICATIONS = ("test", "build", "manual", "lint", "typecheck")
MAX_NESTED = 40  # objects or lists within each other
OPERATIONS = ("read", "edit", "create", "delete")  # weakest first
RAW_DIFFS = ("diff", "diff_hash")  # the detail keys that only `complete` shows


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """Every text within a JSON value, but for what is nested beyond reason."""
    if isinstance(value, str):
        yield value
    elif depth < MAX_NESTED:
        items = value.values() if isinstance(value, Mapping) else value
        for item in items if isinstance(value, Mapping | list | tuple) else ():
            yield from _texts(item, depth + 1)


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
    """Relations to other works, as given; the inverse is derived. The last two hold one id or several."""

    caused_by: tuple[str, ...] | None = strings(default=None, sparse=True)
    led_to: tuple[str, ...] | None = strings(default=None, sparse=True)
    related_to: tuple[str, ...] | None = strings(default=None, sparse=True)
    supersedes: str | tuple[str, ...] | None = one_or_many(default=None)
    blocked_by: str | tuple[str, ...] | None = one_or_many(default=None)

    def targets(self, word: str) -> tuple[str, ...]:
        """The ids under one word, always as a tuple."""
        value = getattr(self, word)
        return () if value is None else (value,) if isinstance(value, str) else tuple(value)


class Work(Record):
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
    requests: tuple[str, ...] | None = strings(default=None, sparse=True)  # of the session it was made from
    origin: Origin | None = part(Origin, default=None, sparse=True)

    def check(self) -> None:
        check_prefixed(self.id, "mem")
        for word, times in (self.links_at or {}).items():
            if not isinstance(times, Mapping) or not all(isinstance(t, int | float) for t in times.values()):
                raise Invalid(f"links_at.{word} must name ids with a time each")

    @property
    def title(self) -> str:
        return self.intent.goal

    @property
    def type(self) -> str:
        return self.intent.task_type

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

    def diffs(self) -> frozenset[str]:
        """The hashes of all its diffs; none if it changed a file in a way that no hash tells."""
        edits = [(action.details.diff_hash or "").split() for action in self.actions
                 if action.type.startswith("file_") and action.type != "file_read"]
        return frozenset(mark for marks in edits for mark in marks) if all(edits) else frozenset()

    def all_links(self) -> list[Link]:
        """Its links with the time each was made, where that is known."""
        times = self.links_at or {}
        return [Link(source=self.id, type=word, target=target,
                     created=times.get(word, {}).get(target, self.created_at))
                for word in WORK_LINKS for target in self.links.targets(word)]

    def with_link(self, link: Link) -> Work:
        """The work with this link as given, and when it was made."""
        times = {word: dict(ends) for word, ends in (self.links_at or {}).items()}
        times.setdefault(link.type, {})[link.target] = int(link.created or 0)
        links = self.links.replace(**{link.type: (*self.links.targets(link.type), link.target)})
        return self.replace(links=links, links_at=times)

    def own_targets(self) -> set[str]:
        return {target for word in WORK_LINKS for target in self.links.targets(word)}

    def without_links(self, gone: Collection[str], word: str | None = None) -> Work:
        """The work without its links to these records, or only those of one type."""
        lists = {name: tuple(target for target in self.links.targets(name) if target not in gone)
                 for name in WORK_LINKS if word in (None, name) and getattr(self.links, name) is not None}
        links = self.links.replace(**lists)
        return self.replace(links=links, links_at=drop_targets(self.links_at, gone, word))

    def prose(self) -> str:
        """Every layer as text, for the index."""
        seen = [f"{o.what} {o.where} {o.significance}" for o in self.perception.observations]
        files = [f"{f.path} {f.relevance} {f.state_summary}" for f in self.perception.relevant_files]
        ways = [f"{a.approach} {a.why_rejected}" for a in self.reasoning.alternatives_considered]
        steps = [" ".join(filter(None, (a.details.diff_summary, a.details.command, a.details.query,
                                        a.details.file_path, a.result.output_summary, a.result.error)))
                 for a in self.actions]
        outcome, thought = self.outcome, self.reasoning
        lines = [outcome.summary, *outcome.learnings, outcome.failure_reason,
                 *(outcome.follow_up_needed or ()), self.intent.context, *self.intent.constraints,
                 thought.approach_chosen, thought.why_chosen, *thought.assumptions, *thought.risks_identified,
                 *ways, *seen, *self.perception.patterns_noticed, *self.perception.anomalies, *files, *steps,
                 *self._further()]
        return "\n".join(line for line in lines if line)

    def _further(self) -> Iterator[str]:
        """The texts under keys that the layers do not know, but for raw diffs: to be found again."""
        layers: list[Shape | None] = [
            self.intent, self.perception, *self.perception.observations, *self.perception.relevant_files,
            self.reasoning, *self.reasoning.alternatives_considered, *self.actions,
            *(part for action in self.actions for part in (action.details, action.result)),
            self.outcome, self.outcome.verified_by]
        for layer in layers:
            for key, value in layer.extra.items() if layer else ():
                if key not in RAW_DIFFS:
                    yield from _texts(value)

    def whole(self) -> str:
        return self.at_depth("full")

    def at_depth(self, depth: str) -> str:
        """The work as far as a depth shows it, one line a thought."""
        if depth not in DEPTHS:
            raise Invalid(f"depth must be one of {', '.join(DEPTHS)}; got {depth!r}")
        layers = (_summary, _outcome, _reasoning, _everything, _raw)
        return "\n".join(line for layer in layers[: DEPTHS.index(depth) + 1] for line in layer(self) if line)

    def card(self) -> Card:
        return self.make_card(
            self.prose(), tags=self.tags, importance=self.importance, success=self.outcome.success,
            project=self.project_id, agent=self.agent_id, session=self.session_id or None,
            conversation=self.session_id or None, links=self.all_links(), files=self.files(),
            usage=Usage(self.access_count, self.last_accessed))


class Agent(Record):
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
    def title(self) -> str:
        return self.id

    def card(self) -> Card:
        return self.make_card("", agent=self.id, project=self.project_id)


# A work as text


def _summary(work: Work) -> Iterator[str]:
    yield f"{work.intent.goal} → {work.outcome.summary}"


def _outcome(work: Work) -> Iterator[str]:
    outcome = work.outcome
    if outcome.success and work.requests and not outcome.verified_by:
        yield "Done; no check was run after the last change."
    elif outcome.success:
        yield "Succeeded."
    else:
        kind = f" ({outcome.failure_category})" if outcome.failure_category else ""
        yield f"Failed{kind}: {outcome.failure_reason}" if outcome.failure_reason else f"Failed{kind}."
    yield from _list("Learned", outcome.learnings)
    if outcome.verified_by:
        checked = outcome.verified_by
        command = f" `{checked.command}`" if checked.command else ""
        how = f"Verified by {checked.type}{command}: {checked.result}"
        yield _joined(how, _rest(checked.extra))
    yield from _list("Still to do", outcome.follow_up_needed or ())
    yield _rest(outcome.extra)


def _reasoning(work: Work) -> Iterator[str]:
    thought = work.reasoning
    if thought.approach_chosen or thought.why_chosen:
        yield f"Approach: {_joined(thought.approach_chosen, thought.why_chosen)}"
    yield from _list("Rejected", (_joined(way.approach, way.why_rejected, _rest(way.extra))
                                 for way in thought.alternatives_considered))
    yield from _list("Assumed", thought.assumptions)
    yield from _list("Risks", thought.risks_identified)
    yield _rest(thought.extra)


def _everything(work: Work) -> Iterator[str]:
    yield f"{work.intent.task_type} by {work.agent_id} in {work.project_id}, {zulu(work.created)}, {work.id}"
    yield f"Why: {work.intent.context}" if work.intent.context else ""
    yield from _list("Constraints", work.intent.constraints)
    seen = work.perception
    yield from _list("Seen", (_joined(f"{note.what} ({note.where})" if note.where else note.what,
                                      note.significance, _rest(note.extra)) for note in seen.observations))
    yield from _list("Files", (_joined(near.path, near.relevance, near.state_summary, _rest(near.extra))
                               for near in seen.relevant_files))
    yield from _list("Patterns", seen.patterns_noticed)
    yield from _list("Anomalies", seen.anomalies)
    yield from _list("Did", (_step(action) for action in work.actions))
    for word in WORK_LINKS:
        targets = work.links.targets(word)
        yield f"{word}: {', '.join(targets)}" if targets else ""
    yield f"Tags: {', '.join(work.tags)}" if work.tags else ""
    yield f"Importance {work.importance:g}" + (f", session {work.session_id}" if work.session_id else "")
    yield _rest(work.intent.extra)
    yield _rest(seen.extra)
    yield _rest(work.extra)


def _raw(work: Work) -> Iterator[str]:
    """What only the deepest look needs: raw diffs, since when a link stands, where the record came from."""
    for at, action in enumerate(work.actions, start=1):
        details = action.details.to_dict()
        for key in RAW_DIFFS:
            if details.get(key):
                yield f"Step {at} {key}: {details[key]}"
    for word, times in (work.links_at or {}).items():
        yield from (f"{word} {target} since {zulu(when) if 0 <= when < MILLISECONDS_ABOVE else when}"
                    for target, when in times.items())
    if work.requests:
        yield f"Requests: {', '.join(work.requests)}"
    if work.origin:
        fields = work.origin.to_dict().items()
        yield "Origin: " + ", ".join(f"{key} {value}" for key, value in fields if value)


def _step(action: Action) -> str:
    """An action on one line: what, on what, how it went; unknown details come last under their own names."""
    about, went = action.details, action.result
    place = f"{about.file_path or ''}{f':{about.lines_affected}' if about.lines_affected else ''}"
    where = f"in {about.working_directory}" if about.working_directory else ""
    scope = f"within {about.scope}" if about.scope else ""
    head = " ".join(filter(None, (action.type, place, f"`{about.command}`" if about.command else "", where,
                                  f'"{about.query}"' if about.query else "", scope)))
    ending = "ok" if went.success else "failed"
    if went.duration_ms is not None:
        ending += f", {went.duration_ms:g} ms"
    if action.timestamp is not None:
        ending += f", {zulu(action.timestamp)}"
    error = f"error: {went.error}" if went.error else ""
    details = [about.diff_summary or "", went.output_summary or "", error,
               _rest({key: value for key, value in about.extra.items() if key not in RAW_DIFFS}),
               _rest(went.extra), _rest(action.extra)]
    return f"{_joined(head, *details)} ({ending})"


def _joined(*parts: str) -> str:
    return " — ".join(part for part in parts if part)


def _list(word: str, items: Iterable[str]) -> Iterator[str]:
    """`Word: item` for one item, a heading and dashes for several."""
    lines = [item for item in items if item]
    if len(lines) == 1:
        yield f"{word}: {lines[0]}"
    elif lines:
        yield f"{word}:"
        yield from (f"- {line}" for line in lines)


def _rest(extra: Any) -> str:
    """Keys that no field claims, under their own names."""
    return "; ".join(f"{key}: {plain(value)}" for key, value in extra.items())
