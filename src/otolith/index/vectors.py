"""Vectors of passages: one set for each (provider, model, dimension), never mixed, kept in the index itself.

A set is filled in the order of passage numbers, which are never used twice; so what it lacks is what came
after its `last`, and a table of dropped numbers tells what to overlook. Rows lie in blocks of half floats
that merge as they grow; a process that asks holds them as one array of floats. Deleting the index only means
embedding again.

A set of MiniLM has, beside the vector of each passage, those of its word pieces, because what matches a
question best is often a few words. They are read for the candidates of a question only, so they lie in a row
for each passage, which goes with it.
"""

from __future__ import annotations

import json
import os
from _thread import RLock
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from otolith.errors import BrokenIndex
from otolith.index.database import REMEDY, Connection, Database, Facet, columns_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

BLOCK = 4096  # rows in the largest blocks
COARSE = 4_000  # rows from which the nearest are first looked for by half of their dimensions
COARSE_SHARE = 8  # of these, so many times as many as are wanted are looked at in full
GONE_SHARE = 8  # one dropped row in so many is worth writing the set anew
PIECED = "minilm"  # whose sets have vectors of word pieces
_MISSING = ("SELECT p.n, p.n - r.n, r.id, r.kind, r.title, p.head, p.text FROM passages p "
            "JOIN records r ON r.n = p.record WHERE p.n > ? {} ORDER BY p.n LIMIT ?")
_UNPIECED = ("AND p.n <= ? AND NOT EXISTS (SELECT 1 FROM pieces i WHERE i.n = p.n AND (length(vectors) = 0 "
             "OR length(vectors) > ? AND (length(vectors) - ?) % ? = 0))")


class VectorSet(NamedTuple):
    """A set: whose vectors it holds, and up to which passage."""

    n: int
    provider: str
    model: str
    dimension: int
    last: int


class Unembedded(NamedTuple):
    """A passage that a set lacks."""

    n: int
    ord: int
    id: str
    kind: str
    text: str


_SET = columns_of(VectorSet, "s")


