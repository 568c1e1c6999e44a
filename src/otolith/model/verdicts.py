"""Which newer claim closes an older one.

`verdict` compares two claims, the newer first; `settle` finds for each claim of a cell the first later one
that closes it. Order is strict: nothing can close itself or run in a circle. What is unsure closes nothing
and is contested. Pure: knows no words of a language, no record, no file and no index.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from otolith.model.attributes import DATE, SPEAKER
from otolith.model.claims import (
    ANY,
    ASKED,
    DONE,
    GONE,
    LEFT,
    NEWS,
    OFF,
    PLAN,
    RETRACT,
    Claim,
)

LASTING = ("like", "be", "speak", "know", "home", "employer", "role", "origin", "name", "owner", "where")
LEAVABLE = ("employer", "team", "role", "school", "have", "use", "go", "be")  # what one can leave
class Stated(NamedTuple):
    """A claim with its place in the order of things said; `n` names its row."""

    n: int
    mark: str
    trust: int  # a place in model.record.TRUST: the smaller the more trusted
    claim: Claim
    record: str = ""
    scope: str = ""
    replaces: tuple[str, ...] = ()  # claims that it is proposed to close

    @property
    def id(self) -> str:
        return self.claim.id_in(self.scope)

    @property
    def may_end(self) -> bool:
        """Whether it may close what can have many values."""
        claim = self.claim
        return not claim.holds or bool(self.replaces) or (claim.corrects and not claim.single)


CLOSES, CONTESTS = "closes", "contests"


def verdict(newer: Stated, older: Stated) -> str:
    """Whether the newer of two claims of a cell closes the older, contests it, or lets it be."""
    if (newer.mark, newer.n) <= (older.mark, older.n) or newer.record == older.record:
        return ""
    proposed = bool(newer.replaces) and older.id in newer.replaces and may_replace(newer, older)
    if not proposed and not _opposes(newer.claim, older.claim):
        return ""
    return CLOSES if newer.trust <= older.trust else CONTESTS


def may_replace(newer: Stated, older: Stated) -> bool:
    """Whether a proposal is about what an older claim is about: same scope, subject and attribute.

    Whether it then closes that claim or only contests it, trust decides, as for every other claim.
    """
    new, old = newer.claim, older.claim
    return (newer.scope, new.environment, new.holder, new.subject, new.attribute) == (
        older.scope, old.environment, old.holder, old.subject, old.attribute) and new != old


@lru_cache(maxsize=8192)  # the same is said again and again
def _opposes(new: Claim, old: Claim) -> bool:
    """Whether two claims of different times cannot both hold, so that the newer tells what became of the
    older.
    """
    if new.weak or old.is_deed:
        return False
    if new.environment != old.environment and new.attribute != RETRACT:
        return False  # staging is not production, and who names neither means neither
    if new.attribute == RETRACT:
        return new.holder in (old.holder, SPEAKER) and old.attribute != RETRACT and _covers(new, old)
    if ASKED in (new.attribute, old.attribute):
        return False
    if not new.holds:
        return old.holds and _ends(new, old)
    if not old.holds:
        return new.attribute == old.attribute and new.holder == old.holder and _alike(new, old)
    return _replaces(new, old)


def _replaces(new: Claim, old: Claim) -> bool:
    """Whether something has another value now that it can have but one of."""
    if old.attribute == PLAN:
        return _replans(new, old)
    if not (new.single or old.single):
        return _varies(new, old)
    akin = new.corrects and new.subject == old.subject != "" and (
        (new.in_family and old.in_family) or (new.by_somebody and old.by_somebody))
    if not (new.attribute == old.attribute or akin) or not (new.single and old.single):
        return False
    part = new.corrects and set(new.subject.split()) < set(old.subject.split())
    if new.subject not in (old.subject, "") and not part:
        return False
    return bool(new.value) and not (new.words <= old.words or old.words <= new.words)


def _varies(new: Claim, old: Claim) -> bool:
    """Whether it is said of the same kind of thing, now another: "I sing in the jazz choir now"."""
    ours, theirs = new.value.split(), old.value.split()
    alike = (new.attribute, new.holder) == (old.attribute, old.holder)
    if not new.corrects or new.attribute in _BESIDE or not alike:
        return False
    return min(len(ours), len(theirs)) > 1 and ours[-1] == theirs[-1] and not (
        set(ours[:-1]) & set(theirs[:-1]))


_BESIDE = ("have", "own", "like", "be", "use", "speak", "know", "support")  # what one has many of


def _replans(new: Claim, old: Claim) -> bool:
    """Whether something else is planned or done now instead: "studies maths in Delft instead"."""
    verb = new.subject if new.attribute == PLAN else new.attribute.split(" ")[0]
    return new.corrects and new.holder == old.holder and verb == old.subject and not _alike(
        new, old) and bool(new.words & old.words)


def _ends(new: Claim, old: Claim) -> bool:
    """Whether what is said to be over is what an older claim says holds."""
    if new.attribute == NEWS:
        return _gives_another(new, old)
    if new.is_deed or new.attribute in (DONE, OFF):
        return _ends_plan(new, old)
    if not _same_holder(new, old):
        return False
    if PLAN in (new.attribute, old.attribute) and new.attribute not in (ANY, GONE, LEFT):
        return new.attribute == old.attribute and new.subject == old.subject and _alike(new, old)
    if new.attribute == GONE:
        return new.words <= set(old.holder.split()) or (_alike(new, old)
                                                        and not old.attribute.startswith(("be ", "like")))
    if new.attribute == LEFT:
        return old.attribute in LEAVABLE and _alike(new, old)
    return _ends_attribute(new, old)


def _ends_attribute(new: Claim, old: Claim) -> bool:
    """Whether what is over is the same attribute, or whatever has that value."""
    if new.attribute == ANY and old.holder == SPEAKER and set() < new.words <= set(old.subject.split()):
        return True
    same = (ANY, old.attribute, old.attribute.split(":")[0], old.attribute.removesuffix(" when"))
    if new.attribute not in same and not (
            new.attribute.split(":")[0] == "use" and (old.in_family or old.attribute.startswith("use"))):
        return False
    return _alike(new, old) if new.value else new.attribute == old.attribute


def _gives_another(news: Claim, old: Claim) -> bool:
    """Whether news names what has one value and, of the same kind, a value that it did not have."""
    about = set(old.subject.split()) - {SPEAKER}
    if not old.single or not old.thing or not about or not about <= news.words or old.attribute == PLAN:
        return False
    kind = value_kind(old.value)
    if kind == "number" and not (set(old.attribute.split(":")) | old.words) & {*news.words, "port"}:
        return False  # a number of something else
    given = {value for value in news.subject.split() if value_kind(value) == kind} - about - old.words
    return bool(given)


def _ends_plan(new: Claim, old: Claim) -> bool:
    """Whether a plan was carried out, what it was about is there, or it was called off; that ends dates,
    too.
    """
    if new.is_deed:
        planned = old.attribute == PLAN and old.subject == new.attribute.removeprefix("did ")
        return planned and old.holder == new.holder and _alike(new, old)
    if new.attribute == DONE:
        return old.attribute == PLAN and new.holder in (old.holder, SPEAKER) and _alike(new, old)
    if old.attribute in LASTING or old.attribute.startswith("favorite"):
        return False
    half = old.attribute == PLAN and 2 * len(new.words & old.words) >= len(new.words) > 0
    return half or (old.thing and set() < new.words <= set(old.holder.split())) or _alike(new, old)


def _same_holder(new: Claim, old: Claim) -> bool:
    """Whether an ending is about the other's things; what the speaker ends may be of any of their things."""
    if new.holder == old.holder or (new.holder == SPEAKER and (old.thing or old.attribute == "owner")):
        return True
    return new.thing and old.thing and set(new.holder.split()) <= set(old.holder.split())


