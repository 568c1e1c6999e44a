"""What a session's turns say that is worth keeping, as memos: one file a sentence.

The same sentence in the same project is the same memo, which then says when it was said again. What a person
said has trust user, whoever hands the transcript in; what an agent learned has trust agent, or outside where
it repeats what a tool printed. Nothing that holds a secret is kept.
"""

from __future__ import annotations

from collections.abc import Iterator

from otolith.derive.learnings import MOST as MOST_LEARNINGS
from otolith.derive.learnings import find_learnings
from otolith.derive.sayings import Saying, find_sayings, normal
from otolith.home import Home
from otolith.model.events import Session
from otolith.model.ids import slug
from otolith.model.memo import Memo, make_free, name_from
from otolith.model.record import TRUST
from otolith.model.secrets import holds_secret
from otolith.model.times import minute, zulu
from otolith.verbs.steps import kept_before

LATEST = 5  # times that a memo names; of more it says how many
STRONGER = 0.1  # how much surer a sentence is when it is said again in another session
PERSONAL = "default"


def keep_sayings(home: Home, told: Session) -> list[Memo]:
    """Keep what the new events of a session say; returns the memos that are new or were said again."""
    kept: list[Memo] = []
    learnings = [saying for saying in find_learnings(told) if not holds_secret(saying.body)]
    sayings = [saying for saying in find_sayings(told) if not holds_secret(saying.body)]
    if not sayings and not learnings:
        return kept
    with home.writing():
        left = MOST_LEARNINGS - home.index.dialogs.learned_in(told.session)
        for saying in [*sayings, *learnings[: max(0, left)]]:
            memo = _keep(home, saying, told)
            if memo is not None:
                kept.append(memo)
    return kept


def _keep(home: Home, saying: Saying, told: Session) -> Memo | None:
    """One saying: a new memo, or the one that says so already with another time; None if that is known."""
    project = PERSONAL if saying.personal else home.config.project
    when = home.moment(saying.ts)
    said = f"{zulu(when)} {told.session} {saying.key}"
    for name in _names(saying, project):
        made = Memo(id=name, title=saying.title, created_at=minute(when), text=saying.body, says=saying.says,
                    category="future" if saying.says == "todo" else "past", tags=saying.tags, said=(said,),
                    confidence=saying.sure, origin=home.origin(
                        project=project, session=told.session, trust=_trust(home, saying)))
        row = kept_before(home, made)
        if row is None:
            home.create(made, verb="memo", origin=made.origin)
            return made
        if row.project in (project, None) and row.kind == Memo.kind:
            loaded = home.load(row.id)
            if normal(loaded.record.text.split("\n", 1)[0]) == normal(saying.sentence):
                again = _again(loaded.record, said, told.session)
                return home.change(loaded, again, verb="memo", origin=made.origin) if again else None
    return None


def _names(saying: Saying, project: str) -> Iterator[str]:
    """The names a saying may have, the plainest first: its own words, the project's before them, a number."""
    plain = name_from(saying.title)
    yield plain
    own = name_from(f"{slug(project).replace('-', ' ')} {saying.title}") if project != PERSONAL else plain
    if own != plain:
        yield own
    taken = {plain, own}
    for _ in range(50):
        name = make_free(own, taken)
        taken.add(name)
        yield name


def _trust(home: Home, saying: Saying) -> str:
    """The saying's own, unless the door it came through is trusted less than that."""
    return "outside" if home.trust == TRUST[-1] else saying.trust


def _again(memo: Memo, said: str, session: str) -> Memo | None:
    """The memo with one more time; None if it knows this one already."""
    known = memo.said or ()
    moment, turn = said.split(" ", 1)
    if any(turn == line.partition(" ")[2] for line in known):
        return None
    times = (memo.times or len(known)) + 1
    other = all(f" {session} " not in f"{line} " for line in known)
    sure = memo.confidence and min(0.95, round(memo.confidence + (STRONGER if other else 0), 2))
    return memo.replace(said=tuple(sorted([*known, f"{moment} {turn}"])[-LATEST:]), confidence=sure,
                        times=times if times > LATEST else None)
