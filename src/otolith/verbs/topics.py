"""The dialog ladder's climb: entries get their summaries, topics their memory, the home its front page.

A summary is written once, by the rules, and with what a model adds where one is configured. A model that
fails blocks nothing: its entry waits, is tried again on other days, and is read by the rules alone after the
third. Builders read lower files and write only their own; equal bytes are not written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from otolith.derive import asking, facts, topics
from otolith.errors import Conflict, Damaged, Invalid, NotFound, Provider
from otolith.files import codec, ledger, paths
from otolith.files.codec import write_object
from otolith.files.tree import fingerprint
from otolith.home import Home
from otolith.index.marks import BUILT
from otolith.model.dialog import Entry, EntrySummary, Fact, GlobalMemory, Topic, TopicState, marked_time
from otolith.model.events import SOURCES
from otolith.model.record import Version, shared_project
from otolith.model.times import day, zulu
from otolith.providers.chat import Ask, answer_of
from otolith.verbs.models import maker_of, model_of, prompt_of
from otolith.verbs.steps import each

TRIES = "log/tries.jsonl"
TRY_DAYS = 3
Files = dict[str, tuple[Version, bytes]]
T = TypeVar("T")


def _asked(ask: Ask, schema: Mapping[str, Any], question: str, read: Callable[[Any], T]) -> T:
    """A checked answer; one that fails the check is a model that failed. Nobody is asked twice."""
    held: Ask = ask.shaped(schema) if hasattr(ask, "shaped") else ask
    try:
        return read(answer_of(held, question))
    except Invalid as error:
        raise Provider(f"{maker_of(ask)} gave no usable answer: {error.message[:200]}") from None


# Entries

def read_by_rules(home: Home, entry: Entry) -> EntrySummary:
    language = topics.language_of(home.config.language)
    if language is None:
        home.notices.append(f"there are no fact rules for {home.config.language!r}; "
                            "without a model no facts are drawn")
        summary, drawn = topics.summarise(entry.turns, ()), []
    else:
        read = facts.extract
        if entry.meta.source in SOURCES:
            from otolith.derive.sayings import own_facts  # only an agent's session needs it

            read = own_facts
        drawn = read(entry.turns, entry_ts=entry.meta.entry_ts, entry_id=entry.id, language=language)
        summary = topics.summarise(entry.turns, drawn, language)
    return _summary(entry, summary, drawn, topics.RULES)


def _summary(entry: Entry, summary: str, drawn: Sequence[Fact], maker: str) -> EntrySummary:
    """What was drawn, without secrets: a fact that states one is none, also where it was replaced before."""
    from otolith.model.secrets import holds_secret, redact

    placed = tuple(fact.stated_by(entry.meta, entry.meta.trust_of(fact.trust)) for fact in drawn
                   if not holds_secret(fact.sentence, f"{fact.subject} {fact.relation} {fact.object}"))
    return EntrySummary(entry_id=entry.id, entry_ts=entry.meta.entry_ts, summary=redact(summary)[0],
                        facts=placed,
                        made_by=maker)


def enrich(home: Home, entry: Entry, ask: Ask | None, files: Files | None = None) -> Entry:
    """Give an entry its summary, unless the model fails: then the rules' reading is shown, not saved."""
    plain = read_by_rules(home, entry)
    if ask is None:
        return save_summary(home, entry, plain, files)
    from otolith.verbs.distil import distil  # only where there is a model

    try:
        return save_summary(home, entry, distil(home, entry, ask).join(plain, entry), files)
    except Provider as error:
        days = note_try(home, entry.id, error)
        if days >= TRY_DAYS:
            home.notices.append(f"{error}; after {days} days the rules have read {entry.id}")
            return save_summary(home, entry, plain, files)
        home.notices.append(f"{error}; the entry is safe, its facts are the rules' until upkeep has a better "
                            "answer")
    return entry.replace(summary=plain.replace(extra={"unsaved": True}))


def save_summary(home: Home, entry: Entry, summary: EntrySummary, files: Files | None = None) -> Entry:
    """Write summary.json, once and for all; the first one stands. `files` are the entry's others, if new."""
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
        ledger.append_line(home.tree, TRIES, {"t": zulu(home.clock()), "entry": entry,
                                              "reason": error.message})
    return len(days | {today})


def tried_on(home: Home, entry: str) -> set[str]:
    return {str(line.get("t"))[:10] for _, line in ledger.read_log(home.tree, TRIES)
            if line and line.get("entry") == entry}


def unread(home: Home, topic: str | None = None) -> list[Entry]:
    return [entry for _, entry in each(home, home.index.dialogs.unread(topic))]


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
    memory, trouble = _build(home, topic, ask)
    if trouble:
        home.notices.append(f"{trouble}; the state of {topic} waits for a better answer")
    return memory


