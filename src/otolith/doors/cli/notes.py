"""Commands of the notes ladder: merge, edges, graph, tags, decay, embed, core, reflection, reflect, show, upkeep."""

from __future__ import annotations

import argparse
import os
from typing import Any

from otolith.doors.cli.desk import Command, Desk
from otolith.errors import CannotWrite, Conflict, Usage


def _no_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing but what every command takes."""


def _merge_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("keep", help="the note that stays; with --undo, the one that was merged away")
    parser.add_argument("absorb", nargs="?", help="the note that goes into it")
    parser.add_argument("--undo", action="store_true", help="take a merge back")


def _merge(desk: Desk) -> None:
    args = desk.args
    if args.undo:
        if args.absorb:
            raise Usage("--undo takes one note, the one that was merged away")
        desk.kept(desk.mem.unmerge(args.keep), "brought back")
    elif not args.absorb:
        raise Usage("merge takes two notes", "see: otolith merge --help")
    else:
        desk.kept(desk.mem.merge(args.keep, args.absorb), "merged into")


def _edges_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", help="words in titles or text; or: get ID, update ID, delete ID, suggest NOTE")
    parser.add_argument("--type", help="only of this type; with update, the new one")
    parser.add_argument("--note", metavar="ID", help="only edges of this note")
    parser.add_argument("--strength", type=float, help="with update")
    parser.add_argument("--text", help="with update; - reads stdin")
    parser.add_argument("--limit", type=int, default=50)
    parser.add_argument("--offset", type=int, default=0)


def _edges(desk: Desk) -> None:
    args, columns = desk.args, ("id", "from_title", "type", "to_title", "strength", "text")
    verb, rest = (args.words[0], args.words[1:]) if args.words else ("", [])
    if verb in ("get", "update", "delete", "suggest") and len(rest) == 1:
        return _edge(desk, verb, rest[0])
    items, total = desk.mem.edges(" ".join(args.words) or None, type=args.type, note=args.note, limit=args.limit,
                                  offset=args.offset)
    return desk.table(items, columns, total)


def _edge(desk: Desk, verb: str, handle: str) -> None:
    from otolith.doors.cli.desk import record_shape

    args, home = desk.args, desk.mem.home
    if verb == "suggest":
        rows = [edge._asdict() for edge in desk.mem.suggest_edges(handle)]
        return desk.table(rows, ("source", "type", "target", "strength", "title"))
    if verb == "get":
        hit = desk.mem.get(handle)
        return desk.answer(record_shape(hit.record, hit.path), f"{hit.title}\n{hit.kind} {hit.id}  {hit.path}\n\n{hit.text}")
    if verb == "delete":
        from otolith.verbs.edges import delete_edge

        gone = delete_edge(home, handle)
        return desk.answer({"id": gone, "deleted": True}, f"deleted edge {gone}; bring it back with: otolith restore {gone}")
    from otolith.verbs.edges import update_edge

    changes = {"type": args.type, "strength": args.strength, "text": None if args.text is None else desk.text(args.text)}
    given = {name: value for name, value in changes.items() if value is not None}
    if not given:
        raise Usage("nothing to change", "give --type, --strength or --text")
    return desk.kept(update_edge(home, handle, given), "changed")


def _graph_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="the record in the middle (default: all notes)")
    parser.add_argument("--depth", type=int, default=1, help="how many links away")
    parser.add_argument("--format", default="mermaid", help="mermaid, dot or svg")
    parser.add_argument("--kind", action="append", help="without an id: records of this kind (default: note)")
    parser.add_argument("--out", metavar="FILE", help="write it there instead of printing it")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")


def _graph(desk: Desk) -> None:
    args = desk.args
    drawn = desk.mem.graph(args.id, depth=args.depth, format=args.format, kind=tuple(args.kind or ("note",)))
    _deliver(desk, {"format": args.format, "graph": drawn}, drawn, args.out)


def _deliver(desk: Desk, value: dict[str, Any], text: str, out: str | None) -> None:
    """A picture to a file of the caller's choice, or to stdout."""
    if out is None:
        return desk.answer(value, text.rstrip("\n"))
    if os.path.isfile(out) and not desk.args.force:
        raise Conflict(f"{out} is there already", "give another name, or --force")
    try:
        with open(out, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise CannotWrite(f"{out} cannot be written: {error.strerror}") from None
    return desk.answer({"out": out}, f"wrote {out}")


def _tags_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", help="nothing for all tags; or: related TAG, suggest TEXT|ID")
    parser.add_argument("--limit", type=int, default=None)


def _tags(desk: Desk) -> None:
    words, limit = desk.args.words, desk.args.limit
    if not words:
        return desk.table(desk.mem.tags()[:limit], ("tag", "count"), len(desk.mem.tags()))
    verb, rest = words[0], " ".join(words[1:])
    if verb == "related" and rest:
        found = desk.mem.tags_near(rest, limit or 10)
    elif verb == "suggest" and rest:
        found = desk.mem.tags_for(desk.text(rest) if rest == "-" else rest, limit or 8)
    else:
        raise Usage(f"tags knows no {' '.join(words)!r}", "use: otolith tags, otolith tags related TAG, otolith tags suggest TEXT")
    return desk.table([dict(vars(tag)) for tag in found], ("tag", "count", "score"))


def _decay_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="explain and draw this record (default: score all notes, show how they stand)")
    parser.add_argument("--status", help="list the notes that are Active, Fading, Dormant or Archived")
    parser.add_argument("--svg", metavar="FILE", help="draw the curve or the histogram into a file")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    parser.add_argument("--limit", type=int, default=50)


