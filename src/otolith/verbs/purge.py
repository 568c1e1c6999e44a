"""`forget --purge`: remove every trace of a record that lies within reach, and say what does not.

The one verb that rewrites append-only files. It is carried out from a plan that is written down first (an
intent, see files/intents.py) in steps that may each be repeated: whoever finds the intent after a crash takes
them again. First all that names the record goes, its own files last; then what was built from it is built
anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

from otolith.errors import BrokenIndex, Busy, CannotWrite, Invalid, NeedsConfirmation, NotFound
from otolith.files import codec, intents, ledger, paths
from otolith.files.intents import PendingAct
from otolith.files.ledger import Keep
from otolith.files.tree import fingerprint
from otolith.home import Home, Named
from otolith.model.kinds import KINDS
from otolith.model.text import fold
from otolith.sync import doubles
from otolith.verbs import merging, reports, topics, undo
from otolith.verbs.chapters import without_work
from otolith.verbs.editing import files_of, forget
from otolith.verbs.exports import write_exports
from otolith.verbs.memos import cut_from_masters
from otolith.verbs.steps import bytes_of, each, fetch, insist, locate
from otolith.verbs.work import repack

PAGES = ("CORE.md", "REFLECTION.md", "_state.json", "_embeddings.json", "GLOBAL_MEMORY.json",
         "GLOBAL_MEMORY.md", *paths.EXPORTS)
RUNGS = {"_state.json": reports.decay_rung, "CORE.md": reports.core_rung,
         "REFLECTION.md": reports.reflection_rung}
BEYOND = ("git history", "exports and backups made earlier", "copies on other machines")
Plan = Mapping[str, Any]


def purge(home: Home, handle: str) -> dict[str, Any]:
    """Remove a record, its archive copy, links, usage, curation and diary lines; then shrink the index."""
    with home.writing():
        home.sweep()
        record = meant(home, handle)[0]
        plan, merged = _plan(home, record), home.index.graph.merged_into(record)
        before = _state(home)
        with home.act():
            shared = _carry_out(home, intents.declare(home.tree, "purge", record, plan))
        home.heed()
    after = _state(home)
    kept = [f"its text in {merged.unit}, into which it was merged"] if merged else []
    kept += [f"what somebody wrote in its part of {path}" for path in shared]
    kept += [f"what {path} says of it" for path in _naming(home, record, plan)]
    return {"id": record, "removed": [path for path in before if path not in after],
            "rewritten": [path for path in after if before.get(path) not in (None, after[path])],
            "beyond_reach": [*kept, *BEYOND, *(["the database's own backups"] if home.tree.cursor else [])]}


def forget_about(home: Home, words: str, *, everything: bool = False, yes: bool = False,
                 providers: Any = None) -> dict[str, Any]:
    """What is known about something; with `yes` it is put away in one act of the journal, or with
    `everything` purged. What only mentions it among other things is named and stays.
    """
    from otolith.verbs.about import known_about  # recall is needed only here

    records = known_about(home, words, providers)
    whole = [record for record in records if record.whole]
    answer = {"about": words, "items": [record._asdict() for record in whole], "total": len(whole),
              "mentions": [record._asdict() for record in records if not record.whole],
              "forgotten": yes and not everything, "purged": yes and everything}
    if not yes or not whole:
        return answer
    if home.trust != "user":
        raise NeedsConfirmation("a person decides what is forgotten altogether; agents propose",
                                f"have the user run: otolith forget --about {words!r}")
    if everything:
        for record in whole:
            with suppress(NotFound):  # it went with another, as a fact goes with its dialog
                purge(home, record.id)
        return answer
    rows = home.index.cards.rows_of([record.id for record in whole]).values()
    files = [path for row in rows for path in files_of(home, row.unit)]
    files += [f"{paths.topic_folder(row.topic)}/curation.jsonl" for row in rows if row.topic]
    with home.writing(), undo.recording(home, "forget", words, dict.fromkeys(files)):
        for record in whole:
            with suppress(NotFound):
                forget(home, record.id)
    return answer


def remember_again(home: Home, words: str) -> list[str]:
    """Take the last `forget --about` back, or the last one about these words; returns what came back."""
    acts = [act for act in undo.acts(home) if act.verb == "forget" and words in ("", act.id)]
    if not acts:
        raise NotFound("nothing was forgotten that could be taken back", "see: otolith list --archived")
    return undo.undo(home, acts[-1]).restored


def finish(home: Home, intent: PendingAct) -> None:
    """Carry on with a purge that was interrupted, or with a work's way into the cold or out of it."""
    if intent.verb == "repack":
        repack(home, intent)
        return
    home.sweep(accept_removals=True)
    _carry_out(home, intent)


