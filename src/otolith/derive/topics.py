"""What topics come to: their names, their state drawn from dialogs, their pages, and the front page of them
all.

Without a model the state is picked out, never made up: facts that stand, limits that were named, questions
left without an answer, things somebody is to do. The global memory is built from topic memories alone, so its
cost follows the number of topics and their facts, never that of entries; caps keep its size. The small words
a state is drawn by are a table a language, which fact belongs into which tier is one table, too. Pure: same
input, same output.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from otolith.derive.english import ENGLISH, Language
from otolith.derive.sentences import prose, sentences
from otolith.errors import Invalid
from otolith.model.dialog import (
    GLOBAL_SCHEMA,
    TOPIC_SCHEMA,
    Entry,
    Fact,
    GlobalMemory,
    Topic,
    TopicState,
    Turn,
)
from otolith.model.ids import normal, slug
from otolith.model.kinds import FACT_TYPES
from otolith.model.record import TRUSTED
from otolith.model.text import counted, first_sentence, shorten
from otolith.model.words import key_words

RULES = "rules-1"
RECENT = 12  # entries whose words the state is drawn from
SUMMARY_LENGTH, LINE_LENGTH = 600, 240  # characters
MOST_BOUNDS, MOST_QUESTIONS, MOST_ACTIONS = 8, 8, 10
NAME_WORDS, FIND_WORDS = 3, 24
SAME_TOPIC, SHARED_WORDS = 0.35, 3  # the share of a dialog's words that a topic must know, and how many
ACTIVE_TOPICS, SNAPSHOT_LINES = 20, 5
LISTS = ("bounds", "open_questions", "next_actions")  # of a state
_NOT_KEPT = "Built by Otolith; changes made here are not kept."


class Cues(NamedTuple):
    """Words by which a sentence shows what it is; patterns over the sentence in lower case."""

    bounds: str
    questions: str
    actions: str
    unanswered: str  # an answer that is none


LANGUAGES: Mapping[str, tuple[Language, Cues]] = {
    "english": (ENGLISH, Cues(
        bounds=r"\b(?:assuming|as long as|only if|unless|provided that|at most|no more than|must not"
               r"|only works (?:if|when|on)|does not apply|out of scope|within (?:the )?budget)\b",
        questions=r"\b(?:open question|not (?:yet )?(?:sure|clear|decided)|unclear|undecided"
                  r"|to be (?:decided|determined)|still (?:have|need)s? to (?:decide|find out|figure out)|tbd"
                  r"|don't know (?:yet|whether|if|how|what|when))\b",
        actions=r"^(?:todo|to do|action|action item|next(?: step| action)?|follow-up)s?\b\s*:?"
                r"|\b(?:next step is|let's|we should|remind me to|needs to be done)\b",
        unanswered=r"\b(?:not sure|no idea|don't know|do not know|hard to say|unclear|let me check"
                   r"|will find out)\b")),
}


def language_of(name: str) -> Language | None:
    """The fact rules' table of a language; None if there is none."""
    return LANGUAGES[name][0] if name in LANGUAGES else None


# Naming and finding


def topic_words(turns: Sequence[Turn]) -> list[str]:
    """The words a dialog is about, most frequent first."""
    heard = [turn for turn in turns if turn.role not in ("system", "tool")]
    speakers = {word for turn in heard for word in key_words(turn.speaker)}
    counts = Counter(word for turn in heard for word in key_words(turn.text[:20_000])
                     if len(word) > 1 and not word.isdigit() and word not in speakers)
    return [word for word, _ in counts.most_common(FIND_WORDS)]


def name_topic(turns: Sequence[Turn]) -> str:
    """A new topic's name: the dialog's leading words in the order they come up."""
    text = " ".join(turn.text for turn in turns)
    name = slug(" ".join(sorted(topic_words(turns)[:NAME_WORDS], key=text.casefold().find)))
    return name if name != "untitled" else slug(first_sentence(text, 40))


