"""What stands before what, and what is told once: the rules of delivery over weighed candidates.

The record that says it comes first. What only repeats it or points to it (a topic, the global memory, a
chapter, wisdom, an edge) is folded under it or comes after it. A fact is not told beside its turn. Near-equal
questions are told once. What was replaced never stands before what replaced it: `sink` is the one place of
that rule, and `Replaced` is all it needs to know. The rules take values and return values; what they ask of
the index comes in as arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from otolith.index.around import Passage
from otolith.model.kinds import KINDS
from otolith.model.retold import retells, root
from otolith.model.words import STOP, WORD, stem

SUNK = -8.0
STANDS = ("later", "recent", "standing", "importance", "pinned")  # age, use, and what people think of it
# The share of what an aggregate covers of the question that a record has to cover, too. What is built from
# records alone says nothing that they do not say, and its own words are headings.
SAYS_AS_MUCH, SAYS_IT_TOO = 0.75, 0.35
SAME_MATTER = 2.0  # how far a question may be ahead of its answer for both to be about the same
RETOLD, NEARLY = 10, 0.4  # hits among which the newer comes first, and how near to the older it must be
NEAR_EQUAL = 0.8  # the share of words that two questions have in common


class Weighed:
    """A passage that may be delivered, and why."""

    def __init__(self, passage: Passage, parts: dict[str, float] | None = None) -> None:
        self.passage, self.parts = passage, parts or {}
        self.reasons: Callable[[], list[str]] = list  # why it was found, told when somebody asks
        self.covered = self.likeness = 0.0
        self.how: str | None = None
        self.superseded_by: str | None = None
        self.outdated_by: str | None = None  # another record that says the newer thing
        self.also: list[str] = []  # what else tells it
        self.beside: tuple[int, int] | None = None  # the turns before and after it, 0 for none; None: unknown
        self.context: list[tuple[Passage, int]] = []  # what comes with it in any case, and its tokens

    @cached_property
    def why(self) -> list[str]:
        return self.reasons()

    @property
    def score(self) -> float:
        return sum(self.parts.values())

    @property
    def evidence(self) -> float:
        """The score without what makes a record come early and says nothing of whether it answers."""
        return self.score - sum(self.parts.get(name, 0.0) for name in STANDS)

    @property
    def key(self) -> int:
        """What may be delivered once: a turn of an entry, any other record as a whole."""
        return -self.passage.n if KINDS[self.passage.kind].around == "turns" else self.passage.record

    @property
    def spoken(self) -> bool:
        """Was it said in a dialog, or drawn from what was, by somebody who is no agent?"""
        stated = self.passage.is_turn or KINDS[self.passage.kind].drawn
        return stated and self.passage.speaker != "assistant"

    @property
    def echo(self) -> bool:
        """Does it mostly repeat other records?"""
        return KINDS[self.passage.kind].echo


class Replaced(NamedTuple):
    """What took a candidate's place: a record, or one passage of it where only that says the newer thing."""

    id: str
    passage: int | None = None


def once(best: Iterable[Weighed]) -> list[Weighed]:
    """Several turns of an entry, but any other record once, by its best passage."""
    kept: dict[int, Weighed] = {}
    for candidate in best:
        before = kept.get(candidate.key)
        if before is None or candidate.score > before.score:
            kept[candidate.key] = candidate
    return list(kept.values())


def by_id(best: Iterable[Weighed]) -> dict[str, Weighed]:
    """Record → its candidate, the worst first; of an entry's turns the best."""
    return {candidate.passage.id: candidate for candidate in sorted(best,
                                                                    key=lambda candidate: candidate.score)}


def fold_copies(best: list[Weighed], asked_for: Collection[str]) -> list[Weighed]:
    """Leave out facts that only repeat their turn; not a person's word, nor a kind that was asked for."""
    turns: dict[str, list[str]] = {}
    for candidate in best:
        if KINDS[candidate.passage.kind].around == "turns":
            turns.setdefault(candidate.passage.unit, []).append(candidate.passage.text)

    def repeats(about: Passage) -> bool:
        drawn = KINDS[about.kind].drawn and about.kind not in asked_for
        if not drawn or about.pinned or about.importance != 0.5:
            return False
        sentence = about.text.partition("\n")[2].strip()
        return bool(sentence) and any(sentence in text
                                      for text in turns.get(about.unit.removesuffix("/summary.json"), ()))

    return [candidate for candidate in best if not repeats(candidate.passage)]


def fold_echoes(best: list[Weighed], wholes: Mapping[str, Collection[str]], asked_for: Collection[str],
                threshold: float) -> list[Weighed]:
    """Put aggregates under the record that says it, or after it; what only they say stays where it is.

    `wholes` says of a record which aggregates are made from it. A record says it if it covers about as much
    of the question; beside what is built from records alone it is enough that it answers by itself.
    """
    records = sorted((candidate for candidate in best if not candidate.echo and not candidate.superseded_by
                      and not candidate.passage.sunk), key=lambda candidate: -candidate.score)
    kept = []
    for candidate in best:
        about = candidate.passage
        if not candidate.echo or candidate.how or about.kind in asked_for:
            kept.append(candidate)
            continue
        built = KINDS[about.kind].built
        least = max((SAYS_IT_TOO if built else SAYS_AS_MUCH) * candidate.covered, 1e-9)
        saying = [record for record in records if record.covered >= least
                  or (built and record.evidence >= threshold)]
        part = next((record for record in saying if _is_part(record, about, wholes)), None)
        if part is not None:
            part.also.append(f"{about.kind} {about.title}")
            continue
        if saying and candidate.score >= saying[0].score:
            candidate.parts["echo"] = (candidate.parts.get("echo", 0.0)
                                       - (candidate.score - saying[0].score + 0.01))
        kept.append(candidate)
    return kept


