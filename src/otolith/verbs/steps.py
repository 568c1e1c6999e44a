"""The steps that verbs share, the lowest module of this room: it imports no other verb, and every verb may
import it.

From a handle to its record (`locate`, `fetch`), files as records or bytes (`each`, `bytes_of`), ids and keys
(`derived_id`, `under_key`), a line in the diary (`diary`), a change that must get through (`insist`). A step
that two families of verbs need belongs here, or in the lower one of the two: links → work → dialogs →
editing → memos, edges, merging, taking → reports → purge. No module imports one above it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from otolith.errors import CannotWrite, Conflict, Damaged, Invalid, NotFound
from otolith.files import codec, ledger, paths
from otolith.files.tree import fingerprint
from otolith.home import Home
from otolith.index.database import Row
from otolith.model.ids import check_id, derived_uuid, slug
from otolith.model.text import first_sentence, fold
from otolith.units import shown

if TYPE_CHECKING:
    from otolith.model.dialog import Fact

T = TypeVar("T")
TRIES = 8


def locate(home: Home, handle: str, *, follow: bool = True) -> Row:
    """The one record a handle means: an id, a unique beginning of one, a title, an alias, a memo's name.

    A note that was merged into another is found there, unless `follow` is False: then only a record's own id,
    title, name
    or path will do, for what is about to be removed must be just what was named.
    """
    row = _locate(home, handle, follow)
    if not follow and not (row.id.startswith(handle) or row.unit == handle
                           or fold(handle) in (fold(row.title), fold(row.id.replace("_", " ")))):
        raise NotFound(f"no record {handle[:80]!r}; it is another name of {row.id} ({row.title[:40]})",
                       f"if you mean that one, give its id: {row.id}")
    return row


def _locate(home: Home, handle: str, follow: bool) -> Row:
    if not isinstance(handle, str) or not handle.strip():
        raise Invalid("an id is missing")
    rows = home.index.cards.resolve(handle)
    if not rows:
        if "/" in handle:
            rows = _by_path(home, handle)
        home.ensure_fresh()
        rows = rows or home.index.cards.resolve(handle)
    elif home.touch([rows[0].unit]):
        rows = home.index.cards.resolve(handle)
    if len(rows) > 1:
        some = ", ".join(f"{row.id} ({' '.join(row.title[:40].split())})" for row in rows[:5])
        raise Invalid(f"{handle!r} could be {len(rows)} records: {some}", "give more of the id")
    if not rows:
        gone = home.index.cards.archived(handle)
        merged = home.index.graph.merged_into(handle) if follow else None
        if merged:
            return merged
        if gone:
            raise NotFound(f"{handle!r} is forgotten", f"bring it back with: otolith restore {handle}")
        raise NotFound(f"no record {handle[:80]!r}", "look with: otolith recall WORDS, or otolith list")
    return rows[0]


def _by_path(home: Home, handle: str) -> list[Row]:
    """A record named by its file's path inside the home."""
    if "../" in handle or handle.endswith("/..") or handle.startswith("/"):
        check_id(handle)  # says what is wrong with it
    return home.index.cards.in_unit(handle)


def fetch(home: Home, row: Row) -> Any:
    """The record itself, straight from its file, with its links to what is here."""
    if row.kind == "fact":
        return fact_record(home, row)
    for record in home.read(row.unit)[0]:
        if record.id == row.id:
            return shown(home.index, record)
    raise NotFound(f"{row.unit} no longer holds {row.id}", "try: otolith sync")


def each(home: Home, units: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """(unit, record) of these units; a file that cannot be read now is check's business."""
    for unit in units:
        try:
            records = codec.read_unit(home.tree, unit)[0]
        except (Damaged, NotFound):
            continue
        for record in records:
            yield unit, record


def bytes_of(home: Home, path: str) -> bytes | None:
    """What a file holds; None if there is none that can be read."""
    try:
        return home.tree.read(path)[0]
    except (Damaged, NotFound):
        return None


def insist(change: Callable[[], T]) -> T:
    """A change that reads a file and writes it: read once more when somebody saved the file in between."""
    for _ in range(TRIES - 1):
        with suppress(Conflict):
            return change()
    return change()


def fact_record(home: Home, row: Row) -> Fact:
    """A fact as it stands, with its evidence and what people said about it."""
    home.touch([f"topics/{row.topic}/curation.jsonl"])
    found = home.index.facts.of(row.id)
    if found is None:
        raise NotFound(f"no entry states {row.id} any more", "try: otolith sync")
    return found


def check_text(value: Any, where: str) -> str:
    """A string, before anything is done with it."""
    if not isinstance(value, str):
        raise Invalid(f"{where} must be text, not {value!r:.40}")
    return value


def lay(before: Any, after: Any) -> Any:
    """One JSON value over another: objects key by key, everything else as given."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return {**before, **{key: lay(before.get(key), value) for key, value in after.items()}}
    return after


def diary(home: Home, heading: str, *, kind: str, tags: Sequence[str], memory: str | None,
          summary: str) -> None:
    """A line in the diary; its failure never undoes what is safe on disk."""
    try:
        ledger.append_episode(home.tree, home.clock(), heading, kind=kind, tags=tags, memory=memory,
                              summary=summary)
    except CannotWrite as error:
        home.notices.append(str(error))


def diary_of(home: Home, record: Any, path: str, says: str = "") -> None:
    """The line in the day's diary of a record that was just kept, with a link to its file."""
    diary(home, record.title, kind=record.type, tags=record.tags,
          memory=f"[{slug(record.title)}](../{path})", summary=first_sentence(says, 200) or record.title)


def derived_id(home: Home, verb: str, key: str | None) -> str:
    """A fresh UUID, or the one that a key always gives in this home."""
    if key is None:
        made = home.new_id()
        return f"{made[:8]}-{made[8:12]}-{made[12:16]}-{made[16:20]}-{made[20:]}"
    return derived_uuid(home.config.home_id, verb, key)


def under_key(home: Home, made: Any, verb: str, key: str, prefix: str = "") -> tuple[Any, Row | None]:
    """A record with the id its key gives in this home, and what was kept under that key, also before the home
    had an id.
    """
    home.settle()
    made = made.replace(id=prefix + derived_id(home, verb, key))
    early = prefix + derived_uuid("", verb, key)
    return made, kept_before(home, made) or home.index.cards.find(early)


def kept_before(home: Home, made: Any) -> Row | None:
    """What has a new record's id already; a writer that was killed may have left its file unknown to the
    index.
    """
    row = home.index.cards.find(made.id)
    if row is None and (data := bytes_of(home, path := paths.place(made))):
        home.tree.write(path, data, fingerprint(data))  # nobody acknowledged it: now it is synced
        home.refresh([path])
        row = home.index.cards.find(made.id)
    return row
