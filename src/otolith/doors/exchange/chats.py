"""Chats exported by ChatGPT and by Claude.ai: `conversations.json` (an array, numbered parts, or one
conversation a line).

A ChatGPT conversation is a tree of messages, because answers can be regenerated and questions edited; what
the person last saw is the path from `current_node` up to the root, and only that is read. Claude.ai lists
messages in order and may name the current leaf; its remembered summaries (`memories.json`) and project
documents (`projects.json`) become notes. Hidden, system and tool messages and the model's thoughts are left
out; text that was attached stays with its message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from otolith.doors.exchange.bundle import Bundle, FormatReader
from otolith.doors.exchange.items import Dialog, Found, NoteItem, SourceFinding, SourceTurn, stamp, words
from otolith.doors.exchange.jsontext import each_element, each_line, first_objects
from otolith.errors import Invalid

_FILE = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.jsonl?")
_SPOKEN = {"text", "multimodal_text", "code"}
_NAMELESS = {"", "untitled", "new chat", "new conversation"}
_ROLES = {"human": "user", "assistant": "assistant"}


class _Export(NamedTuple):
    """What differs between the two: a conversation's members, and how its turns are reached."""

    source: str
    title: str
    hint: str
    messages: str
    shape: type
    names: tuple[str, str, str]  # of identity, title and time
    turns: Callable[[Mapping[str, Any]], Iterator[SourceTurn]]

    def holds(self, value: object) -> bool:
        return isinstance(value, dict) and isinstance(value.get(self.messages), self.shape)

    def fits(self, bundle: Bundle) -> bool:
        return any(self.holds(first) for name in _files(bundle)[:3]
                   for first in first_objects(bundle, name, 1))

    def read(self, bundle: Bundle) -> Iterator[Found]:
        if not self.fits(bundle):
            raise Invalid(f"{bundle.path.name} is not a {self.title}",
                          hint=f"export it under Settings, {self.hint}")
        for name in _files(bundle):
            for number, value in enumerate(_values(bundle, name), 1):
                if isinstance(value, SourceFinding):
                    yield value
                elif not self.holds(value):
                    yield SourceFinding(where=name, message=f"conversation {number} has no {self.messages}")
                elif dialog := self._dialog(value):
                    yield dialog

    def _dialog(self, conversation: Mapping[str, Any]) -> Dialog | None:
        turns = tuple(self.turns(conversation))
        identity, title, created = (conversation.get(name) for name in self.names)
        identity = words(identity or conversation.get("id"))
        if not turns:
            return None
        name = words(title).strip()
        topic = name if name.casefold() not in _NAMELESS else None  # else what it is about names it
        return Dialog(key=f"{self.source}:{identity or turns[0].key}", source=self.source, turns=turns,
                      topic=topic, title=name or "Untitled", created=stamp(created) or turns[0].ts,
                      session=identity or None)


def _files(bundle: Bundle) -> list[str]:
    if len(bundle.names) == 1:
        return list(bundle.names)
    return [name for name in bundle.names if _FILE.fullmatch(name)]


def _values(bundle: Bundle, name: str) -> Iterator[Any]:
    try:
        if name.endswith(".jsonl"):
            yield from (value for _, _, value in each_line(bundle, name))
        else:
            yield from each_element(bundle.text(name), name)
    except Invalid as error:
        yield SourceFinding(where=name, message=error.message)


def _chatgpt_turns(conversation: Mapping[str, Any]) -> Iterator[SourceTurn]:
    return (turn for node in _chatgpt_path(conversation) if (turn := _chatgpt_turn(node)))


