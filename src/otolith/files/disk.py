"""The tree as a folder on disk: atomic, durable, wary. Here alone size, times and inode of a file are known.

A write is a temporary file in the same folder, synced, then linked or renamed into place, then the folder is
synced; only then does it return. An update looks at the file once more under the lock, exchanges the two and
looks at the one it got, so that an editor that slips in between is noticed and wins. Where the system knows
no exchange or no links, it goes longer ways. Every folder on the way is opened without following symlinks,
each name within a folder that is held open.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
import time
from _thread import _local
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress

from otolith.errors import Conflict, Damaged, Invalid, NotFound, WrongUsage
from otolith.files.lock import NO_LINKS, HomeLock, cannot_write
from otolith.files.paths import SCANNED, SCANNED_FILES, check_path
from otolith.files.tree import (
    HANDS,
    MAX_BYTES,
    Hand,
    Measure,
    OwnTree,
    Tree,
    Versions,
    compare,
    fingerprint,
    read_hands,
)
from otolith.model.record import Change, Version

RACY_NS = 2_000_000_000  # written this shortly before the look, it may be written again with the same times
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_pack = struct.Struct("=qqqq").pack
_new = tuple.__new__  # three times as fast as calling the named tuple


def open_tree(name: str) -> Tree:
    """The tree of a home named by a path or a URL."""
    scheme, separator, rest = name.partition("://")
    if not separator or not scheme.replace("+", "").isalnum():
        return _existing(name)
    host, slash, path = rest.partition("/")
    if scheme.lower() != "file":
        raise WrongUsage(f"a home at {scheme}:// cannot be opened", "name a folder, or write file:///folder")
    if not slash or host not in ("", "localhost"):
        raise WrongUsage(f"{name!r} does not name a folder on this machine", "write file:///folder")
    from urllib.parse import unquote

    return _existing("/" + unquote(path))


def _existing(folder: str) -> DiskTree:
    """The folder's tree; it may yet have to be made, but nothing else may be in its place."""
    tree = DiskTree(folder)
    try:
        os.close(os.open(tree.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    except NotADirectoryError:
        raise Invalid(f"{tree.folder} is not a folder", "name a folder, or move the file away") from None
    except OSError:  # it may yet have to be made
        pass
    return tree


def _version(status: os.stat_result, settled: int) -> Version:
    modified, inode = status.st_mtime_ns, status.st_ino
    try:
        stamp = _pack(status.st_size, modified, status.st_ctime_ns, inode)
    except struct.error:  # a time after the year 2262, an inode of all 64 bits
        stamp = repr((status.st_size, modified, status.st_ctime_ns, inode)).encode()
        inode &= (1 << 63) - 1
    return _new(Version, (stamp, inode, modified <= settled))


def _settled() -> int:
    """The time before which a file must have been written to be settled now."""
    return time.time_ns() - RACY_NS


class _Later(_local):
    """What a thread has yet to sync at the end of its batch; what another thread writes is synced at once."""

    files: dict[str, None] | None = None
    folders: dict[str, None] | None = None


class DiskTree(OwnTree):
    """A home's folder. It is made by the first write, not by being opened."""

    def __init__(self, folder: str) -> None:
        self.name = self.folder = os.path.abspath(os.path.expanduser(folder))
        self._lock = HomeLock(self.folder)
        self._later = _Later()
        self._noted: tuple[int, dict[str, list[Hand]]] = 0, {}

    def close(self) -> None:
        self._lock.close()

    def identity(self) -> str:
        with suppress(OSError):
            status = os.stat(self.folder)
            return f"{status.st_dev}:{status.st_ino}"
        return "none"

    # Looking

    def scan(self, below: str = "") -> Iterator[tuple[str, Version | None]]:
        settled = _settled()
        for folder in [below] if below else SCANNED:
            if os.path.islink(f"{self.folder}/{folder}"):
                yield folder, None
                continue
            todo = [folder]
            while todo:
                yield from self._list(todo.pop(), todo, settled)
        for name in () if below else SCANNED_FILES:
            try:
                status = os.lstat(f"{self.folder}/{name}")
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                yield name, None
                continue
            if stat.S_ISREG(status.st_mode):
                yield name, _version(status, settled)

    def _list(self, here: str, todo: list[str], settled: int) -> list[tuple[str, Version | None]]:
        """The files of one folder; its folders are left to do. Written for speed: a walk's time goes here."""
        files: list[tuple[str, Version | None]] = []
        try:
            listing = os.scandir(f"{self.folder}/{here}")
        except (FileNotFoundError, NotADirectoryError):
            return files
        except OSError:
            return [(here, None)]
        with listing:
            for item in listing:
                name = item.name
                if name[0] == ".":
                    continue
                path = f"{here}/{name}"
                if (not name.isascii() or "\\" in name) and _printable(path) != path:
                    files.append((_printable(path), None))
                elif item.is_dir(follow_symlinks=False):
                    todo.append(path)
                else:
                    try:
                        status = item.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    except OSError:  # it is there: reading it will tell what is wrong
                        files.append((path, None))
                        continue
                    files.append((path, _version(status, settled) if stat.S_ISREG(status.st_mode) else None))
        return files

    def changes(self, since: Versions, cursor: str = "") -> list[Change]:  # noqa: ARG002
        return compare(dict(self.scan()), since)

    def hands(self, path: str) -> Sequence[Hand]:
        """Who wrote it, if it was pulled from a space that several share."""
        try:
            stamp = os.stat(f"{self.folder}/{HANDS}").st_mtime_ns
        except OSError:
            return ()
        if self._noted[0] != stamp:
            self._noted = stamp, read_hands(self.read(HANDS)[0])
        return self._noted[1].get(path, ())

    def look(self, path: str) -> Version | None:
        status = self._status(path)
        return _version(status, _settled()) if status else None

    def measure(self, path: str) -> Measure | None:
        status = self._status(path)
        if status is None:
            return None
        private = stat.S_IMODE(status.st_mode) == 0o600 and status.st_uid == os.getuid()
        return Measure(status.st_size, status.st_mtime_ns / 1e9, private)

    def _status(self, path: str) -> os.stat_result | None:
        try:
            status = os.lstat(f"{self.folder}/{check_path(path)}")
        except OSError:
            return None
        return status if stat.S_ISREG(status.st_mode) else None

    def read(self, path: str, start: int = 0) -> tuple[bytes, Version]:
        try:
            file = self._open(check_path(path))
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(f"no file {path}") from None
        except OSError as error:
            flaw = "symlink" if error.errno in (errno.ELOOP, errno.EMLINK) else "unreadable"
            what = "is a symlink and is not followed" if flaw == "symlink" else error.strerror
            raise Damaged(f"{path}: {what}", flaw=flaw) from None
        try:
            settled, status = _settled(), os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise Damaged(f"{path}: not a plain file", flaw="not-a-file")
            if status.st_size > MAX_BYTES:
                raise Damaged(f"{path}: {status.st_size} bytes are more than {MAX_BYTES}", flaw="too-large")
            if start:
                os.lseek(file, start, os.SEEK_SET)
            return _read_rest(file, status.st_size), _version(status, settled)
        except OSError as error:
            raise Damaged(f"{path}: {error.strerror}", flaw="unreadable") from None
        finally:
            os.close(file)

    def _open(self, path: str) -> int:
        with self._folder_of(path) as (folder, name):
            return os.open(name, READ, dir_fd=folder)

    @contextmanager
    def _folder_of(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """A descriptor of a document's folder, reached without following symlinks, and its name there."""
        *parts, name = path.split("/")
        folder = self._descend(parts, make=make)
        try:
            yield folder, name
        finally:
            os.close(folder)

    def _descend(self, parts: list[str], *, make: bool = False) -> int:
        here = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for part in parts:
            try:
                try:
                    below = os.open(part, FOLDER, dir_fd=here)
                except FileNotFoundError:
                    if not make:
                        raise
                    with suppress(FileExistsError):
                        os.mkdir(part, 0o700, dir_fd=here)
                        with _undone(os.rmdir, part, here):
                            os.fsync(here)
                    below = os.open(part, FOLDER, dir_fd=here)
            finally:
                os.close(here)
            here = below
        return here

    @contextmanager
    def reading(self, ahead: Sequence[str] = ()) -> Iterator[Tree]:  # noqa: ARG002
        reader = _Reader(self)
        try:
            yield reader
        finally:
            reader.let_go()

    # Writing

    @contextmanager
    def _place(self, path: str, *, make: bool = False,
               patience: float | None = None) -> Iterator[tuple[int, str]]:
        """A document's folder, open and under the lock, and its name there; errors in plain words."""
        check_path(path)
        try:
            with self._lock.held(patience), self._folder_of(path, make=make) as place:
                yield place
        except OSError as error:
            if isinstance(error, FileNotFoundError) and not make:
                raise NotFound(f"no file {path}") from None
            raise cannot_write(path, error) from None

    def write(self, path: str, data: bytes, replacing: str | None = None) -> Version:
        with self._place(path, make=True) as (folder, name):
            temporary = f".otolith-{os.urandom(6).hex()}.tmp"
            try:
                mode = None if replacing is None else _mode_of(folder, name, path)
                self._fill(folder, temporary, data, mode)
                if replacing is None:
                    try:
                        _name(folder, temporary, name)
                    except FileExistsError:
                        raise Conflict(f"{path} is already there", "nothing was overwritten") from None
                    if self._later.files is not None:
                        self._later.files[path] = None
                else:
                    from otolith.files.rename import swap

                    if not swap(folder, temporary, name, replacing, fingerprint(data)):
                        raise _moved_on(path)
            finally:
                with suppress(OSError):  # renamed into place, or left over and hidden from readers
                    os.unlink(temporary, dir_fd=folder)
            with _undone(os.unlink, name, folder) if replacing is None else nullcontext():
                self._sync(folder, path)
            return _version(os.stat(name, dir_fd=folder, follow_symlinks=False), _settled())

    def _fill(self, folder: int, name: str, data: bytes, mode: int | None) -> None:
        """A new file; one that takes an old file's place has its mode and is whole before it does."""
        file = os.open(name, NEW, 0o600, dir_fd=folder)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(file, rest) :]
            if mode is not None:
                os.fchmod(file, mode)
            if self._later.files is None or mode is not None:
                os.fsync(file)
            else:
                from otolith.files.rename import write_out

                write_out(file)
        finally:
            os.close(file)

    def _sync(self, folder: int, path: str) -> None:
        if self._later.folders is not None:
            self._later.folders[path.rpartition("/")[0]] = None
        else:
            os.fsync(folder)

    def append(self, path: str, data: bytes, *, synced: bool = False, opening: bytes = b"",
               patience: float | None = None) -> None:
        with self._place(path, make=True, patience=patience) as (folder, name):
            file = os.open(name, APPEND, 0o600, dir_fd=folder)
            try:
                status = os.fstat(file)
                if not stat.S_ISREG(status.st_mode):
                    raise OSError(errno.EINVAL, "it is not a plain file")
                torn = status.st_size > 0 and os.pread(file, 1, status.st_size - 1) != b"\n"
                data = (b"\n" * torn if status.st_size else opening) + data
                if os.write(file, data) < len(data):  # the next append closes the line
                    raise OSError(errno.ENOSPC, "the disk is full")
                if synced:
                    os.fsync(file)
            finally:
                os.close(file)
            if synced and not status.st_size:  # perhaps just made: its name must last as well
                self._sync(folder, path)

    def move(self, path: str, to: str) -> None:
        from otolith.files.rename import move_name

        with self._place(path) as (old, name), self._place(to, make=True) as (new, target):
            try:
                move_name(old, name, new, target)
            except FileExistsError:
                raise Conflict(f"{to} is already there", "nothing was moved") from None
            except FileNotFoundError:
                raise NotFound(f"no file {path}") from None

    def remove(self, path: str) -> None:
        with self._place(path) as (folder, name):
            os.unlink(name, dir_fd=folder)
            self._sync(folder, path)

    def within(self, folder: str) -> list[str]:
        check_path(f"{folder}/x")
        paths: list[str] = []
        with suppress(OSError), os.scandir(f"{self.folder}/{folder}") as listing:
            paths += [f"{folder}/{item.name}" for item in listing
                      if item.name[0] != "." and item.is_file(follow_symlinks=False)]
        return sorted(paths)

    def prune(self, path: str) -> None:
        check_path(path)
        with self.lock(), suppress(OSError):  # one that is not empty ends it
            while path := path.rpartition("/")[0]:
                with suppress(FileNotFoundError):
                    os.rmdir(f"{self.folder}/{path}")

    def leftovers(self, age: float) -> list[str]:
        paths = []
        for here, folders, files in os.walk(self.folder):
            folders[:] = [name for name in folders if name[0] != "."]
            for name in sorted(files):
                if name.startswith(".otolith-") and name.endswith(".tmp"):
                    with suppress(OSError):  # its writer lives, and gave it its name just now
                        if age <= 0 or time.time() - os.stat(f"{here}/{name}").st_mtime > age:
                            paths.append(os.path.relpath(f"{here}/{name}", self.folder))
        return paths

    def tidy(self) -> list[str]:
        with self.lock():  # nobody else is writing
            paths = self.leftovers(0)
            for path in paths:
                os.unlink(f"{self.folder}/{path}")
        return paths

    # Together

    def lock(self) -> AbstractContextManager[None]:
        return self._lock.held()

    @contextmanager
    def bulk(self) -> Iterator[None]:
        with self.together(), self._batch("files", READ):
            yield

    def together(self) -> AbstractContextManager[None]:
        return self._batch("folders", FOLDER)

    @contextmanager
    def _batch(self, what: str, how: int) -> Iterator[None]:
        """What this thread writes meanwhile is synced at the end of the outermost batch."""
        if getattr(self._later, what) is not None:
            yield
            return
        paths: dict[str, None] = {}
        setattr(self._later, what, paths)
        try:
            yield
        finally:
            setattr(self._later, what, None)
            try:
                for path in paths:
                    with suppress(FileNotFoundError):  # written and removed within the batch
                        file = os.open(f"{self.folder}/{path}", how)
                        try:
                            os.fsync(file)
                        finally:
                            os.close(file)
            except OSError as error:
                raise cannot_write("the batch", error) from None


class _Reader(DiskTree):
    """The tree for many reads in one go: the folder last read from stays open."""

    def __init__(self, tree: DiskTree) -> None:
        self.__dict__.update(tree.__dict__)
        self._last, self._opened = "", -1

    def _open(self, path: str) -> int:
        where, _, name = path.rpartition("/")
        if where != self._last or self._opened < 0:
            self.let_go()
            self._opened, self._last = self._descend(where.split("/") if where else []), where
        return os.open(name, READ, dir_fd=self._opened)

    def let_go(self) -> None:
        if self._opened >= 0:
            os.close(self._opened)
            self._opened = -1


@contextmanager
def _undone(undo: Callable[..., None], name: str, folder: int) -> Iterator[None]:
    """A new name whose folder cannot be synced is taken back: a failed write leaves nothing to trip over."""
    try:
        yield
    except OSError:
        with suppress(OSError):
            undo(name, dir_fd=folder)
        raise


def _name(folder: int, temporary: str, name: str) -> None:
    """Give a new file its name, which must be free; a link does that in one step, where there are links."""
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        from otolith.files.rename import take_name

        take_name(folder, temporary, folder, name)


def _moved_on(path: str) -> Conflict:
    return Conflict(f"{path} was changed by somebody else meanwhile",
                    "read it again; nothing was overwritten")


def _mode_of(folder: int, name: str, path: str) -> int:
    try:
        return stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        raise _moved_on(path) from None


def _read_rest(file: int, size: int) -> bytes:
    """All that is left to read; one read more than the size says, for a file may grow."""
    data = os.read(file, size + 1)
    if len(data) == size:
        return data
    parts = [data]
    while parts[-1]:
        parts.append(os.read(file, 1 << 20))
    return b"".join(parts)


def _printable(path: str) -> str:
    """The path as every layer above can hold it: whole Unicode text without a backslash."""
    return path.encode(errors="surrogateescape").decode(errors="replace").replace("\\", "\ufffd")
