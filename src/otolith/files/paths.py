"""Where everything lives: alone knows the home's names, and which file is of which kind.

Only the names listed here are ever read. Ids are checked before they become part of a path.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from otolith.errors import Invalid
from otolith.model.ids import check_agent_id, check_chunk_id, check_id, check_prefixed, check_topic, slug, suffix
from otolith.model.note import FOLDERS
from otolith.model.times import month

SCANNED = ("chunks", "allmemories", "topics", "work", "graph", "vault", "episodes", "memories", "archive")
SCANNED_FILES = ("GLOBAL_MEMORY.json", "links.jsonl")
UNSCANNED = ("log", "index")
OTHER_FILES = ("GLOBAL_MEMORY.md", "CORE.md", "REFLECTION.md", "_index.json", "_state.json", "_embeddings.json",
               "_config.json", "otolith.toml", ".gitignore", ".gitattributes", ".lock")

_FOLDERS = {*SCANNED, *UNSCANNED}
AUDIT = "index/audit.log"
INTENT = "log/intent-"  # and 8 hex digits: an act that has begun, see intents.py
UNDO = "archive/undo/"  # the journal of acts that can be undone
LINKS = "links.jsonl"
SHOWN = "log/shown.jsonl"  # which works were offered unasked, in which session
EXPORTS = ("index/metadata_index.json", "index/tag_index.json", "index/link_graph.json", "_index.json")
ENTRY_FILES = ("raw.md", "meta.json", "summary.json")

_DIALOGS = ("topics/", "archive/topics/")
_NO_PARTS = {"", ".", ".."}
_COPY_MARKS = ("conflicted copy", ".sync-conflict-", "(conflict", "_conflict-")
_COPY_ENDINGS = ("~", ".orig", ".swp", ".swo", ".rej")
# folder → (how many parts a path has, the file's ending, kind); work/ and topics/ have rules of their own
_PLAIN = {"chunks": (3, ".json", "chunk"), "allmemories": (2, ".md", "memo")}
_WORK = {"agents": "agent", "chapters": "chapter", "wisdom": "wisdom"}


def check_path(path: str) -> str:
    """A relative path below the home that belongs to it; anything else is refused before the disk is touched."""
    parts = path.split("/")
    if not path or "\0" in path or "\\" in path or not _NO_PARTS.isdisjoint(parts):
        raise Invalid(f"{path[:120]!r} is not a path inside a home")
    if parts[0] in OTHER_FILES or path in SCANNED_FILES:
        return path
    if len(parts) > 1 and parts[0] in _FOLDERS:
        return path
    raise Invalid(f"{path[:120]!r} does not belong to a home")


@lru_cache(maxsize=16)  # a file's kind is asked for several times in a row
def kind_of(path: str) -> str:
    """The kind of record a file holds; empty for files that hold none (built Markdown, copies, strangers)."""
    parts = path.split("/")
    root, name, count = parts[0], parts[-1], len(parts)
    if is_copy(name):
        return ""
    if root in _PLAIN:
        depth, ending, kind = _PLAIN[root]
        return kind if count == depth and name.endswith(ending) else ""
    if root in ("graph", "vault"):
        if not name.endswith(".md") or count < 2:
            return ""
        return "edge" if root == "graph" and count == 3 and parts[1] == "edges" else "note"
    if root == "topics":
        if count == 4 and name in ENTRY_FILES:
            return "entry"
        return {"curation.jsonl": "curation", "topic_memory.json": "topic"}.get(name, "") if count == 3 else ""
    if root == "work":
        if count == 4:
            return "work" if parts[1] == "cold" and name.endswith(".json.gz") else ""
        return _WORK.get(parts[1], "work") if count == 3 and name.endswith(".json") else ""
    if root == "episodes":
        return "episode" if count == 2 and len(name) == 13 and name.endswith(".md") and name[:4].isdigit() else ""
    if root == "archive":
        return "archived" if count > 1 and parts[1] not in ("edited", "merges", "undo") else ""
    if root == "memories":
        return "page" if count > 1 else ""
    return {"links.jsonl": "links", "GLOBAL_MEMORY.json": "global"}.get(path, "")


def is_copy(path: str) -> bool:
    """A copy left by a sync tool, an editor or a merge: never a second record."""
    name = path.rsplit("/", 1)[-1].casefold()
    return name.endswith(_COPY_ENDINGS) or ("conflict" in name and any(mark in name for mark in _COPY_MARKS))


def unit_of(path: str) -> str:
    """The file's unit of reading: an entry's folder, else the file itself."""
    parts = path.removeprefix("archive/").split("/") if path.startswith(_DIALOGS) else ()
    if len(parts) == 4 and parts[3] in ENTRY_FILES:
        return path.rpartition("/")[0]
    return path


def files_of(unit: str) -> list[str]:
    """The files a unit may consist of."""
    return [unit, *(f"{unit}/{part}" for part in ENTRY_FILES)] if may_be_entry(unit) else [unit]


def may_be_entry(unit: str) -> bool:
    """Whether a unit of this name can be an entry's folder; a plain file of that name is none."""
    return unit.startswith(_DIALOGS) and unit.removeprefix("archive/").count("/") == 2


