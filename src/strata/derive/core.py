"""CORE.md: the page of what stands strongest, to be read at the start of a session (seed 004).

Five sections by type, the strongest first, at most fifteen each, 12,000 bytes in all (about 3,000 tokens); every line
cites its file. What scores below 0.2 stays out, and so does what came from outside and nobody reviewed. Equal notes and
an equal date give equal bytes; when the page is written is not decided here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from strata.model.decay import SHOWN, Standing, status

HEADING = "# Memory Core (auto-generated)"
SECTIONS = {
    "Critical Solutions": ("solution",),
    "Active Decisions": ("decision",),
    "Key Fixes": ("fix",),
    "Configurations": ("configuration",),
    "Patterns & Workflows": ("code_pattern", "workflow", "procedure", "insight"),
}
CAP = 15
BUDGET = 12_000  # bytes, so that scripts of several bytes a sign keep to about 3,000 tokens as well
TAGS_SIGNS = 120
STAMP = "> Last updated: "
_SPECIAL = re.compile(r"([\\\[\]])")
_UNSAFE = {sign: f"%{ord(sign):02X}" for sign in " ()<>%\n\r\t"}


def build_core(notes: Iterable[Standing], *, date: str) -> str:
    """The page as of a date (YYYY-MM-DD)."""
    everything = list(notes)
    active = sum(status(note.score) == "Active" for note in everything)
    counts = f"Active memories: {active}/{len(everything)}"
    head = f"{HEADING}\n{STAMP}{date} | {counts} | Next refresh: daily (systemd timer)\n"
    chosen = {name: _strongest(everything, types) for name, types in SECTIONS.items()}
    return _fit(head, chosen)


def _strongest(notes: Sequence[Standing], types: Sequence[str]) -> list[Standing]:
    """A section's notes, strongest first; of equals the more important, then the newer."""
    fitting = [note for note in notes if note.type in types and note.score >= SHOWN and _reviewed(note)]
    return sorted(fitting, key=lambda note: (-note.score, -note.importance, -note.created, note.id))[:CAP]


def _reviewed(note: Standing) -> bool:
    """Nothing from outside enters the prompt on its own; a person's pin is the review."""
    return note.trust != "outside" or note.pinned


def _fit(head: str, chosen: dict[str, list[Standing]]) -> str:
    """The page within the budget: while it is too long, the weakest note of all gives way."""
    lines = {note.id: _line(note) for notes in chosen.values() for note in notes}
    size = len(_page(head, chosen, lines).encode())
    weakest = sorted((note for notes in chosen.values() for note in notes), key=lambda note: (note.score, note.id))
    dropped: set[str] = set()
    for note in weakest:
        if size <= BUDGET:
            break
        dropped.add(note.id)
        size -= len(lines[note.id].encode()) + 1
    kept = {name: [note for note in notes if note.id not in dropped] for name, notes in chosen.items()}
    return _page(head, kept, lines)


def _page(head: str, chosen: dict[str, list[Standing]], lines: dict[str, str]) -> str:
    sections = ["\n".join([f"## {name}", *(lines[note.id] for note in notes)]) for name, notes in chosen.items()]
    return head + "".join(f"\n{section}\n" for section in sections)


def _line(note: Standing) -> str:
    tags, room = [], TAGS_SIGNS
    for tag in note.tags:
        shown = one_line(tag, TAGS_SIGNS)
        room -= len(shown) + 2
        if room < 0:
            break
        tags.append(shown)
    return f"- {link_to(note.title, note.path)}" + (f" ({', '.join(tags)})" if tags else "")


def without_stamp(page: str) -> str:
    """The page without the date of its making, by which two pages are compared."""
    lines = page.split("\n")
    return "\n".join(f"{STAMP}{line.partition(' | ')[2]}" if line.startswith(STAMP) else line for line in lines)


def one_line(text: str, limit: int | None = None, ending: str = "...") -> str:
    """White space collapsed; longer than `limit` signs, cut and ended with `ending`."""
    if limit is None:
        return " ".join(text.split())
    line = " ".join(text[: limit * 20].split())  # enough for the cut, whatever the length of the text
    if len(line) <= limit:
        return line
    return line[:limit].rstrip() + ending


def link_to(title: str, path: str, limit: int = 200) -> str:
    """[title](path): brackets in the title are escaped, signs that would end the address are percent-encoded."""
    label = _SPECIAL.sub(r"\\\1", one_line(title, limit))
    return f"[{label}]({''.join(_UNSAFE.get(sign, sign) for sign in path)})"
