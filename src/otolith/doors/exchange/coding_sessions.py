"""Transcripts of coding agents: which program wrote a file, its events, and the dialog that an import takes.

Each program has a reader of its own; what the person typed and what was answered in words are turns, all else
is left to whoever reads the events. A transcript that is still being written is read up to its last whole
line, and every turn carries its own key, so that the same transcript seen again adds only what is new.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from otolith.doors.exchange.bundle import Bundle, FormatReader
from otolith.doors.exchange.claude_code import ClaudeCode, is_transcript
from otolith.doors.exchange.codex import Codex, is_rollout
from otolith.doors.exchange.gemini_cli import GeminiCli, is_chat
from otolith.doors.exchange.items import Dialog, Found, SourceFinding, SourceTurn
from otolith.doors.exchange.jsontext import each_line
from otolith.doors.exchange.session_reader import SessionReader
from otolith.errors import Invalid
from otolith.model.events import ROLES, Session, spoken


class Transcript(NamedTuple):
    """One program's form of transcript: how it is told from others, and who reads it."""

    source: str
    title: str
    folder: str
    is_one: Callable[[Bundle, str], bool]
    reader: type[SessionReader]

    def fits(self, bundle: Bundle) -> bool:
        return any(self.is_one(bundle, name) for name in _files(bundle)[:50])

    def read(self, bundle: Bundle) -> Iterator[Found]:
        """The findings of each file, then its dialog."""
        files = [name for name in _files(bundle) if self.is_one(bundle, name)]
        if not files:
            raise Invalid(f"{bundle.path.name} is not a {self.title} transcript",
                          hint=f"they lie in {self.folder}")
        for name in files:
            reader = self.reader()
            for _, at, line in each_line(bundle, name):
                if isinstance(line, SourceFinding):
                    yield line
                else:
                    reader.take(line, at)
            session = reader.session()
            if dialog := as_dialog(session, session.session or name.rpartition("/")[2].removesuffix(".jsonl"),
                                   reader.facts.get("started")):
                yield dialog


def _files(bundle: Bundle) -> list[str]:
    return (list(bundle.names) if len(bundle.names) == 1
            else [name for name in bundle.names if name.endswith(".jsonl")])


def as_dialog(session: Session, name: str, started: str | None = None) -> Dialog | None:
    """The session as an import takes it; None if nobody said anything."""
    turns = tuple(SourceTurn(role=ROLES[event.kind], text=event.text, ts=event.ts, key=event.key)
                  for event in spoken(session))
    project = re.split(r"[/\\]", session.folder)[-1] or None
    return Dialog(key=f"{session.source}:{name}", source=session.source, title=session.title, session=name,
                  created=started or turns[0].ts, project=project, turns=turns) if turns else None


CLAUDE_CODE = Transcript("claude-code", "Claude Code", "~/.claude/projects", is_transcript, ClaudeCode)
CODEX = Transcript("codex", "Codex", "~/.codex/sessions", is_rollout, Codex)
GEMINI_CLI = Transcript("gemini-cli", "Gemini CLI", "~/.gemini/tmp", is_chat, GeminiCli)
FORMS = (CODEX, GEMINI_CLI, CLAUDE_CODE)  # what hooks read while it grows
READERS = {form.source: FormatReader(form.fits, form.read) for form in (CODEX, CLAUDE_CODE)}
