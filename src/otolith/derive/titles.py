"""What a work is called: what was asked for, where the person said it plainly, else what was done.

People speak to agents in passing: greetings, grumbles, a rule and a question stand beside the request. A title
is one sentence that somebody understands who was not there: the first plain order, else the report of a fault,
else what the words point to, else what the agent says was done. The person's other words are its context.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from otolith.derive import cues
from otolith.derive.judge import is_own, judge, names, opening, tells
from otolith.derive.requests import ORDER, Request, slash_command, tell_goal
from otolith.model.events import own_words
from otolith.model.text import sentences, shorten
from otolith.model.words import is_question, key_words

LONGEST = 32  # words of a title
SAID = "the user said: "  # before their words, where what was done is the title
LASTING = ("rule", "preference", "convention", "command", "todo")  # what sentences say that are no requests
CONTEXT = 140  # characters of what was said around it
_POLITE = cues.phrase(r"""^(?:(?:can|could|would|will)\s(?:we|you)\s|i(?:'d|\swould)\s(?:like|love)\s(?:you\sto\s|to\s)
    |i\s(?:want|need)\syou\sto\s|we\sneed\sto\s|(?:let's|let\sus)\s(?:now\s)?|go\sahead\sand\s|time\sto\s)
    (?:(?:please|just|maybe|now|also|then)\s)*""")
_LEANING = cues.phrase(  # what only those understand who were there
    r"""\b(?:it|them|these|those|they|same|above|following|both|former|latter|rest|here)\b
      | \b(?:that|this)(?=\s*(?:$|[.,;!?)]|as\b|at\b|in\b|on\b|for\b|to\b|and\b|or\b|is\b|was\b|again\b|too\b|one\b))
      | \bthe\s(?:issue|problem|bug|error|fix|change|plan|thing|comment|doc)s?(?=\s*(?:$|[.,;!?]))
      | (?:^|\s)\#\d+\b | \b(?:option|item|point|step|phase|part|number|line)s?\s\#?\d+\b""")
_FAULT = cues.phrase(
    r"""\b(?:bugs?|broken?|breaks?|crash\w*|errors?|fail\w*|wrong|missing|slow|hangs?|leaks?|drifts?|flickers?|jump\w*
      |twice|duplicat\w*|doubled?|stuck|lost|loses|wrongly|too\s(?:slow|long|large|small|many|low|high)|instead\sof
      |(?:does|do|is|are|can|could|did|was|were)(?:n't|\snot)|cannot|no\slonger|never|nan|stale|regress\w*)\b""")
_LOOKING = cues.phrase(r"^(?:read|look|check|see|find|explain|describe|review|investigate|show|give|try|run|let's\sexplore)\b")
_SPEAKER = cues.phrase(r"^(?:i|you|we|it|this|that|there|they|he|she|my|your|so|wait|hello|hi|here|oh|see)(?:'\w+)?\b")

_FIRST_PERSON = re.compile(r"^I(?:'ve| have)? (?=\w+ed\b)", re.IGNORECASE)


def name_work(request: Request, earlier: str, stated: Sequence[str]) -> tuple[str, str]:
    """The title of a work, and what the person said where the title is not that. Words that only point have what
    they point to as the title.

    `earlier` is the title of the work before, `stated` what the agent says was done, the best first.
    """
    goal, words = tell_goal(request, earlier), " ".join(own_words(request.asked).split())
    if slash_command(request.asked):
        return goal, ""
    asked = own_words(request.asked)
    order, report = asked_in(asked, reports=False), asked_in(asked)
    points = goal not in words and not words.startswith(goal.rstrip(" …")) and len(key_words(goal)) > 1
    if points and not order and not report:
        return goal, ""
    done = [_title(_FIRST_PERSON.sub("", sentence)) for sentence in stated]
    title = order or report or next(filter(_stands_alone, done), "") or goal
    if title not in done:
        return title, ""
    return title, f'{SAID}"{shorten(words, CONTEXT)}"' if words else ""


def asked_in(words: str, *, reports: bool = True) -> str:
    """The first sentence that plainly orders something, else the first that reports a fault; empty if none does."""
    pieces = _pieces(words)
    orders = [order for order in map(plain_order, pieces) if order]
    order = next((order for order in orders if not _LOOKING.match(order)), "")
    return order or (next(filter(None, map(_report, pieces)), "") if reports else "")


def plain_order(sentence: str) -> str:
    """A sentence that orders something and says of what, without what only opens it; empty if it does not."""
    _, plain = opening(sentence)
    bare = _POLITE.sub("", plain, count=1)
    if not ORDER.match(bare) and bare == plain:
        return ""
    plain = bare if ORDER.match(bare) else plain
    verdict = judge(sentence)
    if (verdict and verdict.says in LASTING) or not is_own(sentence) or re.search(r"\b\d+\.?$", plain):
        return ""  # a rule is nothing that is done once; a number is where a list was cut
    return _title(plain) if len(key_words(plain)) > 1 and _stands_alone(plain) else ""


def _report(sentence: str) -> str:
    """A sentence that tells what is wrong with something it names; empty if it does not."""
    refused, plain = opening(sentence)
    if refused or _SPEAKER.match(plain) or not _FAULT.search(plain) or not tells(plain, 3):
        return ""
    verdict = judge(sentence)
    lasting = not is_own(sentence) or (verdict is not None and verdict.says in (*LASTING, "decision"))
    return _title(plain) if _stands_alone(plain) and not lasting and not is_question(plain) else ""


def _stands_alone(plain: str) -> bool:
    """Whether a sentence says itself what it speaks of."""
    leaning = _LEANING.search(plain)
    return len(plain.split()) <= LONGEST and (not leaning or len(names(plain[: leaning.start()])) > 0
                                              or len(plain[: leaning.start()].split()) >= 7)


def _pieces(words: str) -> list[str]:
    return [" ".join(piece.split()) for line in words.splitlines() for piece in sentences(line)]


def _title(plain: str) -> str:
    return re.sub(r"[\s,;:]+$", "", plain[:1].upper() + plain[1:])
