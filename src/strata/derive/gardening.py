"""Gardening proposals over memos: supersede what a newer memo contradicts, consolidate more than five on one topic.

Only proposes; a person applies. The order is stable, each memo is part of at most one consolidation, and memos already
deprecated are left alone, so that a garden in which everything was applied gives no proposals. Knows no files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from strata.derive.contradiction import Cell, cells, find_claims, find_contradiction
from strata.model.memo import Memo
from strata.model.memo_name import master_name
from strata.model.text import fold
from strata.model.times import day

MORE_THAN = 5
_DEPRECATED = re.compile(r"^\W*DEPRECATED\b", re.MULTILINE)
_HEADING = re.compile(r"^(#+)(?= )", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """What to do: retire `names` in favour of `target`, which then reads `text`; `note` is added to each retired memo."""

    kind: str  # "supersede" or "consolidate"
    names: tuple[str, ...]
    target: str
    reason: str
    title: str
    text: str
    note: str
    category: str = "past"
    tags: tuple[str, ...] = ()


def find_proposals(memos: Iterable[Memo]) -> list[Proposal]:
    """All proposals, supersessions first, since what is superseded no longer counts towards a topic."""
    alive = sorted((memo for memo in memos if not is_deprecated(memo)), key=lambda memo: (memo.created, memo.name))
    supersessions = find_supersessions(alive)
    retired = {name for proposal in supersessions for name in proposal.names}
    return supersessions + find_consolidations([memo for memo in alive if memo.name not in retired])


def is_deprecated(memo: Memo) -> bool:
    return memo.deprecated_by is not None or _DEPRECATED.search(memo.text) is not None


def deprecation_note(new_name: str) -> str:
    """The line the old memo gets."""
    return f"DEPRECATED: See valid architecture in {new_name}.md"


def change_note(created: float) -> str:
    """The dated line the new memo gets."""
    return f"User changed mind {day(created)}."


def find_supersessions(memos: Sequence[Memo]) -> list[Proposal]:
    """Newest wins: every older memo on the same topic that the newest of its opponents contradicts."""
    claims = {memo.name: find_claims(f"{memo.title}.\n\n{memo.text}") for memo in memos}
    topics = {memo.name: set(_topics(memo)) for memo in memos}
    order = sorted(memos, key=lambda memo: (memo.created, memo.name))
    age = {memo.name: at for at, memo in enumerate(order)}
    speaking: dict[Cell, list[str]] = {}
    for memo in order:
        for cell in {cell for claim in claims[memo.name] for cell in cells(claim)}:
            speaking.setdefault(cell, []).append(memo.name)
    gone: set[str] = set()
    found: list[Proposal] = []
    for newer in reversed(order):
        if newer.name in gone:
            continue
        rivals = {name for claim in claims[newer.name] for cell in cells(claim) for name in speaking[cell]} - gone
        losing: dict[str, str] = {}
        for older in sorted(rivals):
            if age[older] < age[newer.name] and topics[newer.name] & topics[older]:
                why = find_contradiction(claims[older], claims[newer.name], one_subject=_one_subject(older, newer.name))
                losing |= {older: why} if why else {}
        gone |= losing.keys()
        if losing:
            found.append(_supersession(newer, losing))
    return sorted(found, key=lambda proposal: proposal.target)


def _one_subject(one: str, other: str) -> bool:
    """Whether two names go on alike behind their first two words: user_prefers_tabs_indent, user_prefers_spaces_indent.

    Only then is another choice a change of mind; who prefers tables may well prefer tabs.
    """
    behind = [{word for word in name.split("_")[2:] if not word.isdigit()} for name in (one, other)]
    return bool(behind[0] & behind[1])


def _supersession(newer: Memo, losing: Mapping[str, str]) -> Proposal:
    note = change_note(newer.created)
    text = newer.text if note in newer.text else f"{newer.text.rstrip()}\n\n{note}\n"
    reasons = "; ".join(f"{name}: {why}" for name, why in sorted(losing.items()))
    return Proposal(
        kind="supersede", names=tuple(sorted(losing)), target=newer.name,
        reason=f"{newer.name} is newer and contradicts {reasons}", title=newer.title, text=text,
        note=deprecation_note(newer.name), category=newer.category, tags=newer.tags,
    )


def find_consolidations(memos: Sequence[Memo]) -> list[Proposal]:
    """Topics with more than five memos, the largest first; a memo goes to the first that takes it."""
    by_topic: dict[tuple[str, str], list[Memo]] = {}
    for memo in memos:
        for key in _topics(memo):
            by_topic.setdefault(key, []).append(memo)
    # Among equals the two words of the name come first: they already make a good name for the master.
    order = sorted(by_topic.items(), key=lambda item: (-len(item[1]), item[0][0] != "name", item[0]))
    by_name = {memo.name: memo for memo in memos}
    taken: set[str] = set()
    found: list[Proposal] = []
    for (how, topic), members in order:
        target = master_name(topic)
        left = [memo for memo in members if memo.name not in taken]
        merging = [memo for memo in left if not memo.name.endswith("_master")]
        master = by_name.get(target) if target not in taken else None
        if len(merging) + (master is not None) > MORE_THAN:
            taken.update(memo.name for memo in merging)
            taken.add(target)
            found.append(_consolidation(how, topic, target, merging, master))
    return sorted(found, key=lambda proposal: proposal.target)


def _topics(memo: Memo) -> list[tuple[str, str]]:
    """What a memo is filed under: the first two words of its name, and each tag."""
    first = "_".join(memo.name.split("_")[:2])
    return [("name", first), *dict.fromkeys(("tag", fold(tag)) for tag in memo.tags if fold(tag))]


def _consolidation(how: str, topic: str, target: str, merging: Sequence[Memo], master: Memo | None) -> Proposal:
    sections = [f"## {memo.title}\n\n" + _HEADING.sub(r"##\1", memo.text.strip()) for memo in merging]
    text = "\n\n".join([master.text.strip(), *sections] if master else sections) + "\n"
    tags = dict.fromkeys(tag for memo in ([master] if master else []) + list(merging) for tag in memo.tags)
    shared = f"the tag {topic}" if how == "tag" else f"the words {topic.replace('_', ' ')}"
    title = master.title if master else topic.replace("_", " ").capitalize()
    return Proposal(
        kind="consolidate", names=tuple(memo.name for memo in merging), target=target,
        reason=f"{len(merging)} memos share {shared}" + (f", beside {target}" if master else ""), title=title, text=text,
        note=deprecation_note(target), category=merging[-1].category, tags=tuple(tags),
    )
