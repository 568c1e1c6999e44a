"""Units: what the files of a home hold, read and laid out for the index.

A unit is a file, or an entry's folder. One that cannot be read becomes a finding, never an error, so that a
single bad file cannot keep the rest of a home from being read. Nothing here writes anywhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from otolith.errors import Damaged, Invalid, NotFound
from otolith.files import codec, ledger, paths
from otolith.files.tree import Hand, Tree, by_line, fingerprint
from otolith.index.store import Index
from otolith.index.write import HOLDS, Answer, Stamp, Unit
from otolith.model.ids import suffix
from otolith.model.kinds import KINDS
from otolith.model.mine import as_mine, is_mine
from otolith.model.record import Card, Finding, Link, Version, credit, log
from otolith.model.times import parse_time, utc

if TYPE_CHECKING:
    from otolith.model.dialog import Mention

Files = Mapping[str, tuple[Version, bytes]]
NO_FILE: Stamp = (b"", 0, True, "", 0)
UNREAD = b"?"  # in place of a stamp: no look at the file gives this one


def read_unit(tree: Tree, name: str) -> Unit | None:
    """A unit from its files: its records, or what is wrong with it; None if there are no such files."""
    if name in paths.SCANNED:
        return broken(tree, name, Damaged("is not a folder of this home (a symlink is not followed)",
                                          flaw="not-a-folder"))
    entry = paths.may_be_entry(name) and tree.look(name) is None
    kind = paths.kind_of(f"{name}/raw.md" if entry else name)
    if kind == "archived" and not entry and not name.startswith("archive/chunk-"):
        kind = "archived" if paths.kind_of(name.removeprefix("archive/")) else ""
    try:
        if kind == "":
            return _stranger(tree, name)
        if kind in paths.LEDGERS:
            data, version = tree.read(name)
            read = {"links": read_links, "curation": read_reviews, "answers": read_answers}[kind]
            return read(name, version, data, tree.hands(name))
        records, files = codec.read_unit(tree, name)
        if kind == "archived":
            return Unit(name=name, files=stamps(files), archived=[(r.id, r.kind, r.title) for r in records])
        return make_unit(name, records, files, [hand for path in files for hand in tree.hands(path)])
    except NotFound:
        return None
    except Damaged as error:
        return broken(tree, name, error)
    except Invalid as error:  # a value that is not a time, noticed only in the card
        return broken(tree, name, Damaged(error.message, error.hint or "fix the value", flaw="invalid"))
    except Exception as error:  # one odd value must not keep the rest of a home from being read
        return broken(tree, name, codec.odd(error))


def make_unit(name: str, records: Sequence[Any], files: Files, hands: Sequence[Hand] = ()) -> Unit:
    """What the index is to know of records just read or just written, by these hands."""
    records = [record for record in records if not getattr(record, "points", False)]  # to others
    cards = [_named_by_file(record.card(), name) for record in records]
    if hands and (hand := codec.least(hands)).trust != "user":
        cards = [card._replace(principal=hand.principal, trust=credit(card.trust, hand.trust))
                 for card in cards]
    for card in cards:
        utc(card.created)  # what no calendar has could never be shown
    return Unit(name=name, files=stamps(files), cards=cards, records=records, mentions=_mentions(records),
                findings=_oddities(name, records))


def owned(unit: Unit, mine: Collection[str]) -> Unit:
    """The unit as the index is to know it: what a person called theirs is not from outside."""
    records = [as_mine(record) if is_mine(record, mine) else record for record in unit.records]
    if all(new is old for new, old in zip(records, unit.records, strict=True)):
        return unit
    cards = [_named_by_file(record.card(), unit.name) for record in records]
    return unit._replace(records=records, cards=cards, mentions=_mentions(records))


def _named_by_file(card: Card, path: str) -> Card:
    """A note is also found by its file's name, with or without folders, unless Otolith gave that name."""
    if not KINDS[card.kind].named_by_file:
        return card
    names = [card.title[:-3]] if card.title.casefold().endswith(".md") else []
    whole = path.removesuffix(".md")
    if not whole.endswith(f"-{suffix(card.id)}"):
        parts = whole.split("/")
        names += ["/".join(parts[at:]) for at in range(len(parts) - 1, -1, -1)]
    return card._replace(names=(*card.names, *names)) if names else card


