"""Who a clause is about, and what its verb says of them in which sense.

The subject is found from the clause's first words: the speaker, the one spoken to, somebody's somebody, a
name, a thing; or the speaker left out, as chat does. A pronoun whose person is not known is nobody. Then come
helpers, adverbs and the verb itself, worded as it follows a name. Denial, hedging, guessing, advice and verbs
of thinking and courtesy are no statement; a prohibition and a rule are. The words come from a Language, the
persons from a Speech; nothing here knows a type, a date or a confidence.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from otolith.derive.english import Language

Who = Literal["speaker", "group", "implied", "other", "owned", "named", "thing"]
Mode = Literal["present", "past", "perfect", "progressive", "future", "copula", "was", "must", "limit", "wish", "ability"]
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


class Verb(NamedTuple):
    """A verb group, worded as it follows a name; `stop` is where its object begins."""

    relation: str
    base: str
    mode: Mode
    stop: int


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
            word in language.third or word in language.second_words for word in low[1:stop]):
        return None
    name, plural = " ".join(words[:stop]), bool(language.plural.search(low[stop - 1]))
    if article:
        past = low[0] in language.indefinite and language.is_form(low[stop], "past")
        return None if past else Subject(name, "thing", stop, plural=plural)
    if low[0] in language.determiners or low[0] in language.asks:
        return None
    role = language.auxiliaries.get(low[stop])
    if words[0][:1].isupper() and (low[0] in speech.names or not words[0].isalpha() or not words[0][1:].islower()):
        return Subject(name, "named", stop, plural=low[stop] in language.with_name)
    gerund = language.shows(low[0], "progressive")
    if role in ("must", "should"):
        return None if gerund else Subject(name, "thing", stop, plural=plural)
    ruled = role == "be" and plural and stop + 1 < len(low) and not gerund and (
        low[stop + 1] in language.negations or language.is_form(low[stop + 1], "participle"))
    if ruled and low[0] not in language.stop_words:
        return Subject(name, "thing", stop, plural=True)
    acts = any(tense == "past" or base in language.kinds for base, tense in language.forms.get(low[stop], ()))
    if stop == 1 and words[0][:1].isupper() and role is None and acts \
            and low[0] not in language.forms and low[0] not in language.stop_words:
        return Subject(name, "named", stop)
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
    carried_on = after in language.determiners or after in language.prepositions
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


def read_verb(low: list[str], subject: Subject, language: Language) -> Verb | None:
    """The verb group after a subject, with the sense its helpers give it."""
    roles: list[str] = []
    helper, denied, never, at = "", False, "", subject.stop
    while at < len(low):
        word = low[at]
        if word in language.lasting_negations:
            never = word
        elif word in language.negations:
            denied = True
        elif word in language.auxiliaries and not _main_verb(low, at, language):
            roles.append(language.auxiliaries[word])
            helper = word
        elif not language.is_adverb(word):
            break
        at += 1
    if at >= len(low) or low[at] == ",":
        return None
    if denied or never:
        return _denied(low, at, roles, helper, never if not denied else "", subject, language)
    if "would" in roles:
        wishing = subject.who in ("speaker", "group") and low[at] in language.wishes
        return _chain(low, at, f"{helper} {low[at]}", low[at], "wish", language) if wishing else None
    if "must" in roles or "should" in roles:
        return _must(low, at, roles, helper, subject, language)
    if not roles and subject.who == "implied" and (low[at] in language.feelings or any(
            tense == "progressive" for _, tense in language.tenses(low[at]))):
        roles, helper = ["be"], language.is_word
    if roles and roles[-1] in ("be", "was", "been"):
        return _being(low, at, roles, helper, subject, language)
    if roles and roles[-1] in ("will", "can"):
        return _modal(low, at, roles[-1], helper, subject, language)
    return _plain(low, at, roles, subject, language)


def _after(subject: Subject, helper: str, language: Language) -> str:
    """A helper verb as it follows the subject's name: "I am" becomes "is", "the tests are" stays."""
    return helper if subject.plural else language.with_name.get(helper, helper)


def _main_verb(low: list[str], at: int, language: Language) -> bool:
    """Whether have, had or do is the verb itself and helps no other."""
    role = language.auxiliaries[low[at]]
    if role not in ("have", "had", "do"):
        return False
    after = at + 1
    while after < len(low) and language.is_adverb(low[after]) and low[after] not in language.negations:
        after += 1
    if after >= len(low):
        return True
    if role == "do":
        return low[after] not in language.negations and not language.is_form(low[after], "base")
    if low[after] in language.negations:
        return False
    shown = {tense for _, tense in language.tenses(low[after])}
    return not (shown & {"participle", "past"} or language.auxiliaries.get(low[after]) in ("been", "had"))