def choose_topic(topics_with: Mapping[str, Iterable[str]]) -> str | None:
    """The topic a dialog belongs to, given which topics know each of its words; common words say little."""
    weights = {word: 1 / len(set(topics)) for word, topics in topics_with.items() if topics}
    total = sum(weights.values()) + len(topics_with) - len(weights)
    shared: dict[str, list[float]] = {}
    for word, topics in topics_with.items():
        for topic in set(topics):
            shared.setdefault(topic, []).append(weights[word])
    best = min(shared, key=lambda topic: (-sum(shared[topic]), topic), default=None)
    enough = min(SHARED_WORDS, len(topics_with))
    if best is None or len(shared[best]) < enough or sum(shared[best]) < SAME_TOPIC * total:
        return None
    return best


# An entry's summary and a topic's state


def summarise(turns: Sequence[Turn], facts: Sequence[Fact], language: Language = ENGLISH) -> str:
    """A few of the dialog's own sentences: how it opens, and what its surest facts stand on."""
    surest = sorted(facts, key=lambda fact: (-fact.confidence, fact.turn or 0))[:3]
    chosen = [fact.sentence or fact.title for fact in sorted(surest, key=lambda fact: fact.turn or 0)]
    people = (turn for turn in turns if turn.role in ("user", "other"))
    opening = next((sentence for sentence, _ in _spoken(people, language) if len(sentence.split()) > 3), "")
    return _joined([opening, *chosen] if opening else chosen)


def _spoken(turns: Iterable[Turn], language: Language) -> Iterator[tuple[str, bool]]:
    """(sentence, whether it asks) of what people say in these turns."""
    for turn in turns:
        for line in prose(turn.text[:20_000], language):
            yield from sentences(line)


def _joined(parts: Iterable[str], limit: int = SUMMARY_LENGTH) -> str:
    """Sentences as one paragraph, as many as fit whole."""
    text = ""
    for part in dict.fromkeys(" ".join(part.split()) for part in parts):
        part = part if part[-1:] in ".!?…。！？" else f"{part}."
        if text and len(text) + len(part) >= limit:
            break
        text = f"{text} {part}" if text else part
    return text if len(text) <= limit else first_sentence(text, limit)


def extract_state(facts: Sequence[Fact], recent: Sequence[Entry], language: str = "english") -> TopicState:
    """The state of a topic from its standing facts and its latest entries, newest first."""
    standing = [fact for fact in facts if not fact.superseded_by]
    table, cues = LANGUAGES.get(language, LANGUAGES["english"])
    stated = {fact.sentence for fact in standing if fact.type in ("constraint", "commitment")}
    limits = (begin(fact.title) for fact in reversed(standing) if fact.type == "constraint")
    return TopicState(
        summary=_topic_summary(standing, recent), made_by=RULES,
        bounds=_lines([*limits, *_cued(recent, cues.bounds, table, stated)], MOST_BOUNDS),
        open_questions=_lines(_questions(recent, cues, table), MOST_QUESTIONS),
        next_actions=_lines([*_promises(standing, recent), *_cued(recent, cues.actions, table, stated)],
                            MOST_ACTIONS))


