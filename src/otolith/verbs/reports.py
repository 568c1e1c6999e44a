"""How the notes stand and what is reported of them: decay, core, reflection, reflect, accept.

`decay` scores every note from the usage that is folded into the index and keeps _state.json, in seed 004's
shape and output only; the pages are built from the same scores. A page is written only when more than its
stamp would change. A reflection is counted (an audit line `reflected` with the fingerprint of what it
looked at) only when that changed. Proposals are carried out only when a person says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from otolith.config import timer_file
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
from otolith.model.decay import DIGITS, Decay, Standing, score_all, take_apart, weight
from otolith.model.ids import derived_uuid
from otolith.model.kinds import KINDS
from otolith.model.note import Note
from otolith.model.record import Usage
from otolith.model.shape import Value
from otolith.model.times import day, offset, parse_time
from otolith.verbs import links
from otolith.verbs.claims import draw
from otolith.verbs.exports import build_stamped
from otolith.verbs.standing import beside
from otolith.verbs.steps import bytes_of, locate

if TYPE_CHECKING:
    from otolith.index.notes import Stood

CORE, REFLECTION = "CORE.md", "REFLECTION.md"
PAGES = {"core": CORE, "reflection": REFLECTION, "global": "GLOBAL_MEMORY.md"}
_MERGE = re.compile(r"^- \*\*Type:\*\*[ \t]*merge[ \t]*$", re.MULTILINE)
_REFLECTED = b'"verb":"reflected"'
_COUNTS = re.compile(r"Last reflection: (\S+) \| Total reflections: (\d+)")
STATE = "_state.json"
_STAMP = re.compile(r'"updated": "([^"]+)"')


# Decay

class Scores:
    """The notes as they stand, read once and scored once for a moment: a round's pages are built from it."""

    def __init__(self, home: Home) -> None:
        self.home, self.basis = home, home.index.last_purge()
        self._at: tuple[float, list[float]] = (-1.0, [])

    @cached_property
    def notes(self) -> list[Stood]:
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
        tags, openings = self.home.index.notes.tags("note"), self.home.index.notes.openings("insight")
        return [Standing(id=note.id, type=note.type, title=note.title, path=note.unit, created=note.created,
                         tags=tuple(tags.get(note.n, ())), importance=note.importance, score=score,
                         usage=Usage(note.uses, note.last), pinned=bool(note.pinned), trust=note.trust,
                         principal=note.principal, project=note.project, preview=openings.get(note.n, ""))
                for note, score in zip(self.notes, self.at(moment), strict=True)]


def decay(home: Home) -> list[tuple[Any, ...]]:
    """Score every note now and write _state.json; gives (id, count, last access, score) of each."""
    home.ensure_fresh()
    home.fold_usage()
    scores, now = Scores(home), _moment(home)
    _write_state(home, scores, now)
    return [(note.id, note.uses, note.last, score)
            for note, score in zip(scores.notes, scores.at(now), strict=True)]


def decay_rung(home: Home, scores: Scores | None = None) -> list[str]:
    """Upkeep's part. A file of today that still holds for the moment it names stays."""
    scores = scores or Scores(home)
    if home.index.marks.get("decay") in (None, scores.inputs) \
            and _render(scores, state_moment(home)) == _page(home, STATE):
        home.index.marks.set("decay", "", scores.inputs)
        return []
    return [STATE] if _write_state(home, scores, _moment(home)) else []


def _write_state(home: Home, scores: Scores, moment: float) -> bool:
    written = home.build(STATE, _render(scores, moment).encode())
    home.index.marks.set("decay", "", scores.inputs)
    return written


def state_moment(home: Home) -> float:
    """The moment that _state.json holds for if it is of today, else now: what is built from scores agrees."""
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
    if not KINDS[row.kind].decays:
        raise Invalid(f"{KINDS[row.kind].named} does not decay",
                      "ask for a record that is used: a note, a chunk, a memo, a work")
    pinned = bool(row.pinned or links.standing(home, row.id, "pinned", row.id))
    return row.title, take_apart(
        importance=0.5 if row.importance is None else row.importance, created=row.created, type_=row.type,
        usage=home.index.cards.usage_of(row), now=home.clock(), pinned=pinned, kind=row.kind)


# The pages

