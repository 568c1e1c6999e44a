"""`forget --purge`: remove every trace of a record that lies within reach, and say what does not.

The one verb that rewrites append-only files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any

from otolith.errors import BrokenIndex, Busy, CannotWrite, Invalid, NotFound
from otolith.files import codec, ledger, paths
from otolith.files.ledger import Keep
from otolith.files.tree import fingerprint
from otolith.home import Home
from otolith.index import read
from otolith.model.text import fold
from otolith.verbs import merging, reports, topics
from otolith.verbs.chapters import without_work
from otolith.verbs.editing import BUILT, files_of
from otolith.verbs.exports import write_exports
from otolith.verbs.memos import GARDEN_LOG, cut_from_masters, without_memo
from otolith.verbs.steps import Named, bytes_of, each, fetch, locate

PAGES = ("CORE.md", "REFLECTION.md", "_state.json", "_embeddings.json", "GLOBAL_MEMORY.json", "GLOBAL_MEMORY.md")
LINKING = ("note", "chunk", "work", "memo", "chapter", "wisdom")
BEYOND = ("git history", "exports and backups made earlier", "copies on other machines")


def purge(home: Home, handle: str) -> dict[str, Any]:
    """Remove a record, its archive copy, links, usage, curation and diary lines; then shrink the index."""
    home.sweep()
    files, record, kind, mention = _target(home, meant(home, handle)[0])
    merged, row = read.merged_into(home.db, record), read.find(home.db, record)
    named = [row.title] if row else [title for _, _, title, _ in read.archived(home.db, record)]
    titles = [title for title in named if len(title) > 3]
    removed, told = [], _facts_only_in(home, files) if kind == "entry" else set[str]()
    copies = [one for _, one in each(home, files)] if kind == "memo" else []
    with home.tree.lock():
        for path in files:
            home.tree.remove(path)
            removed.append(path)
        cut, emptied, shared = cut_from_masters(home, copies) if copies else ([], [], [])
        removed += emptied
        home.refresh([*cut, *emptied])
        edges, dropped = _drop_edges(home, record)
        ends = [end for edge in edges.values() for end in edge]
        touched = [*cut, *dropped, *_strip_references(home, record, ends), *_strip_forgotten(home, record)]
        gone, needles = {record, *edges, *told}, [record, mention, *titles]
        headings = [heading for title in named for heading in merging.headings(title)]
        rewritten = _rewrite_logs(home, record, mention, gone, {*gone, *needles}, headings) + _drop_reviews(home, files, told, needles)
        if kind == "memo":
            _rewrite_lines(home, GARDEN_LOG, lambda step: without_memo(step, record), needles)
        _clear_gauges(home, [record, *titles])
        built = _drop_built(home, _pages_about(files, kind, touched), needles)
        removed += built
        home.tree.tidy()
        _drop_empty(home, removed)
        home.refresh([*map(paths.unit_of, removed), *touched, *rewritten])
        home.audit("purged", Named(kind, record), "")
    if any(home.tree.look(path) for path in paths.EXPORTS):
        rewritten += write_exports(home)
    _shrink(home, record)
    rewritten += (back := _rebuild(home, built))
    kept = [f"its text in {merged.unit}, into which it was merged"] if merged else []
    kept += [f"what somebody wrote in its part of {path}" for path in shared]
    kept += [f"what {path} says of it" for path in _naming(home, record, mention, titles)]
    changed = dict.fromkeys([*touched, *rewritten])
    removed = [path for path in removed if path not in back] + [path for path in changed if not home.tree.look(path)]
    return {"id": record, "removed": removed, "rewritten": [path for path in changed if home.tree.look(path)],
            "beyond_reach": [*kept, *BEYOND]}


def _naming(home: Home, record: str, mention: str, titles: list[str]) -> list[str]:
    """What still names it and is not ours to change: people's own words, other tools' copies, what cannot be read."""
    spoken = "SELECT DISTINCT r.unit FROM passages p JOIN records r ON r.n = p.record WHERE instr(p.text, ?) OR instr(p.text, ?)"
    found = [unit for unit, in home.db.execute(spoken, (record, f"/{mention}"))]
    for path, in home.db.execute("SELECT path FROM documents WHERE hash = '' OR path LIKE 'archive/%' "
                                 "OR path LIKE 'episodes/%'").fetchall():
        if ledger.holds(bytes_of(home, path) or b"", [record, f"/{mention}", *(titles if paths.is_copy(path) else ())]):
            found.append(path)
    return list(dict.fromkeys(found))


def _pages_about(files: list[str], kind: str, touched: list[str]) -> tuple[str, ...]:
    """How the paths of built pages begin that may retell the record without naming it."""
    if kind == "entry":
        return (*sorted({f"topics/{path.removeprefix('archive/').split('/')[1]}/" for path in files}), "GLOBAL_")
    return ("CORE.md", "REFLECTION.md") if kind == "note" else tuple(path for path in touched if path.startswith("work/"))


def _drop_built(home: Home, about: tuple[str, ...], needles: list[str]) -> list[str]:
    """Built pages that name the record, and those that may retell it, if a person changed them or laid them aside."""
    found = [path for path, in home.db.execute(
        "SELECT path FROM documents WHERE path LIKE 'topics/%/topic_memory.%' OR path LIKE 'archive/edited/%'")]
    gone = []
    for path in (*PAGES, *found):
        said = bytes_of(home, path)
        if said is None:
            continue
        page = path.removeprefix("archive/edited/")
        told = page.startswith(about) and (page != path or "GLOBAL_" in about or home.edited_by_hand(path, said))
        if told or any(form in said for needle in needles for form in (needle.encode(), json.dumps(needle)[1:-1].encode())):
            home.tree.remove(path)
            gone.append(path)
    return gone


def _rebuild(home: Home, gone: list[str]) -> list[str]:
    """Build the pages once more, without the record; by rules, for a model and vectors have time until upkeep."""
    home.fold_usage()
    rungs = {"_state.json": reports.decay_rung, "CORE.md": reports.core_rung, "REFLECTION.md": reports.reflection_rung}
    for path, rung in rungs.items():
        if path in gone:
            rung(home)
    for topic in sorted({path.split("/")[1] for path in gone if path.startswith("topics/")}):
        with suppress(NotFound):  # that was its last entry
            topics.build_topic(home, topic)
    if any(path.startswith("GLOBAL_") for path in gone):
        topics.global_rung(home)
    if "_embeddings.json" in gone:
        home.notices.append("_embeddings.json named the record and is gone; it comes back with: otolith upkeep")
    return [path for path in gone if home.tree.look(path)]


def _shrink(home: Home, record: str) -> None:
    """The index without what it held of the record, in its free pages and its log too."""
    db = home.index.db
    home.notices += [f"an older index may still hold it and could not be removed: {path}" for path in home.index.remove_others()]
    try:
        with home.index.writing():
            db.execute("DELETE FROM usage WHERE id = ?", (record,))
            marks = home.index.marks
            marks.forget("built", [path for path in marks.all("built") if not home.tree.look(path)])
            marks.forget("topics", [topic for topic in marks.all("topics")
                                    if not home.tree.look(f"topics/{topic}/topic_memory.json")])
            home.index.documents.recount()
            db.execute("INSERT INTO words(words) VALUES ('optimize')")
            home.index.meaning.compact(force=True)
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except (BrokenIndex, Busy, CannotWrite) as error:
        home.notices.append(f"the files are purged, but the index could not be shrunk ({error}); try: otolith reindex")


def meant(home: Home, handle: str) -> tuple[str, str]:
    """(id, title) of the record that a purge of this handle would remove: one that is there, else a forgotten one."""
    home.sweep()
    try:
        row = locate(home, handle, follow=False)
        return row.id, row.title
    except NotFound:
        old = {id: title for id, _, title, _ in read.archived(home.db)
               if id == handle or (len(handle) >= 6 and id.startswith(handle)) or fold(title) == fold(handle)}
        if handle in old:
            return handle, old[handle]
        if len(old) > 1:
            some = ", ".join(f"{id} ({title[:40]})" for id, title in sorted(old.items())[:5])
            raise Invalid(f"{handle!r} could be {len(old)} forgotten records: {some}", "give the id") from None
        if not old:
            raise
        return next(iter(old.items()))


def _target(home: Home, handle: str) -> tuple[list[str], str, str, str]:
    """(files, id, kind, how the diary mentions it) of a record that is there or forgotten."""
    old = read.archived(home.db, handle)
    copies = [path for _, _, _, unit in old for path in files_of(home, unit)]
    copies += [*merging.records_about(home, handle), *home.doubles(handle)]
    try:
        row = locate(home, handle, follow=False)
    except NotFound:
        if not old:
            raise
        return copies, handle, old[0][1], paths.first_name(old[0][3]).rsplit("/", 1)[-1]
    if row.kind in BUILT or row.kind == "fact":
        raise Invalid(f"a {row.kind} is built and would come back", "purge the entries it is built from")
    if row.kind == "episode":
        return [], row.id, row.kind, row.id
    fetch(home, row)
    return [*files_of(home, row.unit), *copies], row.id, row.kind, row.unit.rsplit("/", 1)[-1]


def _drop_edges(home: Home, record: str) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """Edge files name both ends' titles, so they go too, forgotten ones as well: each edge with its ends, and the files."""
    found = home.db.execute("SELECT DISTINCT edge, a, b, unit FROM links WHERE edge IS NOT NULL AND (a = ? OR b = ?)",
                            (record, record)).fetchall()
    old = [unit for _, kind, _, unit in read.archived(home.db) if kind == "edge"]
    found += [(edge.id, edge.from_id, edge.to_id, unit) for unit, edge in each(home, old) if record in (edge.from_id, edge.to_id)]
    files = dict.fromkeys([unit for *_, unit in found if home.tree.look(unit)])
    files |= dict.fromkeys([copy for edge, *_ in found for *_, copy in read.archived(home.db, edge)])
    for path in files:
        home.tree.remove(path)
    return {edge: (a, b) for edge, a, b, _ in found}, list(files)


