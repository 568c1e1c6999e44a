"""Facts from dialog, with no model: rules that would rather miss a fact than state a wrong one.

`extract` reads every turn as sentences and clauses and keeps what somebody plainly states of themselves, of
their people or of their things, with the turn it stands in. Same turns, same facts. Time words are read
against the moment they were said. The words it goes by are a Language. It must not know files, topics, other
entries or today's date.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from otolith.derive.english import ENGLISH, Language, within
from otolith.derive.grammar import Mode, Speech, Subject, Who, find_subject, opening
from otolith.derive.phrases import Said, phrases
from otolith.derive.replies import answers, roles
from otolith.derive.sentences import QUOTED, Clause, Sentence, clauses, prose, sentences, tokens
from otolith.derive.statement import Statement, read_clause
from otolith.model.dates import When, first_day, moment, read_time
from otolith.model.dialog import Fact, Turn
from otolith.model.retold import TELLS, news_of
from otolith.model.statements import read_claims

# tools and system prompts state nothing of anybody
_TRUST = {"user": "user", "assistant": "agent", "other": "user"}
SHORT_TERM_DAYS = 14
MEDIUM_TERM_DAYS = 365
PHRASED = 0.6  # how sure a phrase is
_UNTIMED = When("")


def extract(turns: Sequence[Turn], *, entry_ts: str, entry_id: str = "", language: Language = ENGLISH
            ) -> list[Fact]:
    """The facts that the turns state, in the order they were said, each once."""
    turns = [turn for turn in turns if turn.role in _TRUST]
    spoken = [_sentences(turn.text, language) for turn in turns]
    speakers = list(dict.fromkeys(turn.speaker or turn.role for turn in turns))
    names = _names((sentence for own in spoken for sentence in own), speakers, language)
    assisted = any(turn.role == "assistant" for turn in turns)
    facts: dict[tuple[str, str, str], Fact] = {}
    for turn, own, before in zip(turns, spoken, [None, *turns], strict=False):
        speech = _speech(turn, speakers, names, assisted)
        today = moment(turn.ts, entry_ts)
        asked = before.text if before is not None and before.speaker != turn.speaker else ""
        for at, sentence in enumerate(own):
            line = _Sentence(sentence, own[at - 1] if at else None, "" if at else asked, turn, today)
            source = {"entry_id": entry_id, "entry_ts": entry_ts, "turn": turn.number,
                      "sentence": sentence.text, "speaker": turn.speaker, "trust": _TRUST[turn.role]}
            for fact in _drawn(line, speech, source, language):
                facts.setdefault((fact.subject.casefold(), fact.relation.casefold(), fact.object.casefold()),
                                 fact)
    return list(facts.values())


class _Sentence(NamedTuple):
    """A sentence with what it may lean on: the one before it, or what was asked before its turn."""

    sentence: Sentence
    before: Sentence | None
    asked: str
    turn: Turn
    today: date | None


def _drawn(line: _Sentence, speech: Speech, source: Mapping[str, Any], lang: Language) -> list[Fact]:
    """The facts of a sentence; news that no rule takes apart is one in its own words."""
    sentence, asked = line.sentence, line.asked
    drawn = [_fact(statement, when, source, lang)
             for statement, when in _statements(sentence, speech, line.today, lang)
             if line.turn.role != "assistant" or statement.verb.mode != "future"]  # "I'll do that"
    leaning = [*answers(asked, sentence, speech, lang)] if asked and not drawn else []
    leaning += roles(sentence, line.before, speech)
    drawn += _phrased(sentence, leaning, speech, drawn, source, lang)
    if not drawn and speech.instructing and not sentence.asked and news_of(sentence.text):
        drawn = [Fact(subject=speech.speaker, relation=TELLS, object=sentence.text, type="event",
                      time_span="current", confidence=PHRASED, **source)]
    return drawn


def _speech(turn: Turn, speakers: Sequence[str], names: frozenset[str], assisted: bool) -> Speech:
    others = [name for name in speakers if name != (turn.speaker or turn.role)]
    return Speech(turn.speaker or turn.role, others[0] if len(others) == 1 else None, names,
                  turn.role == "user" and (assisted or not others))


def _fact(statement: Statement, when: When, source: Mapping[str, Any], lang: Language) -> Fact:
    kind, span = _kind(statement, when, lang)
    return Fact(subject=statement.subject.name, relation=statement.relation, object=statement.object,
                type=kind, time_span=span,
                confidence=_confidence(statement, when, kind, lang), date=when.date, **source)


def _phrased(sentence: Sentence, leaning: Sequence[Said], speech: Speech, drawn: Sequence[Fact],
             source: Mapping[str, Any], lang: Language) -> Iterator[Fact]:
    """What a sentence says with what stood before it or by a phrase, unless a statement drawn from it claims
    the same.
    """
    meanings = set().union(*(_meaning(fact, sentence.text) for fact in drawn))
    for phrased in [*leaning, *(() if leaning else phrases(sentence, speech, lang))]:
        fact = Fact(subject=phrased.subject, relation=phrased.relation, object=phrased.object,
                    type=phrased.type,
                    time_span="current", confidence=PHRASED, **source)
        meaning = _meaning(fact, sentence.text)
        if meaning and not meaning <= meanings:
            meanings |= meaning
            yield fact


def _meaning(fact: Fact, sentence: str) -> set[tuple[str, str, str, bool]]:
    """What a fact claims, whatever its words."""
    return {(claim.holder, claim.attribute, claim.value, claim.holds)
            for claim in read_claims(fact.subject, fact.relation, fact.object, sentence)
            if not claim.is_deed}


def _sentences(text: str, lang: Language) -> list[Sentence]:
    """What a turn says, unless it takes all of it back."""
    lines = prose(text, lang) if not lang.retractions.search(text) else ()
    return [sentence for line in lines for sentence in sentences(line)]


def _names(spoken: Iterable[Sentence], speakers: list[str], lang: Language) -> frozenset[str]:
    """The words of a dialog that are names: its speakers, and what is capitalised inside a sentence."""
    names = {part.casefold() for speaker in speakers for part in speaker.split()}
    for sentence in spoken:
        first, _, rest = sentence.text.partition(" ")
        if first.isalpha() and first[1:].islower() and _acts(first, rest, lang):
            names.add(first.casefold())
        for word in sentence.text.split()[1:]:
            bare = word.strip(",;:()!?'\"")
            if bare[:1].isupper() and bare[1:].islower() and bare.casefold() not in lang.stop_words:
                names.add(bare.casefold())
    return frozenset(names)


def _acts(first: str, rest: str, lang: Language) -> bool:
    """Whether the word that opens a sentence does something as only somebody or one thing does."""
    low, verb = first.casefold(), rest.split(" ")[0].casefold().replace("’", "'").removesuffix("n't")
    if not first[:1].isupper() or within(
            low, lang.stop_words, lang.nobody, lang.forms, lang.fillers, lang.asks, lang.vague, lang.moods,
            lang.adverbs, lang.third, lang.first):
        return False
    helper = lang.auxiliaries.get(verb) in ("be", "have", "do", "was") and verb not in ("are", "have", "do")
    doing = helper or (lang.is_form(verb, "third") and verb not in lang.nouns_too)
    return doing and not low.endswith(("ing", "ion", "ment", "ness", "ity", "ly", "ss"))


def _statements(sentence: Sentence, speech: Speech, today: date | None, lang: Language
                ) -> Iterator[tuple[Statement, When]]:
    """What a sentence states, and when; time words before the subject hold for the clause that follows."""
    carried, doubted = _UNTIMED, False
    pieces = _stated(sentence, lang)
    about: Subject | None = None
    for piece, after in zip(pieces, [*pieces[1:], None], strict=False):
        whole = " ".join(piece.words)
        speech = speech._replace(spoken_of=about)
        about = _about(piece, speech, lang) or about
        when = read_time(whole, today, lang.calendar, lang.first)
        hedged = not lang.hedges.isdisjoint(when.rest.casefold().split())
        if doubted or hedged or _spoiled(piece, after, lang):
            # "Maybe even then, I …": a doubt without a verb of its own is about what follows
            carried, doubted = _UNTIMED, hedged and not any(word in lang.forms for word in piece.low)
            continue
        if when.words and not when.rest.strip(" ,"):
            carried = when
            continue
        if when.direction is None and carried.direction is not None:
            when = carried._replace(rest=when.rest)
        carried = _UNTIMED
        for statement in _read(whole, when, speech, lang):
            yield _in_time(statement, when, today, lang)


def _about(piece: Clause, speech: Speech, lang: Language) -> Subject | None:
    """Whom a clause is about, for the pronoun of the next; nobody if it names several."""
    start = opening(piece.words, piece.low, speech, lang)
    subject = find_subject(piece.words[start:], piece.low[start:], speech, lang)
    if subject is None or subject.who not in ("named", "owned", "thing"):
        return None
    others = [word for word in piece.low[start + subject.stop:] if word in speech.names]
    return None if others and subject.who != "thing" else subject


def _stated(sentence: Sentence, lang: Language) -> list[Clause]:
    """The clauses of a sentence that are neither asked nor supposed nor somebody else's."""
    words = tokens(lang.by_the_way.sub("; ", sentence.text), lang)
    if not lang.is_spoken([word.casefold() for word in words if word[:1].isalpha()]):
        return []
    if any(word.casefold() in lang.hypotheticals for word in words) or lang.elsewhere.search(sentence.text):
        return []
    pieces = clauses(words, lang)
    if not sentence.asked:
        return pieces
    asking = len(pieces) > 1 and pieces[-1].low[0] in lang.asks and pieces[0].low[0] not in lang.asks
    return pieces[:-1] if asking and pieces[-1].low[-1] not in lang.tags else []


