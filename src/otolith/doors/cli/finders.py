"""Commands that find and show: recall, get, list, trace, facts, topics, edges, graph, reason, brief, …"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from otolith.doors.cli.command import Command, deliver, read_stdin, record_shape
from otolith.errors import CannotWrite, Invalid, NotFound, OtolithError, WrongUsage
from otolith.model.kinds import WRITTEN
from otolith.model.recall import spread
from otolith.model.times import time_or_none, zulu

WEAK = 3  # hits that are shown where none of them answers
FEW = 5  # hits in two lines each, where nobody says how many
UNMET = "no record passes the filter"


# Records


def _recall(command: Command) -> None:
    args, given = command.args, command.keywords()
    filtered = any(value for name, value in given.items() if name not in ("query", "limit", "depth",
                                                                          "budget"))
    if not args.query and not filtered:
        raise WrongUsage("say what to look for, or choose by --file, --type, --since …",
                         "see: otolith recall --help")
    whole = args.json or args.full or args.explain or args.budget is not None or args.depth != "full"
    with command.mem.home.uncounted():
        recalled = command.mem.recall(**given)
    answer = recalled.to_dict()
    if args.explain:
        for shown, hit in zip(answer["hits"], recalled.hits, strict=True):
            shown["parts"] = {name: round(value, 4) for name, value in hit.parts.items()}
    hits = _shown(recalled, answer["hits"], every=args.json)
    if not whole and not command.was_given("limit"):
        hits = hits[:FEW]
    if whole:
        hits = _print_whole(command, recalled, answer, hits, filtered)
    else:
        _print_few(command, recalled, hits, filtered)
    command.mem.home.used(list(dict.fromkeys(hit["id"] for hit in hits)))
    for notice in () if args.json else recalled.notices:
        if not notice.startswith(UNMET):
            command.warn(notice)


def _print_few(command: Command, recalled: Any, hits: Sequence[Mapping[str, Any]], filtered: bool) -> None:
    """Hits in two lines each."""
    def lines(room: int | None) -> list[str]:
        from otolith.doors.cli.terminal import asked_words, hit_lines

        words, now = asked_words(recalled.query), command.mem.home.clock()
        doubt = [f"({recalled.doubt})"] if recalled.doubt else []
        return [*doubt, *(hit_lines(hit, words, now, room) for hit in hits)] if hits \
            else [_nothing(recalled, filtered)]

    command.lay_out({}, lines)


def _print_whole(command: Command, recalled: Any, answer: dict[str, Any], hits: list[Mapping[str, Any]],
                 filtered: bool) -> list[Mapping[str, Any]]:
    """Hits with their texts, as many as the budget takes; returns those."""
    def lay_out(some: Sequence[Mapping[str, Any]]) -> str:
        return "\n\n".join([*([f"({recalled.doubt})"] if recalled.doubt else []), *map(_block, some)])

    if hits and command.args.budget is not None and not command.args.json:
        from otolith.doors.fenced import fit_hits

        hits = fit_hits(hits, command.args.budget, _block, lay_out)
    command.answer(answer, lambda: lay_out([{**hit, "place": at} for at, hit in enumerate(hits, 1)]) if hits
                   else _nothing(recalled, filtered))
    return hits


def _shown(recalled: Any, hits: Sequence[Mapping[str, Any]], *, every: bool) -> list[Mapping[str, Any]]:
    """What of an answer is shown, numbered: at a terminal few of one dialog, and few that answer nothing."""
    counted = [(hit, 0) for hit in recalled.hits] if every else spread(recalled.hits)
    listed = {id(hit): fields for hit, fields in zip(recalled.hits, hits, strict=True)}
    few = counted if every or recalled.enough else counted[:WEAK]
    return [{**listed[id(hit)], "more": more, "place": place} for place, (hit, more) in enumerate(few, 1)]


def _block(hit: Mapping[str, Any]) -> str:
    head = f"{hit['place']}. {hit['title']}\n   {hit['kind']} {hit['id']}  {'; '.join(hit['why'])}"
    parts = " + ".join(f"{name} {value:.2f}" for name, value in hit.get("parts", {}).items())
    text = "\n".join(f"   {line}" for line in hit["text"].splitlines())
    also = f"   also in: {', '.join(hit['also'])}" if hit.get("also") else ""
    more = f"   +{hit['more']} more of this dialog" if hit.get("more") else ""
    return "\n".join(part for part in (head, f"   {hit['score']:.2f} = {parts}" if parts else "",
                                       text, also, more) if part)


def _nothing(recalled: Any, filtered: bool) -> str:
    """Why nothing was found: nothing is known, or nothing that is known passes the filters."""
    unmet = next((notice for notice in recalled.notices if notice.startswith(UNMET)), "")
    among = " among what passes the filter" if filtered else ""
    return unmet or f"nothing known about {recalled.query!r}{among}"


def _get(command: Command) -> None:
    hit = command.mem.get(**command.keywords())
    shown = {"id": hit.id, "kind": hit.kind, "title": hit.title, "path": hit.path,
             "depth": command.args.depth,
             "text": hit.text}
    if command.args.depth == "full":
        shown = record_shape(hit.record, hit.path, hit.id)
    history: list[dict[str, str]] = []
    if command.args.history or (command.tty and not command.args.json):
        from otolith.verbs.history import of_record

        index = command.mem.home.index
        history = index.attempt(lambda: of_record(command.mem.home, hit.id))
        shown |= {"history": history}
    command.answer(shown | {"hash": hit.hash}, lambda: _page(hit, _links(command, hit.id), history))


def _page(hit: Any, links: Sequence[str] = (), history: Sequence[Mapping[str, Any]] = ()) -> str:
    """A record as a person reads it: what it is, its text, what it is linked to, what became of it."""
    origin = hit.origin or {}
    named = [f"{name} {value}" for name, value in (
        ("type", hit.type if hit.type != hit.kind else ""), ("tags", ", ".join(hit.tags)),
        ("project", origin.get("project")), ("trust", origin.get("trust")),
        ("replaced by", hit.superseded_by)) if value]
    written = f"made {zulu(hit.created)[:16].replace('T', ' ')}"
    changed = time_or_none(getattr(hit.record, "updated_at", None))
    if changed and changed - hit.created > 1:
        written += f", changed {zulu(changed)[:16].replace('T', ' ')}"
    happened = [f"  {event['when'][:10]}  {event['what']}: {event['text']}" for event in history]
    return "\n".join([hit.title, f"{hit.kind} {hit.id}  {hit.path}", "; ".join([written, *named]), "",
                      hit.text.rstrip("\n"), *(["", "Links", *links] if links else []),
                      *(["", "History", *happened] if happened else [])])


def _links(command: Command, id: str) -> list[str]:
    """What a record is linked to, and what is linked to it: how that reads, title, kind and id."""
    index = command.mem.home.index
    near = index.attempt(lambda: index.graph.neighbours(id))
    return [f"  {'→' if link.outgoing else '←'} {link.word}  {link.title}  ({link.kind} {link.id})"
            for link in near]


def _list(command: Command) -> None:
    args, given = command.args, command.keywords()
    if args.forgotten:
        command.mem.sync()
        columns = ("id", "kind", "title", "path")
        index = command.mem.home.index
        rows = index.attempt(index.cards.archived)
        return command.table([dict(zip(columns, row, strict=True)) for row in rows], columns)
    if not (args.json or args.all or args.kind or args.type or args.topic):
        given["kind"] = list(WRITTEN)  # what is built repeats what was written
    items, total = command.mem.list(**given)
    if not (command.tty and items) or args.json:
        return command.table(items, ("id", "kind", "type", "title", "tags", "created"), total)

    def lines(room: int | None) -> list[str]:
        from otolith.doors.cli.terminal import record_lines

        more = [f"{len(items)} of {total}; --limit and --offset show others"] if total > len(items) else []
        return [*record_lines(items, command.mem.home.clock(), room or 0), *more]

    return command.lay_out({}, lines)


def _last_upkeep(upkeep: Mapping[str, Any]) -> str:
    """When the last round was, and how it went."""
    last, due = upkeep["last"], "due" if upkeep["due"] else "not due"
    if not last:
        return f"upkeep never, {due}"
    changed = last.get("changed", {}).items()
    counts = ", ".join(f"{count} {rung}" for rung, count in changed) or "nothing to do"
    failed = "".join(f"; {rung} failed: {why}" for rung, why in last.get("failed", {}).items())
    by = "by itself" if last.get("unasked") else "as asked"
    return f"upkeep {last['t']} {by}: {counts}{failed}; {due}"


def _delivery(command: Command) -> None:
    rows = command.mem.stats(delivery=True)
    command.answer(rows, "\n".join(f"{door:<10}" + "".join(
        f"{count:>6} {name}" for name, count in row.items()) for door, row in rows.items()))


def _stats(command: Command) -> None:
    (_delivery if command.args.delivery else _counts)(command)


def _counts(command: Command) -> None:
    stats = command.mem.stats()
    kinds = "\n".join(f"  {kind:<10}{count:>8}" for kind, count in stats["kinds"].items())
    counts = ", ".join(f"{stats[name]} {name}" for name in ("links", "tags", "uses", "problems"))
    model = stats["model"]
    asked = (f"\nmodel {model['name']}: asked {model['calls']} times ({model['today']} of {model['limit']} "
             f"today), {model['failed']} failed, {model['seconds']} s" if model["name"] or model["calls"]
             else "")
    command.answer(stats,
                   f"{stats['home']}\n{stats['records']} records in {stats['documents']} files, {counts}\n"
                          f"{kinds}\nindex {stats['index']}\n{_last_upkeep(stats['upkeep'])}{asked}")


def _sql(command: Command) -> None:
    answer = command.mem.sql(command.args.query)
    columns, infinite = answer["columns"], (float("inf"), float("-inf"))
    rows = [[f"<{len(value)} bytes>" if isinstance(value, bytes) else value for value in row]
            for row in answer["rows"]]
    if command.args.json:  # which knows no infinity
        rows = [[None if value in infinite else value for value in row] for row in rows]
        command.answer({"columns": columns, "rows": rows}, "")
    else:
        command.table([dict(zip(columns, row, strict=False)) for row in rows], columns)


# Work


def _trace(command: Command) -> None:
    steps = command.mem.trace(**command.keywords())

    def tree() -> str:
        from otolith.verbs.steps import locate

        row = locate(command.mem.home, command.args.id)
        return "\n".join([f"{row.title}  {row.id}", *draw(steps)])

    command.items(steps, tree)


def draw(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    """Steps in reading order as branches of a tree."""
    lines = []
    for at, step in enumerate(steps):
        branches = ""
        for depth in range(1, step["depth"] + 1):
            later = (other["depth"] for other in steps[at + 1 :])
            more = next((other for other in later if other <= depth), 0) == depth
            if depth < step["depth"]:
                branches += "│  " if more else "   "
            else:
                branches += "├─ " if more else "└─ "
        again = " (see above)" if step["again"] else ""
        lines.append(f"{branches}{step['link']}: {step['title']}  {step['id']}{again}")
    return lines


def in_project(path: str) -> str:
    """A file that is there, named from its repository's root, as works name it; anything else as given."""
    whole = os.path.abspath(path)
    if not os.path.lexists(whole):
        return path
    for folder in Path(whole).parents:
        if (folder / ".git").exists():
            return os.path.relpath(whole, folder)
    return path


