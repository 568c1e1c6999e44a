"""What resembles what, and what is proposed from it."""

from __future__ import annotations

import numpy
import pytest

from otolith.derive.similar import (
    Near,
    Pair,
    find_clusters,
    find_pairs,
    propose_edges,
    propose_insights,
    propose_merges,
    related_tags,
    suggest_tags,
)
from otolith.model.decay import Standing
from otolith.model.record import Usage


def note(number: int = 1, **changes: object) -> Standing:
    given: dict[str, object] = {
        "id": f"n{number}", "type": "fix", "title": f"Note {number}", "path": f"graph/fixes/note-{number}.md",
        "created": 86_400.0 * number,
    }
    return Standing(**{**given, **changes})  # type: ignore[arg-type]


def test_pairs_are_found_by_angle_and_not_by_length():
    pairs = find_pairs(numpy.array([[1, 0], [5, 0.1], [0, 1], [0, 0]]), least=0.9)

    assert [(pair.first, pair.second) for pair in pairs] == [(0, 1)]


def test_pairs_are_the_same_in_blocks_as_in_one_piece(monkeypatch):
    vectors = numpy.random.default_rng(7).normal(size=(300, 16))
    whole = find_pairs(vectors, least=0.5)

    monkeypatch.setattr("otolith.derive.similar.BLOCK", 7)

    assert find_pairs(vectors, least=0.5) == whole
    assert len(whole) > 20


@pytest.mark.parametrize("vectors", [[], [[1.0, 0.0]], numpy.zeros((4, 3))])
def test_too_little_to_compare_gives_no_pairs(vectors):
    assert find_pairs(numpy.asarray(vectors)) == []


def test_a_heap_of_equal_notes_stays_small():
    assert len(find_pairs(numpy.ones((500, 4)), neighbours=5)) <= 2500


def test_a_cluster_is_a_star_and_a_chain_is_none():
    star = [Pair(first=0, second=at, similarity=0.7 + at / 100) for at in (1, 2, 3)]
    chain = [Pair(first=10, second=11, similarity=0.7)]

    assert find_clusters(12, star + chain) == [(0, 3, 2, 1)]


def test_every_note_is_in_one_cluster_at_most():
    rows = numpy.repeat(numpy.eye(4), 5, axis=0) + 0.01
    clusters = find_clusters(20, find_pairs(rows))

    assert sorted(len(cluster) for cluster in clusters) == [5, 5, 5, 5]
    assert len({place for cluster in clusters for place in cluster}) == 20


def test_two_notes_of_one_type_that_say_the_same_are_proposed_for_merging():
    notes = [note(1), note(2, usage=Usage(4, 1.0))]

    proposal, = propose_merges(notes, [Pair(first=0, second=1, similarity=0.95)])

    assert (proposal.keep, proposal.absorb) == ("n2", "n1")
    assert "95%" in proposal.why


def test_notes_of_different_types_or_kept_apart_are_not_merged():
    pair = [Pair(first=0, second=1, similarity=0.99)]

    assert propose_merges([note(1), note(2, type="problem")], pair) == []
    assert propose_merges([note(1), note(2)], pair, apart=[frozenset(("n1", "n2"))]) == []


def test_equal_titles_need_less_likeness():
    pair = [Pair(first=0, second=1, similarity=0.8)]

    assert propose_merges([note(1), note(2)], pair) == []
    assert len(propose_merges([note(1, title="Redis  drops"), note(2, title="redis drops")], pair)) == 1


def test_a_note_is_merged_into_its_nearest_only():
    pairs = [Pair(first=0, second=1, similarity=0.92), Pair(first=1, second=2, similarity=0.97)]

    assert [{p.keep, p.absorb} for p in propose_merges([note(1), note(2), note(3)], pairs)] == [{"n2", "n3"}]


