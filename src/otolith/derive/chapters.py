"""Chapters: which works of a project belong together, and what they come to, without a model.

Two works belong together when they changed files in the same folder, or share a tag within one session, with no pause
of more than three days, or when one links to the other within a month. Belonging is passed on; what hangs together is
told in order of time and closed after forty works. Since a pause that joins two works also joins everything between
them to both, the answer for a closed neighbourhood is the answer for the whole: only what changed needs looking at.
No clock: a found chapter's times are those of its works, so that a deleted one comes back as it was.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from otolith.derive.wisdom import MOST_TAGS, count, lowest_trust, merge_alike, most_first
from otolith.errors import Invalid
from otolith.model.ids import derived_uuid
from otolith.model.record import place_of
from otolith.model.text import TITLE_SIGNS, counted, first_sentence
from otolith.model.times import day
from otolith.model.words import key_words, stem
from otolith.model.work import Chapter, Work

if TYPE_CHECKING:
    from otolith.index.works import Member

RULE = "together-1"
PAUSE = 3 * 86_400.0
LINK_REACH = 30 * 86_400.0
MOST = 40
FEWEST = 2
MOST_LEARNINGS = 12
MOST_LESSONS = 4
MOST_TOPICS = 8
LINE = 160  # signs of a work's line within a summary


class Group(NamedTuple):
    """Works that belong together, in order of time."""

    project: str
    members: tuple[str, ...]

    @property
    def id(self) -> str:
        """The same for the same project, rule and earliest member, so that a deleted chapter comes back as itself."""
        return "chapter_" + derived_uuid(self.project, RULE, self.members[0])


def find_groups(members: Iterable[Member], held: Collection[str] = ()) -> list[Group]:
    """The chapters there are among these works, earliest first; `held` are works that manual chapters already tell."""
    known = {member.id: member for member in members if member.id not in held}
    beside: dict[str, list[Member]] = {work_id: [] for work_id in known}

    def join(one: Member, other: Member) -> None:
        beside[one.id].append(other)
        beside[other.id].append(one)

    threads: dict[str, list[Member]] = {}
    for member in known.values():
        for thread in member.threads:
            threads.setdefault(thread, []).append(member)
        for target in member.linked:
            other = known.get(target)
            if other and other.project == member.project and abs(other.created - member.created) <= LINK_REACH:
                join(member, other)
    for thread_members in threads.values():
        thread_members.sort(key=_in_time)
        for earlier, later in pairwise(thread_members):
            if later.created - earlier.created <= PAUSE:
                join(earlier, later)
    groups: list[Group] = []
    told: set[str] = set()
    for member in known.values():
        if member.id not in told:
            part = close([member], lambda one: beside[one.id])
            told |= part.keys()
            groups += _cut(part.values())
    return sorted(groups, key=lambda group: _in_time(known[group.members[0]]))


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


def _cut(part: Iterable[Member]) -> Iterator[Group]:
    ordered = sorted(part, key=_in_time)
    for at in range(0, len(ordered), MOST):
        piece = ordered[at : at + MOST]
        if len(piece) >= FEWEST:
            yield Group(piece[0].project, tuple(member.id for member in piece))


# What a chapter tells


def write_chapter(group: Group, works: Sequence[Work]) -> Chapter:
    """A found chapter with all its words; `works` are the group's members in any order."""
    return describe(works, chapter_id=group.id, project=group.project, origin="auto", rule=RULE)


def describe(works: Sequence[Work], *, chapter_id: str, project: str, origin: str, rule: str | None = None,
         title: str | None = None, summary: str | None = None, tags: Iterable[str] | None = None,
         made: float | None = None) -> Chapter:
    """A chapter of these works in order of time; `made` is when a person made it, if a person did."""
    if not works:
        raise Invalid("a chapter needs at least one work", "name the works it tells")
    ordered = sorted(works, key=lambda work: (work.created_at, work.id))
    lasting = _lasting(ordered)
    start, end = ordered[0].created_at, ordered[-1].created_at
    if tags is None:
        tags = most_first(Counter(tag for work in ordered for tag in dict.fromkeys(work.tags)))[:MOST_TAGS]
    chapter = Chapter(
        id=chapter_id, project_id=project, title=title or _title(ordered, lasting),
        summary=summary or _summary(ordered, lasting), learnings=_learnings(lasting) or None,
        created_at=start if made is None else made, updated_at=end if made is None else made,
        start_ts=start, end_ts=end, tags=tuple(tags) or None, topics=_topics(ordered) or None, origin=origin,
        memories=tuple(work.id for work in ordered), rule=rule, fingerprint=fingerprint(ordered),
        trust=lowest_trust(work.origin.trust if work.origin else "user" for work in ordered),
    )
    return chapter.replace(extra={"digest": count(ordered, lasting).to_dict()})