def shown(index: Index, record: Any) -> Any:
    """A record as it is delivered: links to what is forgotten and facts that were closed elsewhere are
    hidden, though its file keeps them.
    """
    if record is not None and KINDS[record.kind].retells:
        return record.without_facts(index.claims.closings(record.stated()))
    if record is None or not KINDS[record.kind].hides_links:
        return record
    gone = {target for target in record.own_targets()
            if index.cards.find(target) is None and index.cards.archived(target)}
    return record.without_links(gone) if gone else record


def _mentions(records: Sequence[Any]) -> Sequence[Mention]:
    stating = [record for record in records if KINDS[record.kind].states_facts and record.summary]
    if not any(record.summary.facts for record in stating):
        return ()
    from otolith.model.dialog import mentions_of

    return [mention for record in stating for mention in mentions_of(record)]


def stamps(files: Files) -> dict[str, Stamp]:
    now = time.time_ns()
    return {path: (*version, fingerprint(data), now) for path, (version, data) in files.items()}


def _oddities(name: str, records: Sequence[Any]) -> list[Finding]:
    """What is legal but wants a look."""
    findings: list[Finding] = []
    for record in records:
        findings += getattr(record, "flaws", None) or ()
        if KINDS[record.kind].named_by_file and name.startswith("graph/"):
            place = paths.note_folder(record)
            if not name.startswith(f"{place}/"):
                findings.append(Finding(name, None, "misplaced", f"is a {record.type} note outside {place}/",
                                        "move the file or change its type; it is found either way"))
    return findings


def _stranger(tree: Tree, name: str) -> Unit | None:
    """A file that is not a record: a copy left by some tool, not a plain file, or any other."""
    version = tree.look(name)
    if version is None and (damage := _damage(tree, name)):
        return broken(tree, name, damage)
    if version is None:
        return None
    findings = [Finding(name, None, "copy", "is a copy left by a sync tool or an editor; it is not read",
                        "compare it with the original, then remove one")] if paths.is_copy(name) else []
    return Unit(name=name, files={name: (*version, "", time.time_ns())}, findings=findings)


def broken(tree: Tree, name: str, error: Damaged) -> Unit:
    """A file that cannot be read: named, never dropped, its last good rows kept."""
    log.warning("%s: %s", name, error.message)
    files: dict[str, Stamp] = {}
    for path in [] if name in paths.SCANNED else paths.files_of(name):
        version = tree.look(path)
        if version is not None:  # what only the moment kept from us is read again by the next sweep
            stamp = UNREAD if error.flaw == "unreadable" else version[0]
            files[path] = (stamp, *version[1:], "", time.time_ns())
        elif path != name and _damage(tree, path):
            files[path] = NO_FILE
    remedy = error.hint or "fix the file or move it out of the home"
    return Unit(name=name, files=files or {name: NO_FILE}, broken=True,
                findings=[Finding(name, error.line, error.flaw, error.message, remedy)])


def broken_by(unit: Unit, error: Exception) -> Unit:
    """A unit that was read but holds what the index cannot take."""
    damage = codec.odd(error)
    finding = Finding(unit.name, None, damage.flaw, damage.message, damage.hint)
    return Unit(name=unit.name, files=unit.files, broken=True, findings=[finding])


def _damage(tree: Tree, path: str) -> Damaged | None:
    """Why there is no document although something is there."""
    try:
        tree.read(path)
    except Damaged as error:
        return error
    except NotFound:
        pass
    return None


