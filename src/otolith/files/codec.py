"""Between bytes and records: what a unit of the home holds, and how a record is written or rewritten.

A unit is a file, or an entry's folder. Reading one gives records, or Damaged with the file's flaw; nothing
here writes. JSON is pretty-printed UTF-8 with two spaces; unknown keys and their order survive a rewrite.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from otolith.errors import BrokenIndex, Damaged, Invalid, NotFound
from otolith.files import front, ledger, markdown
from otolith.files.paths import ENTRY_FILES, PART, check_path, first_name, former_kind, may_be_entry
from otolith.files.tree import MAX_BYTES, Hand, Tree
from otolith.model.ids import time_of_entry
from otolith.model.kinds import KINDS, Kind, origin_of
from otolith.model.record import TRUST, Finding, Origin, Version, credit
from otolith.model.text import check_whole
from otolith.model.times import time_or_none, zulu

# Our own schema names. A higher version than the reader knows is refused; a missing or foreign one is read.
SCHEMAS = {"entry_meta": 1, "entry_summary": 1, "topic_memory": 1, "global_memory": 1, "work_memory": 1,
           "agent": 1, "chapter": 1, "wisdom": 1, "link": 1, "curation": 1}
# The one place of compatibility: a schema id no longer written → what turns its object into the next version.
UPGRADES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {}

# what a value may make a reader stumble over: a number of 5,000 digits, a year 99999, lists a thousand deep
STUMBLES = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_LONG = re.compile(r"\d{4300}")
_NUL = b"\\u0000"
_Files = Mapping[str, tuple[Version, bytes]]


def read_unit(tree: Tree, unit: str) -> tuple[list[Any], dict[str, tuple[Version, bytes]]]:
    """The records of a unit, and for each file read its version and bytes.

    Units are named by the home and by the index; one that no home can have, by a damaged index only.
    """
    try:
        check_path(unit)
    except Invalid as error:
        raise BrokenIndex(f"the index is damaged ({error.message})", "try: otolith reindex") from None
    if may_be_entry(unit) and tree.look(unit) is None:
        return _read_entry(tree, unit)
    data, version = tree.read(unit)
    records = decode(unit, data, written(tree, unit))
    return credited(records, tree.hands(unit)), {unit: (version, data)}


def credited(records: list[Any], hands: Sequence[Hand]) -> list[Any]:
    """The records with what the medium knows of who wrote them; a file's own word on that is worth less."""
    return [_credited(record, least(hands)) for record in records] if hands else records


def least(hands: Sequence[Hand]) -> Hand:
    """The least trusted of those who had a hand in something."""
    return max(hands, key=lambda hand: TRUST.index(hand.trust))


def _credited(record: Any, hand: Hand) -> Any:
    row = KINDS[record.kind]
    if row.members:  # built from what anybody in the space did
        return record.replace(trust=credit(record.trust or "user", "peer"))
    if row.origin in ("", "trust"):
        return record
    holder = record if row.origin == "origin" else getattr(record, row.origin)
    own = holder.origin or Origin()
    marked = holder.replace(origin=own.replace(trust=credit(own.trust, hand.trust), space=hand.space,
                                               principal=hand.principal or None))
    return marked if holder is record else record.replace(**{row.origin: marked})


def written(tree: Tree, *paths: str) -> Callable[[], float]:
    """When the latest of these was written; asked only for a record that has no time of its own."""
    return lambda: max((measure.written for measure in map(tree.measure, paths) if measure), default=0.0)


def decode(path: str, data: bytes, modified: Callable[[], float]) -> list[Any]:
    """The records in one file's bytes; a forgotten file is read as what it was where it came from."""
    kind = former_kind(path)
    if path.startswith("archive/"):
        path = first_name(path.removeprefix("archive/"))
    try:
        records = _records(kind, path, data, modified)
        for record in records:
            float(record.created)  # a time that is none is found here, not by whoever sorts by it
        return records
    except Invalid as error:
        raise Damaged(error.message, error.hint or "fix the value", flaw="invalid",
                      line=_line_of(data, error)) from None
    except STUMBLES as error:
        raise odd(error) from None


