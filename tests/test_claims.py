"""What holds now: the newest word wins, denials are heard, nothing is closed by mistake."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.change import CASES, Case, judge, live, read_cases

from otolith.derive.claims import may_close
from otolith.errors import Invalid
from otolith.memory import Memory
from otolith.model.dialog import Fact
from otolith.model.statements import read_claims
from otolith.model.verdicts import Stated, settle, verdict

STORIES: dict[str, list[Case]] = {}
for story in read_cases(CASES.read_text(encoding="utf-8")):
    STORIES.setdefault(story.kind, []).append(story)


@pytest.fixture
def mem(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "home") as memory:
        yield memory


def log(mem: Memory, words: str, day: str, **more: str) -> str:
    entry = mem.log([{"role": more.get("role", "user"), "content": words, "timestamp": f"{day}T10:00:00Z"}], more.get("topic"), created=day,
            project=more.get("project"))
    return entry.id


def current(mem: Memory, **more: str) -> list[str]:
    return [fact.title for fact in mem.facts(**more) if not fact.superseded_by]


@pytest.mark.clause("protocol-46")
@pytest.mark.parametrize("kind", STORIES)
def test_of_stories_as_people_tell_them_the_new_value_holds_and_what_stays_stays(tmp_path: Path, kind: str) -> None:
    wrong: list[Case] = []
    for at, case in enumerate(STORIES[kind]):
        with Memory(tmp_path / str(at)) as mem:
            if not judge(case, *live(mem, case))["right"]:
                wrong.append(case)

    assert wrong == []


@pytest.mark.clause("protocol-46")
def test_what_was_replaced_says_until_when_by_what_and_in_which_words(mem: Memory) -> None:
    log(mem, "I live in Ghent.", "2026-01-05")
    log(mem, "I moved to Bruges last week.", "2026-03-05")

    old, new = sorted(mem.facts(), key=lambda fact: fact.entry_ts)

    assert (old.superseded_by, str(old.valid_until)[:10]) == (new.id, "2026-03-05")
    assert old.why == "replaced on 2026-03-05: I moved to Bruges last week"
    assert mem.get(str(old.id)).superseded_by == new.id


@pytest.mark.clause("protocol-46")
def test_the_old_is_given_back_as_of_a_day_before_the_change(mem: Memory) -> None:
    log(mem, "I live in Ghent.", "2026-01-05")
    log(mem, "I moved to Bruges.", "2026-03-05")

    assert current(mem) == ["user moved to Bruges"]
    assert current(mem, as_of="2026-02-01") == ["user lives in Ghent"]


@pytest.mark.clause("protocol-46")
def test_recall_tells_the_new_value_before_the_old_one(mem: Memory) -> None:
    log(mem, "I live in Ghent.", "2026-01-05")
    log(mem, "Good news: we moved to Bruges in February.", "2026-03-05")
    mem.upkeep()

    texts = [hit.text for hit in mem.recall("Where do I live?").hits]

    first = next(text for text in texts if "Ghent" in text or "Bruges" in text)
    assert "Bruges" in first


@pytest.mark.clause("protocol-46")
def test_brief_and_front_page_tell_only_what_holds(mem: Memory) -> None:
    log(mem, "My name is Tina Berg.", "2026-01-05")
    log(mem, "My name is Tina Holm now.", "2026-03-05")
    mem.upkeep()

    page = (mem.path / "GLOBAL_MEMORY.md").read_text()

    assert "Holm" in page
    assert "Berg" not in page
    assert "Berg" not in mem.brief().text


@pytest.mark.clause("protocol-46")
def test_the_page_of_the_old_topic_is_delivered_without_what_another_topic_closed(mem: Memory) -> None:
    log(mem, "I work at Bosch.", "2026-01-05", topic="work")
    log(mem, "I started at Zeiss on Monday.", "2026-03-05", topic="news")
    mem.upkeep()

    assert "Bosch" in (mem.path / "topics/work/topic_memory.md").read_text()
    assert all("Bosch" not in hit.text for hit in mem.recall("Bosch", kind="topic").hits)


def test_an_agents_word_closes_nothing_that_the_user_said_and_is_contested(mem: Memory) -> None:
    mem.log([{"role": "user", "content": "I live in Ghent."}], created="2026-01-05")
    mem.log([{"role": "assistant", "content": "I live in Bruges."}, {"role": "user", "content": "Fine."}], created="2026-02-05")
    mem.log([{"role": "user", "content": "The port is 8080."}], created="2026-02-06")
    mem.log([{"role": "assistant", "content": "The port is 9090."}], created="2026-02-07")

    assert "The port is 8080" in current(mem)
    pairs = [(pair.older.sentence, pair.newer.sentence) for pair in mem.home.index.claims.contested()]
    assert ("The port is 8080", "The port is 9090") in pairs


def test_projects_do_not_close_each_others_claims(mem: Memory) -> None:
    log(mem, "The API port is 8080.", "2026-01-05", project="shop")
    log(mem, "The API port is 9090.", "2026-02-05", project="blog")

    assert current(mem) == ["The API port is 9090", "The API port is 8080"] or set(current(mem)) == {"The API port is 8080", "The API port is 9090"}


def test_a_note_is_closed_by_a_newer_note_that_gives_another_value(mem: Memory) -> None:
    old = mem.note("Port", "The API port is 8080.", created="2026-01-05")
    new = mem.note("Port again", "The API port is 8443.", created="2026-02-05")
    mem.upkeep()

    assert mem.home.index.claims.closings([old.id])[old.id].record == new.id
    assert mem.recall("API port").hits[0].id == new.id


def test_a_fact_is_closed_by_a_memo(mem: Memory) -> None:
    log(mem, "The retry limit is 3.", "2026-01-05")
    mem.memo("retry_limit_is_eight_now", "The retry limit is 8.")
    mem.upkeep()

    assert [fact.superseded_by for fact in mem.facts()] == ["retry_limit_is_eight_now"]


def test_writing_a_note_draws_no_claims_and_the_next_recall_does(mem: Memory) -> None:
    note = mem.note("Port", "The API port is 8080.")
    assert mem.home.index.claims.of(note.id) == []

    mem.recall("port")

    assert [row.attribute for row in mem.home.index.claims.of(note.id)] == ["port"]


@pytest.mark.clause("protocol-46")
@pytest.mark.parametrize(("holds", "left"), [("old", ["8080"]), ("both", ["8080", "9090"]), ("new", ["9090"])])
def test_a_person_settles_which_of_two_holds_and_a_rebuild_knows_it(mem: Memory, holds: str, left: list[str]) -> None:
    log(mem, "The API port is 8080.", "2026-01-05")
    log(mem, "The API port is 9090.", "2026-02-05")
    old, new = sorted(mem.facts(), key=lambda fact: fact.entry_ts)

    mem.settle(str(new.id), str(old.id), holds)
    before = current(mem)
    mem.reindex()

    assert sorted(title.rsplit(" ", 1)[1] for title in before) == left
    assert current(mem) == before
    line = json.loads((mem.path / "curation.jsonl").read_text())
    assert (line["op"], line["holds"], line["by"]) == ("settle", holds, "user")


def test_an_answer_is_taken_back_by_another(mem: Memory) -> None:
    log(mem, "The API port is 8080.", "2026-01-05")
    log(mem, "The API port is 9090.", "2026-02-05")
    old, new = sorted(mem.facts(), key=lambda fact: fact.entry_ts)
    mem.settle(str(new.id), str(old.id), "old")
    mem.settle(str(new.id), str(old.id), "new")

    assert current(mem) == ["The API port is 9090"]


@pytest.mark.parametrize("line", [
    '{"op": "settle", "old": "claim_1", "new": "claim_1", "holds": "new", "at": "2026-01-01T00:00:00Z"}',
    '{"op": "settle", "old": "claim_1", "new": "claim_2", "holds": "maybe", "at": "2026-01-01T00:00:00Z"}',
    '{"op": "settle", "old": "claim_1", "new": "claim_2", "holds": "new", "at": "2026-02-31T00:00:00Z"}',
    "[]"])
def test_an_answer_that_makes_no_sense_is_a_finding(mem: Memory, line: str) -> None:
    log(mem, "The API port is 8080.", "2026-01-05")
    (mem.path / "curation.jsonl").write_text(line + "\n")

    assert [finding.path for finding in mem.check() if finding.path == "curation.jsonl"] == ["curation.jsonl"]


def test_an_agent_settles_nothing(mem: Memory) -> None:
    mem.home.trust = "agent"
    with pytest.raises(Invalid):
        mem.settle("a", "b", "new")


def test_values_that_replace_each_other_in_turn_end_with_the_last(mem: Memory) -> None:
    for day, town in enumerate(("Ghent", "Bruges", "Ghent", "Bruges", "Ghent"), 1):
        log(mem, f"I live in {town}.", f"2026-0{day}-05")

    assert current(mem) == ["user lives in Ghent"]


def test_a_claim_is_never_closed_by_itself_or_by_what_was_said_before() -> None:
    claims = list(read_claims("user", "lives in", "Ghent")) + list(read_claims("user", "lives in", "Bruges"))
    rows = [Stated(n, f"{9 - n}", 0, claim, str(n)) for n, claim in enumerate(claims)]

    assert [(settled.older.n, settled.newer.n) for settled in settle(rows, {0, 1})] == [(1, 0)]
    assert list(settle(rows[:1] * 3, {0})) == []


def test_in_a_language_without_tables_nothing_is_closed(mem: Memory) -> None:
    log(mem, "Ich wohne in Bremen.", "2026-01-05")
    log(mem, "Ich wohne in Hamburg.", "2026-02-05")

    assert all(fact.superseded_by is None for fact in mem.facts())


def test_what_is_forgotten_closes_nothing_any_more(mem: Memory) -> None:
    log(mem, "I live in Ghent.", "2026-01-05")
    entry = mem.log([{"role": "user", "content": "I moved to Bruges."}], created="2026-03-05")
    assert current(mem) == ["user moved to Bruges"]

    mem.forget(entry.id)

    assert current(mem) == ["user lives in Ghent"]


@pytest.mark.parametrize(("first", "then"), [
    ("We use Redis for the queue.", "We dropped Redis."),
    ("The API port is 8080.", "The API port is 9090 now."),
    ("We plan to buy a server.", "We bought the server.")])
def test_a_project_closes_nothing_of_another(mem: Memory, first: str, then: str) -> None:
    log(mem, first, "2026-01-05", project="shop")
    before = current(mem)
    log(mem, then, "2026-02-05", project="blog")

    assert set(before) <= set(current(mem))


def test_what_the_user_ends_in_a_project_may_be_of_their_own_person(mem: Memory) -> None:
    log(mem, "I'm allergic to aspirin. I'm a member of the choir.", "2026-01-05", project="shop")
    log(mem, "I'm not a member of the choir anymore.", "2026-02-05", project="blog")

    assert "user is a member of the choir" not in current(mem)


def test_an_ending_without_project_closes_nothing_of_a_project(mem: Memory) -> None:
    log(mem, "We use Redis for the queue.", "2026-01-05", project="shop")
    log(mem, "I dropped Redis.", "2026-02-05", project="default")

    assert any("uses Redis" in title for title in current(mem))


@pytest.mark.parametrize(("first", "then"), [
    ("The staging port is 8080.", "The port is 9090 now."),
    ("The staging port is 8080.", "The production port is 9090."),
    ("Staging runs Postgres 14.", "Sorry, we run Postgres 16.")])
def test_who_names_no_environment_closes_nothing_of_one(mem: Memory, first: str, then: str) -> None:
    log(mem, first, "2026-01-05")
    log(mem, then, "2026-02-05")

    assert first.rstrip(".") in current(mem)


def test_an_environment_gets_its_own_new_value(mem: Memory) -> None:
    log(mem, "The staging port is 8080.", "2026-01-05")
    log(mem, "The staging port is 9090.", "2026-02-05")

    assert current(mem) == ["The staging port is 9090"]


def test_what_is_closed_leaves_every_page_and_as_of_gives_it_back(mem: Memory) -> None:
    log(mem, "I live in Ghent. My manager is Petra.", "2026-01-05", topic="life")
    log(mem, "I live in Bruges. My manager is Igor.", "2026-03-05", topic="life")
    mem.upkeep()
    pages = {path.name: path.read_text() for path in mem.path.rglob("*.md") if path.name in
             ("CORE.md", "GLOBAL_MEMORY.md", "topic_memory.md")}
    told = [*pages.values(), mem.brief().text, mem.hud()]

    assert "GLOBAL_MEMORY.md" in pages
    old = [line for text in told for line in str(text).splitlines() if "Petra" in line or "Ghent" in line]
    assert all("until 2026-03-05" in line for line in old)  # a topic's page tells what it was until when
    assert not [line for line in old if line not in pages["topic_memory.md"]]
    assert "user lives in Ghent" in current(mem, as_of="2026-02-01")


def test_a_sentence_that_breaks_off_states_nothing_and_stops_nobody(mem: Memory) -> None:
    mem.remember("Gina: The costumes look great! Gonna be")
    log(mem, "The festival is soon. Gonna be.", "2026-01-05")

    assert mem.recall("costumes for the festival").hits


def test_two_notes_that_give_one_thing_two_values_are_a_change_and_not_proposed_for_merging(mem: Memory) -> None:
    mem.note("API port", "The API port is 8080.")
    mem.note("API port again", "The API port is 8443.")
    mem.note("Kettle", "The kettle in the kitchen whistles at dawn.")
    mem.note("The kettle", "The kettle in the kitchen whistles at dawn, too.")

    proposed = [{merge.keep, merge.absorb} for _, merge in mem.reflect().merges]

    ids = {item["title"]: item["id"] for item in mem.list(kind="note")[0]}
    assert {ids["Kettle"], ids["The kettle"]} in proposed
    assert {ids["API port"], ids["API port again"]} not in proposed
    assert [hit.title for hit in mem.recall("API port").hits][:2] == ["API port again", "API port"]


# What a model proposes


def proposal(subject: str, relation: str, value: str, **more: object) -> Fact:
    return Fact(subject=subject, relation=relation, object=value, type="event", **more)


def stated(subject: str, relation: str, value: str, trust: int = 0, scope: str = "") -> Stated:
    return Stated(1, "1", trust, read_claims(subject, relation, value)[0], "old", scope)


@pytest.mark.parametrize(("words", "allowed"), [
    (("user", "plays", "the banjo"), True),
    (("user", "builds", "the banjo"), False),  # another attribute
    (("Kim", "plays", "the banjo"), False),  # another subject
    (("user", "plays", "the cello"), False),  # nothing new
])
def test_a_proposal_may_close_what_has_its_subject_and_attribute(words: tuple[str, str, str], allowed: bool) -> None:
    assert may_close(proposal(*words), None, 0, stated("user", "plays", "the cello")) is allowed


def test_a_proposal_closes_nothing_of_another_project_and_nothing_that_is_trusted_more() -> None:
    old = stated("The worker", "reads", "the blue queue", scope="north")

    assert may_close(proposal("The worker", "reads", "the red queue"), "north", 0, old)
    assert not may_close(proposal("The worker", "reads", "the red queue"), "south", 0, old)
    assert not may_close(proposal("The worker", "reads", "the red queue"), "north", 1, old)


def propose(mem: Memory, entry_id: str, fact: Fact) -> None:
    """Add what a model proposed to an entry's summary, as upkeep would."""
    path = next(Path(mem.home.tree.folder).rglob(f"{entry_id}/summary.json"))
    held = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**held, "facts": [*held["facts"], fact.to_dict()]}), encoding="utf-8")
    mem.sync()