def _state(home: Home) -> dict[str, Any]:
    """What is in the home, and in which version; of what is built, the content counts."""
    state: dict[str, Any] = dict(home.tree.scan())
    pages = [*PAGES, *(path for path in state if re.fullmatch(r"topics/[^/]+/topic_memory\..+", path))]
    return state | {path: fingerprint(data) for path in pages if (data := bytes_of(home, path)) is not None}


def meant(home: Home, handle: str) -> tuple[str, str]:
    """(id, title) of the record that a purge of this handle would remove:
    one that is there, else a forgotten one.
    """
    home.sweep()
    try:
        row = locate(home, handle, follow=False)
        return row.id, row.title
    except NotFound:
        old = {id: title for id, _, title, _ in home.index.cards.archived()
               if id == handle or (len(handle) >= 6 and id.startswith(handle)) or fold(title) == fold(handle)}
        if handle in old:
            return handle, old[handle]
        if len(old) > 1:
            some = ", ".join(f"{id} ({title[:40]})" for id, title in sorted(old.items())[:5])
            raise Invalid(f"{handle!r} could be {len(old)} forgotten records: {some}",
                          "give the id") from None
        if not old:
            raise
        return next(iter(old.items()))


# The plan: all that carrying it out, or finishing it another day, needs to know

def _plan(home: Home, record: str) -> dict[str, Any]:
    """What is to go: `paths` as files, `words` wherever they stand; what is built anew (`pages`) or told anew
    (`retold`).
    """
    index, old = home.index, home.index.cards.archived(record)
    row = index.cards.find(record)
    if row is None and not old:
        raise NotFound(f"no record {record!r}")
    kind, unit = (row.kind, row.unit) if row else (old[0][1], paths.first_name(old[0][3]))
    if not KINDS[kind].purge:
        raise Invalid(f"{KINDS[kind].named} is built and would come back",
                      "purge the entries it is built from")
    own = []
    if row and KINDS[kind].purge == "files":
        fetch(home, row)
        own = files_of(home, unit)
    own += [path for _, _, _, copy in old for path in files_of(home, copy)]
    own += doubles(home.tree, index, record)
    edges = _edges(home, record)
    titles = [row.title] if row else [title for _, _, title, _ in old]
    mention = unit.rsplit("/", 1)[-1] if KINDS[kind].purge == "files" else record
    words = [record, mention, *(title for title in titles if len(title) > 3)]
    facts = _facts_only_in(home, own) if KINDS[kind].states_facts else set[str]()
    folders = sorted({"/".join(path.removeprefix("archive/").split("/")[:2]) for path in own
                      if KINDS[kind].states_facts})
    retelling = _retelling(home, record)[0]
    ends = {end for _, copy in each(home, own) if hasattr(copy, "from_id")
            for end in (copy.from_id, copy.to_id)} | {end for edge in edges.values() for end in edge["ends"]}
    headings = [heading for title in titles for heading in merging.headings(title)]
    diaries = [path for path in home.tree.within("episodes") if (data := bytes_of(home, path))
               and ledger.strike_blocks(data, path, record, mention, headings) != data]
    retold = [unit for unit, other in retelling if other.type == "manual"]
    own += [unit for unit, other in retelling if other.type != "manual"]
    about = (*(f"{folder}/" for folder in folders), *(unit.removeprefix("archive/") for unit, _ in retelling))
    former = (f"{path.removeprefix('archive/')}." for path in own)
    pages = _pages(home, (*KINDS[kind].pages, *about, *former), words)
    return {"kind": kind, "mention": mention, "words": words, "at": home.clock(), "stage": "remove",
            "headings": headings, "retold": [*retold, *diaries],
            "paths": list(dict.fromkeys([*own, *(path for edge in edges.values() for path in edge["paths"]),
                                         *pages])),
            "edges": list(edges), "ends": sorted(ends - {record}), "facts": sorted(facts), "folders": folders,
            "pages": pages}