def _denied(low: list[str], at: int, roles: list[str], helper: str, never: str, subject: Subject,
            language: Language) -> Verb | None:
    """A denial is no fact; a prohibition, a binding incapacity and a habit of never doing something are."""
    base, role = low[at], roles[-1] if roles else None
    known = language.is_form(base, "base") or base == language.be
    if base in language.silent or (not known and base not in language.permits):
        return None
    if never and not roles and subject.who in ("speaker", "group"):
        return Verb(f"{never} {language.after_name(base)}", base, "limit", at + 1)
    if role in ("must", "should") and subject.who not in ("other", "speaker"):
        return Verb(f"{language.forbids[role]} {base}", base, "must", at + 1)
    if role == "can" and base in language.limits:
        return Verb(f"{language.forbids[role]} {base}", base, "limit", at + 1)
    if role == "can" and base in language.eager:
        leads = "".join(low[at + 1:at + 2]) in language.towards
        return Verb(f"{language.cannot} {base}", base, "progressive", at + 1) if leads else None
    if role == "be" and base in language.permits:
        return Verb(f"{_after(subject, helper, language)} {low[at - 1]} {base}", base, "limit", at + 1)
    return None


def _must(low: list[str], at: int, roles: list[str], helper: str, subject: Subject, language: Language) -> Verb | None:
    """A rule for things and for us; of a person, "must be tired" is a guess and "should rest" is advice."""
    if roles[-1] not in ("must", "should") or subject.who in ("other", "named", "owned", "implied"):
        return None
    if "should" in roles and subject.who != "thing":
        return None
    if low[at] == language.be:
        ruled = subject.who == "thing" and at + 1 < len(low) and low[at + 1] not in language.moods
        return Verb(f"{helper} {low[at]}", low[at + 1], "must", at + 1) if ruled else None
    if not language.is_form(low[at], "base") or low[at] in language.silent:
        return None
    return Verb(f"{helper} {low[at]}", low[at], "must", at + 1)


def _modal(low: list[str], at: int, role: str, helper: str, subject: Subject, language: Language) -> Verb | None:
    """What somebody will or can do."""
    word = low[at]
    if word in language.silent or word == language.be or word in language.stop_words:
        return None
    skilled = subject.who in ("speaker", "owned") and word in language.skills
    if role == "can" and not skilled and subject.who not in ("thing", "named"):
        return None
    if role == "will" and subject.who == "other":
        return None
    return _chain(low, at, f"{helper} {word}", word, "future" if role == "will" else "ability", language)


def _being(low: list[str], at: int, roles: list[str], helper: str, subject: Subject, language: Language) -> Verb | None:
    """Be: doing something, going to do it, or being something."""
    shown = _after(subject, helper, language)
    if "been" in roles:
        shown = f"{language.had if 'had' in roles else _after(subject, language.have, language)} {helper}"
    word, after = low[at], low[at + 1:at + 2]
    if word == language.going and after == [language.infinitive] and language.is_form("".join(low[at + 2:at + 3]), "base"):
        verb = low[at + 2]
        return None if verb in language.silent else Verb(f"{shown} {word} {after[0]} {verb}", verb, "future", at + 3)
    doing = [base for base, tense in language.tenses(word) if tense == "progressive"]
    if doing and word not in language.moods:
        mode: Mode = "past" if roles[-1] == "was" else "progressive"
        return _spoken(low, at, f"{shown} {word}", doing[0], mode, language)
    return Verb(shown, language.be, "was" if roles[-1] in ("was", "been") else "copula", at)


def _plain(low: list[str], at: int, roles: list[str], subject: Subject, language: Language) -> Verb | None:
    """A verb by itself, or after have."""
    word = low[at]
    shown = language.tenses(word)
    past = [base for base, tense in shown if tense == "past"]
    perfect = [base for base, tense in shown if tense == "participle"]
    if roles and roles[-1] in ("have", "had"):
        if not perfect and not past:
            return None
        base = (perfect or past)[0]
        have = language.had if roles[-1] == "had" else _after(subject, language.have, language)
        mode: Mode = "perfect" if roles[-1] == "have" else "past"
        return _spoken(low, at, f"{have} {word}", base, mode, language)
    if past:
        return _spoken(low, at, word, past[0], "past", language)
    if subject.who in ("speaker", "group", "other") or subject.plural:
        verb = word == language.have or word in language.kinds or word in language.lasting_kinds  # like, own: verbs here
        if not word.isalpha() or (not verb and (word in language.stop_words or word in language.prepositions)) \
                or word in language.first or language.shows(word, "progressive"):
            return None
        if word not in language.forms and language.is_form("".join(low[at + 1:at + 2]), "base"):
            return None  # an unknown word before a verb is a misspelt helper, not a verb
        third = word if subject.plural else language.after_name(word)
        return _spoken(low, at, third, word, "present", language)
    third_of = [base for base, tense in shown if tense == "third"]
    return _spoken(low, at, word, third_of[0], "present", language) if third_of else None


def _spoken(low: list[str], at: int, relation: str, base: str, mode: Mode, language: Language) -> Verb | None:
    return None if language.keeps_silent(base, "".join(low[at + 1:at + 2])) else _chain(low, at, relation, base, mode, language)


def _chain(low: list[str], at: int, relation: str, base: str, mode: Mode, language: Language) -> Verb | None:
    """Take a second verb into the relation where the first only leads to it: plans to adopt."""
    second = at + 2
    if low[at + 1:second] == [language.infinitive] and base in language.chains and second < len(low) - 1 \
            and language.is_form(low[second], "base"):
        silent = low[second] in language.silent
        return None if silent else Verb(f"{relation} {language.infinitive} {low[second]}", base, mode, second + 1)
    return Verb(relation, base, mode, at + 1)
