"""When a statement holds: time words read against the moment they were said.

`read_time` takes the words out of a clause and gives back the rest, a date and a time span. A date is as exact as the
words: `2023-05-07`, `2023-05`, `2023`, or `2023-05-01/2023-05-07` for a week; `first_day` makes a full date of any.
Nothing here knows today's date.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta
from typing import NamedTuple

from strata.derive.language import Language, TimeWord, Unit
from strata.errors import Invalid
from strata.model.times import parse_time, utc

SHORT_TERM_DAYS = 14
MEDIUM_TERM_DAYS = 365


class When(NamedTuple):
    """What the time words of a clause say. `direction` is −1 past, 0 now, 1 future, None when nothing was said."""

    rest: str
    words: str = ""
    date: str | None = None
    direction: int | None = None
    days: int = 0  # how far from the moment of speaking


def moment(*stamps: str | None) -> date | None:
    """The day of the first stamp that is one."""
    for stamp in filter(None, stamps):
        try:
            return utc(parse_time(stamp)).date()
        except Invalid:
            continue
    return None


def first_day(when: str) -> str:
    """The earliest full date a fact's date can mean: 2023 → 2023-01-01."""
    return f"{when.split('/')[0]}-01-01"[:10]


def read_time(text: str, said: date | None, language: Language) -> When:
    """Find the first time words in a clause, take them out and resolve them against the day they were said."""
    for word in language.times if language.time_hint.search(text) else ():
        match = word.pattern.search(text)
        if match is None:
            continue
        span = _resolve(word, match, said, language)
        leads = text[match.end():match.end() + 20].casefold().split()[:1]
        kept = word.kept and not (leads and leads[0] in language.first)  # "on Sunday I am …": the time only leads
        rest = text if kept else f"{text[:match.start()].rstrip()} {text[match.end():].lstrip()}".strip(" ,")
        shown, direction, days = span
        return When(rest, match.group().strip(), shown, direction, days)
    return When(text)


def _resolve(word: TimeWord, match: re.Match[str], said: date | None, language: Language) -> tuple[str | None, int, int]:
    unit, shift = word.unit, word.shift
    groups = {name: value.casefold() for name, value in match.groupdict().items() if value}
    if unit in ("now", "recent", "soon"):
        return None, {"now": 0, "recent": -1, "soon": 1}[unit], 7
    if unit == "date":
        return _calendar(groups, said, language)
    unit = unit or language.units.get(groups.get("unit", ""))
    if "n" in groups:
        count = int(groups["n"]) if groups["n"].isdigit() else language.numbers.get(groups["n"])
        if count is None:  # "a few weeks ago": near enough for a span, too vague for a date
            return None, shift, {"day": 3, "week": 21, "month": 90, "year": 1000}.get(str(unit), 7)
        shift *= count
    if said is None:
        return None, (shift > 0) - (shift < 0), {"day": 1, "month": 30, "year": 366}.get(str(unit), 7) * abs(shift)
    if "weekday" in groups:
        return _weekday(language.weekdays[groups["weekday"]], shift, said)
    if "season" in groups:
        return str(said.year + shift), shift, 182
    return _away(unit or "day", shift, said)


def _away(unit: Unit, shift: int, said: date) -> tuple[str | None, int, int]:
    """The day, week, month or year that lies `shift` units from the one it was said in."""
    direction = (shift > 0) - (shift < 0)
    if unit == "day":
        return _shifted(said, shift), direction, abs(shift)
    if unit in ("week", "weekend"):
        monday = said - timedelta(days=said.weekday())
        try:
            first = monday + timedelta(weeks=shift, days=5 if unit == "weekend" else 0)
            last = monday + timedelta(weeks=shift, days=6)
        except OverflowError:
            return None, direction, 7 * abs(shift)
        return f"{first}/{last}", direction, 7 * abs(shift)
    if unit == "month":
        months = said.year * 12 + said.month - 1 + shift
        return f"{months // 12:04d}-{months % 12 + 1:02d}" if months > 0 else None, direction, 30 * abs(shift)
    return (f"{said.year + shift:04d}" if said.year + shift > 0 else None), direction, 366 * abs(shift)


def _shifted(said: date, days: int) -> str | None:
    try:
        return str(said + timedelta(days=days))
    except OverflowError:
        return None


def _weekday(weekday: int, shift: int, said: date) -> tuple[str | None, int, int]:
    """The last or the coming such day; without a direction only the weekday is known, not which one."""
    if shift == 0:
        return None, 0, 7
    days = (weekday - said.weekday()) % 7 or 7
    days = days if shift > 0 else days - 7 if days < 7 else -7
    return _shifted(said, days), shift, abs(days)


def _calendar(groups: dict[str, str], said: date | None, language: Language) -> tuple[str | None, int, int]:
    """A date as written; without a year, the nearest one to the moment of speaking."""
    if "iso" in groups:
        try:
            day = date.fromisoformat(groups["iso"])
        except ValueError:
            return None, 0, 0
        return str(day), *_distance(day, day, said)
    month = language.months.get(groups.get("month", ""))
    year = int(groups["year"]) if "year" in groups else said.year if said else None
    if year is None:
        return None, 0, 30
    if month is None:
        return str(year), *_distance(date(year, 1, 1), date(year, 12, 31), said)
    if "day" not in groups:
        return f"{year}-{month:02d}", *_distance(date(year, month, 1), date(year, month, monthrange(year, month)[1]), said)
    if not 1 <= int(groups["day"]) <= monthrange(year, month)[1]:
        return None, 0, 0
    day = date(year, month, int(groups["day"]))
    return str(day), *_distance(day, day, said)


def _distance(first: date, last: date, said: date | None) -> tuple[int, int]:
    if said is None or first <= said <= last:
        return 0, 0
    return (1, (first - said).days) if first > said else (-1, (said - last).days)
