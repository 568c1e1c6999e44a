"""Folders of Markdown files with front matter and wikilinks: Obsidian vaults, and Claude Code's memory
folder.

One note a file, one link a wikilink, which names a file by its path, its bare name, its title or an alias;
one that names nothing is left out, and links inside code are no links. Front matter that cannot be read
leaves the whole file as text. A vault's own settings and its trash are never read. Claude Code's `MEMORY.md`
is an index of the other files in newer versions and the memory itself in older ones; a mere index is not
imported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from otolith.doors.exchange.bundle import Bundle, FormatReader
from otolith.doors.exchange.items import Found, LinkItem, NoteItem, SourceFinding, stamp, tags, words
from otolith.errors import Invalid

_FENCED = re.compile(r"^(?P<sign>```+|~~~+)[^\n]*\n", re.MULTILINE)
_INLINE = re.compile(r"`[^`\n]*`")
_WIKILINK = re.compile(r"\[\[([^\[\]\n|#^]{1,200})(?:[#^][^\[\]\n|]{0,200})?(?:\|[^\[\]\n]{0,200})?\]\]")
_TAG = re.compile(r"(?<![\w&/#])#([^\W\d_][\w/-]{0,60})")
_HEADING = re.compile(r"^#\s+(.{1,200})$", re.MULTILINE)
_POINTER = re.compile(r"\s*[-*]\s*\[[^\]]*\]\([^)]*\.md\).*|\s*[-*]?\s*\[\[[^\]]*\]\].*|#.*|\s*|---")
_MAX_NOTE = 5 << 20


class Markdown(NamedTuple):
    """A Markdown file taken apart; `broken` says why its front matter could not be read."""

    front: Mapping[str, Any]
    body: str
    broken: str = ""


def parse_page(text: str) -> Markdown:
    """The front matter and the body of a file."""
    text = text.replace("\r\n", "\n")
    if not text.startswith("---\n"):
        return Markdown(front={}, body=text)
    end = re.search(r"^(?:---|\.\.\.)[ \t]*$\n?", text[4:], re.MULTILINE)
    if end is None:
        return Markdown(front={}, body=text, broken="the front matter has no end")
    front, body = text[4 : 4 + end.start()], text[4 + end.end() :]
    if not front.strip():
        return Markdown(front={}, body=body)
    from otolith.files.front import load_yaml

    yaml_rs = load_yaml()

    try:
        value = yaml_rs.loads(front)
    except (yaml_rs.YAMLDecodeError, ValueError) as error:
        return Markdown(front={}, body=text,
                    broken=f"the front matter cannot be read: {str(error).splitlines()[0]}")
    if not isinstance(value, dict):
        return Markdown(front={}, body=text, broken="the front matter is not a list of names and values")
    return Markdown(front=value, body=body)


def find_links(body: str) -> Iterator[tuple[str, str]]:
    """(target, the line it stands in) of each wikilink outside code, each target once."""
    seen: set[str] = set()
    for line in blank_code(body).splitlines():
        for found in _WIKILINK.finditer(line):
            target = found[1].strip()
            if target and target not in seen:
                seen.add(target)
                yield target, " ".join(line.split())[:200]


def find_tags(body: str) -> list[str]:
    """The `#tags` in running text."""
    return [found[1].rstrip("/-") for found in _TAG.finditer(blank_code(body))]


def find_heading(body: str) -> str:
    """The first heading of the first level, or nothing."""
    found = _HEADING.search(blank_code(body))
    return words(found[1]).strip() if found else ""


def blank_code(body: str) -> str:
    """The body without fenced blocks and inline code."""
    kept: list[str] = []
    position = 0
    while opening := _FENCED.search(body, position):
        kept.append(body[position : opening.start()])
        end = body.find("\n" + opening["sign"], opening.end() - 1)
        if end < 0:
            return _INLINE.sub("", "".join(kept))
        position = end + 1 + len(opening["sign"])
        line_end = body.find("\n", position)
        position = len(body) if line_end < 0 else line_end
    kept.append(body[position:])
    return _INLINE.sub("", "".join(kept))


def _read_files(bundle: Bundle, source: str, names: Sequence[str],
                note_of: Callable[[str, Markdown], NoteItem | None],
                handles_of: Callable[[str, Markdown, NoteItem], Sequence[str]]) -> Iterator[Found]:
    """A note for each file, then the links between them."""
    links: list[tuple[str, str, str]] = []
    handles: dict[str, str] = {}
    for name in names:
        try:
            page = parse_page(words(bundle.text(name, _MAX_NOTE)))
        except Invalid as error:
            yield SourceFinding(where=name, message=error.message)
            continue
        if page.broken:
            yield SourceFinding(where=name, line=1, message=page.broken)
        note = note_of(name, page)
        if note is None:
            continue
        for handle in handles_of(name, page, note):
            handles.setdefault(handle.casefold(), note.key)
        yield note
        links += ((note.key, target, context) for target, context in find_links(page.body))
    for start, target, context in links:
        end = handles.get(target.casefold()) or handles.get(target.casefold().removesuffix(".md"))
        if end and end != start:
            yield LinkItem(key=f"{start} -> {end}", source=source, start=start, type="RELATED_TO", end=end,
                           context=context)


def _is_vault(bundle: Bundle) -> bool:
    """Whether it is a vault, or at least a folder or zip with Markdown in it."""
    return (".obsidian" in bundle.folders or ((len(bundle.names) > 1 or bundle.path.is_dir())
                                              and bool(_notes_of(bundle))))


def _read_vault(bundle: Bundle) -> Iterator[Found]:
    names = _notes_of(bundle)
    if not names and ".obsidian" not in bundle.folders:
        raise Invalid(f"{bundle.path.name} contains no Markdown files")

    def note_of(name: str, page: Markdown) -> NoteItem:
        front = page.front
        title = words(front.get("title")).strip() or PurePosixPath(name).stem
        return NoteItem(key=f"obsidian:{bundle.label}/{name}", source="obsidian", title=title,
                        text=page.body.strip() or title, created=stamp(front.get("created"))
                        or stamp(front.get("date")),
                        tags=tags([*tags(front.get("tags") or front.get("tag")), *find_tags(page.body)]))

    def handles_of(name: str, page: Markdown, _: NoteItem) -> list[str]:
        whole = name.casefold().removesuffix(".md")
        return [whole, whole.rpartition("/")[2], *tags(page.front.get("aliases") or page.front.get("alias"))]

    return _read_files(bundle, "obsidian", names, note_of, handles_of)


def _notes_of(bundle: Bundle) -> list[str]:
    hidden = {".obsidian", ".trash", ".git"}
    return [name for name in bundle.names if name.casefold().endswith(".md")
            and not hidden & set(name.split("/"))]


def _is_memory_folder(bundle: Bundle) -> bool:
    """Whether it is a folder with a MEMORY.md at its top, or that file itself."""
    return "MEMORY.md" in bundle.names


def _read_memory_folder(bundle: Bundle) -> Iterator[Found]:
    if not _is_memory_folder(bundle):
        raise Invalid(f"{bundle.path.name} contains no MEMORY.md",
                      hint="they lie in ~/.claude/projects/<project>/memory")
    folder = (bundle.path if bundle.path.is_dir() else bundle.path.parent).resolve()
    # …/projects/-home-me-src-app/memory
    project = folder.parent.name if folder.name == "memory" else folder.name

    def note_of(name: str, page: Markdown) -> NoteItem | None:
        front, body = page.front, page.body.strip()
        if not body or (name == "MEMORY.md" and all(map(_POINTER.fullmatch, page.body.splitlines()))):
            return None
        inner = front.get("metadata")
        kind = words(front.get("type")) or (words(inner.get("type")) if isinstance(inner, dict) else "")
        description = words(front.get("description")).strip()
        return NoteItem(key=f"claude-memory:{project}/{name}", source="claude-memory", project=project
                        or None, title=words(front.get("name")).strip() or find_heading(page.body)
                        or PurePosixPath(name).stem,
                        text=f"{description}\n\n{body}" if description and description not in body else body,
                        tags=tags(["claude-memory", kind]), created=stamp(front.get("created")))

    names = [name for name in bundle.names if name.endswith(".md")]
    return _read_files(bundle, "claude-memory", names, note_of,
                       lambda name, _, note: [PurePosixPath(name).stem, note.title])


READERS = {"obsidian": FormatReader(_is_vault, _read_vault),
           "claude-memory": FormatReader(_is_memory_folder, _read_memory_folder)}
