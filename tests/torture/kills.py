"""kill -9 before every file call of every act that writes, and at random moments.

After each death: nothing that was acknowledged is gone or torn, `check` names no damage, the next verb that
writes finishes what was begun, the act can be done again, and an index made anew from the files gives the
same answers as the one that lived through it. What SQLite does to the index is no file call of ours; the
random moments hit it too.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from tests import faults
from tests.torture.harness import Rewind, Size, World, dies, files, told
from tests.torture.scenes import ACTS, Ids, act, fill

from otolith.errors import Conflict, Invalid, NotFound, OtolithError
from otolith.memory import Memory
from otolith.model.shape import plain

TITLES = {"call": "kill -9 before each file call of each act", "random": "kill -9 at a random moment"}
# until upkeep, for an edge file alone says that there is a link; or until the same act again: a note is found in any folder
EDGES = {"unmirrored-edge", "missing-edge", "dangling-link", "misplaced"}
PASSING = {"unfinished", "leftover", "duplicate-id", *EDGES}  # until the next write
BUILT = {"topic", "global", "chapter", "wisdom", "fact"}  # come back from others; they are not acknowledged
TEXTS = ("text", "content", "turns", "intent", "summary", "name")  # what a record says, by whichever of these it has
SAYS = " ⟶ "  # between that and all else a record holds
SHEEP = "memo All of the sheep."
REPEATED = {"episode", "hook-stop", "hook-end", "end"}  # is there twice if done twice, or is another act then
STEPS = {"unmerge": ("merge",)}  # acts that do another one first
QUESTIONS = ("mill", "kettle leaks", "rye", "prefer tabs")
LONGEST = 0.12  # seconds until a random death


def prepare(world: World) -> tuple[Rewind, Ids, dict[str, str]]:
    if "kills" not in world.stash:
        ids = fill(world)
        with world.open() as mem:
            mem.sync()
            before = digest(mem)
        world.stash["kills"] = Rewind(world.home, world.cache, world.config), ids, before
        world.stash["counts"] = {}
    made: tuple[Rewind, Ids, dict[str, str]] = world.stash["kills"]
    made[0].back()
    return made


def calls(world: World, name: str) -> int:
    """How many file calls the act makes; its end is kept as what may be there after a death."""
    rewind, ids, _ = prepare(world)
    if name not in world.stash["counts"]:
        number = faults.count_calls(act(world, name, ids))
        with world.open() as mem:
            mem.sync()
            world.stash["counts"][name] = number, digest(mem)
        rewind.back()
    counted: int = world.stash["counts"][name][0]
    return counted


def trials(size: Size, world: World) -> Iterator[str]:
    draw = random.Random(size.seed)
    for name in ACTS if size.full else draw.sample(list(ACTS), 20):
        numbers = range(1, calls(world, name) + 1)
        yield from (f"call:{name}@{number}" for number in (numbers if size.full else draw.sample(numbers, 1)))
    yield from (f"random:{draw.randrange(1 << 30)}" for _ in range(size.of(8, 10_000)))


def run(trial: str, world: World) -> list[str]:
    row, _, rest = trial.partition(":")
    _, ids, before = prepare(world)
    if row == "random":
        return _random(world, random.Random(int(rest)), ids, before)
    name, _, number = rest.partition("@")
    done = afters(world, name)
    if not faults.killed_at(int(number), act(world, name, ids)):
        return ["the act ended before it was killed"]
    failures = survived(world, before, done)
    return failures or done_again(world, name, ids) or after_upkeep(world)


def _random(world: World, draw: random.Random, ids: Ids, before: dict[str, str]) -> list[str]:
    """Acts in any order, notes between them, death in the middle; sometimes once more while it recovers."""
    out, into = os.pipe()
    names = draw.sample(list(ACTS), 12)
    dies(lambda: _acts(world, names, ids, into), draw.uniform(0, LONGEST))
    os.close(into)
    with os.fdopen(out) as pipe:
        acknowledged = pipe.read().split()
    if draw.random() < 0.25:
        dies(_recovery(world), draw.uniform(0, 0.03))
    bystanders = {record: value for record, value in before.items() if record in _bystanders(ids)}
    failures = survived(world, bystanders, [], anew=draw.random() < 0.25)
    with world.open(salt="look") as mem:
        for record in acknowledged:
            try:
                if mem.get(record).record.text.strip() != "Kept before the end.":
                    failures.append(f"{record} was acknowledged and is another now")
            except OtolithError as error:
                failures.append(f"{record} was acknowledged: {told(error)}")
    return failures or (after_upkeep(world) if draw.random() < 0.1 else [])


def _acts(world: World, names: list[str], ids: Ids, into: int) -> None:
    for at, name in enumerate(names):
        with world.open(salt=f"note {at}") as mem:
            note = mem.note(f"Kept {at}", "Kept before the end.")
        os.write(into, f"{note.id}\n".encode())
        try:
            act(world, name, ids)()
        except OtolithError:
            continue  # another act was there first


def _recovery(world: World) -> Callable[[], Any]:
    def recover() -> None:
        with world.open(salt="recovery") as mem:
            mem.memo("user_wakes_up_again", "Yes.")

    return recover


def _bystanders(ids: Ids) -> set[str]:
    """Records that no act is about."""
    return {ids["works"][2], ids["works"][3]}


# What must hold after a death

def afters(world: World, name: str) -> list[dict[str, str]]:
    """The homes that may be there once the act has begun: that at its end, and those between its steps."""
    steps = STEPS.get(name, ())
    for step in (name, *steps):
        calls(world, step)
    return [world.stash["counts"][step][1] for step in (name, *steps)]


def survived(world: World, before: dict[str, str], after: list[dict[str, str]], *, anew: bool = True) -> list[str]:
    """Findings, the next write, each record as it was before or after, and the index against one made `anew`."""
    failures: list[str] = []
    with world.open(salt="after") as mem:
        failures += [f"check: {finding}" for finding in mem.check() if finding.code not in PASSING]
        mem.memo("user_counts_the_sheep", "All of the sheep.")
        failures += [f"check after the next write: {finding}" for finding in mem.check() if finding.code not in EDGES]
        failures += [f"unfinished: {path}" for path in files(world.home) if path.startswith("log/intent-")]
        failures += [f"notice: {notice}" for notice in mem.notices if "could not" in notice]
        mem.sync()
        now = digest(mem)
        for record, value in before.items():
            if now.get(record) not in (value, *(end.get(record) for end in after)):
                failures.append(f"{record} was {value[:200]}, is {str(now.get(record))[:300]}")
        if anew:
            answers = asked(mem)
            mem.reindex()
            if (fresh := asked(mem)) != answers:
                failures.append(f"an index made anew answers otherwise: {_difference(answers, fresh)}")
    return failures


def done_again(world: World, name: str, ids: Ids) -> list[str]:
    """A person does it once more: it succeeds, or says that it is done; then all it makes is there, once."""
    try:
        with world.open(salt="again") as mem:
            ACTS[name](mem, ids)
    except (Conflict, NotFound, Invalid):
        pass  # it is there already, or gone already
    except OtolithError as error:
        return [f"done again: {told(error)}"]
    if name in REPEATED:
        return []
    with world.open(salt="twice") as mem:
        mem.sync()
        now, done = digest(mem), world.stash["counts"][name][1]
    here = Counter(value.partition(SAYS)[0] for value in now.values())
    wanted = Counter(value.partition(SAYS)[0] for value in done.values())
    del here[SHEEP]
    return [f"done again, there is {here[what]} times: {what[:200]}, not {wanted[what]} times"
            for what in here | wanted if here[what] != wanted[what] and not what.startswith("episode ")]


def after_upkeep(world: World) -> list[str]:
    with world.open(salt="upkeep") as mem:
        report = mem.upkeep()
        return [*(f"upkeep: {rung}: {error}" for rung, error in report.failed.items()),
                *(f"check after upkeep: {finding}" for finding in mem.check())]


def digest(mem: Memory) -> dict[str, str]:
    """Every record that is not built, by id, as its file has it; the archive's by path."""
    records: dict[str, str] = {}
    for item in mem.list(limit=None)[0]:
        if item["kind"] not in BUILT:
            row = mem.home.index.cards.find(item["id"])
            assert row is not None
            if row.unit not in records:
                for record in mem.home.read(row.unit)[0]:
                    told = next((getattr(record, name) for name in TEXTS if hasattr(record, name)), "")
                    records[record.id] = f"{record.kind} {told}{SAYS}{plain(record)}"
    return records


def asked(mem: Memory) -> dict[str, Any]:
    """What the index answers, whole: of many that match alike, which are the first thirty depends on their numbers. A page's
    time is that of its file, which no clock of ours has set."""
    with mem.home.uncounted():
        items, total = mem.list(limit=None)
        answers: dict[str, Any] = {"total": total, "items": sorted(str({**item, "created": item["kind"] != "page" and item["created"]}) for item in items),
                                   "tags": sorted(str(tag) for tag in mem.tags()), "edges": sorted(map(str, mem.edges(limit=None)[0])),
                                   "topics": sorted(map(str, mem.topics()))}
        for question in QUESTIONS:
            answers[question] = sorted((hit.id, hit.title) for hit in mem.recall(question, limit=1000).hits)
    return answers


def _difference(one: dict[str, Any], other: dict[str, Any]) -> str:
    return "; ".join(f"{name}: {str([item for item in one[name] if item not in other[name]] if isinstance(one[name], list) else one[name])[:200]}"
                     f" → {str([item for item in other[name] if item not in one[name]] if isinstance(other[name], list) else other[name])[:200]}"
                     for name in one if one[name] != other[name])
