"""Foreign formats become neutral items; what is broken in them becomes findings; what is hostile is refused."""

from __future__ import annotations

import json
import os
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pytest

from otolith.derive.protocol import MemoCandidate, render_candidates
from otolith.doors.exchange import coding_sessions, detect, read
from otolith.doors.exchange.bundle import end_of_lines
from otolith.doors.exchange.items import (
    ChunkItem,
    Dialog,
    FileItem,
    LadderItem,
    LinkItem,
    NoteItem,
    SourceFinding,
    WorkItem,
)
from otolith.doors.exchange.jsontext import each_line
from otolith.doors.exchange.zipped import open_bundle
from otolith.errors import Invalid, NotFound, WrongUsage
from otolith.model.text import fence


def of(kind: type, found: list[Any]) -> list[Any]:
    return [one for one in found if isinstance(one, kind)]


def zip_of(path: Path, files: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content if isinstance(content, str | bytes) else json.dumps(content))
    return path


def lines_of(path: Path, lines: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def node(name: str, parent: str | None, children: list[str], message: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"id": name, "parent": parent, "children": children, "message": message}


def said(name: str, role: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "id": name, "author": {"role": role}, "create_time": 1770000000.5,
        "content": {"content_type": "text", "parts": [text]}, "recipient": "all", "metadata": {}, **more,
    }  # fmt: skip


def tree(identity: str = "c-1", title: str | None = "Tea") -> dict[str, Any]:
    """A conversation in which the first answer was regenerated; a2 is the one that stayed."""
    return {
        "conversation_id": identity, "title": title, "create_time": 1770000000.0, "current_node": "a2",
        "mapping": {
            "root": node("root", None, ["sys"]),
            "sys": node("sys", "root", ["u1"], said("sys", "system", "You are helpful")),
            "u1": node("u1", "sys", ["a1", "t1"], said("u1", "user", "How long does green tea steep?")),
            "a1": node("a1", "u1", [], said("a1", "assistant", "Ten minutes.")),
            "t1": node("t1", "u1", ["a2"], {"id": "t1", "author": {"role": "assistant"}, "recipient": "all",
                                            "content": {"content_type": "thoughts", "thoughts": []}}),
            "a2": node("a2", "t1", [], said("a2", "assistant", "Three minutes.")),
        },
    }  # fmt: skip


def chat(identity: str = "cl-1") -> dict[str, Any]:
    return {
        "uuid": identity, "name": "Postgres", "created_at": "2026-02-14T10:04:22.000Z",
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "Which database?", "created_at": "2026-02-14T10:04:22Z",
             "content": [{"type": "text", "text": "Which database?"}],
             "attachments": [{"file_name": "load.txt", "extracted_content": "900 writes a second"}]},
            {"uuid": "m2", "sender": "assistant", "text": "", "created_at": "2026-02-14T10:05:00Z",
             "content": [{"type": "thinking", "thinking": "hm"}, {"type": "tool_use", "name": "search"},
                         {"type": "text", "text": "Postgres."}]},
        ],
    }  # fmt: skip


# ChatGPT


def test_a_chatgpt_export_gives_the_path_the_person_last_saw(tmp_path: Path) -> None:
    export = zip_of(tmp_path / "x.zip", {"conversations.json": [tree()], "chat.html": "<html>", "user.json": {}})

    (dialog,) = read(export)

    assert detect(export) == "chatgpt"
    assert [(turn.role, turn.text) for turn in dialog.turns] == [
        ("user", "How long does green tea steep?"),
        ("assistant", "Three minutes."),
    ]
    assert (dialog.key, dialog.title, dialog.created) == ("chatgpt:c-1", "Tea", "2026-02-02T02:40:00Z")


def test_a_split_chatgpt_export_is_read_whole_and_in_order(tmp_path: Path) -> None:
    export = zip_of(
        tmp_path / "x.zip",
        {
            "conversations-001.json": [tree("c-3", None)],
            "conversations-000.json": [tree("c-1"), tree("c-2")],
            "export_manifest.json": {},
        },
    )

    dialogs = list(read(export))

    assert [dialog.key for dialog in dialogs] == ["chatgpt:c-1", "chatgpt:c-2", "chatgpt:c-3"]
    assert dialogs[2].title == "Untitled"


def test_an_unpacked_export_and_a_bare_conversations_file_read_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "conversations.json").write_text(json.dumps([tree()]))
    (folder / "chat.html").write_text("<html>")

    assert list(read(folder)) == list(read(folder / "conversations.json"))


