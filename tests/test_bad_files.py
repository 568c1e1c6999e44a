"""Whatever a file of the home holds, reading it gives records or a finding, and never an error that keeps the rest unread."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otolith.files.disk import DiskTree
from otolith.index.store import Index
from otolith.index.write import Unit
from otolith.memory import Memory
from otolith.sync import put
from otolith.units import read_unit

WORK = {"id": "mem_1", "agent_id": "a", "project_id": "p", "session_id": "s", "created_at": 1_770_000_000, "tags": ["x"],
        "intent": {"goal": "g", "task_type": "bug_fix", "context": "c", "constraints": ["k"]},
        "perception": {"observations": [{"what": "w", "where": "h", "significance": "s"}],
                       "relevant_files": [{"path": "a.py", "relevance": "r", "state_summary": "s"}]},
        "reasoning": {"approach_chosen": "a", "alternatives_considered": [{"approach": "b", "why_rejected": "c"}]},
        "actions": [{"type": "file_edit", "timestamp": 1, "details": {"file_path": "a.py"}, "result": {"success": True}}],
        "outcome": {"success": True, "summary": "s", "learnings": ["l"], "verified_by": {"type": "test", "result": "ok"}},
        "links": {"caused_by": ["mem_2"], "supersedes": "mem_3"}, "links_at": {"caused_by": {"mem_2": 5}}, "importance": 0.5,
        "origin": {"agent": "a", "door": "cli", "session": "s", "project": "p", "trust": "user"}}
FACT = {"subject": "Ann", "relation": "lives in", "object": "Berlin", "type": "identity", "time_span": "current",
        "confidence": 0.9, "user_fact_score": 8, "entry_id": "e1", "entry_ts": "2026-02-10T12:00:00Z",
        "valid_from": "2026-02-10", "turn": 1}
SPAN = {"project_id": "p", "created_at": 1, "updated_at": 2, "start_ts": 1, "end_ts": 2, "summary": "s", "tags": ["t"]}
FILES: dict[str, dict[str, Any]] = {
    "chunks/2026-02/chunk-2026-02-10-a1b2c3d4.json": {
        "id": "chunk-2026-02-10-a1b2c3d4", "content": "c", "tokens": 1, "type": "fact", "tags": ["t"],
        "metadata": {"created": "2026-02-10T21:37:00Z", "conversation_id": "c", "access_count": 1,
                     "last_accessed": "2026-02-10"},
        "links": {"related_to": ["chunk-x"],
                  "details": {"related_to": {"chunk-x": {"strength": 0.5, "context": "c", "created": 5}}}}},
    "work/2026-02/mem_1.json": WORK,
    "work/agents/a.json": {"id": "a", "type": "subagent", "parent_id": "b", "project_id": "p", "created_at": 1,
                           "metadata": {"x": 1}},
    "work/chapters/chapter_1.json": {"id": "chapter_1", "title": "t", "learnings": ["l"], "memories": ["mem_1"], **SPAN},
    "work/wisdom/wisdom_1.json": {"id": "wisdom_1", "insights": ["i"], "chapters": ["chapter_1"], **SPAN},
    "topics/tea/e1/meta.json": {"schema": "entry_meta.v1", "entry_id": "e1", "entry_ts": "2026-02-10T12:00:00Z", "topic": "tea",
                                "roles": {"Ann": "user"}, "tags": ["t"], "conversation_id": "c"},
    "topics/tea/e1/summary.json": {"schema": "entry_summary.v1", "entry_id": "e1", "summary": "s", "facts": [FACT]},
    "topics/tea/topic_memory.json": {"schema": "topic_memory.v1", "topic": "tea", "facts": [FACT],
                                     "last_entry_ts": "2026-02-10",
                                     "state": {"summary": "s", "bounds": ["b"], "open_questions": ["q"], "next_actions": []}},
    "GLOBAL_MEMORY.json": {"schema": "global_memory.v1", "updated": "2026-02-10",
                           "active_topics": [{"topic": "t", "state": {"summary": "s"}}],
                           "do_not_forget": [{"tier": "core", "type": "identity", "facts": [FACT]}]},
    "graph/general/tea-a1b2c3.md": {
        "id": "a1b2c3d4-e5f6-7890-abcd-ef1234567890", "type": "general", "title": "Tea", "tags": ["t"], "aliases": ["a"],
        "importance": 0.5, "confidence": 0.8, "created": "2026-02-10", "updated": "2026-02-10", "origin": {"agent": "a"},
        "relations": [{"target": "x", "type": "SOLVES", "direction": "outgoing", "strength": 0.5, "context": "c"}]},
    "graph/edges/a--SOLVES--b-a1b2c3.md": {
        "id": "a1b2c3d4-e5f6-7890-abcd-ef1234567891", "type": "SOLVES", "from_id": "x", "from_title": "X", "to_id": "y",
        "to_title": "Y", "strength": 0.8, "created": "2026-02-10", "updated": "2026-02-10"},
    "links.jsonl": {"op": "add", "from": "a", "type": "cites", "to": "b", "strength": 0.5, "context": "c",
                    "created": "2026-02-10", "origin": {"trust": "user"}},
    "topics/tea/curation.jsonl": {"ts": "2026-02-10", "op": "score", "fact_id": "fact_1", "fact": ["a", "b", "c"], "score": 9,
                                  "by": "user"},
}
JUNK = st.sampled_from([None, True, 0, -1, 7, 1e300, float("inf"), 10**30, "", "x", "\u0000", "\ud83d", "2026-99-99",
                        "../../etc", [], [[]], [None], ["a", 1], {}, {"x": {}}, [{}], "y" * 5000, {"": None}])


def spots(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [spot for key, item in inner for spot in ((*here, key), *spots(item, (*here, key)))]


def spoiled(value: dict[str, Any], spot: tuple[Any, ...], junk: Any, *, drop: bool) -> dict[str, Any]:
    made = copy.deepcopy(value)
    inner = made
    for key in spot[:-1]:
        inner = inner[key]
    if drop:
        del inner[spot[-1]]
    else:
        inner[spot[-1]] = junk
    return made


def written(path: str, value: Any) -> bytes:
    said = json.dumps(value)
    return f"---\n{said}\n---\n\nText.\n".encode() if path.endswith(".md") else said.encode() + b"\n"


def lay(home: Path, path: str, data: bytes) -> str:
    (home / path).parent.mkdir(parents=True, exist_ok=True)
    (home / path).write_bytes(data)
    if path.startswith("topics/tea/e1/"):
        (home / "topics/tea/e1/raw.md").write_text("Ann: hello\n")
        return "topics/tea/e1"
    return path


@pytest.mark.clause("chunk-41")
@pytest.mark.parametrize("path", FILES)
@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_with_any_value_exchanged_is_read_or_named(home: Path, tmp_path: Path, path: str, data: st.DataObject) -> None:
    value = FILES[path]
    spot = data.draw(st.sampled_from(spots(value)))
    unit = lay(home, path, written(path, spoiled(value, spot, data.draw(JUNK), drop=data.draw(st.booleans()))))

    found = read_unit(DiskTree(str(home)), unit)

    assert isinstance(found, Unit)
    index = Index(tmp_path / "cache/index.sqlite", DiskTree(str(home)).identity)
    index.rebuild(damaged=False)
    put(index, [found])
    index.close()


@pytest.mark.parametrize("path", FILES)
def test_the_files_themselves_are_good(home: Path, path: str) -> None:
    found = read_unit(DiskTree(str(home)), lay(home, path, written(path, FILES[path])))

    assert found is not None
    assert list(found.findings) == []


@pytest.mark.parametrize("path", [*FILES, "allmemories/user_likes_green_tea.md", "episodes/2026-02-10.md", "memories/x.txt",
                                  "topics/tea/e1/raw.md"])
@given(junk=st.binary(max_size=200))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_of_any_bytes_is_read_or_named(home: Path, tmp_path: Path, path: str, junk: bytes) -> None:
    found = read_unit(DiskTree(str(home)), lay(home, path, junk))

    assert isinstance(found, Unit)
    index = Index(tmp_path / "cache/index.sqlite", DiskTree(str(home)).identity)
    index.rebuild(damaged=False)
    put(index, [found])
    index.close()


def test_a_memo_whose_time_is_none_is_named_and_keeps_nobody_from_tending_the_others(mem: Memory) -> None:
    memo, other = mem.memo("user_likes_green_tea", "Yes."), mem.memo("user_likes_black_tea", "No.")
    path = mem.path / f"allmemories/{memo.id}.md"
    path.write_text(path.read_text().replace(f"**Created:** {memo.created_at}", "**Created:** 0x1f"))

    assert [finding.path for finding in mem.check()] == [f"allmemories/{memo.id}.md"]
    assert mem.garden().proposals == []
    assert other.id in mem.brief("tea").text
    assert mem.upkeep().failed == {}


def test_chapters_are_built_around_a_work_that_cannot_be_read_and_it_is_named(home: Path) -> None:
    with Memory(home) as mem:
        works = {folder: [mem.record({"goal": f"Mend {folder} {at}", "task_type": "bug_fix", "success": True, "summary": "Mended",
                                      "files": [f"{folder}/a.py"]}).id for at in range(4)] for folder in ("mill", "barn")}
        mem.upkeep()
        assert {tuple(sorted(chapter.memories)) for chapter in mem.chapters()} == {tuple(sorted(ids)) for ids in works.values()}
        for ids in works.values():
            mem.edit(ids[0], summary="Mended again")
        torn = home / mem.get(works["mill"][1]).path
        whole = torn.read_bytes()
        torn.write_bytes(whole[:40])

        report = mem.upkeep()

        assert report.failed == {}
        assert any(torn.name in finding.path for finding in mem.check())
        assert any(torn.name in notice for notice in mem.notices)
        assert len(mem.chapters()) == 2
        torn.write_bytes(whole)
        mem.upkeep()
        assert mem.check() == []
        assert all("Mended again" in str(chapter.to_dict()) for chapter in mem.chapters())


def test_a_number_without_bounds_in_a_chunk_keeps_no_export_from_being_written(mem: Memory) -> None:
    chunk = mem.remember("Rye.", conversation_id="c")[0]
    path = next((mem.path / "chunks").rglob(f"{chunk.id}.json"))
    path.write_text(path.read_text().replace('"metadata": {', '"metadata": {"weight": 1e999, "of": [NaN],'))

    mem.reindex()

    exported = json.loads((mem.path / "index/metadata_index.json").read_text())["entries"]
    assert (exported[chunk.id] | {"tags": []})["weight"] is None
    assert mem.upkeep().failed == {}


def test_a_chapter_whose_digest_counts_beyond_all_numbers_is_read_without_it(mem: Memory) -> None:
    works = [mem.record(goal=f"Tame {at}", task_type="other", success=True, summary="Tamed").id for at in range(2)]
    chapter = mem.chapter(works, title="Taming")
    path = next((mem.path / "work/chapters").rglob(f"{chapter.id}.json"))
    told = json.loads(path.read_text())
    path.write_text(json.dumps({**told, "digest": {**told.get("digest", {}), "failed": 7}}).replace('"failed": 7', f'"failed": {"9" * 400}'))

    assert mem.upkeep().failed == {}
    assert mem.chapters()


@pytest.mark.parametrize("odd", ["{}", "[1]", '"\\ud800"', "1e999"])
def test_a_front_page_of_odd_values_leaves_the_brief_whole(mem: Memory, odd: str) -> None:
    mem.note("Tea", "Steep it.")
    (mem.path / "GLOBAL_MEMORY.json").write_text(
        '{"schema": "global_memory.v1", "updated": "2026-02-10", "active_topics": [], '
        f'"do_not_forget": [{{"topic": {odd}, "fact_id": {odd}, "text": "x"}}, {{"fact_id": {odd}, "text": "y"}}]}}')

    assert mem.brief("tea")


def test_a_session_that_noted_half_a_character_is_told_as_one_that_noted_nothing(mem: Memory) -> None:
    mem.hud(past="tea")
    state, = (mem.path / "log").glob("session-*.json")
    state.write_text(r'{"retrieved": "\ud800", "past": "tea"}')

    assert "tea" not in mem.hud()


def test_a_brief_tells_the_rest_of_what_it_reads_when_one_file_cannot_be_read(mem: Memory) -> None:
    bad, good = (mem.note(f"Rule {at}", f"Always do {at}.", type="decision", importance=0.9) for at in range(2))
    path = next((mem.path / "graph").rglob(f"*{bad.id[:6]}.md"))
    path.write_text(path.read_text().replace('title: "Rule 0"', 'title: ""'))

    assert good.title in mem.brief("rules").text
