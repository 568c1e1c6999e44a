"""Exporting: the whole home or a part of it, as a zip that is a home again, as JSON lines, or as one book."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from otolith.memory import Memory


@pytest.fixture
def filled(mem: Memory) -> Memory:
    mem.init()
    kettle = mem.note("Kettle", "# Use\n\nIt whistles.", tags=["kitchen"])
    stove = mem.note("Stove", "It is hot.", type="problem")
    mem.link(kettle.id, "SOLVES", stove.id)
    mem.memo("user_prefers_black_coffee_always", "Black, no sugar.")
    mem.remember("The pantry is behind the kitchen door.", conversation_id="c-1", tags=["kitchen"])
    mem.log("user: My name is Ann.\nassistant: Hello Ann.", topic="people")
    mem.record(intent={"goal": "Mend the kettle", "task_type": "bug_fix"}, outcome={"success": True, "summary": "done"})
    mem.upkeep()
    return mem


def test_a_zip_holds_every_file_of_the_home_and_opens_as_one(filled: Memory, run: Any, home: Path, tmp_path: Path,
                                                             snapshot: Any) -> None:
    (home / "_config.json").write_text('{"embedding_provider": "static", "openai_api_key": "sk-secret"}')
    target = tmp_path / "all.zip"

    done = run("export", str(target))

    assert done.code == 0, done.err
    with zipfile.ZipFile(target) as packed:
        names = set(packed.namelist())
        packed.extractall(tmp_path / "again")
    assert {name for name in names if not name.startswith("log/")} == set(snapshot()) - {"_config.json"} | {"manifest.json"}
    assert {name.partition("-")[0] for name in names if name.startswith("log/")} <= {"log/usage"}
    with Memory(tmp_path / "again") as again:
        assert again.stats()["kinds"] == filled.stats()["kinds"]
    assert target.stat().st_mode & 0o777 == 0o600


def test_the_same_home_gives_the_same_zip(filled: Memory, run: Any, tmp_path: Path) -> None:
    for name in ("a.zip", "b.zip"):
        assert run("export", str(tmp_path / name)).code == 0
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_json_lines_hold_every_record_in_the_shape_of_the_other_doors(filled: Memory, run: Any, tmp_path: Path) -> None:
    target = tmp_path / "all.jsonl"

    run("export", str(target))

    lines = [json.loads(line) for line in target.read_text().splitlines()]
    told = {block["id"] for block in filled.diary()}  # blocks that point to records come along, that the day is whole
    assert {line["id"] for line in lines} == {item["id"] for item in filled.list(limit=None)[0]} | told
    assert all(set(line) == {"id", "kind", "path", "record"} for line in lines)
    assert next(line for line in lines if line["kind"] == "note")["record"]["text"]


def test_a_book_reads_from_front_to_back(filled: Memory, run: Any, tmp_path: Path) -> None:
    target = tmp_path / "book.md"

    run("export", str(target))

    book = target.read_text()
    assert book.count("\n# ") + book.startswith("# ") == 1
    assert "\n## Notes\n" in book
    assert "\n### Kettle\n" in book
    assert "\n#### Use\n" in book
    assert "It whistles." in book
    assert "Black, no sugar." in book
    assert "My name is Ann." in book


@pytest.mark.parametrize(("words", "kinds"), [
    (["--kind", "note"], {"note"}), (["--tag", "kitchen"], {"note", "chunk"}),
    (["--kind", "memo", "--kind", "work"], {"memo", "work"})])
def test_a_part_is_chosen_by_the_filters_of_recall(filled: Memory, run: Any, tmp_path: Path, words: list[str],
                                                   kinds: set[str]) -> None:
    target = tmp_path / "part.jsonl"
    run("export", str(target), *words)
    found = {json.loads(line)["kind"] for line in target.read_text().splitlines()}
    assert found - {"episode"} == kinds


def test_a_part_as_a_zip_holds_the_files_of_its_records_only(filled: Memory, run: Any, tmp_path: Path) -> None:
    target = tmp_path / "part.zip"
    run("export", str(target), "--kind", "note")
    with zipfile.ZipFile(target) as packed:
        assert {name.split("/")[0] for name in packed.namelist()} == {"graph", "otolith.toml"}


def test_stdout_takes_an_export_too(filled: Memory, run: Any) -> None:
    done = run("export", "-", "--format", "jsonl", "--kind", "memo")
    assert json.loads(done.out)["id"] == "user_prefers_black_coffee_always"


def test_an_export_counts_as_no_use_and_changes_nothing(filled: Memory, run: Any, tmp_path: Path, snapshot: Any) -> None:
    before, uses = snapshot(), filled.stats()["uses"]
    for name in ("a.zip", "a.jsonl", "a.md"):
        run("export", str(tmp_path / name))
    assert snapshot() == before
    assert filled.stats()["uses"] == uses


def test_nothing_is_overwritten_without_being_told(filled: Memory, run: Any, tmp_path: Path) -> None:
    target = tmp_path / "mine.md"
    target.write_text("mine")

    refused = run("export", str(target))

    assert refused.code == 5
    assert target.read_text() == "mine"
    assert run("export", str(target), "--force").code == 0


def test_what_makes_no_sense_is_refused(filled: Memory, run: Any, tmp_path: Path, home: Path) -> None:
    assert run("export", str(tmp_path / "x.docx")).code == 2
    assert run("export", str(tmp_path / "x"), "--format", "xml").code == 2
    assert run("export", str(home / "inside.zip")).code == 4
    assert run("export", str(tmp_path / "nowhere/x.zip")).code == 7


def test_an_empty_home_gives_an_empty_export(run: Any, tmp_path: Path) -> None:
    assert run("export", str(tmp_path / "x.jsonl")).code == 0
    assert (tmp_path / "x.jsonl").read_text() == ""


def test_json_lines_come_back_as_the_records_they_were(filled: Memory, run: Any, tmp_path: Path) -> None:
    filled.episode("A day", summary="It rained.")
    target, other = tmp_path / "all.jsonl", tmp_path / "other"
    run("export", str(target))

    done = run("import", str(target), "--home", str(other), "--json")

    assert (done.code, done.json["findings"]) == (0, [])
    with Memory(other) as again:
        came = {item["id"]: item for item in again.list(limit=None)[0]}
        for item in filled.list(limit=None)[0]:
            if item["kind"] not in ("topic", "global"):  # built from the others by upkeep
                assert item["id"] in came, item
                before, after = filled.get(item["id"]), again.get(item["id"])
                assert (after.text, after.title, after.tags) == (before.text, before.title, before.tags)
        trusts = {again.get(item["id"]).origin["trust"] for item in came.values() if item["kind"] in ("note", "memo", "chunk")}
        assert trusts == {"outside"}
    again_told = run("import", str(target), "--home", str(other), "--json").json
    assert not again_told["kept"]


def test_json_lines_cannot_name_a_file_of_their_own_choice(run: Any, home: Path, tmp_path: Path) -> None:
    lines = [{"id": "x", "kind": "page", "path": path, "record": {"text": "evil"}}
             for path in ("memories/../../evil", "/etc/evil", "otolith.toml", "../evil.md", "log/x.jsonl")]
    (tmp_path / "bad.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    done = run("import", str(tmp_path / "bad.jsonl"), "--json")

    assert len(done.json["findings"]) == 5
    assert not [path for path in tmp_path.rglob("*evil*") if path.is_file()]
    assert not (home / "otolith.toml").exists() or "evil" not in (home / "otolith.toml").read_text()


# A restore


def every_file(folder: Path) -> dict[str, bytes]:
    """What belongs to a home, without what only its machine keeps."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
            and (path.parent.name != "log" or path.name.startswith("usage-")) and path.name not in (".lock", "_config.json")}


