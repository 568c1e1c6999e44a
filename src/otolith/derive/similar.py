"""Pairs and clusters of notes by meaning, and what they suggest: merges, insights, edges, tags.

Vectors come in as rows of equal length, in the order of the notes; where they come from is not known here.
Pairs come in of one project each: what two projects have in common is nobody's business.
A cluster is a star: the note with the most near neighbours gathers them, then the next of those left, so
that chains of half-alike notes never grow into one heap. Everything here is a proposal; nothing changes a
note.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from otolith.derive.front_pages import link_to
from otolith.model.decay import Standing
from otolith.model.kinds import NOTE_TYPES
from otolith.model.record import TRUSTED
from otolith.model.shape import Value
from otolith.model.text import fold
from otolith.model.times import day

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEAR = 0.5  # cosine of the built-in embedder from which two notes belong together; strangers lie below 0.3
SAME = 0.85  # cosine from which one of two notes of a type is probably too many
SAME_NAMED = 0.65  # the same, when their titles are equal
NEIGHBOURS = 20  # of one note; more of the same say nothing new and cost memory
BLOCK = 1024
SMALLEST = 3  # notes of a cluster
LISTED = 12  # notes that an insight names
_WORD = re.compile(r"[^\W\d_][\w-]{3,}")
SUGGESTED = 8
_BETWEEN = re.compile(r"[\W_]+")
EDGES = 3
FITTING = 0.4  # cosine of the built-in embedder from which a pair of fitting types is proposed
RELATED = 0.5  # the same for a pair of types that says nothing by itself


class Pair(NamedTuple):
    """Two notes by their places, the lower first, and how near they are."""

    first: int
    second: int
    similarity: float


class MergeProposal(NamedTuple):
    """Two notes that say the same; `keep` would take the other in."""

    keep: str
    absorb: str
    similarity: float
    why: str


class InsightProposal(NamedTuple):
    """Several notes that circle around one thing, and the note that would say so."""

    title: str
    text: str
    tags: tuple[str, ...]
    members: tuple[str, ...]
    importance: float


def find_pairs(vectors: NDArray[Any], least: float = NEAR, neighbours: int = NEIGHBOURS) -> list[Pair]:
    """The pairs at least so near, of each note only the nearest few; a row of zeros is near to nothing."""
    import numpy

    given = numpy.asarray(vectors, dtype=numpy.float32)
    if given.ndim != 2 or len(given) < 2:
        return []
    lengths = numpy.linalg.norm(given, axis=1, keepdims=True)
    rows = (given / numpy.where(lengths > 0, lengths, 1)).astype(numpy.float32)
    pairs: dict[tuple[int, int], float] = {}
    for start in range(0, len(rows), BLOCK):
        near = rows[start : start + BLOCK] @ rows.T
        near[numpy.arange(len(near)), numpy.arange(start, start + len(near))] = -1.0
        keep = min(neighbours, len(rows) - 1)
        best = numpy.argpartition(-near, keep - 1, axis=1)[:, :keep]
        values = numpy.take_along_axis(near, best, axis=1)
        for row, place in zip(*numpy.nonzero(values >= least), strict=True):
            ends = sorted((start + int(row), int(best[row, place])))
            pairs[ends[0], ends[1]] = round(float(values[row, place]), 4)
    return [Pair(a, b, value) for (a, b), value in sorted(pairs.items())]


def find_clusters(count: int, pairs: Iterable[Pair], least: float = NEAR) -> list[tuple[int, ...]]:
    """Stars of at least three notes, the largest first; in each the note in the middle, then the nearest."""
    near: defaultdict[int, dict[int, float]] = defaultdict(dict)
    for pair in pairs:
        if pair.similarity >= least:
            near[pair.first][pair.second] = near[pair.second][pair.first] = pair.similarity
    free = set(range(count))
    clusters = []
    for middle in sorted(near, key=lambda place: (-len(near[place]), -sum(near[place].values()), place)):
        if middle not in free:
            continue
        around = sorted((-value, other) for other, value in near[middle].items() if other in free)
        if len(around) + 1 >= SMALLEST:
            clusters.append((middle, *(other for _, other in around)))
            free.difference_update(clusters[-1])
    return sorted(clusters, key=lambda cluster: (-len(cluster), cluster))


def propose_merges(notes: Sequence[Standing], pairs: Iterable[Pair], *, same: float = SAME,
                   same_named: float = SAME_NAMED, apart: Collection[frozenset[str]] = (),
                   limit: int = 20) -> list[MergeProposal]:
    """Notes of one type that say the same, nearest first, each once; `apart` are pairs to leave alone."""
    taken: set[str] = set()
    proposals = []
    near = sorted((-pair.similarity, notes[pair.first].id, notes[pair.second].id, pair) for pair in pairs)
    for *_, pair in near:
        keep, absorb = sorted((notes[pair.first], notes[pair.second]), key=_worth_keeping)
        ids, named = {keep.id, absorb.id}, fold(keep.title) == fold(absorb.title)
        alike = keep.type == absorb.type and pair.similarity >= (same_named if named else same)
        if not alike or ids & taken or ids in apart:
            continue
        taken |= ids
        why = f"{'same title, ' if named else ''}{keep.type}s {pair.similarity:.0%} alike"
        proposals.append(MergeProposal(keep.id, absorb.id, pair.similarity, why))
    return proposals[:limit]


def _worth_keeping(note: Standing) -> tuple[Any, ...]:
    """The one people come to: pinned, then most used, then most important, then the older."""
    return not note.pinned, -note.usage.count, -note.importance, note.created, note.id


def propose_insights(notes: Sequence[Standing], clusters: Iterable[Sequence[int]],
                     known: Mapping[str, Collection[str]] | None = None,
                     limit: int = 5) -> list[InsightProposal]:
    """One insight for each cluster that none covers yet; `known` maps an insight to what it builds on."""
    covered = [set(members) for members in (known or {}).values()]
    proposals = []
    for cluster in clusters:
        around = [notes[place] for place in cluster]
        members = [note for note in around if note.type != "insight" and note.trust in TRUSTED]
        ids = {note.id for note in members}
        if len(members) < SMALLEST or any(2 * len(ids & seen) >= len(ids) for seen in covered):
            continue
        covered.append(ids)
        proposals.append(_insight(members))
    return proposals[:limit]


def _insight(members: Sequence[Standing]) -> InsightProposal:
    tags = _shared((tag for tag in dict.fromkeys(note.tags)) for note in members)
    words = tags or _shared(dict.fromkeys(_WORD.findall(note.title.casefold())) for note in members)
    about = ", ".join(words[:3]) or members[0].title
    days = sorted(day(note.created) for note in members)
    listed = [f"- {note.type}: {link_to(note.title, '../../' + note.path)}" for note in members[:LISTED]]
    more = [f"- and {len(members) - LISTED} more"] if len(members) > LISTED else []
    opening = f"{len(members)} notes from {days[0]} to {days[-1]} circle around {about}:"
    return InsightProposal(
        title=f"Recurring theme: {about}", text="\n".join([opening, "", *listed, *more]),
        tags=tuple(tags[:5]), members=tuple(note.id for note in members),
        importance=round(min(1.0, max(note.importance for note in members)), 2),
    )


def _shared(collections: Iterable[Iterable[str]]) -> list[str]:
    """What at least half of the collections hold, the most frequent first."""
    groups = [list(group) for group in collections]
    counts = Counter(item for group in groups for item in set(group))
    often = [(item, count) for item, count in counts.items() if 2 * count >= len(groups) and count > 1]
    return [item for item, _ in sorted(often, key=lambda entry: (-entry[1], entry[0]))]


class EdgeProposal(NamedTuple):
    """An edge that may be worth writing."""

    source: str
    type: str
    target: str
    strength: float
    title: str  # of the note at the other end


class Near(NamedTuple):
    """A note near the one in hand."""

    id: str
    type: str
    title: str
    similarity: float


def propose_edges(note_id: str, type_: str, near: Iterable[Near],
                  linked: Collection[str] = ()) -> list[EdgeProposal]:
    """At most three edges between a note and its neighbours, nearest first; `linked` are joined already."""
    proposals = []
    for other in near:
        if other.id == note_id or other.id in linked:
            continue
        word, outgoing = _word(type_, other.type)
        if other.similarity < (RELATED if word == "RELATED_TO" else FITTING):
            continue
        source, target = (note_id, other.id) if outgoing else (other.id, note_id)
        strength = round(min(1.0, other.similarity), 2)
        proposals.append(EdgeProposal(source, word, target, strength, other.title))
    proposals.sort(key=lambda edge: (-edge.strength, edge.type == "RELATED_TO", edge.source, edge.target))
    return proposals[:EDGES]


def _word(own: str, other: str) -> tuple[str, bool]:
    """The edge's type, and whether it goes out from the note in hand."""
    if own == "insight" or other == "insight":
        return ("RELATED_TO", True) if own == other else ("BUILDS_ON", own == "insight")
    for source, target, outgoing in ((own, other, True), (other, own, False)):
        if source in NOTE_TYPES and target in NOTE_TYPES[source].relates:
            return NOTE_TYPES[source].relates[target], outgoing
    return "RELATED_TO", True


