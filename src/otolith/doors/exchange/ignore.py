"""`.otolithignore`: paths of which hooks neither tell nor keep anything, written as in .gitignore.

The files of a folder and of the folders above it, up to the repository's top, count together; later lines win, `!` takes
a pattern back. A pattern without a slash fits a name at any depth, one with a slash the path from its own folder.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

NAME = ".otolithignore"
MAX_BYTES = 100_000
_PATH = re.compile(r"[^\s\"'`<>()\[\]{}|,;:*?!]{1,400}")


class _Rule(NamedTuple):
    base: Path
    pattern: re.Pattern[str]
    ignored: bool


class Ignore:
    """The rules in force in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rules: list[_Rule] = []
        for place in reversed(_up_to_top(folder)):
            self.rules += _read(place)

    def __bool__(self) -> bool:
        return bool(self.rules)

    def covers(self, path: str | Path) -> bool:
        """Whether a path, absolute or from the folder, is ignored."""
        whole = Path(path).expanduser()
        whole = whole if whole.is_absolute() else self.folder / whole
        verdict = False
        for rule in self.rules:
            try:
                inner = Path(_plain(whole)).relative_to(_plain(rule.base)).as_posix()
            except ValueError:
                continue
            if rule.pattern.fullmatch(inner):
                verdict = rule.ignored
        return verdict

    def covers_all(self) -> bool:
        """Whether the folder as a whole is ignored."""
        return bool(self.rules) and (self.covers(self.folder) or self.covers(self.folder / "any thing at all"))

    def named_in(self, text: str) -> bool:
        """Whether a text names an ignored path."""
        if not self.rules:
            return False
        words = (found.rstrip(".") for found in _PATH.findall(text))
        return any(self.covers(word) for word in words if "/" in word or "." in word)


def _plain(path: Path) -> str:
    """The path without `..`, by words alone: nothing is looked up."""
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and len(parts) > 1:
            parts.pop()
        elif part != "..":
            parts.append(part)
    return str(Path(*parts)) if parts else "/"


def _up_to_top(folder: Path) -> list[Path]:
    places = []
    for place in (folder, *folder.parents):
        places.append(place)
        if (place / ".git").exists():
            return places
    return places[:1]


def _read(folder: Path) -> list[_Rule]:
    try:
        with (folder / NAME).open("rb") as file:
            text = file.read(MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return []
    lines = (line.strip() for line in text.splitlines())
    return [_rule(folder, line) for line in lines if line and not line.startswith("#")]


def _rule(folder: Path, line: str) -> _Rule:
    ignored = not line.startswith("!")
    body = line.lstrip("!").rstrip("/") or "*"
    anchored = "/" in body
    pattern = "".join(_translate(piece) for piece in re.split(r"(\*\*/?|\*|\?)", body.lstrip("/")))
    return _Rule(folder, re.compile(("" if anchored else "(?:.*/)?") + pattern + "(?:/.*)?"), ignored)


def _translate(piece: str) -> str:
    return {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]", ".": r"\."}.get(piece, re.escape(piece))
