"""Homes of the systems Otolith grew out of, homes of Otolith itself, and Otolith's own JSON lines: files
taken over.

RLM-MEM keeps `chunks/` and `allmemories/` (often under `brain/memory/`), local-memory `topics/` (often under
`data/`), cognitive-memory `graph/`, `vault/` and `episodes/`. Only what people and agents wrote is listed;
what is built from it comes back by itself. A line of `otolith export x.jsonl` becomes the file it came from
again. Nothing outside these names is ever read or written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from otolith.doors.exchange.bundle import Bundle, FormatReader
from otolith.doors.exchange.items import FileItem, Found, SourceFinding
from otolith.doors.exchange.jsontext import each_line, first_objects
from otolith.errors import Invalid
from otolith.files import codec
from otolith.model.kinds import NOTE_FOLDERS, Kind
from otolith.model.kinds import kind as row_of
from otolith.model.text import has_controls

_ROOTS = ("", "brain/memory/", "memory/", "data/")
_MAX_RECORD = 10 << 20
_FIELDS = {"id", "kind", "path", "record"}
_WRITTEN = {
    "rlm-mem": (r"chunks/\d{4}-\d\d/chunk-[\w-]+\.json", r"archive/chunk-[\w-]+\.json",
                r"allmemories/[^/]+\.md"),
    "local-memory": (r"topics/[^/]+/[^/]+/(?:raw\.md|meta\.json|summary\.json)",
                     r"topics/[^/]+/curation\.jsonl"),
    "cognitive-memory": (r"graph/[a-z-]+/[^/]+\.md", r"vault/(?:[^/]+/)?[^/]+\.md",
                         r"episodes/\d{4}-\d\d-\d\d\.md"),
    "otolith": (r"work/\d{4}-\d\d/mem_[\w-]+\.json", r"work/(?:agents|chapters|wisdom)/[\w.-]+\.json",
                r"work/cold/\d{4}-\d\d/mem_[\w-]+\.json\.gz", r"memories/.+", r"links\.jsonl"),
}
# What tells a home from any folder that happens to have a `vault/` or a `memories/` in it.
_WITNESSES = {
    "rlm-mem": (r"chunks/\d{4}-\d\d/chunk-[\w-]+\.json", r"allmemories/[^/]+\.md"),
    "local-memory": (r"topics/[^/]+/[^/]+/(?:raw\.md|summary\.json)",),
    "cognitive-memory": (rf"graph/(?:{'|'.join(NOTE_FOLDERS)}|edges)/[^/]+\.md", r"_index\.json",
                         r"CORE\.md"),
    "otolith": (r"otolith\.toml", r"work/\d{4}-\d\d/mem_[\w-]+\.json"),
}
_PATTERNS = {name: re.compile("|".join(patterns)) for name, patterns in _WRITTEN.items()}
_SIGNS = {name: re.compile("|".join(patterns)) for name, patterns in _WITNESSES.items()}


def _systems(bundle: Bundle) -> list[str]:
    """Which systems' records it holds."""
    root = _root(bundle)
    if root is None:
        return []
    inner = [name.removeprefix(root) for name in bundle.names if name.startswith(root)]
    return [system for system, sign in _SIGNS.items() if any(map(sign.fullmatch, inner))]


def _read_home(bundle: Bundle) -> Iterator[Found]:
    root = _root(bundle)
    if root is None:
        raise Invalid(f"{bundle.path.name} contains no records of a memory home")
    present = _systems(bundle)
    source = present[0] if len(present) == 1 else "otolith"
    for name in bundle.names:
        path = name.removeprefix(root)
        if not name.startswith(root) or not any(_PATTERNS[system].fullmatch(path) for system in present):
            continue
        try:
            data = bundle.read(name, _MAX_RECORD)
        except Invalid as error:
            yield SourceFinding(where=name, message=error.message)
            continue
        yield FileItem(key=f"{source}:{path}", source=source, path=path, data=data)


def _root(bundle: Bundle) -> str | None:
    """Where in the bundle the home begins: at its top, in a place the originals use, or in a zip's only
    folder.
    """
    tops = {name.partition("/")[0] for name in bundle.names}
    wrapped = f"{next(iter(tops))}/" if len(tops) == 1 else ""
    for root in dict.fromkeys((*_ROOTS, *(wrapped + root for root in _ROOTS))):
        inner = [name.removeprefix(root) for name in bundle.names if name.startswith(root)]
        if any(sign.fullmatch(name) for sign in _SIGNS.values() for name in inner):
            return root
    return None


def _is_export(bundle: Bundle) -> bool:
    """Whether it is a file of records in the shape every door answers."""
    return len(bundle.names) == 1 and any(first.keys() >= _FIELDS and isinstance(first["record"], dict)
                                          for first in first_objects(bundle, bundle.names[0], 1))


def _read_export(bundle: Bundle) -> Iterator[Found]:
    if not _is_export(bundle):
        raise Invalid(f"{bundle.path.name} is not an export of Otolith")
    name = bundle.names[0]
    days: dict[str, list[Mapping[str, Any]]] = {}
    for number, _, line in each_line(bundle, name):
        if isinstance(line, SourceFinding):
            yield line
            continue
        try:
            row, path, record = _parts(line)
            if row.codec == "diary":
                days.setdefault(path, []).append(record)
            elif not row.built:
                yield from (_item(inner, data) for inner, data in codec.files_of(row, path, record).items())
        except (Invalid, KeyError, TypeError, ValueError) as error:
            yield SourceFinding(where=name, line=number, message=f"the line is not an export line: {error}")
    for path, blocks in sorted(days.items()):
        yield _item(path, _diary(path, blocks))


def _parts(line: Any) -> tuple[Kind, str, dict[str, Any]]:
    if not isinstance(line, dict) or not isinstance(line.get("record"), dict):
        raise Invalid("it has no record")
    return row_of(str(line.get("kind"))), str(line.get("path")), line["record"]


def _item(path: str, data: bytes) -> FileItem:
    if (".." in path.split("/") or has_controls(path)
        or not any(pattern.fullmatch(path) for pattern in _PATTERNS.values())):
        raise Invalid(f"no home keeps a file at {path[:80]!r}")
    return FileItem(key=f"otolith:{path}", source="otolith", path=path, data=data)


def _diary(path: str, blocks: list[Mapping[str, Any]]) -> bytes:
    from otolith.files.markdown import write_episode

    def place(block: Mapping[str, Any]) -> tuple[str, int]:
        number = str(block.get("former") or block.get("id")).rpartition("-")[2]  # within its minute
        return str(block.get("time")), int(number) if number.isdecimal() else 0

    day = path.rpartition("/")[2].removesuffix(".md")
    texts = [write_episode(str(block.get("time")), str(block.get("heading")), kind=str(block.get("type")),
                          tags=tuple(map(str, block.get("tags") or ())), memory=block.get("memory"),
                          summary=str(block.get("summary"))) for block in sorted(blocks, key=place)]
    return f"# {day}\n\n{''.join(texts)}".encode()


def _home(system: str) -> FormatReader:
    """A home of one system alone; of several systems' records at once, it is Otolith's."""
    return FormatReader(lambda bundle: _systems(bundle) == [system], _read_home)


READERS = {**{system: _home(system) for system in ("rlm-mem", "local-memory", "cognitive-memory")},
           "otolith": FormatReader(lambda bundle: bool(_systems(bundle)), _read_home),
           "otolith-lines": FormatReader(_is_export, _read_export)}