def _strip_references(home: Home, record: str, ends: Collection[str] = ()) -> list[str]:
    """Other records' own links to it; `ends` are notes that hold copies of its edges."""
    changed = []
    query = "SELECT DISTINCT r.id FROM links l JOIN records r ON r.unit = l.unit WHERE (l.a = ? OR l.b = ?) AND r.id <> ?"
    linked = [other for other, in home.db.execute(query, (record, record, record))]
    for other in dict.fromkeys([*linked, *(end for end in ends if end != record)]):
        row = read.find(home.db, other)
        if row is None or row.kind not in LINKING or not home.tree.look(row.unit):
            continue
        loaded = home.load(other)
        held = loaded.record
        if held.kind in ("chapter", "wisdom"):  # what retells it goes, too, and is built again
            changed += _strip_references(home, held.id)
        new = _without(home, held, record)
        if new is None:
            home.tree.remove(loaded.path)
        elif new != held:
            home.change(loaded, new, verb="unlinked")
        if new != held:
            changed.append(loaded.path)
    return changed


def _strip_forgotten(home: Home, record: str) -> list[str]:
    """The same for records in the archive, of whose links the index knows nothing."""
    changed, gone = [], {record}
    old = [unit for _, kind, _, unit in read.archived(home.db) if kind in LINKING]
    gone |= {chapter for chapter, in home.db.execute("SELECT chapter_id FROM chapter_memories WHERE memory_id = ?", (record,))}
    for unit, held in each(home, sorted(old)):  # chapters before the wisdom that is built on them
        named = {*getattr(held, "memories", ()), *getattr(held, "chapters", ())} if held.kind in ("chapter", "wisdom") else {record}
        if not named & gone or record == held.id or not home.tree.look(unit):
            continue
        if held.kind == "chapter":
            gone.add(held.id)
            changed += _strip_references(home, held.id)
        new = _without(home, held, record)
        data, _ = home.tree.read(unit)
        if new is None:
            home.tree.remove(unit)
        elif new != held:
            home.tree.write(unit, codec.amend(data, held, new, unit), fingerprint(data))
        if new != held:
            changed.append(unit)
    return changed