def test_a_missing_current_node_falls_back_to_the_newest_leaf_and_a_cycle_ends(tmp_path: Path) -> None:
    lost = tree() | {"current_node": "gone"}
    lost["mapping"]["a2"]["message"]["create_time"] = 1770000999
    lost["mapping"]["u1"]["parent"] = "a2"  # a circle
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([lost]))

    (dialog,) = read(path)

    assert dialog.turns[-1].text == "Three minutes."


def test_a_broken_conversation_is_a_finding_and_the_others_are_read(tmp_path: Path) -> None:
    export = zip_of(tmp_path / "x.zip", {"conversations.json": [tree(), {"mapping": 7}, tree("c-2")]})

    found = list(read(export))

    assert [dialog.key for dialog in of(Dialog, found)] == ["chatgpt:c-1", "chatgpt:c-2"]
    assert "conversation 2" in of(SourceFinding, found)[0].message


def test_an_export_that_ends_in_the_middle_keeps_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([tree(), tree("c-2")])[:-200])

    found = list(read(path))

    assert [dialog.key for dialog in of(Dialog, found)] == ["chatgpt:c-1"]
    assert len(of(SourceFinding, found)) == 1


def test_half_a_surrogate_pair_is_replaced_so_that_the_text_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([tree()]).replace("Three minutes.", "Three \\ud83d minutes."))

    (dialog,) = read(path)

    assert dialog.turns[-1].text.encode() == "Three \ufffd minutes.".encode()


# Claude.ai


def test_a_claude_export_gives_words_and_attachments_but_no_thoughts(tmp_path: Path) -> None:
    export = zip_of(tmp_path / "x.zip", {"conversations.json": [chat()], "users.json": []})

    (dialog,) = read(export)

    assert detect(export) == "claude"
    assert dialog.turns[0].text == "Which database?\n\n[attached: load.txt]\n900 writes a second"
    assert dialog.turns[1].text == "Postgres."
    assert (dialog.key, dialog.created) == ("claude:cl-1", "2026-02-14T10:04:22Z")


def test_a_claude_export_with_branches_follows_the_current_leaf(tmp_path: Path) -> None:
    forked = chat() | {"current_leaf_message_uuid": "m3"}
    forked["chat_messages"][1]["parent_message_uuid"] = "m1"
    forked["chat_messages"].append({"uuid": "m3", "sender": "assistant", "text": "SQLite.", "parent_message_uuid": "m1"})
    path = tmp_path / "conversations.jsonl"
    lines_of(path, [forked])

    (dialog,) = read(path)

    assert [turn.key for turn in dialog.turns] == ["m1", "m3"]


def test_claudes_memories_and_project_documents_become_notes(tmp_path: Path) -> None:
    export = zip_of(
        tmp_path / "x.zip",
        {
            "conversations.json": [chat()],
            "memories.json": [{"conversations_memory": "Likes tea.", "project_memories": {"p-1": "Ships on Friday."}}],
            "projects.json": [{"uuid": "p-1", "name": "Shop", "prompt_template": "Be terse.",
                               "docs": [{"uuid": "d-1", "filename": "plan.md", "content": "Step one."}]}],
        },
    )  # fmt: skip

    notes = of(NoteItem, list(read(export)))

    assert [note.text for note in notes] == ["Likes tea.", "Ships on Friday.", "Be terse.", "Step one."]
    assert len({note.key for note in notes}) == 4


@pytest.mark.parametrize(("asked", "content"), [("chatgpt", [chat()]), ("claude", [tree()])])
def test_another_vendors_export_is_refused_and_named(tmp_path: Path, asked: str, content: list[Any]) -> None:
    export = zip_of(tmp_path / "x.zip", {"conversations.json": content, "users.json": []})

    with pytest.raises(Invalid, match="but a") as refused:
        read(export, asked)

    assert "\n" not in str(refused.value)


# Zips


@pytest.mark.parametrize("name", ["../evil.json", "/etc/evil.json", "a/../../evil.json", "C:\\evil.json", "a\\..\\evil"])
def test_a_zip_whose_names_lead_out_of_it_is_refused_whole(tmp_path: Path, name: str) -> None:
    export = zip_of(tmp_path / "x.zip", {"conversations.json": [tree()], name: "x"})

    with pytest.raises(Invalid, match="leads out"):
        read(export)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    export = zip_of(tmp_path / "x.zip", {"conversations.json": b" " * (40 << 20)})

    with pytest.raises(Invalid, match="out of almost nothing"):
        detect(export)


def test_a_zip_with_too_many_entries_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("otolith.doors.exchange.zipped.MAX_ENTRIES", 3)
    export = zip_of(tmp_path / "x.zip", {f"{number}.txt": "x" for number in range(4)})

    with pytest.raises(Invalid, match="more than 3 files"):
        detect(export)


