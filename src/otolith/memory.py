"""Memory: the one object you hold on an open home. Every verb is a short method; the work is done in verbs/.

The signatures are the manual (`help(Memory.note)`); a law compares them. `...` means "as it is".
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import EllipsisType, TracebackType
from typing import TYPE_CHECKING, Any

from otolith import config as configuration
from otolith import verbs
from otolith.errors import OtolithError
from otolith.files.tree import Tree
from otolith.home import Home
from otolith.index.store import Index, asks, index_path
from otolith.opening import note_down, open_beside, open_home
from otolith.reader import Ask, Object, Reader, Time

if TYPE_CHECKING:
    from otolith.model.chunk import Chunk
    from otolith.model.dialog import Entry, Fact, GlobalMemory, Topic
    from otolith.model.memo import Memo
    from otolith.model.narrative import Chapter
    from otolith.model.note import Note
    from otolith.model.record import Change, Finding, Link
    from otolith.model.work import Agent, Work
    from otolith.sync import Progress
    from otolith.upkeep import Report
    from otolith.verbs.brief import Brief, Count
    from otolith.verbs.memos import Garden
    from otolith.verbs.reports import Reflected
    from otolith.verbs.session import Ended
    from otolith.verbs.work import Move

Words = Sequence[str] | None
Objects = Sequence[Object] | None
_NOT_FIELDS = ("self", "work", "id", "changes", "expect", "project", "agent", "session", "created", "key")


def _new_id() -> str:
    import uuid

    return uuid.uuid4().hex


def _fields(parameters: Mapping[str, Any], unset: Any) -> dict[str, Any]:
    """The fields of a record among a method's parameters, as far as they were given."""
    return {name: value for name, value in parameters.items()
            if value is not unset and name not in _NOT_FIELDS}


@asks("review", "agent", "chapter", "edit", "link", "unlink", "pin", "unpin", "forget", "restore", "merge",
      "unmerge", "garden", "cold", "reflect", "accept", finding=("brief",))
