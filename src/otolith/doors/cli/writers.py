"""Commands that write: remember, note, memo, log, review, record, edit, link, forget, merge, …"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from otolith.doors.cli.command import Command, read_text
from otolith.errors import Invalid, NeedsConfirmation, OtolithError, WrongUsage
from otolith.model.kinds import TASK_TYPES
from otolith.model.text import counted, visible_line


def _remember(command: Command) -> None:
    chunks = command.mem.remember(**command.keywords())
    command.items([command.shape(chunk) for chunk in chunks], "\n".join(
        f"remembered chunk {chunk.id}  {chunk.type}, {chunk.tokens} tokens" for chunk in chunks))


def _note(command: Command) -> None:
    if len(command.args.title) > 1 and command.args.text is None and sys.stdin.isatty():
        command.args.text = ""  # `otolith note buy milk` is all that is to be kept
    note = command.mem.note(**command.keywords())
    index = command.mem.home.index
    same = index.attempt(lambda: index.cards.by_name(note.title))
    if other := next((row for row in same if row.kind == note.kind and row.id != note.id), None):
        command.warn(f"there is another note of this title, {other.id[:8]}; to have one: "
                     f"otolith merge {other.id[:8]} {note.id[:8]}")
    proposals = [] if command.args.no_propose else command.mem.suggest_edges(note.id)
    names = ("source", "type", "target", "strength", "title")
    command.kept(note, proposals=[{name: getattr(edge, name) for name in names} for edge in proposals])
    for edge in () if command.args.json else proposals:
        command.warn(f"perhaps: otolith link {edge.source[:8]} {edge.type} {edge.target[:8]}  ({edge.title})")


def _log(command: Command) -> None:
    from otolith.model.shape import plain

    entry = command.mem.log(**command.keywords())
    path = f"topics/{entry.topic}/{entry.id}"
    record = {"meta": plain(entry.meta), "summary": plain(entry.summary), "turns": len(entry.turns)}
    facts = [f"  {fact.id_in(entry.topic)}  {fact.type}: {fact.title}" for fact in entry.facts]
    command.answer({"id": entry.id, "kind": entry.kind, "path": path, "record": record},
                   "\n".join([f"kept entry {entry.id}  {path}", *facts]))


# Facts


def _review(command: Command) -> None:
    args = command.args
    if args.fact is None:
        waiting = command.mem.facts(args.topic, waiting=True)
        if args.json or not (sys.stdin.isatty() and command.tty):
            columns = ("id", "topic", "type", "confidence", "title", "sentence")
            return command.table([fact_row(fact) for fact in waiting], columns)
        return None if _walk_contradictions(command) == "q" else walk(command, list(waiting))
    if args.score is not None and args.reject:
        raise WrongUsage("a rejected fact has the score 0", "leave the score out")
    words: dict[str, Any] = {"score": 0} if args.reject else {}
    if args.score is not None:
        words["score"] = _score(args.score)
    if args.correct:
        words["correct"] = _changes(args.correct)
    if not words:
        fact = command.mem.get(args.fact).record
        return command.answer(fact_row(fact), lambda: _describe(fact))
    before = command.mem.get(args.fact).record.user_fact_score
    reviewed = command.mem.review(args.fact, **words)
    if not args.correct:
        _undoable(command, "review", str(reviewed.id), "score", {"id": reviewed.id, "score": before})
    return command.answer(fact_row(reviewed), lambda: f"reviewed {_describe(reviewed)}")


def _settle(command: Command) -> None:
    answer = command.mem.settle(**command.keywords())
    if answer["holds"] != "open":
        _undoable(command, "settle", answer["new"], "settle", {"new": answer["new"], "old": answer["old"],
                                                               "holds": "open"})
    command.answer(answer, lambda: f"settled: {answer['holds']} holds" if answer["holds"] != "open"
                   else "open again")


def _trust(command: Command) -> None:
    args = command.args
    if args.imported is None:
        held = command.mem.trust()["imports"]
        rows = [{"import": run["run"], "when": run["at"][:10], "yours": "yes" if run["mine"] else "no",
                 "what": run["kinds"]} for run in held]
        return command.items(rows, lambda: "\n".join("  ".join(row.values()) for row in rows)
                             or "nothing was imported yet; see: otolith import --help")
    about = command.mem.trust(**command.keywords("preview"), preview=True)
    what = f"{about['records']} records ({', '.join(f'{n} {kind}' for kind, n in about['kinds'].items())})"
    meaning = ("count as coming from outside again: recalled, but not told unasked" if args.undo else
               "count as yours: brief and hooks may tell them, what you said in them holds as your word")
    if not (args.preview or args.yes or args.json or _confirmed(
            "\n".join([f"{what}, such as:", *(f"  {visible_line(title)}" for title in about["examples"]),
                       f"would {meaning}.", "Is that right? [y/N] "]))):
        raise NeedsConfirmation("nothing was changed", "say yes, or give --yes")
    done = about if args.preview else command.mem.trust(**command.keywords("preview"))
    return command.answer(done, f"{what} {'would ' if args.preview else ''}{meaning}")


def fact_row(fact: Any) -> dict[str, Any]:
    """A fact as lists show it."""
    from otolith.model.shape import plain

    return {**plain(fact), "title": fact.title, "score": fact.user_fact_score,
            "until": (fact.valid_until or "")[:10]}


def _score(text: str) -> float | None:
    if text.casefold() in ("null", "none", "-"):
        return None
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        raise WrongUsage(f"a score is a number from 0 to 10, or null; got {text!r}") from None


def _changes(pairs: list[str]) -> dict[str, str]:
    """FIELD=VALUE pairs; a bare value corrects the object."""
    parts = [pair.partition("=") if "=" in pair else ("object", "=", pair) for pair in pairs]
    return {field.strip(): value.strip() for field, _, value in parts}


def _describe(fact: Any) -> str:
    score = "no score" if fact.user_fact_score is None else f"score {fact.user_fact_score:g}"
    lines = [f"{fact.id}  {fact.topic}: {fact.title}",
             f"  {fact.type}, confidence {fact.confidence:g}, {score}"]
    if fact.sentence:
        speaker = f"{fact.speaker}: " if fact.speaker else ""
        lines.append(f"  {speaker}“{fact.sentence}” ({fact.entry_ts[:10]})")
    return "\n".join(lines)


def both_sides(pair: Mapping[str, Mapping[str, Any]]) -> str:
    """A contradiction as a terminal shows it: both sentences, with dates and sources."""
    lines = (f"  {name:<5}  {side['said'][:10]}  {side['sentence']}  ({side['kind']} {side['record']}, "
             f"{side['trust']})" for name, side in ((name, pair[name]) for name in ("newer", "older")))
    return "\n".join(lines)


def _walk_contradictions(command: Command) -> str:
    """Go through what is contested: n, o or b say what holds, Enter leaves it, q stops; returns the last
    reply.
    """
    answers, reply = {"n": "new", "o": "old", "b": "both"}, ""
    for pair in command.mem.contradictions():
        command.print(f"\nThese do not go together:\n{both_sides(pair)}")
        reply = "?"
        while reply not in ("", "q", *answers):
            try:
                reply = input("n(ew), o(ld) or b(oth) hold, Enter to skip, q(uit): ").strip().casefold()[:1]
            except EOFError:
                reply = "q"
        if reply == "q":
            break
        if reply:
            command.mem.settle(pair["newer"]["claim"], pair["older"]["claim"], answers[reply])
    return reply


def walk(command: Command, waiting: list[Any]) -> None:
    """Go through facts one by one: a number scores, r rejects, c corrects, Enter leaves it, q stops."""
    reviewed = 0
    for at, fact in enumerate(waiting, 1):
        command.print(f"\n[{at}/{len(waiting)}] {_describe(fact)}")
        reply = _ask(command, fact)
        if reply == "q":
            break
        reviewed += reply != ""
    command.print(f"{reviewed} reviewed, {len(waiting) - reviewed} waiting")


def _ask(command: Command, fact: Any) -> str:
    """Ask until the reply can be used; returns it."""
    while True:
        try:
            reply = input("0-10, r(eject), c(orrect), Enter to skip, q(uit): ").strip().casefold()
        except EOFError:
            return "q"
        if reply in ("", "q"):
            return reply
        try:
            if reply in ("c", "correct"):
                new = input(f"it should read (object, or FIELD=VALUE) [{fact.object}]: ").strip()
                command.mem.review(str(fact.id), correct=_changes([new]))
            else:
                command.mem.review(str(fact.id), score=0 if reply in ("r", "reject") else _score(reply))
            return reply
        except OtolithError as error:
            command.print(str(error))


# Work


def _record(command: Command) -> None:
    source, scope = command.args.work, ("project", "agent", "session", "key")
    fields = command.keywords("work", *scope)
    if source is None and not fields and sys.stdin.isatty():
        fields = ask_for_work()
    elif source is not None or not fields:
        fields = {**read_work(source), **fields}
    options = {name: value for name, value in command.keywords("work").items() if name in scope}
    command.kept(command.mem.record(fields, **options), "recorded")


def read_work(source: str | None) -> dict[str, Any]:
    """The JSON object in a file or on stdin."""
    try:
        work = json.loads(read_text(source))
    except (json.JSONDecodeError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise Invalid(f"the work is not JSON{where}", 'such as {"goal": "…", "task_type": "bug_fix", '
                      '"success": true, "summary": "…"}') from None
    if not isinstance(work, dict):
        raise Invalid("the work must be one JSON object")
    return work


def ask_for_work() -> dict[str, Any]:
    """The form on a terminal: what must be known is asked until it is given, the rest may be left empty."""
    work: dict[str, Any] = {"goal": _line("What was to be done? ", needed=True)}
    print("  ".join(f"{at} {name}" for at, name in enumerate(TASK_TYPES, 1)), file=sys.stderr)
    while "task_type" not in work:
        reply = _line("Kind of task (number or name) [other]: ") or "other"
        if reply.isdigit() and 0 < int(reply) <= len(TASK_TYPES):
            reply = TASK_TYPES[int(reply) - 1]
        if reply in TASK_TYPES:
            work["task_type"] = reply
    reply = ""
    while reply.casefold()[:1] not in ("y", "n"):
        reply = _line("Did it work? (y/n) ", needed=True)
    work["success"] = reply.casefold().startswith("y")
    work["summary"] = _line("What came of it? ", needed=True)
    if not work["success"]:
        work["failure_reason"] = _line("Why did it fail? ") or None
    work["approach_chosen"] = _line("How was it done? ")
    for field, question in (("files", "Files changed (one a line, empty to end): "),
                            ("learnings", "Learned (one a line): "),
                            ("follow_up_needed", "Still to do (one a line): "),
                            ("tags", "Tags (one a line): ")):
        if lines := list(iter(lambda question=question: _line(question), "")):  # type: ignore[misc]
            work[field] = lines
    return work


def _line(question: str, *, needed: bool = False) -> str:
    while True:
        print(question, end="", file=sys.stderr, flush=True)
        reply = sys.stdin.readline()
        if not reply:
            raise WrongUsage("the form was not finished", "give the work as JSON: otolith record FILE")
        if reply.strip() or not needed:
            return reply.strip()


def _agent(command: Command) -> None:
    metadata = None
    if command.args.metadata is not None:
        try:
            metadata = json.loads(command.args.metadata)
        except json.JSONDecodeError as error:
            raise Invalid(f"--metadata is not JSON: {error.msg}") from None
        if not isinstance(metadata, dict):
            raise Invalid("--metadata must be an object")
    command.kept(command.mem.agent(**command.keywords(metadata=metadata)), "registered")


# Any record


def _edit(command: Command) -> None:
    fields = command.keywords("id", "changes")
    if "tags" in fields:
        fields["tags"] = [tag for tag in fields["tags"] if tag]
    for pair in command.args.changes or ():
        name, equals, value = pair.partition("=")
        if not equals:
            raise WrongUsage(f"--set takes FIELD=VALUE; got {pair!r}")
        try:
            fields[name] = json.loads(value)
        except ValueError:
            fields[name] = value
    if not fields:
        return _edit_file(command)
    before = command.mem.get(command.args.id).record
    changed = command.mem.edit(command.args.id, fields)
    if changed != before:
        _undoable(command, "edit", changed.id, "edit", {"id": changed.id, **{
            when: {name: getattr(record, name, None) for name in fields if name != "expect"}
            for when, record in (("before", before), ("after", changed))}})
    return command.kept(changed, "changed")


def _undoable(command: Command, verb: str, about: str, back: str, given: dict[str, Any]) -> None:
    """Have `otolith undo` know how to take back what was just done."""
    from otolith.verbs.takeback import keep_back

    keep_back(command.mem.home, verb, about, back, given)


def _edit_file(command: Command) -> None:
    """Open a record's own file in the editor, and take in what was changed there."""
    from otolith.doors.cli.command import run_editor
    from otolith.model.kinds import KINDS
    from otolith.verbs.undo import recording

    if not sys.stdin.isatty():
        raise WrongUsage("nothing to change",
                         "give --title, --text, --tag, --importance or --set FIELD=VALUE")
    hit = command.mem.get(command.args.id)
    kind = KINDS[hit.kind]
    if kind.not_edited or not kind.alone:
        raise Invalid(kind.not_edited or f"{kind.named} has no file of its own")
    path = command.mem.path / hit.path
    before = path.read_bytes()
    with recording(command.mem.home, "edit", hit.id, [str(hit.path)]):
        run_editor(str(path))
        if path.exists() and path.read_bytes() == before:
            return command.answer({"id": hit.id, "changed": False}, "nothing was changed")
        command.mem.sync()
    wrong = [finding for finding in command.mem.check() if finding.path == hit.path]
    for finding in wrong:
        line = f":{finding.line}" if finding.line else ""
        command.warn(f"{finding.path}{line}: {finding.message}; {finding.remedy}")
    return command.answer({"id": hit.id, "changed": True}, f"changed {hit.kind} {hit.id}  {hit.path}")


