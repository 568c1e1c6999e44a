"""Between bytes and records: what a unit of the home holds, and how a record is written or rewritten.

A unit is a file, or an entry's folder. Reading one gives records, or Damaged with the file's flaw; nothing here writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from otolith.errors import Damaged, Invalid, NotFound
from otolith.files import jsonform, markdown
from otolith.files.paths import first_name, kind_of, may_be_entry
from otolith.files.tree import MAX_BYTES, Tree
from otolith.model.finding import Finding, Version
from otolith.model.ids import time_of_entry
from otolith.model.text import check_whole
from otolith.model.times import time_or_none, zulu

_JSON = {"chunk": ("chunk", "Chunk"), "work": ("work", "Work"), "agent": ("work", "Agent"), "chapter": ("work", "Chapter"),
         "wisdom": ("work", "Wisdom"), "topic": ("dialog", "Topic"), "global": ("dialog", "GlobalMemory")}
_MARKDOWN: dict[str, Callable[[str, bytes, Callable[[], float]], Any]] = {
    "note": markdown.read_note, "edge": markdown.read_edge, "memo": markdown.read_memo}

_NUL = b"\\u0000"
_Files = Mapping[str, tuple[Version, bytes]]


def shape_of(kind: str) -> Any:
    """The class of a kind kept as JSON; loaded when first asked for."""
    module, name = _JSON[kind]
    return getattr(import_module(f"otolith.model.{module}"), name)


def read_unit(tree: Tree, unit: str) -> tuple[list[Any], dict[str, tuple[Version, bytes]]]:
    """The records of a unit, and for each file read its version and bytes."""
    if may_be_entry(unit) and tree.look(unit) is None:
        return _read_entry(tree, unit)
    data, version = tree.read(unit)
    return decode(unit, data, written(tree, unit)), {unit: (version, data)}


def written(tree: Tree, *paths: str) -> Callable[[], float]:
    """When the latest of these was written; asked only for a record that has no time of its own."""
    return lambda: max((measure.written for measure in map(tree.measure, paths) if measure), default=0.0)


def decode(path: str, data: bytes, modified: Callable[[], float]) -> list[Any]:
    """The records in one file's bytes; a forgotten file is read as what it was where it came from."""
    kind = "chunk" if path.startswith("archive/chunk-") else kind_of(path.removeprefix("archive/"))
    if path.startswith("archive/"):
        path = first_name(path.removeprefix("archive/"))
    try:
        if kind in _MARKDOWN:
            return [_MARKDOWN[kind](path, data, modified)]
        if kind in _JSON:
            return [shape_of(kind).from_dict(jsonform.read_object(unzip(path, data)))]
        if kind == "episode":
            return list(markdown.read_episodes(path, data))
        if kind == "page":
            return [_page(path, data, modified)]
    except Invalid as error:
        raise Damaged(error.message, error.hint or "mend the value", flaw="invalid", line=_line_of(data, error)) from None
    raise Damaged("is no record", flaw="unknown")


def _line_of(data: bytes, error: Invalid) -> int | None:
    """The line of the key that the complaint begins with."""
    key = error.message.split(" ")[0].split(".")[-1].split("[")[0]
    for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
        if key and line.lstrip('\t "*-').startswith((f"{key}:", f'{key}":')):
            return number
    return None


def unzip(path: str, data: bytes) -> bytes:
    """A cold record's bytes unpacked, never more than a file may hold; any other's as they are."""
    if not path.endswith(".gz"):
        return data
    import zlib

    try:
        stream = zlib.decompressobj(wbits=31)
        plain = stream.decompress(data, MAX_BYTES)
    except zlib.error as error:
        raise Damaged(f"is not gzip: {error}", flaw="gzip") from None
    if not stream.eof:
        raise Damaged("is cut short or too large", flaw="gzip")
    return plain


def _page(path: str, data: bytes, modified: Callable[[], float]) -> Any:
    from otolith.model.note import Page

    return Page(id=path.removeprefix("memories/"), created_at=modified(), text=markdown.text_of(data))


def _read_entry(tree: Tree, unit: str) -> tuple[list[Any], dict[str, tuple[Version, bytes]]]:
    from otolith.model.dialog import Entry, Turn
    from otolith.model.turns import read_turns

    files: dict[str, tuple[Version, bytes]] = {}
    for name in ("raw.md", "meta.json", "summary.json"):
        try:
            files[f"{unit}/{name}"] = tree.read(f"{unit}/{name}")[::-1]
        except NotFound:
            continue
    if not files:
        raise NotFound(f"no entry {unit}")
    topic, entry_id = unit.split("/")[-2:]
    flaws: list[Finding] = []
    try:
        raw = markdown.text_of(files[f"{unit}/raw.md"][1]) if f"{unit}/raw.md" in files else ""
        meta = _entry_meta(unit, files, {"entry_id": entry_id, "topic": topic}, written(tree, *files), flaws)
        summary = _entry_summary(unit, files, entry_id, flaws)
    except Invalid as error:
        raise Damaged(error.message, error.hint, flaw="invalid") from None
    turns: list[Turn] = read_turns(raw, meta.roles)
    return [Entry(meta=meta, raw=raw, summary=summary, turns=turns, flaws=flaws or None)], files


