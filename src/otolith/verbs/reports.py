"""How the notes stand and what is reported of them: decay, core, reflection, reflect, accept.

`decay` scores every note from the usage that is folded into the index and keeps _state.json, in seed 004's shape and output
only; the pages are built from the same `standings`. A page is written only when more than its stamp would change. A
reflection is counted (an audit line `reflected` with the fingerprint of what it looked at) only when that changed.
Proposals are carried out only when a person says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from otolith import verbs
from otolith.derive import front_pages
from otolith.derive.similar import (
    InsightProposal,
    MergeProposal,
    Pair,
    find_clusters,
    find_pairs,
    propose_insights,
    propose_merges,
)
from otolith.errors import Damaged, Invalid, NotFound
from otolith.files import paths
from otolith.home import Home, Named
from otolith.index import read, vectors
from otolith.model.decay import DIGITS, Decay, Standing, score_all, take_apart, weight
from otolith.model.ids import derived_uuid
from otolith.model.note import Note
from otolith.model.record import Usage
from otolith.model.times import day, offset, parse_time
from otolith.verbs.exports import build_stamped
from otolith.verbs.steps import bytes_of, locate

if TYPE_CHECKING:
    from otolith.index.notes import NoteUse

CORE, REFLECTION = "CORE.md", "REFLECTION.md"
PAGES = {"core": CORE, "reflection": REFLECTION, "global": "GLOBAL_MEMORY.md"}
_MERGE = re.compile(r"^- \*\*Type:\*\*[ \t]*merge[ \t]*$", re.MULTILINE)
_REFLECTED = b'"verb":"reflected"'
_TOLD = re.compile(r"Last reflection: (\S+) \| Total reflections: (\d+)")
STATE = "_state.json"
_STAMP = re.compile(r'"updated": "([^"]+)"')


# Decay

class Scores:
    """The notes as they stand: read once, and scored once for each moment; what a round's pages are all built from."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._at: tuple[float, list[float]] = (-1.0, [])

    @cached_property
    def notes(self) -> list[NoteUse]:
        return self.home.index.notes.uses()

    @cached_property
    def inputs(self) -> str:
        """One hash of all that the scores are made of but the moment."""
        return sha256(repr([note[:7] for note in self.notes]).encode(errors="surrogatepass")).hexdigest()

    def at(self, moment: float) -> list[float]:
        """The score of each note at a moment."""
        if self._at[0] != moment:
            notes = self.notes
            anchors = [note.created if note.last is None else note.last for note in notes]
            scores = score_all([note.importance for note in notes], anchors, [note.uses for note in notes],
                               [weight(note.type) for note in notes], [note.pinned for note in notes], moment)
            self._at = moment, scores.round(DIGITS).tolist()
        return self._at[1]

    def standings(self, moment: float) -> list[Standing]:
        """Every note with its use and its score at a moment; insights bring the opening of their text."""
        tags, openings = self.home.index.notes.tags(), self.home.index.notes.openings("insight")
        return [Standing(id=note.id, type=note.type, title=note.title, path=note.unit, created=note.created,
                         tags=tuple(tags.get(note.n, ())), importance=note.importance, usage=Usage(note.uses, note.last),
                         score=score, pinned=bool(note.pinned), trust=note.trust, project=note.project,
                         preview=openings.get(note.n, ""))
                for note, score in zip(self.notes, self.at(moment), strict=True)]


def decay(home: Home) -> list[tuple[Any, ...]]:
    """Score every note now and write _state.json; gives (id, count, last access, score) of each."""
    home.ensure_fresh()
    home.fold_usage()
    scores, now = Scores(home), _moment(home)
    _write_state(home, scores, now)
    return [(note.id, note.uses, note.last, score) for note, score in zip(scores.notes, scores.at(now), strict=True)]


def decay_rung(home: Home, scores: Scores | None = None) -> list[str]:
    """Upkeep's part. A file of today that still holds for the moment it names stays: nothing it depends on has changed."""
    scores = scores or Scores(home)
    if home.index.marks.get("decay") in (None, scores.inputs):
        then = state_moment(home)
        if _render(scores, then) == _page(home, STATE):
            home.index.marks.set("decay", "", scores.inputs)
            return []
    return [STATE] if _write_state(home, scores, _moment(home)) else []


def _write_state(home: Home, scores: Scores, moment: float) -> bool:
    written = home.build(STATE, _render(scores, moment).encode())
    home.index.marks.set("decay", "", scores.inputs)
    return written


def state_moment(home: Home) -> float:
    """The moment that _state.json holds for if it is of today, else now: what is built from scores agrees with it."""
    stamp = _STAMP.search(_page(home, STATE)[:200])
    try:
        made = parse_time(stamp[1]) if stamp else 0.0
    except Invalid:
        made = 0.0
    return made if day(made) == day(home.clock()) else _moment(home)


def _moment(home: Home) -> float:
    """Now, to the second: the file names the moment its scores hold for."""
    return float(int(home.clock()))