class Reflected(Value):
    """What a reflection gave: the page, and what it proposes, each with a key to accept it by."""

    page: str
    counted: bool  # something had changed since the last one
    clusters: Sequence[Sequence[str]]
    merges: Sequence[tuple[str, MergeProposal]]
    insights: Sequence[tuple[str, InsightProposal]]

    def to_dict(self) -> dict[str, Any]:
        return {"page": self.page, "counted": self.counted,
                "clusters": [list(cluster) for cluster in self.clusters],
                "merges": [{"key": key, **merge._asdict()} for key, merge in self.merges],
                "insights": [{"key": key, **insight._asdict()} for key, insight in self.insights]}


def core(home: Home) -> str:
    """Build CORE.md anew and give its text."""
    home.ensure_fresh()
    home.fold_usage()
    _write_core(home, [*standings(home), *beside(home, _moment(home))])
    return show(home, "core")


def core_rung(home: Home, scores: Scores | None = None) -> list[str]:
    """Upkeep's part; it goes by the scores that _state.json holds."""
    moment = state_moment(home)
    everything = [*(scores or Scores(home)).standings(moment), *beside(home, moment)]
    return [CORE] if _write_core(home, everything) else []


def _write_core(home: Home, records: Sequence[Standing]) -> bool:
    page = front_pages.build_core(records, date=day(home.clock()), refresh=_refresh(home))
    return build_stamped(home, CORE, page, front_pages.without_stamp)


def _refresh(home: Home) -> str:
    """What builds the page next, as the page says it."""
    if home.tree.folder and timer_file(home.tree.folder).exists():
        return "daily (systemd timer)"
    return "daily (by itself)" if home.config.upkeep else "by hand"


def reflection(home: Home) -> str:
    """Build REFLECTION.md anew and give its text."""
    home.sweep()
    home.fold_usage()
    reflection_rung(home)
    return show(home, "reflection")


def reflection_rung(home: Home, scores: Scores | None = None) -> list[str]:
    """Upkeep's part: count the reflection if anything changed, write the page if it says something new."""
    moment = state_moment(home)
    everything = [*(scores or Scores(home)).standings(moment), *beside(home, moment)]
    _, written = _look(home, everything)
    return [REFLECTION] if written else []


def _look(home: Home, notes: Sequence[Standing]) -> tuple[bool, bool]:
    """(counted, written)."""
    merges, projects = count_merges(home), home.config.projects
    inputs = front_pages.fingerprint(notes, projects=projects, merges=merges)
    total, last, before = _reflections(home)
    counted = inputs != before
    if counted:
        home.audit("reflected", Named("reflection", "reflection"), inputs)
        total, last = total + 1, day(home.clock())
    reflection = front_pages.look_over(notes, projects=projects, merges=merges)
    page = front_pages.build_reflection(reflection, date=day(home.clock()), last=last, total=total)
    return counted, build_stamped(home, REFLECTION, page, str if counted else front_pages.without_stamp)


def _reflections(home: Home) -> tuple[int, str, str]:
    """(how many, the last one's date, what it looked at), by the audit log; if too long, by the page."""
    try:
        data, _ = home.tree.read(paths.AUDIT)
    except NotFound:
        return 0, "never", ""
    except Damaged:
        counts = _COUNTS.search(_page(home, REFLECTION))
        return (int(counts[2]), counts[1], "") if counts else (0, "never", "")
    lines = [line for line in data.split(b"\n") if _REFLECTED in line]
    try:
        line = json.loads(lines[-1]) if lines else {}
    except (ValueError, RecursionError):
        line = {}
    return len(lines), str(line.get("ts", "never"))[:10], str(line.get("sha256", ""))


def count_merges(home: Home) -> int:
    """The merges in the diary."""
    return sum(_MERGE.search(text) is not None for text in home.index.notes.merge_blocks())


def _page(home: Home, path: str) -> str:
    return (bytes_of(home, path) or b"").decode(errors="replace")


def show(home: Home, page: str) -> str:
    """A built page as it stands; nothing is built."""
    if page not in PAGES:
        raise Invalid(f"no page {page!r}", f"use one of {', '.join(PAGES)}")
    text = _page(home, PAGES[page])
    if not text:
        raise NotFound(f"{PAGES[page]} is not built yet", "run: otolith upkeep")
    return text


# Reflecting

