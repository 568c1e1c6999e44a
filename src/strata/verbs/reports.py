"""The notes' front pages and what reflection proposes: core, reflection, reflect, accept.

A page is written only when more than its stamp would change. A reflection is counted (an audit line `reflected` with the
fingerprint of what it looked at) only when that changed. Proposals are carried out only when a person says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from strata.derive import core as core_page
from strata.derive import reflection as reflection_page
from strata.derive.similar import (
    InsightProposal,
    MergeProposal,
    Pair,
    find_clusters,
    find_pairs,
    propose_insights,
    propose_merges,
)
from strata.errors import Damaged, Invalid, NotFound
from strata.files import paths
from strata.home import Home
from strata.index import vectors
from strata.model.decay import Standing
from strata.model.ids import derived_uuid
from strata.model.note import Note
from strata.model.times import day
from strata.verbs.decay import standings, state_moment

CORE, REFLECTION = "CORE.md", "REFLECTION.md"
PAGES = {"core": CORE, "reflection": REFLECTION, "global": "GLOBAL_MEMORY.md"}
_MERGE = re.compile(r"^- \*\*Type:\*\*[ \t]*merge[ \t]*$", re.MULTILINE)
_REFLECTED = b'"verb":"reflected"'
_TOLD = re.compile(r"Last reflection: (\S+) \| Total reflections: (\d+)")


@dataclass(frozen=True, kw_only=True)
class Reflected:
    """What a reflection found: the page, and what it would do about it. Each proposal has a key to accept it by."""

    page: str
    counted: bool  # something had changed since the last one
    clusters: Sequence[Sequence[str]]
    merges: Sequence[tuple[str, MergeProposal]]
    insights: Sequence[tuple[str, InsightProposal]]

    def to_dict(self) -> dict[str, Any]:
        return {"page": self.page, "counted": self.counted, "clusters": [list(cluster) for cluster in self.clusters],
                "merges": [{"key": key, **asdict(one)} for key, one in self.merges],
                "insights": [{"key": key, **asdict(one)} for key, one in self.insights]}


class _Built(NamedTuple):
    """What an audit line calls a built page."""

    kind: str
    id: str


def core(home: Home) -> str:
    """Build CORE.md anew and give its text."""
    home.ensure_fresh()
    home.fold_usage()
    _write_core(home, standings(home))
    return show(home, "core")


def core_rung(home: Home, _providers: Any = None) -> list[str]:
    """Upkeep's part; it goes by the scores that _state.json holds."""
    return [CORE] if _write_core(home, standings(home, state_moment(home))) else []


def _write_core(home: Home, notes: Sequence[Standing]) -> bool:
    page = core_page.build_core(notes, date=day(home.clock()))
    return _write(home, CORE, page, core_page.without_stamp)


def reflection(home: Home) -> str:
    """Build REFLECTION.md anew and give its text."""
    home.sweep()
    home.fold_usage()
    reflection_rung(home)
    return show(home, "reflection")


def reflection_rung(home: Home, _providers: Any = None) -> list[str]:
    """Upkeep's part: look over all notes, count the reflection if anything changed, write the page if it says something new."""
    _, written = _look(home, standings(home))
    return [REFLECTION] if written else []


def _look(home: Home, notes: Sequence[Standing]) -> tuple[bool, bool]:
    """(counted, written)."""
    merges, projects = count_merges(home), home.config.projects
    inputs = reflection_page.fingerprint(notes, projects=projects, merges=merges)
    total, last, known = _reflections(home)
    counted = inputs != known
    if counted:
        home.audit("reflected", _Built("reflection", "reflection"), inputs)
        total, last = total + 1, day(home.clock())
    found = reflection_page.look_over(notes, projects=projects, merges=merges)
    page = reflection_page.build_reflection(found, date=day(home.clock()), last=last, total=total)
    return counted, _write(home, REFLECTION, page, str if counted else reflection_page.without_stamp)


def _reflections(home: Home) -> tuple[int, str, str]:
    """(how many, the last one's date, what it looked at), from the audit log; from the page if the log is too long to read."""
    import json

    try:
        data, _ = home.tree.read(paths.AUDIT)
    except NotFound:
        return 0, "never", ""
    except Damaged:
        told = _TOLD.search(_page(home, REFLECTION))
        return (int(told[2]), told[1], "") if told else (0, "never", "")
    lines = [line for line in data.split(b"\n") if _REFLECTED in line]
    try:
        line = json.loads(lines[-1]) if lines else {}
    except ValueError:
        line = {}
    return len(lines), str(line.get("ts", "never"))[:10], str(line.get("sha256", ""))


