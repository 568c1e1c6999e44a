"""Who a clause is about, and what its verb says of them in which sense.

The subject is found from the clause's first words: the speaker, the one spoken to, somebody's somebody, a
name, a thing; or the speaker left out, as chat does. A pronoun whose person is not known is nobody. Then come
helpers, adverbs and the verb itself, worded as it follows a name. Denial, hedging, guessing, advice and verbs
of thinking and courtesy are no statement; a prohibition and a rule are. The words come from a Language, the
persons from a Speech; nothing here knows a type, a date or a confidence.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, NamedTuple

from otolith.derive.english import Language, within, word_at

Who = Literal["speaker", "group", "implied", "other", "owned", "named", "thing"]
Mode = Literal["present", "past", "perfect", "progressive", "future", "copula", "was", "must", "limit",
               "wish", "ability"]
LONGEST_SUBJECT = 6  # words


class Speech(NamedTuple):
    """Who speaks to whom, and which words are names in this dialog."""

    speaker: str
    other: str | None
    names: frozenset[str]
    instructing: bool = False  # a person speaking to an assistant
    spoken_of: Subject | None = None  # whom or what the clause before was about, for its pronoun


class Subject(NamedTuple):
    """Whom a clause is about; `stop` is where its verb group begins."""

    name: str
    who: Who
    stop: int
    slot: str = ""  # what is somebody's favourite, when that is what the clause is about
    plural: bool = False


class VerbGroup(NamedTuple):
    """A verb group, worded as it follows a name; `stop` is where its object begins."""

    relation: str
    base: str
    mode: Mode
    stop: int


class Helpers(NamedTuple):
    """What stands before a verb: the parts helpers play, the last of them, a denial; `stop` is the verb."""

    roles: tuple[str, ...]
    last: str
    denied: bool
    never: str
    stop: int

    @property
    def role(self) -> str | None:
        return self.roles[-1] if self.roles else None


def opening(words: list[str], low: list[str], speech: Speech, lang: Language) -> int:
    """How many words at the start only greet, agree or call a name."""
    index = 0
    other = (speech.other or "").casefold()
    calls = {other, other[:3], other[:4]} if other else set()
    while index < len(words):
        phrase = lang.filler_phrases.match(" ".join(low[index:index + 6]))
        if phrase is not None:
            index += max(1, len(phrase.group().split()))
        elif low[index] in lang.standing:
            break
        elif low[index] in lang.fillers or low[index] in ",!." or lang.is_adverb(low[index]):
            index += 1
        elif words[index][:1].isupper() and word_at(low, index + 1) == ",":
            index += 2
        elif index and low[index] in calls:
            index += 1
        else:
            break
    return index


# The subject

def find_subject(words: list[str], low: list[str], speech: Speech, lang: Language) -> Subject | None:
    """Who the clause is about, if its first words say so."""
    if not low:
        return None
    if low[0] in lang.first:
        return Subject(speech.speaker, "group" if low[0] in lang.group else "speaker", 1)
    for at in range(1, min(len(low) - 1, LONGEST_SUBJECT)):
        if low[at] in lang.list_words and low[at + 1] in lang.first:
            return Subject(speech.speaker, "group", at + 2)
        if low[at] in lang.auxiliaries or low[at] == ",":
            break
    if low[0] in lang.second:
        return Subject(speech.other, "other", 1) if speech.other else None
    if low[0] in lang.third and speech.spoken_of is not None and _refers(low, speech.spoken_of, lang):
        return speech.spoken_of._replace(stop=1, slot="")
    if low[0].split("'")[0] in lang.third or low[0] in lang.nobody:
        return None
    if low[0] in lang.possessive_first:
        return _owned(words, low, speech, lang)
    return _named(words, low, speech, lang) or _implied(low, speech, lang)


def _refers(low: list[str], subject: Subject, lang: Language) -> bool:
    """Whether a pronoun that opens a clause may mean whom the clause before was about."""
    if subject.who not in ("named", "owned", "thing"):
        return False
    if low[0] in lang.several:
        return subject.plural or any(f" {word} " in subject.name for word in lang.list_words)
    return not subject.plural and (low[0] in lang.persons
                                   or (low[0] in lang.things and subject.who != "named"))


def _owned(words: list[str], low: list[str], speech: Speech, lang: Language) -> Subject | None:
    """ "My sister" is the speaker's sister; "my favorite tea is" says something of the speaker."""
    stop = _noun_end(low, 2, lang)
    if stop is None or any(word in lang.third for word in low[1:stop]):
        return None
    noun = " ".join(words[1:stop])
    slot = lang.favourite.match(noun)
    if slot is not None:
        kind = noun[slot.end():].strip().casefold()
        relation = lang.favourite_relation.format(kind)
        return Subject(speech.speaker, "speaker", stop, relation) if kind else None
    if low[stop - 1] == lang.name_word and stop == 2:
        return Subject(speech.speaker, "speaker", stop, lang.name_relation)
    return Subject(f"{lang.possessive.format(speech.speaker)} {noun}", "owned", stop,
                   plural=bool(lang.plural.search(low[stop - 1])))


