"""`note`; the diary: the block that every note brings, blocks by hand (`episode`), reading a day; and pages.

Pages are plain files below memories/, for agents that think in files. Nothing else of the home can be
reached through them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from otolith.errors import Conflict, Invalid, NotFound
from otolith.files import ledger, paths
from otolith.home import Home, Loaded
from otolith.model.note import IMPORTED, Episode, Note, Page
from otolith.model.shape import NOTHING, read_strings, read_tags
from otolith.model.times import day, offset
from otolith.verbs.steps import check_text, derived_id, diary_of, each, under_key

MAX_BYTES = 100_000
MAX_SEGMENTS = 20
FOLDER = "memories/"


def note(home: Home, title: str, text: str = "", *, type: str = "general", tags: Sequence[str] = (),
         importance: float = 0.5, confidence: float = 0.8, steps: Sequence[str] | None = None,
         preconditions: Sequence[str] | None = None, postconditions: Sequence[str] | None = None,
         aliases: Sequence[str] | None = None, agent: str | None = None, project: str | None = None,
         session: str | None = None, created: Any = None, key: str | None = None,
         more: Mapping[str, Any] = NOTHING) -> Note:
    """Keep a note; the same key again returns the same note. `more` are further keys, for imports."""
    when = offset(home.moment(created))
    made = Note(
        id=derived_id(home, "note", key), type=type, title=title, text=check_text(text, "text").strip("\n"),
        tags=read_tags(tags), importance=importance, confidence=confidence, created_at=when, updated_at=when,
        origin=home.origin(agent=agent, project=project, session=session),
        steps=_lines(steps, "steps"), preconditions=_lines(preconditions, "preconditions"),
        postconditions=_lines(postconditions, "postconditions"), aliases=_lines(aliases, "aliases"),
        extra=more)
    with home.writing():
        made, row = under_key(home, made, "note", key) if key is not None else (made, None)
        if row:
            same: Note = home.load(row.id).record
            if (same.title, same.text, same.type, same.tags) != (made.title, made.text, made.type, made.tags):
                raise Conflict(f"another note was kept under the key {key!r}: {row.id}",
                               "use another key, or edit that note")
            return same
        path = home.create(made, verb="note", origin=made.origin)
        diary_of(home, made, path, made.text)
    return made


def _lines(value: Sequence[str] | None, name: str) -> tuple[str, ...] | None:
    return None if value is None else read_strings(value, name)


def episode(home: Home, heading: str, *, type: str = "diary", tags: Sequence[str] = (),
            summary: str = "") -> str:
    """Append a block to today's diary; returns its file."""
    if not heading.strip():
        raise Invalid("an episode needs a title")
    words = [" ".join(tag.split()) for tag in read_tags(tags)]
    home.settle()
    path = ledger.append_episode(home.tree, home.clock(), heading, kind=" ".join(type.split()) or "diary",
                                 tags=words, summary=summary or heading, synced=True)
    home.warn_of_secrets("episode", [heading, summary])
    home.refresh([path])
    return path


def read_diary(home: Home, date: str | None = None) -> list[dict[str, Any]]:
    """A day's blocks in order, each with the note it led to, wherever that lies now."""
    path = paths.episode_file(day(home.moment(date, "date")))
    try:
        blocks: list[Episode] = home.read(path)[0]
    except NotFound:
        return []
    return [{"id": block.id, "time": block.time, "title": block.heading, "type": block.type,
             "tags": list(block.tags), "memory": _memory_of(home, block), "summary": block.summary}
            for block in blocks]


def pointers(home: Home) -> Iterator[tuple[str, Episode]]:
    """The diary's blocks that only point to a record, each with its file."""
    diaries = home.index.notes.documents("episodes/")
    return ((path, block) for path, block in each(home, diaries) if block.points)


def _memory_of(home: Home, block: Episode) -> str | None:
    """The note a block links to: by its path, else by the id in the file's name, also if it was merged."""
    path = re.search(r"\]\(\.\./([^)]+)\)", block.memory or "")
    if path is None:
        return None
    index, begins = home.index, re.search(r"-([0-9a-f]{6})\.md$", path[1])
    if rows := index.cards.in_unit(paths.unit_of(path[1])):
        return rows[0].id
    if begins is None:
        return None
    note, gone = index.notes.beginning(begins[1])
    merged = index.graph.merged_into(gone) if gone and not note else None
    return merged.id if merged else note


# Pages

def check_page(name: str) -> str:
    """A page's or folder's path below memories/, without a slash at either end.

    Nothing hidden, nothing that points upward.
    """
    parts = [part for part in name.split("/") if part]
    if len(parts) > MAX_SEGMENTS:
        raise Invalid(f"{name[:80]!r} has more than {MAX_SEGMENTS} segments")
    for part in parts:
        if part.startswith(".") or "\\" in part or not part.isprintable() or part != part.strip() \
                or len(part.encode("utf-8", "replace")) > 200:
            raise Invalid(f"{part[:80]!r} cannot be part of a page's name")
    return "/".join(parts)


def find_page(home: Home, name: str) -> Loaded | None:
    """The page as its file has it now, or None."""
    path = FOLDER + name
    if home.tree.look(path) is None:
        return None
    home.touch([path])
    row = home.index.cards.find(name)
    if row is None or row.unit != path:
        home.refresh([path])
    try:
        return home.load(name)
    except NotFound:
        return None


def pages_below(home: Home, folder: str = "") -> Iterator[tuple[str, int]]:
    """(name, size) of the pages in a folder and below, sorted."""
    home.ensure_fresh()
    start = f"{folder}/" if folder else ""
    for name in sorted(home.index.notes.ids_of([Page.kind])):  # a page's id is its path below the folder
        measure = home.tree.measure(FOLDER + name) if name.startswith(start) else None
        if measure is not None:
            yield name, measure.size


def write_page(home: Home, name: str, text: str, before: Loaded | None = None) -> Page:
    """Create a page, or write the new text over the one that was read."""
    if not name:
        raise Invalid("a page needs a name")
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise Invalid(f"a page may have {MAX_BYTES:,} bytes; {name} would have more",
                      "split it into several pages")
    if before is not None:
        changed: Page = home.change(before, before.record.replace(text=text), verb="page")
        return changed
    if any(True for _ in pages_below(home, name)):
        raise Conflict(f"{name} is a folder")
    page = Page(id=name, created_at=home.clock(), text=text)
    home.create(page, verb="page")
    return page


def move_page(home: Home, name: str, to: str) -> None:
    """Rename a page; its folder says whether it came from outside, so none leaves or enters that one."""
    if f"{name}/".startswith(IMPORTED) != f"{to}/".startswith(IMPORTED):
        raise Invalid(f"{name} cannot become {to}: pages below {IMPORTED} came from outside, and only those "
                      "are there", "write a page of your own")
    loaded = _page(home, name)
    home.move_all({loaded.path: FOLDER + to}, "moved", loaded.record)


def forget_page(home: Home, name: str) -> None:
    """Put a page into the archive."""
    loaded = _page(home, name)
    home.put_away(loaded.record, [loaded.path])


def _page(home: Home, name: str) -> Loaded:
    page = find_page(home, name)
    if page is None:
        raise NotFound(f"no page {name!r}")
    return page
