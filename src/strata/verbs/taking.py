"""Taking over what another home or another system wrote: the record as it is, marked as coming from outside.

A file keeps its name and everything in it but its origin. What only a person of this home may say does not come along:
pins and scores. What is already here stays; another file under the same name is a Conflict and nothing is overwritten.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from strata.errors import Conflict, Invalid
from strata.files import codec, ledger, paths
from strata.files.jsonform import read_object, write_object
from strata.home import Home
from strata.model.record import Link, Origin
from strata.model.times import parse_time, zulu
from strata.verbs.editing import own_place
from strata.verbs.finding import Named, bytes_of
from strata.verbs.links import standing, write_line

OUTSIDE = "outside"
PAGES = "memories/imported/"


def take_file(home: Home, path: str, data: bytes) -> str | None:
    """Take one file of a foreign home over; the path it got, or None if it was here already."""
    kind = paths.kind_of(path.removeprefix("archive/")) or ("chunk" if path.startswith("archive/chunk-") else "")
    if kind == "page" and not path.startswith(PAGES):
        path = PAGES + path.removeprefix("memories/")
    if kind in ("page", "episode"):
        return _put(home, path, data)
    if kind == "entry":
        raise Invalid(f"{path} is a part of an entry", "take the whole entry")
    record = codec.decode(path, data, home.clock())[0]
    marked = mark_outside(home, record)
    new = codec.amend(data, record, marked, path)
    if kind == "note" and path.startswith("vault/"):
        path = own_place(marked.replace(pinned=False), record, path)
    return _put(home, path, new)


def mark_outside(home: Home, record: Any) -> Any:
    """The record with an origin that says where it comes from; who wrote it there is kept."""
    if record.kind in ("chapter", "wisdom"):
        return record.replace(trust=OUTSIDE)
    if record.kind == "chunk":
        return record.replace(metadata=record.metadata.replace(origin=_origin(home, record.metadata.origin)))
    return record.replace(origin=_origin(home, record.origin)) if hasattr(record, "origin") else record


def _origin(home: Home, before: Origin | None) -> Origin:
    return before.replace(trust=OUTSIDE) if before else home.origin(trust=OUTSIDE)


def take_entry(home: Home, folder: str, files: Mapping[str, bytes]) -> str | None:
    """Take a logged dialog over: its words, its summary, and meta.json with an origin from outside."""
    _, topic, entry = folder.split("/")
    meta = read_object(files["meta.json"]) if "meta.json" in files else {}
    if "raw.md" not in files and "meta.json" not in files:
        raise Invalid(f"{folder} is no entry: it has neither raw.md nor meta.json")
    told: dict[str, Any] = meta["origin"] if isinstance(meta.get("origin"), dict) else home.origin().to_dict()
    meta = {"entry_id": entry, "entry_ts": _stamp(home, entry), **meta, "topic": topic, "origin": {**told, "trust": OUTSIDE}}
    wanted = {"raw.md": files.get("raw.md"), "meta.json": write_object(meta)}
    if "summary.json" in files:
        summary = read_object(files["summary.json"])
        facts = [{**fact, "trust": OUTSIDE} for fact in summary.get("facts", ()) if isinstance(fact, dict)]
        wanted["summary.json"] = write_object({**summary, "facts": facts})
    missing = {path: data for name, data in wanted.items()
               if data is not None and bytes_of(home, path := f"{folder}/{name}") != data}
    if not missing:
        return None
    with home.tree.lock():
        for path, data in missing.items():
            home.tree.write(path, data)
        home.refresh([folder])
    return folder


def _stamp(home: Home, entry: str) -> str:
    """The time in an entry's id, else now."""
    try:
        return zulu(parse_time(entry.split("_")[1]))
    except (Invalid, IndexError):
        return zulu(home.clock())


def take_links(home: Home, data: bytes) -> int:
    """Lines of a foreign links.jsonl between records that are here now; pins are this home's own affair."""
    taken = 0
    for _, line in ledger.read_lines(data):
        if not line or line.get("op") != "add" or line.get("type") == "pinned":
            continue
        link = Link(source=str(line.get("from")), type=str(line.get("type")), target=str(line.get("to")),
                    strength=line.get("strength"), context=line.get("context"), origin={"trust": OUTSIDE})
        if not standing(home, link.source, link.type, link.target):
            write_line(home, "add", link)
            taken += 1
    return taken


def take_record(home: Home, record: Any) -> bool:
    """Take a record over that comes without a file of ours; False if it was here already."""
    marked = mark_outside(home, record)
    path = paths.place(marked)
    if home.tree.look(path) is not None:
        known = codec.decode(path, home.tree.read(path)[0], home.clock())[0]
        if known.to_dict() != marked.to_dict():
            raise Conflict(f"another {marked.kind} is kept as {marked.id}")
        return False
    home.create(marked, verb="took", origin=home.origin(trust=OUTSIDE))
    return True


def _put(home: Home, path: str, data: bytes) -> str | None:
    if bytes_of(home, path) == data:
        return None
    with home.tree.lock():
        if home.tree.look(path):
            raise Conflict(f"{path} is here already and says something else")
        home.tree.write(path, data)
        home.refresh([paths.unit_of(path)])
        home.audit("took", Named(paths.kind_of(path), path), "", home.origin(trust=OUTSIDE))
    return path