def _records(kind: str, path: str, data: bytes, modified: Callable[[], float]) -> list[Any]:
    codec = KINDS[kind].codec if kind in KINDS else "none"
    if codec == "front":
        return [markdown.read_front(kind, path, data, modified)]
    if codec == "header":
        return [markdown.read_memo(path, data, modified)]
    if codec == "json":
        fields = read_object(unzip(path, data))
        if (schema := KINDS[kind].schema) and _is_own(fields, schema):
            del fields["schema"]  # says how to read the file, not what is in it
        return [KINDS[kind].shape.from_dict(fields)]
    if codec == "diary":
        return list(markdown.read_episodes(path, data))
    if codec == "raw":
        text = markdown.text_of(data)
        return [KINDS[kind].shape(id=path.split("/", 1)[1], created_at=modified(), text=text)]
    raise Damaged("is not a record", flaw="unknown")


def odd(error: Exception) -> Damaged:
    """A file with a value that nobody foresaw."""
    what = " ".join(str(error).split())[:200]
    return Damaged(f"cannot be read: {type(error).__name__}: {what}", "fix or remove the value", flaw="odd")


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


def zip_again(path: str, data: bytes) -> bytes:
    """Bytes as the file of that name holds them: packed where it is a cold record's."""
    if not path.endswith(".gz"):
        return data
    import gzip

    return gzip.compress(data, mtime=0)


def _read_entry(tree: Tree, unit: str) -> tuple[list[Any], dict[str, tuple[Version, bytes]]]:
    from otolith.model.dialog import Entry, Turn
    from otolith.model.turns import read_turns

    files: dict[str, tuple[Version, bytes]] = {}
    for name in ENTRY_FILES:
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
        turns: list[Turn] = read_turns(raw, meta.roles)
        entry = Entry(meta=meta, raw=raw, summary=summary, turns=turns, flaws=flaws or None)
        return credited([entry], [hand for path in files for hand in tree.hands(path)]), files
    except Invalid as error:
        raise Damaged(error.message, error.hint, flaw="invalid") from None
    except STUMBLES as error:
        raise odd(error) from None


def _entry_part(path: str, files: _Files, flaws: list[Finding]) -> dict[str, Any]:
    """One of an entry's JSON files; one that cannot be read is a flaw and does not hide the others."""
    try:
        return read_object(files[path][1]) if path in files else {}
    except Damaged as error:
        flaws.append(Finding(path, error.line, error.flaw, error.message, error.hint or "fix the file"))
        return {}


def _report(flaws: list[Finding], path: str, files: _Files, wrong: list[Invalid]) -> None:
    for error in wrong if path in files else ():
        line = _line_of(files[path][1], error)
        flaws.append(Finding(path, line, "invalid", error.message, error.hint or "fix the value"))


def _entry_meta(unit: str, files: _Files, own: dict[str, Any], newest: Callable[[], float],
                flaws: list[Finding]) -> Any:
    """What meta.json says, as far as it can be taken; the folder's name and the time in it say the rest."""
    from otolith.model.dialog import EntryMeta

    path, entry_id = f"{unit}/meta.json", own["entry_id"]
    fields = _entry_part(path, files, flaws)
    if fields.get("entry_id", entry_id) != entry_id:
        flaws.append(Finding(path, None, "id-mismatch", f"names another entry, {fields['entry_id']!r}",
                             "the folder's name counts; fix the value"))
    wrong = []
    when = fields.get("entry_ts", "")
    if when != "" and (not isinstance(when, str) or time_or_none(when) is None):
        wrong, when = [Invalid(f"entry_ts is not a time: {when!r}", "write 2026-02-10T21:37:00Z")], ""
    when = when or time_of_entry(entry_id) or zulu(newest())
    meta, more = EntryMeta.salvage({**fields, **own, "entry_ts": when})
    _report(flaws, path, files, [*wrong, *more])
    if meta is None:
        raise more[-1]
    return meta


