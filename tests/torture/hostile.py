"""Names, homes and clocks that nobody would wish for.

Names: of records, tags, topics and files, with control and bidi characters, of 255 bytes, reserved, clashing in
case or in Unicode form. Homes: behind symlinks, read-only, full, with odd names, on another file system, gone
while open. Clocks: that stand still, jump back, or show 1970, 2106 or the year 9999. Whatever it is, a verb
works or says in one error of ours why it does not; what was kept stays kept and is found.
"""

from __future__ import annotations

import os
import random
import shutil
import stat
import subprocess
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.torture import disk
from tests.torture.harness import NOW, Outcome, Size, World, remove, told

from otolith.errors import OtolithError
from otolith.memory import Memory

TITLES = {"name": "hostile names of records, tags and topics", "file": "hostile names of files in the home", "home": "hostile homes",
          "clock": "hostile clocks"}
ODD = ("\u202e", "\u200b", "\u2066", "\U000e0041", "\x1b[31m", "\r", "\n", "\t", "\x07", "\x7f", "\u2028", "\ufeff", "\ud800", "\0", "é", "e\u0301",
       "ﬁ", "İ", "ß", "北京", "🧠", "..", "/", "\\", ":", "*", "?", '"', "<", "|", "%2e", "$(id)", "`id`", "'; --", "{{x}}", "---", "#", "[[x]]", "~", " ")
WHOLE = ("", " ", ".", "..", "/", "CON", "nul.md", "aux", "LPT1", "-rf", "--help", ".git", ".lock", "a/../../b", "x" * 255, "x" * 70_000, "é" * 130,
         "🧠" * 64, "index", "log", "archive", "otolith.toml", "null", "true", "NaN", "0", "1e999", "[]", "2026-02-10", "episode:2026-02-10#2137-1")
CLOCKS = {"stands": (0.0,) * 6, "back": (0, -1, -3600, -86400 * 400, 5, -7), "1970": (-NOW, 1 - NOW, 2 - NOW, 60 - NOW), "before 1970": (-NOW - 86400,),
          "2038": (2**31 - NOW - 1, 2**31 - NOW + 1), "2106": (2**32 - NOW - 1, 2**32 - NOW + 1), "9999": (253_402_300_799 - NOW,),
          "10000": (253_402_300_800 - NOW,), "forever": (1e18,), "leap": (1_709_164_800 - NOW,),
          "forth and back": (86400 * 3650, 0, 86400 * 3650, 1)}


def trials(size: Size, world: World) -> Iterator[str]:
    draw = random.Random(size.seed)
    yield from (f"name:{draw.randrange(1 << 30)}" for _ in range(size.of(20, 4_000)))
    yield from (f"file:{draw.randrange(1 << 30)}" for _ in range(size.of(6, 1_000)))
    homes = [name for name in HOMES if size.full or name not in ("full", "ext4")]
    yield from (f"home:{name}" for name in (homes if size.full else draw.sample(homes, 5)))
    yield from (f"clock:{name}" for name in (CLOCKS if size.full else draw.sample(list(CLOCKS), 4)))


def run(trial: str, world: World) -> Any:
    row, _, rest = trial.partition(":")
    if not world.stash.setdefault("released", False):
        world.stash["released"] = True
        world.after.callback(_release, world)
    _release(world)
    world.clear()
    if row == "name":
        return _names(world, random.Random(int(rest)))
    if row == "file":
        return _files(world, random.Random(int(rest)))
    if row == "clock":
        return _clock(world, CLOCKS[rest])
    try:
        return HOMES[rest](world)
    finally:
        _release(world)


def _release(world: World) -> None:
    for path in (world.home, world.cache):
        with suppress(OSError):
            subprocess.run(["umount", "--lazy", str(path)], capture_output=True, check=False) if os.path.ismount(path) else None
            if path.is_symlink() or path.is_file():
                path.unlink()
            else:
                path.chmod(0o700)


