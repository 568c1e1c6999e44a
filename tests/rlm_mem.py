"""The program that chunks come from, as small as its document (seed 000) and clause chunk-46 tell it.

Written from these and sharing nothing with Otolith: what it cannot read, a folder's owner can no longer use.
It knows the documented keys and no others, finds chunks by index/metadata_index.json alone, and rewrites a
chunk that it hands out, because that counts as a use.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

METADATA = {"created", "conversation_id", "source", "confidence", "access_count", "last_accessed"}
LINKS = {"context_of", "follows", "related_to", "supports", "contradicts"}
FIELDS = ("id", "content", "tokens", "type", "metadata")


class Lookup:
    """One of its indexes: values by key, and lists by key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        held = json.loads(path.read_text()) if path.exists() else {}
        self.entries: dict[str, Any] = held.get("entries", {})
        self.lists: dict[str, list[str]] = held.get("lists", {})

    def save(self) -> None:
        self.path.write_text(json.dumps({"entries": self.entries, "lists": self.lists, "updated": "2026-02-10T22:00:00Z"}, indent=2))


class Original:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("chunks", "index", "archive"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self.metadata = Lookup(folder / "index/metadata_index.json")
        self.tags = Lookup(folder / "index/tag_index.json")
        self.graph = Lookup(folder / "index/link_graph.json")

    def create(self, number: int, content: str, tags: list[str], conversation: str = "conv-1") -> str:
        chunk_id = f"chunk-2026-02-10-{number:08x}"
        about = {"created": f"2026-02-10T21:{number % 60:02}:00.123456Z", "conversation_id": conversation,
                 "source": "interaction", "confidence": 0.7, "access_count": 0, "last_accessed": None}
        self._write(chunk_id, {"id": chunk_id, "content": content, "tokens": 12, "type": "note", "metadata": about,
                               "links": {word: [] for word in sorted(LINKS)}, "tags": tags})
        self.metadata.entries[chunk_id] = {"type": "note", "conversation_id": conversation, "created": about["created"],
                                           "confidence": 0.7}
        self.metadata.save()
        for tag in tags:
            self.tags.lists.setdefault(tag, []).append(chunk_id)
        self.tags.save()
        return chunk_id

    def get(self, chunk_id: str) -> dict[str, Any]:
        chunk = json.loads(self._path(chunk_id).read_text())
        assert all(field in chunk for field in FIELDS), chunk
        if unknown := (chunk["metadata"].keys() - METADATA) | (chunk.get("links", {}).keys() - LINKS):
            raise TypeError(f"unexpected keyword arguments {sorted(unknown)}")
        known = {field: chunk[field] for field in (*FIELDS, "links", "tags")}
        known["metadata"] = {**chunk["metadata"], "access_count": chunk["metadata"]["access_count"] + 1}
        self._write(chunk_id, known)
        return known

    def list(self, tags: list[str] | None = None) -> list[str]:
        return [chunk_id for chunk_id in self.metadata.entries
                if all(chunk_id in self.tags.lists.get(tag, ()) for tag in tags or ())]

    def _path(self, chunk_id: str) -> Path:
        return self.folder / "chunks" / "-".join(chunk_id.split("-")[1:3]) / f"{chunk_id}.json"

    def _write(self, chunk_id: str, chunk: dict[str, Any]) -> None:
        self._path(chunk_id).parent.mkdir(exist_ok=True)
        self._path(chunk_id).write_text(json.dumps(chunk, indent=2, ensure_ascii=False))
