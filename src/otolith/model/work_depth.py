"""A work as text at one of the five depths, so that an agent can peek cheaply before it loads everything.

summary ⊂ outcome ⊂ reasoning ⊂ full ⊂ complete: each depth begins with the text of the one before. Nothing is cut to a
size; whoever delivers the text counts its tokens. This module knows nothing of recall, budgets or files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from otolith.errors import Invalid
from otolith.model.record import DEPTHS, WORK_TYPES
from otolith.model.shape import plain
from otolith.model.times import MILLISECONDS_ABOVE, zulu
from otolith.model.work import Action, Work

RAW_DIFFS = ("diff", "diff_hash")  # the detail keys that only `complete` shows


def render(work: Work, depth: str) -> str:
    """The work as far as a depth shows it, one line a thought."""
    if depth not in DEPTHS:
        raise Invalid(f"depth must be one of {', '.join(DEPTHS)}; got {depth!r}")
    layers = (_summary, _outcome, _reasoning, _everything, _raw)
    return "\n".join(line for layer in layers[: DEPTHS.index(depth) + 1] for line in layer(work) if line)


def _summary(work: Work) -> Iterator[str]:
    yield f"{work.intent.goal} → {work.outcome.summary}"


def _outcome(work: Work) -> Iterator[str]:
    outcome = work.outcome
    if outcome.success:
        yield "Succeeded."
    else:
        kind = f" ({outcome.failure_category})" if outcome.failure_category else ""
        yield f"Failed{kind}: {outcome.failure_reason}" if outcome.failure_reason else f"Failed{kind}."
    yield from _list("Learned", outcome.learnings)
    if outcome.verified_by:
        checked = outcome.verified_by
        how = f"Verified by {checked.type}{f' `{checked.command}`' if checked.command else ''}: {checked.result}"
        yield _joined(how, _rest(checked.extra))
    yield from _list("Still to do", outcome.follow_up_needed or ())
    yield _rest(outcome.extra)


def _reasoning(work: Work) -> Iterator[str]:
    thought = work.reasoning
    if thought.approach_chosen or thought.why_chosen:
        yield f"Approach: {' — '.join(part for part in (thought.approach_chosen, thought.why_chosen) if part)}"
    yield from _list("Rejected", (_joined(way.approach, way.why_rejected, _rest(way.extra))
                                 for way in thought.alternatives_considered))
    yield from _list("Assumed", thought.assumptions)
    yield from _list("Risks", thought.risks_identified)
    yield _rest(thought.extra)


def _everything(work: Work) -> Iterator[str]:
    yield f"{work.intent.task_type} by {work.agent_id} in {work.project_id}, {zulu(work.created)}, {work.id}"
    yield f"Why: {work.intent.context}" if work.intent.context else ""
    yield from _list("Constraints", work.intent.constraints)
    seen = work.perception
    yield from _list("Seen", (_joined(f"{note.what} ({note.where})" if note.where else note.what, note.significance,
                                      _rest(note.extra)) for note in seen.observations))
    yield from _list("Files", (_joined(near.path, near.relevance, near.state_summary, _rest(near.extra))
                               for near in seen.relevant_files))
    yield from _list("Patterns", seen.patterns_noticed)
    yield from _list("Anomalies", seen.anomalies)
    yield from _list("Did", (_step(action) for action in work.actions))
    for word in WORK_TYPES:
        targets = work.links.targets(word)
        yield f"{word}: {', '.join(targets)}" if targets else ""
    yield f"Tags: {', '.join(work.tags)}" if work.tags else ""
    yield f"Importance {work.importance:g}" + (f", session {work.session_id}" if work.session_id else "")
    yield _rest(work.intent.extra)
    yield _rest(seen.extra)
    yield _rest(work.extra)


def _raw(work: Work) -> Iterator[str]:
    """What only the deepest look needs: raw diffs, since when a link stands, where the record came from."""
    for at, action in enumerate(work.actions, start=1):
        details = action.details.to_dict()
        for key in RAW_DIFFS:
            if details.get(key):
                yield f"Step {at} {key}: {details[key]}"
    for word, times in (work.links_at or {}).items():
        yield from (f"{word} {target} since {zulu(when) if 0 <= when < MILLISECONDS_ABOVE else when}"
                    for target, when in times.items())
    if work.origin:
        yield "Origin: " + ", ".join(f"{key} {value}" for key, value in work.origin.to_dict().items() if value)


def _step(action: Action) -> str:
    """An action on one line: what, on what, how it went; unknown details come last under their own names."""
    about, went = action.details, action.result
    place = f"{about.file_path or ''}{f':{about.lines_affected}' if about.lines_affected else ''}"
    where = f"in {about.working_directory}" if about.working_directory else ""
    scope = f"within {about.scope}" if about.scope else ""
    head = " ".join(part for part in (action.type, place, f"`{about.command}`" if about.command else "", where,
                                      f'"{about.query}"' if about.query else "", scope) if part)
    ending = "ok" if went.success else "failed"
    if went.duration_ms is not None:
        ending += f", {went.duration_ms:g} ms"
    if action.timestamp is not None:
        ending += f", {zulu(action.timestamp)}"
    said = [about.diff_summary or "", went.output_summary or "", f"error: {went.error}" if went.error else "",
            _rest({key: value for key, value in about.extra.items() if key not in RAW_DIFFS}),
            _rest(went.extra), _rest(action.extra)]
    return f"{_joined(head, *said)} ({ending})"


def _joined(*parts: str) -> str:
    return " — ".join(part for part in parts if part)


def _list(word: str, items: Iterable[str]) -> Iterator[str]:
    """`Word: item` for one item, a heading and dashes for several."""
    found = [item for item in items if item]
    if len(found) == 1:
        yield f"{word}: {found[0]}"
    elif found:
        yield f"{word}:"
        yield from (f"- {item}" for item in found)


def _rest(extra: Any) -> str:
    """Keys that no field claims, under their own names."""
    return "; ".join(f"{key}: {plain(value)}" for key, value in extra.items())
