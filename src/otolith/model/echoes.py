"""What comes back: text that was put before an agent and is then pasted, or told again by the agent.

It is no evidence of anything. A line is known by its hash; a sentence of the person's by standing word for
word in a record that was delivered; one of the agent's by sharing most of its words with one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import NamedTuple

from otolith.model.events import ANSWERED, SAID, Event, Part, Session
from otolith.model.text import sentences
from otolith.model.words import stems

ECHO = "echo"  # how a part is marked that only says again what was delivered
FEWEST_WORDS = 3  # of a line; shorter ones prove nothing
RETOLD = 0.8  # of the words of an agent's sentence
_EDGE = re.compile(r"^[\s>*•·#-]+|[\s.…]+$")
_SOURCE = re.compile(r"\s*\([^()]{0,80}\)$")  # the day and id with which a line was told


class Echoes(NamedTuple):
    """What a session was told: hashes of lines, and the words of the records."""

    lines: frozenset[str] = frozenset()
    texts: tuple[str, ...] = ()  # as `plain` writes them
    words: tuple[frozenset[str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lines or self.texts)


def plain(line: str) -> str:
    """A line without marks of a list or a quote, in small letters."""
    return " ".join(_EDGE.sub("", _EDGE.sub("", line)).casefold().split())


def digest(line: str) -> str:
    return sha256(plain(line).encode("utf-8", "replace")).hexdigest()[:8]


def digests(text: str) -> list[str]:
    """The hashes of a text's lines, each also without the source that it names."""
    lines = [line for line in text.splitlines() if len(plain(line).split()) >= FEWEST_WORDS]
    return list(dict.fromkeys(digest(form) for line in lines for form in (line, _SOURCE.sub("", line))))


def echoes(lines: Iterable[str], texts: Iterable[str]) -> Echoes:
    texts = [text for text in texts if text.strip()]
    return Echoes(frozenset(lines), tuple(map(plain, texts)), tuple(frozenset(stems(text)) for text in texts))


def comes_back(line: str, past: Echoes) -> bool:
    """Whether a line that a person sent was delivered before."""
    words = plain(line)
    if len(words.split()) < FEWEST_WORDS:
        return False
    return not past.lines.isdisjoint((digest(line), digest(_SOURCE.sub("", line)))) or any(
        words in text for text in past.texts)


def retells(sentence: str, past: Echoes) -> bool:
    """Whether a sentence of an agent only says what was delivered."""
    words = set(stems(sentence))
    return comes_back(sentence, past) or (len(words) >= FEWEST_WORDS and any(
        len(words & text) >= RETOLD * len(words) for text in past.words))


def without_echoes(session: Session, past: Echoes) -> Session:
    """The session as evidence: what came back is marked among the person's parts, and is gone from the
    agent's words.
    """
    if not past:
        return session
    return session._replace(events=tuple(_heard(event, past) for event in session.events))


def _heard(event: Event, past: Echoes) -> Event:
    if event.kind == SAID:
        parts = tuple(piece for part in event.parts for piece in _split(part, past))
        own = "\n".join(part.text for part in parts if part.pasted != ECHO)
        return event if parts == event.parts else event._replace(parts=parts, text=own)
    if event.kind == ANSWERED and any(retells(sentence, past) for sentence in sentences(event.text)):
        kept = [sentence for sentence in sentences(event.text) if not retells(sentence, past)]
        return event._replace(text="\n".join(kept))
    return event


def _split(part: Part, past: Echoes) -> list[Part]:
    pieces: list[Part] = []
    for line in part.text.split("\n"):
        kept = [sentence for sentence in sentences(line) if not comes_back(sentence, past)]
        form = ECHO if comes_back(line, past) or (line.strip() and not kept) else part.pasted
        text = line if form == ECHO or len(kept) == len(sentences(line)) else " ".join(kept)
        if pieces and (pieces[-1].pasted == form or not line.strip()):
            pieces[-1] = Part(f"{pieces[-1].text}\n{text}", pieces[-1].pasted)
        else:
            pieces.append(Part(text, form))
    return pieces
