"""Times in words: "on 8 May 2023", "in June", "last Tuesday", "two weeks ago", "since 2022".

One table of English time words, read in three ways. In a statement they are resolved against the day it was
made, to a date as exact as the words: `2023-05-07`, `2023-05`, `2023`, or `2023-05-01/2023-05-07` for a week.
In a question they are a span that favours what was said in it or soon after; it never excludes, because
people speak of a thing later than it happened and ask with dates they half remember. Where a verb takes a
date, they are the moment at which their time begins. Another language is another Calendar. The clock comes
in; patterns are bounded, and compiled when a text has one of the words that hint at a time.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Container, Iterable, Mapping
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from otolith.errors import Invalid
from otolith.model.shape import Value
from otolith.model.times import parse_time, time_or_none, utc
from otolith.model.words import word_set

Period = tuple[date, date]  # its first day and its last
TOLD_LATER = 10 * 86_400.0  # seconds after a span in which people still speak of it
_NEAR = 0.7  # how much less it counts to have been said in the days after a span than within it
_EPOCH = date(1970, 1, 1)
_DAYS = {"day": 1, "week": 7, "weekend": 7, "weekday": 7, "month": 30, "year": 366, "season": 182}
_DIRECTIONS = {"now": 0, "recent": -1, "soon": 1}


class TimeWord(NamedTuple):
    """A pattern of time words and what it means: `shift` units away, or as its named groups say.

    Groups the readers know: `n` (a number), `unit`, `weekday`, `season`, `month`, `day`, `year`, `iso`.
    """

    pattern: str
    unit: str = ""
    shift: int = 0
    kept: bool = False  # the words stay in the statement ("since 2016"), for they say more than a date


class Calendar(NamedTuple):
    """How a language speaks of time. Of the rows that match, the first counts."""

    date_hint: str  # what must occur before the rows of dates are tried one by one
    hint: str  # and the others
    dated: tuple[TimeWord, ...]
    asked: tuple[TimeWord, ...]  # what only a question means so: it looks back, and may name a time barely
    back: tuple[TimeWord, ...]
    ahead: tuple[TimeWord, ...]  # what lies ahead or is too vague to ask about
    numbers: Mapping[str, int]
    vague: frozenset[str]  # those of them that give no date
    months: Mapping[str, int]
    weekdays: Mapping[str, int]


def _numbered(names: str, start: int) -> dict[str, int]:
    """Every way to write a month, a day or a number → its number; the ways for one are joined by a slash."""
    return {name: number for number, ways in enumerate(names.split(), start) for name in ways.split("/")}


_MONTH_NAMES = ("january/jan february/feb march/mar april/apr may june/jun july/jul august/aug "
                "september/sept/sep october/oct november/nov december/dec")
_DAY_NAMES = ("monday/mon tuesday/tues/tue wednesday/wed thursday/thurs/thur/thu friday/fri saturday/sat "
              "sunday/sun")
_MONTHS, _WEEKDAYS = _numbered(_MONTH_NAMES, 1), _numbered(_DAY_NAMES, 0)
_NUMBERS = {"couple of": 2} | _numbered(
    "a/an/one two/couple three/few four/several five six seven eight nine ten eleven twelve", 1)


def _time(pattern: str, unit: str = "", shift: int = 0, kept: bool = False) -> TimeWord:
    return TimeWord(rf"(?i)(?<![\w-])(?:{pattern})\b", unit, shift, kept)


_N = r"(?:a (?=few|couple))?(?P<n>\d{1,3}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + ")"
_UNIT = r"(?P<unit>day|weekend|week|month|year)"
_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAYS)})"
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})\b\.?"
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"

ENGLISH = Calendar(
    date_hint=rf"(?i)\d|\b(?:{'|'.join(_MONTHS)})\b",
    hint=r"(?i)ago\b|\bback\b|day|week|month|year|night|morning|afternoon|evening|tomorrow|spring|summer"
         r"|autumn|\bfall\b|winter|recently|lately|\bsoon|future|later|now|currently|moment|present"
         rf"|\b(?:{'|'.join(_WEEKDAYS)})\b",
    dated=(
        _time(rf"(?:on )?(?:the )?{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?", "date"),
        _time(rf"(?:on )?{_MONTH} {_DAY}(?!\d)(?:,? {_YEAR})?", "date"),
        _time(r"(?:on |by )?(?P<iso>[12]\d{3}-\d{1,2}(?:-\d{1,2})?)", "date"),
        _time(rf"(?:back )?in {_MONTH}(?:,?(?: of)? {_YEAR})?", "date"),
        _time(rf"since (?:{_MONTH} )?{_YEAR}", "date", kept=True),
        _time(rf"(?:back )?in {_YEAR}", "date")),
    asked=(
        _time(rf"(?:(?:early|late|mid)[ -])?{_MONTH},? (?:of )?{_YEAR}", "date"),
        _time(rf"(?:during|of|since|before|after|until|by|early|late|mid|last|this)[ -]{_MONTH}", "date"),
        _time(rf"(?:during|of|before|after|until|by|from) {_YEAR}", "date"),
        _time(rf"(?:this|on|past) {_WEEKDAY}", "weekday", -1),
        _time(rf"(?:past|previous) {_UNIT}", shift=-1)),
    back=(
        _time(rf"(?:just |about |around )?{_N} {_UNIT}s? ago", shift=-1),
        _time(r"the day before yesterday", "day", -2),
        _time(r"(?:just )?yesterday(?: (?:morning|afternoon|evening|night))?|last night", "day", -1),
        _time(r"today|tonight|this (?:morning|afternoon|evening)|earlier today", "day"),
        _time(rf"(?:just )?(?:this past|last|this last) {_UNIT}(?! of\b)", shift=-1),
        _time(rf"(?:earlier |later )?this {_UNIT}"),
        _time(rf"(?:just )?(?:last|this past) {_WEEKDAY}", "weekday", -1)),
    ahead=(
        _time(rf"in (?:about )?{_N} {_UNIT}s?(?: from now)?", shift=1),
        _time(r"the day after tomorrow", "day", 2),
        _time(r"tomorrow(?: (?:morning|afternoon|evening|night))?", "day", 1),
        _time(rf"(?:this )?(?:coming|next|upcoming) {_UNIT}", shift=1),
        _time(rf"(?:(?:on|by) )?(?:next|this coming|this) {_WEEKDAY}", "weekday", 1),
        _time(rf"by (?:this )?{_WEEKDAY}", "weekday", 1, kept=True),
        _time(rf"on {_WEEKDAY}(?!s)", "weekday", kept=True),
        _time(rf"last {_SEASON}", "season", -1), _time(rf"next {_SEASON}", "season", 1),
        _time(rf"this {_SEASON}", "season"),
        _time(r"(?:just )?recently|lately|the other day|not long ago|a while (?:ago|back)", "recent"),
        _time(r"soon|in the (?:near )?future|one day|some ?day|later on", "soon"),
        _time(r"from now on|right now|now|currently|at the moment|at present|these days|nowadays", "now")),
    numbers=_NUMBERS, vague=frozenset(("few", "several", "couple", "couple of")), months=_MONTHS,
    weekdays=_WEEKDAYS)


def _find(text: str, rows: Iterable[TimeWord], calendar: Calendar, *, owning: bool
          ) -> tuple[TimeWord, re.Match[str], dict[str, str]] | None:
    """The first row with words in the text; `owning` takes "last week's" for a time as well."""
    dated, timed = re.search(calendar.date_hint, text), re.search(calendar.hint, text)
    for row in rows:
        for match in re.finditer(row.pattern, text) if (dated if row.unit == "date" else timed) else ():
            if owning or text[match.end():match.end() + 2] not in ("'s", "’s"):
                return row, match, {name: part.casefold() for name, part in match.groupdict().items() if part}
    return None


def _calendar(year: int, month: int | None = None, day: int | None = None) -> Period | None:
    """A day, or a month or year where no day is named; None if no calendar has it."""
    try:
        first = date(year, month or 1, day or 1)
        return (first, first) if day else (first, date(year, month or 12, monthrange(year, month or 12)[1]))
    except ValueError:
        return None


def _named(groups: Mapping[str, str], year: int | None, calendar: Calendar) -> Period | None:
    """A date as written; `year` is taken where none is."""
    if "iso" in groups:
        return _calendar(*map(int, groups["iso"].split("-")))
    year = int(groups["year"]) if "year" in groups else year
    month, day = calendar.months.get(groups.get("month", "")), int(groups.get("day", 0))
    if year is None or ("day" in groups and not day):
        return None
    return _calendar(year, month, day or None)


def _away(unit: str, shift: int, today: date, weekday: int) -> Period | None:
    """The day, week, month or year `shift` units from this one; of a weekday the last or the coming one."""
    monday = today - timedelta(days=today.weekday())
    try:
        if unit in ("week", "weekend"):
            end = monday + timedelta(weeks=shift, days=6)
            return end - timedelta(days=1 if unit == "weekend" else 6), end
        if unit == "month":
            months = today.year * 12 + today.month - 1 + shift
            return _calendar(months // 12, months % 12 + 1)
        if unit in ("year", "season"):
            return _calendar(today.year + shift)
        ahead = (weekday - today.weekday()) % 7 or 7
        day = today + timedelta(days=shift if unit == "day" else ahead if shift > 0 else ahead - 7 or -7)
    except OverflowError:
        return None
    return day, day


# In a statement

class When(NamedTuple):
    """What the time words of a clause say. `direction`: −1 past, 0 now, 1 future, None if there are none."""

    rest: str
    words: str = ""
    date: str | None = None
    direction: int | None = None
    days: int = 0  # how far from the moment of speaking


def moment(*stamps: str | None) -> date | None:
    """The day of the first stamp that is one."""
    return next((utc(seconds).date() for seconds in map(time_or_none, stamps) if seconds is not None), None)


def first_day(when: str) -> str:
    """The earliest full date a fact's date can mean: 2023 → 2023-01-01."""
    return f"{when.split('/')[0]}-01-01"[:10]


