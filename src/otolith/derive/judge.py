"""Whether a sentence that a person says to an agent is worth keeping, and as what.

People speak to agents in imperatives and fragments. What holds longer than the turn is kept; what only moves
the work on ("run it again"), asks, thanks, tells what happened, repeats somebody else's words or is in a
language the cues do not know is nothing. Pure: one sentence in, one verdict out.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from otolith.derive import cues
from otolith.derive.english import ENGLISH
from otolith.model.words import is_question, key_words

UNSURE = 0.45  # below it nothing is kept
MOST_WORDS = 60  # of a sentence: whoever speaks longer tells a story
FEWEST_WORDS = 2  # that say something
EMPHASIS = 0.05  # what capitals add
DOUBT = 0.15  # what a hedge takes away
TAGGED = 0.1  # and a question at the end: ", yeah?"
REFUSED = cues.Cue("correction", 0.55, cues.LEAD)  # "no, …" and something that no cue knows


class Verdict(NamedTuple):
    """What a sentence says, how sure that is, whether it leans on the sentence before, whose it is."""

    says: str
    sure: float
    leans: bool = False
    personal: bool = False
    bare: bool = False  # it names nothing, and speaks of what others named: "the check", "… want it"
    option: str = ""  # what it chooses among things the agent offered: "2", "b"


def judge(sentence: str, refused: bool = False) -> Verdict | None:
    """What a sentence of a person is worth; `refused` when "no" stood before it. None: nothing to keep."""
    refusal, plain = opening(sentence)
    refused = refused or refusal
    if not _is_speech(plain) or plain.endswith(":"):  # what only announces says nothing itself
        return None
    tag = cues.TAG.search(plain)
    plain = plain[: tag.start()] if tag else plain
    cue = _cue(sentence, plain, refused, tag is not None)
    sure = _sure(cue, sentence, plain, tag is not None) if cue else 0.0
    leans = any((cues.POINTING.match(plain), cues.OBEYING.search(plain)))
    brief = cue is not None and (cue.says == "decision" or plain.startswith(("no ", "No ")))
    if cue is None or sure < UNSURE or not (leans or tells(plain, FEWEST_WORDS - brief)):
        return None
    option = cues.OPTION.search(plain)
    says = "correction" if refused and cue.says in ("rule", "decision", "convention") else cue.says
    rest = cues.ASKED.sub("", plain, count=1)
    inner = judge(rest) if rest != plain else None
    personal = cue.personal or (inner is not None and inner.personal)
    bare = not names(plain) and cues.BARE.search(plain) is not None
    return Verdict(says, sure, leans, personal and _is_personal(plain), bare,
                   option[1].casefold() if option else "")


def _cue(sentence: str, plain: str, refused: bool, tagged: bool) -> cues.Cue | None:
    """The first cue that fits and is not of the moment; of a question only a polite request or an objection
    does.
    """
    asked = not tagged and (is_question(plain) or cues.ASKS.match(plain) is not None)
    table = (cues.REQUEST, cues.OBJECTION) if asked else cues.CUES
    bare = plain if asked else cues.LABEL.sub("", plain)
    cue = next((cue for cue in table for part in dict.fromkeys((plain, bare))
                if cue.pattern.search(part) and (not cue.needs or codes(sentence))), None)
    if cue is None and refused and not asked and tells(plain, 3):
        cue = REFUSED
    if cue is None or cues.PASSING.search(plain):
        return None
    return None if _is_passing(cue, plain) or (cue.says == "decision" and _is_task(plain)) else cue


def _is_passing(cue: cues.Cue, plain: str) -> bool:
    """Whether a sentence only tells how something is at the moment."""
    states = cue.says == "convention" and cue.sure < 0.75
    return states and cues.NOW.search(plain) is not None and not cues.ELSE.search(plain)


def _is_task(plain: str) -> bool:
    """Whether an order asks for one change and chooses nothing: who carried it out has its work to tell."""
    ordered = cues.ORDERED.match(plain) is not None
    return ordered and not cues.CHOICE.match(plain) and not cues.HOLDS.search(plain)


def _sure(cue: cues.Cue, sentence: str, plain: str, tagged: bool) -> float:
    """How sure a cue is in this sentence: hedges and tags take from it, capitals add."""
    sure = cue.sure - (DOUBT if cues.HEDGED.search(plain) else 0) - (TAGGED if tagged else 0)
    sure += EMPHASIS if re.search(r"\b(?:NOT|ALWAYS|NEVER|ONLY|MUST)\b", sentence) else 0
    return round(min(0.95, sure), 2)


def _is_personal(plain: str) -> bool:
    """Whether what somebody likes is theirs alone: what names a file is a matter of the project."""
    return re.search(r"(?<![\w:/])[\w.-]+/[\w.-]+", plain) is None


def opening(sentence: str) -> tuple[bool, str]:
    """Whether a sentence opens with a refusal, and the sentence without what only opens it."""
    plain = " ".join(sentence.replace("’", "'").split())
    plain = re.sub(r"(?i)\blets\b", "let's", plain)
    refused = False
    while True:
        lead = cues.LEAD.match(plain)
        rest = plain[lead.end() :] if lead else plain
        refusal = cues.REFUSAL.match(rest)
        if refusal:
            refused, rest = True, rest[refusal.end() :]
        if rest == plain:
            return refused, plain
        plain = rest


def codes(sentence: str) -> list[str]:
    """What a sentence names as programs are written, in order, each once."""
    shouting = sum(word.isupper() for word in sentence.split()) * 2 > len(sentence.split()) > 2
    names = dict.fromkeys(match[0].strip("`\"“”' ,:;").rstrip(".") for match in cues.CODE.finditer(sentence))
    return [name for name in names if name and name.rstrip(".,!") not in cues.SHOUTED and name != "I"
            and not (shouting and name.isalpha() and name.isupper())]


def names(sentence: str) -> list[str]:
    """What a sentence calls by a name of its own: neither a number, nor a short form, nor words in quotes."""
    return [name for name in codes(re.sub(r'"[^"]*"|“[^”]*”', " ", sentence))
            if not re.fullmatch(r"v?[\d.]+\w{0,2}%?|[A-Z\d]{1,5}s?", name)]


def is_own(sentence: str) -> bool:
    """Whether a person's sentence is not plainly somebody else's."""
    return cues.OTHERS.search(opening(sentence)[1]) is None


def _is_speech(plain: str) -> bool:
    """Words of a person in a language the cues know, neither a story nor somebody else's."""
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", plain.casefold())
    if not words or len(plain.split()) > MOST_WORDS:
        return False
    if cues.OTHERS.search(plain) or cues.HAPPENED.search(plain):
        return False
    if not plain.isascii() and sum(not word.isascii() for word in words) * 4 > len(words):
        return False
    return ENGLISH.is_spoken(words) or (cues.FRAGMENT.match(plain) is not None and plain.isascii())


def tells(plain: str, fewest: int) -> bool:
    """Whether enough is said to be understood: names count twice, words that say nothing never."""
    telling = {word for word in key_words(plain) if word not in cues.EMPTY and len(word) > 1}
    return len(telling) + len(codes(plain)) >= fewest
