"""From what a person says to an agent to the memos it becomes.

Reads a person's own words in the events of a session, never what they pasted, sentence by sentence. What the
judge finds worth keeping becomes a draft: the sentence as it was said, what it is about, and what of the
agent it answers, so that somebody who was not there understands it. Pure: knows no home, writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from otolith.derive.judge import FEWEST_WORDS, MOST_WORDS, Verdict, codes, judge, opening, phrase, tells
from otolith.derive.triggers import in_third_person
from otolith.model.events import ANSWERED, CALLED, SAID, STOPPED, Event, Session, own_words
from otolith.model.record import SURE
from otolith.model.shape import Value
from otolith.model.text import first_sentence, fold, sentences, shorten, without_code
from otolith.model.words import is_question, key_words, stems

LONGEST = 85  # words of a memo with its title
LONGEST_TURN = 6_000  # characters: more is no longer speech
LONGEST_ANSWER = 20_000
QUOTED = 140  # characters of what is answered
PER_TURN = 6  # the surest of one turn
WRAPPED = 60  # a line of prose that goes on in the next is at least so long
_NARRATED = phrase(
    r"""^\W*(?:now\s|first\s|next\s|ok(?:ay)?\W+|so\s|great\W+|perfect\W+|good\W+|yes\W+|right\W+
    |you're\sright\W+)*(?:let\sme|i'll|i\swill|i'm|i\sam|i\ssee|i\sneed|i\snow|i\shave|i've|let's|here's
          |here\sis
    |looking|checking|you're\sright|sorry|perfect|great|excellent|done|all\sset|fair|good\s|healthy
    |that\smakes\ssense)\b""")
_CHOICE = phrase(
    r"""^\W*(?:\*\*)?(?:(?:option|approach|variant|alternative|plan|suggestion)\s)?[\#(]?([a-z]|\d{1,2})
    (?:[.):\]]|\s[–—-]|\*\*)+\s*(\S.*)$""")
_MARKS = re.compile(r"[*_#`|>]+|^\s*[-•]\s+")
_NAME = re.compile(r"^[\W_]*([\w.-]*(?:[a-z][A-Z]|_|-)[\w.-]*|[A-Z][A-Z\d_]{2,})[\s.!]*$")
_NUMBERED = re.compile(r"[:,;]\s\(?\d{1,2}[.)]$")
_JOINED = re.compile(r"^(?:is|are|was|were|has|have|and|or)\b")


class Saying(Value):
    """One thing that was said and is worth keeping; a name and a file come later."""

    says: str
    sentence: str
    about: tuple[str, ...] = ()
    answers: str = ""
    sure: float = SURE
    personal: bool = False
    key: str = ""  # the event it stands in
    ts: str | None = None
    trust: str = "user"

    @property
    def title(self) -> str:
        _, plain = opening(self.sentence)
        plain = in_third_person(plain) if self.personal else plain
        title = first_sentence(plain or self.sentence)
        return title[:1].upper() + title[1:].rstrip(".!")

    @property
    def tags(self) -> tuple[str, ...]:
        """What it is about, as far as a memo's list of tags can hold it."""
        names = (name.casefold() for name in self.about[:3])
        return tuple(name for name in names if len(name) <= 40 and not re.search(r"[,\[\]\s]", name))

    @property
    def body(self) -> str:
        """The sentence, what it is about, what it answers; what makes it too long is left out."""
        parts = [self.sentence]
        room = LONGEST - len(f"{self.title} {self.sentence}".split())
        for head, line in (("About", ", ".join(self.about)), ("In answer to", self.answers)):
            room -= len(line.split()) + 3
            if line and room >= 0:
                parts.append(f"{head}: {line}")
        return parts[0] + ("\n\n" + "\n".join(parts[1:]) if len(parts) > 1 else "")


def normal(sentence: str) -> str:
    """A sentence as two that say the same are compared: without its opening, its marks and its capitals."""
    _, plain = opening(sentence)
    return fold(re.sub(r"[^\w\s./@'-]+|[.!?]+(?=\s|\Z)", " ", plain))


def find_sayings(told: Session) -> list[Saying]:
    """What the new turns of a session say that is worth keeping, each sentence once."""
    sayings: dict[tuple[bool, str], Saying] = {}
    for at, event in enumerate(told.events):
        if event.kind == SAID and at >= told.fresh:
            answer = _answered(told.events[:at])
            for saying in sorted(_spoken(event, answer), key=lambda saying: -saying.sure)[:PER_TURN]:
                sayings.setdefault((saying.personal, normal(saying.sentence)), saying)
    return sorted(sayings.values(), key=lambda saying: next(
        at for at, event in enumerate(told.events) if event.key == saying.key))


# The sentences of a turn

def cut(text: str) -> list[str]:
    """The sentences of what somebody typed: a line ends one, unless it only wrapped."""
    pieces: list[str] = []
    for paragraph in re.split(r"\n\s*\n", without_code(text)):
        block = ""
        for line in paragraph.splitlines():
            if line.lstrip().startswith(">"):
                continue
            goes_on = len(block) - block.rfind("\n") > WRAPPED and line[:1].islower()
            block = f"{block} {line.strip()}" if goes_on else f"{block}\n\n{line.strip()}"
        for piece in sentences(block):
            if pieces and _goes_on(pieces[-1], piece):
                pieces[-1] = f"{pieces[-1]} {' '.join(piece.split())}"
            else:
                pieces += _parted(" ".join(piece.split()))
    return pieces


