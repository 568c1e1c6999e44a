"""A disk that remembers every write and every flush, so that the power can be cut afterwards at any of them.

A file system is made in an image file. A small FUSE server of our own is mounted over that file; the kernel's
loop device lies on the mounted file, the file system on the loop device. Each block the file system writes and
each barrier it waits for passes the server, which does it and writes it down. A cut takes the image as it was
made, all writes up to the last flush before the cut, and of those after it any that the cut's name draws: a
disk with a cache may have kept them or not, in any order, the last one torn at a sector. Needs root.
"""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

SECTOR = 512
MAX_WRITE = 1 << 20
MAKE = {
    "ext4": (32, ["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"]),
    "xfs": (300, ["mkfs.xfs", "-q", "-f", "-K"]),
    "btrfs": (128, ["mkfs.btrfs", "-q", "-f", "-K"]),
}
MARK = struct.Struct("=cqi")  # what it is, where, how long: w a write, f a flush, a an acknowledgement


class Event(NamedTuple):
    kind: str
    offset: int
    data: bytes


def possible(system: str) -> bool:
    """Whether this machine lets us make, mount and record such a file system."""
    known = Path("/proc/filesystems").read_text().split() if Path("/proc/filesystems").exists() else []
    return (os.geteuid() == 0 and system in known and "fuse" in known and os.path.exists("/dev/fuse")
            and os.path.exists("/dev/loop-control") and shutil.which(MAKE[system][1][0]) is not None)


def make(system: str, image: Path) -> None:
    megabytes, command = MAKE[system]
    with image.open("wb") as file:
        file.truncate(megabytes << 20)
    subprocess.run([*command, str(image)], check=True, capture_output=True)


@contextmanager
def mounted(system: str, image: Path, place: Path) -> Iterator[None]:
    """The image's file system at a place; whatever its journal holds is replayed."""
    place.mkdir(exist_ok=True)
    options = "loop,noatime" + (",nouuid" if system == "xfs" else "")
    subprocess.run(["mount", "-t", system, "-o", options, str(image), str(place)], check=True, capture_output=True)
    try:
        yield
    finally:
        for _ in range(50):
            if subprocess.run(["umount", str(place)], check=False, capture_output=True).returncode == 0:
                break
            time.sleep(0.1)


@contextmanager
def recorded(system: str, image: Path, place: Path, log: Path) -> Iterator[int]:
    """The same, with every block written down; yields a descriptor to `acknowledge` with."""
    over = image.with_name("recorded")
    over.touch()
    log.touch()
    wire = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    _mount("otolith", str(over), "fuse", f"fd={wire},rootmode=100000,user_id=0,group_id=0")
    server = os.fork()
    if server == 0:
        try:
            _serve(wire, image, log)
        finally:
            os._exit(0)
    os.close(wire)
    notes = os.open(log, os.O_WRONLY | os.O_APPEND)
    try:
        with mounted(system, over, place):
            yield notes
    finally:
        os.close(notes)
        for _ in range(50):
            if subprocess.run(["umount", str(over)], check=False, capture_output=True).returncode == 0:
                break
            time.sleep(0.1)
        with suppress(ChildProcessError):
            os.waitpid(server, 0)


def acknowledge(notes: int, what: bytes) -> None:
    """Write down that something was acknowledged, after all that was written for it."""
    os.write(notes, MARK.pack(b"a", 0, len(what)) + what)


def read(log: Path) -> list[Event]:
    data, at, events = log.read_bytes(), 0, []
    while at < len(data):
        kind, offset, length = MARK.unpack_from(data, at)
        at += MARK.size
        events.append(Event(kind.decode(), offset, data[at : at + length]))
        at += length
    return events


class Cut(NamedTuple):
    """A moment and the luck of what the disk's cache still held: none, all, or some of it."""

    at: int
    luck: str
    seed: int


