"""A home in git: the one commit it may have asked for, the merge of two clones, and `sync --git`.

Git merges two clones of a home by files.threeway, which knows what a record is (doors/merge_driver.py is what
git calls). A home may come from elsewhere: nothing in its .git may start a program or ask a question, so the
driver is named in each call. Somebody's unfinished merge is never touched; our own is gone on with.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from otolith import config as configuration
from otolith.errors import CannotWrite, Conflict, Invalid
from otolith.files import paths
from otolith.files.threeway import MARKS, is_built
from otolith.files.tree import fingerprint
from otolith.home import Home
from otolith.model.record import Change
from otolith.model.times import day
from otolith.verbs.steps import bytes_of

UNTRACKED = ("_config.json", ".lock", "log")  # may hold a key; only this machine's
HALF_DONE = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "sequencer")
OURS = "OTOLITH_MERGE"  # in .git, beside MERGE_HEAD: the merge that sync began, and whose head it is
SECONDS, LONG = 60, 600
TRIES = 3  # pushes, each after taking in what came meanwhile
DRIVER = ("merge.otolith.name=merge Otolith's records field by field", "merge.otolith.driver="
          f"{shlex.join((sys.executable, '-m', 'otolith.doors.merge_driver'))} %O %A %B %P")
_GIT = ("git", "-c", "core.fsync=all", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
        "-c", "commit.gpgSign=false", "-c", "gc.auto=0")


# Commits

def commit(home: Home, _providers: Any = None) -> list[str]:
    """One commit for the round, if otolith.toml says git_commit = "upkeep"."""
    wanted = home.config.git_commit == "upkeep"
    return commit_all(home, f"otolith upkeep {day(home.clock())}") if wanted else []


def commit_session(home: Home) -> list[str]:
    """One commit for a session that ends, if otolith.toml says git_commit = "session"."""
    return commit_all(home, f"otolith session {home.session}") if home.config.git_commit == "session" else []


def commit_all(home: Home, message: str) -> list[str]:
    """Commit what changed among the home's own files, synced; what git cannot do is a notice.

    Other files and what a person has staged of them stay as they are; while a merge waits for somebody, so
    does everything.
    """
    root = home.tree.folder or ""
    if not _is_repository(root):
        home.notices.append("git_commit is set, but the home is not a git repository; try: git init")
        return []
    with home.writing():
        if _half_done(root):
            home.notices.append("git did not commit: a merge, rebase or cherry-pick is not finished; "
                                "finish it first")
            return []
        changed = _changed_in_git(root)
        if not changed:
            return []
        new = "\0".join(path for path, state in changed.items() if state == "??")
        by_path = ("--pathspec-from-file=-", "--pathspec-file-nul")
        if new:  # what git has never heard of cannot be committed by name
            _git(root, "add", "--intent-to-add", *by_path, given=new)
        done = _git(root, "commit", "--quiet", "--only", "--message", message, *by_path,
                    given="\0".join(changed))
        if done.returncode and new:
            _git(root, "reset", "--quiet", *by_path, given=new)
    if done.returncode:
        home.notices.append(f"git did not commit: {_said(done)}")
        return []
    return [f"git commit {_head(root)}"]


# A home that merges

def set_up(home: Home) -> list[str]:
    """Make the home a git repository in which two clones of a record become one; what was made for that."""
    root, made = home.folder(), []
    if not _is_repository(root):
        _need(_git(root, "init", "--quiet"), "git could not make a repository")
        made.append(".git")
    for setting in DRIVER:
        name, _, value = setting.partition("=")
        if _git(root, "config", "--local", name).stdout.rstrip("\n") != value:
            _need(_git(root, "config", "--local", name, value), "git could not be told how to merge")
            made.append(name)
    data = bytes_of(home, ".gitattributes")
    lines = (data or b"").decode(errors="surrogateescape").splitlines()
    if missing := [line for line in configuration.MERGED.splitlines() if line not in lines]:
        text = "".join(f"{line}\n" for line in (*lines, *missing)).encode(errors="surrogateescape")
        home.tree.write(".gitattributes", text, None if data is None else fingerprint(data))
        made.append(".gitattributes")
    return made


def synchronise(home: Home, *, accept_removals: bool = False) -> list[Change]:
    """Commit, take in what others committed, and push; what was begun before is gone on with."""
    root = home.folder()
    if not _is_repository(root):
        raise Invalid(f"{root} is not a git repository", "try: otolith init --git")
    set_up(home)
    changes = _resume(home, root)
    upstream = _upstream(root)
    for _ in range(TRIES):
        if upstream:
            _fetch(root)
        changes += _merge(home, root, upstream)
        if not _remote(root):
            home.notices.append("committed here only; to share it, name a remote: git remote add origin URL")
            break
        pushed = _push(root, upstream)
        if pushed.returncode == 0:
            changes.append(Change("pushed", _remote(root)))
            break
        if "fetch first" not in pushed.stderr and "non-fast-forward" not in pushed.stderr:
            raise CannotWrite(f"git could not push: {_said(pushed)}", "all is committed here; try again")
        upstream = _upstream(root)  # somebody else was faster
    else:
        raise Conflict("others pushed faster than this could", "all is merged here; try again")
    return [*changes, *home.sweep(accept_removals=accept_removals)]


def _resume(home: Home, root: str) -> list[Change]:
    """End the merge that an earlier sync began, once its disputes are decided; anybody else's is theirs."""
    if not _half_done(root):
        return []
    mine, theirs = (_git(root, "rev-parse", "--verify", "--quiet", name).stdout.strip()
                    for name in (OURS, "MERGE_HEAD"))
    if not mine or mine != theirs:
        raise Conflict("a merge, rebase or cherry-pick is not finished here", "finish it first: git status")
    with home.writing():
        if undecided := [path for path in _unmerged(root) if _marked(home, path)]:
            raise _undecided(undecided)
        _need(_git(root, "add", "--all", "--", "."), "git could not take up what was decided")
        _need(_git(root, "commit", "--quiet", "--no-edit"), "git could not finish the merge")
        _git(root, "update-ref", "-d", OURS)
    return [Change("merged", _head(root))]


