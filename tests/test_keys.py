"""A key stands for one record: in every process, at every time, and in one home only."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from conftest import Clock, Ran
from faults import Snapshot, calls_of, failing_at, killed_at, sampled
from otolith.errors import CannotWrite, Conflict
from otolith.memory import Memory
from otolith.model.ids import derived_uuid

LONG = "\n\n".join(f"Paragraph {at} tells of the harbour, its ships and what they carry to the islands." * 5 for at in range(20))
AT_ONCE = """
import json, sys
from otolith.memory import Memory
with Memory() as mem:
    mem.list()
    print("ready", flush=True)
    sys.stdin.readline()
    made = eval(sys.argv[1])
    print(json.dumps([one.id for one in made] if isinstance(made, list) else made.id), flush=True)
"""


def all_at_once(home: Path, call: str, count: int = 5) -> list[Any]:
    """What each of several processes is told that make the same call at the same moment."""
    running = [subprocess.Popen([sys.executable, "-c", AT_ONCE, call], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                env={**os.environ, "OTOLITH_HOME": str(home)}) for _ in range(count)]
    for process in running:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    return [json.loads(process.communicate()[0] or "null") for process in running]


def test_the_same_key_and_text_from_another_process_is_the_same_chunk(run: Callable[..., Ran], home: Path) -> None:
    with Memory(home) as first:
        kept = first.remember("The harbour closes at nine.", key="k1")
    with Memory(home) as second:
        again = second.remember("The harbour closes at nine.", key="k1")

    assert [chunk.id for chunk in again] == [chunk.id for chunk in kept]
    assert len(list((home / "chunks").rglob("*.json"))) == 1


def test_another_text_under_the_same_key_is_a_conflict(home: Path) -> None:
    with Memory(home) as first:
        first.remember("The harbour closes at nine.", key="k1")
    with Memory(home) as second, pytest.raises(Conflict):
        second.remember("The harbour closes at ten.", key="k1")


def test_another_conversation_under_the_same_key_is_a_conflict_if_it_is_named(mem: Memory) -> None:
    mem.remember("The harbour closes at nine.", key="k1", conversation_id="one")

    with pytest.raises(Conflict):
        mem.remember("The harbour closes at nine.", key="k1", conversation_id="two")


def test_a_long_text_under_a_key_comes_back_piece_by_piece(home: Path, clock: Clock) -> None:
    with Memory(home, clock=clock) as first:
        kept = first.remember(LONG, key="long")
    clock.pass_time(days=1)
    with Memory(home, clock=clock) as second:
        again = second.remember(LONG, key="long")

    assert len(kept) > 1
    assert [chunk.id for chunk in again] == [chunk.id for chunk in kept]


@pytest.mark.parametrize("call", [
    "mem.remember('The harbour closes at nine.', key='k')",
    "mem.record(goal='Mend the quay', task_type='bug_fix', success=True, summary='Mended', key='k')",
    "mem.note('Harbour', 'It closes at nine.', key='k')",
    "mem.log('Ann: The harbour closes at nine.', topic='harbour', key='k')",
    "mem.memo('the_harbour_closes_at_nine', 'It does.')",
])
def test_five_processes_with_one_key_at_once_get_one_record(home: Path, call: str) -> None:
    told = all_at_once(home, call)

    assert told[0]
    assert told == [told[0]] * 5


def test_two_homes_never_give_the_same_id_to_a_key(tmp_path: Path) -> None:
    ids = []
    for name in ("one", "two"):
        with Memory(tmp_path / name) as mem:
            ids.append([mem.note("Tea", "Green.", key="k").id, mem.remember("Tea is green.", key="k")[0].id[-8:],
                        mem.record(goal="Brew", task_type="other", success=True, summary="Brewed", key="k").id])

    assert not set(ids[0]) & set(ids[1])


def test_what_was_kept_under_a_key_before_the_home_had_an_id_is_found_again(home: Path, clock: Clock) -> None:
    with Memory(home, clock=clock) as mem:
        old = mem.note("Tea", "Green.", key="k")
    [path] = (home / "graph").rglob("*.md")
    early = derived_uuid("", "note", "k")
    path.write_text(path.read_text().replace(old.id, early))
    with Memory(home, clock=clock) as mem:
        mem.sync()
        assert mem.note("Tea", "Green.", key="k").id == early


def test_the_first_write_gives_a_home_its_id_and_keeps_its_secrets_from_git(home: Path) -> None:
    with Memory(home) as mem:
        mem.note("Tea", "Green.")

    assert "_config.json" in (home / ".gitignore").read_text()
    assert "merge=union" in (home / ".gitattributes").read_text()
    assert 'home_id = "' in (home / "otolith.toml").read_text()


def test_a_key_for_a_provider_is_never_staged_by_git(run: Callable[..., Ran], home: Path) -> None:
    home.mkdir()
    subprocess.run(["git", "init", "-q", str(home)], check=True)

    assert run("config", "--openai-key", "-", stdin="sk-not-for-git").code == 0

    staged = subprocess.run(["git", "-C", str(home), "add", "--all", "--dry-run"], capture_output=True, text=True, check=True)
    assert "_config.json" not in staged.stdout
    assert (home / "_config.json").exists()


def test_a_persons_settings_get_the_id_as_their_first_line_and_keep_the_rest(home: Path) -> None:
    home.mkdir()
    own = '# mine\nprojects = ["tea"]\n\n[caps]\nfacts = 3\n'
    (home / "otolith.toml").write_text(own)
    (home / ".gitignore").write_text("mine\n")
    with Memory(home) as mem:
        mem.note("Tea", "Green.")

    assert (home / "otolith.toml").read_text().endswith("\n" + own)
    assert (home / ".gitignore").read_text() == "mine\n"
    with Memory(home) as mem:
        assert mem.home.config.home_id
        assert mem.home.config.projects == ("tea",)


def test_opening_and_reading_write_nothing(home: Path, run: Callable[..., Ran]) -> None:
    home.mkdir()
    for words in (("list",), ("recall", "tea"), ("check",), ("stats",)):
        assert run(*words).code == 0

    assert list(home.iterdir()) == []


# Broken off and tried again

SAID = "Ann: The harbour closes at nine.\nBob: I like tea."
KEYED: dict[str, tuple[str, Callable[[Memory], Any]]] = {
    "note": ("note", lambda mem: mem.note("Tea", "Green.", key="k")),
    "remember": ("chunk", lambda mem: mem.remember("The harbour closes at nine.", conversation_id="c", key="k")),
    "log": ("entry", lambda mem: mem.log(SAID, topic="tea", key="k")),
    "log without a topic": ("entry", lambda mem: mem.log(SAID, key="k")),
    "record": ("work", lambda mem: mem.record(goal="Mend", task_type="bug_fix", success=True, summary="Mended", key="k")),
    "link": ("edge", lambda mem: mem.link("Kettle", "SOLVES", "Altitude", context="less pressure", key="k")),
    "chapter": ("chapter", lambda mem: mem.chapter([item["id"] for item in mem.list(kind="work")[0]], title="T", key="k")),
    "memo": ("memo", lambda mem: mem.memo("user_likes_green_tea", "Yes."))}  # its name is its key


@pytest.mark.parametrize("how", ["fails", "is killed", "finds the disk full"])
@pytest.mark.parametrize("verb", KEYED)
def test_a_call_that_breaks_off_at_any_file_call_and_is_tried_again_keeps_one_record(home: Path, verb: str, how: str) -> None:
    kind, call = KEYED[verb]
    with Memory(home, clock=Clock()) as mem:
        mem.note("Kettle", "It boils.", type="solution"), mem.note("Altitude", "Water boils early.", type="problem")
        mem.record(goal="Boil", task_type="other", success=True, summary="Boiled")
    base, later = Snapshot(home), Clock()
    later.pass_time(seconds=7)

    def act(clock: Clock | None = None) -> None:
        with Memory(home, clock=clock or Clock()) as mem:
            call(mem)

    calls = calls_of(act, base)
    with Memory(home) as mem:
        whole = mem.list(limit=None, kind=kind)[1]
    for number, name in sampled(calls):
        base.restore()
        if how == "is killed":
            assert killed_at(number, act)
        else:
            with failing_at(number, errno.EIO if how == "fails" else errno.ENOSPC, forever=how != "fails"), suppress(CannotWrite):
                act()
        act(later)
        with Memory(home, clock=later) as mem:
            assert mem.list(limit=None, kind=kind)[1] == whole, name
            assert [finding for finding in mem.check() if finding.code != "line"] == [], name
            assert kind != "entry" or mem.facts(), name
