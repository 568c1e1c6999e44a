"""TOML tables put in and taken out of a person's file: comments, order and spacing of everything else stay as
they are.

Every result is read back before it is returned, so an unusual file is refused and not harmed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from otolith.errors import Invalid


def parse(text: str) -> dict[str, Any]:
    """The values of a text, or Invalid with the reason."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Invalid(str(error)) from None


def append_table(text: str, name: str, values: Mapping[str, Any]) -> str:
    """The text with a table at its end; a missing last line ending stays missing, which `remove_table`
    understands.
    """
    import tomlkit

    newline = "\r\n" if "\r\n" in text else "\n"
    table = newline.join([f"[{name}]", *tomlkit.dumps(dict(values)).splitlines()])
    if not text:
        return table + newline
    ended = text.endswith("\n")
    return _checked(text + newline + table + newline if ended else text + newline * 2 + table, text, name,
                    values)


def set_values(text: str, name: str, values: Mapping[str, Any]) -> str:
    """The text with these values in a table that it has."""
    import tomlkit

    document = tomlkit.parse(text)
    table: Any = document
    for part in name.split("."):
        table = table[part]
    table.update(values)
    return _checked(document.as_string(), text, name, values)


def remove_table(text: str, name: str) -> str | None:
    """The text without a table and the tables below it, and without the blank line before it;
    None if nothing is left.
    """
    import tomlkit

    document = tomlkit.parse(text)
    above, _, last = name.rpartition(".")
    parent: Any = document
    for part in above.split("."):
        parent = parent[part]
    del parent[last]
    if not parent and above in document and f"[{above}]" not in text:
        del document[above]
    rest = document.as_string()
    same = next((at for at, (old, new) in enumerate(zip(text, rest, strict=False)) if old != new), len(rest))
    at = rest.rfind("\n", 0, same) + 1  # where the table stood
    head, tail = rest[:at], rest[at:]
    blank = "\r\n\r\n" if head.endswith("\r\n\r\n") else "\n\n"
    if head.endswith(blank):
        unended = not tail and not text.endswith("\n")  # both line endings go where the file had lacked one
        head = head[: -len(blank)] if unended else head[: -len(blank) // 2]
    return head + tail or None


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
