"""Records as the index lists them: by id, by name, by filter; their tags, use and problems. Reads only.

A filter becomes a condition over `records r` here, for whoever asks by one; values are bound, never spliced.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from otolith.index.database import ROW, Database, Facet, Row, replaces
from otolith.model.kinds import COUNTED, KINDS, LISTED, WRITTEN
from otolith.model.record import MIXED, SURE, Finding, Usage
from otolith.model.text import fold

if TYPE_CHECKING:
    from otolith.model.recall import Filter

_LAST = "\U0010ffff"
NAMES = 20  # records that one name or beginning of an id leads to
SHORTEST_START, LONG_START = 4, 6  # signs of an id that name a record; that do so before any title
RUN = "import-" + 8 * "[0-9a-f]"  # how the name of an import looks
JOINTS = ("-", "_", "#", ":")  # before the parts of an id
_GIVEN = "(SELECT value FROM json_each(?))"
_TITLED = "r.n IN (SELECT record FROM names WHERE NOT further AND instr(name, ?))"
_NAMED = (f"SELECT {ROW} FROM names x JOIN records r ON r.n = x.record WHERE x.name = ? AND x.further = "
          "(SELECT min(further) "
          f"FROM names WHERE name = x.name) LIMIT {NAMES}")


class Archived(NamedTuple):
    """A forgotten record, which lies in the archive."""

    id: str
    kind: str
    title: str
    path: str


class ImportRun(NamedTuple):
    """An import: what it brought, and when."""

    run: str
    at: float
    records: int
    kinds: str


class Used(NamedTuple):
    """How often a record was delivered, and when last; 0 for never."""

    id: str
    times: int
    last: float


class Growth(NamedTuple):
    """How many records of a kind a day brought."""

    day: str
    kind: str
    records: int


class MostUsed(NamedTuple):
    """A record and how often it was delivered."""

    id: str
    kind: str
    title: str
    uses: int


class Share(NamedTuple):
    """How many of the records that a filter chooses have one value of a field."""

    field: str
    value: str
    records: int


class Progress(NamedTuple):
    """How far the index has come: a changed record has a higher number than any before it."""

    top: int = 0
    records: int = 0
    links: int = 0
    top_link: int = 0
    forgotten: int = 0


class Cards(Facet):
    """Records by id, by name and by filter."""

    def find(self, record: str) -> Row | None:
        """The record of that very id."""
        return self.db.first(Row, f"SELECT {ROW} FROM records r WHERE id = ?", (record,))

    def order(self) -> dict[str, int]:
        """Unit → the number of its first record: the order in which they were last read."""
        return dict(self.db.execute("SELECT unit, min(n) FROM records GROUP BY unit"))

    def resolve(self, handle: str) -> list[Row]:
        """An id, else the beginning of one, else a title, alias or memo name.

        Four or five signs are a word before they are the beginning of an id.
        """
        if exact := self.find(handle):
            return [exact]
        if len(handle) < LONG_START:
            return self.by_name(handle) or self._beginning(handle)
        return self._beginning(handle) or self.by_name(handle)

    def _beginning(self, start: str) -> list[Row]:
        beginning = f"SELECT {ROW} FROM records r WHERE id >= ? AND id < ? LIMIT {NAMES}"
        return self.db.select(Row, beginning, (start, start + _LAST)) if len(start) >= SHORTEST_START else []

    def containing(self, part: str) -> list[Row]:
        """Records whose id has a later part that begins so, else whose title has these words in it; what is
        built from others, or stands between them, only where nothing else does.
        """
        bare = part.strip()
        if len(bare) < SHORTEST_START - 1:
            return []
        in_id = " OR ".join(["instr(r.id, ?)"] * len(JOINTS))
        for condition, values in ((in_id, [f"{sign}{bare}" for sign in JOINTS]), (_TITLED, [fold(bare)])):
            query = (f"SELECT {ROW} FROM records r WHERE {condition} ORDER BY r.kind IN {_GIVEN} DESC, "
                     f"created DESC, id LIMIT {NAMES}")
            if rows := self.db.select(Row, query, [*values, json.dumps(WRITTEN)]):
                return [row for row in rows if KINDS[row.kind].written] or rows
        return []

    def by_name(self, name: str) -> list[Row]:
        """Records of that title, else of that further name, with or without the ending of their file."""
        folded = fold(name)
        rows = self.db.select(Row, _NAMED, (folded,))
        return self.db.select(Row, _NAMED, (folded[:-3],)) if not rows and folded.endswith(".md") else rows

    def starting(self, start: str, limit: int) -> list[Row]:
        """Listed records whose id or title begins so; where nothing is given, the latest ones."""
        query, kinds = f"SELECT {ROW} FROM records r WHERE kind IN {_GIVEN}", json.dumps(LISTED)
        name = fold(start)
        if not start:
            return self.db.select(Row, f"{query} ORDER BY created DESC, at DESC, id LIMIT ?", (kinds, limit))
        begins = ("(r.id >= ? AND r.id < ? OR r.n IN (SELECT record FROM names WHERE name >= ? AND name < ? "
                  "AND NOT further))")
        return self.db.select(Row, f"{query} AND {begins} LIMIT ?",
                              (kinds, start, start + _LAST, name, name + _LAST, limit))

    def in_unit(self, unit: str) -> list[Row]:
        """The records that a file, or an entry's folder, holds."""
        return self.db.select(Row, f"SELECT {ROW} FROM records r WHERE unit = ? ORDER BY n", (unit,))

    def rows_of(self, ids: Iterable[str]) -> dict[str, Row]:
        """Many records at once."""
        rows = self.db.select(Row, f"SELECT {ROW} FROM records r WHERE id IN {_GIVEN}",
                              (json.dumps(list(ids)),))
        return {row.id: row for row in rows}

    def units_of(self, ids: Iterable[str]) -> dict[str, str]:
        """Which unit each of the records stands in, as far as they are known."""
        return dict(self.db.execute(f"SELECT id, unit FROM records WHERE id IN {_GIVEN}",
                                    (json.dumps(list(ids)),)))

    def units_named(self, handles: Iterable[str]) -> list[str]:
        """The units of records with one of these ids or further names."""
        given = json.dumps(list(handles))
        return list(self.db.column(
            f"SELECT unit FROM records WHERE id IN {_GIVEN} UNION SELECT r.unit FROM names x "
            f"JOIN records r ON r.n = x.record WHERE x.name IN {_GIVEN}", (given, given)))

    def runs(self) -> list[ImportRun]:
        """The imports of which something is here, the newest first."""
        return self.db.select(ImportRun, (
            "SELECT run, max(latest) AS at, sum(n) AS records, group_concat(n || ' ' || kind, ', ') AS kinds "
            "FROM (SELECT x.name AS run, max(r.at) AS latest, count(*) AS n, r.kind FROM names x "
            f"JOIN records r ON r.n = x.record WHERE x.further AND x.name GLOB '{RUN}' "
            "GROUP BY x.name, r.kind ORDER BY r.kind) GROUP BY run ORDER BY max(latest) DESC, run"))

    def of_run(self, run: str) -> list[Row]:
        """The records of an import."""
        query = f"SELECT {ROW} FROM names x JOIN records r ON r.n = x.record WHERE x.name = ?"
        return self.db.select(Row, query, (run,))

    def listing(self, chosen: Filter, limit: int | None, offset: int = 0, *, projects: tuple[str, ...] = (),
                oldest_first: bool = False, title: str = "") -> tuple[list[Row], int]:
        """(page of records, how many there are in all), newest first; `title`: with these words in it."""
        condition, values = where(self.index, chosen, projects)
        for word in fold(title).split():
            condition += f" AND (instr(lower(r.title), ?) OR {_TITLED})"
            values += [word, word]
        total = self.db.value(f"SELECT count(*) FROM records r WHERE {condition}", values)
        order = "ASC" if oldest_first else "DESC"
        page = (f"SELECT {ROW} FROM records r WHERE {condition} ORDER BY r.created {order}, r.at {order}, "
                "r.id LIMIT ? OFFSET ?")
        return self.db.select(Row, page, [*values, -1 if limit is None else limit, offset]), total

    def tags_of(self, numbers: Iterable[int]) -> dict[int, list[str]]:
        """Tags by record number."""
        tags: dict[int, list[str]] = {}
        query = f"SELECT record, tag FROM tags WHERE record IN {_GIVEN} ORDER BY record, place"
        for n, tag in self.db.execute(query, (json.dumps(list(numbers)),)):
            tags.setdefault(n, []).append(tag)
        return tags

    def tag_counts(self) -> list[tuple[str, int]]:
        """Every tag with the number of its records."""
        return list(self.db.execute("SELECT tag, count(*) AS c FROM tags GROUP BY tag ORDER BY c DESC, tag"))

    def usage_of(self, row: Row) -> Usage:
        """The number in the record's own file plus the ledger's."""
        count, last = self.db.execute("SELECT count, last FROM usage WHERE id = ?",
                                      (row.id,)).fetchone() or (0, None)
        return Usage(row.uses + count, max(row.used or 0, last or 0) or None)

    def uses_of(self, ids: Iterable[str]) -> dict[str, Used]:
        """The use of many records at once, as `usage_of` counts it."""
        query = ("SELECT r.id, r.uses + coalesce(u.count, 0) AS times, max(coalesce(r.used, 0), "
                 "coalesce(u.last, 0)) AS last "
                 f"FROM records r LEFT JOIN usage u ON u.id = r.id WHERE r.id IN {_GIVEN}")
        return {used.id: used for used in self.db.select(Used, query, (json.dumps(list(ids)),))}

    def problems(self) -> list[Finding]:
        return self.db.select(Finding, "SELECT path, line, code, message, remedy FROM problems ORDER BY "
                                       "path, line")

    def archived(self, record: str | None = None) -> list[Archived]:
        """Forgotten records: all, or those of an id."""
        which, values = ("", ()) if record is None else ("WHERE id = ?", (record,))
        return self.db.select(Archived, f"SELECT id, kind, title, path FROM archived {which} ORDER BY path",
                              values)

    def archived_like(self, handle: str) -> list[Archived]:
        """Forgotten records whose id begins so or has a part that does, else whose title has the words."""
        rows, folded = self.archived(), fold(handle)
        if len(handle.strip()) < SHORTEST_START - 1:
            return [row for row in rows if folded in (row.id, fold(row.title))]
        return ([row for row in rows if row.id == handle]
                or [row for row in rows if fold(row.title) == folded]
                or [row for row in rows if any(f"{sign}{handle}" in f":{row.id}" for sign in JOINTS)]
                or [row for row in rows if folded in fold(row.title)])

    def total(self) -> int:
        """How many records there are."""
        return int(self.db.value("SELECT count(*) FROM records"))

    def counts(self) -> dict[str, Any]:
        """How much of what there is."""
        kinds = dict(self.db.execute("SELECT kind, count(*) FROM records GROUP BY kind ORDER BY kind"))
        tables = {name: self.db.value(f"SELECT count(*) FROM {name}")
                  for name in ("documents", "passages", "links", "archived")}
        tags = self.db.value("SELECT count(DISTINCT tag) FROM tags")
        return {"records": sum(kinds.values()), "kinds": kinds, "tags": tags, **tables}

    def uses(self) -> int:
        """How often anything was delivered, by the ledger."""
        return int(self.db.value("SELECT coalesce(sum(count), 0) FROM usage"))

    # All records, as pages and charts show them

    def progress(self) -> Progress:
        return self.db.select(Progress, """SELECT (SELECT coalesce(max(n), 0) FROM records) AS top,
            (SELECT count(*) FROM records) AS records, (SELECT count(*) FROM links) AS links,
            (SELECT coalesce(max(rowid), 0) FROM links) AS top_link,
            (SELECT count(*) FROM archived) AS forgotten""")[0]

    def changed_since(self, number: int, limit: int) -> list[Row]:
        """The records that came in after this number, the latest first."""
        query = f"SELECT {ROW} FROM records r WHERE n > ? ORDER BY n DESC LIMIT ?"
        return self.db.select(Row, query, (number, limit))

    def latest(self, kinds: Iterable[str], limit: int, project: str | None = None) -> list[Row]:
        """The records of these kinds, or of a project alone, that were made or edited last."""
        return self.db.select(Row, f"SELECT {ROW} FROM records r WHERE kind IN {_GIVEN} AND {_OF_PROJECT} "
                              "ORDER BY max(coalesce(updated, 0), created) DESC, n DESC LIMIT ?",
                              (json.dumps(list(kinds)), project, project, limit))

    def growth(self, kinds: Iterable[str], project: str | None = None) -> list[Growth]:
        """What each day brought of these kinds, oldest first; of a project alone."""
        return self.db.select(Growth, "SELECT date(created, 'unixepoch') AS day, kind, count(*) AS records "
                              f"FROM records r WHERE kind IN {_GIVEN} AND created > 0 AND {_OF_PROJECT} "
                              "GROUP BY 1, 2 HAVING day IS NOT NULL ORDER BY 1",
                              (json.dumps(list(kinds)), project, project))

    def projects(self) -> list[tuple[str, int]]:
        """Every project with the number of its records, most first; what belongs to none is not named."""
        return list(self.db.execute(
            f"SELECT project, count(*) FROM records WHERE kind IN {_GIVEN} AND coalesce(project, '') NOT IN "
            f"('', '{MIXED}') GROUP BY project ORDER BY 2 DESC, 1", (json.dumps(LISTED),)))

    def shares(self, chosen: Filter, limit: int, *, projects: tuple[str, ...] = ()) -> list[Share]:
        """What the records that a filter chooses are: by kind, type, tag, topic and project, most first."""
        condition, values = where(self.index, chosen, projects)
        those = f"WITH chosen AS (SELECT n, kind, type, topic, project FROM records r WHERE {condition}) "
        columns = " UNION ALL ".join(
            f"SELECT * FROM (SELECT '{field}' AS field, {field} AS value, count(*) AS records FROM chosen "
            f"WHERE coalesce({field}, '') <> '' GROUP BY 2 ORDER BY 3 DESC, 2 LIMIT :limit)"
            for field in ("kind", "type", "topic", "project"))
        tags = ("SELECT * FROM (SELECT 'tag' AS field, tag AS value, count(*) AS records FROM chosen c "
                "JOIN tags t ON t.record = c.n GROUP BY 2 ORDER BY 3 DESC, 2 LIMIT :limit)")
        query = f"{those}{columns} UNION ALL {tags}".replace(":limit", str(int(limit)))
        return self.db.select(Share, query, values)

    def most_used(self, limit: int) -> list[MostUsed]:
        return self.db.select(MostUsed, "SELECT r.id, r.kind, r.title, u.count AS uses FROM usage u "
                              "JOIN records r ON r.id = u.id ORDER BY u.count DESC, r.id LIMIT ?", (limit,))


