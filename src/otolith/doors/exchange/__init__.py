"""Foreign formats: read into neutral values, told apart by what is in them.

`detect` names the format of a file, folder or zip; `read` yields its items and findings. Nothing here writes,
and nothing knows the home: whoever imports turns items into verbs.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from otolith.doors.exchange.bundle import Bundle, FormatReader
from otolith.doors.exchange.items import Found, SourceFinding
from otolith.doors.exchange.zipped import open_bundle
from otolith.errors import Invalid, WrongUsage
from otolith.model.text import visible_line

__all__ = ["FORMATS", "detect", "read"]


class Format(NamedTuple):
    """A format: what a person calls it, and the module that has its reader, loaded when it is asked."""

    name: str
    title: str
    module: str

    @property
    def reader(self) -> FormatReader:
        reader: FormatReader = import_module(f"otolith.doors.exchange.{self.module}").READERS[self.name]
        return reader


# The surest signs come first: a vault fits every folder with Markdown in it, so it is asked last.
FORMATS = {name: Format(name, title, module) for name, title, module in (
    ("rum", "RUM database", "rum"),
    ("chatgpt", "ChatGPT export", "chats"),
    ("claude", "Claude.ai export", "chats"),
    ("claude-memory", "Claude Code memory folder", "markdown"),
    ("rlm-mem", "RLM-MEM home", "homes"),
    ("local-memory", "local-memory home", "homes"),
    ("cognitive-memory", "cognitive-memory home", "homes"),
    ("otolith", "Otolith home", "homes"),
    ("otolith-lines", "Otolith export of JSON lines", "homes"),
    ("claude-code", "Claude Code transcript", "coding_sessions"),
    ("codex", "Codex transcript", "coding_sessions"),
    ("gemini-cli", "Gemini CLI session", "other_sessions"),
    ("opencode", "opencode session", "opencode"),
    ("aider", "aider chat history", "other_sessions"),
    ("specstory", "SpecStory history", "other_sessions"),
    ("mcp-memory", "MCP memory server file", "memories"),
    ("mem0", "mem0 export", "memories"),
    ("candidates", "[MEMORY_CANDIDATES] block", "memories"),
    ("obsidian", "Obsidian vault", "markdown"),
)}
_PACKED = {b"\x28\xb5\x2f\xfd": "zstd", b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"7z\xbc\xaf": "7z",
           b"Rar!": "rar"}


def detect(path: Path) -> str:
    """The name of the format, or Invalid with the names there are."""
    return _detect(open_bundle(path))


def read(path: Path, name: str | None = None) -> Iterator[Found]:
    """The items of a source. What is of another format is refused here, before anything is yielded."""
    bundle = open_bundle(path)
    if name is not None and name not in FORMATS:
        raise WrongUsage(f"unknown format {name!r}", hint=f"use one of {', '.join(FORMATS)}")
    format = FORMATS[name or _detect(bundle)]
    if name and not format.reader.fits(bundle):
        other = next((other.title for other in FORMATS.values() if other.reader.fits(bundle)), "")
        raise Invalid(f"{path} is not a {format.title}" + (f" but a {other}" if other else ""))
    found = format.reader.read(bundle)
    first = next(found, None)
    odd = (SourceFinding(where=visible_line(name),
                   message="the name holds control characters; the file is left out")
           for name in bundle.refused)
    return chain(odd, () if first is None else (first,), found)


def _detect(bundle: Bundle) -> str:
    if len(bundle.names) == 1:
        start = bundle.head(bundle.names[0], 8)
        for magic, packer in _PACKED.items():
            if start.startswith(magic):
                raise Invalid(f"{bundle.path} is compressed with {packer}", hint="unpack it first")
    for name, format in FORMATS.items():
        if format.reader.fits(bundle):
            return name
    raise Invalid(f"{bundle.path} is not in a known format", hint=f"use one of {', '.join(FORMATS)}")
