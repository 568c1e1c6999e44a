"""Verbs called by name with JSON values, as MCP and REST do: what they take and answer, as JSON Schema.

Everything comes from the table of verbs; nested objects have the fields of their own Shape. `call` checks the
arguments against the row, runs the method of Memory and returns plain JSON values, whole and unfenced. A few
verbs act differently here: repeating is safe where the verb would complain that the thing is done already,
and nobody but a person vouches for what came from outside. Nothing here knows a protocol.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from math import isfinite
from typing import TYPE_CHECKING, Any

from otolith.errors import Conflict, Invalid, NotFound
from otolith.verbs.table import Door, Param, Verb, choices_of, in_model, table

if TYPE_CHECKING:
    from otolith.memory import Memory

MAX_TEXT = 1 << 20  # what one call may bring, in characters
PAGE = 50  # rows of an answer, as those of `list`
FIXED = ("id", "kind", "origin", "trust", "pinned", "metadata")  # set by the door, or by verbs of their own
Schema = Mapping[str, Any]
TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}
WORDS: Schema = {"type": "array", "items": TEXT}
_LIST: Schema = {"type": "array"}
_SCHEMAS: dict[str, Schema] = {
    "text": TEXT, "id": TEXT, "file": TEXT, "time": TEXT, "number": {"type": "number"}, "count": COUNT,
    "flag": FLAG, "words": WORDS, "tags": WORDS, "some": WORDS, "object": {"type": "object"},
    "objects": _LIST, "dialog": {"type": ["string", "array"]}}


def _gives(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


# What a verb answers at the agents' doors; `text` is always fenced.
ANSWERS: dict[str, Schema] = {
    "record": _gives(id=TEXT, kind=TEXT), "hits": _gives(enough=FLAG, hits=_LIST, text=TEXT),
    "hit": _gives(id=TEXT, kind=TEXT, text=TEXT), "items": _gives(total=COUNT, text=TEXT),
    "text": _gives(text=TEXT), "facts": {"type": "object"}}


# What a verb takes


def offered(door: Door, which: str = "all") -> list[Verb]:
    """The verbs of a door: all, or the core."""
    if which not in ("all", "core"):
        raise Invalid(f"unknown set of tools {which!r}", "use all or core")
    return [row for row in table().values() if door in row.doors and (which == "all" or row.core)]


def call_name(row: Verb) -> str:
    """The verb's name where a hyphen may not stand."""
    return row.name.replace("-", "_")


def find(rows: Sequence[Verb], name: str) -> Verb:
    for row in rows:
        if call_name(row) == name:
            return row
    raise NotFound(f"unknown tool {name[:60]!r}", f"there are {', '.join(map(call_name, rows))}")


def description(row: Verb) -> str:
    return f"{row.help[:1].upper()}{row.help[1:]}." + (f" {row.agents}" if row.agents else "")


def takes(row: Verb, door: Door) -> dict[str, Schema]:
    """Each argument of a verb at a door, as JSON Schema; whatever writes also takes an idempotency key."""
    schemas = {param.json_name: _schema(param, door) for param in row.at(door)}
    return schemas if row.only_reads(door) else {**schemas, "key": TEXT}


def needs(row: Verb, door: Door) -> list[str]:
    return [param.json_name for param in row.at(door) if param.required or door in param.needed]


def input_schema(row: Verb, door: Door) -> dict[str, Any]:
    schema = {"type": "object", "properties": takes(row, door), "additionalProperties": False}
    return {**schema, "required": needed} if (needed := needs(row, door)) else schema


def _schema(param: Param, door: Door) -> Schema:
    words = choices_of(param) if not param.open else ()
    if param.shape:
        shape, many = in_model(param.shape), param.type == "objects"
        inner = shape_schema(shape) if door != "mcp" else _outline(shape, words=not many)
        return {"type": "array", "items": inner} if many else inner
    if param.type == "some" and door == "mcp":
        return TEXT  # one is enough for an agent, and costs it fewer tokens
    return {"enum": list(words)} if words and param.type == "text" else _SCHEMAS[param.type]


def shape_schema(shape: Any) -> Schema:
    """The fields of a Shape; others are taken, too, and kept."""
    fields = {name: field for name, field in shape._fields.items() if name != "extra"}
    required = [name for name, field in fields.items() if field.required]
    properties = {name: _form_schema(field.form) for name, field in fields.items()}
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _form_schema(form: Any) -> Schema:
    if isinstance(form, list):
        return {"type": "array", "items": _form_schema(form[0])}
    if isinstance(form, tuple):
        return {"enum": list(form)}
    if isinstance(form, str):
        return {"type": form}
    return {} if form is None else shape_schema(form)


def _outline(shape: Any, *, words: bool) -> Schema:
    """The same for an agent, who pays for every token: the fields' names, which are lists, and the words that
    it must choose from; what is wrong with a value, the answer says.
    """
    properties: dict[str, Schema] = {}
    for name, field in shape._fields.items():
        if name != "extra":
            chosen = words and field.required and isinstance(field.form, tuple)
            listed = _LIST if isinstance(field.form, list) else {}
            properties[name] = _form_schema(field.form) if chosen else listed
    return {"type": "object", "properties": properties}


