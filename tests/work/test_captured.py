"""Made-up sessions through the hooks as an agent calls them, from transcript to memos and works."""

from __future__ import annotations

from bench.capture import measure
from bench.session_scripts import read_scripts


def test_captured_sessions_leave_what_matters_little_junk_no_secret_and_every_edited_file() -> None:
    rows = measure(read_scripts())

    assert (rows["too long"], rows["secrets kept"], rows["edited files known to check-file"]) == ("0", "0 of 3", "32 of 32")
    assert float(rows["things a session"]) <= 15
    assert rows["assistant is the subject"].startswith("0 of ")
    assert int(rows["covered"].partition(" ")[0]) >= 64, "of 68"
    assert int(rows["junk kept"].partition(" ")[0]) <= 7, "of 55"
