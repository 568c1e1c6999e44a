"""The dialog ladder's climb: entries get their summaries, topics their memory, the home its front page.

A summary is written once, by the model that is configured or by the rules. A model that fails blocks nothing: its entry
waits, is tried again on other days, and is read by the rules after the third. Builders read lower files and write only
their own; equal bytes are not written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from otolith.derive import asking, facts, global_memory, topics
from otolith.errors import Conflict, Damaged, Invalid, NotFound, Provider
from otolith.files import codec, ledger, paths
from otolith.files.jsonform import write_object
from otolith.files.tree import Token, fingerprint
from otolith.home import Home
from otolith.index import facts as table
from otolith.model.dialog import Entry, EntrySummary, Fact, GlobalMemory, Topic, TopicState
from otolith.model.facts_table import marked_time
from otolith.model.text import visible
from otolith.model.times import day, zulu
from otolith.providers.chat import Ask, Chat, answer_of
from otolith.verbs.steps import each

TRIES = "log/tries.jsonl"
TRY_DAYS = 3
Files = dict[str, tuple[Token, bytes]]
T = TypeVar("T")


def model_of(home: Home, ask: Ask | None = None, providers: Any = None) -> Ask | None:
    """Who is asked: the one given, else the one among the providers, else the one configured, else nobody."""
    given = ask or (providers.get("ask") if isinstance(providers, Mapping) else getattr(providers, "ask", None))
    if given is not None or not home.config.chat_model:
        return given
    config = home.config
    return Chat(model=str(config.chat_model), url=config.chat_url, key=config.chat_key, seconds=config.chat_seconds)


def maker_of(ask: Ask | None) -> str:
    """What `made_by` says of a model, or of the rules."""
    return topics.RULES if ask is None else visible(str(getattr(ask, "name", None) or "custom/model"))


def _asked(ask: Ask, schema: Mapping[str, Any], prompt: str, read: Callable[[Any], T]) -> T:
    """A checked answer; one that fails the check is asked for once more."""
    held: Ask = ask.shaped(schema) if hasattr(ask, "shaped") else ask
    answer = answer_of(held, prompt)
    try:
        return read(answer)
    except Invalid as error:
        again = answer_of(held, asking.repair_prompt(prompt, answer, error.message))
    try:
        return read(again)
    except Invalid as error:
        raise Provider(f"{maker_of(ask)} answered twice what could not be used: {error.message[:200]}") from None


# Entries

def read_by_rules(home: Home, entry: Entry) -> EntrySummary:
    """What the rules draw from a dialog."""
    language = topics.language_of(home.config.language)
    if language is None:
        home.notices.append(f"there are no fact rules for {home.config.language!r}; without a model no facts are drawn")
    found = facts.extract(entry.turns, entry_ts=entry.meta.entry_ts, entry_id=entry.id, language=language) if language else []
    summary = topics.summarise(entry.turns, found, language) if language else topics.summarise(entry.turns, found)
    return _summary(entry, summary, found, topics.RULES)


def read_by_model(entry: Entry, ask: Ask) -> EntrySummary:
    """What a model draws from a dialog; Provider if it does not do its part."""
    pieces = asking.windows(entry.turns)
    if len(pieces) > asking.MOST_WINDOWS:
        raise Provider(f"the dialog is too long for {maker_of(ask)}", "the rules read it")
    ts = entry.meta.entry_ts
    answers = [_asked(ask, asking.ENTRY_SCHEMA, asking.entry_prompt(piece, ts),
                      lambda answer, piece=piece: asking.read_entry(answer, piece, ts)) for piece in pieces]  # type: ignore[misc]
    summary = " ".join(summary for summary, _ in answers if summary)
    return _summary(entry, summary, [fact for _, found in answers for fact in found], maker_of(ask))


def _summary(entry: Entry, summary: str, found: Sequence[Fact], maker: str) -> EntrySummary:
    placed = tuple(fact.stated_by(entry.meta, entry.meta.trust_of(fact.trust)) for fact in found)
    return EntrySummary(entry_id=entry.id, entry_ts=entry.meta.entry_ts, summary=summary, facts=placed, made_by=maker)


def enrich(home: Home, entry: Entry, ask: Ask | None, files: Files | None = None) -> Entry:
    """Give an entry its summary, unless the model fails: then the rules' reading is shown, not saved, and the try is noted."""
    if ask is None:
        return save_summary(home, entry, read_by_rules(home, entry), files)
    try:
        return save_summary(home, entry, read_by_model(entry, ask), files)
    except Provider as error:
        days = note_try(home, entry.id, error)
        if days >= TRY_DAYS:
            home.notices.append(f"{error}; after {days} days the rules have read {entry.id}")
            return save_summary(home, entry, read_by_rules(home, entry), files)
        home.notices.append(f"{error}; the entry is safe, its facts are the rules' until upkeep has a better answer")
    return entry.replace(summary=read_by_rules(home, entry).replace(extra={"unsaved": True}))