def _named(words: list[str], low: list[str], speech: Speech, lang: Language) -> Subject | None:
    """A name, or a thing with its article, or a bare noun before "must"."""
    article = low[0] in lang.articles
    stop = _noun_end(low, 2 if article else 1, lang)
    if stop is None or not _names_something(low[:stop], lang):
        return None
    plural = bool(lang.plural.search(low[stop - 1]))
    thing = Subject(" ".join(words[:stop]), "thing", stop, plural=plural)
    if article:
        return None if low[0] in lang.indefinite and lang.is_form(low[stop], "past") else thing
    if within(low[0], lang.determiners, lang.asks):
        return None
    capital = words[0][:1].isupper()
    if capital and (low[0] in speech.names or not words[0].isalpha() or not words[0][1:].islower()):
        return thing._replace(who="named", plural=low[stop] in lang.with_name)
    if _is_ruled(low, stop, plural, lang):
        return thing
    acts = low[stop] not in lang.auxiliaries and any(
        tense == "past" or base in lang.kinds for base, tense in lang.forms.get(low[stop], ()))
    if stop == 1 and capital and acts and not within(low[0], lang.forms, lang.stop_words):
        return thing._replace(who="named", plural=False)
    return None


def _names_something(noun: list[str], lang: Language) -> bool:
    empty = noun[-1] in lang.vague or (len(noun) > 1 and noun[-1] in lang.determiners)
    return not empty and not any(within(word, lang.third, lang.second_words) for word in noun[1:])


def _is_ruled(low: list[str], stop: int, plural: bool, lang: Language) -> bool:
    """Whether a rule is stated of a bare noun: "migrations must …", "secrets are not logged"."""
    role, after = lang.auxiliaries.get(low[stop]), word_at(low, stop + 1)
    if lang.shows(low[0], "progressive") or role in ("must", "should"):
        return role in ("must", "should") and not lang.shows(low[0], "progressive")
    return role == "be" and plural and low[0] not in lang.stop_words and (
        after in lang.negations or lang.is_form(after, "participle"))


def _noun_end(low: list[str], start: int, lang: Language) -> int | None:
    """Where the noun ends and a verb that can follow it begins; None when no verb is near."""
    for at in range(start, min(len(low), LONGEST_SUBJECT + 1)):
        word, before = low[at], low[at - 1]
        if word in lang.auxiliaries or (word in lang.negations and word_at(low, at + 1) == lang.ended):
            return at
        if within(word, lang.first, lang.second, lang.asides, (",",)):
            return None
        tenses = {tense for _, tense in lang.forms.get(word, ())}
        if word in lang.nouns_too and within(word_at(low, at + 1), lang.auxiliaries, lang.forms) \
                and not within(word_at(low, at + 1), lang.prepositions, lang.determiners):
            continue  # "the integration tests need …"
        if not within(before, lang.list_words, lang.prepositions, lang.determiners) and (
                tenses & {"third", "past"} or ("base" in tenses and lang.plural.search(before))):
            return at
        if word in lang.adverbs and within(word_at(low, at + 1), lang.auxiliaries, lang.forms):
            return at
    return None


def _implied(low: list[str], speech: Speech, lang: Language) -> Subject | None:
    """Chat drops its first word: "Went to the lake", "Gonna start a blog"."""
    return Subject(speech.speaker, "implied", 0) if _drops_past(low, lang) or _drops_be(low, lang) else None


