"""The tools: one table of what an agent may ask a home, shared by every door that takes calls by name.

A row says what a tool is called, which verb of Memory it stands for, what it takes and gives, and what it does to the
home. `call` checks the arguments against the row, runs the verb and returns plain JSON values; a door dresses them. A
row whose verb does not exist is not offered. Nothing here knows a protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

from otolith.doors.mcp import acts
from otolith.errors import Invalid, NotFound

if TYPE_CHECKING:
    from otolith.memory import Memory

MAX_TEXT = 1 << 20  # what one call may bring, in characters
CORE = ("recall", "get", "remember", "note", "record", "log", "check_file", "brief")
NOTE_TYPES = ("solution", "fix", "decision", "configuration", "problem", "workflow", "code_pattern", "error", "general",
              "procedure", "insight")
DEPTHS = ["summary", "outcome", "reasoning", "full", "complete"]

Schema = Mapping[str, Any]
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}
WORDS: Schema = {"type": "array", "items": TEXT}
OBJECT: Schema = {"type": "object"}


def _one_of(*values: str) -> Schema:
    return {"enum": list(values)}


def _told(schema: Schema, what: str) -> Schema:
    return {**schema, "description": what}


def _gives(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


# What a tool gives, as the agents' doors answer it; `text` is always fenced.
GIVES: dict[str, Schema] = {
    "record": _gives(id=TEXT, kind=TEXT),
    "hits": _gives(enough=FLAG, hits={"type": "array"}, text=TEXT),
    "hit": _gives(id=TEXT, kind=TEXT, text=TEXT),
    "items": _gives(total=COUNT, text=TEXT),
    "text": _gives(text=TEXT),
    "facts": OBJECT,
}


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One row of the table."""

    name: str
    says: str
    gives: str
    takes: Mapping[str, Schema] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    verb: str = ""  # the method of Memory, where it is not the name
    reads: bool = False
    destroys: bool = False
    keyed: bool = False  # the verb itself takes the idempotency key
    adapt: Callable[[Memory, dict[str, Any]], Any] | None = None  # where keywords do not fit one to one

    @property
    def method(self) -> str:
        return self.verb or self.name

    def input_schema(self) -> dict[str, Any]:
        """What the tool takes, as JSON Schema; writers also take an idempotency key."""
        properties = dict(self.takes) if self.reads else {**self.takes, "key": TEXT}
        schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
        return {**schema, "required": list(self.needs)} if self.needs else schema

    def annotations(self) -> dict[str, bool]:
        """What the tool does to the home, told truthfully; the key makes every write safe to repeat."""
        if self.reads:
            return {"readOnlyHint": True, "openWorldHint": False}
        return {"destructiveHint": self.destroys, "openWorldHint": False}


ID: dict[str, Schema] = {"id": TEXT}
SCOPE: dict[str, Schema] = {"project": TEXT}
FILTERS: dict[str, Schema] = {
    "kind": TEXT, "type": TEXT, "tags": WORDS, "topic": TEXT, "project": TEXT, "agent": TEXT, "session": TEXT, "file": TEXT,
    "since": TEXT, "before": TEXT, "as_of": TEXT, "failures": FLAG, "successes": FLAG,
}
PART: dict[str, Schema] = {"limit": COUNT, "offset": COUNT}
LINK: dict[str, Schema] = {"source": TEXT, "type": TEXT, "target": TEXT}