def _entry_summary(unit: str, files: _Files, entry_id: str, flaws: list[Finding]) -> Any:
    """What summary.json says, as far as it can be taken: an invalid fact leaves the others alone."""
    from otolith.model.dialog import EntrySummary, Fact

    path = f"{unit}/summary.json"
    if path not in files and f"{unit}/{PART}" not in files:
        return None
    if path in files:
        fields = _entry_part(path, files, flaws)
    else:
        path = f"{unit}/{PART}"
        fields = read_part(files[path][1])
    wrong: list[Invalid] = []
    if isinstance(fields.get("facts"), list):
        taken = [Fact.salvage(given, f"facts[{at}]") for at, given in enumerate(fields["facts"])]
        fields = {**fields, "facts": [fact for fact, _ in taken if fact]}
        wrong = [error for _, errors in taken for error in errors]
    summary, more = EntrySummary.salvage({**fields, "entry_id": entry_id})
    _report(flaws, path, files, [*wrong, *more])
    return summary


def read_part(data: bytes) -> dict[str, Any]:
    """What was drawn so far from a session that runs, as its summary would say it; a torn line is passed
    over, for what it says is told again.
    """
    lines = [line for _, line in ledger.read_lines(data) if line]
    lists: dict[str, list[Any]] = {"facts": [], "turn_keys": []}
    for line in lines:
        for key, values in lists.items():
            values += line[key] if isinstance(line.get(key), list) else []
    makers = [line["made_by"] for line in lines if isinstance(line.get("made_by"), str)]
    return {"schema": "entry_summary.v1", **({"made_by": makers[-1]} if makers else {}), **lists}


def encode(record: Any) -> bytes:
    """A new record's file; what could not be read back is refused."""
    made = _readable(_encode, record)
    if _NUL in made:  # escaped it would be read back, and break the next file it is copied to
        check_whole(record.to_dict())
    return made


def amend(data: bytes, old: Any, new: Any, path: str = "") -> bytes:
    """The record's file rewritten for a new value, all else in it kept; what could not be read is refused."""
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
    codec = KINDS[record.kind].codec
    if codec == "front":
        return markdown.write_front(record)
    if codec == "header":
        return markdown.write_memo(record)
    return str(record.text).encode() if codec == "raw" else write_object(
        _named(KINDS[record.kind], record.to_dict()))


def _named(row: Kind, fields: Mapping[str, Any]) -> dict[str, Any]:
    """A new file's object with the id of its schema at its head."""
    return {"schema": row.schema, **fields} if row.schema else dict(fields)


def _is_own(fields: Mapping[str, Any], schema: str) -> bool:
    return str(fields.get("schema")).rpartition(".v")[0] == schema.rpartition(".v")[0]


def without_schema(data: bytes) -> bytes:
    """A JSON file as versions wrote it that put no schema id into it; it is not rewritten for that."""
    return write_object({key: value for key, value in read_object(data).items() if key != "schema"})


def _amend(data: bytes, old: Any, new: Any, path: str) -> bytes:
    codec = KINDS[new.kind].codec
    if codec == "front":
        fields = markdown.front_fields(old), markdown.front_fields(new)
        return markdown.amend(data, *fields, old.text, new.text)
    if codec == "header":
        return markdown.amend_memo(data, old, new)
    if codec == "raw":
        return str(new.text).encode()
    before, row = read_object(plain := unzip(path, data)), KINDS[new.kind]
    own = {"schema": before["schema"]} if row.schema and _is_own(before, row.schema) else {}
    fields = new.to_dict()
    if is_credited(old):
        fields = _lay_changes(before, old.to_dict(), fields)
    return zip_again(path, amend_object(plain, {**own, **fields}))


def is_credited(record: Any) -> bool:
    """Whether it says of its writer what its file does not."""
    return getattr(origin_of(record), "space", None) is not None or getattr(record, "trust", None) == "peer"


def _lay_changes(before: Any, old: Any, new: Any) -> Any:
    """What a file held, with what became another between two values of its record."""
    if not all(isinstance(value, Mapping) for value in (before, old, new)):
        return before if old == new else new
    laid = {key: _lay_changes(before.get(key), old.get(key), value) if key in old else value
            for key, value in new.items()}
    return {key: value for key, value in laid.items() if key in before or old.get(key) != new[key]}


def public(record: Any) -> dict[str, Any]:
    """A record as its file says it: the JSON, or the front matter and the text."""
    codec = KINDS[record.kind].codec
    if codec == "front":
        pinned = {"pinned": record.pinned} if "pinned" in record._fields else {}
        return {**markdown.front_fields(record), **pinned, "text": record.text}
    fields: dict[str, Any] = record.to_dict()
    if codec == "header":
        fields["created"] = fields.pop("created_at")
    return fields


