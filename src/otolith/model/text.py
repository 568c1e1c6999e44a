"""Text on its way to a reader: titles, the passages and words the index sees, and the fences of an agent's prompt.

Passages are cut by size in bytes (about four to a token in European languages), so that indexing needs no tokenizer. What
Otolith puts into an agent's prompt stands between two lines that carry a mark; the mark is fresh and random and comes in as
an argument, so no stored sentence can know it and close the fence early. What was fenced can be cut out again, so that a
logged transcript never captures its own recall. Patterns are compiled when used: every command loads this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from otolith.errors import Invalid

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


def shorten(text: str, limit: int) -> str:
    """The text on one line, cut with … where it is longer than `limit` signs."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def counted(number: int, one: str, many: str = "") -> str:
    """1 work, 2 works; 1 entry, 2 entries."""
    return f"{number} {one if number == 1 else many or one + 's'}"


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
    """For comparing names: composed (é is one sign, however it was typed), casefolded, white space collapsed."""
    if not text.isascii():
        import unicodedata

        text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return " ".join(text.casefold().split())


def check_whole(value: Any) -> None:
    """Refuse what no file can hold as text, anywhere in a value: a NUL, and half of a pair of signs."""
    if isinstance(value, str):
        if "\0" in value:
            raise Invalid("the text holds a NUL", "leave it out; a file of text cannot hold it")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            half = ord(value[error.start])
            raise Invalid(f"the text holds half a sign (\\u{half:04x})", "give whole Unicode text") from None
    elif isinstance(value, Mapping):
        for key, item in value.items():
            check_whole(key)
            check_whole(item)
    elif isinstance(value, list | tuple):
        for item in value:
            check_whole(item)


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
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # invisible music signs, tags, selectors that smuggle text
    "]"
)


def visible(text: str) -> str:
    """The text with control, bidi, zero-width and tag characters written as escapes; newline and tab stay."""
    return re.sub(_HIDDEN, _escape, text.replace("\r\n", "\n"))


def visible_line(text: str) -> str:
    """A name or a message that is to stay on its line: newline and tab are written as escapes, too."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def has_controls(name: str) -> bool:
    """Whether a name could act on a terminal or pass for another: control characters, bidi, half of a pair."""
    return re.search("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", name) is not None


def fence(text: str, mark: str, origin: str) -> str:
    """The text between two fence lines; `origin` says in one line where it comes from.

    The text is made visible first, so that no hidden character can be part of something that looks like a fence line.
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

    A fence whose end is missing was cut off by whoever stored the text; everything after its beginning goes, because
    keeping the rest of a recall is worse than losing the end of a message.
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


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
