"""What the notes ladder asks of the index: notes with their use, edges, relations, diary, memos."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from otolith.index.database import ROW as _ROW
from otolith.index.database import Facet, Row, match, replaces


class Stood(NamedTuple):
    """A record with what its score is made of, and what pages say of it."""

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
    principal: str | None = None
    kind: str = "note"
    success: bool = False  # of a work
    solves: bool = False  # it made good what went wrong


class StandingEdge(NamedTuple):
    """An edge as the index knows it: of a symmetric one it does not say which end is which."""

    id: str
    a: str
    b: str
    type: str
    strength: float | None
    context: str | None
    unit: str


class Written(NamedTuple):
    """A relation as the index found it written: in which unit, and as which edge if it has one."""

    a: str
    b: str
    said: str
    inverted: int
    strength: float | None
    edge: str | None
    unit: str


class Titled(NamedTuple):
    """An edge's title beside the titles that its two notes bear now."""

    edge: str
    title: str
    type: str
    a: str
    a_title: str
    b: str
    b_title: str


_STANDING = "SELECT edge, a, b, said, strength, context, unit FROM links WHERE edge IS NOT NULL"
_WRITTEN = "SELECT a, b, said, inverted, strength, edge, unit FROM links"
_MASTERS = """SELECT id, {} FROM {} WHERE kind = 'memo' AND id LIKE '%\\_master' ESCAPE '\\'"""


_USED = """r.id, r.type, coalesce(r.importance, 0.5), r.created, r.pinned, r.uses + coalesce(u.count, 0),
max(coalesce(r.used, u.last), coalesce(u.last, r.used)), r.n, r.title, r.unit, r.project, r.trust,
r.principal, r.kind, coalesce(r.success, 0) FROM records r LEFT JOIN usage u ON u.id = r.id"""


