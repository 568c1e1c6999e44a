"""`python -m otolith` is `otolith`."""

from otolith.doors.cli import console

console()
