"""Everybody at once: eight writers, four readers, an editor, mass changes, upkeep, purges and reindexing.

Each is a process with a home of its own opening and does one thing after another until the time is up. Writers
write down what was acknowledged, each about records of its own, so that in the end it is known to the letter
what must be there. Nobody may meet an error but that another was faster, or (once in a hundred times in a run of
minutes) that the home is in use; no reader may find nothing.
"""

from __future__ import annotations

import json
import os
import random
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.torture.harness import Outcome, Size, World, told
from tests.torture.kills import EDGES, _difference, asked
from tests.torture.residue import holding

from otolith.errors import Busy, Conflict, NotFound, OtolithError
from otolith.memory import Memory

TITLES = {"crowd": "operations by 8 writers, 4 readers, an editor, mass changes, upkeep, purges and reindexing at once"}
JOBS = 1
BUSY_AT_MOST = 100  # one in so many may be told that others held the home for ten seconds
COUNTED = 60  # seconds from which on that is a share; in a few, how many operations there are is the machine's load
WORDS = ("kettle", "mill", "rye", "barn", "loft", "hay", "quern", "sieve")


def trials(size: Size, world: World) -> Iterator[str]:
    yield f"crowd:{size.seed} for {size.of(3, 600)} s"


class Diary:
    """What one of the crowd did and was told, line by line; the last word on a record counts."""

    def __init__(self, folder: Path, name: str) -> None:
        self._file = os.open(folder / f"{name}.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def did(self, **what: Any) -> None:
        os.write(self._file, (json.dumps(what) + "\n").encode())


def run(trial: str, world: World) -> Outcome:
    words = trial.partition(":")[2].split()
    seed, seconds = int(words[0]), float(words[2])
    world.clear()
    logs = world.root / "logs"
    logs.mkdir(exist_ok=True)
    ids = _begin(world)
    crowd: dict[str, Callable[..., None]] = {
        **{f"writer{at}": _write for at in range(8)}, **{f"reader{at}": _read for at in range(4)}, "editor": _edit, "saver": _save,
        "masses": _masses, "upkeep": _tend, "purger": _purge, "reindexer": _reindex}
    deadline = time.monotonic() + seconds
    children = [_start(member, act, world, logs, ids, random.Random(f"{seed} {member}"), deadline) for member, act in crowd.items()]
    statuses = [os.waitpid(child, 0)[1] for child in children]
    failures = [f"a process ended with status {status}" for status in statuses if status]
    lines = {member: [json.loads(line) for line in (logs / f"{member}.jsonl").read_text().splitlines()] for member in crowd}
    failures += [f"{member}: {line['failure']}" for member, told in lines.items() for line in told if "failure" in line]
    tried = sum("failure" not in line for told in lines.values() for line in told)
    busy = sum("busy" in line for told in lines.values() for line in told)
    if seconds >= COUNTED and busy > tried / BUSY_AT_MOST:
        failures.append(f"{busy} of {tried} operations were told to try again")
    return Outcome(max(tried, len(failures)), [*failures, *_in_the_end(world, lines)])


def _begin(world: World) -> dict[str, list[str]]:
    with Memory(world.home) as mem:
        with mem.bulk():  # so many that the masses are never half of the home
            for at in range(150):
                mem.note(f"Sack {at}", f"Sack {at} holds {WORDS[at % len(WORDS)]}.")
        return {"shared": [mem.note(f"Shared {at}", f"Steep {at}.\n\nedit 0", tags=["shared"]).id for at in range(10)],
                "saved": [mem.note(f"Saved {at}", "edit 0").id for at in range(4)]}


def _start(member: str, act: Callable[..., None], world: World, logs: Path, ids: dict[str, list[str]], draw: random.Random,
           deadline: float) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        diary = Diary(logs, member)
        while time.monotonic() < deadline:
            try:
                with Memory(world.home) as mem:
                    act(mem, member, ids, draw, deadline, diary)
            except Busy as error:
                diary.did(busy=told(error))
            except OtolithError as error:
                diary.did(failure=told(error))
            except Exception as error:  # noqa: BLE001 (what is looked for)
                diary.did(failure=f"not an error of ours: {told(error)} {traceback.format_exc()[-600:]}")
        code = 0
    finally:
        os._exit(code)


def _write(mem: Memory, member: str, ids: dict[str, list[str]], draw: random.Random, deadline: float, diary: Diary) -> None:
    """Make, change, link, pin, forget and restore records of its own; one opening lasts twenty acts."""
    own: list[str] = []
    for _ in range(20):
        if time.monotonic() > deadline:
            return
        text = f"{draw.choice(WORDS)} {draw.choice(WORDS)} of {member}, number {draw.randrange(1 << 40):x}"
        deed = draw.choice(("note", "note", "note", "memo", "log", "remember", "record", "edit", "link", "pin", "forget", "shared", "bulk"))
        if deed in ("edit", "link", "pin", "forget") and len(own) < 2:
            deed = "note"
        _deed(mem, deed, text, own, ids, draw, diary)


def _deed(mem: Memory, deed: str, text: str, own: list[str], ids: dict[str, list[str]], draw: random.Random, diary: Diary) -> None:
    if deed == "note":
        own.append(mem.note(f"About {text[:20]}", text).id)
        diary.did(id=own[-1], text=text)
    elif deed == "memo":
        name = f"crowd_says_{draw.randrange(1 << 40):x}"
        diary.did(id=mem.memo(name, text).id, text=text)
    elif deed == "log":
        diary.did(id=mem.log(f"Ann: I like {text}.", topic="crowd").id, text=text)
    elif deed == "remember":
        diary.did(id=mem.remember(text, conversation_id="crowd")[0].id, text=text)
    elif deed == "record":
        made = mem.record({"goal": text, "task_type": "other", "success": True, "summary": text, "files": ["crowd.py"]})
        diary.did(id=made.id, text=text)
    elif deed == "edit":
        record = draw.choice(own)
        mem.edit(record, text=text)
        diary.did(id=record, text=text)
    elif deed == "link":
        mem.link(own[-1], "RELATED_TO", own[0])
        diary.did(linked=own[-1])
    elif deed == "pin":
        mem.pin(own[-1])
        diary.did(pinned=own[-1])
    elif deed == "forget":
        record = own.pop(0)
        mem.forget(record)
        diary.did(id=record, text=None)
        if draw.random() < 0.5:
            mem.restore(record)
            diary.did(id=record, back=True)
    elif deed == "bulk":
        texts = [f"{text}, part {at}" for at in range(6)]
        with mem.bulk():
            made_many = [mem.note(f"Bulk {at}", part).id for at, part in enumerate(texts)]
        for record, part in zip(made_many, texts, strict=True):
            diary.did(id=record, text=part)
    elif deed == "shared":
        _importance(mem, draw.choice(ids["saved"]), draw, diary)


def _importance(mem: Memory, record: str, draw: random.Random, diary: Diary) -> None:
    """Change a record whose text an editor keeps saving: the text must stay the editor's."""
    try:
        mem.edit(record, importance=round(draw.random(), 3))
        diary.did(shared=record)
    except (Conflict, NotFound):
        diary.did(faster=record)


def _read(mem: Memory, member: str, ids: dict[str, list[str]], draw: random.Random, deadline: float, diary: Diary) -> None:
    for _ in range(10):
        if time.monotonic() > deadline:
            return
        if not mem.recall("steep").hits:
            diary.did(failure="recall finds nothing")
        items = mem.list(limit=5)[0]
        for item in (*items[:2], {"id": draw.choice(ids["shared"])}):
            try:
                mem.get(item["id"])
            except NotFound:
                if item["id"] in ids["shared"]:
                    diary.did(failure=f"{item['id']} is not found")
        draw.choice((mem.brief, mem.stats, mem.topics, mem.facts, mem.tags, mem.sync))()
        diary.did(looked=len(items))


def _places(mem: Memory, record: str) -> Path:
    return mem.path / mem.get(record).path


def _edit(mem: Memory, member: str, ids: dict[str, list[str]], draw: random.Random, deadline: float, diary: Diary) -> None:
    """An editor that writes into the file itself; nobody else changes these."""
    for _ in range(10):
        record = draw.choice(ids["shared"])
        path, mark = _places(mem, record), f"edit {draw.randrange(1 << 40):x}"
        text = path.read_text()
        path.write_text(text[: text.rindex("edit ")] + mark + "\n")
        diary.did(id=record, text=f"{mark}", part=True)
        time.sleep(draw.random() * 0.1)
        if time.monotonic() > deadline:
            return


def _save(mem: Memory, member: str, ids: dict[str, list[str]], draw: random.Random, deadline: float, diary: Diary) -> None:
    """An editor that saves by rename, while writers change other fields of the same files."""
    for _ in range(10):
        record = draw.choice(ids["saved"])
        path, mark = _places(mem, record), f"edit {draw.randrange(1 << 40):x}"
        text = path.read_text()
        fresh = path.with_name(f".{path.name}.swp")
        fresh.write_text(text[: text.rindex("edit ")] + mark + "\n")
        os.replace(fresh, path)
        diary.did(id=record, text=mark, part=True)
        time.sleep(0.05 + draw.random() * 0.1)
        if mark not in path.read_text():
            diary.did(failure=f"{path.name} was saved with {mark!r} and has lost it")
        if time.monotonic() > deadline:
            return


def _masses(mem: Memory, member: str, ids: dict[str, list[str]], draw: random.Random, deadline: float, diary: Diary) -> None:
    """Many files come, are touched and go again, by hand."""
    model = _places(mem, ids["shared"][0]).read_text()
    folder = mem.path / "graph/general"
    made = []
    for at in range(60):
        record = f"{draw.randrange(1 << 128):032x}"
        record = f"{record[:8]}-{record[8:12]}-4{record[13:16]}-8{record[17:20]}-{record[20:]}"
        path = folder / f"mass-{at}-{record[:6]}.md"
        path.write_text(model.replace(ids["shared"][0], record).replace("Shared 0", f"Mass {at}"))
        made.append(path)
    diary.did(came=len(made))
    mem.sync()
    for path in made:
        os.utime(path)
    mem.sync()
    for path in made:
        path.unlink()
    mem.sync(accept_removals=True)
    diary.did(went=len(made))
    time.sleep(min(1.0, max(0, deadline - time.monotonic())))


def _tend(mem: Memory, member: str, ids: dict[str, list[str]], draw: random.Random, deadline: float, diary: Diary) -> None:
    report = mem.upkeep()
    diary.did(upkeep=len(report.changed))
    for rung, error in report.failed.items():
        if "in use by another process" in error:
            diary.did(busy=f"upkeep: {rung}: {error}")
        elif "meanwhile" not in error and "no longer" not in error:  # somebody else was faster: the next round does it
            diary.did(failure=f"upkeep: {rung}: {error}")
    time.sleep(min(0.5, max(0, deadline - time.monotonic())))


def _purge(mem: Memory, member: str, ids: dict[str, list[str]], draw: random.Random, deadline: float, diary: Diary) -> None:
    secret = "zz" + "".join(draw.choice("bcdfghjklmnpqrstvw") for _ in range(12))
    note = mem.note(f"About {secret}", f"Nobody may know {secret}.")
    mem.link(note.id, "RELATED_TO", ids["shared"][1], context=secret)
    mem.recall(secret)
    mem.forget(note.id, purge=True)
    diary.did(purged=secret)
    if any(secret in f"{hit.title}{hit.text}" for hit in mem.recall(secret).hits):
        diary.did(failure=f"recall shows {secret} after its purge")
    time.sleep(min(0.2, max(0, deadline - time.monotonic())))


def _reindex(mem: Memory, member: str, ids: dict[str, list[str]], draw: random.Random, deadline: float, diary: Diary) -> None:
    mem.reindex()
    diary.did(reindexed=1)
    time.sleep(min(2.0, max(0, deadline - time.monotonic())))


def _in_the_end(world: World, lines: dict[str, list[dict[str, Any]]]) -> list[str]:
    """All that was acknowledged, as it was last acknowledged; nothing that was purged; an index that agrees with the files."""
    failures: list[str] = []
    with Memory(world.home) as mem:
        report = mem.upkeep()
        failures += [f"the last upkeep: {rung}: {error}" for rung, error in report.failed.items()]
        failures += [f"check: {finding}" for finding in mem.check() if finding.code not in EDGES]
        for member, told_lines in lines.items():
            failures += [f"{member}: {failure}" for failure in _kept(mem, told_lines)]
        answers = asked(mem)
        mem.reindex()
        if (anew := asked(mem)) != answers:
            failures.append(f"an index made anew answers otherwise: {_difference(answers, anew)}")
    for secret in [line["purged"] for line in lines["purger"] if "purged" in line]:
        failures += [f"{secret} is left in {place}" for place in holding(world, secret)]
    return failures


def _kept(mem: Memory, told_lines: list[dict[str, Any]]) -> list[str]:
    last: dict[str, Any] = {}
    texts: dict[str, Any] = {}
    for line in told_lines:
        if "id" in line:
            if line.get("back"):
                last[line["id"]] = texts.get(line["id"], "")
            else:
                last[line["id"]] = line["text"]
                texts[line["id"]] = line["text"] or texts.get(line["id"], "")
    failures = []
    for record, text in last.items():
        try:
            held = mem.get(record).text
        except NotFound:
            held = None
        if text is None and held is not None:
            failures.append(f"{record} was forgotten and is there")
        elif text is not None and (held is None or text not in held):
            failures.append(f"{record} should say {text!r}, says {str(held)[:100]!r}")
    return failures
