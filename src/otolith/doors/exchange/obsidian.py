"""An Obsidian vault, or any folder of Markdown files: one note a file, one link a wikilink.

A wikilink names a file by its path, by its bare name or by an alias, in that order; one that names nothing is
left out. The vault's own settings and its trash are never read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from otolith.doors.exchange.bundle import Bundle
from otolith.doors.exchange.items import Finding, Found, LinkItem, NoteItem, stamp, tags, words
from otolith.doors.exchange.markdown import Page, find_links, find_tags, parse_page
from otolith.errors import Invalid

SOURCE = "obsidian"
_MAX_NOTE = 5 << 20


def fits(bundle: Bundle) -> bool:
    """Whether it is a vault, or at least a folder or zip with Markdown in it."""
    return (".obsidian" in bundle.folders or ((len(bundle.names) > 1 or bundle.path.is_dir())
                                              and bool(_files(bundle))))


def read(bundle: Bundle) -> Iterator[Found]:
    files = _files(bundle)
    if not files and ".obsidian" not in bundle.folders:
        raise Invalid(f"{bundle.path.name} holds no Markdown files")
    links: list[tuple[str, str, str]] = []
    handles: dict[str, str] = {}
    for name in files:
        try:
            page = parse_page(words(bundle.text(name, _MAX_NOTE)))
        except Invalid as error:
            yield Finding(where=name, message=error.message)
            continue
        if page.broken:
            yield Finding(where=name, line=1, message=page.broken)
        note = _note(bundle, name, page)
        for handle in _handles(name, page):
            handles.setdefault(handle, note.key)
        yield note
        links += ((note.key, target, context) for target, context in find_links(page.body))
    for start, target, context in links:
        end = handles.get(target.casefold()) or handles.get(target.casefold().removesuffix(".md"))
        if end and end != start:
            yield LinkItem(key=f"{start} -> {end}", source=SOURCE, start=start, type="RELATED_TO", end=end,
                           context=context)


def _files(bundle: Bundle) -> list[str]:
    hidden = (".obsidian", ".trash", ".git")
    return [name for name in bundle.names if name.casefold().endswith(".md")
            and not set(hidden) & set(name.split("/"))]


def _note(bundle: Bundle, name: str, page: Page) -> NoteItem:
    front = page.front
    title = words(front.get("title")).strip() or PurePosixPath(name).stem
    return NoteItem(key=f"{SOURCE}:{bundle.label}/{name}", source=SOURCE, title=title,
                    text=page.body.strip() or title,
                    tags=tags([*tags(front.get("tags") or front.get("tag")), *find_tags(page.body)]),
                    created=stamp(front.get("created")) or stamp(front.get("date")))


def _handles(name: str, page: Page) -> list[str]:
    """What a wikilink may call this file."""
    whole = name.casefold().removesuffix(".md")
    aliases = page.front.get("aliases") or page.front.get("alias")
    return [whole, whole.rpartition("/")[2], *(alias.casefold() for alias in tags(aliases))]
