"""What is worth telling without being asked: the prompt of an agent's user, met by what is known.

The ranking is that of `recall`; what differs is the gate. A prompt is mostly no question, and most prompts
want nothing from memory, so a record is told only if it stands out: near in meaning, nearer than the others
are, with the prompt's words in its title and its text. The weights of these signs are fitted by
bench/unasked.py on prompts of several projects, each project judged by weights from the others. Of two
records that say much the same the newer is told; of a question the answer it got.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from itertools import pairwise
from typing import Any

from otolith.home import Home
from otolith.index.around import Passage
from otolith.model.kinds import KINDS
from otolith.model.recall import Filter
from otolith.model.shape import Value
from otolith.model.text import unfence
from otolith.model.words import STOP, likeness, stems, word_set
from otolith.recall.beside import asked as of_others
from otolith.recall.fold import Weighed
from otolith.recall.question import MOST_WORDS, look_up
from otolith.recall.search import Candidates, find

LOOKED_AT = 10
BESIDE = 5  # others that a candidate has to stand out from
SHORT = 4  # content words below which a prompt is read together with the one before it
SPECIFIC = 2  # words besides those that only steer, without which nothing is told
MUCH_THE_SAME = 0.25  # share of words in common from which on the older of two is left out
THE_SAME = 0.5  # the same for a turn of a dialog, which has other words around what it says
WITHIN = 0.8  # share of a turn's words that a record has, from which on that is told instead
BY_WORDS = 0.5  # without vectors: the share of the prompt that a record has to cover
WEIGHTS = {"like": 1.1, "ahead": 6.5, "title": 2.5, "length": 3.1, "cover": 3.0}
THRESHOLD = 6.4
# What people say to keep an agent going; alone it asks nothing of memory.
STEERING = word_set("""
ok okay yes yeah yep no nope go on continue proceed next again run rerun retry try test tests commit push
pull merge rebase build rebuild lint format fix undo revert stop wait start restart show check open close save
deploy thanks thank good nice great perfect cool looks look done now then please sure right exactly first
second both all it that this add remove delete rename update change changes make write file files code line
lines""")
_BESIDE = re.compile(r"\n\s*(?:About|In answer to|Reason): .*", re.DOTALL)  # a memo's own lines
_NAMES = re.compile(r"[`/_]|\d|\w\.\w")  # code, a path, a number: what an answer is made of
_POINTS = re.compile(r"\b(?:it|its|that|this|these|those|they|them|there|he|she|him|her|same|again)\b", re.I)
_TELLS = re.compile(r"error|exception|fail(?:ed|ure|s)?\b|fatal|panic|denied|refused|cannot|could not|"
                    r"not found|timed? ?out|traceback|warning", re.IGNORECASE)
_MACHINE = re.compile(
    r"^(?:\s+(?:at|File|in|from)\b|\s{4,}\S|[-=+*#|>]{3,}|\[?\d{4}-\d\d-\d\d[T ]|\[?\d\d:\d\d:\d\d|[$%❯➜]\s|"
    r"\w+Error\b|Traceback\b|(?:error|warn(?:ing)?|fatal|info|debug)\b)")


class Offer(Value):
    """A record that may be told, by the passage that says it, and how sure that is."""

    id: str
    kind: str
    title: str
    created: float
    text: str
    unit: str
    sure: float


def tell(home: Home, prompt: str, *, before: str = "", given: Collection[str] = (), limit: int = 3,
         providers: Any = None) -> list[Offer]:
    """What is worth telling about a prompt in this project and session, surest first; usually nothing.

    What was given before is not told again, but to somebody who comes back to what they asked just before.
    """
    asked = worth_asking(prompt, before)
    if not asked:
        return []
    chosen = Filter(unasked=(home.config.project, home.session))
    candidates = find(home, asked, chosen, LOOKED_AT, providers)
    if home.touch([candidate.passage.unit for candidate in candidates.best[:LOOKED_AT]]):
        candidates = find(home, asked, chosen, LOOKED_AT, providers)
    offers = choose(home, candidates, LOOKED_AT)
    for name, more in of_others(home, lambda other: choose(
            other, find(other, asked, chosen, LOOKED_AT, providers), LOOKED_AT)):
        offers = sorted([*offers, *(offer.replace(id=f"{name}:{offer.id}") for offer in more)],
                        key=lambda offer: -offer.sure)
    again = asked != readable(prompt)
    return [offer for offer in offers if again or offer.id not in given][:limit]


def worth_asking(prompt: str, before: str = "") -> str:
    """What of a prompt to ask memory about; nothing if it only steers the agent."""
    text = readable(prompt)
    words = _content(text)
    if not words - STEERING:
        return ""
    if len(words) < SHORT and before.strip() and (len(words - STEERING) < SPECIFIC or _POINTS.search(text)):
        text = f"{readable(before)}\n{text}"
    return text if len(_content(text) - STEERING) >= SPECIFIC else ""


def readable(prompt: str) -> str:
    """A person's own lines; of what they pasted only the lines that tell what went wrong."""
    lines = unfence(prompt).replace("```", "\n").splitlines()
    return "\n".join(line.strip() for line in lines
                     if not _MACHINE.match(line) or _TELLS.search(line)).strip()


