"""The front page: which topics are alive, and what must not be forgotten.

Built from topic memories alone, by rules alone, so its cost follows the number of topics and their facts, never the number
of entries. Caps keep its size; which fact belongs into which tier is one table that can be swapped. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from otolith.errors import Invalid
from otolith.model.dialog import GLOBAL_SCHEMA, Fact, GlobalMemory, Topic, TopicState
from otolith.model.ids import normal
from otolith.model.kinds import FACT_TYPES
from otolith.model.text import counted, shorten

ACTIVE_TOPICS = 20
SNAPSHOT_LINES, SNAPSHOT_SIGNS = 5, 600


class Tier(NamedTuple):
    """Which facts belong: a person's score decides; without one, the type and the confidence do."""

    name: str
    score: float
    confidence: float
    types: tuple[str, ...] = FACT_TYPES
    trusted: bool = False  # nothing from outside comes in without a person's word


class Caps(NamedTuple):
    """How many facts a tier holds: in all, of each type, and of types that have a number of their own."""

    total: int
    each: int
    types: Mapping[str, int] = {}


TIERS = (Tier("core", 8, 0.8, ("identity", "commitment", "constraint"), trusted=True), Tier("secondary", 5, 0.6))
CAPS = {"core": Caps(40, 10), "secondary": Caps(40, 10)}


def tier_of(fact: Fact, tiers: Sequence[Tier] = TIERS) -> str | None:
    """The first tier a fact belongs to."""
    score = fact.user_fact_score
    for tier in tiers:
        if score is not None:
            belongs = score > 0 and score >= tier.score
        else:
            belongs = fact.confidence >= tier.confidence and fact.type in tier.types and not (
                tier.trusted and fact.trust == "outside")
        if belongs:
            return tier.name
    return None


def build_global(topics: Iterable[Topic], *, tiers: Sequence[Tier] = TIERS, caps: Mapping[str, Caps] = CAPS,
                 active: int = ACTIVE_TOPICS) -> GlobalMemory:
    """The global memory of these topic memories; the same topics give the same page."""
    known = sorted(topics, key=lambda topic: topic.topic)
    recent = sorted(known, key=lambda topic: topic.last_entry_ts, reverse=True)[:active]
    return GlobalMemory(
        schema=GLOBAL_SCHEMA, updated=max((topic.updated for topic in known), default=""),
        active_topics=tuple({"topic": topic.topic, "last_entry_ts": topic.last_entry_ts, "entry_count": topic.entry_count,
                             "state": _snapshot(topic.state), **({"trust": topic.trust} if topic.trust else {})}
                            for topic in recent),
        do_not_forget=tuple(_shown(tier, topic, fact) for tier, topic, fact in _select(known, tiers, caps)))


def _snapshot(state: TopicState) -> dict[str, Any]:
    lists = {name: [shorten(line, 240) for line in getattr(state, name)[:SNAPSHOT_LINES]]
             for name in ("bounds", "open_questions", "next_actions")}
    return {"summary": shorten(state.summary, SNAPSHOT_SIGNS), **lists}


def _select(topics: Sequence[Topic], tiers: Sequence[Tier], caps: Mapping[str, Caps]) -> list[tuple[str, str, Fact]]:
    """(tier, topic, fact) in the order of the page: by tier, by type, the best first; the same statement once."""
    groups: dict[tuple[str, str], list[tuple[str, Fact]]] = {}
    for topic in topics:
        for fact in topic.facts:
            tier = None if fact.superseded_by else tier_of(fact, tiers)
            if tier:
                groups.setdefault((tier, fact.type), []).append((topic.topic, fact))
    chosen: list[tuple[str, str, Fact]] = []
    said: set[tuple[str, ...]] = set()
    for tier_rule in tiers:
        cap = caps.get(tier_rule.name, Caps(40, 10))
        room, left = cap.total, {kind: cap.types.get(kind, cap.each) for kind in FACT_TYPES}
        taken: list[tuple[str, Fact]] = []
        ranked = [item for kind in FACT_TYPES for item in sorted(groups.get((tier_rule.name, kind), ()), key=_worth)]
        for topic_name, fact in sorted(ranked, key=_unscored):  # what a person scored finds room before all else
            statement = tuple(map(normal, (fact.subject, fact.relation, fact.object)))
            if room > 0 and left[fact.type] > 0 and statement not in said:
                said.add(statement)
                taken.append((topic_name, fact))
                left[fact.type], room = left[fact.type] - 1, room - 1
        chosen += [(tier_rule.name, *item) for item in ranked if item in taken]
    return chosen


def _unscored(item: tuple[str, Fact]) -> tuple[bool, float]:
    """What a person scored comes first, the highest before the others; the rest stays in its order."""
    score = item[1].user_fact_score
    return score is None, -(score or 0)