def ours(act: Callable[[], Any]) -> tuple[Any, str]:
    """(what the act gave, what is wrong with how it failed)."""
    try:
        return act(), ""
    except OtolithError as error:
        return None, f"an error of several lines: {str(error)!r}" if "\n" in str(error).strip() and len(str(error)) < 2_000 else ""
    except Exception as error:  # noqa: BLE001 (what is looked for)
        return None, f"not an error of ours: {told(error)}"


def name_of(draw: random.Random) -> str:
    if draw.random() < 0.3:
        return draw.choice(WHOLE)
    words = [draw.choice(("tea", "Kettle", "mill", *ODD)) for _ in range(draw.randrange(1, 5))]
    return draw.choice(("", " ", "_")).join(words)


# Names

def _names(world: World, draw: random.Random) -> list[str]:
    name, other = name_of(draw), name_of(draw)
    failures: list[str] = []
    kept: list[tuple[str, str]] = []
    with world.open() as mem:
        verbs: dict[str, Callable[[], Any]] = {
            "note": lambda: mem.note(name, f"Text of {other}", tags=[other]), "memo": lambda: mem.memo(name, other, title=other),
            "log": lambda: mem.log(f"{other}: I like tea.\nBob: Yes.", topic=name), "remember": lambda: mem.remember(f"A {other} thing.", conversation_id=name),
            "record": lambda: mem.record({"goal": name, "task_type": "other", "success": True, "summary": other, "files": [name]}),
            "agent": lambda: mem.agent(name), "key": lambda: mem.note("Keyed", "x", key=name), "episode": lambda: mem.episode(name, summary=other),
            "swap": lambda: mem.note(name.swapcase(), "Another case."), "form": lambda: mem.note(unicodedata.normalize("NFD", name), "Another form.")}
        for verb, act in verbs.items():
            made, wrong = ours(act)
            failures += [f"{verb} {name!r}: {wrong}"] if wrong else []
            made = made[0] if isinstance(made, list | tuple) and made else made
            if made is not None and hasattr(made, "id"):
                kept.append((verb, made.id))
        for verb, act in {"recall": lambda: mem.recall(name), "get": lambda: mem.get(name), "list": lambda: mem.list(tag=name, topic=other),
                          "check_file": lambda: mem.check_file(name), "related": lambda: mem.related(name), "forget": lambda: mem.forget(f"{name}?"),
                          "explore": lambda: mem.tags_near(name)}.items():
            failures += [f"{verb} {name!r}: {wrong}"] if (wrong := ours(act)[1]) else []
    with world.open(salt="again") as mem:
        findings = [finding for finding in mem.check() if finding.code not in ("dangling-link",)]
        failures += [f"{name!r}, {other!r}: {finding}" for finding in findings]
        for verb, record in kept:
            failures += [f"{verb} {name!r} is not found again: {wrong or 'an error'}"] if (answer := ours(lambda record=record: mem.get(record)))[0] is None \
                and (wrong := answer[1]) is not None else []  # type: ignore[misc]
    outside = [path for path in world.root.iterdir() if path.name not in ("home", "xdg-cache", "xdg-config", "xdg-data", "xdg-runtime")]
    return [*failures, *(f"{name!r} made {path}" for path in outside)]


