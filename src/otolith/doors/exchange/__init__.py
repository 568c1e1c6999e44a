"""Foreign formats: one module each, read into neutral values, told apart by what is in them.

`detect` names the format of a file, folder or zip; `read` yields its items and findings. Nothing here writes,
and nothing knows the home: whoever imports turns items into verbs.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from otolith.doors.exchange.bundle import Bundle, open_bundle
from otolith.doors.exchange.items import Finding, Found
from otolith.errors import Invalid, Usage
from otolith.model.text import visible_line

__all__ = ["FORMATS", "detect", "read"]


class Format(NamedTuple):
    """A format: what a person calls it, and the module that reads it, loaded when it is asked."""

    title: str
    module: str
    home: str = ""  # which of the homes, where one module reads several

    def fits(self, bundle: Bundle) -> bool:
        kinds: list[str] = self._loaded().kinds(bundle) if self.home else []
        return kinds == [self.home] if self.home else bool(self._loaded().fits(bundle))

    def read(self, bundle: Bundle) -> Iterator[Found]:
        found: Iterator[Found] = self._loaded().read(bundle)
        return found

    def _loaded(self) -> Any:
        return import_module(f"otolith.doors.exchange.{self.module}")


# The surest signs come first: a vault fits every folder with Markdown in it, so it is asked last.
FORMATS: dict[str, Format] = {
    "rum": Format("RUM database", "rum"),
    "chatgpt": Format("ChatGPT export", "chatgpt"),
    "claude": Format("Claude.ai export", "claude_ai"),
    "claude-memory": Format("Claude Code memory folder", "claude_memory"),
    "rlm-mem": Format("RLM-MEM home", "homes", "rlm-mem"),
    "local-memory": Format("local-memory home", "homes", "local-memory"),
    "cognitive-memory": Format("cognitive-memory home", "homes", "cognitive-memory"),
    "otolith": Format("Otolith home", "homes"),
    "otolith-lines": Format("Otolith export of JSON lines", "otolith_lines"),
    "claude-code": Format("Claude Code transcript", "claude_code"),
    "codex": Format("Codex transcript", "codex"),
    "mcp-memory": Format("MCP memory server file", "mcp_memory"),
    "mem0": Format("mem0 export", "mem0"),
    "candidates": Format("[MEMORY_CANDIDATES] block", "candidates"),
    "obsidian": Format("Obsidian vault", "obsidian"),
}
_PACKED = {b"\x28\xb5\x2f\xfd": "zstd", b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"7z\xbc\xaf": "7z",
           b"Rar!": "rar"}


def detect(path: Path) -> str:
    """The name of the format, or Invalid with the names there are."""
    return _detect(open_bundle(path))


def read(path: Path, name: str | None = None) -> Iterator[Found]:
    """The items of a source. What is of another format is refused here, before anything is yielded."""
    bundle = open_bundle(path)
    if name is not None and name not in FORMATS:
        raise Usage(f"no format {name!r}", hint=f"known are {', '.join(FORMATS)}")
    format = FORMATS[name or _detect(bundle)]
    if name and not format.fits(bundle):
        other = next((other.title for other in FORMATS.values() if other.fits(bundle)), "")
        raise Invalid(f"{path} is not a {format.title}" + (f" but a {other}" if other else ""))
    found = format.read(bundle)
    first = next(found, None)
    odd = (Finding(where=visible_line(name),
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
        if format.fits(bundle):
            return name
    raise Invalid(f"{bundle.path} is in no known format", hint=f"known are {', '.join(FORMATS)}")