@pytest.mark.clause("notes-23")
def test_a_cluster_becomes_an_insight_that_names_its_notes():
    notes = [note(at, tags=("redis", f"x{at}")) for at in range(4)]

    proposal, = propose_insights(notes, [(0, 1, 2, 3)])

    assert proposal.title == "Recurring theme: redis"
    assert proposal.tags == ("redis",)
    assert proposal.members == ("n0", "n1", "n2", "n3")
    assert "4 notes from 1970-01-01 to 1970-01-04" in proposal.text
    assert "[Note 2](../../graph/fixes/note-2.md)" in proposal.text


def test_without_common_tags_an_insight_is_named_by_the_words_of_the_titles():
    notes = [note(at, title=f"Timeout of server {at}") for at in range(3)]

    assert propose_insights(notes, [(0, 1, 2)])[0].title == "Recurring theme: server, timeout"


def test_what_an_insight_already_covers_is_not_proposed_again():
    notes = [note(at) for at in range(4)]

    assert propose_insights(notes, [(0, 1, 2, 3)], {"i": ["n0", "n1"]}) == []
    assert len(propose_insights(notes, [(0, 1, 2, 3)], {"i": ["n0"]})) == 1


def test_insights_and_notes_from_outside_are_no_evidence():
    notes = [note(0), note(1), note(2, type="insight"), note(3, trust="outside")]

    assert propose_insights(notes, [(0, 1, 2, 3)]) == []


def near(id_: str, type_: str, similarity: float = 0.8) -> Near:
    return Near(id=id_, type=type_, title=id_, similarity=similarity)


@pytest.mark.parametrize(("own", "other", "expected"), [
    ("solution", "problem", ("me", "SOLVES", "it")), ("problem", "solution", ("it", "SOLVES", "me")),
    ("fix", "error", ("me", "SOLVES", "it")), ("problem", "error", ("me", "CAUSES", "it")),
    ("decision", "decision", ("me", "ALTERNATIVE_TO", "it")), ("procedure", "configuration", ("me", "REQUIRES", "it")),
    ("insight", "fix", ("me", "BUILDS_ON", "it")), ("fix", "insight", ("it", "BUILDS_ON", "me")),
    ("insight", "insight", ("me", "RELATED_TO", "it")), ("general", "workflow", ("me", "RELATED_TO", "it")),
])
def test_an_edge_is_proposed_by_the_pair_of_types(own, other, expected):
    proposal, = propose_edges("me", own, [near("it", other)])

    assert (proposal.source, proposal.type, proposal.target) == expected
    assert proposal.strength == 0.8


def test_at_most_three_edges_are_proposed_nearest_first():
    found = propose_edges("me", "fix", [near(f"n{at}", "problem", 0.45 + at / 20) for at in range(6)])

    assert [proposal.target for proposal in found] == ["n5", "n4", "n3"]


def test_a_pair_of_types_that_says_nothing_must_be_nearer():
    assert propose_edges("me", "fix", [near("a", "general", 0.45)]) == []
    assert len(propose_edges("me", "fix", [near("a", "problem", 0.45)])) == 1


def test_neither_itself_nor_what_is_linked_is_proposed():
    assert propose_edges("me", "fix", [near("me", "problem"), near("a", "problem")], linked=["a"]) == []


def test_related_tags_are_those_that_share_most_of_their_records():
    found = related_tags("redis", [("redis", "cache"), ("redis", "cache"), ("redis", "python"), ("python",), ("python",)])

    assert [(item.tag, item.count) for item in found] == [("cache", 2), ("python", 1)]
    assert found[0].score == pytest.approx(2 / 6**0.5, abs=1e-4)


def test_an_unknown_tag_is_related_to_nothing():
    assert related_tags("nothing", [("a", "b")]) == []


def test_tags_are_suggested_by_the_words_of_the_text_and_by_neighbours():
    found = suggest_tags("The home-lab server runs Redis.", [(("cache", "redis"), 0.9), (("disk",), 0.1)],
                         {"redis": 3, "home-lab": 2, "cache": 1, "disk": 1, "java": 9}, own=["disk"])

    assert [item.tag for item in found] == ["redis", "home-lab", "cache"]
