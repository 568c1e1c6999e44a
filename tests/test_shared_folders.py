"""Folders that others use, too: the program that chunks come from, and earlier and later versions of Otolith."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from otolith import Chunk, Memory
from otolith.doors.originals import ChunkStore
from rlm_mem import Original

TOPICS = ("harbour", "bakery", "chess")


@pytest.fixture
def folder(home: Path) -> tuple[Original, list[str]]:
    """A folder that the original filled with 34 chunks."""
    original = Original(home)
    return original, [original.create(number, f"Note {number} on the {TOPICS[number % 3]}.", [TOPICS[number % 3]])
                      for number in range(34)]


@pytest.mark.clause("chunk-46")
def test_the_original_lists_and_reads_every_chunk_after_otolith_wrote(home: Path, folder: Any, clock: Any) -> None:
    _, ids = folder
    with Memory(home, clock=clock) as mem:
        long = mem.remember("The quay is long. " * 400, conversation_id="conv-2", tags=["harbour"], key="k")
        [said] = mem.remember("I prefer rye.", conversation_id="conv-1", tags=["bakery"])
        mem.link(said.id, "supports", ids[1], strength=0.7, context="the same baker")
        mem.edit(ids[3], {"tags": ["harbour", "tide"]})
        mem.link(ids[4], "contradicts", ids[5])
        mem.forget(ids[6])
        mem.upkeep()

    original = Original(home)

    kept = {*ids, said.id, *(chunk.id for chunk in long)} - {ids[6]}
    assert set(original.list()) == kept
    assert set(original.list(["tide"])) == {ids[3]}
    assert {original.get(chunk_id)["id"] for chunk_id in kept} == kept
    assert original.get(ids[4])["links"]["contradicts"] == [ids[5]]
    assert original.graph.entries[said.id]["supports"] == [ids[1]]


@pytest.mark.clause("chunk-46")
def test_otolith_goes_on_with_what_the_original_then_wrote(home: Path, folder: Any, clock: Any) -> None:
    _, ids = folder
    with Memory(home, clock=clock) as mem:
        mem.upkeep()
    original = Original(home)
    new = original.create(99, "The ferry leaves at nine.", ["harbour"])
    original.get(ids[0])

    with Memory(home, clock=clock) as mem:
        clock.pass_time(days=1)
        mem.upkeep()
        assert mem.get(new).record.content == "The ferry leaves at nine."
        assert mem.get(ids[0]).record.metadata.access_count == 1

    assert new in Original(home).list(["harbour"])
    aside = list(home.glob("archive/edited/index/metadata_index.json.*"))
    assert sorted(new in json.loads(path.read_text())["entries"] for path in aside) == [False, True]


@pytest.mark.clause("chunk-46")
def test_an_index_that_somebody_keeps_in_another_shape_keeps_it(home: Path, clock: Any) -> None:
    (home / "index").mkdir(parents=True)
    (home / "index/tag_index.json").write_text('{"old": ["chunk-2026-02-10-a1b2c3d4"]}')
    with Memory(home, clock=clock) as mem:
        [chunk] = mem.remember("The ferry leaves at nine.", conversation_id="c", tags=["harbour"])
        mem.reindex()

    assert json.loads((home / "index/tag_index.json").read_text()) == {"harbour": [chunk.id]}
    assert chunk.id in json.loads((home / "index/metadata_index.json").read_text())["entries"]
    [aside] = home.glob("archive/edited/index/tag_index.json.*")
    assert "old" in json.loads(aside.read_text())


@pytest.mark.clause("chunk-46")
def test_what_an_earlier_otolith_kept_inside_metadata_and_links_is_still_read(home: Path, clock: Any) -> None:
    with Memory(home, clock=clock) as mem:
        [one] = mem.remember("Rye is dark.", conversation_id="c")
        [two] = mem.remember("Rye is not dark.", conversation_id="c", key="k")
        mem.link(two.id, "contradicts", one.id, strength=0.4)
        path = next(home.glob(f"chunks/*/{two.id}.json"))
        now = json.loads(path.read_text())
        own = now.pop("otolith")
        now["links"]["details"] = own.pop("details")
        now["metadata"] |= own
        path.write_text(json.dumps(now, indent=2) + "\n")
        before = path.read_bytes()
        mem.sync()

        assert mem.get(two.id).record.otolith.details["contradicts"][one.id]["strength"] == 0.4
        assert mem.remember("Rye is not dark.", conversation_id="c", key="k")[0].id == two.id
        assert path.read_bytes() == before
        mem.edit(two.id, {"tags": ["rye"]})
        assert set(json.loads(path.read_text())["metadata"]) == {
            "created", "conversation_id", "source", "confidence", "access_count", "last_accessed"}
        assert mem.get(two.id).record.otolith.origin == one.otolith.origin.replace(at=own["origin"]["at"])


def test_a_store_hands_out_lists_and_json(home: Path, clock: Any) -> None:
    with ChunkStore(home, clock=clock) as store:
        chunk = store.create_chunk("Rye.", "fact", "conv-1", 5, tags=["bread", "dark"])
        assert chunk.tags == ["bread", "dark"]
        again = Chunk.from_json(chunk.to_json())
        assert (again.id, again.content, again.tags) == (chunk.id, "Rye.", ("bread", "dark"))
        store.delete_chunk(chunk.id)
        assert (store.get_stats()["total_chunks"], store.get_stats()["archived_chunks"]) == (0, 1)
    with pytest.raises(ValueError, match="content is missing"):
        Chunk.from_json('{"id": "chunk-test", "tokens": 10, "type": "note", "metadata": {}, "links": {}}')
    with pytest.raises(json.JSONDecodeError):
        Chunk.from_json("no JSON")


# Schema ids


def filled(mem: Memory) -> dict[str, str]:
    """Of each structured kind one; path → schema id."""
    works = [mem.record(goal=f"Mend the oven {n}", task_type="bug_fix", success=True, summary="It bakes.", files=["oven/door.py"],
                        session="s", project="bakery") for n in range(4)]
    mem.agent("baker")
    mem.chapter([work.id for work in works[:2]], title="The oven")
    mem.upkeep()
    note = mem.note("Rye", "It is dark.")
    mem.link(works[0].id, "related_to", note.id)
    mem.log("User: I prefer rye bread.", topic="bread")
    mem.review(mem.facts("bread")[0].id, 7)
    return {"work/2*/*.json": "work_memory.v1", "work/agents/*.json": "agent.v1", "work/chapters/*.json": "chapter.v1",
            "work/wisdom/*.json": "wisdom.v1", "links.jsonl": "link.v1", "topics/bread/curation.jsonl": "curation.v1"}


@pytest.mark.clause("dialog-67")
def test_every_structured_file_begins_with_the_id_of_its_schema(home: Path, clock: Any) -> None:
    with Memory(home, clock=clock) as mem:
        schemas = filled(mem)
        formats = mem.stats()["formats"].values()

    for pattern, schema in schemas.items():
        files = list(home.glob(pattern))
        assert files or pattern.startswith("work/wisdom"), pattern
        for path in files:
            found = [json.loads(line) for line in path.read_text().splitlines()] if path.suffix == ".jsonl" else [
                json.loads(path.read_text())]
            assert {(next(iter(value)), value["schema"]) for value in found} == {("schema", schema)}
    assert set(schemas.values()) <= set(formats)


@pytest.mark.clause("dialog-67")
def test_files_without_a_schema_id_are_version_1_and_not_rewritten_for_it(
        home: Path, clock: Any, snapshot: Callable[[], dict[str, bytes]]) -> None:
    with Memory(home, clock=clock) as mem:
        for pattern in filled(mem):
            for path in home.glob(pattern):
                lines = path.read_text()
                path.write_text("".join(json.dumps({k: v for k, v in json.loads(line).items() if k != "schema"}) + "\n"
                                        for line in lines.splitlines()) if path.suffix == ".jsonl" else json.dumps(
                    {k: v for k, v in json.loads(lines).items() if k != "schema"}, indent=2, ensure_ascii=False) + "\n")
        mem.sync()
        before = {path: data for path, data in snapshot().items() if path.startswith("work/") or path.endswith(".jsonl")}
        mem.upkeep()
        mem.reindex()
        mem.upkeep()

        assert {path: snapshot()[path] for path in before} == before
        path = next(home.glob("work/2*/*.json"))
        mem.edit(path.stem, {"tags": ["oven"]})
        assert "schema" not in json.loads(path.read_text())


@pytest.mark.clause("dialog-67")
def test_what_a_newer_otolith_wrote_is_left_alone_and_reported(home: Path, clock: Any) -> None:
    with Memory(home, clock=clock) as mem:
        filled(mem)
        path = next(home.glob("work/2*/*.json"))
        path.write_text(path.read_text().replace("work_memory.v1", "work_memory.v9"))
        with (home / "links.jsonl").open("a") as links:
            links.write('{"schema": "link.v9", "op": "add", "from": "a", "type": "related_to", "to": "b"}\n')

        found = {(finding.path, finding.code) for finding in mem.check()}

        assert {(str(path.relative_to(home)), "newer-schema"), ("links.jsonl", "newer-schema")} <= found
