"""What every reader of transcripts shares: events are collected in order, and calls meet their results.

A reader takes one line or message after another and calls `said`, `answered`, `call`, `result`, `stopped` and
`notice`. Each event has the place in the file where it became whole: a call belongs to where its result
stands, so that a result in a part that is read later makes the call new.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from otolith.doors.exchange.items import words
from otolith.doors.exchange.tool_calls import describe, resolve
from otolith.model.events import ANSWERED, CALLED, NOTICE, SAID, STOPPED, Event, Session
from otolith.model.pasted import split_parts
from otolith.model.text import first_sentence, unfence

Clean = Callable[[str], str]
_EMPTY_ANSWERS = {"No response requested.", "(no content)"}
_LOOKS_WRITTEN = re.compile(r"^#{1,6} +\S", re.MULTILINE)


class Mark(NamedTuple):
    """Where something stands in a transcript: its own key, its time, its place in the file, which sub-agent
    did it.
    """

    key: str
    ts: str | None
    at: int
    by: str = ""


class SessionReader:
    """The events of one transcript, as far as it has been read. `clean` takes out of every text what must not
    be kept.
    """

    source = ""

    def __init__(self, clean: Clean | None = None) -> None:
        self._clean = clean or (lambda text: text)
        self._events: list[tuple[int, Event]] = []
        self._calls: dict[str, tuple[int, Event]] = {}  # without a result so far
        self._keys: set[str] = set()
        self._after_command = False  # a slash command stands before, and what it expands to may follow
        self.facts: dict[str, str] = {}  # session, folder, titles

    def take(self, line: Any, at: int) -> None:
        """Take one line in; what is no line of this form is passed over."""
        raise NotImplementedError

    # What readers call

    def said(self, text: str, mark: Mark) -> None:
        """What the person sent; a document right behind a slash command is what that expanded to."""
        text = self._clean(unfence(words(text))).strip()
        if not text:
            return
        if mark.by or (self._after_command and _LOOKS_WRITTEN.search(text)):
            self._add(Event(NOTICE, mark.key, mark.ts, text, by=mark.by), mark.at)
        else:
            self._add(Event(SAID, mark.key, mark.ts, text, parts=split_parts(text)), mark.at)
        self._after_command = False

    def answered(self, text: str, mark: Mark) -> None:
        self._after_command = False
        if text := self._clean(unfence(words(text))).strip():
            kind = NOTICE if text in _EMPTY_ANSWERS else ANSWERED
            self._add(Event(kind, mark.key, mark.ts, text, by=mark.by), mark.at)

    def go_on(self, text: str) -> None:
        """More of the last answer, which the program wrote in several blocks."""
        place = next(n for n in reversed(range(len(self._events))) if self._events[n][1].kind == ANSWERED)
        at, event = self._events[place]
        if more := self._clean(unfence(words(text))).strip():
            self._events[place] = (at, event._replace(text=f"{event.text}\n\n{more}"))

    def notice(self, text: str, mark: Mark, *, command: bool = False) -> None:
        self._after_command = command
        if text := self._clean(words(text)).strip():
            self._add(Event(NOTICE, mark.key, mark.ts, text, by=mark.by), mark.at)

    def stopped(self, text: str, mark: Mark) -> None:
        """The person stopped the agent; a program may say so of the call and of the request."""
        if self._events and self._events[-1][1].kind == STOPPED:
            return
        self._add(Event(STOPPED, mark.key, mark.ts, self._clean(words(text)).strip(), by=mark.by), mark.at)

    def call(self, tool: str, given: Any, mark: Mark) -> None:
        self._after_command = False
        if mark.key not in self._keys and mark.key not in self._calls:
            self._calls[mark.key] = mark.at, Event(CALLED, mark.key, mark.ts, call=describe(tool, given),
                                                   by=mark.by)

    def result(self, key: str, answer: Any, at: int, failed: bool | None = None, *, ran: bool = True) -> None:
        """What came of a call; of one that nobody knows it is nothing. One that never ran did not fail."""
        if key in self._calls:
            event = self._calls.pop(key)[1]
            assert event.call is not None
            call = resolve(event.call, answer, failed)
            self._add(event._replace(call=self._cleaned(call if ran else call._replace(ok=None))), at)

    def _cleaned(self, call: Any) -> Any:
        return call._replace(command=self._clean(call.command), result=self._clean(call.result),
                             edits=tuple((path, self._clean(old), self._clean(new))
                                         for path, old, new in call.edits))

    def _add(self, event: Event, at: int) -> None:
        if event.key not in self._keys:
            self._keys.add(event.key)
            self._events.append((at, event))

    # What was read

    def places(self) -> list[tuple[int, Event]]:
        """Every event with its place; a call that still waits stands where it was made, behind the others."""
        waiting = [(at, event._replace(call=self._cleaned(event.call))) for at, event in self._calls.values()]
        return [*self._events, *waiting]

    def session(self, name: str = "", before: int = 0) -> Session:
        """The session; what became whole before a place was told before."""
        events = self.places()
        old = [event for at, event in events if at < before]
        fresh = [event for at, event in events if at >= before]
        spoken = next((event.text for event in (*old, *fresh) if event.kind == SAID), "")
        title = next((self.facts[key] for key in ("custom-title", "title", "ai-title", "summary")
                      if self.facts.get(key)), "") or first_sentence(spoken)
        return Session(self.source, name or self.facts.get("session", ""), (*old, *fresh),
                       folder=self.facts.get("folder", ""), title=title, fresh=len(old))

    def resume_at(self, end: int) -> int:
        """From where to read next time: the request that goes on, and calls that still wait for an answer."""
        asked = [at for at, event in self._events if event.kind == SAID][-1:]
        return min([*asked, *(at for at, _ in self._calls.values()), end])
