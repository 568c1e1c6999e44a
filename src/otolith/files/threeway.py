"""Three versions of a document made one: what both sides had before, what we have, what others have.

A record is merged field by field: what one side left alone is the other's to say, tags and relations are
sets, of two times of change the later one counts, a text is merged by its lines. What nobody can decide is
answered twice, once for each side, and marked where the two answers differ. Merging B into A decides as
merging A into B does, so two clones agree. Pure: bytes in, bytes out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from otolith.errors import OtolithError
from otolith.files import codec
from otolith.files.paths import ENTRY_FILES, former_kind, kind_of
from otolith.model.kinds import KINDS
from otolith.model.times import time_or_none

OURS, THEIRS = 0, 1
MARKS = (b"<<<<<<< ours\n", b"=======\n", b">>>>>>> theirs\n")
BUILT = ("CORE.md", "REFLECTION.md", "GLOBAL_MEMORY.md", "topic_memory.md")  # pages that are no records
_EARLIER = {"created", "created_at"}
_LATER = {"updated", "updated_at", "last_accessed", "last_seen"}
_MOST = {"access_count", "times"}
_SETS = {"tags", "aliases", "supersedes", "said", "files"}
_BLOCK = re.compile(rb"(?m)^(?=## \d\d:\d\d - )")
_ABSENT: Any = type("Absent", (), {"__repr__": lambda _: "ABSENT"})()


class Merged(NamedTuple):
    """The one document, and whether somebody has to decide between marked lines."""

    data: bytes
    disputed: bool = False


def merge(path: str, base: bytes | None, ours: bytes, theirs: bytes) -> Merged:
    """What the document at this path of a home should be; without a base both sides made it anew."""
    if ours == theirs or theirs == base:
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    if is_built(path, ours):
        return Merged(ours)  # the next upkeep builds it from all records
    if path.endswith((".jsonl", ".log")):
        return Merged(b"".join(_joined(_lines(base or b""), _lines(ours), _lines(theirs))))
    if path.startswith("episodes/"):
        return Merged(_merge_diary(base or b"", ours, theirs))
    try:
        answers = [_answer(path, base, ours, theirs, side) for side in (OURS, THEIRS)]
    except (OtolithError, *codec.STUMBLES):  # not readable as what it should be: lines are all there is
        answers = [b"".join(merge_items(side, *map(_lines, (base or b"", ours, theirs))))
                   for side in (OURS, THEIRS)]
    return Merged(answers[OURS]) if answers[OURS] == answers[THEIRS] else Merged(mark(*answers), True)


def is_built(path: str, data: bytes) -> bool:
    """Whether upkeep makes this document from others, so that no two versions of it need to be merged."""
    row = KINDS.get(kind_of(path))
    if row is None:
        return path.rsplit("/", 1)[-1] in BUILT
    return row.built or (bool(row.built_from) and b'"origin": "manual"' not in data)


def mark(ours: bytes, theirs: bytes) -> bytes:
    """Two answers as one text, each differing stretch of lines between marks."""
    a, b = _lines(ours), _lines(theirs)
    parts: list[bytes] = []
    for tag, start, stop, begin, end in _opcodes(a, b):
        if tag == "equal":
            parts += a[start:stop]
            continue
        for sign, lines in zip(MARKS, (a[start:stop], b[begin:end], []), strict=True):
            parts += [sign, *(line if line.endswith(b"\n") else line + b"\n" for line in lines)]
    return b"".join(parts)


def merge_items(side: int, base: Sequence[Any], ours: Sequence[Any], theirs: Sequence[Any]) -> list[Any]:
    """Two edits of one sequence, both carried out; where they touch each other, the side's own."""
    edits = sorted((start, stop, who) for who, other in ((OURS, ours), (THEIRS, theirs))
                   for tag, start, stop, _, _ in _opcodes(base, other) if tag != "equal")
    result: list[Any] = []
    done = 0
    while edits:
        start, stop, who = edits.pop(0)
        sides = {who}
        while edits and edits[0][0] <= stop:
            stop, who = max(stop, edits[0][1]), edits.pop(0)[2]
            sides.add(who)
        result += base[done:start]
        texts = [_stretch(base, other, start, stop) for other in (ours, theirs)]
        result += texts[side] if len(sides) > 1 and texts[OURS] != texts[THEIRS] else texts[min(sides)]
        done = stop
    return [*result, *base[done:]]


def _stretch(base: Sequence[Any], other: Sequence[Any], start: int, stop: int) -> list[Any]:
    """What stands on a side in place of base[start:stop], whose ends both sides left alone."""
    result: list[Any] = []
    for tag, first, last, begin, end in _opcodes(base, other):
        if tag == "equal":
            low, high = max(first, start), min(last, stop)
            result += base[low:high] if low < high else []
        elif start <= first and last <= stop:
            result += other[begin:end]
    return result


