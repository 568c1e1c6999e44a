"""The front pages (seed 004): CORE.md, what stands strongest; REFLECTION.md, what records share.

CORE.md is read at the start of a session: five sections, the strongest first, at most fifteen each, 12,000
bytes in all (about 3,000 tokens); every line cites its file. Notes stand there by type, memos by what they
say, works by what they made good, and wisdom. What scores below 0.2 stays out, and so does what an agent or
somebody outside wrote and no person pinned. REFLECTION.md is counted from tags and uses of notes, memos,
works and chunks; nothing is guessed, no model is asked. Equal inputs give equal bytes; when a page is written
is not decided here, but `fingerprint` and `without_stamp` say whether to.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations, islice
from typing import NamedTuple

from otolith.model.decay import SHOWN, Standing, status
from otolith.model.kinds import CORE_SECTIONS, KINDS, NOTE_TYPES
from otolith.model.shape import Value

CORE_HEADING = "# Memory Core (auto-generated)"
REFLECTION_HEADING = "# Reflection Summary (auto-generated)"
STAMP = "> Last updated: "
CAP = 15
BUDGET = 12_000  # bytes, so that scripts of several bytes a character keep to about 3,000 tokens as well
TAGS_LENGTH, TITLE_LENGTH, PREVIEW_LENGTH = 120, 40, 80  # characters
THEMES, EXAMPLES, PATTERNS, MOST_ACCESSED, INSIGHTS = 8, 3, 50, 10, 10
TAGS_OF_A_NOTE = 50  # pairs grow with the square; what one note says beyond this is no theme
RECURRING = 2  # one note alone is no theme
_SPECIAL = re.compile(r"([\\\[\]])")
_UNSAFE = {character: f"%{ord(character):02X}" for character in " ()<>%\n\r\t"}
_PASSING = (STAMP, "Last reflection: ", "Total reflections: ")  # what a new page says of itself alone


def build_core(records: Iterable[Standing], *, date: str, refresh: str = "daily (systemd timer)") -> str:
    """The page as of a date (YYYY-MM-DD); `refresh` says what builds it next."""
    everything = [record for record in records if KINDS[record.kind].weighted or record.section]
    active = sum(status(note.score) == "Active" for note in everything)
    counts = f"Active memories: {active}/{len(everything)}"
    head = f"{CORE_HEADING}\n{STAMP}{date} | {counts} | Next refresh: {refresh}\n"
    return _fit(head, {section: _strongest(everything, section) for section in CORE_SECTIONS})


def section_of(record: Standing) -> str:
    """The section that a record stands in, if any."""
    if KINDS[record.kind].weighted:
        return NOTE_TYPES[record.type].section if record.type in NOTE_TYPES else ""
    return record.section


def _strongest(notes: Sequence[Standing], section: str) -> list[Standing]:
    """A section's records, strongest first; of equals the more important, then the newer.

    Nothing of an agent or from outside enters the prompt on its own; a person's pin is the review. The page
    is one person's: nothing of another's enters it.
    """
    fitting = [note for note in notes if section_of(note) == section and note.score >= SHOWN
               and (note.trust == "user" or (note.pinned and not note.principal))]
    return sorted(fitting, key=lambda note: (-note.score, -note.importance, -note.created, note.id))[:CAP]


def _fit(head: str, chosen: dict[str, list[Standing]]) -> str:
    """The page within the budget: while it is too long, the weakest note of all gives way."""
    lines = {note.id: _core_line(note) for notes in chosen.values() for note in notes}
    size = len(_page(head, chosen, lines).encode())
    shown = [note for notes in chosen.values() for note in notes]
    for note in sorted(shown, key=lambda note: (note.score, note.id)):
        if size <= BUDGET:
            break
        size -= len(lines.pop(note.id).encode()) + 1
    return _page(head, chosen, lines)


def _page(head: str, chosen: dict[str, list[Standing]], lines: dict[str, str]) -> str:
    sections = ["\n".join([f"## {name}", *(lines[note.id] for note in notes if note.id in lines)])
                for name, notes in chosen.items()]
    return head + "".join(f"\n{section}\n" for section in sections)


def _core_line(note: Standing) -> str:
    tags, room = [], TAGS_LENGTH
    for tag in note.tags:
        shown = one_line(tag, TAGS_LENGTH)
        room -= len(shown) + 2
        if room < 0:
            break
        tags.append(shown)
    return f"- {link_to(note.title, note.path)}" + (f" ({', '.join(tags)})" if tags else "")


# Reflection


class Theme(Value):
    """Two tags that keep meeting, and how often."""

    tags: tuple[str, str]
    count: int
    titles: tuple[str, ...]


class Pattern(NamedTuple):
    """A tag that several projects share, with the number of notes in each."""

    tag: str
    projects: tuple[tuple[str, int], ...]


class Reflection(NamedTuple):
    """What one look over all notes gave."""

    themes: list[Theme]
    patterns: list[Pattern]
    accessed: list[Standing]
    insights: list[Standing]
    merges: int


def look_over(notes: Iterable[Standing], *, projects: Collection[str] = (), merges: int = 0) -> Reflection:
    """Find what the notes have in common."""
    everything = sorted(notes, key=lambda note: (-note.importance, -note.created, note.id))
    used = sorted((note for note in everything if note.usage.count > 0),
                  key=lambda note: (-note.usage.count, -(note.usage.last or 0.0), note.id))
    insights = sorted((note for note in everything if note.type == "insight"),
                      key=lambda note: (-note.created, note.id))
    return Reflection(find_themes(everything), find_patterns(everything, projects), used[:MOST_ACCESSED],
                      insights[:INSIGHTS], merges)


def find_themes(notes: Sequence[Standing]) -> list[Theme]:
    """The pairs of tags that meet in most notes; the titles are those of the first notes given."""
    counts: Counter[tuple[str, str]] = Counter()
    for note in notes:
        counts.update(combinations(sorted(set(note.tags))[:TAGS_OF_A_NOTE], 2))
    pairs = sorted(((pair, count) for pair, count in counts.items() if count >= RECURRING),
                   key=lambda item: (-item[1], item[0]))[:THEMES]
    return [Theme(tags=pair, count=count, titles=tuple(one_line(note.title, TITLE_LENGTH) for note in islice(
        (note for note in notes if set(pair) <= set(note.tags)), EXAMPLES))) for pair, count in pairs]


def find_patterns(notes: Sequence[Standing], projects: Collection[str]) -> list[Pattern]:
    """Tags that span at least two projects. A note is of a project by its tag or by where it was written.

    Where no projects are configured, those that notes were written in count.
    """
    names = set(projects) or {note.project for note in notes if note.project and note.project != "default"}
    table: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for note in notes:
        own = names.intersection(note.tags) | ({note.project} & names if note.project else set())
        for tag in set(note.tags) - names:
            table[tag].update(own)
    patterns = [Pattern(tag, tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))))
                for tag, counts in table.items() if len(counts) >= 2]
    return sorted(patterns, key=lambda pattern: (
        -len(pattern.projects), -sum(count for _, count in pattern.projects), pattern.tag))


def build_reflection(reflection: Reflection, *, date: str, last: str, total: int) -> str:
    """The page as of a date; `last` and `total` are those of the reflections so far, this one included."""
    patterns = [_pattern_line(pattern) for pattern in reflection.patterns[:PATTERNS]]
    if len(reflection.patterns) > PATTERNS:
        patterns.append(f"- and {len(reflection.patterns) - PATTERNS} more tags")
    blocks = [
        [REFLECTION_HEADING, f"{STAMP}{date} | Last reflection: {last} | Total reflections: {total}"],
        ["## Themes", "Top tag co-occurrences revealing recurring themes:", "",
         *map(_theme_line, reflection.themes)],
        ["## Cross-Project Patterns", "Tags that span multiple projects:", "", *patterns],
        ["## Most Accessed", "Top 10 memories by access count:", "",
         *(f"{at}. {link_to(note.title, note.path)} - {note.usage.count} accesses"
           for at, note in enumerate(reflection.accessed, 1))],
        ["## Recent Insights", "Insight-type memories:", "", *map(_insight_line, reflection.insights)],
        ["## Consolidation History", "", f"- Total merges performed: {reflection.merges}"],
    ]
    return "\n\n".join("\n".join(block).rstrip("\n") for block in blocks) + "\n"


def _theme_line(theme: Theme) -> str:
    titles = ", ".join(f'"{title}"' for title in theme.titles)
    return f"- **{one_line(theme.tags[0])} + {one_line(theme.tags[1])}**: {theme.count} memories ({titles})"


def _pattern_line(pattern: Pattern) -> str:
    where = ", ".join(f"{one_line(name)} ({count})" for name, count in pattern.projects)
    return f"- **{one_line(pattern.tag)}**: appears in {where}"


def _insight_line(note: Standing) -> str:
    preview = one_line(note.preview, PREVIEW_LENGTH)
    return f"- {link_to(note.title, note.path)}" + (f" - {preview}" if preview else "")


def fingerprint(notes: Iterable[Standing], *, projects: Collection[str] = (), merges: int = 0) -> str:
    """One hash of everything a reflection looks at: not the scores, which change by the day alone."""
    digest = hashlib.sha256(json.dumps([sorted(projects), merges]).encode())
    for note in sorted(notes, key=lambda note: note.id):
        seen = [note.id, note.type, note.title, note.path, note.created, list(note.tags), note.importance,
                note.project, note.usage.count, note.usage.last, note.preview]
        digest.update(json.dumps(seen, ensure_ascii=False).encode(errors="surrogatepass"))
    return digest.hexdigest()


# Both pages


def without_stamp(page: str) -> str:
    """The page without its date and the count of reflections: by this two pages are compared."""
    return "\n".join(_lasting(line) if line.startswith(STAMP) else line for line in page.split("\n"))


def _lasting(stamp: str) -> str:
    return " | ".join(part for part in stamp.split(" | ") if not part.startswith(_PASSING))


def one_line(text: str, limit: int | None = None, ending: str = "...") -> str:
    """White space collapsed; longer than `limit` characters, cut and ended with `ending`."""
    if limit is None:
        return " ".join(text.split())
    line = " ".join(text[: limit * 20].split())  # enough for the cut, whatever the length of the text
    return line if len(line) <= limit else line[:limit].rstrip() + ending


def link_to(title: str, path: str, limit: int = 200) -> str:
    """[title](path): brackets in the title are escaped, what would end the address is percent-encoded."""
    label = _SPECIAL.sub(r"\\\1", one_line(title, limit))
    return f"[{label}]({''.join(_UNSAFE.get(character, character) for character in path)})"
