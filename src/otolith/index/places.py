"""Where passages stand, as columns: when each was said, by whom, in which record and dialog, beside what.

A passage's row never changes, and its number is never given to another; so a table of all of them grows with
the index and is made anew only where the count says that it must be. It is a value: what is handed out stays
as it is while others go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from otolith.model.kinds import KINDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

# A row as it is read: n, record, last, said, asks, created, place, kind, conversation, speaker
_NUMBERS = 7
NO_STRAND = 0


class Neighbourhood(NamedTuple):
    """Some passages, ascending, with those beside them; `around` are rows of these columns, -1 for none."""

    numbers: Ints
    records: Ints
    lasts: Ints  # the last number of the record's passages
    said: Floats
    asks: Floats
    strands: Ints  # the dialog of each: its own record, below 0 a conversation of chunks, 0 none
    speakers: Ints  # of `names`
    names: Sequence[str | None]
    around: Ints


class Places:
    """A table of passages, ascending."""

    def __init__(self) -> None:
        import numpy as np

        self.columns = np.zeros((_NUMBERS, 0))
        self.strands = self.speakers = np.zeros(0, np.int64)
        self.names: dict[str | None, int] = {}
        self._talks: dict[str, int] = {}
        self._order = self._rank = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return self.columns.shape[1]

    @property
    def last(self) -> int:
        return int(self.columns[0, -1]) if len(self) else 0

    def with_rows(self, rows: Sequence[tuple[Any, ...]]) -> Places:
        """This table and rows that come after its own."""
        import numpy as np

        more, names, talks = Places(), dict(self.names), dict(self._talks)
        dialogs = {kind: KINDS[kind].around for kind in {row[7] for row in rows}}
        columns = np.array([row[:_NUMBERS] for row in rows], np.float64).reshape(-1, _NUMBERS).T
        strands = [row[1] if dialogs[row[7]] == "turns" else NO_STRAND
                   if dialogs[row[7]] != "conversation" or row[8] is None
                   else -1 - talks.setdefault(row[8], len(talks)) for row in rows]
        speakers = [names.setdefault(row[9], len(names)) for row in rows]
        more.columns = np.concatenate([self.columns, columns], axis=1)
        more.strands = np.concatenate([self.strands, np.array(strands, np.int64)])
        more.speakers = np.concatenate([self.speakers, np.array(speakers, np.int64)])
        more.names, more._talks = names, talks
        return more

    def without(self, numbers: Iterable[int]) -> Places:
        """This table without some of its rows."""
        import numpy as np

        less, kept = Places(), ~np.isin(self.columns[0], np.array(list(numbers), np.float64))
        less.columns, less.strands = self.columns[:, kept], self.strands[kept]
        less.speakers = self.speakers[kept]
        less.names, less._talks = self.names, self._talks
        return less

    def ordered(self) -> Places:
        """The same, with each dialog in the order in which it was said: now neighbours can be asked for."""
        import numpy as np

        n, record, _, _, _, created, place = self.columns
        self._order = np.lexsort((n - record, record, place, created, self.strands))
        self._rank = np.empty_like(self._order)
        self._rank[self._order] = np.arange(len(self._order))
        return self

    def near(self, seeds: Ints, reach: int, sides: int) -> Neighbourhood:
        """Some passages and those up to `reach` beside them; and of each what stands on either side of it, so
        many `sides` far.
        """
        import numpy as np

        seeds = seeds[seeds <= self.last]
        rows = np.searchsorted(self.columns[0], seeds)
        rows = rows[self.columns[0, rows] == seeds]
        beside = self._beside(rows, [*range(-reach, 0), *range(1, reach + 1)])
        rows = _once(np.concatenate([rows, beside[beside >= 0]]))
        around = self._beside(rows, [*range(-sides, 0), *range(1, sides + 1)])
        local = np.minimum(np.searchsorted(rows, around), max(len(rows) - 1, 0))
        present = (around >= 0) & (rows[local] == around) if len(rows) else around >= 0
        numbers, records, lasts = self.columns[:3, rows].astype(np.int64)
        speaking, names = _once(self.speakers[rows]), list(self.names)
        return Neighbourhood(
            numbers, records, lasts, self.columns[3, rows], self.columns[4, rows], self.strands[rows],
            np.searchsorted(speaking, self.speakers[rows]), [names[speaker] for speaker in speaking.tolist()],
            np.where(present, local, -1))

    def _beside(self, rows: Ints, steps: Sequence[int]) -> Ints:
        """The rows so many steps further in the same dialog, -1 where there is none."""
        import numpy as np

        places = self._rank[rows][:, None] + np.array(steps)
        within = (places >= 0) & (places < len(self))
        there = self._order[np.where(within, places, 0)] if len(self) else places
        strands = self.strands[rows][:, None]
        same = within & (self.strands[there] == strands) & (strands != NO_STRAND) if len(self) else within
        return np.where(same, there, -1)


def _once(ascending: Ints) -> Ints:
    """Numbers in order, each once; numpy's own `unique` loads much more."""
    import numpy as np

    rows = np.sort(ascending)
    return rows[np.concatenate([[True], rows[1:] != rows[:-1]])] if len(rows) else rows