def _files(world: World, draw: random.Random) -> list[str]:
    """A person puts files with such names where records lie."""
    with world.open() as mem:
        note = mem.note("Tea", "Steep for three minutes.")
        text = (world.home / mem.get(note.id).path).read_bytes() if mem.get(note.id).path else b"x"
    put = []
    for _ in range(4):
        folder = draw.choice(("graph/general", "allmemories", "chunks/2026-02", "topics", "topics/tea", "work/2026-02", "episodes", "memories", "archive", "vault"))
        name = name_of(draw).replace("/", "").replace("\0", "")[:200] + draw.choice(("", ".md", ".json", ".md~", ".MD"))
        raw = name.encode(errors="surrogateescape" if "\ud800" not in name else "replace")[:255]
        if raw in (b"", b".", b".."):
            continue
        path = os.fsencode(world.home / folder) + b"/" + (raw if draw.random() < 0.8 else b"\xff" + raw[:200])
        with suppress(OSError):
            os.makedirs(os.fsencode(world.home / folder), exist_ok=True)
            way = draw.randrange(5)
            if way == 0:
                os.symlink("/etc/passwd", path)
            elif way == 1:
                os.mkdir(path)
            elif way == 2:
                os.mkfifo(path)
            else:
                with open(path, "wb") as file:
                    file.write(text.replace(note.id.encode(), os.urandom(16).hex().encode()))
            put.append(path)
    failures = []
    with world.open(salt="look") as mem:
        for verb, act in {"sync": mem.sync, "check": mem.check, "list": lambda: mem.list(limit=None), "recall": lambda: mem.recall("steep"),
                          "note": lambda: mem.note("Goes on", "It does."), "upkeep": mem.upkeep, "stats": mem.stats}.items():
            answer, wrong = ours(act)
            if wrong or answer is None:
                failures.append(f"{verb} with {put}: {wrong or 'refused'}")
        if ours(lambda: mem.get(note.id))[0] is None:
            failures.append(f"the note is lost among {put}")
    return failures


# Homes

def _use(world: World, home: Path | None = None) -> list[str]:
    """An ordinary life in a home: write, find, change, tend, forget, open again."""
    def life() -> str:
        with Memory(home or world.home, clock=lambda: NOW) as mem:
            note = mem.note("Tea", "Steep for three minutes.")
            mem.edit(note.id, text="Steep for four minutes.")
            mem.log("Ann: I like tea.", topic="tea")
            mem.upkeep()
            mem.pin(note.id)
        with Memory(home or world.home, clock=lambda: NOW) as mem:
            assert mem.recall("steep").hits[0].id == note.id
            assert "four" in mem.get(note.id).text
            assert mem.check() == []
            mem.forget(note.id, purge=True)
        return note.id

    return [wrong] if (wrong := ours(life)[1]) else []


def _must(world: World, home: Path | None = None) -> list[str]:
    try:
        with Memory(home or world.home, clock=lambda: NOW) as mem:
            mem.note("Tea", "Steep.")
    except OtolithError as error:
        return [f"it is refused: {told(error)}"]
    return _use(world, home)


def _symlink(world: World) -> list[str]:
    real = world.root / "real"
    remove(real)
    real.mkdir()
    remove(world.home)
    world.home.symlink_to(real)
    failures = _must(world)
    remove(real)
    return failures


def _read_only(world: World) -> list[str]:
    """Read-only by a mount where that is possible, for root writes to any folder."""
    with world.open() as mem:
        note = mem.note("Tea", "Steep.")
    if os.geteuid() == 0:
        subprocess.run(["mount", "--bind", str(world.home), str(world.home)], check=True)
        subprocess.run(["mount", "-o", "remount,ro,bind", str(world.home)], check=True)
    else:
        world.home.chmod(0o500)
    failures = []
    with world.open(salt="look") as mem:
        for name, read in {"recall": lambda: mem.recall("steep"), "get": lambda: mem.get(note.id), "check": mem.check, "list": mem.list,
                           "brief": mem.brief, "sync": mem.sync}.items():
            answer, wrong = ours(read)
            if wrong or answer is None:
                failures.append(f"{name}: {wrong or 'refused'}")
        for name, write in {"note": lambda: mem.note("More", "x"), "edit": lambda: mem.edit(note.id, text="y"), "forget": lambda: mem.forget(note.id),
                            "purge": lambda: mem.forget(note.id, purge=True)}.items():
            answer, wrong = ours(write)
            if wrong or answer is not None:
                failures.append(f"{name}: {wrong or 'it says that it wrote'}")
    return failures


def _cache(world: World, make: Callable[[Path], Any]) -> list[str]:
    remove(world.cache)
    make(world.cache)
    failures = _must(world)
    remove(world.cache)
    return failures


