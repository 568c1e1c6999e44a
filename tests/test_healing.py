"""The index is a cache: whatever happens to its file, every verb answers, nothing is lost, and it is told once."""

from __future__ import annotations

import errno
import itertools
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from conftest import Clock, Ran
from faults import calls_of, failing_at
from otolith import config
from otolith.doors.agents.hooks import answer
from otolith.errors import CannotWrite, WrongUsage
from otolith.index.store import index_path
from otolith.memory import Memory

PAGE = 4096
NOTES = 12


@pytest.fixture
def told_of(mem: Memory) -> Path:
    """A home with something of each ladder; its index's file, which nobody has open."""
    with mem.bulk():
        notes = [mem.note(f"Redis {at}", f"Redis keeps connection {at} alive. " * 8, tags=["redis", f"t{at % 3}"])
                 for at in range(NOTES)]
    for before, after in itertools.pairwise(notes[:4]):
        mem.link(before.id, "RELATED_TO", after.id)
    mem.remember("The cache of redis is warm.", conversation_id="c")
    mem.log("Ann: I live in Rome.\nBob: Fine.", topic="life")
    mem.record(goal="Fix the login", task_type="bug_fix", success=False, summary="It failed", files=["src/login.py"])
    mem.memo("user_likes_green_tea_most", "The user likes green tea.")
    mem.upkeep()
    mem.recall("redis")
    mem.close()
    assert mem.home.index.path is not None
    return mem.home.index.path


def start(code: str, *words: str, home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env={**os.environ, "OTOLITH_HOME": str(home)})


