"""`otolith export`: the whole home, or a part chosen by filters, as a zip of its files, as JSON lines, or as
one book.

The zip is a home again, with a manifest of hashes: `import --restore` gives it back. Settings that hold keys,
locks and logs of this machine stay behind.
Written beside the target and put in its place when it is whole; an export is never counted as use.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from otolith.errors import CannotWrite, Conflict, Damaged, Invalid, NotFound, WrongUsage
from otolith.files.tree import fingerprint
from otolith.model.kinds import KINDS

if TYPE_CHECKING:
    from otolith.memory import Memory

Progress = Callable[[int, int], None]
FORMATS = {".zip": "zip", ".jsonl": "jsonl", ".md": "markdown"}
LEFT = ("_config.json", ".lock")
EPOCH = (1980, 1, 1, 0, 0, 0)  # a zip's files carry no time of export, so equal homes give equal zips
PAGE = 500


def format_of(target: str, given: str | None) -> str:
    """The format asked for, or the one that the target's name tells."""
    if given:
        if given not in FORMATS.values():
            raise WrongUsage(f"unknown format {given!r}", f"use one of {', '.join(FORMATS.values())}")
        return given
    ending = Path(target).suffix.lower()
    if ending not in FORMATS:
        raise WrongUsage(f"{target} does not say in which format",
                    "end its name in .zip, .jsonl or .md, or give --format")
    return FORMATS[ending]


def export(mem: Memory, target: str, form: str, filters: dict[str, Any], *, force: bool = False,
           progress: Progress | None = None) -> int:
    """Write an export to a file, or to stdout for `-`; returns how many records it holds."""
    write = {"zip": _zip, "jsonl": _jsonl, "markdown": _book}[form]
    if target == "-":
        if form != "zip":
            return write(mem, sys.stdout.buffer, filters, progress)
        packed = io.BytesIO()
        count = write(mem, packed, filters, progress)
        sys.stdout.buffer.write(packed.getvalue())
        return count
    path = Path(target).expanduser().absolute()
    if path.exists() and not force:
        raise Conflict(f"{path} is there already", "give another name, or --force")
    if Path(mem.home.tree.name) in path.parents:
        raise Invalid("an export does not belong inside the home", "choose a place outside it")
    with _beside(path) as out:
        return write(mem, out, filters, progress)


@contextmanager
def _beside(path: Path) -> Iterator[IO[bytes]]:
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=".otolith-", dir=path.parent)
    except OSError as error:
        raise CannotWrite(f"{path.parent} cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise CannotWrite(f"{path} cannot be written: {error.strerror}") from None
    finally:
        Path(temporary).unlink(missing_ok=True)


def _rows(mem: Memory, filters: dict[str, Any], progress: Progress | None) -> Iterator[dict[str, Any]]:
    """Every record chosen, oldest kinds of listing first: a page at a time."""
    offset = 0
    while True:
        items, total = mem.list(limit=PAGE, offset=offset, **filters)
        for at, item in enumerate(items):
            if progress:
                progress(offset + at + 1, total)
            yield dict(item)
        offset += len(items)
        if not items or offset >= total:
            return


def _fetched(mem: Memory, row: dict[str, Any]) -> Any:
    from otolith.verbs.steps import fetch, locate

    return fetch(mem.home, locate(mem.home, row["id"]))


def _jsonl(mem: Memory, out: IO[bytes], filters: dict[str, Any], progress: Progress | None) -> int:
    from otolith.files.codec import public
    from otolith.verbs.notes import pointers

    count = 0
    for row in _rows(mem, filters, progress):
        try:
            record = public(_fetched(mem, row))
        except (Damaged, NotFound):
            continue
        out.write(_line(row["id"], row["kind"], row["path"], record))
        count += 1
    # a diary's blocks are numbered: those that only point to records keep the others' ids
    if not any(filters.values()):
        for path, block in pointers(mem.home):
            out.write(_line(block.id, block.kind, path, public(block)))
    return count


def _line(id: str, kind: str, path: str, record: dict[str, Any]) -> bytes:
    line = {"id": id, "kind": kind, "path": path, "record": record}
    return json.dumps(line, ensure_ascii=False, default=str).encode() + b"\n"


def _book(mem: Memory, out: IO[bytes], filters: dict[str, Any], progress: Progress | None) -> int:
    from otolith.recall.depth import render

    count = 0
    chapters: dict[str, list[str]] = {}
    for row in _rows(mem, filters, progress):
        try:
            text = render(_fetched(mem, row), "full")
        except (Damaged, NotFound):
            continue
        count += 1
        about = [f"`{row['id']}`", str(row["created"])[:10], *(f"#{tag}" for tag in row.get("tags") or ())]
        body = "\n".join(_deeper(line) for line in str(text).splitlines())
        title = " ".join(str(row["title"]).split())
        chapters.setdefault(row["kind"], []).append(f"### {title}\n\n{' · '.join(about)}\n\n{body}\n")
    out.write(f"# {Path(mem.home.tree.name).name}\n\n{count} records.\n".encode())
    for kind in (kind for kind in KINDS.values() if kind.name in chapters):
        out.write(f"\n## {kind.heading}\n\n".encode()
                  + "\n".join(chapters[kind.name]).encode("utf-8", "replace"))
    return count


def _deeper(line: str) -> str:
    """A heading inside a record stands below the record's own."""
    return f"###{line}" if line.startswith("#") and line.lstrip("#").startswith(" ") else line


def _zip(mem: Memory, out: IO[bytes], filters: dict[str, Any], progress: Progress | None) -> int:
    from otolith.doors.exchange.restoring import MANIFEST, write_manifest

    chosen = any(value for value in filters.values())
    units = {row["path"] for row in _rows(mem, filters, None)} if chosen else None
    hashes: dict[str, str] = {}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:

        def put(name: str, data: bytes) -> None:
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr, entry.compress_type = 0o600 << 16, zipfile.ZIP_DEFLATED
            packed.writestr(entry, data)

        names = sorted(set(_files(mem, units)))
        for at, name in enumerate(names):
            if progress:
                progress(at + 1, len(names))
            try:
                data, _ = mem.home.tree.read(name)
            except (NotFound, Damaged):
                continue
            put(name, data)
            hashes[name] = fingerprint(data)
        if units is None:
            put(MANIFEST, write_manifest(hashes))
    return len(units) if units is not None else len(hashes)


def _files(mem: Memory, units: set[str] | None) -> Iterator[str]:
    """The home's own files: all that belong to it, or those of the chosen records."""
    from otolith.files.paths import AUDIT, EXPORTS, OTHER_FILES, unit_of

    for path, token in mem.home.tree.scan():
        if token is not None and (units is None or unit_of(path) in units):
            yield path
    if units is None:  # of what stays on this machine, only how often each record was used
        yield from (path for path in mem.home.tree.within("log") if path.startswith("log/usage-"))
    for path in (*OTHER_FILES, AUDIT, *EXPORTS) if units is None else ("otolith.toml",):
        if path not in LEFT and mem.home.tree.look(path) is not None:
            yield path
