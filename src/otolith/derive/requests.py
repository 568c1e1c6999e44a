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

from otolith.derive import cues, plainly
from otolith.derive.judge import opening as spoken
from otolith.model.echoes import ECHO
from otolith.model.events import ANSWERED, NOTICE, SAID, STOPPED, Event, Session, own_words
from otolith.model.text import sentences
from otolith.model.words import is_question, key_words

GOAL_WORDS = 40
SHORT = 12  # words of a request that needs the item it points to
_COMMAND = re.compile(r"<command-name>\s*(/?[\w:.-]+)\s*</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_GO_AHEAD = frozenset(
    """proceed go goes going ahead forth yes yep yeah yup ok okay k sure continue do it please great good fine
    sounds nice thanks thank perfect next keep approved lgtm start begin now let's lets address apply
    implement option approach seems looks simplest correct right both all number item point step phase that
    this one""".split())
ORDER = cues.phrase(r"""^(?:(?:please|just|first|only)\s)*(?:let's|don't(?!\s(?:we|you|i)\b)|do\snot|use|keep
    |make|add|remove|put|have|change|fix|drop|rename|move|write|show|update|create|delete|revert|undo
    |check|run|find|look|stop|try|leave|set|implement|replace|ask|count|treat|store|follow|read|call
    |return|split|rework|restart|sort|load|build|bump|upgrade|extract|let|reduce|speed|give|name|explain
    |migrate|refactor|clean|test|document|describe|install|configure|enable|disable|convert|review|draft
    |prepare|increase|lower|raise|align|wire|hide|merge|port|simplify|address|resolve|investigate
          |support)\b""")
_POLITE = cues.phrase(r"(?:can|could|would|will)\s(?:we|you)\b")
_GRUMBLE = cues.phrase(r"""(?:you\s(?:are|were|have|broke|missed|forgot|ignored|didn't|lost)|uh+\b|wtf
    |what\sthe|i\s(?:said|told|suggested|asked|meant)|the\swhole\spoint)\b""")
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

    asked: Event
    events: tuple[Event, ...]
    answers: tuple[str, ...] = ()  # what the agent said before, the latest first
    before: tuple[str, ...] = ()  # the goals of the requests before, the latest first
    reply: str = ""  # what the person said next
    new: bool = True  # something of it, or the reply, was not told before
    resumes: bool = False  # the person had stopped what came before


def requests(session: Session) -> list[Request]:
    """The session cut where the person speaks or gives a slash command."""
    events = session.events
    starts = [at for at, event in enumerate(events) if event.kind == SAID or slash_command(event)]
    cut: list[Request] = []
    answers: list[str] = []
    goals: list[str] = []
    for start, stop in pairwise([*starts, len(events)]):
        own = events[start + 1 : stop]
        reply = own_words(events[stop]) if stop < len(events) else ""
        new = stop > session.fresh or (stop == session.fresh and bool(reply))
        cut.append(Request(events[start], own, tuple(reversed(answers[-6:])), tuple(reversed(goals[-4:])),
                           reply, new, start > 0 and events[start - 1].kind == STOPPED))
        answers += [event.text for event in own if event.kind == ANSWERED and not event.by]
        goals.append(tell_goal(cut[-1]))
    return cut


def slash_command(event: Event) -> str:
    """The slash command that a notice is, with what it was given; empty if it is none."""
    match = _COMMAND.search(event.text) if event.kind == NOTICE else None
    if not match:
        return ""
    given = _ARGUMENTS.search(event.text)
    return " ".join(filter(None, (f"/{match[1].lstrip('/')}", given[1].strip() if given else "")))


def tell_goal(request: Request, earlier: str = "") -> str:
    """The goal of a request; `earlier` is that of the work before, for words that only go on."""
    pasted = next((part.text for part in request.asked.parts if part.pasted not in ("", ECHO)), "")
    heading = opening(next(iter(plainly.statements(pasted)), ""))
    words = slash_command(request.asked) or opening(own_words(request.asked))
    if slash_command(request.asked) or not _only_points(words, request.resumes):
        item = plainly.pointed_item(words, request.answers) if len(words.split()) <= SHORT else ""
        more = heading if words.endswith(":") else item and f"({opening(item, 25)})"
        return f"{words} {more}".strip()
    return (_pointed_at(words, request) or earlier if words else heading) or words or "(nothing was said)"


def _pointed_at(words: str, request: Request) -> str:
    """What words that only point mean: an item, the agent's offer, or the request before."""
    item = plainly.pointed_item(words, request.answers)
    if item or plainly.POINTED.search(words):
        return opening(item) or words
    offer = next(filter(None, map(plainly.proposal, request.answers[:2])), "")
    if offer and not request.resumes:
        return opening(offer)
    goals = [goal for goal in request.before if not _only_points(goal)]
    return next(filter(is_request, goals), next(iter(goals), ""))


def _only_points(words: str, resumes: bool = False) -> bool:
    """Whether words only say that something told before may be done, or ask about what was just stopped."""
    content = {word for word in key_words(words) if word not in _GO_AHEAD and not word.isdigit()}
    return len(content) < 2 or (resumes and len(content) <= 3 and words.rstrip().endswith("?"))


def is_request(words: str) -> bool:
    """Whether words ask for something to be done: no bare question, grumble, tale or piece of output."""
    return any(_asks(sentence) for line in words.splitlines() for sentence in sentences(line))


def _asks(sentence: str) -> bool:
    refused, plain = spoken(sentence)
    if ORDER.match(plain) or cues.REQUEST.pattern.match(plain) or _POLITE.match(plain):
        return True
    return not (refused or is_question(plain) or cues.ASKS.match(plain) or cues.POINTING.match(plain)
                or cues.HAPPENED.match(plain) or _GRUMBLE.match(plain) or not key_words(plain)
                or re.match(r"[^\w\s\"'`(@/<\[#*-]", plain))


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
    text = " ".join(kept) if len(kept) <= most else " ".join(kept[:most]) + " …"
    return re.sub(r"[:;,]\s+\(?\d{1,2}[.)]$", "", text)  # the number of an item that was left out


def task_of(goal: str, files: Collection[str]) -> str:
    """What kind of task it was: by its files if they are all of a kind, else by the words of the goal."""
    if files and all(path.endswith((".md", ".rst", ".txt")) for path in files):
        return "documentation"
    if files and all(re.search(r"(?:^|/)tests?/|[_.-](?:test|spec)\.", path) for path in files):
        return "test_write"
    return next((name for name, pattern in _TASKS if pattern.search(goal)), "other")
