"""A session's entry while it runs: it is born once, grows by whole turns, and gets its summary at the end.

What is new is appended to raw.md and synced, then one line with the turns' keys and facts to the part file;
so a turn is acknowledged when both are safe, and a writer that was killed in between finds at the next try
what it had written. The index is told only what came; if it does not know the files as they are, they are
read as a whole.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from otolith.derive.topics import language_of, summarise
from otolith.errors import Busy, CannotWrite, Damaged, Invalid, NotFound, Provider
from otolith.files import ledger, paths
from otolith.files.codec import read_object, write_object
from otolith.files.tree import fingerprint
from otolith.home import Home
from otolith.index.write import Unit
from otolith.model.dialog import Entry, EntryMeta, EntrySummary, mentions_of
from otolith.model.echoes import Echoes, comes_back
from otolith.model.events import ROLES, Event, Session
from otolith.model.ids import entry_id, slug
from otolith.model.record import log
from otolith.model.secrets import redact
from otolith.model.times import day, parse_time, time_or_none, zulu
from otolith.model.turns import read_turns, write_turns
from otolith.sync import extend
from otolith.verbs.steps import bytes_of, diary_of, each
from otolith.verbs.topics import TRY_DAYS, note_try, read_by_rules, save_summary, tried_on

if TYPE_CHECKING:
    from otolith.providers.chat import Ask
    from otolith.verbs.distil import Distilled

MOST_BYTES = 32 << 20  # of one entry's raw.md
QUIET = 6 * 3600  # seconds without a turn, after which upkeep ends a session


def key_of_turn(session: Session, event: Event) -> str:
    """By which a turn is known again: its program's own id, also in a session forked from this one; of a
    program without ids its place in the session.
    """
    place = f"{session.session} " if event.key.startswith("at-") else ""
    return sha256(f"{session.source} {place}{event.key}".encode()).hexdigest()[:16]


def grow(home: Home, session: Session, events: Sequence[Event], past: Echoes, *,
         mend: bool = False) -> str | None:
    """Add what was said to the session's entry, or begin one; returns its id. The caller holds the lock;
    `mend`: something was written there that the index did not know. Of what was told before nothing is drawn.
    """
    if not events:
        return None
    messages = [{"role": ROLES[event.kind], "content": event.text, "ts": _time(event.ts)} for event in events]
    text = "".join(write_turns([message])[0] + "\n" for message in messages)  # a blank line ends each
    keys = [key_of_turn(session, event) for event in events]
    unit = open_entry(home, session.session)
    if unit and _size(home, f"{unit}/raw.md") + len(text) > MOST_BYTES:
        close(home, unit)
        unit = None
    if unit is None:
        return _begin(home, session, text, keys, past, messages[0]["ts"])
    if mend:
        _mend(home, unit, text.encode())
    return _append(home, unit, text, keys, past)


def open_entry(home: Home, session: str) -> str | None:
    """The entry of a session that runs."""
    units = home.index.dialogs.running(session) if session else []
    return units[-1] if units else None


def _size(home: Home, path: str) -> int:
    measure = home.tree.measure(path)
    return measure.size if measure else 0


def _time(ts: str | None) -> str | None:
    """A time as raw.md writes it, none if it is no time: a wrong one must not cost the turn."""
    when = time_or_none(ts) if ts else None
    return None if when is None else zulu(when)


def _begin(home: Home, session: Session, raw: str, keys: Sequence[str], past: Echoes,
           ts: str | None) -> str:
    """A new entry: what is known of it, then its turns, then what was drawn from them."""
    when = parse_time(ts) if ts else home.clock()
    before = home.index.dialogs.logged_in(session.session)
    meta = EntryMeta(entry_id=entry_id(when, home.new_id()), entry_ts=zulu(when),
                     topic=slug(home.config.project), source=session.source, conversation_id=session.session,
                     continues=before[-1].rpartition("/")[2] if before else None,
                     origin=home.origin(session=session.session))
    entry = Entry(meta=meta, raw=raw, turns=read_turns(raw))
    entry = entry.replace(summary=_draw(home, entry, keys, past))
    folder, data = paths.entry_folder(meta.topic, entry.id), raw.encode()
    contents = {f"{folder}/meta.json": write_object(meta.to_dict()), f"{folder}/raw.md": data,
                f"{folder}/{paths.PART}": _line(home, entry, len(data))}
    with home.tree.together():
        files = {path: (home.tree.write(path, data), data) for path, data in contents.items()}
    home.take_in(folder, [entry], files)
    home.audit("logged", entry, fingerprint(data), meta.origin)
    diary_of(home, entry, f"{folder}/raw.md", f"A session with {session.source}")
    return entry.id


def _append(home: Home, unit: str, text: str, keys: Sequence[str], past: Echoes) -> str:
    """Turns at the end of an entry, and a line of what they state."""
    path, part, tail = f"{unit}/raw.md", f"{unit}/{paths.PART}", home.index.dialogs.tail(unit)
    meta = _meta(home, unit)
    turns = [turn._replace(number=turn.number + tail.turns, start=turn.start + tail.stop,
                           stop=turn.stop + tail.stop) for turn in read_turns(text, meta.roles)]
    entry = Entry(meta=meta, raw="", turns=turns)
    entry = entry.replace(summary=_draw(home, entry, keys, past))
    home.tree.append(path, text.encode(), synced=True)
    home.tree.append(part, _line(home, entry, _size(home, path)), synced=True)
    _tell_index(home, unit, entry, tail.facts)
    home.audit("logged", entry, fingerprint(text.encode()), meta.origin)
    return entry.id


def _meta(home: Home, unit: str) -> EntryMeta:
    try:
        return EntryMeta.from_dict(read_object(home.tree.read(f"{unit}/meta.json")[0]))
    except (Damaged, Invalid, NotFound):  # a hand-edited one: what can be taken of it
        entry: Entry = home.read(unit)[0][0]
        return entry.meta


def _draw(home: Home, entry: Entry, keys: Sequence[str], past: Echoes) -> EntrySummary:
    if past:
        entry = entry.replace(turns=[turn._replace(text="\n".join(
            line for line in turn.text.splitlines() if not comes_back(line, past))) for turn in entry.turns])
    return read_by_rules(home, entry).replace(summary="", turn_keys=tuple(keys))


def _line(home: Home, entry: Entry, upto: int) -> bytes:
    """A line of the part file: up to which byte of raw.md it tells, and what of it."""
    drawn = entry.summary.to_dict() if entry.summary else {}
    return ledger.as_line({"at": home.stamp_now(), "upto": upto,
                           **{key: drawn[key] for key in ("turn_keys", "made_by", "facts") if key in drawn}})


def _mend(home: Home, unit: str, text: bytes) -> None:
    """Cut off what a killed writer appended and nobody acknowledged, if it is what comes now; what a person
    wrote there stays.
    """
    path = f"{unit}/raw.md"
    raw, lines = bytes_of(home, path) or b"", ledger.read_log(home.tree, f"{unit}/{paths.PART}")
    kept = max((line["upto"] for _, line in lines if line and isinstance(line.get("upto"), int)), default=0)
    left = raw[kept:]
    if left and text.startswith(left.removesuffix(b"\n")):
        home.tree.write(path, raw[:kept], fingerprint(raw))
        home.refresh([unit])


def _tell_index(home: Home, unit: str, entry: Entry, facts: int) -> None:
    """The index takes what came; if it cannot, the next look at the files finds that they differ."""
    now, files = time.time_ns(), {}
    for name in ("raw.md", paths.PART):
        version = home.tree.look(f"{unit}/{name}")
        if version is not None:  # written under the lock, and only ever longer: no second look is needed
            files[f"{unit}/{name}"] = (version.stamp, version.same, True, "", now)
    grown = Unit(name=unit, files=files, mentions=mentions_of(entry, facts))
    try:
        home.index.take_in(lambda: extend(home.index, grown, entry.stretches, entry.names))
    except (Busy, CannotWrite) as error:
        log.warning("index: %s", error)


# The end


def close(home: Home, unit: str, added: Distilled | None = None) -> Entry | None:
    """Write the summary of a session's entry, once, with what a model added; the part file goes."""
    with home.writing():
        home.touch([unit])
        entry: Entry | None = next((entry for _, entry in each(home, [unit])), None)
        part = f"{unit}/{paths.PART}"
        if entry is None or home.tree.look(part) is None:
            return entry
        drawn = entry.summary or EntrySummary(entry_id=entry.id)
        language = language_of(home.config.language)
        text = (summarise(entry.turns, drawn.facts, language) if language
                else summarise(entry.turns, drawn.facts))
        summary = drawn.replace(entry_id=entry.id, entry_ts=entry.meta.entry_ts, summary=redact(text)[0])
        entry = save_summary(home, entry, summary if added is None else added.join(summary, entry))
        home.tree.remove(part)
        home.refresh([unit])
        home.audit("enriched", entry, fingerprint(write_object(summary.to_dict())))
    return entry