def _read(whole: str, when: When, speech: Speech, lang: Language) -> list[Statement]:
    """Read a clause without its time words, or with them where the time is what is stated: "born in 1990"."""
    statements = list(read_clause(when.rest, speech, lang))
    if statements or not when.words or when.rest == whole:
        return statements
    return [statement for statement in read_clause(whole, speech, lang)
            if statement.verb.base == lang.be or lang.kinds.get(statement.verb.base) == "commitment"
            or statement.subject.who in ("thing", "owned", "named")]


def _spoiled(piece: Clause, after: Clause | None, lang: Language) -> bool:
    """Whether a clause only sets the scene, or its neighbour takes it back: a quotation, "…, I think"."""
    if piece.opener in lang.asides or piece.low[0] in lang.asides or piece.opener == QUOTED:
        return True
    return after is not None and (after.opener == QUOTED or (
        len(after.low) == 2 and after.low[0] in lang.first and after.low[1] in lang.silent))


def _in_time(statement: Statement, when: When, today: date | None, lang: Language) -> tuple[Statement, When]:
    """ "Signed up for a course next month": the time is the course's, not the signing's."""
    past = statement.verb.mode in ("past", "perfect", "was")
    if past and when.direction == 0 and when.date and today and first_day(when.date) > str(today):
        return statement, When(when.rest)  # "this weekend", said of what is over: which one is not known
    promised = lang.kinds.get(statement.verb.base) == "commitment"
    if when.direction == 1 and past and not promised:
        return statement._replace(object=f"{statement.object} {when.words}"), When(when.rest)
    return statement, when