def topic_folder(topic: str) -> str:
    """topics/<name>; a new topic's name is a slug, a foreign home's may be more."""
    return f"topics/{check_topic(topic)}"


def entry_folder(topic: str, entry: str) -> str:
    return f"{topic_folder(topic)}/{check_id(entry, 'entry_id')}"


def usage_log(machine: str) -> str:
    return f"log/usage-{check_id(machine)}.jsonl"


def episode_file(date: str) -> str:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", date):
        raise Invalid(f"{date!r} is not a date")
    return f"episodes/{date}.md"


def place(record: Any) -> str:
    """Where a new record's file belongs."""
    return _PLACES[record.kind](record)


def _place_edge(edge: Any) -> str:
    name = f"{slug(edge.from_title)}--{edge.type}--{slug(edge.to_title)}-{suffix(edge.id)}.md"
    return f"graph/edges/{name}"


def note_folder(note: Any) -> str:
    """The folder a note's file belongs into."""
    return "vault" if note.pinned else f"graph/{FOLDERS[note.type]}"


def _place_note(note: Any) -> str:
    return f"{note_folder(note)}/{slug(note.title)}-{suffix(note.id)}.md"


_PLACES: dict[str, Callable[[Any], str]] = {
    "chunk": lambda r: f"chunks/{month(r.created)}/{check_chunk_id(r.id)}.json",
    "memo": lambda r: f"allmemories/{check_id(r.id)}.md",
    "entry": lambda r: entry_folder(r.topic, r.id),
    "topic": lambda r: f"{topic_folder(r.topic)}/topic_memory.json",
    "global": lambda _: "GLOBAL_MEMORY.json",
    "work": lambda r: f"work/{month(r.created)}/{check_prefixed(r.id, 'mem')}.json",
    "agent": lambda r: f"work/agents/{check_agent_id(r.id)}.json",
    "chapter": lambda r: f"work/chapters/{check_prefixed(r.id, 'chapter')}.json",
    "wisdom": lambda r: f"work/wisdom/{check_prefixed(r.id, 'wisdom')}.json",
    "note": _place_note,
    "edge": _place_edge,
    "page": lambda r: f"memories/{r.id}",
}


def archived(path: str) -> str:
    """Where a forgotten record's file goes; chunks lie flat, as their seed has it."""
    if path.startswith("chunks/"):
        return "archive/" + path.rsplit("/", 1)[-1]
    return "archive/" + path


def restored(path: str, record: Any) -> str:
    """Where an archived file came from."""
    former = first_name(path.removeprefix("archive/"))
    return place(record) if "/" not in former else former


def numbered(path: str, number: int) -> str:
    """Another name for a file whose place in the archive is taken: x.md, x.again-1.md."""
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.partition(".json") if ".json" in name else name.rpartition(".")
    return f"{folder}{slash}{stem}.again-{number}{dot}{ending}" if number else path


def first_name(path: str) -> str:
    """The name without the number that `numbered` gave it."""
    return re.sub(r"\.again-[0-9]+(?=\.[a-z.]+$)", "", path)
