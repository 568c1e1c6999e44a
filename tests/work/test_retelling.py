"""What of a model's answer is believed."""

from __future__ import annotations

import json

import pytest

from otolith.derive.asking import WINDOW, chapter_text, retell_chapter, retell_wisdom, wisdom_text
from otolith.derive.chapters import describe
from otolith.derive.wisdom import build_wisdom
from otolith.errors import Invalid


@pytest.fixture
def chapters(make):
    return [describe([make(n, learnings=[f"Learned {n}"])], chapter_id=f"chapter_{n}", project="p", origin="auto") for n in (1, 2)]


def test_a_model_may_reword_a_chapter_but_not_what_it_is_made_of(chapters):
    given = {"title": "T", "summary": "S", "learnings": ["L"], "id": "chapter_evil", "memories": []}
    answer = f"```json\n{json.dumps(given)}\n```"

    told = retell_chapter(chapters[0], answer, "ollama/small")

    assert (told.title, told.summary, told.learnings) == ("T", "S", ("L",))
    assert (told.id, told.memories, told.fingerprint) == (chapters[0].id, chapters[0].memories, chapters[0].fingerprint)
    assert told.extra["made_by"] == "ollama/small"


def test_a_line_of_wisdom_that_cites_nothing_it_was_given_is_dropped(chapters):
    wisdom = build_wisdom(chapters)
    insights = ["Good [chapter_1]", "Bare", "Invented [chapter_9]"]
    answer = json.dumps({"summary": "S", "insights": insights, "patterns": ["Bare"]})

    told = retell_wisdom(wisdom, answer, "m")

    assert told.insights == ("Good [chapter_1]",)
    assert told.patterns == wisdom.patterns
    assert (told.summary, told.made_by) == ("S", "m")


@pytest.mark.parametrize("answer", ["", "sorry", "[]", "{", '{"title": "x"}', '{"title": "x", "summary": " "}',
                                    '{"title": "x", "summary": 3}', json.dumps({"title": "x", "summary": "s" * 3000})])
def test_an_answer_that_is_not_what_was_asked_for_is_refused(chapters, answer):
    with pytest.raises(Invalid):
        retell_chapter(chapters[0], answer, "m")


def test_the_question_is_bounded_and_keeps_the_latest(make, chapters):
    works = [make(n, goal=f"Goal {n} " + "x" * 500) for n in range(100)]

    asked = chapter_text(works)

    assert len(asked) < WINDOW + 1000
    assert "Goal 99 " in asked
    assert "Goal 0 " not in asked
    assert "chapter_2" in wisdom_text(chapters)
