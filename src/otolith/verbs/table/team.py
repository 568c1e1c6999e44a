"""The rows of what belongs to a team: its database, and what goes there and comes from it."""

from __future__ import annotations

from collections.abc import Mapping

from otolith.verbs.table import HANDLE, PROGRESS, Door, Param, Verb
from otolith.verbs.table.machine import MACHINE

PERSON: Mapping[Door, str] = dict.fromkeys(("mcp", "rest"), "a person decides what others may read")
URL = Param("url", "text", "the database, or postgres://host/database#space", cli="url")
CARRIED = (Param("space", "text", "the space, if the URL does not name it", None),
           Param("delete", "flag", "also remove what was removed on the other side", False), PROGRESS)

ROWS = {row.name: row for row in (
    Verb("promote", "copy a record into another home, such as a team's space", "facts", takes=(
         HANDLE, Param("to", "text", "the other home: its name among `homes`, or its URL", cli="--to")),
         person=True, gaps=PERSON,
         examples=("otolith promote a1b2c3 --to research",)),
    Verb("push", "bring what changed in this folder into a team's space", "items", takes=(URL,),
         options=CARRIED, long=True, gaps=PERSON,
         examples=("otolith push postgres://db/team --space research",)),
    Verb("pull", "bring what changed in a team's space into this folder", "items", takes=(URL,),
         options=CARRIED, long=True, gaps=PERSON,
         examples=("otolith pull postgres://db/team --space research",)),
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
                  Param("days", "count", "how long a key is good (default: until revoked); with init: "
                        "how long former versions are kept (default: 30)", None,
                        ("cli",)),
                  Param("login", "text", "with init: the login that members use; it is made if it is missing",
                        None, ("cli",), metavar="NAME")),
         examples=("otolith admin init --database postgres://db/team --login otolith",
                   "otolith admin space research --database postgres://db/team",
                   "otolith admin member research ada --role owner --database postgres://db/team",
                   "otolith admin key ada --days 90 --database postgres://db/team",
                   "otolith admin revoke 3 --database postgres://db/team")),
)}