def read_time(text: str, today: date | None, calendar: Calendar = ENGLISH, subjects: Container[str] = ()
              ) -> When:
    """Take the first time words out of a clause and resolve them against the day they were said.

    Words that are kept stay, unless one of the `subjects` follows: in "on Sunday I am …" the time only leads.
    """
    reading = _find(text, (*calendar.dated, *calendar.back, *calendar.ahead), calendar, owning=False)
    if reading is None:
        return When(text)
    row, match, groups = reading
    before, after = text[:match.start()].rstrip(), text[match.end():].lstrip()
    kept = row.kept and after[:20].casefold().partition(" ")[0] not in subjects
    rest = text if kept else f"{before} {after}".strip(" ,")
    return When(rest, match.group().strip(), *_resolve(row, groups, today, calendar))


def _resolve(row: TimeWord, groups: Mapping[str, str], today: date | None, calendar: Calendar
             ) -> tuple[str | None, int, int]:
    """The date, its direction, and how many days away it is."""
    if row.unit in _DIRECTIONS:
        return None, _DIRECTIONS[row.unit], 7
    if row.unit == "date":
        period = _named(groups, today.year if today else None, calendar)
        return (_shown(period), *_distance(period, today)) if period else (None, 0, 0)
    unit, number = row.unit or groups["unit"], groups.get("n", "1")
    shift = row.shift * _count(number, calendar)
    days = _DAYS[unit] * (abs(shift) if unit != "season" else 1)
    unknown = today is None or number in calendar.vague or (unit == "weekday" and not shift)
    period = None if unknown or today is None else _away(
        unit, shift, today, calendar.weekdays.get(groups.get("weekday", ""), 0))
    return _shown(period) if period else None, (shift > 0) - (shift < 0), days