def reflect(home: Home, *, apply: bool = False) -> Reflected:
    """Look over all notes: themes and patterns go to REFLECTION.md; likeness proposes merges and insights.

    With `apply`, which only a person may say, every proposal is carried out at once.
    """
    home.sweep()
    home.fold_usage()
    notes = standings(home)
    clusters, merges, insights = propose(home, notes)
    counted, _ = _look(home, [*notes, *beside(home, _moment(home))])
    if apply:
        _refuse_agents(home)
        for _, merge in merges:
            _carry_out(home, merge)
        for _, insight in insights:
            _carry_out(home, insight)
        if merges or insights:
            return reflect(home)
    return Reflected(page=show(home, "reflection"), counted=counted, clusters=clusters, merges=merges,
                     insights=insights)


def _refuse_agents(home: Home) -> None:
    if home.trust != "user":
        raise Invalid("agents propose; a person accepts", "on the command line: otolith reflect --apply")


def propose(home: Home, notes: Sequence[Standing]) -> tuple[
        list[list[str]], list[tuple[str, MergeProposal]], list[tuple[str, InsightProposal]]]:
    """Clusters of titles by meaning, merges, insights; each proposal under a key that stays the same."""
    pairs = [pair for pair in _alike(home, notes)
             if (notes[pair.first].project or "default") == (notes[pair.second].project or "default")]
    clusters = find_clusters(len(notes), pairs)
    links = home.index.notes.linked_by("ALTERNATIVE_TO", "BUILDS_ON", "FOLLOWS")
    bases: dict[str, list[str]] = {note.id: [] for note in notes if note.type == "insight"}
    for link in links:
        if link.said == "BUILDS_ON" and link.a in bases:
            bases[link.a].append(link.b)
    apart = {frozenset((link.a, link.b)) for link in links} | _opposed(home, notes, pairs)
    merges = propose_merges(notes, pairs, apart=apart)
    return ([[notes[place].title for place in cluster] for cluster in clusters],
            [(_key(merge.keep, merge.absorb), merge) for merge in merges],
            [(_key(*sorted(insight.members)), insight)
             for insight in propose_insights(notes, clusters, bases)])


def _opposed(home: Home, notes: Sequence[Standing], pairs: Sequence[Pair]) -> set[frozenset[str]]:
    """Notes of which one says that the other no longer holds: two ports are a change, no double."""
    draw(home)
    near = {notes[place].id for pair in pairs for place in (pair.first, pair.second)}
    closed = home.index.claims.closings(near)
    contested = home.index.claims.contested()
    return ({frozenset((old, closing.record)) for old, closing in closed.items()}
            | {frozenset((contest.older.record, contest.newer.record)) for contest in contested})


def _alike(home: Home, notes: Sequence[Standing]) -> list[Pair]:
    """Notes near each other by the built-in embedder, whose likeness the thresholds are made for."""
    import numpy

    from otolith.meaning import fill
    from otolith.providers.embedders import Static

    held = fill(home.index, home.config, Static(), notices=home.notices)
    if held is None:
        return []
    vectors = home.index.meaning.first_vectors(held, "note")
    empty = numpy.zeros(held.dimension, numpy.float32)
    return find_pairs(numpy.stack([vectors.get(note.id, empty) for note in notes])) if notes else []


def _key(*ids: str) -> str:
    return derived_uuid("proposal", *ids)[:8]


def accept(home: Home, key: str) -> Note:
    """Carry out one proposal of the last reflection: the merged note, or the insight."""
    _refuse_agents(home)
    home.sweep()
    _, merges, insights = propose(home, standings(home))
    proposal = dict(merges).get(key) or dict(insights).get(key)
    if proposal is None:
        raise NotFound(f"no proposal {key!r}", "see what is proposed: otolith reflect")
    return _carry_out(home, proposal)


def _carry_out(home: Home, proposal: MergeProposal | InsightProposal) -> Note:
    if isinstance(proposal, MergeProposal):
        from otolith.verbs.merging import merge

        return merge(home, proposal.keep, proposal.absorb)
    return keep_insight(home, proposal)


def keep_insight(home: Home, proposal: InsightProposal) -> Note:
    """Make the insight a note that builds on its evidence; accepted twice, it is the same note."""
    from otolith.verbs.notes import note

    kept = note(home, proposal.title, proposal.text, type="insight", tags=proposal.tags,
                importance=proposal.importance, key=f"insight:{' '.join(sorted(proposal.members))}")
    for member in proposal.members:
        links.link(home, kept.id, "BUILDS_ON", member)
    return kept
