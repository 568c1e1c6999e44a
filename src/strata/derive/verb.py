"""What the verb of a clause says, and in which sense.

From the words after a subject: helpers, adverbs, then the verb itself, worded as it follows a name. Denial, hedging,
guessing, advice and verbs of thinking and courtesy are no statement; a prohibition and a rule are. Each step moves
forward only. The words come from a Language; nothing here knows a type, a date or a confidence.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from strata.derive.language import Language, Role
from strata.derive.subject import Subject

Mode = Literal["present", "past", "perfect", "progressive", "future", "copula", "was", "must", "limit", "wish", "ability"]


class Verb(NamedTuple):
    """A verb group, worded as it follows a name; `stop` is where its object begins."""

    relation: str
    base: str
    mode: Mode
    stop: int


def read_verb(low: list[str], subject: Subject, language: Language) -> Verb | None:
    """The verb group after a subject, with the sense its helpers give it."""
    roles: list[Role] = []
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
        wishing = roles == ["would"] and subject.who in ("speaker", "group") and low[at] in language.wishes
        return _chain(low, at, f"{helper} {low[at]}", low[at], "wish", language) if wishing else None
    if "might" in roles:
        return None
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


def _denied(low: list[str], at: int, roles: list[Role], helper: str, never: str, subject: Subject,
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
    if role == "can" and base in language.limits and not never and subject.who != "other":
        return Verb(f"{language.forbids[role]} {base}", base, "limit", at + 1)
    if role == "can" and base in language.eager and subject.who in ("speaker", "group", "implied"):
        leads = "".join(low[at + 1:at + 2]) in language.towards
        return Verb(f"{language.cannot} {base}", base, "progressive", at + 1) if leads else None
    if role == "be" and base in language.permits and not never:
        return Verb(f"{_after(subject, helper, language)} {low[at - 1]} {base}", base, "limit", at + 1)
    return None


def _must(low: list[str], at: int, roles: list[Role], helper: str, subject: Subject, language: Language) -> Verb | None:
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


def _modal(low: list[str], at: int, role: Role, helper: str, subject: Subject, language: Language) -> Verb | None:
    """What somebody will or can do."""
    word = low[at]
    doing = [base for base, tense in language.tenses("".join(low[at + 1:at + 2])) if tense == "progressive"]
    if word == language.be and role == "will" and doing and subject.who != "other":
        return _spoken(low, at + 1, f"{helper} {word} {low[at + 1]}", doing[0], "future", language)
    if word in language.silent or word == language.be or word in language.stop_words:
        return None
    skilled = subject.who in ("speaker", "owned") and word in language.skills
    if role == "can" and not skilled and subject.who not in ("thing", "named"):
        return None
    if role == "will" and subject.who == "other":
        return None
    return _chain(low, at, f"{helper} {word}", word, "future" if role == "will" else "ability", language)


def _being(low: list[str], at: int, roles: list[Role], helper: str, subject: Subject, language: Language) -> Verb | None:
    """Be: doing something, going to do it, or being something."""
    shown = _after(subject, helper, language)
    if "been" in roles:
        shown = f"{language.had if 'had' in roles else _after(subject, language.have, language)} {helper}"
    word, after = low[at], low[at + 1:at + 2]
    if "will" in roles or "can" in roles:
        return None
    if word == language.going and after == [language.infinitive] and language.is_form("".join(low[at + 2:at + 3]), "base"):
        verb = low[at + 2]
        return None if verb in language.silent else Verb(f"{shown} {word} {after[0]} {verb}", verb, "future", at + 3)
    doing = [base for base, tense in language.tenses(word) if tense == "progressive"]
    if doing and word not in language.moods:
        mode: Mode = "past" if roles[-1] == "was" else "progressive"
        return _spoken(low, at, f"{shown} {word}", doing[0], mode, language)
    return Verb(shown, language.be, "was" if roles[-1] in ("was", "been") else "copula", at)


def _plain(low: list[str], at: int, roles: list[Role], subject: Subject, language: Language) -> Verb | None:
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
    known = language.is_form(word, "past") or subject.who not in ("owned", "thing")
    if past and known and not language.is_form(word, "third"):
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
    if low[at + 1:at + 2] == [language.infinitive] and base in language.chains and second < len(low):
        while second < len(low) - 1 and language.is_adverb(low[second]):
            second += 1
        if language.is_form(low[second], "base") and second < len(low) - 1:
            if low[second] in language.silent:
                return None
            return Verb(f"{relation} {language.infinitive} {low[second]}", base, mode, second + 1)
    return Verb(relation, base, mode, at + 1)
