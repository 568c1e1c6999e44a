"""`record` work in five layers, edit it, register the agents that do it, and put into cold storage what is old.

A work is credited to whoever writes it; every agent of a project reads all of it. Short input is enough: the goal, the
kind of task, whether it succeeded, and a summary; fields may stand in their layers or flat beside each other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from otolith import verbs
from otolith.errors import Conflict, Invalid, NotFound
from otolith.files import paths
from otolith.home import Home
from otolith.index import read
from otolith.model.ids import check_agent_id, check_prefixed
from otolith.model.record import WORK_TYPES
from otolith.model.shape import Shape, plain, read_strings, read_tags
from otolith.model.text import check_whole
from otolith.model.times import parse_time
from otolith.model.work import Agent, Intent, Outcome, Perception, Reasoning, Work, WorkLinks
from otolith.verbs.steps import derived_id, lay, locate, under_key

LAYERS: dict[str, type[Shape]] = {"intent": Intent, "perception": Perception, "reasoning": Reasoning, "outcome": Outcome}
FLAT = {field: layer for layer, shape in LAYERS.items() for field in shape._fields if field != "extra"}
WHOLE = (*LAYERS, "actions", "links", "tags", "importance")
CREDITED = ("agent_id", "session_id", "origin", "access_count", "last_accessed", "links_at")
MAX_SIGNS = 2_000_000  # of one work; more is a log, not a memory
MAX_NESTED = 40
DAYS = 180
FEW_USES = 1
_DAY = 86_400.0


def record(home: Home, work: Mapping[str, Any], *, agent: str | None = None, project: str | None = None,
           session: str | None = None, created: Any = None, key: str | None = None, id: str | None = None,
           trust: str | None = None, usage: tuple[int, float | None] = (0, None)) -> Work:
    """Keep one unit of work: the five layers, or their fields flat beside each other (see FLAT).

    The same key again returns the same work. `id`, `trust` and `usage` are for imports.
    """
    given = gather(work, foreign=id is not None)
    agent, project, session = (said or given.pop(f"{name}_id", None)
                               for name, said in (("agent", agent), ("project", project), ("session", session)))
    given = {name: value for name, value in given.items() if not name.endswith("_id")}
    when = given.pop("created_at", None) if created is None else created
    origin = home.origin(agent=agent, project=project, session=session, trust=trust)
    made = Work.from_dict({
        **given, "id": check_prefixed(id, "mem") if id else f"mem_{derived_id(home, 'record', key)}",
        "agent_id": check_agent_id(origin.agent), "project_id": origin.project, "session_id": origin.session,
        "created_at": int(home.clock() if when is None else parse_time(when, "created")), "origin": origin,
        "access_count": usage[0], "last_accessed": usage[1]})
    with home.writing():  # of several calls with one key the first keeps it, the others find it
        made, row = under_key(home, made, "record", key, "mem_") if key is not None and not id else (made, None)
        if (key is not None or id) and row is None:
            if home.tree.look(paths.place(made)):  # kept by somebody whose index did not take it
                home.refresh([paths.place(made)])
            row = read.find(home.db, made.id)
        if row:
            return _same(home, row.id, made)
        made = made.replace(links=check_links(home, made.id, made.links))
        home.create(made, verb="record", origin=origin)
    return made


def gather(given: Mapping[str, Any], *, foreign: bool = False) -> dict[str, Any]:
    """The input with every field in its layer: flat fields are put there, `files` become edits, strangers are refused."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name in (*WHOLE, "agent_id", "project_id", "session_id", "created_at"):
            if name not in LAYERS:
                found[name] = value
            elif isinstance(value, Mapping):
                found[name] = {**found.get(name, {}), **value}
            elif value is not None:
                raise Invalid(f"{name} must be an object", f"it has {', '.join(field for field in FLAT if FLAT[field] == name)}")
        elif name in FLAT:
            found.setdefault(FLAT[name], {})[name] = value
        elif name != "files":
            raise Invalid(f"a work has no field {name[:40]!r}", f"it has {', '.join((*WHOLE, *FLAT))}")
    if given.get("files"):
        edits = [{"type": "file_edit", "details": {"file_path": path}} for path in read_strings(given["files"], "files")]
        found["actions"] = [*(found.get("actions") or ()), *edits]
    for layer in ("intent", "outcome"):
        found.setdefault(layer, {})
    if not foreign:
        _check_given(found)
    if _weigh(found) > MAX_SIGNS:
        raise Invalid(f"a work holds at most {MAX_SIGNS:,} signs", "condense outputs and diffs; keep the full log elsewhere")
    return {name: value for name, value in found.items() if value is not None}


