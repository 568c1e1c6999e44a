"""What users say to agents, kept as memos."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from otolith.home import Home
    from otolith.model.events import Session
    from otolith.model.memo import Memo


def keep_sayings(home: Home, told: Session) -> list[Memo]:  # noqa: ARG001
    """The memos that a session's new events became, or strengthened."""
    return []
