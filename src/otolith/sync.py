"""Files against index: finds what was added, edited, renamed and removed, and brings the index up to it.

Additions come before removals, so a rename never leaves a moment in which neither name is known. A file that cannot be
read keeps its last good rows and becomes a finding. A home of which half vanishes at once is not believed. Nothing here
writes to the tree.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from otolith.errors import Damaged, NeedsConfirmation, NotFound
from otolith.files import codec, paths
from otolith.files.tree import Token, Tree, fingerprint
from otolith.index import read, write
from otolith.index.store import Index
from otolith.model.record import Change, Finding
from otolith.units import broken, read_unit, stamps

if TYPE_CHECKING:
    from otolith.index.facts import Touched

RACY_NS = 2_000_000_000  # a file written this shortly before it was read may have been written again since
BATCH = 500
_BLOCK = re.compile(rb"(?m)\s*^## \d\d:\d\d - ")  # how a diary goes on
STAMP_SECONDS = 1.0
VANISHED_FILES, VANISHED_SHARE = 20, 0.5
Progress = Callable[[int, int], None]
Known = Mapping[str, tuple[Any, ...]]  # path → size, mtime, ctime, inode, seen


def compare(on_disk: Mapping[str, Token | None], indexed: Known) -> list[Change]:
    """What differs between the tree and the index. `looked` is a file that only seems to have changed."""
    if not indexed:
        return [Change("added", path) for path in sorted(on_disk)]
    changes = []
    gone = {path: row for path, row in indexed.items() if path not in on_disk}
    inodes = {row[3]: path for path, row in gone.items()}
    for path, token in on_disk.items():
        row = indexed.get(path)
        if row is None:
            former = inodes.get(token.inode) if token else None
            changes.append(Change("moved" if former else "added", path))
            if former:
                gone.pop(former, None)
                changes.append(Change("moved-from", former))
        elif token is None:
            if row[0] != -1:
                changes.append(Change("edited", path))
        elif token != row[:4]:
            changes.append(Change("edited", path))
        elif token.mtime > row[4] - RACY_NS:
            changes.append(Change("looked", path))
    changes.sort(key=lambda change: (change.what in ("moved-from",), change.path))
    return changes + [Change("removed", path) for path in sorted(gone)]


def check_removals(changes: Sequence[Change], known: int, accepted: bool) -> None:
    """Half a home gone at once is more likely an unmounted disk than a wish."""
    removed = sum(change.what == "removed" for change in changes)
    if not accepted and removed >= VANISHED_FILES and removed >= known * VANISHED_SHARE:
        raise NeedsConfirmation(f"{removed} of {known} files are gone; the index was left as it is",
                                "if that is right: otolith sync --accept-removals")


def sweep(tree: Tree, index: Index, *, accept_removals: bool = False, progress: Progress | None = None) -> list[Change]:
    """The full walk."""
    index.keep_place()
    began, db = time.monotonic(), index.db
    seen = dict(tree.scan())
    known: dict[str, tuple[Any, ...]] = {}
    changes = []
    if not _as_known(index, seen):
        known = {row[0]: row[1:] for row in
                 index.db.execute("SELECT path, size, mtime, ctime, inode, seen FROM documents")}
        changes = compare(seen, known)
        check_removals(changes, len(known), accept_removals)
    cost = time.monotonic() - began
    if not changes and 0 <= time.time() - index.get("swept", 0.0) < STAMP_SECONDS:
        return []  # nothing to tell, and a stamp is a commit: once a second is enough
    with index.writing():
        if index.db is not db:  # removed while we looked: what it knew is no longer known
            known, changes = {}, compare(seen, {})
        changes = _settle(tree, index, changes)
        if changes:
            unread = _apply(tree, index, changes, known, {path for path, token in seen.items() if token is None}, progress)
            if unread:
                changes = _as_read(changes, unread, {finding.path: finding.message for finding in read.problems(index.db)})
        index.set("swept", time.time())
        index.set("sweep_cost", cost)
    return [change for change in changes if change.what not in ("looked", "moved-from")]


def _as_known(index: Index, seen: Mapping[str, Token | None]) -> bool:
    """Whether the tree is just what the index has, which is nearly always so and is told in one comparison."""
    known = {row[0]: row[1:] for row in index.db.execute("SELECT path, size, mtime, ctime, inode FROM documents")}
    racy = "SELECT 1 FROM documents WHERE mtime > seen - ? LIMIT 1"
    return seen == known and index.db.execute(racy, (RACY_NS,)).fetchone() is None


def _settle(tree: Tree, index: Index, changes: Sequence[Change]) -> list[Change]:
    """Of the files that only seem to have changed, those with other bytes did; the rest is marked as seen again."""
    kept, same = [], []
    for change in changes:
        if change.what == "edited" and _only_told(tree, index, change.path):
            continue
        if change.what == "looked":
            before = index.db.execute("SELECT hash FROM documents WHERE path = ?", (change.path,)).fetchone()
            now = time.time_ns()
            if before and before[0] and _hash_of(tree, change.path) == before[0]:
                same.append((now, change.path))
                continue
            change = Change("edited", change.path) if before and before[0] else change
        kept.append(change)
    index.db.executemany("UPDATE documents SET seen = ? WHERE path = ?", same)
    return kept


def _only_told(tree: Tree, index: Index, path: str) -> bool:
    """Whether a diary only grew, by blocks that point to records: the index has nothing to learn but that the file is longer."""
    if not path.startswith("episodes/"):
        return False
    before = index.db.execute("SELECT size, hash FROM documents WHERE path = ?", (path,)).fetchone()
    try:
        data, token = tree.read(path)
        size, hash_ = before
        if not hash_ or not _BLOCK.match(data, size) or fingerprint(data[:size]) != hash_ \
                or not all(block.points for block in codec.decode(path, data[size:], 0.0)):
            return False
    except (NotFound, Damaged):
        return False
    index.db.execute("UPDATE documents SET size = ?, mtime = ?, ctime = ?, inode = ?, hash = ?, seen = ? WHERE path = ?",
                     (*stamps({path: (token, data)})[path], path))
    return True


def _hash_of(tree: Tree, path: str) -> str | None:
    try:
        return fingerprint(tree.read(path)[0])
    except (NotFound, Damaged):
        return None


def _as_read(changes: Sequence[Change], unread: set[str], why: Mapping[str, str]) -> list[Change]:
    """What holds nothing that could be taken in was not added, edited or moved; it is told with what `check` says of it."""
    return [Change("not-read", change.path, why[unit])
            if change.what in ("added", "edited", "moved") and (unit := paths.unit_of(change.path)) in unread and unit in why
            else change for change in changes]


def _apply(tree: Tree, index: Index, changes: Sequence[Change], known: Known, odd: set[str],
           progress: Progress | None) -> set[str]:
    """Read what changed into the index; returns the units that held nothing but findings."""
    leaving = ("removed", "moved-from")
    alive = list(dict.fromkeys(paths.unit_of(change.path) for change in changes if change.what not in leaving))
    gone = {paths.unit_of(change.path) for change in changes if change.what in leaving} - set(alive)
    gone = {name for name in gone if _read_anyway(tree, name, alive)}
    index.adopt()
    done, touched, unread = 0, None, set[str]()
    # Another process may have filled the index since it was looked at.
    fresh = not known and index.db.execute("SELECT 1 FROM documents LIMIT 1").fetchone() is None
    with write.filling(index.db, fresh):
        for batch in _batches(_read_all(tree, alive, gone, odd)):
            units = own_ids(index, batch, gone)
            for unit in () if fresh else units:
                _drop(index, unit.name, keep_records=unit.broken)
            write.put(index.db, units)
            unread.update(unit.name for unit in units if unit.broken or (
                unit.findings and not unit.cards and paths.kind_of(unit.name) not in ("links", "curation")))
            touched = _take_facts(index, units, (), touched)
            done += len(batch)
            if progress:
                progress(done, len(alive))
    for name in gone:
        _drop(index, name)
    _settle_facts(index, _take_facts(index, (), gone, touched))
    _reconsider(tree, index)
    return unread


def _take_facts(index: Index, units: Sequence[write.Unit], gone: Iterable[str], touched: Touched | None) -> Touched | None:
    """What the units say about facts; their records follow once all is in."""
    said = [unit for unit in units if unit.name.startswith("topics/")]
    left = [name for name in gone if name.startswith("topics/")]
    if not said and not left:
        return touched
    from otolith.index import facts

    touched = touched or facts.Touched()
    facts.replace(index.db, said, left, touched)
    return touched


def _settle_facts(index: Index, touched: Touched | None) -> None:
    if touched is not None and touched.slots:
        from otolith.index.facts import settle_touched

        settle_touched(index.db, touched)


def _read_anyway(tree: Tree, name: str, alive: list[str]) -> bool:
    """True if the unit is really gone; what another process wrote since the walk, or an entry that lost one file, is not."""
    if name not in paths.SCANNED and any(tree.look(path) for path in paths.files_of(name)):
        alive.append(name)
        return False
    return True


def _reconsider(tree: Tree, index: Index) -> None:
    """A file that was refused for having another's id may have it now that something changed."""
    names = [name for name, in index.db.execute("SELECT DISTINCT path FROM problems WHERE code = 'duplicate-id'")]
    if names:
        put(index, list(_read_all(tree, names, gone := set[str]())), gone)