def _covers(new: Claim, old: Claim) -> bool:
    """Whether most of what is taken back is what was said."""
    shared = new.words & old.words
    return bool(shared) and len(shared) * 2 >= min(len(new.words),
                                                   len(old.words)) and len(shared) * 3 >= len(new.words)


def _alike(new: Claim, old: Claim) -> bool:
    """Whether two values name the same thing, one of them perhaps with more words."""
    shared = new.words & old.words
    if any(any(map(str.isdigit, word)) for word in new.words - shared) and new.attribute in (ANY, GONE, OFF):
        return False  # another version, another number
    return bool(shared) and (len(shared) * 2 >= min(len(new.words), len(old.words)) if new.attribute == ANY
                             or new.attribute.startswith("did ")
                             else new.words <= old.words or old.words <= new.words)


class Settled(NamedTuple):
    """The first later claim that closes or contests one."""

    verdict: str
    older: Stated
    newer: Stated

    def before(self, other: Settled) -> bool:
        """Whether it counts before another of the same claim: closing before contest, then the earlier."""
        return (self.verdict != CLOSES, self.newer.mark,
                self.newer.n) < (other.verdict != CLOSES, other.newer.mark, other.newer.n)


def settle(cell: Iterable[Stated], fresh: Container[int]) -> Iterator[Settled]:
    """For each claim of a cell the first later one that closes or contests it, among pairs with a fresh one.
    """
    ordered = sorted(cell, key=lambda stated: (stated.mark, stated.n))
    new = [stated.n in fresh for stated in ordered]
    endings = [at for at, stated in enumerate(ordered) if stated.may_end]
    singles = [at for at, stated in enumerate(ordered) if stated.claim.holds]
    news = [at for at, is_new in enumerate(new) if is_new]
    for at, older in enumerate(ordered):
        if older.claim.is_deed:
            continue
        rivals: Sequence[int] = range(at + 1, len(ordered))
        if not (older.claim.holds and (older.claim.single or older.claim.attribute == PLAN)):
            rivals = endings if older.claim.holds else singles
        yield from _first(older, [ordered[later] for later in (rivals if new[at] else news) if later > at],
                          ordered[:at])


