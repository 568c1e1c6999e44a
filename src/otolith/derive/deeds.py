"""Works from deeds: a request that edited a file or had a failing command, told in the five layers of a work.

The goal is what the person asked for; actions and results come from the tool calls; cause, choice and summary
are sentences that the agent stated plainly; how it ended is judged by the last run of what failed and by what
the person said next. Pure: events in, layers as plain data out; whoever keeps them gives them an id.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from posixpath import isabs, normpath, relpath
from typing import Any, NamedTuple

from otolith.derive import plainly, shell
from otolith.derive.judge import names, tells
from otolith.derive.judge import opening as spoken
from otolith.derive.requests import Request, opening, task_of
from otolith.derive.sayings import wished
from otolith.derive.titles import failed_run, is_listed, name_work, reads
from otolith.model.events import ANSWERED, CALLED, STOPPED, Call, Event, own_words
from otolith.model.text import sentences, shorten
from otolith.model.words import likeness, stems

COMMAND = 110  # characters of a command
SHORT = 60  # of one that is only named
REASON = 30  # words of what the person answered
TELLING = 4  # words of a wish that is told without the request it was said with
MOST_WISHES = 4  # of a person, that a work tells
RETOLD = 0.25  # two causes that share more are of one thing: the later one holds
SAME = 0.5  # a title and a wish that share more say the same
SCRATCH = ("/tmp/", "/private/tmp/", "/var/folders/", "/private/var/", "/dev/")
CHANGES = ("edit", "create", "delete")
_NOT_RUN = re.compile(r"<tool_use_error>Sibling tool call|The user doesn't want to proceed|"
                      r"tool use was rejected|interrupted by user|permission (?:to use|was) .{0,40}denied",
                      re.IGNORECASE)
_OVERWRITTEN = re.compile(r"\b(?:has been updated|was updated|updated successfully|overwr[io]t\w+)\b")
_FAILED = re.compile(r"^(?:--- )?FAIL\b|\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|\berror TS\d+",
                     re.MULTILINE)
_REFUSED = re.compile(
    r"""^(?:nope\b|wrong\b|stop\b|wtf\b|uh+[.,\s…]|what\ are\ you\ (?:talking|doing)|why\ (?:did|would
          |are)\ you\b|
    who\ (?:asked|told)\ you\b|that(?:'s|\ is|\ was)\ (?:it\ )?(?:not|wrong|incorrect|still)\b
          |(?:revert|undo)\b|
    you\ (?:broke|missed|forgot|ignored|removed|deleted|didn't)\b)""", re.IGNORECASE | re.VERBOSE)
_STILL = re.compile(
    r"""\bstill\ (?:\w{3,}s\b(?!\ to\b)|
    not|no|does|doesn't|isn't|fail\w*|broken|get\w*|see\w*|the\ same|have|has|happen\w*|
    wrong|there|crash\w*|shows?)\b|\b(?:doesn't|does\ not|didn't|isn't|not|stopped)\ work(?:ing)?\b|
    \bsame\ (?:error|problem|issue|bug)\b|\bbroke\ (?:it|the)\b|
    \b(?:now|again)\ (?:it\ )?(?:fails|crashes|breaks)\b""",
    re.IGNORECASE | re.VERBOSE)
_UNDONE = re.compile(
    rf"""{_STILL.pattern}|\b(?:revert|undo|roll\ (?:it\ )?back|wrong|incorrect|you\ broke|
    that(?:'s|\ is|\ was)\ not|put\ .{{1,20}}\ back)\b""", re.IGNORECASE | re.VERBOSE)
_FOLDER = re.compile(r"""^(?:cd\s+(?:"[^"]*"|'[^']*'|\S+)\s*(?:&&|;)\s*|export\s+\w+=\S+\s*(?:&&|;)\s*)+""")
_WORKS = re.compile(r"\b(?:that was it|it was|works?(?: now|!|$)|it works|that did it|fixed|solved|gone|"
                    r"that helped|nailed it|that's it|confirmed)\b|^yes!+", re.IGNORECASE)
_CATEGORIES = tuple((name, re.compile(words)) for name, words in (
    ("missing_dependency", r"command not found|no module named|cannot find (?:module|package)|not installed|"
     r"could not resolve|no such file|unresolved import|package .{0,60}not found|no required module|"
     r"is not set\b"),
    ("type_error", r"\btypeerror\b|error ts\d|type mismatch|incompatible types?|mismatched types"),
    ("race_condition", r"\brace\b|deadlock|timed? ?out")))
_BY_CHECK = {"test": "test_failure", "build": "build_failure", "lint": "build_failure",
             "typecheck": "type_error"}
_NAMED = re.compile(r"^\s*(?:(?:export|pub|public|private|static|async|default)\s+)*(?:func|def|class|fn|"
                    r"function|struct|interface|type|trait|enum)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w+)",
                    re.MULTILINE)


class Run(NamedTuple):
    """A command that did something, or tried to."""

    command: str
    heads: frozenset[str]
    check: str
    ok: bool | None
    error: str
    place: int


class Changed(NamedTuple):
    """A file that was changed, and how."""

    operation: str
    place: int
    hashes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    added: int = 0  # lines
    removed: int = 0


class Deeds(NamedTuple):
    """What was done for a request, and what the agent said meanwhile."""

    files: dict[str, Changed]
    runs: list[Run]
    read: list[str]
    answers: list[str]
    closing: list[str]  # what was said after the last call
    standing: list[str]  # what was said after the last run that failed: no run proved it wrong
    foreign: set[tuple[str, ...]]  # words in a row that a tool said, not the agent

    def own(self, texts: Sequence[str]) -> list[str]:
        """Those of an agent's sentences that are not taken from what a tool said."""
        return [text for text in texts if text and not plainly.grams(text) & self.foreign]


def draft(request: Request, folder: str = "", earlier: str = "") -> dict[str, Any] | None:
    """The layers of the work that a request was; None if nothing was edited and no command failed.

    `earlier` is the goal of the work before, for a request that only says to go on.
    """
    deeds = _gather(request, folder)
    if not deeds.files and not any(run.ok is False for run in deeds.runs):
        return None
    outcome = _outcome(request, deeds)
    done = [*map(plainly.done, reversed(deeds.answers)), *map(plainly.state, deeds.closing),
            *sentences(outcome["summary"])]
    actions = [*_edit_actions(deeds.files), *_run_actions(deeds.runs)]
    goal, context = name_work(request, earlier, deeds.own(done), _causes(deeds), actions)
    if is_listed(goal) or reads(goal):
        goal = failed_run(actions) or goal
    rest = [text for text in sentences(outcome["summary"]) if text.rstrip(" .") != goal.rstrip(" .")]
    outcome["summary"] = " ".join(rest)
    wishes = [_beyond(goal, wish) for wish in wished(request.asked, _told(request))]
    wishes = [wish for wish in wishes if not _says(goal, wish)][:MOST_WISHES]
    chosen = next(iter(deeds.own([plainly.choice(text) for text in deeds.answers])), "")
    return {
        "intent": {"goal": goal, "task_type": task_of(f"{goal} {own_words(request.asked)}", deeds.files),
                   **({"context": context} if context else {}),
                   **({"constraints": wishes} if wishes else {})},
        "perception": {"relevant_files": [{"path": path} for path in deeds.read[:6]]},
        "reasoning": {"approach_chosen": chosen},
        "actions": actions,
        "outcome": outcome, "requests": [request.asked.key],
        "importance": 0.6 if outcome["learnings"] or not outcome["success"] else 0.5}


def meanwhile(request: Request) -> list[str]:
    """What a person wants of the work before, where nothing was done at once."""
    return [wish for wish in wished(request.asked, _told(request)) if tells(wish, TELLING)]


def _told(request: Request) -> list[Event]:
    """What the agent had said right before, in order."""
    return [Event(ANSWERED, "", text=text) for text in reversed(request.answers[:2])]


def _beyond(goal: str, wish: str) -> str:
    """What is wished beyond the goal, if that is said first."""
    asked = goal.rstrip(" .")
    return wish[len(asked) :].lstrip(" .") if wish.casefold().startswith(asked.casefold()) else wish


def _says(goal: str, wish: str) -> bool:
    """Whether a title says already what was wished."""
    repeated = wish.rstrip(".!").casefold() in goal.casefold()
    return repeated or likeness(stems(goal), stems(wish)) > SAME


def afterword(request: Request) -> list[str]:
    """What an agent states of the work before, once the person said that it works."""
    if not _WORKS.search(own_words(request.asked)) or any(event.kind == CALLED for event in request.events):
        return []
    answers = [event.text for event in request.events if event.kind == ANSWERED and not event.by]
    stated = [text for answer in answers for text in plainly.causes(answer) or [plainly.state(answer)]]
    return list(filter(None, stated))[:1]


# What was done

def _gather(request: Request, folder: str) -> Deeds:
    events = list(enumerate(request.events))
    calls = [(at, event.call) for at, event in events if event.kind == CALLED and event.call]
    answers = [(at, event.text) for at, event in events if event.kind == ANSWERED and not event.by]
    files: dict[str, Changed] = {}
    for at, call in calls:
        _touch(files, at, call, folder)
    last = max((at for at, _ in calls), default=-1)
    runs = list(filter(None, map(_run, calls)))
    failed = max((run.place for run in runs if run.ok is False), default=-1)
    return Deeds(files, runs, _read(calls, files, folder),
                 [text for _, text in answers], [text for at, text in answers if at > last],
                 [text for at, text in answers if at > failed],
                 {gram for _, call in calls for gram in plainly.grams(call.result)})


def _read(calls: Sequence[tuple[int, Call]], files: Collection[str], folder: str) -> list[str]:
    """The project's files that were only looked at."""
    named = (name for _, call in calls if call.operation == "read" and call.ok is not False
             for name in call.files)
    paths = dict.fromkeys(relative(name, folder) for name in named)
    return [path for path in paths if path and not isabs(path) and path not in files]


def relative(path: str, folder: str) -> str:
    """A path as the project names it; empty for scratch files outside of it."""
    path = normpath(path.strip())
    if not isabs(path):
        return normpath(f"{folder}/{path}") if path.startswith("../") and folder else path
    if folder and path.startswith(folder.rstrip("/") + "/"):
        return relpath(path, folder)
    return "" if path.startswith(SCRATCH) else path


def _touch(files: dict[str, Changed], at: int, call: Call, folder: str) -> None:
    """Note the files that a call changed."""
    if call.ok is False or _NOT_RUN.search(call.result[:400]):
        return
    named = shell.changed_files(call.command, folder)
    if call.operation in CHANGES:
        named += [(path, call.operation) for path in (*call.files, *(path for path, *_ in call.edits))]
    for name, operation in dict.fromkeys(named):
        if path := relative(name, folder):
            diffs = [(old, new) for edited, old, new in call.edits if edited == name and (old or new)]
            before = files.get(path) or Changed(operation, at)
            operation = "create" if before.operation == "create" and operation == "edit" else operation
            if operation == "create" and _OVERWRITTEN.search(call.result[:200]):
                operation = "edit"
            files[path] = _with_diffs(before._replace(operation=operation, place=at), path, diffs)


def _with_diffs(change: Changed, path: str, diffs: Sequence[tuple[str, str]]) -> Changed:
    """A file with more diffs, each once; one that nobody told has no hash."""
    marks = {sha256(f"{path}\0{old}\0{new}".encode()).hexdigest(): (old, new) for old, new in diffs}
    fresh = [diff for mark, diff in marks.items() if mark not in change.hashes]
    names = [name for _, new in fresh for name in _NAMED.findall(new)]
    return change._replace(
        hashes=tuple(dict.fromkeys((*change.hashes, *marks))),
        names=tuple(dict.fromkeys((*change.names, *names)))[:4],
        added=change.added + sum(len(new.splitlines()) for _, new in fresh),
        removed=change.removed + sum(len(old.splitlines()) for old, _ in fresh))


def _run(made: tuple[int, Call]) -> Run | None:
    at, call = made
    if call.operation != "run" or _NOT_RUN.search(call.result[:400]):
        return None
    heads = shell.heads(call.command)
    if not heads:
        return None
    check, ok = shell.check_of(call.command), call.ok
    if ok and check and "|" in call.command and _FAILED.search(call.result):
        ok = False  # a pipe hides how the command before it ended
    error = shell.tell_error(call.result) if ok is False else ""
    command = shell.bare(call.command)
    if len(command) > COMMAND:
        command = _FOLDER.sub("", command)
    return Run(command, heads, check, ok, error, at)


def _edit_actions(files: Mapping[str, Changed]) -> Iterator[dict[str, Any]]:
    for path, change in files.items():
        lines = f"+{change.added} −{change.removed} lines" if change.added or change.removed else ""
        summary = ", ".join(filter(None, (lines, " ".join(change.names))))
        yield {"type": f"file_{change.operation}", "details": {
            "file_path": path, **({"diff_summary": summary} if summary else {}),
            **({"diff_hash": " ".join(change.hashes)} if change.hashes else {})}}


def _run_actions(runs: Sequence[Run]) -> Iterator[dict[str, Any]]:
    """The failing commands, each with its error, and the last good run of each check."""
    failed = {run.heads: run for run in reversed(runs) if run.ok is False}
    passed = {run.heads: run for run in runs if run.ok and run.check}
    for run in sorted([*list(failed.values())[:3], *list(passed.values())[-2:]], key=lambda run: run.place):
        result = {"success": bool(run.ok), **({"error": run.error} if run.error else {})}
        yield {"type": "command_run", "details": {"command": shorten(run.command, COMMAND)}, "result": result}


# How it ended

def judge(words: str) -> bool | None:
    """What a person's next words say of the work before them: False for not good, None for nothing."""
    start = " ".join(sentences(words)[:2])
    return False if refuses(start) or _REFUSED.match(start) or _STILL.search(start) else None


def refuses(words: str) -> bool:
    """Whether words begin with a no to what was done; "no renames" only says what not to do."""
    return spoken(words)[0]


def _outcome(request: Request, deeds: Deeds) -> dict[str, Any]:
    failure = _failure(request, deeds)
    stated = [*map(plainly.summary, deeds.closing), *map(plainly.done, reversed(deeds.answers)),
              *(plainly.summary(text, checks=True) for text in deeds.closing)]
    summary = next(iter(deeds.own(stated)), "")
    outcome: dict[str, Any] = {"success": not failure, "summary": summary,
                               "learnings": _learnings(deeds), **failure}
    edited = max((change.place for change in deeds.files.values()), default=-1)
    passed = [run for run in deeds.runs if run.ok and run.check and run.place > edited]
    if passed and not failure:
        best = next((run for run in reversed(passed) if len(run.command) <= COMMAND), passed[-1])
        command = shorten(best.command, COMMAND)
        outcome["verified_by"] = {"type": best.check, "command": command, "result": "passed"}
    if left := [step for text in deeds.closing[-1:] for step in plainly.left_to_do(text)]:
        outcome["follow_up_needed"] = left
    return outcome


def _failure(request: Request, deeds: Deeds) -> dict[str, str]:
    """Why it failed, if it did: by the person's word first, then by what ran last."""
    failing = _failing(deeds)
    stopped = bool(request.events) and request.events[-1].kind == STOPPED
    refused = bool(request.reply) and judge(request.reply) is False
    if not failing and (_stood(request, deeds) or not (stopped or refused)):
        return {}
    kind = "incorrect_assumption" if refused else "other"
    if refused and _STILL.search(request.reply):
        kind = "logic_error"
    reason = f"the user {'answered' if refused else 'stopped it'}"
    if refused or (request.reply and not request.reply.rstrip().endswith("?")):  # a question is no reason
        reason += f': "{opening(request.reply, REASON)}"'
    if failing:
        kind = _category(failing[-1])
        command = f"`{shorten(failing[-1].command, COMMAND)}`: {failing[-1].error or 'failed'}"
        reason = reason if refused or stopped else command
    return {"failure_reason": reason, "failure_category": kind}


def _stood(request: Request, deeds: Deeds) -> bool:
    """Whether a check had passed and nobody took the work back: a stop or a grumble alone undoes nothing."""
    checked = bool(deeds.files) and any(run.ok and run.check for run in deeds.runs)
    return checked and not refuses(request.reply) and not _UNDONE.search(request.reply)


def _failing(deeds: Deeds) -> list[Run]:
    """The commands that still failed in the end: checks, or any if nothing was edited and no other way was
    found.
    """
    failing = [run for run in deeds.runs if run.ok is False and (run.check or not deeds.files)
               and _next_success(run, deeds.runs) is None]
    if not deeds.files and failing and any(run.ok for run in deeds.runs if run.place > failing[-1].place):
        return []
    return failing


def _next_success(run: Run, runs: Sequence[Run]) -> Run | None:
    """The next time that a command, in whatever form, went well."""
    return next((later for later in runs if later.place > run.place and later.ok and later.heads & run.heads),
                None)


def _category(run: Run) -> str:
    text = f"{run.error} {run.command}".casefold()
    return next((name for name, pattern in _CATEGORIES if pattern.search(text)), "") \
        or _BY_CHECK.get(run.check, "runtime_error")


def _learnings(deeds: Deeds) -> list[str]:
    """At most three: what first failed and later worked, then the latest causes as the agent stated them."""
    pairs = [text for run in deeds.runs if run.ok is False and run.error and (text := _made_good(run, deeds))]
    return list(dict.fromkeys([*dict.fromkeys(pairs[-2:]), *_causes(deeds)[-2:]]))[:3]


def _causes(deeds: Deeds) -> list[str]:
    """What the agent named as causes and no run proved wrong; of several of one thing the last."""
    causes: list[str] = []
    for cause in deeds.own([text for answer in deeds.standing for text in plainly.causes(answer)]):
        causes = [*(other for other in causes if not _retold(other, cause)), cause]
    return causes


def _retold(before: str, cause: str) -> bool:
    """Whether two causes are of one thing, of which the later one holds."""
    return likeness(stems(before), stems(cause)) > RETOLD or bool(set(names(before)) & set(names(cause)))


def _made_good(run: Run, deeds: Deeds) -> str:
    """A failing command with what made it work: another form of it, or what was changed in between."""
    later = _next_success(run, deeds.runs)
    if later is None:
        return ""
    error = run.error.rstrip(".")
    between = [path for path, change in deeds.files.items() if run.place < change.place < later.place]
    if between and (run.check or later.command == run.command):
        return (f"`{shorten(run.command, SHORT)}` failed: {error}; it passes after "
                f"{', '.join(between[:3])} changed.")
    if later.command == run.command or max(len(run.command), len(later.command)) > COMMAND:
        return ""
    return f"`{run.command}` fails: {error}; `{later.command}` works."
