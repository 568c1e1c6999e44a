"""The undo journal: archive/undo/<at>-<verb>.json, one file for each act of several files that may be taken
back.

An act is written down before the first file changes, with the bytes of all it may change; when it is done,
with the fingerprints of what it made and those bytes alone that lie nowhere else. Undoing puts back each file
that is still what the act made of it. Of a record that was changed since, the fields are put back that were
not; a file that cannot be is left and named. The newest 50 acts of the last 30 days are kept. Merge records
and the garden's log of earlier versions are read, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from otolith.errors import Damaged, Invalid, NotFound
from otolith.files import codec, ledger, paths
from otolith.files.codec import read_object, write_object
from otolith.files.tree import fingerprint
from otolith.home import Home, Named
from otolith.model.kinds import KINDS
from otolith.model.record import Link
from otolith.model.shape import plain
from otolith.model.times import parse_time, utc
from otolith.verbs.links import mend, reinstate, write_line
from otolith.verbs.steps import bytes_of, each

KEPT, DAYS = 50, 30
MERGES, GARDEN_LOG = "archive/merges/", "log/garden.jsonl"  # of earlier versions


class Act(NamedTuple):
    """What was done, and what each file was before: `files` is path → before, after, fields, at (see
    `_entry`).

    `details` are what files do not say: `links` and `uses` to take back, `superseded` memos, and a verb's
    own.
    """

    path: str
    verb: str
    id: str
    at: str
    done: bool
    files: dict[str, dict[str, Any]]
    details: dict[str, Any]


class Undone(NamedTuple):
    """What an undo put back, and which files it left because somebody changed them since."""

    act: Act
    restored: list[str]
    left: list[str]


# Recording

@contextmanager
def recording(home: Home, verb: str, about: str, files: Iterable[str],
              details: dict[str, Any] | None = None) -> Iterator[dict[str, Any]]:
    """Record an act that may change these files; yields its details, to be filled as far as not given.

    One broken off before is carried on with.
    """
    earlier = acts(home)
    for at, act in enumerate(act for act in earlier if act.at):
        if at <= len(earlier) - KEPT or parse_time(act.at[:15]) < home.clock() - DAYS * 86400:
            _forget(home, act)
    before = {path: _bytes(home, path) for path in files}
    for first in (act for act in earlier if (act.verb, act.id, act.done) == (verb, about, False)):
        before |= {path: _before(home, entry) for path, entry in first.files.items()}
        _forget(home, first)
    stamp = utc(home.clock()).strftime("%Y%m%dT%H%M%S.%fZ")
    while home.tree.look(path := f"{paths.UNDO}{stamp}-{verb}.json"):
        stamp = f"{stamp[:-1]}1Z"
    act = Act(path, verb, about, stamp, False,
              {name: {"before": _pack(data)} for name, data in before.items()}, details or {})
    data = _write(home, act, None)
    done = False
    try:
        yield act.details
        done = True
    finally:
        made = {name: entry for name, old in before.items() if (entry := _changed(home, name, old))}
        if made and not done:  # what it began the next writer may end, so all that it was about is kept
            made = {name: {"before": _pack(old)} for name, old in before.items()} | made
        if made:
            _write(home, act._replace(done=done, files=made), fingerprint(data))
        else:
            _forget(home, act)


def write_down(home: Home, verb: str, about: str, details: dict[str, Any]) -> None:
    """Record an act that is done and changed files which its details take back."""
    stamp = utc(home.clock()).strftime("%Y%m%dT%H%M%S.%fZ")
    while home.tree.look(path := f"{paths.UNDO}{stamp}-{verb}.json"):
        stamp = f"{stamp[:-1]}1Z"
    with home.writing():
        _write(home, Act(path, verb, about, stamp, True, {}, details), None)


def _write(home: Home, act: Act, replacing: str | None) -> bytes:
    data = write_object({key: value for key, value in act._asdict().items() if key != "path"})
    home.tree.write(act.path, data, replacing)
    home.refresh([act.path])
    return data


def _bytes(home: Home, path: str) -> bytes | None:
    """What a file holds, None if there is none: one that cannot be read just now is not taken for gone."""
    try:
        return home.tree.read(path)[0]
    except NotFound:
        return None


def _changed(home: Home, path: str, before: bytes | None) -> dict[str, Any] | None:
    """One file after the act, unless it is what it was; of what cannot be read only what it was is known."""
    try:
        return _entry(home, path, before) if _bytes(home, path) != before else None
    except Damaged:
        return {"before": _pack(before)}


def _entry(home: Home, path: str, before: bytes | None) -> dict[str, Any]:
    """One file after the act: its fingerprint (None: it is gone) and what it was:
    bytes, or `at` the place they are now.
    """
    now = _bytes(home, path)
    after = None if now is None else fingerprint(now)
    if before is None:
        return {"before": None, "after": after}
    if now is None:
        for number in range(100):
            place = paths.numbered(paths.archived(path), number)
            if (data := _bytes(home, place)) is None:
                break
            if data == before:
                return {"at": place, "after": None}
            if _values(path, data).get("id") == _values(path, before).get("id"):  # changed, then put away
                return {"before": _pack(before), "after": None, "aside": place}
        return {"before": _pack(before), "after": None}
    old, new = (_values(path, data) for data in (before, now))
    return {"before": _pack(before), "after": after,
            "fields": {name: _mark(new[name]) for name in new if name in old and old[name] != new[name]}}


def _values(path: str, data: bytes) -> dict[str, Any]:
    """A record's fields as plain values."""
    try:
        record = codec.decode(path, data, float)[0]
    except (Damaged, Invalid, IndexError):
        return {}
    return {name: plain(getattr(record, name)) for name in record._fields if name != "extra"}


