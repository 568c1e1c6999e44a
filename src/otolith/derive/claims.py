"""What memos, notes, chunks and works claim: their text read as the facts of a dialog are.

A record is read as if its writer said it: statements and phrases in, claims out, each with its sentence.
Pure: knows no home and no index. What dialogs claim comes with their facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

from otolith.derive.facts import extract
from otolith.model.claims import Claim
from otolith.model.dialog import Fact, Turn
from otolith.model.statements import read_claims
from otolith.model.text import shorten, without_code
from otolith.model.verdicts import Stated, may_replace, verdict

LONGEST = 20_000  # characters of a record that are read


class ReadSentence(NamedTuple):
    """A sentence of a record with what it claims."""

    sentence: str
    claims: tuple[Claim, ...]


def read_text(text: str, written: str) -> Iterator[ReadSentence]:
    """The claims of a text written at a time (UTC, as files have it), sentence by sentence."""
    turn = Turn(1, "user", "user", without_code(text)[:LONGEST], written)
    for fact in extract([turn], entry_ts=written):
        sentence = fact.sentence or fact.title
        claims = read_claims(fact.subject, fact.relation, fact.object, sentence)
        if claims:
            yield ReadSentence(sentence, claims)


class Opposed(NamedTuple):
    """Two texts of which the newer says that something is otherwise than the older says."""

    older: str
    newer: str
    reason: str


def find_opposed(texts: Iterable[tuple[str, str, str]]) -> list[Opposed]:
    """Pairs of (id, when it was written, text) that cannot both hold, each once, by the rule for claims.

    Texts are compared where their claims meet, not each with each.
    """
    stated: dict[int, tuple[Stated, str]] = {}
    meeting: dict[str, list[int]] = {}
    for id, written, text in texts:
        for read in read_text(text, written):
            for claim in read.claims:
                n = len(stated)
                stated[n] = Stated(n, written, 0, claim, id), read.sentence
                for cell in claim.cells(""):
                    meeting.setdefault(cell, []).append(n)
    pairs: dict[tuple[str, str], Opposed] = {}
    for members in meeting.values():
        for older, newer in _pairs([stated[n][0] for n in members]) if len(members) > 1 else ():
            quoted = [f'"{shorten(stated[claim.n][1], 80)}"' for claim in (older, newer)]
            pairs.setdefault((older.record, newer.record),
                             Opposed(older.record, newer.record, " – ".join(quoted)))
    return list(pairs.values())


def _pairs(cell: Sequence[Stated]) -> Iterator[tuple[Stated, Stated]]:
    """Every claim of a cell with each later one that closes it."""
    for older, newer in permutations(cell, 2):
        if verdict(newer, older):
            yield older, newer


def may_close(proposal: Fact, project: str | None, trust: int, older: Stated) -> bool:
    """Whether a proposed fact may close a claim that it names: same scope, subject and attribute, and no less
    trusted (a place in `model.record.TRUST`). Stored in the fact's `replaces`, it then does in every index.
    """
    claims = read_claims(proposal.subject, proposal.relation, proposal.object, proposal.sentence or "")
    proposed = (Stated(0, "", trust, claim, "", claim.scope_in(project)) for claim in claims)
    return trust <= older.trust and any(may_replace(new, older) for new in proposed)
