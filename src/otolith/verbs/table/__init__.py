"""The table of verbs: one row a verb, from which every door is made or with which a law compares it.

The command line's parsers, help, completion and docs/CLI.md, the tools of MCP, the routes of REST and the
signatures of Memory all follow it. A family of rows is loaded when one of its verbs is first named, so that a
command starts fast. Nothing here does anything.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from otolith.verbs.table.row import Param, Verb

# Family → its verbs, in the order in which help lists them.
FAMILIES: dict[str, tuple[str, ...]] = {
    "writers": ("remember", "note", "memo", "log", "review", "record", "agent", "chapter", "edit", "link",
                "unlink", "pin",
                "unpin", "forget", "restore", "merge", "unmerge", "episode"),
    "finders": ("recall", "get", "list", "related", "trace", "check-file", "check-intent", "unfinished",
                "agents", "resume",
                "facts", "topics", "global", "chapters", "wisdom", "sql", "tags", "tags-near", "tags-for",
                "edges",
                "suggest-edges", "graph", "reason", "explore", "diary", "stats", "show", "brief", "hud"),
    "tenders": ("init", "end", "upkeep", "sync", "reindex", "check", "garden", "reflect", "accept",
                "reflection", "core",
                "decay", "embed", "cold", "build-topic", "build-global", "import", "export", "mcp", "serve",
                "hook",
                "install", "uninstall", "config", "completion"),
}
# What Memory has besides verbs, and why no other door offers it.
PLUMBING = {
    "bulk": "every request at a door is whole by itself", "close": "a door closes what it opened",
    "path": "a door knows which home it serves", "notices": "they come with the answers",
}


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
