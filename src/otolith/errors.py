"""Every error Otolith raises on purpose, in one tree.

    OtolithError                exit  http
    ├── WrongUsage                2   400   the call itself is wrong: an option, a missing argument
    ├── NotFound                  3   404   no such record, topic, file
    ├── Invalid                   4   422   a value breaks a rule of its kind
    ├── Conflict                  5   409   the file moved on, or the name is taken
    ├── Damaged                   6   200   files that cannot be read were found
    ├── BrokenIndex               6   500   the index, a cache, cannot be read; it is rebuilt and asked again
    ├── CannotWrite               7   507   read-only home, full disk, failed sync
    ├── Provider                  8   502   an embedder or language model failed
    ├── Busy                      9   503   another process held the lock for too long
    └── NeedsConfirmation        10   428   too large a step to take without being confirmed

The message says what is wrong in one line; `hint` says what to do. A plain OtolithError is a bug (exit 1).
"""

from __future__ import annotations


class OtolithError(Exception):
    """The root: what the doors turn into one line and an exit code."""

    code = "bug"
    exit_code = 1
    http_status = 500

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class WrongUsage(OtolithError):
    """The call is wrong, whatever the home holds."""

    code, exit_code, http_status = "usage", 2, 400


class NotFound(OtolithError):
    """Nothing of that name is in the home."""

    code, exit_code, http_status = "not_found", 3, 404


class Invalid(OtolithError):
    """A value breaks a rule of its kind."""

    code, exit_code, http_status = "invalid", 4, 422


class Conflict(OtolithError):
    """Somebody else was there first; nothing was overwritten."""

    code, exit_code, http_status = "conflict", 5, 409


class Damaged(OtolithError):
    """A file that cannot be read was found; it was left as it is. `flaw` names the kind of damage."""

    code, exit_code, http_status = "damaged", 6, 200

    def __init__(self, message: str, hint: str = "", *, flaw: str = "unreadable",
                 line: int | None = None) -> None:
        super().__init__(message, hint)
        self.flaw = flaw
        self.line = line


class BrokenIndex(OtolithError):
    """The index cannot be read or is inconsistent. No file is: who catches Damaged does not mean this."""

    code, exit_code, http_status = "damaged", 6, 500


class CannotWrite(OtolithError):
    """The home cannot take the write."""

    code, exit_code, http_status = "cannot_write", 7, 507


class Provider(OtolithError):
    """An embedder or a language model did not do its part."""

    code, exit_code, http_status = "provider", 8, 502


class Busy(OtolithError):
    """Another process holds the home."""

    code, exit_code, http_status = "busy", 9, 503


class NeedsConfirmation(OtolithError):
    """A step that should not be taken without being confirmed."""

    code, exit_code, http_status = "needs_confirmation", 10, 428
