"""Files that are not as anybody would write them: many at once, of every kind, and every command goes on.

Each trial changes about half of a home's files, each in one of the ways below: bits, cuts, insertions, lines
out of order, and values that their grammar allows but nobody expects. Then every reading command answers, each
file that can no longer be read is named by a finding, every record of an untouched file is still there, a write
and a round of upkeep work; and when the files are put back, so is everything.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.torture.harness import Outcome, Rewind, Size, World, told
from tests.torture.kills import digest
from tests.torture.scenes import ACTS, fill

from otolith.errors import Damaged, NotFound, OtolithError
from otolith.files import paths
from otolith.files.codec import read_unit
from otolith.memory import Memory

TITLES = {"files": "mutants of every kind of file, all commands", "settings": "mutants of the settings files"}
SETTINGS = ("otolith.toml", "_config.json", ".gitignore", ".gitattributes")
PER_TRIAL = 35  # mutants in one home, about
ODD = ("null", "true", "-1", "0", "1e999", "-0.0", "NaN", "1" + "0" * 5_000, "9" * 400, '""', '"\\ud800"', '"\\u0000"', "[]", "{}",
       "[" * 2_000 + "]" * 2_000, '{"": ""}', '"9999-99-99T99:99:99Z"', '"+275760-09-13"', '"entry_meta.v²"', '"' + "x" * 70_000 + '"',
       "[[1, 2], {}]", '"\\u202e"', "1.5e-400")
ODD_YAML = ("~", "!!python/object:os.system x", "*anchor", "&a [*a]", "{a: b", "|", ">-", "'", "0x1f", "0o17", "1_000", "2026-13-45", "no",
            "12:30:99", ".nan", "- - -", "? x", "\t", "<<: {}", "[" * 500, "1" + "0" * 5_000, "\ufeff", "é\u0301", "=")
READERS: dict[str, Callable[[Memory], Any]] = {
    "list": lambda mem: mem.list(limit=None), "recall": lambda mem: mem.recall("mill rye kettle"),
    "brief": lambda mem: mem.brief("the mill"), "stats": lambda mem: mem.stats(), "topics": lambda mem: mem.topics(),
    "facts": lambda mem: mem.facts(), "tags": lambda mem: mem.tags(), "edges": lambda mem: mem.edges(limit=None),
    "chapters": lambda mem: mem.chapters(), "wisdom": lambda mem: mem.wisdom(), "agents": lambda mem: mem.agents(),
    "diary": lambda mem: mem.diary("2026-02-10"), "hud": lambda mem: mem.hud(), "unfinished": lambda mem: mem.unfinished(),
    "check_file": lambda mem: mem.check_file("zoo.py"), "global": lambda mem: mem.global_memory(),
    "graph": lambda mem: mem.graph(), "reason": lambda mem: mem.reason("mill"), "resume": lambda mem: mem.resume(),
    "garden": lambda mem: mem.garden(), "cold": lambda mem: mem.cold(), "secrets": lambda mem: mem.check(secrets=True)}


def trials(size: Size, world: World) -> Iterator[str]:
    draw = random.Random(size.seed)
    yield from (f"files:{draw.randrange(1 << 30)}" for _ in range(size.of(4, 100_000 // PER_TRIAL)))
    yield from (f"settings:{draw.randrange(1 << 30)}" for _ in range(size.of(4, 2_000)))


def prepare(world: World) -> tuple[Rewind, dict[str, Any]]:
    if "mutants" not in world.stash:
        ids = fill(world)
        with world.open() as mem:
            for name in ("merge", "config", "page", "cold", "hook-stop"):  # also an undo journal, cold work, a page, a hook's mark
                with world.open(salt=name) as other:
                    ACTS[name](other, ids)
            mem.sync()
        world.stash["mutants"] = Rewind(world.home, world.cache, world.config), ids
    made: tuple[Rewind, dict[str, Any]] = world.stash["mutants"]
    made[0].back()
    return made


def run(trial: str, world: World) -> Outcome:
    row, _, seed = trial.partition(":")
    draw = random.Random(int(seed))
    prepare(world)
    everything = sorted(path.relative_to(world.home).as_posix() for path in world.home.rglob("*") if path.is_file() and path.name != ".lock")
    if row == "settings":
        return _settings(world, draw)
    chosen = [path for path in everything if path not in SETTINGS and draw.random() < 0.5]
    for path in chosen:
        file = world.home / path
        file.write_bytes(mutate(file.read_bytes(), path, draw))
    failures = _commands(world, chosen, draw)
    if failures:
        return Outcome(len(chosen), failures)
    if draw.random() < 0.1:
        failures = _put_back(world)
    return Outcome(len(chosen), failures)


def _commands(world: World, chosen: list[str], draw: random.Random) -> list[str]:
    failures: list[str] = []
    try:
        with world.open(salt="look") as mem:
            findings = mem.check()
            names = [*READERS]
            for name in draw.sample(names, 6):
                try:
                    READERS[name](mem)
                except OtolithError as error:
                    if not isinstance(error, Damaged | NotFound) or not _names_a_file(error, chosen):
                        failures.append(f"{name}: {told(error)}")
                except Exception as error:  # noqa: BLE001 (what is looked for)
                    failures.append(f"{name}: {told(error)}")
            failures += _unnamed(mem, chosen, {finding.path for finding in findings})
            failures += _untouched(mem, chosen)
            mem.note("Life goes on", "It does.")
            if draw.random() < 0.3:
                report = mem.upkeep()
                failures += [f"upkeep: {rung}: {error}" for rung, error in report.failed.items() if not _names_a_file_in(error, chosen)]
    except OtolithError as error:
        failures.append(f"open, check or note: {told(error)}")
    return failures


def _names_a_file(error: OtolithError, chosen: list[str]) -> bool:
    return _names_a_file_in(str(error), chosen)


def _names_a_file_in(message: str, chosen: list[str]) -> bool:
    return any(path in message or paths.unit_of(path) in message for path in chosen)


def _unnamed(mem: Memory, chosen: list[str], named: set[str]) -> list[str]:
    """A file that cannot be read and that no finding names."""
    failures = []
    for path in chosen:
        unit = paths.unit_of(path)
        if paths.kind_of(path) in ("", "links", "curation", "archived"):
            continue
        try:
            read_unit(mem.home.tree, unit)
        except Damaged as error:
            if not {path, unit} & named and not any(other.startswith(f"{unit}/") for other in named):
                failures.append(f"no finding names {path}: {told(error)}")
        except NotFound:
            continue
        except Exception as error:  # noqa: BLE001 (what is looked for)
            failures.append(f"reading {path}: {told(error)}")
    return failures


def _untouched(mem: Memory, chosen: list[str]) -> list[str]:
    """Every record of a file that was left alone is still there."""
    touched = {paths.unit_of(path) for path in chosen}
    failures = []
    for path in sorted(path.relative_to(mem.path).as_posix() for path in mem.path.rglob("*.*") if path.is_file()):
        unit = paths.unit_of(path)
        if unit in touched or paths.kind_of(path) not in ("note", "memo", "chunk", "work"):
            continue
        for record in read_unit(mem.home.tree, unit)[0]:
            row = mem.home.index.cards.find(record.id)
            if row is None:
                failures.append(f"{path} was left alone, but {record.id} is not found")
    return failures


def _settings(world: World, draw: random.Random) -> Outcome:
    """A home whose settings make no sense opens all the same, or one error names the file."""
    names = [name for name in SETTINGS if (world.home / name).exists()]
    for name in names:
        file = world.home / name
        file.write_bytes(mutate(file.read_bytes(), name, draw))
    try:
        with world.open(salt="look") as mem:
            mem.check()
            mem.list()
            mem.note("Life goes on", "It does.")
    except OtolithError as error:
        return Outcome(len(names), [] if any(name in str(error) for name in names) else [told(error)])
    return Outcome(len(names), [])


def _put_back(world: World) -> list[str]:
    rewind, _ = world.stash["mutants"]
    with world.open() as mem:
        rewind.back()
    with world.open() as mem:
        mem.sync()
        now = digest(mem)
        findings = mem.check()
    if "as it was" not in world.stash:
        world.stash["as it was"] = now
    return [*(f"after the files were put back: {finding}" for finding in findings),
            *(f"after the files were put back, {record} is missing" for record in world.stash["as it was"] if record not in now)]


# Mutation

def mutate(data: bytes, path: str, draw: random.Random) -> bytes:
    """The bytes with one to three things wrong."""
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        ways = [_flip, _cut, _insert, _lines, _drop, _odd_bytes]
        if path.endswith((".json", ".jsonl", ".log")):
            ways += [_json_value] * 5 + [_json_key] * 2
        elif path.endswith((".md", ".toml")):
            ways += [_yaml_value] * 5
        data = draw.choice(ways)(data, draw)
    return data


def _flip(data: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 4, 32))):
        if changed:
            changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _cut(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def _insert(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data) + 1)
    return data[:at] + draw.choice((draw.randbytes(draw.randrange(1, 40)), data[: draw.randrange(200)], b"\0" * 600, b"---\n", b"{}\n")) + data[at:]


def _lines(data: bytes, draw: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    draw.shuffle(lines)
    return b"".join(lines)


def _drop(data: bytes, draw: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        del lines[draw.randrange(len(lines))]
    return b"".join(lines)


def _odd_bytes(data: bytes, draw: random.Random) -> bytes:
    return draw.choice((b"", b"\xff\xfe", b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n"), data.replace(b"\n", b"\r"), data + data,
                        b"\x1f\x8b" + data, data.decode(errors="replace").encode("utf-16"), b"null", b"[]", b"\n" * 5_000, data.swapcase()))


def _json_value(data: bytes, draw: random.Random) -> bytes:
    """Another value in one place, as the grammar allows it."""
    text = data.decode(errors="replace")
    places = list(re.finditer(r'(?<=: )("(?:[^"\\]|\\.)*"|-?[\d.eE+]+|null|true|false|\[\]|\{\})', text)) or list(
        re.finditer(r'(?<=:)("(?:[^"\\]|\\.)*"|-?[\d.eE+]+|null|true|false|\[\]|\{\})', text))
    if not places:
        return data
    place = draw.choice(places)
    return (text[: place.start()] + draw.choice(ODD) + text[place.end() :]).encode(errors="replace")


def _json_key(data: bytes, draw: random.Random) -> bytes:
    """A key is missing, there twice, or another one; the structure turned inside out."""
    try:
        value = json.loads(data.splitlines()[0] if data.count(b"\n}") == 0 else data)
    except (ValueError, IndexError, RecursionError):
        return data
    if not isinstance(value, dict) or not value:
        return json.dumps([value]).encode()
    key = draw.choice(list(value))
    way = draw.randrange(4)
    if way == 0:
        del value[key]
    elif way == 1:
        value[key] = {key: value[key]}
    elif way == 2:
        value[key] = [value[key], value[key]]
    else:
        value[draw.choice(("", "id", "kind", "\u0000", "schema", "links", "otolith"))] = value.pop(key)
    return json.dumps(value).encode() + b"\n"


def _yaml_value(data: bytes, draw: random.Random) -> bytes:
    text = data.decode(errors="replace")
    places = list(re.finditer(r"(?m)^((?:- )?[*\w ]+[:=]\**) ?(.*)$", text))
    if not places:
        return data
    place = draw.choice(places)
    return (text[: place.start(2)] + " " + draw.choice((*ODD_YAML, *ODD)) + text[place.end(2) :]).encode(errors="replace")
