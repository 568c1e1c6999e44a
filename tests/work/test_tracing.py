"""Following links as a tree, and edits that merge."""

from __future__ import annotations

import pytest

from strata.derive.trace import Hop, causal_hop, draw, finds_itself, walk
from strata.errors import Invalid
from strata.model.merge import merge


def over(graph):
    return lambda at: [Hop("led_to", there) for there in graph.get(at, ())]


def shape(step):
    return {step.id: [shape(below) for below in step.steps]} if step.steps else step.id


def test_a_chain_is_followed_as_far_as_asked():
    graph = {"a": "b", "b": "c", "c": "d"}

    assert shape(walk("a", over(graph), 2)) == {"a": [{"b": ["c"]}]}
    assert shape(walk("a", over(graph), 9)) == {"a": [{"b": [{"c": ["d"]}]}]}
    assert shape(walk("a", over(graph), 0)) == "a"


def test_a_circle_ends_where_it_meets_itself():
    root = walk("a", over({"a": "b", "b": "a"}), 50)

    assert [(step.id, step.again) for step in root.all()] == [("a", False), ("b", False), ("a", True)]


def test_a_record_reached_twice_is_opened_once_where_it_is_nearest():
    root = walk("a", over({"a": ["b", "d"], "b": ["d"], "d": ["e"]}), 9)

    assert shape(root) == {"a": [{"b": ["d"]}, {"d": ["e"]}]}


def test_the_tree_is_drawn_with_branches():
    root = walk("a", over({"a": ["b", "c"], "b": ["d"]}), 9)

    assert list(draw(root, lambda step: step.id)) == ["a", "├─ b", "│  └─ d", "└─ c"]


def test_the_tree_as_data_has_word_depth_and_label():
    root = walk("a", over({"a": "b", "b": "a"}), 9)

    data = root.to_dict(lambda at: {"title": at.upper()})

    assert data["title"] == "A"
    assert data["steps"][0]["link"] == "led_to"
    assert data["steps"][0]["steps"][0] == {"id": "a", "link": "led_to", "depth": 2, "title": "A", "again": True, "steps": []}


@pytest.mark.parametrize(("word", "outgoing", "leads_to"), [
    ("caused_by", True, "causes"), ("caused_by", False, "effects"), ("led_to", True, "effects"), ("led_to", False, "causes"),
    ("CAUSES", True, "effects"), ("CAUSES", False, "causes"), ("blocked_by", True, "causes"), ("blocked_by", False, "effects"),
    ("related_to", True, None), ("supersedes", True, None), ("unheard of", True, None),
])
def test_every_causal_word_reads_from_both_ends(word, outgoing, leads_to):
    assert causal_hop(word, outgoing=outgoing) == leads_to


def test_a_way_back_to_oneself_is_found_and_told():
    graph = {"a": ["x", "b"], "b": ["c"], "c": ["a"]}

    assert finds_itself("a", lambda at: graph.get(at, ())) == ["a", "b", "c", "a"]
    assert finds_itself("x", lambda at: graph.get(at, ())) is None
    assert finds_itself("a", lambda _: ["a"]) == ["a", "a"]


def test_a_negative_depth_is_refused():
    with pytest.raises(Invalid):
        walk("a", over({}), -1)


def test_an_edit_merges_objects_replaces_lists_and_takes_away_what_is_null():
    old = {"a": {"b": 1, "c": [1, 2]}, "d": "x"}

    assert merge(old, {"a": {"c": [3]}, "d": None, "e": {"f": 1}}) == {"a": {"b": 1, "c": [3]}, "e": {"f": 1}}
    assert old == {"a": {"b": 1, "c": [1, 2]}, "d": "x"}
