"""Tending a home: `init` makes its own files, `config` shows and changes settings, `check` says what wants a person's eye;
and upkeep's plain steps: sweep, fold the usage ledger, and at the end the one git commit a home may have asked for.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from otolith import config as configuration
from otolith import verbs
from otolith.errors import Damaged, Invalid, NotFound
from otolith.files import codec, ledger, paths
from otolith.files.codec import amend_object, write_object
from otolith.files.tree import fingerprint
from otolith.home import Home
from otolith.index import read
from otolith.model.record import Finding, Usage
from otolith.model.times import day, zulu
from otolith.verbs.steps import bytes_of, each

DEFAULTS = {"embedding_provider": "ollama", "openai_api_key": None, "ollama_model": "nomic-embed-text",
            "openai_model": "text-embedding-3-small"}
GIT_SECONDS = 60
LEFT_BEHIND = 3600  # seconds
UNTRACKED = ("_config.json", ".lock", "log")  # may hold a key; only this machine's
HALF_DONE = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "sequencer")
# A home may come from elsewhere: nothing in its .git may start a program or ask a question.
_GIT = ("git", "-c", "core.fsync=all", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
        "-c", "commit.gpgSign=false", "-c", "gc.auto=0")


# A home's own files

def init(home: Home) -> list[str]:
    """Make the home's own files; returns those that were not there."""
    home_id, made = configuration.settle(home.tree, home.new_id)
    home.config = home.config.replace(home_id=home_id)
    return made


# Settings: seed 004's _config.json. Keys are never shown whole.

def change_settings(home: Home, changes: Mapping[str, Any]) -> None:
    """Write the four keys; other keys in the file stay."""
    provider = changes.get("embedding_provider")
    if provider is not None and provider not in configuration.PROVIDERS:
        raise Invalid(f"embedding provider {provider!r} is unknown", f"use one of {', '.join(configuration.PROVIDERS)}")
    home.settle()  # what keeps the key out of git is there before the key is
    new = {key: None if value == "null" else value for key, value in changes.items()}
    data = bytes_of(home, "_config.json")
    if data is None:
        home.tree.write("_config.json", write_object({**DEFAULTS, "embedding_provider": home.config.provider, **new}))
    else:
        before = configuration.seed_config(home.tree) or {}
        home.tree.write("_config.json", amend_object(data, {**before, **new}), fingerprint(data))
    home.config = configuration.load(home.tree)


def show_settings(home: Home) -> dict[str, Any]:
    """What is in force, keys masked."""
    config = home.config
    masked = f"{config.openai_key[:3]}…{config.openai_key[-2:]}" if config.openai_key else None
    return {"home": home.tree.name, "embedding_provider": config.provider, "openai_api_key": masked,
            "ollama_model": config.ollama_model, "openai_model": config.openai_model, "chat_model": config.chat_model,
            "agent": config.agent, "project": config.project, "projects": list(config.projects),
            "git_commit": config.git_commit}


# What wants a person's eye; nothing is changed

def check(home: Home, *, secrets: bool = False) -> list[Finding]:
    """Everything in the home that wants a person's eye: sweep, then look at what the sweep cannot see."""
    home.sweep()
    found = [*home.config.flaws, *read.problems(home.db), *_dangling(home), *_unmirrored(home), *_twins(home), *_odd_files(home),
             *_logs(home), *_schemas(home)]
    found += [Finding(path, None, "leftover", "was left behind by a writer that was killed; it is not read", "run: otolith upkeep")
              for path in _leftovers(home)]
    found += [Finding(path, None, "unfinished", "an act was interrupted; what it is about to remove is hidden meanwhile",
                      "the next verb that writes finishes it, or: otolith upkeep") for path in home.heed()]
    if secrets:
        found.extend(_secrets(home))
    return sorted(set(found), key=lambda finding: (finding.path, finding.line or 0, finding.code))


def _leftovers(home: Home) -> list[str]:
    """Files that a killed writer never gave their names; a younger one may be somebody's who is just writing."""
    return home.tree.leftovers(LEFT_BEHIND)


def _dangling(home: Home) -> Iterator[Finding]:
    for unit, a, word, b in read.dangling(home.db):
        yield Finding(unit, None, "dangling-link", f"links {a} {word} {b}, of which one is nowhere in the home",
                      "restore the record, or unlink")