def save_summary(home: Home, entry: Entry, summary: EntrySummary, files: Files | None = None) -> Entry:
    """Write summary.json, once and for all; whoever was first is right. `files` are the entry's others, if just written."""
    folder = paths.entry_folder(entry.topic, entry.id)
    data = write_object(summary.to_dict())
    try:
        token = home.tree.write(f"{folder}/summary.json", data)
    except Conflict:
        home.refresh([folder])
        same: Entry = codec.read_unit(home.tree, folder)[0][0]
        return same
    whole = entry.replace(summary=summary)
    if files is None:
        home.refresh([folder])
    else:
        home.take_in(folder, [whole], {**files, f"{folder}/summary.json": (token, data)})
    return whole


def note_try(home: Home, entry: str, error: Provider) -> int:
    """Remember that a model failed today; returns on how many days it has."""
    today = day(home.clock())
    days = tried_on(home, entry)
    if today not in days:
        ledger.append_line(home.tree, TRIES, {"t": zulu(home.clock()), "entry": entry, "reason": error.message})
    return len(days | {today})


def tried_on(home: Home, entry: str) -> set[str]:
    """The days on which a model failed to read an entry."""
    return {str(line.get("t"))[:10] for _, line in ledger.read_log(home.tree, TRIES) if line and line.get("entry") == entry}


def unread(home: Home, topic: str | None = None) -> list[Entry]:
    """Entries without a summary: what is still to be read, oldest first."""
    query = ("SELECT r.unit FROM records r WHERE r.kind = 'entry' AND (:topic IS NULL OR r.topic = :topic) AND NOT EXISTS "
             "(SELECT 1 FROM documents d WHERE d.path = r.unit || '/summary.json') ORDER BY r.created, r.id")
    return [entry for _, entry in each(home, [unit for unit, in home.db.execute(query, {"topic": topic})])]


def entries_rung(home: Home, providers: Any = None) -> list[str]:
    """Upkeep: read what is still to be read; a model that failed today is not asked again today."""
    ask, done, today = model_of(home, None, providers), [], day(home.clock())
    for entry in unread(home):
        if ask is not None and today in tried_on(home, entry.id):
            continue
        read = enrich(home, entry, ask)
        if read.summary and not read.summary.extra:
            home.audit("enriched", read, fingerprint(write_object(read.summary.to_dict())))
            done.append(f"{read.id}: {len(read.facts)} facts by {read.summary.made_by}")
    return done


# Topics

def build_topic(home: Home, topic: str, ask: Ask | None = None) -> Topic:
    """Build a topic's memory from its entries and reviews; writes only what changed."""
    home.sweep()
    made, trouble = _build(home, topic, ask)
    if trouble:
        home.notices.append(f"{trouble}; the state of {topic} waits for a better answer")
    return made


def _build(home: Home, topic: str, ask: Ask | None) -> tuple[Topic, str]:
    """(the topic memory, what was wrong with the model)."""
    count, last, outside = home.db.execute("SELECT count(*), max(created), max(trust = 'outside') FROM records "
                                           "WHERE kind = 'entry' AND topic = ?", (topic,)).fetchone()
    if not count:
        raise NotFound(f"no topic {topic!r}", "see: otolith topics")
    found = [fact for fact in table.facts_of(home.db, topic) if fact.user_fact_score != 0]
    recent = _recent(home, topic)
    state, inputs, trouble = _state(home, topic, found, recent, ask)
    reviewed = table.last_review(home.db, topic)
    made = topics.assemble(topic, found, state, inputs=inputs, entries=count, last_entry=zulu(last),
                           updated=max(zulu(last), marked_time(reviewed) if reviewed else ""), outside=bool(outside))
    folder = paths.topic_folder(topic)
    home.build(f"{folder}/topic_memory.json", write_object(made.to_dict()))
    if home.build(f"{folder}/topic_memory.md", topics.write_topic(made).encode()):
        home.refresh([f"{folder}/topic_memory.md"])
    return made, trouble


def _state(home: Home, topic: str, found: Sequence[Fact], recent: Sequence[Entry], ask: Ask | None
           ) -> tuple[TopicState, str, str]:
    """(state, fingerprint of its inputs, trouble): what a model said if nothing that was made from changed, else a new one.

    A model's older state outlives the model's failure; its fingerprint then says that it is out of date. What a person
    wrote into the file is not kept.
    """
    before, inputs = read_topic(home, topic), topics.inputs_of(found, recent, home.config.language)
    path = f"{paths.topic_folder(topic)}/topic_memory.json"
    if before and (before.state.made_by == topics.RULES or home.edited_by_hand(path, home.tree.read(path)[0])):
        before = None
    if before and before.fingerprint == inputs:
        return before.state, inputs, ""
    trouble = ""
    if ask is not None:
        try:
            return _asked(ask, asking.STATE_SCHEMA, asking.state_prompt(topic, found, recent),
                          lambda answer: asking.read_state(answer, maker_of(ask))), inputs, ""
        except Provider as error:
            trouble = str(error)
        if before:
            return before.state, before.fingerprint, trouble
    return topics.extract_state(found, recent, home.config.language), inputs, trouble


