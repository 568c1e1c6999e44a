"""Facts that rules find in dialog: what is stated, of whom, when; and what is not a fact."""

from __future__ import annotations

import dataclasses
import random
import re
import time

import pytest

from otolith.derive.english import ENGLISH
from otolith.derive.facts import extract, first_day
from otolith.model.dialog import TIME_SPANS, Fact, Turn
from otolith.model.kinds import FACT_TYPES
from otolith.model.statements import read_claims

MONDAY = "2026-03-16T09:00:00Z"


def said(*texts: str, speaker: str = "Ines", other: str = "Omar", ts: str | None = None) -> list[Fact]:
    """What Ines states while Omar listens."""
    turns = [Turn(number, speaker, "other", text, ts) for number, text in enumerate(texts)]
    return extract([*turns, Turn(len(texts), other, "other", "Okay.")], entry_ts=MONDAY)


def told_assistant(text: str) -> list[Fact]:
    return extract([Turn(0, "user", "user", text), Turn(1, "assistant", "assistant", "Done.")], entry_ts=MONDAY)


def only(facts: list[Fact]) -> Fact:
    assert len(facts) == 1, [fact.title for fact in facts]
    return facts[0]


@pytest.mark.clause("dialog-06", "dialog-07", "dialog-08", "dialog-37")
@pytest.mark.parametrize(("text", "stated", "kind"), [
    ("I'm a nurse.", ("Ines", "is", "a nurse"), "identity"),
    ("My name is Ines Duarte.", ("Ines", "is named", "Ines Duarte"), "identity"),
    ("I live in Porto.", ("Ines", "lives in", "Porto"), "identity"),
    ("I was born in 1990.", ("Ines", "was born in", "1990"), "identity"),
    ("I prefer tea over coffee.", ("Ines", "prefers", "tea over coffee"), "preference"),
    ("My favorite color is green.", ("Ines", "favorite color", "green"), "preference"),
    ("Sushi is my favorite food.", ("Ines", "favorite food", "Sushi"), "preference"),
    ("I play the cello.", ("Ines", "plays", "the cello"), "trait"),
    ("I can speak Polish.", ("Ines", "can speak", "Polish"), "trait"),
    ("I adopted two kittens.", ("Ines", "adopted", "two kittens"), "event"),
    ("I've been learning Finnish.", ("Ines", "has been learning", "Finnish"), "event"),
    ("I promise to send the slides.", ("Ines", "promises to send", "the slides"), "commitment"),
    ("I will paint the fence.", ("Ines", "will paint", "the fence"), "commitment"),
    ("I'm allergic to peanuts.", ("Ines", "is allergic to", "peanuts"), "constraint"),
    ("I never eat meat.", ("Ines", "never eats", "meat"), "constraint"),
])
def test_a_plain_statement_becomes_one_typed_fact(text, stated, kind):
    fact = only(said(text))

    assert (fact.subject, fact.relation, fact.object) == stated
    assert fact.type == kind


@pytest.mark.parametrize(("text", "stated"), [
    ("We moved to Ghent.", ("Ines", "moved to", "Ghent")),
    ("My cousin and I opened a bakery.", ("Ines", "opened", "a bakery")),
    ("My sister lives in Oslo.", ("Ines's sister", "lives in", "Oslo")),
    ("My wife's a teacher.", ("Ines's wife", "is", "a teacher")),
    ("Went to the harbour with my kids.", ("Ines", "went to", "the harbour with their kids")),
    ("Leonor adopted a greyhound.", ("Leonor", "adopted", "a greyhound")),
    ("I borrowed your bike.", ("Ines", "borrowed", "Omar's bike")),
    ("You promised to fix the roof.", ("Omar", "promised to fix", "the roof")),
    ("Gardening helps me relax after work.", ("Ines", "is helped to relax after work by", "Gardening")),
])
def test_persons_are_resolved_to_those_who_speak(text, stated):
    fact = only(said(text))

    assert (fact.subject, fact.relation, fact.object) == stated


