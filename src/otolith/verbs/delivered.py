"""What was put before an agent unasked, session by session, in log/delivered-<machine>.jsonl.

A line says when, in which session, through which door, which records and which lines (hashes only). It is no
use of a record. The echo guard reads it, and whoever must not tell a thing twice in a session.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from otolith.errors import Busy, CannotWrite, Conflict, NotFound
from otolith.files import ledger, paths
from otolith.files.tree import fingerprint
from otolith.home import Home
from otolith.model.times import time_or_none, zulu

if TYPE_CHECKING:
    from otolith.model.echoes import Echoes
    from otolith.model.events import Session

KEPT = 30 * 86_400  # seconds
TAIL_BYTES = 1 << 20  # of the log, to find a session in; days of work fit
MOST_RECORDS = 200
OWN_TOOLS = "otolith"  # in the name of a tool: what it answered was delivered too


class Delivered(NamedTuple):
    """What a session was told: records and when last, and the hashes of lines."""

    ids: dict[str, float]
    lines: frozenset[str]


def note_delivered(home: Home, ids: Sequence[str], text: str = "", session: str | None = None, *,
                   by: str = "") -> None:
    """Remember what was told, by a brief, a prompt or an edit; a log that cannot be written never fails a
    look.
    """
    from otolith.model.echoes import digests

    line = {"t": zulu(home.clock()), "session": session or home.session, "door": home.door, "by": by,
            "ids": list(ids), "lines": digests(text)}
    try:
        ledger.append_line(home.tree, paths.delivered_log(home.machine), line)
    except (CannotWrite, Busy):
        return


def delivered(home: Home, session: str) -> Delivered:
    """What was told in a session."""
    path = paths.delivered_log(home.machine)
    try:
        measure = home.tree.measure(path)
        data = home.tree.read(path, max(0, measure.size - TAIL_BYTES))[0] if measure else b""
    except NotFound:
        data = b""
    ids: dict[str, float] = {}
    hashes: set[str] = set()
    for _, line in ledger.read_lines(data):
        when = time_or_none(line.get("t")) if line and line.get("session") == session else None
        if line and when is not None:
            ids.update(dict.fromkeys(_texts(line.get("ids")), when))
            hashes.update(_texts(line.get("lines")))
    return Delivered(ids, frozenset(hashes))


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def echoes_of(home: Home, session: Session) -> Echoes:
    """What must not count as said when it comes back in this session."""
    from otolith.model.echoes import digests, echoes

    past = delivered(home, session.session)
    own = [event.call.result for event in session.events
           if event.call and OWN_TOOLS in event.call.tool.lower() and event.call.result]
    records = list(past.ids)[-MOST_RECORDS:]
    texts = [passage.text for passage in home.index.around.openings(records)] if records else []
    return echoes([*past.lines, *(mark for text in own for mark in digests(text))], texts)


def trim_delivered(home: Home) -> None:
    """Upkeep: what is older than thirty days goes."""
    for path in (paths.delivered_log(home.machine), paths.receipts_log(home.machine)):
        _trim(home, path, home.clock() - KEPT)


def _trim(home: Home, path: str, since: float) -> None:
    try:
        data, _ = home.tree.read(path)
    except NotFound:
        return
    kept = ledger.rewrite_lines(data, lambda line: line if (time_or_none(line.get("t")) or 0) >= since
                                else None, (), [])
    if kept != data:
        try:
            home.tree.write(path, kept, fingerprint(data))
        except Conflict:
            return  # somebody is telling something just now; the next round trims it