def _odd(name: str) -> Callable[[World], list[str]]:
    def odd(world: World) -> list[str]:
        home = world.root / "odd" / name
        home.parent.mkdir(exist_ok=True, parents=True)
        failures = _must(world, home)
        remove(world.root / "odd")
        return failures

    return odd


def _gone(world: World) -> list[str]:
    """The folder is removed while the home is open; then there again, empty."""
    failures = []
    with world.open() as mem:
        mem.note("Tea", "Steep.")
        shutil.rmtree(world.home)
        for name, verb in {"list": mem.list, "recall": lambda: mem.recall("steep"), "check": mem.check, "sync": mem.sync, "upkeep": mem.upkeep,
                           "note": lambda: mem.note("More", "x", key="more")}.items():
            failures += [f"{name}: {wrong}"] if (wrong := ours(verb)[1]) else []
        world.home.mkdir(exist_ok=True)
        failures += [f"note again: {wrong}"] if (wrong := ours(lambda: mem.note("More", "x", key="more"))[1]) else []
    with world.open(salt="again") as mem:
        failures += [f"check: {wrong}"] if (wrong := ours(mem.check)[1]) else []
    return failures


def _moved(world: World) -> list[str]:
    """The folder is renamed and another one takes its place."""
    with world.open() as mem:
        note = mem.note("Tea", "Steep.")
    world.home.rename(world.root / "moved")
    world.home.mkdir()
    failures = _must(world)
    with Memory(world.root / "moved", clock=lambda: NOW) as mem:
        if ours(lambda: mem.get(note.id))[0] is None:
            failures.append("a home that was moved has lost its note")
    remove(world.root / "moved")
    return failures


def _mounted(*words: str) -> Callable[[World], list[str]]:
    def there(world: World) -> list[str]:
        if os.geteuid() != 0:
            return []
        subprocess.run(["mount", *words, str(world.home)], check=True)
        return _must(world)

    return there


def _full(world: World) -> list[str]:
    """A file system of one megabyte, filled by notes until no more go in; then room is made."""
    if os.geteuid() != 0:
        return []
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(world.home)], check=True)
    failures, kept = [], []
    with world.open() as mem:
        for at in range(2_000):
            made, wrong = ours(lambda at=at: mem.note(f"Note {at}", "word " * 400, key=f"k{at}"))  # type: ignore[misc]
            failures += [wrong] if wrong else []
            if made is None:
                break
            kept.append(made.id)
        for verb in (mem.list, mem.check, lambda: mem.recall("word"), lambda: mem.get(kept[0]), mem.upkeep):
            failures += [wrong] if (wrong := ours(verb)[1]) else []
    subprocess.run(["mount", "-o", "remount,size=4m", str(world.home)], check=True)
    with world.open(salt="room") as mem:
        again = mem.note(f"Note {len(kept)}", "word " * 400, key=f"k{len(kept)}")
        there = {item["id"] for item in mem.list(limit=None, kind="note")[0]}
        failures += [f"lost {len(set(kept) - there)} of {len(kept)}"] if set(kept) - there else []
        failures += ["the note that found no room is there twice"] if len(there) != len(kept) + 1 or again.id not in there else []
        failures += [f"check: {finding}" for finding in mem.check()]
    return failures


def _ext4(world: World) -> list[str]:
    if not disk.possible("ext4"):
        return []
    image = world.root / "home.img"
    disk.make("ext4", image)
    with disk.mounted("ext4", image, world.home):
        failures = _must(world)
    image.unlink()
    return failures


