"""Where the command line meets the edges of its world: bytes that are no text, streams that take nothing, numbers beyond all."""

from __future__ import annotations

import datetime
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Ran
from otolith.errors import Invalid
from otolith.memory import Memory

Run = Callable[..., Ran]
HUGE = "99999999999999999999999"


def one_line(told: Ran, code: int) -> str:
    assert told.code == code, told
    assert told.err.startswith("otolith: ")
    assert told.err.count("\n") == 1
    assert "Traceback" not in told.err
    assert "bug" not in told.err
    return told.err


@pytest.mark.parametrize("words", [("--help",), ("brief",), ("recall", "tea"), ("list",), ("get", "Tea")])
def test_a_terminal_that_lacks_a_sign_is_no_failure(run: Run, mem: Memory, words: tuple[str, ...]) -> None:
    mem.note("Tea", "Steep → three minutes … 東京 €")

    told = run(*words, env={"PYTHONIOENCODING": "iso-8859-1"})

    assert told.code == 0, told


def test_json_stays_json_in_another_coding(run: Run, mem: Memory) -> None:
    mem.note("Tea €", "Steep 😀.")

    told = run("recall", "tea", "--json", env={"PYTHONIOENCODING": "ascii"})

    assert told.json["hits"][0]["text"].endswith("Steep 😀.")


@pytest.mark.parametrize("words", [
    (b"recall", b"caf\xe9 redis"), (b"get", b"caf\xe9"), (b"list", b"--tag", b"caf\xe9"), (b"check-file", b"caf\xe9.py"),
    (b"episode", b"caf\xe9"), (b"stats", b"--home", b"/tmp/caf\xe9"), (b"caf\xe9",), (b"note", b"caf\xe9", b"--text", b"x")])
def test_bytes_that_are_no_text_are_told_in_one_line(home: Path, words: tuple[bytes, ...]) -> None:
    done = subprocess.run([sys.executable.encode(), b"-m", b"otolith", *words], capture_output=True, check=False,
                          env={**os.environ, "OTOLITH_HOME": str(home), "PYTHONUTF8": "1"})

    assert "not UTF-8" in one_line(Ran(done.returncode, done.stdout.decode(), done.stderr.decode()), 4)
    assert not home.exists()


@pytest.mark.parametrize("ask", [
    lambda mem: mem.recall("\ud800"), lambda mem: mem.get("\ud800"), lambda mem: mem.list(tag="\ud800"),
    lambda mem: mem.list(file=3), lambda mem: mem.sql(None),
    lambda mem: mem.recall("tea", min_confidence="x"), lambda mem: mem.list(since=float("nan")), lambda mem: mem.list(since=1e300),
    lambda mem: mem.list(limit=-1), lambda mem: mem.list(offset=-1), lambda mem: mem.list(limit=10**23),
    lambda mem: mem.list(offset=10**23), lambda mem: mem.related("Tea", 10**23), lambda mem: mem.edges(limit=-1),
    lambda mem: mem.edges(limit=10**23), lambda mem: mem.list(limit="5"), lambda mem: mem.tags_near("x", limit=-2)])
def test_python_is_told_what_is_wrong_with_an_argument(mem: Memory, ask: Callable[[Memory], Any]) -> None:
    mem.note("Tea", "Steep.")

    with pytest.raises(Invalid) as told:
        ask(mem)

    assert "\n" not in str(told.value)


def test_a_date_is_a_time_to_filter_by(mem: Memory) -> None:
    mem.note("Tea", "Steep.")

    assert mem.list(since=datetime.date(2026, 1, 1), kind="note")[1] == 1
    assert mem.list(before=datetime.date(2026, 1, 1), kind="note")[1] == 0


@pytest.mark.parametrize("words", [
    ("list", "--limit", HUGE), ("list", "--offset", HUGE), ("list", "--limit", "-3"), ("list", "--offset", "-1"),
    ("recall", "tea", "--limit", HUGE), ("edges", "--limit", HUGE), ("related", "Tea", "--depth", HUGE)])
def test_a_number_beyond_all_is_refused(run: Run, mem: Memory, words: tuple[str, ...]) -> None:
    mem.note("Tea", "Steep.")

    one_line(run(*words), 4)


@pytest.mark.parametrize("field", ["self", "expect", "id", "home"])
def test_a_field_that_cannot_be_set_is_refused_by_name(run: Run, mem: Memory, field: str) -> None:
    mem.note("Tea", "Steep.")

    assert field in one_line(run("edit", "Tea", "--set", f"{field}=x"), 4)


def shell(line: str, home: Path) -> Ran:
    done = subprocess.run(["bash", "-c", line.replace("otolith", f"{sys.executable} -m otolith")], capture_output=True, text=True,
                          check=False, env={**os.environ, "OTOLITH_HOME": str(home)}, timeout=60)
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("line", ["otolith list >&-", "otolith list >/dev/full", "otolith recall tea >/dev/full",
                                  "otolith --help >/dev/full", "otolith --help >&-"])
def test_an_answer_that_nobody_can_take_is_told_in_one_line(home: Path, mem: Memory, line: str) -> None:
    for number in range(200):
        mem.remember(f"Tea {number}: steep for three minutes.", conversation_id="tea")

    assert "cannot be written" in one_line(shell(line, home), 7)


@pytest.mark.parametrize(("line", "code"), [("otolith get nothing 2>/dev/full", 3), ("otolith get nothing 2>&-", 3),
                                            ("otolith list 2>&-", 0), ("otolith list | true", 0)])
def test_a_complaint_that_nobody_can_hear_changes_no_code(home: Path, mem: Memory, line: str, code: int) -> None:
    mem.note("Tea", "Steep.")

    told = shell(line, home)

    assert (told.code, told.err) == (code, "")


