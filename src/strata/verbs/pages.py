"""Pages: plain files below memories/, for agents that think in files. Nothing else of the home can be reached through them.

A page is named by its path below memories/: at most 20 segments, none hidden, none pointing upward; at most 100 kB.
Deleting is forgetting: the page goes to the archive.
"""

from __future__ import annotations

from collections.abc import Iterator

from strata.errors import Conflict, Invalid, NotFound
from strata.home import Home, Loaded
from strata.index import read
from strata.model.note import Page

MAX_BYTES = 100_000
MAX_SEGMENTS = 20
FOLDER = "memories/"


def check_page(name: str) -> str:
    """A page's or folder's path below memories/, without a slash at either end."""
    parts = [part for part in name.strip("/").split("/") if part]
    if len(parts) > MAX_SEGMENTS:
        raise Invalid(f"{name[:80]!r} has more than {MAX_SEGMENTS} segments")
    for part in parts:
        if part in (".", "..") or part.startswith(".") or "\\" in part or len(part.encode("utf-8", "replace")) > 200:
            raise Invalid(f"{part[:80]!r} cannot be part of a page's name")
        if not part.isprintable() or part != part.strip():
            raise Invalid(f"{part[:80]!r} cannot be part of a page's name")
    return "/".join(parts)


def find_page(home: Home, name: str) -> Loaded | None:
    """The page as its file has it now, or None."""
    path = FOLDER + name
    if home.tree.look(path) is None:
        return None
    home.touch([path])
    row = read.find(home.db, name)
    if row is None or row.unit != path:
        home.refresh([path])
    try:
        return home.load(name)
    except NotFound:
        return None


def pages_below(home: Home, folder: str = "") -> Iterator[tuple[str, int]]:
    """(name, size) of the pages in a folder and below, sorted."""
    home.ensure_fresh()
    start = FOLDER + (f"{folder}/" if folder else "")
    rows = home.db.execute("SELECT unit FROM records WHERE kind = 'page' AND substr(unit, 1, ?) = ? ORDER BY unit",
                           (len(start), start))
    for (unit,) in rows.fetchall():
        token = home.tree.look(unit)
        if token is not None:
            yield unit.removeprefix(FOLDER), token.size


def write_page(home: Home, name: str, text: str, before: Loaded | None = None) -> Page:
    """Create a page, or write the new text over the one that was read."""
    if not name:
        raise Invalid("a page needs a name")
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise Invalid(f"a page may have {MAX_BYTES:,} bytes; {name} would have more", "split it into several pages")
    if before is not None:
        changed: Page = home.change(before, before.record.replace(text=text), verb="page")
        return changed
    if any(True for _ in pages_below(home, name)):
        raise Conflict(f"{name} is a folder")
    page = Page(id=name, created_at=home.clock(), text=text)
    home.create(page, verb="page")
    return page


def move_page(home: Home, name: str, to: str) -> None:
    """Give a page another name."""
    loaded = find_page(home, name)
    if loaded is None:
        raise NotFound(f"no page {name!r}")
    home.move(loaded.path, FOLDER + to, loaded.record)


def forget_page(home: Home, name: str) -> None:
    """Put a page into the archive."""
    loaded = find_page(home, name)
    if loaded is None:
        raise NotFound(f"no page {name!r}")
    home.put_away(loaded.record, [loaded.path])
