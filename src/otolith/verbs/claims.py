"""Claims of records that are no dialogs: drawn by the next upkeep, brief or recall, like vectors.

A call reads at most so many records, those that came last first, so that no question waits for a whole home.
"""

from __future__ import annotations

from typing import Any

from otolith.errors import Busy, CannotWrite
from otolith.home import Home
from otolith.index.claims import Drawn
from otolith.model.dialog import mark
from otolith.model.kinds import KINDS, origin_of
from otolith.model.mine import as_mine, is_mine
from otolith.model.record import TRUST, log
from otolith.model.times import time_or_none, zulu

AT_ONCE, FEW = 200, 10  # records a call, and of many that wait those that a question reads
CLAIMING = tuple(name for name, kind in KINDS.items() if kind.claims)


def draw(home: Home, *, few: bool = False) -> int:
    """Read the claims of records that are new or changed; returns how many were read.

    A question reads a `few` where many wait: that is upkeep's work.
    """
    claims = home.index.claims
    waiting, gone = home.index.kept("undrawn", lambda: (claims.undrawn(CLAIMING, AT_ONCE), claims.gone()))
    if not waiting and not gone:
        return 0
    if few and len(waiting) == AT_ONCE:
        waiting = waiting[:FEW]
    from otolith.verbs.steps import each  # nothing new is loaded where nothing waits

    drawn: dict[str, list[Drawn]] = {unit: [] for unit in gone}
    ids, mine = {record for record, _ in waiting}, home.index.marks.all("mine")
    for unit, record in each(home, list(dict.fromkeys(unit for _, unit in waiting))):
        drafts = drawn.setdefault(unit, [])
        if record.id in ids:
            drafts += _drafts(unit, as_mine(record) if is_mine(record, mine) else record)
    try:
        home.index.facts.redraw(drawn)
        home.index.marks.settle("claims", ids)
    except (Busy, CannotWrite) as error:  # an answer does not wait for a writer; the next call draws
        log.debug("claims: %s", error)
        return 0
    return len(ids)


def _drafts(unit: str, record: Any) -> list[Drawn]:
    """The claims of one record; what it says was said when it was written, by whom its origin tells."""
    from otolith.derive.claims import read_text  # nothing new is loaded where nothing waits

    origin = origin_of(record)
    trust = TRUST.index(str(getattr(origin, "trust", None) or "user"))
    moment = mark(record.created, time_or_none(getattr(origin, "at", None)) or 0.0, record.id, 0)
    text = f"{record.title}.\n\n{_text(record)}"
    return [Drawn(unit, record.id, None, moment, getattr(origin, "project", None), trust, read.sentence,
                  read.claims)
            for read in read_text(text, zulu(record.created))]


def _text(record: Any) -> str:
    """What a record says: its text, or of a work how it ended."""
    if (outcome := getattr(record, "outcome", None)) is not None:
        return str(outcome.summary or "")
    body = getattr(record, "sentence", None) or getattr(record, KINDS[record.kind].body)
    return str(body() if callable(body) else body)


def draw_rung(home: Home, _providers: Any = None) -> list[str]:
    """Upkeep: every record that waits."""
    while draw(home) == AT_ONCE:
        pass
    return []
