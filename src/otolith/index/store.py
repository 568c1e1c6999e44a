"""The index: the cache you may delete, asked by the thing asked for: `index.cards.find(id)`,
`index.graph.neighbours(id)`, …

Every call takes values and returns values; nobody above this room sees SQL. Each facet is loaded when it is
first asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from otolith.errors import OtolithError
from otolith.index.database import TROUBLE as TROUBLE
from otolith.index.database import Database
from otolith.index.database import index_path as index_path

if TYPE_CHECKING:
    from otolith.index.around import Around
    from otolith.index.cards import Cards
    from otolith.index.claims import Claims
    from otolith.index.dialogs import Dialogs
    from otolith.index.documents import Documents
    from otolith.index.facts import Facts
    from otolith.index.graph import Graph
    from otolith.index.marks import Marks
    from otolith.index.notes import Notes
    from otolith.index.vectors import Meaning
    from otolith.index.words import Words
    from otolith.index.works import Works

_FACETS = {"cards": "cards:Cards", "graph": "graph:Graph", "words": "words:Words", "around": "around:Around",
           "meaning": "vectors:Meaning", "facts": "facts:Facts", "documents": "documents:Documents",
           "work": "works:Works", "dialogs": "dialogs:Dialogs", "notes": "notes:Notes",
           "marks": "marks:Marks", "claims": "claims:Claims"}


class Index(Database):
    """An open index."""

    cards: Cards
    graph: Graph
    words: Words
    around: Around
    meaning: Meaning
    facts: Facts
    documents: Documents
    work: Works
    dialogs: Dialogs
    notes: Notes
    marks: Marks
    claims: Claims

    def __getattr__(self, name: str) -> Any:
        """A facet, when it is first asked."""
        if name not in _FACETS:
            raise AttributeError(f"an index has no {name!r}")
        module, _, facet = _FACETS[name].partition(":")
        self.__dict__[name] = getattr(import_module(f"otolith.index.{module}"), facet)(self)
        return self.__dict__[name]

    def renew(self, fill: Callable[[], object]) -> None:
        """Empty the index and fill it again; what was last built is carried over."""
        built: dict[str, Any] = {}
        with suppress(OtolithError):  # damage is a good reason to be here
            built = self.marks.all("built")

        def fill_all() -> None:
            self.marks.set_all("built", built)
            fill()

        self.make_anew(fill_all)

    def shrink(self, gone: Iterable[str]) -> None:
        """Leave nothing of these ids nor of what was dropped: in words, vectors, free pages or the log."""
        with self.writing():
            self.db.executemany("DELETE FROM usage WHERE id = ?", [(record,) for record in gone])
            self.documents.recount()
            self.db.execute("INSERT INTO words(words) VALUES ('optimize')")
            self.meaning.compact(force=True)
        self.db.execute("VACUUM")
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
