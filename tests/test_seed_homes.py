"""Homes of the original systems, laid out as their own documents show them, open in place and unharmed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import Clock, Ran
from otolith.memory import Memory

CHUNK = {
    "id": "chunk-2026-02-10-a1b2c3d4",
    "content": "User decided to use RLM architecture instead of RAG...",
    "tokens": 145,
    "type": "decision",
    "metadata": {
        "created": "2026-02-10T21:37:00Z", "conversation_id": "conv-abc123", "source": "interaction", "confidence": 0.95,
        "access_count": 3, "last_accessed": "2026-02-10T22:15:00Z"},
    "links": {
        "context_of": ["conv-abc123"], "follows": ["chunk-2026-02-10-x9y8z7w6"], "related_to": ["chunk-2026-02-09-p4q5r6s7"],
        "supports": [], "contradicts": []},
    "tags": ["architecture", "rlm", "decision"],
}
SOLUTION = """---
id: a1b2c3d4-e5f6-7890-abcd-ef1234567890
type: solution
title: "Fixed Redis connection timeouts"
tags: [redis, timeout, production, homelab]
importance: 0.8
confidence: 0.8
created: 2025-12-06T16:25:58+00:00
updated: 2025-12-06T16:25:58+00:00
relations:
  - target: def789ab-e5f6-7890-abcd-ef1234567890
    type: SOLVES
    direction: outgoing
    strength: 0.8
    context: "Keepalive prevents idle disconnections"
---

Added socket_keepalive=True and socket_timeout=300 to Redis connection configuration.
"""
PROBLEM = """---
id: def789ab-e5f6-7890-abcd-ef1234567890
type: problem
title: "Redis connection drops under load"
importance: 0.6
created: 2025-12-05T09:00:00+00:00
updated: 2025-12-05T09:00:00+00:00
---

Idle connections are cut after a while.
"""
PROCEDURE = """---
id: a1b2c3d4-0000-4000-8000-ef1234567890
type: procedure
title: "Deploy Major Domo to production"
tags: [major-domo, deploy, docker]
importance: 0.8
confidence: 0.8
steps:
  - "Run tests"
  - "Build docker image"
  - "Push to registry"
  - "Deploy to LXC"
preconditions:
  - "All tests pass"
  - "On main branch"
postconditions:
  - "Service healthy"
  - "Discord bot online"
created: 2026-02-13T12:00:00+00:00
updated: 2026-02-13T12:00:00+00:00
---

Standard deploy workflow for the Major Domo Discord bot.
"""
EDGE = """---
id: 11112222-e5f6-7890-abcd-ef1234567890
type: SOLVES
from_id: a1b2c3d4-e5f6-7890-abcd-ef1234567890
from_title: "Fixed Redis connection timeouts"
to_id: def789ab-e5f6-7890-abcd-ef1234567890
to_title: "Redis connection drops under load"
strength: 0.8
created: 2025-12-06T16:26:00+00:00
updated: 2025-12-06T16:26:00+00:00
---

The keepalive fix directly resolves the idle disconnection problem because...
"""
EPISODES = """# 2025-12-13

## 10:30 - Fixed Discord bot reconnection
- **Type:** fix
- **Tags:** major-domo, discord, python
- **Memory:** [discord-bot-reconnection](../graph/fixes/discord-bot-reconnection-a1b2c3.md)
- **Summary:** Implemented exponential backoff for reconnections