# What kind of fact, for how long, how sure

_TYPE_OF: dict[Mode, str] = {
    "present": "trait", "past": "event", "perfect": "event", "progressive": "event", "future": "commitment",
    "copula": "trait", "was": "event", "must": "constraint", "limit": "constraint", "wish": "preference",
    "ability": "trait"}
_TRUSTED_WHO: dict[Who, float] = {
    "speaker": 0.2, "group": 0.15, "owned": 0.15, "named": 0.1, "thing": 0.05, "implied": 0.0, "other": -0.05}


def _kind(statement: Statement, when: When, lang: Language) -> tuple[str, str]:
    """The type of a statement and its time span."""
    verb, thing = statement.verb, statement.subject.who == "thing"
    for pattern, kind, span in lang.relation_kinds:
        if pattern.fullmatch(statement.relation):
            kind = "trait" if kind == "identity" and thing else kind
            return kind, span or _span(kind, verb.mode, when)
    if verb.mode in ("must", "limit"):
        return _TYPE_OF[verb.mode], "long_term" if when.direction != 1 else "future"
    kind = _type(statement, lang)
    if (kind, verb.mode, when.direction) == ("event", "progressive", 1) and verb.base not in lang.silent:
        kind = "commitment"
    return kind, _span(kind, verb.mode, when)


def _type(statement: Statement, lang: Language) -> str:
    """The type by slot, by what somebody is said to be, by verb, or by the verb's mode."""
    subject, verb, relation, wording = statement.subject, statement.verb, statement.relation, statement.object
    if subject.slot:
        favourite = lang.favourite.match(subject.slot)
        return "preference" if favourite else "identity" if verb.base else "trait"
    if verb.mode in ("copula", "was"):
        noun = wording.split()[0].casefold() in lang.articles or wording[:1].isdigit() \
            or wording.casefold() in lang.bare_states
        identity = noun and subject.who != "thing" and relation == verb.relation
        return next((kind for pattern, kind in lang.object_kinds if pattern.match(wording)),
                    "identity" if identity else _TYPE_OF[verb.mode])
    if verb.base in lang.kinds and verb.mode != "future":
        return lang.kinds[verb.base]
    if verb.base in lang.duties and f" {lang.infinitive} " in f"{relation} " and verb.mode == "present":
        return "commitment" if subject.who in ("speaker", "implied") else "constraint"
    return _TYPE_OF[verb.mode]


def _span(kind: str, mode: Mode, when: When) -> str:
    """How long a statement holds, or how far from now it happened."""
    if mode == "future" or when.direction == 1 or (kind == "commitment" and mode != "past"):
        return "future"
    if when.direction == -1 or (when.date and when.days):
        long = "medium_term" if when.days <= MEDIUM_TERM_DAYS else "long_term"
        return "short_term" if when.days <= SHORT_TERM_DAYS else long
    if (mode in ("progressive", "copula") and kind in ("event", "trait")) or when.direction == 0:
        return "current"
    if kind == "event" or (mode == "past" and kind in ("preference", "trait")):
        return "medium_term"
    return "future" if kind == "commitment" else "long_term"


def _confidence(statement: Statement, when: When, kind: str, lang: Language) -> float:
    """Earned by a known verb, a named person, an exact object, a date; lost by leaning on what is unsaid."""
    words = statement.object.split()
    score = 0.5 + _TRUSTED_WHO[statement.subject.who]
    score += 0.1 if statement.verb.base in lang.thirds else -0.1
    score += 0.05 * any(word[:1].isupper() or any(map(str.isdigit, word)) for word in words)
    score += 0.05 * bool(when.date)
    score += 0.05 * (kind in ("identity", "preference", "constraint"))
    score -= 0.2 * statement.leaning
    score -= 0.1 * (len(words) > 10)
    score -= 0.1 * (statement.verb.mode in ("wish", "ability", "future"))
    return round(min(0.95, max(0.1, score)), 2)