@pytest.mark.parametrize(("text", "title"), [
    ("I live in St. Petersburg.", "Ines lives in St. Petersburg"),
    ("My dentist is Dr. Smith.", "Ines's dentist is Dr. Smith"),
    ("I like the U.S. a lot.", "Ines likes the U.S. a lot"),
    ("I live in Washington D.C. with Tom.", "Ines lives in Washington D.C."),
    ("I live in Washington D.C. now.", "Ines lives in Washington D.C."),
    ("I live in Washington D.C.", "Ines lives in Washington D.C."),
    ("My friend J. Smith works at Acme.", "Ines's friend J. Smith works at Acme"),
    ("Dr. Smith lives in Oslo.", "Dr. Smith lives in Oslo"),
    ("I visited St. Louis and Mt. Fuji.", "Ines visited St. Louis and Mt. Fuji"),
    ("I met Mr. Brown, Mrs. Green and Prof. White.", "Ines met Mr. Brown, Mrs. Green and Prof. White"),
    ("I study approx. five books.", "Ines studies approx. five books"),
])
def test_what_is_cut_short_stays_as_it_is_written(text, title):
    assert said(text)[0].title == title


def test_you_is_nobody_when_more_than_two_speak():
    turns = [Turn(0, "Ines", "other", "You promised to fix the roof. I borrowed your bike."),
             Turn(1, "Omar", "other", "Okay."), Turn(2, "Ada", "other", "Okay.")]

    assert extract(turns, entry_ts=MONDAY) == []


def test_a_pronoun_without_a_known_person_states_nothing():
    assert said("She lives in Rome.", "They adopted a dog.", "It runs on batteries.", "I bought it.") == []


@pytest.mark.parametrize("text", [
    "I am not from Berlin.", "I didn't sell the car.", "I never lived in Paris.", "I haven't moved to Ghent.",
    "I don't know the way.", "I'm not working today.",
])
def test_what_did_not_happen_is_not_a_fact(text):
    assert said(text) == []


@pytest.mark.parametrize(("text", "title"), [
    ("I don't like coffee.", "Ines does not like coffee"),
    ("I no longer work at the mill.", "Ines no longer works at the mill"),
    ("I don't eat meat any more.", "Ines no longer eats meat"),
    ("My brother isn't a pilot.", "Ines's brother is not a pilot"),
    ("We do not support Windows.", "Ines does not support Windows"),
])
def test_a_lasting_denial_is_a_fact_of_its_own(text, title):
    assert only(said(text)).title == title


@pytest.mark.parametrize("text", [
    "Maybe I will move to Paris.", "I might sell the boat.", "I think the cellar is damp.", "I guess I like jazz.",
    "Perhaps we could rent a van.", "My boss probably works on Sundays.", "I'm not sure I like Porto.",
])
def test_a_hedge_is_not_a_fact(text):
    assert said(text) == []


@pytest.mark.parametrize("text", [
    "Do I live in Porto?", "What if I moved to Rome?", "I live in Porto, right?", "Have you adopted a dog?",
])
def test_a_question_is_not_a_fact(text):
    assert said(text) == []


def test_a_statement_before_a_question_is_one():
    assert only(said("I live in Porto, where do you live?")).object == "Porto"


@pytest.mark.parametrize("text", [
    'She said, "I live in Rome."', "He told me “I work at the mill.”", "> I live in Rome.",
    "My boss said we must ship by Friday.", "```\nI live in Rome.\n```",
])
def test_somebody_elses_words_are_not_the_speakers(text):
    assert said(text) == []


def test_a_title_in_quotation_marks_stays():
    assert only(said('I watched "The Third Man" on the ferry.')).object == "The Third Man on the ferry"


@pytest.mark.parametrize("text", [
    "If I win, I will buy a boat.", "I would buy a boat.", "I wish I lived in Rome.", "Imagine I had a horse.",
    "I own a castle, just kidding!",
])
def test_hypothetical_speech_is_not_a_fact(text):
    assert said(text) == []


