"""The notes ladder's values: Note, Edge, Episode, and the page of the memory tool (seed 004)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from otolith.errors import Invalid
from otolith.model.ids import check_id, check_uuid
from otolith.model.kinds import NOTE_FOLDERS, NOTE_LINKS, NOTE_TYPES, PROCEDURE_LISTS
from otolith.model.record import Card, Link, Origin, Record
from otolith.model.shape import Shape, choice, flag, number, part, parts, strings, text
from otolith.model.text import first_sentence
from otolith.model.times import parse_time

SCHEMA = "3.0.0"
DIRECTIONS = ("outgoing", "incoming")
_WIKILINK = r"!?\[\[([^\[\]|#^\n]{1,200})(?:[#^][^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]"
_CODE = r"(?s)```.*?(?:```|\Z)|`[^`\n]*`"
_ANCHOR = r"\[\[#[^\[\]\n]*\]\]"  # a heading of the same page is no tag
_HASHTAG = r"(?<![\w/&#])#([^\W\d_][\w/-]{0,60})"


class Relation(Shape):
    """One line of a note's `relations`."""

    target: str = text()
    type: str = choice(NOTE_LINKS)
    direction: str = choice(DIRECTIONS)
    strength: float | None = number(0, 1, default=None, sparse=True)
    context: str | None = text(default=None, sparse=True)
    edge_id: str | None = text(default=None, sparse=True)
    own: bool | None = flag(default=None, sparse=True)  # its context was there before its edge, and stays


class Note(Record):
    """A Markdown file of the knowledge graph."""

    kind: ClassVar[str] = "note"

    id: str = text()
    type: str = choice(NOTE_TYPES, default="general")
    title: str = text(filled=True)
    tags: tuple[str, ...] = strings(default=())
    aliases: tuple[str, ...] | None = strings(default=None, sparse=True)
    importance: float = number(0, 1)
    confidence: float = number(0, 1, default=0.8)
    steps: tuple[str, ...] | None = strings(default=None, sparse=True)
    preconditions: tuple[str, ...] | None = strings(default=None, sparse=True)
    postconditions: tuple[str, ...] | None = strings(default=None, sparse=True)
    created_at: str = text()
    updated_at: str = text()
    relations: tuple[Relation, ...] = parts(Relation, default=())
    origin: Origin | None = part(Origin, default=None, sparse=True)
    pinned: bool = flag(default=False)  # it lies in vault/; the file itself does not say so
    text: str = text(default="")  # last, since the name hides the field maker of the lines above

    @classmethod
    def guess(cls, path: str, heading: str) -> Mapping[str, Any]:
        """What the file of another tool tells by its place and heading, where it does not say it in words."""
        folder = path.split("/")[1] if path.count("/") > 1 else ""
        return {"type": NOTE_FOLDERS.get(folder, "general"), "importance": 0.5,
                "title": heading or path.rsplit("/", 1)[-1].removesuffix(".md")}

    def check(self) -> None:
        check_uuid(self.id)
        parse_time(self.created_at, "created")
        parse_time(self.updated_at, "updated")
        for name in PROCEDURE_LISTS:
            if getattr(self, name) is not None and name not in NOTE_TYPES[self.type].lists:
                types = " or ".join(row.name for row in NOTE_TYPES.values() if name in row.lists)
                raise Invalid(f"{name} belongs to notes of type {types}, not {self.type}")

    @property
    def updated(self) -> float:
        return parse_time(self.updated_at)

    def prose(self) -> str:
        """The body with what a procedure's lists say."""
        lists = [f"{name.capitalize()}:\n" + "\n".join(f"- {line}" for line in values)
                 for name in NOTE_TYPES[self.type].lists if (values := getattr(self, name))]
        return "\n\n".join(part for part in (self.text, *lists) if part) if lists else self.text

    def says_as_much_as(self, other: Any) -> bool:
        """Whether the two differ in nothing but their copies of edges."""
        ours, theirs = ({**note.__dict__, "relations": [own for own in note.relations if own.edge_id is None]}
                        for note in (self, other))
        return bool(ours == theirs)

    def own_targets(self) -> set[str]:
        return {relation.target for relation in self.relations}

    def without_links(self, gone: Collection[str], word: str | None = None) -> Note:
        """The note without its relations to these records or by these edges, or only those of one type."""
        return self.replace(relations=tuple(
            relation for relation in self.relations
            if not (relation.target in gone or relation.edge_id in gone)
            or word not in (None, relation.type)))

    def card(self) -> Card:
        own = [Link(source=self.id, type=r.type, target=r.target, strength=r.strength, context=r.context,
                    created=self.created)
               for r in self.relations if r.direction == "outgoing" and r.edge_id is None]
        tags = self.tags
        if "[[" in self.text or "#" in self.text:
            bare = re.sub(_CODE, "", self.text)
            tags = tuple(dict.fromkeys((*tags, *re.findall(_HASHTAG, re.sub(_ANCHOR, "", bare)))))
            own += [Link(source=self.id, type="mentions", target=name, created=self.created)
                    for name in dict.fromkeys(_named(link) for link in re.findall(_WIKILINK, bare)) if name]
        return self.make_card(self.prose(), updated=self.updated, tags=tags, names=self.aliases or (),
                              importance=self.importance, confidence=self.confidence, pinned=self.pinned,
                              links=own)


