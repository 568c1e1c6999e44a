"""Chapters: which works of a project belong together, and what they come to.

Two works belong together when they changed files in the same folder, or share a tag within one session, with
no pause of more than three days, or when one links to the other within a month. Belonging is passed on; a
chapter is closed after forty works. Since a pause that joins two works also joins everything between them to
both, the answer for a closed neighbourhood is the answer for the whole: only what changed needs looking at.
No clock and no model: times are those of the works, so that a deleted one comes back.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from otolith.errors import Invalid
from otolith.model.ids import derived_uuid
from otolith.model.narrative import Chapter
from otolith.model.record import TRUST, place_of
from otolith.model.shape import NOTHING, Shape, flag, integer, mapping, parts, strings, text
from otolith.model.text import TITLE_SIGNS, counted, first_sentence, fold
from otolith.model.times import day
from otolith.model.words import key_words, likeness, stem, stems
from otolith.model.work import Work

if TYPE_CHECKING:
    from otolith.index.works import Member

CHAPTER_RULE = "together-1"
MADE_BY = "rules-1"
LIKENESS = 0.8
PAUSE = 3 * 86_400.0
LINK_REACH = 30 * 86_400.0
MOST_WORKS, FEWEST = 40, 2  # of a chapter; FEWEST also of wisdom
MOST_LEARNINGS, MOST_LESSONS, MOST_TOPICS, MOST_TAGS = 12, 4, 8, 12
MOST_FILES, MOST_REASONS, MOST_APPROACHES, MOST_CHECKS = 20, 5, 5, 3
MOST_WORDS = 105  # of the summary, and of all learnings
LINE = 160  # characters of a work's line within a summary


class Cluster(NamedTuple):
    """Works that belong together, in order of time."""

    project: str
    members: tuple[str, ...]

    @property
    def id(self) -> str:
        """The same for the same project, rule and earliest member: a deleted chapter comes back as itself."""
        return "chapter_" + derived_uuid(self.project, CHAPTER_RULE, self.members[0])


def find_groups(members: Iterable[Member], held: Collection[str] = ()) -> list[Cluster]:
    """The chapters there are among these works, earliest first; `held` are works of manual chapters."""
    by_id = {member.id: member for member in members if member.id not in held}
    beside: dict[str, list[Member]] = {work: [] for work in by_id}

    def join(member: Member, other: Member) -> None:
        beside[member.id].append(other)
        beside[other.id].append(member)

    threads: dict[str, list[Member]] = {}
    for member in by_id.values():
        for thread in member.threads:
            threads.setdefault(thread, []).append(member)
        for other in filter(None, map(by_id.get, member.linked)):
            if other.project == member.project and abs(other.created - member.created) <= LINK_REACH:
                join(member, other)
    for thread_members in threads.values():
        for earlier, later in pairwise(sorted(thread_members, key=_member_time)):
            if later.created - earlier.created <= PAUSE:
                join(earlier, later)
    groups: list[Cluster] = []
    seen: set[str] = set()
    for member in by_id.values():
        if member.id not in seen:
            part = close([member], lambda other: beside[other.id])
            seen |= part.keys()
            groups += _cut(part.values())
    return sorted(groups, key=lambda group: _member_time(by_id[group.members[0]]))


def close(seeds: Iterable[Member], near: Callable[[Member], Iterable[Member]]) -> dict[str, Member]:
    """Everything that hangs together with the seeds, asking `near` once for each work's direct companions."""
    closed: dict[str, Member] = {}
    waiting = list(seeds)
    while waiting:
        member = waiting.pop()
        if member.id not in closed:
            closed[member.id] = member
            waiting += [other for other in near(member) if other.id not in closed]
    return closed


def _member_time(member: Member) -> tuple[float, str]:
    return member.created, member.id


def _cut(part: Iterable[Member]) -> Iterator[Cluster]:
    ordered = sorted(part, key=_member_time)
    for at in range(0, len(ordered), MOST_WORKS):
        piece = ordered[at : at + MOST_WORKS]
        if len(piece) >= FEWEST:
            yield Cluster(piece[0].project, tuple(member.id for member in piece))


