"""`record` work in five layers, edit it, register the agents that do it, and put into cold storage what is
old.

A work is credited to whoever writes it; every agent of a project reads all of it. Short input is enough: the
goal, the kind of task, whether it succeeded, and a summary; fields may stand in their layers or flat beside
each other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from otolith.errors import Conflict, Invalid, NotFound
from otolith.files import codec, paths
from otolith.home import Home
from otolith.index.works import Shelved
from otolith.model.ids import check_agent_id, check_prefixed
from otolith.model.kinds import WORK_LINKS
from otolith.model.shape import Shape, plain, read_strings, read_tags
from otolith.model.text import check_whole
from otolith.model.work import MAX_NESTED, Agent, Intent, Outcome, Perception, Reasoning, Work, WorkLinks
from otolith.verbs.steps import derived_id, diary_of, each, lay, locate, under_key

if TYPE_CHECKING:
    from otolith.files.intents import PendingAct

LAYERS: dict[str, type[Shape]] = {"intent": Intent, "perception": Perception, "reasoning": Reasoning,
                                  "outcome": Outcome}
FLAT = {field: layer for layer, shape in LAYERS.items() for field in shape._fields if field != "extra"}
WHOLE = (*LAYERS, "actions", "links", "tags", "importance")
CREDITED = ("agent_id", "session_id", "origin", "access_count", "last_accessed", "links_at")
MAX_CHARACTERS = 2_000_000  # of one work; more is a log, not a memory
DAYS = 365
FEW_USES = 1
_DAY = 86_400.0
_LINES = re.compile(r"\s*\d+(?:\s*[-–]\s*\d+)?(?:\s*,\s*\d+(?:\s*[-–]\s*\d+)?)*\s*")


def record(home: Home, work: Mapping[str, Any], *, agent: str | None = None, project: str | None = None,
           session: str | None = None, created: Any = None, key: str | None = None, id: str | None = None,
           trust: str | None = None, usage: tuple[int, float | None] = (0, None)) -> Work:
    """Keep one unit of work: the five layers, or their fields flat beside each other (see FLAT).

    The same key again returns the same work. `id`, `trust` and `usage` are for imports.
    """
    given = gather(work, foreign=id is not None)
    agent, project, session = (value or given.get(f"{name}_id") for name, value in (
        ("agent", agent), ("project", project), ("session", session)))
    when = given.pop("created_at", None) if created is None else created
    origin = home.origin(agent=agent, project=project, session=session, trust=trust)
    new = Work.from_dict({
        **{name: value for name, value in given.items() if not name.endswith("_id")},
        "id": check_prefixed(id, "mem") if id else f"mem_{derived_id(home, 'record', key)}",
        "agent_id": check_agent_id(origin.agent), "project_id": origin.project, "session_id": origin.session,
        "created_at": int(home.moment(when)), "origin": origin,
        "access_count": usage[0], "last_accessed": usage[1]})
    with home.writing():  # of several calls with one key the first keeps it, the others find it
        new, row = under_key(home, new, "record", key, "mem_") if key is not None and not id else (new, None)
        if (key is not None or id) and row is None:
            if home.tree.look(paths.place(new)):  # kept by somebody whose index did not take it
                home.refresh([paths.place(new)])
            row = home.index.cards.find(new.id)
        if row:
            return _same(home, row.id, new)
        if twin := find_twin(home, new):
            home.notices.append(f"{twin.id} holds the same diffs of the same files"
                                + ("; it was not stored again" if twin.session_id == new.session_id else ""))
            if twin.session_id == new.session_id:
                return twin
        new = new.replace(links=check_links(home, new.id, new.links))
        diary_of(home, new, home.create(new, verb="record", origin=origin), new.outcome.summary)
    return new


def find_twin(home: Home, work: Work) -> Work | None:
    """A work of the same project that has every diff of this one, by their hashes."""
    marks, files = work.diffs(), [path for path, operation in work.files() if operation != "read"]
    if not marks:
        return None
    near = [{touch.id for touch in home.index.work.on_file(path, work.project_id, work.project_id)[0]}
            for path in files]
    for other in sorted(set.intersection(*near) - {work.id}):
        kept: Work = home.load(other).record
        if marks <= kept.diffs():
            return kept
    return None


def gather(given: Mapping[str, Any], *, foreign: bool = False) -> dict[str, Any]:
    """The input with every field in its layer: flat fields are put there, `files` become edits.

    Other names are refused; within a layer, unknown keys are kept.
    """
    work: dict[str, Any] = {"intent": {}, "outcome": {}}
    for name, value in given.items():
        if name in LAYERS:
            if isinstance(value, Mapping):
                work[name] = {**work.get(name, {}), **value}
            elif value is not None:
                fields = ", ".join(field for field in FLAT if FLAT[field] == name)
                raise Invalid(f"{name} must be an object", f"it has {fields}")
        elif name in (*WHOLE, "agent_id", "project_id", "session_id", "created_at"):
            work[name] = value
        elif name in FLAT:
            work.setdefault(FLAT[name], {})[name] = value
        elif name != "files":
            raise Invalid(f"a work has no field {name[:40]!r}", f"it has {', '.join((*WHOLE, *FLAT))}")
    if given.get("files"):
        work["actions"] = [*(work.get("actions") or ()), *(
            {"type": "file_edit", "details": {"file_path": path}}
            for path in read_strings(given["files"], "files"))]
    if not foreign:
        _check_given(work)
    if _weigh(work) > MAX_CHARACTERS:
        raise Invalid(f"a work holds at most {MAX_CHARACTERS:,} characters",
                      "condense outputs and diffs; keep the full log elsewhere")
    return {name: value for name, value in work.items() if value is not None}


def _check_given(work: Mapping[str, Any]) -> None:
    """What a file may hold and a writer may not give: empty tags, unknown links, invalid ranges of lines."""
    if work.get("tags") is not None:
        read_tags(work["tags"])
    links, actions = work.get("links"), work.get("actions")
    for word in links if isinstance(links, Mapping) else ():
        if word not in WORK_LINKS:
            raise Invalid(f"links has no {word!r}", f"it has {', '.join(WORK_LINKS)}")
    for at, action in enumerate(actions if isinstance(actions, list | tuple) else ()):
        details = action.get("details") if isinstance(action, Mapping) else None
        lines = details.get("lines_affected") if isinstance(details, Mapping) else None
        if isinstance(lines, str) and not _LINES.fullmatch(lines):
            raise Invalid(f"actions[{at}].details.lines_affected is not a range of lines: {lines!r:.60}",
                          'write "45" or "45-67"')


def _weigh(value: Any, limit: int = MAX_CHARACTERS, depth: int = 0) -> int:
    """About how many characters a value holds; stops counting soon after the limit."""
    if isinstance(value, str):
        return len(value)
    if depth > MAX_NESTED:
        raise Invalid("the work is nested too deeply",
                      f"at most {MAX_NESTED} objects or lists within each other")
    total = 8
    for item in value.values() if isinstance(value,
                                             Mapping) else value if isinstance(value, list | tuple) else ():
        total += _weigh(item, limit - total, depth + 1)
        if total > limit:
            break
    return total


def _same(home: Home, id: str, new: Work) -> Work:
    """What an earlier call with the same key kept, if its content is the same."""
    kept: Work = home.load(id).record
    layers = ("intent", "perception", "reasoning", "actions", "outcome", "tags")
    if any(plain(getattr(kept, name)) != plain(getattr(new, name)) for name in layers):
        raise Conflict(f"another work was recorded as {id}", "use another key, or edit that work")
    return kept


def check_links(home: Home, source: str, links: WorkLinks) -> WorkLinks:
    """The links with whole ids; a target must be another work, and `supersedes` must not run in a circle."""
    from otolith.verbs.links import refuse_cycle

    changes: dict[str, tuple[str, ...]] = {}
    for word in WORK_LINKS:
        rows = [locate(home, target) for target in links.targets(word)]
        for row in rows:
            if row.kind != Work.kind:
                raise Invalid(f"links.{word} must name works; {row.id} is a {row.kind}",
                              f"relate them with: otolith link {source} {word} {row.id}")
            if row.id == source:
                raise Invalid("a work cannot be linked to itself")
            if word == "supersedes":
                refuse_cycle(home, source, row.id)
        if rows:
            changes[word] = tuple(dict.fromkeys(row.id for row in rows))
    return links.replace(**changes) if changes else links


def revise_work(home: Home, work: Work, changes: Mapping[str, Any]) -> Work:
    """An edit: objects are merged, lists and values replaced; who wrote it and how often it was used stay."""
    fixed = [name for name in CREDITED if name in changes]
    if fixed:
        raise Invalid(f"{fixed[0]} cannot be changed", "a work stays credited to whoever wrote it")
    new = Work.from_dict(lay(work.to_dict(), {name: value for name, value in gather(changes).items()
                                              if value != {}}))
    return new.replace(links=check_links(home, work.id, new.links)) if "links" in changes else new


# Agents and sessions


def register(home: Home, id: str | None = None, *, type: str | None = None, parent: str | None = None,
             project: str | None = None, metadata: Mapping[str, Any] | None = None) -> Agent:
    """Register an agent; registering it again returns it, with further metadata laid over what it has."""
    if metadata is not None and not isinstance(metadata, Mapping):
        raise Invalid("an agent's metadata must be an object")
    check_whole([parent, project])
    name = check_agent_id(id) if id else f"agent_{derived_id(home, 'agent', None)}"
    if parent is not None and not home.index.work.has_agent(parent):
        raise NotFound(f"no agent {parent!r} to be the parent", f"register it first: otolith agent {parent}")
    row = home.index.cards.find(name)
    if row is None:
        role = type or ("subagent" if parent else "main")
        if role == "main" and parent:
            raise Invalid("a main agent has no parent", "leave the parent out, or register a subagent")
        new = Agent(id=name, type=role, parent_id=parent, project_id=home.origin(project=project).project,
                    created_at=int(home.clock()), metadata=dict(metadata or {}))
        home.create(new, verb="agent")
        return new
    if row.kind != Agent.kind:
        raise Conflict(f"{name!r} is the name of a {row.kind}", "choose another id")
    loaded = home.load(name)
    agent: Agent = loaded.record
    if (type and type != agent.type) or (parent and parent != agent.parent_id):
        owner = f" of {agent.parent_id}" if agent.parent_id else ""
        raise Conflict(f"{name} is known as a {agent.type} agent{owner}", "choose another id")
    merged = agent.replace(metadata=lay(plain(agent.metadata), dict(metadata or {})))
    if merged != agent:
        home.change(loaded, merged, verb="agent")
    return merged


def agents(home: Home, project: str | None = None) -> list[dict[str, Any]]:
    """Who works here: registered agents, and those known only by their works."""
    home.ensure_fresh()
    return [{**agent._asdict(), "metadata": json.loads(agent.metadata or "{}"),
             "registered": bool(agent.registered)}
            for agent in home.index.work.agents(project)]


def resume(home: Home, agent: str | None = None, session: str | None = None) -> dict[str, Any]:
    """Take up an agent's latest session, or the one named: what was done last, and what was left undone.

    What this Memory writes from now on is that agent's, in that session.
    """
    from otolith.verbs.offering import unfinished

    home.ensure_fresh()
    name, index = check_agent_id(agent or home.config.agent), home.index.work
    if not index.has_agent(name):
        raise NotFound(f"no agent {name!r}", f"register it with: otolith agent {name}")
    last = index.last_session(name, session)
    if session and not last:
        raise NotFound(f"{name} has no session {session!r}", "leave it out for the latest one")
    home.session, project = last or (home.session, home.config.project)
    home.config = home.config.replace(agent=name)
    works = [{**work._asdict(), "success": bool(work.success)}
             for work in index.of_session(name, home.session)]
    return {"agent": name, "session": home.session, "project": project, "works": works,
            "notices": [notice.to_dict() for notice in unfinished(home, project)]}


# Cold storage: old work that hardly anyone asked for is gzipped into work/cold/, stays in the index, and
# comes back. One rule decides both ways, so a plan made twice is the same plan, and after it is carried out
# there is none. A file is never in neither place: the new one is safe before the old one goes, and upkeep
# repeats what a crash broke off.


class Move(NamedTuple):
    """One file that goes, where to, and why."""

    id: str
    source: str
    target: str
    why: str


def plan_moves(works: Iterable[Shelved], now: float, *, days: float = DAYS,
               uses: int = FEW_USES) -> list[Move]:
    """The moves that would be made, oldest work first."""
    if days < 0 or uses < 0:
        raise Invalid("days and uses must be 0 or more")
    moves = []
    for work in works:
        asleep = now - max(work.created, work.last_used or 0.0)
        cold = asleep >= days * _DAY and work.uses <= uses and not work.pinned and not work.needed
        if cold != is_cold(work.path):
            target = cold_path(work.path) if cold else warm_path(work.path)
            why = f"asleep for {max(0, int(asleep // _DAY))} days, used {work.uses} times"
            why = "unfinished, or linked with recent work" if work.needed else why
            why = "pinned" if work.pinned else why
            moves.append((work.created, Move(work.id, work.path, target, why)))
    return [move for _, move in sorted(moves)]


def is_cold(path: str) -> bool:
    return path.startswith("work/cold/")


def cold_path(path: str) -> str:
    """work/2025-06/mem_x.json → work/cold/2025-06/mem_x.json.gz"""
    parts = path.split("/")
    if len(parts) != 3 or parts[0] != "work" or parts[1] == "cold":
        raise Invalid(f"{path!r} is not the path of a work")
    return f"work/cold/{parts[1]}/{parts[2]}.gz"


def warm_path(path: str) -> str:
    """work/cold/2025-06/mem_x.json.gz → work/2025-06/mem_x.json"""
    parts = path.split("/")
    if len(parts) != 4 or not is_cold(path) or not parts[3].endswith(".gz"):
        raise Invalid(f"{path!r} is not the path of a cold work")
    return f"work/{parts[2]}/{parts[3].removesuffix('.gz')}"


def store_cold(home: Home, *, days: float = DAYS, uses: int = FEW_USES, apply: bool = False) -> list[Move]:
    """The moves that are due, from the index and the usage ledger; only `apply` carries them out."""
    home.fold_usage()
    works = home.index.work.shelved(home.clock() - max(days, 0) * _DAY)
    moves = plan_moves(works, home.clock(), days=days, uses=uses)
    return [move for move in moves if _carry_out(home, move)] if apply else moves


def _carry_out(home: Home, move: Move) -> bool:
    """Pack or unpack a work's file, unless it is damaged; interrupted, the next writer ends it."""
    from otolith.files import intents

    with home.writing(), home.act():
        if not list(each(home, [move.source])):
            return False
        plan = {"source": move.source, "target": move.target}
        repack(home, intents.declare(home.tree, "repack", move.id, plan))
    return True


def repack(home: Home, intent: PendingAct) -> None:
    """Every step may be repeated."""
    source, target = intent.plan["source"], intent.plan["target"]
    if home.tree.look(source):
        data, _ = home.tree.read(source)
        work, = codec.decode(source, data, lambda: 0.0)
        new = codec.zip_again(target, codec.unzip(source, data))
        try:
            home.tree.write(target, new)
        except Conflict:
            if home.tree.read(target)[0] != new:
                raise
        home.tree.remove(source)
        home.audit("cooled" if is_cold(target) else "warmed", work, "")
    home.refresh([source, target])
    home.tree.remove(intent.path)


def cold_rung(home: Home, _providers: Any = None) -> list[str]:
    """Upkeep's step; `cold_after_days = 0` in the home's otolith.toml under [work] turns it off."""
    settings = home.config.settings.get("work", {})
    days = settings.get("cold_after_days", DAYS) if isinstance(settings, dict) else DAYS
    if not isinstance(days, int | float) or isinstance(days, bool) or days <= 0:
        return []
    return [f"{move.source} → {move.target}: {move.why}" for move in store_cold(home, days=days, apply=True)]