def _named(link: str) -> str:
    """What a wikilink names: a title or a file, without its ending and a table's backslash before `|`."""
    name = link.strip().removesuffix("\\").strip()
    return name[:-3] if name.casefold().endswith(".md") else name


class Edge(Record):
    """A relation between two notes with a description of its own; the truth about that relation."""

    kind: ClassVar[str] = "edge"

    id: str = text()
    type: str = choice(NOTE_LINKS)
    from_id: str = text()
    from_title: str = text(default="")
    to_id: str = text()
    to_title: str = text(default="")
    strength: float = number(0, 1, default=0.8)
    created_at: str = text()
    updated_at: str = text()
    origin: Origin | None = part(Origin, default=None, sparse=True)
    text: str = text(default="")

    def check(self) -> None:
        check_uuid(self.id)
        check_id(self.from_id, "from_id")
        check_id(self.to_id, "to_id")

    @property
    def title(self) -> str:
        return f"{self.from_title} — {self.type} — {self.to_title}"

    def link(self) -> Link:
        return Link(source=self.from_id, type=self.type, target=self.to_id, strength=self.strength,
                    context=first_sentence(self.text, 200) or None, created=self.created, edge_id=self.id)

    def card(self) -> Card:
        return self.make_card(self.text, updated=parse_time(self.updated_at), importance=self.strength,
                              links=[self.link()])


class Episode(Record):
    """One entry of the diary: a block of a day's file."""

    kind: ClassVar[str] = "episode"

    id: str = text()
    former: str | None = text(default=None, sparse=True)  # its id until 0.2: its number within its minute
    date: str = text()
    time: str = text()
    heading: str = text(default="")
    type: str = text(default="diary")
    tags: tuple[str, ...] = strings(default=())
    memory: str | None = text(default=None, sparse=True)
    summary: str = text(default="")
    text: str = text(default="")

    @property
    def title(self) -> str:
        return f"{self.time} - {self.heading}"

    @property
    def created(self) -> float:
        return parse_time(f"{self.date}T{self.time}:00Z")

    @property
    def points(self) -> bool:
        """It only points to a record that stands elsewhere, so it is none of its own.

        Merges are counted by their blocks.
        """
        return self.memory is not None and self.type.strip() != "merge"

    def card(self) -> Card:
        # A diary has no origin of its own and may come from anywhere, so it is trusted least.
        return self.make_card(self.text, type="diary", tags=self.tags, importance=0.3, trust="outside",
                              names=(self.former,) if self.former else ())


IMPORTED = "imported/"  # the folder of pages that came from outside


class Page(Record):
    """A file written through Anthropic's memory tool; its id is its path below memories/."""

    kind: ClassVar[str] = "page"
    type: ClassVar[str] = "page"

    id: str = text()
    created_at: float = number(0)
    text: str = text(default="")

    @property
    def title(self) -> str:
        return self.id

    def card(self) -> Card:
        return self.make_card(self.text, title=self.id.rsplit("/", 1)[-1], importance=0.5,
                              trust="outside" if self.id.startswith(IMPORTED) else "agent")
