"""Front matter: read by a fast YAML 1.2 parser, and never re-emitted.

An edit replaces the lines of the top-level keys that changed and inserts new ones before the closing `---`;
every other byte, comments, key order, line ends and a byte-order mark among them, stays. New files are in
the seed's form, by the one emitter here.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, NamedTuple

from otolith.errors import Damaged, Invalid
from otolith.model.shape import plain

MAX_FRONT = 1024 * 1024
_TOO_DEEP = r"(?m)^[ \t?:-]{500}"  # every level takes a column; the parser's stack is not endless
_OPEN = re.compile(r"\ufeff?---[ \t]*(\r?\n)")
_CLOSE = r"(?m)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)"
_KEY = re.compile(  # a key at the line's very beginning: "double", 'single' or plain
    r"""^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^\s#'"\[\]{},&*!|>%@`-][^\r\n]*?|-[^\s][^\r\n]*?))[ \t]*"""
    r""":(?=[ \t\r\n]|\Z)""", re.MULTILINE)
_BARE = (  # what needs no quotes: plain words, times, uuids
    r"[A-Za-z][A-Za-z0-9_./+-]*(?: [A-Za-z0-9_./+-]+)*"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NOT_TEXT = {"null", "true", "false", "yes", "no", "on", "off", "~", "y", "n"}
_QUOTED = {"title", "from_title", "to_title", "context"}
_UNPRINTABLE = "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]"


class Front(NamedTuple):
    """A Markdown file taken apart: `yaml` between the first and the closing line, `body` after it."""

    yaml: str
    body: str
    start: int  # where the YAML begins
    stop: int  # where the closing line begins
    rest: int  # where the body begins
    newline: str


def split(text: str) -> Front | None:
    """Take a file apart; None if it has no front matter."""
    opening = _OPEN.match(text)
    if opening is None:
        return None
    start = opening.end()
    near = text.find("\n---", start - 1)  # a pattern would stop at every line
    open_end = near < 0 or text.find("\n...", start - 1, near) >= 0
    closing = re.compile(_CLOSE).search(text, start if open_end else near)
    if closing is None:
        raise Damaged("front matter is not closed by ---", "add a line --- after the last key",
                      flaw="front-matter", line=1)
    stop, rest = closing.span()
    if stop - start > MAX_FRONT:
        raise Damaged(f"front matter is larger than {MAX_FRONT} bytes", flaw="too-large", line=1)
    return Front(text[start:stop], text[rest:], start, stop, rest, opening[1])


@cache
def load_yaml() -> Any:
    """The parser, loaded by the main thread or by one that never ends.

    Its allocator belongs to the thread that loads it: once that has ended, the next that parses crashes.
    """
    threading = sys.modules.get("threading")  # not loaded: there is only the main thread
    main = threading is None or threading.current_thread() is threading.main_thread()
    if "yaml_rs" not in sys.modules and threading and not main:
        loaded, never = threading.Event(), threading.Event()

        def hold() -> None:
            with contextlib.suppress(ImportError):  # whoever imports it below is told
                import_module("yaml_rs")
            loaded.set()
            never.wait()

        threading.Thread(target=hold, daemon=True, name="otolith-yaml").start()
        loaded.wait()
    return import_module("yaml_rs")


def parse(yaml: str, first_line: int = 2) -> dict[str, Any]:
    """The front matter's keys and values; times stay the strings they are."""
    yaml_rs = load_yaml()
    deep = re.search(_TOO_DEEP, yaml) if len(yaml) >= 500 else None
    if deep:
        line = yaml.count("\n", 0, deep.start()) + first_line
        raise Damaged("front matter is nested too deeply", flaw="front-matter", line=line)
    try:
        fields = yaml_rs.loads(yaml, parse_datetime=False)
    except yaml_rs.YAMLDecodeError as error:
        message = str(error)
        at = re.search(r"line (\d+)", message)
        flaw = "duplicate-key" if "duplicate" in message else "front-matter"
        line = int(at[1]) + first_line - 1 if at else _duplicate_line(yaml, message, first_line)
        raise Damaged(message.strip().splitlines()[-1].strip(), flaw=flaw, line=line) from None
    if fields is None:
        return {}
    if not isinstance(fields, dict):
        raise Damaged("front matter is not a list of keys and values", flaw="front-matter", line=first_line)
    return fields


def _duplicate_line(yaml: str, message: str, first_line: int) -> int:
    name = re.search(r"'([^']*)'", message)
    lines = [at for at, line in enumerate(yaml.splitlines())
             if name and line.lstrip("- ").split(":")[0].strip("\"' ") == name[1]]
    return lines[1] + first_line if len(lines) > 1 else first_line


def spans(yaml: str) -> dict[str, tuple[int, int]]:
    """Where each top-level key's lines lie, comments and blank lines after the value not included."""
    starts = [(key.start(), _name(key)) for key in _KEY.finditer(yaml)]
    result: dict[str, tuple[int, int]] = {}
    for at, (start, name) in enumerate(starts):
        stop = starts[at + 1][0] if at + 1 < len(starts) else len(yaml)
        lines = yaml[start:stop].splitlines(keepends=True)
        while len(lines) > 1 and (not lines[-1].strip() or lines[-1].startswith("#")):
            lines.pop()
        result[name] = (start, start + sum(len(line) for line in lines))
    return result


def _name(key: re.Match[str]) -> str:
    if key[1] is not None:
        return str(json.loads(f'"{key[1]}"'))
    return key[2].replace("''", "'") if key[2] is not None else key[3]


def amend(text: str, changes: Mapping[str, Any], body: str | None = None, *,
          written: Mapping[str, Any] | None = None) -> str:
    """The file with some keys changed (None removes one) and perhaps another body; all else byte for byte.

    `written` is what its front matter says, for who has already read it.
    """
    front = split(text)
    if front is None:
        raise Invalid("the file has no front matter to change")
    yaml, where = front.yaml, spans(front.yaml)
    if yaml and not yaml.endswith("\n"):
        yaml += front.newline
    inserted = []
    for key in sorted(changes, key=lambda key: where.get(key, (-1, 0))[0], reverse=True):
        lines = "" if changes[key] is None else emit_key(key, changes[key]).replace("\n", front.newline)
        if key in where:
            lines = _commented(lines, yaml[slice(*where[key])], front.newline)
            yaml = yaml[: where[key][0]] + lines + yaml[where[key][1] :]
        elif lines:
            inserted.append(key)
    for key in (key for key in changes if key in inserted):
        yaml += emit_key(key, changes[key]).replace("\n", front.newline)
    _verify(parse(front.yaml) if written is None else written, yaml, changes)
    rest = text[front.stop : front.rest]
    if body is None:
        return text[: front.start] + yaml + rest + front.body
    if not rest.endswith("\n"):
        rest += front.newline
    body = body.replace("\n", front.newline)
    return text[: front.start] + yaml + rest + front.newline + body + front.newline


def _commented(lines: str, before: str, newline: str) -> str:
    """A key's new lines with the comment that stood at the end of its first line."""
    first = before.splitlines()[0] if before else ""
    for mark in re.finditer(r"[ \t]+#", first) if lines else ():
        try:
            if parse(first[: mark.start()]) == parse(first):  # else the # is part of the value
                head, _, rest = lines.partition(newline)
                return f"{head}{first[mark.start() :]}{newline}{rest}"
        except Damaged:  # the value goes on below
            continue
    return lines


def _verify(before: Mapping[str, Any], after: str, changes: Mapping[str, Any]) -> None:
    """What is about to be written says exactly what was meant; a strange file is left alone, not broken."""
    meant = {key: value for key, value in before.items() if key not in changes}
    meant |= {key: plain(value) for key, value in changes.items() if value is not None}
    try:
        written = parse(after)
    except Damaged:  # an anchor that another line refers to stood in what was replaced
        written = {}
    if written != meant:
        raise Invalid("this front matter cannot be changed without touching other lines",
                      "edit the file by hand")


def emit(fields: Mapping[str, Any]) -> str:
    """A new file's front matter, both `---` lines included."""
    return "---\n" + "".join(emit_key(key, value) for key, value in fields.items()) + "---\n"


def emit_key(key: str, value: Any) -> str:
    """One key in the seed's form: quoted titles, inline tags, block lists of strings and of relations."""
    name = _name_of(key)
    if isinstance(value, list | tuple):
        if value and all(item and isinstance(item, Mapping) for item in value):
            return f"{name}:\n" + "".join(_block_item(item) for item in value)
        if key in ("tags", "aliases") or not value or not all(isinstance(item, str) for item in value):
            return f"{name}: {_inline(value)}\n"
        return f"{name}:\n" + "".join(f"  - {quote(item)}\n" for item in value)
    return f"{name}: {_scalar(value, quoted=key in _QUOTED)}\n"


@lru_cache(maxsize=64)
def _name_of(key: str) -> str:
    return _scalar(key)


def _block_item(item: Mapping[str, Any]) -> str:
    lines = [f"{_name_of(str(key))}: {_scalar(value, quoted=key in _QUOTED)}" for key, value in item.items()]
    return "  - " + "\n    ".join(lines) + "\n"


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_name_of(str(key))}: {_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(_inline(item) for item in value) + "]"
    return _scalar(value)


def _scalar(value: Any, *, quoted: bool = False) -> str:
    if isinstance(value, str):
        if quoted or not re.fullmatch(_BARE, value) or value.casefold() in _NOT_TEXT:
            return quote(value)
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping | list | tuple):
        return _inline(value)
    return quote(str(value))


def quote(text: str) -> str:
    """A double-quoted string that YAML reads back character for character."""
    if text.isascii() and "\x7f" not in text:
        return json.dumps(text)
    return re.sub(_UNPRINTABLE, lambda char: f"\\u{ord(char[0]):04x}", json.dumps(text, ensure_ascii=False))
