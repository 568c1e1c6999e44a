"""Otolith's own JSON lines, as `otolith export x.jsonl` writes them: each record becomes the file it came
from again.

Facts come back with their entries; topics and the global memory are built from those. A line's path is only
taken if a home keeps such files there. Like a zip of a home, all of it is from outside.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping
from typing import Any

from otolith.doors.exchange.bundle import Bundle
from otolith.doors.exchange.homes import WRITTEN
from otolith.doors.exchange.items import FileItem, Finding, Found
from otolith.doors.exchange.jsontext import each_line, first_objects
from otolith.errors import Invalid
from otolith.model.text import has_controls

SOURCE = "otolith"
_FIELDS = {"id", "kind", "path", "record"}
_BUILT = ("fact", "topic", "global")
_JSON = ("chunk", "work", "agent", "chapter", "wisdom")


def fits(bundle: Bundle) -> bool:
    """Whether it is a file of records in the shape every door answers."""
    return len(bundle.names) == 1 and any(first.keys() >= _FIELDS and isinstance(first["record"], dict)
                                          for first in first_objects(bundle, bundle.names[0], 1))


def read(bundle: Bundle) -> Iterator[Found]:
    if not fits(bundle):
        raise Invalid(f"{bundle.path.name} is not an export of Otolith")
    name = bundle.names[0]
    days: dict[str, list[Mapping[str, Any]]] = {}
    for number, _, line in each_line(bundle, name):
        if isinstance(line, Finding):
            yield line
            continue
        try:
            kind, path, record = _parts(line)
            if kind == "episode":
                days.setdefault(path, []).append(record)
            elif kind not in _BUILT:
                yield from (_item(inner, data) for inner, data in _files(kind, path, record))
        except (Invalid, KeyError, TypeError, ValueError) as error:
            yield Finding(where=name, line=number, message=f"the line is no record of Otolith: {error}")
    for path, blocks in sorted(days.items()):
        yield _item(path, _diary(path, blocks))


def _parts(line: Any) -> tuple[str, str, dict[str, Any]]:
    if not isinstance(line, dict) or not isinstance(line.get("record"), dict):
        raise Invalid("it has no record")
    return str(line.get("kind")), str(line.get("path")), line["record"]


def _item(path: str, data: bytes) -> FileItem:
    if (".." in path.split("/") or has_controls(path)
        or not any(re.fullmatch(one, path) for patterns in WRITTEN.values() for one in patterns)):
        raise Invalid(f"no home keeps a file at {path[:80]!r}")
    return FileItem(key=f"{SOURCE}:{path}", source=SOURCE, path=path, data=data)


def _files(kind: str, path: str, record: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """The files of a record's unit, as its codec would write them."""
    from otolith.files import front
    from otolith.files.jsonform import write_object

    if kind in ("note", "edge"):
        fields = {key: value for key, value in record.items() if key not in ("text", "pinned")}
        yield path, f"{front.emit(fields)}\n{record.get('text', '')}\n".encode()
    elif kind == "memo":
        from otolith.files.markdown import write_memo
        from otolith.model.memo import Memo

        yield path, write_memo(Memo.from_dict({**record, "created_at": record["created"]}))
    elif kind == "page":
        yield path, str(record["text"]).encode()
    elif kind == "entry":
        yield f"{path}/raw.md", str(record.get("raw", "")).encode()
        for part in ("meta", "summary"):
            if isinstance(record.get(part), dict):
                yield f"{path}/{part}.json", write_object(record[part])
    elif kind in _JSON:
        data = write_object(record)
        yield path, gzip.compress(data, mtime=0) if path.endswith(".gz") else data
    else:
        raise Invalid(f"it is of no known kind, {kind[:40]!r}")


def _diary(path: str, blocks: list[Mapping[str, Any]]) -> bytes:
    from otolith.files.markdown import write_episode

    def place(block: Mapping[str, Any]) -> tuple[str, int]:
        return str(block.get("time")), int(str(block.get("id")).rpartition("-")[2] or 0)

    day = path.rpartition("/")[2].removesuffix(".md")
    told = [write_episode(str(block.get("time")), str(block.get("heading")), kind=str(block.get("type")),
                          tags=tuple(map(str, block.get("tags") or ())), memory=block.get("memory"),
                          summary=str(block.get("summary"))) for block in sorted(blocks, key=place)]
    return f"# {day}\n\n{''.join(told)}".encode()