def begin(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _topic_summary(facts: Sequence[Fact], recent: Sequence[Entry]) -> str:
    leading = sorted((fact for fact in facts if fact.type not in ("event", "commitment")),
                     key=lambda fact: (-(fact.user_fact_score or 0), -(fact.evidence_count or 1),
                                       -fact.confidence, FACT_TYPES.index(fact.type), str(fact.id)))[:5]
    latest = [f"Latest, {entry.meta.entry_ts[:10]}: {entry.summary.summary}" for entry in recent[:1]
              if entry.summary and entry.summary.summary]
    return _joined([*(begin(fact.title) for fact in leading), *latest])


def _promises(facts: Sequence[Fact], recent: Sequence[Entry]) -> list[str]:
    """What somebody is to do, newest first; a day that had passed by the last entry is over."""
    today = recent[0].meta.entry_ts[:10] if recent else ""
    return [f"{begin(fact.title)}{_dated(fact.date)}" for fact in reversed(facts) if fact.type == "commitment"
            and not (fact.date and len(fact.date) >= 10 and fact.date[-10:] < today)]


def _cued(recent: Sequence[Entry], pattern: str, language: Language,
          stated: Container[str | None]) -> Iterator[str]:
    """Sentences with such words in them, but for those that a fact already states."""
    for entry in recent:
        for sentence, asks in _spoken(entry.turns, language):
            if not asks and sentence not in stated and re.search(pattern, sentence.casefold()):
                yield sentence


def _questions(recent: Sequence[Entry], cues: Cues, language: Language) -> Iterator[str]:
    """Questions that nobody answered, or that the answer left open; and what was called open."""
    for entry in recent:
        turns = [turn for turn in entry.turns if turn.role not in ("system", "tool")]
        for turn, reply in zip(turns, [*(turn.text.casefold() for turn in turns[1:]), None], strict=False):
            for sentence, asks in _spoken([turn], language):
                if len(sentence.split()) <= 3:
                    continue
                if asks and (reply is None or re.search(cues.unanswered, reply)):
                    yield f"{sentence}?"
                elif not asks and re.search(cues.questions, sentence.casefold()):
                    yield sentence


def _lines(candidates: Iterable[str], most: int) -> tuple[str, ...]:
    lines: dict[str, str] = {}
    for candidate in candidates:
        text = " ".join(candidate.split())
        if text and len(lines) < most:
            lines.setdefault(text.casefold(), shorten(text, LINE_LENGTH))
    return tuple(lines.values())


# The topic memory


def inputs_of(facts: Sequence[Fact], recent: Sequence[Entry], language: str) -> str:
    parts = [language, *(repr(fact) for fact in facts),
             *(f"{entry.id} {entry.summary.summary if entry.summary else ''} "
               f"{sha256(entry.raw.encode()).hexdigest()}"
               for entry in recent)]
    return sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:32]


def assemble(topic: str, facts: Sequence[Fact], state: TopicState, *, inputs: str, entries: int,
             last_entry: str, updated: str, outside: bool = False, project: str | None = None) -> Topic:
    """The topic memory: all facts but those a person rejected. `updated` is the time of what it stands on."""
    shown = tuple(fact for fact in facts if fact.user_fact_score != 0)
    return Topic(schema=TOPIC_SCHEMA, topic=topic, updated=updated, fingerprint=inputs, entry_count=entries,
                 last_entry_ts=last_entry, state=state, facts=shown, project=project,
                 trust="outside" if outside else None)


def write_topic(topic: Topic) -> str:
    """topic_memory.md, for people."""
    held = f"{counted(topic.entry_count, 'entry', 'entries')}, last {topic.last_entry_ts[:10] or 'never'}"
    lines = [f"# {topic.topic}", "", f"*{held}. {_NOT_KEPT}*", ""]
    if topic.state.summary:
        lines += [topic.state.summary, ""]
    for name in LISTS:
        heading = begin(name.replace("_", " "))
        lines += _section(f"## {heading}", [f"- {item}" for item in getattr(topic.state, name)])
    standing = [fact for fact in topic.facts if not fact.superseded_by]
    lines += ["## Facts", ""] if standing else []
    for kind in FACT_TYPES:
        lines += _section(f"### {kind.capitalize()}", [_topic_line(fact) for fact in standing
                                                       if fact.type == kind])
    lines += _section("## No longer so",
                      [f"- {begin(fact.title)}, until {(fact.valid_until or '')[:10]} `{fact.id}`"
                                          for fact in topic.facts if fact.superseded_by])
    return "\n".join(lines)


def _section(heading: str, lines: Sequence[str]) -> list[str]:
    """Lines under a heading; nothing if there are none."""
    return [heading, "", *lines, ""] if lines else []


def _topic_line(fact: Fact) -> str:
    times = f", said {fact.evidence_count} times" if (fact.evidence_count or 1) > 1 else ""
    return (f"- {begin(fact.title)}{_dated(fact.date)} — {fact.entry_ts[:10]}, confidence {fact.confidence:g}"
            f"{_scored(fact.user_fact_score)}{times} `{fact.id}`")


def _dated(date: str | None) -> str:
    return f" ({date})" if date else ""


def _scored(score: float | None) -> str:
    return "" if score is None else f", score {score:g}"


# The global memory


class Tier(NamedTuple):
    """Which facts belong: a person's score decides; without one, the type and the confidence do."""

    name: str
    score: float
    confidence: float
    types: tuple[str, ...] = FACT_TYPES
    trusted: bool = False  # nothing from outside comes in without a person's word

    def holds(self, fact: Fact) -> bool:
        if fact.user_fact_score is not None:
            return 0 < fact.user_fact_score >= self.score
        return (fact.confidence >= self.confidence and fact.type in self.types
                and not (self.trusted and (fact.trust or "user") not in TRUSTED))