def _link(command: Command) -> None:
    link = command.mem.link(**command.keywords())
    ends = {"source": link.source, "type": link.type, "target": link.target}
    _undoable(command, "link", link.source, "unlink", ends)
    command.answer(link.to_dict(), f"linked {link.source} {link.type} {link.target}")


def _unlink(command: Command) -> None:
    ends = command.keywords()
    command.mem.unlink(**ends)
    _undoable(command, "unlink", ends["source"], "link", ends)
    command.answer(ends, f"unlinked {ends['source']} {ends['target']}")


def _pin(command: Command) -> None:
    pinned = command.row.name == "pin"
    id = command.mem.pin(command.args.id) if pinned else command.mem.unpin(command.args.id)
    _undoable(command, command.row.name, id, "pin", {"id": id, "pinned": not pinned})
    command.answer({"id": id, "pinned": pinned}, f"{command.row.name}ned {id}")


def _forget(command: Command) -> None:
    from otolith.verbs import purge

    args = command.args
    if args.undo or args.about is not None:
        return _forget_about(command)
    if args.id is None:
        raise WrongUsage("forget needs an id, or --about WORDS")
    if not args.purge:
        id = command.mem.forget(args.id)
        return command.answer({"id": id, "forgotten": True},
                              f"forgot {id}; bring it back with: otolith restore {id}")
    id, title = purge.meant(command.mem.home, args.id)
    question = f"Remove every trace of {id} ({title})? It cannot be brought back. [y/N] "
    if not args.yes and not _confirmed(question):
        raise NeedsConfirmation(f"purging {id} ({title}) cannot be undone", "add --yes to go ahead")
    gone = command.mem.forget(id, purge=True)
    return command.answer(gone, "\n".join([
        f"purged {gone['id']}", *(f"  removed {path}" for path in gone["removed"]),
        *(f"  rewrote {path}" for path in gone["rewritten"]),
        "  beyond reach: " + ", ".join(gone["beyond_reach"])]))