def _decay(desk: Desk) -> None:
    return _decay_one(desk) if desk.args.id else _decay_all(desk)


def _decay_one(desk: Desk) -> None:
    from otolith.derive.pictures import draw_curve, svg_curve, trace_curve
    from otolith.model.decay import explain
    from otolith.verbs.reports import explain_decay

    now = desk.mem.home.clock()
    title, decay = explain_decay(desk.mem.home, desk.args.id)
    curve, lines = trace_curve(title, decay, now), explain(decay, now)
    if desk.args.svg:
        return _deliver(desk, {}, svg_curve(curve), desk.args.svg)
    return desk.answer({"title": title, **vars(decay), "explanation": lines},
                       lambda: draw_curve(curve) + "\n" + "\n".join(lines))


def _decay_all(desk: Desk) -> None:
    from otolith.derive.pictures import count_bars, draw_histogram, svg_histogram
    from otolith.model.decay import STATUSES, count_statuses, status
    from otolith.model.times import offset

    args = desk.args
    rows = sorted(desk.mem.decay(), key=lambda row: (-row[3], row[0]))
    if args.svg:
        return _deliver(desk, {}, svg_histogram(count_bars(row[3] for row in rows)), args.svg)
    if args.status:
        wanted = args.status.capitalize()
        if wanted not in STATUSES:
            raise Usage(f"no status {args.status!r}", f"use one of {', '.join(STATUSES)}")
        rows = [row for row in rows if status(row[3]) == wanted]
    titles = dict(desk.mem.home.db.execute("SELECT id, title FROM records WHERE kind = 'note'").fetchall())
    items = [{"id": note, "title": titles.get(note, ""), "decay_score": score, "status": status(score), "access_count": count,
              "last_accessed": None if last is None else offset(last)} for note, count, last, score in rows[: args.limit]]
    counts = count_statuses(row[3] for row in rows)
    if args.json:
        return desk.answer({"items": items, "total": len(rows), "statuses": counts}, "")
    if args.status:
        return desk.table(items, ("id", "decay_score", "access_count", "title"), len(rows))
    drawn = draw_histogram(count_bars(row[3] for row in rows))
    return desk.say(drawn + ", ".join(f"{count} {name}" for name, count in counts.items()))


def _embed(desk: Desk) -> None:
    with desk.progress("embedding") as progress:
        done = desk.mem.embed(progress, desk.tell)
    for notice in done["notices"]:
        desk.tell(notice)
    lines = [f"{one['provider']} {one['model']}: {one['embedded']} passages embedded"
             + (f", {one['missing']} missing" if one["missing"] else "") for one in done["sets"]]
    desk.answer(done, "\n".join([*lines, *(f"wrote {path}" for path in done["written"])]) or "no embedder is configured")


def _core(desk: Desk) -> None:
    page = desk.mem.core()
    desk.answer({"page": page}, page.rstrip("\n"))


def _reflection(desk: Desk) -> None:
    page = desk.mem.reflection()
    desk.answer({"page": page}, page.rstrip("\n"))


