"""`forget --purge`: remove every trace of a record that lies within reach, and say what does not.

The one verb that rewrites append-only files.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any

from strata.errors import Busy, CannotWrite, Invalid, NotFound
from strata.files import codec, ledger, paths
from strata.files.tree import fingerprint
from strata.home import Home
from strata.index import read, vectors
from strata.index.facts import only_in, stated
from strata.model.record import without_links
from strata.model.text import fold
from strata.verbs import reports, topics
from strata.verbs.chapters import without_work
from strata.verbs.editing import BUILT, files_of
from strata.verbs.exports import write_exports
from strata.verbs.finding import Named, bytes_of, each, fetch, locate
from strata.verbs.memos import GARDEN_LOG, cut_from_masters, unmark
from strata.verbs.merging import records_about

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
        edges = [edge for edge, in home.db.execute("SELECT DISTINCT edge FROM links WHERE edge IS NOT NULL AND (a = ? OR b = ?)",
                                                   (record, record))]
        cut, emptied, shared = cut_from_masters(home, copies) if copies else ([], [], [])
        removed += emptied
        home.refresh([*cut, *emptied])
        touched = [*cut, *_drop_edges(home, record), *_strip_references(home, record)]
        rewritten = _rewrite_logs(home, record, mention, {record, *edges, *told}) + _drop_reviews(home, files, told)
        if kind == "memo":
            _rewrite_lines(home, GARDEN_LOG, lambda step: _without_memo(step, record))
        _clear_gauges(home, [record, *titles])
        built = _drop_built(home, _pages_about(files, kind, touched), [record, mention, *titles])
        removed += built
        home.tree.tidy()
        _drop_empty(home, removed)
        home.refresh([*map(paths.unit_of, removed), *touched, *rewritten])
        home.audit("purged", Named(kind, record), "")
    if any(home.tree.look(path) for path in paths.EXPORTS):
        rewritten += write_exports(home)
    _shrink(home, record)
    rewritten += (back := _rebuild(home, built))
    removed = [path for path in removed if path not in back]
    kept = [f"its text in {merged.unit}, into which it was merged"] if merged else []
    kept += [f"what somebody wrote in its part of {path}" for path in shared]
    return {"id": record, "removed": removed, "rewritten": [*touched, *rewritten], "beyond_reach": [*kept, *BEYOND]}


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
        home.notices.append("_embeddings.json named the record and is gone; it comes back with: strata upkeep")
    return [path for path in gone if home.tree.look(path)]


def _shrink(home: Home, record: str) -> None:
    """The index without what it held of the record, in its free pages and its log too."""
    db = home.index.db
    try:
        with home.index.writing():
            db.execute("DELETE FROM usage WHERE id = ?", (record,))
            home.index.set("usage_bytes", 0)  # the ledger was rewritten: it is read again from its beginning
            db.execute("INSERT INTO words(words) VALUES ('optimize')")
            vectors.compact(db, force=True)
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except (sqlite3.Error, Busy, CannotWrite) as error:
        home.notices.append(f"the files are purged, but the index could not be shrunk ({error}); try: strata reindex")


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
    copies += records_about(home, handle if old else locate(home, handle, follow=False).id)
    try:
        row = locate(home, handle, follow=False)
    except NotFound:
        if not old:
            raise
        return copies, handle, old[0][1], old[0][3].rsplit("/", 1)[-1]
    if row.kind in BUILT or row.kind == "fact":
        raise Invalid(f"a {row.kind} is built and would come back", "purge the entries it is built from")
    if row.kind == "episode":
        return [], row.id, row.kind, row.id
    fetch(home, row)
    return [*files_of(home, row.unit), *copies], row.id, row.kind, row.unit.rsplit("/", 1)[-1]


def _drop_edges(home: Home, record: str) -> list[str]:
    """Edge files name both ends' titles, so they go too."""
    gone = []
    for edge, unit in home.db.execute("SELECT DISTINCT edge, unit FROM links WHERE edge IS NOT NULL AND (a = ? OR b = ?)",
                                      (record, record)).fetchall():
        if home.tree.look(unit):
            home.tree.remove(unit)
            gone.append(unit)
            for _, _, _, copy in read.archived(home.db, edge):
                home.tree.remove(copy)
    return gone


