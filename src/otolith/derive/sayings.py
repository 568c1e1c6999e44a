"""From what a person says to an agent to the memos it becomes.

Reads a person's own words in the events of a session, never what they pasted, sentence by sentence. What the
judge finds worth keeping becomes a remark: the sentence as it was said, what it is about, and what of the
agent it answers, so that somebody who was not there understands it. Pure: knows no home, writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from otolith.derive.answers import QUOTED, answer_before, line_answered, offers, option_line
from otolith.derive.cues import ASKED, CHOICE, EMPTY, POINTING, TAG
from otolith.derive.facts import extract
from otolith.derive.judge import (
    FEWEST_WORDS,
    MOST_WORDS,
    UNSURE,
    Verdict,
    is_own,
    judge,
    names,
    opening,
    tells,
)
from otolith.derive.triggers import find_triggers, in_third_person
from otolith.derive.worth import CONTRAST, GENERAL, lasts
from otolith.model.dialog import Fact, Turn
from otolith.model.events import SAID, Event, Session, own_words
from otolith.model.pasted import split_parts
from otolith.model.record import SURE
from otolith.model.shape import Value
from otolith.model.text import TITLE_SIGNS, first_sentence, fold, sentences, shorten, without_code
from otolith.model.words import is_question, key_words, likeness, stems

LONGEST = 85  # words of a memo with its title
LONGEST_TURN = 6_000  # characters: more is no longer speech
PER_TURN = 5  # the surest of one turn
SHORT = 16  # words of two neighbours that are kept as one
ALIKE = 0.6  # two of one turn that share more say the same
LISTED = 4  # items of a list that make a turn the description of a task
CLIPPED = 4  # words of a sentence that goes on in the next: "Ask me. Not him."
UNNAMED = 0.25  # what it takes from a sentence that nothing tells what it speaks of
PLAIN = 0.85  # how sure an item of such a list must be: it says itself that it holds for longer
WRAPPED = 60  # a line of prose that goes on in the next is at least so long
WISHED = ("would like", "wants", "want", "needs", "asks for", "hopes", "wishes", "plans")  # of the moment
LASTING = ("identity", "preference", "constraint")  # types of facts
TRIGGERS = {"request": "", "milestone": "milestone", "learning": "learning"}  # of any dialog
CHOSEN = Verdict("decision", 0.7)  # a bare name among those that the agent had offered
_NAME = re.compile(r"^[\W_]*([\w.-]*(?:[a-z][A-Z]|_|-)[\w.-]*|[A-Z][A-Z\d_]{2,})[\s.!]*$")
_CONTRAST = re.compile(r"(?:not|never|ever|always|only)\b", re.IGNORECASE)
_ITEM = re.compile(r"^\s*(?:[-*•+–]|\d{1,2}[.)])\s+")
_NUMBERED = re.compile(r"[:,;]\s\(?\d{1,2}[.)]$")
_JOINED = re.compile(r"^(?:is|are|was|were|has|have|and|or)\b")
_CHOSEN = re.compile(r"^\W*(?:\d{1,2}|[A-Za-z])[.):]\s+")
_PROPER = re.compile(r"(?<=[a-z] )[A-Z][a-z]+")
_TAG_BREAK = re.compile(r"[,\[\]\s]")


class Remark(Value):
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
    chosen: bool = False  # it picks one of several things that were offered
    bound: bool = False  # to the task at hand: the work that did it tells it

    @property
    def title(self) -> str:
        """What it says, without what only opens it."""
        _, plain = opening(self.sentence)
        plain = ASKED.sub("", plain, count=1)
        plain = in_third_person(plain) if self.personal else plain
        first = first_sentence(plain or self.sentence)
        bare = is_question(first) or len(first.split()) <= CLIPPED  # alone these tell nothing
        title = shorten(plain, TITLE_SIGNS) if bare else first
        return title[:1].upper() + title[1:].rstrip(".!")

    @property
    def tags(self) -> tuple[str, ...]:
        """What it is about, as far as a memo's list of tags can hold it."""
        names = (name.casefold() for name in self.about[:3])
        return tuple(name for name in names if len(name) <= 40 and not _TAG_BREAK.search(name))

    @property
    def body(self) -> str:
        """The sentence, what it is about, what it answers; what makes it too long is left out."""
        parts = [self.sentence]
        room = LONGEST - len(f"{self.title} {self.sentence}".split())
        about = ", ".join(self.about)
        for head, line in (("About", about), ("In answer to", self.answers)):
            room -= len(line.split()) + 3
            if line and room >= 0:
                parts.append(f"{head}: {line}")
        return parts[0] + ("\n\n" + "\n".join(parts[1:]) if len(parts) > 1 else "")