def _edges(home: Home, record: str) -> dict[str, dict[str, Any]]:
    """Edge files name both ends' titles, so they go too, forgotten ones as well:
    each edge with its ends and files.
    """
    edges: dict[str, dict[str, Any]] = {
        edge.id: {"ends": (edge.a, edge.b), "paths": [edge.unit]}
        for edge in home.index.notes.edges_at(record).values()}
    old = [path for *_, path in home.index.cards.archived() if path.startswith("archive/graph/edges/")]
    for path, edge in each(home, old):
        if record in (edge.from_id, edge.to_id) or edge.id in edges:
            edges.setdefault(edge.id, {"ends": (edge.from_id, edge.to_id), "paths": []})["paths"].append(path)
    return edges


def _facts_only_in(home: Home, files: list[str]) -> set[str]:
    """The facts that only a purged entry states: what people said about them tells of it too."""
    facts: set[str] = set()
    for folder in {path.rpartition("/")[0] for path in files
                   if path.endswith(("/summary.json", f"/{paths.PART}"))}:
        if not folder.startswith("archive/"):
            facts |= home.index.facts.only_in(folder)
        for _, entry in each(home, [folder] if folder.startswith("archive/") else []):
            said = {fact.id_in(folder.split("/")[2]) for fact in entry.facts}
            facts |= {fact for fact in said if not home.index.facts.stated(fact)}
    return facts


def _pages(home: Home, about: tuple[str, ...], words: list[str]) -> list[str]:
    """Built pages that name the record or may retell it; of copies that people's edits were laid aside in,
    the same.
    """
    built = [path for path in home.index.notes.documents("topics/") if "/topic_memory." in path]
    aside = home.index.notes.documents(paths.EDITED)
    return [path for path in (*PAGES, *built, *aside) if (data := bytes_of(home, path)) is not None
            and (path.removeprefix(paths.EDITED).startswith(about) or ledger.holds(data, words))]


def _naming(home: Home, record: str, plan: Plan) -> list[str]:
    """What still names it and is not ours to change: people's own words, other tools' copies, what cannot be
    read.
    """
    names, index = [record, f"/{plan['mention']}"], home.index.notes
    left = index.units_saying(*names)
    for path in [*index.documents(unread=True), *index.documents("archive/"), *index.documents("episodes/")]:
        if ledger.holds(bytes_of(home, path) or b"",
                        [*names, *(plan["words"][2:] if paths.is_copy(path) else ())]):
            left.append(path)
    return list(dict.fromkeys(left))


# Carrying it out: every step may be repeated

def _carry_out(home: Home, intent: PendingAct) -> list[str]:
    """Remove, then build; returns the masters that keep what people wrote among the record's text."""
    shared: list[str] = []
    if intent.plan["stage"] == "remove":
        shared = _remove(home, intent)
        intent = intents.amend(home.tree, intent, stage="build")
    home.tree.tidy()  # what killed writers left may hold its words, the intent's own writer too
    _build(home, intent.plan["pages"])
    home.tree.expunge(intent.plan["paths"], intent.plan["words"])
    _strike_bases(home, intent.plan)
    name = home.audit_name(intent.plan["kind"], intent.id)
    if not ledger.audited(home.tree, "purged", name, intent.plan["at"]):
        home.audit("purged", Named(intent.plan["kind"], intent.id), "")
    home.tree.remove(intent.path)
    return shared


