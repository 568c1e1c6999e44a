"""Gemini CLI's sessions: `~/.gemini/tmp/<project>/chats/session-*.jsonl`, a line a message.

A message is told again as it grows, and all of them when a session is resumed; each has an id of its own.
What hooks added stands in the person's message, between `hook_context`, with its signs escaped.
"""

from __future__ import annotations

import re
from typing import Any

from otolith.doors.exchange.bundle import Bundle
from otolith.doors.exchange.items import stamp, words
from otolith.doors.exchange.jsontext import first_objects
from otolith.doors.exchange.session_reader import Mark, SessionReader

_EXIT = re.compile(r"^Exit Code: [1-9]", re.MULTILINE)  # of a command that the program says succeeded
_HOOKED = re.compile(r"<hook_context>.*?</hook_context>\s*", re.DOTALL)


def is_chat(bundle: Bundle, name: str) -> bool:
    first = first_objects(bundle, name, 1) if name.endswith((".json", ".jsonl")) else []
    return bool(first) and "sessionId" in first[0] and not {"messages", "projectHash"}.isdisjoint(first[0])


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
        text = _HOOKED.sub("", text)
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
