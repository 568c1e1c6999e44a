"""_index.json: computed from the files, deletable, in the seed's shape. And what git keeps of a home."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest


def index(home):
    return json.loads((home / "_index.json").read_text())


@pytest.fixture
def linked(mem):
    solution = mem.note("Fixed Redis", "Keepalive.", type="solution", tags=["redis"], importance=0.8)
    problem = mem.note("Redis drops", type="problem")
    return solution, problem, mem.link(solution.id, "SOLVES", problem.id, context="Keeps sockets open")


@pytest.mark.clause("notes-34", "notes-35", "notes-38")
def test_reindex_computes_the_index_from_the_files(mem, home, linked):
    mem.reindex()
    before = index(home)
    (home / "_index.json").unlink()
    mem.reindex()

    assert list(before) == ["version", "updated", "count", "edges", "entries"]
    assert (before["version"], before["updated"], before["count"]) == (2, "2026-02-10T21:37:00+00:00", len(linked) - 1)
    assert index(home) == before


@pytest.mark.clause("notes-36")
def test_an_edge_is_listed_by_its_id(mem, home, linked):
    solution, problem, link = linked
    mem.reindex()

    assert index(home)["edges"] == {link.edge_id: {
        "type": "SOLVES", "from_id": solution.id, "to_id": problem.id, "strength": 0.8,
        "path": f"graph/edges/fixed-redis--SOLVES--redis-drops-{link.edge_id[:6]}.md"}}


@pytest.mark.clause("notes-37", "notes-39")
def test_an_entry_mirrors_the_front_matter(mem, home, linked):
    solution, problem, link = linked
    mem.reindex()

    assert index(home)["entries"][solution.id] == {
        "title": "Fixed Redis", "type": "solution", "tags": ["redis"], "importance": 0.8, "confidence": 0.8,
        "created": "2026-02-10T21:37:00+00:00", "updated": "2026-02-10T21:37:00+00:00",
        "path": f"graph/solutions/fixed-redis-{solution.id[:6]}.md",
        "relations": [{"target": problem.id, "type": "SOLVES", "direction": "outgoing", "strength": 0.8,
                       "context": "Keeps sockets open", "edge_id": link.edge_id}]}


@pytest.mark.clause("notes-39")
def test_search_covers_the_whole_text(mem):
    note = mem.note("Long", "word " * 5000 + "zanzibar at the very end")

    assert [hit.id for hit in mem.recall("zanzibar").hits if hit.kind == "note"] == [note.id]


@pytest.mark.clause("notes-34", "notes-95")
def test_deleting_everything_derived_loses_no_memory(mem, home, linked, tmp_path):
    mem.upkeep()
    for name in ("_index.json", "_state.json", "_embeddings.json", "_config.json", "CORE.md", "REFLECTION.md"):
        (home / name).unlink(missing_ok=True)
    shutil.rmtree(tmp_path / "xdg-cache")
    from otolith.memory import Memory

    with Memory(home, clock=mem.home.clock) as again:
        assert again.get(linked[0].id).record.text == "Keepalive."
        assert [found["id"] for found in again.related(linked[1].id)] == [linked[0].id]
        again.upkeep()
        again.reindex()
    assert {file.name for file in home.iterdir()} >= {"_index.json", "_state.json", "CORE.md", "REFLECTION.md"}


@pytest.mark.clause("notes-93")
def test_a_new_home_ignores_the_four_derived_files(mem, home):
    mem.init()

    lines = (home / ".gitignore").read_text().split("\n")
    assert lines[:4] == ["_state.json", "_index.json", "_embeddings.json", "_config.json"]


@pytest.mark.clause("notes-94", "notes-95")
def test_git_tracks_memories_pages_and_diary_and_nothing_derived(mem, home, linked):
    mem.init()
    mem.home.tree.write("_config.json", b"{}\n")
    mem.upkeep()
    mem.reindex()
    subprocess.run(["git", "init", "-q", str(home)], check=True)
    subprocess.run(["git", "-C", str(home), "add", "."], check=True)
    listed = subprocess.run(["git", "-C", str(home), "ls-files"], capture_output=True, text=True, check=True)
    tracked = set(listed.stdout.split())

    assert {mem.get(note.id).path for note in linked[:2]} <= tracked
    assert {"CORE.md", "REFLECTION.md", "episodes/2026-02-10.md"} <= tracked
    assert not {name for name in tracked if name.startswith(("_", "log/", ".lock")) or name.endswith("index.json")}
