"""Several requests, one work: which request belongs to the work before it, how the two become one, which
success makes a failure good, and how much of a work is told.

A small request on the files of the one before is a part of that work, so that a thread of corrections is one
work and not ten. A work that failed stays by itself: what follows solves it. Pure, on layers as plain data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from otolith.derive import shell
from otolith.derive.requests import opening
from otolith.derive.titles import SAID, is_listed, listed, reads
from otolith.derive.worth import REASON
from otolith.model.text import shorten
from otolith.model.words import likeness, stems
from otolith.model.work import Work

Layers = Mapping[str, Any]
MOST_REQUESTS = 8  # in one work
SMALL = 2  # files of a request that may belong to the work before it
MOST_WORDS = 240
MOST_WISHES = 6
ALIKE = 0.5  # what was said of one thing and said again with more
CHANGES = ("file_edit", "file_create", "file_delete")
_NO_ID = f"mem_{'0' * 8}-0000-4000-8000-{'0' * 12}"


def edited(layers: Layers) -> set[str]:
    """The files that a work changed."""
    return {action["details"]["file_path"] for action in layers["actions"] if action["type"] in CHANGES}


def _ran(layers: Layers, ok: bool) -> set[str]:
    """The commands that went well in a work, or that did not, by their heads."""
    return {head for action in layers["actions"]
            if action["type"] == "command_run" and action["result"]["success"] is ok
            for head in shell.heads(action["details"]["command"])}


def belongs(work: Layers, more: Layers) -> bool:
    """Whether a request is a part of the work before it: told before, the same goal gone on with, or after a
    success a small change to files of that work alone, or one that tells nothing for itself.
    """
    if set(more["requests"]) <= set(work["requests"]) or work["intent"]["goal"] == more["intent"]["goal"]:
        return True
    files = edited(more)
    if work["outcome"]["success"] != more["outcome"]["success"] or len(work["requests"]) >= MOST_REQUESTS:
        return False
    if not more["outcome"]["success"]:
        return bool(files & edited(work))  # one failure after the other on the same files
    if not tells(more):
        return True
    small = bool(files) and len(files) <= SMALL and files <= edited(work) and not _ran(more, ok=False)
    return small or (not tells(work) and bool(files & edited(work)))


def tells(layers: Layers) -> bool:
    """Whether a work has something for the next time: what was wished, learned, chosen, or what failed. What
    was only changed stands in the files.
    """
    lesson = layers["intent"].get("constraints") or layers["outcome"]["learnings"] \
        or layers["reasoning"].get("approach_chosen") or not layers["outcome"]["success"]
    return bool(lesson) or len(edited(layers)) > SMALL or REASON.search(stated(layers)) is not None


def _rank(layers: Layers) -> tuple[bool, ...]:
    """How well a title tells what a work is about, to be compared."""
    goal, context = layers["intent"]["goal"], layers["intent"].get("context") or ""
    return (not is_listed(goal) and not reads(goal), bool(layers["outcome"]["learnings"]), tells(layers),
            not context.startswith(SAID))


def _deed(layers: Layers) -> str:
    """What somebody said was done, be it in the summary or in the title."""
    goal, context = layers["intent"]["goal"], layers["intent"].get("context") or ""
    own = goal[:40].casefold() in context.casefold()  # the person's words: what was asked, not what was done
    return stated(layers) or (goal if context.startswith(SAID) and not own and not is_listed(goal) else "")


def stated(layers: Layers) -> str:
    """What somebody said was done; empty where the summary only lists what changed."""
    summary = layers["outcome"]["summary"]
    return "" if summary == f"{listed(layers['actions'])}." else summary


def _joined(before: str, more: str, again: bool) -> str:
    """What was done and then more; told again, the last part takes the place of what it grew from."""
    if not more or more in before:
        return before
    head, _, last = before.rpartition(" Then: ")
    if again and likeness(stems(last), stems(more)) > ALIKE:
        before = head
    return f"{opening(before, 60)} Then: {more}" if before else more


def solves(work: Layers, failed: Layers) -> bool:
    """Whether a success made a failure good: what had failed ran well in it, or it changed the same file."""
    return bool(_ran(work, ok=True) & _ran(failed, ok=False)) or bool(edited(work) & edited(failed))


def add_learnings(work: Layers, more: list[str]) -> dict[str, Any]:
    """The work with what was said of it once it worked."""
    kept = list(dict.fromkeys([*work["outcome"]["learnings"], *more]))[-3:]
    return fit({**work, "outcome": {**work["outcome"], "learnings": kept}})


def add_wishes(work: Layers, more: list[str]) -> dict[str, Any]:
    """The work with what was wanted of it later on."""
    kept = list(dict.fromkeys([*work["intent"].get("constraints", ()), *more]))[-MOST_WISHES:]
    return fit({**work, "intent": {**work["intent"], "constraints": kept}})


def join(work: Layers, more: Layers) -> dict[str, Any]:
    """The work with a later request in it; joining the same once more changes nothing."""
    if list(work["requests"]) == list(more["requests"]):
        return {**work, **more}
    again = set(more["requests"]) <= set(work["requests"])
    if again and work["requests"][-1] != more["requests"][-1]:
        return dict(work)  # told before, and others came after it
    changed = edited(work) | edited(more)
    paths = dict.fromkeys(place["path"] for layers in (work, more)
                          for place in layers["perception"].get("relevant_files") or ())
    return {
        **work, "intent": _intents(work, more), "outcome": _outcomes(work, more, again),
        "perception": {"relevant_files": [{"path": path} for path in paths if path not in changed][:6]},
        "reasoning": {"approach_chosen": more["reasoning"].get("approach_chosen")
                      or work["reasoning"].get("approach_chosen") or ""},
        "actions": _merged([*work["actions"], *more["actions"]]),
        "requests": list(dict.fromkeys([*work["requests"], *more["requests"]])),
        "importance": max(work["importance"], more["importance"])}


def _intents(work: Layers, more: Layers) -> dict[str, Any]:
    """What both were for, under the title that tells more."""
    goal, then = work["intent"]["goal"], more["intent"]["goal"]
    leads = _rank(more) > _rank(work)
    wishes = dict.fromkeys([*work["intent"].get("constraints", ()), *more["intent"].get("constraints", ())])
    context = work["intent"].get("context") or ""
    asked = re.match(rf'{SAID}"(.*)"$', more["intent"].get("context") or "")
    aside = f"then: {shorten(asked[1] if asked else then, 140)}" if _deed(more) else ""
    if leads and then != goal:
        context = f"first: {shorten(goal, 140)}" + (f"; {context}" if context else "")
    elif aside and then != goal and aside not in context:
        context = f"{context}; {aside}" if context else aside
    return {**(more if leads else work)["intent"], "context": context,
            **({"constraints": list(wishes)[-MOST_WISHES:]} if wishes else {})}


def _outcomes(work: Layers, more: Layers, again: bool) -> dict[str, Any]:
    """How both ended; of a work with several parts one that was refused later does not undo the others."""
    first, last, deed = work["outcome"], more["outcome"], opening(_deed(more), 25)
    if not edited(more) and first.get("verified_by") and last["success"]:
        last = {"verified_by": first["verified_by"], **last}
    if again and first["success"] and not last["success"] and len(work["requests"]) > 1:
        deed = f"{deed} ({last.get('failure_reason') or 'it failed'})".lstrip()
        last = {**first, "learnings": last["learnings"]}
    return {**last, "learnings": list(dict.fromkeys([*first["learnings"], *last["learnings"]]))[-3:],
            "summary": _joined(stated(work), deed, again)}


def _merged(actions: Iterable[Layers]) -> list[dict[str, Any]]:
    """One action a file, one a command and how it went; what is known of a file's diffs is put together."""
    kept: dict[tuple[str, ...], dict[str, Any]] = {}
    for action in actions:
        details = action["details"]
        if action["type"] not in CHANGES:
            place = ("command", details.get("command") or "", str(action["result"]["success"]))
            kept.pop(place, None)
            kept[place] = dict(action)
            continue
        before = kept.get(("file", details["file_path"]))
        if before is None:
            kept["file", details["file_path"]] = dict(action)
            continue
        older = before["details"]
        hashes = dict.fromkeys(f"{older.get('diff_hash') or ''} {details.get('diff_hash') or ''}".split())
        summary, more = older.get("diff_summary") or "", details.get("diff_summary") or ""
        summary = summary if more in summary else "; ".join(filter(None, (summary, more)))
        new = before["type"] == "file_create" and action["type"] == "file_edit"
        kept["file", details["file_path"]] = {
            **action, "type": before["type"] if new else action["type"],
            "details": {"file_path": details["file_path"], **({"diff_summary": summary} if summary else {}),
                        **({"diff_hash": " ".join(hashes)} if hashes else {})}}
    return list(kept.values())