@pytest.mark.parametrize("text", [
    "My favourite food was pizza when I was a child.", "My name was Ada Byron before I married.",
    "Once I live in Rome I will buy a car.", "In the story, I live in Rome.", "In the play, I am a king.",
    "According to Tom, I live in Minsk.", "I live in Minsk, according to Tom.", "The sign said: I live in Rome.",
])
def test_what_was_will_be_or_is_so_elsewhere_is_not_so_now(text):
    assert said(text) == []


@pytest.mark.parametrize(("text", "title"), [
    ("My favorite food has always been pizza.", "Ines favorite food pizza"), ("Good news: I live in Rome.", "Ines lives in Rome"),
    ("As I said: I live in Rome.", "Ines lives in Rome"), ("I once lived in Rome.", "Ines lived in Rome"),
    ("In the game, I scored two goals.", "Ines scored two goals"),
])
def test_what_only_looks_like_it_is_a_fact(text, title):
    assert only(said(text)).title == title


@pytest.mark.parametrize(("text", "titles"), [
    ("I must never eat peanuts.", ["Ines must not eat peanuts"]),
    ("I must not drive at night.", ["Ines must not drive at night"]),
    ("I don't like long meetings.", ["Ines does not like long meetings"]),
    ("I am shy.", ["Ines is shy"]),
    ("I work at Acme and I live in Lisbon.", ["Ines works at Acme", "Ines lives in Lisbon"]),
    ("I only drink tea.", ["Ines drinks only tea"]),
    ("I like apples, pears and plums.", ["Ines likes apples, pears and plums"]),
    ("My favourite things are long walks and old books.", ["Ines favorite things long walks and old books"]),
])
def test_a_duty_a_nature_a_limit_and_a_list_are_facts_as_they_were_said(text, titles):
    assert [fact.title for fact in said(text)] == titles


@pytest.mark.parametrize("text", [
    "I went to an event.", "I love this!", "I went to a place.", "Saturday works for me.", "I appreciate your support.",
    "I can't wait for the pics!", "I'll stay positive."])
def test_what_has_no_object_worth_keeping_is_not_a_fact(text):
    assert said(text) == []


@pytest.mark.parametrize("text", [
    "I miei amici sono andati al mare.", "I gatti sono belli.", "I ragazzi vanno a scuola.", "Ich wohne in Berlin.",
    "I genitori di Marco hanno una casa in Toscana."])
def test_what_is_said_in_a_language_without_rules_is_left_alone(text):
    assert said(text) == []


@pytest.mark.parametrize("text", [
    "I'm so glad you called!", "I'll let you know.", "I'm sorry to hear that.", "I hope you feel better.", "Thanks a lot!",
])
def test_a_courtesy_is_not_a_fact(text):
    assert said(text) == []


@pytest.mark.clause("dialog-09")
@pytest.mark.parametrize(("text", "date", "span"), [
    ("I sold the car yesterday.", "2026-03-15", "short_term"),
    ("I sold the car two days ago.", "2026-03-14", "short_term"),
    ("Last week I sold the car.", "2026-03-09/2026-03-15", "short_term"),
    ("Last Friday, I sold the car.", "2026-03-13", "short_term"),
    ("I sold the car last month.", "2026-02", "medium_term"),
    ("I sold the car in 2022.", "2022", "long_term"),
    ("I sold the car on 5 May 2024.", "2024-05-05", "long_term"),
    ("I sold the car a few weeks ago.", None, "medium_term"),
    ("I sold the car.", None, "medium_term"),
    ("I'm moving to Madrid next month.", "2026-04", "future"),
    ("I will sell the car tomorrow.", "2026-03-17", "future"),
    ("I'm repairing the roof.", None, "current"),
    ("I live in Porto.", None, "long_term"),
])
def test_time_words_give_a_date_and_a_span(text, date, span):
    fact = only(said(text))

    assert (fact.date, fact.time_span) == (date, span)


def test_time_words_are_read_against_the_turns_own_moment():
    assert only(said("I sold the car yesterday.", ts="2024-03-01T08:00:00Z")).date == "2024-02-29"


def test_a_time_that_belongs_to_the_object_does_not_date_the_deed():
    fact = only(said("I signed up for a course next month."))

    assert (fact.object, fact.date, fact.type) == ("a course next month", None, "event")