def doubles(tree: Tree, index: Index, record: str) -> list[str]:
    """The files that hold an id which another file has: with that one gone, theirs would be the record."""
    names = [name for name, in index.db.execute("SELECT DISTINCT path FROM problems WHERE code = 'duplicate-id'")]
    return [path for unit in _read_all(tree, names, set()) if any(card.id == record for card in unit.cards) for path in unit.files]


def _read_all(tree: Tree, names: Iterable[str], gone: set[str], odd: Iterable[str] = ()) -> Iterator[write.Unit]:
    with tree.reading() as steady:
        for name in names:
            unit = read_unit(steady, name)
            if unit is None and name in odd:
                unit = broken(tree, name, Damaged("is not a plain file, or its name is not plain text", flaw="not-a-file"))
            if unit is None:
                gone.add(name)
            else:
                yield unit


def _batches(units: Iterator[write.Unit]) -> Iterator[list[write.Unit]]:
    batch: list[write.Unit] = []
    for unit in units:
        batch.append(unit)
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def touch(tree: Tree, index: Index, units: Iterable[str]) -> bool:
    """Look at the files of these units once more; what moved is read again, a vanished one forces a sweep."""
    stale = []
    for unit in dict.fromkeys(map(paths.unit_of, units)):  # a fact's path is a summary, a part of its entry
        files = paths.files_of(unit)
        known = {path: stamp for path, *stamp in index.db.execute(
            f"SELECT path, size, mtime, ctime, inode FROM documents WHERE path IN ({','.join('?' * len(files))})", files)}
        for path in files if known else ():
            token = tree.look(path)
            if token is None and path in known:
                sweep(tree, index)
                return True
            if token is not None and list(token) != known.get(path):
                stale.append(unit)
    if stale:
        refresh(tree, index, stale)
    return bool(stale)


