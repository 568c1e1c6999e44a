"""The LiveHud and the [MEMORY_CANDIDATES] block."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from otolith.derive.protocol import (
    MemoCandidate,
    parse_candidates,
    render_candidates,
    render_hud,
    render_notes,
)
from otolith.errors import Invalid


def gauges(text: str) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in text.splitlines())


def test_the_livehud_is_four_gauges():
    text = render_hud(
        "User prefers tabs over spaces",
        "Refactoring the parser module",
        "Release version one on Friday",
        "12 memos read",
    )

    assert text == (
        "🧠 Past: User prefers tabs over spaces\n"
        "👁️ Present: Refactoring the parser module\n"
        "🔮 Future: Release version one on Friday\n"
        "📂 Memory: 12 memos read\n"
    )


@pytest.mark.clause("protocol-11")
def test_without_access_the_memory_gauge_says_so():
    assert render_hud(memory=None).splitlines()[-1] == "📂 Memory: No tool access"


def test_the_present_gauge_follows_the_focus():
    assert gauges(render_hud(present="Writing the docs now"))["👁️ Present"] == "Writing the docs now"
    assert gauges(render_hud(present="Fixing the parser bug"))["👁️ Present"] == "Fixing the parser bug"


@given(st.text(alphabet=st.characters(max_codepoint=0x500), max_size=200))
@example("Postgres")
@example("word " * 40)
@settings(max_examples=200, deadline=None)
def test_past_present_and_future_have_three_to_nine_words_on_one_line_each(phrase):
    lines = render_hud(phrase, phrase, phrase, "x").rstrip("\n").split("\n")

    assert len(lines) == 4
    for line in lines[:3]:
        assert 3 <= len(line.split(": ", 1)[1].split()) <= 9


def test_a_long_phrase_is_cut_and_a_short_one_led_in():
    found = gauges(render_hud("One two three four five six seven eight nine ten", "Postgres", "用户喜欢深色模式" * 5))

    assert found["🧠 Past"] == "One two three four five six seven eight nine…"
    assert found["👁️ Present"] == "Working on Postgres"
    assert found["🔮 Future"] == ("用户喜欢深色模式" * 5)[:18] + "…"


TEA = MemoCandidate(name="user_likes_green_tea", category="past", tags=("drink", "tea"), content="User likes green tea.")


@pytest.mark.clause("protocol-19", "protocol-20")
def test_the_plain_block_looks_like_the_protocols():
    second = MemoCandidate(name="next_task_buy_tea", category="future", tags=(), content="Buy tea.\nSoon.")

    assert render_notes([TEA, second]) == (
        "System Notes\n\n"
        "[MEMORY_CANDIDATES]\n"
        "1. user_likes_green_tea.md — category: past — tags: [drink, tea]\n"
        "---\n"
        "User likes green tea.\n"
        "2. next_task_buy_tea.md — category: future — tags: []\n"
        "---\n"
        "Buy tea.\nSoon.\n"
    )


PIECES = st.sampled_from(
    [
        "---",
        "\n",
        "1. ",
        "2. a_b_c.md — category: past — tags: [x]",
        "\n[MEMORY_CANDIDATES]\n",
        "\\",
        "text",
        "\r",
        "1. user_likes_green_tea.md — category: past — tags: [a]\n---\n",
        " ",
    ]
)
CONTENTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=12).map("".join))
CANDIDATES = st.builds(
    MemoCandidate,
    name=st.sampled_from(["user_likes_green_tea", "next_task_buy_tea", "用户_喜欢_深色"]),
    category=st.sampled_from(["past", "present", "future"]),
    tags=st.lists(st.text(max_size=12), max_size=4).map(tuple),
    content=CONTENTS,
)


@pytest.mark.clause("protocol-21")
@given(st.lists(CANDIDATES, max_size=4))
@settings(max_examples=400, deadline=None)
def test_every_block_is_read_back_as_it_was(candidates):
    hud = render_hud("a b c", "d e f", "g h i")

    assert parse_candidates(hud + "\n" + render_notes(candidates)) == candidates


def test_a_block_typed_by_hand_is_read_too():
    text = "[MEMORY_CANDIDATES]  \r\n1. user_likes_green_tea.md - category: Past\r\n---\r\nTea.\r\n"

    assert parse_candidates(text)[0].name == "user_likes_green_tea"
    assert parse_candidates(text)[0].category == "past"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nothing here",
        "[MEMORY_CANDIDATES]\nsome text",
        "[MEMORY_CANDIDATES]\n1. stuff.md — category: past — tags: []\n---\nx",
    ],
)
def test_what_is_no_block_is_refused(text):
    with pytest.raises(Invalid):
        parse_candidates(text)


def test_no_candidates_make_an_empty_block():
    assert parse_candidates(render_candidates([])) == []