# Calling it


def call(mem: Memory, row: Verb, door: Door, arguments: Mapping[str, Any]) -> Any:
    """Run a verb; the same key again is answered as the first time."""
    given = check_arguments(row, door, arguments)
    key = given.get("key")
    if key is None or row.keyed:
        return plain(mem, _act(mem, row, door, given))
    del given["key"]
    return once(mem, call_name(row), key, given, lambda: plain(mem, _act(mem, row, door, dict(given))))


def check_arguments(row: Verb, door: Door, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the row allows them, else Invalid; null counts as not given."""
    schemas, name = takes(row, door), call_name(row)
    given = {argument: value for argument, value in arguments.items() if value is not None}
    for argument in given:
        if argument not in schemas:
            raise Invalid(f"{name} does not take {argument[:60]!r}",
                          f"it takes {', '.join(schemas) or 'nothing'}")
    for argument in needs(row, door):
        if argument not in given:
            raise Invalid(f"{name} needs {argument!r}", f"it takes {', '.join(schemas)}")
    for argument, value in given.items():
        _check(argument, value, schemas[argument])
    if not row.roomy and _size(given) > MAX_TEXT:
        raise Invalid(f"{name} was given more than {MAX_TEXT >> 10} thousand characters",
                      "split it into several calls")
    return {argument: _writable(value) for argument, value in given.items()}


_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float),
                                       "boolean": (bool,), "array": (list,), "object": (dict,)}


def _check(name: str, value: Any, schema: Schema) -> None:
    """Types and words of the arguments themselves; what a Shape holds is checked by the Shape."""
    if "enum" in schema and value not in schema["enum"]:
        raise Invalid(f"{name} cannot be {str(value)[:60]!r}", f"use one of {', '.join(schema['enum'])}")
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(isinstance(value, _TYPES[type])
                         and (type == "boolean" or not isinstance(value, bool)) for type in types):
        raise Invalid(f"{name} must be of type {' or '.join(types)}; got {value.__class__.__name__}")
    if schema.get("items") == TEXT and isinstance(value, list):
        for at, item in enumerate(value):
            _check(f"{name}[{at}]", item, TEXT)


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(len(str(key)) + _size(inner) for key, inner in value.items())
    return sum(map(_size, value)) if isinstance(value, list) else 8


def _writable(value: Any) -> Any:
    """Halves of surrogate pairs, which JSON may hold and UTF-8 may not, as replacement characters."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_writable(key): _writable(inner) for key, inner in value.items()}
    return [_writable(item) for item in value] if isinstance(value, list) else value


def _act(mem: Memory, row: Verb, door: Door, given: dict[str, Any]) -> Any:
    names = {param.json_name: param.name for param in row.at(door)}
    arguments = {names.get(name, name): value for name, value in given.items()}
    act = _ACTS.get(row.name)
    return act(mem, arguments) if act else getattr(mem, row.python)(**arguments)


# Idempotency keys for verbs that have none of their own. What was answered is kept in one append-only file
# under log/, by verb and key, with a fingerprint of the arguments. A key is honoured on the machine that saw
# it, where a retry comes from.


def once(mem: Memory, verb: str, key: str, given: Mapping[str, Any], act: Callable[[], Any]) -> Any:
    """The answer kept under a key, or the act's own, which is kept."""
    from otolith.files import ledger

    home = mem.home
    path = f"log/keys-{home.machine}.jsonl"
    fingerprint = sha256(json.dumps(given, sort_keys=True, default=str).encode()).hexdigest()[:16]
    with home.tree.lock():
        for _, line in ledger.read_log(home.tree, path):
            if line and line.get("verb") == verb and line.get("key") == key:
                if line.get("given") != fingerprint:
                    raise Conflict(f"the key {key[:60]!r} was used for another {verb}", "use a fresh key")
                return line.get("answer")
        answer = act()
        ledger.append_line(home.tree, path, {"verb": verb, "key": key, "given": fingerprint,
                                             "answer": _short(answer)})
    return answer


def _short(answer: Any) -> Any:
    """What a repeated call needs to know; the record itself is in the home."""
    if isinstance(answer, dict):
        return {name: value for name, value in answer.items() if name != "record"}
    if isinstance(answer, list):
        return [_short(item) for item in answer]
    return answer if isinstance(answer, str | int | float | bool) or answer is None else None


# Verbs that act differently here


def _edit(mem: Memory, given: dict[str, Any]) -> Any:
    for name in FIXED:
        if name in given["changes"]:
            raise Invalid(f"{name} cannot be changed", "change the record's own fields")
    return mem.edit(given["id"], given["changes"])


def _link(mem: Memory, given: dict[str, Any]) -> Any:
    link = mem.link(**given)
    return {"id": link.edge_id or link.source, "kind": "link", "link": link.type, "from": link.source,
            "to": link.target}


def _unlink(mem: Memory, given: dict[str, Any]) -> Any:
    mem.unlink(**given)
    return {"id": given["source"], "kind": "link"}


def _pin(mem: Memory, given: dict[str, Any]) -> Any:
    if not given.get("pinned", True):
        return _placed(mem, mem.unpin(given["id"]))
    _vouch(mem, given["id"], "pin")
    return _placed(mem, mem.pin(given["id"]))


def _placed(mem: Memory, id: str) -> dict[str, Any]:
    """What a writer answers: which record, of which kind, and where it lies now, be it in the archive."""
    row = mem.home.index.cards.find(id)
    if row is not None:
        return {"id": row.id, "kind": row.kind, "path": row.unit}
    for card in reversed(mem.home.index.cards.archived(id)):
        return {"id": id, "kind": card.kind, "path": card.path}
    return {"id": id, "kind": "", "path": ""}


def _review(mem: Memory, given: dict[str, Any]) -> Any:
    _vouch(mem, given["fact"], "review")
    if given.pop("undo", False):
        given["score"] = None
    return mem.review(**given)


def _vouch(mem: Memory, id: str, verb: str) -> None:
    """What came from outside is vouched for by a person, never by an agent that may have read it."""
    from otolith.verbs.steps import locate

    row = locate(mem.home, id)
    if mem.home.trust != "user" and row.trust == "outside":
        raise Invalid(f"{row.id} came from outside; only a person can vouch for it",
                      f"ask them to run: otolith {verb} {row.id}")


def _done(verb: str, complaint: str) -> Callable[[Memory, dict[str, Any]], Any]:
    """A verb that complains if the thing is done already: here that is an answer as good as any."""

    def act(mem: Memory, given: dict[str, Any]) -> Any:
        try:
            value = getattr(mem, verb)(**given)
        except (NotFound, Invalid) as error:
            if complaint not in error.message:
                raise
            value = given["id"]
        return _placed(mem, value) if isinstance(value, str) else value

    return act


def _episode(mem: Memory, given: dict[str, Any]) -> Any:
    from otolith.verbs.notes import episode

    path = episode(mem.home, given.pop("heading"), **given)
    block = max(mem.home.index.cards.in_unit(path), key=lambda row: (row.created, row.n), default=None)
    return {"id": block.id if block else path, "kind": "episode", "path": path}


def _paged(verb: str) -> Callable[[Memory, dict[str, Any]], Any]:
    """A verb that answers everything, as a page of it and how many there are."""

    def act(mem: Memory, given: dict[str, Any]) -> Any:
        from otolith.model.recall import check_counts

        limit, offset = given.pop("limit", PAGE), given.pop("offset", 0)
        check_counts(limit=limit, offset=offset)
        rows = list(getattr(mem, verb)(**given))
        return rows[offset : offset + limit], len(rows)

    return act


def _parts(values: Sequence[Any]) -> list[dict[str, Any]]:
    return [value._asdict() for value in values]


def _import(mem: Memory, given: dict[str, Any]) -> Any:
    from otolith.doors.exchange.dropped import take

    return take(mem, **given)


def _forget(mem: Memory, given: dict[str, Any]) -> Any:
    if given.get("about") is not None:
        return mem.forget(about=given["about"], yes=bool(given.get("yes")))
    if not given.get("id"):
        raise Invalid("forget needs 'id' or 'about'")
    return _done("forget", "is forgotten")(mem, given)


_ACTS: dict[str, Callable[[Memory, dict[str, Any]], Any]] = {
    "edit": _edit, "link": _link, "unlink": _unlink, "pin": _pin, "review": _review, "episode": _episode,
    "import": _import, "forget": _forget, "restore": _done("restore", "is not forgotten"),
    "facts": _paged("facts"), "tags": _paged("tags"),
    "check": lambda mem, given: {"findings": _parts(mem.check(**given))},
    "sync": lambda mem, given: _parts(mem.sync(**given)),
    "decay": lambda mem, _: [dict(zip(("id", "uses", "last", "score"), row, strict=True))
                             for row in mem.decay()]}


# What it answers


def plain(mem: Memory, value: Any) -> Any:
    """A verb's result as JSON values, which know no infinity: records in the shape every door answers."""
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(mem, inner) for key, inner in value.items()}
    if hasattr(value, "_fields") and not hasattr(value, "to_dict"):  # an answer made of named parts
        parts = {name: getattr(value, name) for name in value._fields}
        return plain(mem, {**parts, **({"text": value.text} if hasattr(value, "text") else {})})
    pair = isinstance(value, tuple) and len(value) == 2
    if pair and isinstance(value[0], list) and isinstance(value[1], int):
        return {"items": plain(mem, value[0]), "total": value[1]}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(mem, item) for item in value]
    if hasattr(value, "kind") and hasattr(value, "id"):
        return _record(mem, value)
    return plain(mem, value.to_dict()) if hasattr(value, "to_dict") else str(value)


def _record(mem: Memory, value: Any) -> Any:
    from otolith.files.codec import public
    from otolith.model.recall import Hit

    if isinstance(value, Hit):
        return value.to_dict()
    row = mem.home.index.cards.find(value.id)
    return {"id": value.id, "kind": value.kind, "path": row.unit if row else "", "record": public(value)}