class Notes(Facet):
    """Notes, edges, memos, chunks and the diary."""

    def uses(self) -> list[Stood]:
        """Every note by id, with its use: what its own file says and what the ledger counts."""
        return [Stood(*row) for row in self.db.execute(
            f"SELECT {_USED} WHERE r.kind = 'note' ORDER BY r.id")]

    def uses_beside(self, *kinds: str) -> list[Stood]:
        """The same of records of other kinds; nothing that came from outside unless a person pinned it,
        nothing that was replaced.
        """
        marks, pinned = ",".join("?" * len(kinds)), "(l.word = 'pinned' AND l.a = r.id)"
        solved = "(l.word = 'solves' AND l.a = r.id)"
        rows = self.db.execute(
            f"SELECT {_USED} WHERE r.kind IN ({marks}) AND NOT r.sunk AND NOT EXISTS (SELECT 1 FROM links l "
            f"JOIN records x ON x.id = l.a WHERE l.b = r.id AND {replaces('r', 'x')}) ORDER BY r.id", kinds)
        used = [Stood(*row) for row in rows]
        linked = self.db.execute(f"SELECT r.id, max{pinned}, max{solved} FROM records r JOIN links l ON "
                                 f"l.a = r.id WHERE r.kind IN ({marks}) AND ({pinned} OR {solved}) "
                                 "GROUP BY r.id", kinds)
        signs = {record: (bool(mark), bool(solves)) for record, mark, solves in linked}
        used = [row._replace(pinned=bool(row.pinned or signs.get(row.id, (0, 0))[0]),
                             solves=bool(signs.get(row.id, (0, 0))[1])) for row in used]
        return [row for row in used if row.trust != "outside" or (row.pinned and not row.principal)]

    def tags(self, *kinds: str) -> dict[int, list[str]]:
        """The tags of every record of these kinds, by its number, in their order."""
        tags: dict[int, list[str]] = {}
        query = ("SELECT t.record, t.tag FROM tags t JOIN records r ON r.n = t.record WHERE r.kind IN "
                 f"({','.join('?' * len(kinds))}) ORDER BY t.record, t.place")
        for record, tag in self.db.execute(query, kinds):
            tags.setdefault(record, []).append(tag)
        return tags

    def openings(self, type_: str) -> dict[int, str]:
        """The first passage of every note of a type, by the note's number."""
        return dict(self.db.execute("SELECT p.n, p.text FROM records r JOIN passages p ON p.n = r.n "
                                    "WHERE r.kind = 'note' AND r.type = ?", (type_,)))

    # Edges and relations

    def edges_at(self, *notes: str) -> dict[str, StandingEdge]:
        """The edges that have one of these notes at an end, by id; of no note, all."""
        marks = ",".join("?" * len(notes))
        ends = f"AND (a IN ({marks}) OR b IN ({marks}))" if notes else ""
        return {row[0]: StandingEdge(*row) for row in self.db.execute(f"{_STANDING} {ends} ORDER BY edge",
                                                                      notes + notes)}

    def unreadable_edges(self) -> list[str]:
        """Edge files, or their whole folder, that the last sweep could not read."""
        return [path for path, in self.db.execute(
            "SELECT DISTINCT path FROM problems WHERE (path IN ('graph', 'graph/edges') "
            "OR path LIKE 'graph/edges/%') AND code NOT IN ('copy', 'duplicate-id') ORDER BY path")]

    def find_edges(self, words: Sequence[str], type: str | None, note: str | None, limit: int | None,
                   offset: int) -> tuple[list[Row], int]:
        """(a page of edges, how many there are): of a type, of a note, with all these words; newest first."""
        condition = ("r.kind = 'edge' AND (:type IS NULL OR r.type = :type) AND (:note IS NULL OR r.id IN "
                     "(SELECT edge FROM links WHERE a = :note OR b = :note)) AND (:words = '' OR r.n IN "
                     "(SELECT p.record FROM words JOIN passages p ON p.n = words.rowid WHERE words MATCH "
                     ":words))")
        values = {"type": type, "note": note, "words": match(words, every=True),
                  "limit": -1 if limit is None else limit, "offset": offset}
        total = self.db.execute(f"SELECT count(*) FROM records r WHERE {condition}", values).fetchone()[0]
        rows = self.db.execute(
            f"SELECT {_ROW} FROM records r WHERE {condition} ORDER BY r.created DESC, r.at DESC, r.id "
                               "LIMIT :limit OFFSET :offset", values)
        return [Row(*row) for row in rows], total

    def relation(self, a: str, word: str, b: str) -> Written | None:
        """A relation by its canonical word, that of an edge first; None if there is none."""
        row = self.db.execute(f"{_WRITTEN} WHERE a = ? AND word = ? AND b = ? ORDER BY edge IS NULL",
                              (a, word, b)).fetchone()
        return Written(*row) if row else None

    def relations(self) -> list[Written]:
        """All links but pins, as they were written."""
        return [Written(*row) for row in self.db.execute(f"{_WRITTEN} WHERE said <> 'pinned'")]

    def replaced_by(self, newer: str) -> list[str]:
        """What a record replaces directly."""
        query = ("SELECT l.b FROM links l JOIN records o ON o.id = l.b JOIN records n ON n.id = l.a "
                 f"WHERE l.a = ? AND {replaces('o', 'n')}")
        return [old for old, in self.db.execute(query, (newer,))]

    def unseen_edge_ends(self) -> set[str]:
        """The notes at both ends of the edges that upkeep has not seen yet."""
        rows = self.db.execute("SELECT l.a, l.b FROM links l JOIN records r ON r.id = l.edge "
                               "LEFT JOIN seen s ON s.rung = 'edges' AND s.key = r.id WHERE s.key IS NULL")
        return {note for ends in rows for note in ends}

    def edge_titles(self) -> list[Titled]:
        query = ("SELECT DISTINCT e.id, e.title, e.type, x.id, x.title, y.id, y.title FROM links l "
                 "JOIN records e ON e.id = l.edge JOIN records x ON x.id = l.a JOIN records y ON y.id = l.b")
        return [Titled(*row) for row in self.db.execute(query)]

    def ids_of(self, kinds: Sequence[str]) -> list[str]:
        marks = ",".join("?" * len(kinds))
        rows = self.db.execute(f"SELECT id FROM records WHERE kind IN ({marks})", list(kinds))
        return [record for record, in rows]

    def all_names(self) -> list[tuple[str, str]]:
        """(name, record) of every title and further name."""
        return self.db.execute("SELECT x.name, r.id FROM names x JOIN records r ON r.n = x.record").fetchall()

    def tags_beside(self, tag: str) -> list[list[str]]:
        """The tags of each record that has this one."""
        records: dict[int, list[str]] = {}
        query = "SELECT record, tag FROM tags WHERE record IN (SELECT record FROM tags WHERE tag = ?)"
        for record, name in self.db.execute(query, (tag,)):
            records.setdefault(record, []).append(name)
        return list(records.values())

    # Memos

    def own_memos(self) -> list[str]:
        """The units of memos that people and agents of this home wrote."""
        return [unit for unit, in self.db.execute(
            "SELECT unit FROM records WHERE kind = 'memo' AND trust IN ('user', 'agent') ORDER BY id")]

    def masters(self) -> list[tuple[str, str]]:
        """(name, unit) of the memos that others may have been gathered into, forgotten ones too."""
        query = f"{_MASTERS.format('unit', 'records')} UNION {_MASTERS.format('path', 'archived')}"
        return self.db.execute(query).fetchall()

    # What names a record, for purging it

    def holders(self, record: str) -> list[str]:
        """The records in whose units a link to or from this one is written."""
        query = ("SELECT DISTINCT r.id FROM links l JOIN records r ON r.unit = l.unit "
                 "WHERE (l.a = ? OR l.b = ?) AND r.id <> ?")
        return [other for other, in self.db.execute(query, (record, record, record))]

    def units_saying(self, *words: str) -> list[str]:
        """The units of which a passage holds one of these, letter by letter."""
        query = "SELECT DISTINCT r.unit FROM passages p JOIN records r ON r.n = p.record WHERE "
        rows = self.db.execute(query + " OR ".join(["instr(p.text, ?)"] * len(words)), words)
        return [unit for unit, in rows]

    def documents(self, below: str = "", *, unread: bool = False) -> list[str]:
        """The paths of the files that begin so; with `unread` those alone that could not be read."""
        query = ("SELECT path FROM documents WHERE substr(path, 1, ?) = ? AND (hash = '' OR NOT ?) "
                 "ORDER BY path")
        return [path for path, in self.db.execute(query, (len(below), below, unread))]

    def beginning(self, letters: str) -> tuple[str | None, str | None]:
        """The note whose id begins with these hexadecimal digits, and the forgotten one."""
        query = "SELECT min(id) FROM {} WHERE kind = 'note' AND id >= ? AND id < ?"
        ends = (letters, letters + "g")
        return (self.db.execute(query.format("records"), ends).fetchone()[0],
                self.db.execute(query.format("archived"), ends).fetchone()[0])

    def merge_blocks(self) -> list[str]:
        """The text of the diary's blocks that may be about a merge."""
        return [text for text, in self.db.execute(
            "SELECT p.text FROM records r JOIN passages p ON p.n = r.n WHERE r.kind = 'episode' "
            "AND p.text LIKE '%**Type:** merge%'")]

    def linked_by(self, *words: str) -> list[Written]:
        """All links that were written with one of these words."""
        marks = ",".join("?" * len(words))
        return [Written(*row) for row in self.db.execute(f"{_WRITTEN} WHERE said IN ({marks})", words)]

    def twin_edges(self) -> list[tuple[str, str, str]]:
        """(edge, its unit, the unit of the first) of edges that state the same relation as an older one."""
        return self.db.execute(
            "SELECT edge, unit, first FROM (SELECT edge, unit, first_value(unit) OVER "
            "(PARTITION BY a, word, b ORDER BY created, unit) AS first FROM links WHERE edge IS NOT NULL) "
            "WHERE unit <> first").fetchall()
