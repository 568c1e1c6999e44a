"""REST's table: every verb as a route, told to programs as an OpenAPI document.

The rows are those of the agents' table and a few that only people and programs need. A verb that reads is a GET with its
arguments in the query; one that writes is a POST with a JSON body. A record is also a resource of its own, with an ETag.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from otolith import __version__
from otolith.doors.mcp.acts import named, review
from otolith.doors.mcp.tools import COUNT, FILTERS, FLAG, ID, NUMBER, OBJECT, TEXT, TOOLS, WORDS, Schema, Tool
from otolith.errors import Invalid, OtolithError

if TYPE_CHECKING:
    from otolith.memory import Memory

API = "/api"
_FILTERS = {"kind": WORDS, "type": WORDS, "conversation": TEXT, "min_confidence": NUMBER}  # agents have simpler ones
LONG = frozenset({"upkeep", "reindex", "check", "core", "reflect", "reflection", "embed", "sync", "decay", "garden", "cold"})
PERSON = frozenset({"merge", "unmerge", "accept"})  # agents propose; a person's page accepts
VIEWS: dict[str, dict[str, Schema]] = {
    "today": {}, "review": {"topic": TEXT, "limit": COUNT}, "health": {},
    "graph": {"kind": WORDS, "type": WORDS, "tags": WORDS, "project": TEXT, "since": TEXT, "before": TEXT, "as_of": TEXT,
              "around": TEXT, "limit": COUNT},
    "timeline": {"at": TEXT, "kind": WORDS, "limit": COUNT, "offset": COUNT},
    "record": {**ID, "again": FLAG}, "forgotten": {},
}


def _check(mem: Memory, given: dict[str, Any]) -> Any:
    return {"findings": [finding._asdict() for finding in mem.check(**given)]}


def _sync(mem: Memory, given: dict[str, Any]) -> Any:
    return [change._asdict() for change in mem.sync(**given)]


def _decay(mem: Memory, given: dict[str, Any]) -> Any:  # noqa: ARG001 (adapters are called alike)
    return [{"id": id_, "uses": uses, "last": last, "score": score} for id_, uses, last, score in mem.decay()]


def _merge(mem: Memory, given: dict[str, Any]) -> Any:
    return mem.merge(given["keep"], given["absorb"])


def _accept(mem: Memory, given: dict[str, Any]) -> Any:
    return mem.accept(given["proposal"])


def _review(mem: Memory, given: dict[str, Any]) -> Any:
    undo = given.pop("undo", False)
    return review(mem, given | {"score": None} if undo else given)


MORE: tuple[Tool, ...] = (
    Tool(name="review", gives="record", needs=("fact_id",), destroys=True, adapt=_review,
         says="A word on a fact: a score from 0 (wrong) to 10 (certain), how it should read, or undo to take the score back.",
         takes={"fact_id": TEXT, "score": COUNT, "correct": OBJECT, "undo": FLAG}),
    Tool(name="merge", gives="record", needs=("keep", "absorb"), destroys=True, adapt=_merge, says="Make two notes one.",
         takes={"keep": TEXT, "absorb": TEXT}),
    Tool(name="unmerge", gives="record", needs=("absorbed",), says="Take a merge apart again.", takes={"absorbed": TEXT}),
    Tool(name="accept", gives="record", needs=("proposal",), adapt=_accept, says="Carry out one proposal of a reflection.",
         takes={"proposal": TEXT}),
    Tool(name="check", gives="facts", reads=True, adapt=_check, says="Everything that wants a person's eye.",
         takes={"secrets": FLAG}),
    Tool(name="sync", gives="items", adapt=_sync, says="Take in what was changed by hand.", takes={"accept_removals": FLAG}),
    Tool(name="reindex", gives="facts", says="Rebuild the index and write its exports."),
    Tool(name="decay", gives="items", adapt=_decay, says="Score how strongly every note still stands."),
    Tool(name="reflection", gives="text", says="Build and show REFLECTION.md."),
    Tool(name="garden", gives="items", reads=True, says="What could be tidied among the memos."),
    Tool(name="hud", gives="text", reads=True, says="The few lines that show where things stand."),
    Tool(name="show", gives="text", reads=True, needs=("page",), says="A built page as it stands.",
         takes={"page": {"enum": ["core", "reflection", "global"]}}),
    Tool(name="agents", gives="items", reads=True, says="Who works here.", takes={"project": TEXT}),
    Tool(name="unfinished", gives="items", reads=True, says="Failures nothing made good yet, and steps still to take.",
         takes={"project": TEXT}),
    Tool(name="check_intent", gives="items", reads=True, needs=("goal",), says="Earlier works with much the same aim.",
         takes={"goal": TEXT, "task_type": TEXT}),
    Tool(name="sql", gives="facts", reads=True, needs=("query",), says="One SELECT against the index.", takes={"query": TEXT}),
    Tool(name="agent", gives="record", says="Make an agent known, or get the one that is.", adapt=named("agent", "id"),
         takes={**ID, "type": {"enum": ["main", "subagent"]}, "parent": TEXT, "project": TEXT, "metadata": OBJECT}),
    Tool(name="chapter", gives="record", needs=("works",), keyed=True, adapt=named("chapter", "works"),
         says="Make a chapter of these works.",
         takes={"works": WORDS, "title": TEXT, "summary": TEXT, "tags": WORDS, "project": TEXT}),
    Tool(name="unpin", gives="record", needs=("id",), says="Take a pin back.", takes=ID),
    Tool(name="resume", gives="facts", reads=True, says="Take up an agent's latest session.",
         takes={"agent": TEXT, "session": TEXT}),
    Tool(name="diary", gives="items", reads=True, says="A day's episodes; today's if none is named.", takes={"date": TEXT}),
    Tool(name="tags_near", gives="items", reads=True, needs=("tag",), says="Tags that stand beside this one.",
         takes={"tag": TEXT, "limit": COUNT}),
    Tool(name="tags_for", gives="items", reads=True, needs=("text",), says="Known tags that would suit a text or a record.",
         adapt=named("tags_for", "text"), takes={"text": TEXT, "limit": COUNT}),
    Tool(name="suggest_edges", gives="items", reads=True, needs=("id",), says="Edges that a note could have.",
         adapt=named("suggest_edges", "id"), takes=ID),
    Tool(name="embed", gives="facts", says="Bring the vectors up to the records."),
    Tool(name="cold", gives="items", reads=True, says="Which works could go to cold storage.",
         takes={"days": NUMBER, "uses": COUNT}),
    Tool(name="graph", gives="text", reads=True, says="The links as Mermaid, Graphviz dot or SVG.",
         takes={**ID, "depth": COUNT, "format": {"enum": ["mermaid", "dot", "svg"]}, "kind": WORDS}),
)
# What Memory offers and this door does not, and why.
GAPS = {
    "init": "it is about files of the caller's machine", "bulk": "every request is whole by itself",
    "close": "the server's own", "path": "the server's own", "notices": "they come with the answers",
    "build_topic": "upkeep builds what is to be built", "build_global": "upkeep builds what is to be built",
}


def verbs() -> list[Tool]:
    """Every row whose verb exists."""
    from otolith.memory import Memory

    rows = {tool.name: tool for tool in (*TOOLS, *MORE)}  # a row of our own stands before the agents'
    for name in ("recall", "list"):
        rows[name] = replace(rows[name], takes={**rows[name].takes, **_FILTERS})
    return [tool for tool in rows.values() if hasattr(Memory, tool.method)]


def path_of(tool: Tool) -> str:
    return f"{API}/{tool.name.replace('_', '-')}"


def read_query(schemas: Mapping[str, Schema], pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """A query's words as the values its schemas want; a name given twice is a list or a mistake."""
    given: dict[str, Any] = {}
    for name, value in pairs:
        schema = schemas.get(name)
        if schema is None:
            raise Invalid(f"there is no {name[:60]!r} here", f"it takes {', '.join(schemas) or 'nothing'}")
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


