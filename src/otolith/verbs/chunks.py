"""`remember`: a text cut into chunks, each kept with its type, its place in the text and its automatic links.

The index is asked for a bounded number of neighbours, so a chunk costs the same in a large home as in a small
one. The same text again in the same conversation is not kept twice; a text of which some pieces are missing
is completed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from hashlib import sha256
from typing import Any

from otolith.derive.chunking import ChunkingEngine, Piece
from otolith.derive.chunks import (
    FOLLOWS_WITHIN,
    RELATED_AT_MOST,
    Linkable,
    auto_links,
    detect_type,
    find_predecessor,
    find_related,
)
from otolith.errors import Conflict, Invalid
from otolith.home import Home
from otolith.model.chunk import Chunk, ChunkExtras, ChunkLinks, ChunkMetadata, check_size
from otolith.model.ids import chunk_id, derived_uuid
from otolith.model.record import Origin
from otolith.model.shape import read_strings
from otolith.model.text import check_whole, first_sentence, fold
from otolith.model.times import month, parse_time, zulu
from otolith.verbs.steps import each

LOOKED_AT = 100  # of each tag's newest records; a rarer tag is seen whole


def remember(home: Home, text: str, *, conversation_id: str | None = None, tags: Sequence[str] = (),
             type: str | None = None, confidence: float = 0.7, created: Any = None,
             source: str = "interaction",
             agent: str | None = None, project: str | None = None, session: str | None = None,
             key: str | None = None) -> list[Chunk]:
    """Cut a text, keep its pieces, link them; the chunks in the order of the text."""
    _check_text(text)
    named = session if conversation_id is None else conversation_id
    conversation = conversation_id if conversation_id is not None else session or home.session
    check_whole([conversation, key])
    pieces = ChunkingEngine().chunk(text)
    like = _draft(home, created, conversation, type=type or "note", tags=tags, source=source,
                  confidence=confidence, origin=home.origin(agent=agent, project=project, session=session))
    when = like.created
    with home.writing():  # of several calls with one key the first keeps it, the others find it
        marks = _marks(home, text, pieces, key)
        keyed = {} if key is None else _kept_under(home, key, when, text, marks, named)
        before = [keyed.get(at) or _alike(home, piece.content, mark.get("cut"), conversation)
                  for at, (piece, mark) in enumerate(zip(pieces, marks, strict=True))]
        kept = [chunk for chunk in before if chunk]
        if len(kept) == len(pieces):
            return _again(home, kept, like)
        if keyed:  # the rest of a text that was broken off joins its beginning
            conversation = next(iter(keyed.values())).conversation_id
        before = [_join(home, chunk, like) for chunk in before]
        chunks, place = [], home.index.dialogs.next_place(conversation, when)
        for at, (piece, mark) in enumerate(zip(pieces, marks, strict=True), place):
            chunks.append(before[at - place] or like.replace(
                id=_new_id(home, when, None if key is None else (key, str(at - place))),
                content=piece.content, tokens=piece.tokens, type=type or detect_type(piece.content),
                metadata=like.metadata.replace(conversation_id=conversation),
                otolith=like.otolith.replace(**mark, place=_place(conversation, at))))
        return _keep(home, chunks, {chunk.id for chunk in kept})


def _again(home: Home, kept: Sequence[Chunk], like: Chunk) -> list[Chunk]:
    """What was remembered before, with the tags and the confidence of both times."""
    chunks = [_join(home, chunk, like) or chunk for chunk in kept]
    known = {tag for chunk in kept for tag in chunk.tags}
    new = [tag for tag in like.tags if tag not in known]
    more = [f"tagged {', '.join(new)}"] if new else []
    if any(chunk.confidence > before.confidence for chunk, before in zip(chunks, kept, strict=True)):
        more.append(f"confidence is now {like.confidence:g}")
    home.notices.append(f"already remembered in {kept[0].conversation_id or 'no conversation'}: "
                        f"{kept[0].id}; {' and '.join(more) or 'nothing was added'}")
    return chunks


def _join(home: Home, chunk: Chunk | None, like: Chunk) -> Chunk | None:
    """The chunk with the other's tags besides its own, and the higher confidence of the two."""
    if chunk is None:
        return None
    joined = chunk.replace(
        tags=tuple(dict.fromkeys((*chunk.tags, *like.tags))),
        metadata=chunk.metadata.replace(confidence=max(chunk.confidence, like.confidence)))
    if joined == chunk:
        return chunk
    changed: Chunk = home.change(home.load(chunk.id), joined, verb="remember")
    return changed


