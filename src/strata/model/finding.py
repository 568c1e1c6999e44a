"""Finding: something in the home that wants a person's eye, with where and what to do. Change: what sync found."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """One problem, named so that it can be mended."""

    path: str
    line: int | None
    code: str
    message: str
    remedy: str


class Change(NamedTuple):
    """What happened to a file since the index last saw it."""

    what: str  # added, edited, moved, removed
    path: str
