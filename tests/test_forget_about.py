"""`forget --about`: what is known of something, across kinds, put away or purged after a yes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otolith.errors import NeedsConfirmation
from otolith.memory import Memory
from otolith.verbs.purge import remember_again


def test_a_forgotten_fact_takes_its_turn_out_of_the_first_place_and_the_turn_says_why(mem: Memory) -> None:
    mem.log("User: I live in Lisbon.\nAssistant: Noted.\n", topic="home")
    mem.log("User: Lisbon is where the conference takes place.\nAssistant: Fine.\n", topic="travel")
    fact = next(fact for fact in mem.facts("home") if fact.sentence and "live in Lisbon" in fact.sentence)
    assert "live in Lisbon" in mem.recall("live in Lisbon").hits[0].text

    mem.forget(fact.id)

    hits = mem.recall("live in Lisbon").hits
    assert "conference" in hits[0].text
    turn = next(hit for hit in hits if "I live in Lisbon" in hit.text)
    assert any("forgotten" in reason for reason in turn.why)

    mem.restore(fact.id)
    assert "live in Lisbon" in mem.recall("live in Lisbon").hits[0].text


@pytest.fixture
def lisbon(mem: Memory) -> dict[str, str]:
    """What a home knows about Lisbon, in several kinds, and something else."""
    return {
        "note": mem.note("Flat in Lisbon", "The flat in Lisbon has a leaking roof.").id,
        "memo": mem.memo("rent_lisbon_flat_monthly", "The rent of the Lisbon flat is due monthly.").id,
        "work": mem.record(goal="Find a plumber in Lisbon", task_type="other", success=True, summary="Found one.").id,
        "other": mem.note("Flat in Porto", "The flat in Porto is let.").id,
    }


def test_what_is_known_about_something_is_listed_across_kinds_and_nothing_goes_before_a_yes(
        mem: Memory, lisbon: dict[str, str]) -> None:
    known = mem.forget(about="Lisbon")

    assert {item["id"] for item in known["items"]} == {lisbon["note"], lisbon["memo"], lisbon["work"]}
    assert not known["forgotten"]
    assert mem.get(lisbon["note"]).title == "Flat in Lisbon"


def test_after_a_yes_it_is_put_away_in_one_act_that_can_be_taken_back(mem: Memory, lisbon: dict[str, str]) -> None:
    mem.forget(about="Lisbon", yes=True)

    assert mem.forget(about="Lisbon")["items"] == []
    assert mem.get(lisbon["other"]).title == "Flat in Porto"

    remember_again(mem.home, "")
    assert len(mem.forget(about="Lisbon")["items"]) == 3


def test_a_purge_about_something_leaves_no_trace_of_it(home: Path, mem: Memory, lisbon: dict[str, str]) -> None:
    mem.forget(about="Lisbon", purge=True, yes=True)

    texts = [path.read_text(errors="replace") for path in home.rglob("*") if path.is_file() and path.suffix in (".md", ".json")]
    assert not any("leaking roof" in text or "plumber" in text for text in texts)
    assert any("Porto" in text for text in texts)


def test_an_agent_cannot_forget_all_about_something(home: Path, clock: object) -> None:
    with Memory(home, trust="agent") as agent:
        agent.note("Flat in Lisbon", "It leaks.")
        with pytest.raises(NeedsConfirmation):
            agent.forget(about="Lisbon", yes=True)


def test_a_dialog_that_mentions_it_among_other_things_stays_and_is_named(mem: Memory) -> None:
    mem.log("User: I sold the flat in Lisbon.\nAssistant: Good.\nUser: My dentist is in Faro.\nAssistant: Fine.\n"
            "User: The car needs new tyres.\nAssistant: Noted.\n", topic="life")

    known = mem.forget(about="Lisbon")

    assert [item["kind"] for item in known["mentions"]] == ["entry"]
    assert all(item["kind"] != "entry" for item in known["items"])


def test_the_command_asks_with_exit_code_ten_and_goes_ahead_with_yes(
        home: Path, mem: Memory, lisbon: dict[str, str], run: Any) -> None:
    asked = run("forget", "--about", "Lisbon")
    assert asked.code == 10
    assert lisbon["note"] in asked.err

    done = json.loads(run("forget", "--about", "Lisbon", "--yes", "--json").out)
    assert done["total"] == 3
    assert run("forget", "--undo").code == 0
    assert run("get", lisbon["note"]).code == 0
    assert run("forget").code == 2


def test_forget_everything_about_something_said_in_a_dialog_becomes_a_proposal_of_the_garden(
        mem: Memory, lisbon: dict[str, str]) -> None:
    mem.log("User: Please forget everything about Lisbon.\nAssistant: I will propose that.\n", topic="life")

    assert mem.garden().to_forget == [("Lisbon", 3)]
    assert "otolith forget --about 'Lisbon'" in mem.garden().text

    mem.forget(about="Lisbon", yes=True)
    assert mem.garden().to_forget == []


def test_what_an_agent_says_about_forgetting_is_no_proposal(mem: Memory, lisbon: dict[str, str]) -> None:
    mem.log("User: Hello there, my friend.\nAssistant: Forget everything about Lisbon.\n", topic="life")

    assert mem.garden().to_forget == []