def _render(scores: Scores, moment: float) -> str:
    """_state.json in the seed's shape, one line a note."""
    entries = ",\n".join(
        f'    {json.dumps(note.id)}: {{"access_count": {note.uses}, "last_accessed": '
        f'{"null" if note.last is None else _quoted(note.last)}, "decay_score": {score!r}}}'
        for note, score in zip(scores.notes, scores.at(moment), strict=True))
    inner = f"\n{entries}\n  " if entries else ""
    return f'{{\n  "version": 1,\n  "updated": {_quoted(moment)},\n  "entries": {{{inner}}}\n}}\n'


def _quoted(seconds: float) -> str:
    return f'"{offset(seconds)}"'


def standings(home: Home) -> list[Standing]:
    """Every note as it stands now."""
    return Scores(home).standings(_moment(home))


def explain_decay(home: Home, handle: str) -> tuple[str, Decay]:
    """(title, score taken apart) of one record; looking is not a use."""
    home.fold_usage()
    row = locate(home, handle)
    if row.kind in ("topic", "global", "episode", "edge"):
        raise Invalid(f"a {row.kind} does not decay", "ask for a record that is used: a note, a chunk, a memo, a work")
    return row.title, take_apart(importance=0.5 if row.importance is None else row.importance, created=row.created,
                                 usage=read.usage_of(home.db, row), type_=row.type, now=home.clock(),
                                 pinned=bool(row.pinned or verbs.links.standing(home, row.id, "pinned", row.id)),
                                 kind=row.kind)


# The pages

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


def core(home: Home) -> str:
    """Build CORE.md anew and give its text."""
    home.ensure_fresh()
    home.fold_usage()
    _write_core(home, standings(home))
    return show(home, "core")


def core_rung(home: Home, scores: Scores | None = None) -> list[str]:
    """Upkeep's part; it goes by the scores that _state.json holds."""
    return [CORE] if _write_core(home, (scores or Scores(home)).standings(state_moment(home))) else []


def _write_core(home: Home, notes: Sequence[Standing]) -> bool:
    return build_stamped(home, CORE, front_pages.build_core(notes, date=day(home.clock())), front_pages.without_stamp)


def reflection(home: Home) -> str:
    """Build REFLECTION.md anew and give its text."""
    home.sweep()
    home.fold_usage()
    reflection_rung(home)
    return show(home, "reflection")


def reflection_rung(home: Home, scores: Scores | None = None) -> list[str]:
    """Upkeep's part: look over all notes, count the reflection if anything changed, write the page if it says something new."""
    _, written = _look(home, (scores or Scores(home)).standings(state_moment(home)))
    return [REFLECTION] if written else []


def _look(home: Home, notes: Sequence[Standing]) -> tuple[bool, bool]:
    """(counted, written)."""
    merges, projects = count_merges(home), home.config.projects
    inputs = front_pages.fingerprint(notes, projects=projects, merges=merges)
    total, last, known = _reflections(home)
    counted = inputs != known
    if counted:
        home.audit("reflected", Named("reflection", "reflection"), inputs)
        total, last = total + 1, day(home.clock())
    found = front_pages.look_over(notes, projects=projects, merges=merges)
    page = front_pages.build_reflection(found, date=day(home.clock()), last=last, total=total)
    return counted, build_stamped(home, REFLECTION, page, str if counted else front_pages.without_stamp)


def _reflections(home: Home) -> tuple[int, str, str]:
    """(how many, the last one's date, what it looked at), from the audit log; from the page if the log is too long to read."""
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
    texts = home.db.execute("SELECT p.text FROM records r JOIN passages p ON p.n = r.n WHERE r.kind = 'episode' "
                            "AND p.text LIKE '%**Type:** merge%'")
    return sum(_MERGE.search(text) is not None for text, in texts)


def _page(home: Home, path: str) -> str:
    return (bytes_of(home, path) or b"").decode(errors="replace")


def show(home: Home, page: str) -> str:
    """A built page as it stands; nothing is built."""
    if page not in PAGES:
        raise Invalid(f"no page {page!r}", f"use one of {', '.join(PAGES)}")
    found = _page(home, PAGES[page])
    if not found:
        raise NotFound(f"{PAGES[page]} is not built yet", "run: otolith upkeep")
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
            verbs.merging.merge(home, merge.keep, merge.absorb)
        for _, insight in insights:
            keep_insight(home, insight)
        if merges or insights:
            return reflect(home)
    return Reflected(page=show(home, "reflection"), counted=counted, clusters=clusters, merges=merges, insights=insights)


def _refuse_agents(home: Home) -> None:
    if home.trust != "user":
        raise Invalid("agents propose; a person accepts", "on the command line: otolith reflect --apply")


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

    from otolith.meaning import fill
    from otolith.providers.embedders import Static

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
            return verbs.merging.merge(home, merge.keep, merge.absorb)
    for known, insight in insights:
        if known == key:
            return keep_insight(home, insight)
    raise NotFound(f"no proposal {key!r}", "see what is proposed: otolith reflect")


def keep_insight(home: Home, proposal: InsightProposal) -> Note:
    """Make the insight a note that builds on its evidence; accepted twice, it is the same note."""
    kept = verbs.notes.note(home, proposal.title, proposal.text, type="insight", tags=proposal.tags,
                            importance=proposal.importance, key=f"insight:{' '.join(sorted(proposal.members))}")
    for member in proposal.members:
        verbs.links.link(home, kept.id, "BUILDS_ON", member)
    return kept
