"""A filter as SQL over `records r`. Values are bound, never spliced."""

from __future__ import annotations

import json
from typing import Any

from otolith.model.recall import Filter


def where(db: Any, chosen: Filter, projects: tuple[str, ...] = ()) -> tuple[str, list[Any]]:
    """(condition, values); `1` when nothing is asked.

    Which facts held on a day is asked of the facts table.
    """
    parts: list[str] = []
    values: list[Any] = []

    def add(condition: str, *bound: Any) -> None:
        parts.append(condition)
        values.extend(bound)

    for column, several in (("kind", chosen.kind), ("type", chosen.type), ("trust", chosen.trust)):
        if several:
            add(f"r.{column} IN ({','.join('?' * len(several))})", *several)
    for column, one in (("topic", chosen.topic), ("agent", chosen.agent), ("session", chosen.session)):
        if one is not None:
            add(f"r.{column} = ?", one)
    if chosen.conversation is not None:
        add("(r.conversation = ? OR r.session = ?)", chosen.conversation, chosen.conversation)
    for tag in chosen.tags:
        add("EXISTS (SELECT 1 FROM tags t WHERE t.tag = ? AND t.record = r.n)", tag)
    if chosen.project is not None:
        if chosen.project in projects:
            add("(r.project = ? OR EXISTS (SELECT 1 FROM tags t WHERE t.tag = ? AND t.record = r.n))",
                chosen.project, chosen.project)
        else:
            add("r.project = ?", chosen.project)
    if chosen.file is not None:
        condition, bound = touches(chosen.file)
        add(f"EXISTS (SELECT 1 FROM memory_files f WHERE f.memory_id = r.id AND {condition})", *bound)
    if chosen.success is not None:
        add("r.success = ?", int(chosen.success))
    if chosen.min_confidence is not None:
        add("(r.confidence IS NULL OR r.confidence >= ?)", chosen.min_confidence)
    if chosen.since is not None:
        add("r.created >= ?", chosen.since)
    if chosen.before is not None:
        add("r.created < ?", chosen.before)
    if chosen.as_of is not None:
        from otolith.index.database import Bare
        from otolith.index.facts import Facts

        add("CASE r.kind WHEN 'fact' THEN r.id IN (SELECT value FROM json_each(?)) ELSE r.created <= ? AND "
            "(r.valid_from IS NULL "
            "OR r.valid_from <= ?) AND (r.valid_until IS NULL OR r.valid_until > ?) END",
            json.dumps(Facts(Bare(db)).held_on(chosen.as_of)), chosen.as_of, chosen.as_of, chosen.as_of)
    return " AND ".join(parts) or "1", values


def touches(path: str) -> tuple[str, list[str]]:
    """`f.file_path` is the path, ends in it or lies below it, by whole segments."""
    bare = path.strip("/").removeprefix("./")
    pattern = bare.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return ("(f.file_path = ? OR f.file_path = ? OR f.file_path LIKE ? ESCAPE '\\' OR f.file_path LIKE ? "
            "ESCAPE '\\')",
            [bare, path, f"%/{pattern}", f"{pattern}/%"])
