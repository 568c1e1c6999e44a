"""Claude.ai data exports: `conversations.json` (an array, or one conversation a line), `memories.json`,
`projects.json`.

Messages come in order with `sender` human or assistant; where the export says which leaf was current, only
the path to it is read. Thoughts and tool calls are left out; what was attached as text stays with the
message. The remembered summaries and the project documents become notes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from otolith.doors.exchange.bundle import Bundle
from otolith.doors.exchange.items import Dialog, Finding, Found, NoteItem, Turn, stamp, words
from otolith.doors.exchange.jsontext import each_element, each_line, first_objects
from otolith.errors import Invalid

SOURCE = "claude"
_FILE = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.jsonl?")
_ROLES = {"human": "user", "assistant": "assistant"}


def fits(bundle: Bundle) -> bool:
    """Whether the conversations in it are lists of chat messages."""
    return any(_is_conversation(first) for name in _files(bundle)[:3]
               for first in first_objects(bundle, name, 1))


def read(bundle: Bundle) -> Iterator[Found]:
    if not fits(bundle):
        raise Invalid(f"{bundle.path.name} is not a Claude.ai export",
                      hint="export it under Settings, Privacy")
    for name in _files(bundle):
        for found in _values(bundle, name):
            if isinstance(found, Finding):
                yield found
            elif not _is_conversation(found):
                yield Finding(where=name, message="one conversation has no chat_messages")
            elif dialog := _dialog(found):
                yield dialog
    for name in bundle.names:
        if name.rpartition("/")[2] == "memories.json":
            yield from _memories(bundle, name)
        elif name.rpartition("/")[2] == "projects.json":
            yield from _projects(bundle, name)


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
        yield Finding(where=name, message=error.message)


def _is_conversation(found: object) -> bool:
    return isinstance(found, dict) and isinstance(found.get("chat_messages"), list)


def _dialog(conversation: Mapping[str, Any]) -> Dialog | None:
    turns = tuple(turn for message in _path(conversation) if (turn := _turn(message)))
    if not turns:
        return None
    identity = words(conversation.get("uuid"))
    return Dialog(key=f"{SOURCE}:{identity or turns[0].key}", source=SOURCE,
                  title=words(conversation.get("name")).strip() or "Untitled",
                  started=stamp(conversation.get("created_at")) or turns[0].ts, session=identity or None,
                  turns=turns)


def _path(conversation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
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


def _turn(message: Mapping[str, Any]) -> Turn | None:
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
    return Turn(role=role, text=text, ts=stamp(message.get("created_at")), key=words(message.get("uuid")))


def _memories(bundle: Bundle, name: str) -> Iterator[Found]:
    for found in _values(bundle, name):
        if isinstance(found, Finding):
            yield found
        elif isinstance(found, dict):
            whole = {"": found.get("conversations_memory")}
            projects = found.get("project_memories")
            for project, text in (whole | projects if isinstance(projects, dict) else whole).items():
                if words(text).strip():
                    title = f"Claude's memory of project {project}" if project else "Claude's memory"
                    yield NoteItem(key=f"{SOURCE}:memory:{project}", source=SOURCE, title=title,
                                   text=words(text).strip(), tags=("claude",))


def _projects(bundle: Bundle, name: str) -> Iterator[Found]:
    for project in _values(bundle, name):
        if isinstance(project, Finding):
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
                        key=f"{SOURCE}:project:{words(project.get('uuid'))}:{words(origin.get('uuid'))}",
                        source=SOURCE,
                        title=title.strip() or "Untitled",
                        text=words(text).strip(),
                        tags=("claude",),
                        created=stamp(origin.get("created_at")),
                    )
