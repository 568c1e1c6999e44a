"""JSON as exports hold it: large arrays element by element, and files of one object a line.

Only one element is ever held as objects. A broken element or line is a finding; a half last line is somebody
still writing, and is passed over in silence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from otolith.doors.exchange.bundle import Bundle, split_lines
from otolith.doors.exchange.items import SourceFinding
from otolith.errors import Invalid

_DECODER = json.JSONDecoder()
_SPACE = " \t\r\n"
_BEGINNING = 4 << 20


def each_element(text: str, name: str) -> Iterator[Any | SourceFinding]:
    """The elements of a JSON array, or the one value that is no array."""
    position = _skip(text, 0)
    if text[position : position + 1] != "[":
        value, _ = _decode(text, position, name)
        yield value
        return
    position = _skip(text, position + 1)
    while position < len(text) and text[position] != "]":
        value, position = _decode(text, position, name)
        yield value
        if position < 0:
            return
        position = _skip(text, position)
        if text[position : position + 1] == ",":
            position = _skip(text, position + 1)
        elif text[position : position + 1] != "]":
            yield SourceFinding(where=name, line=_line(text, position), message="the file ends in the middle")
            return


def each_line(bundle: Bundle, name: str, start: int = 0) -> Iterator[tuple[int, int, Any | SourceFinding]]:
    """(line number, position, object) of a JSONL file, from a position on, where a line begins."""
    try:
        stream = bundle.stream(name)
    except (Invalid, OSError) as error:
        yield 0, 0, SourceFinding(where=name, message=str(error))
        return
    with stream:
        for number, at, data, ended in split_lines(stream, start):
            if data is None:
                yield number, at, SourceFinding(where=name, line=number,
                                          message="the line is too long and was left out")
                continue
            if not data.strip():
                continue
            try:
                value = json.loads(data.decode("utf-8-sig" if at == 0 else "utf-8"))
            except (ValueError, RecursionError):
                if ended:
                    yield number, at, SourceFinding(where=name, line=number,
                                              message="the line is not JSON and was left out")
                continue
            yield number, at, value


def first_objects(bundle: Bundle, name: str, count: int = 20) -> list[dict[str, Any]]:
    """The first objects of a JSON array or of JSON lines, for telling formats apart."""
    start = bundle.head(name, 64).decode("utf-8", "ignore").lstrip("\ufeff" + _SPACE)[:1]
    if start not in ("{", "["):
        return []
    found: list[dict[str, Any]] = []
    lines = (value for _, _, value in each_line(bundle, name)) if start == "{" else iter(())
    for value in lines:
        if isinstance(value, dict):
            found.append(value)
        if len(found) >= count:
            return found
        if not found:  # not one object a line: an indented object, which is read as a whole
            break
    if not found:  # most often the beginning of the file is enough
        found = _objects(bundle.head(name, _BEGINNING).decode("utf-8-sig", "ignore"), name, count)
    if not found and bundle.sizes[name] > _BEGINNING:
        found = _objects(bundle.text(name), name, count)
    return found


def _objects(text: str, name: str, count: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for value in each_element(text, name):
        if isinstance(value, dict):
            found.append(value)
        if len(found) >= count or isinstance(value, SourceFinding):
            break
    return found


def _decode(text: str, position: int, name: str) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, position)
    except (ValueError, RecursionError):
        message = "not valid JSON from here on; the rest is left out"
        return SourceFinding(where=name, line=_line(text, position), message=message), -1


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