def fingerprint(works: Iterable[Work]) -> str:
    """Changes when a member comes, goes or says something else; being used or linked to does not touch it."""
    sign = hashlib.sha256(RULE.encode())
    for work in works:
        told = (work.id, work.created_at, work.agent_id, work.intent.to_dict(), work.outcome.to_dict(), work.files(),
                work.tags, work.importance, work.reasoning.approach_chosen, work.links.targets("supersedes"))
        sign.update(repr(told).encode(errors="surrogatepass"))
    return sign.hexdigest()[:32]


def _lasting(works: Sequence[Work]) -> list[Work]:
    """The works that no other member replaced; what is outside replaces only what is outside."""
    outside = {work.id for work in works if work.origin and work.origin.trust == "outside"}
    replaced = {target for work in works for target in work.links.targets("supersedes")
                if work.id not in outside or target in outside}
    return [work for work in works if work.id not in replaced] or list(works)


def _weight(work: Work) -> tuple[float, bool, float, str]:
    return work.importance, work.outcome.success, work.created_at, work.id


def _place(works: Iterable[Work]) -> str:
    """The place most of the works share; empty if none is worth naming."""
    places = Counter(place_of(work.files(), work.tags) for work in works)
    places.pop("", None)
    return most_first(places)[0] if places else ""


def _title(works: Sequence[Work], lasting: Sequence[Work]) -> str:
    place = _place(works)
    goal = max(lasting, key=_weight).intent.goal
    return first_sentence(f"{place}: {goal}" if place else goal, TITLE_SIGNS)


def _summary(works: Sequence[Work], lasting: Sequence[Work]) -> str:
    failed = [work for work in works if not work.outcome.success]
    told = [_opening(works, len(failed)), f"It began with: {first_sentence(works[0].intent.goal, LINE)}"]
    told += [f"Failed: {first_sentence(work.intent.goal, LINE)} ({first_sentence(_why(work), LINE)})"
             for work in failed[-3:]]
    done = [work for work in lasting if work.outcome.success and work.outcome.summary]
    done = sorted(done, key=_weight, reverse=True)[:5]
    told += [f"Done: {first_sentence(work.outcome.summary, LINE)}"
             for work in sorted(done, key=lambda work: (work.created_at, work.id))]
    steps = list(dict.fromkeys(step for work in lasting for step in work.outcome.follow_up_needed or ()))
    if steps:
        told.append("Still to do: " + "; ".join(first_sentence(step, LINE) for step in steps[-3:]))
    return "\n".join(told)


def _opening(works: Sequence[Work], failed: int) -> str:
    first, last = day(works[0].created), day(works[-1].created)
    span = first if first == last else f"{first} to {last}"
    place = _place(works)
    counts = f"{len(works) - failed} succeeded" + (f", {failed} failed" if failed else "")
    agents = ", ".join(sorted({work.agent_id for work in works}))
    return f"{counted(len(works), 'work')}{f' in {place}' if place else ''}, {span}, by {agents}: {counts}."


def _why(work: Work) -> str:
    return work.outcome.failure_reason or work.outcome.summary or work.outcome.failure_category or "no reason given"


def _learnings(lasting: Sequence[Work]) -> tuple[str, ...]:
    """What was learned, said once, most often and most important first; then what did not work and why."""
    weighty = sorted(lasting, key=_weight, reverse=True)
    lessons = merge_alike(
        (f"Did not work: {work.reasoning.approach_chosen or work.intent.goal} — {work.outcome.failure_reason}", work.id)
        for work in weighty if not work.outcome.success and work.outcome.failure_reason)
    learned = merge_alike((line, work.id) for work in weighty for line in work.outcome.learnings)
    told = learned[: MOST_LEARNINGS - min(len(lessons), MOST_LESSONS)]
    told += lessons[: MOST_LEARNINGS - len(told)]
    return tuple(saying.text for saying in told)


def _topics(works: Sequence[Work]) -> tuple[str, ...]:
    """The tags, then the words of the goals, that several works share."""
    tags = Counter(tag for work in works for tag in dict.fromkeys(work.tags))
    goals: Counter[str] = Counter()
    spoken: dict[str, str] = {}
    for work in works:
        about = [word for word in key_words(work.intent.goal) if len(word) > 2 or not word.isascii()]
        goals.update({stem(word) for word in about})
        for word in about:
            spoken.setdefault(stem(word), word)
    shared = [tag for tag in most_first(tags) if tags[tag] > 1]
    shared += [spoken[root] for root in most_first(goals) if goals[root] > 1]
    return tuple(dict.fromkeys(shared))[:MOST_TOPICS]
