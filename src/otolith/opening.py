"""From a home's name to its tree: a folder on this machine, or a space of a PostgreSQL database."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from otolith import config
from otolith.files.disk import open_tree
from otolith.files.tree import Tree

DOWN_SECONDS = 60.0  # that a home which could not be reached is left alone
PATIENCE = 2  # seconds for it to answer
POSTGRES = ("postgres://", "postgresql://")


def open_home(given: Any = None) -> Tree:
    """The tree of the home that is named by path or URL, else of the user's own."""
    name = config.home_name(given)
    if not name.startswith(POSTGRES):
        return open_tree(name)
    from otolith.files.postgres import PgTree

    local = config.home_cache(name) / "local"  # what belongs to this machine alone
    return PgTree(name, key=lambda: config.team_key(name), local=str(local))


def open_beside(name: str) -> Tree | None:
    """The tree of a home that is asked besides another: nobody waits for it long, or twice in a minute."""
    down = config.home_cache(name) / "down"
    with suppress(OSError):
        if 0 <= time.time() - down.stat().st_mtime < DOWN_SECONDS:
            return None
    tree: Any = open_home(name)
    tree.patience = PATIENCE
    return tree  # type: ignore[no-any-return]


def note_down(name: str) -> None:
    """A home cannot be reached."""
    with suppress(OSError):
        folder = config.home_cache(name)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / "down").touch(mode=0o600)
