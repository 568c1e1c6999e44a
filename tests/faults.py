"""Death and failure at the n-th file call: what tests of interrupted acts are made with.

A file call is one call of the `os` module (or of files/rename.py, for what os lacks) that changes a file
or a folder; with `READING` also one that only looks. What SQLite does to the index goes past Python and is
not counted. An *act* is a function without arguments that opens the home itself, for it may run in a fork,
and a connection to the index must not be carried into one:

    def act() -> None:
        with Memory(home) as mem:
            mem.forget(record, purge=True)

    base = Snapshot(home)                       # the home and the cache folder as they are now
    for number in range(1, count_calls(act, base) + 1):
        base.restore()
        assert killed_at(number, act)           # a forked child, SIGKILL before its n-th file call
        ...                                     # open the home and look

    for number, name in calls_of(act, base):    # the same by name: (1, "open"), (2, "write"), (3, "fsync"), …
        base.restore()
        with failing_at(number, errno.ENOSPC):  # in this process: that one call raises, all others work
            act()                               # forever=True: and every later changing call, as on a full disk

`sampled(calls)` is every call with OTOLITH_TORTURE=1, as `make torture` sets it, else a few of them.
`in_child(act)` only runs the act in a fork and gives what it returned or raised, for what must not happen
here. `short_at(number)` lets the n-th write take one byte less than it was given, and all later ones fail.
A fork costs about a millisecond, no interpreter is started; the parent must have no open Memory meanwhile.
"""

from __future__ import annotations

import errno
import os
import pickle
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from otolith.files import rename

CHANGING = ("write", "fsync", "link", "rename", "replace", "unlink", "remove", "mkdir", "rmdir", "fchmod", "open")
READING = (*CHANGING, "read", "pread", "stat", "lstat", "fstat", "scandir")
OWN = ("exchange", "exclusive_rename", "write_out")  # of files/rename.py, which calls the C library past the os module
T = TypeVar("T")
MAKING = os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Ended(NamedTuple):
    """How a child ended: `value` is what the act returned; `error` what it raised."""

    killed: bool
    value: Any = None
    error: BaseException | None = None


class Snapshot:
    """A home and the cache folder, to be put back; the home's own folder stays, so its index stays its own."""

    def __init__(self, home: Path) -> None:
        self.home, self.cache = home, Path(os.environ["XDG_CACHE_HOME"])
        self.kept = home.with_name(f"{home.name}.kept")
        for folder in (self.home, self.cache):
            folder.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(self.kept / folder.name, ignore_errors=True)
            shutil.copytree(folder, self.kept / folder.name, symlinks=True)

    def restore(self) -> Path:
        for folder in (self.home, self.cache):
            for path in folder.iterdir():
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            shutil.copytree(self.kept / folder.name, folder, symlinks=True, dirs_exist_ok=True)
        return self.home


@contextmanager
def watched(before: Callable[[str], Any], names: tuple[str, ...] = CHANGING) -> Iterator[None]:
    """`before` is called with the name of each file call; what it returns, if anything, is done instead."""
    places = [*((os, name) for name in names), *((rename, name) for name in OWN)]
    originals = [(module, name, getattr(module, name)) for module, name in places]

    def replaced(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **more: Any) -> Any:
            if name == "open" and names is CHANGING and not given[1] & MAKING:
                return original(*given, **more)
            instead = before(name)
            return instead(original, *given, **more) if instead else original(*given, **more)

        return call

    for module, name, original in originals:
        setattr(module, name, replaced(name, original))
    try:
        yield
    finally:
        for module, name, original in originals:
            setattr(module, name, original)


def calls_of(act: Callable[[], Any], base: Snapshot | None = None,
             names: tuple[str, ...] = CHANGING) -> list[tuple[int, str]]:
    """Number and name of each file call of an act; it is run here once, on the snapshot if there is one."""
    calls: list[str] = []
    if base:
        base.restore()
    with watched(calls.append, names):
        act()
    return list(enumerate(calls, 1))


def count_calls(act: Callable[[], Any], base: Snapshot | None = None, names: tuple[str, ...] = CHANGING) -> int:
    return len(calls_of(act, base, names))


def sampled(calls: Sequence[T], about: int = 8) -> list[T]:
    """All of them under torture; else about so many, spread over the whole, with the first and the last."""
    if os.environ.get("OTOLITH_TORTURE") == "1" or len(calls) <= about:
        return list(calls)
    return [calls[round(at * (len(calls) - 1) / (about - 1))] for at in range(about)]


@contextmanager
def failing_at(number: int, code: int, *, forever: bool = False, names: tuple[str, ...] = CHANGING) -> Iterator[list[str]]:
    """The n-th file call raises this error instead; yields the names of those that did."""
    done, failed = [0], list[str]()

    def fail(*given: Any, **more: Any) -> Any:
        raise OSError(code, os.strerror(code))

    def before(name: str) -> Any:
        done[0] += 1
        if done[0] == number or (forever and done[0] > number and name not in ("unlink", "remove", "rmdir", "fsync")):
            failed.append(name)
            return fail
        return None

    with watched(before, names):
        yield failed


@contextmanager
def short_at(number: int) -> Iterator[None]:
    """The n-th write takes all but one byte; later ones find the disk full."""
    done = [0]

    def before(name: str) -> Any:
        done[0] += name == "write"
        if name != "write" or done[0] < number:
            return None
        return _all_but_one if done[0] == number else _full

    with watched(before):
        yield


def _all_but_one(write: Callable[[int, bytes], int], file: int, data: bytes) -> int:
    return write(file, data[:-1])


def _full(*given: Any) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def killed_at(number: int, act: Callable[[], Any], names: tuple[str, ...] = CHANGING) -> bool:
    """Run the act in a child that is killed before its n-th file call; whether it came that far."""
    left = [number]

    def before(name: str) -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    def mortal() -> Any:
        with watched(before, names):
            return act()

    ended = in_child(mortal)
    if ended.error:
        raise ended.error
    return ended.killed


def in_child(act: Callable[[], Any]) -> Ended:
    """Run the act in a forked child and wait for it; its answer must be something that can be pickled."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(out)
            try:
                answer = (act(), None)
            except BaseException as error:  # noqa: BLE001 (raised again in the parent)
                answer = (None, error)
            with open(into, "wb") as pipe:
                pipe.write(_packed(answer))
        finally:
            os._exit(0)
    os.close(into)
    with open(out, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return Ended(True)
    value, error = pickle.loads(data)
    return Ended(False, value, error)


def _packed(answer: tuple[Any, BaseException | None]) -> bytes:
    try:
        return pickle.dumps(answer)
    except (pickle.PicklingError, TypeError, AttributeError):
        value, error = answer
        return pickle.dumps((repr(value), error and RuntimeError(repr(error))))
