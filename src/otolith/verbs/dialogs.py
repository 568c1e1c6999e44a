"""The dialog verbs: log a dialog, review its facts, read facts, topics and the front page.

An entry is safe on disk before anything is drawn from it. A review is a line in the topic's curation file;
the entry it speaks of is never touched.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from otolith.errors import Conflict, Damaged, Invalid, NotFound
from otolith.files import codec, ledger, paths
from otolith.files.codec import write_object
from otolith.files.tree import fingerprint
from otolith.home import Home
from otolith.index.database import Row
from otolith.model.dialog import CORRECTABLE, Curation, Entry, EntryMeta, Fact, GlobalMemory, Turn
from otolith.model.dialog import correct as correct_fact
from otolith.model.ids import derived_uuid, entry_id, slug
from otolith.model.kinds import FACT_TYPES
from otolith.model.record import Version
from otolith.model.shape import read_tags
from otolith.model.text import check_whole, counted
from otolith.model.times import parse_time, zulu
from otolith.model.turns import as_message, read_messages, read_turns, write_turns
from otolith.providers.chat import Ask
from otolith.verbs.models import model_of
from otolith.verbs.steps import bytes_of, diary_of, each, fact_record, locate
from otolith.verbs.topics import enrich, read_by_rules, read_topic, unread

AS_IS: Any = object()  # a review that says nothing of the score
MOST_BYTES = 32 * 1024 * 1024
PASSAGES_ASKED = 200  # of each word of a dialog, the latest, to see which topics know it


def log(home: Home, dialog: Any, topic: str | None = None, *, ask: Ask | None = None, providers: Any = None,
        title: str | None = None, tags: Sequence[str] = (), source: str = "interaction",
        conversation_id: str | None = None, agent: str | None = None, project: str | None = None,
        session: str | None = None, created: Any = None, key: str | None = None) -> Entry:
    """Keep a dialog: text, a file's path or a list of messages; the same key again returns the same entry."""
    raw, roles = read_dialog(dialog)
    turns = read_turns(raw, roles)
    home.warn_of_secrets("dialog", raw)
    if conversation_id is None and session is not None:
        conversation_id = session
    model = model_of(home, ask, providers)
    if key is not None and (same := _kept_before(home, key, raw)):
        return same if same.summary or model else enrich(home, same, None)
    when = _when(home, turns, created)
    name = _topic_name(home, topic) if topic is not None else _find_topic(home, turns, conversation_id)
    meta = EntryMeta(
        entry_id=entry_id(when, home.new_id()), entry_ts=zulu(when), topic=name, source=source, title=title,
        conversation_id=conversation_id, roles=roles or None,
        tags=read_tags(tags) or None,  # type: ignore[arg-type]
        origin=home.origin(agent=agent, project=project, session=session))
    check_whole(meta.to_dict())
    entry = Entry(meta=meta, raw=raw, turns=turns)
    with home.writing():
        if key is not None:
            home.settle()
            mark = derived_uuid(home.config.home_id, "log", key)
            entry = entry.replace(meta=meta.replace(entry_id=entry_id(when, mark), key=mark))
            if same := _kept_before(home, key, raw) or _broken_off(home, entry):
                return same if same.summary or model else enrich(home, same, None)
        entry, files = _keep(home, entry, indexed=model is not None or key is not None)
    try:
        return enrich(home, entry, model, files)
    finally:  # it is kept, whatever becomes of what is drawn from it
        home.audit("logged", entry, fingerprint(raw.encode()), meta.origin)
        diary_of(home, entry, f"{paths.entry_folder(entry.topic, entry.id)}/raw.md", _said(entry))


def _said(entry: Entry) -> str:
    """What the diary says of a dialog: how long it is, never what is in it."""
    return f"{counted(len(entry.turns), 'turn')} on {entry.topic}"


def _keep(home: Home, entry: Entry, *, indexed: bool) -> tuple[Entry, dict[str, tuple[Version, bytes]]]:
    """The dialog and what is known of it, each durable; a model that may be slow is asked only then."""
    for _ in range(3):
        folder = paths.entry_folder(entry.topic, entry.id)
        raw, meta = entry.raw.encode(), write_object(entry.meta.to_dict())
        try:
            with home.tree.together():
                files = {f"{folder}/raw.md": (home.tree.write(f"{folder}/raw.md", raw), raw)}
                files[f"{folder}/meta.json"] = (home.tree.write(f"{folder}/meta.json", meta), meta)
        except Conflict:  # two entries of one second drew the same eight digits
            entry = entry.replace(meta=entry.meta.replace(entry_id=entry_id(entry.created, home.new_id())))
            continue
        if indexed:
            home.take_in(folder, [entry], files)
        return entry, files
    raise Conflict(f"the id {entry.id} is taken", "try again")


