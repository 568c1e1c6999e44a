"""`trust`: a person says of an import, or of one record of it, that it is theirs, or takes that back.

It is a line in the home's curation.jsonl; nothing else changes, and brief and hooks then tell what they would
otherwise leave out. Agents have no way to do it: it is offered at no tool and in no hook.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from otolith.errors import Invalid
from otolith.files import ledger, paths
from otolith.files.tree import fingerprint
from otolith.home import Home, Named
from otolith.model.mine import OUTSIDE
from otolith.model.times import zulu
from otolith.verbs.steps import locate

EXAMPLES = 3


def trust(home: Home, handle: str | None, *, undo: bool = False, preview: bool = False) -> dict[str, Any]:
    """Say that an import (or one record) is one's own, or list the imports; `preview` only tells."""
    home.ensure_fresh()
    runs, mine = home.index.cards.runs(), home.index.marks.all("mine")
    if handle is None:
        return {"imports": [{**run._asdict(), "at": zulu(run.at), "mine": run.run in mine} for run in runs]}
    if home.trust != "user":
        raise Invalid("only a person says what is theirs", "say it on the page or at a terminal")
    what = "import" if any(run.run == handle for run in runs) else "id"
    rows = home.index.cards.of_run(handle) if what == "import" else [locate(home, handle)]
    name = handle if what == "import" else rows[0].id
    if undo and name not in mine:
        raise Invalid(f"{name} was not called yours", "see: otolith trust")
    if what == "id" and not undo and rows[0].trust != OUTSIDE:
        raise Invalid(f"{name} is told already", "only what was imported can be trusted")
    if not preview:
        _say(home, what, name, mine=not undo)
    return {what: name, "mine": not undo, "preview": preview, "records": len(rows),
            "kinds": dict(sorted(Counter(row.kind for row in rows).items())),
            "examples": [row.title for row in rows[:EXAMPLES]]}


def _say(home: Home, what: str, name: str, *, mine: bool) -> None:
    home.settle()
    line = {"schema": "curation.v1", "at": home.stamp_now(), "op": "mine" if mine else "not-mine", what: name,
            "by": "user"}
    with home.writing():
        ledger.append_line(home.tree, paths.ANSWERS, line, synced=True)
        home.refresh([paths.ANSWERS])
        home.audit("trusted" if mine else "distrusted", Named(what, name), fingerprint(repr(line).encode()))

