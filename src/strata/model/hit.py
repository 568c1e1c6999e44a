"""Hit and Recall: what a question gets back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strata.model.shape import NOTHING, Value
from strata.model.times import zulu


class Hit(Value):
    """A record delivered at some depth, with the reasons for it."""

    id: str
    kind: str
    type: str
    title: str
    text: str
    created: float
    path: str
    score: float = 0.0
    why: Sequence[str] = ()
    tags: Sequence[str] = ()
    origin: Mapping[str, Any] | None = None
    superseded_by: str | None = None
    tokens: int | None = None
    passage: Mapping[str, Any] | None = None
    context: Sequence[Mapping[str, Any]] = ()  # the neighbourhood, where the budget allowed it
    parts: Mapping[str, float] = NOTHING  # the score taken apart, for --explain
    record: Any = None

    def to_dict(self) -> dict[str, Any]:
        """As `recall --json` answers it."""
        shown: dict[str, Any] = {
            "id": self.id, "kind": self.kind, "type": self.type, "title": self.title, "text": self.text,
            "score": round(self.score, 6), "why": list(self.why), "created": zulu(self.created), "tags": list(self.tags),
            "path": self.path, "origin": self.origin, "superseded_by": self.superseded_by, "tokens": self.tokens,
        }
        if self.passage:
            shown["passage"] = dict(self.passage)
        if self.context:
            shown["context"] = [dict(item) for item in self.context]
        return shown


class Recall(Value):
    """The answer to a question: the hits, what they cost, and whether they are good enough."""

    query: str
    depth: str
    hits: Sequence[Hit] = ()
    budget: int | None = None
    tokens: int = 0
    enough: bool = False
    index_lag: float = 0.0
    notices: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        shown = {"query": self.query, "depth": self.depth, "budget": self.budget, "tokens": self.tokens, "enough": self.enough,
                 "index_lag": round(self.index_lag, 3), "hits": [hit.to_dict() for hit in self.hits]}
        return {**shown, "notices": list(self.notices)} if self.notices else shown