def _strip_references(home: Home, record: str) -> list[str]:
    """Other records' own links to it."""
    changed = []
    query = "SELECT DISTINCT r.id FROM links l JOIN records r ON r.unit = l.unit WHERE (l.a = ? OR l.b = ?) AND r.id <> ?"
    linked = [other for other, in home.db.execute(query, (record, record, record))]
    ends = [other for other, in home.db.execute(
        "SELECT CASE WHEN a = ? THEN b ELSE a END FROM links WHERE edge IS NOT NULL AND (a = ? OR b = ?)",
        (record, record, record))]
    for other in dict.fromkeys([*linked, *ends]):
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


def _without(home: Home, held: Any, record: str) -> Any:
    """Another record without its own links to the one that goes; None for what was built from it."""
    if held.kind == "wisdom":
        return None
    if held.kind == "chapter":
        return without_work(home, held, record) if held.origin == "manual" else None
    if held.kind == "memo":
        text = unmark(held.text) if held.deprecated_by == record else held.text
        return held.replace(supersedes=tuple(name for name in held.supersedes if name != record), text=text)
    return without_links(held, (record,))


def _without_memo(step: dict[str, Any], record: str) -> dict[str, Any] | None:
    """A line of the garden's log without a memo that goes; None if nothing is left to tell."""
    if step.get("target") == record:
        return None
    rest = [name for name in step.get("names", ()) if name != record]
    if not rest and "names" in step:
        return None
    parts = {name: part for name, part in step.get("parts", {}).items() if name != record}
    return {key: {"names": rest, "parts": parts}.get(key, value) for key, value in step.items()}


def _clear_gauges(home: Home, needles: list[str]) -> None:
    """What sessions noted for their gauges, where it names the record."""
    folder = f"{getattr(home.tree, 'root', '')}/log"
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if re.fullmatch(r"session-.+\.json", name):
            said = bytes_of(home, f"log/{name}") or b""
            if any(form in said for needle in needles for form in (needle.encode(), json.dumps(needle)[1:-1].encode())):
                home.tree.remove(f"log/{name}")


def _drop_empty(home: Home, removed: list[str]) -> None:
    """Folders that only a purged entry kept."""
    root = getattr(home.tree, "root", None)
    for path in removed if root else ():
        while (path := path.rpartition("/")[0]).removeprefix("archive/").startswith("topics/"):
            try:
                os.rmdir(f"{root}/{path}")
            except OSError:  # not empty
                break


def _rewrite_logs(home: Home, record: str, mention: str, gone: Collection[str]) -> list[str]:
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
        if _rewrite_lines(home, path, without) and path == paths.LINKS:
            rewritten.append(path)
    for unit, in home.db.execute("SELECT DISTINCT unit FROM records WHERE kind = 'episode'").fetchall():
        if _rewrite(home, unit, lambda data, unit=unit: _purge_blocks(data, unit, record, mention)):  # type: ignore[misc]
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
                found |= {one for one in said if not stated(home.db, one)}
        elif folder != path:
            found |= only_in(home.db, folder)
    return found


def _drop_reviews(home: Home, files: list[str], told: set[str]) -> list[str]:
    paths_of = {f"topics/{path.removeprefix('archive/').split('/')[1]}/curation.jsonl" for path in files} if told else set()
    return [path for path in sorted(paths_of)
            if _rewrite_lines(home, path, lambda line: None if line.get("fact_id") in told else line)]


def _rewrite_lines(home: Home, path: str, keep: Callable[[dict[str, Any]], dict[str, Any] | None]) -> bool:
    def change(data: bytes) -> bytes:
        lines = []
        for _, line in ledger.read_lines(data):
            kept = None if line is None else keep(line)
            if kept is not None:
                lines.append(json.dumps(kept, ensure_ascii=False, separators=(",", ":")) + "\n")
        return "".join(lines).encode()

    return _rewrite(home, path, change)


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


def _purge_blocks(data: bytes, unit: str, record: str, mention: str) -> bytes:
    """Diary blocks that are the record, or link to its file, become `(purged)`."""
    date = unit.rsplit("/", 1)[-1].removesuffix(".md")
    parts = re.split(r"(?m)^(?=## \d\d:\d\d - )", data.decode(errors="surrogateescape"))
    seen: dict[str, int] = {}
    for at, block in enumerate(parts):
        if not block.startswith("## "):
            continue
        minute = block[3:8].replace(":", "")
        seen[minute] = seen.get(minute, 0) + 1
        if f"episode:{date}#{minute}-{seen[minute]}" == record or f"/{mention})" in block:
            parts[at] = f"## {block[3:8]} - (purged)\n\n"
    return "".join(parts).encode(errors="surrogateescape")

