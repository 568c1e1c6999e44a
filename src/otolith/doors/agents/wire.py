"""The hook's end of the socket on which a process that already serves the home answers hooks.

One line each way: the event with who asks, and exactly what the hook would print; an empty line is nothing to
print. Whatever is not as it should be, the answer is None and the hook does its work itself: nobody there,
another user's socket, no answer in time, a server that hangs up because it is of another version or home.
Loads as little as possible, for it stands before every prompt.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

VERSION = 1
CONNECT_SECONDS, ANSWER_SECONDS = 0.05, 0.4
MOST_BYTES = 1 << 20  # of a line either way; what is longer a hook does itself
_ANSWER = '{"hookSpecificOutput": '  # as every answer begins; what else talks here is not ours
_LOCAL_PEERCRED = 1  # of macOS, at level 0


def ask(path: Path, message: Mapping[str, Any]) -> str | None:
    """What the process that listens there answers; None if nobody does, or not in time."""
    if not hasattr(socket, "AF_UNIX"):
        return None
    line = json.dumps({"v": VERSION, **message}).encode() + b"\n"
    if len(line) > MOST_BYTES:
        return None
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as wire:
            wire.settimeout(CONNECT_SECONDS)
            wire.connect(str(path))
            if peer_uid(wire) != os.getuid():
                return None
            return _exchange(wire, line, time.monotonic() + ANSWER_SECONDS)
    except (OSError, ValueError):  # also a path too long for a socket
        return None


def _exchange(wire: socket.socket, line: bytes, deadline: float) -> str | None:
    wire.settimeout(ANSWER_SECONDS)
    wire.sendall(line)
    answer = bytearray()
    while not answer.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0 or len(answer) > MOST_BYTES:
            return None
        wire.settimeout(left)
        piece = wire.recv(1 << 16)
        if not piece:  # it hung up in the middle, or would not answer
            return None
        answer += piece
    text = answer[:-1].decode()
    return text if not text or text.startswith(_ANSWER) else None


def peer_uid(wire: socket.socket) -> int:
    """Whose process is at the other end; -1 where the system does not tell."""
    if hasattr(socket, "SO_PEERCRED"):
        return int(struct.unpack("3i", wire.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])
    if sys.platform == "darwin":
        return int(struct.unpack_from("2I", wire.getsockopt(0, _LOCAL_PEERCRED, 76))[1])
    return -1