def read_dialog(dialog: Any) -> tuple[str, dict[str, str]]:
    """(text as raw.md keeps it, roles that names do not tell) of a dialog in any of its forms."""
    if isinstance(dialog, os.PathLike):
        dialog = _read_file(os.fspath(dialog))
    if isinstance(dialog, bytes):
        dialog = _decode(dialog, "the dialog")
    roles: dict[str, str] = {}
    if isinstance(dialog, str):
        messages = read_messages(dialog)
        raw, roles = write_turns(messages) if messages else (dialog.removeprefix("\ufeff"), roles)
    elif isinstance(dialog, Sequence):
        given = [as_message(message) if _has_words(message) else message for message in dialog]
        raw, roles = write_turns([message for message in given
                                  if not isinstance(message, Mapping)
                                  or message.get("content") not in ("", None)])
    else:
        raise Invalid("a dialog is text, a path or a list of messages",
                      'a message is {"role": "user", "content": "…"}')
    if not raw.strip():
        raise Invalid("the dialog is empty", "nothing was kept")
    check_whole(raw)
    size = len(raw.encode())
    if size > MOST_BYTES:
        raise Invalid(f"the dialog has {size} bytes, more than {MOST_BYTES}", "log it in parts")
    return raw, roles


def _has_words(message: Any) -> bool:
    """A message whose content is text or parts; None stands in messages that only call a tool."""
    return isinstance(message, Mapping) and isinstance(message.get("content", 0), str | list | tuple | None)


def _read_file(path: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise NotFound(f"no file {path}") from None
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}") from None
    return _decode(data, path)


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Invalid(f"{name} is not UTF-8 text: {error.reason} at byte {error.start}",
                      "nothing was kept") from None


def _when(home: Home, turns: Sequence[Turn], created: Any) -> float:
    """When the dialog took place: as given, as its first turn says, or now."""
    if created is not None:
        return home.moment(created)
    for turn in turns:
        if turn.ts:
            try:
                return parse_time(turn.ts)
            except Invalid:
                continue
    return home.clock()


def _kept_before(home: Home, key: str, raw: str) -> Entry | None:
    """The entry that was kept under a key, also before the home had an id of its own."""
    for home_id in (home.config.home_id, ""):
        for row in home.index.cards.by_name(f"key:{derived_uuid(home_id, 'log', key)}"):
            entry: Entry = codec.read_unit(home.tree, row.unit)[0][0]
            if entry.raw != raw:
                raise Conflict(f"another dialog was kept under that key: {row.id}", "use another key")
            return entry
    return None


def _broken_off(home: Home, entry: Entry) -> Entry | None:
    """The entry of the same key that a writer left when it was killed: it is given the file that it lacks."""
    folder, own = paths.topic_folder(entry.topic), f"_{str(entry.meta.key)[:8]}/"  # of the first try's time
    units = {paths.unit_of(path) for path, _ in home.tree.scan(folder) if own in path}
    for unit, held in each(home, sorted(units)):
        if held.raw == entry.raw and held.meta.key in (None, entry.meta.key):
            path, before = f"{unit}/meta.json", bytes_of(home, f"{unit}/meta.json")
            meta = entry.meta.replace(entry_id=held.id, entry_ts=held.meta.entry_ts).to_dict()
            home.tree.write(path, before or write_object(meta), fingerprint(before) if before else None)
            home.refresh([unit])
            return next((kept for _, kept in each(home, [unit])), None)
    return None


# Which topic

def _topic_name(home: Home, given: str) -> str:
    """A topic's folder name; what could be a path is refused, the name of a topic there is stays as it is."""
    if not isinstance(given, str) or not given.strip():
        raise Invalid("the topic's name is empty", "leave it out to have one found")
    check_whole(given)
    if any(character in given for character in "/\\\0") or given.strip(". ") == "":
        raise Invalid(f"{given[:80]!r} is not a topic name", f"try {slug(given)!r}")
    name = slug(given)
    return given if name != given and home.index.dialogs.is_topic(given) else name


def _find_topic(home: Home, turns: Sequence[Turn], conversation: str | None) -> str:
    """The topic of the same conversation, else the one that knows the dialog's words, else a new one."""
    from otolith.derive.topics import choose_topic, name_topic, topic_words

    index = home.index.dialogs
    if conversation and (topic := index.topic_of(conversation)):
        return topic
    topics_with = {word: home.index.words.topics(word, PASSAGES_ASKED) for word in topic_words(turns)}
    return choose_topic(topics_with) or name_topic(turns)


# Facts

def review(home: Home, fact: str, score: float | None = AS_IS,
           correct: Mapping[str, Any] | None = None) -> Fact:
    """A person's word on a fact: a score from 0 (never show) to 10, None to take it back, or a correction."""
    row = locate(home, fact)
    if row.kind != Fact.kind:
        raise Invalid(f"{row.id} is a {row.kind}, not a fact", "see: otolith facts")
    if score is AS_IS and not correct:
        raise Invalid("nothing to review", "give a score from 0 to 10, or a correction")
    before, topic = fact_record(home, row), str(row.topic)
    now = _corrected(before, correct, home.trust).id_in(topic) if correct else row.id
    person = home.trust == "user"
    line = Curation(
        schema="curation.v1", ts=zulu(home.clock()), at=home.stamp_now(),
        op="correct" if correct else "score", fact_id=row.id,
        to=dict(correct) if correct else None, score=before.user_fact_score if score is AS_IS else score,
        fact=(before.subject, before.relation, before.object), by="user" if person else home.config.agent,
        trust=None if person else home.trust).to_dict()
    path = f"{paths.topic_folder(topic)}/curation.jsonl"
    with home.writing():
        ledger.append_line(home.tree, path, line, synced=True)
        home.refresh([path])
        home.audit("reviewed", before.replace(id=now), fingerprint(repr(line).encode()))
    return fact_record(home, home.index.cards.find(now) or row._replace(id=now))


