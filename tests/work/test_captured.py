"""Made-up sessions through the hooks as an agent calls them, from transcript to memos and works."""

from __future__ import annotations

from bench.capture import measure, own_sessions


def test_captured_sessions_leave_what_matters_no_junk_no_secret_and_every_edited_file() -> None:
    rows = measure(own_sessions())

    assert rows == {"covered": "7 of 7", "things a session": rows["things a session"], "too long": "0", "junk kept": "0 of 4",
                    "secrets kept": "0 of 1", "edited files known to check-file": "3 of 3",
                    "assistant is the subject": rows["assistant is the subject"]}
    assert float(rows["things a session"]) <= 15
    assert rows["assistant is the subject"].startswith("0 of ")
