"""The table of kinds: a row says all in which one kind of record differs from others. Code asks the row.

    KINDS[row.kind].pin          how a record is pinned, "" if it cannot be
    kind("note").shape           its class, loaded when asked for; this module imports nothing of the model
    LISTED, COUNTED, DATED, …    the names of all kinds that have a property, for filters
    NOTE_TYPES, LINK_TYPES, …    the types within kinds, one row each as well
    as_json()                    the same for pages in other languages

A new kind is one row here and one class in this room; a new type of note is one row. The class has `kind`,
`id`, `title`, `type`, `created`, `card()` and what `body` names; tests/test_kinds.py compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, Literal, NamedTuple

# Types within kinds


class LinkType(NamedTuple):
    """What a link's word means: its canonical word, and how that reads from the far end."""

    canonical: str
    inverse: str
    inverted: bool = False  # the word points the other way
    symmetric: bool = False  # it has no direction


# Each seed keeps its own words for links in its own files; words that mean the same share a canonical word.
NOTE_LINKS = ("SOLVES", "CAUSES", "BUILDS_ON", "ALTERNATIVE_TO", "REQUIRES", "FOLLOWS", "RELATED_TO")
CHUNK_LINKS = ("context_of", "follows", "related_to", "supports", "contradicts")
WORK_LINKS = ("caused_by", "led_to", "related_to", "supersedes", "blocked_by")
LINK_TYPES: dict[str, LinkType] = {
    "SOLVES": LinkType("solves", "solved_by"),
    "CAUSES": LinkType("led_to", "caused_by"),
    "BUILDS_ON": LinkType("builds_on", "basis_of"),
    "ALTERNATIVE_TO": LinkType("alternative_to", "alternative_to", symmetric=True),
    "REQUIRES": LinkType("requires", "required_by"),
    "FOLLOWS": LinkType("follows", "followed_by"),
    "RELATED_TO": LinkType("related_to", "related_to", symmetric=True),
    "context_of": LinkType("context_of", "has_context"),
    "follows": LinkType("follows", "followed_by"),
    "related_to": LinkType("related_to", "related_to", symmetric=True),
    "supports": LinkType("supports", "supported_by"),
    "contradicts": LinkType("contradicts", "contradicts", symmetric=True),
    "caused_by": LinkType("led_to", "caused_by", inverted=True),
    "led_to": LinkType("led_to", "caused_by"),
    "supersedes": LinkType("supersedes", "superseded_by"),
    "blocked_by": LinkType("blocked_by", "blocks"),
    "mentions": LinkType("mentions", "mentioned_by"),  # a [[wikilink]] in a note's text
    "merged_into": LinkType("merged_into", "merged_from"),
    "pinned": LinkType("pinned", "pinned"),  # a person's own mark on a record, in links.jsonl
    "cites": LinkType("cites", "cited_by"),
    "part_of": LinkType("part_of", "has_part"),
}


class NoteType(NamedTuple):
    """One type of note: where its files lie, how long it holds, where CORE.md shows it, its relations."""

    name: str
    folder: str  # below graph/
    weight: float = 1.0  # in the decay score: how much longer it holds than others
    section: str = ""  # of CORE.md; "" is not shown there
    colour: str = "#616161"  # in drawn graphs
    relates: Mapping[str, str] = {}  # type of another note → the link that is proposed from this one to it
    lists: tuple[str, ...] = ()  # fields that only this type has: a procedure's steps


CORE_SECTIONS = ("Critical Solutions", "Active Decisions", "Key Fixes", "Configurations",
                 "Patterns & Workflows")  # in the page's order
SAID_SECTIONS = {"rule": "Active Decisions", "decision": "Active Decisions", "convention": "Configurations",
                 "command": "Configurations"}  # by what a memo says
