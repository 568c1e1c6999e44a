"""The work ladder in the index: works by file, by aim and by thread, the agents who did them, chapters,
wisdom, cold storage.

`check_file` runs before every edit, so its question costs a few index pages however large the home is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from otolith.index.database import Facet, match, replaces
from otolith.model.kinds import WORK_LINKS
from otolith.model.record import tail_of

WEIGHED = 40  # works on one file that are compared with each other
_AT = "(SELECT at FROM records WHERE id = m.id)"  # the order of works of one second
_TOUCH = """m.id, m.intent_goal, m.intent_type, m.agent_id, m.created_at, {at}, m.outcome_success,
m.outcome_summary, {operation},
CASE WHEN m.outcome_success THEN '' ELSE coalesce(json_extract(m.outcome, '$.failure_reason'), '') END,
CASE WHEN m.outcome_success THEN '' ELSE coalesce(json_extract(m.reasoning, '$.approach_chosen'), '') END"""
_AIM = _TOUCH.format(operation="''", at=_AT)
_REPLACED = ("EXISTS (SELECT 1 FROM links l JOIN records n ON n.id = l.a JOIN records o ON o.id = l.b WHERE "
             f"l.b = m.id AND ({replaces('o', 'n')} "
             "OR (l.word = 'solves' AND n.trust IN ('user', 'agent'))))")
# Works by the end of a path: those whose path ends in it, and those whose path it ends in.
_ENDING = """SELECT memory_id, operation, unit FROM file_works WHERE tail >= ? AND tail < ?
UNION ALL SELECT memory_id, operation, unit FROM file_works WHERE tail IN ({marks})"""
_AT_TOP = "SELECT memory_id, operation, unit FROM file_works WHERE tail = ?"
_BELOW = """SELECT f.memory_id, f.operation, r.unit FROM memory_files f JOIN records r ON r.id = f.memory_id
WHERE f.file_path >= ? AND f.file_path < ?"""
_ON_FILE = f"""SELECT {_TOUCH.format(operation='x.operation', at=_AT)},
CASE WHEN m.outcome_success THEN 0 ELSE {_REPLACED} END, m.project_id, x.unit
FROM ({{works}}) x JOIN memories m ON m.id = x.memory_id {{order}} LIMIT {WEIGHED}"""


class Touch(NamedTuple):
    """A work as far as a notice must know it."""

    id: str
    goal: str
    task_type: str
    agent: str
    created: float
    at: float  # the moment of writing, which puts works of one second in order
    success: bool
    summary: str = ""
    operation: str = "read"
    reason: str = ""
    approach: str = ""
    replaced: bool = False  # another work supersedes or solves it
    project: str = ""
    unit: str = ""
    follow_ups: tuple[str, ...] = ()


class Member(NamedTuple):
    """A work as far as finding chapters must know it."""

    id: str
    project: str
    created: float
    threads: tuple[str, ...] = ()  # what it may have in common with others, see model.record.threads_of
    linked: tuple[str, ...] = ()


class Shelved(NamedTuple):
    """A work as far as the plan for cold storage must know it."""

    id: str
    path: str
    created: float
    uses: int = 0
    last_used: float | None = None
    pinned: bool = False
    needed: bool = False  # it failed and nothing made it good, or it is linked with recent work


class AgentRow(NamedTuple):
    """An agent with what it did; `registered` tells that it has a file of its own."""

    id: str
    type: str
    parent_id: str | None
    project_id: str
    created_at: int
    metadata: str | None
    works: int
    sessions: int
    last_work: int | None
    registered: int


class Done(NamedTuple):
    """A work as a session lists it."""

    id: str
    title: str
    success: int
    created_at: int


class Works(Facet):
    """Works, agents, chapters and wisdom."""

    # Works on a file, with an aim, left undone

    def on_file(self, path: str, own: str, project: str | None = None) -> tuple[list[Touch], int]:
        """(the latest works on a file, how many there are): of the project `own` if it has any, else of all.

        Paths match by whole segments, from the end; if nothing does, the path may be a folder. `./a.py` is
        that one file at the top of a project. `project` insists on `own`.
        """
        tail = tail_of(path)
        if path.startswith("./") and tail.count("/") == 1:
            return self._touches(_AT_TOP, [tail], own, own)
        parts = tail.split("/")[:-1]
        ends = ["/".join(parts[:count]) + "/"
                for count in range(2, len(parts))]  # a bare name is not every such file
        ending = _ENDING.format(marks=",".join("?" * len(ends)))
        touches, total = self._touches(ending, [tail, tail[:-1] + "0", *ends], own, project)
        if total:
            return touches, total
        folder = path.rstrip("/").removeprefix("./")
        return self._touches(_BELOW, [f"{folder}/", f"{folder}0"], own, project)

    def _touches(self, works: str, values: list[str], own: str,
                 project: str | None) -> tuple[list[Touch], int]:
        rows = self.db.execute(_ON_FILE.format(works=works, order=""), values).fetchall()
        if len(rows) == WEIGHED:  # only now is it worth putting all of them in order
            latest = "ORDER BY m.project_id <> ?, m.created_at DESC, 6 DESC"
            rows = self.db.execute(_ON_FILE.format(works=works, order=latest), [*values, own]).fetchall()
        touches = [Touch(*row) for row in rows]
        mine = [touch for touch in touches if touch.project == own]
        kept = {touch.id: touch for touch in (mine if mine or project else touches)}
        if len(kept) < WEIGHED:
            return list(kept.values()), len(kept)
        total = self.db.execute(f"SELECT count(DISTINCT m.id) FROM ({works}) x JOIN memories m ON m.id = "
                                "x.memory_id WHERE ? OR m.project_id = "
                                "?", [*values, not mine, own]).fetchone()[0]
        return list(kept.values()), total

    def about(self, words: Iterable[str], limit: int = 60) -> list[Touch]:
        """The works whose text has some of these words, the best first."""
        rows = self.db.execute(
            f"SELECT {_AIM}, {_REPLACED} FROM words w JOIN passages p ON p.n = w.rowid "
            "JOIN records r ON r.n = p.record JOIN memories m ON m.id = r.id WHERE words MATCH ? ORDER BY "
            "bm25(words, 1.0, 4.0, 1.0) LIMIT ?", (match(words), limit))
        return list({row[0]: Touch(*row) for row in rows}.values())

    def latest(self, project: str | None, limit: int) -> list[Touch]:
        """The latest works, with the steps they left to take."""
        rows = self.db.execute(
            f"SELECT {_AIM}, {_REPLACED}, m.project_id, '', "
            "coalesce(json_extract(m.outcome, '$.follow_up_needed'), '[]') FROM memories m WHERE (:project "
            "IS NULL OR m.project_id = :project) ORDER BY m.created_at DESC, 6 DESC, m.id LIMIT "
            ":limit", {"project": project, "limit": limit})
        return [Touch._make([*row[:-1], tuple(json.loads(row[-1]))]) for row in rows]

    # Agents and sessions

    def has_agent(self, agent: str) -> bool:
        return self.db.execute("SELECT 1 FROM agents WHERE id = ?", (agent,)).fetchone() is not None

    def agents(self, project: str | None = None) -> list[AgentRow]:
        """Who works in a project, or anywhere: registered agents, and those known only by their works."""
        rows = self.db.execute(
            """SELECT a.id, a.type, a.parent_id, a.project_id, a.created_at, a.metadata, count(m.id),
            count(DISTINCT m.session_id), max(m.created_at),
            EXISTS (SELECT 1 FROM records r WHERE r.id = a.id AND r.kind = 'agent')
            FROM agents a LEFT JOIN memories m
            ON m.agent_id = a.id AND (:project IS NULL OR m.project_id = :project)
            GROUP BY a.id ORDER BY max(m.created_at) DESC, a.id""", {"project": project})
        agents = [AgentRow(*row) for row in rows]
        return [agent for agent in agents
                if agent.works or (agent.registered and project in (None, agent.project_id))]

    def last_session(self, agent: str, session: str | None = None) -> tuple[str, str] | None:
        """(session, project) of an agent's latest work, or of its latest in the session named."""
        row: tuple[str, str] | None = self.db.execute(
            "SELECT session_id, project_id FROM memories m WHERE agent_id = :agent AND (:session IS NULL OR "
            f"session_id = :session) ORDER BY created_at DESC, {_AT} DESC, id LIMIT 1",
            {"agent": agent, "session": session}).fetchone()
        return row

    def of_session(self, agent: str, session: str, limit: int = 10) -> list[Done]:
        return [Done(*row) for row in self.db.execute(
            "SELECT id, intent_goal, outcome_success, created_at FROM memories m WHERE agent_id = ? AND "
            f"session_id = ? ORDER BY created_at DESC, {_AT} DESC, id LIMIT ?", (agent, session, limit))]

    # Chapters and wisdom

    def chapters(self, project: str | None = None, origin: str | None = None, *,
                 in_time: bool = False) -> list[str]:
        """The ids of chapters, latest first, or in the order in which they began."""
        order = "start_ts, id" if in_time else "end_ts DESC, id"
        return self._ids("SELECT id FROM chapters WHERE (:project IS NULL OR project_id = :project) "
                         f"AND (:origin IS NULL OR origin = :origin) ORDER BY {order}",
                         {"project": project, "origin": origin})

    def wisdom(self, project: str | None = None) -> list[str]:
        return self._ids("SELECT id FROM wisdom WHERE (:project IS NULL OR project_id = :project) ORDER BY "
                         "end_ts DESC, id", {"project": project})

    def units_of_kind(self, kind: str) -> list[str]:
        return self._ids("SELECT unit FROM records WHERE kind = ? ORDER BY id", (kind,))

    def found_chapters(self, works: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The found chapters that any of these works is in, with all their works in order."""
        chapters = {chapter for work in works for chapter in self._ids(
            "SELECT c.id FROM chapter_memories m JOIN chapters c ON c.id = m.chapter_id WHERE m.memory_id = "
            "? AND c.origin = 'auto'", (work,))}
        members = "SELECT memory_id FROM chapter_memories WHERE chapter_id = ? ORDER BY position"
        return {chapter: tuple(self._ids(members, (chapter,))) for chapter in chapters}

    def members(self, works: Iterable[str]) -> list[Member]:
        """These works as finding chapters sees them; not those that are gone or in a manual chapter."""
        members = []
        for work in dict.fromkeys(works):
            row = self.db.execute("SELECT project, created FROM records WHERE id = ? AND kind = 'work'",
                                  (work,)).fetchone()
            if row and not self._held(work):
                threads = self._ids("SELECT thread FROM threads WHERE id = ?", (work,))
                members.append(Member(work, row[0], row[1], tuple(threads), self._linked(work)))
        return members

    def _held(self, work: str) -> bool:
        """Whether a person put the work into a chapter."""
        return self.db.execute("SELECT 1 FROM chapter_memories m JOIN chapters c ON c.id = m.chapter_id "
                               "WHERE m.memory_id = ? AND c.origin = 'manual'",
                               (work,)).fetchone() is not None

    def _linked(self, work: str) -> tuple[str, ...]:
        """Works that this one links to or that link to it, in the words of works."""
        words = ",".join("?" * len(WORK_LINKS))
        return tuple(self._ids(f"SELECT b FROM links WHERE a = ? AND said IN ({words}) UNION SELECT a FROM "
                               f"links WHERE b = ? AND said IN ({words})",
                               (work, *WORK_LINKS, work, *WORK_LINKS)))

    def beside(self, member: Member, pause: float) -> list[Member]:
        """The works next to it in each of its threads, at most `pause` away, and those it is linked with."""
        works = list(member.linked)
        for thread in member.threads:
            for order, than in (("DESC", "<"), ("ASC", ">")):
                here: tuple[float, str] = (member.created, member.id)
                while True:  # works that a manual chapter holds are stepped over
                    row = self.db.execute(
                        f"SELECT created, id FROM threads WHERE thread = ? AND (created, id) {than} (?, ?) "
                        f"ORDER BY created {order}, id {order} LIMIT 1", (thread, *here)).fetchone()
                    if row is None or abs(row[0] - member.created) > pause:
                        break
                    if not self._held(row[1]):
                        works.append(row[1])
                        break
                    here = row
        return self.members(works)

    def projects_of(self, chapters: Iterable[str]) -> set[str]:
        """The projects of chapters, and of the wisdom that stood on those that are gone."""
        return {project for chapter in chapters for project in self._ids(
            "SELECT project_id FROM chapters WHERE id = :chapter UNION SELECT w.project_id FROM "
            "wisdom_chapters c JOIN wisdom w ON w.id = c.wisdom_id WHERE c.chapter_id = "
            ":chapter", {"chapter": chapter})}

    def eras(self, project: str) -> dict[str, list[str]]:
        """Each piece of wisdom of a project with its chapters in order."""
        eras: dict[str, list[str]] = {}
        for piece, chapter in self.db.execute(
                "SELECT w.id, c.chapter_id FROM wisdom w JOIN wisdom_chapters c ON c.wisdom_id = w.id LEFT "
                "JOIN chapters t ON t.id = c.chapter_id WHERE w.project_id = ? ORDER BY t.start_ts, "
                "c.chapter_id", (project,)):
            eras.setdefault(piece, []).append(chapter)
        return eras

    # Cold storage

    def shelved(self, before: float) -> list[Shelved]:
        """The works made before a time, and all that lie in cold storage, with their use."""
        return [Shelved(*row) for row in self.db.execute(
            "SELECT r.id, r.unit, r.created, r.uses + coalesce(u.count, 0), max(coalesce(r.used, 0), "
            "coalesce(u.last, 0)), r.pinned OR EXISTS (SELECT 1 FROM links l WHERE l.a = r.id AND l.word = "
            f"'pinned'), (NOT m.outcome_success AND NOT {_REPLACED}) OR EXISTS (SELECT 1 FROM links l JOIN "
            "records w ON w.id IN (l.a, l.b) WHERE r.id IN (l.a, l.b) AND w.id <> r.id AND w.kind = 'work' "
            "AND w.created > :before) FROM records r JOIN memories m ON m.id = r.id LEFT JOIN usage u ON "
            "u.id = r.id WHERE r.kind = 'work' AND (r.created <= :before OR (r.unit >= 'work/cold/' AND "
            "r.unit < 'work/cold0'))", {"before": before})]

    def _ids(self, query: str, values: Any) -> list[str]:
        return [row[0] for row in self.db.execute(query, values)]
