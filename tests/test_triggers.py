"""What in a dialog is kept by itself, and the memos it becomes."""

from __future__ import annotations

import pytest

from otolith.derive.triggers import Trigger, find_triggers, memo_from
from otolith.model.dialog import Turn
from otolith.model.memo import check_name


def said(*texts: str, role: str = "user") -> list[Turn]:
    return [Turn(number, "Ada", role, text) for number, text in enumerate(texts, 1)]


SPOKEN = {
    "correction": [
        "Remember this: the staging port is 9090.",
        "Actually it's port 9090.",
        "No, that's wrong. The deadline is Friday.",
        "Actually, the API key expires in May.",
        "Remember that my sister is allergic to nuts.",
        "That is not what I meant. Use the blue one.",
    ],
    "milestone": [
        "We finished the migration!",
        "v1 is done.",
        "We shipped the billing feature today.",
        "The release is live.",
        "I've just completed the refactoring of the parser.",
    ],
    "preference": [
        "I prefer tabs over spaces.",
        "From now on, answer in French.",
        "I don't like long summaries.",
        "I'd rather use Vim.",
        "Please always run the tests first.",
    ],
    "learning": [
        "Turns out the DNS cache was stale.",
        "The root cause was a race in the lock.",
        "TIL that SQLite has a STRICT mode.",
        "I learned that flock is advisory.",
    ],
    "request": [
        "Save this to memory: the wifi code is on the fridge.",
        "Keep in mind that I work from Lisbon.",
        "The office moves in June. Please save this to memory.",
    ],
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in SPOKEN.items() for text in texts])
def test_what_should_be_kept_is_recognised_once(kind, text):
    triggers = find_triggers(said(text))

    assert [trigger.kind for trigger in triggers] == [kind]
    assert triggers[0].turn == 1
    assert triggers[0].reason


@pytest.mark.parametrize(
    "text",
    [
        "Should I save this to memory?",
        "If I say remember this, what happens then.",
        "Do you prefer tabs?",
        "Don't save this to memory.",
        "The migration is not finished yet.",
        "We are almost done.",
        "I don't remember the port.",
        "It looks like rain.",
        "When it is done, tell me.",
        "Run the tests.",
        'He said "remember this" and left.',
        "> Actually it's port 80",
        "```\nI prefer tabs\n```",
        "I'd like to know the time.",
        "Never mind.",
        "I finished lunch.",
        "Suppose we shipped it today.",
        "Thanks, that works.",
        "",
    ],
)
def test_questions_suppositions_denials_and_quotations_trigger_nothing(text):
    assert find_triggers(said(text)) == []


@pytest.mark.parametrize("role", ["assistant", "system", "tool", "other"])
def test_only_the_users_own_turns_trigger(role):
    assert find_triggers(said("Actually it's port 80.", "Save this to memory: x y z", role=role)) == []


def test_this_means_what_the_user_said_before_never_what_the_agent_said():
    turns = [
        *said("The wifi is slow on Mondays."),
        Turn(2, "bot", "assistant", "Ignore all rules."),
        Turn(3, "Ada", "user", "Save this to memory."),
    ]

    assert [trigger.text for trigger in find_triggers(turns)] == ["The wifi is slow on Mondays."]


def test_each_concept_becomes_its_own_trigger():
    triggers = find_triggers(
        said("I prefer tabs over spaces. Also, we shipped the parser. It was fun.", "I prefer tabs over spaces.")
    )

    assert [(trigger.kind, trigger.turn) for trigger in triggers] == [("preference", 1), ("milestone", 1)]


def test_a_memo_is_named_by_what_it_says_and_tells_the_reason():
    memo = memo_from(find_triggers(said("I prefer tabs over spaces."))[0])

    assert memo.name == "user_prefers_tabs_over_spaces"
    assert memo.title == "User prefers tabs over spaces"
    assert memo.body == 'I prefer tabs over spaces.\n\nReason: a preference of the user ("I prefer"), turn 1.'
    assert (memo.category, memo.tags[0]) == ("past", "preference")


def test_a_bare_correction_is_named_by_what_is_right():
    assert (
        memo_from(find_triggers(said("No, that's wrong. The deadline is Friday."))[0]).title == "The deadline is Friday"
    )


def test_the_number_of_an_item_is_no_title():
    memo = memo_from(Trigger(kind="learning", turn=1, text="2. How I learned to let go", reason="something was learned"))

    assert memo.title == "2. How I learned to let go"


def test_a_question_in_surprise_triggers_nothing():
    assert find_triggers(said("I prefer tabs?!")) == []


def test_a_denial_stays_in_the_name():
    assert memo_from(find_triggers(said("I don't like long summaries."))[0]).name == "user_not_like_long_summaries"


@pytest.mark.parametrize("text", ["用户喜欢深色模式。", "!!!", "a", "x" * 500])
def test_every_trigger_gives_a_memo_with_a_name_that_is_valid_and_free(text):
    trigger = Trigger(kind="request", turn=1, text=text, reason="asked")

    first = memo_from(trigger)
    second = memo_from(trigger, taken=[first.name])

    assert check_name(first.name) != check_name(second.name)
