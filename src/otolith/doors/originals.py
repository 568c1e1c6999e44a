"""The seeds' own classes, under their own names and signatures, as thin calls of Memory.

`ChunkStore` is seed 000's: the same home, index and links as everything else. Where its document promises
None instead of an error, it logs and returns None; every operation is a line of the logger `otolith`.
`WritePipeline`, `TopicMemoryBuilder` and `GlobalMemoryBuilder` are seed 002's.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from otolith.derive.chunks import in_order
from otolith.errors import Damaged, Invalid, NotFound
from otolith.index.store import asks
from otolith.memory import Memory
from otolith.model.chunk import Chunk
from otolith.model.ids import check_chunk_id
from otolith.model.kinds import CHUNK_LINKS
from otolith.model.recall import make_filter
from otolith.model.shape import Field, read_strings
from otolith.model.times import zulu

if TYPE_CHECKING:
    from otolith.model.dialog import Entry, GlobalMemory, Topic

B = TypeVar("B", bound="_Builder")
_log = logging.getLogger("otolith")


class StoredChunk(Chunk):
    """A chunk as a store hands it out: its tags are a list, as in the document's own program."""

    tags: Any = Field(lambda value, where: [*read_strings(value, where)], (), False, ["string"])


@asks()
class ChunkStore:
    """Chunks in a home: `ChunkStore("brain/memory")`. Opening and reading create nothing."""

    def __init__(self, path: str | os.PathLike[str], **more: Any) -> None:
        self.mem = Memory(path, **more)
        self.home = self.mem.home

    def __enter__(self) -> ChunkStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self.mem.close()

    def create_chunk(self, content: str, chunk_type: str, conversation_id: str, tokens: int | None = None,
                     tags: Sequence[str] = (), confidence: float = 0.7, source: str = "interaction",
                     created: Any = None) -> Chunk:
        """Keep one chunk of at most 800 tokens; a longer text is for Memory.remember, which cuts it."""
        from otolith.verbs.chunks import create_chunk

        return _own(create_chunk(self.mem.home, content, type=chunk_type, conversation_id=conversation_id,
                                 tokens=tokens, tags=() if tags is None else tags, confidence=confidence,
                                 source=source, created=created))

    def get_chunk(self, chunk_id: str) -> Chunk | None:
        """The chunk, counted as used; None for an id that is no chunk's, unknown, forgotten, or of a broken
        file.
        """
        found = self._read(chunk_id, "get")
        if found is None:
            return None
        self.mem.home.used([found.id])
        self.mem.home.fold_usage()
        _log.info("get chunk %s", found.id)
        return self._shown(found)

    def update_chunk(self, chunk_id: str, **fields: Any) -> Chunk | None:
        """Change fields (content, chunk_type, tags, confidence, conversation_id, source) and leave all others
        alone.
        """
        for name in ("id", "expect", "metadata", "links", "access_count", "last_accessed"):
            if name in fields:
                raise Invalid(f"{name} of a chunk is not set by hand",
                              "links are made with Memory.link; use is counted")
        if self._read(chunk_id, "update") is None:
            return None
        return self._shown(self.mem.edit(chunk_id, fields))

    def delete_chunk(self, chunk_id: str, permanent: bool = False) -> bool:
        """Move the chunk into the archive, or remove it for good, from the archive too.

        False if there is no such chunk.
        """
        try:
            check_chunk_id(chunk_id)
            self.mem.forget(chunk_id, purge=permanent)
        except (Invalid, NotFound) as error:
            _log.warning("delete chunk %r: %s", chunk_id, error)
            return False
        return True

    def restore_chunk(self, chunk_id: str) -> Chunk | None:
        """Bring a soft-deleted chunk back; None if there is none of that id."""
        try:
            check_chunk_id(chunk_id)
            return self._shown(self.mem.restore(chunk_id))
        except (Invalid, NotFound) as error:
            _log.warning("restore chunk %r: %s", chunk_id, error)
            return None

    def list_chunks(self, conversation_id: str | None = None, tags: Sequence[str] | None = None,
                    created_after: Any = None, created_before: Any = None) -> list[Chunk]:
        """The chunks of a conversation that carry all the tags, oldest first;
        after is inclusive, before exclusive.
        """
        home = self.mem.home
        labels = read_strings(tags, "tags") if tags is not None else ()
        chosen = make_filter(kind="chunk", conversation=conversation_id or None, tags=labels,
                             since=created_after, before=created_before)
        home.ensure_fresh()
        rows, _ = home.index.cards.listing(chosen, None, oldest_first=True)
        found = [self._read(row.id, "list") for row in rows
                 if conversation_id in (None, row.conversation or "")]
        home.fold_usage()
        _log.info("list %d chunks", len(found))
        return [self._shown(chunk) for chunk in in_order(chunk for chunk in found if chunk)]

    def get_stats(self) -> dict[str, Any]:
        """How many chunks there are, of which types, in how many conversations, and how many lie in the
        archive.
        """
        home = self.mem.home
        home.ensure_fresh()
        chunks, total = home.index.cards.listing(make_filter(kind="chunk"), None)
        types = Counter(sorted(row.type for row in chunks))
        archived = Counter(kind for _, kind, _, _ in home.index.cards.archived())["chunk"]
        return {"total_chunks": total, "by_type": dict(types), "archived_chunks": archived,
                "storage_path": str(self.mem.path),
                "conversations": len({row.conversation for row in chunks if row.conversation is not None})}

    def _read(self, chunk_id: str, why: str) -> Chunk | None:
        """The chunk as its file holds it now; an id is checked before anything is looked up."""
        from otolith.verbs.steps import fetch, locate

        try:
            row = locate(self.mem.home, check_chunk_id(chunk_id))
            if row.id != chunk_id:
                raise NotFound(f"no chunk {chunk_id!r}")
            record = fetch(self.mem.home, row)
        except (Invalid, NotFound, Damaged) as error:
            _log.warning("%s chunk %r: %s", why, chunk_id, error)
            return None
        return record if isinstance(record, Chunk) else None

    def _shown(self, chunk: Chunk) -> Chunk:
        """The chunk with its use so far (the number in its file plus the ledger's) and without links to
        forgotten ones.
        """
        cards = self.mem.home.index.cards
        row = cards.find(chunk.id)
        if row is None:
            return _own(chunk)
        usage = cards.usage_of(row)
        last = zulu(usage.last) if usage.last is not None else None
        linked = [link.target for link in chunk.all_links()]
        hidden = {id for id in linked if cards.archived(id) and not cards.find(id)}
        links = chunk.links.replace(**{word: tuple(id for id in getattr(chunk.links, word)
                                                   if id not in hidden)
                                       for word in CHUNK_LINKS[1:]}) if hidden else chunk.links
        shown = chunk.replace(metadata=chunk.metadata.replace(access_count=usage.count, last_accessed=last),
                              links=links)
        return _own(shown)


