"""What a prompt brings up by itself: what stands out, the newer of two, the answer and not the question."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from otolith import Memory
from otolith.doors.agents import hooks
from otolith.recall.unasked import readable, tell, worth_asking

NOTES = {
    "Staging database": "Staging Postgres is reached through pgbouncer at port 6432, database orders_stg.",
    "How invoices are numbered": "Invoice numbers come from a sequence per country and never have gaps.",
    "Flaky upload test": "test_upload_resume shares a temporary bucket with other workers; mark it serial.",
    "Icons": "Icons are drawn as inline SVG with currentColor; no icon font.",
    "Retries of the mailer": "The mailer retries five times with a doubling pause and then parks the message.",
    "Time zones": "All times are kept in UTC and shown in the zone of the customer.",
    "Feature flags": "Flags live in flags.yaml and are removed two weeks after a launch.",
}


@pytest.fixture
def known(home: Path) -> Iterator[Memory]:
    with Memory(home) as mem:
        for title, text in NOTES.items():
            mem.note(title, text, project="shop")
        yield mem


def hook(home: Path, folder: Path, prompt: str, session: str = "s1") -> str:
    said = hooks.run("UserPromptSubmit", json.dumps(
        {"prompt": prompt, "session_id": session, "cwd": str(folder)}).encode(), str(home))
    return str(json.loads(said)["hookSpecificOutput"]["additionalContext"]) if said else ""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("OTOLITH_PROJECT")
    folder = tmp_path / "code" / "shop"
    for part in ("objects", "refs"):
        (folder / ".git" / part).mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
    return folder


def test_a_prompt_brings_the_record_that_stands_out_and_nothing_else(known: Memory, home: Path, shop: Path) -> None:
    told = hook(home, shop, "test_upload_resume failed again on main, it passes when I run it alone. Find out why.")

    assert "mark it serial" in told
    assert sum(text[:25] in told for text in NOTES.values()) == 1


def test_a_long_prompt_is_asked_as_a_whole(known: Memory, home: Path, shop: Path) -> None:
    told = hook(home, shop, "Good morning. The accountant called about the new branch in Norway, which opens in "
                "spring. Please add the country to the list, translate the templates, and see to it that the invoice "
                "numbers of that country are right from the first invoice on, without any gaps in the sequence.")

    assert "never have gaps" in told


@pytest.mark.parametrize("prompt", [
    "ok go on", "run the tests", "yes please", "commit and push", "now fix the lint", "thanks, looks good",
    "try again", "Write a haiku about autumn leaves for my grandmother's birthday card.",
])
def test_steering_and_foreign_prompts_bring_nothing(known: Memory, home: Path, shop: Path, prompt: str) -> None:
    assert hook(home, shop, prompt) == ""


def test_a_short_prompt_is_read_with_the_one_before_it(known: Memory, home: Path, shop: Path) -> None:
    assert "5432" not in hook(home, shop, "I need a connection to the staging Postgres database", "s2")

    assert "port 6432" in hook(home, shop, "which port?", "s2")
    assert hook(home, shop, "which port?", "another") == ""


def test_of_two_that_say_much_the_same_the_newer_is_told(known: Memory, home: Path, shop: Path) -> None:
    known.note("Staging database, new", "Staging Postgres is reached directly at port 5439, database orders_stg.",
               project="shop")

    told = hook(home, shop, "give me the psql line for the staging postgres database, with the right port")

    assert "5439" in told
    assert "6432" not in told


def test_what_a_session_was_given_is_not_told_again(known: Memory, home: Path, shop: Path) -> None:
    asked = "how does the mailer retry a message that cannot be sent?"

    assert "doubling pause" in hook(home, shop, asked, "s1")
    assert hook(home, shop, "and please say how the mailer retries a message once more", "s1") == ""
    assert "doubling pause" in hook(home, shop, asked, "s2")


def test_a_question_asked_before_brings_its_answer(known: Memory, home: Path, shop: Path) -> None:
    known.log([{"role": "user", "content": "How can I look inside a distroless pod, there is no shell in it?"},
               {"role": "assistant", "content": "kubectl debug -it POD --image=busybox --target=app gives you one."}],
              project="shop", session="earlier")

    told = hook(home, shop, "how do I get a shell inside a distroless pod?")

    assert "kubectl debug" in told
    assert "there is no shell in it?" not in told


def test_a_question_that_got_no_answer_brings_none(known: Memory, home: Path, shop: Path) -> None:
    known.log([{"role": "user", "content": "Why does the barcode printer skip every seventh label?"},
               {"role": "assistant", "content": "I do not know yet; let me read the code first."}], topic="shop", project="shop", session="s-0")

    assert hook(home, shop, "why does the barcode printer skip every seventh label?") == ""


def test_neither_another_project_nor_this_session_is_told(known: Memory, home: Path, shop: Path) -> None:
    asked = "which cluster does the crawler of the price robot run on?"
    known.note("Crawler", "The crawler of the price robot runs on the cluster willow.", project="robots")
    known.log([{"role": "user", "content": "The crawler of the price robot runs on the cluster maple."}],
              project="shop", session="s1")

    assert hook(home, shop, asked, "s1") == ""
    assert "maple" in hook(home, shop, asked, "s2")


def test_of_a_pasted_log_the_error_is_read() -> None:
    log = ("the importer died\n\n2026-11-09T04:31:07Z INFO start\n  File \"/app/reader.py\", line 23, in rows\n"
           "    for row in rows:\nUnicodeDecodeError: 'utf-8' codec can't decode byte 0xfc")

    assert readable(log) == "the importer died\n\nUnicodeDecodeError: 'utf-8' codec can't decode byte 0xfc"


def test_without_vectors_words_have_to_cover_half_of_the_prompt(home: Path) -> None:
    from otolith.config import load
    from otolith.files.disk import open_tree

    tree = open_tree(str(home))
    with Memory(tree, config=load(tree).replace(provider="none")) as mem:
        for title, text in NOTES.items():
            mem.note(title, text, project=mem.home.config.project, session="earlier")

        assert [offer.title for offer in tell(mem.home, "icons drawn inline with currentColor?")] == ["Icons"]
        assert tell(mem.home, "where are the quarterly numbers of the warehouse drawn from?") == []


@pytest.mark.parametrize(("prompt", "before", "asks"), [
    ("ok", "", False), ("which port?", "", False), ("which port?", "connect to the staging database", True),
    ("how is the mailer retried?", "", True), ("", "", False),
    ("ok, proceed", "connect to the staging database", False), ("do it again", "connect to the database", False)])
def test_what_is_worth_asking(prompt: str, before: str, asks: Any) -> None:
    assert bool(worth_asking(prompt, before)) is asks
