"""What no file can hold as text is refused wherever it comes in, and nothing of it is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from otolith.errors import Invalid
from otolith.memory import Memory

BAD = ("a\0b", "a\ud800b")
CALLS: dict[str, Callable[[Memory, str], Any]] = {
    "a note's title": lambda mem, bad: mem.note(bad, "text"),
    "a note's text": lambda mem, bad: mem.note("Tea", bad),
    "a note's tag": lambda mem, bad: mem.note("Tea", "text", tags=[bad]),
    "a memo's text": lambda mem, bad: mem.memo("tea_is_best_green", bad),
    "a memo's title": lambda mem, bad: mem.memo("tea_is_best_green", "text", title=bad),
    "what is remembered": lambda mem, bad: mem.remember(bad),
    "the end of a long text": lambda mem, bad: mem.remember("Green tea is steeped for three minutes. " * 200 + bad),
    "a chunk's tag": lambda mem, bad: mem.remember("text", tags=[bad]),
    "a dialog": lambda mem, bad: mem.log(f"Ann: {bad}", topic="tea"),
    "a dialog's title": lambda mem, bad: mem.log("Ann: Hello there.", topic="tea", title=bad),
    "a dialog's tag": lambda mem, bad: mem.log("Ann: Hello there.", topic="tea", tags=[bad]),
    "a work's goal": lambda mem, bad: mem.record(goal=bad, task_type="other", success=True, summary="done"),
    "an action's details": lambda mem, bad: mem.record(goal="Brew", task_type="other", success=True, summary="done", actions=[
        {"type": "command", "details": {"command": bad}}]),
    "an episode's title": lambda mem, bad: mem.episode(bad),
    "an episode's summary": lambda mem, bad: mem.episode("Tea", summary=bad),
    "an episode's tag": lambda mem, bad: mem.episode("Tea", tags=[bad]),
}


@pytest.mark.parametrize("bad", BAD, ids=["nul", "half a sign"])
@pytest.mark.parametrize("what", CALLS)
def test_half_a_sign_or_a_nul_is_refused(mem: Memory, home: Path, what: str, bad: str) -> None:
    with pytest.raises(Invalid):
        CALLS[what](mem, bad)

    kept = [path for folder in ("graph", "allmemories", "chunks", "topics", "work", "episodes") if (home / folder).exists()
            for path in (home / folder).rglob("*") if path.is_file()]
    assert kept == []


@pytest.mark.parametrize("bad", BAD, ids=["nul", "half a sign"])
def test_an_edit_and_a_link_refuse_it_too(mem: Memory, snapshot: Callable[[], dict[str, bytes]], bad: str) -> None:
    note, work = mem.note("Tea", "Green."), mem.record(goal="Brew", task_type="other", success=True, summary="done")
    before = snapshot()

    for call in (lambda: mem.edit(note.id, title=bad), lambda: mem.edit(work.id, intent={"goal": bad}),
                 lambda: mem.link(note.id, "related_to", work.id, context=bad)):
        with pytest.raises(Invalid):
            call()

    assert snapshot() == before


WORK = {"goal": "Brew", "task_type": "other", "success": True, "summary": "Brewed"}
WRONG: dict[str, Callable[[Memory], Any]] = {
    "a dialog's key": lambda mem: mem.log("Ann: Hello there.", topic="tea", key=5),
    "a dialog's broken key": lambda mem: mem.log("Ann: Hello there.", topic="tea", key="\ud800"),
    "a work's key": lambda mem: mem.record(**WORK, key=5),
    "a work's broken key": lambda mem: mem.record(**WORK, key="\ud800"),
    "a text's key": lambda mem: mem.remember("Green tea.", key=5),
    "a note's key": lambda mem: mem.note("Tea", "Green.", key=5),
    "a topic": lambda mem: mem.log("Ann: Hello there.", topic="\ud800"),
    "a file": lambda mem: mem.check_file("\ud800"),
    "a plan": lambda mem: mem.check_file("src/a.py", plan="\ud800"),
    "a goal": lambda mem: mem.check_intent(5),  # type: ignore[arg-type]
    "a broken goal": lambda mem: mem.check_intent("\ud800"),
    "an agent's metadata": lambda mem: mem.agent("x", metadata=5),
    "an agent's parent": lambda mem: mem.agent("x", parent="\ud800"),
    "an agent's broken metadata": lambda mem: mem.agent("x", metadata={"a": "\ud800"}),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_has_the_wrong_type_or_is_no_text_is_invalid(mem: Memory, home: Path, what: str) -> None:
    with pytest.raises(Invalid):
        WRONG[what](mem)

    assert not any((home / folder).exists() for folder in ("graph", "chunks", "topics", "work"))


def test_a_backslash_and_four_zeros_are_just_signs(mem: Memory) -> None:
    note = mem.note("A path \\u0000 in C", "It says \\u0000.")

    assert mem.get(note.id).record.title == "A path \\u0000 in C"
