"""Lines that say the same are told once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otolith.derive.chapters import LIKENESS, merge_alike
from otolith.model.words import likeness, stems


def test_the_same_in_other_words_forms_is_told_once_with_all_who_said_it():
    told = merge_alike([("Check the refresh tokens' expiry too", "a"), ("Pin it", "a"),
                        ("check refresh token expiry, too!", "b")])

    assert [(saying.text, saying.sources) for saying in told] == [
        ("Check the refresh tokens' expiry too", ("a", "b")), ("Pin it", ("a",))]


def test_what_is_said_by_most_comes_first_and_a_source_counts_once():
    told = merge_alike([("One thing", "a"), ("One thing", "a"), ("Another matter", "a"), ("Another matter", "b"), ("  ", "c")])

    assert [saying.sources for saying in told] == [("a", "b"), ("a",)]


def test_lines_in_other_scripts_are_compared_too():
    told = merge_alike([("深色模式更好", "a"), ("深色模式更好。", "b"), ("浅色模式", "c")])

    assert [saying.sources for saying in told] == [("a", "b"), ("c",)]


@given(st.lists(st.text(alphabet="abcde ", max_size=30), max_size=12))
def test_no_two_sayings_that_start_apart_are_alike(lines):
    firsts = [saying.text for saying in merge_alike((line, "s") for line in lines)]

    for at, one in enumerate(firsts):
        for other in firsts[at + 1 :]:
            assert likeness(stems(one), stems(other)) < LIKENESS
