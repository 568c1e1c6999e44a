"""The diary: a file a day, appended to by every note and by hand."""

from __future__ import annotations

import json
import os
import re

import pytest

from otolith import verbs
from otolith.errors import Invalid
from otolith.model.events import SAID, Event, Part, Session


def diary(home):
    return (home / "episodes/2026-02-10.md").read_text()


@pytest.mark.clause("notes-44", "notes-45", "notes-46")
def test_a_note_appends_an_entry_in_the_documents_form(mem, home):
    note = mem.note("Discord bot reconnection", "Exponential backoff. It helps.", type="fix", tags=["discord", "python"])

    assert diary(home) == (
        "# 2026-02-10\n\n"
        "## 21:37 - Discord bot reconnection\n"
        "- **Type:** fix\n"
        "- **Tags:** discord, python\n"
        f"- **Memory:** [discord-bot-reconnection](../graph/fixes/discord-bot-reconnection-{note.id[:6]}.md)\n"
        "- **Summary:** Exponential backoff.\n\n"
    )


@pytest.mark.clause("notes-46")
def test_the_link_leads_to_the_note(mem, home):
    mem.note("Tea", "Steep.")
    target = re.search(r"\]\((.+?)\)", diary(home))[1]

    assert "Steep." in (home / "episodes" / target).read_text()


@pytest.mark.clause("notes-47")
def test_entries_are_only_ever_appended_in_order(mem, home, clock):
    mem.note("First")
    before = diary(home)
    clock.pass_time(minutes=5)
    mem.episode("Second", summary="By hand.", tags=["x"])
    clock.pass_time(minutes=5)
    mem.note("Third")

    assert diary(home).startswith(before)
    assert re.findall(r"^## (\d\d:\d\d) - (\w+)", diary(home), re.MULTILINE) == [
        ("21:37", "First"), ("21:42", "Second"), ("21:47", "Third")]
    assert diary(home).count("# 2026-02-10\n") == 1


@pytest.mark.clause("notes-44")
def test_another_day_is_another_file(mem, home, clock):
    mem.note("Late")
    clock.pass_time(hours=3)
    mem.note("Early")

    assert sorted(file.name for file in (home / "episodes").iterdir()) == ["2026-02-10.md", "2026-02-11.md"]
    assert (home / "episodes/2026-02-11.md").read_text().startswith("# 2026-02-11\n\n## 00:37 - Early\n")


@pytest.mark.clause("notes-46")
def test_an_entry_by_hand_has_no_link(mem, home):
    mem.episode("Moved office", summary="To the second floor.")

    assert "**Memory:**" not in diary(home)
    assert "- **Summary:** To the second floor.\n" in diary(home)


def test_the_documents_own_diary_is_read(mem, home):
    (home / "episodes").mkdir(parents=True)
    (home / "episodes/2025-12-13.md").write_text(
        "# 2025-12-13\n\n## 10:30 - Fixed Discord bot reconnection\n- **Type:** fix\n- **Tags:** major-domo, discord, python\n"
        "- **Memory:** [discord-bot-reconnection](../graph/fixes/discord-bot-reconnection-a1b2c3.md)\n"
        "- **Summary:** Implemented exponential backoff for reconnections\n\n## 11:15 - Chose websocket over polling\n"
        "- **Type:** decision\n- **Tags:** major-domo, architecture\n- **Summary:** WebSocket provides lower latency\n")
    mem.sync()
    blocks = mem.diary("2025-12-13")

    assert [block["title"] for block in blocks] == ["Fixed Discord bot reconnection", "Chose websocket over polling"]
    assert blocks[0]["tags"] == ["major-domo", "discord", "python"]
    assert [item["id"] for item in mem.list(kind="episode")[0]] == ["episode:2025-12-13#1115-7012b0"]
    assert mem.get("episode:2025-12-13#1115-7012b0").record.tags == ("major-domo", "architecture")


def test_an_entrys_note_is_found_after_its_file_moved(mem):
    def leads_to():
        return mem.diary()[0]["memory"]

    note = mem.note("Tea", "Steep.", type="fix")
    led = [leads_to()]
    mem.pin(note.id)
    led.append(leads_to())
    mem.unpin(note.id)
    mem.edit(note.id, type="decision", title="Green tea")
    led.append(leads_to())
    other = mem.note("All about tea")
    mem.merge(other.id, note.id)

    assert led == [note.id] * 3
    assert leads_to() == other.id