def _drops_past(low: list[str], lang: Language) -> bool:
    """Whether a clause opens with a past form that is no base as well, and goes on as after a verb."""
    first, after = low[0], word_at(low, 1)
    tenses, role = {tense for _, tense in lang.forms.get(first, ())}, lang.auxiliaries.get(first)
    if "past" not in tenses or "base" in tenses or role not in (None, "had"):
        return False
    slight = not after or lang.is_adverb(after) or within(after, lang.moods, lang.unclear, lang.object_first)
    strong = role is None and not slight and not any(pattern.search(first) for pattern, _ in lang.suffixes)
    return strong or within(after, lang.determiners, lang.prepositions)


def _drops_be(low: list[str], lang: Language) -> bool:
    """ "Been learning", "Still enjoying the book", "Excited to start", "Can't wait"."""
    first, after, role = low[0], word_at(low, 1), lang.auxiliaries.get(low[0])
    if role == "been":
        verb = next((word for word in low[1:] if not lang.is_adverb(word)), "")
        return verb == lang.infinitive or lang.shows(verb, "progressive")
    if role == "can":
        return word_at(low, 2) in lang.eager
    if first in lang.feelings and after in lang.prepositions:
        return True
    doing = first == lang.going or any(
        tense == "progressive" and base in lang.announced for base, tense in lang.forms.get(first, ()))
    finite = any(word in lang.auxiliaries or lang.is_form(word, "third") or lang.is_form(word, "past")
                 for word in low[1:])
    return doing and within(after, lang.determiners, lang.prepositions) and not finite


# The verb

def read_verb(low: list[str], subject: Subject, lang: Language) -> VerbGroup | None:
    """The verb group after a subject, with the sense its helpers give it."""
    helpers = _helpers(low, subject.stop, lang)
    at, roles = helpers.stop, helpers.roles
    if word_at(low, at) in ("", ","):
        return None
    if helpers.denied or helpers.never:
        return _denied(low, helpers, subject, lang)
    if "would" in roles:
        wishing = subject.who in ("speaker", "group") and low[at] in lang.wishes
        return _chain(low, at, f"{helpers.last} {low[at]}", low[at], "wish", lang) if wishing else None
    if "must" in roles or "should" in roles:
        return _must(low, helpers, subject, lang)
    if not roles and subject.who == "implied" and (
            low[at] in lang.feelings or lang.shows(low[at], "progressive")):
        helpers = helpers._replace(roles=("be",), last=lang.is_word)
    if helpers.role in ("be", "was", "been"):
        return _being(low, helpers, subject, lang)
    if helpers.role in ("will", "can"):
        return _modal(low, helpers, subject, lang)
    if helpers.role in ("have", "had"):
        return _perfect(low, helpers, subject, lang)
    return _plain(low, at, subject, lang)


def _helpers(low: list[str], at: int, lang: Language) -> Helpers:
    roles: list[str] = []
    last, denied, never = "", False, ""
    while at < len(low):
        word = low[at]
        if word in lang.lasting_negations:
            never = word
        elif word in lang.negations:
            denied = True
        elif word in lang.auxiliaries and not _main_verb(low, at, lang):
            roles.append(lang.auxiliaries[word])
            last = word
        elif not lang.is_adverb(word):
            break
        at += 1
    return Helpers(tuple(roles), last, denied, never, at)


def _after(subject: Subject, helper: str, lang: Language) -> str:
    """A helper verb as it follows the subject's name: "I am" becomes "is", "the tests are" stays."""
    return helper if subject.plural else lang.with_name.get(helper, helper)


def _main_verb(low: list[str], at: int, lang: Language) -> bool:
    """Whether have, had or do is the verb itself and helps no other."""
    role = lang.auxiliaries[low[at]]
    if role not in ("have", "had", "do"):
        return False
    after = next((word for word in low[at + 1:] if word in lang.negations or not lang.is_adverb(word)), "")
    if not after:
        return True
    if after in lang.negations:
        return False
    if role == "do":
        return not lang.is_form(after, "base")
    return not (lang.shows(after, "participle") or lang.shows(after, "past")
                or lang.auxiliaries.get(after) in ("been", "had"))