def create_chunk(home: Home, content: str, *, type: str, conversation_id: str | None = None,
                 tokens: int | None = None, tags: Sequence[str] = (), confidence: float = 0.7,
                 created: Any = None, source: str = "interaction") -> Chunk:
    """Keep one chunk as it is given, with its automatic links; it is neither cut nor compared with others."""
    from otolith.providers.tokens import count_tokens

    _check_text(content)
    if tokens is None:
        tokens = count_tokens(content)
    conversation = home.session if conversation_id is None else conversation_id
    chunk = _draft(home, created, conversation, type=type, tags=tags, source=source, confidence=confidence,
                   origin=home.origin())
    place = home.index.dialogs.next_place(conversation, chunk.created) if conversation else 0
    chunk = chunk.replace(id=_new_id(home, chunk.created), content=content, tokens=tokens,
                          otolith=chunk.otolith.replace(place=_place(conversation, place)))
    check_size(content, chunk.tokens, count_tokens)
    return _keep(home, [chunk])[0]


def _place(conversation: str, at: int) -> int | None:
    """What is written of a place among the chunks of one second: nothing of the first."""
    return at if conversation and at else None


def _draft(home: Home, created: Any, conversation: str, *, type: str, tags: Sequence[str], source: str,
           confidence: float, origin: Origin) -> Chunk:
    """A chunk with everything but its own id and text; tags in their order, each once, empty ones dropped."""
    when = zulu(home.moment(created))
    check_whole(tags)
    labels = tuple(dict.fromkeys(tag.strip() for tag in read_strings(tags, "tags") if tag.strip()))
    return Chunk(id=chunk_id(parse_time(when), "0" * 8), content="", tokens=0, type=type, tags=labels,
                 links=ChunkLinks(), otolith=ChunkExtras(origin=origin), metadata=ChunkMetadata(
                     created=when, conversation_id=conversation, source=source, confidence=confidence))


def _keep(home: Home, chunks: Sequence[Chunk], kept: Collection[str] = ()) -> list[Chunk]:
    """Link the chunks of one text and keep the new ones; several are acknowledged together."""
    linked = _link(home, chunks, kept)
    new = [chunk for chunk in linked if chunk.id not in kept]
    with home.bulk() if len(new) > 1 else nullcontext():
        for chunk in new:
            home.create(chunk, verb="remember", origin=chunk.otolith.origin)
    return linked


def _check_text(text: Any) -> None:
    """Something to remember, and something a file can hold."""
    if not isinstance(text, str):
        raise Invalid(f"what is remembered must be text, not {text.__class__.__name__}")
    if not text.strip():
        raise Invalid("there is nothing to remember", "give a text")
    check_whole(text)


def _new_id(home: Home, when: float, key: tuple[str, str] | None = None) -> str:
    """An id that no chunk has, here or in the archive; from a key always the same eight digits."""
    if key is not None:
        return chunk_id(when, derived_uuid(home.config.home_id, "remember", *key))
    for _ in range(8):
        fresh = chunk_id(when, home.new_id())
        if not home.index.cards.find(fresh) and not home.index.cards.archived(fresh):
            break
    return fresh