FIXED_SECTIONS = {"failure": "Critical Solutions", "bug": "Key Fixes"}  # by what a work made good
PROCEDURE_LISTS = ("steps", "preconditions", "postconditions")
NOTE_TYPES: dict[str, NoteType] = {row.name: row for row in (
    NoteType("solution", "solutions", 1.2, "Critical Solutions", "#2e7d32",
             {"problem": "SOLVES", "error": "SOLVES", "solution": "ALTERNATIVE_TO"}),
    NoteType("fix", "fixes", 1.0, "Key Fixes", "#558b2f",
             {"problem": "SOLVES", "error": "SOLVES", "decision": "FOLLOWS"}),
    NoteType("decision", "decisions", 1.3, "Active Decisions", "#1565c0", {"decision": "ALTERNATIVE_TO"}),
    NoteType("configuration", "configurations", 1.1, "Configurations", "#00838f", {"decision": "FOLLOWS"}),
    NoteType("problem", "problems", 0.9, "", "#c62828", {"error": "CAUSES"}),
    NoteType("workflow", "workflows", 1.0, "Patterns & Workflows", "#6a1b9a", {"configuration": "REQUIRES"}),
    NoteType("code_pattern", "code-patterns", 1.1, "Patterns & Workflows", "#4527a0",
             {"solution": "BUILDS_ON", "fix": "BUILDS_ON"}),
    NoteType("error", "errors", 0.8, "", "#ad1457"),
    NoteType("general", "general", 0.8),
    NoteType("procedure", "procedures", 1.4, "Patterns & Workflows", "#283593",
             {"configuration": "REQUIRES", "solution": "BUILDS_ON", "workflow": "BUILDS_ON"},
             lists=PROCEDURE_LISTS),
    NoteType("insight", "insights", 1.25, "Patterns & Workflows", "#f9a825"),
)}
NOTE_FOLDERS = {row.folder: row.name for row in NOTE_TYPES.values()}

MEMO_CATEGORIES = ("past", "present", "future")
FACT_TYPES = ("identity", "commitment", "constraint", "preference", "trait", "event")  # as in do_not_forget
CHUNK_TYPES = {  # type → the heading under which a synthesis lists its chunks
    "fact": "Facts", "preference": "Preferences", "pattern": "Patterns", "note": "Notes",
    "decision": "Decisions"}
TASK_TYPES = ("bug_fix", "feature_add", "refactor", "investigation", "test_write", "documentation",
              "optimization", "security_fix", "dependency_update", "configuration", "other")

# Kinds

Codec = Literal["front", "header", "json", "raw", "diary", "folder", "none"]
Pin = Literal["vault", "score", "mark", ""]
Forget = Literal["archive", "score", ""]
Purge = Literal["files", "block", ""]
Links = Literal["edges", "lists", "header", "members", ""]
Around = Literal["turns", "conversation", "passages", ""]
OriginPlace = Literal["origin", "otolith", "meta", "trust", ""]


class Kind(NamedTuple):
    """One kind of record."""

    name: str
    source: str  # module of this room and class, e.g. note:Note; `shape` loads it
    plural: str  # on pages: 3 notes
    heading: str  # of its part of an exported book
    # Files
    codec: Codec  # front matter, header lines, JSON, plain bytes, blocks of a diary, a folder; none: no file
    files: tuple[str, ...]  # patterns of its files: * is one name, ** any depth, DATE a day
    place: str = ""  # where a new record's file belongs; files.paths fills in the names in braces
    schema: str = ""  # the id that its file begins with; "" where its class or its format has one of its own
    # What may be done to it
    types: tuple[str, ...] = ()  # what `type` may be, where it is one of a few words
    editable: tuple[str, ...] = ()  # the fields that a page offers to change
    not_edited: str = ""  # why edit refuses it, or ""
    section: str = ""  # of CORE.md, where all of the kind stand in one
    built: bool = False  # made from other records and nothing else: removed, it comes back
    built_from: str = ""  # the kind below it on its ladder
    pages: tuple[str, ...] = ()  # how the names of built pages begin that retell it
    members: str = ""  # the field that names the records it is built from
    pin: Pin = "mark"  # a line in links.jsonl; or it moves to the vault, or gets the score 10; "" refused
    forget: Forget = "archive"  # its files move to archive/; or it gets the score 0; "" is refused
    not_forgotten: tuple[str, str] = ("", "")  # why: message and hint
    purge: Purge = "files"  # its files go; or its block of a file; "" is refused: it would come back
    # Links and origin
    links: Links = ""  # where the truth of its links lies: edge files and relations, its lists, a header,
    #                    its members; "" in links.jsonl, as all links between records of different kinds
    link_words: tuple[str, ...] = ()  # the words that its own files can hold between two of this kind
    origin: OriginPlace = ""  # which field says who wrote it
    # How it is shown and found
    body: str = "text"  # the attribute or method with its whole text; "" tells its lists
    layers: str = ""  # the method that renders it at a depth, where it has layers of its own
    echo: bool = False  # it mostly repeats other records, which are to rank before it
    titled: bool = True  # its title is its own, not drawn from its text
    lines: bool = False  # its text keeps its line breaks; else it is Markdown
    around: Around = ""  # beside a passage stand the dialog's turns, its conversation's chunks, its passages
    listed: bool = False  # in lists and graphs that name no kind
    counted: bool = True  # in counts and charts, and offered unasked; not what only accompanies other records
    dated: bool = True  # its date answers a question about a day
    decays: bool = True
    weighted: bool = False  # its types decay at different rates
    id_tells: bool = False  # its id says what it is about: audit lines hold a hash of it
    named_by_file: bool = False  # found by its file's name, too
    states_facts: bool = False  # facts are drawn from it
    claims: bool = False  # what it says is read for claims about what holds
    retells: bool = False  # it tells facts again: those that hold no longer are left out when it is delivered
    embedded_at_once: bool = False  # its vector is made with the write, if that costs little
    colour: str = "#7b7b74"
    dark: str = "#a3a39b"  # its colour on a dark page

    @property
    def shape(self) -> Any:
        """Its class."""
        return _load(self.source)

    @property
    def named(self) -> str:
        """The name with its article: an entry, a note."""
        return f"an {self.name}" if self.name[0] in "aeiou" else f"a {self.name}"

    @property
    def alone(self) -> bool:
        """One record, one file: the file's hash is the record's."""
        return self.codec in ("front", "header", "json", "raw")

    @property
    def written(self) -> bool:
        """People and agents write it; it is not made from other records and does not only join them."""
        return self.listed and not self.built_from

    @property
    def drawn(self) -> bool:
        """It has no file: it stands in what another record says, and the index brings it together."""
        return self.codec == "none"

    @property
    def hides_links(self) -> bool:
        """Its own links to forgotten records are hidden while these are away; see its `without_links`."""
        return self.links in ("edges", "lists")