def refresh(tree: Tree, index: Index, names: Iterable[str]) -> None:
    """Read these units again, or drop those that are gone."""
    gone: set[str] = set()
    with index.writing():  # read inside, so that nobody's newer rows are written over with older ones
        put(index, list(_read_all(tree, dict.fromkeys(names), gone)), gone)
        _reconsider(tree, index)


def put(index: Index, units: Sequence[write.Unit], gone: Iterable[str] = ()) -> None:
    """Write units into the index in one transaction."""
    left = set(gone)
    with index.writing() as db:
        index.adopt()
        own = own_ids(index, units, left)
        for unit in own:
            _drop(index, unit.name, keep_records=unit.broken)
        write.put(db, own)
        for name in left:
            _drop(index, name)
        _settle_facts(index, _take_facts(index, own, left, None))


def _drop(index: Index, name: str, *, keep_records: bool = False) -> None:
    write.drop(index.db, name, paths.files_of(name), keep_records=keep_records)


def own_ids(index: Index, units: Sequence[write.Unit], gone: set[str]) -> Sequence[write.Unit]:
    """Two files with one id: the one the index knows keeps it, the other is a finding. A moved file takes its id along."""
    ids = [card.id for unit in units for card in unit.cards]
    known = read.units_of(index.db, ids)
    return units if not known and len({*ids}) == len(ids) else list(_own_ids(index, units, gone, known))


def _own_ids(index: Index, units: Sequence[write.Unit], gone: set[str], known: Mapping[str, str]) -> Iterator[write.Unit]:
    taken: dict[str, str] = {}
    held = {unit.name: {card.id for card in unit.cards} for unit in units if not unit.broken}
    for unit in units:
        cards, findings = [], list(unit.findings)
        for card in unit.cards:
            owner = known.get(card.id)
            if owner and card.id not in held.get(owner, (card.id,)):
                owner = None
            if owner in gone:
                _drop(index, str(owner))
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
            yield write.Unit(name=unit.name, files=unit.files, cards=cards, links=unit.links, findings=findings,
                             records=[record for record in unit.records if record.id in kept])
