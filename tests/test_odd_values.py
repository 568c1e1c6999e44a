"""One odd thing among many stops nothing: a value in a file, a read that fails for a moment, a writer beside upkeep."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import Clock, Ran
from otolith.memory import Memory

ODD = {
    "a number of 5,000 digits": "9" * 5000, "a number beyond any column": "9223372036854775808", "no number": "NaN",
    "without end": "-Infinity", "too large": "1e999", "a list 3,000 deep": "[" * 3000 + "]" * 3000,
    "half a character": '"\\ud800"', "a NUL": '"\\u0000"', "a year 99999": '"99999-01-01T00:00:00Z"',
    "the year 10000": "253402300800", "before the year 1": "-62135596801", "a foreign digit": '"entry_meta.v²"',
    "nothing": "null", "a list": "[]", "an object with a key twice": '{"a": 1, "a": 2}'}


@pytest.fixture
def laid(mem: Memory) -> dict[str, Path]:
    """A home with a file of each JSON kind; by kind."""
    note = mem.note("Tea", "Steep for three minutes.")
    chunk = mem.remember("The cache of redis is warm.", conversation_id="c")[0]
    entry = mem.log("Ann: I live in Rome.", topic="life")
    first = mem.record(goal="Fix the login", task_type="bug_fix", success=False, summary="It failed", files=["a.py"])
    mem.agent("worker")
    mem.chapter([first.id], title="Login", summary="It failed")
    mem.link(chunk.id, "related_to", note.id)
    mem.review(mem.facts()[0].id, score=9)
    mem.upkeep()
    mem.recall("tea")
    home = mem.path
    return {"chunk": next(home.glob("chunks/*/*.json")), "work": next(home.glob("work/2*/*.json")),
            "agent": next(home.glob("work/agents/*")), "chapter": next(home.glob("work/chapters/*")),
            "meta": home / f"topics/life/{entry.id}/meta.json", "summary": home / f"topics/life/{entry.id}/summary.json",
            "topic": home / "topics/life/topic_memory.json", "global": home / "GLOBAL_MEMORY.json",
            "state": home / "_state.json", "links": home / "links.jsonl", "curation": home / "topics/life/curation.jsonl",
            "usage": next(home.glob("log/usage-*.jsonl"))}


def spots(text: str) -> list[tuple[int, int]]:
    """Where each value of a JSON text stands that is no list or object."""
    import re

    return [match.span(1) for match in re.finditer(r': ?("(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*|true|false|null)', text)]


def every_verb(mem: Memory) -> None:
    mem.check()
    assert "Tea" in [row["title"] for row in mem.list(limit=None)[0]]
    assert mem.recall("steep minutes").hits[0].title == "Tea"
    assert not [reason for reason in mem.upkeep().failed.values() if "bug" in reason]
    mem.brief()
    mem.facts()
    mem.topics()
    mem.chapters()
    mem.check_file("a.py")
    mem.stats()


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_value_anywhere_in_a_file_stops_no_verb(laid: dict[str, Path], mem: Memory, home: Path, clock: Clock,
                                                       odd: str) -> None:
    for file in laid.values():
        data = file.read_text()
        places = spots(data)
        for start, stop in {places[0], places[len(places) // 2], places[-1]}:
            file.write_text(data[:start] + ODD[odd] + data[stop:])
            with Memory(home, clock=clock) as other:
                other.check()
                assert "Tea" in [row["title"] for row in other.list(limit=None)[0]]
                assert other.recall("steep minutes").hits[0].title == "Tea"
        with Memory(home, clock=clock) as other:
            every_verb(other)
        clock.pass_time(seconds=1)
        file.write_text(data)


def test_a_number_of_too_many_digits_is_named_with_its_line(laid: dict[str, Path], home: Path, run: Callable[..., Ran]) -> None:
    laid["work"].write_text(laid["work"].read_text().replace('"importance": 0.5', f'"importance": {"9" * 5000}'))
    lines = laid["work"].read_text().splitlines()

    findings = run("check", "--json")

    assert findings.code == 6
    found, = (one for one in findings.json["findings"] if one["path"] == str(laid["work"].relative_to(home)))
    assert found["line"] == next(at for at, line in enumerate(lines, 1) if "9" * 5000 in line)
    assert run("list").code == 0


def test_a_schema_of_a_foreign_digit_is_read_by_its_shape(laid: dict[str, Path], run: Callable[..., Ran]) -> None:
    laid["meta"].write_text(laid["meta"].read_text().replace("entry_meta.v1", "entry_meta.v²"))

    assert run("list", "--kind", "entry").code == 0
    assert len(run("facts", "--json").json["items"]) == 1


@given(chance=st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_of_mutated_bytes_stops_no_verb(laid: dict[str, Path], home: Path, clock: Clock, chance: Any) -> None:
    file = chance.choice(sorted(laid.values()))
    whole = file.read_bytes()
    data = bytearray(whole)
    for _ in range(chance.choice([1, 3, 20])):
        data[chance.randrange(len(data))] = chance.randrange(256)
    file.write_bytes(data)
    try:
        with Memory(home, clock=clock) as mem:
            mem.check()
            assert mem.recall("steep minutes").hits[0].title == "Tea"
            assert "Tea" in [row["title"] for row in mem.list(limit=None)[0]]
    finally:
        file.write_bytes(whole)


@pytest.mark.parametrize("table", ["score = 5", "[tiers.core]\nscroe = 5", "[tiers.cores]\nscore = 5", '[tiers.core]\ntypes = "x"',
                                   "[tiers]\ncore = 5"])
def test_a_wrong_key_among_the_tiers_is_a_finding(laid: dict[str, Path], home: Path, clock: Clock, table: str) -> None:
    settings_file = home / "otolith.toml"
    settings_file.write_text(settings_file.read_text() + f"\n{table}\n")

    with Memory(home, clock=clock) as mem:
        findings = [finding for finding in mem.check() if finding.path == "otolith.toml"]

    assert len(findings) == (0 if table.startswith("score") else 1)


# A read that fails for a moment


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Names of files and folders → the error of the system on opening them."""
    wrong: dict[str, int] = {}
    really, listing = os.open, os.scandir

    def opening(path: Any, *more: Any, **named: Any) -> int:
        if code := wrong.get(str(path).rsplit("/", 1)[-1]):
            raise OSError(code, os.strerror(code))
        return really(path, *more, **named)

    def scanning(path: Any) -> Any:
        if code := wrong.get(str(path).rsplit("/", 1)[-1]):
            raise OSError(code, os.strerror(code))
        return listing(path)

    monkeypatch.setattr(os, "open", opening)
    monkeypatch.setattr(os, "scandir", scanning)
    return wrong


