"""Reasoning over chunks with no model."""

from __future__ import annotations

import pytest

from otolith.derive.reasoning import Source, find_contradictions, reason
from otolith.errors import Invalid


def source(
    name: str, text: str, kind: str = "fact", tags: tuple[str, ...] = ("db",), at: float = 0, **links: list[str]
) -> Source:
    return Source(id=name, text=text, type=kind, tags=tags, created=at, links=links)


QUEUE = [
    source("c1", "We decided to use Postgres for the queue. It was cheap.", "decision", at=1),
    source(
        "c2", "Postgres deployments keep failing on Mondays. Who owns the deploys?", "pattern", ("db", "deploy"), at=3
    ),
    source("c3", "Redis holds the sessions.", "fact", ("cache",), at=2, supports=["c1"]),
]


def test_a_synthesis_arranges_what_is_said_by_type_and_cites_it():
    found = reason("synthesis", QUEUE, "the queue")

    assert found.kind == "synthesis"
    assert found.text.index("## Decisions") < found.text.index("## Patterns") < found.text.index("## Facts")
    assert "- We decided to use Postgres for the queue. [c1] (supported by [c3])" in found.text
    assert found.citations == ("c1", "c3", "c2")


def test_the_same_sentence_in_two_chunks_is_said_once_with_both_ids():
    found = reason("synthesis", [source("c1", "The port is 80."), source("c2", "The port is 80.", at=1)])

    assert found.text.count("The port is 80.") == 1
    assert "[c1][c2]" in found.text


def test_a_comparison_puts_two_terms_side_by_side():
    found = reason("comparison", QUEUE, "Compare Postgres and Redis")

    assert "| | Postgres | Redis |" in found.text
    assert "| Decisions | We decided to use Postgres for the queue. [c1] | – |" in found.text
    assert "| Facts | – | Redis holds the sessions. [c3] |" in found.text


def test_a_comparison_says_when_it_knows_nothing_of_one_side():
    assert "Nothing is known about MySQL." in reason("comparison", QUEUE, terms=("Postgres", "MySQL")).text


def test_a_comparison_of_one_thing_is_refused():
    with pytest.raises(Invalid):
        reason("comparison", QUEUE, "Postgres")


def test_a_pattern_counts_what_recurs_across_chunks_whatever_its_inflection():
    found = reason("pattern", [*QUEUE, source("c4", "The deployment failed again.", at=9)])

    assert "- db: 3 of 4 [c1][c2][c4]" in found.text
    assert "- postgres: 2 of 4 [c1][c2]" in found.text
    assert "- deployments: 2 of 4 [c2][c4]" in found.text
    assert "sessions" not in found.text


def test_a_gap_names_what_is_asked_for_and_not_covered():
    found = reason("gap", QUEUE, "What do we know about the queue, rollback and cost?")

    assert "## Not covered\n\n- rollback\n- cost\n" in found.text
    assert "- queue: [c1]" in found.text
    assert "Who owns the deploys? [c2]" in found.text


def test_an_unknown_way_of_reasoning_is_refused():
    with pytest.raises(Invalid, match="synthesis"):
        reason("magic", QUEUE)


def test_no_chunks_give_no_invention():
    found = reason("synthesis", [], "tea")

    assert (found.citations, found.proposals) == ((), ())


def test_an_explicit_contradiction_is_proposed_whatever_the_texts_say():
    found = find_contradictions([source("new", "Tea.", at=2, contradicts=["old"]), source("old", "Coffee.", at=1)])

    assert [(c.older, c.newer, c.found_by) for c in found] == [("old", "new", "link")]


CONTRADICTING = [
    ("The database is Postgres.", "The database is MySQL."),
    ("User prefers dark mode.", "User prefers light mode."),
    ("User prefers Python over JavaScript", "User prefers JavaScript over Python"),
    ("I like tea.", "I don't like tea."),
    ("I love cilantro", "I hate cilantro."),
    ("The cache is enabled.", "The cache is disabled."),
    ("The server listens on port 8080.", "The server listens on port 9090."),
    ("We use Postgres for the queue.", "We use Redis for the queue."),
    ("We chose Python.", "We switched to Rust."),
    ("Alice lives in Berlin.", "Alice lives in Paris."),
    ("User prefers short answers", "User no longer prefers short answers."),
]
AGREEING = [
    ("User likes tea.", "User likes coffee."),
    ("The server is fast.", "The server is old."),
    ("I like tea.", "I like green tea."),
    ("Alice lives in Berlin.", "Bob lives in Paris."),
    ("We use Postgres.", "We use Redis."),
    ("The port is 80.", "The port is 80 by default."),
    ("Is the cache enabled?", "The cache is disabled."),
    ("If the cache is enabled, stop.", "The cache is disabled."),
    ("The cache is enabled.", "The cache is enabled."),
]


@pytest.mark.parametrize(("older", "newer"), CONTRADICTING)
def test_contradictions_within_a_shared_tag_are_found_by_rule(older, newer):
    found = find_contradictions([source("a", older, at=1), source("b", newer, at=2)])

    assert [(c.older, c.newer, c.found_by) for c in found] == [("a", "b", "rule")]
    assert older.rstrip(".") in found[0].reason


@pytest.mark.parametrize(("older", "newer"), AGREEING)
def test_what_can_both_be_true_is_no_contradiction(older, newer):
    assert find_contradictions([source("a", older, at=1), source("b", newer, at=2)]) == []


def test_without_a_shared_tag_no_rule_looks():
    assert (
        find_contradictions([source("a", "I like tea.", tags=("x",)), source("b", "I don't like tea.", tags=("y",))])
        == []
    )


def test_contradictions_are_shown_for_review():
    found = reason("synthesis", [source("a", "I like tea.", at=1), source("b", "I don't like tea.", at=2)])

    assert "## To review\n\n- [a] and [b]: \"I like tea\"" in found.text
    assert len(found.proposals) == 1


def test_the_same_chunks_in_any_order_give_the_same_text():
    assert reason("pattern", QUEUE) == reason("pattern", reversed(QUEUE))


def test_many_chunks_under_one_tag_are_compared_by_subject_not_each_with_each():
    many = [source(f"c{n}", f"Server{n} is fast. Machine{n} listens on port {n}.", at=n) for n in range(3000)]

    assert find_contradictions(many) == []