def _mark(value: Any) -> Any:
    """What a field is recognised by: a fingerprint, of a list one for each element."""
    if isinstance(value, list | tuple):
        return [_mark(element) for element in value]
    return fingerprint(json.dumps(plain(value), sort_keys=True,
                                  ensure_ascii=False).encode(errors="surrogatepass"))[:16]


def _pack(data: bytes | None) -> str | None:
    return None if data is None else data.decode()  # records are text


def _before(home: Home, entry: Mapping[str, Any]) -> bytes | None:
    """What a file was before the act."""
    if "at" in entry:
        return _bytes(home, entry["at"])
    return None if entry.get("before") is None else entry["before"].encode()


def _forget(home: Home, act: Act) -> None:
    """Take an act out of the journal."""
    if act.path == GARDEN_LOG:
        ledger.append_line(home.tree, GARDEN_LOG, {"op": "undo", "run": act.id})
    elif home.tree.look(act.path):
        home.tree.remove(act.path)
        home.refresh([act.path])


# Reading

def acts(home: Home) -> list[Act]:
    """The acts that can be undone, oldest first; those of earlier versions before all others."""
    home.ensure_fresh()
    journal: list[Act] = []
    for path in home.index.notes.documents(paths.UNDO):
        try:
            journal.append(Act(path=path, **read_object(home.tree.read(path)[0])))
        except (Damaged, NotFound, TypeError):
            continue
    return [*_old_garden(home), *_old_merges(home), *journal]


def _old_merges(home: Home) -> Iterator[Act]:
    """archive/merges/<id>.json: each value before and after."""
    cards = home.index.cards
    for path in home.index.notes.documents(MERGES):
        try:
            held = read_object(home.tree.read(path)[0])
            rows = cards.rows_of([held["keep"], *held["edges"]])
            values = {held["keep"]: {**held["note"], "relations": [[], held["relations"]]}, **held["edges"]}
        except (Damaged, NotFound, KeyError, TypeError):
            continue
        files = {row.unit: {"values": {name: pair[0] for name, pair in values[record].items()}, "after": "",
                            "fields": {name: _mark(pair[1]) for name, pair in values[record].items()}}
                 for record, row in rows.items()}
        for record in (held["absorb"], *held["dropped"]):
            files |= _in_archive(home, record)
        yield Act(path, "merge", held["absorb"], "", True, files,
                  {"links": [[held["absorb"], "merged_into", held["keep"]]],
                   "uses": {held["keep"]: held.get("uses", [0, None])}})


