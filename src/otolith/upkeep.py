"""The nightly round, safe to repeat: sync, usage, healing, climbing, decay, pages, exports, garden, commit.

Each rung is one line in RUNGS and names what it reads and what it makes. It runs when what it reads is not
what its mark in the index says, or when a file that it makes is not as it left it. A rung that reads
nothing runs every time and asks the same table of marks about each item it works on. So a second round on
the same day changes no byte. Others may write meanwhile: a rung that misses what it had just read begins
again. One that fails is reported, with its error's own code, and does not stop the others; only what a person
must confirm does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

from otolith import __version__, verbs
from otolith.errors import BrokenIndex, Conflict, NeedsConfirmation, NotFound, OtolithError
from otolith.files.paths import EXPORTS
from otolith.home import Home
from otolith.model.kinds import KINDS
from otolith.model.record import log
from otolith.model.times import day
from otolith.verbs.reports import Scores

Progress = Callable[[int, int], None]
USAGE, DATE, PINS = ":usage", ":date", ":pins"  # what a rung may read besides kinds of records
LADDERS = ("note", "memo", "work", "wisdom", "chunk")  # whose records stand on the front pages
ALWAYS = (":version", ":settings", ":problems")  # what every rung that names its inputs reads as well
ATTEMPTS = 3  # at a rung under which others change what it reads
# settings that change nothing that is built
_PRIVATE = ("session", "openai_key", "chat_key", "upkeep", "upkeep_remote", "upkeep_after")
REMOTE = ("ollama", "openai")  # embedders


class Rung(NamedTuple):
    """A step of the round: `call` names module:function in otolith.verbs; (home, providers) in, lines out."""

    name: str
    call: str
    reads: Sequence[str] = ()  # kinds of records, and USAGE and DATE
    makes: Sequence[str] = ()  # files
    proposes: bool = False  # its lines are proposals, not changes
    asks: str = ""  # whom it may ask: "model", "embedder"
    scored: bool = False  # takes the notes as they stand in place of providers: they are scored once a round


# In the order of DECISIONS 4.
RUNGS = (
    Rung("sync", "tending:sweep"),
    Rung("usage", "tending:fold"),
    Rung("claims", "claims:draw_rung"),
    Rung("edges", "links:heal", reads=("note", "edge")),
    Rung("sessions", "running:sessions_rung", asks="model"),
    Rung("entries", "topics:entries_rung", asks="model"),
    Rung("topics", "topics:topics_rung", asks="model"),
    Rung("global", "topics:global_rung", reads=("topic", "fact"),
         makes=("GLOBAL_MEMORY.json", "GLOBAL_MEMORY.md")),
    Rung("chapters", "chapters:climb", asks="model"),
    Rung("wisdom", "chapters:climb_wisdom", asks="model"),
    Rung("cold", "work:cold_rung", reads=("work", USAGE, DATE)),
    Rung("decay", "reports:decay_rung", reads=("note", USAGE, DATE), makes=("_state.json",), scored=True),
    Rung("core", "reports:core_rung", reads=(*LADDERS, "entry", "fact", USAGE, DATE, PINS),
         makes=("CORE.md",), scored=True),
    Rung("reflection", "reports:reflection_rung", reads=(*LADDERS, "episode", USAGE),
         makes=("REFLECTION.md",), scored=True),
    Rung("exports", "exports:write_exports", reads=("chunk", "note", "edge"), makes=EXPORTS),
    Rung("garden", "memos:garden_rung", reads=("memo", "entry"), proposes=True),
    Rung("embeddings", "exports:embed_rung", reads=(*KINDS, DATE), makes=("_embeddings.json",),
         asks="embedder"),
    Rung("commit", "git:commit"),
)


class Report(NamedTuple):
    """What one round did: changes and proposals by rung, rungs with nothing to do, and what went wrong."""

    date: str
    changed: Mapping[str, Sequence[str]]
    proposals: Mapping[str, Sequence[str]]
    skipped: Sequence[str]
    failed: Mapping[str, str]
    exit_code: int  # that of the first rung that failed

    def to_dict(self) -> dict[str, Any]:
        return self._asdict()


def run(home: Home, progress: Progress | None = None, providers: Any = None, *,
        if_due: bool = False) -> Report:
    """One round over the home; `if_due`: nobody asked for it, so only if one is due and no other runs, and
    only with what is on this machine.
    """
    from otolith.verbs import rounds

    began = home.clock()
    with rounds.alone(home) as free:
        if if_due and not (free and rounds.is_due(home.tree, began)):
            return Report(day(began), {}, {}, [rung.name for rung in RUNGS], {}, 0)
        report = _round(home, progress, providers, _left_out(home) if if_due else ())
        rounds.note_round(home, began, unasked=if_due, changed=report.changed, failed=report.failed,
                          proposed=sum(map(len, report.proposals.values())))
    return report


def _left_out(home: Home) -> list[str]:
    """The rungs that would ask somebody whom only the user may have asked: what they make waits for them."""
    config = home.config
    asked = {"model": config.model_command or config.chat_model, "embedder": config.provider in REMOTE}
    return [] if config.upkeep_remote else [rung.name for rung in RUNGS if asked.get(rung.asks)]


def _round(home: Home, progress: Progress | None, providers: Any, left_out: Sequence[str]) -> Report:
    home.finish()
    changed: dict[str, Sequence[str]] = {}
    proposals: dict[str, Sequence[str]] = {}
    skipped, failed, exit_code = [], {}, 0
    scores, inputs = Scores(home), dict[str, Any]()
    for at, rung in enumerate(RUNGS):
        if progress:
            progress(at, len(RUNGS))
        if rung.reads and not inputs:
            inputs = _inputs(home)
        if rung.name in left_out or (rung.reads and home.index.marks.get("rung", rung.name)
                                     == _stamp(home, rung, inputs)):
            skipped.append(rung.name)
            continue
        try:
            if lines := _climb(home, rung, scores if rung.scored else providers):
                (proposals if rung.proposes else changed)[rung.name] = list(lines)
            if rung.reads:
                home.index.marks.set("rung", rung.name, _stamp(home, rung, inputs))
        except NeedsConfirmation:
            raise
        except OtolithError as error:
            failed[rung.name] = str(error)
            exit_code = exit_code or error.exit_code
        # nobody sits by a nightly round: what nobody foresaw in a rung is told and ends only that rung
        except Exception as error:
            log.warning("upkeep: %s: %r", rung.name, error)
            failed[rung.name] = f"this is a bug in Otolith: {type(error).__name__}: {error}"
            exit_code = exit_code or OtolithError.exit_code
        if rung.name in changed or rung.name in failed:
            inputs = {}  # what it wrote, others may read
    if progress:
        progress(len(RUNGS), len(RUNGS))
    return Report(day(home.clock()), changed, proposals, skipped, failed, exit_code)


def _climb(home: Home, rung: Rung, given: Any) -> list[str]:
    """One rung; every rung may be begun again, for what is done already it leaves as it is."""
    module, function = rung.call.split(":")
    act = getattr(getattr(verbs, module), function)
    for attempt in range(1, ATTEMPTS + 1):
        home.basis = given.basis if rung.scored else home.index.last_purge()
        try:
            return list(home.index.attempt(partial(act, home, given)) or ())
        except BrokenIndex as error:
            if attempt == ATTEMPTS:
                raise
            home.index.heal(error.message)
        except (Conflict, LookupError, NotFound) as error:
            if attempt == ATTEMPTS:
                raise
            log.info("upkeep: %s begins again: %s", rung.name, error)
            home.sweep()
        finally:
            home.basis = None
        given = Scores(home) if rung.scored else given
    return []


def _inputs(home: Home) -> dict[str, Any]:
    """A stamp for everything that a rung may read, from the index alone."""
    settings = {key: value for key, value in vars(home.config).items() if key not in _PRIVATE}
    return {":version": __version__, ":settings": settings, DATE: day(home.clock()),
            **home.index.marks.inputs()}


def _stamp(home: Home, rung: Rung, inputs: Mapping[str, Any]) -> str:
    """What the rung reads and, as they are now, the files it makes: one deleted or edited is built again."""
    files = [home.stamp(path) for path in rung.makes]
    parts = [inputs.get(name) for name in (*ALWAYS, *rung.reads)]
    return sha256(json.dumps([parts, files], default=str).encode()).hexdigest()