_BUILT = ("is built and would come back", "forget the entries it is built from")
_ROWS = (
    Kind("note", "note:Note", "notes", "Notes", "front", ("graph/**.md", "vault/**.md"),
         "{folder}/{slug}-{suffix}.md", types=tuple(NOTE_TYPES), origin="origin", pin="vault",
         pages=("CORE.md", "REFLECTION.md"), editable=("title", "text", "type", "tags", "importance"),
         links="edges", link_words=NOTE_LINKS, body="prose", claims=True, around="passages", listed=True,
         named_by_file=True, weighted=True, colour="#b8622f", dark="#e0935f"),
    Kind("edge", "note:Edge", "edges", "Relations", "front", ("graph/edges/*.md",),
         "graph/edges/{from}--{type}--{to}-{suffix}.md", types=NOTE_LINKS, origin="origin", pin="",
         editable=("text", "strength"), echo=True, counted=False, dated=False, decays=False),
    Kind("memo", "memo:Memo", "memos", "Memos", "header", ("allmemories/*.md",), "allmemories/{id}.md",
         types=MEMO_CATEGORIES, origin="origin", editable=("text", "category", "tags"), links="header",
         link_words=("supersedes",), claims=True, around="passages", listed=True, id_tells=True,
         colour="#7560b5",
         dark="#a996e6"),
    Kind("chunk", "chunk:Chunk", "chunks", "Chunks", "json", ("chunks/*/*.json",), "chunks/{month}/{id}.json",
         types=tuple(CHUNK_TYPES), origin="otolith", editable=("content", "type", "tags", "confidence"),
         links="lists", link_words=CHUNK_LINKS, body="content", claims=True, titled=False, lines=True,
         around="conversation", listed=True, colour="#3c8288", dark="#6bb9bf"),
    Kind("entry", "dialog:Entry", "entries", "Dialogs", "folder",
         ("topics/*/*/raw.md", "topics/*/*/meta.json", "topics/*/*/summary.json",
          "topics/*/*/summary.part.jsonl"), "topics/{topic}/{id}", types=("dialog",), origin="meta",
         pages=("GLOBAL_",),
         not_edited="entries are append-only; log another one", body="transcript", titled=False, lines=True,
         around="turns", listed=True, states_facts=True, colour="#4d8446", dark="#85bd7c"),
    Kind("fact", "dialog:Fact", "facts", "Facts", "none", (), types=FACT_TYPES, origin="trust",
         built_from="entry", not_edited="facts are corrected with: otolith review", pin="score",
         forget="score", purge="", body="quoted", titled=False, lines=True, dated=False,
         colour="#7e8a24", dark="#b8c45a"),
    Kind("topic", "dialog:Topic", "topics", "Topics", "json", ("topics/*/topic_memory.json",),
         "topics/{topic}/topic_memory.json", types=("topic",), origin="trust", built=True, built_from="entry",
         not_edited="topics are built from entries; review their facts instead", pin="", forget="",
         not_forgotten=_BUILT, purge="", body="", echo=True, retells=True, lines=True, listed=True,
         dated=False, decays=False, id_tells=True, colour="#ad4d84", dark="#dd86b7"),
    Kind("global", "dialog:GlobalMemory", "global memory", "Global memory", "json", ("GLOBAL_MEMORY.json",),
         "GLOBAL_MEMORY.json", types=("global",), built=True, built_from="topic",
         not_edited="the global memory is built from topics", pin="", forget="",
         not_forgotten=_BUILT, purge="", body="", echo=True, retells=True, lines=True, counted=False,
         dated=False, decays=False),
    Kind("work", "work:Work", "works", "Work", "json", ("work/*/*.json", "work/cold/*/*.json.gz"),
         "work/{month}/{id}.json", "work_memory.v1", types=TASK_TYPES, origin="origin",
         editable=("tags", "importance"),
         links="lists", link_words=WORK_LINKS, body="whole", claims=True, layers="at_depth", lines=True,
         listed=True,
         embedded_at_once=True, colour="#3f6fb0", dark="#79a6e3"),
    Kind("agent", "work:Agent", "agents", "Agents", "json", ("work/agents/*.json",), "work/agents/{id}.json",
         "agent.v1", types=("main", "subagent"), body="", counted=False, dated=False),
    Kind("chapter", "narrative:Chapter", "chapters", "Chapters", "json", ("work/chapters/*.json",),
         "work/chapters/{id}.json", "chapter.v1", types=("manual", "auto"), origin="trust",
         editable=("title", "summary", "tags"),
         built_from="work", members="memories", links="members", body="", echo=True, lines=True, listed=True,
         colour="#28899a", dark="#62bccb"),
    Kind("wisdom", "narrative:Wisdom", "wisdom", "Wisdom", "json", ("work/wisdom/*.json",),
         "work/wisdom/{id}.json", "wisdom.v1", types=("wisdom",), origin="trust",
         built_from="chapter", members="chapters",
         section="Patterns & Workflows",
         links="members", body="", echo=True, lines=True, listed=True, colour="#b08412", dark="#dcb146"),
    Kind("episode", "note:Episode", "episodes", "Diary", "diary", ("episodes/DATE.md",), "episodes/{date}.md",
         types=("diary",), not_edited="the diary is append-only", forget="", purge="block", not_forgotten=(
             "the diary is append-only", "remove the block for good with: otolith forget --purge ID"),
         titled=False, counted=False, decays=False),
    Kind("page", "note:Page", "pages", "Pages", "raw", ("memories/**",), "memories/{path}", types=("page",),
         around="passages", listed=True, id_tells=True),
)
KINDS: dict[str, Kind] = {row.name: row for row in _ROWS}
_PLURALS = {row.plural: row.name for row in _ROWS}
LISTED = tuple(row.name for row in _ROWS if row.listed)
WRITTEN = tuple(row.name for row in _ROWS if row.written)
COUNTED = tuple(row.name for row in _ROWS if row.counted)
DATED = tuple(row.name for row in _ROWS if row.dated)
LINKING = tuple(row.name for row in _ROWS if row.links)  # whose files may name other records