def _chatgpt_path(conversation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The nodes from the root down to the current one; the newest leaf stands in for a missing current
    node.
    """
    mapping = {key: node for key, node in conversation["mapping"].items() if isinstance(node, dict)}
    current = conversation.get("current_node")
    if not isinstance(current, str) or current not in mapping:
        leaves = [key for key, node in mapping.items() if not node.get("children")]
        current = max(leaves, key=lambda key: _chatgpt_time(mapping[key]), default=None)
    path: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while isinstance(current, str) and current in mapping and current not in seen:
        seen.add(current)
        path.append(mapping[current])
        current = mapping[current].get("parent")
    return path[::-1]


def _chatgpt_time(node: Mapping[str, Any]) -> float:
    message = node.get("message")
    when = message.get("create_time") if isinstance(message, dict) else None
    return when if isinstance(when, int | float) else 0.0


def _chatgpt_turn(node: Mapping[str, Any]) -> SourceTurn | None:
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
    text = _chatgpt_text(content)
    return (SourceTurn(role=role, text=text, ts=stamp(message.get("create_time")),
                       key=words(message.get("id")))
            if text else None)


def _chatgpt_text(content: Mapping[str, Any]) -> str:
    parts = content.get("parts")
    if not isinstance(parts, list):
        return words(content.get("text")).strip()
    spoken = []
    for part in parts:
        if isinstance(part, dict):  # a voice turn has its words in `text`; a picture has none
            part = part.get("text") if part.get("content_type") != "image_asset_pointer" else "[image]"
        spoken.append(words(part).strip())
    return "\n\n".join(part for part in spoken if part)


def _claude_turns(conversation: Mapping[str, Any]) -> Iterator[SourceTurn]:
    return (turn for message in _claude_path(conversation) if (turn := _claude_turn(message)))


def _claude_path(conversation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    messages: list[Mapping[str, Any]] = [message for message in conversation["chat_messages"]
                                         if isinstance(message, dict)]
    by_id = {words(message.get("uuid")): message for message in messages}
    current = words(conversation.get("current_leaf_message_uuid"))
    if (current not in by_id or not any(words(message.get("parent_message_uuid")) in by_id
                                        for message in messages)):
        return messages
    path: list[Mapping[str, Any]] = []
    while current in by_id and len(path) < len(messages):
        path.append(by_id[current])
        current = words(by_id[current].get("parent_message_uuid"))
    return path[::-1]


def _claude_turn(message: Mapping[str, Any]) -> SourceTurn | None:
    role = _ROLES.get(str(message.get("sender")))
    blocks = message.get("content")
    said = [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
    spoken = [words(block.get("text")).strip() for block in said if block.get("type") == "text"]
    if not any(spoken):
        spoken = [words(message.get("text")).strip()]
    attached = message.get("attachments")
    for attachment in attached if isinstance(attached, list) else ():
        if isinstance(attachment, dict) and (content := words(attachment.get("extracted_content")).strip()):
            spoken.append(f"[attached: {words(attachment.get('file_name')) or 'text'}]\n{content}")
    text = "\n\n".join(part for part in spoken if part)
    if not role or not text:
        return None
    return SourceTurn(role=role, text=text, ts=stamp(message.get("created_at")),
                      key=words(message.get("uuid")))


def _claude_memories(bundle: Bundle, name: str) -> Iterator[Found]:
    for found in _values(bundle, name):
        if isinstance(found, SourceFinding):
            yield found
        elif isinstance(found, dict):
            whole = {"": found.get("conversations_memory")}
            projects = found.get("project_memories")
            for project, text in (whole | projects if isinstance(projects, dict) else whole).items():
                if words(text).strip():
                    title = f"Claude's memory of project {project}" if project else "Claude's memory"
                    yield NoteItem(key=f"claude:memory:{project}", source="claude", title=title,
                                   text=words(text).strip(), tags=("claude",))


def _claude_projects(bundle: Bundle, name: str) -> Iterator[Found]:
    for project in _values(bundle, name):
        if isinstance(project, SourceFinding):
            yield project
        elif isinstance(project, dict):
            documents = project.get("docs")
            given = [(f"{words(project.get('name'))}: instructions", project.get("prompt_template"), project)]
            for document in documents if isinstance(documents, list) else ():
                if isinstance(document, dict):
                    given.append((words(document.get("filename")), document.get("content"), document))
            for title, text, origin in given:
                if words(text).strip():
                    yield NoteItem(
                        key=f"claude:project:{words(project.get('uuid'))}:{words(origin.get('uuid'))}",
                        source="claude", title=title.strip() or "Untitled", text=words(text).strip(),
                        tags=("claude",), created=stamp(origin.get("created_at")),)


_CHATGPT = _Export("chatgpt", "ChatGPT export", "Data controls", "mapping", dict,
                   ("conversation_id", "title", "create_time"), _chatgpt_turns)
_CLAUDE = _Export("claude", "Claude.ai export", "Privacy", "chat_messages", list,
                  ("uuid", "name", "created_at"), _claude_turns)


def _read_claude(bundle: Bundle) -> Iterator[Found]:
    yield from _CLAUDE.read(bundle)
    for name in bundle.names:
        if name.rpartition("/")[2] == "memories.json":
            yield from _claude_memories(bundle, name)
        elif name.rpartition("/")[2] == "projects.json":
            yield from _claude_projects(bundle, name)


READERS = {"chatgpt": FormatReader(_CHATGPT.fits, _CHATGPT.read),
           "claude": FormatReader(_CLAUDE.fits, _read_claude)}
