"""What memos, notes, chunks and works claim: their text read as the facts of a dialog are.

A record is read as if its writer said it: statements and phrases in, claims out, each with its sentence.
Pure: knows no home and no index. What dialogs claim comes with their facts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from otolith.derive.facts import extract
from otolith.model.claims import Claim
from otolith.model.dialog import Fact, Turn
from otolith.model.statements import read_claims
from otolith.model.text import without_code
from otolith.model.verdicts import Stated, may_replace

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


def may_close(proposal: Fact, project: str | None, trust: int, older: Stated) -> bool:
    """Whether a proposed fact may close a claim that it names: same scope, subject and attribute, and no less
    trusted (a place in `model.record.TRUST`). Stored in the fact's `replaces`, it then does in every index.
    """
    claims = read_claims(proposal.subject, proposal.relation, proposal.object, proposal.sentence or "")
    proposed = (Stated(0, "", trust, claim, "", claim.scope_in(project)) for claim in claims)
    return trust <= older.trust and any(may_replace(new, older) for new in proposed)