class Meaning(Facet):
    """Vectors of passages: what is near in meaning, and what still lacks a vector."""

    def __init__(self, index: Database) -> None:
        super().__init__(index)
        self._loaded: dict[int, VectorTable] = {}
        self._loading = RLock()

    def find_set(self, provider: str, model: str, dimension: int | None = None) -> VectorSet | None:
        """The set of a model that is furthest on; of one dimension, if that is asked for."""
        query = (f"SELECT {_SET} FROM vector_sets s WHERE provider = ? AND model = ? "
                 "AND dimension = coalesce(?, dimension) ORDER BY last DESC")
        return self.db.first(VectorSet, query, (provider, model, dimension))

    def make_set(self, provider: str, model: str, dimension: int) -> VectorSet:
        """An empty set. Its number is drawn: no process takes it for one of an index that was emptied."""
        made = VectorSet(int.from_bytes(os.urandom(7)), provider, model, dimension, 0)
        self.db.execute("INSERT INTO vector_sets VALUES (?,?,?,?,?)", made)
        return made

    def drop_set(self, held: VectorSet) -> None:
        self._drop(held)
        if held.provider == PIECED:
            self.db.execute("DELETE FROM pieces")

    def _drop(self, held: VectorSet) -> None:
        self.db.execute("DELETE FROM vectors WHERE held = ?", (held.n,))
        self.db.execute("DELETE FROM vector_sets WHERE n = ?", (held.n,))

    def all_sets(self) -> list[VectorSet]:
        query = f"SELECT {_SET} FROM vector_sets s ORDER BY provider, model, dimension"
        return self.db.select(VectorSet, query)

    def complete_set(self, provider: str, model: str) -> VectorSet | None:
        """The set of a model that is furthest on, if it lacks nothing."""
        def read() -> VectorSet | None:
            held = self.find_set(provider, model)
            return held if held and not self.count_missing(held) else None

        return self.index.kept(f"complete {provider} {model}", read)

    def count_missing(self, held: VectorSet | None) -> int:
        """How many passages a set lacks."""
        return int(self.db.value("SELECT count(*) FROM passages WHERE n > ?", (held.last if held else 0,)))

    def missing(self, held: VectorSet | None, *, passages: int,
                records: int | None = None) -> list[Unembedded]:
        """The next passages that a set lacks, with the text to embed: a title goes before it."""
        lacking: list[Unembedded] = []
        seen: set[str] = set()
        for passage in self._unembedded("", (held.last if held else 0, passages)):
            seen.add(passage.id)
            if records is not None and len(seen) > records:
                break
            lacking.append(passage)
        return lacking

    def _unembedded(self, condition: str, values: tuple[int, ...]) -> Iterator[Unembedded]:
        for n, ord_, id, kind, title, head, text in self.db.execute(_MISSING.format(condition), values):
            titled = f"{title}. {text}" if head and title and not text.startswith(title.rstrip("…")) else text
            yield Unembedded(n, ord_, id, kind, titled)

    # Word pieces

    def lead_in(self, passage: Unembedded) -> str:
        """What stands before a passage in its record."""
        query = "SELECT text FROM passages WHERE n = ? AND ? > 0"
        return str(self.db.value(query, (passage.n - 1, passage.ord)) or "")

    def keep_pieces(self, rows: Iterable[tuple[int, bytes]]) -> None:
        self.db.executemany("INSERT OR REPLACE INTO pieces VALUES (?,?)", rows)

    def pieces(self, numbers: Sequence[int]) -> dict[int, bytes]:
        """Passage → the vectors of its word pieces, where there are any."""
        query = "SELECT n, vectors FROM pieces WHERE n IN (SELECT value FROM json_each(?))"
        return dict(self.db.execute(query, (json.dumps(numbers),)))

    def unpieced(self, held: VectorSet, size: int, *, after: int, passages: int) -> list[Unembedded]:
        """Passages of a set that lack the vectors of their word pieces, each of a size, or whose are torn."""
        return list(self._unembedded(_UNPIECED, (after, held.last, held.dimension, held.dimension, size,
                                                 passages)))

    def append(self, held: VectorSet, numbers: Sequence[int], vectors: Floats) -> VectorSet:
        """Add rows that come after all others; blocks no larger than the new one merge with it."""
        import numpy as np

        if not len(numbers):
            return held
        ids, matrix = np.asarray(numbers, np.int64).tobytes(), vectors.astype(np.float16).tobytes()
        size = len(numbers)
        query = "SELECT last, size FROM vectors WHERE held = ? ORDER BY last DESC"
        for last, rows in self.db.execute(query, (held.n,)):
            if rows > size or rows + size > BLOCK:
                break
            block = "FROM vectors WHERE held = ? AND last = ?"
            before = self.db.execute(f"SELECT numbers, matrix {block}", (held.n, last)).fetchone()
            self.db.execute(f"DELETE {block}", (held.n, last))
            ids, matrix, size = before[0] + ids, before[1] + matrix, rows + size
        grown = held._replace(last=int(numbers[-1]))
        self.db.execute("INSERT INTO vectors VALUES (?,?,?,?,?)", (held.n, grown.last, size, ids, matrix))
        self.db.execute("UPDATE vector_sets SET last = ? WHERE n = ?", (grown.last, held.n))
        return grown

    def take_over(self, former: Meaning) -> None:
        """The vectors of an index that this one replaces, for passages whose text has the same sha256.

        A set holds every passage up to its last; so each is taken as far as there is no gap.
        """
        for held in former.all_sets():
            numbers, matrix = _read(former.db, held)
            rows = {int(n): row for row, n in enumerate(numbers)}
            known = {_digest(passage): rows[passage.n] for passage in former.missing(None, passages=-1)
                     if passage.n in rows}
            lacking = self.missing(None, passages=-1)
            gap = (at for at, passage in enumerate(lacking) if _digest(passage) not in known)
            taken = lacking[: next(gap, len(lacking))]
            if not taken:
                continue
            with self.index.writing():
                grown = self.make_set(held.provider, held.model, held.dimension)
                for at in range(0, len(taken), BLOCK):
                    part = taken[at : at + BLOCK]
                    places = [known[_digest(passage)] for passage in part]
                    grown = self.append(grown, [passage.n for passage in part], matrix[places])
                    if held.provider == PIECED:
                        kept = former.pieces(numbers[places].tolist())
                        self.keep_pieces((passage.n, kept[n]) for passage, n in zip(
                            part, numbers[places].tolist(), strict=True) if n in kept)
            begun = [passage.id for passage in taken if passage.ord == 0]
            self._take_over_works(former, begun)

    def _take_over_works(self, former: Meaning, begun: Sequence[str]) -> None:
        """Seed 003's column, which is of the embedder that was configured."""
        query = "SELECT id, embedding FROM memories WHERE embedding IS NOT NULL"
        kept, same = dict(former.db.execute(query)), set(begun)
        with self.index.writing() as db:
            db.executemany("UPDATE memories SET embedding = ? WHERE id = ?",
                           [(vector, id) for id, vector in kept.items() if id in same])

    def keep_works(self, vectors: Iterable[tuple[str, Floats]], *, anew: bool) -> None:
        """The vectors of works in seed 003's table; unless `anew`, only where none of that length is."""
        unless = "" if anew else " AND (embedding IS NULL OR length(embedding) <> length(:vector))"
        self.db.executemany(f"UPDATE memories SET embedding = :vector WHERE id = :id{unless}",
                            [{"id": id, "vector": vector.astype("<f4").tobytes()} for id, vector in vectors])

    def compact(self, *, force: bool = False) -> bool:
        """Write the sets anew without the rows of dropped passages, if there are many of them."""
        import numpy as np

        dropped = self.db.value("SELECT count(*) FROM gone")
        rows = self.db.value("SELECT coalesce(sum(size), 0) FROM vectors")
        if not dropped or not (force or dropped * GONE_SHARE > rows):
            return False
        for held in self.all_sets():
            numbers, matrix = _read(self.db, held)
            kept = np.ones(len(numbers), np.bool_)
            kept[_rows_of(numbers, _gone(self.db))] = False
            self._drop(held)
            fresh = self.make_set(held.provider, held.model, held.dimension)
            for at in range(0, int(kept.sum()), BLOCK):
                part = slice(at, at + BLOCK)
                fresh = self.append(fresh, numbers[kept][part].tolist(), matrix[kept][part])
            self.db.execute("UPDATE vector_sets SET last = ? WHERE n = ?", (held.last, fresh.n))
        # the others tell which numbers were used
        self.db.execute("DELETE FROM gone WHERE n <= (SELECT max(n) FROM passages)")
        return True

    def first_vectors(self, held: VectorSet, kind: str) -> dict[str, Floats]:
        """Record → the vector of its first passage, for every record of a kind that has one."""
        numbers, matrix = _read(self.db, held)
        rows = {int(n): row for row, n in enumerate(numbers)}
        # it begins where its passages do
        first = self.db.execute("SELECT id, n FROM records WHERE kind = ? ORDER BY id", (kind,))
        return {id: matrix[rows[n]] for id, n in first if n in rows}

    def load(self, held: VectorSet) -> VectorTable:
        """The set in memory, up to date; read once. What is given out stays as it is while others go on."""
        with self._loading:
            return self.index.kept(f"vectors {held.n}", lambda: self._load(held))

    def _load(self, held: VectorSet) -> VectorTable:
        if held.n not in self._loaded:
            for stale in self._loaded.keys() - {other.n for other in self.all_sets()}:
                del self._loaded[stale]
            self._loaded[held.n] = VectorTable(held)
        self._loaded[held.n].catch_up(self.db)
        return copy(self._loaded[held.n])


