"""Several processes on one home, and processes that are killed: nothing that was acknowledged is lost.

The full size (8 × 250 records) runs with OTOLITH_TORTURE=1, as `make torture` does.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from conftest import Clock
from otolith.memory import Memory

TORTURE = os.environ.get("OTOLITH_TORTURE") == "1"
WRITERS, RECORDS, KILLS = 8, 250 if TORTURE else 40, 40 if TORTURE else 8

WRITE = """
import sys
from otolith.memory import Memory
name, count = sys.argv[1], int(sys.argv[2])
with Memory() as mem:
    for at in range(count):
        if at % 4 == 3:
            made = mem.memo(f"{name}_memo_number_n{at}", f"Memo {at} of {name}.")
        else:
            made = mem.note(f"{name} {at}", f"Record {at} of {name}.", tags=[name])
        print(made.id, flush=True)
    assert mem.notices == [], mem.notices
"""
READ = """
import sys
from otolith.memory import Memory
looks = 0
with Memory() as mem:
    while sys.stdin.readline().strip() == "go":
        items, total = mem.list(limit=20)
        for item in items[:3]:
            mem.get(item["id"])
        mem.sync()
        looks += 1
        print(looks, flush=True)
"""
COUNT = """
import sys
from otolith.errors import Conflict
from otolith.memory import Memory
with Memory() as mem:
    for _ in range(int(sys.argv[2])):
        while True:
            loaded = mem.home.load(sys.argv[1])
            new = loaded.record.replace(text=str(int(loaded.record.text) + 1))
            try:
                mem.home.change(loaded, new, verb="edited")
                break
            except Conflict:
                continue