def test_a_zip_with_a_link_in_it_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        link = zipfile.ZipInfo("conversations.json")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")

    with pytest.raises(Invalid, match="link"):
        detect(path)


def test_a_torn_zip_and_a_zip_with_a_flipped_byte_are_refused_in_one_line(tmp_path: Path) -> None:
    whole = zip_of(tmp_path / "x.zip", {"conversations.json": [tree()]}).read_bytes()
    torn, flipped = tmp_path / "torn.zip", tmp_path / "flipped.zip"
    torn.write_bytes(whole[: len(whole) // 2])
    flipped.write_bytes(whole[:60] + bytes([whole[60] ^ 0xFF]) + whole[61:])

    for path in (torn, flipped):
        with pytest.raises(Invalid) as refused:
            list(read(path))
        assert "\n" not in str(refused.value)


# Transcripts


def typed(uuid: str, text: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "uuid": uuid, "parentUuid": None, "sessionId": "s-1", "cwd": "/home/me/src/app",
            "timestamp": "2026-10-01T08:00:00.123Z", "message": {"role": "user", "content": text}, **more}  # fmt: skip


def answered(uuid: str, message: str, block: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "assistant", "uuid": uuid, "parentUuid": "u1", "sessionId": "s-1",
            "timestamp": "2026-10-01T08:00:05Z",
            "message": {"id": message, "role": "assistant", "content": [block]}, **more}  # fmt: skip


RECALLED = fence("The login failed in May, too.", "0f1e2d3c4b5a69788796a5b4", "note a1b2")


def session() -> list[dict[str, Any]]:
    return [
        {"type": "file-history-snapshot", "messageId": "x"},
        typed("u0", "Caveat: ...", isMeta=True),
        typed("u00", "<command-name>/clear</command-name>"),
        typed("u1", "Why does the login fail? <system-reminder>be good</system-reminder>" + RECALLED),
        answered("a1", "msg_1", {"type": "thinking", "thinking": "hm"}),
        answered("a2", "msg_1", {"type": "text", "text": "I will look."}),
        answered("a3", "msg_1", {"type": "tool_use", "id": "t", "name": "Read", "input": {}}),
        typed("u2", [{"type": "tool_result", "tool_use_id": "t", "content": "def login(): ..."}]),
        answered("a4", "msg_2", {"type": "text", "text": "The token has expired."}),
        answered("a5", "msg_2", {"type": "text", "text": "I renewed it."}),
        answered("b1", "msg_3", {"type": "text", "text": "sub-agent talk"}, isSidechain=True),
        {"type": "ai-title", "aiTitle": "Login failure", "sessionId": "s-1"},
    ]


def test_a_claude_code_transcript_gives_what_was_typed_and_answered(tmp_path: Path) -> None:
    path = lines_of(tmp_path / "s-1.jsonl", session())

    (dialog,) = read(path)

    assert detect(path) == "claude-code"
    assert [(turn.role, turn.text) for turn in dialog.turns] == [
        ("user", "Why does the login fail?"),
        ("assistant", "I will look."),
        ("assistant", "The token has expired.\n\nI renewed it."),
    ]
    assert (dialog.title, dialog.project, dialog.session) == ("Login failure", "app", "s-1")


def test_a_transcript_still_being_written_is_read_up_to_its_last_whole_line(tmp_path: Path) -> None:
    path = lines_of(tmp_path / "s-1.jsonl", session())
    with path.open("a") as growing:
        growing.write('{"type": "user", "uuid": "u9", "mess')

    found = list(read(path))

    assert of(SourceFinding, found) == []
    assert len(found[0].turns) == 3


def test_a_broken_line_in_the_middle_is_a_finding_with_its_number(tmp_path: Path) -> None:
    path = lines_of(tmp_path / "s-1.jsonl", session())
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:5], "{broken", *lines[5:]]) + "\n")

    found = list(read(path))

    assert [(one.line, one.where) for one in of(SourceFinding, found)] == [(6, "s-1.jsonl")]
    assert len(of(Dialog, found)[0].turns) == 3


def test_a_grown_transcript_keeps_the_keys_of_its_earlier_turns(tmp_path: Path) -> None:
    path = lines_of(tmp_path / "s-1.jsonl", session())
    (before,) = read(path)
    lines_of(path, [*session(), typed("u3", "Thanks.")])

    (after,) = read(path)

    assert after.key == before.key
    assert [turn.key for turn in after.turns] == [*(turn.key for turn in before.turns), "u3"]


