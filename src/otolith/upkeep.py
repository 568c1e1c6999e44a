"""The nightly round, safe to repeat: sync, fold usage, heal, climb, decay, core, reflection, exports, proposals, commit.

Each rung is one line in RUNGS: a function of a verbs module that builds from what the home holds and writes only what
differs. A rung runs when the fingerprint of its inputs changed, when one of its outputs is not as it left it, or, if it
depends on the date, when another UTC day began. So a second run on the same day changes no byte. A rung that fails, be it
that the home is in use or cannot be written, is reported, with its error's own code, and does not stop the others; only what
a person must confirm does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any

from otolith import __version__, verbs
from otolith.errors import Busy, CannotWrite, Conflict, Damaged, Invalid, NotFound, Provider
from otolith.files.paths import EXPORTS
from otolith.home import Home
from otolith.model.record import KINDS
from otolith.model.times import day

Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Rung:
    """A step of the round: `call` names module:function in otolith.verbs, taking (home, providers), giving lines.

    `reads` and `makes` are kinds of records, `files` derived files. A rung that reads nothing runs every time.
    """

    name: str
    call: str
    reads: Sequence[str] = ()
    makes: Sequence[str] = ()
    files: Sequence[str] = ()
    usage: bool = False  # depends on how often records were used
    daily: bool = False  # depends on the date
    proposes: bool = False  # its lines are proposals, not changes


# In the order of DECISIONS 4.
RUNGS = (
    Rung(name="sync", call="tending:sweep"),
    Rung(name="usage", call="tending:fold"),
    Rung(name="edges", call="edges:heal", reads=("note", "edge")),
    Rung(name="entries", call="topics:entries_rung"),
    Rung(name="topics", call="topics:topics_rung"),
    Rung(name="global", call="topics:global_rung"),
    Rung(name="chapters", call="chapters:climb"),
    Rung(name="wisdom", call="chapters:climb_wisdom"),
    Rung(name="cold", call="work:cold_rung"),
    Rung(name="decay", call="reports:decay_rung", reads=("note",), files=("_state.json",), usage=True, daily=True),
    Rung(name="core", call="reports:core_rung", reads=("note",), files=("CORE.md",), usage=True, daily=True),
    Rung(name="reflection", call="reports:reflection_rung", reads=("note", "episode"), files=("REFLECTION.md",), usage=True),
    Rung(name="exports", call="exports:write_exports", reads=("chunk", "note", "edge"), files=EXPORTS),
    Rung(name="garden", call="memos:garden_rung", reads=("memo",), proposes=True),
    Rung(name="embeddings", call="exports:embed_rung", reads=KINDS, files=("_embeddings.json",), daily=True),
    Rung(name="commit", call="tending:commit"),
)


@dataclass(frozen=True, kw_only=True)
class Report:
    """What one round did: lines of change and proposals by rung, rungs with nothing to do, and what went wrong."""

    date: str
    changed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    proposals: Mapping[str, Sequence[str]] = field(default_factory=dict)
    skipped: Sequence[str] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    exit_code: int = 0  # that of the first rung that failed

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def run(home: Home, progress: Progress | None = None, providers: Any = None) -> Report:
    """One round over the home."""
    changed: dict[str, Sequence[str]] = {}
    proposals: dict[str, Sequence[str]] = {}
    skipped, failed, exit_code = [], {}, 0
    for at, rung in enumerate(RUNGS):
        if progress:
            progress(at, len(RUNGS))
        inputs = _inputs(home, rung)
        if rung.reads and home.index.get(f"rung:{rung.name}") == _stamp(home, rung, inputs):
            skipped.append(rung.name)
            continue
        module, function = rung.call.split(":")
        try:
            lines = getattr(getattr(verbs, module), function)(home, providers)
            if lines:
                (proposals if rung.proposes else changed)[rung.name] = list(lines)
            if rung.reads:
                with home.index.writing():
                    home.index.set(f"rung:{rung.name}", _stamp(home, rung, inputs))
        except (Provider, Conflict, Damaged, Invalid, NotFound, Busy, CannotWrite) as error:
            failed[rung.name] = str(error)
            exit_code = exit_code or error.exit_code
    if progress:
        progress(len(RUNGS), len(RUNGS))
    return Report(date=day(home.clock()), changed=changed, proposals=proposals, skipped=skipped, failed=failed,
                  exit_code=exit_code)


def _inputs(home: Home, rung: Rung) -> str:
    """The fingerprint of all that a rung depends on, from the index alone.

    Row numbers are never used twice: a changed record has a higher one, a removed one is missing from the count.
    """
    if not rung.reads:
        return ""
    settings = {key: value for key, value in vars(home.config).items() if key not in ("session", "openai_key", "chat_key")}
    parts = [__version__, settings, _rows(home, rung.reads), day(home.clock()) if rung.daily else "",
             home.db.execute("SELECT count(*), max(path) FROM problems").fetchone(),  # a file that cannot be read counts, too
             home.db.execute("SELECT sum(count), max(last) FROM usage").fetchone() if rung.usage else ""]
    return sha256(json.dumps(parts, default=str).encode()).hexdigest()


def _rows(home: Home, kinds: Sequence[str]) -> list[Any]:
    marks = ",".join("?" * len(kinds))
    return home.db.execute(f"SELECT kind, count(*), max(n), sum(n) FROM records WHERE kind IN ({marks}) GROUP BY kind",
                           list(kinds)).fetchall()


def _stamp(home: Home, rung: Rung, inputs: str) -> str:
    """Inputs and, as they are now, the outputs: whoever deletes or edits one gets it rebuilt."""
    files = [home.stamp(path) for path in rung.files]
    return json.dumps([inputs, _rows(home, rung.makes) if rung.makes else [], files])
