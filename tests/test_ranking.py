"""The pure half of recall: reading a question, its dates and slips, and what makes one passage better than another."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otolith.index.around import Passage
from otolith.index.store import Index
from otolith.model.dates import mentions_time, read_span
from otolith.recall import rank as ranking
from otolith.recall.question import closest, distance, read_question
from otolith.recall.rank import (
    best,
    best_by_words,
    gather,
    rank,
    rarity,
    side_by_side,
    text_signs,
    weights_of,
    with_neighbours,
)

NOW = datetime(2026, 2, 11, 12, tzinfo=UTC).timestamp()  # a Wednesday


def at(year: int, month: int, day: int) -> float:
    return datetime(year, month, day, 9, tzinfo=UTC).timestamp()


def ask(text: str, *speakers: str):
    return read_question(text, set(speakers), NOW)


# Questions


def test_stop_words_and_possessives_are_left_out_of_the_look_up():
    assert ask("What is Anna's favourite tea?").words == ("anna", "favourite", "tea")


def test_a_question_of_stop_words_alone_keeps_them():
    assert ask("who is he").words == ("who", "is", "he")


def test_a_name_is_known_from_the_memory_and_leaves_only_what_is_embedded():
    question = ask("When did Anna's sister move to Rome?", "anna")

    assert question.names == {"anna"}
    assert question.meaning == "When did sister move to Rome?"
    assert "anna" in question.words
    assert question.asks_when


def test_a_question_that_is_only_a_name_is_still_embedded():
    assert ask("Anna?", "anna").meaning == "Anna?"


def test_roles_are_no_names():
    assert ask("create the user table", "user").names == frozenset()


def test_scripts_without_spaces_are_looked_up_in_pairs():
    assert ask("東京都").words == ("東京", "京都")


@given(st.text(max_size=200))
def test_any_text_is_read(text):
    question = ask(text)

    assert len(question.words) <= 32


def test_a_megabyte_is_read_at_its_beginning():
    assert ask("word " * 200_000 + "end").words == ("word",)


# Dates


@pytest.mark.parametrize(("question", "inside", "outside"), [
    ("What happened on 8 May 2023?", at(2023, 5, 8), at(2023, 5, 7)),
    ("What happened on May 8th, 2023?", at(2023, 5, 8), at(2023, 5, 7)),
    ("What happened on 2023-05-08?", at(2023, 5, 8), at(2023, 5, 7)),
    ("What did we decide in May 2023?", at(2023, 5, 31), at(2023, 4, 30)),
    ("What did we decide in June?", at(2021, 6, 3), at(2021, 5, 3)),
    ("What did we decide in 2024?", at(2024, 12, 31), at(2023, 12, 31)),
    ("What did I say yesterday?", at(2026, 2, 10), at(2026, 2, 9)),
    ("What did I say last Tuesday?", at(2026, 2, 10), at(2026, 2, 9)),
    ("What did I say last Wednesday?", at(2026, 2, 4), at(2026, 2, 3)),
    ("What broke last week?", at(2026, 2, 8), at(2026, 2, 1)),
    ("What was last week's plan?", at(2026, 2, 8), at(2026, 2, 1)),
    ("What did we eat last night?", at(2026, 2, 10), at(2026, 2, 9)),
    ("Which classes did we join in mid-August 2023?", at(2023, 8, 3), at(2023, 7, 30)),
    ("What did the team hosted by Ann do in June 2022?", at(2022, 6, 3), at(2022, 5, 30)),
    ("What broke last month?", at(2026, 1, 31), at(2025, 12, 31)),
    ("What broke two weeks ago?", at(2026, 1, 28), at(2026, 1, 20)),
    ("What changed since March 2025?", at(2025, 12, 1), at(2025, 2, 28)),
    ("What changed after 2024?", at(2025, 1, 1), at(2024, 12, 31)),
    ("What did we use before 2025?", at(2024, 12, 31), at(2025, 1, 1)),
])
def test_a_time_in_a_question_favours_what_was_said_then(question, inside, outside):
    span = read_span(question, NOW)

    assert span is not None
    assert (span.nearness(inside), span.nearness(outside)) == (1.0, 0.0)


@pytest.mark.parametrize("question", ["May I march on?", "Which port does redis use?", "the second of three", ""])
def test_a_question_without_a_time_has_no_span(question):
    assert read_span(question, NOW) is None


@pytest.mark.parametrize("question", [
    "on 31 February 2023", "2023-13-45", "on 99 May 2023", "9999-12-31", "0000-01-01", "999 years ago"])
def test_impossible_dates_harm_nobody(question):
    span = read_span(question, NOW)

    assert span is None or span.nearness(NOW) in (0.0, 0.7, 1.0)


def test_what_is_told_in_the_days_after_counts_nearly_as_much():
    span = read_span("on 8 May 2023", NOW)

    assert 0 < span.nearness(at(2023, 5, 12)) < 1
    assert span.nearness(at(2023, 6, 12)) == 0


def test_a_turn_that_says_when_is_noticed():
    assert mentions_time("We moved here last year.")
    assert not mentions_time("You may sit down.")


# Slips


@pytest.mark.parametrize(("a", "b", "slips"), [
    ("pytesst", "pytest", 1), ("tset", "test", 1), ("cat", "cat", 0), ("abcd", "wxyz", 3)])
def test_slips_are_counted(a, b, slips):
    assert distance(a, b, 2) == slips


def test_the_commonest_of_the_closest_words_was_meant():
    assert closest("pytesst", [("pytest", 3), ("python", 90)]) == "pytest"
    assert closest("tabel", [("tabl", 2), ("label", 5), ("cabel", 9)]) == "cabel"


def test_a_word_with_digits_or_far_from_all_others_is_left_alone():
    assert closest("http2", [("http3", 5)]) is None
    assert closest("zebra", [("python", 5)]) is None


# Candidates, on a real index


@pytest.fixture
def shelf(tmp_path):
    index = Index(tmp_path / "cache/index.sqlite", lambda: "1")
    index.rebuild(damaged=False)
    yield index
    index.close()


def put(index, n, text, *, record=None, kind="note", conversation=None, created=NOW, speaker=None):
    db, record = index.db, record or n
    columns = "n, id, kind, type, title, unit, created, at, conversation, trust, sunk, pinned, uses, place, last"
    db.execute(f"INSERT OR IGNORE INTO records ({columns}) VALUES (?,?,?,'','','',?,0,?,'user',0,0,0,0,?)",
               (record, str(record), kind, created, conversation, n))
    db.execute("UPDATE records SET last = ? WHERE n = ?", (n, record))
    db.execute("INSERT INTO passages (n, record, start, stop, speaker, head, text) VALUES (?,?,0,0,?,0,?)",
               (n, record, speaker, text))
    db.execute("INSERT INTO words(rowid, text, title, tags) VALUES (?,?,'','')", (n, text))


def recalled(index, text, *speakers, weights=None):
    """Texts, best first, by words alone."""
    question = ask(text, *speakers)
    total = index.words.count_passages()
    rows = [index.words.look_up(word) for word in question.words]
    seeds = best_by_words(rows, rarity([len(part) for part in rows], total), None, 80)
    near = with_neighbours(index, seeds)
    columns = gather(near, seeds, question, rows, total, lambda numbers: (np.zeros(len(numbers)), np.zeros((0, len(numbers))), np.zeros(len(numbers))))
    scores = sum(rank(columns, weights or weights_of("static")).values())
    return index.around.texts([int(columns.numbers[row]) for row in np.argsort(-scores, kind="stable") if columns.ranked[row]])


def test_a_word_is_found_in_all_its_forms(shelf):
    put(shelf, 1, "We went camping.")
    put(shelf, 2, "They camped there.")

    assert shelf.words.look_up("camps").tolist() == [1, 2]


@pytest.mark.parametrize("word", ['"', "NEAR(", "*", "a OR b", "", "\0", "-x", "🙂", "^"])
def test_a_word_is_never_search_syntax(shelf, word):
    put(shelf, 1, "something else")

    assert shelf.words.look_up(word).tolist() == []


def test_a_mistyped_word_finds_what_was_meant(shelf):
    put(shelf, 1, "run pytest first")

    rows, meant = ranking.look_up(shelf, ["run", "pytesst"])

    assert meant == {"pytesst": "pytest"}
    assert [part.tolist() for part in rows] == [[1], [1]]


def test_a_rare_word_outweighs_a_common_one(shelf):
    for n in range(1, 20):
        put(shelf, n, "the server runs")
    put(shelf, 20, "the marmot runs")

    assert recalled(shelf, "marmot server")[0] == "the marmot runs"


def test_filters_keep_passages_from_becoming_candidates(shelf):
    put(shelf, 1, "tea")
    put(shelf, 2, "tea")
    allowed = np.array([False, False, True])

    assert best_by_words([shelf.words.look_up("tea")], np.ones(1), allowed, 80).tolist() == [2]


def dialog(index, *turns, kind):
    for at_turn, (speaker, text) in enumerate(turns):
        if kind == "entry":
            put(index, at_turn + 1, text, record=1, kind=kind, speaker=speaker)
        else:
            put(index, at_turn + 1, text, kind=kind, conversation="c", created=NOW + at_turn, speaker=speaker)
    put(index, 90, "nothing to see", record=90)


TALK = (("Ann", "Hello there."), ("Ben", "Where did you go camping?"), ("Ann", "By the lake, with the kids."),
        ("Ben", "Nice."), ("Ann", "Yes."), ("Ben", "Bye."))


@pytest.mark.parametrize("kind", ["entry", "chunk"])
def test_the_answer_to_a_question_asked_in_its_words_comes_first(shelf, kind):
    dialog(shelf, *TALK, kind=kind)

    assert recalled(shelf, "Where did Ann go camping?", "ann", "ben")[0] == "By the lake, with the kids."


def test_the_speaker_asked_about_is_preferred(shelf):
    put(shelf, 1, "I love pottery", record=1, kind="entry", speaker="Ben")
    put(shelf, 2, "I love pottery", record=2, kind="entry", speaker="Ann Lee")

    question = ask("Does Ann love pottery?", "ann")
    rows = [shelf.words.look_up(word) for word in question.words]
    columns = gather(with_neighbours(shelf, np.array([1, 2])), np.array([1, 2]), question, rows, 2, lambda n: (np.zeros(len(n)), np.zeros((0, len(n))), np.zeros(len(n))))

    assert columns.by_named.tolist() == [0.0, 1.0]


def test_notes_have_no_neighbours(shelf):
    put(shelf, 1, "one", record=1)
    put(shelf, 2, "two", record=1)

    assert (with_neighbours(shelf, np.array([1, 2])).around == -1).all()


def test_to_say_when_is_worth_more_to_a_question_that_asks_when():
    def worth(*, asks_when):
        passage = Passage(*[None] * len(Passage._fields))._replace(text="It was on Monday.", title="", kind="note")
        signs = text_signs(passage, ask("when" if asks_when else "who").replace(words=()), np.zeros(0), np.zeros(0),
                           ("timely", "when"))
        return sum(sign * weights_of("static").of(name, 0) for name, sign in signs.items())

    assert worth(asks_when=True) > worth(asks_when=False) > 0


def test_words_that_follow_one_another_in_the_question_count_where_they_do_so_too():
    def share(text, words=("rate", "limits", "console")):
        return side_by_side(words, [1.0] * len(words), text)

    assert share("Rate limits are shown there") == pytest.approx(0.5)
    assert share("Rates, and what a limit is, in the console") == pytest.approx(0.0)
    assert share("rates and limits; the limit's (console)") == pytest.approx(1.0)
    assert share("limits of the rate") == share("") == share("rate limits", ("rate",)) == share("limits", ()) == 0.0


def test_an_empty_memory_and_an_unknown_word_have_no_candidates(shelf):
    assert recalled(shelf, "anything at all") == []


def test_the_parts_of_the_score_do_not_grow_with_the_memory():
    assert rarity([1], 10)[0] == pytest.approx(rarity([1], 100_000)[0])
    assert (rarity([0, 1, 50, 100], 100) >= 0).all()


def test_best_takes_only_positive_scores():
    assert best(np.array([0.0, 2.0, -1.0, 3.0, 1.0]), 2).tolist() == [1, 3]
    assert best(np.zeros(5), 2).tolist() == []
