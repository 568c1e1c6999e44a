"""`.otolithignore`: paths that hooks neither show nor keep, written as in .gitignore.

The files of a folder and of the folders above it, up to the repository's top, count together; the nearest one
wins.
"""

from __future__ import annotations

import os.path
import re
from pathlib import Path
from typing import Any

NAME = ".otolithignore"
MAX_BYTES = 100_000
_PATH = re.compile(r"[^\s\"'`<>()\[\]{}|,;:*?!]{1,400}")


class Ignore:
    """The rules in force in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # nearest first
        self._specs = [(place, spec) for place in _up_to_top(folder) if (spec := _read(place))]

    def __bool__(self) -> bool:
        return bool(self._specs)

    def covers(self, path: str | Path) -> bool:
        """Whether a path, absolute or from the folder, is ignored. Nothing is looked up:
        `..` is undone by words alone.
        """
        whole = Path(os.path.normpath(self.folder / Path(path).expanduser()))
        for base, spec in self._specs:
            if whole != base and whole.is_relative_to(base):
                verdict = spec.check_file(whole.relative_to(base).as_posix()).include
                if verdict is not None:
                    return bool(verdict)
        return False

    def covers_all(self) -> bool:
        """Whether the folder as a whole is ignored."""
        return bool(self) and (self.covers(self.folder) or self.covers(self.folder / "any thing at all"))

    def named_in(self, text: str) -> bool:
        """Whether a text names an ignored path."""
        words = (word.rstrip(".") for word in _PATH.findall(text)) if self else ()
        return any(self.covers(word) for word in words if "/" in word or "." in word)


def _up_to_top(folder: Path) -> list[Path]:
    places = []
    for place in (folder, *folder.parents):
        places.append(place)
        if (place / ".git").exists():
            return places
    return places[:1]


def _read(folder: Path) -> Any:
    try:
        with (folder / NAME).open("rb") as file:
            lines = file.read(MAX_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return None
    from pathspec import GitIgnoreSpec  # only where there is such a file: 20 ms

    return GitIgnoreSpec.from_lines(lines)