def _unmirrored(home: Home) -> Iterator[Finding]:
    """An edge stands, and one of its notes does not say so or says something else; or a note names an edge that is not there."""
    known, unread = home.index.notes.edges_at(), home.index.notes.unreadable_edges()
    ends: dict[str, set[str]] = {}
    for edge in known.values():
        ends.setdefault(edge.a, set()).add(edge.id)
        ends.setdefault(edge.b, set()).add(edge.id)
    notes = home.db.execute("SELECT id, unit FROM records WHERE kind = 'note'").fetchall()
    for unit, note in each(home, [unit for id, unit in notes if id in ends or b"edge_id" in (bytes_of(home, unit) or b"")]):
        named = {relation.edge_id: relation for relation in note.relations if relation.edge_id}
        own = ends.get(note.id, set())
        for edge_id in sorted(own - named.keys()):
            yield Finding(unit, None, "unmirrored-edge", f"does not name its edge {known[edge_id].unit}", "run: otolith upkeep")
        for edge_id, relation in named.items():
            if edge_id in own and not verbs.links.agrees(relation, note.id, known[edge_id]):
                yield Finding(unit, None, "unmirrored-edge", f"does not say what its edge {known[edge_id].unit} says",
                              "run: otolith upkeep")
            elif edge_id in known and edge_id not in own:
                yield Finding(unit, None, "unmirrored-edge", f"names the edge {known[edge_id].unit}, which links other notes",
                              "run: otolith upkeep")
            elif edge_id not in known and unread:
                yield Finding(unit, None, "missing-edge", f"names the edge {edge_id}; an edge file cannot be read: {unread[0]}",
                              "mend that file; until then the reference stays")
            elif edge_id not in known:
                yield Finding(unit, None, "missing-edge", f"names the edge {edge_id}, which is not there",
                              "the link counts as deleted; upkeep removes the reference")


def _twins(home: Home) -> Iterator[Finding]:
    """Two edge files that state one relation."""
    first: dict[tuple[str, str, str], str] = {}
    for a, word, b, edge, unit in home.db.execute("SELECT a, word, b, edge, unit FROM links WHERE edge IS NOT NULL ORDER BY created, unit"):
        other = first.setdefault((a, word, b), unit)
        if other != unit:
            yield Finding(unit, None, "second-edge", f"states the same relation as {other}",
                          f"keep what you need of both, then: otolith edges delete {edge}")


def _odd_files(home: Home) -> Iterator[Finding]:
    """A symlink, a folder or a pipe where one of the home's own files should be; a sweep passes it by."""
    for path in paths.SCANNED_FILES:
        if home.tree.look(path) is None:
            try:
                home.tree.read(path)
            except NotFound:
                continue
            except Damaged as error:
                yield Finding(path, None, error.flaw, f"is not read: {error.message.removeprefix(f'{path}: ')}",
                              "put a plain file in its place, or move it away")


def _logs(home: Home) -> Iterator[Finding]:
    """Broken lines of the append-only files that no unit stands for."""
    for path in (paths.AUDIT, paths.usage_log(home.machine)):
        try:
            lines = ledger.read_log(home.tree, path)
        except Damaged as error:
            yield Finding(path, error.line, error.flaw, error.message, error.hint or "mend the file")
            continue
        for number, line in lines:
            if line is None:
                yield Finding(path, number, "line", "is no whole line of JSON", "remove the line; nothing else depends on it")


def _schemas(home: Home) -> Iterator[Finding]:
    expected = {"meta.json": "entry_meta.v1", "summary.json": "entry_summary.v1", "topic_memory.json": "topic_memory.v1"}
    for path, in home.db.execute("SELECT path FROM documents WHERE path LIKE 'topics/%.json'").fetchall():
        schema, data = expected.get(path.rsplit("/", 1)[-1]), bytes_of(home, path)
        with suppress(Damaged):  # a finding of the sweep
            if schema and data and (odd := codec.foreign_schema(codec.read_object(data), schema)):
                yield Finding(path, 1, "schema", odd, "nothing to do; a rebuild leaves the file alone")


