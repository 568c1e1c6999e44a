"""Commands that tend a home: init, end, upkeep, sync, check, garden, reflect, decay, embed, cold, …"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from otolith.doors.cli.command import Command, deliver, read_text
from otolith.errors import CannotWrite, Damaged, Invalid, WrongUsage
from otolith.model.kinds import KINDS
from otolith.model.record import Finding
from otolith.model.text import counted, visible_line

LISTED = 40  # changes that sync names one by one


def _init(command: Command) -> None:
    command.args.home = command.args.folder or command.args.home
    made = list(command.mem.init(git=command.args.git))
    result = f"made {', '.join(made)}" if made else "nothing to do; it is a home already"
    home = command.mem.home.tree.name
    command.answer({"home": home, "made": made}, f"{home}: {result}")


def _end(command: Command) -> int:
    path = command.args.text
    ended = command.mem.end(**command.keywords(text=read_text(path) if path else ""))
    command.result(ended)
    return CannotWrite.exit_code if ended.notes else 0


def _sync(command: Command) -> None:
    from otolith import config
    from otolith.files.disk import open_tree
    from otolith.index.store import index_path

    name = open_tree(config.home_name(command.args.home)).name
    first = not index_path(config.home_cache(name)).exists()
    with command.progress("reading") as progress:
        changes = command.mem.sync(**command.keywords(), progress=progress)
    rows = [{"change": change.what,
             "path": change.path} | ({"reason": change.reason} if change.reason else {})
            for change in changes]
    lines = ["\t".join(map(visible_line, row.values())) for row in rows]
    command.items(rows, lambda: "\n".join(lines if len(lines) <= LISTED else _counted_changes(command, rows))
                  or "everything is up to date")
    if command.args.json or not (lines or first):
        return
    stats = command.mem.stats()
    kinds = ", ".join(counted(count, kind, KINDS[kind].plural) for kind, count in stats["kinds"].items())
    done = "read for the first time" if first else counted(len(lines), "change")
    now = f"{stats['records']} records in {stats['documents']} files"
    command.warn(f"{done}: {now} ({kinds})" if first else f"{done}: {now}")


def _counted_changes(command: Command, rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Many changes by what they are and where they lie."""
    counts: dict[tuple[str, str], int] = {}
    for row in rows:
        place = (row["change"], row["path"].partition("/")[0])
        counts[place] = counts.get(place, 0) + 1
    return [f"{what}\t{number} in {folder}" for (what, folder), number in sorted(counts.items())] + \
        ["each of them: otolith sync --json" if command.tty else ""]


def _reindex(command: Command) -> None:
    with command.progress("indexing") as progress:
        done = command.mem.reindex(progress)
    written = [f"wrote {path}" for path in done["written"]]
    command.answer(done, "\n".join([f"{done['records']} records indexed", *written]))


def _check(command: Command) -> int:
    findings = [*_check_settings(command), *command.mem.check(**command.keywords())]
    lines = [f"{visible_line(at.path)}{f':{at.line}' if at.line else ''}: {at.code}: "
             f"{visible_line(at.message)}\n  {visible_line(at.remedy)}" for at in findings]
    rows: list[dict[str, Any]] = [finding._asdict() for finding in findings]
    command.answer({"findings": rows}, "\n".join(lines) or "everything is in order")
    return Damaged.exit_code if findings else 0


def _check_settings(command: Command) -> list[Finding]:
    """Settings that cannot be read are a finding, too; the rest is checked as if there were none."""
    from otolith import config
    from otolith.opening import open_home

    try:
        config.load(open_home(command.args.home))
    except Invalid as error:
        name = next((name for name in ("otolith.toml", "_config.json") if name in error.message), None)
        if name is None:
            raise
        line = re.search(r"line (\d+)", error.message)
        command.settings = config.Config()
        return [Finding(name, int(line[1]) if line else None, "settings", error.message, error.hint)]
    return []


def _cold(command: Command) -> None:
    moves = command.mem.cold(**command.keywords())
    command.table([move._asdict() for move in moves], ("source", "target", "why"))
    if moves and not command.args.apply:
        command.warn("this is only the plan; carry it out with --apply")


def _embed(command: Command) -> None:
    with command.progress("embedding") as progress:
        done = command.mem.embed(progress, command.warn, model=command.args.model)
    for notice in done["notices"]:
        command.warn(notice)
    lines = [f"{held['provider']} {held['model']}: {held['embedded']} passages embedded"
             + (f", {held['missing']} missing" if held["missing"] else "") for held in done["sets"]]
    lines += [f"wrote {path}" for path in done["written"]]
    command.answer(done, "\n".join(lines) or "no embedder is configured")


def _reflect(command: Command) -> None:
    if command.args.accept:
        return command.kept(command.mem.accept(command.args.accept), "accepted")
    reflected = command.mem.reflect(apply=command.args.apply)
    lines = [reflected.page]
    if reflected.clusters:
        lines += ["Alike in meaning:", *(f"- {'; '.join(titles[:5])}" + (" …" if len(titles) > 5 else "")
                                         for titles in reflected.clusters[:10]), ""]
    if reflected.merges or reflected.insights:
        lines.append("Proposed (otolith reflect --accept KEY, or --apply for all):")
        lines += [f"  {key}  merge {merge.absorb[:8]} into {merge.keep[:8]}: {merge.why}"
                  for key, merge in reflected.merges]
        lines += [f"  {key}  insight {insight.title!r} from {len(insight.members)} notes"
                  for key, insight in reflected.insights]
    return command.answer(reflected.to_dict(), "\n".join(lines).rstrip("\n"))


# Decay


