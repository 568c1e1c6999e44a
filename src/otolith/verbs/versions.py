"""Former versions of a record: what an edit replaced lies in archive/edited/, by file name and moment.

The newest thirty of a record are kept; a purge takes them with it. What was changed by hand in a file,
Otolith sees only afterwards: of that there is no former version but those that git or a backup has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from otolith.errors import Damaged, Invalid, NotFound
from otolith.files import codec, ledger, paths
from otolith.home import Home, Loaded
from otolith.index.database import Row
from otolith.model.kinds import KINDS
from otolith.model.times import parse_time, utc, zulu
from otolith.verbs.steps import locate

KEPT = 30
DIGITS = 6  # of the fingerprint in a version's name


def keep_version(home: Home, loaded: Loaded) -> None:
    """Lay aside what an edit is about to replace; the oldest beyond thirty go."""
    moment = f"{utc(home.clock()):%Y%m%dT%H%M%SZ}"
    number = sum(_name(place).startswith(moment) for place in _places(home, loaded.path))
    home.refresh([ledger.lay_aside(home.tree, loaded.path, loaded.data, home.clock(), number)])
    for path in _places(home, loaded.path)[:-KEPT]:
        home.tree.remove(path)
        home.refresh([path])


def versions(home: Home, handle: str) -> list[dict[str, Any]]:
    """The former versions of a record, newest first: name, until when it stood, what it fields."""
    row = locate(home, handle)
    return [{"version": name, "until": zulu(parse_time(name[:16])), "title": record.title,
             "record": {field: codec.public(record).get(field) for field in KINDS[row.kind].editable}}
            for name, record in reversed(list(_read(home, row)))]


def fields_of(home: Home, row: Row, version: str) -> dict[str, Any]:
    """What a former version fields, as the changes that bring it back."""
    for moment, record in _read(home, row):
        if moment == version:
            fields = codec.public(record)
            editable = KINDS[row.kind].editable
            return {name: fields[name] for name in editable if fields.get(name) is not None}
    raise NotFound(f"{row.id} has no version {version[:60]!r}", f"see: otolith versions {row.id}")


def _places(home: Home, path: str) -> list[str]:
    """Where the former versions of a file lie, oldest first, whatever folder it was in then."""
    start = f"{path.rsplit('/', 1)[-1]}."
    places = [place for place in home.index.notes.documents(paths.EDITED)
             if place.rsplit("/", 1)[-1].startswith(start)]
    return sorted(places, key=_order)


def _order(place: str) -> tuple[str, int, str]:
    """By moment, then by number: 20260210T213700Z-1a2b3c-2."""
    moment, _, rest = _name(place).partition("-")
    number = rest.rpartition("-")[2] if len(rest) != DIGITS else ""
    return moment, int(number) if number.isdecimal() else 0, place


def _name(place: str) -> str:
    return place.rpartition(".")[2]


def _read(home: Home, row: Row) -> Iterator[tuple[str, Any]]:
    """(name, record) of each version that is this record's and can be read, oldest first."""
    if not KINDS[row.kind].editable:
        raise Invalid(f"{KINDS[row.kind].named} is not edited, so it has no former versions")
    for place in _places(home, row.unit):
        try:
            data, _ = home.tree.read(place)
            path = place.removeprefix(paths.EDITED).rpartition(".")[0]
            record = codec.decode(path, data, float)[0]
        except (NotFound, Damaged, Invalid, IndexError):
            continue
        if record.id == row.id:
            yield _name(place), record