def shape(tool: Tool, value: Any) -> Any:
    """An answer as REST gives it: lists as items and total, texts as text, the rest as it is."""
    if isinstance(value, list):
        return {"items": value, "total": len(value)}
    if isinstance(value, str):
        return {"id": value} if tool.gives == "record" else {"text": value}
    return {} if value is None else value


# The OpenAPI document

_ERROR: Schema = {
    "type": "object", "required": ["error"],
    "properties": {"error": {"type": "object", "required": ["code", "message", "hint"],
                             "properties": {"code": TEXT, "message": TEXT, "hint": TEXT}}},
}
_BODY: Schema = {"application/json": {"schema": {"type": "object"}}}
_KEY = {"name": "Idempotency-Key", "in": "header", "required": False, "schema": {"type": "string", "maxLength": 200},
        "description": "the same key again is answered as the first time"}
_ID = {"name": "id", "in": "path", "required": True, "schema": TEXT}


def describe() -> dict[str, Any]:
    """The OpenAPI document."""
    paths: dict[str, Any] = {}
    for tool in verbs():
        paths[path_of(tool)] = {"get": _reading(tool)} if tool.reads else {"post": _writing(tool)}
    for name, takes in VIEWS.items():
        paths[f"{API}/views/{name}"] = {"get": _operation(f"view_{name}", f"What the page shows under {name}.",
                                                          parameters=[_query(key, schema, key == "id")
                                                                      for key, schema in takes.items()])}
    paths[f"{API}/records/{{id}}"] = _record_resource()
    paths[f"{API}/events"] = {"get": {
        "operationId": "events", "summary": "Changes and progress as server-sent events.",
        "responses": {"200": {"description": "a stream without end", "content": {"text/event-stream": {"schema": TEXT}}},
                      "default": {"$ref": "#/components/responses/error"}}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Otolith", "version": __version__, "description": "One local-first memory for AI agents."},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"error": _ERROR},
            "responses": {"error": {"description": "what is wrong, and what to do: " + _statuses(),
                                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/error"}}}}},
        },
    }


def _statuses() -> str:
    kinds: list[type[OtolithError]] = [OtolithError, *OtolithError.__subclasses__()]
    return ", ".join(f"{kind.http_status} {kind.code}" for kind in kinds)


def _query(name: str, schema: Schema, required: bool) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "schema": dict(schema)}


def _operation(name: str, says: str, **more: Any) -> dict[str, Any]:
    return {"operationId": name, "summary": says, **more,
            "responses": {"200": {"description": "done", "content": _BODY},
                          "default": {"$ref": "#/components/responses/error"}}}


def _reading(tool: Tool) -> dict[str, Any]:
    return _operation(tool.name, tool.says, parameters=[_query(name, schema, name in tool.needs)
                                                        for name, schema in tool.takes.items()])


def _writing(tool: Tool) -> dict[str, Any]:
    return _operation(tool.name, tool.says, parameters=[_KEY],
                      requestBody={"required": True, "content": {"application/json": {"schema": tool.input_schema()}}})


def _record_resource() -> dict[str, Any]:
    match = {"name": "If-Match", "in": "header", "required": True, "schema": TEXT,
             "description": "the ETag of what was read; * for whatever is there"}
    return {
        "get": _operation("read_record", "One record, with an ETag.",
                          parameters=[_ID, _query("depth", FILTERS["type"], False)]),
        "patch": _operation("change_record", "Change fields of a record, if it is still the one that was read.",
                            parameters=[_ID, match, _KEY],
                            requestBody={"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}),
        "delete": _operation("forget_record", "Put a record into the archive.", parameters=[_ID, _KEY]),
    }
