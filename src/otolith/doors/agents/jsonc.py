"""JSON with comments, edited as text: what is not asked for stays byte for byte.

`parse` gives a tree of nodes that know where they stand; `insert` and `remove` return a new text. Comments
and trailing commas are understood everywhere, whether or not the program that owns the file understands them.

Taking out must undo putting in, without a note of what was there before. So the layout carries that note: an
empty `{}` that was found is filled on its own line (`{"x": 1}`), one that had to be made is spread over
lines. When the last child leaves, a spread container goes with it and the other one stays, empty as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from otolith.errors import Invalid

MAX_DEPTH = 100
Step: TypeAlias = str | int
_SKIP = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*[\s\S]*?\*/)*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+"')
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


class Node(NamedTuple):
    """A value in the text. Of an object, `names` and `children` run side by side;
    a child starts with its key.
    """

    start: int
    end: int
    value: Any
    names: tuple[str, ...] = ()
    children: tuple[Node, ...] = ()
    key_start: int = -1

    @property
    def first(self) -> int:
        """Where the child begins, its key included."""
        return self.key_start if self.key_start >= 0 else self.start

    def child(self, step: Step) -> Node | None:
        if isinstance(step, int):
            return self.children[step] if isinstance(self.value, list) and step < len(self.children) else None
        if not isinstance(self.value, dict):
            return None
        if self.names.count(step) > 1:
            raise Invalid(f"the key {step!r} stands there {self.names.count(step)} times")
        return self.children[self.names.index(step)] if step in self.names else None


def parse(text: str) -> Node:
    """The tree of a text, or Invalid with the line that is wrong. An empty text is an empty object."""
    if not text.strip(" \t\r\n\ufeff"):
        return Node(start=0, end=0, value={})
    node = _value(text, _after_space(text, 0), 0, -1)
    rest = _after_space(text, node.end)
    if rest != len(text):
        raise _wrong(text, rest, "nothing more was expected")
    return node


def find(root: Node, path: Sequence[Step]) -> Node | None:
    """The node at a path of keys and positions."""
    node: Node | None = root
    for step in path:
        node = node.child(step) if node else None
    return node


def insert(text: str, path: Sequence[str], value: Any) -> str:
    """The text with a value at a path of keys; containers that are missing on the way are made.

    If there is already a list at the path, the value becomes its last item.
    """
    container, done = parse(text), 0
    if not container.end:  # no file yet
        for key in reversed(path):
            value = {key: value}
        return _render(value, "", "  ", "\n") + "\n"
    while done < len(path) and (below := container.child(path[done])) is not None:
        container, done = below, done + 1
    if done == len(path) and isinstance(container.value, list):
        return _insert_child(text, container, "", value)
    if done == len(path) or not isinstance(container.value, dict):
        raise Invalid(f"{'.'.join(path[:done]) or 'the whole'} is not what it should be")
    for key in reversed(path[done + 1 :]):
        value = {key: value}
    return _insert_child(text, container, f"{json.dumps(path[done])}: ", value)


def replace(text: str, path: Sequence[Step], value: Any) -> str:
    """The text with another value at a path that exists."""
    node = find(parse(text), path)
    if node is None:
        raise Invalid(f"there is no {'.'.join(map(str, path))}")
    return text[: node.start] + _render(value, *_style(text, node.start)) + text[node.end :]


def remove(text: str, path: Sequence[Step]) -> str | None:
    """The text without the value at a path, and without containers that were made for it;
    None if nothing is left.
    """
    while path:
        container = find(parse(text), path[:-1])
        child = container.child(path[-1]) if container else None
        if container is None or child is None:
            return text
        lead = text[container.start + 1 : child.first]
        spread = len(container.children) == 1 and "\n" in lead and not lead.strip()
        text = _remove_child(text, container, container.children.index(child))
        if not spread:
            return text
        path = path[:-1]
    return None


def _insert_child(text: str, container: Node, key: str, value: Any) -> str:
    indent, unit, newline = _style(text, container.start)
    close = container.end - 1
    if not container.children:
        inner = text[container.start + 1 : close]
        if not inner.strip():
            return text[: container.start + 1] + key + _render(value, indent, unit,
                                                               newline) + text[container.start + 1 :]
        at = container.start + 1 + len(inner.rstrip())
        return text[:at] + newline + indent + unit + key + _render(value, indent + unit, unit,
                                                                   newline) + text[at:]
    last = container.children[-1]
    after = _after_space(text, last.end)
    trailing = text[after] == ","
    one_line = "\n" not in text[container.start : container.end]
    own_indent = _line_indent(text, last.first)
    deeper = own_indent if own_indent is not None else indent + unit
    child = (" " if one_line else newline + deeper) + key + _render(value, indent if one_line else deeper,
                                                                    unit, newline)
    at = len(text[:close].rstrip())
    if trailing:
        return text[:at] + child + "," + text[at:]
    return text[: last.end] + "," + text[last.end : at] + child + text[at:]


def _remove_child(text: str, container: Node, index: int) -> str:
    child = container.children[index]
    lead = len(text[: child.first].rstrip(" \t\r\n"))
    after = _after_space(text, child.end)
    if text[after] == ",":
        return text[:lead] + text[child.end : after].rstrip() + text[after + 1 :]
    if index == 0:
        return text[:lead] + text[child.end :]
    comma = _after_space(text, container.children[index - 1].end)
    return text[:comma] + text[comma + 1 : lead] + text[child.end :]


def _render(value: Any, indent: str, unit: str, newline: str) -> str:
    """JSON spread over lines; a list of plain values stays on one."""
    if isinstance(value, dict) and value:
        inner = (f"{json.dumps(key)}: {_render(below, indent + unit, unit, newline)}" for key,
                 below in value.items())
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        inner = (_render(item, indent + unit, unit, newline) for item in value)
    else:
        return json.dumps(value, ensure_ascii=False)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    lines = f",{newline}".join(f"{indent}{unit}{one}" for one in inner)
    return f"{opening}{newline}{lines}{newline}{indent}{closing}"


def _style(text: str, position: int) -> tuple[str, str, str]:
    """The indentation of the line at a position, the step of indentation, and the line ending of the file."""
    line = text[text.rfind("\n", 0, position) + 1 :]
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    step = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return indent, step[1] if step else "  ", "\r\n" if "\r\n" in text else "\n"


def _line_indent(text: str, position: int) -> str | None:
    """The white space before a position, if nothing else stands before it on its line."""
    before = text[text.rfind("\n", 0, position) + 1 : position]
    return before if not before.strip(" \t") and "\n" in text[:position] else None


def _value(text: str, at: int, depth: int, key_start: int) -> Node:
    if depth > MAX_DEPTH:
        raise _wrong(text, at, "nested too deeply")
    sign = text[at : at + 1]
    if sign == "{":
        return _object(text, at, depth, key_start)
    if sign == "[":
        return _array(text, at, depth, key_start)
    found = (_STRING if sign == '"' else _SCALAR).match(text, at)
    if not found:
        raise _wrong(text, at, "a value was expected")
    try:
        return Node(start=at, end=found.end(), value=json.loads(found[0]), key_start=key_start)
    except ValueError:
        raise _wrong(text, at, "the text is not closed or not escaped rightly") from None


def _object(text: str, start: int, depth: int, key_start: int) -> Node:
    names: list[str] = []
    children: list[Node] = []
    at = _after_space(text, start + 1)
    while text[at : at + 1] != "}":
        key = _STRING.match(text, at)
        if not key:
            raise _wrong(text, at, "a key in quotes or } was expected")
        colon = _after_space(text, key.end())
        if text[colon : colon + 1] != ":":
            raise _wrong(text, colon, "a colon was expected")
        child = _value(text, _after_space(text, colon + 1), depth + 1, at)
        names.append(json.loads(key[0]))
        children.append(child)
        at = _after_comma(text, child.end, "}")
    value = {name: child.value for name, child in zip(names, children, strict=True)}
    return Node(start=start, end=at + 1, value=value, names=tuple(names), children=tuple(children),
                key_start=key_start)


def _array(text: str, start: int, depth: int, key_start: int) -> Node:
    children: list[Node] = []
    at = _after_space(text, start + 1)
    while text[at : at + 1] != "]":
        children.append(_value(text, at, depth + 1, -1))
        at = _after_comma(text, children[-1].end, "]")
    value = [child.value for child in children]
    return Node(start=start, end=at + 1, value=value, children=tuple(children), key_start=key_start)


def _after_comma(text: str, at: int, closing: str) -> int:
    at = _after_space(text, at)
    if text[at : at + 1] == ",":
        return _after_space(text, at + 1)
    if text[at : at + 1] != closing:
        raise _wrong(text, at, f"a comma or {closing} was expected")
    return at


def _after_space(text: str, at: int) -> int:
    found = _SKIP.match(text, at)
    return found.end() if found else at


def _wrong(text: str, at: int, message: str) -> Invalid:
    return Invalid(f"line {text.count(chr(10), 0, at) + 1}: {message}")
