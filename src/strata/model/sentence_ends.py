"""Where sentences end, in any script.

Promises offsets into the text it was given, in one pass whose time grows with the length and not with its square, and
that white space stays with the sentence before it, so that slices at these offsets join to the same text and the
indentation of a new line stays with that line. Knows nothing of tokens, chunks or records.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from strata.model.words import word_set

# A western terminator needs white space behind it; the terminators of other scripts end a sentence by themselves. The
# look-behind lets a run of dots be tried once, from its first dot: without it a long run would cost its square.
_END = re.compile(
    r"""(?: (?<![.!?…]) (?P<western>[.!?…]++) (?P<closed>["'”’»)\]}*_`]*+) (?=\s|\Z)
          | [。！？｡।॥؟۔։።፧။។᠃༎⁇⁈⁉‼]++ [」』”’»）)】》〉"']*+ )
        [^\S\r\n]*+ (?:\r\n|\n|\r)?+
      | (?:\r\n|\n|\r) (?=[ \t]*+ (?:[-*+•|]|\d{1,3}[.)])[ \t])""",
    re.VERBOSE,
)
_LAST_WORD = re.compile(r"[^\W_]+(?:\.[^\W_]+)*\Z")
_NEXT = re.compile(r"""[\s"'“‘«(\[*_`]*""")

ABBREVIATIONS = word_set(
    """mr mrs ms dr prof st vs e.g i.e cf eq approx incl excl dept gen gov hon capt col lt sgt rev mt ca al resp viz esp
    est ed eds cmp tel ext z.b d.h bzw ggf bspw evtl vgl inkl u.a p.ex sra dott sig"""
)
"""Words whose dot ends no sentence."""

_BEFORE_A_NUMBER = frozenset(("no", "nr", "nos", "vol", "p", "pp", "fig", "figs", "art", "sec", "ch", "kap", "núm"))


def sentence_starts(text: str) -> Iterator[int]:
    """The offsets at which a second, third, … sentence begins."""
    for match in _END.finditer(text):
        if match.end() < len(text) and not (match["western"] and _goes_on(text, match)):
            yield match.end()


def sentences(text: str) -> list[str]:
    """The sentences without the white space around them."""
    cuts = [0, *sentence_starts(text), len(text)]
    found = (text[start:stop].strip() for start, stop in pairwise(cuts))
    return [sentence for sentence in found if sentence]


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """Whether the sentence continues behind this western terminator."""
    at = match.end()
    start = _NEXT.match(text, at, at + 16)
    following = text[start.end() : start.end() + 1] if start else ""
    signs, closed = match["western"], match["closed"]
    if signs != ".":
        # `"Really?" he asked` and `well... perhaps` go on; `Really? no way` does not.
        return following.islower() and (bool(closed) or signs[-1] in ".…")
    return not closed and _is_abbreviation(text, match.start("western"), following)


def _is_abbreviation(text: str, dot: int, following: str) -> bool:
    found = _LAST_WORD.search(text, max(0, dot - 16), dot)
    if found is None:
        return False
    word = found[0]
    folded = word.casefold()
    if folded in ABBREVIATIONS:
        return True
    if folded in _BEFORE_A_NUMBER:
        return following.isdigit()
    if "." in word:
        return folded not in ("a.m", "p.m") or following.islower()
    if word.isdigit():
        return not text[text.rfind("\n", 0, found.start()) + 1 : found.start()].strip(" \t>-*")  # "1. " opens an item
    return len(word) == 1 and word.isupper() and word.isascii() and word != "I"  # an initial: J. Smith
