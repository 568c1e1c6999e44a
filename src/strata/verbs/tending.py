"""Upkeep's plain steps: sweep, fold the usage ledger, and at the end the one git commit a home may have asked for."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from strata.files import ledger, paths
from strata.files.tree import fingerprint
from strata.home import Home
from strata.model.record import Usage
from strata.model.times import day, zulu

GIT_SECONDS = 60
# A home may come from elsewhere: nothing in its .git may start a program or ask a question.
_GIT = ("git", "-c", "core.fsync=all", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
        "-c", "commit.gpgSign=false", "-c", "gc.auto=0")


def sweep(home: Home, _providers: Any = None) -> list[str]:
    """What was changed by hand since the last look."""
    return [f"{change.what} {change.path}" for change in home.sweep()]


def fold(home: Home, _providers: Any = None) -> list[str]:
    """The ledger's new lines into the index; a large ledger becomes one line."""
    home.fold_usage()
    path = paths.usage_log(home.machine)
    token = home.tree.look(path)
    if token is None or token.size <= ledger.USAGE_BYTES:
        return []
    with home.tree.lock():
        data, _ = home.tree.read(path)
        totals: dict[str, Usage] = {}
        ledger.fold_usage(ledger.read_lines(data), totals)
        base = {key: [usage.count, None if usage.last is None else zulu(usage.last)] for key, usage in sorted(totals.items())}
        line = json.dumps({"base": base}, separators=(",", ":")) + "\n"
        home.tree.write(path, line.encode(), fingerprint(data))
        home.fold_usage()
    return [f"{path}: {token.size} bytes became {len(line)}"]


def commit(home: Home, _providers: Any = None) -> list[str]:
    """One commit for the round, if strata.toml says git_commit = "upkeep"."""
    return commit_all(home, f"strata upkeep {day(home.clock())}") if home.config.git_commit == "upkeep" else []


def commit_session(home: Home) -> list[str]:
    """One commit for a session that ends, if strata.toml says git_commit = "session"."""
    return commit_all(home, f"strata session {home.session}") if home.config.git_commit == "session" else []


def commit_all(home: Home, message: str) -> list[str]:
    """Commit whatever changed in the home, synced; what git cannot do is a notice, never a failure."""
    root = getattr(home.tree, "root", "")
    if _git(root, "rev-parse", "--is-inside-work-tree").stdout.strip() != "true":
        home.notices.append("git_commit is set, but the home is no git repository; try: git init")
        return []
    with home.tree.lock():
        added = _git(root, "add", "--all", "--", ".")
        if added.returncode == 0 and _git(root, "diff", "--cached", "--quiet", "--", ".").returncode == 0:
            return []
        done = _git(root, "commit", "--quiet", "--message", message, "--", ".") if added.returncode == 0 else added
    if done.returncode:
        home.notices.append(f"git did not commit: {' '.join(done.stderr.split())[:200]}")
        return []
    return [f"git commit {_git(root, 'rev-parse', '--short', 'HEAD').stdout.strip()}"]


def _git(root: str, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        return subprocess.run([*_GIT, "-C", root, *words], capture_output=True, text=True, timeout=GIT_SECONDS, env=env,
                              check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess([], 1, "", str(error))