class Memory(Reader):
    """An open home. Opening creates nothing; the first write does."""

    def __init__(self, path: str | os.PathLike[str] | Tree | None = None, *,
                 clock: Callable[[], float] = time.time, new_id: Callable[[], str] = _new_id,
                 providers: Any = None, door: str = "python", trust: str = "user",
                 config: configuration.Config | None = None) -> None:
        named = path is None or isinstance(path, str | os.PathLike)
        tree: Any = open_home(path) if named else path
        settings = config or configuration.load(tree)
        self.providers = providers
        index = Index(index_path(configuration.home_cache(tree.name)), tree.identity)
        self.home = Home(tree=tree, index=index, config=settings, clock=clock, new_id=new_id,
                         machine=configuration.machine_id(), door=door, trust=trust,
                         session=settings.session or f"session-{os.urandom(6).hex()}")
        self.home.complete = lambda home, intent: verbs.purge.finish(home, intent)
        self._others: list[Memory] | None = None
        if named:  # who hands in a tree means that one
            self.home.beside = self._beside
        index.attempt(self.home.heed)

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index and the lock; nothing is pending."""
        for other in self._others or ():
            other.close()
        self.home.index.close()
        self.home.tree.close()

    def _beside(self) -> Sequence[Home]:
        """The other homes that the user lists, if this is the first of them; one that is down is left out."""
        if self._others is None:
            self._others = []
            first, *others = configuration.homes() or ("",)
            if others and open_home(first).name == self.home.tree.name:
                self._others = list(filter(None, map(self._open_beside, others)))
        return [other.home for other in self._others]

    def _open_beside(self, name: str) -> Memory | None:
        if (tree := open_beside(name)) is None:
            return None
        try:
            return Memory(tree, clock=self.home.clock, new_id=self.home.new_id, providers=self.providers,
                          door=self.home.door, trust=self.home.trust)
        except OtolithError as error:
            note_down(name)
            self.home.notices.append(f"{name} was not asked: {error}")
            return None

    @property
    def path(self) -> Path:
        """The home's folder."""
        return Path(self.home.folder())

    @property
    def notices(self) -> list[str]:
        """What went wrong without harm since the last look."""
        notices, self.home.notices = self.home.notices, []
        return notices

    def bulk(self) -> AbstractContextManager[None]:
        """Many writes, acknowledged together at the end: files synced, then one commit of the index."""
        return self.home.bulk()

    # Writing

    def init(self, *, git: bool = False) -> Sequence[str]:
        """Make the home's folders and settings; answers what was made. With `git`, clones of it merge."""
        return verbs.tending.init(self.home, git=git)

    def remember(self, text: str, *, conversation_id: str | None = None, tags: Sequence[str] = (),
                 type: str | None = None, confidence: float = 0.7, created: Time = None,
                 source: str = "interaction", project: str | None = None, agent: str | None = None,
                 session: str | None = None, key: str | None = None) -> Sequence[Chunk]:
        """Keep a text, cut into chunks where it is long; the same text of a conversation is kept once."""
        return verbs.chunks.remember(
            self.home, text, conversation_id=conversation_id, tags=tags, type=type, confidence=confidence,
            created=created, source=source, project=project, agent=agent, session=session, key=key)

    def note(self, title: str, text: str = "", *, type: str = "general", tags: Sequence[str] = (),
             importance: float = 0.5, confidence: float = 0.8, steps: Words = None,
             preconditions: Words = None, postconditions: Words = None, aliases: Words = None,
             project: str | None = None, agent: str | None = None, session: str | None = None,
             created: Time = None, key: str | None = None) -> Note:
        """Keep one titled piece of knowledge; steps and conditions belong to a procedure."""
        return verbs.notes.note(
            self.home, title, text, type=type, tags=tags, importance=importance, confidence=confidence,
            steps=steps, preconditions=preconditions, postconditions=postconditions, aliases=aliases,
            project=project, agent=agent, session=session, created=created, key=key)

    def memo(self, name: str, text: str, *, category: str = "past", tags: Sequence[str] = (),
             title: str | None = None, supersedes: Sequence[str] = (), project: str | None = None,
             agent: str | None = None, session: str | None = None, created: Time = None) -> Memo:
        """Keep one concept in one file; the name is 3 to 10 lowercase words joined by underscores."""
        return verbs.memos.memo(
            self.home, name, text, category=category, tags=tags, title=title, supersedes=supersedes,
            project=project, agent=agent, session=session, created=created)

    def log(self, dialog: str | os.PathLike[str] | Sequence[Object], topic: str | None = None, *,
            ask: Ask | None = None, title: str | None = None, tags: Sequence[str] = (),
            source: str = "interaction", conversation_id: str | None = None, project: str | None = None,
            agent: str | None = None, session: str | None = None, created: Time = None,
            key: str | None = None) -> Entry:
        """Keep a dialog (a text, a path, or messages with role, content and perhaps ts) and draw its facts.

        `ask` is a model to ask instead of the configured one.
        """
        return verbs.dialogs.log(
            self.home, dialog, topic, ask=ask, providers=self.providers, title=title, tags=tags,
            source=source,
            conversation_id=conversation_id, project=project, agent=agent, session=session, created=created,
            key=key)

    def review(self, fact: str, score: float | EllipsisType | None = ...,
               correct: Object | None = None) -> Fact:
        """A word on a fact: score= from 0 (never show) to 10, None for no score; correct={"object": "…"}."""
        if score is ...:
            return verbs.dialogs.review(self.home, fact, correct=correct)
        return verbs.dialogs.review(self.home, fact, score, correct)

    def settle(self, new: str, old: str, holds: str) -> Object:
        """Say which of two statements holds: `new`, `old`, `both` in their scopes; `open` takes it back."""
        return verbs.history.settle(self.home, new, old, holds)

    def trust(self, *, imported: str | None = None, undo: bool = False, preview: bool = False) -> Object:
        """Say of an import, or of one record of it, that it is yours and may be told; `undo` takes that back,
        `preview` only says what it concerns. Without one: what was imported.
        """
        return verbs.trust.trust(self.home, imported, undo=undo, preview=preview)

    def record(self, work: Object | None = None, *, intent: Object | None = None,
               outcome: Object | None = None, perception: Object | None = None,
               reasoning: Object | None = None, actions: Objects = None, links: Object | None = None,
               goal: str | None = None, task_type: str | None = None, success: bool | None = None,
               summary: str | None = None, context: str | None = None, approach_chosen: str | None = None,
               why_chosen: str | None = None, failure_reason: str | None = None,
               failure_category: str | None = None, learnings: Words = None, follow_up_needed: Words = None,
               constraints: Words = None, observations: Objects = None, relevant_files: Objects = None,
               patterns_noticed: Words = None, anomalies: Words = None,
               alternatives_considered: Objects = None, assumptions: Words = None,
               risks_identified: Words = None, verified_by: Object | None = None, files: Words = None,
               tags: Words = None, importance: float | None = None, project: str | None = None,
               agent: str | None = None, session: str | None = None, created: Time = None,
               key: str | None = None) -> Work:
        """Keep one unit of work: its five layers, or their fields flat, or both as one object.

        goal, task_type, success and summary are enough; `files` are paths that were edited.
        """
        given = {**(work or {}), **_fields(locals(), None)}
        return verbs.work.record(self.home, given, project=project, agent=agent, session=session,
                                 created=created, key=key)

    def agent(self, id: str | None = None, *, type: str | None = None, parent: str | None = None,
              project: str | None = None, metadata: Object | None = None) -> Agent:
        """Register an agent, or get the one that is registered; a parent makes it a subagent."""
        return verbs.work.register(self.home, id, type=type, parent=parent, project=project,
                                   metadata=metadata)

    def chapter(self, works: Sequence[str], *, title: str | None = None, summary: str | None = None,
                tags: Words = None, project: str | None = None, key: str | None = None) -> Chapter:
        """Make a chapter of these works by hand."""
        return verbs.chapters.make_chapter(self.home, works, title=title, summary=summary, tags=tags,
                                           project=project, key=key)

    def edit(self, id: str, changes: Object | None = None, *, expect: str | None = None,
             title: str | EllipsisType = ..., text: str | EllipsisType = ..., type: str | EllipsisType = ...,
             tags: Sequence[str] | EllipsisType = ..., importance: float | EllipsisType = ...,
             confidence: float | EllipsisType = ..., category: str | EllipsisType = ...,
             content: str | EllipsisType = ..., summary: str | EllipsisType = ...,
             strength: float | EllipsisType = ..., steps: Sequence[str] | EllipsisType | None = ...,
             preconditions: Sequence[str] | EllipsisType | None = ...,
             postconditions: Sequence[str] | EllipsisType | None = ...,
             aliases: Sequence[str] | EllipsisType | None = ..., intent: Object | EllipsisType = ...,
             perception: Object | EllipsisType = ..., reasoning: Object | EllipsisType = ...,
             outcome: Object | EllipsisType = ..., actions: Sequence[Object] | EllipsisType = ...,
             links: Object | EllipsisType = ...) -> Any:
        """Change fields of a record; which it has depends on its kind. `changes` takes any of them by name.

        `expect` is the hash of what was read (`get(id).hash`); if the file moved on since, it is a Conflict.
        """
        return verbs.editing.edit(self.home, id, {**(changes or {}), **_fields(locals(), ...)}, expect)

    def link(self, source: str, type: str, target: str, *, strength: float | None = None,
             context: str | None = None, text: str | None = None, key: str | None = None,
             created: Time = None) -> Link:
        """Relate two records: SOLVES, CAUSES, RELATED_TO, supersedes, …; `context` says why."""
        return verbs.links.link(self.home, source, type, target, strength=strength, context=context,
                                text=text, key=key, created=created)

    def unlink(self, source: str, type: str, target: str) -> None:
        """Take a relation back."""
        verbs.links.unlink(self.home, source, type, target)

    def pin(self, id: str) -> str:
        """Keep a record from fading; answers its id."""
        return verbs.editing.pin(self.home, id)

    def unpin(self, id: str) -> str:
        """Take a pin back; answers the record's id."""
        return verbs.editing.unpin(self.home, id)

    def forget(self, id: str | None = None, *, about: str | None = None, purge: bool = False,
               yes: bool = False) -> Any:
        """Put a record into the archive, or purge every trace of it; answers its id, or what was removed.

        `about` words instead of an id: all that is known about them; nothing goes before `yes`.
        """
        if about is not None:
            return verbs.purge.forget_about(self.home, about, everything=purge, yes=yes,
                                            providers=self.providers)
        return verbs.purge.purge(self.home, id or "") if purge else verbs.editing.forget(self.home, id or "")

    def restore(self, id: str, *, version: str | None = None) -> Any:
        """Bring a forgotten record back; or, with `version`, what a record was before an edit."""
        if version is not None:
            return verbs.editing.restore_version(self.home, id, version)
        return verbs.editing.restore(self.home, id)

    def undo(self, *, preview: bool = False) -> Object:
        """Take back the last thing that was written; `preview` only says which."""
        return verbs.takeback.take_back(self.home, preview=preview)

    def merge(self, keep: str, absorb: str) -> Note:
        """Make two notes one."""
        return verbs.merging.merge(self.home, keep, absorb)

    def unmerge(self, absorbed: str) -> Note:
        """Take a merge apart again; `absorbed` is the note that was merged away."""
        return verbs.merging.unmerge(self.home, absorbed)

    def episode(self, heading: str, *, type: str = "diary", tags: Sequence[str] = (),
                summary: str = "") -> None:
        """Write a line in the diary."""
        verbs.notes.episode(self.home, heading, type=type, tags=tags, summary=summary)

    # A session

    def brief(self, context: str = "", *, budget: int = 2000, project: str | None = None,
              session: str | None = None, count: Count | None = None) -> Brief:
        """What to know at the start of a session, within a budget of tokens; no use is counted."""
        return verbs.brief.brief(self.home, context, budget=budget, project=project, session=session,
                                   providers=self.providers, count=count)

    def hud(self, *, past: str | None = None, present: str | None = None, future: str | None = None,
            session: str | None = None) -> str:
        """The LiveHud; what is given is kept for the session."""
        return verbs.session.hud(self.home, past=past, present=present, future=future, session=session)

    def end(self, text: str | Sequence[Object] = "", *, session: str | None = None,
            project: str | None = None, agent: str | None = None) -> Ended:
        """Keep as memos what the session taught."""
        return verbs.session.end(self.home, text, session=session, project=project, agent=agent)

    # A team

    def promote(self, id: str, to: str) -> Object:
        """Copy a record into another home, named as in the user's list of homes or by its URL."""
        from otolith.recall.beside import find

        if (listed := find(self.home, to)) is not None:
            return verbs.homes.promote(self.home, id, listed)
        with Memory(to, clock=self.home.clock, door=self.home.door, trust=self.home.trust) as other:
            return verbs.homes.promote(self.home, id, other.home)

    def push(self, url: str, *, space: str | None = None, delete: bool = False,
             progress: Progress | None = None) -> Sequence[Change]:
        """Bring what changed in this folder into a team's space, and merge what changed on both sides."""
        with Memory(verbs.carrying.check_url(url, space), clock=self.home.clock) as other:
            return verbs.carrying.push(self.home, other.home, delete=delete, progress=progress)

    def pull(self, url: str, *, space: str | None = None, delete: bool = False,
             progress: Progress | None = None) -> Sequence[Change]:
        """Bring what changed in a team's space into this folder; nothing is written there."""
        with Memory(verbs.carrying.check_url(url, space), clock=self.home.clock) as other:
            return verbs.carrying.pull(self.home, other.home, delete=delete, progress=progress)

    # Tending

    def garden(self, *, apply: bool = False, archive: bool = False, undo: bool = False) -> Garden:
        """What to supersede and consolidate among memos; applied, or taken back, only by a person."""
        return verbs.memos.garden(self.home, apply=apply, archive=archive, undo=undo)

    def cold(self, *, days: float = 365, uses: int = 1, apply: bool = False) -> Sequence[Move]:
        """Which works go to cold storage or come back from it; only `apply` moves them."""
        return verbs.work.store_cold(self.home, days=days, uses=uses, apply=apply)

    def sync(self, *, accept_removals: bool = False, git: bool = False,
             progress: Progress | None = None) -> Sequence[Change]:
        """Compare the files with the index and bring the index up to them; with `git` other clones first."""
        self.home.index.inspect()
        if git:
            return verbs.git.synchronise(self.home, accept_removals=accept_removals)
        return self.home.sweep(accept_removals=accept_removals, progress=progress)

    def reindex(self, progress: Progress | None = None) -> dict[str, Any]:
        """Make the index anew and write its exports."""
        return verbs.exports.reindex(self.home, progress)

    def check(self, *, secrets: bool = False) -> Sequence[Finding]:
        """Everything that wants a person's eye; also keys and passwords, if asked for."""
        return verbs.tending.check(self.home, secrets=secrets)

    def upkeep(self, progress: Progress | None = None, *, if_due: bool = False) -> Report:
        """The nightly round: sync, distil, fade, rebuild what is built, propose what to tidy.

        `if_due`: only once a day or after fifty writes, and only with what is on this machine.
        """
        from otolith.upkeep import run

        return run(self.home, progress, self.providers, if_due=if_due)

    def build_topic(self, topic: str, ask: Ask | None = None) -> Topic:
        """Build a topic's memory from its entries and reviews."""
        model = verbs.models.model_of(self.home, ask, self.providers)
        return verbs.topics.build_topic(self.home, topic, model)

    def build_global(self) -> GlobalMemory:
        """Build the front page from the topic memories."""
        return verbs.topics.build_global(self.home)

    def decay(self) -> Sequence[tuple[Any, ...]]:
        """Score every note and write _state.json: (id, uses, last use, score) of each."""
        return verbs.reports.decay(self.home)

    def embed(self, progress: Progress | None = None, tell: Callable[[str], None] | None = None,
              *, model: str | None = None) -> dict[str, Any]:
        """Bring the vectors up to the records, by `model` from now on; `tell` hears what is sent where."""
        return verbs.exports.embed(self.home, model, providers=self.providers, progress=progress, tell=tell)

    def core(self) -> str:
        """Build CORE.md, the most important notes, and answer it."""
        return verbs.reports.core(self.home)

    def reflection(self) -> str:
        """Build REFLECTION.md and answer it."""
        return verbs.reports.reflection(self.home)

    def reflect(self, *, apply: bool = False) -> Reflected:
        """Themes, gaps, and proposals of merges and insights; `apply` carries all of them out."""
        return verbs.reports.reflect(self.home, apply=apply)

    def accept(self, proposal: str) -> Note:
        """Carry out one proposal of `reflect`, named by its key."""
        return verbs.reports.accept(self.home, proposal)


open = Memory  # so that a home reads as what it is: with otolith.open("~/memory") as mem
