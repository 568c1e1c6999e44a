"""Processes that nobody waits for: upkeep that nobody asked for, and a model reading a session that ended.

Upkeep is begun by the hook that starts a session, or by a server with nothing to do, if one is due and none
was begun within the hour. A process has a session of its own, so that it outlives whoever began it, no
terminal and the lowest priority; upkeep lets the beginning session go first.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from otolith.config import child_environment, load
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
        return start([sys.executable, "-m", "otolith", "--home", tree.folder, "upkeep", "--if-due",
                       "--after", f"{settings.upkeep_after:g}"])
    except OSError as error:  # no cache, no process: the next session tries again
        log.info("upkeep was not begun: %s", error)
        return None


def begin_distilling(tree: Tree, session: str, project: str) -> bool:
    """Whether a model that the person turned on reads the session from now on: the agent does not wait for
    it, and if it fails, upkeep goes on with the entry that is still open.
    """
    settings = load(tree)
    if not (settings.model_command or settings.chat_model) or tree.folder is None:
        return False
    try:
        start([sys.executable, "-m", "otolith", "--home", tree.folder, "model", "distil", session],
               OTOLITH_PROJECT=project)
    except OSError as error:
        log.info("a session was not distilled: %s", error)
        return False
    return True


def start(command: list[str], **environment: str) -> int:
    """A process in a session of its own, with nothing to read and nobody to talk to."""
    silence = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_DUP2, 1, 2)]
    around = child_environment(**environment)
    try:
        return os.posix_spawn(command[0], command, around, file_actions=silence, setsid=True)
    except NotImplementedError:  # a system without it: the process is at least no child of a terminal
        return os.posix_spawn(command[0], command, around, file_actions=silence, setpgroup=0)
