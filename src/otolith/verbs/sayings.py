"""What a session's turns say that is worth keeping, as memos: one file a sentence.

The same sentence in the same project is the same memo, which then says when it was said again. What a person
said has trust user, whoever hands the transcript in; what an agent learned has trust agent, or outside where
it repeats what a tool printed. Nothing that holds a secret is kept.
"""

from __future__ import annotations

from collections.abc import Iterator

from otolith.derive.learnings import MOST as MOST_LEARNINGS
from otolith.derive.learnings import find_learnings
from otolith.derive.sayings import Remark, find_sayings, normal
from otolith.home import Home
from otolith.model.events import Session
from otolith.model.ids import slug
from otolith.model.memo import Memo, make_free, name_from
from otolith.model.recall import make_filter
from otolith.model.record import TRUST
from otolith.model.secrets import holds_secret
from otolith.model.times import minute, zulu
from otolith.model.words import likeness, stems
from otolith.verbs.steps import diary_of, kept_before

LATEST = 5  # times that a memo names; of more it says how many
ALIKE = 0.5  # two memos of a session that share more of their words say the same
STRONGER = 0.1  # how much surer a sentence is when it is said again in another session
PERSONAL = "default"
MANY, PLAIN = 8, 0.8  # memos of a session, from which on only what is said this plainly is kept


def keep_sayings(home: Home, session: Session) -> list[Memo]:
    """Keep what the new events of a session say; returns the memos that are new or were said again."""
    kept: list[Memo] = []
    learnings = [remark for remark in find_learnings(session) if not holds_secret(remark.body)]
    remarks = [remark for remark in find_sayings(session) if not holds_secret(remark.body)]
    if not remarks and not learnings:
        return kept
    with home.writing():
        left = MOST_LEARNINGS - home.index.dialogs.learned_in(session.session)
        before = home.index.dialogs.said_in(session.session)
        alike = _Alike(home, session.session)
        for remark in [*remarks, *learnings[: max(0, left)]]:
            if before + len(kept) >= MANY and remark.trust == "user" and remark.sure < PLAIN:
                continue
            memo = None if alike.says(remark) else _keep(home, remark, session)
            if memo is not None:
                kept.append(memo)
                alike.add(remark)
    return kept


class _Alike:
    """What the memos of a session say already, in other words."""

    def __init__(self, home: Home, session: str) -> None:
        rows, _ = home.index.cards.listing(make_filter(kind="memo", session=session), None)
        texts = [home.load(row.id).record.text.split("\n", 1)[0] for row in rows]
        self._said = {normal(text): stems(text) for text in texts}

    def says(self, remark: Remark) -> bool:
        """Whether another sentence says nearly the same; the very same is said again, which counts."""
        own, about = normal(remark.sentence), stems(remark.sentence)
        return own not in self._said and any(likeness(about, other) > ALIKE for other in self._said.values())

    def add(self, remark: Remark) -> None:
        self._said[normal(remark.sentence)] = stems(remark.sentence)


def _keep(home: Home, remark: Remark, session: Session) -> Memo | None:
    """One remark: a new memo, or the one that says so already with another time; None if that is known."""
    project = PERSONAL if remark.personal else home.config.project
    when = home.moment(remark.ts)
    moment = f"{zulu(when)} {session.session} {remark.key}"
    for name in _names(remark, project):
        made = Memo(id=name, title=remark.title, created_at=minute(when), text=remark.body, says=remark.says,
                    category="future" if remark.says == "todo" else "past", tags=remark.tags, said=(moment,),
                    confidence=remark.sure, origin=home.origin(
                        project=project, session=session.session, trust=_trust(home, remark)))
        row = kept_before(home, made)
        if row is None:
            diary_of(home, made, home.create(made, verb="memo", origin=made.origin), made.text)
            return made
        if row.project in (project, None) and row.kind == Memo.kind:
            loaded = home.load(row.id)
            if normal(loaded.record.text.split("\n", 1)[0]) == normal(remark.sentence):
                again = _again(loaded.record, moment, session.session)
                return home.change(loaded, again, verb="memo", origin=made.origin) if again else None
    return None


def _names(remark: Remark, project: str) -> Iterator[str]:
    """The names a remark may have, the plainest first: its own words, the project's before them, a number."""
    plain = name_from(remark.title)
    yield plain
    own = name_from(f"{slug(project).replace('-', ' ')} {remark.title}") if project != PERSONAL else plain
    if own != plain:
        yield own
    taken = {plain, own}
    for _ in range(50):
        name = make_free(own, taken)
        taken.add(name)
        yield name


def _trust(home: Home, remark: Remark) -> str:
    """The remark's own, unless the door it came through is trusted less than that."""
    return "outside" if home.trust == TRUST[-1] else remark.trust


def _again(memo: Memo, moment: str, session: str) -> Memo | None:
    """The memo with one more time; None if it has this one already."""
    before = memo.said or ()
    turn = moment.partition(" ")[2]
    if any(turn == line.partition(" ")[2] for line in before):
        return None
    times = (memo.times or len(before)) + 1
    elsewhere = all(f" {session} " not in line for line in before)
    sure = memo.confidence and min(0.95, round(memo.confidence + (STRONGER if elsewhere else 0), 2))
    return memo.replace(said=tuple(sorted([*before, moment])[-LATEST:]), confidence=sure,
                        times=times if times > LATEST else None)
