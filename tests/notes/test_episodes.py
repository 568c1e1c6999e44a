"""The diary: a file a day, appended to by every note and by hand."""

from __future__ import annotations

import re

import pytest

from otolith.errors import Invalid


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
    episodes, total = mem.list(kind="episode")

    assert total == 2
    assert [one["title"] for one in episodes] == ["11:15 - Chose websocket over polling",
                                                  "10:30 - Fixed Discord bot reconnection"]
    assert mem.get("episode:2025-12-13#1030-1").record.tags == ("major-domo", "discord", "python")


def test_an_entrys_note_is_found_after_its_file_moved(mem):
    from otolith.verbs.notes import memory_of

    note = mem.note("Tea", "Steep.", type="fix")
    mem.sync()
    episode = mem.get("episode:2026-02-10#2137-1").record
    found = [memory_of(mem.home, episode)]
    mem.pin(note.id)
    found.append(memory_of(mem.home, episode))
    mem.unpin(note.id)
    mem.edit(note.id, type="decision", title="Green tea")
    found.append(memory_of(mem.home, episode))
    other = mem.note("All about tea")
    mem.merge(other.id, note.id)

    assert found == [note.id] * 3
    assert memory_of(mem.home, episode) == other.id


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