def test_only_the_new_end_of_a_grown_transcript_need_be_read(tmp_path: Path) -> None:
    path = lines_of(tmp_path / "s-1.jsonl", session())
    seen = end_of_lines(path)
    with path.open("a") as growing:
        growing.write(json.dumps(typed("u3", "Thanks.")) + '\n{"type": "us')

    reader = coding_sessions.CLAUDE_CODE.reader()
    for _, at, line in each_line(open_bundle(path), path.name, seen):
        reader.take(line, at)

    assert [event.key for event in reader.session().events] == ["u3"]
    assert end_of_lines(path) == path.stat().st_size - len('{"type": "us')
    assert end_of_lines(lines_of(tmp_path / "empty.jsonl", [])) == 0


def test_a_folder_of_transcripts_gives_a_dialog_each(tmp_path: Path) -> None:
    lines_of(tmp_path / "projects/-a/s-1.jsonl", session())
    lines_of(tmp_path / "projects/-b/s-2.jsonl", [line | {"sessionId": "s-2"} for line in session()])

    assert [dialog.key for dialog in read(tmp_path / "projects")] == ["claude-code:s-1", "claude-code:s-2"]


def rollout(*events: dict[str, Any]) -> list[dict[str, Any]]:
    meta = {"id": "r-1", "cwd": "/home/me/src/app", "timestamp": "2026-09-01T10:00:00Z"}
    lines = [
        ("session_meta", meta),
        *((("event_msg" if "content" not in event else "response_item"), event) for event in events),
    ]
    return [{"timestamp": "2026-09-01T10:00:01Z", "type": kind, "payload": payload} for kind, payload in lines]


INJECTED = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>x"}]}
SENT = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix the build"}]}
REPLIED = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}


@pytest.mark.parametrize(
    "events",
    [
        [INJECTED, SENT, {"type": "user_message", "message": "Fix the build"}, REPLIED,
         {"type": "agent_message", "message": "Done."}],
        [
            {"type": "item_completed", "item": {"type": "UserMessage", "content": [{"type": "text", "text": "Fix the build"}]}},
            {"type": "item_completed", "item": {"type": "CommandExecution", "command": "make"}},
            {"type": "item_completed", "item": {"type": "AgentMessage", "content": [{"type": "Text", "text": "Done."}]}},
        ],
        [INJECTED, SENT, REPLIED],
        [{"type": "user_message", "message": "# Context\n## My request for Codex:\nFix the build"}, REPLIED],
    ],
    ids=["events beside items", "completed items", "items only", "request below context"],
)  # fmt: skip
def test_every_spelling_of_a_codex_rollout_gives_the_same_turns(tmp_path: Path, events: list[dict[str, Any]]) -> None:
    path = lines_of(tmp_path / "rollout-2026-09-01T10-00-00-r-1.jsonl", rollout(*events))

    (dialog,) = read(path)

    assert detect(path) == "codex"
    assert [(turn.role, turn.text) for turn in dialog.turns] == [("user", "Fix the build"), ("assistant", "Done.")]
    assert (dialog.key, dialog.project, dialog.created) == ("codex:r-1", "app", "2026-09-01T10:00:00Z")


def test_the_oldest_rollouts_without_envelopes_are_read(tmp_path: Path) -> None:
    first = {"id": "r-0", "timestamp": "2025-06-01T10:00:00Z", "instructions": None}
    path = lines_of(tmp_path / "rollout.jsonl", [first, INJECTED, SENT, REPLIED])

    (dialog,) = read(path)

    assert [turn.text for turn in dialog.turns] == ["Fix the build", "Done."]


def test_a_compressed_rollout_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd rest")

    with pytest.raises(Invalid, match="zstd; unpack it first"):
        detect(path)


# Markdown


def vault(root: Path) -> Path:
    (root / ".obsidian").mkdir(parents=True)
    (root / ".trash").mkdir()
    (root / ".trash/old.md").write_text("gone")
    (root / "brew").mkdir()
    (root / "Tea.md").write_text(
        "---\ntitle: Green tea\ntags: [drink, '#hot']\naliases: [cha]\ncreated: 2026-01-05\n---\n"
        "Steep with [[brew/Water|soft water]], see [[Nowhere]].\n\n```\n[[Kettle]] #notatag\n```\nA #favourite.\n"
    )
    (root / "brew/Water.md").write_text("Soft is best for [[cha]] and `[[Kettle]]`.\n")
    (root / "Kettle.md").write_text("---\nbroken: [\n---\nBoils.\n")
    return root


