"""Chapters and wisdom: made by hand, found by climbing, listed.

A climb looks only at what changed since the last one and at what hangs together with it, so its cost follows
the change and not the home. It writes derived files only, and only if their bytes differ. With a language
model the chapters are reworded, those from before there was one among them; the rules' text stands until an
answer of the model has been checked, and a model that failed is asked again in the next round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from otolith.derive.chapters import MADE_BY, PAUSE, close, describe, find_groups, tells_more, write_chapter
from otolith.derive.wisdom import build_wisdom, split_eras
from otolith.errors import Damaged, Invalid, NotFound, Provider
from otolith.files import codec, paths
from otolith.home import Home
from otolith.model.narrative import Chapter, Wisdom
from otolith.model.work import Work
from otolith.providers.chat import answer_of
from otolith.verbs.models import is_configured, maker_of, model_of, prompt_of
from otolith.verbs.steps import bytes_of, derived_id, each, fetch, kept_before, locate

if TYPE_CHECKING:
    from otolith.providers.chat import Ask

BATCH = 100


def chapters(home: Home, project: str | None = None, origin: str | None = None) -> list[Chapter]:
    home.ensure_fresh()
    return _readable(home, home.index.work.chapters(project, origin))


def wisdom(home: Home, project: str | None = None) -> list[Wisdom]:
    home.ensure_fresh()
    return _readable(home, home.index.work.wisdom(project))


def make_chapter(home: Home, works: Sequence[str], *, title: str | None = None, summary: str | None = None,
                 tags: Sequence[str] | None = None, project: str | None = None,
                 key: str | None = None) -> Chapter:
    """A chapter by hand; what is not given is drawn from its works, and finding leaves its works to it."""
    if isinstance(works, str) or not works:
        raise Invalid("a chapter needs a list of works", "name them: otolith chapter mem_1 mem_2 --title T")
    rows = [locate(home, handle) for handle in dict.fromkeys(works)]
    for row in rows:
        if row.kind != Work.kind:
            raise Invalid(f"a chapter holds works; {row.id} is a {row.kind}")
    members = [fetch(home, row) for row in rows]
    chapter = describe(members, chapter_id=f"chapter_{derived_id(home, 'chapter', key)}",
                       project=project or members[0].project_id, origin="manual", title=title,
                       summary=summary, tags=tags, made=int(home.clock()))
    if key is not None and kept_before(home, chapter):
        kept: Chapter = home.load(chapter.id).record
        return kept
    by_rules = [name for name, given in (("title", title), ("summary", summary), ("tags", tags))
                if given is None]
    chapter = chapter.replace(extra={**chapter.extra, "told": by_rules})
    home.create(chapter, verb="chapter")
    return chapter


def without_work(home: Home, chapter: Chapter, work: str) -> Chapter | None:
    """A manual chapter once one of its works is purged, drawn from the others; None if there is no other."""
    there = home.index.cards.units_of(chapter.memories)
    left = [member for member in chapter.memories if member != work and member in there]
    if not left:
        return None
    by_rules = chapter.extra.get("told") or ()
    kept = {name: getattr(chapter, name) for name in ("title", "summary", "tags") if name not in by_rules}
    works = _readable(home, left)
    if not works:
        return None
    new = describe(works, chapter_id=chapter.id, project=chapter.project_id, origin=chapter.origin,
                   made=chapter.created_at, **kept)
    return new.replace(memories=tuple(left), extra={**chapter.extra, **new.extra})


# Climbing from works to chapters, and from chapters to wisdom


def climb(home: Home, providers: Any = None) -> list[str]:
    """Find chapters again where works changed: write new ones, rewrite changed ones, remove empty ones."""
    index, writer = home.index.work, _Writer(home, providers)
    writer.look_again("chapters", Chapter.kind,
                      lambda chapter: chapter.memories if chapter.origin == "auto" else ())
    changed = home.index.marks.changed("chapters", Work.kind)
    if not changed:
        return []
    before = index.found_chapters(changed)
    seeds = [*changed, *(work for members in before.values() for work in members)]
    around = close(index.members(seeds), lambda member: index.beside(member, PAUSE))
    before |= index.found_chapters(around)
    groups = {group.id: group for group in find_groups(around.values())}
    lines, touched, silent = list[str](), frozenset(changed), set[str]()
    due = [group for group in groups.values()
           if before.get(group.id) != group.members or not touched.isdisjoint(group.members)]
    for at in range(0, len(due), BATCH):
        parts = [(group, writer.load(group.members)) for group in due[at : at + BATCH]]
        lines += _build(home, [writer.reword(write_chapter(group, works), works) for group, works in parts
                               if tells_more(works)])
        silent |= {group.id for group, works in parts if works and not tells_more(works)}
    lines += _remove(home, "work/chapters", Chapter.kind, before.keys() - (groups.keys() - silent))
    climbed = {*changed, *around, *(work for members in before.values() for work in members)}
    home.index.marks.settle("chapters", climbed - writer.waiting)
    return lines


def climb_wisdom(home: Home, providers: Any = None) -> list[str]:
    """Build wisdom again where chapters changed, and only the pieces that stand on those chapters."""
    index, writer = home.index.work, _Writer(home, providers)
    writer.look_again("wisdom", Wisdom.kind, lambda piece: piece.chapters)
    changed = frozenset(home.index.marks.changed("wisdom", Chapter.kind))
    if not changed:
        return []
    lines, climbed = list[str](), set(changed)
    for project in sorted(index.projects_of(changed)):
        eras, before = split_eras(index.chapters(project, in_time=True)), index.eras(project)
        due = [era for era in eras if era not in before.values() or not changed.isdisjoint(era)]
        parts = [part for era in due if (part := writer.load(era))]
        pieces = [writer.reword(build_wisdom(part), part) for part in parts]
        lines += _build(home, pieces)
        standing = {piece for piece, era in before.items() if era in eras} | {piece.id for piece in pieces}
        if len(parts) == len(due):  # else a piece may still be the one of an era that could not be read
            lines += _remove(home, "work/wisdom", Wisdom.kind, before.keys() - standing)
        climbed.update(chapter for era in due for chapter in era)
    home.index.marks.settle("wisdom", climbed - writer.waiting)
    return lines


def _readable(home: Home, ids: Sequence[str]) -> list[Any]:
    """Those of the records that can be read now, in their order; the others are check's business."""
    units = home.index.cards.units_of(ids)
    records = {record.id: record for _, record in each(home, dict.fromkeys(units.values()))}
    return [records[id] for id in ids if id in records]


