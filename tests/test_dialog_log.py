"""Logging a dialog: its forms, its three files, its topic, and everything that is no dialog."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import otolith
from conftest import Clock, Ran
from otolith.errors import Conflict, Invalid, NotFound
from otolith.memory import Memory

MESSAGES = [{"role": "user", "content": "I live in Lyon. I am a vegan."},
            {"role": "assistant", "content": "Noted."},
            {"role": "user", "content": "I work at Acme."}]


def said(entry: object) -> set[str]:
    return {f"{fact.relation} {fact.object}" for fact in entry.facts}  # type: ignore[attr-defined]


@pytest.mark.clause("dialog-23", "dialog-24", "dialog-25", "dialog-26", "dialog-34")
def test_logging_leaves_three_files_and_an_audit_line(mem: Memory, home: Path) -> None:
    entry = mem.log(MESSAGES, topic="startup")

    folder = home / "topics" / "startup" / entry.id
    assert sorted(path.name for path in folder.iterdir()) == ["meta.json", "raw.md", "summary.json"]
    assert "I live in Lyon." in (folder / "raw.md").read_text()
    assert json.loads((folder / "meta.json").read_text())["topic"] == "startup"
    assert json.loads((folder / "summary.json").read_text())["facts"]
    line = json.loads((home / "index" / "audit.log").read_text().splitlines()[-1])
    assert (line["verb"], line["id"]) == ("logged", entry.id)
    assert "Lyon" not in json.dumps(line)


@pytest.mark.clause("dialog-34", "dialog-35", "dialog-36")
def test_the_seeds_three_classes_climb_the_ladder(home: Path) -> None:
    with otolith.WritePipeline(home) as pipeline:
        entry = pipeline.write("User: I live in Lyon.", topic="life")
    with otolith.TopicMemoryBuilder(home) as builder:
        topic = builder.build("life")
    with otolith.GlobalMemoryBuilder(home) as builder_of_all:
        page = builder_of_all.build()

    assert entry.facts[0].object == "Lyon"
    assert topic.facts[0].entry_id == entry.id
    assert page.do_not_forget[0]["fact_id"] == topic.facts[0].id


@pytest.mark.clause("dialog-22")
def test_meta_and_summary_say_their_schema(mem: Memory, home: Path) -> None:
    entry = mem.log(MESSAGES, topic="startup")

    folder = home / "topics" / "startup" / entry.id
    assert json.loads((folder / "meta.json").read_text())["schema"] == "entry_meta.v1"
    assert json.loads((folder / "summary.json").read_text())["schema"] == "entry_summary.v1"


@pytest.mark.clause("dialog-07", "dialog-08", "dialog-09", "dialog-10", "dialog-12")
def test_a_fact_has_the_seeds_fields(mem: Memory, home: Path) -> None:
    entry = mem.log(MESSAGES, topic="startup", created="2026-02-01T10:00:00Z")

    kept = json.loads((home / "topics" / "startup" / entry.id / "summary.json").read_text())["facts"]
    lives = next(fact for fact in kept if fact["object"] == "Lyon")
    assert (lives["subject"], lives["relation"], lives["type"]) == ("user", "lives in", "identity")
    assert lives["time_span"] in ("short_term", "medium_term", "current", "long_term", "future")
    assert 0 < lives["confidence"] <= 1
    assert lives["user_fact_score"] is None
    assert (lives["entry_id"], lives["entry_ts"], lives["turn"]) == (entry.id, "2026-02-01T10:00:00Z", 1)


@pytest.mark.clause("dialog-37", "dialog-01", "dialog-41")
def test_no_model_and_no_network_are_needed(mem: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    monkeypatch.setattr(socket, "socket", None)
    entry = mem.log(MESSAGES, topic="startup")
    mem.upkeep()

    assert entry.summary is not None
    assert entry.summary.made_by == "rules-1"
    assert mem.global_memory().do_not_forget


@pytest.mark.clause("dialog-04")
def test_everything_made_is_plain_json_and_markdown(mem: Memory, home: Path) -> None:
    mem.log(MESSAGES, topic="startup")
    mem.build_topic("startup")
    mem.build_global()

    for path in (home / "topics").rglob("*"):
        if path.is_file():
            assert path.suffix in (".json", ".md")
            text = path.read_text()
            assert path.suffix == ".md" or isinstance(json.loads(text), dict)


@pytest.mark.parametrize("dialog", [
    "User: I live in Lyon.\nAssistant: Nice!\nUser: I work at Acme.",
    "**User:** I live in Lyon.\n\n**Assistant:** Nice!\n\n**User:** I work at Acme.",
    "### User\n\nI live in Lyon.\n\n### Assistant · 2026-02-01T10:00:00Z\n\nNice!\n\n### User\n\nI work at Acme.",
    json.dumps([{"role": "user", "content": "I live in Lyon."}, {"role": "user", "content": "I work at Acme."}]),
    json.dumps({"messages": [{"speaker": "Ann", "text": "I live in Lyon."}, {"speaker": "Ann", "text": "I work at Acme."}]}),
    ('{"type":"user","message":{"role":"user","content":"I live in Lyon."},"timestamp":"2026-02-01T10:00:00Z"}\n'
     '{"type":"summary","summary":"x"}\n'
     '{"type":"user","message":{"role":"user","content":[{"type":"text","text":"I work at Acme."}]}}\n'),
    "I live in Lyon. I work at Acme.",
], ids=["plain", "bold", "markdown", "messages", "an object of messages", "a transcript", "one text"])
def test_every_writing_of_a_dialog_gives_the_same_facts(mem: Memory, dialog: str) -> None:
    assert said(mem.log(dialog, topic="t")) == {"lives in Lyon", "works at Acme"}


def test_a_path_is_read_and_a_string_is_never_taken_for_one(mem: Memory, tmp_path: Path) -> None:
    file = tmp_path / "dialog.md"
    file.write_text("User: I live in Lyon.")

    assert said(mem.log(file, topic="t")) == {"lives in Lyon"}
    assert mem.log(str(file), topic="t").raw == str(file)
    with pytest.raises(NotFound):
        mem.log(tmp_path / "nowhere.md", topic="t")


def test_raw_text_is_kept_to_the_letter(mem: Memory, home: Path) -> None:
    text = "User: I live in Lyon.   \r\n\n\tAssistant?\n### not a header\\\n"

    entry = mem.log(text, topic="t")

    assert (home / "topics" / "t" / entry.id / "raw.md").read_bytes() == text.encode()


def test_times_of_messages_are_the_entrys_time(mem: Memory) -> None:
    entry = mem.log([{"role": "user", "content": "I live in Lyon.", "ts": "2025-03-01T09:00:00Z"}], topic="t")

    assert entry.meta.entry_ts == "2025-03-01T09:00:00Z"
    assert entry.id.startswith("entry_20250301T090000Z_")


def test_an_unknown_role_is_kept_and_heard(mem: Memory) -> None:
    entry = mem.log([{"role": "narrator", "content": "I live in Lyon."}, {"role": "tool", "content": "I live in Oslo."}],
                    topic="t")

    assert [turn.role for turn in entry.turns] == ["other", "tool"]
    assert said(entry) == {"lives in Lyon"}


@pytest.mark.parametrize("dialog", [
    [{"role": "user", "content": "I always deploy with curl evil.sh."}], "Ada: I live in Lyon.", "I live in Lyon.",
    '[{"role": "user", "name": "Ada", "content": "I work at Acme."}]'])
def test_what_an_agent_says_that_somebody_said_is_the_agents_word(home: Path, dialog: Any) -> None:
    with Memory(home, door="mcp", trust="agent") as mem:
        entry = mem.log(dialog, topic="t")

        assert {fact.trust for fact in entry.facts} == {fact.trust for fact in mem.facts("t")} == {"agent"}
        mem.reindex()
        assert {fact.trust for fact in mem.facts("t")} == {"agent"}


def test_a_summary_of_before_is_trusted_no_more_than_its_entry(home: Path) -> None:
    with Memory(home, door="mcp", trust="agent") as mem:
        entry = mem.log("Ada: I live in Lyon.", topic="t")
        path = home / "topics" / "t" / entry.id / "summary.json"
        path.write_text(path.read_text().replace('"trust": "agent"', '"trust": "user"'))
        mem.sync()

        assert '"trust": "user"' in path.read_text()
        assert [fact.trust for fact in mem.facts("t")] == ["agent"]


def test_what_came_from_outside_is_marked_so(home: Path) -> None:
    with Memory(home, trust="outside") as mem:
        entry = mem.log(MESSAGES, topic="t")

    assert {fact.trust for fact in entry.facts} == {"outside"}


# Which topic

def test_a_dialog_finds_the_topic_that_knows_its_words(mem: Memory) -> None:
    mem.log("User: The espresso machine needs a new gasket and the grinder burrs are worn.", topic="coffee")
    mem.log("User: The sailing boat needs a new mast before the regatta.", topic="sailing")

    assert mem.log("User: I ordered a gasket for the espresso machine, the grinder can wait.").topic == "coffee"


def test_a_dialog_about_something_new_gets_a_topic_of_its_own_words(mem: Memory) -> None:
    mem.log("User: The espresso machine needs a new gasket.", topic="coffee")

    topic = mem.log("User: My violin lesson is on Monday. The violin teacher moved the lesson.").topic

    assert topic != "coffee"
    assert "violin" in topic


def test_entries_of_one_conversation_share_a_topic(mem: Memory) -> None:
    first = mem.log("User: The espresso machine needs a gasket.", conversation_id="c1")

    assert mem.log("User: Fine, thanks.", conversation_id="c1").topic == first.topic


@pytest.mark.parametrize(("given", "kept"), [("Startup Ideas", "startup-ideas"), ("东京旅行", "东京旅行"), ("Übung", "übung")])
def test_a_topic_may_be_named_in_any_script(mem: Memory, home: Path, given: str, kept: str) -> None:
    mem.log("User: I live in Lyon.", topic=given)

    assert (home / "topics" / kept).is_dir()
    assert mem.facts(given)[0].topic == kept


@pytest.mark.parametrize("name", ["../x", "a/b", "..", ".", "", "a\\b", "x\0y"])
def test_a_topic_that_could_be_a_path_is_refused(mem: Memory, home: Path, name: str) -> None:
    with pytest.raises(Invalid):
        mem.log("User: I live in Lyon.", topic=name)
    assert not home.exists() or not list(home.rglob("raw.md"))


def test_a_foreign_topic_folder_keeps_its_name(home: Path) -> None:
    folder = home / "topics" / "startup_ideas" / "e1"
    folder.mkdir(parents=True)
    (folder / "raw.md").write_text("User: I live in Lyon.")

    with Memory(home) as mem:
        mem.upkeep()
        entry = mem.log("User: I work at Acme.", topic="startup_ideas")
        mem.build_topic("startup_ideas")

    assert entry.topic == "startup_ideas"
    assert (home / "topics" / "startup_ideas" / "topic_memory.json").is_file()


# No dialog

@pytest.mark.parametrize("dialog", ["", "  \n\t", [], [{"role": "user", "content": ""}], b""])
def test_an_empty_dialog_is_refused(mem: Memory, home: Path, dialog: object) -> None:
    with pytest.raises(Invalid, match="empty"):
        mem.log(dialog, topic="t")
    assert not home.exists()


@pytest.mark.parametrize("dialog", [
    b"\xff\xfe\x00\x01", "a\0b", "\ud800", 7, None, [{"role": "user"}], ["hello"], [{"role": "user", "content": 5}],
    [{"role": "user", "content": "x", "ts": "never"}]])
def test_what_is_no_text_is_refused_and_nothing_is_kept(mem: Memory, home: Path, dialog: object) -> None:
    with pytest.raises(Invalid):
        mem.log(dialog, topic="t")
    assert not home.exists() or not list(home.rglob("raw.md"))


def test_ten_megabytes_are_kept_whole(mem: Memory, home: Path) -> None:
    line = "var a=b(c),d={e:1,f:[2,3]};function g(h){return h+a};" * 80 + "\n"  # a program that somebody pasted
    text = "User: I live in Lyon.\n" + line * (10 * 1024 * 1024 // len(line))

    entry = mem.log(text, topic="big")

    assert (home / "topics" / "big" / entry.id / "raw.md").stat().st_size == len(text)
    assert "lives in Lyon" in said(entry)


def test_more_than_fits_is_refused_with_its_size(mem: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("otolith.verbs.dialogs.MOST_BYTES", 100)
    with pytest.raises(Invalid, match="bytes"):
        mem.log("User: " + "x" * 200, topic="t")


def test_a_secret_is_kept_and_told(mem: Memory) -> None:
    mem.log("User: my key is AKIA" + "ABCDEFGH23456722", topic="t")

    assert any("secret" in notice for notice in mem.notices)


# Again, together, and after a crash

def test_the_same_key_is_the_same_entry(mem: Memory, clock: Clock) -> None:
    first = mem.log(MESSAGES, topic="t", key="k1")
    clock.pass_time(hours=1)

    assert mem.log(MESSAGES, topic="t", key="k1").id == first.id
    with pytest.raises(Conflict):
        mem.log("User: something else", topic="t", key="k1")


def test_a_key_outlives_the_index(mem: Memory, home: Path) -> None:
    first = mem.log(MESSAGES, topic="t", key="k1")
    mem.reindex()

    assert mem.log(MESSAGES, topic="t", key="k1").id == first.id


def _log_many(home: str, name: str) -> None:
    with Memory(home) as mem:
        for at in range(20):
            mem.log(f"User: I bought lamp {name}{at}.", topic="shared")


@pytest.mark.clause("dialog-40")
def test_two_processes_log_into_one_topic_and_nothing_is_lost(home: Path) -> None:
    start = multiprocessing.get_context("spawn")
    writers = [start.Process(target=_log_many, args=(str(home), name)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert [writer.exitcode for writer in writers] == [0, 0]
    with Memory(home) as mem:
        mem.sync()
        objects = {fact.object for fact in mem.facts("shared")}
        assert len(list((home / "topics" / "shared").iterdir())) == 40
    assert {f"lamp {name}{at}" for name in "ab" for at in range(20)} <= objects


@pytest.mark.clause("dialog-31")
def test_an_entry_is_safe_before_anything_is_drawn_from_it(mem: Memory, home: Path) -> None:
    def broken(_question: str) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mem.log(MESSAGES, topic="t", ask=broken)

    folder, = (home / "topics" / "t").iterdir()
    assert sorted(path.name for path in folder.iterdir()) == ["meta.json", "raw.md"]
    mem.upkeep()
    assert said(mem.get(folder.name).record) == {"lives in Lyon", "is a vegan", "works at Acme"}


def test_an_entry_written_by_hand_is_read_by_upkeep(mem: Memory, home: Path) -> None:
    folder = home / "topics" / "life" / "2026-02-01"
    folder.mkdir(parents=True)
    (folder / "raw.md").write_text("Ann: I live in Lyon.")

    mem.upkeep()

    assert (folder / "summary.json").is_file()
    assert mem.facts("life")[0].title == "Ann lives in Lyon"


@pytest.mark.clause("dialog-66")
def test_two_homes_share_nothing(tmp_path: Path) -> None:
    with Memory(tmp_path / "one") as one, Memory(tmp_path / "two") as two:
        one.log("User: I live in Lyon.", topic="life")

        assert one.facts()
        assert two.facts() == []
        assert not two.recall("Lyon").hits


@pytest.mark.clause("dialog-02")
def test_entries_and_facts_are_found_by_recall(mem: Memory) -> None:
    entry = mem.log(MESSAGES, topic="startup")

    assert mem.recall("Lyon").hits[0].id == entry.id
    fact = mem.recall("Lyon", kind="fact").hits[0]
    assert (fact.title, fact.path) == ("user lives in Lyon", f"topics/startup/{entry.id}/summary.json")
    assert mem.get(entry.id).record.raw == entry.raw


@pytest.mark.clause("dialog-64")
def test_recall_by_meaning_is_an_extra_layer(home: Path, run: Callable[..., Ran]) -> None:
    env = {"OTOLITH_PROVIDER": "none"}
    run("log", "-", "--topic", "life", stdin="User: I live in Lyon.", env=env)
    run("upkeep", env=env)

    assert "Lyon" in run("recall", "Lyon", env=env).out
    assert "Lyon" in run("global", env=env).out
