"""What a language model is told to read, and what its answer must look like before it is believed.

Material out, checked values in. Of a session each proposal is judged alone (`proposals.py`), and what only a
person may set is dropped. Topics' states, chapters and wisdom a model may only reword: members, times and
counts stay the rules'. Pure: the prompts are files, and who is asked, and what happens when nobody answers,
is decided elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from otolith.derive.proposals import MOST, Cited, Evidence, Refused, checked_summary, judge
from otolith.derive.topics import LINE_LENGTH, LISTS, SUMMARY_LENGTH
from otolith.derive.wisdom import cited_in
from otolith.errors import Invalid
from otolith.model.dialog import TIME_SPANS, Entry, Fact, TopicState
from otolith.model.kinds import FACT_TYPES
from otolith.model.narrative import Chapter, Wisdom
from otolith.model.shape import Shape, strings, text
from otolith.model.text import check_whole, fold, shorten
from otolith.model.work import Work

WINDOW = 24_000  # characters of facts, of works or of chapters in one question
LONGEST = 2_000  # characters of one line in an answer about works or chapters
FEWEST = 200  # characters that are left of a long turn
_TEXT = {"type": "string"}
_LINES = {"type": "array", "items": _TEXT}
_TURNS = {"type": "array", "items": {"type": ["integer", "string"]}}
_STATED = ("subject", "relation", "object", "type", "turns")  # what a proposal must have
SESSION_SCHEMA = {
    "type": "object", "required": ["summary", "proposals"], "properties": {
        "summary": _TEXT,
        "proposals": {"type": "array", "items": {
            "type": "object", "required": list(_STATED), "properties": {
                "subject": _TEXT, "relation": _TEXT, "object": _TEXT, "type": {"enum": list(FACT_TYPES)},
                "time_span": {"enum": list(TIME_SPANS)}, "confidence": {"type": "number"},
                "turns": _TURNS, "date": {"type": ["string", "null"]},
                "replaces": {"type": ["string", "null"]}}}}}}
STATE_SCHEMA = {"type": "object", "required": ["summary", *LISTS],
                "properties": {"summary": _TEXT, **dict.fromkeys(LISTS, _LINES)}}


def session_text(cited: Sequence[Cited], room: int) -> str:
    """The session as it is told to a model, within so many characters: of what does not fit the longest texts
    lose their middle, those of the assistant first.
    """
    lines = [f"[{place.name}] {place.speaker or place.role}: " for place in cited]
    texts = [place.text for place in cited]
    over = sum(map(len, lines)) + sum(map(len, texts)) + len(texts) - room
    for role in (("assistant", "deed"), ("user", "other", "system", "tool")):
        places = [at for at, place in enumerate(cited) if place.role in role]
        over = _thin(texts, places, over)
    shown = [f"{line}{text}" for line, text in zip(lines, texts, strict=True)]
    while over > 0 and len(shown) > 2:  # more turns than room: the middle of the session goes
        over -= len(shown.pop(len(shown) // 2)) + 1
    return "\n".join(shown)


def _thin(texts: list[str], places: Sequence[int], over: int) -> int:
    """Cut the longest of these texts as far as needed; returns what is still too much."""
    limit = max((len(texts[at]) for at in places), default=0)
    while over > 0 and limit > FEWEST:
        limit = max(FEWEST, limit * 3 // 4)
        for at in places:
            if len(texts[at]) > limit:
                half = (limit - 3) // 2
                over -= len(texts[at]) - 2 * half - 3
                texts[at] = f"{texts[at][:half]} … {texts[at][-half:]}"
    return over


class Proposed(NamedTuple):
    """What is left of a model's answer about a session."""

    summary: str
    facts: list[Fact]
    refused: list[Refused]
    replaces: list[tuple[Fact, str]]  # a fact, and the K number of what it says to replace


def read_session(answer: Any, session: Evidence) -> Proposed:
    """The proposals that may stand, and the others with why; Invalid if the answer is none at all."""
    given = read_object(answer, whole=False)
    summary, items = given.get("summary", ""), given.get("proposals", given.get("facts"))
    if not isinstance(summary, str) or not isinstance(items, list):
        raise Invalid('it must be an object with the text "summary" and the list "proposals"')
    check_whole(summary)
    facts: dict[tuple[str, str, str], Fact] = {}
    refused, replaces = list[Refused](), list[tuple[Fact, str]]()
    for item in items[:MOST]:
        judged = judge(item, session)
        if isinstance(judged, Refused):
            refused.append(judged)
            continue
        key = (fold(judged.subject), fold(judged.relation), fold(judged.object))
        if key not in facts and isinstance(item.get("replaces"), str):
            replaces.append((judged, item["replaces"].strip(" []").upper()))
        facts.setdefault(key, judged)
    refused += [Refused("shape: too many proposals", "")] * len(items[MOST:])
    return Proposed(checked_summary(shorten(summary, SUMMARY_LENGTH), session), list(facts.values()), refused,
                  replaces)


