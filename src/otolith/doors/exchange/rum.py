"""RUM databases (seed 003): memories with five layers, their links, and agents, chapters and wisdom.

The tables are read as the seed writes them and as they are met in the wild: times in milliseconds, layers
that are NULL, actions without `details` and `result`. The database is opened by a child process (see
index/foreign), row by row; a bad row is a finding and the rest goes on.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from otolith.doors.exchange.bundle import Bundle, FormatReader
from otolith.doors.exchange.items import (
    Found,
    LadderItem,
    LinkItem,
    SourceFinding,
    WorkItem,
    stamp,
    tags,
    words,
)
from otolith.errors import Invalid
from otolith.index.foreign import read_database
from otolith.model.kinds import KINDS
from otolith.model.times import parse_time

SOURCE = "rum"
_MAGIC = b"SQLite format 3\0"
_RESULT = ("success", "output_summary", "error", "duration_ms")
_KEPT = ("type", "timestamp", "details", "result")
_LISTS = ("learnings", "tags", "topics", "insights", "patterns", "best_practices", "capabilities")
_JOINED = (("chapter", "chapters", "chapter_memories", "memory_id"),
           # kind, its table, the joining one, its member
           ("wisdom", "wisdom", "wisdom_chapters", "chapter_id"))
_TIMES = ("created_at", "updated_at", "start_ts", "end_ts", "last_active_at")


def _fits(bundle: Bundle) -> bool:
    """Whether a file in it is an SQLite database with RUM's columns."""
    return bool(_files(bundle))


def _read(bundle: Bundle) -> Iterator[Found]:
    files = _files(bundle)
    if not files:
        raise Invalid(f"{bundle.path.name} is not a RUM database", hint="they lie in ~/.rum/projects")
    for name in files:
        path = bundle.real_path(name)
        if path is None:
            yield SourceFinding(where=name, message="a database inside a zip is not read; unpack it first")
            continue
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            yield SourceFinding(where=log.name,
                          message="its latest rows are still in this file; close RUM and import again")
        yield from _read_rows(path, name)


def _files(bundle: Bundle) -> list[str]:
    alone = len(bundle.names) == 1
    named = (name for name in bundle.names if alone or name.endswith((".db", ".sqlite", ".sqlite3")))
    return [name for name in named if _is_rum(bundle.head(name, 1 << 18))]


def _is_rum(head: bytes) -> bool:
    return head.startswith(_MAGIC) and b"intent_goal" in head and b"outcome_success" in head


def _read_rows(path: Path, name: str) -> Iterator[Found]:
    tables: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in read_database(path):
        if "refused" in line:
            raise Invalid(f"{name}: {line['refused']}")
        if "finding" in line:
            yield SourceFinding(where=name, message=line["finding"])
        elif "table" in line:
            tables[line["table"]].append(line["row"])
    memories = tables.pop("memories", [])
    yield from _items(name, memories, tables)


def _items(name: str, memories: list[dict[str, Any]],
           tables: Mapping[str, list[dict[str, Any]]]) -> Iterator[Found]:
    for row in tables["agents"]:
        yield _ladder("agent", row, {})
    files: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in tables["memory_files"]:
        files[str(row.get("memory_id"))].append((words(row.get("file_path")), words(row.get("operation"))))
    for row in memories:
        try:
            yield _work(row, tuple(files[str(row.get("id"))]))
        except (ValueError, TypeError, Invalid) as error:
            yield SourceFinding(where=name, message=f"memories, {row.get('id')}: {error}")
    for kind, table, joined, member in _JOINED:
        members: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for row in tables[joined]:
            position = row.get("position")
            place = position if isinstance(position, int) else 0
            members[str(row.get(f"{kind}_id"))].append((place, str(row.get(member))))
        for row in tables[table]:
            inside = [one for _, one in sorted(members[str(row.get("id"))])]
            yield _ladder(kind, row, {KINDS[kind].members: inside})
    for row in tables["memory_links"]:
        start, kind, end = (str(row.get(column)) for column in ("source_id", "link_type", "target_id"))
        yield LinkItem(key=f"{SOURCE}:{start}|{kind}|{end}", source=SOURCE, start=f"{SOURCE}:{start}",
                       type=kind, end=f"{SOURCE}:{end}", created=stamp(row.get("created_at")))