def test_an_obsidian_vault_gives_notes_tags_and_resolved_links(tmp_path: Path) -> None:
    root = vault(tmp_path / "kitchen")

    found = list(read(root))

    assert detect(root) == "obsidian"
    tea = next(note for note in of(NoteItem, found) if note.key == "obsidian:kitchen/Tea.md")
    assert (tea.title, tea.tags, tea.created) == ("Green tea", ("drink", "hot", "favourite"), "2026-01-05T00:00:00Z")
    assert {(link.start, link.end) for link in of(LinkItem, found)} == {
        ("obsidian:kitchen/Tea.md", "obsidian:kitchen/brew/Water.md"),
        ("obsidian:kitchen/brew/Water.md", "obsidian:kitchen/Tea.md"),
    }
    assert not any("old" in note.key for note in of(NoteItem, found))


def test_front_matter_that_cannot_be_read_is_a_finding_and_the_text_stays(tmp_path: Path) -> None:
    found = list(read(vault(tmp_path / "kitchen")))

    assert [(one.where, one.line) for one in of(SourceFinding, found)] == [("Kettle.md", 1)]
    assert any("Boils." in note.text and "broken: [" in note.text for note in of(NoteItem, found))


def test_links_that_lead_out_of_a_vault_are_not_followed(tmp_path: Path) -> None:
    root = vault(tmp_path / "kitchen")
    (tmp_path / "secret.md").write_text("outside")
    (root / "link.md").symlink_to(tmp_path / "secret.md")
    (root / "folder").symlink_to(tmp_path)

    assert not any("outside" in note.text for note in of(NoteItem, list(read(root))))


def test_a_memory_folder_gives_its_files_but_not_a_mere_index(tmp_path: Path) -> None:
    folder = tmp_path / "-home-me-app" / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Memory\n\n- [Tests](tests.md) — how to run them\n- [Style](style.md)\n")
    (folder / "tests.md").write_text(
        "---\nname: run-the-tests\ndescription: How\nmetadata:\n  type: project\n---\nUse make check, see [[style]].\n"
    )
    (folder / "style.md").write_text("# Style\nShort lines.\n")

    found = list(read(folder))

    assert detect(folder) == "claude-memory"
    assert [(note.title, note.tags) for note in of(NoteItem, found)] == [
        ("Style", ("claude-memory",)),
        ("run-the-tests", ("claude-memory", "project")),
    ]
    assert [link.end for link in of(LinkItem, found)] == ["claude-memory:-home-me-app/style.md"]


def test_a_memory_file_with_content_of_its_own_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("# Memory\n- The user prefers tabs.\n")

    (note,) = read(tmp_path / "MEMORY.md")

    assert "tabs" in note.text


# Other memories


@pytest.mark.parametrize(
    "wrap", [lambda rows: rows, lambda rows: {"results": rows, "relations": []}, lambda rows: {"memories": rows}]
)
def test_a_mem0_export_gives_chunks(tmp_path: Path, wrap: Any) -> None:
    rows = [{"id": "m-1", "memory": "Dev works at TechCorp", "user_id": "dev", "categories": ["work"],
             "metadata": {"type": "professional"}, "created_at": "2026-03-01T01:02:03-07:00"}]  # fmt: skip
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps(wrap(rows), indent=2))

    (chunk,) = read(path)

    assert detect(path) == "mem0"
    assert isinstance(chunk, ChunkItem)
    assert (chunk.key, chunk.tags, chunk.created) == ("mem0:m-1", ("work", "professional"), "2026-03-01T08:02:03Z")


def test_mem0_relations_and_empty_memories_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    rows = [{"id": "m-1", "memory": "ok"}, {"id": "m-2", "memory": " "}]
    path.write_text(json.dumps({"results": rows, "relations": [{"source": "a", "relationship": "knows", "target": "b"}]}))

    found = list(read(path))

    assert len(of(ChunkItem, found)) == 1
    assert len(of(SourceFinding, found)) == 2


