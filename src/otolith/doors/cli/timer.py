"""What runs upkeep every night: a systemd user timer, or a cron line. Text only; who writes it decides the command."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from hashlib import sha256


def unit_files(home: str, command: Sequence[str]) -> dict[str, str]:
    """File name → content of the service and its timer; two homes have two timers."""
    name = f"otolith-upkeep-{sha256(home.encode()).hexdigest()[:8]}"
    service = (f"[Unit]\nDescription=Otolith upkeep of {_escaped(home)}\n\n[Service]\nType=oneshot\nNice=10\n"
               f"ExecStart={' '.join(_word(part) for part in command)}\n")
    timer = (f"[Unit]\nDescription=Otolith upkeep of {_escaped(home)}, daily\n\n[Timer]\nOnCalendar=daily\n"
             "RandomizedDelaySec=15min\nPersistent=true\n\n[Install]\nWantedBy=timers.target\n")
    return {f"{name}.service": service, f"{name}.timer": timer}


def cron_line(command: Sequence[str]) -> str:
    """The same for cron, where % means a line break."""
    return f"17 3 * * * {shlex.join(command)}".replace("%", "\\%")


def _word(part: str) -> str:
    """One word of ExecStart: systemd reads % and $ as its own, quotes and backslashes as C does."""
    quoted = _escaped(part).replace("$", "$$")
    return quoted if quoted.isascii() and quoted.replace("/", "").replace("-", "").replace("_", "").replace(".", "").isalnum() \
        else f'"{quoted}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", " ")