def _remove(home: Home, intent: PendingAct) -> list[str]:
    record, plan = intent.id, intent.plan
    kind, words = KINDS[plan["kind"]], plan["words"]
    own = [path for path in plan["paths"] if kind.links == "header" and "allmemories/" in path]
    copies = [copy for _, copy in each(home, own) if copy.id == record]
    shared = cut_from_masters(home, copies) if copies else []
    _strip_records(home, record, plan["ends"])
    _rewrite_logs(home, record, plan)
    if kind.links == "header":
        _rewrite_lines(home, undo.GARDEN_LOG, lambda step: None if step.get("target") == record
                       or step.get("names") == [record] else undo.without(step, [record]), words)
    if kind.id_tells:
        _rewrite_lines(home, paths.AUDIT, lambda line: _unnamed(home, line, record, plan), words[:1])
    undo.strip(home, record, words[:2])
    for path in home.tree.within("log"):  # what sessions noted for their gauges
        if re.fullmatch(r"log/session-.+\.json", path) and ledger.holds(bytes_of(home, path) or b"", words):
            home.tree.remove(path)
    for path in plan["paths"]:
        with suppress(NotFound):
            home.tree.remove(path)
    for path in {path.removeprefix("archive/") for path in plan["paths"]}:
        if path.startswith("topics/"):  # folders that only a purged entry kept, or left when it was restored
            home.tree.prune(path)
            home.tree.prune(f"archive/{path}")
    home.sweep(accept_removals=True)
    _shrink(home, [record, *plan["edges"], *plan["facts"]], plan)
    return shared


def _strike_bases(home: Home, plan: Plan) -> None:
    """The versions that were agreed on with a team's space hold what went, too."""
    for path, _ in list(home.tree.scan("log")):
        _, name, rest = [*path.split("/", 2), "", ""][:3]
        if name.startswith("base-") and (rest in plan["paths"] or ledger.holds(bytes_of(home, path) or b"",
                                                                              plan["words"])):
            home.tree.remove(path)


def _strip_records(home: Home, record: str, ends: Collection[str]) -> None:
    """Other records without their links to it, forgotten ones too;
    what was built from it goes, or is told again.
    """
    retelling, others = _retelling(home, record, ends)
    for unit, other in retelling:
        _write_over(home, unit, other, without_work(home, other, record) if other.type == "manual" else None)
    for unit, other in others:
        _write_over(home, unit, other, other.without_links((record,)))


def _retelling(home: Home, record: str, ends: Collection[str] = ()) -> tuple[list[tuple[str, Any]],
                                                                             list[tuple[str, Any]]]:
    """(unit, record) of what was built from a record, step by step upward;
    and of what else may name it by a link.
    """
    index = home.index
    rows = index.cards.rows_of(list(dict.fromkeys([*index.notes.holders(record), *ends])))
    units = {row.unit for row in rows.values()}
    for row in [row for row in rows.values() if KINDS[row.kind].members]:
        units |= {above.unit for above in index.cards.rows_of(index.notes.holders(row.id)).values()
                  if KINDS[above.kind].members}
    units |= {path for _, kind, _, path in index.cards.archived() if KINDS[kind].links}
    held = [(unit, other) for unit, other in each(home, sorted(units)) if other.id != record
            and KINDS[other.kind].links]
    built, known = [item for item in held if KINDS[item[1].kind].members], {record}
    while more := {other.id for _, other in built
                   if not known.isdisjoint(getattr(other, KINDS[other.kind].members))} - known:
        known |= more
    return [item for item in built if item[1].id in known], [item for item in held
                                                             if not KINDS[item[1].kind].members]


def _write_over(home: Home, unit: str, before: Any, after: Any) -> None:
    """Put a record's new value into its file, if it is another one; None removes the file."""
    if after is None:
        home.tree.remove(unit)
    elif after != before:
        new = _rewrite(home, unit, lambda data: codec.amend(data, before, after, unit))
        if new and not unit.startswith("archive/"):
            home.audit("unlinked", before, fingerprint(new))


