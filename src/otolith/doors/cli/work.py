"""Commands of the work ladder: record, agent, agents, resume, trace, check-file, check-intent, chapters, wisdom, cold, sql."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

from otolith.doors.cli.desk import Command, Desk, read_stdin
from otolith.errors import Invalid, NotFound, Usage
from otolith.model.kinds import TASK_TYPES
from otolith.model.work import FAILURES

# Options of `record` and the fields they fill.
_FIELDS = {"goal": "goal", "task": "task_type", "context": "context", "summary": "summary", "reason": "failure_reason",
           "category": "failure_category", "approach": "approach_chosen", "why": "why_chosen", "learned": "learnings",
           "todo": "follow_up_needed", "file": "files", "tag": "tags", "importance": "importance"}


def _record_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", nargs="?", metavar="FILE|-", help="the work as a JSON object; without it, see the options")
    parser.add_argument("--goal", help="what was to be done")
    parser.add_argument("--task", metavar="TYPE", help=", ".join(TASK_TYPES))
    ended = parser.add_mutually_exclusive_group()
    ended.add_argument("--success", action="store_true", default=None, help="it worked")
    ended.add_argument("--failed", action="store_true", help="it did not")
    parser.add_argument("--summary", help="what came of it")
    parser.add_argument("--context", help="why it was needed")
    parser.add_argument("--approach", help="how it was done")
    parser.add_argument("--why", help="why that way")
    parser.add_argument("--reason", help="why it failed")
    parser.add_argument("--category", help=", ".join(FAILURES))
    for name, what in (("learned", "something learned"), ("todo", "a step still to take"), ("file", "a file it changed"),
                       ("tag", "a tag")):
        parser.add_argument(f"--{name}", action="append", help=f"{what} (may be repeated)")
    parser.add_argument("--importance", type=float, help="0 to 1, default 0.5")
    parser.add_argument("--key", help="the same key again returns the same work")


def _record(desk: Desk) -> None:
    args = desk.args
    given = {field: value for option, field in _FIELDS.items() if (value := getattr(args, option)) is not None}
    if args.success or args.failed:
        given["success"] = bool(args.success)
    if args.source is None and not given and sys.stdin.isatty():
        work: Mapping[str, Any] = ask_for_work()
    elif args.source is not None or not given:
        work = {**read_work(args.source), **given}
    else:
        work = given
    desk.kept(desk.mem.record(work, key=args.key, **desk.scope()), "recorded")


def read_work(source: str | None) -> dict[str, Any]:
    """The JSON object in a file or on stdin."""
    if source in (None, "-"):
        told = read_stdin()
    else:
        try:
            told = Path(str(source)).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise NotFound(f"no file {source!r}") from None
        except (OSError, UnicodeDecodeError) as error:
            raise Usage(f"{source} cannot be read: {error}") from None
    try:
        found = json.loads(told)
    except (json.JSONDecodeError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise Invalid(f"the work is not JSON{where}", 'such as {"goal": "…", "task_type": "bug_fix", "success": true, '
                      '"summary": "…"}') from None
    if not isinstance(found, dict):
        raise Invalid("the work must be one JSON object")
    return found


def ask_for_work() -> dict[str, Any]:
    """The form on a terminal: what must be known is asked until it is given, the rest may be left empty."""
    found: dict[str, Any] = {"goal": _line("What was to be done? ", needed=True)}
    print("  ".join(f"{at} {name}" for at, name in enumerate(TASK_TYPES, 1)), file=sys.stderr)
    while "task_type" not in found:
        said = _line("Kind of task (number or name) [other]: ") or "other"
        found["task_type"] = TASK_TYPES[int(said) - 1] if said.isdigit() and 0 < int(said) <= len(TASK_TYPES) else said
        if found["task_type"] not in TASK_TYPES:
            del found["task_type"]
    said = ""
    while said.casefold()[:1] not in ("y", "n"):
        said = _line("Did it work? (y/n) ", needed=True)
    found["success"] = said.casefold().startswith("y")
    found["summary"] = _line("What came of it? ", needed=True)
    if not found["success"]:
        found["failure_reason"] = _line("Why did it fail? ") or None
    found["approach_chosen"] = _line("How was it done? ")
    for field, question in (("files", "Files changed (one a line, empty to end): "), ("learnings", "Learned (one a line): "),
                            ("follow_up_needed", "Still to do (one a line): "), ("tags", "Tags (one a line): ")):
        lines = []
        while said := _line(question):
            lines.append(said)
        if lines:
            found[field] = lines
    return found


def _line(question: str, *, needed: bool = False) -> str:
    while True:
        print(question, end="", file=sys.stderr, flush=True)
        said = sys.stdin.readline()
        if not said:
            raise Usage("the form was not finished", "give the work as JSON: otolith record FILE")
        if said.strip() or not needed:
            return said.strip()


# Agents and sessions


def _agent_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="its name (default: a new one)")
    parser.add_argument("--type", choices=("main", "subagent"))
    parser.add_argument("--parent", metavar="AGENT", help="who started it; makes it a subagent")
    parser.add_argument("--metadata", metavar="JSON", help="an object laid over what is known of it")


def _agent(desk: Desk) -> None:
    metadata = None
    if desk.args.metadata is not None:
        try:
            metadata = json.loads(desk.args.metadata)
        except json.JSONDecodeError as error:
            raise Invalid(f"--metadata is not JSON: {error.msg}") from None
        if not isinstance(metadata, dict):
            raise Invalid("--metadata must be an object")
    desk.kept(desk.mem.agent(desk.args.id, type=desk.args.type, parent=desk.args.parent, project=desk.args.project,
                             metadata=metadata), "registered")


def _nothing(_: argparse.ArgumentParser) -> None:
    return


def _agents(desk: Desk) -> None:
    desk.table(desk.mem.agents(desk.args.project), ("id", "type", "parent_id", "project_id", "works", "sessions"))


def _resume_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="AGENT")


def _resume(desk: Desk) -> None:
    taken = desk.mem.resume(desk.args.name or desk.args.agent, desk.args.session)

    def told() -> str:
        lines = [f"{taken['agent']} in session {taken['session']} of {taken['project']}",
                 f"go on with: export OTOLITH_AGENT={taken['agent']} OTOLITH_SESSION={taken['session']}"]
        lines += [f"{'did' if work['success'] else 'tried'}: {work['title']}  {work['id']}" for work in taken["works"]]
        lines += [f"{notice['trigger']}: {notice['title']} ({notice['age']})  {notice['more']}" for notice in taken["notices"]]
        return "\n".join(lines)

    desk.answer(taken, told)


# Triggers


def _check_file_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path")
    parser.add_argument("--plan", default="", help="what is about to be done there")
    parser.add_argument("--again", action="store_true", help="show what was just shown, too")


def _check_file(desk: Desk) -> None:
    found = desk.mem.check_file(in_project(desk.args.path), plan=desk.args.plan, again=desk.args.again,
                                project=desk.args.project)
    desk.answer(found.to_dict(), found.text)


def in_project(path: str) -> str:
    """A file that is there, named from its repository's root, as works name it; anything else as given."""
    whole = os.path.abspath(path)
    if not os.path.lexists(whole):
        return path
    for folder in Path(whole).parents:
        if (folder / ".git").exists():
            return os.path.relpath(whole, folder)
    return path


