"""Importing: every foreign format becomes records, once, marked as from outside, without secrets."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from otolith.derive.protocol import MemoCandidate, render_candidates
from otolith.errors import Invalid
from otolith.memory import Memory
from test_exchange_formats import chat, lines_of, rollout, rum, session, tree, typed, vault, zip_of


def mem0(root: Path) -> Path:
    path = root / "mem0.json"
    first = {"id": "m-1", "memory": "Ann likes green tea.", "created_at": "2026-02-01T10:00:00Z"}
    path.write_text(json.dumps({"results": [first, {"id": "m-2", "memory": "Ann lives in Lisbon."}]}))
    return path


def reference(root: Path) -> Path:
    return lines_of(root / "memory.jsonl", [
        {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["drinks tea"]},
        {"type": "entity", "name": "Tea", "entityType": "drink", "observations": ["is green"]},
        {"type": "relation", "from": "Ann", "to": "Tea", "relationType": "drinks"}])


def memory_folder(root: Path) -> Path:
    folder = root / "projects/-src-app/memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Memory\n\nThe build needs Node 22.\n")
    (folder / "tabs.md").write_text("---\nname: Tabs\ndescription: The user wants tabs.\ntype: user\n---\nAlways tabs.\n")
    return folder


def candidates(root: Path) -> Path:
    path = root / "notes.txt"
    one = MemoCandidate(name="user_prefers_tabs_over_spaces", category="past", tags=(), content="Tabs, always.")
    path.write_text(render_candidates([one]))
    return path


def other_home(root: Path) -> Path:
    folder = root / "other"
    with Memory(folder) as mem:
        mem.init()
        first, second = mem.note("Kettle", "It whistles.", tags=["kitchen"]), mem.note("Stove", "It is hot.")
        mem.link(first.id, "RELATED_TO", second.id)
        mem.pin(first.id)
        mem.memo("user_prefers_black_coffee_always", "Black, no sugar.")
        chunk = mem.remember("The pantry is behind the kitchen door.", conversation_id="c-1")[0]
        mem.link(chunk.id, "related_to", first.id)
        mem.log("user: My name is Ann.\nassistant: Hello Ann.", topic="people")
        mem.record(intent={"goal": "Mend the kettle", "task_type": "bug_fix"}, outcome={"success": True, "summary": "done"})
        mem.episode("A day at home", summary="Nothing happened.")
    (folder / "memories").mkdir()
    (folder / "memories/plan.md").write_text("Buy a new kettle.")
    return folder


SOURCES: dict[str, tuple[Callable[[Path], Path], dict[str, int]]] = {
    "chatgpt": (lambda root: zip_of(root / "chatgpt.zip", {"conversations.json": [tree("c-1"), tree("c-2")]}), {"entry": 2}),
    "claude": (lambda root: zip_of(root / "claude.zip", {"conversations.json": [chat()]}), {"entry": 1}),
    "claude-code": (lambda root: lines_of(root / "s.jsonl", session()), {"entry": 1}),
    "codex": (lambda root: lines_of(root / "r.jsonl", rollout(
        {"type": "user_message", "message": "Fix the build"}, {"type": "agent_message", "message": "Done."})), {"entry": 1}),
    "obsidian": (lambda root: vault(root / "vault"), {"note": 3}),
    "claude-memory": (memory_folder, {"note": 2}),
    "mem0": (mem0, {"chunk": 2}),
    "mcp-memory": (reference, {"note": 2}),
    "candidates": (candidates, {"memo": 1}),
    "rum": (lambda root: rum(root / "rum.db"), {"work": 2}),
    "otolith": (other_home, {"note": 2, "edge": 1, "memo": 1, "chunk": 1, "entry": 1, "work": 1, "page": 1}),
}


def kinds(home: Path) -> dict[str, int]:
    with Memory(home) as mem:
        return {name: count for name, count in mem.stats()["kinds"].items()
                if name not in ("episode", "fact", "agent", "chapter", "wisdom")}


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_becomes_records_once_and_none_of_them_is_trusted(name: str, run: Any, home: Path, tmp_path: Path) -> None:
    make, expected = SOURCES[name]
    source = make(tmp_path)

    dry = run("import", str(source), "--dry-run", "--json")
    assert (dry.code, home.exists()) == (0, False), dry.err
    assert sum(dry.json["found"].values()) > 0

    first = run("import", str(source), "--json")
    assert first.code == 0, first.err
    there = kinds(home)
    assert {kind: there.get(kind, 0) for kind in expected} == expected, (there, first.out)

    again = run("import", str(source), "--from", name, "--json")
    assert again.json["kept"] == {}, again.out
    assert kinds(home) == there
    with Memory(home) as mem:
        trusts = {item["id"]: mem.home.index.db.execute("SELECT kind, trust FROM records WHERE id = ?", (item["id"],)).fetchone()
                  for item in mem.list(limit=None)[0]}
    assert {id: found for id, found in trusts.items() if found[1] != "outside" and found[0] != "agent"} == {}


def test_a_grown_transcript_adds_only_what_is_new(run: Any, home: Path, tmp_path: Path) -> None:
    path = lines_of(tmp_path / "s.jsonl", session())
    run("import", str(path))
    lines_of(path, [*session(), typed("u-99", "One more question about the login.")])

    again = run("import", str(path), "--json")

    assert again.json["kept"] == {"dialog": 1}
    texts = [raw.read_text() for raw in home.glob("topics/*/*/raw.md")]
    assert len(texts) == 2
    assert sum("One more question" in text for text in texts) == 1
    assert sorted(text.count("### user") for text in texts)[0] == 1


def test_what_a_hook_logged_is_not_imported_again(run: Any, home: Path, tmp_path: Path) -> None:
    path = lines_of(tmp_path / "s.jsonl", session())
    name = next(line["sessionId"] for line in session() if "sessionId" in line)
    run("hook", "PreCompact", stdin=json.dumps({"session_id": name, "transcript_path": str(path), "cwd": "/"}))
    before = len(list(home.glob("topics/*/*/raw.md")))

    done = run("import", str(path), "--json")

    assert before == 1
    assert done.json["kept"] == {}


def test_secrets_are_replaced_and_counted(run: Any, home: Path, tmp_path: Path) -> None:
    key = "ghp_" + "aB3dE6gH9jK2" * 3
    notes = tmp_path / "vault"
    (notes / ".obsidian").mkdir(parents=True)
    (notes / "a.md").write_text(f"# Keys\n\nThe token is {key}.\n")

    done = run("import", str(notes), "--json")

    assert done.json["secrets"] == {"github-token": 1}
    assert key.encode() not in b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


SECRETS = ("hunter2Secret", "abc123XYZ", "Tr0ub4dor&3x")


def home_with_secrets(root: Path) -> Path:
    folder = root / "other"
    with Memory(folder) as mem:
        mem.remember('He said "password=hunter2Secret" and left.', conversation_id="c")
        mem.remember("password=abc123XYZ\nNext line stays", conversation_id="c")
        mem.remember('db has password="Tr0ub4dor&3x" in the file', conversation_id="c")
        mem.note('Say "password=hunter2Secret" twice', 'Use password="Tr0ub4dor&3x" here.', tags=["password=abc123XYZ"])
        mem.log('user: my password="Tr0ub4dor&3x", it is\nassistant: Noted.', topic="keys")
        mem.record(intent={"goal": 'password="Tr0ub4dor&3x"', "task_type": "bug_fix"}, outcome={"success": True, "summary": "done"},
                   actions=[{"type": "command_run", "details": {"password": "abc123XYZ"}}])
    (folder / "memories/deep").mkdir(parents=True)
    (folder / "memories/deep/items.jsonl").write_text(json.dumps({"said": 'password="Tr0ub4dor&3x"\nand more'}) + "\n")
    return folder


@pytest.mark.parametrize("ending", ["zip", "jsonl"])
def test_an_export_with_secrets_comes_in_whole_and_without_them(ending: str, run: Any, home: Path, tmp_path: Path) -> None:
    other, target = home_with_secrets(tmp_path), tmp_path / f"all.{ending}"
    assert run("export", str(target), "--home", str(other)).code == 0

    done = run("import", str(target), "--json")

    assert done.json["findings"] == []
    assert {name: count for name, count in kinds(home).items() if name != "global"} == {
        "chunk": 3, "note": 1, "entry": 1, "work": 1, "page": 1}
    everything = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file()).decode()
    assert [secret for secret in SECRETS if secret in everything] == []
    for said in (r'He said \"password=[secret:password]\" and left.', r"password=[secret:password]\nNext line stays",
                 'Use password="[secret:password]" here.'):
        assert said in everything
    assert run("check").code == 0
    assert run("import", str(target), "--json").json["kept"] == {}


def test_a_cold_work_comes_in_without_its_secrets(run: Any, home: Path, tmp_path: Path) -> None:
    other = home_with_secrets(tmp_path)
    work = next(other.glob("work/2*/mem_*.json"))
    cold = other / "work/cold" / work.parent.name / f"{work.name}.gz"
    cold.parent.mkdir(parents=True)
    cold.write_bytes(gzip.compress(work.read_bytes()))
    work.unlink()

    run("import", str(other))

    said = gzip.decompress(next(home.glob("work/cold/*/*.gz")).read_bytes()).decode()
    assert "password=[secret:password]" in said.replace('\\"', "")
    assert [secret for secret in SECRETS if secret in said] == []


def test_a_secret_in_front_matter_leaves_its_other_lines_alone(run: Any, home: Path, tmp_path: Path) -> None:
    other = home_with_secrets(tmp_path)
    note = next(other.glob("graph/*/*.md"))
    lines = note.read_text().replace("---\n", "---\n# mind: password=abc123XYZ\npassword: abc123XYZ\nown:   'kept so'\n", 1)
    note.write_text(lines)

    run("import", str(other))

    came = next(home.glob("graph/*/*.md")).read_text()
    assert came.startswith("---\n# mind: password=[secret:password]\npassword: \"[secret:password]\"\nown:   'kept so'\n")


def test_pins_and_scores_of_another_home_do_not_come_along(run: Any, home: Path, tmp_path: Path) -> None:
    other = other_home(tmp_path)
    with Memory(other) as mem:
        fact = mem.facts()[0]
        mem.review(fact.id, score=10)
        chunk = mem.list(kind="chunk")[0][0]["id"]
        mem.pin(chunk)

    done = run("import", str(other), "--json")

    assert list((home / "vault").glob("*")) == [] if (home / "vault").exists() else True
    with Memory(home) as mem:
        assert all(fact.user_fact_score is None for fact in mem.facts())
        assert mem.home.index.db.execute("SELECT count(*) FROM records WHERE pinned").fetchone()[0] == 0
        assert [item["id"] for item in mem.related(chunk)]
    assert any("review the facts here" in finding["message"] for finding in done.json["findings"])


def test_what_is_outside_never_replaces_what_a_person_wrote(run: Any, home: Path, tmp_path: Path) -> None:
    with Memory(home) as mem:
        memo = mem.memo("kitchen_kettle_is_the_green_one", "The kettle in the kitchen is green.")
        note = mem.note("Kettle of the kitchen", "The kitchen kettle whistles at dawn.")
    with Memory(other := tmp_path / "other") as mem:
        mem.memo(memo.id, "The kettle in the kitchen is green.")
        foreign_memo = mem.memo("kitchen_kettle_is_the_red_one", "The kettle in the kitchen is red.", supersedes=[memo.id])
        foreign_note = mem.note("Kettles of a stranger", "No kitchen kettle whistles at dawn.")
    (other / "allmemories" / f"{memo.id}.md").unlink()
    lines_of(other / "links.jsonl", [{"op": "add", "from": foreign_note.id, "type": "supersedes", "to": note.id},
                                     {"op": "add", "from": foreign_note.id, "type": "supersedes", "to": memo.id}])

    run("import", str(other))

    prompt = json.dumps({"session_id": "s", "cwd": "/", "prompt": "when does the kitchen kettle whistle at dawn"})
    assert "The kitchen kettle whistles at dawn." in run("hook", "UserPromptSubmit", stdin=prompt).out
    with Memory(home) as mem:
        assert mem.brief("kettle").memos == [memo.id]
        assert (mem.get(note.id).superseded_by, mem.get(memo.id).superseded_by) == (None, None)
        hits = {hit.id: hit for hit in mem.recall("kitchen kettle whistles at dawn green", limit=20).hits}
        assert [(hit.superseded_by, "sunk" in hit.parts) for id, hit in hits.items() if id in (note.id, memo.id)] == [(None, False)] * 2
        assert not any("replaces" in why for hit in hits.values() for why in hit.why)
        assert [item["id"] for item in mem.related(note.id)] == [foreign_note.id]
        assert {item["id"] for item in mem.related(memo.id)} == {foreign_memo.id, foreign_note.id}
        mem.link(note.id, "supersedes", foreign_note.id)
        assert mem.get(foreign_note.id).superseded_by == note.id


def test_links_of_another_home_are_checked_line_by_line(run: Any, home: Path, tmp_path: Path) -> None:
    with Memory(other := tmp_path / "other") as mem:
        one, two = (mem.remember(text, conversation_id=text)[0].id for text in ("A kettle.", "A stove."))
        note = mem.note("Kettle", "It whistles.").id
        entry = mem.log("user: My name is Ann.", topic="people").id
    good = {"op": "add", "from": one, "type": "related_to", "to": note, "created": "2026-02-01T10:00:00Z"}
    with (other / "links.jsonl").open("w") as links:
        for line in (good, {"op": "add"}, {**good, "type": "b\nc"}, {**good, "type": "PINNED"}, {**good, "to": "nobody"},
                     {**good, "to": one}, {**good, "strength": 7}, {**good, "to": two, "created": "soon"}, [],
                     {**good, "to": entry}, {**good, "from": two}, {**good, "from": two, "op": "remove", "created": "2026-02-01T10:00:01Z"}):
            links.write(json.dumps(line) + "\n")

    done = run("import", str(other), "--json")

    told = [finding["line"] for finding in done.json["findings"] if finding["path"] == "links.jsonl"]
    assert sorted(told) == [2, 3, 5, 6, 7, 8, 9]
    kept = [json.loads(line) for line in (home / "links.jsonl").read_text().splitlines()]
    assert {(line["from"], line["type"], line["to"]) for line in kept} == {(one, "related_to", note), (one, "related_to", entry)}
    assert len(kept) == 2
    assert kept[0]["created"] == "2026-02-01T10:00:00Z"
    assert {line["origin"]["trust"] for line in kept} == {"outside"}
    assert run("check").code == 0
    (other / "links.jsonl").write_text("[]\n")
    assert run("import", str(other), "--json").json["known"]["file"] == 4  # two chunks, a note, the diary


def test_a_pin_is_no_link_in_any_case_of_its_letters(mem: Memory) -> None:
    one, two = mem.note("Kettle", "It whistles."), mem.note("Stove", "It is hot.")

    with pytest.raises(Invalid, match="set by hand"):
        mem.link(one.id, "PINNED", two.id)


def test_a_link_that_a_person_set_counts_whatever_it_points_from(mem: Memory, home: Path) -> None:
    mine = mem.note("Kettle", "It whistles.")
    with Memory(home, trust="outside") as other:
        theirs = other.note("Red kettle", "It hums.")

    mem.link(theirs.id, "supersedes", mine.id)

    assert mem.get(mine.id).superseded_by == theirs.id


def test_a_file_that_says_something_else_is_not_overwritten(run: Any, home: Path, tmp_path: Path) -> None:
    other = other_home(tmp_path)
    run("import", str(other))
    memo = home / "allmemories/user_prefers_black_coffee_always.md"
    memo.write_text(memo.read_text().replace("Black, no sugar.", "With milk."))

    done = run("import", str(other), "--json")

    assert "With milk." in memo.read_text()
    assert any("says something else" in finding["message"] for finding in done.json["findings"])


def test_an_export_is_imported_as_it_was(run: Any, home: Path, tmp_path: Path) -> None:
    other = other_home(tmp_path)
    target = tmp_path / "all.zip"
    assert run("export", str(target), "--home", str(other)).code == 0

    assert run("import", str(target)).code == 0

    with Memory(home) as mem, Memory(other) as theirs:
        ours, original = (({(item["kind"], item["title"]) for item in memory.list(limit=None)[0] if item["kind"] != "agent"})
                          for memory in (mem, theirs))
    assert {one for one in original if one[0] != "page"} <= ours


@pytest.mark.parametrize("make", [
    lambda root: zip_of(root / "evil.zip", {"../../evil.json": []}),
    lambda root: zip_of(root / "bomb.zip", {"conversations.json": b"0" * (50 << 20)}),
    lambda root: zip_of(root / "odd.zip", {"data.xml": "<a/>"}),
    lambda root: root / "missing.json",
    lambda root: (root / "x.json", (root / "x.json").write_text("{}"))[0],
])
def test_a_hostile_or_unknown_source_is_refused_in_one_line_and_nothing_is_written(
        make: Any, run: Any, home: Path, tmp_path: Path) -> None:
    done = run("import", str(make(tmp_path)))
    assert done.code in (3, 4)
    assert len(done.err.strip().splitlines()) == 1
    assert not home.exists()


ODD = "graph/solutions/a\x1b[31m\n.md"


def with_an_odd_name(root: Path, shape: str) -> Path:
    note = "---\nid: 3f0c1d9e-0000-4000-8000-000000000001\ntype: solution\ntitle: {}\n---\n\nText.\n"
    files = {ODD: note.format("Odd"), "graph/solutions/plain.md": note.format("Plain").replace("1\n", "2\n", 1)}
    if shape == "zip":
        return zip_of(root / "odd.zip", {name: text.encode() for name, text in files.items()})
    if shape == "jsonl":
        return lines_of(root / "odd.jsonl", [{"id": name, "kind": "note", "path": name, "record": {
            "id": text[8:44], "type": "solution", "title": name[-8:-3].strip(), "text": "Text."}} for name, text in files.items()])
    for name, text in files.items():
        (root / "odd" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "odd" / name).write_text(text)
    return root / "odd"


@pytest.mark.parametrize("shape", ["zip", "jsonl", "folder"])
def test_a_name_with_control_characters_is_left_out_and_shown_escaped(shape: str, run: Any, home: Path, tmp_path: Path) -> None:
    done = run("import", str(with_an_odd_name(tmp_path, shape)))

    assert "kept 1 file" in done.out
    assert r"a\x1b[31m\n.md" in done.out
    assert "\x1b" not in done.out + done.err
    assert [path.name for path in home.glob("graph/*/*")] == ["plain.md"]


def test_an_odd_name_on_the_disk_stays_on_its_line_and_is_shown_escaped(run: Any, home: Path) -> None:
    run("note", "Kettle", "--text", "It whistles.")
    (home / ODD).parent.mkdir(parents=True, exist_ok=True)
    (home / ODD).write_text("---\nid: [\n---\n")

    for told in (run("sync"), run("check")):
        assert [line for line in told.out.splitlines() if r"a\x1b[31m\n.md" in line]
        assert "\x1b" not in told.out + told.err


def test_another_vendors_export_is_refused_when_a_format_was_named(run: Any, home: Path, tmp_path: Path) -> None:
    export = zip_of(tmp_path / "x.zip", {"conversations.json": [tree()]})
    done = run("import", str(export), "--from", "claude")
    assert done.code == 4
    assert "ChatGPT" in done.err
    assert not home.exists()


def test_candidates_come_in_by_a_pipe(run: Any, home: Path, tmp_path: Path) -> None:
    text = candidates(tmp_path).read_text()
    done = run("import", "-", stdin=text)
    assert done.code == 0, done.err
    assert (home / "allmemories/user_prefers_tabs_over_spaces.md").exists()


def test_one_bad_item_does_not_stop_the_others(run: Any, home: Path, tmp_path: Path) -> None:
    notes = vault(tmp_path / "vault")
    (notes / "bad.md").write_bytes(b"\xff\xfe\x00 no text")
    done = run("import", str(notes), "--json")
    assert done.code == 0
    assert done.json["kept"]["note"] == 3
    assert len(done.json["findings"]) >= 1


def test_hundreds_of_notes_and_links_come_in_step_by_step(mem: Memory, tmp_path: Path) -> None:
    from otolith.doors.exchange.importing import Import

    folder = tmp_path / "vault"
    (folder / ".obsidian").mkdir(parents=True)
    for number in range(300):
        (folder / f"n{number}.md").write_text(f"# Note {number}\n\nText number {number}. [[n{(number + 1) % 300}]]\n")
    steps: list[int] = []

    done = Import(mem).run(folder, None, lambda at, total: steps.append(at))

    assert done.kept["note"] == 300
    assert done.kept["link"] == 300
    assert steps[-1] == 600


def test_a_rum_database_brings_its_use_and_the_times_of_its_links(run: Any, home: Path, tmp_path: Path) -> None:
    path = rum(tmp_path / "rum.db")
    with sqlite3.connect(path) as database:
        database.execute("UPDATE memories SET access_count = 7, last_accessed = 1770000900000 WHERE id = 'mem_2'")
    database.close()

    told = run("import", str(path), "--json")

    assert told.json["kept"] == {"agent": 1, "work": 2, "chapter": 1, "link": 1}
    with Memory(home) as mem:
        work = mem.get("mem_2").record
        assert (work.access_count, work.last_accessed) == (7, 1770000900)
        assert work.links_at == {"caused_by": {"mem_1": 1770000005}}
