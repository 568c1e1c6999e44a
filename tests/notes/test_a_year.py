"""Three hundred notes through a year of use: the reports stay true to an independent count."""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter
from itertools import combinations

import pytest

from otolith.memory import Memory
from otolith.model.decay import weight
from otolith.model.kinds import NOTE_TYPES

TAGS = ("redis", "docker", "python", "backup", "deploy", "cache", "network", "disk", "auth", "mail", "cron", "nginx")
PROJECTS = ("major-domo", "homelab", "paper-dynasty")
WORDS = ("socket", "timeout", "pool", "volume", "retry", "queue", "token", "schema", "index", "proxy", "header", "thread")
SECTIONS = {"Critical Solutions": {"solution"}, "Active Decisions": {"decision"}, "Key Fixes": {"fix"},
            "Configurations": {"configuration"}, "Patterns & Workflows": {"code_pattern", "workflow", "procedure", "insight"}}


class Year:
    """The home, and beside it what a bookkeeper would have written down."""

    def __init__(self, mem, clock):
        self.mem, self.clock, self.dice = mem, clock, random.Random(4)
        self.notes, self.uses, self.last = {}, Counter(), {}
        self.pinned, self.merges = set(), 0
        with mem.bulk():
            for number in range(300):
                self.write(number)

    def write(self, number):
        dice = self.dice
        tags = [*dice.sample(TAGS, dice.randint(1, 3)), dice.choice(PROJECTS)]
        text = " ".join(dice.choices(WORDS, k=30)).capitalize() + "."
        note = self.mem.note(f"Note {number}", text, type=dice.choice(list(NOTE_TYPES)), tags=tags, importance=round(dice.random(), 2))
        self.notes[note.id] = note

    def use(self, count):
        known = sorted(self.notes)
        for _ in range(count):
            note = known[min(int(self.dice.expovariate(1 / 25)), len(known) - 1)]
            self.mem.get(note)
            self.uses[note] += 1
            self.last[note] = int(self.clock())

    def live(self, week):
        known = sorted(self.notes)
        self.use(6)
        if week % 2 == 0:
            one, other = self.dice.sample(known, 2)
            self.mem.link(one, self.dice.choice(("RELATED_TO", "BUILDS_ON", "REQUIRES")), other)
        if week % 10 == 3:
            note = self.dice.choice(known)
            self.mem.pin(note)
            self.pinned.add(note)
        if week % 12 == 5:
            keep, gone = self.dice.sample(known, 2)
            merged = self.mem.merge(keep, gone)
            self.notes[keep] = merged
            self.forget(gone)
            self.merges += 1
        if week % 9 == 4:
            gone = self.dice.choice(known)
            self.mem.forget(gone)
            self.forget(gone)
        if week % 7 == 1:
            self.write(1000 + week)

    def forget(self, note):
        del self.notes[note]
        self.pinned.discard(note)

    def score(self, note):
        if note in self.pinned:
            return 999.0
        held = self.notes[note]
        days = max(0.0, (int(self.clock()) - self.last.get(note, held.created)) / 86400)
        used = math.log2(self.uses[note] + 1) if self.uses[note] else 0.5
        return held.importance * math.exp(-0.03 * days) * used * weight(held.type)


@pytest.fixture(scope="module")
def year(tmp_path_factory):
    from conftest import Clock

    folder = tmp_path_factory.mktemp("year")
    patch = pytest.MonkeyPatch()
    for name in ("CACHE", "CONFIG", "DATA"):
        patch.setenv(f"XDG_{name}_HOME", str(folder / name))
    home = folder / "home"
    home.mkdir()
    (home / "otolith.toml").write_text(f"projects = {json.dumps(PROJECTS)}\n")
    clock = Clock()
    with Memory(home, clock=clock) as mem:
        lived = Year(mem, clock)
        for week in range(52):
            clock.pass_time(days=7)
            lived.live(week)
            if week % 4 == 3:
                mem.upkeep()
        mem.upkeep()
        yield lived
    patch.undo()


def page(year, name):
    return (year.mem.path / name).read_text()


@pytest.mark.clause("notes-40", "notes-58", "notes-60", "notes-68")
def test_after_a_year_every_score_is_what_the_formula_says(year):
    entries = json.loads(page(year, "_state.json"))["entries"]

    assert entries.keys() == year.notes.keys()
    for note, entry in entries.items():
        assert entry["access_count"] == year.uses[note]
        assert entry["decay_score"] == pytest.approx(year.score(note), rel=1e-6, abs=1e-8)


@pytest.mark.clause("notes-50", "notes-53", "notes-55", "notes-56", "notes-57")
def test_after_a_year_core_holds_the_strongest_of_each_section(year):
    core = page(year, "CORE.md")
    scores = {note: year.score(note) for note in year.notes}
    by_file = {row["path"]: row["id"] for row in year.mem.list(kind="note", limit=None)[0]}
    active = sum(score >= 0.5 for score in scores.values())

    assert f"Active memories: {active}/{len(scores)} " in core
    assert len(core) <= 12_000
    for section, types in SECTIONS.items():
        listed = [by_file[path] for path in re.findall(r"\]\((.+?)\)", core.split(f"## {section}\n")[1].split("\n## ")[0])]
        best = sorted((scores[note] for note in scores if year.notes[note].type in types and scores[note] >= 0.2), reverse=True)
        assert [scores[note] for note in listed] == pytest.approx(best[:15], rel=1e-6)


@pytest.mark.clause("notes-73", "notes-74", "notes-75", "notes-77")
def test_after_a_year_the_reflection_counts_right(year):
    year.mem.upkeep()
    text = page(year, "REFLECTION.md")
    pairs = Counter(pair for note in year.notes.values() for pair in combinations(sorted(set(note.tags)), 2))
    themes = [(tuple(pair.split(" + ")), int(count))
              for pair, count in re.findall(r"- \*\*(.+?)\*\*: (\d+) memories", text)]
    patterns = dict(re.findall(r"- \*\*(.+?)\*\*: appears in (.+)", text))
    accessed = [int(count) for count in re.findall(r"\d+\. \[.+?\]\(.+?\) - (\d+) accesses", text)]

    assert [count for _, count in themes] == sorted(pairs.values(), reverse=True)[:8]
    assert all(pairs[pair] == count for pair, count in themes)
    assert patterns.keys() == set(TAGS)
    for tag, told in patterns.items():
        for project, count in re.findall(r"([\w-]+) \((\d+)\)", told):
            assert sum(tag in note.tags and project in note.tags for note in year.notes.values()) == int(count)
    assert accessed == sorted((year.uses[note] for note in year.notes), reverse=True)[:10]
    assert f"- Total merges performed: {year.merges}\n" in text


def test_after_a_year_everything_is_in_order(year):
    assert year.mem.check() == []
    assert year.merges > 3
    assert len(year.mem.edges(limit=None)[0]) > 10


def test_after_a_year_another_round_has_nothing_to_do(year):
    year.mem.upkeep()
    assert year.mem.upkeep().changed == {}
