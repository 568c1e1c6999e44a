"""Notes as files: what a new one looks like, and that the seed's own examples are read whole and written back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from otolith.errors import Invalid
from otolith.model.kinds import NOTE_TYPES
from otolith.model.note import SCHEMA

EXAMPLE = """---
id: a1b2c3d4-e5f6-7890-abcd-ef1234567890
type: solution
title: "Fixed Redis connection timeouts"
tags: [redis, timeout, production, homelab]
importance: 0.8
confidence: 0.8
created: 2025-12-06T16:25:58+00:00
updated: 2025-12-06T16:25:58+00:00
relations:
  - target: def789ab-0000-4000-8000-000000000001
    type: SOLVES
    direction: outgoing
    strength: 0.8
    context: "Keepalive prevents idle disconnections"
---

Added socket_keepalive=True and socket_timeout=300 to Redis connection configuration.
"""
PROCEDURE = """---
id: b1b2c3d4-e5f6-7890-abcd-ef1234567890
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


def put(home: Path, path: str, text: str) -> Path:
    file = home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def front(file: Path) -> str:
    return file.read_text().split("---\n")[1]


@pytest.mark.clause("notes-04", "notes-09", "notes-10", "notes-16")
def test_a_new_note_is_front_matter_and_text(mem, home):
    note = mem.note("Fixed Redis timeouts", "Added keepalive.", type="solution", tags=["redis", "timeout"], importance=0.8)
    lines = (home / mem.get(note.id).path).read_text().split("\n")

    assert lines[:8] == ["---", f"id: {note.id}", "type: solution", 'title: "Fixed Redis timeouts"', "tags: [redis, timeout]",
                         "importance: 0.8", "confidence: 0.8", "created: 2026-02-10T21:37:00+00:00"]
    assert lines[-4:] == ["---", "", "Added keepalive.", ""]


@pytest.mark.clause("notes-05")
def test_the_file_is_named_by_title_and_id(mem):
    note = mem.note("Fixed: Redis / connection timeouts!", type="solution")

    assert mem.get(note.id).path == f"graph/solutions/fixed-redis-connection-timeouts-{note.id[:6]}.md"


@pytest.mark.clause("notes-06", "notes-18", "notes-24", "notes-28")
def test_the_documents_example_is_read_with_every_value(mem, home):
    put(home, "graph/solutions/fixed-redis-connection-timeouts-a1b2c3.md", EXAMPLE)
    mem.sync()
    note = mem.get("a1b2c3d4-e5f6-7890-abcd-ef1234567890").record
    relation, = note.relations

    assert (note.type, note.title) == ("solution", "Fixed Redis connection timeouts")
    assert (note.importance, note.confidence) == (0.8, 0.8)
    assert note.tags == ("redis", "timeout", "production", "homelab")
    assert (note.created_at, note.updated_at) == ("2025-12-06T16:25:58+00:00", "2025-12-06T16:25:58+00:00")
    assert relation.target == "def789ab-0000-4000-8000-000000000001"
    assert (relation.type, relation.direction) == ("SOLVES", "outgoing")
    assert (relation.strength, relation.context) == (0.8, "Keepalive prevents idle disconnections")
    assert note.text.startswith("Added socket_keepalive=True")


@pytest.mark.clause("notes-06", "notes-86")
@pytest.mark.parametrize(("path", "text"), [("graph/solutions/x.md", EXAMPLE), ("graph/procedures/x.md", PROCEDURE)])
def test_the_documents_examples_are_written_in_the_same_form(path, text):
    from otolith.files import codec

    note, = codec.decode(path, text.encode(), lambda: 0.0)

    assert codec.encode(note).decode() == text


@pytest.mark.clause("notes-86")
def test_an_edit_of_the_example_leaves_all_other_lines(mem, home):
    file = put(home, "graph/procedures/deploy-b1b2c3.md", PROCEDURE)
    mem.sync()
    mem.edit("b1b2c3d4-e5f6-7890-abcd-ef1234567890", importance=0.9)

    assert file.read_text() == PROCEDURE.replace("importance: 0.8", "importance: 0.9").replace(
        "updated: 2026-02-13T12:00:00", "updated: 2026-02-10T21:37:00")


@pytest.mark.clause("notes-07")
def test_an_id_is_a_uuid_and_never_given_twice(mem, home):
    ids = [mem.note(f"Note {at}").id for at in range(20)]

    assert len(set(ids)) == 20
    assert all(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", one) for one in ids)
    put(home, "graph/general/bad-000000.md", "---\nid: not-a-uuid\ntype: general\ntitle: x\nimportance: 0.5\n---\n")
    assert any(finding.path.endswith("bad-000000.md") and "UUID" in finding.message for finding in mem.check())


@pytest.mark.clause("notes-08", "notes-19")
@pytest.mark.parametrize("type_", ["recipe", "Solution", ""])
def test_other_types_are_refused(mem, type_):
    with pytest.raises(Invalid, match="type must be one of solution, fix"):
        mem.note("Tea", type=type_)


@pytest.mark.clause("notes-09")
@pytest.mark.parametrize("title", ["", "  \n"])
def test_a_note_without_a_title_is_refused(mem, title):
    with pytest.raises(Invalid, match="title"):
        mem.note(title)


@pytest.mark.clause("notes-09")
@pytest.mark.parametrize("title", ['say "hi"', "a: b # c", "back\\slash", "no", "12:30", "東京", "tab\there", "null"])
def test_a_title_survives_its_quotes(mem, title):
    note = mem.note(title)

    assert mem.get(note.id).record.title == title


@pytest.mark.clause("notes-11", "notes-12")
@pytest.mark.parametrize("field", ["importance", "confidence"])
@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), "high", True, None])
def test_importance_and_confidence_are_numbers_from_0_to_1(mem, field, value):
    with pytest.raises(Invalid, match=field):
        mem.note("Tea", **{field: value})