"""


def start(code: str, *words: str, home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env={**os.environ, "OTOLITH_HOME": str(home)})


@pytest.mark.clause("dialog-40")
def test_eight_processes_write_while_another_reads_and_nothing_is_lost(home: Path, clock: Clock) -> None:
    writers = [start(WRITE, f"writer{at}", str(RECORDS), home=home) for at in range(WRITERS)]
    reader = start(READ, home=home)
    looks = 0
    assert reader.stdin is not None
    assert reader.stdout is not None
    while any(writer.poll() is None for writer in writers):
        reader.stdin.write("go\n")
        reader.stdin.flush()
        line = reader.stdout.readline()
        assert line, reader.stderr and reader.stderr.read()
        looks = int(line)
    told = [writer.communicate() for writer in writers]
    _, complaint = reader.communicate("stop\n")

    assert [(writer.returncode, err) for writer, (_, err) in zip(writers, told, strict=True)] == [(0, "")] * WRITERS
    assert (reader.returncode, complaint) == (0, "")
    assert looks > 0
    acknowledged = {line for out, _ in told for line in out.split()}
    assert len(acknowledged) == WRITERS * RECORDS
    with Memory(home, clock=clock) as mem:
        mem.sync()
        items, _ = mem.list(limit=None, kind=["note", "memo"])
        assert {item["id"] for item in items} == acknowledged
        assert mem.check() == []
        assert sum(len(mem.diary(file.stem)) for file in (home / "episodes").iterdir()) == len(items)
        audited = [json.loads(line)["id"] for line in (home / "index/audit.log").read_text().splitlines()]
        names = {mem.home.audit_name(item["kind"], item["id"]) for item in items}  # a memo's is a hash
        assert sorted(audited) == sorted(names)


def test_no_update_is_lost_between_processes(home: Path, clock: Clock) -> None:
    with Memory(home, clock=clock) as mem:
        note = mem.note("Counter", "0")
    each = 100 if TORTURE else 15
    counters = [start(COUNT, note.id, str(each), home=home) for _ in range(4)]

    told = [counter.communicate()[1] for counter in counters]

    assert told == [""] * 4
    with Memory(home, clock=clock) as mem:
        assert mem.get(note.id).record.text == str(4 * each)


def test_one_memo_name_is_given_to_one_of_many(home: Path) -> None:
    claim = ("import sys\nfrom otolith.errors import Conflict\nfrom otolith.memory import Memory\nwith Memory() as mem:\n"
             "    try:\n        mem.memo('user_likes_green_tea', sys.argv[1])\n        print('kept')\n"
             "    except Conflict:\n        print('conflict')\n")
    told = [process.communicate() for process in [start(claim, f"text {at}", home=home) for at in range(5)]]

    assert sorted(out.strip() for out, _ in told) == ["conflict"] * 4 + ["kept"]
    assert [err for _, err in told] == [""] * 5


def test_a_link_said_by_many_at_once_is_one_edge(home: Path, clock: Clock) -> None:
    code = ("import sys; from otolith.memory import Memory; mem = Memory(); pairs = sys.argv[1].split(); print('here', flush=True); "
            "sys.stdin.readline(); [mem.link(a, 'REQUIRES', b) for a, b in zip(pairs[::2], pairs[1::2])]")
    with Memory(home, clock=clock) as mem:
        ids = [mem.note(f"Note {at}", "Text.").id for at in range(12)]
    several = [start(code, " ".join(ids), home=home) for _ in range(4)]
    for one in several:
        assert one.stdout is not None
        assert one.stdout.readline() == "here\n"
    for one in several:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()

    assert [one.communicate(timeout=60)[1] for one in several] == [""] * 4
    assert len(list((home / "graph/edges").iterdir())) == 6
    with Memory(home, clock=clock) as mem:
        assert [len(mem.get(id).record.relations) for id in ids] == [1] * 12


def test_a_first_opening_by_many_at_once_works(home: Path, clock: Clock) -> None:
    with Memory(home, clock=clock) as mem:
        note = mem.note("Tea", "Steep.")
        cache = mem.home.index.path
    assert cache is not None
    cache.unlink()
    look = f"from otolith.memory import Memory\nwith Memory() as mem: print(mem.get('{note.id}').title)"

    told = [process.communicate() for process in [start(look, home=home) for _ in range(6)]]

    assert told == [("Tea\n", "")] * 6


def test_a_batch_and_other_writers_do_not_wait_for_each_other_in_a_circle(home: Path, clock: Clock) -> None:
    with Memory(home, clock=clock) as mem:
        mem.note("Tea", "Steep.")
    batch = ("from otolith.memory import Memory\nwith Memory() as mem:\n    for turn in range(5):\n        with mem.bulk():\n"
             "            for at in range(20): mem.remember(f'turn {turn} line {at}', conversation_id='c')\n"
             "    assert not mem.notices")
    single = ("import sys\nfrom otolith.memory import Memory\nwith Memory() as mem:\n"
              "    for at in range(30): mem.note(f'{sys.argv[1]} {at}', 'x')\n    assert not mem.notices")

    told = [process.communicate(timeout=60)[1] for process in [
        start(batch, home=home), start(single, "one", home=home), start(single, "two", home=home)]]

    assert told == [""] * 3
    with Memory(home, clock=clock) as mem:
        assert (mem.list(kind="chunk")[1], mem.list(kind="note")[1]) == (100, 61)


def test_an_index_made_anew_is_never_met_without_its_tables(home: Path, clock: Clock) -> None:
    with Memory(home, clock=clock) as mem:
        note = mem.note("Tea", "Steep.")
    renew = "from otolith.memory import Memory\nwith Memory() as mem:\n    for _ in range(8): mem.reindex()"
    look = (f"from otolith.memory import Memory\nfor _ in range(40):\n    with Memory() as mem:\n"
            f"        assert mem.get('{note.id}').title == 'Tea'")

    told = [process.communicate()[1] for process in [start(code, home=home) for code in (renew, look, look, look)]]

    assert told == [""] * 4


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_writer_killed_at_any_moment_loses_nothing_it_acknowledged(home: Path, clock: Clock, seed: int) -> None:
    moment = random.Random(seed)
    code = WRITE if seed % 2 else WRITE.replace("print(made.id", "mem.edit(made.id, text='x' * 5000); print(made.id")
    writer = start(code, "writer", "100000", home=home)
    assert writer.stdout is not None
    acknowledged = [writer.stdout.readline().strip()]
    stop = time.monotonic() + moment.random() * 0.4
    while time.monotonic() < stop:
        acknowledged.append(writer.stdout.readline().strip())
    time.sleep(moment.random() * 0.01)
    writer.send_signal(signal.SIGKILL)
    rest, _ = writer.communicate()
    acknowledged += rest.split("\n")[:-1]

    with Memory(home, clock=clock) as mem:
        for record in acknowledged:
            mem.get(record)
        mem.sync()
        assert {record for record in acknowledged if record} <= {item["id"] for item in mem.list(limit=None)[0]}
        assert [finding for finding in mem.check() if finding.code != "line"] == []  # a torn log line may be told
        mem.note("Life goes on", "It does.")
    assert len([path for path in home.rglob("*") if path.name.startswith(".otolith-")]) <= 2  # hidden, and tidied by a purge


def test_one_open_home_may_be_used_by_several_threads(home: Path, clock: Clock) -> None:
    wrong: list[Exception] = []
    with Memory(home, clock=clock) as mem:
        def use(name: str) -> None:
            try:
                for at in range(12):
                    mem.remember(f"{name} keeps kettle {at}.", conversation_id=name)
                    mem.log(f"{name}: I bought kettle {name}-{at}.", topic=name)
                    mem.recall(f"kettle {at}")
            except Exception as error:  # noqa: BLE001 (told below, in the test's own thread)
                wrong.append(error)

        threads = [threading.Thread(target=use, args=(name,)) for name in ("Ann", "Ben", "Cleo", "Dan")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert wrong == []
        assert mem.notices == []
        assert mem.sync() == []
        assert mem.list(kind="chunk")[1] == mem.list(kind="entry")[1] == 48


def test_a_home_may_be_used_in_threads_that_come_and_go(tmp_path: Path) -> None:
    """The YAML parser's allocator crashed the process once the thread that had loaded it was gone."""
    story = """
import sys, threading
from otolith.memory import Memory

def use():
    with Memory(sys.argv[1]) as mem:
        for number in range(3):
            mem.note(f"Kettle {number}", "It whistles.")
        mem.sync()
        for item in mem.list(kind="note")[0]:
            mem.get(item["id"])

for number in range(24):
    threads = [threading.Thread(target=use) for _ in range(1 + number % 3)]
    for thread in threads:
        thread.start()
    if number % 5 == 4:
        use()
    for thread in threads:
        thread.join()
print("done")
"""
    done = subprocess.run([sys.executable, "-c", story, str(tmp_path / "home")], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
