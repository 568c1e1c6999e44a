"""Files of other programs, changed safely: planned as values, shown as a diff, written whole or not at all.

Nothing here knows what the files mean. A file that is no longer what the plan saw is not overwritten; modes
are kept; a link stays a link, and one that leads out of the place it was asked for is refused.
"""

from __future__ import annotations

import difflib
import os
import stat
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from otolith.errors import CannotWrite, Conflict, Invalid


@dataclass(frozen=True, kw_only=True)
class Edit:
    """What one file holds and what it shall hold; None stands for no file.

    `mode` is for a file that is new.
    """

    path: Path
    before: bytes | None
    after: bytes | None
    mode: int = 0o600


def diff(edits: Iterable[Edit]) -> str:
    """What would change, as a unified diff."""
    parts: list[str] = []
    for edit in edits:
        old, new = ((side or b"").decode("utf-8", "replace").splitlines(keepends=True)
                    for side in (edit.before, edit.after))
        names = ("/dev/null" if edit.before is None else str(edit.path), "/dev/null" if edit.after is None
                 else str(edit.path))
        for line in difflib.unified_diff(old, new, *names):
            parts.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(parts)


def apply(edits: Sequence[Edit]) -> None:
    """Write the edits, each whole or not at all, and none if a file is no longer what the plan saw."""
    for edit in edits:
        if read_file(edit.path) != edit.before:
            raise Conflict(f"{edit.path} changed in the meantime; nothing was written",
                           hint="run the command again")
    staged: list[tuple[str, Edit]] = []
    try:
        for edit in edits:
            if edit.after is not None:
                staged.append((_stage(edit), edit))
        while staged:
            temporary, edit = staged[0]
            os.replace(temporary, edit.path)
            staged.pop(0)
        for edit in edits:
            if edit.after is None:
                edit.path.unlink(missing_ok=True)
    except OSError as error:
        raise CannotWrite(
            f"{error.filename or 'the settings'} cannot be written: {error.strerror}") from error
    finally:
        for temporary, _ in staged:
            Path(temporary).unlink(missing_ok=True)


def follow(root: Path, path: Path) -> Path:
    """The file itself, so that a link to it stays a link; one that leads out of the root is refused."""
    try:
        real, top = path.resolve(), root.resolve()
    except (OSError, RuntimeError) as error:
        raise Invalid(f"{path} cannot be followed: {error}") from None
    if not real.is_relative_to(top):
        raise Invalid(f"{path} is a link to {real}, outside {root}; nothing was changed",
                      hint="edit that file by hand")
    return real


def read_file(path: Path) -> bytes | None:
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise Invalid(f"{path} is not a file; nothing was changed")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}; nothing was changed") from None


def _stage(edit: Edit) -> str:
    """A synced file beside the one to replace, with the same mode."""
    edit.path.parent.mkdir(parents=True, exist_ok=True)
    mode = edit.mode if edit.before is None else stat.S_IMODE(edit.path.stat().st_mode)
    descriptor, temporary = tempfile.mkstemp(prefix=".otolith-", dir=edit.path.parent)
    with os.fdopen(descriptor, "wb") as out:
        out.write(edit.after or b"")
        out.flush()
        os.fchmod(out.fileno(), mode)
        os.fsync(out.fileno())
    return temporary
