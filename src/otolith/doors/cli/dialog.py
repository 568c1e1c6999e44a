"""Commands of the dialog ladder: log, review, facts, topics, global."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from otolith.doors.cli.desk import Command, Desk, read_stdin
from otolith.errors import Invalid, NotFound, OtolithError, Usage
from otolith.model.dialog import Fact
from otolith.model.kinds import FACT_TYPES
from otolith.model.shape import plain


def _log_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE|-", help="Markdown, plain text, JSON messages or a transcript; - reads stdin")
    parser.add_argument("--topic", help="where it belongs (default: the topic that knows its words, else a new one)")
    parser.add_argument("--title")
    parser.add_argument("--tag", action="append", default=[], metavar="TAG")
    parser.add_argument("--conversation", metavar="ID", help="entries of one conversation share a topic")
    parser.add_argument("--source", default="interaction")
    parser.add_argument("--created", metavar="TIME", help="when it took place (default: as its first turn says, else now)")
    parser.add_argument("--key", help="the same key again keeps no second entry")


def _log(desk: Desk) -> None:
    args = desk.args
    dialog: Any = read_stdin() if args.file == "-" else Path(args.file)
    kept = desk.mem.log(dialog, args.topic, title=args.title, tags=args.tag, conversation_id=args.conversation,
                        source=args.source, created=args.created, key=args.key, **desk.scope())
    path = f"topics/{kept.topic}/{kept.id}"
    record = {"meta": plain(kept.meta), "summary": plain(kept.summary), "turns": len(kept.turns)}
    drawn = [f"  {fact.id_in(kept.topic)}  {fact.type}: {fact.title}" for fact in kept.facts]
    lines = [f"kept entry {kept.id}  {path}", *drawn]
    desk.answer({"id": kept.id, "kind": "entry", "path": path, "record": record}, "\n".join(lines))


def _facts_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--topic")
    parser.add_argument("--type", choices=FACT_TYPES)
    parser.add_argument("--waiting", action="store_true", help="only those that nobody has scored")
    parser.add_argument("--current", action="store_true", help="only those that still hold")
    parser.add_argument("--rejected", action="store_true", help="also those with score 0")
    parser.add_argument("--as-of", metavar="DATE", help="as they stood then")


def _facts(desk: Desk) -> None:
    args = desk.args
    found = desk.mem.facts(args.topic, type=args.type, waiting=args.waiting, current=args.current, rejected=args.rejected,
                           as_of=args.as_of)
    rows = [_row(fact) for fact in found]
    desk.table(rows, ("id", "topic", "type", "score", "confidence", "title", "until"))


def _row(fact: Fact) -> dict[str, Any]:
    return {**plain(fact), "title": fact.title, "score": fact.user_fact_score, "until": (fact.valid_until or "")[:10]}


def _topics_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", nargs="?", help="show this one's memory")
    parser.add_argument("--build", action="store_true", help="build the memory first, of this topic or of all")


def _topics(desk: Desk) -> None:
    args, mem = desk.args, desk.mem
    if args.build:
        for topic in [args.topic] if args.topic else [row["topic"] for row in mem.topics()]:
            mem.build_topic(topic)
    if args.topic is None:
        return desk.table(mem.topics(), ("topic", "entries", "facts", "last_entry_ts", "summary"))
    from otolith.derive.topics import write_topic
    from otolith.verbs.topics import read_topic

    found = read_topic(mem.home, args.topic)
    if found is None and not any(row["topic"] == args.topic for row in mem.topics()):
        raise NotFound(f"no topic {args.topic!r}", "see: otolith topics")
    if found is None:
        raise Invalid(f"the memory of {args.topic!r} is not built yet", f"otolith topics {args.topic} --build")
    return desk.answer(plain(found), lambda: write_topic(found).rstrip())


def _global_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--build", action="store_true", help="build it first from the topics' memories")


def _global(desk: Desk) -> None:
    from otolith.derive.global_memory import write_global

    found = desk.mem.build_global() if desk.args.build else desk.mem.global_memory()
    desk.answer(plain(found), lambda: write_global(found).rstrip())


def _review_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("fact", nargs="?", metavar="FACT_ID", help="left out, the facts that wait are gone through one by one")
    parser.add_argument("score", nargs="?", help="0 (never show) to 10, or null to take a score back")
    parser.add_argument("--correct", action="append", metavar="FIELD=VALUE",
                        help="how it should read: subject, relation, object, type, time_span, date; a bare value is the object")
    parser.add_argument("--reject", action="store_true", help="the same as score 0")
    parser.add_argument("--topic", help="only this topic's facts")


def _review(desk: Desk) -> None:
    args = desk.args
    if args.fact is None:
        waiting = desk.mem.facts(args.topic, waiting=True)
        if desk.args.json or not (sys.stdin.isatty() and desk.tty):
            return desk.table([_row(fact) for fact in waiting], ("id", "topic", "type", "confidence", "title", "sentence"))
        return walk(desk, list(waiting))
    if args.score is not None and args.reject:
        raise Usage("a rejected fact has the score 0", "leave the score out")
    more: dict[str, Any] = {"score": 0} if args.reject else {"score": _score(args.score)} if args.score is not None else {}
    if args.correct:
        more["correct"] = _changes(args.correct)
    if not more:
        hit = desk.mem.get(args.fact)
        return desk.answer(_row(hit.record), lambda: _shown(hit.record))
    now = desk.mem.review(args.fact, **more)
    return desk.answer(_row(now), lambda: f"reviewed {_shown(now)}")


def _score(text: str) -> float | None:
    if text.casefold() in ("null", "none", "-"):
        return None
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        raise Usage(f"a score is a number from 0 to 10, or null; got {text!r}") from None


def _changes(given: list[str]) -> dict[str, str]:
    """FIELD=VALUE pairs; a bare value corrects the object."""
    pairs = [pair.partition("=") if "=" in pair else ("object", "=", pair) for pair in given]
    return {field.strip(): value.strip() for field, _, value in pairs}


def _shown(fact: Fact) -> str:
    score = "no score" if fact.user_fact_score is None else f"score {fact.user_fact_score:g}"
    lines = [f"{fact.id}  {fact.topic}: {fact.title}", f"  {fact.type}, confidence {fact.confidence:g}, {score}"]
    if fact.sentence:
        lines.append(f"  {fact.speaker + ': ' if fact.speaker else ''}“{fact.sentence}” ({fact.entry_ts[:10]})")
    return "\n".join(lines)


def walk(desk: Desk, waiting: list[Fact]) -> None:
    """Go through facts one by one: a number scores, r rejects, c corrects, Enter leaves it, q stops."""
    done = 0
    for at, fact in enumerate(waiting, 1):
        desk.say(f"\n[{at}/{len(waiting)}] {_shown(fact)}")
        while True:
            try:
                said = input("0-10, r(eject), c(orrect), Enter to skip, q(uit): ").strip().casefold()
            except EOFError:
                said = "q"
            if said in ("", "q"):
                break
            try:
                _take(desk, fact, said)
            except OtolithError as error:
                desk.say(str(error))
                continue
            done += 1
            break
        if said == "q":
            break
    desk.say(f"{done} reviewed, {len(waiting) - done} waiting")


def _take(desk: Desk, fact: Fact, said: str) -> None:
    if said in ("c", "correct"):
        new = input(f"it should read (object, or FIELD=VALUE) [{fact.object}]: ").strip()
        desk.mem.review(str(fact.id), correct=_changes([new]))
    else:
        desk.mem.review(str(fact.id), score=0 if said in ("r", "reject") else _score(said))


COMMANDS = {
    "log": Command(_log_arguments, _log,
        "  otolith log dialog.md --topic startup\n  otolith log messages.json\n  pbpaste | otolith log - --topic health"),
    "facts": Command(_facts_arguments, _facts, "  otolith facts --topic startup\n  otolith facts --waiting --type commitment"),
    "topics": Command(_topics_arguments, _topics, "  otolith topics\n  otolith topics startup --build"),
    "global": Command(_global_arguments, _global, "  otolith global\n  otolith global --build --json"),
    "review": Command(_review_arguments, _review,
        "  otolith review\n  otolith review fact_1f3a9c 9\n  otolith review fact_1f3a9c --correct 'Berlin'\n"
        "  otolith review fact_1f3a9c --reject"),
}
