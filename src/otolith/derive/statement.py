"""Reading a clause as a statement: subject, relation, object.

The verb takes its preposition, the object ends where it stops saying something, persons are resolved. An
object that only makes sense with words from elsewhere, a courtesy, and what is no news of anybody are left
out. The words come from a Language; nothing here knows a type, a date or a confidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from otolith.derive.english import Language
from otolith.derive.grammar import LONGEST_SUBJECT, Mode, Speech, Subject, Verb, find_subject, opening, read_verb

LONGEST_OBJECT = 20  # words; what runs longer is a story, not a fact
MOST_VERBS = 4  # that share one subject


class Statement(NamedTuple):
    """One reading of a clause."""

    subject: Subject
    verb: Verb
    relation: str
    object: str
    leaning: bool  # the object holds a word whose meaning stands elsewhere


def read_clause(text: str, speech: Speech, language: Language) -> Iterator[Statement]:
    """What a clause states, its time words already taken out: mostly nothing or one thing."""
    words = text.split()
    start = opening(words, [word.casefold() for word in words], speech, language)
    words = words[start:]
    low = [word.casefold() for word in words]
    order = _instruction(words, low, speech, language)
    if order is not None:
        yield order
        return
    turned = _turned(words, low, speech, language)
    if turned is not None:
        yield turned
        return
    subject = find_subject(words, low, speech, language)
    for _ in range(MOST_VERBS):
        verb = read_verb(low, subject, language) if subject is not None else None
        if subject is None or verb is None:
            return
        stop, after = _shared(low, subject, verb, language)
        statement = _complete(words[:stop], low[:stop], subject, verb, speech, language)
        if statement is not None:
            yield from _apart(statement, language)
        if after is None:
            return
        subject = subject._replace(stop=after)


def _shared(low: list[str], subject: Subject, verb: Verb, language: Language) -> tuple[int, int | None]:
    """Where a second verb of the same subject begins: "went to the shop and bought tea"."""
    told = verb.mode in ("past", "perfect", "was")
    also = subject.who in ("owned", "named", "thing") and not subject.plural
    for at in range(verb.stop, len(low) - 1 if told or also else 0):
        if low[at] in language.list_words:
            after = at + 1
            while after < len(low) - 1 and language.is_adverb(low[after]):
                after += 1
            tenses = {tense for _, tense in language.tenses(low[after])}
            if low[after] not in language.forms and not (after + 1 < len(low) and _continues(low[after + 1], language)):
                continue
            if ("past" if told else "third") in tenses and "base" not in tenses and low[after] not in language.moods:
                return at - 1 if low[at - 1] == "," else at, after
    return len(low), None


def _continues(word: str, language: Language) -> bool:
    return word in language.determiners or word in language.prepositions or word in language.unclear


def _instruction(words: list[str], low: list[str], speech: Speech, language: Language) -> Statement | None:
    """A standing order to an assistant: "always run the tests"."""
    if not speech.instructing or len(low) < 3 or low[0] not in language.standing:
        return None
    if not language.is_form(low[1], "base") or low[1] in language.silent:
        return None
    subject = Subject(speech.speaker, "speaker", 1)
    verb = Verb(language.standing[low[0]], low[1], "must", 1)
    spoken = _wording(words[1:], low[1:], subject, speech, language)
    return Statement(subject, verb, verb.relation, spoken, False) if spoken and len(low) <= LONGEST_OBJECT else None


def _complete(words: list[str], low: list[str], subject: Subject, verb: Verb, speech: Speech, language: Language
              ) -> Statement | None:
    """Join the verb with its preposition and object, if there is one worth keeping."""
    if verb.base == language.be:
        relation, at = _state(words, low, verb, subject, language)
    else:
        relation, at = _with_preposition(low, *_joined(low, verb, language), language)
    if at is None:
        return None
    while at < len(low) - 1 and low[at] in language.intensifiers:
        at += 1
    stop = _uncalled(low, at, _object_end(low, at, language), speech, language)
    spoken = _wording(words[at:stop], low[at:stop], subject, speech, language)
    if not spoken or stop - at > LONGEST_OBJECT or _is_helper(low[at], language) or not _says_something(spoken, language):
        return None
    if subject.slot:
        was = language.auxiliaries.get(verb.relation) == "was"  # what somebody's name or favourite was is not what it is
        if was or verb.base != language.be or relation != verb.relation:
            return None
        return Statement(subject, verb, subject.slot, spoken, False)
    if language.courtesies.match(f"{relation} {' '.join(low[at:stop])}") or low[at] in language.list_words:
        return None
    leaning = any(word in language.unclear and word not in language.pointing for word in low[at:stop])
    if low[stop - 1] in language.unclear or (stop == at + 1 and low[at] in language.silent):
        return None
    statement = Statement(subject, verb, relation, spoken, leaning)
    return statement if _fits(statement, language) else None


def _apart(statement: Statement, language: Language) -> Iterator[Statement]:
    """ "Works at Acme as a nurse" are two facts, each of which can change by itself."""
    if statement.relation not in language.single_valued:
        yield statement
        return
    words = statement.object.split()
    cuts = [at for at in range(1, len(words) - 1) if words[at].casefold() in language.asunder]
    yield statement._replace(object=" ".join(words[:cuts[0]]).strip(" ,") if cuts else statement.object)
    for at, end in pairwise([*cuts, len(words)]):
        relation = f"{statement.verb.relation} {words[at].casefold()}"
        if relation in language.single_valued:
            yield statement._replace(relation=relation, object=" ".join(words[at + 1:end]).strip(" ,"))


def _is_helper(word: str, language: Language) -> bool:
    return language.auxiliaries.get(word, "have") not in ("have", "had", "do")


def _joined(low: list[str], verb: Verb, language: Language) -> tuple[str, int]:
    """Two verbs at once are one relation: "is relaxing and reading"."""
    pair = low[verb.stop:verb.stop + 2]
    if len(pair) == 2 and pair[0] in language.list_words and verb.mode == "progressive" \
            and language.shows(pair[1], "progressive"):
        return f"{verb.relation} {pair[0]} {pair[1]}", verb.stop + 2
    return verb.relation, verb.stop


def _with_preposition(low: list[str], relation: str, at: int, language: Language) -> tuple[str, int]:
    """Take the words that belong to the verb into the relation: signed up for, went to."""
    taken = 0
    while at < len(low) - 1 and taken < 2 and low[at] in language.prepositions:
        if taken and low[at - 1] not in language.particles:
            break
        relation, at, taken = f"{relation} {low[at]}", at + 1, taken + 1
    return relation, at


def _state(words: list[str], low: list[str], verb: Verb, subject: Subject, language: Language
           ) -> tuple[str, int | None]:
    """What follows "is": a noun, a state that stands alone, or a state with what it is about."""
    at = verb.stop
    while at < len(low) - 1 and low[at] in language.intensifiers:
        at += 1
    word, after = low[at], low[at + 1] if at + 1 < len(low) else ""
    if word in language.unclear and word not in language.determiners:
        return "", None
    if word in language.particles and after == language.infinitive and at + 2 < len(low):
        return f"{verb.relation} {word} {after}", at + 2
    if word == language.infinitive and " " in verb.relation and after:  # has been to
        return f"{verb.relation} {word}", at + 1
    if word in language.prepositions:
        placed = word in language.places and after and after not in language.prepositions
        return (f"{verb.relation} {word}", at + 1) if placed else ("", None)
    named = at > 0 and words[at][:1].isupper()
    if named or word in language.determiners or (any(sign.isdigit() for sign in word[:2]) and word[-1] != "%"):
        return verb.relation, at
    if (after in language.prepositions or after == language.infinitive) and at + 2 < len(low):
        return (f"{verb.relation} {word} {after}", at + 2) if word not in language.vague else ("", None)
    if language.is_form(after, "progressive") and at + 2 < len(low) and word not in language.vague:
        return f"{verb.relation} {word}", at + 1  # busy packing
    if word in language.bare_states or subject.slot or " ".join(low[at:]) in language.bare_states:
        return verb.relation, at
    participle = language.is_form(word, "participle")
    if participle and subject.who in ("thing", "owned", "named") and word not in language.moods:
        return (f"{verb.relation} {word}", at + 1) if after else (verb.relation, at)
    return "", None


def _object_end(low: list[str], at: int, language: Language) -> int:
    """Where the object ends: at a comma that opens no list, at "so …", or before words that only trail."""
    stop = next((index for index in range(at + 2, len(low)) if low[index] in language.sequels), len(low))
    commas = [index for index in range(at, stop) if low[index] == ","]
    if commas:
        last = low[commas[-1] + 1:stop]
        listed = last[:1] and (last[0] in language.list_words or (len(commas) == 1 and any(
            word in language.list_words for word in last[:5])))
        short = all(right - left <= 5 for left, right in pairwise(commas)) and len(last) < 8
        plain = not any(word in language.unclear or word in language.auxiliaries for word in low[commas[0]:stop])
        stop = stop if listed and short and plain else commas[0]
    cut = False
    while stop > at:
        end = low[stop - 1]
        sign = not end[-1].isalnum() and end[-1] not in "`%+#/" and (end[-1] != "." or end == ".")
        if not (sign or end in language.trailing or (cut and end in language.prepositions)):
            break
        stop, cut = stop - 1, True
    return _clear_end(low, at, stop, language)


def _uncalled(low: list[str], at: int, stop: int, speech: Speech, language: Language) -> int:
    """Leave off a name that only calls the one spoken to: "I love the idea, Sam"."""
    if stop - at < 2 or not speech.other or low[stop - 1] != speech.other.casefold():
        return stop
    before = low[stop - 2]
    belongs = before in language.prepositions or before in language.list_words or before in language.forms
    return stop if belongs else stop - 1


def _clear_end(low: list[str], at: int, stop: int, language: Language) -> int:
    """Leave off an end that points elsewhere ("for them", "and printed it") when enough stands before it."""
    if stop - at < 3 or low[stop - 1] not in language.unclear:
        return stop
    if low[stop - 2] in language.prepositions:
        end = low[stop - 3]
        whole = end not in language.hanging and not language.is_adverb(end) and not any(
            tense in ("progressive", "past") for _, tense in language.tenses(end))
        return _clear_end(low, at, stop - 2, language) if whole and stop - at > 3 else stop
    joints = [index for index in range(at + 1, stop) if low[index] in language.list_words
              or (index >= stop - 4 and low[index] in language.prepositions and low[index] != language.infinitive)]
    end = low[joints[-1] - 1] if joints else ""
    return joints[-1] if end and end not in language.hanging and not language.shows(end, "progressive") else stop


def _wording(words: list[str], low: list[str], subject: Subject, speech: Speech, language: Language) -> str | None:
    """The object with its persons resolved; None when it opens with a word that points elsewhere."""
    if not low:
        return ""
    if low[0].split("'")[0] in language.complement and (
            len(low) < 2 or low[0] not in language.determiners or _begins_clause(low[1], language)):
        return None
    mine = subject.who in ("speaker", "group", "implied")
    noun = next((word for word in low[1:] if not language.is_adverb(word)), "")
    pointing = language.pointing if mine else language.determiners  # "Rex loves his rug": whose is clear
    if low[0] in language.unclear and (low[0] not in pointing or not noun or not _noun(noun, language)):
        return None
    spoken: list[str] = []
    for word, small in zip(words, low, strict=True):
        if small in language.own:
            owner = language.possessive.format(speech.speaker) if small in language.possessive_first else speech.speaker
            spoken.append(language.own[small] if mine else owner)
        elif small in language.second_words:
            if speech.other is None:
                return None
            spoken.append(language.second_words[small].format(speech.other))
        elif small in language.with_name and spoken and spoken[-1] in (speech.other, speech.speaker):
            spoken.append(language.with_name[small])
        elif word in (",", "."):
            spoken[-1:] = [f"{spoken[-1]}{word}"] if spoken else []
        else:
            spoken.append(word)
    return " ".join(spoken).strip(" ,")


def _begins_clause(word: str, language: Language) -> bool:
    return any(word in table for table in (
        language.first, language.second, language.third, language.determiners, language.auxiliaries))


def _noun(word: str, language: Language) -> bool:
    return not any(word in table for table in (
        language.prepositions, language.auxiliaries, language.list_words, language.stop_words))


def _says_something(spoken: str, language: Language) -> bool:
    return any(word not in language.vague and word not in language.moods
               and (len(word) > 2 or word.isdigit() or not word.isascii()) for word in language.content_words(spoken))


def _fits(statement: Statement, language: Language) -> bool:
    """What may be said of whom: of oneself much, of another or of a thing only what is plain."""
    who, base, mode = statement.subject.who, statement.verb.base, statement.verb.mode
    state = base == language.be
    words = statement.object.split()
    exact = any(any(sign.isdigit() for sign in word) or word[:1].isupper() or "`" in word for word in words)
    if who == "other":
        return base in language.lasting_kinds or base in language.kinds
    if who == "thing":
        plain = base in language.thing_verbs or exact or (state and statement.relation != statement.verb.relation)
        return mode in ("must", "limit") or (plain and words[0].casefold() not in language.moods)
    return True


def _turned(words: list[str], low: list[str], speech: Speech, language: Language) -> Statement | None:
    """A clause about something that says what it is to the speaker: "tea is my favorite drink", "tea keeps me awake"."""
    if not low or low[0].split("'")[0] in language.third or low[0] in language.nobody or low[0] in language.first:
        return None
    for at in range(1, min(len(low) - 2, LONGEST_SUBJECT + 3)):
        if low[at] == "," or low[at] in language.first or low[at] in language.second or low[at] in language.negations \
                or low[at] in language.object_first:
            return None
        role = language.auxiliaries.get(low[at])
        given = [language.gifts[base] for base, tense in language.forms.get(low[at], ())
                 if tense in ("third", "base") and base in language.gifts]
        if role is not None or (given and low[at + 1] in language.object_first):
            return _to_speaker(words, low, at, given, speech, language)
    return None


def _to_speaker(words: list[str], low: list[str], at: int, given: list[str], speech: Speech, language: Language
                ) -> Statement | None:
    """Turn the clause whose verb stands at `at` round, if it ends in the speaker."""
    start = at + 2 if low[at + 1] in language.possessive_first or given else at + 1
    while start < len(low) - 1 and low[start] in language.intensifiers:
        start += 1
    stop, cut = _object_end(low, start, language), at - 1 if at > 1 and language.is_adverb(low[at - 1]) else at
    speaker = Subject(speech.speaker, "speaker", 0)
    rest = _wording(words[start:stop], low[start:stop], speaker, speech, language)
    thing = _wording(words[:cut], low[:cut], speaker, speech, language)
    whole = low[cut - 1] not in language.list_words and low[cut - 1] not in language.determiners
    if not rest or not thing or not whole or low[start] in language.list_words or len(rest.split()) > 6 or any(
            word in language.unclear and word not in language.pointing for word in low[:stop]):
        return None
    if given:
        if any(language.is_form(word, "third") for word in low[start:stop]):
            return None
        doing = language.is_form(low[start], "base")
        rest = f"{language.infinitive} {rest}" if doing else rest
        return _about_speaker(language.given_by.format(given[0], rest), thing, "present", speech)
    if language.auxiliaries[low[at]] != "be":
        return None
    if low[at + 1] in language.possessive_first:
        slot = language.favourite.match(rest)
        kind = rest[slot.end():].strip() if slot else rest
        relation = (language.favourite_relation if slot else language.role_relation).format(kind.casefold())
        return _about_speaker(relation, thing, "copula", speech) if kind else None
    if stop == start + 3 and low[start + 1] in language.towards and low[start + 2] in language.object_first \
            and low[start] not in language.unfelt:
        return _about_speaker(language.found_relation.format(low[start]), thing, "present", speech)
    return None


def _about_speaker(relation: str, thing: str, mode: Mode, speech: Speech) -> Statement:
    subject = Subject(speech.speaker, "speaker", 0, relation if mode == "copula" else "")
    return Statement(subject, Verb(relation, "", mode, 0), relation, thing, False)