def power_off(base: Path, events: list[Event], cut: Cut, image: Path) -> None:
    """The image as the disk has it after the cut."""
    draw = random.Random(cut.seed)
    last = max((at for at in range(cut.at) if events[at].kind == "f"), default=0)
    kept = [event for event in events[:last] if event.kind == "w"]
    loose = [event for event in events[last : cut.at] if event.kind == "w"]
    if cut.luck == "some":
        loose = [event for event in loose if draw.random() < 0.5]
        draw.shuffle(loose)
    elif cut.luck == "none":
        loose = []
    if loose and cut.luck != "none":
        offset, data = loose[-1].offset, loose[-1].data
        loose[-1] = Event("w", offset, data[: SECTOR * draw.randrange(len(data) // SECTOR + 1)])
    subprocess.run(["cp", "--sparse=always", "--reflink=auto", str(base), str(image)], check=True)
    with image.open("r+b") as file:
        for event in (*kept, *loose):
            file.seek(event.offset)
            file.write(event.data)


# The server: one file, which is the root of its file system

_IN, _OUT = struct.Struct("=IIQQIIII"), struct.Struct("=IiQ")
_GETATTR, _SETATTR, _OPEN, _READ, _WRITE, _STATFS, _RELEASE, _FSYNC = 3, 4, 14, 15, 16, 17, 18, 20
_FLUSH, _INIT, _FORGET, _INTERRUPT, _DESTROY, _BATCH_FORGET = 25, 26, 2, 36, 38, 42


def _mount(source: str, target: str, system: str, options: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source.encode(), target.encode(), system.encode(), 0, options.encode()):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), target)


def _serve(wire: int, image: Path, log: Path) -> None:
    """Answer the kernel until the file is unmounted."""
    disk, notes = os.open(image, os.O_RDWR), os.open(log, os.O_WRONLY | os.O_APPEND)
    size = os.fstat(disk).st_size
    attributes = struct.pack("=QQQQQQIIIIIIIIII", 1, size, size >> 9, 0, 0, 0, 0, 0, 0, 0o100600, 1, 0, 0, 0, 4096, 0)
    while True:
        try:
            request = os.read(wire, MAX_WRITE + 8192)
        except OSError:  # unmounted
            return
        _, code, unique, *_ = _IN.unpack_from(request)
        body = memoryview(request)[_IN.size :]
        answer, error = b"", 0
        if code == _INIT:
            answer = struct.pack("=IIIIHHIIHHII", 7, 31, 1 << 17, 1 << 22, 16, 12, MAX_WRITE, 1, 256, 0, 0, 0) + bytes(24)
        elif code in (_GETATTR, _SETATTR):
            answer = struct.pack("=QII", 3600, 0, 0) + attributes
        elif code == _OPEN:
            answer = struct.pack("=QIi", 0, 0, 0)
        elif code == _READ:
            _, offset, length = struct.unpack_from("=QQI", body)
            answer = os.pread(disk, length, offset)
        elif code == _WRITE:
            _, offset, length = struct.unpack_from("=QQI", body)
            data = bytes(body[40 : 40 + length])
            os.pwrite(disk, data, offset)
            os.write(notes, MARK.pack(b"w", offset, length) + data)
            answer = struct.pack("=II", length, 0)
        elif code == _FSYNC:
            os.write(notes, MARK.pack(b"f", 0, 0))
        elif code == _STATFS:
            answer = struct.pack("=QQQQQIIII", size >> 12, 0, 0, 1, 0, 4096, 255, 4096, 0) + bytes(24)
        elif code in (_FORGET, _BATCH_FORGET, _INTERRUPT):
            continue
        elif code not in (_RELEASE, _FLUSH, _DESTROY):
            error = -38  # ENOSYS
        with suppress(OSError):
            os.write(wire, _OUT.pack(_OUT.size + len(answer), error, unique) + answer)
        if code == _DESTROY:
            return
