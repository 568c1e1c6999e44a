"""Mixed kinds in one answer: the record that says it comes first, what only repeats it comes after or under it."""

from __future__ import annotations

import pytest

from otolith.memory import Memory
from otolith.model.kinds import KINDS

NOW = 1_770_759_420.0
DIALOGS = {
    "startup": [
        ("user", "We decided to sell the climbing app to gyms instead of climbers."),
        ("assistant", "Then pricing per gym makes sense."),
        ("user", "I prefer yearly contracts over monthly billing."),
        ("user", "Our investor Maria wants a demo before Easter."),
        ("user", "What should we charge a gym?"),
        ("assistant", "Ninety euros a month for each wall is what the competitors take."),
        ("user", "We must never store the climbers' health data."),
    ],
    "garden": [
        ("user", "I planted tomatoes against the south wall in April."),
        ("assistant", "They will want a lot of water there."),
        ("user", "The slugs ate all of the lettuce again."),
        ("user", "My neighbour Karl lends me his shredder every autumn."),
        ("user", "When do the raspberries have to be cut?"),
        ("assistant", "Cut the canes that bore fruit right after the harvest."),
    ],
    "japan": [
        ("user", "We fly to Osaka on the third of October with the children."),
        ("user", "My wife is allergic to shellfish, so the ryokan must know."),
        ("assistant", "I will put it into the booking."),
        ("user", "The rail pass has to be bought before we leave."),
    ],
}
WORKS = [
    ("Fix the login loop after the cookie change", "bug_fix", "The session cookie lacked SameSite; set it to Lax", "auth"),
    ("Add rate limits to the login endpoint", "security_fix", "Token bucket of ten a minute for each address", "auth"),
    ("Rotate the signing keys of the tokens", "configuration", "Keys are rotated each Sunday by a timer", "auth"),
    ("Speed up the nightly export", "optimization", "Rows are streamed instead of held in memory", "export"),
    ("Export fails on empty tables", "bug_fix", "An empty table writes its header only", "export"),
    ("Compress the exported files", "feature_add", "Zstandard at level six halves their size", "export"),
]
NOTES = [
    ("Redis drops idle connections", "The pool hands out dead sockets after five minutes.", "problem"),
    ("Keepalive for the pool", "Send a PING every minute so that sockets stay open.", "solution"),
    ("Postgres vacuum settings", "Autovacuum runs at five percent of dead rows on the events table.", "configuration"),
    ("Deploys happen on Tuesdays", "Nobody deploys on Fridays since the outage in March.", "decision"),
    ("The staging certificate", "It is renewed by hand because the challenge is blocked by the proxy.", "general"),
]
ASKED = [
    "to whom do we sell the climbing app", "yearly contracts or monthly billing", "what does the investor Maria want",
    "what do competitors charge a gym for each wall", "may we store health data of climbers", "where did I plant the tomatoes",
    "who ate the lettuce", "whose shredder do I borrow", "when are raspberry canes cut", "when do we fly to Osaka",
    "who is allergic to shellfish", "when must the rail pass be bought", "why did login loop after the cookie change",
    "rate limits of the login endpoint", "when are signing keys rotated", "why is the nightly export faster",
    "what does the export do with empty tables", "how are exported files compressed", "redis drops idle connections",
    "how do the sockets of the pool stay open", "autovacuum of the events table", "on which days do we deploy",
    "why is the staging certificate renewed by hand", "startup pricing for gyms", "garden slugs lettuce",
    "Osaka with the children", "session cookie SameSite", "token bucket for each address", "rows streamed in the export",
    "dead sockets after five minutes", "the proxy blocks the challenge", "the demo before Easter", "what about startup contracts",
    "the ryokan and shellfish", "keepalive solves redis drops idle connections",
]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A home with every ladder climbed: dialogs, topics, the global memory, works, chapters, wisdom, notes, edges."""
    patch = pytest.MonkeyPatch()
    folder = tmp_path_factory.mktemp("mixed")
    for name in ("CACHE", "CONFIG", "DATA"):
        patch.setenv(f"XDG_{name}_HOME", str(folder / name.lower()))
    with Memory(folder / "home", clock=lambda: NOW) as mem:
        for topic, turns in DIALOGS.items():
            mem.log([{"role": role, "content": text} for role, text in turns], topic=topic)
        for at, (goal, kind, summary, tag) in enumerate(WORKS):
            mem.record(goal=goal, task_type=kind, success=True, summary=summary, tags=[tag], files=[f"src/{tag}.py"],
                       created=NOW - 86400 * (6 - at))
        notes = [mem.note(title, text, type=kind) for title, text, kind in NOTES]
        mem.link(notes[1].id, "SOLVES", notes[0].id)
        mem.link(notes[2].id, "RELATED_TO", notes[3].id, context="deploys wait for the vacuum of the events table")
        mem.upkeep()
        yield mem
    patch.undo()


def test_every_ladder_is_climbed(mixed):
    kinds = mixed.stats()["kinds"]

    assert {"entry", "fact", "topic", "global", "work", "note", "edge"} <= kinds.keys()


@pytest.mark.parametrize("question", ASKED)
def test_the_record_that_says_it_comes_first(mixed, question):
    hit = mixed.recall(question).hits[0]

    assert not KINDS[hit.kind].echo, hit.why
    assert hit.text.strip()


@pytest.mark.parametrize("question", ASKED)
def test_an_edge_without_a_text_is_never_a_hit(mixed, question):
    assert all(hit.text.strip() and hit.record.text for hit in mixed.recall(question).hits if hit.kind == "edge")


def test_what_repeats_a_record_is_named_under_it(mixed):
    found = mixed.recall("we sell the climbing app to gyms")

    assert "topic startup" in found.hits[0].also
    assert "topic" not in [hit.kind for hit in found.hits if hit.title == "startup"]


def test_a_topic_that_is_asked_for_is_a_hit(mixed):
    assert mixed.recall("climbing app", kind="topic").hits[0].kind == "topic"


def test_an_edge_comes_first_with_what_only_it_says(mixed):
    assert mixed.recall("deploys wait for the vacuum").hits[0].kind == "edge"


def test_what_only_a_chapter_says_is_found_in_it(mem):
    works = [mem.record(goal=f"Part {number} of the move", task_type="refactor", success=True, summary=f"Moved module {number}")
             for number in range(3)]
    chapter = mem.chapter([work.id for work in works], title="The great move", summary="We learned that submodules cost a week.")

    assert mem.recall("submodules cost a week").hits[0].id == chapter.id


# Turns of one dialog

def test_a_terminal_shows_two_turns_of_a_dialog_and_counts_the_rest(run, mem):
    turns = [f"The glaze number {number} of the pottery cracked in the kiln." for number in range(6)]
    mem.log([{"role": "Ann", "content": text} for text in turns], topic="pottery")

    told = run("recall", "which glaze cracked in the kiln").out

    assert told.count("entry_") == 2
    assert "+4 more of this dialog" in told


def test_the_list_of_the_api_is_not_capped(run, mem):
    turns = [f"The glaze number {number} of the pottery cracked in the kiln." for number in range(6)]
    mem.log([{"role": "Ann", "content": text} for text in turns], topic="pottery")

    assert len(mem.recall("which glaze cracked in the kiln", kind="entry").hits) == 6
    assert len(run("recall", "which glaze cracked in the kiln", "--kind", "entry", "--json").json["hits"]) == 6


# Questions

def test_a_question_that_was_asked_often_is_told_once(mem):
    for day in range(4):
        mem.log([{"role": "user", "content": "Which database does the billing use?"},
                 {"role": "assistant", "content": f"I looked at it {day} times."}], topic=f"day{day}")
    mem.note("Billing", "The billing uses the database Postgres 16.")

    found = mem.recall("which database does billing use")

    assert found.hits[0].kind == "note"
    assert len([hit for hit in found.hits if "Which database does the billing use?" in hit.text]) == 1


def test_a_turn_that_asks_brings_its_answer(mem):
    mem.log([{"role": "Ann", "content": "Where are the spare keys of the summer house?"},
             {"role": "Ben", "content": "Under the blue pot."},
             {"role": "Ann", "content": "Thanks a lot!"}], topic="keys")

    found = mem.recall("spare keys of the summer house")
    told = [*(hit.text for hit in found.hits), *(near["text"] for hit in found.hits for near in hit.context)]

    assert any("Under the blue pot." in text for text in told)


def test_a_turn_that_asks_brings_its_answer_within_a_budget(mem):
    filler = [{"role": "Cid", "content": f"The summer house has {number} windows and spare keys are an old story here."}
              for number in range(40)]
    mem.log([{"role": "Ann", "content": "Where are the spare keys of the summer house kept?"},
             {"role": "Ben", "content": "Under the blue pot."}, *filler], topic="keys")

    found = mem.recall("where are the spare keys of the summer house kept", budget=120)
    told = [*(hit.text for hit in found.hits), *(near["text"] for hit in found.hits for near in hit.context)]

    assert any("Under the blue pot." in text for text in told)
    assert found.tokens <= 120


def test_a_question_stands_below_the_statement_that_answers_it(mem):
    mem.log([{"role": "Ann", "content": "Which colour has the new boat house?"},
             {"role": "Ben", "content": "The new boat house has the colour green."}], topic="boats")

    first = mem.recall("which colour has the new boat house").hits[0]

    assert "green" in first.text


# Enough

def test_three_records_answer_what_they_say_and_nothing_else(mem):
    mem.note("Keepalive", "Send PING every minute so that the redis connection stays open.")
    mem.memo("user_prefers_structured_output", "Likes tables and short bullet points.")
    mem.record(goal="Speed up the nightly export", task_type="refactor", success=True, summary="Streams rows now")

    for question in ("how does the redis connection stay open", "redis", "does the user like tables", "nightly export",
                     "how was the nightly export made faster"):
        assert mem.recall(question).enough, question
    for question in ("who won the football match on Sunday", "what is the capital of Peru", "how do I bake sourdough bread"):
        assert not mem.recall(question).enough, question


def test_a_question_about_somebody_of_whom_nothing_is_known_is_not_answered(mem, run):
    mem.log([{"role": "user", "content": "Karla keeps three beehives on the roof of the library in Ghent."},
             {"role": "assistant", "content": "Noted, three beehives."}], topic="bees")

    assert mem.recall("Where does Karla keep the beehives, and how many?").enough
    doubted = mem.recall("Where does Melanie keep three beehives?")
    assert not doubted.enough
    assert doubted.hits[0].why[-1] == "nothing is known of melanie"
    assert "unknown -1.5" in run("recall", "Where does Melanie keep three beehives?", "--explain").out


def test_a_time_or_the_first_word_of_a_question_is_no_name(mem):
    mem.note("Beehives", "Three beehives stand on the roof of the library, said in summer.")

    for question in ("Which beehives stand on the roof since Monday?", "Beehives on the library, in June?"):
        assert "unknown" not in mem.recall(question).hits[0].parts, question


def test_weak_hits_are_announced_and_three_are_shown(run, mem):
    for number in range(8):
        mem.note(f"Match {number}", f"The test number {number} does not match the snapshot of the page on Sunday.")

    told = run("recall", "who won the football match against Denmark yesterday evening in Copenhagen").out

    assert told.startswith("(nothing that is known answers this; the nearest)")
    assert "3. " in told
    assert "4. " not in told


def test_what_somebody_else_said_is_labelled(mem):
    mem.log([{"role": "Ann", "content": "I adopted a greyhound called Comet from the shelter in spring."},
             {"role": "Ben", "content": "How nice. I have been busy with my thesis on bridges."},
             {"role": "Ann", "content": "Comet the greyhound sleeps all day."}], topic="dogs")

    assert mem.recall("What is the name of the greyhound that Ben adopted from the shelter in spring?").about_somebody_else
    assert not mem.recall("What is the name of the greyhound that Ann adopted from the shelter?").about_somebody_else


def test_the_labels_are_in_the_json(run, mem):
    mem.note("Tea", "Steep for three minutes.")

    told = run("recall", "how long does tea steep", "--json").json

    assert (told["enough"], told["about_somebody_else"]) == (True, False)
    assert len(told["weights"]) == 8
