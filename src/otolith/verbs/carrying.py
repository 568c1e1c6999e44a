"""`push` and `pull`: a folder and a team's space brought together, document by document.

What both sides agreed on last lies in the folder's log (`log/base-<8 hex>/`), so it is known who changed it:
changed here only, it goes up, if nobody was faster; changed there only, it comes down; changed on both sides,
it is merged by kind, and what nobody can decide is marked in the file here and shown by `check`. What is gone
on one side stays on the other unless somebody says otherwise, but a purge is obeyed on both. Each document is
done when its base is: what was interrupted goes on with the next call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any, NamedTuple

from otolith import config
from otolith.errors import Conflict, Damaged, Invalid, NotFound
from otolith.files import codec, ledger, paths
from otolith.files.threeway import MARKS, merge
from otolith.files.tree import HANDS, Hand, Tree, by_line, fingerprint
from otolith.home import Home
from otolith.model.kinds import KINDS
from otolith.model.recall import Filter
from otolith.model.record import Change
from otolith.model.times import time_or_none
from otolith.verbs import purge
from otolith.verbs.steps import bytes_of

Progress = Callable[[int, int], None]
MADE = ("remember", "note", "memo", "log", "record", "link", "chapter", "page", "took", "promoted")  # anew
OWN = ("_config.json", ".lock")  # one machine's
AT_ONCE = 100  # documents in one transaction


class Difference(NamedTuple):
    """One document: as both had it, as it is here and there; None where there is none."""

    path: str
    base: bytes | None
    here: bytes | None
    there: bytes | None


def push(home: Home, other: Home, *, delete: bool = False, progress: Progress | None = None) -> list[Change]:
    """Bring what changed here into the space; what changed there comes down only where both did."""
    return _carry(home, other, _push_one, delete, progress)


def pull(home: Home, other: Home, *, delete: bool = False, progress: Progress | None = None) -> list[Change]:
    """Bring what changed in the space into the folder; nothing is written there."""
    return _carry(home, other, _pull_one, delete, progress)


def _carry(home: Home, other: Home, act: Callable[..., str], delete: bool,
           progress: Progress | None) -> list[Change]:
    home.folder()
    base = f"log/base-{fingerprint(other.tree.name.encode())[:8]}"
    changes = _obey_purges(home, other, both=act is _push_one)
    sides = [side for side in _sides(home, other, base) if not side.here == side.there == side.base]
    _check_same_home(sides)
    for start in range(0, len(sides), AT_ONCE):
        with home.writing(), home.tree.bulk(), other.tree.lock():
            done = [(side, act(home, other, side, delete)) for side in sides[start : start + AT_ONCE]]
        for side, what in done:
            _agree(home, other, base, side, what)
        if progress:
            progress(start + len(done), len(sides))
        changes += [Change(what, side.path) for side, what in done if what]
    _note_hands(home, other, _documents(home.tree))
    if act is _push_one:
        other.sweep(accept_removals=delete)
    home.sweep(accept_removals=delete)
    return changes


def _documents(tree: Tree) -> list[str]:
    """Every document of a home but those that are one machine's own."""
    names = [path for path, version in tree.scan() if version is not None]
    others = [path for path in paths.OTHER_FILES if path not in OWN and tree.look(path)]
    return sorted({*names, *tree.within("index"), *others})


def _sides(home: Home, other: Home, base: str) -> Iterator[Difference]:
    here, there = _documents(home.tree), _documents(other.tree)
    agreed = [path.removeprefix(f"{base}/") for path, _ in home.tree.scan(base)]
    names = sorted({*here, *there, *agreed})
    with other.tree.reading(names) as far:
        for path in names:
            yield Difference(path, bytes_of(home, f"{base}/{path}"), bytes_of(home, path), _read(far, path))


def _read(tree: Tree, path: str) -> bytes | None:
    try:
        return tree.read(path)[0]
    except (NotFound, Damaged):
        return None


def _check_same_home(sides: Sequence[Difference]) -> None:
    """A home and another one are not versions of each other: neither is laid over the other."""
    for side in sides:
        if side.path == config.TRACKED and side.base is None and side.here and side.there:
            ids = [config.read_settings(data).get("home_id") for data in (side.here, side.there)]
            if ids[0] != ids[1]:
                raise Conflict("the folder and the space are two different homes", "push to an empty space, "
                               "pull into an empty folder, or copy single records: otolith promote")


# One document

def _push_one(home: Home, other: Home, side: Difference, delete: bool) -> str:
    if side.here is None or side.here == side.base:  # gone here, or changed there only
        if side.here is None and side.there is not None and side.there == side.base:
            return _gone(other.tree, side, delete, "here")
        return ""
    if is_marked(side.here):
        return "undecided"
    if side.here == side.there:
        return ""
    if side.there is None or side.there == side.base:
        _put(other.tree, side.path, side.here, side.there)
        return "pushed"
    result = _merged(side)
    if result is None:
        return _dispute(home, side)
    _put(other.tree, side.path, result, side.there)
    _put(home.tree, side.path, result, side.here)
    return "merged"


def _pull_one(home: Home, _other: Home, side: Difference, delete: bool) -> str:
    if side.there is None or side.there in (side.base, side.here):
        if side.there is None and side.here is not None and side.here == side.base:
            return _gone(home.tree, side, delete, "there")
        return ""
    if side.here is None or side.here == side.base:
        _put(home.tree, side.path, side.there, side.here)
        return "pulled"
    if is_marked(side.here):
        return "undecided"
    result = _merged(side)
    if result is None:
        return _dispute(home, side)
    _put(home.tree, side.path, result, side.here)
    return "merged"


