"""A process that serves a home answers its hooks, too: over a socket of the user's own, in a thread.

Whichever MCP server or `serve` comes first binds it, under a lock that ends with the process; the others wait
for their turn. The folder is the user's alone, so is the socket, and who connects must be the same user. A
question of another version or home is hung up on, and the hook does its work itself. What telling something
leaves in the home's log is written when the hook has its answer: one that was given up on leaves nothing.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from otolith import __version__, config
from otolith.doors.agents import hooks, wire
from otolith.doors.agents.background import begin_upkeep
from otolith.doors.agents.ignore import Ignore
from otolith.errors import Busy, CannotWrite, Conflict
from otolith.model.record import log
from otolith.opening import open_home

if TYPE_CHECKING:
    from otolith.files.tree import Tree
    from otolith.memory import Memory

WARM_AFTER = 2.0  # seconds of quiet after which what the next answers need is made ready
IDLE = 600.0  # and that after which it is looked whether upkeep is due, again and again
READ_SECONDS = 0.1  # a hook has its line ready
PARTING = 0.05  # seconds that an answer is given to end when the process does


@contextmanager
def answering(home: str | None) -> Iterator[None]:
    """Answer the home's hooks for as long as this lasts, as soon as no other process does."""
    if not hasattr(socket, "AF_UNIX"):
        yield
        return
    thread = Answering(home)
    thread.start()
    try:
        yield
    finally:
        thread.stop()


class Answering(threading.Thread):
    """The thread, the socket and the home in it."""

    def __init__(self, home: str | None) -> None:
        super().__init__(daemon=True, name="otolith-hooks")
        self._home, self._mem = home, cast("Memory | None", None)
        self._path = config.socket_path(open_home(home).name)
        self._waked, self._wake = os.pipe()
        self._bound, self._upkeep = False, cast("int | None", None)

    def stop(self) -> None:
        """Nobody is answered any more; what was begun may end."""
        os.write(self._wake, b".")
        if self._bound:
            self.join(PARTING)
        if self._bound and self.is_alive():  # it holds the lock, so nobody else can have bound it
            self._path.unlink(missing_ok=True)

    def run(self) -> None:
        try:
            with _own_folder(self._path) as lock, socket.socket(socket.AF_UNIX) as listening:
                fcntl.flock(lock, fcntl.LOCK_EX)  # until whoever serves now is gone
                with suppress(FileNotFoundError):
                    self._path.unlink()  # nobody can be behind it
                listening.bind(str(self._path))
                self._path.chmod(0o600)
                listening.listen(16)
                self._bound = True
                try:
                    self._serve(listening)
                finally:
                    self._path.unlink(missing_ok=True)
        except OSError as error:  # no folder of our own, a path too long: hooks do without
            log.info("hooks are not answered here: %s", error)
        finally:
            if self._mem is not None:
                self._mem.close()

    def _serve(self, listening: socket.socket) -> None:
        watched, warm = [listening.fileno(), self._waked], False
        while True:
            ready, _, _ = select.select(watched, [], [], IDLE if warm else WARM_AFTER)
            if self._waked in ready:
                return
            if ready:
                self._take(listening)
            else:
                self._guarded(self._tend if warm else self._warm_up)
            warm = not ready

    def _take(self, listening: socket.socket) -> None:
        """Answer one hook."""
        try:
            asking, _ = listening.accept()
        except OSError:  # it has gone again
            return
        with asking:
            self._guarded(lambda: self._answer(asking))

    def _guarded(self, act: Callable[[], None]) -> None:
        """A door: whatever goes wrong with one question, the next is answered."""
        try:
            act()
        except Exception as error:
            log.info("a hook was not answered: %r", error)
            if self._mem is not None:
                self._mem.close()
                self._mem = None

    def _answer(self, asking: socket.socket) -> None:
        began = time.monotonic()
        asking.settimeout(READ_SECONDS)
        if wire.peer_uid(asking) != os.getuid() or (line := _read_line(asking)) is None:
            return
        message = json.loads(line)
        if message.get("v") != wire.VERSION or message.get("release", __version__) != __version__:
            return
        mem = self._open()
        tree = mem.home.tree
        settings = config.load(tree, cwd=str(message["input"].get("cwd") or "/"))
        if message.get("home_id") != settings.home_id:
            return
        held = Withheld(tree)
        keeps = message["event"] in hooks.KEEPING  # at once: what a session said is known by its keys
        printed = self._say(mem, message, settings, tree if keeps else cast("Tree", held))
        if time.monotonic() - began < wire.ANSWER_SECONDS:
            asking.sendall(printed.encode() + b"\n")
            held.write_all()

    def _say(self, mem: Memory, message: Any, settings: config.Config, tree: Tree) -> str:
        """What the hook would print, all that it writes going to this tree."""
        home, given = mem.home, message["input"]
        home.config = settings.replace(project=message["project"], agent=message["agent"],
                                       session=message.get("session"))
        home.session = home.config.session or f"session-{os.urandom(6).hex()}"
        home.shown.clear()  # others may have told something since; the log knows
        before = home.tree
        home.tree = tree
        try:
            return hooks.respond(mem, message["event"], given, Ignore(Path(given["cwd"])))
        finally:
            home.tree = before

    def _open(self) -> Memory:
        if self._mem is None:
            from otolith.memory import Memory

            tree = open_home(self._home)
            settings = config.load(tree).replace(provider="static", chat_url=None, chat_model=None)
            self._mem = Memory(tree, door="hook", trust="agent", config=settings)
        self._mem.home.index.attempt(self._mem.home.heed)
        return self._mem

    def _warm_up(self) -> None:
        """Load what answers need before they are asked for, and read what is new since the last ones."""
        from otolith import verbs
        from otolith.recall.unasked import tell

        home = self._open().home
        if home.tree.identity() != "none" and home.index.cards.total():
            home.index.attempt(home.ensure_fresh)
            verbs.claims.draw(home)
            home.index.attempt(lambda: tell(home, "which port does the staging database listen on"))
        self._tend()

    def _tend(self) -> None:
        """Nobody asks anything: begin a round of upkeep, if one is due; and see off the last one."""
        if self._upkeep is not None and os.waitpid(self._upkeep, os.WNOHANG)[0]:
            self._upkeep = None
        if self._upkeep is None:
            home = self._open().home
            self._upkeep = begin_upkeep(home.tree, config.load(home.tree))


def _read_line(asking: socket.socket) -> bytes | None:
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = asking.recv(1 << 16)
        if not piece or len(line) > wire.MOST_BYTES:
            return None
        line += piece
    return bytes(line)


@contextmanager
def _own_folder(path: Path) -> Iterator[int]:
    """The lock beside a socket, in a folder that only the user may enter."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    status = path.parent.stat()
    if status.st_uid != os.getuid():
        raise PermissionError(f"{path.parent} belongs to somebody else")
    if status.st_mode & 0o077:
        path.parent.chmod(0o700)
    lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        yield lock
    finally:
        os.close(lock)


class Withheld:
    """A tree to which nothing is written until it is said so; all else is the tree's own."""

    def __init__(self, tree: Tree) -> None:
        self._tree, self._writes = tree, list[Callable[[], object]]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tree, name)

    def write(self, path: str, data: bytes, replacing: str | None = None) -> None:
        self._writes.append(lambda: self._tree.write(path, data, replacing))

    def append(self, path: str, data: bytes, **how: Any) -> None:
        self._writes.append(lambda: self._tree.append(path, data, **how))

    def write_all(self) -> None:
        for write in self._writes:
            with suppress(Busy, CannotWrite, Conflict):  # as where hooks write by themselves
                write()
