"""What the fact rules must know of a language, as one value.

The rules (`sentences`, `grammar`, `statement`, `facts`) hold no word of any language: they ask a Language.
A new language whose clauses run subject, verb, object is a new table (see `english.py`), not new code. All words are
lower case. This module knows no rule and no fact.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Role = Literal["be", "was", "been", "have", "had", "do", "will", "would", "can", "might", "must", "should"]
Tense = Literal["base", "third", "past", "participle", "progressive"]
Unit = Literal["day", "week", "weekend", "month", "year", "weekday", "date", "season", "now", "recent", "soon"]


@dataclass(frozen=True, kw_only=True)
class TimeWord:
    """A pattern of time words and what it means: `shift` units away, or as its named groups say.

    Groups the reader knows: `n` (a number word), `unit`, `weekday`, `month`, `day`, `year`.
    """

    pattern: re.Pattern[str]
    unit: Unit | None = None
    shift: int = 0
    kept: bool = False  # the words stay in the fact's object ("since 2016"), for they say more than a date


@dataclass(frozen=True, kw_only=True)
class Language:
    """One language's words, by the part they play. Empty tables mean: this language has no such thing."""

    code: str
    # who speaks and who is spoken of
    first: frozenset[str]
    group: frozenset[str]  # those of them that mean the speaker with others
    second: frozenset[str]
    third: frozenset[str]  # pronouns whose person the rules do not know
    own: Mapping[str, str]  # first-person words as they read once the subject is the speaker: my → their
    possessive_first: frozenset[str]
    object_first: frozenset[str]
    second_words: Mapping[str, str]  # you, in every case, as it reads with the name of the one spoken to
    possessive: str  # "{}'s"
    objects: frozenset[str]  # pronouns that may also stand as an object: you, it, that
    nobody: frozenset[str]  # words that stand where a subject stands and name nothing
    # verbs
    forms: Mapping[str, tuple[tuple[str, Tense], ...]]  # every known form → its base and tense
    thirds: Mapping[str, str]  # base → the form that follows a name
    suffixes: tuple[tuple[re.Pattern[str], Tense], ...]  # how unknown forms show their tense
    third_endings: tuple[tuple[re.Pattern[str], str], ...]
    auxiliaries: Mapping[str, Role]
    with_name: Mapping[str, str]  # auxiliaries as they follow a name: am → is
    infinitive: str  # "to"
    contractions: Mapping[str, tuple[str, ...]]
    endings: Mapping[str, tuple[str, ...]]  # contractions at a word's end
    copula_endings: Mapping[str, str]  # endings that may also be a possessive: 's
    chains: frozenset[str]  # verbs that take another by the infinitive: plan to
    going: str
    be: str
    have: str
    had: str
    wishes: frozenset[str]  # verbs that "would" makes a wish: would love to
    permits: frozenset[str]  # participles whose denial is a rule: not allowed
    # what is no fact
    silent: frozenset[str]  # verbs of thinking, saying and courtesy
    spoken_with: Mapping[str, frozenset[str]]  # the words after which a silent verb does state something: think of
    negations: frozenset[str]
    lasting_negations: frozenset[str]  # "never" with a habit is a rule one keeps
    hedges: frozenset[str]
    hypotheticals: frozenset[str]
    elsewhere: re.Pattern[str]  # what shows that a sentence holds in a story, by somebody's word, or not yet
    retractions: re.Pattern[str]
    courtesies: re.Pattern[str]  # against "<relation> <object>"
    asks: frozenset[str]  # words that open a question
    tags: frozenset[str]  # words that turn a statement into one: right?
    vague: frozenset[str]
    bare_states: frozenset[str]  # states worth keeping when they stand alone: vegan, married
    moods: frozenset[str]  # states too slight to keep without what they are about
    # how clauses hang together
    fillers: frozenset[str]
    filler_phrases: re.Pattern[str]
    joints: frozenset[str]  # and, but, so: a new clause may follow
    breaks: frozenset[str]  # words that always end a clause
    asides: frozenset[str]  # openers of clauses that only set the scene
    list_words: frozenset[str]  # and, or
    adverbs: frozenset[str]
    adverb_ending: str
    intensifiers: frozenset[str]
    prepositions: frozenset[str]
    particles: frozenset[str]
    determiners: frozenset[str]
    articles: frozenset[str]
    indefinite: frozenset[str]
    trailing: frozenset[str]
    sequels: frozenset[str]  # words after which only the consequence follows: so
    hanging: frozenset[str]  # words that mean nothing once what follows is cut off: take care
    complement: frozenset[str]  # words that open a clause as object: that, what, how
    stop_words: frozenset[str]
    # what kind of fact
    kinds: Mapping[str, str]  # verb base → type, whatever the tense
    lasting_kinds: frozenset[str]  # verbs that say what somebody is: live, work
    relation_kinds: tuple[tuple[re.Pattern[str], str, str | None], ...]  # relation → type, time span
    object_kinds: tuple[tuple[re.Pattern[str], str], ...]  # object of the copula → type
    thing_verbs: frozenset[str]  # what things do: run, store, require
    skills: frozenset[str]  # verbs whose "can" is a trait
    gifts: Mapping[str, str]  # verbs by which things act on the speaker → participle: dancing keeps me going
    given_by: str
    found_relation: str  # "tea is good for me": finds good
    towards: frozenset[str]
    feelings: frozenset[str]  # states that chat names without their subject: so excited to
    unfelt: frozenset[str]  # words before "for me" that say nothing of what the speaker finds
    announced: frozenset[str]  # verbs that chat uses without their subject: still enjoying
    eager: frozenset[str]  # verbs whose "cannot" is a promise: cannot wait
    cannot: str
    role_relation: str
    is_word: str
    duties: frozenset[str]  # verbs that bind the one who says them: need to, have to
    places: frozenset[str]  # prepositions that may follow the copula: is from
    limits: frozenset[str]  # verbs whose "cannot" is a constraint
    favourite: re.Pattern[str]  # "favorite <slot>" in a possessive subject
    favourite_relation: str
    name_word: str
    name_relation: str
    plural: re.Pattern[str]
    pointing: frozenset[str]  # this, that: unclear alone, but they may go before a noun
    unclear: frozenset[str]  # pronouns that as an object point at something said elsewhere
    standing: Mapping[str, str]  # openers of a standing instruction → relation
    forbids: Mapping[str, str]  # role of the modal → relation when negated
    single_valued: frozenset[str]  # relations of which a subject has one at a time: a newer one replaces an older
    asunder: frozenset[str]  # prepositions at which the object of such a relation ends
    # time
    times: tuple[TimeWord, ...]
    time_hint: re.Pattern[str]  # one of these must occur before the time words are looked for one by one
    numbers: Mapping[str, int]
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    units: Mapping[str, Unit]

    def tenses(self, word: str) -> tuple[tuple[str, Tense], ...]:
        """The verbs this word may be a form of; unknown words show only what their ending says."""
        known = self.forms.get(word)
        if known is not None:
            return known
        return tuple((word, tense) for pattern, tense in self.suffixes if pattern.search(word))

    def is_form(self, word: str, tense: Tense) -> bool:
        """Whether a word is a known verb in this tense."""
        return any(found == tense for _, found in self.forms.get(word, ()))

    def shows(self, word: str, tense: Tense) -> bool:
        """Whether a word is, or by its ending looks like, a verb in this tense."""
        return any(found == tense for _, found in self.tenses(word))

    def content_words(self, text: str) -> list[str]:
        """The words of a text that say what it is about."""
        words = (word.strip(".,;:!?()'\"`").casefold() for word in text.replace("’", "'").split())
        return [word for word in words if word and word not in self.stop_words]

    def after_name(self, base: str) -> str:
        """The form of a verb that follows a name: live → lives."""
        if base in self.thirds:
            return self.thirds[base]
        for pattern, ending in self.third_endings:
            if pattern.search(base):
                return pattern.sub(ending, base)
        return base

    def keeps_silent(self, base: str, after: str) -> bool:
        """Whether a verb only thinks, says or greets, given the word after it."""
        return base in self.silent and after not in self.spoken_with.get(base, ())

    def is_adverb(self, word: str) -> bool:
        return word in self.adverbs or (
            bool(self.adverb_ending) and len(word) > 4 and word.endswith(self.adverb_ending)
            and word not in self.stop_words and word not in self.forms)