@pytest.mark.parametrize("code", [errno.EMFILE, errno.EIO, errno.EACCES])
def test_a_file_that_could_not_be_read_is_read_by_the_next_sweep(mem: Memory, home: Path, failing: dict[str, int], code: int) -> None:
    note = mem.note("Tea", "Steep for three minutes.")
    file = next(home.glob("graph/general/tea-*.md"))
    file.write_text(file.read_text().replace("three", "seven"))
    (home / "graph/general/mate.md").write_text("---\ntitle: Mate\n---\n\nNever boil it.\n")
    failing |= {file.name: code, "mate.md": code}

    assert [change.what for change in mem.sync() if change.path.startswith("graph")] == ["not-read", "not-read"]
    assert mem.sync() == []
    assert {finding.path for finding in mem.check()} == {"graph/general/mate.md", str(file.relative_to(home))}
    assert [row["id"] for row in mem.list(kind="note")[0]] == [note.id]
    failing.clear()

    assert mem.recall("seven minutes", kind="note").hits[0].id == note.id
    assert mem.recall("boil", kind="note").hits[0].title == "Mate"
    assert mem.check() == []


@pytest.mark.parametrize("code", [errno.EMFILE, errno.EIO, errno.EACCES])
def test_a_folder_that_cannot_be_read_for_a_moment_keeps_its_records(mem: Memory, failing: dict[str, int], code: int) -> None:
    note = mem.note("Tea", "Steep for three minutes.")
    mem.sync()
    failing["general"] = code

    mem.sync()
    mem.sync()
    assert [row["id"] for row in mem.list(kind="note")[0]] == [note.id]
    failing.clear()

    assert mem.recall("steep", kind="note").hits[0].id == note.id
    assert mem.check() == []


