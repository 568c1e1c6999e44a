"""How memos may be called."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otolith.errors import Invalid
from otolith.model.memo import check_name, make_free, master_name, name_from


@pytest.mark.clause("protocol-22", "protocol-23", "protocol-24")
@pytest.mark.parametrize(
    "name",
    [
        "user_prefers_structured_output.md",
        "project_rlm_mem_architecture_complete.md",
        "livehud_gauge_format_finalized.md",
        "next_task_expand_slider_system.md",
    ],
)
def test_the_good_examples_are_taken(name):
    assert check_name(name) == name.removesuffix(".md")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("memory1.md", "not descriptive", marks=pytest.mark.clause("protocol-25")),
        pytest.param("stuff.md", "too vague", marks=pytest.mark.clause("protocol-26")),
        pytest.param(
            "very_long_filename_with_way_too_many_words_here.md", "too long", marks=pytest.mark.clause("protocol-27")
        ),
        pytest.param("a_b_c_d_e_f_g_h_i_j_k", "too long", marks=pytest.mark.clause("protocol-23")),
        pytest.param("two_words", "too short", marks=pytest.mark.clause("protocol-23")),
        pytest.param("User_Likes_Tea", "lowercase", marks=pytest.mark.clause("protocol-22")),
        pytest.param("user likes tea", "underscores", marks=pytest.mark.clause("protocol-22")),
        ("memory_1_2", "not descriptive"),
        ("my_new_stuff", "too vague"),
        ("../etc/passwd_file_here", "underscores"),
        ("user__likes_tea", "underscores"),
        ("_user_likes_tea", "underscores"),
        ("", "underscores"),
        ("a.b_c_d", "underscores"),
    ],
)
def test_a_name_against_the_rule_is_refused_with_the_reason(name, reason):
    with pytest.raises(Invalid, match=reason):
        check_name(name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The root cause was a stale DNS cache.", "root_cause_stale_dns_cache"),
        ("user prefers tabs over spaces", "user_prefers_tabs_over_spaces"),
        ("Port 9090", "port_9090_notes"),
        ("用户喜欢深色模式", "用户_喜欢_深色_模式"),
        ("Пользователь любит чай", "пользователь_любит_чай"),
    ],
)
def test_a_sentence_gives_a_descriptive_name(text, name):
    assert name_from(text) == name


@given(st.text(max_size=200), st.integers(0, 3))
@settings(max_examples=300, deadline=None)
def test_every_text_gives_a_name_that_keeps_the_rule_and_is_free(text, times):
    taken: list[str] = []
    for _ in range(times + 1):
        name = name_from(text, taken)
        assert check_name(name) == name
        assert name not in taken
        taken.append(name)


@given(st.text(max_size=80))
@settings(max_examples=200, deadline=None)
def test_every_topic_gives_a_master_name_that_keeps_the_rule(topic):
    name = master_name(topic)
    assert check_name(name) == name


@pytest.mark.clause("protocol-37")
def test_the_master_is_named_after_the_topic():
    assert master_name("user_preferences") == "user_preferences_master"
    assert master_name("python") == "python_notes_master"


def test_a_full_name_makes_room_for_its_number():
    name = "a" * 15 + "_" + "b" * 14 + "_" + "c" * 14
    assert check_name(make_free(name, [name])) != name
