"""ChunkStore, as seed 000's document uses it: the chunk's file, its Python API, its safety features."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import otolith
from otolith import Chunk, ChunkStore
from otolith.errors import Invalid
from otolith.model.chunk import SCHEMA

EXAMPLE = {
    "id": "chunk-2026-02-10-a1b2c3d4",
    "content": "User decided to use RLM architecture instead of RAG...",
    "tokens": 145,
    "type": "decision",
    "metadata": {"created": "2026-02-10T21:37:00Z", "conversation_id": "conv-abc123", "source": "interaction",
                 "confidence": 0.95, "access_count": 3, "last_accessed": "2026-02-10T22:15:00Z"},
    "links": {"context_of": ["conv-abc123"], "follows": ["chunk-2026-02-10-x9y8z7w6"],
              "related_to": ["chunk-2026-02-09-p4q5r6s7"], "supports": [], "contradicts": []},
    "tags": ["architecture", "rlm", "decision"],
}


@pytest.fixture
def store(home: Path, clock: Any) -> Iterator[ChunkStore]:
    with ChunkStore(home, clock=clock) as opened:
        yield opened


def create(store: ChunkStore, content: str = "User prefers Python over JavaScript", **more: Any) -> Chunk:
    given: dict[str, Any] = {"chunk_type": "preference", "conversation_id": "conv-123", "tokens": 12, **more}
    return store.create_chunk(content=content, **given)


def file_of(home: Path, chunk: Chunk) -> Path:
    return home / "chunks" / "2026-02" / f"{chunk.id}.json"


def put_file(home: Path, data: Any, id: str = EXAMPLE["id"]) -> Path:  # type: ignore[assignment]
    path = home / "chunks" / "2026-02" / f"{id}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data, indent=2))
    return path


# The format


@pytest.mark.clause("chunk-01", "chunk-04", "chunk-07", "chunk-08", "chunk-16", "chunk-29", "chunk-22")
def test_a_chunk_is_one_pretty_printed_json_object_in_its_month(store, home):
    chunk = create(store, tags=["coding"])

    text = file_of(home, chunk).read_text()

    found = json.loads(text)
    assert list(found) == ["id", "content", "tokens", "type", "metadata", "links", "tags", "otolith"]
    assert found["content"] == "User prefers Python over JavaScript"
    assert {"created", "conversation_id", "source", "confidence", "access_count", "last_accessed"} == found["metadata"].keys()
    assert found["links"] == {"context_of": ["conv-123"], "follows": [], "related_to": [], "supports": [], "contradicts": []}
    assert text == json.dumps(found, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.clause("chunk-02", "chunk-35")
def test_the_documents_example_is_read_and_written_again_with_every_value_unchanged(store, home):
    assert Chunk.from_dict(EXAMPLE).to_dict() == EXAMPLE

    put_file(home, EXAMPLE)
    found = store.get_chunk(EXAMPLE["id"])

    assert found.to_dict() == {**EXAMPLE, "metadata": {**EXAMPLE["metadata"], "access_count": 4,
                                                       "last_accessed": "2026-02-10T22:15:00Z"}}
    store.update_chunk(EXAMPLE["id"], confidence=0.98)
    assert json.loads(put_path(home).read_text()) == {**EXAMPLE, "metadata": {**EXAMPLE["metadata"], "confidence": 0.98}}


def put_path(home: Path) -> Path:
    return home / "chunks" / "2026-02" / f"{EXAMPLE['id']}.json"


@pytest.mark.clause("chunk-03")
def test_ids_hold_the_date_and_eight_hex_digits_and_none_is_given_twice(store):
    ids = [create(store, f"Number {n} of several.").id for n in range(5)]

    assert len(set(ids)) == 5
    assert all(id.startswith("chunk-2026-02-10-") and int(id[-8:], 16) >= 0 and len(id) == 25 for id in ids)


@pytest.mark.clause("chunk-03")
def test_an_id_that_is_taken_is_not_given_again(home, clock):
    drawn = iter(["aaaaaaaa" * 4] * 3 + ["bbbbbbbb" * 4])
    with ChunkStore(home, clock=clock, new_id=lambda: next(drawn)) as store:
        assert [create(store, f"Text {n}.").id[-8:] for n in range(2)] == ["aaaaaaaa", "bbbbbbbb"]


@pytest.mark.clause("chunk-05")
def test_tokens_are_counted_unless_they_are_given(store):
    assert create(store, tokens=12).tokens == 12
    assert create(store, "One two three.", tokens=None).tokens == otolith.ChunkingEngine().count_tokens("One two three.")


@pytest.mark.clause("chunk-05")
@pytest.mark.parametrize(("content", "tokens"), [("word " * 2000, 801), ("word " * 2000, None), ("word " * 2000, 12), ("Short.", 801)])
def test_more_than_800_tokens_are_refused_with_a_word_on_remember(store, home, content, tokens):
    with pytest.raises(Invalid, match=r"800 tokens.*remember\(\)"):
        create(store, content, tokens=tokens)

    assert not (home / "chunks").exists()


@pytest.mark.clause("chunk-05")
@pytest.mark.parametrize("fields", [{"content": "word " * 2000}, {"content": "word " * 2000, "tokens": 12}, {"tokens": 801}])
def test_an_edit_makes_no_chunk_of_more_than_800_tokens(store, fields):
    chunk = create(store)

    with pytest.raises(Invalid, match=r"800 tokens"):
        store.update_chunk(chunk.id, **fields)

    assert store.get_chunk(chunk.id).content == chunk.content


@pytest.mark.clause("chunk-06", "chunk-12", "chunk-13")
@pytest.mark.parametrize("wrong", [
    {"chunk_type": "opinion"}, {"source": "rumour"}, {"confidence": 1.1}, {"confidence": -0.1}, {"confidence": "high"},
    {"tokens": -1}, {"tokens": "many"}, {"tags": "coding"}, {"tags": [3]}, {"created": "yesterdayish"}, {"content": "   "},
    {"content": 7}, {"content": "half \ud83d"}])
def test_values_outside_the_schema_are_refused_and_nothing_is_written(store, home, wrong):
    with pytest.raises(Invalid):
        store.create_chunk(**{"content": "Text.", "chunk_type": "note", "conversation_id": "c", **wrong})

    assert not home.exists()


@pytest.mark.clause("chunk-06")
def test_the_five_types_are_taken(store):
    for kind in ("fact", "preference", "pattern", "note", "decision"):
        assert create(store, f"A {kind}.", chunk_type=kind).type == kind


@pytest.mark.clause("chunk-09")
def test_a_chunk_file_without_tags_is_valid(store, home):
    put_file(home, {key: value for key, value in EXAMPLE.items() if key != "tags"})

    assert store.get_chunk(EXAMPLE["id"]).tags == []
    assert create(store, "No tags either.").tags == []


@pytest.mark.clause("chunk-10", "chunk-11", "chunk-12")
def test_metadata_says_when_where_and_how(store):
    metadata = create(store).metadata

    assert (metadata.created, metadata.conversation_id, metadata.source) == ("2026-02-10T21:37:00Z", "conv-123", "interaction")
    assert create(store, "Brought along.", source="import").metadata.source == "import"


def test_a_time_without_a_zone_is_utc(store):
    chunk = create(store, created=datetime(2026, 2, 9, 8, 30))

    assert chunk.metadata.created == "2026-02-09T08:30:00Z"
    assert store.list_chunks(created_after=datetime(2026, 2, 9, 8, 30), created_before="2026-02-09T08:31") == [chunk]


@pytest.mark.clause("chunk-28")
def test_other_scripts_survive_unescaped(store, home):
    chunk = create(store, "他喜欢深色模式 🌙 – naïve café")

    assert "他喜欢深色模式 🌙 – naïve café" in file_of(home, chunk).read_text(encoding="utf-8")
    assert store.get_chunk(chunk.id).content == "他喜欢深色模式 🌙 – naïve café"


@pytest.mark.clause("chunk-45")
def test_the_schema_is_version_1_0(mem):
    assert SCHEMA == mem.stats()["formats"]["chunk"] == "1.0"


# The API, example for example


@pytest.mark.clause("chunk-32", "chunk-33", "chunk-34", "chunk-35", "chunk-36", "chunk-37", "chunk-38", "chunk-39")
def test_the_documents_calls_work_as_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = ChunkStore("brain/memory")
    chunk = store.create_chunk(
        content="User prefers Python over JavaScript",
        chunk_type="preference",
        conversation_id="conv-123",
        tokens=12,
        tags=["coding", "preferences"],
        confidence=0.95
    )
    assert isinstance(chunk, Chunk)
    assert (chunk.tokens, chunk.metadata.confidence, chunk.tags) == (12, 0.95, ["coding", "preferences"])
    assert store.get_chunk(chunk.id).content == "User prefers Python over JavaScript"
    store.update_chunk(chunk.id, confidence=0.98)
    assert store.get_chunk(chunk.id).metadata.confidence == 0.98
    assert [found.id for found in store.list_chunks(conversation_id="conv-123", tags=["coding"])] == [chunk.id]
    store.delete_chunk(chunk.id)
    assert (tmp_path / "brain/memory/archive" / f"{chunk.id}.json").exists()
    store.delete_chunk(chunk.id, permanent=True)
    assert not list(tmp_path.glob("brain/memory/**/chunk-*.json"))
    store.close()


@pytest.mark.clause("chunk-36")
def test_an_update_leaves_all_other_fields_alone_and_is_no_retrieval(store, home):
    before = create(store, tags=["a"]).to_dict()

    changed = store.update_chunk(before["id"], confidence=0.98)

    on_disk = json.loads(file_of(home, changed).read_text())
    assert on_disk == {**before, "metadata": {**before["metadata"], "confidence": 0.98}}


def test_an_update_keeps_keys_that_otolith_does_not_know(store, home):
    path = put_file(home, {**EXAMPLE, "mood": "calm", "metadata": {**EXAMPLE["metadata"], "lang": "en"}})

    store.update_chunk(EXAMPLE["id"], tags=["x"])

    found = json.loads(path.read_text())
    assert (found["mood"], found["metadata"]["lang"], found["tags"]) == ("calm", "en", ["x"])


def test_changing_the_content_counts_it_again_and_the_conversation_moves_its_link(store):
    chunk = create(store)

    changed = store.update_chunk(chunk.id, content="Short.", conversation_id="conv-9")

    assert changed.tokens == otolith.ChunkingEngine().count_tokens("Short.")
    assert changed.links.context_of == ("conv-9",)
    assert [one.id for one in store.list_chunks(conversation_id="conv-9")] == [chunk.id]


@pytest.mark.parametrize("wrong", [
    {"confidence": 2}, {"colour": "red"}, {"id": "chunk-x"}, {"access_count": 9}, {"metadata": {}}, {"content": "word " * 2000},
    {"tags": "coding"}])
def test_an_update_that_breaks_the_schema_changes_nothing(store, home, wrong):
    chunk = create(store)
    before = file_of(home, chunk).read_bytes()

    with pytest.raises(Invalid):
        store.update_chunk(chunk.id, **wrong)

    assert file_of(home, chunk).read_bytes() == before


@pytest.mark.clause("chunk-14", "chunk-15")
def test_a_retrieval_counts_once_and_the_file_is_not_rewritten_for_it(store, home, clock):
    chunk = create(store)
    before = file_of(home, chunk).read_bytes()
    assert (chunk.metadata.access_count, chunk.metadata.last_accessed) == (0, None)

    store.get_chunk(chunk.id)
    clock.pass_time(minutes=3)
    again = store.get_chunk(chunk.id)

    assert (again.metadata.access_count, again.metadata.last_accessed) == (2, "2026-02-10T21:40:00Z")
    assert file_of(home, chunk).read_bytes() == before


@pytest.mark.clause("chunk-14", "chunk-15")
def test_listing_updating_and_linking_are_no_retrievals(store):
    first, second = create(store, "One.", tags=["t"]), create(store, "Two.", tags=["t"])
    store.update_chunk(first.id, confidence=0.5)
    store.mem.link(second.id, "supports", first.id)
    store.mem.reindex()

    assert [chunk.metadata.access_count for chunk in store.list_chunks()] == [0, 0]


@pytest.mark.clause("chunk-09", "chunk-39")
def test_a_list_holds_chunks_of_the_conversation_that_carry_all_the_tags(store, clock):
    both = create(store, "Both.", tags=["coding", "style"])
    create(store, "One.", tags=["coding"])
    create(store, "Elsewhere.", tags=["coding", "style"], conversation_id="conv-9")
    clock.pass_time(hours=1)
    later = create(store, "Later.", tags=["coding", "style"])

    assert [c.id for c in store.list_chunks(conversation_id="conv-123", tags=["coding", "style"])] == [both.id, later.id]
    assert all(isinstance(chunk, Chunk) for chunk in store.list_chunks())
    assert [c.id for c in store.list_chunks(created_after="2026-02-10T22:00:00Z")] == [later.id]
    assert len(store.list_chunks(created_before="2026-02-10T22:00:00Z")) == 3
    assert store.list_chunks(tags=["none"]) == []
    with pytest.raises(Invalid, match="list of words"):
        store.list_chunks(tags="coding")


def test_a_list_is_in_the_order_in_which_things_were_said(store):
    chunks = store.mem.remember("word " * 5000, conversation_id="conv-123")
    then = create(store, "And then this.")

    assert [chunk.id for chunk in store.list_chunks()] == [*(chunk.id for chunk in chunks), then.id]


def test_stats_tell_how_many_chunks_there_are(store):
    create(store, "One.")
    gone = create(store, "Two.", chunk_type="fact", conversation_id="other")
    store.delete_chunk(gone.id)

    assert store.get_stats() == {"total_chunks": 1, "by_type": {"preference": 1}, "conversations": 1, "archived_chunks": 1,
                                 "storage_path": str(store.mem.path)}


# Deletion


@pytest.mark.clause("chunk-26", "chunk-30", "chunk-37")
def test_a_soft_delete_moves_the_file_flat_into_the_archive_and_hides_its_links(store, home):
    first = create(store, "The first.", tags=["t"])
    second = create(store, "The second.", tags=["t"])
    assert second.links.follows == second.links.related_to == (first.id,)

    assert store.delete_chunk(first.id) is True

    assert not file_of(home, first).exists()
    assert (home / "archive" / f"{first.id}.json").exists()
    assert store.get_chunk(first.id) is None
    assert store.mem.related(second.id) == []
    shown = store.get_chunk(second.id).links
    assert shown.follows == shown.related_to == ()
    store.mem.reindex()
    graph = json.loads((home / "index/link_graph.json").read_text())
    assert graph["entries"] == {second.id: {"context_of": ["conv-123"], "follows": [], "related_to": [], "supports": [],
                                 "contradicts": []}}


@pytest.mark.clause("chunk-44")
def test_a_soft_deleted_chunk_comes_back_with_its_links(store, home):
    first, second = create(store, "The first.", tags=["t"]), create(store, "The second.", tags=["t"])
    before = file_of(home, first).read_bytes()
    store.delete_chunk(first.id)

    assert store.restore_chunk(first.id).id == first.id

    assert file_of(home, first).read_bytes() == before
    assert [(link["link"], link["id"]) for link in store.mem.related(second.id)] == [
        ("follows", first.id), ("related_to", first.id)]
    assert store.get_chunk(second.id).links.follows == (first.id,)
    assert store.restore_chunk(first.id) is None
    assert store.restore_chunk("chunk-2026-02-10-nothing") is None


@pytest.mark.clause("chunk-31", "chunk-38")
@pytest.mark.parametrize("archived_first", [True, False])
def test_a_permanent_delete_removes_the_file_and_every_link_to_it(store, home, archived_first):
    first, second = create(store, "A secret thing.", tags=["t"]), create(store, "The second.", tags=["t"])
    if archived_first:
        store.delete_chunk(first.id)

    assert store.delete_chunk(first.id, permanent=True) is True

    assert not list(home.rglob(f"{first.id}*"))
    assert first.id not in file_of(home, second).read_text()
    assert store.restore_chunk(first.id) is None
    assert store.delete_chunk(first.id, permanent=True) is False


# Safety


@pytest.mark.clause("chunk-40")
@pytest.mark.parametrize("id", [
    "../x", "chunk-../../etc/passwd", "/etc/passwd", "chunk-a/b", "chunk-\x00", "chunk-", "", "note", "chunk-2026-02-10-äöü",
    "chunk-" + "a" * 500, None, 7])
def test_an_id_that_is_not_on_the_whitelist_never_reaches_the_file_system(store, home, id, caplog):
    (home.parent / "x.json").write_text(json.dumps(EXAMPLE))

    assert store.get_chunk(id) is None
    assert store.update_chunk(id, confidence=0.1) is None
    assert store.delete_chunk(id) is False
    assert store.delete_chunk(id, permanent=True) is False
    assert store.restore_chunk(id) is None
    assert caplog.text.count("is not a chunk id") == 5
    assert (home.parent / "x.json").exists()
    assert not home.exists()


@pytest.mark.clause("chunk-41", "chunk-42")
@pytest.mark.parametrize("broken", [
    "{ not json", "", "[]", "null", '"text"', "\x00", "{}",
    {key: value for key, value in EXAMPLE.items() if key != "content"}, {k: v for k, v in EXAMPLE.items() if k != "links"},
    {k: v for k, v in EXAMPLE.items() if k != "metadata"}, {**EXAMPLE, "tokens": "many"}, {**EXAMPLE, "type": "opinion"},
    {**EXAMPLE, "metadata": {**EXAMPLE["metadata"], "confidence": 7}}, {**EXAMPLE, "metadata": []}, {**EXAMPLE, "links": None},
    {**EXAMPLE, "metadata": {"conversation_id": "c"}}, {**EXAMPLE, "tags": "coding"}, "[" * 100_000])
def test_a_corrupted_file_is_logged_and_none_is_returned(store, home, caplog, broken):
    path = put_file(home, broken)
    before = path.read_bytes()

    with caplog.at_level(logging.WARNING, logger="otolith"):
        assert store.get_chunk(EXAMPLE["id"]) is None

    assert EXAMPLE["id"] in caplog.text
    assert store.list_chunks() == []
    assert path.read_bytes() == before


@pytest.mark.clause("chunk-42")
def test_a_chunk_that_breaks_later_is_none_too_and_the_others_are_listed(store, home):
    good, bad = create(store, "Good."), create(store, "Bad.")
    store.get_chunk(bad.id)
    file_of(home, bad).write_text('{"id": ')

    assert store.get_chunk(bad.id) is None
    assert [chunk.id for chunk in store.list_chunks()] == [good.id]
    assert [finding.path for finding in store.mem.check()] == [f"chunks/2026-02/{bad.id}.json"]
    file_of(home, bad).unlink()
    assert store.get_chunk(bad.id) is None


@pytest.mark.clause("chunk-42")
def test_reading_an_unknown_id_creates_nothing(store, home, caplog):
    assert store.get_chunk("chunk-2026-02-10-abc123") is None

    assert "chunk-2026-02-10-abc123" in caplog.text
    assert not home.exists()


@pytest.mark.clause("chunk-43")
def test_every_operation_is_a_line_of_the_logger(store, caplog):
    with caplog.at_level(logging.INFO, logger="otolith"):
        chunk = create(store)
        store.get_chunk(chunk.id)
        store.update_chunk(chunk.id, confidence=0.5)
        store.list_chunks()
        store.delete_chunk(chunk.id)

    lines = [record.getMessage() for record in caplog.records if record.name == "otolith"]
    assert [line.split()[0] for line in lines] == ["remember", "get", "edited", "list", "forgot"]
    assert all(chunk.id in line for line in lines if not line.startswith("list"))


def test_two_stores_on_one_home_see_each_other(store, home, clock):
    with ChunkStore(home, clock=clock) as other:
        chunk = create(store)
        assert other.get_chunk(chunk.id).id == chunk.id
        other.update_chunk(chunk.id, confidence=0.1)

    assert store.get_chunk(chunk.id).metadata.confidence == 0.1
