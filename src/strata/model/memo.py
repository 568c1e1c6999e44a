"""Memo: one concept in one descriptively named Markdown file, with a short header (seed 001)."""

from __future__ import annotations

from typing import ClassVar

from strata.errors import Invalid
from strata.model.ids import check_id
from strata.model.link import Link
from strata.model.record import Card, Origin, origin_fields
from strata.model.shape import Shape, choice, part, strings, text
from strata.model.text import first_sentence
from strata.model.times import parse_time

CATEGORIES = ("past", "present", "future")


class Memo(Shape):
    """A named memory file; its id is the file's stem."""

    kind: ClassVar[str] = "memo"

    id: str = text()
    title: str = text()
    created_at: str = text()
    category: str = choice(CATEGORIES, default="past")
    tags: tuple[str, ...] = strings(default=())
    supersedes: tuple[str, ...] = strings(default=())
    deprecated_by: str | None = text(default=None, sparse=True)
    origin: Origin | None = part(Origin, default=None, sparse=True)
    text: str = text(default="")  # last, since the name hides the field maker of the lines above

    def check(self) -> None:
        check_id(self.id)
        if "/" in self.id or "\\" in self.id or self.id.startswith("."):
            raise Invalid(f"{self.id!r} is not a memo name")

    @property
    def name(self) -> str:
        return self.id

    @property
    def type(self) -> str:
        return self.category

    @property
    def created(self) -> float:
        return parse_time(self.created_at)

    def card(self) -> Card:
        links = [Link(source=self.id, type="supersedes", target=old, created=self.created) for old in self.supersedes]
        return Card(
            id=self.id, kind="memo", type=self.category, title=self.title or first_sentence(self.text), text=self.text,
            created=self.created, tags=self.tags, names=(self.id.replace("_", " "),), importance=0.5, links=links,
            sunk=self.deprecated_by is not None, **origin_fields(self.origin),
        )