def _count(number: str, calendar: Calendar) -> int:
    return int(number) if number.isdigit() else calendar.numbers[number]


def _shown(period: Period) -> str:
    """As exact as it is: a day, a month, a year, or from … to."""
    first, last = period
    if first == last:
        return str(first)
    if period == _calendar(first.year, first.month):
        return str(first)[:7]
    return str(first)[:4] if period == _calendar(first.year) else f"{first}/{last}"


def _distance(period: Period, today: date | None) -> tuple[int, int]:
    if today is None or period[0] <= today <= period[1]:
        return 0, 0
    return (1, (period[0] - today).days) if period[0] > today else (-1, (today - period[1]).days)


# In a question

_LEAD = r"(?i)(?P<lead>since|after|before|until|till|by|from)\s+(?:the\s+)?"
_TIMELY = word_set(
    """yesterday today tonight tomorrow last next ago since just recently day days week weeks weekend month
    months year years morning evening""") | {str(year) for year in range(1900, 2100)} | {
    ways.split("/")[0] for ways in f"{_MONTH_NAMES} {_DAY_NAMES}".split() if ways != "may"}
_HAPPENED = word_set(
    """happen happened happening happens do did done doing go going went work worked working talk talked
    discuss discussed say said write wrote written note notes noted record recorded remember learn learned
    learnt decide decided anything everything something new news day week weekend month year past previous
    early late mid st nd rd th may""")
