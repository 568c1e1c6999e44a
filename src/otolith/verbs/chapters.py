"""Chapters and wisdom: made by hand, found by climbing, listed.

A climb looks only at what changed since the last one (the index's marks) and at what hangs together with it,
so its cost follows the change and not the home. It writes derived files only, and only if their bytes differ. With a
language model the chapters are retold, those from before there was one among them; the rules' text stands until an answer of
the model has been checked, and a model that failed is asked again in the next round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from otolith import verbs
from otolith.derive.chapters import PAUSE, Member, close, find_groups, tell, write_chapter
from otolith.derive.wisdom import MADE_BY, build_wisdom, split_eras
from otolith.errors import Invalid, NotFound, Provider
from otolith.files import codec, paths
from otolith.home import Home
from otolith.model.record import WORK_TYPES
from otolith.model.work import Chapter, Wisdom
from otolith.providers.chat import answer_of
from otolith.verbs.steps import derived_id, each, fetch, locate

if TYPE_CHECKING:
    from otolith.providers.chat import Ask

BATCH = 100


def chapters(home: Home, project: str | None = None, origin: str | None = None) -> list[Chapter]:
    """The chapters there are, latest first."""
    home.ensure_fresh()
    rows = home.db.execute("SELECT id FROM chapters WHERE (:project IS NULL OR project_id = :project) "
                           "AND (:origin IS NULL OR origin = :origin) ORDER BY end_ts DESC, id",
                           {"project": project, "origin": origin}).fetchall()
    return _load(home, [chapter for chapter, in rows])


def wisdom(home: Home, project: str | None = None) -> list[Wisdom]:
    """The wisdom there is, latest first."""
    home.ensure_fresh()
    rows = home.db.execute("SELECT id FROM wisdom WHERE (:project IS NULL OR project_id = :project) ORDER BY end_ts DESC, id",
                           {"project": project}).fetchall()
    return _load(home, [piece for piece, in rows])


def make_chapter(home: Home, works: Sequence[str], *, title: str | None = None, summary: str | None = None,
                 tags: Sequence[str] | None = None, project: str | None = None, key: str | None = None) -> Chapter:
    """A chapter by hand; what is not given is told from its works, and finding leaves its works to it."""
    if isinstance(works, str) or not works:
        raise Invalid("a chapter needs a list of works", "name them: otolith chapter mem_1 mem_2 --title T")
    rows = [locate(home, handle) for handle in dict.fromkeys(works)]
    for row in rows:
        if row.kind != "work":
            raise Invalid(f"a chapter holds works; {row.id} is a {row.kind}")
    told = [fetch(home, row) for row in rows]
    made = tell(told, chapter_id=f"chapter_{derived_id(home, 'chapter', key)}", project=project or told[0].project_id,
                origin="manual", title=title, summary=summary, tags=tags, made=int(home.clock()))
    if key is not None and home.db.execute("SELECT 1 FROM chapters WHERE id = ?", (made.id,)).fetchone():
        known: Chapter = home.load(made.id).record
        return known
    told_by_rules = [name for name, given in (("title", title), ("summary", summary), ("tags", tags)) if given is None]
    made = made.replace(extra={**made.extra, "told": told_by_rules})
    home.create(made, verb="chapter")
    return made


def without_work(home: Home, chapter: Chapter, work: str) -> Chapter | None:
    """A manual chapter once one of its works is purged: what was told from the works is told again; None if none is left."""
    left = [one for one in chapter.memories if one != work and home.db.execute(
        "SELECT 1 FROM memories WHERE id = ?", (one,)).fetchone()]
    if not left:
        return None
    by_rules = chapter.extra.get("told") or ()
    kept = {name: getattr(chapter, name) for name in ("title", "summary", "tags") if name not in by_rules}
    told = tell(_load(home, left), chapter_id=chapter.id, project=chapter.project_id, origin=chapter.origin,
                made=chapter.created_at, **kept)
    return told.replace(extra={**chapter.extra, **told.extra})


# Climbing from works to chapters


def climb(home: Home, providers: Any = None) -> list[str]:
    """Find chapters again where works changed: new ones are written, changed ones rewritten, empty ones removed."""
    teller = _Teller(home, providers)
    teller.look_again("chapters", "chapter", lambda chapter: chapter.memories if chapter.origin == "auto" else ())
    changed = home.index.marks.changed("chapters", "work")
    if not changed:
        return []
    before = _found_with(home, changed)
    seeds = [*changed, *(work for members in before.values() for work in members)]
    around = close(_members(home, seeds), lambda member: _near(home, member))
    before |= _found_with(home, around)
    groups = {group.id: group for group in find_groups(around.values())}
    lines, touched = list[str](), frozenset(changed)
    todo = [group for group in groups.values()
            if before.get(group.id) != group.members or not touched.isdisjoint(group.members)]
    for at in range(0, len(todo), BATCH):
        parts = [(group, _load(home, group.members)) for group in todo[at : at + BATCH]]
        lines += _build(home, [teller.tell(write_chapter(group, works), works) for group, works in parts])
    for chapter in sorted(before.keys() - groups.keys()):
        _remove(home, f"work/chapters/{chapter}.json")
        lines.append(f"removed chapter {chapter}")
    home.index.marks.settle("chapters", {*changed, *around, *(work for members in before.values() for work in members)} - teller.waiting)
    return lines


def _found_with(home: Home, works: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The found chapters that any of these works is in, with all their members in order."""
    db, query = home.db, "SELECT memory_id FROM chapter_memories WHERE chapter_id = ? ORDER BY position"
    hit = {chapter for work in works for chapter, in db.execute(
        "SELECT c.id FROM chapter_memories m JOIN chapters c ON c.id = m.chapter_id WHERE m.memory_id = ? AND c.origin = 'auto'",
        (work,))}
    return {chapter: tuple(work for work, in db.execute(query, (chapter,))) for chapter in hit}


