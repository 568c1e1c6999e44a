"""The rows of the commands around a team's database."""

from __future__ import annotations

from otolith.verbs.table import Param, Verb
from otolith.verbs.table.machine import MACHINE

ROWS = {row.name: row for row in (
    Verb("admin", "set up a team's database: its spaces, who belongs to them, their keys", "facts",
         gaps=MACHINE,
         options=(Param("act", "text", "what to do: init, space NAME, member SPACE NAME, key NAME, revoke "
                        "NUMBER, audit", doors=("cli",), cli="act",
                        choices=("init", "space", "member", "key", "revoke", "audit"), strict=True),
                  Param("words", "words", "the names that it is about", (), ("cli",), cli="[name…]"),
                  Param("database", "text", "the database (default: the home's)", None, ("cli",),
                        metavar="URL"),
                  Param("kind", "text", "of a space: team, project, private; of a member: person, agent, "
                        "service", None, ("cli",)),
                  Param("role", "text", "of a member", "writer", ("cli",),
                        choices=("reader", "writer", "owner", "none")),
                  Param("behalf", "text", "the person for whom an agent acts", None, ("cli",),
                        metavar="NAME"),
                  Param("scope", "words", "what a key is for: read, write, team:write", (), ("cli",)),
                  Param("days", "count", "how long a key is good (default: until revoked)", None,
                        ("cli",)),
                  Param("login", "text", "with init: the login that members use; it is made if it is missing",
                        None, ("cli",), metavar="NAME")),
         examples=("otolith admin init --database postgres://db/team --login otolith",
                   "otolith admin space research --database postgres://db/team",
                   "otolith admin member research ada --role owner --database postgres://db/team",
                   "otolith admin key ada --days 90 --database postgres://db/team",
                   "otolith admin revoke 3 --database postgres://db/team")),
)}
