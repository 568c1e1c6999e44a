"""What names look like: ids of every kind, and slugs.

Every id that may reach a path is checked here first, against a whitelist, so that `../x` never gets that far.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from otolith.errors import Invalid
from otolith.model.text import check_whole
from otolith.model.times import day, utc

SLUG_BYTES = 60
_SAFE = r"[A-Za-z0-9][A-Za-z0-9_.:#-]{0,199}"
_CHUNK = r"chunk-[A-Za-z0-9_-]{1,120}"
_AGENT = r"[A-Za-z0-9_.-]{1,64}"
_PREFIXED = r"(mem|chapter|wisdom|agent|entry|fact)_[A-Za-z0-9_.-]{1,120}"
_MEMO = r"[^\W_]+(?:_[^\W_]+)*"
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"


def check_id(value: object, where: str = "id") -> str:
    """Any id of any kind; what could be a path or a command is refused."""
    if isinstance(value, str) and ".." not in value and (
            re.fullmatch(_SAFE, value) or _memo_like(value) or _topic(value)):
        return value
    raise Invalid(f"{where} {str(value)[:80]!r} is not an id",
                  "ids hold letters, digits, '-', '_', '.', ':' and '#'")


def _memo_like(value: str) -> bool:
    return len(value) <= 200 and re.fullmatch(_MEMO, value) is not None


def _topic(value: str) -> bool:
    return value.startswith("topic:") and slug(value[6:]) == value[6:]


def check_chunk_id(value: object) -> str:
    """A chunk's id: [A-Za-z0-9_-] after `chunk-`."""
    if isinstance(value, str) and re.fullmatch(_CHUNK, value):
        return value
    raise Invalid(f"{str(value)[:80]!r} is not a chunk id", "it looks like chunk-2026-02-10-a1b2c3d4")


def check_agent_id(value: object) -> str:
    """An agent's id as given by its user."""
    if isinstance(value, str) and re.fullmatch(_AGENT, value) and set(value) != {"."}:
        return value
    raise Invalid(f"{str(value)[:80]!r} is not an agent id", "use letters, digits, '_', '.', '-', at most 64")


def check_prefixed(value: object, prefix: str) -> str:
    """An id such as mem_… or chapter_…."""
    if isinstance(value, str) and value.startswith(prefix + "_") and re.fullmatch(_PREFIXED, value):
        return value
    raise Invalid(f"{str(value)[:80]!r} is not a {prefix}_ id")


def check_uuid(value: object, where: str = "id") -> str:
    """A note's or an edge's id."""
    if isinstance(value, str) and re.fullmatch(_UUID, value):
        return value
    raise Invalid(f"{where} {str(value)[:80]!r} is not a UUID")


@lru_cache(maxsize=64)  # a title's file, its diary line and its edges ask one after the other
def slug(title: str, limit: int = SLUG_BYTES) -> str:
    """A file-safe name in any script: NFC, casefolded, letters and digits, the rest one dash."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", title).casefold())
    name = "".join(char if char.isalnum() or unicodedata.category(char)[0] == "M" else "-" for char in folded)
    name = re.sub("-+", "-", name).strip("-")
    cut = name.encode()[:limit].decode(errors="ignore").rstrip("-")
    return cut or "untitled"


@lru_cache(maxsize=256)
def check_topic(name: str) -> str:
    """A topic's name: a slug, or whatever one folder of a foreign home may be called."""
    foreign = re.fullmatch(r"[^\W_][\w .,+&'()-]{0,119}", name) and not name.endswith((".", " "))
    if slug(name) == name or foreign:
        return name
    raise Invalid(f"{name[:80]!r} is not a topic name", f"try {slug(name)!r}")


def suffix(record_id: str) -> str:
    """The six characters of an id that a file name ends in."""
    return record_id[:6]


def chunk_id(now: float, token: str) -> str:
    """chunk-<UTC date>-8 hex."""
    return f"chunk-{day(now)}-{token[:8]}"


def entry_id(now: float, token: str) -> str:
    """entry_YYYYMMDDTHHMMSSZ_8 hex."""
    return f"entry_{utc(now).strftime('%Y%m%dT%H%M%SZ')}_{token[:8]}"


def episode_ids(date: str, headings: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(id, the id it had before 0.2) of each block of a day's diary, from its heading line `## HH:MM - …`.

    A block is named by what its line says, not by its place: two clones that joined their diaries in another
    order name it alike.
    """
    seen: dict[str, int] = {}
    for heading in headings:
        line = heading.strip()
        minute = line[3:8].replace(":", "")
        name = f"episode:{date}#{minute}-{hashlib.sha256(line.encode()).hexdigest()[:6]}"
        for counted in (name, minute):
            seen[counted] = seen.get(counted, 0) + 1
        again = f"-{seen[name]}" if seen[name] > 1 else ""
        yield f"{name}{again}", f"episode:{date}#{minute}-{seen[minute]}"


def time_of_entry(entry: str) -> str | None:
    """The time that an entry's id tells, as entry_ts has it; None if it tells none."""
    parts = re.match(r"entry_(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z(?:_|$)", entry)
    return "{}-{}-{}T{}:{}:{}Z".format(*parts.groups()) if parts else None


def derived_uuid(*parts: str) -> str:
    """The same UUID for the same parts, for keys and for everything that is found rather than written."""
    import uuid

    if not all(isinstance(part, str) for part in parts):
        raise Invalid("a key must be text")
    check_whole(parts[1:])
    return str(uuid.uuid5(uuid.UUID("6f1d4b1e-5a4e-5c57-9f0a-0c1d57a7a5ee"), "\0".join(parts)))


def fact_id(topic: str, subject: str, relation: str, obj: str) -> str:
    """The id of a topic's fact, the same in every rebuild."""
    parts = f"{topic}\0{normal(subject)}\0{normal(relation)}\0{normal(obj)}"
    return "fact_" + hashlib.sha256(parts.encode()).hexdigest()[:16]


@lru_cache(maxsize=1024)
def normal(part: str) -> str:
    """A fact's part as it is compared: NFKC, casefolded, white space collapsed, final punctuation dropped.

    Who speaks of what in which words changes little from one sentence to the next, so the latest are kept.
    """
    folded = unicodedata.normalize("NFKC", part).casefold()
    return " ".join(folded.split()).rstrip(".,;:!?…。！？ ")


def short_id(id: str) -> str:
    """Enough of an id to ask for it again; the rest of a UUID costs an agent as much as a sentence."""
    start = re.match(r"(?:[a-z]+_)?[0-9a-f]{8}(?=-[0-9a-f]{4}-)", id)
    return start[0] if start else id