def _answer(path: str, base: bytes | None, ours: bytes, theirs: bytes, side: int) -> bytes:
    """The document if this side is right wherever nobody else can decide."""
    if path.rsplit("/", 1)[-1] in ENTRY_FILES or KINDS.get(former_kind(path)) is None:
        if not path.endswith(".json"):
            return b"".join(merge_items(side, *map(_lines, (base or b"", ours, theirs))))
        objects = [codec.read_object(data) if data is not None else _ABSENT for data in (base, ours, theirs)]
        return codec.write_object(_value("", side, *objects))
    versions: list[Any] = [None if data is None else _read(path, data) for data in (base, ours, theirs)]
    fields = [version.to_dict() if version else _ABSENT for version in versions]
    merged = type(versions[1]).from_dict(_value("", side, *fields))
    by_lines = b"".join(merge_items(side, *map(_lines, (base or b"", ours, theirs))))
    if _says(path, by_lines, merged):  # the lines say the same and keep what people wrote around the values
        return by_lines
    return codec.amend(ours, versions[1], merged, path)


def _read(path: str, data: bytes) -> Any:
    return codec.decode(path, data, lambda: 0.0)[0]


def _says(path: str, data: bytes, record: Any) -> bool:
    try:
        return bool(_read(path, data) == record)
    except OtolithError:
        return False


def _value(name: str, side: int, base: Any, ours: Any, theirs: Any) -> Any:
    """One field of three versions; ABSENT where a version does not have it."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    both = (ours, theirs)
    if name in _EARLIER | _LATER | _MOST and _ABSENT not in both:
        return (min if name in _EARLIER else max)(both, key=_size)
    if name == "origin":
        return max(both, key=lambda origin: _size(origin.get("at") if isinstance(origin, Mapping) else None))
    if all(isinstance(value, Mapping) for value in both):
        return _object(side, base if isinstance(base, Mapping) else {}, ours, theirs)
    if all(isinstance(value, list | tuple) for value in both):
        return _list(name, side, base if isinstance(base, list | tuple) else (), ours, theirs)
    if all(isinstance(value, str) for value in (*both, base)) and "\n" in ours + theirs:
        return "\n".join(merge_items(side, *(value.split("\n") for value in (base, *both))))
    return both[side]


def _object(side: int, base: Mapping[str, Any], ours: Mapping[str, Any],
            theirs: Mapping[str, Any]) -> dict[str, Any]:
    versions = base, ours, theirs
    values = {key: _value(key, side, *(version.get(key, _ABSENT) for version in versions))
              for key in dict.fromkeys((*ours, *sorted(theirs.keys() - ours.keys())))}
    return {key: value for key, value in values.items() if value is not _ABSENT}


def _list(name: str, side: int, base: Sequence[Any], ours: Sequence[Any], theirs: Sequence[Any]) -> list[Any]:
    if name == "relations":
        versions = [{_end_of(item): item for item in items} for items in (base, ours, theirs)]
        places = {end: at for at, end in enumerate(versions[0])}
        ends = _object(side, *versions)
        return [ends[end] for end in sorted(ends, key=lambda end: (places.get(end, len(places)), end))]
    if name in _SETS:
        gone = {*base} - ({*ours} & {*theirs})
        return [item for item in (*base, *sorted({*ours, *theirs} - {*base})) if item not in gone]
    return merge_items(side, base, ours, theirs)


def _end_of(relation: Any) -> str:
    return "\0".join(str(relation.get(key)) for key in ("target", "type", "direction"))


def _size(value: Any) -> tuple[float, str]:
    """What to compare times and numbers by, however they are written."""
    when = float(value) if isinstance(value, int | float) else time_or_none(value)
    return (when or 0.0, str(value))


def _merge_diary(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """A day's blocks, each whole, in the order of their time; a struck one stays struck."""
    before, own, other = (_blocks(data) for data in (base, ours, theirs))
    blocks = _joined(before[1:], own[1:], other[1:])
    blocks.sort(key=lambda block: (block[:8], block not in before, block))
    return own[0] + b"".join(blocks)


def _blocks(data: bytes) -> list[bytes]:
    """A diary's heading and its blocks, each with the empty line that ends it."""
    return [block.rstrip(b"\n") + b"\n\n" for block in _BLOCK.split(data)]


def _joined(base: list[bytes], ours: list[bytes], theirs: list[bytes]) -> list[bytes]:
    """All that either side has, each once, but for what one of them took out."""
    taken = ({*base} - {*ours}) | ({*base} - {*theirs})
    return [line for line in dict.fromkeys((*ours, *theirs)) if line not in taken]


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _opcodes(a: Sequence[Any], b: Sequence[Any]) -> list[tuple[str, int, int, int, int]]:
    from difflib import SequenceMatcher

    before, after = ([item if isinstance(item, str | bytes) else repr(item) for item in items]
                     for items in (a, b))
    return list(SequenceMatcher(None, before, after, autojunk=False).get_opcodes())
