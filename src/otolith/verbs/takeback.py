"""`undo`: take back the last thing that was written, whatever verb wrote it.

Acts that need more than their name to be taken back are in the undo journal: edits, links, pins, reviews,
merges, gardening. Of all others the audit log tells enough: what was kept is forgotten, what was forgotten
comes back, of an import everything it brought goes. What an undo did is marked in the log by `undid`, so that
the next one goes a step further back. Nothing is purged: `otolith list --forgotten` still has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from otolith.errors import Invalid, NotFound
from otolith.files import ledger, paths
from otolith.files.codec import write_object
from otolith.home import Home, Named
from otolith.model.kinds import KINDS
from otolith.model.recall import make_filter
from otolith.model.shape import plain
from otolith.model.times import time_or_none, zulu
from otolith.verbs import editing, links, undo
from otolith.verbs.steps import each

KEPT = ("note", "memo", "remember", "record", "logged", "chapter", "took", "agent")  # audit verbs that keep
TURNED = {"forgot": "restore", "restored": "forget", "trusted": "distrust", "distrusted": "trust"}
WIDE = ("merge", "garden", "forget")  # acts of the journal that forget records
DOOR = "undo"


def take_back(home: Home, *, preview: bool = False) -> dict[str, Any]:
    """Take the last act back, or only say which it is."""
    if home.trust != "user":
        raise Invalid("only a person undoes", "an agent forgets or restores what it names")
    home.sweep()
    line = next(_lines(home), None)
    act = next((act for act in reversed(undo.acts(home)) if act.done), None)
    if act and (line is None or _comes_later(home, act, line)):
        return _undo_act(home, act, preview)
    if line is None:
        raise NotFound("there is nothing to undo", "what is in the log was undone already or cannot be")
    return _undo_line(home, line, preview)


def _comes_later(home: Home, act: undo.Act, line: Mapping[str, Any]) -> bool:
    """Whether the journal's act is the last one, or the line is a part of it."""
    if act.at and _at(line) <= (time_or_none(_dashed(act.at)) or 0.0):
        return True
    record = _id_of(home, line)
    return bool(line["verb"] == "forgot" and act.verb in WIDE and record
                and ledger.holds(write_object({"files": act.files, "details": act.details}), [record]))


def _dashed(stamp: str) -> str:
    return f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}T{stamp[9:11]}:{stamp[11:13]}:{stamp[13:]}"


def _undo_act(home: Home, act: undo.Act, preview: bool) -> dict[str, Any]:
    when = time_or_none(_dashed(act.at)) if act.at else None
    about = {"verb": act.verb, "id": act.id, "when": zulu(when) if when else ""}
    if preview:
        return {**about, "restored": [], "left": [], "preview": True}
    undone = undo.undo(home, act)
    with home.writing():
        for verb, given in act.details.get("back", ()):
            _BACK[verb](home, given)
    return {**about, "restored": undone.restored, "left": undone.left, "preview": False}


def _undo_line(home: Home, line: Mapping[str, Any], preview: bool) -> dict[str, Any]:
    run = line["origin"].get("run")
    record = _id_of(home, line)
    ids = [row.id for row in home.index.cards.of_run(run)] if run else [record] if record else []
    verb = "import" if run else str(line["verb"])
    if verb == "remember" and record:
        ids = _pieces(home, record)
    about = {"verb": verb, "id": run or record or str(line["id"]), "when": str(line["ts"])}
    if preview:
        return {**about, "restored": [], "left": [], "records": len(ids), "preview": True}
    door, home.door = home.door, DOOR
    try:
        with home.bulk(), home.together():
            done = [name for name in ids if _turn(home, verb, name)]
    finally:
        home.door = door
    for name in [*done, *([str(line["id"])] if str(line["id"]) not in done else [])]:
        row = home.index.cards.find(name)
        home.audit("undid", Named(row.kind if row else str(line["kind"]), name), "")
    return {**about, "restored": done, "left": [name for name in ids if name not in done], "preview": False}


