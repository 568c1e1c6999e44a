"""`otolith import`: items of a foreign format turned into verbs, each once, whatever is run how often.

A dry run only counts. Everything is marked as coming from outside, secrets are replaced before anything is
written, and what could not be read or would overwrite something is told and left.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otolith import verbs
from otolith.doors import exchange
from otolith.doors.exchange.items import (
    ChunkItem,
    Dialog,
    FileItem,
    Item,
    LadderItem,
    LinkItem,
    MemoItem,
    NoteItem,
    SourceFinding,
    WorkItem,
)
from otolith.errors import Conflict, Damaged, Invalid, NotFound
from otolith.files import codec, front, ledger
from otolith.model.kinds import kind as row_of
from otolith.model.secrets import holds_secret, redact, redact_value
from otolith.model.times import parse_time
from otolith.verbs.renewing import take_note

if TYPE_CHECKING:
    from otolith.memory import Memory

Progress = Callable[[int, int], None]
KINDS = {Dialog: "dialog", NoteItem: "note", MemoItem: "memo", ChunkItem: "chunk", WorkItem: "work",
         LadderItem: "ladder", LinkItem: "link", FileItem: "file"}
NAMES = ("name", "path", "project", "session", "conversation_id")  # of an item; they name files and folders
BATCH = 100  # items, for which others wait a moment


def _label(item: Any) -> str:
    """What a person calls it."""
    return item.kind if isinstance(item, LadderItem) else KINDS[type(item)]


def _says(yaml: str, wanted: dict[str, Any]) -> bool:
    """Whether this front matter still says what is wanted."""
    try:
        return front.parse(yaml) == wanted
    except Damaged:
        return False


@contextmanager
def receiving(home: str | None) -> Iterator[Memory]:
    """The home, opened for what comes from outside. A thousand dialogs are not sent to a model unasked: rules
    read them, and upkeep may ask later.
    """
    from otolith import config
    from otolith.memory import Memory
    from otolith.opening import open_home

    tree = open_home(home)
    settings = config.load(tree).replace(chat_url=None, chat_model=None, model_command=None)
    with Memory(tree, door="import", trust="outside", config=settings) as mem:
        yield mem


def _count(path: Path, name: str | None) -> int:
    """How many items a source has."""
    return sum(not isinstance(item, SourceFinding) for item in exchange.read(path, name))


class Import:
    """One import: what was found, kept, known already, and what went wrong."""

    def __init__(self, mem: Memory | None) -> None:
        self.mem = mem  # without a home it is a dry run
        if mem is not None:
            mem.home.run = f"import-{mem.home.new_id()[:8]}"
        self.found: Counter[str] = Counter()
        self.kept: Counter[str] = Counter()
        self.known: Counter[str] = Counter()
        self.updated: Counter[str] = Counter()
        self.secrets: Counter[str] = Counter()
        self.findings: list[SourceFinding] = []
        self._ids: dict[str, str] = {}  # an item's key → the record it became, for links
        self._entries: dict[str, dict[str, bytes]] = {}
        self._last: list[FileItem] = []  # links.jsonl, when everything it may name is here

    def run(self, path: Path, name: str | None = None, progress: Progress | None = None) -> Import:
        """Read a source to its end; with somebody watching it is first counted."""
        self._total = _count(path, name) if progress else 0
        links: list[LinkItem] = []
        waiting: list[Item] = []
        done = 0
        for found in exchange.read(path, name):
            if isinstance(found, SourceFinding):
                self.findings.append(found)
                continue
            self.found[_label(found)] += 1
            if self.mem is None:
                continue
            if isinstance(found, LinkItem):
                links.append(found)
                continue
            waiting.append(found)
            if len(waiting) == BATCH:
                done = self._keep_all(waiting, done, progress)
        done = self._keep_all(waiting, done, progress)
        rest: list[Any] = [*self._whole_entries(), *self._last, *links]
        for at in range(0, len(rest), BATCH):
            done = self._keep_all(rest[at : at + BATCH], done, progress)
        return self

    def _keep_all(self, items: list[Any], done: int, progress: Progress | None) -> int:
        """Keep a batch with one group of syncs and one commit of the index; the list is emptied."""
        if self.mem is None or not items:
            return done
        with self.mem.bulk(), self.mem.home.together():
            for item in items:
                done += 1
                if progress:
                    progress(done, max(self._total, done))
                self._keep(item)
        items.clear()
        return done

    def _keep(self, item: Any) -> None:
        kind = "entry" if isinstance(item, tuple) else KINDS[type(item)]
        try:
            if holds_secret(*(str(getattr(item, name, None) or "") for name in NAMES)):
                raise Invalid("a name in it is a secret", "give it another name, then import it")
            kept = self._entry(*item) if isinstance(item, tuple) else getattr(self, f"_{kind}")(item)
        except (Invalid, Conflict, Damaged, NotFound) as error:
            where = item[0] if isinstance(item, tuple) else getattr(item, "path", item.key)
            self.findings.append(SourceFinding(where=redact(str(where))[0], message=redact(str(error))[0]))
            return
        if kept is not None:
            (self.kept if kept else self.known)[kind if isinstance(item, tuple) else _label(item)] += 1

    def _said(self, text: str) -> str:
        clean, secrets = redact(text)
        self.secrets.update(secrets)
        return clean

    def _tags(self, item: Any) -> list[str]:
        """The item's tags; one that is a secret is none."""
        return [tag for tag in item.tags if self._said(tag) == tag]

    def _dialog(self, item: Dialog) -> bool:
        from otolith.doors.agents import transcripts

        assert self.mem is not None
        messages, secrets = transcripts.clean(item.turns)
        session = item.session or item.key
        fresh = verbs.capture.not_yet_said(self.mem.home, session, messages, keyed=False)
        if not fresh:
            return False
        self.secrets.update(secrets)
        key = verbs.capture.key_of(item.source, session, fresh)
        own = item.source in ("chatgpt", "claude")  # each conversation there has a subject of its own
        topic = self._said(item.topic or "") or (None if own else item.project or item.source)
        entry = self.mem.log(fresh, topic=topic, project=item.project, session=session, key=key,
                             created=fresh[0].get("ts") or item.created, title=self._said(item.title) or None)
        self._ids[item.key] = entry.id
        return True

    def _note(self, item: NoteItem) -> bool | None:
        assert self.mem is not None
        fields = {"title": self._said(item.title), "text": self._said(item.text).strip("\n"),
                  "type": item.type, "tags": tuple(self._tags(item)),
                  "aliases": tuple(map(self._said, item.aliases)) or None}
        self._ids[item.key], came = take_note(self.mem.home, item.key, fields, self._clean(dict(item.more)),
                                              project=item.project, created=item.created)
        if came == "updated":
            self.updated["note"] += 1
            return None
        return came == "kept"

    def _memo(self, item: MemoItem) -> bool:
        assert self.mem is not None
        before = self.mem.home.made
        memo = self.mem.memo(item.name, self._said(item.text), category=item.category, tags=self._tags(item),
                             created=item.created)
        self._ids[item.key] = memo.id
        return self.mem.home.made > before

    def _chunk(self, item: ChunkItem) -> bool:
        assert self.mem is not None
        before = self.mem.home.made
        chunks = self.mem.remember(self._said(item.text), tags=self._tags(item), type=item.type,
                                   source="import", key=item.key,
                                   conversation_id=item.conversation_id or item.source, created=item.created)
        self._ids[item.key] = chunks[0].id
        return self.mem.home.made > before

    def _work(self, item: WorkItem) -> bool:
        assert self.mem is not None
        before = self.mem.home.made
        layers = {name: self._clean(getattr(item, name))
                  for name in ("intent", "outcome", "perception", "reasoning")}
        actions = self._clean(list(item.actions))
        more = [{"type": "file_edit" if doing != "read" else "file_read", "details": {"file_path": path}}
                for path, doing in item.files if path not in str(actions)]
        fields = {**layers, "actions": [*actions, *more], "tags": self._tags(item),
                  "importance": item.importance}
        work = verbs.work.record(self.mem.home, fields, agent=item.agent, project=item.project,
                                 session=item.session, created=item.created, id=item.id, trust="outside",
                                 usage=(item.uses, parse_time(item.used) if item.used else None))
        self._ids[item.key] = work.id
        return self.mem.home.made > before

    def _ladder(self, item: LadderItem) -> bool:
        from otolith.verbs.taking import take_record

        assert self.mem is not None
        record = row_of(item.kind).shape.from_dict(self._clean(dict(item.fields)))
        self._ids[item.key] = record.id
        return take_record(self.mem.home, record)

    def _link(self, item: LinkItem) -> bool:
        assert self.mem is not None
        ends = [self._ids.get(end) for end in (item.start, item.end)]
        if not ends[0] or not ends[1]:
            raise NotFound(f"an end of the link {item.type} was not imported")
        index, start = self.mem.home.index, ends[0]
        beside = index.attempt(lambda: index.graph.neighbours(start))
        if any(neighbour.id == ends[1] and neighbour.said != "mentions" for neighbour in beside):
            return False
        self.mem.link(ends[0], item.type, ends[1], created=item.created,
                      context=self._said(item.context) if item.context else None)
        return True

    def _file(self, item: FileItem) -> bool | None:
        from otolith.verbs import taking

        assert self.mem is not None
        parts = item.path.split("/")
        if parts[0] == "topics" and len(parts) == 4:
            self._entries.setdefault("/".join(parts[:3]), {})[parts[3]] = self._bytes(item.path, item.data)
            return None  # kept when the whole entry is there
        if item.path.endswith("curation.jsonl"):
            self.findings.append(SourceFinding(where=item.path,
                                         message="scores are a person's own; review the facts here"))
            return None
        if item.path == "links.jsonl" and item not in self._last:
            self._last.append(item)
            return None
        if item.path == "links.jsonl":
            taken, wrong = taking.take_links(self.mem.home, self._bytes(item.path, item.data))
            self.findings += [SourceFinding(where=one.path, line=one.line or 0, message=one.message)
                              for one in wrong]
            return bool(taken) if taken or not wrong else None
        return taking.take_file(self.mem.home, item.path, self._bytes(item.path, item.data)) is not None

    def _whole_entries(self) -> Iterator[Any]:
        yield from sorted(self._entries.items())

    def _entry(self, folder: str, files: dict[str, bytes]) -> bool:
        from otolith.verbs.taking import take_entry

        assert self.mem is not None
        return take_entry(self.mem.home, folder, files) is not None

    def _bytes(self, path: str, data: bytes) -> bytes:
        """A file without its secrets: they are looked for in what its strings say, never in how they are
        written down.
        """
        if path.endswith(".gz"):
            plain = codec.unzip(path, data)
            clean = self._bytes(path.removesuffix(".gz"), plain)
            return data if clean == plain else gzip.compress(clean, mtime=0)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            return data  # damaged; whoever decodes it says so
        if path.endswith(".json"):
            return self._json(text, codec.write_object).encode()
        if path.endswith(".jsonl"):
            return "\n".join(self._json(line, ledger.as_line) for line in text.split("\n")).encode()
        return (self._front(text) if path.endswith(".md") else self._said(text)).encode()

    def _json(self, text: str, write: Callable[[Any], bytes]) -> str:
        """JSON without secrets, sign for sign as it was where it holds none; what is no JSON is just text."""
        try:
            said = json.loads(text.removeprefix("\ufeff"))
            clean = self._clean(said)
            return (text if clean == said else write(clean).decode().removesuffix("" if text.endswith("\n")
                                                                                  else "\n"))
        except json.JSONDecodeError:
            return self._said(text)
        except (ValueError, RecursionError):
            raise Invalid("it cannot be looked through for secrets",
                          "it is nested too deeply, or contains what JSON cannot express") from None

    def _front(self, text: str) -> str:
        """Markdown without secrets, its front matter still the YAML it was."""
        try:
            taken = front.split(text)
            said = front.parse(taken.yaml) if taken else {}
        except Damaged:
            return self._said(text)  # whoever decodes it says so
        if taken is None:
            return self._said(text)
        clean = self._clean(said)
        if clean.keys() != said.keys():
            raise Invalid("a key of the front matter is a secret", "take it out by hand")
        changes = {key: clean[key] for key in said if clean[key] != said[key]}
        if changes:
            text = front.amend(text, changes, written=said)
            taken = front.split(text) or taken
        yaml = redact(taken.yaml)[0]  # a comment may hold one, too
        if yaml != taken.yaml and not _says(yaml, clean):
            yaml = taken.yaml
        return text[: taken.start] + yaml + text[taken.stop : taken.rest] + self._said(taken.body)

    def _clean(self, value: Any) -> Any:
        """The value without secrets, wherever in it they are."""
        clean, secrets = redact_value(value)
        self.secrets.update(secrets)
        return clean

    def to_dict(self) -> dict[str, Any]:
        run = self.mem.home.run if self.mem and self.kept else None
        return {"found": dict(self.found), "kept": dict(self.kept), "known": dict(self.known),
                "updated": dict(self.updated), "import": run, "secrets": dict(self.secrets),
                "findings": [{"path": one.where, "line": one.line, "message": one.message}
                             for one in self.findings]}