def _members(home: Home, works: Iterable[str]) -> list[Member]:
    """These works as finding sees them; those that are gone or that a manual chapter holds are left out."""
    found = []
    for work in dict.fromkeys(works):
        row = home.db.execute("SELECT project, created FROM records WHERE id = ? AND kind = 'work'", (work,)).fetchone()
        if row and not _held(home, work):
            threads = home.db.execute("SELECT thread FROM threads WHERE id = ?", (work,)).fetchall()
            found.append(Member(work, row[0], row[1], tuple(thread for thread, in threads), _linked(home, work)))
    return found


def _held(home: Home, work: str) -> bool:
    """Whether a person put the work into a chapter."""
    return home.db.execute("SELECT 1 FROM chapter_memories m JOIN chapters c ON c.id = m.chapter_id "
                           "WHERE m.memory_id = ? AND c.origin = 'manual'", (work,)).fetchone() is not None


def _linked(home: Home, work: str) -> tuple[str, ...]:
    """Works that this one links to or that link to it, in the words of works."""
    marks = ",".join("?" * len(WORK_TYPES))
    return tuple(other for other, in home.db.execute(
        f"SELECT b FROM links WHERE a = ? AND said IN ({marks}) UNION SELECT a FROM links WHERE b = ? AND said IN ({marks})",
        (work, *WORK_TYPES, work, *WORK_TYPES)))


def _near(home: Home, member: Member) -> list[Member]:
    """The next works before and after it in each of its threads, and those it is linked with."""
    found = list(member.linked)
    for thread in member.threads:
        for order, sign in (("DESC", "<"), ("ASC", ">")):
            here: tuple[float, str] = (member.created, member.id)
            while True:  # works that a manual chapter holds are stepped over
                row = home.db.execute(
                    f"SELECT created, id FROM threads WHERE thread = ? AND (created, id) {sign} (?, ?) "
                    f"ORDER BY created {order}, id {order} LIMIT 1", (thread, *here)).fetchone()
                if row is None or abs(row[0] - member.created) > PAUSE:
                    break
                if not _held(home, row[1]):
                    found.append(row[1])
                    break
                here = row
    return _members(home, found)


def _load(home: Home, ids: Iterable[str]) -> list[Any]:
    return [home.load(record).record for record in ids]


class _Teller:
    """Tells what was built in a model's words, if there is a model and its answer holds; else the rules' words stand.

    A model that is out of reach is not asked again this round. What it should have told waits for the next one.
    """

    def __init__(self, home: Home, providers: Any) -> None:
        self.home, self.waiting, self.silent = home, set[str](), False
        asked = providers is not None or home.config.chat_model
        self.ask: Ask | None = verbs.topics.model_of(home, None, providers) if asked else None

    def look_again(self, rung: str, higher: str, lower: Callable[[Any], Iterable[str]]) -> None:
        """When another teller is there than in the last round: what stands under the rules' words is to be climbed again."""
        name, marks = verbs.topics.maker_of(self.ask) if self.ask else MADE_BY, self.home.index.marks
        if (marks.get("teller", rung) or MADE_BY) == name:
            return
        units = [unit for unit, in self.home.db.execute("SELECT unit FROM records WHERE kind = ? ORDER BY id", (higher,))]
        plain = [one for _, one in each(self.home, units) if _maker(one) == MADE_BY] if self.ask else []
        with self.home.index.writing():
            marks.forget(rung, [id for one in plain for id in lower(one)])
            marks.set("teller", rung, name)

    def tell(self, built: Any, lower: Sequence[Any]) -> Any:
        known = _retold(self.home, built)
        if self.ask is None or known is not None:
            return built if known is None else known
        from otolith.derive import asking

        ways: dict[str, tuple[Any, Any]] = {"chapter": (asking.chapter_prompt, asking.retell_chapter),
                                            "wisdom": (asking.wisdom_prompt, asking.retell_wisdom)}
        question, retell = ways[built.kind]
        try:
            if not self.silent:
                return retell(built, answer_of(self.ask, question(lower)), verbs.topics.maker_of(self.ask))
        except (Provider, Invalid) as error:
            self.silent = isinstance(error, Provider)
            self.home.notices.append(f"{built.id} is told by the rules until upkeep has a better answer: {error}")
        self.waiting.update(one.id for one in lower)
        return built


