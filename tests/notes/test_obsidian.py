"""The same folder opened as an Obsidian vault: its links, aliases and tags are understood, its files left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from otolith.errors import NotFound


@pytest.fixture
def put(home):
    def write(path: str, text: str) -> Path:
        file = home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    return write


def test_a_wikilink_is_a_link_by_title_or_alias(mem, put):
    redis = mem.note("Redis keepalive", aliases=["keepalive"])
    put("graph/general/Overview.md", "We use [[Redis keepalive]] and ![[keepalive|this]], see [[Redis keepalive#Why]].\n")
    mem.sync()
    overview = mem.get("Overview")

    assert [(found["id"], found["link"]) for found in mem.related(overview.id)] == [(redis.id, "mentions")]
    assert [found["link"] for found in mem.related(redis.id)] == ["mentioned_by"]


@pytest.mark.parametrize("said", ["beta-file", "[[x]] [[Sub/Beta-File]]", "beta-file.md", "sub/beta-file#part", "beta-file\\|b",
                                  "graph/general/sub/beta-file", "Cafe\u0301", "Caf\u00e9"])
def test_a_wikilink_is_a_link_by_the_name_of_a_file(mem, put, said):
    put("graph/general/sub/beta-file.md", "---\ntitle: Cafe\u0301\n---\n\nText.\n")
    put("graph/general/alpha.md", f"---\ntitle: Alpha\n---\n\nSee {said if said[0] == '[' else f'[[{said}]]'}.\n")
    mem.sync()

    assert [found["title"] for found in mem.related("Alpha")] == ["Cafe\u0301"]


def test_a_note_is_got_by_the_name_of_its_file(mem, put):
    put("graph/general/sub/beta-file.md", "---\ntitle: Cafe\u0301\n---\n\nText.\n")
    own = mem.note("Own tea", "Steep.")
    mem.sync()

    for handle in ("beta-file", "Beta-File.md", "sub/beta-file", "graph/general/sub/beta-file.md", "Caf\u00e9", "cafe\u0301"):
        assert mem.get(handle).title == "Cafe\u0301"
    with pytest.raises(NotFound):  # a name that Otolith gave is no other name
        mem.get(mem.get(own.id).path.rpartition("/")[2].removesuffix(".md"))


def test_a_title_goes_before_the_name_of_a_file(mem, put):
    put("graph/general/tea.md", "---\ntitle: Something else\n---\n\nText.\n")
    own = mem.note("Tea", "Steep.")
    mem.sync()

    assert mem.get("tea").id == own.id


def test_a_moved_file_is_found_by_its_new_name_only(mem, home, put):
    put("graph/general/old.md", "---\nid: e1e1e1e1-0000-4000-8000-000000000001\ntitle: Title\n---\n\nText.\n")
    mem.sync()
    (home / "graph/general/old.md").rename(home / "graph/general/fresh.md")
    mem.sync()

    assert mem.get("fresh").title == "Title"
    with pytest.raises(NotFound):
        mem.get("old")


def test_a_wikilink_to_a_note_that_comes_later_becomes_a_link(mem, put):
    put("graph/general/Overview.md", "See [[Later]].\n")
    mem.sync()
    assert mem.related("Overview") == []
    later = mem.note("Later")

    assert [found["id"] for found in mem.related("Overview")] == [later.id]


def test_hashtags_are_tags_and_code_is_not(mem, put):
    put("graph/general/Tea.md", "A #green/tea for #afternoon, not `#code` nor\n\n```\n#define X\n```\n and not #1.\n")
    mem.sync()

    assert set(mem.get("Tea").tags) == {"green/tea", "afternoon"}


def test_front_matter_of_obsidian_is_understood(mem, put):
    put("graph/general/Tea.md", "---\naliases:\n  - Chai\n  - Cha\ntags:\n  - drink\n  - '#hot'\ncssclass: wide\n---\nSteep.\n")
    mem.sync()
    note = mem.get("chai").record

    assert (note.title, note.tags, note.text) == ("Tea", ("drink", "hot"), "Steep.")


def test_the_vaults_own_folder_is_not_read(mem, put):
    put(".obsidian/workspace.md", "secret layout")
    put("graph/.obsidian/plugin.md", "secret layout")
    put("graph/.trash/old.md", "secret layout")
    mem.sync()

    assert mem.recall("layout").hits == []
    assert mem.check() == []


def test_nothing_is_reformatted_by_upkeep_or_an_edit(mem, put):
    text = ("\ufeff---\n# a comment\ntags:   [ drink ]   # mine\ncssclass: wide\nid: c1b2c3d4-e5f6-7890-abcd-ef1234567890\n"
            "type: general\ntitle: Tea\nimportance: 0.5\nconfidence: 0.8\ncreated: 2026-01-01\nupdated: 2026-01-01\n---\n\n"
            "Steep.  \n\n* one\n* two\n").replace("\n", "\r\n")
    file = put("graph/general/Tea.md", text)
    mem.upkeep()
    assert file.read_bytes() == text.encode()
    mem.edit("Tea", importance=0.7)

    assert file.read_bytes() == text.replace("importance: 0.5", "importance: 0.7").replace(
        "updated: 2026-01-01", "updated: 2026-02-10T21:37:00+00:00").encode()


def test_renaming_a_file_keeps_the_note(mem, home, put):
    file = put("graph/general/Tea.md", "---\nid: c1b2c3d4-e5f6-7890-abcd-ef1234567890\ntitle: Tea\n---\nSteep.\n")
    mem.sync()
    file.rename(home / "graph/general/Green tea.md")

    assert mem.get("c1b2c3d4-e5f6-7890-abcd-ef1234567890").record.text == "Steep."
    assert mem.get("c1b2c3d4-e5f6-7890-abcd-ef1234567890").path == "graph/general/Green tea.md"