def where(index: Database, chosen: Filter, projects: tuple[str, ...] = ()) -> tuple[str, list[Any]]:
    """(condition, values); `1` when nothing is asked."""
    parts: list[str] = []
    values: list[Any] = []

    def add(condition: str, *bound: Any) -> None:
        parts.append(condition)
        values.extend(bound)

    for column in ("kind", "type", "trust"):
        if several := getattr(chosen, column):
            add(f"r.{column} IN ({','.join('?' * len(several))})", *several)
    for column in ("topic", "agent", "session", "success"):
        if (value := getattr(chosen, column)) is not None:
            add(f"r.{column} = ?", value)
    if chosen.conversation is not None:
        add("(r.conversation = ? OR r.session = ?)", chosen.conversation, chosen.conversation)
    for tag in chosen.tags:
        add(_TAGGED, tag)
    if chosen.project is not None:
        known = chosen.project in projects
        add(f"(r.project = ? OR {_TAGGED})" if known else "r.project = ?", *[chosen.project] * (1 + known))
    if chosen.file is not None:
        condition, bound = _touches(chosen.file)
        add(f"EXISTS (SELECT 1 FROM memory_files f WHERE f.memory_id = r.id AND {condition})", *bound)
    if chosen.min_confidence is not None:
        add("(r.confidence IS NULL OR r.confidence >= ?)", chosen.min_confidence)
    if chosen.since is not None:
        add("r.created >= ?", chosen.since)
    if chosen.before is not None:
        add("r.created < ?", chosen.before)
    if chosen.unasked is not None:
        add(_UNASKED, *chosen.unasked, chosen.unasked[1])
    if chosen.as_of is not None:
        from otolith.index.facts import Facts

        add("CASE r.kind WHEN 'fact' THEN r.id IN (SELECT value FROM json_each(?)) ELSE r.created <= ? AND "
            "(r.valid_from IS NULL "
            "OR r.valid_from <= ?) AND (r.valid_until IS NULL OR r.valid_until > ?) END",
            json.dumps(Facts(index).held_on(chosen.as_of)), *[chosen.as_of] * 3)
    return " AND ".join(parts) or "1", values


