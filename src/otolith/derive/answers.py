"""What of the agent a person answers: the option they chose, the sentence they speak of, the act they
          stopped.

A sentence such as "option 2 seems good" means nothing to somebody who was not there; one line of what the
agent said or was about to do makes it whole. Pure: reads events.
"""

from __future__ import annotations

from collections.abc import Sequence

from otolith.derive.cues import EMPTY, phrase
from otolith.derive.judge import Verdict, names, tells
from otolith.model.events import ANSWERED, CALLED, SAID, STOPPED, Event
from otolith.model.text import sentences, shorten, without_code
from otolith.model.words import is_question, stem, stems

LONGEST = 20_000  # characters of an answer that are read
QUOTED = 140  # characters of the line
FEWEST_SHARED = 2  # words that a sentence and what it answers have in common
_NARRATED = phrase(
    r"""^\W*(?:now\s|first\s|next\s|ok(?:ay)?\W+|so\s|great\W+|perfect\W+|good\W+|yes\W+|right\W+
    |you're\sright\W+)*(?:let\sme|i'll|i\swill|i'm|i\sam|i\ssee|i\sneed|i\snow|i\shave|i've|let's|here's
          |here\sis
    |looking|checking|you're\sright|sorry|perfect|great|excellent|done|all\sset|fair|good\s|healthy
    |that\smakes\ssense)\b""")
_CHOICE = phrase(
    r"""^\W*(?:\*\*)?(?:(?:option|approach|variant|alternative|plan|suggestion)\s)?[\#(]?([a-z]|\d{1,2})
    (?:[.):\]]|\s[–—-]|\*\*)+\s*(\S.*)$""")
_SAYING_NOTHING = frozenset(map(stem, EMPTY))
_MARKS = phrase(r"[*_\#`|>]+|^\s*[-•]\s+")


def answer_before(events: Sequence[Event]) -> list[Event]:
    """What the agent said and did since the person spoke last."""
    answer: list[Event] = []
    for event in reversed(events):
        if event.kind == SAID:
            break
        if not event.by:
            answer.append(event)
    return answer[::-1]


def option_line(option: str, answer: Sequence[Event]) -> str:
    """The line of the agent's answer that stands under the number or letter that was chosen."""
    for event in reversed(answer):
        for line in event.text.splitlines() if event.kind == ANSWERED else ():
            match = _CHOICE.match(line)
            if match and match[1].casefold() == option:
                return _quote(line)
    return ""


def offers(name: str, answer: Sequence[Event]) -> bool:
    """Whether the agent named something in its answer."""
    return any(name in event.text for event in answer if event.kind == ANSWERED)


def line_answered(sentence: str, verdict: Verdict, answer: Sequence[Event]) -> str:
    """The words or the act of the agent that a sentence answers, in one line; empty if nothing shows it.

    That is the line which shares most with it; then the act that was stopped, then what the agent asked last;
    for a sentence that names nothing itself also the last line with one word of it that names something.
    """
    if verdict.option and (line := option_line(verdict.option, answer)):
        return line
    lines = [line for line in _lines(answer) if not _NARRATED.match(line)]
    about = stems(sentence) - _SAYING_NOTHING
    shares = [(len(about & stems(line)), line) for line in lines]
    shared, best = max(shares, key=lambda share: share[0], default=(0, ""))
    if shared >= FEWEST_SHARED:
        return _quote(best)
    if act := _act(answer):
        return act
    asked = [line for line in lines if is_question(line) and tells(line, 4)]
    near = [line for count, line in shares if count and names(line)] if verdict.leans or verdict.bare else []
    return _quote((asked[-1:] or near[-1:] or [""])[0])


def _act(answer: Sequence[Event]) -> str:
    """What the agent was about to do when the person stopped it."""
    if not any(event.kind == STOPPED for event in answer[-2:]):
        return ""
    act = next((event.call for event in reversed(answer) if event.kind == CALLED and event.call), None)
    files = ", ".join(path.rsplit("/", 1)[-1] for path in act.files) if act else ""
    if act and act.operation in ("read", "search", "other"):
        return ""  # who only looks is stopped by chance
    target = f"`{act.command}`" if act and act.command else files
    return shorten(f"the agent was about to {act.operation} {target}", QUOTED) if act and target else ""


def _lines(answer: Sequence[Event]) -> list[str]:
    """The sentences of the agent's answer that say something, as plain text."""
    texts = [event.text[-LONGEST:] for event in answer if event.kind == ANSWERED]
    lines = [" ".join(_MARKS.sub(" ", line).split()) for text in texts
             for sentence in sentences(without_code(text)) for line in sentence.splitlines()]
    return [line for line in lines if len(line.split()) > 2]


def _quote(line: str) -> str:
    return shorten(_MARKS.sub(" ", line), QUOTED)
