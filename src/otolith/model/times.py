"""Points in time, in one inner form and the seeds' three outer forms.

Inside, a time is a Unix number of seconds. Chunks write `2026-02-10T21:37:00Z`, notes
`2025-12-06T16:25:58+00:00`, work integer seconds. A time without a zone is UTC; a number above 10¹¹ is
milliseconds, as some exporters write it.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from otolith.errors import Invalid

MILLISECONDS_ABOVE = 1e11
_UNITS = (("year", 31_557_600), ("month", 2_629_800), ("week", 604_800), ("day", 86_400), ("hour", 3600),
          ("minute", 60))


def parse_time(value: Any, where: str = "time") -> float:
    """Seconds since 1970 of a date, a timestamp, a datetime or a number."""
    if isinstance(value, str):
        with suppress(ValueError):
            return _read_iso(value)
    elif isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    elif isinstance(value, int | float) and not isinstance(value, bool):
        return value / 1000 if abs(value) > MILLISECONDS_ABOVE else float(value)
    raise Invalid(f"{where} is not a time: {value!r}", "write 2026-02-10 or 2026-02-10T21:37:00Z")


def time_or_none(value: Any) -> float | None:
    """The time, if there is one that can be read."""
    try:
        return None if value is None else parse_time(value)
    except Invalid:
        return None


@lru_cache(maxsize=1024)
def _read_iso(value: str) -> float:
    """A record's times are asked for several times in a row."""
    text = value.strip()
    when = datetime.fromisoformat(text[:-1] + "+00:00" if text[-1:] in ("Z", "z") else text)
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def utc(seconds: float) -> datetime:
    """The moment as an aware datetime."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        raise Invalid(f"no calendar has the time {seconds:g}") from None


def zulu(seconds: float) -> str:
    """As chunks and entries write it: 2026-02-10T21:37:00Z."""
    return utc(seconds).isoformat(timespec="seconds")[:19] + "Z"


def micro(microseconds: int) -> str:
    """The moment of a write, to the microsecond: 2026-02-10T21:37:00.000123Z."""
    seconds, rest = divmod(microseconds, 1_000_000)
    return f"{zulu(seconds)[:-1]}.{rest:06d}Z"


def offset(seconds: float) -> str:
    """As notes write it: 2025-12-06T16:25:58+00:00."""
    return utc(seconds).isoformat(timespec="seconds")


def minute(seconds: float) -> str:
    """As memos write it: 2026-02-10 21:37."""
    return utc(seconds).isoformat(" ", "minutes")[:16]


def day(seconds: float) -> str:
    """The UTC date: 2026-02-10."""
    return utc(seconds).isoformat()[:10]


def month(seconds: float) -> str:
    """The UTC month that files are grouped by: 2026-02."""
    return utc(seconds).isoformat()[:7]


def age(seconds: float) -> str:
    """How long ago, as a person says it: 5 minutes, 3 days."""
    for unit, size in _UNITS:
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return "moments"
