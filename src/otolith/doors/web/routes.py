"""REST's table: every verb as a route, told to programs as an OpenAPI document.

The rows are those of the agents' table and a few that only people and programs need. A verb that reads is a
GET with its arguments in the query; one that writes is a POST with a JSON body. A record is also a resource
of its own, with an ETag.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from otolith import __version__
from otolith.doors import calls
from otolith.doors.calls import COUNT, FLAG, TEXT, WORDS, Schema
from otolith.errors import Invalid, OtolithError
from otolith.verbs.table import Verb

API = "/api"
VIEWS: dict[str, dict[str, Schema]] = {"today": {}, "review": {"topic": TEXT, "limit": COUNT}, "health": {},
    "graph": {"kind": WORDS, "type": WORDS, "tags": WORDS, "project": TEXT, "since": TEXT, "before": TEXT,
              "as_of": TEXT, "around": TEXT, "limit": COUNT},
    "timeline": {"at": TEXT, "kind": WORDS, "limit": COUNT, "offset": COUNT},
    "record": {"id": TEXT, "again": FLAG}, "forgotten": {},}


def path_of(row: Verb) -> str:
    return f"{API}/{row.name}"


def read_query(schemas: Mapping[str, Schema], pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """A query's words as the values its schemas want; a name given twice is a list or a mistake."""
    given: dict[str, Any] = {}
    for name, value in pairs:
        schema = schemas.get(name)
        if schema is None:
            raise Invalid(f"unknown argument {name[:60]!r}", f"it takes {', '.join(schemas) or 'nothing'}")
        if schema.get("type") == "array":
            given.setdefault(name, []).append(value)
        elif name in given:
            raise Invalid(f"{name} is given twice")
        else:
            given[name] = _read_word(name, value, schema)
    return given


def _read_word(name: str, value: str, schema: Schema) -> Any:
    wanted = schema.get("type", "string")
    try:
        if wanted == "integer":
            return int(value)
        if wanted == "number":
            return float(value)
    except ValueError:
        raise Invalid(f"{name} must be a number; got {value[:60]!r}") from None
    if wanted == "boolean":
        if value not in ("true", "false", "1", "0"):
            raise Invalid(f"{name} must be true or false; got {value[:60]!r}")
        return value in ("true", "1")
    return value


def shape(row: Verb, value: Any) -> Any:
    """An answer as REST gives it: lists as items and total, texts as text, the rest as it is."""
    if isinstance(value, list):
        return {"items": value, "total": len(value)}
    if isinstance(value, str):
        return {"id": value} if row.gives == "record" else {"text": value}
    return {} if value is None else value


# The OpenAPI document

_ERROR: Schema = {"type": "object", "required": ["error"],
    "properties": {"error": {"type": "object", "required": ["code", "message", "hint"],
                             "properties": {"code": TEXT, "message": TEXT, "hint": TEXT}}},}
_BODY: Schema = {"application/json": {"schema": {"type": "object"}}}
_KEY = {"name": "Idempotency-Key", "in": "header", "required": False,
        "schema": {"type": "string", "maxLength": 200},
        "description": "the same key again is answered as the first time"}
_ID = {"name": "id", "in": "path", "required": True, "schema": TEXT}


def describe() -> dict[str, Any]:
    """The OpenAPI document."""
    paths: dict[str, Any] = {}
    for row in calls.offered("rest"):
        paths[path_of(row)] = {"get": _reading(row)} if row.only_reads("rest") else {"post": _writing(row)}
    for name, takes in VIEWS.items():
        paths[f"{API}/views/{name}"] = {"get": _operation(f"view_{name}",
                                                          f"What the page shows under {name}.",
                                                          parameters=[_query(key, schema, key == "id")
                                                                      for key, schema in takes.items()])}
    paths[f"{API}/records/{{id}}"] = _record_resource()
    paths[f"{API}/events"] = {"get": {
        "operationId": "events", "summary": "Changes and progress as server-sent events.",
        "responses": {"200": {"description": "a stream without end",
                              "content": {"text/event-stream": {"schema": TEXT}}},
                      "default": {"$ref": "#/components/responses/error"}}}}
    return {"openapi": "3.1.0", "info": {"title": "Otolith", "version": __version__,
                 "description": "One local-first memory for AI agents."},
        "security": [{"token": []}], "paths": paths, "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}, "schemas": {"error": _ERROR},
            "responses": {"error": {"description": "what is wrong, and what to do: " + _statuses(),
                                    "content": {"application/json": {
                                        "schema": {"$ref": "#/components/schemas/error"}}}}},},}


def _statuses() -> str:
    kinds: list[type[OtolithError]] = [OtolithError, *OtolithError.__subclasses__()]
    return ", ".join(f"{kind.http_status} {kind.code}" for kind in kinds)


def _query(name: str, schema: Schema, required: bool) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "schema": dict(schema)}


def _operation(name: str, says: str, **more: Any) -> dict[str, Any]:
    return {"operationId": name, "summary": says, **more,
            "responses": {"200": {"description": "done", "content": _BODY},
                          "default": {"$ref": "#/components/responses/error"}}}


def _reading(row: Verb) -> dict[str, Any]:
    return _operation(calls.call_name(row), calls.description(row),
                      parameters=[_query(name, schema, name in calls.needs(row, "rest"))
                                                        for name, schema in calls.takes(row, "rest").items()])


def _writing(row: Verb) -> dict[str, Any]:
    return _operation(calls.call_name(row), calls.description(row), parameters=[_KEY],
                      requestBody={"required": True,
                                   "content": {"application/json": {"schema": calls.input_schema(row,
                                                                                                 "rest")}}})


def _record_resource() -> dict[str, Any]:
    match = {"name": "If-Match", "in": "header", "required": True, "schema": TEXT,
             "description": "the ETag of what was read; * for whatever is there"}
    return {"get": _operation("read_record", "One record, with an ETag.",
                          parameters=[_ID, _query("depth", TEXT, False)]),
        "patch": _operation("change_record",
                            "Change fields of a record, if it is still the one that was read.",
                            parameters=[_ID, match, _KEY], requestBody={"required": True,
                                         "content": {"application/json": {"schema": {"type": "object"}}}}),
        "delete": _operation("forget_record", "Put a record into the archive.", parameters=[_ID, _KEY]),}
