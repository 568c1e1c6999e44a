"""What changed, what is contested, and a person's answer on it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from otolith.errors import Invalid, NotFound
from otolith.memory import Memory


def say(mem: Memory, text: str, day: str, **more: str) -> None:
    mem.log([{"role": "user", "content": text, "ts": f"{day}T10:00:00Z"}], created=f"{day}T10:00:00Z", **more)


@pytest.fixture
def moved(mem: Memory) -> Memory:
    say(mem, "I live in Lisbon.", "2026-01-05", topic="life")
    say(mem, "I moved to Porto last week.", "2026-02-05", topic="chat")
    return mem


@pytest.mark.clause("dialog-69")
def test_history_says_what_was_replaced_when_and_by_which_words(moved: Memory) -> None:
    replaced = [event for event in moved.history("user") if event["what"] == "replaced"]

    assert [(event["when"][:10], "Lisbon" in event["was"], event["why"]) for event in replaced] == [
        ("2026-02-05", True, "I moved to Porto last week")]


@pytest.mark.clause("dialog-69")
def test_history_between_two_days_has_only_what_changed_then(moved: Memory) -> None:
    whole, early = moved.history(), moved.history(before="2026-02-01")

    assert {event["what"] for event in early} == {"said"}
    assert early + moved.history(since="2026-02-01") == whole


@pytest.mark.clause("dialog-69")
def test_the_history_of_a_topic_has_its_facts_and_scores(moved: Memory) -> None:
    fact = moved.facts(topic="life")[0]
    moved.review(str(fact.id), score=8)

    assert [(event["what"], event["topic"]) for event in moved.history("life")] == [
        ("said", "life"), ("replaced", "life"), ("scored", "life")]


def test_days_that_hold_nothing_between_them_and_unknown_subjects_are_refused(moved: Memory) -> None:
    with pytest.raises(Invalid):
        moved.history(since="2026-03-01", before="2026-02-01")
    with pytest.raises(NotFound):
        moved.history("zanzibar")


@pytest.fixture
def contested(mem: Memory) -> Memory:
    """An agent says another thing than the user did: no change, a contradiction."""
    say(mem, "The API port is 8080.", "2026-01-05", topic="api")
    mem.log([{"role": "assistant", "content": "The API port is 8443.", "ts": "2026-02-05T10:00:00Z"}],
            created="2026-02-05T10:00:00Z", topic="api")
    return mem


def holding(mem: Memory) -> set[str]:
    return {value for value in ("8080", "8443") for fact in mem.facts()
            if value in fact.title and not fact.superseded_by}


def test_a_contradiction_shows_both_sentences_with_dates_and_sources(contested: Memory) -> None:
    pair, = contested.contradictions()

    assert [(pair[side]["sentence"], pair[side]["said"][:10], pair[side]["trust"]) for side in ("newer", "older")] == [
        ("The API port is 8443", "2026-02-05", "agent"), ("The API port is 8080", "2026-01-05", "user")]
    assert holding(contested) == {"8080", "8443"}


@pytest.mark.parametrize(("holds", "left"), [("new", {"8443"}), ("old", {"8080"}), ("both", {"8080", "8443"})])
def test_a_person_says_which_holds_and_takes_it_back(contested: Memory, home: Path, holds: str, left: set[str]) -> None:
    pair, = contested.contradictions()
    newer, older = pair["newer"]["claim"], pair["older"]["claim"]

    contested.settle(newer, older, holds)

    assert contested.contradictions() == []
    assert holding(contested) == left
    line = json.loads((home / "curation.jsonl").read_text())
    assert {key: line[key] for key in ("op", "old", "new", "holds", "by")} == {
        "op": "settle", "old": older, "new": newer, "holds": holds, "by": "user"}
    contested.reindex()
    assert (holding(contested), contested.contradictions()) == (left, [])

    contested.settle(newer, older, "open")

    assert holding(contested) == {"8080", "8443"}
    assert len(contested.contradictions()) == 1


def test_a_record_can_be_named_instead_of_its_claim(contested: Memory) -> None:
    pair, = contested.contradictions()

    contested.settle(pair["newer"]["record"], pair["older"]["record"], "new")

    assert holding(contested) == {"8443"}


def test_an_agent_cannot_answer_and_bad_answers_are_refused(contested: Memory, home: Path) -> None:
    pair, = contested.contradictions()
    newer, older = pair["newer"]["claim"], pair["older"]["claim"]
    for bad in ((newer, older, "perhaps"), (newer, newer, "new")):
        with pytest.raises(Invalid):
            contested.settle(*bad)
    with pytest.raises(NotFound):
        contested.settle("claim_0000000000000000", older, "new")
    with Memory(home, trust="agent") as agent, pytest.raises(Invalid):
        agent.settle(newer, older, "new")
    assert not (home / "curation.jsonl").exists()


@pytest.mark.parametrize("line", ['{"op":"settle"}', "nonsense", '{"at":"2026-01-01","op":"settle","old":"a","new":"a","holds":"new"}',
                                  '{"at":"x","op":"settle","old":"a","new":"b","holds":"new"}', '{"op":"what"}'])
def test_a_line_that_is_no_answer_is_a_finding_and_the_others_count(contested: Memory, home: Path, line: str) -> None:
    pair, = contested.contradictions()
    contested.settle(pair["newer"]["claim"], pair["older"]["claim"], "new")
    path = home / "curation.jsonl"
    path.write_text(f"{line}\n{path.read_text()}")

    findings = [finding for finding in contested.check() if finding.path == "curation.jsonl"]

    assert [finding.line for finding in findings] == [1]
    assert holding(contested) == {"8443"}


def test_answers_that_go_round_in_a_circle_end(contested: Memory) -> None:
    pair, = contested.contradictions()
    newer, older = pair["newer"]["claim"], pair["older"]["claim"]
    contested.settle(newer, older, "new")
    contested.settle(older, newer, "new")

    contested.reindex()

    assert len(holding(contested)) >= 1