def _without(home: Home, held: Any, record: str) -> Any:
    """Another record without its own links to the one that goes; None for what was built from it."""
    if held.kind == "wisdom":
        return None
    if held.kind == "chapter":
        return without_work(home, held, record) if held.origin == "manual" else None
    return held.without_links((record,))


def _clear_gauges(home: Home, needles: list[str]) -> None:
    """What sessions noted for their gauges, where it names the record."""
    for path in home.tree.within("log"):
        if re.fullmatch(r"log/session-.+\.json", path) and ledger.holds(bytes_of(home, path) or b"", needles):
            home.tree.remove(path)


def _drop_empty(home: Home, removed: list[str]) -> None:
    """Folders that only a purged entry kept, in the archive and where it came from."""
    for path in [*removed, *(path.removeprefix("archive/") for path in removed)]:
        if path.removeprefix("archive/").startswith("topics/"):
            home.tree.prune(path)


def _rewrite_logs(home: Home, record: str, mention: str, gone: Collection[str], needles: Collection[str],
                  headings: Collection[str]) -> list[str]:
    """links.jsonl, the usage ledger, curation lines and diary blocks, without the record and what went with it."""
    rewritten = []
    usage = paths.usage_log(home.machine)

    def without(line: dict[str, Any]) -> dict[str, Any] | None:
        if record in (line.get("from"), line.get("to"), line.get("fact_id")):
            return None
        if isinstance(line.get("ids"), list) and any(one in gone for one in line["ids"]):
            rest = [one for one in line["ids"] if one not in gone]
            return {**line, "ids": rest} if rest else None
        if isinstance(line.get("base"), dict) and any(one in gone for one in line["base"]):
            return {"base": {key: value for key, value in line["base"].items() if key not in gone}}
        return line

    for path in (paths.LINKS, usage, paths.SHOWN):
        if _rewrite_lines(home, path, without, needles) and path == paths.LINKS:
            rewritten.append(path)
    for unit in home.index.notes.documents("episodes/"):
        if _rewrite(home, unit, lambda data, unit=unit: ledger.strike_blocks(data, unit, record, mention, headings)):  # type: ignore[misc]
            rewritten.append(unit)
    return rewritten


