"""One bad value in an entry's files hides nothing else: the turns are recalled, the good facts count, `check` names the value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otolith.memory import Memory

TOLD = "Ann: The pangolin sleeps in the boathouse.\nBob: Then we leave the door open."
FACT = {"subject": "Ann", "relation": "lives in", "object": "Lyon", "type": "identity"}


@pytest.fixture
def folder(home: Path) -> Path:
    place = home / "topics/zoo/entry_20260110T101010Z_0a1b2c3d"
    place.mkdir(parents=True)
    (place / "raw.md").write_text(TOLD)
    return place


def write(folder: Path, name: str, value: Any) -> None:
    (folder / name).write_text(value if isinstance(value, str) else json.dumps(value, indent=2))


@pytest.mark.parametrize(("name", "value", "said"), [
    ("summary.json", {"facts": [FACT, {**FACT, "object": "Bern", "time_span": "whenever"}]}, "facts[1].time_span"),
    ("summary.json", {"facts": [FACT, {**FACT, "object": "Bern", "type": "rumour"}]}, "facts[1].type"),
    ("summary.json", {"facts": [FACT, "Ann lives in Bern"]}, "facts[1]"),
    ("summary.json", {"facts": [FACT], "summary": 7}, "summary must be text"),
    ("summary.json", '{"facts": [{"subj', "is not JSON"),
    ("summary.json", {"facts": "none"}, "facts must be a list"),
    ("meta.json", {"entry_ts": "whenever", "tags": ["zoo"]}, "entry_ts is not a time"),
    ("meta.json", {"entry_ts": 7, "tags": ["zoo"]}, "entry_ts is not a time"),
    ("meta.json", {"tags": "zoo"}, "tags must be a list"),
    ("meta.json", {"origin": {"trust": "blind"}, "tags": ["zoo"]}, "origin.trust"),
    ("meta.json", '{"entry_ts": "2026-01', "is not JSON"),
    ("meta.json", {"entry_id": "another"}, "names another entry"),
])
def test_one_bad_value_is_a_finding_and_hides_nothing_else(mem: Memory, folder: Path, name: str, value: Any, said: str) -> None:
    write(folder, name, value)
    before = (folder / name).read_bytes()

    assert mem.recall("pangolin boathouse", kind="entry").hits[0].id == folder.name
    [finding] = [one for one in mem.check() if one.code != "schema"]
    assert (finding.path, said in finding.message) == (f"topics/zoo/{folder.name}/{name}", True), finding
    assert (folder / name).read_bytes() == before
    if isinstance(value, dict) and isinstance(value.get("facts"), list):
        assert "Lyon" in [fact.object for fact in mem.facts("zoo")]
    if value == {"entry_ts": "whenever", "tags": ["zoo"]}:
        assert mem.get(folder.name).tags == ["zoo"]


def test_a_mended_value_is_no_finding_any_more(mem: Memory, folder: Path) -> None:
    write(folder, "summary.json", {"facts": [{**FACT, "type": "rumour"}]})
    assert [one.code for one in mem.check()] == ["schema", "invalid"]
    write(folder, "summary.json", {"schema": "entry_summary.v1", "facts": [FACT]})

    assert mem.check() == []
    assert [fact.object for fact in mem.facts("zoo")] == ["Lyon"]


def test_an_entry_without_a_time_of_its_own_has_that_of_its_id(mem: Memory, folder: Path) -> None:
    assert mem.get(folder.name).record.meta.entry_ts == "2026-01-10T10:10:10Z"


def test_a_turn_with_a_time_that_is_none_is_still_recalled(mem: Memory, folder: Path) -> None:
    (folder / "raw.md").write_text("### Ann · 2026-99-99\n\nThe pangolin sleeps.\n")

    assert mem.recall("pangolin", kind="entry").hits[0].id == folder.name


def test_the_facts_of_an_entry_bear_the_ids_by_which_they_are_reviewed(mem: Memory) -> None:
    entry = mem.log("Ann: I live in Lyon. I am vegan.", topic="life")
    fact = entry.facts[0]

    assert mem.review(str(fact.id), score=9).user_fact_score == 9
    assert (fact.topic, fact.id) == ("life", mem.get(entry.id).record.facts[0].id)


def test_a_forgotten_fact_is_restored_with_the_score_it_had(mem: Memory) -> None:
    fact = str(mem.log("Ann: I live in Lyon.", topic="life").facts[0].id)
    mem.review(fact, score=7)
    mem.forget(fact)

    assert mem.restore(fact).user_fact_score == 7
    assert [one.user_fact_score for one in mem.facts("life") if one.id == fact] == [7]
