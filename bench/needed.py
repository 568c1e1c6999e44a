"""Words without which a pattern of the tables in `derive/` cannot match, read off the pattern's own parts.

`python -m bench.needed` writes them to src/otolith/derive/needed.py; tests/test_patterns.py compares.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from textwrap import fill
from typing import Any

from otolith import derive
from otolith.derive.patterns import TablePattern

SURE = 2  # letters of the shortest word that is worth looking for
MOST = 40  # words; with more of them it is no shorter to look than to try
PLACE = Path(derive.__path__[0]) / "needed.py"
HEAD = '''"""Words without which a pattern cannot match, by the pattern's key; `python -m bench.needed` writes this."""

NEEDED: dict[str, tuple[str, ...]] = {
'''
GLUE = "\0"  # a space inside a word, where no line may break


def words_of(pattern: TablePattern) -> list[str]:
    """Words of which every text that the pattern matches holds one; none if there are no such words."""
    from re import _parser as parser  # type: ignore[attr-defined]  # 3.11 and later

    words = _least(parser.parse(pattern.source, pattern.flags))
    return sorted(words) if words and len(words) <= MOST else []


def _least(parts: Any) -> set[str]:
    """Of the words that a sequence of parts asks for, the set that fewest texts hold one of."""
    sets, run = [], ""
    for name, value in [*((str(part[0]), part[1]) for part in parts), ("END", None)]:
        if name == "LITERAL":
            run += chr(value)
            continue
        if len(run.strip()) >= SURE:
            sets.append({run.casefold()})
        run = ""
        if found := _asked(name, value):
            sets.append(found)
    return min(sets, key=_commonness, default=set())


def _asked(name: str, value: Any) -> set[str]:
    """The words that one part asks for."""
    if name == "BRANCH":
        every = [_least(branch) for branch in value[1]]
        return set().union(*every) if all(every) else set()
    if name == "SUBPATTERN":
        return _least(value[3])
    if name == "ATOMIC_GROUP":
        return _least(value)
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return _least(value[2]) if value[0] else set()
    if name == "ASSERT":  # what stands before or behind stands in the text, too
        return _least(value[1])
    return set()


def _commonness(words: set[str]) -> float:
    """How often a text would hold one, about: a letter more makes a word ten times rarer."""
    return sum(0.1 ** len(word.strip()) for word in words)


def tables() -> Iterator[TablePattern]:
    """Every pattern of the tables in `derive/`."""
    for module in iter_modules(derive.__path__):
        yield from _within(vars(import_module(f"{derive.__name__}.{module.name}")).values())


def _within(values: Iterable[Any]) -> Iterator[TablePattern]:
    for value in values:
        if isinstance(value, TablePattern):
            yield value
        elif isinstance(value, dict):
            yield from _within(value.values())
        elif isinstance(value, (tuple, list)):
            yield from _within(value)


def text() -> str:
    """The text of derive/needed.py as it should be."""
    words = {pattern.key: found for pattern in tables() if (found := words_of(pattern))}
    return HEAD + "".join(_line(key, words[key]) for key in sorted(words)) + "}\n"


def _line(key: str, words: list[str]) -> str:
    row = ", ".join(json.dumps(word, ensure_ascii=False).replace(" ", GLUE) for word in words)
    return fill(f'"{key}": ({row},),', 110, initial_indent="    ", subsequent_indent=" " * 21, break_long_words=False,
                break_on_hyphens=False).replace(GLUE, " ") + "\n"


if __name__ == "__main__":
    PLACE.write_text(text(), encoding="utf-8")