def _content(text: str) -> set[str]:
    return {word for word in look_up(text) if word not in STOP}


def choose(home: Home, candidates: Candidates, limit: int, *, gated: bool = True) -> list[Offer]:
    """Those of the candidates that pass the gate, without what says much the same as a newer one."""
    fit = [candidate for candidate in candidates.best[:LOOKED_AT] if not candidate.superseded_by
           and not candidate.passage.sunk and not candidate.echo]
    likes = sorted((candidate.likeness for candidate in fit), reverse=True)
    offers: list[Offer] = []
    for candidate in fit:
        sure = sureness(signs(candidate, candidates, likes)) if any(likes) else candidate.covered - BY_WORDS
        passage: Passage | None = candidate.passage
        if candidate.passage.asks:
            passage = _answer(home, candidate.passage, candidates)
        if passage is not None:
            drawn = passage.text.partition("\n")[2] if KINDS[passage.kind].drawn else ""
            offers.append(Offer(id=passage.id, kind=passage.kind, title=passage.title, unit=passage.unit,
                                created=passage.said, text=drawn or _BESIDE.sub("", passage.text), sure=sure))
    return [offer for offer in newest(offers) if not gated or offer.sure >= 0][:limit]


def signs(candidate: Weighed, candidates: Candidates, likes: list[float]) -> dict[str, float]:
    """What speaks for telling a candidate; `likes` are those of all, the nearest first."""
    words = min(len(candidates.question.words), MOST_WORDS)
    others = likes[: BESIDE + 1]
    beside = (sum(others) - (candidate.likeness if candidate.likeness >= others[-1] else others[-1])) / (
        len(others) - 1 or 1)
    title = candidates.weights.of("title", 2)
    return {"like": candidate.likeness, "ahead": candidate.likeness - beside, "length": words / MOST_WORDS,
            "title": candidate.parts.get("title", 0.0) / title * math.sqrt(words) if title else 0.0,
            "cover": candidate.covered * math.sqrt(words)}


def sureness(of: dict[str, float]) -> float:
    """From 0 on it is told."""
    return sum(WEIGHTS[name] * sign for name, sign in of.items()) - THRESHOLD


def _answer(home: Home, asking: Passage, candidates: Candidates) -> Passage | None:
    """What followed a turn that asks."""
    turns = home.index.around.beside(asking, 1)
    after = next((later for earlier, later in pairwise(turns) if earlier.n == asking.n), None)
    return after if after and not after.asks and candidates.passes(after.n) and _says_something(
        after.text, asking.text) else None


def _says_something(answer: str, question: str) -> bool:
    """Does an answer speak of what was asked, or name anything? "Let me look first" does not."""
    return bool(stems(answer) & stems(question) or _NAMES.search(answer))


def newest(offers: list[Offer]) -> list[Offer]:
    """Surest first: of two records that say much the same the newer, in the place of the surer one; of a
    dialog one turn, if no record says it. A work has its own history.
    """
    kept: list[tuple[frozenset[str], Offer]] = []
    for offer in sorted(offers, key=lambda offer: (_is_turn(offer), -offer.created, -offer.sure)):
        about = stems(f"{offer.title} {offer.text}")
        for at, (words, other) in enumerate(kept):
            if _is_turn(offer) and not _is_turn(other) and _within(offer, words):
                kept[at] = (words, other.replace(sure=max(offer.sure, other.sure)))
                break
            if _says(offer, other, likeness(about, words)):
                if not _is_turn(offer) or _is_turn(other):
                    best = offer if _is_turn(offer) and offer.sure > other.sure else other
                    kept[at] = (words, best.replace(sure=max(offer.sure, other.sure)))
                break
        else:
            kept.append((about, offer))
    return sorted((offer for _, offer in kept), key=lambda offer: -offer.sure)


def _within(turn: Offer, words: frozenset[str]) -> bool:
    spoken = stems(turn.text.partition(": ")[2] or turn.text)
    return bool(spoken) and len(spoken & words) >= WITHIN * len(spoken)


def _is_turn(offer: Offer) -> bool:
    return KINDS[offer.kind].around == "turns"


def _says(offer: Offer, other: Offer, alike: float) -> bool:
    """Does another, which is newer or no turn, say what this one says?"""
    if _is_turn(offer):
        return offer.unit == other.unit or alike >= THE_SAME
    return other.text == offer.text or (alike >= MUCH_THE_SAME and not KINDS[offer.kind].layers)
