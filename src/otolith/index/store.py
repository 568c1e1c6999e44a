"""The index: the cache you may delete, asked by the thing asked for: `index.cards.find(id)`,
`index.graph.neighbours(id)`, …

Every call takes values and returns values; nobody above this room sees SQL. Each facet is loaded when it is
first asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from otolith.errors import OtolithError
from otolith.index.database import TROUBLE as TROUBLE
from otolith.index.database import Database
from otolith.index.database import index_path as index_path

if TYPE_CHECKING:
    from otolith.index.around import Around
    from otolith.index.cards import Cards
    from otolith.index.dialogs import Dialogs
    from otolith.index.documents import Documents
    from otolith.index.facts import Facts
    from otolith.index.graph import Graph
    from otolith.index.marks import Marks
    from otolith.index.notes import Notes
    from otolith.index.vectors import Meaning
    from otolith.index.words import Words
    from otolith.index.works import Works


class Index(Database):
    """An open index."""

    @cached_property
    def cards(self) -> Cards:
        from otolith.index.cards import Cards

        return Cards(self)

    @cached_property
    def graph(self) -> Graph:
        from otolith.index.graph import Graph

        return Graph(self)

    @cached_property
    def words(self) -> Words:
        from otolith.index.words import Words

        return Words(self)

    @cached_property
    def around(self) -> Around:
        from otolith.index.around import Around

        return Around(self)

    @cached_property
    def meaning(self) -> Meaning:
        from otolith.index.vectors import Meaning

        return Meaning(self)

    @cached_property
    def facts(self) -> Facts:
        from otolith.index.facts import Facts

        return Facts(self)

    @cached_property
    def documents(self) -> Documents:
        from otolith.index.documents import Documents

        return Documents(self)

    @cached_property
    def work(self) -> Works:
        from otolith.index.works import Works

        return Works(self)

    @cached_property
    def dialogs(self) -> Dialogs:
        from otolith.index.dialogs import Dialogs

        return Dialogs(self)

    @cached_property
    def marks(self) -> Marks:
        from otolith.index.marks import Marks

        return Marks(self)

    @cached_property
    def notes(self) -> Notes:
        from otolith.index.notes import Notes

        return Notes(self)

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
        """Leave nothing of these ids nor of what was dropped, in words, vectors, the file's free pages, its log."""
        with self.writing():
            self.db.executemany("DELETE FROM usage WHERE id = ?", [(record,) for record in gone])
            self.documents.recount()
            self.db.execute("INSERT INTO words(words) VALUES ('optimize')")
            self.meaning.compact(force=True)
        self.db.execute("VACUUM")
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
