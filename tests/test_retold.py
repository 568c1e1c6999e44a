"""What was told anew stands first, also where no rule closes the older; and news that no rule takes apart."""

from __future__ import annotations

from typing import Any

import pytest


def said(mem: Any, day: str, *turns: str, speaker: str = "user") -> None:
    when = f"2026-{day}T10:00:00Z"
    mem.log([{"role": speaker, "content": turn, "timestamp": when} for turn in turns], created=when)


def first(mem: Any, question: str) -> str:
    return str(mem.recall(question).hits[0].text)


@pytest.mark.parametrize(
    ("earlier", "later", "question", "expected"),
    [
        ("The GDPR export is on my plate.", "handed the gdpr export over to Lotte today", "Who does the GDPR export?", "Lotte"),
        ("Le projet utilise Poetry.", "On n'utilise plus Poetry, on est passés à uv.", "Que utilise le projet ?", "uv"),
        ("I edit everything in Sublime Text.", "a month in with Zed and I don't miss Sublime", "Which editor do I use?", "Zed"),
    ],
)
def test_what_was_told_anew_stands_first(mem, earlier, later, question, expected):
    said(mem, "01-05", earlier)
    said(mem, "03-05", later)

    assert expected in first(mem, question)


@pytest.mark.parametrize(
    ("earlier", "later", "question", "expected"),
    [
        ("payments client: timeout 8 seconds", "the geocoder client now needs a timeout of 2 seconds",
         "What is the timeout of the payments client?", "8"),
        ("ledger is on Java 17", "are we on Java 21 in the ledger now?", "Which Java is the ledger on?", "17"),
        ("feature flags: we run Unleash", "my colleague's team dropped Unleash and uses flags of their own now",
         "What do we run for feature flags?", "we run Unleash"),
    ],
    ids=["another", "asked", "others"],
)
def test_what_only_sounds_like_news_does_not(mem, earlier, later, question, expected):
    said(mem, "01-05", earlier)
    said(mem, "03-05", later)

    assert expected in first(mem, question)


def test_a_question_about_the_past_finds_what_was_said_then(mem):
    said(mem, "01-05", "The booking api sits on a hetzner box.")
    said(mem, "03-05", "The booking api sits on fly.io now.")

    hits = mem.recall("Where was the booking api before March 2026?").hits

    assert "hetzner" in "\n".join(str(hit.text) for hit in hits)


def test_news_gives_a_thing_another_value_though_no_rule_takes_it_apart(mem):
    said(mem, "01-05", "the booking api sits on a single hetzner box")
    said(mem, "03-05", "it only flaps since the migration of the booking api to fly.io two weeks ago")

    facts = {fact.title: fact.superseded_by for fact in mem.facts()}

    assert next(over for title, over in facts.items() if "hetzner" in title)
    assert [over for title, over in facts.items() if "fly.io" in title] == [None]


def test_an_assistants_promise_is_no_fact(mem):
    said(mem, "01-05", "I'll run pip-compile after edits.", speaker="assistant")

    assert mem.facts() == []


def test_something_that_was_said_often_is_closed_each_time(mem):
    for month in ("01", "02", "03"):
        said(mem, f"{month}-05", "I live in Lisbon.")
    said(mem, "04-05", "I moved to Porto.")

    hits = [str(hit.text) for hit in mem.recall("Where do I live?").hits]

    assert "Porto" in hits[0]
    assert [fact.superseded_by is None for fact in mem.facts() if "Lisbon" in fact.title] == [False]
