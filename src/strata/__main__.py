"""`python -m strata` is `strata`."""

from strata.doors.cli import console

console()