def _digest(passage: Unembedded) -> bytes:
    return sha256(passage.text.encode()).digest()


def _blocks(db: Connection, held: VectorSet, after: int) -> list[tuple[Ints, NDArray[np.float16]]]:
    """The rows whose numbers come after one, block by block as they are kept."""
    import numpy as np

    query = "SELECT numbers, matrix FROM vectors WHERE held = ? AND last > ? ORDER BY last"
    blocks = [(np.frombuffer(ids, np.int64), np.frombuffer(half, np.float16).reshape(-1, held.dimension))
              for ids, half in db.execute(query, (held.n, after))]
    starts = [int(np.searchsorted(numbers, after, "right")) for numbers, _ in blocks]
    return [(numbers[start:], half[start:]) for start, (numbers, half) in zip(starts, blocks, strict=True)]


def _read(db: Connection, held: VectorSet) -> tuple[Ints, Floats]:
    """All rows of a set."""
    import numpy as np

    blocks = _blocks(db, held, 0)
    numbers = np.concatenate([np.zeros(0, np.int64), *(part for part, _ in blocks)])
    matrix = np.concatenate([np.zeros((0, held.dimension), np.float16), *(half for _, half in blocks)])
    return numbers, matrix.astype(np.float32)


def _gone(db: Connection) -> Ints:
    import numpy as np

    return np.array(db.column("SELECT n FROM gone ORDER BY n"), np.int64)