def test_the_reference_servers_file_gives_notes_and_links(tmp_path: Path) -> None:
    path = lines_of(
        tmp_path / "memory.jsonl",
        [
            {"type": "relation", "from": "Ann", "to": "Acme", "relationType": "works at"},
            {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["Speaks Welsh", "Likes tea"]},
            {"type": "entity", "name": "Acme", "entityType": "company", "observations": []},
            {"type": "relation", "from": "Ann", "to": "Nobody", "relationType": "requires"},
        ],
    )

    found = list(read(path))

    assert detect(path) == "mcp-memory"
    assert [(note.title, note.text, note.tags) for note in of(NoteItem, found)] == [
        ("Ann", "- Speaks Welsh\n- Likes tea", ("person",)),
        ("Acme", "Acme", ("company",)),
    ]
    assert [(link.start, link.type, link.end, link.context) for link in of(LinkItem, found)] == [
        ("mcp-memory:Ann", "RELATED_TO", "mcp-memory:Acme", "works at")
    ]
    assert [one.line for one in of(SourceFinding, found)] == [4]


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("rlm-mem", ["brain/memory/chunks/2026-02/chunk-2026-02-10-a1b2c3d4.json", "brain/memory/allmemories/x_y_z.md",
                     "brain/memory/archive/chunk-2026-02-01-00000000.json"]),
        ("local-memory", ["data/topics/startup/entry_1/raw.md", "data/topics/startup/entry_1/summary.json"]),
        ("cognitive-memory", ["graph/solutions/fixed-redis-a1b2c3.md", "vault/kept-b1b2c3.md", "episodes/2026-02-10.md"]),
        ("otolith", ["work/2026-02/mem_1.json", "allmemories/x_y_z.md", "memories/a/b.md", "links.jsonl"]),
    ],
)  # fmt: skip
def test_homes_are_known_by_their_layout_and_only_written_files_are_taken(tmp_path: Path, name: str, files: list[str]) -> None:
    built = ["GLOBAL_MEMORY.json", "_index.json", "index/tag_index.json", "README.md", "src/main.py"]
    root = files[0].partition("topics/" if "topics/" in files[0] else "chunks/")[0] if name != "otolith" else ""
    root = root if root != files[0] else ""
    for file in [*files, *(root + one for one in built)]:
        (tmp_path / "home" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "home" / file).write_text(f"content of {file}")
    if name in ("rlm-mem", "local-memory"):
        (tmp_path / "home" / (root + "_index.json")).unlink()
    if name == "otolith":
        (tmp_path / "home/_index.json").unlink()

    found = list(read(tmp_path / "home"))

    assert detect(tmp_path / "home") == name
    assert sorted(one.path for one in of(FileItem, found)) == sorted(file.removeprefix(root) for file in files)
    assert found[0].data.decode().endswith(found[0].path)


# RUM

SEED_TABLES = """
CREATE TABLE agents (id TEXT PRIMARY KEY, type TEXT NOT NULL, parent_id TEXT, project_id TEXT NOT NULL,
  created_at INTEGER NOT NULL, metadata JSON);
CREATE TABLE memories (id TEXT PRIMARY KEY, agent_id TEXT NOT NULL, project_id TEXT NOT NULL, session_id TEXT NOT NULL,
  created_at INTEGER NOT NULL, intent_goal TEXT NOT NULL, intent_type TEXT NOT NULL, outcome_success INTEGER NOT NULL,
  outcome_summary TEXT, intent JSON NOT NULL, perception JSON, reasoning JSON, actions JSON, outcome JSON NOT NULL,
  tags JSON DEFAULT '[]', importance REAL DEFAULT 0.5, access_count INTEGER DEFAULT 0, last_accessed INTEGER, embedding BLOB);
CREATE TABLE memory_files (memory_id TEXT, file_path TEXT, operation TEXT, PRIMARY KEY (memory_id, file_path));
CREATE TABLE memory_links (source_id TEXT, target_id TEXT, link_type TEXT, created_at INTEGER,
  PRIMARY KEY (source_id, target_id, link_type));
CREATE TABLE chapters (id TEXT PRIMARY KEY, project_id TEXT, created_at INTEGER, updated_at INTEGER, title TEXT,
  summary TEXT NOT NULL, learnings JSON, start_ts INTEGER, end_ts INTEGER, tags JSON, topics JSON, origin TEXT);
CREATE TABLE chapter_memories (chapter_id TEXT, memory_id TEXT, position INTEGER, PRIMARY KEY (chapter_id, memory_id));
"""


def rum(path: Path, rows: int = 2) -> Path:
    database = sqlite3.connect(path)
    database.executescript(SEED_TABLES)
    database.execute("INSERT INTO agents VALUES ('agent_1', 'main', NULL, 'app', 1770000000000, '{\"os\": \"linux\"}')")
    actions = [
        {"type": "file_edit", "file_path": "src/auth.ts", "success": True, "timestamp": 1770000001000, "error": None},
        {"type": "command_run", "timestamp": 1770000002, "details": {"command": "make"}, "result": {"success": False}},
    ]
    for number in range(1, rows + 1):
        database.execute(
            "INSERT INTO memories VALUES (?, 'agent_1', 'app', 's-1', ?, 'Fix login', 'bug_fix', 1, 'Works',"
            " ?, NULL, NULL, ?, ?,"
            " '[\"auth\"]', 0.8, 0, NULL, x'00ff')",
            (f"mem_{number}", 1770000000000 if number % 2 else 1770000000,
             json.dumps({"goal": "Fix login", "task_type": "bug_fix"}),
             json.dumps(actions) if number == 1 else None, json.dumps({"success": True, "summary": "Works"})),
        )  # fmt: skip
    database.execute("INSERT INTO memory_files VALUES ('mem_1', 'src/auth.ts', 'edit')")
    database.execute("INSERT INTO memory_links VALUES ('mem_2', 'mem_1', 'caused_by', 1770000005000)")
    database.execute(
        "INSERT INTO chapters VALUES ('chapter_1', 'app', 1770000000000, 1770000000000, 'Auth', 'All about auth',"
        " '[\"Check\"]',"
        " 1770000000000, 1770000009000, '[]', NULL, 'manual')"
    )
    database.execute("INSERT INTO chapter_memories VALUES ('chapter_1', 'mem_2', 1), ('chapter_1', 'mem_1', 0)")
    database.commit()
    database.close()
    return path


