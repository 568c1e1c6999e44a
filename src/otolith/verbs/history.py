"""What changed, what is contested, and what a person says about it: claims and facts as people ask for them.

There is one list of open contradictions, whatever kind of record they come from. An answer is a line in the
home's curation.jsonl and touches no record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from otolith.errors import Invalid, NotFound
from otolith.files import ledger, paths
from otolith.files.tree import fingerprint
from otolith.home import Home, Named
from otolith.index.claims import ClaimRow
from otolith.index.facts import ReviewRow
from otolith.index.write import HOLDS
from otolith.model.dialog import Fact, marked_time
from otolith.model.ids import normal
from otolith.model.record import TRUST
from otolith.model.times import time_or_none
from otolith.verbs.claims import draw

DEFAULT = 50


class Shift(NamedTuple):
    """One thing that changed: when, what, in which words, and where it stands."""

    when: str
    what: str  # said, replaced, scored, corrected
    text: str
    was: str
    why: str
    until: str | None
    record: str
    topic: str
    project: str
    trust: str


def history(home: Home, about: str | None = None, *, since: Any = None, before: Any = None,
            limit: int | None = DEFAULT) -> list[dict[str, Any]]:
    """What changed about a subject, a topic, a record or everything, oldest first; of many the latest."""
    home.ensure_fresh()
    start = None if since is None else home.moment(since, "since")
    stop = None if before is None else home.moment(before, "before")
    if start is not None and stop is not None and start >= stop:
        raise Invalid("nothing lies between these two days", "give the earlier one as since")
    events = [event for event in _events(home, about) if _within(event.when, start, stop)]
    if not events and about is not None and not _is_known(home, about):
        raise NotFound(f"nothing is known about {about!r}", f"try: otolith recall {about!r}")
    events.sort(key=lambda event: (event.when, event.record, event.what))
    return [event._asdict() for event in (events if limit is None else events[-limit:])]


def _within(when: str, start: float | None, stop: float | None) -> bool:
    moment = time_or_none(when) or 0.0
    return (start is None or moment >= start) and (stop is None or moment < stop)


def _events(home: Home, about: str | None) -> Iterator[Shift]:
    topics = [row.topic for row in home.index.dialogs.topics()]
    chosen = topics if about not in topics else [about]
    words = None if about is None or about in topics else normal(about)
    for topic in chosen:
        yield from _of_topic(home, topic, words)
    if about in topics:
        return
    for row in home.index.claims.outside_dialogs(words):
        yield from _of_claim(home, row)


def _of_topic(home: Home, topic: str, words: str | None) -> Iterator[Shift]:
    """What a topic's facts say of themselves: first said, replaced, scored, corrected."""
    facts = {str(fact.id): fact for fact in home.index.facts.of_topic(topic)
             if words is None or _is_about(fact, words)}
    for fact in facts.values():
        newer = home.index.facts.of(fact.superseded_by) if fact.superseded_by else None
        shared = {"record": str(fact.id), "topic": topic, "project": "", "trust": fact.trust or "user"}
        yield Shift(when=fact.valid_from or fact.entry_ts, what="said", text=fact.title, was="",
                    why=fact.sentence or "", until=fact.valid_until, **shared)
        if fact.valid_until:
            yield Shift(when=fact.valid_until, what="replaced", text=newer.title if newer else "",
                        was=fact.title, why=(newer.sentence or "") if newer else "", until=None,
                        **{**shared, "record": str(fact.superseded_by or fact.id)})
    for review in home.index.facts.reviews(topic):
        if review.fact in facts or review.target in facts:
            yield _of_review(review, facts.get(review.fact) or facts.get(str(review.target)))


def _is_about(fact: Fact, words: str) -> bool:
    return fact.id == words or any(f" {words} " in f" {normal(part)} "
                                   for part in (fact.subject, fact.object))


def _of_review(review: ReviewRow, fact: Fact | None) -> Shift:
    text = fact.title if fact else review.fact
    verdict = f"score {review.score:g}" if review.score is not None else "score taken back"
    return Shift(when=marked_time(review.mark), what="corrected" if review.target else "scored", text=text,
                 was="", why="" if review.target else verdict, until=None,
                 record=review.target or review.fact, topic=review.topic, project="", trust=review.trust)


