"""Facts from dialog, with no model: rules that would rather miss a fact than state a wrong one.

`extract` reads every turn as sentences and clauses and keeps what somebody plainly states of themselves, of their
people or of their things, with the turn it stands in. Same turns, same facts. Time words are read against the moment they
were said; a date is as exact as the words: `2023-05-07`, `2023-05`, `2023`, or `2023-05-01/2023-05-07` for a week. The
words it goes by are a Language. It must not know files, topics, other entries or today's date.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from otolith.derive.english import ENGLISH
from otolith.derive.grammar import Mode, Speech, Who
from otolith.derive.language import Language, TimeWord, Unit
from otolith.derive.sentences import QUOTED, Clause, Sentence, clauses, prose, sentences, tokens
from otolith.derive.statement import Statement, read_clause
from otolith.errors import Invalid
from otolith.model.dialog import Fact, Turn
from otolith.model.times import parse_time, utc

_HEARD = ("user", "assistant", "other")  # tools and system prompts state nothing of anybody
_TRUST = {"user": "user", "assistant": "agent", "other": "user"}
SHORT_TERM_DAYS = 14
MEDIUM_TERM_DAYS = 365


class When(NamedTuple):
    """What the time words of a clause say. `direction` is −1 past, 0 now, 1 future, None when nothing was said."""

    rest: str
    words: str = ""
    date: str | None = None
    direction: int | None = None
    days: int = 0  # how far from the moment of speaking


def extract(turns: Sequence[Turn], *, entry_ts: str, entry_id: str = "", language: Language = ENGLISH) -> list[Fact]:
    """The facts that the turns state, in the order they were said, each once."""
    heard = [turn for turn in turns if turn.role in _HEARD]
    said = [[sentence for line in prose(turn.text, language) for sentence in sentences(line)]
            if not language.retractions.search(turn.text) else [] for turn in heard]
    speakers = list(dict.fromkeys(turn.speaker or turn.role for turn in heard))
    names = _names((sentence for found in said for sentence in found), speakers, language)
    assisted = any(turn.role == "assistant" for turn in heard)
    facts: dict[tuple[str, str, str], Fact] = {}
    for turn, spoken in zip(heard, said, strict=True):
        others = [name for name in speakers if name != (turn.speaker or turn.role)]
        speech = Speech(turn.speaker or turn.role, others[0] if len(others) == 1 else None, names,
                        turn.role == "user" and (assisted or not others))
        day = moment(turn.ts, entry_ts)
        for sentence in spoken:
            for statement, when in _statements(sentence, speech, day, language):
                fact = _fact(statement, when, turn, sentence.text, (entry_id, entry_ts), language)
                facts.setdefault((fact.subject.casefold(), fact.relation.casefold(), fact.object.casefold()), fact)
    return list(facts.values())


def _names(said: Iterator[Sentence], speakers: list[str], language: Language) -> frozenset[str]:
    """The words of a dialog that are names: its speakers, and what is capitalised inside a sentence."""
    names = {part.casefold() for speaker in speakers for part in speaker.split()}
    for sentence in said:
        for word in sentence.text.split()[1:]:
            bare = word.strip(",;:()!?'\"")
            if bare[:1].isupper() and bare[1:].islower() and bare.casefold() not in language.stop_words:
                names.add(bare.casefold())
    return frozenset(names)


def _statements(sentence: Sentence, speech: Speech, said: date | None, language: Language
                ) -> Iterator[tuple[Statement, When]]:
    """What a sentence states, with its time; time words before the subject hold for the clause that follows."""
    words = tokens(sentence.text, language)
    if any(word.casefold() in language.hypotheticals for word in words) or language.elsewhere.search(sentence.text):
        return
    pieces = clauses(words, language)
    if sentence.asked:
        asking = len(pieces) > 1 and pieces[-1].low[0] in language.asks and not (
            pieces[0].low[0] in language.asks or pieces[-1].low[-1] in language.tags)
        pieces = pieces[:-1] if asking else []
    carried, doubted = When(""), False
    for number, piece in enumerate(pieces):
        after = pieces[number + 1] if number + 1 < len(pieces) else None
        when = read_time(" ".join(piece.words), said, language)
        aside = piece.opener in language.asides or piece.low[0] in language.asides
        hedged = not language.hedges.isdisjoint(when.rest.casefold().split())
        if doubted or hedged or aside or _spoiled(piece, after, language):
            # "Maybe even then, I …": a doubt without a verb of its own is about what follows
            carried, doubted = When(""), hedged and not any(word in language.forms for word in piece.low)
            continue
        if when.words and not when.rest.strip(" ,"):
            carried = when
            continue
        if when.direction is None and carried.direction is not None:
            when = carried._replace(rest=when.rest)
        carried = When("")
        for statement in _read(" ".join(piece.words), when, speech, language):
            yield _in_time(statement, when, said, language)


def _read(whole: str, when: When, speech: Speech, language: Language) -> list[Statement]:
    """Read a clause without its time words, or with them where the time is what is stated: "born in 1990"."""
    found = list(read_clause(when.rest, speech, language))
    if found or not when.words or when.rest == whole:
        return found
    return [statement for statement in read_clause(whole, speech, language)
            if statement.verb.base == language.be or language.kinds.get(statement.verb.base) == "commitment"
            or statement.subject.who in ("thing", "owned", "named")]


def _spoiled(piece: Clause, after: Clause | None, language: Language) -> bool:
    """Whether what stands beside a clause takes it back: a quotation, or "…, I think"."""
    if QUOTED in (piece.opener, after.opener if after else ""):
        return True
    return after is not None and len(after.low) == 2 and after.low[0] in language.first and after.low[1] in language.silent


def _in_time(statement: Statement, when: When, said: date | None, language: Language) -> tuple[Statement, When]:
    """ "Signed up for a course next month": the time is the course's, not the signing's."""
    past = statement.verb.mode in ("past", "perfect", "was")
    if past and when.direction == 0 and when.date and said and first_day(when.date) > str(said):
        return statement, When(when.rest)  # "this weekend", said of what is over: which one is not known
    promised = language.kinds.get(statement.verb.base) == "commitment"
    if when.direction == 1 and past and not promised:
        return statement._replace(object=f"{statement.object} {when.words}"), When(when.rest)
    return statement, when


def _kind(statement: Statement, when: When, language: Language) -> tuple[str, str]:
    """The type of a statement and its time span."""
    verb, relation = statement.verb, statement.relation
    for pattern, kind, span in language.relation_kinds:
        if pattern.fullmatch(relation):
            kind = "trait" if kind == "identity" and statement.subject.who == "thing" else kind
            return kind, span or _span(kind, verb.mode, when)
    kind = _TYPE_OF[verb.mode]
    if verb.mode in ("must", "limit"):
        return kind, "long_term" if when.direction != 1 else "future"
    if statement.subject.slot:
        kind = "preference" if language.favourite.match(statement.subject.slot) else "identity"
        kind = "trait" if not verb.base and kind == "identity" else kind
    elif verb.mode in ("copula", "was"):
        found = [named for pattern, named in language.object_kinds if pattern.match(statement.object)]
        noun = statement.object.split()[0].casefold() in language.articles or statement.object[:1].isdigit() \
            or statement.object.casefold() in language.bare_states
        person = statement.subject.who not in ("thing",)
        kind = found[0] if found else "identity" if noun and person and relation == verb.relation else kind
    elif verb.base in language.kinds and verb.mode != "future":
        kind = language.kinds[verb.base]
    elif verb.base in language.duties and f" {language.infinitive} " in f"{relation} " and verb.mode == "present":
        kind = "commitment" if statement.subject.who in ("speaker", "implied") else "constraint"
    if kind == "event" and when.direction == 1 and verb.mode == "progressive" and verb.base not in language.silent:
        kind = "commitment"
    return kind, _span(kind, verb.mode, when)


_TYPE_OF: dict[Mode, str] = {
    "present": "trait", "past": "event", "perfect": "event", "progressive": "event", "future": "commitment", "copula": "trait",
    "was": "event", "must": "constraint", "limit": "constraint", "wish": "preference", "ability": "trait"}


def _span(kind: str, mode: Mode, when: When) -> str:
    """How long a statement holds, or how far from now it happened."""
    if mode == "future" or when.direction == 1 or (kind == "commitment" and mode != "past"):
        return "future"
    if when.direction == -1 or (when.date and when.days):
        return "short_term" if when.days <= SHORT_TERM_DAYS else "medium_term" if when.days <= MEDIUM_TERM_DAYS else "long_term"
    if (mode in ("progressive", "copula") and kind in ("event", "trait")) or when.direction == 0:
        return "current"
    if kind == "event" or (mode == "past" and kind in ("preference", "trait")):
        return "medium_term"
    return "future" if kind == "commitment" else "long_term"


_TRUSTED_WHO: dict[Who, float] = {
    "speaker": 0.2, "group": 0.15, "owned": 0.15, "named": 0.1, "thing": 0.05, "implied": 0.0, "other": -0.05}


def _confidence(statement: Statement, when: When, kind: str, language: Language) -> float:
    """Earned by plain speech: a known verb, a named person, an exact object, a date; lost by leaning on what is unsaid."""
    words = statement.object.split()
    score = 0.5 + _TRUSTED_WHO[statement.subject.who]
    score += 0.1 if statement.verb.base in language.thirds else -0.1
    score += 0.05 if any(word[:1].isupper() or any(sign.isdigit() for sign in word) for word in words) else 0.0
    score += 0.05 if when.date else 0.0
    score += 0.05 if kind in ("identity", "preference", "constraint") else 0.0
    score -= 0.2 if statement.leaning else 0.0
    score -= 0.1 if len(words) > 10 else 0.0
    score -= 0.1 if statement.verb.mode in ("wish", "ability", "future") else 0.0
    return round(min(0.95, max(0.1, score)), 2)


def _fact(statement: Statement, when: When, turn: Turn, sentence: str, entry: tuple[str, str], language: Language) -> Fact:
    kind, span = _kind(statement, when, language)
    return Fact(subject=statement.subject.name, relation=statement.relation, object=statement.object, type=kind,
                time_span=span, confidence=_confidence(statement, when, kind, language), entry_id=entry[0], entry_ts=entry[1],
                turn=turn.number, date=when.date, sentence=sentence, speaker=turn.speaker, trust=_TRUST[turn.role])


# When a statement holds

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
