"""From a home's name to its tree: a folder on this machine, or a space of a PostgreSQL database."""

from __future__ import annotations

from typing import Any

from otolith import config
from otolith.files.disk import open_tree
from otolith.files.tree import Tree

POSTGRES = ("postgres://", "postgresql://")


def open_home(given: Any = None) -> Tree:
    """The tree of the home that is named by path or URL, else of the user's own."""
    name = config.home_name(given)
    if not name.startswith(POSTGRES):
        return open_tree(name)
    from otolith.files.postgres import PgTree

    local = config.home_cache(name) / "local"  # what belongs to this machine alone
    return PgTree(name, key=lambda: config.team_key(name), local=str(local))