def _show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("page", help="core, reflection or global")


def _show(desk: Desk) -> None:
    page = desk.mem.show(desk.args.page)
    desk.answer({"page": page}, page.rstrip("\n"))


def _reflect_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--apply", action="store_true", help="carry out every proposal")
    parser.add_argument("--accept", metavar="KEY", help="carry out this one")


def _reflect(desk: Desk) -> None:
    if desk.args.accept:
        return desk.kept(desk.mem.accept(desk.args.accept), "accepted")
    found = desk.mem.reflect(apply=desk.args.apply)
    lines = [found.page]
    if found.clusters:
        lines += ["Alike in meaning:", *(f"- {'; '.join(titles[:5])}" + (" …" if len(titles) > 5 else "")
                                         for titles in found.clusters[:10]), ""]
    if found.merges or found.insights:
        lines.append("Proposed (otolith reflect --accept KEY, or --apply for all):")
        lines += [f"  {key}  merge {one.absorb[:8]} into {one.keep[:8]}: {one.why}" for key, one in found.merges]
        lines += [f"  {key}  insight {one.title!r} from {len(one.members)} notes" for key, one in found.insights]
    return desk.answer(found.to_dict(), "\n".join(lines).rstrip("\n"))


def _upkeep_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--install-timer", action="store_true", help="print a systemd timer and a cron line for it")
    parser.add_argument("--write", action="store_true", help="with --install-timer: write the systemd files")


def _upkeep(desk: Desk) -> int:
    if desk.args.install_timer:
        return _timer(desk)
    if desk.args.write:
        raise Usage("--write belongs to --install-timer")
    with desk.progress("upkeep") as progress:
        report = desk.mem.upkeep(progress)
    lines = [f"{name}: {line}" for name, changed in report.changed.items() for line in changed]
    lines += [f"proposed: {line}" for found in report.proposals.values() for line in found]
    desk.answer(report.to_dict(), "\n".join(lines) or ("" if report.failed else "nothing to do"))
    for name, what in report.failed.items():
        desk.tell(f"{name} failed: {what}")
    return report.exit_code


def _timer(desk: Desk) -> int:
    import sys

    from otolith.config import systemd_folder
    from otolith.doors.cli.timer import cron_line, unit_files

    command = [sys.executable, "-m", "otolith", "upkeep", "--home", str(desk.mem.path)]
    folder, files = systemd_folder(), unit_files(str(desk.mem.path), command)
    name = next(name for name in files if name.endswith(".timer"))
    if desk.args.write:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
    shown = "\n".join(f"# {folder / file}\n{text}" for file, text in files.items())
    said = f"{shown}\n# then: systemctl --user enable --now {name}\n# or, with cron:\n{cron_line(command)}"
    desk.answer({"folder": str(folder), "files": files, "cron": cron_line(command), "written": bool(desk.args.write)}, said)
    return 0


COMMANDS = {
    "merge": Command(_merge_arguments, _merge, "  otolith merge a1b2c3 d4e5f6\n  otolith merge --undo d4e5f6"),
    "edges": Command(_edges_arguments, _edges, "  otolith edges --note a1b2c3\n  otolith edges keepalive\n"
                                               "  otolith edges update 77aa88 --strength 0.9\n  otolith edges suggest a1b2c3"),
    "graph": Command(_graph_arguments, _graph, "  otolith graph a1b2c3 --depth 2\n  otolith graph --format svg --out graph.svg"),
    "tags": Command(_tags_arguments, _tags, "  otolith tags\n  otolith tags related redis\n"
                                            "  otolith tags suggest 'socket timeouts'"),
    "decay": Command(_decay_arguments, _decay, "  otolith decay\n  otolith decay a1b2c3\n  otolith decay --status fading\n"
                                               "  otolith decay --svg decay.svg"),
    "embed": Command(_no_arguments, _embed, "  otolith embed"),
    "core": Command(_no_arguments, _core, "  otolith core"),
    "reflection": Command(_no_arguments, _reflection, "  otolith reflection"),
    "reflect": Command(_reflect_arguments, _reflect, "  otolith reflect\n  otolith reflect --accept 1f2e3d4c"),
    "show": Command(_show_arguments, _show, "  otolith show core"),
    "upkeep": Command(_upkeep_arguments, _upkeep, "  otolith upkeep\n  otolith upkeep --install-timer"),
}
