"""What the notes ladder asks of the index: notes with their use, the diary, pages, edges, what exports list."""

from __future__ import annotations

from typing import NamedTuple

from otolith.index.database import Facet


class NoteUse(NamedTuple):
    """A note with what its score is made of, and what pages say of it."""

    id: str
    type: str
    importance: float
    created: float
    pinned: bool
    uses: int
    last: float | None
    n: int
    title: str
    unit: str
    project: str | None
    trust: str


class Notes(Facet):
    """Notes, edges, memos, chunks and the diary."""

    def uses(self) -> list[NoteUse]:
        """Every note by id, with its use: what its own file says and what the ledger counts."""
        return [NoteUse(*row) for row in self.db.execute(
            "SELECT r.id, r.type, coalesce(r.importance, 0.5), r.created, r.pinned, r.uses + coalesce(u.count, 0), "
            "max(coalesce(r.used, u.last), coalesce(u.last, r.used)), r.n, r.title, r.unit, r.project, r.trust "
            "FROM records r LEFT JOIN usage u ON u.id = r.id WHERE r.kind = 'note' ORDER BY r.id")]

    def tags(self) -> dict[int, list[str]]:
        """The tags of every note, by its number, in their order."""
        tags: dict[int, list[str]] = {}
        for record, tag in self.db.execute("SELECT t.record, t.tag FROM tags t JOIN records r ON r.n = t.record "
                                           "WHERE r.kind = 'note' ORDER BY t.record, t.place"):
            tags.setdefault(record, []).append(tag)
        return tags

    def openings(self, type_: str) -> dict[int, str]:
        """The first passage of every note of a type, by the note's number."""
        return dict(self.db.execute("SELECT p.n, p.text FROM records r JOIN passages p ON p.n = r.n "
                                    "WHERE r.kind = 'note' AND r.type = ?", (type_,)))
