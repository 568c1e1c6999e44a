"""Wisdom: what several chapters of a project teach together. Everything is counted, nothing is guessed.

Fifty chapters in order of time are a piece of wisdom; it reads the digests that chapters carry, never works,
and each of its lines cites its chapters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from otolith.derive.chapters import (
    FEWEST,
    MADE_BY,
    MOST_TAGS,
    Digest,
    fingerprint_of,
    lowest_trust,
    merge_alike,
    most_first,
    read_digest,
    span,
)
from otolith.model.ids import derived_uuid
from otolith.model.narrative import Chapter, Wisdom
from otolith.model.text import first_sentence

T = TypeVar("T")
WISDOM_RULE = "era-1"
MOST_CHAPTERS = 50
MOST_INSIGHTS, MOST_PATTERNS, MOST_PRACTICES = 12, 10, 10
CITED = 3
_CITED = re.compile(r"(?:chapter|mem)_[A-Za-z0-9_.-]+")


def split_eras(ordered: Sequence[T]) -> list[list[T]]:
    """Chapters of a project in order of time, or their ids, by eras; one left over joins those before it."""
    eras = [list(ordered[at : at + MOST_CHAPTERS]) for at in range(0, len(ordered), MOST_CHAPTERS)]
    if len(eras) > 1 and len(eras[-1]) < FEWEST:
        left_over = eras.pop()
        eras[-1] += left_over
    return [era for era in eras if len(era) >= FEWEST]


def build_wisdom(chapters: Sequence[Chapter]) -> Wisdom:
    ordered = sorted(chapters, key=lambda chapter: (chapter.start_ts, chapter.id))
    first, last = ordered[0].start_ts, max(chapter.end_ts for chapter in ordered)
    project, digests = ordered[0].project_id, {chapter.id: read_digest(chapter) for chapter in ordered}
    learned = merge_alike((line, chapter.id) for chapter in reversed(ordered)
                          for line in chapter.learnings or ())
    insights = tuple(cite(saying.text, saying.sources) for saying in learned[:MOST_INSIGHTS])
    patterns, practices = tuple(_patterns(ordered, digests)), tuple(_practices(ordered, digests))
    tags = Counter(tag for chapter in ordered for tag in chapter.tags or ())
    return Wisdom(
        id="wisdom_" + derived_uuid(project, WISDOM_RULE, ordered[0].id), project_id=project,
        title=f"What {project} taught, {span(first, last)}", created_at=first, updated_at=last,
        summary=_wisdom_summary(f"{len(ordered)} chapters of {project}, {span(first, last)}",
                                digests.values(), Learned=insights, Pattern=patterns, Do=practices),
        insights=insights or None, patterns=patterns[:MOST_PATTERNS] or None,
        best_practices=practices[:MOST_PRACTICES] or None, tags=tuple(most_first(tags)[:MOST_TAGS]) or None,
        start_ts=first, end_ts=last, chapters=tuple(chapter.id for chapter in ordered), made_by=MADE_BY,
        fingerprint=fingerprint_of(WISDOM_RULE, (
            (chapter.id, chapter.fingerprint, chapter.title, chapter.summary, chapter.learnings, chapter.tags,
             chapter.start_ts, chapter.end_ts, chapter.trust) for chapter in ordered)),
        trust=lowest_trust(chapter.trust or "user" for chapter in ordered))


def _wisdom_summary(opening: str, digests: Collection[Digest], **lists: Sequence[str]) -> str:
    done, failed = sum(digest.succeeded for digest in digests), sum(digest.failed for digest in digests)
    return "\n".join([f"{opening}: {done} works succeeded, {failed} failed.", *(
        f"{word}: {lines[0].rsplit(' [', 1)[0]}" for word, lines in lists.items() if lines)])


def cite(line: str, ids: Sequence[str]) -> str:
    """The line with what it stands on in brackets: at most three ids and how many more there are."""
    more = f", +{len(ids) - CITED}" if len(ids) > CITED else ""
    return f"{line.rstrip()} [{', '.join(ids[:CITED])}{more}]"


def cited_in(line: str) -> tuple[str, ...]:
    at = line.rfind("[")
    return tuple(_CITED.findall(line[at:])) if at >= 0 else ()


def _patterns(chapters: Sequence[Chapter], digests: dict[str, Digest]) -> Iterator[str]:
    """What came back in several chapters: a kind of failure, a reason, a file that breaks, a subject."""
    for category, ids in _spread(digests, "failures"):
        works = sum(len(digests[chapter].failures[category]) for chapter in ids)
        if len(ids) > 1 and category != "other":  # that failures of no particular kind came back says nothing
            yield cite(f"{category} came back in {len(ids)} of {len(chapters)} chapters ({works} works)", ids)
    for saying in merge_alike((line, chapter) for chapter, digest in digests.items()
                              for line in digest.reasons):
        if len(saying.sources) > 1:
            yield cite(f"The same reason for failing: {saying.text}", saying.sources)
    for path, ids in _spread(digests, "files"):
        changed, broken = (sum(digests[chapter].files[path][at] for chapter in ids) for at in (0, 1))
        if len(ids) > 2 or (len(ids) > 1 and broken):
            failed = f", {broken} of them failed" if broken else ""
            yield cite(f"{path} was changed by {changed} works in {len(ids)} chapters{failed}", ids)
    for topic, ids in _spread({chapter.id: chapter for chapter in chapters}, "topics"):
        if len(ids) > 1:
            yield cite(f"{topic} is a subject of {len(ids)} of {len(chapters)} chapters", ids)


def _practices(chapters: Sequence[Chapter], digests: dict[str, Digest]) -> Iterator[str]:
    """What worked, verified ways first; how it was checked; files to read about before touching them."""
    ways = [(way, chapter.id) for chapter in reversed(chapters) for way in digests[chapter.id].approaches]
    ways.sort(key=lambda pair: not pair[0].verified)
    for saying in merge_alike((f"For {way.task_type}: {first_sentence(way.approach, 200)}", chapter)
                              for way, chapter in ways)[:5]:
        yield cite(saying.text, saying.sources)
    for command, ids in _spread(digests, "checks"):
        yield cite(f"Verify with `{command}`", ids)
    for path, ids in _spread(digests, "fragile"):
        yield cite(f"Before changing {path}, read what failed there: otolith check-file {path}", ids)


def _spread(holders: Mapping[str, Any], name: str) -> list[tuple[str, list[str]]]:
    """(key, the chapters that have it under a name), the most widespread first."""
    chapters: dict[str, list[str]] = {}
    for chapter, holder in holders.items():
        for key in dict.fromkeys(getattr(holder, name) or ()):
            chapters.setdefault(key, []).append(chapter)
    return sorted(chapters.items(), key=lambda item: (-len(item[1]), item[0]))
