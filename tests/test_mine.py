"""What was imported counts as coming from outside until a person says that it is theirs; vaults, whole and again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from otolith import Memory
from otolith.doors.exchange.importing import Import
from otolith.errors import Invalid

VAULT = {
    "Projects/Ferry.md": "---\naliases: [The boat]\nstatus: active\ntype: project\nrating: 4\nnested: {a: [1, 2]}\n---\n"
                         "The ferry leaves at nine. See [[#Timetable]] and [[Harbour]]. #boats\n\n## Timetable\n",
    "Harbour.md": "The harbour has three quays.\n",
    "Daily/2025-03-04.md": "Rain all day.\n",
    "Templates/daily.md": "# {{date}}\n",
    "img/quay.png": "no picture",
    "board.canvas": "{}",
}


def lay(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / ".obsidian").mkdir(exist_ok=True)
    return folder


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return lay(tmp_path / "vault", VAULT)


def take(home: Path, source: Path) -> Import:
    with Memory(home, door="import", trust="outside") as mem:
        return Import(mem).run(source)


def title(mem: Memory, name: str) -> Any:
    return mem.get(name).record


def test_a_vault_comes_in_whole(home: Path, vault: Path) -> None:
    done = take(home, vault)

    told = " ".join(finding.message for finding in done.findings)
    assert all(part in told for part in ("1 template (Templates/daily.md)", "1 canvas (board.canvas)", "1 attachment (img/quay.png)"))
    with Memory(home) as mem:
        ferry = title(mem, "The boat")
        assert (ferry.title, ferry.aliases, ferry.tags) == ("Ferry", ("The boat",), ("boats",))
        own = {key: value for key, value in ferry.extra.items() if key != "imported"}
        assert own == {"folder": "Projects", "status": "active", "source_type": "project", "rating": 4, "nested": {"a": [1, 2]}}
        assert [row["tag"] for row in mem.tags()] == ["boats"]
        assert title(mem, "2025-03-04").created_at.startswith("2025-03-04")


def test_a_vault_imported_again_updates_what_changed_there_and_keeps_what_changed_here(home: Path, vault: Path) -> None:
    take(home, vault)
    with Memory(home) as mem:
        mem.edit(title(mem, "2025-03-04").id, {"text": "Rain all day, and wind."})
    lay(vault, {"Harbour.md": "The harbour has four quays.\n", "New.md": "A new page.\n"})

    again = take(home, vault)

    assert (dict(again.kept), dict(again.updated)) == ({"note": 1}, {"note": 1})
    with Memory(home) as mem:
        assert title(mem, "Harbour").text == "The harbour has four quays."
        assert title(mem, "2025-03-04").text == "Rain all day, and wind."
        mem.edit(title(mem, "Harbour").id, {"text": "The harbour has five quays."})
    assert not take(home, vault).updated
    lay(vault, {"Harbour.md": "The harbour has six quays.\n"})
    both = take(home, vault)
    assert ["changed here and there" in finding.message for finding in both.findings if "quays" not in finding.message].count(True) == 1
    with Memory(home) as mem:
        assert title(mem, "Harbour").text == "The harbour has five quays."


def test_what_is_called_mine_is_told_and_undoing_it_is_another_line(
        home: Path, vault: Path, snapshot: Callable[[], dict[str, bytes]]) -> None:
    run = take(home, vault).to_dict()["import"]
    with Memory(home) as mem:
        assert "quays" not in mem.brief(context="the harbour").text
        before = {path: data for path, data in snapshot().items() if path.startswith("graph/")}
        about = mem.trust(imported=run, preview=True)
        assert (about["records"], about["kinds"], "quays" in mem.brief(context="the harbour").text) == (
            4, {"edge": 1, "note": 3}, False)

        mem.trust(imported=run)

        assert "quays" in mem.brief(context="the harbour").text
        assert mem.get("Harbour").origin["trust"] == "user"
        assert {path: data for path, data in snapshot().items() if path.startswith("graph/")} == before
        assert mem.trust()["imports"][0]["mine"] is True
        mem.reindex()
        assert "quays" in mem.brief(context="the harbour").text
        mem.trust(imported=run, undo=True)
        assert "quays" not in mem.brief(context="the harbour").text
        mem.trust(imported="Harbour")
        assert "quays" in mem.brief(context="the harbour").text
    lines = [json.loads(line) for line in (home / "curation.jsonl").read_text().splitlines()]
    assert [(line["op"], line.get("import") or line.get("id"), line["by"]) for line in lines] == [
        ("mine", run, "user"), ("not-mine", run, "user"), ("mine", lines[2]["id"], "user")]


def test_of_a_conversation_that_is_mine_the_persons_words_are_the_users(home: Path, tmp_path: Path) -> None:
    def message(role: str, text: str, at: int) -> dict[str, Any]:
        return {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}, "create_time": 1770000000 + at}

    def chat(name: str, said: str) -> dict[str, Any]:
        return {"title": name, "id": name, "create_time": 1770000000, "current_node": "b", "mapping": {
            "a": {"id": "a", "parent": None, "children": ["b"], "message": message("user", said, 1)},
            "b": {"id": "b", "parent": "a", "children": [], "message": message("assistant", "You could try oat milk.", 2)}}}

    source = tmp_path / "conversations.json"
    source.write_text(json.dumps([chat("Breakfast ideas", "I am allergic to walnuts."), chat("Travel in May", "I live in Trieste.")]))
    run = take(home, source).to_dict()["import"]
    with Memory(home) as mem:
        assert {row["topic"] for row in mem.topics()} == {"breakfast-ideas", "travel-in-may"}
        assert "walnuts" not in mem.brief().text
        mem.trust(imported=run)
        facts = {fact.object: fact.trust for fact in mem.facts()}
        assert facts["walnuts"] == "user"
        assert "walnuts" in mem.brief().text


def test_only_a_person_says_what_is_theirs(home: Path, vault: Path) -> None:
    run = take(home, vault).to_dict()["import"]

    with Memory(home, door="mcp", trust="agent") as mem, pytest.raises(Invalid, match="only a person"):
        mem.trust(imported=run)
    from otolith.verbs.table import verb

    assert "mcp" not in verb("trust").doors  # type: ignore[union-attr]
    with Memory(home) as mem, pytest.raises(Invalid, match="was not called yours"):
        mem.trust(imported=run, undo=True)


def test_at_the_command_line_an_import_may_be_called_mine_at_once(home: Path, vault: Path, run: Any) -> None:
    done = run("import", str(vault), "--mine")
    assert "it counts as yours" in done.out
    assert "quays" in run("brief", "the harbour").out
    [held] = run("trust", "--json").json["items"]
    assert (held["yours"], run("trust", "--import", held["import"], "--undo").code) == ("yes", 10)
    assert "from outside again" in run("trust", "--import", held["import"], "--undo", "--yes").out
    assert run("trust", "--import", "import-00000000", "--yes").code == 3