def read_links(name: str, version: Version, data: bytes, hands: Sequence[Hand] = ()) -> Unit:
    """links.jsonl, replayed: the links that stand, with the trust of who set them."""
    standing: dict[tuple[str, str, str], tuple[Link, str]] = {}

    def take(_: str, line: dict[str, Any], hand: str) -> None:
        created = None if line.get("created") is None else parse_time(line["created"], "created")
        link = Link(source=line["from"], type=line["type"], target=line["to"], strength=line.get("strength"),
                    context=line.get("context"), created=created)
        if line.get("op", "add") == "remove":
            if hand == "user" or standing.get(link.canonical(), (link, "peer"))[1] == "peer":
                standing.pop(link.canonical(), None)  # nobody takes back what another one said
        else:
            origin = line.get("origin")
            trust = str(origin.get("trust", "user")) if isinstance(origin, dict) else "user"
            standing[link.canonical()] = (link, credit(trust, hand))

    findings, files = _take_lines(name, data, "link", take, hands), stamps({name: (version, data)})
    return Unit(name=name, files=files, links=[*standing.values()], findings=findings)


def read_reviews(name: str, version: Version, data: bytes, hands: Sequence[Hand] = ()) -> Unit:
    """A topic's curation.jsonl: what people said about its facts; in a space that several share, what whoever
    reads it said.
    """
    from otolith.model.dialog import Review, read_review

    reviews: list[Review] = []
    findings = _take_lines(name, data, "review", lambda digest, line, hand: reviews.append(
        read_review(name.split("/")[1], digest[:12], line)) if hand == "user" else None, hands)
    return Unit(name=name, files=stamps({name: (version, data)}), reviews=reviews, findings=findings)


def read_answers(name: str, version: Version, data: bytes, hands: Sequence[Hand] = ()) -> Unit:
    """The home's curation.jsonl: what a person said about two claims that do not go together, and of imports
    that they are theirs; in a space that several share, what whoever reads it said.
    """
    answers: list[Answer] = []
    mine: dict[str, bool] = {}

    def take(digest: str, line: dict[str, Any], hand: str) -> None:
        if hand != "user":
            return
        if line.get("op") in ("mine", "not-mine"):
            whose = line["import"] if "import" in line else line["id"]
            if not isinstance(whose, str) or not whose:
                raise Invalid("it names no import and no record")
            mine[whose] = line["op"] == "mine"
            return
        if line.get("op") != "settle":
            raise Invalid(f"unknown op {line.get('op')!r}")
        parse_time(line["at"], "at")
        if not all(isinstance(line[key], str) for key in ("at", "old", "new")) or line["holds"] not in HOLDS:
            raise Invalid(f"old and new are claims, holds one of {', '.join(HOLDS)}")
        if line["old"] == line["new"]:
            raise Invalid("a claim does not replace itself")
        answers.append(Answer(line["at"], digest[:12], line["old"], line["new"], line["holds"]))

    findings = _take_lines(name, data, "answer", take, hands)
    return Unit(name=name, files=stamps({name: (version, data)}), answers=answers, findings=findings,
                mine=[whose for whose, own in mine.items() if own])


def _take_lines(name: str, data: bytes, what: str, take: Callable[[str, Any, str], None],
                hands: Sequence[Hand]) -> list[Finding]:
    """The lines in the order of writing, each with how far whoever wrote it is trusted; broken ones are
    findings.
    """
    findings, written = [], by_line(data, hands) if hands else []
    for number, digest, line in ledger.replay(data):
        try:
            if line is None:
                raise Invalid("it is not a JSON object")
            codec.check_schema(line)
            take(digest, line, written[number - 1].trust if written else "user")
        except (Invalid, *codec.STUMBLES) as error:
            message = f"is not a {what}: {error}"
            findings.append(Finding(name, number, "line", message, "fix or remove the line"))
        except Damaged as error:
            findings.append(Finding(name, number, error.flaw, error.message, error.hint))
    return findings