def _merge(home: Home, root: str, upstream: str) -> list[Change]:
    """Commit and merge under the home's lock, so that nothing is written in between."""
    changes: list[Change] = []
    with home.writing():
        before = len(home.notices)
        if commit_all(home, f"otolith sync {day(home.clock())}"):
            changes.append(Change("committed", _head(root)))
        elif len(home.notices) > before:
            raise CannotWrite(home.notices.pop(), "see: git status")
        if not upstream or not (came := _git(root, "rev-list", f"HEAD..{upstream}").stdout.split()):
            return changes
        head = _git(root, "rev-parse", "--verify", "--quiet", "HEAD").stdout.strip()
        settings = [word for setting in DRIVER for word in ("-c", setting)]
        done = _git(root, "merge", "--quiet", "--no-edit", upstream, settings=settings, seconds=LONG)
        if done.returncode and not (left := _unmerged(root)):
            raise CannotWrite(f"git could not merge: {_said(done)}", "nothing was merged; see: git status")
        if done.returncode:
            _git(root, "update-ref", OURS, "MERGE_HEAD")
            raise _undecided(left)
        _note_built(home, root, head)
    return [*changes, Change("merged", f"{len(came)} commit{'s' * (len(came) != 1)} of {upstream}")]


def _note_built(home: Home, root: str, before: str) -> None:
    """Built pages that came from another clone were built there, not edited by hand."""
    prefix = _git(root, "rev-parse", "--show-prefix").stdout.rstrip("\n")
    names = _git(root, "diff", "--name-only", "--no-renames", "-z", before, "HEAD", "--", ".").stdout
    for name in filter(None, names.split("\0")):
        path = name.removeprefix(prefix)
        if (data := bytes_of(home, path) if _belongs(path) else None) and is_built(path, data):
            home.index.marks.set("built", path, fingerprint(data))


def _belongs(path: str) -> bool:
    try:
        return bool(paths.check_path(path))
    except Invalid:
        return False


def _marked(home: Home, path: str) -> bool:
    data = bytes_of(home, path) if _belongs(path) else None
    return data is not None and any(line.startswith(MARKS[0][:8]) for line in data.splitlines())