class Caps(NamedTuple):
    """How many facts a tier holds: in all, of each type, and of types that have a number of their own."""

    total: int = 40
    each: int = 10
    types: Mapping[str, int] = {}


TIERS = (Tier("core", 8, 0.8, ("identity", "commitment", "constraint"), trusted=True),
         Tier("secondary", 5, 0.6))
CAPS = {tier.name: Caps() for tier in TIERS}


def build_global(topics: Iterable[Topic], *, tiers: Sequence[Tier] = TIERS, caps: Mapping[str, Caps] = CAPS,
                 active: int = ACTIVE_TOPICS, closed: Container[str] = ()) -> GlobalMemory:
    """The global memory of these topic memories; the same topics give the same page.

    `closed` are facts that another topic closed: they are left out, and so are their words.
    """
    ordered = [topic.without_facts(closed) for topic in sorted(topics, key=lambda topic: topic.topic)]
    recent = sorted(ordered, key=lambda topic: topic.last_entry_ts, reverse=True)[:active]
    return GlobalMemory(
        schema=GLOBAL_SCHEMA, updated=max((topic.updated for topic in ordered), default=""),
        active_topics=tuple({"topic": topic.topic, "last_entry_ts": topic.last_entry_ts,
                             "entry_count": topic.entry_count, "state": _snapshot(topic.state),
                             **({"project": topic.project} if topic.project else {}),
                             **({"trust": topic.trust} if topic.trust else {})} for topic in recent),
        do_not_forget=tuple(_shown(*chosen) for chosen in _select(ordered, tiers, caps)))


def _snapshot(state: TopicState) -> dict[str, Any]:
    lists = {name: [shorten(line, LINE_LENGTH) for line in getattr(state, name)[:SNAPSHOT_LINES]]
             for name in LISTS}
    return {"summary": shorten(state.summary, SUMMARY_LENGTH), **lists}


def _select(topics: Sequence[Topic], tiers: Sequence[Tier],
            caps: Mapping[str, Caps]) -> Iterator[tuple[str, str, Fact]]:
    """(tier, topic, fact) in the order of the page: by tier, by type, best first; each statement once."""
    groups: dict[str, list[tuple[str, Fact]]] = {tier.name: [] for tier in tiers}
    for topic in topics:
        for fact in topic.facts:
            tier = next((tier.name for tier in tiers if tier.holds(fact)), None)
            if tier and not fact.superseded_by:
                groups[tier].append((topic.topic, fact))
    stated: set[tuple[str, ...]] = set()
    for name, group in groups.items():
        cap = caps.get(name, Caps())
        room, left = cap.total, {kind: cap.types.get(kind, cap.each) for kind in FACT_TYPES}
        taken: list[tuple[str, Fact]] = []
        ranked = sorted(group, key=_rank)
        for topic_name, fact in sorted(ranked,
                                       key=_by_score):  # what a person scored finds room before all else
            statement = tuple(map(normal, (fact.subject, fact.relation, fact.object)))
            if room > 0 and left[fact.type] > 0 and statement not in stated:
                stated.add(statement)
                taken.append((topic_name, fact))
                left[fact.type], room = left[fact.type] - 1, room - 1
        yield from ((name, *item) for item in ranked if item in taken)


def _by_score(item: tuple[str, Fact]) -> tuple[bool, float]:
    """What a person scored comes first, the highest before the others."""
    score = item[1].user_fact_score
    return score is None, -(score or 0)


def _rank(item: tuple[str, Fact]) -> tuple[Any, ...]:
    """By type; then a person's score, confidence, how often it was said, the newer one first."""
    topic, fact = item
    newest = "".join(chr(0x10FFFF - ord(character)) for character in (fact.valid_from or fact.entry_ts))
    return (FACT_TYPES.index(fact.type), *_by_score(item), -fact.confidence, -(fact.evidence_count or 1),
            newest, topic, fact.title)


