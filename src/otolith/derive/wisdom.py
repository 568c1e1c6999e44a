"""Wisdom: what several chapters of a project teach together, each line citing the chapters it stands on.

Chapters of a project are taken in order of time, fifty to a piece of wisdom, so that a new chapter touches only the
last piece. Everything is counted, nothing is guessed: an insight was learned, a pattern came back in several chapters,
a best practice worked. The counts come from the digest that each chapter carries, so that wisdom reads chapters only,
never works. Has no clock and no model.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from otolith.errors import Invalid
from otolith.model.ids import derived_uuid
from otolith.model.record import TRUST
from otolith.model.shape import NOTHING, Shape, flag, integer, mapping, parts, strings, text
from otolith.model.text import first_sentence, fold
from otolith.model.times import day
from otolith.model.words import likeness, stems
from otolith.model.work import Chapter, Wisdom, Work

T = TypeVar("T")
RULE = "era-1"
MADE_BY = "rules-1"
MOST = 50
FEWEST = 2
MOST_INSIGHTS = 12
MOST_PATTERNS = 10
MOST_PRACTICES = 10
CITED = 3
MOST_TAGS = 12
_CITED = re.compile(r"(?:chapter|mem)_[A-Za-z0-9_.-]+")
LIKENESS = 0.8
MOST_FILES = 20
MOST_REASONS = 5
MOST_APPROACHES = 5
MOST_CHECKS = 3


def split_eras(ordered: Sequence[T]) -> list[list[T]]:
    """The chapters of one project in order of time, or their ids, fifty to an era; one left over joins those before it."""
    eras = [list(ordered[at : at + MOST]) for at in range(0, len(ordered), MOST)]
    if len(eras) > 1 and len(eras[-1]) < FEWEST:
        left_over = eras.pop()
        eras[-1] += left_over
    return [era for era in eras if len(era) >= FEWEST]


def in_time(chapter: Chapter) -> tuple[float, str]:
    """The order chapters are told in."""
    return chapter.start_ts, chapter.id


def build_wisdom(chapters: Sequence[Chapter]) -> Wisdom:
    """What these chapters of one project teach together."""
    told = sorted(chapters, key=in_time)
    insights, patterns, practices = _insights(told), tuple(_patterns(told)), tuple(_practices(told))
    first, last = told[0].start_ts, max(chapter.end_ts for chapter in told)
    tags = Counter(tag for chapter in told for tag in chapter.tags or ())
    return Wisdom(
        id=wisdom_id(told), project_id=told[0].project_id, title=f"What {told[0].project_id} taught, {_span(told)}",
        created_at=first, updated_at=last, summary=_summary(told, insights, patterns, practices),
        insights=insights or None, patterns=patterns[:MOST_PATTERNS] or None,
        best_practices=practices[:MOST_PRACTICES] or None, tags=tuple(most_first(tags)[:MOST_TAGS]) or None,
        start_ts=first, end_ts=last, chapters=tuple(chapter.id for chapter in told),
        fingerprint=fingerprint(told), made_by=MADE_BY, trust=lowest_trust(chapter.trust or "user" for chapter in told),
    )


def wisdom_id(told: Sequence[Chapter]) -> str:
    """The same for the same project, rule and earliest chapter."""
    return "wisdom_" + derived_uuid(told[0].project_id, RULE, told[0].id)


def fingerprint(chapters: Iterable[Chapter]) -> str:
    """Changes when a chapter comes, goes or tells something else."""
    sign = hashlib.sha256(RULE.encode())
    for chapter in chapters:
        told = (chapter.id, chapter.fingerprint, chapter.title, chapter.summary, chapter.learnings, chapter.tags,
                chapter.start_ts, chapter.end_ts, chapter.trust)
        sign.update(repr(told).encode(errors="surrogatepass"))
    return sign.hexdigest()[:32]


def cite(text: str, ids: Sequence[str]) -> str:
    """The line with what it stands on in brackets: at most three ids and how many more there are."""
    more = f", +{len(ids) - CITED}" if len(ids) > CITED else ""
    return f"{text.rstrip()} [{', '.join(ids[:CITED])}{more}]"


def cited_in(line: str) -> tuple[str, ...]:
    """The ids a line cites."""
    at = line.rfind("[")
    return tuple(_CITED.findall(line[at:])) if at >= 0 else ()


def lowest_trust(levels: Iterable[str]) -> str:
    """What is built is trusted as little as the least trusted of what it is built from."""
    return max(levels, key=TRUST.index, default="user")


def _insights(told: Sequence[Chapter]) -> tuple[str, ...]:
    """What was learned; what several chapters learned comes first, then the latest."""
    learned = merge_alike((line, chapter.id) for chapter in reversed(told) for line in chapter.learnings or ())
    return tuple(cite(saying.text, saying.sources) for saying in learned[:MOST_INSIGHTS])


def _patterns(told: Sequence[Chapter]) -> Iterator[str]:
    """What came back in several chapters: a kind of failure, a reason, a file that breaks, a subject."""
    digests = {chapter.id: read_digest(chapter) for chapter in told}
    for category, ids in _spread(told, lambda chapter: digests[chapter.id].failures):
        works = sum(len(digests[chapter].failures[category]) for chapter in ids)
        if len(ids) > 1 and category != "other":  # that failures of no particular kind came back says nothing
            yield cite(f"{category} came back in {len(ids)} of {len(told)} chapters ({works} works)", ids)
    reasons = merge_alike((line, chapter.id) for chapter in told for line in digests[chapter.id].reasons)
    for saying in reasons:
        if len(saying.sources) > 1:
            yield cite(f"The same reason for failing: {saying.text}", saying.sources)
    for path, ids in _spread(told, lambda chapter: digests[chapter.id].files):
        changed, broken = (sum(digests[chapter].files[path][at] for chapter in ids) for at in (0, 1))
        if len(ids) > 2 or (len(ids) > 1 and broken):
            failed = f", {broken} of them failed" if broken else ""
            yield cite(f"{path} was changed by {changed} works in {len(ids)} chapters{failed}", ids)
    for topic, ids in _spread(told, lambda chapter: chapter.topics or ()):
        if len(ids) > 1:
            yield cite(f"{topic} is a subject of {len(ids)} of {len(told)} chapters", ids)


def _practices(told: Sequence[Chapter]) -> Iterator[str]:
    """What worked, verified ways first; how it was checked; which files to read about before touching them."""
    digests = {chapter.id: read_digest(chapter) for chapter in told}
    ways = [(way, chapter.id) for chapter in reversed(told) for way in digests[chapter.id].approaches]
    ways.sort(key=lambda pair: not pair[0].verified)
    worked = merge_alike((f"For {way.task_type}: {first_sentence(way.approach, 200)}", source) for way, source in ways)
    yield from (cite(saying.text, saying.sources) for saying in worked[:5])
    for command, ids in _spread(told, lambda chapter: digests[chapter.id].checks):
        yield cite(f"Verify with `{command}`", ids)
    broken = {id: [path for path, (_, times) in digest.files.items() if times > 1] for id, digest in digests.items()}
    for path, ids in _spread(told, lambda chapter: broken[chapter.id]):
        yield cite(f"Before changing {path}, read what failed there: otolith check-file {path}", ids)


def _spread(told: Sequence[Chapter], keys: Callable[[Chapter], Iterable[str]]) -> list[tuple[str, list[str]]]:
    """(key, the chapters that have it), the most widespread first."""
    found: dict[str, list[str]] = {}
    for chapter in told:
        for key in dict.fromkeys(keys(chapter)):
            found.setdefault(key, []).append(chapter.id)
    return sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))


def _span(told: Sequence[Chapter]) -> str:
    first, last = day(told[0].start_ts), day(max(chapter.end_ts for chapter in told))
    return first if first == last else f"{first} to {last}"


def _summary(told: Sequence[Chapter], *found: Sequence[str]) -> str:
    digests = [read_digest(chapter) for chapter in told]
    done, failed = sum(digest.succeeded for digest in digests), sum(digest.failed for digest in digests)
    lines = [f"{len(told)} chapters of {told[0].project_id}, {_span(told)}: {done} works succeeded, {failed} failed."]
    for word, said in zip(("Learned", "Pattern", "Do"), found, strict=True):
        if said:
            lines.append(f"{word}: {said[0].rsplit(' [', 1)[0]}")
    return "\n".join(lines)


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
    files: dict[str, Sequence[int]] = mapping(default=NOTHING)  # path → works that changed it, and how many of them failed
    failures: dict[str, Sequence[str]] = mapping(default=NOTHING)  # category → works
    reasons: tuple[str, ...] = strings(default=())
    approaches: tuple[Approach, ...] = parts(Approach, default=())
    checks: dict[str, int] = mapping(default=NOTHING)  # command → works it verified

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
    reasons = merge_alike((work.outcome.failure_reason, work.id) for work in failed if work.outcome.failure_reason)
    proven = [work for work in lasting if work.outcome.success and work.reasoning.approach_chosen]
    proven.sort(key=lambda work: (work.outcome.verified_by is None, -work.importance, -work.created_at, work.id))
    checks = Counter(work.outcome.verified_by.command for work in lasting
                     if work.outcome.success and work.outcome.verified_by and work.outcome.verified_by.command)
    return Digest(
        succeeded=len(works) - len(failed), failed=len(failed),
        task_types=dict(sorted(Counter(work.intent.task_type for work in works).items())),
        files=_files(works), failures=dict(sorted(failures.items())),
        reasons=tuple(saying.text for saying in reasons[:MOST_REASONS]),
        approaches=tuple(Approach(task_type=work.intent.task_type, approach=work.reasoning.approach_chosen,
                                  verified=work.outcome.verified_by is not None, work=work.id)
                         for work in proven[:MOST_APPROACHES]),
        checks={command: checks[command] for command in most_first(checks)[:MOST_CHECKS]},
    )


def most_first(counted: Counter[str]) -> list[str]:
    """The keys by how often, then by name, so that the order is the same every time."""
    return sorted(counted, key=lambda key: (-counted[key], key))


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


# Lines that say the same, told once with everyone who said it


class Saying(NamedTuple):
    """A line as it was said first, and by whom in all, in the order they came."""

    text: str
    sources: tuple[str, ...]


def merge_alike(lines: Iterable[tuple[str, str]]) -> list[Saying]:
    """(line, source) pairs as distinct sayings, those with most sources first, equals in the order they came."""
    firsts: list[tuple[str, frozenset[str], dict[str, None]]] = []
    by_stem: dict[str, list[int]] = {}
    by_text: dict[str, int] = {}
    for line, source in lines:
        said = " ".join(line.split())
        if not said:
            continue
        at = by_text.get(fold(said))
        if at is None:
            about = stems(said)
            at = next((known for known in _near(about, by_stem) if likeness(about, firsts[known][1]) >= LIKENESS), None)
            if at is None:
                at = len(firsts)
                firsts.append((said, about, {}))
                for stem in _prefix(about):
                    by_stem.setdefault(stem, []).append(at)
            by_text[fold(said)] = at
        firsts[at][2][source] = None
    told = [Saying(said, tuple(sources)) for said, _, sources in firsts]
    return sorted(told, key=lambda saying: -len(saying.sources))


def _prefix(about: frozenset[str]) -> list[str]:
    """The stems of which an alike line must share at least one; long stems first, since they are the rarer ones."""
    ordered = sorted(about, key=lambda stem: (-len(stem), stem))
    return ordered[: max(1, len(ordered) - int(LIKENESS * len(ordered) + 0.999) + 1)] if ordered else []


def _near(about: frozenset[str], by_stem: dict[str, list[int]]) -> Iterator[int]:
    seen: set[int] = set()
    for stem in _prefix(about):
        for at in by_stem.get(stem, ()):
            if at not in seen:
                seen.add(at)
                yield at