def _first(older: Stated, later: Sequence[Stated], earlier: Sequence[Stated]) -> Iterator[Settled]:
    contested, before = False, None
    for newer in later:
        if before is not None and newer.claim == before.claim and newer.trust >= before.trust:
            continue  # said again in the same words
        before = newer
        outcome = verdict(newer, older)
        if outcome == CLOSES and newer.claim.holds and newer.claim.subject != older.claim.subject:
            about = set(newer.claim.subject.split())
            others = {stated.claim.subject for stated in earlier if stated.claim.holds
                      and about <= set(stated.claim.subject.split())}
            outcome = CONTESTS if others - {older.claim.subject} and not newer.claim.corrects else outcome
        if outcome == CLOSES or (outcome and not contested):
            yield Settled(outcome, older, newer)
            contested = True
        if outcome == CLOSES:
            return


def answered(value: Stated, recent: Sequence[Stated], all_earlier: Sequence[Stated],
             sentence: str) -> Stated | None:
    """Which earlier claim a value said alone is about, the latest first: one that it fits best, or nobody
    knows.
    """
    kind, words = value_kind(value.claim.value), {word.strip(".,;:!?()").casefold()
                                                  for word in sentence.split()}
    fitting = [earlier for earlier in all_earlier if earlier.claim.attribute not in (ASKED, PLAN)
               and value_kind(earlier.claim.value) == kind
               and not earlier.claim.words <= value.claim.words and earlier.record != value.record]
    near = {earlier.n for earlier in recent}
    for earlier in fitting:
        if earlier.claim.single and (earlier.claim.words & value.claim.words
                                     or earlier.claim.attribute in words):
            return earlier
    return next((earlier for single in (True, False) for earlier in fitting
                 if earlier.n in near and earlier.claim.single is single), None)


def value_kind(value: str) -> str:
    """What kind of value: a time, a number or a name."""
    return "time" if DATE.search(value) else "number" if any(map(str.isdigit, value)) else "name"
