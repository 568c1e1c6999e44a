"""Reading a clause as a statement: subject, relation, object.

The verb takes its preposition, the object ends where it stops saying something, persons are resolved. An
object that only makes sense with words from elsewhere, a courtesy, and what is no news of anybody are left
out. The words come from a Language; nothing here knows a type, a date or a confidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from otolith.derive import grammar
from otolith.derive.english import Language, within, word_at
from otolith.derive.grammar import Mode, Speech, Subject, VerbGroup

LONGEST_OBJECT = 20  # words; what runs longer is a story, not a fact
MOST_VERBS = 4  # that share one subject


class Statement(NamedTuple):
    """One reading of a clause."""

    subject: Subject
    verb: VerbGroup
    relation: str
    object: str
    leaning: bool = False  # the object holds a word whose meaning stands elsewhere


def read_clause(text: str, speech: Speech, lang: Language) -> Iterator[Statement]:
    """What a clause states, its time words already taken out: mostly nothing or one thing."""
    words = text.split()
    words = words[grammar.opening(words, [word.casefold() for word in words], speech, lang):]
    low = [word.casefold() for word in words]
    whole = _instruction(words, low, speech, lang) or _turned(words, low, speech, lang)
    if whole is not None:
        yield whole
        return
    subject = grammar.find_subject(words, low, speech, lang)
    for _ in range(MOST_VERBS):
        verb = grammar.read_verb(low, subject, lang) if subject is not None else None
        if subject is None or verb is None:
            return
        stop, after = _shared(low, subject, verb, lang)
        statement = _complete(words[:stop], low[:stop], subject, verb, speech, lang)
        if statement is not None:
            yield from _apart(statement, lang)
        if after is None:
            return
        subject = subject._replace(stop=after)


def _shared(low: list[str], subject: Subject, verb: VerbGroup, lang: Language) -> tuple[int, int | None]:
    """Where a second verb of the same subject begins: "went to the shop and bought tea"."""
    past = verb.mode in ("past", "perfect", "was")
    also = subject.who in ("owned", "named", "thing") and not subject.plural
    for at in range(verb.stop, len(low) - 1 if past or also else 0):
        if low[at] not in lang.list_words:
            continue
        after = _skip_adverbs(low, at + 1, lang)
        word, tenses = low[after], {tense for _, tense in lang.tenses(low[after])}
        goes_on = within(word_at(low, after + 1), lang.determiners, lang.prepositions, lang.unclear)
        if ("past" if past else "third") in tenses and "base" not in tenses and word not in lang.moods \
                and (word in lang.forms or goes_on):
            return at - 1 if low[at - 1] == "," else at, after
    return len(low), None


def _skip_adverbs(low: list[str], at: int, lang: Language) -> int:
    while at < len(low) - 1 and lang.is_adverb(low[at]):
        at += 1
    return at


def _skip_intensifiers(low: list[str], at: int, lang: Language) -> int:
    while at < len(low) - 1 and low[at] in lang.intensifiers:
        at += 1
    return at


def _instruction(words: list[str], low: list[str], speech: Speech, lang: Language) -> Statement | None:
    """A standing order to an assistant: "always run the tests"."""
    if not speech.instructing or not 3 <= len(low) <= LONGEST_OBJECT or low[0] not in lang.standing:
        return None
    if not lang.is_form(low[1], "base") or low[1] in lang.silent:
        return None
    subject, verb = Subject(speech.speaker, "speaker", 1), VerbGroup(lang.standing[low[0]], low[1], "must", 1)
    order = _wording(words[1:], low[1:], subject, speech, lang)
    return Statement(subject, verb, verb.relation, order) if order else None


def _complete(words: list[str], low: list[str], subject: Subject, verb: VerbGroup, speech: Speech,
              lang: Language) -> Statement | None:
    """Join the verb with its preposition and object, if there is one worth keeping."""
    if verb.base == lang.be:
        relation, start = _state(words, low, verb, subject, lang)
    else:
        relation, start = _with_preposition(low, *_joined(low, verb, lang), lang)
    if start is None:
        return None
    at = _skip_intensifiers(low, start, lang)
    stop = _uncalled(low, at, _object_end(low, at, lang), speech, lang)
    wording = _limited(_wording(words[at:stop], low[at:stop], subject, speech, lang), low, subject, at, lang)
    if wording and (name := _apposed(words, low, at, stop, lang)):
        wording = f"{wording} {name}"
    helper = lang.auxiliaries.get(word_at(low, at), "have") not in ("have", "had", "do")
    if not wording or stop - at > LONGEST_OBJECT or helper or not _says_something(wording, lang):
        return None
    if subject.slot:
        was = lang.auxiliaries.get(verb.relation) == "was"  # what a name or favourite was is not what it is
        plain = not was and verb.base == lang.be and relation == verb.relation
        return Statement(subject, verb, subject.slot, wording) if plain else None
    if lang.courtesies.match(f"{relation} {' '.join(low[at:stop])}") or low[at] in lang.list_words \
            or low[stop - 1] in lang.unclear or (stop == at + 1 and low[at] in lang.silent):
        return None
    statement = Statement(subject, verb, relation, wording, _leans(low[at:stop], lang))
    return statement if _fits(statement, lang) else None


def _limited(wording: str | None, low: list[str], subject: Subject, at: int, lang: Language) -> str | None:
    """The object with the "only" that stands before its verb: "I only drink tea" is not "drinks tea"."""
    limited = wording and not subject.slot and lang.only in low[subject.stop:at]
    return f"{lang.only} {wording}" if limited else wording


def _apposed(words: list[str], low: list[str], at: int, stop: int, lang: Language) -> str:
    """The name that stands behind what it names: "a dog, Rufus"."""
    if low[at] not in lang.indefinite or word_at(low, stop) != "," or word_at(low, stop + 2) not in ("", ","):
        return ""
    name = words[stop + 1] if stop + 1 < len(words) else ""
    return name if name[:1].isupper() and name.isalpha() and low[stop + 1] not in lang.stop_words else ""


def _leans(low: list[str], lang: Language) -> bool:
    return any(word in lang.unclear and word not in lang.pointing for word in low)


def _apart(statement: Statement, lang: Language) -> Iterator[Statement]:
    """ "Works at Acme as a nurse" are two facts, each of which can change by itself."""
    if statement.relation not in lang.single_valued:
        items = _LISTED.match(statement.object) if statement.verb.mode == "present" else None
        yield from (statement._replace(object=item) for item in items.groups()) if items else (statement,)
        return
    words = statement.object.split()
    cuts = [at for at in range(1, len(words) - 1) if words[at].casefold() in lang.asunder]
    yield statement._replace(object=" ".join(words[:cuts[0]]).strip(" ,") if cuts else statement.object)
    for at, end in pairwise([*cuts, len(words)]):
        relation = f"{statement.verb.relation} {words[at].casefold()}"
        if relation in lang.single_valued:
            yield statement._replace(relation=relation, object=" ".join(words[at + 1:end]).strip(" ,"))


# "17.99 a month for Netflix and 10.99 for Spotify": each of the two can end by itself
_LISTED = re.compile(r"(\S*\d\S*(?: \w+){0,3} for [A-Z][\w+#.-]*(?: [A-Z][\w-]*)?) and (\S*\d\S*(?:"
r" \w+){0,3} for"
                     r" [A-Z][\w+#.-]*(?: [A-Z][\w-]*)?)$")


def _joined(low: list[str], verb: VerbGroup, lang: Language) -> tuple[str, int]:
    """Two verbs at once are one relation: "is relaxing and reading"."""
    joint, second = word_at(low, verb.stop), word_at(low, verb.stop + 1)
    if verb.mode == "progressive" and joint in lang.list_words and lang.shows(second, "progressive"):
        return f"{verb.relation} {joint} {second}", verb.stop + 2
    return verb.relation, verb.stop


def _with_preposition(low: list[str], relation: str, at: int, lang: Language) -> tuple[str, int]:
    """Take the words that belong to the verb into the relation: signed up for, went to."""
    taken = 0
    while at < len(low) - 1 and taken < 2 and low[at] in lang.prepositions:
        if taken and low[at - 1] not in lang.particles:
            break
        relation, at, taken = f"{relation} {low[at]}", at + 1, taken + 1
    return relation, at


def _state(words: list[str], low: list[str], verb: VerbGroup, subject: Subject, lang: Language
           ) -> tuple[str, int | None]:
    """What follows "is": a noun, a state that stands alone, or a state with what it is about."""
    at = _skip_intensifiers(low, verb.stop, lang)
    if at >= len(low):  # nothing does: "gonna be."
        return "", None
    word, after = low[at], word_at(low, at + 1)
    if word in lang.unclear and word not in lang.determiners:
        return "", None
    if word in lang.particles and after == lang.infinitive and at + 2 < len(low):
        return f"{verb.relation} {word} {after}", at + 2
    if word == lang.infinitive and " " in verb.relation and after:  # has been to
        return f"{verb.relation} {word}", at + 1
    if word in lang.prepositions:
        placed = word in lang.places and after and after not in lang.prepositions
        return (f"{verb.relation} {word}", at + 1) if placed else ("", None)
    numeral = any(character.isdigit() for character in word[:2]) and word[-1] != "%"
    if (at > 0 and words[at][:1].isupper()) or word in lang.determiners or numeral:
        return verb.relation, at
    return _described(low, at, verb, subject, lang)


def _described(low: list[str], at: int, verb: VerbGroup, subject: Subject, lang: Language
               ) -> tuple[str, int | None]:
    """An adjective or participle behind "is", and how much of it belongs to the relation."""
    word, after = low[at], word_at(low, at + 1)
    if at + 2 < len(low) and within(after, lang.prepositions, (lang.infinitive,)):
        return (f"{verb.relation} {word} {after}", at + 2) if word not in lang.vague else ("", None)
    if at + 2 < len(low) and lang.is_form(after, "progressive") and word not in lang.vague:
        return f"{verb.relation} {word}", at + 1  # busy packing
    if subject.slot or word in lang.bare_states or " ".join(low[at:]) in lang.bare_states:
        return verb.relation, at
    settled = lang.is_form(word, "participle") and word not in lang.moods
    if settled and subject.who in ("thing", "owned", "named"):
        if after in lang.particles:  # was switched off
            return f"{verb.relation} {word} {after}", at + 2
        return (f"{verb.relation} {word}", at + 1) if after else (verb.relation, at)
    return "", None


def _object_end(low: list[str], at: int, lang: Language) -> int:
    """Where the object ends: at a comma that opens no list, at "so …", or before words that only trail."""
    stop = next((index for index in range(at + 2, len(low)) if low[index] in lang.sequels), len(low))
    commas = [index for index in range(at, stop) if low[index] == ","]
    if commas and not _is_list(low, commas, stop, lang):
        stop = commas[0]
    cut = False
    while stop > at:
        end = low[stop - 1]
        mark = not end[-1].isalnum() and end[-1] not in "`%+#/" and (end[-1] != "." or end == ".")
        if not (mark or end in lang.trailing or (cut and end in lang.prepositions)):
            break
        stop, cut = stop - 1, True
    return _clear_end(low, at, stop, lang)


def _is_list(low: list[str], commas: list[int], stop: int, lang: Language) -> bool:
    """Whether the commas part the items of a list: short ones, the last after "and"."""
    last = low[commas[-1] + 1:stop]
    listed = last[:1] and (last[0] in lang.list_words or (
        len(commas) == 1 and any(word in lang.list_words for word in last[:5])))
    short = all(right - left <= 5 for left, right in pairwise(commas)) and len(last) < 8
    return bool(listed) and short and not any(
        within(word, lang.unclear, lang.auxiliaries) for word in low[commas[0]:stop])


def _uncalled(low: list[str], at: int, stop: int, speech: Speech, lang: Language) -> int:
    """Leave off a name that only calls the one spoken to: "I love the idea, Sam"."""
    if stop - at < 2 or not speech.other or low[stop - 1] != speech.other.casefold():
        return stop
    return stop if within(low[stop - 2], lang.prepositions, lang.list_words, lang.forms) else stop - 1


def _clear_end(low: list[str], at: int, stop: int, lang: Language) -> int:
    """Leave off an end that points elsewhere ("for them", "and printed it") when enough stands before it."""
    if stop - at < 3 or low[stop - 1] not in lang.unclear:
        return stop
    if low[stop - 2] in lang.prepositions:
        end = low[stop - 3]
        whole = end not in lang.hanging and not (
            lang.is_adverb(end) or lang.shows(end, "progressive") or lang.shows(end, "past"))
        return _clear_end(low, at, stop - 2, lang) if whole and stop - at > 3 else stop
    joints = [index for index in range(at + 1, stop) if low[index] in lang.list_words
              or (index >= stop - 4 and low[index] in lang.prepositions and low[index] != lang.infinitive)]
    end = low[joints[-1] - 1] if joints else ""
    return joints[-1] if end and end not in lang.hanging and not lang.shows(end, "progressive") else stop


def _wording(words: list[str], low: list[str], subject: Subject, speech: Speech, lang: Language
             ) -> str | None:
    """The object with its persons resolved; None when it opens with a word that points elsewhere."""
    mine = subject.who in ("speaker", "group", "implied")
    if not low:
        return ""
    unnamed = speech.other is None and any(word in lang.second_words for word in low)
    if unnamed or _points_elsewhere(low, mine, lang):
        return None
    resolved: list[str] = []
    for word, small in zip(words, low, strict=True):
        if small in lang.own:
            owner = lang.possessive if small in lang.possessive_first else "{}"
            resolved.append(lang.own[small] if mine else owner.format(speech.speaker))
        elif small in lang.second_words:
            resolved.append(lang.second_words[small].format(speech.other))
        elif small in lang.with_name and resolved and resolved[-1] in (speech.other, speech.speaker):
            resolved.append(lang.with_name[small])
        elif word in (",", "."):
            resolved[-1:] = [f"{resolved[-1]}{word}"] if resolved else []
        else:
            resolved.append(word)
    return " ".join(resolved).strip(" ,")


def _points_elsewhere(low: list[str], mine: bool, lang: Language) -> bool:
    """Whether an object opens with a clause of its own, or with a pronoun that stands before no noun."""
    first, second = low[0], word_at(low, 1)
    opens_clause = not second or first not in lang.determiners or within(
        second, lang.first, lang.second, lang.third, lang.determiners, lang.auxiliaries)
    if first.split("'")[0] in lang.complement and opens_clause:
        return True
    noun = next((word for word in low[1:] if not lang.is_adverb(word)), "")
    pointing = lang.pointing if mine else lang.determiners  # "Rex loves his rug": whose is clear
    return first in lang.unclear and (first not in pointing or not noun or within(
        noun, lang.prepositions, lang.auxiliaries, lang.list_words, lang.stop_words))


def _says_something(wording: str, lang: Language) -> bool:
    return any(len(word) > 2 or word.isdigit() or not word.isascii() for word in lang.content_words(wording)
               if not within(word, lang.vague, lang.moods))


def _fits(statement: Statement, lang: Language) -> bool:
    """What may be said of whom: of oneself much, of another or of a thing only what is plain."""
    verb, words = statement.verb, statement.object.split()
    if statement.subject.who == "other":
        return within(verb.base, lang.lasting_kinds, lang.kinds)
    if statement.subject.who != "thing" or verb.mode in ("must", "limit"):
        return True
    exact = any(word[:1].isupper() or "`" in word or any(map(str.isdigit, word)) for word in words)
    described = verb.base == lang.be and (statement.relation != verb.relation
                                          or statement.object.casefold() in lang.bare_states)
    return (exact or described or verb.base in lang.thing_verbs) and words[0].casefold() not in lang.moods


# Clauses about something that say what it is to the speaker

def _turned(words: list[str], low: list[str], speech: Speech, lang: Language) -> Statement | None:
    """ "Tea is my favorite drink", "tea keeps me awake"."""
    if not low or low[0].split("'")[0] in lang.third or within(low[0], lang.nobody, lang.first):
        return None
    for at in range(1, min(len(low) - 2, grammar.LONGEST_SUBJECT + 3)):
        if within(low[at], lang.first, lang.second, lang.negations, lang.object_first, (",",)):
            return None
        gifts = [lang.gifts[base] for base, tense in lang.forms.get(low[at], ())
                 if tense in ("third", "base") and base in lang.gifts]
        if low[at] in lang.auxiliaries or (gifts and low[at + 1] in lang.object_first):
            return _to_speaker(words, low, at, gifts, speech, lang)
    return None


def _to_speaker(words: list[str], low: list[str], at: int, gifts: list[str], speech: Speech, lang: Language
                ) -> Statement | None:
    """Turn the clause whose verb stands at `at` round, if it ends in the speaker."""
    mine = low[at + 1] in lang.possessive_first
    start = _skip_intensifiers(low, at + 2 if mine or gifts else at + 1, lang)
    stop = _object_end(low, start, lang)
    cut = at - 1 if at > 1 and lang.is_adverb(low[at - 1]) else at
    speaker = Subject(speech.speaker, "speaker", 0)
    rest = _wording(words[start:stop], low[start:stop], speaker, speech, lang)
    thing = _wording(words[:cut], low[:cut], speaker, speech, lang)
    whole = not within(low[cut - 1], lang.list_words, lang.determiners) and low[start] not in lang.list_words
    if not rest or not thing or not whole or len(rest.split()) > 6 or _leans(low[:stop], lang):
        return None
    mode: Mode = "copula" if mine and not gifts else "present"
    relation = ""
    if gifts:
        relation = _given(low[start:stop], gifts[0], rest, lang)
    elif lang.auxiliaries[low[at]] == "be":
        relation = _role(rest, lang) if mine else _feeling(low[start:stop], lang)
    subject = speaker._replace(slot=relation if mode == "copula" else "")
    return Statement(subject, VerbGroup(relation, "", mode, 0), relation, thing) if relation else None


def _given(low: list[str], participle: str, rest: str, lang: Language) -> str:
    """ "Keeps me going" is "is kept going by"."""
    verbal = any(lang.is_form(word, "third") for word in low)
    rest = f"{lang.infinitive} {rest}" if lang.is_form(low[0], "base") else rest
    return "" if verbal else lang.given_by.format(participle, rest)


def _role(rest: str, lang: Language) -> str:
    """ "Is my favorite drink" and "is my sister"."""
    slot = lang.favourite.match(rest)
    kind = rest[slot.end():].strip() if slot else rest
    return (lang.favourite_relation if slot else lang.role_relation).format(kind.casefold()) if kind else ""


def _feeling(low: list[str], lang: Language) -> str:
    """ "Is good for me" is "finds good"."""
    felt = len(low) == 3 and low[1] in lang.towards and low[2] in lang.object_first
    return lang.found_relation.format(low[0]) if felt and low[0] not in lang.unfelt else ""