def _forget_about(command: Command) -> None:
    """List what is known about something, ask, and put it away; or take that back."""
    from otolith.verbs import purge

    args = command.args
    if args.undo:
        back = purge.remember_again(command.mem.home, args.about or "")
        return command.answer({"restored": back}, "\n".join(f"brought back {path}" for path in back))
    held = command.mem.forget(about=args.about)
    lines = [f"{item['kind']} {item['id']}  {item['title']}  ({item['by']})" for item in held["items"]]
    lines += [f"stays, it mentions it: {item['kind']} {item['id']}" for item in held["mentions"]]
    if not held["items"]:
        return command.answer(held, "\n".join([*lines, f"nothing is known about {args.about!r}"]))
    what = f"{counted(held['total'], 'record')} about {args.about!r}"
    act = "Remove every trace of" if args.purge else "Forget"
    if not args.yes:
        print("\n".join(lines), file=sys.stderr)
        if not _confirmed(f"{act} these {what}? [y/N] "):
            raise NeedsConfirmation(f"{what} would be {'purged' if args.purge else 'forgotten'}",
                                    "add --yes to go ahead")
    gone = command.mem.forget(about=args.about, purge=args.purge, yes=True)
    done = f"purged {what}" if args.purge else f"forgot {what}; bring them back with: otolith forget --undo"
    return command.answer(gone, "\n".join([*lines, done]))


