"""TOML tables put in and taken out as text: comments, order and spacing of everything else stay byte for byte.

A table is appended at the end, where no other table can claim its keys, and is found again by its header line. Every
result is read back by the standard library before it is returned, so an unusual file is refused and not harmed.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from otolith.errors import Invalid

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'[\s\S]*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}\n]|[^"\'#\[\]{}\n]+',
    re.DOTALL,
)
_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?")


class _Statement(NamedTuple):
    start: int
    end: int  # after its line ending
    text: str


def parse(text: str) -> dict[str, Any]:
    """The values of a text, or Invalid with the reason."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Invalid(str(error)) from None


def append_table(text: str, name: str, values: Mapping[str, Any]) -> str:
    """The text with a table at its end; a missing last line ending stays missing, which `remove_table` understands."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{name}]", *(f"{key} = {_render(value)}" for key, value in values.items())]
    table = newline.join(lines)
    if not text:
        return table + newline
    if text.endswith("\n"):
        return _checked(text + newline + table + newline, text, name, values)
    return _checked(text + newline + newline + table, text, name, values)


def set_values(text: str, name: str, values: Mapping[str, Any]) -> str:
    """The text with other values for keys that the table already has, or with them added below its header."""
    result = text
    for key, value in values.items():
        inside = [statement for statement, table in _tables(result) if table == name]
        if not inside:
            raise Invalid(f"[{name}] is not written as a table of its own")
        line = f"{key} = {_render(value)}"
        old = next((one for one in inside if re.match(rf"\s*(?:{key}|\"{key}\")\s*=", one.text)), None)
        if old:
            ending = old.text[len(old.text.rstrip("\r\n")) :]
            result = result[: old.start] + line + ending + result[old.end :]
        else:
            newline = "\r\n" if "\r\n" in result else "\n"
            gap = "" if inside[0].text.endswith("\n") else newline
            result = result[: inside[0].end] + gap + line + newline + result[inside[0].end :]
    return _checked(result, text, name, values)


def remove_table(text: str, name: str) -> str | None:
    """The text without a table and the tables below it; None if nothing is left."""
    found = [one for one, table in _tables(text) if table == name or table.startswith(f"{name}.")]
    if not found:
        return text
    rest = text
    for statement in reversed(found):
        rest = rest[: statement.start] + rest[statement.end :]
    head, tail = rest[: found[0].start], rest[found[0].start :]
    # The blank line that was put before the table goes with it; so do both line endings where the file had lacked one.
    blank = "\r\n\r\n" if head.endswith("\r\n\r\n") else "\n\n"
    if head.endswith(blank):
        unended = not tail and not text.endswith("\n")
        head = head[: -len(blank)] if unended else head[: -len(blank) // 2]
    return head + tail or None


def _tables(text: str) -> Iterator[tuple[_Statement, str]]:
    """Each header and each key line with the table it belongs to; comments and blank lines between tables are nobody's."""
    table = ""
    for statement in _statements(text):
        header = _HEADER.fullmatch(statement.text.rstrip("\r\n"))
        if statement.text.lstrip().startswith("[["):
            table = "[["
        elif header:
            table = ".".join(part.strip().strip("\"'") for part in header[1].split("."))
        if statement.text.strip() and not statement.text.lstrip().startswith("#"):
            yield statement, table


def _statements(text: str) -> Iterator[_Statement]:
    """The text cut at line ends that are neither in a string nor in brackets."""
    start = depth = 0
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token in ("[", "{"):
            depth += 1
        elif token in ("]", "}"):
            depth -= 1
        elif token == "\n" and depth <= 0:
            yield _Statement(start, found.end(), text[start : found.end()])
            start, depth = found.end(), 0
    if start < len(text):
        yield _Statement(start, len(text), text[start:])


def _checked(result: str, before: str, name: str, values: Mapping[str, Any]) -> str:
    expected = parse(before)
    table: Any = expected
    for part in name.split("."):
        table = table.setdefault(part, {}) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        raise Invalid(f"{name} is not a table there")
    table.update(values)
    try:
        written = tomllib.loads(result)
    except tomllib.TOMLDecodeError:
        raise Invalid(f"{name.partition('.')[0]} is written in a form that cannot take [{name}]") from None
    if written != expected:
        raise Invalid(f"[{name}] cannot be written there without changing something else")
    return result


def _render(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_render, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if not isinstance(value, bool) else str(value).lower()