def test_a_rum_database_is_read_as_met_in_the_wild(tmp_path: Path) -> None:
    path = rum(tmp_path / "app.rum.db")

    found = list(read(path))

    assert detect(path) == "rum"
    first, second = of(WorkItem, found)
    assert first.created == second.created == "2026-02-02T02:40:00Z"
    assert first.actions[0] == {
        "type": "file_edit", "timestamp": 1770000001, "details": {"file_path": "src/auth.ts"}, "result": {"success": True},
    }  # fmt: skip
    assert first.actions[1]["result"] == {"success": False}
    assert (second.perception, second.reasoning, second.actions) == ({}, {}, ())
    assert first.files == (("src/auth.ts", "edit"),)
    assert [(link.start, link.type, link.end) for link in of(LinkItem, found)] == [("rum:mem_2", "caused_by", "rum:mem_1")]
    agent, chapter = of(LadderItem, found)
    assert agent.fields["metadata"] == {"os": "linux"}
    assert (chapter.fields["memories"], chapter.fields["learnings"]) == (["mem_1", "mem_2"], ["Check"])
    assert chapter.fields["end_ts"] == 1770000009


def test_reading_a_rum_database_leaves_no_trace_beside_it(tmp_path: Path) -> None:
    path = rum(tmp_path / "app.rum.db")
    before = (path.read_bytes(), sorted(tmp_path.iterdir()))

    list(read(path))

    assert (path.read_bytes(), sorted(tmp_path.iterdir())) == before


def test_bad_rows_are_findings_and_the_others_come(tmp_path: Path) -> None:
    path = rum(tmp_path / "app.rum.db", rows=4)
    database = sqlite3.connect(path)
    database.execute("UPDATE memories SET outcome = '{half' WHERE id = 'mem_2'")
    database.execute("UPDATE memories SET intent_goal = CAST(x'ff' AS TEXT) WHERE id = 'mem_3'")
    database.commit()
    database.close()

    found = list(read(path))

    assert [work.id for work in of(WorkItem, found)] == ["mem_1", "mem_4"]
    assert len(of(SourceFinding, found)) == 2


def test_a_rum_database_with_a_broken_page_gives_the_rows_before_and_after_it(tmp_path: Path) -> None:
    path = rum(tmp_path / "app.rum.db", rows=400)
    data = bytearray(path.read_bytes())
    middle = len(data) // 4096 // 2 * 4096
    data[middle : middle + 4096] = b"\xff" * 4096
    path.write_bytes(data)

    found = list(read(path))

    ids = [int(work.id[4:]) for work in of(WorkItem, found)]
    assert of(SourceFinding, found)
    assert 1 in ids
    assert 400 in ids
    assert len(ids) == len(set(ids)) < 400


def test_a_view_in_place_of_the_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    database = sqlite3.connect(path)
    database.execute(
        "CREATE VIEW memories AS SELECT 1 AS id, 2 AS intent, 3 AS outcome, 4 AS intent_goal, 5 AS outcome_success"
    )
    database.commit()
    database.close()

    with pytest.raises(Invalid, match="no table `memories`"):
        list(read(path))


def test_rows_still_in_the_write_ahead_log_are_pointed_out(tmp_path: Path) -> None:
    path = rum(tmp_path / "app.rum.db")
    (tmp_path / "app.rum.db-wal").write_bytes(b"x")

    assert "close RUM" in of(SourceFinding, list(read(path)))[0].message


def test_a_child_that_dies_over_a_database_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = rum(tmp_path / "app.rum.db")
    dying = tmp_path / "dying"
    dying.write_text("#!/bin/sh\nkill -9 $$\n")
    dying.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(dying))

    (found,) = read(path)

    assert "stopped being readable" in found.message


# The memory protocol


