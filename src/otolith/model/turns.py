"""Turns as text: a dialog read from any common writing, and written as raw.md has it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from otolith.errors import Invalid
from otolith.model.dialog import ROLES, Turn
from otolith.model.times import parse_time, zulu

_OURS = re.compile(r"^### (?P<speaker>[^\n·]{1,80}?)(?: · (?P<ts>[0-9][0-9T:.Z+-]{3,40}))?[ \t]*$", re.MULTILINE)
_BOLD = re.compile(r"^\*\*(?P<speaker>[^*\n:]{1,60})(?::\*\*|\*\*:)(?P<ts>)[ \t]*", re.MULTILINE)
_PLAIN = re.compile(
    r"^(?P<speaker>(?:[A-Z][\w.'’-]{0,30}(?: [A-Z][\w.'’-]{0,30}){0,2}|user|assistant|system|tool|human))"
    r"(?: \[(?P<ts>[0-9][0-9T:.Z+-]{3,40})\])?:[ \t]+", re.MULTILINE)
_ROLE_NAMES = {
    "user": "user", "human": "user", "me": "user", "you": "user", "assistant": "assistant", "ai": "assistant",
    "agent": "assistant", "claude": "assistant", "chatgpt": "assistant", "gpt": "assistant", "codex": "assistant",
    "gemini": "assistant", "bot": "assistant", "model": "assistant", "system": "system", "developer": "system",
    "tool": "tool", "function": "tool",
}


def role_of(speaker: str) -> str:
    """The role a speaker's name stands for; any other name is a person."""
    return _ROLE_NAMES.get(speaker.strip().casefold(), "user")


def read_turns(raw: str, roles: Mapping[str, str] | None = None) -> list[Turn]:
    """The turns of a dialog's text, in order, numbered from 1."""
    known = roles or {}
    first = {style: found.start() for style in (_OURS, _BOLD, _PLAIN) if (found := style.search(raw))}
    if not first:
        body = raw.strip()
        return [Turn(1, "", "user", body, None, 0, len(raw))] if body else []
    style = min(first, key=lambda style: first[style])
    heads = list(style.finditer(raw))
    turns = []
    if raw[: heads[0].start()].strip():
        turns.append(Turn(1, "", "other", raw[: heads[0].start()].strip(), None, 0, heads[0].start()))
    for at, head in enumerate(heads):
        stop = heads[at + 1].start() if at + 1 < len(heads) else len(raw)
        said = raw[head.end() : stop].strip()
        if style is _OURS:
            said = re.sub(r"^\\(?=\\*### )", "", said, flags=re.MULTILINE)
        speaker = head["speaker"].strip()
        turns.append(Turn(len(turns) + 1, speaker, known.get(speaker, role_of(speaker)), said,
                          head["ts"] or None, head.start(), stop))
    return turns


def read_messages(text: str) -> list[dict[str, Any]] | None:
    """The messages in a JSON text: a list, an object that holds one, or an object a line, as transcripts are
    written.

    None if the text is anything else: then it is the dialog itself.
    """
    opening = text.lstrip("\ufeff \t\r\n")[:1]
    if opening not in ("[", "{"):
        return None
    import json

    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        try:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            return None
    if isinstance(found, Mapping):
        found = next((found[key] for key in ("messages", "turns", "dialog", "conversation") if key in found), [found])
    if not isinstance(found, list):
        return None
    messages = [message for one in found if isinstance(one, Mapping) and (message := as_message(one))["content"]]
    return messages or None


def as_message(given: Mapping[str, Any]) -> dict[str, Any]:
    """A message of any common writing as role, name, content and ts; of a list of parts only the text is kept."""
    inner = given["message"] if isinstance(given.get("message"), Mapping) else given
    said = next((inner[key] for key in ("content", "text", "value", "message") if inner.get(key)), "")
    if isinstance(said, list | tuple):
        parts = [part if isinstance(part, str) else part.get("text", "") if isinstance(part, Mapping) else "" for part in said]
        said = "\n\n".join(part for part in parts if isinstance(part, str) and part)
    speaker = inner.get("name") or inner.get("speaker") or inner.get("author")
    role = inner.get("role") or inner.get("from") or given.get("type") or "user"
    return {"role": str(role), "name": speaker if isinstance(speaker, str) else None,
            "content": said if isinstance(said, str) else "",
            "ts": next((given[key] for key in ("ts", "timestamp", "time", "created_at") if given.get(key)), None)}


def write_turns(messages: Iterable[Mapping[str, Any]]) -> tuple[str, dict[str, str]]:
    """A list of messages as raw.md, and the roles that the speakers' names do not tell."""
    blocks, roles = [], {}
    for at, message in enumerate(messages):
        if not isinstance(message, Mapping) or not isinstance(message.get("content"), str):
            raise Invalid(f"message {at + 1} must be an object with role and content")
        role = str(message.get("role", "user"))
        speaker = " ".join(str(message.get("name") or role).replace("·", "-").split())[:80] or role
        kind = role if role in ROLES else _ROLE_NAMES.get(role.casefold(), "other")
        if role_of(speaker) != kind:
            roles[speaker] = kind
        when = message.get("ts") or message.get("timestamp")
        stamp = f" · {zulu(parse_time(when, 'ts'))}" if when else ""
        said = re.sub(r"^(?=\\*### )", r"\\", message["content"], flags=re.MULTILINE)
        blocks.append(f"### {speaker}{stamp}\n\n{said}\n")
    return "\n".join(blocks), roles