def _entry_part(path: str, files: _Files, flaws: list[Finding]) -> dict[str, Any]:
    """One of an entry's JSON files; what cannot be read is told and hides neither the turns nor the other file."""
    try:
        return jsonform.read_object(files[path][1]) if path in files else {}
    except Damaged as error:
        flaws.append(Finding(path, error.line, error.flaw, error.message, error.hint or "mend the file"))
        return {}


def _tell(flaws: list[Finding], path: str, files: _Files, wrong: list[Invalid]) -> None:
    flaws += [Finding(path, _line_of(files[path][1], error), "invalid", error.message, error.hint or "mend the value")
              for error in wrong if path in files]


def _entry_meta(unit: str, files: _Files, own: dict[str, Any], newest: Callable[[], float],
                flaws: list[Finding]) -> Any:
    """What meta.json says, as far as it can be taken; the folder's name and the time in it say the rest."""
    from otolith.model.dialog import EntryMeta

    path, entry_id = f"{unit}/meta.json", own["entry_id"]
    fields = _entry_part(path, files, flaws)
    if fields.get("entry_id", entry_id) != entry_id:
        flaws.append(Finding(path, None, "id-mismatch", f"names another entry, {fields['entry_id']!r}",
                             "the folder's name counts; mend the value"))
    wrong = []
    when = fields.get("entry_ts", "")
    if when != "" and (not isinstance(when, str) or time_or_none(when) is None):
        wrong, when = [Invalid(f"entry_ts is not a time: {when!r}", "write 2026-02-10T21:37:00Z")], ""
    meta, more = EntryMeta.salvage({**fields, **own, "entry_ts": when or time_of_entry(entry_id) or zulu(newest())})
    _tell(flaws, path, files, [*wrong, *more])
    if meta is None:
        raise more[-1]
    return meta


def _entry_summary(unit: str, files: _Files, entry_id: str, flaws: list[Finding]) -> Any:
    """What summary.json says, as far as it can be taken: a fact that is no good leaves the others alone."""
    from otolith.model.dialog import EntrySummary, Fact

    path = f"{unit}/summary.json"
    if path not in files:
        return None
    fields = _entry_part(path, files, flaws)
    wrong: list[Invalid] = []
    if isinstance(fields.get("facts"), list):
        taken = [Fact.salvage(one, f"facts[{at}]") for at, one in enumerate(fields["facts"])]
        fields = {**fields, "facts": [fact for fact, _ in taken if fact]}
        wrong = [error for _, told in taken for error in told]
    summary, more = EntrySummary.salvage({**fields, "entry_id": entry_id})
    _tell(flaws, path, files, [*wrong, *more])
    return summary


def encode(record: Any) -> bytes:
    """A new record's file; what could not be read back is refused."""
    made = _readable(_encode, record)
    if _NUL in made:  # escaped it would be read back, and break the next file it is copied to
        check_whole(record.to_dict())
    return made


def amend(data: bytes, old: Any, new: Any, path: str = "") -> bytes:
    """The record's file rewritten for a new value, with everything else in it kept; what could not be read is refused."""
    made = _readable(_amend, data, old, new, path)
    if _NUL in made and _NUL not in data:
        check_whole(new.to_dict())
    return made


def _readable(make: Callable[..., bytes], *given: Any) -> bytes:
    """What `make` makes, unless it is text that a reader would refuse."""
    try:
        made = make(*given)
        if not made.startswith(b"\x1f\x8b"):
            markdown.text_of(made)
    except UnicodeEncodeError as error:
        check_whole(error.object)
        raise
    except ValueError as error:  # JSON knows no NaN
        raise Invalid(f"the record cannot be written: {error}") from None
    except Damaged as error:
        raise Invalid(f"the text {error.message}", error.hint) from None
    return made


def _encode(record: Any) -> bytes:
    if record.kind == "note":
        return markdown.write_note(record)
    if record.kind == "edge":
        return markdown.write_edge(record)
    if record.kind == "memo":
        return markdown.write_memo(record)
    if record.kind == "page":
        return str(record.text).encode()
    return jsonform.write_object(record.to_dict())


def _amend(data: bytes, old: Any, new: Any, path: str) -> bytes:
    if new.kind == "note":
        return markdown.amend(data, markdown.note_fields(old), markdown.note_fields(new), old.text, new.text)
    if new.kind == "edge":
        return markdown.amend(data, markdown.edge_fields(old), markdown.edge_fields(new), old.text, new.text)
    if new.kind == "memo":
        return markdown.amend_memo(data, old, new)
    if new.kind == "page":
        return str(new.text).encode()
    if path.endswith(".gz"):
        import gzip

        return gzip.compress(jsonform.amend_object(unzip(path, data), new.to_dict()), mtime=0)
    return jsonform.amend_object(data, new.to_dict())


def public(record: Any) -> dict[str, Any]:
    """A record as its file says it: the JSON, or the front matter and the text."""
    if record.kind == "note":
        return {**markdown.note_fields(record), "pinned": record.pinned, "text": record.text}
    if record.kind == "edge":
        return {**markdown.edge_fields(record), "text": record.text}
    fields: dict[str, Any] = record.to_dict()
    if record.kind == "memo":
        fields["created"] = fields.pop("created_at")
    return fields
