"""Claude Code's memory folder: a `MEMORY.md`, and one Markdown file a remembered thing beside it.

The files carry a name, a one-line description and a type (user, feedback, project, reference) in their front
matter. `MEMORY.md` is an index of them in newer versions and the memory itself in older ones; a mere index is
not imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from otolith.doors.exchange.bundle import Bundle
from otolith.doors.exchange.items import Finding, Found, LinkItem, NoteItem, stamp, tags, words
from otolith.doors.exchange.markdown import Page, find_heading, find_links, parse_page
from otolith.errors import Invalid

SOURCE = "claude-memory"
_POINTER = re.compile(r"\s*[-*]\s*\[[^\]]*\]\([^)]*\.md\).*|\s*[-*]?\s*\[\[[^\]]*\]\].*|#.*|\s*|---")
_MAX_NOTE = 1 << 20


def fits(bundle: Bundle) -> bool:
    """Whether it is a folder with a MEMORY.md at its top, or that file itself."""
    return "MEMORY.md" in bundle.names


def read(bundle: Bundle) -> Iterator[Found]:
    if not fits(bundle):
        raise Invalid(f"{bundle.path.name} holds no MEMORY.md",
                      hint="they lie in ~/.claude/projects/<project>/memory")
    project = _project(bundle)
    keys: dict[str, str] = {}
    links: list[tuple[str, str, str]] = []
    for name in (name for name in bundle.names if name.endswith(".md")):
        try:
            page = parse_page(words(bundle.text(name, _MAX_NOTE)))
        except Invalid as error:
            yield Finding(where=name, message=error.message)
            continue
        if page.broken:
            yield Finding(where=name, line=1, message=page.broken)
        if (not page.body.strip() or (name == "MEMORY.md"
                                      and all(map(_POINTER.fullmatch, page.body.splitlines())))):
            continue
        note = _note(project, name, page)
        keys[PurePosixPath(name).stem.casefold()] = keys[note.title.casefold()] = note.key
        yield note
        links += ((note.key, target, context) for target, context in find_links(page.body))
    for start, target, context in links:
        end = keys.get(target.casefold().removesuffix(".md"))
        if end and end != start:
            yield LinkItem(key=f"{start} -> {end}", source=SOURCE, start=start, type="RELATED_TO", end=end,
                           context=context)


def _note(project: str, name: str, page: Page) -> NoteItem:
    front = page.front
    inner = front.get("metadata")
    kind = words(front.get("type")) or (words(inner.get("type")) if isinstance(inner, dict) else "")
    description = words(front.get("description")).strip()
    body = page.body.strip()
    return NoteItem(
        key=f"{SOURCE}:{project}/{name}",
        source=SOURCE,
        title=words(front.get("name")).strip() or find_heading(page.body) or PurePosixPath(name).stem,
        text=f"{description}\n\n{body}" if description and description not in body else body,
        tags=tags(["claude-memory", kind]),
        created=stamp(front.get("created")),
        project=project or None,
    )


def _project(bundle: Bundle) -> str:
    """The project's folder name: `…/projects/-home-me-src-app/memory` is about -home-me-src-app."""
    folder = bundle.path if bundle.path.is_dir() else bundle.path.parent
    folder = folder.resolve()
    return folder.parent.name if folder.name == "memory" else folder.name
