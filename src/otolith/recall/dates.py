"""Times in questions: "on 8 May 2023", "in June", "last Tuesday", "two weeks ago", "since 2022".

A span favours what was said in it or soon after; it never excludes, because people tell of a thing later than it happened
and ask with dates they half remember. English only: another language finds no span and loses nothing. The clock comes in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from otolith.model.shape import Value
from otolith.model.words import word_set

MONTHS = {name: at for at, name in enumerate((
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december"), 1)}
DAYS = {name: at for at, name in enumerate((
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))}
NUMBERS = {word: at for at, word in enumerate((
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), 1)}
NUMBERS |= {"a": 1, "an": 1, "couple of": 2, "a couple of": 2, "few": 3, "a few": 3}
TOLD_LATER = timedelta(days=10)
_LAST_YEAR = 9999  # of datetime, which cannot count beyond it
_NEAR = 0.7  # how much less it counts to have been said in the days after a span than within it

_MONTH = "|".join(sorted((*MONTHS, *(name[:3] for name in MONTHS if len(name) > 3), "sept"), key=len, reverse=True))
_LEAD = r"(?P<lead>since|after|before|until|till|by|from)\s+(?:the\s+)?"
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})(?:-(\d{1,2}))?\b")
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})\b\.?(?:,?\s*(\d{{4}}))?", re.I)
_MONTH_DAY = re.compile(rf"\b({_MONTH})\b\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,?\s*(\d{{4}}))?", re.I)
_MONTH_YEAR = re.compile(rf"\b({_MONTH})\b\.?,?\s*(?:of\s+)?(\d{{4}})\b", re.I)
_MONTH_ALONE = re.compile(rf"\b(in|during|of|since|before|after|until|by|early|late|mid|last|this)[\s-]+({_MONTH})\b", re.I)
_YEAR = re.compile(r"\b(?:in|during|of|since|before|after|until|by|from)\s+((?:19|20)\d\d)\b", re.I)
_AGO = re.compile(rf"\b(\d{{1,3}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})\s+(day|week|month|year)s?\s+ago\b", re.I)
_WEEKDAY = re.compile(rf"\b(?:last|this|on|past)\s+({'|'.join(DAYS)})\b", re.I)
_UNIT = re.compile(r"\b(last|this|past|previous)\s+(week|weekend|month|year)\b", re.I)
_NAMED = re.compile(r"\b(today|yesterday|the day before yesterday)\b", re.I)
_TIMELY = word_set(
    """yesterday today tonight tomorrow last next ago since just recently day days week weeks weekend month months year
    years morning evening""") | DAYS.keys() | (MONTHS.keys() - {"may"}) | {str(year) for year in range(1900, 2100)}
_HAPPENED = word_set(
    """happen happened happening happens do did done doing go going went work worked working talk talked discuss discussed say said
    write wrote written note notes noted record recorded remember learn learned learnt decide decided anything everything something
    new news day week weekend month year past previous early late mid st nd rd th""")
_POINTS = str.maketrans(dict.fromkeys(".,;:!?()[]\"'’…-–—/", " "))


class Span(Value):
    """[since, before) in seconds; or, where no year was named, a month and perhaps a day of any year."""

    since: float | None = None
    before: float | None = None
    month: int | None = None
    day: int | None = None

    def nearness(self, said: float) -> float:
        """1 for what was said within the span, a little less for soon after it, 0 for any other time."""
        if self.month is not None:
            year = datetime.fromtimestamp(said, UTC).year
            found = (_day(at, self.month, self.day) for at in (year - 1, year))
            return max((span.nearness(said) for span in found if span), default=0.0)
        since = float("-inf") if self.since is None else self.since
        before = float("inf") if self.before is None else self.before
        if since <= said < before:
            return 1.0
        return _NEAR if before <= said < before + TOLD_LATER.total_seconds() and self.since is not None else 0.0


def only_time(words: Iterable[str]) -> bool:
    """Is a time all that these words of a question ask about: what happened yesterday, what did we do in May?"""
    said = [word.removesuffix("'s") for word in words]
    return all(word in _TIMELY or word in _HAPPENED or word in NUMBERS or word == "may" or word[:1].isdigit() for word in said)


def mentions_time(text: str) -> bool:
    """Does a text say when something was: a likely place to learn it from."""
    return not _TIMELY.isdisjoint(text.lower().translate(_POINTS).split())


def read_span(question: str, now: float) -> Span | None:
    """The time a question speaks of, if any."""
    clock = datetime.fromtimestamp(now, UTC)
    span, at = _absolute(question) or _relative(question, clock) or (None, 0)
    if span is None or span.month is not None:
        return span
    lead = re.search(_LEAD + r"[\w\s]{0,8}$", question[:at] + " ", re.I) or re.match(_LEAD, question[at:], re.I)
    word = lead["lead"].lower() if lead else ""
    if word in ("since", "after", "from"):
        return Span(since=span.before if word == "after" else span.since)
    if word in ("before", "until", "till", "by"):
        return Span(before=span.since if word == "before" else span.before)
    return span


def _absolute(text: str) -> tuple[Span, int] | None:
    if found := _ISO.search(text):
        year, month, day = (int(part) if part else None for part in found.groups())
        span = _day(year, month, day)
    elif found := _DAY_MONTH.search(text):
        span = _day(_number(found[3]), _month(found[2]), int(found[1]))
    elif found := _MONTH_YEAR.search(text):
        span = _day(int(found[2]), _month(found[1]), None)
    elif found := _MONTH_DAY.search(text):
        span = _day(_number(found[3]), _month(found[1]), int(found[2]))
    elif found := _MONTH_ALONE.search(text):
        span = _day(None, _month(found[2]), None)
    elif found := _YEAR.search(text):
        span = _between(datetime(int(found[1]), 1, 1, tzinfo=UTC), datetime(int(found[1]) + 1, 1, 1, tzinfo=UTC))
    else:
        return None
    return (span, found.start()) if span and found else None


def _relative(text: str, clock: datetime) -> tuple[Span, int] | None:
    today = clock.replace(hour=0, minute=0, second=0, microsecond=0)
    if found := _NAMED.search(text):
        start = today - timedelta(days={"today": 0, "yesterday": 1}.get(found[1].lower(), 2))
        return _between(start, start + timedelta(days=1)), found.start()
    if found := _WEEKDAY.search(text):
        start = today - timedelta(days=(today.weekday() - DAYS[found[1].lower()] - 1) % 7 + 1)
        return _between(start, start + timedelta(days=1)), found.start()
    if found := _AGO.search(text):
        count, unit = _count(found[1].lower()), found[2].lower()
        days = {"day": 1, "week": 7, "month": 30, "year": 365}[unit]
        middle, slack = today - timedelta(days=count * days), timedelta(days=days // 2)
        return _between(middle - slack, middle + slack + timedelta(days=1)), found.start()
    if found := _UNIT.search(text):
        return _unit(today, found[2].lower(), back=found[1].lower() != "this"), found.start()
    return None


def _unit(today: datetime, unit: str, *, back: bool) -> Span:
    """This or the last week, weekend, month or year."""
    monday = today - timedelta(days=today.weekday())
    if unit == "week":
        start = monday - timedelta(days=7 * back)
        return _between(start, start + timedelta(days=7))
    if unit == "weekend":
        start = monday + timedelta(days=5 - 7 * back)
        return _between(start, start + timedelta(days=2))
    if unit == "month":
        first = today.replace(day=1)
        start = (first - timedelta(days=1)).replace(day=1) if back else first
        return _between(start, (start + timedelta(days=32)).replace(day=1))
    start = today.replace(year=today.year - back, month=1, day=1)
    return _between(start, start.replace(year=start.year + 1))


def _day(year: int | None, month: int | None, day: int | None) -> Span | None:
    """A day, or a month where no day is named; of any year where none is named."""
    if month is None or not 1 <= month <= 12 or not 1 <= (day or 1) <= 31:
        return None
    if year is None:
        return Span(month=month, day=day)
    if not 1000 <= year < _LAST_YEAR:
        return None
    try:
        start = datetime(year, month, day or 1, tzinfo=UTC)
    except ValueError:
        return None
    return _between(start, start + timedelta(days=1) if day else (start + timedelta(days=32)).replace(day=1))


def _between(start: datetime, stop: datetime) -> Span:
    return Span(since=start.timestamp(), before=stop.timestamp())


def _month(name: str) -> int:
    return next(at for full, at in MONTHS.items() if full.startswith(name.lower()[:3]))


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def _count(text: str) -> int:
    return int(text) if text.isdigit() else NUMBERS[text]