# What may be told unasked: what people and agents of a project, or of none, said elsewhere, and holds.
_UNASKED = f"""r.trust IN ('user', 'agent') AND NOT r.sunk
AND (r.kind <> 'memo' OR coalesce(r.confidence, 1) >= {SURE})
AND r.kind IN ({', '.join(f"'{name}'" for name in COUNTED)})
AND (r.kind <> 'memo' OR coalesce(r.confidence, 1) >= {SURE})
AND (r.project IS NULL OR r.project IN ('', 'default', ?)) AND (r.session IS NULL OR r.session <> ?)
AND NOT EXISTS (SELECT 1 FROM records e
WHERE e.session = ? AND substr(r.unit, 1, length(e.unit) + 1) = e.unit || '/')
AND NOT EXISTS (SELECT 1 FROM links l JOIN records x ON x.id = l.a
WHERE l.b = r.id AND {replaces('r', 'x')})"""
_OF_PROJECT = "(? IS NULL OR r.project = ?)"
_TAGGED = "EXISTS (SELECT 1 FROM tags t WHERE t.tag = ? AND t.record = r.n)"


def _touches(path: str) -> tuple[str, list[str]]:
    """`f.file_path` is the path, ends in it or lies below it, by whole segments."""
    bare = path.strip("/").removeprefix("./")
    pattern = bare.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return ("(f.file_path = ? OR f.file_path = ? OR f.file_path LIKE ? ESCAPE '\\' OR f.file_path LIKE ? "
            "ESCAPE '\\')",
            [bare, path, f"%/{pattern}", f"{pattern}/%"])