def _confirmed(question: str) -> bool:
    if not sys.stdin.isatty():
        return False
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _undo(command: Command) -> None:
    done = command.mem.undo(**command.keywords())
    when = f" of {done['when'][:16].replace('T', ' ')}" if done["when"] else ""
    what = f"{done['verb']} {done['id']}{when}"
    left = "".join(f"\n  left as it is: {name}" for name in done["left"])
    command.answer(done, f"would undo {what}" if done["preview"] else f"undid {what}{left}")


def _merge(command: Command) -> None:
    args = command.args
    if args.undo and args.absorb:
        raise WrongUsage("--undo takes one note, the one that was merged away")
    if args.undo:
        command.kept(command.mem.unmerge(args.keep), "brought back")
    elif not args.absorb:
        raise WrongUsage("merge takes two notes", "see: otolith merge --help")
    else:
        command.kept(command.mem.merge(args.keep, args.absorb), "merged into")


def _episode(command: Command) -> None:
    title = command.args.heading
    if title is None:
        columns = ("time", "type", "title", "tags", "memory", "summary")
        return command.table(command.mem.diary(command.args.date), columns)
    command.mem.episode(**command.keywords())
    return command.answer({"title": title}, f"wrote {title!r} in the diary")


COMMANDS: dict[str, Callable[[Command], None]] = {
    "remember": _remember, "note": _note,
    "memo": lambda command: command.kept(command.mem.memo(**command.keywords())),
    "log": _log, "review": _review, "settle": _settle, "trust": _trust, "record": _record, "agent": _agent,
    "chapter": lambda command: command.kept(command.mem.chapter(**command.keywords()), "made"), "edit": _edit,
    "link": _link, "unlink": _unlink, "pin": _pin, "unpin": _pin, "forget": _forget,
    "restore": lambda command: command.kept(
        command.mem.restore(command.args.id, version=command.args.version), "restored"),
    "undo": _undo, "merge": _merge,
    "episode": _episode,
}
