"""A claim: holder, subject, attribute, value, whether it is said to hold or to have ended, its environment.

`cells` says where it meets others: only claims that share a cell are compared (`verdicts.py`), so that a
claim costs what is said of its subject and no more. Pure: knows no record, no file and no index.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple

from otolith.model.attributes import ENGLISH as TABLE
from otolith.model.attributes import SPEAKER

ANY = "*"  # the attribute of an ending: whatever its object names
RETRACT = "!"  # the attribute of a word taken back
RULE = "rule"
GONE = "+"  # the attribute of a thing or somebody that is no more
LEFT = "~leave"  # leaving ends a job or a place on a team, not a home
OFF = "~off"  # a plan or an event that was called off
DONE = "~done"  # what a plan was about is there or done
NEWS = "~news"  # a sentence that sounds like news, in its words: it may give what it names another value
ASKED = "?"  # the attribute of a value said alone: whatever was spoken of last
PLAN = "plan"
FINAL = (ANY, RETRACT, LEFT, GONE, OFF, DONE, NEWS)  # endings that nothing said later undoes
FAMILY = frozenset(("be", "where", "with", "made of", "name", "api style"))  # what a thing is or is done with
WHAT = "~what"  # the cell of that family
PERSONAL = "@"  # the scope in which the speaker's endings meet what is of their own person
MOST_CELLS = 4  # by words of the value


class Claim(NamedTuple):
    """One thing that a statement claims."""

    holder: str  # whose it is: a person, a thing, or the speaker
    subject: str  # what has the attribute; "" where only the attribute is named
    attribute: str
    value: str  # its content words as they are compared, in their order
    holds: bool
    single: bool  # one value at a time
    environment: str = ""
    personal: bool = False  # of the user's own person, the same in every project
    weak: bool = False  # a list grows, or it holds for a while only: it closes nothing
    corrects: bool = False  # said as a correction or a change
    thing: bool = False  # the holder is a thing, so that what the speaker ends may be its

    @property
    def words(self) -> frozenset[str]:
        return frozenset(self.value.split())

    @property
    def is_deed(self) -> bool:
        """Whether it only says that something was done."""
        return self.attribute.startswith("did ")

    @property
    def untold(self) -> bool:
        """Whether it is an ending by the speaker that does not say of what: it may be of their own person."""
        return not self.holds and self.attribute in (ANY, RETRACT, LEFT, OFF, DONE)

    @property
    def in_family(self) -> bool:
        """Whether it says what a thing is or is done with."""
        return self.attribute.removeprefix("use:").split(":")[0] in FAMILY

    @property
    def by_somebody(self) -> bool:
        """Whether it says who has charge of a thing or does it: owned by, fed by."""
        return self.thing and (self.attribute == "owner" or self.attribute.endswith(" by"))

    def scope_in(self, project: str | None) -> str:
        """Where it holds: in the project it was said in, or of the user's own person everywhere."""
        return "" if self.personal or project in (None, "", "default") else str(project)

    def id_in(self, scope: str) -> str:
        """The claim's name in curation.jsonl."""
        parts = "\0".join((scope, self.subject or self.holder, self.attribute, self.value))
        return "claim_" + sha256(parts.encode()).hexdigest()[:16]

    def cells(self, scope: str) -> Iterator[str]:
        """Where it meets the claims that it may close or be closed by."""
        if self.is_deed:
            yield f"{scope}|{self.holder}|plan {self.attribute.removeprefix('did ')}"
            return
        if self.attribute == PLAN:
            yield f"{scope}|{self.holder}|plan {self.subject}"
        elif self.corrects and not self.single and self.attribute != NEWS:
            yield f"{scope}|{self.holder}|plan {self.attribute.split(' ')[0]}"
        elif self.single and self.attribute not in (ANY, ASKED):
            yield from self._own_cells(scope)
        if not self.single and self.attribute not in FINAL:
            yield f"{scope}|{self.holder}|{self.attribute}"
        yield from self._word_cells(scope)

    def _word_cells(self, scope: str) -> Iterator[str]:
        """Where it meets what names the same things."""
        most = MOST_CELLS if self.attribute != NEWS else 3 * MOST_CELLS
        for word in list(dict.fromkeys(self.value.split()))[:most]:
            yield f"{scope}|={word}"
            if (self.personal and self.holds) or (scope and self.untold):
                yield f"{PERSONAL}|={word}"
        if self.holder != SPEAKER or (self.subject != SPEAKER and self.holds and self.single):
            named = self.holder if self.holder != SPEAKER else self.subject
            yield from (f"{scope}|={word}" for word in named.split()[:2])

    def _own_cells(self, scope: str) -> Iterator[str]:
        """Where something with one value at a time meets its other values."""
        yield f"{scope}|{self.subject}|{self.attribute}"
        if (self.in_family or self.by_somebody) and self.subject:
            yield f"{scope}|{self.subject}|{WHAT}"
        if self.attribute in TABLE.heads:
            yield f"{scope}||{self.attribute}"
        if ":" in self.attribute:
            yield f"{scope}|{self.holder}|{self.attribute.split(':')[0]}"
        if self.thing and " " in self.subject:
            yield from (f"{scope}|{word}|{self.attribute}" for word in self.subject.split()[:3])