def _check_given(found: Mapping[str, Any]) -> None:
    """What a file may hold and a writer may not say: empty tags, links of no known kind, lines that are no lines."""
    if found.get("tags") is not None:
        read_tags(found["tags"])
    links, actions = found.get("links"), found.get("actions")
    for word in links if isinstance(links, Mapping) else ():
        if word not in WORK_TYPES:
            raise Invalid(f"links has no {word!r}", f"it has {', '.join(WORK_TYPES)}")
    for at, action in enumerate(actions if isinstance(actions, list | tuple) else ()):
        details = action.get("details") if isinstance(action, Mapping) else None
        lines = details.get("lines_affected") if isinstance(details, Mapping) else None
        if isinstance(lines, str) and not re.fullmatch(r"\s*\d+(?:\s*[-–]\s*\d+)?(?:\s*,\s*\d+(?:\s*[-–]\s*\d+)?)*\s*", lines):
            raise Invalid(f"actions[{at}].details.lines_affected is no range of lines: {lines!r:.60}", 'write "45" or "45-67"')


def _weigh(value: Any, limit: int = MAX_SIGNS, depth: int = 0) -> int:
    """About how many signs a value holds; stops counting soon after the limit."""
    if isinstance(value, str):
        return len(value)
    if depth > MAX_NESTED:
        raise Invalid("the work is nested too deeply", f"at most {MAX_NESTED} objects or lists within each other")
    total = 8
    for item in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        total += _weigh(item, limit - total, depth + 1)
        if total > limit:
            break
    return total


def _same(home: Home, known: str, made: Work) -> Work:
    """What an earlier call with the same key kept, if it says the same."""
    kept: Work = home.load(known).record
    told = ("intent", "perception", "reasoning", "actions", "outcome", "tags")
    if any(plain(getattr(kept, name)) != plain(getattr(made, name)) for name in told):
        raise Conflict(f"another work was kept as {known}", "use another key, or edit that work")
    return kept


def check_links(home: Home, source: str, links: WorkLinks) -> WorkLinks:
    """The links with whole ids; a target that is not there, not a work or the work itself is refused, and so is a circle."""
    changes: dict[str, tuple[str, ...]] = {}
    for word in WORK_TYPES:
        targets = links.targets(word)
        if not targets:
            continue
        rows = [locate(home, target) for target in targets]
        for row in rows:
            if row.kind != "work":
                raise Invalid(f"links.{word} must name works; {row.id} is a {row.kind}",
                              f"relate them with: otolith link {source} {word} {row.id}")
            if row.id == source:
                raise Invalid("a work cannot be linked to itself")
            if word == "supersedes":
                verbs.links.refuse_cycle(home, source, row.id)
        changes[word] = tuple(dict.fromkeys(row.id for row in rows))
    return links.replace(**changes) if changes else links


def revise_work(home: Home, work: Work, changes: Mapping[str, Any]) -> Work:
    """An edit: objects are merged, lists and values replaced; who wrote it and how often it was used stay."""
    fixed = [name for name in CREDITED if name in changes]
    if fixed:
        raise Invalid(f"{fixed[0]} cannot be changed", "a work stays credited to whoever wrote it")
    wanted = gather({**{layer: {} for layer in ("intent", "outcome")}, **changes})
    new = Work.from_dict(lay(work.to_dict(), {name: value for name, value in wanted.items() if value != {}}))
    return new.replace(links=check_links(home, work.id, new.links)) if "links" in changes else new


