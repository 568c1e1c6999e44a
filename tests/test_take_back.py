"""`otolith undo`: the last thing that was written is taken back, whatever verb wrote it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from otolith import Memory

KEPT = "graph/ allmemories/ chunks/ topics/ work/ vault/"


@pytest.fixture
def held(home: Path, snapshot: Callable[[], dict[str, bytes]]) -> Callable[[], dict[str, bytes]]:
    """What the home holds, but for logs and the time of the last change."""
    def take() -> dict[str, bytes]:
        return {path: re.sub(rb"updated: .*", b"", data) for path, data in snapshot().items()
                if path.startswith(tuple(KEPT.split()))}

    return take


ACTS = {
    "note": ("note", "Salt", "--text", "Keep it dry."),
    "memo": ("memo", "salt_keeps_best_dry", "--text", "Keep it dry."),
    "remember": ("remember", "Salt keeps best in a dry place.", "--conversation", "c"),
    "record": ("record", "--goal", "Dry the salt", "--task", "other", "--success", "--summary", "Dried"),
    "edit": ("edit", "Tea", "--text", "Steep for five minutes.", "--tag", "drink"),
    "retype": ("edit", "Tea", "--type", "procedure"),
    "link": ("link", "Tea", "REQUIRES", "Kettle", "--context", "hot water"),
    "pin": ("pin", "Tea"),
    "forget": ("forget", "Tea"),
    "merge": ("merge", "Tea", "Kettle"),
    "unlink": ("unlink", "Tea", "RELATED_TO", "Cup"),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_what_was_done_last_is_taken_back(act: tuple[str, ...], home: Path, run: Any, held: Any) -> None:
    with Memory(home) as mem:
        tea, cup = mem.note("Tea", "Steep for three minutes."), mem.note("Cup", "It is blue.")
        mem.note("Kettle", "It whistles.")
        mem.link(tea.id, "RELATED_TO", cup.id)
    before = held()

    assert run(*act).code == 0
    assert held() != before
    assert run("undo", "--preview").out.startswith("would undo")
    done = run("undo")

    assert done.out.startswith("undid"), done.err
    now = {path: data for path, data in held().items() if not path.startswith("graph/edges/")}
    assert now.keys() == {path for path in before if not path.startswith("graph/edges/")}
    with Memory(home) as mem:
        assert {(hit.title, hit.text) for hit in map(mem.get, ("Tea", "Cup", "Kettle"))} == {
            ("Tea", "Steep for three minutes."), ("Cup", "It is blue."), ("Kettle", "It whistles.")}
        assert [neighbour["title"] for neighbour in mem.related("Tea")] == ["Cup"]
        assert (mem.get("Tea").record.type, mem.get("Tea").record.tags) == ("general", ())


def test_undo_goes_further_back_each_time_and_then_says_that_nothing_is_left(run: Any) -> None:
    run("note", "One", "--text", "First.")
    run("edit", "One", "--text", "Second.")
    run("note", "Two", "--text", "Other.")

    assert ("note" in run("undo").out, run("get", "Two").code) == (True, 3)
    assert "edit" in run("undo").out
    assert "First." in run("get", "One").out
    assert "note" in run("undo").out
    last = run("undo")
    assert (last.code, "nothing to undo" in last.err) == (3, True)


def test_an_import_is_taken_back_as_a_whole(home: Path, run: Any, tmp_path: Path) -> None:
    run("note", "One", "--text", "First.")
    (tmp_path / "vault").mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / "vault" / f"{name}.md").write_text(f"Page {name}.")
    run("import", str(tmp_path / "vault"), "--from", "obsidian")

    assert "undid import import-" in run("undo").out
    assert [item["title"] for item in run("list", "--json").json["items"]] == ["One"]


def test_an_agent_undoes_nothing(home: Path) -> None:
    from otolith.errors import Invalid

    with Memory(home, door="mcp", trust="agent") as mem:
        mem.note("One", "First.")
        with pytest.raises(Invalid, match="only a person"):
            mem.undo()