class TagScore(Value):
    """A tag, in how many records it counts, and how well it fits (0 to 1)."""

    tag: str
    count: int
    score: float


def related_tags(tag: str, records: Iterable[Collection[str]], limit: int = 10) -> list[TagScore]:
    """Tags that stand beside this one, by the share of both tags' records in which they meet."""
    totals: Counter[str] = Counter()
    together: Counter[str] = Counter()
    for tags in records:
        own = set(tags)
        totals.update(own)
        if tag in own:
            together.update(own - {tag})
    return _best([TagScore(tag=other, count=count, score=round(count / sqrt(totals[tag] * totals[other]), 4))
                  for other, count in together.items()], limit)


def suggest_tags(text: str, neighbours: Iterable[tuple[Collection[str], float]], known: Mapping[str, int],
                 own: Collection[str] = (), limit: int = SUGGESTED) -> list[TagScore]:
    """Known tags that suit a text: those its words name and those its neighbours (tags, similarity) carry."""
    near = [(set(tags), max(0.0, similarity)) for tags, similarity in neighbours]
    mass = sum(similarity for _, similarity in near) or 1.0
    scores: Counter[str] = Counter()
    for tags, similarity in near:
        for tag in tags:
            scores[tag] += similarity / mass  # type: ignore[assignment]
    padded = f" {_BETWEEN.sub(' ', text.casefold())} "
    for tag in known:
        name = _BETWEEN.sub(" ", tag.casefold()).strip()
        if name and f" {name} " in padded:
            scores[tag] += 1
    return _best([TagScore(tag=tag, count=known.get(tag, 0), score=round(min(1.0, score / 2), 4))
                  for tag, score in scores.items() if tag not in own], limit)


def _best(tags: list[TagScore], limit: int) -> list[TagScore]:
    return sorted(tags, key=lambda tag: (-tag.score, -tag.count, tag.tag))[:limit]
