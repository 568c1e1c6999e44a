"""What was said, in the index: entries and topics, chunks of a conversation, what a session begins with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from otolith.index.database import Facet, replaces
from otolith.model.record import SURE

_NEWEST_WITH_TAG = "SELECT * FROM (SELECT record FROM tags WHERE tag = ? ORDER BY record DESC LIMIT ?)"
_MOST_SHARED = """SELECT r.n, r.id, coalesce(r.conversation, ''), r.created FROM ({newest}) s
JOIN records r ON r.n = s.record WHERE r.kind = 'chunk'
ORDER BY (SELECT count(*) FROM tags t WHERE t.record = r.n AND t.tag IN ({tags})) DESC,
r.created DESC, r.at DESC, r.n DESC LIMIT 20"""
_MEMOS = f"""SELECT id, unit FROM records r WHERE kind = 'memo' AND trust IN ('user', 'agent') AND NOT sunk
AND coalesce(confidence, 1) >= {SURE}
AND (project IS NULL OR project IN ('', 'default', :project))
AND NOT EXISTS (SELECT 1 FROM links l JOIN records x ON x.id = l.a WHERE l.b = r.id AND {replaces('r', 'x')})
ORDER BY pinned DESC, created DESC, at DESC, id"""

_COMING = f"""SELECT r.title, p.text FROM records r JOIN passages p ON p.n = r.n
WHERE r.kind = 'memo' AND r.type = 'future' AND NOT r.sunk AND r.trust IN ('user', 'agent')
AND coalesce(r.confidence, 1) >= {SURE} AND (r.project IS NULL OR r.project IN ('', 'default', ?))
ORDER BY r.created DESC, r.at DESC, r.id LIMIT 20"""
_SCORE = ("(SELECT v.score FROM reviewed v WHERE v.fact = {fact}.id OR v.target = {fact}.id "
          "ORDER BY v.mark DESC LIMIT 1)")
# in a project what was said in it, and what holds everywhere
_TOLD_IN = "(:project IS NULL OR r.project IS NULL OR r.project IN ('', :project))"
_UNSCORED = f"FROM records r WHERE kind = 'fact' AND sunk = 0 AND {_SCORE.format(fact='r')} IS NULL"


class TopicRow(NamedTuple):
    """A topic: how much it holds, and when it was last spoken of."""

    topic: str
    entries: int
    facts: int
    last: float
    outside: int  # some of its entries come from outside


class Nearby(NamedTuple):
    """A chunk that a new one may be linked with."""

    n: int
    id: str
    conversation: str
    created: float


class Gauges(NamedTuple):
    """How much there is."""

    records: int
    memos: int


class Plan(NamedTuple):
    """A memo of something to come."""

    title: str
    text: str


class EntryEnd(NamedTuple):
    """How many turns, characters and facts an entry has."""

    turns: int
    stop: int
    facts: int


class Dialogs(Facet):
    """Entries, topics, chunks and sessions."""

    # Topics

    def names(self, project: str | None = None) -> list[str]:
        """Every topic that has an entry; of a project, those with an entry of it or of no project."""
        return self._texts("SELECT DISTINCT topic FROM records WHERE kind = 'entry' AND (:project IS NULL OR "
                           "project IS NULL OR project IN ('default', :project)) ORDER BY topic",
                           {"project": project})

    def topics(self, topic: str | None = None) -> list[TopicRow]:
        """Every topic that has an entry, or the one named; the latest first."""
        which = "topic IS NOT NULL" if topic is None else "topic = :topic"
        return [TopicRow(*row) for row in self.db.execute(
            "SELECT topic, sum(kind = 'entry'), sum(kind = 'fact' AND NOT sunk), max(CASE kind WHEN 'entry' "
            "THEN created END), max(kind = 'entry' AND trust = 'outside') FROM records "
            f"WHERE {which} GROUP BY topic HAVING sum(kind = 'entry') ORDER BY 4 DESC, topic",
            {"topic": topic})]

    def projects_of(self, topic: str) -> list[str]:
        """The projects in which a topic's entries were written."""
        return self._texts("SELECT DISTINCT coalesce(project, '') FROM records WHERE topic = ? AND kind = "
                           "'entry' ORDER BY 1", (topic,))

    def is_topic(self, name: str) -> bool:
        return self.db.execute("SELECT 1 FROM records WHERE topic = ? LIMIT 1",
                               (name,)).fetchone() is not None

    def topic_of(self, conversation: str) -> str | None:
        """The topic of a conversation's latest entry."""
        topics = self._texts("SELECT topic FROM records WHERE conversation = ? AND kind = 'entry' ORDER BY "
                             "created DESC, at DESC LIMIT 1", (conversation,))
        return topics[0] if topics else None

    def built_topics(self) -> list[str]:
        """The path of every topic memory, also of one that cannot be read."""
        return self._texts("SELECT unit FROM records WHERE kind = 'topic' UNION SELECT path FROM problems "
                           "WHERE path LIKE 'topics/%/topic_memory.json'", ())

    def stamp(self, topic: str) -> str:
        """Changes with a topic's entries, facts and reviews: row numbers are never used twice."""
        return repr(self.db.execute(
            "SELECT (SELECT count(*) || ' ' || max(n) || ' ' || sum(n) FROM records WHERE topic = :topic AND "
            "kind IN ('entry', 'fact')), (SELECT count(*) || ' ' || max(mark) FROM said WHERE topic = "
            ":topic), (SELECT max(mark) FROM reviewed WHERE topic = :topic)", {"topic": topic}).fetchone())

    # Facts that wait for a person

    def unscored(self, topic: str | None, limit: int, project: str | None = None) -> list[str]:
        """The facts that nobody has scored, the least sure first."""
        return self._texts(f"SELECT id {_UNSCORED} AND (:topic IS NULL OR topic = :topic) AND {_TOLD_IN} "
                           "ORDER BY confidence, created DESC, at DESC, id LIMIT :limit",
                           {"topic": topic, "limit": limit, "project": project})

    def unscored_counts(self, project: str | None = None) -> dict[str, int]:
        """Topic → how many of its facts nobody has scored, most first."""
        return dict(self.db.execute(f"SELECT topic, count(*) {_UNSCORED} AND {_TOLD_IN} GROUP BY topic "
                                    "ORDER BY 2 DESC, 1", {"project": project}))

    # Entries, each by the unit it stands in

    def unread(self, topic: str | None = None) -> list[str]:
        """Entries without a summary, oldest first."""
        return self._texts(
            "SELECT r.unit FROM records r WHERE r.kind = 'entry' AND (:topic IS NULL OR r.topic = :topic) "
            "AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.path IN (r.unit || '/summary.json', "
            "r.unit || '/summary.part.jsonl')) ORDER BY r.created, r.at, r.id", {"topic": topic})

    # Sessions that run: their entries grow

    def running(self, session: str | None = None) -> list[str]:
        """The entries of a session, or of all, that have no summary yet but a part of one, oldest first."""
        return self._texts(
            "SELECT r.unit FROM records r JOIN documents d ON d.path = r.unit || '/summary.part.jsonl' WHERE "
            "r.kind = 'entry' AND (:session IS NULL OR r.conversation = :session) AND NOT EXISTS (SELECT 1 "
            "FROM documents s WHERE s.path = r.unit || '/summary.json') ORDER BY r.created, r.at, r.id",
            {"session": session})

    def turns_kept(self, keys: Sequence[str]) -> dict[str, str]:
        """Of the turns with these keys those that an entry holds, each with its session."""
        rows = self.db.execute(
            "SELECT substr(x.name, 6), coalesce(r.session, '') FROM json_each(?) k JOIN names x ON x.name = "
            "'turn:' || k.value JOIN records r ON r.n = x.record", (json.dumps(list(keys)),))
        return dict(rows)

    def tail(self, unit: str) -> EntryEnd:
        """Where an entry ends, as far as it was read."""
        rows = self.db.execute("SELECT coalesce(p.turn, 0), p.stop, (SELECT count(*) FROM said WHERE unit = "
                               "r.unit) FROM records r JOIN passages p ON p.n = r.last WHERE r.unit = ?",
                               (unit,)).fetchall()
        return EntryEnd(*map(int, rows[0])) if rows else EntryEnd(0, 0, 0)

    def recent(self, topic: str, limit: int) -> list[str]:
        return self._texts("SELECT unit FROM records WHERE kind = 'entry' AND topic = ? ORDER BY created "
                           "DESC, at DESC, id DESC LIMIT ?", (topic, limit))

    def logged_in(self, session: str) -> list[str]:
        """The entries of a session that people or agents wrote, oldest first."""
        return self._texts("SELECT unit FROM records WHERE kind = 'entry' AND session = ? AND trust <> "
                           "'outside' ORDER BY created, at, id", (session,))

    def said_in(self, session: str) -> int:
        """How many memos of what people said a session has left."""
        return int(self.db.value("SELECT count(*) FROM records WHERE kind = 'memo' AND session = ? AND "
                                 "trust = 'user'", (session,)))

    def learned_in(self, session: str) -> int:
        """How many memos of what an agent learned a session has left."""
        return int(self.db.value("SELECT count(*) FROM records WHERE kind = 'memo' AND session = ? AND "
                                 "trust <> 'user' AND confidence IS NOT NULL", (session,)))

    # Chunks

    def chunks_near(self, tags: Sequence[str], conversation: str, since: float, until: float,
                    newest: int) -> list[Nearby]:
        """The chunk just before in the conversation, and of the newest with a tag those that share most."""
        rows: dict[int, Nearby] = {}
        for at in range(0, len(tags), 20):
            part = tags[at : at + 20]
            query = _MOST_SHARED.format(newest=" UNION ".join([_NEWEST_WITH_TAG] * len(part)),
                                        tags=",".join("?" * len(part)))
            bound = [value for tag in part for value in (tag, newest)]
            rows |= {row[0]: Nearby(*row) for row in self.db.execute(query, [*bound, *part])}
        if conversation:
            rows |= {row[0]: Nearby(*row) for row in self.db.execute(
                "SELECT n, id, conversation, created FROM records WHERE conversation = ? AND created BETWEEN "
                "? AND ? AND kind = 'chunk' ORDER BY created DESC, place DESC, n DESC LIMIT 1",
                (conversation, since, until))}
        return list(rows.values())

    def next_place(self, conversation: str, when: float) -> int:
        """How many chunks of the conversation were made in this second: files do not show their order."""
        return int(self.db.execute("SELECT coalesce(max(place) + 1, 0) FROM records WHERE conversation = ? "
                                   "AND created = ?", (conversation, when)).fetchone()[0])

    def chunks_like(self, title: str, conversation: str, content: str) -> list[str]:
        """The units of a conversation's chunks that begin as this text does."""
        # CROSS JOIN keeps the order: by the name, which few have, and not by the kind, which many are
        return self._texts("SELECT r.unit FROM names x CROSS JOIN records r ON r.n = x.record CROSS JOIN "
                           "passages p ON p.n = r.n WHERE x.name = ? AND r.kind = 'chunk' AND "
                           "coalesce(r.conversation, '') = ? AND p.text = substr(?, 1, length(p.text))",
                           (title, conversation, content))

    def chunks_named(self, *names: str) -> list[str]:
        """The units of chunks that bear one of these further names."""
        return self._texts(f"SELECT r.unit FROM names x JOIN records r ON r.n = x.record WHERE x.name IN "
                           f"({','.join('?' * len(names))}) AND r.kind = 'chunk' ORDER BY r.n", names)

    # A session

    def memos(self, project: str) -> dict[str, str]:
        """Id → unit of the memos that hold in a project and may be shown unasked: pinned, newest first."""
        return dict(self.db.execute(_MEMOS, {"project": project}))

    def gauges(self) -> Gauges:
        return Gauges(*self.db.execute("SELECT count(*), coalesce(sum(kind = 'memo'), 0) "
                                       "FROM records").fetchone())

    def coming(self, project: str) -> list[Plan]:
        """What memos say is to come in a project, the newest first."""
        return self.db.select(Plan, _COMING, (project,))

    def _texts(self, query: str, values: Any) -> list[str]:
        return [row[0] for row in self.db.execute(query, values)]