def _check_intent(command: Command) -> None:
    notices = command.mem.check_intent(**command.keywords())
    command.items([notice.to_dict() for notice in notices],
                  "\n".join(notice.text for notice in notices) or "nothing like it is known")


def _resume(command: Command) -> None:
    taken = command.mem.resume(command.args.agent or command.args._agent, command.args.session)

    def text() -> str:
        lines = [f"{taken['agent']} in session {taken['session']} of {taken['project']}",
                 f"go on with: export OTOLITH_AGENT={taken['agent']} OTOLITH_SESSION={taken['session']}"]
        lines += [f"{'did' if work['success'] else 'tried'}: {work['title']}  {work['id']}"
                  for work in taken["works"]]
        lines += [f"{notice['trigger']}: {notice['title']} ({notice['age']})  {notice['more']}"
                  for notice in taken["notices"]]
        return "\n".join(lines)

    command.answer(taken, text)


def _chapters(command: Command) -> None:
    rows = [{**chapter.to_dict(), "works": len(chapter.memories)}
            for chapter in command.mem.chapters(**command.keywords())]
    command.table(rows, ("id", "origin", "works", "title"))


def _wisdom(command: Command) -> None:
    pieces = command.mem.wisdom(**command.keywords())

    def text() -> str:
        from otolith.recall.depth import body

        return "\n\n".join(f"{piece.title}  {piece.id}\n\n{body(piece)}" for piece in pieces) or \
            "no wisdom yet; it needs two chapters and an upkeep"

    command.items([piece.to_dict() for piece in pieces], text)