class _Writer:
    """Rewords what was built by a model, if there is one and its answer holds; else the rules' words stand.

    A model that is out of reach is not asked again this round. What it should have reworded waits for the
    next one.
    """

    def __init__(self, home: Home, providers: Any) -> None:
        self.home, self.waiting, self.silent = home, set[str](), False
        asked = providers is not None or is_configured(home.config)
        self.ask: Ask | None = model_of(home, None, providers) if asked else None

    def look_again(self, rung: str, higher: str, lower: Callable[[Any], Iterable[str]]) -> None:
        """With another writer than in the last round, what stands in the rules' words is climbed again."""
        name, index = maker_of(self.ask) if self.ask else MADE_BY, self.home.index
        if (index.marks.get("teller", rung) or MADE_BY) == name:
            return
        units = index.work.units_of_kind(higher) if self.ask else []
        plain = [record for _, record in each(self.home, units) if _maker(record) == MADE_BY]
        with index.writing():
            index.marks.forget(rung, [id for record in plain for id in lower(record)])
            index.marks.set("teller", rung, name)

    def load(self, ids: Iterable[str]) -> list[Any]:
        """What is to be built from; nothing while one of them cannot be read, and then it waits."""
        ids = list(ids)
        try:
            return [self.home.load(record).record for record in ids]
        except (Damaged, NotFound) as error:
            self.home.notices.append(f"what is built from it stays as it is: {error}")
        self.waiting.update(ids)
        return []

    def reword(self, built: Any, lower: Sequence[Any]) -> Any:
        before = _reworded(self.home, built)
        if self.ask is None or before is not None:
            return built if before is None else before
        from otolith.derive.asking import PROSE

        text, read = PROSE[built.kind]
        try:
            if not self.silent:
                prompt = prompt_of(built.kind)
                answer = answer_of(self.ask, prompt.fill(self.home, text(lower)))
                return read(built, answer, maker_of(self.ask, prompt))
        except (Provider, Invalid) as error:
            self.silent = isinstance(error, Provider)
            self.home.notices.append(f"{built.id} is in the rules' words until upkeep has a better answer: "
                                     f"{error}")
        self.waiting.update(record.id for record in lower)
        return built


def _reworded(home: Home, built: Any) -> Any:
    """What a model already made of the same input, unless somebody changed the file since."""
    path = paths.place(built)
    try:
        (before,), files = codec.read_unit(home.tree, path)
    except (Damaged, NotFound):
        return None
    same = before.fingerprint == built.fingerprint and _maker(before) != MADE_BY
    return before if same and not home.edited_by_hand(path, files[path][1]) else None


def _maker(record: Any) -> str:
    return str(getattr(record, "made_by", None) or record.extra.get("made_by", MADE_BY))


def _build(home: Home, records: Sequence[Any]) -> list[str]:
    """Write derived records in one go, each only if its bytes differ."""
    lines = []
    with home.writing(), home.index.writing(), home.bulk():
        for record in records:
            path = paths.place(record)
            word = "changed" if home.tree.look(path) else "found"
            data = codec.encode(record)
            if bytes_of(home, path) != codec.without_schema(data) and home.build(path, data):
                lines.append(f"{word} {record.kind} {record.id}: {record.title}")
    return lines


def _remove(home: Home, folder: str, kind: str, ids: Iterable[str]) -> list[str]:
    """Take derived files away; one that a person changed is kept aside."""
    lines = []
    for id in sorted(ids):
        path = f"{folder}/{id}.json"
        with home.writing():
            home.keep_edited(path, home.tree.read(path)[0])
            home.tree.remove(path)
            home.refresh([path])
        lines.append(f"removed {kind} {id}")
    return lines