# How much of it is told

def fit(layers: Layers, most: int = MOST_WORDS) -> dict[str, Any]:
    """The layers cut until they can be read at a glance; no changed file is ever left out."""
    goal = layers["intent"]["goal"].rstrip(" .")
    parts = [part for part in stated(layers).split(" Then: ") if part.rstrip(" .") != goal]
    summary = " Then: ".join(filter(None, parts)) or f"{listed(layers['actions'])}."
    kept = {**layers, "outcome": {**layers["outcome"], "summary": summary}}
    for cut in (_few_reads, _few_commands, _short_context, _no_diffs, _no_reads, _one_learning):
        if len(_told(kept).split()) <= most:
            break
        kept = cut(kept)
    return kept


def _told(layers: Layers) -> str:
    """As `get` shows it: the title, then the work at full depth."""
    work = Work.from_dict({**layers, "id": _NO_ID, "created_at": 0, "session_id": _NO_ID})
    return f"{work.title}\n{work.at_depth('full')}"


def _few_reads(layers: Layers) -> dict[str, Any]:
    paths = layers["perception"].get("relevant_files") or []
    return {**layers, "perception": {"relevant_files": paths[:3]}}


def _few_commands(layers: Layers) -> dict[str, Any]:
    runs = [action for action in layers["actions"] if action["type"] not in CHANGES][-2:]
    return {**layers, "actions": [action for action in layers["actions"]
                                  if action["type"] in CHANGES or action in runs]}


def _short_context(layers: Layers) -> dict[str, Any]:
    intent, outcome = layers["intent"], layers["outcome"]
    return {**layers, "intent": {**intent, "context": shorten(intent.get("context") or "", 200)},
            "outcome": {**outcome, "summary": opening(outcome["summary"], 50)}}


def _no_diffs(layers: Layers) -> dict[str, Any]:
    def without(details: Layers) -> dict[str, Any]:
        return {key: value for key, value in details.items() if key != "diff_summary"}

    return {**layers, "actions": [{**action, "details": without(action["details"])}
                                  for action in layers["actions"]]}


def _no_reads(layers: Layers) -> dict[str, Any]:
    return {**layers, "perception": {}, "reasoning": {}}


def _one_learning(layers: Layers) -> dict[str, Any]:
    outcome = {**layers["outcome"], "learnings": layers["outcome"]["learnings"][:1]}
    outcome.pop("follow_up_needed", None)
    return {**layers, "outcome": outcome}