def read_state(answer: Any, maker: str) -> TopicState:
    given = read_object(answer)
    if not isinstance(given.get("summary"), str):
        raise Invalid('it must be an object with the text "summary"')
    lists: dict[str, Any] = {}
    for name in LISTS:
        lines = given.get(name, [])
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise Invalid(f'"{name}" must be a list of texts')
        lists[name] = tuple(shorten(line, LINE_LENGTH) for line in lines[:10] if line.strip())
    return TopicState(summary=shorten(given["summary"], 2 * SUMMARY_LENGTH), made_by=maker, **lists)


def read_object(answer: Any, *, whole: bool = True) -> Mapping[str, Any]:
    """The JSON object of an answer, also out of a code fence or a sentence around it; with `whole` all of it
    must be such that a file can hold it.
    """
    if not isinstance(answer, str | Mapping):
        raise Invalid("it is not text")
    try:
        if isinstance(answer, str):
            start, stop = answer.find("{"), answer.rfind("}")
            answer = json.loads(answer[start : stop + 1]) if start >= 0 else None
        check_whole(answer if whole else None)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"it is not JSON: {error}") from None
    if not isinstance(answer, Mapping):
        raise Invalid("it contains no JSON object")
    return answer


# Chapters and wisdom


class ChapterProse(Shape):
    """The answer for a chapter."""

    title: str = text(filled=True)
    summary: str = text(filled=True)
    learnings: tuple[str, ...] = strings(default=())


class WisdomProse(Shape):
    """The answer for wisdom; every line ends with the ids it stands on, in brackets."""

    summary: str = text(filled=True)
    insights: tuple[str, ...] = strings(default=())
    patterns: tuple[str, ...] = strings(default=())
    best_practices: tuple[str, ...] = strings(default=())


def state_text(facts: Sequence[Fact], recent: Sequence[Entry]) -> str:
    standing = "\n".join(f"- {fact.title} ({fact.type}, since {(fact.valid_from or fact.entry_ts)[:10]})"
                         for fact in facts if not fact.superseded_by)[:WINDOW]
    latest = "\n".join(f"- {entry.meta.entry_ts[:10]}: {entry.summary.summary}" for entry in recent
                       if entry.summary)
    return f"Facts:\n{standing}\n\nLatest entries:\n{latest}"


def chapter_text(works: Sequence[Work]) -> str:
    return _latest([{"goal": work.intent.goal, "task": work.intent.task_type, "success": work.outcome.success,
                     "summary": work.outcome.summary, "approach": work.reasoning.approach_chosen,
                     "failure": work.outcome.failure_reason, "learnings": list(work.outcome.learnings)}
                    for work in works])


def wisdom_text(chapters: Sequence[Chapter]) -> str:
    return _latest([{"id": chapter.id, "title": chapter.title, "summary": chapter.summary,
                     "learnings": list(chapter.learnings or ())} for chapter in chapters])


def _latest(material: Sequence[Mapping[str, Any]]) -> str:
    """As much of the material as fits, the latest kept."""
    lines: list[str] = []
    room = WINDOW
    for item in reversed(material):
        line = json.dumps(item, ensure_ascii=False)
        room -= len(line)
        if room < 0 and lines:
            break
        lines.append(line[:WINDOW])
    return "\n".join(reversed(lines))


def retell_chapter(chapter: Chapter, answer: str, made_by: str) -> Chapter:
    """The chapter in the model's words; `Invalid` if the answer is not what was asked for."""
    prose = _checked(ChapterProse.from_dict(read_object(answer)))
    return chapter.replace(title=prose.title, summary=prose.summary, learnings=prose.learnings
                           or chapter.learnings, extra={**chapter.extra, "made_by": made_by})


def retell_wisdom(wisdom: Wisdom, answer: str, made_by: str) -> Wisdom:
    """The wisdom in the model's words, without lines that cite no chapter; an empty list keeps the rules'."""
    prose, ids = _checked(WisdomProse.from_dict(read_object(answer))), frozenset(wisdom.chapters)
    lists = {name: tuple(line for line in getattr(prose, name) if (cited := cited_in(line))
                         and ids.issuperset(cited))
             or getattr(wisdom, name) for name in ("insights", "patterns", "best_practices")}
    return wisdom.replace(summary=prose.summary, made_by=made_by, **lists)


def _checked(prose: Any) -> Any:
    """The answer, if none of its lines is too long."""
    values = [getattr(prose, name) for name in prose._fields if name != "extra"]
    if any(len(line) > LONGEST for value in values
           for line in ([value] if isinstance(value, str) else value)):
        raise Invalid("the model's answer is too long")
    return prose


PROSE: Mapping[str, tuple[Callable[[Sequence[Any]], str], Callable[[Any, str, str], Any]]] = {
    Chapter.kind: (chapter_text, retell_chapter), Wisdom.kind: (wisdom_text, retell_wisdom)}