# Dialogs


def _facts(command: Command) -> None:
    from otolith.doors.cli.writers import fact_row

    rows = [fact_row(fact) for fact in command.mem.facts(**command.keywords())]
    command.table(rows, ("id", "topic", "type", "score", "confidence", "title", "until"))


def _history(command: Command) -> None:
    command.table(command.mem.history(**command.keywords()), ("when", "what", "text", "was", "until", "why",
                                                              "record"))


def _versions(command: Command) -> None:
    command.table(command.mem.versions(command.args.id), ("version", "until", "title"))


def _contradictions(command: Command) -> None:
    from otolith.doors.cli.writers import both_sides

    pairs = command.mem.contradictions(**command.keywords())
    command.answer({"items": pairs, "total": len(pairs)}, lambda: "\n\n".join(
        f"{both_sides(pair)}\n  answer: otolith settle {pair['newer']['claim']} {pair['older']['claim']} "
        "new|old|both" for pair in pairs) if pairs else "nothing is contested")


def _topics(command: Command) -> None:
    name, mem = command.args.topic, command.mem
    if command.args.build:
        for topic in [name] if name else [row["topic"] for row in mem.topics()]:
            mem.build_topic(topic)
    if name is None:
        return command.table(mem.topics(), ("topic", "entries", "facts", "last_entry_ts", "summary"))
    from otolith.derive.topics import write_topic
    from otolith.model.shape import plain
    from otolith.verbs.topics import read_topic

    memory = read_topic(mem.home, name)
    if memory is None and not any(row["topic"] == name for row in mem.topics()):
        raise NotFound(f"no topic {name!r}", "see: otolith topics")
    if memory is None:
        raise Invalid(f"the memory of {name!r} is not built yet", f"otolith topics {name} --build")
    return command.answer(plain(memory), lambda: write_topic(memory).rstrip())


