"""A session cut into requests: what a person asked for, and all that happened until they spoke again.

The goal is told in the person's own words, without what they pasted. Words that only point ("proceed",
"address #2", "yes, option B") take what they point to: the item of the agent's list, its proposal, the
request before.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import pairwise
from typing import NamedTuple

from otolith.derive import plainly
from otolith.model.events import ANSWERED, NOTICE, SAID, Event, Session, own_words
from otolith.model.text import sentences, shorten
from otolith.model.words import key_words

GOAL_WORDS = 40
POINTED = 80  # characters of the words that only pointed
_COMMAND = re.compile(r"<command-name>\s*(/?[\w:.-]+)\s*</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_GO_AHEAD = frozenset(
    """proceed go goes going ahead forth yes yep yeah yup ok okay k sure continue do it please great good fine
    sounds nice thanks thank perfect next keep approved lgtm start begin now let's lets address apply
    implement option approach seems looks simplest correct right both all number item point step phase that
    this one""".split())
_TASKS = tuple((name, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for name, words in (
    ("test_write", r"(?:write|add|extend)\b.{0,30}\btests?|test coverage"),
    ("security_fix", r"vulnerab\w+|security|cve|xss|injection"),
    ("bug_fix", r"fix\w*|bugs?|broken|crash\w*|errors?|fail\w*|wrong|doesn't work|not working|regression|"
     r"duplicates?|dupes?"),
    ("dependency_update", r"upgrade|bump|dependenc(?:y|ies)|update .{0,20}(?:version|package|module)"),
    ("refactor", r"refactor\w*|clean\s?up|rename|simplif\w+|extract|move|restructure|reorgani\w+|"
     r"dedup\w*|unused"),
    ("optimization", r"performance|perf|optimi\w+|faster|speed|slow\w*|memory usage"),
    ("documentation", r"docs?|document\w*|readme|changelog|comments?"),
    ("configuration", r"config\w*|settings?|env(?:ironment)?|ci|pipeline|workflow|deploy\w*|install\w*"),
    ("feature_add", r"add|implement\w*|create|build|support|introduce|make|show|allow|new"),
    ("investigation", r"why|investigate|find out|look into|analy[sz]e|explain|what|how|check")))


class Request(NamedTuple):
    """What a person asked for, and all that happened until they spoke again."""

    said: Event
    events: tuple[Event, ...]
    answers: tuple[str, ...] = ()  # what the agent said before, the latest first
    before: tuple[str, ...] = ()  # what the person had asked before, the latest first
    reply: str = ""  # what the person said next
    new: bool = True  # something of it, or the reply, was not told before


def requests(session: Session) -> list[Request]:
    """The session cut where the person speaks or gives a slash command."""
    events = session.events
    starts = [at for at, event in enumerate(events) if event.kind == SAID or slash_command(event)]
    cut: list[Request] = []
    answers: list[str] = []
    asked: list[str] = []
    for start, stop in pairwise([*starts, len(events)]):
        own = events[start + 1 : stop]
        reply = own_words(events[stop]) if stop < len(events) else ""
        new = stop > session.fresh or (stop == session.fresh and bool(reply))
        cut.append(Request(events[start], own, tuple(reversed(answers[-6:])), tuple(reversed(asked[-4:])),
                           reply, new))
        answers += [event.text for event in own if event.kind == ANSWERED and not event.by]
        asked.append(slash_command(events[start]) or own_words(events[start]))
    return cut


def slash_command(event: Event) -> str:
    """The slash command that a notice is, with what it was given; empty if it is none."""
    match = _COMMAND.search(event.text) if event.kind == NOTICE else None
    if not match:
        return ""
    given = _ARGUMENTS.search(event.text)
    return " ".join(filter(None, (f"/{match[1].lstrip('/')}", given[1].strip() if given else "")))


def tell_goal(request: Request, earlier: str = "") -> tuple[str, str]:
    """(goal, context) of a request; `earlier` is the goal of the work before, for words that only go on."""
    pasted = next((part.text for part in request.said.parts if part.pasted), "")
    heading = opening(next(iter(plainly.statements(pasted)), ""))
    words = slash_command(request.said) or opening(own_words(request.said))
    if slash_command(request.said) or not _only_points(words):
        return (f"{words} {heading}".strip() if words.endswith(":") else words), ""
    said = shorten(words, POINTED)
    if item := plainly.pointed_item(words, request.answers):
        return opening(item), f'asked as "{said}"'
    if plainly.POINTED.search(words):
        return words, ""
    if words and (offer := next(filter(None, map(plainly.proposal, request.answers[:2])), "")):
        return opening(offer), f'asked as "{said}"'
    for before in request.before if words else ():
        if item := plainly.pointed_item(before, request.answers):
            return opening(item), f'went on at "{said}"'
        if not _only_points(before):
            return opening(before), f'went on at "{said}"'
    if words and earlier:
        return earlier, f'went on at "{said}"'
    return words or heading or "(nothing was said)", ""


def _only_points(words: str) -> bool:
    """Whether words only say that something told before may be done."""
    return sum(word not in _GO_AHEAD and not word.isdigit() for word in dict.fromkeys(key_words(words))) < 2


def opening(text: str, most: int = GOAL_WORDS) -> str:
    """The first sentences, up to so many words."""
    kept: list[str] = []
    for sentence in sentences(text):
        words = sentence.split()
        if kept and len(kept) + len(words) > most:
            break
        kept += words
        if len(kept) >= most // 2:
            break
    told = " ".join(kept) if len(kept) <= most else " ".join(kept[:most]) + " …"
    return re.sub(r"[:;,]?\s+\(?\d+[.)]$", "", told)  # the number of an item that was left out


def task_of(goal: str, files: Collection[str]) -> str:
    """What kind of task it was: by its files if they are all of a kind, else by the words of the goal."""
    if files and all(path.endswith((".md", ".rst", ".txt")) for path in files):
        return "documentation"
    if files and all(re.search(r"(?:^|/)tests?/|[_.-](?:test|spec)\.", path) for path in files):
        return "test_write"
    return next((name for name, pattern in _TASKS if pattern.search(goal)), "other")