# Agents and sessions


def register(home: Home, id: str | None = None, *, type: str | None = None, parent: str | None = None,
             project: str | None = None, metadata: Mapping[str, Any] | None = None) -> Agent:
    """Make an agent known; registering it again returns it, with further metadata laid over what it has."""
    if metadata is not None and not isinstance(metadata, Mapping):
        raise Invalid("an agent's metadata must be an object")
    check_whole([parent, project])
    name = check_agent_id(id) if id else f"agent_{derived_id(home, 'agent', None)}"
    if parent is not None and not home.db.execute("SELECT 1 FROM agents WHERE id = ?", (parent,)).fetchone():
        raise NotFound(f"no agent {parent!r} to be the parent", f"register it first: otolith agent {parent}")
    row = read.find(home.db, name)
    if row is None:
        kind = type or ("subagent" if parent else "main")
        if kind == "main" and parent:
            raise Invalid("a main agent has no parent", "leave the parent out, or register a subagent")
        made = Agent(id=name, type=kind, parent_id=parent, project_id=home.origin(project=project).project,
                     created_at=int(home.clock()), metadata=dict(metadata or {}))
        home.create(made, verb="agent")
        return made
    if row.kind != "agent":
        raise Conflict(f"{name!r} is the name of a {row.kind}", "choose another id")
    loaded = home.load(name)
    known: Agent = loaded.record
    if (type and type != known.type) or (parent and parent != known.parent_id):
        raise Conflict(f"{name} is known as a {known.type} agent" + (f" of {known.parent_id}" if known.parent_id else ""),
                       "choose another id")
    merged = known.replace(metadata=lay(plain(known.metadata), dict(metadata or {})))
    if merged != known:
        home.change(loaded, merged, verb="agent")
    return merged


def agents(home: Home, project: str | None = None) -> list[dict[str, Any]]:
    """Who works here: registered agents, and those known only by their works."""
    home.ensure_fresh()
    query = """SELECT a.id, a.type, a.parent_id, a.project_id, a.created_at, a.metadata, count(m.id),
               count(DISTINCT m.session_id), max(m.created_at),
               EXISTS (SELECT 1 FROM records r WHERE r.id = a.id AND r.kind = 'agent')
               FROM agents a LEFT JOIN memories m ON m.agent_id = a.id AND (:project IS NULL OR m.project_id = :project)
               GROUP BY a.id ORDER BY max(m.created_at) DESC, a.id"""
    found = []
    for id, type, parent, own, created, metadata, works, sessions, last, registered in home.db.execute(query, {"project": project}):
        if works or (registered and project in (None, own)):
            found.append({"id": id, "type": type, "parent_id": parent, "project_id": own, "created_at": created,
                          "metadata": json.loads(metadata or "{}"), "works": works, "sessions": sessions, "last_work": last,
                          "registered": bool(registered)})
    return found


def resume(home: Home, agent: str | None = None, session: str | None = None) -> dict[str, Any]:
    """Take up an agent's latest session, or the one named: what was done last, and what was left undone.

    What this Memory writes from now on is that agent's, in that session.
    """
    home.ensure_fresh()
    name = check_agent_id(agent or home.config.agent)
    if not home.db.execute("SELECT 1 FROM agents WHERE id = ?", (name,)).fetchone():
        raise NotFound(f"no agent {name!r}", f"register it with: otolith agent {name}")
    last = home.db.execute("SELECT session_id, project_id FROM memories WHERE agent_id = :agent "
                           "AND (:session IS NULL OR session_id = :session) ORDER BY created_at DESC, id LIMIT 1",
                           {"agent": name, "session": session}).fetchone()
    if session and not last:
        raise NotFound(f"{name} has no session {session!r}", "leave it out for the latest one")
    home.session, project = last if last else (home.session, home.config.project)
    home.config = home.config.replace(agent=name)
    works = home.db.execute("SELECT id, intent_goal, outcome_success, created_at FROM memories WHERE agent_id = ? AND "
                            "session_id = ? ORDER BY created_at DESC, id LIMIT 10", (name, home.session)).fetchall()
    return {"agent": name, "session": home.session, "project": project,
            "works": [{"id": id, "title": goal, "success": bool(success), "created_at": created}
                      for id, goal, success, created in works],
            "notices": [notice.to_dict() for notice in verbs.offering.unfinished(home, project)]}