def _global(command: Command) -> None:
    from otolith.derive.topics import write_global
    from otolith.model.shape import plain

    memory = command.mem.build_global() if command.args.build else command.mem.global_memory()
    command.answer(plain(memory), lambda: write_global(memory).rstrip())


# Notes


def _tags(command: Command) -> None:
    words, limit = command.args.words, command.args.limit
    if not words:
        tags = command.mem.tags()
        return command.table(tags[:limit], ("tag", "count"), len(tags))
    act, rest = words[0], " ".join(words[1:])
    if act == "related" and rest:
        tags_found: Sequence[Any] = command.mem.tags_near(rest, limit or 10)
    elif act == "suggest" and rest:
        tags_found = command.mem.tags_for(read_stdin() if rest == "-" else rest, limit or 8)
    else:
        raise WrongUsage(f"tags does not know {' '.join(words)!r}",
                    "use: otolith tags, otolith tags related TAG, otolith tags suggest TEXT")
    return command.table([as_dict(tag) for tag in tags_found], ("tag", "count", "score"))


def as_dict(value: Any) -> dict[str, Any]:
    """A value with named parts, of whichever style, as JSON has it."""
    if hasattr(value, "_asdict"):
        return dict(value._asdict())
    return dict(value.to_dict()) if hasattr(value, "to_dict") else dict(vars(value))


def _edges(command: Command) -> None:
    words, acts = command.args.query, {"get": _get_edge, "update": _update_edge, "delete": _delete_edge,
                                       "suggest": _suggest_edges}
    if len(words) == 2 and words[0] in acts:
        return acts[words[0]](command, words[1])
    items, total = command.mem.edges(**command.keywords(query=" ".join(words) or None))
    return command.table(items, ("id", "from_title", "type", "to_title", "strength", "text"), total)