# What a chapter says


def tells_more(works: Sequence[Work]) -> bool:
    """Whether a chapter says more than its works: what was only read from the deeds of one session, or taught
    nothing, is told by them.
    """
    if not works or not all(work.requests for work in works):
        return bool(works)
    taught = any(work.outcome.learnings or not work.outcome.success for work in works)
    return taught and len({work.session_id for work in works}) > 1


def write_chapter(group: Cluster, works: Sequence[Work]) -> Chapter:
    """A found chapter with all its words; `works` are the group's members in any order."""
    return describe(works, chapter_id=group.id, project=group.project, origin="auto", rule=CHAPTER_RULE)


def describe(works: Sequence[Work], *, chapter_id: str, project: str, origin: str, rule: str | None = None,
             title: str | None = None, summary: str | None = None, tags: Iterable[str] | None = None,
             made: float | None = None) -> Chapter:
    """A chapter of these works in order of time; `made` is when a person made it, if a person did."""
    if not works:
        raise Invalid("a chapter needs at least one work", "name its works")
    ordered = sorted(works, key=_work_time)
    lasting = _lasting(ordered)
    start, end = ordered[0].created_at, ordered[-1].created_at
    if tags is None:
        tags = most_first(Counter(tag for work in ordered for tag in dict.fromkeys(work.tags)))[:MOST_TAGS]
    chapter = Chapter(
        id=chapter_id, project_id=project, title=title or _title(ordered, lasting),
        summary=summary or _summary(ordered, lasting), learnings=_learnings(lasting) or None,
        created_at=start if made is None else made, updated_at=end if made is None else made,
        start_ts=start, end_ts=end, tags=tuple(tags) or None, topics=_topics(ordered) or None, origin=origin,
        memories=tuple(work.id for work in ordered), rule=rule,
        fingerprint=fingerprint_of(CHAPTER_RULE, (
            (work.id, work.created_at, work.agent_id, work.intent.to_dict(), work.outcome.to_dict(),
             work.files(),
             work.tags, work.importance, work.reasoning.approach_chosen, work.links.targets("supersedes"))
            for work in ordered)),
        trust=lowest_trust(work.origin.trust if work.origin else "user" for work in ordered),
    )
    return chapter.replace(extra={"digest": count(ordered, lasting).to_dict()})


def _work_time(work: Work) -> tuple[float, str]:
    return work.created_at, work.id


def fingerprint_of(rule: str, sources: Iterable[tuple[Any, ...]]) -> str:
    """Changes when a source comes, goes or has other content; being used or linked to does not touch it."""
    digest = hashlib.sha256(rule.encode())
    for source in sources:
        digest.update(repr(source).encode(errors="surrogatepass"))
    return digest.hexdigest()[:32]


def lowest_trust(levels: Iterable[str]) -> str:
    """What is built is trusted as little as the least trusted of what it is built from. Who is a peer depends
    on who reads, so it is not written down: what is built in a space that several share is no better anyway.
    """
    lowest = max(levels, key=TRUST.index, default="user")
    return "user" if lowest == "peer" else lowest


def most_first(counts: Counter[str]) -> list[str]:
    """The keys by how often, then by name, so that the order is the same every time."""
    return sorted(counts, key=lambda key: (-counts[key], key))


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
    place, goal = _place(works), max(lasting, key=_weight).intent.goal
    return first_sentence(f"{place}: {goal}" if place else goal, TITLE_SIGNS)


def span(first: float, last: float) -> str:
    return day(first) if day(first) == day(last) else f"{day(first)} to {day(last)}"


