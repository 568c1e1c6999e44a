"""The tree as a folder on disk: atomic, durable, wary.

A write is a temporary file in the same folder, synced, then linked or renamed into place, then the folder is synced; only
then does it return. An update looks at the file once more under the lock, and at the file it has put aside, so that an
editor that slips in between is noticed and wins. Every folder on the way is opened without following symlinks.
"""

from __future__ import annotations

import errno
import os
import stat
from _thread import _local
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from otolith.errors import Conflict, Damaged, NotFound
from otolith.files.descriptors import (
    FOLDER,
    NEW,
    READ,
    make_folder,
    mode_of,
    moved_on,
    open_folder,
    read_rest,
    slurp,
    unlink,
)
from otolith.files.lock import HomeLock, cannot_write
from otolith.files.paths import SCANNED, SCANNED_FILES, check_path
from otolith.files.tree import MAX_BYTES, Token, Tree, fingerprint

_new = tuple.__new__  # three times as fast as calling the named tuple


def _token(found: os.stat_result) -> Token:
    return _new(Token, (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino))


class _Later(_local):
    """What a thread still has to sync at the end of its batch; what another thread writes meanwhile is synced at once."""

    files: dict[str, None] | None = None
    folders: dict[str, None] | None = None


class DiskTree:
    """A home's folder. It is made by the first write, not by being opened."""

    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(os.path.expanduser(root))
        self._lock = HomeLock(self.root)
        self._later = _Later()

    def close(self) -> None:
        self._lock.close()

    # Looking

    def scan(self) -> Iterator[tuple[str, Token | None]]:
        for folder in SCANNED:
            if os.path.islink(f"{self.root}/{folder}"):
                yield folder, None
                continue
            todo = [folder]
            while todo:
                yield from self._list(todo.pop(), todo)
        for name in SCANNED_FILES:
            token = self.look(name)
            if token is not None:
                yield name, token

    def _list(self, here: str, todo: list[str]) -> list[tuple[str, Token | None]]:
        """The files of one folder; its folders are left to do. A walk's time goes here, so it is written for speed."""
        found: list[tuple[str, Token | None]] = []
        try:
            listing = os.scandir(f"{self.root}/{here}")
        except (FileNotFoundError, NotADirectoryError):
            return found
        except OSError:
            return [(here, None)]
        with listing:
            for item in listing:
                name = item.name
                if name[0] == ".":
                    continue
                path = f"{here}/{name}"
                if (not name.isascii() or "\\" in name) and _shown(path) != path:
                    found.append((_shown(path), None))
                elif item.is_dir(follow_symlinks=False):
                    todo.append(path)
                else:
                    try:
                        seen = item.stat(follow_symlinks=False)
                    except OSError:
                        continue
                    found.append((path, _token(seen) if stat.S_ISREG(seen.st_mode) else None))
        return found

    def look(self, path: str) -> Token | None:
        try:
            found = os.lstat(f"{self.root}/{check_path(path)}")
        except OSError:
            return None
        return _token(found) if stat.S_ISREG(found.st_mode) else None

    def read(self, path: str, start: int = 0) -> tuple[bytes, Token]:
        try:
            file = self._open(check_path(path))
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(f"no file {path}") from None
        except OSError as error:
            flaw = "symlink" if error.errno in (errno.ELOOP, errno.EMLINK) else "unreadable"
            what = "is a symlink and is not followed" if flaw == "symlink" else error.strerror
            raise Damaged(f"{path}: {what}", flaw=flaw) from None
        try:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise Damaged(f"{path}: not a plain file", flaw="not-a-file")
            if found.st_size > MAX_BYTES:
                raise Damaged(f"{path}: {found.st_size} bytes are more than {MAX_BYTES}", flaw="too-large")
            if start:
                os.lseek(file, start, os.SEEK_SET)
            return read_rest(file, found.st_size), _token(found)
        except OSError as error:
            raise Damaged(f"{path}: {error.strerror}", flaw="unreadable") from None
        finally:
            os.close(file)

    def _open(self, path: str) -> int:
        where, _, name = path.rpartition("/")
        folder = self._folder(where.split("/") if where else [])
        try:
            return os.open(name, READ, dir_fd=folder)
        finally:
            os.close(folder)

    @contextmanager
    def reading(self) -> Iterator[Tree]:
        reader = _Reader(self)
        try:
            yield reader
        finally:
            reader.let_go()

    def _folder(self, parts: list[str], *, make: bool = False) -> int:
        """A descriptor of a folder below the home, each step opened without following symlinks."""
        here = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for part in parts:
            try:
                below = open_folder(part, here, missing_ok=make)
                if below is None:
                    make_folder(part, here)
                    below = os.open(part, FOLDER, dir_fd=here)
            finally:
                os.close(here)
            here = below
        return here

    # Writing

    @contextmanager
    def _place(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """A document's folder, open and under the lock, and its name there; trouble is told in a person's words."""
        parts = check_path(path).split("/")
        try:
            with self.lock():
                folder = self._folder(parts[:-1], make=make)
                try:
                    yield folder, parts[-1]
                finally:
                    os.close(folder)
        except OSError as error:
            if isinstance(error, FileNotFoundError) and not make:
                raise NotFound(f"no file {path}") from None
            raise cannot_write(path, error) from None

    def write(self, path: str, data: bytes, replacing: str | None = None) -> Token:
        with self._place(path, make=True) as (folder, name):
            return self._put(folder, name, path, data, replacing)

    def _put(self, folder: int, name: str, path: str, data: bytes, replacing: str | None) -> Token:
        temporary = f".otolith-{os.urandom(6).hex()}.tmp"
        file, placed = os.open(temporary, NEW, 0o600, dir_fd=folder), False
        try:
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(file, rest) :]
                if replacing is not None:
                    os.fchmod(file, mode_of(folder, name, path))
                if self._later.files is None or replacing is not None:  # what takes an old file's place is whole before it does
                    os.fsync(file)
            finally:
                os.close(file)
            if replacing is None:
                try:
                    os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
                except FileExistsError:
                    raise Conflict(f"{path} is already there", "nothing was overwritten") from None
                if self._later.files is not None:
                    self._later.files[path] = None
            else:
                self._swap(folder, temporary, name, path, replacing)
                placed = True
        finally:
            if not placed:  # renamed into place it is gone already
                unlink(temporary, folder)
        self._sync(folder, path)
        return _token(os.stat(name, dir_fd=folder, follow_symlinks=False))

    def _swap(self, folder: int, temporary: str, name: str, path: str, replacing: str) -> None:
        """Put the new file in the old one's place unless the old one is not what was read."""
        aside = f".otolith-{os.urandom(6).hex()}.old.tmp"
        if fingerprint(slurp(folder, name, path)) != replacing:
            raise moved_on(path)
        os.link(name, aside, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        try:
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            if fingerprint(slurp(folder, aside, path)) != replacing:
                os.rename(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
                raise moved_on(path)
        finally:
            unlink(aside, folder)

    def _sync(self, folder: int, path: str) -> None:
        if self._later.folders is not None:
            self._later.folders[path.rpartition("/")[0]] = None
        else:
            os.fsync(folder)

    def append(self, path: str, data: bytes, *, synced: bool = False) -> None:
        with self._place(path, make=True) as (folder, name):
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            file = os.open(name, flags, 0o600, dir_fd=folder)
            try:
                found = os.fstat(file)
                if not stat.S_ISREG(found.st_mode):
                    raise OSError(errno.EINVAL, "it is not a plain file")
                torn = found.st_size > 0 and os.pread(file, 1, found.st_size - 1) != b"\n"
                if os.write(file, b"\n" * torn + data) < torn + len(data):  # the next append closes the torn line
                    raise OSError(errno.ENOSPC, "the disk is full")
                if synced:
                    os.fsync(file)
            finally:
                os.close(file)
            if synced and not found.st_size:  # perhaps just made: its name must last as well
                self._sync(folder, path)

    def move(self, path: str, to: str) -> None:
        with self._place(path) as (old, name), self._place(to, make=True) as (new, target):
            try:
                os.link(name, target, src_dir_fd=old, dst_dir_fd=new, follow_symlinks=False)
            except FileExistsError:
                raise Conflict(f"{to} is already there", "nothing was moved") from None
            except FileNotFoundError:
                raise NotFound(f"no file {path}") from None
            os.fsync(new)
            os.unlink(name, dir_fd=old)
            os.fsync(old)

    def remove(self, path: str) -> None:
        with self._place(path) as (folder, name):
            os.unlink(name, dir_fd=folder)
            self._sync(folder, path)

    def tidy(self) -> list[str]:
        """Remove what a writer left behind that was killed; under the lock nobody is writing."""
        gone = []
        with self.lock():
            for here, folders, files in os.walk(self.root):
                folders[:] = [name for name in folders if name[0] != "."]
                for name in (name for name in files if name.startswith(".otolith-") and name.endswith(".tmp")):
                    os.unlink(f"{here}/{name}")
                    gone.append(os.path.relpath(f"{here}/{name}", self.root))
        return gone

    def names(self, folder: str) -> list[str]:
        try:
            here = self._folder([folder])
        except OSError:
            return []
        try:
            return sorted(os.listdir(here))
        finally:
            os.close(here)

    # Together

    def lock(self) -> AbstractContextManager[None]:
        return self._lock.held()

    @contextmanager
    def bulk(self) -> Iterator[None]:
        if self._later.files is not None:  # already inside one: it syncs at its own end
            yield
            return
        self._later.files = {}
        with self.together():
            try:
                yield
            finally:
                files, self._later.files = self._later.files, None
                self._each_synced(files, READ)

    @contextmanager
    def together(self) -> Iterator[None]:
        if self._later.folders is not None:
            yield
            return
        self._later.folders = {}
        try:
            yield
        finally:
            folders, self._later.folders = self._later.folders, None
            self._each_synced(folders, FOLDER)

    def _each_synced(self, paths: dict[str, None], how: int) -> None:
        try:
            for path in paths:
                try:
                    found = os.open(f"{self.root}/{path}", how)
                except FileNotFoundError:
                    continue  # written and removed within the batch
                try:
                    os.fsync(found)
                finally:
                    os.close(found)
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
            self._opened, self._last = self._folder(where.split("/") if where else []), where
        return os.open(name, READ, dir_fd=self._opened)

    def let_go(self) -> None:
        if self._opened >= 0:
            os.close(self._opened)
            self._opened = -1


def _shown(path: str) -> str:
    """The path as every layer above can hold it: whole Unicode text without a backslash."""
    return path.encode(errors="surrogateescape").decode(errors="replace").replace("\\", "\ufffd")
