"""What a person sees on a real terminal of 80 or 120 columns: lists, hits, one record, questions, help."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Ran
from otolith.doors.cli.terminal import age, columns, cut, short_ids, table
from otolith.memory import Memory
from otolith.verbs.table import SYNONYMS, grouped, verb
from otolith.verbs.table import table as verbs

Run = Callable[..., Ran]
Typed = Callable[..., str]
STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def terminal(home: Path) -> Typed:
    """`otolith …` on a terminal so wide, with what a person types there; styles are taken off."""

    def call(*words: str, wide: int = 80, typed: str = "\x04", styled: bool = False, **env: str) -> str:
        main, side = pty.openpty()
        subprocess.run(["stty", "cols", str(wide), "rows", "200", "-echo"], stdin=side, check=True)
        process = subprocess.Popen([sys.executable, "-m", "otolith", *words], stdout=side, stderr=side, stdin=side, env={
            **os.environ, "OTOLITH_HOME": str(home), "TERM": "xterm-256color", "PAGER": "cat", **env})
        os.close(side)
        pieces: list[bytes] = []

        def read() -> None:
            try:
                while piece := os.read(main, 65_536):
                    pieces.append(piece)
            except OSError:
                pass

        reader = threading.Thread(target=read)
        reader.start()
        os.write(main, typed.encode())
        process.wait(timeout=60)
        reader.join()
        os.close(main)
        text = b"".join(pieces).decode().replace("\r\n", "\n")
        return text if styled else STYLE.sub("", text)

    return call


LONG = "A very long title that goes on and on about sockets, pools, timeouts and everything else that may break at night"


@pytest.fixture
def filled(mem: Memory, clock: Any) -> Memory:
    mem.note("Redis drops idle connections", "Nobody knew for weeks. After five minutes the pool hands out dead sockets.",
             type="problem", tags=["redis"])
    mem.note(LONG, "It breaks.", tags=["redis"], project="shop")
    mem.note("東京の会議室の予約はいつも火曜日の朝に行うことになっているので忘れないようにしてください。お願いします", "会議。")
    mem.memo("user_prefers_structured_output", "Answers as tables.")
    mem.remember("We decided to keep sessions in Redis and nothing else.", conversation_id="planning")
    mem.log([{"role": "user", "content": "I live in Bremen and I prefer short answers."}], topic="home-town")
    mem.record(goal="Fix random logouts", task_type="bug_fix", success=False, summary="Longer tokens only hid it")
    return mem


@pytest.mark.parametrize("wide", [80, 120])
@pytest.mark.parametrize("words", [
    ("list",), ("list", "--all"), ("facts",), ("topics",), ("history",), ("tags",), ("recall", "redis sockets"), ("related", "Redis"),
    ("agents",), ("edges",), ("episode",), ("sql", "SELECT * FROM memories"), ("decay", "--status", "active"), ("--help",)])
def test_no_line_is_wider_than_the_terminal(terminal: Typed, filled: Memory, words: tuple[str, ...], wide: int) -> None:
    lines = terminal(*words, wide=wide).splitlines()

    assert lines
    assert [line for line in lines if columns(line) > wide] == []


def test_a_list_has_a_line_for_each_record_with_its_age_and_a_cut_title(terminal: Typed, filled: Memory, clock: Any) -> None:
    head, *lines = terminal("list").splitlines()

    assert head.split() == ["id", "kind", "age", "project", "title"]
    assert len(lines) == 7
    assert [line for line in lines if line.endswith("…")], "the long title is cut"
    assert all(re.match(r"\S+ +(note|memo|chunk|entry|work) +\d+(s|m|h|d|w|mo|y) ", line) for line in lines)


def test_what_is_built_from_others_is_listed_only_when_it_is_asked_for(terminal: Typed, filled: Memory, run: Run) -> None:
    assert " fact " not in terminal("list")
    assert " fact " in terminal("list", "--all")
    assert " fact " in terminal("list", "--kind", "fact")
    assert {item["kind"] for item in run("list", "--json").json["items"]} >= {"fact", "note"}


def test_a_date_is_never_cut(terminal: Typed, filled: Memory) -> None:
    for wide in (80, 120):
        assert re.search(r"2026-02-10( |$)", terminal("history", wide=wide), re.MULTILINE)


@pytest.mark.parametrize("wide", [80, 120])
def test_a_hit_is_two_lines_with_the_words_that_were_asked_for_marked(terminal: Typed, filled: Memory, wide: int) -> None:
    first, second, *_ = terminal("recall", "what drops idle sockets in the pool", wide=wide).splitlines()

    assert re.fullmatch(r"1\. Redis drops idle connections +\(note [0-9a-f]{6} \d+\w+\)", first)
    assert re.match("   (After five minutes |…)the pool hands out dead sockets[.] [(]words: ", second)
    assert "\x1b[1msockets\x1b[0m" in terminal("recall", "what drops idle sockets in the pool", wide=wide, styled=True)


def test_five_hits_are_shown_unless_more_are_asked_for(terminal: Typed, mem: Memory) -> None:
    for number in range(8):
        mem.note(f"Kettle {number}", f"Kettle number {number} whistles at {90 + number} degrees.")

    hits = terminal("recall", "kettle whistles")

    assert len(re.findall(r"^\d+\. ", hits, re.MULTILINE)) == 5
    assert len(hits.splitlines()) == 10
    assert len(re.findall(r"^\d+\. ", terminal("recall", "kettle whistles", "--limit", "7"), re.MULTILINE)) == 7
    assert len(re.findall(r"^\d+\. ", terminal("recall", "kettle whistles", "--full"), re.MULTILINE)) == 8


def test_get_shows_what_it_is_its_links_both_ways_and_its_history(terminal: Typed, mem: Memory, clock: Any) -> None:
    mem.note("Redis drops idle connections", "Dead sockets.", type="problem", tags=["redis"], project="shop")
    mem.note("Keepalive", "We use a timeout of 300 seconds.", type="solution")
    mem.link("Keepalive", "SOLVES", "Redis drops idle connections")

    problem, solution = terminal("get", "Redis drops"), terminal("get", "Keepalive")

    assert re.search(r"^made 2026-02-10 21:37.*; type problem; tags redis; project shop; trust user$", problem, re.MULTILINE)
    assert "\nLinks\n  ← solved_by  Keepalive  (note " in problem
    assert "\nLinks\n  → solves  Redis drops idle connections  (note " in solution
    assert re.search(r"\nHistory\n  2026-02-10  note: by main \(python\)\n", problem)


def test_history_in_a_pipe_is_asked_for(run: Run, mem: Memory, clock: Any) -> None:
    mem.note("Port of the cache", "The cache listens on port 6379.")
    clock.pass_time(days=3)
    mem.note("New port of the cache", "The cache listens on port 6380 now")

    assert "History" not in run("get", "Port of the cache").out
    told = run("get", "Port of the cache", "--history").out
    assert "2026-02-10  said: The cache listens on port 6379\n" in told
    assert "2026-02-13  replaced: The cache listens on port 6380 now" in told


# Which record is meant


@pytest.mark.parametrize("verb_name", ["get", "related", "pin", "forget"])
def test_any_verb_takes_four_signs_of_an_id_or_a_part_of_a_title(run: Run, mem: Memory, verb_name: str) -> None:
    note = mem.note("Redis drops idle connections", "Dead sockets.")
    mem.note("Tea", "Steep.")

    for handle in (note.id[:4], "Redis drops idle connections", "idle conn"):
        assert run(verb_name, handle).code == 0, handle
        if verb_name == "forget":
            assert run("restore", handle).code == 0, handle


def test_the_short_id_of_every_kind_in_a_list_finds_its_record(run: Run, filled: Memory) -> None:
    items = run("list", "--json").json["items"]

    for item, short in zip(items, short_ids([item["id"] for item in items]), strict=True):
        assert run("get", short, "--json").json["id"] == item["id"], (short, item)


def test_of_several_records_a_terminal_asks_which_is_meant(terminal: Typed, run: Run, mem: Memory) -> None:
    mem.note("Kettle one", "Whistles.")
    mem.note("Kettle two", "Hums.")

    asked = terminal("get", "Kettle", typed="2\n")
    assert "'Kettle' could be:" in asked
    assert len(re.findall(r"^  \d  [0-9a-f]{6}  note  Kettle (?:one|two)$", asked, re.MULTILINE)) == 2
    second = re.findall(r"^  2  \S+  note  (.*)$", asked, re.MULTILINE)[0]
    assert f"{second}\nnote " in asked
    refused = run("get", "Kettle")
    assert refused.code == 4
    assert refused.err.count("\n") == 1
    assert "give more of the id or of the title" in refused.err


def test_nothing_chosen_changes_nothing(terminal: Typed, run: Run, mem: Memory) -> None:
    mem.note("Kettle one", "Whistles.")
    mem.note("Kettle two", "Hums.")

    assert "nothing was done" in terminal("forget", "Kettle", typed="\n")
    assert run("list", "--kind", "note", "--json").json["total"] == 2


def test_a_purge_wants_the_record_named_exactly(run: Run, mem: Memory) -> None:
    mem.note("Kettle one", "Whistles.")

    assert run("forget", "Kettle", "--purge", "--yes").code == 3
    assert run("get", "Kettle one").code == 0


def test_a_title_of_four_signs_is_no_beginning_of_an_id(run: Run, mem: Memory) -> None:
    note = mem.note("Cafe", "Open till six.")

    assert run("get", "cafe", "--json").json["id"] == note.id


# Words


def test_help_is_short_and_its_groups_hold_every_command(run: Run) -> None:
    overview = run("--help").out
    names = [name for group in grouped().values() for name in group]

    assert len(overview.splitlines()) <= 30
    assert overview.index("Start here:\n  note ") < overview.index("Keep:") < overview.index("Find:") < overview.index("Data:")
    assert sorted(names) == sorted(row.name for row in verbs().values() if "cli" in row.doors)
    assert run("help", "recall").out == run("recall", "--help").out
    assert run("help", "keep").out.startswith("Keep:\n  remember ")


@pytest.mark.parametrize("word", SYNONYMS)
def test_a_word_of_other_tools_is_understood(run: Run, word: str) -> None:
    told = run(word, "--help")

    assert told.code == 0
    assert told.out.startswith(f"usage: otolith {SYNONYMS[word]} ")
    assert verb(SYNONYMS[word])
    assert not verb(word) or "cli" not in verbs()[word].doors


def test_add_search_rm_and_version_do_what_they_say(run: Run) -> None:
    assert run("add", "hello", "world").code == 0
    assert "hello world" in run("search", "hello").out
    assert run("rm", "hello world").code == 0
    assert run("version").out == run("--version").out


def test_a_title_may_be_several_words_and_a_second_one_is_noticed(terminal: Typed, run: Run) -> None:
    assert run("note", "hello", "world").code == 0
    again = terminal("note", "hello", "world")

    assert "kept note " in again
    assert "there is another note of this title" in again


def test_edit_without_fields_opens_the_editor_on_the_file(terminal: Typed, run: Run, mem: Memory, tmp_path: Path) -> None:
    note = mem.note("Tea", "Steep for three minutes.")
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/three/four/' \"$1\"\n")
    editor.chmod(0o755)

    assert "changed note" in terminal("edit", "Tea", EDITOR=str(editor))
    assert run("get", note.id, "--json").json["record"]["text"].strip() == "Steep for four minutes."
    assert "nothing was changed" in terminal("edit", "Tea", EDITOR="true")
    assert "the editor did not finish" in terminal("edit", "Tea", EDITOR="false")
    assert run("edit", "Tea").code == 2


def test_the_first_sync_says_how_much_it_took_in(run: Run, mem: Memory, tmp_path: Path) -> None:
    for number in range(50):
        mem.note(f"Kettle {number}", "Whistles.")
    mem.close()

    told = run("sync", env={"XDG_CACHE_HOME": str(tmp_path / "other")})

    assert re.search(r"read for the first time: 50 records in \d+ files \(50 notes\)", told.err)
    (mem.path / "graph/general/by-hand.md").write_text("---\ntitle: By hand\n---\nText.\n")
    again = run("sync", env={"XDG_CACHE_HOME": str(tmp_path / "other")})
    assert "by-hand.md" in again.out
    assert "1 change: 51 records in" in again.err


def test_a_long_answer_goes_through_the_pager(terminal: Typed, mem: Memory, tmp_path: Path) -> None:
    for number in range(60):
        mem.note(f"Kettle {number}", "Whistles. " * 50 + "\n\nx" * 100)
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGED; cat\n")
    pager.chmod(0o755)

    assert terminal("get", "Kettle 3", PAGER=str(pager)).startswith("PAGED\n")
    assert "PAGED" not in terminal("list", "--limit", "3", PAGER=str(pager))


def test_what_a_record_says_cannot_act_on_the_terminal(terminal: Typed, mem: Memory) -> None:
    mem.note("Bell \x1b]0;owned\x07 here", "It says \x1b[2J sockets.")

    for words in (("list",), ("recall", "sockets"), ("get", "Bell")):
        assert "\x1b]" not in terminal(*words, styled=True)
        assert "\x1b[2J" not in terminal(*words, styled=True)


# The parts


@pytest.mark.parametrize(("seconds", "shown"), [(5, "5s"), (300, "5m"), (7200, "2h"), (2 * 86_400, "2d"), (21 * 86_400, "3w"),
                                                (150 * 86_400, "4mo"), (800 * 86_400, "2y"), (-5, "0s")])
def test_an_age_is_a_few_signs(seconds: float, shown: str) -> None:
    assert age(1_000_000_000, 1_000_000_000 + seconds) == shown


def test_wide_characters_take_two_columns() -> None:
    assert columns("東京") == 4
    assert cut("東京都庁", 5) == "東京…"


def test_a_table_gives_the_room_to_what_cannot_be_cut() -> None:
    rows = [{"id": "a" * 8, "created": "2026-02-10T21:37:00Z", "title": "t" * 200}]

    assert table(rows, ("id", "created", "title"), 40)[1] == "aaaaaaaa  2026-02-10  " + "t" * 17 + "…"