def _facts_only_in(home: Home, files: list[str]) -> set[str]:
    """The facts that only a purged entry states: what people said about them tells of it too."""
    found: set[str] = set()
    for path in files:
        folder = path.removesuffix("/summary.json")
        if folder != path and path.startswith("archive/"):
            for entry in codec.read_unit(home.tree, folder)[0]:
                said = {fact.id_in(path.split("/")[2]) for fact in entry.facts}
                found |= {one for one in said if not home.index.facts.stated(one)}
        elif folder != path:
            found |= home.index.facts.only_in(folder)
    return found


def _drop_reviews(home: Home, files: list[str], told: set[str], needles: list[str]) -> list[str]:
    paths_of = {f"topics/{path.removeprefix('archive/').split('/')[1]}/curation.jsonl" for path in files} if told else set()
    return [path for path in sorted(paths_of)
            if _rewrite_lines(home, path, lambda line: None if line.get("fact_id") in told else line, {*told, *needles})]


def _rewrite_lines(home: Home, path: str, keep: Keep, needles: Collection[str]) -> bool:
    lost: list[int] = []
    done = _rewrite(home, path, lambda data: ledger.rewrite_lines(data, keep, needles, lost))
    if lost:
        lines = ", ".join(map(str, lost))
        home.notices.append(f"{path}: what stood in line {lines} could not be read but named what was purged; it is gone")
    return done


def _rewrite(home: Home, path: str, change: Callable[[bytes], bytes]) -> bool:
    try:
        data, _ = home.tree.read(path)
    except NotFound:
        return False
    new = change(data)
    if new == data:
        return False
    home.tree.write(path, new, fingerprint(data))
    return True