@pytest.mark.clause("protocol-21")
def test_a_candidates_block_becomes_the_memos_it_was_made_of(tmp_path: Path) -> None:
    candidates = [
        MemoCandidate(name="user_prefers_short_answers", category="past", tags=("style",), content="No preambles.\n\n1. Really."),
        MemoCandidate(name="next_task_write_the_docs", category="future", tags=(), content="Start with the README."),
    ]
    path = tmp_path / "chat.txt"
    path.write_text("System Notes\n" + render_candidates(candidates))

    memos = list(read(path))

    assert detect(path) == "candidates"
    assert [(memo.name, memo.category, memo.tags, memo.text) for memo in memos] == [
        (one.name, one.category, one.tags, one.content) for one in candidates
    ]


# Everything


def test_reading_twice_gives_the_same_keys(tmp_path: Path) -> None:
    sources = [
        zip_of(tmp_path / "a.zip", {"conversations.json": [tree()]}),
        zip_of(tmp_path / "b.zip", {"conversations.json": [chat()]}),
        lines_of(tmp_path / "c.jsonl", session()),
        lines_of(tmp_path / "d.jsonl", rollout({"type": "user_message", "message": "Hi"})),
        vault(tmp_path / "kitchen"),
        rum(tmp_path / "e.db"),
    ]

    for source in sources:
        first, second = list(read(source)), list(read(source))
        keys = [item.key for item in first if not isinstance(item, SourceFinding)]
        assert first == second
        assert keys
        assert len(keys) == len(set(keys))


@pytest.mark.parametrize("content", [b"", b"hello", b"{}", b"[]", b"[1, 2", b"\x00\xff" * 50, b"[" * 100_000, b'{"a": 1}\n'])
def test_what_is_nothing_known_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "thing.json"
    path.write_bytes(content)

    with pytest.raises(Invalid, match="not in a known format") as refused:
        detect(path)

    assert "\n" not in str(refused.value)


def test_an_empty_folder_and_a_pipe_are_refused_without_waiting(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe")

    for name in ("empty", "pipe"):
        with pytest.raises(Invalid):
            detect(tmp_path / name)


def test_a_missing_path_and_an_unknown_format_say_so(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        detect(tmp_path / "gone.zip")
    with pytest.raises(WrongUsage, match="use one of"):
        read(vault(tmp_path / "kitchen"), "evernote")


def test_a_format_is_known_by_content_and_not_by_name(tmp_path: Path) -> None:
    disguised = tmp_path / "holiday.jpg"
    zip_of(tmp_path / "x.zip", {"conversations.json": [tree()]}).rename(disguised)

    assert detect(disguised) == "chatgpt"


def spoiled(value: Any) -> list[Any]:
    """The value with each of its parts replaced by something of a wrong type, one at a time."""
    wrong: list[Any] = [None, 7, "x", [], {}, [[{}]], True, 1e300]
    if not isinstance(value, dict | list):
        return wrong
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    found = list(wrong)
    for key, part in parts:
        for one in spoiled(part):
            copy: Any = dict(value) if isinstance(value, dict) else list(value)
            copy[key] = one
            found.append(copy)
    return found


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("chatgpt", tree()),
        ("claude", chat() | {"current_leaf_message_uuid": "m2"}),
        ("claude-code", session()[8]),
        ("claude-code", session()[3]),
        ("codex", rollout({"type": "item_completed", "item": {"type": "AgentMessage", "content": [{"text": "x"}]}})[1]),
        ("codex", rollout(SENT)[1]),
        (
            "mem0",
            {"id": "m", "memory": "x", "user_id": "u", "categories": ["c"], "metadata": {"tags": ["t"]}, "created_at": "x"},
        ),
        ("mcp-memory", {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["x"]}),
        ("mcp-memory", {"type": "relation", "from": "Ann", "to": "Ann", "relationType": "knows"}),
    ],
)
def test_no_part_of_a_wrong_type_stops_a_reader(tmp_path: Path, name: str, whole: Any) -> None:
    good = {
        "chatgpt": tree("good"), "claude": chat("good"), "claude-code": typed("good", "Hello"), "codex": rollout()[0],
        "mem0": {"id": "good", "memory": "x"}, "mcp-memory": {"type": "entity", "name": "Ann", "entityType": "x"},
    }[name]  # fmt: skip
    parts = [good, *spoiled(whole)]
    path = tmp_path / "source"
    if name in ("chatgpt", "claude", "mem0"):
        path.write_text(json.dumps(parts))
    else:
        lines_of(path, parts)

    found = list(read(path, name))

    assert len(parts) > 40
    assert any(not isinstance(item, SourceFinding) for item in found)
