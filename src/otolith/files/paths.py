"""Where everything lives: alone knows the home's names, and which file is of which kind.

The table of kinds says where each kind's files lie; only names that match it are ever read. Ids are checked
before they become part of a path.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from otolith.errors import Invalid
from otolith.model.ids import check_id, check_topic, slug, suffix
from otolith.model.kinds import KINDS, NOTE_TYPES
from otolith.model.times import month

LEDGERS = {"links": "links.jsonl", "curation": "topics/*/curation.jsonl",  # lines about records; not records
           "answers": "curation.jsonl"}
_HELD = {**{pattern: row.name for row in KINDS.values() for pattern in row.files},
         **{pattern: name for name, pattern in LEDGERS.items()}}  # pattern → what such a file holds
SCANNED = (*dict.fromkeys(pattern.split("/")[0] for pattern in _HELD if "/" in pattern), "archive")
SCANNED_FILES = tuple(pattern for pattern in _HELD if "/" not in pattern)
UNSCANNED = ("log", "index")
FORMER_SETTINGS = "strata.toml"  # until 0.2; only looked for, to say that it has another name now
OTHER_FILES = ("GLOBAL_MEMORY.md", "CORE.md", "REFLECTION.md", "_index.json", "_state.json",
               "_embeddings.json", "_config.json", "otolith.toml", ".gitignore", ".gitattributes", ".lock")

_FOLDERS = {*SCANNED, *UNSCANNED}
AUDIT = "index/audit.log"
INTENT = "log/intent-"  # and 8 hex digits: an act that has begun, see intents.py
EDITED = "archive/edited/"  # what an edit or a build replaced
UNDO = "archive/undo/"  # the journal of acts that can be undone
LINKS = LEDGERS["links"]
ANSWERS = LEDGERS["answers"]  # what a person said about claims
EXPORTS = ("index/metadata_index.json", "index/tag_index.json", "index/link_graph.json", "_index.json")
PART = "summary.part.jsonl"  # of a session that runs: what was drawn so far
ENTRY_FILES = ("raw.md", "meta.json", "summary.json", PART)

_DIALOGS = ("topics/", "archive/topics/")
_NO_PARTS = {"", ".", ".."}
_COPY_MARKS = ("conflicted copy", ".sync-conflict-", "(conflict", "_conflict-")
_COPY_ENDINGS = ("~", ".orig", ".swp", ".swo", ".rej")


class _FilePattern(NamedTuple):
    """A pattern of files taken apart; those that say more sort before those that say less."""

    deep: bool  # any depth
    wild: int  # how many parts may be anything
    folders: tuple[str, ...]
    name: str
    kind: str

    def fits(self, parts: list[str]) -> bool:
        if self.deep:
            return len(parts) > 1 and parts[-1].endswith(self.name)
        return len(parts) == len(self.folders) + 1 and self._names(parts[-1]) and all(
            own in ("*", part) for own, part in zip(self.folders, parts, strict=False))

    def _names(self, name: str) -> bool:
        if self.name[0] == "*":
            return name.endswith(self.name[1:])
        if self.name.startswith("DATE"):
            return len(name) == 13 and name.endswith(self.name[4:]) and name[:4].isdigit()
        return name == self.name


def _patterns() -> dict[str, list[_FilePattern]]:
    by_root: dict[str, list[_FilePattern]] = {}
    for pattern, kind in _HELD.items():
        *folders, name = pattern.split("/")
        deep = name.startswith("**")
        made = _FilePattern(deep, pattern.count("*"), tuple(folders), name.removeprefix("**"), kind)
        by_root.setdefault(pattern.partition("/")[0], []).append(made)
    return {root: sorted(patterns) for root, patterns in by_root.items()}


_PATTERNS = _patterns()


def check_path(path: str) -> str:
    """A relative path below the home that belongs to it; any other is refused before the disk is touched."""
    parts = path.split("/")
    if not path or "\0" in path or "\\" in path or not _NO_PARTS.isdisjoint(parts):
        raise Invalid(f"{path[:120]!r} is not a path inside a home")
    if parts[0] in OTHER_FILES or path in SCANNED_FILES or path == FORMER_SETTINGS:
        return path
    if len(parts) > 1 and parts[0] in _FOLDERS:
        return path
    raise Invalid(f"{path[:120]!r} does not belong to a home")


@lru_cache(maxsize=16)  # a file's kind is asked for several times in a row
def kind_of(path: str) -> str:
    """What a file holds: a kind of record, one of LEDGERS, or `archived`; empty for all else."""
    parts = path.split("/")
    if is_copy(parts[-1]):
        return ""
    if parts[0] == "archive":
        return "archived" if len(parts) > 1 and parts[1] not in ("edited", "merges", "undo") else ""
    return next((pattern.kind for pattern in _PATTERNS.get(parts[0], ()) if pattern.fits(parts)), "")


def former_kind(path: str) -> str:
    """The kind of record a forgotten file holds, or any file; chunks lie flat in the archive."""
    return "chunk" if path.startswith("archive/chunk-") else kind_of(path.removeprefix("archive/"))


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


def delivered_log(machine: str) -> str:
    return f"log/delivered-{check_id(machine)}.jsonl"


def receipts_log(machine: str) -> str:
    return f"log/receipts-{check_id(machine)}.jsonl"


def episode_file(date: str) -> str:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", date):
        raise Invalid(f"{date!r} is not a date")
    return f"episodes/{date}.md"


def place(record: Any) -> str:
    """Where a new record's file belongs."""
    return re.sub(r"\{(\w+)\}", lambda part: _PARTS[part[1]](record), KINDS[record.kind].place)


def note_folder(note: Any) -> str:
    """The folder a note's file belongs into."""
    return "vault" if note.pinned else f"graph/{NOTE_TYPES[note.type].folder}"


def _file_name(record: Any) -> str:
    """The id as a file's name; its class has checked it, and here it is checked that it is one name."""
    name: str = record.id
    if not name.strip(".") or "/" in name or "\\" in name:
        raise Invalid(f"{name[:80]!r} cannot be the name of a file")
    return name


_PARTS: dict[str, Callable[[Any], str]] = {  # what stands in braces in the table of kinds
    "id": _file_name, "path": lambda record: str(record.id), "month": lambda record: month(record.created),
    "topic": lambda record: check_topic(record.topic), "date": lambda record: str(record.date),
    "folder": note_folder, "slug": lambda record: slug(record.title),
    "suffix": lambda record: suffix(record.id),
    "from": lambda edge: slug(edge.from_title), "type": lambda edge: str(edge.type),
    "to": lambda edge: slug(edge.to_title),
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
