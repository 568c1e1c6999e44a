"""The logger `strata`: one line a verb. Where nobody has loaded Python's logging, nobody listens, and nothing is loaded."""

from __future__ import annotations

import sys
from typing import Any


def _tell(level: str, message: str, *values: Any) -> None:
    logging = sys.modules.get("logging")
    if logging is not None:
        getattr(logging.getLogger("strata"), level)(message, *values)


def debug(message: str, *values: Any) -> None:
    _tell("debug", message, *values)


def info(message: str, *values: Any) -> None:
    _tell("info", message, *values)


def warning(message: str, *values: Any) -> None:
    _tell("warning", message, *values)
