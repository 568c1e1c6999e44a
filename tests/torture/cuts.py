"""The power fails: a home on ext4, xfs and btrfs whose disk keeps only what was flushed, and some of the rest.

One session does act after act on a recorded disk (see disk.py). Each trial cuts the power somewhere in it,
mounts what is left and looks: all that was acknowledged is there byte for byte, what was under way is as
before or after, no file is torn, and the next verb works. `batch` cuts into one long batch only, of which nothing
is acknowledged yet: each file of it is whole or not there. The control is the same session by a writer whose
fsync does nothing: if its cuts lost nothing, the test would be blind, and that is its failure.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tests.torture import disk
from tests.torture.harness import Size, World, files, inside, told
from tests.torture.kills import PASSING
from tests.torture.scenes import ACTS, Ids, fill

from otolith.errors import OtolithError
from otolith.memory import Memory

SYSTEMS = ("ext4", "xfs", "btrfs")
TITLES = {**{system: f"power cut on {system} (blocks recorded)" for system in SYSTEMS},
          "batch": "power cut in a batch on ext4 (blocks recorded)",
          "control": "power cut under a writer that never syncs: must be seen to lose"}
ORDER = ("note", "memo", "remember", "log", "record", "edit", "edit-memo", "link", "link-other", "review", "episode", "pin",
         "unpin", "edit-type", "bulk", "import", "page", "hook-stop", "end", "forget-entry", "restore-entry", "restore",
         "merge", "unlink", "garden", "upkeep", "purge", "purge-memo", "purge-entry", "purge-work", "forget", "reindex")
UNSYNCED = ("index/audit.log", "log/", "episodes/")  # one write a line, not synced; see DECISIONS 9
TORN = {*PASSING, "line"}
SACKS = 40  # notes of a long batch, each linked to the one before
CONTROLS = 40  # cuts in which a writer without syncs must lose something


class Session(NamedTuple):
    """A recorded session: the disk before it, what was written, and the home after each acknowledgement."""

    base: Path
    events: list[disk.Event]
    homes: list[dict[str, str]]
    first: int  # the event after which the session began


def trials(size: Size, world: World) -> Iterator[str]:
    draw = random.Random(size.seed)
    for system in SYSTEMS:
        if disk.possible(system):
            yield from (f"{system}:{draw.randrange(1 << 30)}" for _ in range(size.of(6, 1_500) if system == "ext4"
                                                                             else size.of(0, 500)))
    if disk.possible("ext4"):
        yield from (f"batch:{draw.randrange(1 << 30)}" for _ in range(size.of(4, 500)))
        yield f"control:{draw.randrange(1 << 30)}"


def run(trial: str, world: World) -> list[str]:
    row, _, seed = trial.partition(":")
    if row == "batch":
        return _cut(_session(world, "ext4", synced=True, acts=("note", "batch", "memo")), "ext4", world, int(seed))
    if row != "control":
        return _cut(_session(world, row, synced=True), row, world, int(seed))
    session = _session(world, "ext4", synced=False)
    draw = random.Random(int(seed))
    lost = any(_cut(session, "ext4", world, draw.randrange(1 << 30)) for _ in range(CONTROLS))
    return [] if lost else [f"{CONTROLS} cuts under a writer that never syncs lost nothing"]


def _batch(mem: Memory, ids: Ids) -> None:
    """A long batch, such as an import is: files of it wait for their sync."""
    with mem.bulk():
        sacks = [mem.note(f"Sack {at}", "A sack is full of rye and weighs fifty pounds. " * 6).id for at in range(SACKS)]
        for sack, other in pairwise(sacks):
            mem.link(other, "RELATED_TO", sack)


def _session(world: World, system: str, *, synced: bool, acts: Sequence[str] = ORDER) -> Session:
    name = f"{system}-{synced}-{len(acts)}"
    if name not in world.stash:
        world.stash[name] = _record(world.root / name, system, acts, synced=synced)
    session: Session = world.stash[name]
    return session


def _record(folder: Path, system: str, acts: Sequence[str], *, synced: bool) -> Session:
    folder.mkdir()
    image, base, place, log = folder / "image", folder / "base", folder / "mount", folder / "log"
    disk.make(system, image)
    there = World(place)
    with inside(there):
        with disk.mounted(system, image, place):
            ids = fill(there)
        subprocess.run(["cp", "--sparse=always", str(image), str(base)], check=True)
        real, homes = os.fsync, []
        with disk.recorded(system, image, place, log) as notes:
            homes.append(_seen(there))
            disk.acknowledge(notes, b"begun")
            os.fsync = real if synced else lambda _: None
            try:
                for name in acts:
                    try:
                        with there.open(salt=name) as mem:
                            (_batch if name == "batch" else ACTS[name])(mem, ids)
                    except OtolithError:
                        pass  # an earlier act was there first
                    disk.acknowledge(notes, name.encode())
                    homes.append(_seen(there))
            finally:
                os.fsync = real
    events = disk.read(log)
    first = next(at for at, event in enumerate(events) if event.kind == "a")
    return Session(base, events, homes, first)


def _seen(world: World) -> dict[str, str]:
    return {path: sha256(data).hexdigest() for path, data in files(world.home).items() if not path.startswith(UNSYNCED)}


def _cut(session: Session, system: str, world: World, seed: int) -> list[str]:
    draw = random.Random(seed)
    last = max(at for at, event in enumerate(session.events) if event.kind == "a")
    cut = disk.Cut(draw.randrange(session.first + 1, last + 2), draw.choice(("none", "all", "some", "some")), seed)
    acknowledged = [event.data.decode() for event in session.events[: cut.at] if event.kind == "a"]
    image = session.base.with_name("cut")
    disk.power_off(session.base, session.events, cut, image)
    try:
        with disk.mounted(system, image, session.base.with_name("look")):
            there = World(session.base.with_name("look"))
            with inside(there):
                failures = _look(there, session.homes, acknowledged)
    except subprocess.CalledProcessError as error:
        failures = [f"the file system cannot be mounted: {error.stderr!r}"]
    if failures and world.stash.get("kept", 0) < 3 and not system.startswith("control"):
        world.stash["kept"] = world.stash.get("kept", 0) + 1
        kept = Path(tempfile.gettempdir()) / f"otolith-cut-{system}-{seed}.img"
        shutil.copy(image, kept)
        failures = [f"{failure} [{cut.luck}, after {acknowledged[-1]}; the disk: {kept}]" for failure in failures]
    return failures


def _look(there: World, homes: list[dict[str, str]], acknowledged: list[str]) -> list[str]:
    before = homes[len(acknowledged) - 1]
    after = homes[len(acknowledged)] if len(acknowledged) < len(homes) else before
    now = _seen(there)
    failures = [f"{path} is {'gone' if path not in now else 'another'}" for path, value in before.items()
                if after.get(path) == value and now.get(path) != value]
    failures += [f"{path} is back" for path in now if path not in before and path not in after and not path.startswith("archive/")]
    failures += [f"{path} is there without its content" for path, data in files(there.home).items()
                 if not path.startswith(UNSYNCED) and path not in before and not data.strip(b"\0")]
    if "episode" in acknowledged and not any(b"Rye came" in data for path, data in files(there.home).items()
                                             if path.startswith("episodes/")):
        failures.append("the diary has lost a line that was acknowledged")
    try:
        with there.open(salt="after") as mem:
            failures += [f"check: {finding}" for finding in mem.check() if finding.code not in TORN]
            mem.memo("user_counts_the_sheep", "Yes.")
            failures += [f"unfinished: {path}" for path in files(there.home) if path.startswith("log/intent-")]
            mem.recall("mill")
    except OtolithError as error:
        failures.append(told(error))
    return failures
