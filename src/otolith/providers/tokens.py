"""One count of tokens for everything, offline, and the word pieces of the static word vectors.

The vocabulary is the one that lies beside the static word vectors, read from that package's file (importing
the package would cost more than all of Otolith). Its name is recorded wherever a count is stored. Of the file
only the vocabulary is read: which pair of pieces joins first follows from it, so that loading takes a fifth
of the time that the library for such files needs. A test holds both against each other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from heapq import heapify, heappop, heappush
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from otolith.errors import Provider

TOKENIZER = "wordllama/l2_supercat"
_FILE = "tokenizers/l2_supercat_tokenizer_config.json"
LONGEST = 16  # signs in the longest token there is, so a longer text has more than one
_SPECIAL = re.compile("(<unk>|<s>|</s>)")  # are what they are, wherever they stand
_SPACE = "▁"
# No piece goes on beyond the end of one of these; none has both a letter and one of the marks that end a
# word, so the commonest words are remembered without what follows them.
_WORD = re.compile(f"{_SPACE}*[A-Za-z]+(?=[,.!?;:'\"()-])|{_SPACE}*[^{_SPACE}\\n0-9]+|{_SPACE}+|[\\n0-9]")
KEPT, KEPT_SIGNS = 50_000, 48  # words whose pieces are remembered, and how long they may be


def package_file(package: str, name: str) -> Path:
    """A file of an installed package, found without importing the package."""
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder, name)
        if path.is_file():
            return path
    raise Provider(f"the package {package} with its file {name} is not installed", f"pip install {package}")


class BytePairs:
    """Text to the numbers of its pieces: signs join to pairs, pairs to longer pieces, the commonest first.

    Every two pieces join whose sum is a piece, those with the smallest number first; runs of spaces come
    last. A sign without a piece of its own is written as its bytes.
    """

    def __init__(self, vocabulary: dict[str, int]) -> None:
        self.vocabulary = vocabulary
        self._words: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        if "<" in text:
            parts = _SPECIAL.split(text)
            return list(chain.from_iterable([self.vocabulary[part]] if at % 2 else self._plain(part)
                                            for at, part in enumerate(parts)))
        return self._plain(text)

    def _plain(self, text: str) -> list[int]:
        if not text:
            return []
        words, ids = self._words, list[int]()
        for word in _WORD.findall(_SPACE + text.replace(" ", _SPACE)):
            pieces = words.get(word)
            if pieces is None:
                pieces = self._join(word)
                if len(word) <= KEPT_SIGNS:
                    if len(words) >= KEPT:
                        words.clear()
                    words[word] = pieces
            ids += pieces
        return ids

    def _join(self, word: str) -> list[int]:
        """The pieces of a word: the best pair joins, its neighbours make new pairs, until none is left."""
        pieces: list[str | None] = list(word)
        after, before = list(range(1, len(word) + 1)), list(range(-1, len(word) - 1))
        pairs = [pair for at in range(len(word) - 1)
                 if (pair := self._pair(at, word[at], at + 1, word[at + 1]))]
        heapify(pairs)
        while pairs:
            *_, at, left, place, right = heappop(pairs)
            if pieces[at] != left or after[at] != place or pieces[place] != right:
                continue  # it was joined otherwise meanwhile
            pieces[at], pieces[place] = left + right, None
            after[at] = beyond = after[place]
            if beyond < len(word):
                before[beyond] = at
                if pair := self._pair(at, left + right, beyond, pieces[beyond] or ""):
                    heappush(pairs, pair)
            if (behind := before[at]) >= 0 and (pair := self._pair(behind, pieces[behind] or "", at,
                                                                   left + right)):
                heappush(pairs, pair)
        return [number for piece in pieces if piece for number in self._numbers(piece)]

    def _pair(self, at: int, left: str, place: int, right: str
              ) -> tuple[bool, int, int, int, int, str, int, str] | None:
        """Two neighbours that may join, as the order has it in which pairs do."""
        numbers = self.vocabulary
        joined = numbers.get(left + right)
        if joined is None or left not in numbers or right not in numbers:
            return None
        return left[0] == right[0] == _SPACE, joined, numbers[left], numbers[right], at, left, place, right

    def _numbers(self, piece: str) -> list[int]:
        number = self.vocabulary.get(piece)
        return [self.vocabulary[f"<0x{byte:02X}>"] for byte in piece.encode()] if number is None else [number]


@cache
def load_tokenizer() -> BytePairs:
    """The word pieces of the static word vectors."""
    path = package_file("wordllama", _FILE)
    try:
        data = path.read_bytes()
        start = data.index(b"{", data.index(b'"vocab"'))
        vocabulary = json.loads(data[start : data.rindex(b"}", start, data.index(b'"merges"', start)) + 1])
    except (OSError, ValueError) as error:
        raise Provider(f"the word pieces in {path} cannot be read: {error}", "reinstall wordllama") from None
    return BytePairs(vocabulary)


def count_tokens(text: str) -> int:
    """How many tokens a text has."""
    return count_many((text,))[0]


def count_many(texts: Sequence[str]) -> list[int]:
    """The counts of many texts.

    A text is counted paragraph by paragraph: long single strings are slow to merge, and a budget that adds up
    parts must
    not differ from the count of their sum.
    """
    return [_count(text) for text in texts]


@lru_cache(maxsize=4096)  # what was delivered is delivered again
def _count(text: str) -> int:
    encode = load_tokenizer().encode
    return sum(len(encode(part)) for part in writable(text).split("\n\n") if part)


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


def writable(text: str) -> str:
    """Lone surrogates, which have no bytes, as question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
