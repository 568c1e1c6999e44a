"""CORE.md and REFLECTION.md over all ladders: memos by what they say, works by what they made good, wisdom."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import Clock
from otolith.config import timer_file
from otolith.memory import Memory


def section(page: str, name: str) -> list[str]:
    return re.findall(r"^- \[(.+?)\]", page.split(f"## {name}\n")[1].split("\n## ")[0], re.MULTILINE)


def say(mem: Memory, name: str, sentence: str, says: str) -> None:
    """A memo of what was said to an agent, as a captured session leaves it."""
    mem.memo(name, sentence, tags=["tides", "harbour"])
    file = Path(str(mem.path), f"allmemories/{name}.md")
    file.write_text(file.read_text().replace("**Tags:**", f"**Says:** {says}\n**Tags:**"))
    mem.sync()


@pytest.mark.clause("notes-51", "notes-52")
def test_records_of_every_ladder_stand_in_the_section_that_fits_them(home: Path, clock: Clock) -> None:
    with Memory(home, clock=clock) as mem:
        for name, sentence, says in (("never_push_on_fridays", "Never push on a Friday", "rule"),
                                     ("tide_tables_in_postgres", "Tide tables go to Postgres", "decision"),
                                     ("two_spaces_in_yaml", "YAML has two spaces", "convention"),
                                     ("deploy_with_make_ship", "Deploy with make ship", "command"),
                                     ("likes_short_answers_best", "Short answers are best", "preference")):
            say(mem, name, sentence, says)
        broken = mem.record(goal="Read old tables", task_type="feature_add", success=False, summary="It crashed")
        mended = mem.record(goal="Read old tables by column", task_type="feature_add", success=True, summary="Works")
        mem.link(mended.id, "SOLVES", broken.id)
        mem.record(goal="Round to minutes", task_type="bug_fix", success=True, summary="Rounded")
        mem.record(goal="Draw a moon", task_type="feature_add", success=True, summary="Drawn")
        page = mem.core()
        mem.upkeep()
        before = {path: path.read_bytes() for path in home.rglob("*.md")}
        mem.upkeep()

    assert sorted(section(page, "Active Decisions")) == ["Never push on fridays", "Tide tables in postgres"]
    assert sorted(section(page, "Configurations")) == ["Deploy with make ship", "Two spaces in yaml"]
    assert "- [Never push on fridays](allmemories/never_push_on_fridays.md) (tides, harbour)\n" in page
    assert section(page, "Critical Solutions") == ["Read old tables by column"]
    assert section(page, "Key Fixes") == ["Round to minutes"]
    assert section(page, "Patterns & Workflows") == []
    assert before == {path: path.read_bytes() for path in home.rglob("*.md")}, "a second round changes nothing"


@pytest.mark.clause("notes-55")
def test_an_agents_words_replaced_ones_and_faded_ones_stay_out_until_a_person_pins_them(home: Path, clock: Clock) -> None:
    with Memory(home, clock=clock, trust="agent", door="mcp") as mem:
        say(mem, "ship_every_single_day", "We ship every day", "rule")
        kept = mem.record(goal="Round to minutes", task_type="bug_fix", success=True, summary="Rounded")
        mem.note("Use tabs", "Tabs everywhere.", type="decision", importance=0.9)
    with Memory(home, clock=clock) as mem:
        say(mem, "never_push_on_fridays", "Never push on a Friday", "rule")
        mem.memo("push_whenever_you_like", "Push whenever you like", supersedes=["never_push_on_fridays"])
        mem.upkeep()
        before = (home / "CORE.md").read_text()
        mem.pin(kept.id)
        mem.upkeep()
        after = (home / "CORE.md").read_text()
        say(mem, "tide_tables_in_postgres", "Tide tables go to Postgres", "decision")
        fresh = mem.core()
        clock.pass_time(days=30)
        faded = mem.core()

    assert not [line for line in before.splitlines() if line.startswith("- ")]
    assert section(after, "Key Fixes") == ["Round to minutes"], "a pin is the review, and the same day's round sees it"
    assert section(fresh, "Active Decisions") == ["Tide tables in postgres"]
    assert section(faded, "Active Decisions") == []


@pytest.mark.clause("notes-50")
def test_the_page_says_what_builds_it_next(home: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(home, clock=clock) as mem:
        mem.note("Release day", "Tuesdays.", type="decision")
        mem.home.config = mem.home.config.replace(upkeep=True)
        by_itself = mem.core()
        mem.home.config = mem.home.config.replace(upkeep=False)
        by_hand = mem.core()
        timer = timer_file(str(mem.path))
        timer.parent.mkdir(parents=True)
        timer.write_text("[Timer]\n")
        by_timer = mem.core()

    words = [re.search("Next refresh: (.+)", page)[1] for page in (by_itself, by_hand, by_timer)]  # type: ignore[index]
    assert words == ["daily (by itself)", "by hand", "daily (systemd timer)"]


def test_a_reflection_counts_the_tags_of_notes_memos_works_and_chunks(home: Path, clock: Clock) -> None:
    with Memory(home, clock=clock) as mem:
        mem.note("Moon", "It pulls.", tags=["tides", "moon"])
        mem.memo("moon_moves_the_water", "The moon moves it", tags=["moon", "tides"])
        mem.record(goal="Draw the moon", task_type="feature_add", success=True, summary="Drawn", tags=["moon", "tides"])
        mem.remember("The moon is far.", tags=["moon", "tides"])
        page = mem.reflection()

    assert "- **moon + tides**: 4 memories" in page
