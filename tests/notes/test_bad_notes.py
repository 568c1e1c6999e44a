"""Notes as people and tools leave them: odd, double, broken, huge. A finding at worst, never a crash or a loss."""

from __future__ import annotations

import pytest

ID = "c1b2c3d4-e5f6-7890-abcd-ef1234567890"


@pytest.fixture
def put(home):
    def write(path: str, text: str) -> None:
        file = home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())

    return write


def note_text(**more: str) -> str:
    fields = {"id": ID, "type": "fix", "title": "Tea", "importance": "0.5", **more}
    return "---\n" + "".join(f"{key}: {value}\n" for key, value in fields.items()) + "---\n\nSteep.\n"


def codes(mem):
    return {(finding.path, finding.code) for finding in mem.check()}


def test_a_note_whose_type_and_folder_differ_is_found_and_named(mem, put):
    put("graph/decisions/tea-c1b2c3.md", note_text())

    assert codes(mem) == {("graph/decisions/tea-c1b2c3.md", "misplaced")}
    assert mem.get(ID).record.type == "fix"
    mem.upkeep()
    assert mem.get(ID).path == "graph/decisions/tea-c1b2c3.md"


def test_of_two_files_with_one_id_the_known_one_keeps_it(mem, put):
    put("graph/fixes/tea-c1b2c3.md", note_text())
    mem.sync()
    put("graph/fixes/a-copy-c1b2c3.md", note_text(title="Copy"))

    assert codes(mem) == {("graph/fixes/a-copy-c1b2c3.md", "duplicate-id")}
    assert mem.get(ID).record.title == "Tea"
    mem.upkeep()
    assert mem.get(ID).path == "graph/fixes/tea-c1b2c3.md"


def test_an_edge_to_a_missing_note_is_a_finding_until_the_note_arrives(mem, put):
    one = mem.note("Here")
    put("graph/edges/here--SOLVES--there-e1e1e1.md",
        f"---\nid: e1e1e1e1-0000-4000-8000-000000000000\ntype: SOLVES\nfrom_id: {one.id}\nto_id: {ID}\n---\n")
    assert codes(mem) >= {("graph/edges/here--SOLVES--there-e1e1e1.md", "dangling-link")}
    mem.upkeep()
    assert mem.related(one.id) == []
    put("graph/fixes/tea-c1b2c3.md", note_text())
    mem.upkeep()

    assert [found["id"] for found in mem.related(one.id)] == [ID]
    assert codes(mem) == set()


def test_tags_as_a_json_string_never_grow_backslashes(mem, home, put):
    put("graph/fixes/tea-c1b2c3.md", note_text(tags="'[\"green\", \"tea\"]'"))
    mem.sync()
    for value in (0.6, 0.7, 0.8):
        mem.edit(ID, importance=value)
    tags = mem.get(ID).record.tags
    mem.edit(ID, tags=[*tags, "hot"])

    assert tags == ("green", "tea")
    assert "\\" not in (home / "graph/fixes/tea-c1b2c3.md").read_text()
    assert mem.get(ID).record.tags == ("green", "tea", "hot")


def test_unknown_keys_keep_their_place_and_comments(mem, home, put):
    text = note_text(zebra="{a: [1, 2]} # odd", colour="blue")
    put("graph/fixes/tea-c1b2c3.md", text)
    mem.sync()
    mem.edit(ID, importance=0.9, confidence=0.4)
    after = (home / "graph/fixes/tea-c1b2c3.md").read_text()

    assert "zebra: {a: [1, 2]} # odd\ncolour: blue\n" in after
    assert mem.get(ID).record.extra["colour"] == "blue"


@pytest.mark.parametrize("text", [
    "---\nid: [\n---\n", "---\ntitle: a\ntitle: b\n---\n", "---\nno end", "---\n- a\n- list\n---\n", note_text(importance="9"),
    note_text(type="recipe"), note_text(created="yesterday"), "\0", note_text(relations="[1, 2]"), note_text(tags="{a: 1}"),
])
def test_a_broken_note_is_named_and_the_rest_goes_on(mem, put, text):
    other = mem.note("Fine", "All well.")
    put("graph/fixes/broken-c1b2c3.md", text)

    assert {path for path, _ in codes(mem)} == {"graph/fixes/broken-c1b2c3.md"}
    report = mem.upkeep()
    assert report.failed == {}
    assert mem.get(other.id).record.text == "All well."


def test_a_note_of_ten_megabytes_is_kept_found_and_scored(mem, run):
    text = ("lorem ipsum dolor " * 600_000)[:10_000_000] + " needle"
    note = mem.note("Large", text)

    assert mem.get(note.id).record.text == text
    assert [hit.id for hit in mem.recall("needle", depth="summary").hits if hit.kind == "note"] == [note.id]
    mem.upkeep()
    assert "[Large]" not in mem.show("core")  # general notes have no section
    assert run("graph", note.id).code == 0


@pytest.mark.parametrize("newline", ["\r\n", "\n"])
@pytest.mark.parametrize("mark", ["\ufeff", ""])
def test_line_ends_and_byte_order_marks_stay(mem, home, put, newline, mark):
    put("graph/fixes/tea-c1b2c3.md", mark + note_text().replace("\n", newline))
    mem.sync()
    other = mem.note("Kettle")
    mem.link(ID, "REQUIRES", other.id, context="Hot water")
    data = (home / "graph/fixes/tea-c1b2c3.md").read_bytes().decode()

    assert data.startswith(mark + "---" + newline)
    assert data.count("\n") == data.count(newline)
    assert len(mem.get(ID).record.relations) == 1
    assert mem.check() == []


def test_a_strange_title_cannot_leave_its_folder(mem, home):
    note = mem.note("../../etc/passwd\x01\n; rm -rf /", "x")

    assert mem.get(note.id).path == f"graph/general/etc-passwd-rm-rf-{note.id[:6]}.md"
    assert [file.name for file in home.parent.iterdir() if file.name.startswith("etc")] == []