def _denied(low: list[str], helpers: Helpers, subject: Subject, lang: Language) -> VerbGroup | None:
    """What is not done once is no fact; a prohibition, an incapacity, and what is never or no longer done
    are.
    """
    at, role = helpers.stop, helpers.role
    base = low[at]
    if (lasting := _lasting_denial(low, helpers, subject, lang)) is not None:
        return lasting
    if base in lang.silent or not (lang.is_form(base, "base") or base == lang.be or base in lang.permits):
        return None
    if helpers.never and not helpers.denied and not role and subject.who in ("speaker", "group"):
        return VerbGroup(f"{helpers.never} {lang.after_name(base)}", base, "limit", at + 1)
    if role == "will" and subject.who in ("speaker", "group", "owned", "named"):
        return VerbGroup(f"{helpers.last} {lang.not_word} {base}", base, "future", at + 1)
    if role in ("must", "should") and subject.who not in ("other", "speaker" if role == "should" else ""):
        return VerbGroup(f"{lang.forbids[role]} {base}", base, "must", at + 1)
    if role == "can" and base in lang.limits:
        return VerbGroup(f"{lang.forbids[role]} {base}", base, "limit", at + 1)
    return _refused(low, helpers, subject, lang)


def _refused(low: list[str], helpers: Helpers, subject: Subject, lang: Language) -> VerbGroup | None:
    """ "I can't wait for", "is not allowed to"."""
    at, role, base = helpers.stop, helpers.role, low[helpers.stop]
    if role == "can" and base in lang.eager and word_at(low, at + 1) in lang.towards:
        return VerbGroup(f"{lang.cannot} {base}", base, "progressive", at + 1)
    if role == "be" and base in lang.permits:
        return VerbGroup(f"{_after(subject, helpers.last, lang)} {low[at - 1]} {base}", base, "limit", at + 1)
    return None


def _lasting_denial(low: list[str], helpers: Helpers, subject: Subject, lang: Language) -> VerbGroup | None:
    """ "We do not support Windows", "I no longer eat meat", "I'm not vegetarian any more"."""
    at, base = helpers.stop, low[helpers.stop]
    ended = within(lang.ended, low[subject.stop:at], low[-1:]) or any(
        word == lang.ended and mark == "," for word, mark in pairwise(low[at:]))
    if subject.who == "other" or helpers.never or lang.keeps_silent(base, word_at(low, at + 1)):
        return None
    if helpers.roles in ((), ("do",)):
        return _not_done(low, helpers, subject, ended, lang)
    dropped = helpers.roles == ("be",) and subject.who != "thing" and any(
        verb in lang.abandoned for verb in lang.bases(base, "progressive"))
    if dropped and not ended:
        return VerbGroup(f"{_after(subject, helpers.last, lang)} {lang.not_word} {base}",
                         lang.bases(base, "progressive")[0], "progressive", at + 1)
    if helpers.roles != ("be",) or not (ended or base in lang.bare_states or within(base, lang.indefinite)):
        return None
    word = _after(subject, helpers.last, lang)
    if doing := lang.bases(base, "progressive"):
        return VerbGroup(f"{word} {lang.no_longer.format(base)}", doing[0], "progressive",
                         at + 1) if ended else None
    return VerbGroup(f"{word} {lang.no_longer.format('').strip() if ended else lang.not_word}", lang.be,
                     "copula", at)


def _not_done(low: list[str], helpers: Helpers, subject: Subject, ended: bool,
              lang: Language) -> VerbGroup | None:
    """What somebody does not do, or does no longer."""
    base = low[helpers.stop]
    unclear = base in lang.wavering or subject.who == "implied"
    if (unclear and not ended) or helpers.last in lang.past_helpers:
        return None
    verbs = lang.bases(base, "base") or (lang.bases(base, "third") if not helpers.roles else [])
    if not verbs or not (helpers.roles or ended):
        return None
    denial = lang.no_longer.format(lang.after_name(verbs[0])) if ended else lang.does_not.format(base)
    return VerbGroup(denial, verbs[0], "present", helpers.stop + 1)


def _must(low: list[str], helpers: Helpers, subject: Subject, lang: Language) -> VerbGroup | None:
    """A rule for things and for us; of a person, "must be tired" is a guess and "should rest" is advice."""
    at, word = helpers.stop, low[helpers.stop]
    if helpers.role not in ("must", "should") or subject.who in ("other", "named", "owned", "implied"):
        return None
    if "should" in helpers.roles and subject.who != "thing":
        return None
    if word == lang.be:
        after = word_at(low, at + 1)
        ruled = subject.who == "thing" and after and after not in lang.moods
        return VerbGroup(f"{helpers.last} {word}", after, "must", at + 1) if ruled else None
    if not lang.is_form(word, "base") or word in lang.silent:
        return None
    return VerbGroup(f"{helpers.last} {word}", word, "must", at + 1)


