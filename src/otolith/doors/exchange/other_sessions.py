"""Sessions of agents that write no JSON lines: Gemini CLI's JSON, aider's and SpecStory's Markdown.

Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.jsonl`, a line a message, told again as it grows; earlier
versions wrote one object with all messages (`.json`). aider:
`.aider.chat.history.md`, what the person typed behind `####`, what tools printed behind `>`. SpecStory:
`.specstory/history/*.md`, each turn below `_**User (time)**_` or `_**Agent (model time)**_`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from otolith.doors.exchange.bundle import Bundle, FormatReader
from otolith.doors.exchange.coding_sessions import as_dialog
from otolith.doors.exchange.items import Found, SourceFinding, stamp, words
from otolith.doors.exchange.jsontext import each_element, each_line, first_objects
from otolith.doors.exchange.session_reader import Mark, SessionReader
from otolith.errors import Invalid

_STARTED = re.compile(r"^# aider chat started at (\S+ \S+)\s*$", re.MULTILINE)
_EXIT = re.compile(r"^Exit Code: [1-9]", re.MULTILINE)  # of a command that a program says succeeded
_HEAD = re.compile(r"^_\*\*(User|Agent|Assistant)(?: \(([^()\n]{1,120})\))?\*\*_\s*$", re.MULTILINE)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?Z?")
_TOOL = re.compile(r"<(tool-use|think)\b.*?</\1>|<details>.*?</details>", re.DOTALL)


class GeminiCli(SessionReader):
    source = "gemini-cli"

    def take(self, line: Any, at: int) -> None:
        """The whole session, or one line of it: its head, a message, or what is set anew."""
        if not isinstance(line, dict):
            return
        if "sessionId" in line:
            self.facts |= {"session": words(line["sessionId"]), "started": stamp(line.get("startTime")) or ""}
        several = line.get("messages") or (line.get("$set") or {}).get("messages")
        for place, message in enumerate(several if isinstance(several, list) else [line]):
            if isinstance(message, dict) and "type" in message:
                self._message(message, at + place)

    def _message(self, message: dict[str, Any], at: int) -> None:
        mark = Mark(words(message.get("id")) or f"at-{at}", stamp(message.get("timestamp")), at)
        content = message.get("content")
        text = content if isinstance(content, str) else "\n\n".join(
            words(part.get("text")) for part in content if isinstance(part, dict)
        ) if isinstance(content, list) else ""
        act = {"user": self.said, "gemini": self.answered}.get(str(message.get("type")), self.notice)
        if text.lstrip().startswith("<session_context>"):
            act = self.notice
        act(text, mark)
        calls = message.get("toolCalls")
        for place, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, dict):
                own = mark._replace(key=words(call.get("id")) or f"{mark.key}/{place}")
                self.call(words(call.get("name")), call.get("args"), own)
                printed = _printed(call)
                failed = {"error": True, "success": False}.get(str(call.get("status")))
                failed = True if _EXIT.search(printed) else failed
                self.result(own.key, printed, at, failed)


def _printed(call: dict[str, Any]) -> str:
    """What a call answered: its output as the model got it, else as it was shown."""
    results = call.get("result")
    for result in results if isinstance(results, list) else ():
        answer = result.get("functionResponse") if isinstance(result, dict) else None
        response = answer.get("response") if isinstance(answer, dict) else None
        if isinstance(response, dict) and (output := words(response.get("output"))):
            return output
    shown = call.get("resultDisplay")
    return shown if isinstance(shown, str) else ""


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


def _is_gemini(bundle: Bundle, name: str) -> bool:
    first = first_objects(bundle, name, 1) if name.endswith((".json", ".jsonl")) else []
    return bool(first) and "sessionId" in first[0] and not {"messages", "projectHash"}.isdisjoint(first[0])


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


READERS = {"gemini-cli": _reader(GeminiCli, _is_gemini, _gemini), "aider": _reader(Aider, _is_aider, _aider),
           "specstory": _reader(SpecStory, _is_specstory, _specstory)}
