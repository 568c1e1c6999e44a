"""Codex's transcripts, "rollouts": one JSONL file a session below `~/.codex/sessions/YYYY/MM/DD/`.

A rollout holds the conversation twice, as events for the screen and as items for the model: of each role the
events are read, in both spellings; only where a role has no event, as in the oldest files, its items are,
without the context that Codex put into them. Calls stand among the items and meet their outputs by call id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from otolith.doors.exchange.bundle import Bundle
from otolith.doors.exchange.items import stamp, words
from otolith.doors.exchange.jsontext import first_objects
from otolith.doors.exchange.session_reader import Mark, SessionReader
from otolith.doors.exchange.tool_calls import unwrap
from otolith.model.events import ANSWERED, SAID

_ROLES = {"user_message": "user", "agent_message": "assistant", "UserMessage": "user",
          "AgentMessage": "assistant"}
_INJECTED = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions|turn_aborted|skills?|INSTRUCTIONS|"
    r"collaboration_mode|user_shell_command|subagent_notification)|# AGENTS\.md instructions)")
_REQUEST = "## My request for Codex:"
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


def is_rollout(bundle: Bundle, name: str) -> bool:
    lines = first_objects(bundle, name, 3)
    if not lines:
        return False
    first = lines[0]
    if first.get("type") in ("session_meta", "response_item", "event_msg", "turn_context"):
        return isinstance(first.get("payload"), dict)
    return {"id", "timestamp", "instructions"} <= first.keys()  # before envelopes


class Codex(SessionReader):
    source = "codex"

    def __init__(self, clean: Any = None) -> None:
        super().__init__(clean)
        self._items: set[str] = set()  # keys of what was read from items
        self._last = ("", "", "")  # role, text and spelling of the last event

    def take(self, line: Any, at: int) -> None:
        if not isinstance(line, dict):
            return
        payload = line["payload"] if isinstance(line.get("payload"), dict) else line
        self._facts(line, payload)
        form, mark = str(payload.get("type")), Mark(f"at-{at}", stamp(line.get("timestamp")), at)
        if line.get("type") == "event_msg":
            self._event(form, payload, mark)
        elif line.get("type") == "compacted":
            self.notice(words(payload.get("message")), mark)
        elif form == "message":
            role, text = str(payload.get("role")), _blocks(payload.get("content"))
            self._speak(role, text, mark, "item")
        elif form in _CALLS:
            given = payload.get("arguments", payload.get("input", payload.get("action")))
            self.call(words(payload.get("name")) or form, _arguments(given),
                      mark._replace(key=words(payload.get("call_id")) or mark.key))
        elif form in _OUTPUTS:
            self.result(words(payload.get("call_id")), unwrap(payload.get("output")), at)

    def _facts(self, line: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        if line.get("type") == "session_meta" or "instructions" in line:
            # A resumed or forked session repeats its parent's meta line after its own; the first one counts.
            self.facts.setdefault("session", words(payload.get("id")))
            self.facts.setdefault("started", stamp(payload.get("timestamp") or line.get("timestamp")) or "")
            if folder := words(payload.get("cwd")).rstrip("/\\"):
                self.facts.setdefault("folder", folder)
        if payload.get("type") == "thread_name_updated":
            self.facts["title"] = words(payload.get("thread_name")).strip()

    def _event(self, form: str, payload: Mapping[str, Any], mark: Mark) -> None:
        item = payload.get("item")
        if form == "turn_aborted":
            self.stopped(words(payload.get("reason")), mark)
        elif form == "exec_command_end" and isinstance(payload.get("exit_code"), int):
            output = payload.get("aggregated_output") or payload.get("stdout") or ""
            self.result(words(payload.get("call_id")), output, mark.at, payload["exit_code"] != 0)
        elif form == "item_completed" and isinstance(item, dict):
            self._item(str(item.get("type")), item, mark)
        elif form in _ROLES:
            self._speak(_ROLES[form], words(payload.get("message")), mark, "message")

    def _item(self, form: str, item: Mapping[str, Any], mark: Mark) -> None:
        own = mark._replace(key=words(item.get("id")) or mark.key)
        if form in _ROLES:
            self._speak(_ROLES[form], _blocks(item.get("content")), mark, "completed")
        elif form == "CommandExecution":
            self.call("exec", {"command": item.get("command")}, own)
            code = item.get("exit_code")
            self.result(own.key, item.get("aggregated_output") or "", mark.at,
                        code != 0 if isinstance(code, int) else None)

    def _speak(self, role: str, text: str, mark: Mark, spelling: str) -> None:
        text = text.partition(_REQUEST)[2].strip() if role == "user" and _REQUEST in text else text.strip()
        if role not in ("user", "assistant") or not text:
            return
        shown = self.facts.setdefault("shown", "").split()  # roles of which there are events
        if _INJECTED.match(text):
            self.notice(text, mark)
            return
        if spelling == "item":
            if role in shown:
                return
            self._items.add(mark.key)
        else:
            if role not in shown:
                self.facts["shown"] = " ".join((*shown, role))
                self._forget_items(SAID if role == "user" else ANSWERED)
            if (role, text) == self._last[:2] and spelling != self._last[2]:
                self._last = ("", "", "")
                return  # an upgrade in the middle of a session writes one turn in both spellings
            self._last = role, text, spelling
        (self.said if role == "user" else self.answered)(text, mark)

    def _forget_items(self, replaced: str) -> None:
        self._events = [(place, event) for place, event in self._events
                        if event.kind != replaced or event.key not in self._items]


def _arguments(given: Any) -> Any:
    if isinstance(given, str) and given.lstrip().startswith("{"):
        try:
            return json.loads(given)
        except (ValueError, RecursionError):
            return given
    return given


def _blocks(content: object) -> str:
    if isinstance(content, str):
        return words(content)
    parts = ((words(block.get("text")) for block in content if isinstance(block, dict))
             if isinstance(content, list) else ())
    return "\n\n".join(part.strip() for part in parts if part.strip() and not _INJECTED.match(part))