def _is_part(record: Weighed, whole: Passage, wholes: Mapping[str, Collection[str]]) -> bool:
    """Is an aggregate made from this record?"""
    kind = KINDS[whole.kind]
    if kind.members:
        return whole.id in wholes.get(record.passage.id, ())
    return kind.built and (whole.topic is None or record.passage.topic == whole.topic)


def put_answers_first(best: Sequence[Weighed]) -> None:
    """Let a turn that asks stand below the statement that follows it, if that is about the same."""
    by_passage = {candidate.passage.n: candidate for candidate in best}
    for candidate in best:
        if not candidate.passage.asks:
            continue
        answer = by_passage.get(candidate.beside[1] if candidate.beside else 0)
        ahead = candidate.score - answer.score if answer and not answer.passage.asks else -1.0
        if 0 <= ahead <= SAME_MATTER:
            candidate.parts["asking"] = candidate.parts.get("asking", 0.0) - ahead - 0.01


def put_news_first(best: Sequence[Weighed], asked: Iterable[str]) -> None:
    """Let what was told anew stand above what it was told of before."""
    asked = frozenset(map(root, asked))
    first = sorted((candidate for candidate in best if candidate.spoken and candidate.score > 0),
                   key=lambda candidate: -candidate.score)[:RETOLD]
    latest = sorted(first, key=lambda candidate: -candidate.passage.said)
    for older in latest:
        for newer in latest:
            if newer.passage.said <= older.passage.said:
                break
            ahead = older.score - newer.score
            same = newer.passage.speaker in (None, older.passage.speaker) or older.passage.speaker is None
            if same and "outdated" not in newer.parts and ahead >= 0 and newer.score >= NEARLY * older.score \
                    and retells(newer.passage.text, older.passage.text, asked):
                newer.parts["retold"] = newer.parts.get("retold", 0.0) + ahead + 0.01
                newer.why.append(f"says anew what {older.passage.id} says")
                break


def repeats_question(candidate: Weighed, asked: list[frozenset[str]]) -> bool:
    """Does a turn ask what one before it asked, in nearly the same words? If not, it is told now."""
    if not candidate.passage.asks:
        return False
    spoken = candidate.passage.text.removeprefix(f"{candidate.passage.speaker}: ")
    words = frozenset(stem(word) for match in WORD.finditer(spoken) if (word := match[0].lower()) not in STOP)
    if any(len(words & other) >= NEAR_EQUAL * len(words | other) for other in asked):
        return True
    asked.append(words)
    return False


def sink(best: list[Weighed], replaced: Mapping[int, Replaced], newer_of: Mapping[str, Weighed],
         sank: Collection[int]) -> list[Weighed]:
    """Replaced, deprecated and rejected candidates go down, below what replaced them.

    `replaced` and `sank` are by passage number; `newer_of` has the candidate of each record that replaces
    one.
    """
    by_passage = {candidate.passage.n: candidate for candidate in best}

    def newer(candidate: Weighed) -> Weighed | None:
        by = replaced.get(candidate.passage.n)
        return None if by is None else by_passage.get(by.passage or 0) or newer_of.get(by.id)

    for candidate in best:
        by = replaced.get(candidate.passage.n)
        if by is None:
            continue
        candidate.superseded_by = by.id
        if (takes_place := newer(candidate)) is not None and takes_place.score < 0.9 * candidate.score:
            takes_place.parts["replaces"] = (takes_place.parts.get("replaces", 0.0)
                                             + 0.9 * candidate.score - takes_place.score)
            takes_place.why.append(f"replaces {candidate.passage.id}")
    kept = []
    for candidate in best:
        if candidate.passage.n in sank or candidate.superseded_by:
            if KINDS[candidate.passage.kind].forget == "score" and not candidate.superseded_by \
                    and candidate.how != "id":
                continue  # a person said: never show it
            candidate.parts["sunk"] = SUNK
            candidate.why.append(f"superseded by {candidate.superseded_by}" if candidate.superseded_by
                                 else "deprecated or rejected")
        kept.append(candidate)
    for candidate in sorted(kept, key=lambda candidate: -candidate.passage.created):  # a chain sinks in order
        takes_place = newer(candidate)
        if takes_place is not None and candidate.score >= takes_place.score:
            candidate.parts["sunk"] -= candidate.score - takes_place.score + 0.01
    return kept


def about_somebody_else(best: Sequence[Weighed], names: frozenset[str], margin: float) -> bool:
    """Do others say it better than the person whom the question names, their being named left aside?"""
    if not names:
        return False
    named: list[float] = []
    others: list[float] = []
    for candidate in best:
        if (speaker := candidate.passage.speaker) is not None:
            (others if names.isdisjoint(speaker.casefold().split()) else named).append(
                candidate.score - candidate.parts.get("speaker", 0.0))
    return bool(others) and max(named, default=0.0) - max(others) < -margin
