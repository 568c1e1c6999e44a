"""The tree as a folder on disk: atomic, durable, wary.

A write is a temporary file in the same folder, synced, then linked or renamed into place, then the folder is synced; only
then does it return. An update looks at the file once more under the lock, and at the file it has put aside, so that an
editor that slips in between is noticed and wins. Every folder on the way is opened without following symlinks.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from strata.errors import Conflict, Damaged, NotFound
from strata.files.lock import HomeLock, cannot_write
from strata.files.paths import SCANNED, SCANNED_FILES, check_path
from strata.files.tree import MAX_BYTES, Token, fingerprint

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_new = tuple.__new__  # three times as fast as calling the named tuple
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def _token(found: os.stat_result) -> Token:
    return _new(Token, (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino))


class DiskTree:
    """A home's folder. It is made by the first write, not by being opened."""

    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(os.path.expanduser(root))
        self._lock = HomeLock(self.root)
        self._unsynced: dict[str, None] | None = None

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
            folder = self._folder(check_path(path).split("/")[:-1])
            try:
                file = os.open(path.rsplit("/", 1)[-1], _READ, dir_fd=folder)
            finally:
                os.close(folder)
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(f"no file {path}") from None
        except OSError as error:
            flaw = "symlink" if error.errno in (errno.ELOOP, errno.EMLINK) else "unreadable"
            what = "is a symlink and is not followed" if flaw == "symlink" else error.strerror
            raise Damaged(f"{path}: {what}", flaw=flaw) from None
        with open(file, "rb", buffering=0) as opened:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise Damaged(f"{path}: not a plain file", flaw="not-a-file")
            if found.st_size > MAX_BYTES:
                raise Damaged(f"{path}: {found.st_size} bytes are more than {MAX_BYTES}", flaw="too-large")
            try:
                if start:
                    opened.seek(start)
                return opened.readall(), _token(found)
            except OSError as error:
                raise Damaged(f"{path}: {error.strerror}", flaw="unreadable") from None

    def _folder(self, parts: list[str], *, make: bool = False) -> int:
        """A descriptor of a folder below the home, each step opened without following symlinks."""
        here = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for part in parts:
            try:
                below = _open_folder(part, here, missing_ok=make)
                if below is None:
                    _make_folder(part, here)
                    below = os.open(part, _FOLDER, dir_fd=here)
            finally:
                os.close(here)
            here = below
        return here

    # Writing

    def write(self, path: str, data: bytes, replacing: str | None = None) -> Token:
        parts = check_path(path).split("/")
        try:
            with self.lock():
                folder = self._folder(parts[:-1], make=True)
                try:
                    return self._put(folder, parts[-1], path, data, replacing)
                finally:
                    os.close(folder)
        except OSError as error:
            raise cannot_write(path, error) from None

    def _put(self, folder: int, name: str, path: str, data: bytes, replacing: str | None) -> Token:
        temporary = f".strata-{os.urandom(6).hex()}.tmp"
        file = os.open(temporary, _NEW, 0o600, dir_fd=folder)
        try:
            with open(file, "wb", buffering=0) as opened:
                rest = memoryview(data)
                while rest:
                    rest = rest[opened.write(rest) :]
                if replacing is not None:
                    os.fchmod(file, _mode(folder, name, path))
                if self._unsynced is None:
                    os.fsync(file)
            if replacing is None:
                try:
                    os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
                except FileExistsError:
                    raise Conflict(f"{path} is already there", "nothing was overwritten") from None
                os.unlink(temporary, dir_fd=folder)
            else:
                self._swap(folder, temporary, name, path, replacing)
        except BaseException:
            _unlink(temporary, folder)
            raise
        self._sync(folder, path)
        return _token(os.stat(name, dir_fd=folder, follow_symlinks=False))

    def _swap(self, folder: int, temporary: str, name: str, path: str, replacing: str) -> None:
        """Put the new file in the old one's place unless the old one is not what was read."""
        aside = f".strata-{os.urandom(6).hex()}.old.tmp"
        if fingerprint(_slurp(folder, name, path)) != replacing:
            raise _moved_on(path)
        os.link(name, aside, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        try:
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            if fingerprint(_slurp(folder, aside, path)) != replacing:
                os.rename(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
                raise _moved_on(path)
        finally:
            _unlink(aside, folder)

    def _sync(self, folder: int, path: str) -> None:
        if self._unsynced is not None:
            self._unsynced[path] = None
        else:
            os.fsync(folder)

    def append(self, path: str, data: bytes, *, synced: bool = False) -> None:
        parts = check_path(path).split("/")
        try:
            with self.lock():
                folder = self._folder(parts[:-1], make=True)
                try:
                    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
                    file = os.open(parts[-1], flags, 0o600, dir_fd=folder)
                finally:
                    os.close(folder)
                with open(file, "r+b", buffering=0) as opened:
                    found = os.fstat(file)
                    if not stat.S_ISREG(found.st_mode):
                        raise OSError(errno.EINVAL, "it is not a plain file")
                    torn = found.st_size > 0 and os.pread(file, 1, found.st_size - 1) != b"\n"
                    if opened.write(b"\n" * torn + data) < torn + len(data):  # the next append closes the torn line
                        raise OSError(errno.ENOSPC, "the disk is full")
                    if synced:
                        os.fsync(file)
        except OSError as error:
            raise cannot_write(path, error) from None

    def move(self, path: str, to: str) -> None:
        source, target = check_path(path).split("/"), check_path(to).split("/")
        try:
            with self.lock():
                old = self._folder(source[:-1])
                try:
                    new = self._folder(target[:-1], make=True)
                    try:
                        os.link(source[-1], target[-1], src_dir_fd=old, dst_dir_fd=new, follow_symlinks=False)
                        os.fsync(new)
                        os.unlink(source[-1], dir_fd=old)
                        os.fsync(old)
                    finally:
                        os.close(new)
                finally:
                    os.close(old)
        except FileNotFoundError:
            raise NotFound(f"no file {path}") from None
        except FileExistsError:
            raise Conflict(f"{to} is already there", "nothing was moved") from None
        except OSError as error:
            raise cannot_write(to, error) from None

    def remove(self, path: str) -> None:
        parts = check_path(path).split("/")
        try:
            with self.lock():
                folder = self._folder(parts[:-1])
                try:
                    os.unlink(parts[-1], dir_fd=folder)
                    self._sync(folder, path)
                finally:
                    os.close(folder)
        except FileNotFoundError:
            raise NotFound(f"no file {path}") from None
        except OSError as error:
            raise cannot_write(path, error) from None

    def tidy(self) -> list[str]:
        """Remove what a writer left behind that was killed; under the lock nobody is writing."""
        gone = []
        with self.lock():
            for here, folders, files in os.walk(self.root):
                folders[:] = [name for name in folders if name[0] != "."]
                for name in (name for name in files if name.startswith(".strata-") and name.endswith(".tmp")):
                    os.unlink(f"{here}/{name}")
                    gone.append(os.path.relpath(f"{here}/{name}", self.root))
        return gone

    # Together

    def lock(self) -> AbstractContextManager[None]:
        return self._lock.held()

    @contextmanager
    def bulk(self) -> Iterator[None]:
        if self._unsynced is not None:  # already inside one: it syncs at its own end
            yield
            return
        self._unsynced = {}
        try:
            yield
        finally:
            paths, self._unsynced = self._unsynced, None
            try:
                self._sync_all(paths)
            except OSError as error:
                raise cannot_write("the batch", error) from None

    def _sync_all(self, paths: dict[str, None]) -> None:
        folders: dict[str, None] = {}
        for path in paths:
            folders[path.rpartition("/")[0]] = None
            try:
                file = os.open(f"{self.root}/{path}", _READ)
            except FileNotFoundError:
                continue  # written and removed within the batch
            try:
                os.fsync(file)
            finally:
                os.close(file)
        for name in folders:
            folder = self._folder(name.split("/") if name else [])
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def _shown(path: str) -> str:
    """The path as every layer above can hold it: whole Unicode text without a backslash."""
    return path.encode(errors="surrogateescape").decode(errors="replace").replace("\\", "\ufffd")


def _open_folder(name: str, parent: int, *, missing_ok: bool) -> int | None:
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except FileNotFoundError:
        if missing_ok:
            return None
        raise


def _make_folder(name: str, parent: int) -> None:
    try:
        os.mkdir(name, 0o700, dir_fd=parent)
    except FileExistsError:
        return
    os.fsync(parent)


def _mode(folder: int, name: str, path: str) -> int:
    try:
        return stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        raise _moved_on(path) from None


def _slurp(folder: int, name: str, path: str) -> bytes:
    try:
        file = os.open(name, _READ, dir_fd=folder)
    except FileNotFoundError:
        raise _moved_on(path) from None
    with open(file, "rb", buffering=0) as opened:
        return opened.readall()


def _unlink(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        return  # a left-over temporary file is hidden from every reader


def _moved_on(path: str) -> Conflict:
    return Conflict(f"{path} was changed by somebody else meanwhile", "read it again; nothing was overwritten")
