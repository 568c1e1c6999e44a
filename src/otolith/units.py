"""Units: what the files of a home hold, read and laid out for the index.

A unit is a file, or an entry's folder. One that cannot be read becomes a finding, never an error, so that a single bad file
cannot keep the rest of a home from being read. Nothing here writes, to the tree or to the index.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from otolith.errors import Damaged, Invalid, NotFound
from otolith.files import codec, ledger, paths
from otolith.files.tree import Token, Tree, fingerprint
from otolith.index import read, write
from otolith.model.ids import suffix
from otolith.model.kinds import KINDS
from otolith.model.record import Card, Finding, Link, log
from otolith.model.times import parse_time, utc

if TYPE_CHECKING:
    from otolith.model.dialog import Mention

NO_FILE: write.Stamp = (-1, 0, 0, 0, "", 0)


def read_unit(tree: Tree, name: str) -> write.Unit | None:
    """A unit from its files: its records, or what is wrong with it; None if there are no such files."""
    if name in paths.SCANNED:
        return broken(tree, name, Damaged("is not a folder of this home (a symlink is not followed)", flaw="not-a-folder"))
    entry = paths.may_be_entry(name) and tree.look(name) is None
    kind = paths.kind_of(f"{name}/raw.md" if entry else name)
    if kind == "archived" and not entry and not name.startswith("archive/chunk-"):
        kind = "archived" if paths.kind_of(name.removeprefix("archive/")) else ""
    try:
        if kind == "":
            return _stranger(tree, name)
        if kind in ("links", "curation"):
            data, token = tree.read(name)
            return (read_links if kind == "links" else read_reviews)(name, token, data)
        records, files = codec.read_unit(tree, name)
        if kind == "archived":
            return write.Unit(name=name, files=stamps(files), archived=[(r.id, r.kind, r.title) for r in records])
        return make_unit(name, records, files)
    except NotFound:
        return None
    except Damaged as error:
        return broken(tree, name, error)
    except Invalid as error:  # a time that is none, found only when the record is laid out for the index
        return broken(tree, name, Damaged(error.message, error.hint or "mend the value", flaw="invalid"))


def make_unit(name: str, records: Sequence[Any], files: Mapping[str, tuple[Token, bytes]]) -> write.Unit:
    """What the index is to know of records just read or just written."""
    records = [record for record in records if not getattr(record, "points", False)]  # what a diary tells of others
    cards = [_named_by_file(record.card(), name) if record.kind == "note" else record.card() for record in records]
    for card in cards:
        utc(card.created)  # what no calendar has could never be shown
    return write.Unit(name=name, files=stamps(files), cards=cards, records=records,
                      mentions=_mentions(records), findings=_oddities(name, records))


def _named_by_file(card: Card, path: str) -> Card:
    """A note is also found by the name its file bears, with or without folders before it, unless Otolith gave that name."""
    names = [card.title[:-3]] if card.title.casefold().endswith(".md") else []
    whole = path.removesuffix(".md")
    if not whole.endswith(f"-{suffix(card.id)}"):
        parts = whole.split("/")
        names += ["/".join(parts[at:]) for at in range(len(parts) - 1, -1, -1)]
    return card._replace(names=(*card.names, *names)) if names else card


def shown(db: sqlite3.Connection, record: Any) -> Any:
    """A record as it is delivered: links to what is forgotten are hidden, and come back with it. Its file keeps them."""
    if record is None or not KINDS[record.kind].hides_links:
        return record
    gone = {one for one in record.own_targets() if read.find(db, one) is None and read.archived(db, one)}
    return record.without_links(gone) if gone else record


def _mentions(records: Sequence[Any]) -> Sequence[Mention]:
    telling = [record for record in records if record.kind == "entry" and record.summary and record.summary.facts]
    if not telling:
        return ()
    from otolith.model.dialog import mentions_of

    return [mention for record in telling for mention in mentions_of(record)]


def stamps(files: Mapping[str, tuple[Token, bytes]]) -> dict[str, write.Stamp]:
    now = time.time_ns()
    return {path: (*token, fingerprint(data), now) for path, (token, data) in files.items()}


def _oddities(name: str, records: Sequence[Any]) -> list[Finding]:
    """What is legal but wants a look."""
    found: list[Finding] = []
    for record in records:
        if record.kind == "entry":
            found += record.flaws or ()
        if record.kind == "note" and name.startswith("graph/"):
            place = paths.note_folder(record)
            if not name.startswith(f"{place}/"):
                found.append(Finding(name, None, "misplaced", f"is a {record.type} note outside {place}/",
                                     "move the file or change its type; it is found either way"))
    return found


def _stranger(tree: Tree, name: str) -> write.Unit | None:
    """A file that is no record: a copy left by some tool, something that is no plain file, or just another file."""
    token = tree.look(name)
    if token is None:
        try:
            tree.read(name)
        except NotFound:
            return None
        except Damaged as error:
            return broken(tree, name, error)
    findings = []
    if paths.is_copy(name):
        findings.append(Finding(name, None, "copy", "is a copy left by a sync tool or an editor; it is not read",
                                "compare it with the original, then remove one"))
    stamp: write.Stamp = (*token, "", time.time_ns()) if token else NO_FILE
    return write.Unit(name=name, files={name: stamp}, findings=findings)


def broken(tree: Tree, name: str, error: Damaged) -> write.Unit:
    """A file that cannot be read: named, never dropped, its last good rows kept."""
    log.warning("%s: %s", name, error.message)
    files: dict[str, write.Stamp] = {}
    for path in [] if name in paths.SCANNED else paths.files_of(name):
        token = tree.look(path)
        if token is not None:
            files[path] = (*token, "", time.time_ns())
        elif path != name and _is_odd(tree, path):
            files[path] = NO_FILE
    remedy = error.hint or "mend the file or move it out of the home"
    return write.Unit(name=name, files=files or {name: NO_FILE}, broken=True,
                      findings=[Finding(name, error.line, error.flaw, error.message, remedy)])


def _is_odd(tree: Tree, path: str) -> bool:
    try:
        tree.read(path)
    except NotFound:
        return False
    except Damaged:
        return True
    return False


def read_links(name: str, token: Token, data: bytes) -> write.Unit:
    """links.jsonl, replayed: the links that stand, with the trust of who set them; broken lines are findings."""
    standing: dict[tuple[str, str, str], tuple[Link, str]] = {}
    findings = []
    for number, line in ledger.read_lines(data):
        try:
            if line is None:
                raise Invalid("is not a JSON object")
            link = Link(source=line["from"], type=line["type"], target=line["to"], strength=line.get("strength"),
                        context=line.get("context"), created=_seconds(line.get("created")))
        except (Invalid, KeyError, TypeError) as error:
            findings.append(Finding(name, number, "line", f"is no link: {error}", "mend or remove the line"))
            continue
        if line.get("op", "add") == "remove":
            standing.pop(link.canonical(), None)
        else:
            origin = line.get("origin")
            standing[link.canonical()] = (link, str(origin.get("trust", "user")) if isinstance(origin, dict) else "user")
    return write.Unit(name=name, files=stamps({name: (token, data)}), links=list(standing.values()), findings=findings)


def read_reviews(name: str, token: Token, data: bytes) -> write.Unit:
    """A topic's curation.jsonl: what people said about its facts; broken lines are findings."""
    from otolith.model.dialog import read_review

    reviews, findings = [], []
    for number, line in ledger.read_lines(data):
        try:
            if line is None:
                raise Invalid("is not a JSON object")
            reviews.append(read_review(name.split("/")[1], number, line))
        except Invalid as error:
            findings.append(Finding(name, number, "line", f"is no review: {error.message}", "mend or remove the line"))
    return write.Unit(name=name, files=stamps({name: (token, data)}), reviews=reviews, findings=findings)


def _seconds(value: Any) -> float | None:
    return None if value is None else parse_time(value, "created")