def _rewrite_logs(home: Home, record: str, plan: Plan) -> None:
    """links.jsonl, the usage ledger, curation lines and diary blocks, without the record and what went with
    it.
    """
    gone = {record, *plan["edges"], *plan["facts"]}
    needles = {*gone, *plan["words"]}

    def without(line: dict[str, Any]) -> dict[str, Any] | None:
        if record in (line.get("from"), line.get("to")) or line.get("fact_id") in gone:
            return None
        if isinstance(line.get("ids"), list) and not gone.isdisjoint(map(str, line["ids"])):
            rest = [used for used in line["ids"] if used not in gone]
            return {**line, "ids": rest} if rest else None
        if isinstance(line.get("base"), dict) and not gone.isdisjoint(line["base"]):
            return {"base": {key: value for key, value in line["base"].items() if key not in gone}}
        return line

    reviews = [f"{folder}/curation.jsonl" for folder in plan["folders"]] if plan["facts"] else []
    logs = [path for path in home.tree.within("log") if path.endswith(".jsonl") and path != undo.GARDEN_LOG]
    for path in (paths.LINKS, *logs, *reviews):
        _rewrite_lines(home, path, without, needles)
    for path in home.tree.within("episodes"):  # the index may not have heard of today's yet
        _rewrite(home, path, lambda data, path=path: ledger.strike_blocks(  # type: ignore[misc]
            data, path, record, plan["mention"], plan["headings"]))


def _unnamed(home: Home, line: dict[str, Any], record: str, plan: Plan) -> dict[str, Any]:
    """An audit line of an earlier version that names the record, with a hash in the name's place."""
    named = (line.get("kind") == plan["kind"]
             and str(line.get("id")).rsplit("/", 1)[-1] in (record, plan["mention"]))
    return {**line, "id": home.audit_name(plan["kind"], record)} if named else line


def _rewrite_lines(home: Home, path: str, keep: Keep, needles: Collection[str]) -> None:
    lost: list[int] = []
    _rewrite(home, path, lambda data: ledger.rewrite_lines(data, keep, needles, lost))
    if lost:
        lines = ", ".join(map(str, lost))
        home.notices.append(
            f"{path}: what stood in line {lines} could not be read but named what was purged; it is gone")


def _rewrite(home: Home, path: str, change: Callable[[bytes], bytes]) -> bytes:
    """A file's bytes changed, whoever else saves it meanwhile; returns what it holds now."""

    def rewritten() -> bytes:
        try:
            data, _ = home.tree.read(path)
        except NotFound:
            return b""
        if (new := change(data)) != data:
            home.tree.write(path, new, fingerprint(data))
        return new

    return insist(rewritten)


def _shrink(home: Home, gone: list[str], plan: Plan) -> None:
    """The index without what it held of the record, in its free pages and its log too."""
    index = home.index
    home.notices += [f"an older index may still hold it and could not be removed: {path}"
                     for path in index.remove_others()]
    try:
        index.marks.forget_naming(plan["words"][:2], gone)
        index.marks.forget("built", [path for path in index.marks.all("built") if not home.tree.look(path)])
        index.marks.forget("topics", [topic for topic in index.marks.all("topics")
                                      if not home.tree.look(f"topics/{topic}/topic_memory.json")])
        index.facts.redraw({unit: [] for unit in index.claims.gone()})  # what it claimed
        index.shrink(gone)
    except (BrokenIndex, Busy, CannotWrite) as error:
        home.notices.append(
            f"the files are purged, but the index could not be shrunk ({error}); try: otolith reindex")


def _build(home: Home, pages: list[str]) -> None:
    """Build what went once more, without the record; by rules, for a model and vectors have time until
    upkeep.
    """
    missing = [path for path in pages if not home.tree.look(path)]
    home.fold_usage()
    for path, rung in RUNGS.items():
        if path in missing:
            rung(home)
    for topic in sorted({path.split("/")[1] for path in missing if path.startswith("topics/")}):
        with suppress(NotFound):  # that was its last entry
            topics.build_topic(home, topic)
    if any(path.startswith("GLOBAL_") for path in missing):
        topics.global_rung(home)
    if "_embeddings.json" in missing:
        home.notices.append(
            "_embeddings.json named the record and is gone; it comes back with: otolith upkeep")
    if any(path in missing or home.tree.look(path) for path in paths.EXPORTS):
        write_exports(home)
