"""Commands that find: recall, get, list, related, stats."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from otolith.doors.cli.desk import Command, Desk, record_shape
from otolith.model.kinds import KINDS
from otolith.model.record import DEPTHS

UNMET = "no record passes the filter"


def filter_arguments(parser: argparse.ArgumentParser) -> None:
    """The filters, the same wherever records are chosen."""
    group = parser.add_argument_group("which records")
    group.add_argument("--kind", action="append", choices=KINDS)
    group.add_argument("--type", action="append")
    group.add_argument("--tag", action="append")
    group.add_argument("--topic")
    group.add_argument("--conversation", metavar="ID", help="a conversation or session")
    group.add_argument("--file", metavar="PATH", help="work that touched this file")
    group.add_argument("--since", metavar="DATE")
    group.add_argument("--before", metavar="DATE")
    group.add_argument("--as-of", metavar="DATE", help="as the memory stood then")
    group.add_argument("--failures", action="store_true")
    group.add_argument("--successes", action="store_true")
    group.add_argument("--min-confidence", type=float)


def filters(args: argparse.Namespace) -> dict[str, Any]:
    """The filters as the verbs' keywords."""
    names = ("kind", "type", "tag", "topic", "conversation", "file", "since", "before", "as_of", "failures", "successes",
             "min_confidence", "project", "agent", "session")
    return {name: getattr(args, name) for name in names}


def _recall_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", nargs="+")
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--depth", default="full", metavar="|".join(DEPTHS))
    parser.add_argument("--budget", type=int, metavar="TOKENS")
    parser.add_argument("--explain", action="store_true", help="show how each score came about")
    filter_arguments(parser)


def _recall(desk: Desk) -> None:
    args = desk.args
    with desk.mem.home.uncounted():
        found = desk.mem.recall(" ".join(args.question), limit=args.limit, depth=args.depth, budget=args.budget,
                                **filters(args))
    answer = found.to_dict()
    if args.explain:
        for shown, hit in zip(answer["hits"], found.hits, strict=True):
            shown["parts"] = {name: round(value, 4) for name, value in hit.parts.items()}
    hits = answer["hits"]

    def dress(some: Sequence[Mapping[str, Any]]) -> str:
        return "\n\n".join(map(_block, some)) + ("" if found.enough else "\n\n(nothing of this is a good answer)")

    if hits and args.budget is not None and not args.json:
        from otolith.doors.mcp.budget import fit_hits

        hits = fit_hits([{**hit, "place": place} for place, hit in enumerate(hits, 1)], args.budget, _block, dress)
    desk.mem.home.used(list(dict.fromkeys(hit["id"] for hit in hits)))
    desk.answer(answer, lambda: dress([{**hit, "place": at} for at, hit in enumerate(hits, 1)]) if hits else _nothing(found, args))
    for notice in () if args.json else found.notices:
        if not notice.startswith(UNMET):
            desk.tell(notice)


def _block(hit: Mapping[str, Any]) -> str:
    head = f"{hit['place']}. {hit['title']}\n   {hit['kind']} {hit['id']}  {'; '.join(hit['why'])}"
    parts = " + ".join(f"{name} {value:.2f}" for name, value in hit.get("parts", {}).items())
    text = "\n".join(f"   {line}" for line in hit["text"].splitlines())
    return "\n".join(part for part in (head, f"   {hit['score']:.2f} = {parts}" if parts else "", text) if part)


def _nothing(found: Any, args: argparse.Namespace) -> str:
    """Why nothing was found: because nothing is known, or because nothing that is known passes the filters."""
    unmet = next((notice for notice in found.notices if notice.startswith(UNMET)), "")
    chosen = any(filters(args).values())
    return unmet or f"nothing known about {found.query!r}" + (" among what passes the filter" if chosen else "")


def _get_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="an id, the beginning of one, a title or a memo's name")
    parser.add_argument("--depth", default="full", metavar="|".join(DEPTHS))


def _get(desk: Desk) -> None:
    depth = desk.args.depth
    hit = desk.mem.get(desk.args.id, depth)
    shown = (record_shape(hit.record, hit.path, hit.id) if depth == "full"
             else {"id": hit.id, "kind": hit.kind, "title": hit.title, "path": hit.path, "depth": depth, "text": hit.text})
    desk.answer(shown | {"hash": hit.hash},
                lambda: f"{hit.title}\n{hit.kind} {hit.id}  {hit.path}\n\n{hit.text}")


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=50)
    parser.add_argument("--offset", type=int, default=0)
    parser.add_argument("--forgotten", action="store_true", help="what lies in the archive")
    filter_arguments(parser)


def _list(desk: Desk) -> None:
    args = desk.args
    if args.forgotten:
        from otolith.index.read import archived

        desk.mem.sync()
        rows = [{"id": one, "kind": kind, "title": title, "path": path}
                for one, kind, title, path in archived(desk.mem.home.db)]
        return desk.table(rows, ("id", "kind", "title", "path"))
    items, total = desk.mem.list(limit=args.limit, offset=args.offset, **filters(args))
    return desk.table(items, ("id", "kind", "type", "title", "tags", "created"), total)


def _related_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id")
    parser.add_argument("--depth", type=int, default=1, help="how many links away")


def _related(desk: Desk) -> None:
    desk.table(desk.mem.related(desk.args.id, desk.args.depth), ("distance", "link", "type", "id", "kind", "title", "context"))


def _stats(desk: Desk) -> None:
    found = desk.mem.stats()
    kinds = "\n".join(f"  {kind:<10}{count:>8}" for kind, count in found["kinds"].items())
    desk.answer(found, f"{found['home']}\n{found['records']} records in {found['documents']} files, {found['links']} links, "
                       f"{found['tags']} tags, {found['uses']} uses, {found['problems']} problems\n{kinds}\n"
                       f"index {found['index']}")


def _no_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing but what every command takes."""


COMMANDS = {
    "recall": Command(_recall_arguments, _recall,
        "  otolith recall 'why does redis disconnect'\n"
        "  otolith recall deploy --kind note --tag docker --since 2026-01-01 --budget 800"),
    "get": Command(_get_arguments, _get, "  otolith get a1b2c3\n  otolith get user_prefers_structured_output --json"),
    "list": Command(_list_arguments, _list, "  otolith list --kind note --tag redis\n  otolith list --forgotten"),
    "related": Command(_related_arguments, _related, "  otolith related a1b2c3 --depth 2"),
    "stats": Command(_no_arguments, _stats, "  otolith stats --json"),
}
