"""Memos: one concept in one named file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from strata.errors import Conflict
from strata.home import Home
from strata.index import read
from strata.model.memo import Memo
from strata.model.memo_name import check_name
from strata.model.shape import read_strings
from strata.model.times import minute, parse_time


def memo(
    home: Home, name: str, text: str, *, category: str = "past", tags: Sequence[str] = (), title: str | None = None,
    supersedes: Sequence[str] = (), agent: str | None = None, project: str | None = None, session: str | None = None,
    created: Any = None,
) -> Memo:
    """Keep a memo under a descriptive name; the same text under the same name again is the same memo."""
    stem = check_name(name)
    when = minute(home.clock() if created is None else parse_time(created, "created"))
    made = Memo(id=stem, title=title or stem.replace("_", " ").capitalize(), created_at=when, category=category,
                tags=read_strings(tags, "tags"), text=text.strip("\n"), supersedes=tuple(supersedes),
                origin=home.origin(agent=agent, project=project, session=session))
    if row := read.find(home.db, stem):
        same: Memo = home.load(row.id).record
        if (same.text, same.category, same.tags) == (made.text, made.category, made.tags):
            return same
        raise Conflict(f"there is a memo {stem!r} that says something else",
                       f"change it with: strata edit {stem}, or choose another name")
    home.create(made, verb="memo", origin=made.origin)
    return made


def supersede(home: Home, new: str, old: str) -> None:
    """The new memo says what it replaces, and the old one is marked; recall lets it sink."""
    fresh = home.load(new)
    if old not in fresh.record.supersedes:
        home.change(fresh, fresh.record.replace(supersedes=(*fresh.record.supersedes, old)), verb="superseded")
    stale = home.load(old)
    if stale.record.deprecated_by is None:
        mark = f"DEPRECATED: See valid {_subject(old)} in [{new}.md]"
        home.change(stale, stale.record.replace(text=f"{mark}\n\n{stale.record.text}", deprecated_by=new), verb="deprecated")


def _subject(name: str) -> str:
    return "architecture" if "architecture" in name else "memory"