## 11:15 - Chose websocket over polling
- **Type:** decision
- **Tags:** major-domo, architecture
- **Memory:** [websocket-over-polling](../graph/decisions/websocket-over-polling-d4e5f6.md)
- **Summary:** WebSocket provides lower latency for real-time game state updates
"""
FACT = {"subject": "User", "relation": "is building", "object": "a startup", "type": "commitment", "time_span": "current",
        "confidence": 0.9, "user_fact_score": 8, "entry_id": "2026-01-05_001", "entry_ts": "2026-01-05T10:00:00"}


def chunk_home() -> dict[str, str]:
    follower = {**CHUNK, "id": "chunk-2026-02-10-x9y8z7w6", "tags": [], "content": "Grüße aus 東京 🗼",
                "extra_key": {"kept": True}}
    forgotten = {**CHUNK, "id": "chunk-2026-02-09-p4q5r6s7", "content": "An old thought."}
    one_line = {key: value for key, value in CHUNK.items() if key != "tags"} | {"id": "chunk-2026-01-31-00000000"}
    return {
        "chunks/2026-02/chunk-2026-02-10-a1b2c3d4.json": json.dumps(CHUNK, indent=2),
        "chunks/2026-02/chunk-2026-02-10-x9y8z7w6.json": json.dumps(follower, indent=2, ensure_ascii=False) + "\n",
        "chunks/2026-01/chunk-2026-01-31-00000000.json": json.dumps(one_line),
        "archive/chunk-2026-02-09-p4q5r6s7.json": json.dumps(forgotten, indent=2),
        "index/metadata_index.json": "{}", "index/tag_index.json": "{}", "index/link_graph.json": "{}",
    }


def dialog_home() -> dict[str, str]:
    state = {"summary": "Building.", "bounds": [], "open_questions": ["Which market?"], "next_actions": ["Call Ann"]}
    topic = {"schema": "topic_memory.v1", "topic": "startup", "state": state, "facts": [FACT]}
    summary = {"schema": "entry_summary.v1", "summary": "A startup is being built.", "facts": [FACT]}
    page = {"schema": "global_memory.v1", "active_topics": [{"topic": "startup", "summary": "Building."}], "do_not_forget": [
        {"tier": "core", "type": "commitment", "facts": [FACT]}]}
    return {
        "topics/startup/2026-01-05_001/raw.md": "User: I am building a startup.\n\nAssistant: Which market?\n",
        "topics/startup/2026-01-05_001/meta.json": json.dumps({"schema": "entry_meta.v1", "entry_id": "2026-01-05_001",
                                                               "entry_ts": "2026-01-05T10:00:00", "topic": "startup"}),
        "topics/startup/2026-01-05_001/summary.json": json.dumps(summary, indent=4),
        "topics/startup/topic_memory.json": json.dumps(topic), "topics/startup/topic_memory.md": "# startup\n",
        "GLOBAL_MEMORY.json": json.dumps(page), "GLOBAL_MEMORY.md": "# Global\n",
        "index/audit.log": '2026-01-05 10:00:00 write startup\n{"ts": "2026-01-05T10:00:00Z", "event": "write"}\n',
    }


def graph_home() -> dict[str, str]:
    return {
        "graph/solutions/fixed-redis-connection-timeouts-a1b2c3.md": SOLUTION,
        "graph/problems/redis-connection-drops-under-load-def789.md": PROBLEM.replace("\n", "\r\n"),
        "graph/procedures/deploy-major-domo-to-production-a1b2c3.md": PROCEDURE,
        "graph/edges/fixed-redis-connection-timeouts--SOLVES--redis-connection-drops-under-load-111122.md": EDGE,
        "vault/always-there-a1b2c3.md": "\ufeff" + SOLUTION.replace("a1b2c3d4-e5f6", "99992222-e5f6").replace(
            "importance: 0.8", "importance: 0.8  # mine\nmood: sunny"),
        "episodes/2025-12-13.md": EPISODES,
        "CORE.md": "# Memory Core (auto-generated)\n", "REFLECTION.md": "# Reflection Summary (auto-generated)\n",
        "_index.json": '{"version": 2, "updated": "2025-12-13T10:30:00+00:00", "count": 0, "edges": {}, "entries": {}}',
        "_state.json": json.dumps({"version": 1, "updated": "2025-12-13T10:30:00+00:00", "entries": {
            "a1b2c3d4-e5f6-7890-abcd-ef1234567890": {"access_count": 5, "last_accessed": "2025-12-13T10:15:00+00:00",
                                                     "decay_score": 0.75}}}),
        "_embeddings.json": json.dumps({"model": "nomic-embed-text", "updated": "2026-02-13T12:00:00+00:00", "entries": {}}),
        "_config.json": json.dumps({"embedding_provider": "ollama", "openai_api_key": None, "ollama_model": "nomic-embed-text",
                                    "openai_model": "text-embedding-3-small"}, indent=2),
        ".gitignore": "_state.json\n_index.json\n_embeddings.json\n_config.json\n",
    }


HOMES = {"chunks": chunk_home, "dialog": dialog_home, "graph": graph_home}
DERIVED = ("index/metadata_index.json", "index/tag_index.json", "index/link_graph.json", "_index.json")


@pytest.fixture(params=sorted(HOMES))
def files(request: pytest.FixtureRequest) -> dict[str, str]:
    return HOMES[request.param]()


@pytest.fixture
def lay(home: Path) -> Callable[[dict[str, str]], None]:
    def write(files: dict[str, str]) -> None:
        for path, text in files.items():
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_bytes(text.encode())
        for path in home.rglob("*"):
            os.utime(path, (1_760_000_000, 1_760_000_000))

    return write


@pytest.fixture
def opened(home: Path, clock: Clock) -> Iterator[Callable[[], Memory]]:
    held: list[Memory] = []

    def call() -> Memory:
        held.append(Memory(home, clock=clock))
        return held[-1]

    yield call
    for memory in held:
        memory.close()


def stamps(home: Path) -> dict[str, tuple[bytes, int, int]]:
    return {path.relative_to(home).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode)
            for path in home.rglob("*") if path.is_file() and path.relative_to(home).parts[0] not in ("log", ".lock")}


def test_opening_reading_and_listing_leave_every_file_as_it_was(
        files: dict[str, str], lay: Callable[..., None], opened: Callable[[], Memory], home: Path) -> None:
    lay(files)
    before = stamps(home)

    mem = opened()
    items, total = mem.list(limit=None)
    for item in items:
        mem.get(item["id"], "complete")
        mem.related(item["id"], 2)
    mem.recall("redis startup architecture deploy")
    mem.tags()
    mem.stats()
    mem.check()
    mem.sync()

    assert total == len(items) > 2
    assert stamps(home) == before


def test_reindexing_writes_its_exports_and_leaves_every_record_as_it_was(
        files: dict[str, str], lay: Callable[..., None], run: Callable[..., Ran], home: Path) -> None:
    lay(files)
    before = stamps(home)

    assert run("reindex").code == 0

    after = stamps(home)
    assert {path: after[path] for path in before if path not in DERIVED} == {
        path: before[path] for path in before if path not in DERIVED}
    assert set(after) - set(before) <= {*DERIVED, "index/audit.log"}


def test_a_home_of_the_originals_has_nothing_wrong_with_it(
        files: dict[str, str], lay: Callable[..., None], opened: Callable[[], Memory]) -> None:
    lay(files)

    found = {(finding.path, finding.code) for finding in opened().check() if finding.code not in ("schema", "unmirrored-edge")}

    assert found <= {("index/audit.log", "line")}  # the original wrote its log as it liked


@pytest.mark.clause("chunk-02", "chunk-22", "chunk-26", "chunk-44")
def test_the_chunk_documents_example_is_read_with_every_value_intact(
        lay: Callable[..., None], opened: Callable[[], Memory]) -> None:
    lay(chunk_home())
    mem = opened()

    shown = mem.get(CHUNK["id"]).record.to_dict()
    assert shown == {**CHUNK, "links": {**CHUNK["links"], "related_to": []}}  # the one it names lies in the archive
    assert mem.get("chunk-2026-02-10-x9y8z7w6").text == "Grüße aus 東京 🗼"
    assert mem.restore("chunk-2026-02-09-p4q5r6s7").content == "An old thought."
    assert mem.get("chunk-2026-02-09-p4q5r6s7").path == "chunks/2026-02/chunk-2026-02-09-p4q5r6s7.json"
    assert mem.get(CHUNK["id"]).record.to_dict() == CHUNK


@pytest.mark.clause("notes-05", "notes-06", "notes-86")
@pytest.mark.parametrize("text", [text for path, text in graph_home().items() if path.startswith("graph/")])
def test_the_notes_documents_examples_are_read_with_every_value_intact_and_written_in_the_same_form(
        lay: Callable[..., None], opened: Callable[[], Memory], text: str) -> None:
    from otolith.files import codec, front

    lay(graph_home())
    mem = opened()
    taken = front.split(text)
    assert taken is not None
    said = front.parse(taken.yaml)
    record = mem.get(said["id"]).record
    shown = codec.public(record)

    assert {key: shown[key] for key in said} == said
    assert record.text == taken.body.strip("\r\n")
    assert shown.keys() - said.keys() <= {"tags", "confidence", "text", "pinned"}
    if "\r" not in text:
        assert codec.encode(record).decode() == text


def test_the_dialog_documents_examples_are_read_with_every_value_intact(
        lay: Callable[..., None], opened: Callable[[], Memory]) -> None:
    lay(dialog_home())
    mem = opened()
    entry = mem.get("2026-01-05_001").record

    assert [(turn.role, turn.text) for turn in entry.turns] == [
        ("user", "I am building a startup."), ("assistant", "Which market?")]
    assert entry.summary.summary == "A startup is being built."
    assert {key: value for key, value in entry.facts[0].to_dict().items() if key in FACT} == FACT
    topic = mem.get("topic:startup").record
    assert (topic.state.summary, list(topic.state.open_questions), list(topic.state.next_actions)) == (
        "Building.", ["Which market?"], ["Call Ann"])
    assert mem.get("global").record.to_dict()["do_not_forget"][0]["facts"] == [FACT]


def test_the_diarys_examples_are_found(lay: Callable[..., None], opened: Callable[[], Memory]) -> None:
    lay(graph_home())

    block = opened().diary("2025-12-13")[1]

    assert (block["id"], block["title"], block["type"], block["tags"]) == (
        "episode:2025-12-13#1115-7012b0", "Chose websocket over polling", "decision", ["major-domo", "architecture"])


@pytest.mark.clause("notes-40")
def test_the_counts_of_a_state_file_that_came_along_are_taken_in_once(
        lay: Callable[..., None], opened: Callable[[], Memory]) -> None:
    lay(graph_home())
    mem, note = opened(), "a1b2c3d4-e5f6-7890-abcd-ef1234567890"

    mem.get(note)
    mem.get(note)
    mem.home.fold_usage()

    row = mem.home.index.cards.find(note)
    assert row is not None
    assert mem.home.index.cards.usage_of(row).count == 7


def test_an_edit_changes_only_what_was_meant(lay: Callable[..., None], opened: Callable[[], Memory], home: Path) -> None:
    lay(graph_home())
    path = home / "vault/always-there-a1b2c3.md"
    before = path.read_bytes().decode().splitlines()

    opened().edit("99992222-e5f6-7890-abcd-ef1234567890", confidence=0.9)

    after = path.read_bytes().decode().splitlines()
    assert [(a, b) for a, b in zip(before, after, strict=True) if a != b] == [
        ("confidence: 0.8", "confidence: 0.9"),
        ("updated: 2025-12-06T16:25:58+00:00", "updated: 2026-02-10T21:37:00+00:00")]


def test_a_line_by_line_file_keeps_its_line_ends(lay: Callable[..., None], opened: Callable[[], Memory], home: Path) -> None:
    lay(graph_home())

    opened().edit("def789ab-e5f6-7890-abcd-ef1234567890", importance=0.7, text="One.\nTwo.")

    text = (home / "graph/problems/redis-connection-drops-under-load-def789.md").read_bytes()
    assert text.count(b"\r\n") == text.count(b"\n")
    assert text.endswith(b"---\r\n\r\nOne.\r\nTwo.\r\n")



def test_unknown_keys_and_their_order_survive_an_edit(
        lay: Callable[..., None], opened: Callable[[], Memory], home: Path) -> None:
    lay(chunk_home())

    opened().edit("chunk-2026-02-10-x9y8z7w6", confidence=0.5)

    kept = json.loads((home / "chunks/2026-02/chunk-2026-02-10-x9y8z7w6.json").read_text())
    assert list(kept) == [*CHUNK, "extra_key"]
    assert kept["extra_key"] == {"kept": True}
    assert kept["metadata"] == {**CHUNK["metadata"], "confidence": 0.5}
