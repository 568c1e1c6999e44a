"""Files against index: finds what was added, edited, renamed and removed, and brings the index up to it.

Additions come before removals, so a rename never leaves a moment in which neither name is known. A file that
cannot be read keeps its last good rows and becomes a finding. A home of which half vanishes at once is not
believed. Nothing here writes to the tree.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from otolith.errors import BrokenIndex, Damaged, Invalid, NeedsConfirmation, NotFound
from otolith.files import codec, paths
from otolith.files.tree import Tree, fingerprint, former_end
from otolith.index.database import REMEDY
from otolith.index.documents import Filling, Sweep
from otolith.index.store import Index
from otolith.index.write import Unit
from otolith.model.mine import OUTSIDE
from otolith.model.record import Change, Finding, Stretch, Version
from otolith.units import UNREAD, broken, broken_by, owned, read_unit, stamps

BATCH = 500
_BLOCK = re.compile(rb"(?m)^## \d\d:\d\d - ")  # how a diary goes on
STAMP_SECONDS = 1.0
VANISHED_FILES, VANISHED_SHARE = 20, 0.5
LEAVING = ("removed", "moved-from")
MINE = "mine"  # the mark of each import and record that a person called theirs
Progress = Callable[[int, int], None]


def check_removals(changes: Sequence[Change], known: int, accepted: bool) -> None:
    """Half a home gone at once is more likely an unmounted disk than a wish."""
    removed = sum(change.what == "removed" for change in changes)
    if not accepted and removed >= VANISHED_FILES and removed >= known * VANISHED_SHARE:
        raise NeedsConfirmation(f"{removed} of {known} files are gone; the index was left as it is",
                                "if that is right: otolith sync --accept-removals")


def sweep(tree: Tree, index: Index, *, accept_removals: bool = False, progress: Progress | None = None,
          order: Mapping[str, int] | None = None) -> list[Change]:
    """The full walk. What changed is read by path, or in a given order of units, new ones last."""
    began, opened = time.monotonic(), index.times_opened
    index.documents.refuse_hollow()
    known, changes = _differences(tree, index)
    check_removals(changes, len(known), accept_removals)
    cost, last = time.monotonic() - began, index.documents.last_sweep()
    if not changes and last and 0 <= time.time() - last.when < STAMP_SECONDS and bool(last.cursor) == bool(
            tree.cursor):
        return []  # nothing to report, and a stamp is a commit: once a second is enough
    with index.documents.batch():
        if index.times_opened != opened:  # replaced while we looked
            known, changes = _differences(tree, index)
        changes = _settle(tree, index, changes)
        if order:
            changes.sort(key=lambda change: order.get(paths.unit_of(change.path), sys.maxsize))
        if changes:
            before = {finding.path: finding.message for finding in index.cards.problems()}
            unread = _apply(tree, index, changes, progress, fresh=not known)
            if unread:
                reasons = {finding.path: finding.message for finding in index.cards.problems()}
                changes = [_as_read(change, unread, reasons) for change in changes]
                changes = [change for change in changes if not _known_unread(change, known, before)]
        index.documents.note_sweep(Sweep(time.time(), cost, tree.cursor))
    return [change for change in changes if change.what not in ("looked", "moved-from")]


def _differences(tree: Tree, index: Index) -> tuple[Mapping[str, Version | None], list[Change]]:
    """(the versions the index knows, what differs from them): all, or what was told since the cursor."""
    last = index.documents.last_sweep()
    if not last or not last.cursor:
        versions: Mapping[str, Version | None] = index.documents.versions()
        return versions, _believed(tree, versions, tree.changes(versions))
    versions = index.documents.known()
    changes = tree.changes(versions, last.cursor)
    listed = {change.path for change in changes}
    changes += [Change("edited", path) for path in index.documents.unread(UNREAD) if path not in listed]
    return versions, changes + _unsettled(tree, [path for path in index.documents.unsettled()
                                                 if path not in listed])


def _unsettled(tree: Tree, names: Sequence[str]) -> list[Change]:
    """What was written but perhaps never came to be: a transaction may end otherwise than it seemed."""
    with tree.reading(names) as steady:
        return [Change("looked" if steady.look(path) else "removed", path) for path in names]


def _settle(tree: Tree, index: Index, changes: Sequence[Change]) -> list[Change]:
    """Of the files that only may have changed, those with other bytes did; the rest was just seen again."""
    kept, same = [], {}
    with tree.reading([change.path for change in changes if change.what == "looked"]) as steady:
        for change in changes:
            if change.what == "edited" and _only_points(tree, index, change.path):
                continue
            before = index.documents.fingerprint(change.path) if change.what == "looked" else None
            if before:
                try:
                    data, version = steady.read(change.path)
                except (NotFound, Damaged):
                    data = None
                if data is not None and fingerprint(data) == before:
                    same[change.path] = version.settled
                    continue
                change = Change("edited", change.path)
            kept.append(change)
    index.documents.seen_again(same)
    return kept


def _only_points(tree: Tree, index: Index, path: str) -> bool:
    """Whether a diary only grew, by blocks that point to records: then the index learns only that it did."""
    before = index.documents.fingerprint(path) if path.startswith("episodes/") else None
    if before is None:
        return False
    try:
        data, version = tree.read(path)
        end = former_end(data, before, (block.start() for block in _BLOCK.finditer(data)))
        if end is None or not all(block.points for block in codec.decode(path, data[end:], float)):
            return False
    except (NotFound, Damaged):
        return False
    return index.documents.restamp(path, before, stamps({path: (version, data)})[path])


def _believed(tree: Tree, known: Mapping[str, Version | None], changes: list[Change]) -> list[Change]:
    """The changes without the removal of files whose folder cannot be read just now: they are not gone."""
    if not any(change.what in LEAVING for change in changes):
        return changes
    left = {change.path for change in changes if change.what in LEAVING}
    odd = {path for path, version in known.items() if version is None} | {
        change.path for change in changes if change.reason}
    shut = [f"{path}/" for path in odd - left if _is_shut(tree, path)]
    return [change for change in changes
            if change.what not in LEAVING or not change.path.startswith(tuple(shut))] if shut else changes


def _is_shut(tree: Tree, path: str) -> bool:
    """Whether something lies there that may be a folder: nothing that was put in a folder's place."""
    try:
        tree.read(path)
    except Damaged as error:
        return error.flaw in ("unreadable", "not-a-file")
    except NotFound:
        pass
    return False