def _shown(tier: str, topic: str, fact: Fact) -> dict[str, Any]:
    kept = ("type", "subject", "relation", "object", "time_span", "date", "confidence", "user_fact_score",
            "entry_id", "entry_ts", "trust")
    fields = fact.to_dict()
    return {"tier": tier, **{key: fields[key] for key in kept if key in fields}, "topic": topic,
            "fact_id": fact.id or fact.id_in(topic)}


def unknown_keys(given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(tier, key) of what a home's [tiers] say that means nothing."""
    return [(tier, key) for tier, own in given.items() if isinstance(own, Mapping)
            for key in own if tier in CAPS and key not in ("score", "confidence", "types")]


def read_tiers(given: Mapping[str, Any]) -> tuple[Tier, ...]:
    """The tiers with a home's own thresholds: [tiers.core] score, confidence, types."""
    if not isinstance(given, Mapping):
        raise Invalid("otolith.toml: tiers must be a table", "write [tiers.core] above its keys")
    unknown = [name for name in given if name not in CAPS]
    if unknown:
        raise Invalid(f"otolith.toml: there is no tier {unknown[0]!r}", "use core and secondary")
    tiers = []
    for tier in TIERS:
        own = given.get(tier.name, {})
        types = own.get("types", tier.types) if isinstance(own, Mapping) else None
        if not isinstance(types, list | tuple) or not all(word in FACT_TYPES for word in types):
            raise Invalid(f"otolith.toml: tiers.{tier.name} must be a table of score, confidence and types")
        tiers.append(tier._replace(score=_number(own, "score", tier.score), types=tuple(types),
                                   confidence=_number(own, "confidence", tier.confidence)))
    return tuple(tiers)


def read_caps(given: Mapping[str, Any]) -> tuple[dict[str, Caps], int]:
    """(caps by tier, active topics) with a home's own: [caps] active_topics, [caps.core] total, each, …"""
    if not isinstance(given, Mapping):
        raise Invalid("otolith.toml: caps must be a table", "write [caps] above its keys")
    caps = {}
    for name, cap in CAPS.items():
        own = given.get(name, {})
        if not isinstance(own, Mapping):
            raise Invalid(f"otolith.toml: caps.{name} must be a table of numbers")
        types = {kind: int(_number(own, kind, 0)) for kind in FACT_TYPES if kind in own}
        caps[name] = Caps(int(_number(own, "total", cap.total)), int(_number(own, "each", cap.each)), types)
    return caps, int(_number(given, "active_topics", ACTIVE_TOPICS))


def _number(table: Mapping[str, Any], key: str, default: float) -> float:
    value = table.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise Invalid(f"otolith.toml: {key} must be a number from 0; got {value!r}")
    return value


def write_global(memory: GlobalMemory) -> str:
    """GLOBAL_MEMORY.md, for people."""
    facts, topics = memory.do_not_forget, memory.active_topics
    held = f"{counted(len(topics), 'active topic')}, {counted(len(facts), 'fact')} not to forget"
    lines = ["# Global memory", "", f"*{held}. {_NOT_KEPT}*", ""]
    lines += ["## Do not forget", ""] if facts else []
    for tier in dict.fromkeys(str(fact["tier"]) for fact in facts):
        lines += [f"### {tier.capitalize()}", ""]
        for kind in FACT_TYPES:
            lines += _section(f"**{kind.capitalize()}**",
                              [_global_line(fact) for fact in facts
                               if (fact["tier"], fact["type"]) == (tier, kind)])
    lines += ["## Active topics", ""] if topics else []
    for topic in topics:
        state = topic["state"]
        lines += [f"### {topic['topic']}", "",
                  f"*{counted(topic['entry_count'], 'entry', 'entries')}, last "
                  f"{topic['last_entry_ts'][:10]}*", ""]
        lines += [state["summary"], ""] if state["summary"] else []
        items = [f"- **{heading}:** {item}" for name,
                 heading in zip(LISTS, ("Bounds", "Open", "Next"), strict=True)
                 for item in state[name]]
        lines += [*items, ""] if items else []
    return "\n".join(lines)


def _global_line(fact: Mapping[str, Any]) -> str:
    words = " ".join(f"{fact['subject']} {fact['relation']} {fact['object']}".split())
    score = _scored(fact.get("user_fact_score"))
    return f"- {begin(words)}{_dated(fact.get('date'))} — {fact['topic']}{score}"
