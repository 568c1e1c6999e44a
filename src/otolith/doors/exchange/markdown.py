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
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from otolith.doors.exchange.bundle import Bundle, FormatReader
from otolith.doors.exchange.items import Found, LinkItem, NoteItem, SourceFinding, stamp, tags, words
from otolith.errors import Invalid

_FENCED = re.compile(r"^(?P<sign>```+|~~~+)[^\n]*\n", re.MULTILINE)
_INLINE = re.compile(r"`[^`\n]*`")
_WIKILINK = re.compile(r"\[\[([^\[\]\n|#^]{1,200})(?:[#^][^\[\]\n|]{0,200})?(?:\|[^\[\]\n]{0,200})?\]\]")
_TAG = re.compile(r"(?<![\w&/#])#([^\W\d_][\w/-]{0,60})")
_ANCHOR = re.compile(r"\[\[[^\[\]\n]*\]\]")
_DAILY = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")
_TEMPLATES = {"templates", "_templates", "template"}
_TOLD = ("title", "tags", "tag", "aliases", "alias", "created")  # keys of a vault that a note has fields for
_OURS = ("id", "type", "importance", "confidence", "updated", "relations", "origin", "steps", "preconditions",
         "postconditions", "text", "pinned", "imported", "extra", "created_at", "updated_at")
_SHOWN = 5  # names of files that are left where they are
_HEADING = re.compile(r"^#\s+(.{1,200})$", re.MULTILINE)
_POINTER = re.compile(r"\s*[-*]\s*\[[^\]]*\]\([^)]*\.md\).*|\s*[-*]?\s*\[\[[^\]]*\]\].*|#.*|\s*|---")
_MAX_NOTE = 5 << 20
_HIDDEN = {".obsidian", ".trash", ".git"}
_PLURAL = {"template": "templates", "canvas": "canvases", "attachment": "attachments"}


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
    """The `#tags` in running text; a heading within [[ ]] is none."""
    return [found[1].rstrip("/-") for found in _TAG.finditer(_ANCHOR.sub("", blank_code(body)))]


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
        front, stem = page.front, PurePosixPath(name).stem
        title = words(front.get("title")).strip() or stem
        daily = _DAILY.match(stem)
        return NoteItem(key=f"obsidian:{bundle.label}/{name}", source="obsidian", title=title,
                        text=page.body.strip() or title, created=stamp(front.get("created"))
                        or stamp(front.get("date")) or stamp(daily[0] if daily else None),
                        aliases=tags(front.get("aliases") or front.get("alias")), more=_own_keys(front, name),
                        tags=tags([*tags(front.get("tags") or front.get("tag")), *find_tags(page.body)]))

    def handles_of(name: str, page: Markdown, _: NoteItem) -> list[str]:
        whole = name.casefold().removesuffix(".md")
        return [whole, whole.rpartition("/")[2], *tags(page.front.get("aliases") or page.front.get("alias"))]

    return chain(_left_out(bundle), _read_files(bundle, "obsidian", names, note_of, handles_of))


def _own_keys(front: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What a file of a vault says besides, and its folder; a key that is taken here gets a prefix."""
    folder = name.rpartition("/")[0]
    own = {f"source_{key}" if key in _OURS else key: _value(value) for key, value in front.items()
           if isinstance(key, str) and key.strip() and key not in _TOLD}
    return {**({"folder": folder} if folder else {}), **own}


def _value(value: Any) -> Any:
    """A value as front matter can hold it again."""
    if isinstance(value, Mapping):
        return {str(key): _value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_value(item) for item in value]
    if isinstance(value, str):
        return words(value)
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _left_out(bundle: Bundle) -> Iterator[Found]:
    """What a vault has besides notes, counted and named."""
    parts: dict[str, list[str]] = {"template": [], "canvas": [], "attachment": []}
    for name in bundle.names:
        if _HIDDEN & set(name.split("/")):
            continue
        if not name.casefold().endswith(".md"):
            parts["canvas" if name.casefold().endswith(".canvas") else "attachment"].append(name)
        elif _is_template(name):
            parts["template"].append(name)
    for what, names in parts.items():
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            kind = what if len(names) == 1 else _PLURAL[what]
            yield SourceFinding(where=bundle.label, message=f"left where they are: {len(names)} {kind} "
                                f"({', '.join(names[:_SHOWN])}{more})")


def _is_template(name: str) -> bool:
    return not _TEMPLATES.isdisjoint(part.casefold() for part in name.split("/")[:-1])


def _notes_of(bundle: Bundle) -> list[str]:
    return [name for name in bundle.names if name.casefold().endswith(".md")
            and not _HIDDEN & set(name.split("/")) and not _is_template(name)]


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
