"""Whether two statements about the same thing contradict each other, by rule.

A sentence becomes a claim: subject, relation, object, and whether it is denied. Two claims with one subject
and one relation contradict if one denies what the other says, if they take opposite words (dark/light,
enables/disables), if one rejects what the other chose, or if something that can have one value has two. Rules
err on the side of silence; what they find is for a person to review. Language is in the tables; nothing here
knows records or acts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from otolith.model.shape import Value
from otolith.model.text import sentences, shorten
from otolith.model.words import DENIALS, STOP, WORD, is_question, is_supposed, stem, word_set, words


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, text.split()))


# Each pair reads: the first word stands for both, the second turns the claim round.
_OPPOSITES = {stem(turned): stem(kept) for kept, turned in (pair.split("/") for pair in """
    dark/light short/long brief/lengthy concise/verbose concise/detailed fast/slow tabs/spaces
    public/private open/closed on/off enabled/disabled true/false safe/unsafe sync/async
    early/late cheap/expensive hot/cold high/low same/different local/remote online/offline
    possible/impossible available/unavailable stable/unstable easy/hard easy/difficult
    simple/complex required/optional allowed/forbidden morning/evening mutable/immutable
    synchronous/asynchronous green/red works/fails enable/disable allow/forbid accept/reject
    open/close start/stop increase/decrease add/remove include/exclude win/lose always/never
    good/bad better/worse vegetarian/carnivore married/single formal/informal alive/dead""".split())}
_WANTING = _stems("prefer prefers preferred like love enjoy favor favour want choose chose")
_SHUNNING = _stems("hate dislike avoid detest despise loathe")
_CHOOSING = _stems("prefer chose choose pick select settled switch adopt went")
_USING = _stems("use adopt choose chose chosen pick select went switch go going settled migrate")
_BEING = word_set("is are was were be am equals")
_HELPERS = word_set("""will would can could should shall may might must do does did has have had been being to
    going decided agreed""")
_RELATIONS = _WANTING | _SHUNNING | _USING | _stems(
    """live work run cost listen store support require need own serve expire depend deploy ship start end
    begin belong keep take return fail pass enable disable allow forbid accept reject open close stop increase
    decrease add remove include exclude work contain speak eat drink drive write read play sit stay meet marry
    study believe trust happen""")
_DENIALS = DENIALS | {"quit"}
_ONE_VALUE = _stems(
    """database port version deadline owner name language editor timezone email address city country birthday
    age price budget password host hostname url branch license framework provider region salary title status
    phone number limit timeout size capital lead manager boss stack platform color colour theme architecture
    default model format backend frontend favorite favourite date day time location office employer wife
    husband partner""")
_ONE_PLACE = _stems("live cost listen")
_ALIKE = {stem("pass"): stem("work")}
_ME = word_set("i we user users my our me us")
_EMPTY = STOP | _DENIALS | word_set("with now currently actually always usually really also longer anymore")
_NO_SUBJECT = _EMPTY | _HELPERS
_REJECTS = re.compile(r"\b(?:over|instead of|rather than|not|than)\b", re.IGNORECASE)


class Assertion(Value):
    """One statement, taken apart. `chosen` and `rejected` are the two sides of a comparison."""

    sentence: str
    subject: frozenset[str]
    relation: str
    denied: bool
    chosen: frozenset[str]
    rejected: frozenset[str]
    exclusive: bool  # the verb is one of choice (prefers, chose), of which there is one at a time


Cell = tuple[frozenset[str], str, str]


def cells(claim: Assertion) -> Iterator[Cell]:
    """Where to look for opponents: two claims that share no cell cannot contradict each other.

    With them a thousand statements about one person are compared by what they speak of, not each with each.
    """
    for word in claim.chosen | claim.rejected or {""}:
        yield claim.subject, claim.relation, word
    if claim.exclusive or _has_one_value(claim):
        yield claim.subject, claim.relation, "*"


def _has_one_value(claim: Assertion) -> bool:
    return claim.relation in _ONE_PLACE or (claim.relation == "be" and bool(claim.subject & _ONE_VALUE))


def find_claims(text: str) -> list[Assertion]:
    """The statements of a text that have a subject and a relation the tables know."""
    claims = (_claim(sentence) for sentence in sentences(text)
              if len(sentence) <= 400 and not is_supposed(sentence) and not is_question(sentence))
    return [claim for claim in claims if claim]


def find_contradiction(older: Iterable[Assertion], newer: Iterable[Assertion], *, one_subject: bool = False
                       ) -> str | None:
    """Why the newer claims contradict the older, or None. `one_subject`: both are about one narrow thing."""
    by_frame: dict[tuple[frozenset[str], str], list[Assertion]] = {}
    for claim in older:
        by_frame.setdefault((claim.subject, claim.relation), []).append(claim)
    for claim in newer:
        for other in by_frame.get((claim.subject, claim.relation), ()):
            why = _oppose(other, claim, one_subject)
            if why:
                return f'{why}: "{shorten(other.sentence, 80)}" – "{shorten(claim.sentence, 80)}"'
    return None


def _claim(sentence: str) -> Assertion | None:
    tokens = words(sentence)
    at = next((at for at in range(1, len(tokens)) if _is_verb(tokens, at)), 0)
    subject = frozenset("user" if word in _ME else stem(word.removesuffix("'s")) for word in tokens[:at]
                        if word in _ME or word not in _NO_SUBJECT)
    if not subject:
        return None
    relation, turned = _relation(tokens[at])
    ends = [match.end() for match in WORD.finditer(sentence)]  # nearly one a token, enough for a comparison
    chosen_text, rejected_text = _compare(sentence[ends[at] if at < len(ends) else len(sentence):])
    chosen, flipped = _object(chosen_text)
    denials = sum(word in _DENIALS for word in (*tokens[:at], *words(chosen_text)))
    return Assertion(sentence=sentence, subject=subject, relation=relation, chosen=chosen,
                 denied=(denials + turned + flipped) % 2 == 1, rejected=_object(rejected_text)[0],
                 exclusive=stem(tokens[at]) in _CHOOSING)


def _is_verb(tokens: list[str], at: int) -> bool:
    """Whether a word states the relation; in "is using" and "are going with" the next one does."""
    word = tokens[at]
    if word not in _BEING:
        return stem(word) in _RELATIONS and word not in _HELPERS
    rest = [near for near in tokens[at + 1 : at + 3] if near not in _DENIALS and near not in STOP]
    return not (rest and rest[0].endswith("ing") and stem(rest[0]) in _RELATIONS)


def _relation(word: str) -> tuple[str, bool]:
    root = _ALIKE.get(stem(word), stem(word))
    if word in _BEING:
        return "be", False
    if root in _OPPOSITES:
        return _OPPOSITES[root], True
    if root in _SHUNNING or (root in _WANTING and root not in _USING):
        return "want", root in _SHUNNING
    return ("use", False) if root in _USING else (root, False)


def _object(text: str) -> tuple[frozenset[str], bool]:
    """The object's stems, opposite words sent to one of each pair, and whether an odd number was turned."""
    roots = [stem(word) for word in words(text) if word not in _EMPTY]
    turned = sum(root in _OPPOSITES for root in roots)
    return frozenset(_OPPOSITES.get(root, root) for root in roots), turned % 2 == 1


