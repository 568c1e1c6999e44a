"""Values: equal ones hash alike, whatever their numbers and lists are made of."""

from __future__ import annotations

from otolith.model.note import Relation
from otolith.model.recall import Filter, Hit
from otolith.model.work import Agent


def test_equal_relations_hash_alike() -> None:
    whole, broken = (Relation(target="a", type="SOLVES", direction="outgoing", strength=strength)
                     for strength in (1, 1.0))

    assert whole == broken
    assert len({whole, broken}) == 1


def test_equal_values_with_unknown_keys_hash_alike_in_any_order() -> None:
    first = Agent.from_dict({"id": "kim", "created_at": 1, "b": [1, {"c": 2}], "a": 1})
    second = Agent.from_dict({"a": 1.0, "b": [1.0, {"c": 2}], "created_at": 1.0, "id": "kim"})

    assert first == second
    assert hash(first) == hash(second)


def test_values_that_differ_are_told_apart() -> None:
    assert len({Filter(topic="a"), Filter(topic="b"), Filter()}) == 3


def test_a_value_that_holds_something_unhashable_can_be_hashed() -> None:
    hit = Hit(id="a", kind="note", type="fix", title="", text="", created=0.0, path="", tags=["x"], record={1, 2})

    assert hash(hit) == hash(hit.replace(tags=["x"]))