def test_a_title_of_several_lines_stays_in_its_heading(mem, home):
    mem.episode("One\n## 99:99 - Two", summary="a\nb")

    assert len(re.findall("^## ", diary(home), re.MULTILINE)) == 1


def test_an_episode_without_a_title_is_refused(mem):
    with pytest.raises(Invalid, match="title"):
        mem.episode("  ")


def test_the_diary_at_the_command_line(run, home):
    assert run("episode", "Moved office", "--summary", "Second floor.", "--tag", "life").code == 0
    shown = run("episode", "--json").json

    assert shown["total"] == 1
    assert shown["items"][0]["summary"] == "Second floor."
    assert list((home / "episodes").iterdir())


# A block that only points to its record is no record of its own

def test_a_pointer_is_not_listed_counted_tagged_or_recalled(mem):
    note = mem.note("Kettle", "It whistles.", tags=["kitchen"])
    mem.sync()

    assert [item["id"] for item in mem.list()[0]] == [note.id]
    assert mem.stats()["kinds"] == {"note": 1}
    assert mem.tags() == [{"tag": "kitchen", "count": 1}]
    assert [hit.kind for hit in mem.recall("kettle").hits] == ["note"]
    assert [block["title"] for block in mem.diary()] == ["Kettle"]


def test_what_a_person_wrote_is_a_record_and_its_tags_count(mem):
    mem.note("Kettle", tags=["kitchen"])
    mem.episode("Moved office", summary="To the second floor.", tags=["kitchen", "life"])

    moved = mem.get("episode:2026-02-10#2137-2").id  # its number within its minute, as before 0.2
    assert [item["id"] for item in mem.list(kind="episode")[0]] == [moved]
    assert mem.tags() == [{"tag": "kitchen", "count": 2}, {"tag": "life", "count": 1}]
    assert mem.recall("which floor did we move to").hits[0].id == moved


def test_a_merge_is_still_counted(mem):
    one, other = mem.note("Tea", "Steep."), mem.note("Green tea", "Steep shortly.")
    mem.merge(one.id, other.id)

    assert "Total merges performed: 1" in mem.reflection()
    assert [item["title"] for item in mem.list(kind="episode")[0]] == ["21:37 - Merged Green tea into Tea"]


@pytest.fixture
def statements(mem):
    """How many SQL statements an act takes."""

    def count(act):
        lines = []
        mem.home.index.db.set_trace_callback(lines.append)
        try:
            act()
        finally:
            mem.home.index.db.set_trace_callback(None)
        return len(lines)

    return count


def test_one_more_note_costs_the_next_sync_the_same_on_a_long_day(mem, statements):
    costs = []
    for many in (10, 90):
        with mem.bulk():
            for at in range(many):
                mem.note(f"Note {at}", "Some text.", tags=["a"])
        mem.episode(f"By hand after {many}")
        for file in mem.path.rglob("*.md"):
            os.utime(file, (1, 1))  # long settled: a young file is looked at once more
        mem.sync()
        mem.note("One more")
        costs.append(statements(mem.sync))

    assert abs(costs[0] - costs[1]) <= 16  # eighty notes more cost nothing; a file of the last two seconds is looked at again
    assert max(costs) <= 40  # with the check of the whole index that every sync makes


def test_a_pointer_that_was_appended_is_no_change_and_the_day_is_not_read_again(mem, monkeypatch):
    mem.episode("Moved office")
    mem.sync()
    mem.note("Kettle")
    read = []
    monkeypatch.setattr("otolith.sync.read_unit", lambda tree, name: read.append(name))

    assert mem.sync() == []
    assert read == []
    assert mem.list(kind="episode")[1] == 1


@pytest.mark.parametrize("more", [
    "And the printer, too.\n", "## 22:00 - A walk\n- **Type:** diary\n- **Summary:** Around the printer.\n\n"])