def _old_garden(home: Home) -> Iterator[Act]:
    """log/garden.jsonl: one line a step, the steps of a run together."""
    lines = [line for _, line in ledger.read_log(home.tree, GARDEN_LOG) if line]
    undone = {line.get("run") for line in lines if line.get("op") == "undo"}
    for run in dict.fromkeys(line["run"] for line in lines if line.get("op") == "apply"
                             and line.get("run") not in undone):
        files: dict[str, dict[str, Any]] = {}
        steps = [line for line in lines if line.get("run") == run]
        for step in steps:
            for name in step["names"] if step["archived"] else ():
                files |= {} if home.index.cards.find(name) else _in_archive(home, name)
            row = home.index.cards.find(step["target"])
            if row is None:
                continue
            memo = home.load(row.id).record
            text = memo.text[: step["signs"]]
            same = not step["made"] and fingerprint(text.encode()) == step["text"]
            files[row.unit] = {"before": None,
                               "after": fingerprint(bytes_of(home, row.unit) or b"")} if step["made"] else {
                "after": "", "values": {"text": text, "tags": step["tags"]},
                "fields": {"text": _mark(memo.text) if same else "",
                           **({"tags": _mark(memo.tags)} if same else {})}}
        yield Act(GARDEN_LOG, "garden", run, "", True, files, {"targets": [step["target"] for step in steps],
            "parts": {step["target"]: step.get("parts", {}) for step in steps},
            "superseded": [[step["target"], name] for step in steps if not step["archived"]
                           for name in step["names"]]})


def _in_archive(home: Home, record: str) -> dict[str, dict[str, Any]]:
    """Where a forgotten record's files lie and where they belong."""
    files = {}
    for unit, held in each(home, [path for *_, path in home.index.cards.archived(record)][-1:]):
        files[paths.restored(unit, held)] = {"at": unit, "after": None}
    return files


def broken_off(home: Home, verb: str) -> list[Act]:
    """The acts of a verb that somebody began and did not end, oldest first."""
    return [act for act in acts(home) if act.verb == verb and not act.done]


def has_changed(home: Home, act: Act, path: str) -> bool:
    """Whether a file is another one than before the act."""
    return path in act.files and _bytes(home, path) != _before(home, act.files[path])


# Undoing

def undo(home: Home, act: Act | str | None = None) -> Undone:
    """Take back an act: the last one, or one named by its file or by what it was about."""
    with home.writing():
        chosen = act if isinstance(act, Act) else _choose(home, act)
        restored, left = list[str](), list[str]()
        for path, entry in reversed(chosen.files.items()):
            (restored if _put_back(home, chosen, path, entry) else left).append(path)
        places = [entry[key] for entry in chosen.files.values() for key in ("at", "aside") if key in entry]
        home.refresh(dict.fromkeys(map(paths.unit_of, (*restored, *places))))
        _take_back_details(home, chosen.details)
        _mend(home, restored)
        _forget(home, chosen)
        for path in restored:
            for row in home.index.cards.in_unit(path):
                home.audit("undid", Named(row.kind, row.id), fingerprint(bytes_of(home, path) or b""))
    return Undone(chosen, restored, left)


def _choose(home: Home, name: str | None) -> Act:
    named = [act for act in acts(home) if name in (None, act.path, act.path[len(paths.UNDO) : -len(".json")],
                                                   act.id)]
    if named:
        return named[-1]
    raise NotFound(f"no act {name[:80]!r} in the journal" if name else "there is nothing to undo",
                   f"it may be older than {DAYS} days, or undone already")


