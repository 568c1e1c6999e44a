"""What happened in a session with an agent, whatever program wrote its transcript.

A reader of transcripts makes events; the entry keeps what was said and answered word for word, what users say
to agents becomes memos, what agents did becomes works. Nothing here reads a file.
"""

from __future__ import annotations

from typing import NamedTuple

SAID, ANSWERED, CALLED, STOPPED, NOTICE = "said", "answered", "called", "stopped", "notice"

SOURCES = ("claude-code", "codex", "gemini-cli", "opencode", "aider", "specstory")  # programs of agents
ROLES = {SAID: "user", ANSWERED: "assistant"}  # of the events that are turns of a dialog


class Part(NamedTuple):
    """A stretch of what a person sent: their own words, or something pasted and of which form."""

    text: str
    pasted: str = ""  # empty: their own words; else log, trace, table, diff, code, mail, document, quote


class Call(NamedTuple):
    """One use of a tool and what came of it. A call that was told without its result is told again with it,
    under the same key.
    """

    tool: str
    operation: str  # read, edit, create, delete, run, search, other
    files: tuple[str, ...] = ()  # as the program named them
    command: str = ""
    edits: tuple[tuple[str, str, str], ...] = ()  # path, old text, new text
    ok: bool | None = None  # None: nobody knows (yet), or it never ran because the person turned it down
    result: str = ""  # what the tool answered; of a long one its first and last lines


class Event(NamedTuple):
    """One thing that happened: said by the person, answered by the agent, called, stopped by the person, or a
    notice of the program (a slash command, a reminder, a summary), which nobody said.
    """

    kind: str
    key: str  # its own in the session: the program's uuid, else its place in the file
    ts: str | None = None
    text: str = ""  # word for word, without what was recalled into it
    parts: tuple[Part, ...] = ()  # of what was said
    call: Call | None = None
    by: str = ""  # the sub-agent, if one did it


class Session(NamedTuple):
    """A session, or what is new of it."""

    source: str  # claude-code, codex, gemini-cli, opencode, aider, specstory
    session: str
    events: tuple[Event, ...]
    folder: str = ""  # where the agent worked
    title: str = ""
    fresh: int = 0  # events before this one were told before; they only belong to the request that goes on


def spoken(session: Session) -> list[Event]:
    """What is new of what the person and the agent said, without what sub-agents did."""
    return [event for event in session.events[session.fresh :] if event.kind in ROLES and not event.by]


def own_words(event: Event) -> str:
    """What the person said in their own words, without what they pasted."""
    return "\n\n".join(part.text for part in event.parts if not part.pasted).strip()