def played(mem: Memory, trust: str) -> list[str]:
    log(mem, "I play the cello.", "2026-01-05")
    known = mem.home.index.claims.near(["cello"], None, 5)[0]
    entry = log(mem, "The banjo has taken over my evenings.", "2026-02-05")
    propose(mem, entry, proposal(known.subject, known.relation, "the banjo", entry_id=entry, entry_ts="2026-02-05T10:00:00Z",
                                 turn=1, trust=trust, replaces=(known.row.id,)))
    return [title for title in current(mem) if "play" in title]


def test_what_a_model_proposes_to_replace_is_closed_and_a_rebuild_closes_it_again(mem: Memory) -> None:
    assert played(mem, "user") == ["user plays the banjo"]
    mem.reindex()
    assert [title for title in current(mem) if "play" in title] == ["user plays the banjo"]


def test_a_proposal_of_less_trust_is_a_contradiction(mem: Memory) -> None:
    assert sorted(played(mem, "agent")) == ["user plays the banjo", "user plays the cello"]
    assert len(mem.home.index.claims.contested()) == 1


def test_a_proposal_that_replaces_itself_or_what_came_later_closes_nothing() -> None:
    old = stated("user", "plays", "the cello")
    itself = old._replace(replaces=(old.id,))
    earlier = Stated(0, "0", 0, read_claims("user", "plays", "the banjo")[0], "new", "", (old.id,))

    assert (verdict(itself, old), verdict(earlier, old)) == ("", "")
