"""A chapter's digest: the counts and citations that wisdom is drawn from.

It is written into the chapter when the chapter is told, so that wisdom reads chapters only. A chapter that was written
by hand or elsewhere may have none, or a broken one: it then simply counts for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from strata.derive.alike import merge_alike
from strata.errors import Invalid
from strata.model.shape import NOTHING, Shape, flag, integer, mapping, parts, strings, text
from strata.model.work import Chapter, Work

MOST_FILES = 20
MOST_REASONS = 5
MOST_APPROACHES = 5
MOST_CHECKS = 3


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
        approaches=tuple(_approach(work) for work in proven[:MOST_APPROACHES]),
        checks={command: checks[command] for command in most_first(checks)[:MOST_CHECKS]},
    )


def most_first(counted: Counter[str]) -> list[str]:
    """The keys by how often, then by name, so that the order is the same every time."""
    return sorted(counted, key=lambda key: (-counted[key], key))


def _approach(work: Work) -> Approach:
    return Approach(task_type=work.intent.task_type, approach=work.reasoning.approach_chosen,
                    verified=work.outcome.verified_by is not None, work=work.id)


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
