"""Finding chapters: which works of a project belong together, without a model and without looking at everything.

Two works belong together when they changed files in the same folder, or share a tag within one session, with no pause
of more than three days, or when one links to the other within a month. Belonging is passed on; what hangs together is
told in order of time and closed after forty works. Since a pause that joins two works also joins everything between
them to both, the answer for a closed neighbourhood is the answer for the whole: only what changed needs looking at.
Works that a person put into a chapter are left to that chapter. This module reads nothing and tells no stories: the
words of a chapter are written in `chapter_text.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from itertools import pairwise
from typing import NamedTuple

from strata.model.ids import derived_uuid
from strata.model.work import Work

RULE = "together-1"
PAUSE = 3 * 86_400.0
LINK_REACH = 30 * 86_400.0
MOST = 40
FEWEST = 2


class Member(NamedTuple):
    """A work as far as finding chapters must know it; it can be read from the index alone."""

    id: str
    project: str
    created: float
    place: str
    session: str = ""
    tags: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()

    def threads(self) -> list[tuple[str, ...]]:
        """What it may have in common with others: its place, and each tag within its session."""
        found: list[tuple[str, ...]] = [(self.project, self.place)] if self.place else []
        if self.session:
            found += [(self.project, self.session, tag) for tag in self.tags]
        return found


class Group(NamedTuple):
    """Works that belong together, in order of time."""

    project: str
    members: tuple[str, ...]

    @property
    def id(self) -> str:
        """The same for the same project, rule and earliest member, so that a deleted chapter comes back as itself."""
        return "chapter_" + derived_uuid(self.project, RULE, self.members[0])


def place_of(files: Iterable[tuple[str, str]], tags: Iterable[str] = (), session: str = "") -> str:
    """Where a work took place: the folder most of its changed files lie in, else of those it read, else its first tag,
    else its session; empty if nothing tells.
    """
    listed = list(files)
    paths = [path for path, operation in listed if operation != "read"] or [path for path, _ in listed]
    if paths:
        folders = Counter(folder_of(path) for path in paths)
        return min(folders, key=lambda folder: (-folders[folder], folder))
    for tag in tags:
        return f"#{tag}"
    return f"@{session}" if session else ""


def folder_of(path: str) -> str:
    """The folder of a file as it is written; a file without one stands for itself."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    root = "/" if path.startswith("/") else ""
    return root + "/".join(parts[:-1] if len(parts) > 1 else parts)


def member_of(work: Work) -> Member:
    """The work as finding sees it."""
    return Member(work.id, work.project_id, work.created, place_of(work.files(), work.tags, work.session_id),
                  work.session_id, work.tags, tuple(link.target for link in work.all_links()))


def find_groups(members: Iterable[Member], held: Collection[str] = ()) -> list[Group]:
    """The chapters there are among these works, earliest first; `held` are works that manual chapters already tell."""
    known = {member.id: member for member in members if member.id not in held}
    joined = _Joined(known)
    threads: dict[tuple[str, ...], list[Member]] = {}
    for member in known.values():
        for thread in member.threads():
            threads.setdefault(thread, []).append(member)
        for target in member.linked:
            other = known.get(target)
            if other and other.project == member.project and abs(other.created - member.created) <= LINK_REACH:
                joined.join(member.id, other.id)
    for thread_members in threads.values():
        thread_members.sort(key=_in_time)
        for earlier, later in pairwise(thread_members):
            if later.created - earlier.created <= PAUSE:
                joined.join(earlier.id, later.id)
    return sorted(_cut(joined.parts(), known), key=lambda group: _in_time(known[group.members[0]]))


def close(seeds: Iterable[Member], near: Callable[[Member], Iterable[Member]]) -> dict[str, Member]:
    """Everything that hangs together with the seeds, asking `near` once for each work's direct companions."""
    found: dict[str, Member] = {}
    waiting = list(seeds)
    while waiting:
        member = waiting.pop()
        if member.id not in found:
            found[member.id] = member
            waiting += [other for other in near(member) if other.id not in found]
    return found


def _in_time(member: Member) -> tuple[float, str]:
    return member.created, member.id


def _cut(parts: Iterable[list[str]], known: dict[str, Member]) -> list[Group]:
    groups = []
    for part in parts:
        ordered = sorted((known[work_id] for work_id in part), key=_in_time)
        for at in range(0, len(ordered), MOST):
            piece = ordered[at : at + MOST]
            if len(piece) >= FEWEST:
                groups.append(Group(piece[0].project, tuple(member.id for member in piece)))
    return groups


class _Joined:
    """Which works hang together: a forest in which every tree is one part."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._above = {work_id: work_id for work_id in ids}

    def _top(self, work_id: str) -> str:
        above = self._above
        while above[work_id] != work_id:
            above[work_id] = above[above[work_id]]
            work_id = above[work_id]
        return work_id

    def join(self, one: str, other: str) -> None:
        one, other = self._top(one), self._top(other)
        if one != other:
            self._above[max(one, other)] = min(one, other)

    def parts(self) -> list[list[str]]:
        found: dict[str, list[str]] = {}
        for work_id in self._above:
            found.setdefault(self._top(work_id), []).append(work_id)
        return list(found.values())
