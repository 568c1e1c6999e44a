"""How records of the other ladders stand beside the notes on the front pages: memos, works, wisdom, chunks.

What was replaced or closed since is left out. What a memo says stands in its file alone, so the files of
those that are strong enough for CORE.md are read, the strongest first.
"""

from __future__ import annotations

from otolith.home import Home
from otolith.index.notes import Stood
from otolith.model.chunk import Chunk
from otolith.model.decay import DIGITS, SHOWN, Standing, score_all, weight
from otolith.model.kinds import FIXED_SECTIONS, KINDS, SAID_SECTIONS
from otolith.model.memo import Memo
from otolith.model.narrative import Wisdom
from otolith.model.record import Usage
from otolith.model.work import Work
from otolith.verbs.steps import each

MOST_READ = 400  # memos


def beside(home: Home, moment: float) -> list[Standing]:
    """Every such record with its use and its score at a moment."""
    memos, works, wisdom, chunks = map(home.index.notes.uses_beside, (
        Memo.kind, Work.kind, Wisdom.kind, Chunk.kind))
    closed = home.index.claims.closings(row.id for row in (*memos, *works))
    memos, works = ([row for row in some if row.id not in closed] for some in (memos, works))
    rows = [*memos, *works, *wisdom, *chunks]
    if not rows:
        return []
    anchors = [row.created if row.last is None else row.last for row in rows]
    scores = score_all([row.importance for row in rows], anchors, [row.uses for row in rows],
                       [weight(row.type, row.kind) for row in rows], [row.pinned for row in rows], moment)
    scored = list(zip(rows, scores.round(DIGITS).tolist(), strict=True))
    tags = home.index.notes.tags(Memo.kind, Work.kind, Chunk.kind)
    sections = {**_said(home, scored[: len(memos)]), **_fixed(works)}
    return [Standing(id=row.id, type=row.type, title=row.title, path=row.unit, created=row.created,
                     kind=row.kind, section=sections.get(row.id) or KINDS[row.kind].section,
                     tags=tuple(tags.get(row.n, ())), importance=row.importance, score=score,
                     usage=Usage(row.uses, row.last), pinned=bool(row.pinned), trust=row.trust,
                     project=row.project) for row, score in scored]


def _fixed(works: list[Stood]) -> dict[str, str]:
    """The sections of works that made a failure good, and of other mended bugs."""
    return {row.id: FIXED_SECTIONS["failure" if row.solves else "bug"] for row in works
            if row.success and (row.solves or row.type == "bug_fix")}


def _said(home: Home, memos: list[tuple[Stood, float]]) -> dict[str, str]:
    """The sections of the memos that may stand on CORE.md, by what they say."""
    strong = [(score, row) for row, score in memos if score >= SHOWN and (row.trust == "user" or row.pinned)]
    strong.sort(key=lambda pair: (-pair[0], -pair[1].created, pair[1].id))
    units = [row.unit for _, row in strong[:MOST_READ]]
    return {memo.id: SAID_SECTIONS.get(memo.says or "", "") for _, memo in each(home, units)}
