"""Facts: deduplicated in their topic, replaced by newer ones, scored and corrected by a person, the same after any rebuild."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import Clock, Ran
from otolith.errors import Invalid, NotFound
from otolith.memory import Memory
from otolith.model.dialog import Fact
from otolith.model.times import parse_time


def one(mem: Memory, words: str, topic: str = "life", **chosen: Any) -> Fact:
    found, = [fact for fact in mem.facts(topic, rejected=True, **chosen) if words in fact.title]
    return found


def rows(mem: Memory) -> list[Any]:
    """The fact records as the index holds them, but for their row numbers."""
    db = mem.home.index.db
    found = db.execute("SELECT id, type, title, unit, created, importance, confidence, project, topic, trust, valid_from, "
                       "valid_until, sunk, pinned FROM records WHERE kind = 'fact' ORDER BY id").fetchall()
    links = db.execute("SELECT a, word, b, unit FROM links WHERE unit LIKE '%/summary.json' ORDER BY a, b").fetchall()
    words = db.execute("SELECT r.id, p.text FROM passages p JOIN records r ON r.n = p.record WHERE r.kind = 'fact' "
                       "ORDER BY r.id, p.n").fetchall()
    return [found, links, words]


# Together

@pytest.mark.clause("dialog-49", "dialog-44")
def test_a_fact_said_in_two_entries_is_one_fact_with_both_as_evidence(mem: Memory) -> None:
    first = mem.log("Ann: I am a vegan.", topic="life", created="2026-01-01")
    second = mem.log("Ann: I am a  Vegan!", topic="life", created="2026-01-02")

    fact = one(mem, "vegan")
    assert fact.evidence == (first.id, second.id)
    assert fact.evidence_count == 2
    assert (fact.entry_id, fact.entry_ts) == (first.id, "2026-01-01T00:00:00Z")


@pytest.mark.clause("dialog-06")
def test_a_facts_id_is_the_same_after_every_rebuild(mem: Memory) -> None:
    mem.log("Ann: I am a vegan.", topic="life")
    before = one(mem, "vegan").id
    mem.reindex()

    assert one(mem, "vegan").id == before
    assert mem.get(str(before)).record.object == "a vegan"


@pytest.mark.clause("dialog-38")
def test_the_same_words_in_two_topics_are_two_facts(mem: Memory) -> None:
    mem.log("Ann: I am a vegan.", topic="life")
    mem.log("Ann: I am a vegan.", topic="food")

    assert one(mem, "vegan", "life").id != one(mem, "vegan", "food").id


@pytest.mark.clause("dialog-18")
def test_the_newest_value_wins_and_the_older_one_gets_an_end(mem: Memory) -> None:
    mem.log("Ann: I live in Lyon.", topic="life", created="2026-01-01")
    mem.log("Ann: I live in Graz.", topic="life", created="2026-03-01")

    lyon, graz = one(mem, "Lyon"), one(mem, "Graz")
    assert (lyon.valid_from, lyon.valid_until, lyon.superseded_by) == ("2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z", graz.id)
    assert (graz.valid_from, graz.valid_until) == ("2026-03-01T00:00:00Z", None)
    assert [fact.object for fact in mem.facts("life", current=True)] == ["Graz"]
    assert mem.get(str(lyon.id)).superseded_by == graz.id


def test_an_entry_logged_late_takes_its_place_in_time(mem: Memory) -> None:
    mem.log("Ann: I live in Graz.", topic="life", created="2026-03-01")
    mem.log("Ann: I live in Lyon.", topic="life", created="2026-01-01")

    assert one(mem, "Lyon").superseded_by == one(mem, "Graz").id
    assert one(mem, "Graz").superseded_by is None


def test_who_moves_back_lives_there_again(mem: Memory) -> None:
    for day, place in (("2026-01-01", "Lyon"), ("2026-02-01", "Graz"), ("2026-03-01", "Lyon")):
        mem.log(f"Ann: I live in {place}.", topic="life", created=day)

    assert one(mem, "Lyon").valid_until is None
    assert one(mem, "Lyon").valid_from == "2026-03-01T00:00:00Z"
    assert one(mem, "Graz").valid_until == "2026-03-01T00:00:00Z"


def test_a_relation_with_many_values_replaces_nothing(mem: Memory) -> None:
    mem.log("Ann: I love jazz.", topic="life", created="2026-01-01")
    mem.log("Ann: I love opera.", topic="life", created="2026-02-01")

    assert {fact.object for fact in mem.facts("life", current=True)} == {"jazz", "opera"}


def test_facts_stand_as_they_stood_on_a_day(mem: Memory, clock: Clock) -> None:
    mem.log("Ann: I live in Lyon.", topic="life", created="2026-01-01")
    mem.log("Ann: I live in Graz.", topic="life", created="2026-02-01")
    mem.review(str(one(mem, "Lyon").id), score=9)

    then = mem.facts("life", as_of="2026-01-15")
    assert [(fact.object, fact.valid_until, fact.user_fact_score) for fact in then] == [("Lyon", None, None)]


@pytest.mark.parametrize(("day", "places"), [("2023-12-01", []), ("2024-02-01", ["Lisbon"]), ("2024-04-01", ["Porto"]),
                                             ("2024-06-01", ["Lisbon"])])
def test_recall_as_of_a_day_tells_which_facts_held_then(mem: Memory, day: str, places: list[str]) -> None:
    for when, place in (("2024-01-01", "Lisbon"), ("2024-03-01", "Porto"), ("2024-05-01", "Lisbon")):
        mem.log(f"Ada: I live in {place}.", topic="life", created=when)
    mem.log("Ada: I like jazz.", topic="life", created="2024-01-01")

    found = mem.recall("where does Ada live", kind="fact", as_of=day).hits

    assert [hit.record.object for hit in found if hit.record.relation == "lives in"] == places
    assert places == [fact.object for fact in mem.facts("life", as_of=day, current=True) if fact.relation == "lives in"]


def test_a_correction_counts_from_the_day_it_was_made(mem: Memory, clock: Clock) -> None:
    mem.log("Ann: I live in Lyon.", topic="life", created="2024-01-01")
    mem.log("Ann: I am a vegan.", topic="life", created="2024-01-02")
    clock.now = parse_time("2024-04-01")
    mem.review(str(one(mem, "Lyon").id), correct={"object": "Graz"})
    clock.now = parse_time("2024-07-01")
    now = mem.review(str(one(mem, "Graz").id), correct={"object": "Porto"})

    for day, place in (("2024-03-15", "Lyon"), ("2024-05-15", "Graz"), ("2024-07-15", "Porto")):
        assert [fact.object for fact in mem.facts("life", as_of=day)] == [place, "a vegan"]
        found = [hit.id for hit in mem.recall("where does Ann live", kind="fact", as_of=day).hits]
        assert (now.id in found) == (place == "Porto")


def test_what_is_forgotten_with_its_entry_comes_back_with_it(mem: Memory) -> None:
    entry = mem.log("Ann: I live in Lyon.", topic="life")
    mem.forget(entry.id)
    assert not mem.home.index.db.execute("SELECT 1 FROM records WHERE kind = 'fact'").fetchone()

    mem.restore(entry.id)
    assert one(mem, "Lyon").entry_id == entry.id


def test_another_entrys_mention_keeps_a_fact_alive(mem: Memory) -> None:
    first = mem.log("Ann: I am a vegan.", topic="life", created="2026-01-01")
    second = mem.log("Ann: I am a vegan.", topic="life", created="2026-01-02")
    mem.forget(first.id)

    assert one(mem, "vegan").entry_id == second.id
    assert mem.get(str(one(mem, "vegan").id)).path == f"topics/life/{second.id}/summary.json"


# A person's word

@pytest.mark.clause("dialog-03", "dialog-11", "dialog-31")
def test_a_score_is_a_line_in_the_curation_file_and_touches_no_entry(mem: Memory, home: Path,
                                                                      snapshot: Callable[[], dict[str, bytes]]) -> None:
    mem.log("Ann: I am a vegan.", topic="life")
    fact = one(mem, "vegan")
    before = {path: data for path, data in snapshot().items() if path.startswith("topics/")}

    assert mem.review(str(fact.id), score=9).user_fact_score == 9

    line = json.loads((home / "topics" / "life" / "curation.jsonl").read_text())
    assert line == {"schema": "curation.v1", "ts": "2026-02-10T21:37:00Z", "op": "score", "fact_id": fact.id, "fact": ["Ann", "is", "a vegan"],
                    "score": 9, "by": "user", "at": "2026-02-10T21:37:00.000001Z"}
    assert before == {path: data for path, data in snapshot().items() if path in before}
    assert one(mem, "vegan").user_fact_score == 9


@pytest.mark.clause("dialog-47", "dialog-48")
def test_a_rejected_fact_never_surfaces(mem: Memory) -> None:
    mem.log("Ann: I am a vegan. I work at Acme.", topic="life")
    mem.review(str(one(mem, "vegan").id), score=0)

    assert [fact.object for fact in mem.facts("life")] == ["Acme"]
    assert [fact.object for fact in mem.build_topic("life").facts] == ["Acme"]
    assert [fact["object"] for fact in mem.build_global().do_not_forget] == ["Acme"]


def test_a_rejected_fact_replaces_nothing(mem: Memory) -> None:
    mem.log("Ann: I live in Lyon.", topic="life", created="2026-01-01")
    mem.log("Ann: I live in Graz.", topic="life", created="2026-03-01")
    mem.review(str(one(mem, "Graz").id), score=0)

    assert one(mem, "Lyon").valid_until is None


def test_a_score_can_be_taken_back(mem: Memory) -> None:
    mem.log("Ann: I am a vegan.", topic="life")
    fact = str(one(mem, "vegan").id)
    mem.review(fact, score=0)

    assert mem.review(fact, score=None).user_fact_score is None
    assert mem.facts("life")


def test_pin_and_forget_are_scores(mem: Memory) -> None:
    mem.log("Ann: I am a vegan. I work at Acme.", topic="life")
    vegan, works = str(one(mem, "vegan").id), str(one(mem, "Acme").id)
    mem.pin(vegan)
    mem.forget(works)

    assert one(mem, "vegan").user_fact_score == 10
    assert one(mem, "Acme").user_fact_score == 0
    mem.unpin(vegan)
    assert one(mem, "vegan").user_fact_score is None


@pytest.mark.clause("dialog-48")
def test_a_correction_becomes_the_fact_and_keeps_its_source(mem: Memory, home: Path) -> None:
    entry = mem.log("Ann: I live in Lyon.", topic="life")
    summary = (home / "topics" / "life" / entry.id / "summary.json").read_bytes()

    now = mem.review(str(one(mem, "Lyon").id), correct={"object": "Lyons", "type": "trait"})

    assert (now.title, now.type, now.confidence, now.entry_id) == ("Ann lives in Lyons", "trait", 1.0, entry.id)
    assert [fact.title for fact in mem.facts("life")] == ["Ann lives in Lyons"]
    assert (home / "topics" / "life" / entry.id / "summary.json").read_bytes() == summary


def test_a_correction_holds_for_entries_still_to_come(mem: Memory) -> None:
    mem.log("Ann: I live in Lyon.", topic="life", created="2026-01-01")
    mem.review(str(one(mem, "Lyon").id), correct={"object": "Lyons"})
    mem.log("Ann: I live in Lyon.", topic="life", created="2026-01-02")

    assert one(mem, "Lyons").evidence_count == 2


def test_a_correction_by_an_agent_has_the_agents_trust_and_makes_nothing_certain(mem: Memory) -> None:
    mem.log("Ann: I live in Lyon.", topic="life")
    before = one(mem, "Lyon")
    mem.home.trust = "agent"

    now = mem.review(str(before.id), correct={"object": "Oslo"})

    assert (before.trust, now.trust, now.confidence) == ("user", "agent", before.confidence)
    kept = rows(mem)
    mem.reindex()
    assert rows(mem) == kept
    mem.home.trust = "user"
    again = mem.review(str(now.id), correct={"object": "Bergen"})
    assert (again.trust, again.confidence) == ("user", 1.0)


def test_a_correction_of_before_goes_by_who_made_it(mem: Memory, home: Path) -> None:
    mem.log("Ann: I live in Lyon.", topic="life")
    mem.home.trust = "agent"
    mem.review(str(one(mem, "Lyon").id), correct={"object": "Oslo"})
    path = home / "topics" / "life" / "curation.jsonl"
    line = json.loads(path.read_text())
    del line["trust"]
    path.write_text(json.dumps(line) + "\n")
    mem.sync()

    assert (line["by"], one(mem, "Oslo").trust) == ("main", "agent")


def test_a_correction_can_be_corrected_back(mem: Memory) -> None:
    mem.log("Ann: I live in Lyon.", topic="life")
    mem.review(str(one(mem, "Lyon").id), score=8)
    mem.review(str(one(mem, "Lyon").id), correct={"object": "Oslo"})
    assert one(mem, "Oslo").user_fact_score == 8
    mem.review(str(one(mem, "Oslo").id), correct={"object": "Lyon"})

    assert [fact.object for fact in mem.facts("life")] == ["Lyon"]


@pytest.mark.parametrize("wrong", [{"score": 11}, {"score": -1}, {"score": "high"}, {"score": True}, {},
                                   {"correct": {"colour": "red"}}, {"correct": {"type": "rumour"}},
                                   {"correct": {"subject": " "}}, {"correct": {"object": ""}}, {"correct": {"object": " \t"}},
                                   {"correct": {"object": "a\nb"}}, {"correct": {"relation": "a\u2028b"}}, {"correct": 5},
                                   {"correct": {"object": "\ud800"}}, {"correct": {"object": 5}}, {"correct": {"date": "zzz"}},
                                   {"correct": {"date": "2026-02-30"}}, {"correct": {"date": "20260210"}},
                                   {"correct": {"date": ""}}])
def test_a_review_that_makes_no_sense_is_refused_and_not_written(mem: Memory, home: Path, wrong: dict[str, Any]) -> None:
    mem.log("Ann: I am a vegan.", topic="life")

    with pytest.raises(Invalid):
        mem.review(str(one(mem, "vegan").id), **wrong)
    assert not (home / "topics" / "life" / "curation.jsonl").exists()


@pytest.mark.parametrize("date", ["2026-02-10", "2026-02", "2026", "2026-02-09/2026-02-15", None])
def test_a_facts_date_may_be_a_day_a_month_a_year_a_span_or_nothing(mem: Memory, date: str | None) -> None:
    mem.log("Ann: I am a vegan.", topic="life")

    assert mem.review(str(one(mem, "vegan").id), correct={"date": date}).date == date


def test_only_facts_are_reviewed(mem: Memory) -> None:
    entry = mem.log("Ann: I am a vegan.", topic="life")

    with pytest.raises(Invalid):
        mem.review(entry.id, score=5)
    with pytest.raises(NotFound):
        mem.review("fact_0000000000000000", score=5)


def test_a_broken_curation_line_is_a_finding_and_the_others_count(mem: Memory, home: Path) -> None:
    mem.log("Ann: I am a vegan.", topic="life")
    mem.review(str(one(mem, "vegan").id), score=9)
    path = home / "topics" / "life" / "curation.jsonl"
    path.write_text('{"op": "score"\n' + path.read_text() + '{"ts":"2026-01-01","op":"dance","fact_id":"x"}\n')
    mem.sync()

    assert one(mem, "vegan").user_fact_score == 9
    assert [(finding.path, finding.line) for finding in mem.check()] == [("topics/life/curation.jsonl", 1),
                                                                        ("topics/life/curation.jsonl", 3)]


def test_a_review_by_hand_counts_and_so_does_its_removal(mem: Memory, home: Path) -> None:
    mem.log("Ann: I am a vegan.", topic="life")
    fact = one(mem, "vegan")
    path = home / "topics" / "life" / "curation.jsonl"
    path.write_text(json.dumps({"ts": "2026-02-01", "op": "score", "fact_id": fact.id, "fact": ["Ann", "is", "a vegan"],
                                "score": 7, "by": "me"}) + "\n")
    mem.sync()
    assert one(mem, "vegan").user_fact_score == 7

    path.unlink()
    mem.sync()
    assert one(mem, "vegan").user_fact_score is None


@pytest.mark.clause("dialog-22", "dialog-59")
def test_a_summary_of_the_original_system_is_read_with_its_scores(mem: Memory, home: Path) -> None:
    folder = home / "topics" / "old" / "e1"
    folder.mkdir(parents=True)
    (folder / "raw.md").write_text("anything")
    fact = {"subject": "Ann", "relation": "is", "object": "a vegan", "type": "identity", "time_span": "current",
            "confidence": 0.4, "user_fact_score": 9, "colour": "green"}
    (folder / "summary.json").write_text(json.dumps({"summary": "x", "facts": [fact]}))
    mem.sync()

    assert one(mem, "vegan", "old").user_fact_score == 9
    assert any(finding.code == "schema" for finding in mem.check())
    assert mem.build_topic("old").facts


# The same after any rebuild

def test_a_purged_entry_leaves_no_trace_in_facts_reviews_and_pages(mem: Memory, home: Path) -> None:
    entry = mem.log("Ann: I live in Xanadu.", topic="life", created="2026-01-01")
    mem.log("Ann: I am a vegan.", topic="life", created="2026-01-02")
    mem.review(str(one(mem, "Xanadu").id), score=9)
    mem.review(str(one(mem, "vegan").id), score=9)
    mem.upkeep()
    assert "Xanadu" in (home / "GLOBAL_MEMORY.md").read_text()

    mem.forget(entry.id, purge=True)

    for path in home.rglob("*"):
        assert not path.is_file() or b"Xanadu" not in path.read_bytes(), path
    assert one(mem, "vegan").user_fact_score == 9


def test_a_purged_topic_leaves_no_page_behind(mem: Memory, home: Path) -> None:
    entry = mem.log("Ann: I live in Xanadu.", topic="life")
    mem.upkeep()

    mem.forget(entry.id, purge=True)

    assert not (home / "topics" / "life" / "topic_memory.json").exists()
    mem.upkeep()
    assert not any(b"Xanadu" in path.read_bytes() for path in home.rglob("*") if path.is_file())


PLACES = ("Lyon", "Graz", "Porto")
STEP = st.one_of(
    st.tuples(st.just("log"), st.sampled_from(PLACES), st.integers(0, 40)),
    st.tuples(st.just("score"), st.sampled_from(PLACES), st.sampled_from([0, 3, 9, None])),
    st.tuples(st.just("correct"), st.sampled_from(PLACES), st.sampled_from(PLACES)),
    st.tuples(st.just("be"), st.sampled_from(["user", "agent"]), st.none()),
    st.tuples(st.just("forget"), st.integers(0, 5), st.none()))


@pytest.mark.clause("dialog-44", "dialog-32")
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEP, min_size=3, max_size=12))
def test_whatever_happened_a_rebuilt_index_holds_the_same_facts(tmp_path_factory: pytest.TempPathFactory,
                                                                steps: list[tuple[str, Any, Any]]) -> None:
    clock = Clock()
    with Memory(tmp_path_factory.mktemp("home"), clock=clock) as mem:
        entries = []
        for what, first, second in steps:
            clock.pass_time(minutes=1)
            known = {fact.object: str(fact.id) for fact in mem.facts(rejected=True)}
            if what == "log":
                entries.append(mem.log(f"Ann: I live in {first}. I love {first}.", topic="life",
                                       created=1_760_000_000 + second * 86400).id)
            elif what == "be":
                mem.home.trust = first
            elif what == "forget" and first < len(entries):
                mem.forget(entries.pop(first))
            elif what == "score" and first in known:
                mem.review(known[first], score=second)
            elif what == "correct" and first in known and first != second:
                mem.review(known[first], correct={"object": second})
        before = rows(mem)
        mem.reindex()

        assert rows(mem) == before


def test_logging_into_a_large_topic_reads_none_of_its_entries(mem: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    with mem.bulk():
        for at in range(60):
            mem.log(f"Ann: I am a vegan. I bought lamp {at}.", topic="life", created=1_760_000_000 + at * 60)
    read: list[str] = []
    real = type(mem.home.tree).read
    monkeypatch.setattr(type(mem.home.tree), "read", lambda tree, path, start=0: read.append(path) or real(tree, path, start))
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    mem.home.index.db.set_progress_handler(count, 100)
    mem.log("Ann: I am a vegan. I live in Lyon.", topic="life")

    assert read == []
    assert steps < 200, "a log must not walk over the rows of a topic"


def test_a_dialog_with_many_values_of_one_thing_asks_the_index_once_for_each_and_not_for_each_pair(mem: Memory) -> None:
    def asked(values: int) -> int:
        told: list[str] = []
        mem.home.index.db.set_trace_callback(told.append)
        mem.log("".join(f"Ann: I live in Town{at}.\n\n" for at in range(values)), topic=f"life-{values}")
        mem.home.index.db.set_trace_callback(None)
        return len(told)

    few, many = asked(50), asked(100)

    assert len(mem.facts("life-100")) == 100
    assert [fact.object for fact in mem.facts("life-100") if fact.superseded_by is None] == ["Town99"]
    assert many < 3 * few


@pytest.mark.parametrize("order", [(1, 3, 2), (3, 1, 2), (2, 1, 3), (3, 2, 1)])
def test_a_fact_said_before_between_and_after_is_settled_as_a_rebuild_settles_it(mem: Memory, order: tuple[int, ...]) -> None:
    said = {1: ("I love old maps.", "one"), 2: ("I really love old maps, and I will visit Oslo.", "two"), 3: ("I love Old Maps!", "three")}
    for day in order:
        text, project = said[day]
        mem.log(f"Ann: {text}", topic="life", created=f"2026-01-0{day}", project=project)
    before = rows(mem)
    mem.reindex()

    assert rows(mem) == before
    assert mem.home.index.db.execute("SELECT title, project FROM records WHERE title LIKE '%old maps'").fetchall() \
        == [("Ann loves old maps", "three")]


def test_what_a_log_asks_the_index_does_not_grow_with_its_facts(mem: Memory) -> None:
    def asked(things: int, day: int) -> int:
        statements: list[str] = []
        mem.home.index.db.set_trace_callback(statements.append)
        mem.log("\n".join(f"Ann: I love lamp {at}." for at in range(things)), topic="life", created=f"2026-01-{day:02d}")
        mem.home.index.db.set_trace_callback(None)
        about = ("FROM said", "FROM reviewed", "FROM records WHERE")  # what other tests loaded may embed as well, in other tables
        return sum(statement.startswith("SELECT") and any(table in statement for table in about) for statement in statements)

    new, again = [asked(3, 1), asked(12, 2)], [asked(3, 3), asked(12, 4)]

    assert len(mem.facts("life")) == 12
    assert new[0] == new[1]
    assert again[0] == again[1] <= new[0]


@pytest.mark.clause("dialog-03")
def test_reviewing_on_the_command_line(run: Callable[..., Ran]) -> None:
    run("log", "-", "--topic", "life", stdin="Ann: I am a vegan. I live in Lyon.")
    waiting = run("review", "--json").json["items"]
    assert {item["title"] for item in waiting} == {"Ann is a vegan", "Ann lives in Lyon"}
    assert all(item["sentence"] for item in waiting)
    vegan = next(item["id"] for item in waiting if "vegan" in item["title"])
    lyon = next(item["id"] for item in waiting if "Lyon" in item["title"])

    assert "score 9" in run("review", vegan, "9").out
    assert "Ann lives in Graz" in run("review", lyon, "--correct", "Graz").out
    assert run("review", vegan, "--reject", "--json").json["user_fact_score"] == 0
    assert run("review", vegan, "eleven").code == 2
    assert run("review", vegan, "11").code == 4
    assert run("review", "fact_0000000000000000", "5").code == 3
    assert [item["object"] for item in run("facts", "--json").json["items"]] == ["Graz"]
