"""Reader: the verbs that find. Memory, which also writes, is one. Nothing here changes a home but for a line
in the usage ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from otolith import verbs
from otolith.errors import Invalid
from otolith.home import Home
from otolith.index.store import asks
from otolith.model.recall import FILTERS, check_counts, check_text, filter_among

if TYPE_CHECKING:
    from otolith.derive.notices import FileNotices, Notice
    from otolith.derive.reasoning import Conclusion
    from otolith.derive.similar import EdgeProposal, TagScore
    from otolith.model.dialog import Fact, GlobalMemory
    from otolith.model.narrative import Chapter, Wisdom
    from otolith.model.recall import Hit, Recall
    from otolith.verbs.reasoning import Explored

Some = str | Sequence[str] | None  # one word or several
Rows = Sequence[Mapping[str, Any]]
Time = str | float | date | None  # a date or a time in any of their forms
Object = Mapping[str, Any]
Ask = Callable[[str], Any]


@asks()
class Reader:
    """An open home, to ask."""

    home: Home
    providers: Any

    def recall(self, query: str = "", *, limit: int = 10, depth: str = "full", budget: int | None = None,
               kind: Some = None, type: Some = None, tag: Some = None, tags: Some = None,
               topic: str | None = None, project: str | None = None, agent: str | None = None,
               conversation: str | None = None, session: str | None = None, file: str | None = None,
               since: Time = None, before: Time = None, as_of: Time = None, failures: bool = False,
               successes: bool = False, min_confidence: float | None = None) -> Recall:
        """Find what is known about something, or what filters choose: hits, best first, cut to a budget."""
        given = {name: value for name, value in locals().items() if name in FILTERS}
        from otolith.recall.answer import recall
        from otolith.recall.beside import joined

        check_text(query, "the question")
        chosen = filter_among(given, self.home.clock)
        verbs.claims.draw(self.home, few=True)

        def ask(home: Home) -> Recall:
            return recall(home, query, chosen, limit=limit, depth=depth, budget=budget,
                          providers=self.providers)

        answer = ask(self.home)
        if self.home.beside():
            answer = joined(self.home, answer, ask, limit)
        if answer.hits or not chosen or verbs.records.listing(self.home, chosen, limit=1)[1]:
            return answer
        names = ", ".join(name for name, value in given.items() if value)
        return answer.replace(notices=[*answer.notices, f"no record passes the filter ({names})"])

    def get(self, id: str, depth: str = "full") -> Hit:
        """One record by its id, the beginning of one, its title or its name; `.record` is the value."""
        check_text(id, "an id")
        if ":" not in id or not self.home.beside():
            return verbs.records.get(self.home, id, depth)
        from otolith.recall.beside import meant

        return verbs.records.get(*meant(self.home, id), depth)

    def list(self, *, limit: int | None = 50, offset: int = 0, kind: Some = None, type: Some = None,
             tag: Some = None, tags: Some = None, topic: str | None = None, project: str | None = None,
             agent: str | None = None, conversation: str | None = None, session: str | None = None,
             file: str | None = None, since: Time = None, before: Time = None, as_of: Time = None,
             failures: bool = False, successes: bool = False,
             min_confidence: float | None = None) -> tuple[Rows, int]:
        """Records that pass the filters, newest first, and how many there are."""
        check_counts(limit=limit, offset=offset)
        chosen = filter_among(locals(), self.home.clock)
        return verbs.records.listing(self.home, chosen, limit=limit, offset=offset)

    def related(self, id: str, depth: int = 1) -> Rows:
        """What is linked to a record, up to `depth` links away."""
        check_counts(depth=depth)
        return verbs.records.related(self.home, id, depth)

    def trace(self, id: str, direction: str = "both", max_depth: int = 10) -> Rows:
        """What caused a record and what it led to (causes, effects or both), as a tree in reading order."""
        return verbs.records.trace(self.home, id, direction, max_depth)

    def check_file(self, path: str, *, plan: str = "", again: bool = False,
                   project: str | None = None) -> FileNotices:
        """What is worth knowing before touching a file; `plan` says what is about to be done."""
        return verbs.offering.check_file(self.home, path, plan=plan, again=again, project=project)

    def check_intent(self, goal: str, task_type: str | None = None) -> Sequence[Notice]:
        """Earlier works with much the same aim."""
        return verbs.offering.check_intent(self.home, goal, task_type)

    def unfinished(self, project: str | None = None) -> Sequence[Notice]:
        """Failures that nothing made good yet, and steps still to take."""
        return verbs.offering.unfinished(self.home, project)

    def agents(self, project: str | None = None) -> Rows:
        """Who works here, and on what."""
        return verbs.work.agents(self.home, project)

    def resume(self, agent: str | None = None, session: str | None = None) -> Object:
        """Take up an agent's latest session, or the one named."""
        return verbs.work.resume(self.home, agent, session)

    def facts(self, topic: str | None = None, *, type: str | None = None, waiting: bool = False,
              current: bool = False, rejected: bool = False, as_of: Time = None) -> Sequence[Fact]:
        """Facts of a topic or of all; only those that wait for a score or still hold, also rejected ones."""
        return verbs.dialogs.facts(self.home, topic, type=type, waiting=waiting, current=current,
                                   rejected=rejected, as_of=as_of)

    def history(self, about: str | None = None, *, since: Time = None, before: Time = None,
                limit: int = 50) -> Rows:
        """What changed about a subject, a topic, a record or everything: said, replaced, scored."""
        check_counts(limit=limit)
        return verbs.history.history(self.home, about, since=since, before=before, limit=limit)

    def versions(self, id: str) -> Rows:
        """The former versions of a record: what its edits replaced, newest first."""
        return verbs.versions.versions(self.home, id)

    def contradictions(self, *, project: str | None = None, limit: int = 50) -> Rows:
        """Statements that do not go together and that no person has answered, newest first."""
        check_counts(limit=limit)
        return verbs.history.contradictions(self.home, project=project, limit=limit)

    def topics(self) -> Rows:
        """The topics of the dialogs, with their state."""
        return verbs.dialogs.topics(self.home)

    def global_memory(self) -> GlobalMemory:
        """What must not be forgotten, across all topics."""
        return verbs.dialogs.global_memory(self.home)

    def chapters(self, project: str | None = None, origin: str | None = None) -> Sequence[Chapter]:
        """The chapters, made by hand (origin "manual") or found ("auto")."""
        return verbs.chapters.chapters(self.home, project, origin)

    def wisdom(self, project: str | None = None) -> Sequence[Wisdom]:
        """What the chapters teach together."""
        return verbs.chapters.wisdom(self.home, project)

    def sql(self, query: str) -> dict[str, Any]:
        """One SELECT against the index, which holds seed 003's tables: its columns and rows."""
        if not isinstance(query, str):
            raise Invalid(f"a query must be text, not {type(query).__name__}")
        return verbs.records.sql(self.home, query)

    def tags(self) -> Rows:
        """Every tag, and how often it is used."""
        return verbs.records.tags(self.home)

    def tags_near(self, tag: str, limit: int = 10) -> Sequence[TagScore]:
        """Tags that stand beside this one."""
        check_counts(limit=limit)
        return verbs.edges.tags_near(self.home, tag, limit)

    def tags_for(self, text_or_id: str, limit: int = 8) -> Sequence[TagScore]:
        """Tags in use that would suit a text or a record."""
        check_counts(limit=limit)
        return verbs.edges.tags_for(self.home, text_or_id, limit)

    def edges(self, query: str | None = None, *, type: str | None = None, note: str | None = None,
              limit: int | None = 50, offset: int = 0) -> tuple[Rows, int]:
        """Edges between notes: all, of a type, of a note, or by words; and how many there are."""
        check_counts(limit=limit, offset=offset)
        return verbs.edges.edges(self.home, query, type=type, note=note, limit=limit, offset=offset)

    def suggest_edges(self, note: str) -> Sequence[EdgeProposal]:
        """Edges that a note could have."""
        return verbs.edges.suggest_edges(self.home, note)

    def graph(self, id: str | None = None, *, depth: int = 1, format: str = "mermaid",
              kind: Sequence[str] = ("note",)) -> str:
        """The links around a record, or among all of a kind, as mermaid, dot or svg."""
        check_counts(depth=depth)
        return verbs.edges.graph(self.home, id, depth=depth, format=format, kind=kind)

    def reason(self, question: str = "", *, way: str = "synthesis", terms: Sequence[str] = (),
               limit: int = 50, kind: Some = None, type: Some = None, tag: Some = None, tags: Some = None,
               topic: str | None = None, project: str | None = None, agent: str | None = None,
               conversation: str | None = None, session: str | None = None, file: str | None = None,
               since: Time = None, before: Time = None, as_of: Time = None, failures: bool = False,
               successes: bool = False, min_confidence: float | None = None) -> Conclusion:
        """Synthesis, comparison, pattern or gap over the chunks that the filters choose, with no model."""
        check_counts(limit=limit)
        chosen = filter_among(locals(), self.home.clock)
        return verbs.reasoning.reason(self.home, question, way=way, terms=terms, limit=limit, chosen=chosen,
                                      providers=self.providers)

    def explore(self, question: str, *, ask: Ask | None = None, depth: int = 2, calls: int = 16,
                tokens: int = 30_000, seconds: float = 120.0) -> Explored:
        """A model answers by searching, reading and following links; without one, the best evidence."""
        return verbs.reasoning.explore(self.home, question, ask=ask, depth=depth, calls=calls, tokens=tokens,
                                       seconds=seconds, providers=self.providers)

    def diary(self, date: str | None = None) -> Rows:
        """A day's episodes; today's by default."""
        return verbs.notes.read_diary(self.home, date)

    def stats(self, *, delivery: bool = False) -> dict[str, Any]:
        """How much of what there is; `delivery`: what was told unasked lately, and whether it was used."""
        return verbs.receipts.delivery(self.home) if delivery else verbs.records.stats(self.home)

    def show(self, page: str) -> str:
        """A built page as it stands: core, reflection or global."""
        return verbs.reports.show(self.home, page)