_POINTS = str.maketrans(dict.fromkeys(".,;:!?()[]\"'’…-–—/", " "))


class Span(Value):
    """[since, before) in seconds; or, where no year was named, a month and perhaps a day of any year."""

    since: float | None = None
    before: float | None = None
    month: int | None = None
    day: int | None = None

    def nearness(self, moment: float) -> float:
        """1 for what was said within the span, a little less for soon after it, 0 for any other time."""
        if self.month is not None:
            year = utc(moment).year
            periods = (_calendar(near, self.month, self.day) for near in (year - 1, year))
            return max((_span(period).nearness(moment) for period in periods if period), default=0.0)
        since = float("-inf") if self.since is None else self.since
        before = float("inf") if self.before is None else self.before
        if since <= moment < before:
            return 1.0
        return _NEAR if before <= moment < before + TOLD_LATER and self.since is not None else 0.0


def only_time(words: Iterable[str]) -> bool:
    """Is a time all that a question of these words asks about: what happened yesterday, what did we do?"""
    return all(word in _TIMELY or word in _HAPPENED or word in _NUMBERS or word[:1].isdigit()
               for word in (word.removesuffix("'s") for word in words))


@lru_cache(maxsize=4096)  # the same passages are looked at again and again
def mentions_time(text: str) -> bool:
    """Does a text say when something was: a likely place to learn it from."""
    return not _TIMELY.isdisjoint(text.lower().translate(_POINTS).split())


def read_span(question: str, now: float) -> Span | None:
    """The time a question speaks of, if any."""
    text = " ".join(question.split())
    reading = _find(text, (*ENGLISH.dated, *ENGLISH.asked, *ENGLISH.back), ENGLISH, owning=True)
    if reading is None:
        return None
    row, match, groups = reading
    span = _asked(row, groups, utc(now).date())
    if span is None or span.month is not None:
        return span
    exact = row.unit == "date" or "n" in groups
    at = min(match.start(name) for name in groups) if exact else match.start()
    lead = re.search(_LEAD + r"[\w\s]{0,8}$", text[:at] + " ") or re.match(_LEAD, text[at:])
    word = lead["lead"].lower() if lead else ""
    if word in ("since", "after", "from"):
        return Span(since=span.before if word == "after" else span.since)
    if word in ("before", "until", "till", "by"):
        return Span(before=span.since if word == "before" else span.before)
    return span


