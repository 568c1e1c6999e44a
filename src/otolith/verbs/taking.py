"""Taking over what another home or another system wrote: the record as it is, marked as coming from outside.

A file keeps its name and everything in it but its origin. What only a person of this home may say does not
come along: pins and scores. What is already here stays; another file under the same name is a Conflict and
nothing is overwritten.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otolith.errors import Conflict, Damaged, Invalid, NotFound
from otolith.files import codec, ledger, paths
from otolith.files.codec import read_object, write_object
from otolith.home import Home, Named
from otolith.model.kinds import KINDS, origin_of
from otolith.model.mine import OUTSIDE
from otolith.model.record import Finding, Link
from otolith.model.text import check_whole
from otolith.model.times import parse_time, zulu
from otolith.verbs.editing import own_place
from otolith.verbs.links import check_ends, standing, write_line
from otolith.verbs.steps import bytes_of

PAGES = "memories/imported/"


def take_file(home: Home, path: str, data: bytes) -> str | None:
    """Take one file of a foreign home over; the path it got, or None if it was here already."""
    kind = KINDS.get(paths.former_kind(path))
    if kind and kind.codec == "folder":
        raise Invalid(f"{path} is a part of an entry", "take the whole entry")
    if kind and kind.codec == "diary":
        return _put(home, path, data, path)
    if kind and kind.codec == "raw":
        name = path.removeprefix("memories/").removeprefix("imported/")
        return _put(home, PAGES + name, data, f"imported/{name}")
    record = codec.decode(path, data, home.clock)[0]
    marked = mark_outside(home, record, _brought_by(home, path))
    if kind and kind.pin == "vault" and path.startswith("vault/"):
        return _put(home, own_place(marked.replace(pinned=False), record, path),
                    codec.amend(data, record, marked, path), record.id)
    return _put(home, path, codec.amend(data, record, marked, path), record.id)


def _brought_by(home: Home, path: str) -> str | None:
    """The import that brought what lies there, else the one that runs: what comes again is the same."""
    try:
        held = codec.read_unit(home.tree, path)[0][0]
    except (NotFound, Damaged, IndexError):
        return home.run
    return getattr(origin_of(held), "run", None)


def mark_outside(home: Home, record: Any, run: str | None = None) -> Any:
    """The record with an origin that says where it comes from; who wrote it there is kept."""
    place = KINDS[record.kind].origin
    if place in ("", "trust"):
        return record.replace(trust=OUTSIDE) if place else record
    holder = record if place == "origin" else getattr(record, place)
    marked = holder.replace(origin=(holder.origin or home.origin()).replace(trust=OUTSIDE, run=run))
    return marked if holder is record else record.replace(**{place: marked})


def take_entry(home: Home, folder: str, files: Mapping[str, bytes]) -> str | None:
    """Take a logged dialog over: its words, its summary, and meta.json with an origin from outside."""
    _, topic, entry = folder.split("/")
    meta = read_object(files["meta.json"]) if "meta.json" in files else {}
    if "raw.md" not in files and "meta.json" not in files:
        raise Invalid(f"{folder} is not an entry: it has neither raw.md nor meta.json")
    told: dict[str, Any] = meta["origin"] if isinstance(meta.get("origin"), dict) else home.origin().to_dict()
    run = _brought_by(home, folder)
    meta = {"entry_id": entry, "entry_ts": _stamp(home, entry), **meta, "topic": topic,
            "origin": {**told, "trust": OUTSIDE, **({"run": run} if run else {})}}
    wanted = {"raw.md": files.get("raw.md"), "meta.json": write_object(meta)}
    if "summary.json" in files or paths.PART in files:
        summary = (read_object(files["summary.json"]) if "summary.json" in files
                   else {"entry_id": entry, **codec.read_part(files[paths.PART])})
        facts = [{**fact, "trust": OUTSIDE} for fact in summary.get("facts", ()) if isinstance(fact, dict)]
        wanted["summary.json"] = write_object({**summary, "facts": facts})
    missing = {path: data for name, data in wanted.items()
               if data is not None and bytes_of(home, path := f"{folder}/{name}") != data}
    if not missing:
        return None
    with home.writing():
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


def take_links(home: Home, data: bytes) -> tuple[int, list[Finding]]:
    """How many links were taken of those that stand in a foreign links.jsonl, and which lines are no good
    here.

    Both records must be here now and the link such as `link` makes. Pins and merges are each home's own
    affair.
    """
    there: dict[tuple[str, str, str], tuple[int, Link]] = {}
    findings: list[Finding] = []
    taken = 0
    for number, _, line in ledger.replay(data):
        try:
            made = _foreign_link(line)
        except Invalid as error:
            findings.append(_bad_line(number, error))
            continue
        if line and line.get("op", "add") == "remove":
            there.pop(made.canonical(), None)
        elif made.type.lower() not in ("pinned", "merged_into"):
            there[made.canonical()] = number, made
    for number, made in there.values():
        try:
            made = check_ends(home, made)
        except (Invalid, NotFound) as error:
            findings.append(_bad_line(number, error))
            continue
        if not standing(home, made.source, made.type, made.target):
            write_line(home, "add", made)
            taken += 1
    return taken, findings


def _foreign_link(line: Mapping[str, Any] | None) -> Link:
    if line is None:
        raise Invalid("it is not a JSON object")
    check_whole(line)
    names = {"from": "source", "type": "type", "to": "target", "strength": "strength", "context": "context"}
    made = {names[key]: value for key, value in line.items() if key in names}
    created = None if line.get("created") is None else parse_time(line["created"], "created")
    return Link.from_dict({**made, "created": created, "origin": {"trust": OUTSIDE}})


def _bad_line(number: int, error: Invalid | NotFound) -> Finding:
    return Finding(paths.LINKS, number, "line", f"is not a link for this home: {error.message}", error.hint
                   or "fix or remove the line")


def take_record(home: Home, record: Any) -> bool:
    """Take a record over that comes without a file of ours; False if it was here already."""
    path = paths.place(record)
    marked = mark_outside(home, record, _brought_by(home, path))
    if home.tree.look(path) is not None:
        known = codec.decode(path, home.tree.read(path)[0], home.clock)[0]
        if known.to_dict() != marked.to_dict():
            raise Conflict(f"another {marked.kind} is kept as {marked.id}")
        return False
    home.create(marked, verb="took", origin=home.origin(trust=OUTSIDE))
    return True


def _put(home: Home, path: str, data: bytes, record: str) -> str | None:
    if bytes_of(home, path) == data:
        return None
    with home.writing():
        if home.tree.look(path):
            raise Conflict(f"{path} is here already and says something else")
        home.tree.write(path, data)
        home.refresh([paths.unit_of(path)])
        home.audit("took", Named(paths.kind_of(path), record), "", home.origin(trust=OUTSIDE))
    return path
