"""Who a clause is about.

Found from the clause's first words: the speaker, the one spoken to, somebody's somebody, a name, a thing; or the speaker
left out, as chat does. A pronoun whose person is not known is nobody. The words come from a Language, the persons from a
Speech; nothing here knows what is said of the subject.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from strata.derive.language import Language

Who = Literal["speaker", "group", "implied", "other", "owned", "named", "thing"]
LONGEST_SUBJECT = 6  # words


class Speech(NamedTuple):
    """Who speaks to whom, and which words are names in this dialog."""

    speaker: str
    other: str | None
    names: frozenset[str]
    instructing: bool = False  # a person speaking to an assistant


class Subject(NamedTuple):
    """Whom a clause is about; `stop` is where its verb group begins."""

    name: str
    who: Who
    stop: int
    slot: str = ""  # what is somebody's favourite, when that is what the clause is about
    plural: bool = False


def opening(words: list[str], low: list[str], speech: Speech, language: Language) -> int:
    """How many words at the start only greet, agree or call a name."""
    index = 0
    other = (speech.other or "").casefold()
    calls = {other, other[:3], other[:4]} if other else set()
    while index < len(words):
        phrase = language.filler_phrases.match(" ".join(low[index:index + 6]))
        if phrase is not None:
            index += max(1, len(phrase.group().split()))
        elif low[index] in language.standing:
            break
        elif low[index] in language.fillers or low[index] in ",!." or language.is_adverb(low[index]):
            index += 1
        elif words[index][:1].isupper() and low[index + 1:index + 2] == [","]:
            index += 2
        elif index and low[index] in calls:
            index += 1
        else:
            break
    return index


def find_subject(words: list[str], low: list[str], speech: Speech, language: Language) -> Subject | None:
    """Who the clause is about, if its first words say so."""
    if not low:
        return None
    if low[0] in language.first:
        return Subject(speech.speaker, "group" if low[0] in language.group else "speaker", 1)
    if low[0] in language.object_first and low[1:2] != [] and low[1] in language.list_words:
        stop = _noun_end(low, 3, language)
        return Subject(speech.speaker, "group", stop) if stop is not None else None
    for at in range(1, min(len(low) - 1, LONGEST_SUBJECT)):
        if low[at] in language.list_words and low[at + 1] in language.first:
            return Subject(speech.speaker, "group", at + 2)
        if low[at] in language.auxiliaries or low[at] == ",":
            break
    if low[0] in language.second:
        return Subject(speech.other, "other", 1) if speech.other else None
    if low[0].split("'")[0] in language.third or low[0] in language.nobody:
        return None
    if low[0] in language.possessive_first:
        return _owned(words, low, speech, language)
    return _named(words, low, speech, language) or _implied(low, speech, language)


def _owned(words: list[str], low: list[str], speech: Speech, language: Language) -> Subject | None:
    """ "My sister" is the speaker's sister; "my favorite tea is" says something of the speaker."""
    stop = _noun_end(low, 2, language)
    if stop is None or any(word in language.third for word in low[1:stop]):
        return None
    noun = " ".join(words[1:stop])
    slot = language.favourite.match(noun)
    if slot is not None:
        kind = noun[slot.end():].strip().casefold()
        return Subject(speech.speaker, "speaker", stop, language.favourite_relation.format(kind)) if kind else None
    if low[stop - 1] == language.name_word and stop == 2:
        return Subject(speech.speaker, "speaker", stop, language.name_relation)
    return Subject(f"{language.possessive.format(speech.speaker)} {noun}", "owned", stop,
                   plural=bool(language.plural.search(low[stop - 1])))