def _decay(command: Command) -> None:
    return _decay_of(command) if command.args.id else _decay_of_all(command)


def _decay_of(command: Command) -> None:
    from otolith.derive.pictures import draw_curve, svg_curve, trace_curve
    from otolith.model.decay import explain
    from otolith.verbs.reports import explain_decay

    now = command.mem.home.clock()
    title, decay = explain_decay(command.mem.home, command.args.id)
    curve, lines = trace_curve(title, decay, now), explain(decay, now)
    if command.args.svg:
        return deliver(command, {}, svg_curve(curve), command.args.svg)
    return command.answer({"title": title, **vars(decay), "explanation": lines},
                          lambda: draw_curve(curve) + "\n" + "\n".join(lines))


def _decay_of_all(command: Command) -> None:
    from otolith.derive.pictures import count_bars, draw_histogram, svg_histogram
    from otolith.model.decay import STATUSES, count_statuses, status
    from otolith.model.times import offset

    args = command.args
    rows = sorted(command.mem.decay(), key=lambda row: (-row[3], row[0]))
    if args.svg:
        return deliver(command, {}, svg_histogram(count_bars(row[3] for row in rows)), args.svg)
    if args.status:
        if args.status.capitalize() not in STATUSES:
            raise WrongUsage(f"unknown status {args.status!r}", f"use one of {', '.join(STATUSES)}")
        rows = [row for row in rows if status(row[3]) == args.status.capitalize()]
    shown = rows[: args.limit]
    index = command.mem.home.index
    cards = index.attempt(lambda: index.cards.rows_of([row[0] for row in shown]))
    items = [{"id": note, "title": cards[note].title if note in cards else "", "decay_score": score,
              "status": status(score), "access_count": count,
              "last_accessed": None if last is None else offset(last)} for note, count, last, score in shown]
    counts = count_statuses(row[3] for row in rows)
    if args.json:
        return command.answer({"items": items, "total": len(rows), "statuses": counts}, "")
    if args.status:
        return command.table(items, ("id", "decay_score", "access_count", "title"), len(rows))
    histogram = draw_histogram(count_bars(row[3] for row in rows))
    return command.print(histogram + ", ".join(f"{count} {name}" for name, count in counts.items()))


# The nightly round, and what starts it: a systemd user timer, or a cron line


def _upkeep(command: Command) -> int:
    if command.args.install_timer:
        return _timer(command)
    if command.args.write:
        raise WrongUsage("--write belongs to --install-timer")
    if command.args.if_due:
        _step_back(command.args.after)
    with command.progress("upkeep") as progress:
        report = command.mem.upkeep(progress, if_due=command.args.if_due)
    lines = [f"{name}: {line}" for name, changed in report.changed.items() for line in changed]
    lines += [f"proposed: {line}" for proposals in report.proposals.values() for line in proposals]
    command.answer(report.to_dict(), "\n".join(lines) or ("" if report.failed else "nothing to do"))
    for name, what in report.failed.items():
        command.warn(f"{name} failed: {what}")
    return report.exit_code


def _step_back(seconds: float) -> None:
    """What nobody asked for lets everybody else go first."""
    import os
    import time

    if hasattr(os, "nice"):
        os.nice(19)
    time.sleep(max(0.0, min(seconds, 600.0)))


def _timer(command: Command) -> int:
    from otolith.config import systemd_folder

    home = str(command.mem.path)
    upkeep = [sys.executable, "-m", "otolith", "upkeep", "--home", home]
    folder, files, cron = systemd_folder(), unit_files(home, upkeep), cron_line(upkeep)
    name = next(name for name in files if name.endswith(".timer"))
    if command.args.write:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
    shown = "\n".join(f"# {folder / file}\n{text}" for file, text in files.items())
    command.answer({"folder": str(folder), "files": files, "cron": cron, "written": bool(command.args.write)},
                   f"{shown}\n# then: systemctl --user enable --now {name}\n# or, with cron:\n{cron}")
    return 0


def unit_files(home: str, command: Sequence[str]) -> dict[str, str]:
    """File name → content of the service and its timer."""
    from otolith.config import timer_file

    name = timer_file(home).stem
    service = (f"[Unit]\nDescription=Otolith upkeep of {_escaped(home)}\n\n[Service]\nType=oneshot\nNice=10\n"
               f"ExecStart={' '.join(_word(part) for part in command)}\n")
    timer = (f"[Unit]\nDescription=Otolith upkeep of {_escaped(home)}, daily\n\n[Timer]\nOnCalendar=daily\n"
             "RandomizedDelaySec=15min\nPersistent=true\n\n[Install]\nWantedBy=timers.target\n")
    return {f"{name}.service": service, f"{name}.timer": timer}


def cron_line(command: Sequence[str]) -> str:
    """The same for cron, where % means a line break."""
    from shlex import join

    return f"17 3 * * * {join(command)}".replace("%", "\\%")


def _word(part: str) -> str:
    """One word of ExecStart: systemd reads % and $ as its own, quotes and backslashes as C does."""
    quoted = _escaped(part).replace("$", "$$")
    return quoted if re.fullmatch(r"[A-Za-z0-9/_.-]+", quoted) else f'"{quoted}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", " ")


COMMANDS: dict[str, Callable[[Command], int | None]] = {
    "init": _init, "end": _end, "upkeep": _upkeep, "sync": _sync, "reindex": _reindex, "check": _check,
    "garden": lambda command: command.result(command.mem.garden(**command.keywords())), "reflect": _reflect,
    "reflection": lambda command: command.page(command.mem.reflection()),
    "core": lambda command: command.page(command.mem.core()), "decay": _decay, "embed": _embed, "cold": _cold,
}
