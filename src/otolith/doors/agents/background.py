"""A round of upkeep that nobody asked for, in a process of its own that nobody waits for.

Begun by the hook that starts a session, or by a server with nothing to do, if one is due and none was begun
within the hour. The process has a session of its own, so that it outlives whoever began it, no terminal and
the lowest priority; it lets the beginning session go first.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from otolith.config import child_environment
from otolith.model.record import log
from otolith.verbs.rounds import HOUR, is_due, lock_path

if TYPE_CHECKING:
    from otolith.config import Config
    from otolith.files.tree import Tree


def begin_upkeep(tree: Tree, settings: Config) -> int | None:
    """Begin a round if one is due and the settings allow it; the process, if there is one."""
    if not settings.upkeep or tree.folder is None or not os.path.isdir(tree.folder):
        return None
    lock, now = lock_path(tree.name), time.time()
    try:
        if now - lock.stat().st_mtime < HOUR:
            return None
    except OSError:
        pass  # none was ever begun
    if not is_due(tree, now):
        return None
    try:
        lock.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock.touch(mode=0o600)
        return _start([sys.executable, "-m", "otolith", "--home", tree.folder, "upkeep", "--if-due",
                       "--after", f"{settings.upkeep_after:g}"])
    except OSError as error:  # no cache, no process: the next session tries again
        log.info("upkeep was not begun: %s", error)
        return None


def _start(command: list[str]) -> int:
    """A process in a session of its own, with nothing to read and nobody to talk to."""
    silence = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_DUP2, 1, 2)]
    try:
        return os.posix_spawn(command[0], command, child_environment(), file_actions=silence, setsid=True)
    except NotImplementedError:  # a system without it: the process is at least no child of a terminal
        return os.posix_spawn(command[0], command, child_environment(), file_actions=silence, setpgroup=0)