def _summary(works: Sequence[Work], lasting: Sequence[Work]) -> str:
    failed = [work for work in works if not work.outcome.success]
    place, agents = _place(works), ", ".join(sorted({work.agent_id for work in works}))
    counts = f"{len(works) - len(failed)} succeeded" + (f", {len(failed)} failed" if failed else "")
    lines = [f"{counted(len(works), 'work')}{f' in {place}' if place else ''}, "
             f"{span(works[0].created, works[-1].created)}, by {agents}: {counts}.",
             f"It began with: {first_sentence(works[0].intent.goal, LINE)}"]
    lines += [f"Failed: {first_sentence(work.intent.goal, LINE)} ({first_sentence(_why(work), LINE)})"
              for work in failed[-3:]]
    done = [work for work in lasting if work.outcome.success and work.outcome.summary]
    best = sorted(sorted(done, key=_weight, reverse=True)[:5], key=_work_time)
    lines += [f"Done: {first_sentence(work.outcome.summary, LINE)}" for work in best]
    steps = list(dict.fromkeys(step for work in lasting for step in work.outcome.follow_up_needed or ()))
    if steps:
        lines.append("Still to do: " + "; ".join(first_sentence(step, LINE) for step in steps[-3:]))
    return "\n".join(within(MOST_WORDS, lines))


def _why(work: Work) -> str:
    outcome = work.outcome
    return outcome.failure_reason or outcome.summary or outcome.failure_category or "no reason given"


def _learnings(lasting: Sequence[Work]) -> tuple[str, ...]:
    """What was learned, once each, most often and most important first; then what did not work and why."""
    weighty = sorted(lasting, key=_weight, reverse=True)
    lessons = merge_alike(
        (f"Did not work: {work.reasoning.approach_chosen or work.intent.goal} — "
         f"{work.outcome.failure_reason}", work.id)
        for work in weighty if not work.outcome.success and work.outcome.failure_reason
        and not (work.requests and work.outcome.failure_reason.startswith("the user ")))  # a reply
    learned = merge_alike((line, work.id) for work in weighty for line in work.outcome.learnings)
    sayings = learned[: MOST_LEARNINGS - min(len(lessons), MOST_LESSONS)]
    lessons = lessons[: MOST_LEARNINGS - len(sayings)]
    return within(MOST_WORDS, [saying.text for saying in [*sayings, *lessons]])


def within(most: int, lines: Iterable[str]) -> tuple[str, ...]:
    """The first lines that have at most so many words together, and the very first in any case."""
    kept: list[str] = []
    for line in lines:
        most -= len(line.split())
        if kept and most < 0:
            break
        kept.append(line)
    return tuple(kept)


def _topics(works: Sequence[Work]) -> tuple[str, ...]:
    """The tags, then the words of the goals, that several works share."""
    tags = Counter(tag for work in works for tag in dict.fromkeys(work.tags))
    goals: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for work in works:
        words = {word: stem(word) for word in key_words(work.intent.goal) if len(word) > 2
                 or not word.isascii()}
        goals.update(set(words.values()))
        for word, root in words.items():
            spelled.setdefault(root, word)
    shared = [tag for tag in most_first(tags) if tags[tag] > 1]
    shared += [spelled[root] for root in most_first(goals) if goals[root] > 1]
    return tuple(dict.fromkeys(shared))[:MOST_TOPICS]


# The digest a chapter carries


class Approach(Shape):
    """A way of doing things that worked."""

    task_type: str = text()
    approach: str = text()
    verified: bool = flag(default=False)
    work: str = text(default="")


class Digest(Shape):
    """What a chapter's works come to in numbers."""

    succeeded: int = integer(0, default=0)
    failed: int = integer(0, default=0)
    task_types: dict[str, int] = mapping(default=NOTHING)
    files: dict[str,
                Sequence[int]] = mapping(default=NOTHING)  # path → works that changed it, how many failed
    failures: dict[str, Sequence[str]] = mapping(default=NOTHING)  # category → works
    reasons: tuple[str, ...] = strings(default=())
    approaches: tuple[Approach, ...] = parts(Approach, default=())
    checks: dict[str, int] = mapping(default=NOTHING)  # command → works it verified

    @property
    def fragile(self) -> list[str]:
        """The files that broke more than once."""
        return [path for path, (_, broken) in self.files.items() if broken > 1]

    def check(self) -> None:
        for path, counts in self.files.items():
            if len(counts) != 2 or not all(isinstance(count, int) for count in counts):
                raise Invalid(f"files[{path!r}] must be two whole numbers")
        for category, works in self.failures.items():
            if not all(isinstance(work, str) for work in works):
                raise Invalid(f"failures[{category!r}] must be ids")