def _marks(home: Home, text: str, pieces: Sequence[Piece], key: str | None) -> list[dict[str, Any]]:
    """What each chunk says of the text it was cut from; nothing if the text is one chunk."""
    if key is not None:
        home.settle()
    keyed: dict[str, Any] = {} if key is None else {"key": derived_uuid(home.config.home_id, "remember", key)}
    if len(pieces) == 1:
        return [keyed]
    of = sha256(text.encode()).hexdigest()[:16]
    return [{**keyed, "cut": {"of": of, "part": part, "parts": len(pieces), "start": piece.start,
                              "stop": piece.stop}}
            for part, piece in enumerate(pieces, 1)]


def _kept_under(home: Home, key: str, when: float, text: str, marks: Sequence[dict[str, Any]],
                conversation: str | None
                ) -> dict[int, Chunk]:
    """Place in the text → the chunk kept under the key, also before the home had an id of its own.

    A key stands for one text, and for one conversation if the caller names one: that of a process is another
    every time.
    """
    chunks: dict[int, Chunk] = {}
    places = [f"chunks/{month(when)}/{_new_id(home, when, (key, str(at)))}.json" for at in range(len(marks))]
    unread = [path for path in places if home.tree.look(path)
              and not home.index.cards.find(path.split("/")[-1][:-5])]
    if unread:  # kept by somebody whose index did not take it
        home.refresh(unread)
    kept = home.index.dialogs.chunks_named(marks[0]["key"], derived_uuid("", "remember", key))
    for _, chunk in each(home, kept):
        cut, mark = chunk.otolith.cut, marks[0]
        same = cut["of"] == mark["cut"]["of"] if cut and "cut" in mark else not cut and chunk.content == text
        if not same or conversation not in (None, chunk.conversation_id):
            raise Conflict(f"another text was remembered under the key {key!r}: {chunk.id}",
                           "use another key")
        chunks[cut["part"] - 1 if cut else 0] = chunk
    return chunks


def _alike(home: Home, content: str, cut: dict[str, Any] | None, conversation: str) -> Chunk | None:
    """The chunk of this conversation that holds the very piece already, as the same part of the same text."""
    units = home.index.dialogs.chunks_like(fold(first_sentence(content)), conversation, content)
    return next((chunk for _, chunk in each(home, units)
                 if chunk.content == content and chunk.otolith.cut == cut), None)


def _link(home: Home, chunks: Sequence[Chunk], kept: Collection[str]) -> list[Chunk]:
    """The chunks of one text with their automatic links; those that were there before keep theirs.

    The pieces follow each other and share all their tags, so for each of them only the ten before it and the
    best of the home can count.
    """
    new = _linkable(chunks[0])
    around = _around(home, new, {chunk.id for chunk in chunks})
    best = {*find_related(new, around), *find_predecessor(new, around)}
    around = [other for other in around if other.id in best]
    recent: deque[Linkable] = deque(maxlen=RELATED_AT_MOST)
    linked = []
    for chunk in chunks:
        if chunk.id not in kept:
            links = auto_links(_linkable(chunk), [*around, *recent])
            chunk = chunk.replace(links=chunk.links.replace(**links._asdict()))
        recent.append(_linkable(chunk))
        linked.append(chunk)
    return linked


def _linkable(chunk: Chunk) -> Linkable:
    return Linkable(chunk.id, chunk.conversation_id, chunk.created, chunk.tags)


def _around(home: Home, new: Linkable, themselves: set[str]) -> list[Linkable]:
    """The chunk just before in the conversation, and the newest chunks with each of the tags."""
    index = home.index
    rows = index.dialogs.chunks_near(new.tags, new.conversation_id, new.created - FOLLOWS_WITHIN, new.created,
                                     LOOKED_AT)
    tags = index.cards.tags_of([row.n for row in rows])
    return [Linkable(row.id, row.conversation, row.created, tuple(tags.get(row.n, ())))
            for row in rows if row.id not in themselves]