def _turn(home: Home, verb: str, record: str) -> bool:
    """The opposite of what the log says was done to a record."""
    way = TURNED.get(verb, "forget")
    try:
        if way == "restore":
            editing.restore(home, record)
        elif way == "forget":
            row = home.index.cards.find(record)
            if row is None or not KINDS[row.kind].forget:
                return False
            editing.forget(home, record)
        else:
            from otolith.verbs.trust import trust

            trust(home, record, undo=way == "distrust")
    except (NotFound, Invalid) as error:
        home.notices.append(f"{record} was left as it is: {error}")
        return False
    return True


def _pieces(home: Home, record: str) -> list[str]:
    """The chunks that were cut from one text."""
    chunk = home.load(record).record
    if not chunk.otolith.cut:
        return [record]
    of, when = chunk.otolith.cut.get("of"), chunk.created
    chosen = make_filter(kind="chunk", conversation=chunk.conversation_id or None)
    rows, _ = home.index.cards.listing(chosen, None)
    return [other.id for _, other in each(home, [row.unit for row in rows])
            if other.created == when and (other.otolith.cut or {}).get("of") == of]


def _lines(home: Home) -> Iterator[dict[str, Any]]:
    """The acts in the audit log that a person did and nobody undid, the last first."""
    undone: Counter[str] = Counter()
    for _, line in reversed(ledger.read_log(home.tree, paths.AUDIT)):
        origin = line.get("origin") if line else None
        if not line or not isinstance(origin, dict):
            continue
        name, verb = str(line.get("id")), line.get("verb")
        if verb == "undid":
            undone[name] += 1
        elif origin.get("door") == DOOR or (verb not in KEPT and verb not in TURNED):
            continue
        elif undone[name]:
            undone[name] -= 1
        elif (origin.get("trust") == "user" or origin.get("run")) and _stands(home, line):
            yield line


def _stands(home: Home, line: Mapping[str, Any]) -> bool:
    """Whether what the line did is still so: what was forgotten since need not be taken back."""
    record = _id_of(home, line)
    if line["verb"] == "forgot":
        return record is not None and home.index.cards.find(record) is None
    if line["verb"] in ("trusted", "distrusted"):
        return True
    return record is not None and home.index.cards.find(record) is not None


def _id_of(home: Home, line: Mapping[str, Any]) -> str | None:
    """The record that an audit line names, by itself or by a hash of its name."""
    name, kind = str(line["id"]), str(line["kind"])
    if "#" not in name:
        return name
    ids = [*home.index.notes.ids_of([kind]), *(held.id for held in home.index.cards.archived())]
    return next((record for record in ids if home.audit_name(kind, record) == name), None)


def _at(line: Mapping[str, Any]) -> float:
    return time_or_none(line["origin"].get("at")) or time_or_none(line.get("ts")) or 0.0


# Acts that the journal knows by what takes them back

def keep_back(home: Home, verb: str, about: str, back: str, given: Mapping[str, Any]) -> None:
    """Write down what takes back the act that a person just did."""
    undo.write_down(home, verb, about, {"back": [[back, plain(given)]]})


def _edit(home: Home, given: Mapping[str, Any]) -> None:
    """Give fields their former values, as far as they are still what the edit made them."""
    record = home.load(given["id"]).record
    changed = [name for name, value in given["after"].items() if plain(getattr(record, name, None)) != value]
    if changed:
        home.notices.append(f"{', '.join(changed)} of {given['id']} changed since; left as it is")
    editing.edit(home, given["id"], {name: value for name, value in given["before"].items()
                                     if name not in changed})


def _unlink(home: Home, given: Mapping[str, Any]) -> None:
    links.unlink(home, given["source"], given["type"], given["target"])


def _link(home: Home, given: Mapping[str, Any]) -> None:
    links.link(home, given["source"], given["type"], given["target"], strength=given.get("strength"),
               context=given.get("context"))


def _pin(home: Home, given: Mapping[str, Any]) -> None:
    (editing.pin if given["pinned"] else editing.unpin)(home, given["id"])


def _score(home: Home, given: Mapping[str, Any]) -> None:
    from otolith.verbs.dialogs import review

    review(home, given["id"], score=given["score"], correct=given.get("correct"))


def _settle(home: Home, given: Mapping[str, Any]) -> None:
    from otolith.verbs.history import settle

    settle(home, given["new"], given["old"], given["holds"])


_BACK = {"edit": _edit, "unlink": _unlink, "link": _link, "pin": _pin, "score": _score, "settle": _settle}