def _undecided(files: Sequence[str]) -> Conflict:
    names = ", ".join(files[:5]) + (f" and {len(files) - 5} more" if len(files) > 5 else "")
    return Conflict(f"both sides changed the same of {names}",
                    "see both texts: otolith check; keep what is right, then: otolith sync --git")


# Asking git

def _is_repository(root: str) -> bool:
    return bool(root) and _git(root, "rev-parse", "--is-inside-work-tree").stdout.strip() == "true"


def _upstream(root: str) -> str:
    """The branch that this one follows, else the remote's branch of the same name; "" if there is none."""
    own = _git(root, "rev-parse", "--abbrev-ref", "--symbolic-full-name", "@{upstream}")
    if own.returncode == 0:
        return own.stdout.strip()
    remote, branch = _remote(root), _git(root, "symbolic-ref", "--short", "HEAD").stdout.strip()
    if not remote or not branch:
        return ""
    _fetch(root)
    name = f"{remote}/{branch}"
    return name if _git(root, "rev-parse", "--verify", "--quiet", name).returncode == 0 else ""


def _remote(root: str) -> str:
    branch = _git(root, "symbolic-ref", "--short", "HEAD").stdout.strip()
    own = _git(root, "config", f"branch.{branch}.remote").stdout.strip()
    return own or next(iter(_git(root, "remote").stdout.split()), "")


def _fetch(root: str) -> None:
    _need(_git(root, "fetch", "--quiet", _remote(root), seconds=LONG), "git could not fetch")


def _push(root: str, upstream: str) -> subprocess.CompletedProcess[str]:
    name = upstream.partition("/")[2] or _git(root, "symbolic-ref", "--short", "HEAD").stdout.strip()
    return _git(root, "push", "--quiet", "--set-upstream", _remote(root), f"HEAD:{name}",
                seconds=LONG)


def _half_done(root: str) -> bool:
    """Whether somebody is in the middle of a merge, a rebase or a cherry-pick, or has paths left unmerged."""
    words = [word for mark in HALF_DONE for word in ("--git-path", mark)]
    marks = _git(root, "rev-parse", *words).stdout.splitlines()
    unmerged = _git(root, "diff", "--name-only", "--diff-filter=U")
    return any(os.path.exists(os.path.join(root, mark)) for mark in marks) or unmerged.returncode != 0 \
        or bool(unmerged.stdout)


def _unmerged(root: str) -> list[str]:
    names = _git(root, "diff", "--name-only", "--diff-filter=U", "--relative", "-z").stdout
    return sorted({*filter(None, names.split("\0"))})


def _changed_in_git(root: str) -> dict[str, str]:
    """Path → git's two letters, for each of the home's own files that differs from the last commit."""
    ours = [name for name in (*paths.SCANNED, *paths.SCANNED_FILES, *paths.UNSCANNED, *paths.OTHER_FILES)
            if name not in UNTRACKED]
    prefix = _git(root, "rev-parse", "--show-prefix").stdout.rstrip("\n")
    status = _git(root, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all",
                  "--ignore-submodules=all", "--", *ours).stdout
    changed = {line[3:].removeprefix(prefix): line[:2] for line in status.split("\0") if line}
    return {path: state for path, state in changed.items()
            if path[-1] != "/" and "/." not in path}  # no repository within; dot files are never read


def _head(root: str) -> str:
    return _git(root, "rev-parse", "--short", "HEAD").stdout.strip()


def _need(done: subprocess.CompletedProcess[str], what: str) -> None:
    if done.returncode:
        raise CannotWrite(f"{what}: {_said(done)}", "see: git status")


def _said(done: subprocess.CompletedProcess[str]) -> str:
    return " ".join((done.stderr or done.stdout).split())[:200]


def _git(root: str, *words: str, given: str = "", settings: Sequence[str] = (),
         seconds: int = SECONDS) -> subprocess.CompletedProcess[str]:
    env = configuration.child_environment(GIT_TERMINAL_PROMPT="0", GIT_LITERAL_PATHSPECS="1",
                                          GIT_OPTIONAL_LOCKS="0", LC_ALL="C")
    try:
        return subprocess.run([*_GIT, *settings, "-C", root, *words], capture_output=True, timeout=seconds,
                              env=env, check=False, input=given, encoding="utf-8", errors="surrogateescape")
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess([], 1, "", str(error))