def _compare(text: str) -> tuple[str, str]:
    """The two sides of "A over B"; "is not B" is a denial, not a comparison."""
    match = _REJECTS.search(text)
    if match is None or not words(text[: match.start()]):
        return text, ""
    return text[: match.start()], text[match.end() :]


def _oppose(older: Assertion, newer: Assertion, one_subject: bool) -> str | None:
    if not older.denied and not newer.denied:
        if older.rejected & newer.chosen and not older.rejected & older.chosen:
            return "chooses what was rejected"
        if newer.rejected & older.chosen and not newer.rejected & newer.chosen:
            return "rejects what was chosen"
    both, either = older.chosen & newer.chosen, older.chosen | newer.chosen
    if older.denied != newer.denied:
        same = older.chosen == newer.chosen if len(either) < 3 else len(both) / len(either) >= 0.6
        return "says the opposite" if same else None
    if older.denied or older.chosen <= newer.chosen or newer.chosen <= older.chosen:
        return None
    return _exclude(older, newer, one_subject)


def _exclude(older: Assertion, newer: Assertion, one_subject: bool) -> str | None:
    """Why two plain claims of which each says something more cannot both hold."""
    both, left, right = older.chosen & newer.chosen, older.chosen - newer.chosen, newer.chosen - older.chosen
    if both and all(any(map(str.isdigit, word)) for word in left | right):
        return "gives another number"
    if _has_one_value(older) or (older.relation == "use" and both and len(left) == len(right) == 1):
        return "gives another value"
    return "makes another choice" if one_subject and older.exclusive and newer.exclusive else None
