"""The append-only files: the audit log, the usage ledger, links that no record can hold, and the diary.

Each line is one write, not synced but for those that are the only truth of something. A torn last line is
closed by the next append and reported by whoever reads the file; it never hides the lines around it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from otolith.errors import Damaged, NotFound
from otolith.files import markdown, paths
from otolith.files.tree import Tree, fingerprint
from otolith.model.ids import episode_ids
from otolith.model.record import Origin, Usage
from otolith.model.text import check_whole
from otolith.model.times import day, time_or_none, utc, zulu

Keep = Callable[[dict[str, Any]], dict[str, Any] | None]  # what a line becomes; None: it goes
HURRIED = 0.1  # seconds that one who only asked something waits for a writer
USAGE_BYTES = 8 * 1024 * 1024
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def as_line(value: Mapping[str, Any]) -> bytes:
    """One JSON object as one line."""
    try:
        line = (_COMPACT.encode(value) + "\n").encode()
    except UnicodeEncodeError:
        check_whole(value)
        raise
    if b"\\u0000" in line:
        check_whole(value)
    return line


def append_line(tree: Tree, path: str, value: Mapping[str, Any], *, synced: bool = False,
                patience: float | None = None) -> None:
    """One JSON object as one line at the end of a file; one that is the only truth of something is synced."""
    tree.append(path, as_line(value), synced=synced, patience=patience)


def audit_line(now: float, verb: str, kind: str, record: str, sha256: str, origin: Origin) -> bytes:
    """Who did what, when; nothing of the content."""
    return as_line({"ts": zulu(now), "verb": verb, "kind": kind, "id": record, "sha256": sha256,
                    "origin": origin.to_dict()})


def audited(tree: Tree, verb: str, name: str, since: float) -> bool:
    """Whether one of the last audit lines says so."""
    return any(line and (line.get("verb"), line.get("id")) == (verb, name)
               and (time_or_none(line.get("ts")) or 0) >= int(since)
               for _, line in read_log(tree, paths.AUDIT)[-100:])


def read_lines(data: bytes) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """(line number, object) of each line; None where a line is broken."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            if b"\\ud" in line.lower():
                json.dumps(value, ensure_ascii=False).encode()  # half a character cannot be written anywhere
        except (ValueError, RecursionError):
            value = None
        yield number, value if isinstance(value, dict) else None


def replay(data: bytes) -> list[tuple[int, str, dict[str, Any] | None]]:
    """(line number, digest, object) of each line in the order of writing, wherever it stands: two clones that
    joined their lines in another order read the same.
    """
    lines = data.split(b"\n")
    read = [(number, sha256(lines[number - 1].strip()).hexdigest(), line)
            for number, line in read_lines(data)]
    return sorted(read, key=lambda item: (_written_at(item[2]), item[1]))


def _written_at(line: dict[str, Any] | None) -> float:
    times = (time_or_none(line.get(key)) for key in ("at", "created", "ts")) if line else ()
    return next((when for when in times if when is not None), 0.0)


def read_log(tree: Tree, path: str) -> list[tuple[int, dict[str, Any] | None]]:
    """A log's lines; none if there is no such file."""
    try:
        data, _ = tree.read(path)
    except NotFound:
        return []
    return list(read_lines(data))


def lines_naming(tree: Tree, path: str, name: str) -> list[dict[str, Any]]:
    """The lines of a log whose `id` is this; others are not parsed."""
    try:
        data, _ = tree.read(path)
    except NotFound:
        return []
    needle = json.dumps(name).encode()
    few = b"\n".join(line for line in data.split(b"\n") if needle in line)
    return [line for _, line in read_lines(few) if line and line.get("id") == name]


def rewrite_lines(data: bytes, keep: Keep, needles: Collection[str], lost: list[int]) -> bytes:
    """A log as `keep` wants it; what it leaves as it is stays byte for byte.

    A line that cannot be read stays too, unless one of the needles stands in it: `lost` gets its number.
    """
    lines = []
    for number, line in enumerate(data.split(b"\n"), 1):
        value = next(read_lines(line), (0, {}))[1]  # an empty line says nothing
        if value is None and holds(line, needles):
            lost.append(number)
            continue
        kept = keep(value) if value else value
        if kept == value:
            lines.append(line)
        elif kept is not None:
            lines.append(json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode())
    return b"\n".join(lines)


def holds(data: bytes, needles: Collection[str]) -> bool:
    """Whether any of the words stands in these bytes, as it is or as JSON writes it."""
    return any(needle.encode() in data or json.dumps(needle)[1:-1].encode() in data for needle in needles)


