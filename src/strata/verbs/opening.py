"""`init`: what a new home gets: its settings, and what git should leave alone. Nothing that is there is touched."""

from __future__ import annotations

import uuid

from strata.errors import Conflict
from strata.home import Home

GITIGNORE = """_state.json
_index.json
_embeddings.json
_config.json
.lock
log/
index/*.json
*.tmp
"""
GITATTRIBUTES = """*.jsonl merge=union
index/audit.log merge=union
episodes/*.md merge=union
"""


def init(home: Home) -> list[str]:
    """Make the home's own files; returns those that were not there."""
    home_id = str(uuid.UUID(home.new_id()))
    settings = (f'# Settings that belong to this home; see FORMAT.md.\nhome_id = "{home_id}"\n'
                'projects = []\ngit_commit = "off"\n')
    made = []
    for path, text in (("strata.toml", settings), (".gitignore", GITIGNORE), (".gitattributes", GITATTRIBUTES)):
        if home.tree.look(path) is None:
            try:
                home.tree.write(path, text.encode())
            except Conflict:
                continue  # another process was first
            made.append(path)
    if "strata.toml" in made:
        home.config = home.config.replace(home_id=home_id)
    return made