def _check_intent_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("goal", nargs="+")
    parser.add_argument("--task", choices=TASK_TYPES, help="the kind of task")


def _check_intent(desk: Desk) -> None:
    found = desk.mem.check_intent(" ".join(desk.args.goal), desk.args.task)
    items = [notice.to_dict() for notice in found]
    desk.answer({"items": items, "total": len(items)}, "\n".join(n.text for n in found) or "nothing like it is known")


# Causes and effects


def _trace_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id")
    ways = parser.add_mutually_exclusive_group()
    for way in ("causes", "effects", "both"):
        ways.add_argument(f"--{way}", dest="direction", action="store_const", const=way)
    parser.add_argument("--max-depth", type=int, default=10)


def _trace(desk: Desk) -> None:
    steps = desk.mem.trace(desk.args.id, desk.args.direction or "both", desk.args.max_depth)

    def tree() -> str:
        from otolith.verbs.steps import locate

        row = locate(desk.mem.home, desk.args.id)
        return "\n".join([f"{row.title}  {row.id}", *draw(steps)])

    desk.answer({"items": list(steps), "total": len(steps)}, tree)


def draw(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    """Steps in reading order as branches of a tree."""
    lines = []
    for at, step in enumerate(steps):
        branches = ""
        for depth in range(1, step["depth"] + 1):
            rest = (later["depth"] for later in steps[at + 1 :])
            following = next((found for found in rest if found <= depth), 0)
            more = following == depth
            if depth < step["depth"]:
                branches += "│  " if more else "   "
            else:
                branches += "├─ " if more else "└─ "
        again = " (see above)" if step["again"] else ""
        lines.append(f"{branches}{step['link']}: {step['title']}  {step['id']}{again}")
    return lines


# Chapters, wisdom, cold storage


def _chapters_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--origin", choices=("manual", "auto"), help="made by hand, or found")


def _chapters(desk: Desk) -> None:
    rows = [{**chapter.to_dict(), "works": len(chapter.memories)}
            for chapter in desk.mem.chapters(desk.args.project, desk.args.origin)]
    desk.table(rows, ("id", "origin", "works", "title"))


def _chapter_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("works", nargs="+", metavar="WORK")
    parser.add_argument("--title")
    parser.add_argument("--summary")
    parser.add_argument("--tag", action="append")


def _chapter(desk: Desk) -> None:
    args = desk.args
    desk.kept(desk.mem.chapter(args.works, title=args.title, summary=args.summary, tags=args.tag, project=args.project), "made")


def _wisdom(desk: Desk) -> None:
    found = desk.mem.wisdom(desk.args.project)

    def told() -> str:
        from otolith.recall.depth import body

        return "\n\n".join(f"{piece.title}  {piece.id}\n\n{body(piece)}" for piece in found) or \
            "no wisdom yet; it needs two chapters and an upkeep"

    desk.answer({"items": [piece.to_dict() for piece in found], "total": len(found)}, told)


def _cold_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", type=float, default=180, help="asleep for at least so long (default 180)")
    parser.add_argument("--uses", type=int, default=1, help="used at most so often (default 1)")
    parser.add_argument("--apply", action="store_true", help="do it; without this only the plan is shown")


def _cold(desk: Desk) -> None:
    moves = desk.mem.cold(days=desk.args.days, uses=desk.args.uses, apply=desk.args.apply)
    desk.table([move._asdict() for move in moves], ("source", "target", "why"))
    if moves and not desk.args.apply:
        desk.tell("this is only the plan; carry it out with --apply")


def _sql_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar='"SELECT …"')