TOOLS: tuple[Tool, ...] = (
    Tool(name="recall", gives="hits", reads=True, needs=("query",), adapt=acts.named("recall", "query"),
         says="Find what is known about something. Call it before work that may have been done before. "
              "enough=false: nothing good was found.",
         takes={"query": TEXT, "limit": COUNT, "depth": _one_of(*DEPTHS), "budget": _told(COUNT, "tokens, 1000 if not given"),
                **FILTERS}),
    Tool(name="get", gives="hit", reads=True, needs=("id",), says="Show one record by id, title or name.",
         takes={**ID, "depth": _one_of(*DEPTHS)}),
    Tool(name="list", gives="items", reads=True, says="Search by filters only: records, newest first.",
         takes={**PART, **FILTERS}),
    Tool(name="remember", gives="record", needs=("text",), keyed=True, adapt=acts.named("remember", "text"),
         says="Keep a thought or finding as it is; long text is cut into chunks.",
         takes={"text": TEXT, "tags": WORDS, "conversation_id": TEXT, "confidence": NUMBER,
                "type": _one_of("fact", "preference", "pattern", "note", "decision"), **SCOPE}),
    Tool(name="note", gives="record", needs=("title", "text"), keyed=True,
         says="Store one titled piece of knowledge.",
         takes={"title": TEXT, "text": TEXT, "type": _one_of(*NOTE_TYPES), "tags": WORDS,
                "importance": _told(NUMBER, "0 to 1"), **SCOPE}),
    Tool(name="memo", gives="record", needs=("name", "text"),
         says="Keep one concept in one named file, e.g. user_prefers_tabs.",
         takes={"name": TEXT, "text": TEXT, "category": _one_of("past", "present", "future"), "tags": WORDS, **SCOPE}),
    Tool(name="log", gives="record", needs=("dialog",), keyed=True, adapt=acts.named("log", "dialog"),
         says="Keep a dialog word for word under a topic; its facts are drawn out.",
         takes={"dialog": _told({"type": ["string", "array"]}, "text, or [{role, content, ts?}]"), "topic": TEXT, **SCOPE}),
    Tool(name="record", gives="record", needs=("intent", "outcome"), keyed=True,
         says="Keep finished or failed work: what was wanted, seen, thought, done, and how it ended.",
         takes={"intent": _told(OBJECT, "goal, task_type (bug_fix, feature_add, refactor, investigation, other, …)"),
                "outcome": _told(OBJECT, "success, summary, learnings, failure_reason"), "perception": OBJECT,
                "reasoning": _told(OBJECT, "analysis, approach_chosen"), "actions": {"type": "array"},
                "files": _told(WORDS, "paths that were edited"), "tags": WORDS, "importance": NUMBER, **SCOPE}),
    Tool(name="edit", gives="record", needs=("id", "changes"), destroys=True, says="Update fields of a record.",
         takes={**ID, "changes": _told(OBJECT, "field: new value")}, adapt=acts.edit),
    Tool(name="link", gives="record", needs=("source", "type", "target"), adapt=acts.link,
         says="Relate two records, e.g. SOLVES, CAUSES, RELATED_TO.",
         takes={**LINK, "context": TEXT, "strength": NUMBER}),
    Tool(name="unlink", gives="record", needs=("source", "type", "target"), destroys=True, says="Take a relation back.",
         takes=LINK, adapt=acts.unlink),
    Tool(name="pin", gives="record", needs=("id",), says="Keep a record from fading, or with pinned=false let it fade again.",
         takes={**ID, "pinned": FLAG}, adapt=acts.pin),
    Tool(name="forget", gives="record", needs=("id",), destroys=True, adapt=acts.forget,
         says="Put a record into the archive; restore brings it back.", takes=ID),
    Tool(name="restore", gives="record", needs=("id",), says="Bring a forgotten record back.", takes=ID, adapt=acts.restore),
    Tool(name="review", gives="record", needs=("fact_id",), destroys=True, adapt=acts.review,
         says="Score a fact 0 (wrong) to 10 (certain), or correct it.",
         takes={"fact_id": TEXT, "score": COUNT, "correct": _told(OBJECT, "subject, relation or object")}),
    Tool(name="episode", gives="record", needs=("title",), says="Write a line in today's diary.",
         takes={"title": TEXT, "summary": TEXT, "tags": WORDS}, adapt=acts.episode),
    Tool(name="end", gives="text", adapt=acts.named("end", "text"),
         says="End a session: what the user asked to keep, or corrected, becomes memos.",
         takes={"text": _told({"type": ["string", "array"]}, "the dialog, as for log"), "session": TEXT}),
    Tool(name="related", gives="items", reads=True, needs=("id",), says="What is linked to a record.",
         takes={**ID, "depth": COUNT}),
    Tool(name="edges", gives="items", reads=True, says="Relations between notes: all, of a type, of a note, or by words.",
         takes={"query": TEXT, "type": TEXT, "note": TEXT, "limit": COUNT}),
    Tool(name="trace", gives="items", reads=True, needs=("id",), says="Follow causes or effects of work from record to record.",
         takes={**ID, "direction": _one_of("causes", "effects", "both"), "max_depth": COUNT}),
    Tool(name="check_file", gives="text", reads=True, needs=("path",), adapt=acts.named("check_file", "path"),
         says="What past work on a file warns of. Call it before editing.",
         takes={"path": TEXT, "plan": _told(TEXT, "what you are about to do"), "again": FLAG}),
    Tool(name="facts", gives="items", reads=True, says="Facts drawn from dialogs.", adapt=acts.paged("facts"),
         takes={"topic": TEXT, "type": TEXT, "current": FLAG, "waiting": _told(FLAG, "not scored yet"), "as_of": TEXT, **PART}),
    Tool(name="topics", gives="items", reads=True, says="Topics of the dialogs, with their state."),
    Tool(name="global", gives="text", reads=True, verb="global_memory", says="What must not be forgotten, across all topics."),
    Tool(name="chapters", gives="items", reads=True, says="Chapters: stretches of work that belong together.", takes=SCOPE),
    Tool(name="wisdom", gives="items", reads=True, says="What many pieces of work taught.", takes=SCOPE),
    Tool(name="agents", gives="items", reads=True, says="Who works here, and on what.", takes=SCOPE),
    Tool(name="brief", gives="text", reads=True, says="What to know at the start of a session.",
         takes={"context": _told(TEXT, "what you are about to do"), "budget": COUNT, **SCOPE}),
    Tool(name="hud", gives="text", says="The session's gauges; what is given is kept.",
         takes={"past": TEXT, "present": TEXT, "future": TEXT}),
    Tool(name="reason", gives="text", reads=True, says="Bring together what chunks say about a question.",
         takes={"question": TEXT, "way": _one_of("synthesis", "comparison", "pattern", "gap"), "terms": WORDS, "tags": WORDS}),
    Tool(name="explore", gives="text", reads=True, needs=("question",),
         says="Answer a question by searching, reading and following links.", takes={"question": TEXT}),
    Tool(name="tags", gives="items", reads=True, says="Tags and how often each is used.", adapt=acts.paged("tags"), takes=PART),
    Tool(name="core", gives="text", says="Rebuild and show CORE.md, the most important notes."),
    Tool(name="reflect", gives="text", says="Rebuild and show REFLECTION.md: patterns, gaps, contradictions."),
    Tool(name="stats", gives="facts", reads=True, says="How much of what there is."),
    Tool(name="upkeep", gives="text", says="The nightly round: distil, fade, rebuild what is built, propose what to tidy."),
)


