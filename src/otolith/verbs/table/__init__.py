"""The table of verbs: one row a verb, from which every door is made or with which a law compares it.

The command line's parsers, help, completion and docs/CLI.md, the tools of MCP, the routes of REST and the
signatures of Memory all follow it. A family of rows is loaded when one of its verbs is first named, so that a
command starts fast. Nothing here does anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal, NamedTuple

Door = Literal["python", "cli", "mcp", "rest"]
# What a parameter holds: `id` any handle of a record, `some` one word or several, `time` a date or a time in
# any form or in words, `dialog` a text, a path or a list of messages, `call` a function, which only Python
# can give.
Type = Literal["text", "id", "file", "time", "number", "count", "flag", "words", "tags", "some", "object",
               "objects", "dialog", "call"]
Answer = Literal["record", "hits", "hit", "items", "text", "facts"]

DOORS: tuple[Door, ...] = ("python", "cli", "mcp", "rest")
BY_HAND: tuple[Door, ...] = ("python", "cli")  # for people and programs; a tool is easier to use without it
NOT_MCP: tuple[Door, ...] = ("python", "cli", "rest")
REMOTE: tuple[Door, ...] = ("mcp", "rest")
ANSWERS: dict[Answer, str] = {
    "record": "the record that was written: its id, kind and path, and what it holds now",
    "hits": "the hits, best first, what they cost in tokens, and whether they are good enough",
    "hit": "one record at the depth that was asked for",
    "items": "a list, and how many there are in all", "text": "a text",
    "facts": "an object with named values",
}
REQUIRED: Any = type("Required", (), {"__repr__": lambda _: "REQUIRED"})()


class Param(NamedTuple):
    """One parameter of a verb; name and default are those of the method of Memory.

    `cli` is how the command line spells it where that is not `--name`: `--other`, `--this|--that` (flags that
    exclude each other), `word` (by place), `[word]` (by place, may be left out), `word…` (by place, one or
    more), `[word…]` (by place, any number).
    """

    name: str
    type: Type = "text"
    help: str = ""
    default: Any = REQUIRED  # ... stands for "as it is"
    doors: tuple[Door, ...] = DOORS
    cli: str = ""
    metavar: str = ""
    json: str = ""  # its name at MCP and REST, where that differs
    choices: str | tuple[str, ...] = ()  # the words, or where the model keeps them: "kinds.TASK_TYPES"
    strict: bool = False  # at the command line, another word is a usage error, not a bad value
    open: bool = False  # other words are taken, too; completion offers these
    shape: str = ""  # the Shape whose fields an object has: "work.Intent"
    needed: tuple[Door, ...] = ()  # doors at which it must be given although Python has a default
    stdin: Literal["", "dash", "pipe"] = ""  # read from stdin where it is -, or also where it is left out
    writes: bool = False  # given, it makes a reading verb write

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    @property
    def json_name(self) -> str:
        return self.json or self.name


class Verb(NamedTuple):
    """One row. `takes` go by place or by name, `options` by name only."""

    name: str
    help: str
    gives: Answer
    takes: tuple[Param, ...] = ()
    options: tuple[Param, ...] = ()
    examples: tuple[str, ...] = ()
    reads: bool = False  # writes nothing but a line in the usage ledger
    destroys: bool = False  # may replace or remove what was there
    keyed: bool = False  # the verb itself takes the idempotency key
    person: bool = False  # agents may propose it; only a person does it
    core: bool = False  # one of the few tools that an agent is given by default
    long: bool = False  # may take many seconds
    roomy: bool = False  # brings whole files, so a call may be as large as a door lets in
    agents: str = ""  # what a tool's description says beyond `help`
    method: str = ""  # of Memory, where it is not the name
    gaps: Mapping[Door, str] = {}  # where it is not offered, and why

    @property
    def params(self) -> tuple[Param, ...]:
        return self.takes + self.options

    @property
    def doors(self) -> tuple[Door, ...]:
        return tuple(door for door in DOORS if door not in self.gaps)

    @property
    def python(self) -> str:
        """The method of Memory that does it."""
        return self.method or self.name.replace("-", "_")

    def at(self, door: Door) -> tuple[Param, ...]:
        """The parameters it has at a door."""
        return tuple(param for param in self.params if door in param.doors)

    def only_reads(self, door: Door) -> bool:
        """Whether it writes nothing, whatever it is given at this door."""
        return self.reads and not any(param.writes for param in self.at(door))


HANDLE = Param("id", "id", "an id, the beginning of one, a title or a memo's name", cli="id")
DEPTH = Param("depth", "text", "how much of it to show", "full", choices="record.DEPTHS")
LIMIT = Param("limit", "count", "at most this many", 50)
OFFSET = Param("offset", "count", "leave out this many first", 0)
PROJECT = Param("project", "text", "the project", None)
SCOPE = (PROJECT, Param("agent", "text", "the agent", None, BY_HAND),
         Param("session", "text", "the session", None, BY_HAND))
CREATED = Param("created", "time", "when it happened (default: now)", None, BY_HAND, metavar="TIME")
CREATED_IN_PYTHON = CREATED._replace(doors=("python",))
KEY = Param("key", "text", "the same key again keeps nothing twice", None)
TAGGED = Param("tags", "tags", "a tag", (), cli="--tag", metavar="TAG")
EMBEDDERS = ("static", "minilm", "ollama", "openai", "none")
PROGRESS = Param("progress", "call", "is called with (done, total) as it goes", None, ("python",))
ASK = Param("ask", "call", "a model to ask instead of the configured one", None, ("python",))
FORCE = Param("force", "flag", "replace a file that is there", False, ("cli",))

FILTERS = (
    Param("kind", "some", "only records of this kind", None, choices="kinds.KINDS", strict=True),
    Param("type", "some", "only records of this type", None),
    Param("tag", "tags", "only records with this tag; several: with all of them", None, BY_HAND),
    Param("tags", "tags", "only records with all of these tags", None, ("python", *REMOTE)),
    Param("topic", "text", "only what belongs to this topic", None),
    Param("project", "text", "only what belongs to this project", None),
    Param("agent", "text", "only what this agent wrote", None),
    Param("conversation", "text", "only what belongs to this conversation or session", None, NOT_MCP,
          metavar="ID"),
    Param("session", "text", "only what was written in this session", None),
    Param("file", "file", "only work that touched this file", None, metavar="PATH"),
    Param("since", "time", "only what is from this day or later", None, metavar="DATE"),
    Param("before", "time", "only what is older than this day", None, metavar="DATE"),
    Param("as_of", "time", "as the memory stood then", None, metavar="DATE"),
    Param("failures", "flag", "only work that failed", False),
    Param("successes", "flag", "only work that succeeded", False),
    Param("min_confidence", "number", "only what is at least this certain, 0 to 1", None, NOT_MCP),
)

# Family → its verbs, in the order in which help lists them.
FAMILIES: dict[str, tuple[str, ...]] = {
    "writers": ("remember", "note", "memo", "log", "review", "settle", "trust", "record", "agent", "chapter",
                "edit", "link", "unlink", "pin", "unpin", "forget", "restore", "undo", "merge", "unmerge",
                "episode"),
    "finders": ("recall", "get", "list", "related", "trace", "check-file", "check-intent", "unfinished",
                "agents", "resume", "facts", "history", "versions", "contradictions", "topics", "global",
                "chapters", "wisdom", "sql", "tags",
                "tags-near", "tags-for", "edges", "suggest-edges", "graph", "reason", "explore", "diary",
                "stats", "show", "brief", "hud"),
    "tenders": ("init", "end", "upkeep", "sync", "reindex", "check", "garden", "reflect", "accept",
                "reflection", "core", "decay", "embed", "cold", "build-topic", "build-global"),
    "machine": ("import", "export", "mcp", "serve", "hook", "setup", "install", "uninstall", "doctor",
                "config", "model", "completion"),
    "team": ("promote", "push", "pull", "admin"),
}
# How help at a terminal groups the commands: what a newcomer needs, then what for.
GROUPS: dict[str, tuple[str, ...]] = {
    "Start here": ("note", "recall", "log", "brief", "install", "setup"),
    "Keep": ("remember", "memo", "record", "episode", "edit", "link", "unlink", "pin", "unpin", "forget",
             "restore", "undo", "merge", "chapter", "agent"),
    "Find": ("get", "list", "related", "trace", "facts", "topics", "global", "history", "versions",
             "chapters", "wisdom", "tags", "edges", "graph", "reason", "explore", "show", "stats", "sql"),
    "Tend": ("upkeep", "review", "settle", "trust", "contradictions", "garden", "reflect", "check", "sync",
             "reindex", "embed", "decay", "core", "reflection", "cold"),
    "Agents": ("uninstall", "mcp", "hook", "hud", "check-file", "check-intent", "agents", "resume", "end"),
    "Data": ("init", "import", "export", "serve", "config", "completion"),
}
# Words of other tools, and what they are called here.
SYNONYMS = {"add": "note", "new": "note", "search": "recall", "find": "recall", "ask": "recall",
            "rm": "forget", "delete": "forget", "remove": "forget", "ls": "list", "cat": "get",
            "start": "init", "backup": "export", "settings": "config", "diary": "episode"}
# What Memory has besides verbs, and why no other door offers it.
PLUMBING = {
    "bulk": "every request at a door is whole by itself", "close": "a door closes what it opened",
    "path": "a door knows which home it serves", "notices": "they come with the answers",
}


def grouped() -> dict[str, tuple[str, ...]]:
    """GROUPS, with every other command among the last of them."""
    named = {name for names in GROUPS.values() for name in names}
    others = tuple(row.name for row in table().values() if "cli" in row.doors and row.name not in named)
    *_, last = GROUPS
    return {**GROUPS, last: GROUPS[last] + others}


def verb(name: str) -> Verb | None:
    """The row of a verb; None if there is no such verb."""
    family = next((family for family, names in FAMILIES.items() if name in names), None)
    return rows_of(family)[name] if family else None


def rows_of(family: str) -> dict[str, Verb]:
    rows: dict[str, Verb] = import_module(f"otolith.verbs.table.{family}").ROWS
    return rows


def table() -> dict[str, Verb]:
    """Every row by its name, in the order of FAMILIES."""
    return {name: rows_of(family)[name] for family, names in FAMILIES.items() for name in names}


def choices_of(param: Param) -> tuple[str, ...]:
    """The words a parameter may be; empty where any will do."""
    return tuple(in_model(param.choices)) if isinstance(param.choices, str) else param.choices


def in_model(place: str) -> Any:
    """What the model has under a name such as `work.TASK_TYPES`, loaded when asked for."""
    module, _, name = place.partition(".")
    return getattr(import_module(f"otolith.model.{module}"), name)
