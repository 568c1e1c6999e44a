"""Every verb as a route of REST, and all routes as an OpenAPI document, made from the table of verbs.

A verb that reads is a GET with its arguments in the query; one that writes is a POST with a JSON body. A
record is also a resource of its own, with an ETag.
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
_PAGED = {"limit": COUNT, "offset": COUNT}
_FILTERS = {"kind": WORDS, "type": WORDS, "tags": WORDS, "topic": TEXT, "project": TEXT, "since": TEXT,
            "before": TEXT}
VIEWS: dict[str, dict[str, Schema]] = {
    "frame": {}, "today": {"project": TEXT}, "health": {}, "forgotten": {}, "titles": {"id": WORDS},
    "search": {"q": TEXT, "project": TEXT, "limit": COUNT},
    "browse": {**_FILTERS, "title": TEXT, "archive": FLAG, **_PAGED},
    "review": {"topic": TEXT, "project": TEXT, "limit": COUNT},
    "work": {"project": TEXT, **_PAGED}, "told": {"project": TEXT, **_PAGED},
    "audit": {"verb": TEXT, "door": TEXT, "project": TEXT, **_PAGED},
    "graph": {**_FILTERS, "as_of": TEXT, "around": TEXT, "depth": COUNT, "whole": FLAG, "limit": COUNT},
    "timeline": {"at": TEXT, "kind": WORDS, "project": TEXT, **_PAGED},
    "record": {"id": TEXT, "again": FLAG},
}


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
    type_ = schema.get("type", "string")
    if type_ in ("integer", "number"):
        try:
            return int(value) if type_ == "integer" else float(value)
        except ValueError:
            raise Invalid(f"{name} must be a number; got {value[:60]!r}") from None
    if type_ == "boolean":
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

_ERROR: Schema = {
    "type": "object", "required": ["error"],
    "properties": {"error": {"type": "object", "required": ["code", "message", "hint"],
                             "properties": {"code": TEXT, "message": TEXT, "hint": TEXT}}},
}
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
        summary, queries = f"What the page shows under {name}.", _queries(takes, ["id"])
        paths[f"{API}/views/{name}"] = {"get": _operation(f"view_{name}", summary, parameters=queries)}
    paths[f"{API}/records/{{id}}"] = _record_resource()
    paths[f"{API}/events"] = {"get": {
        "operationId": "events", "summary": "Changes and progress as server-sent events.",
        "responses": {"200": {"description": "a stream without end",
                              "content": {"text/event-stream": {"schema": TEXT}}},
                      "default": {"$ref": "#/components/responses/error"}}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Otolith", "version": __version__,
                 "description": "One local-first memory for AI agents."},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"error": _ERROR},
            "responses": {"error": {"description": "what is wrong, and what to do: " + _statuses(),
                                    "content": _json({"$ref": "#/components/schemas/error"})}},
        },
    }


def _statuses() -> str:
    errors: list[type[OtolithError]] = [OtolithError, *OtolithError.__subclasses__()]
    return ", ".join(f"{error.http_status} {error.code}" for error in errors)


def _json(schema: Schema) -> Schema:
    return {"application/json": {"schema": schema}}


def _queries(schemas: Mapping[str, Schema], needed: Sequence[str] = ()) -> list[dict[str, Any]]:
    return [{"name": name, "in": "query", "required": name in needed, "schema": dict(schema)}
            for name, schema in schemas.items()]


def _operation(name: str, summary: str, **more: Any) -> dict[str, Any]:
    return {"operationId": name, "summary": summary, **more,
            "responses": {"200": {"description": "done", "content": _json({"type": "object"})},
                          "default": {"$ref": "#/components/responses/error"}}}


def _reading(row: Verb) -> dict[str, Any]:
    return _operation(calls.call_name(row), calls.description(row),
                      parameters=_queries(calls.takes(row, "rest"), calls.needs(row, "rest")))


def _writing(row: Verb) -> dict[str, Any]:
    return _operation(calls.call_name(row), calls.description(row), parameters=[_KEY],
                      requestBody={"required": True, "content": _json(calls.input_schema(row, "rest"))})


def _record_resource() -> dict[str, Any]:
    match = {"name": "If-Match", "in": "header", "required": True, "schema": TEXT,
             "description": "the ETag of what was read; * for whatever is there"}
    return {
        "get": _operation("read_record", "One record, with an ETag.",
                          parameters=[_ID, *_queries({"depth": TEXT})]),
        "patch": _operation("change_record", "Change a record if it is still the one that was read.",
                            parameters=[_ID, match, _KEY],
                            requestBody={"required": True, "content": _json({"type": "object"})}),
        "delete": _operation("forget_record", "Put a record into the archive.", parameters=[_ID, _KEY]),
    }
