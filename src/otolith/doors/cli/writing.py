"""Commands that write: note, memo, edit, link, unlink, pin, unpin, forget, restore, episode."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from otolith.doors.cli.desk import Command, Desk
from otolith.errors import Invalid, NeedsConfirmation, Usage


def _note_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("title")
    parser.add_argument("--text", help="the text; - reads stdin; left out on a terminal, an editor opens")
    parser.add_argument("--type", default="general", help="solution, fix, decision, configuration, problem, workflow, …")
    parser.add_argument("--tag", action="append", default=[], metavar="TAG")
    parser.add_argument("--importance", type=float, default=0.5)
    parser.add_argument("--confidence", type=float, default=0.8)
    parser.add_argument("--step", action="append", help="a step of a procedure, in order")
    parser.add_argument("--precondition", action="append")
    parser.add_argument("--postcondition", action="append")
    parser.add_argument("--key", help="the same key again keeps no second note")
    parser.add_argument("--no-propose", action="store_true", help="propose no edges to other notes")


def _note(desk: Desk) -> None:
    args = desk.args
    kept = desk.mem.note(args.title, desk.text(args.text), type=args.type, tags=args.tag, importance=args.importance,
                         confidence=args.confidence, steps=args.step, preconditions=args.precondition,
                         postconditions=args.postcondition, key=args.key, **desk.scope())
    proposals = [] if args.no_propose else desk.mem.suggest_edges(kept.id)
    desk.kept(kept, proposals=[{"source": one.source, "type": one.type, "target": one.target, "strength": one.strength,
                                "title": one.title} for one in proposals])
    if not args.json:
        for one in proposals:
            desk.tell(f"perhaps: otolith link {one.source[:8]} {one.type} {one.target[:8]}  ({one.title})")


def _memo_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="3 to 10 lowercase words joined by underscores")
    parser.add_argument("--text", help="the text; - reads stdin")
    parser.add_argument("--title")
    parser.add_argument("--category", default="past", help="past, present or future")
    parser.add_argument("--tag", action="append", default=[], metavar="TAG")


def _memo(desk: Desk) -> None:
    args = desk.args
    desk.kept(desk.mem.memo(args.name, desk.text(args.text), category=args.category, tags=args.tag, title=args.title,
                            **desk.scope()))


def _edit_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE",
                        help="a value is JSON where it parses as such")
    parser.add_argument("--text", help="a new text; - reads stdin")
    parser.add_argument("--title")
    parser.add_argument("--type")
    parser.add_argument("--tag", action="append", metavar="TAG", help="the new tags, all of them")
    parser.add_argument("--importance", type=float)
    parser.add_argument("--confidence", type=float)


def _edit(desk: Desk) -> None:
    args = desk.args
    changes: dict[str, Any] = {name: value for name in ("title", "type", "importance", "confidence")
                               if (value := getattr(args, name)) is not None}
    if args.tag is not None:
        changes["tags"] = [tag for tag in args.tag if tag]
    if args.text is not None:
        changes["text"] = desk.text(args.text)
    for pair in args.set:
        name, equals, value = pair.partition("=")
        if not equals:
            raise Usage(f"--set takes FIELD=VALUE; got {pair!r}")
        if name == "expect":
            raise Invalid("expect is no field of a record")
        changes[name] = _value(value)
    if not changes:
        raise Usage("nothing to change", "give --title, --text, --tag, --importance or --set FIELD=VALUE")
    from otolith.verbs.editing import edit

    desk.kept(edit(desk.mem.home, args.id, changes), "changed")


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _link_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source")
    parser.add_argument("type", help="SOLVES, CAUSES, BUILDS_ON, REQUIRES, RELATED_TO, supports, caused_by, supersedes, …")
    parser.add_argument("target")
    parser.add_argument("--strength", type=float)
    parser.add_argument("--context", help="why")


def _link(desk: Desk) -> None:
    args = desk.args
    made = desk.mem.link(args.source, args.type, args.target, strength=args.strength, context=args.context)
    desk.answer(made.to_dict(), f"linked {made.source} {made.type} {made.target}")


def _unlink_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source")
    parser.add_argument("type")
    parser.add_argument("target")


def _unlink(desk: Desk) -> None:
    args = desk.args
    desk.mem.unlink(args.source, args.type, args.target)
    desk.answer({"source": args.source, "type": args.type, "target": args.target}, f"unlinked {args.source} {args.target}")


def _one_id(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id")


def _pin(desk: Desk) -> None:
    done = desk.mem.pin(desk.args.id)
    desk.answer({"id": done, "pinned": True}, f"pinned {done}")


def _unpin(desk: Desk) -> None:
    done = desk.mem.unpin(desk.args.id)
    desk.answer({"id": done, "pinned": False}, f"unpinned {done}")


def _forget_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id")
    parser.add_argument("--purge", action="store_true", help="remove every trace instead of archiving")
    parser.add_argument("--yes", action="store_true", help="do not ask before purging")


def _forget(desk: Desk) -> None:
    from otolith.verbs import purge

    args = desk.args
    if not args.purge:
        done = desk.mem.forget(args.id)
        desk.answer({"id": done, "forgotten": True}, f"forgot {done}; bring it back with: otolith restore {done}")
        return
    found, title = purge.meant(desk.mem.home, args.id)
    if not args.yes and not _confirmed(f"Remove every trace of {found} ({title})? It cannot be brought back. [y/N] "):
        raise NeedsConfirmation(f"purging {found} ({title}) cannot be undone", "say --yes if you mean it")
    gone = desk.mem.forget(found, purge=True)
    desk.answer(gone, "\n".join([f"purged {gone['id']}", *(f"  removed {path}" for path in gone["removed"]),
                                 *(f"  rewrote {path}" for path in gone["rewritten"]),
                                 "  beyond reach: " + ", ".join(gone["beyond_reach"])]))


def _confirmed(question: str) -> bool:
    if not sys.stdin.isatty():
        return False
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _restore(desk: Desk) -> None:
    desk.kept(desk.mem.restore(desk.args.id), "restored")


def _episode_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("title", nargs="?", help="left out: show the diary of a day")
    parser.add_argument("--summary", default="")
    parser.add_argument("--type", default="diary")
    parser.add_argument("--tag", action="append", default=[], metavar="TAG")
    parser.add_argument("--date", metavar="YYYY-MM-DD", help="without a title: which day (default: today)")


def _episode(desk: Desk) -> None:
    args = desk.args
    if args.title is None:
        return desk.table(desk.mem.diary(args.date), ("time", "type", "title", "tags", "memory", "summary"))
    desk.mem.episode(args.title, type=args.type, tags=args.tag, summary=args.summary)
    return desk.answer({"title": args.title}, f"wrote {args.title!r} in the diary")


COMMANDS = {
    "note": Command(_note_arguments, _note,
                    "  otolith note 'Redis drops idle connections' --text 'Set socket_keepalive.' --type solution --tag redis\n"
                    "  git log -1 --format=%b | otolith note 'Why the cache went' --type decision"),
    "memo": Command(_memo_arguments, _memo,
                    "  otolith memo user_prefers_structured_output --text 'Answers as tables.' --tag style"),
    "edit": Command(_edit_arguments, _edit,
                    "  otolith edit a1b2c3 --importance 0.9\n  otolith edit mem_1f --set 'outcome={\"success\": true}'"),
    "link": Command(_link_arguments, _link,
                    "  otolith link a1b2c3 SOLVES d4e5f6 --strength 0.8 --context 'keeps idle sockets open'"),
    "unlink": Command(_unlink_arguments, _unlink, "  otolith unlink a1b2c3 SOLVES d4e5f6"),
    "pin": Command(_one_id, _pin, "  otolith pin a1b2c3"),
    "unpin": Command(_one_id, _unpin, "  otolith unpin a1b2c3"),
    "forget": Command(_forget_arguments, _forget, "  otolith forget a1b2c3\n  otolith forget a1b2c3 --purge --yes"),
    "restore": Command(_one_id, _restore, "  otolith restore a1b2c3d4-e5f6-7890-abcd-ef1234567890"),
    "episode": Command(_episode_arguments, _episode, "  otolith episode 'Moved to the new office' --tag life\n"
                                                        "  otolith episode --date 2026-02-10"),
}
