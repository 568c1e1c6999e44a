"""Chunk: a verbatim piece of text that knows its conversation (schema version 1.0 of 2026-02-10).

`metadata` and `links` have the document's keys only, because the program it comes from reads no others; what
Otolith adds stands under one key of its own, `otolith`. Inside the two, where it stood before, it is still
read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar, Self

from otolith.errors import Invalid
from otolith.model.ids import check_chunk_id
from otolith.model.kinds import CHUNK_LINKS, CHUNK_TYPES
from otolith.model.record import Card, Link, Origin, Record, Usage, drop_targets
from otolith.model.shape import NOTHING, Shape, choice, integer, mapping, number, part, strings, text
from otolith.model.text import first_sentence
from otolith.model.times import parse_time

SCHEMA = "1.0"
SOURCES = ("interaction", "import", "derived")
MAX_TOKENS = 800
LABELS = frozenset(
    """note notes todo fix fixed fixme bug error errors warning problem issue cause reason decision decided
    solution answer question example examples summary result results step steps goal plan idea update status
    context background fact rule tip hint important remember learned lesson pattern preference constraint
    conclusion action actions task reminder fyi pros cons before after now later next first second third also
    changelog version title subject date time http https input output usage see caution info debug file
    path name type url id key value config command""".split())


class ChunkMetadata(Shape):
    """When, where and how a chunk was made, and how far it can be relied on."""

    created: str = text()
    conversation_id: str = text(default="")
    source: str = choice(SOURCES, default="interaction")
    confidence: float = number(0, 1, default=0.7)
    access_count: int = integer(0, default=0)
    last_accessed: str | None = text(default=None)

    def check(self) -> None:
        parse_time(self.created, "created")
        if self.last_accessed is not None:
            parse_time(self.last_accessed, "last_accessed")


class ChunkLinks(Shape):
    """The five lists."""

    context_of: tuple[str, ...] = strings(default=())
    follows: tuple[str, ...] = strings(default=())
    related_to: tuple[str, ...] = strings(default=())
    supports: tuple[str, ...] = strings(default=())
    contradicts: tuple[str, ...] = strings(default=())


class ChunkExtras(Shape):
    """What Otolith knows of a chunk besides: who wrote it, its writer's key, of which text it was cut, its
    place among the chunks of one second, and of its links strength, context and time as type → id → object.
    """

    origin: Origin | None = part(Origin, default=None, sparse=True)
    key: str | None = text(default=None, sparse=True)
    cut: dict[str, Any] | None = mapping(default=None, sparse=True)
    place: int | None = integer(0, default=None, sparse=True)
    details: dict[str, Any] | None = mapping(default=None, sparse=True)

    def check(self) -> None:
        for word, held in (self.details or {}).items():
            if not isinstance(held, Mapping) or not all(isinstance(more, Mapping) for more in held.values()):
                raise Invalid(f"details.{word} must name ids with an object each")
            for more in held.values():
                Link(source="", type=word, target="", **_details(more))


def _details(more: Mapping[str, Any]) -> dict[str, Any]:
    return {name: more.get(name) for name in ("strength", "context", "created")}


class Chunk(Record):
    """One chunk as its file holds it."""

    kind: ClassVar[str] = "chunk"

    id: str = text()
    content: str = text()
    tokens: int = integer(0)
    type: str = choice(CHUNK_TYPES)
    metadata: ChunkMetadata = part(ChunkMetadata)
    links: ChunkLinks = part(ChunkLinks)
    tags: tuple[str, ...] = strings(default=())
    otolith: ChunkExtras = part(ChunkExtras, default=NOTHING)

    @classmethod
    def from_dict(cls, data: Any, where: str = "") -> Self:
        return super().from_dict(_current(data), where)

    @classmethod
    def from_json(cls, written: str) -> Self:
        """The chunk of a file's text; a ValueError says what is wrong, as in the document's own program."""
        import json

        try:
            return cls.from_dict(json.loads(written))
        except Invalid as error:
            raise ValueError(str(error)) from error

    def to_json(self, indent: int = 2) -> str:
        import json

        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def to_dict(self) -> dict[str, Any]:
        fields = super().to_dict()
        return fields if fields["otolith"] else {key: fields[key] for key in fields if key != "otolith"}

    def check(self) -> None:
        check_chunk_id(self.id)

    @property
    def title(self) -> str:
        return first_sentence(self.content)

    @property
    def created(self) -> float:
        return parse_time(self.metadata.created)

    @property
    def confidence(self) -> float:
        return self.metadata.confidence

    @property
    def conversation_id(self) -> str:
        return self.metadata.conversation_id

    def all_links(self) -> list[Link]:
        """The links of the five lists but context_of, which names a conversation and not a record."""
        details = self.otolith.details or {}
        return [Link(source=self.id, type=word, target=target, **_details(
                    {"created": self.created, **details.get(word, {}).get(target, {})}))
                for word in CHUNK_LINKS[1:] for target in getattr(self.links, word)]

    def with_link(self, link: Link) -> Chunk:
        """The chunk with this link in its list; time, strength and context lie beside it."""
        listed = getattr(self.links, link.type)
        about = {"created": link.created, "strength": link.strength, "context": link.context}
        details = {word: dict(ends) for word, ends in (self.otolith.details or {}).items()}
        details.setdefault(link.type, {})[link.target] = {
            key: value for key, value in about.items() if value is not None}
        lists = {link.type: listed if link.target in listed else (*listed, link.target)}
        return self.replace(links=self.links.replace(**lists), otolith=self.otolith.replace(details=details))

    def own_targets(self) -> set[str]:
        return {target for word in CHUNK_LINKS[1:] for target in getattr(self.links, word)}

    def without_links(self, gone: Collection[str], word: str | None = None) -> Chunk:
        """The chunk without its links to these records, or only those of one type."""
        lists = {name: tuple(target for target in getattr(self.links, name) if target not in gone)
                 for name in CHUNK_LINKS[1:] if word in (None, name)}
        details = drop_targets(self.otolith.details, gone, word)
        return self.replace(links=self.links.replace(**lists), otolith=self.otolith.replace(details=details))

    def card(self) -> Card:
        meta, own, last = self.metadata, self.otolith, self.metadata.last_accessed
        return self.make_card(
            self.content, tags=self.tags, names=(own.key,) if own.key else (), importance=0.5,
            confidence=meta.confidence, conversation=meta.conversation_id or None, links=self.all_links(),
            speaker=speaker_of(self.content), place=own.place or 0,
            usage=Usage(meta.access_count, parse_time(last) if last else None))


def _current(data: Any) -> Any:
    """A chunk's object with what Otolith adds in its place; earlier versions kept it in the other two."""
    if not isinstance(data, Mapping):
        return data
    fields, own = dict(data), dict[str, Any]()
    for name, words in (("metadata", ("origin", "key", "cut", "place")), ("links", ("details",))):
        held = fields.get(name)
        if isinstance(held, Mapping) and (old := [word for word in words if word in held]):
            own |= {word: held[word] for word in old if held[word] is not None}
            fields[name] = {key: value for key, value in held.items() if key not in old}
    if own:
        added = fields.get("otolith")
        fields["otolith"] = {**own, **(added if isinstance(added, Mapping) else {})}
    return fields


def speaker_of(content: str) -> str | None:
    """Who says it, if the text opens with a name and a colon; a word that labels what follows is no name."""
    opening = re.match(r"((?:[A-Z\u00c0-\u024f\u0370-\uffff][\w.'’-]{0,30} ?){1,3}): +\S", content[:100])
    name = opening[1] if opening else ""
    return name if name and name.split()[-1].casefold() not in LABELS else None


def check_size(content: str, tokens: int, count: Callable[[str], int]) -> None:
    """A single chunk may not be larger than the engine would cut it, whatever number is given for it.

    A token has at least one byte, so a short text need not be counted.
    """
    if len(content.encode("utf-8", "replace")) > MAX_TOKENS:
        tokens = max(tokens, count(content))
    if tokens > MAX_TOKENS:
        raise Invalid(f"a chunk holds at most {MAX_TOKENS} tokens, this is {tokens}",
                      "remember() cuts a longer text into chunks")