def singular(name: str) -> str:
    """The name of a kind, of which people may speak in the plural; any other word as it is."""
    return _PLURALS.get(name, name)


def kind(name: str) -> Kind:
    """The row of a kind; a name that no record has is refused."""
    from otolith.errors import Invalid

    row = KINDS.get(singular(name))
    if row is None:
        raise Invalid(f"unknown kind {name[:40]!r}", f"use one of {', '.join(KINDS)}")
    return row


@cache
def _load(source: str) -> Any:
    module, _, name = source.partition(":")
    return getattr(import_module(f"otolith.model.{module}"), name)


def origin_of(record: Any) -> Any:
    """Who wrote a record: its Origin, or None where it carries none."""
    place = KINDS[record.kind].origin
    if place in ("otolith", "meta"):
        return getattr(record, place).origin
    return record.origin if place == "origin" else None


def as_json() -> dict[str, Any]:
    """What a page has to know of kinds and types, in the table's order."""
    fields = ("name", "plural", "heading", "types", "editable", "pin", "forget", "listed", "counted", "lines",
              "colour", "dark")
    return {
        "kinds": [{field: getattr(row, field) for field in fields} for row in _ROWS],
        "note_types": [{field: getattr(row, field) for field in ("name", "colour", "section")}
                       for row in NOTE_TYPES.values()],
        "link_types": [{"name": name, **row._asdict()} for name, row in LINK_TYPES.items()],
    }
