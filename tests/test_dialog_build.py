"""Topic memories and the global memory: built from lower files alone, deletable, bounded, the same every time."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Clock, Ran
from otolith.derive.topics import Tier, build_global
from otolith.errors import Damaged, Invalid, NotFound
from otolith.files import codec
from otolith.memory import Memory
from otolith.model.dialog import Fact, Topic

Snapshot = Callable[[], dict[str, bytes]]
TALK = """Ann: I live in Lyon. I am a vegan. We must not spend more than 5000 euros.
Ben: I will call the landlord. Assuming that prices stay as they are, we can move.
Ann: Should we hire a designer for the flat?
Ben: No idea."""


def built(home: Path, name: str) -> Any:
    return json.loads((home / name).read_text())


def fact(words: str, kind: str = "identity", **more: Any) -> Fact:
    subject, relation, obj = words.split(" ", 2)
    return Fact(subject=subject, relation=relation, object=obj, type=kind, entry_id="e", entry_ts="2026-01-01T00:00:00Z",
                **{"confidence": 0.9, **more})


def topic(name: str, *facts: Fact, last: str = "2026-01-01T00:00:00Z") -> Topic:
    return Topic(topic=name, updated=last, last_entry_ts=last, entry_count=1, facts=facts)


# Topics

@pytest.mark.clause("dialog-13", "dialog-27", "dialog-28", "dialog-35", "dialog-57", "dialog-18")
def test_a_topic_memory_is_json_and_markdown_with_state_and_facts(mem: Memory, home: Path) -> None:
    entry = mem.log(TALK, topic="flat")

    mem.build_topic("flat")

    memory = built(home, "topics/flat/topic_memory.json")
    assert memory["schema"] == "topic_memory.v1"
    assert memory["topic"] == "flat"
    assert set(memory["state"]) >= {"summary", "bounds", "open_questions", "next_actions"}
    assert {fact["object"] for fact in memory["facts"]} >= {"Lyon", "a vegan"}
    assert all(fact["entry_id"] == entry.id for fact in memory["facts"])
    page = (home / "topics/flat/topic_memory.md").read_text()
    assert "# flat" in page
    assert "Ann lives in Lyon" in page


@pytest.mark.clause("dialog-14", "dialog-15", "dialog-16", "dialog-17")
def test_the_state_is_drawn_from_what_was_said(mem: Memory) -> None:
    mem.log(TALK, topic="flat")

    state = mem.build_topic("flat").state

    assert "Ann lives in Lyon" in state.summary
    assert any("5000 euros" in line for line in state.bounds)
    assert any(line.startswith("Assuming") for line in state.bounds)
    assert state.open_questions == ("Should we hire a designer for the flat?",)
    assert any("call the landlord" in line for line in state.next_actions)
    assert state.made_by == "rules-1"


@pytest.mark.clause("dialog-33", "dialog-31", "dialog-56")
def test_building_leaves_every_lower_file_as_it_is(mem: Memory, home: Path, snapshot: Snapshot) -> None:
    for day in range(1, 4):
        mem.log(TALK, topic="flat", created=f"2026-01-0{day}")
    mem.review(str(mem.facts("flat")[0].id), score=9)
    lower = {path: data for path, data in snapshot().items() if "topic_memory" not in path and "GLOBAL" not in path
             and path.startswith("topics/")}

    mem.build_topic("flat")
    mem.build_global()

    after = snapshot()
    assert {path: after.get(path) for path in lower} == lower
    assert len(lower) == 3 * 3 + 1


@pytest.mark.clause("dialog-32", "dialog-46")
def test_what_is_built_can_be_deleted_and_comes_back_byte_for_byte(mem: Memory, home: Path, snapshot: Snapshot,
                                                                   clock: Clock) -> None:
    mem.log(TALK, topic="flat")
    mem.upkeep()
    before = {path: data for path, data in snapshot().items() if "MEMORY" in path.upper()}
    assert len(before) == 4
    for path in before:
        (home / path).unlink()
    clock.pass_time(hours=1)

    mem.upkeep()

    assert {path: data for path, data in snapshot().items() if "MEMORY" in path.upper()} == before
    assert mem.facts("flat")


@pytest.mark.clause("dialog-42", "dialog-44")
def test_a_second_build_writes_nothing(mem: Memory, home: Path, clock: Clock) -> None:
    mem.log(TALK, topic="flat")
    mem.build_topic("flat")
    mem.build_global()
    paths = [*home.glob("topics/flat/topic_memory.*"), *home.glob("GLOBAL_MEMORY.*")]
    before = {path: path.stat().st_mtime_ns for path in paths}
    clock.pass_time(days=3)

    mem.build_topic("flat")
    mem.build_global()

    assert {path: path.stat().st_mtime_ns for path in paths} == before


def test_a_second_upkeep_on_the_same_day_changes_no_byte(mem: Memory, snapshot: Snapshot) -> None:
    mem.log(TALK, topic="flat")
    mem.upkeep()
    before = snapshot()

    report = mem.upkeep()

    assert snapshot() == before
    assert not report.changed


def test_upkeep_builds_only_topics_that_changed(mem: Memory) -> None:
    mem.log(TALK, topic="flat")
    mem.log("Ann: I love jazz.", topic="music")
    mem.upkeep()
    mem.log("Ann: I love opera.", topic="music")

    assert mem.upkeep().changed["topics"] == ["topic music"]
    mem.review(str(mem.facts("flat")[0].id), score=9)
    assert mem.upkeep().changed["topics"] == ["topic flat"]


def test_a_hand_edited_memory_is_laid_aside_before_it_is_built_over(mem: Memory, home: Path) -> None:
    mem.log(TALK, topic="flat")
    mem.upkeep()
    page = home / "topics/flat/topic_memory.md"
    page.write_text("mine")

    mem.upkeep()

    assert "# flat" in page.read_text()
    aside, = (home / "archive/edited/topics/flat").glob("topic_memory.md.*")
    assert aside.read_text() == "mine"


@pytest.mark.parametrize("index", ["kept", "lost"])
def test_what_somebody_wrote_into_a_topics_state_spreads_nowhere(home: Path, snapshot: Snapshot, index: str) -> None:
    with Memory(home) as mem:
        mem.log(TALK, topic="flat")
        mem.upkeep()
    page, before = home / "topics/flat/topic_memory.json", snapshot()
    page.write_text(json.dumps({**(known := json.loads(page.read_text())), "state": {**known["state"], "summary": "Quagga."}}))
    if index == "lost":
        shutil.rmtree(os.environ["XDG_CACHE_HOME"])

    with Memory(home) as mem:
        mem.upkeep()

    assert {path: data for path, data in snapshot().items() if path in before} == before


def test_an_edited_state_of_a_model_is_asked_for_again(mem: Memory, home: Path) -> None:
    mem.log(TALK, topic="flat")
    mem.build_topic("flat", ask=lambda _: '{"summary": "A model said so."}')
    page = home / "topics/flat/topic_memory.json"
    page.write_text(page.read_text().replace("A model said so.", "Quagga."))

    assert mem.build_topic("flat", ask=lambda _: '{"summary": "It said so again."}').state.summary == "It said so again."


@pytest.mark.clause("dialog-38")
def test_a_topic_memory_knows_nothing_of_other_topics(mem: Memory, home: Path) -> None:
    mem.log(TALK, topic="flat")
    mem.build_topic("flat")
    before = (home / "topics/flat/topic_memory.json").read_bytes()
    mem.log("Ann: I live in Oslo.", topic="work")

    mem.build_topic("flat")

    assert (home / "topics/flat/topic_memory.json").read_bytes() == before


@pytest.mark.clause("dialog-51")
def test_the_work_of_building_a_topic_grows_no_faster_than_its_entries(mem: Memory) -> None:
    def steps(name: str, entries: int) -> int:
        with mem.bulk():
            for at in range(entries):
                mem.log(f"Ann: I bought lamp {at}. I love jazz.", topic=name, created=1_760_000_000 + at)
        mem.build_topic(name)
        count = 0

        def step() -> int:
            nonlocal count
            count += 1
            return 0

        mem.home.index.db.set_progress_handler(step, 50)
        mem.build_topic(name)
        mem.home.index.db.set_progress_handler(None, 0)
        return count

    assert steps("large", 160) < 1.5 * 4 * steps("small", 40)


def test_a_topic_that_is_not_there(mem: Memory) -> None:
    with pytest.raises(NotFound):
        mem.build_topic("nothing")
    with pytest.raises(NotFound):
        mem.facts("nothing")


# The front page

@pytest.mark.clause("dialog-05", "dialog-19", "dialog-29", "dialog-30", "dialog-36", "dialog-39", "dialog-58")
def test_dialog_becomes_facts_then_topics_then_the_global_memory(mem: Memory, home: Path) -> None:
    mem.log(TALK, topic="flat", created="2026-01-01")
    mem.log("Ann: I work at Acme.", topic="work", created="2026-02-01")
    mem.upkeep()

    page = built(home, "GLOBAL_MEMORY.json")
    assert page["schema"] == "global_memory.v1"
    assert [topic["topic"] for topic in page["active_topics"]] == ["work", "flat"]
    assert page["active_topics"][1]["state"] == {
        key: value for key, value in built(home, "topics/flat/topic_memory.json")["state"].items() if key != "made_by"}
    assert {fact["topic"] for fact in page["do_not_forget"]} == {"flat", "work"}
    text = (home / "GLOBAL_MEMORY.md").read_text()
    assert text.index("### Core") < text.index("Ann works at Acme") < text.index("## Active topics")


@pytest.mark.clause("dialog-20", "dialog-47", "dialog-11")
def test_tiers_go_by_score_and_only_without_one_by_confidence() -> None:
    page = build_global([topic(
        "t", fact("Ann is A", confidence=0.8), fact("Ann is B", "trait", confidence=0.95), fact("Ann is C", confidence=0.7),
        fact("Ann is D", confidence=0.5), fact("Ann is E", "event", confidence=0.1, user_fact_score=8),
        fact("Ann is F", confidence=0.99, user_fact_score=5), fact("Ann is G", confidence=0.99, user_fact_score=4),
        fact("Ann is H", confidence=0.99, user_fact_score=0))])

    tiers = {item["object"]: item["tier"] for item in page.do_not_forget}
    assert tiers == {"A": "core", "E": "core", "B": "secondary", "C": "secondary", "F": "secondary"}


@pytest.mark.clause("dialog-20", "dialog-21")
def test_do_not_forget_goes_by_tier_then_by_type() -> None:
    kinds = ("event", "trait", "preference", "constraint", "commitment", "identity")
    page = build_global([topic("t", *(fact(f"Ann is {kind}{score}", kind, user_fact_score=score) for score in (6, 9)
                                      for kind in kinds))])

    order = ["identity", "commitment", "constraint", "preference", "trait", "event"]
    assert [(item["tier"], item["type"]) for item in page.do_not_forget] == [
        (tier, kind) for tier in ("core", "secondary") for kind in order]


def test_what_is_superseded_or_said_elsewhere_too_is_not_repeated() -> None:
    page = build_global([topic("a", fact("Ann is here"), fact("Ann is gone", superseded_by="fact_1")),
                         topic("b", fact("ann is here"))])

    assert [item["object"] for item in page.do_not_forget] == ["here"]


def test_nothing_from_outside_is_core_without_a_persons_word() -> None:
    page = build_global([topic("a", fact("Ann is rich", trust="outside"),
                               fact("Ann is tall", trust="outside", user_fact_score=9))])

    assert {item["object"]: item["tier"] for item in page.do_not_forget} == {"tall": "core", "rich": "secondary"}


@pytest.mark.clause("dialog-53", "dialog-19")
def test_only_the_latest_snapshot_of_each_of_the_twenty_latest_topics_is_shown(mem: Memory) -> None:
    for at in range(23):
        mem.log(f"Ann: I bought lamp {at}.", topic=f"t{at:02}", created=f"2026-01-{at + 1:02}")
    mem.log("Ann: I bought a rug.", topic="t00", created="2026-02-01")
    mem.upkeep()

    active = [topic["topic"] for topic in mem.global_memory().active_topics]
    assert len(active) == len(set(active)) == 20
    assert active[:2] == ["t00", "t22"]


@pytest.mark.clause("dialog-54", "dialog-55")
def test_the_page_is_capped_by_tier_and_by_type_however_much_there_is() -> None:
    many = [fact(f"Ann is {kind}-{at}", kind, confidence=0.95) for kind in ("identity", "constraint", "trait", "event")
            for at in range(300)]
    page = build_global([topic("t", *many)])

    counts: dict[tuple[str, str], int] = {}
    for item in page.do_not_forget:
        counts[item["tier"], item["type"]] = counts.get((item["tier"], item["type"]), 0) + 1
    assert counts == {("core", "identity"): 10, ("core", "constraint"): 10, ("secondary", "trait"): 10,
                      ("secondary", "event"): 10}


@pytest.mark.clause("dialog-54", "dialog-63")
def test_a_home_sets_its_own_caps_and_tiers(home: Path) -> None:
    home.mkdir()
    (home / "otolith.toml").write_text("[caps]\nactive_topics = 1\n[caps.core]\ntotal = 3\neach = 2\nidentity = 1\n"
                                      "[tiers.core]\nconfidence = 0.5\n")
    with Memory(home) as mem:
        mem.log("Ann: I live in Lyon. I am a vegan. I work at Acme. We must ship by March.", topic="a")
        mem.log("Ann: I love jazz.", topic="b")
        mem.upkeep()
        page = mem.global_memory()

    assert len(page.active_topics) == 1
    assert [item["type"] for item in page.do_not_forget if item["tier"] == "core"] == ["identity", "constraint"]


@pytest.mark.parametrize("text", ["[tiers.best]\nscore = 1", "[tiers.core]\ntypes = ['rumour']", "[caps.core]\neach = 'two'",
                                  "caps = { core = 3 }", "[caps]\nactive_topics = -1"])
def test_settings_that_make_no_sense_are_named(home: Path, text: str) -> None:
    home.mkdir()
    (home / "otolith.toml").write_text(text)
    with Memory(home) as mem, pytest.raises(Invalid, match=r"otolith\.toml"):
        mem.build_global()


@pytest.mark.clause("dialog-63")
def test_the_tier_rules_are_one_table_that_can_be_swapped() -> None:
    only_jokes = (Tier("core", 11, 0.0, ("event",)),)
    page = build_global([topic("t", fact("Ann is here"), fact("Ann tells jokes", "event"))], tiers=only_jokes)

    assert [(item["tier"], item["relation"]) for item in page.do_not_forget] == [("core", "tells")]
    assert page.schema == "global_memory.v1"


@pytest.mark.clause("dialog-43", "dialog-52")
def test_the_global_build_reads_topic_memories_and_nothing_else(mem: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_question: str) -> str:
        raise AssertionError("the global memory asks no model")

    mem.providers = {"ask": never}
    for at in range(5):
        mem.log(TALK, topic=f"t{at}", ask=lambda _: '{"summary": "x", "facts": []}')
        mem.build_topic(f"t{at}", ask=lambda _: '{"summary": "x"}')
    read: list[str] = []
    real = type(mem.home.tree).read
    monkeypatch.setattr(type(mem.home.tree), "read", lambda tree, path, start=0: read.append(path) or real(tree, path, start))

    mem.build_global()

    assert {path for path in read if not path.startswith("GLOBAL_MEMORY")} == {f"topics/t{at}/topic_memory.json"
                                                                             for at in range(5)}


@pytest.mark.clause("dialog-55", "dialog-52")
def test_ten_times_the_entries_leave_the_page_and_its_inputs_as_large_as_before(mem: Memory, home: Path) -> None:
    def size(entries: range) -> tuple[int, int]:
        with mem.bulk():
            for at in entries:
                mem.log(f"Ann: I bought lamp {at % 5}. I love jazz.", topic="life", created=1_760_000_000 + at)
        mem.upkeep()
        return (home / "GLOBAL_MEMORY.json").stat().st_size, (home / "topics/life/topic_memory.json").stat().st_size

    few, many = size(range(60)), size(range(60, 600))
    assert abs(many[0] - few[0]) < 20
    assert many[1] < 1.05 * few[1]


# Versions

@pytest.fixture
def older(home: Path) -> Path:
    """A home as version 1 wrote it, kept as files so that every later version is held to it."""
    shutil.copytree(Path(__file__).parent / "fixtures" / "home-v1", home)
    return home


@pytest.mark.clause("dialog-59", "dialog-02")
def test_a_home_of_version_1_is_read(older: Path) -> None:
    with Memory(older) as mem:
        fact, = mem.facts("life")

        assert (fact.title, fact.user_fact_score) == ("Ann lives in Lyon", 9)
        assert not [finding for finding in mem.check() if finding.code == "schema"]


@pytest.mark.clause("dialog-59", "dialog-60", "dialog-61")
def test_a_new_version_is_built_from_stored_entries_and_touches_none(older: Path, snapshot: Snapshot,
                                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    def upgrade(found: dict[str, Any]) -> dict[str, Any]:
        return {**found, "schema": "topic_memory.v2", "state": {**found["state"], "summary": found["state"]["summary"].upper()}}

    monkeypatch.setitem(codec.SCHEMAS, "topic_memory", 2)
    monkeypatch.setitem(codec.UPGRADES, "topic_memory.v1", upgrade)
    monkeypatch.setattr("otolith.derive.topics.TOPIC_SCHEMA", "topic_memory.v2")
    monkeypatch.setattr("otolith.derive.topics.RULES", "rules-2")
    before = {path: data for path, data in snapshot().items() if "topic_memory" not in path}
    with Memory(older) as mem:
        assert mem.topics()[0]["summary"] == "ANN LIVES IN LYON."
        mem.upkeep()

        assert built(older, "topics/life/topic_memory.json")["schema"] == "topic_memory.v2"
        assert [fact["user_fact_score"] for fact in built(older, "topics/life/topic_memory.json")["facts"]] == [9]
    assert {path: data for path, data in snapshot().items() if path in before} == before


@pytest.mark.clause("dialog-59")
def test_what_a_newer_otolith_wrote_is_left_alone_with_a_clear_word(mem: Memory, home: Path) -> None:
    mem.log(TALK, topic="flat")
    mem.upkeep()
    for path in (home / "topics/flat/topic_memory.json", home / "GLOBAL_MEMORY.json"):
        path.write_text(path.read_text().replace('.v1"', '.v9"'))
    before = {path: path.read_bytes() for path in home.rglob("*_memory.json")}

    with pytest.raises(Damaged, match="newer"):
        mem.build_topic("flat")
    with pytest.raises(Damaged, match="newer"):
        mem.build_global()
    mem.upkeep()

    assert {path: path.read_bytes() for path in before} == before
    assert {finding.code for finding in mem.check()} == {"newer-schema"}


def test_topics_are_listed_even_if_a_newer_otolith_built_one(mem: Memory, home: Path, run: Callable[..., Ran]) -> None:
    for topic in ("flat", "house"):
        mem.log(TALK, topic=topic)
    mem.upkeep()
    (home / "topics/flat/topic_memory.json").write_text('{"schema": "topic_memory.v9"}')

    assert {one["topic"]: bool(one["summary"]) for one in mem.topics()} == {"flat": False, "house": True}
    assert any("topics/flat/topic_memory.json" in notice and "newer" in notice for notice in mem.notices)
    told = run("topics")
    assert told.code == 0
    assert "flat" in told.out
    assert "topics/flat/topic_memory.json" in told.err


@pytest.mark.clause("dialog-50")
def test_the_audit_log_only_grows(mem: Memory, home: Path) -> None:
    mem.log(TALK, topic="flat")
    before = (home / "index/audit.log").read_bytes()
    mem.log(TALK, topic="flat")
    mem.review(str(mem.facts("flat")[0].id), score=3)
    mem.upkeep()

    after = (home / "index/audit.log").read_bytes()
    assert after.startswith(before)
    verbs = [json.loads(line)["verb"] for line in after.splitlines()]
    assert verbs.count("logged") == 2
    assert "reviewed" in verbs


@pytest.mark.clause("dialog-47")
def test_what_a_person_scored_finds_room_before_anything_else_in_its_tier() -> None:
    many = [fact(f"Ann is {kind}{number}", kind, confidence=0.75) for kind in ("identity", "commitment", "constraint", "preference")
            for number in range(30)]
    page = build_global([topic("t", *many, fact("Ann is kind", "trait", user_fact_score=5))])

    secondary = [item["object"] for item in page.do_not_forget if item["tier"] == "secondary"]
    assert "kind" in secondary
    assert secondary[0].startswith("identity")