def count_merges(home: Home) -> int:
    """Merges told in the diary."""
    texts = home.db.execute("SELECT p.text FROM passages p JOIN records r ON r.n = p.record WHERE r.kind = 'episode' "
                            "AND p.ord = 0 AND p.text LIKE '%**Type:** merge%'")
    return sum(_MERGE.search(text) is not None for text, in texts)


def _write(home: Home, path: str, page: str, bare: Callable[[str], str]) -> bool:
    before = _page(home, path)
    return (not before or bare(before) != bare(page)) and home.build(path, page.encode(errors="surrogatepass"))


def _page(home: Home, path: str) -> str:
    try:
        return home.tree.read(path)[0].decode(errors="replace")
    except NotFound:
        return ""


def show(home: Home, page: str) -> str:
    """A built page as it stands; nothing is built."""
    if page not in PAGES:
        raise Invalid(f"no page {page!r}", f"use one of {', '.join(PAGES)}")
    found = _page(home, PAGES[page])
    if not found:
        raise NotFound(f"{PAGES[page]} is not built yet", "run: strata upkeep")
    return found


# Reflecting

def reflect(home: Home, *, apply: bool = False) -> Reflected:
    """Look over all notes: themes and patterns go to REFLECTION.md; likeness proposes merges and insights.

    With `apply`, which only a person may say, every proposal is carried out at once.
    """
    home.sweep()
    home.fold_usage()
    notes = standings(home)
    clusters, merges, insights = propose(home, notes)
    counted, _ = _look(home, notes)
    if apply:
        _refuse_agents(home)
        for _, merge in merges:
            _merge(home, merge)
        for _, insight in insights:
            keep_insight(home, insight)
        if merges or insights:
            return reflect(home)
    return Reflected(page=show(home, "reflection"), counted=counted, clusters=clusters, merges=merges, insights=insights)


def _refuse_agents(home: Home) -> None:
    if home.trust != "user":
        raise Invalid("agents propose; a person accepts", "on the command line: strata reflect --apply")


def propose(home: Home, notes: Sequence[Standing]) -> tuple[list[list[str]], list[tuple[str, MergeProposal]],
                                                            list[tuple[str, InsightProposal]]]:
    """Clusters of titles by meaning, merges, insights; each proposal under a key that stays the same."""
    pairs = _alike(home, notes)
    clusters = find_clusters(len(notes), pairs)
    linked = home.db.execute("SELECT a, b, said FROM links WHERE said IN ('ALTERNATIVE_TO', 'BUILDS_ON', 'FOLLOWS')").fetchall()
    apart = {frozenset((a, b)) for a, b, _ in linked}
    insights = {note.id for note in notes if note.type == "insight"}
    known: dict[str, list[str]] = {note: [] for note in insights}
    for a, b, word in linked:
        if word == "BUILDS_ON" and a in insights:
            known[a].append(b)
    return ([[notes[place].title for place in cluster] for cluster in clusters],
            [(_key(one.keep, one.absorb), one) for one in propose_merges(notes, pairs, apart=apart)],
            [(_key(*sorted(one.members)), one) for one in propose_insights(notes, clusters, known)])


def _alike(home: Home, notes: Sequence[Standing]) -> list[Pair]:
    """Notes near each other by the built-in embedder, whose likeness the thresholds are made for."""
    import numpy

    from strata.meaning import fill
    from strata.providers.embedders import Static

    held = fill(home.index, home.config, Static(), notices=home.notices)
    if held is None:
        return []
    known = vectors.first_vectors(home.db, held, "note")
    empty = numpy.zeros(held.dimension, numpy.float32)
    return find_pairs(numpy.stack([known.get(note.id, empty) for note in notes])) if notes else []


def _key(*ids: str) -> str:
    return derived_uuid("proposal", *ids)[:8]


def accept(home: Home, key: str) -> Note:
    """Carry out one proposal of the last reflection: the merged note, or the insight."""
    _refuse_agents(home)
    home.sweep()
    _, merges, insights = propose(home, standings(home))
    for known, merge in merges:
        if known == key:
            return _merge(home, merge)
    for known, insight in insights:
        if known == key:
            return keep_insight(home, insight)
    raise NotFound(f"no proposal {key!r}", "see what is proposed: strata reflect")


def _merge(home: Home, proposal: MergeProposal) -> Note:
    from strata.verbs.merging import merge

    return merge(home, proposal.keep, proposal.absorb)


def keep_insight(home: Home, proposal: InsightProposal) -> Note:
    """Make the insight a note that builds on its evidence; accepted twice, it is the same note."""
    from strata.verbs.links import link
    from strata.verbs.notes import note

    kept = note(home, proposal.title, proposal.text, type="insight", tags=proposal.tags, importance=proposal.importance,
                key=f"insight:{' '.join(sorted(proposal.members))}")
    for member in proposal.members:
        link(home, kept.id, "BUILDS_ON", member)
    return kept
