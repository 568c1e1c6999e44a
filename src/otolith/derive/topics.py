"""What a topic comes to: its name, its words, its state drawn from what was said, and its page.

Without a model the state is picked out, never made up: facts that stand, limits that were named, questions left without
an answer, things somebody is to do. Same entries, same state. The small words it looks for are a table a language. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from otolith.derive.english import ENGLISH, Language
from otolith.derive.sentences import prose, sentences
from otolith.model.dialog import TOPIC_SCHEMA, Entry, Fact, Topic, TopicState, Turn
from otolith.model.ids import slug
from otolith.model.kinds import FACT_TYPES
from otolith.model.text import counted, first_sentence, shorten
from otolith.model.words import key_words

RULES = "rules-1"
RECENT = 12  # entries whose words the state is drawn from
SUMMARY_SIGNS, LINE_SIGNS = 600, 240
MOST_BOUNDS, MOST_QUESTIONS, MOST_ACTIONS = 8, 8, 10
NAME_WORDS, FIND_WORDS = 3, 24
SAME_TOPIC, SHARED_WORDS = 0.35, 3  # the share of a dialog's words by which it belongs to a topic, and at least so many


class Cues(NamedTuple):
    """Words by which a sentence shows what it is; patterns over the sentence in lower case."""

    bounds: str
    questions: str
    actions: str
    unanswered: str  # an answer that is none


LANGUAGES: Mapping[str, tuple[Language, Cues]] = {
    "english": (ENGLISH, Cues(
        bounds=r"\b(?:assuming|as long as|only if|unless|provided that|at most|no more than|must not|only works (?:if|when|on)"
               r"|does not apply|out of scope|within (?:the )?budget)\b",
        questions=r"\b(?:open question|not (?:yet )?(?:sure|clear|decided)|unclear|to be (?:decided|determined)|undecided"
                  r"|still (?:have|need)s? to (?:decide|find out|figure out)|tbd"
                  r"|don't know (?:yet|whether|if|how|what|when))\b",
        actions=r"^(?:todo|to do|action|action item|next(?: step| action)?|follow-up)s?\b\s*:?"
                r"|\b(?:next step is|let's|we should|remind me to|needs to be done)\b",
        unanswered=r"\b(?:not sure|no idea|don't know|do not know|hard to say|unclear|let me check|will find out)\b")),
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
    words = topic_words(turns)[:NAME_WORDS]
    said = " ".join(turn.text for turn in turns).casefold()
    named = slug(" ".join(sorted(words, key=said.find)))
    return named if named != "untitled" else slug(first_sentence(" ".join(turn.text for turn in turns), 40))


def choose_topic(found: Mapping[str, Iterable[str]]) -> str | None:
    """The topic a dialog belongs to, given the topics that know each of its words; a word that all know says little."""
    weights: dict[str, float] = {word: 1 / len(set(topics)) for word, topics in found.items() if topics}
    total = sum(weights.values()) + len(found) - len(weights)
    shared: dict[str, list[float]] = {}
    for word, topics in found.items():
        for topic in set(topics):
            shared.setdefault(topic, []).append(weights[word])
    best = min(shared, key=lambda topic: (-sum(shared[topic]), topic), default=None)
    enough = min(SHARED_WORDS, len(found))
    if best is None or len(shared[best]) < enough or sum(shared[best]) < SAME_TOPIC * total:
        return None
    return best


# One entry

def summarise(turns: Sequence[Turn], facts: Sequence[Fact], language: Language = ENGLISH) -> str:
    """A few of the dialog's own sentences: how it opens, and what its surest facts stand on."""
    surest = sorted(facts, key=lambda fact: (-fact.confidence, fact.turn or 0))[:3]
    chosen = dict.fromkeys(fact.sentence or fact.title for fact in sorted(surest, key=lambda fact: fact.turn or 0))
    opening = next((sentence for turn in turns if turn.role in ("user", "other") for sentence, _ in _spoken([turn], language)
                    if len(sentence.split()) > 3), "")
    return _joined([opening, *chosen] if opening else chosen)


def _spoken(turns: Iterable[Turn], language: Language) -> Iterator[tuple[str, bool]]:
    """(sentence, asked) of what people say in these turns."""
    for turn in turns:
        for line in prose(turn.text[:20_000], language):
            yield from sentences(line)


def _joined(parts: Iterable[str], limit: int = SUMMARY_SIGNS) -> str:
    """Sentences as one paragraph, as many as fit whole."""
    text = ""
    for part in dict.fromkeys(" ".join(part.split()) for part in parts):
        part = part if part[-1:] in ".!?…。！？" else f"{part}."
        if text and len(text) + len(part) >= limit:
            break
        text = f"{text} {part}" if text else part
    return text if len(text) <= limit else first_sentence(text, limit)


# A topic's state

def extract_state(facts: Sequence[Fact], recent: Sequence[Entry], language: str = "english") -> TopicState:
    """The state of a topic from its standing facts and its latest entries, newest first."""
    standing = [fact for fact in facts if not fact.superseded_by]
    table, cues = LANGUAGES.get(language, LANGUAGES["english"])
    told = {fact.sentence for fact in standing if fact.type in ("constraint", "commitment")}
    return TopicState(
        summary=_topic_summary(standing, recent), made_by=RULES,
        bounds=_lines([*(begin(fact.title) for fact in reversed(standing) if fact.type == "constraint"),
                       *_cued(recent, cues.bounds, table, told)], MOST_BOUNDS),
        open_questions=_lines(_questions(recent, cues, table), MOST_QUESTIONS),
        next_actions=_lines([*_promises(standing, recent), *_cued(recent, cues.actions, table, told)], MOST_ACTIONS))


