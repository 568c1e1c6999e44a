"""Turns as text: a dialog read from any common writing, and written as raw.md has it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from otolith.errors import Invalid
from otolith.model.dialog import ROLES, Turn
from otolith.model.times import parse_time, zulu

_TS = r"(?P<ts>[0-9][0-9T:.Z+-]{3,40})"
_OURS = re.compile(rf"^### (?P<speaker>[^\n·]{{1,80}}?)(?: · {_TS})?[ \t]*$", re.MULTILINE)
_BOLD = re.compile(r"^\*\*(?P<speaker>[^*\n:]{1,60})(?::\*\*|\*\*:)(?P<ts>)[ \t]*", re.MULTILINE)
_PLAIN = re.compile(
    r"^(?P<speaker>(?:[A-Z][\w.'’-]{0,30}(?: [A-Z][\w.'’-]{0,30}){0,2}|user|assistant|system|tool|human))"
    rf"(?: \[{_TS}\])?:[ \t]+", re.MULTILINE)
_TITLED = re.compile(r"^##? \S", re.MULTILINE)  # the headings of a document, which our turns do not have
_ROLE_NAMES = {name: role for role, names in (
    ("user", "user human me you"), ("system", "system developer"), ("tool", "tool function"),
    ("assistant", "assistant ai agent claude chatgpt gpt codex gemini bot model")) for name in names.split()}


def role_of(speaker: str) -> str:
    """The role a speaker's name stands for; any other name is a person."""
    return _ROLE_NAMES.get(speaker.strip().casefold(), "user")


def read_turns(raw: str, roles: Mapping[str, str] | None = None) -> list[Turn]:
    """The turns of a dialog's text, in order, numbered from 1."""
    roles = roles or {}
    titled = _TITLED.search(raw)
    styles = [style for style in (_OURS, _BOLD, _PLAIN) if not titled or _speaks(style, raw, roles)]
    first = {style: head.start() for style in styles if (head := style.search(raw))}
    if not first:
        body = raw.strip()
        return [Turn(1, "", "user", body, None, 0, len(raw))] if body else []
    style = min(first, key=lambda style: first[style])
    heads = list(style.finditer(raw))
    before = heads[0].start()
    turns = [Turn(1, "", "other", raw[:before].strip(), None, 0, before)] if raw[:before].strip() else []
    for head, stop in zip(heads, [*(head.start() for head in heads[1:]), len(raw)], strict=True):
        text, speaker = raw[head.end() : stop].strip(), head["speaker"].strip()
        if style is _OURS:
            text = re.sub(r"^\\(?=\\*### )", "", text, flags=re.MULTILINE)
        role = roles.get(speaker, role_of(speaker))
        turns.append(Turn(len(turns) + 1, speaker, role, text, head["ts"] or None, head.start(), stop))
    return turns


def _speaks(style: re.Pattern[str], raw: str, roles: Mapping[str, str]) -> bool:
    """Whether what looks like speakers in a text with headings are some: one has a time, a role's name, or
    speaks again.
    """
    heads = [(head["speaker"].strip(), head["ts"]) for head in style.finditer(raw)]
    names = [name for name, _ in heads]
    return len(set(names)) < len(names) or any(
        ts or name in roles or name.casefold() in _ROLE_NAMES for name, ts in heads)


def read_messages(text: str) -> list[dict[str, Any]] | None:
    """The messages in a JSON text: a list, an object that holds one, or an object a line, as in transcripts.

    None if the text is anything else: then it is the dialog itself.
    """
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("[", "{"):
        return None
    import json

    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        try:
            data = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            return None
    if isinstance(data, Mapping):
        keys = ("messages", "turns", "dialog", "conversation")
        data = next((data[key] for key in keys if key in data), [data])
    if not isinstance(data, list):
        return None
    messages = [as_message(item) for item in data if isinstance(item, Mapping)]
    return [message for message in messages if message["content"]] or None


def as_message(item: Mapping[str, Any]) -> dict[str, Any]:
    """A message of any common writing as role, name, content and ts; of a list of parts the text is kept."""
    inner = item["message"] if isinstance(item.get("message"), Mapping) else item
    content = _first(inner, "content", "text", "value", "message")
    if isinstance(content, list | tuple):
        parts = [part.get("text", "") if isinstance(part, Mapping) else part for part in content]
        content = "\n\n".join(part for part in parts if isinstance(part, str) and part)
    name = _first(inner, "name", "speaker", "author")
    return {"role": str(_first(inner, "role", "from") or item.get("type") or "user"),
            "name": name if isinstance(name, str) else None,
            "content": content if isinstance(content, str) else "",
            "ts": _first(item, "ts", "timestamp", "time", "created_at")}


def _first(item: Mapping[str, Any], *keys: str) -> Any:
    return next((item[key] for key in keys if item.get(key)), None)


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
        content = re.sub(r"^(?=\\*### )", r"\\", message["content"], flags=re.MULTILINE)
        blocks.append(f"### {speaker}{stamp}\n\n{content}\n")
    return "\n".join(blocks), roles