def _known_unread(change: Change, known: Mapping[str, Version | None], before: Mapping[str, str]) -> bool:
    """Whether a file was tried again in vain, for the reason that was told before."""
    version = known.get(change.path)
    return (change.what == "not-read" and version is not None and version[0] == UNREAD
            and before.get(paths.unit_of(change.path)) == change.reason)


def _as_read(change: Change, unread: set[str], reasons: Mapping[str, str]) -> Change:
    """What holds nothing that could be taken in was not added, edited or moved; `check` gives the reason."""
    unit = paths.unit_of(change.path)
    if change.what in ("added", "edited", "moved") and unit in unread and unit in reasons:
        return Change("not-read", change.path, reasons[unit])
    return change


def _apply(tree: Tree, index: Index, changes: Sequence[Change], progress: Progress | None, *,
           fresh: bool) -> set[str]:
    """Read what changed into the index; returns the units that held nothing but findings."""
    alive = dict.fromkeys(paths.unit_of(change.path) for change in changes if change.what not in LEAVING)
    gone = {paths.unit_of(change.path) for change in changes if change.what in LEAVING} - alive.keys()
    alive |= dict.fromkeys(name for name in gone if _is_there(tree, name))
    gone -= alive.keys()
    odd = {change.path: change.reason for change in changes if change.reason}
    done, unread = 0, set[str]()
    before = set(index.marks.all(MINE))
    if paths.ANSWERS in gone:
        index.marks.replace(MINE, ())
    with index.documents.filling(fresh=fresh and index.documents.is_empty()) as filling:
        for batch in _batches(_read_all(tree, alive, gone, odd)):
            units = _put(index, filling, batch, gone)
            unread.update(unit.name for unit in units if unit.broken or (
                unit.findings and not unit.cards and paths.kind_of(unit.name) not in paths.LEDGERS))
            done += len(batch)
            if progress:
                progress(done, len(alive))
        filling.remove({name: paths.files_of(name) for name in gone})
    _reconsider(tree, index)
    _reown(tree, index, before)
    return unread


def _is_there(tree: Tree, name: str) -> bool:
    """What another process wrote since the walk, or an entry that lost one file, is not gone."""
    try:
        return name not in paths.SCANNED and any(tree.look(path) for path in paths.files_of(name))
    except Invalid:  # only what is written as a path is ever put into the index
        raise BrokenIndex(f"the index is damaged (it names {name[:60]!r})", "try: otolith reindex") from None


def _reconsider(tree: Tree, index: Index) -> None:
    """A file that was refused for having another's id may have it now that something changed."""
    if names := index.documents.contested():
        put(index, list(_read_all(tree, names, gone := set[str]())), gone)


def doubles(tree: Tree, index: Index, record: str) -> list[str]:
    """The files that hold an id which another file has: with that one gone, theirs would be the record."""
    return [path for unit in _read_all(tree, index.documents.contested(), set())
            if any(card.id == record for card in unit.cards) for path in unit.files]


def second_names(tree: Tree, index: Index) -> list[str]:
    """Files refused for an id that are a second name of the very file that has it: of a move cut off."""
    twins, names = [], index.documents.contested()
    for unit in _read_all(tree, names, set()) if names else ():
        for owner in index.cards.units_of([card.id for card in unit.cards]).values():
            own, other = tree.look(unit.name), tree.look(owner)
            if owner != unit.name and own and other and own.same == other.same:
                twins.append(unit.name)
    return twins


