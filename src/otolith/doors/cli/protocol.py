"""Commands of chunks and the session protocol: remember, brief, hud, end, reason, explore, garden."""

from __future__ import annotations

import argparse

from otolith.doors.cli.desk import Command, Desk, record_shape
from otolith.doors.cli.finding import filter_arguments, filters
from otolith.errors import CannotWrite, OtolithError


def _remember_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="?", help="the text; - or nothing reads stdin")
    parser.add_argument("--conversation", metavar="ID", help="the conversation it belongs to (default: the session)")
    parser.add_argument("--tag", action="append", default=[], metavar="TAG")
    parser.add_argument("--type", help="fact, preference, pattern, note or decision (default: told by the text)")
    parser.add_argument("--confidence", type=float, default=0.7)
    parser.add_argument("--created", metavar="TIME", help="when it was said (default: now)")
    parser.add_argument("--source", default="interaction", help="interaction, import or derived")
    parser.add_argument("--key", help="the same key again keeps nothing twice")


def _remember(desk: Desk) -> None:
    args = desk.args
    chunks = desk.mem.remember(desk.text(args.text), conversation_id=args.conversation, tags=args.tag, type=args.type,
                               confidence=args.confidence, created=args.created, source=args.source, key=args.key,
                               **desk.scope())
    units = dict(desk.mem.home.db.execute(
        f"SELECT id, unit FROM records WHERE id IN ({','.join('?' * len(chunks))})", [chunk.id for chunk in chunks]))
    shapes = [record_shape(chunk, units.get(chunk.id, "")) for chunk in chunks]
    desk.answer({"items": shapes, "total": len(shapes)},
                "\n".join(f"remembered chunk {chunk.id}  {chunk.type}, {chunk.tokens} tokens" for chunk in chunks))


def _brief_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("context", nargs="*", help="what the session is about")
    parser.add_argument("--budget", type=int, default=2000, metavar="TOKENS")


def _brief(desk: Desk) -> int | None:
    args = desk.args
    if trouble := _no_access(desk):
        return trouble
    found = desk.mem.brief(" ".join(args.context), budget=args.budget, project=args.project, session=args.session)
    if args.json:
        desk.answer(found.to_dict(), "")
    else:
        from otolith.doors.fenced import fit_lines

        desk.say(fit_lines(found.text.rstrip("\n"), args.budget, str))  # the HUD alone may be more than a small budget
    return None


def _no_access(desk: Desk) -> int:
    """A home that cannot be opened shows in the HUD, which is the first thing to be seen in any case."""
    try:
        desk.mem.home.db.execute("SELECT 1")
    except (OtolithError, OSError) as error:
        from otolith.derive.protocol import render_hud

        shown = render_hud(memory=None)
        desk.answer({"hud": shown}, shown.rstrip("\n"))
        desk.tell(str(error))
        return error.exit_code if isinstance(error, OtolithError) else CannotWrite.exit_code
    return 0


def _hud_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--past", help="the last thing known from memory")
    parser.add_argument("--present", help="what is being done now")
    parser.add_argument("--future", help="what comes next")


def _hud(desk: Desk) -> int | None:
    args = desk.args
    if trouble := _no_access(desk):
        return trouble
    shown = desk.mem.hud(past=args.past, present=args.present, future=args.future, session=args.session)
    desk.answer({"hud": shown}, shown.rstrip("\n"))
    lost = any("were not kept" in notice for notice in desk.mem.home.notices)
    return CannotWrite.exit_code if lost else None


def _end_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dialog", nargs="?", metavar="FILE|-", help="the session's dialog; - reads stdin")


def _end(desk: Desk) -> int:
    args = desk.args
    text = ""
    if args.dialog == "-":
        text = desk.text("-")
    elif args.dialog:
        text = _read_file(args.dialog)
    ended = desk.mem.end(text, **desk.scope())
    desk.answer(ended.to_dict(), ended.text.rstrip("\n"))
    return CannotWrite.exit_code if ended.notes else 0


def _read_file(path: str) -> str:
    from otolith.errors import NotFound, Usage

    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        raise NotFound(f"no file {path!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(f"{path} cannot be read: {error}") from None


def _reason_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", nargs="*")
    parser.add_argument("--way", default="synthesis", metavar="synthesis|comparison|pattern|gap")
    parser.add_argument("--term", action="append", default=[], metavar="TERM", help="a side of a comparison, or what to cover")
    parser.add_argument("--limit", type=int, default=50)
    filter_arguments(parser)


def _reason(desk: Desk) -> None:
    args = desk.args
    found = desk.mem.reason(" ".join(args.question), way=args.way, terms=args.term, limit=args.limit, **filters(args))
    desk.answer(found.to_dict(), found.text.rstrip("\n"))


def _explore_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", nargs="+")
    parser.add_argument("--depth", type=int, default=2, help="how deep questions may lead to further questions")
    parser.add_argument("--calls", type=int, default=16, help="how often the model is asked at most")
    parser.add_argument("--tokens", type=int, default=30_000, help="how much it may read and write in all")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--trace", action="store_true", help="show what was read on the way")


def _explore(desk: Desk) -> None:
    args = desk.args
    found = desk.mem.explore(" ".join(args.question), depth=args.depth, calls=args.calls, tokens=args.tokens,
                             seconds=args.seconds)
    steps = "\n".join(f"  {step['op']} {step['what']}" for step in found.trace) if args.trace else ""
    desk.answer(found.to_dict(), "\n".join(part for part in (found.text.rstrip("\n"), steps) if part))


def _garden_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--apply", action="store_true", help="carry the proposals out")
    parser.add_argument("--archive", action="store_true", help="with --apply: put retired memos away instead of marking them")
    parser.add_argument("--undo", action="store_true", help="take back what was applied last")


def _garden(desk: Desk) -> None:
    args = desk.args
    done = desk.mem.garden(apply=args.apply, archive=args.archive, undo=args.undo)
    desk.answer(done.to_dict(), done.text)


COMMANDS = {
    "remember": Command(_remember_arguments, _remember,
                        "  otolith remember 'User prefers Python over JavaScript' --conversation conv-123 --tag coding\n"
                        "  otolith remember - --conversation meeting < minutes.txt"),
    "brief": Command(_brief_arguments, _brief, "  otolith brief 'fixing the login' --budget 1000"),
    "hud": Command(_hud_arguments, _hud, "  otolith hud --present 'Fixing the login page' --future 'Release on Friday'"),
    "end": Command(_end_arguments, _end, "  otolith end dialog.md"),
    "reason": Command(_reason_arguments, _reason,
                      "  otolith reason 'which database' --tag architecture\n"
                      "  otolith reason Postgres vs Redis --way comparison"),
    "explore": Command(_explore_arguments, _explore, "  otolith explore 'why did we leave Redis' --calls 8 --trace"),
    "garden": Command(_garden_arguments, _garden, "  otolith garden\n  otolith garden --apply\n  otolith garden --undo"),
}
