"""Fences round recalled text, and characters made visible.

What Strata puts into an agent's prompt stands between two lines that carry a mark; the mark is fresh and random and
comes in as an argument, so no stored sentence can know it and close the fence early. What was fenced can be cut out
again, so that a logged transcript never captures its own recall. `visible` shows characters that a reader cannot
see, or that turn his reading order round, as escapes; files keep them. Nothing here reads, writes or chooses the
mark.
"""

from __future__ import annotations

import re

from strata.errors import Invalid

_MARK = re.compile(r"[0-9a-f]{12,64}")
_OPENING = re.compile(r"<strata-memory-([0-9a-f]{12,64})(?: [^<>\n]{0,400})?>\n?")
# Anything that could pass for one of our fence lines loses its angle bracket inside a fence.
_LOOKALIKE = re.compile(r"<(?=\s{0,8}/?\s{0,8}strata-memory)", re.IGNORECASE)

_HIDDEN = re.compile(
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
    return _HIDDEN.sub(_escape, text.replace("\r\n", "\n"))


def fence(text: str, mark: str, origin: str) -> str:
    """The text between two fence lines; `origin` says in one line where it comes from.

    The text is made visible first, so that no hidden character can be part of something that looks like a fence line.
    """
    if not _MARK.fullmatch(mark):
        raise Invalid("a fence mark is 12 to 64 lower-case hex digits")
    if mark in text or mark in origin:
        raise Invalid("the text already contains this fence mark", hint="draw another mark")
    label = re.sub(r"[<>\"\s]+", " ", visible(origin)).strip()[:300]
    body = _LOOKALIKE.sub("‹", visible(text)).strip("\n")
    return f'<strata-memory-{mark} from="{label}">\n{body}\n</strata-memory-{mark}>\n'


def unfence(text: str) -> str:
    """The text without what stands in fences.

    A fence whose end is missing was cut off by whoever stored the text; everything after its beginning goes, because
    keeping the rest of a recall is worse than losing the end of a message.
    """
    kept: list[str] = []
    position = 0
    while opening := _OPENING.search(text, position):
        kept.append(text[position : opening.start()])
        closing = f"</strata-memory-{opening[1]}>"
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
