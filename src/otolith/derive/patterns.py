"""Patterns in large tables: compiled when first needed, and tried only where they can match.

A table of wordings has a hundred patterns, and most sentences match none. For nearly every pattern there are
a few words of which a text must hold one; looking for those is a hundredth of the work of trying it. They
stand in `needed.py`, by the pattern's hash, so that who reads one sentence compiles next to nothing.
`python -m bench.needed` reads them off the patterns and writes that file. A pattern that is not there is
tried on everything: the file may be old, no answer changes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any

from otolith.derive.needed import NEEDED


class TablePattern:
    """A regular expression of a table; it searches and matches as a compiled one does."""

    __slots__ = ("_compiled", "_words", "flags", "source")

    def __init__(self, source: str, flags: int = 0) -> None:
        self.source, self.flags = source, flags
        self._compiled: re.Pattern[str] | None = None
        self._words: tuple[str, ...] | None = None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.compiled.finditer(text) if self.possible(text) else iter(())

    def search(self, text: str) -> re.Match[str] | None:
        return self.compiled.search(text) if self.possible(text) else None

    def match(self, text: str) -> re.Match[str] | None:
        return self.compiled.match(text) if self.possible(text) else None

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self.compiled.fullmatch(text) if self.possible(text) else None

    def sub(self, new: str | Callable[[re.Match[str]], str], text: str, count: int = 0) -> str:
        return self.compiled.sub(new, text, count) if self.possible(text) else text

    def split(self, text: str, maxsplit: int = 0) -> list[str | Any]:
        return self.compiled.split(text, maxsplit) if self.possible(text) else [text]

    @property
    def compiled(self) -> re.Pattern[str]:
        if self._compiled is None:
            self._compiled = re.compile(self.source, self.flags)
        return self._compiled

    def possible(self, text: str) -> bool:
        """Whether a text holds one of the words without which nothing matches."""
        if self._words is None:
            self._words = NEEDED.get(self.key, ())
        if not self._words:
            return True
        folded = text.casefold()
        return any(word in folded for word in self._words)

    @property
    def key(self) -> str:
        """What `needed.py` knows the pattern by."""
        return hashlib.sha256(f"{self.flags}\0{self.source}".encode()).hexdigest()[:12]