def _asked(row: TimeWord, groups: Mapping[str, str], today: date) -> Span | None:
    """The time asked about: of any year where none is named, and roughly where it is so many weeks ago."""
    if row.unit == "date":
        if {"year", "iso"}.isdisjoint(groups):
            period = _named(groups, 2000, ENGLISH)
            day = period[0].day if period and "day" in groups else None
            return Span(month=period[0].month, day=day) if period else None
        period = _named(groups, None, ENGLISH)
    elif "n" in groups:
        days = _DAYS[groups["unit"]]
        middle = _away("day", row.shift * _count(groups["n"], ENGLISH) * days, today, 0)
        slack = timedelta(days=days // 2)
        period = (middle[0] - slack, middle[0] + slack) if middle else None
    else:
        weekday = _WEEKDAYS.get(groups.get("weekday", ""), 0)
        period = _away(row.unit or groups["unit"], row.shift, today, weekday)
    return _span(period) if period else None


def _span(period: Period) -> Span:
    first, last = ((day - _EPOCH).days * 86_400.0 for day in period)
    return Span(since=first, before=last + 86_400)


# Where a verb takes a date

_SECONDS = {"min": 60, "minute": 60, "h": 3600, "hour": 3600, "d": 86_400, "day": 86_400, "w": 604_800,
            "week": 604_800}
_MONTHS_LONG = {"mo": 1, "month": 1, "y": 12, "year": 12}
_AGO = (rf"(?:the )?(?:last |past )?{_N} ?(?P<unit>{'|'.join((*_SECONDS, *_MONTHS_LONG))})s?(?: ago)?")
_FORMS = ("write 2026-02-10, 2026-02-10T21:37:00Z, yesterday, 7d, 2w, 'last week', 'in May' or "
          "'3 months ago'")


def read_moment(value: Any, now: float, where: str = "time") -> float:
    """Seconds since 1970 of a date or a time in any form, or of words for one, said now.

    A time that lasts is its beginning: `last week` is its Monday, `in May` the first of the last May begun.
    """
    written = value.isoformat() if isinstance(value, date) else value
    moment = _spoken(written, now) if isinstance(written, str) and time_or_none(written) is None else None
    if moment is None:
        try:
            moment = parse_time(written, where)
        except Invalid as error:
            raise Invalid(error.message, _FORMS) from None
    utc(moment)
    return moment


def _spoken(text: str, now: float) -> float | None:
    words, today = " ".join(text.casefold().split()), utc(now).date()
    if words == "now":
        return now
    if re.match(_LEAD, words):  # "after May" is no date; the option says which side is meant
        return None
    if match := re.fullmatch(_AGO, words):
        return _before(now, _count(match["n"], ENGLISH), match["unit"])
    rows = (*ENGLISH.dated, *ENGLISH.asked, *ENGLISH.back, *ENGLISH.ahead)
    for phrase in (words, f"in {words}", f"on {words}"):  # a bare month, year or weekday
        for row in rows:
            if (match := re.fullmatch(row.pattern, phrase)) and row.unit not in (*_DIRECTIONS, "season"):
                period = _meant(row, {name: part for name, part in match.groupdict().items() if part}, today)
                return _span(period).since if period else None
    return None


def _meant(row: TimeWord, groups: Mapping[str, str], today: date) -> Period | None:
    """The last time of that name that has begun, or the coming one where the words look ahead."""
    if row.unit == "date":
        period = _named(groups, today.year, ENGLISH)
        dated = not {"year", "iso"}.isdisjoint(groups)
        return period if dated or (period and period[0] <= today) else _named(groups, today.year - 1, ENGLISH)
    shift, weekday = row.shift * _count(groups.get("n", "1"), ENGLISH), groups.get("weekday", "")
    return _away(row.unit or groups["unit"], shift, today, _WEEKDAYS.get(weekday, 0))


def _before(now: float, count: int, unit: str) -> float | None:
    """So many units before now; a month has the days it has."""
    if unit in _SECONDS:
        return now - count * _SECONDS[unit]
    today = utc(now).date()
    months = today.year * 12 + today.month - 1 - count * _MONTHS_LONG[unit]
    if (period := _calendar(months // 12, months % 12 + 1)) is None:
        return None
    day = period[0].replace(day=min(today.day, period[1].day))
    return now - (today - day).days * 86_400.0