@pytest.fixture
def packed(filled: Memory, run: Any, home: Path, tmp_path: Path) -> Path:
    run("get", "Kettle")  # counted as used
    run("pin", "Kettle")
    run("forget", "Stove")
    run("review", run("facts", "--json").json["items"][0]["id"], "9")
    filled.upkeep()
    assert run("export", str(tmp_path / "all.zip")).code == 0
    return tmp_path / "all.zip"


def test_a_restored_home_is_the_same_byte_for_byte(packed: Path, run: Any, home: Path, tmp_path: Path) -> None:
    before, again = every_file(home), tmp_path / "again"

    done = run("import", str(packed), "--restore", "--home", str(again))

    assert done.code == 0, done.err
    assert "files restored, byte for byte" in done.out
    assert every_file(again) == before
    brief = run("brief", "--json")
    assert run("brief", "--json", "--home", str(again)).json["text"] == brief.json["text"] != ""
    assert run("stats", "--json", "--home", str(again)).json["uses"] == run("stats", "--json").json["uses"]
    assert run("restore", "Stove", "--home", str(again)).code == 0


def test_a_dry_run_of_a_restore_checks_and_writes_nothing(packed: Path, run: Any, tmp_path: Path) -> None:
    done = run("import", str(packed), "--restore", "--dry-run", "--home", str(tmp_path / "again"))

    assert "every hash is right" in done.out
    assert not (tmp_path / "again").exists()


def test_a_restore_touches_no_home_that_is_there(packed: Path, run: Any, home: Path) -> None:
    before = every_file(home)

    done = run("import", str(packed), "--restore")

    assert done.code == 5
    assert "is not empty" in done.err
    assert every_file(home) == before


@pytest.mark.parametrize("harm", ["changed", "missing", "no manifest", "foreign path"])
def test_an_export_that_is_not_whole_is_refused_and_leaves_nothing(packed: Path, run: Any, tmp_path: Path, harm: str) -> None:
    bad, again = tmp_path / "bad.zip", tmp_path / "again"
    with zipfile.ZipFile(packed) as good, zipfile.ZipFile(bad, "w") as out:
        for name in good.namelist():
            data = good.read(name)
            if (harm == "missing" and name.startswith("chunks/")) or (harm == "no manifest" and name == "manifest.json"):
                continue
            if harm == "changed" and name.startswith("chunks/"):
                data += b" "
            if harm == "foreign path" and name == "manifest.json":
                data = data.replace(b'"CORE.md"', b'".bashrc"')
            out.writestr(name, data)

    done = run("import", str(bad), "--restore", "--home", str(again))

    assert done.code in (4, 6)
    assert done.err.count("\n") == 1
    assert not again.exists()
    assert not list(tmp_path.glob(".otolith-restore-*"))


def test_importing_one_s_own_export_says_how_to_restore_it(packed: Path, run: Any, tmp_path: Path) -> None:
    done = run("import", str(packed), "--home", str(tmp_path / "other"))

    assert done.code == 0
    assert "manifest.json" not in done.out
    assert "--restore" in done.err
