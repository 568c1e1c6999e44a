"""Memory: the one object you hold on an open home. Every verb is a short method; the work is done in verbs/."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from otolith import config as configuration
from otolith import verbs
from otolith.files.disk import DiskTree
from otolith.home import Home
from otolith.index.store import Index
from otolith.reader import Reader

if TYPE_CHECKING:
    from otolith.model.chunk import Chunk
    from otolith.model.dialog import Entry, Fact, GlobalMemory, Topic
    from otolith.model.finding import Change, Finding
    from otolith.model.memo import Memo
    from otolith.model.note import Note
    from otolith.model.record import Link
    from otolith.model.work import Agent, Chapter, Work
    from otolith.sync import Progress
    from otolith.upkeep import Report
    from otolith.verbs.memos import Garden
    from otolith.verbs.reports import Reflected
    from otolith.verbs.session import Brief, Ended
    from otolith.verbs.work import Move


def _new_id() -> str:
    import uuid

    return uuid.uuid4().hex


class Memory(Reader):
    """An open home. Opening creates nothing; the first write does."""

    def __init__(self, path: str | os.PathLike[str] | None = None, *, clock: Callable[[], float] = time.time,
                 new_id: Callable[[], str] = _new_id, providers: Any = None, door: str = "python", trust: str = "user",
                 config: configuration.Config | None = None) -> None:
        root = configuration.home_path(None if path is None else os.fspath(path))
        settings = config or configuration.load(root)
        self.providers = providers
        self.home = Home(tree=DiskTree(str(root)), index=Index(configuration.cache_folder(), str(root)), config=settings,
                         clock=clock, new_id=new_id, machine=configuration.machine_id(), door=door, trust=trust,
                         session=settings.session or f"session-{os.urandom(6).hex()}")
        self.home.complete = lambda home, intent: verbs.purge.finish(home, intent)
        self.home.heed()
        if self.home.index.path is None:
            self.home.notices.append("no cache folder can be written; the index is kept in memory and made anew each time")
        if self.home.index.get("swept") is None:
            self.home.sweep(accept_removals=True)

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index and the lock; nothing is pending."""
        self.home.index.close()
        self.home.tree.close()  # type: ignore[attr-defined]

    @property
    def path(self) -> Path:
        """The home's folder."""
        return Path(self.home.tree.root)  # type: ignore[attr-defined]

    @property
    def notices(self) -> list[str]:
        """What went wrong without harm since the last look."""
        told, self.home.notices = self.home.notices, []
        return told

    def bulk(self) -> AbstractContextManager[None]:
        """Many writes, acknowledged together at the end: files synced, then one commit of the index."""
        return self.home.bulk()

    # Writing

    def init(self) -> list[str]:
        return verbs.tending.init(self.home)

    def remember(self, text: str, **more: Any) -> Sequence[Chunk]:
        """Cut a text into chunks and keep them (conversation_id=, tags=, type=, confidence=, created=, source=, key=)."""
        return verbs.chunks.remember(self.home, text, **more)

    def note(self, title: str, text: str = "", **more: Any) -> Note:
        return verbs.notes.note(self.home, title, text, **more)

    def memo(self, name: str, text: str, **more: Any) -> Memo:
        return verbs.memos.memo(self.home, name, text, **more)

    def log(self, dialog: Any, topic: str | None = None, **more: Any) -> Entry:
        """Keep a dialog (text, path or messages) and draw its facts; `ask` is a model to ask instead of the configured one."""
        return verbs.dialogs.log(self.home, dialog, topic, providers=self.providers, **more)

    def review(self, fact: str, *args: Any, **more: Any) -> Fact:
        """A person's word on a fact: score=0…10 or None, correct={"object": "…"}."""
        return verbs.dialogs.review(self.home, fact, *args, **more)

    def record(self, work: Mapping[str, Any] | None = None, *, agent: str | None = None, project: str | None = None,
               session: str | None = None, created: Any = None, key: str | None = None, id: str | None = None,
               trust: str | None = None, usage: Any = (0, None), **fields: Any) -> Work:
        """Keep one unit of work: the five layers, or their fields flat; goal, task_type, success and summary are enough."""
        return verbs.work.record(self.home, {**(work or {}), **fields}, agent=agent, project=project, session=session,
                                 created=created, key=key, id=id, trust=trust, usage=usage)

    def agent(self, id: str | None = None, **more: Any) -> Agent:
        """Register an agent (type=, parent=, project=, metadata=), or get the one that is registered."""
        return verbs.work.register(self.home, id, **more)

    def chapter(self, works: Sequence[str], **more: Any) -> Chapter:
        """Make a chapter of these works by hand."""
        return verbs.chapters.make_chapter(self.home, works, **more)

    def edit(self, id: str, /, *, expect: str | None = None, **changes: Any) -> Any:
        return verbs.editing.edit(self.home, id, changes, expect)

    def link(self, source: str, type: str, target: str, **more: Any) -> Link:
        return verbs.links.link(self.home, source, type, target, **more)

    def unlink(self, source: str, type: str, target: str) -> None:
        verbs.links.unlink(self.home, source, type, target)

    def pin(self, id: str) -> str:
        return verbs.editing.pin(self.home, id)

    def unpin(self, id: str) -> str:
        return verbs.editing.unpin(self.home, id)

    def forget(self, id: str, *, purge: bool = False) -> Any:
        return verbs.purge.purge(self.home, id) if purge else verbs.editing.forget(self.home, id)

    def restore(self, id: str) -> Any:
        return verbs.editing.restore(self.home, id)

    def episode(self, heading: str, *, type: str = "diary", tags: Sequence[str] = (), summary: str = "") -> None:
        verbs.notes.episode(self.home, heading, type=type, tags=tags, summary=summary)

    def diary(self, date: str | None = None) -> Sequence[Mapping[str, Any]]:
        """A day's episodes; today's by default."""
        return verbs.notes.read_diary(self.home, date)

    def merge(self, keep: str, absorb: str) -> Note:
        return verbs.merging.merge(self.home, keep, absorb)

    def unmerge(self, absorbed: str) -> Note:
        return verbs.merging.unmerge(self.home, absorbed)

    # A session

    def brief(self, context: str = "", *, budget: int = 2000, **more: Any) -> Brief:
        """What to know at the start of a session, within a budget of tokens; no use is counted."""
        return verbs.session.brief(self.home, context, budget=budget, providers=self.providers, **more)

    def hud(self, **gauges: Any) -> str:
        """The LiveHud; past=, present= and future= are kept for the session."""
        return verbs.session.hud(self.home, **gauges)

    def end(self, text: str | Sequence[Mapping[str, Any]] = "", **more: Any) -> Ended:
        """Keep as memos what the session taught."""
        return verbs.session.end(self.home, text, **more)

    # Tending

    def garden(self, *, apply: bool = False, archive: bool = False, undo: bool = False) -> Garden:
        """What to supersede and consolidate among memos; applied, or taken back, only by a person."""
        return verbs.memos.garden(self.home, apply=apply, archive=archive, undo=undo)

    def cold(self, *, days: float = 180, uses: int = 1, apply: bool = False) -> Sequence[Move]:
        """Which works go to cold storage or come back from it; only `apply` moves them."""
        return verbs.work.store_cold(self.home, days=days, uses=uses, apply=apply)

    def sync(self, *, accept_removals: bool = False, progress: Progress | None = None) -> Sequence[Change]:
        """Compare the files with the index and bring the index up to them."""
        return self.home.sweep(accept_removals=accept_removals, progress=progress)

    def reindex(self, progress: Progress | None = None) -> dict[str, Any]:
        return verbs.exports.reindex(self.home, progress)

    def check(self, *, secrets: bool = False) -> Sequence[Finding]:
        return verbs.tending.check(self.home, secrets=secrets)

    def upkeep(self, progress: Progress | None = None) -> Report:
        from otolith.upkeep import run

        return run(self.home, progress, self.providers)

    def build_topic(self, topic: str, ask: Any = None) -> Topic:
        """Build a topic's memory from its entries and reviews."""
        return verbs.topics.build_topic(self.home, topic, verbs.topics.model_of(self.home, ask, self.providers))

    def build_global(self) -> GlobalMemory:
        """Build the front page from the topic memories."""
        return verbs.topics.build_global(self.home)

    def decay(self) -> Sequence[tuple[Any, ...]]:
        """Score every note and write _state.json: (id, uses, last use, score) of each."""
        return verbs.reports.decay(self.home)

    def embed(self, progress: Progress | None = None, tell: Callable[[str], None] | None = None) -> dict[str, Any]:
        """Bring the vectors up to the records and write _embeddings.json; `tell` hears what is sent where."""
        return verbs.exports.embed(self.home, providers=self.providers, progress=progress, tell=tell)

    def core(self) -> str:
        return verbs.reports.core(self.home)

    def reflection(self) -> str:
        return verbs.reports.reflection(self.home)

    def reflect(self, *, apply: bool = False) -> Reflected:
        return verbs.reports.reflect(self.home, apply=apply)

    def accept(self, proposal: str) -> Note:
        """Carry out one proposal of `reflect`, named by its key."""
        return verbs.reports.accept(self.home, proposal)

    def show(self, page: str) -> str:
        """CORE.md, REFLECTION.md or GLOBAL_MEMORY.md as it stands."""
        return verbs.reports.show(self.home, page)


def open(path: str | os.PathLike[str] | None = None, **more: Any) -> Memory:
    """Open a home: the folder given, else OTOLITH_HOME, else the user's own."""
    return Memory(path, **more)