def test_a_stamp_that_is_no_time_leaves_the_fact_undated():
    turns = [Turn(0, "Ines", "other", "I sold the car yesterday.", "noon-ish")]

    assert only(extract(turns, entry_ts="")).date is None


def test_every_date_has_a_first_day():
    assert [first_day(date) for date in ("2022", "2022-05", "2022-05-07", "2022-05-02/2022-05-08")] == [
        "2022-01-01", "2022-05-01", "2022-05-07", "2022-05-02"]


@pytest.mark.parametrize(("text", "stated", "kind"), [
    ("The server runs Debian 12.", ("The server", "runs", "Debian 12"), "trait"),
    ("We decided to use Postgres instead of MySQL.", ("user", "decided to use", "Postgres instead of MySQL"), "commitment"),
    ("Deploys must not run on Fridays.", ("Deploys", "must not run on", "Fridays"), "constraint"),
    ("User prefers tabs over spaces.", ("User", "prefers", "tabs over spaces"), "preference"),
    ("Always run the tests before committing.", ("user", "asks to always", "run the tests before committing"), "constraint"),
    ("Please never push to main.", ("user", "asks to never", "push to main"), "constraint"),
    ("We can't use GPL libraries.", ("user", "cannot use", "GPL libraries"), "constraint"),
    ("Commits must be signed.", ("Commits", "must be", "signed"), "constraint"),
    ("Users are not allowed to delete invoices.", ("Users", "are not allowed to", "delete invoices"), "constraint"),
    ("The config lives in config/app.toml.", ("The config", "lives in", "config/app.toml"), "trait"),
    ("Our CI runs on GitHub Actions.", ("user's CI", "runs on", "GitHub Actions"), "trait"),
    ("The service listens on port 8080.", ("The service", "listens on", "port 8080"), "trait"),
    ("The `parse_time` function returns seconds.", ("The `parse_time` function", "returns", "seconds"), "trait"),
    ("My preferred editor is Neovim.", ("user", "favorite editor", "Neovim"), "preference"),
    ("The deadline is next Friday.", ("The deadline", "is", "next Friday"), "trait"),
    ("- [ ] We must support Python 3.11.", ("user", "must support", "Python 3.11"), "constraint"),
])
def test_talk_about_a_project_gives_its_decisions_and_rules(text, stated, kind):
    fact = only(told_assistant(text))

    assert (fact.subject, fact.relation, fact.object) == stated
    assert fact.type == kind


@pytest.mark.parametrize("text", [
    "Could you add a test?", "Let's use Redis.", "Run the tests.", "The build must be broken, I think.",
])
def test_asking_an_assistant_for_something_states_nothing(text):
    assert told_assistant(text) == []


def test_two_verbs_of_one_subject_are_two_facts():
    assert [fact.title for fact in said("Yesterday I went to the market and bought figs.")] == [
        "Ines went to the market", "Ines bought figs"]


def test_an_employer_and_a_role_are_two_facts():
    assert [(fact.relation, fact.object) for fact in said("I work at Acme as a plumber.")] == [
        ("works at", "Acme"), ("works as", "a plumber")]


def test_relations_that_have_one_value_at_a_time_are_one_table():
    facts = [fact for text in ("I live in Porto.", "My favorite tea is oolong.", "I adopted a dog.") for fact in said(text)]

    assert [any(claim.single and claim.holds for claim in read_claims(fact.subject, fact.relation, fact.object))
            for fact in facts] == [True, True, False]


@pytest.mark.clause("dialog-12")
def test_every_fact_cites_its_turn_its_sentence_and_its_entry():
    facts = said("Hello there.", "Lovely day. I live in Porto. See you!")

    fact = only(facts)
    assert (fact.turn, fact.sentence, fact.speaker, fact.entry_ts) == (1, "I live in Porto", "Ines", MONDAY)


def test_tools_and_system_prompts_state_nothing():
    turns = [Turn(0, "grep", "tool", "I live in Porto."), Turn(1, "system", "system", "The server runs Debian 12."),
             Turn(2, "assistant", "assistant", "I fixed the login bug.")]

    fact = only(extract(turns, entry_ts=MONDAY))

    assert (fact.object, fact.trust) == ("the login bug", "agent")