def _retold(home: Home, built: Any) -> Any:
    """What a model already told of the same input, unless somebody changed the file since."""
    path = paths.place(built)
    try:
        (known,), files = codec.read_unit(home.tree, path)
    except NotFound:
        return None
    same = known.fingerprint == built.fingerprint and _maker(known) != MADE_BY
    return known if same and not home.edited_by_hand(path, files[path][1]) else None


def _maker(told: Any) -> str:
    return str(getattr(told, "made_by", None) or told.extra.get("made_by", MADE_BY))


def _build(home: Home, built: Sequence[Any]) -> list[str]:
    """Write derived records in one go, each only if its bytes differ."""
    lines = []
    with home.writing(), home.index.writing(), home.bulk():
        for one in built:
            path = paths.place(one)
            word = "changed" if home.tree.look(path) else "found"
            if home.build(path, codec.encode(one)):
                lines.append(f"{word} {one.kind} {one.id}: {one.title}")
    return lines


def _remove(home: Home, path: str) -> None:
    """Take a derived file away; one that a person changed is kept aside."""
    with home.writing():
        home.keep_edited(path, home.tree.read(path)[0])
        home.tree.remove(path)
        home.refresh([path])


# Climbing from chapters to wisdom


def climb_wisdom(home: Home, providers: Any = None) -> list[str]:
    """Build wisdom again for the projects whose chapters changed, and only the pieces that stand on those chapters."""
    teller = _Teller(home, providers)
    teller.look_again("wisdom", "wisdom", lambda piece: piece.chapters)
    changed = set(home.index.marks.changed("wisdom", "chapter"))
    if not changed:
        return []
    lines, climbed = [], set(changed)
    for project in sorted(_projects(home, changed)):
        listed = home.db.execute("SELECT id FROM chapters WHERE project_id = ? ORDER BY start_ts, id", (project,)).fetchall()
        eras = split_eras([chapter for chapter, in listed])
        before = _eras_of(home, project)
        todo = [era for era in eras if era not in before.values() or not changed.isdisjoint(era)]
        parts = [_load(home, era) for era in todo]
        built = [teller.tell(build_wisdom(told), told) for told in parts]
        lines += _build(home, built)
        standing = {piece for piece, era in before.items() if era in eras} | {piece.id for piece in built}
        for piece in sorted(before.keys() - standing):
            _remove(home, f"work/wisdom/{piece}.json")
            lines.append(f"removed wisdom {piece}")
        climbed.update(chapter for era in todo for chapter in era)
    home.index.marks.settle("wisdom", climbed - teller.waiting)
    return lines


def _projects(home: Home, changed: Iterable[str]) -> set[str]:
    """The projects of chapters, and of the wisdom that stood on those that are gone."""
    found: set[str] = set()
    for chapter in changed:
        found.update(project for project, in home.db.execute(
            "SELECT project_id FROM chapters WHERE id = :chapter UNION SELECT w.project_id FROM wisdom_chapters c "
            "JOIN wisdom w ON w.id = c.wisdom_id WHERE c.chapter_id = :chapter", {"chapter": chapter}))
    return found


def _eras_of(home: Home, project: str) -> dict[str, list[str]]:
    """Each piece of wisdom of a project with its chapters in order, as the index knows them."""
    found: dict[str, list[str]] = {}
    for piece, chapter in home.db.execute(
            "SELECT w.id, c.chapter_id FROM wisdom w JOIN wisdom_chapters c ON c.wisdom_id = w.id "
            "LEFT JOIN chapters t ON t.id = c.chapter_id WHERE w.project_id = ? ORDER BY t.start_ts, c.chapter_id", (project,)):
        found.setdefault(piece, []).append(chapter)
    return found
