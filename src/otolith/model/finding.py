"""What Otolith reports besides its answers: a Finding, a Change, and lines of the logger `otolith`.

A finding is something in the home that wants a person's eye, with where and what to do; a change is what sync found by
comparing the versions of documents.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple


class Finding(NamedTuple):
    """One problem, named so that it can be mended."""

    path: str
    line: int | None
    code: str
    message: str
    remedy: str


class Change(NamedTuple):
    """What happened to a file since the index last saw it."""

    what: str  # added, edited, moved, removed, not-read
    path: str
    reason: str = ""  # why it was not read, as `check` says it


class Version(NamedTuple):
    """What a look at a document tells without reading it. Another stamp means: read it again."""

    stamp: bytes  # compared for equality only
    same: bytes  # the document's identity, which it keeps through a rename
    settled: bool  # False: so young at the look that it may change again under the same stamp


class _Log:
    """One line a verb. Where nobody has loaded Python's logging, nobody listens, and nothing is loaded."""

    def debug(self, message: str, *values: Any) -> None:
        self._report("debug", message, *values)

    def info(self, message: str, *values: Any) -> None:
        self._report("info", message, *values)

    def warning(self, message: str, *values: Any) -> None:
        self._report("warning", message, *values)

    def _report(self, level: str, message: str, *values: Any) -> None:
        logging = sys.modules.get("logging")
        if logging is not None:
            getattr(logging.getLogger("otolith"), level)(message, *values)


log = _Log()