def _worth(item: tuple[str, Fact]) -> tuple[Any, ...]:
    """A person's score first, then confidence, then how often it was said, then the newer one."""
    topic, fact = item
    score = fact.user_fact_score
    newest = "".join(chr(0x10FFFF - ord(sign)) for sign in (fact.valid_from or fact.entry_ts))
    return (score is None, -(score or 0), -fact.confidence, -(fact.evidence_count or 1), newest, topic, fact.title)


def _shown(tier: str, topic: str, fact: Fact) -> dict[str, Any]:
    kept = ("type", "subject", "relation", "object", "time_span", "date", "confidence", "user_fact_score", "entry_id",
            "entry_ts", "trust")
    fields = fact.to_dict()
    return {"tier": tier, **{key: fields[key] for key in kept if key in fields}, "topic": topic,
            "fact_id": fact.id or fact.id_in(topic)}


# Settings of the home

def read_tiers(given: Mapping[str, Any]) -> tuple[Tier, ...]:
    """The tiers with a home's own thresholds: [tiers.core] score, confidence, types."""
    unknown = [name for name in given if name not in {tier.name for tier in TIERS}]
    if unknown:
        raise Invalid(f"otolith.toml: there is no tier {unknown[0]!r}", "use core and secondary")
    tiers = []
    for tier in TIERS:
        own = given.get(tier.name, {})
        types = tuple(own.get("types", tier.types)) if isinstance(own, Mapping) else ()
        if not isinstance(own, Mapping) or not set(types) <= set(FACT_TYPES):
            raise Invalid(f"otolith.toml: tiers.{tier.name} is no table of score, confidence and types")
        tiers.append(tier._replace(score=_number(own, "score", tier.score), types=types,
                                   confidence=_number(own, "confidence", tier.confidence)))
    return tuple(tiers)


def read_caps(given: Mapping[str, Any]) -> tuple[dict[str, Caps], int]:
    """(caps by tier, active topics) with a home's own numbers: [caps] active_topics, [caps.core] total, each, identity …"""
    caps = {}
    for name, cap in CAPS.items():
        own = given.get(name, {})
        if not isinstance(own, Mapping):
            raise Invalid(f"otolith.toml: caps.{name} is no table of numbers")
        types = {kind: int(_number(own, kind, 0)) for kind in FACT_TYPES if kind in own}
        caps[name] = Caps(int(_number(own, "total", cap.total)), int(_number(own, "each", cap.each)), types)
    return caps, int(_number(given, "active_topics", ACTIVE_TOPICS))


def _number(table: Mapping[str, Any], key: str, default: float) -> float:
    value = table.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise Invalid(f"otolith.toml: {key} must be a number from 0; got {value!r}")
    return value


# For people

def write_global(memory: GlobalMemory) -> str:
    """GLOBAL_MEMORY.md."""
    facts, topics = memory.do_not_forget, memory.active_topics
    held = f"{counted(len(topics), 'active topic')}, {counted(len(facts), 'fact')} not to forget"
    lines = ["# Global memory", "", f"*{held}. Built by Otolith; changes made here are not kept.*", ""]
    if facts:
        lines += ["## Do not forget", ""]
    for tier in dict.fromkeys(str(fact["tier"]) for fact in facts):
        lines += [f"### {tier.capitalize()}", ""]
        for kind in FACT_TYPES:
            if bullets := [_bullet(fact) for fact in facts if (fact["tier"], fact["type"]) == (tier, kind)]:
                lines += [f"**{kind.capitalize()}**", "", *bullets, ""]
    if topics:
        lines += ["## Active topics", ""]
    for topic in topics:
        state = topic["state"]
        lines += [f"### {topic['topic']}", "",
                  f"*{counted(topic['entry_count'], 'entry', 'entries')}, last {topic['last_entry_ts'][:10]}*", ""]
        lines += [state["summary"], ""] if state["summary"] else []
        for name, heading in (("bounds", "Bounds"), ("open_questions", "Open"), ("next_actions", "Next")):
            lines += [f"- **{heading}:** {item}" for item in state[name]]
        lines += [""] if any(state[name] for name in ("bounds", "open_questions", "next_actions")) else []
    return "\n".join(lines)


def _bullet(fact: Mapping[str, Any]) -> str:
    said = " ".join(f"{fact['subject']} {fact['relation']} {fact['object']}".split())
    score = f", score {fact['user_fact_score']:g}" if fact.get("user_fact_score") is not None else ""
    when = f" ({fact['date']})" if fact.get("date") else ""
    return f"- {said[:1].upper()}{said[1:]}{when} — {fact['topic']}{score}"