def _agree(home: Home, other: Home, base: str, side: Difference, what: str) -> None:
    """Note what both sides have in common now; of a merge that only one side has, the other side's."""
    now = bytes_of(home, side.path)
    if what in ("pushed", "removed there") or (what == "" and side.here == side.there):
        agreed = now
    elif what in ("pulled", "merged", "disputed", "removed here"):
        agreed = _read(other.tree, side.path) if what != "pulled" else side.there
    else:
        return
    place = f"{base}/{side.path}"
    if agreed is None:
        with suppress(NotFound):
            home.tree.remove(place)
    elif agreed != side.base:
        _put(home.tree, place, agreed, side.base)


def _put(tree: Tree, path: str, data: bytes, before: bytes | None) -> None:
    """Write a document in place of what was read; lines that were only added are appended, so that each keeps
    its writer.
    """
    if before and path.endswith((".jsonl", ".log")) and data.startswith(before) and before[-1:] == b"\n":
        tree.append(path, data[len(before):], synced=True)
    elif data != before:
        tree.write(path, data, None if before is None else fingerprint(before))


def _gone(tree: Tree, side: Difference, delete: bool, where: str) -> str:
    if not delete:
        return f"gone {where}, kept"
    tree.remove(side.path)
    return f"removed {'there' if where == 'here' else 'here'}"


def _merged(side: Difference) -> bytes | None:
    """Both sides' document; None if somebody has to decide."""
    ours, theirs = side.here or b"", side.there or b""
    if side.path.endswith((".jsonl", ".log")):
        had, mine, others = (part.splitlines(keepends=True) for part in (side.base or b"", ours, theirs))
        taken = ({*had} - {*mine}) | ({*had} - {*others})
        return b"".join(line for line in dict.fromkeys((*others, *mine)) if line not in taken)
    result = merge(side.path, side.base, ours, theirs)
    return None if result.disputed else result.data


def _dispute(home: Home, side: Difference) -> str:
    marked = merge(side.path, side.base, side.here or b"", side.there or b"").data
    _put(home.tree, side.path, marked, side.here)
    return "disputed"


def is_marked(data: bytes) -> bool:
    """Whether a person has yet to choose between two texts."""
    return MARKS[0][:8] in data and any(line.startswith(MARKS[0][:8]) for line in data.splitlines())


# Purges

def _obey_purges(home: Home, other: Home, *, both: bool) -> list[Change]:
    """What was purged on one side and not made again goes on the other, wherever it lies."""
    changes = []
    for side, far in ((home, other), (other, home))[: 2 if both else 1]:
        side.sweep()
        for kind, name in _purged(far):
            for record in _bearing(side, kind, name):
                purge.purge(side, record)
                changes.append(Change("purged here" if side is home else "purged there", record))
    return changes


def _purged(home: Home) -> Iterator[tuple[str, str]]:
    """(kind, name in the audit log) of what was purged and not made again since."""
    last: dict[tuple[str, str], tuple[float, str]] = {}
    for _, line in ledger.read_log(home.tree, paths.AUDIT):
        if line and line.get("verb") in ("purged", *MADE):
            about = str(line.get("kind")), str(line.get("id"))
            act = time_or_none(line.get("ts")) or 0.0, str(line["verb"])
            last[about] = max(last.get(about, act), act, key=itemgetter(0))
    yield from (about for about, (_, verb) in last.items() if verb == "purged")


def _bearing(home: Home, kind: str, name: str) -> list[str]:
    """The records that an audit line names, as far as they are still there."""
    if not getattr(KINDS.get(kind), "purge", ""):
        return []
    if not KINDS[kind].id_tells:
        return [name] if home.index.cards.find(name) or home.index.cards.archived(name) else []
    there = home.index.cards.listing(Filter(kind=(kind,)), None)[0]
    ids = {row.id for row in there} | {row.id for row in home.index.cards.archived() if row.kind == kind}
    return [id for id in ids if home.audit_name(kind, id) == name]


# Whose word it is

def _note_hands(home: Home, other: Home, names: Sequence[str]) -> None:
    """Remember who wrote what came from the space: a folder's own files do not tell."""
    noted: dict[str, Any] = {}
    with other.tree.reading(names) as far:
        for path in names:
            if (there := _read(far, path)) is None or all(hand.trust == "user" for hand in far.hands(path)):
                continue
            own = bytes_of(home, path) or b""
            noted[path] = [list(hand) for hand in _here(path, own, there, far.hands(path))]
    before = bytes_of(home, HANDS)
    after = (json.dumps(noted, indent=1, sort_keys=True) + "\n").encode()
    if noted or before is not None:
        _put(home.tree, HANDS, after, before)


def _here(path: str, here: bytes, there: bytes, hands: Sequence[Hand]) -> list[Hand]:
    """Whose each line of an append-only file is here, where others may stand between; of any other, the least
    trusted one's.
    """
    if not path.endswith(".jsonl"):
        return [codec.least(hands)]
    writers = dict(zip(there.split(b"\n"), by_line(there, hands), strict=False))
    own = Hand(0, "", hands[0].space, "user")
    return [writers.get(line, own)._replace(size=len(line) + 1) for line in here.split(b"\n")]


def check_url(url: str, space: str | None) -> str:
    """The name of a space: by its whole URL, or the database's and its own."""
    if space and "#" in url:
        raise Invalid(f"{url!r} names a space already", "leave out --space")
    return f"{url}#{space}" if space else url
