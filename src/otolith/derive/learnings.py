"""What an agent learned and says plainly: a cause that it found, a fix that held, a milestone it checked.

Only statements of outcome count, never plans or narration, and only with substance: something named exactly,
and for a learning its cause. At most two a session, with the agent's own trust; a sentence that repeats what
a tool printed is somebody else's word. Never a rule, a preference or a decision: these are people's. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from otolith.derive import shell
from otolith.derive.answers import QUOTED
from otolith.derive.cues import phrase
from otolith.derive.judge import codes, names
from otolith.derive.requests import is_request
from otolith.derive.sayings import Remark, about
from otolith.model.events import ANSWERED, CALLED, SAID, Event, Session, own_words
from otolith.model.text import sentences, shorten, without_code
from otolith.model.words import is_question, is_supposed, likeness, stems, words

MOST = 2  # a session
SHARED = 8  # words in a row that make a sentence a tool's
LONGEST = 45  # words
ALIKE = 0.3  # two that share more say the same
LONGEST_ANSWER = 20_000
_LEARNED = phrase(
    r"""\b(?:the\s)?(?:actual\s|real\s|root\s|underlying\s)?(?:root\s)?cause\s(?:was|is|of)\b
      | \b(?:was|is|were|are)\s(?:actually\s)?(?:caused|triggered)\sby\b | \bturn(?:s|ed)\sout\b
      | \b(?:the\s)?(?:problem|issue|bug|failure|error|culprit|reason)\s(?:was|is)\s(?:that\s)?(?!fixed
          |resolved|solved|gone)
      | \b(?:fix(?:ed)?|solved|resolved)\s(?:it\s|this\s|that\s|the\s[\w\s]{1,30})?by\s
          | \bthe\sfix\s(?:was|is)\b
      | \blesson\slearned\b | \bbecause\b.*\b(?:ignores?|expects?|requires?|returns?|never|always|only
          |doesn't|does\snot)\b
      | \b(?:ignores?|expects?|silently|always\sreturn(?:s|ed)|never\scalls?)\b""")
_CAUSE = phrase(r"""\b(?:root\scause|caused\sby|because|turn(?:s|ed)\sout|fixed\sby|the\sfix|but
    |(?:issue|problem|bug)\swas)\b""")
_REACHED = phrase(
    r"""\ball\s(?:\d+\s|the\s|of\sthe\s)*(?:\w+\s)?tests?\s(?:now\s)?pass(?:es|ed)?\b
          | \btests?\s(?:now\s)?(?:all\s)?pass\b
      | \b(?:is|are)\s(?:now\s)?(?:complete|implemented|shipped|released|deployed|merged)\sand\s(?:verified
          |tested|passing)
      """)
_PLANNED = phrase(
    r"""^\W*(?:let\sme|let's|i'll|i\swill|i\sneed|i\sthink|i\sshould|now\b|next\b|first\b|should\si|shall
          |want\sme|would\syou
      |to\s(?:fix|verify|check)|if\b|you\s(?:can|could|should|may)|consider|option|please)
      | \b(?:might|maybe|perhaps|probably|possibly|could\sbe|would\sbe|i\ssuspect|hypothesis|let\sme|i'll
          |going\sto|not\ssure
      |likely)\b""")
_SEEN = phrase(r"^i\s(?:can\s)?(?:now\s)?(?:see|found)\sthe\s(?:issue|problem|bug|cause)\s*[-—–:]+\s*")
_BARE = phrase(r"the\s(?:issue|problem|bug|error|failure|cause|fix|reason)\s(?:was|is)\b")
_REPORT = phrase(r"""^(?:summary\W+)?(?:removed|added|changed|updated|renamed|moved|replaced|deleted)\b""")
_PICTURE = re.compile("[\U0001f300-\U0001faff☀-➿]|^\\(\\d")  # a line of a report
_MARKS = re.compile(r"\*\*|^\s*(?:[-*•]|\d{1,2}[.)])\s+|^#+\s*")


def find_learnings(session: Session) -> list[Remark]:
    """What the agent states as learned or reached in the new events, the best first, at most two."""
    printed = _runs(event.call.result for event in session.events if event.call and event.call.result)
    learnings: dict[str, tuple[float, int, Remark]] = {}
    for at, event in enumerate(session.events):
        fresh = event.kind == ANSWERED and not event.by and at >= session.fresh
        if fresh and not _proved_wrong(session.events[at:]):
            for worth, remark in _learned(event, session.events[:at], session.events[at + 1 :], printed):
                learnings.setdefault(remark.sentence.casefold(), (worth, at, remark))
    best: list[tuple[float, int, Remark]] = []
    for item in sorted(learnings.values(), key=lambda item: (-item[0], -item[1])):
        own = stems(item[2].sentence)
        if all(likeness(own, stems(other.sentence)) < ALIKE for *_, other in best):
            best.append(item)
    return [remark for *_, remark in sorted(best[:MOST], key=lambda item: item[1])]


def _learned(event: Event, before: Sequence[Event], after: Sequence[Event],
             printed: set[tuple[str, ...]]) -> Iterator[tuple[float, Remark]]:
    """What one answer states as learned or reached, and how much that is worth."""
    failed = _failed_before(before)
    for sentence in _stated(event.text):
        kind, worth = _read(sentence, failed)
        if kind:
            outside = not printed.isdisjoint(_runs([sentence]))
            leans = _BARE.match(sentence) is not None
            if leans and after and after[0].kind == CALLED:
                continue  # a guess on the way: what comes next may show another one
            yield worth - outside, Remark(
                says=kind, sentence=sentence, about=about(sentence), sure=0.7, key=event.key, ts=event.ts,
                answers=_spoken_of(before) if leans or kind == "milestone" else "",
                trust="outside" if outside else "agent")


def _stated(text: str) -> list[str]:
    """The sentences of an answer that are prose: no code, no table, no heading, no question."""
    lines = [line for line in without_code(text[-LONGEST_ANSWER:]).splitlines()
             if not line.lstrip().startswith(("|", "#", ">", "```"))]
    plain = (_SEEN.sub("", " ".join(_MARKS.sub("", piece).split())) for piece in sentences("\n".join(lines)))
    return [sentence for sentence in plain if not is_question(sentence) and not sentence.endswith(":")
            and 4 <= len(sentence.split()) <= LONGEST]


def _read(sentence: str, failed: bool) -> tuple[str, float]:
    """What a sentence states, and how much it is worth: a cause with names in it is worth most."""
    named = len(names(sentence))
    if not codes(sentence) or _PLANNED.search(sentence) or is_supposed(sentence) or _PICTURE.search(sentence):
        return "", 0.0
    if _LEARNED.search(sentence):
        if not named or not _CAUSE.search(sentence):
            return "", 0.0
        named -= 2 * sentence.startswith("I ")
        return "learning", min(named, 4) + 2.0
    return ("milestone", min(named, 2)) if failed and _REACHED.match(sentence) else ("", 0.0)


def _proved_wrong(after: Sequence[Event]) -> bool:
    """Whether a command still failed after it was said, before the person spoke again."""
    for event in after:
        if event.kind == SAID and not event.by:
            return False
        if event.call and event.call.command and event.call.ok is False:
            return True
    return False


def _failed_before(events: Sequence[Event]) -> bool:
    """Whether a run failed earlier and the last one did not."""
    runs = [event.call.ok for event in events if event.kind == CALLED and event.call and event.call.command]
    return False in runs and bool(runs and runs[-1])


def _spoken_of(events: Sequence[Event]) -> str:
    """What "the issue" is: the last command that failed since the person spoke, else what they said."""
    for event in reversed(events):
        if event.call and event.call.ok is False and event.call.command:
            error = shell.tell_error(event.call.result)
            command = shorten(shell.bare(event.call.command), QUOTED // 2)
            return shorten(f"`{command}` failed: {error}".rstrip(" :"), QUOTED)
        if event.kind == SAID and not event.by:
            return shorten(own_words(event), QUOTED) if is_request(own_words(event)) else ""
    return ""


def _runs(texts: Iterable[str]) -> set[tuple[str, ...]]:
    """Every eight words in a row of these texts."""
    runs: set[tuple[str, ...]] = set()
    for text in texts:
        spoken = words(text)
        runs.update(tuple(spoken[at : at + SHARED]) for at in range(len(spoken) - SHARED + 1))
    return runs