def _modal(low: list[str], helpers: Helpers, subject: Subject, lang: Language) -> VerbGroup | None:
    """What somebody will or can do."""
    word, role = low[helpers.stop], helpers.role
    if word == lang.be or within(word, lang.silent, lang.stop_words):
        return None
    skilled = subject.who in ("speaker", "owned") and word in lang.skills
    if role == "can" and not skilled and subject.who not in ("thing", "named"):
        return None
    if role == "will" and subject.who == "other":
        return None
    mode: Mode = "future" if role == "will" else "ability"
    return _chain(low, helpers.stop, f"{helpers.last} {word}", word, mode, lang)


def _being(low: list[str], helpers: Helpers, subject: Subject, lang: Language) -> VerbGroup | None:
    """Be: doing something, going to do it, or being something."""
    at, past = helpers.stop, helpers.role == "was"
    relation = _after(subject, helpers.last, lang)
    if "been" in helpers.roles:
        have = lang.had if "had" in helpers.roles else _after(subject, lang.have, lang)
        relation = f"{have} {helpers.last}"
    word, verb = low[at], word_at(low, at + 2)
    if word == lang.going and word_at(low, at + 1) == lang.infinitive and lang.is_form(verb, "base"):
        future = VerbGroup(f"{relation} {word} {lang.infinitive} {verb}", verb, "future", at + 3)
        return None if verb in lang.silent else future
    doing = [base for base, tense in lang.tenses(word) if tense == "progressive"]
    if doing and word not in lang.moods:
        return _spoken(low, at, f"{relation} {word}", doing[0], "past" if past else "progressive", lang)
    return VerbGroup(relation, lang.be, "was" if past or helpers.role == "been" else "copula", at)


def _perfect(low: list[str], helpers: Helpers, subject: Subject, lang: Language) -> VerbGroup | None:
    """A verb after have or had."""
    word, past = low[helpers.stop], helpers.role == "had"
    bases = lang.bases(word, "participle") or lang.bases(word, "past")
    have = lang.had if past else _after(subject, lang.have, lang)
    return _spoken(low, helpers.stop, f"{have} {word}", bases[0], "past" if past else "perfect", lang) \
        if bases else None


def _plain(low: list[str], at: int, subject: Subject, lang: Language) -> VerbGroup | None:
    """A verb by itself."""
    word = low[at]
    if word == lang.got and subject.who in ("thing", "owned", "named") and lang.is_form(
            word_at(low, at + 1), "participle"):
        return VerbGroup(_was(subject, lang), lang.be, "was", at + 1)  # "it got switched off"
    if past := lang.bases(word, "past"):
        return _spoken(low, at, word, past[0], "past", lang)
    if subject.who not in ("speaker", "group", "other") and not subject.plural:
        third = lang.bases(word, "third")
        return _spoken(low, at, word, third[0], "present", lang) if third else None
    verb = word == lang.have or within(word, lang.kinds, lang.lasting_kinds)  # like, own: verbs here
    if not word.isalpha() or word in lang.first or lang.shows(word, "progressive") or (
            not verb and within(word, lang.stop_words, lang.prepositions)):
        return None
    if word not in lang.forms and lang.is_form(word_at(low, at + 1), "base"):
        return None  # an unknown word before a verb is a misspelt helper, not a verb
    return _spoken(low, at, word if subject.plural else lang.after_name(word), word, "present", lang)


def _was(subject: Subject, lang: Language) -> str:
    return lang.past_be[subject.plural]


def _spoken(low: list[str], at: int, relation: str, base: str, mode: Mode, lang: Language
            ) -> VerbGroup | None:
    silent = lang.keeps_silent(base, word_at(low, at + 1))
    return None if silent else _chain(low, at, relation, base, mode, lang)


def _chain(low: list[str], at: int, relation: str, base: str, mode: Mode, lang: Language) -> VerbGroup | None:
    """Take a second verb into the relation where the first only leads to it: plans to adopt."""
    second = word_at(low, at + 2)
    if word_at(low, at + 1) != lang.infinitive or base not in lang.chains or at + 3 >= len(low) \
            or not lang.is_form(second, "base"):
        return VerbGroup(relation, base, mode, at + 1)
    relation = f"{relation} {lang.infinitive} {second}"
    return None if second in lang.silent else VerbGroup(relation, base, mode, at + 3)