def _read_all(tree: Tree, names: Iterable[str], gone: set[str],
              odd: Mapping[str, str] | None = None) -> Iterator[Unit]:
    names = list(names)
    with tree.reading([path for name in names for path in paths.files_of(name)]) as steady:
        for name in names:
            unit = read_unit(steady, name)
            if unit is None and odd and name in odd:
                unit = broken(tree, name, Damaged(odd[name], flaw="not-a-file"))
            if unit is None:
                gone.add(name)
            else:
                yield unit


def _batches(units: Iterator[Unit]) -> Iterator[list[Unit]]:
    while batch := list(islice(units, BATCH)):
        yield batch


def touch(tree: Tree, index: Index, units: Iterable[str]) -> bool:
    """Look at the files of these units once more; what moved is read again, a vanished one forces a sweep."""
    stale = []
    parts = {unit: paths.files_of(unit) for unit in map(paths.unit_of, units)}  # a fact is named by a part
    try:
        for unit in parts:
            paths.check_path(unit)
    except Invalid as error:  # only an index that is damaged names such a file
        raise BrokenIndex(f"the index is damaged ({error.message})", REMEDY) from None
    known = index.documents.versions([path for files in parts.values() for path in files])
    for unit, files in parts.items():
        for path in files if not known.keys().isdisjoint(files) else ():
            version, before = tree.look(path), known.get(path)
            if version is None and path in known:
                sweep(tree, index)
                return True
            if version is not None and (before is None or version[0] != before[0]):
                stale.append(unit)
    if stale:
        refresh(tree, index, stale)
    return bool(stale)


def refresh(tree: Tree, index: Index, names: Iterable[str]) -> None:
    """Read these units again, or drop those that are gone."""
    gone: set[str] = set()
    with index.writing():  # read inside, so that nobody's newer rows are written over with older ones
        before = set(index.marks.all(MINE))
        put(index, list(_read_all(tree, dict.fromkeys(names), gone)), gone)
        _reconsider(tree, index)
        _reown(tree, index, before)


def _reown(tree: Tree, index: Index, before: set[str]) -> None:
    """Read again what a person called theirs since, or no longer does."""
    if changed := before ^ set(index.marks.all(MINE)):
        put(index, list(_read_all(tree, index.cards.units_named(changed), gone := set[str]())), gone)


def extend(index: Index, unit: Unit, passages: Sequence[Stretch], names: Sequence[str]) -> None:
    """Write what a unit grew by into the index; nothing else of it is read."""
    with index.documents.filling() as filling:
        filling.extend(unit, passages, names)


def put(index: Index, units: Sequence[Unit], gone: Iterable[str] = ()) -> None:
    """Write units into the index in one transaction."""
    left = set(gone)
    if paths.ANSWERS in left:
        index.marks.replace(MINE, ())
    with index.documents.filling() as filling:
        _put(index, filling, units, left)
        filling.remove({name: paths.files_of(name) for name in left})


def _put(index: Index, filling: Filling, units: Sequence[Unit], gone: set[str]) -> Sequence[Unit]:
    ids = [card.id for unit in units for card in unit.cards]
    owners = index.cards.units_of(ids)
    if owners or len({*ids}) < len(ids):
        units = list(_own_ids(filling, units, gone, owners))
    for unit in units:
        if unit.mine is not None:
            index.marks.replace(MINE, unit.mine)
    strange = any(card.trust == OUTSIDE for unit in units for card in unit.cards)
    if strange and (mine := index.marks.all(MINE)):
        units = [owned(unit, mine) for unit in units]
    parts = {unit.name: paths.files_of(unit.name) for unit in units}
    try:
        with index.savepoint():
            filling.put(units, parts)
        return units
    except codec.STUMBLES as error:  # a value that no column takes: its file is named, the others are taken
        if len(units) == 1:
            units = [broken_by(units[0], error)]
            filling.put(units, parts)
            return units
        return [done for unit in units for done in _put(index, filling, [unit], gone)]


def _own_ids(filling: Filling, units: Sequence[Unit], gone: set[str],
             owners: Mapping[str, str]) -> Iterator[Unit]:
    """Of two files with one id the one the index knows keeps it, the other is a finding; a move takes it."""
    taken: dict[str, str] = {}
    held = {unit.name: {card.id for card in unit.cards} for unit in units if not unit.broken}
    for unit in units:
        cards, findings = [], list(unit.findings)
        for card in unit.cards:
            owner = owners.get(card.id)
            if owner and card.id not in held.get(owner, (card.id,)):
                owner = None
            if owner in gone:
                filling.drop(str(owner), paths.files_of(str(owner)))
                owner = None
            owner = owner or taken.get(card.id)
            if owner and owner != unit.name:
                findings.append(Finding(unit.name, None, "duplicate-id", f"has the id {card.id} of {owner}",
                                        "give one of the two another id"))
                continue
            taken[card.id] = unit.name
            cards.append(card)
        if len(cards) == len(unit.cards):
            yield unit
        else:
            kept = {card.id for card in cards}
            yield Unit(name=unit.name, files=unit.files, cards=cards, links=unit.links, findings=findings,
                       records=[record for record in unit.records if record.id in kept])
