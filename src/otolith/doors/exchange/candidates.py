"""A `[MEMORY_CANDIDATES]` block, as an agent without write access prints it (seed 001): becomes memos.

The block may stand anywhere in a text; how it is taken apart is the protocol's business and lives with the
HUD.
"""

from __future__ import annotations

from collections.abc import Iterator

from otolith.doors.exchange.bundle import Bundle
from otolith.doors.exchange.items import Found, MemoItem, words
from otolith.errors import Invalid

SOURCE = "candidates"
_SIGN = "[MEMORY_CANDIDATES]"
_MAX_TEXT = 16 << 20


def fits(bundle: Bundle) -> bool:
    """Whether it is a text with the block's sign at the beginning of a line."""
    head = bundle.head(bundle.names[0], 1 << 20) if len(bundle.names) == 1 else b""
    return any(line.strip().startswith(_SIGN.encode()) for line in head.splitlines())


def read(bundle: Bundle) -> Iterator[Found]:
    if not fits(bundle):
        raise Invalid(f"{bundle.path.name} has no {_SIGN} block")
    from otolith.derive.protocol import parse_candidates

    for memo in parse_candidates(words(bundle.text(bundle.names[0], _MAX_TEXT))):
        yield MemoItem(key=f"{SOURCE}:{memo.name}", source=SOURCE, name=memo.name, text=memo.content,
                       category=memo.category, tags=tuple(memo.tags))