def _of_claim(home: Home, row: ClaimRow) -> Iterator[Shift]:
    """What a note, memo, chunk or work claims, and what closed it."""
    closer = home.index.claims.closer(row)
    shared = {"topic": "", "project": row.scope}
    yield Shift(when=marked_time(row.mark), what="said", text=row.sentence, was="", why="",
                until=marked_time(closer.mark) if closer else None, record=row.record, trust=TRUST[row.trust],
                **shared)
    if closer:
        yield Shift(when=marked_time(closer.mark), what="replaced", text=closer.sentence, was=row.sentence,
                    why="", until=None, record=closer.record, trust=TRUST[closer.trust], **shared)


def _is_known(home: Home, about: str) -> bool:
    return bool(home.index.cards.resolve(about)) or any(True for _ in _events(home, about))


# Contradictions


class Side(NamedTuple):
    """One of two statements about one thing, of which nothing says for sure that the newer ended the
    older.
    """

    claim: str
    record: str
    kind: str
    title: str
    sentence: str
    said: str
    trust: str
    project: str


def contradictions(home: Home, *, project: str | None = None, limit: int = DEFAULT) -> list[dict[str, Any]]:
    """What is contested and no person has answered, newest first; of a project, what is told in it."""
    home.ensure_fresh()
    draw(home)
    pairs = home.index.claims.contested(limit if project is None else 10 * limit)
    chosen = [pair for pair in pairs if project is None
            or {pair.newer.scope, pair.older.scope} <= {"", project}]
    return [{"newer": _side(home, pair.newer)._asdict(), "older": _side(home, pair.older)._asdict()}
            for pair in chosen[:limit]]


def _side(home: Home, row: ClaimRow) -> Side:
    card = home.index.cards.find(row.record)
    return Side(claim=row.id, record=row.record, kind=card.kind if card else "", title=card.title if card
                else row.sentence,
                sentence=row.sentence, said=marked_time(row.mark), trust=TRUST[row.trust], project=row.scope)


def settle(home: Home, new: str, old: str, holds: str) -> dict[str, Any]:
    """A person's answer: the new statement holds, the old one does, or both in their scopes."""
    if holds not in HOLDS:
        raise Invalid(f"unknown answer {holds!r}", f"use one of {', '.join(HOLDS)}")
    if home.trust != "user":
        raise Invalid("only a person says which of two statements holds",
                      "answer on the page or at a terminal")
    newer, older = _claim(home, new), _claim(home, old)
    if newer == older:
        raise Invalid("these are the same statement", "give two of a contradiction: otolith contradictions")
    home.settle()
    line = {"schema": "curation.v1", "at": home.stamp_now(), "op": "settle", "old": older, "new": newer,
            "holds": holds, "by": "user"}
    with home.writing():
        ledger.append_line(home.tree, paths.ANSWERS, line, synced=True)
        home.refresh([paths.ANSWERS])
        home.audit("settled", Named("claim", newer), fingerprint(repr(line).encode()))
    return line


def _claim(home: Home, handle: str) -> str:
    """The claim of that name, or the one that a record states."""
    rows: Sequence[ClaimRow] = home.index.claims.named(handle)
    if not rows and (cards := home.index.cards.resolve(handle)):
        rows = home.index.claims.of(cards[0].id)
    if not rows:
        raise NotFound(f"no claim {handle!r}", "see: otolith contradictions")
    return next((row for row in rows if row.main), rows[0]).id


# One record


def of_record(home: Home, id: str) -> list[dict[str, str]]:
    """What became of a record and of what it says: its audit lines, its claims and what closed them."""
    row = home.index.cards.find(id)
    if row is None:
        return []
    draw(home, few=True)
    events = [{"when": str(line.get("ts")), "what": str(line.get("verb")), "text": _by(line.get("origin"))}
              for line in ledger.lines_naming(home.tree, paths.AUDIT, home.audit_name(row.kind, id))]
    for claim in home.index.claims.of(id):
        events += [{"when": shift.when, "what": shift.what, "text": shift.text}
                   for shift in _of_claim(home, claim) if claim.main]
    return sorted(events, key=lambda event: event["when"])


def _by(origin: Any) -> str:
    """Who did it, and through which door."""
    given = origin if isinstance(origin, dict) else {}
    return f"by {given.get('agent') or 'somebody'} ({given.get('door') or 'unknown'})"