def finish(home: Home, unit: str, ask: Ask | None) -> Entry | None:
    """End a session's entry, by a model if there is one: it is asked while nothing is locked, at most once a
    day, and after three days without an answer the rules' reading stands. None: the entry waits.
    """
    entry: Entry | None = next((entry for _, entry in each(home, [unit])), None)
    if ask is None or entry is None:
        return close(home, unit)
    before = tried_on(home, entry.id)
    if day(home.clock()) in before:
        return close(home, unit) if len(before) >= TRY_DAYS else None

    from otolith.verbs.distil import distil  # a hook never comes here

    try:
        added = distil(home, entry, ask)
    except Provider as error:
        if note_try(home, entry.id, error) >= TRY_DAYS:
            return close(home, unit)
        home.notices.append(f"{error}; {entry.id} waits, the rules' facts of it are told")
        return None
    if added.refused:
        home.notices.append(f"{entry.id}: {added.told}")
    return close(home, unit, added)


def close_session(home: Home, session: str) -> None:
    """The session is over; what comes later opens another entry that continues this one."""
    if unit := open_entry(home, session):
        close(home, unit)


def distil_session(home: Home, session: str) -> str:
    """In the background after a session's end: its entry gets its summary, with the model's help."""
    from otolith.verbs.models import model_of

    unit = open_entry(home, session)
    if unit is None:
        return "nothing to do"
    entry = finish(home, unit, model_of(home))
    return f"{entry.id}: {len(entry.facts)} facts" if entry else "it waits for a better answer"


def sessions_rung(home: Home, providers: Any = None) -> list[str]:
    """Upkeep: end the sessions in which nothing was said for six hours."""
    from otolith.verbs.models import model_of


    ask, done = model_of(home, None, providers), []
    for unit in home.index.dialogs.running():
        lines = [line for _, line in ledger.read_log(home.tree, f"{unit}/{paths.PART}") if line]
        last = max((when for line in lines if (when := time_or_none(line.get("at")))), default=0.0)
        if home.clock() - last > QUIET and (entry := finish(home, unit, ask)):
            done.append(f"{entry.id}: {len(entry.facts)} facts")
    return done