@pytest.mark.clause("dialog-10")
def test_confidence_is_earned():
    plain, leaning, implied, wish = (only(said(text)).confidence for text in (
        "I live in Porto.", "I love watching them play in the garden.", "Went to the harbour.", "I'd love to visit Japan."))

    assert plain >= 0.8
    assert all(0 < weaker < plain for weaker in (leaning, implied, wish))


def test_the_same_turns_give_the_same_facts_once():
    twice = said("I live in Porto.", "As I said, I live in Porto!")

    assert [fact.turn for fact in twice] == [0]
    assert twice == said("I live in Porto.", "As I said, I live in Porto!")


def test_another_language_is_a_table():
    """Dutch, in a handful of words: the rules are the same."""
    forms = {"woon": (("wonen", "base"),), "werk": (("werken", "base"),), "kocht": (("kopen", "past"),),
             "hou": (("houden", "base"),)}
    dutch = dataclasses.replace(
        ENGLISH, code="nl", first=frozenset({"ik", "wij"}), group=frozenset({"wij"}), second=frozenset({"jij"}),
        forms=forms, thirds={"woon": "woont", "werk": "werkt", "hou": "houdt"}, contractions={}, endings={},
        prepositions=frozenset({"in", "bij", "van"}), negations=frozenset({"niet", "geen"}),
        hedges=frozenset({"misschien"}), determiners=frozenset({"een", "de"}), articles=frozenset({"een", "de"}),
        stop_words=frozenset({"ik", "een", "de"}), kinds={"hou": "preference"}, own={"mijn": "hun"},
        possessive_first=frozenset({"mijn"}), list_words=frozenset({"en", "of"}),
        relation_kinds=((re.compile(r"woont in|werkt bij"), "identity", "long_term"),))
    turns = [Turn(0, "Saar", "other", "Ik woon in Utrecht. Misschien werk ik bij Acme. Ik hou van thee. Ik kocht een fiets.")]

    found = extract(turns, entry_ts=MONDAY, language=dutch)

    assert [(fact.title, fact.type) for fact in found] == [
        ("Saar woont in Utrecht", "identity"), ("Saar houdt van thee", "preference"), ("Saar kocht een fiets", "event")]


@pytest.mark.parametrize("noise", [
    "a" * 50, "I " * 50, "and " * 50, '"' * 50, "'", "¶", "``` ", "( [ {", "\x00\u202e", "我住在北京。", "I'm ", "my my my ",
    ", , ,", "?!" * 20, "- " * 30, "I live in " + "very " * 400 + "far", "https://example.org/" + "x" * 200,
])
def test_any_text_is_read_without_a_crash(noise):
    for fact in said(noise, noise * 20, f"{noise}\n{noise}"):
        assert fact.type in FACT_TYPES
        assert fact.time_span in TIME_SPANS


def test_words_in_any_order_are_read_without_a_crash():
    chance = random.Random(7)
    words = sorted(ENGLISH.stop_words | ENGLISH.forms.keys() | ENGLISH.unclear | {
        ",", ".", "?", "Porto", "5", "'s", "(", "last week"})

    for _ in range(3000):
        said(" ".join(chance.choices(words, k=chance.randint(1, 12))))


@pytest.mark.parametrize("piece", [
    "I went to the market yesterday and bought figs. ", "I and ", "word ", '"I said ', "'a ", "in in in ", "a,", "``` ",
    "last last ", "I will go, and then I will go, but ", "1234567890 ", "x", "](", ". ", "\t",
])
def test_time_grows_with_length_and_nothing_else(piece):
    """Sixteen times the text may take four times sixteen times as long on a busy machine; a square would take 256."""

    def seconds(size: int) -> float:
        turns = [Turn(0, "Ines", "other", piece * (size // len(piece)))]
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            extract(turns, entry_ts=MONDAY)
            best = min(best, time.process_time() - start)
        return best

    assert seconds(160_000) < 64 * max(seconds(10_000), 0.0005)
