"""Markdown files with front matter and wikilinks, as Obsidian and Claude Code's memory folder hold them.

Front matter that cannot be read leaves the whole file as text: nothing is lost because of a stray colon.
Links inside code are no links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from otolith.doors.exchange.items import words

_FENCED = re.compile(r"^(?P<sign>```+|~~~+)[^\n]*\n", re.MULTILINE)
_INLINE = re.compile(r"`[^`\n]*`")
_WIKILINK = re.compile(r"\[\[([^\[\]\n|#^]{1,200})(?:[#^][^\[\]\n|]{0,200})?(?:\|[^\[\]\n]{0,200})?\]\]")
_TAG = re.compile(r"(?<![\w&/#])#([^\W\d_][\w/-]{0,60})")
_HEADING = re.compile(r"^#\s+(.{1,200})$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Page:
    """A Markdown file taken apart; `broken` says why its front matter could not be read."""

    front: Mapping[str, Any]
    body: str
    broken: str = ""


def parse_page(text: str) -> Page:
    """The front matter and the body of a file."""
    text = text.replace("\r\n", "\n")
    if not text.startswith("---\n"):
        return Page(front={}, body=text)
    end = re.search(r"^(?:---|\.\.\.)[ \t]*$\n?", text[4:], re.MULTILINE)
    if end is None:
        return Page(front={}, body=text, broken="the front matter has no end")
    front, body = text[4 : 4 + end.start()], text[4 + end.end() :]
    if not front.strip():
        return Page(front={}, body=body)
    from otolith.files.front import load_yaml

    yaml_rs = load_yaml()

    try:
        value = yaml_rs.loads(front)
    except (yaml_rs.YAMLDecodeError, ValueError) as error:
        return Page(front={}, body=text,
                    broken=f"the front matter cannot be read: {str(error).splitlines()[0]}")
    if not isinstance(value, dict):
        return Page(front={}, body=text, broken="the front matter is not a list of names and values")
    return Page(front=value, body=body)


def find_links(body: str) -> Iterator[tuple[str, str]]:
    """(target, the line it stands in) of each wikilink outside code, each target once."""
    seen: set[str] = set()
    for line in blank_code(body).splitlines():
        for found in _WIKILINK.finditer(line):
            target = found[1].strip()
            if target and target not in seen:
                seen.add(target)
                yield target, " ".join(line.split())[:200]


def find_tags(body: str) -> list[str]:
    """The `#tags` in running text."""
    return [found[1].rstrip("/-") for found in _TAG.finditer(blank_code(body))]


def find_heading(body: str) -> str:
    """The first heading of the first level, or nothing."""
    found = _HEADING.search(blank_code(body))
    return words(found[1]).strip() if found else ""


def blank_code(body: str) -> str:
    """The body without fenced blocks and inline code."""
    kept: list[str] = []
    position = 0
    while opening := _FENCED.search(body, position):
        kept.append(body[position : opening.start()])
        end = body.find("\n" + opening["sign"], opening.end() - 1)
        if end < 0:
            return _INLINE.sub("", "".join(kept))
        position = end + 1 + len(opening["sign"])
        line_end = body.find("\n", position)
        position = len(body) if line_end < 0 else line_end
    kept.append(body[position:])
    return _INLINE.sub("", "".join(kept))
