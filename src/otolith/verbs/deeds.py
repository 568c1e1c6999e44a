"""What agents did, kept as works."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from otolith.home import Home
    from otolith.model.events import Session
    from otolith.model.work import Work


def keep_deeds(home: Home, told: Session) -> list[Work]:  # noqa: ARG001
    """The works that a session's requests became."""
    return []