def _get_edge(command: Command, handle: str) -> None:
    hit = command.mem.get(handle)
    command.answer(record_shape(hit.record, hit.path), _page(hit))


def _update_edge(command: Command, handle: str) -> None:
    from otolith.verbs.edges import update_edge

    args = command.args
    changes = {"type": args.type, "strength": args.strength,
               "text": read_stdin() if args.text == "-" else args.text}
    given = {name: value for name, value in changes.items() if value is not None}
    if not given:
        raise WrongUsage("nothing to change", "give --type, --strength or --text")
    command.kept(update_edge(command.mem.home, handle, given), "changed")


def _delete_edge(command: Command, handle: str) -> None:
    from otolith.verbs.edges import delete_edge

    id = delete_edge(command.mem.home, handle)
    command.answer({"id": id, "deleted": True},
                   f"deleted edge {id}; bring it back with: otolith restore {id}")


def _suggest_edges(command: Command, handle: str) -> None:
    rows = [as_dict(edge) for edge in command.mem.suggest_edges(handle)]
    command.table(rows, ("source", "type", "target", "strength", "title"))


def _graph(command: Command) -> None:
    drawing = command.mem.graph(**command.keywords())
    deliver(command, {"format": command.args.format, "graph": drawing}, drawing, command.args.out)


# Thinking, and the session


def _explore(command: Command) -> None:
    explored = command.mem.explore(**command.keywords())
    steps = [f"  {step['op']} {step['what']}" for step in explored.trace] if command.args.trace else []
    command.answer(explored.to_dict(), "\n".join(part for part in (explored.text.rstrip("\n"),
                                                                   *steps) if part))


def _brief(command: Command) -> int | None:
    if failure := _no_access(command):
        return failure
    brief = command.mem.brief(**command.keywords())
    if command.args.json:
        command.answer(brief.to_dict(), "")
    else:
        from otolith.doors.fenced import fit_lines

        # the HUD alone may be more than a small budget
        command.print(fit_lines(brief.text.rstrip("\n"), command.args.budget, str))
    return None


def _hud(command: Command) -> int | None:
    if failure := _no_access(command):
        return failure
    shown = command.mem.hud(**command.keywords())
    command.answer({"hud": shown}, shown.rstrip("\n"))
    lost = any("were not kept" in notice for notice in command.mem.home.notices)
    return CannotWrite.exit_code if lost else None


def _no_access(command: Command) -> int:
    """A home that cannot be opened shows in the HUD, which is the first thing to be seen in any case."""
    try:
        index = command.mem.home.index
        index.attempt(lambda: index.get("swept"))
    except (OtolithError, OSError) as error:
        from otolith.derive.protocol import render_hud

        shown = render_hud(memory=None)
        command.answer({"hud": shown}, shown.rstrip("\n"))
        command.warn(str(error))
        return error.exit_code if isinstance(error, OtolithError) else CannotWrite.exit_code
    return 0


COMMANDS: dict[str, Callable[[Command], int | None]] = {
    "recall": _recall, "get": _get, "list": _list, "stats": _stats, "sql": _sql, "trace": _trace,
    "related": lambda command: command.table(
        command.mem.related(**command.keywords()), ("distance", "link", "type", "id", "kind", "title",
                                                    "context")),
    "show": lambda command: command.page(command.mem.show(command.args.page)),
    "check-file": lambda command: command.result(
        command.mem.check_file(**command.keywords(path=in_project(command.args.path)))),
    "check-intent": _check_intent,
    "agents": lambda command: command.table(
        command.mem.agents(**command.keywords()), ("id", "type", "parent_id", "project_id", "works",
                                                   "sessions")),
    "resume": _resume, "chapters": _chapters, "wisdom": _wisdom, "facts": _facts,
    "history": _history, "versions": _versions,
    "contradictions": _contradictions, "topics": _topics,
    "global": _global, "tags": _tags, "edges": _edges, "graph": _graph,
    "reason": lambda command: command.result(command.mem.reason(**command.keywords())), "explore": _explore,
    "brief": _brief, "hud": _hud,
}
