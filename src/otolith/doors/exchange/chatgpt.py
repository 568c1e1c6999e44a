"""ChatGPT data exports: `conversations.json`, or `conversations-000.json`, `-001`, … in newer and larger
ones.

A conversation is a tree of messages, because answers can be regenerated and questions edited. What the person
last saw is the path from `current_node` up to the root; only that path is read. Hidden, system and tool
messages and the model's thoughts are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from otolith.doors.exchange.bundle import Bundle
from otolith.doors.exchange.items import Dialog, Finding, Found, Turn, stamp, words
from otolith.doors.exchange.jsontext import each_element, first_objects
from otolith.errors import Invalid

SOURCE = "chatgpt"
_FILE = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json")
_SPOKEN = {"text", "multimodal_text", "code"}


def fits(bundle: Bundle) -> bool:
    """Whether the conversations in it are message trees."""
    return any(_is_conversation(first) for name in _files(bundle)[:3]
               for first in first_objects(bundle, name, 1))


def read(bundle: Bundle) -> Iterator[Found]:
    files = _files(bundle)
    if not fits(bundle):
        raise Invalid(f"{bundle.path.name} is not a ChatGPT export",
                      hint="export it under Settings, Data controls")
    for name in files:
        try:
            text = bundle.text(name)
        except Invalid as error:
            yield Finding(where=name, message=error.message)
            continue
        for number, found in enumerate(each_element(text, name), 1):
            if isinstance(found, Finding):
                yield found
            elif not _is_conversation(found):
                yield Finding(where=name, message=f"conversation {number} is not a message tree")
            elif dialog := _dialog(found):
                yield dialog


def _files(bundle: Bundle) -> list[str]:
    if len(bundle.names) == 1:
        return list(bundle.names)
    return [name for name in bundle.names if _FILE.fullmatch(name)]


def _is_conversation(found: object) -> bool:
    return isinstance(found, dict) and isinstance(found.get("mapping"), dict)


def _dialog(conversation: Mapping[str, Any]) -> Dialog | None:
    turns = tuple(turn for node in _path(conversation) if (turn := _turn(node)))
    identity = words(conversation.get("conversation_id") or conversation.get("id"))
    if not turns:
        return None
    return Dialog(key=f"{SOURCE}:{identity or turns[0].key}", source=SOURCE,
                  title=words(conversation.get("title")).strip() or "Untitled",
                  started=stamp(conversation.get("create_time")) or turns[0].ts, session=identity or None,
                  turns=turns)


def _path(conversation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The nodes from the root down to the current one; the newest leaf stands in for a missing current
    node.
    """
    mapping = {key: node for key, node in conversation["mapping"].items() if isinstance(node, dict)}
    current = conversation.get("current_node")
    if not isinstance(current, str) or current not in mapping:
        leaves = [key for key, node in mapping.items() if not node.get("children")]
        current = max(leaves, key=lambda key: _time(mapping[key]), default=None)
    path: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while isinstance(current, str) and current in mapping and current not in seen:
        seen.add(current)
        path.append(mapping[current])
        current = mapping[current].get("parent")
    return path[::-1]


def _time(node: Mapping[str, Any]) -> float:
    message = node.get("message")
    when = message.get("create_time") if isinstance(message, dict) else None
    return when if isinstance(when, int | float) else 0.0


def _turn(node: Mapping[str, Any]) -> Turn | None:
    message = node.get("message")
    if not isinstance(message, dict):
        return None
    author, content, metadata = (message.get(part) or {} for part in ("author", "content", "metadata"))
    if not all(isinstance(part, dict) for part in (author, content, metadata)):
        return None
    role = author.get("role")
    hidden = (metadata.get("is_visually_hidden_from_conversation")
              or message.get("recipient") not in (None, "all"))
    if role not in ("user", "assistant") or hidden or str(content.get("content_type")) not in _SPOKEN:
        return None
    text = _text(content)
    return (Turn(role=role, text=text, ts=stamp(message.get("create_time")), key=words(message.get("id")))
            if text else None)


def _text(content: Mapping[str, Any]) -> str:
    parts = content.get("parts")
    if not isinstance(parts, list):
        return words(content.get("text")).strip()
    spoken = []
    for part in parts:
        if isinstance(part, dict):  # a voice turn has its words in `text`; a picture has none
            part = part.get("text") if part.get("content_type") != "image_asset_pointer" else "[image]"
        spoken.append(words(part).strip())
    return "\n\n".join(part for part in spoken if part)
