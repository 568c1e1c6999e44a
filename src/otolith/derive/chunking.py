"""The ChunkingEngine: cuts a text into pieces of 100 to 800 tokens.

Cuts at blank lines, then at sentences, then by force; a fenced block is one block. Promises that the pieces
join to the very text, that no piece has more than the maximum, that none has less than the minimum unless the
whole text has, and that the time grows with the length of the text. Where these cannot all hold with a fence
kept whole (fifty words between two fences of 790 tokens), the sizes win and the fence is cut at a line. Knows
nothing of records, tags or files; how tokens are counted comes in.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from otolith.errors import Invalid
from otolith.model.text import sentence_starts

Count = Callable[[Sequence[str]], list[int]]

_BLANK = re.compile(r"(?>\r\n|\n|\r)(?:[ \t]*+(?>\r\n|\n|\r))++")  # \r\n is one end of a line, never two
_LINE = re.compile(r"\r\n|\n|\r")
_SPACE = re.compile(r"\s++")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})([^\r\n]*)", re.MULTILINE)
_HEADING = re.compile(r"\s*#{1,6}[ \t][^\r\n]*\s*\Z")


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A slice of the source: `content == text[start:stop]`."""

    content: str
    start: int
    stop: int
    tokens: int


@dataclass(frozen=True, slots=True)
class _Span:
    """A stretch of the text that is so far not cut.

    `level` says what it begins at: 0 a blank line, 1 a sentence (in a fence: a blank line), 2 a line, 3 a
    word, 4 any character; `exact` whether `tokens` was counted on just this stretch or is a sum.
    """

    start: int
    stop: int
    tokens: int = 0
    level: int = 0
    fenced: bool = False
    exact: bool = True