def normal(sentence: str) -> str:
    """A sentence as two that say the same are compared: without its opening, its marks and its capitals."""
    _, plain = opening(sentence)
    return fold(re.sub(r"[^\w\s./@'-]+|[.!?]+(?=\s|\Z)", " ", plain))


def find_sayings(session: Session) -> list[Remark]:
    """What the new turns of a session say that is worth keeping, each sentence once, in their order."""
    remarks: dict[tuple[bool, str], Remark] = {}
    for at, event in enumerate(session.events):
        if at >= session.fresh and event.kind == SAID and not event.by:
            own = _remarks(event, answer_before(session.events[:at]))
            own = [remark for remark in own + _asked_for(event, own) if not remark.bound]
            surest = sorted(own, key=lambda remark: -remark.sure)[:PER_TURN]
            for remark in own:
                if remark in surest:
                    remarks.setdefault((remark.personal, normal(remark.sentence)), remark)
    return list(remarks.values())


def wished(event: Event, answer: Sequence[Event] = ()) -> list[str]:
    """What a person wants of the task at hand, as they say it: decisions that its work should tell."""
    if event.kind != SAID or event.by:
        return []
    return [_CHOSEN.sub("", remark.answers) if remark.chosen and remark.answers else remark.sentence
            for remark in _remarks(event, answer) if remark.bound]


def about(sentence: str) -> tuple[str, ...]:
    """Files, symbols and commands that a sentence names."""
    named = [name for name in names(sentence) if re.search(r"[^\W\d]", name) and len(name) > 1]
    return tuple(named[:4])


# The sentences of a turn

def cut(text: str) -> list[str]:
    """The sentences of what somebody typed: a line ends one, unless it only wrapped."""
    pieces: list[str] = []
    for paragraph in re.split(r"\n\s*\n", without_code(text)):
        block = ""
        for line in paragraph.splitlines():
            if line.lstrip().startswith(">"):
                continue
            wrapped = len(block) - block.rfind("\n") > WRAPPED and line[:1].islower()
            block = f"{block} {line.strip()}" if wrapped else f"{block}\n\n{line.strip()}"
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


def _remarks(event: Event, answer: Sequence[Event]) -> list[Remark]:
    """What the judge finds in one turn."""
    text = own_words(event)
    parts = cut(text) if len(text) <= LONGEST_TURN else []
    remarks: list[Remark] = []
    for at, verdict in _verdicts(parts, answer):
        whole = _ITEM.sub("", _whole(parts, at, verdict, answer), count=1)
        before = remarks[-1] if remarks else None
        if before and whole.startswith(f"{before.sentence} "):
            remarks.pop()  # this one goes on where that one ended
        elif before and whole and _belong_together(before, verdict, whole):
            whole = re.sub(r"(?<=\w)\Z", ";", remarks.pop().sentence) + f" {whole}"
        if whole and not any(likeness(stems(whole), stems(other.sentence)) > ALIKE for other in remarks):
            answers = _quoted(parts, at, verdict) or line_answered(whole, verdict, answer)
            remarks.append(_remark(event, whole, verdict, answers))
    return [remark for remark in remarks if remark.sure >= UNSURE]


def _remark(event: Event, whole: str, verdict: Verdict, answers: str) -> Remark:
    """One thing that was said, with what it leans on."""
    unnamed = (verdict.bare or verdict.leans) and not names(f"{whole} {answers}")
    short = verdict.says in ("correction", "decision") and len(whole.split()) <= SHORT // 2
    holds = any(sign.search(whole) for sign in (CONTRAST, GENERAL, CHOICE))
    vague = short and not holds and not names(f"{whole} {answers}") and not _PROPER.search(whole)
    tag = TAG.search(opening(whole)[1])
    tagged = tag is not None and "ok" not in tag[0]  # "…, ok?" asks for nothing
    return Remark(says=verdict.says, sentence=whole, about=about(whole), answers=answers, key=event.key,
                  sure=round(verdict.sure - UNNAMED * unnamed, 2), personal=verdict.personal, ts=event.ts,
                  chosen=bool(verdict.option), bound=vague or not lasts(whole, verdict, answers, tagged))


def _verdicts(parts: Sequence[str], answer: Sequence[Event]) -> Iterator[tuple[int, Verdict]]:
    """The place of each sentence that is worth keeping, and what it is worth."""
    refused = False
    described = sum(_ITEM.match(part) is not None for part in parts) >= LISTED
    for at, sentence in enumerate(parts):
        refusal, plain = opening(sentence)
        if refusal and not key_words(plain):
            refused = True  # "NO!": what is right comes next
            continue
        verdict = judge(sentence, refused) or (CHOSEN if at == 0 and _is_offered(plain, answer) else None)
        refused = False
        if verdict and (verdict.sure >= PLAIN or not described or not _ITEM.match(sentence)):
            yield at, verdict