def _rows_of(numbers: Ints, wanted: Ints) -> Ints:
    """The rows of those of the wanted numbers that are there; both ascending."""
    import numpy as np

    if not len(numbers):
        return np.zeros(0, np.int64)
    rows = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
    present: Ints = rows[numbers[rows] == wanted]
    return present


class VectorTable:
    """A set in memory: `numbers` ascending, and a unit row for each; rows of dropped passages are zero.

    Rows lie in two halves, because the first one alone tells nearly as well which are near, and is read in a
    third of the time that both take.
    """

    def __init__(self, held: VectorSet) -> None:
        import numpy as np

        self._held, self._gone, self._size = held, 0, 0
        self._half = held.dimension // 2
        self._numbers = np.zeros(0, np.int64)
        self._fore = np.zeros((0, self._half), np.float32)
        self._rest = np.zeros((0, held.dimension - self._half), np.float32)

    @property
    def numbers(self) -> Ints:
        return self._numbers[: self._size]

    def catch_up(self, db: Connection) -> None:
        """Take in what was added and dropped since."""
        after = int(self.numbers[-1]) if self._size else 0
        if db.value("SELECT coalesce(max(last), 0) FROM vectors WHERE held = ?", (self._held.n,)) > after:
            blocks = _blocks(db, self._held, after)
            self._make_room(sum(len(numbers) for numbers, _ in blocks))
            for numbers, half in blocks:  # straight into place: a cold start has no time for a copy between
                new = slice(self._size, self._size + len(numbers))
                self._numbers[new] = numbers
                self._fore[new], self._rest[new] = half[:, : self._half], half[:, self._half :]
                self._size += len(numbers)
            self._gone = -1
        if (gone := db.value("SELECT count(*) FROM gone")) != self._gone:
            dropped = _rows_of(self.numbers, _gone(db))
            self._fore[dropped] = self._rest[dropped] = 0.0
            self._gone = gone

    def _make_room(self, more: int) -> None:
        import numpy as np

        wanted = self._size + more
        if wanted > len(self._numbers):
            room = wanted * 5 // 4 if self._size else wanted
            for name in ("_numbers", "_fore", "_rest"):
                old = getattr(self, name)
                new = np.zeros((room, *old.shape[1:]), old.dtype)
                new[: self._size] = old[: self._size]
                setattr(self, name, new)

    def _cosines(self, vector: Floats, rows: Ints | slice) -> Floats:
        import numpy as np

        with np.errstate(invalid="ignore", over="ignore"):
            cosines: Floats = self._fore[rows] @ vector[: self._half]
            cosines += self._rest[rows] @ vector[self._half :]
        if not np.isfinite(cosines.sum()):
            raise BrokenIndex("the index is damaged (a vector in it is none)", REMEDY)
        return cosines

    def nearest(self, vector: Floats, limit: int, allowed: NDArray[np.bool_] | None = None) -> Ints:
        """The passages most like a vector, ascending; `allowed` says by number which may be among them."""
        import numpy as np

        may = None
        if allowed is not None:
            may = (self.numbers < len(allowed)) & allowed[np.minimum(self.numbers, len(allowed) - 1)]
        # of another's first dimensions nothing is known
        if self._size <= COARSE or self._held.provider != "static":
            return self.numbers[_largest(_only(self._cosines(vector, slice(self._size)), may), limit)]
        with np.errstate(invalid="ignore", over="ignore"):
            fore = self._fore[: self._size] @ vector[: self._half]
        rows = _largest(_only(fore, may), limit * COARSE_SHARE)
        return self.numbers[rows[_largest(self._cosines(vector, rows), limit)]]

    def likeness(self, vector: Floats, numbers: Ints) -> tuple[Floats, NDArray[np.bool_]]:
        """(cosines, which of the passages are in the set at all)."""
        import numpy as np

        if not self._size:
            return np.zeros(len(numbers), np.float32), np.zeros(len(numbers), np.bool_)
        rows = np.minimum(np.searchsorted(self.numbers, numbers), self._size - 1)
        known = self.numbers[rows] == numbers
        return np.where(known, self._cosines(vector, rows), np.float32(0)), known


def _only(scores: Floats, may: NDArray[np.bool_] | None) -> Floats:
    return scores if may is None else scores * may


def _largest(scores: Floats, limit: int) -> Ints:
    """The places of the largest positive scores, ascending."""
    import numpy as np

    if len(scores) > limit:
        places = np.sort(np.argpartition(scores, len(scores) - limit)[-limit:])
        return places[scores[places] > 0]
    return np.flatnonzero(scores > 0)