def count_usage(tree: Tree, machine: str, now: float, door: str, ids: Sequence[str]) -> None:
    """Note that these records were delivered, in one line; nobody who only asked waits long for a writer."""
    path = paths.usage_log(machine)
    if tree.look(path) is None and tree.look("_state.json"):  # else nobody need wait for somebody who writes
        with tree.lock():
            if tree.look(path) is None:
                _begin_usage(tree, path)
    append_line(tree, path, {"t": zulu(now), "door": door, "ids": list(ids)}, patience=HURRIED)


def _begin_usage(tree: Tree, path: str) -> None:
    """A home that comes with a _state.json brings its counts along, once."""
    try:
        data, _ = tree.read("_state.json")
        entries = json.loads(data).get("entries", {})
        base = {key: [int(value.get("access_count") or 0), value.get("last_accessed")]
                for key, value in entries.items()}
    except (NotFound, Damaged, ValueError, AttributeError, TypeError):
        return
    if base:
        append_line(tree, path, {"base": base})


def fold_usage(lines: Iterator[tuple[int, dict[str, Any] | None]], totals: dict[str, Usage]) -> None:
    """Add a ledger's lines to the totals."""
    for _, line in lines:
        if line is None:
            continue
        if isinstance(line.get("base"), dict):
            for key, value in line["base"].items():
                if isinstance(value, list) and len(value) == 2 and isinstance(value[0], int):
                    totals[key] = add(totals.get(key, Usage()), Usage(value[0], time_or_none(value[1])))
        elif isinstance(line.get("ids"), list):
            once = Usage(1, time_or_none(line.get("t")))
            for key in map(str, line["ids"]):
                totals[key] = add(totals.get(key, Usage()), once)


def read_usage(tree: Tree, machine: str, start: int) -> tuple[dict[str, Usage], int]:
    """What a machine's ledger counts from `start` on, whole lines only, and how many bytes these are."""
    try:
        data, _ = tree.read(paths.usage_log(machine), start)
    except NotFound:
        data = b""
    whole, totals = data[: data.rfind(b"\n") + 1], dict[str, Usage]()
    fold_usage(read_lines(whole), totals)
    return totals, len(whole)


def add(known: Usage, more: Usage) -> Usage:
    last = max((when for when in (known.last, more.last) if when is not None), default=None)
    return Usage(known.count + more.count, last)


def append_episode(tree: Tree, now: float, heading: str, *, kind: str, tags: Sequence[str] = (),
                   memory: str | None = None, summary: str = "", synced: bool = False) -> str:
    """Write one block of today's diary; the day's first block brings the heading. One that points to no
    record is the only truth of what it says, and is `synced`.
    """
    check_whole([heading, kind, list(tags), memory, summary])  # one bad character would hide the whole day
    date = day(now)
    path = paths.episode_file(date)
    block = markdown.write_episode(utc(now).strftime("%H:%M"), heading, kind=kind, tags=tuple(tags),
                                   memory=memory, summary=summary)
    tree.append(path, block.encode(), synced=synced, opening=f"# {date}\n\n".encode())
    return path


def strike_blocks(data: bytes, path: str, record: str, mention: str, headings: Collection[str]) -> bytes:
    """A diary in which blocks that are the record, link to its file or have such a heading are `(purged)`."""
    date = path.rsplit("/", 1)[-1].removesuffix(".md")
    parts = re.split(r"(?m)^(?=## \d\d:\d\d - )", data.decode(errors="surrogateescape"))
    blocks = [(at, block) for at, block in enumerate(parts) if block.startswith("## ")]
    ids = episode_ids(date, (block.partition("\n")[0] for _, block in blocks))
    for (at, block), (own, _) in zip(blocks, ids, strict=True):
        links = any(f"/{mention}{end}" in block for end in ")/")  # to its file, or into its folder
        if own == record or links or block[len("## 00:00 - "):].startswith(tuple(headings)):
            parts[at] = f"## {block[3:8]} - (purged)\n\n"
    return "".join(parts).encode(errors="surrogateescape")


def lay_aside(tree: Tree, path: str, data: bytes, now: float, number: int = 0) -> str:
    """Copy what a file holds to archive/edited/; returns the place, which the moment and the bytes name, so
    that two clones never mean different things by it. Of several in a second, `number` tells the order.
    """
    name = f"{utc(now):%Y%m%dT%H%M%SZ}-{fingerprint(data)[:6]}{f'-{number}' if number else ''}"
    aside = f"{paths.EDITED}{path}.{name}"
    if tree.look(aside) is None:
        tree.write(aside, data)
    return aside
