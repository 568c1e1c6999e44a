"""The agent as its own scribe: asked once a session to keep what it learned, where a person wants that.

Only when something worth keeping was seen, a correction of the user or a failure and its fix, and the agent
kept nothing itself. A file in log/hooks/ says that a session was asked, or needs no asking any more.
"""

from __future__ import annotations

import re
from hashlib import sha256

from otolith.derive.sayings import find_sayings
from otolith.errors import Conflict
from otolith.home import Home
from otolith.model.events import CALLED, Session
from otolith.model.secrets import holds_secret
from otolith.model.text import shorten
from otolith.providers.tokens import estimate_many

TOKENS = 120
QUOTED = 140  # characters of what was seen
LOOKED_AT = 8  # works of a session
_KEPT = re.compile(r"otolith.*(?:record|note|memo|remember|log|end)$", re.IGNORECASE)
_ASKS = ("Otolith saw something worth keeping: {}. If it will matter next time, call the otolith tool "
         "`record` (or `note`) once with what to know, in a sentence each; if not, just stop.")


def request(home: Home, session: Session) -> str:
    """What to ask the agent as it stops; empty if there is nothing to ask or it was asked before."""
    mark = f"log/hooks/{sha256(session.session.encode()).hexdigest()[:24]}.asked"
    if not session.session or home.tree.look(mark):
        return ""
    calls = [event.call for event in session.events if event.kind == CALLED and event.call]
    kept = any(_KEPT.search(call.tool) for call in calls)
    seen = [] if kept else _seen(home, session)
    if not kept and not seen:
        return ""
    try:
        home.tree.write(mark, b"kept\n" if kept else b"asked\n")
    except Conflict:  # another hook of this session was faster
        return ""
    while seen and estimate_many([_ASKS.format("; ".join(seen))])[0] > TOKENS:
        seen = seen[:-1] if len(seen) > 1 else [shorten(seen[0], len(seen[0]) // 2)]
    return _ASKS.format("; ".join(seen)) if seen else ""


def _seen(home: Home, session: Session) -> list[str]:
    """The user's last correction, and the last failure that was made good."""
    remarks = [remark.sentence for remark in find_sayings(session)
               if remark.says == "correction" and not holds_secret(remark.body)]
    seen = [f"the user corrected you (“{shorten(remarks[-1], QUOTED)}”)"] if remarks else []
    works = [home.load(done.id).record for done in home.index.work.of_session(
        home.config.agent, session.session, LOOKED_AT)]
    failed = [work for work in works if not work.outcome.success]
    fixed = next((work for work in works if work.outcome.success), None)
    if failed and fixed:
        seen.append(f"“{shorten(failed[0].intent.goal, QUOTED // 2)}” failed, then "
                    f"“{shorten(fixed.intent.goal, QUOTED // 2)}” worked")
    return seen
