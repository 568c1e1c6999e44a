"""Sessions that are imported and never read while they run: Gemini CLI's as one object, aider's and
SpecStory's Markdown.

Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.json`, as earlier versions wrote it. aider:
`.aider.chat.history.md`, what the person typed behind `####`, what tools printed behind `>`. SpecStory:
`.specstory/history/*.md`, each turn below `_**User (time)**_` or `_**Agent (model time)**_`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from otolith.doors.exchange.bundle import Bundle, FormatReader
from otolith.doors.exchange.coding_sessions import as_dialog
from otolith.doors.exchange.gemini_cli import GeminiCli, is_chat
from otolith.doors.exchange.items import Found, SourceFinding, stamp
from otolith.doors.exchange.jsontext import each_element, each_line
from otolith.doors.exchange.session_reader import Mark, SessionReader
from otolith.errors import Invalid

_STARTED = re.compile(r"^# aider chat started at (\S+ \S+)\s*$", re.MULTILINE)
_HEAD = re.compile(r"^_\*\*(User|Agent|Assistant)(?: \(([^()\n]{1,120})\))?\*\*_\s*$", re.MULTILINE)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?Z?")
_TOOL = re.compile(r"<(tool-use|think)\b.*?</\1>|<details>.*?</details>", re.DOTALL)


class Aider(SessionReader):
    source = "aider"

    def take(self, line: Any, at: int) -> None:
        """One chat: its time and its text."""
        started, text = line
        self.facts |= {"session": started, "started": stamp(started.replace(" ", "T")) or ""}
        block, typed = list[str](), False
        for place, row in enumerate([*text.splitlines(), "#### "], at):
            if row.startswith(">"):
                continue
            asks = row.startswith("#### ")
            if asks != typed or row == "#### ":
                mark = Mark(f"at-{place}", self.facts["started"] or None, place)
                (self.said if typed else self.answered)("\n".join(block), mark)
                block, typed = [], asks
            block.append(row.removeprefix("#### "))


class SpecStory(SessionReader):
    source = "specstory"

    def take(self, line: Any, at: int) -> None:
        """One file's text."""
        heads = list(_HEAD.finditer(line))
        for head, stop in zip(heads, [*(later.start() for later in heads[1:]), len(line)], strict=True):
            time = _TIME.search(head[2] or "")
            when = stamp(time[0].replace(" ", "T")) if time else None
            mark = Mark(f"at-{at + head.start()}", when, head.start())
            text = _TOOL.sub("", line[head.end() : stop]).strip().removesuffix("---").strip()
            (self.said if head[1] == "User" else self.answered)(text, mark)


def _is_aider(bundle: Bundle, name: str) -> bool:
    return name.endswith(".md") and bool(_STARTED.search(bundle.head(name).decode("utf-8", "replace")))


def _is_specstory(bundle: Bundle, name: str) -> bool:
    return name.endswith(".md") and bool(_HEAD.search(bundle.head(name).decode("utf-8", "replace")))


def _gemini(bundle: Bundle, name: str) -> Iterator[tuple[str, Any]]:
    if name.endswith(".jsonl"):
        yield name, [line for _, _, line in each_line(bundle, name) if not isinstance(line, SourceFinding)]
    else:
        yield from ((name, value) for value in each_element(bundle.text(name), name))


def _aider(bundle: Bundle, name: str) -> Iterator[tuple[str, Any]]:
    _, *parts = _STARTED.split(bundle.text(name))
    yield from ((started, (started, text)) for started, text in zip(parts[::2], parts[1::2], strict=True))


def _specstory(bundle: Bundle, name: str) -> Iterator[tuple[str, Any]]:
    yield name.rpartition("/")[2].removesuffix(".md"), bundle.text(name)


def _reader(reader: type[SessionReader], is_one: Callable[[Bundle, str], bool],
            parts: Callable[[Bundle, str], Iterator[tuple[str, Any]]]) -> FormatReader:
    def fits(bundle: Bundle) -> bool:
        return any(is_one(bundle, name) for name in bundle.names[:50])

    def read(bundle: Bundle) -> Iterator[Found]:
        files = [name for name in bundle.names if is_one(bundle, name)]
        if not files:
            raise Invalid(f"{bundle.path.name} holds no session of {reader.source}")
        for name in files:
            for session, part in parts(bundle, name):
                if isinstance(part, SourceFinding):
                    yield part
                    continue
                reading = reader()
                for place, line in enumerate(part if isinstance(part, list) else [part]):
                    reading.take(line, place)
                own = reading.session()
                if dialog := as_dialog(own, own.session or session, reading.facts.get("started")):
                    yield dialog

    return FormatReader(fits, read)


READERS = {"gemini-cli": _reader(GeminiCli, is_chat, _gemini), "aider": _reader(Aider, _is_aider, _aider),
           "specstory": _reader(SpecStory, _is_specstory, _specstory)}