def files_of(row: Kind, path: str, record: Mapping[str, Any]) -> dict[str, bytes]:
    """The files of a unit from what `public` says of its record: an export's line becomes what it was."""
    codec = row.codec
    if codec == "front":
        fields = {key: value for key, value in record.items() if key not in ("text", "pinned")}
        return {path: f"{front.emit(fields)}\n{record.get('text', '')}\n".encode()}
    if codec == "header":
        return {path: markdown.write_memo(row.shape.from_dict({**record, "created_at": record["created"]}))}
    if codec == "raw":
        return {path: str(record["text"]).encode()}
    if codec == "folder":
        raw = {f"{path}/raw.md": str(record.get("raw", "")).encode()}
        return raw | {f"{path}/{name}.json": write_object(record[name]) for name in ("meta", "summary")
                      if isinstance(record.get(name), Mapping)}
    return {path: zip_again(path, write_object(_named(row, record)))} if codec == "json" else {}


# JSON


def read_object(data: bytes) -> dict[str, Any]:
    """The one object a file holds."""
    text = markdown.text_of(data).removeprefix("\ufeff")
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        what = "is empty" if not text.strip() else f"is not JSON: {error.msg}"
        raise Damaged(what, "restore it from a backup or fix it", flaw="json", line=error.lineno) from None
    except RecursionError:
        raise Damaged("is nested too deeply", flaw="json", line=1) from None
    except ValueError as error:  # a number of more digits than Python reads
        line = 1 + text.count("\n", 0, digits.start()) if (digits := _LONG.search(text)) else 1
        raise Damaged(f"holds a number that cannot be read: {str(error).split(';')[0]}", "shorten the number",
                      flaw="json", line=line) from None
    if not isinstance(value, dict):
        raise Damaged("is not a JSON object", flaw="json", line=1)
    escaped = re.search(r"\\u[dD][89a-fA-F]", text)
    if escaped and (half := re.search("[\ud800-\udfff]", json.dumps(value, ensure_ascii=False))):
        raise Damaged(f"holds half a character (\\u{ord(half[0]):04x})", "complete or remove it",
                      flaw="encoding", line=1)
    check_schema(value)
    return _current(value)


def _current(value: dict[str, Any]) -> dict[str, Any]:
    """The object in today's shape, whatever version its file has."""
    seen: set[str] = set()
    while (schema := str(value.get("schema"))) in UPGRADES and schema not in seen:
        seen.add(schema)
        value = UPGRADES[schema](value)
    return value


def check_schema(value: Mapping[str, Any]) -> None:
    """Refuse what a newer Otolith wrote; everything else is read by shape."""
    schema = value.get("schema")
    if not isinstance(schema, str):
        return
    name, _, version = schema.rpartition(".v")
    if name in SCHEMAS and version.isdecimal() and int(version[:9]) > SCHEMAS[name]:
        raise Damaged(f"has schema {schema}, newer than this Otolith reads ({name}.v{SCHEMAS[name]})",
                      "update Otolith; the file was left alone", flaw="newer-schema", line=1)


def foreign_schema(value: Mapping[str, Any], expected: str) -> str | None:
    """What is odd about a file's schema id, if anything; such a file is read all the same."""
    schema = value.get("schema")
    if schema is None:
        return f"has no schema id; read as {expected}"
    name = str(schema).rpartition(".v")[0]
    own = name == expected.rpartition(".v")[0]
    return None if own else f"has the foreign schema id {schema!r}; read as {expected}"


def write_object(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def amend_object(data: bytes, value: Mapping[str, Any]) -> bytes:
    """The file with the new values laid over the old object, key by key, in the old order."""
    before = read_object(data)
    return write_object(_lay(before, value))


def _lay(before: Any, after: Any) -> Any:
    if not isinstance(before, dict) or not isinstance(after, Mapping):
        return after
    kept = {key: _lay(value, after[key]) for key, value in before.items() if key in after}
    return kept | {key: value for key, value in after.items() if key not in kept}