def _named(words: list[str], low: list[str], speech: Speech, language: Language) -> Subject | None:
    """A name, or a thing with its article, or a bare noun before "must"."""
    article = low[0] in language.articles
    stop = _noun_end(low, 2 if article else 1, language)
    if stop is None or low[stop - 1] in language.vague or (stop > 1 and low[stop - 1] in language.determiners) or any(
            word in language.third or word in language.first or word in language.second_words for word in low[1:stop]):
        return None
    name, plural = " ".join(words[:stop]), bool(language.plural.search(low[stop - 1]))
    if article:
        past = low[0] in language.indefinite and language.is_form(low[stop], "past")
        return None if past else Subject(name, "thing", stop, plural=plural)
    if low[0] in language.determiners or low[0] in language.prepositions or low[0] in language.asks:
        return None
    role = language.auxiliaries.get(low[stop])
    numbered = stop > 1 and low[1][:1].isdigit()
    if words[0][:1].isupper() and (
            numbered or low[0] in speech.names or not words[0].isalpha() or not words[0][1:].islower()):
        return Subject(name, "named", stop, plural=low[stop] in language.with_name)
    gerund = language.shows(low[0], "progressive")
    if role in ("must", "should"):
        return None if gerund else Subject(name, "thing", stop, plural=plural)
    ruled = role == "be" and plural and stop + 1 < len(low) and not gerund and (
        low[stop + 1] in language.negations or language.is_form(low[stop + 1], "participle"))
    if ruled and low[0] not in language.stop_words:
        return Subject(name, "thing", stop, plural=True)
    acts = any(tense == "past" or base in language.lasting_kinds or base in language.thing_verbs or base in language.kinds
               for base, tense in language.forms.get(low[stop], ()))
    if stop == 1 and words[0][:1].isupper() and role is None and acts and not gerund \
            and low[0] not in language.forms and low[0] not in language.stop_words:
        return Subject(name, "named", stop, plural=False)
    return None


def _noun_end(low: list[str], start: int, language: Language) -> int | None:
    """Where the noun ends and a verb that can follow it begins; None when no verb is near."""
    for at in range(start, min(len(low), LONGEST_SUBJECT + 1)):
        word, before = low[at], low[at - 1]
        if word in language.auxiliaries:
            return at
        if word == "," or word in language.first or word in language.second or word in language.asides:
            return None
        tenses = {tense for _, tense in language.forms.get(word, ())}
        listed = before in language.list_words or before in language.prepositions or before in language.determiners
        if not listed and ("third" in tenses or "past" in tenses):
            return at
        if not listed and "base" in tenses and language.plural.search(before):
            return at
        if word in language.adverbs and at + 1 < len(low) and (
                low[at + 1] in language.auxiliaries or low[at + 1] in language.forms):
            return at
    return None


def _implied(low: list[str], speech: Speech, language: Language) -> Subject | None:
    """Chat drops its first word: "Went to the lake", "Gonna start a blog"."""
    first, after = low[0], low[1] if len(low) > 1 else ""
    tenses = {tense for _, tense in language.forms.get(first, ())}
    role = language.auxiliaries.get(first)
    carried_on = after in language.determiners or after in language.prepositions or after in language.possessive_first
    finite = any(word in language.auxiliaries or language.is_form(word, "third") or language.is_form(word, "past")
                 for word in low[1:])
    doing = first == language.going or any(
        tense == "progressive" and base in language.announced for base, tense in language.forms.get(first, ()))
    slight = after in language.moods or after in language.unclear or after in language.object_first
    strong = role is None and after and not slight and not language.is_adverb(after) \
        and not any(pattern.search(first) for pattern, _ in language.suffixes)
    dropped = "past" in tenses and "base" not in tenses and (role is None or role == "had") and (carried_on or strong)
    been = next((word for word in low[1:] if not language.is_adverb(word)), "")
    dropped = dropped or (role == "been" and (been == language.infinitive or any(
        tense == "progressive" for _, tense in language.tenses(been))))
    dropped = dropped or (doing and carried_on and not finite)
    dropped = dropped or (first in language.feelings and after in language.prepositions)
    dropped = dropped or (role == "can" and "".join(low[2:3]) in language.eager)
    return Subject(speech.speaker, "implied", 0) if dropped else None