def offered(which: str = "all") -> list[Tool]:
    """The tools whose verbs exist; all, or the core."""
    from otolith.memory import Memory

    if which not in ("all", "core"):
        raise Invalid(f"no set of tools {which!r}", "use all or core")
    return [tool for tool in TOOLS if hasattr(Memory, tool.method) and (which == "all" or tool.name in CORE)]


def find(tools: Sequence[Tool], name: str) -> Tool:
    for tool in tools:
        if tool.name == name:
            return tool
    raise NotFound(f"no tool {name[:60]!r}", f"there are {', '.join(tool.name for tool in tools)}")


def call(mem: Memory, tool: Tool, arguments: Mapping[str, Any]) -> Any:
    """Run a tool; the answer is plain JSON values, whole and unfenced."""
    given = check_arguments(tool, arguments)
    key = given.get("key")
    if key is None or tool.keyed:
        return plain(mem, _act(mem, tool, given))
    from otolith.doors.mcp.keys import once

    del given["key"]
    return once(mem, tool.name, key, given, lambda: plain(mem, _act(mem, tool, dict(given))))


def _act(mem: Memory, tool: Tool, given: dict[str, Any]) -> Any:
    return tool.adapt(mem, given) if tool.adapt else getattr(mem, tool.method)(**given)


_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,),
                                       "array": (list,), "object": (dict,)}


def check_arguments(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the row allows them; null counts as not given. Anything else is Invalid and says what is wanted."""
    schemas = tool.input_schema()["properties"]
    given = {name: value for name, value in arguments.items() if value is not None}
    for name in given:
        if name not in schemas:
            raise Invalid(f"{tool.name} takes no {name[:60]!r}", f"it takes {', '.join(schemas) or 'nothing'}")
    for name in tool.needs:
        if name not in given:
            raise Invalid(f"{tool.name} needs {name!r}", f"it takes {', '.join(schemas)}")
    for name, value in given.items():
        _check(name, value, schemas[name])
    if _size(given) > MAX_TEXT:
        raise Invalid(f"{tool.name} was given more than {MAX_TEXT >> 10} thousand characters", "split it into several calls")
    return {name: _writable(value) for name, value in given.items()}


def _check(name: str, value: Any, schema: Schema) -> None:
    if "enum" in schema and value not in schema["enum"]:
        raise Invalid(f"{name} cannot be {str(value)[:60]!r}", f"use one of {', '.join(schema['enum'])}")
    wanted = schema.get("type")
    if wanted is None:
        return
    names = [wanted] if isinstance(wanted, str) else wanted
    fits = any(isinstance(value, _TYPES[one]) and (one == "boolean" or not isinstance(value, bool)) for one in names)
    if not fits:
        raise Invalid(f"{name} must be of type {' or '.join(names)}; got {type(value).__name__}")
    if "items" in schema and isinstance(value, list):
        for at, item in enumerate(value):
            _check(f"{name}[{at}]", item, schema["items"])


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(len(str(key)) + _size(inner) for key, inner in value.items())
    return sum(map(_size, value)) if isinstance(value, list) else 8


def _writable(value: Any) -> Any:
    """Halves of surrogate pairs, which JSON may hold and UTF-8 may not, as replacement signs."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_writable(key): _writable(inner) for key, inner in value.items()}
    return [_writable(item) for item in value] if isinstance(value, list) else value


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
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], list) and isinstance(value[1], int):
        return {"items": plain(mem, value[0]), "total": value[1]}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(mem, item) for item in value]
    if hasattr(value, "kind") and hasattr(value, "id"):
        return _record(mem, value)
    return plain(mem, value.to_dict()) if hasattr(value, "to_dict") else str(value)


def _record(mem: Memory, value: Any) -> Any:
    from otolith.model.recall import Hit

    if isinstance(value, Hit):
        return value.to_dict()
    from otolith.files.codec import public

    row = mem.home.db.execute("SELECT unit FROM records WHERE id = ?", (value.id,)).fetchone()
    return {"id": value.id, "kind": value.kind, "path": row[0] if row else "", "record": public(value)}