def _sql(desk: Desk) -> None:
    found = desk.mem.sql(desk.args.query)
    shown = [[f"<{len(value)} bytes>" if isinstance(value, bytes) else value for value in row] for row in found["rows"]]
    if desk.args.json:
        rows = [[None if value in (inf, -inf) else value for value in row] for row in shown]  # JSON knows no infinity
        desk.answer({"columns": found["columns"], "rows": rows}, "")
    else:
        desk.table([dict(zip(found["columns"], row, strict=False)) for row in shown], found["columns"])


COMMANDS = {
    "record": Command(_record_arguments, _record,
                      "  otolith record --goal 'Fix the login loop' --task bug_fix --success --summary 'Cookie path was wrong' "
                      "--file src/auth.ts\n  otolith record work.json\n  agent-run | otolith record -\n"
                      "  otolith record          (asks, on a terminal)"),
    "agent": Command(_agent_arguments, _agent, "  otolith agent kim\n  otolith agent kim-tests --parent kim"),
    "agents": Command(_nothing, _agents, "  otolith agents --project shop"),
    "resume": Command(_resume_arguments, _resume, "  otolith resume kim"),
    "check-file": Command(_check_file_arguments, _check_file,
                          "  otolith check-file src/auth.ts\n  otolith check-file src/auth.ts --plan 'refresh on a timer'"),
    "check-intent": Command(_check_intent_arguments, _check_intent, "  otolith check-intent 'speed up the build'"),
    "trace": Command(_trace_arguments, _trace, "  otolith trace mem_1f2e --causes --max-depth 3"),
    "chapters": Command(_chapters_arguments, _chapters, "  otolith chapters --origin manual"),
    "chapter": Command(_chapter_arguments, _chapter, "  otolith chapter mem_1f2e mem_3d4c --title 'The login loop'"),
    "wisdom": Command(_nothing, _wisdom, "  otolith wisdom --project shop"),
    "cold": Command(_cold_arguments, _cold, "  otolith cold --days 365\n  otolith cold --days 365 --apply"),
    "sql": Command(_sql_arguments, _sql,
                   "  otolith sql \"SELECT intent_goal FROM memories WHERE outcome_success = 0\""),
}
