"""Text on its way to a reader: sentences, titles, the passages and words the index sees, fences in an agent's
prompt.

There is one cutter of sentences. `sentence_starts` promises offsets into the text it was given, in one pass
whose time grows with the length and not with its square; white space stays with the sentence before it, so
that slices at these offsets join to the same text, and the indentation of a new line stays with that line.
Passages are cut by size in bytes (about four to a token in European languages), so that indexing needs no
tokenizer. What Otolith puts into an agent's prompt stands between two lines that carry a mark, fresh and
random, so no stored sentence can know it and close the fence early. Patterns are compiled when used: every
command loads this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from otolith.errors import Invalid

PASSAGE_BYTES = 800  # about 200 tokens
TITLE_SIGNS = 80

# Where a sentence ends. A western terminator needs white space behind it; the terminators of other scripts
# end one by themselves, and so do blank lines and a new item of a list. The look-behind lets a run of dots be
# tried once, from its first dot: without it a long run would cost its square.
_END = (
    r"""(?x)(?: (?<![.!?…]) (?P<western>[.!?…]++) (?P<closed>["'”’»)\]}*_`]*+) (?=\s|\Z)
          | [。！？｡।॥؟۔։።፧။។᠃༎⁇⁈⁉‼]++ [」』”’»）)】》〉"']*+ )
        [^\S\r\n]*+ (?:\r\n|\n|\r)?+
      | (?:\r\n|\n|\r) (?: (?:[^\S\r\n]*+ (?:\r\n|\n|\r))++ | (?=[ \t]*+ (?:[-*+•|]|\d{1,3}[.)])[ \t]) )"""
)
_LAST_WORD = r"[^\W_]+(?:\.[^\W_]+)*\Z"
_NEXT = r"""[\s"'“‘«(\[*_`]*"""
# Words whose dot ends no sentence, always or before a number.
_ABBREVIATIONS = frozenset(
    """mr mrs ms dr prof st vs e.g i.e cf eq approx incl excl dept gen gov hon capt col lt sgt rev mt ca al
    resp viz esp est ed eds cmp tel ext z.b d.h bzw ggf bspw evtl vgl inkl u.a p.ex sra dott sig""".split())
_BEFORE_A_NUMBER = frozenset("no nr nos vol p pp fig figs art sec ch kap núm".split())


def sentence_starts(text: str, start: int = 0) -> Iterator[int]:
    """The offsets at which a second, third, … sentence begins."""
    for match in re.compile(_END).finditer(text, start):
        if match.end() < len(text) and not (match["western"] and _goes_on(text, match)):
            yield match.end()


def sentences(text: str) -> list[str]:
    """The sentences without the white space around them."""
    pieces = (text[start:stop].strip() for start, stop in pairwise([0, *sentence_starts(text), len(text)]))
    return [piece for piece in pieces if piece]


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """Whether the sentence continues behind this western terminator."""
    at = match.end()
    space = re.compile(_NEXT).match(text, at, at + 16)
    following = text[space.end() : space.end() + 1] if space else ""
    if match["western"] != ".":
        # `"Really?" he asked` and `well... perhaps` go on; `Really? no way` does not.
        return following.islower() and (bool(match["closed"]) or match["western"][-1] in ".…")
    return not match["closed"] and _is_abbreviation(text, match.start("western"), following)


def _is_abbreviation(text: str, dot: int, following: str) -> bool:
    last = re.compile(_LAST_WORD).search(text, max(0, dot - 16), dot)
    if last is None:
        return False
    word = last[0]
    folded = word.casefold()
    if folded in _ABBREVIATIONS:
        return True
    if folded in _BEFORE_A_NUMBER:
        return following.isdigit()
    if "." in word:  # D.C., not example.org or 3.11
        short = all(part.isalpha() and len(part) < 3 for part in word.split("."))
        return short and (folded not in ("a.m", "p.m") or following.islower())
    if word.isdigit():
        line = text.rfind("\n", 0, last.start()) + 1
        return not text[line : last.start()].strip(" \t>-*")  # "1. " opens an item
    return len(word) == 1 and word.isupper() and word.isascii() and word != "I"  # an initial: J. Smith


def without_code(text: str) -> str:
    """The text without its fenced blocks; one that is not closed reaches to the end."""
    return re.sub(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*|\Z)", "\n", text)


def first_sentence(text: str, limit: int = TITLE_SIGNS) -> str:
    """The opening sentence on one line, cut at a word if it is long."""
    opening = text.strip()[: limit * 8]
    opening = " ".join(opening[: next(sentence_starts(opening), None)].split())
    if len(opening) <= limit:
        return opening
    cut = opening[: limit - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[limit // 2 :] else cut).rstrip() + "…"


def shorten(text: str, limit: int) -> str:
    """The text on one line, cut with … where it is longer than `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def counted(number: int, single: str, plural: str = "") -> str:
    """1 work, 2 works; 1 entry, 2 entries."""
    return f"{number} {single if number == 1 else plural or single + 's'}"


# Passages, and words as the index sees them

# Scripts that set no spaces between words: Thai, Lao, Khmer, Myanmar, Kana, Han and their extensions. For a
# class of characters.
UNSPACED = ("\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
            "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff")


def cut_passages(text: str, limit: int = PASSAGE_BYTES) -> Iterator[tuple[int, int]]:
    """(start, stop) of pieces that join to the text, each at most `limit` bytes, cut at the best break."""
    start, length = 0, len(text)
    if length * 4 <= limit or _size(text) <= limit:
        if length:
            yield 0, length
        return
    while start < length:
        stop = min(length, start + limit)
        while (size := _size(text[start:stop])) > limit:
            stop = start + max(1, (stop - start) * limit // (size + 1))
        if stop < length:
            stop = start + _best_break(text[start:stop])
        yield start, stop
        start = stop


def _size(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


def _best_break(piece: str) -> int:
    """Where to cut a full piece: after the last paragraph, line, sentence or word that leaves half of it."""
    half = len(piece) // 2

    def after(end: str) -> int:
        match = re.compile(rf"(?s).*(?:{end})").match(piece, half)
        return match.end() if match else 0

    line = (after(r"\n\s*\n") or after(r"\n")) if "\n" in piece[half:] else 0
    near = len(piece) * 5 // 6  # mostly a sentence ends so near the end, and the rest need not be read
    sentence = max(sentence_starts(piece, near), default=0) or max(sentence_starts(piece, half), default=0)
    return line or sentence or after(r"\s+") or len(piece)


def searchable(text: str) -> str:
    """The text as full text search reads it: runs without spaces become pairs, 東京都 → 東京 京都."""
    return text if text.isascii() else re.sub(f"[{UNSPACED}\uac00-\ud7af]+", _pairs, text)  # and Hangul


def _pairs(run: re.Match[str]) -> str:
    characters = run[0]
    return f" {' '.join(characters[at : at + 2] for at in range(max(1, len(characters) - 1)))} "


def fold(text: str) -> str:
    """For comparing names: composed (é is one character), casefolded, white space collapsed."""
    if not text.isascii():
        import unicodedata

        text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return " ".join(text.casefold().split())


def check_whole(value: Any, *, nul: bool = False) -> None:
    """Refuse what no file can hold as text, anywhere in a value: half of a surrogate pair; a NUL, unless
    `nul`.
    """
    if isinstance(value, str):
        if "\0" in value and not nul:
            raise Invalid("the text holds a NUL", "leave it out; a file of text cannot hold it")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            half = ord(value[error.start])
            raise Invalid(f"the text holds half a character (\\u{half:04x})",
                          "give whole Unicode text") from None
    elif isinstance(value, Mapping):
        for key, item in value.items():
            check_whole(key, nul=nul)
            check_whole(item, nul=nul)
    elif isinstance(value, list | tuple):
        for item in value:
            check_whole(item, nul=nul)


# Fences round recalled text, and characters made visible

_MARK = r"[0-9a-f]{12,64}"
_OPENING = r"<otolith-memory-([0-9a-f]{12,64})(?: [^<>\n]{0,400})?>\n?"
# Anything that could pass for one of our fence lines loses its angle bracket inside a fence.
_LOOKALIKE = r"(?i)<(?=\s{0,8}/?\s{0,8}otolith-memory)"

_HIDDEN = (
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters except tab and newline
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5"  # soft hyphen, joiners and fillers that draw nothing
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero width, line separators, bidi
    "\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff"  # half of a pair: cannot be encoded
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # invisible musical marks, tags, selectors that smuggle text
    "]"
)


def visible(text: str) -> str:
    """The text with control, bidi, zero-width and tag characters written as escapes; newline and tab stay."""
    return re.sub(_HIDDEN, _escape, text.replace("\r\n", "\n"))


def visible_line(text: str) -> str:
    """A name or a message that is to stay on its line: newline and tab are written as escapes, too."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def has_controls(name: str) -> bool:
    """Whether a name could act on a terminal or pass for another: controls, bidi, half of a pair."""
    return re.search("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", name) is not None


def fence(text: str, mark: str, origin: str) -> str:
    """The text between two fence lines; `origin` says in one line where it comes from.

    The text is made visible first, so that no hidden character can be part of something that looks like a
    fence line.
    """
    if not re.fullmatch(_MARK, mark):
        raise Invalid("a fence mark is 12 to 64 lower-case hex digits")
    if mark in text or mark in origin:
        raise Invalid("the text already contains this fence mark", hint="draw another mark")
    label = re.sub(r"[<>\"\s]+", " ", visible(origin)).strip()[:300]
    body = re.sub(_LOOKALIKE, "‹", visible(text)).strip("\n")
    return f'<otolith-memory-{mark} from="{label}">\n{body}\n</otolith-memory-{mark}>\n'


def unfence(text: str) -> str:
    """The text without what stands in fences.

    A fence whose end is missing was cut off by whoever stored the text; everything after its beginning goes,
    because keeping the rest of a recall is worse than losing the end of a message.
    """
    kept: list[str] = []
    position = 0
    while opening := re.compile(_OPENING).search(text, position):
        kept.append(text[position : opening.start()])
        closing = f"</otolith-memory-{opening[1]}>"
        end = text.find(closing, opening.end())
        if end < 0:
            return "".join(kept)
        position = end + len(closing)
        if text.startswith("\r\n", position):
            position += 2
        elif text.startswith("\n", position):
            position += 1
    kept.append(text[position:])
    return "".join(kept)


def _escape(character: re.Match[str]) -> str:
    code = ord(character[0])
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