@pytest.mark.clause("notes-12")
def test_confidence_is_08_unless_said_otherwise(mem, home):
    put(home, "graph/general/tea-c1b2c3.md",
        "---\nid: c1b2c3d4-e5f6-7890-abcd-ef1234567890\ntype: general\ntitle: Tea\nimportance: 0.5\n---\n")
    mem.sync()

    assert mem.get("c1b2c3d4-e5f6-7890-abcd-ef1234567890").record.confidence == 0.8
    assert mem.note("Tea").confidence == 0.8
    assert mem.note("Coffee", confidence=0).confidence == 0


@pytest.mark.clause("notes-13", "notes-14", "notes-15", "notes-85")
def test_a_procedure_has_steps_and_conditions_as_block_lists(mem, home):
    note = mem.note("Deploy", "How.", type="procedure", steps=["Run: tests", "Push"], preconditions=["On main"],
                    postconditions=["Healthy"])
    read = mem.get(note.id).record

    assert 'steps:\n  - "Run: tests"\n  - "Push"\npreconditions:\n  - "On main"\npostconditions:\n  - "Healthy"\n' in front(
        home / mem.get(note.id).path)
    assert (read.steps, read.preconditions, read.postconditions) == (("Run: tests", "Push"), ("On main",), ("Healthy",))


@pytest.mark.clause("notes-85")
def test_each_of_a_procedures_lists_is_optional(mem, home):
    note = mem.note("Deploy", type="procedure", steps=["Push"])

    assert "preconditions" not in front(home / mem.get(note.id).path)


@pytest.mark.clause("notes-13", "notes-14", "notes-15")
@pytest.mark.parametrize("field", ["steps", "preconditions", "postconditions"])
def test_only_procedures_have_steps_and_conditions(mem, field):
    with pytest.raises(Invalid, match="procedure"):
        mem.note("Tea", type="workflow", **{field: ["Boil"]})


@pytest.mark.clause("notes-86")
def test_the_documents_procedure_is_read_in_order(mem, home):
    put(home, "graph/procedures/deploy-b1b2c3.md", PROCEDURE)
    mem.sync()
    note = mem.get("b1b2c3d4-e5f6-7890-abcd-ef1234567890").record

    assert note.steps == ("Run tests", "Build docker image", "Push to registry", "Deploy to LXC")
    assert (len(note.preconditions), len(note.postconditions)) == (2, 2)


@pytest.mark.clause("notes-17")
def test_updated_moves_when_the_note_changes_and_created_does_not(mem, clock):
    note = mem.note("Tea", "Steep.")
    clock.pass_time(hours=1)
    edited = mem.edit(note.id, text="Steep for three minutes.")
    clock.pass_time(hours=1)
    same = mem.edit(note.id, text="Steep for three minutes.")

    assert edited.created_at == note.created_at == "2026-02-10T21:37:00+00:00"
    assert edited.updated_at == "2026-02-10T22:37:00+00:00"
    assert same.updated_at == edited.updated_at


@pytest.mark.clause("notes-08", "notes-19", "notes-20", "notes-21", "notes-22")
def test_every_type_has_its_folder(mem, home):
    folders = {"solution": "solutions", "fix": "fixes", "decision": "decisions", "configuration": "configurations",
               "problem": "problems", "workflow": "workflows", "code_pattern": "code-patterns", "error": "errors",
               "general": "general", "procedure": "procedures", "insight": "insights"}

    assert folders == {name: row.folder for name, row in NOTE_TYPES.items()}
    for type_, folder in folders.items():
        note = mem.note(f"A {type_}", type=type_)
        assert (home / mem.get(note.id).path).parent == home / "graph" / folder


def test_a_changed_type_moves_the_file_and_keeps_its_name(mem, home):
    note = mem.note("Cache", type="problem")
    before = mem.get(note.id).path
    mem.edit(note.id, type="decision")
    after = mem.get(note.id).path

    assert after == before.replace("problems", "decisions")
    assert not (home / before).exists()


@pytest.mark.clause("notes-96")
def test_the_notes_format_is_version_3(mem):
    assert SCHEMA == "3.0.0"
    assert mem.stats()["formats"]["notes"] == "3.0.0"


def test_all_types_are_known_to_the_command_line(run):
    for type_ in NOTE_TYPES:
        kept = run("note", f"A {type_}", "--text", "x", "--type", type_, "--no-propose", "--json").json
        assert kept["record"]["type"] == type_