def reinstate(home: Home, row: Row) -> Fact:
    """Take back that a fact was forgotten: it has the score it had before."""
    if fact_record(home, row).user_fact_score != 0:
        raise Invalid(f"{row.id} is not forgotten")
    data, _ = home.tree.read(f"{paths.topic_folder(str(row.topic))}/curation.jsonl")
    lines = [line for _, _, line in ledger.replay(data)]
    scores = [line.get("score") for line in lines if line and line.get("fact_id") == row.id]
    while scores and scores[-1] == 0:
        scores.pop()
    return review(home, row.id, score=scores[-1] if scores else None)


def _corrected(fact: Fact, changes: Mapping[str, Any], trust: str) -> Fact:
    """The fact as corrected; words are one line each, a date is a day, month or year, or two with a slash."""
    if not isinstance(changes, Mapping):
        raise Invalid("a correction is an object", 'such as {"object": "…"}')
    unknown = [key for key in changes if key not in CORRECTABLE]
    if unknown:
        raise Invalid(f"{unknown[0]!r} cannot be corrected", f"only {', '.join(CORRECTABLE)}")
    check_whole(changes)
    new = correct_fact(fact, changes, trust)
    for key in ("subject", "relation", "object"):
        if key in changes and (not (words := getattr(new, key)).strip() or len(words.splitlines()) > 1):
            raise Invalid(f"{key} must be one line of words; got {words!r:.60}")
    if changes.get("date") is not None and not all(map(_is_date, str(new.date).split("/", 1))):
        raise Invalid(f"{new.date!r:.40} is not a date", "write 2026-02-10, 2026-02 or 2026")
    return new


def _is_date(text: str) -> bool:
    whole = text + "-01-01"[len(text) - 4 :] if len(text) in (4, 7) else text
    try:
        date.fromisoformat(whole)
    except ValueError:
        return False
    return len(whole) == 10


def facts(home: Home, topic: str | None = None, *, type: str | None = None, waiting: bool = False,
          current: bool = False, rejected: bool = False, as_of: Any = None) -> list[Fact]:
    """The facts of a topic, or of all, without rejected ones; `waiting`: those without score, surest last."""
    if type is not None and type not in FACT_TYPES:
        raise Invalid(f"unknown type {type!r}", f"use one of {', '.join(FACT_TYPES)}")
    home.ensure_fresh()
    names = home.index.dialogs.names()
    if topic is not None:
        topic = _topic_of(names, topic)
        names = [topic]
    day = None if as_of is None else home.moment(as_of, "as_of")
    held = [fact for name in names for fact in home.index.facts.of_topic(name, day)]
    if not waiting and day is None:
        held += _unsaved(home, topic)
    shown = [fact for fact in held if type in (None, fact.type) and (rejected or fact.user_fact_score != 0)]
    if current or waiting:
        shown = [fact for fact in shown if not fact.superseded_by]
    return _unscored(shown) if waiting else shown


def _topic_of(names: Sequence[str], given: str) -> str:
    name = given if given in names else slug(given)
    if name not in names:
        raise NotFound(f"no topic {name!r}", "see: otolith topics")
    return name


def _unscored(facts: Sequence[Fact]) -> list[Fact]:
    """Those that wait for a person's word, surest last."""
    return sorted((fact for fact in facts if fact.user_fact_score is None), key=lambda fact: fact.confidence)


def _unsaved(home: Home, topic: str | None) -> list[Fact]:
    """What the rules draw from entries that have no summary yet."""
    return [fact.replace(id=fact.id_in(entry.topic), topic=entry.topic, extra={"unsaved": True})
            for entry in unread(home, topic) for fact in read_by_rules(home, entry).facts]


def topics(home: Home) -> list[dict[str, Any]]:
    """Every topic: how much it holds, when it was last spoken of, and its summary if it has been built."""
    home.ensure_fresh()
    listed = []
    for row in home.index.dialogs.topics():
        try:
            memory = read_topic(home, row.topic)
        except Damaged as error:  # a newer Otolith's: the topic is listed without its summary
            home.notices.append(str(error))
            memory = None
        listed.append({"topic": row.topic, "entries": row.entries, "facts": row.facts,
                       "last_entry_ts": zulu(row.last), "summary": memory.state.summary if memory else None,
                       "built": memory is not None and memory.entry_count == row.entries})
    return listed


def global_memory(home: Home) -> GlobalMemory:
    try:
        page: GlobalMemory = home.read("GLOBAL_MEMORY.json")[0][0]
    except NotFound:
        raise NotFound("there is no global memory yet",
                       "build it with: otolith upkeep, or otolith global --build") from None
    return page
