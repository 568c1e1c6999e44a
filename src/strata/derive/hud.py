"""The LiveHud and the [MEMORY_CANDIDATES] block, as text.

The LiveHud is four gauges: 🧠 Past, 👁️ Present, 🔮 Future in 3 to 9 words each, and 📂 Memory. The candidates block is
what an agent prints when the home cannot be written, and reads back later: a content line that would itself look like a
candidate's first line, or like the block's, is written with a backslash before it and read without; a tag with a comma,
bracket or quote is written as a JSON string. Everything else stands as it is. Knows no home, no clock and no recall.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from strata.errors import Invalid
from strata.model.memo import CATEGORIES
from strata.model.memo_name import check_name
from strata.model.sentence_ends import sentences

NO_ACCESS = "No tool access"
MIN_WORDS, MAX_WORDS = 3, 9
OPENING = "[MEMORY_CANDIDATES]"
_GAUGES = (
    ("🧠 Past", "Last known:", "Nothing retrieved from memory yet"),
    ("👁️ Present", "Working on", "No active task named yet"),
    ("🔮 Future", "Next up:", "No next action named yet"),
)
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_SIGNS_A_WORD = 2  # of a script without spaces

_DASH = r"[ \t]+(?:—|–|--?)[ \t]+"
_FIRST_LINE = re.compile(
    rf"(?P<number>\d+)\.[ \t]+(?P<name>\S+?)\.md{_DASH}category:[ \t]*(?P<category>\w+)"
    rf"(?:{_DASH}tags:[ \t]*\[(?P<tags>.*)\])?[ \t]*\r?"
)
_OPENING_LINE = re.compile(r"\[MEMORY_CANDIDATES\][ \t]*\r?")
_TAG = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,"]*)\s*(?:,|\Z)')


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A memo that could not be written."""

    name: str
    category: str
    tags: tuple[str, ...]
    content: str

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.category not in CATEGORIES:
            raise Invalid(f"category {self.category!r} is not one of {', '.join(CATEGORIES)}")


def render_hud(past: str = "", present: str = "", future: str = "", memory: str | None = None) -> str:
    """The four lines; `memory` is what there is to say of the memory, None that there is no access to it."""
    lines = [
        f"{label}: {fit_gauge(phrase, lead, empty)}"
        for (label, lead, empty), phrase in zip(_GAUGES, (past, present, future), strict=True)
    ]
    return "\n".join([*lines, f"📂 Memory: {' '.join(memory.split()) if memory else NO_ACCESS}"]) + "\n"


def fit_gauge(phrase: str, lead: str = "Last known:", empty: str = "Nothing known about it yet") -> str:
    """The phrase in 3 to 9 words: its first sentence, cut with … or led in by two words."""
    first = next(iter(sentences(phrase)), "")
    found = first.rstrip(" .,;:").split()
    if not any(sign.isalnum() for sign in first):
        return empty
    kept: list[str] = []
    room = MAX_WORDS
    for word in found:
        length = _words_in(word)
        if length > room:
            if not kept:  # one long run of a script without spaces
                kept.append(word[: room * _SIGNS_A_WORD])
            break
        kept.append(word)
        room -= length
    cut = " ".join(kept) != " ".join(found)
    text = " ".join(kept).rstrip(",;:") + ("…" if cut else "")
    return text if MAX_WORDS - room >= MIN_WORDS or cut else f"{lead} {text}"


def _words_in(word: str) -> int:
    signs = len(_UNSPACED.findall(word))
    return max(1, -(-signs // _SIGNS_A_WORD))


def render_notes(candidates: Iterable[Candidate]) -> str:
    """What follows the LiveHud when nothing can be written."""
    return f"System Notes\n\n{render_candidates(candidates)}"


def render_candidates(candidates: Iterable[Candidate]) -> str:
    """The block, from its first line to the end of the last content."""
    lines = [OPENING]
    for number, candidate in enumerate(candidates, 1):
        tags = ", ".join(map(_write_tag, candidate.tags))
        name = candidate.name.removesuffix(".md")
        lines += [f"{number}. {name}.md — category: {candidate.category} — tags: [{tags}]", "---"]
        lines += [_escape(line) for line in candidate.content.split("\n")]
    return "\n".join(lines) + "\n"


def parse_candidates(text: str) -> list[Candidate]:
    """The candidates of the first block in a text; `Invalid` if there is none or a name breaks the rule."""
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines) if _OPENING_LINE.fullmatch(line)), None)
    if start is None:
        raise Invalid(f"no line {OPENING}", "paste the whole block, from that line to its end")
    if lines[-1] == "":
        lines.pop()  # the newline that ends the block
    found: list[Candidate] = []
    at = start + 1
    while at < len(lines):
        first = _FIRST_LINE.fullmatch(lines[at])
        stop = next((i for i in range(at + 1, len(lines)) if _FIRST_LINE.fullmatch(lines[i])), len(lines))
        if first:
            found.append(_read(first, lines[at + 1 : stop]))
        elif lines[at].strip():
            raise Invalid(f"line {at + 1} is not a candidate: {lines[at][:60]!r}",
                          "expected: 1. some_descriptive_name.md — category: past — tags: [a, b]")
        at = stop
    return found


def _read(first: re.Match[str], below: Sequence[str]) -> Candidate:
    content = below[1:] if below and below[0].rstrip() == "---" else below
    return Candidate(
        name=first["name"], category=first["category"].lower(), tags=_read_tags(first["tags"] or ""),
        content="\n".join(map(_unescape, content)),
    )


def _looks_like_ours(line: str) -> bool:
    return bool(_FIRST_LINE.fullmatch(line) or _OPENING_LINE.fullmatch(line))


def _escape(line: str) -> str:
    return f"\\{line}" if _looks_like_ours(line.lstrip("\\")) else line


def _unescape(line: str) -> str:
    return line[1:] if line.startswith("\\") and _looks_like_ours(line.lstrip("\\")) else line


def _write_tag(tag: str) -> str:
    plain = tag and tag == tag.strip() and tag != "..." and not re.search(r"[,\[\]\"\\\r\n\x00-\x1f]", tag)
    return tag if plain else json.dumps(tag, ensure_ascii=False)


def _read_tags(text: str) -> tuple[str, ...]:
    tags: list[str] = []
    for match in _TAG.finditer(text):
        written = match[1].strip()
        if written.startswith('"'):
            try:
                tags.append(str(json.loads(written)))
            except json.JSONDecodeError:
                tags.append(written.strip('"'))
        elif written and written != "...":
            tags.append(written)
    return tuple(tags)
