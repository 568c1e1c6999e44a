"""What a work is called: what was asked for, where the person said it plainly, else what was done.

People speak to agents in passing: greetings, grumbles, a rule and a question stand beside the request. A
title is one sentence that somebody understands who was not there: the first plain order, else the report of a
fault, else what the words point to, else what the agent says was done, else what the calls show. Where it is
not the person's words, these are its context.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from otolith.derive import cues
from otolith.derive.judge import is_own, judge, names, opening, tells
from otolith.derive.requests import ORDER, Request, is_request, slash_command, tell_goal
from otolith.model.events import own_words
from otolith.model.text import sentences, shorten
from otolith.model.words import is_question, key_words, stems

LONGEST = 32  # words of a title
SAID = "the user said: "  # before their words, where what was done is the title
LASTING = ("rule", "preference", "convention", "command", "todo")  # what sentences say that are no requests
CONTEXT = 140  # characters of what was said around it
_POLITE = cues.phrase(r"""^(?:(?:can|could|would|will)\s(?:we|you)\s
    |i(?:'d|\swould)\s(?:like|love)\s(?:you\sto\s|to\s)|i\s(?:want|need)\syou\sto\s|we\sneed\sto\s
    |(?:let's|let\sus)\s(?:now\s)?|go\sahead\sand\s|time\sto\s)
    (?:(?:please|just|maybe|now|also|then)\s)*""")
_LEANING = cues.phrase(  # what only those understand who were there
    r"""\b(?:it|them|these|those|they|same|above|following|both|former|latter|rest|here)\b
      | \b(?:that|this)(?=\s*(?:$|[.,;!?)]|(?:as|at|in|on|for|to|and|or|is|was|again|too|one)\b))
      | \bthe\s(?:issue|problem|bug|error|fix|change|plan|thing|comment|doc)s?(?=\s*(?:$|[.,;!?]))
      | (?:^|\s)\#\d+\b | \b(?:option|item|point|phase)s?\s\#?\d+\b""")
_FAULT = cues.phrase(
    r"""\b(?:bugs?|broken?|breaks?|crash\w*|errors?|fail\w*|wrong|missing|slow|hangs?|leaks?|twice
      |duplicat\w*|stuck|lost|loses|wrongly|too\s(?:slow|long|large|small|many|low|high)|instead\sof
      |(?:does|do|is|are|can|could|did|was|were)(?:n't|\snot)|cannot|no\slonger|nan|stale|regress\w*)\b""")
_LOOKING = cues.phrase(r"""^(?:read|look|check|see|find|explain|describe|review|investigate|show|give|try|run
    |let's\sexplore)\b""")
_FORBIDS = cues.phrase(r"^(?:don't|do\snot|dont|never|stop|leave)\b")
_PLANNED = re.compile(r"^\w+ the following plan:\s*(?:(?:Plan|#+)[:\s]+)*", re.IGNORECASE)
_READS = cues.phrase(r"^(?:read|look|check|see|find|explain|describe|review|investigate|run)\b")
_STATES = cues.phrase(r"""\b(?:is|are|was|were|has|have|now|no\slonger|can't|cannot|don't
    |\w{2,}(?:ed|es|s)|wrote|built|made)\b""")
_SPEAKER = cues.phrase(r"""^(?:i|you|we|it|this|that|there|they|he|she|my|your|so|wait|hello|hi|here|oh
    |see)(?:'\w+)?\b""")
_ASIDE = cues.phrase(r"""^(?:\W*[(\[]|the\s(?:plan|doc|only|other|rest)\b
    |(?:this|these|that|it|no|yes|section|per)\b|`[^`]+`\s/)""")
_CHANGES = ("file_create", "file_delete", "file_edit")
_OPERATIONS = (("created", "file_create"), ("deleted", "file_delete"), ("changed", "file_edit"))
_FIRST_PERSON = re.compile(r"^I(?:'ve| have)? (?=\w+ed\b)", re.IGNORECASE)


def name_work(request: Request, earlier: str, stated: Sequence[str], learned: Sequence[str],
              actions: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """The title of a work, and what the person said where the title is not that. Words that only point have
    what they point to as the title.

    `earlier` is the title of the work before, `stated` what the agent says was done, the best first,
    `learned` the causes it named.
    """
    goal, words = tell_goal(request, earlier), " ".join(own_words(request.asked).split())
    deed = _deed(stated, actions, f"{words} {goal} {earlier}")
    if slash_command(request.asked):
        return f"{goal}: {deed}" if deed else goal, ""
    points = goal not in words and not words.startswith(goal.rstrip(" …")) and len(key_words(goal)) > 1
    asked = asked_in(own_words(request.asked)) or (asked_in(goal) if points else "")
    if asked and deed and reads(asked) and _changes(actions):
        return deed, _context(words)
    if asked or (points and (goal not in request.before or request.resumes)):
        return asked or _title(goal), ""
    if not (deed or points) and _is_plain(goal):
        return goal, ""
    pieces = _pieces(words)
    titles = chain([deed], map(_statement, pieces), filter(_stands_alone, learned), map(_lasting, pieces))
    return next(filter(None, titles), "") or listed(actions), _context(words)


def _deed(stated: Sequence[str], actions: Sequence[Mapping[str, Any]], around: str) -> str:
    """The first thing that an agent says it did which has to do with what was asked for or changed."""
    paths = " ".join(str(action["details"].get("file_path", "")) for action in actions)
    near = stems(f"{around} {re.sub(r'[/._-]', ' ', paths)}")
    done = (_title(_FIRST_PERSON.sub("", sentence)) for sentence in stated)
    changed = _changes(actions)
    return next((title for title in done if _tells_deed(title) and (not changed or stems(title) & near)), "")


def _changes(actions: Sequence[Mapping[str, Any]]) -> bool:
    return any(action["type"] in _CHANGES for action in actions)


def _context(words: str) -> str:
    """What a person said around a title that is not their words: no question alone, no piece of output."""
    text = " ".join(piece for piece in _pieces(words) if not is_question(piece) and tells(piece, 2)
                    and sum(sign.isalpha() for sign in piece) * 3 > len(piece) * 2)
    return f'{SAID}"{shorten(text, CONTEXT)}"' if text else ""


def listed(actions: Sequence[Mapping[str, Any]]) -> str:
    """What was done as the calls show it: the files by what was done to them, else the command that failed.
    """
    files = {verb: [str(action["details"]["file_path"]) for action in actions if action["type"] == kind]
             for verb, kind in _OPERATIONS}
    if not any(files.values()) and (failed := failed_run(actions)):
        return failed
    parts = [f"{verb} {', '.join(paths[:4])}" for verb, paths in files.items() if paths]
    return _title("; ".join(parts)) if parts else "Nothing was changed"


def failed_run(actions: Sequence[Mapping[str, Any]]) -> str:
    """The last command, if it failed, and how; else empty."""
    runs = [action for action in actions if action["type"] == "command_run"]
    if not runs or runs[-1]["result"]["success"]:
        return ""
    command, error = runs[-1]["details"]["command"], runs[-1]["result"].get("error")
    return f"`{command}` failed: {error or 'no reason given'}"


def reads(title: str) -> bool:
    """Whether a title only orders to look at something."""
    return _READS.match(title) is not None


def is_listed(title: str) -> bool:
    """Whether a title only lists what the calls show."""
    return title.startswith(("Created ", "Deleted ", "Changed ", "`", "Nothing was changed"))


def _tells_deed(sentence: str) -> bool:
    """Whether what an agent says it did names what it did it to."""
    named = (bool(names(sentence)) or tells(sentence, 3)) and _STATES.search(sentence) is not None
    return named and _stands_alone(sentence) and not _ASIDE.match(sentence)


def _is_plain(goal: str) -> bool:
    """Whether a person's words are a request and nothing else: no rule in them, nothing before them."""
    bare = len(key_words(goal)) > 2 and opening(goal)[1] == goal and is_request(goal)
    return bare and _stands_alone(goal) and all(judge(piece) is None for piece in _pieces(goal))


def _is_lasting(sentence: str) -> bool:
    verdict = judge(sentence)
    return verdict is not None and verdict.says in LASTING


def asked_in(words: str) -> str:
    """The first sentence that plainly orders something, else the first that reports a fault; else empty."""
    pieces = _pieces(words)
    orders = [order for order in map(plain_order, pieces) if order]
    order = next((order for order in orders if not _LOOKING.match(order)), "")
    return order or next(filter(None, map(_report, pieces)), "") or next(iter(orders), "")


def plain_order(sentence: str) -> str:
    """A sentence that orders something and says of what, without what only opens it; empty if it does not."""
    _, plain = opening(sentence)
    bare = _POLITE.sub("", plain, count=1)
    if not ORDER.match(bare) and bare == plain:
        return ""
    plain = bare if ORDER.match(bare) else plain
    rule = _FORBIDS.match(plain) or _is_lasting(sentence)
    if rule or not is_own(sentence) or re.search(r"\b\d+\.?$", plain):
        return ""  # a rule is nothing that is done once; a number is where a list was cut
    return _title(plain) if len(key_words(plain)) > 1 and _stands_alone(plain) else ""


def _report(sentence: str) -> str:
    """A sentence that tells what is wrong with something it names; empty if it does not."""
    refused, plain = opening(sentence)
    plain = cues.TAG.sub("", plain)
    if refused or _SPEAKER.match(plain) or not _FAULT.search(plain) or not tells(plain, 3):
        return ""
    verdict = judge(sentence)
    lasting = not is_own(sentence) or (verdict is not None and verdict.says in (*LASTING, "decision"))
    return _title(plain) if _stands_alone(plain) and not lasting and not is_question(plain) else ""


def _statement(sentence: str) -> str:
    """A sentence that states something of a thing it names, and that nobody needs to keep for itself."""
    refused, plain = opening(sentence)
    plain = cues.TAG.sub("", plain)
    if refused or _SPEAKER.match(plain) or is_question(plain) or cues.ASKS.match(plain) or judge(sentence):
        return ""
    states = tells(plain, 4) and is_own(sentence) and not cues.HAPPENED.search(plain)
    return _title(plain) if states and _stands_alone(plain) and not cues.NOW.match(plain) else ""


def _lasting(sentence: str) -> str:
    """A sentence that says what holds from now on: somebody who follows it was asked for that."""
    _, plain = opening(sentence)
    return _title(plain) if judge(sentence) and _stands_alone(plain) and tells(plain, 3) else ""


def _stands_alone(plain: str) -> bool:
    """Whether a sentence says itself what it speaks of."""
    leaning = _LEANING.search(plain)
    return len(plain.split()) <= LONGEST and (not leaning or len(names(plain[: leaning.start()])) > 0
                                              or len(plain[: leaning.start()].split()) >= 7)


def _pieces(words: str) -> list[str]:
    """The sentences of what somebody said; a number in them ends none: "two: 1. read it, 2. write it"."""
    pieces: list[str] = []
    for line in words.splitlines():
        for at, piece in enumerate(sentences(line)):
            if at and re.search(r"[:,;]\s\(?\d{1,2}[.)]$", pieces[-1]):
                pieces[-1] += " " + " ".join(piece.split())
            else:
                pieces.append(" ".join(piece.split()))
    return pieces


def _title(plain: str) -> str:
    plain = _PLANNED.sub("", plain) or plain
    return re.sub(r"[\s,;:]+$", "", plain[:1].upper() + plain[1:])
