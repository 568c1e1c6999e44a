"""Recall through the public verb: what is found, in which order, how much of it is told, and what is never done."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otolith.errors import Invalid
from otolith.memory import Memory
from otolith.providers import tokens
from otolith.providers.tokens import count_tokens

NIGHT = [
    ("Ann", "I took up pottery in March, on Tuesdays."),
    ("Ben", "Where do you fire the bowls?"),
    ("Ann", "In the kiln behind the library."),
    ("Ben", "My brother repairs clocks."),
    ("Ann", "Does he sell them?"),
    ("Ben", "Only at the harbour fair."),
]


def ids(found):
    return [hit.id for hit in found.hits]


def titles(found):
    return [hit.title for hit in found.hits]


def talk(mem, turns=NIGHT, topic="evening", **more):
    return mem.log([{"role": speaker, "content": text} for speaker, text in turns], topic=topic, **more)


# Ways to a record


@pytest.fixture
def shelf(mem):
    """A small home with a little of everything."""
    redis = mem.note("Redis drops connections", "The client disconnects after five minutes of idling.", type="problem",
                     tags=["redis"], aliases=["idle timeout"])
    ping = mem.note("Keepalive", "Send PING every minute so that it stays open.", type="solution")
    mem.link(ping.id, "SOLVES", redis.id)
    memo = mem.memo("user_prefers_structured_output", "Likes tables and short bullet points.")
    work = mem.record(goal="Speed up the nightly export", task_type="refactor", success=True, summary="Streams rows now",
                      files=["src/export/rows.py"])
    chunk, = mem.remember("The staging database moved to Frankfurt.", conversation_id="ops", tags=["staging"])
    return {"redis": redis.id, "ping": ping.id, "memo": memo.id, "work": work.id, "chunk": chunk.id}


@pytest.mark.parametrize(("asked", "name", "how"), [
    (lambda shelf: shelf["redis"], "redis", "id"), (lambda shelf: shelf["redis"][:8], "redis", "id"),
    (lambda _: "redis DROPS connections", "redis", "title"), (lambda _: "Idle timeout", "redis", "name"),
    (lambda _: "user_prefers_structured_output", "memo", "id"), (lambda _: "user prefers structured output", "memo", "title"),
    (lambda _: "what did we do to rows.py", "work", "file rows.py"),
    (lambda _: "src/export/rows.py", "work", "file src/export/rows.py"), (lambda _: "#staging", "chunk", "tag staging"),
    (lambda _: "staging", "chunk", "tag staging"),
    (lambda _: "see user_prefers_structured_output.md please", "memo", "id"),
])
def test_what_is_named_outright_comes_first_and_says_so(mem, shelf, asked, name, how):
    found = mem.recall(asked(shelf))

    assert found.hits[0].id == shelf[name]
    assert found.hits[0].why[0] == how
    assert found.enough


def test_a_beginning_that_several_ids_share_names_none_of_them(mem):
    for word in ("tea", "coffee"):
        mem.remember(f"Buy {word}.", conversation_id="shopping")

    assert all("id" not in hit.why for hit in mem.recall("chunk-2026-02-10-").hits)


def test_one_text_that_was_cut_into_several_chunks_is_ranked_as_a_text_and_a_conversation_as_talk(mem):
    function = "\n\n".join(f"def step_{at}(kettle):\n" + f"    kettle.warm({at})  # the kettle gets warmer\n" * 30 for at in range(4))
    chunks = mem.remember(function, conversation_id="file-1")
    for said in ("Ada: Where is the teapot?", "Ben: The teapot is in the shed.", "Ada: Thank you."):
        mem.remember(said, conversation_id="talk-1")

    assert len(chunks) > 1
    assert "title" not in mem.recall("teapot shed").hits[0].parts
    assert {"cover", "meaning nearby"}.isdisjoint(mem.recall("warm kettle step").hits[0].parts)
    assert "repeated" in mem.recall("warm kettle step").hits[0].parts
    assert "cover" in mem.recall("teapot shed").hits[0].parts


def test_part_of_a_file_name_names_no_file(mem, shelf):
    assert all(not reason.startswith("file") for hit in mem.recall("ows.py").hits for reason in hit.why), shelf


def test_a_link_leads_to_what_shares_no_word_with_the_question(mem, shelf):
    found = mem.recall("why does the redis client disconnect", kind="note")

    assert ids(found) == [shelf["redis"], shelf["ping"]]
    assert f"linked: SOLVES {shelf['redis']}" in found.hits[1].why


def test_a_note_comes_before_the_edge_that_repeats_its_title(mem):
    drops = mem.note("Redis drops idle connections", "After five minutes the pool hands out dead sockets.")
    keep = mem.note("Keepalive for the pool", "Set a timeout of 300 seconds.")
    edge = mem.link(keep.id, "SOLVES", drops.id, context="dead sockets are noticed")

    assert ids(mem.recall("why do connections die"))[:2] == [drops.id, edge.edge_id]


def test_an_edge_is_still_found_by_what_only_it_says(mem, shelf):
    edge = mem.link(shelf["ping"], "REQUIRES", shelf["redis"], context="firewalls forget silent sockets")

    assert mem.recall("firewalls forget silent sockets").hits[0].id == edge.edge_id


@pytest.mark.parametrize(("question", "name"), [
    ("why does redis disconnect", "redis"), ("how does the person like answers laid out", "memo"),
    ("making the export faster", "work"), ("where is the staging database now", "chunk"), ("keep the connection open", "ping"),
])
def test_notes_memos_work_and_chunks_are_found_side_by_side(mem, shelf, question, name):
    assert shelf[name] in ids(mem.recall(question))[:2]


@pytest.mark.parametrize("filters", [
    {"kind": "work"}, {"tag": "nowhere"}, {"since": "2030-01-01"}, {"agent": "nobody"}, {"conversation": "other"},
    {"before": "2020-01-01"}, {"failures": True}, {"topic": "none"}, {"type": "decision"}])
def test_filters_hold_for_what_is_named_and_what_is_linked_too(mem, shelf, filters):
    found = mem.recall(shelf["redis"], **filters)

    assert {hit.id for hit in found.hits}.isdisjoint({shelf["redis"], shelf["ping"]})


def test_a_minimum_of_confidence_lets_kinds_without_one_pass(mem):
    sure, = mem.remember("The kettle is blue.", conversation_id="a", confidence=0.9)
    mem.remember("The kettle is perhaps green.", conversation_id="b", confidence=0.2)
    memo = mem.memo("kettle_is_on_the_stove", "The kettle stands there.")

    assert set(ids(mem.recall("kettle", min_confidence=0.5))) == {sure.id, memo.id}


def test_a_slip_of_the_pen_still_finds_the_word(mem):
    note = mem.note("Testing", "Run pytest before every commit.")

    hit = mem.recall("pytesst").hits[0]

    assert hit.id == note.id
    assert "words: pytesst (read as pytest)" in hit.why


def test_a_time_in_the_question_favours_what_was_said_then(mem):
    spring = talk(mem, [("Ann", "I went sailing with Carla.")], created="2023-05-12")
    talk(mem, [("Ann", "I went sailing with Doris.")], topic="autumn", created="2023-10-02")

    found = mem.recall("Who did Ann go sailing with in May 2023?", kind="entry")

    assert found.hits[0].id == spring.id
    assert "from the time asked about" in found.hits[0].why


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_a_day_in_the_question_finds_that_day_among_many_alike(mem, limit):
    for day in range(1, 29):
        for month in range(1, 6):
            mem.remember(f"Standup: number {month}.{day} was short.", created=f"2024-{month:02}-{day:02}T09:00:00Z",
                         conversation_id=f"talk-{month}-{day}")

    for asked in ("2024-01-03", "2024-03-17", "2024-05-28"):
        found = mem.recall(f"standup on {asked}", limit=limit, kind="chunk").hits
        assert mem.get(found[0].id).record.metadata.created.startswith(asked)


@pytest.mark.parametrize("limit", [1, 5, 100])
def test_of_many_that_match_alike_what_is_marked_comes_first_whatever_the_limit(mem, limit):
    made = [mem.note(f"Tune redis node {at}", "The redis cluster was tuned.", importance=0.1) for at in range(130)]
    mem.edit(made[20].id, importance=1.0)
    mem.pin(made[40].id)

    assert {hit.id for hit in mem.recall("redis", limit=max(limit, 2)).hits[:2]} == {made[20].id, made[40].id}


def test_a_sharp_s_is_found_as_it_is_written(mem):
    street = mem.note("Sperrung", "Die Straße zum Schloss ist gesperrt, der Fuß tut weh.")
    for at in range(30):
        mem.note(f"Anderes {at}", "Hier steht etwas ganz anderes.")

    for asked in ("Fuß", "STRASSE oder Straße", "fuß"):
        assert mem.recall(asked).hits[0].id == street.id


def test_han_is_found_by_any_of_its_words(mem):
    note = mem.note("旅行", "我们下周去北京看朋友。")

    assert ids(mem.recall("北京", kind="note")) == [note.id]


# Order


def test_what_was_replaced_stands_below_what_replaced_it_and_names_it(mem, clock):
    old = mem.memo("backend_is_written_in_python", "The backend is written in Python with Flask.")
    clock.pass_time(days=1)
    new = mem.memo("backend_is_written_in_rust", "We moved everything to Rust.")
    mem.link(new.id, "supersedes", old.id)

    found = mem.recall("is the backend written in Python with Flask", kind="memo")

    assert ids(found) == [new.id, old.id]
    assert found.hits[1].superseded_by == new.id


def test_a_note_whose_statement_a_newer_one_ended_names_that_one(mem, clock):
    old = mem.note("Database", "We use Postgres for the billing service.")
    clock.pass_time(days=3)
    new = mem.note("Database again", "We moved the billing service from Postgres to SQLite.")

    hits = {hit.id: hit for hit in mem.recall("which database does the billing service use: Postgres?", kind="note").hits}

    assert hits[old.id].superseded_by == new.id
    assert hits[new.id].superseded_by is None
    assert hits[new.id].score > hits[old.id].score


def test_a_chain_of_replacements_stands_newest_first(mem, clock):
    made = []
    for word in ("first", "second", "third"):
        clock.pass_time(days=1)
        made.append(mem.record(goal=f"Choose the queue, {word} try", task_type="other", success=True, summary="Chose one"))
    mem.link(made[1].id, "supersedes", made[0].id)
    mem.link(made[2].id, "supersedes", made[1].id)

    assert ids(mem.recall("choose the queue first try", kind="work")) == [work.id for work in reversed(made)]


def test_a_rejected_fact_is_never_shown_and_a_pinned_one_rises(mem):
    entry = mem.log([{"role": "user", "content": "I live in Ghent. I like oolong tea. I like black tea."}], topic="me")
    facts = [fact for fact in mem.recall("which tea do I like", kind="fact").hits if "tea" in fact.title]
    assert len(facts) == 2, entry
    mem.review(facts[0].id, score=0)
    mem.review(facts[1].id, score=10)

    found = [hit for hit in mem.recall("which tea do I like", kind="fact").hits if "tea" in hit.title]

    assert [hit.id for hit in found] == [facts[1].id]
    assert "pinned" in found[0].why
    assert facts[0].id not in ids(mem.recall(facts[0].title))
    assert ids(mem.recall(facts[0].id))[:1] == [facts[0].id]  # who names it by its id wants to see it


def test_the_more_important_of_two_alike_comes_first(mem):
    low = mem.note("Backups", "Backups run at night.", importance=0.2)
    high = mem.note("Backups again", "Backups run at night.", importance=0.9)

    found = ids(mem.recall("when do backups run", kind="note"))

    assert found == [high.id, low.id] or found == [high.id]  # the same text is told once


def test_the_newer_of_two_alike_comes_first(mem, clock):
    old, = mem.remember("Standup is at ten in the blue room.", conversation_id="a")
    clock.pass_time(days=200)
    new, = mem.remember("Standup is at ten in the red room.", conversation_id="b")

    assert ids(mem.recall("when is standup")) == [new.id, old.id]


def test_the_parts_add_up_to_the_score(mem, shelf):
    for hit in mem.recall("redis connections staging export").hits:
        assert sum(hit.parts.values()) == pytest.approx(hit.score)
        assert hit.why


# Dialogs


def test_a_hit_in_a_dialog_names_its_turn(mem):
    entry = talk(mem)

    hit = mem.recall("Where does Ann fire her bowls?", kind="entry").hits[0]

    assert (hit.id, hit.passage["turn"], hit.text) == (entry.id, 3, "Ann: In the kiln behind the library.")
    assert entry.raw[hit.passage["start"] : hit.passage["end"]].strip().endswith("behind the library.")


def test_several_turns_of_an_entry_are_hits_of_their_own_and_counted_once(mem, home):
    entry = talk(mem)

    found = mem.recall("pottery kiln clocks harbour fair", kind="entry")

    assert len(found.hits) > 2
    assert set(ids(found)) == {entry.id}
    line, = [json.loads(line) for line in next((home / "log").glob("usage-*.jsonl")).read_text().splitlines()]
    assert line["ids"] == [entry.id]


def test_a_long_note_is_one_hit_with_its_best_passage(mem):
    filler = "\n\n".join(f"Paragraph {at} speaks of gardens and of weather. " * 12 for at in range(6))
    note = mem.note("Long", f"{filler}\n\nThe zeppelin lands at noon.")

    hit, = mem.recall("when does the zeppelin land", kind="note").hits

    assert hit.id == note.id
    assert "zeppelin" in note.text[hit.passage["start"] : hit.passage["end"]]


def test_the_turns_around_a_hit_come_with_it_and_are_no_hits(mem):
    talk(mem)

    found = mem.recall("Where is the kiln?", limit=1, kind="entry", budget=500)

    assert [item["turn"] for item in found.hits[0].context] == [1, 2, 4, 5, 6]
    assert found.tokens == found.hits[0].tokens == sum(
        count_tokens(text) for text in [found.hits[0].text, *(item["text"] for item in found.hits[0].context)])


def test_chunks_of_one_conversation_are_each_others_neighbourhood(mem):
    for speaker, text in NIGHT:
        mem.remember(f"{speaker}: {text}", conversation_id="evening")
    mem.remember("Kilns are hot.", conversation_id="another")

    hit = mem.recall("Where does Ann fire the bowls?", limit=1).hits[0]

    assert hit.text == "Ann: In the kiln behind the library."
    assert [item["text"] for item in hit.context] == [f"{who}: {text}" for who, text in (NIGHT[1], NIGHT[3])]


def test_chunks_of_one_second_keep_their_order_when_the_index_is_rebuilt(mem):
    for at in range(12):
        mem.remember(f"Step {at} of the recipe for marmalade.", conversation_id="recipe")
    before = [item["text"] for item in mem.recall("recipe step 6", limit=1, budget=600).hits[0].context]

    mem.reindex()
    after = [item["text"] for item in mem.recall("recipe step 6", limit=1, budget=600).hits[0].context]

    assert before == after
    assert before == sorted(before, key=lambda text: int(text.split()[1]))


def test_neighbours_pass_the_filters_too(mem, clock):
    mem.remember("Ann: the secret plan is green.", conversation_id="c", tags=["x"])
    clock.pass_time(seconds=5)
    mem.remember("Ben: the other plan is red.", conversation_id="c")

    hit, = mem.recall("plan", tag="x").hits

    assert hit.context == ()


def test_a_fact_that_only_repeats_a_turn_is_not_told_twice(mem):
    talk(mem, [("user", "I live in Ghent."), ("assistant", "Noted.")], topic="me")

    assert {hit.kind for hit in mem.recall("where do I live, in Ghent?").hits} == {"entry"}
    assert mem.recall("where do I live", kind="fact").hits


def test_the_diary_does_not_repeat_the_note_it_tells_of(mem):
    mem.note("Kettle", "The kettle whistles at ninety degrees.")

    assert [hit.kind for hit in mem.recall("when does the kettle whistle").hits] == ["note"]
    assert not mem.recall("kettle", kind="episode").hits


def test_the_same_text_is_delivered_once(mem):
    for conversation in ("a", "b", "c"):
        mem.remember("The bridge closes at midnight.", conversation_id=conversation)

    assert len(mem.recall("when does the bridge close").hits) == 1


def test_two_turns_that_say_the_same_are_delivered_once(mem):
    mem.log([{"role": "user", "content": "Mangos are ripe."}, {"role": "assistant", "content": "Good."},
             {"role": "user", "content": "Mangos are ripe."}], topic="fruit")

    assert sum("ripe" in hit.text for hit in mem.recall("mangos", kind="entry").hits) == 1


@pytest.mark.parametrize(("roles", "people"), [(("me", "other"), True), (("Ann", "Ben"), True), (("user", "assistant"), False)])
def test_me_and_other_of_a_messenger_are_people_and_not_an_agent_and_its_user(mem, roles, people):
    mem.log([{"role": roles[0], "content": "got the tent back from the cellar"},
             {"role": roles[1], "content": "great, then the lake on saturday"}], topic="chat")

    hit = mem.recall("when do we go to the lake with the tent", kind="entry").hits[0]

    assert ("cover" in hit.parts) is people


def test_somebody_forgotten_is_no_speaker_any_more(mem):
    entry = talk(mem)
    assert mem.sql("SELECT word FROM speakers WHERE passages > 0 ORDER BY word")["rows"] == [["ann"], ["ben"]]

    mem.forget(entry.id)

    assert mem.sql("SELECT word FROM speakers WHERE passages > 0")["rows"] == []


def test_a_label_at_the_start_of_a_chunk_is_no_speaker(mem):
    mem.remember("Decision: we keep PostgreSQL.", conversation_id="c")
    mem.remember("Maria Lopez: I agree.", conversation_id="c")

    assert mem.sql("SELECT word FROM speakers ORDER BY word")["rows"] == [["lopez"], ["maria"]]


# How much is told


@pytest.mark.parametrize("budget", [1, 7, 20, 60, 200, 1000])
def test_what_is_delivered_keeps_to_the_budget(mem, budget):
    talk(mem)
    mem.note("Clocks", "A clock needs oil. " * 200)

    found = mem.recall("who repairs clocks and oils them", budget=budget)

    assert 0 < found.tokens <= budget
    assert found.tokens == sum(hit.tokens for hit in found.hits)


def test_what_does_not_fit_at_its_depth_is_told_more_briefly(mem):
    note = mem.note("Clocks", "Every clock needs oil.\n\n" + "Much else is said about gears and springs. " * 300)

    hit, = mem.recall("does a clock need oil", budget=60, kind="note").hits

    assert hit.id == note.id
    assert "Every clock needs oil." in hit.text


class Counting:
    """The tokenizer, with a count of the signs it is given."""

    def __init__(self):
        self.real, self.signs = tokens.load_tokenizer(), 0

    def encode(self, text):
        self.signs += len(text)
        return self.real.encode(text)


@pytest.mark.parametrize("depth", ["outcome", "full", "complete"])
@pytest.mark.parametrize("between", ["\n\n", " "])
def test_an_answer_costs_what_it_delivers_and_not_what_it_is_cut_from(mem, monkeypatch, depth, between):
    mem.note("Clocks", "Every clock needs oil." + between + between.join(["Much else is said about gears."] * 20_000))
    mem.remember("The kiln is behind the library. " * 40)
    mem.embed()
    counting = Counting()
    monkeypatch.setattr(tokens, "load_tokenizer", lambda: counting)

    found = mem.recall("does a clock need oil", budget=200, depth=depth)

    assert 0 < found.tokens <= 200
    assert "Every clock needs oil." in found.hits[0].text
    assert counting.signs < 200 * tokens.LONGEST * 12


def test_no_token_is_longer_than_is_said():
    assert max(map(len, tokens.load_tokenizer().vocabulary)) == tokens.LONGEST


@given(st.text(max_size=300) | st.text(alphabet=" \n=a", max_size=300), st.integers(0, 40))
def test_only_what_does_not_fit_is_too_long_by_its_length(text, room):
    assert not tokens.exceeds(text, room) or count_tokens(text) > room


@pytest.mark.parametrize("room", [None, 100])
def test_a_record_with_the_text_of_another_is_named_and_its_text_not_told_again(mem, room):
    text = ("The lighthouse keeper keeps bees. " * 40).strip()
    for name in ("One", "Two"):
        mem.note(name, text)

    found = mem.recall("lighthouse keeper", kind="note", budget=room and count_tokens(text) + room)

    assert sorted(hit.title for hit in found.hits) == ["One", "Two"]
    assert found.hits[0].text == text
    assert found.hits[1].text == f"{found.hits[1].title} (the same text as {found.hits[0].id})"


@pytest.mark.parametrize("depth", ["outcome", "reasoning"])
def test_a_hit_does_not_say_its_sentence_twice(mem, depth):
    mem.note("Door code", "The office door code is 4711.")

    assert mem.recall("door code", depth=depth, kind="note").hits[0].text.count("4711") == 1


def test_a_forgotten_note_does_not_come_back_through_the_diary(mem):
    note = mem.note("Tapir", "The tapir hides.")
    mem.forget(note.id)

    assert not mem.recall("tapir").hits
    assert not mem.recall("tapir", kind="episode").hits


@pytest.mark.parametrize("limit", [1, 2, 10])
def test_the_diary_never_stands_before_the_notes_it_tells_of(mem, limit):
    for number in range(25):
        mem.note(f"Hippo {number}", f"The hippo number {number} swims.")

    assert {hit.kind for hit in mem.recall("hippo", limit=limit).hits} == {"note"}


def test_use_counts_for_the_order_at_once_and_after_a_rebuild(home, clock):
    import shutil

    with Memory(home, clock=clock) as mem:
        one, two = (mem.note(f"{name} walrus", f"Walrus tusks are ivory, says {name}.") for name in ("Alpha", "Beta"))
        for _ in range(5):
            mem.get(one.id)
        before = [(hit.id, round(hit.score, 6)) for hit in mem.recall("walrus tusks", kind="note").hits]
        assert before[0][0] == one.id
        assert "Used 7 times" in mem.get(one.id, depth="complete").text  # five times, by recall, and now
        place = mem.home.index.path.parent
    shutil.rmtree(place)
    with Memory(home, clock=clock) as mem:
        assert ids(mem.recall("walrus tusks", kind="note")) == [one.id, two.id]


def test_a_plain_word_is_no_beginning_of_an_id(mem):
    mem.memo("deploy_never_on_friday", "No deploy after Thursday.")

    assert "id" not in mem.recall("deploy").hits[0].why
    assert "id" in mem.recall("deploy_never").hits[0].why


@pytest.mark.parametrize(("question", "title"), [
    ("what happened yesterday?", "Yesterday's"), ("yesterday", "Yesterday's"), ("what did we do last week", "Last week's"),
    ("what happened in January 2026", "January's")])
def test_a_question_about_a_time_alone_brings_what_is_of_that_time(mem, clock, question, title):
    now = clock()  # a Tuesday in February
    for days, name in ((40, "January's"), (8, "Last week's"), (1, "Yesterday's"), (0, "Today's")):
        clock.now = now - days * 86400
        mem.note(f"{name} walk", f"A walk along the canal, number {days}.")
    clock.now = now

    found = mem.recall(question)

    assert found.enough
    assert found.hits[0].title.startswith(title)
    assert "from the time asked about" in found.hits[0].why
    assert all("from the time asked about" not in hit.why for hit in found.hits if hit.title.startswith("Today"))


def test_each_depth_says_at_least_as_much_as_the_one_before(mem, shelf):
    sizes = [mem.recall(shelf["redis"], depth=depth, limit=1).hits[0].tokens
             for depth in ("summary", "outcome", "reasoning", "full", "complete")]

    assert sizes[0] <= sizes[1] <= sizes[2]
    assert sizes[3] < sizes[4]


def test_complete_tells_links_and_origin(mem, shelf):
    hit = mem.recall(shelf["redis"], depth="complete", limit=1).hits[0]

    assert shelf["ping"] in hit.text
    assert hit.origin["trust"] == "user"


def test_nothing_good_is_said_to_be_so_and_not_padded(mem, shelf):
    found = mem.recall("zebra migration in the Serengeti")

    assert not found.enough
    assert not found.hits


def test_an_empty_home_knows_nothing(mem):
    found = mem.recall("anything")

    assert (list(found.hits), found.enough, found.tokens) == ([], False, 0)


# Bad input


@pytest.mark.parametrize("query", ["", " ", "\n\t", None, 7])
def test_an_empty_question_is_refused(mem, query):
    with pytest.raises(Invalid):
        mem.recall(query)


@pytest.mark.parametrize("query", [
    '"', "NEAR(", "*", "AND OR NOT", "a:b", "{x y}", "(((", "🙂", "🧠🧠 tea", "\0", "%", "-", "x" * 100_000, "'; DROP TABLE records; --"])
def test_no_question_is_search_syntax(mem, shelf, query):
    mem.recall(query)

    assert mem.recall("redis").hits


def test_a_megabyte_of_question_is_answered_by_its_beginning(mem, shelf):
    found = mem.recall("redis connections " * 60_000)

    assert found.hits[0].id == shelf["redis"]


@pytest.mark.parametrize("wrong", [
    {"depth": "deep"}, {"depth": ""}, {"budget": 0}, {"budget": -5}, {"budget": True}, {"budget": 1.5}, {"limit": 0}, {"limit": -1},
    {"limit": "many"}, {"limit": 10**6}, {"kind": "poem"}, {"since": "soon"}, {"as_of": "someday"}, {"min_confidence": 2},
    {"failures": True, "successes": True}])
def test_what_cannot_be_meant_is_refused(mem, wrong):
    with pytest.raises(Invalid):
        mem.recall("tea", **wrong)


# As it stood then


def test_as_of_a_day_nothing_later_is_known(mem, clock):
    old = mem.memo("server_lives_in_paris", "The server lives in Paris.")
    clock.pass_time(days=10)
    new = mem.memo("server_lives_in_oslo", "The server lives in Oslo.")
    mem.link(new.id, "supersedes", old.id)

    then = mem.recall("where does the server live", kind="memo", as_of="2026-02-12")

    assert ids(then) == [old.id]
    assert then.hits[0].superseded_by is None
    assert "deprecated or rejected" not in then.hits[0].why
    assert ids(mem.recall("where does the server live", kind="memo")) == [new.id, old.id]


def test_as_of_a_day_a_later_score_does_not_count(mem, clock):
    mem.log([{"role": "user", "content": "I like oolong tea."}], topic="me")
    fact = mem.recall("oolong", kind="fact").hits[0]
    clock.pass_time(days=10)
    mem.review(fact.id, score=0)

    assert not mem.recall("oolong", kind="fact").hits
    assert ids(mem.recall("oolong", kind="fact", as_of="2026-02-12")) == [fact.id]


def test_a_text_that_was_edited_since_says_so(mem, clock):
    note = mem.note("Tea", "Steep for three minutes.")
    clock.pass_time(days=10)
    mem.edit(note.id, text="Steep for four minutes.")

    hit = mem.recall("steep tea", kind="note", as_of="2026-02-12").hits[0]

    assert hit.text == "Steep for four minutes."
    assert "edited-since" in hit.why


# Freshness and use


def test_a_hand_edit_is_delivered_as_it_is_now(mem, home):
    note = mem.note("Tea", "Steep for three minutes.")
    path = home / mem.get(note.id).path
    mem.home.ensure_fresh = lambda: None  # as in a large home between two sweeps
    path.write_text(path.read_text().replace("three minutes", "four long minutes"))

    assert mem.recall("steep").hits[0].text == "Steep for four long minutes."


def test_a_deleted_file_is_not_delivered(mem, home):
    note = mem.note("Tea", "Steep for three minutes.")
    (home / mem.get(note.id).path).unlink()
    mem.home.ensure_fresh = lambda: None

    assert ids(mem.recall("steep", kind="note")) == []


def test_an_uncounted_recall_leaves_no_trace(mem, home, shelf):
    with mem.home.uncounted():
        mem.recall("redis")

    assert not list(home.glob("log/usage-*"))


def test_recall_changes_nothing_in_the_home(mem, shelf, snapshot):
    before = snapshot()
    mem.recall("redis staging export", depth="complete", budget=500)

    assert snapshot() == before


def test_the_same_answers_come_from_a_rebuilt_index(home, clock, tmp_path, monkeypatch):
    questions = ["Where does Ann fire the bowls?", "who repairs clocks", "redis disconnects", "tea"]
    with Memory(home, clock=clock) as mem:
        talk(mem)
        mem.note("Redis", "It disconnects when idle.", tags=["ops"])
        for at in range(5):
            mem.remember(f"Tea number {at} is green.", conversation_id="tea")
        before = [[(hit.id, hit.text, round(hit.score, 6)) for hit in mem.recall(question).hits] for question in questions]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    with Memory(home, clock=clock) as mem:
        after = [[(hit.id, hit.text, round(hit.score, 6)) for hit in mem.recall(question).hits] for question in questions]

    assert [[one[:2] for one in answer] for answer in after] == [[one[:2] for one in answer] for answer in before]


# The command line


def test_recall_at_the_command_line_answers_the_pinned_shape(run, mem, shelf):
    found = run("recall", "why", "does", "redis", "disconnect", "--budget", "200", "--json").json

    assert found.keys() >= {"query", "depth", "budget", "tokens", "enough", "index_lag", "hits"}
    assert found["hits"][0].keys() >= {"id", "kind", "type", "title", "text", "score", "why", "created", "tags", "path", "origin",
                                       "superseded_by", "tokens"}
    assert (found["hits"][0]["id"], found["budget"], found["enough"]) == (shelf["redis"], 200, True)


def test_explain_shows_how_each_score_came_about(run, shelf):
    told = run("recall", "redis", "--explain", "--kind", "note", "--limit", "1")

    assert told.code == 0
    assert "handle 5.00" in told.out
    assert "tag redis" in told.out


@pytest.mark.parametrize(("words", "code"), [
    (("recall", ""), 4), (("recall", "tea", "--depth", "deep"), 4), (("recall", "tea", "--budget", "0"), 4),
    (("recall", "tea", "--kind", "poem"), 2), (("recall", "tea", "--since", "soon"), 4), (("recall", "tea", "--limit", "x"), 2),
    (("recall", "tea", "--failures", "--successes"), 4), (("recall", "NEAR("), 0), (("recall", "*", "--tag", "none"), 0)])
def test_a_bad_question_is_one_line_and_its_own_code(run, words, code):
    told = run(*words)

    assert told.code == code
    assert "Traceback" not in told.err
    assert len(told.err.strip().splitlines()) <= 1