def _work(row: Mapping[str, Any], files: tuple[tuple[str, str], ...]) -> WorkItem:
    layers = {name: _layer(row, name) for name in ("intent", "perception", "reasoning", "outcome")}
    layers["intent"].setdefault("goal", row.get("intent_goal"))
    layers["intent"].setdefault("task_type", row.get("intent_type") or "other")
    layers["outcome"].setdefault("success", bool(row.get("outcome_success")))
    layers["outcome"].setdefault("summary", row.get("outcome_summary") or "")
    if not words(layers["intent"]["goal"]).strip():
        raise ValueError("it has no goal")
    actions = _json(row.get("actions"), "actions") or []
    if not isinstance(actions, list):
        raise ValueError("actions is not a list")
    importance = row.get("importance")
    return WorkItem(key=f"{SOURCE}:{row['id']}", source=SOURCE, id=words(row["id"]), intent=layers["intent"],
                    outcome=layers["outcome"], perception=layers["perception"], reasoning=layers["reasoning"],
                    actions=tuple(_action(one) for one in actions), files=files,
                    tags=tags(_json(row.get("tags"), "tags")), agent=words(row.get("agent_id")) or None,
                    importance=min(1.0, max(0.0, float(0.5 if importance is None else importance))),
                    project=words(row.get("project_id")) or None,
                    session=words(row.get("session_id")) or None, created=stamp(row.get("created_at")),
                    uses=uses if isinstance(uses := row.get("access_count"), int) and uses > 0 else 0,
                    used=stamp(row.get("last_accessed")))


def _layer(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = _json(row.get(name), name)
    if value is not None and not isinstance(value, dict):
        raise ValueError(f"{name} is not an object")
    return {key: part for key, part in (value or {}).items() if part is not None}


def _json(value: object, name: str) -> Any:
    if not isinstance(value, str):
        return None
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise ValueError(f"{name} is not JSON") from None


def _action(action: object) -> dict[str, Any]:
    """An action with `details` and `result`, also when both were written flat beside its type."""
    if not isinstance(action, dict):
        raise ValueError("an action is not an object")
    flat = {key: value for key, value in action.items() if key not in _KEPT and value is not None}
    details, result = ({**part} if isinstance(part := action.get(name), dict) else {}
                       for name in ("details", "result"))
    if isinstance(action.get("result"), str):
        result["output_summary"] = action["result"]
    for key, value in flat.items():
        (result if key in _RESULT else details).setdefault(key, value)
    result.setdefault("success", not result.get("error"))
    whole = {"type": action.get("type") or "other", "details": details, "result": result}
    if action.get("timestamp") is not None:
        whole["timestamp"] = int(parse_time(action["timestamp"]))
    return whole


def _ladder(kind: str, row: Mapping[str, Any], members: Mapping[str, Any]) -> Found:
    fields: dict[str, Any] = {name: value for name, value in row.items() if value is not None}
    try:
        for name in _LISTS:
            if name in fields:
                fields[name] = list(tags(_json(fields[name], name)))
        if isinstance(fields.get("metadata"), str):
            fields["metadata"] = _json(fields["metadata"], "metadata")
        for name in _TIMES:
            if name in fields:
                fields[name] = int(parse_time(fields[name], name))
    except (ValueError, Invalid) as error:
        return SourceFinding(where=f"{kind} {row.get('id')}", message=str(error))
    identity = words(row.get("id"))
    return LadderItem(key=f"{SOURCE}:{identity}", source=SOURCE, kind=kind, id=identity,
                      fields={**fields, **members}, created=stamp(row.get("created_at")))


READERS = {"rum": FormatReader(_fits, _read)}