def _put_back(home: Home, act: Act, path: str, entry: Mapping[str, Any]) -> bool:
    """Give a file what it was before, if it is still what the act made of it;
    of a changed record, what was not changed.
    """
    now, before = _bytes(home, path), _before(home, entry)
    mark = None if now is None else fingerprint(now)
    if (now == before and "values" not in entry) or ("at" in entry and before is None and now is not None):
        return True  # or an undo that was broken off has put it back
    if "after" not in entry:  # an act that was broken off does not know what it made
        entry = _entry(home, path, before)
    if mark == entry["after"]:
        if path in act.details.get("gathered", ()):  # made of what other records say
            home.tree.remove(path)
        elif before is None:
            home.put_away(home.read(path)[0][0], [path])
        elif "at" in entry:
            home.tree.move(entry["at"], path)
        else:
            home.tree.write(path, before, mark)
            if "aside" in entry and home.tree.look(entry["aside"]):
                home.tree.remove(entry["aside"])
        return True
    if now is not None and entry.get("fields"):
        return _put_fields(home, act, path, entry, _values(path, before) if before
                           else entry.get("values", {}))
    home.notices.append(f"{path} was changed since the {act.verb}; it was left as it is")
    return False


def _put_fields(home: Home, act: Act, path: str, entry: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    rows = home.index.cards.in_unit(path)
    if not rows:
        return False
    loaded = home.load(rows[0].id)
    record, changes, stayed = loaded.record, dict[str, Any](), []
    for name, mark in entry["fields"].items():
        value = getattr(record, name)
        if isinstance(mark, list):
            changes[name] = _without_added(value, before.get(name), mark)
        elif _mark(value) == mark:
            changes[name] = before.get(name)
        elif not name.startswith("updated"):
            stayed.append(name)
    if stayed:
        home.notices.append(
            f"{path} was changed since the {act.verb}; its {', '.join(stayed)} stayed as they are")
    home.change(loaded, type(record).from_dict({**record.to_dict(), **changes}), verb="undid")
    return True


def _without_added(value: Any, before: Any, mark: list[Any]) -> list[Any] | None:
    """A list without what the act put in, and with what it took out."""
    marks = [_mark(element) for element in before or ()]
    kept = [element for element in plain(value) or () if _mark(element) not in mark
            or _mark(element) in marks]
    back = [element for element, own in zip(before or (), marks, strict=True) if own not in mark
            and element not in kept]
    return [*kept, *back] or (None if before is None else [])


def _take_back_details(home: Home, details: Mapping[str, Any]) -> None:
    for source, word, target in details.get("links", ()):
        write_line(home, "remove", Link(source=source, type=word, target=target))
    for record, uses in details.get("uses", {}).items():
        ledger.append_line(home.tree, paths.usage_log(home.machine), {"base": {record: [-uses[0], None]}})
    for new, old in details.get("superseded", ()):
        if len(home.index.cards.rows_of([new, old])) == 2:
            reinstate(home, new, old)


def _mend(home: Home, restored: Iterable[str]) -> None:
    """Notes and edges that came back agree with each other."""
    records = [record for _, record in each(home, [path for path in restored
                                                   if path.startswith(("graph/", "vault/"))])]
    edges = [record for record in records if not KINDS[record.kind].links]
    ends = [end for edge in edges for end in (edge.from_id, edge.to_id)]
    mend(home, [*(record.id for record in records if KINDS[record.kind].links), *ends], given=edges,
         dropping=True)


# Purging

def strip(home: Home, record: str, words: Iterable[str]) -> None:
    """The journal without a record that is purged: its own acts go, others lose what they hold of it."""
    needles = list(words)
    for path in [*home.index.notes.documents(MERGES), *home.index.notes.documents(paths.UNDO)]:
        data = bytes_of(home, path)
        if data is None or not ledger.holds(data, needles):
            continue
        try:
            act = Act(path=path, **read_object(data))
        except (Damaged, TypeError):
            home.tree.remove(path)
            continue
        files = {name: entry for name, entry in act.files.items()
                 if not ledger.holds(write_object({name: entry}), needles)}
        details = without(act.details, needles)
        if act.id == record or not files:
            home.tree.remove(path)
        else:
            _write(home, act._replace(files=files, details=details), fingerprint(data))


def without(value: Any, needles: list[str]) -> Any:
    """A JSON value without the keys and elements that are one of these, or a pair in which one stands."""
    if isinstance(value, dict):
        return {key: without(part, needles) for key, part in value.items() if key not in needles}
    if isinstance(value, list):
        return [part for part in value if part not in needles
                and not (isinstance(part, list) and set(part) & set(needles))]
    return value