def _build(home: Home, topic: str, ask: Ask | None) -> tuple[Topic, str]:
    """(the topic memory, what was wrong with the model)."""
    rows = home.index.dialogs.topics(topic)
    if not rows:
        raise NotFound(f"no topic {topic!r}", "see: otolith topics")
    held = [fact for fact in home.index.facts.of_topic(topic, alone=True) if fact.user_fact_score != 0]
    recent = [entry for _, entry in each(home, home.index.dialogs.recent(topic, topics.RECENT))]
    state, inputs, trouble = _state(home, topic, held, recent, ask)
    last, reviewed = zulu(rows[0].last), home.index.facts.last_review(topic)
    memory = topics.assemble(topic, held, state, inputs=inputs, entries=rows[0].entries, last_entry=last,
                             updated=max(last, marked_time(reviewed) if reviewed else ""),
                             outside=bool(rows[0].outside),
                             project=shared_project(home.index.dialogs.projects_of(topic)))
    folder = paths.topic_folder(topic)
    home.build(f"{folder}/topic_memory.json", write_object(memory.to_dict()))
    if home.build(f"{folder}/topic_memory.md", topics.write_topic(memory).encode()):
        home.refresh([f"{folder}/topic_memory.md"])
    return memory, trouble


def _state(home: Home, topic: str, held: Sequence[Fact], recent: Sequence[Entry], ask: Ask | None
           ) -> tuple[TopicState, str, str]:
    """(state, fingerprint of its inputs, trouble): a model's answer if its inputs did not change, else a new
    state.

    A model's older state outlives the model's failure; its fingerprint then says that it is out of date. What
    a person wrote into the file is not kept.
    """
    before, inputs = read_topic(home, topic), topics.inputs_of(held, recent, home.config.language)
    path = f"{paths.topic_folder(topic)}/topic_memory.json"
    if before and (before.state.made_by == topics.RULES
                   or home.edited_by_hand(path, home.tree.read(path)[0])):
        before = None
    if before and before.fingerprint == inputs:
        return before.state, inputs, ""
    trouble = ""
    if ask is not None:
        try:
            prompt = prompt_of("state")
            question = prompt.fill(home, asking.state_text(held, recent), topic=topic)
            return _asked(ask, asking.STATE_SCHEMA, question,
                          lambda answer: asking.read_state(answer, maker_of(ask, prompt))), inputs, ""
        except Provider as error:
            trouble = str(error)
        if before:
            return before.state, before.fingerprint, trouble
    return topics.extract_state(held, recent, home.config.language), inputs, trouble


def read_topic(home: Home, topic: str) -> Topic | None:
    """The topic memory as it was last built; None if there is none that can be read."""
    memory: Topic | None = _built(home, f"{paths.topic_folder(topic)}/topic_memory.json")
    return memory


def _built(home: Home, path: str) -> Any:
    """What was built there, if it can be read; what a newer Otolith built is not built over."""
    try:
        return home.read(path)[0][0]
    except NotFound:
        return None
    except Damaged as error:
        if error.flaw == "newer-schema":
            raise
        return None


def topics_rung(home: Home, providers: Any = None) -> list[str]:
    """Upkeep: build every topic that changed; a model that failed is not asked again this round."""
    ask, done = model_of(home, None, providers), []
    for topic in home.index.dialogs.names():
        if home.index.marks.get("topics", topic) == _seen(home, topic, ask):
            continue
        before = home.stamp(f"topics/{topic}/topic_memory.json")
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
        if home.stamp(f"topics/{topic}/topic_memory.json") != before:
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
    alive, done = set(home.index.dialogs.names()), []
    for path in home.index.dialogs.built_topics():
        topic = path.split("/")[1]
        for built in (path, path.removesuffix(".json") + ".md") if topic not in alive else ():
            data = home.tree.read(built)[0] if home.tree.look(built) else None
            if data is not None and home.index.marks.get(BUILT, built) == fingerprint(data):
                home.tree.remove(built)
                home.refresh([built])
                done.append(f"removed {built}")
    return done


def _seen(home: Home, topic: str, ask: Ask | None) -> str:
    """Changes with what a topic is built from and with what was built."""
    built = [home.stamp(f"topics/{topic}/topic_memory{ending}") for ending in (".json", ".md")]
    return repr((home.index.dialogs.stamp(topic), maker_of(ask), home.config.language, built))


# The front page

def build_global(home: Home) -> GlobalMemory:
    """Build the global memory from the topic memories, and from nothing else."""
    memories = []
    for path in sorted(home.index.dialogs.built_topics()):
        try:
            memories.extend(codec.read_unit(home.tree, path)[0])
        except NotFound:
            continue
        except Damaged as error:
            home.notices.append(f"{path} {error.message}; it is left out of the global memory")
    _built(home, "GLOBAL_MEMORY.json")
    caps, active = topics.read_caps(home.config.caps)
    closed = home.index.claims.closings(str(fact.id) for memory in memories for fact in memory.facts)
    page = topics.build_global(memories, tiers=topics.read_tiers(home.config.tiers), caps=caps, active=active,
                               closed=closed)
    home.build("GLOBAL_MEMORY.json", write_object(page.to_dict()))
    home.build("GLOBAL_MEMORY.md", topics.write_global(page).encode())
    return page


def global_rung(home: Home, _providers: Any = None) -> list[str]:
    """Upkeep: the front page, once there is a topic."""
    before = home.stamp("GLOBAL_MEMORY.json")
    if before or home.index.dialogs.built_topics():
        build_global(home)
    return ["GLOBAL_MEMORY"] if home.stamp("GLOBAL_MEMORY.json") != before else []