def _secrets(home: Home) -> Iterator[Finding]:
    from otolith.model.secrets import redact

    for path, in home.db.execute("SELECT path FROM documents ORDER BY path").fetchall():
        text = (bytes_of(home, path) or b"").decode(errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            for kind in redact(line)[1]:
                yield Finding(path, number, "secret", f"looks like a secret ({kind})",
                              "replace it, and change the secret itself")


# Upkeep's steps

def sweep(home: Home, _providers: Any = None) -> list[str]:
    """What was changed by hand since the last look; what killed writers left behind an hour ago is tidied away."""
    gone = [f"tidied {path}" for path in home.tree.tidy()] if _leftovers(home) else []
    return [*gone, *(f"{change.what} {change.path}" + (f": {change.reason}" if change.reason else "")
                     for change in home.sweep())]


def fold(home: Home, _providers: Any = None) -> list[str]:
    """The ledger's new lines into the index; a large ledger becomes one line, a large log of what was shown starts over."""
    verbs.offering.trim_shown(home)
    home.fold_usage()
    path = paths.usage_log(home.machine)
    measure = home.tree.measure(path)
    if measure is None or measure.size <= ledger.USAGE_BYTES:
        return []
    with home.writing():
        data, _ = home.tree.read(path)
        totals: dict[str, Usage] = {}
        ledger.fold_usage(ledger.read_lines(data), totals)
        base = {key: [usage.count, None if usage.last is None else zulu(usage.last)] for key, usage in sorted(totals.items())}
        line = json.dumps({"base": base}, separators=(",", ":")) + "\n"
        home.tree.write(path, line.encode(), fingerprint(data))
        home.fold_usage()
    return [f"{path}: {measure.size} bytes became {len(line)}"]


def commit(home: Home, _providers: Any = None) -> list[str]:
    """One commit for the round, if otolith.toml says git_commit = "upkeep"."""
    return commit_all(home, f"otolith upkeep {day(home.clock())}") if home.config.git_commit == "upkeep" else []


def commit_session(home: Home) -> list[str]:
    """One commit for a session that ends, if otolith.toml says git_commit = "session"."""
    return commit_all(home, f"otolith session {home.session}") if home.config.git_commit == "session" else []


def commit_all(home: Home, message: str) -> list[str]:
    """Commit what changed among the home's own files, synced; what git cannot do is a notice, never a failure.

    Other files and what a person has staged of them stay as they are; while a merge waits for somebody, so does everything.
    """
    root = home.tree.folder or ""
    if not root or _git(root, "rev-parse", "--is-inside-work-tree").stdout.strip() != "true":
        home.notices.append("git_commit is set, but the home is no git repository; try: git init")
        return []
    with home.writing():
        if _half_done(root):
            home.notices.append("git did not commit: a merge, rebase or cherry-pick is not finished; finish it first")
            return []
        changed = _changed_in_git(root)
        if not changed:
            return []
        new = "\0".join(path for path, state in changed.items() if state == "??")
        by_path = ("--pathspec-from-file=-", "--pathspec-file-nul")
        if new:  # what git has never heard of cannot be committed by name
            _git(root, "add", "--intent-to-add", *by_path, given=new)
        done = _git(root, "commit", "--quiet", "--only", "--message", message, *by_path, given="\0".join(changed))
        if done.returncode and new:
            _git(root, "reset", "--quiet", *by_path, given=new)
    if done.returncode:
        home.notices.append(f"git did not commit: {' '.join(done.stderr.split())[:200]}")
        return []
    return [f"git commit {_git(root, 'rev-parse', '--short', 'HEAD').stdout.strip()}"]


def _half_done(root: str) -> bool:
    """Whether somebody is in the middle of a merge, a rebase or a cherry-pick, or has paths left unmerged."""
    marks = _git(root, "rev-parse", *(word for mark in HALF_DONE for word in ("--git-path", mark))).stdout.splitlines()
    unmerged = _git(root, "diff", "--name-only", "--diff-filter=U")
    return any(os.path.exists(os.path.join(root, mark)) for mark in marks) or unmerged.returncode != 0 or bool(unmerged.stdout)


def _changed_in_git(root: str) -> dict[str, str]:
    """Path → git's two letters, for each of the home's own files that differs from the last commit."""
    ours = [name for name in (*paths.SCANNED, *paths.SCANNED_FILES, *paths.UNSCANNED, *paths.OTHER_FILES)
            if name not in UNTRACKED]
    prefix = _git(root, "rev-parse", "--show-prefix").stdout.rstrip("\n")
    told = _git(root, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all", "--",
                *ours).stdout
    found = {line[3:].removeprefix(prefix): line[:2] for line in told.split("\0") if line}
    return {path: state for path, state in found.items()
            if path[-1] != "/" and "/." not in path}  # no repository within, no dot files, which are never read


def _git(root: str, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_LITERAL_PATHSPECS": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        return subprocess.run([*_GIT, "-C", root, *words], capture_output=True, timeout=GIT_SECONDS, env=env,
                              check=False, input=given, encoding="utf-8", errors="surrogateescape")
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess([], 1, "", str(error))
