"""Half a character (a lone surrogate) comes from Python strings only: every verb refuses it, nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from otolith.errors import Invalid
from otolith.memory import Memory

HALF = "tea \udc80"
CALLS: dict[str, Callable[[Memory], Any]] = {
    "a title": lambda mem: mem.note(HALF, "Green."),
    "a text": lambda mem: mem.note("Tea", HALF),
    "a tag": lambda mem: mem.note("Tea", "Green.", tags=[HALF]),
    "a key": lambda mem: mem.note("Tea", "Green.", key=HALF),
    "a memo's name": lambda mem: mem.memo(HALF, "Yes."),
    "what is remembered": lambda mem: mem.remember(HALF),
    "a conversation": lambda mem: mem.remember("Tea.", conversation_id=HALF),
    "a dialog": lambda mem: mem.log([{"role": "user", "content": HALF}]),
    "a topic": lambda mem: mem.log("Ann: Tea.", topic=HALF),
    "a work": lambda mem: mem.record(goal="Brew", task_type="other", success=True, summary=HALF),
    "a file of a work": lambda mem: mem.record(goal="Brew", task_type="other", success=True, summary="x", files=[HALF]),
    "an edit": lambda mem: mem.edit("Kettle", text=HALF),
    "a context": lambda mem: mem.link("Kettle", "cites", "Kettle", context=HALF),
    "an episode": lambda mem: mem.episode(HALF),
    "an episode's summary": lambda mem: mem.episode("Tea", summary=HALF),
    "an agent": lambda mem: mem.agent("ann", metadata={"of": HALF}),
    "a hud": lambda mem: mem.hud(past=HALF),
    "the end of a session": lambda mem: mem.end(HALF),
    "an id": lambda mem: mem.get(HALF),
    "an id to forget": lambda mem: mem.forget(HALF),
    "a question": lambda mem: mem.recall(HALF),
    "a filter": lambda mem: mem.recall("tea", topic=HALF),
    "a list": lambda mem: mem.list(tag=HALF),
    "a brief": lambda mem: mem.brief(HALF),
    "a file": lambda mem: mem.check_file(HALF),
    "an aim": lambda mem: mem.check_intent(HALF),
    "a query": lambda mem: mem.sql(f"SELECT '{HALF}'"),
    "a reason": lambda mem: mem.reason(HALF)}


@pytest.mark.parametrize("what", CALLS)
def test_half_a_character_is_refused_by_every_verb_and_nothing_is_written(mem: Memory, home: Path, what: str) -> None:
    mem.note("Kettle", "It boils.")
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}

    with pytest.raises(Invalid, match="half a character"):
        CALLS[what](mem)

    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before