def sql(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def overwrite(file: Path, at: int, data: bytes) -> None:
    with file.open("r+b") as handle:
        handle.seek(at)
        handle.write(data)


def nan(file: Path) -> None:
    """Every number of the vectors is none."""
    db = sqlite3.connect(file)
    for row, length in db.execute("SELECT rowid, length(matrix) FROM vectors").fetchall():
        db.execute("UPDATE vectors SET matrix = ? WHERE rowid = ?", (b"\x01\x7e" * (length // 2), row))
    db.commit()
    db.close()


def no_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()
    (file / "x").write_text("y")


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "all but the first page": lambda file: overwrite(file, PAGE, b"\xa5" * (file.stat().st_size - PAGE)),
    "the first page": lambda file: overwrite(file, 0, b"\xa5" * PAGE),
    "cut in half": lambda file: os.truncate(file, file.stat().st_size // 2),
    "cut to a page": lambda file: os.truncate(file, PAGE),
    "empty": lambda file: os.truncate(file, 0),
    "no database": lambda file: file.write_bytes(b"not a database at all" * 99),
    "a folder": no_folder,
    "no records": lambda file: sql(file, "DROP TABLE records"),
    "no meta": lambda file: sql(file, "DROP TABLE meta"),
    "no words": lambda file: sql(file, "DROP TABLE words"),
    "no passages": lambda file: sql(file, "DROP TABLE passages"),
    "another passages": lambda file: sql(file, "DROP TABLE passages", "CREATE TABLE passages (x)"),
    "another schema": lambda file: sql(file, "PRAGMA user_version = 3"),
    "words that are none": lambda file: sql(file, "UPDATE words_data SET block = x'deadbeef' WHERE id > 10"),
    "text that is none": lambda file: sql(file, "UPDATE records SET title = CAST(x'fffe41' AS TEXT)"),
    "vectors that are none": nan,
    "emptied records": lambda file: sql(file, "DELETE FROM records"),
    "emptied passages": lambda file: sql(file, "DELETE FROM passages"),
    "emptied tags": lambda file: sql(file, "DELETE FROM tags"),
    "emptied links": lambda file: sql(file, "DELETE FROM links"),
    "emptied works": lambda file: sql(file, "DELETE FROM memories"),
    "emptied facts": lambda file: sql(file, "DELETE FROM said"),
    "values of another type": lambda file: sql(
        file, "PRAGMA writable_schema = ON", "UPDATE sqlite_master SET sql = replace(sql, 'STRICT', '') WHERE name = 'records'",
        "PRAGMA writable_schema = RESET", "UPDATE records SET importance = 'x', created = 'y'", "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = sql || ' STRICT' WHERE name = 'records'"),
    "a foreign journal": lambda file: Path(f"{file.resolve()}-journal").write_bytes(os.urandom(PAGE)),
    "a foreign log": lambda file: Path(f"{file.resolve()}-wal").write_bytes(os.urandom(PAGE)),
    "gone": lambda file: file.unlink(),
    "gone with its folder": lambda file: shutil.rmtree(file.parent),
}


def answers(mem: Memory) -> dict[str, Any]:
    """What every finding and tending verb says of the home."""
    note = mem.get("Redis 3")
    return {
        "recall": {hit.kind for hit in mem.recall("redis cache", limit=40).hits}, "get": note.title,
        "list": {row["id"] for row in mem.list(limit=None)[0]}, "related": len(mem.related(note.id)),
        "facts": [fact.id for fact in mem.facts()], "topics": len(mem.topics()), "tags": mem.tags(),
        "check_file": len(mem.check_file("src/login.py", again=True).notices), "brief": len(mem.brief().memos),
        "check": mem.check(), "upkeep": mem.upkeep().failed, "sql": mem.sql("SELECT count(*) FROM memories")["rows"],
        "sync": [change.what for change in mem.sync()]}


@pytest.mark.parametrize("damage", DAMAGES)
def test_whatever_happens_to_the_index_every_verb_answers_as_before(
        told_of: Path, home: Path, clock: Clock, damage: str) -> None:
    with Memory(home, clock=clock) as mem:
        before = answers(mem)
    DAMAGES[damage](told_of)

    with Memory(home, clock=clock) as mem:
        after, notices = answers(mem), mem.notices

    assert after == before
    assert len([notice for notice in notices if "index" in notice]) <= 1
    with Memory(home, clock=clock) as mem:
        assert (answers(mem), mem.notices, mem.home.index.is_sound()) == (before, [], True)


def test_bytes_anywhere_in_it_may_be_any(told_of: Path, home: Path, clock: Clock) -> None:
    whole, chance = told_of.read_bytes(), random.Random(7)
    for _ in range(25):
        data = bytearray(whole)
        at = chance.randrange(len(data) // PAGE) * PAGE
        data[at : at + PAGE] = chance.randbytes(PAGE)
        for _ in range(40):
            data[chance.randrange(len(data))] = chance.randrange(256)
        told_of.write_bytes(data)

        with Memory(home, clock=clock) as mem:
            assert mem.recall("redis connection").hits
            mem.check()
            assert mem.list(kind="note")[1] == NOTES
            assert mem.upkeep().failed == {}


@pytest.mark.parametrize("verb", ["recall redis", "list", "brief", "sync", "upkeep", "check", "tags", "stats", "get Redis_3",
                                  "check-file src/login.py", "reindex", "hud", "facts", "export --format jsonl -"])
def test_at_the_command_line_one_notice_tells_it(told_of: Path, run: Callable[..., Ran], verb: str) -> None:
    DAMAGES["all but the first page"](told_of)

    told = run(*(word.replace("_", " ") for word in verb.split()))

    assert told.code == 0
    assert told.err.count("the index is damaged") == 1
    assert told_of.with_name(f"{told_of.name}.damaged").exists()
    assert run("recall", "redis").err == ""


@pytest.mark.parametrize("damage", ["all but the first page", "cut in half", "a folder", "no records", "no passages",
                                    "words that are none", "a foreign journal", "gone"])
def test_a_write_whose_file_is_safe_succeeds_and_is_kept_once(
        told_of: Path, home: Path, run: Callable[..., Ran], damage: str) -> None:
    DAMAGES[damage](told_of)

    told = run("note", "Teapot", "--text", "It pours.", "--json")

    assert told.code == 0
    assert len(list(home.glob("graph/general/teapot-*.md"))) == 1
    assert [hit["id"] for hit in run("recall", "pours", "--kind", "note", "--json").json["hits"]] == [told.json["id"]]


@pytest.mark.parametrize("damage", ["no passages", "no records", "words that are none", "no meta"])
def test_what_breaks_under_an_open_home_heals_where_it_is_written_to(
        told_of: Path, home: Path, clock: Clock, damage: str) -> None:
    with Memory(home, clock=clock) as mem:
        mem.list()
        DAMAGES[damage](told_of)
        note = mem.note("Teapot", "It pours.")
        with mem.bulk():
            cups = [mem.note(f"Cup {at}", "It breaks.") for at in range(5)]
        mem.link(note.id, "RELATED_TO", cups[0].id)

        assert mem.recall("pours", kind="note").hits[0].id == note.id
        assert mem.list(kind="note")[1] == NOTES + 6
        assert [row["id"] for row in mem.related(note.id)] == [cups[0].id]
        assert len([notice for notice in mem.notices if "index" in notice]) == 1
    assert len(list(home.glob("graph/general/teapot-*.md"))) == 1


def test_a_batch_under_which_the_index_breaks_is_kept_whole(told_of: Path, home: Path, clock: Clock) -> None:
    with Memory(home, clock=clock) as mem:
        with mem.bulk():
            first = mem.note("Teapot", "It pours.")
            mem.home.index.db.execute("DROP TABLE passages")
            second = mem.note("Cup", "It breaks.")

        assert {hit.id for hit in mem.recall("pours breaks", kind="note").hits} >= {first.id, second.id}


def test_hooks_answer_from_a_damaged_index(told_of: Path, home: Path) -> None:
    good = answer("SessionStart", {"cwd": str(home.parent)}, str(home))
    DAMAGES["all but the first page"](told_of)

    told = answer("SessionStart", {"cwd": str(home.parent)}, str(home))

    assert told is not None
    assert good is not None
    assert "green tea" in json.dumps(told)


def test_a_cache_that_takes_no_file_leaves_the_index_in_memory(
        told_of: Path, run: Callable[..., Ran]) -> None:
    DAMAGES["no database"](told_of)
    (told_of.parent / "lock").unlink()
    (told_of.parent / "lock").mkdir()

    told = run("recall", "redis", "--json")

    assert (told.code, bool(told.json["hits"])) == (0, True)
    assert "in memory" in told.err


def test_who_asks_a_closed_home_is_told_so(told_of: Path, home: Path) -> None:
    mem = Memory(home)
    mem.close()

    with pytest.raises(WrongUsage, match="closed"):
        mem.tags()


# A rebuild beside the old file

LONG = """
import sys, time
from otolith import home, sync
from otolith.memory import Memory
whole = sync._read_all
def slow(*given):
    for unit in whole(*given):
        time.sleep(0.02)
        yield unit
with Memory() as mem:
    sync._read_all = slow
    print('here', flush=True)
    mem.reindex()
"""


def test_who_asks_during_a_rebuild_is_answered_from_the_old_index(told_of: Path, home: Path, clock: Clock) -> None:
    with Memory(home, clock=clock) as mem:
        rebuilding = start(LONG, home=home)
        assert rebuilding.stdout is not None
        assert rebuilding.stdout.readline() == "here\n"
        met = 0
        while rebuilding.poll() is None:
            met += any(told_of.parent.glob("index-*.new"))
            assert len(mem.recall("redis connection", limit=40).hits) >= NOTES
            assert mem.list(kind="note")[1] == NOTES
        assert rebuilding.communicate()[1] == ""
        assert met > 3
        assert mem.list(kind="note")[1] == NOTES
        assert mem.notices == []


def test_what_is_written_during_a_rebuild_is_in_the_new_index(told_of: Path, home: Path, clock: Clock) -> None:
    write = ("import sys\nfrom otolith.memory import Memory\nwith Memory() as mem:\n"
             "    for at in range(40): mem.note(f'Cup {sys.argv[1]} {at}', 'It breaks.')\n"
             "    for at in range(0, 40, 4): mem.forget(mem.get(f'Cup {sys.argv[1]} {at}').id)\n"
             "    print(mem.notices)")
    rebuilding = start(LONG, home=home)
    assert rebuilding.stdout is not None
    assert rebuilding.stdout.readline() == "here\n"

    writers = [start(write, name, home=home) for name in ("a", "b")]

    assert [writer.communicate(timeout=60) for writer in writers] == [("[]\n", "")] * 2
    assert rebuilding.communicate(timeout=60) == ("", "")
    index = sqlite3.connect(told_of)  # as the rebuild and the writers left it, with no sweep since
    assert index.execute("SELECT count(*) FROM records WHERE kind = 'note'").fetchone() == (NOTES + 60,)
    index.close()


def test_what_a_killed_rebuild_left_is_tidied_by_the_next(told_of: Path, home: Path, run: Callable[..., Ran]) -> None:
    rebuilding = start(LONG, home=home)
    deadline = time.monotonic() + 30
    while not any(told_of.parent.glob("index-*.new")) and time.monotonic() < deadline:
        time.sleep(0.01)
    rebuilding.kill()
    rebuilding.communicate()
    assert any(told_of.parent.glob("index-*.new"))

    assert len(run("recall", "redis", "--json").json["hits"]) == 10
    assert run("reindex").code == 0

    assert not any(told_of.parent.glob("index-*.new*"))


def test_a_rebuild_that_the_system_refuses_anywhere_is_an_error_of_ours_and_the_old_index_answers(
        told_of: Path, home: Path, clock: Clock) -> None:
    def reindex() -> None:
        with Memory(home, clock=clock) as mem:
            mem.reindex()

    calls = [number for number, name in calls_of(reindex) if name in ("unlink", "rename", "fsync")]

    for number in calls:
        with failing_at(number, errno.EACCES), suppress(CannotWrite):
            reindex()
        with Memory(home, clock=clock) as mem:
            assert len(mem.recall("redis", limit=5).hits) == 5


def test_many_who_find_it_damaged_at_once_rebuild_it_once(told_of: Path, home: Path) -> None:
    DAMAGES["all but the first page"](told_of)
    look = "from otolith.memory import Memory\nwith Memory() as mem: print(mem.list(kind='note')[1], len(mem.recall('redis').hits))"

    told = [process.communicate(timeout=60) for process in [start(look, home=home) for _ in range(5)]]

    assert told == [(f"{NOTES} 10\n", "")] * 5
    assert not any(told_of.parent.glob("index-*.new*"))


def test_who_still_reads_a_replaced_index_never_meets_the_journal_of_the_new_one(told_of: Path, home: Path) -> None:
    """A journal lies beside a file by its name; rolled back into another file it breaks that one, and its own is without it."""
    with Memory(home) as reader, Memory(home) as writer:
        assert reader.list(kind="note")[1] == NOTES
        writer.reindex()

        with suppress(ZeroDivisionError), writer.home.index.writing() as db:
            db.execute("PRAGMA cache_size = 2")  # so that pages are written before the commit
            db.execute("UPDATE passages SET text = text || ' and so on and on'")
            assert reader.home.index.cards.total() > NOTES  # as in the middle of a verb that began before
            raise ZeroDivisionError

        assert writer.home.index.is_sound()
        assert reader.home.index.is_sound()
        assert len(list(told_of.parent.glob("index-*.db"))) == 1  # the old file is gone


def test_what_was_purged_during_a_rebuild_is_not_in_the_pages_of_the_new_index(told_of: Path, home: Path, clock: Clock) -> None:
    with Memory(home, clock=clock) as mem:
        note, fill = mem.note("Herd", "Mind the zzquaggaherd."), mem.home.index.fill

        def fill_then_purge(*given: Any) -> None:
            fill(*given)
            mem.home.index.fill = fill  # the second time brings it up to what changed meanwhile
            with Memory(home, clock=clock) as other:
                other.forget(note.id, purge=True)

        mem.home.index.fill = fill_then_purge
        mem.reindex()
        assert mem.notices == []

    assert b"quaggaherd" not in told_of.read_bytes()


def test_a_table_that_verbs_emptied_is_no_damage(mem: Memory) -> None:
    first, second = mem.note("Tea", "Green.", tags=["hot"]), mem.note("Cup", "Blue.")
    mem.link(first.id, "RELATED_TO", second.id)
    mem.sync()

    mem.unlink(first.id, "RELATED_TO", second.id)
    mem.edit(first.id, tags=[])
    mem.sync()
    mem.forget(first.id)
    mem.forget(second.id, purge=True)
    mem.sync()

    assert mem.recall("tea").hits == []
    assert mem.notices == []
    assert mem.home.index.is_sound()


@pytest.mark.parametrize("statement", [
    "UPDATE said SET mark = 'x'", "UPDATE said SET fact = '{}'", "UPDATE records SET unit = 'alliemories/tea.md'", "DELETE FROM links"])
def test_an_index_that_was_changed_by_hand_is_made_anew_when_its_rows_make_no_sense(
        mem: Memory, home: Path, statement: str) -> None:
    tea, cup = mem.note("Tea", "Green."), mem.note("Cup", "Blue.")
    mem.link(tea.id, "RELATED_TO", cup.id)
    mem.log("Ann: I live in Leeds.", topic="towns")
    mem.sync()
    sql(next(Path(os.environ["XDG_CACHE_HOME"]).rglob("index-*.sqlite")), statement)

    with Memory(home) as other:
        assert other.note("Pot", "Of iron.").id
        assert other.recall("green tea").hits[0].id == tea.id
        assert [fact.object for fact in other.facts()] == ["Leeds"]
        assert [row["id"] for row in other.related(tea.id)] == [cup.id]
        assert any("rebuilt from the files" in notice for notice in other.notices)


def test_a_fault_of_our_own_rebuilds_a_sound_index_once_and_is_then_told(mem: Memory) -> None:
    mem.note("Tea", "Green.")
    opened, index = mem.home.index.times_opened, mem.home.index

    def stumble() -> None:
        raise LookupError("ours")

    for _ in range(3):
        with pytest.raises(LookupError, match="ours"):
            index.attempt(stumble)

    assert index.times_opened == opened + 1


def test_a_value_of_another_type_is_refused_by_the_index_itself(told_of: Path) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="importance"):
        sql(told_of, "UPDATE records SET importance = 'x'")


class Counting:
    """An embedder that tells how many texts it was given."""

    name, model = "counting", "one"

    def __init__(self) -> None:
        self.texts = 0

    def embed(self, texts: list[str]) -> Any:
        import numpy as np

        self.texts += len(texts)
        rows = np.array([[len(text), text.count("e"), 1.0] for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_a_rebuild_takes_the_vectors_over(home: Path, clock: Clock) -> None:
    embedder = Counting()
    with Memory(home, clock=clock, providers={"embedder": embedder}) as mem:
        notes = [mem.note(f"Note {at}", f"It says {at}.") for at in range(20)]
        mem.log("Ann: I live in Rome.", topic="life")
        mem.edit(notes[3].id, text="It says something else.")
        mem.embed()
        sets, before = [held[1:4] for held in mem.home.index.meaning.all_sets()], embedder.texts
        assert sets

        mem.reindex()

        assert [held[1:4] for held in mem.home.index.meaning.all_sets()] == sets
        assert [mem.home.index.meaning.count_missing(held) for held in mem.home.index.meaning.all_sets()] == [0] * len(sets)
        mem.embed()
        assert embedder.texts == before


def test_vectors_made_while_the_index_is_replaced_are_those_of_their_passages(home: Path, clock: Clock) -> None:
    class Slow(Counting):
        """Somebody reindexes while it computes."""

        def embed(self, texts: list[str]) -> Any:
            if not self.texts:
                with Memory(home, clock=clock) as other:
                    other.reindex()
            return super().embed(texts)

    embedder = Slow()
    with Memory(home, clock=clock, providers={"embedder": embedder}) as mem:
        notes = [mem.note(f"Note {at}", f"It says {'e' * at}.") for at in range(12)]
        for note in notes[:6]:
            mem.edit(note.id, text=f"{note.text} And more.")  # read again, it has another number

        mem.embed()

        held = next(held for held in mem.home.index.meaning.all_sets() if held.provider == "counting")
        vectors = mem.home.index.meaning.first_vectors(held, "note")
        texts = {note.id: f"{note.title}. {mem.get(note.id).text}" for note in notes}
        assert embedder.texts > len(notes)
        assert {record: [round(float(number), 2) for number in vector] for record, vector in vectors.items()} == {
            record: [round(float(number), 2) for number in embedder.embed([text])[0]] for record, text in texts.items()}


def test_a_purge_leaves_nothing_of_a_damaged_index(told_of: Path, home: Path, clock: Clock) -> None:
    DAMAGES["no passages"](told_of)
    with Memory(home, clock=clock) as mem:
        mem.recall("redis")
        assert told_of.with_name(f"{told_of.name}.damaged").exists()

        mem.forget(mem.get("Redis 3").id, purge=True)

    assert not told_of.with_name(f"{told_of.name}.damaged").exists()


def test_an_index_lies_where_the_manual_says(told_of: Path, home: Path) -> None:
    assert told_of == index_path(config.home_cache(str(home)))
    assert told_of.parent.joinpath("lock").stat().st_mode & 0o777 == 0o600


def test_an_index_that_was_there_before_its_home_is_its_own_and_of_no_other_in_its_place(home: Path) -> None:
    with Memory(home) as mem:
        assert mem.list() == ([], 0)
        assert not home.exists()
        mem.note("Tea", "Green.")
        mem.home.index.marks.set("built", "a page", "as it was")
    with Memory(home) as mem:
        assert mem.home.index.marks.get("built", "a page") == "as it was"

    home.rename(home.with_name("elsewhere"))
    home.mkdir()
    with Memory(home) as mem:
        assert mem.list() == ([], 0)
        assert mem.home.index.marks.get("built", "a page") is None
