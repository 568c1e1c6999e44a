"""Wisdom: what several chapters of a project teach together, each line citing the chapters it stands on.

Chapters of a project are taken in order of time, fifty to a piece of wisdom, so that a new chapter touches only the
last piece. Everything is counted, nothing is guessed: an insight was learned, a pattern came back in several chapters,
a best practice worked. Reads chapters only (with their digest), never works; has no clock and no model.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from strata.derive.alike import merge_alike
from strata.derive.chapter_text import MOST_TAGS, lowest_trust
from strata.derive.digest import Digest, most_first, read_digest
from strata.model.ids import derived_uuid
from strata.model.text import first_sentence
from strata.model.times import day
from strata.model.work import Chapter, Wisdom

RULE = "era-1"
MADE_BY = "rules-1"
MOST = 50
FEWEST = 2
MOST_INSIGHTS = 12
MOST_PATTERNS = 10
MOST_PRACTICES = 10
CITED = 3
_CITED = re.compile(r"(?:chapter|mem)_[A-Za-z0-9_.-]+")


def split_eras(chapters: Iterable[Chapter]) -> list[list[Chapter]]:
    """The chapters of one project, fifty at a time in order of time; one left over joins those before it."""
    ordered = sorted(chapters, key=in_time)
    eras = [ordered[at : at + MOST] for at in range(0, len(ordered), MOST)]
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
    for path, ids in _spread(told, lambda chapter: _broken_twice(digests[chapter.id])):
        yield cite(f"Before changing {path}, read what failed there: strata check-file {path}", ids)


def _broken_twice(digest: Digest) -> list[str]:
    return [path for path, (_, broken) in digest.files.items() if broken > 1]


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