def test_what_a_person_appends_is_read(mem, home, more):
    mem.episode("Moved office", summary="To the second floor.")
    mem.sync()
    mem.note("Kettle")
    with (home / "episodes/2026-02-10.md").open("a") as file:
        file.write(more)
    mem.sync()

    assert [hit.kind for hit in mem.recall("printer").hits] == (["episode"] if more[0] == "#" else [])
    assert mem.diary()[-1]["title"] == ("A walk" if more[0] == "#" else "Kettle")


def test_what_a_person_adds_to_their_own_block_is_read(mem, home):
    mem.episode("Moved office", summary="To the second floor.")
    mem.sync()
    with (home / "episodes/2026-02-10.md").open("a") as file:
        file.write("And the printer, too.\n\n## 22:00 - Kettle\n- **Memory:** [kettle](../graph/general/kettle-a1b2c3.md)\n\n")
    mem.sync()

    assert [hit.kind for hit in mem.recall("printer").hits] == ["episode"]


def test_json_lines_carry_the_whole_day(mem, run, tmp_path):
    mem.note("Kettle")
    mem.episode("Moved office")
    run("export", str(tmp_path / "all.jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]

    assert sorted(line["id"] for line in lines if line["kind"] == "episode") == [
        "episode:2026-02-10#2137-33b8b6", mem.get("episode:2026-02-10#2137-2").id]


def test_zeros_that_a_power_cut_left_in_the_diary_hide_none_of_its_lines(mem, home):
    mem.episode("Before the cut")
    file, = (home / "episodes").iterdir()
    file.write_bytes(file.read_bytes() + bytes(300))
    mem.episode("After the cut")

    assert [block["title"] for block in mem.diary()] == ["Before the cut", "After the cut"]
    assert mem.check() == []


@pytest.mark.clause("notes-97")
def test_a_work_a_dialog_a_memo_and_a_merge_leave_their_line_with_a_link_to_the_file(mem, home):
    first, second = mem.note("Tea", "Steep for three minutes."), mem.note("Green tea", "Steep for two.")
    work = mem.record(goal="Fix random logouts", task_type="bug_fix", success=True, summary="The refresh path was wrong. All fine.")
    entry = mem.log([{"role": "user", "content": "I live in Lisbon."}], topic="me")
    mem.memo("user_prefers_short_answers", "The user prefers short answers. Always.", tags=["style"])
    mem.merge(first.id, second.id)

    blocks = {block.split("\n")[0][8:]: block for block in diary(home).split("## ")[1:]}
    assert list(blocks) == ["Tea", "Green tea", "Fix random logouts", "me, 2026-02-10", "User prefers short answers",
                            "Merged Green tea into Tea"]
    for heading, told in (("Fix random logouts", work.id), ("me, 2026-02-10", "I live in Lisbon."),
                          ("User prefers short answers", "prefers short answers"), ("Merged Green tea into Tea", "Steep for two.")):
        target = re.search(r"\]\((.+?)\)", blocks[heading])[1]
        assert told in (home / "episodes" / target).read_text()
    assert "- **Type:** bug_fix\n" in blocks["Fix random logouts"]
    assert "- **Summary:** The refresh path was wrong.\n" in blocks["Fix random logouts"]
    assert "Lisbon" not in blocks["me, 2026-02-10"]
    assert entry.id in blocks["me, 2026-02-10"]
    assert "- **Tags:** style\n" in blocks["User prefers short answers"]
    assert [item["title"] for item in mem.list(kind="episode")[0]] == ["21:37 - Merged Green tea into Tea"]  # a pointer is no record


@pytest.mark.clause("notes-97")
def test_a_session_has_one_line_and_what_it_left_has_its_own(mem, home):
    for at in (1, 2):
        text = "Always run the linter before you commit."
        turn = Event(SAID, f"u-{at}", "2026-02-10T20:00:00Z", text, parts=(Part(text),))
        verbs.capture.capture(mem.home, Session("claude-code", "s-1", (turn,)))

    assert len(re.findall(r"(?m)^## \d\d:\d\d - ", diary(home))) == 2
    assert "A session with claude-code" in diary(home)


@pytest.mark.clause("notes-97")
def test_a_purged_dialog_has_no_line(mem, home):
    entry = mem.log([{"role": "user", "content": "I live in Lisbon."}], topic="me")
    mem.forget(entry.id, purge=True)

    assert entry.id not in diary(home)
    assert "(purged)" in diary(home)