def _own(chunk: Chunk) -> StoredChunk:
    return StoredChunk.from_dict(chunk.to_dict())


class _Builder:
    """What seed 002's three have in common: a home, by its path or already open, and perhaps a model to
    ask.
    """

    def __init__(self, home: str | os.PathLike[str] | Memory, ask: Any = None, **more: Any) -> None:
        self._own = not isinstance(home, Memory)
        self.mem = home if isinstance(home, Memory) else Memory(home, **more)
        self.ask = ask

    def __enter__(self: B) -> B:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the home, unless it was given open."""
        if self._own:
            self.mem.close()


class WritePipeline(_Builder):
    """Raw dialog in; raw.md, meta.json, summary.json and an audit line out."""

    def write(self, dialog: Any, topic: str | None = None, **more: Any) -> Entry:
        return self.mem.log(dialog, topic, ask=self.ask, **more)


class TopicMemoryBuilder(_Builder):
    """A topic's entries in; topic_memory.json and topic_memory.md out."""

    def build(self, topic: str) -> Topic:
        return self.mem.build_topic(topic, self.ask)


class GlobalMemoryBuilder(_Builder):
    """Every topic_memory.json in; GLOBAL_MEMORY.json and GLOBAL_MEMORY.md out. No model is asked."""

    def build(self) -> GlobalMemory:
        return self.mem.build_global()
