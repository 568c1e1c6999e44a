"""The system refuses: each error a file call can meet, at each file call of each act that writes.

The act succeeds, or fails with one error of ours; it says that nothing was changed only if that is so. Nothing
that was there is lost or torn, and once the fault is over the act can be done again and has made one record.
Errors come singly (`once`) or stay, as a full disk does (`stays`); `short` is a write that takes fewer bytes than
it was given, `signals` a storm of real ones, `index` a limit on file sizes that only SQLite meets.
"""

from __future__ import annotations

import errno
import random
import resource
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any
from zlib import crc32

from tests import faults
from tests.torture.harness import Size, World, files, told
from tests.torture.kills import after_upkeep, afters, digest, done_again, prepare, survived
from tests.torture.scenes import ACTS, act

from otolith.errors import OtolithError

TITLES = {"once": "I/O error at each file call of each act", "stays": "I/O error that stays, from each file call on",
          "read": "I/O error at a call that only reads", "short": "short write, then a full disk",
          "signals": "a storm of signals (EINTR) during each act", "index": "index that cannot grow, during each act"}
MAKING = ("open", "write", "write_out", "fsync", "mkdir", "link", "rename", "replace", "exchange")
NAMES = ("open", "mkdir", "link", "rename", "replace", "exchange", "unlink", "remove", "rmdir", "fchmod")
MEETS = {"ENOSPC": MAKING, "EDQUOT": MAKING, "EIO": (*MAKING, *NAMES), "EACCES": NAMES, "EROFS": NAMES, "EMFILE": ("open",),
         "EINTR": ("open", "write", "fsync")}
READS = {"open": ("EMFILE", "EACCES", "EIO"), "read": ("EIO",), "pread": ("EIO",), "stat": ("EACCES", "EIO"),
         "lstat": ("EACCES", "EIO"), "fstat": ("EIO",), "scandir": ("EMFILE", "EACCES", "EIO")}
UNCHANGED = ("nothing was changed", "nothing was moved", "nothing was overwritten")
NAMED = ("note", "memo", "remember", "log", "record", "agent", "chapter", "edit", "edit-type", "edit-memo", "link", "bulk", "page",
         "restore", "restore-entry", "pin", "unpin")  # acts that name what they make; others take what they can read
READ_SHARE = 0.25  # of the calls that only read, of which an act makes hundreds; another seed draws others
LIMITS = (1 << 12, 1 << 16, 1 << 18)


def trials(size: Size, world: World) -> Iterator[str]:
    draw, names = random.Random(size.seed), list(ACTS)
    every: list[str] = []
    for name in names if size.full else draw.sample(names, 12):
        rewind, ids, _ = prepare(world)
        made = [call for _, call in faults.calls_of(act(world, name, ids))]
        rewind.back()
        looked = [call for _, call in faults.calls_of(act(world, name, ids), names=faults.READING)]
        for at, call in enumerate(made, 1):
            every += [f"once:{name}@{at} {code}" for code, met in MEETS.items() if call in met]
            every += [f"stays:{name}@{at} {code}" for code in ("ENOSPC", "EROFS") if call in MEETS[code]]
        every += [f"read:{name}@{at} {draw.choice(READS[call])}" for at, call in enumerate(looked, 1)
                  if call in READS and draw.random() < READ_SHARE]
        every += [f"short:{name}@{at}" for at in range(1, made.count("write") + 1)]
        every += [f"signals:{name}", *(f"index:{name} {limit}" for limit in LIMITS)]
    yield from every if size.full else draw.sample(every, 25)


def run(trial: str, world: World) -> list[str]:
    row, _, rest = trial.partition(":")
    name, number, code = rest.replace("@", " ").split()[0], 0, ""
    if "@" in rest:
        number, _, code = rest.split("@")[1].partition(" ")  # type: ignore[assignment]
    _, ids, before = prepare(world)
    done = afters(world, name)
    then = files(world.home)
    failures: list[str] = []
    try:
        with _fault(row, int(number), code, rest):
            act(world, name, ids)()
    except OtolithError as error:
        if str(error).startswith(UNCHANGED) or any(said in str(error) for said in UNCHANGED):
            failures += _unchanged(world, then, error)
    except BaseException as error:  # noqa: BLE001 (an error that is none of ours is what is looked for)
        return [f"not an error of ours: {told(error)}"]
    else:
        failures += _done(world, done[0], name)
    deep = crc32(trial.encode()) % 4 == 0
    failures = failures or survived(world, before, done, anew=deep) or done_again(world, name, ids)
    return failures or (after_upkeep(world) if deep else [])


def _fault(row: str, number: int, code: str, rest: str) -> AbstractContextManager[Any]:
    if row == "short":
        return faults.short_at(number)
    if row == "signals":
        return _signals()
    if row == "index":
        return _limited(int(rest.split()[1]))
    names = faults.READING if row == "read" else faults.CHANGING
    return faults.failing_at(number, getattr(errno, code), forever=row == "stays", names=names) if row else nullcontext()


@contextmanager
def _signals() -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _limited(room: int) -> Iterator[None]:
    """No file may be larger: the index cannot grow, records are small."""
    before, ignored = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def _unchanged(world: World, then: dict[str, bytes], error: OtolithError) -> list[str]:
    now = files(world.home)
    changed = sorted(path for path in then.keys() | now.keys() if then.get(path) != now.get(path) and not path.startswith("log/usage"))
    return [f"it said {str(error)!r}, but {', '.join(changed[:3])} changed"] if changed else []


def _done(world: World, done: dict[str, str], name: str) -> list[str]:
    """It said that it succeeded: then what it makes is there."""
    if name not in NAMED:
        return []
    with world.open(salt="done") as mem:
        mem.sync()
        now = digest(mem)
    return [f"it succeeded, but {record} is missing: {value[:150]}" for record, value in done.items()
            if record not in now and not value.startswith("episode ")]