# Others write during upkeep

WRITE = """
import sys
from otolith.memory import Memory
from otolith.errors import Conflict, NotFound
mem, at = Memory(), 0
print('here', flush=True)
while True:
    at += 1
    kept = [mem.note(f'Note {at}', 'Redis.', tags=[f't{at % 5}']), mem.log(f'Ann: I live in Rome {at}.', topic=f'life-{at % 3}'),
            mem.record(goal=f'Fix {at}', task_type='bug_fix', success=at % 2 == 0, summary='Done', files=['a.py']),
            mem.remember(f'The cache {at} is warm.', conversation_id='c')[0]]
    for record in kept[at % 2 :: 2]:
        mem.forget(record.id)
"""


def test_upkeep_goes_on_while_others_write_and_forget(home: Path, clock: Clock) -> None:
    with Memory(home, clock=clock) as mem:
        mem.note("Tea", "Steep.")
        writer = subprocess.Popen([sys.executable, "-c", WRITE], env={**os.environ, "OTOLITH_HOME": str(home)}, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert writer.stdout is not None
        assert writer.stdout.readline() == "here\n"
        try:
            rounds = [mem.upkeep() for _ in range(4)]
        finally:
            writer.kill()
            complaint = writer.communicate()[1]

        assert complaint == ""
        assert not [reason for report in rounds for reason in report.failed.values() if "bug" in reason]
        mem.upkeep()
        assert mem.upkeep().failed == {}


def test_what_nobody_foresaw_in_a_rung_is_told_and_ends_only_that_rung(
        mem: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    from otolith.verbs import memos, reports

    mem.note("Tea", "Steep.")
    mem.memo("user_likes_green_tea_most", "Likes it.")
    monkeypatch.setattr(memos, "garden_rung", lambda *_: {}["missing"])

    report = mem.upkeep()

    assert list(report.failed) == ["garden"]
    assert "KeyError: 'missing'" in report.failed["garden"]
    assert (report.exit_code, report.failed["garden"].count("\n")) == (1, 0)
    assert "Active memories: 0/1" in reports.show(mem.home, "core")


# A home that is not there


@pytest.mark.parametrize("verb", ["list", "recall tea", "get x", "brief", "stats", "check", "sync", "upkeep", "reindex", "facts"])
def test_a_home_named_wrongly_is_told_and_not_made(run: Callable[..., Ran], tmp_path: Path, verb: str) -> None:
    told = run(*verb.split(), "--home", str(tmp_path / "typo"))

    assert (told.code, told.err.count("\n")) == (3, 1)
    assert f"otolith init {tmp_path / 'typo'}" in told.err
    assert not (tmp_path / "typo").exists()


def test_the_users_own_home_need_not_be_there_yet(run: Callable[..., Ran]) -> None:
    assert run("list", env={"OTOLITH_HOME": ""}).code == 0
    assert json.loads(run("recall", "tea", "--json", env={"OTOLITH_HOME": ""}).out)["hits"] == []
    assert run("hook", "SessionStart", stdin="{}", env={"OTOLITH_HOME": ""}).code == 0


def test_who_writes_to_a_home_makes_it(run: Callable[..., Ran], tmp_path: Path) -> None:
    assert run("note", "Tea", "--text", "Steep.", "--home", str(tmp_path / "new")).code == 0
    assert run("list", "--home", str(tmp_path / "new")).code == 0
