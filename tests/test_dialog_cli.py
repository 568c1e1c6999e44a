"""The dialog ladder at the command line: log, facts, topics, global, show, and the walk through waiting facts."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Ran

Run = Callable[..., Ran]
DIALOG = "Ann: I live in Lyon. I am a vegan.\nBen: I will call the landlord tomorrow."


def test_log_answers_with_the_record_and_its_facts(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "dialog.md"
    file.write_text(DIALOG)

    done = run("log", str(file), "--topic", "flat", "--tag", "home", "--created", "2026-02-01", "--json")

    answer = done.json
    assert answer["kind"] == "entry"
    assert answer["path"] == f"topics/flat/{answer['id']}"
    assert answer["record"]["meta"]["tags"] == ["home"]
    assert answer["record"]["summary"]["facts"][0]["object"] == "Lyon"


@pytest.mark.parametrize(("words", "stdin", "code"), [
    (["log", "nowhere.md"], "", 3), (["log", "-", "--topic", "t"], "", 4), (["log", "-", "--topic", "../x"], "hi there", 4),
    (["log", "-"], b"\xff\xfe\x00", 2), (["log"], "", 2), (["facts", "--topic", "nothing"], "", 3),
    (["global"], "", 3), (["topics", "nothing"], "", 3), (["facts", "--type", "rumour"], "", 2),
    (["review", "fact_00", "3"], "", 3), (["show", "global"], "", 3)])
def test_every_wrong_call_is_one_line_and_its_own_code(run: Run, words: list[str], stdin: str | bytes, code: int) -> None:
    done = run(*words, stdin=stdin)

    assert done.code == code, done.err
    assert done.out == ""
    assert len(done.err.strip().splitlines()) == 1


def test_binary_files_are_refused(run: Run, tmp_path: Path, home: Path) -> None:
    file = tmp_path / "picture.png"
    file.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")

    assert run("log", str(file), "--topic", "t").code == 4
    assert not (home / "topics").exists()


@pytest.mark.clause("dialog-02", "dialog-30")
def test_reading_commands_only_read(run: Run, snapshot: Callable[[], dict[str, bytes]]) -> None:
    run("log", "-", "--topic", "flat", stdin=DIALOG)
    run("upkeep")
    before = snapshot()

    assert [item["topic"] for item in run("topics", "--json").json["items"]] == ["flat"]
    assert run("topics", "flat", "--json").json["schema"] == "topic_memory.v1"
    assert "Ann lives in Lyon" in run("topics", "flat").out
    assert run("global", "--json").json["schema"] == "global_memory.v1"
    assert run("global").out == run("show", "global").out
    assert {item["object"] for item in run("facts", "--topic", "flat", "--type", "identity", "--json").json["items"]} == {
        "Lyon", "a vegan"}
    assert snapshot() == before


def test_topics_and_global_build_when_told(run: Run, home: Path) -> None:
    run("log", "-", "--topic", "flat", stdin=DIALOG)

    assert run("topics", "--build").code == 0
    assert "Ann lives in Lyon" in run("global", "--build").out
    assert (home / "topics/flat/topic_memory.md").is_file()


def test_facts_are_records_to_get_link_and_cite(run: Run) -> None:
    run("log", "-", "--topic", "flat", stdin=DIALOG)
    run("note", "Diet", "--text", "What Ann eats.")
    fact = next(item for item in run("facts", "--json").json["items"] if "vegan" in item["object"])

    assert run("link", "Diet", "cites", fact["id"]).code == 0
    assert "Ann is a vegan" in run("related", "Diet").out
    assert json.loads(run("get", fact["id"], "--json").out)["record"]["sentence"] == "I am a vegan"
    assert "I am a vegan" in run("get", fact["id"][:12]).out


def test_the_walk_scores_corrects_rejects_and_stops(run: Run, home: Path) -> None:
    run("log", "-", "--topic", "flat", stdin=DIALOG)
    waiting = run("review", "--json").json["items"]

    screen = play(["review"], home, ["9\n", "wrong\n", "r\n", "c\n", "object=the agent\n"])

    assert screen.count("0-10, r(eject)") == 4
    for item in waiting:
        assert item["sentence"] in screen
    assert "3 reviewed, 0 waiting" in screen
    reviewed = {item["id"]: item["user_fact_score"] for item in run("facts", "--rejected", "--json").json["items"]}
    assert reviewed[waiting[0]["id"]] == 9
    assert reviewed[waiting[1]["id"]] == 0
    assert waiting[2]["id"] not in reviewed
    assert "the agent" in run("facts").out


def test_the_walk_asks_about_contradictions_first(run: Run, home: Path) -> None:
    run("log", "-", "--topic", "ports", stdin="user: The API port is 8080.")
    run("log", "-", "--topic", "ports", stdin="assistant: The API port is 8443.")

    screen = play(["review"], home, ["what\n", "n\n", "q\n"])

    assert "These do not go together" in screen
    assert run("contradictions", "--json").json["items"] == []
    old = next(item for item in run("facts", "--json").json["items"] if item["object"] == "8080")
    assert old["valid_until"]


def test_the_walk_can_be_left_at_any_time(run: Run, home: Path) -> None:
    run("log", "-", "--topic", "flat", stdin=DIALOG)

    assert "0 reviewed, 3 waiting" in play(["review"], home, ["\n", "q\n"])
    assert len(run("review", "--json").json["items"]) == 3


def play(words: list[str], home: Path, typed: list[str]) -> str:
    """Run a command on a terminal of its own, typing an answer whenever it asks."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "otolith", *words], stdin=theirs, stdout=theirs, stderr=theirs,
                               env={**os.environ, "OTOLITH_HOME": str(home), "TERM": "dumb"})
    os.close(theirs)
    screen, seen, stop = "", 0, time.monotonic() + 60
    while time.monotonic() < stop:
        if select.select([ours], [], [], 0.2)[0]:
            try:
                data = os.read(ours, 4096)
            except OSError:
                break
            if not data:
                break
            screen += data.decode()
        asked = screen.count("q(uit): ") + screen.count("FIELD=VALUE)")
        if asked > seen and typed:
            seen = asked
            os.write(ours, typed.pop(0).encode())
        if process.poll() is not None and not select.select([ours], [], [], 0)[0]:
            break
    process.wait(10)
    os.close(ours)
    return screen.replace("\r\n", "\n")