def _goes_on(before: str, piece: str) -> bool:
    """Whether a dot ended no sentence: "new dep. is fine", "two steps: 1. read, 2. write"."""
    short = before.endswith(".") and len(before.split()) < 6
    return (short and _JOINED.match(piece) is not None) or _NUMBERED.search(before) is not None


def _parted(sentence: str) -> list[str]:
    """A question that was led up to by dots is one thing, what led up to it another."""
    if not is_question(sentence) or not re.search(r"\w(?:\.{2,}|…)\s", sentence):
        return [sentence]
    parts = [part.strip() for part in re.split(r"(?<=\w)(?:\.{2,}|…)\s+", sentence)]
    return [part for part in parts if part]


def _spoken(event: Event, answer: Sequence[Event]) -> list[Saying]:
    """The sayings of one turn."""
    text = own_words(event)
    if not text or len(text) > LONGEST_TURN:
        return []
    parts = cut(text)
    refused, kept = False, list[Saying]()
    for at, sentence in enumerate(parts):
        only_no, plain = opening(sentence)
        if only_no and len(key_words(plain)) == 0:
            refused = True
            continue
        verdict = judge(sentence, refused)
        refused = False
        said = _whole(parts, at, verdict, answer) if verdict else _named(sentence, parts, answer)
        if verdict is None:
            verdict = Verdict("decision", 0.7)
        if said:
            if kept and said.startswith(f"{kept[-1].sentence} "):
                kept.pop()  # it goes on where that one ended
            kept.append(Saying(says=verdict.says, sentence=said, about=about(said), sure=verdict.sure,
                               answers=_question(said, verdict, answer), personal=verdict.personal,
                               key=event.key, ts=event.ts))
    return kept


def _whole(parts: Sequence[str], at: int, verdict: Verdict, answer: Sequence[Event]) -> str:
    """The sentence, with the one before it where it points there; nothing if there is none to point to."""
    sentence = parts[at]
    if verdict.option and not _option(verdict.option, answer) and len(codes(sentence)) < 2:
        return ""
    if not verdict.leans:
        return sentence
    before = next((part for part in reversed(parts[max(0, at - 2) : at]) if len(key_words(part)) > 1), "")
    both = f"{before} {sentence}"
    if before and len(both.split()) <= MOST_WORDS and tells(opening(both)[1], FEWEST_WORDS):
        return both
    return sentence if tells(opening(sentence)[1], 4) else ""


def _named(sentence: str, parts: Sequence[str], answer: Sequence[Event]) -> str:
    """ "ok, WatchProviders": a bare name is a decision if the agent had offered it."""
    name = _NAME.match(opening(sentence)[1])
    offered = name is not None and any(name[1].rstrip(".") in event.text for event in answer if event.kind == ANSWERED)
    return sentence if offered and sentence == parts[0] else ""


# What it is about, and what it answers

def about(sentence: str) -> tuple[str, ...]:
    """Files, symbols and commands that it names, else its first telling words."""
    named = [name for name in codes(sentence) if re.search(r"[^\W\d]", name) and len(name) > 1]
    if named:
        return tuple(named[:4])
    return (" ".join(key_words(opening(sentence)[1])[:4]),)


def _answered(before: Sequence[Event]) -> list[Event]:
    """What the agent said and did since the person spoke last."""
    events: list[Event] = []
    for event in reversed(before):
        if event.kind == SAID:
            break
        if not event.by:
            events.append(event)
    return events[::-1]


def _lines(answer: Sequence[Event]) -> list[str]:
    """The sentences of the agent's answer that say something, as plain text."""
    lines: list[str] = []
    for event in answer:
        if event.kind == ANSWERED:
            for sentence in sentences(without_code(event.text[-LONGEST_ANSWER:])):
                for line in sentence.splitlines():
                    plain = " ".join(_MARKS.sub(" ", line).split())
                    if len(plain.split()) > 2:
                        lines.append(plain)
    return lines


def _option(wanted: str, answer: Sequence[Event]) -> str:
    """The line of the agent's answer that stands under the number or letter that was chosen."""
    for event in reversed(answer):
        for line in event.text.splitlines() if event.kind == ANSWERED else ():
            match = _CHOICE.match(line)
            if match and match[1].casefold() == wanted:
                return shorten(" ".join(_MARKS.sub(" ", line).split()), QUOTED)
    return ""


def _question(sentence: str, verdict: Verdict, answer: Sequence[Event]) -> str:
    """The act or the words of the agent that a sentence answers, in one line."""
    if verdict.option and (line := _option(verdict.option, answer)):
        return line
    about, best, most = stems(sentence), "", 1
    lines = [line for line in _lines(answer) if not _NARRATED.match(line)]
    for line in lines:
        shared = len(about & stems(line))
        if shared > most:
            best, most = line, shared
    if best:
        return shorten(best, QUOTED)
    act = next((event.call for event in reversed(answer) if event.kind == CALLED and event.call), None)
    if act and any(event.kind == STOPPED for event in answer[-2:]):
        files = ", ".join(path.rsplit("/", 1)[-1] for path in act.files)
        target = f"`{act.command}`" if act.command else files
        return shorten(f"the agent was about to {act.operation} {target}", QUOTED) if target else ""
    asked = [line for line in lines if is_question(line) and tells(line, 4)]
    if verdict.leans and not asked:
        asked = [line for line in lines if codes(line)][:1]
    return shorten(asked[-1], QUOTED) if asked else ""
