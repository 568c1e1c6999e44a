"""Reader: the finding half of Memory. Its verbs write nothing but a line in the usage ledger; the work is done in verbs/."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from otolith import verbs
from otolith.errors import Invalid
from otolith.model.recall import check_counts, check_text, make_filter

if TYPE_CHECKING:
    from otolith.derive.notices import FileNotices, Notice
    from otolith.derive.reasoning import Reasoning
    from otolith.derive.similar import EdgeProposal, TagScore
    from otolith.home import Home
    from otolith.model.dialog import Fact, GlobalMemory
    from otolith.model.recall import Hit, Recall
    from otolith.model.work import Chapter, Wisdom
    from otolith.verbs.reasoning import Explored


class Reader:
    """The verbs that find."""

    home: Home
    providers: Any

    def recall(self, query: str, *, limit: int = 10, depth: str = "full", budget: int | None = None, **filters: Any) -> Recall:
        from otolith.recall.answer import recall

        check_text(query, "the question")
        chosen = make_filter(**filters)
        found = recall(self.home, query, chosen, limit=limit, depth=depth, budget=budget, providers=self.providers)
        if found.hits or not chosen or verbs.records.listing(self.home, chosen, limit=1)[1]:
            return found
        given = ", ".join(name for name, value in filters.items() if value)
        return found.replace(notices=[*found.notices, f"no record passes the filter ({given})"])

    def get(self, id: str, depth: str = "full") -> Hit:
        check_text(id, "an id")
        return verbs.records.get(self.home, id, depth)

    def list(self, *, limit: int | None = 50, offset: int = 0, **filters: Any) -> tuple[list[dict[str, Any]], int]:
        check_counts(limit=limit, offset=offset)
        return verbs.records.listing(self.home, make_filter(**filters), limit=limit, offset=offset)

    def related(self, id: str, depth: int = 1) -> Sequence[Mapping[str, Any]]:
        check_counts(depth=depth)
        return verbs.records.related(self.home, id, depth)

    def tags(self) -> Sequence[Mapping[str, Any]]:
        return verbs.records.tags(self.home)

    def tags_near(self, tag: str, limit: int = 10) -> Sequence[TagScore]:
        check_counts(limit=limit)
        return verbs.edges.tags_near(self.home, tag, limit)

    def tags_for(self, text_or_id: str, limit: int = 8) -> Sequence[TagScore]:
        check_counts(limit=limit)
        return verbs.edges.tags_for(self.home, text_or_id, limit)

    def edges(self, query: str | None = None, **filters: Any) -> tuple[Sequence[Mapping[str, Any]], int]:
        check_counts(limit=filters.get("limit"), offset=filters.get("offset"))
        return verbs.edges.edges(self.home, query, **filters)

    def suggest_edges(self, note: str) -> Sequence[EdgeProposal]:
        return verbs.edges.suggest_edges(self.home, note)

    def graph(self, id: str | None = None, *, depth: int = 1, format: str = "mermaid", kind: Sequence[str] = ("note",)) -> str:
        check_counts(depth=depth)
        return verbs.edges.graph(self.home, id, depth=depth, format=format, kind=kind)

    def stats(self) -> dict[str, Any]:
        return verbs.records.stats(self.home)

    def trace(self, id: str, direction: str = "both", max_depth: int = 10) -> Sequence[Mapping[str, Any]]:
        """What caused a record and what it led to, as a tree in reading order."""
        return verbs.records.trace(self.home, id, direction, max_depth)

    def check_file(self, path: str, *, plan: str = "", again: bool = False, project: str | None = None) -> FileNotices:
        """What is worth knowing before touching a file; `plan` says what is about to be done."""
        return verbs.offering.check_file(self.home, path, plan=plan, again=again, project=project)

    def check_intent(self, goal: str, task_type: str | None = None) -> Sequence[Notice]:
        """Earlier works with much the same aim."""
        return verbs.offering.check_intent(self.home, goal, task_type)

    def unfinished(self, project: str | None = None) -> Sequence[Notice]:
        """Failures that nothing made good yet, and steps still to take."""
        return verbs.offering.unfinished(self.home, project)

    def agents(self, project: str | None = None) -> Sequence[Mapping[str, Any]]:
        return verbs.work.agents(self.home, project)

    def resume(self, agent: str | None = None, session: str | None = None) -> Mapping[str, Any]:
        """Take up an agent's latest session, or the one named."""
        return verbs.work.resume(self.home, agent, session)

    def facts(self, topic: str | None = None, **chosen: Any) -> Sequence[Fact]:
        return verbs.dialogs.facts(self.home, topic, **chosen)

    def topics(self) -> Sequence[Mapping[str, Any]]:
        return verbs.dialogs.topics(self.home)

    def global_memory(self) -> GlobalMemory:
        return verbs.dialogs.global_memory(self.home)

    def chapters(self, project: str | None = None, origin: str | None = None) -> Sequence[Chapter]:
        return verbs.chapters.chapters(self.home, project, origin)

    def wisdom(self, project: str | None = None) -> Sequence[Wisdom]:
        return verbs.chapters.wisdom(self.home, project)

    def sql(self, query: str) -> dict[str, Any]:
        """One SELECT against the index, which holds seed 003's tables."""
        if not isinstance(query, str):
            raise Invalid(f"a query must be text, not {type(query).__name__}")
        return verbs.records.sql(self.home, query)

    def reason(self, question: str = "", *, way: str = "synthesis", terms: Sequence[str] = (), limit: int = 50,
               **filters: Any) -> Reasoning:
        """Synthesis, comparison, pattern or gap (way=) over chunks (filters as in recall), with no model."""
        check_counts(limit=limit)
        return verbs.reasoning.reason(self.home, question, way=way, terms=terms, limit=limit, chosen=make_filter(**filters),
                                      providers=self.providers)

    def explore(self, question: str, *, ask: Callable[[str], Any] | None = None, **bounds: Any) -> Explored:
        """A model answers by searching, reading and following links within bounds; without one, the best evidence."""
        return verbs.reasoning.explore(self.home, question, ask=ask, providers=self.providers, **bounds)
