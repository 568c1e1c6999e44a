"""Facts from dialog, with no model: rules that would rather miss a fact than state a wrong one.

`extract` reads every turn as sentences and clauses and keeps what somebody plainly states of themselves, of
their people or of their things, with the turn it stands in. Same turns, same facts. Time words are read
against the moment they were said; a date is as exact as the words: `2023-05-07`, `2023-05`, `2023`, or
`2023-05-01/2023-05-07` for a week. The words it goes by are a Language. It must not know files, topics, other
entries or today's date.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from otolith.derive.english import ENGLISH, Language
from otolith.derive.grammar import Mode, Speech, Who
from otolith.derive.sentences import QUOTED, Clause, Sentence, clauses, prose, sentences, tokens
from otolith.derive.statement import Statement, read_clause
from otolith.model.dates import When, first_day, moment, read_time
from otolith.model.dialog import Fact, Turn

_HEARD = ("user", "assistant", "other")  # tools and system prompts state nothing of anybody
_TRUST = {"user": "user", "assistant": "agent", "other": "user"}
SHORT_TERM_DAYS = 14
MEDIUM_TERM_DAYS = 365


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
        when = read_time(" ".join(piece.words), said, language.calendar, language.first)
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