@pytest.mark.parametrize("option", ["tag", "topic", "type", "agent", "project"])
def test_a_filter_that_nothing_passes_is_named(run: Run, mem: Memory, option: str) -> None:
    mem.note("Redis", "It drops idle connections.")

    told = run("recall", "redis", f"--{option}", "nosuch")

    assert told.out == f"no record passes the filter ({option})\n"


def test_a_question_without_an_answer_among_what_passes_says_so(run: Run, mem: Memory) -> None:
    mem.note("Redis", "It drops idle connections.", tags=["db"])

    assert run("recall", "zeppelin", "--tag", "nosuch").out.startswith("no record passes")
    assert "nothing known" in run("recall", "qqqqzzzz", "--kind", "note", env={"OTOLITH_PROVIDER": "none"}).out


@pytest.mark.parametrize("budget", [20, 60, 200, 1000])
def test_what_is_printed_keeps_to_the_budget(run: Run, mem: Memory, budget: int) -> None:
    from otolith.providers.tokens import load_tokenizer

    for number in range(12):
        mem.note(f"Kettle {number} of the kitchen on the third floor", f"The kettle number {number} whistles.\n\nLoudly. " * 5)

    told = run("recall", "which", "kettle", "whistles", "--budget", str(budget))

    assert len(load_tokenizer().encode(told.out)) <= budget
    assert told.out if budget > 60 else (told.out or "larger budget" in one_line(told, 4))


@pytest.mark.parametrize("budget", [5, 40, 200])
def test_a_printed_brief_keeps_to_the_budget(run: Run, mem: Memory, budget: int) -> None:
    from otolith.providers.tokens import load_tokenizer

    mem.memo("user_prefers_short_answers_always", "User prefers short answers. " * 20)

    told = run("brief", "--budget", str(budget))

    assert len(load_tokenizer().encode(told.out)) <= budget
    assert told.out or "larger budget" in one_line(told, 4)


def test_a_home_that_is_a_file_is_called_no_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    assert "is not a folder" in one_line(run("list", "--home", str(tmp_path / "file")), 4)


@pytest.mark.parametrize(("words", "code"), [
    (("record", "nofile"), 3), (("log", "nofile"), 3), (("end", "nofile"), 3), (("topics", "nope"), 3), (("get", "../x"), 4),
    (("get", "chunk-../x"), 4), (("get", "chunk-x/.."), 4)])
def test_the_same_mistake_has_the_same_code(run: Run, mem: Memory, words: tuple[str, ...], code: int) -> None:
    mem.note("Tea", "Steep.")

    one_line(run(*words), code)


def test_check_names_settings_that_cannot_be_read_and_goes_on(run: Run, mem: Memory, home: Path) -> None:
    mem.init()
    (home / "otolith.toml").write_text("home_id = \n")
    (home / "graph" / "general").mkdir(parents=True, exist_ok=True)
    (home / "graph" / "general" / "broken.md").write_text("---\ntitle: [\n---\n")

    told = run("check", "--json")

    assert told.code == 6
    assert {"otolith.toml", "graph/general/broken.md"} <= {found["path"] for found in told.json["findings"]}


def test_gauges_that_could_not_be_kept_are_no_success(run: Run, mem: Memory, home: Path) -> None:
    mem.note("Tea", "Steep.")
    assert run("hud", "--past", "x", "--session", "s").code == 0
    state = next(path for path in (home / "log").rglob("*") if path.is_file() and b'"past"' in path.read_bytes())
    state.unlink()
    state.mkdir()  # nothing can be written there

    assert run("hud", "--past", "y", "--session", "s").code == 7
    assert run("hud", "--session", "other").code == 0


def on_a_terminal(home: Path, *words: str, **env: str) -> str:
    main, side = pty.openpty()
    subprocess.run(["stty", "cols", "80", "rows", "40"], stdin=side, check=True)
    subprocess.run([sys.executable, "-m", "otolith", *words], stdout=side, stdin=side, check=False,
                   env={**os.environ, "OTOLITH_HOME": str(home), "TERM": "xterm-256color", **env})
    os.close(side)
    said = b""
    try:
        while piece := os.read(main, 65_536):
            said += piece
    except OSError:
        pass
    os.close(main)
    return said.decode()


def test_no_color_means_no_dress_at_all(home: Path, mem: Memory) -> None:
    mem.note("Tea", "Steep.")

    assert "\x1b[" in on_a_terminal(home, "list")
    assert "\x1b[" not in on_a_terminal(home, "list", NO_COLOR="1")


def test_a_narrow_terminal_shows_titles_and_ids_that_still_find(home: Path, mem: Memory, run: Run) -> None:
    note = mem.note("Redis drops idle connections", "After five minutes.", tags=["redis"])

    lines = on_a_terminal(home, "list", "--kind", "note", NO_COLOR="1").splitlines()

    row = next(line for line in lines if "Redis" in line)
    assert "Redis drops idle" in row
    assert len(row.split()[0]) < len(note.id)
    assert json.loads(run("get", row.split()[0], "--json").out)["id"] == note.id


def test_get_tells_the_depth_that_was_asked_for_in_json_too(run: Run, mem: Memory) -> None:
    note = mem.note("Tea", "Steep it for three minutes. Then pour.")

    brief, whole = (run("get", note.id, "--depth", depth, "--json").json for depth in ("summary", "full"))

    assert brief["text"] == "Tea. Steep it for three minutes."
    assert "record" not in brief
    assert whole["record"]["text"] == "Steep it for three minutes. Then pour."