def _recent(home: Home, topic: str) -> list[Entry]:
    """The topic's latest entries, newest first."""
    rows = home.db.execute("SELECT unit FROM records WHERE kind = 'entry' AND topic = ? ORDER BY created DESC, id DESC LIMIT ?",
                           (topic, topics.RECENT)).fetchall()
    return [entry for _, entry in each(home, [unit for unit, in rows])]


def read_topic(home: Home, topic: str) -> Topic | None:
    """The topic memory as it was last built; None if there is none that can be read."""
    found: Topic | None = _built(home, f"{paths.topic_folder(topic)}/topic_memory.json")
    return found


def _built(home: Home, path: str) -> Any:
    """What was built there; None if there is nothing that can be read. What a newer Otolith built is not built over."""
    try:
        return home.read(path)[0][0]
    except NotFound:
        return None
    except Damaged as error:
        if error.flaw == "newer-schema":
            raise
        return None


def names(home: Home) -> list[str]:
    """Every topic that has an entry."""
    return [name for name, in home.db.execute("SELECT DISTINCT topic FROM records WHERE kind = 'entry' ORDER BY topic")]


def topics_rung(home: Home, providers: Any = None) -> list[str]:
    """Upkeep: build every topic whose entries or reviews changed; a model that failed once is not asked again this round."""
    ask, done = model_of(home, None, providers), []
    for topic in names(home):
        if home.index.marks.get("topics", topic) == _seen(home, topic, ask):
            continue
        before = home.tree.look(f"topics/{topic}/topic_memory.json")
        try:
            _, trouble = _build(home, topic, ask)
        except (Damaged, Invalid) as error:
            home.notices.append(f"topic {topic}: {error}")
            continue
        if trouble and not isinstance(ask, _Silent):
            home.notices.append(f"{trouble}; topics wait for a better answer")
            ask = _Silent(maker_of(ask))
        elif not isinstance(ask, _Silent):
            home.index.marks.set("topics", topic, _seen(home, topic, ask))
        if home.tree.look(f"topics/{topic}/topic_memory.json") != before:
            done.append(f"topic {topic}")
    return done + clear_topics(home)


class _Silent:
    """Stands for a model that has just failed."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, _question: str) -> Any:
        raise Provider(f"{self.name} failed a moment ago")


def clear_topics(home: Home) -> list[str]:
    """Remove the memory of a topic whose last entry is gone, if it was built here."""
    alive, done = set(names(home)), []
    for path in _built_topics(home):
        topic = path.split("/")[1]
        for built in (path, path.removesuffix(".json") + ".md") if topic not in alive else ():
            data = home.tree.read(built)[0] if home.tree.look(built) else None
            if data is not None and home.index.marks.get("built", built) == fingerprint(data):
                home.tree.remove(built)
                home.refresh([built])
                done.append(f"removed {built}")
    return done


def _seen(home: Home, topic: str, ask: Ask | None) -> str:
    """What a topic is built from and what was built, told cheaply: row numbers are never used twice."""
    rows = home.db.execute("SELECT count(*), max(n), sum(n) FROM records WHERE topic = ? AND kind IN ('entry', 'fact')",
                           (topic,)).fetchone()
    said = home.db.execute("SELECT count(*), max(mark) FROM said WHERE topic = ?", (topic,)).fetchone()
    built = [home.tree.look(f"topics/{topic}/topic_memory{ending}") for ending in (".json", ".md")]
    return repr((rows, said, table.last_review(home.db, topic), maker_of(ask), home.config.language, built))


# The front page

def build_global(home: Home) -> GlobalMemory:
    """Build the global memory from the topic memories, and from nothing else."""
    found = []
    for path in sorted(_built_topics(home)):
        try:
            found.extend(codec.read_unit(home.tree, path)[0])
        except NotFound:
            continue
        except Damaged as error:
            home.notices.append(f"{path} {error.message}; it is left out of the global memory")
    _built(home, "GLOBAL_MEMORY.json")
    caps, active = global_memory.read_caps(home.config.caps)
    made = global_memory.build_global(found, tiers=global_memory.read_tiers(home.config.tiers), caps=caps, active=active)
    home.build("GLOBAL_MEMORY.json", write_object(made.to_dict()))
    home.build("GLOBAL_MEMORY.md", global_memory.write_global(made).encode())
    return made


def _built_topics(home: Home) -> list[str]:
    """Every topic memory, also one that cannot be read; told without a look at the entries."""
    return [path for path, in home.db.execute("SELECT unit FROM records WHERE kind = 'topic' UNION "
                                              "SELECT path FROM problems WHERE path LIKE 'topics/%/topic_memory.json'")]


def global_rung(home: Home, _providers: Any = None) -> list[str]:
    """Upkeep: the front page, once there is a topic."""
    before = home.tree.look("GLOBAL_MEMORY.json")
    if before or _built_topics(home):
        build_global(home)
    return ["GLOBAL_MEMORY"] if home.tree.look("GLOBAL_MEMORY.json") != before else []
