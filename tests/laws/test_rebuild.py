"""File first: delete the index, and every answer is the same."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Clock
from otolith.memory import Memory
from otolith.model.kinds import KINDS
from otolith.model.record import DEPTHS

QUESTIONS = ("kettle", "why does the tea taste bitter", "water temperature", "東京", "Ann", "steep three minutes")
WORK = {"id": "mem_00000000-0000-4000-8000-000000000001", "created_at": 1_770_759_000, "agent_id": "brewer",
        "project_id": "tea", "session_id": "s1",
        "intent": {"goal": "Find out why the tea is bitter", "task_type": "investigation"},
        "actions": [{"type": "file_edit", "details": {"file_path": "src/kettle.py"}}],
        "outcome": {"success": False, "summary": "The kettle boils too hot.", "failure_reason": "no thermometer"}}


def fill(mem: Memory, clock: Clock) -> None:
    """A home with records of every kind, some linked, pinned, forgotten, edited by hand and broken."""
    tea = mem.note("Tea", "Steep for three minutes. See [[Kettle]].", tags=["drinks"])
    kettle = mem.note("Kettle", "Water at 80 degrees, never boiling.", type="solution")
    steps = mem.note("Brewing", "How to.", type="procedure", steps=["Heat water", "Steep", "Drink"])
    mem.link(kettle.id, "SOLVES", tea.id, context="Bitter tea comes from boiling water.")
    memo = mem.memo("user_likes_green_tea", "Green, not black.", tags=["drinks"])
    newer = mem.memo("user_likes_black_tea", "Black, not green.")
    mem.link(newer.id, "supersedes", memo.id)
    mem.link(memo.id, "cites", steps.id)
    mem.pin(steps.id)
    mem.pin(newer.id)
    mem.forget(mem.note("Forgotten", "A forgotten kettle.").id)
    mem.episode("Bought a kettle", summary="It sings.", tags=["life"])
    later = {**WORK, "id": "mem_00000000-0000-4000-8000-000000000002", "links": {"caused_by": [WORK["id"]]},
             "outcome": {"success": True, "summary": "The kettle has a thermometer now."}}
    chunk = {"id": "chunk-2026-02-10-a1b2c3d4", "content": "Tea in 東京 is served at 60 degrees.", "tokens": 9, "type": "fact",
             "metadata": {"created": "2026-02-10T21:37:00Z", "conversation_id": "c1", "access_count": 3}, "links": {},
             "tags": ["x"]}
    span = {"project_id": "tea", "created_at": 1_770_759_000, "updated_at": 1_770_759_000, "start_ts": 1, "end_ts": 2}
    files: dict[str, Any] = {
        f"work/2026-02/{WORK['id']}.json": WORK, f"work/2026-02/{later['id']}.json": later,
        "work/agents/brewer.json": {"id": "brewer", "type": "main", "project_id": "tea", "created_at": 1_770_000_000},
        "work/chapters/chapter_1.json": {"id": "chapter_1", "summary": "The kettle story.", "memories": [WORK["id"]], **span},
        "work/wisdom/wisdom_1.json": {"id": "wisdom_1", "summary": "Measure the water.", "chapters": ["chapter_1"], **span},
        "chunks/2026-02/chunk-2026-02-10-a1b2c3d4.json": chunk,
        "topics/tea/entry_20260210T213700Z_a1b2c3d4/raw.md": "Ann: I live in Berlin.\n\nBob: My kettle sings.\n",
        "topics/tea/entry_20260210T213700Z_a1b2c3d4/summary.json": {"summary": "Kettles.", "facts": [
            {"subject": "Ann", "relation": "lives in", "object": "Berlin", "type": "identity", "confidence": 0.9}]},
        "topics/tea/topic_memory.json": {"schema": "topic_memory.v1", "topic": "tea", "state": {"summary": "On kettles."}},
        "GLOBAL_MEMORY.json": {"schema": "global_memory.v1", "active_topics": [{"topic": "tea", "summary": "Kettles."}]},
        "memories/notes/kettle.txt": "The agent's own page about a kettle.\n",
    }
    for path, value in files.items():
        (mem.path / path).parent.mkdir(parents=True, exist_ok=True)
        (mem.path / path).write_text(value if isinstance(value, str) else json.dumps(value, indent=2))
    clock.pass_time(days=1)
    mem.sync()
    for record in (tea.id, tea.id, memo.id):
        mem.get(record)
    mem.home.fold_usage()


def answers(mem: Memory) -> dict[str, Any]:
    """Everything a home says about itself, but for the time since the last look."""
    found: dict[str, Any] = {"list": mem.list(limit=None), "tags": mem.tags(), "check": mem.check()}
    stats = mem.stats()
    found["stats"] = {key: value for key, value in stats.items() if key not in ("index_lag", "uses")}
    for item in found["list"][0]:
        found[item["id"]] = [mem.related(item["id"], 2), *(
            {**mem.get(item["id"], depth).to_dict(), "text": "" if depth == "complete" else mem.get(item["id"], depth).text}
            for depth in DEPTHS)]
    for question in QUESTIONS:
        told = mem.recall(question, limit=20).to_dict()
        found[question] = {key: value for key, value in told.items() if key != "index_lag"}
    return found


@pytest.fixture
def full(home: Path, clock: Clock) -> Iterator[Memory]:
    with Memory(home, clock=clock) as mem:
        fill(mem, clock)
        yield mem


@pytest.fixture
def unused(full: Memory, tmp_path: Path) -> Callable[[], None]:
    """Put the ledger of use back: asking is counted, and what was used more ranks higher."""
    shutil.copytree(full.path / "log", tmp_path / "log")

    def put_back() -> None:
        shutil.rmtree(full.path / "log")
        shutil.copytree(tmp_path / "log", full.path / "log")

    return put_back


@pytest.mark.clause("dialog-41", "notes-34", "notes-95")
def test_the_same_answers_without_the_index(full: Memory, unused: Callable[[], None], clock: Clock, tmp_path: Path) -> None:
    with Memory(full.path, clock=clock) as before:
        wanted = answers(before)
    kinds = {item["kind"] for item in wanted["list"][0]}
    full.close()
    shutil.rmtree(tmp_path / "xdg-cache")
    unused()

    with Memory(full.path, clock=clock) as after:
        found = answers(after)

    assert set(KINDS) - kinds <= {"fact"}
    for name, value in wanted.items():
        assert found[name] == value, name


def test_the_same_answers_after_a_reindex(full: Memory, unused: Callable[[], None]) -> None:
    wanted = answers(full)
    unused()

    full.reindex()

    found = answers(full)
    for name, value in wanted.items():
        assert found[name] == value, name


def test_usage_comes_back_with_the_ledger(full: Memory, clock: Clock, tmp_path: Path) -> None:
    before = full.stats()["uses"]
    full.close()
    shutil.rmtree(tmp_path / "xdg-cache")

    with Memory(full.path, clock=clock) as after:
        assert after.stats()["uses"] == before == 3