def _foreign_things(world: World) -> list[str]:
    """Folders, pipes and symlinks where Otolith would put its own files."""
    (world.home / ".gitignore").mkdir()
    (world.home / "index").write_text("a file")
    (world.home / "links.jsonl").symlink_to("/etc/passwd")
    os.mkfifo(world.home / "GLOBAL_MEMORY.json")
    (world.home / "graph").symlink_to("/tmp")
    failures = []
    with world.open() as mem:
        for name, verb in {"list": mem.list, "check": mem.check, "note": lambda: mem.note("x", "y"), "memo": lambda: mem.memo("a_b_c", "d"),
                           "upkeep": mem.upkeep, "recall": lambda: mem.recall("x")}.items():
            failures += [f"{name}: {wrong}"] if (wrong := ours(verb)[1]) else []
    return failures


def _modes(world: World) -> list[str]:
    """Files and folders are private, whatever the mask says."""
    before = os.umask(0)
    try:
        failures = _must(world)
    finally:
        os.umask(before)
    open_ones = [path for path in world.home.rglob("*") if not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) & 0o077]
    return [*failures, *(f"others may read {path.relative_to(world.home)}" for path in open_ones)]


HOMES: dict[str, Callable[[World], list[str]]] = {
    "symlink": _symlink, "read-only": _read_only, "gone while open": _gone, "moved away": _moved, "foreign things inside": _foreign_things,
    "no mask": _modes, "no cache folder": lambda world: _cache(world, lambda path: path.write_text("a file")),
    "cache is a broken symlink": lambda world: _cache(world, lambda path: path.symlink_to("/nowhere/else")),
    "with spaces": _odd("my own  memory "), "with a newline": _odd("two\nlines"), "of bidi letters": _odd("\u202egnitirw"),
    "of 255 bytes": _odd("x" * 255), "of bytes": _odd("caf\udce9"), "like an option": _odd("-rf"), "with a percent": _odd("100%25"),
    "with quotes": _odd("it's \"mine\" #1?x=y&z"), "deep": _odd("/".join(["d" * 100] * 20)), "a dot folder": _odd(".hidden"),
    "of emoji": _odd("🧠" * 20), "tmpfs": _mounted("-t", "tmpfs", "tmpfs"), "full": _full, "ext4": _ext4}


# Clocks

def _clock(world: World, jumps: tuple[float, ...]) -> Outcome:
    failures: list[str] = []
    kept: list[str] = []
    for at, jump in enumerate(jumps):
        with world.open(at=NOW + jump, salt=f"{at}") as mem:
            verbs: dict[str, Callable[[], Any]] = {
                "note": lambda at=at: mem.note(f"Tea {at}", "Steep."), "log": lambda at=at: mem.log(f"Ann: I live in town {at}.", topic="tea"),  # type: ignore[misc]
                "remember": lambda at=at: mem.remember(f"Rye number {at}.", conversation_id="c")[0],  # type: ignore[misc]
                "record": lambda at=at: mem.record({"goal": f"Mill {at}", "task_type": "other", "success": True, "summary": "s"}),  # type: ignore[misc]
                "episode": lambda at=at: mem.episode(f"Day {at}"), "recall": lambda: mem.recall("steep tea"), "brief": lambda: mem.brief("tea"),  # type: ignore[misc]
                "upkeep": lambda: mem.upkeep(), "check": lambda: mem.check(), "facts": lambda: mem.facts(), "stats": lambda: mem.stats(),
                "since": lambda: mem.list(since="1970-01-01", before="9999-12-31"), "decay": lambda: mem.decay()}
            for verb, act in verbs.items():
                made, wrong = ours(act)
                failures += [f"{verb} at {NOW + jump:.0f}: {wrong}"] if wrong else []
                if verb == "upkeep" and made is not None:
                    failures += [f"upkeep at {NOW + jump:.0f}: {rung}: {error}" for rung, error in made.failed.items()]
                if made is not None and hasattr(made, "id"):
                    kept.append(made.id)
    with world.open(salt="after") as mem:
        failures += [f"{record} is not found again" for record in kept if ours(lambda record=record: mem.get(record))[0] is None]  # type: ignore[misc]
        failures += [f"check: {finding}" for finding in mem.check()]
    return Outcome(len(jumps), failures)