def _belong_together(before: Remark, verdict: Verdict, sentence: str) -> bool:
    """Whether two neighbours are so short that neither says much alone: "new dep. is fine", "slower is fine".
    """
    return (before.says == verdict.says and before.personal == verdict.personal
            and len(before.sentence.split()) + len(sentence.split()) <= SHORT)


def _whole(parts: Sequence[str], at: int, verdict: Verdict, answer: Sequence[Event]) -> str:
    """The sentence, with the one before it where it points there; nothing if there is none to point to."""
    sentence = parts[at]
    if verdict.option and not option_line(verdict.option, answer) and not tells(opening(sentence)[1], 6):
        return ""
    if len(sentence.split()) <= CLIPPED:
        sentence = " ".join([sentence, *_rest(parts[at + 1 : at + 3])])
    if not verdict.leans and not verdict.bare:
        return sentence
    before = _before(parts, at, verdict)
    both = f"{before} {sentence}"
    fits = len(both.split()) <= MOST_WORDS and tells(opening(both)[1], FEWEST_WORDS)
    if before and is_own(before) and fits:
        return both
    return sentence if verdict.bare or tells(opening(sentence)[1], 4) else ""


def _before(parts: Sequence[str], at: int, verdict: Verdict) -> str:
    """The nearest of the two sentences before that says something; for one that names nothing, that names
    what it speaks of.
    """
    near = [part for part in reversed(parts[max(0, at - 2) : at]) if len(key_words(part)) > 1]
    named = [part for part in near if names(part) and not is_question(part) and len(part.split()) > CLIPPED]
    return next(iter(near if verdict.leans else named), "")


def _rest(after: Sequence[str]) -> Iterator[str]:
    """The short sentences right after a clipped one that go on with it: "It is in CLAUDE.md. Not you!" """
    for part in after:
        if len(part.split()) > CLIPPED + 2 or not (POINTING.match(part) or _CONTRAST.match(part)):
            return
        yield part


def _quoted(parts: Sequence[str], at: int, verdict: Verdict) -> str:
    """Somebody else's sentence that one answers which names nothing itself."""
    before = _before(parts, at, verdict) if verdict.bare else ""
    return "" if is_own(before) else shorten(before, QUOTED)


def _is_offered(plain: str, answer: Sequence[Event]) -> bool:
    """ "ok, WatchProviders": a bare name that the agent had offered."""
    name = _NAME.match(plain)
    return name is not None and offers(name[1].rstrip("."), answer)


def _asked_for(event: Event, remarks: Sequence[Remark]) -> list[Remark]:
    """What a person asks to remember, reached or learned, in the words that every dialog is read for."""
    asked: list[Remark] = []
    for trigger in find_triggers([Turn(1, "user", "user", own_words(event)[:LONGEST_TURN])]):
        sentence = " ".join(trigger.text.split())
        if any(sentence in remark.sentence or remark.sentence in sentence for remark in remarks):
            continue
        says = TRIGGERS.get(trigger.kind)
        if says is not None and len(sentence.split()) <= MOST_WORDS and tells(sentence, 3):
            verdict = judge(sentence)
            says = says or (verdict.says if verdict else "convention")
            asked.append(Remark(says=says, sentence=sentence, about=about(sentence), sure=0.8, key=event.key,
                                ts=event.ts))
    return asked


# The facts of a session

def own_facts(turns: Sequence[Turn], **reading: Any) -> list[Fact]:
    """What people say of themselves to an agent, in their own words: facts that last and that no memo keeps.

    An agent's narration is nobody's fact, what was pasted neither, and what happened in the session is told
    by its works.
    """
    own = [turn._replace(text=_unkept(turn.text)) for turn in turns if turn.role == "user"]
    return [fact for fact in extract(own, **reading) if fact.type in LASTING and _has_object(fact)]


def _has_object(fact: Fact) -> bool:
    """Whether a fact says something that lasts: what somebody asks an agent for is of the moment."""
    if fact.relation.casefold().startswith(WISHED):
        return False
    return not fact.object or any(word not in EMPTY for word in key_words(fact.object))


def _unkept(text: str) -> str:
    """The person's own sentences that become no memo."""
    words = "\n\n".join(part.text for part in split_parts(text) if not part.pasted)
    return "\n\n".join(sentence for sentence in cut(words[:LONGEST_TURN]) if judge(sentence) is None)