class ChunkingEngine:
    """`chunk(text)` gives the pieces, `count_tokens(text)` the number that decides about them."""

    def __init__(self, min_tokens: int = 100, max_tokens: int = 800, count: Count | None = None) -> None:
        if not 1 <= min_tokens * 2 <= max_tokens:
            raise Invalid(f"min_tokens {min_tokens} must be at least 1 and at most half of max_tokens "
                          f"{max_tokens}")
        self.min_tokens = min_tokens
        self.max_tokens = max_tokens
        self._count = count or _count_by_default
        # Forced cuts lie this many characters apart, and shorter sentences are counted together: a finer
        # grain costs time and changes no cut that matters, as a piece is many times longer.
        self._grain = max(1, min(200, max_tokens // 4))

    def count_tokens(self, text: str) -> int:
        return self._count([text])[0]

    def chunk(self, text: str) -> list[Piece]:
        """Cut `text`; an empty text has no pieces."""
        if not text:
            return []
        spans: list[_Span] = []
        for group in self._group(self._measure_blocks(text)):
            spans += self._divide(text, group)
        spans = self._settle(text, spans)
        return [Piece(content=text[s.start : s.stop], start=s.start, stop=s.stop, tokens=s.tokens)
                for s in spans]

    # -- blocks and groups of blocks

    def _measure_blocks(self, text: str) -> list[_Span]:
        """All blocks with their counts; one that is surely too long is not counted whole, which is slow."""
        blocks, most = list(_find_blocks(text)), self.max_tokens * 32
        counts = iter(self._count([text[b.start : b.stop] for b in blocks if b.stop - b.start <= most]))
        return [
            replace(block, tokens=next(counts)) if block.stop - block.start <= most
            else replace(block, tokens=self.max_tokens + 1, exact=False)
            for block in blocks
        ]

    def _group(self, blocks: Sequence[_Span]) -> list[list[_Span]]:
        """Blocks that must stand together to reach the minimum; only one with a large block is too large."""
        groups: list[list[_Span]] = []
        small: list[_Span] = []
        for block in blocks:
            if small and groups and _sum([*small, block]) > self.max_tokens >= _sum(groups[-1] + small):
                groups[-1] += small
                small = []
            small.append(block)
            if _sum(small) - (len(small) - 1) >= self.min_tokens:  # where two meet, a token may be lost
                groups.append(small)
                small = []
        if small and groups:
            groups[-1] += small
        elif small:
            groups.append(small)
        return groups

    # -- cutting what is too large

    def _divide(self, text: str, group: list[_Span]) -> list[_Span]:
        """Cut a group that is too large into even pieces; a fence only if there is no other way."""
        if _sum(group) <= self.max_tokens:
            return [_joined(group)]
        parts: list[_Span] = []
        for block in group:
            whole = block.fenced and block.exact and block.tokens <= self.max_tokens
            parts += [block] if whole else self._refine(text, block)
        made: list[_Span] = []
        sums = list(accumulate((part.tokens for part in parts), initial=0))
        start = 0
        while sums[-1] - sums[start] > self.max_tokens:
            stop = self._best_cut(parts, sums, start)
            if stop is None:
                finer = self._loosen(text, parts, sums, start)
                if len(finer) > len(parts) - start:
                    parts, start = finer, 0
                    sums = list(accumulate((part.tokens for part in parts), initial=0))
                    continue
                stop = max(start + 1, bisect_right(sums, sums[start] + self.max_tokens) - 1)
            made.append(_joined(parts[start:stop]))
            start = stop
        return [*made, _joined(parts[start:])] if start < len(parts) else made

    def _best_cut(self, parts: Sequence[_Span], sums: Sequence[int], start: int) -> int | None:
        """The part before which to cut: near an even share, rather at a blank line than at a sentence, …"""
        rest = sums[-1] - sums[start]
        share = rest / max(2, math.ceil(rest / (0.75 * self.max_tokens)))
        first = max(start + 1, bisect_left(sums, sums[start] + self.min_tokens))
        most = min(sums[start] + self.max_tokens, sums[-1] - self.min_tokens)
        last = bisect_right(sums, most, lo=first)
        choices = range(first, min(last, len(parts)))
        return min(
            choices, key=lambda i: parts[i].level * share / 2 + abs(sums[i] - sums[start] - share),
            default=None
        )

    def _loosen(self, text: str, parts: list[_Span], sums: Sequence[int], start: int) -> list[_Span]:
        """The parts from `start` on, with the one that stands in the way of every cut taken apart."""
        at = bisect_left(sums, sums[start] + self.min_tokens)
        largest = max(range(start, min(at + 1, len(parts))), key=lambda i: parts[i].tokens)
        return parts[start:largest] + self._refine(text, parts[largest]) + parts[largest + 1 :]

    def _refine(self, text: str, span: _Span) -> list[_Span]:
        """Cut a span at the coarsest level that cuts it at all, and refine the parts that are still too
        large.

        The parts of a counted span share its tokens by their bytes: near enough to choose a cut, at no cost,
        as every finished piece is counted anyway.
        """
        for level in range(span.level + 1, 5):
            cuts = [span.start, *self._cuts(text, span, level), span.stop]
            if len(cuts) > 2:
                break
        else:
            level = 4
            middle = _whole_character(text, (span.start + span.stop + 1) // 2, span.stop)
            if not span.start < middle < span.stop:
                return [span]
            cuts = [span.start, middle, span.stop]
        pieces = [text[a:b] for a, b in pairwise(cuts)]
        counted = span.level == 0 and not span.exact
        counts = self._count(pieces) if counted else _share(span.tokens, pieces)
        parts: list[_Span] = []
        for start, stop, tokens in zip(cuts, cuts[1:], counts, strict=False):
            part = _Span(start, stop, tokens, level, span.fenced, exact=counted)
            parts += [part] if tokens <= self.max_tokens - self.min_tokens else self._refine(text, part)
        parts[0] = replace(parts[0], level=span.level)  # it begins where the span began
        return parts

    def _cuts(self, text: str, span: _Span, level: int) -> Iterator[int]:
        """Offsets inside a span, at least a grain apart."""
        last = span.start
        for at in self._boundaries(text, span, level):
            if at - last >= self._grain and at < span.stop:
                yield at
                last = at

    def _boundaries(self, text: str, span: _Span, level: int) -> Iterable[int]:
        if level == 4:
            step = max(1, min(self._grain, (span.stop - span.start) // 2))
            return (_whole_character(text, at, span.stop) for at in range(span.start + step, span.stop, step))
        if level == 1 and not span.fenced:
            return (span.start + at for at in sentence_starts(text[span.start : span.stop]))
        pattern = (_BLANK, _LINE, _SPACE)[level - 1]
        return (match.end() for match in pattern.finditer(text, span.start, span.stop))

    # -- making sure

    def _settle(self, text: str, spans: list[_Span]) -> list[_Span]:
        """Count the finished pieces, as sums of counts may be off by a few; mend what is out of range."""
        unsure = [i for i, span in enumerate(spans) if not span.exact]
        for i, tokens in zip(unsure, self._count([text[spans[i].start : spans[i].stop] for i in unsure]),
                             strict=True):
            spans[i] = replace(spans[i], tokens=tokens, exact=True)
        if all(self.min_tokens <= span.tokens <= self.max_tokens for span in spans):
            return spans
        settled: list[_Span] = []
        for span in spans:
            if settled and min(span.tokens, settled[-1].tokens) < self.min_tokens:
                span = self._counted(text, settled.pop().start, span.stop)
            settled += self._halve(text, span)
        return settled

    def _halve(self, text: str, span: _Span) -> list[_Span]:
        """Cut at the best place near the middle until every part fits."""
        if span.tokens <= self.max_tokens or span.stop - span.start < 2:
            return [span]
        halves: tuple[_Span, _Span] | None = None
        for level in range(1, 5):
            middle = self._middle(text, replace(span, level=level))
            if middle is None:
                continue
            halves = self._counted(text, span.start, middle), self._counted(text, middle, span.stop)
            if min(halves[0].tokens, halves[1].tokens) >= self.min_tokens:
                break
        return [span] if halves is None else self._halve(text, halves[0]) + self._halve(text, halves[1])

    def _middle(self, text: str, span: _Span) -> int | None:
        """The boundary of the span's level that comes nearest to half of its tokens."""
        cuts = [span.start, *self._boundaries(text, span, span.level), span.stop]
        cuts = [at for i, at in enumerate(cuts) if i == 0 or cuts[i - 1] < at <= span.stop]
        if len(cuts) < 3:
            return None
        counts = self._count([text[a:b] for a, b in pairwise(cuts)])
        sums = list(accumulate(counts))
        return min(zip(cuts[1:-1], sums, strict=False), key=lambda cut: abs(sums[-1] - 2 * cut[1]))[0]

    def _counted(self, text: str, start: int, stop: int) -> _Span:
        return _Span(start, stop, self.count_tokens(text[start:stop]))


def _find_blocks(text: str) -> Iterator[_Span]:
    """The text as paragraphs and fences, each with the blank lines behind it; a heading opens a block."""
    start = 0
    for stop, fenced in _block_ends(text):
        if not fenced and stop < len(text) and stop - start < 400 and _HEADING.match(text, start, stop):
            continue
        yield _Span(start, stop, fenced=fenced)
        start = stop
    if start < len(text):
        yield _Span(start, len(text))


def _block_ends(text: str) -> Iterator[tuple[int, bool]]:
    at = 0
    while at < len(text):
        opening = _next_fence(text, at)
        stop = opening.start() if opening else len(text)
        for blank in _BLANK.finditer(text, at, stop):
            at = blank.end()
            yield at, False
        if at < stop:
            at = stop
            yield at, False
        if opening:
            at = _fence_end(text, opening)
            yield at, True


def _next_fence(text: str, at: int) -> re.Match[str] | None:
    """The next line that opens a fence; ```` ```code``` ```` on one line is none."""
    for match in _FENCE.finditer(text, at):
        if "`" not in match[2] or match[1][0] == "~":
            return match
    return None


def _fence_end(text: str, opening: re.Match[str]) -> int:
    """Behind the closing line and its blank lines; a fence that is never closed reaches to the end."""
    fence = re.escape(opening[1]) + re.escape(opening[1][0])
    closing = re.compile(rf"^[ \t]*{fence}*[ \t]*$", re.MULTILINE).search(text, opening.end())
    if closing is None:
        return len(text)
    blank = re.compile(r"[ \t]*+(?:(?:\r\n|\n|\r)(?:[ \t]*+(?:\r\n|\n|\r))*+)?").match(text, closing.end())
    return blank.end() if blank else closing.end()


def _whole_character(text: str, at: int, stop: int) -> int:
    """The nearest offset from `at` on that parts no accent or joiner from what precedes it."""
    for i in range(at, min(at + 16, stop)):
        both = text[i - 1 : i + 1]
        if unicodedata.category(text[i])[0] != "M" and "\u200d" not in both:
            return i
    return at


def _share(tokens: int, pieces: Sequence[str]) -> list[int]:
    """Tokens in proportion to bytes, rounded so that they add up."""
    ends = list(accumulate(len(piece) if piece.isascii() else len(piece.encode("utf-8", "replace"))
                           for piece in pieces))
    marks = [0, *(tokens * end // ends[-1] for end in ends)]
    return [b - a for a, b in pairwise(marks)]


def _sum(spans: Iterable[_Span]) -> int:
    return sum(span.tokens for span in spans)


def _joined(spans: Sequence[_Span]) -> _Span:
    if len(spans) == 1:
        return spans[0]
    return _Span(spans[0].start, spans[-1].stop, _sum(spans), exact=False)


def _count_by_default(texts: Sequence[str]) -> list[int]:
    from otolith.providers.tokens import count_many

    return count_many(texts)
