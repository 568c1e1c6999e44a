"""One count of tokens for everything, offline.

The tokenizer is the one that lies beside the static word vectors, read from the package's files (importing
that package would cost more than all of Otolith). Its name is recorded wherever a count is stored. Loaded
once, on first use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from otolith.errors import Provider

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENIZER = "wordllama/l2_supercat"
_FILE = "tokenizers/l2_supercat_tokenizer_config.json"
LONGEST = 16  # signs in the longest token there is, so a longer text has more than one


def package_file(package: str, name: str) -> Path:
    """A file of an installed package, found without importing the package."""
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder, name)
        if path.is_file():
            return path
    raise Provider(f"the package {package} with its file {name} is not installed", f"pip install {package}")


@cache
def load_tokenizer() -> Tokenizer:
    """The tokenizer, with neither padding nor truncation."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(package_file("wordllama", _FILE)))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def count_tokens(text: str) -> int:
    """How many tokens a text has."""
    return count_many((text,))[0]


def count_many(texts: Sequence[str]) -> list[int]:
    """The counts of many texts, several times faster than one by one.

    A text is counted paragraph by paragraph: long single strings are slow to merge, and a budget that adds up
    parts must
    not differ from the count of their sum.
    """
    pieces = [_writable(text).split("\n\n") for text in texts]
    flat = [piece for part in pieces for piece in part if piece]
    counts = iter([len(found.ids) for found in load_tokenizer().encode_batch_fast(flat,
                                                                                  add_special_tokens=False)])
    return [sum(next(counts) for piece in part if piece) for part in pieces]


def exceeds(text: str, room: int) -> bool:
    """Has a text more tokens than there is room for, by its length alone? If not, it may still have; then it
    is short enough
    to be counted. Line ends are left out, because those between paragraphs are no tokens.
    """
    return len(text) - text.count("\n") > room * LONGEST


def cut(text: str, room: int, cost: Callable[[str], int] = count_tokens) -> str:
    """As much of a text as there is room for, at its end a mark that there is more;
    empty if there is room for nothing.
    """
    low, high = 0, min(len(text), room * LONGEST)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if cost(text[:middle].rstrip() + "…") <= room else (low, middle - 1)
    return text[:low].rstrip() + "…" if low else ""


def estimate_many(texts: Sequence[str]) -> list[int]:
    """Numbers of tokens that are rather too high, without the tokenizer: loading it takes longer than a hook
    may run.

    Three letters, a digit or a sign are taken for a token, a sign of another script for two, one that is
    rarely met for four.
    """
    return [sum(_weight(piece) for piece in re.findall(r"[a-z]+|[A-Z][a-z]*|\n|[^\sA-Za-z]", text)) + 1
            for text in texts]


def _weight(piece: str) -> int:
    if piece.isascii():
        return (len(piece) + 2) // 3
    return 4 if piece > "\uffff" or "\u2190" <= piece <= "\u2bff" or "\ufe00" <= piece <= "\ufe0f" else 2


def _writable(text: str) -> str:
    """Lone surrogates, which the tokenizer refuses, as question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
