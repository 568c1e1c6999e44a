"""`edit`: change a record of any kind that is written by people and agents. What is built is not edited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from strata.errors import Conflict, Invalid
from strata.files import paths
from strata.home import Home, Loaded
from strata.model.shape import read_strings
from strata.model.times import offset
from strata.verbs.finding import locate

BUILT = {"topic": "topics are built from entries; review their facts instead",
         "global": "the global memory is built from topics", "episode": "the diary is append-only",
         "entry": "entries are append-only; log another one", "fact": "facts are corrected with: strata review"}
FIXED = {"id": "", "kind": "", "created": "", "created_at": "", "updated": "", "updated_at": "", "extra": "",
         "origin": "who wrote a record is set by the door it came through", "pinned": "use: strata pin, strata unpin",
         "relations": "use: strata link, strata unlink", "metadata": "give its fields by name"}
_CHUNK_METADATA = ("confidence", "conversation_id", "source")


def edit(home: Home, handle: str, changes: Mapping[str, Any], expect: str | None = None) -> Any:
    """Change fields of a record; `expect` is the fingerprint of what the caller read."""
    row = locate(home, handle)
    if row.kind in BUILT:
        raise Invalid(f"a {row.kind} is not edited", BUILT[row.kind])
    loaded = home.load(row.id)
    if expect is not None and expect != loaded.hash:
        raise Conflict(f"{loaded.path} was changed by somebody else meanwhile", "read it again; nothing was overwritten")
    new = revise(home, loaded.record, dict(changes))
    if new == loaded.record:
        return new
    kept = home.change(loaded, new, verb="edited")
    if row.kind == "note" and loaded.path.startswith("graph/") and kept.type != loaded.record.type:
        target = f"{paths.place(kept).rsplit('/', 1)[0]}/{loaded.path.rsplit('/', 1)[-1]}"
        home.move(loaded.path, target, kept)
    after_edit(home, loaded, kept)
    return kept


def revise(home: Home, record: Any, changes: dict[str, Any]) -> Any:
    """The record with its changes, as its kind takes them."""
    for key in FIXED:
        if key in changes:
            raise Invalid(f"{key} cannot be changed", FIXED[key])
    if isinstance(changes.get("text"), str):
        changes["text"] = changes["text"].replace("\r\n", "\n").strip("\n")
    if record.kind == "memo" and isinstance(changes.get("title"), str):
        changes["title"] = " ".join(changes["title"].split())
    if "tags" in changes:
        changes["tags"] = read_strings(changes["tags"], "tags")
    if record.kind in ("note", "edge"):
        return _revise_linked(home, record, changes)
    if record.kind == "chunk":
        return _revise_chunk(record, changes)
    if record.kind == "work":
        from strata.verbs.work import revise_work

        return revise_work(home, record, changes)
    if record.kind == "chapter":  # what a person changed is that person's from now on
        changes = {"origin": "manual", "rule": None, **changes}
    return record.replace(**changes)


def _revise_linked(home: Home, record: Any, changes: dict[str, Any]) -> Any:
    """A note or an edge; a note's copies of its edges are set right on the way."""
    for key in ("from_id", "to_id", "from_title", "to_title"):
        if key in changes:
            raise Invalid(f"{key} of an edge cannot be changed", "unlink, then link anew")
    new = record.replace(**changes)
    if new == record:
        return record
    if record.kind == "note":
        from strata.verbs.edges import true_relations

        new = new.replace(relations=true_relations(home, new))
    return new.replace(updated_at=offset(home.clock()))


def _revise_chunk(chunk: Any, changes: dict[str, Any]) -> Any:
    inner = {key: changes.pop(key) for key in _CHUNK_METADATA if key in changes}
    if "chunk_type" in changes:
        changes["type"] = changes.pop("chunk_type")
    if "content" in changes and "tokens" not in changes:
        from strata.model.chunk import check_size
        from strata.providers.tokens import count_tokens

        changes["tokens"] = count_tokens(changes["content"])
        check_size(changes["tokens"])
    if inner:
        changes["metadata"] = chunk.metadata.replace(**inner)
        if "conversation_id" in inner and inner["conversation_id"] != chunk.conversation_id:
            given = changes.get("links", chunk.links)
            changes["links"] = given.replace(context_of=(inner["conversation_id"],) if inner["conversation_id"] else ())
    return chunk.replace(**changes)


def lay(before: Any, after: Any) -> Any:
    """One JSON value over another: objects key by key, everything else as given."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return {**before, **{key: lay(before.get(key), value) for key, value in after.items()}}
    return after


def after_edit(home: Home, loaded: Loaded, new: Any) -> None:
    """What follows from an edit elsewhere: a note's new title stands in its edges, an edge's new words in its notes."""
    if new.kind == "note" and new.title != loaded.record.title:
        from strata.verbs.links import retitle

        retitle(home, new)
    if new.kind == "edge":
        from strata.verbs.links import mirror

        mirror(home, new)
