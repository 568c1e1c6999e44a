"""Codex transcripts ("rollouts"): one JSONL file a session, under `~/.codex/sessions/YYYY/MM/DD/`.

A rollout holds the same conversation twice: as events for the screen and as items for the model. The events
are read, in both their spellings (`user_message`, and `item_completed` with a `UserMessage`); only where a
role has no event, as in the oldest files, its items are, without the context that Codex put into them itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from otolith.doors.exchange.bundle import Bundle
from otolith.doors.exchange.items import Dialog, Finding, Found, Turn, stamp, words
from otolith.doors.exchange.jsontext import each_line, first_objects
from otolith.errors import Invalid
from otolith.model.text import first_sentence, unfence

SOURCE = "codex"
_ROLES = {"user_message": "user", "agent_message": "assistant", "UserMessage": "user",
          "AgentMessage": "assistant"}
_INJECTED = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions|turn_aborted|skills?|INSTRUCTIONS|collaboration_mode|"
    r"user_shell_command|subagent_notification)|# AGENTS\.md instructions)"
)
_REQUEST = "## My request for Codex:"


def fits(bundle: Bundle) -> bool:
    """Whether a file in it opens with a session's meta line."""
    return any(_is_rollout(bundle, name) for name in _files(bundle)[:50])


def read(bundle: Bundle) -> Iterator[Found]:
    files = [name for name in _files(bundle) if _is_rollout(bundle, name)]
    if not files:
        raise Invalid(f"{bundle.path.name} is not a Codex transcript", hint="they lie in ~/.codex/sessions")
    for name in files:
        yield from read_transcript(bundle, name)


def read_transcript(bundle: Bundle, name: str, start: int = 0) -> Iterator[Found]:
    """The findings of one file from a position on, where a line begins, then its dialog."""
    shown: list[tuple[int, Turn]] = []
    sent: list[tuple[int, Turn]] = []
    facts: dict[str, str] = {}
    for _, at, line in each_line(bundle, name, start):
        if isinstance(line, Finding):
            yield line
        if not isinstance(line, dict):
            continue
        payload = line["payload"] if isinstance(line.get("payload"), dict) else line
        _note_facts(line, payload, facts)
        when = stamp(line.get("timestamp"))
        if line.get("type") == "event_msg":
            role, text = _event(payload)
            _add(shown, at, role, text, when)
        elif payload.get("type") == "message":
            role, text = str(payload.get("role")), _blocks(payload.get("content"))
            _add(sent, at, role if not _INJECTED.match(text) else "", text, when)
    spoken = {turn.role for _, turn in shown}
    turns = sorted(shown + [pair for pair in sent if pair[1].role not in spoken], key=lambda pair: pair[0])
    if turns:
        session = facts.get("session") or name.rpartition("/")[2].removesuffix(".jsonl")
        yield Dialog(key=f"{SOURCE}:{session}", source=SOURCE,
                     title=facts.get("title") or first_sentence(turns[0][1].text),
                     started=facts.get("started") or turns[0][1].ts, project=facts.get("project"),
                     session=session, turns=tuple(turn for _, turn in turns))


def _files(bundle: Bundle) -> list[str]:
    return (list(bundle.names) if len(bundle.names) == 1
            else [name for name in bundle.names if name.endswith(".jsonl")])


def _is_rollout(bundle: Bundle, name: str) -> bool:
    lines = first_objects(bundle, name, 3)
    if not lines:
        return False
    first = lines[0]
    if first.get("type") in ("session_meta", "response_item", "event_msg", "turn_context"):
        return isinstance(first.get("payload"), dict)
    return {"id", "timestamp", "instructions"} <= first.keys()  # before envelopes


def _note_facts(line: Mapping[str, Any], payload: Mapping[str, Any], facts: dict[str, str]) -> None:
    if line.get("type") == "session_meta" or "instructions" in line:
        # A resumed or forked session repeats its parent's meta line after its own; the first one counts.
        facts.setdefault("session", words(payload.get("id")))
        facts.setdefault("started", stamp(payload.get("timestamp") or line.get("timestamp")) or "")
        if folder := words(payload.get("cwd")).rstrip("/\\"):
            facts.setdefault("project", re.split(r"[/\\]", folder)[-1])
    if payload.get("type") == "thread_name_updated":
        facts["title"] = words(payload.get("thread_name")).strip()


def _event(payload: Mapping[str, Any]) -> tuple[str, str]:
    item = payload.get("item")
    if payload.get("type") == "item_completed" and isinstance(item, dict):
        return _ROLES.get(str(item.get("type")), ""), _blocks(item.get("content"))
    return _ROLES.get(str(payload.get("type")), ""), words(payload.get("message"))


def _blocks(content: object) -> str:
    if isinstance(content, str):
        return words(content)
    parts = ((words(block.get("text")) for block in content if isinstance(block, dict))
             if isinstance(content, list) else ())
    return "\n\n".join(part.strip() for part in parts if part.strip() and not _INJECTED.match(part))


def _add(turns: list[tuple[int, Turn]], at: int, role: str, text: str, when: str | None) -> None:
    if role == "user" and _REQUEST in text:
        text = text.partition(_REQUEST)[2]
    text = unfence(text).strip()  # what was recalled into the session must not be remembered a second time
    if role not in ("user", "assistant") or not text or _INJECTED.match(text):
        return
    if turns and (turns[-1][1].role, turns[-1][1].text) == (role, text):
        return  # an upgrade in the middle of a session writes one turn in both spellings
    turns.append((at, Turn(role=role, text=text, ts=when, key=f"at-{at}")))
