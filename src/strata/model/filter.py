"""Filter: which records a question is about. The same words at every door."""

from __future__ import annotations

from typing import Any

from strata.errors import Invalid
from strata.model.record import KINDS
from strata.model.shape import Value
from strata.model.times import parse_time


class Filter(Value):
    """All given conditions hold. An equality on a field that a kind lacks excludes it; a minimum lets it pass."""

    kind: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    topic: str | None = None
    project: str | None = None
    agent: str | None = None
    conversation: str | None = None
    session: str | None = None
    file: str | None = None
    since: float | None = None
    before: float | None = None
    as_of: float | None = None
    success: bool | None = None
    min_confidence: float | None = None
    trust: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self != Filter()


def make_filter(
    *, kind: Any = None, type: Any = None, tag: Any = None, tags: Any = None, topic: str | None = None,
    project: str | None = None, agent: str | None = None, conversation: str | None = None, session: str | None = None,
    file: str | None = None, since: Any = None, before: Any = None, as_of: Any = None, failures: bool = False,
    successes: bool = False, min_confidence: float | None = None,
) -> Filter:
    """A filter from a verb's keywords; one value or several, times in any of their forms."""
    kinds = _several(kind, "kind")
    unknown = [name for name in kinds if name not in KINDS]
    if unknown:
        raise Invalid(f"unknown kind {unknown[0]!r}", f"use one of {', '.join(KINDS)}")
    if failures and successes:
        raise Invalid("failures and successes together leave nothing", "give one of them, or neither for both")
    if min_confidence is not None and not 0 <= min_confidence <= 1:
        raise Invalid(f"min_confidence must be from 0 to 1; got {min_confidence:g}")
    times = {name: None if value is None else parse_time(value, name)
             for name, value in (("since", since), ("before", before), ("as_of", as_of))}
    return Filter(kind=kinds, type=_several(type, "type"), tags=_several(tag, "tag") + _several(tags, "tags"), topic=topic,
                  project=project, agent=agent, conversation=conversation, session=session, file=file,
                  success=False if failures else True if successes else None, min_confidence=min_confidence,
                  since=times["since"], before=times["before"], as_of=times["as_of"])


def _several(value: Any, where: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple | set | frozenset) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise Invalid(f"{where} must be a word or a list of words; got {value!r}")
