"""Small truths about text: first sentences, passages, and how words of every script reach the index.

Passages are cut by size in bytes (about four to a token in European languages), so that indexing needs no tokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PASSAGE_BYTES = 800  # about 200 tokens
TITLE_SIGNS = 80
_SENTENCE = r"(?<=[.!?])\s+|(?<=[。！？।])|\n\s*\n"
_BREAKS = tuple(rf"(?s).*(?:{end})" for end in (r"\n\s*\n", r"\n", r"(?<=[.!?])\s+|(?<=[。！？।])", r"\s+"))
# Scripts that set no spaces between words: Thai, Lao, Khmer, Myanmar, Kana, Han, Hangul and their extensions.
_UNSPACED = ("\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
             "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff")
_RUN = f"[{_UNSPACED}]+"


def first_sentence(text: str, limit: int = TITLE_SIGNS) -> str:
    """The opening sentence on one line, cut at a word if it is long."""
    opening = " ".join(re.split(_SENTENCE, text.strip()[: limit * 8], maxsplit=1)[0].split())
    if len(opening) <= limit:
        return opening
    cut = opening[: limit - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[limit // 2 :] else cut).rstrip() + "…"


def cut_passages(text: str, limit: int = PASSAGE_BYTES) -> Iterator[tuple[int, int]]:
    """(start, stop) of pieces that together are the text, each at most `limit` bytes, cut at the best break."""
    start, length = 0, len(text)
    if length * 4 <= limit or len(text.encode(errors="surrogatepass")) <= limit:
        if length:
            yield 0, length
        return
    while start < length:
        stop = min(length, start + limit)
        while len(text[start:stop].encode(errors="surrogatepass")) > limit:
            stop = start + max(1, (stop - start) * limit // (len(text[start:stop].encode(errors="surrogatepass")) + 1))
        if stop < length:
            stop = start + _best_break(text[start:stop])
        yield start, stop
        start = stop


def _best_break(piece: str) -> int:
    """Where to cut a full piece: after its last paragraph, line, sentence or word that leaves at least half of it."""
    half = len(piece) // 2
    for pattern in _BREAKS if piece.find("\n", half) >= 0 else _BREAKS[2:]:
        found = re.compile(pattern).match(piece, half)
        if found:
            return found.end()
    return len(piece)


def searchable(text: str) -> str:
    """The text as full text search reads it: runs without spaces become overlapping pairs, 東京都 → 東京 京都."""
    return text if text.isascii() else re.sub(_RUN, _pairs, text)


def _pairs(run: re.Match[str]) -> str:
    signs = run[0]
    if len(signs) == 1:
        return f" {signs} "
    return " " + " ".join(signs[at : at + 2] for at in range(len(signs) - 1)) + " "


def fold(text: str) -> str:
    """For comparing names: casefolded, white space collapsed."""
    return " ".join(text.casefold().split())