# Cold storage: old work that hardly anyone asked for is gzipped into work/cold/, stays in the index, and comes back. One rule
# decides both ways, so a plan made twice is the same plan, and after it is carried out there is none. A file is never in
# neither place: the new one is safe before the old one goes, and a crash in between is mended by the next round.

class Shelved(NamedTuple):
    """A work as far as the plan must know it."""

    id: str
    path: str
    created: float
    uses: int = 0
    last_used: float | None = None
    pinned: bool = False


class Move(NamedTuple):
    """One file that goes, where to, and why."""

    id: str
    source: str
    target: str
    why: str


def plan_moves(works: Iterable[Shelved], now: float, *, days: float = DAYS, uses: int = FEW_USES) -> list[Move]:
    """The moves that would be made, oldest work first."""
    if days < 0 or uses < 0:
        raise Invalid("days and uses must be 0 or more")
    found = []
    for work in works:
        asleep = now - max(work.created, work.last_used or 0.0)
        cold = asleep >= days * _DAY and work.uses <= uses and not work.pinned
        if cold != is_cold(work.path):
            target = cold_path(work.path) if cold else warm_path(work.path)
            why = "pinned" if work.pinned else f"asleep for {max(0, int(asleep // _DAY))} days, used {work.uses} times"
            found.append((work.created, Move(work.id, work.path, target, why)))
    return [move for _, move in sorted(found)]


def is_cold(path: str) -> bool:
    """Whether the file lies in cold storage."""
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
    before = home.clock() - max(days, 0) * _DAY
    rows = home.db.execute(
        "SELECT r.id, r.unit, r.created, r.uses + coalesce(u.count, 0), max(coalesce(r.used, 0), coalesce(u.last, 0)), "
        "r.pinned OR EXISTS (SELECT 1 FROM links l WHERE l.a = r.id AND l.word = 'pinned') "
        "FROM records r LEFT JOIN usage u ON u.id = r.id "
        "WHERE r.kind = 'work' AND (r.created <= ? OR (r.unit >= 'work/cold/' AND r.unit < 'work/cold0'))", (before,))
    moves = plan_moves((Shelved(*row) for row in rows), home.clock(), days=days, uses=uses)
    for move in moves if apply else ():
        _carry_out(home, move)
    return moves


def _carry_out(home: Home, move: Move) -> None:
    import gzip

    with home.writing():
        data, _ = home.tree.read(move.source)
        work = home.load(move.id).record
        new = gzip.compress(data, mtime=0) if is_cold(move.target) else gzip.decompress(data)
        try:
            home.tree.write(move.target, new)
        except Conflict:
            if home.tree.read(move.target)[0] != new:
                raise
        home.tree.remove(move.source)
        home.refresh([move.source, move.target])
        home.audit("cooled" if is_cold(move.target) else "warmed", work, "")


def cold_rung(home: Home, _providers: Any = None) -> list[str]:
    """Upkeep's step; `cold_after_days = 0` in the home's otolith.toml under [work] turns it off."""
    settings = home.config.settings.get("work", {})
    days = settings.get("cold_after_days", DAYS) if isinstance(settings, dict) else DAYS
    if not isinstance(days, int | float) or isinstance(days, bool) or days <= 0:
        return []
    return [f"{move.source} → {move.target}: {move.why}" for move in store_cold(home, days=days, apply=True)]
