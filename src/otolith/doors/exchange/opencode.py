"""opencode's sessions: what `opencode export` writes, and its folder `~/.local/share/opencode/storage`.

An export is one object, `info` and `messages`, each message with its `info` and its `parts`. In the folder
each of them is a file: `session/<project>/<id>.json`, `message/<session>/<id>.json`,
`part/<message>/<id>.json`. A part that opencode put there itself (`synthetic`, `ignored`) is a notice; a
session with a parent is a sub-agent's, of which its caller tells.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from otolith.doors.exchange.bundle import Bundle, FormatReader
from otolith.doors.exchange.coding_sessions import as_dialog
from otolith.doors.exchange.items import Found, SourceFinding, stamp, words
from otolith.doors.exchange.session_reader import Mark, SessionReader
from otolith.errors import Invalid


class OpenCode(SessionReader):
    source = "opencode"

    def take(self, line: Any, at: int) -> None:
        """One message with its parts."""
        info, parts = (line.get("info"), line.get("parts")) if isinstance(line, Mapping) else (None, None)
        if not isinstance(info, Mapping):
            return
        made = _time(info, "created")
        for number, part in enumerate(parts if isinstance(parts, list) else ()):
            if not isinstance(part, Mapping):
                continue
            key = words(part.get("id")) or f"{words(info.get('id')) or f'at-{at}'}/{number}"
            mark = Mark(key, made, at)
            if part.get("type") == "text":
                self._text(words(part.get("text")), mark, info.get("role") == "user",
                           bool(part.get("synthetic") or part.get("ignored")))
            elif part.get("type") == "tool":
                self._tool(part, mark)

    def _text(self, text: str, mark: Mark, user: bool, unspoken: bool) -> None:
        if unspoken:
            self.notice(text, mark)
        elif user:
            self.said(text, mark)
        else:
            self.answered(text, mark)

    def _tool(self, part: Mapping[str, Any], mark: Mark) -> None:
        state = part.get("state")
        if not isinstance(state, Mapping):
            return
        key = words(part.get("callID")) or mark.key
        self.call(words(part.get("tool")), state.get("input"), mark._replace(key=key))
        if state.get("status") in ("completed", "error"):
            failed = state.get("status") == "error"
            self.result(key, words(state.get("error" if failed else "output")), mark.at, failed or None)


def _time(info: Mapping[str, Any], name: str) -> str | None:
    times = info.get("time")
    return stamp(times.get(name)) if isinstance(times, Mapping) else None


def _object(bundle: Bundle, name: str) -> Mapping[str, Any]:
    try:
        value = json.loads(bundle.text(name))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) else {}


def _is_export(bundle: Bundle, name: str) -> bool:
    head = bundle.head(name)
    return name.endswith(".json") and b'"info"' in head and b'"ses' in head


def _stored(bundle: Bundle, kind: str, of: str = "") -> list[str]:
    """The folder's files of a kind, of one session or message; their names are in the order of time."""
    return sorted(name for name in bundle.names
                  if name.removeprefix("storage/").startswith(f"{kind}/{of}") and name.endswith(".json"))


def _fits(bundle: Bundle) -> bool:
    if len(bundle.names) == 1:
        return _is_export(bundle, bundle.names[0])
    return bool(_stored(bundle, "session") and _stored(bundle, "message"))


def _read(bundle: Bundle) -> Iterator[Found]:
    if not _fits(bundle):
        raise Invalid(f"{bundle.path.name} holds no session of opencode",
                      hint="write one with: opencode export SESSION > session.json")
    exported = len(bundle.names) == 1
    for name in bundle.names if exported else _stored(bundle, "session"):
        value = _object(bundle, name)
        info = value.get("info") if exported else value
        if not isinstance(info, Mapping) or not info.get("id"):
            yield SourceFinding(where=name, message="this is no session of opencode; it is left out")
        elif not info.get("parentID"):
            messages = value.get("messages") if exported else _messages(bundle, words(info.get("id")))
            yield from _dialog(info, messages)


def _messages(bundle: Bundle, session: str) -> Iterator[dict[str, Any]]:
    for name in _stored(bundle, "message", f"{session}/"):
        info = _object(bundle, name)
        parts = [_object(bundle, part) for part in _stored(bundle, "part", f"{words(info.get('id'))}/")]
        yield {"info": info, "parts": parts}


def _dialog(info: Mapping[str, Any], messages: Any) -> Iterator[Found]:
    reader = OpenCode()
    reader.facts |= {"session": words(info.get("id")), "title": words(info.get("title")),
                     "folder": words(info.get("directory")).rstrip("/\\")}
    for at, message in enumerate(messages or ()):
        reader.take(message, at)
    session = reader.session()
    if dialog := as_dialog(session, session.session, _time(info, "created")):
        yield dialog


READERS = {"opencode": FormatReader(_fits, _read)}