def read_digest(chapter: Chapter) -> Digest:
    """The digest a chapter carries, or an empty one."""
    try:
        return Digest.from_dict(chapter.extra.get("digest", {}))
    except (Invalid, TypeError):
        return Digest()


def count(works: Sequence[Work], lasting: Sequence[Work]) -> Digest:
    """The digest of these works; `lasting` are those that no other member replaced."""
    failed = [work for work in works if not work.outcome.success]
    failures: dict[str, list[str]] = {}
    for work in failed:
        failures.setdefault(work.outcome.failure_category or "other", []).append(work.id)
    reasons = merge_alike((work.outcome.failure_reason, work.id) for work in failed
                          if work.outcome.failure_reason)
    good = [work for work in lasting if work.outcome.success]
    proven = sorted((work for work in good if work.reasoning.approach_chosen), key=lambda work: (
        work.outcome.verified_by is None, -work.importance, -work.created_at, work.id))
    checks = Counter(work.outcome.verified_by.command for work in good
                     if work.outcome.verified_by and work.outcome.verified_by.command)
    return Digest(
        succeeded=len(works) - len(failed), failed=len(failed),
        task_types=dict(sorted(Counter(work.intent.task_type for work in works).items())),
        files=_files(works), failures=dict(sorted(failures.items())),
        reasons=tuple(saying.text for saying in reasons[:MOST_REASONS]),
        approaches=tuple(Approach(task_type=work.intent.task_type, approach=work.reasoning.approach_chosen,
                                  verified=work.outcome.verified_by is not None, work=work.id)
                         for work in proven[:MOST_APPROACHES]),
        checks={command: checks[command] for command in most_first(checks)[:MOST_CHECKS]})


def _files(works: Sequence[Work]) -> dict[str, Any]:
    changed: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    for work in works:
        for path, operation in work.files():
            if operation != "read":
                changed[path] += 1
                broken[path] += not work.outcome.success
    kept = sorted(changed, key=lambda path: (-broken[path], -changed[path], path))[:MOST_FILES]
    return {path: [changed[path], broken[path]] for path in kept}


# Lines that mean the same, kept once with all their sources


class Saying(NamedTuple):
    """A line as it came first, and its sources in the order they came."""

    text: str
    sources: tuple[str, ...]


def merge_alike(lines: Iterable[tuple[str, str]]) -> list[Saying]:
    """(line, source) pairs as distinct sayings, most sources first, equals in the order they came."""
    firsts: list[tuple[str, frozenset[str], dict[str, None]]] = []
    by_stem: dict[str, list[int]] = {}
    by_text: dict[str, int] = {}
    for line, source in lines:
        saying = " ".join(line.split())
        if not saying:
            continue
        at = by_text.get(fold(saying))
        if at is None:
            about = stems(saying)
            rare = _rare(about)
            near = dict.fromkeys(earlier for root in rare for earlier in by_stem.get(root, ()))
            at = next((earlier for earlier in near if likeness(about, firsts[earlier][1]) >= LIKENESS), None)
            if at is None:
                at = len(firsts)
                firsts.append((saying, about, {}))
                for root in rare:
                    by_stem.setdefault(root, []).append(at)
            by_text[fold(saying)] = at
        firsts[at][2][source] = None
    sayings = [Saying(saying, tuple(sources)) for saying, _, sources in firsts]
    return sorted(sayings, key=lambda saying: -len(saying.sources))


def _rare(about: frozenset[str]) -> list[str]:
    """The stems of which an alike line must share at least one; long ones, since they are the rarer ones."""
    ordered = sorted(about, key=lambda root: (-len(root), root))
    return ordered[: max(1, len(ordered) - int(LIKENESS * len(ordered) + 0.999) + 1)] if ordered else []
