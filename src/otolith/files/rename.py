"""How a file gets a name that another has, or that nobody may have yet: the best way the system knows.

Linux can exchange two names, rename only to a name that is free, each in one step (renameat2), and hand a
file's bytes to the disk before it gets a name (sync_file_range); Python's os lacks all three. Elsewhere a
link is the next best; file systems without links (exFAT, SMB) are the last. Loaded by the first update, move
or batch, for ctypes takes time that no reader should pay.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import hashlib
import os
import time
from contextlib import suppress
from functools import cache
from typing import Any

from otolith.files.lock import NO_LINKS

FREE, EXCHANGE = 1, 2  # RENAME_NOREPLACE, RENAME_EXCHANGE
UNKNOWN = NO_LINKS | {errno.EINVAL}  # a sandbox may answer EPERM; where that is meant, the next way says so


WRITTEN = 7  # SYNC_FILE_RANGE_WAIT_BEFORE, _WRITE and _WAIT_AFTER
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
PATIENCE = 10  # looks, two thousandths of a second apart, at who writes into a file that is to be replaced
LOST = (errno.EIO, errno.ENOSPC, errno.EDQUOT)


@cache
def _system_call(name: str) -> Any:
    """A call of the C library that Python's os lacks; None where there is none."""
    try:
        return getattr(ctypes.CDLL(None, use_errno=True), name)
    except (AttributeError, OSError):
        return None


def write_out(file: int) -> None:
    """Hand a file's bytes to the disk, whose cache need not be flushed for it: a file system then keeps a
    name given afterwards only together with them. Where the call is not known, nothing is done.
    """
    call, all_of_it = _system_call("sync_file_range"), (ctypes.c_int64(0), ctypes.c_int64(0))
    if call and call(file, *all_of_it, WRITTEN) and (code := ctypes.get_errno()) in LOST:
        raise OSError(code, os.strerror(code))


def _rename(how: int, old: int, name: str, new: int, target: str) -> bool:
    """Rename between two open folders in one of these ways; False where the system does not know it."""
    call = _system_call("renameat2")
    if call is None:
        return False
    if call(old, os.fsencode(name), new, os.fsencode(target), how) == 0:
        return True
    code = ctypes.get_errno()
    if code in UNKNOWN:
        return False
    raise OSError(code, os.strerror(code), name)


def exchange(folder: int, name: str, other: str) -> bool:
    """Two names change places in one step; False where that is not known."""
    return _rename(EXCHANGE, folder, name, folder, other)


def exclusive_rename(old: int, name: str, new: int, target: str) -> bool:
    """A rename to a name that is free, in one step; False where that is not known."""
    return _rename(FREE, old, name, new, target)


def _link(old: int, name: str, new: int, target: str) -> bool:
    """Give a file a second name; False on a file system that has no such thing."""
    try:
        os.link(name, target, src_dir_fd=old, dst_dir_fd=new, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        return False
    return True


def take_name(old: int, name: str, new: int, target: str) -> None:
    """A rename to a name that is free, without links; where all else fails, an empty file claims it."""
    if exclusive_rename(old, name, new, target):
        return
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=new))
    try:
        os.rename(name, target, src_dir_fd=old, dst_dir_fd=new)
    except OSError:
        os.unlink(target, dir_fd=new)
        raise


def move_name(old: int, name: str, new: int, target: str) -> None:
    """Durably give a file another name, which must be free; only by links it has two for a moment."""
    if not exclusive_rename(old, name, new, target):
        if _link(old, name, new, target):
            os.fsync(new)
            os.unlink(name, dir_fd=old)
            os.fsync(old)
            return
        take_name(old, name, new, target)
    os.fsync(new)
    os.fsync(old)


def swap(folder: int, temporary: str, name: str, before: str, after: str) -> bool:
    """Put a file in the place of the one with the fingerprint `before`; False if that is not there any more.

    `after` is the new one's own fingerprint. What somebody else saves meanwhile wins, also who has opened the
    file and will write into it: the bytes would go into a file that has no name any more.
    """
    try:
        if _hash(folder, name) != before:
            return False
        if not exchange(folder, temporary, name):
            return _swap_in_steps(folder, temporary, name, before)
        writing = _open_to_write(folder, temporary, name)
        placed, taken = after, _hash(folder, temporary)
        if taken == before and not writing:
            return True
        while True:  # somebody saved: that goes back, unless something even newer comes out for it
            exchange(folder, temporary, name)
            returned = _hash(folder, temporary)
            if returned == placed:
                return False
            placed, taken = taken, returned
    except FileNotFoundError:
        pass
    return False


def _swap_in_steps(folder: int, temporary: str, name: str, before: str) -> bool:
    """The old file gets a second name first, which tells whether it was still the one that was read."""
    aside = f".otolith-{os.urandom(6).hex()}.old.tmp"
    linked = _link(folder, name, folder, aside)
    try:
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        if linked and _hash(folder, aside) != before:
            os.rename(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
            return False
        return True
    finally:
        with suppress(OSError):
            os.unlink(aside, dir_fd=folder)


def _open_to_write(folder: int, name: str, fresh: str) -> bool:
    """Whether somebody has a file open to write; most are done in an instant, which is waited for.

    Linux tells by refusing a lease. A file system that never grants one refuses it for a `fresh` file, too.
    """
    for _ in range(PATIENCE):
        if _leased(folder, name):
            return False
        time.sleep(0.002)
    return _leased(folder, fresh)


def _leased(folder: int, name: str) -> bool:
    """Whether nobody can write into a file now, or nobody can tell."""
    if (lease := getattr(fcntl, "F_SETLEASE", None)) is None:
        return True
    file = os.open(name, READ, dir_fd=folder)
    try:
        fcntl.fcntl(file, lease, fcntl.F_RDLCK)
    except OSError as error:
        return error.errno != errno.EAGAIN
    finally:
        os.close(file)
    return True


def _hash(folder: int, name: str) -> str:
    """The fingerprint of a file's bytes."""
    digest = hashlib.sha256()
    file = os.open(name, READ, dir_fd=folder)
    try:
        while data := os.read(file, 1 << 20):
            digest.update(data)
    finally:
        os.close(file)
    return digest.hexdigest()
