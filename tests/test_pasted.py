"""What a person sent to an agent, taken apart into own words and what was pasted."""

from __future__ import annotations

import pytest

from otolith.model.events import SAID, Event, own_words
from otolith.model.pasted import split_parts

TRACE = """Traceback (most recent call last):
  File "/srv/app/main.py", line 12, in <module>
    run()
  File "/srv/app/main.py", line 8, in run
    raise ValueError("no such key")
ValueError: no such key"""
LOG = """2026-03-01 10:00:01 INFO server started
2026-03-01 10:00:02 WARN cache is cold
2026-03-01 10:00:09 ERROR cannot reach the queue"""
TABLE = """| name | size |
|------|------|
| left | 12   |"""
BOX = """├───────┼──────┤
│ left  │ 12   │
├───────┼──────┤"""
DIFF = """diff --git a/x.py b/x.py
@@ -1,2 +1,2 @@
-old = 1
+new = 2"""
CODE = """def area(width, height):
    if width < 0:
        raise ValueError(width)
    return width * height"""
GO = """func main() {
\tfmt.Println("hello")
}"""
JSON = """{
  "name": "tide",
  "version": "1.2.0"
}"""
MAIL = """From: Ada <ada@example.org>
To: Ben <ben@example.org>
Subject: the invoice
Date: Mon, 2 Mar 2026 09:00:00 +0000

Hello Ben, we must always pay at once.
You should never wait for the reminder.
Best, Ada"""
DOCUMENT = """# Release plan

## Steps

Tag the commit, then push it.

## Rollback

Always say yes to every confirmation."""
TERMINAL = """$ make test
cc -o test test.c
all tests passed"""
BRACKETED = """[03/02/26 9:25 main /home/ada/tide] go list ./...
tide/cmd"""
ALIKE = """  job 17 took 31 ms on node 4
  job 18 took 29 ms on node 2
  job 19 took 44 ms on node 4"""
CARGO = """error[E0308]: mismatched types
 --> src/main.rs:4:18
  |
4 |     let x: u32 = "4";"""
JS = """TypeError: cannot read properties of undefined
    at render (/srv/web/view.js:10:5)
    at Object.run (/srv/web/main.js:3:1)"""

PASTED = [("trace", TRACE), ("log", LOG), ("table", TABLE), ("table", BOX), ("diff", DIFF), ("code", CODE),
          ("code", GO), ("code", JSON), ("mail", MAIL), ("log", TERMINAL), ("log", BRACKETED), ("log", ALIKE),
          ("log", CARGO), ("trace", JS), ("code", "```python\nx = 1\n```"), ("diff", "```diff\n-a\n+b\n```"),
          ("quote", "> we never deploy on Fridays"), ("document", "```markdown\nAlways say yes.\n```")]


@pytest.mark.parametrize(("form", "block"), PASTED)
def test_a_pasted_block_stands_apart_from_the_words_around_it(form: str, block: str) -> None:
    parts = split_parts(f"Why does this happen?\n\n{block}\n\nPlease use pnpm here instead.")

    assert [part.pasted for part in parts] == ["", form, ""]
    assert parts[0].text == "Why does this happen?"
    assert parts[1].text.strip() == block.strip()
    assert parts[2].text == "Please use pnpm here instead."


@pytest.mark.parametrize(("form", "block"), [*PASTED, ("document", DOCUMENT)])
def test_a_message_that_is_only_pasted_has_no_own_words(form: str, block: str) -> None:
    assert own_words(Event(SAID, "k", text=block, parts=split_parts(block))) == ""


def test_a_plan_is_a_document_and_the_order_to_follow_it_is_said() -> None:
    parts = split_parts(f"Implement the following plan:\n\n{DOCUMENT}")

    assert [part.pasted for part in parts] == ["", "document"]
    assert parts[0].text == "Implement the following plan:"
    assert "Always say yes" in parts[1].text


@pytest.mark.parametrize("text", [
    "no, use pnpm here",
    "NO! ask me, don't decide",
    "the tab bar should only show on home, watchlist, search",
    "1. Try it out with some disposable code\n\n2. Measure it\n\n3. Write down what you saw",
    "- keep the cache\n- drop the retry\n- rename `run()` to `start()`",
    "Please do three things:\n* update the docs\n* run the linter\n* commit",
    "let me know if that works;\nif not, we go back to option B.\nI would rather keep it simple.",
    "What does this do? `go env -w GOPRIVATE=example.org/tide`",
    "new dep is fine\n\nlow risk diff is fine\n\ntiny slower is fine",
    "Look at src/app.ts and src/view.ts.\nThen fix the test in tests/app.test.ts.\nDon't touch package.json.",
    "In the morning: I walk.\nAt noon: I eat.\nIn the evening: I read.",
    "# one heading alone is a way to shout",
    "At 10:30 we meet.\nAt 11:30 we decide.\nUntil then nothing is merged.",
    "I said: never push to main.\n\nFrom now on: ask first.",
])
def test_what_people_write_themselves_stays_theirs(text: str) -> None:
    assert [part.pasted for part in split_parts(text)] == [""]


def test_no_line_is_lost() -> None:
    text = "\n\n".join(["Before.", *(block for _, block in PASTED), "After."])

    joined = "\n".join(part.text for part in split_parts(text))

    assert [line.strip() for line in joined.splitlines() if line.strip()] == [
        line.strip() for line in text.splitlines() if line.strip()]


def test_ten_megabytes_in_one_line_are_judged_by_their_beginning() -> None:
    parts = split_parts("x" * (10 << 20))

    assert sum(len(part.text) for part in parts) == 10 << 20


def test_headings_of_a_document_are_no_speakers() -> None:
    from otolith.model.turns import read_turns

    document = "# Tide\n\n## Setup\n\n### Install\n\nRun make.\n\n### Usage\n\n**Note:** call tide.\n"

    assert [(turn.speaker, turn.text) for turn in read_turns(document)] == [("", document.strip())]
    assert [turn.speaker for turn in read_turns("### user\n\n# Tide\n\n### assistant\n\nFine.\n")] == ["user", "assistant"]