def begin(sentence: str) -> str:
    """A sentence with a capital at its beginning."""
    return sentence[:1].upper() + sentence[1:]


def _topic_summary(facts: Sequence[Fact], recent: Sequence[Entry]) -> str:
    leading = sorted((fact for fact in facts if fact.type not in ("event", "commitment")),
                     key=lambda fact: (-(fact.user_fact_score or 0), -(fact.evidence_count or 1), -fact.confidence,
                                       FACT_TYPES.index(fact.type), str(fact.id)))[:5]
    latest = [f"Latest, {entry.meta.entry_ts[:10]}: {entry.summary.summary}" for entry in recent[:1]
              if entry.summary and entry.summary.summary]
    return _joined([*(begin(fact.title) for fact in leading), *latest])


def _promises(facts: Sequence[Fact], recent: Sequence[Entry]) -> list[str]:
    """What somebody is to do, newest first; a day that had passed by the last entry is over."""
    today = recent[0].meta.entry_ts[:10] if recent else ""
    return [begin(fact.title) + (f" ({fact.date})" if fact.date else "") for fact in reversed(facts)
            if fact.type == "commitment" and not (fact.date and len(fact.date) >= 10 and fact.date[-10:] < today)]


def _cued(recent: Sequence[Entry], pattern: str, language: Language, told: Container[str | None]) -> Iterator[str]:
    """Sentences with such words in them, but for those that a fact already tells."""
    for entry in recent:
        for sentence, asked in _spoken(entry.turns, language):
            if not asked and sentence not in told and re.search(pattern, sentence.casefold()):
                yield sentence


def _questions(recent: Sequence[Entry], cues: Cues, language: Language) -> Iterator[str]:
    """Questions that nobody answered, or that the answer left open; and what was called open."""
    for entry in recent:
        turns = [turn for turn in entry.turns if turn.role not in ("system", "tool")]
        for at, turn in enumerate(turns):
            reply = turns[at + 1].text.casefold() if at + 1 < len(turns) else None
            for sentence, asked in _spoken([turn], language):
                said = sentence.casefold()
                if asked and len(said.split()) > 3 and (reply is None or re.search(cues.unanswered, reply)):
                    yield f"{sentence}?"
                elif not asked and len(said.split()) > 3 and re.search(cues.questions, said):
                    yield sentence


def _lines(found: Iterable[str], most: int) -> tuple[str, ...]:
    seen: dict[str, str] = {}
    for line in found:
        text = " ".join(line.split())
        if text and len(seen) < most:
            seen.setdefault(text.casefold(), shorten(text, LINE_SIGNS))
    return tuple(seen.values())


# The topic memory

def inputs_of(facts: Sequence[Fact], recent: Sequence[Entry], language: str) -> str:
    """The fingerprint of all that a state is made from."""
    parts = [language, *(repr(fact) for fact in facts),
             *(f"{entry.id} {entry.summary.summary if entry.summary else ''} {sha256(entry.raw.encode()).hexdigest()}"
               for entry in recent)]
    return sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:32]


def assemble(topic: str, facts: Sequence[Fact], state: TopicState, *, inputs: str, entries: int, last_entry: str,
             updated: str, outside: bool = False) -> Topic:
    """The topic memory: all facts but those a person rejected. `updated` is the time of what it stands on, not of building."""
    shown = tuple(fact for fact in facts if fact.user_fact_score != 0)
    return Topic(schema=TOPIC_SCHEMA, topic=topic, updated=updated, fingerprint=inputs, entry_count=entries,
                 last_entry_ts=last_entry, state=state, facts=shown, trust="outside" if outside else None)


def write_topic(topic: Topic) -> str:
    """topic_memory.md, for people."""
    standing = [fact for fact in topic.facts if not fact.superseded_by]
    lines = [f"# {topic.topic}", "",
             f"*{counted(topic.entry_count, 'entry', 'entries')}, last {topic.last_entry_ts[:10] or 'never'}. "
             "Built by Otolith; changes made here are not kept.*", ""]
    if topic.state.summary:
        lines += [topic.state.summary, ""]
    for heading, items in (("Bounds", topic.state.bounds), ("Open questions", topic.state.open_questions),
                           ("Next actions", topic.state.next_actions)):
        if items:
            lines += [f"## {heading}", "", *(f"- {item}" for item in items), ""]
    if standing:
        lines += ["## Facts", ""]
    for kind in FACT_TYPES:
        if of_kind := [fact for fact in standing if fact.type == kind]:
            lines += [f"### {kind.capitalize()}", "", *map(_bullet, of_kind), ""]
    if former := [fact for fact in topic.facts if fact.superseded_by]:
        lines += ["## No longer so", "",
                  *(f"- {begin(fact.title)}, until {(fact.valid_until or '')[:10]} `{fact.id}`" for fact in former), ""]
    return "\n".join(lines)


def _bullet(fact: Fact) -> str:
    score = "" if fact.user_fact_score is None else f", score {fact.user_fact_score:g}"
    said = f", said {fact.evidence_count} times" if (fact.evidence_count or 1) > 1 else ""
    when = f" ({fact.date})" if fact.date else ""
    return f"- {begin(fact.title)}{when} — {fact.entry_ts[:10]}, confidence {fact.confidence:g}{score}{said} `{fact.id}`"
